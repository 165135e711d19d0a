// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the branch records of the virtual arm64 PMU, without QEMU. KTAP on stdout.
 *
 * Names and bits are taken from Linux (arch/arm64/tools/sysreg). The model's are taken from the
 * Architecture Reference Manual.
 */
#include "tests/arm64/model/cpu.h"

#define BRBCR_ELx_E0BRE		BIT(0)
#define BRBCR_ELx_ExBRE		BIT(1)
#define BRBCR_ELx_CC		BIT(3)
#define BRBCR_ELx_MPRED		BIT(4)
#define BRBCR_ELx_FZP		BIT(8)
#define BRBCR_ELx_ERTN		BIT(22)
#define BRBCR_ELx_EXCEPTION	BIT(23)

#define BRBFCR_EL1_PAUSED	BIT(7)
#define BRBFCR_EL1_EnI		BIT(16)
#define BRBFCR_EL1_RTN		BIT(19)
#define BRBFCR_ALL		(UINT64_C(0x3f) << 17)
#define BRBFCR_BANK_1		BIT(28)

#define BRBINFx_VALID_TARGET	UINT64_C(1)
#define BRBINFx_VALID_SOURCE	UINT64_C(2)
#define BRBINFx_VALID_FULL	UINT64_C(3)
#define BRBINFx_MPRED		BIT(5)
#define BRBINFx_CCU		BIT(46)

#define HCR_E2H			BIT(34)
#define HCR_TGE			BIT(27)

#define PMCR_E			BIT(0)
#define CPU_CYCLES		0x11
#define NEARLY			UINT64_C(0xffffffff)

/* HCR_EL2, and the levels with recorded branches */
static uint64_t hcr;
static unsigned int recorded;

/* EL2 reserves no counter. */
static uint64_t cpu_mdcr(struct arm64_pmu *pmu)
{
	return pmu->config->counters;
}

static uint64_t cpu_hcr(struct arm64_pmu *pmu)
{
	(void)pmu;
	return hcr;
}

static uint64_t cycles(void)
{
	return cpu.counts[ARM64_PMU_CYCLES][ARM64_PMU_EL0];
}

static uint64_t cpu_record(struct arm64_pmu *pmu, unsigned int levels)
{
	(void)pmu;
	recorded = levels;
	return cycles();
}

static const struct arm64_pmu_ops cpu_ops = {
	CPU_OPS,
	.mdcr_el2	= cpu_mdcr,
	.hcr_el2	= cpu_hcr,
	.record		= cpu_record,
};

static void make(unsigned int records, bool has_el2)
{
	memset(&cpu, 0, sizeof(cpu));
	hcr = 0;
	recorded = 0;
	cpu.config = (struct arm64_pmu_config) {
		.version = ARM64_PMU_V3P4, .counters = 6, .stuck = ARM64_PMU_NO_COUNTER,
		.has_el2 = has_el2, .brbe.records = records,
	};
	EXPECT(!arm64_pmu_config_error(&cpu.config));
	arm64_pmu_init(&cpu.pmu, &cpu.config, &cpu_ops);
	cpu.level = ARM64_PMU_EL1;
}

static void put(enum arm64_brbe_reg reg, uint64_t value)
{
	arm64_brbe_write(&cpu.pmu, reg, value);
}

static uint64_t get(enum arm64_brbe_reg reg, unsigned int n)
{
	return arm64_brbe_read(&cpu.pmu, reg, n);
}

static uint64_t info(unsigned int n)
{
	return get(ARM64_BRBINF, n);
}

static unsigned int nr_records(void)
{
	unsigned int n = 0;

	while (n < ARM64_BRBE_BANK && info(n) & BRBINFx_VALID_FULL)
		n++;
	return n;
}

static void branch(uint64_t from, enum arm64_branch_type type, enum arm64_pmu_level source,
		   enum arm64_pmu_level target)
{
	cpu.level = target;
	arm64_brbe_branch(&cpu.pmu, &(struct arm64_branch) {
		.from = from, .to = from + 0x100, .type = type, .source = source,
		.target = target, .mispredicted = true, .cycles = cycles(),
	});
}

static void user(uint64_t from, enum arm64_branch_type type)
{
	branch(from, type, ARM64_PMU_EL0, ARM64_PMU_EL0);
}

