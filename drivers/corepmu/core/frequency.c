// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: the first period of an event with a frequency (attr.freq)
 *
 * Perf core chooses the periods of such an event and starts with 1. In each tick and at each
 * overflow it moves the period by an eighth of the distance to the period that fits the rate
 * (perf_adjust_period() in kernel/events/core.c). At 50 Hz a period that is wrong by half stays
 * wrong for a tenth of a second.
 *
 * So the driver measures the rate and sets the period that perf core starts from. Until the rate
 * is known, the counter overflows after a part of the period. Such an overflow is a probe and
 * emits no sample. An event is young until its period is found: hw.last_cpu is
 * COREPMU_FREQ_YOUNG.
 *
 * A task begins with page faults and few instructions of its own: the first rate is too low, and
 * the period too short. So a young event's overflow is also a probe if it comes well before the
 * sample is due.
 *
 * Each child's first sample is due after a different part of the period. Otherwise children that
 * end within a period would have no samples.
 *
 * An event starts in the middle of a tick. Perf core takes the time until the next tick for a whole
 * tick: it finds the rate too low and the period too long. So an event stays young for two ticks
 * of running time, and the driver sets the period again after each of them.
 */
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/time64.h>

#include <corepmu/counter.h>
#include <corepmu/overflow.h>
#include <corepmu/pmu.h>

/*
 * Guesses of the events per second on a CPU that is idle half of the time, from
 * intel_pmu_freq_start_period() in arch/x86/events/intel/core.c. Cycles and instructions: 1 GHz,
 * one instruction per cycle. Branches and cache events: the periods that Intel's event lists
 * recommend. All other events: 64 per sample at 4000 samples per second.
 */
#define PER_SECOND_CYCLES	500000000
#define PER_SECOND_BRANCHES	125000000
#define PER_SECOND_CACHE	25000000
#define PER_SECOND_UNKNOWN	(64 * 4000)

/* The first probe comes after 1/PROBE_GUESSED of the guessed period. */
#define PROBE_GUESSED		4
/* A later probe comes after 1/PROBE_MEASURED of the period that fits the rate so far. */
#define PROBE_MEASURED		8
/*
 * The rate is known once the event has run for 1/KNOWN_AFTER of the time between two samples, and
 * for KNOWN_AFTER_NS: the start of the counter takes some hundred ns, which then matter little.
 */
#define KNOWN_AFTER		16
#define KNOWN_AFTER_NS		(10 * NSEC_PER_USEC)
/* The longest time that running_ns() returns, so that products fit into 64 bits */
#define LONGEST_NS		(16 * NSEC_PER_SEC)
/* A young event's sample may be early by 1/EARLY of the time between two samples. */
#define EARLY			8
/* Two ticks of running time contain at least one whole tick. */
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

/* Return the time between two samples, in ns. */
static u64 interval_ns(const struct perf_event *event)
{
	return NSEC_PER_SEC / settled_mark(event);
}

/**
 * corepmu_freq_open() - set the first period of an event with a frequency
 * @event: an event that is being opened, encoded
 *
 * Every event starts with the period for cycles, the longest guess, so that the driver knows the
 * rate before the period ends. The period is one less than a round number, so that samples do not
 * keep step with the workload. A child gets its parent's period instead (inherit_event() in
 * kernel/events/core.c), and is young too: its rate may be another one. Process context.
 */
void corepmu_freq_open(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 period = DIV_ROUND_UP_ULL(PER_SECOND_CYCLES, event->attr.sample_freq) - 1;

	corepmu_counter_first_period(hwc, max_t(u64, period, corepmu_hw_min_period(hwc)));
	hwc->last_cpu = COREPMU_FREQ_YOUNG;
}

/* Return how long the event has run since it was opened, in ns; 0 if the time is unknown. */
static u64 running_ns(const struct perf_event *event)
{
	s64 ns = event->total_time_running +
		 local_clock() + compat_event_clock_offset(event) - event->tstamp;

	return ns < 0 ? 0 : min_t(s64, ns, LONGEST_NS);
}

