// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: branch records
 *
 * The hardware keeps the last branches in registers. It is told to record what the CPU's
 * events ask for together, and stands still from an overflow on; the first sample of an
 * interrupt reads all records, and each sample gets those that its own event asked for
 * (branch-sample.c). Whose branches they are, and the stacks of calls that are kept while their
 * task is away: branch-task.c.
 *
 * Hardware that records a stack of calls records nothing else. So on a CPU either all events
 * that want records want stacks of calls, or none does; perf core has the others take turns.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <corepmu/branch.h>
#include <corepmu/ksyms.h>
#include <corepmu/pmu.h>

/* PERF_SAMPLE_BRANCH_* and what it asks for; 0 where that is nothing of the hardware */
static const struct {
	u64	asked;
	u64	wanted;
} branch_kinds[] = {
	{ PERF_SAMPLE_BRANCH_USER, COREPMU_BRANCH_USER },
	{ PERF_SAMPLE_BRANCH_KERNEL, COREPMU_BRANCH_KERNEL },
	/* There is nothing above the kernel that records could be of. */
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
	/* It is no branch that is asked for: branch-count.c */
	{ COMPAT_SAMPLE_BRANCH_COUNTERS, 0 },
};

#define BRANCH_ASKS_TX							\
	(PERF_SAMPLE_BRANCH_ABORT_TX | PERF_SAMPLE_BRANCH_IN_TX | PERF_SAMPLE_BRANCH_NO_TX)

/* Whose records this CPU's are, while it has events that ask for some */
static DEFINE_PER_CPU(struct corepmu_cpu *, branch_cpuc);

/* The system ends: nothing is to record any more. */
static bool branches_off;

static const struct corepmu_branch_backend *to_backend(const struct corepmu_cpu *cpuc)
{
	return cpuc->pmu->branch_backend;
}

/**
 * corepmu_branch_setup() - a PMU has branch records
 * @pmu: the PMU, not registered yet
 * @backend: their registers
 * @nr: how many there are
 *
 * Process context.
 *
 * Return: 0 or -ENOMEM
 */
int corepmu_branch_setup(struct corepmu *pmu, const struct corepmu_branch_backend *backend,
			 unsigned int nr)
{
	int cpu;

	pmu->branches = alloc_percpu(struct corepmu_branches);
	if (!pmu->branches)
		return -ENOMEM;

	pmu->branch_backend = backend;
	pmu->nr_branches = min_t(unsigned int, nr, COREPMU_MAX_BRANCHES);
	for_each_possible_cpu(cpu) {
		struct corepmu_cpu *cpuc = per_cpu_ptr(pmu->cpu, cpu);

		cpuc->branches = per_cpu_ptr(pmu->branches, cpu);
		cpuc->branches->selected = ~0ULL;
		cpuc->branches->stale = true;
	}
	pr_debug("%s: the last %u branches are recorded\n", backend->name, pmu->nr_branches);

	return 0;
}

/**
 * corepmu_branch_cleanup() - undo corepmu_branch_setup(), if it was called
 * @pmu: a PMU that is not registered
 */
void corepmu_branch_cleanup(struct corepmu *pmu)
{
	free_percpu(pmu->branches);
	pmu->branches = NULL;
	pmu->nr_branches = 0;
}

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

