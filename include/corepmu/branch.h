/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: branch records, the same for every backend
 *
 * What an event asks for in attr.branch_sample_type becomes a set of COREPMU_BRANCH_*. The
 * hardware records the union of what the CPU's events ask for; each sample gets what its own
 * event asked for, which is chosen in software. See Documentation/driver-api/corepmu.rst.
 */
#ifndef _COREPMU_BRANCH_H
#define _COREPMU_BRANCH_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/perf_event.h>
#include <linux/types.h>

struct corepmu;
struct corepmu_cpu;
struct task_struct;

/* Kinds of branches: of each record there is one. */
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
/* A branch of a kind that cannot be told */
#define COREPMU_BRANCH_UNKNOWN	BIT_ULL(12)
#define COREPMU_BRANCH_ANY	GENMASK_ULL(12, 0)

/* Those that lead from one level to another, or may */
#define COREPMU_BRANCH_FAR						\
	(COREPMU_BRANCH_SYSCALL | COREPMU_BRANCH_SYSRET |		\
	 COREPMU_BRANCH_SOFT_INT | COREPMU_BRANCH_IRQ |			\
	 COREPMU_BRANCH_ERET | COREPMU_BRANCH_ABORT | COREPMU_BRANCH_UNKNOWN)

/* Where branches lead to */
#define COREPMU_BRANCH_USER	BIT_ULL(16)
#define COREPMU_BRANCH_KERNEL	BIT_ULL(17)
/* Branches in transactions, and out of them; neither: it does not matter */
#define COREPMU_BRANCH_IN_TX	BIT_ULL(18)
#define COREPMU_BRANCH_NO_TX	BIT_ULL(19)
#define COREPMU_BRANCH_ANY_TX	(COREPMU_BRANCH_IN_TX | COREPMU_BRANCH_NO_TX)
/* Records are to have these, where the hardware knows them */
#define COREPMU_BRANCH_FLAGS	BIT_ULL(20)
#define COREPMU_BRANCH_CYCLES	BIT_ULL(21)
#define COREPMU_BRANCH_TYPE	BIT_ULL(22)
#define COREPMU_BRANCH_LEVEL	BIT_ULL(23)
/* The calls that have not returned, and nothing else */
#define COREPMU_BRANCH_CALL_STACK	BIT_ULL(24)
/* Records are chosen by their kind */
#define COREPMU_BRANCH_CHOSEN	BIT_ULL(25)

/* What a stack of calls is made of */
#define COREPMU_BRANCH_NEAR_CALLS					\
	(COREPMU_BRANCH_CALL | COREPMU_BRANCH_IND_CALL | COREPMU_BRANCH_RET)

/* Records of any hardware, and samples that are under way on a CPU at most, see branch/core.c */
#define COREPMU_MAX_BRANCHES	64
#define COREPMU_BRANCH_NESTING	3
#define COREPMU_BRANCH_STACK_SIZE	\
	(sizeof(struct perf_branch_stack) + COREPMU_MAX_BRANCHES * sizeof(struct perf_branch_entry))

/*
 * How often events have happened since the branch before: so many bits each, and the most of a
 * record, for which a byte is enough
 */
#define COREPMU_BRANCH_COUNT_BITS	2
#define COREPMU_BRANCH_COUNT		GENMASK(COREPMU_BRANCH_COUNT_BITS - 1, 0)
#define COREPMU_MAX_BRANCH_COUNTS	4

/* A record word by word: the addresses, and all else */
#define COREPMU_BRANCH_WORDS	3
#define COREPMU_BRANCH_BITS	2

union corepmu_branch_words {
	struct perf_branch_entry	entry;
	u64				words[COREPMU_BRANCH_WORDS];
};

/**
 * struct corepmu_branch_list - branches
 * @has_kernel: one of @entries has an address of the kernel, or may have where these are wanted
 * @nr: how many records @entries has: this and the next two are a struct perf_branch_stack
 * @hw_idx: where the hardware keeps the youngest record
 * @entries: the records, the youngest first
 * @kind: the kind of each, 0 as long as nobody has looked
 * @counts: of each, how often the events of some counters have happened since the one before:
 *	COREPMU_BRANCH_COUNT_BITS for each counter, from 0 on
 */
struct corepmu_branch_list {
	bool				has_kernel;
	u64				nr;
	u64				hw_idx;
	struct perf_branch_entry	entries[COREPMU_MAX_BRANCHES];
	u32				kind[COREPMU_MAX_BRANCHES];
	u8				counts[COREPMU_MAX_BRANCHES];
};

