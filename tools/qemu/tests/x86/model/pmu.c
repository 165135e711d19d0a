// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the registers and counters of the virtual x86 PMU, without QEMU. KTAP on stdout.
 */
#include <stdio.h>
#include <string.h>

#include "common/plugin.h"
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

/* ---- a CPU with counts that tests set ---- */

static struct cpu {
	struct x86_pmu_config config;
	struct x86_pmu pmu;
	x86_pmu_counts counts;
	x86_pmu_counts limit;
	uint32_t needed;
	unsigned int interrupts;
	unsigned int alarms;
} cpu;

static void cpu_read(struct x86_pmu *pmu, x86_pmu_counts counts)
{
	(void)pmu;
	memcpy(counts, cpu.counts, sizeof(cpu.counts));
}

static void cpu_watch(struct x86_pmu *pmu, x86_pmu_counts distance)
{
	int kind, ring;

	(void)pmu;
	for (kind = 0; kind < X86_PMU_KINDS; kind++)
		for (ring = 0; ring < X86_PMU_RINGS; ring++)
			cpu.limit[kind][ring] = cpu.counts[kind][ring] + distance[kind][ring];
}

static void cpu_need(struct x86_pmu *pmu, uint32_t kinds)
{
	(void)pmu;
	cpu.needed |= kinds;
}

static void cpu_interrupt(struct x86_pmu *pmu)
{
	(void)pmu;
	cpu.interrupts++;
}

static void cpu_alarm(struct x86_pmu *pmu)
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

static void make(enum x86_pmu_version version)
{
	memset(&cpu, 0, sizeof(cpu));
	x86_pmu_defaults(&cpu.config, version);
	x86_pmu_init(&cpu.pmu, &cpu.config, &cpu_ops);
}

/* Advance a count, one at a time. */
static void happens(enum x86_pmu_kind kind, enum x86_pmu_ring ring, unsigned int n)
{
	while (n--)
		if (++cpu.counts[kind][ring] >= cpu.limit[kind][ring])
			x86_pmu_check(&cpu.pmu);
}

static void runs(enum x86_pmu_ring ring, unsigned int instructions, unsigned int branches)
{
	happens(X86_PMU_BRANCHES, ring, branches);
	happens(X86_PMU_CYCLES, ring, instructions + branches);
	happens(X86_PMU_INSTRUCTIONS, ring, instructions);
}

static bool faults_write(uint32_t msr, uint64_t value)
{
	return x86_pmu_wrmsr(&cpu.pmu, msr, value) == X86_PMU_FAULT;
}

static bool faults_read(uint32_t msr)
{
	uint64_t value;

	return x86_pmu_rdmsr(&cpu.pmu, msr, &value) == X86_PMU_FAULT;
}

static bool put(uint32_t msr, uint64_t value)
{
	return x86_pmu_wrmsr(&cpu.pmu, msr, value) == X86_PMU_DONE;
}

/* Return a value that no register has if the read faults. */
static uint64_t get(uint32_t msr)
{
	uint64_t value;

	if (x86_pmu_rdmsr(&cpu.pmu, msr, &value) != X86_PMU_DONE)
		return 0xdeaddeaddeaddead;
	return value;
}

/* ---- tests ---- */

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

