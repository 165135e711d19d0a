/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu.h - a CPU with counts that tests set, for the virtual arm64 PMU
 */
#ifndef TOOLS_QEMU_TESTS_ARM64_MODEL_CPU_H
#define TOOLS_QEMU_TESTS_ARM64_MODEL_CPU_H

#include <stdio.h>
#include <string.h>

#include "arm64/registers/model.h"
#include "common/plugin.h"
#include "tests/model-test.h"

#define BIT(n)		(UINT64_C(1) << (n))

static struct cpu {
	struct arm64_pmu_config config;
	struct arm64_pmu pmu;
	arm64_pmu_counts counts;
	arm64_pmu_counts limit;
	uint32_t needed;
	enum arm64_pmu_level level;
	uint64_t mdcr;
	unsigned int overflows;
	unsigned int alarms;
} cpu;

static inline void cpu_read(struct arm64_pmu *pmu, arm64_pmu_counts counts)
{
	(void)pmu;
	memcpy(counts, cpu.counts, sizeof(cpu.counts));
}

static inline void cpu_watch(struct arm64_pmu *pmu, arm64_pmu_counts distance)
{
	(void)pmu;
	for (int kind = 0; kind < ARM64_PMU_KINDS; kind++)
		for (int level = 0; level < ARM64_PMU_LEVELS; level++)
			cpu.limit[kind][level] = cpu.counts[kind][level] + distance[kind][level];
}

static inline void cpu_need(struct arm64_pmu *pmu, uint32_t kinds)
{
	(void)pmu;
	cpu.needed |= kinds;
}

static inline enum arm64_pmu_level cpu_level(struct arm64_pmu *pmu)
{
	(void)pmu;
	return cpu.level;
}

static inline void cpu_overflowed(struct arm64_pmu *pmu)
{
	(void)pmu;
	cpu.overflows++;
}

static inline void cpu_alarm(struct arm64_pmu *pmu)
{
	(void)pmu;
	cpu.alarms++;
}

/* The functions that any CPU has, in struct arm64_pmu_ops */
#define CPU_OPS				\
	.read		= cpu_read,	\
	.watch		= cpu_watch,	\
	.need		= cpu_need,	\
	.level		= cpu_level,	\
	.overflowed	= cpu_overflowed, \
	.alarm		= cpu_alarm

#endif /* TOOLS_QEMU_TESTS_ARM64_MODEL_CPU_H */
