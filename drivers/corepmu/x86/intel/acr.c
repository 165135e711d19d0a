// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: counters that begin anew when another one overflows (auto counter reload)
 *
 * SDM volume 3, "Auto Counter Reload"; CPUID leaf 0x23, subleaf 2. attr.config2 (format/acr_mask)
 * has a bit for each event of the group, in the order in which they were opened: when the counter
 * of one of these overflows, the CPU sets the counter of this one to its period. An event that
 * names itself never overflows for software, which gets neither a bit of the status nor an
 * interrupt. As intel_pmu_hw_config(), intel_pmu_acr_late_setup() and intel_pmu_config_acr()
 * in arch/x86/events/intel/core.c of Linux 7.0 have it.
 *
 * A counter's register IA32_PMC_GPn_CFG_B has the counters of these events, which are known when
 * the PMU is started: all of them are placed then. What such an event has counted before it was
 * set is lost, and its count is what it is ahead of where it first began, as with the built-in
 * driver.
 */
#include <linux/bitops.h>
#include <linux/hardirq.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include <corepmu/counter.h>
#include <corepmu/pmu.h>

#include "../msr.h"
#include "../x86.h"

#define CPUID_PERFMON_EXT	0x23
#define PERFMON_EXT_RELOAD	2

/* What a counter can be set to has so many bits, with all above them set. */
#define MAX_RELOAD		BIT_ULL(31)
#define CFG_C_RELOAD		GENMASK_ULL(31, 0)

/* What a register holds is not known. */
#define UNKNOWN			(~0ULL)

/**
 * struct x86_reload - a CPU's registers
 * @cfg_b: IA32_PMC_GPn_CFG_B and IA32_PMC_FXm_CFG_B
 * @cfg_c: IA32_PMC_GPn_CFG_C and IA32_PMC_FXm_CFG_C, which precise events use, too
 */
struct x86_reload {
	u64	cfg_b[COREPMU_MAX_COUNTERS];
	u64	cfg_c[COREPMU_MAX_COUNTERS];
};

static DEFINE_PER_CPU(struct x86_reload, reloads);

static u32 msr_of(int idx, u32 gp, u32 fixed)
{
	return idx < FIXED_COUNTER_BASE ? gp + PMC_CFG_STEP * idx :
	       fixed + PMC_CFG_STEP * (idx - FIXED_COUNTER_BASE);
}

/**
 * x86_cfg_c_msr() - the register that says what a counter is set to
 * @idx: the counter
 *
 * Return: its number
 */
u32 x86_cfg_c_msr(int idx)
{
	return msr_of(idx, MSR_PMC_GP0_CFG_C, MSR_PMC_FX0_CFG_C);
}

static u32 cfg_b_msr(int idx)
{
	return msr_of(idx, MSR_PMC_GP0_CFG_B, MSR_PMC_FX0_CFG_B);
}

/**
 * x86_set_cfg_c() - write the register, unless it has that
 * @idx: the counter
 * @value: IA32_PMC_GPn_CFG_C or IA32_PMC_FXm_CFG_C
 *
 * IRQs off, or NMI.
 */
void x86_set_cfg_c(int idx, u64 value)
{
	u64 *had = this_cpu_ptr(&reloads.cfg_c[idx]);

	if (*had == value)
		return;
	*had = value;
	x86_write_msr(x86_cfg_c_msr(idx), value);
}

/**
 * x86_forget_cfg_c() - the register may have anything
 * @idx: the counter
 *
 * IRQs off, or on the CPU.
 */
void x86_forget_cfg_c(int idx)
{
	this_cpu_write(reloads.cfg_c[idx], UNKNOWN);
}

static void set_cfg_b(int idx, u64 value)
{
	u64 *had = this_cpu_ptr(&reloads.cfg_b[idx]);

	if (*had == value)
		return;
	*had = value;
	x86_write_msr(cfg_b_msr(idx), value);
}

/**
 * x86_describe_reload() - find out which counters can begin anew
 * @desc: the PMU, whose counters are described and reserved
 *
 * On a CPU of the kind, IRQs off.
 */
void x86_describe_reload(struct x86_desc *desc)
{
	u32 eax, ebx, ecx, edx;
	u64 value;

	if (!desc->has_reload || !desc->global_ctrl)
		return;
	cpuid_count(CPUID_PERFMON_EXT, PERFMON_EXT_RELOAD, &eax, &ebx, &ecx, &edx);
	desc->reload = (eax | (u64)ebx << FIXED_COUNTER_BASE) & desc->pmu->counters;
	desc->reload_causes = (ecx | (u64)edx << FIXED_COUNTER_BASE) & desc->pmu->counters;
	/* A virtual machine may tell of what it does not have. */
	if (!desc->reload || !desc->reload_causes ||
	    x86_read_msr_safe(cfg_b_msr(__ffs64(desc->reload)), &value) ||
	    x86_read_msr_safe(x86_cfg_c_msr(__ffs64(desc->reload)), &value))
		desc->reload = 0;
}

