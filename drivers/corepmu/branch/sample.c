// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: the branch stack of a sample
 *
 * The first sample of an interrupt reads all records. Each sample shows the records that its event
 * wants.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/pmu.h>

/* PERF_BR_* of each branch type, in the order of the bits of COREPMU_BRANCH_ANY */
static const u8 branch_types[] = {
	PERF_BR_COND, PERF_BR_UNCOND, PERF_BR_IND, PERF_BR_CALL, PERF_BR_IND_CALL, PERF_BR_RET,
	PERF_BR_SYSCALL, PERF_BR_SYSRET, PERF_BR_UNKNOWN, PERF_BR_IRQ, PERF_BR_ERET,
	PERF_BR_UNKNOWN, PERF_BR_UNKNOWN,
};

/*
 * Copy the decoded type of an earlier record with the same branch: a loop repeats its branches.
 * Return false if there is none.
 */
static bool copy_type(struct corepmu_branch_list *list, unsigned int i)
{
	struct perf_branch_entry *entry = &list->entries[i];
	unsigned int j = i;

	while (j--) {
		const struct perf_branch_entry *other = &list->entries[j];

		if (other->from - list->shift[j] != entry->from || !list->type[j] ||
		    corepmu_branch_is_kernel(other->to ^ entry->to))
			continue;
		entry->from = other->from;
		list->shift[i] = list->shift[j];
		/*
		 * Write the type last: an NMI's sample takes the address of a record with a type as
		 * corrected.
		 */
		barrier();
		list->type[i] = list->type[j];
		return true;
	}

	return false;
}

static void find_type(const struct corepmu_branch_backend *backend,
		      struct corepmu_branch_list *list, unsigned int i)
{
	struct perf_branch_entry *entry = &list->entries[i];
	u64 from = entry->from;

	if (entry->abort) {
		list->type[i] = COREPMU_BRANCH_ABORT;
		return;
	}
	/* Copy only if all types are decoded: hardware types depend on more than the addresses. */
	if (backend->decodes_all && copy_type(list, i))
		return;
	list->type[i] = backend->decode(entry);
	list->shift[i] = entry->from - from;
}

/**
 * corepmu_branch_type() - return the branch type of a record
 * @backend: backend of the records
 * @list: the records
 * @i: index of the record
 *
 * If the hardware does not know the branch type, the first call for a record decodes it. IRQs off,
 * or NMI.
 *
 * Return: one bit of COREPMU_BRANCH_ANY
 */
u32 corepmu_branch_type(const struct corepmu_branch_backend *backend,
			struct corepmu_branch_list *list, unsigned int i)
{
	if (!list->type[i])
		find_type(backend, list, i);

	return list->type[i];
}

/*
 * Check whether an event wants a branch by its privilege level. The hardware filters by the level
 * of the target. But a branch from the kernel to user space shows a kernel address, too: only
 * events that want the kernel's branches get it. The same is true of a branch from the kernel to
 * address 0, a target that is not recorded.
 */
static bool level_is_wanted(u64 wanted, const struct perf_branch_entry *entry)
{
	if (corepmu_branch_is_kernel(entry->from | entry->to) && !(wanted & COREPMU_BRANCH_KERNEL))
		return false;

	return (wanted & COREPMU_BRANCH_USER) ||
	       corepmu_branch_is_kernel(entry->to ?: entry->from);
}

static bool transaction_is_wanted(u64 wanted, const struct perf_branch_entry *entry)
{
	if (!(wanted & COREPMU_BRANCH_ANY_TX))
		return true;

	return wanted & (entry->in_tx ? COREPMU_BRANCH_IN_TX : COREPMU_BRANCH_NO_TX);
}

/*
 * Return a mask of the bits that an event wants in a record's third word. The third word of a
 * struct perf_branch_entry has all members but the addresses. choose_branches() copies records by
 * words.
 */
static u64 bits_wanted(u64 wanted)
{
	union corepmu_branch_words all = { };

	BUILD_BUG_ON(sizeof(all) != sizeof(all.entry));

	if (wanted & COREPMU_BRANCH_FLAGS) {
		all.entry.mispred = ~0;
		all.entry.predicted = ~0;
		all.entry.in_tx = ~0;
		all.entry.abort = ~0;
		all.entry.spec = ~0;
	}
	if (wanted & COREPMU_BRANCH_CYCLES)
		all.entry.cycles = ~0;

	return all.words[COREPMU_BRANCH_BITS];
}

