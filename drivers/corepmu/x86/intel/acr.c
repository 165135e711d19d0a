// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel auto counter reload (ACR): a counter reloads when another one overflows
 *
 * SDM volume 3, "Auto Counter Reload"; CPUID leaf 0x23, subleaf 2. attr.config2 (format/acr_mask)
 * has a bit for each event of the group, in the order in which they were opened. When the counter
 * of such an event overflows, the CPU reloads the counter of the event with the mask from its
 * period. An event that names itself never overflows for software: the CPU sets no status bit and
 * raises no interrupt. In Linux 7.0 intel_pmu_hw_config(), intel_pmu_acr_late_setup() and
 * intel_pmu_config_acr() in arch/x86/events/intel/core.c do the same.
 *
 * A counter's register IA32_PMC_GPn_CFG_B has the counters of the named events. The driver writes
 * the register when the PMU is started, since then all events are placed. A reload discards the
 * event's earlier counts: the event's count is the counter's value less its first start value, as
 * with the built-in driver.
 *
 * IA32_PMC_GPn_CFG_C has the value that the counter reloads. From an NMI the driver writes no
 * CFG_B, and CFG_C only for PEBS (pebs/arch/core.c). The driver clears CFG_B of all counters when
 * the last ACR event loses its counter. Selected events are limited to counters that can cause a
 * reload, also if they were opened earlier. A reload between an overflow and its interrupt hides
 * the overflow, also from the built-in driver. A precise ACR event restarts from its period after
 * each record, even if each record interrupts; the driver accounts it like large PEBS.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/hardirq.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include <corepmu/counter.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "intel.h"
#include "../msr.h"
#include "../x86.h"

#define PERFMON_EXT_ACR		2

/* Bit of hw_perf_event.flags: acr_mask named the event itself when the event was opened. */
#define EVENT_ACR_SELF		BIT(COREPMU_EVENT_BACKEND + 5)

/* A reload value has 31 bits; all bits above are 1. */
#define MAX_RELOAD		BIT_ULL(31)

/**
 * struct x86_acr - values of a CPU's ACR registers, or MSR_UNKNOWN
 * @cfg_b: IA32_PMC_GPn_CFG_B and IA32_PMC_FXm_CFG_B of each counter
 * @cfg_c: IA32_PMC_GPn_CFG_C and IA32_PMC_FXm_CFG_C of each counter; architectural PEBS uses them
 *	too
 */
struct x86_acr {
	u64	cfg_b[COREPMU_MAX_COUNTERS];
	u64	cfg_c[COREPMU_MAX_COUNTERS];
};

static DEFINE_PER_CPU(struct x86_acr, acr_regs);

static u32 acr_msr(int idx, u32 gp, u32 fixed)
{
	return idx < FIXED_COUNTER_BASE ? gp + PMC_CFG_STEP * idx :
	       fixed + PMC_CFG_STEP * (idx - FIXED_COUNTER_BASE);
}

/**
 * x86_cfg_c_msr() - return the MSR number of a counter's IA32_PMC_GPn_CFG_C or IA32_PMC_FXm_CFG_C
 * @idx: the counter
 *
 * Return: MSR number
 */
u32 x86_cfg_c_msr(int idx)
{
	return acr_msr(idx, MSR_PMC_GP0_CFG_C, MSR_PMC_FX0_CFG_C);
}

static u32 cfg_b_msr(int idx)
{
	return acr_msr(idx, MSR_PMC_GP0_CFG_B, MSR_PMC_FX0_CFG_B);
}

/**
 * x86_set_cfg_c() - write a counter's CFG_C register unless it has the value already
 * @idx: the counter
 * @value: IA32_PMC_GPn_CFG_C or IA32_PMC_FXm_CFG_C
 *
 * The function writes cfg_c[] first. An NMI may then start the PMU, and write another value to
 * cfg_c[] and the register. Without the loop, the register would get this function's value, but
 * cfg_c[] would keep the NMI's. IRQs off, or NMI.
 */
