// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: features of events: branch records, precise samples, extra registers (struct
 * corepmu_extra_reg), and auto counter reload (ACR)
 *
 * None of these functions is inline: events without features do not pay for them.
 */
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/pmu.h>
#include <corepmu/precise.h>

/**
 * corepmu_features_start() - start branch records, precise samples and ACR before the counters
 * @cpuc: this CPU's state; its features is not 0
 *
 * From corepmu_start_cpu().
 */
void corepmu_features_start(struct corepmu_cpu *cpuc)
{
	if (cpuc->branch_users)
		corepmu_branch_start(cpuc);
	if (cpuc->precise_users)
		corepmu_precise_start(cpuc);
	if (cpuc->acr_users)
		cpuc->pmu->backend->acr_start(cpuc);
}

/**
 * corepmu_features_stop() - stop branch records and precise samples, after the counters
 * @cpuc: this CPU's state; its features is not 0
 *
 * From corepmu_stop_cpu().
 */
void corepmu_features_stop(struct corepmu_cpu *cpuc)
{
	if (cpuc->precise_users)
		cpuc->pmu->precise_backend->stop(cpuc);
	if (cpuc->branch_users)
		corepmu_branch_pause(cpuc);
}

/**
 * corepmu_features_interrupt() - stop branch records at the start of an overflow interrupt
 * @cpuc: this CPU's state; its features is not 0
 *
 * From corepmu_overflow_begin(). Precise samples go on: without counts the hardware writes no
 * record.
 */
void corepmu_features_interrupt(struct corepmu_cpu *cpuc)
{
	if (cpuc->branch_users)
		corepmu_branch_interrupt(cpuc);
}

static bool has_extra_reg(const struct corepmu *pmu, const struct perf_event *event)
{
	return event->pmu == &pmu->perf_pmu && (event->hw.flags & COREPMU_EVENT_EXTRA_REG);
}

/* Assign a register of @extra_regs to one more event. Return false if all hold other values. */
static bool take_extra_reg(struct corepmu *pmu, struct corepmu_extra_reg *extra_regs,
			   const struct perf_event *event)
{
	int reg = pmu->backend->extra_reg_choose(pmu, extra_regs, event);

	if (reg < 0)
		return false;
	extra_regs[reg].value = event->hw.extra_reg.config;
	extra_regs[reg].users++;

	return true;
}

/**
 * corepmu_extra_reg_fits_group() - check whether the extra registers suffice for an event's group
 * @event: an event that is being opened
 *
 * Process context.
 *
 * Return: false if the group needs more values than there are extra registers
 */
bool corepmu_extra_reg_fits_group(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	struct corepmu_extra_reg extra_regs[COREPMU_MAX_EXTRA_REGS] = { };
	struct corepmu *pmu = to_corepmu(event->pmu);

	if (!has_extra_reg(pmu, event))
		return true;

	/* The order is the one in which perf core will add the events. */
	if (has_extra_reg(pmu, leader) && !take_extra_reg(pmu, extra_regs, leader))
		return false;
	for_each_sibling_event(sibling, leader)
		if (has_extra_reg(pmu, sibling) && corepmu_sibling_counts(sibling) &&
		    !take_extra_reg(pmu, extra_regs, sibling))
			return false;

	return take_extra_reg(pmu, extra_regs, event);
}

/*
 * Find an extra register for the event. The event's number in config_base may depend on the
 * register: extra_reg_use() changes the number.
 */
static bool extra_reg_fits(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	const struct corepmu_backend *backend = cpuc->pmu->backend;
	int reg = backend->extra_reg_choose(cpuc->pmu, cpuc->extra_regs, event);

	if (reg < 0)
		return false;
	backend->extra_reg_use(cpuc->pmu, event, reg);

	return true;
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
	cpuc->pmu->backend->extra_reg_write(cpuc, reg);
}

static void extra_reg_del(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	int reg = event->hw.extra_reg.idx;

	cpuc->extra_regs[reg].users--;
	cpuc->trusted_others |= COREPMU_TRUST_EXTRA_REG(reg);
}

static void acr_add(struct corepmu_cpu *cpuc)
{
	if (!(cpuc->trusted_others & COREPMU_TRUST_ACR))
		cpuc->pmu->backend->acr_forget(cpuc);
	cpuc->trusted_others |= COREPMU_TRUST_ACR;
	cpuc->acr_users++;
}

static void acr_del(struct corepmu_cpu *cpuc)
{
	cpuc->trusted_others |= COREPMU_TRUST_ACR;
	if (!--cpuc->acr_users)
		cpuc->pmu->backend->acr_end(cpuc);
}

/**
 * corepmu_extra_regs_reset() - write the extra registers that the CPU's events use
 * @cpuc: this CPU's state
 *
 * For a backend's reset(): another driver or a power-down may have changed the registers.
 */
void corepmu_extra_regs_reset(struct corepmu_cpu *cpuc)
{
	int reg;

	for (reg = 0; reg < COREPMU_MAX_EXTRA_REGS; reg++)
		if (cpuc->extra_regs[reg].users)
			cpuc->pmu->backend->extra_reg_write(cpuc, reg);
}

/**
 * corepmu_features_fit() - check whether an event's features are free on this CPU
 * @cpuc: this CPU's state
 * @event: an event with COREPMU_EVENT_FEATURES that is about to be placed
 *
 * IRQs off.
 *
 * Return: false while other events use a feature in another way
 */
bool corepmu_features_fit(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	if ((event->hw.flags & COREPMU_EVENT_BRANCHES) && !corepmu_branch_fits(cpuc, event))
		return false;
	if (!corepmu_precise_fits(cpuc, event))
		return false;

	return !(event->hw.flags & COREPMU_EVENT_EXTRA_REG) || extra_reg_fits(cpuc, event);
}

/**
 * corepmu_features_add() - set up the features of an event that has been placed
 * @cpuc: this CPU's state
 * @event: an event with COREPMU_EVENT_FEATURES
 *
 * IRQs off, and the PMU stopped.
 */
void corepmu_features_add(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	if (event->hw.flags & COREPMU_EVENT_BRANCHES)
		corepmu_branch_add(cpuc, event);
	if (event->hw.flags & COREPMU_EVENT_PRECISE)
		corepmu_precise_add(cpuc, event);
	if (event->hw.flags & COREPMU_EVENT_EXTRA_REG)
		extra_reg_add(cpuc, event);
	if (event->hw.flags & COREPMU_EVENT_ACR)
		acr_add(cpuc);
	if (event->hw.flags & COREPMU_EVENT_BRANCH_COUNTERS)
		corepmu_branch_add_counted(cpuc);
}

/**
 * corepmu_features_del() - undo corepmu_features_add()
 * @cpuc: this CPU's state
 * @event: an event with COREPMU_EVENT_FEATURES
 *
 * IRQs off, and the PMU stopped.
 */
void corepmu_features_del(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	if (event->hw.flags & COREPMU_EVENT_BRANCH_COUNTERS)
		corepmu_branch_del_counted(cpuc);
	if (event->hw.flags & COREPMU_EVENT_ACR)
		acr_del(cpuc);
	if (event->hw.flags & COREPMU_EVENT_EXTRA_REG)
		extra_reg_del(cpuc, event);
	if (event->hw.flags & COREPMU_EVENT_PRECISE)
		corepmu_precise_del(cpuc, event);
	if (event->hw.flags & COREPMU_EVENT_BRANCHES)
		corepmu_branch_del(cpuc, event);
}