/* Is perf core to tell of switches of tasks, and does it tell this PMU of them? */
static bool is_told(const struct corepmu *pmu)
{
	return corepmu_has_sched_cb() && compat_sched_task_is_told(&pmu->perf_pmu);
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
	if (!is_told(pmu))
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
	if (!(wanted & COREPMU_BRANCH_ANY) ||
	    !(wanted & (COREPMU_BRANCH_USER | COREPMU_BRANCH_KERNEL)))
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx, which is no branch at all",
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

/* Events that come and go */

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

/**
 * corepmu_branch_add() - an event that wants branch records has been placed
 * @cpuc: this CPU's state
 * @event: the event, which has COREPMU_EVENT_BRANCHES
 *
 * IRQs off, the PMU stands still.
 */
void corepmu_branch_add(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct corepmu_branches *branches = cpuc->branches;
	u64 wanted = branches->wanted | event->hw.branch_reg.config;

	/* Branches of these kinds would be missing among the records that there are. */
	if (wanted != branches->wanted) {
		branches->stale = true;
		if (branches->recording)
			corepmu_branch_stop(cpuc);
	}
	branches->wanted = wanted;
	barrier();
	cpuc->branch_users++;
	this_cpu_write(branch_cpuc, cpuc);
	if (is_told(cpuc->pmu))
		corepmu_perf_sched_cb_inc(event->pmu);
}

/**
 * corepmu_branch_del() - an event that wanted branch records has lost its counter
 * @cpuc: this CPU's state
 * @event: the event
 *
 * IRQs off, the PMU stands still.
 */
void corepmu_branch_del(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct corepmu_branches *branches = cpuc->branches;
	u64 wanted = 0;
	int idx;

	if (is_told(cpuc->pmu))
		corepmu_perf_sched_cb_dec(event->pmu);
	if (!--cpuc->branch_users)
		this_cpu_write(branch_cpuc, NULL);

	for (idx = 0; cpuc->branch_users && idx < COREPMU_MAX_COUNTERS; idx++) {
		const struct perf_event *other = cpuc->events[idx];

		if (other && (other->hw.flags & COREPMU_EVENT_BRANCHES))
			wanted |= other->hw.branch_reg.config;
	}
	/* It is told anew, of less, when the PMU starts; or has nothing to do from here on. */
	if (branches->recording && wanted != branches->wanted)
		corepmu_branch_stop(cpuc);
	/* Nothing has been recorded for a while when the next event comes. */
	branches->wanted = wanted;
}

/**
 * corepmu_branch_this_cpu() - whose branch records this CPU's are
 *
 * IRQs off, or NMI.
 *
 * Return: the state of the PMU whose events want them, NULL while none does
 */
struct corepmu_cpu *corepmu_branch_this_cpu(void)
{
	return this_cpu_read(branch_cpuc);
}

/* Not inline: most switches have no stack of calls and find the PMU disabled. */
static noinline void branch_switch(struct corepmu_cpu *cpuc, bool sched_in)
{
	/* Before 6.2 perf core may have disabled the PMU of an earlier load in place of this. */
	bool resume = cpuc->running;

	if (resume)
		corepmu_stop_cpu(cpuc);
	if (sched_in)
		corepmu_branch_come(cpuc);
	else
		corepmu_branch_leave(cpuc);
	if (resume)
		corepmu_start_cpu(cpuc);
}

/**
 * corepmu_branch_switch() - perf core has switched tasks
 * @sched_in: to the current one; or it is about to be switched away from
 *
 * IRQs off.
 */
void corepmu_branch_switch(bool sched_in)
{
	struct corepmu_cpu *cpuc = this_cpu_read(branch_cpuc);

	if (!cpuc)
		return;
	if ((cpuc->branches->wanted & COREPMU_BRANCH_CALL_STACK) || cpuc->running)
		branch_switch(cpuc, sched_in);
	else if (sched_in)
		cpuc->branches->stale = true;
}

/* The hardware */

/**
 * corepmu_branch_stop() - have the hardware record nothing
 * @cpuc: the CPU's state; it has events that want records
 *
 * The PMU stands still. Not inline: corepmu_branch_pause() stops nothing as a rule.
 */
noinline void corepmu_branch_stop(struct corepmu_cpu *cpuc)
{
	to_backend(cpuc)->stop(cpuc);
	/* An NMI before this has stopped them once more. */
	barrier();
	cpuc->branches->recording = false;
}

/* Not inline: at most calls of corepmu_branch_start() the hardware records already. */
static noinline void branch_start(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;
	const struct corepmu_branch_backend *backend = to_backend(cpuc);

	if (branches->recording && backend->renew) {
		corepmu_branch_renew(cpuc);
		return;
	}
	if (branches->recording)
		corepmu_branch_stop(cpuc);
	if (branches->stale)
		corepmu_branch_wipe(cpuc);
	branches->read = false;
	barrier();
	backend->start(cpuc);
	barrier();
	branches->recording = true;
}

/**
 * corepmu_branch_start() - have the hardware record
 * @cpuc: the CPU's state; it has events that want records
 *
 * From corepmu_start_cpu().
 */
void corepmu_branch_start(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;

	if (READ_ONCE(branches_off))
		return;

	branches->version++;
	if (branches->recording && !branches->stale)
		branches->read = false;
	else
		branch_start(cpuc);
}

/**
 * corepmu_branch_pause() - records are to stay as they are
 * @cpuc: the CPU's state; it has events that want records
 *
 * Those of user space alone do so for as long as the kernel runs, unless an overflow whose
 * interrupt is still to come has ended recording, which has to be noticed. From
 * corepmu_stop_cpu().
 */
void corepmu_branch_pause(struct corepmu_cpu *cpuc)
{
	if ((cpuc->branches->wanted & COREPMU_BRANCH_KERNEL) || to_backend(cpuc)->freeze_ends)
		corepmu_branch_stop(cpuc);
}

/**
 * corepmu_branch_interrupt() - the overflow interrupt has come
 * @cpuc: the CPU's state; it has events that want records
 *
 * Records stand still until the overflow is acknowledged, or it is not theirs. Those of user
 * space alone do so in the kernel anyway.
 */
void corepmu_branch_interrupt(struct corepmu_cpu *cpuc)
{
	if (to_backend(cpuc)->freeze_ends)
		corepmu_branch_stop(cpuc);
}

static bool wants_records(const struct corepmu_cpu *cpuc, u64 overflowed)
{
	for (overflowed &= cpuc->active; overflowed; overflowed &= overflowed - 1) {
		const struct perf_event *event = cpuc->events[__ffs64(overflowed)];

		if (event && (event->hw.flags & COREPMU_EVENT_BRANCHES))
			return true;
	}

	return false;
}

/**
 * corepmu_branch_acknowledge() - overflows are about to be acknowledged
 * @cpuc: this CPU's state
 * @overflowed: of these counters
 * @frozen: the hardware says that its records stand still
 *
 * They go on then, and the kernel's have the handler's own branches: read them before, or, when
 * nobody who has overflowed wants them, but maybe somebody who is stopped meanwhile, stop them.
 * From the overflow interrupt.
 */
void corepmu_branch_acknowledge(struct corepmu_cpu *cpuc, u64 overflowed, bool frozen)
{
	const struct corepmu_branches *branches = cpuc->branches;

	if (!branches->recording || branches->read || !(branches->wanted & COREPMU_BRANCH_KERNEL))
		return;
	if (frozen && wants_records(cpuc, overflowed))
		corepmu_branch_read(cpuc);
	else
		corepmu_branch_stop(cpuc);
}

/**
 * corepmu_branch_reset() - the same, and nothing is known of the registers
 * @cpuc: the CPU's state
 *
 * From the backend's reset().
 */
void corepmu_branch_reset(struct corepmu_cpu *cpuc)
{
	if (!cpuc->branches)
		return;
	cpuc->branches->stale = true;
	cpuc->branches->version++;
	cpuc->branches->selected = ~0ULL;
	cpuc->branches->recording = false;
	cpuc->branches->freezes = false;
	to_backend(cpuc)->reset(cpuc);
}

/**
 * corepmu_branch_off() - from now on nothing is recorded
 */
void corepmu_branch_off(void)
{
	WRITE_ONCE(branches_off, true);
}

/**
 * corepmu_branch_on() - undo corepmu_branch_off()
 */
void corepmu_branch_on(void)
{
	WRITE_ONCE(branches_off, false);
}
