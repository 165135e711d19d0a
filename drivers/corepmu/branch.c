// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: branch records
 *
 * The hardware keeps the last branches in registers. It is told to record what the CPU's
 * events ask for together, and stands still from an overflow on; the first sample of an
 * interrupt reads all records, and each sample gets those that its own event asked for.
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
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/sched.h>

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
	{ PERF_SAMPLE_BRANCH_IND_JUMP, COREPMU_BRANCH_IND_JUMP },
	{ PERF_SAMPLE_BRANCH_CALL, COREPMU_BRANCH_CALL },
	{ PERF_SAMPLE_BRANCH_NO_FLAGS, 0 },
	{ PERF_SAMPLE_BRANCH_NO_CYCLES, 0 },
	{ PERF_SAMPLE_BRANCH_TYPE_SAVE, COREPMU_BRANCH_TYPE },
	{ PERF_SAMPLE_BRANCH_HW_INDEX, 0 },
	{ PERF_SAMPLE_BRANCH_PRIV_SAVE, COREPMU_BRANCH_LEVEL },
};

#define BRANCH_ASKS_TX							\
	(PERF_SAMPLE_BRANCH_ABORT_TX | PERF_SAMPLE_BRANCH_IN_TX | PERF_SAMPLE_BRANCH_NO_TX)

/* What include/uapi/linux/perf_event.h calls each kind, bit by bit */
static const u8 branch_types[] = {
	PERF_BR_COND, PERF_BR_UNCOND, PERF_BR_IND, PERF_BR_CALL, PERF_BR_IND_CALL, PERF_BR_RET,
	PERF_BR_SYSCALL, PERF_BR_SYSRET, PERF_BR_UNKNOWN, PERF_BR_IRQ, PERF_BR_ERET,
	PERF_BR_UNKNOWN, PERF_BR_UNKNOWN,
};

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
	const struct corepmu_branch_backend *backend = pmu->branch_backend;
	u64 asked = event->attr.branch_sample_type, wanted, unknown;

	if (!pmu->nr_branches)
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: branches are not recorded: %s",
				      asked, pmu->branch_reason ?: "this CPU is not known to");

	/* Stacks of calls have to be kept while their task is away, which is not done yet. */
	if (asked & PERF_SAMPLE_BRANCH_CALL_STACK)
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: stacks of calls are not recorded",
				      asked);

	wanted = branch_wants(asked, &unknown);
	if (unknown)
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: this is not recorded: %#llx",
				      asked, unknown);
	if ((asked & BRANCH_ASKS_TX) && !(backend->offers & COREPMU_BRANCH_ANY_TX))
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: the CPU has no transactions",
				      asked);
	if (wanted & COREPMU_BRANCH_KERNEL & ~backend->offers)
		return corepmu_refuse(-EOPNOTSUPP,
				      "branch_sample_type is %#llx: branches of the kernel are not recorded: %s",
				      asked, backend->kernel_reason);
	if (!(wanted & COREPMU_BRANCH_ANY) ||
	    !(wanted & (COREPMU_BRANCH_USER | COREPMU_BRANCH_KERNEL)))
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx, which is no branch at all",
				      asked);

	if (!(asked & PERF_SAMPLE_BRANCH_NO_FLAGS))
		wanted |= COREPMU_BRANCH_FLAGS;
	if (!(asked & PERF_SAMPLE_BRANCH_NO_CYCLES))
		wanted |= COREPMU_BRANCH_CYCLES;
	event->hw.branch_reg.config = wanted;

	/* Without samples there is nothing that records would be for. */
	if (!is_sampling_event(event))
		return 0;
	event->hw.flags |= COREPMU_EVENT_BRANCHES;
	event->attach_state |= PERF_ATTACH_SCHED_CB;

	return 0;
}

/* Whose records are they? */

static unsigned long times_switched(const struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

static bool is_of_current(const struct corepmu_branches *branches)
{
	return branches->task == current && branches->switches == times_switched(current);
}

/*
 * The hardware does not record. An NMI that comes meanwhile finds records of nobody, and has
 * them wiped as well before it has the hardware record again.
 */
static void wipe(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;

	branches->task = NULL;
	barrier();
	to_backend(cpuc)->wipe(cpuc);
	barrier();
	branches->read = false;
	branches->switches = times_switched(current);
	branches->task = current;
	branches->stale = false;
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

	if (!sched_in || !cpuc)
		return;

	/* Before 6.2 perf core may have disabled the PMU of an earlier load in place of this. */
	cpuc->branches->stale = true;
	if (cpuc->running) {
		corepmu_stop_cpu(cpuc);
		corepmu_start_cpu(cpuc);
	}
}

/* Events that come and go */

static bool is_told(struct corepmu_cpu *cpuc)
{
	return corepmu_has_sched_cb() && compat_sched_task_is_told(&cpuc->pmu->perf_pmu);
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
	if (wanted != branches->wanted)
		branches->stale = true;
	branches->wanted = wanted;
	barrier();
	cpuc->branch_users++;
	this_cpu_write(branch_cpuc, cpuc);
	if (is_told(cpuc))
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
	u64 wanted = 0;
	int idx;

	if (is_told(cpuc))
		corepmu_perf_sched_cb_dec(event->pmu);
	if (!--cpuc->branch_users)
		this_cpu_write(branch_cpuc, NULL);

	for (idx = 0; cpuc->branch_users && idx < COREPMU_MAX_COUNTERS; idx++) {
		const struct perf_event *other = cpuc->events[idx];

		if (other && (other->hw.flags & COREPMU_EVENT_BRANCHES))
			wanted |= other->hw.branch_reg.config;
	}
	/* Nothing has been recorded for a while when the next event comes. */
	cpuc->branches->wanted = wanted;
}

/* The hardware */

/**
 * corepmu_branch_start() - have the hardware record
 * @cpuc: the CPU's state; it has events that want records
 *
 * From corepmu_start_cpu().
 */
void corepmu_branch_start(struct corepmu_cpu *cpuc)
{
	if (READ_ONCE(branches_off))
		return;
	if (cpuc->branches->stale)
		wipe(cpuc);
	cpuc->branches->read = false;
	barrier();
	to_backend(cpuc)->start(cpuc);
}

/**
 * corepmu_branch_stop() - have the hardware record nothing
 * @cpuc: the CPU's state; it has events that want records
 *
 * From corepmu_stop_cpu().
 */
void corepmu_branch_stop(struct corepmu_cpu *cpuc)
{
	to_backend(cpuc)->stop(cpuc);
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
	cpuc->branches->selected = ~0ULL;
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

/* Samples */

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
	bool look = backend->decodes_all || (wanted & COREPMU_BRANCH_TYPE) ||
		    (wanted & COREPMU_BRANCH_ANY) != COREPMU_BRANCH_ANY;
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
	if (is_of_current(branches))
		to_backend(cpuc)->read(cpuc, branches);
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
	choose_branches(to_backend(cpuc), branches, event->hw.branch_reg.config, stack);
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
