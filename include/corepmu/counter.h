/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: counter arithmetic that is inline in the backends
 *
 * Every stop and every overflow of an event runs this code. It is inline in the backend's update(),
 * so a stop makes one call, of a leaf function.
 */
#ifndef _COREPMU_COUNTER_H
#define _COREPMU_COUNTER_H

#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/static_call.h>
#include <linux/types.h>

#include <corepmu/pmu.h>

/* core/counter.c */
extern u64 corepmu_start_near_wrap;
void corepmu_count_overtaken(struct perf_event *event, u64 prev, u64 now);
void corepmu_counter_set(struct corepmu_cpu *cpuc, struct perf_event *event, s64 left);
void corepmu_counter_limit(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_counter_postpone(struct hw_perf_event *hwc);

/*
 * Sign-extend a counter value from the width of @mask to 64 bits. prev_count is kept like this:
 * perf_event_mmap_page.offset is the count less prev_count, and a reader in user space adds the
 * sign-extended counter value to the offset.
 */
static __always_inline u64 corepmu_extend_sign(u64 value, u64 mask)
{
	u64 sign = (mask >> 1) + 1;

	return ((value & mask) ^ sign) - sign;
}

/* Read the counter and set prev_count to its value. Return the new value; @prev: the old one. */
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

/**
 * corepmu_count_event_nmi_safe() - the backend's update_nmi_safe(), with its read() inline
 * @cpuc: this CPU's state
 * @event: an event placed on a counter
 * @read: the backend's read()
 *
 * CPU A reads the counter; an NMI then updates the event and sets the counter for its next period.
 * The exchange of prev_count fails, and CPU A reads again. But if the NMI sets the counter to the
 * value that prev_count had already, the exchange succeeds. Only event->count then shows that the
 * NMI came: without the check, CPU A adds counts that the NMI has added.
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
 * corepmu_counter_update() - bring an event's count and period_left up to date
 * @cpuc: this CPU's state
 * @event: an event placed on a counter
 *
 * From the overflow interrupt, or where the overflow interrupt does not update the event. IRQs off,
 * or NMI.
 */
static inline void corepmu_counter_update(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	static_call(corepmu_counter_update)(cpuc, event);
}

/**
 * corepmu_counter_update_nmi_safe() - corepmu_counter_update() where overflow interrupts may come
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
 * Return the value, sign-extended like prev_count, from which the counter overflows after @left
 * counts, or earlier if it is too narrow. The period of an event that does not sample fits each of
 * the event's counters: set_counting_period().
 */
static __always_inline s64
corepmu_counter_value(struct corepmu_cpu *cpuc, struct perf_event *event, s64 left)
{
	u64 mask = corepmu_hw_value_mask(&event->hw);
	s64 least = corepmu_hw_min_period(&event->hw);

	if (is_sampling_event(event))
		return -min_t(s64, max(left, least), min_t(u64, mask >> 1, cpuc->pmu->max_left));
	if (likely(!corepmu_start_near_wrap))
		return -max(left, least);
	if (mask == U64_MAX)
		return BIT_ULL(32) - corepmu_start_near_wrap;

	return -max_t(s64, min_t(u64, left, corepmu_start_near_wrap), least);
}

/* Set prev_count to corepmu_counter_value(). Return the value to write to the counter. */
static __always_inline u64
corepmu_counter_expect(struct corepmu_cpu *cpuc, struct perf_event *event, s64 left)
{
	s64 value = corepmu_counter_value(cpuc, event, left);

	local64_set(&event->hw.prev_count, value);
	return value & corepmu_hw_value_mask(&event->hw);
}

/* Set the counter to overflow after @left counts, or earlier if it is too narrow. */
static __always_inline void
corepmu_counter_load(struct corepmu_cpu *cpuc, struct perf_event *event, s64 left)
{
	u64 value = corepmu_counter_expect(cpuc, event, left);

	static_call(corepmu_write_counter)(cpuc, &event->hw, value);
}

/**
 * corepmu_counter_first_period() - set an event's period and begin it
 * @hwc: an event that is being opened, or whose counter is about to be set
 * @period: the period, in counts
 *
 * Process context, IRQs off, or NMI.
 */
static inline void corepmu_counter_first_period(struct hw_perf_event *hwc, u64 period)
{
	hwc->sample_period = period;
	hwc->last_period = period;
	local64_set(&hwc->period_left, period);
}

/**
 * corepmu_counter_advance_period() - begin the next period if the current one has ended
 * @event: an event whose count is up to date
 * @ended: filled in: length of the ended period, for its sample; 0 if the period has not ended
 *
 * IRQs off, or NMI.
 *
 * Return: number of counts until the current period ends
 */
static __always_inline s64 corepmu_counter_advance_period(struct perf_event *event, u64 *ended)
{
	struct hw_perf_event *hwc = &event->hw;
	s64 left = local64_read(&hwc->period_left);
	s64 period = hwc->sample_period;

	*ended = 0;
	if (likely(left > 0))
		return left;

	*ended = hwc->last_period;
	left += period;
	/* An overflow late by a period: one sample has all counts since the period began. */
	if (unlikely(left <= 0)) {
		*ended += period - left;
		left = period;
	}
	local64_set(&hwc->period_left, left);
	hwc->last_period = period;

	return left;
}

/**
 * corepmu_counter_end_period() - begin the next period, and leave the counter alone
 * @event: an event whose count is up to date
 *
 * IRQs off, or NMI.
 *
 * Return: length of the ended period, 0 if the period has not ended
 */
static __always_inline u64 corepmu_counter_end_period(struct perf_event *event)
{
	u64 ended;

	corepmu_counter_advance_period(event, &ended);
	return ended;
}

/**
 * corepmu_counter_next_period() - set the counter after an overflow
 * @cpuc: this CPU's state
 * @event: an event whose counter overflowed, with its count up to date
 *
 * IRQs off, or NMI.
 *
 * Return: length of the ended period. 0 if the period has not ended: the counter is narrower than
 * the period, the overflow belongs to an earlier event, or is a probe (core/frequency.c)
 */
static __always_inline u64
corepmu_counter_next_period(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	u64 ended;

	if (unlikely(corepmu_hw_min_period(&event->hw) > cpuc->pmu->min_left))
		corepmu_counter_limit(cpuc, event);
	corepmu_counter_load(cpuc, event, corepmu_counter_advance_period(event, &ended));
	return ended;
}

#endif /* _COREPMU_COUNTER_H */
