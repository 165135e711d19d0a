// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: counters, event selections, and their registers
 *
 * There are two ways to start and stop all counters:
 *
 * - With a global control register (Intel from architectural perfmon 2, AMD PerfMonV2), a counter's
 *   own enable bit is set when its event is placed, and stays set. One write of the global register
 *   starts or stops all counters (x86_global_backend).
 * - Without this register, or with a built-in driver that writes it too, each counter is enabled
 *   and disabled separately (x86_each_backend). Zhaoxin's ZX-C uses x86_each_backend, too: the
 *   CPU clears no overflow flag while that register is 0.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/atomic.h>
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/counter.h>
#include <corepmu/pmu.h>
#include <corepmu/precise.h>

#include "amd/amd.h"
#include "intel/intel.h"
#include "kvm/kvm.h"
#include "msr.h"
#include "pebs/precise.h"
#include "x86.h"

static bool is_fixed(int idx)
{
	return idx >= FIXED_COUNTER_BASE;
}

/* A topdown metric has no register: its counter exists in the driver only, see topdown.c. */
static bool is_metric(int idx)
{
	return idx >= METRIC_COUNTER_BASE;
}

#define FIXED_COUNTERS	GENMASK_ULL(METRIC_COUNTER_BASE - 1, FIXED_COUNTER_BASE)

static bool fixed_has(const struct corepmu_cpu *cpuc, int idx, u64 bits)
{
	unsigned int shift = FIXED_CTRL_SHIFT(idx - FIXED_COUNTER_BASE);

	return (cpuc->shared_select >> shift & FIXED_CTRL_BITS) == bits;
}

/*
 * Change the four bits of one fixed counter in the register that all of them share. An NMI may stop
 * and start the other fixed counters meanwhile. If the NMI comes between the read and the exchange
 * of the shadow, the exchange fails. If it comes between the exchange and the register write, the
 * shadow differs afterwards. Either way the loop writes again, with the bits that the NMI has left.
 */
static void write_fixed(struct corepmu_cpu *cpuc, int idx, u64 bits)
{
	unsigned int shift = FIXED_CTRL_SHIFT(idx - FIXED_COUNTER_BASE);
	u64 old, ctrl;

	do {
		old = READ_ONCE(cpuc->shared_select);
		ctrl = (old & ~(FIXED_CTRL_BITS << shift)) | bits << shift;
		if (cmpxchg_local(&cpuc->shared_select, old, ctrl) == old)
			x86_write_msr_inline(MSR_CORE_PERF_FIXED_CTR_CTRL, ctrl);
	} while (READ_ONCE(cpuc->shared_select) != ctrl);
}

/* Return the counter that has the event's value: the even one of a merged pair (amd/core.c). */
static int value_counter(const struct hw_perf_event *hwc)
{
	return unlikely(hwc->flags & COREPMU_EVENT_PAIR) ? hwc->idx - 1 : hwc->idx;
}

/* Bits of a selection that few events have */
#define EVNTSEL_RARE	(EVNTSEL_METRICS_CLEAR | EVNTSEL_ADAPTIVE | EVNTSEL_RDPMC_USR_DISABLE)

static __always_inline u64 fixed_bits(u64 select)
{
	u64 bits = (select & EVNTSEL_INT ? FIXED_CTRL_PMI : 0) |
		   (select & EVNTSEL_OS ? FIXED_CTRL_OS : 0) |
		   (select & EVNTSEL_USR ? FIXED_CTRL_USR : 0);

	if (unlikely(select & EVNTSEL_RARE))
		bits |= (select & EVNTSEL_METRICS_CLEAR ? FIXED_CTRL_METRICS_CLEAR : 0) |
			(select & EVNTSEL_ADAPTIVE ? FIXED_CTRL_ADAPTIVE : 0) |
			(select & EVNTSEL_RDPMC_USR_DISABLE ? FIXED_CTRL_RDPMC_USR_DISABLE : 0);

	return bits;
}

/* Backend with a global control register */

/*
 * An NMI may come between the read of active and the register write, for an overflow from before
 * the stop. If its sample makes perf core stop an event, the NMI clears a bit of active. The write
 * then starts the stopped event's counter again. So compare active afterwards, and write once more.
 */
static noinline void enable_global_otherwise(struct corepmu_cpu *cpuc)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);
	u64 active, host;

	do {
		active = READ_ONCE(cpuc->active);
		host = active;
		if (READ_ONCE(desc->has_guest_only))
			host &= ~x86_vmx_guest_counters(cpuc, active);
		x86_write_msr(desc->global_ctrl, x86_global_ctrl(host));
	} while (unlikely(READ_ONCE(cpuc->active) != active));
}

