// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel topdown: slots and topdown metrics
 *
 * Fixed counter 3 counts issue slots. PERF_METRICS has one byte for each metric: how many 255ths of
 * the slots the metric accounts for (SDM volume 3, "Performance Metrics"). A metric's count is that
 * part of the slots. PERF_METRICS is valid for the value of fixed counter 3 only if both registers
 * started from 0, or from values that were read together. So a metric event must be in a group that
 * a slots event leads. The metric's counter exists only in the driver (METRIC_COUNTER_BASE).
 *
 * The slots counter has two modes (struct topdown.shared):
 *
 * - Without a metric on the CPU, slots is an event like any other, and can sample.
 * - While metrics are on the CPU, they share the counter with the slots event. The counter then
 *   does not start from the rest of a sampling period. When a group is scheduled in, its first
 *   metric begins this mode: start_metric().
 *
 * In the second mode the two registers go through these steps:
 *
 * 1. The group is scheduled in: the driver writes the values of the last sched_out, or 0.
 * 2. A member is read: the driver adds the growth of all members to their counts, and sets both
 *    registers to 0. A 255th of many slots would be coarse.
 * 3. The group is scheduled out: the driver adds the growth, and saves both registers. The group
 *    may be scheduled in on another CPU.
 *
 * So a program that reads the registers by RDPMC sees them grow across context switches
 * (tools/perf/Documentation/topdown.txt; icl_update_topdown_event() in
 * arch/x86/events/intel/core.c does the same). Soon after an update, the read of a metric skips
 * step 2 (FEW_SLOTS): all members of a group that is read must show the same slots.
 *
 * With metrics_clear (CPUs with bit 19 of IA32_PERF_CAPABILITIES), RDPMC of PERF_METRICS in user
 * space clears both registers. read(2) does not count slots that RDPMC has cleared. The hardware
 * does not report a clear. The driver detects a clear if the slots register is below V, its value
 * after the last update or sched_in. If the register has passed V again, the counts lack another V
 * slots.
 *
 * struct hw_perf_event has, by the accessors below:
 *
 *   last_tag          slots_saved: the slots register at the last sched_out, or 0
 *   extra_reg.config  slots event, metrics_saved: PERF_METRICS at the last sched_out. Metric event,
 *		       metric_before: the metric's part of the slots register at the last update
 *   prev_count        slots event: the slots register at the last update. Metric event: the same as
 *		       metric_before, so that the user page's offset is the count at the time when
 *		       the registers were 0
 *
 * Differences from the built-in driver:
 * - A metric whose exclude_ bits differ from its leader's is rejected. The built-in driver counts
 *   the leader's slots.
 * - The user page of the slots event is right after a context switch. The built-in driver's page is
 *   off by the earlier count.
 * - A metric that rounding has made smaller keeps its count until it exceeds the old value.
 * - An overflow of the slots counter, after 2^48 slots, is counted.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include <corepmu/counter.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "intel.h"
#include "../msr.h"
#include "../x86.h"

/* format/metrics_clear */
#define CONFIG1_CLEAR	BIT_ULL(0)

#define METRIC_BITS	8
#define METRIC_WHOLE	255

/*
 * A read of a metric updates the group only if this many slots (a few microseconds) have passed
 * since the last update: one 255th of fewer is too coarse. So when a group is read, the leader's
 * read updates all metrics, as parts of the same slots.
 */
#define FEW_SLOTS	BIT_ULL(16)

/**
 * struct topdown - topdown state of one CPU
 * @shared: fixed counter 3 serves a slots event with metrics, and does not count towards a period
 * @busy: an update of the group is running
 * @wrapped: slots of counter overflows that are acknowledged but not yet counted
 *
 * Only its own CPU accesses the structure, with IRQs off. While @busy, NMIs only write @wrapped.
 */
struct topdown {
	bool	shared;
	bool	busy;
	u64	wrapped;
};

static DEFINE_PER_CPU(struct topdown, topdown);

/* Members of struct hw_perf_event */

static u64 slots_saved(const struct hw_perf_event *hwc)
{
	return hwc->last_tag;
}

static void set_slots_saved(struct perf_event *event, u64 value)
{
	event->hw.last_tag = value;
}

static u64 metrics_saved(const struct perf_event *slots)
{
	return slots->hw.extra_reg.config;
}

static void set_metrics_saved(struct perf_event *slots, u64 metrics)
{
	slots->hw.extra_reg.config = metrics;
}

static u64 slots_before(const struct perf_event *slots)
{
	return local64_read(&slots->hw.prev_count) & corepmu_hw_value_mask(&slots->hw);
}

