/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ppc.h - a known loop for 64-bit POWER, on which only pmu-validate runs: the project has no driver
 * and no PMU for it
 */
#ifndef ARCH_PPC_H
#define ARCH_PPC_H

#include <errno.h>
#include <linux/perf_event.h>

#define ARCH_EVENT_CYCLES	PERF_COUNT_HW_CPU_CYCLES
#define ARCH_EVENT_INSTRUCTIONS	PERF_COUNT_HW_INSTRUCTIONS
#define ARCH_INTERRUPTS		"PMI"
#define ARCH_DEFAULT_PMU	"cpu"

#define ARCH_KNOWN_LOOP							\
	asm(".pushsection .text\n"					\
	    "	.global	known_loop, known_loop_start, known_loop_end\n"	\
	    "	.type	known_loop, @function\n"			\
	    "	.balign	64\n"						\
	    "known_loop:\n"						\
	    "known_loop_start:\n"					\
	    "1:	addic.	3, 3, -1\n"					\
	    "	bne	1b\n"						\
	    "known_loop_end:\n"						\
	    "	blr\n"							\
	    "	.size	known_loop, . - known_loop\n"			\
	    ".popsection")

static inline unsigned int arch_loop_cycles(const char *pmu)
{
	(void)pmu;
	return LOOP_INSNS;
}

static inline unsigned int arch_libc_slack(void)
{
	return 0;
}

static inline unsigned int arch_group_slack(void)
{
	return 0;
}

static inline struct arch_counters arch_counters(void)
{
	return (struct arch_counters) { 1, 1, 2, 1 };
}

#endif /* ARCH_PPC_H */