/* Return the period that fits the event's rate in the @running ns since it was opened. */
static u64 measured_period(const struct perf_event *event, u64 running)
{
	u64 count = local64_read(&event->count);

	if (count > U64_MAX / NSEC_PER_SEC)
		return div64_u64(count, running) * interval_ns(event);

	return div64_u64(count * NSEC_PER_SEC, running * settled_mark(event)) ?: 1;
}

/*
 * Change the length of the current period to @period. The period keeps the counts from before the
 * change, and its sample includes them. Return how many counts are left of the period.
 */
static noinline s64 change_period(struct hw_perf_event *hwc, u64 period)
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

/*
 * The clock of a cgroup's events is private to perf core, so that their rate is unknown. Their
 * period is a guess, and perf core adjusts it. Return how many counts are left of the period.
 */
static noinline s64 guess_period(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 period = per_second(&event->attr) / settled_mark(event);

	hwc->last_cpu = settled_mark(event);
	return change_period(hwc, max_t(u64, period, corepmu_hw_min_period(hwc)));
}

/* Return the part of @value, a time or a period, after which the event's first sample is due. */
static u64 first_part(const struct perf_event *event, u64 value)
{
	if (!event->parent)
		return value;

	/*
	 * Two hashes: hash_64() multiplies by the golden ratio, so ids with a Fibonacci stride get
	 * almost equal values. With 144 CPUs, a CPU's ids have stride 144.
	 */
	return mul_u64_u32_shr(value, hash_32(hash_64(event->id, 32), 32), 32);
}

/* perf_event_overflow() sets the time stamp. */
static bool had_sample(const struct perf_event *event)
{
	return event->hw.freq_time_stamp;
}

static u64 known_after_ns(const struct perf_event *event)
{
	return max_t(u64, interval_ns(event) / KNOWN_AFTER, KNOWN_AFTER_NS);
}

/* Return the period that fits the event's rate in @running ns, or 0 while the rate is unknown. */
static u64 known_period(const struct perf_event *event, u64 running)
{
	/* Without a count there is no rate. */
	if (running < known_after_ns(event) || !local64_read(&event->count))
		return 0;

	return max_t(u64, measured_period(event, running), corepmu_hw_min_period(&event->hw));
}

static bool is_first_early(const struct perf_event *event)
{
	u64 due = first_part(event, interval_ns(event));
	u64 running = running_ns(event);

	return running && running < max(due - due / EARLY, known_after_ns(event));
}

/* @gone counts took @ns. Return how many more fit before @due; both times in ns. */
static u64 counts_left(u64 gone, u64 ns, u64 due)
{
	if (gone > U64_MAX / NSEC_PER_SEC)
		return div64_u64(gone, ns) * (due - ns);

	return div64_u64(gone * (due - ns), ns);
}

/**
 * corepmu_freq_extend() - extend the period of a young event if its sample would come early
 * @event: a stopped or overflowed event with a frequency, whose count is up to date
 *
 * Before the first sample the function changes no period: corepmu_freq_find() sets it. IRQs off,
 * or NMI.
 *
 * Return: true if the overflow emits no sample
 */
bool corepmu_freq_extend(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 gone, due;
	s64 left, ns;

	if (hwc->last_cpu != COREPMU_FREQ_YOUNG)
		return false;
	if (!had_sample(event))
		return is_first_early(event);
	due = interval_ns(event);
	ns = local_clock() - hwc->freq_time_stamp;
	if (ns <= 0 || ns >= due - due / EARLY)
		return false;

	left = local64_read(&hwc->period_left);
	if (left <= 0) {
		gone = hwc->last_period - left;
		left = max_t(u64, counts_left(gone, ns, due), 1);
		hwc->sample_period = gone + left;
		hwc->last_period = gone + left;
		local64_set(&hwc->period_left, left);
	}

	return true;
}

