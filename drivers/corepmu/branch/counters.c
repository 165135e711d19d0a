// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: event counts in branch records (PERF_SAMPLE_BRANCH_COUNTERS)
 *
 * Each branch record counts the events of some counters since the previous branch. A count has two
 * bits and saturates at 3. Intel's architectural LBR has such counts if CPUID says so. An event
 * with PERF_SAMPLE_BRANCH_COUNTERS must be on one of these counters, and its group's leader must
 * have branch records. For each branch, samples of the group show the counts of all such events of
 * the group. The counts are in the order of the group, the first in the lowest bits.
 *
 * The perf tool reads caps/branch_counter_nr and caps/branch_counter_width.
 *
 * The driver sets EN_LBR_LOG in the event's selector. It clears the records when such an event is
 * placed or moved, since their counts belong to the counter's previous event. On CPUs without such
 * counters, an event with the flag fails with EINVAL, and perf retries without the flag. An event
 * that sets more than an event number and a unit mask fails with EINVAL, too. The built-in driver
 * (intel_pmu_lbr_counters_reorder()) forgets the counts after one sample: a second event that
 * overflows in the same interrupt has none. For a disabled event, whose counter number is -1, the
 * built-in driver shifts by a negative number.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

static bool is_counted(const struct perf_event *event, const struct pmu *pmu)
{
	return event->pmu == pmu && (event->hw.flags & COREPMU_EVENT_BRANCH_COUNTERS);
}

/* Return how many open events with counts the group of @event, a new sibling, already has. */
static unsigned int nr_counted(const struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	unsigned int nr = is_counted(leader, event->pmu);

	for_each_sibling_event(sibling, leader)
		nr += is_counted(sibling, event->pmu);

	return nr;
}

/* Check whether the group's leader has branch records other than an LBR call stack. */
static bool leader_has_branches(const struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	u64 wanted = leader->hw.branch_reg.config;

	return leader->pmu == event->pmu && has_branch_stack(leader) &&
	       (wanted & COREPMU_BRANCH_ANY) && !(wanted & COREPMU_BRANCH_CALL_STACK);
}

/**
 * corepmu_branch_encode_counted() - check an event with PERF_SAMPLE_BRANCH_COUNTERS
 * @pmu: the PMU
 * @event: the event, which is being opened
 * @wanted: COREPMU_BRANCH_* that the event wants; if it has no branch type, the function adds the
 *	leader's types
 *
 * The errno is EINVAL, as on a kernel without PERF_SAMPLE_BRANCH_COUNTERS: perf then tries without
 * it. Process context.
 *
 * Return: 0, or an errno after corepmu_refuse()
 */
int corepmu_branch_encode_counted(struct corepmu *pmu, struct perf_event *event, u64 *wanted)
{
	u64 counters = pmu->branch_backend->counters, asked = event->attr.branch_sample_type;

	if (!counters)
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx: this CPU's branch records have no event counts: leave out counter",
				      asked);
	/* A return removes the call's record and its counts. */
	if (*wanted & COREPMU_BRANCH_CALL_STACK)
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx: an LBR call stack has no event counts: leave out counter or stack",
				      asked);
	event->hw.flags |= COREPMU_EVENT_BRANCH_COUNTERS;
	if (event->group_leader == event)
		return 0;

	if (!leader_has_branches(event))
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx: event counts need a group leader with branch records other than stack: add -j any,u to the leader",
				      asked);
	if (!(*wanted & COREPMU_BRANCH_ANY))
		*wanted |= event->group_leader->hw.branch_reg.config & COREPMU_BRANCH_ANY;
	if (nr_counted(event) >= hweight64(counters))
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx: branch records count at most %u events of a group: leave out counter on the other events",
				      asked, (unsigned int)hweight64(counters));

	return 0;
}

/* The records so far have counts of the counter's previous event: mark them stale. */
static void move_counted(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	cpuc->branches->stale = true;
}

static void add_counted(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	cpuc->branches->nr_counted++;
	move_counted(cpuc, event);
}

static void del_counted(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	cpuc->branches->nr_counted--;
}

const struct corepmu_feature_ops corepmu_branch_counters_feature = {
	.add	= add_counted,
	.moved	= move_counted,
	.del	= del_counted,
};

/**
 * corepmu_branch_find_counted() - find the counters that a sample shows counts of
 * @event: the event of the sample
 * @counters: filled in: counters of the group's events with COREPMU_EVENT_BRANCH_COUNTERS, in the
 *	order of the group; -1 for an event without a counter. The array has
 *	COREPMU_MAX_BRANCH_COUNTS elements
 *
 * The events of a group are on the CPU together, but one of them may be disabled. From the overflow
 * interrupt, or with IRQs off.
 *
 * Return: number of events in @counters
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
 * corepmu_branch_counts() - put the counts of a branch into the order of a group
 * @counts: counts in the record, counter 0 in the lowest bits
 * @counters: counters of the group's events
 * @nr: number of elements in @counters
 *
 * Return: the word that perf core writes into a sample
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
