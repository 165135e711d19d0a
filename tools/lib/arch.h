/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arch.h - what the suites know about one architecture: a loop whose user
 * counts are known, the numbers of the events they use, and the counters
 *
 * known_loop(n) retires LOOP_INSNS * n instructions between its first and its
 * last, n of them branches; what surrounds it is the same in every call, so two
 * calls differ by exactly LOOP_INSNS times the difference of their iterations.
 * In the exact lane it takes target.loop_cycles * n cycles.
 */
#ifndef ARCH_H
#define ARCH_H

#include <stdbool.h>

#define LOOP_INSNS		2

/**
 * known_loop() - count down to 0: LOOP_INSNS instructions each time, one of them a branch
 * @iterations: from where
 */
void known_loop(unsigned long iterations);
extern const char known_loop_start[];
extern const char known_loop_end[];

/**
 * struct arch_counters - how many events the counters take at a time
 * @instructions: instructions events
 * @cycles: cycles events
 * @all: instructions and cycles events
 * @branches: events that have no counter of their own
 */
struct arch_counters {
	unsigned int instructions;
	unsigned int cycles;
	unsigned int all;
	unsigned int branches;
};

#define ARCH_MAX_COUNTERS	32

/**
 * struct arch_level - where the kernel runs
 * @name: what the architecture calls that
 * @has_guests: there may be guests, which events could tell from the host only
 *	with KVM's help
 */
struct arch_level {
	const char *name;
	bool has_guests;
};

#if defined(__aarch64__)
#include "arch-arm64.h"
#elif defined(__x86_64__)
#include "arch-x86.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "arch-riscv.h"
#else
#error "no known loop for this architecture"
#endif

#endif /* ARCH_H */