/* hw_idx of branches that came with a precise sample: where they were is not told. */
#define COREPMU_BRANCH_NOWHERE	(~0ULL)

/**
 * struct corepmu_branches - branch records of one CPU
 * @wanted: COREPMU_BRANCH_* that any of the CPU's events asks for
 * @selected: the backend's: what its filter register holds, ~0 when that is not known
 * @control: the backend's: what its control register is to hold for @control_of
 * @control_of: corepmu_branches.wanted that @control was made of
 * @recording: the hardware has been told to record; it may stand still after an overflow
 * @freezes: the backend's: the hardware has been told to freeze the records at an overflow, where
 *	@selected does not say so
 * @stale: the hardware's records are to be wiped before it records again
 * @read: @list is what the hardware has
 * @task: whose branches the hardware's records are, NULL while that is not known
 * @switches: how often that task had been scheduled out when it was noted
 * @leaving: it is being scheduled out, which has been counted, and nothing has been recorded since
 * @version: grows whenever the hardware's records may have changed
 * @counted: events placed that have COREPMU_EVENT_COUNTED
 * @nesting: samples that are being emitted
 * @list: the records
 * @stack: what samples show
 * @counts: how often events have happened in each of these branches, as perf core wants it
 *
 * Only the CPU itself touches it, with interrupts disabled.
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
	bool				leaving;
	unsigned long			version;
	unsigned int			counted;
	unsigned int			nesting;
	struct corepmu_branch_list	list;
	u8				stack[COREPMU_BRANCH_NESTING][COREPMU_BRANCH_STACK_SIZE]
					__aligned(8);
	u64				counts[COREPMU_BRANCH_NESTING][COREPMU_MAX_BRANCHES];
};

/**
 * struct corepmu_branch_record - the registers of a record, as the hardware has them
 * @from: where the branch was
 * @to: where it led
 * @info: what else is known of it, where the hardware keeps that apart and somebody wants it
 */
struct corepmu_branch_record {
	u64	from;
	u64	to;
	u64	info;
};

/**
 * struct corepmu_call_stack - the calls of a task that have not returned
 * @node: entry among those of all tasks
 * @rcu: frees it
 * @task: the task
 * @users: events that were opened on the task and want it
 * @saved: the task is away, and this is what the hardware had when it left
 * @wanted: corepmu_branches.wanted of then
 * @switches: how often the task had been scheduled out, that time included
 * @where: the CPU's records that it was read from
 * @version: corepmu_branches.version of then
 * @hw_idx: where the hardware kept the youngest record
 * @nr: how many records there are
 * @records: the records, the youngest first
 *
 * All but the first four are touched by the CPU alone that switches to the task, or from it,
 * with interrupts disabled.
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
 * struct corepmu_branch_backend - the registers of branch records
 * @name: for messages
 * @offers: COREPMU_BRANCH_* that it can tell; events that ask for others are refused
 * @kernel_reason: why branches of the kernel cannot be recorded, when @offers lacks them
 * @counters: those whose events records can have counts of, none but the lowest
 *	COREPMU_MAX_BRANCH_COUNTS; 0 where they have none
 * @freeze_ends: hardware that stands still after an overflow has to be told to record again;
 *	otherwise acknowledging the overflow does it
 * @empty_stacks: an event may ask for no kind of branch, as it may with the built-in driver; its
 *	samples have none
 * @decodes_all: @decode may correct an address, and is asked about every record
 * @open: one more event that wants records is opened: 0, or an errno after saying why not; NULL,
 *	like @close, if no other driver uses the hardware. Process context
 * @close: undo @open. Process context
 * @reset: record nothing, forget what @corepmu_branches say of the registers. IRQs off
 * @start: record what corepmu_branches.wanted says. IRQs off, or NMI
 * @stop: record nothing; records are kept. IRQs off, or NMI
 * @wipe: no record is left; the hardware does not record meanwhile. IRQs off, or NMI
 * @renew: stop, wipe, and record what was recorded before; NULL where these three do. IRQs off,
 *	or NMI
 * @read: fill in hw_idx, nr, entries, and kind where the hardware knows it (0 where not).
 *	Of flags and cycles an entry has those alone that were asked for, or all.
 *	While corepmu_branches.counted is not 0 counts too.
 *	Of each entry kind comes last. The hardware does not record meanwhile. IRQs off, or NMI
 * @parse: the same of words that came with a precise sample, three a branch as the registers
 *	have them; NULL where there are none. It may have waited for others, and the registers be
 *	of later. IRQs off, or NMI
 * @has_ended: has something else than stop() ended recording, so that branches since are missing?
 *	NULL where nothing does. IRQs off, or NMI
 * @save: fill in hw_idx, nr and records of a stack of calls; NULL like the next two where the
 *	hardware has none. The hardware does not record meanwhile. IRQs off
 * @restore: have the hardware keep these records and no others. It does not record
 *	meanwhile. IRQs off
 * @still_has: are a saved stack's registers as they were? Nobody has touched them since, but
 *	the CPU may have been powered down. IRQs off
 * @decode: the kind of a record of which the hardware does not know it. IRQs off, or NMI
 */
