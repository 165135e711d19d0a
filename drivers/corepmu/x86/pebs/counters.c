// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel PEBS: counter values in records (counters snapshotting)
 *
 * A precise event whose samples show counts (PERF_SAMPLE_READ) has the values of its group's
 * counters in its records, from format 6 on and in architectural records. The sample then shows the
 * counts at the instruction, not those at the interrupt. SDM volume 3, "Adaptive PEBS", counters
 * group; intel_pmu_pebs_late_setup() and __setup_pebs_counter_group() in
 * arch/x86/events/intel/ds.c.
 *
 * The counters themselves, prev_count and the periods do not depend on the records: an event's
 * final count is that of an event without records. For each sample, the drain sets the counts to
 * those at the record, and at its end undoes the changes. It changes event->count by differences,
 * so that a stop of the event from within a sample may add counts. Reads of the event from within a
 * sample do nothing: perf core would otherwise update all events of the group but the sampled one
 * (perf_output_read_group() in kernel/events/core.c).
 *
 * If a counter overflows, its record has its value from before the reload. Only the record has the
 * counts between the overflow and the reload, since the reload overwrites them. So the drain adds
 * them to the final count.
 *
 * Records have no values of
 *
 * - slots and topdown metrics in the metrics_clear mode: a reader may clear their registers;
 * - events with auto counter reload (ACR): overflows without a record reload their counters;
 * - software events, and events of other PMUs.
 *
 * Samples show these as they are at the interrupt. A group with any of them, or with topdown
 * metrics, does not use large PEBS. Metrics are fractions of the slots counter. A record has both
 * the slots counter and PERF_METRICS: x86_topdown_part() converts these to counts.
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include <corepmu/counter.h>
#include <corepmu/pmu.h>

#include "pebs.h"
#include "../intel/intel.h"
#include "../msr.h"
#include "../x86.h"

/**
 * x86_pebs_counters_wanted() - check whether records of an event need counter values
 * @event: an event
 *
 * Any context.
 *
 * Return: true for a precise event whose samples show counts
 */
bool x86_pebs_counters_wanted(const struct perf_event *event)
{
	return (event->hw.flags & EVENT_RECORDED) && x86_pebs_is_precise(event) &&
	       (event->attr.sample_type & PERF_SAMPLE_READ);
}

/* Check for the metrics_clear mode, which the slots event of a group has for all its metrics. */
static bool has_metrics_clear(const struct perf_event *event)
{
	const struct perf_event *slots =
		intel_is_slots(event->hw.config_base) ? event : event->group_leader;

	return slots->hw.config_base & EVNTSEL_METRICS_CLEAR;
}

static bool can_be_recorded(const struct perf_event *event)
{
	const struct x86_desc *desc = to_x86(to_corepmu(event->pmu));

	if (event->hw.flags & COREPMU_EVENT_TOPDOWN)
		return desc->pebs_metrics && !has_metrics_clear(event);

	return !(event->hw.flags & COREPMU_EVENT_ACR);
}

static bool is_wanted_by(const struct perf_event *event, const struct perf_event *other)
{
	return other->pmu == event->pmu && x86_pebs_counters_wanted(other);
}

static void record_if_ours(const struct perf_event *event, struct perf_event *other)
{
	if (other->pmu == event->pmu && can_be_recorded(other))
		corepmu_hw_add_flag(&other->hw, EVENT_RECORDED);
}

/**
 * x86_pebs_counters_join() - set EVENT_RECORDED for an event, or for its whole group
 * @desc: the PMU description; records can have counter values
 * @event: event that is being opened; its other flags are set
 *
 * Events of the group may be counting already. Process context; perf core has locked the group's
 * context.
 */
void x86_pebs_counters_join(const struct x86_desc *desc, struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	bool samples = x86_pebs_is_precise(event) && (event->attr.sample_type & PERF_SAMPLE_READ);
	bool wanted = samples;

	if (!can_be_recorded(event))
		return;
	if (leader != event) {
		wanted |= is_wanted_by(event, leader);
		for_each_sibling_event(sibling, leader)
			wanted |= is_wanted_by(event, sibling);
	}
	if (wanted)
		event->hw.flags |= EVENT_RECORDED;
	if (!samples || leader == event)
		return;
	record_if_ours(event, leader);
	for_each_sibling_event(sibling, leader)
		record_if_ours(event, sibling);
}

