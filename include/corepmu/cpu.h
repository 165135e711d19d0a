/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: state of a PMU on one CPU
 */
#ifndef _COREPMU_CPU_H
#define _COREPMU_CPU_H

#include <linux/bits.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include <corepmu/assign.h>
#include <corepmu/features.h>
#include <corepmu/limiter.h>

struct corepmu;
struct corepmu_branches;
struct pt_regs;

#define COREPMU_MAX_COUNTERS	64

/* Extra registers that the driver handles per CPU, at most */
#define COREPMU_MAX_EXTRA_REGS	9

/* Bits of corepmu_cpu.trusted_others: registers that all counters share */
#define COREPMU_TRUST_SHARED	BIT(0)
/*
 * Bits of single features: branch records, precise samples, auto counter reload, and each extra
 * register
 */
#define COREPMU_TRUST_BRANCHES	BIT(1)
#define COREPMU_TRUST_PRECISE	BIT(2)
#define COREPMU_TRUST_ACR	BIT(3)
#define COREPMU_TRUST_EXTRA_REG(n)	BIT(8 + (n))

/**
 * struct corepmu_extra_reg - an extra register that events share
 * @value: the value that all its users need
 * @users: number of placed events that need @value
 */
struct corepmu_extra_reg {
	u64		value;
	unsigned int	users;
};

/**
 * struct corepmu_cpu - one PMU's state on one CPU
 * @pmu: the PMU
 * @used: mask of counters that hold an event, or are the lower counter of a pair
 * @active: mask of counters that must count while the PMU runs
 * @hw_active: mask of counters that are enabled in the hardware (arm64: or HW_ACTIVE_REWRITE)
 * @dirty: mask of counters that have lost an event, and hold its value unless they are in @used
 * @trusted: mask of counters that lost their event since perf core last disabled the PMU: their
 *	selection registers still hold @selected or @shared_select. Another agent, firmware or a
 *	hypervisor may have written the other counters' registers: the backend writes these again
 *	when an event is placed
 * @trusted_others: COREPMU_TRUST_*: the same for registers besides the event selections
 * @stopped_ctrl: arm64: PMCR_EL0 while the PMU is stopped
 * @running: the PMU as a whole is started
 * @regs: registers that the current overflow interrupt interrupted, NULL outside of one
 * @overflow_start: sched_clock() at the start of the current overflow interrupt, in ns
 * @overflow_resume: @running at the start of the overflow interrupt: its end restarts the PMU
 * @limiter: the limiter's state
 * @suspended: mask of counters that were active when the CPU was powered down
 * @last_late: time, in jiffies, when a stop last handled an overflow before its interrupt
 * @stray: mask of counters that overflowed without an event, for the self-test
 * @irq: Linux IRQ number of this CPU's overflow interrupt
 * @feature_users: number of placed events with each of the features that start with the PMU
 * @features: @feature_users as one word. If it is 0, a start or stop of the PMU only starts or
 *	stops the counters
 * @branches: branch records of this CPU, NULL where the hardware has none
 * @shared_select: value of the register that selects events of several counters (x86: the fixed
 *	counters' control register)
 * @events: event on each counter; only the upper counter of a pair has an event here
 * @selected: value of each counter's event selection register
 * @extra_regs: extra registers
 * @demands: scratch memory for place_by_moving()
 * @sample: buffer for samples of the overflow interrupt, which never nests
 *
 * Once the PMU is registered, only the CPU itself changes its state, with interrupts disabled.
 * Other CPUs may read @irq, limiter.min_left (first_min_period()) and @last_late (x86_nmi_exit()).
 */
struct corepmu_cpu {
	struct corepmu		*pmu;
	u64			used;
	u64			active;
	u64			hw_active;
	u64			dirty;
	u64			trusted;
	u64			trusted_others;
	u64			stopped_ctrl;
	bool			running;
	struct pt_regs		*regs;
	u64			overflow_start;
	bool			overflow_resume;
	struct corepmu_limiter	limiter;
	u64			suspended;
	unsigned long		last_late;
	u64			stray;
	int			irq;
	union {
		u8		feature_users[COREPMU_NR_STARTED];
		u64		features;
	};
	struct corepmu_branches	*branches;
	u64			shared_select;
	struct perf_event	*events[COREPMU_MAX_COUNTERS];
	u64			selected[COREPMU_MAX_COUNTERS];
	struct corepmu_extra_reg	extra_regs[COREPMU_MAX_EXTRA_REGS];
	struct corepmu_demand	demands[COREPMU_MAX_DEMANDS];
	struct perf_sample_data	sample;
};

/*
 * Tell the compiler the range of @idx, a counter's number, and return @idx. In a kernel with UBSAN
 * the compiler then omits the checks of shifts by @idx, and of indices that are masked, as below.
 * Without the calls of these checks, a function saves fewer registers.
 */
static __always_inline int corepmu_valid_counter(int idx)
{
	if (idx < 0 || idx >= COREPMU_MAX_COUNTERS)
		__builtin_unreachable();

	return idx;
}

/* COREPMU_MAX_COUNTERS is a power of two. */
#define COREPMU_COUNTER_MASK	(COREPMU_MAX_COUNTERS - 1)

/* Return the address of the pointer to the event on counter @idx. */
static __always_inline struct perf_event **corepmu_event_on(struct corepmu_cpu *cpuc, int idx)
{
	return &cpuc->events[corepmu_valid_counter(idx) & COREPMU_COUNTER_MASK];
}

/* Return the address of the driver's copy of counter @idx's event selection. */
static __always_inline u64 *corepmu_selected(struct corepmu_cpu *cpuc, int idx)
{
	return &cpuc->selected[corepmu_valid_counter(idx) & COREPMU_COUNTER_MASK];
}

/* Check whether a placed event has a feature that starts with the PMU. */
static inline bool corepmu_uses(const struct corepmu_cpu *cpuc, enum corepmu_feature nr)
{
	return cpuc->feature_users[nr];
}

#endif /* _COREPMU_CPU_H */
