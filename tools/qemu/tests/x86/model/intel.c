// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the registers and counters of the virtual PMU of Intel, without QEMU. KTAP on stdout.
 */
#include "tests/x86/model/registers-cpu.h"

static void test_intel_counts(void)
{
	make(X86_PMU_INTEL_V2);
	EXPECT(get(0x38f) == 0xf);
	EXPECT(put(0x186, EN | USR | 0xc0));
	EXPECT(put(0x187, EN | OS | 0xc0));
	EXPECT(put(0x188, EN | USR | OS | 0xc4));
	EXPECT(put(0x189, EN | USR | 0x3c));
	runs(X86_PMU_USER, 100, 10);
	runs(X86_PMU_KERNEL, 50, 5);
	EXPECT(get(0xc1) == 100);
	EXPECT(get(0xc2) == 50);
	EXPECT(get(0xc3) == 15);
	EXPECT(get(0xc4) == 110);
	EXPECT(cpu.needed == (X86_PMU_KIND_BIT(X86_PMU_INSTRUCTIONS) |
			      X86_PMU_KIND_BIT(X86_PMU_BRANCHES) |
			      X86_PMU_KIND_BIT(X86_PMU_CYCLES)));
	/* both enables are needed */
	EXPECT(put(0x38f, 0xe));
	EXPECT(put(0x187, OS | 0xc0));
	runs(X86_PMU_USER, 1, 0);
	runs(X86_PMU_KERNEL, 1, 0);
	EXPECT(get(0xc1) == 100);
	EXPECT(get(0xc2) == 50);
	EXPECT(get(0xc4) == 111);
	EXPECT(!cpu.interrupts);
}

static void test_intel_fixed(void)
{
	make(X86_PMU_INTEL_V2);
	EXPECT(put(0x38d, 0x231));
	EXPECT(put(0x38f, MASK(3) << 32));
	runs(X86_PMU_USER, 100, 10);
	runs(X86_PMU_KERNEL, 50, 5);
	EXPECT(get(0x309) == 50);
	EXPECT(get(0x30a) == 165);
	EXPECT(get(0x30b) == 55);
}

static void test_intel_writes(void)
{
	make(X86_PMU_INTEL_V2);
	EXPECT(put(0xc1, 0x80000001));
	EXPECT(get(0xc1) == 0xffff80000001);
	EXPECT(get(0x4c1) == 0xffff80000001);
	EXPECT(put(0xc1, 0xffffffff7fffffff));
	EXPECT(get(0xc1) == 0x7fffffff);
	EXPECT(put(0x4c1, MASK(48)));
	EXPECT(get(0xc1) == MASK(48));
	EXPECT(faults_write(0x4c1, BIT(48)));
	EXPECT(put(0x309, MASK(48)));
	EXPECT(faults_write(0x309, BIT(48)));
	EXPECT(get(0x345) == BIT(13));
	EXPECT(faults_write(0x345, 0));
}

static void test_intel_reserved(void)
{
	make(X86_PMU_INTEL_V2);
	EXPECT(faults_write(0x186, BIT(21)));		/* AnyThread */
	EXPECT(faults_write(0x186, BIT(32)));
	EXPECT(put(0x186, 0xffdfffff));
	EXPECT(faults_write(0x38d, 4));			/* AnyThread */
	EXPECT(faults_write(0x38d, 0x1000));
	EXPECT(put(0x38d, 0xbbb));
	EXPECT(faults_write(0x38f, BIT(4)));
	EXPECT(faults_write(0x38f, BIT(35)));
	EXPECT(faults_write(0x38e, 0));
	EXPECT(faults_write(0x390, BIT(4)));
	EXPECT(faults_write(0x390, BIT(59)));
	EXPECT(put(0x390, BIT(63) | BIT(62) | 7));
	/* absent counters */
	EXPECT(faults_write(0xc5, 0) && faults_read(0xc5));
	EXPECT(faults_write(0x18a, 0) && faults_read(0x4c5));
	EXPECT(faults_read(0x30c));
	/* registers of version 4 */
	EXPECT(faults_read(0x391) && faults_write(0x391, 0) && faults_read(0x392));
	/* a register that is not the PMU's */
	EXPECT(x86_pmu_wrmsr(&cpu.pmu, 0x10, 0) == X86_PMU_NOT_HERE);
}

static void test_intel_v1(void)
{
	make(X86_PMU_INTEL_V1);
	EXPECT(faults_read(0x38f) && faults_read(0x38e) && faults_read(0x309));
	EXPECT(faults_read(0x4c1) && faults_read(0x345) && faults_read(0xc3));
	EXPECT(put(0xc1, 0xffffff9c));			/* -100 */
	EXPECT(put(0x186, EN | INT | USR | 0xc0));
	runs(X86_PMU_USER, 105, 0);
	EXPECT(cpu.interrupts == 1);
	EXPECT(get(0xc1) == 5);
}

