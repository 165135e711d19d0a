// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: what branch records an event wants, and whether it can have them
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/kernel.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/pmu.h>

/* PERF_SAMPLE_BRANCH_* and what it asks for; 0 where that is nothing of the hardware */
static const struct {
	u64	asked;
	u64	wanted;
} branch_kinds[] = {
	{ PERF_SAMPLE_BRANCH_USER, COREPMU_BRANCH_USER },
	{ PERF_SAMPLE_BRANCH_KERNEL, COREPMU_BRANCH_KERNEL },
	/* With HV alone samples have no branches: hardware records none of a hypervisor. */
	{ PERF_SAMPLE_BRANCH_HV, 0 },
	{ PERF_SAMPLE_BRANCH_ANY, COREPMU_BRANCH_ANY },
	{ PERF_SAMPLE_BRANCH_ANY_CALL,
	  COREPMU_BRANCH_CALL | COREPMU_BRANCH_IND_CALL | COREPMU_BRANCH_SYSCALL |
	  COREPMU_BRANCH_SOFT_INT | COREPMU_BRANCH_IRQ },
	{ PERF_SAMPLE_BRANCH_ANY_RETURN,
	  COREPMU_BRANCH_RET | COREPMU_BRANCH_SYSRET | COREPMU_BRANCH_ERET },
	{ PERF_SAMPLE_BRANCH_IND_CALL, COREPMU_BRANCH_IND_CALL },
	{ PERF_SAMPLE_BRANCH_ABORT_TX, COREPMU_BRANCH_ABORT },
	{ PERF_SAMPLE_BRANCH_IN_TX, COREPMU_BRANCH_IN_TX },
	{ PERF_SAMPLE_BRANCH_NO_TX, COREPMU_BRANCH_NO_TX },
	{ PERF_SAMPLE_BRANCH_COND, COREPMU_BRANCH_COND },
	{ PERF_SAMPLE_BRANCH_CALL_STACK, COREPMU_BRANCH_CALL_STACK },
	{ PERF_SAMPLE_BRANCH_IND_JUMP, COREPMU_BRANCH_IND_JUMP },
	{ PERF_SAMPLE_BRANCH_CALL, COREPMU_BRANCH_CALL },
	{ PERF_SAMPLE_BRANCH_NO_FLAGS, 0 },
	{ PERF_SAMPLE_BRANCH_NO_CYCLES, 0 },
	{ PERF_SAMPLE_BRANCH_TYPE_SAVE, COREPMU_BRANCH_TYPE },
	{ PERF_SAMPLE_BRANCH_HW_INDEX, 0 },
	{ PERF_SAMPLE_BRANCH_PRIV_SAVE, COREPMU_BRANCH_LEVEL },
	/* It is no branch that is asked for: counters.c */
	{ COMPAT_SAMPLE_BRANCH_COUNTERS, 0 },
};

#define BRANCH_ASKS_TX							\
	(PERF_SAMPLE_BRANCH_ABORT_TX | PERF_SAMPLE_BRANCH_IN_TX | PERF_SAMPLE_BRANCH_NO_TX)

/* What @asked, of attr.branch_sample_type, wants; the bits that nobody knows go to @unknown. */
static u64 branch_wants(u64 asked, u64 *unknown)
{
	u64 wanted = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(branch_kinds); i++) {
		if (!(asked & branch_kinds[i].asked))
			continue;
		wanted |= branch_kinds[i].wanted;
		asked &= ~branch_kinds[i].asked;
	}
	*unknown = asked;

	return wanted;
}

/*
 * A stack of calls, of user space: the kernel leaves its own without returning when it
 * switches tasks, and enters and leaves it without calls.
 */
static int check_call_stack(const struct corepmu *pmu, u64 asked, u64 wanted)
{
	if (!(pmu->branch_backend->offers & COREPMU_BRANCH_CALL_STACK))
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: the CPU's records do not follow calls",
				      asked);
	if (wanted & (COREPMU_BRANCH_ANY | COREPMU_BRANCH_ANY_TX))
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx: a stack of calls has no other branches",
				      asked);
	if (wanted & COREPMU_BRANCH_KERNEL)
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: calls are followed in user space only",
				      asked);
	if (!corepmu_branch_is_told(pmu))
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: this kernel does not tell this PMU when tasks are switched",
				      asked);

	return 0;
}

