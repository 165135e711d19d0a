// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of auto counter reload in the virtual x86 PMU, without QEMU. KTAP on stdout.
 *
 * Numbers of registers and bits are taken from Linux' driver (msr-index.h, perf_event.h,
 * events/intel/core.c). The model's numbers are taken from the manual.
 */
#include "tests/x86/model/pebs-cpu.h"

#define MSR_IA32_PMC_V6_GP0_CFG_B	0x1902
#define MSR_IA32_PMC_V6_FX0_CFG_B	0x1982
#define STEP				4

/* Enabled, in both rings, with an interrupt */
#define EVENT_INSTRUCTIONS		0x5300c0
#define EVENT_LOADS			0x5381d0

static void make(void)
{
	memset(&cpu, 0, sizeof(cpu));
	x86_pmu_defaults(&cpu.config, X86_PMU_INTEL_V6);
	cpu.config.acr = true;
	make_pmu(&cpu_ops);
}

/* Start a counter that overflows after @period; an overflow of @causes reloads the counter. */
static void count(unsigned int n, uint64_t select, uint32_t period, uint64_t causes)
{
	EXPECT(put(MSR_P6_EVNTSEL0 + n, select) && put(MSR_P6_PMC0 + n, BEFORE(period)));
	EXPECT(put(MSR_IA32_PMC_V6_GP0_CFG_C + STEP * n, -period) &&
	       put(MSR_IA32_PMC_V6_GP0_CFG_B + STEP * n, causes));
}

/* Retire user instructions, with this many loads each. */
static void steps(unsigned int n, unsigned int loads)
{
	static const struct x86_pebs_access none;

	while (n--) {
		cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER]++;
		cpu.counts[X86_PMU_LOADS][X86_PMU_USER] += loads;
		x86_pmu_step(&cpu.pmu, 0x401000, &none);
	}
}

static void test_reported(void)
{
	struct x86_pmu_cpuid regs = { 0 };

	make();
	x86_pmu_cpuid(&cpu.config, 0x23, 0, &regs);
	EXPECT((regs.eax & 0x34) == 4);
	x86_pmu_cpuid(&cpu.config, 0x23, 2, &regs);
	EXPECT(regs.eax == 0xfc && regs.ebx == 3 && regs.ecx == 0xfc && regs.edx == 3);
	cpu.config.acr = false;
	x86_pmu_cpuid(&cpu.config, 0x23, 0, &regs);
	EXPECT(!(regs.eax & 4));
	x86_pmu_cpuid(&cpu.config, 0x23, 2, &regs);
	EXPECT(!regs.eax && !regs.ebx && !regs.ecx && !regs.edx);
	x86_pmu_defaults(&cpu.config, X86_PMU_INTEL_V5);
	cpu.config.acr = true;
	EXPECT(x86_pmu_config_error(&cpu.config));
}

static void test_registers(void)
{
	make();
	EXPECT(put(MSR_IA32_PMC_V6_GP0_CFG_B + 2 * STEP, 0xfc | BIT(32) | BIT(33)));
	EXPECT(get(MSR_IA32_PMC_V6_GP0_CFG_B + 2 * STEP) == (0xfc | BIT(32) | BIT(33)));
	/* The first two counters have no auto counter reload. */
	EXPECT(!put(MSR_IA32_PMC_V6_GP0_CFG_B, 4) && put(MSR_IA32_PMC_V6_GP0_CFG_B, 0));
	EXPECT(!put(MSR_IA32_PMC_V6_GP0_CFG_B + 2 * STEP, 1));
	EXPECT(put(MSR_IA32_PMC_V6_FX0_CFG_B, BIT(33)) && !put(MSR_IA32_PMC_V6_FX0_CFG_B, BIT(34)));
	EXPECT(!put(MSR_IA32_PMC_V6_FX0_CFG_B + 2 * STEP, 4));
	EXPECT(!put(MSR_IA32_PMC_V6_GP0_CFG_C, BIT(63)) && put(MSR_IA32_PMC_V6_GP0_CFG_C, -1U));
	x86_pmu_reset(&cpu.pmu);
	EXPECT(!get(MSR_IA32_PMC_V6_GP0_CFG_B + 2 * STEP));
	cpu.config.acr = false;
	EXPECT(!put(MSR_IA32_PMC_V6_GP0_CFG_B + 2 * STEP, 0));
}

/* The overflow of an instruction counter reloads a counter of loads, and is signalled. */
static void test_other(void)
{
	make();
	count(2, EVENT_INSTRUCTIONS, 10, 0);
	count(3, EVENT_LOADS, 12, BIT(2));
	EXPECT(put(MSR_CORE_PERF_GLOBAL_CTRL, 0xc));
	steps(9, 1);
	EXPECT(get(MSR_P6_PMC0 + 3) == BEFORE(3));
	steps(1, 1);
	EXPECT(get(MSR_P6_PMC0 + 3) == BEFORE(12) && get(MSR_P6_PMC0 + 2) == 0);
	EXPECT(get(MSR_CORE_PERF_GLOBAL_STATUS) == 4 && cpu.interrupts == 1);
	steps(6, 2);
	EXPECT(get(MSR_CORE_PERF_GLOBAL_STATUS) == 0xc && cpu.interrupts == 2);
}

