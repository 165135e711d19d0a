/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uarch-cpu.h - a CPU of a microarchitecture, with the same count of each kind, except for cycles
 */
#ifndef TOOLS_QEMU_TESTS_X86_MODEL_UARCH_CPU_H
#define TOOLS_QEMU_TESTS_X86_MODEL_UARCH_CPU_H

#include "tests/x86/model/cpu.h"

#define USR	X86_PMU_SEL_USR
#define INT	X86_PMU_SEL_INT
#define EN	X86_PMU_SEL_EN
#define CMASK(n)	((uint64_t)(n) << X86_PMU_SEL_CMASK_SHIFT)

#define IA32_PMC		0xc1
#define IA32_PERFEVTSEL		0x186
#define IA32_FIXED_CTR		0x309
#define IA32_FIXED_CTR_CTRL	0x38d
#define IA32_PERF_GLOBAL_CTRL	0x38f
#define IA32_PERF_GLOBAL_OVF_CTRL	0x390
#define IA32_PERF_CAPABILITIES	0x345
#define MSR_PERF_METRICS	0x329
#define MSR_OFFCORE_RSP_0	0x1a6
#define MSR_OFFCORE_RSP_1	0x1a7
#define MSR_SNOOP_RSP		0x1328
#define MSR_OMR			0x3e0
#define MSR_PEBS_FRONTEND	0x3f7
#define RDPMC_METRICS		0x20000000

#define PERF_CNTR_GLOBAL_STATUS	0xc0000300
#define PERF_CTL(n)		(0xc0010200 + 2 * (n))
#define PERF_CTR(n)		(0xc0010201 + 2 * (n))

static const struct x86_pmu_ops cpu_ops = {
	CPU_OPS,
	.watch		= cpu_watch,
	.record		= ignore_record,
	.single		= cpu_single,
};

static inline bool make_uarch(const struct x86_uarch *uarch)
{
	memset(&cpu, 0, sizeof(cpu));
	if (!uarch)
		return false;
	x86_pmu_uarch_defaults(&cpu.config, uarch);
	x86_pmu_init(&cpu.pmu, &cpu.config, &cpu_ops);
	return !x86_pmu_config_error(&cpu.config);
}

static inline bool make(const char *name)
{
	return make_uarch(x86_uarch_find(name));
}

static inline void happens(enum x86_pmu_kind kind, unsigned int n)
{
	cpu.counts[kind][X86_PMU_USER] += n;
	x86_pmu_check(&cpu.pmu);
}

/* Advance each count by ten, and cycles by twenty. */
static inline void everything_happens(void)
{
	for (int kind = 0; kind < X86_PMU_KINDS; kind++)
		happens(kind, kind == X86_PMU_CYCLES ? 20 : 10);
}

static inline uint32_t select_of(unsigned int i)
{
	return x86_pmu_is_amd(&cpu.config) ? PERF_CTL(i) : IA32_PERFEVTSEL + i;
}

static inline uint32_t counter_of(unsigned int i)
{
	return x86_pmu_is_amd(&cpu.config) ? PERF_CTR(i) : IA32_PMC + i;
}

/* Return the count of an event on a counter after everything_happens(). */
static inline uint64_t counted(unsigned int i, uint64_t event)
{
	uint64_t count;

	if (!put(counter_of(i), 0) || !put(select_of(i), EN | USR | event))
		return 0xdeaddeaddeaddead;
	everything_happens();
	count = get(counter_of(i));
	put(select_of(i), 0);
	return count;
}

/* Return a bitmap of the counters that count an event. */
static inline uint32_t counters_of(uint64_t event)
{
	uint32_t counters = 0;

	for (unsigned int i = 0; i < cpu.config.gp; i++)
		if (counted(i, event))
			counters |= 1 << i;
	return counters;
}

#endif /* TOOLS_QEMU_TESTS_X86_MODEL_UARCH_CPU_H */