void x86_set_cfg_c(int idx, u64 value)
{
	u64 *had = this_cpu_ptr(&acr_regs.cfg_c[idx]);

	if (*had == value)
		return;
	WRITE_ONCE(*had, value);
	do {
		value = READ_ONCE(*had);
		x86_write_msr(x86_cfg_c_msr(idx), value);
	} while (unlikely(READ_ONCE(*had) != value));
}

/**
 * x86_forget_cfg_c() - mark the value of a counter's CFG_C register as unknown
 * @idx: the counter
 *
 * IRQs off, or on the CPU.
 */
void x86_forget_cfg_c(int idx)
{
	this_cpu_write(acr_regs.cfg_c[idx], MSR_UNKNOWN);
}

static void set_cfg_b(int idx, u64 value)
{
	u64 *had = this_cpu_ptr(&acr_regs.cfg_b[idx]);

	if (*had == value)
		return;
	*had = value;
	x86_write_msr(cfg_b_msr(idx), value);
}

/**
 * x86_describe_acr() - find out which counters support ACR
 * @desc: the PMU description; its counters are known and reserved
 *
 * On a CPU of this CPU type, IRQs off.
 */
void __corepmu_init x86_describe_acr(struct x86_desc *desc)
{
	u32 eax, ebx, ecx, edx;
	u64 value;

	if (!desc->has_acr || !desc->global_ctrl)
		return;
	cpuid_count(CPUID_PERFMON_EXT, PERFMON_EXT_ACR, &eax, &ebx, &ecx, &edx);
	desc->acr_counters = (eax | (u64)ebx << FIXED_COUNTER_BASE) & desc->pmu->counters;
	desc->acr_causes = (ecx | (u64)edx << FIXED_COUNTER_BASE) & desc->pmu->counters;
	/* A hypervisor may pass the CPUID leaf on but hide the registers. */
	if (!desc->acr_counters || !desc->acr_causes ||
	    x86_read_msr_safe(cfg_b_msr(__ffs64(desc->acr_counters)), &value) ||
	    x86_read_msr_safe(x86_cfg_c_msr(__ffs64(desc->acr_counters)), &value))
		desc->acr_counters = 0;
}

/* Groups */

/* Return the acr_mask of an ACR event: the group members that it names, a bit each. */
static u64 get_acr_mask(const struct perf_event *event)
{
	return event->hw.flags & COREPMU_EVENT_ACR ? event->attr.config2 : 0;
}

/* Check whether @event's acr_mask names member @nr of its group. The mask has 64 bits. */
static bool mask_has_member(const struct perf_event *event, unsigned int nr)
{
	if (nr >= BITS_PER_TYPE(u64))
		return false;

	return get_acr_mask(event) >> nr & 1;
}

static bool is_ours(const struct perf_event *event, const struct perf_event *other)
{
	return other->pmu == event->pmu;
}

/*
 * Check @event, member @mine of its group, against @other, member @nr, which was opened before. An
 * event that is named must be on a counter that can cause a reload.
 */
static int limit_by_member(const struct x86_desc *desc, struct perf_event *event,
			   const struct perf_event *other, unsigned int nr, unsigned int mine)
{
	if (mask_has_member(other, mine))
		corepmu_hw_limit_counters(&event->hw, desc->acr_causes);
	if (mask_has_member(event, nr) && !(corepmu_hw_counters(&other->hw) & desc->acr_causes))
		return -EINVAL;

	return 0;
}

/**
 * struct members - the group that a new event joins
 * @nr: the event's position: 0 for the leader, else the number of this PMU's siblings plus 1
 * @named: the event or a member has an acr_mask
 * @others: a sibling belongs to another PMU
 */
struct members {
	unsigned int	nr;
	bool		named;
	bool		others;
};

