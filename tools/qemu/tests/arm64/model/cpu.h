/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu.h - a CPU with counts that tests set, for the virtual arm64 PMU
 */
#ifndef TOOLS_QEMU_TESTS_ARM64_MODEL_CPU_H
#define TOOLS_QEMU_TESTS_ARM64_MODEL_CPU_H

#include <string.h>

#include "arm64/registers/model.h"

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
	int kind, level;

	(void)pmu;
	for (kind = 0; kind < ARM64_PMU_KINDS; kind++)
		for (level = 0; level < ARM64_PMU_LEVELS; level++)
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

static inline uint64_t cpu_mdcr(struct arm64_pmu *pmu)
{
	(void)pmu;
	return cpu.mdcr;
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

static const struct arm64_pmu_ops cpu_ops = {
	.read		= cpu_read,
	.watch		= cpu_watch,
	.need		= cpu_need,
	.level		= cpu_level,
	.mdcr_el2	= cpu_mdcr,
	.overflowed	= cpu_overflowed,
	.alarm		= cpu_alarm,
};

static inline void make(enum arm64_pmu_version version)
{
	memset(&cpu, 0, sizeof(cpu));
	cpu.config = (struct arm64_pmu_config) {
		.version = version, .counters = 6, .stuck = ARM64_PMU_NO_COUNTER,
	};
	cpu.level = ARM64_PMU_EL1;
	arm64_pmu_init(&cpu.pmu, &cpu.config, &cpu_ops);
}

/* Advance a count by @n, one at a time. */
static inline void happens(enum arm64_pmu_kind kind, enum arm64_pmu_level level, unsigned int n)
{
	while (n--)
		if (++cpu.counts[kind][level] >= cpu.limit[kind][level])
			arm64_pmu_check(&cpu.pmu);
}

static inline void runs(enum arm64_pmu_level level, unsigned int instructions,
			unsigned int branches)
{
	happens(ARM64_PMU_CYCLES, level, instructions + branches);
	happens(ARM64_PMU_BRANCHES, level, branches);
	happens(ARM64_PMU_INSTRUCTIONS, level, instructions);
}

static inline void put(enum arm64_pmu_reg reg, uint64_t value)
{
	arm64_pmu_write(&cpu.pmu, reg, 0, value);
}

static inline uint64_t get(enum arm64_pmu_reg reg)
{
	return arm64_pmu_read(&cpu.pmu, reg, 0);
}

static inline void put_counter(unsigned int n, uint64_t value)
{
	arm64_pmu_write(&cpu.pmu, ARM64_PMEVCNTR, n, value);
}

static inline uint64_t counter(unsigned int n)
{
	return arm64_pmu_read(&cpu.pmu, ARM64_PMEVCNTR, n);
}

static inline void put_type(unsigned int n, uint64_t value)
{
	arm64_pmu_write(&cpu.pmu, ARM64_PMEVTYPER, n, value);
}

static inline uint64_t type(unsigned int n)
{
	return arm64_pmu_read(&cpu.pmu, ARM64_PMEVTYPER, n);
}

/* Set a counter's event and value, and enable it. */
static inline void start(unsigned int n, uint64_t event, uint64_t value)
{
	put_type(n, event);
	put_counter(n, value);
	put(ARM64_PMCNTENSET, BIT(n));
}

#endif /* TOOLS_QEMU_TESTS_ARM64_MODEL_CPU_H */
