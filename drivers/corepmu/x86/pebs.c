// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: precise samples of Intel's CPUs (PEBS with a debug store)
 *
 * SDM volume 3, "Processor Event Based Sampling (PEBS)". When a counter overflows that
 * IA32_PEBS_ENABLE names, the CPU writes a record, sets the counter to what the debug store
 * has for it, and goes on; once there are so many records it interrupts, with bit 62 of the
 * status. The counter's own bit means nothing then. Set to 0 it counts what has come since the
 * overflow: for counts and periods it is as any other, and each record interrupts. Set to the
 * next period, which is fixed then, records may gather.
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
#include <corepmu/ksyms.h>
#include <corepmu/pmu.h>
#include <corepmu/precise.h>

#include "intel.h"
#include "msr.h"
#include "pebs.h"
#include "x86.h"

/**
 * struct pebs - a CPU's records
 * @busy: they are being made samples of
 * @data: what those to come are to have: IA32_PEBS_DATA_CFG
 * @programmed: what that register has
 * @size: how long those to come are
 * @latency: cycles that loads which are counted take at least: MSR_PEBS_LD_LAT_THRESHOLD, or 0
 * @threshold: what that register has
 * @gathering: there is no interrupt before there are many, and the CPU sets counters to their
 *	next period itself
 * @now: local_clock() when records began to be made samples of
 * @now_tsc: the time stamp counter of then
 * @period: of each counter that has a record, the period that has ended
 * @reload: what the CPU sets each counter back by, while @gathering
 * @nr: how many records there are of each counter
 * @longest: how much the counter that counted most was set back by, with these
 * @large: one of the events may have its records gather
 * @told: the debug store and IA32_PEBS_ENABLE have what events that do not gather need
 * @enabled: the counters that IA32_PEBS_ENABLE names
 * @sample: what samples are made in, while @busy
 *
 * Only the CPU itself touches it, with interrupts disabled; an NMI leaves it alone while @busy.
 */
struct pebs {
	bool	busy;
	u64	data;
	u64	programmed;
	size_t	size;
	u64	latency;
	u64	threshold;
	bool	gathering;
	u64	now;
	u64	now_tsc;
	u64	period[COREPMU_MAX_COUNTERS];
	u64	reload[COREPMU_MAX_COUNTERS];
	u16	nr[COREPMU_MAX_COUNTERS];
	u64	longest;
	bool	large;
	bool	told;
	u64	enabled;
	struct x86_pebs_sample sample;
};

static DEFINE_PER_CPU(struct pebs, pebs);

/*
 * An interrupt after so many counts has let the CPU get on. Its samples are then limited by perf
 * core alone (perf_sample_event_took()), as with the built-in driver: stretched periods would not
 * make fewer of them before they are too long to gather.
 */
#define LONG_WAY	4096

/* SDM volume 3, figure "Layout of IA32_PEBS_ENABLE MSR": LL_EN_PMC0 and up, before format 4 */
#define LATENCY_SHIFT	32

static const struct x86_desc *to_desc(const struct corepmu_cpu *cpuc)
{
	return to_x86(cpuc->pmu);
}

static bool is_precise(const struct perf_event *event)
{
	return event && (event->hw.flags & COREPMU_EVENT_PRECISE);
}

/* Those of @counters that precise events are on */
static u64 precise_of(const struct corepmu_cpu *cpuc, u64 counters)
{
	u64 precise = 0;

	for (; counters; counters &= counters - 1) {
		int idx = __ffs64(counters);

		if (is_precise(cpuc->events[idx]))
			precise |= BIT_ULL(idx);
	}

	return precise;
}

/**
 * x86_pebs_counters() - counters whose overflows are told by records
 * @cpuc: this CPU's state
 *
 * IRQs off, or NMI.
 *
 * Return: a bit for each
 */
u64 x86_pebs_counters(const struct corepmu_cpu *cpuc)
{
	return cpuc->precise_users ? precise_of(cpuc, cpuc->used) : 0;
}

