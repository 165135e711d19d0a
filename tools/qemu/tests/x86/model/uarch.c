// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the microarchitectures of the virtual x86 PMU, without QEMU: CPU models, events, and
 * event constraints. KTAP on stdout.
 *
 * The expected constraints are taken from perf's pmu-events/arch/x86 ("Counter"). The tables of
 * x86/uarch/intel.c have another source.
 */
#include <stdio.h>
#include <string.h>

#include "common/plugin.h"
#include "tests/model-test.h"
#include "tests/x86/model/ops.h"
#include "x86/registers/model.h"
#include "x86/uarch/uarch.h"

#define USR	X86_PMU_SEL_USR
#define INT	X86_PMU_SEL_INT
#define EN	X86_PMU_SEL_EN
#define CMASK(n)	((uint64_t)(n) << X86_PMU_SEL_CMASK_SHIFT)

#define BIT(n)	(UINT64_C(1) << (n))
#define MASK(n)	(BIT(n) - 1)

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
#define MSR_PEBS_FRONTEND	0x3f7
#define RDPMC_METRICS		0x20000000

#define PERF_CNTR_GLOBAL_STATUS	0xc0000300
#define PERF_CTL(n)		(0xc0010200 + 2 * (n))
#define PERF_CTR(n)		(0xc0010201 + 2 * (n))

/* AMD: bits 11 to 8 of the event's number are bits 35 to 32 of the selector. */
#define AMD_MERGE		UINT64_C(0xf000000ff)
#define AMD_P0_FREQ_CYC		UINT64_C(0x100000120)

/* ---- a CPU with the same count of each kind, except for cycles ---- */

static struct {
	struct x86_pmu_config config;
	struct x86_pmu pmu;
	x86_pmu_counts counts;
	unsigned int interrupts;
} cpu;

static void cpu_read(struct x86_pmu *pmu, x86_pmu_counts counts)
{
	(void)pmu;
	memcpy(counts, cpu.counts, sizeof(cpu.counts));
}

static void cpu_interrupt(struct x86_pmu *pmu)
{
	(void)pmu;
	cpu.interrupts++;
}

static const struct x86_pmu_ops cpu_ops = {
	.read		= cpu_read,
	.watch		= ignore_watch,
	.need		= ignore_need,
	.interrupt	= cpu_interrupt,
	.alarm		= ignore_alarm,
	.record		= ignore_record,
	.single		= ignore_single,
};

static bool make_uarch(const struct x86_uarch *uarch)
{
	memset(&cpu, 0, sizeof(cpu));
	if (!uarch)
		return false;
	x86_pmu_uarch_defaults(&cpu.config, uarch);
	x86_pmu_init(&cpu.pmu, &cpu.config, &cpu_ops);
	return !x86_pmu_config_error(&cpu.config);
}

static bool make(const char *name)
{
	return make_uarch(x86_uarch_find(name));
}

static void happens(enum x86_pmu_kind kind, unsigned int n)
{
	cpu.counts[kind][X86_PMU_USER] += n;
	x86_pmu_check(&cpu.pmu);
}

