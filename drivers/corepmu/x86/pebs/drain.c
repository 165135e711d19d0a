// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel PEBS: drain the buffer: count its records, then emit their samples
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/sched/clock.h>
#include <linux/time64.h>

#include <asm/ptrace.h>
#include <asm/tsc.h>

#include <corepmu/counter.h>
#include <corepmu/limiter.h>
#include <corepmu/overflow.h>
#include <corepmu/pmu.h>
#include <corepmu/precise.h>

#include "pebs.h"
#include "../msr.h"
#include "../x86.h"

/*
 * An interrupt after at least this many counts of one event has left the CPU time for other work:
 * the limiter does not count the interrupt. perf core alone limits the samples
 * (perf_sample_event_took()), as with the built-in driver. Longer periods would not reduce the
 * number of samples until the periods are too long for large PEBS.
 */
#define LIMITER_EXEMPT_COUNTS	4096

/*
 * Convert the record's time stamp to the sample clock. Return the time of the drain for a record
 * that was written since the drain began, and if the frequency of the TSC is unknown.
 */
static u64 time_of(const struct x86_pebs_record *record)
{
	const struct x86_pebs *p = this_cpu_ptr(&x86_pebs);

	if (record->tsc >= p->now_tsc || !tsc_khz)
		return p->now;

	return p->now - mul_u64_u32_div(p->now_tsc - record->tsc, USEC_PER_SEC, tsc_khz);
}

/* Return 0, for the present time, unless records may have waited in the buffer. */
static u64 sample_time(const struct perf_event *event, const struct x86_pebs_record *record)
{
	if (!(event->attr.sample_type & PERF_SAMPLE_TIME) || !this_cpu_read(x86_pebs.hw_reload))
		return 0;

	return time_of(record);
}

/* The record's length is invalid, so the start of the next record is unknown, too. */
static noinline void warn_of_invalid_record(const void *at)
{
	pr_warn_once("a PEBS record is invalid (it begins with %#llx): dropped, with all records after it; update the microcode or the hypervisor\n",
		     *(const u64 *)at);
}

/*
 * Update an event whose counter the CPU has reloaded with each record. Each record stands for one
 * period; the rest is the difference of the counter's values. The counter's value is what is left
 * of the period.
 *
 * A stopped event has no records in the buffer: the stop has drained them. But a late NMI may
 * interrupt this drain, and in its sample perf core may throttle the event's group. That stop finds
 * a drain running and leaves the event to it.
 */
static void account_hw_reloads(struct corepmu_cpu *cpuc, int idx)
{
	struct perf_event *event = cpuc->events[idx];
	struct hw_perf_event *hwc = &event->hw;
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);
	u64 now;

	p->period[idx] = p->reload[idx];
	p->max_pending = max(p->max_pending, p->nr[idx] * p->reload[idx]);
	if ((hwc->state & PERF_HES_STOPPED) && !(READ_ONCE(p->overtaken) & BIT_ULL(idx)))
		return;

	now = corepmu_extend_sign(cpuc->pmu->backend->read(cpuc, hwc), corepmu_hw_value_mask(hwc));
	local64_add(p->nr[idx] * p->reload[idx] + now - local64_read(&hwc->prev_count),
		    &event->count);
	local64_set(&hwc->prev_count, now);
	local64_set(&hwc->period_left, -now);
	if (hwc->flags & COREPMU_EVENT_MAPPED)
		corepmu_update_userpage(event);
}

/**
 * x86_pebs_follow_reset() - account for a record that has reset the counter to 0
 * @cpuc: state of this CPU
 * @event: precise event that is about to be updated from its counter
 *
 * If the event was read after its overflow, prev_count is positive. When the record then resets the
 * counter to 0, the counter seems to have wrapped around. So the function sets prev_count to 0. If
 * an NMI interrupts the function, the NMI has done the same. IRQs off, or NMI.
 */
void x86_pebs_follow_reset(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	s64 prev = local64_read(&hwc->prev_count), now;

	if (likely(prev <= 0))
		return;
	now = corepmu_extend_sign(cpuc->pmu->backend->read(cpuc, hwc), corepmu_hw_value_mask(hwc));
	if (now < prev)
		local64_cmpxchg(&hwc->prev_count, prev, 0);
}

/*
 * Update an event whose counter a record has set to 0. Return the length of the ended period. The
 * length is 0 if the period has not ended: the counter is narrower than the period, or the record
 * belongs to a probe (core/frequency.c).
 */
