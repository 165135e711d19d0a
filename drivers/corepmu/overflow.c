// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: what one overflow does, the same for every backend
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/sched/clock.h>
#include <linux/time64.h>

#include <corepmu/ksyms.h>
#include <corepmu/pmu.h>

/*
 * Perf core throttles an event after max_samples_per_tick interrupts in a tick.
 * That limit is the administrator's to raise or to take away; this one is not.
 * When more than half of a window went into overflows, counters are no longer
 * set to overflow within less than min_left events, and min_left doubles from
 * window to window until the machine breathes again. Counts stay exact.
 */
#define LIMIT_WINDOW_NS		(10 * NSEC_PER_MSEC)
#define LIMIT_MAX_LEFT		BIT(20)

static void limit_rate(struct corepmu_cpu *cpuc, u64 start, u64 end)
{
	u64 window = end - cpuc->window;

	cpuc->busy += end - start;
	if (window < LIMIT_WINDOW_NS)
		return;

	if (cpuc->busy > window / 2) {
		pr_notice_once("overflows take most of the time: short periods are stretched\n");
		if (cpuc->min_left < LIMIT_MAX_LEFT)
			cpuc->min_left = cpuc->min_left ? 2 * cpuc->min_left : 16;
	} else if (cpuc->busy < window / 8) {
		cpuc->min_left = cpuc->min_left > 16 ? cpuc->min_left / 2 : 0;
	}

	cpuc->window = end;
	cpuc->busy = 0;
}

/* Returns whether a sampling period ended. */
static bool overflow_event(struct corepmu_cpu *cpuc, struct perf_event *event,
			   struct pt_regs *regs)
{
	struct hw_perf_event *hwc = &event->hw;
	struct perf_sample_data data;

	corepmu_counter_update(cpuc, event);

	/* The period that ended, before the next one takes its place. */
	perf_sample_data_init(&data, 0, hwc->last_period);

	hwc->state &= ~COREPMU_HES_OWED;
	if (!corepmu_counter_next_period(cpuc, event) || !is_sampling_event(event))
		return false;

	if (corepmu_perf_event_overflow(event, &data, regs))
		corepmu_event_stop(event, 0);

	return true;
}

/**
 * corepmu_handle_overflow() - count, reload and sample what overflowed
 * @cpuc: this CPU's state
 * @overflowed: counters that overflowed, already acknowledged
 * @regs: where the interrupt came
 *
 * The PMU stands still meanwhile, so that the events of a group see the same
 * instructions. From the overflow interrupt: IRQs off, or NMI.
 *
 * Return: how many counters that had an event it was
 */
unsigned int corepmu_handle_overflow(struct corepmu_cpu *cpuc, u64 overflowed,
				     struct pt_regs *regs)
{
	u64 start = sched_clock(), end;
	bool running = cpuc->running;
	unsigned int handled = 0;
	bool sampled = false;

	if (running)
		corepmu_stop_cpu(cpuc);

	cpuc->stray |= overflowed & ~cpuc->used;

	for (overflowed &= cpuc->active; overflowed; overflowed &= overflowed - 1) {
		struct perf_event *event = cpuc->events[__ffs64(overflowed)];

		/* The lower counter of a pair, or stopped by one before it. */
		if (!event || (event->hw.state & PERF_HES_STOPPED))
			continue;

		sampled |= overflow_event(cpuc, event, regs);
		handled++;
	}

	if (running)
		corepmu_start_cpu(cpuc);

	if (sampled) {
		end = sched_clock();
		limit_rate(cpuc, start, end);
		corepmu_perf_sample_event_took(end - start);
	}

	return handled;
}