static struct members find_members(const struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	struct members found = { .named = get_acr_mask(event) };

	if (leader == event)
		return found;
	found.nr = 1;
	found.named |= is_ours(event, leader) && get_acr_mask(leader);
	for_each_sibling_event(sibling, leader) {
		found.named |= is_ours(event, sibling) && get_acr_mask(sibling);
		found.others |= !is_ours(event, sibling);
		found.nr += is_ours(event, sibling);
	}

	return found;
}

/* Set up an event that names itself: its overflow reloads its own counter. */
static void set_self_reload(const struct x86_desc *desc, struct perf_event *event)
{
	corepmu_hw_limit_counters(&event->hw, desc->acr_causes);
	/* The CPU does not report this overflow: an interrupt would find no flag. */
	event->hw.config_base &= ~EVNTSEL_INT;
	event->hw.flags |= EVENT_ACR_SELF;
}

/*
 * Give a child its parent's counters, without a check. If members of the group have been closed,
 * acr_mask may name other members in the child's group: a failed check would fail fork(2).
 */
static void inherit_counters(const struct x86_desc *desc, struct perf_event *event)
{
	const struct hw_perf_event *parent = &event->parent->hw;

	corepmu_hw_limit_counters(&event->hw, corepmu_hw_counters(parent));
	if (parent->flags & EVENT_ACR_SELF)
		set_self_reload(desc, event);
}

static int check_group(const struct x86_desc *desc, struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	struct members found = find_members(event);
	unsigned int nr = 0;
	int ret = 0;

	if (event->parent) {
		inherit_counters(desc, event);
		return 0;
	}
	if (!found.named)
		return 0;
	if (leader != event) {
		/* Bit n of acr_mask is member n of the group, as in the built-in driver. */
		if (!is_ours(event, leader) || (found.others && get_acr_mask(event)))
			return corepmu_refuse(-EINVAL,
					      "config2 %#llx: a bit of acr_mask is a position in the group: take events of other PMUs out of the group",
					      event->attr.config2);
		ret = limit_by_member(desc, event, leader, nr++, found.nr);
		for_each_sibling_event(sibling, leader)
			if (!ret && is_ours(event, sibling))
				ret = limit_by_member(desc, event, sibling, nr++, found.nr);
	}
	if (mask_has_member(event, found.nr))
		set_self_reload(desc, event);
	if (ret || !corepmu_hw_counters(&event->hw))
		return corepmu_refuse(-EINVAL,
				      "config2 %#llx: the counters of an event in acr_mask cannot cause a reload: name other events",
				      event->attr.config2);

	return 0;
}

/**
 * x86_acr_encode() - set up auto counter reload of an event with acr_mask (attr.config2)
 * @desc: the PMU description
 * @event: the event; its possible counters are known
 * @generic: the event is generic. Most programs leave arbitrary values in its config2. If the event
 *	does not sample with a period, config2 is ignored, not rejected
 *
 * Process context.
 *
 * Return: 0, or an errno after corepmu_refuse()
 */
int x86_acr_encode(const struct x86_desc *desc, struct perf_event *event, bool generic)
{
	const struct perf_event_attr *attr = &event->attr;
	struct hw_perf_event *hwc = &event->hw;

	if (!attr->config2 || (generic && (!is_sampling_event(event) || attr->freq)))
		return check_group(desc, event);
	if (hwc->flags & COREPMU_EVENT_TOPDOWN)
		return corepmu_refuse(-EINVAL,
				      "config2 %#llx: slots and topdown metrics cannot have acr_mask: leave it out",
				      attr->config2);
	if (!is_sampling_event(event) || attr->freq)
		return corepmu_refuse(-EINVAL,
				      "config2 %#llx: acr_mask needs a sample period (sample_period, not freq)",
				      attr->config2);
	if (attr->precise_ip > 2)
		return corepmu_refuse(-EINVAL,
				      "config2 %#llx, precise_ip %u: the maximum with acr_mask is 2; use :pp",
				      attr->config2, attr->precise_ip);
	corepmu_hw_limit_counters(hwc, desc->acr_counters);
	if (!corepmu_hw_counters(hwc))
		return corepmu_refuse(-EINVAL,
				      "config2 %#llx: no counter that can count the event supports acr_mask: leave it out",
				      attr->config2);
	hwc->flags |= COREPMU_EVENT_ACR;

	return check_group(desc, event);
}

