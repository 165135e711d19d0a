// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel PEBS: start and stop, with a debug store or architectural PEBS
 *
 * SDM volume 3, "Processor Event Based Sampling (PEBS)". When a counter in IA32_PEBS_ENABLE
 * overflows, the CPU writes a record, sets the counter to the reset value in the debug store, and
 * goes on. When the buffer has reached its threshold, the CPU raises a PMI with bit 62 of the
 * status; the counter's own status bit means nothing. There are two modes:
 *
 * - Reset value 0: the counter then holds the counts since the overflow. Counts and periods work as
 *   for other events, and each record raises a PMI.
 * - Reload in hardware: the reset value starts the next period, whose length is fixed. With large
 *   PEBS a PMI comes only after many records.
 *
 * Architectural PEBS (arch/core.c) reports its threshold in bit 54, and has the reset values in
 * IA32_PMC_GPn_CFG_C.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <corepmu/counter.h>
#include <corepmu/ksyms.h>
#include <corepmu/pmu.h>
#include <corepmu/precise.h>

#include "pebs.h"
#include "../intel/intel.h"
#include "../kvm/kvm.h"
#include "../msr.h"
#include "../x86.h"

DEFINE_PER_CPU(struct x86_pebs, x86_pebs);

/*
 * Most records that one NMI converts to samples. The kernel warns of an NMI handler that takes 1 ms
 * (nmi_longest_ns in arch/x86/kernel/nmi.c); a sample takes 600 to 1,100 instructions.
 */
#define MAX_RECORDS	512

/* Position of LL_EN_PMC0: SDM volume 3, figure "Layout of IA32_PEBS_ENABLE MSR", before format 4 */
#define LATENCY_SHIFT	32

/* Longest period that architectural PEBS can reload: limited by the bits of IA32_PMC_GPn_CFG_C */
#define ARCH_MAX_RELOAD	BIT_ULL(31)

static const struct x86_desc *to_desc(const struct corepmu_cpu *cpuc)
{
	return to_x86(cpuc->pmu);
}

/* Return the counters of @counters that have a precise event. */
static noinline u64 precise_of(const struct corepmu_cpu *cpuc, u64 counters)
{
	u64 precise = 0;

	for (; counters; counters &= counters - 1) {
		int idx = __ffs64(counters);

		if (x86_pebs_is_precise(cpuc->events[idx]))
			precise |= BIT_ULL(idx);
	}

	return precise;
}

/**
 * x86_precise_counters() - return the counters whose overflows are reported by PEBS records
 * @cpuc: state of this CPU
 *
 * IRQs off, or NMI.
 *
 * Return: a bit for each counter
 */
u64 x86_precise_counters(const struct corepmu_cpu *cpuc)
{
	return corepmu_uses(cpuc, COREPMU_FEATURE_PRECISE) ? precise_of(cpuc, cpuc->used) : 0;
}

/*
 * Other software may have written the PEBS registers. Mark the values of the registers as unknown,
 * so that the next start of the PMU writes them, and write the buffer's address again. Records of
 * other events that have not been drained stay.
 */
static void pebs_forget(struct corepmu_cpu *cpuc)
{
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);
	struct x86_ds *ds = x86_ds_this();
	u64 left;

	p->written_latency = 0;
	p->written_data_cfg = MSR_UNKNOWN;
	left = to_desc(cpuc)->pebs_counters | to_desc(cpuc)->pebs_recorded;
	if (!x86_pebs_is_arch(cpuc))
		left = 0;
	for (; left; left &= left - 1)
		x86_forget_cfg_c(__ffs64(left));
	if (!ds)
		return;
	if (!corepmu_uses(cpuc, COREPMU_FEATURE_PRECISE))
		ds->index = ds->base;
	if (!x86_pebs_is_arch(cpuc) || !corepmu_uses(cpuc, COREPMU_FEATURE_PRECISE))
		x86_ds_point(true);
}