static void test_both_rings(void)
{
	int i;

	make(X86_PMU_INTEL_V2);
	EXPECT(put(0x4c1, MASK(48) - 999));
	EXPECT(put(0x186, EN | INT | USR | OS | 0xc0));
	for (i = 0; i < 333; i++) {
		runs(X86_PMU_USER, 1, 0);
		runs(X86_PMU_KERNEL, 2, 0);
	}
	EXPECT(!cpu.interrupts);
	runs(X86_PMU_USER, 1, 0);
	EXPECT(cpu.interrupts == 1);
	EXPECT(cpu.pmu.checks < 40);
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

static void test_edge_invert_cmask(void)
{
	static const struct {
		uint64_t select;
		uint64_t expected;
	} rows[] = {
		{ 0xc0 | CMASK(1), 100 },
		{ 0xc0 | CMASK(2), 0 },
		{ 0xc0 | INV, 100 },			/* needs CMASK */
		{ 0xc0 | INV | CMASK(1), 10 },
		{ 0xc0 | INV | CMASK(16), 110 },
		{ 0xc4 | CMASK(1), 10 },
		{ 0xc4 | INV | CMASK(1), 100 },
		{ 0x3c | CMASK(1), 110 },
		{ 0x3c | INV | CMASK(1), 0 },
		{ 0x3c | CMASK(2), 0 },
		{ 0x3c | EDGE, 0 },
		{ 0xc0 | EDGE, 10 },
		{ 0xc4 | EDGE | CMASK(1), 10 },
		{ 0xc0 | EDGE | INV | CMASK(1), 10 },
		{ 0x77, 0 },				/* no such event */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		make(X86_PMU_INTEL_V2);
		EXPECT(put(0x186, EN | USR | rows[i].select));
		runs(X86_PMU_USER, 100, 10);
		EXPECT(get(0xc1) == rows[i].expected);
	}
}

static void test_amd_legacy(void)
{
	make(X86_PMU_AMD_LEGACY);
	EXPECT(faults_read(0xc0010200) && faults_read(0xc0000300));
	EXPECT(put(0xc0010000, EN | USR | INT | 0xc0));
	EXPECT(put(0xc0010004, MASK(48) - 9));
	EXPECT(put(0xc0010003, EN | OS | 0x76));
	runs(X86_PMU_USER, 12, 0);
	runs(X86_PMU_KERNEL, 7, 1);
	EXPECT(get(0xc0010004) == 2);
	EXPECT(get(0xc0010007) == 8);
	EXPECT(cpu.interrupts == 1);
}

static void test_amd_core(void)
{
	make(X86_PMU_AMD_CORE);
	EXPECT(put(0xc001020a, EN | USR | 0xc2));
	EXPECT(put(0xc0010206, EN | USR | 0xc0));
	runs(X86_PMU_USER, 12, 3);
	EXPECT(get(0xc001020b) == 3);
	EXPECT(get(0xc0010207) == 12 && get(0xc0010007) == 12);
	EXPECT(get(0xc0010003) == (EN | USR | 0xc0));
	EXPECT(faults_read(0xc001020c));
	EXPECT(put(0xc0010200, BIT(42) | BIT(36) | BIT(21) | BIT(19) | EN | 0xc0));
	EXPECT(get(0xc0010200) == (EN | 0xc0));
	EXPECT(put(0xc0010200, BIT(40) | BIT(41) | UINT64_C(0xf) << 32));
	EXPECT(get(0xc0010200) == (BIT(40) | BIT(41) | UINT64_C(0xf) << 32));
	EXPECT(put(0xc0010201, UINT64_MAX) && get(0xc0010201) == MASK(48));
}

/* A selector's count of 1 instruction in the host's user space, and 2, 4 and 8 elsewhere */
static uint64_t counts_where(uint64_t select)
{
	EXPECT(put(0xc0010200, EN | 0xc0 | select) && put(0xc0010201, 0));
	runs(X86_PMU_USER, 1, 0);
	runs(X86_PMU_KERNEL, 2, 0);
	runs(X86_PMU_GUEST_USER, 4, 0);
	runs(X86_PMU_GUEST_KERNEL, 8, 0);
	return get(0xc0010201);
}

/* QEMU, not the model, handles EFER. */
static void set_svme(bool on)
{
	EXPECT(x86_pmu_wrmsr(&cpu.pmu, 0xc0000080, on ? 0x1d01 : 0xd01) == X86_PMU_NOT_HERE);
}

/* Linux: AMD64_EVENTSEL_GUESTONLY, AMD64_EVENTSEL_HOSTONLY */
#define GUESTONLY	BIT(40)
#define HOSTONLY	BIT(41)

static void test_guests(void)
{
	make(X86_PMU_AMD_CORE);
	EXPECT(counts_where(HOSTONLY | USR | OS) == 0);
	EXPECT(counts_where(GUESTONLY | USR | OS) == 0);
	EXPECT(counts_where(GUESTONLY | HOSTONLY | USR | OS) == 0);
	set_svme(true);
	EXPECT(counts_where(USR) == 5 && counts_where(OS) == 10 && counts_where(USR | OS) == 15);
	EXPECT(counts_where(HOSTONLY | USR) == 1 && counts_where(HOSTONLY | OS) == 2);
	EXPECT(counts_where(GUESTONLY | USR) == 4 && counts_where(GUESTONLY | OS) == 8);
	EXPECT(counts_where(GUESTONLY | HOSTONLY | USR) == 5);
	EXPECT(counts_where(GUESTONLY | HOSTONLY | OS) == 10);

	/* A change of EFER.SVME stops and starts counters. */
	EXPECT(counts_where(HOSTONLY | USR) == 1);
	set_svme(false);
	runs(X86_PMU_USER, 12, 0);
	EXPECT(get(0xc0010201) == 1);
	set_svme(true);
	runs(X86_PMU_USER, 12, 0);
	EXPECT(get(0xc0010201) == 13);
	x86_pmu_reset(&cpu.pmu);
	EXPECT(counts_where(HOSTONLY | USR | OS) == 0);
}

static void test_guest_overflow(void)
{
	unsigned int i;

	make(X86_PMU_AMD_CORE);
	set_svme(true);
	EXPECT(put(0xc0010200, EN | INT | USR | OS | 0xc0));
	EXPECT(put(0xc0010201, MASK(48) - 1000));
	for (i = 0; i < 250; i++) {
		runs(X86_PMU_GUEST_KERNEL, 3, 0);
		runs(X86_PMU_USER, 1, 0);
	}
	EXPECT(!cpu.interrupts);
	runs(X86_PMU_GUEST_USER, 1, 0);
	EXPECT(cpu.interrupts == 1);
}

static void test_blind_to_guests(void)
{
	make(X86_PMU_AMD_CORE);
	cpu.config.blind_to_guests = true;
	EXPECT(!x86_pmu_config_error(&cpu.config));
	set_svme(true);
	EXPECT(counts_where(USR | OS) == 15 && counts_where(GUESTONLY | HOSTONLY | USR | OS) == 15);
	EXPECT(counts_where(HOSTONLY | USR | OS) == 15 && counts_where(GUESTONLY | USR | OS) == 0);

	make(X86_PMU_INTEL_V5);
	cpu.config.blind_to_guests = true;
	EXPECT(x86_pmu_config_error(&cpu.config));
}

static void test_amd_v2(void)
{
	struct x86_pmu_cpuid regs = { .eax = 0x8000001e };

	make(X86_PMU_AMD_V2);
	x86_pmu_cpuid(&cpu.config, 0x80000000, 0, &regs);
	EXPECT(regs.eax == 0x80000022);
	x86_pmu_cpuid(&cpu.config, 0x80000022, 0, &regs);
	EXPECT(regs.eax == 1 && regs.ebx == 6);
	EXPECT(get(0xc0000301) == 0x3f);
	EXPECT(put(0xc0010200, EN | USR | INT | 0xc0));
	EXPECT(put(0xc0010201, MASK(48) - 9));
	runs(X86_PMU_USER, 10, 0);
	EXPECT(get(0xc0000300) == 1 && cpu.interrupts == 1);
	EXPECT(faults_write(0xc0000300, 0));
	EXPECT(put(0xc0000303, 2) && get(0xc0000300) == 3);
	EXPECT(put(0xc0000302, UINT64_MAX) && get(0xc0000300) == 0);
	EXPECT(put(0xc0000301, UINT64_MAX) && get(0xc0000301) == 0x3f);
	EXPECT(put(0xc0000301, 0x3e));
	runs(X86_PMU_USER, 10, 0);
	EXPECT(get(0xc0010201) == 0);
}

static void test_rdpmc(void)
{
	uint64_t value;

	make(X86_PMU_INTEL_V2);
	EXPECT(put(0xc2, 5) && put(0x30a, 6));
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_KERNEL, 1, &value) == X86_PMU_DONE && value == 5);
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_KERNEL, BIT(30) | 1, &value) == X86_PMU_DONE &&
	       value == 6);
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_KERNEL, 4, &value) == X86_PMU_FAULT);
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_KERNEL, BIT(30) | 3, &value) == X86_PMU_FAULT);
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_KERNEL, BIT(31), &value) == X86_PMU_FAULT);

	make(X86_PMU_AMD_CORE);
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_KERNEL, 5, &value) == X86_PMU_DONE);
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_KERNEL, 6, &value) == X86_PMU_FAULT);
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_KERNEL, BIT(30), &value) == X86_PMU_FAULT);
}

