// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the microarchitectures of the virtual x86 PMU, without QEMU: CPU models, events, and
 * event constraints. KTAP on stdout.
 *
 * The expected constraints are taken from perf's pmu-events/arch/x86 ("Counter"). The tables of
 * x86/uarch/intel.c have another source.
 */
#include "tests/x86/model/uarch-cpu.h"

/* AMD: bits 11 to 8 of the event's number are bits 35 to 32 of the selector. */
#define AMD_MERGE		UINT64_C(0xf000000ff)
#define AMD_P0_FREQ_CYC		UINT64_C(0x100000120)

static void test_models(void)
{
	static const struct {
		const char *name;
		uint32_t signature;
	} rows[] = {
		{ "haswell", 0x000306c3 },		/* Core i7-4770 */
		{ "skylake", 0x000506e3 },		/* Core i7-6700 */
		{ "icelake", 0x000606a6 },		/* Xeon Gold 6330 */
		{ "sapphire-rapids", 0x000806f8 },	/* Xeon Platinum 8480 */
		{ "granite-rapids", 0x000a06d1 },	/* Xeon 6980P */
		{ "sierra-forest", 0x000a06f3 },	/* Xeon 6780E */
		{ "alder-lake", 0x00090672 },		/* Core i9-12900K */
		{ "lunar-lake", 0x000b06d1 },		/* Core Ultra 7 258V */
		{ "nova-lake", 0x00300f10 },		/* family 18, model 1 */
		{ "diamond-rapids", 0x00400f10 },	/* family 19, model 1 */
		{ "clearwater-forest", 0x000d06d0 },	/* Xeon 6+ */
		{ "kx-6000", 0x000307b0 },		/* KX-U6780A */
		{ "zen1", 0x00800f12 },			/* EPYC 7601 */
		{ "zen2", 0x00830f10 },			/* EPYC 7742 */
		{ "zen3", 0x00a00f11 },			/* EPYC 7763 */
		{ "zen4", 0x00a10f11 },			/* EPYC 9654 */
		{ "zen5", 0x00b00f21 },			/* EPYC 9755 */
		{ "zen6", 0x00b50f00 },			/* family 1Ah, model 50h */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_ROW(rows[i].name, make(rows[i].name));
		EXPECT_ROW(rows[i].name, !strcmp(x86_pmu_name(&cpu.config), rows[i].name));
		for (size_t j = 0; j < ARRAY_SIZE(rows); j++)
			EXPECT_ROW(rows[i].name, (i == j) ==
				   x86_uarch_is_in(cpu.config.uarch, rows[j].signature));
	}
	EXPECT(!x86_uarch_find("penryn"));
	/* Snow Ridge's model number, which QEMU's first Icelake-Server has */
	EXPECT(!x86_uarch_is_in(x86_uarch_find("icelake"), 0x00080660));
}

static void test_cpuid(void)
{
	struct x86_pmu_cpuid regs = { 0 };

	EXPECT(make("skylake"));
	x86_pmu_cpuid(&cpu.config, 0xa, 0, &regs);
	EXPECT(regs.eax == (4 | 4 << 8 | 48 << 16 | 7 << 24));
	EXPECT((regs.edx & 0x1f) == 3 && regs.ecx == 0);
	/* AnyThread */
	EXPECT(!(regs.edx & BIT(15)));
	EXPECT(put(IA32_PERFEVTSEL, BIT(21) | 0x3c) && put(IA32_FIXED_CTR_CTRL, 0x777));

	EXPECT(make("icelake"));
	x86_pmu_cpuid(&cpu.config, 0xa, 0, &regs);
	EXPECT(regs.eax == (5 | 8 << 8 | 48 << 16 | 8 << 24));
	EXPECT((regs.edx & 0x1f) == 4 && regs.ecx == 0xf);
	EXPECT(regs.edx & BIT(15));
	EXPECT(!put(IA32_PERFEVTSEL, BIT(21) | 0x3c) && !put(IA32_FIXED_CTR_CTRL, 0x4));

	/* InstLatx64, CentaurHauls00307B1_U6780A_CPUID2.txt */
	EXPECT(make("kx-6000"));
	regs = (struct x86_pmu_cpuid) { 0 };
	x86_pmu_cpuid(&cpu.config, 0xa, 0, &regs);
	EXPECT(regs.eax == 0x07300402 && !regs.ebx && !regs.ecx && regs.edx == 0x603);

	EXPECT(make("zen3"));
	regs = (struct x86_pmu_cpuid) { 0 };
	x86_pmu_cpuid(&cpu.config, 0x80000022, 0, &regs);
	EXPECT(!regs.eax);
	EXPECT(make("zen4"));
	x86_pmu_cpuid(&cpu.config, 0x80000022, 0, &regs);
	EXPECT(regs.eax == 7 && regs.ebx == (16 << 4 | 6));
}