static void set_slots_before(struct perf_event *slots, u64 value)
{
	local64_set(&slots->hw.prev_count,
		    corepmu_extend_sign(value, corepmu_hw_value_mask(&slots->hw)));
}

static u64 metric_before(const struct hw_perf_event *metric)
{
	return metric->extra_reg.config;
}

static void set_metric_before(struct hw_perf_event *metric, u64 part)
{
	metric->extra_reg.config = part;
	local64_set(&metric->prev_count, part);
}

/* Registers */

static u64 metrics_of(const struct corepmu_cpu *cpuc)
{
	return to_x86(cpuc->pmu)->metrics;
}

static u64 read_slots(void)
{
	return x86_rdpmc(x86_rdpmc_index(SLOTS_COUNTER));
}

/* Write fixed counter 3 first: PERF_METRICS holds parts of its value. */
static void write_registers(struct perf_event *slots, u64 value, u64 metrics)
{
	set_slots_before(slots, value);
	x86_write_msr(MSR_CORE_PERF_FIXED_CTR0 + SLOTS_COUNTER - FIXED_COUNTER_BASE, value);
	x86_write_msr(MSR_PERF_METRICS, metrics);
}

/**
 * x86_topdown_part() - return the slots that belong to a metric
 * @slots: slots counter; at most 48 bits, so that the product does not overflow
 * @metrics: PERF_METRICS
 * @idx: counter of the metric
 *
 * Return: slots, rounded down
 */
u64 x86_topdown_part(u64 slots, u64 metrics, int idx)
{
	u8 part = metrics >> METRIC_BITS * (idx - METRIC_COUNTER_BASE);

	return slots * part / METRIC_WHOLE;
}

/* Updates of a group */

/*
 * Add the growth of a metric to its count. Rounding to 255ths may make the new value smaller. Then
 * nothing is counted until the value exceeds the old one.
 */
static void count_metric(struct perf_event *metric, u64 part)
{
	u64 before = metric_before(&metric->hw);

	if (part <= before)
		return;
	local64_add(part - before, &metric->count);
	set_metric_before(&metric->hw, part);
}

/* User space has cleared the registers: metrics count from 0 again. */
static void restart_metrics(struct corepmu_cpu *cpuc, u64 metrics)
{
	for (; metrics; metrics &= metrics - 1)
		set_metric_before(&cpuc->events[__ffs64(metrics)]->hw, 0);
}

/*
 * Check why the slots register is below its value at the last update: true if user space has
 * cleared the register, false if the counter has overflowed and the interrupt is still to come.
 */
static bool has_cleared(const struct corepmu_cpu *cpuc, const struct perf_event *slots)
{
	return (slots->hw.config_base & EVNTSEL_METRICS_CLEAR) &&
	       !(x86_read_msr(to_x86(cpuc->pmu)->global_status) & BIT_ULL(SLOTS_COUNTER));
}

/*
 * Add the growth of slots and of @metrics to their counts. With @leaving, save the registers;
 * otherwise set the registers to 0. The PMU is stopped.
 */
static void update_members(struct corepmu_cpu *cpuc, struct perf_event *slots, u64 metrics,
			   bool leaving)
{
	struct topdown *t = this_cpu_ptr(&topdown);
	u64 before = slots_before(slots), wrapped = xchg(&t->wrapped, 0);
	u64 now = read_slots() + wrapped, parts = x86_rdpmc(RDPMC_METRICS);
	/* After an overflow the slots do not fit into the register. */
	bool save = leaving && !wrapped;
	u64 saved = save ? now : 0;

	if (now < before) {
		if (!has_cleared(cpuc, slots)) {
			/*
			 * The interrupt of this overflow will update the events. The slots are lost
			 * only if the group loses its counter before the interrupt.
			 */
			t->wrapped += wrapped;
			return;
		}
		before = 0;
		restart_metrics(cpuc, metrics);
	}

	local64_add(now - before, &slots->count);
	set_slots_before(slots, now);
	set_slots_saved(slots, saved);
	if (save)
		set_metrics_saved(slots, parts);
	else
		write_registers(slots, 0, 0);

	for (; metrics; metrics &= metrics - 1) {
		struct perf_event *metric = cpuc->events[__ffs64(metrics)];

		count_metric(metric, x86_topdown_part(now, parts, metric->hw.idx));
		set_slots_saved(metric, saved);
		if (!saved)
			set_metric_before(&metric->hw, 0);
		corepmu_update_userpage(metric);
	}
	corepmu_update_userpage(slots);
}