/* In the usual case x86_enable_global() calls no function, and so saves no registers. */
static void x86_enable_global(struct corepmu_cpu *cpuc)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);
	u64 active;

	if (x86_msr_writes_are_traced() || unlikely(READ_ONCE(desc->has_guest_only))) {
		enable_global_otherwise(cpuc);
		return;
	}
	do {
		active = READ_ONCE(cpuc->active);
		x86_write_msr_untraced(desc->global_ctrl, x86_global_ctrl(active));
	} while (unlikely(READ_ONCE(cpuc->active) != active));
}

static void x86_disable_global(struct corepmu_cpu *cpuc)
{
	x86_write_msr_inline(to_x86(cpuc->pmu)->global_ctrl, 0);
}

/* Check whether the register is known to hold the counter's last selection: corepmu_cpu.trusted. */
static bool is_trusted(const struct corepmu_cpu *cpuc, int idx)
{
	return cpuc->trusted & BIT_ULL(idx);
}

/* Check whether other software has changed the selection: Nehalem needs a workaround then. */
static bool holds_another(const struct x86_desc *desc, int idx, u64 select)
{
	return x86_read_msr(desc->select_msr + idx) != select;
}

/*
 * Select an event on a CPU that needs intel_clear_monitors() before. If an untrusted register still
 * has the selection, nothing is written: a read costs less than the workaround.
 */
static noinline void select_nehalem(struct corepmu_cpu *cpuc, int idx, u64 select)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);

	if (cpuc->selected[idx] == select && !holds_another(desc, idx, select | EVNTSEL_EN))
		return;
	cpuc->selected[idx] = select;
	intel_clear_monitors(cpuc, EVNTSEL_EN, 0);
	x86_write_select(desc, idx, select | EVNTSEL_EN);
}

static __always_inline void select_global(struct corepmu_cpu *cpuc, int idx, u64 select)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);

	if (cpuc->selected[idx] == select && is_trusted(cpuc, idx))
		return;
	if (unlikely(desc->stale_monitors)) {
		select_nehalem(cpuc, idx, select);
		return;
	}
	cpuc->selected[idx] = select;
	x86_write_select(desc, idx, select | EVNTSEL_EN);
}

/* One register write sets the selections of all fixed counters. */
static void select_fixed(struct corepmu_cpu *cpuc, int idx, u64 bits)
{
	if (is_metric(idx) || (fixed_has(cpuc, idx, bits) && is_trusted(cpuc, idx)))
		return;
	write_fixed(cpuc, idx, bits);
	cpuc->trusted |= FIXED_COUNTERS;
}

/*
 * Clear the selection of a merged pair's odd counter after the pair's event was deleted. The
 * counter is disabled.
 */
static noinline void end_merge(struct corepmu_cpu *cpuc, int idx)
{
	x86_write_select(to_x86(cpuc->pmu), idx, 0);
	cpuc->selected[idx] = 0;
}

static noinline void select_pair(struct corepmu_cpu *cpuc, int idx, u64 select)
{
	select_global(cpuc, idx, EVNTSEL_AMD_MERGE);
	select_global(cpuc, idx - 1, select);
}

static __always_inline void select_event(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc)
{
	int idx = hwc->idx;

	if (is_fixed(idx)) {
		select_fixed(cpuc, idx, fixed_bits(hwc->config_base));
		return;
	}
	if (unlikely(hwc->flags & COREPMU_EVENT_PAIR)) {
		select_pair(cpuc, idx, hwc->config_base);
		return;
	}
	if (unlikely(amd_is_merged(cpuc, idx)))
		end_merge(cpuc, idx + 1);
	select_global(cpuc, idx, hwc->config_base);
}

/* Backend that enables each counter separately */

/*
 * An NMI stops the counters of hw_active and starts them again. A counter's bit is set before the
 * counter is enabled and cleared after it is disabled, so that no counter counts during an NMI.
 */

/* An NMI may have switched the counter already: then the bits are equal, and nothing is written. */
static void switch_fixed(struct corepmu_cpu *cpuc, int idx, u64 bits)
{
	if (!is_metric(idx) && !fixed_has(cpuc, idx, bits))
		write_fixed(cpuc, idx, bits);
}

static void enable_one(struct corepmu_cpu *cpuc, int idx)
{
	cpuc->hw_active |= BIT_ULL(idx);
	barrier();
	if (is_fixed(idx))
		switch_fixed(cpuc, idx, fixed_bits(cpuc->selected[idx]));
	else
		x86_write_select(to_x86(cpuc->pmu), idx, cpuc->selected[idx] | EVNTSEL_EN);
	barrier();
	/*
	 * An NMI before the write clears the bit; the write then enables the counter again.
	 * Set the bit once more, or the next NMI would not stop the counter.
	 */
	cpuc->hw_active |= BIT_ULL(idx);
}