/*
 * Event counts that a sample shows for each branch. @nr: counts per branch, or 0 for none.
 * @counters: counters of the counted events. @counts: result, one word per branch.
 */
struct counted {
	u64		*counts;
	unsigned int	nr;
	s8		counters[COREPMU_MAX_BRANCH_COUNTS];
};

/*
 * Return the privilege level of a branch target, for PERF_SAMPLE_BRANCH_PRIV_SAVE. The level is
 * unknown if a record has a source only: see perf_entry_from_brbe_regset() in
 * drivers/perf/arm_brbe.c. (The built-in drivers of x86 report no level.)
 */
static unsigned int privilege_of(u64 to)
{
	if (!to)
		return PERF_BR_PRIV_UNKNOWN;

	return corepmu_branch_is_kernel(to) ? PERF_BR_PRIV_KERNEL : PERF_BR_PRIV_USER;
}

/*
 * Remove the addresses in user space from a record, and the prediction if the source is removed.
 * The hardware omits the same while no event wants user space's branches.
 */
static void hide_user(struct perf_branch_entry *entry)
{
	if (!corepmu_branch_is_kernel(entry->to))
		entry->to = 0;
	if (corepmu_branch_is_kernel(entry->from))
		return;
	entry->from = 0;
	entry->mispred = 0;
	entry->predicted = 0;
}

/*
 * Set the type that a sample shows. @type: one bit of COREPMU_BRANCH_*. BRBE's records of some
 * exceptions have a more exact type already.
 */
static void show_type(struct perf_branch_entry *to, const struct perf_branch_entry *from, u32 type)
{
	to->type = from->type ?: branch_types[__ffs(type)];
	to->new_type = from->new_type;
}

static void choose_branches(const struct corepmu_branch_backend *backend,
			    struct corepmu_branch_list *list, u64 wanted,
			    struct perf_branch_stack *stack, const struct counted *counted)
{
	const u64 look = (wanted & (COREPMU_BRANCH_TYPE | COREPMU_BRANCH_CHOSEN)) |
			 backend->decodes_all;
	const u64 bits = bits_wanted(wanted);
	const bool halve = backend->halves && !(wanted & COREPMU_BRANCH_USER);
	const unsigned int nr = list->nr;
	union corepmu_branch_words half;
	unsigned int i, shown = 0;
	u32 type = 0;

	stack->hw_idx = list->hw_idx;
	for (i = 0; i < nr; i++) {
		const union corepmu_branch_words *from = (const void *)&list->entries[i];
		union corepmu_branch_words *to = (void *)&stack->entries[shown];

		if (halve) {
			half = *from;
			hide_user(&half.entry);
			from = &half;
		}
		if (!level_is_wanted(wanted, &from->entry) ||
		    !transaction_is_wanted(wanted, &from->entry))
			continue;
		if (look) {
			type = corepmu_branch_type(backend, list, i);
			if (!(type & wanted))
				continue;
		}
		to->words[0] = from->words[0];
		to->words[1] = from->words[1];
		to->words[COREPMU_BRANCH_BITS] = from->words[COREPMU_BRANCH_BITS] & bits;
		if (wanted & COREPMU_BRANCH_TYPE)
			show_type(&to->entry, &from->entry, type);
		if (wanted & COREPMU_BRANCH_LEVEL)
			to->entry.priv = privilege_of(from->entry.to);
		if (counted->nr)
			counted->counts[shown] = corepmu_branch_counts(list->counts[i],
								       counted->counters,
								       counted->nr);
		shown++;
	}
	stack->nr = shown;
}

/*
 * Check whether an event wants all records unchanged. Such a sample shows @list without a copy:
 * nothing overwrites the list of the CPU before the PMU is started, and the list of a precise
 * sample belongs to that sample. In 7.x perf core truncates the list that it gets to
 * attr.sample_max_stack records (perf_sample_save_brstack()): a longer list needs a copy, since
 * other samples would lose records too.
 */
