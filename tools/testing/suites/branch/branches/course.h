/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * course.h - programs whose branches are all known
 */
#ifndef COURSE_H
#define COURSE_H

#include "ring.h"

/* More calls than any branch stack records */
#define DEEP			40

#define STEPS_MAX		512

/* Types of branches, as in PERF_SAMPLE_BRANCH_* */
enum kind {
	KIND_COND,
	KIND_JUMP,
	KIND_IND_JUMP,
	KIND_CALL,
	KIND_IND_CALL,
	KIND_RETURN,
	KIND_ENTER,	/* the kernel, by a system call or a trap */
	KIND_LEAVE,	/* the kernel */
};

#define KIND_BIT(kind)		(1U << (kind))
#define KIND_ALL		(~0U)

/**
 * struct step - a branch that is taken
 * @from: address of the branch; 0 in the kernel
 * @to: its target; 0 in the kernel
 * @kind: its type
 * @cycles: cycles of a virtual PMU since the previous step
 */
struct step {
	u64 from;
	u64 to;
	enum kind kind;
	unsigned int cycles;
};

/**
 * struct course - the branches that a program takes in a loop
 * @steps: all branches taken, in order; the first follows the last
 * @nr: number of steps
 */
struct course {
	struct step steps[STEPS_MAX];
	unsigned int nr;
};

/* ---- programs, called with a number of rounds ---- */

void plain(unsigned long rounds);
void kernel(unsigned long rounds);
void both(unsigned long rounds, const void *here, const void *there);

/**
 * nest() - call itself recursively, then call a function several times
 * @depth: number of nested calls at the deepest level
 * @turns: number of calls of @turn
 * @turn: function to call at the deepest level
 */
void nest(unsigned long depth, unsigned long turns, void (*turn)(void));

/* Code of nest()'s deepest level, its calls, and the first of these */
extern const char nest_turn[], nest_turn_end[], nest_call[], nest_first[], nest_called[];

/**
 * course_plain() - describe two rounds of plain()
 * @c: result
 * @moved: distance of the code from the address to which it was linked
 */
void course_plain(struct course *c, u64 moved);

/**
 * course_kernel() - describe a round of kernel()
 * @c: result
 */
void course_kernel(struct course *c);

/**
 * course_both() - describe both(): a round of plain() at each address in turn
 * @c: result
 * @here: distance of the first copy from the linked address
 * @there: distance of the second copy
 */
void course_both(struct course *c, u64 here, u64 there);

/**
 * kernel_prepare() - install the signal handler of kernel()
 *
 * Return: true on success; otherwise the running test has failed.
 */
bool kernel_prepare(void);

/* The code of plain(), which runs at any address */
extern const char plain_code[], plain_code_end[];

#endif /* COURSE_H */