static void disable_one(struct corepmu_cpu *cpuc, int idx)
{
	if (is_fixed(idx))
		switch_fixed(cpuc, idx, 0);
	else
		x86_write_select(to_x86(cpuc->pmu), idx, cpuc->selected[idx]);
	barrier();
	cpuc->hw_active &= ~BIT_ULL(idx);
}

static void x86_enable_each(struct corepmu_cpu *cpuc)
{
	u64 change;

	while ((change = READ_ONCE(cpuc->hw_active) ^ READ_ONCE(cpuc->active))) {
		int idx = __ffs64(change);

		/*
		 * Enable the odd counter first and disable it last: without it the even one
		 * miscounts.
		 */
		if ((cpuc->active & BIT_ULL(idx)) && unlikely(amd_is_merged(cpuc, idx)) &&
		    (change & BIT_ULL(idx + 1)))
			idx++;
		if (cpuc->active & BIT_ULL(idx))
			enable_one(cpuc, idx);
		else
			disable_one(cpuc, idx);
	}
}

static void x86_disable_each(struct corepmu_cpu *cpuc)
{
	u64 change;

	while ((change = READ_ONCE(cpuc->hw_active)))
		disable_one(cpuc, __ffs64(change));
}

/* Other software may have written the global control register: write it again. */
static noinline void trust_global(struct corepmu_cpu *cpuc)
{
	cpuc->trusted_others |= COREPMU_TRUST_SHARED;
	x86_write_msr(to_x86(cpuc->pmu)->global_ctrl, x86_each_global_ctrl(to_x86(cpuc->pmu)));
}

/*
 * Only note the selection: enable_one() writes it. For a fixed counter, enable_one() writes the
 * selections of all fixed counters.
 */
static __always_inline void note_selection(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);
	int idx = value_counter(hwc);

	if (desc->global_ctrl && !is_trusted(cpuc, idx) &&
	    !(cpuc->trusted_others & COREPMU_TRUST_SHARED))
		trust_global(cpuc);

	if (unlikely(desc->stale_monitors) && !is_fixed(idx) &&
	    (cpuc->selected[idx] != hwc->config_base ||
	     (!is_trusted(cpuc, idx) && holds_another(desc, idx, hwc->config_base)))) {
		cpuc->selected[idx] = hwc->config_base;
		intel_clear_monitors(cpuc, 0, x86_each_global_ctrl(desc));
	}
	cpuc->selected[idx] = hwc->config_base;
	if (unlikely(hwc->flags & COREPMU_EVENT_PAIR))
		cpuc->selected[hwc->idx] = EVNTSEL_AMD_MERGE;
	else if (unlikely(amd_is_merged(cpuc, hwc->idx)))
		end_merge(cpuc, hwc->idx + 1);
}

/* Counter values */

static u64 x86_read(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc)
{
	return x86_rdpmc(x86_rdpmc_index(value_counter(hwc)));
}

/* Read an event of one counter without special features, so never a topdown metric. */
static __always_inline u64 read_plain(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc)
{
	return x86_rdpmc(x86_rdpmc_counter(hwc->idx));
}

#define NOT_PLAIN	(COREPMU_EVENT_TOPDOWN | COREPMU_EVENT_LARGE | COREPMU_EVENT_PAIR |	\
			 COREPMU_EVENT_ACR | EVENT_RECORDED)

/* Check whether the value of one counter is all that an update needs. */
static bool is_plain(const struct hw_perf_event *hwc)
{
	return likely(!(hwc->flags & NOT_PLAIN));
}

/* As is_plain(), but false for precise events: a PEBS record may have reset their counter. */
static bool is_read_plainly(const struct hw_perf_event *hwc)
{
	return likely(!(hwc->flags & (NOT_PLAIN | COREPMU_EVENT_PRECISE)));
}

/*
 * Update a precise event without a feature of NOT_PLAIN. While CPU A stops the event, a late NMI
 * may drain the event's record: CPU A marks the event as stopped only after the update. Without
 * an NMI-safe update CPU A would add the NMI's counts again.
 */
static noinline void update_precise(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	/* The event has been read between its overflow and its record. */
	if (unlikely(local64_read(&event->hw.prev_count) > 0))
		x86_pebs_follow_reset(cpuc, event);
	corepmu_count_event_nmi_safe(cpuc, event, read_plain);
}

