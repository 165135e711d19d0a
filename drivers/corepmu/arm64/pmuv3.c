// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: the Arm Performance Monitors Extension, PMUv3
 *
 * Arm Architecture Reference Manual for A-profile, DDI 0487, chapter D13 (the
 * extension) and D23 (its registers).
 *
 * The event counters are 32 bits wide before PMUv3p5 and 64 from it on
 * (PMCR_EL0.LP); the cycle counter has 64 bits (PMCR_EL0.LC). Where event
 * counters are narrow, a 64-bit event takes two: the even one counts it, and
 * the odd one above counts CHAIN, the wraps of the even one (D13.11.3).
 *
 * Interrupts are enabled for every counter once and for all: a counter that is
 * disabled does not overflow. With a pair the even counter's wraps interrupt
 * too, once in 2^32 events; there is no event on it and nothing is done.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/string.h>

#include <asm/irq_regs.h>

#include <corepmu/pmu.h>

#include "pmuv3.h"
#include "sysreg.h"

/* perf_event_attr.config1, as drivers/perf/arm_pmuv3.c lays it out */
#define CONFIG1_LONG			BIT_ULL(0)
#define CONFIG1_RDPMC			BIT_ULL(1)
#define CONFIG1_THRESHOLD_COUNT		BIT_ULL(2)
#define CONFIG1_THRESHOLD_COMPARE	GENMASK_ULL(4, 3)
#define CONFIG1_THRESHOLD		GENMASK_ULL(16, 5)
#define CONFIG1_ANY_THRESHOLD		GENMASK_ULL(16, 2)
#define CONFIG1_KNOWN			GENMASK_ULL(16, 0)

/* No event selection has all bits set: the shadow of an unknown one. */
#define SELECTED_UNKNOWN		(~0ULL)

static bool has_wide_event_counters(const struct pmuv3 *pmuv3)
{
	return pmuv3->pmuver >= PMUVER_V3P5;
}

/* Registers */

static void pmuv3_enable(struct corepmu_cpu *cpuc)
{
	u64 clear = cpuc->hw_active & ~cpuc->active;
	u64 set = cpuc->active & ~cpuc->hw_active;

	if (clear)
		pmuv3_write_pmcntenclr(clear);
	if (set)
		pmuv3_write_pmcntenset(set);
	cpuc->hw_active = cpuc->active;

	/* Events and values are in place before anything counts. */
	isb();
	pmuv3_write_pmcr(to_pmuv3(cpuc->pmu)->pmcr | PMCR_E);
}

static void pmuv3_disable(struct corepmu_cpu *cpuc)
{
	pmuv3_write_pmcr(to_pmuv3(cpuc->pmu)->pmcr);

	/* What is read from now on no longer changes. */
	isb();
}

static noinline void write_selection(int idx, u64 config)
{
	if (idx == PMUV3_CYCLE_COUNTER)
		pmuv3_write_pmccfiltr(config & ~PMEVTYPER_EVTCOUNT);
	else if (idx == PMUV3_INSTR_COUNTER)
		pmuv3_write_pmicfiltr(config & ~PMEVTYPER_EVTCOUNT);
	else
		pmuv3_write_pmevtyper(idx, config);
}

static __always_inline void select_counter(struct corepmu_cpu *cpuc, int idx, u64 config)
{
	if (cpuc->selected[idx] == config)
		return;

	cpuc->selected[idx] = config;
	write_selection(idx, config);
}

static void pmuv3_select(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc)
{
	int idx = hwc->idx;

	if (corepmu_event_is_paired(cpuc->pmu, hwc)) {
		select_counter(cpuc, idx - 1, hwc->config_base);
		/* Wraps are counted wherever they happen. */
		select_counter(cpuc, idx, PMUV3_EVENT_CHAIN | PMEVTYPER_NSH);
	} else {
		select_counter(cpuc, idx, hwc->config_base);
	}
}

/* Pairs are out of line, so that single counters do without a call. */
static noinline u64 read_pair(int idx)
{
	u64 upper, lower, again;

	/* The lower half may wrap between two reads. */
	upper = pmuv3_read_pmevcntr(idx);
	lower = pmuv3_read_pmevcntr(idx - 1);
	again = pmuv3_read_pmevcntr(idx);
	if (again != upper)
		lower = pmuv3_read_pmevcntr(idx - 1);

	return again << 32 | (lower & GENMASK_ULL(31, 0));
}

static __always_inline u64 read_single(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc)
{
	int idx = hwc->idx;

	if (idx == PMUV3_CYCLE_COUNTER)
		return pmuv3_read_pmccntr();
	if (idx == PMUV3_INSTR_COUNTER)
		return pmuv3_read_pmicntr();
	return pmuv3_read_pmevcntr(idx);
}