/* Advance each count by ten, and cycles by twenty. */
static void everything_happens(void)
{
	int kind;

	for (kind = 0; kind < X86_PMU_KINDS; kind++)
		happens(kind, kind == X86_PMU_CYCLES ? 20 : 10);
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

static uint32_t select_of(unsigned int i)
{
	return x86_pmu_is_amd(&cpu.config) ? PERF_CTL(i) : IA32_PERFEVTSEL + i;
}

static uint32_t counter_of(unsigned int i)
{
	return x86_pmu_is_amd(&cpu.config) ? PERF_CTR(i) : IA32_PMC + i;
}

/* Return the count of an event on a counter after everything_happens(). */
static uint64_t counted(unsigned int i, uint64_t event)
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
static uint32_t counters_of(uint64_t event)
{
	uint32_t counters = 0;
	unsigned int i;

	for (i = 0; i < cpu.config.gp; i++)
		if (counted(i, event))
			counters |= 1 << i;
	return counters;
}

/* ---- tests ---- */

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
		{ "alder-lake", 0x00090672 },		/* Core i9-12900K */
		{ "lunar-lake", 0x000b06d1 },		/* Core Ultra 7 258V */
		{ "clearwater-forest", 0x000d06d0 },	/* Xeon 6+ */
		{ "zen1", 0x00800f12 },			/* EPYC 7601 */
		{ "zen2", 0x00830f10 },			/* EPYC 7742 */
		{ "zen3", 0x00a00f11 },			/* EPYC 7763 */
		{ "zen4", 0x00a10f11 },			/* EPYC 9654 */
		{ "zen5", 0x00b00f21 },			/* EPYC 9755 */
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_ROW(rows[i].name, make(rows[i].name));
		EXPECT_ROW(rows[i].name, !strcmp(x86_pmu_name(&cpu.config), rows[i].name));
		for (j = 0; j < ARRAY_SIZE(rows); j++)
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
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
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
	EXPECT(counted(0, 0x4a3 | CMASK(5)) == 0);	/* no part of that name */
	/* fixed-function counter 0 counts instructions */
	EXPECT(put(IA32_FIXED_CTR_CTRL, 2) && put(IA32_PERF_GLOBAL_CTRL, BIT(32)));
	everything_happens();
	EXPECT(get(IA32_FIXED_CTR) == 10);

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
	unsigned int i;

	EXPECT(make("zen2"));
	for (i = 0; i < 6; i++)
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
	EXPECT(counters_of(0x1ae) == 0 && get(IA32_PMC + 6) == 0xdeaddeaddeaddead);

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
	EXPECT(counted(9, 0xc0) == 10 && get(IA32_PMC + 10) == 0xdeaddeaddeaddead);
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
	unsigned int i;

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
	for (i = 0; i < 4; i++)
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

	EXPECT(make("icelake"));

	cpu.config.fixed = 7;
	EXPECT(x86_pmu_config_error(&cpu.config));
	EXPECT(make("skylake"));
	EXPECT(get(IA32_PERF_CAPABILITIES) == (BIT(13) | BIT(12) | 0x3c5));
	EXPECT(!put(MSR_PERF_METRICS, 0) && !put(IA32_PERF_GLOBAL_CTRL, BIT(48)));
	EXPECT(!put(IA32_PERF_GLOBAL_OVF_CTRL, BIT(48)));
	EXPECT(x86_pmu_rdpmc(&cpu.pmu, X86_PMU_KERNEL, RDPMC_METRICS, &sum) == X86_PMU_FAULT);
}

/* Response bits besides "any" on most microarchitectures: each adds one share of the count */
#define SHARES	21

/*
 * Return the count of counter 0 for SHARES times 1 load, 2 stores, 3 cache references, 5 calls and
 * 7 returns
 */
static uint64_t second(uint64_t event, uint32_t msr, uint64_t value)
{
	uint64_t count;

	if (!put(msr, value) || !put(IA32_PMC, 0) || !put(IA32_PERFEVTSEL, EN | USR | event))
		return 0xdeaddeaddeaddead;
	happens(X86_PMU_LOADS, 1 * SHARES);
	happens(X86_PMU_STORES, 2 * SHARES);
	happens(X86_PMU_CACHE_REFS, 3 * SHARES);
	/* One load and one store miss the cache. */
	happens(X86_PMU_LOAD_MISSES, 1);
	happens(X86_PMU_CACHE_MISSES, 2);
	happens(X86_PMU_CALLS, 5 * SHARES);
	happens(X86_PMU_RETURNS, 7 * SHARES);
	count = get(IA32_PMC);
	put(IA32_PERFEVTSEL, 0);
	return count;
}

/* For each pair of the kernel's generic cache events, misses are at most as many as accesses. */
static void test_cache_pairs(void)
{
	/* Linux 6.12: ..._hw_cache_extra_regs[] */
	static const struct {
		const char *uarch;
		uint64_t event;
		uint64_t access;
		uint64_t miss;
	} pairs[] = {
		{ "haswell", 0x1b7, 0x10001, 0x3fb8400001 },
		{ "haswell", 0x1b7, 0x10002, 0x3fb8400002 },
		{ "haswell", 0x1b7, 0x1f80400001, 0x1fb8000001 },
		{ "skylake", 0x1b7, 0x10001, 0x3ffc020001 },
		{ "skylake", 0x1b7, 0x10002, 0x3ffc020002 },
		{ "skylake", 0x1b7, 0x1fc4000001, 0x1ff8000001 },
		{ "sapphire-rapids", 0x12a, 0x10001, 0x3fbfc00001 },
		{ "sapphire-rapids", 0x12a, 0x3f3ffc0002, 0x3f3fc00002 },
		{ "sapphire-rapids", 0x12a, 0x10c000001, 0x3fb3000001 },
		{ "lunar-lake", 0x12a, 0x10001, 0x9e7fa000001 },
		{ "lunar-lake", 0x12a, 0x10002, 0x9e7fa000002 },
	};
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		uint64_t miss, access;

		EXPECT(make(pairs[i].uarch));
		access = second(pairs[i].event, MSR_OFFCORE_RSP_0, pairs[i].access);
		miss = second(pairs[i].event, MSR_OFFCORE_RSP_0, pairs[i].miss);
		EXPECT(miss && miss <= access && access <= 3 * SHARES);
	}
}

