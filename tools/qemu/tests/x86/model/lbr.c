// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of LBR in the virtual x86 PMU, without QEMU. KTAP on stdout.
 *
 * Numbers of registers and bits are taken from perf's and Linux' headers (msr-index.h,
 * perf_event.h). The model's numbers are taken from the manuals.
 */
#include "tests/x86/model/cpu.h"

#define IA32_PERFEVTSEL0		0x186
#define MSR_LBR_SELECT			0x1c8
#define MSR_LBR_TOS			0x1c9
#define IA32_DEBUGCTL			0x1d9
#define IA32_PERF_CAPABILITIES		0x345
#define IA32_PERF_GLOBAL_STATUS		0x38e
#define IA32_PERF_GLOBAL_CTRL		0x38f
#define IA32_PERF_GLOBAL_OVF_CTRL	0x390
#define IA32_PERF_GLOBAL_STATUS_SET	0x391
#define IA32_PMC0			0x4c1
#define MSR_LBR_NHM_FROM		0x680
#define MSR_LBR_NHM_TO			0x6c0
#define MSR_LBR_INFO_0			0xdc0
#define MSR_ARCH_LBR_INFO_0		0x1200
#define MSR_ARCH_LBR_CTL		0x14ce
#define MSR_ARCH_LBR_DEPTH		0x14cf
#define MSR_ARCH_LBR_FROM_0		0x1500
#define MSR_ARCH_LBR_TO_0		0x1600
#define MSR_AMD64_LBR_SELECT		0xc000010e
#define MSR_AMD_DBG_EXTN_CFG		0xc000010f
#define AMD_GLOBAL_STATUS		0xc0000300
#define AMD_GLOBAL_CTL			0xc0000301
#define AMD_GLOBAL_STATUS_CLR		0xc0000302
#define AMD_PERF_CTL0			0xc0010200
#define AMD_PERF_CTR0			0xc0010201
#define MSR_AMD_SAMP_BR_FROM		0xc0010300

#define DEBUGCTLMSR_LBR			BIT(0)
#define DEBUGCTLMSR_FREEZE_LBRS_ON_PMI	BIT(11)
#define LBRS_FROZEN			BIT(58)

#define LBR_KERNEL			BIT(0)
#define LBR_USER			BIT(1)
#define LBR_CALL_STACK			BIT(9)

#define ARCH_LBR_CTL_LBREN		BIT(0)
#define ARCH_LBR_CTL_CPL_OS		BIT(1)
#define ARCH_LBR_CTL_CPL_USR		BIT(2)
#define ARCH_LBR_CTL_STACK		BIT(3)
#define ARCH_LBR_CTL_FILTER		(UINT64_C(0x7f) << 16)
#define ARCH_LBR_CTL_ALL		(ARCH_LBR_CTL_LBREN | ARCH_LBR_CTL_CPL_OS | \
					 ARCH_LBR_CTL_CPL_USR | ARCH_LBR_CTL_FILTER)
#define DBG_EXTN_CFG_LBRV2EN		BIT(6)
#define MSR_EFER			0xc0000080
#define EFER_SVME			BIT(12)

/* ---- a CPU with branches that tests take ---- */

static uint64_t cycles(void)
{
	return cpu.counts[X86_PMU_CYCLES][X86_PMU_USER];
}

static uint64_t cpu_record(struct x86_pmu *pmu, unsigned int rings)
{
	(void)pmu;
	cpu.rings = rings;
	return cycles();
}

static const struct x86_pmu_ops cpu_ops = {
	CPU_OPS,
	.watch		= cpu_watch,
	.record		= cpu_record,
};

static void make(const char *uarch)
{
	memset(&cpu, 0, sizeof(cpu));
	x86_pmu_uarch_defaults(&cpu.config, x86_uarch_find(uarch));
	make_pmu(&cpu_ops);
}

static void make_without_lbr(void)
{
	memset(&cpu, 0, sizeof(cpu));
	x86_pmu_uarch_defaults(&cpu.config, x86_uarch_find("haswell"));
	cpu.config.lbr = (struct x86_lbr_config) { .kind = X86_LBR_NONE };
	make_pmu(&cpu_ops);
}