struct corepmu_branch_backend {
	const char	*name;
	u64		offers;
	const char	*kernel_reason;
	u64		counters;
	bool		freeze_ends;
	bool		empty_stacks;
	bool		decodes_all;
	int		(*open)(void);
	void		(*close)(void);
	void		(*reset)(struct corepmu_cpu *cpuc);
	void		(*start)(struct corepmu_cpu *cpuc);
	void		(*stop)(struct corepmu_cpu *cpuc);
	void		(*wipe)(struct corepmu_cpu *cpuc);
	void		(*renew)(struct corepmu_cpu *cpuc);
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
bool corepmu_branch_is_told(const struct corepmu *pmu);
void corepmu_branch_add(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_branch_del(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_branch_switch(bool sched_in);
struct corepmu_cpu *corepmu_branch_this_cpu(void);
void corepmu_branch_start(struct corepmu_cpu *cpuc);
void corepmu_branch_stop(struct corepmu_cpu *cpuc);
void corepmu_branch_pause(struct corepmu_cpu *cpuc);
void corepmu_branch_interrupt(struct corepmu_cpu *cpuc);
void corepmu_branch_acknowledge(struct corepmu_cpu *cpuc, u64 overflowed, bool frozen);
void corepmu_branch_reset(struct corepmu_cpu *cpuc);
void corepmu_branch_off(void);
void corepmu_branch_on(void);

/* branch/task.c */
bool corepmu_branch_is_current(const struct corepmu_branches *branches);
void corepmu_branch_wipe(struct corepmu_cpu *cpuc);
void corepmu_branch_renew(struct corepmu_cpu *cpuc);
int corepmu_branch_open(struct perf_event *event);
void corepmu_branch_close(struct perf_event *event);
void corepmu_branch_leave(struct corepmu_cpu *cpuc);
void corepmu_branch_come(struct corepmu_cpu *cpuc);

/* branch/event.c */
int corepmu_branch_encode(struct corepmu *pmu, struct perf_event *event);
bool corepmu_branch_fits_group(struct perf_event *event);
bool corepmu_branch_fits(const struct corepmu_cpu *cpuc, const struct perf_event *event);

/* branch/counters.c */
int corepmu_branch_encode_counted(struct corepmu *pmu, struct perf_event *event, u64 *wanted);
void corepmu_branch_add_counted(struct corepmu_cpu *cpuc);
void corepmu_branch_del_counted(struct corepmu_cpu *cpuc);
void corepmu_branch_move_counted(struct corepmu_cpu *cpuc);
unsigned int corepmu_branch_find_counted(const struct perf_event *event, s8 *counters);
u64 corepmu_branch_counts(u8 counts, const s8 *counters, unsigned int nr);

/* branch/sample.c */
void corepmu_branch_read(struct corepmu_cpu *cpuc);
void corepmu_branch_sample(struct corepmu_cpu *cpuc, struct perf_event *event,
			   struct perf_sample_data *data);
void corepmu_branch_sample_list(struct corepmu_cpu *cpuc, struct perf_event *event,
				struct corepmu_branch_list *list,
				struct perf_sample_data *data);
void corepmu_branch_sample_end(struct corepmu_cpu *cpuc);
u32 corepmu_branch_kind(const struct corepmu_branch_backend *backend,
			struct corepmu_branch_list *list, unsigned int i);

/* branch/snapshot.c */
int corepmu_branch_snapshot(struct perf_branch_entry *entries, unsigned int max);

/* Addresses of the kernel have the top bit set, on arm64 and on x86-64. */
static inline bool corepmu_branch_is_kernel(u64 addr)
{
	return (s64)addr < 0;
}

#endif /* _COREPMU_BRANCH_H */