/* Events with perf's names, and the counters that count them */
static void test_placement(void)
{
	static const struct {
		const char *uarch;
		const char *name;
		uint64_t event;
		uint32_t counters;
	} rows[] = {
		{ "haswell", "INST_RETIRED.ANY_P", 0xc0, 0xf },
		{ "haswell", "INST_RETIRED.PREC_DIST", 0x1c0, 0x2 },
		{ "haswell", "L1D_PEND_MISS.PENDING", 0x148, 0x4 },
		{ "haswell", "CYCLE_ACTIVITY.CYCLES_L1D_PENDING", 0x8a3 | CMASK(8), 0x4 },
		{ "haswell", "CYCLE_ACTIVITY.CYCLES_NO_EXECUTE", 0x4a3 | CMASK(4), 0xf },
		{ "haswell", "L1D.REPLACEMENT", 0x151, 0xf },
		{ "skylake", "INST_RETIRED.ANY_P", 0xc0, 0xf },
		{ "skylake", "INST_RETIRED.PREC_DIST", 0x1c0, 0x2 },
		{ "skylake", "L1D_PEND_MISS.PENDING", 0x148, 0xf },
		{ "skylake", "MEM_INST_RETIRED.ALL_LOADS", 0x81d0, 0xf },
		{ "icelake", "INST_RETIRED.ANY_P", 0xc0, 0xff },
		{ "icelake", "INST_RETIRED.PREC_DIST", 0x100, 0 },
		{ "icelake", "LONGEST_LAT_CACHE.MISS", 0x412e, 0xff },
		{ "icelake", "BR_INST_RETIRED.ALL_BRANCHES", 0xc4, 0xff },
		{ "icelake", "TOPDOWN.SLOTS_P", 0x1a4, 0xff },
		{ "icelake", "LD_BLOCKS.STORE_FORWARD", 0x203, 0xf },
		{ "icelake", "UOPS_ISSUED.ANY", 0x10e, 0xff },
		{ "icelake", "L2_RQSTS.ALL_DEMAND_DATA_RD", 0xe124, 0xf },
		{ "icelake", "L1D_PEND_MISS.PENDING", 0x148, 0xf },
		{ "icelake", "L1D.REPLACEMENT", 0x151, 0xf },
		{ "icelake", "RS_EVENTS.EMPTY_CYCLES", 0x15e, 0xff },
		{ "icelake", "IDQ.DSB_UOPS", 0x879, 0xf },
		{ "icelake", "IDQ_UOPS_NOT_DELIVERED.CORE", 0x19c, 0xff },
		{ "icelake", "CYCLE_ACTIVITY.STALLS_TOTAL", 0x4a3 | CMASK(4), 0xff },
		{ "icelake", "CYCLE_ACTIVITY.CYCLES_L1D_MISS", 0x8a3 | CMASK(8), 0xf },
		{ "icelake", "CYCLE_ACTIVITY.CYCLES_MEM_ANY", 0x10a3 | CMASK(16), 0xff },
		{ "icelake", "OFFCORE_REQUESTS.ALL_REQUESTS", 0x80b0, 0xf },
		{ "icelake", "UOPS_EXECUTED.THREAD", 0x1b1, 0xff },
		{ "icelake", "UOPS_RETIRED.SLOTS", 0x2c2, 0xff },
		{ "icelake", "MEM_INST_RETIRED.ALL_STORES", 0x82d0, 0xf },
		{ "icelake", "MEM_LOAD_RETIRED.L1_MISS", 0x8d1, 0xf },
		{ "icelake", "MEM_LOAD_L3_HIT_RETIRED.XSNP_NONE", 0x8d2, 0xf },
		{ "sapphire-rapids", "INST_RETIRED.ANY_P", 0xc0, 0xff },
		{ "sapphire-rapids", "CPU_CLK_UNHALTED.THREAD_P", 0x3c, 0xff },
		{ "sapphire-rapids", "LONGEST_LAT_CACHE.REFERENCE", 0x4f2e, 0xff },
		{ "sapphire-rapids", "LD_BLOCKS.STORE_FORWARD", 0x8203, 0xf },
		{ "sapphire-rapids", "L1D.REPLACEMENT", 0x151, 0xf },
		{ "sapphire-rapids", "IDQ.DSB_UOPS", 0x879, 0xf },
		{ "sapphire-rapids", "IDQ_BUBBLES.CORE", 0x19c, 0xff },
		{ "sapphire-rapids", "CYCLE_ACTIVITY.STALLS_TOTAL", 0x4a3 | CMASK(4), 0xff },
		{ "sapphire-rapids", "CYCLE_ACTIVITY.CYCLES_L1D_MISS", 0x8a3 | CMASK(8), 0xf },
		{ "sapphire-rapids", "TOPDOWN.BAD_SPEC_SLOTS", 0x4a4, 0x1 },
		{ "sapphire-rapids", "TOPDOWN.BR_MISPREDICT_SLOTS", 0x8a4, 0x1 },
		{ "sapphire-rapids", "UOPS_ISSUED.ANY", 0x1ae, 0xff },
		{ "sapphire-rapids", "MEM_TRANS_RETIRED.STORE_SAMPLE", 0x2cd, 0x1 },
		{ "sapphire-rapids", "MEM_INST_RETIRED.ANY", 0x83d0, 0xf },
		{ "sapphire-rapids", "MEM_LOAD_RETIRED.L1_MISS", 0x8d1, 0xf },
		{ "alder-lake", "UOPS_ISSUED.ANY", 0x1ae, 0xff },
		{ "alder-lake", "TOPDOWN.BAD_SPEC_SLOTS", 0x4a4, 0x1 },
		{ "lunar-lake", "INST_RETIRED.ANY_P", 0xc0, 0x3ff },
		{ "lunar-lake", "LD_BLOCKS.STORE_FORWARD", 0x8203, 0x3ff },
		{ "lunar-lake", "L2_RQSTS.ALL_DEMAND_DATA_RD", 0xe124, 0x3ff },
		{ "lunar-lake", "L1D_PENDING.LOAD", 0x148, 0x4 },
		{ "lunar-lake", "IDQ_BUBBLES.CORE", 0x19c, 0x3ff },
		{ "lunar-lake", "TOPDOWN.BACKEND_BOUND_SLOTS", 0x2a4, 0x3ff },
		{ "lunar-lake", "TOPDOWN.BAD_SPEC_SLOTS", 0x4a4, 0x1 },
		{ "lunar-lake", "TOPDOWN.BR_MISPREDICT_SLOTS", 0x8a4, 0x1 },
		{ "lunar-lake", "TOPDOWN.MEMORY_BOUND_SLOTS", 0x10a4, 0x8 },
		{ "lunar-lake", "UOPS_EXECUTED.THREAD", 0x1b1, 0x8 },
		{ "lunar-lake", "UOPS_RETIRED.SLOTS", 0x2c2, 0x3ff },
		{ "lunar-lake", "MEM_TRANS_RETIRED.STORE_SAMPLE", 0x2cd, 0x3 },
		{ "lunar-lake", "MEM_INST_RETIRED.ALL_LOADS", 0x81d0, 0xf },
		{ "lunar-lake", "MEM_INST_RETIRED.ANY", 0x87d0, 0x3ff },
		{ "lunar-lake", "MEM_LOAD_RETIRED.L1_MISS", 0x8d1, 0xf },
		{ "kx-6000", "instructions", 0xc0, 0xf },
		{ "kx-6000", "cycles", 0x82, 0xf },
		{ "kx-6000", "L1-dcache-stores", 0x669, 0xf },
		{ "kx-6000", "no event: Intel's cycles", 0x3c, 0 },
		{ "kx-6000", "no event: Intel's branches", 0xc4, 0 },
		{ "zen1", "ex_ret_instr", 0xc0, 0x3f },
		{ "zen1", "ic_fetch_stall.ic_stall_back_pressure", 0x187, 0x3f },
		{ "zen1", "no event: of Zen 2", 0xa9, 0 },
		{ "zen1", "no event: of family 10h", 0x77d, 0 },
		{ "zen2", "de_dis_uop_queue_empty_di0", 0xa9, 0x3f },
		{ "zen2", "no event: of Zen 4", AMD_P0_FREQ_CYC, 0 },
		{ "zen3", "de_dis_uop_queue_empty_di0", 0xa9, 0x3f },
		{ "zen4", "de_op_queue_empty", 0xa9, 0x3f },
		{ "zen4", "ls_not_halted_p0_cyc.p0_freq_cyc", AMD_P0_FREQ_CYC, 0x3f },
		{ "zen4", "no event: of Zen 1", 0x187, 0 },
		{ "zen5", "ls_not_halted_p0_cyc.p0_freq_cyc", AMD_P0_FREQ_CYC, 0x3f },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_ROW(rows[i].name, make(rows[i].uarch));
		EXPECT_ROW(rows[i].name, counters_of(rows[i].event) == rows[i].counters);
	}
}