/* A counter that reloads itself keeps its distance and signals no overflow. */
static void test_itself(void)
{
	make();
	count(2, EVENT_LOADS, 10, BIT(2));
	count(3, EVENT_INSTRUCTIONS, 100, BIT(2));
	EXPECT(put(MSR_CORE_PERF_GLOBAL_CTRL, 0xc));
	steps(3, 4);
	EXPECT(get(MSR_P6_PMC0 + 2) == BEFORE(8) && get(MSR_P6_PMC0 + 3) == BEFORE(100));
	steps(2, 4);
	EXPECT(get(MSR_P6_PMC0 + 2) == BEFORE(10) && get(MSR_P6_PMC0 + 3) == BEFORE(100));
	EXPECT(!get(MSR_CORE_PERF_GLOBAL_STATUS) && !cpu.interrupts);
	EXPECT(cpu.pmu.acr.reloads == 4 && cpu.pmu.overflows == 0);
	steps(99, 0);
	EXPECT(get(MSR_P6_PMC0 + 3) == BEFORE(1) && !cpu.interrupts);
	steps(1, 0);
	EXPECT(get(MSR_CORE_PERF_GLOBAL_STATUS) == 8 && cpu.interrupts == 1);
}

static void test_fixed(void)
{
	make();
	EXPECT(put(MSR_CORE_PERF_FIXED_CTR0, BEFORE(7)) && put(MSR_CORE_PERF_FIXED_CTR_CTRL, 3) &&
	       put(MSR_IA32_PMC_V6_FX0_CFG_B, BIT(32) | BIT(2)) &&
	       put(MSR_IA32_PMC_V6_FX0_CFG_C, -7U));
	count(2, EVENT_LOADS, 3, 0);
	EXPECT(put(MSR_CORE_PERF_GLOBAL_CTRL, BIT(32) | 4));
	steps(7, 0);
	EXPECT(get(MSR_CORE_PERF_FIXED_CTR0) == BEFORE(7));
	steps(3, 1);
	EXPECT(get(MSR_CORE_PERF_FIXED_CTR0) == BEFORE(7));
	EXPECT(get(MSR_CORE_PERF_GLOBAL_STATUS) == 4);
}

/* Near the overflow of a counter that reloads others, the CPU reports each instruction. */
static void test_near(void)
{
	make();
	count(2, EVENT_INSTRUCTIONS, 10000, 0);
	EXPECT(put(MSR_CORE_PERF_GLOBAL_CTRL, 4));
	EXPECT(!(cpu.needed & X86_PMU_KIND_BIT(X86_PMU_STEPS)));
	count(3, EVENT_LOADS, 12, BIT(2));
	EXPECT(put(MSR_CORE_PERF_GLOBAL_CTRL, 0xc));
	EXPECT(cpu.needed & X86_PMU_KIND_BIT(X86_PMU_STEPS));
	EXPECT(!cpu.rings);
	cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER] += 9600;
	EXPECT(x86_pmu_near(&cpu.pmu, X86_PMU_USER, 400));
	EXPECT(cpu.rings == (1 << X86_PMU_USER | 1 << X86_PMU_KERNEL));
}

/* A counter writes a record while another counter reloads it: only one reload happens. */
static void test_with_record(void)
{
	make();
	cpu.config.pebs.format = 15;
	EXPECT(put(MSR_IA32_PEBS_BASE, PHYSICAL) && put(MSR_IA32_PEBS_INDEX, BIT(32) | BIT(36)));
	count(2, EVENT_INSTRUCTIONS, 10, 0);
	count(3, EVENT_LOADS, 10, BIT(2));
	EXPECT(put(MSR_IA32_PMC_V6_GP0_CFG_C + 3 * STEP, BIT(63) | -10U));
	EXPECT(put(MSR_CORE_PERF_GLOBAL_CTRL, 0xc));
	steps(10, 1);
	EXPECT(cpu.pmu.pebs.written == 1 && get(MSR_P6_PMC0 + 3) == BEFORE(10));
	EXPECT(put(MSR_P6_PMC0 + 2, BEFORE(100)));
	steps(12, 1);
	EXPECT(cpu.pmu.pebs.written == 2 && get(MSR_P6_PMC0 + 3) == BEFORE(8));
}

static const struct model_test tests[] = {
	{ "CPUID reports auto counter reload", test_reported },
	{ "reserved bits of registers fault", test_registers },
	{ "an overflow reloads another counter", test_other },
	{ "a counter that reloads itself signals no overflow", test_itself },
	{ "a fixed-function counter is reloaded", test_fixed },
	{ "each instruction is reported near an overflow", test_near },
	{ "a counter with a record is reloaded once", test_with_record },
};

int main(void)
{
	return run_model_tests(tests, ARRAY_SIZE(tests));
}