static bool is_wanted(bool kernel)
{
	return cpu.rings >> (kernel ? X86_PMU_KERNEL : X86_PMU_USER) & 1;
}

static void branch(enum x86_lbr_type type, uint64_t from, uint64_t to, bool kernel)
{
	const struct x86_lbr_branch b = {
		.from = from, .to = to, .type = type, .kernel = kernel, .next = to == from + 5,
		.cycles = cycles(),
	};

	if (is_wanted(kernel))
		x86_pmu_branch(&cpu.pmu, &b);
}

/* Take conditional branches of user space, from @first on. */
static void branches(uint64_t first, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		branch(X86_LBR_CONDITIONAL, first + i, first + i + 0x1000, false);
}

/* Have counter 0 count instructions in user space, close to its overflow. */
static void overflow(uint32_t select, uint32_t counter, uint32_t global)
{
	EXPECT(put(select, X86_PMU_SEL_USR | X86_PMU_SEL_INT | X86_PMU_SEL_EN | 0xc0));
	EXPECT(put(counter, BIT(48) - 1));
	EXPECT(put(global, 1));
	cpu.counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER]++;
	x86_pmu_check(&cpu.pmu);
}

static void overflow_intel(void)
{
	overflow(IA32_PERFEVTSEL0, IA32_PMC0, IA32_PERF_GLOBAL_CTRL);
}

/* ---- tests ---- */

static void test_reported(void)
{
	struct x86_pmu_cpuid regs = { 0 };

	make("skylake");
	EXPECT((get(IA32_PERF_CAPABILITIES) & 0x3f) == 5);
	x86_pmu_cpuid(&cpu.config, 7, 0, &regs);
	EXPECT(!regs.edx);
	EXPECT(get(MSR_LBR_NHM_FROM + 31) == 0 && get(MSR_LBR_TOS) == 0);
	EXPECT(lacks(0x40) && lacks(0x67));
	EXPECT(lacks(MSR_ARCH_LBR_CTL));
	EXPECT(!put(MSR_LBR_SELECT, BIT(10)) && !put(MSR_LBR_TOS, 32));

	make("haswell");
	EXPECT((get(IA32_PERF_CAPABILITIES) & 0x3f) == 4);
	EXPECT(get(MSR_LBR_NHM_TO + 15) == 0 && lacks(MSR_LBR_NHM_FROM + 16));
	EXPECT(lacks(MSR_LBR_INFO_0));
	EXPECT(put(MSR_LBR_SELECT, LBR_CALL_STACK) && !put(MSR_LBR_TOS, 16));

	make("sapphire-rapids");
	x86_pmu_cpuid(&cpu.config, 7, 0, &regs);
	EXPECT(regs.edx == BIT(19));
	x86_pmu_cpuid(&cpu.config, 0x1c, 0, &regs);
	EXPECT(regs.eax == 0xb && regs.ebx == 7 && regs.ecx == 7 && !regs.edx);
	regs = (struct x86_pmu_cpuid) { .eax = 0xa };
	x86_pmu_cpuid(&cpu.config, 0, 0, &regs);
	EXPECT(regs.eax == 0x1c);
	EXPECT(lacks(MSR_LBR_SELECT));
	EXPECT(!put(MSR_ARCH_LBR_CTL, BIT(4)) && !put(MSR_ARCH_LBR_DEPTH, 0));
	EXPECT(!put(MSR_ARCH_LBR_DEPTH, 24) && !put(MSR_ARCH_LBR_DEPTH, 12));
	EXPECT(!put(MSR_ARCH_LBR_DEPTH, 64) && get(MSR_ARCH_LBR_DEPTH) == 32);

	make("zen4");
	regs = (struct x86_pmu_cpuid) { 0 };
	x86_pmu_cpuid(&cpu.config, 0x80000022, 0, &regs);
	EXPECT((regs.eax & 6) == 6 && (regs.ebx >> 4 & 0x3f) == 16);
	EXPECT(get(MSR_AMD_SAMP_BR_FROM + 31) == 0 && !put(MSR_AMD64_LBR_SELECT, BIT(9)));

	/* If the PMU lacks LBR, QEMU handles the registers. */
	make("zen3");
	EXPECT(x86_pmu_wrmsr(&cpu.pmu, MSR_AMD64_LBR_SELECT, 0) == X86_PMU_NOT_HERE);
	make_without_lbr();
	EXPECT(x86_pmu_wrmsr(&cpu.pmu, MSR_LBR_NHM_FROM, 0) == X86_PMU_NOT_HERE);
	EXPECT((get(IA32_PERF_CAPABILITIES) & 0x3f) == 0);
}

