// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: counts of events in branch records, PERF_SAMPLE_BRANCH_COUNTERS
 *
 * The record of a branch says how often events have happened since the branch before: two bits,
 * which stay at 3, for each of some counters (Intel's architectural records, where CPUID says
 * so). An event that asks for it has to be on one of these. Each sample of its group, which has a
 * leader with branch records, shows for each branch the numbers of the group's events that have
 * asked, in the order of the group: the leader's in the lowest bits, if it has asked.
 *
 * The perf tool reads caps/branch_counter_nr and caps/branch_counter_width.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/pmu.h>

static bool is_counted(const struct perf_event *event, const struct pmu *pmu)
{
	return event->pmu == pmu && (event->hw.flags & COREPMU_EVENT_COUNTED);
}

/* Those that are open already of the group of @event, which is not its leader */
static unsigned int nr_counted(const struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	unsigned int nr = is_counted(leader, event->pmu);

	for_each_sibling_event(sibling, leader)
		nr += is_counted(sibling, event->pmu);

	return nr;
}

/* The leader has branch records, and not of a stack of calls. */
static bool leader_has_branches(const struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	u64 wanted = leader->hw.branch_reg.config;

	return leader->pmu == event->pmu && has_branch_stack(leader) &&
	       (wanted & COREPMU_BRANCH_ANY) && !(wanted & COREPMU_BRANCH_CALL_STACK);
}

/**
 * corepmu_branch_encode_counted() - can an event be counted in the branch records of its group?
 * @pmu: the PMU
 * @event: an event with PERF_SAMPLE_BRANCH_COUNTERS that is being opened
 * @wanted: COREPMU_BRANCH_* that it asks for; if these are no branches they become its leader's
 *
 * Process context. EINVAL, as from a kernel that does not know it: perf tries again without.
 *
 * Return: 0, or an errno after saying why
 */
int corepmu_branch_encode_counted(struct corepmu *pmu, struct perf_event *event, u64 *wanted)
{
	u64 counters = pmu->branch_backend->counters, asked = event->attr.branch_sample_type;

	if (!counters)
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx: the CPU's records have no counts of events",
				      asked);
	/* What a call that has returned had is lost with its record. */
	if (*wanted & COREPMU_BRANCH_CALL_STACK)
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx: a stack of calls has no counts of events",
				      asked);
	event->hw.flags |= COREPMU_EVENT_COUNTED;
	if (event->group_leader == event)
		return 0;

	if (!leader_has_branches(event))
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx: its group's leader has no branch records that could have counts",
				      asked);
	if (!(*wanted & COREPMU_BRANCH_ANY))
		*wanted |= event->group_leader->hw.branch_reg.config & COREPMU_BRANCH_ANY;
	if (nr_counted(event) >= hweight64(counters))
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx: the CPU's records have counts of %u events",
				      asked, (unsigned int)hweight64(counters));

	return 0;
}

/**
 * corepmu_branch_add_counted() - an event with COREPMU_EVENT_COUNTED has been placed
 * @cpuc: this CPU's state
 *
 * Records that there are have counts of whoever had its counter before. IRQs off, and the PMU
 * stopped.
 */
void corepmu_branch_add_counted(struct corepmu_cpu *cpuc)
{
	cpuc->branches->counted++;
	corepmu_branch_move_counted(cpuc);
}

/**
 * corepmu_branch_del_counted() - undo corepmu_branch_add_counted()
 * @cpuc: this CPU's state
 *
 * IRQs off, and the PMU stopped.
 */
void corepmu_branch_del_counted(struct corepmu_cpu *cpuc)
{
	cpuc->branches->counted--;
}

/**
 * corepmu_branch_move_counted() - an event with COREPMU_EVENT_COUNTED has got another counter
 * @cpuc: this CPU's state
 *
 * IRQs off, and the PMU stopped.
 */
void corepmu_branch_move_counted(struct corepmu_cpu *cpuc)
{
	cpuc->branches->stale = true;
}

/**
 * corepmu_branch_find_counted() - which counters' numbers does a sample show?
 * @event: an event whose sample it is
 * @counters: where COREPMU_MAX_BRANCH_COUNTS of them have room; -1 for an event without one
 *
 * The events of a group are on the CPU together; one of them may be disabled. From the overflow
 * interrupt, or with IRQs off.
 *
 * Return: how many there are
 */
unsigned int corepmu_branch_find_counted(const struct perf_event *event, s8 *counters)
{
	struct perf_event *leader = event->group_leader, *sibling;
	unsigned int nr = 0;

	if (is_counted(leader, event->pmu))
		counters[nr++] = leader->hw.idx;
	for_each_sibling_event(sibling, leader)
		if (is_counted(sibling, event->pmu) && nr < COREPMU_MAX_BRANCH_COUNTS)
			counters[nr++] = sibling->hw.idx;

	return nr;
}

/**
 * corepmu_branch_counts() - the numbers of a branch, in the order of a group
 * @counts: what the record has, by counter
 * @counters: the counters of the group's events
 * @nr: how many there are
 *
 * Return: what perf core writes into a sample
 */
u64 corepmu_branch_counts(u8 counts, const s8 *counters, unsigned int nr)
{
	u64 ordered = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (counters[i] >= 0)
			ordered |= (u64)(counts >> (counters[i] * COREPMU_BRANCH_COUNT_BITS) &
					 COREPMU_BRANCH_COUNT) << (i * COREPMU_BRANCH_COUNT_BITS);

	return ordered;
}
