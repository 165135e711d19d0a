// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel's slots and what they are divided into
 *
 * Fixed counter 3 counts slots for micro-operations, and PERF_METRICS says how many 255ths of
 * them were used for what, each in a byte (SDM volume 3, "Performance Metrics"). Both registers
 * belong together: they are to start from 0, or from values that were read together. So an
 * event that counts a metric is in a group that slots lead, and has a counter of its own on
 * paper only (METRIC_COUNTER_BASE). As long as one is there, slots do not count towards an
 * overflow as other events do: the registers are shared.
 *
 * What is read goes to all events of the group at once. read(2) then sets the registers to 0,
 * since a byte is too coarse for much. When the group is scheduled out they are kept, and
 * written when it comes back, wherever that is: a program that reads them by RDPMC sees them
 * grow (tools/perf/Documentation/topdown.txt; icl_update_topdown_event() in
 * arch/x86/events/intel/core.c does the same). For that struct hw_perf_event has
 *
 *   last_tag          the slots' register when the group was last scheduled out, 0 for nothing
 *   extra_reg.config  of slots: PERF_METRICS then. Of a metric: what was counted of it since
 *		       the registers were 0
 *   prev_count        of slots: the register. Of a metric: the same as extra_reg.config, so
 *		       that a page's offset is the count when the registers were 0
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include <corepmu/counter.h>
#include <corepmu/pmu.h>

#include "intel.h"
#include "../msr.h"
#include "../x86.h"

#define METRIC_BITS	8
#define METRIC_WHOLE	255

/*
 * Fewer slots than these, some microseconds', are not divided when a metric is read: 255ths say
 * little of them. So the members of a group that is read have the same slots divided, those
 * that the leader was read with.
 */
#define FEW_SLOTS	BIT_ULL(16)

/**
 * struct topdown - a CPU's slots
 * @shared: fixed counter 3 does not count towards an overflow, and PERF_METRICS divides it
 * @busy: its events are being updated
 * @wrapped: slots of overflows that have been acknowledged and not been counted yet
 *
 * Only the CPU itself touches it, with interrupts disabled; NMIs set @wrapped alone while @busy.
 */
struct topdown {
	bool	shared;
	bool	busy;
	u64	wrapped;
};

static DEFINE_PER_CPU(struct topdown, topdown);

static u64 metrics_of(const struct corepmu_cpu *cpuc)
{
	return to_x86(cpuc->pmu)->metrics;
}

static u64 read_slots(void)
{
	return x86_rdpmc(x86_rdpmc_index(SLOTS_COUNTER));
}

/* The slots that a metric has, which fit: there are 2^48 in all. */
static u64 part_of(u64 slots, u64 metrics, int idx)
{
	u8 part = metrics >> METRIC_BITS * (idx - METRIC_COUNTER_BASE);

	return slots * part / METRIC_WHOLE;
}

/* The slots' register as the event has last seen it. */
static u64 slots_before(const struct perf_event *slots)
{
	return local64_read(&slots->hw.prev_count) & corepmu_hw_value_mask(&slots->hw);
}

/* Fixed counter 3 comes first: PERF_METRICS divides what is in it. */
static void write_registers(struct perf_event *slots, u64 value, u64 metrics)
{
	local64_set(&slots->hw.prev_count,
		    corepmu_extend_sign(value, corepmu_hw_value_mask(&slots->hw)));
	x86_write_msr(MSR_CORE_PERF_FIXED_CTR0 + SLOTS_COUNTER - FIXED_COUNTER_BASE, value);
	x86_write_msr(MSR_PERF_METRICS, metrics);
}

static void set_part(struct perf_event *event, u64 part)
{
	event->hw.extra_reg.config = part;
	local64_set(&event->hw.prev_count, part);
}

/*
 * A metric's part of all slots may have become less: 255ths are rounded. It is not counted
 * again then until it is more than before.
 */
static void count_part(struct perf_event *event, u64 part)
{
	u64 before = event->hw.extra_reg.config;

	if (part <= before)
		return;
	local64_add(part - before, &event->count);
	set_part(event, part);
}