/* A precise event was placed or deleted: compute record groups, record size and load latency. */
static void pebs_change(struct corepmu_cpu *cpuc)
{
	const struct x86_desc *desc = to_desc(cpuc);
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);
	u64 left, data = 0;

	/* Drain first: the new set of events may change how records are counted. */
	if (p->hw_reload)
		x86_pebs_drain(cpuc, NULL);
	p->latency = 0;
	p->large_allowed = false;
	p->up_to_date = false;
	p->recorded.wanted = false;
	for (left = precise_of(cpuc, cpuc->used); left; left &= left - 1) {
		const struct perf_event *event = cpuc->events[__ffs64(left)];

		if (desc->pebs_all)
			data |= x86_pebs_data(event);
		if (event->hw.flags & EVENT_LATENCY)
			p->latency = event->hw.extra_reg.config;
		p->large_allowed |= !!(event->hw.flags & COREPMU_EVENT_LARGE);
		p->recorded.wanted |= x86_pebs_counters_wanted(event);
	}
	p->data_cfg = data;
	p->size = x86_pebs_size(desc->pebs_format, data);
	if (!p->recorded.wanted)
		p->recorded.members = 0;
}

/*
 * Check whether the CPU can reload the event's counter with its period. perf core may change the
 * period at any time. If less of the period is left than a counter can be set to, the overflow
 * comes late. The next period must then be shorter: the CPU cannot reload the counter for that one.
 */
static bool can_reload_in_hw(const struct corepmu_cpu *cpuc, const struct perf_event *event)
{
	u64 period = event->hw.sample_period;
	s64 least = corepmu_hw_min_period(&event->hw);

	return (event->hw.flags & COREPMU_EVENT_LARGE) && !corepmu_precise_interrupts(event) &&
	       x86_pebs_counters_complete(cpuc, event) &&
	       local64_read(&event->hw.period_left) >= least && period >= least &&
	       period <= min_t(u64, corepmu_hw_value_mask(&event->hw) >> 1, cpuc->pmu->max_left) &&
	       (!x86_pebs_is_arch(cpuc) || period <= ARCH_MAX_RELOAD);
}

/* Check all events: one event that does not allow large PEBS requires a PMI for each record. */
static bool all_can_reload_in_hw(const struct corepmu_cpu *cpuc, u64 counters)
{
	for (; counters; counters &= counters - 1)
		if (!can_reload_in_hw(cpuc, cpuc->events[__ffs64(counters)]))
			return false;

	return true;
}

/*
 * Check for an event with auto counter reload (ACR). ACR reloads a counter with its period, and
 * uses the same reset value as PEBS. So after a record, too, the CPU reloads the counter with its
 * next period, even if each record raises a PMI.
 */
static bool has_acr_event(const struct corepmu_cpu *cpuc, u64 counters)
{
	for (; counters; counters &= counters - 1)
		if (cpuc->events[__ffs64(counters)]->hw.flags & COREPMU_EVENT_ACR)
			return true;

	return false;
}

/* Choose the mode. The buffer must be empty: records are counted in the mode that wrote them. */
static void choose_mode(const struct corepmu_cpu *cpuc, struct x86_pebs *p)
{
	u64 counters = precise_of(cpuc, cpuc->used);

	p->large = all_can_reload_in_hw(cpuc, counters);
	p->hw_reload = p->large || (corepmu_uses(cpuc, COREPMU_FEATURE_ACR) &&
				    has_acr_event(cpuc, counters));
}

static unsigned int reset_slot(const struct corepmu_cpu *cpuc, int idx)
{
	if (idx < FIXED_COUNTER_BASE)
		return idx;

	return idx - FIXED_COUNTER_BASE + (to_desc(cpuc)->pebs_format <= PEBS_FORMAT_ADAPTIVE ?
					   DS_RESET_FIXED_FMT4 : DS_RESET_FIXED);
}

/* Leave room for one more record of each counter: these may be written before the PMI is taken. */
static u64 large_threshold(const struct corepmu_cpu *cpuc, const struct x86_ds *ds, size_t size)
{
	return min(ds->maximum - hweight64(cpuc->pmu->counters) * size,
		   ds->base + MAX_RECORDS * size);
}

/* Set the counters' reset values. */
static void set_resets(struct corepmu_cpu *cpuc, struct x86_ds *ds, u64 counters)
{
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);

	for (; counters; counters &= counters - 1) {
		int idx = __ffs64(counters);
		const struct hw_perf_event *hwc = &cpuc->events[idx]->hw;

		p->reload[idx] = p->large || (hwc->flags & COREPMU_EVENT_ACR) ?
				 hwc->sample_period : 0;
		ds->reset[reset_slot(cpuc, idx)] = -p->reload[idx] & corepmu_hw_value_mask(hwc);
	}
}