/* Call update_members() for the CPU's group. An NMI during an update does nothing. */
static void update_group(struct corepmu_cpu *cpuc, u64 counters, bool leaving)
{
	struct perf_event *slots = cpuc->events[SLOTS_COUNTER];
	struct topdown *t = this_cpu_ptr(&topdown);
	bool running;

	if (!slots || t->busy)
		return;

	t->busy = true;
	barrier();
	/* Stop the PMU, so that both registers are read at the same number of slots. */
	running = corepmu_pause_cpu(cpuc);
	update_members(cpuc, slots, counters & metrics_of(cpuc), leaving);
	corepmu_resume_cpu(cpuc, running);
	barrier();
	t->busy = false;
}

/**
 * x86_topdown_update() - update the count of slots or of a metric
 * @cpuc: state of this CPU
 * @event: event with COREPMU_EVENT_TOPDOWN, placed on a counter; counting, or just stopped
 *
 * IRQs off, or NMI.
 *
 * Return: false for slots without metrics, which the caller updates as any other event
 */
bool x86_topdown_update(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct perf_event *slots = cpuc->events[SLOTS_COUNTER];
	bool stopped = !(cpuc->active & BIT_ULL(event->hw.idx));

	if (!this_cpu_read(topdown.shared)) {
		set_slots_saved(event, 0);
		return event->hw.idx != SLOTS_COUNTER;
	}

	if (event == slots) {
		update_group(cpuc, cpuc->active, stopped);
		return true;
	}

	/* perf core stops the leader of a group first; its stop has counted the metrics. */
	if (!slots || !(cpuc->active & BIT_ULL(SLOTS_COUNTER)))
		return true;
	if (stopped || read_slots() - slots_before(slots) >= FEW_SLOTS)
		update_group(cpuc, cpuc->active | BIT_ULL(event->hw.idx), false);

	return true;
}

/*
 * Begin to share the slots counter with metrics, from the values at the last sched_out. If slots
 * have counted without metrics since, there is no matching PERF_METRICS: begin from 0.
 */
static void begin_sharing(struct corepmu_cpu *cpuc, struct perf_event *slots)
{
	struct topdown *t = this_cpu_ptr(&topdown);
	u64 count = local64_read(&slots->count);

	if (!t->shared) {
		corepmu_add_count(slots, slots_before(slots), read_slots());
		if (local64_read(&slots->count) != count)
			set_slots_saved(slots, 0);
	}
	t->shared = true;
	t->wrapped = 0;
	write_registers(slots, slots_saved(&slots->hw),
			slots_saved(&slots->hw) ? metrics_saved(slots) : 0);
	corepmu_update_userpage(slots);
}

/*
 * Start a metric. If the slots register starts from its value at the last sched_out, the metric's
 * part of that value is not counted: the metric has counted it already, or was not on the CPU.
 */
static void start_metric(struct corepmu_cpu *cpuc, struct hw_perf_event *metric)
{
	struct perf_event *slots = cpuc->events[SLOTS_COUNTER];
	u64 before, part = metric_before(metric);

	/* Without slots the metric does not count, see x86_topdown_encode(). */
	if (!slots)
		return;
	if (!this_cpu_read(topdown.shared))
		begin_sharing(cpuc, slots);
	else if (read_slots() != slots_before(slots))
		update_group(cpuc, cpuc->active & ~BIT_ULL(metric->idx), false);

	before = slots_before(slots);
	if (!before || slots_saved(metric) != before)
		part = x86_topdown_part(before, metrics_saved(slots), metric->idx);
	set_metric_before(metric, part);
}

/**
 * x86_topdown_write() - start slots or a metric
 * @cpuc: state of this CPU
 * @hwc: hw_perf_event of the event, which is placed and does not count yet
 *
 * IRQs off, or NMI.
 *
 * Return: false for slots without metrics: the caller then writes the counter
 */
bool x86_topdown_write(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc)
{
	if (hwc->idx != SLOTS_COUNTER) {
		start_metric(cpuc, hwc);
		return true;
	}
	if (!(cpuc->used & metrics_of(cpuc))) {
		this_cpu_write(topdown.shared, false);
		return false;
	}
	/* The metrics are still placed: the slots event restarts, or its CPU was powered up. */
	if (cpuc->events[SLOTS_COUNTER])
		begin_sharing(cpuc, cpuc->events[SLOTS_COUNTER]);

	return true;
}

