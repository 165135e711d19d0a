/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: branch types, and branch records that were read from the hardware
 */
#ifndef _COREPMU_BRANCH_RECORDS_H
#define _COREPMU_BRANCH_RECORDS_H

#include <linux/bits.h>
#include <linux/perf_event.h>
#include <linux/types.h>

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
 * @shift: bytes that the decoder has added to each record's source address
 * @counts: event counts of each record, since the previous branch: COREPMU_BRANCH_COUNT_BITS for
 *	each counter, counter 0 in the lowest bits
 */
struct corepmu_branch_list {
	bool				has_kernel;
	u64				nr;
	u64				hw_idx;
	struct perf_branch_entry	entries[COREPMU_MAX_BRANCHES];
	u32				type[COREPMU_MAX_BRANCHES];
	u8				shift[COREPMU_MAX_BRANCHES];
	u8				counts[COREPMU_MAX_BRANCHES];
};

/* hw_idx of records whose place in the hardware is unknown */
#define COREPMU_BRANCH_NOWHERE	(~0ULL)

#endif /* _COREPMU_BRANCH_RECORDS_H */
