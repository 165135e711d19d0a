// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: branch records on request of a BPF program (bpf_get_branch_snapshot())
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/pmu.h>

/*
 * Copy the records that were read to @entries, as samples show them. Decode each record where that
 * may correct its address. Leave out records with kernel addresses, unless an event wants the
 * kernel's branches. Return the number of entries.
 */
static unsigned int copy_records(struct corepmu_cpu *cpuc, struct perf_branch_entry *entries,
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
			corepmu_branch_type(backend, list, i);
		entries[nr++] = *entry;
	}

	return nr;
}

/**
 * corepmu_branch_snapshot() - return the branches that led to the caller
 * @entries: filled in: the branches, the youngest first
 * @max: size of @entries
 *
 * The result has the branches that the events on this CPU want. The function stops recording first,
 * so that its own branches replace few of the caller's. Any context. An NMI may call this function
 * in the middle of a start or a stop of the PMU: the function leaves the PMU in the same state.
 *
 * Return: number of branches, 0 without an event that wants branch records
 */
int corepmu_branch_snapshot(struct perf_branch_entry *entries, unsigned int max)
{
	struct corepmu_cpu *cpuc;
	bool running, recording;
	unsigned long flags;
	int nr = 0;

	local_irq_save(flags);
	cpuc = corepmu_features_this_cpu();
	if (!cpuc || !corepmu_uses(cpuc, COREPMU_FEATURE_BRANCHES))
		goto out;

	recording = cpuc->branches->recording;
	if (recording)
		corepmu_branch_stop(cpuc);
	running = corepmu_pause_cpu(cpuc);

	corepmu_branch_read(cpuc);
	nr = copy_records(cpuc, entries, max);

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
