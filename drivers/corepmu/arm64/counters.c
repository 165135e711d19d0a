// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: counters and registers of the Performance Monitors Extension, PMUv3
 *
 * Arm Architecture Reference Manual for A-profile, DDI 0487, chapter D13 (the
 * extension) and D23 (its registers).
 *
 * The event counters are 32 bits wide before PMUv3p5 and 64 from it on
 * (PMCR_EL0.LP); the cycle counter has 64 bits (PMCR_EL0.LC). Where event
 * counters are narrow, a 64-bit event takes two: the even one counts it, and
 * the odd one above counts CHAIN, the wraps of the even one (D13.11.3).
 *
 * Unless the module is loaded with sampling=0, pmuv3_reset() enables the overflow interrupts of all
 * counters. They stay enabled: a disabled counter does not overflow. The even counter of a pair
 * raises an interrupt, too, once in 2^32 events. No event is on that counter, so
 * corepmu_handle_overflow() ignores the overflow.
 *
 * If CPUs are threads of one core, the cycle counter is unused: it also counts while a thread waits
 * for the other. With sampling=0 the driver neither requests nor enables an interrupt, and the
 * self-test checks counts only. Each event then needs 64 bits: six 32-bit counters hold three
 * events, and the cycle counter holds a fourth.
 *
 * The registers of PMUv3p9 and of the instruction counter trap unless they are opened. The kernel's
 * boot code opens them at EL2 (asm/el2_setup.h, which Kbuild checks), and firmware at EL3
 * (MDCR_EL3.EnPM2, booting.rst). Linux 6.1 does not open them and does not ask firmware for them.
 * Without these registers the driver does not use the instruction counter, and a task that reads
 * one counter can read all, as before PMUv3p9.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/string.h>

#include <corepmu/branch.h>
#include <corepmu/counter.h>
#include <corepmu/pmu.h>

#include "pmuv3.h"
#include "sysreg.h"

/* Registers */

/*
 * Value of corepmu_cpu.hw_active between disable_untrusted() and the next start of the PMU. All
 * counters are disabled; the start writes the other registers that all counters share.
 */
#define HW_ACTIVE_REWRITE	(~0ULL)

static __always_inline void enable_counters(struct corepmu_cpu *cpuc, u64 active)
{
	u64 clear = cpuc->hw_active & ~active;
	u64 set = active & ~cpuc->hw_active;

	if (clear)
		pmuv3_write_pmcntenclr(clear);
	if (set)
		pmuv3_write_pmcntenset(set);
	cpuc->hw_active = active;
}

/*
 * enable_counters() with an overflow interrupt that is an NMI. Perf core may start or stop an
 * event while the PMU runs. The NMI may then come after the read of corepmu_cpu.active and before
 * the register writes. If the NMI's handler stops another event, it clears a bit of
 * corepmu_cpu.active and disables the counter. The writes here, with the old value, would enable
 * that counter again. So repeat them until corepmu_cpu.active has not changed meanwhile.
 */
static __always_inline void enable_counters_nmi(struct corepmu_cpu *cpuc)
{
	u64 active;

	do {
		active = READ_ONCE(cpuc->active);
		enable_counters(cpuc, active);
		barrier();
	} while (unlikely(READ_ONCE(cpuc->active) != active));
}

static __always_inline void start_counters(struct corepmu_cpu *cpuc)
{
	/* Event types, values and enables take effect before PMCR_EL0.E does. */
	isb();
	pmuv3_write_pmcr(cpuc->stopped_ctrl | PMCR_E);
}

/* Start the PMU after disable_untrusted(): usually the first start after a context switch. */
static noinline void enable_and_rewrite(struct corepmu_cpu *cpuc)
{
	struct corepmu *pmu = cpuc->pmu;
	u64 active;

	if (corepmu_has_interrupt(pmu))
		pmuv3_write_pmintenset(pmu->counters);
	pmuv3_rdpmc_rewrite();
	active = READ_ONCE(cpuc->active);
	pmuv3_write_pmcntenset(active);
	cpuc->hw_active = active;
	barrier();
	if (unlikely(READ_ONCE(cpuc->active) != active))
		enable_counters_nmi(cpuc);
	start_counters(cpuc);
}

