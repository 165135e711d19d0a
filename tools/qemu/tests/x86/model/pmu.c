// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the registers and counters of the virtual x86 PMU, without QEMU. KTAP on stdout.
 */
#include "tests/x86/model/registers-cpu.h"

static void test_both_rings(void)
{
	make(X86_PMU_INTEL_V2);
	EXPECT(put(0x4c1, MASK(48) - 999));
	EXPECT(put(0x186, EN | INT | USR | OS | 0xc0));
	for (int i = 0; i < 333; i++) {
		runs(X86_PMU_USER, 1, 0);
		runs(X86_PMU_KERNEL, 2, 0);
	}
	EXPECT(!cpu.interrupts);
	runs(X86_PMU_USER, 1, 0);
	EXPECT(cpu.interrupts == 1);
	EXPECT(cpu.pmu.checks < 40);
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

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
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

/*
 * Count 1 instruction in user space, 2 in the kernel, 4 in a guest's user space and 8 in a guest's
 * kernel. Return the count, whose bits show which of these the selector counts.
 */
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
	make(X86_PMU_AMD_CORE);
	set_svme(true);
	EXPECT(put(0xc0010200, EN | INT | USR | OS | 0xc0));
	EXPECT(put(0xc0010201, MASK(48) - 1000));
	for (unsigned int i = 0; i < 250; i++) {
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
	make(X86_PMU_INTEL_V2);
	get(0x38f);
	put(0x38f, 0);
	put(0x38f, 1);
	for (unsigned int row = 0; row < X86_PMU_MSR_ROWS; row++) {
		const char *name = x86_pmu_msr_name(&cpu.config, row);
		bool it = name && !strcmp(name, "IA32_PERF_GLOBAL_CTRL");

		EXPECT(cpu.pmu.msr[row].reads == (it ? 1 : 0));
		EXPECT(cpu.pmu.msr[row].writes == (it ? 2 : 0));
	}
}

static const struct model_test tests[] = {
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
