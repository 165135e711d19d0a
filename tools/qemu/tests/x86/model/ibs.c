// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of instruction-based sampling in the virtual x86 PMU, without QEMU. KTAP on stdout.
 *
 * Numbers of registers and their bits are taken from Linux' driver (msr-index.h, perf_event.h,
 * amd/ibs.h). The model's numbers are taken from the manual.
 */
#include "tests/x86/model/cpu.h"

#define MSR_AMD64_IBSFETCHCTL		0xc0011030
#define MSR_AMD64_IBSFETCHLINAD		0xc0011031
#define MSR_AMD64_IBSOPCTL		0xc0011033
#define MSR_AMD64_IBSOPRIP		0xc0011034
#define MSR_AMD64_IBSOPDATA2		0xc0011036
#define MSR_AMD64_IBSOPDATA3		0xc0011037
#define MSR_AMD64_IBSDCLINAD		0xc0011038
#define MSR_AMD64_IBSCTL		0xc001103a

#define MSR_EFER			0xc0000080
#define EFER_SVME			BIT(12)

#define IBSCTL_LVT_OFFSET_VALID		BIT(8)

#define IBS_FETCH_VAL			BIT(49)
#define IBS_FETCH_ENABLE		BIT(48)
#define IBS_FETCH_CNT			UINT64_C(0xffff0000)

#define IBS_OP_CNT_CTL			BIT(19)
#define IBS_OP_VAL			BIT(18)
#define IBS_OP_ENABLE			BIT(17)
#define IBS_OP_CUR_CNT(n)		((uint64_t)(n) << 32)

/* union ibs_op_data3 */
#define LD_OP				BIT(0)
#define ST_OP				BIT(1)
#define DC_MISS				BIT(7)
#define L2_MISS				BIT(20)
#define DC_LIN_ADDR_VALID		BIT(17)
#define DC_MISS_LAT(data3)		((data3) >> 32 & 0xffff)

#define IBS_DATA_SRC_DRAM		3

#define IP				UINT64_C(0x401000)
/* Latencies of the slowest cache line, and of an L1 hit: see x86-pmu.rst */
#define ADDR_MEMORY			UINT64_C(0x7001c0)
#define ADDR_SECOND_LEVEL		UINT64_C(0x700080)
#define ADDR_FIRST_LEVEL		UINT64_C(0x700000)

static void cpu_sampled(struct x86_pmu *pmu)
{
	(void)pmu;
	cpu.samples++;
}

static const struct x86_pmu_ops cpu_ops = {
	CPU_OPS,
	.watch		= cpu_watch,
	.record		= ignore_record,
	.single		= cpu_single,
	.sampled	= cpu_sampled,
};

static void make(const char *uarch)
{
	memset(&cpu, 0, sizeof(cpu));
	x86_pmu_uarch_defaults(&cpu.config, x86_uarch_find(uarch));
	make_pmu(&cpu_ops);
}

/* Retire instructions of two cycles each, at consecutive addresses from IP + @first on. */
static void run(unsigned int first, unsigned int n, const struct x86_pebs_access *access)
{
	static const struct x86_pebs_access none;

	for (unsigned int i = first; i < first + n; i++) {
		cpu.counts[X86_PMU_INSTRUCTIONS][i & 1]++;
		cpu.counts[X86_PMU_CYCLES][i & 1] += 2;
		x86_pmu_step(&cpu.pmu, IP + i, access ? access : &none);
	}
}

/* ---- tests ---- */

static void test_reported(void)
{
	struct x86_pmu_cpuid regs = { 0 };

	make("zen4");
	x86_pmu_cpuid(&cpu.config, 0x80000001, 0, &regs);
	EXPECT(regs.ecx & BIT(10));
	x86_pmu_cpuid(&cpu.config, 0x8000001b, 0, &regs);
	/* FFV, FetchSam, OpSam, RdWrOpCnt, OpCnt, OpCntExt, RipInvalidChk */
	EXPECT(regs.eax == 0xdf);
	EXPECT(get(MSR_AMD64_IBSCTL) == IBSCTL_LVT_OFFSET_VALID);
	EXPECT(!put(MSR_AMD64_IBSCTL, 0));

	cpu.config.ibs.present = false;
	regs = (struct x86_pmu_cpuid) { .ecx = UINT32_MAX };
	x86_pmu_cpuid(&cpu.config, 0x80000001, 0, &regs);
	EXPECT(!(regs.ecx & BIT(10)));
	EXPECT(x86_pmu_wrmsr(&cpu.pmu, MSR_AMD64_IBSOPCTL, 0) == X86_PMU_NOT_HERE);

	make("skylake");
	cpu.config.ibs.present = true;
	EXPECT(x86_pmu_config_error(&cpu.config));
}

