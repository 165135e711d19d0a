/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: the arithmetic of counters that is inline in the backends
 *
 * Every stop and every overflow of an event comes here: one call of a function that
 * calls nothing is all that it takes.
 */
#ifndef _COREPMU_COUNTER_H
#define _COREPMU_COUNTER_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/static_call.h>
#include <linux/types.h>

#include <corepmu/pmu.h>

/* core/counter.c */
extern u64 corepmu_start_near_wrap;
void corepmu_counter_start(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_counter_limit(struct corepmu_cpu *cpuc, struct perf_event *event);

/*
 * perf_event_mmap_page.offset is the count less prev_count, and a reader adds
 * the counter's value, extended by its sign.
 */
static __always_inline u64 corepmu_extend_sign(u64 value, u64 mask)
{
	u64 sign = (mask >> 1) + 1;

	return ((value & mask) ^ sign) - sign;
}

/* Have prev_count follow the counter. Returns what it is now, @prev what it was. */
static __always_inline u64
corepmu_follow_counter(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 *prev,
		       u64 (*read)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc))
{
	u64 now;

	do {
		*prev = local64_read(&hwc->prev_count);
		now = corepmu_extend_sign(read(cpuc, hwc), corepmu_hw_value_mask(hwc));
	} while (local64_cmpxchg(&hwc->prev_count, *prev, now) != *prev);

	return now;
}

static __always_inline void corepmu_add_count(struct perf_event *event, u64 prev, u64 now)
{
	u64 delta = (now - prev) & corepmu_hw_value_mask(&event->hw);

	local64_add(delta, &event->count);
	local64_sub(delta, &event->hw.period_left);
}

/**
 * corepmu_count_event() - the backend's update(), with its read() inline
 * @cpuc: this CPU's state
 * @event: an event placed on a counter
 * @read: the backend's read()
 */
static __always_inline void
corepmu_count_event(struct corepmu_cpu *cpuc, struct perf_event *event,
		    u64 (*read)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc))
{
	u64 prev, now = corepmu_follow_counter(cpuc, &event->hw, &prev, read);

	corepmu_add_count(event, prev, now);
}

void corepmu_count_overtaken(struct perf_event *event, u64 prev, u64 now);

/**
 * corepmu_count_event_nmi_safe() - the backend's update_nmi_safe(), with its read() inline
 * @cpuc: this CPU's state
 * @event: an event placed on a counter
 * @read: the backend's read()
 *
 * An NMI between the read of the counter and the exchange of prev_count updates the event.
 * It changes prev_count, and the exchange is tried again; but if it sets the counter to the
 * value that prev_count has already, only the count tells that it came.
 */
static __always_inline void
corepmu_count_event_nmi_safe(struct corepmu_cpu *cpuc, struct perf_event *event,
			     u64 (*read)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc))
{
	u64 count = local64_read(&event->count);
	u64 prev, now = corepmu_follow_counter(cpuc, &event->hw, &prev, read);

	if (unlikely(local64_read(&event->count) != count))
		corepmu_count_overtaken(event, prev, now);
	else
		corepmu_add_count(event, prev, now);
}

/**
 * corepmu_counter_update() - add what was counted since the last time
 * @cpuc: this CPU's state
 * @event: an event placed on a counter
 *
 * Brings event->count and period_left up to date. From the overflow interrupt, or
 * where it leaves the event alone. IRQs off, or NMI.
 */
static inline void corepmu_counter_update(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	static_call(corepmu_counter_update)(cpuc, event);
}

/**
 * corepmu_counter_update_nmi_safe() - the same where the overflow interrupt may come meanwhile
 * @cpuc: this CPU's state
 * @event: an event placed on a counter
 *
 * IRQs off.
 */
static inline void
corepmu_counter_update_nmi_safe(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	static_call(corepmu_counter_update_nmi_safe)(cpuc, event);
}

/*
 * What to set the counter to, so that it overflows after @left events or before: extended by its
 * sign, as prev_count is.
 */