static __always_inline u64 account_reset(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	u64 ended;

	if (event->hw.state & PERF_HES_STOPPED)
		return corepmu_freq_extend(event) ? 0 : corepmu_counter_end_period(event);

	corepmu_counter_update(cpuc, event);
	if (corepmu_hw_is_young(&event->hw))
		ended = corepmu_freq_next_period(cpuc, event);
	else
		ended = corepmu_counter_next_period(cpuc, event);
	if (event->hw.flags & COREPMU_EVENT_MAPPED)
		corepmu_update_userpage(event);

	return ended;
}

/*
 * Update the events of all records, before perf core gets any sample. The PMU is stopped. Return
 * the counters with an ended period, a bit each.
 */
static u64 update_events(struct corepmu_cpu *cpuc, const void *at, const void *end)
{
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);
	u64 mine = x86_precise_counters(cpuc), overflowed, ended = 0, left;

	at = x86_pebs_count(to_x86(cpuc->pmu)->pebs_format, at, end, mine, p->nr, &overflowed);
	if (at)
		warn_of_invalid_record(at);
	p->max_pending = 0;
	for (left = p->hw_reload ? mine : 0; left; left &= left - 1)
		if (p->reload[__ffs64(left)])
			account_hw_reloads(cpuc, __ffs64(left));

	for (; overflowed; overflowed &= overflowed - 1) {
		int idx = __ffs64(overflowed);

		if (p->hw_reload && p->reload[idx]) {
			ended |= BIT_ULL(idx);
			continue;
		}
		p->period[idx] = account_reset(cpuc, cpuc->events[idx]);
		if (p->period[idx])
			ended |= BIT_ULL(idx);
	}

	return ended;
}

static void emit_precise(struct corepmu_cpu *cpuc, struct perf_event *event,
			 struct x86_pebs_sample *sample, bool more)
{
	corepmu_precise_emit_any(cpuc, event, &sample->data, &sample->shown.regs,
				 sample->has_branches ? &sample->branches : NULL, more);
}

/* Return what perf_misc_flags() and perf_arch_misc_flags() (arch/x86/events/core.c) depend on. */
static unsigned long sample_level(struct x86_pebs_sample *sample)
{
	return (sample->shown.regs.flags & PERF_EFLAGS_EXACT) | user_mode(&sample->shown.regs);
}

/* A value of @room: begin no further batch, emit samples one by one. */
#define ONE_BY_ONE	(-1)

/*
 * Emit a sample, in a batch if possible. @left: number of samples that a batch may still hold.
 * @room: number of samples that @batch still has room for; 0: try to begin a batch; or ONE_BY_ONE.
 * Return the new @room. If the ring buffer has no room for a batch, the sample is lost.
 */
static int emit_in_batch(struct corepmu_cpu *cpuc, struct perf_event *event,
			 struct x86_pebs_sample *sample, unsigned int left,
			 struct corepmu_precise_batch *batch, int room)
{
	int begun = 0;

	if (room > 0) {
		corepmu_precise_batch_add(batch, event, &sample->data, &sample->shown.regs,
					  sample_level(sample));
	} else {
		if (left && !room)
			begun = corepmu_precise_batch(batch, event, &sample->data,
						      &sample->shown.regs,
						      sample_level(sample), left);
		if (!begun)
			emit_precise(cpuc, event, sample, left);
		room = begun > 0 ? begun : ONE_BY_ONE;
	}
	if (room > 0 && !--room)
		corepmu_precise_batch_end(batch);

	return room;
}

/*
 * Emit the records of the only counter that has any, in batches, except the last record of an
 * interrupt. Room in the ring buffer is reserved for the records that update_events() has counted.
 * All of them are written: the records do not change, and nothing runs in between that could remove
 * the event.
 */
static noinline void emit_batches(struct corepmu_cpu *cpuc, const void *at, const void *end,
				  int idx, struct pt_regs *regs, bool interrupt)
{
	struct perf_event *event = cpuc->events[idx];
	unsigned int format = to_x86(cpuc->pmu)->pebs_format;
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);
	struct x86_pebs_sample *sample = &p->scratch->sample;
	struct x86_pebs_record *record = &sample->record;
	unsigned int left = p->nr[idx] - interrupt;
	bool place_only = x86_pebs_shows_place_only(event), filled = false;
	struct corepmu_precise_batch batch;
	int room = 0;

	for (; at < end; at += record->size) {
		if (!filled || !x86_pebs_parse_alike(format, at, end - at, record) ||
		    !x86_pebs_may_refill(sample, record)) {
			filled = false;
			if (!x86_pebs_parse(format, at, end - at, record))
				break;
			if (unlikely(record->counts))
				x86_pebs_counters_show(cpuc, record);
			if (!(record->counters & BIT_ULL(idx)))
				continue;
		}
		sample->time = sample_time(event, record);
		if (filled)
			x86_pebs_refill(p->period[idx], record, sample);
		else
			x86_pebs_fill(cpuc, event, p->period[idx], record, regs, sample);
		filled = place_only && !record->counts;
		room = emit_in_batch(cpuc, event, sample, left, &batch, room);
		if (!left--)
			break;
	}
}