/**
 * x86_topdown_overflow() - handle an overflow of the slots counter or of PERF_METRICS
 * @cpuc: state of this CPU
 * @status: bits of the global status, acknowledged
 *
 * The slots counter has 48 bits: it overflows after hours. IRQs off, or NMI; the PMU is stopped.
 *
 * Return: @status without the bits that this function has handled
 */
u64 x86_topdown_overflow(struct corepmu_cpu *cpuc, u64 status)
{
	struct topdown *t = this_cpu_ptr(&topdown);

	if (t->shared) {
		if (status & BIT_ULL(SLOTS_COUNTER))
			t->wrapped += BIT_ULL(cpuc->pmu->width[SLOTS_COUNTER]);
		update_group(cpuc, cpuc->active, false);
		status &= ~BIT_ULL(SLOTS_COUNTER);
	}

	return status & ~GLOBAL_PERF_METRICS;
}

/**
 * x86_topdown_clears() - check whether an event is slots with metrics_clear
 * @desc: the PMU description
 * @attr: attributes of the event
 * @config: event code
 *
 * Return: true for slots with metrics_clear (config1) on a CPU that has this mode
 */
bool x86_topdown_clears(const struct x86_desc *desc, const struct perf_event_attr *attr,
			u64 config)
{
	return desc->metrics_clear && config == EVENT_SLOTS && attr->config1 == CONFIG1_CLEAR;
}

/**
 * x86_topdown_encode() - check whether a slots or metric event can be opened in its group
 * @event: event that is being opened; its hw.config_base is set
 *
 * Process context.
 *
 * Return: 0, or -EINVAL after corepmu_refuse()
 */
int x86_topdown_encode(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	const struct perf_event_attr *attr = &event->attr;

	event->hw.flags |= COREPMU_EVENT_TOPDOWN;
	set_slots_saved(event, 0);
	if (intel_is_slots(event->hw.config_base)) {
		if (attr->config1)
			event->hw.config_base |= EVNTSEL_METRICS_CLEAR;
		return 0;
	}

	if (is_sampling_event(event))
		return corepmu_refuse(-EINVAL,
				      "config %#llx: a topdown metric cannot sample; sample another event",
				      attr->config);
	/*
	 * This metric's parent has lost its slots leader, and stays in the error state. Give the
	 * child no counter, but accept the child: fork(2) must not fail.
	 */
	if (leader == event && event->parent) {
		corepmu_hw_set_counters(&event->hw, 0);
		return 0;
	}
	if (leader == event || leader->pmu != event->pmu || !intel_is_slots(leader->hw.config_base))
		return corepmu_refuse(-EINVAL,
				      "config %#llx: a topdown metric must be in a group that slots lead",
				      attr->config);
	if (is_sampling_event(leader))
		return corepmu_refuse(-EINVAL,
				      "config %#llx: the slots leader of topdown metrics must not sample",
				      attr->config);
	if (leader->attr.exclude_user != attr->exclude_user ||
	    leader->attr.exclude_kernel != attr->exclude_kernel)
		return corepmu_refuse(-EINVAL,
				      "config %#llx: a topdown metric must have the exclude_user/exclude_kernel of its slots leader",
				      attr->config);

	/* Without its leader a metric cannot count: perf core then puts it into the error state. */
	event->event_caps |= PERF_EV_CAP_SIBLING;

	return 0;
}

/*
 * Number of metrics that perf's lists have for the microarchitecture (topdown-* in *-metrics.json
 * of tools/perf/pmu-events/arch/x86): level 1 only, or levels 1 and 2.
 */
#define NR_LEVEL_1	4
#define NR_LEVEL_2	8

/**
 * intel_metric_counters() - return the topdown metrics of a microarchitecture
 * @uarch: the microarchitecture, NULL if unknown
 *
 * Return: a bit for each metric, from METRIC_COUNTER_BASE on
 */
u64 __corepmu_init intel_metric_counters(const struct intel_uarch *uarch)
{
	unsigned int nr;

	if (!uarch)
		return 0;

	switch (uarch - intel_uarches) {
	case UARCH_ICE_LAKE:
		nr = NR_LEVEL_1;
		break;
	case UARCH_GOLDEN_COVE:
	case UARCH_REDWOOD_COVE:
	case UARCH_LION_COVE:
	case UARCH_COYOTE_COVE:
	case UARCH_PANTHER_COVE:
		nr = NR_LEVEL_2;
		break;
	default:
		return 0;
	}

	return GENMASK_ULL(METRIC_COUNTER_BASE + nr - 1, METRIC_COUNTER_BASE);
}
