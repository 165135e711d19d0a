/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arch.h - properties of one architecture: a loop with known user counts, event numbers, and
 * counters
 *
 * known_loop(n) retires LOOP_INSNS * n instructions between its first and its last, n of them
 * branches. The code around the loop is the same in every call. So two calls differ by exactly
 * LOOP_INSNS times the difference of their iterations. In the exact lane the loop takes
 * target.loop_cycles * n cycles.
 */
#ifndef ARCH_H
#define ARCH_H

#include <stdbool.h>

#define LOOP_INSNS		2

/**
 * known_loop() - count down to 0, with LOOP_INSNS instructions per iteration, one of them a branch
 * @iterations: start value
 */
void known_loop(unsigned long iterations);
extern const char known_loop_start[];
extern const char known_loop_end[];

/* The known loop of instructions that count down, branch and return */
#define KNOWN_LOOP(count, branch, leave)				\
	asm(".pushsection .text\n"					\
	    "	.global	known_loop, known_loop_start, known_loop_end\n"	\
	    "	.type	known_loop, %function\n"			\
	    "	.balign	64\n"						\
	    "known_loop:\n"						\
	    "known_loop_start:\n"					\
	    "1:	" count "\n"						\
	    "	" branch "\n"						\
	    "known_loop_end:\n"						\
	    "	" leave "\n"						\
	    "	.size	known_loop, . - known_loop\n"			\
	    ".popsection")

#define SLOW_INSNS		10

/**
 * slow_loop() - count down to 0, with SLOW_INSNS instructions per iteration, most of them
 * multiplications that depend on each other
 * @iterations: start value
 *
 * A CPU takes several cycles for such a multiplication.
 */
void slow_loop(unsigned long iterations);

#define SLOW_LOOP(multiply, count, branch, leave)			\
	asm(".pushsection .text\n"					\
	    "	.global	slow_loop\n"					\
	    "	.type	slow_loop, %function\n"				\
	    "slow_loop:\n"						\
	    "1:	.rept	8\n"						\
	    "	" multiply "\n"						\
	    "	.endr\n"						\
	    "	" count "\n"						\
	    "	" branch "\n"						\
	    "	" leave "\n"						\
	    ".popsection")

/**
 * struct arch_counters - numbers of events that fit the counters at the same time
 * @instructions: instructions events
 * @cycles: cycles events
 * @all: instructions and cycles events
 * @branches: events without a dedicated counter
 */
struct arch_counters {
	unsigned int instructions;
	unsigned int cycles;
	unsigned int all;
	unsigned int branches;
};

#define ARCH_MAX_COUNTERS	32

/**
 * struct arch_level - privilege level of the kernel
 * @name: the architecture's name for it
 * @has_guests: guests are possible, and events could distinguish them from the host only
 *	with KVM's help
 */
struct arch_level {
	const char *name;
	bool has_guests;
};

#if defined(__aarch64__)
#include "arch/arm64.h"
#elif defined(__x86_64__)
#include "arch/x86.h"
#elif (defined(__riscv) && __riscv_xlen == 64) || defined(__powerpc64__)
#include "arch/stock.h"
#else
#error "no known loop for this architecture"
#endif

#endif /* ARCH_H */
