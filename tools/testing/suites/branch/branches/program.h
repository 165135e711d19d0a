/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * program.h - the programs in assembly, for what is the same of those of all architectures
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "branches.h"

/* Hidden symbols: without an entry in a table of addresses */
#define LABEL	extern const char __attribute__((visibility("hidden")))

/* Labels that all of them have */
asm("	.global	t_round, b_round, b_ret, f_leaf, r_leaf\n"
"	.global	k_round, k_loop, kb_loop, ka_sys, kb_call, ka_call, kb_trap, ka_trap, kb_round\n"
"	.global	k_handler, kb_handled, k_restore\n"
"	.global	x_round, xb_here, xa_here, xb_there, xa_there, xb_round\n");

LABEL t_round[], b_round[], b_ret[], f_leaf[], r_leaf[];
LABEL k_round[], k_loop[], kb_loop[], ka_sys[], kb_call[], ka_call[], kb_trap[], ka_trap[],
	kb_round[], k_handler[], kb_handled[], k_restore[];
LABEL x_round[], xb_here[], xa_here[], xb_there[], xa_there[], xb_round[];

/**
 * struct mover - a course of plain() that is being written
 * @c: the course
 * @moved: how far from the address it was linked to the code is
 */
struct mover {
	struct course *c;
	u64 moved;
};

/**
 * struct program - what differs between the architectures
 * @again: instructions of plain() from its last call to the branch to the next round
 * @before: those of plain() before its first round, and of both() before that
 * @trap: the signal of kernel()'s trap
 * @flags: those of its handler
 * @sys: where kernel() enters the kernel by a system call, as records have it
 * @restore: where its handler does
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
 * go() - a branch of plain()'s own is taken
 * @m: the course
 * @from: the branch
 * @to: its target
 * @kind: what it is
 * @insns: instructions since the branch before, this one included
 * @branches: branches among them, taken or not
 */
void go(const struct mover *m, const char *from, const char *to, enum kind kind,
	unsigned int insns, unsigned int branches);

/**
 * go_round() - a round of plain() up to its end, of each architecture
 * @m: the course
 * @before: instructions before t_round
 * @alternative: a round in which the branch is taken that is taken every other round
 */
void go_round(const struct mover *m, unsigned int before, bool alternative);

#endif /* PROGRAM_H */