/* Without hyper-threading, Skylake has more than four counters. */
static void test_one_thread(void)
{
	EXPECT(make("skylake"));
	cpu.config.gp = 8;
	x86_pmu_reset(&cpu.pmu);
	EXPECT(counters_of(0xc0) == 0xff);
	EXPECT(counters_of(0x148) == 0xff);
	EXPECT(counters_of(0x81d0) == 0xf);
	EXPECT(counters_of(0x8d1) == 0xf);
}

static void test_counts(void)
{
	EXPECT(make("icelake"));
	EXPECT(counted(0, 0x10e) == 10);
	EXPECT(counted(0, 0x19c) == 10);		/* cycles less instructions */
	EXPECT(counted(0, 0x148) == 100);
	EXPECT(counted(0, 0x8a3 | CMASK(8)) == 100);
	EXPECT(counted(0, 0x4a3 | CMASK(4)) == 10);
	EXPECT(counted(0, 0x4a3 | CMASK(5)) == 0);	/* not the event's counter mask */
	/* fixed-function counter 0 counts instructions */
	EXPECT(put(IA32_FIXED_CTR_CTRL, 2) && put(IA32_PERF_GLOBAL_CTRL, BIT(32)));
	everything_happens();
	EXPECT(get(IA32_FIXED_CTR) == 10);

	/* A write of a counter sets all bits. */
	EXPECT(make("kx-6000"));
	EXPECT(put(IA32_PMC, MASK(40)) && get(IA32_PMC) == MASK(40));
	EXPECT(lacks(IA32_PERF_CAPABILITIES));

	EXPECT(make("zen4"));
	EXPECT(counted(5, 0xa9) == 10);
	EXPECT(counted(5, AMD_P0_FREQ_CYC) == 10);
}

