// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the registers and counters of the virtual arm64 PMU, without QEMU. KTAP on stdout.
 */
#include "tests/arm64/model/registers-cpu.h"

#define MASK(n)		(BIT(n) - 1)

#define PMCR_E		BIT(0)
#define PMCR_P		BIT(1)
#define PMCR_C		BIT(2)
#define PMCR_D		BIT(3)
#define PMCR_DP		BIT(5)
#define PMCR_LC		BIT(6)
#define PMCR_LP		BIT(7)
#define PMCR_FZO	BIT(9)

#define TYPE_NSH	BIT(27)
#define TYPE_U		BIT(30)
#define TYPE_P		BIT(31)
#define TH(th, tc)	((uint64_t)(th) << 32 | (uint64_t)(tc) << 61)

#define SW_INCR		0x00
#define LD_RETIRED	0x06
#define INST_RETIRED	0x08
#define CPU_CYCLES	0x11
#define CHAIN		0x1e
#define BR_RETIRED	0x21
#define STALL_BACKEND	0x24
#define STALL_SLOT	0x3f

#define CYCLES		ARM64_PMU_CYCLE_COUNTER
#define INSTRUCTIONS	ARM64_PMU_INSTR_COUNTER

static void test_counts(void)
{
	make(ARM64_PMU_V3);
	start(0, INST_RETIRED, 0);
	start(1, BR_RETIRED, 0);
	start(2, CPU_CYCLES, 0);
	start(CYCLES, 0, 0);
	runs(ARM64_PMU_EL0, 10, 3);
	EXPECT(counter(0) == 0);	/* PMCR_EL0.E */
	put(ARM64_PMCR, PMCR_E | PMCR_LC);
	runs(ARM64_PMU_EL0, 10, 3);
	runs(ARM64_PMU_EL1, 10, 4);
	EXPECT(counter(0) == 20 && counter(1) == 7 && counter(2) == 27 && counter(CYCLES) == 27);
	put(ARM64_PMCNTENCLR, BIT(0));
	runs(ARM64_PMU_EL0, 10, 0);
	EXPECT(counter(0) == 20 && counter(2) == 37);
	put(ARM64_PMCR, PMCR_E | PMCR_LC | PMCR_P);
	EXPECT(counter(0) == 0 && counter(2) == 0 && counter(CYCLES) == 37);
	put(ARM64_PMCR, PMCR_E | PMCR_LC | PMCR_C);
	EXPECT(counter(CYCLES) == 0 && !cpu.overflows);
	/* An event that the PMU does not have */
	put_type(2, 0x3e);
	runs(ARM64_PMU_EL0, 10, 0);
	EXPECT(counter(2) == 0);
}

static void test_reserved(void)
{
	make(ARM64_PMU_V3);
	put(ARM64_PMCR, ~UINT64_C(0));
	EXPECT(get(ARM64_PMCR) == (6 << 11 | 0x79));
	put_type(0, ~UINT64_C(0));
	EXPECT(type(0) == (TYPE_P | TYPE_U | 0x3ff));
	put_type(CYCLES, ~UINT64_C(0));
	EXPECT(type(CYCLES) == (TYPE_P | TYPE_U));
	put(ARM64_PMCNTENSET, ~UINT64_C(0));
	EXPECT(get(ARM64_PMCNTENCLR) == (BIT(31) | MASK(6)));
	put_counter(0, ~UINT64_C(0));
	EXPECT(counter(0) == UINT32_MAX);
	put_counter(6, 1);
	EXPECT(counter(6) == 0 && type(6) == 0 && counter(INSTRUCTIONS) == 0);

	make(ARM64_PMU_V3P7);
	cpu.config.has_el2 = true;
	cpu.config.has_el3 = true;
	cpu.mdcr = 6;
	put(ARM64_PMCR, ~UINT64_C(0));
	EXPECT(get(ARM64_PMCR) == (6 << 11 | 0x2f9));
	put_type(0, ~UINT64_C(0));
	EXPECT(type(0) == (UINT64_C(0xfc000000) | 0xffff));
	put_counter(0, ~UINT64_C(0));
	EXPECT(counter(0) == UINT64_MAX);
}

