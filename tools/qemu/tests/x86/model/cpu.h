/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu.h - a CPU with counts that tests set, for models that need each instruction
 */
#ifndef TOOLS_QEMU_TESTS_X86_MODEL_CPU_H
#define TOOLS_QEMU_TESTS_X86_MODEL_CPU_H

#include <string.h>

#include "tests/model-test.h"
#include "x86/registers/model.h"

static struct cpu {
	struct x86_pmu_config config;
	struct x86_pmu pmu;
	x86_pmu_counts counts;
	x86_pmu_counts distance;
	unsigned int rings;
	unsigned int interrupts;
	unsigned int samples;
	uint32_t needed;
	uint64_t memory[512];
} cpu;

static inline void cpu_read(struct x86_pmu *pmu, x86_pmu_counts counts)
{
	(void)pmu;
	memcpy(counts, cpu.counts, sizeof(cpu.counts));
}

static inline void cpu_watch(struct x86_pmu *pmu, x86_pmu_counts distance)
{
	(void)pmu;
	memcpy(cpu.distance, distance, sizeof(cpu.distance));
}

static inline void cpu_need(struct x86_pmu *pmu, uint32_t kinds)
{
	(void)pmu;
	cpu.needed |= kinds;
}

static inline void cpu_interrupt(struct x86_pmu *pmu)
{
	(void)pmu;
	cpu.interrupts++;
}

static inline void cpu_single(struct x86_pmu *pmu, unsigned int rings)
{
	(void)pmu;
	cpu.rings = rings;
}

static inline bool put(uint32_t msr, uint64_t value)
{
	return x86_pmu_wrmsr(&cpu.pmu, msr, value) == X86_PMU_DONE;
}

static inline uint64_t get(uint32_t msr)
{
	uint64_t value = 0;

	EXPECT(x86_pmu_rdmsr(&cpu.pmu, msr, &value) == X86_PMU_DONE);
	return value;
}

#endif /* TOOLS_QEMU_TESTS_X86_MODEL_CPU_H */