static void test_misplaced(void)
{
	EXPECT(make("icelake"));
	EXPECT(counted(7, 0x148) == 0);
	cpu.config.misplaced = true;
	EXPECT(counted(7, 0x148) == 20);		/* cycles */
	EXPECT(counted(3, 0x148) == 100);
	EXPECT(counted(7, 0xc0) == 10);
}

/* A counter that is not merged counts at most 15 per cycle. */
static void test_saturation(void)
{
	EXPECT(make("zen2"));
	for (unsigned int i = 0; i < 6; i++)
		EXPECT(counted(i, 0xff03) == 150);
}

static void test_merge(void)
{
	EXPECT(make("zen2"));
	EXPECT(put(PERF_CTR(2), 0) && put(PERF_CTR(3), 0));
	EXPECT(put(PERF_CTL(3), EN | AMD_MERGE));
	EXPECT(put(PERF_CTL(2), EN | USR | INT | 0xff03));
	everything_happens();
	EXPECT(get(PERF_CTR(2)) == 200 && get(PERF_CTR(3)) == 0);

	/* the second counter has the upper 16 of 64 bits */
	EXPECT(put(PERF_CTR(2), MASK(48) - 99));
	everything_happens();
	EXPECT(get(PERF_CTR(2)) == BIT(48) + 100 && get(PERF_CTR(3)) == 1);
	EXPECT(!cpu.interrupts);
	EXPECT(put(PERF_CTR(2), MASK(48) - 99) && put(PERF_CTR(3), MASK(16)));
	everything_happens();
	EXPECT(get(PERF_CTR(2)) == 100 && get(PERF_CTR(3)) == 0);
	EXPECT(cpu.interrupts == 1);

	/* an even counter merges with the next one, which has to be enabled */
	EXPECT(put(PERF_CTL(3), AMD_MERGE));
	EXPECT(counted(2, 0xff03) == 150);
	EXPECT(put(PERF_CTL(4), EN | AMD_MERGE));
	EXPECT(counted(3, 0xff03) == 150);
	EXPECT(counted(2, 0xff03) == 150);

	/* version 2: the global register enables both; the even counter has the status bit */
	EXPECT(make("zen4"));
	EXPECT(put(PERF_CTR(0), MASK(48)) && put(PERF_CTR(1), MASK(16)));
	EXPECT(put(PERF_CTL(1), EN | AMD_MERGE));
	EXPECT(put(PERF_CTL(0), EN | USR | INT | 0xff03));
	everything_happens();
	EXPECT(get(PERF_CNTR_GLOBAL_STATUS) == 1 && cpu.interrupts == 1);
	EXPECT(get(PERF_CTR(0)) == 199);
}