/*
 * Emit a sample if the buffer has one record, of one counter: the usual case without large PEBS.
 * The PMU is stopped, and no counter reloads in hardware. Return false if there are more records or
 * counters, or if the record is invalid.
 */
static bool emit_single(struct corepmu_cpu *cpuc, const void *at, const void *end,
			struct pt_regs *regs)
{
	struct x86_pebs_sample *sample = &this_cpu_read(x86_pebs.scratch)->sample;
	struct x86_pebs_record *record = &sample->record;
	struct perf_event *event;
	u64 period;

	if (!x86_pebs_parse(to_x86(cpuc->pmu)->pebs_format, at, end - at, record) ||
	    at + record->size < end || !is_power_of_2(record->counters))
		return false;
	event = cpuc->events[__ffs64(record->counters)];
	if (!x86_pebs_is_precise(event))
		return false;

	period = account_reset(cpuc, event);
	if (period) {
		sample->time = 0;
		x86_pebs_fill(cpuc, event, period, record, regs, sample);
		corepmu_precise_emit(cpuc, event, &sample->data, &sample->shown.regs,
				     sample->has_branches ? &sample->branches : NULL);
	}

	return true;
}

/*
 * Emit a sample for each record. The PMU is stopped. @ended: return value of update_events();
 * @interrupt: the drain was caused by an overflow interrupt.
 */
static void emit_records(struct corepmu_cpu *cpuc, const void *at, const void *end, u64 ended,
			 struct pt_regs *regs, bool interrupt)
{
	unsigned int format = to_x86(cpuc->pmu)->pebs_format;
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);
	struct x86_pebs_sample *sample = &p->scratch->sample;
	struct x86_pebs_record *record = &sample->record;

	if (p->large && is_power_of_2(ended)) {
		emit_batches(cpuc, at, end, __ffs64(ended), regs, interrupt);
		return;
	}

	/* Parse records that give no sample, too: they may have counts that a reload overwrote. */
	while ((ended || p->recorded.drained) && at < end &&
	       x86_pebs_parse(format, at, end - at, record)) {
		u64 left = record->counters & ended;

		if (unlikely(record->counts))
			x86_pebs_counters_show(cpuc, record);
		/* Without a reload, a counter overflows at most once between two interrupts. */
		if (!p->hw_reload)
			ended &= ~left;
		for (; left; left &= left - 1) {
			int idx = __ffs64(left);
			struct perf_event *event = cpuc->events[idx];
			/* An interrupt is one overflow for each event; any other drain is none. */
			bool more = p->hw_reload && p->reload[idx] && (--p->nr[idx] || !interrupt);

			if (!x86_pebs_is_precise(event))
				continue;
			sample->time = sample_time(event, record);
			x86_pebs_fill(cpuc, event, p->period[idx], record, regs, sample);
			emit_precise(cpuc, event, sample, more);
		}
		at += record->size;
	}
}

static __always_inline const void *first_record(const struct x86_ds *ds)
{
	return (const void *)(unsigned long)ds->base;
}

static __always_inline const void *end_of_records(const struct x86_ds *ds)
{
	return (const void *)(unsigned long)min(ds->index, ds->base + X86_PEBS_BUFFER_SIZE);
}

/* Update all events, then emit the samples of all records. */
static noinline void drain_many(struct corepmu_cpu *cpuc, const struct x86_ds *ds,
				struct pt_regs *regs, bool interrupt)
{
	const void *base = first_record(ds), *end = end_of_records(ds);
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);
	u64 ended;

	if (p->hw_reload) {
		p->now = local_clock();
		p->now_tsc = rdtsc();
	}
	if (unlikely(p->recorded.members))
		x86_pebs_counters_begin(cpuc);
	ended = update_events(cpuc, base, end);
	emit_records(cpuc, base, end, ended, regs, interrupt);
	if (unlikely(p->recorded.drained))
		x86_pebs_counters_end(cpuc);
}

/*
 * Perf core stopped an event during the drain, and the stop left the event's ended period to the
 * drain. If the buffer had no record of the event, set the event to overflow with its first count
 * after its next start.
 */
