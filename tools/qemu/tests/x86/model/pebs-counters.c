// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of counter values in PEBS records of the virtual x86 PMU, without QEMU. KTAP on stdout.
 *
 * Numbers of registers and the layout of the counters group are taken from Linux' driver
 * (msr-index.h, perf_event.h, events/intel/ds.c). The model follows the manual.
 */
#include "tests/x86/model/pebs-cpu.h"

#define MSR_IA32_PMC_V6_STEP		4

#define PEBS_DATACFG_CNTR		BIT(4)
#define PEBS_DATACFG_METRICS		BIT(5)
#define PEBS_DATACFG_CNTR_SHIFT		32
#define PEBS_DATACFG_FIX_SHIFT		48
#define INTEL_CNTR_METRICS		0x3

#define EVENT_INSTRUCTIONS		0x4300c0	/* enabled, in both rings */
#define EVENT_STORES			0x4382d0

static void make(unsigned int format)
{
	memset(&cpu, 0, sizeof(cpu));
	x86_pmu_uarch_defaults(&cpu.config, x86_uarch_find("icelake"));
	cpu.config.pebs.format = format;
	make_with_buffer();
}

static void make_arch(void)
{
	memset(&cpu, 0, sizeof(cpu));
	x86_pmu_defaults(&cpu.config, X86_PMU_INTEL_V6);
	cpu.config.pebs.format = 15;
	make_pmu(&cpu_ops);
	EXPECT(put(MSR_IA32_PEBS_BASE, PHYSICAL) &&
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
