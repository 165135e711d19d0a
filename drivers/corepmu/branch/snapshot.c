// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: branch records where somebody asks for them, in place of at an overflow
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/pmu.h>

/*
 * As samples have them: with the kind of each known where that may correct its address, and without
 * addresses of the kernel, unless an event wants these.
 */
static unsigned int show(struct corepmu_cpu *cpuc, struct perf_branch_entry *entries,
			 unsigned int max)
{
	const struct corepmu_branch_backend *backend = cpuc->pmu->branch_backend;
	struct corepmu_branches *branches = cpuc->branches;
	struct corepmu_branch_list *list = &branches->list;
	unsigned int i, nr = 0;

	for (i = 0; i < list->nr && nr < max; i++) {
		const struct perf_branch_entry *entry = &list->entries[i];

		if (corepmu_branch_is_kernel(entry->from | entry->to) &&
		    !(branches->wanted & COREPMU_BRANCH_KERNEL))
			continue;
		if (backend->decodes_all)
			corepmu_branch_kind(backend, list, i);
		entries[nr++] = *entry;
	}

	return nr;
}

/**
 * corepmu_branch_snapshot() - the branches that led to the caller
 * @entries: result
 * @max: how many there is room for
 *
 * They are those that the CPU's events want, which are on it now. Recording is stopped before
 * anything else, so that the way here takes the place of few of the kernel's. Any context; an
 * NMI may have interrupted what starts the PMU, or stops it: it is left as it was found.
 *
 * Return: how many there are, 0 without an event that wants records
 */
int corepmu_branch_snapshot(struct perf_branch_entry *entries, unsigned int max)
{
	struct corepmu_cpu *cpuc;
	bool running, recording;
	unsigned long flags;
	int nr = 0;

	local_irq_save(flags);
	cpuc = corepmu_branch_this_cpu();
	if (!cpuc)
		goto out;

	recording = cpuc->branches->recording;
	if (recording)
		corepmu_branch_stop(cpuc);
	running = cpuc->running;
	if (running)
		corepmu_stop_cpu(cpuc);

	corepmu_branch_read(cpuc);
	nr = show(cpuc, entries, max);

	if (running) {
		corepmu_start_cpu(cpuc);
	} else if (recording) {
		cpuc->pmu->branch_backend->start(cpuc);
		cpuc->branches->recording = true;
	}
out:
	local_irq_restore(flags);

	return nr;
}