static void syscall_and_back(void)
{
	branch(0x1000, ARM64_BRANCH_SYSCALL, ARM64_PMU_EL0, ARM64_PMU_EL1);
	branch(0x2000, ARM64_BRANCH_RETURN, ARM64_PMU_EL1, ARM64_PMU_EL1);
	branch(0x3000, ARM64_BRANCH_ERET, ARM64_PMU_EL1, ARM64_PMU_EL0);
}

/* ---- tests ---- */

static void test_types(void)
{
	static const struct {
		enum arm64_branch_type type;
		unsigned int bit;
	} kinds[] = {
		{ ARM64_BRANCH_JUMP, 17 }, { ARM64_BRANCH_INDIRECT, 18 },
		{ ARM64_BRANCH_RETURN, 19 }, { ARM64_BRANCH_INDIRECT_CALL, 20 },
		{ ARM64_BRANCH_CALL, 21 }, { ARM64_BRANCH_CONDITIONAL, 22 },
	};

	make(32, false);
	put(ARM64_BRBCR_EL1, BRBCR_ELx_E0BRE);
	EXPECT(recorded == 1 << ARM64_PMU_EL0);
	EXPECT(cpu.needed & ARM64_PMU_KIND_BIT(ARM64_PMU_RECORDS));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		put(ARM64_BRB_IALL, 0);
		EXPECT(!nr_records());
		put(ARM64_BRBFCR, BIT(kinds[i].bit));
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
			user(0x1000 + 4 * k, kinds[k].type);
		EXPECT(nr_records() == 1);
		EXPECT(get(ARM64_BRBSRC, 0) == 0x1000 + 4 * i);
		EXPECT(get(ARM64_BRBTGT, 0) == 0x1100 + 4 * i);
		EXPECT((info(0) >> 8 & 0x3f) == kinds[i].type);

		put(ARM64_BRBFCR, BIT(kinds[i].bit) | BRBFCR_EL1_EnI);
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
			user(0x1000 + 4 * k, kinds[k].type);
		EXPECT(nr_records() == ARRAY_SIZE(kinds));
	}
}

static void test_levels(void)
{
	make(8, false);
	put(ARM64_BRBFCR, BRBFCR_ALL);
	put(ARM64_BRBCR_EL1, BRBCR_ELx_E0BRE | BRBCR_ELx_EXCEPTION | BRBCR_ELx_ERTN);
	syscall_and_back();
	EXPECT(nr_records() == 2);
	EXPECT((info(0) & BRBINFx_VALID_FULL) == BRBINFx_VALID_TARGET);
	EXPECT(!get(ARM64_BRBSRC, 0) && get(ARM64_BRBTGT, 0) == 0x3100);
	EXPECT((info(1) & BRBINFx_VALID_FULL) == BRBINFx_VALID_SOURCE);
	EXPECT(get(ARM64_BRBSRC, 1) == 0x1000 && !get(ARM64_BRBTGT, 1));

	put(ARM64_BRB_IALL, 0);
	put(ARM64_BRBCR_EL1, BRBCR_ELx_ExBRE | BRBCR_ELx_ERTN);
	EXPECT(recorded == 1 << ARM64_PMU_EL1);
	syscall_and_back();
	EXPECT(nr_records() == 2);
	EXPECT((info(0) & BRBINFx_VALID_FULL) == BRBINFx_VALID_SOURCE);
	EXPECT(get(ARM64_BRBSRC, 1) == 0x2000 && (info(1) >> 6 & 3) == 1);

	put(ARM64_BRB_IALL, 0);
	put(ARM64_BRBCR_EL1, BRBCR_ELx_E0BRE | BRBCR_ELx_ExBRE | BRBCR_ELx_EXCEPTION |
			     BRBCR_ELx_ERTN);
	syscall_and_back();
	EXPECT(nr_records() == 3);
	EXPECT((info(2) & BRBINFx_VALID_FULL) == BRBINFx_VALID_FULL);
	put(ARM64_BRBFCR, BRBFCR_ALL | BRBFCR_EL1_PAUSED);
	EXPECT(!recorded);
}