static __always_inline s64
corepmu_counter_value(struct corepmu_cpu *cpuc, struct perf_event *event, s64 left)
{
	u64 mask = corepmu_hw_value_mask(&event->hw);

	if (unlikely(corepmu_start_near_wrap) && !is_sampling_event(event)) {
		if (mask == U64_MAX)
			return BIT_ULL(32) - corepmu_start_near_wrap;
		left = min_t(u64, left, corepmu_start_near_wrap);
	}

	return -clamp_t(s64, left, corepmu_hw_min_period(&event->hw),
			min_t(u64, mask >> 1, cpuc->pmu->max_left));
}

/* Have the counter overflow after @left events or before. */
static __always_inline void
corepmu_counter_load(struct corepmu_cpu *cpuc, struct perf_event *event, s64 left)
{
	s64 value = corepmu_counter_value(cpuc, event, left);

	local64_set(&event->hw.prev_count, value);
	static_call(corepmu_write_counter)(cpuc, &event->hw,
					   value & corepmu_hw_value_mask(&event->hw));
}

/**
 * corepmu_counter_first_period() - what an event's first period is
 * @hwc: an event that is being opened
 * @period: in events
 *
 * Process context.
 */
static inline void corepmu_counter_first_period(struct hw_perf_event *hwc, u64 period)
{
	hwc->sample_period = period;
	hwc->last_period = period;
	local64_set(&hwc->period_left, period);
}

/**
 * corepmu_counter_period_left() - begin the next period, if this one has ended
 * @event: an event whose count is up to date
 * @ended: filled in: the ended period, as its sample shows it; 0 if the period has not ended
 *
 * IRQs off, or NMI.
 *
 * Return: how many events are left of the period that there is now
 */
static __always_inline s64 corepmu_counter_period_left(struct perf_event *event, u64 *ended)
{
	struct hw_perf_event *hwc = &event->hw;
	s64 left = local64_read(&hwc->period_left);
	s64 period = hwc->sample_period;

	*ended = 0;
	if (likely(left > 0))
		return left;

	*ended = hwc->last_period;
	/*
	 * If the overflow is late by a whole period or more, one sample covers all counts since the
	 * period began.
	 */
	if (unlikely(left <= -period))
		*ended -= left;
	left = left <= -period ? period : left + period;
	local64_set(&hwc->period_left, left);
	hwc->last_period = period;

	return left;
}

/**
 * corepmu_counter_postpone() - extend a period that has ended, to end with the next count
 * @hwc: an event whose sample cannot be emitted yet
 *
 * last_period grows by the further counts, so that the sample covers them. IRQs off, or NMI.
 */
static inline void corepmu_counter_postpone(struct hw_perf_event *hwc)
{
	hwc->last_period += 1 - local64_read(&hwc->period_left);
	local64_set(&hwc->period_left, 1);
}

/**
 * corepmu_counter_end_period() - the same where the counter is not to be set
 * @event: an event whose count is up to date
 *
 * IRQs off, or NMI.
 *
 * Return: the period that has ended, 0 if none has
 */
static __always_inline u64 corepmu_counter_end_period(struct perf_event *event)
{
	u64 ended;

	corepmu_counter_period_left(event, &ended);
	return ended;
}

/**
 * corepmu_counter_next_period() - after an overflow, set the counter again
 * @cpuc: this CPU's state
 * @event: an event whose counter overflowed and was updated
 *
 * IRQs off, or NMI.
 *
 * Return: the period that has ended; 0 if none has: the counter is too narrow for the period, or
 * the overflow was of an earlier event, or a probe (core/frequency.c)
 */
static __always_inline u64
corepmu_counter_next_period(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	u64 ended;

	if (unlikely(corepmu_hw_min_period(&event->hw) > cpuc->pmu->min_left))
		corepmu_counter_limit(cpuc, event);
	corepmu_counter_load(cpuc, event, corepmu_counter_period_left(event, &ended));
	return ended;
}

#endif /* _COREPMU_COUNTER_H */