/* IbsOpMaxCnt has bits 4 to 19 of the maximum count, and bits 20 to 26 in place. */
static void test_micro_ops(void)
{
	make("zen3");
	EXPECT(put(MSR_AMD64_IBSOPCTL, IBS_OP_ENABLE | IBS_OP_CNT_CTL | 0x30 >> 4));
	EXPECT(cpu.needed >> X86_PMU_INSTRUCTIONS & 1);
	EXPECT(x86_pmu_near(&cpu.pmu, X86_PMU_USER, 0x2f) && cpu.rings == 3);
	run(0, 0x2f, NULL);
	EXPECT(!cpu.samples && get(MSR_AMD64_IBSOPCTL) >> 32 == 0x2f);
	run(0x2f, 1, NULL);
	EXPECT(cpu.samples == 1 && get(MSR_AMD64_IBSOPCTL) & IBS_OP_VAL && !cpu.interrupts);
	EXPECT(get(MSR_AMD64_IBSOPRIP) == IP + 0x2f && !get(MSR_AMD64_IBSOPDATA3));
	/* The unit does not count until software restarts it. */
	run(0x30, 0x100, NULL);
	EXPECT(cpu.samples == 1 && get(MSR_AMD64_IBSOPRIP) == IP + 0x2f && !cpu.rings);
	EXPECT(put(MSR_AMD64_IBSOPCTL, IBS_OP_CUR_CNT(0x10) | IBS_OP_ENABLE | IBS_OP_CNT_CTL |
		   0x30 >> 4));
	run(0, 0x20, NULL);
	EXPECT(cpu.samples == 2 && get(MSR_AMD64_IBSOPRIP) == IP + 0x1f);
}

static void test_cycles(void)
{
	make("zen1");
	EXPECT(put(MSR_AMD64_IBSOPCTL, IBS_OP_ENABLE | 0x100 >> 4));
	EXPECT(cpu.needed >> X86_PMU_CYCLES & 1);
	run(0, 0x7f, NULL);
	EXPECT(!cpu.samples);
	run(0x7f, 1, NULL);
	EXPECT(cpu.samples == 1 && get(MSR_AMD64_IBSOPRIP) == IP + 0x7f);
}

static void test_near(void)
{
	static const struct x86_pebs_access none;

	make("zen3");
	EXPECT(put(MSR_AMD64_IBSOPCTL, IBS_OP_ENABLE | IBS_OP_CNT_CTL | BIT(20) | 0x10000 >> 4));
	EXPECT(!cpu.rings);
	EXPECT(cpu.distance[X86_PMU_INSTRUCTIONS][X86_PMU_USER] < 0x110000);
	cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER] = 0x110000 - 100;
	EXPECT(x86_pmu_near(&cpu.pmu, X86_PMU_USER, 100) && cpu.rings == 3 && !cpu.samples);
	/* The counted instruction has begun, and has not retired yet. */
	cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER] += 100;
	x86_pmu_check(&cpu.pmu);
	EXPECT(!cpu.samples);
	/* The instruction faults and is taken back: the next one that retires is not tagged. */
	cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER]--;
	x86_pmu_step(&cpu.pmu, IP + 7, &none);
	EXPECT(!cpu.samples);
	run(0, 1, NULL);
	EXPECT(cpu.samples == 1 && get(MSR_AMD64_IBSOPRIP) == IP && !cpu.pmu.ibs.inexact);
}

static void test_access(void)
{
	const struct x86_pebs_access slow = { .loads = true, .load = ADDR_MEMORY };
	const struct x86_pebs_access near = { .loads = true, .load = ADDR_SECOND_LEVEL };
	const struct x86_pebs_access fast = { .stores = true, .store = ADDR_FIRST_LEVEL };
	uint64_t data3;

	make("zen3");
	EXPECT(put(MSR_AMD64_IBSOPCTL, IBS_OP_ENABLE | IBS_OP_CNT_CTL | 1));
	run(0, 16, &slow);
	data3 = get(MSR_AMD64_IBSOPDATA3);
	EXPECT((data3 & (LD_OP | ST_OP | DC_MISS | L2_MISS | DC_LIN_ADDR_VALID)) ==
	       (LD_OP | DC_MISS | L2_MISS | DC_LIN_ADDR_VALID));
	EXPECT(DC_MISS_LAT(data3) == 230 && get(MSR_AMD64_IBSOPDATA2) == IBS_DATA_SRC_DRAM);
	EXPECT(get(MSR_AMD64_IBSDCLINAD) == ADDR_MEMORY);

	EXPECT(put(MSR_AMD64_IBSOPCTL, IBS_OP_ENABLE | IBS_OP_CNT_CTL | 1));
	run(0, 16, &fast);
	EXPECT(get(MSR_AMD64_IBSOPDATA3) == (ST_OP | DC_LIN_ADDR_VALID));
	EXPECT(!get(MSR_AMD64_IBSOPDATA2) && get(MSR_AMD64_IBSDCLINAD) == ADDR_FIRST_LEVEL);

	EXPECT(put(MSR_AMD64_IBSOPCTL, IBS_OP_ENABLE | IBS_OP_CNT_CTL | 1));
	run(0, 16, &near);
	EXPECT((get(MSR_AMD64_IBSOPDATA3) & (DC_MISS | L2_MISS)) == DC_MISS);
	EXPECT(!get(MSR_AMD64_IBSOPDATA2));
	EXPECT(cpu.samples == 3);
}

