// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of counter values in PEBS records of the virtual x86 PMU, without QEMU. KTAP on stdout.
 *
 * Numbers of registers and the layout of the counters group are taken from Linux' driver
 * (msr-index.h, perf_event.h, events/intel/ds.c). The model follows the manual.
 */
#include <string.h>

#include "common/plugin.h"
#include "tests/model-test.h"
#include "tests/x86/model/cpu.h"
#include "tests/x86/model/ops.h"
#include "x86/registers/model.h"
#include "x86/uarch/uarch.h"

#define BIT(n)	(UINT64_C(1) << (n))

#define MSR_P6_PMC0			0x4c1
#define MSR_P6_EVNTSEL0			0x186
#define MSR_CORE_PERF_FIXED_CTR0	0x309
#define MSR_IA32_PERF_CAPABILITIES	0x345
#define MSR_CORE_PERF_FIXED_CTR_CTRL	0x38d
#define MSR_CORE_PERF_GLOBAL_CTRL	0x38f
#define MSR_IA32_PEBS_ENABLE		0x3f1
#define MSR_PEBS_DATA_CFG		0x3f2
#define MSR_IA32_PEBS_BASE		0x3f4
#define MSR_IA32_PEBS_INDEX		0x3f5
#define MSR_IA32_DS_AREA		0x600
#define MSR_IA32_PMC_V6_GP0_CFG_C	0x1903
#define MSR_IA32_PMC_V6_STEP		4
#define MSR_IA32_PMC_V6_FX0_CFG_C	0x1983
#define ARCH_PEBS_CNTR_ALLOW		BIT(35)
#define ARCH_PEBS_CNTR_GP		BIT(36)
#define ARCH_PEBS_EN			BIT(63)
#define ARCH_PEBS_INDEX_EN		BIT(32)
#define ARCH_PEBS_THRESH_SHIFT		36

#define PERF_CAP_PEBS_FORMAT(n)		((uint64_t)(n) << 8)
#define ICL_EVENTSEL_ADAPTIVE		BIT(34)
#define PEBS_DATACFG_CNTR		BIT(4)
#define PEBS_DATACFG_METRICS		BIT(5)
#define PEBS_DATACFG_CNTR_SHIFT		32
#define PEBS_DATACFG_FIX_SHIFT		48
#define INTEL_CNTR_METRICS		0x3

#define EVENT_INSTRUCTIONS		0x4300c0	/* enabled, in both rings */
#define EVENT_STORES			0x4382d0
#define LOW(n)				(BIT(n) - 1)
#define BEFORE(n)			((BIT(48) - (n)) & LOW(48))

/* struct debug_store, in words */
#define DS_BASE				4
#define DS_INDEX			5
#define DS_MAXIMUM			6
#define DS_THRESHOLD			7
#define DS_RESET			8

/* The CPU's memory: the DS area and its buffer, or the buffer of architectural records */
#define AREA				UINT64_C(0x5000)
#define BUFFER				(AREA + 0x400)
#define BUFFER_SIZE			0x800
#define IP				UINT64_C(0x401000)

static void cpu_state(struct x86_pmu *pmu, struct x86_pebs_state *state, bool vectors)
{
	(void)pmu;
	(void)vectors;
	memset(state, 0, sizeof(*state));
}

static bool cpu_memory(struct x86_pmu *pmu, uint64_t addr, void *buf, size_t len, bool write)
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

static bool cpu_write_physical(struct x86_pmu *pmu, uint64_t addr, void *buf, size_t len)
{
	return cpu_memory(pmu, addr, buf, len, true);
}

static const struct x86_pmu_ops cpu_ops = {
	.read		= cpu_read,
	.watch		= cpu_watch,
	.need		= cpu_need,
	.interrupt	= cpu_interrupt,
	.alarm		= ignore_alarm,
	.record		= ignore_record,
	.single		= cpu_single,
	.state		= cpu_state,
	.memory		= cpu_memory,
	.write_physical	= cpu_write_physical,
};

static void start(void)
{
	EXPECT(!x86_pmu_config_error(&cpu.config));
	x86_pmu_init(&cpu.pmu, &cpu.config, &cpu_ops);
}

static void make(unsigned int format)
{
	memset(&cpu, 0, sizeof(cpu));
	x86_pmu_uarch_defaults(&cpu.config, x86_uarch_find("icelake"));
	cpu.config.pebs.format = format;
	start();
	cpu.memory[DS_BASE] = BUFFER;
	cpu.memory[DS_INDEX] = BUFFER;
	cpu.memory[DS_MAXIMUM] = BUFFER + BUFFER_SIZE;
	cpu.memory[DS_THRESHOLD] = BUFFER + 1;
	EXPECT(put(MSR_IA32_DS_AREA, AREA));
}

static void make_arch(void)
{
	memset(&cpu, 0, sizeof(cpu));
	x86_pmu_defaults(&cpu.config, X86_PMU_INTEL_V6);
	cpu.config.pebs.format = 15;
	start();
	EXPECT(put(MSR_IA32_PEBS_BASE, AREA) &&
	       put(MSR_IA32_PEBS_INDEX, ARCH_PEBS_INDEX_EN | 1ULL << ARCH_PEBS_THRESH_SHIFT));
}

