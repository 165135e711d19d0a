/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pebs-cpu.h - a CPU with memory for PEBS records
 *
 * Numbers of registers and the layout of the DS area are taken from Linux' driver (msr-index.h,
 * perf_event.h, intel_ds.h).
 */
#ifndef TOOLS_QEMU_TESTS_X86_MODEL_PEBS_CPU_H
#define TOOLS_QEMU_TESTS_X86_MODEL_PEBS_CPU_H

#include "tests/x86/model/cpu.h"

#define MSR_P6_PMC0			0x4c1
#define MSR_P6_EVNTSEL0			0x186
#define MSR_CORE_PERF_FIXED_CTR0	0x309
#define MSR_IA32_PERF_CAPABILITIES	0x345
#define MSR_CORE_PERF_FIXED_CTR_CTRL	0x38d
#define MSR_CORE_PERF_GLOBAL_STATUS	0x38e
#define MSR_CORE_PERF_GLOBAL_CTRL	0x38f
#define MSR_CORE_PERF_GLOBAL_OVF_CTRL	0x390
#define MSR_IA32_PEBS_ENABLE		0x3f1
#define MSR_PEBS_DATA_CFG		0x3f2
#define MSR_IA32_DS_AREA		0x600
#define MSR_IA32_PEBS_BASE		0x3f4
#define MSR_IA32_PEBS_INDEX		0x3f5
#define MSR_IA32_PMC_V6_GP0_CFG_C	0x1903
#define MSR_IA32_PMC_V6_FX0_CFG_C	0x1983
#define ARCH_PEBS_CNTR_ALLOW		BIT(35)
#define ARCH_PEBS_CNTR_GP		BIT(36)
#define ARCH_PEBS_EN			BIT(63)
#define ARCH_PEBS_THRESH_SHIFT		36
#define ARCH_PEBS_INDEX_EN		BIT(32)
#define PERF_CAP_PEBS_FORMAT(n)		((uint64_t)(n) << 8)
#define ICL_EVENTSEL_ADAPTIVE		BIT(34)

#define BEFORE(n)			((BIT(48) - (n)) & MASK(48))
#define IP				UINT64_C(0x401000)

/* struct debug_store, in words: reset values of the counters come last */
#define AREA				UINT64_C(0xfffffe0000001000)
#define DS_BASE				4
#define DS_INDEX			5
#define DS_MAXIMUM			6
#define DS_THRESHOLD			7
#define DS_RESET			8
#define BUFFER				(AREA + 0x400)
#define BUFFER_SIZE			0x800

/* Architectural records have a physical address. */
#define PHYSICAL			UINT64_C(0x5000)

/* Each register has its number as its value, to identify the register in a record. */
static inline void cpu_state(struct x86_pmu *pmu, struct x86_pebs_state *state, bool vectors)
{
	(void)pmu;
	memset(state, 0, sizeof(*state));
	for (unsigned int i = 0; i < X86_REGISTERS; i++) {
		state->regs[i] = 0x100 + i;
		state->xmm[i][0] = vectors ? 0x200 + i : 0;
	}
	state->ip = IP + 4;
	state->flags = 0x246;
	state->tsc = 0x12345;
}

static inline bool cpu_memory(struct x86_pmu *pmu, uint64_t addr, void *buf, size_t len, bool write)
{
	char *at = (char *)cpu.memory + (addr - AREA);

	(void)pmu;
	if (addr < AREA || addr + len > AREA + sizeof(cpu.memory))
		return false;
	if (write)
		memcpy(at, buf, len);
	else
		memcpy(buf, at, len);
	return true;
}

/* The buffer of architectural records, behind the place of the DS area */
static inline bool cpu_write_physical(struct x86_pmu *pmu, uint64_t addr, void *buf, size_t len)
{
	(void)pmu;
	if (addr < PHYSICAL || addr + len > PHYSICAL + sizeof(cpu.memory))
		return false;
	memcpy((char *)cpu.memory + (addr - PHYSICAL), buf, len);
	return true;
}

static const struct x86_pmu_ops cpu_ops = {
	CPU_OPS,
	.watch		= cpu_watch,
	.record		= ignore_record,
	.single		= cpu_single,
	.state		= cpu_state,
	.memory		= cpu_memory,
	.write_physical	= cpu_write_physical,
};

/* Make the PMU of cpu.config, with an empty buffer that interrupts after each record. */
static inline void make_with_buffer(void)
{
	make_pmu(&cpu_ops);
	cpu.memory[DS_BASE] = BUFFER;
	cpu.memory[DS_INDEX] = BUFFER;
	cpu.memory[DS_MAXIMUM] = BUFFER + BUFFER_SIZE;
	cpu.memory[DS_THRESHOLD] = BUFFER + 1;
	EXPECT(put(MSR_IA32_DS_AREA, AREA));
}

static inline const uint64_t *record(void)
{
	return cpu.memory + (BUFFER - AREA) / sizeof(uint64_t);
}

static inline uint64_t written(void)
{
	return cpu.memory[DS_INDEX] - BUFFER;
}

#endif /* TOOLS_QEMU_TESTS_X86_MODEL_PEBS_CPU_H */