/* Return the position of @other in its group: its bit of acr_mask. */
static unsigned int find_position(const struct perf_event *other)
{
	const struct perf_event *leader = other->group_leader;
	struct perf_event *sibling;
	unsigned int nr = 0;

	if (other == leader)
		return 0;
	for_each_sibling_event(sibling, leader) {
		nr += is_ours(other, sibling);
		if (sibling == other)
			break;
	}

	return nr;
}

/**
 * x86_acr_leaves() - return the counters that acr_mask leaves to a group member: backend's leaves()
 * @event: an event that x86_acr_encode() has accepted
 * @other: an event of the group that @event is about to join
 *
 * Process context.
 *
 * Return: the counters that can cause a reload if @event names @other, else all counters
 */
u64 x86_acr_leaves(const struct perf_event *event, const struct perf_event *other)
{
	if (!get_acr_mask(event) || !mask_has_member(event, find_position(other)))
		return U64_MAX;

	return to_x86(to_corepmu(event->pmu))->acr_causes;
}

/**
 * x86_acr_join() - limit the group members in acr_mask to counters that can cause a reload
 * @event: an event that has been accepted; members of a child's group have their parents' limits
 *
 * A member that is placed now keeps its counter, and causes no reload there until perf core
 * schedules it in again. Process context; perf core has locked the group's context.
 */
void x86_acr_join(const struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;

	if (leader == event || event->parent || !get_acr_mask(event))
		return;
	corepmu_hw_limit_counters(&leader->hw, x86_acr_leaves(event, leader));
	for_each_sibling_event(sibling, leader)
		if (is_ours(event, sibling))
			corepmu_hw_limit_counters(&sibling->hw, x86_acr_leaves(event, sibling));
}

/**
 * x86_acr_check_period() - check whether ACR can reload a counter from a period
 * @event: the event
 * @period: sample period
 *
 * Return: 0, or -EINVAL after corepmu_refuse()
 */
int x86_acr_check_period(const struct perf_event *event, u64 period)
{
	if (!(event->hw.flags & COREPMU_EVENT_ACR) || period <= MAX_RELOAD)
		return 0;

	return corepmu_refuse(-EINVAL,
				      "config2 %#llx, period %llu: the longest period with acr_mask is %llu; use a shorter one",
			      event->attr.config2, period, MAX_RELOAD);
}

/* A CPU's events */

/*
 * Return a bit for the counter of @other, member @nr of the group, if @event names @other and
 * @other is placed. Closed members change the positions: after its leader is closed, each sibling
 * leads a group of its own, as member 0. So EVENT_ACR_SELF, not the position, tells whether @event
 * names itself. Such an event has no overflow interrupt.
 */
static u64 find_cause(struct corepmu_cpu *cpuc, const struct perf_event *event,
		      const struct perf_event *other, unsigned int nr)
{
	bool is_named = other == event ? event->hw.flags & EVENT_ACR_SELF :
					 event->attr.config2 >> nr & 1;
	int idx = other->hw.idx;

	if (!is_named || idx < 0 || cpuc->events[idx] != other)
		return 0;

	return BIT_ULL(idx) & to_x86(cpuc->pmu)->acr_causes;
}

static u64 causes_of(struct corepmu_cpu *cpuc, const struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	unsigned int nr = 1;
	u64 counters;

	counters = find_cause(cpuc, event, leader, 0);
	for_each_sibling_event(sibling, leader)
		if (is_ours(event, sibling) && nr < BITS_PER_TYPE(event->attr.config2))
			counters |= find_cause(cpuc, event, sibling, nr++);

	return counters;
}

