// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of PEBS in the virtual x86 PMU, without QEMU. KTAP on stdout.
 *
 * Numbers of registers, and the layouts of records and DS area, are taken from Linux' driver
 * (msr-index.h, perf_event.h, intel_ds.h, events/intel/ds.c). The model follows the manual.
 */
#include "tests/x86/model/pebs-cpu.h"

#define MSR_IA32_MISC_ENABLE		0x1a0
#define IA32_DEBUGCTL			0x1d9
#define MSR_PEBS_LD_LAT_THRESHOLD	0x3f6
#define ARCH_PEBS_CNTR_FIXED		BIT(37)
#define ARCH_PEBS_CNTR_METRICS		BIT(38)
#define ARCH_PEBS_LBR			(UINT64_C(3) << 40)
#define ARCH_PEBS_VECR_XMM		BIT(49)
#define ARCH_PEBS_GPR			BIT(61)
#define ARCH_PEBS_AUX			BIT(62)
#define ARCH_PEBS_INDEX_FULL		BIT(31)
#define GLOBAL_STATUS_ARCH_PEBS_THRESHOLD BIT(54)

#define PERF_CAP_PEBS_TRAP		BIT(6)
#define PERF_CAP_ARCH_REG		BIT(7)
#define PERF_CAP_PEBS_BASELINE		BIT(14)
#define ICL_FIXED_0_ADAPTIVE		BIT(32)
#define PEBS_DATACFG_MEMINFO		BIT(0)
#define PEBS_DATACFG_GP			BIT(1)
#define PEBS_DATACFG_XMMS		BIT(2)
#define PEBS_DATACFG_LBRS		BIT(3)
#define PEBS_DATACFG_LBR_SHIFT		24
#define GLOBAL_STATUS_BUFFER_OVF	BIT(62)

#define EVENT_INSTRUCTIONS		0x4300c0	/* enabled, in both rings */
#define EVENT_STORES			0x4382d0
#define EVENT_LOAD_LATENCY		0x4305d0
#define EVENT_STORE_LATENCY		0x4306d0
#define EVENT_STORE_SAMPLE		0x4302cd

/* struct debug_store: eight reset values of general-purpose counters, then those of fixed ones */
#define DS_RESET_FIXED			16

static void make(const char *uarch)
{
	memset(&cpu, 0, sizeof(cpu));
	x86_pmu_uarch_defaults(&cpu.config, x86_uarch_find(uarch));
	make_with_buffer();
}

/* Have counter 0 write a record of an event in each period. */
static void sample(uint64_t select, uint64_t period)
{
	EXPECT(put(MSR_P6_EVNTSEL0, select) && put(MSR_P6_PMC0, BEFORE(period)));
	cpu.memory[DS_RESET] = BEFORE(period);
	EXPECT(put(MSR_IA32_PEBS_ENABLE, 1) && put(MSR_CORE_PERF_GLOBAL_CTRL, 1));
}

/* Retire an instruction of user space with a load and a store. */
static void step(void)
{
	static const struct x86_pebs_access access = {
		.loads = true, .stores = true, .load = 0x7000c0, .store = 0x700000,
	};

	cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER]++;
	cpu.counts[X86_PMU_LOADS][X86_PMU_USER]++;
	cpu.counts[X86_PMU_STORES][X86_PMU_USER]++;
	x86_pmu_step(&cpu.pmu, IP, &access);
}

static void steps(unsigned int n)
{
	while (n--)
		step();
}

/* ---- tests ---- */

