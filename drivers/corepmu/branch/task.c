// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: track the task that the branch records belong to, and save LBR call stacks
 *
 * A branch record does not name its task, and records show neither a task switch nor a gap. So the
 * driver clears the records
 * - before recording starts again, if an event wants branches that were not recorded so far;
 * - at every task switch that perf core notifies the PMU of.
 *
 * Before Linux 7.3 perf core may give no notice if the next task has a context with events of other
 * PMUs only. Before 6.2 perf core notifies only one PMU of the hardware context, which may be
 * another driver's. So the driver notes the task that the records belong to, and the number of
 * times that this task had been scheduled out. A sample of another task has no branch records. A
 * sample after a task switch without a notice has none either.
 *
 * An LBR call stack is useful only if the hardware has recorded it from its outermost call on. So
 * if a task has an event with a call stack, the driver saves the records at sched_out of the task,
 * and restores them at sched_in. Perf core provides memory for this, but in another place on each
 * kernel: in the context, which tasks exchange; in the PMU's part of the context; in the task, but
 * for all PMUs together. Perf core may also free the memory after the module is unloaded. So the
 * driver keeps the call stacks itself, in a hash table by task. A call stack lives as long as the
 * events that were opened on the task. For per-CPU events the hardware records calls from the
 * moment when the task is scheduled in.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include <corepmu/branch.h>
#include <corepmu/ksyms.h>
#include <corepmu/pmu.h>

/*
 * The LBR call stacks of all tasks that have one. Only the CPU that switches from or to a task
 * looks up and changes the task's call stack. A task is on one CPU at a time.
 */
#define CALL_STACK_BITS		7

static DEFINE_HASHTABLE(call_stacks, CALL_STACK_BITS);
static DEFINE_SPINLOCK(call_stacks_lock);