static noinline void postpone_stopped(struct corepmu_cpu *cpuc)
{
	u64 left;

	for (left = x86_precise_counters(cpuc); left; left &= left - 1) {
		struct hw_perf_event *hwc = &cpuc->events[__ffs64(left)]->hw;

		if ((hwc->state & PERF_HES_STOPPED) && local64_read(&hwc->period_left) <= 0)
			corepmu_counter_postpone(hwc);
	}
}

static bool drain_buffer(struct corepmu_cpu *cpuc, struct pt_regs *regs, bool interrupt)
{
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);
	struct x86_ds *ds = x86_ds_this();
	bool resume = cpuc->running;

	if (!ds)
		return false;
	if (p->busy) {
		p->refused = true;
		return false;
	}

	/*
	 * An NMI between the two writes drains the buffer itself. The bits that this NMI sets in
	 * overtaken do no harm.
	 */
	p->overtaken = 0;
	barrier();
	p->busy = true;
	barrier();
	/* Rarely true: perf core has usually stopped the PMU before it stops an event. */
	if (unlikely(resume))
		corepmu_stop_cpu(cpuc);
	if (x86_pebs_is_arch(cpuc))
		x86_pebs_arch_fetch(ds);
	if (ds->base < ds->index || p->hw_reload) {
		if (p->hw_reload || p->recorded.members ||
		    !emit_single(cpuc, first_record(ds), end_of_records(ds), regs))
			drain_many(cpuc, ds, regs, interrupt);
		ds->index = ds->base;
		if (x86_pebs_is_arch(cpuc))
			x86_pebs_arch_rewind();
		if (interrupt && p->hw_reload && p->max_pending >= LIMITER_EXEMPT_COUNTS)
			corepmu_limiter_exclude_irq(cpuc);
	}
	barrier();
	p->busy = false;
	barrier();
	if (unlikely(p->refused)) {
		p->refused = false;
		postpone_stopped(cpuc);
	}
	if (unlikely(resume))
		corepmu_start_cpu(cpuc);

	return true;
}

/**
 * x86_pebs_drain() - emit samples of all records in the buffer: the precise backend's drain()
 * @cpuc: state of this CPU
 * @regs: registers that samples show where a record has none, or NULL
 *
 * IRQs off, or NMI.
 *
 * Return: false if a drain is running on this CPU, or if the CPU has no buffer
 */
bool x86_pebs_drain(struct corepmu_cpu *cpuc, struct pt_regs *regs)
{
	/* Kernel registers with sp 0, for callers without registers. Nothing writes no_regs. */
	static struct pt_regs no_regs;

	return drain_buffer(cpuc, regs ?: &no_regs, false);
}

/**
 * x86_pebs_update() - update an event whose counter the CPU reloads in hardware
 * @cpuc: state of this CPU
 * @event: event that is placed on a counter
 *
 * The number of records tells how often the CPU has reloaded the counter, so the function drains
 * the buffer. While another event uses ACR, each record raises a PMI, and the CPU does not reload
 * the counter of an event that allows large PEBS. IRQs off, or NMI.
 *
 * Return: true if the event is up to date; false if the CPU does not reload its counter, and the
 * caller must update the event
 */
bool x86_pebs_update(struct corepmu_cpu *cpuc, const struct perf_event *event)
{
	if (!this_cpu_read(x86_pebs.hw_reload) || !this_cpu_read(x86_pebs.reload[event->hw.idx]))
		return false;
	if (!x86_pebs_drain(cpuc, cpuc->regs))
		this_cpu_or(x86_pebs.overtaken, BIT_ULL(event->hw.idx));

	return true;
}

/**
 * x86_pebs_drain_recorded() - drain the buffer if its records have counter values
 * @cpuc: state of this CPU
 *
 * A record has the values of other events' counters. The driver must show these values in the
 * sample before the counters' events are updated, moved or removed. IRQs off, or NMI.
 */
void x86_pebs_drain_recorded(struct corepmu_cpu *cpuc)
{
	if (this_cpu_read(x86_pebs.recorded.members))
		x86_pebs_drain(cpuc, cpuc->regs);
}

/**
 * x86_pebs_overflow() - drain the buffer if the overflow status reports records
 * @cpuc: state of this CPU
 * @overflowed: bits of the overflow status, acknowledged
 *
 * From the overflow interrupt.
 *
 * Return: @overflowed without the PEBS bit and the bits of precise counters
 */
u64 x86_pebs_overflow(struct corepmu_cpu *cpuc, u64 overflowed)
{
	u64 ds_bit = to_x86(cpuc->pmu)->ds_bit;

	if (overflowed & ds_bit)
		drain_buffer(cpuc, cpuc->regs, true);
	overflowed &= ~ds_bit;

	return overflowed ? overflowed & ~x86_precise_counters(cpuc) : 0;
}