static void test_ids(void)
{
	make(ARM64_PMU_V3P8);
	EXPECT(arm64_pmu_mmir(&cpu.pmu) == 0 && !(arm64_pmu_ceid(&cpu.pmu, 1) >> 31));
	cpu.config.slots = 4;
	cpu.config.threshold = 8;
	EXPECT(arm64_pmu_mmir(&cpu.pmu) == 0x800004 && arm64_pmu_ceid(&cpu.pmu, 1) >> 31 == 1);
	EXPECT(arm64_pmu_ceid(&cpu.pmu, 0) >> CHAIN & 1);
	/* PMUv3p1 requires STALL_BACKEND. */
	EXPECT(arm64_pmu_ceid(&cpu.pmu, 1) >> (STALL_BACKEND - 32) & 1);
	EXPECT(!(arm64_pmu_ceid(&cpu.pmu, 0) >> 1 & 1));
}

static void test_filters(void)
{
	make(ARM64_PMU_V3);
	cpu.config.has_el2 = true;
	cpu.mdcr = 6;
	put(ARM64_PMCR, PMCR_E);
	start(0, INST_RETIRED, 0);
	start(1, INST_RETIRED | TYPE_U, 0);
	start(2, INST_RETIRED | TYPE_P, 0);
	start(3, INST_RETIRED | TYPE_NSH, 0);
	start(4, INST_RETIRED | TYPE_P | TYPE_U, 0);
	runs(ARM64_PMU_EL0, 1, 0);
	runs(ARM64_PMU_EL1, 10, 0);
	runs(ARM64_PMU_EL2, 100, 0);
	EXPECT(counter(0) == 11 && counter(1) == 10 && counter(2) == 1);
	EXPECT(counter(3) == 111 && counter(4) == 0);
}

static void test_overflow(void)
{
	make(ARM64_PMU_V3);
	put(ARM64_PMCR, PMCR_E | PMCR_LC);
	start(0, INST_RETIRED, UINT32_MAX - 9);
	start(1, INST_RETIRED | TYPE_P, UINT32_MAX - 9);
	start(CYCLES, 0, UINT32_MAX - 9);
	put(ARM64_PMINTENSET, BIT(0));
	runs(ARM64_PMU_EL1, 9, 0);
	EXPECT(!get(ARM64_PMOVSSET) && !cpu.overflows);
	runs(ARM64_PMU_EL1, 1, 0);
	EXPECT(cpu.overflows == 1 && arm64_pmu_line(&cpu.pmu));
	EXPECT(get(ARM64_PMOVSCLR) == BIT(0) && counter(0) == 0);
	EXPECT(counter(CYCLES) == BIT(32));
	/* The interrupt is pending only while the PMU is enabled. */
	put(ARM64_PMCR, PMCR_LC);
	EXPECT(!arm64_pmu_line(&cpu.pmu) && arm64_pmu_flagged(&cpu.pmu));
	put(ARM64_PMCR, PMCR_E | PMCR_LC);
	EXPECT(arm64_pmu_line(&cpu.pmu));
	put(ARM64_PMINTENCLR, BIT(0));
	EXPECT(!arm64_pmu_line(&cpu.pmu));
	put(ARM64_PMINTENSET, BIT(0));
	put(ARM64_PMOVSCLR, BIT(0));
	EXPECT(!arm64_pmu_line(&cpu.pmu) && !get(ARM64_PMOVSSET));
	put(ARM64_PMOVSSET, BIT(0));
	EXPECT(arm64_pmu_line(&cpu.pmu));
	/* With its interrupt disabled, an overflow still sets the flag. */
	runs(ARM64_PMU_EL0, 10, 0);
	EXPECT(get(ARM64_PMOVSCLR) == (BIT(0) | BIT(1)) && cpu.overflows == 1);
	/* PMCR_EL0.LC selects the bit at which the cycle counter overflows. */
	put_counter(CYCLES, UINT32_MAX);
	put(ARM64_PMCR, PMCR_E);
	runs(ARM64_PMU_EL1, 1, 0);
	EXPECT(get(ARM64_PMOVSCLR) >> CYCLES == 1 && counter(CYCLES) == BIT(32));
	put(ARM64_PMOVSCLR, BIT(CYCLES));
	put_counter(CYCLES, UINT64_MAX);
	put(ARM64_PMCR, PMCR_E | PMCR_LC);
	runs(ARM64_PMU_EL1, 1, 0);
	EXPECT(get(ARM64_PMOVSCLR) >> CYCLES == 1 && counter(CYCLES) == 0);
}