static void test_config(void)
{
	make("skylake");
	cpu.config.full_width = false;
	EXPECT(x86_pmu_config_error(&cpu.config));
	make("skylake");
	cpu.config.lbr.kind = X86_LBR_AMD;
	EXPECT(x86_pmu_config_error(&cpu.config));
	make("skylake");
	cpu.config.lbr.depth = 16;
	EXPECT(x86_pmu_config_error(&cpu.config));
	make("sapphire-rapids");
	cpu.config.lbr.depth = 16;
	EXPECT(!x86_pmu_config_error(&cpu.config));
	cpu.config.lbr.depth = 24;
	EXPECT(x86_pmu_config_error(&cpu.config));
	make("zen3");
	cpu.config.lbr.kind = X86_LBR_AMD;
	cpu.config.lbr.depth = 16;
	EXPECT(x86_pmu_config_error(&cpu.config));
	make_without_lbr();
	cpu.config.lbr.unfrozen = true;
	EXPECT(x86_pmu_config_error(&cpu.config));
}

static void test_ring(void)
{
	make("skylake");
	branches(1, 1);
	EXPECT(get(MSR_LBR_NHM_FROM + 1) == 0);
	EXPECT(put(MSR_LBR_SELECT, LBR_KERNEL) && put(IA32_DEBUGCTL, DEBUGCTLMSR_LBR));
	EXPECT(cpu.rings == 1 << X86_PMU_USER);
	EXPECT(cpu.needed & X86_PMU_KIND_BIT(X86_PMU_RECORDS));
	branches(100, 1);
	EXPECT(get(MSR_LBR_TOS) == 1);
	EXPECT(get(MSR_LBR_NHM_FROM + 1) == 100 && get(MSR_LBR_NHM_TO + 1) == 0x1064);
	branches(200, 32);
	EXPECT(get(MSR_LBR_TOS) == 1 && get(MSR_LBR_NHM_FROM + 1) == 231);
	EXPECT(get(MSR_LBR_NHM_FROM + 2) == 200 && get(MSR_LBR_NHM_FROM) == 230);
	/* Software can write records, and the position in the ring. */
	EXPECT(put(MSR_LBR_TOS, 9) && put(MSR_LBR_NHM_FROM + 10, 7));
	EXPECT(get(MSR_LBR_NHM_FROM + 10) == 7);
	branches(300, 1);
	EXPECT(get(MSR_LBR_NHM_FROM + 10) == 300);
	EXPECT(put(IA32_DEBUGCTL, 0) && !cpu.rings);
}

