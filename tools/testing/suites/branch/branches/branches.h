/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * branches.h - programs all of whose branches are known, and how a branch stack is compared
 * with what they did
 */
#ifndef BRANCHES_H
#define BRANCHES_H

#include "ring.h"

/* Deeper than any branch stack's calls */
#define DEEP			40

#define STEPS_MAX		512

/*
 * What records of the CPU have: whether cycles, how many there are where the driver does not say,
 * and why not stacks of calls, or filters of transactions, or NULL
 */
#ifdef __aarch64__
#define HAS_CYCLES		true
#define USUAL_DEPTH		64
#define WHY_NO_CALLS		"records of BRBE do not follow calls"
#define WHY_NO_TX		"records of BRBE do not tell transactions"
#else
#define HAS_CYCLES		(!arch_is_amd())
#define USUAL_DEPTH		(arch_is_amd() ? 16 : 32)
#define WHY_NO_CALLS		(arch_is_amd() ? "AMD's records do not follow calls" : NULL)
#define WHY_NO_TX		(arch_is_amd() ? "AMD's records do not tell transactions" : NULL)
#endif

/* What a branch is, as PERF_SAMPLE_BRANCH_* tells them apart. */
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
 * @from: the branch; 0 in the kernel
 * @to: its target; 0 in the kernel
 * @kind: what it is
 * @cycles: since the step before, of the virtual PMUs
 */
struct step {
	u64 from;
	u64 to;
	enum kind kind;
	unsigned int cycles;
};

/**
 * struct course - what a program does, again and again
 * @steps: all branches taken, in order; the first follows the last
 * @nr: how many
 */
struct course {
	struct step steps[STEPS_MAX];
	unsigned int nr;
};

/* ---- programs: so many rounds ---- */

void plain(unsigned long rounds);
void kernel(unsigned long rounds);
void both(unsigned long rounds, const void *here, const void *there);

/**
 * nest() - calls itself, so many times, and then something else, so many times
 * @depth: calls that have not returned then
 * @turns: how often
 * @turn: what is called there
 */
void nest(unsigned long depth, unsigned long turns, void (*turn)(void));

/* The innermost of nest()'s code, calls to it, and the first of them */
extern const char nest_turn[], nest_turn_end[], nest_call[], nest_first[], nest_called[];

/**
 * course_plain() - what plain() does: two rounds
 * @c: result
 * @moved: how far from the address it was linked to its code is
 */
void course_plain(struct course *c, u64 moved);

/**
 * course_kernel() - what kernel() does: a round
 * @c: result
 */
void course_kernel(struct course *c);

/**
 * course_both() - what both() does: a round of plain() in each place, again and again
 * @c: result
 * @here: how far the code is moved in the first place
 * @there: likewise, in the other
 */
void course_both(struct course *c, u64 here, u64 there);

/**
 * kernel_prepare() - install the signal handler of kernel()
 *
 * Return: whether that went well; if not, the running test has failed.
 */
bool kernel_prepare(void);

/* All code of plain(), which runs anywhere. */
extern const char plain_code[], plain_code_end[];

/* ---- the judge ---- */

/**
 * struct verdict - how the samples of a test went
 * @course: what they are compared with
 * @kinds: which of its steps are in the stack, a bit each
 * @types: the branches' types are there
 * @cycles: their cycles are there
 * @ip: the sample's address follows the youngest branch
 * @partial: the oldest calls of a stack may be missing
 * @all: in a stack of so many entries nothing is left out, in user space or in the kernel: each
 *	branch is executed after the target of the one before it. 0 if that is not so. (In-tree
 *	drivers leave out interrupts of the kernel where they look at types.)
 * @samples: how many were compared
 * @entries: entries of them
 * @full: samples that have as many as the longest, or up to two less
 * @shortest: entries of the shortest
 * @longest: entries of the longest
 * @disturbed: entries with other cycles: there was an interrupt, whose own are in them, or whose
 *	return was a branch too, from which on they count
 * @entered: entries that enter the kernel by the program's own doing
 * @missed: entries that were mispredicted
 * @wrong: samples that are no part of the course
 */
struct verdict {
	const struct course *course;
	unsigned int kinds;
	bool types;
	bool cycles;
	bool ip;
	bool partial;
	unsigned int all;
	unsigned int samples;
	unsigned long entries;
	unsigned int full;
	unsigned int shortest;
	unsigned int longest;
	unsigned int disturbed;
	unsigned int entered;
	unsigned int missed;
	unsigned int wrong;
};

/**
 * judge() - compare a sample's stack with a course
 * @v: the test
 * @s: the sample
 *
 * The first one that is wrong is printed.
 */
void judge(struct verdict *v, const struct sample *s);

/**
 * judge_calls() - compare a sample's call stack with the calls a course is in
 * @v: the test; its @kinds do not matter
 * @s: the sample
 * @depth: how many entries the hardware has
 */
void judge_calls(struct verdict *v, const struct sample *s, unsigned int depth);

/**
 * calls_are_followed() - has the PMU under test stacks of calls?
 *
 * Return: whether it has; if not, the running test is skipped.
 */
bool calls_are_followed(void);

/**
 * switches_are_told() - does perf core tell the PMU under test of switches of tasks?
 *
 * Return: whether it does.
 */
bool switches_are_told(void);

/**
 * is_kernel() - is an address the kernel's?
 * @addr: the address
 *
 * Return: whether it is.
 */
static inline bool is_kernel(u64 addr)
{
	return addr >> 63;
}

/**
 * is_address_inside() - is an address in a program?
 * @c: what the program does
 * @addr: the address
 *
 * Return: false if it is of what comes before the program, or after it; true for the kernel's.
 */
bool is_address_inside(const struct course *c, u64 addr);

/**
 * is_inside() - is all that a sample shows of user space in a program?
 * @c: what the program does
 * @s: the sample
 *
 * Return: false for a sample of what comes before the program, or after it.
 */
bool is_inside(const struct course *c, const struct sample *s);

/**
 * drop_empty() - leave out the registers that were still zero, which come last
 * @s: the sample
 *
 * Return: how many there were.
 */
unsigned int drop_empty(struct sample *s);

/**
 * depth_of_stack() - how many records has the CPU?
 *
 * Return: how many.
 */
unsigned int depth_of_stack(void);

/* ---- a sampling event with branches ---- */

/**
 * struct sampling - an event of this task that samples its branches
 * @attr: how it was opened
 * @ring: its buffer
 * @fd: the event, or a negative errno
 */
struct sampling {
	struct perf_event_attr attr;
	struct ring ring;
	int fd;
};

/**
 * sampling_open() - open one, disabled
 * @s: result, for sampling_close()
 * @branches: PERF_SAMPLE_BRANCH_*
 * @period: instructions to a sample
 *
 * Return: whether that went well; if not, the running test has failed.
 */
bool sampling_open(struct sampling *s, u64 branches, u64 period);

/**
 * sampling_close() - undo sampling_open()
 * @s: the event
 */
void sampling_close(struct sampling *s);

/* ---- many records, by the instructions that they are of ---- */

void records(void);

/* ---- records that a BPF program asks for ---- */

void snapshot(void);

/* ---- tests of tasks that take turns on a CPU ---- */

void tasks_of_one(void);
void tasks_of_cpu(void);
void tasks_calls(void);
void mover_calls(void);

#endif /* BRANCHES_H */