/* The model detects an overflow in time, though each level has its own count. */
static void test_levels(void)
{
	make(ARM64_PMU_V3);
	put(ARM64_PMCR, PMCR_E);
	put(ARM64_PMINTENSET, BIT(0));
	start(0, INST_RETIRED, UINT32_MAX - 999);
	runs(ARM64_PMU_EL0, 700, 0);
	runs(ARM64_PMU_EL1, 299, 0);
	EXPECT(!cpu.overflows);
	runs(ARM64_PMU_EL0, 1, 0);
	EXPECT(cpu.overflows == 1);
}

static void test_wide(void)
{
	make(ARM64_PMU_V3P5);
	put(ARM64_PMCR, PMCR_E | PMCR_LP);
	start(0, INST_RETIRED, UINT32_MAX);
	start(1, INST_RETIRED, UINT64_MAX);
	runs(ARM64_PMU_EL1, 1, 0);
	EXPECT(counter(0) == BIT(32) && counter(1) == 0 && get(ARM64_PMOVSCLR) == BIT(1));
	put(ARM64_PMCR, PMCR_E);
	put_counter(0, UINT32_MAX);
	runs(ARM64_PMU_EL1, 1, 0);
	EXPECT(counter(0) == BIT(32) && get(ARM64_PMOVSCLR) == MASK(2));
}

static void test_chain(void)
{
	make(ARM64_PMU_V3);
	put(ARM64_PMCR, PMCR_E);
	put(ARM64_PMINTENSET, MASK(6));
	start(1, CHAIN, 7);
	start(0, INST_RETIRED, UINT32_MAX);
	/* Neither an overflow of an odd counter nor CHAIN on an even counter chains. */
	start(3, INST_RETIRED, UINT32_MAX);
	start(4, CHAIN, 0);
	runs(ARM64_PMU_EL1, 1, 0);
	EXPECT(counter(0) == 0 && counter(1) == 8 && counter(4) == 0);
	EXPECT(get(ARM64_PMOVSCLR) == (BIT(0) | BIT(3)));
	/* Both halves overflow. */
	put_counter(0, UINT32_MAX);
	put_counter(1, UINT32_MAX);
	put(ARM64_PMOVSCLR, MASK(6));
	cpu.overflows = 0;
	runs(ARM64_PMU_EL1, 1, 0);
	EXPECT(counter(0) == 0 && counter(1) == 0 && get(ARM64_PMOVSCLR) == MASK(2));
	EXPECT(cpu.overflows == 2);
	/* The upper half counts only if it is enabled. */
	put(ARM64_PMCNTENCLR, BIT(1));
	put_counter(0, UINT32_MAX);
	runs(ARM64_PMU_EL1, 1, 0);
	EXPECT(counter(0) == 0 && counter(1) == 0);
	/* An overflow by a software increment chains, too. */
	start(1, CHAIN, 7);
	start(0, SW_INCR, UINT32_MAX);
	put(ARM64_PMSWINC, MASK(6));
	EXPECT(counter(0) == 0 && counter(1) == 8);
	/* If the even counter overflows at 64 bits, neither half chains. */
	make(ARM64_PMU_V3P5);
	put(ARM64_PMCR, PMCR_E | PMCR_LP);
	start(1, CHAIN, 7);
	start(0, INST_RETIRED, UINT32_MAX);
	runs(ARM64_PMU_EL1, 1, 0);
	put_counter(0, UINT64_MAX);
	runs(ARM64_PMU_EL1, 1, 0);
	EXPECT(counter(0) == 0 && counter(1) == 7 && get(ARM64_PMOVSCLR) == BIT(0));
}

static void test_software(void)
{
	make(ARM64_PMU_V3);
	put(ARM64_PMCR, PMCR_E);
	start(0, SW_INCR, 0);
	start(1, SW_INCR | TYPE_P, 0);
	start(2, INST_RETIRED, 0);
	put(ARM64_PMSWINC, MASK(6));
	EXPECT(counter(0) == 1 && counter(1) == 0 && counter(2) == 0);
	cpu.level = ARM64_PMU_EL0;
	put(ARM64_PMSWINC, BIT(1));
	EXPECT(counter(0) == 1 && counter(1) == 1);
}

