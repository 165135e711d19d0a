// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: the first period of an event that has a frequency
 *
 * Perf core chooses the period of such an event. With each tick and each overflow it takes an
 * eighth of the step from the present period to the one that the rate of the event asks for
 * (perf_adjust_period() in kernel/events/core.c), beginning with 1. At 50 Hz a period that is
 * wrong by half stays so for a tenth of a second.
 *
 * So the driver measures the rate of the event, and sets the period that perf core goes on from.
 * Until the rate is known, the counter overflows after a part of the period: such an overflow
 * is a probe, and not a sample. An event whose period is still to be found is young:
 * hw.last_cpu is COREPMU_FREQ_YOUNG.
 *
 * The first tick that an event sees is the end of a part of a tick. Perf core takes it for a whole
 * one, and the period for too long. So an event stays young for two ticks of its own time, and
 * the driver sets the period anew after each of them.
 */
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/time64.h>

#include <corepmu/counter.h>
#include <corepmu/pmu.h>

/*
 * Events in a second where half of the time is idle, intel_pmu_freq_start_period() in
 * arch/x86/events/intel/core.c: 1 GHz and an instruction per cycle, branches and caches by the
 * periods that Intel's lists of events recommend, and for all else 64 events a sample where
 * 4000 samples are asked for.
 */
#define PER_SECOND_CYCLES	500000000
#define PER_SECOND_BRANCHES	125000000
#define PER_SECOND_CACHE	25000000
#define PER_SECOND_UNKNOWN	(64 * 4000)

/* The first probe comes after this part of a period by that guess. */
#define PROBE_GUESSED		4
/* The next one comes after this part of a period by the rate so far. */
#define PROBE_MEASURED		8
/*
 * The rate is known when the event has run for this part of the time between two samples, and for
 * so long that starting the counter, some hundred ns, does not matter.
 */
#define KNOWN_AFTER		16
#define KNOWN_AFTER_NS		(10 * NSEC_PER_USEC)
/* Longer times count as this, so that products fit into 64 bits. */
#define LONGEST_NS		(16 * NSEC_PER_SEC)
/* Two ticks: the second one is a whole one. */
#define YOUNG_NS		(2 * TICK_NSEC)

static u32 per_second(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_HW_CACHE)
		return PER_SECOND_CACHE;
	if (attr->type != PERF_TYPE_HARDWARE)
		return PER_SECOND_UNKNOWN;

	switch (attr->config & PERF_HW_EVENT_MASK) {
	case PERF_COUNT_HW_CPU_CYCLES:
	case PERF_COUNT_HW_INSTRUCTIONS:
	case PERF_COUNT_HW_BUS_CYCLES:
	case PERF_COUNT_HW_STALLED_CYCLES_FRONTEND:
	case PERF_COUNT_HW_STALLED_CYCLES_BACKEND:
	case PERF_COUNT_HW_REF_CPU_CYCLES:
		return PER_SECOND_CYCLES;
	case PERF_COUNT_HW_BRANCH_INSTRUCTIONS:
	case PERF_COUNT_HW_BRANCH_MISSES:
		return PER_SECOND_BRANCHES;
	case PERF_COUNT_HW_CACHE_REFERENCES:
	case PERF_COUNT_HW_CACHE_MISSES:
		return PER_SECOND_CACHE;
	default:
		return PER_SECOND_UNKNOWN;
	}
}

static int settled_mark(const struct perf_event *event)
{
	return min_t(u64, event->attr.sample_freq, INT_MAX);
}

/**
 * corepmu_freq_open() - set the first period of an event that has a frequency
 * @event: an event that is being opened, encoded
 *
 * No period is to end before the rate is known: it is that of cycles, whatever the event counts.
 * It is one less than a round number, so that samples do not keep step with the workload. A child
 * has its parent's period instead (inherit_event() in kernel/events/core.c). Process context.
 */
