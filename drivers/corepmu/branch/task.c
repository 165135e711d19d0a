// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: whose branch records they are
 *
 * Records say nothing of the task that branched, and neither a switch to another task nor a
 * gap in what is recorded can be seen in them. They are wiped
 * - before the hardware records again, after an event has come that asks for more than was
 *   recorded so far;
 * - at every switch of tasks that perf core tells of.
 * It does not tell of all of them: not when the next task has a context with events of other
 * PMUs alone, and not at all on kernels before 6.2 where another PMU leads the hardware
 * context. So it is noted whose the records are, and how often that task had been scheduled
 * out. When a sample finds another task, or the same one after a switch, it has no records.
 *
 * A stack of calls is of use only if it has been followed from its beginning: for a task that
 * has an event which wants it, it is saved when the task leaves and put back when it comes.
 * Perf core has a place for that, which is another one on each kernel (of a context that tasks
 * exchange, of a PMU's part of it, of the task but shared by all PMUs) and may be freed when
 * the module has gone. Here it is found by the task, lives as long as the events that were
 * opened on the task, and is nobody else's. Events of a CPU alone follow calls from when the
 * task came.
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
#include <corepmu/pmu.h>

/*
 * The stacks of all tasks that have one. A task's is looked up by the CPU that switches to it
 * or from it, and changed by no other: tasks are on one CPU at a time.
 */
#define CALL_STACK_BITS		7

static DEFINE_HASHTABLE(call_stacks, CALL_STACK_BITS);
static DEFINE_SPINLOCK(call_stacks_lock);

static const struct corepmu_branch_backend *to_backend(const struct corepmu_cpu *cpuc)
{
	return cpuc->pmu->branch_backend;
}

static unsigned long times_switched(const struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

/**
 * corepmu_branch_is_current() - are the records of the task that runs, without a gap?
 * @branches: this CPU's records
 *
 * So they are also where its events are stopped since it is switched away from: an overflow whose
 * interrupt is still to come has its sample then. An NMI between where the scheduler counts the
 * switch and perf core tells of it finds none. IRQs off, or NMI.
 *
 * Return: whether they are
 */
bool corepmu_branch_is_current(const struct corepmu_branches *branches)
{
	return branches->task == current &&
	       branches->switches + branches->leaving == times_switched(current);
}

/* From now on the hardware's records are of the task that runs. */
static void own(struct corepmu_branches *branches)
{
	barrier();
	branches->read = false;
	branches->switches = times_switched(current);
	branches->leaving = false;
	branches->task = current;
	branches->stale = false;
}

/**
 * corepmu_branch_wipe() - no record is left
 * @cpuc: this CPU's state
 *
 * The hardware does not record. An NMI that comes meanwhile finds records of nobody, and has
 * them wiped as well before it has the hardware record again. IRQs off, or NMI.
 */
void corepmu_branch_wipe(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;

	branches->task = NULL;
	branches->version++;
	barrier();
	to_backend(cpuc)->wipe(cpuc);
	own(branches);
}

/**
 * corepmu_branch_renew() - no record is left of what the hardware has recorded so far
 * @cpuc: this CPU's state; the hardware records what is wanted
 *
 * As corepmu_branch_wipe() between a stop and a start. IRQs off, or NMI.
 */
void corepmu_branch_renew(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;

	branches->task = NULL;
	barrier();
	to_backend(cpuc)->renew(cpuc);
	own(branches);
}

/* Stacks of calls */

/* The stack of @task: under the lock, or with IRQs off. */
static struct corepmu_call_stack *find_call_stack(const struct task_struct *task)
{
	struct corepmu_call_stack *stack;

	hash_for_each_possible_rcu(call_stacks, stack, node, (unsigned long)task,
				   lockdep_is_held(&call_stacks_lock) || irqs_disabled())
		if (stack->task == task)
			return stack;

	return NULL;
}

/* Does the event have a stack of calls to be kept while the task is away? */
static bool is_kept(const struct perf_event *event)
{
	return (event->hw.flags & COREPMU_EVENT_BRANCHES) &&
	       (event->hw.branch_reg.config & COREPMU_BRANCH_CALL_STACK) && event->hw.target;
}

static int call_stack_open(struct perf_event *event)
{
	struct corepmu_call_stack *stack, *old;

	if (!is_kept(event))
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
 * Another task of those that have exchanged their contexts may have the event now. The stack is
 * of the one that it was opened on.
 */
static void call_stack_close(struct perf_event *event)
{
	struct corepmu_call_stack *stack;

	if (!is_kept(event))
		return;

	spin_lock_irq(&call_stacks_lock);
	stack = find_call_stack(event->hw.target);
	if (stack && --stack->users)
		stack = NULL;
	if (stack)
		hash_del_rcu(&stack->node);
	spin_unlock_irq(&call_stacks_lock);
	/* A CPU may be at it, for another event of its own. */
	if (stack)
		kfree_rcu(stack, rcu);
}

static const struct corepmu_branch_backend *backend_of(const struct perf_event *event)
{
	return to_corepmu(event->pmu)->branch_backend;
}

/**
 * corepmu_branch_open() - have the hardware for an event with branch records
 * @event: an event that is being opened, or inherited
 *
 * With a place for what is to be kept while its task is away. Process context;
 * corepmu_branch_close() undoes it.
 *
 * Return: 0, or an errno after saying why not
 */
int corepmu_branch_open(struct perf_event *event)
{
	int ret;

	if (!(event->hw.flags & COREPMU_EVENT_BRANCHES))
		return 0;

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
 * corepmu_branch_close() - the event needs the hardware no more
 * @event: an event that corepmu_branch_open() has seen
 *
 * Process context.
 */
void corepmu_branch_close(struct perf_event *event)
{
	if (!(event->hw.flags & COREPMU_EVENT_BRANCHES))
		return;

	call_stack_close(event);
	if (backend_of(event)->close)
		backend_of(event)->close();
}

/**
 * corepmu_branch_leave() - the current task is about to be switched away from
 * @cpuc: this CPU's state; it has events that want records, and the PMU stands still
 *
 * IRQs off.
 */
void corepmu_branch_leave(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;
	struct corepmu_call_stack *stack;

	branches->leaving = branches->task == current;
	/* The scheduler has counted this switch already. */
	if (!(branches->wanted & COREPMU_BRANCH_CALL_STACK) || branches->stale ||
	    branches->task != current || branches->switches + 1 != times_switched(current))
		return;

	stack = find_call_stack(current);
	if (!stack)
		return;

	/* Calls are missing. */
	if (to_backend(cpuc)->has_ended && to_backend(cpuc)->has_ended(cpuc)) {
		branches->stale = true;
		return;
	}

	to_backend(cpuc)->save(cpuc, stack);
	stack->wanted = branches->wanted;
	stack->switches = times_switched(current);
	stack->where = branches;
	stack->version = branches->version;
	stack->saved = true;
}

/* Has the hardware had nothing to do since the stack was saved, and not been powered down? */
static bool still_has(struct corepmu_cpu *cpuc, const struct corepmu_call_stack *stack)
{
	return stack->where == cpuc->branches && stack->version == cpuc->branches->version &&
	       to_backend(cpuc)->still_has(cpuc, stack);
}

/* What was saved does for what is wanted now, and the task has not run since. */
static bool is_good(const struct corepmu_branches *branches, const struct corepmu_call_stack *stack)
{
	return stack && stack->saved && stack->wanted == branches->wanted &&
	       stack->switches == times_switched(current);
}

/**
 * corepmu_branch_come() - the current task has been switched to
 * @cpuc: this CPU's state; it has events that want records, and the PMU stands still
 *
 * IRQs off.
 */
void corepmu_branch_come(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;
	struct corepmu_call_stack *stack;

	branches->stale = true;
	if (!(branches->wanted & COREPMU_BRANCH_CALL_STACK))
		return;

	stack = find_call_stack(current);
	if (!is_good(branches, stack))
		return;

	if (!still_has(cpuc, stack)) {
		if (branches->recording)
			corepmu_branch_stop(cpuc);
		branches->task = NULL;
		branches->version++;
		barrier();
		to_backend(cpuc)->restore(cpuc, stack);
	}
	/* What the task does from here on is not in it. */
	stack->saved = false;
	own(branches);
}