static void test_reported(void)
{
	const uint64_t common = PERF_CAP_PEBS_TRAP | PERF_CAP_ARCH_REG;
	struct x86_pmu_cpuid regs = { 0 };

	make("skylake");
	EXPECT((get(MSR_IA32_PERF_CAPABILITIES) & ~MASK(6) & MASK(12)) ==
	       (common | PERF_CAP_PEBS_FORMAT(3)));
	x86_pmu_cpuid(&cpu.config, 1, 0, &regs);
	EXPECT(regs.ecx & BIT(2) && regs.ecx & BIT(4) && regs.edx & BIT(21));
	EXPECT(x86_pmu_rdmsr_more(&cpu.pmu, MSR_IA32_MISC_ENABLE) == (BIT(7) | BIT(11)));
	cpu.config.bts = true;
	EXPECT(!x86_pmu_config_error(&cpu.config));
	EXPECT(x86_pmu_rdmsr_more(&cpu.pmu, MSR_IA32_MISC_ENABLE) == BIT(7));
	/* TR, BTS, BTINT, BTS_OFF_OS, BTS_OFF_USR */
	EXPECT(x86_pmu_wrmsr(&cpu.pmu, IA32_DEBUGCTL, 0x7c0) == X86_PMU_DONE);
	EXPECT(get(IA32_DEBUGCTL) == 0x7c0);
	make("icelake");
	EXPECT((get(MSR_IA32_PERF_CAPABILITIES) & ~MASK(6) & (MASK(12) | BIT(14))) ==
	       (common | PERF_CAP_PEBS_FORMAT(4) | PERF_CAP_PEBS_BASELINE));
	cpu.config.bts = true;
	EXPECT(!x86_pmu_config_error(&cpu.config));
	cpu.config.pebs.format = 0;
	EXPECT(x86_pmu_config_error(&cpu.config));
	cpu.config.bts = false;
	regs = (struct x86_pmu_cpuid) { 0 };
	x86_pmu_cpuid(&cpu.config, 1, 0, &regs);
	EXPECT(!(regs.edx & BIT(21)));
	EXPECT(!x86_pmu_rdmsr_more(&cpu.pmu, MSR_IA32_MISC_ENABLE));
	EXPECT(x86_pmu_wrmsr(&cpu.pmu, MSR_IA32_PEBS_ENABLE, 1) == X86_PMU_NOT_HERE);
}

static void test_registers(void)
{
	make("skylake");
	EXPECT(put(MSR_IA32_PEBS_ENABLE, 0xf0000000f));
	EXPECT(get(MSR_IA32_PEBS_ENABLE) == 0xf0000000f);
	EXPECT(!put(MSR_IA32_PEBS_ENABLE, BIT(4)) && !put(MSR_PEBS_DATA_CFG, 0));
	EXPECT(!put(MSR_P6_EVNTSEL0, ICL_EVENTSEL_ADAPTIVE));
	EXPECT(put(MSR_PEBS_LD_LAT_THRESHOLD, 30) && !put(MSR_PEBS_LD_LAT_THRESHOLD, BIT(16)));
	EXPECT(!put(MSR_IA32_DS_AREA, BIT(47)) && get(MSR_IA32_DS_AREA) == AREA);
	make("icelake");
	EXPECT(put(MSR_IA32_PEBS_ENABLE, 0xf000000ff) && !put(MSR_IA32_PEBS_ENABLE, BIT(36)));
	EXPECT(put(MSR_PEBS_DATA_CFG, 0xff00000f) && !put(MSR_PEBS_DATA_CFG, BIT(4)));
	EXPECT(put(MSR_P6_EVNTSEL0, ICL_EVENTSEL_ADAPTIVE));
	EXPECT(put(MSR_CORE_PERF_FIXED_CTR_CTRL, ICL_FIXED_0_ADAPTIVE | 3));
	x86_pmu_reset(&cpu.pmu);
	EXPECT(!get(MSR_IA32_PEBS_ENABLE) && !get(MSR_PEBS_DATA_CFG) && !get(MSR_IA32_DS_AREA));
}