static void test_filter(void)
{
	/* Linux' names: lbr_sel_map of events/intel/lbr.c, ARCH_LBR_*_BIT */
	static const struct {
		enum x86_lbr_type type;
		unsigned int select;
		unsigned int ctl;
	} rows[] = {
		{ X86_LBR_CONDITIONAL,	 2, 16 },	/* LBR_JCC */
		{ X86_LBR_CALL,		 3, 19 },	/* LBR_REL_CALL */
		{ X86_LBR_INDIRECT_CALL, 4, 20 },	/* LBR_IND_CALL */
		{ X86_LBR_RETURN,	 5, 21 },	/* LBR_RETURN */
		{ X86_LBR_INDIRECT_JUMP, 6, 18 },	/* LBR_IND_JMP */
		{ X86_LBR_JUMP,		 7, 17 },	/* LBR_REL_JMP */
		{ X86_LBR_OTHER,	 8, 22 },	/* LBR_FAR */
	};
	size_t j;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		make("skylake");
		EXPECT(put(MSR_LBR_SELECT, BIT(rows[i].select)));
		EXPECT(put(IA32_DEBUGCTL, DEBUGCTLMSR_LBR) && cpu.rings == 3);
		for (j = 0; j < ARRAY_SIZE(rows); j++)
			branch(rows[j].type, 1, 2, j & 1);
		EXPECT(get(MSR_LBR_TOS) == ARRAY_SIZE(rows) - 1);
		branch(rows[i].type, 77, 88, true);
		EXPECT(get(MSR_LBR_TOS) == ARRAY_SIZE(rows) - 1);

		make("sapphire-rapids");
		EXPECT(put(MSR_ARCH_LBR_CTL, ARCH_LBR_CTL_LBREN | ARCH_LBR_CTL_CPL_OS |
					     ARCH_LBR_CTL_CPL_USR | BIT(rows[i].ctl)));
		for (j = 0; j < ARRAY_SIZE(rows); j++)
			branch(rows[j].type, rows[j].type + 10, 2, j & 1);
		EXPECT(get(MSR_ARCH_LBR_FROM_0) == (uint64_t)rows[i].type + 10);
		EXPECT(get(MSR_ARCH_LBR_FROM_0 + 1) == 0);
		EXPECT((get(MSR_ARCH_LBR_INFO_0) >> 56 & 0xf) == (uint64_t)rows[i].type);

		make("zen4");
		EXPECT(put(MSR_AMD64_LBR_SELECT, BIT(rows[i].select)));
		EXPECT(put(MSR_AMD_DBG_EXTN_CFG, DBG_EXTN_CFG_LBRV2EN) && cpu.rings == 3);
		for (j = 0; j < ARRAY_SIZE(rows); j++)
			branch(rows[j].type, rows[j].type + 1, 2, j & 1);
		for (j = 0; j < ARRAY_SIZE(rows); j++)
			EXPECT(get(MSR_AMD_SAMP_BR_FROM + 2 * j) != (uint64_t)rows[i].type + 1);
		EXPECT(get(MSR_AMD_SAMP_BR_FROM + 2 * 5) && !get(MSR_AMD_SAMP_BR_FROM + 2 * 6));
	}
}

static void test_rings(void)
{
	make("zen4");
	EXPECT(put(MSR_AMD_DBG_EXTN_CFG, DBG_EXTN_CFG_LBRV2EN));
	EXPECT(put(MSR_AMD64_LBR_SELECT, LBR_USER) && cpu.rings == 1 << X86_PMU_KERNEL);
	EXPECT(put(MSR_AMD64_LBR_SELECT, LBR_USER | LBR_KERNEL) && !cpu.rings);
	EXPECT(put(MSR_AMD64_LBR_SELECT, 0) && cpu.rings == 3);
	EXPECT(put(MSR_AMD_DBG_EXTN_CFG, 0) && !cpu.rings);

	/* LbrExtV2 does not distinguish guests from the host. */
	EXPECT(put(MSR_AMD_DBG_EXTN_CFG, DBG_EXTN_CFG_LBRV2EN) && cpu.rings == 3);
	EXPECT(x86_pmu_wrmsr(&cpu.pmu, MSR_EFER, EFER_SVME) == X86_PMU_NOT_HERE);
	EXPECT(cpu.rings == X86_PMU_ALL_RINGS);
	EXPECT(put(MSR_AMD64_LBR_SELECT, LBR_USER));
	EXPECT(cpu.rings == (1 << X86_PMU_KERNEL | 1 << X86_PMU_GUEST_KERNEL));
	branch(X86_LBR_JUMP, 0x1000, 0x2000, true);
	EXPECT(get(MSR_AMD_SAMP_BR_FROM) == 0x1000);
	EXPECT(x86_pmu_wrmsr(&cpu.pmu, MSR_EFER, 0) == X86_PMU_NOT_HERE);
	EXPECT(cpu.rings == 1 << X86_PMU_KERNEL);

	make("sapphire-rapids");
	EXPECT(put(MSR_ARCH_LBR_CTL, ARCH_LBR_CTL_ALL & ~ARCH_LBR_CTL_CPL_OS));
	EXPECT(cpu.rings == 1 << X86_PMU_USER);
	EXPECT(put(MSR_ARCH_LBR_CTL, ARCH_LBR_CTL_ALL & ~ARCH_LBR_CTL_CPL_USR));
	EXPECT(cpu.rings == 1 << X86_PMU_KERNEL);
	EXPECT(put(MSR_ARCH_LBR_CTL, ARCH_LBR_CTL_ALL & ~ARCH_LBR_CTL_LBREN) && !cpu.rings);
	EXPECT(put(MSR_ARCH_LBR_CTL, ARCH_LBR_CTL_ALL) && cpu.rings == 3);
	x86_pmu_reset(&cpu.pmu);
	EXPECT(!cpu.rings && get(MSR_ARCH_LBR_CTL) == 0);
}