/* The slots are to be divided from now on, beginning with what the group was left with. */
static void share(struct corepmu_cpu *cpuc, struct perf_event *slots)
{
	struct topdown *t = this_cpu_ptr(&topdown);
	u64 count = local64_read(&slots->count);

	if (!t->shared) {
		/* They may have counted by themselves: of that nothing is known. */
		corepmu_add_count(slots, slots_before(slots), read_slots());
		if (local64_read(&slots->count) != count)
			slots->hw.last_tag = 0;
	}
	t->shared = true;
	t->wrapped = 0;
	write_registers(slots, slots->hw.last_tag,
			slots->hw.last_tag ? slots->hw.extra_reg.config : 0);
	corepmu_update_userpage(slots);
}

/* The PMU stands still. */
static void update_members(struct corepmu_cpu *cpuc, struct perf_event *slots, u64 members,
			   bool leaving)
{
	struct topdown *t = this_cpu_ptr(&topdown);
	u64 before = slots_before(slots), wrapped = xchg(&t->wrapped, 0);
	u64 now = read_slots() + wrapped, metrics = x86_rdpmc(RDPMC_METRICS), left;

	/* An overflow that has not been served: it will be, and nothing is lost till then. */
	if (now < before) {
		t->wrapped += wrapped;
		return;
	}

	local64_add(now - before, &slots->count);
	local64_set(&slots->hw.prev_count,
		    corepmu_extend_sign(now, corepmu_hw_value_mask(&slots->hw)));
	slots->hw.last_tag = 0;
	if (leaving && !wrapped) {
		slots->hw.last_tag = now;
		slots->hw.extra_reg.config = metrics;
	} else {
		write_registers(slots, 0, 0);
	}

	for (left = members; left; left &= left - 1) {
		struct perf_event *event = cpuc->events[__ffs64(left)];

		count_part(event, part_of(now, metrics, event->hw.idx));
		event->hw.last_tag = slots->hw.last_tag;
		if (!event->hw.last_tag)
			set_part(event, 0);
		corepmu_update_userpage(event);
	}
	corepmu_update_userpage(slots);
}

/*
 * Bring slots and @members up to date: with @leaving for the registers to be kept, otherwise
 * for them to begin anew. An NMI that comes in the middle leaves it to who it interrupts.
 */
static void update_all(struct corepmu_cpu *cpuc, u64 members, bool leaving)
{
	struct perf_event *slots = cpuc->events[SLOTS_COUNTER];
	struct topdown *t = this_cpu_ptr(&topdown);
	bool running = cpuc->running;

	if (!slots || t->busy)
		return;

	t->busy = true;
	barrier();
	/* Both registers are to be of the same slots. */
	if (running)
		corepmu_stop_cpu(cpuc);
	update_members(cpuc, slots, members & metrics_of(cpuc), leaving);
	if (running)
		corepmu_start_cpu(cpuc);
	barrier();
	t->busy = false;
}

/**
 * x86_topdown_update() - bring slots or a metric up to date
 * @cpuc: this CPU's state
 * @event: an event with COREPMU_EVENT_TOPDOWN, placed on a counter; it counts, or has just been
 *	stopped
 *
 * IRQs off, or NMI.
 *
 * Return: false for slots that count by themselves, as any other event
 */
bool x86_topdown_update(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct perf_event *slots = cpuc->events[SLOTS_COUNTER];
	bool stopped = !(cpuc->active & BIT_ULL(event->hw.idx));

	if (!this_cpu_read(topdown.shared)) {
		event->hw.last_tag = 0;
		return event->hw.idx != SLOTS_COUNTER;
	}

	if (event == slots) {
		update_all(cpuc, cpuc->active, stopped);
		return true;
	}

	/* A group that is scheduled out stops its leader first: there is nothing left to count. */
	if (!slots || !(cpuc->active & BIT_ULL(SLOTS_COUNTER)))
		return true;
	if (stopped || read_slots() - slots_before(slots) >= FEW_SLOTS)
		update_all(cpuc, cpuc->active | BIT_ULL(event->hw.idx), false);

	return true;
}