/* A hybrid machine: leaf 0xa reports the counters that both CPU types have. */
static void test_hybrid(void)
{
	const struct x86_uarch *core = x86_uarch_find("alder-lake");
	struct x86_pmu_cpuid regs = { 0 }, common;

	EXPECT(make_uarch(core));
	x86_pmu_cpuid(&cpu.config, 0xa, 0, &regs);
	EXPECT(regs.eax == (5 | 8 << 8 | 48 << 16 | 8 << 24) && regs.ecx == 0xf);
	cpu.config.unreported = core->unreported;
	x86_pmu_cpuid(&cpu.config, 0xa, 0, &common);
	EXPECT(common.eax == (5 | 6 << 8 | 48 << 16 | 7 << 24) && common.ecx == 7);
	EXPECT((common.edx & 0x1f) == 3);
	EXPECT(counted(7, 0xc0) == 10);
	x86_pmu_cpuid(&cpu.config, 0x1a, 0, &regs);
	EXPECT(regs.eax == X86_PMU_CORE_CORE << 24);
	regs.edx = 0;
	x86_pmu_cpuid(&cpu.config, 7, 1, &regs);
	EXPECT(!regs.edx);
	x86_pmu_cpuid(&cpu.config, 7, 0, &regs);
	EXPECT(regs.edx == (BIT(19) | BIT(15)));
	regs.eax = 0x16;
	x86_pmu_cpuid(&cpu.config, 0, 0, &regs);
	EXPECT(regs.eax == 0x1c);

	EXPECT(make_uarch(core->other));
	x86_pmu_cpuid(&cpu.config, 0xa, 0, &regs);
	EXPECT(!memcmp(&regs, &common, sizeof(regs)));
	x86_pmu_cpuid(&cpu.config, 0x1a, 0, &regs);
	EXPECT(regs.eax == X86_PMU_CORE_ATOM << 24);
	EXPECT(counters_of(0xc0) == 0x3f && counters_of(0x83d0) == 0x3f);
	EXPECT(counters_of(0x1ae) == 0 && lacks(IA32_PMC + 6));

	/* Not hybrid: no leaf reports CPU types */
	EXPECT(make("sapphire-rapids"));
	regs = (struct x86_pmu_cpuid) { 0 };
	x86_pmu_cpuid(&cpu.config, 7, 0, &regs);
	x86_pmu_cpuid(&cpu.config, 0x1a, 0, &regs);
	EXPECT(regs.edx == BIT(19) && !regs.eax);
}