/* Groups */

/* The events of its group that an event names, a bit each */
static u64 named_by(const struct perf_event *event)
{
	return event->hw.flags & COREPMU_EVENT_RELOAD ? event->attr.config2 : 0;
}

static bool is_ours(const struct perf_event *event, const struct perf_event *other)
{
	return other->pmu == event->pmu;
}

/*
 * One that was opened before is named by @event, or names it: then it can be on fewer counters. It
 * has been placed on one of others, perhaps; until it is placed anew it is not the cause of
 * anything.
 */
static int narrow(const struct x86_desc *desc, struct perf_event *event, struct perf_event *other,
		  unsigned int nr, unsigned int mine)
{
	if (named_by(other) >> mine & 1)
		corepmu_hw_limit_counters(&event->hw, desc->reload_causes);
	if (!(named_by(event) >> nr & 1))
		return 0;
	if (!(corepmu_hw_counters(&other->hw) & desc->reload_causes))
		return -EINVAL;
	corepmu_hw_limit_counters(&other->hw, desc->reload_causes);

	return 0;
}

static int check_group(const struct x86_desc *desc, struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	unsigned int mine = 0, nr = 0;
	bool other = false, named = named_by(event);
	int ret = 0;

	if (leader == event)
		goto out;
	named |= is_ours(event, leader) && named_by(leader);
	for_each_sibling_event(sibling, leader) {
		named |= is_ours(event, sibling) && named_by(sibling);
		other |= !is_ours(event, sibling);
		mine += is_ours(event, sibling);
	}
	mine++;
	if (!named)
		return 0;
	/* The place in the group is what counts: perf tool and built-in driver take it so. */
	if (!is_ours(event, leader) || (other && named_by(event)))
		return corepmu_refuse(-EINVAL,
				      "config2 %#llx: its group has other events in between, and acr_mask is of places in the group",
				      event->attr.config2);
	ret = narrow(desc, event, leader, nr++, mine);
	for_each_sibling_event(sibling, leader)
		if (!ret && is_ours(event, sibling))
			ret = narrow(desc, event, sibling, nr++, mine);
out:
	if (named_by(event) >> mine & 1) {
		corepmu_hw_limit_counters(&event->hw, desc->reload_causes);
		/* The CPU does not tell of its overflow: an interrupt would be nobody's. */
		event->hw.config_base &= ~EVNTSEL_INT;
	}
	if (ret || !corepmu_hw_counters(&event->hw))
		return corepmu_refuse(-EINVAL,
				      "config2 %#llx: no counter that counts one of these events has others begin anew",
				      event->attr.config2);

	return 0;
}

/**
 * x86_reload_encode() - have an event begin anew when others of its group overflow
 * @desc: the counters
 * @event: the event, whose counters are known
 * @generic: config2 means nothing to most who open such an event, and they leave anything there:
 *	what cannot begin anew is not refused
 *
 * Process context.
 *
 * Return: 0, or an errno after saying why this cannot be
 */
int x86_reload_encode(const struct x86_desc *desc, struct perf_event *event, bool generic)
{
	const struct perf_event_attr *attr = &event->attr;
	struct hw_perf_event *hwc = &event->hw;

	if (!attr->config2 || (generic && (!is_sampling_event(event) || attr->freq)))
		return check_group(desc, event);
	if (hwc->flags & COREPMU_EVENT_TOPDOWN)
		return corepmu_refuse(-EINVAL,
				      "config2 %#llx: slots and their parts do not begin anew (acr_mask)",
				      attr->config2);
	if (!is_sampling_event(event) || attr->freq)
		return corepmu_refuse(-EINVAL,
				      "config2 %#llx: an event that begins anew (acr_mask) wants a period",
				      attr->config2);
	if (attr->precise_ip > 2)
		return corepmu_refuse(-EINVAL,
				      "config2 %#llx, precise_ip %u: the most precise events do not begin anew (acr_mask)",
				      attr->config2, attr->precise_ip);
	corepmu_hw_limit_counters(hwc, desc->reload);
	if (!corepmu_hw_counters(hwc))
		return corepmu_refuse(-EINVAL,
				      "config2 %#llx: no counter that counts the event begins anew (acr_mask)",
				      attr->config2);
	hwc->flags |= COREPMU_EVENT_RELOAD;

	return check_group(desc, event);
}

/**
 * x86_reload_check_period() - can a counter begin anew with a period?
 * @event: the event
 * @period: its period
 *
 * Return: 0, or -EINVAL after saying why not
 */