/* With a return after the call, the compiler makes a stack frame only for the call. */
static void pmuv3_enable(struct corepmu_cpu *cpuc)
{
	if (cpuc->hw_active == HW_ACTIVE_REWRITE) {
		enable_and_rewrite(cpuc);
		return;
	}
	enable_counters(cpuc, cpuc->active);
	start_counters(cpuc);
}

static void pmuv3_enable_nmi(struct corepmu_cpu *cpuc)
{
	if (cpuc->hw_active == HW_ACTIVE_REWRITE) {
		enable_and_rewrite(cpuc);
		return;
	}
	enable_counters_nmi(cpuc);
	start_counters(cpuc);
}

static void pmuv3_disable(struct corepmu_cpu *cpuc)
{
	pmuv3_write_pmcr(cpuc->stopped_ctrl);

	/* The write takes effect before the counters are read. */
	isb();
}

static __always_inline bool is_trusted(const struct corepmu_cpu *cpuc, int idx)
{
	return cpuc->trusted >> idx & 1;
}

/*
 * Prepare for writing an event selection to counter @idx. If the counter is untrusted, other
 * software may have enabled counters: disable all of them, once until the next start of the PMU.
 * That start writes the other registers that all counters share.
 */
static __always_inline void disable_untrusted(struct corepmu_cpu *cpuc, int idx)
{
	if (is_trusted(cpuc, idx) || (cpuc->trusted_others & COREPMU_TRUST_SHARED))
		return;

	cpuc->trusted_others |= COREPMU_TRUST_SHARED;
	pmuv3_write_pmcntenclr(cpuc->pmu->counters);
	cpuc->hw_active = HW_ACTIVE_REWRITE;
}

static void select_counter(struct corepmu_cpu *cpuc, int idx, u64 config)
{
	if (is_trusted(cpuc, idx) && cpuc->selected[idx] == config)
		return;

	disable_untrusted(cpuc, idx);
	cpuc->selected[idx] = config;
	pmuv3_write_selection(idx, config);
}

static noinline u64 read_counter(int idx)
{
	return pmuv3_read_counter(idx);
}

static u64 read_pair(int idx)
{
	u64 upper, lower, again;

	/* The lower half may wrap between two reads. */
	upper = read_counter(idx);
	lower = read_counter(idx - 1);
	again = read_counter(idx);
	if (again != upper)
		lower = read_counter(idx - 1);

	return again << 32 | (lower & GENMASK_ULL(31, 0));
}

static noinline u64 pmuv3_read(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc)
{
	if (corepmu_event_is_paired(cpuc->pmu, hwc))
		return read_pair(hwc->idx);
	return read_counter(hwc->idx);
}

/* Inline, so that most updates of an event call no function */
static __always_inline u64 read_single(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc)
{
	return pmuv3_read_counter(hwc->idx);
}

/*
 * corepmu_count_event() if the overflow interrupt is not an NMI. With interrupts off nothing else
 * on this CPU updates the event, and other CPUs leave prev_count and period_left alone. Only
 * event->count needs an atomic addition: PERF_EVENT_IOC_RESET on another CPU may clear it.
 */
static __always_inline void
count_event_irqs_off(struct corepmu_cpu *cpuc, struct perf_event *event,
		     u64 (*read)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc))
{
	struct hw_perf_event *hwc = &event->hw;
	u64 mask = corepmu_hw_value_mask(hwc);
	u64 now = corepmu_extend_sign(read(cpuc, hwc), mask);
	u64 delta = (now - local64_read(&hwc->prev_count)) & mask;

	local64_set(&hwc->prev_count, now);
	local64_add(delta, &event->count);
	local64_set(&hwc->period_left, local64_read(&hwc->period_left) - delta);
}

