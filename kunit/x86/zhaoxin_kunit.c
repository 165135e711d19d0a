// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of Zhaoxin's CPUs: events, counters, ZX-C's overflows, refused CPUs
 *
 * Events: openEuler's kernel, arch/x86/events/zhaoxin/core.c, which Zhaoxin maintains (commit
 * 2bb7fd043b41). CPUID: InstLatx64, CPUID dumps of CentaurHauls.
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "x86/intel/uarch.h"
#include "x86/msr.h"
#include "x86/x86.h"
#include "x86/zhaoxin/zhaoxin.h"

#define WUDAOKOU	0x1b
#define LUJIAZUI	0x3b
#define YONGFENG	0x5b

/* CPUID leaf 0xA of the KX-U6780A, KH-40000 and KX-7000: 07300402-00000000-00000000-00000603 */
static const struct x86_model_cpu family_7 = {
	.name = "Zhaoxin", .zhaoxin = true, .family = 7, .model = LUJIAZUI, .version = 2,
	.nr_gp = 4, .gp_width = 48, .nr_fixed = 3, .fixed_width = 48, .nr_events = 7,
};

/* Leaf 0xA of CPU 0x6fe: 06280202-00000000-00000000-00000503 */
static const struct x86_model_cpu zxc = {
	.name = "ZX-C", .zhaoxin = true, .family = 6, .model = 0x19, .version = 2,
	.nr_gp = 2, .gp_width = 40, .nr_fixed = 3, .fixed_width = 40, .nr_events = 6,
};

static struct perf_event *start_event(struct kunit *test, unsigned int model, u32 missing)
{
	struct x86_model_cpu cpu = family_7;

	cpu.model = model;
	cpu.missing = missing;

	return uarch_start(test, &cpu);
}

#define HARDWARE(name)	.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_##name
#define CACHE(cache, op, result)						\
	.type = PERF_TYPE_HW_CACHE,						\
	.config = PERF_COUNT_HW_CACHE_##cache |					\
		  PERF_COUNT_HW_CACHE_OP_##op << 8 |				\
		  PERF_COUNT_HW_CACHE_RESULT_##result << 16