static void test_freeze(void)
{
	make(ARM64_PMU_V3P7);
	put(ARM64_PMCR, PMCR_E | PMCR_FZO | PMCR_LC);
	start(0, INST_RETIRED, UINT32_MAX - 9);
	start(1, INST_RETIRED, 0);
	start(CYCLES, 0, 0);
	runs(ARM64_PMU_EL1, 30, 0);
	EXPECT(counter(0) == BIT(32) && counter(1) == 10 && counter(CYCLES) == 30);
	put(ARM64_PMCR, PMCR_E | PMCR_FZO | PMCR_LC | PMCR_DP);
	runs(ARM64_PMU_EL1, 30, 0);
	EXPECT(counter(CYCLES) == 30);
	put(ARM64_PMOVSCLR, BIT(0));
	runs(ARM64_PMU_EL1, 5, 0);
	EXPECT(counter(1) == 15 && counter(CYCLES) == 35);

	make(ARM64_PMU_V3P5);
	put(ARM64_PMCR, PMCR_E | PMCR_FZO);
	start(0, INST_RETIRED, UINT32_MAX - 9);
	runs(ARM64_PMU_EL1, 30, 0);
	EXPECT(counter(0) == BIT(32) + 20);
}

static void test_divider(void)
{
	make(ARM64_PMU_V3);
	put(ARM64_PMCR, PMCR_E | PMCR_D);
	start(CYCLES, 0, 0);
	runs(ARM64_PMU_EL1, 130, 0);
	EXPECT(counter(CYCLES) == 2);
	put(ARM64_PMCR, PMCR_E | PMCR_D | PMCR_LC);
	runs(ARM64_PMU_EL1, 130, 0);
	EXPECT(counter(CYCLES) == 132);
}

/* In 13 cycles 10 instructions retire; 3 of them are branches. */
static uint64_t thresholded(uint64_t event)
{
	put_type(0, event);
	put_counter(0, 0);
	runs(ARM64_PMU_EL1, 10, 3);
	return counter(0);
}

static void test_threshold(void)
{
	make(ARM64_PMU_V3P8);
	cpu.config.slots = 4;
	cpu.config.threshold = 3;
	put(ARM64_PMCR, PMCR_E);
	put(ARM64_PMCNTENSET, BIT(0));
	put_type(0, INST_RETIRED | TH(0xfff, 7));
	EXPECT(type(0) == (INST_RETIRED | TH(7, 7)));

	EXPECT(thresholded(STALL_BACKEND) == 0);
	EXPECT(thresholded(STALL_SLOT) == 10 * 3 + 3 * 4);
	EXPECT(thresholded(STALL_SLOT | TH(4, 0)) == 10 * 3);	/* not equal */
	EXPECT(thresholded(STALL_SLOT | TH(4, 1)) == 10);
	EXPECT(thresholded(STALL_SLOT | TH(4, 2)) == 3 * 4);	/* equal */
	EXPECT(thresholded(STALL_SLOT | TH(4, 3)) == 3);
	EXPECT(thresholded(STALL_SLOT | TH(3, 4)) == 10 * 3 + 3 * 4);
	EXPECT(thresholded(STALL_SLOT | TH(3, 5)) == 13);	/* at least */
	EXPECT(thresholded(STALL_SLOT | TH(4, 6)) == 10 * 3);	/* less */
	EXPECT(thresholded(STALL_SLOT | TH(4, 7)) == 10);
	EXPECT(thresholded(BR_RETIRED | TH(1, 5)) == 3);
	EXPECT(thresholded(BR_RETIRED | TH(1, 7)) == 10);
	EXPECT(thresholded(BR_RETIRED | TH(2, 5)) == 0);

	/* An overflow by cycles without the event is detected in time. */
	put(ARM64_PMINTENSET, BIT(0));
	put_type(0, STALL_SLOT | TH(4, 5));
	put_counter(0, UINT32_MAX - 9);
	happens(ARM64_PMU_CYCLES, ARM64_PMU_EL1, 9);
	EXPECT(!cpu.overflows);
	happens(ARM64_PMU_CYCLES, ARM64_PMU_EL1, 1);
	EXPECT(counter(0) == BIT(32) && cpu.overflows == 1);
}