static void test_intel_overflow(void)
{
	make(X86_PMU_INTEL_V3);
	EXPECT(put(0x4c1, MASK(48) - 99));
	EXPECT(put(0x186, EN | INT | USR | 0xc0));
	EXPECT(put(0x309, MASK(48) - 199));
	EXPECT(put(0x38d, 2));
	EXPECT(put(0x38f, BIT(32) | 1));
	runs(X86_PMU_USER, 99, 0);
	EXPECT(!get(0x38e) && !cpu.interrupts);
	runs(X86_PMU_USER, 1, 0);
	EXPECT(get(0x38e) == 1 && cpu.interrupts == 1);
	runs(X86_PMU_USER, 100, 0);
	EXPECT(get(0x38e) == (BIT(32) | 1) && cpu.interrupts == 1);
	EXPECT(put(0x390, 1));
	EXPECT(get(0x38e) == BIT(32));
}

static void test_freeze(void)
{
	make(X86_PMU_INTEL_V2);
	EXPECT(put(0x1d9, BIT(12)));
	EXPECT(put(0x4c1, MASK(48) - 9));
	EXPECT(put(0x186, EN | INT | USR | 0xc0));
	EXPECT(put(0x187, EN | USR | 0xc0));
	runs(X86_PMU_USER, 20, 0);
	EXPECT(get(0x38f) == 0);
	EXPECT(get(0xc1) == 0 && get(0xc2) == 10);

	make(X86_PMU_INTEL_V4);
	EXPECT(put(0x1d9, BIT(12)));
	EXPECT(put(0x4c1, MASK(48) - 9));
	EXPECT(put(0x186, EN | INT | USR | 0xc0));
	runs(X86_PMU_USER, 20, 0);
	EXPECT(get(0x38f) == 0xf);
	EXPECT(get(0x38e) == (BIT(59) | 1));
	EXPECT(get(0xc1) == 0);
	EXPECT(put(0x390, BIT(59) | 1));
	runs(X86_PMU_USER, 20, 0);
	EXPECT(get(0xc1) == 20);
}

static void test_intel_v4_status(void)
{
	make(X86_PMU_INTEL_V4);
	EXPECT(get(0x392) == 0);
	EXPECT(put(0x187, INT | 0xc0));
	EXPECT(put(0x38d, 0x20));
	EXPECT(get(0x392) == (BIT(63) | BIT(33) | 2));
	EXPECT(faults_write(0x392, 0));
	EXPECT(put(0x391, 5));
	EXPECT(get(0x38e) == 5 && !cpu.interrupts);
	EXPECT(put(0x390, 4));
	EXPECT(get(0x38e) == 1);
	EXPECT(faults_write(0x391, BIT(4)));
}

static void test_intel_tsc_leaf(void)
{
	struct x86_pmu_cpuid regs = { .eax = 7 };

	make(X86_PMU_INTEL_V4);
	x86_pmu_cpuid(&cpu.config, 0x15, 0, &regs);
	EXPECT(regs.eax == 7);
	cpu.config.tsc_mhz = 2500;
	x86_pmu_cpuid(&cpu.config, 0x15, 0, &regs);
	EXPECT((uint64_t)regs.ecx * regs.ebx / regs.eax == 2500000000);
	EXPECT(!regs.edx);
}

static void test_intel_v5_bitmap(void)
{
	struct x86_pmu_cpuid regs = { 0 };

	make(X86_PMU_INTEL_V5);
	cpu.config.fixed = 0x9;
	EXPECT(!x86_pmu_config_error(&cpu.config));
	x86_pmu_cpuid(&cpu.config, 0xa, 0, &regs);
	EXPECT(regs.eax == (5 | 8 << 8 | 48 << 16 | 8 << 24));
	EXPECT(regs.ecx == 9 && !regs.ebx);
	EXPECT(regs.edx == (1 | 48 << 5 | 1 << 15));
	EXPECT(!faults_read(0x30c) && faults_read(0x30a));
	EXPECT(faults_write(0x38d, 0x10) && put(0x38d, 0x2000));
	EXPECT(faults_write(0x38f, BIT(33)) && put(0x38f, BIT(35)));
	runs(X86_PMU_USER, 100, 10);
	EXPECT(get(0x30c) == 440);

	cpu.config.version = X86_PMU_INTEL_V4;
	EXPECT(x86_pmu_config_error(&cpu.config));
}

