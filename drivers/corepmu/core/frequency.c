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
 * is known, each overflow is a probe, which emits no sample.
 *
 * An event's first sample comes soon after the rate is known, and shows the few counts so far. So
 * a task has a sample even if it ends within the first period; with an event for each CPU, it has
 * one for each CPU that it runs on. Children are many: each child's first sample is due after a
 * different part of the period, and children without a sample are represented by the others.
 *
 * A task begins with page faults and few instructions of its own: the first rate is too low, and
 * the period too short. So a young event's overflow is also a probe if it comes well before the
 * next sample is due.
 *
 * An event starts in the middle of a tick. Perf core takes the time until the next tick for a whole
 * tick: it finds the rate too low and the period too long. So the driver sets the period of a young
 * event again in each tick. An event is young until it has had a sample, and has run for two ticks
 * and for the time between two samples.
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

/*
 * The rate is known once the event has run for 1/KNOWN_AFTER of the time between two samples, but
 * no sooner than after KNOWN_MIN_NS: the start of the counter takes some hundred ns, which then
 * matter little. KNOWN_COUNTS counts in KNOWN_MAX_NS are enough, too: short tasks run that long.
 */
#define KNOWN_AFTER		16
#define KNOWN_COUNTS		64
#define KNOWN_MIN_NS		(10 * NSEC_PER_USEC)
#define KNOWN_MAX_NS		(50 * NSEC_PER_USEC)
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

/* Return the frequency, in samples per second. */
static int freq_of(const struct perf_event *event)
{
	return min_t(u64, event->attr.sample_freq, INT_MAX);
}

/* Return the time between two samples, in ns. */
static u64 interval_ns(const struct perf_event *event)
{
	return NSEC_PER_SEC / freq_of(event);
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
	corepmu_hw_set_freq(hwc, COREPMU_FREQ_YOUNG);
}

/* Return how long the event has run since it was opened, in ns; 0 if the time is unknown. */
static u64 running_ns(const struct perf_event *event)
{
	s64 ns = event->total_time_running +
		 local_clock() + compat_event_clock_offset(event) - event->tstamp;

	return max_t(s64, ns, 0);
}

/* Return the period that fits the event's rate in the @running ns since it was opened. */
static u64 measured_period(const struct perf_event *event, u64 running)
{
	u64 count = local64_read(&event->count), interval = interval_ns(event);
	/* The product fits into 64 bits. */
	unsigned int shift = max(fls64(count) + fls64(interval) - 64, 0);

	return div64_u64((count >> shift) * interval, (running >> shift) ?: 1) ?: 1;
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
	u64 period = per_second(&event->attr) / freq_of(event);

	corepmu_hw_set_freq(hwc, freq_of(event));
	return change_period(hwc, max_t(u64, period, corepmu_hw_min_period(hwc)));
}

/*
 * Return the part of @value, a time or a period, after which a child's first sample is due; 0 for
 * an event that is not inherited.
 */
static u64 first_part(const struct perf_event *event, u64 value)
{
	if (!event->parent)
		return 0;

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
	return clamp_t(u64, interval_ns(event) / KNOWN_AFTER, KNOWN_MIN_NS, KNOWN_MAX_NS);
}

/* Return the period that fits the event's rate in @running ns, or 0 while the rate is unknown. */
static u64 known_period(const struct perf_event *event, u64 running)
{
	u64 count = local64_read(&event->count);

	if (running < known_after_ns(event) || !count)
		return 0;
	if (count < KNOWN_COUNTS && running < interval_ns(event) / KNOWN_AFTER)
		return 0;

	return max_t(u64, measured_period(event, running), corepmu_hw_min_period(&event->hw));
}

/*
 * Check whether an event's first sample is due. If the period has ended, also set the next period.
 * The sample shows the counts so far. A child's sample shows at least a whole period, since other
 * children end without a sample.
 */
static bool begin_first_sample(struct perf_event *event)
{
	u64 due = first_part(event, interval_ns(event));
	struct hw_perf_event *hwc = &event->hw;
	u64 running = running_ns(event), period;

	if (running && running < max(due - due / EARLY, known_after_ns(event)))
		return false;
	/* A counter that is narrower than the period overflows before the period ends. */
	if (local64_read(&hwc->period_left) > 0)
		return true;

	period = known_period(event, running);
	if (period)
		hwc->sample_period = period;
	if (event->parent)
		hwc->last_period = max_t(u64, hwc->last_period, hwc->sample_period);

	return true;
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
 * Before the first sample the function extends no period. If that sample is due, the function sets
 * the event's period, and what the sample shows. IRQs off, or NMI.
 *
 * Return: true if the overflow emits no sample
 */
bool corepmu_freq_extend(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 gone, due;
	s64 left, ns;

	if (!corepmu_hw_is_young(hwc))
		return false;
	if (!had_sample(event))
		return !begin_first_sample(event);
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

/* Set the end of the first period, @left counts from now. Return @left, or 1 if the end is past. */
static s64 end_first_period(struct perf_event *event, s64 left)
{
	left = max_t(s64, left, 1);
	event->hw.last_period = first_counts(event) + left;
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
	u64 running = running_ns(event), period, ended, count, due;
	s64 left;

	if (compat_event_has_cgroup(event))
		return guess_period(event);
	period = known_period(event, running);
	if (had_sample(event)) {
		if (!period)
			return corepmu_counter_advance_period(event, &ended);
		if (running > max_t(u64, YOUNG_NS, interval_ns(event)))
			corepmu_hw_set_freq(hwc, freq_of(event));
		return change_period(hwc, period);
	}
	if (period) {
		hwc->sample_period = period;
		/* A sample at once would show the kernel's tick or scheduler. */
		if (event->parent)
			left = first_part(event, period) - first_counts(event);
		else
			left = div64_u64(period, interval_ns(event) / KNOWN_MIN_NS + 1);
		return end_first_period(event, left);
	}

	/* The probe is to come a little after the rate is known. */
	due = known_after_ns(event);
	due += due / EARLY;
	count = local64_read(&event->count);
	if (!running || !count)
		left = div_u64(due * per_second(&event->attr), NSEC_PER_SEC);
	else
		/* Once due is past, KNOWN_COUNTS more counts make the rate known. */
		left = running < due ? counts_left(count, running, due) : 0;

	return end_first_period(event, max(left, KNOWN_COUNTS));
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
	u64 ended = 0;

	if (!corepmu_freq_extend(event))
		ended = corepmu_counter_next_period(cpuc, event);
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
	int before = corepmu_hw_freq(hwc), freq = freq_of(event);

	corepmu_hw_set_freq(hwc, freq);
	if (freq != before)
		period = max_t(u64, mul_u64_u32_div(period, before, freq),
			       corepmu_hw_min_period(hwc));
	corepmu_counter_first_period(hwc, period);

	return period;
}