static void test_near(void)
{
	make("skylake");
	sample(EVENT_INSTRUCTIONS & ~BIT(17), 100000);
	EXPECT(cpu.needed & X86_PMU_KIND_BIT(X86_PMU_STEPS));
	EXPECT(!cpu.rings);
	EXPECT(cpu.distance[X86_PMU_INSTRUCTIONS][X86_PMU_USER] == 100000);
	cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER] = 99600;
	/* A block may end with a branch, which takes one more cycle. */
	EXPECT(!x86_pmu_near(&cpu.pmu, X86_PMU_USER, 398) && !cpu.rings);
	EXPECT(cpu.distance[X86_PMU_INSTRUCTIONS][X86_PMU_USER] == 400);
	EXPECT(!x86_pmu_near(&cpu.pmu, X86_PMU_KERNEL, 399));
	EXPECT(x86_pmu_near(&cpu.pmu, X86_PMU_USER, 399) && cpu.rings == 1 << X86_PMU_USER);
	/* An instruction that has not retired yet writes no record. */
	cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER] = 100000;
	x86_pmu_check(&cpu.pmu);
	EXPECT(!written());
	cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER]--;
	step();
	EXPECT(written() && !cpu.rings && !cpu.pmu.pebs.inexact);
}

static void test_fixed_record(void)
{
	/* struct pebs_record_skl */
	static const uint64_t want[] = {
		0x246, IP + 4, 0x100, 0x103, 0x101, 0x102, 0x106, 0x107, 0x105, 0x104,
		0x108, 0x109, 0x10a, 0x10b, 0x10c, 0x10d, 0x10e, 0x10f,
		1, 0x7000c0, 4, 44, IP, 0, 0x12345,
	};

	make("skylake");
	sample(EVENT_INSTRUCTIONS, 3);
	steps(2);
	EXPECT(!written());
	step();
	EXPECT(written() == sizeof(want) && !memcmp(record(), want, sizeof(want)));
	EXPECT(cpu.interrupts == 1);
	EXPECT(get(MSR_CORE_PERF_GLOBAL_STATUS) == GLOBAL_STATUS_BUFFER_OVF);
	EXPECT(get(MSR_P6_PMC0) == BEFORE(3));
	EXPECT(put(MSR_CORE_PERF_GLOBAL_OVF_CTRL, GLOBAL_STATUS_BUFFER_OVF));
	EXPECT(!get(MSR_CORE_PERF_GLOBAL_STATUS));
	steps(3);
	EXPECT(written() == 2 * sizeof(want));
}

/* An instruction with many stores advances the counter by more than a period. */
static void test_far_beyond(void)
{
	static const struct x86_pebs_access access = { .stores = true, .store = 0x700000 };
	uint64_t first;

	make("skylake");
	sample(EVENT_STORES, 10);
	cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER]++;
	cpu.counts[X86_PMU_STORES][X86_PMU_USER] += 35;
	x86_pmu_step(&cpu.pmu, IP, &access);
	first = written();
	EXPECT(first && get(MSR_P6_PMC0) == BEFORE(5));
	steps(4);
	EXPECT(written() == first);
	step();
	EXPECT(written() == 2 * first && get(MSR_P6_PMC0) == BEFORE(10));
}

static void test_store(void)
{
	make("skylake");
	sample(EVENT_STORES, 1);
	step();
	/* An L1 hit without a latency */
	EXPECT(record()[19] == 0x700000 && record()[20] == 1 && !record()[21]);
	make("sapphire-rapids");
	EXPECT(put(MSR_PEBS_DATA_CFG, PEBS_DATACFG_MEMINFO));
	sample(EVENT_STORES | ICL_EVENTSEL_ADAPTIVE, 1);
	step();
	/* struct pebs_meminfo: the instruction's latency, and the cache's */
	EXPECT(record()[4] == 0x700000 && record()[5] == 1 && record()[6] == (4 | 4ULL << 32));
}