static void test_instruction_counter(void)
{
	make(ARM64_PMU_V3P9);
	cpu.config.instr_counter = true;
	put(ARM64_PMCR, PMCR_E | PMCR_LC);
	start(INSTRUCTIONS, TYPE_U, UINT64_MAX - 9);
	put(ARM64_PMINTENSET, BIT(32));
	runs(ARM64_PMU_EL0, 100, 0);
	runs(ARM64_PMU_EL1, 9, 3);
	EXPECT(type(INSTRUCTIONS) == (TYPE_U | INST_RETIRED) && !cpu.overflows);
	runs(ARM64_PMU_EL1, 1, 0);
	EXPECT(counter(INSTRUCTIONS) == 0 && get(ARM64_PMOVSCLR) == BIT(32));
	EXPECT(cpu.overflows == 1 && get(ARM64_PMCNTENSET) == BIT(32));
	/* It has 64 bits; PMCR_EL0.LP affects only event counters. */
	put(ARM64_PMOVSCLR, BIT(32));
	put_counter(INSTRUCTIONS, UINT32_MAX);
	runs(ARM64_PMU_EL1, 10, 0);
	EXPECT(counter(INSTRUCTIONS) == BIT(32) + 9 && !get(ARM64_PMOVSCLR));
}

static void test_el2(void)
{
	make(ARM64_PMU_V3P5);
	cpu.config.has_el2 = true;
	cpu.mdcr = 4 | BIT(7);		/* HPMN, HPME */
	EXPECT(get(ARM64_PMCR) >> 11 == 4);
	put_counter(4, 1);
	EXPECT(counter(4) == 0);
	cpu.level = ARM64_PMU_EL2;
	EXPECT(get(ARM64_PMCR) >> 11 == 6);
	start(3, INST_RETIRED, 0);
	start(4, INST_RETIRED, UINT32_MAX);
	put(ARM64_PMINTENSET, BIT(4));
	runs(ARM64_PMU_EL1, 10, 0);
	EXPECT(counter(3) == 0 && counter(4) == BIT(32) + 9 && cpu.overflows == 1);
	EXPECT(arm64_pmu_line(&cpu.pmu));
	cpu.level = ARM64_PMU_EL1;
	EXPECT(!get(ARM64_PMOVSCLR));
	put(ARM64_PMCR, PMCR_E | PMCR_P);
	cpu.level = ARM64_PMU_EL2;
	EXPECT(counter(4) == BIT(32) + 9);
	/* HPMD stops the other counters at EL2; the cycle counter only with PMCR_EL0.DP. */
	cpu.mdcr |= BIT(17);
	arm64_pmu_refresh(&cpu.pmu);
	start(3, INST_RETIRED | TYPE_NSH, 0);
	start(4, INST_RETIRED | TYPE_NSH, 0);
	start(CYCLES, TYPE_NSH, 0);
	runs(ARM64_PMU_EL2, 10, 0);
	EXPECT(counter(3) == 0 && counter(4) == 10 && counter(CYCLES) == 10);
	put(ARM64_PMCR, PMCR_E | PMCR_DP);
	runs(ARM64_PMU_EL2, 10, 0);
	EXPECT(counter(CYCLES) == 10);
}

static void test_faults(void)
{
	make(ARM64_PMU_V3);
	cpu.config.stuck = 0;
	cpu.config.sticky_status = true;
	put(ARM64_PMCR, PMCR_E);
	start(0, INST_RETIRED, 5);
	start(1, INST_RETIRED, UINT32_MAX);
	runs(ARM64_PMU_EL1, 10, 0);
	EXPECT(counter(0) == 5 && counter(1) == 9);
	put(ARM64_PMOVSCLR, BIT(1));
	EXPECT(get(ARM64_PMOVSCLR) == BIT(1));
	put(ARM64_PMOVSCLR, BIT(1));
	EXPECT(!get(ARM64_PMOVSCLR));

	arm64_pmu_set_alarm(&cpu.pmu, 100);
	runs(ARM64_PMU_EL1, 60, 0);
	runs(ARM64_PMU_EL0, 39, 0);
	EXPECT(!cpu.alarms);
	runs(ARM64_PMU_EL0, 1, 0);
	EXPECT(cpu.alarms == 1);
}