static void test_intel_v6(void)
{
	struct x86_pmu_cpuid regs = { 0 };

	make(X86_PMU_INTEL_V6);
	cpu.config.holes = 0x10;
	EXPECT(!x86_pmu_config_error(&cpu.config));
	x86_pmu_cpuid(&cpu.config, 7, 1, &regs);
	EXPECT(regs.eax == BIT(8));
	x86_pmu_cpuid(&cpu.config, 0xa, 0, &regs);
	EXPECT(regs.eax == (6 | 4 << 8 | 48 << 16 | 8 << 24));
	x86_pmu_cpuid(&cpu.config, 0x23, 0, &regs);
	EXPECT(regs.eax == 0xb && regs.ebx == 7);
	x86_pmu_cpuid(&cpu.config, 0x23, 1, &regs);
	EXPECT(regs.eax == 0xef && regs.ebx == 0xf);

	/* The absent counter, by both register numbers */
	EXPECT(faults_read(0x18a) && faults_read(0xc5) && faults_read(0x4c5));
	EXPECT(faults_read(0x1910) && faults_read(0x1911) && faults_write(0x38f, BIT(4)));
	x86_pmu_reset(&cpu.pmu);
	EXPECT(get(0x38f) == 0xef && put(0x38f, 0xef));
	/* The last counter, by both register numbers */
	EXPECT(put(0x191d, 0x41003c) && get(0x18d) == 0x41003c);
	EXPECT(put(0x18d, 0x4100c0) && get(0x191d) == 0x4100c0);
	EXPECT(put(0x191c, 5) && get(0xc8) == 5);
	EXPECT(put(0x1984, 7) && get(0x30a) == 7);
	EXPECT(put(0x38f, BIT(7)));
	runs(X86_PMU_USER, 100, 10);
	EXPECT(get(0x191c) == 105);

	/* Equal to 0, and the second unit mask */
	EXPECT(put(0x186, BIT(36) | 0x4100c0) && put(0x187, BIT(40) | 0x4102fe) &&
	       put(0x188, BIT(41) | 0x4100c0) && put(0x38f, 7));
	runs(X86_PMU_USER, 100, 10);
	EXPECT(get(0xc1) == 10 && get(0xc2) == 20 && get(0xc3) == 0);

	cpu.config.holes = 0x1;
	EXPECT(x86_pmu_config_error(&cpu.config));
	cpu.config.holes = 0x80;
	EXPECT(x86_pmu_config_error(&cpu.config));
	make(X86_PMU_INTEL_V5);
	cpu.config.holes = 0x10;
	EXPECT(x86_pmu_config_error(&cpu.config));
	EXPECT(faults_read(0x1900) && faults_write(0x186, BIT(36)));
}

/* Ring 3 reads 0 from a counter with RDPMC user disable, and the value of other counters. */
static void test_intel_user_disable(void)
{
	uint64_t value;

	make(X86_PMU_INTEL_V6);
	EXPECT(put(0x186, BIT(37) | 0x4100c0) && put(0x187, 0x4100c0));
	EXPECT(put(0x38d, BIT(37) | 0x33) && put(0x38f, 3 | BIT(32) | BIT(33)));
	runs(X86_PMU_USER, 100, 10);
	EXPECT(get(0xc1) == 100 && get(0xc2) == 100 && get(0x309) == 100 && get(0x30a) == 110);
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_USER, 0, &value) == X86_PMU_DONE && !value);
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_USER, 1, &value) == X86_PMU_DONE && value == 100);
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_KERNEL, 0, &value) == X86_PMU_DONE &&
	       value == 100);
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_USER, BIT(30), &value) == X86_PMU_DONE &&
	       value == 100);
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_USER, BIT(30) | 1, &value) == X86_PMU_DONE &&
	       !value);
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_KERNEL, BIT(30) | 1, &value) == X86_PMU_DONE &&
	       value == 110);
	make(X86_PMU_INTEL_V5);
	EXPECT(faults_write(0x186, BIT(37)) && faults_write(0x38d, BIT(33)));
}

static const struct model_test tests[] = {
	{ "Intel: events count by ring",		test_intel_counts },
	{ "Intel: fixed-function counters count",	test_intel_fixed },
	{ "Intel: writes set counters by their width",	test_intel_writes },
	{ "Intel: reserved bits and registers fault",	test_intel_reserved },
	{ "Intel: version 1 has no global registers",	test_intel_v1 },
	{ "Intel: an overflow sets the status and interrupts", test_intel_overflow },
	{ "Intel: version 4 can set status bits",	test_intel_v4_status },
	{ "Intel: CPUID reports the TSC's rate of tsc-mhz", test_intel_tsc_leaf },
	{ "Intel: version 5 reports a bitmap of fixed counters", test_intel_v5_bitmap },
	{ "Intel: version 6 has leaf 0x23 and its registers", test_intel_v6 },
	{ "Intel: RDPMC user disable hides a counter",	test_intel_user_disable },
	{ "Intel: counters freeze on an interrupt",	test_freeze },
};

int main(void)
{
	return run_model_tests(tests, ARRAY_SIZE(tests));
}