/* At EL2 with E2H, BRBCR_EL1 accesses BRBCR_EL2, and with TGE its E0BRE applies to EL0. */
static void test_el2(void)
{
	make(8, true);
	cpu.level = ARM64_PMU_EL2;
	put(ARM64_BRBFCR, BRBFCR_ALL);
	put(ARM64_BRBCR_EL1, BRBCR_ELx_E0BRE);
	EXPECT(!get(ARM64_BRBCR_EL2, 0));
	put(ARM64_BRBCR_EL1, 0);
	hcr = HCR_E2H | HCR_TGE;
	put(ARM64_BRBCR_EL1, BRBCR_ELx_E0BRE | BRBCR_ELx_MPRED);
	EXPECT(get(ARM64_BRBCR_EL2, 0) == (BRBCR_ELx_E0BRE | BRBCR_ELx_MPRED));
	EXPECT(!get(ARM64_BRBCR_EL12, 0));
	user(0x1000, ARM64_BRANCH_CALL);
	EXPECT(nr_records() == 1 && !(info(0) & BRBINFx_MPRED));
	put(ARM64_BRBCR_EL12, BRBCR_ELx_MPRED);
	user(0x2000, ARM64_BRANCH_CALL);
	EXPECT(nr_records() == 2 && info(0) & BRBINFx_MPRED);
	hcr = HCR_E2H;
	user(0x3000, ARM64_BRANCH_CALL);
	EXPECT(nr_records() == 2);
}

static void test_cycles(void)
{
	static const struct {
		uint64_t cycles;
		unsigned int cc;
	} counts[] = {
		{ 0, 0 }, { 255, 0xff }, { 256, 0x100 }, { 511, 0x1ff }, { 512, 0x200 },
		{ 0xfffff, 0xcff }, { 0x100000, 0x3fff },
	};

	make(8, false);
	put(ARM64_BRBFCR, BRBFCR_ALL);
	put(ARM64_BRBCR_EL1, BRBCR_ELx_E0BRE);
	user(0x1000, ARM64_BRANCH_CALL);
	user(0x1000, ARM64_BRANCH_CALL);
	EXPECT(info(0) & BRBINFx_CCU);
	put(ARM64_BRBCR_EL1, BRBCR_ELx_E0BRE | BRBCR_ELx_CC);
	user(0x1000, ARM64_BRANCH_CALL);
	EXPECT(info(0) & BRBINFx_CCU);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		cpu.counts[ARM64_PMU_CYCLES][ARM64_PMU_EL0] += counts[i].cycles;
		user(0x1000, ARM64_BRANCH_CALL);
		EXPECT((info(0) >> 32 & 0x7fff) == counts[i].cc);
	}
	/* The first record after a prohibited region has no cycle count. */
	syscall_and_back();
	user(0x1000, ARM64_BRANCH_CALL);
	EXPECT(info(0) & BRBINFx_CCU);
	user(0x1000, ARM64_BRANCH_CALL);
	EXPECT(!(info(0) & BRBINFx_CCU));
}

static void test_banks(void)
{
	make(64, false);
	EXPECT(get(ARM64_BRBIDR0, 0) == 0x5040);
	put(ARM64_BRBFCR, BRBFCR_ALL);
	put(ARM64_BRBCR_EL1, BRBCR_ELx_E0BRE);
	for (unsigned int i = 0; i < 100; i++)
		user(4 * i, ARM64_BRANCH_JUMP);
	put(ARM64_BRBFCR, BRBFCR_EL1_PAUSED);
	EXPECT(get(ARM64_BRBSRC, 0) == 4 * 99 && get(ARM64_BRBSRC, 31) == 4 * 68);
	put(ARM64_BRBFCR, BRBFCR_EL1_PAUSED | BRBFCR_BANK_1);
	EXPECT(get(ARM64_BRBSRC, 0) == 4 * 67 && get(ARM64_BRBSRC, 31) == 4 * 36);

	put(ARM64_BRBSRCINJ, 0x1234);
	put(ARM64_BRBTGTINJ, 0x5678);
	put(ARM64_BRBINFINJ, BRBINFx_VALID_FULL | BRBINFx_MPRED | BIT(60));
	put(ARM64_BRB_INJ, 0);
	put(ARM64_BRBFCR, BRBFCR_EL1_PAUSED);
	EXPECT(get(ARM64_BRBSRC, 0) == 0x1234 && get(ARM64_BRBTGT, 0) == 0x5678);
	EXPECT(info(0) == (BRBINFx_VALID_FULL | BRBINFx_MPRED));
	EXPECT(get(ARM64_BRBSRC, 1) == 4 * 99);

	make(8, false);
	put(ARM64_BRBFCR, BRBFCR_ALL);
	put(ARM64_BRBCR_EL1, BRBCR_ELx_E0BRE);
	for (unsigned int i = 0; i < 100; i++)
		user(4 * i, ARM64_BRANCH_JUMP);
	EXPECT(nr_records() == 8 && !get(ARM64_BRBSRC, 8));
}

