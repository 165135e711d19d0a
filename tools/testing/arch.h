/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arch.h - what the suites know about one architecture: a loop whose user
 * instructions are known, and the numbers of the events they use
 *
 * known_loop(n) retires LOOP_INSNS * n instructions between its first and its
 * last; what surrounds it is the same in every call, so two calls differ by
 * exactly LOOP_INSNS times the difference of their iterations.
 */
#ifndef ARCH_H
#define ARCH_H

#include <errno.h>
#include <stdbool.h>

#define LOOP_INSNS		2

void known_loop(unsigned long iterations);
extern const char known_loop_start[];
extern const char known_loop_end[];

#if defined(__aarch64__)

#include <sys/auxv.h>
#include <asm/hwcap.h>

/*
 * Instructions by which two equal calls of fork() or pthread_create() may
 * differ: without single-instruction atomics an interrupt makes them retry.
 */
static inline unsigned int arch_libc_slack(void)
{
	return getauxval(AT_HWCAP) & HWCAP_ATOMICS ? 0 : 64;
}

#define ARCH_EVENT_CYCLES	0x11
#define ARCH_EVENT_INSTRUCTIONS	0x08
/* Schedules on any event counter, never counts unless software says so. */
#define ARCH_EVENT_SILENT	0x00
/* Event counters of the virtual CPUs, the cycle counter not among them. */
#define ARCH_EVENT_COUNTERS	6
/* The cycle counter can take one cycles event beside the event counters. */
#define ARCH_CYCLE_COUNTERS	1
/* attr.config1: the event wants a counter of 64 bits. */
#define ARCH_CONFIG1_LONG	1ULL
/* attr.config1: user space wants to read the counter. */
#define ARCH_CONFIG1_RDPMC	2ULL
/* First bit of sample_regs_* that the architecture does not define. */
#define ARCH_BAD_REGS		(1ULL << 63)
/* What events of the PMU give for exclude_idle, which has no meaning for them. */
#define ARCH_EXCLUDE_IDLE	(-EOPNOTSUPP)
#define ARCH_DEFAULT_PMU	"corepmu"

#define ARCH_KNOWN_LOOP							\
	asm(".pushsection .text\n"					\
	    "	.global	known_loop, known_loop_start, known_loop_end\n"	\
	    "	.type	known_loop, %function\n"			\
	    "	.balign	64\n"						\
	    "known_loop:\n"						\
	    "known_loop_start:\n"					\
	    "1:	subs	x0, x0, #1\n"					\
	    "	b.ne	1b\n"						\
	    "known_loop_end:\n"						\
	    "	ret\n"							\
	    "	.size	known_loop, . - known_loop\n"			\
	    ".popsection")

/*
 * Whether event counters have 64 bits. Where they do not, a 64-bit event
 * needs two chained ones, and QEMU has no CHAIN event.
 */
static inline bool arch_long_counters(void)
{
	return getauxval(AT_HWCAP2) & HWCAP2_FRINT;
}

#elif defined(__x86_64__)

static inline bool arch_long_counters(void)
{
	return false;
}

static inline unsigned int arch_libc_slack(void)
{
	return 0;
}

#define ARCH_EVENT_CYCLES	0x3c
#define ARCH_EVENT_INSTRUCTIONS	0xc0
#define ARCH_EVENT_SILENT	0x2e
#define ARCH_EVENT_COUNTERS	4
#define ARCH_CYCLE_COUNTERS	1
#define ARCH_CONFIG1_LONG	0ULL
#define ARCH_CONFIG1_RDPMC	0ULL
#define ARCH_BAD_REGS		(1ULL << 63)
#define ARCH_EXCLUDE_IDLE	0
#define ARCH_DEFAULT_PMU	"corepmu"

#define ARCH_KNOWN_LOOP							\
	asm(".pushsection .text\n"					\
	    "	.global	known_loop, known_loop_start, known_loop_end\n"	\
	    "	.type	known_loop, @function\n"			\
	    "	.balign	64\n"						\
	    "known_loop:\n"						\
	    "known_loop_start:\n"					\
	    "1:	sub	$1, %rdi\n"					\
	    "	jnz	1b\n"						\
	    "known_loop_end:\n"						\
	    "	ret\n"							\
	    "	.size	known_loop, . - known_loop\n"			\
	    ".popsection")

#else
#error "no known loop for this architecture"
#endif

#endif /* ARCH_H */