/* Retire instructions of user space with a load and a store. */
static void steps(unsigned int n)
{
	static const struct x86_pebs_access access = { .loads = true, .stores = true };

	while (n--) {
		cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER]++;
		cpu.counts[X86_PMU_LOADS][X86_PMU_USER]++;
		cpu.counts[X86_PMU_STORES][X86_PMU_USER]++;
		x86_pmu_step(&cpu.pmu, IP, &access);
	}
}

static const uint64_t *record(void)
{
	return cpu.memory + (BUFFER - AREA) / sizeof(uint64_t);
}

static uint64_t written(void)
{
	return cpu.memory[DS_INDEX] - BUFFER;
}

/* struct pebs_cntr_header, the counters, and the slots counter and PERF_METRICS */
static void test_counters(void)
{
	const uint64_t counters = PEBS_DATACFG_CNTR | 5ULL << PEBS_DATACFG_CNTR_SHIFT |
				  1ULL << PEBS_DATACFG_FIX_SHIFT;

	make(4);
	EXPECT(!put(MSR_PEBS_DATA_CFG, counters));
	make(6);
	EXPECT((get(MSR_IA32_PERF_CAPABILITIES) & 0xf00) == PERF_CAP_PEBS_FORMAT(6));
	EXPECT(!put(MSR_PEBS_DATA_CFG, BIT(40)) && !put(MSR_PEBS_DATA_CFG, BIT(52)));
	EXPECT(put(MSR_PEBS_DATA_CFG, counters));
	EXPECT(put(MSR_P6_EVNTSEL0 + 2, EVENT_STORES) && put(MSR_P6_PMC0 + 2, 100));
	EXPECT(put(MSR_CORE_PERF_FIXED_CTR0, 1000) && put(MSR_CORE_PERF_FIXED_CTR_CTRL, 3));
	EXPECT(put(MSR_P6_EVNTSEL0, EVENT_INSTRUCTIONS | ICL_EVENTSEL_ADAPTIVE));
	EXPECT(put(MSR_P6_PMC0, BEFORE(3)) && put(MSR_IA32_PEBS_ENABLE, 1));
	cpu.memory[DS_RESET] = BEFORE(3);
	EXPECT(put(MSR_CORE_PERF_GLOBAL_CTRL, 5 | BIT(32)));
	steps(3);
	EXPECT(written() == (4 + 2 + 3) * 8 && record()[0] == (PEBS_DATACFG_CNTR | 72ULL << 48));
	EXPECT(record()[4] == (5 | BIT(32)) && !record()[5]);
	/* The overflowing counter before its reload, and the others at the instruction */
	EXPECT(!record()[6] && record()[7] == 103 && record()[8] == 1003);
	EXPECT(get(MSR_P6_PMC0) == BEFORE(3));
	EXPECT(put(MSR_PEBS_DATA_CFG, PEBS_DATACFG_METRICS));
	cpu.memory[DS_INDEX] = BUFFER;
	steps(3);
	EXPECT(written() == (4 + 2 + 2) * 8 && record()[0] == (PEBS_DATACFG_METRICS | 64ULL << 48));
	EXPECT(!record()[4] && record()[5] == INTEL_CNTR_METRICS);
}

/* From format 5 on, the reset values of fixed-function counters come after 32 others. */
static void test_far_resets(void)
{
	make(6);
	cpu.memory[DS_RESET + 32] = BEFORE(7);
	EXPECT(put(MSR_CORE_PERF_FIXED_CTR0, BEFORE(7)) &&
	       put(MSR_CORE_PERF_FIXED_CTR_CTRL, 3) && put(MSR_IA32_PEBS_ENABLE, BIT(32)) &&
	       put(MSR_CORE_PERF_GLOBAL_CTRL, BIT(32)));
	steps(7);
	EXPECT(written() && get(MSR_CORE_PERF_FIXED_CTR0) == BEFORE(7));
}

/* struct arch_pebs_cntr_header: the counters that allow it, of the kinds that the record has */
static void test_arch_counters(void)
{
	make_arch();
	EXPECT(put(MSR_P6_EVNTSEL0 + 2, EVENT_STORES) && put(MSR_P6_PMC0 + 2, 100));
	EXPECT(put(MSR_IA32_PMC_V6_GP0_CFG_C + 2 * MSR_IA32_PMC_V6_STEP, ARCH_PEBS_CNTR_ALLOW));
	EXPECT(put(MSR_IA32_PMC_V6_FX0_CFG_C, ARCH_PEBS_CNTR_ALLOW));
	EXPECT(put(MSR_P6_EVNTSEL0, EVENT_INSTRUCTIONS) && put(MSR_P6_PMC0, BEFORE(3)));
	EXPECT(put(MSR_IA32_PMC_V6_GP0_CFG_C, ARCH_PEBS_EN | ARCH_PEBS_CNTR_GP));
	EXPECT(put(MSR_CORE_PERF_GLOBAL_CTRL, 5));
	steps(3);
	/* An unused word ends a record with an odd number of words. */
	EXPECT(cpu.memory[0] == (ARCH_PEBS_EN | ARCH_PEBS_CNTR_GP | BIT(30) | (2 + 6 + 3 + 1) * 8));
	EXPECT(cpu.memory[8] == BIT(2) && !cpu.memory[9] && cpu.memory[10] == 103);
}

static const struct model_test tests[] = {
	{ "format 6: a record has counters and metrics", test_counters },
	{ "format 6: reset values of 32 general-purpose counters", test_far_resets },
	{ "architectural: a record has the allowed counters", test_arch_counters },
};

int main(void)
{
	return run_model_tests(tests, ARRAY_SIZE(tests));
}
