/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stock.h - known loops of RISC-V and 64-bit POWER, on which only pmu-validate runs: the project
 * has no driver and no PMU for them
 */
#ifndef ARCH_STOCK_H
#define ARCH_STOCK_H

#include <errno.h>
#include <linux/perf_event.h>

#define ARCH_EVENT_CYCLES	PERF_COUNT_HW_CPU_CYCLES
#define ARCH_EVENT_INSTRUCTIONS	PERF_COUNT_HW_INSTRUCTIONS
#define ARCH_DEFAULT_PMU	"cpu"

#ifdef __riscv
#define ARCH_INTERRUPTS		"riscv-pmu"
#define ARCH_KNOWN_LOOP		KNOWN_LOOP("addi a0, a0, -1", "bnez a0, 1b", "ret")
#define ARCH_SLOW_LOOP		SLOW_LOOP("mul a1, a1, a1", "addi a0, a0, -1", "bnez a0, 1b", "ret")
#else
#define ARCH_INTERRUPTS		"PMI"
#define ARCH_KNOWN_LOOP		KNOWN_LOOP("addic. 3, 3, -1", "bne 1b", "blr")
#define ARCH_SLOW_LOOP		SLOW_LOOP("mulld 4, 4, 4", "addic. 3, 3, -1", "bne 1b", "blr")
#endif

static inline unsigned int arch_loop_cycles(const char *pmu)
{
	(void)pmu;
	return LOOP_INSNS;
}

/* Programs cannot read the register that has the number of counters. */
static inline unsigned int arch_listed_counters(void)
{
	return 0;
}

static inline bool arch_lacks_cycles(void)
{
	return false;
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

#endif /* ARCH_STOCK_H */