/*
 * Return the counts of the first period so far, the smaller of two numbers. event->count is too
 * large after inherit_stat swapped two tasks' counts. The difference is too large after perf core
 * set period_left to 0.
 */
static u64 first_counts(const struct perf_event *event)
{
	u64 gone = event->hw.last_period - local64_read(&event->hw.period_left);

	return min_t(u64, gone, local64_read(&event->count));
}

/*
 * Return the period that the first sample shows: @length counts. But a child's first sample stands
 * for a whole period, since other children end without a sample.
 */
static u64 first_length(const struct perf_event *event, u64 length)
{
	return event->parent ? max(length, event->hw.sample_period) : length;
}

/* Set the end of the first period, @left counts from now. Return @left, or 1 if the end is past. */
static s64 end_first_period(struct perf_event *event, s64 left)
{
	left = max_t(s64, left, 1);
	event->hw.last_period = first_length(event, first_counts(event) + left);
	local64_set(&event->hw.period_left, left);

	return left;
}

/**
 * corepmu_freq_find() - find the period of a young event
 * @event: an event whose count is up to date
 *
 * The counter is about to be set: the event has been placed, a tick has restarted the event, or a
 * probe has overflowed. IRQs off, or NMI.
 *
 * Return: the number of counts after which the counter is to overflow
 */
s64 corepmu_freq_find(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 running = running_ns(event), period, ended;
	s64 left;

	if (compat_event_has_cgroup(event))
		return guess_period(event);
	period = known_period(event, running);
	if (period && running > YOUNG_NS &&
	    (had_sample(event) || running >= interval_ns(event)))
		hwc->last_cpu = settled_mark(event);
	if (had_sample(event))
		return period ? change_period(hwc, period) :
				corepmu_counter_period_left(event, &ended);
	if (period) {
		hwc->sample_period = period;
		left = first_part(event, period) - first_counts(event);
		return end_first_period(event, left);
	}

	if (running && local64_read(&event->count))
		period = measured_period(event, running) / PROBE_MEASURED;
	else
		period = per_second(&event->attr) / settled_mark(event) / PROBE_GUESSED;

	return end_first_period(event, period);
}

/**
 * corepmu_freq_next_period() - set the counter of a young event after an overflow
 * @cpuc: this CPU's state
 * @event: the event, whose count is up to date
 *
 * From the overflow interrupt.
 *
 * Return: length of the ended period, 0 if the overflow was a probe
 */
u64 corepmu_freq_next_period(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 ended = 0, period;

	if (!corepmu_freq_extend(event)) {
		period = had_sample(event) ? 0 : known_period(event, running_ns(event));
		if (period) {
			hwc->sample_period = period;
			hwc->last_period = first_length(event, hwc->last_period);
		}
		ended = corepmu_counter_next_period(cpuc, event);
	}
	if (!ended)
		corepmu_counter_set(cpuc, event, had_sample(event) ?
				    local64_read(&hwc->period_left) : corepmu_freq_find(event));

	return ended;
}

/**
 * corepmu_freq_restart() - set the period after perf core has set period_left to 0
 * @event: an event with a frequency that has just begun its next period
 *
 * Perf core sets period_left to 0 when it shortens the period, and when user space sets another
 * frequency (PERF_EVENT_IOC_PERIOD). The new frequency scales the period: half the frequency,
 * twice the period. IRQs off, or NMI.
 *
 * Return: the number of counts after which the counter is to overflow
 */
s64 corepmu_freq_restart(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 period = hwc->sample_period;
	int before = hwc->last_cpu;

	hwc->last_cpu = settled_mark(event);
	if (hwc->last_cpu != before)
		period = max_t(u64, mul_u64_u32_div(period, before, hwc->last_cpu),
			       corepmu_hw_min_period(hwc));
	corepmu_counter_first_period(hwc, period);

	return period;
}