static void set_latency(struct x86_pebs *p)
{
	if (!p->latency || p->written_latency == p->latency)
		return;
	x86_write_msr(MSR_PEBS_LD_LAT_THRESHOLD, p->latency);
	p->written_latency = p->latency;
}

/*
 * Set the reset values of @counters, and the threshold: without large PEBS, one record of @smallest
 * bytes reaches the threshold. Records must be counted in the mode in which they were written. So
 * choose a mode only while the buffer is empty.
 */
static void set_buffer(struct corepmu_cpu *cpuc, struct x86_ds *ds, u64 counters, size_t smallest)
{
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);

	if (ds->index == ds->base)
		choose_mode(cpuc, p);
	set_resets(cpuc, ds, counters);
	ds->threshold = p->large ? large_threshold(cpuc, ds, p->size) : ds->base + smallest;
}

static void start_arch(struct corepmu_cpu *cpuc, struct x86_ds *ds, u64 counters)
{
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);
	unsigned int rewinds = READ_ONCE(p->rewinds);

	set_latency(p);
	x86_pebs_arch_fetch(ds);
	ds->maximum = ds->base + X86_PEBS_BUFFER_SIZE;
	set_buffer(cpuc, ds, counters, X86_PEBS_ARCH_UNIT);
	x86_pebs_arch_start(cpuc, ds, counters, rewinds);
}

static void write_enable(u64 enable)
{
	this_cpu_write(x86_pebs.enabled, enable);
	x86_write_msr(MSR_IA32_PEBS_ENABLE, enable);
}

/**
 * x86_pebs_enabled() - return the value of IA32_PEBS_ENABLE on this CPU
 *
 * IRQs off, or NMI.
 *
 * Return: the register's value, 0 if the CPU has no such register
 */
u64 x86_pebs_enabled(void)
{
	return this_cpu_read(x86_pebs.enabled);
}

static void start_ds(struct corepmu_cpu *cpuc, struct x86_ds *ds, u64 counters)
{
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);
	u64 enable = counters, left;

	if (to_desc(cpuc)->pebs_all && p->written_data_cfg != p->data_cfg) {
		x86_write_msr(MSR_PEBS_DATA_CFG, p->data_cfg);
		p->written_data_cfg = p->data_cfg;
	}
	/* Before format 4, load latency needs a bit in IA32_PEBS_ENABLE. */
	for (left = p->latency && !to_desc(cpuc)->pebs_all ? counters : 0; left; left &= left - 1)
		if (cpuc->events[__ffs64(left)]->hw.flags & EVENT_LATENCY)
			enable |= (left & -left) << LATENCY_SHIFT;
	set_latency(p);
	ds->maximum = ds->base + X86_PEBS_BUFFER_SIZE / p->size * p->size;
	set_buffer(cpuc, ds, counters, p->size);
	write_enable(enable);
}

static void pebs_stop(struct corepmu_cpu *cpuc)
{
	this_cpu_write(x86_pebs.up_to_date, false);
	if (x86_pebs_is_arch(cpuc)) {
		x86_pebs_arch_stop();
		return;
	}
	write_enable(0);
}

/*
 * Restart precise events after KVM has released the CPU. While KVM owned the CPU, no record was
 * written. If a period ended meanwhile, set the counter to overflow with its next count: otherwise
 * the counter would overflow only after its full range. The counters are stopped. An NMI that comes
 * now does not start them; the caller does.
 *
 * A late NMI may sample another event, and perf core may then stop this event, between the writes
 * of prev_count and the counter. So this event is marked stopped meanwhile, as in overflow_soon()
 * in core/counter.c.
 */