static void overflows(unsigned int counter)
{
	arm64_pmu_write(&cpu.pmu, ARM64_PMEVTYPER, counter, CPU_CYCLES);
	arm64_pmu_write(&cpu.pmu, ARM64_PMEVCNTR, counter, NEARLY);
	arm64_pmu_write(&cpu.pmu, ARM64_PMCNTENSET, 0, BIT(counter));
	arm64_pmu_write(&cpu.pmu, ARM64_PMCR, 0, PMCR_E);
	cpu.level = ARM64_PMU_EL0;
	cpu.counts[ARM64_PMU_CYCLES][ARM64_PMU_EL0]++;
	arm64_pmu_check(&cpu.pmu);
}

static void test_freeze(void)
{
	const uint64_t fcr = BRBFCR_ALL;

	make(8, false);
	put(ARM64_BRBFCR, fcr);
	put(ARM64_BRBCR_EL1, BRBCR_ELx_E0BRE | BRBCR_ELx_FZP);
	overflows(ARM64_PMU_CYCLE_COUNTER);
	EXPECT(get(ARM64_BRBFCR, 0) == fcr);
	overflows(2);
	EXPECT(get(ARM64_BRBFCR, 0) == (fcr | BRBFCR_EL1_PAUSED) && !recorded);
	EXPECT(get(ARM64_BRBTS, 0) == cycles());
	/* The branch being executed is still recorded. */
	user(0x1000, ARM64_BRANCH_JUMP);
	EXPECT(nr_records() == 1);
	/* If the flag is still set, recording freezes again at once. */
	put(ARM64_BRBFCR, fcr);
	EXPECT(get(ARM64_BRBFCR, 0) & BRBFCR_EL1_PAUSED);
	cpu.level = ARM64_PMU_EL1;
	put(ARM64_BRBFCR, fcr);
	EXPECT(!(get(ARM64_BRBFCR, 0) & BRBFCR_EL1_PAUSED));
	branch(0x2000, ARM64_BRANCH_ERET, ARM64_PMU_EL1, ARM64_PMU_EL0);
	EXPECT(get(ARM64_BRBFCR, 0) & BRBFCR_EL1_PAUSED);

	make(8, false);
	put(ARM64_BRBFCR, fcr);
	put(ARM64_BRBCR_EL1, BRBCR_ELx_E0BRE);
	overflows(2);
	EXPECT(get(ARM64_BRBFCR, 0) == fcr);
}

static void test_faults(void)
{
	make(8, false);
	cpu.config.brbe.lose = 3;
	cpu.config.brbe.tear = 4;
	cpu.config.brbe.unfrozen = true;
	put(ARM64_BRBFCR, BRBFCR_ALL);
	put(ARM64_BRBCR_EL1, BRBCR_ELx_E0BRE | BRBCR_ELx_FZP);
	for (unsigned int i = 1; i <= 4; i++)
		user(0x1000 * i, ARM64_BRANCH_JUMP);
	EXPECT(nr_records() == 3);
	EXPECT(get(ARM64_BRBSRC, 0) == 0x4000 && get(ARM64_BRBTGT, 0) == 0x2100);
	overflows(2);
	EXPECT(!(get(ARM64_BRBFCR, 0) & BRBFCR_EL1_PAUSED));
}

static void test_config(void)
{
	make(0, false);
	cpu.config.brbe.records = 12;
	EXPECT(arm64_pmu_config_error(&cpu.config));
	cpu.config.brbe.records = 16;
	EXPECT(!arm64_pmu_config_error(&cpu.config));
	cpu.config.has_el3 = true;
	EXPECT(arm64_pmu_config_error(&cpu.config));
}

static const struct model_test tests[] = {
	{ "BRBFCR_EL1 selects types of branches", test_types },
	{ "records show only levels that are enabled", test_levels },
	{ "E2H and TGE select BRBCR_EL2", test_el2 },
	{ "records have cycle counts", test_cycles },
	{ "banks select records, and BRB INJ adds one", test_banks },
	{ "an overflow freezes the records", test_freeze },
	{ "faults lose and tear records", test_faults },
	{ "impossible numbers of records are rejected", test_config },
};

int main(void)
{
	return run_model_tests(tests, ARRAY_SIZE(tests));
}
