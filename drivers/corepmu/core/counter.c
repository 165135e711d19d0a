// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: counter and period arithmetic, for counters of any width
 *
 * A counter counts up and interrupts when it wraps. To have it interrupt after
 * n events it is set to -n within its width. period_left is what is left of
 * the current period in full 64 bits; a period longer than half the counter's
 * range takes several interrupts, so that a late read never mistakes one wrap
 * for none.
 */
#include <linux/minmax.h>
#include <linux/perf_event.h>

#include <corepmu/counter.h>
#include <corepmu/pmu.h>

/*
 * Counting events start this many events below 2^32: the wrap of a narrow
 * counter, a carry into the upper half of a wide one. With 2^32 more it is
 * so many below 2^64, where a wide counter itself wraps. For tests.
 */
u64 corepmu_start_near_wrap;

/**
 * corepmu_count_overtaken() - finish corepmu_count_event_nmi_safe() when an NMI came in it
 * @event: an event placed on a counter of this CPU
 * @prev: what prev_count was
 * @now: what the counter was, and prev_count has become in exchange for @prev
 *
 * IRQs off.
 *
 * If the NMI came between the read of the counter and the exchange, it has added what the
 * counter had and set it for the next period. The exchange fails then, and is tried again,
 * unless the NMI set the counter to @prev: the same value as after the last overflow. @now
 * was read before that, and is taken back.
 *
 * If the NMI came after the exchange, it has added what was counted since @now, and what
 * was counted from @prev to @now is still to be added.
 */
void corepmu_count_overtaken(struct perf_event *event, u64 prev, u64 now)
{
	if (local64_cmpxchg(&event->hw.prev_count, now, prev) == now)
		corepmu_counter_update_nmi_safe(this_cpu_ptr(to_corepmu(event->pmu)->cpu), event);
	else
		corepmu_add_count(event, prev, now);
}

/**
 * corepmu_counter_start() - set the counter for what is left of the period
 * @cpuc: this CPU's state
 * @event: an event placed on a counter that is not counting
 *
 * When nothing is left a new period begins: perf core emptied period_left to change the
 * period, or a counting event was stopped after its counter had overflowed and before the
 * interrupt. IRQs off.
 */
void corepmu_counter_start(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	u64 ended;
	s64 left;

	if (unlikely(event->hw.last_cpu == COREPMU_FREQ_YOUNG)) {
		left = corepmu_freq_find(event);
	} else {
		left = corepmu_counter_period_left(event, &ended);
		if (unlikely(ended) && event->hw.last_cpu)
			left = corepmu_freq_restart(event);
	}
	corepmu_counter_load(cpuc, event, left);
}

/**
 * corepmu_counter_limit() - the limiter has blamed an event: here, on another CPU, or its parent
 * @cpuc: this CPU's state
 * @event: an event whose counter overflowed
 *
 * Where perf core chooses the period, the event has one that is not too short: stretched, it
 * would be taken for one that happens seldom, and be given an even shorter one. From the overflow
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
