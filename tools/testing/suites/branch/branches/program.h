/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * program.h - the assembly programs' common interface
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "course.h"

/* Hidden symbols do not need the GOT. */
#define LABEL	extern const char __attribute__((visibility("hidden")))

/* Labels that all programs have */
asm("	.global	t_round, b_round, b_ret, f_leaf, r_leaf\n"
"	.global	k_round, k_loop, kb_loop, ka_sys, kb_call, ka_call, kb_trap, ka_trap, kb_round\n"
"	.global	k_handler, kb_handled, k_restore\n"
"	.global	x_round, xb_here, xa_here, xb_there, xa_there, xb_round\n");

LABEL t_round[], b_round[], b_ret[], f_leaf[], r_leaf[];
LABEL k_round[], k_loop[], kb_loop[], ka_sys[], kb_call[], ka_call[], kb_trap[], ka_trap[],
	kb_round[], k_handler[], kb_handled[], k_restore[];
LABEL x_round[], xb_here[], xa_here[], xb_there[], xa_there[], xb_round[];

/**
 * struct mover - a course of plain() under construction
 * @c: the course
 * @moved: distance of the code from the address to which it was linked
 */
struct mover {
	struct course *c;
	u64 moved;
};

/**
 * struct program - differences between the architectures
 * @again: instructions of plain() from its last call to the branch to the next round
 * @before: instructions of plain() before its first round, and of both() before them
 * @trap: the signal of kernel()'s trap
 * @flags: flags of its handler
 * @sys: recorded address at which kernel() makes its system call
 * @restore: recorded address at which its handler makes its system call
 */
struct program {
	unsigned int again;
	unsigned int before;
	int trap;
	unsigned long flags;
	const char *sys;
	const char *restore;
};

extern const struct program program;

/**
 * go() - append a taken branch of plain() to a course
 * @m: the course
 * @from: address of the branch
 * @to: its target
 * @kind: its type
 * @insns: instructions since the previous branch, including this one
 * @branches: branches among them, taken or not
 */
void go(const struct mover *m, const char *from, const char *to, enum kind kind,
	unsigned int insns, unsigned int branches);

/**
 * go_round() - add a round of plain() up to its end, for this architecture
 * @m: the course
 * @before: instructions before t_round
 * @alternative: a round in which the alternating branch is taken
 */
void go_round(const struct mover *m, unsigned int before, bool alternative);

#endif /* PROGRAM_H */