/**
 * x86_pebs_counters_complete() - check whether records have all counts that samples show
 * @cpuc: state of this CPU; x86_pebs_counters_choose() has run
 * @event: a precise event on this CPU
 *
 * IRQs off, or NMI.
 *
 * Return: false if a sample of the event shows a count that is not in the record
 */
bool x86_pebs_counters_complete(const struct corepmu_cpu *cpuc, const struct perf_event *event)
{
	u64 members = this_cpu_read(x86_pebs.recorded.members), left;
	int missing = READ_ONCE(event->group_leader->nr_siblings) + 1;

	if (!(event->attr.sample_type & PERF_SAMPLE_READ))
		return true;
	if (!(event->attr.read_format & PERF_FORMAT_GROUP))
		return members & BIT_ULL(event->hw.idx);
	for (left = members; left; left &= left - 1) {
		const struct perf_event *other = cpuc->events[__ffs64(left)];

		missing -= other->group_leader == event->group_leader &&
			   !(other->hw.flags & COREPMU_EVENT_TOPDOWN);
	}

	return !missing;
}

/**
 * x86_pebs_counters_choose() - select the counters whose values records have
 * @cpuc: state of this CPU; a placed event wants counter values
 *
 * The counters of stopped events are left out: their counts do not change. PEBS is stopped. IRQs
 * off, or NMI.
 */
void x86_pebs_counters_choose(struct corepmu_cpu *cpuc)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);
	u64 left, members = 0, data = p->data_cfg & ~PEBS_DATA_WHICH;

	for (left = cpuc->active & (desc->pebs_recorded | desc->pebs_metrics); left;
	     left &= left - 1) {
		int idx = __ffs64(left);

		if (cpuc->events[idx] && (cpuc->events[idx]->hw.flags & EVENT_RECORDED))
			members |= BIT_ULL(idx);
	}
	if (members)
		data |= PEBS_DATA_COUNTERS |
			FIELD_PREP(PEBS_DATA_GP, members & GENMASK_ULL(PEBS_NR_GP - 1, 0)) |
			FIELD_PREP(PEBS_DATA_FIXED, (members & desc->pebs_recorded) >>
						    FIXED_COUNTER_BASE);
	if (members & desc->pebs_metrics)
		data |= PEBS_DATA_METRICS;
	p->recorded.members = members;
	p->data_cfg = data;
	p->size = x86_pebs_size(desc->pebs_format, data);
}

/*
 * A precise event that was stopped before its record was drained has been updated from the reset
 * counter. Note its count at the reset: none of its counts is from before the reset.
 */
static void count_from_reset(struct x86_pebs_scratch *s, int idx)
{
	s64 since = max(s->value[idx], 0LL);

	s->value[idx] -= since;
	s->count[idx] -= since;
}

/**
 * x86_pebs_counters_begin() - note counts and counter values before a drain updates them
 * @cpuc: state of this CPU; the PMU is stopped
 *
 * IRQs off, or NMI.
 */
void x86_pebs_counters_begin(struct corepmu_cpu *cpuc)
{
	struct x86_pebs_recorded *c = this_cpu_ptr(&x86_pebs.recorded);
	struct x86_pebs_scratch *s = this_cpu_read(x86_pebs.scratch);
	u64 left;

	c->drained = 0;
	for (left = c->members; left; left &= left - 1) {
		int idx = __ffs64(left);
		const struct perf_event *event = cpuc->events[idx];

		if (!event)
			continue;
		c->drained |= BIT_ULL(idx);
		s->value[idx] = local64_read(&event->hw.prev_count);
		s->count[idx] = local64_read(&event->count);
		s->offset[idx] = 0;
		s->lost[idx] = 0;
		if (x86_pebs_is_precise(event) && (event->hw.state & PERF_HES_STOPPED))
			count_from_reset(s, idx);
	}
}

/* Advance @idx from its last known value to @value, which the record has. */
static void advance_count(struct corepmu_cpu *cpuc, struct x86_pebs_scratch *s, int idx, u64 value)
{
	u64 mask = corepmu_hw_value_mask(&cpuc->events[idx]->hw);
	s64 delta = corepmu_extend_sign(value - s->value[idx], mask);

	s->count[idx] += delta;
	s->value[idx] += delta;
}