/* Check whether CFG_C also has the record's groups (architectural PEBS): x86_pebs_arch_start(). */
static bool has_groups(struct corepmu_cpu *cpuc, const struct perf_event *event)
{
	return (event->hw.flags & COREPMU_EVENT_PRECISE) && to_x86(cpuc->pmu)->pebs_counters;
}

/*
 * Write the ACR registers of events with COREPMU_EVENT_ACR: which overflows reload which counters.
 * Does nothing in an NMI. No event is placed or moved during an interrupt, so the registers are up
 * to date. An NMI may also interrupt a change of the group, which it must not read.
 */
static void acr_start(struct corepmu_cpu *cpuc)
{
	u64 left;

	if (in_nmi())
		return;
	for (left = cpuc->used & to_x86(cpuc->pmu)->acr_counters; left; left &= left - 1) {
		int idx = __ffs64(left);
		const struct perf_event *event = cpuc->events[idx];
		u64 causes = 0;

		if (event && (event->hw.flags & COREPMU_EVENT_ACR)) {
			causes = causes_of(cpuc, event);
			if (!has_groups(cpuc, event))
				x86_set_cfg_c(idx, -event->hw.sample_period & CFG_C_RELOAD);
		}
		set_cfg_b(idx, causes);
	}
}

/*
 * Mark the ACR registers as unknown: another agent may have written them. The next start of the PMU
 * writes the registers of counters with events.
 */
static void acr_forget(struct corepmu_cpu *cpuc)
{
	struct x86_acr *r = this_cpu_ptr(&acr_regs);
	u64 left;

	for (left = to_x86(cpuc->pmu)->acr_counters; left; left &= left - 1) {
		int idx = __ffs64(left);

		x86_forget_cfg_c(idx);
		r->cfg_b[idx] = MSR_UNKNOWN;
	}
}

/*
 * Clear CFG_B of all counters. The counters' next events do not use ACR, so no later start of the
 * PMU clears the registers.
 */
static void acr_end(struct corepmu_cpu *cpuc)
{
	u64 left;

	for (left = to_x86(cpuc->pmu)->acr_counters; left; left &= left - 1)
		set_cfg_b(__ffs64(left), 0);
}

static void acr_add(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	if (!(cpuc->trusted_others & COREPMU_TRUST_ACR))
		acr_forget(cpuc);
	cpuc->trusted_others |= COREPMU_TRUST_ACR;
	cpuc->feature_users[COREPMU_FEATURE_ACR]++;
}

static void acr_del(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	cpuc->trusted_others |= COREPMU_TRUST_ACR;
	if (!--cpuc->feature_users[COREPMU_FEATURE_ACR])
		acr_end(cpuc);
}

const struct corepmu_feature_ops x86_acr_feature = {
	.add	= acr_add,
	.del	= acr_del,
	.start	= acr_start,
};

/**
 * x86_acr_update() - update the count of an event whose counter ACR may have reloaded
 * @cpuc: state of this CPU
 * @event: event with COREPMU_EVENT_ACR
 * @read: the backend's read()
 *
 * A reload sets the counter back, so the difference to the last value may be negative. The
 * counter's value always says what is left of the period. An NMI may update the event meanwhile:
 * see corepmu_count_event_nmi_safe(). IRQs off, or NMI.
 */
void x86_acr_update(struct corepmu_cpu *cpuc, struct perf_event *event,
		    u64 (*read)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc))
{
	u64 count = local64_read(&event->count);
	u64 prev, now = corepmu_follow_counter(cpuc, &event->hw, &prev, read);

	if (unlikely(local64_read(&event->count) != count)) {
		corepmu_count_overtaken(event, prev, now);
		return;
	}

	local64_add(now - prev, &event->count);
	local64_sub(now - prev, &event->hw.period_left);
}

/**
 * x86_acr_reset() - clear CFG_B of all counters, and mark CFG_C as unknown
 * @cpuc: state of this CPU
 *
 * From the backend's reset(), before x86_pebs_reset().
 */
void x86_acr_reset(struct corepmu_cpu *cpuc)
{
	acr_forget(cpuc);
	acr_end(cpuc);
}