/* Values are MSRValue, and names are EventName, of perf's pmu-events. */
static void test_extra_reg(void)
{
	EXPECT(make("skylake"));
	/* OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE, .DEMAND_RFO.ANY_RESPONSE, .OTHER. */
	EXPECT(second(0x1b7, MSR_OFFCORE_RSP_0, 0x10001) == SHARES);
	EXPECT(second(0x1b7, MSR_OFFCORE_RSP_0, 0x10002) == 2 * SHARES);
	EXPECT(second(0x1bb, MSR_OFFCORE_RSP_1, 0x10003) == 3 * SHARES);
	EXPECT(second(0x1b7, MSR_OFFCORE_RSP_0, 0x18000) == 5 * SHARES);
	EXPECT(second(0x1b7, MSR_OFFCORE_RSP_0, 0x30001) == SHARES + 1);
	EXPECT(second(0x1b7, MSR_OFFCORE_RSP_0, 0x10000) == 0);
	EXPECT(second(0x1b7, MSR_OFFCORE_RSP_0, 0x00001) == 0);
	/* the event of the other register */
	EXPECT(put(MSR_OFFCORE_RSP_0, 0x10001));
	EXPECT(second(0x1b7, MSR_OFFCORE_RSP_1, 0x10002) == SHARES);
	/* FRONTEND_RETIRED.DSB_MISS, .STLB_MISS, .LATENCY_GE_1 */
	EXPECT(second(0x1c6, MSR_PEBS_FRONTEND, 0x11) == 7 * SHARES);
	EXPECT(second(0x1c6, MSR_PEBS_FRONTEND, 0x15) == 35 * SHARES);
	EXPECT(second(0x1c6, MSR_PEBS_FRONTEND, 0x400106) == 126 * SHARES);
	/* reserved bits */
	EXPECT(!put(MSR_OFFCORE_RSP_0, BIT(12)) && !put(MSR_OFFCORE_RSP_0, BIT(38)));
	EXPECT(!put(MSR_PEBS_FRONTEND, BIT(3)) && get(MSR_PEBS_FRONTEND) == 0x400106);

	EXPECT(make("sapphire-rapids"));
	EXPECT(second(0x12b, MSR_OFFCORE_RSP_1, 0x10001) == SHARES);
	EXPECT(second(0x1b7, MSR_OFFCORE_RSP_0, 0x10001) == 0);
	/* INT_MISC.UNKNOWN_BRANCH_CYCLES, UOPS_RETIRED.MS: each uses other bits of the register */
	EXPECT(second(0x40ad, MSR_PEBS_FRONTEND, 0x7) == 49 * SHARES);
	EXPECT(second(0x4c2, MSR_PEBS_FRONTEND, 0x8) == 56 * SHARES);
	EXPECT(second(0x4c2, MSR_PEBS_FRONTEND, 0x7) == 0);

	EXPECT(make_uarch(x86_uarch_find("alder-lake")->other));
	EXPECT(second(0x2b7, MSR_OFFCORE_RSP_1, 0x10001) == SHARES && !put(MSR_PEBS_FRONTEND, 0));

	EXPECT(make("lunar-lake"));
	EXPECT(second(0x12a, MSR_OFFCORE_RSP_0, 0x9e7fa000001) == 1);
	EXPECT(second(0x3c6, MSR_PEBS_FRONTEND, 0x14) == 28 * SHARES);
	EXPECT(second(0x40ad, MSR_PEBS_FRONTEND, 0xf) && !put(MSR_OFFCORE_RSP_0, BIT(44)));

	EXPECT(make("haswell"));
	EXPECT(!put(MSR_PEBS_FRONTEND, 0) && put(MSR_OFFCORE_RSP_1, 0x3fffff8fff));
	cpu.config.has_extra_regs = false;
	EXPECT(!put(MSR_OFFCORE_RSP_0, 0) && !put(MSR_OFFCORE_RSP_1, 0));
	EXPECT(second(0x1b7, IA32_PMC, 0) == 0);
	EXPECT(make("zen4"));
	cpu.config.has_extra_regs = true;
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
	{ "extra registers change the counts of events", test_extra_reg },
	{ "cache misses are at most the accesses",	test_cache_pairs },
	{ "the architecture alone has no constraints",	test_without_uarch },
};

int main(void)
{
	return run_model_tests(tests, ARRAY_SIZE(tests));
}