static bool gets_all(const struct corepmu_branch_backend *backend,
		     const struct corepmu_branches *branches,
		     const struct corepmu_branch_list *list, const struct perf_event *event)
{
	const u64 wanted = event->hw.branch_reg.config;
	const u64 each = COREPMU_BRANCH_ANY_TX | COREPMU_BRANCH_TYPE | COREPMU_BRANCH_LEVEL |
			 COREPMU_BRANCH_CHOSEN;
	const u64 bits = COREPMU_BRANCH_FLAGS | COREPMU_BRANCH_CYCLES;

	if ((wanted & each) || wanted != branches->wanted || backend->decodes_all ||
	    list->nr > event->attr.sample_max_stack)
		return false;
	/*
	 * Without a copy the sample shows both of FLAGS and CYCLES if they were read, so the event
	 * must want both or none. A CPU with transactions always reads FLAGS.
	 */
	if ((wanted & bits) != bits &&
	    ((wanted & bits) || (backend->offers & COREPMU_BRANCH_ANY_TX)))
		return false;
	if (!(wanted & COREPMU_BRANCH_USER))
		return false;

	return (wanted & COREPMU_BRANCH_KERNEL) || !list->has_kernel;
}

static bool has_kernel(const struct corepmu_branch_list *list)
{
	u64 addresses = 0;
	unsigned int i;

	for (i = 0; i < list->nr; i++)
		addresses |= list->entries[i].from | list->entries[i].to;

	return corepmu_branch_is_kernel(addresses);
}

/**
 * corepmu_branch_read() - read the hardware's records, unless they have been read
 * @cpuc: this CPU's state
 *
 * The records end with the last overflow, or with the stop of the PMU. The hardware records nothing
 * meanwhile. From the overflow interrupt, or with IRQs off.
 */