static void test_fetches(void)
{
	make("zen2");
	EXPECT(put(MSR_AMD64_IBSFETCHCTL, IBS_FETCH_ENABLE | 0x40 >> 4));
	run(0, 0x20, NULL);
	EXPECT((get(MSR_AMD64_IBSFETCHCTL) & IBS_FETCH_CNT) >> 16 == 0x20 >> 4);
	run(0x20, 0x20, NULL);
	EXPECT(cpu.samples == 1 && get(MSR_AMD64_IBSFETCHCTL) & IBS_FETCH_VAL);
	EXPECT(get(MSR_AMD64_IBSFETCHLINAD) == IP + 0x3f);
}

/* Software disables the unit when the tag is due. */
static void test_stopped(void)
{
	make("zen3");
	EXPECT(put(MSR_AMD64_IBSOPCTL, IBS_OP_ENABLE | IBS_OP_CNT_CTL | 1));
	cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_KERNEL] += 16;
	EXPECT(put(MSR_AMD64_IBSOPCTL, IBS_OP_CNT_CTL | 1));
	run(0, 100, NULL);
	EXPECT(!cpu.samples && !(get(MSR_AMD64_IBSOPCTL) & IBS_OP_VAL));
	/* A maximum count of 0 disables the unit. */
	EXPECT(put(MSR_AMD64_IBSOPCTL, IBS_OP_ENABLE | IBS_OP_CNT_CTL));
	run(0, 100, NULL);
	EXPECT(!cpu.samples);
}

/* IBS counts guests, too. */
static void test_guests(void)
{
	make("zen3");
	EXPECT(x86_pmu_wrmsr(&cpu.pmu, MSR_EFER, EFER_SVME) == X86_PMU_NOT_HERE);
	EXPECT(put(MSR_AMD64_IBSOPCTL, IBS_OP_ENABLE | IBS_OP_CNT_CTL | 0x30 >> 4));
	EXPECT(x86_pmu_near(&cpu.pmu, X86_PMU_USER, 0x2f) && cpu.rings == X86_PMU_ALL_RINGS);
	cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_GUEST_USER] += 0x10;
	cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_GUEST_KERNEL] += 0x10;
	x86_pmu_check(&cpu.pmu);
	run(0x20, 0x10, NULL);
	EXPECT(cpu.samples == 1);
}

static void test_late(void)
{
	make("zen3");
	cpu.config.ibs.late = 1;
	EXPECT(put(MSR_AMD64_IBSOPCTL, IBS_OP_ENABLE | IBS_OP_CNT_CTL | 1));
	run(0, 16, NULL);
	EXPECT(!cpu.samples);
	run(16, 1, NULL);
	EXPECT(cpu.samples == 1 && get(MSR_AMD64_IBSOPRIP) == IP + 16);
	cpu.config.ibs.present = false;
	EXPECT(x86_pmu_config_error(&cpu.config));
}

static const struct model_test tests[] = {
	{ "CPUID reports instruction-based sampling", test_reported },
	{ "micro-ops are tagged at the maximum count", test_micro_ops },
	{ "cycles are tagged at the maximum count", test_cycles },
	{ "each instruction is reported near a tag", test_near },
	{ "samples show the accesses of the instruction", test_access },
	{ "fetches are tagged at the maximum count", test_fetches },
	{ "a unit disabled before its tag takes no sample", test_stopped },
	{ "instructions of guests are tagged",	test_guests },
	{ "fault: a late sample shows the next instruction", test_late },
};

int main(void)
{
	return run_model_tests(tests, ARRAY_SIZE(tests));
}