static void test_taken_back(void)
{
	make(X86_PMU_INTEL_V2);
	EXPECT(put(0x4c1, MASK(48) - 9));
	EXPECT(put(0x186, EN | INT | USR | 0xc0));
	runs(X86_PMU_USER, 10, 0);
	EXPECT(cpu.interrupts == 1);
	/* the last instruction has faulted, and runs again */
	cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER]--;
	EXPECT(get(0xc1) == 0);
	EXPECT(put(0x187, 0));
	runs(X86_PMU_USER, 1, 0);
	EXPECT(get(0xc1) == 0 && cpu.interrupts == 1);
	runs(X86_PMU_USER, 1, 0);
	EXPECT(get(0xc1) == 1);
}

static void test_taken_back_and_stopped(void)
{
	make(X86_PMU_INTEL_V2);
	EXPECT(put(0x187, EN | USR | 0xc0) && put(0x186, EN | USR | 0xc4));
	runs(X86_PMU_USER, 10, 0);
	EXPECT(get(0xc2) == 10);
	/* the last instruction continues once the counter counts its task again */
	cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER]--;
	EXPECT(get(0xc2) == 9);
	EXPECT(put(0x187, 0) && put(0x187, EN | USR | 0xc0));
	runs(X86_PMU_USER, 1, 0);
	EXPECT(get(0xc2) == 10);
}