/* Version 6: leaf 0xa reports the counters that both CPU types have, leaf 0x23 all of the CPU. */
static void test_lunar_lake(void)
{
	const struct x86_uarch *core = x86_uarch_find("lunar-lake");
	struct x86_pmu_cpuid regs = { 0 }, common;

	EXPECT(make_uarch(core));
	cpu.config.unreported = core->unreported;
	x86_pmu_cpuid(&cpu.config, 0xa, 0, &common);
	EXPECT(common.eax == (6 | 8 << 8 | 48 << 16 | 7 << 24) && common.ecx == 7);
	x86_pmu_cpuid(&cpu.config, 0x23, 1, &regs);
	EXPECT(regs.eax == 0x3ff && regs.ebx == 0xf);
	EXPECT(counted(9, 0xc0) == 10 && lacks(IA32_PMC + 10));
	cpu.config.perfmon = 5;
	EXPECT(!x86_pmu_config_error(&cpu.config));
	x86_pmu_cpuid(&cpu.config, 0xa, 0, &regs);
	EXPECT((regs.eax & 0xff) == 5);
	cpu.config.perfmon = 4;
	EXPECT(x86_pmu_config_error(&cpu.config));

	EXPECT(make_uarch(core->other));
	cpu.config.unreported = core->other->unreported;
	EXPECT(!x86_pmu_config_error(&cpu.config));
	x86_pmu_cpuid(&cpu.config, 0xa, 0, &regs);
	EXPECT(!memcmp(&regs, &common, sizeof(regs)));
	x86_pmu_cpuid(&cpu.config, 0x23, 1, &regs);
	EXPECT(regs.eax == 0xff && regs.ebx == 0x77);
	x86_pmu_cpuid(&cpu.config, 0x1a, 0, &regs);
	EXPECT(regs.eax == X86_PMU_CORE_ATOM << 24);
	/* Skymont has fixed-function counter 6, but not 3. */
	EXPECT(put(IA32_FIXED_CTR_CTRL, UINT64_C(3) << 24) && !put(IA32_FIXED_CTR_CTRL, 3 << 12));
	cpu.config.fixed = 0x17;
	EXPECT(x86_pmu_config_error(&cpu.config));
}

static void test_metrics(void)
{
	uint64_t value, sum = 0;

	EXPECT(make("icelake"));
	EXPECT(get(IA32_PERF_CAPABILITIES) == (BIT(15) | BIT(14) | BIT(13) | BIT(12) | 0x4c5));
	EXPECT(put(MSR_PERF_METRICS, 5) && get(MSR_PERF_METRICS) == 5);
	EXPECT(put(IA32_FIXED_CTR + 3, 0) && put(IA32_FIXED_CTR_CTRL, 0x2000));
	EXPECT(put(IA32_PERF_GLOBAL_CTRL, BIT(48) | BIT(35)));
	EXPECT(get(IA32_PERF_GLOBAL_CTRL) == (BIT(48) | BIT(35)));
	EXPECT(put(IA32_PERF_GLOBAL_OVF_CTRL, BIT(48)));
	everything_happens();
	EXPECT(get(IA32_FIXED_CTR + 3) == 80);
	/* The first four metrics add up to all slots. */
	value = get(MSR_PERF_METRICS);
	for (unsigned int i = 0; i < 4; i++)
		sum += value >> 8 * i & 0xff;
	EXPECT(sum == 0xff);
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_KERNEL, RDPMC_METRICS, &sum) == X86_PMU_DONE &&
	       sum == value);
	/* Later slots add to written metrics: here half of the slots come from the write. */
	EXPECT(put(IA32_FIXED_CTR + 3, 80) && get(MSR_PERF_METRICS) == 0);
	EXPECT(put(MSR_PERF_METRICS, 0xff) && get(MSR_PERF_METRICS) == 0xff);
	everything_happens();
	EXPECT((get(MSR_PERF_METRICS) & 0xff) == (0xff + (value & 0xff) + 1) / 2);
	EXPECT((get(MSR_PERF_METRICS) >> 16) == ((value >> 16 & 0xff) + 1) / 2 +
	       (((value >> 24) + 1) / 2 << 8));
	EXPECT(put(IA32_FIXED_CTR + 3, 0) && put(MSR_PERF_METRICS, 0));
	EXPECT(get(MSR_PERF_METRICS) == 0);
	/* Ice Lake has no metrics of level 2. */
	EXPECT(!(value >> 32) && !put(MSR_PERF_METRICS, BIT(32)));
	EXPECT(make("sapphire-rapids"));
	EXPECT(put(MSR_PERF_METRICS, BIT(63)) && get(MSR_PERF_METRICS) == BIT(63));
	EXPECT(!put(IA32_FIXED_CTR_CTRL, BIT(14)));

	EXPECT(make("icelake"));

	cpu.config.fixed = 7;
	EXPECT(x86_pmu_config_error(&cpu.config));
	EXPECT(make("skylake"));
	EXPECT(get(IA32_PERF_CAPABILITIES) == (BIT(13) | BIT(12) | 0x3c5));
	EXPECT(!put(MSR_PERF_METRICS, 0) && !put(IA32_PERF_GLOBAL_CTRL, BIT(48)));
	EXPECT(!put(IA32_PERF_GLOBAL_OVF_CTRL, BIT(48)));
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_KERNEL, RDPMC_METRICS, &sum) == X86_PMU_FAULT);
}

