/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: branch records: Intel's legacy and architectural LBR, AMD's LbrExtV2
 */
#ifndef _COREPMU_X86_LBR_H
#define _COREPMU_X86_LBR_H

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>

#include "../msr.h"
#include "../x86.h"

#define DEBUGCTL_LBR		((u64)DEBUGCTLMSR_LBR)
#define DEBUGCTL_FREEZE_LBR	((u64)DEBUGCTLMSR_FREEZE_LBRS_ON_PMI)

/* Bits of the flags word of struct perf_branch_entry (include/uapi/linux/perf_event.h) */
#define ENTRY_MISPRED		BIT_ULL(0)
#define ENTRY_PREDICTED		BIT_ULL(1)
#define ENTRY_IN_TX		BIT_ULL(2)
#define ENTRY_ABORT		BIT_ULL(3)
#define ENTRY_CYCLES		GENMASK_ULL(19, 4)

/* The flags have the same positions in legacy and architectural LBR. */
static inline u64 x86_lbr_entry_bits(u64 info)
{
	u64 bits = info & LBR_INFO_MISPRED ? ENTRY_MISPRED : ENTRY_PREDICTED;

	if (boot_cpu_has(X86_FEATURE_RTM)) {
		bits |= info & LBR_INFO_IN_TX ? ENTRY_IN_TX : 0;
		bits |= info & LBR_INFO_ABORT ? ENTRY_ABORT : 0;
	}

	return bits;
}

static inline u64 x86_lbr_entry_cycles(u64 info)
{
	return FIELD_PREP(ENTRY_CYCLES, info & LBR_INFO_CYCLES);
}

static inline void x86_lbr_put_entry(struct corepmu_branch_list *list, unsigned int i,
				     u64 from, u64 to, u64 bits)
{
	union corepmu_branch_words *entry = (void *)&list->entries[i];

	entry->words[0] = from;
	entry->words[1] = to;
	entry->words[COREPMU_BRANCH_BITS] = bits;
}

/* Hide the records from all samples, also in an NMI, until the PMU's next start clears them. */
static inline void x86_lbr_disown(struct corepmu_branches *branches)
{
	branches->task = NULL;
	branches->stale = true;
}

static inline bool x86_lbr_follows_calls(const struct corepmu_branches *branches)
{
	return branches->wanted & COREPMU_BRANCH_CALL_STACK;
}

static inline u64 x86_lbr_freeze_bit(const struct corepmu_branches *branches)
{
	return x86_lbr_follows_calls(branches) ? 0 : DEBUGCTL_FREEZE_LBR;
}

/**
 * x86_lbr_control() - return the control register's value for the wanted branches
 * @branches: branch state of this CPU
 * @make: convert COREPMU_BRANCH_* into the register's value; always the same on a CPU
 *
 * The value is cached until @branches->wanted changes, so that a task switch does not compute it.
 * An NMI in the middle of the update repeats the update. IRQs off, or NMI.
 *
 * Return: the register's value
 */
static __always_inline u64
x86_lbr_control(struct corepmu_branches *branches, u64 (*make)(u64 wanted))
{
	if (branches->control_of != branches->wanted) {
		branches->control = make(branches->wanted);
		barrier();
		branches->control_of = branches->wanted;
	}

	return branches->control;
}

/* core.c, amd.c: call after the counters have been reserved */
int x86_lbr_describe(struct x86_desc *desc);
int amd_describe_branches(struct x86_desc *desc);
void amd_lbr_switch_guest(bool enter, bool missed_exit);
u64 x86_lbr_select(u64 wanted);

/* core.c */
int x86_lbr_setup(struct x86_desc *desc, struct corepmu_branch_backend *backend,
		  unsigned int nr, u64 offers);

/* arch.c */
unsigned int x86_lbr_nr_counters(const struct x86_desc *desc);
int x86_lbr_encode_counters(const struct x86_desc *desc, struct perf_event *event, u64 config);
int x86_lbr_describe_arch(struct x86_desc *desc);
u64 x86_lbr_arch_ctl(const struct corepmu_cpu *cpuc);

/* branch-type.c */
u32 x86_branch_type(const u8 *code, unsigned int len, bool is_64bit, bool fused,
		    unsigned int *offset);
u32 x86_branch_decode(struct perf_branch_entry *entry);
u32 x86_branch_decode_fused(struct perf_branch_entry *entry);

/* snapshot.c */
void x86_snapshot_init(const struct x86_desc *desc);
void x86_snapshot_exit(void);

/* exclusive.c */
void x86_exclusive_init(const struct x86_desc *desc);
bool x86_exclusive_is_known(void);
int x86_exclusive_open(void);
void x86_exclusive_close(void);
int x86_exclusive_open_store(void);
void x86_exclusive_close_store(void);

#endif /* _COREPMU_X86_LBR_H */
