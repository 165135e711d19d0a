// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: counter and period arithmetic, for counters of any width
 *
 * A counter counts up and interrupts when it wraps. The driver sets a counter to -n, truncated to
 * its width, to get an interrupt after n counts. period_left is the number of counts until the
 * current period ends, in 64 bits. A period longer than half of the counter's range takes several
 * interrupts: so a late read never misses a wrap.
 */
#include <linux/atomic.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>

#include <corepmu/counter.h>
#include <corepmu/pmu.h>

/*
 * For tests: counters of events that do not sample start this many counts below 2^32. There a
 * narrow counter wraps, and a wide one carries into its upper half. A value of 2^32 + n starts a
 * wide counter n counts below 2^64, where the wide counter wraps.
 */
u64 corepmu_start_near_wrap;

/**
 * corepmu_counter_set() - corepmu_counter_load() out of line, for callers that are rare
 * @cpuc: this CPU's state
 * @event: an event placed on a counter that is not counting
 * @left: number of counts until the overflow; fewer if the counter is too narrow
 *
 * IRQs off, or NMI.
 */
noinline void corepmu_counter_set(struct corepmu_cpu *cpuc, struct perf_event *event, s64 left)
{
	corepmu_counter_load(cpuc, event, left);
}

/*
 * Set the counter to overflow with its next count: the period has ended without a sample. The race:
 * CPU A, a reader, updates prev_count. An NMI for the overflow interrupts CPU A before it adds the
 * counts. Without these counts period_left is too high: the NMI emits no sample.
 *
 * An earlier overflow's NMI may come late, between the writes of prev_count and of the counter.
 * So this function marks the event as stopped meanwhile: the late NMI leaves the event alone. If
 * perf core throttles the event meanwhile, the event counts until its next sample: see
 * corepmu_emit().
 */
static void overflow_soon(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	bool running = cpuc->running;
	int state;

	if (running)
		corepmu_stop_cpu(cpuc);
	state = xchg(&event->hw.state, PERF_HES_STOPPED | PERF_HES_UPTODATE);
	corepmu_counter_update(cpuc, event);
	corepmu_counter_set(cpuc, event, local64_read(&event->hw.period_left));
	barrier();
	event->hw.state = state;
	corepmu_update_userpage(event);
	if (running)
		corepmu_start_cpu(cpuc);
}

/**
 * corepmu_count_overtaken() - finish corepmu_count_event_nmi_safe() after an NMI updated the event
 * @event: an event placed on a counter of this CPU
 * @prev: prev_count before the exchange
 * @now: value that was read from the counter; the exchange set prev_count to it
 *
 * IRQs off.
 *
 * If the NMI came between the read of the counter and the exchange, @now is stale. The NMI added
 * the counts up to the overflow, and started the next period from a value equal to @prev: so the
 * exchange succeeded. Set prev_count back to @prev, and update the event again.
 *
 * If the NMI came after the exchange, it added the counts since @now. The counts from @prev to @now
 * are still missing: add them. With auto counter reload, @now may be below @prev.
 */
void corepmu_count_overtaken(struct perf_event *event, u64 prev, u64 now)
{
	struct corepmu_cpu *cpuc = this_cpu_ptr(to_corepmu(event->pmu)->cpu);
	u64 delta = now - prev;

	if (local64_cmpxchg(&event->hw.prev_count, now, prev) == now) {
		corepmu_counter_update_nmi_safe(cpuc, event);
		return;
	}

	if (!(event->hw.flags & COREPMU_EVENT_ACR))
		delta &= corepmu_hw_value_mask(&event->hw);
	local64_add(delta, &event->count);
	local64_sub(delta, &event->hw.period_left);
	if (is_sampling_event(event) && local64_read(&event->hw.period_left) <= 0)
		overflow_soon(cpuc, event);
}

/**
 * corepmu_counter_limit() - update the minimum period of an event that the limiter throttled
 * @cpuc: this CPU's state
 * @event: an event whose counter overflowed; a limiter on any CPU throttled it or its parent
 *
 * The minimum period drops if this CPU's limiter has relaxed. If perf core chooses the period
 * (attr.freq), raise the period to the minimum. If only the counter were set to the minimum, perf
 * core would see a low rate of events, and choose a still shorter period. From the overflow
 * interrupt.
 */
void corepmu_counter_limit(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	s64 least = min(corepmu_hw_min_period(hwc), cpuc->limiter.min_left);

	least = max(least, corepmu_hw_period_floor(hwc));
	corepmu_hw_set_min_period(hwc, least);
	if (event->attr.freq && hwc->sample_period < least)
		hwc->sample_period = least;
}

/**
 * corepmu_counter_postpone() - extend a period that has ended, to end with the next count
 * @hwc: an event whose sample cannot be emitted yet
 *
 * last_period grows by the further counts, so that the sample covers them. IRQs off, or NMI.
 */
void corepmu_counter_postpone(struct hw_perf_event *hwc)
{
	hwc->last_period += 1 - local64_read(&hwc->period_left);
	local64_set(&hwc->period_left, 1);
}