/* RDPMC_METRICS_CLEAR: RDPMC of the metrics in user space clears them and the slots. */
static void test_metrics_clear(void)
{
	uint64_t value;

	EXPECT(make("lunar-lake"));
	cpu.config.metrics_clear = true;
	EXPECT(!x86_pmu_config_error(&cpu.config));
	EXPECT(get(IA32_PERF_CAPABILITIES) & BIT(19));
	EXPECT(put(IA32_FIXED_CTR + 3, 0) && put(MSR_PERF_METRICS, 0));
	EXPECT(put(IA32_PERF_GLOBAL_CTRL, BIT(48) | BIT(35)));
	EXPECT(put(IA32_FIXED_CTR_CTRL, 0x2000));
	everything_happens();
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_USER, RDPMC_METRICS, &value) == X86_PMU_DONE);
	EXPECT(value && get(IA32_FIXED_CTR + 3) == 80 && get(MSR_PERF_METRICS) == value);
	EXPECT(put(IA32_FIXED_CTR_CTRL, 0x2000 | BIT(14)));
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_KERNEL, RDPMC_METRICS, &value) == X86_PMU_DONE);
	EXPECT(get(IA32_FIXED_CTR + 3) == 80);
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_USER, RDPMC_METRICS, &value) == X86_PMU_DONE);
	EXPECT(value && !get(IA32_FIXED_CTR + 3) && !get(MSR_PERF_METRICS));
	everything_happens();
	EXPECT(get(IA32_FIXED_CTR + 3) == 80 && get(MSR_PERF_METRICS) == value);

	EXPECT(make("skylake"));
	cpu.config.metrics_clear = true;
	EXPECT(x86_pmu_config_error(&cpu.config));
}

static void test_without_uarch(void)
{
	memset(&cpu, 0, sizeof(cpu));
	x86_pmu_defaults(&cpu.config, X86_PMU_INTEL_V5);
	x86_pmu_init(&cpu.pmu, &cpu.config, &cpu_ops);
	EXPECT(counters_of(0x81d0) == 0xff);
	EXPECT(counters_of(0x148) == 0);

	memset(&cpu, 0, sizeof(cpu));
	x86_pmu_defaults(&cpu.config, X86_PMU_AMD_CORE);
	x86_pmu_init(&cpu.pmu, &cpu.config, &cpu_ops);
	EXPECT(counters_of(0xff03) == 0);
	EXPECT(counters_of(0x77d) == 0x3f);
}

static const struct model_test tests[] = {
	{ "a CPU has the microarchitecture of its family and model", test_models },
	{ "CPUID reports counters and version",		test_cpuid },
	{ "a counter counts only its permitted events",	test_placement },
	{ "Skylake can have more than four counters",	test_one_thread },
	{ "events of a microarchitecture count",	test_counts },
	{ "a misplaced event can count cycles",		test_misplaced },
	{ "AMD: a counter that is not merged saturates", test_saturation },
	{ "AMD: merged counters count large increments", test_merge },
	{ "Alder Lake has two CPU types",		test_hybrid },
	{ "Lunar Lake has leaf 0x23 and fixed counters 4 to 6", test_lunar_lake },
	{ "topdown metrics divide the slots",		test_metrics },
	{ "RDPMC in user space can clear metrics and slots", test_metrics_clear },
	{ "the architecture alone has no constraints",	test_without_uarch },
};

int main(void)
{
	return run_model_tests(tests, ARRAY_SIZE(tests));
}
