// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: branch records
 *
 * The hardware keeps the last branches in registers. It is told to record what the CPU's
 * events ask for together, and stands still from an overflow on; the first sample of an
 * interrupt reads all records, and each sample gets those that its own event asked for
 * (sample.c). Whose branches they are, and the stacks of calls that are kept while their
 * task is away: task.c.
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

/**
 * corepmu_branch_is_told() - is a PMU told when tasks are switched?
 * @pmu: a PMU with branch records
 *
 * Any context.
 *
 * Return: whether perf core is to tell, and tells this PMU
 */
bool corepmu_branch_is_told(const struct corepmu *pmu)
{
	return corepmu_has_sched_cb() && compat_sched_task_is_told(&pmu->perf_pmu);
}

/* Events that come and go */

/*
 * Another agent may have written the registers of branch records since the last event with records
 * was placed. If the hardware records for other events, recording stops: its next start writes all
 * registers.
 */
static void forget_registers(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;

	if (branches->recording)
		corepmu_branch_stop(cpuc);
	branches->selected = ~0ULL;
	branches->freezes = false;
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

	if (!(cpuc->trusted_others & COREPMU_TRUST_BRANCHES))
		forget_registers(cpuc);
	cpuc->trusted_others |= COREPMU_TRUST_BRANCHES;

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
	if (corepmu_branch_is_told(cpuc->pmu))
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

	cpuc->trusted_others |= COREPMU_TRUST_BRANCHES;
	if (corepmu_branch_is_told(cpuc->pmu))
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
	else
		cpuc->branches->leaving = cpuc->branches->task == current;
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
	branches->leaving = false;
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
