/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Make a last branch record (LBR): the part of lbr.c that the CPU executes at each branch.
 *
 * The functions have few branches that depend on the guest's: the host would mispredict them.
 *
 * Records as in the Intel SDM, volume 4, MSR_LBR_INFO_x and IA32_LBR_x_INFO; and in AMD PPR for
 * family 19h model 11h, SAMP_BR_FROM and SAMP_BR_TO.
 */
#ifndef TOOLS_QEMU_X86_LBR_RECORD_H
#define TOOLS_QEMU_X86_LBR_RECORD_H

#include "x86/registers/model.h"

/* MSR_LBR_INFO_x, IA32_LBR_x_INFO; only IA32_LBR_x_INFO has the type and INFO_CYCLES_VALID. */
#define X86_LBR_INFO_CYCLES_MAX		UINT64_C(0xffff)
#define X86_LBR_INFO_TYPE_SHIFT		56
#define X86_LBR_INFO_TYPE		(UINT64_C(0xf) << X86_LBR_INFO_TYPE_SHIFT)
#define X86_LBR_INFO_CYCLES_VALID	(UINT64_C(1) << 60)
#define X86_LBR_INFO_MISPREDICTED	63	/* bit number */

/* SAMP_BR_FROM, SAMP_BR_TO */
#define X86_LBR_AMD_ADDRESS		((UINT64_C(1) << 58) - 1)
#define X86_LBR_AMD_FROM_MISPREDICTED	63	/* bit number */
#define X86_LBR_AMD_TO_SPECULATIVE	62	/* bit number */
#define X86_LBR_AMD_TO_VALID		(UINT64_C(1) << 63)

/*
 * AMD's records show whether a branch was executed speculatively and retired: here, each
 * conditional branch that was predicted correctly.
 */
static inline struct x86_lbr_entry x86_lbr_make_amd_entry(const struct x86_lbr_branch *b)
{
	uint64_t mispredicted = b->mispredicted;
	uint64_t speculative = (b->type == X86_LBR_CONDITIONAL) & !b->mispredicted;

	return (struct x86_lbr_entry) {
		.from = (b->from & X86_LBR_AMD_ADDRESS) |
			mispredicted << X86_LBR_AMD_FROM_MISPREDICTED,
		.to = (b->to & X86_LBR_AMD_ADDRESS) | X86_LBR_AMD_TO_VALID |
		      speculative << X86_LBR_AMD_TO_SPECULATIVE,
	};
}

static inline struct x86_lbr_entry x86_lbr_make_entry(const struct x86_pmu *pmu,
						      const struct x86_lbr_branch *b)
{
	uint64_t cycles = b->cycles - pmu->lbr.cycles;

	if (pmu->config->lbr.kind == X86_LBR_AMD)
		return x86_lbr_make_amd_entry(b);
	return (struct x86_lbr_entry) {
		.from = b->from,
		.to = b->to,
		.info = (cycles < X86_LBR_INFO_CYCLES_MAX ? cycles : X86_LBR_INFO_CYCLES_MAX) |
			(uint64_t)b->mispredicted << X86_LBR_INFO_MISPREDICTED | pmu->lbr.info |
			((uint64_t)b->type << X86_LBR_INFO_TYPE_SHIFT & pmu->lbr.info_type),
	};
}

void x86_lbr_skip(struct x86_pmu *pmu, unsigned int nr, uint64_t cycles);
void x86_pmu_branch(struct x86_pmu *pmu, const struct x86_lbr_branch *branch);

#endif /* TOOLS_QEMU_X86_LBR_RECORD_H */