void corepmu_branch_read(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;
	struct corepmu_branch_list *list = &branches->list;

	if (branches->is_read)
		return;

	list->hw_idx = 0;
	list->nr = 0;
	if (corepmu_branch_is_current(cpuc))
		cpuc->pmu->branch_backend->read(cpuc, list);
	else
		branches->stale = true;
	list->has_kernel = (branches->wanted & COREPMU_BRANCH_KERNEL) || has_kernel(list);
	barrier();
	branches->is_read = true;
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
 * corepmu_branch_acknowledge() - save the kernel's branch records before an acknowledgment
 * @cpuc: this CPU's state
 * @overflowed: mask of counters with overflows that the backend is about to acknowledge
 * @frozen: the hardware reports that its records are frozen
 *
 * The acknowledgment resumes recording, and branches of the handler replace the records. So this
 * function reads the records if an event that overflowed needs them. Otherwise it stops recording:
 * perf core may stop another event in this interrupt, and that event then needs the records. From
 * the overflow interrupt.
 */
void corepmu_branch_acknowledge(struct corepmu_cpu *cpuc, u64 overflowed, bool frozen)
{
	const struct corepmu_branches *branches = cpuc->branches;

	if (!branches->recording || branches->is_read ||
	    !(branches->wanted & COREPMU_BRANCH_KERNEL))
		return;
	if (frozen && wants_records(cpuc, overflowed))
		corepmu_branch_read(cpuc);
	else if (frozen)
		corepmu_branch_stop(cpuc);
	else
		/*
		 * Other software may have cleared the freeze bit: after a VM exit, KVM before Linux
		 * 6.14 restores IA32_DEBUGCTL from a copy made in vcpu_load(). The event may have
		 * been opened after the copy.
		 */
		corepmu_branch_forget(cpuc);
}

static struct perf_branch_stack *as_stack(struct corepmu_branch_list *list)
{
	BUILD_BUG_ON(offsetof(struct corepmu_branch_list, entries) -
		     offsetof(struct corepmu_branch_list, nr) !=
		     offsetof(struct perf_branch_stack, entries));
	BUILD_BUG_ON(offsetof(struct corepmu_branch_list, hw_idx) -
		     offsetof(struct corepmu_branch_list, nr) !=
		     offsetof(struct perf_branch_stack, hw_idx));

	return (struct perf_branch_stack *)&list->nr;
}

/* Not inline: only some CPUs have event counts, and few events ask for them. */
static noinline void find_counted(struct corepmu_branches *branches, unsigned int nesting,
				  const struct perf_event *event, struct counted *counted)
{
	counted->counts = branches->counts[nesting];
	counted->nr = corepmu_branch_find_counted(event, counted->counters);
}

/*
 * Add the records of @list to a sample. @copy: copy them, since @list changes before perf core
 * writes the sample.
 */
static noinline void add_records(struct corepmu_cpu *cpuc, struct perf_event *event,
				 struct corepmu_branch_list *list, struct perf_sample_data *data,
				 bool copy)
{
	const struct corepmu_branch_backend *backend = cpuc->pmu->branch_backend;
	struct corepmu_branches *branches = cpuc->branches;
	unsigned int nesting = branches->nesting - 1;
	struct perf_branch_stack *stack;
	struct counted counted;

	counted.nr = 0;
	if (unlikely(branches->nr_counted))
		find_counted(branches, nesting, event, &counted);
	if (!copy && !counted.nr && gets_all(backend, branches, list, event)) {
		stack = as_stack(list);
	} else {
		stack = (struct perf_branch_stack *)branches->stack[nesting];
		choose_branches(backend, list, event->hw.branch_reg.config, stack, &counted);
	}
	compat_sample_save_brstack(data, event, stack, counted.nr ? counted.counts : NULL);
}

/*
 * Stop the PMU, add the records, and start the PMU. Rare: perf core usually disables the PMU before
 * it stops an event.
 */
static noinline void add_running(struct corepmu_cpu *cpuc, struct perf_event *event,
				 struct perf_sample_data *data)
{
	corepmu_stop_cpu(cpuc);
	corepmu_branch_read(cpuc);
	add_records(cpuc, event, &cpuc->branches->list, data, true);
	corepmu_start_cpu(cpuc);
}

/**
 * corepmu_branch_sample() - add branch records to a sample
 * @cpuc: this CPU's state
 * @event: the event, which has COREPMU_EVENT_BRANCHES
 * @data: the sample, after perf_sample_data_init()
 *
 * Several samples may be in progress at the same time: from within a sample perf core may stop
 * another event, which emits a sample of its own if its counter has overflowed. An NMI may come
 * during that stop. Each sample has a branch stack of its own. With more samples than
 * COREPMU_BRANCH_NESTING, the last ones have no records. The caller calls
 * corepmu_branch_sample_end() after the sample. From the overflow interrupt, or with IRQs off.
 */
void corepmu_branch_sample(struct corepmu_cpu *cpuc, struct perf_event *event,
			   struct perf_sample_data *data)
{
	if (cpuc->branches->nesting++ >= COREPMU_BRANCH_NESTING)
		return;
	if (unlikely(cpuc->running)) {
		add_running(cpuc, event, data);
		return;
	}
	corepmu_branch_read(cpuc);
	add_records(cpuc, event, &cpuc->branches->list, data, false);
}

/**
 * corepmu_branch_sample_list() - add the branch records of a PEBS record to a precise sample
 * @cpuc: this CPU's state
 * @event: the event, which has COREPMU_EVENT_BRANCHES
 * @list: the branch records; must stay unchanged until perf core has written the sample
 * @data: the sample, after perf_sample_data_init()
 *
 * The same as corepmu_branch_sample(), but this function does not read the registers, which may
 * hold later branches.
 */
void corepmu_branch_sample_list(struct corepmu_cpu *cpuc, struct perf_event *event,
				struct corepmu_branch_list *list,
				struct perf_sample_data *data)
{
	struct corepmu_branches *branches = cpuc->branches;

	if (branches->nesting++ >= COREPMU_BRANCH_NESTING)
		return;
	list->has_kernel = (branches->wanted & COREPMU_BRANCH_KERNEL) || has_kernel(list);
	add_records(cpuc, event, list, data, false);
}

/**
 * corepmu_branch_sample_end() - release a sample's branch stack after perf core has written it
 * @cpuc: this CPU's state
 */
void corepmu_branch_sample_end(struct corepmu_cpu *cpuc)
{
	cpuc->branches->nesting--;
}