/*
 * A counter has been reloaded after its record. Note the counts between the overflow and the reload
 * as lost. An earlier update may have added some of them, @seen if positive. With reset value 0
 * these stay in the count. With a period as reload value, account_hw_reloads() subtracts them.
 */
static void follow_reload(struct x86_pebs_scratch *s, int idx, s64 seen)
{
	u64 reload = this_cpu_read(x86_pebs.hw_reload) ? this_cpu_read(x86_pebs.reload[idx]) : 0;

	s->lost[idx] += max(s->value[idx], 0LL) - (reload ? 0 : max(seen, 0LL));
	s->value[idx] = -reload;
}

static void show_count(struct perf_event *event, struct x86_pebs_scratch *s, int idx)
{
	s64 change = s->count[idx] - local64_read(&event->count);

	local64_add(change, &event->count);
	s->offset[idx] += change;
}

/* Show the metrics' counts at a record with @slots and @metrics. The drain updates no metric. */
static void show_metrics(struct corepmu_cpu *cpuc, struct x86_pebs_scratch *s, u64 slots,
			 u64 metrics)
{
	u64 left = this_cpu_read(x86_pebs.recorded.drained) & to_x86(cpuc->pmu)->pebs_metrics;

	for (; left; left &= left - 1) {
		int idx = __ffs64(left);
		s64 grown;

		if (!cpuc->events[idx])
			continue;
		grown = x86_topdown_part(slots, metrics, idx) - s->value[idx];
		/* Rounding may have made the metric smaller: see count_metric() in topdown.c. */
		if (grown > 0) {
			s->count[idx] += grown;
			s->value[idx] += grown;
		}
		show_count(cpuc->events[idx], s, idx);
	}
}

/**
 * x86_pebs_counters_show() - set the counts of events to those at a record
 * @cpuc: state of this CPU; the PMU is stopped
 * @record: next record of the drain, with counter values
 *
 * From the drain, for each record in turn. IRQs off, or NMI.
 */
void x86_pebs_counters_show(struct corepmu_cpu *cpuc, const struct x86_pebs_record *record)
{
	struct x86_pebs_recorded *c = this_cpu_ptr(&x86_pebs.recorded);
	struct x86_pebs_scratch *s = this_cpu_read(x86_pebs.scratch);
	const u64 *value = record->counts + PEBS_NR_COUNTER_HEADER;
	u64 left;

	/* No event of the record's counters is left: x86_pebs_counters_end() will not run. */
	if (!c->drained)
		return;
	c->shown = true;
	barrier();
	for (left = record->counts[0]; left; left &= left - 1, value++) {
		int idx = __ffs64(left);
		s64 seen = s->value[idx];

		if (!(c->drained & BIT_ULL(idx)) || !cpuc->events[idx])
			continue;
		advance_count(cpuc, s, idx, *value);
		show_count(cpuc->events[idx], s, idx);
		if (record->counters & BIT_ULL(idx))
			follow_reload(s, idx, seen);
	}
	if (x86_pebs_has_metrics(record->counts))
		show_metrics(cpuc, s, value[0], value[1]);
}

/**
 * x86_pebs_counters_end() - set the counts of events to their final counts, after a drain
 * @cpuc: state of this CPU; the PMU is stopped
 *
 * IRQs off, or NMI.
 */
void x86_pebs_counters_end(struct corepmu_cpu *cpuc)
{
	struct x86_pebs_recorded *c = this_cpu_ptr(&x86_pebs.recorded);
	struct x86_pebs_scratch *s = this_cpu_read(x86_pebs.scratch);

	for (; c->drained; c->drained &= c->drained - 1) {
		int idx = __ffs64(c->drained);
		struct perf_event *event = cpuc->events[idx];
		s64 change = s->lost[idx] - s->offset[idx];

		if (!event || !change)
			continue;
		local64_add(change, &event->count);
		/* A stop from within a sample may have updated the page. */
		corepmu_update_userpage(event);
	}
	barrier();
	c->shown = false;
}

/**
 * x86_pebs_shows_record() - check whether a sample with counts at a record is being written
 *
 * IRQs off, or NMI.
 *
 * Return: true if events have their counts at a record
 */
bool x86_pebs_shows_record(void)
{
	return this_cpu_read(x86_pebs.recorded.shown);
}
