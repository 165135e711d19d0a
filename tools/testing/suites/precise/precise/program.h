/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * program.h - a program whose instructions are all known, with the registers after each
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "ring.h"

/* Entries of the largest table, a power of two */
#define TABLE_MAX		0x10000

/**
 * struct run - parameters of a run of the program
 * @rounds: number of rounds
 * @fd: the event, which the program enables before its first instruction and disables after
 *	its last
 * @from: table to load from
 * @to: table to store the loaded values to
 * @mask: number of entries of the tables less one
 * @bytes: destination of some bytes of @from
 */
struct run {
	u64 rounds;
	u64 fd;
	const u64 *from;
	u64 *to;
	u64 mask;
	char *bytes;
};

/* Events that the program counts */
enum counted {
	INSTRUCTIONS,
	CYCLES,		/* one an instruction, one more a branch: see x86-pmu.rst */
	LOADS,
	STORES,
	BRANCHES,
};

/**
 * struct moment - state of the program after one of its instructions
 * @ip: address of the instruction
 * @next: address of the next executed instruction
 * @addr: data address that the instruction loads or stores; 0 for none
 * @index: index of the table entry that it loads or stores
 * @rbx: the round
 * @rcx: register
 * @r10: register
 * @r11: register
 * @r14: register
 * @r15: register
 * @xmm3: the lower half of a vector register
 * @flags: RFLAGS
 * @known: bits of @flags that are known
 */
struct moment {
	u64 ip;
	u64 next;
	u64 addr;
	u64 index;
	u64 rbx;
	u64 rcx;
	u64 r10;
	u64 r11;
	u64 r14;
	u64 r15;
	u64 xmm3;
	u64 flags;
	u64 known;
};

/**
 * program() - run the program
 * @run: its parameters
 */
void program(const struct run *run);

/**
 * program_total() - return an event's count in all rounds
 * @run: the run
 * @what: the event
 *
 * Return: the count.
 */
u64 program_total(const struct run *run, enum counted what);

/**
 * program_loads() - return the number of the program's loads
 * @rounds: number of rounds; the first load of each is from @from
 *
 * Return: the number.
 */
u64 program_loads(u64 rounds);

/**
 * program_load_addr() - return the address of a round's first load
 * @run: the run
 * @round: the round, from 1
 *
 * Return: the address.
 */
u64 program_load_addr(const struct run *run, u64 round);

/**
 * program_at() - find the instruction with which an event's count reaches a number
 * @run: the run
 * @what: the event
 * @n: the number, from 1 to program_total()
 * @m: result
 */
void program_at(const struct run *run, enum counted what, u64 n, struct moment *m);

/**
 * program_count() - return an event's count after the instruction at which another reaches a number
 * @what: the event that reaches a number; an instruction counts once
 * @n: the number, from 1 to program_total()
 * @other: the event to count
 *
 * Return: the count of @other.
 */
u64 program_count(enum counted what, u64 n, enum counted other);

/**
 * struct branch - a taken branch
 * @from: its address
 * @to: its target
 */
struct branch {
	u64 from;
	u64 to;
};

/**
 * program_branches() - list the last branches that the program has taken
 * @run: the run
 * @what: the event
 * @n: the event's count at that moment, see program_at()
 * @branches: result, the youngest first; may include that instruction itself
 * @max: maximum number of branches
 *
 * Return: their number.
 */
unsigned int program_branches(const struct run *run, enum counted what, u64 n,
			      struct branch *branches, unsigned int max);

#endif /* PROGRAM_H */
