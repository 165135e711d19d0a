/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: interface between branch records and one kind of branch record registers
 */
#ifndef _COREPMU_BRANCH_BACKEND_H
#define _COREPMU_BRANCH_BACKEND_H

#include <linux/rcupdate.h>
#include <linux/types.h>

struct corepmu_branch_list;
struct corepmu_branches;
struct corepmu_cpu;
struct perf_branch_entry;
struct task_struct;

/**
 * struct corepmu_branch_record - raw values of a record's registers
 * @from: source of the branch
 * @to: target of the branch
 * @info: third register (flags, cycles), where the hardware has one and an event needs it
 */
struct corepmu_branch_record {
	u64	from;
	u64	to;
	u64	info;
};

/**
 * struct corepmu_call_stack - LBR call stack of a task that is scheduled out
 * @node: entry in the hash table of all tasks' call stacks
 * @rcu: for kfree_rcu()
 * @task: the task
 * @users: number of open events that need this call stack
 * @saved: the task is scheduled out, and @records are the hardware's records of that moment
 * @wanted: corepmu_branches.wanted at sched_out
 * @switches: number of times that @task had been scheduled out, including this one
 * @where: branch records of the CPU where @records were saved
 * @version: corepmu_branches.version at sched_out
 * @hw_idx: index of the youngest record in the hardware
 * @nr: number of records
 * @records: the records, the youngest first
 *
 * Only the CPU that switches from or to @task accesses @saved and the members after it, with
 * interrupts disabled.
 */
struct corepmu_call_stack {
	struct hlist_node		node;
	struct rcu_head			rcu;
	const struct task_struct	*task;
	unsigned int			users;
	bool				saved;
	u64				wanted;
	unsigned long			switches;
	const struct corepmu_branches	*where;
	unsigned long			version;
	u64				hw_idx;
	unsigned int			nr;
	struct corepmu_branch_record	records[];
};

/**
 * struct corepmu_branch_backend - functions for one kind of branch record registers
 * @name: name in messages
 * @offers: COREPMU_BRANCH_* that the hardware supports; events that need others are rejected
 * @kernel_reason: reason in messages why @offers lacks the kernel's branches
 * @counters: mask of counters that records have event counts of, among the lowest
 *	COREPMU_MAX_BRANCH_COUNTS; 0 where records have no event counts
 * @freeze_ends: an overflow ends recording: only @start resumes it. Otherwise the acknowledgment
 *	of the overflow resumes recording
 * @empty_stacks: an event may select no branch type, as with the built-in driver; its samples have
 *	empty branch stacks
 * @never_in_tx: the CPU has no transactions: IN_TX and ABORT_TX select no branch, NO_TX selects
 *	every branch, as with the built-in driver
 * @decodes_all: @decode may correct an address: call it for every record
 * @halves: while no event wants user space's branches, the hardware records only the kernel's
 *	address of an exception or an exception return: show an event without
 *	COREPMU_BRANCH_USER no more than that at any time
 * @open: reserve the hardware for one more event. Return 0, or an errno after corepmu_refuse();
 *	NULL, like @close, if no other driver uses the hardware. Process context
 * @close: undo @open. Process context
 * @reset: stop recording, and forget what struct corepmu_branches keeps of the registers. IRQs off
 * @start: record the branches in corepmu_branches.wanted. IRQs off, or NMI
 * @stop: stop recording and keep the records. IRQs off, or NMI
 * @clear: clear all records while recording is stopped. IRQs off, or NMI
 * @restart: do @stop, @clear and @start in one call; NULL: the caller calls all three. IRQs off, or
 *	NMI
 * @read: fill in hw_idx, nr, entries and type (0 where the hardware does not know the branch
 *	type), and counts if corepmu_branches.counted is not 0. Entries have all flags and cycles,
 *	or only those that an event wants. Write an entry before its type. Recording is stopped
 *	meanwhile. IRQs off, or NMI
 * @parse: fill in the same from a PEBS record, @words: three words per branch, as in the registers;
 *	NULL where PEBS records have no branches. @waited: large PEBS: the record may be old, and
 *	the registers may hold later branches. IRQs off, or NMI
 * @has_ended: check whether something other than @stop has ended recording, so that later branches
 *	are missing; NULL where nothing does. IRQs off, or NMI
 * @save: fill in hw_idx, nr and records of an LBR call stack; NULL, like the next two, where the
 *	hardware has no LBR call stacks. Recording is stopped meanwhile. IRQs off
 * @restore: replace the hardware's records by a saved call stack. Recording is stopped meanwhile.
 *	IRQs off
 * @still_has: check whether the registers still hold a saved call stack. The driver has not changed
 *	them, but the CPU may have been powered down. IRQs off
 * @decode: return the branch type of a record if the hardware does not know it. IRQs off, or NMI
 */
struct corepmu_branch_backend {
	const char	*name;
	u64		offers;
	const char	*kernel_reason;
	u64		counters;
	bool		freeze_ends;
	bool		empty_stacks;
	bool		never_in_tx;
	bool		decodes_all;
	bool		halves;
	int		(*open)(void);
	void		(*close)(void);
	void		(*reset)(struct corepmu_cpu *cpuc);
	void		(*start)(struct corepmu_cpu *cpuc);
	void		(*stop)(struct corepmu_cpu *cpuc);
	void		(*clear)(struct corepmu_cpu *cpuc);
	void		(*restart)(struct corepmu_cpu *cpuc);
	void		(*read)(struct corepmu_cpu *cpuc, struct corepmu_branch_list *list);
	void		(*parse)(struct corepmu_cpu *cpuc, const u64 *words, unsigned int nr,
				 bool waited, struct corepmu_branch_list *list);
	bool		(*has_ended)(const struct corepmu_cpu *cpuc);
	void		(*save)(struct corepmu_cpu *cpuc, struct corepmu_call_stack *stack);
	void		(*restore)(struct corepmu_cpu *cpuc,
				   const struct corepmu_call_stack *stack);
	bool		(*still_has)(struct corepmu_cpu *cpuc,
				     const struct corepmu_call_stack *stack);
	u32		(*decode)(struct perf_branch_entry *entry);
};

#endif /* _COREPMU_BRANCH_BACKEND_H */