static noinline void update_otherwise(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	count_event_irqs_off(cpuc, event, pmuv3_read);
}

static void pmuv3_update(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	if (unlikely(event->hw.flags & COREPMU_EVENT_PAIR))
		update_otherwise(cpuc, event);
	else
		count_event_irqs_off(cpuc, event, read_single);
}

/* Read by a call: few kernels have NMIs, and the atomic operations cost more than the call. */
static void pmuv3_update_nmi_safe(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	corepmu_count_event_nmi_safe(cpuc, event, pmuv3_read);
}

static noinline void write_counter(int idx, u64 value)
{
	pmuv3_write_counter(idx, value);
}

static void write_pair(int idx, u64 value)
{
	write_counter(idx, upper_32_bits(value));
	write_counter(idx - 1, lower_32_bits(value));
}

static noinline void write_otherwise(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc,
				     u64 value)
{
	int idx = hwc->idx;

	/* A 32-bit event on a wider counter: set all upper bits, so bit 31 carries to the top. */
	if (hwc->flags & COREPMU_EVENT_32BIT)
		value |= cpuc->pmu->value_mask[idx] & ~corepmu_hw_value_mask(hwc);

	if (corepmu_event_is_paired(cpuc->pmu, hwc))
		write_pair(idx, value);
	else
		write_counter(idx, value);
}

static void pmuv3_write(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value)
{
	if (unlikely(hwc->flags & (COREPMU_EVENT_32BIT | COREPMU_EVENT_PAIR)))
		write_otherwise(cpuc, hwc, value);
	else
		pmuv3_write_counter(hwc->idx, value);
}

/* Check for an event with a pair of counters, a 32-bit counter or a filter that depends on KVM. */
static __always_inline bool is_rare(const struct hw_perf_event *hwc)
{
	return (hwc->flags & (COREPMU_EVENT_32BIT | COREPMU_EVENT_PAIR)) ||
	       (hwc->config_base & (PMUV3_HOST_ALONE | PMUV3_GUESTS_ALONE));
}

/* Program the counter of an event for which is_rare() is true. */
static noinline void program_rare(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value)
{
	int idx = hwc->idx;

	if (corepmu_event_is_paired(cpuc->pmu, hwc)) {
		select_counter(cpuc, idx - 1, hwc->config_base);
		/*
		 * The odd counter counts the even one's wraps at all exception levels. Only the
		 * even counter has the event's filter.
		 */
		select_counter(cpuc, idx, PMUV3_EVENT_CHAIN | PMEVTYPER_NSH);
	} else {
		select_counter(cpuc, idx, hwc->config_base);
	}
	write_otherwise(cpuc, hwc, value);
}

/*
 * Most events need two register writes. The function has a single call, so that the compiler makes
 * a stack frame only for that call.
 */
static void pmuv3_program(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value)
{
	int idx = corepmu_valid_counter(hwc->idx);

	if (unlikely(is_rare(hwc))) {
		program_rare(cpuc, hwc, value);
	} else if (is_trusted(cpuc, idx) && *corepmu_selected(cpuc, idx) == hwc->config_base) {
		pmuv3_write_counter(idx, value);
	} else {
		disable_untrusted(cpuc, idx);
		*corepmu_selected(cpuc, idx) = hwc->config_base;
		pmuv3_write_both(idx, hwc->config_base, value);
	}
}

static void pmuv3_clear(struct corepmu_cpu *cpuc, u64 counters)
{
	for (; counters; counters &= counters - 1)
		write_counter(__ffs64(counters), 0);
}