static bool pebs_drain(struct corepmu_cpu *cpuc, struct pt_regs *regs);

/* Events have come or gone: what are records to have now? */
static void pebs_change(struct corepmu_cpu *cpuc)
{
	const struct x86_desc *desc = to_desc(cpuc);
	struct pebs *p = this_cpu_ptr(&pebs);
	struct pt_regs none = { };
	u64 left, data = 0;

	/* How they are counted may change. */
	if (p->gathering)
		pebs_drain(cpuc, &none);
	p->latency = 0;
	p->large = false;
	p->told = false;
	for (left = precise_of(cpuc, cpuc->used); left; left &= left - 1) {
		const struct perf_event *event = cpuc->events[__ffs64(left)];

		if (desc->pebs_all)
			data |= x86_pebs_data(event);
		if (event->hw.flags & EVENT_LATENCY)
			p->latency = event->hw.extra_reg.config;
		p->large |= !!(event->hw.flags & COREPMU_EVENT_LARGE);
	}
	p->data = data;
	p->size = x86_pebs_size(desc->pebs_format, data);
}

/*
 * The kernel tells KVM which registers to switch for the built-in driver alone
 * (perf_guest_get_msrs()): in a guest the CPU would write to the same address of that. So
 * events get no records from when KVM takes the CPU on.
 */
static noinline void tell_of_guests(void)
{
	pr_warn_once("KVM has taken a CPU: there are no precise samples while it has\n");
}

/*
 * Is the event's period one that a counter can be set to? Perf core may change it any time. And if
 * less was left of the last one than a counter can be set to, this overflow comes late: the next
 * is to be the sooner, not a whole period after it.
 */
static bool can_reload(const struct corepmu_cpu *cpuc, const struct perf_event *event)
{
	u64 period = event->hw.sample_period;
	s64 least = event->hw.event_base_rdpmc;

	return (event->hw.flags & COREPMU_EVENT_LARGE) && !corepmu_precise_interrupts(event) &&
	       local64_read(&event->hw.period_left) >= least && period >= least &&
	       period <= min_t(u64, event->hw.event_base >> 1, cpuc->pmu->max_left);
}

/* One that cannot wait has all interrupt. */
static bool all_can_gather(const struct corepmu_cpu *cpuc, u64 counters)
{
	for (; counters; counters &= counters - 1)
		if (!can_reload(cpuc, cpuc->events[__ffs64(counters)]))
			return false;

	return true;
}

static unsigned int reset_slot(const struct corepmu_cpu *cpuc, int idx)
{
	if (idx < FIXED_COUNTER_BASE)
		return idx;

	return idx - FIXED_COUNTER_BASE + (to_desc(cpuc)->pebs_format <= PEBS_FORMAT_ADAPTIVE ?
					   DS_RESET_FIXED_FMT4 : DS_RESET_FIXED);
}

/* Room for a record of each counter, which may come while the interrupt is on its way */
static u64 gathering_threshold(const struct corepmu_cpu *cpuc, const struct x86_ds *ds, size_t size)
{
	return ds->maximum - hweight64(cpuc->pmu->counters) * size;
}

static void set_resets(struct corepmu_cpu *cpuc, struct x86_ds *ds, u64 counters)
{
	struct pebs *p = this_cpu_ptr(&pebs);

	for (; counters; counters &= counters - 1) {
		int idx = __ffs64(counters);
		const struct hw_perf_event *hwc = &cpuc->events[idx]->hw;

		p->reload[idx] = p->gathering ? hwc->sample_period : 0;
		ds->reset[reset_slot(cpuc, idx)] = -p->reload[idx] & hwc->event_base;
	}
}

static void pebs_stop(struct corepmu_cpu *cpuc)
{
	this_cpu_write(pebs.told, false);
	x86_write_msr(MSR_IA32_PEBS_ENABLE, 0);
}

