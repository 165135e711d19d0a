// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel extra registers as a feature of events: events share a CPU's registers
 *
 * extra-regs.c has the registers and the events that need them.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/kernel.h>
#include <linux/perf_event.h>

#include <corepmu/features.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "intel.h"

static bool has_extra_reg(const struct corepmu *pmu, const struct perf_event *event)
{
	return event->pmu == &pmu->perf_pmu && (event->hw.flags & COREPMU_EVENT_EXTRA_REG);
}

/* Assign a register of @extra_regs to one more event. Return false if all hold other values. */
static bool take_extra_reg(struct corepmu *pmu, struct corepmu_extra_reg *extra_regs,
			   const struct perf_event *event)
{
	int reg = x86_extra_reg_choose(pmu, extra_regs, event);

	if (reg < 0)
		return false;
	extra_regs[reg].value = event->hw.extra_reg.config;
	extra_regs[reg].users++;

	return true;
}

/*
 * Check whether the extra registers suffice for the group. The order is the one in which perf core
 * will add the events.
 */
static bool registers_suffice(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	struct corepmu_extra_reg extra_regs[COREPMU_MAX_EXTRA_REGS] = { };
	struct corepmu *pmu = to_corepmu(event->pmu);

	if (has_extra_reg(pmu, leader) && !take_extra_reg(pmu, extra_regs, leader))
		return false;
	for_each_sibling_event(sibling, leader)
		if (has_extra_reg(pmu, sibling) && corepmu_sibling_counts(sibling) &&
		    !take_extra_reg(pmu, extra_regs, sibling))
			return false;

	return take_extra_reg(pmu, extra_regs, event);
}

static int extra_reg_check_group(struct perf_event *event)
{
	if (registers_suffice(event))
		return 0;

	return corepmu_refuse(-EINVAL,
			      "the group needs two values in one extra register (offcore_rsp, offmodule_rsp, snoop_rsp or frontend): open its events one by one");
}

/*
 * Find an extra register for the event. The event's number in config_base may depend on the
 * register: x86_extra_reg_use() changes the number.
 */
static int extra_reg_fits(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	int reg = x86_extra_reg_choose(cpuc->pmu, cpuc->extra_regs, event);

	if (reg < 0)
		return reg;
	x86_extra_reg_use(cpuc->pmu, event, reg);

	return 0;
}

/*
 * The first event that uses an extra register writes the register. A later event writes it again,
 * since another agent may have written it meanwhile. Of the events that perf core adds in one go,
 * only the first one writes.
 */
static void extra_reg_add(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	int reg = event->hw.extra_reg.idx;
	struct corepmu_extra_reg *extra_reg = &cpuc->extra_regs[reg];

	if (extra_reg->users++ && (cpuc->trusted_others & COREPMU_TRUST_EXTRA_REG(reg)))
		return;
	cpuc->trusted_others |= COREPMU_TRUST_EXTRA_REG(reg);
	extra_reg->value = event->hw.extra_reg.config;
	x86_extra_reg_write(cpuc, reg);
}

static void extra_reg_del(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	int reg = event->hw.extra_reg.idx;

	cpuc->extra_regs[reg].users--;
	cpuc->trusted_others |= COREPMU_TRUST_EXTRA_REG(reg);
}

const struct corepmu_feature_ops x86_extra_reg_feature = {
	.check_group	= extra_reg_check_group,
	.fits		= extra_reg_fits,
	.add		= extra_reg_add,
	.del		= extra_reg_del,
};

/**
 * x86_extra_regs_reset() - write the extra registers that the CPU's events use
 * @cpuc: this CPU's state
 *
 * For a backend's reset(): another driver or a power-down may have changed the registers.
 */
void x86_extra_regs_reset(struct corepmu_cpu *cpuc)
{
	int reg;

	for (reg = 0; reg < COREPMU_MAX_EXTRA_REGS; reg++)
		if (cpuc->extra_regs[reg].users)
			x86_extra_reg_write(cpuc, reg);
}