static void pmuv3_reset(struct corepmu_cpu *cpuc)
{
	struct corepmu *pmu = cpuc->pmu;

	/* Enables, flags and event types are unknown after a reset (D13.1). */
	pmuv3_write_pmcr(cpuc->stopped_ctrl | PMCR_P | PMCR_C);
	pmuv3_write_pmcntenclr(pmu->counters);
	pmuv3_write_pmintenclr(pmu->counters);
	isb();
	pmuv3_write_pmovsclr(pmu->counters);
	pmuv3_rdpmc_close();
	if (corepmu_has_interrupt(pmu))
		pmuv3_write_pmintenset(pmu->counters);
	pmuv3_idle_expect(corepmu_has_interrupt(pmu) ? pmu->counters : 0);
	isb();

	cpuc->dirty = 0;
	/* No counter is trusted: the next placement sets hw_active to HW_ACTIVE_REWRITE. */
	cpuc->trusted = 0;
	cpuc->trusted_others = 0;
	pmuv3_kvm_reset();
	corepmu_branch_reset(cpuc);
}

static void pmuv3_quiesce(struct corepmu_cpu *cpuc)
{
	u64 counters = cpuc->pmu->counters;

	pmuv3_idle_expect(0);
	pmuv3_write_pmcr(to_pmuv3(cpuc->pmu)->pmcr);
	pmuv3_rdpmc_close();
	pmuv3_write_pmcntenclr(counters);
	pmuv3_write_pmintenclr(counters);
	isb();
	pmuv3_write_pmovsclr(counters);
	isb();
}

static void pmuv3_counter_name(int idx, char *name)
{
	if (idx == PMUV3_CYCLE_COUNTER)
		strscpy(name, "PMCCNTR", COREPMU_COUNTER_NAME);
	else if (idx == PMUV3_INSTR_COUNTER)
		strscpy(name, "PMICNTR", COREPMU_COUNTER_NAME);
	else
		snprintf(name, COREPMU_COUNTER_NAME, "%d", idx);
}

static u64 pmuv3_self_test_config(struct corepmu *pmu, int idx)
{
	return PMUV3_EVENT_CPU_CYCLES | PMEVTYPER_NSH;
}

/* Members that both backends share. Names: drivers/perf/arm_pmuv3.c */
#define PMUV3_BACKEND_COMMON					\
	.name			= "PMUv3",			\
	.remedy			= "sampling=0 counts without samples", \
	.builtin_name		= "armv8_pmuv3",		\
	.builtin_type		= -1,				\
	.attr_groups		= pmuv3_attr_groups,		\
	.capabilities		= PERF_PMU_CAP_EXTENDED_REGS,	\
	.features[COREPMU_FEATURE_BRANCHES] = &corepmu_branch_feature, \
	.encode			= pmuv3_encode,			\
	.reset			= pmuv3_reset,			\
	.quiesce		= pmuv3_quiesce,		\
	.joins			= pmuv3_joins,			\
	.counter_name		= pmuv3_counter_name,		\
	.self_test_config	= pmuv3_self_test_config,	\
	.irq_enable		= pmuv3_irq_enable,		\
	.irq_disable		= pmuv3_irq_disable,		\
	.clear			= pmuv3_clear,			\
	.event_idx		= pmuv3_event_idx,		\
	.rdpmc_switch		= pmuv3_rdpmc_switch,		\
	.rdpmc_gone		= pmuv3_rdpmc_gone,		\
	.disable		= pmuv3_disable,		\
	.program		= pmuv3_program,		\
	.read			= pmuv3_read,			\
	.write			= pmuv3_write

const struct corepmu_backend pmuv3_backend = {
	PMUV3_BACKEND_COMMON,
	.enable			= pmuv3_enable,
	.update			= pmuv3_update,
	.update_nmi_safe	= pmuv3_update,
};

const struct corepmu_backend pmuv3_nmi_backend = {
	PMUV3_BACKEND_COMMON,
	.enable			= pmuv3_enable_nmi,
	.update			= pmuv3_update_nmi_safe,
	.update_nmi_safe	= pmuv3_update_nmi_safe,
};