static u64 pmuv3_read(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc)
{
	if (corepmu_event_is_paired(cpuc->pmu, hwc))
		return read_pair(hwc->idx);
	return read_single(cpuc, hwc);
}

static noinline void update_pair(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	corepmu_count_event(cpuc, event, pmuv3_read);
}

static void pmuv3_update(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	if (unlikely(corepmu_event_is_paired(cpuc->pmu, &event->hw)))
		update_pair(cpuc, event);
	else
		corepmu_count_event(cpuc, event, read_single);
}

static noinline void write_pair(int idx, u64 value)
{
	pmuv3_write_pmevcntr(idx, upper_32_bits(value));
	pmuv3_write_pmevcntr(idx - 1, lower_32_bits(value));
}

static void write_counter(int idx, u64 value)
{
	if (idx == PMUV3_CYCLE_COUNTER)
		pmuv3_write_pmccntr(value);
	else if (idx == PMUV3_INSTR_COUNTER)
		pmuv3_write_pmicntr(value);
	else
		pmuv3_write_pmevcntr(idx, value);
}

static void pmuv3_write(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value)
{
	int idx = hwc->idx;

	/* A counter with more bits is to overflow when those of the event do. */
	if (unlikely(hwc->flags & COREPMU_EVENT_32BIT))
		value |= GENMASK_ULL(cpuc->pmu->width[idx] - 1, 0) & ~hwc->event_base;

	if (corepmu_event_is_paired(cpuc->pmu, hwc))
		write_pair(idx, value);
	else
		write_counter(idx, value);
}

static void pmuv3_clear(struct corepmu_cpu *cpuc, u64 counters)
{
	for (; counters; counters &= counters - 1)
		write_counter(__ffs64(counters), 0);
}

static void pmuv3_reset(struct corepmu_cpu *cpuc)
{
	struct corepmu *pmu = cpuc->pmu;
	int idx;

	/* Enables, flags and event types are unknown after a reset (D13.1). */
	pmuv3_write_pmcr(to_pmuv3(pmu)->pmcr | PMCR_P | PMCR_C);
	pmuv3_write_pmcntenclr(pmu->counters);
	pmuv3_write_pmintenclr(pmu->counters);
	isb();
	pmuv3_write_pmovsclr(pmu->counters);
	pmuv3_write_pmuserenr(0);
	pmuv3_write_pmintenset(pmu->counters);
	isb();

	cpuc->hw_active = 0;
	cpuc->dirty = 0;
	cpuc->user_access = 0;
	for (idx = 0; idx < COREPMU_MAX_COUNTERS; idx++)
		cpuc->selected[idx] = SELECTED_UNKNOWN;
}

static void pmuv3_quiesce(struct corepmu_cpu *cpuc)
{
	u64 counters = cpuc->pmu->counters;

	pmuv3_write_pmcr(to_pmuv3(cpuc->pmu)->pmcr);
	pmuv3_write_pmuserenr(0);
	pmuv3_write_pmcntenclr(counters);
	pmuv3_write_pmintenclr(counters);
	isb();
	pmuv3_write_pmovsclr(counters);
	isb();
}

/**
 * pmuv3_interrupt() - the overflow interrupt
 * @irq: its number
 * @dev: the struct corepmu_cpu of the CPU that it is meant for
 *
 * Hard interrupt, IRQs off. One interrupt serves all counters of a CPU. A PPI comes to
 * the CPU that it is meant for. An SPI comes where it is routed to, and when its CPU goes
 * offline the kernel routes it to another: registers and state are those of the CPU that
 * this runs on.
 *
 * Return: IRQ_NONE when no counter of this CPU overflowed
 */
irqreturn_t pmuv3_interrupt(int irq, void *dev)
{
	struct corepmu *pmu = ((struct corepmu_cpu *)dev)->pmu;
	struct corepmu_cpu *cpuc = this_cpu_ptr(pmu->cpu);
	u64 start = sched_clock();
	u64 overflowed;

	/* The counters of a CPU of another kind are not this PMU's. */
	if (unlikely(!cpumask_test_cpu(smp_processor_id(), &pmu->supported_cpus)))
		return IRQ_NONE;

	overflowed = pmuv3_read_pmovsclr();
	if (!overflowed)
		return IRQ_NONE;

	pmuv3_write_pmovsclr(overflowed);
	if (corepmu_handle_overflow(cpuc, overflowed, get_irq_regs()))
		corepmu_overflow_took(cpuc, start);
	else
		corepmu_overflow_came_late(cpuc, start);

	return IRQ_HANDLED;
}

/* Attributes */