/* From here on the metric is divided off, with what it had of the slots that are there. */
static void start_metric(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc)
{
	struct perf_event *slots = cpuc->events[SLOTS_COUNTER];
	u64 before;

	/* It counts in a group with them alone, see x86_topdown_encode(). */
	if (!slots)
		return;
	if (!this_cpu_read(topdown.shared))
		share(cpuc, slots);
	else if (read_slots() != slots_before(slots))
		update_all(cpuc, cpuc->active & ~BIT_ULL(hwc->idx), false);

	before = slots_before(slots);
	if (!before || hwc->last_tag != before)
		hwc->extra_reg.config = part_of(before, slots->hw.extra_reg.config, hwc->idx);
	local64_set(&hwc->prev_count, hwc->extra_reg.config);
}

/**
 * x86_topdown_write() - have slots or a metric count from now on
 * @cpuc: this CPU's state
 * @hwc: of the event, which is placed and does not count
 *
 * IRQs off, or NMI.
 *
 * Return: false for slots that count by themselves: their counter is to be written
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
	/* The members are there already. */
	if (cpuc->events[SLOTS_COUNTER])
		share(cpuc, cpuc->events[SLOTS_COUNTER]);

	return true;
}

/**
 * x86_topdown_overflow() - slots have overflowed, or what divides them
 * @cpuc: this CPU's state
 * @status: bits of the global status, acknowledged
 *
 * 2^48 slots are hours. IRQs off, or NMI; the PMU stands still.
 *
 * Return: @status without what has been dealt with
 */
u64 x86_topdown_overflow(struct corepmu_cpu *cpuc, u64 status)
{
	struct topdown *t = this_cpu_ptr(&topdown);

	if (t->shared) {
		if (status & BIT_ULL(SLOTS_COUNTER))
			t->wrapped += BIT_ULL(cpuc->pmu->width[SLOTS_COUNTER]);
		update_all(cpuc, cpuc->active, false);
		status &= ~BIT_ULL(SLOTS_COUNTER);
	}

	return status & ~GLOBAL_PERF_METRICS;
}

/**
 * x86_topdown_encode() - may an event be one of slots or a metric?
 * @event: an event that is being opened, with its config_base
 *
 * Process context.
 *
 * Return: 0, or -EINVAL after saying why not
 */
int x86_topdown_encode(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	const struct perf_event_attr *attr = &event->attr;

	event->hw.flags |= COREPMU_EVENT_TOPDOWN;
	event->hw.last_tag = 0;
	if (intel_is_slots(event->hw.config_base))
		return 0;

	if (is_sampling_event(event))
		return corepmu_refuse(-EINVAL, "config %#llx: a part of the slots cannot be sampled",
				      attr->config);
	if (leader == event || leader->pmu != event->pmu || !intel_is_slots(leader->hw.config_base))
		return corepmu_refuse(-EINVAL,
				      "config %#llx is a part of the slots: it counts in a group that slots lead",
				      attr->config);
	if (is_sampling_event(leader))
		return corepmu_refuse(-EINVAL,
				      "config %#llx is a part of the slots, which cannot be sampled then",
				      attr->config);
	if (leader->attr.exclude_user != attr->exclude_user ||
	    leader->attr.exclude_kernel != attr->exclude_kernel)
		return corepmu_refuse(-EINVAL,
				      "config %#llx: its slots, the leader's, are others than it wants",
				      attr->config);

	/* Without its leader it is nothing: perf core ends it with that. */
	event->event_caps |= PERF_EV_CAP_SIBLING;

	return 0;
}

/*
 * Metrics that perf's lists have for the microarchitecture (topdown-* in *-metrics.json of
 * tools/perf/pmu-events/arch/x86): of level 1, and of level 2 too.
 */
#define NR_LEVEL_1	4
#define NR_LEVEL_2	8

/**
 * intel_metric_counters() - the metrics of a microarchitecture
 * @uarch: the microarchitecture, NULL if it is not known
 *
 * Return: a bit for each, from METRIC_COUNTER_BASE on
 */
u64 intel_metric_counters(const struct intel_uarch *uarch)
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