static noinline void resume_records(struct corepmu_cpu *cpuc)
{
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);
	u64 left;

	/* An NMI during a drain: the end of the drain starts the PMU again. */
	if (p->busy)
		return;
	cpuc->running = false;
	barrier();
	p->owned_by_kvm = false;
	if (p->hw_reload)
		x86_pebs_drain(cpuc, cpuc->regs);
	for (left = precise_of(cpuc, cpuc->active); left; left &= left - 1) {
		struct perf_event *event = cpuc->events[__ffs64(left)];
		struct hw_perf_event *hwc = &event->hw;
		int state;

		if (!p->hw_reload)
			corepmu_counter_update(cpuc, event);
		if (local64_read(&hwc->prev_count) < 0)
			continue;
		if (local64_read(&hwc->period_left) <= 0)
			corepmu_counter_postpone(hwc);
		state = xchg(&hwc->state, PERF_HES_STOPPED | PERF_HES_UPTODATE);
		corepmu_counter_set(cpuc, event, local64_read(&hwc->period_left));
		barrier();
		hwc->state = state;
		if (hwc->flags & COREPMU_EVENT_MAPPED)
			corepmu_update_userpage(event);
	}
	barrier();
	cpuc->running = true;
}

/*
 * Write the debug store and the registers. Not inline: most starts end an interrupt, and have
 * nothing to write.
 */
static noinline void start_changed(struct corepmu_cpu *cpuc)
{
	struct x86_ds *ds = x86_ds_this();
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);
	u64 counters;

	if (!ds)
		return;
	if (unlikely(p->owned_by_kvm))
		resume_records(cpuc);
	p->active = cpuc->active;
	counters = precise_of(cpuc, p->active);
	if (unlikely(p->recorded.wanted))
		x86_pebs_counters_choose(cpuc);
	if (x86_pebs_is_arch(cpuc))
		start_arch(cpuc, ds, counters);
	else
		start_ds(cpuc, ds, counters);
	p->up_to_date = !p->large_allowed && !p->hw_reload && !p->recorded.wanted;
}

/*
 * If KVM does not disable counters for its guests (see x86/kvm/vmx.c), the CPU would write records
 * to the same linear address of a guest. So the driver does not enable PEBS on a CPU that KVM owns.
 */
static noinline void leave_to_kvm(struct corepmu_cpu *cpuc)
{
	pebs_stop(cpuc);
	this_cpu_write(x86_pebs.owned_by_kvm, true);
	pr_warn_once("KVM has enabled VMX on a CPU: no precise samples until KVM disables VMX; unload KVM\n");
}

static void pebs_start(struct corepmu_cpu *cpuc)
{
	if (unlikely(!x86_pebs_avoids_guests &&
		     (x86_may_run_guests() || this_cpu_read(x86_vmx_is_enabling))))
		leave_to_kvm(cpuc);
	else if (!this_cpu_read(x86_pebs.up_to_date) ||
		 this_cpu_read(x86_pebs.active) != cpuc->active)
		start_changed(cpuc);
}

const struct corepmu_precise_backend x86_pebs_backend = {
	.open		= x86_ds_open,
	.close		= x86_ds_close,
	.fits		= x86_pebs_fits,
	.forget		= pebs_forget,
	.change		= pebs_change,
	.start		= pebs_start,
	.stop		= pebs_stop,
	.drain		= x86_pebs_drain,
};

/* Registers */

/**
 * x86_pebs_reset() - disable PEBS and bring the PEBS registers to a known state
 * @cpuc: state of this CPU
 *
 * From the backend's reset().
 */
void x86_pebs_reset(struct corepmu_cpu *cpuc)
{
	if (!cpuc->pmu->precise_backend)
		return;

	pebs_stop(cpuc);
	this_cpu_write(x86_pebs.written_latency, 0);
	if (x86_pebs_is_arch(cpuc)) {
		x86_pebs_arch_reset(to_desc(cpuc));
		x86_ds_point(true);
		return;
	}
	if (to_desc(cpuc)->pebs_all) {
		x86_write_msr(MSR_PEBS_DATA_CFG, 0);
		this_cpu_write(x86_pebs.written_data_cfg, 0);
	}
	x86_ds_point(true);
}

/**
 * x86_pebs_quiesce() - clear the buffer's address on this CPU, so that the CPU writes no record
 * @cpuc: state of this CPU
 *
 * From the backend's quiesce().
 */
void x86_pebs_quiesce(struct corepmu_cpu *cpuc)
{
	if (cpuc->pmu->precise_backend)
		x86_ds_point(false);
}