static void pebs_start(struct corepmu_cpu *cpuc)
{
	struct x86_ds *ds = x86_ds_this();
	struct pebs *p = this_cpu_ptr(&pebs);
	u64 left, enable = precise_of(cpuc, cpuc->active);

	if (!ds)
		return;
	if (unlikely(x86_may_run_guests())) {
		pebs_stop(cpuc);
		tell_of_guests();
		return;
	}
	/* After an interrupt: nothing has changed since the last time. */
	if (p->told && p->enabled == enable)
		return;
	p->enabled = enable;

	if (to_desc(cpuc)->pebs_all && p->programmed != p->data) {
		x86_write_msr(MSR_PEBS_DATA_CFG, p->data);
		p->programmed = p->data;
	}
	/* From format 4 on the event itself says it. */
	for (left = p->latency && !to_desc(cpuc)->pebs_all ? enable : 0; left; left &= left - 1)
		if (cpuc->events[__ffs64(left)]->hw.flags & EVENT_LATENCY)
			enable |= (left & -left) << LATENCY_SHIFT;
	if (p->latency && p->threshold != p->latency) {
		x86_write_msr(MSR_PEBS_LD_LAT_THRESHOLD, p->latency);
		p->threshold = p->latency;
	}
	ds->maximum = ds->base + X86_PEBS_BUFFER_SIZE / p->size * p->size;
	/* Records that are there are counted as they were written. */
	if (ds->index == ds->base)
		p->gathering = all_can_gather(cpuc, precise_of(cpuc, cpuc->used));
	set_resets(cpuc, ds, precise_of(cpuc, cpuc->active));
	ds->threshold = p->gathering ? gathering_threshold(cpuc, ds, p->size) :
				       ds->base + p->size;
	x86_write_msr(MSR_IA32_PEBS_ENABLE, enable);
	p->told = !p->large && !p->gathering;
}

/* Records */

/*
 * When the event happened, by the clock of samples; that of one that has just come is now, and
 * so is any where nobody knows how fast the time-stamp counter is.
 */
static u64 time_of(const struct x86_pebs_record *record)
{
	const struct pebs *p = this_cpu_ptr(&pebs);

	if (record->tsc >= p->now_tsc || !tsc_khz)
		return p->now;

	return p->now - mul_u64_u32_div(p->now_tsc - record->tsc, USEC_PER_SEC, tsc_khz);
}

/* Of a record that has not gathered it is now. */
static u64 sample_time(const struct perf_event *event, const struct x86_pebs_record *record)
{
	if (!(event->attr.sample_type & PERF_SAMPLE_TIME) || !this_cpu_read(pebs.gathering))
		return 0;

	return time_of(record);
}

/* A record of which it cannot be told where it ends: neither can it of those after it. */
static noinline void tell_of_garbage(const void *at)
{
	pr_warn_once("a record of a precise event makes no sense (%#llx ...): it is left out, and those after it\n",
		     *(const u64 *)at);
}

/*
 * The CPU has set the counter back with each record: it is ahead of what it was by so much less.
 * What it has is what is left of the period. One that is stopped has no records.
 */
static void account_gathered(struct corepmu_cpu *cpuc, int idx)
{
	struct perf_event *event = cpuc->events[idx];
	struct hw_perf_event *hwc = &event->hw;
	struct pebs *p = this_cpu_ptr(&pebs);
	u64 now;

	p->period[idx] = p->reload[idx];
	p->longest = max(p->longest, p->nr[idx] * p->reload[idx]);
	if (hwc->state & PERF_HES_STOPPED)
		return;

	now = corepmu_extend_sign(cpuc->pmu->backend->read(cpuc, hwc), hwc->event_base);
	local64_add(p->nr[idx] * p->reload[idx] + now - local64_read(&hwc->prev_count),
		    &event->count);
	local64_set(&hwc->prev_count, now);
	local64_set(&hwc->period_left, -now);
}