/* Update an event with a feature of NOT_PLAIN, which may also be precise. */
static noinline void update_otherwise(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	unsigned int flags = event->hw.flags;

	/*
	 * Drain the records first: they may have this counter's value. A precise event needs no
	 * drain here: its own record has the count.
	 */
	if ((flags & (EVENT_RECORDED | COREPMU_EVENT_PRECISE)) == EVENT_RECORDED)
		x86_pebs_drain_recorded(cpuc);
	if (flags & COREPMU_EVENT_PRECISE) {
		if ((flags & (COREPMU_EVENT_LARGE | COREPMU_EVENT_ACR)) &&
		    x86_pebs_update(cpuc, event))
			return;
		x86_pebs_follow_reset(cpuc, event);
	}
	if ((flags & COREPMU_EVENT_TOPDOWN) && x86_topdown_update(cpuc, event))
		return;
	if (flags & COREPMU_EVENT_ACR)
		x86_acr_update(cpuc, event, x86_read);
	else
		corepmu_count_event_nmi_safe(cpuc, event, x86_read);
}

static void x86_update(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	if (is_read_plainly(&event->hw))
		corepmu_count_event(cpuc, event, read_plain);
	else if (is_plain(&event->hw))
		update_precise(cpuc, event);
	else
		update_otherwise(cpuc, event);
}

/*
 * Read an event whose counter value is in PEBS records. In a sample, the event already has its
 * count at the record. Otherwise the function drains the buffer first. CPU A reads the counter; an
 * NMI then drains a record before A adds the counts; without a stop of the PMU, the sample lacks
 * these counts.
 */
static noinline void read_recorded(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	bool running;

	if (x86_pebs_shows_record())
		return;
	running = corepmu_pause_cpu(cpuc);
	x86_pebs_drain_recorded(cpuc);
	update_otherwise(cpuc, event);
	corepmu_resume_cpu(cpuc, running);
}

static void x86_update_nmi_safe(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	if (is_read_plainly(&event->hw))
		corepmu_count_event_nmi_safe(cpuc, event, read_plain);
	else if (is_plain(&event->hw))
		update_precise(cpuc, event);
	else if (event->hw.flags & EVENT_RECORDED)
		read_recorded(cpuc, event);
	else
		update_otherwise(cpuc, event);
}

static __always_inline u32 value_msr(const struct x86_desc *desc, int idx)
{
	return is_fixed(idx) ? MSR_CORE_PERF_FIXED_CTR0 + idx - FIXED_COUNTER_BASE :
			       desc->counter_msr + desc->step * idx;
}

static noinline void write_otherwise(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc,
				     u64 value)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);

	if ((hwc->flags & COREPMU_EVENT_TOPDOWN) && x86_topdown_write(cpuc, hwc))
		return;
	x86_write_msr_inline(value_msr(desc, value_counter(hwc)), value);
	if (hwc->flags & COREPMU_EVENT_PAIR)
		x86_write_msr_inline(value_msr(desc, hwc->idx), AMD_MERGED_BITS);
}

static __always_inline void x86_write(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc,
				      u64 value)
{
	if (is_plain(hwc) && !x86_msr_writes_are_traced())
		x86_write_msr_untraced(value_msr(to_x86(cpuc->pmu), hwc->idx), value);
	else
		write_otherwise(cpuc, hwc, value);
}

static void x86_program_global(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value)
{
	select_event(cpuc, hwc);
	x86_write(cpuc, hwc, value);
}

static void x86_program_each(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value)
{
	note_selection(cpuc, hwc);
	x86_write(cpuc, hwc, value);
}

static void x86_clear(struct corepmu_cpu *cpuc, u64 counters)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);
	u64 metrics = counters & desc->metrics;

	for (counters &= ~metrics; counters; counters &= counters - 1)
		x86_write_msr_inline(value_msr(desc, __ffs64(counters)), 0);
	/* All metrics are in one register: clear it only if none is in use. */
	if (metrics && !(cpuc->used & desc->metrics))
		x86_write_msr(MSR_PERF_METRICS, 0);
}

/* Whole PMU */