static void test_adaptive_record(void)
{
	const uint64_t all = PEBS_DATACFG_MEMINFO | PEBS_DATACFG_GP | PEBS_DATACFG_XMMS |
			     PEBS_DATACFG_LBRS | 7 << PEBS_DATACFG_LBR_SHIFT;
	const unsigned int words = 4 + 4 + 18 + 32 + 3 * 8;

	make("icelake");
	EXPECT(put(MSR_PEBS_DATA_CFG, all));
	sample(EVENT_INSTRUCTIONS, 2);
	steps(2);
	EXPECT(written() == 32 && record()[0] == 32ULL << 48 && record()[1] == IP);
	sample(EVENT_INSTRUCTIONS | ICL_EVENTSEL_ADAPTIVE, 2);
	cpu.memory[DS_INDEX] = BUFFER;
	steps(2);
	EXPECT(written() == words * 8 && record()[0] == (all | words * 8ULL << 48));
	EXPECT(record()[1] == IP && record()[2] == 1 && record()[3] == 0x12345);
	EXPECT(record()[4] == 0x7000c0 && record()[5] == 4 && record()[6] == 44);
	/* struct pebs_gprs: in the order of register numbers in instructions */
	EXPECT(record()[8] == 0x246 && record()[9] == IP + 4 && record()[10] == 0x100);
	EXPECT(record()[14] == 0x104 && record()[25] == 0x10f);
	EXPECT(record()[26] == 0x200 && record()[26 + 30] == 0x20f && !record()[58]);
}

static void test_fixed_counter(void)
{
	make("icelake");
	cpu.memory[DS_RESET_FIXED] = BEFORE(7);
	EXPECT(put(MSR_CORE_PERF_FIXED_CTR0, BEFORE(7)) &&
	       put(MSR_CORE_PERF_FIXED_CTR_CTRL, 3) && put(MSR_IA32_PEBS_ENABLE, BIT(32)) &&
	       put(MSR_CORE_PERF_GLOBAL_CTRL, BIT(32)));
	steps(7);
	EXPECT(written() == 32 && record()[2] == BIT(32));
	EXPECT(get(MSR_CORE_PERF_FIXED_CTR0) == BEFORE(7));
}

static void test_buffer(void)
{
	make("skylake");
	cpu.memory[DS_THRESHOLD] = BUFFER + 3 * 200;
	cpu.memory[DS_MAXIMUM] = BUFFER + 4 * 200;
	sample(EVENT_INSTRUCTIONS, 1);
	steps(2);
	EXPECT(!cpu.interrupts && !get(MSR_CORE_PERF_GLOBAL_STATUS));
	step();
	EXPECT(cpu.interrupts == 1);
	steps(2);
	EXPECT(written() == 4 * 200 && cpu.pmu.pebs.full == 1 && cpu.interrupts == 3);
	EXPECT(put(MSR_IA32_DS_AREA, 0));
	steps(1);
	EXPECT(cpu.pmu.pebs.unmapped == 1 && cpu.interrupts == 3);
}

static void test_not_enabled(void)
{
	make("skylake");
	sample(EVENT_INSTRUCTIONS | BIT(20), 3);
	EXPECT(put(MSR_IA32_PEBS_ENABLE, 2));
	steps(3);
	EXPECT(!written() && cpu.interrupts == 1 && get(MSR_CORE_PERF_GLOBAL_STATUS) == 1);
}

static void test_latency(void)
{
	make("skylake");
	EXPECT(put(MSR_PEBS_LD_LAT_THRESHOLD, 4));
	EXPECT(!x86_pmu_is_slow(&cpu.pmu, 0x1000) && x86_pmu_is_slow(&cpu.pmu, 0x1100));
	EXPECT(put(MSR_PEBS_LD_LAT_THRESHOLD, 229) && x86_pmu_is_slow(&cpu.pmu, 0x11ff));
	EXPECT(put(MSR_PEBS_LD_LAT_THRESHOLD, 230) && !x86_pmu_is_slow(&cpu.pmu, 0x11ff));
}

static void start_arch(uint64_t threshold)
{
	EXPECT(!x86_pmu_config_error(&cpu.config));
	x86_pmu_init(&cpu.pmu, &cpu.config, &cpu_ops);
	EXPECT(put(MSR_IA32_PEBS_BASE, PHYSICAL) &&
	       put(MSR_IA32_PEBS_INDEX, ARCH_PEBS_INDEX_EN | threshold << ARCH_PEBS_THRESH_SHIFT));
}