/* All counters are brought up to date before perf core hears of any. Returns whose samples are. */
static u64 account_records(struct corepmu_cpu *cpuc, const void *at, const void *end)
{
	struct pebs *p = this_cpu_ptr(&pebs);
	u64 mine = x86_pebs_counters(cpuc), overflowed, ended = 0, left;

	at = x86_pebs_count(to_desc(cpuc)->pebs_format, at, end, mine, p->nr, &overflowed);
	if (at)
		tell_of_garbage(at);
	if (p->gathering) {
		p->longest = 0;
		for (left = mine; left; left &= left - 1)
			account_gathered(cpuc, __ffs64(left));
		return overflowed;
	}

	for (; overflowed; overflowed &= overflowed - 1) {
		int idx = __ffs64(overflowed);

		if (corepmu_precise_account(cpuc, cpuc->events[idx], &p->period[idx]))
			ended |= BIT_ULL(idx);
	}

	return ended;
}

/*
 * The records of one counter, to all of which the CPU has set it: they become samples many at a
 * time, but for the last of an interrupt. None is left out of those that account_records() has
 * counted, and that room is kept for: they stay as they are, and nobody is called in between who
 * might take the event away.
 */
static noinline void emit_batches(struct corepmu_cpu *cpuc, const void *at, const void *end,
				  int idx, struct pt_regs *regs, bool interrupt)
{
	struct perf_event *event = cpuc->events[idx];
	unsigned int format = to_desc(cpuc)->pebs_format;
	struct pebs *p = this_cpu_ptr(&pebs);
	struct x86_pebs_sample *sample = &p->sample;
	unsigned int left = p->nr[idx] - interrupt;
	struct perf_output_handle handle;
	struct x86_pebs_record record;
	bool single = false;
	int room = 0;

	for (; at < end && x86_pebs_parse(format, at, end - at, &record); at += record.size) {
		if (!(record.counters & BIT_ULL(idx)))
			continue;
		sample->time = sample_time(event, &record);
		x86_pebs_fill(cpuc, event, p->period[idx], &record, regs, sample);
		if (room) {
			corepmu_precise_batch_add(&handle, event, &sample->data,
						  &sample->shown.regs);
		} else {
			if (left && !single)
				room = corepmu_precise_batch(&handle, event, &sample->data,
							     &sample->shown.regs, left);
			single = room <= 0;
			/* It is lost: those that follow may find less room enough. */
			if (!room)
				corepmu_precise_emit(cpuc, event, &sample->data,
						     &sample->shown.regs, left);
			room = max(room, 0);
		}
		if (room && !--room)
			corepmu_precise_batch_end(&handle);
		if (!left--)
			break;
	}
}

static void emit_records(struct corepmu_cpu *cpuc, const void *at, const void *end, u64 ended,
			 struct pt_regs *regs, bool interrupt)
{
	unsigned int format = to_desc(cpuc)->pebs_format;
	struct pebs *p = this_cpu_ptr(&pebs);
	struct x86_pebs_sample *sample = &p->sample;
	struct x86_pebs_record record;

	if (p->gathering && is_power_of_2(ended)) {
		emit_batches(cpuc, at, end, __ffs64(ended), regs, interrupt);
		return;
	}

	for (; ended && at < end && x86_pebs_parse(format, at, end - at, &record);
	     at += record.size) {
		u64 left = record.counters & ended;

		/* A counter that goes on from 0 overflows once between two interrupts. */
		if (!p->gathering)
			ended &= ~left;
		for (; left; left &= left - 1) {
			int idx = __ffs64(left);
			struct perf_event *event = cpuc->events[idx];
			/* An interrupt is one overflow of each event, a drain without one none. */
			bool more = p->gathering && (--p->nr[idx] || !interrupt);

			if (!is_precise(event))
				continue;
			sample->time = sample_time(event, &record);
			x86_pebs_fill(cpuc, event, p->period[idx], &record, regs, sample);
			corepmu_precise_emit(cpuc, event, &sample->data, &sample->shown.regs, more);
		}
	}
}

