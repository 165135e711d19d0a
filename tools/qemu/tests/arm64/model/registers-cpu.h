/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registers-cpu.h - a CPU with counts that tests advance one at a time
 */
#ifndef TOOLS_QEMU_TESTS_ARM64_MODEL_REGISTERS_CPU_H
#define TOOLS_QEMU_TESTS_ARM64_MODEL_REGISTERS_CPU_H

#include "tests/arm64/model/cpu.h"

static inline uint64_t cpu_mdcr(struct arm64_pmu *pmu)
{
	(void)pmu;
	return cpu.mdcr;
}

static const struct arm64_pmu_ops cpu_ops = {
	CPU_OPS,
	.mdcr_el2	= cpu_mdcr,
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

#endif /* TOOLS_QEMU_TESTS_ARM64_MODEL_REGISTERS_CPU_H */