static void make_arch(uint64_t threshold)
{
	memset(&cpu, 0, sizeof(cpu));
	x86_pmu_defaults(&cpu.config, X86_PMU_INTEL_V6);
	cpu.config.pebs.format = 15;
	cpu.config.lbr = (struct x86_lbr_config) { .kind = X86_LBR_ARCH, .depth = 8 };
	start_arch(threshold);
}

static void sample_arch(uint64_t cfg_c)
{
	EXPECT(put(MSR_P6_EVNTSEL0, EVENT_INSTRUCTIONS) && put(MSR_P6_PMC0, BEFORE(3)));
	EXPECT(put(MSR_IA32_PMC_V6_GP0_CFG_C, ARCH_PEBS_EN | cfg_c));
	EXPECT(put(MSR_CORE_PERF_GLOBAL_CTRL, 1));
}

static void test_arch_reported(void)
{
	struct x86_pmu_cpuid regs = { 0 };

	make_arch(1);
	EXPECT((get(MSR_IA32_PERF_CAPABILITIES) & ~MASK(6) & MASK(15)) ==
	       (PERF_CAP_PEBS_FORMAT(15) | BIT(13)));
	x86_pmu_cpuid(&cpu.config, 1, 0, &regs);
	EXPECT(!(regs.edx & BIT(21)));
	x86_pmu_cpuid(&cpu.config, 0x23, 0, &regs);
	EXPECT((regs.eax & 0x30) == 0x30);
	x86_pmu_cpuid(&cpu.config, 0x23, 4, &regs);
	EXPECT((uint64_t)regs.ebx << 32 ==
	       (ARCH_PEBS_LBR | ARCH_PEBS_VECR_XMM | ARCH_PEBS_GPR | ARCH_PEBS_AUX |
		ARCH_PEBS_CNTR_ALLOW | ARCH_PEBS_CNTR_GP | ARCH_PEBS_CNTR_FIXED));
	x86_pmu_cpuid(&cpu.config, 0x23, 5, &regs);
	EXPECT(regs.eax == 0xff && regs.ebx == 3 && regs.ecx == 0xf && regs.edx == 1);
	EXPECT(x86_pmu_wrmsr(&cpu.pmu, MSR_IA32_PEBS_ENABLE, 0) == X86_PMU_FAULT);
	EXPECT(x86_pmu_wrmsr(&cpu.pmu, MSR_IA32_DS_AREA, 0) == X86_PMU_FAULT);
	EXPECT(!put(MSR_IA32_PEBS_BASE, BIT(5)) && !put(MSR_IA32_PEBS_INDEX, 1));
	EXPECT(!put(MSR_IA32_PMC_V6_GP0_CFG_C, ARCH_PEBS_CNTR_METRICS));
	x86_pmu_reset(&cpu.pmu);
	EXPECT(!get(MSR_IA32_PEBS_BASE) && !get(MSR_IA32_PEBS_INDEX));
}