void corepmu_freq_open(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 period = DIV_ROUND_UP_ULL(PER_SECOND_CYCLES, event->attr.sample_freq) - 1;

	corepmu_counter_first_period(hwc, max_t(u64, period, hwc->event_base_rdpmc));
	hwc->last_cpu = COREPMU_FREQ_YOUNG;
}

/*
 * How long the event has run since it was opened, in ns; 0 where that is not known. Events of a
 * cgroup have a clock that is perf core's own.
 */
static u64 running_ns(const struct perf_event *event)
{
	s64 ns = event->total_time_running +
		 local_clock() + compat_event_clock_offset(event) - event->tstamp;

	return compat_event_has_cgroup(event) || ns < 0 ? 0 : min_t(s64, ns, LONGEST_NS);
}

/* The period by the rate of the event so far, for which it has run and counted */
static u64 measured_period(const struct perf_event *event, u64 running)
{
	u64 count = local64_read(&event->count);

	if (count > U64_MAX / NSEC_PER_SEC)
		return div64_u64(count, running) * (NSEC_PER_SEC / settled_mark(event));

	return div64_u64(count * NSEC_PER_SEC, running * settled_mark(event)) ?: 1;
}

/*
 * Change the period that has begun. Its sample stands for what was counted before the change, too.
 * Returns how many events are left of it.
 */
static s64 change_period(struct hw_perf_event *hwc, u64 period)
{
	s64 left = local64_read(&hwc->period_left), gone = 0;

	if (left > 0)
		gone = hwc->last_period - left;
	left = max_t(s64, period - gone, 1);
	hwc->sample_period = period;
	hwc->last_period = gone + left;
	local64_set(&hwc->period_left, left);

	return left;
}

/**
 * corepmu_freq_find() - find the period of a young event
 * @event: an event whose count is up to date
 *
 * Where the counter is to be set: when the event has been placed, in a tick, and at a probe. IRQs
 * off, or NMI.
 *
 * Return: after how many events the counter is to overflow
 */
s64 corepmu_freq_find(struct perf_event *event)
{
	u64 known_ns = NSEC_PER_SEC / settled_mark(event) / KNOWN_AFTER, period = 0, ended;
	struct hw_perf_event *hwc = &event->hw;
	u64 running = running_ns(event);
	s64 left;

	/* Nothing is known of an event that has not happened yet. */
	if (running && local64_read(&event->count))
		period = measured_period(event, running);
	if ((period && running > YOUNG_NS) || compat_event_has_cgroup(event))
		hwc->last_cpu = settled_mark(event);
	if (period && running >= max_t(u64, known_ns, KNOWN_AFTER_NS))
		return change_period(hwc, max_t(u64, period, hwc->event_base_rdpmc));

	left = corepmu_counter_period_left(event, &ended);
	if (hwc->last_cpu != COREPMU_FREQ_YOUNG)
		return left;
	period = period ? period / PROBE_MEASURED :
			  per_second(&event->attr) / settled_mark(event) / PROBE_GUESSED;

	return min_t(s64, max_t(u64, period, 1), left);
}

/**
 * corepmu_freq_probe() - the counter of a young event has overflowed, and no period has ended
 * @cpuc: this CPU's state
 * @event: the event, whose count is up to date
 *
 * From the overflow interrupt.
 */
void corepmu_freq_probe(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	corepmu_counter_load(cpuc, event, corepmu_freq_find(event));
}

/**
 * corepmu_freq_restart() - perf core has emptied period_left
 * @event: an event that has a frequency, and has just begun its next period
 *
 * Perf core has shortened the period, or user space has set another frequency
 * (PERF_EVENT_IOC_PERIOD): then the period is too long, or too short, by as much. IRQs off, or
 * NMI.
 *
 * Return: after how many events the counter is to overflow
 */
s64 corepmu_freq_restart(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 period = hwc->sample_period;
	int before = hwc->last_cpu;

	hwc->last_cpu = settled_mark(event);
	if (hwc->last_cpu != before)
		period = max_t(u64, mul_u64_u32_div(period, before, hwc->last_cpu),
			       hwc->event_base_rdpmc);
	corepmu_counter_first_period(hwc, period);

	return period;
}