static void test_depth(void)
{
	make("sapphire-rapids");
	EXPECT(put(MSR_ARCH_LBR_CTL, ARCH_LBR_CTL_ALL));
	branches(100, 20);
	EXPECT(get(MSR_ARCH_LBR_FROM_0) == 119 && get(MSR_ARCH_LBR_FROM_0 + 19) == 100);
	EXPECT(put(MSR_ARCH_LBR_DEPTH, 8) && get(MSR_ARCH_LBR_DEPTH) == 8);
	EXPECT(get(MSR_ARCH_LBR_FROM_0) == 0 && get(MSR_ARCH_LBR_TO_0 + 1) == 0);
	branches(200, 20);
	EXPECT(get(MSR_ARCH_LBR_FROM_0) == 219 && get(MSR_ARCH_LBR_FROM_0 + 7) == 212);
	EXPECT(put(MSR_ARCH_LBR_FROM_0 + 8, 5) && get(MSR_ARCH_LBR_FROM_0 + 8) == 0);
	/* The records keep eight of twelve calls; four are left after the returns. */
	EXPECT(put(MSR_ARCH_LBR_DEPTH, 8));
	EXPECT(put(MSR_ARCH_LBR_CTL, ARCH_LBR_CTL_ALL | ARCH_LBR_CTL_STACK));
	for (unsigned int i = 0; i < 12; i++)
		branch(X86_LBR_CALL, i + 1, 1000, false);
	for (unsigned int i = 0; i < 4; i++)
		branch(X86_LBR_RETURN, 1000, 1, false);
	EXPECT(get(MSR_ARCH_LBR_FROM_0) == 8 && get(MSR_ARCH_LBR_FROM_0 + 3) == 5);
	EXPECT(get(MSR_ARCH_LBR_FROM_0 + 4) == 0 && get(MSR_ARCH_LBR_FROM_0 + 7) == 0);
}