/*
 * Which exception levels count: Documentation/arch/arm64/perf.rst. With VHE the
 * kernel is at EL2, and EL1 is guests' alone.
 */
static int encode_filter(struct pmuv3 *pmuv3, const struct perf_event_attr *attr,
			 u64 *config_base)
{
	if (attr->exclude_idle)
		return corepmu_refuse(-EOPNOTSUPP, "exclude_idle: the PMU does not know idle from busy");

	if (is_kernel_in_hyp_mode()) {
		if (!attr->exclude_kernel && !attr->exclude_host)
			*config_base |= PMEVTYPER_NSH;
		if (attr->exclude_guest)
			*config_base |= PMEVTYPER_P;
		if (attr->exclude_host)
			*config_base |= PMEVTYPER_U;
	} else {
		if (!attr->exclude_hv && !attr->exclude_host)
			*config_base |= PMEVTYPER_NSH;
		/*
		 * Host and guests share EL0 and EL1, and KVM, which could
		 * switch counters between them, offers that to the built-in
		 * driver alone. Where there are no guests none is counted.
		 */
		if (attr->exclude_host) {
			if (pmuv3->has_el2)
				return corepmu_refuse(-EOPNOTSUPP, "exclude_host: guests cannot be told from the host without VHE");
			*config_base |= PMEVTYPER_P | PMEVTYPER_U;
		}
	}

	if (attr->exclude_kernel)
		*config_base |= PMEVTYPER_P;
	if (attr->exclude_user)
		*config_base |= PMEVTYPER_U;

	return 0;
}

/* FEAT_PMUv3_TH, D13.7: count when the event's value compares. */
static int encode_threshold(struct pmuv3 *pmuv3, const struct perf_event_attr *attr,
			    u64 *config_base)
{
	unsigned int threshold = FIELD_GET(CONFIG1_THRESHOLD, attr->config1);
	unsigned int compare = FIELD_GET(CONFIG1_THRESHOLD_COMPARE, attr->config1);
	unsigned int count = FIELD_GET(CONFIG1_THRESHOLD_COUNT, attr->config1);

	if (threshold > pmuv3_threshold_max(pmuv3))
		return corepmu_refuse(-EINVAL, "threshold: more than this CPU's caps/threshold_max");
	if (!threshold) {
		if (attr->config1 & CONFIG1_ANY_THRESHOLD)
			return corepmu_refuse(-EINVAL, "threshold_compare and threshold_count need a threshold");
		return 0;
	}

	*config_base |= FIELD_PREP(PMEVTYPER_TH, threshold) |
			FIELD_PREP(PMEVTYPER_TC, compare << 1 | count);
	return 0;
}

/* The event's number, or a negative errno. */
static int encode_event(struct pmuv3 *pmuv3, const struct perf_event_attr *attr)
{
	u64 generic = attr->config & PERF_HW_EVENT_MASK;

	/* A PMU may itself have been given one of these types. */
	if (attr->type != pmuv3->pmu->pmu.type) {
		if (attr->type == PERF_TYPE_HARDWARE)
			return pmuv3_map_hardware(pmuv3, generic);
		if (attr->type == PERF_TYPE_HW_CACHE)
			return pmuv3_map_cache(pmuv3, generic);
	}

	if (attr->config & ~PMEVTYPER_EVTCOUNT)
		return corepmu_refuse(-EINVAL, "config has bits that format/ does not name");
	if (attr->config == PMUV3_EVENT_CHAIN)
		return corepmu_refuse(-EINVAL, "CHAIN counts nothing on its own: set long=1 for 64 bits");

	return attr->config;
}