/* Codes on Wudaokou, Lujiazui and Yongfeng, or an errno */
static const struct {
	u32 type;
	u64 config;
	s64 codes[3];
} generics[] = {
	{ HARDWARE(CPU_CYCLES), { 0x0082, 0x0082, 0x0082 } },
	{ HARDWARE(INSTRUCTIONS), { 0x00c0, 0x00c0, 0x00c0 } },
	{ HARDWARE(BUS_CYCLES), { 0x0083, 0x0083, 0x0083 } },
	{ HARDWARE(CACHE_REFERENCES), { 0x0515, 0x0515, 0x051a } },
	{ HARDWARE(CACHE_MISSES), { 0x051a, 0x051a, -ENOENT } },
	{ HARDWARE(BRANCH_INSTRUCTIONS), { 0x0700, 0x0028, 0x0028 } },
	{ HARDWARE(BRANCH_MISSES), { 0x0709, 0x0029, 0x0029 } },
	{ HARDWARE(STALLED_CYCLES_FRONTEND), { 0x01800101, 0x01800101, 0x01800102 } },
	{ HARDWARE(STALLED_CYCLES_BACKEND), { 0x040f, 0x040f, 0x040f } },
	{ HARDWARE(REF_CPU_CYCLES), { -ENOENT, -ENOENT, -ENOENT } },
	{ CACHE(L1D, READ, ACCESS), { 0x0042, 0x0568, 0x0568 } },
	{ CACHE(L1D, READ, MISS), { 0x0538, 0x054b, 0x054b } },
	{ CACHE(L1D, WRITE, ACCESS), { 0x0043, 0x0669, 0x0669 } },
	{ CACHE(L1D, WRITE, MISS), { 0x0562, 0x0562, 0x0562 } },
	{ CACHE(L1D, PREFETCH, ACCESS), { -ENOENT, -ENOENT, -ENOENT } },
	{ CACHE(L1I, READ, ACCESS), { 0x0300, 0x0300, 0x0300 } },
	{ CACHE(L1I, READ, MISS), { 0x0301, 0x0301, 0x0301 } },
	{ CACHE(L1I, PREFETCH, ACCESS), { 0x030a, 0x030a, 0x030a } },
	{ CACHE(L1I, PREFETCH, MISS), { 0x030b, 0x030b, 0x030b } },
	{ CACHE(LL, READ, ACCESS), { -ENOENT, -ENOENT, -ENOENT } },
	{ CACHE(LL, WRITE, MISS), { -ENOENT, -ENOENT, -ENOENT } },
	{ CACHE(DTLB, READ, ACCESS), { 0x0042, 0x0568, 0x0568 } },
	{ CACHE(DTLB, READ, MISS), { 0x052c, 0x052c, 0x052c } },
	{ CACHE(DTLB, WRITE, ACCESS), { 0x0043, 0x0669, 0x0669 } },
	{ CACHE(DTLB, WRITE, MISS), { 0x0530, 0x0530, 0x0530 } },
	{ CACHE(DTLB, PREFETCH, ACCESS), { 0x0564, 0x0564, 0x0564 } },
	{ CACHE(DTLB, PREFETCH, MISS), { 0x0565, 0x0565, 0x0565 } },
	{ CACHE(ITLB, READ, ACCESS), { 0x00c0, 0x00c0, 0x00c0 } },
	{ CACHE(ITLB, READ, MISS), { 0x0534, 0x0534, 0x0534 } },
	{ CACHE(BPU, READ, ACCESS), { 0x0700, 0x0028, 0x0028 } },
	{ CACHE(BPU, READ, MISS), { 0x0709, 0x0029, 0x0029 } },
	{ CACHE(NODE, READ, ACCESS), { -ENOENT, -ENOENT, -ENOENT } },
};

static void expect_code(struct kunit *test, struct perf_event *event, unsigned int row, s64 code)
{
	struct fixture *b = test->priv;
	s64 got;

	event->attr.type = generics[row].type;
	event->attr.config = generics[row].config;
	got = x86_encode(b->pmu, event);
	if (!got)
		got = event->hw.config_base & to_x86(b->pmu)->config_known;
	KUNIT_EXPECT_EQ_MSG(test, code, got, "row %u", row);
}

static void zhaoxin_generic_events(struct kunit *test)
{
	static const unsigned int models[] = { WUDAOKOU, LUJIAZUI, YONGFENG };

	for (unsigned int i = 0; i < ARRAY_SIZE(models); i++) {
		struct perf_event *event = start_event(test, models[i], 0);

		for (unsigned int row = 0; row < ARRAY_SIZE(generics); row++)
			expect_code(test, event, row, generics[row].codes[i]);
	}
}

/* ZX-C: cycles are the only generic event. */
static void zhaoxin_zxc_events(struct kunit *test)
{
	struct perf_event *event = uarch_start(test, &zxc);

	for (unsigned int row = 0; row < ARRAY_SIZE(generics); row++)
		expect_code(test, event, row, row ? -ENOENT : 0x0082);
}

/* CPUID.0AH:EBX */
static void zhaoxin_missing_events(struct kunit *test)
{
	struct fixture *b;
	u64 *hardware;

	start_event(test, LUJIAZUI, BIT(1) | BIT(2) | BIT(6));
	b = test->priv;
	hardware = to_x86(b->pmu)->hardware;
	KUNIT_EXPECT_EQ(test, hardware[PERF_COUNT_HW_INSTRUCTIONS], 0);
	KUNIT_EXPECT_EQ(test, hardware[PERF_COUNT_HW_BUS_CYCLES], 0);
	KUNIT_EXPECT_EQ(test, hardware[PERF_COUNT_HW_BRANCH_MISSES], 0);
	KUNIT_EXPECT_EQ(test, hardware[PERF_COUNT_HW_CPU_CYCLES], 0x0082);
	KUNIT_EXPECT_EQ(test, hardware[PERF_COUNT_HW_BRANCH_INSTRUCTIONS], 0x0028);
}