static void test_information(void)
{
	struct x86_lbr_branch b = {
		.from = UINT64_C(0xffffffff81000000), .to = 0x1000,
		.type = X86_LBR_CONDITIONAL, .mispredicted = true, .cycles = 107,
	};

	make("skylake");
	cpu.counts[X86_PMU_CYCLES][X86_PMU_USER] = 100;
	EXPECT(put(IA32_DEBUGCTL, DEBUGCTLMSR_LBR));
	x86_pmu_branch(&cpu.pmu, &b);
	EXPECT(get(MSR_LBR_INFO_0 + 1) == (BIT(63) | 7));
	EXPECT(get(MSR_LBR_NHM_FROM + 1) == b.from);
	b.cycles += 0x12345;
	b.mispredicted = false;
	x86_pmu_branch(&cpu.pmu, &b);
	EXPECT(get(MSR_LBR_INFO_0 + 2) == 0xffff);

	/* LBR_FORMAT_EIP_FLAGS2; lbr_from_signext_quirk_wr() and _rd() */
	make("haswell");
	EXPECT(put(IA32_DEBUGCTL, DEBUGCTLMSR_LBR));
	x86_pmu_branch(&cpu.pmu, &b);
	EXPECT(get(MSR_LBR_NHM_FROM + 1) == UINT64_C(0x1fffffff81000000));
	b.mispredicted = true;
	x86_pmu_branch(&cpu.pmu, &b);
	EXPECT(get(MSR_LBR_NHM_FROM + 2) == UINT64_C(0x9fffffff81000000));
	EXPECT(get(MSR_LBR_NHM_TO + 2) == b.to);
	EXPECT(!put(MSR_LBR_NHM_FROM + 2, UINT64_C(0x9fffffff81000000)));
	EXPECT(put(MSR_LBR_NHM_FROM + 2, UINT64_C(0xffffffff81000000)));
	EXPECT(put(MSR_LBR_NHM_FROM + 2, UINT64_C(0x7fffffff81000000)));
	EXPECT(put(MSR_LBR_NHM_FROM + 2, BIT(63) | 0x1000));

	b.mispredicted = false;
	make("sapphire-rapids");
	EXPECT(put(MSR_ARCH_LBR_CTL, ARCH_LBR_CTL_ALL));
	b.cycles = 9;
	b.type = X86_LBR_RETURN;
	x86_pmu_branch(&cpu.pmu, &b);
	EXPECT(get(MSR_ARCH_LBR_INFO_0) == (BIT(60) | UINT64_C(5) << 56 | 9));

	/* spec and valid, mispredicted; addresses have 58 bits */
	make("zen4");
	EXPECT(put(MSR_AMD_DBG_EXTN_CFG, DBG_EXTN_CFG_LBRV2EN));
	b.type = X86_LBR_CONDITIONAL;
	x86_pmu_branch(&cpu.pmu, &b);
	EXPECT(get(MSR_AMD_SAMP_BR_FROM) == UINT64_C(0x3ffffff81000000));
	EXPECT(get(MSR_AMD_SAMP_BR_FROM + 1) == (BIT(63) | BIT(62) | 0x1000));
	b.mispredicted = true;
	x86_pmu_branch(&cpu.pmu, &b);
	EXPECT(get(MSR_AMD_SAMP_BR_FROM) == (BIT(63) | UINT64_C(0x3ffffff81000000)));
	EXPECT(get(MSR_AMD_SAMP_BR_FROM + 1) == (BIT(63) | 0x1000));
}

static void test_call_stack(void)
{
	make("skylake");
	EXPECT(put(MSR_LBR_SELECT, LBR_KERNEL | LBR_CALL_STACK | BIT(2) | BIT(6) | BIT(7)));
	EXPECT(put(IA32_DEBUGCTL, DEBUGCTLMSR_LBR));
	branch(X86_LBR_CALL, 100, 200, false);
	branch(X86_LBR_CALL, 210, 215, false);		/* call of the next instruction */
	branch(X86_LBR_CONDITIONAL, 216, 218, false);
	branch(X86_LBR_OTHER, 217, 219, false);
	branch(X86_LBR_INDIRECT_CALL, 220, 300, false);
	EXPECT(get(MSR_LBR_TOS) == 2 && get(MSR_LBR_NHM_FROM + 2) == 220);
	branch(X86_LBR_RETURN, 301, 225, false);
	EXPECT(get(MSR_LBR_TOS) == 1 && get(MSR_LBR_NHM_FROM + 1) == 100);
	EXPECT(!get(MSR_LBR_NHM_FROM + 2) && !get(MSR_LBR_NHM_TO + 2));
	/* More returns than calls: the position wraps backwards. */
	branch(X86_LBR_RETURN, 1, 2, false);
	branch(X86_LBR_RETURN, 1, 2, false);
	EXPECT(get(MSR_LBR_TOS) == 31);
	for (unsigned int i = 0; i < 32; i++)
		EXPECT(!get(MSR_LBR_NHM_FROM + i));
}

