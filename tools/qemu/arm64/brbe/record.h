/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Make a branch record: the part of brbe.c that the CPU executes at each branch.
 *
 * The functions have few branches that depend on the guest's: the host would mispredict them.
 *
 * Records as in the Arm Architecture Reference Manual, DDI 0487, D23, BRBINF<n>_EL1.
 */
#ifndef TOOLS_QEMU_ARM64_BRBE_RECORD_H
#define TOOLS_QEMU_ARM64_BRBE_RECORD_H

#include "arm64/brbe/brbe.h"
#include "arm64/registers/model.h"

#define ARM64_INF_TARGET	(UINT64_C(1) << 0)	/* VALID */
#define ARM64_INF_SOURCE	(UINT64_C(1) << 1)
#define ARM64_INF_MPRED		5	/* bit number */
#define ARM64_INF_EL_SHIFT	6
#define ARM64_INF_TYPE_SHIFT	8
#define ARM64_INF_CC_SHIFT	32
#define ARM64_INF_CC_MANTISSA	8	/* bits, below the exponent */
#define ARM64_INF_CC_TOO_MANY	UINT64_C(0x3fff)
#define ARM64_INF_CCU		(UINT64_C(1) << 46)

/* Width of the cycle count, BRBIDR0_EL1.CC */
#define ARM64_BRBE_CYCLE_BITS	20

/* BranchEncCycleCount() */
static inline uint64_t arm64_brbe_cycle_count(const struct arm64_brbe *b, uint64_t cycles)
{
	uint64_t exponent = 0;

	if (!b->counts_cycles || b->gap)
		return ARM64_INF_CCU;
	cycles -= b->cycles;
	if (cycles >> ARM64_BRBE_CYCLE_BITS)
		return ARM64_INF_CC_TOO_MANY << ARM64_INF_CC_SHIFT;
	if (cycles >> ARM64_INF_CC_MANTISSA)
		for (exponent = 1; cycles >> (ARM64_INF_CC_MANTISSA + 1); exponent++)
			cycles >>= 1;
	cycles &= (UINT64_C(1) << ARM64_INF_CC_MANTISSA) - 1;
	return (exponent << ARM64_INF_CC_MANTISSA | cycles) << ARM64_INF_CC_SHIFT;
}

void arm64_brbe_branch_slowly(struct arm64_pmu *pmu, const struct arm64_branch *branch);

/* Check whether a branch is no exception, stays at its level, and may be recorded there. */
static inline bool arm64_brbe_is_simple(const struct arm64_brbe *b,
					const struct arm64_branch *branch)
{
	return (b->simple >> branch->source & 1) & (branch->source == branch->target) &
	       !branch->from_a32 & !branch->to_a32 & (branch->type != ARM64_BRANCH_ERET) &
	       (branch->type < ARM64_BRANCH_EXCEPTION);
}

/**
 * arm64_brbe_branch() - record a reported branch, if software has enabled its type
 * @pmu: the PMU of this thread's CPU
 * @branch: the branch, exception or exception return
 * @taken: the branch is taken; otherwise the function does nothing
 */
static inline void arm64_brbe_branch(struct arm64_pmu *pmu, const struct arm64_branch *branch,
				     bool taken)
{
	struct arm64_brbe *b = &pmu->brbe;
	uint64_t mispredicted = branch->mispredicted & b->shows_mispredicted;
	unsigned int top = b->top + 1 < pmu->config->brbe.records ? b->top + 1 : 0;
	uint64_t record = taken & b->types >> branch->type;
	unsigned int index = ARM64_BRBE_RECORDS_MAX ^ ((ARM64_BRBE_RECORDS_MAX ^ top) & -record);

	if (!arm64_brbe_is_simple(b, branch)) {
		struct arm64_branch copy = *branch;	/* keeps @branch in registers */

		if (taken)
			arm64_brbe_branch_slowly(pmu, &copy);
		return;
	}
	/* Without a record, the last entry is written, which is not read. */
	b->record[index] = (struct arm64_brbe_record) {
		.source = branch->from,
		.target = branch->to,
		.info = arm64_brbe_cycle_count(b, branch->cycles) |
			(uint64_t)branch->type << ARM64_INF_TYPE_SHIFT |
			(uint64_t)branch->target << ARM64_INF_EL_SHIFT |
			mispredicted << ARM64_INF_MPRED | ARM64_INF_SOURCE | ARM64_INF_TARGET,
	};
	b->top ^= (b->top ^ top) & -record;
	b->cycles ^= (b->cycles ^ branch->cycles) & -record;
	b->gap &= !record;
	b->records += record;
}

#endif /* TOOLS_QEMU_ARM64_BRBE_RECORD_H */
