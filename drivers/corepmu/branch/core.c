// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: start and stop of branch records (LBR, BRBE)
 *
 * The hardware keeps the last branches in registers. The driver makes the hardware record the union
 * of the branches that the CPU's events want. An overflow freezes the records. The first sample of
 * an interrupt reads all records, and each sample gets the records that its own event wants
 * (sample.c). task.c tracks the task that the records belong to, and saves LBR call stacks of tasks
 * that are scheduled out.
 *
 * Hardware that records an LBR call stack records no other branches. So on a CPU either all events
 * with branch records have LBR call stacks, or none; perf core rotates the others.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <corepmu/branch.h>
#include <corepmu/ksyms.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

/**
 * corepmu_branch_setup() - set up a PMU with branch records
 * @pmu: the PMU, not registered yet
 * @backend: functions for the branch record registers
 * @nr: number of records
 *
 * Process context.
 *
 * Return: 0 or -ENOMEM
 */
int __corepmu_init corepmu_branch_setup(struct corepmu *pmu,
					const struct corepmu_branch_backend *backend,
					unsigned int nr)
{
	int cpu;

	pmu->branches = alloc_percpu(struct corepmu_branches);
	if (!pmu->branches)
		return -ENOMEM;

	pmu->branch_backend = backend;
	pmu->follows_tasks = true;
	pmu->nr_branches = min_t(unsigned int, nr, COREPMU_MAX_BRANCHES);
	for_each_possible_cpu(cpu) {
		struct corepmu_cpu *cpuc = per_cpu_ptr(pmu->cpu, cpu);

		cpuc->branches = per_cpu_ptr(pmu->branches, cpu);
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
}

/* Events that are placed and deleted */

/**
 * corepmu_branch_forget() - stop recording, and make the next start write all registers
 * @cpuc: this CPU's state, with branch records
 *
 * Another agent may have written the registers of branch records. IRQs off, or NMI.
 */
void corepmu_branch_forget(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;

	if (branches->recording)
		corepmu_branch_stop(cpuc);
	branches->cached_reg = ~0ULL;
	branches->freezes = false;
}

/**
 * corepmu_branch_add() - add a placed event's branches to those that the hardware records
 * @cpuc: this CPU's state
 * @event: the event, which has COREPMU_EVENT_BRANCHES
 *
 * IRQs off, and the PMU stopped.
 */
void corepmu_branch_add(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct corepmu_branches *branches = cpuc->branches;
	u64 wanted = branches->wanted | event->hw.branch_reg.config;

	if (!(cpuc->trusted_others & COREPMU_TRUST_BRANCHES))
		corepmu_branch_forget(cpuc);
	cpuc->trusted_others |= COREPMU_TRUST_BRANCHES;
	corepmu_branch_check_gap(cpuc);

	/* The records so far lack branches of the types that only this event wants. */
	if (wanted != branches->wanted) {
		branches->stale = true;
		if (branches->recording)
			corepmu_branch_stop(cpuc);
	}
	branches->wanted = wanted;
	barrier();
	cpuc->feature_users[COREPMU_FEATURE_BRANCHES]++;
	if (corepmu_is_notified(event->pmu))
		corepmu_perf_sched_cb_inc(event->pmu);
}

/**
 * corepmu_branch_del() - undo corepmu_branch_add()
 * @cpuc: this CPU's state
 * @event: the event, which has lost its counter
 *
 * IRQs off, and the PMU stopped.
 */
void corepmu_branch_del(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct corepmu_branches *branches = cpuc->branches;
	u64 wanted = 0;
	bool is_used;
	int idx;

	cpuc->trusted_others |= COREPMU_TRUST_BRANCHES;
	if (corepmu_is_notified(event->pmu))
		corepmu_perf_sched_cb_dec(event->pmu);
	is_used = --cpuc->feature_users[COREPMU_FEATURE_BRANCHES];

	for (idx = 0; is_used && idx < COREPMU_MAX_COUNTERS; idx++) {
		const struct perf_event *other = cpuc->events[idx];

		if (other && (other->hw.flags & COREPMU_EVENT_BRANCHES))
			wanted |= other->hw.branch_reg.config;
	}
	/*
	 * The next start of the PMU makes the hardware record fewer branches, or none. For the last
	 * event, stop recording even if the stop of the PMU has done so: AMD's stop() clears the
	 * freeze bit only while no event has branch records.
	 */
	if ((branches->recording && wanted != branches->wanted) || (!is_used && branches->freezes))
		corepmu_branch_stop(cpuc);
	/* For the next event that wants more, corepmu_branch_add() marks the records stale. */
	branches->wanted = wanted;
}

/* Not inline: at most switches there is no LBR call stack, and the PMU is disabled. */
static noinline void branch_switch(struct corepmu_cpu *cpuc, bool sched_in)
{
	/* Before 6.2 perf core may have disabled a stale PMU of an earlier load, not this one. */
	bool running = corepmu_pause_cpu(cpuc);

	if (sched_in)
		corepmu_branch_sched_in(cpuc);
	else
		corepmu_branch_sched_out(cpuc);
	corepmu_resume_cpu(cpuc, running);
}

/**
 * corepmu_branch_switch() - handle a task switch: from pmu.sched_task
 * @cpuc: this CPU's state; it has events with branch records
 * @sched_in: true: the current task has been scheduled in; false: it is about to be scheduled out
 *
 * IRQs off.
 */
void corepmu_branch_switch(struct corepmu_cpu *cpuc, bool sched_in)
{
	if ((cpuc->branches->wanted & COREPMU_BRANCH_CALL_STACK) || cpuc->running)
		branch_switch(cpuc, sched_in);
	else if (sched_in)
		cpuc->branches->stale = true;
	else
		cpuc->branches->in_sched_out = cpuc->branches->task == current;
}

/* The hardware */

/**
 * corepmu_branch_stop() - stop recording
 * @cpuc: this CPU's state; it has events with branch records
 *
 * The PMU is stopped. Not inline: corepmu_branch_pause() rarely calls this function.
 */
noinline void corepmu_branch_stop(struct corepmu_cpu *cpuc)
{
	cpuc->pmu->branch_backend->stop(cpuc);
	/* An NMI up to here finds recording set, and may stop the hardware once more: no harm. */
	barrier();
	cpuc->branches->recording = false;
}

/* Not inline: most calls of corepmu_branch_start() find the hardware recording. */
static noinline void branch_start(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;
	const struct corepmu_branch_backend *backend = cpuc->pmu->branch_backend;

	if (branches->recording && backend->restart) {
		corepmu_branch_restart(cpuc);
		return;
	}
	if (branches->recording)
		corepmu_branch_stop(cpuc);
	if (branches->stale)
		corepmu_branch_clear(cpuc);
	branches->is_read = false;
	barrier();
	backend->start(cpuc);
	barrier();
	branches->recording = true;
}

/**
 * corepmu_branch_start() - start recording, or let the hardware go on
 * @cpuc: this CPU's state; it has events with branch records
 *
 * From corepmu_start_cpu().
 */
void corepmu_branch_start(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;

	branches->version++;
	branches->in_sched_out = false;
	if (branches->recording && !branches->stale)
		branches->is_read = false;
	else
		branch_start(cpuc);
}

/**
 * corepmu_branch_pause() - keep the records from changing while the PMU is stopped
 * @cpuc: this CPU's state; it has events with branch records
 *
 * If an event wants the kernel's branches, this function stops recording. Records of user branches
 * do not change while the kernel runs: recording stays enabled. If freeze_ends is set, an overflow
 * with a pending interrupt may have ended recording: the function then stops recording, too. From
 * corepmu_stop_cpu().
 */
void corepmu_branch_pause(struct corepmu_cpu *cpuc)
{
	if ((cpuc->branches->wanted & COREPMU_BRANCH_KERNEL) ||
	    cpuc->pmu->branch_backend->freeze_ends)
		corepmu_branch_stop(cpuc);
}

/**
 * corepmu_branch_interrupt() - stop recording at the start of an overflow interrupt, if necessary
 * @cpuc: this CPU's state; it has events with branch records
 *
 * The hardware froze the records at the overflow, until the backend acknowledges the overflow.
 * If an overflow ends recording (freeze_ends), this function stops it: corepmu_branches.recording
 * becomes false, too. Records of user branches do not change in the kernel anyway.
 */
void corepmu_branch_interrupt(struct corepmu_cpu *cpuc)
{
	if (cpuc->pmu->branch_backend->freeze_ends)
		corepmu_branch_stop(cpuc);
}

/**
 * corepmu_branch_reset() - stop recording, and forget what is known of the registers
 * @cpuc: this CPU's state
 *
 * From the backend's reset().
 */
void corepmu_branch_reset(struct corepmu_cpu *cpuc)
{
	if (!cpuc->branches)
		return;
	cpuc->branches->stale = true;
	cpuc->branches->version++;
	cpuc->branches->cached_reg = ~0ULL;
	cpuc->branches->recording = false;
	cpuc->branches->freezes = false;
	cpuc->pmu->branch_backend->reset(cpuc);
}
