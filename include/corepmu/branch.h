/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: branch records, the part that all backends share
 *
 * branch/event.c translates attr.branch_sample_type into a set of COREPMU_BRANCH_*. The hardware
 * records the union of the sets of the CPU's events. For each sample, branch/sample.c selects the
 * records of the event's own set. See Documentation/driver-api/corepmu.rst.
 */
#ifndef _COREPMU_BRANCH_H
#define _COREPMU_BRANCH_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/perf_event.h>
#include <linux/types.h>

struct corepmu;
struct corepmu_cpu;
struct corepmu_feature_ops;
struct task_struct;

/* Branch types: each record has one. */
#define COREPMU_BRANCH_COND	BIT_ULL(0)
#define COREPMU_BRANCH_JUMP	BIT_ULL(1)
#define COREPMU_BRANCH_IND_JUMP	BIT_ULL(2)
#define COREPMU_BRANCH_CALL	BIT_ULL(3)
#define COREPMU_BRANCH_IND_CALL	BIT_ULL(4)
#define COREPMU_BRANCH_RET	BIT_ULL(5)
#define COREPMU_BRANCH_SYSCALL	BIT_ULL(6)
#define COREPMU_BRANCH_SYSRET	BIT_ULL(7)
/* An instruction that raises an interrupt */
#define COREPMU_BRANCH_SOFT_INT	BIT_ULL(8)
/* Interrupts and exceptions */
#define COREPMU_BRANCH_IRQ	BIT_ULL(9)
#define COREPMU_BRANCH_ERET	BIT_ULL(10)
/* A transaction was aborted */
#define COREPMU_BRANCH_ABORT	BIT_ULL(11)
/* A branch of unknown type */
#define COREPMU_BRANCH_UNKNOWN	BIT_ULL(12)
#define COREPMU_BRANCH_ANY	GENMASK_ULL(12, 0)

/* Branches that change the privilege level, or may change it */
#define COREPMU_BRANCH_FAR						\
	(COREPMU_BRANCH_SYSCALL | COREPMU_BRANCH_SYSRET |		\
	 COREPMU_BRANCH_SOFT_INT | COREPMU_BRANCH_IRQ |			\
	 COREPMU_BRANCH_ERET | COREPMU_BRANCH_ABORT | COREPMU_BRANCH_UNKNOWN)

/* Privilege level of the branch target */
#define COREPMU_BRANCH_USER	BIT_ULL(16)
#define COREPMU_BRANCH_KERNEL	BIT_ULL(17)
/* Branches inside of transactions, and outside; without these bits, branches of both */
#define COREPMU_BRANCH_IN_TX	BIT_ULL(18)
#define COREPMU_BRANCH_NO_TX	BIT_ULL(19)
#define COREPMU_BRANCH_ANY_TX	(COREPMU_BRANCH_IN_TX | COREPMU_BRANCH_NO_TX)
/* Members of struct perf_branch_entry that the event wants filled in, if the hardware can */
#define COREPMU_BRANCH_FLAGS	BIT_ULL(20)
#define COREPMU_BRANCH_CYCLES	BIT_ULL(21)
#define COREPMU_BRANCH_TYPE	BIT_ULL(22)
#define COREPMU_BRANCH_LEVEL	BIT_ULL(23)
/* LBR call stack: records of the calls that have not returned, and no other branches */
#define COREPMU_BRANCH_CALL_STACK	BIT_ULL(24)
/* The event wants some branch types only: software has to filter the records by type. */
#define COREPMU_BRANCH_CHOSEN	BIT_ULL(25)

/* The event excludes guests: no branch of a guest may be recorded, for any event of the CPU. */
#define COREPMU_BRANCH_NO_GUESTS	BIT_ULL(26)

/* Branch types that the hardware makes an LBR call stack of */
#define COREPMU_BRANCH_NEAR_CALLS					\
	(COREPMU_BRANCH_CALL | COREPMU_BRANCH_IND_CALL | COREPMU_BRANCH_RET)

/*
 * The most records that any hardware has, and the most samples of a CPU that are emitted at the
 * same time, see corepmu_branch_sample()
 */
#define COREPMU_MAX_BRANCHES	64
#define COREPMU_BRANCH_NESTING	3
#define COREPMU_BRANCH_STACK_SIZE	\
	(sizeof(struct perf_branch_stack) + COREPMU_MAX_BRANCHES * sizeof(struct perf_branch_entry))

/*
 * Event counts in a branch record (PERF_SAMPLE_BRANCH_COUNTERS): bits of a count, and the most
 * counts in a record. The counts of a record fit into a byte.
 */
#define COREPMU_BRANCH_COUNT_BITS	2
#define COREPMU_BRANCH_COUNT		GENMASK(COREPMU_BRANCH_COUNT_BITS - 1, 0)
#define COREPMU_MAX_BRANCH_COUNTS	4

/* struct perf_branch_entry as words: source, target, and one word of bit fields */
#define COREPMU_BRANCH_WORDS	3
#define COREPMU_BRANCH_BITS	2

union corepmu_branch_words {
	struct perf_branch_entry	entry;
	u64				words[COREPMU_BRANCH_WORDS];
};

/**
 * struct corepmu_branch_list - branch records that were read from the hardware
 * @has_kernel: @entries may have a kernel address: one has, or an event wants the kernel's branches
 * @nr: number of records in @entries; @nr, @hw_idx and @entries form a struct perf_branch_stack
 * @hw_idx: index of the youngest record in the hardware
 * @entries: the records, the youngest first
 * @type: branch type of each record, COREPMU_BRANCH_*; 0 if not decoded yet
 * @counts: event counts of each record, since the previous branch: COREPMU_BRANCH_COUNT_BITS for
 *	each counter, counter 0 in the lowest bits
 */
