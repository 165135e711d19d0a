/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu.h - a CPU with counts that tests set, and access to its registers
 */
#ifndef TOOLS_QEMU_TESTS_X86_MODEL_CPU_H
#define TOOLS_QEMU_TESTS_X86_MODEL_CPU_H

#include <stdio.h>
#include <string.h>

#include "common/plugin.h"
#include "tests/model-test.h"
#include "x86/registers/model.h"
#include "x86/uarch/uarch.h"

#define BIT(n)	(UINT64_C(1) << (n))
#define MASK(n)	(BIT(n) - 1)

static struct cpu {
	struct x86_pmu_config config;
	struct x86_pmu pmu;
	x86_pmu_counts counts;
	x86_pmu_counts distance;
	unsigned int rings;
	unsigned int interrupts;
	unsigned int alarms;
	unsigned int samples;
	uint32_t needed;
	uint64_t memory[512];
} cpu;

/* Counts of other kinds are wrong: the model must not use them. */
static inline void cpu_read(struct x86_pmu *pmu, x86_pmu_counts counts, uint32_t kinds)
{
	(void)pmu;
	for (int kind = 0; kind < X86_PMU_KINDS; kind++)
		if (kinds & X86_PMU_KIND_BIT(kind))
			memcpy(counts[kind], cpu.counts[kind], sizeof(counts[kind]));
		else
			memset(counts[kind], 0xaa, sizeof(counts[kind]));
}

static inline void cpu_watch(struct x86_pmu *pmu, x86_pmu_counts distance, uint32_t kinds)
{
	(void)pmu;
	for (int kind = 0; kind < X86_PMU_KINDS; kind++)
		if (kinds & X86_PMU_KIND_BIT(kind))
			memcpy(cpu.distance[kind], distance[kind], sizeof(cpu.distance[kind]));
		else
			memset(cpu.distance[kind], 0x3f, sizeof(cpu.distance[kind]));
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

static inline void cpu_alarm(struct x86_pmu *pmu)
{
	(void)pmu;
	cpu.alarms++;
}

static inline void cpu_single(struct x86_pmu *pmu, unsigned int rings)
{
	(void)pmu;
	cpu.rings = rings;
}

static inline uint64_t ignore_record(struct x86_pmu *pmu, unsigned int rings)
{
	(void)pmu;
	(void)rings;
	return 0;
}

/* The functions that any CPU has, in struct x86_pmu_ops */
#define CPU_OPS				\
	.read		= cpu_read,	\
	.need		= cpu_need,	\
	.interrupt	= cpu_interrupt, \
	.alarm		= cpu_alarm

/* Make the PMU of cpu.config. */
static inline void make_pmu(const struct x86_pmu_ops *ops)
{
	EXPECT(!x86_pmu_config_error(&cpu.config));
	x86_pmu_init(&cpu.pmu, &cpu.config, ops);
}

static inline bool put(uint32_t msr, uint64_t value)
{
	return x86_pmu_wrmsr(&cpu.pmu, msr, value) == X86_PMU_DONE;
}

static inline bool faults_write(uint32_t msr, uint64_t value)
{
	return x86_pmu_wrmsr(&cpu.pmu, msr, value) == X86_PMU_FAULT;
}

static inline uint64_t get(uint32_t msr)
{
	uint64_t value = 0;

	EXPECT(x86_pmu_rdmsr(&cpu.pmu, msr, &value) == X86_PMU_DONE);
	return value;
}

/* Check that the PMU does not answer a read: it faults, or the register is not the PMU's. */
static inline bool lacks(uint32_t msr)
{
	uint64_t value;

	return x86_pmu_rdmsr(&cpu.pmu, msr, &value) != X86_PMU_DONE;
}

static inline bool faults_read(uint32_t msr)
{
	uint64_t value;

	return x86_pmu_rdmsr(&cpu.pmu, msr, &value) == X86_PMU_FAULT;
}

#endif /* TOOLS_QEMU_TESTS_X86_MODEL_CPU_H */