static void test_reset(void)
{
	make(X86_PMU_INTEL_V4);
	EXPECT(put(0x4c1, 7) && put(0x186, EN | USR | 0xc0) && put(0x38d, 2));
	EXPECT(put(0x38f, BIT(32)) && put(0x391, 1) && put(0x1d9, BIT(12)));
	x86_pmu_reset(&cpu.pmu);
	EXPECT(get(0xc1) == 0 && get(0x186) == 0 && get(0x38d) == 0);
	EXPECT(get(0x38f) == 0xf && get(0x38e) == 0 && get(0x1d9) == 0);
	runs(X86_PMU_USER, 10, 0);
	EXPECT(get(0xc1) == 0);
}

static void test_faults(void)
{
	make(X86_PMU_INTEL_V2);
	cpu.config.stuck = 1;
	cpu.config.sticky_status = true;
	EXPECT(put(0x186, EN | USR | 0xc0) && put(0x187, EN | USR | 0xc0));
	EXPECT(put(0x4c1, MASK(48) - 9));
	runs(X86_PMU_USER, 10, 0);
	EXPECT(get(0xc1) == 0 && get(0xc2) == 0);
	EXPECT(get(0x38e) == 1);
	EXPECT(put(0x390, 1) && get(0x38e) == 1);
	EXPECT(put(0x390, 1) && get(0x38e) == 0);
	/* a status bit that is set again ignores its first write again */
	EXPECT(put(0x4c1, MASK(48)));
	runs(X86_PMU_USER, 1, 0);
	EXPECT(put(0x390, 1) && get(0x38e) == 1);
	EXPECT(put(0x390, 1) && get(0x38e) == 0);
}

/* Counters and events that the configuration denies do not count. */
static void test_denied(void)
{
	make(X86_PMU_INTEL_V5);
	cpu.config.denied = BIT(33) | BIT(2);
	cpu.config.denied_events[0] = 0x41c4;
	cpu.config.nr_denied_events = 1;
	EXPECT(!x86_pmu_config_error(&cpu.config));
	EXPECT(put(0x186, EN | USR | 0xc0) && put(0x188, EN | USR | 0xc0));
	EXPECT(put(0x187, EN | USR | 0x40c4) && put(0x189, EN | USR | 0x41c4));
	EXPECT(put(0x38d, 0x222) && put(0x38f, MASK(3) << 32 | 0xf));
	EXPECT(put(0x4c3, 7));
	runs(X86_PMU_USER, 100, 10);
	happens(X86_PMU_FAR, X86_PMU_USER, 5);
	EXPECT(get(0xc1) == 100 && get(0xc3) == 7);
	EXPECT(get(0x309) == 100 && get(0x30a) == 0 && get(0x30b) == 55);
	EXPECT(get(0xc2) == 5 && get(0xc4) == 0);
	/* The event and unit mask have to match; other bits of the selector do not matter. */
	cpu.config.denied_events[0] = 0xc4;
	EXPECT(put(0x187, EN | USR | 0x40c4) && put(0x189, EN | INT | USR | OS | EDGE | 0xc4));
	runs(X86_PMU_USER, 100, 10);
	happens(X86_PMU_FAR, X86_PMU_USER, 5);
	EXPECT(get(0xc2) == 10 && get(0xc4) == 0);

	cpu.config.denied = BIT(8);
	EXPECT(x86_pmu_config_error(&cpu.config));
	cpu.config.denied = BIT(36);
	EXPECT(x86_pmu_config_error(&cpu.config));
}