static void test_arch_record(void)
{
	const uint64_t groups = ARCH_PEBS_AUX | ARCH_PEBS_GPR | ARCH_PEBS_VECR_XMM | ARCH_PEBS_LBR;
	const unsigned int words = 2 + 6 + 8 + 20 + 34 + 6 + 3 * 8;

	make_arch(1);
	sample_arch(groups);
	steps(3);
	/* struct arch_pebs_header, _basic, _aux, _gprs, _xer_header, _lbr_header */
	EXPECT(cpu.memory[0] == (ARCH_PEBS_EN | groups | BIT(30) | words * 8));
	EXPECT(cpu.memory[2] == IP && cpu.memory[3] == 1 && cpu.memory[4] == 0x12345);
	EXPECT(cpu.memory[8] == 0x7000c0 && cpu.memory[13] == 4 &&
	       cpu.memory[14] == (44 | 44ULL << 32));
	EXPECT(cpu.memory[16] == 0x246 && cpu.memory[17] == IP + 4 && cpu.memory[18] == 0x100);
	EXPECT(cpu.memory[33] == 0x10f && cpu.memory[36] == 2 && cpu.memory[38] == 0x200);
	EXPECT(cpu.memory[70 + 2] == 8);
	EXPECT((get(MSR_IA32_PEBS_INDEX) & MASK(27)) == words * 8);
	EXPECT(get(MSR_CORE_PERF_GLOBAL_STATUS) == GLOBAL_STATUS_ARCH_PEBS_THRESHOLD);
	EXPECT(cpu.interrupts == 1 && !get(MSR_P6_PMC0));
	EXPECT(put(MSR_CORE_PERF_GLOBAL_OVF_CTRL, GLOBAL_STATUS_ARCH_PEBS_THRESHOLD));
	EXPECT(!get(MSR_CORE_PERF_GLOBAL_STATUS));
}

/* MEM_UOPS_RETIRED.STORE_LATENCY, .LOAD_LATENCY; data sources of atoms and of Panther Cove */
static void test_arch_sources(void)
{
	static const struct x86_pebs_access memory = { .stores = true, .store = 0x7001c0 };
	const struct {
		const struct x86_uarch *uarch;
		uint64_t event;
		uint64_t source;
	} rows[] = {
		{ x86_uarch_find("diamond-rapids"), EVENT_STORE_SAMPLE, 0x908 },
		{ x86_uarch_find("nova-lake"), EVENT_STORE_SAMPLE, 0x908 },
		{ x86_uarch_find("nova-lake")->other, EVENT_STORE_LATENCY, 0x908 },
		{ x86_uarch_find("clearwater-forest"), EVENT_STORE_LATENCY, 0x4a },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(&cpu, 0, sizeof(cpu));
		x86_pmu_uarch_defaults(&cpu.config, rows[i].uarch);
		start_arch(1);
		EXPECT(put(MSR_P6_EVNTSEL0, rows[i].event) && put(MSR_P6_PMC0, BEFORE(2)));
		EXPECT(put(MSR_IA32_PMC_V6_GP0_CFG_C, ARCH_PEBS_EN | ARCH_PEBS_AUX));
		EXPECT(put(MSR_CORE_PERF_GLOBAL_CTRL, 1));
		step();
		cpu.counts[X86_PMU_STORES][X86_PMU_USER]++;
		x86_pmu_step(&cpu.pmu, IP, &memory);
		EXPECT(cpu.memory[8] == 0x7001c0 && cpu.memory[13] == rows[i].source &&
		       cpu.memory[14] == (230 | 230ULL << 32));
	}

	EXPECT(put(MSR_P6_EVNTSEL0, EVENT_LOAD_LATENCY) && put(MSR_P6_PMC0, 0));
	cpu.counts[X86_PMU_SLOW_LOADS][X86_PMU_USER] += 5;
	EXPECT(get(MSR_P6_PMC0) == 5);
}

static void test_arch_fragments(void)
{
	make_arch(1);
	cpu.config.pebs.fragments = 1;
	sample_arch(ARCH_PEBS_AUX);
	steps(3);
	EXPECT(cpu.memory[0] == 16);
	EXPECT(cpu.memory[2] == (ARCH_PEBS_EN | BIT(31) | BIT(30) | 64) && cpu.memory[4] == IP);
	EXPECT(cpu.memory[10] == (ARCH_PEBS_AUX | BIT(30) | 80) && cpu.memory[12] == 0x7000c0);
	EXPECT((get(MSR_IA32_PEBS_INDEX) & MASK(27)) == 16 + 64 + 80);
}

