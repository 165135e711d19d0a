// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: branch records that a sample shows
 *
 * All are read once an interrupt; each sample has those that its event asked for.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/pmu.h>

/* What include/uapi/linux/perf_event.h calls each kind, bit by bit */
static const u8 branch_types[] = {
	PERF_BR_COND, PERF_BR_UNCOND, PERF_BR_IND, PERF_BR_CALL, PERF_BR_IND_CALL, PERF_BR_RET,
	PERF_BR_SYSCALL, PERF_BR_SYSRET, PERF_BR_UNKNOWN, PERF_BR_IRQ, PERF_BR_ERET,
	PERF_BR_UNKNOWN, PERF_BR_UNKNOWN,
};

/* Which of the kinds is it? Asked of the hardware, or of the instruction, once a record. */
static u32 branch_kind(const struct corepmu_branch_backend *backend,
		       struct corepmu_branches *branches, unsigned int i)
{
	if (!branches->kind[i])
		branches->kind[i] = branches->entries[i].abort ? COREPMU_BRANCH_ABORT :
				    backend->decode(&branches->entries[i]);

	return branches->kind[i];
}

/*
 * Hardware judges the level by where a branch leads to. One that comes from the kernel has an
 * address of the kernel, too: it is for those who want the kernel's branches.
 */
static bool level_is_wanted(u64 wanted, const struct perf_branch_entry *entry)
{
	bool from_kernel = corepmu_branch_is_kernel(entry->from);
	bool to_kernel = corepmu_branch_is_kernel(entry->to);

	if ((from_kernel || to_kernel) && !(wanted & COREPMU_BRANCH_KERNEL))
		return false;

	return to_kernel || (wanted & COREPMU_BRANCH_USER);
}

static bool transaction_is_wanted(u64 wanted, const struct perf_branch_entry *entry)
{
	if (!(wanted & COREPMU_BRANCH_ANY_TX))
		return true;

	return wanted & (entry->in_tx ? COREPMU_BRANCH_IN_TX : COREPMU_BRANCH_NO_TX);
}

/* What of @entry, a branch of kind @kind (or 0), an event gets that wants @wanted */
static struct perf_branch_entry
show_branch(u64 wanted, const struct perf_branch_entry *entry, u32 kind)
{
	struct perf_branch_entry shown = { .from = entry->from, .to = entry->to };

	if (wanted & COREPMU_BRANCH_FLAGS) {
		shown.mispred = entry->mispred;
		shown.predicted = entry->predicted;
		shown.in_tx = entry->in_tx;
		shown.abort = entry->abort;
		shown.spec = entry->spec;
	}
	if (wanted & COREPMU_BRANCH_CYCLES)
		shown.cycles = entry->cycles;
	if (wanted & COREPMU_BRANCH_TYPE)
		shown.type = branch_types[__ffs(kind)];
	if (wanted & COREPMU_BRANCH_LEVEL)
		shown.priv = corepmu_branch_is_kernel(entry->to) ? PERF_BR_PRIV_KERNEL :
								   PERF_BR_PRIV_USER;

	return shown;
}

static void choose_branches(const struct corepmu_branch_backend *backend,
			    struct corepmu_branches *branches, u64 wanted,
			    struct perf_branch_stack *stack)
{
	bool look = backend->decodes_all ||
		    (wanted & (COREPMU_BRANCH_TYPE | COREPMU_BRANCH_CHOSEN));
	unsigned int i;
	u32 kind = 0;

	stack->hw_idx = branches->hw_idx;
	stack->nr = 0;
	for (i = 0; i < branches->nr; i++) {
		if (!level_is_wanted(wanted, &branches->entries[i]) ||
		    !transaction_is_wanted(wanted, &branches->entries[i]))
			continue;
		if (look) {
			kind = branch_kind(backend, branches, i);
			if (!(kind & wanted))
				continue;
		}
		stack->entries[stack->nr++] = show_branch(wanted, &branches->entries[i], kind);
	}
}

/* The records are those of the last overflow, or of when the PMU was stopped. */
static void read_branches(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;

	if (branches->read)
		return;

	branches->hw_idx = 0;
	branches->nr = 0;
	if (corepmu_branch_is_current(branches))
		cpuc->pmu->branch_backend->read(cpuc, branches);
	else
		branches->stale = true;
	barrier();
	branches->read = true;
}

/**
 * corepmu_branch_sample() - give a sample its branch records
 * @cpuc: this CPU's state
 * @event: the event, which has COREPMU_EVENT_BRANCHES
 * @data: the sample, which perf_sample_data_init() has seen
 *
 * Records that two samples show differ, and both may be needed at a time: perf core may stop
 * an event in the middle of another's sample, which may have an overflow that was overtaken,
 * and an NMI comes in the middle of such a stop. Each has a stack of its own; the sample
 * that finds none left has no records. From the overflow interrupt, or with IRQs off;
 * corepmu_branch_sample_end() comes after the sample.
 */
void corepmu_branch_sample(struct corepmu_cpu *cpuc, struct perf_event *event,
			   struct perf_sample_data *data)
{
	struct corepmu_branches *branches = cpuc->branches;
	unsigned int nesting = branches->nesting++;
	struct perf_branch_stack *stack;
	bool resume = cpuc->running;

	if (nesting >= COREPMU_BRANCH_NESTING)
		return;
	stack = (struct perf_branch_stack *)branches->stack[nesting];

	/* Not while an event is stopped, as a rule: perf core stops the PMU before. */
	if (unlikely(resume))
		corepmu_stop_cpu(cpuc);
	read_branches(cpuc);
	choose_branches(cpuc->pmu->branch_backend, branches, event->hw.branch_reg.config, stack);
	if (unlikely(resume))
		corepmu_start_cpu(cpuc);

	compat_sample_save_brstack(data, event, stack);
}

/**
 * corepmu_branch_sample_end() - perf core has written the sample
 * @cpuc: this CPU's state
 */
void corepmu_branch_sample_end(struct corepmu_cpu *cpuc)
{
	cpuc->branches->nesting--;
}