/* Absent counters that CPUID reports */
static void test_missing(void)
{
	struct x86_pmu_cpuid regs = { 0 };
	uint64_t value;

	make(X86_PMU_INTEL_V2);
	cpu.config.missing = BIT(34) | BIT(3);
	EXPECT(!x86_pmu_config_error(&cpu.config));
	x86_pmu_cpuid(&cpu.config, 0xa, 0, &regs);
	EXPECT((regs.eax >> 8 & 0xff) == 4 && (regs.edx & 0x1f) == 3);
	EXPECT(faults_read(0xc4) && faults_read(0x189) && faults_read(0x4c4));
	EXPECT(faults_write(0x189, 0) && faults_read(0x30b));
	EXPECT(!faults_read(0xc3) && !faults_read(0x30a));
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_KERNEL, 3, &value) == X86_PMU_FAULT);
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_KERNEL, 2, &value) == X86_PMU_DONE);
	cpu.config.missing = BIT(4);
	EXPECT(x86_pmu_config_error(&cpu.config));
}

static void test_alarm(void)
{
	make(X86_PMU_AMD_CORE);
	x86_pmu_set_alarm(&cpu.pmu, 100);
	EXPECT(cpu.needed == X86_PMU_KIND_BIT(X86_PMU_INSTRUCTIONS));
	runs(X86_PMU_USER, 60, 0);
	runs(X86_PMU_KERNEL, 39, 0);
	EXPECT(!cpu.alarms);
	runs(X86_PMU_KERNEL, 1, 0);
	EXPECT(cpu.alarms == 1);
	runs(X86_PMU_KERNEL, 500, 0);
	EXPECT(cpu.alarms == 1);
}

static void test_accesses(void)
{
	unsigned int row;

	make(X86_PMU_INTEL_V2);
	get(0x38f);
	put(0x38f, 0);
	put(0x38f, 1);
	for (row = 0; row < X86_PMU_MSR_ROWS; row++) {
		const char *name = x86_pmu_msr_name(&cpu.config, row);
		bool it = name && !strcmp(name, "IA32_PERF_GLOBAL_CTRL");

		EXPECT(cpu.pmu.msr[row].reads == (it ? 1 : 0));
		EXPECT(cpu.pmu.msr[row].writes == (it ? 2 : 0));
	}
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
	{ "edge, invert and counter mask change the count", test_edge_invert_cmask },
	{ "AMD: a legacy PMU has four counters",	test_amd_legacy },
	{ "AMD: a core PMU has six counters, four with aliases", test_amd_core },
	{ "AMD: version 2 has global registers",	test_amd_v2 },
	{ "AMD: HostOnly and GuestOnly select host and guests while EFER.SVME is 1", test_guests },
	{ "AMD: an overflow of host and guest is detected in time", test_guest_overflow },
	{ "AMD: the fault blind-to-guests counts guests as the host", test_blind_to_guests },
	{ "RDPMC reads counters",			test_rdpmc },
	{ "an overflow of two rings is detected in time", test_both_rings },
	{ "an instruction taken back counts once",	test_taken_back },
	{ "an instruction taken back counts once after a stop", test_taken_back_and_stopped },
	{ "reset sets the registers to their defaults",	test_reset },
	{ "faults stop a counter and keep status bits",	test_faults },
	{ "denied counters and events do not count",	test_denied },
	{ "missing counters fault",			test_missing },
	{ "an alarm expires after its instructions",	test_alarm },
	{ "accesses to registers are counted",		test_accesses },
};

int main(void)
{
	return run_model_tests(tests, ARRAY_SIZE(tests));
}