static void test_freeze(void)
{
	/* Before version 4, a freeze clears the enable bit of LBR. */
	make("skylake");
	cpu.config.version = X86_PMU_INTEL_V2;
	EXPECT(put(IA32_DEBUGCTL, DEBUGCTLMSR_LBR | DEBUGCTLMSR_FREEZE_LBRS_ON_PMI));
	overflow_intel();
	EXPECT(cpu.interrupts == 1 && !cpu.rings);
	EXPECT(get(IA32_DEBUGCTL) == DEBUGCTLMSR_FREEZE_LBRS_ON_PMI);
	EXPECT(get(IA32_PERF_GLOBAL_STATUS) == 1);

	/* From version 4 on, a freeze sets a status bit; LBR continues when it is cleared. */
	make("skylake");
	EXPECT(put(IA32_DEBUGCTL, DEBUGCTLMSR_LBR | DEBUGCTLMSR_FREEZE_LBRS_ON_PMI));
	overflow_intel();
	EXPECT(cpu.interrupts == 1 && !cpu.rings);
	EXPECT(get(IA32_PERF_GLOBAL_STATUS) == (LBRS_FROZEN | 1));
	EXPECT(put(IA32_PERF_GLOBAL_OVF_CTRL, 1) && !cpu.rings);
	EXPECT(put(IA32_PERF_GLOBAL_OVF_CTRL, LBRS_FROZEN) && cpu.rings == 3);
	EXPECT(put(IA32_PERF_GLOBAL_STATUS_SET, LBRS_FROZEN) && !cpu.rings);

	make("sapphire-rapids");
	EXPECT(put(MSR_ARCH_LBR_CTL, ARCH_LBR_CTL_ALL) && put(IA32_DEBUGCTL, 0));
	overflow_intel();
	EXPECT(cpu.interrupts == 1 && cpu.rings == 3);
	EXPECT(put(IA32_DEBUGCTL, DEBUGCTLMSR_FREEZE_LBRS_ON_PMI));
	overflow_intel();
	EXPECT(cpu.interrupts == 2 && !cpu.rings);

	make("zen4");
	EXPECT(put(MSR_AMD_DBG_EXTN_CFG, DBG_EXTN_CFG_LBRV2EN));
	EXPECT(put(IA32_DEBUGCTL, DEBUGCTLMSR_FREEZE_LBRS_ON_PMI));
	overflow(AMD_PERF_CTL0, AMD_PERF_CTR0, AMD_GLOBAL_CTL);
	EXPECT(!cpu.rings && get(AMD_GLOBAL_STATUS) == (LBRS_FROZEN | 1));
	EXPECT(put(AMD_GLOBAL_STATUS_CLR, LBRS_FROZEN) && cpu.rings == 3);
}

static void test_faults(void)
{
	make("skylake");
	cpu.config.lbr.lose = 3;
	EXPECT(put(IA32_DEBUGCTL, DEBUGCTLMSR_LBR));
	branches(1, 4);
	EXPECT(get(MSR_LBR_TOS) == 3 && get(MSR_LBR_NHM_FROM + 3) == 4);

	make("skylake");
	cpu.config.lbr.tear = 2;
	EXPECT(put(IA32_DEBUGCTL, DEBUGCTLMSR_LBR));
	branches(1, 3);
	EXPECT(get(MSR_LBR_NHM_FROM + 2) == 2 && get(MSR_LBR_NHM_TO + 2) == 0x1001);
	EXPECT(get(MSR_LBR_NHM_TO + 3) == 0x1003);

	make("skylake");
	cpu.config.lbr.unfrozen = true;
	EXPECT(put(IA32_DEBUGCTL, DEBUGCTLMSR_LBR | DEBUGCTLMSR_FREEZE_LBRS_ON_PMI));
	overflow_intel();
	EXPECT(get(IA32_PERF_GLOBAL_STATUS) == (LBRS_FROZEN | 1) && cpu.rings == 3);
}

/* Return the youngest record's event counts: LBR_INFO_BR_CNTR_OFFSET and _FULL_MASK of Linux. */
static uint64_t counts(void)
{
	return get(MSR_ARCH_LBR_INFO_0) >> 32 & 0xff;
}

static void happens(enum x86_pmu_kind kind, unsigned int n)
{
	cpu.counts[kind][X86_PMU_USER] += n;
}

/* Advance counts since the last record, and then take a branch. */
static uint64_t counts_after(unsigned int instructions, unsigned int mispredicted)
{
	happens(X86_PMU_INSTRUCTIONS, instructions);
	happens(X86_PMU_MISPREDICTED, mispredicted);
	branch(X86_LBR_JUMP, 1, 2, false);
	return counts();
}