/* With a threshold, a fixed counter does not count the event. */
static void zhaoxin_counters(struct kunit *test)
{
	struct perf_event *event = start_event(test, WUDAOKOU, 0);

	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x00c0), GP(4) | FIXED(0));
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0082), GP(4) | FIXED(1));
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0083), GP(4) | FIXED(2));
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x010000c0), GP(4));
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0700), GP(4));
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x002000c0), -EINVAL);

	event = uarch_start(test, &zxc);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x00c0), GP(2));
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0082), GP(2) | FIXED(1));
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0083), GP(2));
}

/* A counter takes all bits of a written value: no interrupt comes before the whole period. */
static void zhaoxin_long_periods(struct kunit *test)
{
	struct perf_event *event;
	struct fixture *b;

	start_event(test, LUJIAZUI, 0);
	b = test->priv;
	event = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, BIT_ULL(40));
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_run(b, TESTBED_CYCLES, BIT_ULL(40) - 1);
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.nmis), 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1, 1);
}

/* ZX-C keeps an overflow flag that is cleared while GLOBAL_CTRL is 0. */
static void zhaoxin_zxc_overflows(struct kunit *test)
{
	struct perf_event *event;
	struct fixture *b;

	uarch_start(test, &zxc);
	b = test->priv;
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.global_status), 0);
	event = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 100);
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1000, 10);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1000);
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.nmis), 10);
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.global_status), 0);
}

static void zhaoxin_takes_known_cpus(struct kunit *test)
{
	static const struct {
		unsigned int family, model, stepping, version;
		int ret;
	} cpus[] = {
		/* KX-7000 */
		{ 7, 0x6b, 1, 2, 0 },
		/* The last stepping of VIA's Nano, the first of ZX-C, and ZX-C of another model */
		{ 6, 0x0f, 0xd, 2, -ENODEV }, { 6, 0x0f, 0xe, 2, 0 }, { 6, 0x19, 0, 2, 0 },
		/* Unknown models, and an unknown family */
		{ 6, 0x1a, 0, 2, -ENODEV }, { 7, 0x7b, 0, 2, -ENODEV }, { 8, 0x3b, 0, 2, -ENODEV },
		/* Versions 1 and 3 of the architectural PMU */
		{ 7, LUJIAZUI, 0, 1, -ENODEV }, { 7, LUJIAZUI, 0, 3, -ENODEV },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cpus); i++) {
		struct x86_model_cpu cpu = family_7;
		struct x86_desc desc = { };
		struct fixture *b;

		start_event(test, LUJIAZUI, 0);
		b = test->priv;
		desc.pmu = b->pmu;
		cpu.family = cpus[i].family;
		cpu.model = cpus[i].model;
		cpu.version = cpus[i].version;
		x86_model_power_on(&cpu);
		x86_model_cpuinfo.x86_stepping = cpus[i].stepping;
		KUNIT_EXPECT_EQ_MSG(test, zhaoxin_describe(&desc), cpus[i].ret, "row %u", i);
		/* The fixture ends on its own CPU. */
		x86_model_power_on(&family_7);
	}
}

static struct kunit_case zhaoxin_cases[] = {
	KUNIT_CASE(zhaoxin_generic_events),
	KUNIT_CASE(zhaoxin_zxc_events),
	KUNIT_CASE(zhaoxin_missing_events),
	KUNIT_CASE(zhaoxin_counters),
	KUNIT_CASE(zhaoxin_long_periods),
	KUNIT_CASE(zhaoxin_zxc_overflows),
	KUNIT_CASE(zhaoxin_takes_known_cpus),
	{ }
};

OWN_TESTBED_SUITE(zhaoxin, "corepmu_x86_zhaoxin");