static int check_branches(const struct corepmu *pmu, u64 asked, u64 wanted)
{
	const struct corepmu_branch_backend *backend = pmu->branch_backend;

	if ((asked & BRANCH_ASKS_TX) && !(backend->offers & COREPMU_BRANCH_ANY_TX))
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: the CPU has no transactions",
				      asked);
	if (wanted & COREPMU_BRANCH_KERNEL & ~backend->offers)
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: branches of the kernel are not recorded: %s",
				      asked, backend->kernel_reason);

	return 0;
}

/**
 * corepmu_branch_encode() - what branch records does an event want?
 * @pmu: the PMU
 * @event: an event with PERF_SAMPLE_BRANCH_STACK that is being opened
 *
 * Perf core has seen to it that branch_sample_type has levels, which it takes from exclude_*
 * where there are none, and that records of the kernel are for those who may have them.
 * Process context.
 *
 * Return: 0, or an errno after saying why
 */
int corepmu_branch_encode(struct corepmu *pmu, struct perf_event *event)
{
	u64 asked = event->attr.branch_sample_type, wanted, unknown;
	int ret;

	if (!pmu->nr_branches)
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: branches are not recorded: %s",
				      asked, pmu->branch_reason ?: "this CPU is not known to");

	wanted = branch_wants(asked, &unknown);
	/* EINVAL, as from a kernel that does not know them: perf tries again without. */
	if (unknown)
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx: this is not recorded: %#llx",
				      asked, unknown);

	if (asked & COMPAT_SAMPLE_BRANCH_COUNTERS) {
		ret = corepmu_branch_encode_counted(pmu, event, &wanted);
		if (ret)
			return ret;
	}
	if (wanted & COREPMU_BRANCH_CALL_STACK) {
		ret = check_call_stack(pmu, asked, wanted);
		wanted |= COREPMU_BRANCH_NEAR_CALLS;
	} else {
		ret = check_branches(pmu, asked, wanted);
	}
	if (ret)
		return ret;
	/*
	 * Without a kind of branch all samples have an empty stack. perf of 7.x opens such events
	 * to see which of COUNTERS, HW_INDEX, NO_FLAGS and NO_CYCLES there are, and does without
	 * those refused (evsel__detect_missing_brstack_features() in tools/perf/util/evsel.c).
	 */
	if (!(wanted & COREPMU_BRANCH_ANY) && !pmu->branch_backend->empty_stacks)
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx, which selects no branch type: add one (any, any_call, ...)",
				      asked);

	if (!(asked & PERF_SAMPLE_BRANCH_NO_FLAGS))
		wanted |= COREPMU_BRANCH_FLAGS;
	if (!(asked & PERF_SAMPLE_BRANCH_NO_CYCLES))
		wanted |= COREPMU_BRANCH_CYCLES;
	if (!(wanted & COREPMU_BRANCH_CALL_STACK) &&
	    (wanted & COREPMU_BRANCH_ANY) != COREPMU_BRANCH_ANY)
		wanted |= COREPMU_BRANCH_CHOSEN;
	event->hw.branch_reg.config = wanted;

	/* Without samples there is nothing that records would be for. */
	if (!is_sampling_event(event))
		return 0;
	event->hw.flags |= COREPMU_EVENT_BRANCHES;
	event->attach_state |= PERF_ATTACH_SCHED_CB;

	return 0;
}

static bool differ(u64 wanted, u64 others)
{
	return (wanted ^ others) & COREPMU_BRANCH_CALL_STACK;
}

static bool differ_in_group(const struct perf_event *event, const struct perf_event *other)
{
	return other->pmu == event->pmu && (other->hw.flags & COREPMU_EVENT_BRANCHES) &&
	       differ(event->hw.branch_reg.config, other->hw.branch_reg.config);
}

/**
 * corepmu_branch_fits_group() - can an event be on a CPU together with its group?
 * @event: an event that is being opened, which corepmu_branch_encode() may have seen
 *
 * Process context.
 *
 * Return: false when only one of them could have its records
 */
bool corepmu_branch_fits_group(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;

	if (!(event->hw.flags & COREPMU_EVENT_BRANCHES))
		return true;
	if (differ_in_group(event, leader))
		return false;
	for_each_sibling_event(sibling, leader)
		if (differ_in_group(event, sibling))
			return false;

	return true;
}

/**
 * corepmu_branch_fits() - can an event have its records on this CPU now?
 * @cpuc: this CPU's state
 * @event: an event that is to be placed, which has COREPMU_EVENT_BRANCHES
 *
 * IRQs off.
 *
 * Return: false while there are events that want the hardware to record otherwise
 */
bool corepmu_branch_fits(const struct corepmu_cpu *cpuc, const struct perf_event *event)
{
	return !cpuc->branch_users ||
	       !differ(event->hw.branch_reg.config, cpuc->branches->wanted);
}
