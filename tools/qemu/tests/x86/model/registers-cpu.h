/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registers-cpu.h - a CPU with counts that tests advance one at a time
 */
#ifndef TOOLS_QEMU_TESTS_X86_MODEL_REGISTERS_CPU_H
#define TOOLS_QEMU_TESTS_X86_MODEL_REGISTERS_CPU_H

#include <stdio.h>
#include <string.h>

#include "tests/model-test.h"
#include "tests/x86/model/ops.h"
#include "x86/registers/model.h"

#define USR	X86_PMU_SEL_USR
#define OS	X86_PMU_SEL_OS
#define INT	X86_PMU_SEL_INT
#define EN	X86_PMU_SEL_EN
#define EDGE	X86_PMU_SEL_EDGE
#define INV	X86_PMU_SEL_INV
#define CMASK(n)	((uint64_t)(n) << X86_PMU_SEL_CMASK_SHIFT)

#define BIT(n)	(UINT64_C(1) << (n))
#define MASK(n)	(BIT(n) - 1)

static struct cpu {
	struct x86_pmu_config config;
	struct x86_pmu pmu;
	x86_pmu_counts counts;
	x86_pmu_counts limit;
	uint32_t needed;
	unsigned int interrupts;
	unsigned int alarms;
} cpu;

static inline void cpu_read(struct x86_pmu *pmu, x86_pmu_counts counts)
{
	(void)pmu;
	memcpy(counts, cpu.counts, sizeof(cpu.counts));
}

static inline void cpu_watch(struct x86_pmu *pmu, x86_pmu_counts distance)
{
	int kind, ring;

	(void)pmu;
	for (kind = 0; kind < X86_PMU_KINDS; kind++)
		for (ring = 0; ring < X86_PMU_RINGS; ring++)
			cpu.limit[kind][ring] = cpu.counts[kind][ring] + distance[kind][ring];
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

static const struct x86_pmu_ops cpu_ops = {
	.read		= cpu_read,
	.watch		= cpu_watch,
	.need		= cpu_need,
	.interrupt	= cpu_interrupt,
	.alarm		= cpu_alarm,
	.record		= ignore_record,
	.single		= ignore_single,
};

static inline void make(enum x86_pmu_version version)
{
	memset(&cpu, 0, sizeof(cpu));
	x86_pmu_defaults(&cpu.config, version);
	x86_pmu_init(&cpu.pmu, &cpu.config, &cpu_ops);
}

/* Advance a count, one at a time. */
static inline void happens(enum x86_pmu_kind kind, enum x86_pmu_ring ring, unsigned int n)
{
	while (n--)
		if (++cpu.counts[kind][ring] >= cpu.limit[kind][ring])
			x86_pmu_check(&cpu.pmu);
}

static inline void runs(enum x86_pmu_ring ring, unsigned int instructions, unsigned int branches)
{
	happens(X86_PMU_BRANCHES, ring, branches);
	happens(X86_PMU_CYCLES, ring, instructions + branches);
	happens(X86_PMU_INSTRUCTIONS, ring, instructions);
}

static inline bool faults_write(uint32_t msr, uint64_t value)
{
	return x86_pmu_wrmsr(&cpu.pmu, msr, value) == X86_PMU_FAULT;
}

static inline bool faults_read(uint32_t msr)
{
	uint64_t value;

	return x86_pmu_rdmsr(&cpu.pmu, msr, &value) == X86_PMU_FAULT;
}

static inline bool put(uint32_t msr, uint64_t value)
{
	return x86_pmu_wrmsr(&cpu.pmu, msr, value) == X86_PMU_DONE;
}

/* Return a value that no register has if the read faults. */
static inline uint64_t get(uint32_t msr)
{
	uint64_t value;

	if (x86_pmu_rdmsr(&cpu.pmu, msr, &value) != X86_PMU_DONE)
		return 0xdeaddeaddeaddead;
	return value;
}

#endif /* TOOLS_QEMU_TESTS_X86_MODEL_REGISTERS_CPU_H */