static unsigned long times_switched(const struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

/* Check whether @branches->task is current, and has not been scheduled out since. */
static bool is_without_gap(const struct corepmu_branches *branches)
{
	return branches->task == current &&
	       branches->switches + branches->in_sched_out == times_switched(current);
}

/*
 * Check whether perf core has notified the PMU of all switches of the current task since its events
 * with branch records were placed. With COMPAT_NOTIFIES_EVERY_SWITCH perf core does so for every
 * task; earlier kernels, from 6.2 on, do so for a task that has an event of this PMU.
 */
static bool has_all_notices(const struct corepmu_cpu *cpuc)
{
	int idx;

	/* Before 6.2 PMUs share a context, and perf core notifies only one of them. */
	if (COMPAT_PMUS_SHARE_CONTEXT || !corepmu_is_notified(&cpuc->pmu->perf_pmu))
		return false;
	if (COMPAT_NOTIFIES_EVERY_SWITCH)
		return true;

	for (idx = 0; idx < COREPMU_MAX_COUNTERS; idx++) {
		const struct perf_event *event = cpuc->events[idx];

		if (event && event->hw.target && (event->hw.flags & COREPMU_EVENT_BRANCHES))
			return true;
	}

	return false;
}

/**
 * corepmu_branch_is_current() - check whether the records belong to the current task, without a gap
 * @cpuc: this CPU's state
 *
 * The result is also true while perf core stops the events of a task that is being scheduled out: a
 * late overflow still gets its branches. The scheduler counts the switch (nvcsw, nivcsw) a little
 * before perf core calls pmu.sched_task. In between, the task looks as after a switch without a
 * notice: the result is true only if perf core gives notice of all switches. IRQs off, or NMI.
 *
 * Return: true if the records belong to the current task
 */
bool corepmu_branch_is_current(const struct corepmu_cpu *cpuc)
{
	const struct corepmu_branches *branches = cpuc->branches;

	return is_without_gap(branches) ||
	       (branches->task == current && !branches->stale && has_all_notices(cpuc));
}

/**
 * corepmu_branch_check_gap() - mark the records stale unless the current task has made all of them
 * @cpuc: this CPU's state; an event is being placed
 *
 * IRQs off, and the PMU stopped.
 */
void corepmu_branch_check_gap(struct corepmu_cpu *cpuc)
{
	if (!is_without_gap(cpuc->branches))
		cpuc->branches->stale = true;
}

/* Claim the hardware's records for the current task. */
static void claim_records(struct corepmu_branches *branches)
{
	barrier();
	branches->is_read = false;
	branches->switches = times_switched(current);
	branches->in_sched_out = false;
	branches->task = current;
	branches->stale = false;
}

/**
 * corepmu_branch_clear() - clear all records while recording is stopped
 * @cpuc: this CPU's state
 *
 * An NMI that comes meanwhile finds task set to NULL and shows no records. The NMI clears the
 * records, too, before it starts recording. IRQs off, or NMI.
 */
void corepmu_branch_clear(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;

	branches->task = NULL;
	branches->version++;
	barrier();
	cpuc->pmu->branch_backend->clear(cpuc);
	claim_records(branches);
}

/**
 * corepmu_branch_restart() - clear all records and go on recording
 * @cpuc: this CPU's state; the hardware records the wanted branches
 *
 * The same as a stop, corepmu_branch_clear() and a start. IRQs off, or NMI.
 */
void corepmu_branch_restart(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;

	branches->task = NULL;
	barrier();
	cpuc->pmu->branch_backend->restart(cpuc);
	claim_records(branches);
}

/* LBR call stacks */

/* Return the call stack of @task, or NULL. Under the lock, or with IRQs off. */
static struct corepmu_call_stack *find_call_stack(const struct task_struct *task)
{
	struct corepmu_call_stack *stack;

	hash_for_each_possible_rcu(call_stacks, stack, node, (unsigned long)task,
				   lockdep_is_held(&call_stacks_lock) || irqs_disabled())
		if (stack->task == task)
			return stack;

	return NULL;
}

/* Check whether an event needs a call stack that is saved while its task is scheduled out. */
static bool needs_saved_stack(const struct perf_event *event)
{
	return (event->hw.branch_reg.config & COREPMU_BRANCH_CALL_STACK) && event->hw.target;
}

static int call_stack_open(struct perf_event *event)
{
	struct corepmu_call_stack *stack, *old;

	if (!needs_saved_stack(event))
		return 0;

	stack = kzalloc(struct_size(stack, records, COREPMU_MAX_BRANCHES), GFP_KERNEL);
	if (!stack)
		return -ENOMEM;

	stack->task = event->hw.target;
	spin_lock_irq(&call_stacks_lock);
	old = find_call_stack(stack->task);
	if (old)
		old->users++;
	else
		hash_add_rcu(call_stacks, &stack->node, (unsigned long)stack->task);
	stack->users = 1;
	spin_unlock_irq(&call_stacks_lock);
	if (old)
		kfree(stack);

	return 0;
}

/*
 * Release the call stack of the task that the event was opened on. Tasks may have exchanged their
 * contexts: the event may belong to another task now.
 */
static void call_stack_close(struct perf_event *event)
{
	struct corepmu_call_stack *stack;

	if (!needs_saved_stack(event))
		return;

	spin_lock_irq(&call_stacks_lock);
	stack = find_call_stack(event->hw.target);
	if (stack && --stack->users)
		stack = NULL;
	if (stack)
		hash_del_rcu(&stack->node);
	spin_unlock_irq(&call_stacks_lock);
	/* Another CPU may still use the call stack, for an event of its own. */
	if (stack)
		kfree_rcu(stack, rcu);
}

static const struct corepmu_branch_backend *backend_of(const struct perf_event *event)
{
	return to_corepmu(event->pmu)->branch_backend;
}

/**
 * corepmu_branch_open() - reserve the branch record hardware for an event
 * @event: an event with branch records that is being opened, or inherited
 *
 * For an event with an LBR call stack, this function also allocates the task's call stack. Process
 * context; corepmu_branch_close() undoes it.
 *
 * Return: 0, or an errno after corepmu_refuse()
 */
int corepmu_branch_open(struct perf_event *event)
{
	int ret;

	if (backend_of(event)->open) {
		ret = backend_of(event)->open();
		if (ret)
			return ret;
	}
	ret = call_stack_open(event);
	if (ret && backend_of(event)->close)
		backend_of(event)->close();

	return ret;
}

/**
 * corepmu_branch_close() - undo corepmu_branch_open()
 * @event: an event that is being freed
 *
 * Process context.
 */
void corepmu_branch_close(struct perf_event *event)
{
	call_stack_close(event);
	if (backend_of(event)->close)
		backend_of(event)->close();
}

/**
 * corepmu_branch_sched_out() - save the LBR call stack of the task that is scheduled out
 * @cpuc: this CPU's state; it has events with branch records, and the PMU is stopped
 *
 * IRQs off.
 */
void corepmu_branch_sched_out(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;
	struct corepmu_call_stack *stack;

	branches->in_sched_out = branches->task == current;
	/* The scheduler has counted this switch already. */
	if (!(branches->wanted & COREPMU_BRANCH_CALL_STACK) || branches->stale ||
	    branches->task != current || branches->switches + 1 != times_switched(current))
		return;

	stack = find_call_stack(current);
	if (!stack)
		return;

	/* Recording has ended: calls are missing. */
	if (cpuc->pmu->branch_backend->has_ended && cpuc->pmu->branch_backend->has_ended(cpuc)) {
		branches->stale = true;
		return;
	}

	cpuc->pmu->branch_backend->save(cpuc, stack);
	stack->wanted = branches->wanted;
	stack->switches = times_switched(current);
	stack->where = branches;
	stack->version = branches->version;
	stack->saved = true;
}

/* Check whether the hardware still holds a saved call stack: no other records, no power-down. */
static bool still_has(struct corepmu_cpu *cpuc, const struct corepmu_call_stack *stack)
{
	return stack->where == cpuc->branches && stack->version == cpuc->branches->version &&
	       cpuc->pmu->branch_backend->still_has(cpuc, stack);
}

/* Check whether a saved call stack has the wanted branches, and the task has not run since. */
static bool can_restore(const struct corepmu_branches *branches,
			const struct corepmu_call_stack *stack)
{
	return stack && stack->saved && stack->wanted == branches->wanted &&
	       stack->switches == times_switched(current);
}

/**
 * corepmu_branch_sched_in() - restore the LBR call stack of the task that was scheduled in
 * @cpuc: this CPU's state; it has events with branch records, and the PMU is stopped
 *
 * IRQs off.
 */
void corepmu_branch_sched_in(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;
	struct corepmu_call_stack *stack;

	branches->stale = true;
	if (!(branches->wanted & COREPMU_BRANCH_CALL_STACK))
		return;

	stack = find_call_stack(current);
	if (!can_restore(branches, stack))
		return;

	if (!still_has(cpuc, stack)) {
		if (branches->recording)
			corepmu_branch_stop(cpuc);
		branches->task = NULL;
		branches->version++;
		barrier();
		cpuc->pmu->branch_backend->restore(cpuc, stack);
	}
	/* From here on the task makes calls that the saved call stack lacks. */
	stack->saved = false;
	claim_records(branches);
}
