// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: encode and check attr.branch_sample_type
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/kernel.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/ksyms.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

/* COREPMU_BRANCH_* for each PERF_SAMPLE_BRANCH_*; 0 if the bit asks nothing of the hardware */
static const struct {
	u64	asked;
	u64	wanted;
} branch_filters[] = {
	{ PERF_SAMPLE_BRANCH_USER, COREPMU_BRANCH_USER },
	{ PERF_SAMPLE_BRANCH_KERNEL, COREPMU_BRANCH_KERNEL },
	/* No hardware records a hypervisor. With VHE see pmuv3_encode_branches(). */
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
	/* counters.c checks this bit, which selects no branch. */
	{ COMPAT_SAMPLE_BRANCH_COUNTERS, 0 },
};

#define BRANCH_ASKS_TX							\
	(PERF_SAMPLE_BRANCH_ABORT_TX | PERF_SAMPLE_BRANCH_IN_TX | PERF_SAMPLE_BRANCH_NO_TX)

/* Return the COREPMU_BRANCH_* of @asked, an attr.branch_sample_type; @unknown gets unknown bits. */
static u64 branch_wants(u64 asked, u64 *unknown)
{
	u64 wanted = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(branch_filters); i++) {
		if (!(asked & branch_filters[i].asked))
			continue;
		wanted |= branch_filters[i].wanted;
		asked &= ~branch_filters[i].asked;
	}
	*unknown = asked;

	return wanted;
}

/*
 * Check an event with an LBR call stack. LBR call stacks are of user space only: a task switch
 * leaves the kernel's calls without returns, and the kernel is entered and left without calls.
 */
static int check_call_stack(const struct corepmu *pmu, u64 asked, u64 wanted)
{
	if (!(pmu->branch_backend->offers & COREPMU_BRANCH_CALL_STACK))
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: this CPU has no LBR call stacks: use --call-graph fp or dwarf",
				      asked);
	if (wanted & (COREPMU_BRANCH_ANY | COREPMU_BRANCH_ANY_TX))
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx: an LBR call stack excludes branch types: leave them out (-j stack,u)",
				      asked);
	if (wanted & COREPMU_BRANCH_KERNEL)
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: LBR call stacks are of user space only: leave out the kernel (-j stack,u)",
				      asked);
	if (!corepmu_is_notified(&pmu->perf_pmu))
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: on this PMU LBR call stacks need Linux 6.2: use --call-graph fp or dwarf",
				      asked);

	return 0;
}

static int check_branches(const struct corepmu *pmu, u64 asked, u64 wanted)
{
	const struct corepmu_branch_backend *backend = pmu->branch_backend;

	if ((asked & BRANCH_ASKS_TX) && !backend->never_in_tx &&
	    !(backend->offers & COREPMU_BRANCH_ANY_TX))
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: branch records do not show transactions: leave out abort_tx, in_tx and no_tx",
				      asked);
	if (wanted & COREPMU_BRANCH_KERNEL & ~backend->offers)
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: kernel branches are not recorded (use u, not k): %s",
				      asked, backend->kernel_reason);

	return 0;
}

/**
 * corepmu_branch_encode() - encode and check an event's branch_sample_type
 * @pmu: the PMU
 * @event: an event with PERF_SAMPLE_BRANCH_STACK that is being opened
 *
 * Perf core has set privilege levels in branch_sample_type, from exclude_* if user space set none.
 * Perf core has also checked the permission for branches of the kernel. Process context.
 *
 * Return: 0, or an errno after corepmu_refuse()
 */
int corepmu_branch_encode(struct corepmu *pmu, struct perf_event *event)
{
	u64 asked = event->attr.branch_sample_type, wanted, unknown;
	int ret;

	if (!pmu->nr_branches)
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: there are no branch records (leave out -b and -j): %s",
				      asked, pmu->branch_reason ?: "this driver supports none on this CPU");

	wanted = branch_wants(asked, &unknown);
	/* EINVAL, as on a kernel that does not know these bits: perf then tries without them. */
	if (unknown)
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx: the bits %#llx are unknown: leave them out",
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
	 * Without a branch type all samples have an empty branch stack. perf 7.x opens such events
	 * to find out which of COUNTERS, HW_INDEX, NO_FLAGS and NO_CYCLES the kernel supports.
	 * Later perf does without the rejected bits (evsel__detect_missing_brstack_features() in
	 * tools/perf/util/evsel.c).
	 */
	if (!(wanted & COREPMU_BRANCH_ANY) && !pmu->branch_backend->empty_stacks)
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx and selects no branch type: add one (any, any_call, ...)",
				      asked);

	if (!(asked & PERF_SAMPLE_BRANCH_NO_FLAGS))
		wanted |= COREPMU_BRANCH_FLAGS;
	if (!(asked & PERF_SAMPLE_BRANCH_NO_CYCLES))
		wanted |= COREPMU_BRANCH_CYCLES;
	if (!(wanted & COREPMU_BRANCH_CALL_STACK) &&
	    (wanted & COREPMU_BRANCH_ANY) != COREPMU_BRANCH_ANY)
		wanted |= COREPMU_BRANCH_CHOSEN;
	if (event->attr.exclude_guest)
		wanted |= pmu->branch_backend->offers & COREPMU_BRANCH_NO_GUESTS;
	event->hw.branch_reg.config = wanted;

	/* An event without samples needs no branch records. */
	if (!is_sampling_event(event))
		return 0;
	event->hw.flags |= COREPMU_EVENT_BRANCHES;
	event->attach_state |= PERF_ATTACH_SCHED_CB;

	return 0;
}

static bool call_stacks_differ(u64 wanted, u64 others)
{
	return (wanted ^ others) & COREPMU_BRANCH_CALL_STACK;
}

static bool differ_in_group(const struct perf_event *event, const struct perf_event *other)
{
	return other->pmu == event->pmu && (other->hw.flags & COREPMU_EVENT_BRANCHES) &&
	       call_stacks_differ(event->hw.branch_reg.config, other->hw.branch_reg.config);
}

/**
 * corepmu_branch_check_group() - check whether an event's branch records exclude its group's
 * @event: an event with branch records that is being opened
 *
 * Process context.
 *
 * Return: 0, or -EINVAL after corepmu_refuse() if one event needs an LBR call stack, and another
 * event other branch records
 */
int corepmu_branch_check_group(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	bool differs = differ_in_group(event, leader);

	for_each_sibling_event(sibling, leader)
		differs |= differ_in_group(event, sibling);
	if (!differs)
		return 0;

	return corepmu_refuse(-EINVAL,
			      "the group has LBR call stacks and other branch records, and the hardware records one kind: use two groups");
}

/**
 * corepmu_branch_fits() - check whether an event's branch records exclude the placed events'
 * @cpuc: this CPU's state
 * @event: an event that is about to be placed, which has COREPMU_EVENT_BRANCHES
 *
 * IRQs off.
 *
 * Return: 0, or -EAGAIN if the event needs an LBR call stack and placed events do not, or vice
 * versa
 */
int corepmu_branch_fits(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	if (corepmu_uses(cpuc, COREPMU_FEATURE_BRANCHES) &&
	    call_stacks_differ(event->hw.branch_reg.config, cpuc->branches->wanted))
		return -EAGAIN;

	return 0;
}