int x86_reload_check_period(const struct perf_event *event, u64 period)
{
	if (!(event->hw.flags & COREPMU_EVENT_RELOAD) || period <= MAX_RELOAD)
		return 0;

	return corepmu_refuse(-EINVAL,
			      "config2 %#llx, period %llu: counters begin anew (acr_mask) with %llu at most",
			      event->attr.config2, period, MAX_RELOAD);
}

/* A CPU's events */

/* The counter of event @nr of the group, if the mask names it and it is there */
static u64 cause(struct corepmu_cpu *cpuc, const struct perf_event *other, u64 mask,
		 unsigned int nr)
{
	int idx = other->hw.idx;

	if (!(mask >> nr & 1) || idx < 0 || cpuc->events[idx] != other)
		return 0;

	return BIT_ULL(idx) & to_x86(cpuc->pmu)->reload_causes;
}

static u64 causes_of(struct corepmu_cpu *cpuc, const struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	u64 mask = event->attr.config2, counters;
	unsigned int nr = 1;

	counters = cause(cpuc, leader, mask, 0);
	for_each_sibling_event(sibling, leader)
		if (is_ours(event, sibling) && nr < BITS_PER_TYPE(mask))
			counters |= cause(cpuc, sibling, mask, nr++);

	return counters;
}

/* Of an architectural record the register says more, see x86_pebs_arch_start(). */
static bool has_groups(struct corepmu_cpu *cpuc, const struct perf_event *event)
{
	return (event->hw.flags & COREPMU_EVENT_PRECISE) && to_x86(cpuc->pmu)->pebs_counters;
}

/**
 * x86_reload_start() - the backend's reload_start()
 * @cpuc: this CPU's state
 *
 * Nothing has been placed or moved since an interrupt came: one that is an NMI has nothing to do,
 * and does not look at a group that is being changed.
 */
void x86_reload_start(struct corepmu_cpu *cpuc)
{
	u64 left;

	if (in_nmi())
		return;
	for (left = cpuc->used & to_x86(cpuc->pmu)->reload; left; left &= left - 1) {
		int idx = __ffs64(left);
		const struct perf_event *event = cpuc->events[idx];
		u64 causes = 0;

		if (event && (event->hw.flags & COREPMU_EVENT_RELOAD)) {
			causes = causes_of(cpuc, event);
			if (!has_groups(cpuc, event))
				x86_set_cfg_c(idx, -event->hw.sample_period & CFG_C_RELOAD);
		}
		set_cfg_b(idx, causes);
	}
}

/**
 * x86_reload_forget() - the backend's reload_forget()
 * @cpuc: this CPU's state
 *
 * The PMU's start writes those of the counters that have events. IRQs off, and the PMU stopped.
 */
void x86_reload_forget(struct corepmu_cpu *cpuc)
{
	struct x86_reload *r = this_cpu_ptr(&reloads);
	u64 left;

	for (left = to_x86(cpuc->pmu)->reload; left; left &= left - 1) {
		int idx = __ffs64(left);

		x86_forget_cfg_c(idx);
		r->cfg_b[idx] = UNKNOWN;
	}
}

/**
 * x86_reload_end() - the backend's reload_end()
 * @cpuc: this CPU's state
 *
 * The counters will have other events, for which nothing is written when they are started.
 */
void x86_reload_end(struct corepmu_cpu *cpuc)
{
	u64 left;

	for (left = to_x86(cpuc->pmu)->reload; left; left &= left - 1)
		set_cfg_b(__ffs64(left), 0);
}

/**
 * x86_reload_update() - bring an event up to date that the CPU sets by itself
 * @cpuc: this CPU's state
 * @event: the event, which has COREPMU_EVENT_RELOAD
 * @read: the backend's read()
 *
 * It may be behind of where it was. What its counter has is what is left of the period, as
 * it was when it was set. IRQs off, or NMI.
 */
void x86_reload_update(struct corepmu_cpu *cpuc, struct perf_event *event,
		       u64 (*read)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc))
{
	u64 prev, now = corepmu_follow_counter(cpuc, &event->hw, &prev, read);

	local64_add(now - prev, &event->count);
	local64_sub(now - prev, &event->hw.period_left);
}

/**
 * x86_reload_reset() - no counter begins anew, whatever the registers had
 * @cpuc: this CPU's state
 *
 * From the backend's reset(), before that of precise events.
 */
void x86_reload_reset(struct corepmu_cpu *cpuc)
{
	struct x86_reload *r = this_cpu_ptr(&reloads);
	u64 left;

	for (left = to_x86(cpuc->pmu)->reload; left; left &= left - 1) {
		int idx = __ffs64(left);

		x86_forget_cfg_c(idx);
		r->cfg_b[idx] = UNKNOWN;
		set_cfg_b(idx, 0);
	}
}