static int pmuv3_encode(struct corepmu *pmu, struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	struct pmuv3 *pmuv3 = to_pmuv3(pmu);
	struct hw_perf_event *hwc = &event->hw;
	u64 config_base = 0;
	int number, ret;

	number = encode_event(pmuv3, attr);
	if (number < 0)
		return number;

	if ((attr->config1 & ~CONFIG1_KNOWN) || attr->config2 || compat_attr_more_config(attr))
		return corepmu_refuse(-EINVAL, "config1, config2 or config3 has bits that format/ does not name");

	ret = encode_filter(pmuv3, attr, &config_base);
	if (ret)
		return ret;
	ret = encode_threshold(pmuv3, attr, &config_base);
	if (ret)
		return ret;

	hwc->config = pmu->counters & GENMASK_ULL(PMUV3_MAX_EVENT_COUNTERS - 1, 0);

	if (attr->config1 & CONFIG1_LONG) {
		hwc->flags |= COREPMU_EVENT_LONG;
		if (!has_wide_event_counters(pmuv3)) {
			hwc->flags |= COREPMU_EVENT_PAIR;
			hwc->config = pmu->pair_counters;
		}
	}

	/* The dedicated counters have no threshold. */
	if (!FIELD_GET(PMEVTYPER_TH, config_base)) {
		if (number == PMUV3_EVENT_CPU_CYCLES)
			hwc->config |= pmu->counters & BIT_ULL(PMUV3_CYCLE_COUNTER);
		if (number == PMUV3_EVENT_INST_RETIRED)
			hwc->config |= pmu->counters & BIT_ULL(PMUV3_INSTR_COUNTER);
	}

	if (attr->config1 & CONFIG1_RDPMC) {
		ret = pmuv3_encode_user(pmuv3, event, attr->config1 & CONFIG1_LONG);
		if (ret)
			return ret;
	}

	if (!hwc->config)
		return corepmu_refuse(-EINVAL, "no counter of this CPU can count it");

	hwc->config_base = config_base | number;
	return 0;
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

/* What is there */

/**
 * pmuv3_describe() - read from the CPU what its PMU has
 * @pmuv3: the PMU; its private part and its counters are filled in
 *
 * On one of the PMU's CPUs, not preemptible.
 *
 * Return: 0, or -ENODEV when there is no PMUv3
 */
int pmuv3_describe(struct pmuv3 *pmuv3)
{
	struct corepmu *pmu = pmuv3->pmu;
	u64 ceid0, ceid1, event_counters;
	unsigned int nr;
	int idx;

	/* D23.7: 0xf is a PMU of another architecture. */
	pmuv3->pmuver = FIELD_GET(DFR0_PMUVER, pmuv3_read_dfr0());
	if (pmuv3->pmuver == PMUVER_NONE || pmuv3->pmuver == PMUVER_IMPDEF)
		return -ENODEV;

	/* A hypervisor that keeps counters for itself is taken into account. */
	nr = FIELD_GET(PMCR_N, pmuv3_read_pmcr());
	event_counters = nr ? GENMASK_ULL(nr - 1, 0) : 0;

	pmu->counters = event_counters | BIT_ULL(PMUV3_CYCLE_COUNTER);
	if (FIELD_GET(DFR1_PMICNTR, pmuv3_read_dfr1()))
		pmu->counters |= BIT_ULL(PMUV3_INSTR_COUNTER);

	pmuv3->pmcr = PMCR_LC;
	if (has_wide_event_counters(pmuv3))
		pmuv3->pmcr |= PMCR_LP;
	else
		pmu->pair_counters = event_counters & 0xaaaaaaaaULL;

	for (idx = 0; idx < PMUV3_MAX_EVENT_COUNTERS; idx++)
		pmu->width[idx] = has_wide_event_counters(pmuv3) ? 64 : 32;
	pmu->width[PMUV3_CYCLE_COUNTER] = 64;
	pmu->width[PMUV3_INSTR_COUNTER] = 64;

	/* The upper words are the events from 0x4000 on. */
	ceid0 = pmuv3_read_pmceid0();
	ceid1 = pmuv3_read_pmceid1();
	pmuv3->pmceid[0] = lower_32_bits(ceid0) | (u64)lower_32_bits(ceid1) << 32;
	pmuv3->pmceid[1] = upper_32_bits(ceid0) | (u64)upper_32_bits(ceid1) << 32;

	if (pmuv3->pmuver >= PMUVER_V3P4)
		pmuv3->pmmir = pmuv3_read_pmmir();

	pmuv3->has_el2 = !is_kernel_in_hyp_mode() &&
			 FIELD_GET(PFR0_EL2, read_sanitised_ftr_reg(SYS_ID_AA64PFR0_EL1));

	return 0;
}

const struct corepmu_backend pmuv3_backend = {
	.name			= "PMUv3",
	.attr_groups		= pmuv3_attr_groups,
	.capabilities		= PERF_PMU_CAP_EXTENDED_REGS,
	.encode			= pmuv3_encode,
	.reset			= pmuv3_reset,
	.quiesce		= pmuv3_quiesce,
	.joins			= pmuv3_joins,
	.counter_name		= pmuv3_counter_name,
	.self_test_config	= pmuv3_self_test_config,
	.irq_enable		= pmuv3_irq_enable,
	.irq_disable		= pmuv3_irq_disable,
	.clear			= pmuv3_clear,
	.user_index		= pmuv3_user_index,
	.user_switch		= pmuv3_user_switch,
	.user_gone		= pmuv3_user_gone,
	.enable			= pmuv3_enable,
	.disable		= pmuv3_disable,
	.select			= pmuv3_select,
	.read			= pmuv3_read,
	.update			= pmuv3_update,
	.look			= pmuv3_update,
	.write			= pmuv3_write,
};