static void x86_reset(struct corepmu_cpu *cpuc)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);
	unsigned int idx;

	/* If the built-in driver is present, it owns the registers until they are reserved. */
	if (desc->shares_counters && !x86_is_reserved()) {
		cpuc->dirty = 0;
		return;
	}
	x86_rdpmc_take_over();

	x86_svm_reset();
	if (desc->global_ctrl)
		x86_write_msr(desc->global_ctrl, 0);
	for (idx = 0; idx < desc->nr_gp; idx++) {
		if (desc->holes & BIT_ULL(idx))
			continue;
		x86_write_select(desc, idx, 0);
		cpuc->selected[idx] = 0;
	}
	if (cpuc->pmu->counters >> FIXED_COUNTER_BASE)
		x86_write_msr(MSR_CORE_PERF_FIXED_CTR_CTRL, 0);
	cpuc->shared_select = 0;
	cpuc->trusted = 0;
	cpuc->trusted_others = 0;
	cpuc->hw_active = 0;
	/* The counters have values of other software: user space must not read them. */
	cpuc->dirty = cpuc->pmu->counters & ~cpuc->used;
	/* ZX-C ignores global_clear while global_ctrl is 0. No event is selected, none counts. */
	if (desc->global_ctrl && cpuc->pmu->backend == &x86_each_backend)
		x86_write_msr(desc->global_ctrl, x86_each_global_ctrl(desc));
	if (desc->global_clear)
		x86_write_msr(desc->global_clear,
			      cpuc->pmu->counters | desc->frozen | desc->metrics_bit |
			      desc->ds_bit);
	corepmu_branch_reset(cpuc);
	x86_freeze_on_smi_reset(cpuc);
	x86_acr_reset(cpuc);
	x86_pebs_reset(cpuc);
	x86_extra_regs_reset(cpuc);
}

/* The PMU is stopped, so no PEBS record is written: clear the address of the buffer, too. */
static void x86_quiesce(struct corepmu_cpu *cpuc)
{
	x86_reset(cpuc);
	x86_pebs_quiesce(cpuc);
}

static void x86_counter_name(int idx, char *name)
{
	if (is_fixed(idx))
		snprintf(name, COREPMU_COUNTER_NAME, "fixed %d", idx - FIXED_COUNTER_BASE);
	else
		snprintf(name, COREPMU_COUNTER_NAME, "%d", idx);
}

static u64 x86_self_test_config(struct corepmu *pmu, int idx)
{
	return to_x86(pmu)->hardware[PERF_COUNT_HW_CPU_CYCLES] | EVNTSEL_OS | EVNTSEL_INT;
}

/* Members that both backends share */
#define X86_BACKEND_COMMON				\
	.builtin_name		= "cpu",		\
	.builtin_type		= PERF_TYPE_RAW,	\
	.tools_know_name	= true,			\
	.attr_groups		= x86_attr_groups,	\
	.raw_of_first_cpu_type	= true,			\
	.features		= {			\
		[COREPMU_FEATURE_BRANCHES]	= &corepmu_branch_feature,	\
		[COREPMU_FEATURE_PRECISE]	= &corepmu_precise_feature,	\
		[COREPMU_FEATURE_ACR]		= &x86_acr_feature,		\
		[COREPMU_FEATURE_EXTRA_REG]	= &x86_extra_reg_feature,	\
		[COREPMU_FEATURE_BRANCH_COUNTERS] = &corepmu_branch_counters_feature, \
	},						\
	.encode			= x86_encode,		\
	.leaves			= x86_acr_leaves,	\
	.join			= x86_join,		\
	.check_period		= x86_check_period,	\
	.reset			= x86_reset,		\
	.quiesce		= x86_quiesce,		\
	.joins			= x86_joins,		\
	.counter_name		= x86_counter_name,	\
	.self_test_config	= x86_self_test_config,	\
	.self_test_end		= x86_irq_learn,	\
	.entering_regs		= x86_entering_regs,	\
	.irq_enable		= x86_irq_enable,	\
	.irq_disable		= x86_irq_disable,	\
	.clear			= x86_clear,		\
	.event_idx		= x86_event_idx,	\
	.rdpmc_switch		= x86_rdpmc_switch,	\
	.rdpmc_mapped		= x86_rdpmc_mapped,	\
	.rdpmc_unmapped		= x86_rdpmc_unmapped,	\
	.read			= x86_read,		\
	.update			= x86_update,		\
	.update_nmi_safe	= x86_update_nmi_safe,	\
	.write			= x86_write

const struct corepmu_backend x86_global_backend = {
	.name			= "x86",
	X86_BACKEND_COMMON,
	.enable			= x86_enable_global,
	.disable		= x86_disable_global,
	.program		= x86_program_global,
};

const struct corepmu_backend x86_each_backend = {
	.name			= "x86, counters enabled one by one",
	X86_BACKEND_COMMON,
	.acquire		= x86_acquire,
	.release		= x86_release,
	.enable			= x86_enable_each,
	.disable		= x86_disable_each,
	.program		= x86_program_each,
};