static bool drain(struct corepmu_cpu *cpuc, struct pt_regs *regs, bool interrupt)
{
	struct pebs *p = this_cpu_ptr(&pebs);
	struct x86_ds *ds = x86_ds_this();
	bool resume = cpuc->running;
	const void *base, *end;
	u64 ended;

	if (p->busy || !ds)
		return false;

	p->busy = true;
	barrier();
	/* Not while an event is stopped, as a rule: perf core stops the PMU before. */
	if (unlikely(resume))
		corepmu_stop_cpu(cpuc);
	base = (const void *)(unsigned long)ds->base;
	end = (const void *)(unsigned long)min(ds->index, ds->base + X86_PEBS_BUFFER_SIZE);
	if (base < end || p->gathering) {
		if (p->gathering) {
			p->now = local_clock();
			p->now_tsc = rdtsc();
		}
		ended = account_records(cpuc, base, end);
		emit_records(cpuc, base, end, ended, regs, interrupt);
		ds->index = ds->base;
		if (interrupt && p->gathering && p->longest >= LONG_WAY)
			corepmu_overflow_excuse(cpuc);
	}
	barrier();
	p->busy = false;
	if (unlikely(resume))
		corepmu_start_cpu(cpuc);

	return true;
}

static bool pebs_drain(struct corepmu_cpu *cpuc, struct pt_regs *regs)
{
	return drain(cpuc, regs, false);
}

/**
 * x86_pebs_update() - bring events up to date whose counters the CPU sets by itself
 * @cpuc: this CPU's state
 *
 * All records become samples: they say how often that was. IRQs off, or NMI.
 *
 * Return: false while it does not: then they are as any other
 */
bool x86_pebs_update(struct corepmu_cpu *cpuc)
{
	struct pt_regs none = { };

	if (!this_cpu_read(pebs.gathering))
		return false;
	pebs_drain(cpuc, cpuc->regs ?: &none);

	return true;
}

/**
 * x86_pebs_overflow() - overflows have been acknowledged
 * @cpuc: this CPU's state
 * @overflowed: bits of the status
 *
 * From the overflow interrupt.
 *
 * Return: @overflowed, without the bits that records stand for
 */
u64 x86_pebs_overflow(struct corepmu_cpu *cpuc, u64 overflowed)
{
	u64 ds_bit = to_desc(cpuc)->ds_bit, precise = x86_pebs_counters(cpuc);

	if ((overflowed & ds_bit) && drain(cpuc, cpuc->regs, true))
		cpuc->overflow_handled++;

	return overflowed & ~(ds_bit | precise);
}

const struct corepmu_precise_backend x86_pebs_backend = {
	.open		= x86_ds_open,
	.close		= x86_ds_close,
	.fits		= x86_pebs_fits,
	.change		= pebs_change,
	.start		= pebs_start,
	.stop		= pebs_stop,
	.drain		= pebs_drain,
};

/* The registers */

/**
 * x86_pebs_reset() - nothing is recorded, and nothing is known of the registers
 * @cpuc: this CPU's state
 *
 * From the backend's reset().
 */
void x86_pebs_reset(struct corepmu_cpu *cpuc)
{
	if (!cpuc->pmu->precise_backend)
		return;

	pebs_stop(cpuc);
	this_cpu_write(pebs.threshold, 0);
	if (to_desc(cpuc)->pebs_all) {
		x86_write_msr(MSR_PEBS_DATA_CFG, 0);
		this_cpu_write(pebs.programmed, 0);
	}
	x86_ds_point(true);
}

/**
 * x86_pebs_quiesce() - nothing is to be recorded on this CPU for now
 * @cpuc: this CPU's state
 *
 * From the backend's quiesce().
 */
void x86_pebs_quiesce(struct corepmu_cpu *cpuc)
{
	if (cpuc->pmu->precise_backend)
		x86_ds_point(false);
}