/* Counters and events that the configuration denies do not count. */
static void test_denied(void)
{
	make(ARM64_PMU_V3);
	cpu.config.denied = BIT(1);
	cpu.config.denied_events[0] = BR_RETIRED;
	cpu.config.nr_denied_events = 1;
	EXPECT(!arm64_pmu_config_error(&cpu.config));
	EXPECT(!(arm64_pmu_ceid(&cpu.pmu, 1) & BIT(BR_RETIRED - 32)));
	EXPECT(arm64_pmu_ceid(&cpu.pmu, 0) & BIT(CPU_CYCLES));
	put(ARM64_PMCR, PMCR_E);
	start(0, INST_RETIRED, 5);
	start(1, INST_RETIRED, 6);
	start(2, BR_RETIRED, 7);
	start(CYCLES, 0, 8);
	runs(ARM64_PMU_EL1, 10, 2);
	EXPECT(counter(0) == 15 && counter(1) == 6 && counter(2) == 7 && counter(CYCLES) == 20);
	cpu.config.denied_events[0] = CPU_CYCLES;
	EXPECT(!(arm64_pmu_ceid(&cpu.pmu, 0) & BIT(CPU_CYCLES)));
	put(ARM64_PMCR, PMCR_E);
	runs(ARM64_PMU_EL1, 10, 2);
	EXPECT(counter(0) == 25 && counter(2) == 9 && counter(CYCLES) == 20);
	cpu.config.denied = BIT(6);
	EXPECT(arm64_pmu_config_error(&cpu.config));
}

static void test_config(void)
{
	make(ARM64_PMU_V3);
	EXPECT(!arm64_pmu_config_error(&cpu.config));
	cpu.config.slots = 4;
	EXPECT(arm64_pmu_config_error(&cpu.config));
	make(ARM64_PMU_V3P7);
	cpu.config.threshold = 1;
	EXPECT(arm64_pmu_config_error(&cpu.config));
	make(ARM64_PMU_V3P8);
	cpu.config.threshold = 12;
	EXPECT(!arm64_pmu_config_error(&cpu.config));
	cpu.config.threshold = 13;
	EXPECT(arm64_pmu_config_error(&cpu.config));
	make(ARM64_PMU_V3P8);
	cpu.config.instr_counter = true;
	EXPECT(arm64_pmu_config_error(&cpu.config));
	make(ARM64_PMU_V3P9);
	cpu.config.instr_counter = true;
	cpu.config.stuck = INSTRUCTIONS;
	EXPECT(!arm64_pmu_config_error(&cpu.config));
	cpu.config.stuck = 6;
	EXPECT(arm64_pmu_config_error(&cpu.config));
}

static void test_reset(void)
{
	make(ARM64_PMU_V3);
	put(ARM64_PMCR, PMCR_E);
	start(0, INST_RETIRED, UINT32_MAX);
	runs(ARM64_PMU_EL1, 1, 0);
	arm64_pmu_reset(&cpu.pmu);
	EXPECT(get(ARM64_PMCR) == 6 << 11 && !get(ARM64_PMOVSCLR) && !get(ARM64_PMCNTENSET));
	runs(ARM64_PMU_EL1, 1, 0);
	EXPECT(counter(0) == 0);
}

static const struct model_test tests[] = {
	{ "counters count their events", test_counts },
	{ "reserved bits read as 0", test_reserved },
	{ "PMCEIDx and PMMIR report events and slots", test_ids },
	{ "filters select exception levels", test_filters },
	{ "an overflow sets its flag and interrupts", test_overflow },
	{ "an overflow of several levels is detected in time", test_levels },
	{ "event counters can have 64 bits", test_wide },
	{ "CHAIN counts overflows of the counter below", test_chain },
	{ "PMSWINC_EL0 increments counters", test_software },
	{ "counters freeze on overflow", test_freeze },
	{ "the cycle counter can count every 64th cycle", test_divider },
	{ "thresholds compare the count of a cycle", test_threshold },
	{ "PMICNTR_EL0 counts instructions", test_instruction_counter },
	{ "EL2 can reserve counters", test_el2 },
	{ "faults stop a counter and keep flags", test_faults },
	{ "denied counters and events do not count", test_denied },
	{ "impossible PMUs are rejected", test_config },
	{ "reset clears the registers", test_reset },
};

int main(void)
{
	return run_model_tests(tests, ARRAY_SIZE(tests));
}