static void test_counts(void)
{
	const uint64_t counting = X86_PMU_SEL_USR | X86_PMU_SEL_EN;
	const uint64_t log = BIT(35);	/* ARCH_PERFMON_EVENTSEL_BR_CNTR */
	struct x86_pmu_cpuid regs = { 0 };

	make("sapphire-rapids");
	EXPECT(!put(IA32_PERFEVTSEL0, log));
	cpu.config.lbr.counters = 0xe;
	EXPECT(!x86_pmu_config_error(&cpu.config));
	x86_pmu_cpuid(&cpu.config, 0x1c, 0, &regs);
	EXPECT(regs.ecx == 0xe0007);
	EXPECT(!put(IA32_PERFEVTSEL0, log) && put(IA32_PERFEVTSEL0 + 3, log));
	EXPECT(!put(IA32_PERFEVTSEL0 + 4, log));

	EXPECT(put(IA32_PERFEVTSEL0 + 1, counting | log | 0xc0));
	EXPECT(put(IA32_PERFEVTSEL0 + 2, counting | 0xc0));
	EXPECT(put(IA32_PERFEVTSEL0 + 3, counting | log | 0xc5));
	EXPECT(put(IA32_PERF_GLOBAL_CTRL, 0xe));
	EXPECT(put(MSR_ARCH_LBR_CTL, ARCH_LBR_CTL_LBREN | ARCH_LBR_CTL_CPL_USR | BIT(17)));
	EXPECT(counts_after(2, 0) == 0x08);
	EXPECT(counts_after(3, 1) == 0x4c);
	EXPECT(counts_after(1000, 2) == 0x8c);
	EXPECT(counts_after(0, 0) == 0);
	/* Counts before a branch that is not recorded belong to the next record. */
	happens(X86_PMU_INSTRUCTIONS, 1);
	branch(X86_LBR_CALL, 1, 2, false);
	EXPECT(counts_after(1, 0) == 0x08);
	/* A read of the counters in between changes no count of a record. */
	happens(X86_PMU_INSTRUCTIONS, 1);
	EXPECT(get(IA32_PMC0 + 1) == 1008);
	EXPECT(counts_after(1, 0) == 0x08);
	EXPECT(get(IA32_PMC0 + 1) == 1009 && counts_after(0, 0) == 0);
	/* Neither does a stop of the counters. */
	happens(X86_PMU_INSTRUCTIONS, 1);
	EXPECT(put(IA32_PERF_GLOBAL_CTRL, 0));
	happens(X86_PMU_INSTRUCTIONS, 7);
	EXPECT(put(IA32_PERF_GLOBAL_CTRL, 0xe));
	EXPECT(counts_after(1, 0) == 0x08);
	/* A new event, and a clear of the records, restart the counts. */
	happens(X86_PMU_INSTRUCTIONS, 3);
	EXPECT(put(MSR_ARCH_LBR_DEPTH, 32));
	EXPECT(counts_after(1, 0) == 0x04);
	happens(X86_PMU_INSTRUCTIONS, 1);
	EXPECT(put(IA32_PERFEVTSEL0 + 1, counting | 0xc0));
	EXPECT(put(IA32_PERFEVTSEL0 + 1, counting | log | 0xc0));
	EXPECT(counts_after(1, 0) == 0x08);
	EXPECT(put(IA32_PERFEVTSEL0 + 1, counting | 0xc0));
	EXPECT(counts_after(3, 0) == 0);
	EXPECT(put(IA32_PERFEVTSEL0 + 1, counting | log | 0xc0));
	EXPECT(counts_after(1, 0) == 0x04);
	happens(X86_PMU_INSTRUCTIONS, 1);
	EXPECT(put(IA32_PERFEVTSEL0 + 1, counting | log | 0xc5));
	EXPECT(counts_after(1, 1) == 0x44);
}

static const struct model_test tests[] = {
	{ "registers and CPUID report LBR",		test_reported },
	{ "impossible LBR is rejected",			test_config },
	{ "Skylake's records are a ring",		test_ring },
	{ "branches are filtered by type",		test_filter },
	{ "branches are filtered by ring",		test_rings },
	{ "IA32_LBR_DEPTH sets the number of records",	test_depth },
	{ "records have cycles, prediction and type",	test_information },
	{ "a call stack has the calls without a return", test_call_stack },
	{ "an overflow freezes LBR",			test_freeze },
	{ "records have counts of events",		test_counts },
	{ "faults lose and tear records",		test_faults },
};

int main(void)
{
	return run_model_tests(tests, ARRAY_SIZE(tests));
}