static void test_arch_buffer(void)
{
	make_arch(3 * 64 / 16);
	sample_arch(-3U);
	steps(6);
	EXPECT(!cpu.interrupts && get(MSR_P6_PMC0) == BEFORE(3));
	steps(3);
	EXPECT(cpu.interrupts == 1);
	steps(3 * 61);
	EXPECT(cpu.pmu.pebs.written == 64 && !(get(MSR_IA32_PEBS_INDEX) & ARCH_PEBS_INDEX_FULL));
	steps(3);
	EXPECT(cpu.pmu.pebs.full == 1 && get(MSR_IA32_PEBS_INDEX) & ARCH_PEBS_INDEX_FULL);
	EXPECT(put(MSR_IA32_PEBS_BASE, 0) && put(MSR_IA32_PEBS_INDEX, ARCH_PEBS_INDEX_EN));
	steps(3);
	EXPECT(cpu.pmu.pebs.unmapped == 1);
	EXPECT(put(MSR_IA32_PEBS_INDEX, 0));
	steps(3);
	EXPECT(cpu.pmu.pebs.records == 66 && get(MSR_CORE_PERF_GLOBAL_STATUS) & 1);
}

static void test_arch_fixed_counter(void)
{
	make_arch(1);
	EXPECT(put(MSR_CORE_PERF_FIXED_CTR0, BEFORE(7)) && put(MSR_CORE_PERF_FIXED_CTR_CTRL, 3) &&
	       put(MSR_IA32_PMC_V6_FX0_CFG_C, ARCH_PEBS_EN | -7U) &&
	       put(MSR_CORE_PERF_GLOBAL_CTRL, BIT(32)));
	steps(7);
	EXPECT(cpu.memory[3] == BIT(32) && get(MSR_CORE_PERF_FIXED_CTR0) == BEFORE(7));
}

static void test_faults(void)
{
	make("skylake");
	cpu.config.pebs.late = 2;
	sample(EVENT_INSTRUCTIONS, 10);
	steps(20);
	EXPECT(written() == 200);
	step();
	EXPECT(written() == 2 * 200 && cpu.pmu.pebs.records == 2);
	make("skylake");
	cpu.config.pebs.empty = 2;
	sample(EVENT_INSTRUCTIONS, 10);
	steps(20);
	EXPECT(written() == 200 && cpu.interrupts == 2);
	make("skylake");
	cpu.config.pebs.stale = 1;
	sample(EVENT_INSTRUCTIONS, 10);
	steps(15);
	EXPECT(written() == 200 && get(MSR_P6_PMC0) == 5);
	cpu.config.pebs = (struct x86_pebs_config) { .late = 1 };
	EXPECT(x86_pmu_config_error(&cpu.config));
	cpu.config.pebs = (struct x86_pebs_config) { .format = 5 };
	EXPECT(x86_pmu_config_error(&cpu.config));
}

static const struct model_test tests[] = {
	{ "IA32_PERF_CAPABILITIES reports PEBS", test_reported },
	{ "reserved bits of registers fault", test_registers },
	{ "each instruction is reported near an overflow", test_near },
	{ "format 3: a record has all registers, and reloads", test_fixed_record },
	{ "a reload drops whole periods", test_far_beyond },
	{ "a record of a store shows the store", test_store },
	{ "format 4: a record has the enabled groups", test_adaptive_record },
	{ "a fixed-function counter writes records", test_fixed_counter },
	{ "the buffer has a threshold, and may be full or unmapped", test_buffer },
	{ "a counter without PEBS signals its overflow", test_not_enabled },
	{ "loads above the latency threshold count", test_latency },
	{ "architectural: CPUID and registers report PEBS", test_arch_reported },
	{ "architectural: a record has the enabled groups", test_arch_record },
	{ "architectural: load latency and store latency, by CPU type", test_arch_sources },
	{ "architectural: a record can have fragments", test_arch_fragments },
	{ "architectural: the buffer may be full, unmapped or off", test_arch_buffer },
	{ "architectural: a fixed-function counter writes records", test_arch_fixed_counter },
	{ "faults delay and drop records, and leave the counter", test_faults },
};

int main(void)
{
	return run_model_tests(tests, ARRAY_SIZE(tests));
}
