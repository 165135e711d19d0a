/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registers-cpu.h - a CPU with counts that tests advance one at a time
 */
#ifndef TOOLS_QEMU_TESTS_X86_MODEL_REGISTERS_CPU_H
#define TOOLS_QEMU_TESTS_X86_MODEL_REGISTERS_CPU_H

#include "tests/x86/model/cpu.h"

#define USR	X86_PMU_SEL_USR
#define OS	X86_PMU_SEL_OS
#define INT	X86_PMU_SEL_INT
#define EN	X86_PMU_SEL_EN
#define EDGE	X86_PMU_SEL_EDGE
#define INV	X86_PMU_SEL_INV
#define CMASK(n)	((uint64_t)(n) << X86_PMU_SEL_CMASK_SHIFT)

/* Counts at which the model looks at its counters */
static x86_pmu_counts limit;

static inline void watch_limit(struct x86_pmu *pmu, x86_pmu_counts distance, uint32_t kinds)
{
	(void)pmu;
	memset(limit, 0x3f, sizeof(limit));
	for (int kind = 0; kind < X86_PMU_KINDS; kind++)
		for (int ring = 0; kinds & X86_PMU_KIND_BIT(kind) && ring < X86_PMU_RINGS; ring++)
			limit[kind][ring] = cpu.counts[kind][ring] + distance[kind][ring];
}

static const struct x86_pmu_ops cpu_ops = {
	CPU_OPS,
	.watch		= watch_limit,
	.record		= ignore_record,
	.single		= cpu_single,
};

static inline void make(enum x86_pmu_version version)
{
	memset(&cpu, 0, sizeof(cpu));
	memset(limit, 0, sizeof(limit));
	x86_pmu_defaults(&cpu.config, version);
	x86_pmu_init(&cpu.pmu, &cpu.config, &cpu_ops);
}

/* Advance a count, one at a time. */
static inline void happens(enum x86_pmu_kind kind, enum x86_pmu_ring ring, unsigned int n)
{
	while (n--)
		if (++cpu.counts[kind][ring] >= limit[kind][ring])
			x86_pmu_check(&cpu.pmu);
}

static inline void runs(enum x86_pmu_ring ring, unsigned int instructions, unsigned int branches)
{
	happens(X86_PMU_BRANCHES, ring, branches);
	happens(X86_PMU_CYCLES, ring, instructions + branches);
	happens(X86_PMU_INSTRUCTIONS, ring, instructions);
}

#endif /* TOOLS_QEMU_TESTS_X86_MODEL_REGISTERS_CPU_H */