struct corepmu_branch_list {
	bool				has_kernel;
	u64				nr;
	u64				hw_idx;
	struct perf_branch_entry	entries[COREPMU_MAX_BRANCHES];
	u32				type[COREPMU_MAX_BRANCHES];
	u8				counts[COREPMU_MAX_BRANCHES];
};

/* hw_idx of records whose place in the hardware is unknown */
#define COREPMU_BRANCH_NOWHERE	(~0ULL)

/**
 * struct corepmu_branches - branch records of one CPU
 * @wanted: COREPMU_BRANCH_*: union of the sets that the CPU's events want
 * @selected: value of the backend's filter register, ~0 if unknown
 * @control: value of the backend's control register for @control_of
 * @control_of: value of @wanted that @control was computed from
 * @recording: recording is enabled; the hardware may be frozen after an overflow
 * @freezes: the backend has set the hardware's freeze-on-PMI bit (AMD)
 * @stale: the hardware's records must be cleared before recording starts again
 * @read: @list is a copy of the hardware's records
 * @task: task that the hardware's records belong to, NULL if unknown
 * @switches: number of times that @task had been scheduled out when @task was set
 * @in_sched_out: @task is being scheduled out: the scheduler has counted this switch, and no branch
 *	has been recorded since
 * @version: number that grows whenever the hardware's records may change
 * @counted: number of placed events with COREPMU_EVENT_BRANCH_COUNTERS
 * @nesting: number of samples that are being emitted
 * @list: records that were read last
 * @stack: a struct perf_branch_stack for each sample that is being emitted
 * @counts: event counts of the branches in each of @stack, in perf core's format
 *
 * Only the CPU itself accesses its records, with interrupts disabled.
 */
struct corepmu_branches {
	u64				wanted;
	u64				selected;
	u64				control;
	u64				control_of;
	bool				recording;
	bool				freezes;
	bool				stale;
	bool				read;
	const struct task_struct	*task;
	unsigned long			switches;
	bool				in_sched_out;
	unsigned long			version;
	unsigned int			counted;
	unsigned int			nesting;
	struct corepmu_branch_list	list;
	u8				stack[COREPMU_BRANCH_NESTING][COREPMU_BRANCH_STACK_SIZE]
					__aligned(8);
	u64				counts[COREPMU_BRANCH_NESTING][COREPMU_MAX_BRANCHES];
};

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

/* branch/core.c */
int corepmu_branch_setup(struct corepmu *pmu, const struct corepmu_branch_backend *backend,
			 unsigned int nr);
void corepmu_branch_cleanup(struct corepmu *pmu);
bool corepmu_branch_is_notified(const struct corepmu *pmu);
void corepmu_branch_add(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_branch_del(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_branch_switch(struct corepmu_cpu *cpuc, bool sched_in);
void corepmu_branch_start(struct corepmu_cpu *cpuc);
void corepmu_branch_stop(struct corepmu_cpu *cpuc);
void corepmu_branch_pause(struct corepmu_cpu *cpuc);
void corepmu_branch_interrupt(struct corepmu_cpu *cpuc);
void corepmu_branch_reset(struct corepmu_cpu *cpuc);

/* branch/feature.c */
extern const struct corepmu_feature_ops corepmu_branch_feature;

/* branch/task.c */
bool corepmu_branch_is_current(const struct corepmu_branches *branches);
void corepmu_branch_clear(struct corepmu_cpu *cpuc);
void corepmu_branch_restart(struct corepmu_cpu *cpuc);
int corepmu_branch_open(struct perf_event *event);
void corepmu_branch_close(struct perf_event *event);
void corepmu_branch_sched_out(struct corepmu_cpu *cpuc);
void corepmu_branch_sched_in(struct corepmu_cpu *cpuc);

/* branch/event.c */
int corepmu_branch_encode(struct corepmu *pmu, struct perf_event *event);
int corepmu_branch_check_group(struct perf_event *event);
int corepmu_branch_fits(struct corepmu_cpu *cpuc, struct perf_event *event);

/* branch/counters.c */
extern const struct corepmu_feature_ops corepmu_branch_counters_feature;
int corepmu_branch_encode_counted(struct corepmu *pmu, struct perf_event *event, u64 *wanted);
unsigned int corepmu_branch_find_counted(const struct perf_event *event, s8 *counters);
u64 corepmu_branch_counts(u8 counts, const s8 *counters, unsigned int nr);

/* branch/sample.c */
void corepmu_branch_read(struct corepmu_cpu *cpuc);
void corepmu_branch_acknowledge(struct corepmu_cpu *cpuc, u64 overflowed, bool frozen);
void corepmu_branch_sample(struct corepmu_cpu *cpuc, struct perf_event *event,
			   struct perf_sample_data *data);
void corepmu_branch_sample_list(struct corepmu_cpu *cpuc, struct perf_event *event,
				struct corepmu_branch_list *list,
				struct perf_sample_data *data);
void corepmu_branch_sample_end(struct corepmu_cpu *cpuc);
u32 corepmu_branch_type(const struct corepmu_branch_backend *backend,
			struct corepmu_branch_list *list, unsigned int i);

/* branch/snapshot.c */
int corepmu_branch_snapshot(struct perf_branch_entry *entries, unsigned int max);

/* Check whether an address is the kernel's: the top bit is set, on arm64 and on x86-64. */
static inline bool corepmu_branch_is_kernel(u64 addr)
{
	return (s64)addr < 0;
}

#endif /* _COREPMU_BRANCH_H */
