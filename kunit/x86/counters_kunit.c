// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of the Intel and AMD backends
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include <corepmu/module.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "x86/amd/amd.h"
#include "x86/intel/intel.h"
#include "x86/msr.h"
#include "x86/x86.h"

/* Expected values for attributes: event select register, and counters */
#define GP(n)		GENMASK_ULL((n) - 1, 0)
#define FIXED(n)	BIT_ULL(FIXED_COUNTER_BASE + (n))
#define HW(id)		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_##id
#define RAW(value)	.type = PERF_TYPE_RAW, .config = value
#define CACHE(id, miss)	.type = PERF_TYPE_HW_CACHE,			\
			.config = PERF_COUNT_HW_CACHE_##id | (miss) << 16

struct encoding {
	const char *testbed;
	struct perf_event_attr attr;
	int err;
	u64 select;
	u64 allowed;
};

static const struct encoding encodings[] = {
	/* Figure 20-1: USR 16, OS 17, INT 20; the driver sets EN at start. */
	{ "intel-v4", { HW(CPU_CYCLES) }, 0, 0x13003c, GP(8) | FIXED(1) },
	{ "intel-v4", { HW(INSTRUCTIONS) }, 0, 0x1300c0, GP(8) | FIXED(0) },
	{ "intel-v4", { HW(BRANCH_INSTRUCTIONS) }, 0, 0x1300c4, GP(8) },
	{ "intel-v4", { HW(BRANCH_MISSES) }, 0, 0x1300c5, GP(8) },
	{ "intel-v4", { HW(CACHE_REFERENCES) }, 0, 0x134f2e, GP(8) },
	{ "intel-v4", { HW(CACHE_MISSES) }, 0, 0x13412e, GP(8) },
	{ "intel-v4", { HW(BUS_CYCLES) }, 0, 0x13013c, GP(8) },
	{ "intel-v4", { HW(REF_CPU_CYCLES) }, 0, 0x130300, FIXED(2) },
	{ "intel-v4", { HW(STALLED_CYCLES_FRONTEND) }, -ENOENT },
	{ "intel-v4", { HW(CPU_CYCLES), .exclude_user = 1 }, 0, 0x12003c, GP(8) | FIXED(1) },
	{ "intel-v4", { HW(CPU_CYCLES), .exclude_kernel = 1 }, 0, 0x11003c, GP(8) | FIXED(1) },
	{ "intel-v4", { HW(CPU_CYCLES), .exclude_host = 1 }, 0, 0x10003c, GP(8) | FIXED(1) },
	{ "intel-v3", { HW(CPU_CYCLES), .exclude_host = 1 }, -EOPNOTSUPP },
	{ "intel-v4", { CACHE(LL, 0) }, -ENOENT },
	{ "intel-v4", { CACHE(BPU, 1) }, -ENOENT },
	{ "intel-skl", { CACHE(BPU, 0) }, 0, 0x1300c4, GP(8) },
	{ "intel-skl", { CACHE(BPU, 1) }, 0, 0x1300c5, GP(8) },
	{ "intel-v4", { CACHE(L1D, 0) }, -ENOENT },
	{ "intel-v4", { RAW(0xc0) }, 0, 0x1300c0, GP(8) | FIXED(0) },
	/* With edge, inv or cmask, no fixed counter counts the event. */
	{ "intel-v4", { RAW(0x018400c0) }, 0, 0x019700c0, GP(8) },
	{ "intel-v4", { RAW(0xff84ffffULL) }, 0, 0xff97ffff, GP(4) },
	{ "intel-v4", { RAW(0x5300c0) }, 0, 0x1300c0, GP(8) | FIXED(0) },
	/* pcm sets bit 63. */
	{ "intel-v4", { RAW(0x80000000004320d1ULL) }, 0, 0x1320d1, GP(4) },
	{ "intel-v4", { RAW(0x40000000004320d1ULL) }, -EINVAL },
	{ "intel-v4", { RAW(0x2000c0) }, -EINVAL },
	{ "intel-v4", { RAW(0x1000000c0ULL) }, -EINVAL },
	/* any; in_tx and in_tx_cp */
	{ "intel-v3", { RAW(0x2000c0) }, 0, 0x3300c0, GP(4) },
	{ "intel-v3", { RAW(0x2001c0) }, 0, 0x3301c0, GP(4) },
	{ "intel-v3", { RAW(0x1000000c0ULL) }, -EINVAL },
	{ "intel-skl", { RAW(0x1000000c0ULL) }, 0, 0x1001300c0ULL, GP(8) },
	{ "intel-skl", { RAW(0x1000000c4ULL), .sample_period = 1000 }, 0, 0x1001300c4ULL, GP(8) },
	{ "intel-skl", { RAW(0x2000000c4ULL) }, 0, 0x2000300c4ULL, BIT_ULL(2) },
	{ "intel-skl", { RAW(0x3000000c4ULL) }, 0, 0x3000300c4ULL, BIT_ULL(2) },
	{ "intel-skl", { RAW(0x2000001c0ULL) }, -EINVAL },
	{ "intel-skl", { RAW(0x2000000c4ULL), .sample_period = 1000 }, -EOPNOTSUPP },
	{ "intel-skl", { RAW(0x2000000c4ULL), .sample_period = 1000, .freq = 1 }, -EOPNOTSUPP },
	{ "intel-skl", { RAW(0x1002000c4ULL) }, -EOPNOTSUPP },
	{ "intel-skl", { RAW(0x2002000c4ULL) }, -EOPNOTSUPP },
	{ "intel-skl", { RAW(0x4000000c4ULL) }, -EINVAL },
	/* Unit masks of event 0 select fixed counters. */
	{ "intel-v4", { RAW(0) }, 0, 0x130000, GP(4) },
	{ "intel-v4", { RAW(0x0100) }, -EINVAL },
	{ "intel-v4", { RAW(0x0300) }, 0, 0x130300, FIXED(2) },
	/* Events that are not architectural get the counters that count them on every CPU. */
	{ "intel-v4", { RAW(0x0151) }, 0, 0x130151, GP(4) },
	{ "intel-v4", { RAW(0x01040151) }, 0, 0x01170151, GP(4) },
	{ "intel-v4", { RAW(0x20c4) }, 0, 0x1320c4, GP(4) },
	{ "intel-v5", { RAW(0x20c4) }, 0, 0x1320c4, GP(4) },
	{ "intel-v5", { RAW(0x4f2e) }, 0, 0x134f2e, GP(8) },
	{ "intel-v2", { RAW(0x0151) }, 0, 0x130151, GP(2) },
	/* Events with an extra register */
	{ "intel-v4", { RAW(0x01b7) }, -EOPNOTSUPP },
	{ "intel-v4", { RAW(0x01bb) }, -EOPNOTSUPP },
	{ "intel-v4", { RAW(0x02b7) }, -EOPNOTSUPP },
	{ "intel-v4", { RAW(0x012a) }, -EOPNOTSUPP },
	{ "intel-v4", { RAW(0x012b) }, -EOPNOTSUPP },
	{ "intel-v4", { RAW(0x0127) }, -EOPNOTSUPP },
	{ "intel-v4", { RAW(0x0227) }, -EOPNOTSUPP },
	{ "intel-v4", { RAW(0x100b) }, -EOPNOTSUPP },
	{ "intel-v4", { RAW(0x01cd) }, -EOPNOTSUPP },
	{ "intel-v4", { RAW(0x05d0) }, -EOPNOTSUPP },
	{ "intel-v4", { RAW(0x01c6) }, -EOPNOTSUPP },
	{ "intel-v4", { RAW(0x02c6) }, -EOPNOTSUPP },
	{ "intel-v4", { RAW(0x03c6) }, -EOPNOTSUPP },
	{ "intel-v4", { RAW(0x40ad) }, -EOPNOTSUPP },
	{ "intel-v4", { RAW(0x01c601b7) }, -EOPNOTSUPP },
	{ "intel-v4", { RAW(0x02bb) }, 0, 0x1302bb, GP(4) },
	/* Each code needs an extra register on one of these two CPUs only. */
	{ "intel-v4", { RAW(0x04c2) }, 0, 0x1304c2, GP(4) },
	{ "intel-v5", { RAW(0x04c2) }, -EOPNOTSUPP },
	{ "intel-v5", { RAW(0x02b7) }, 0, 0x1302b7, GP(4) },
	{ "intel-v4", { RAW(0xc0), .config1 = 1 }, -EINVAL },
	{ "intel-v4", { RAW(0xc0), .config3 = 1 }, -EINVAL },
	/* For a generic event, the driver ignores all fields but config. */
	{ "intel-v4", { HW(INSTRUCTIONS), .config1 = 1, .config2 = 1, .config3 = 1 }, 0, 0x1300c0,
	  GP(8) | FIXED(0) },
	{ "amd-v2", { CACHE(L1D, 0), .config1 = 1 }, 0, 0x130040, GP(6) },

	{ "intel-v1", { HW(CPU_CYCLES) }, 0, 0x13003c, GP(2) },
	{ "intel-v1", { HW(REF_CPU_CYCLES) }, -ENOENT },
	{ "intel-v1", { RAW(0x0300) }, -EINVAL },
	{ "intel-v2", { HW(INSTRUCTIONS) }, 0, 0x1300c0, GP(2) | FIXED(0) },
	{ "intel-v5", { HW(REF_CPU_CYCLES) }, 0, 0x130300, FIXED(2) },
	/*
	 * umask2 makes another event; with eq=1, no fixed counter counts the event. User space must
	 * not read counters of per-CPU events.
	 */
	{ "intel-v6", { RAW(0xc4) }, 0, 0x20001300c4ULL, 0x67 },
	{ "intel-v6", { RAW(0x10000004f2eULL) }, 0, 0x12000134f2eULL, 0x7 },
	{ "intel-v6", { RAW(0x100000000c0ULL) }, 0, 0x120001300c0ULL, 0x7 },
	{ "intel-v6", { RAW(0x10000000000ULL) }, -EINVAL },
	{ "intel-v6", { RAW(0x10010000c0ULL) }, 0, 0x30011300c0ULL, 0x67 },
	{ "intel-v5", { RAW(0x10010000c0ULL) }, -EINVAL },
	{ "intel-v5", { RAW(0x10000004f2eULL) }, -EINVAL },

	{ "amd-v2", { HW(CPU_CYCLES) }, 0, 0x130076, GP(6) },
	{ "amd-v2", { HW(INSTRUCTIONS) }, 0, 0x1300c0, GP(6) },
	{ "amd-v2", { HW(CACHE_REFERENCES) }, 0, 0x13ff60, GP(6) },
	{ "amd-v2", { HW(CACHE_MISSES) }, 0, 0x130964, GP(6) },
	{ "amd-v2", { HW(BRANCH_INSTRUCTIONS) }, 0, 0x1300c2, GP(6) },
	{ "amd-v2", { HW(BRANCH_MISSES) }, 0, 0x1300c3, GP(6) },
	{ "amd-v2", { HW(STALLED_CYCLES_FRONTEND) }, 0, 0x1300a9, GP(6) },
	{ "amd-v2", { HW(STALLED_CYCLES_BACKEND) }, -ENOENT },
	{ "amd-v2", { HW(BUS_CYCLES) }, -ENOENT },
	{ "amd-v2", { HW(REF_CPU_CYCLES) }, -ENOENT },
	{ "amd-core", { HW(STALLED_CYCLES_FRONTEND) }, 0, 0x130287, GP(6) },
	{ "amd-core", { HW(STALLED_CYCLES_BACKEND) }, 0, 0x130187, GP(6) },
	{ "amd-core", { HW(CPU_CYCLES), .exclude_host = 1 }, 0, 0x10000130076, GP(6) },
	{ "amd-v2", { HW(CPU_CYCLES), .exclude_host = 1 }, 0, 0x100076, GP(6) },
	{ "amd-legacy", { HW(CPU_CYCLES) }, 0, 0x130076, GP(4) },
	{ "amd-legacy", { HW(CACHE_MISSES) }, 0, 0x13077e, GP(4) },
	{ "amd-legacy", { HW(BUS_CYCLES) }, -ENOENT },
	{ "amd-legacy", { CACHE(L1D, 0) }, 0, 0x130040, GP(4) },
	{ "amd-legacy", { CACHE(NODE, 0) }, -ENOENT },
	{ "amd-v2", { CACHE(L1D, 0) }, 0, 0x130040, GP(6) },
	{ "amd-v2", { CACHE(L1D, 1) }, 0, 0x13c860, GP(6) },
	{ "amd-v2", { CACHE(L1I, 0) }, 0, 0x130080, GP(6) },
	{ "amd-v2", { CACHE(L1I, 1) }, 0, 0x130081, GP(6) },
	{ "amd-v2", { CACHE(DTLB, 0) }, 0, 0x13ff45, GP(6) },
	{ "amd-v2", { CACHE(DTLB, 1) }, 0, 0x13f045, GP(6) },
	{ "amd-v2", { CACHE(ITLB, 0) }, 0, 0x130084, GP(6) },
	{ "amd-v2", { CACHE(ITLB, 1) }, 0, 0x13ff85, GP(6) },
	{ "amd-v2", { CACHE(BPU, 0) }, 0, 0x1300c2, GP(6) },
	{ "amd-v2", { CACHE(BPU, 1) }, 0, 0x1300c3, GP(6) },
	{ "amd-v2", { CACHE(LL, 0) }, -ENOENT },
	/* Bits 35-32 belong to the event code. */
	{ "amd-v2", { RAW(0xf000000feULL) }, 0, 0xf001300feULL, GP(6) },
	{ "amd-v2", { RAW(0xf000000ffULL) }, -EINVAL },
	{ "amd-v2", { RAW(0x1000000000ULL) }, -EINVAL },
	{ "amd-v2", { RAW(0) }, 0, 0x130000, GP(6) },
	/* Zen, Zen 2, Zen 3, and Hygon's Zen */
	/* Merged events: the number of a pair is the odd counter's. */
	{ "amd-v2", { RAW(0x003) }, 0, 0x130003, 0x2a },
	{ "amd-core", { RAW(0x003) }, 0, 0x130003, 0x2a },
	{ "amd-zen2", { RAW(0x003) }, 0, 0x130003, 0x2a },
	{ "amd-hygon", { RAW(0x003) }, 0, 0x130003, 0x2a },
	{ "amd-legacy", { RAW(0x003) }, 0, 0x130003, GP(4) },
	{ "amd-zen2", { HW(STALLED_CYCLES_FRONTEND) }, 0, 0x1300a9, GP(6) },
	{ "amd-zen2", { HW(STALLED_CYCLES_BACKEND) }, -ENOENT },
	{ "amd-hygon", { HW(STALLED_CYCLES_FRONTEND) }, 0, 0x130287, GP(6) },
	{ "amd-hygon", { HW(STALLED_CYCLES_BACKEND) }, 0, 0x130187, GP(6) },
};

static void encoding_desc(const struct encoding *e, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s type %u config %#llx, row %d", e->testbed,
		 e->attr.type, e->attr.config, (int)(e - encodings));
}

KUNIT_ARRAY_PARAM(encoding, encodings, encoding_desc);

static void x86_encodes(struct kunit *test)
{
	const struct encoding *e = test->param_value;
	struct fixture *b = fixture_start_on(test, e->testbed);
	struct perf_event *event;

	KUNIT_EXPECT_EQ(test, fixture_open(b, &e->attr, &event), e->err);
	if (e->err)
		return;
	KUNIT_EXPECT_EQ(test, event->hw.config_base, e->select);
	KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&event->hw), e->allowed);
	/* Opening an event makes no register accesses. */
	KUNIT_EXPECT_EQ(test, model_accesses(NULL), 0);

	/* The registers accept the value. */
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
}

/* All register accesses of an event: add, read, overflow, del, add on the same counter. */
static const struct sequence sequences[] = {
	{
		"intel-v4", PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		.add = "PERFEVTSEL0=5300c4 A_PMC0=fffffffffc18 GLOBAL_CTRL=1",
		.read = "rdpmc0",
		.overflow = "GLOBAL_CTRL=0 GLOBAL_STATUS GLOBAL_STATUS_RESET=1 rdpmc0 A_PMC0=fffffffffc18 GLOBAL_STATUS LVTPC=400 GLOBAL_CTRL=1",
		.del = "GLOBAL_CTRL=0 rdpmc0",
	}, {
		"intel-v4", PERF_COUNT_HW_CPU_CYCLES,
		.add = "FIXED_CTR_CTRL=b0 FIXED_CTR1=fffffffffc18 GLOBAL_CTRL=200000000",
		.read = "rdpmc-fixed1",
		.overflow = "GLOBAL_CTRL=0 GLOBAL_STATUS GLOBAL_STATUS_RESET=200000000 rdpmc-fixed1 FIXED_CTR1=fffffffffc18 GLOBAL_STATUS LVTPC=400 GLOBAL_CTRL=200000000",
		.del = "GLOBAL_CTRL=0 rdpmc-fixed1",
	}, {
		"intel-v4-beside", PERF_COUNT_HW_CPU_CYCLES,
		.add = "GLOBAL_CTRL=7000000ff FIXED_CTR1=fffffffffc18 FIXED_CTR_CTRL=b0",
		.read = "rdpmc-fixed1",
		.overflow = "FIXED_CTR_CTRL=0 GLOBAL_STATUS GLOBAL_STATUS_RESET=200000000 rdpmc-fixed1 FIXED_CTR1=fffffffffc18 GLOBAL_STATUS LVTPC=400 FIXED_CTR_CTRL=b0 GLOBAL_CTRL=7000000ff",
		.del = "FIXED_CTR_CTRL=0 rdpmc-fixed1",
	}, {
		/* Without full-width writes, WRMSR sign-extends bits 31-0. */
		"intel-v1", PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		.add = "PMC0=fffffffc18 PERFEVTSEL0=5300c4",
		.read = "rdpmc0",
		.overflow = "PERFEVTSEL0=1300c4 rdpmc0 rdpmc0 PMC0=fffffffc18 LVTPC=400 PERFEVTSEL0=5300c4",
		.del = "PERFEVTSEL0=1300c4 rdpmc0",
	}, {
		"amd-v2", PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		.add = "PERF_CTL0=5300c2 PERF_CTR0=fffffffffc18 GLOBAL_CTL=1",
		.read = "rdpmc0",
		.overflow = "GLOBAL_CTL=0 GLOBAL_STATUS GLOBAL_STATUS_CLR=1 rdpmc0 PERF_CTR0=fffffffffc18 GLOBAL_CTL=1",
		.del = "GLOBAL_CTL=0 rdpmc0",
	}, {
		"amd-core", PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		.add = "PERF_CTR0=fffffffffc18 PERF_CTL0=5300c2",
		.read = "rdpmc0",
		.overflow = "PERF_CTL0=1300c2 rdpmc0 rdpmc0 PERF_CTR0=fffffffffc18 PERF_CTL0=5300c2",
		.del = "PERF_CTL0=1300c2 rdpmc0",
	}, {
		"amd-legacy", PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		.add = "PERF_CTR0=fffffffffc18 PERF_CTL0=5300c2",
		.read = "rdpmc0",
		.overflow = "PERF_CTL0=1300c2 rdpmc0 rdpmc0 PERF_CTR0=fffffffffc18 PERF_CTL0=5300c2",
		.del = "PERF_CTL0=1300c2 rdpmc0",
	},
};

KUNIT_ARRAY_PARAM(sequence, sequences, sequence_desc);

/* reset() puts the registers into a known state, whatever firmware or another driver has left. */
struct reset {
	const char *testbed;
	const char *accesses;
};

static const struct reset resets[] = {
	{
		.testbed = "intel-v1",
		.accesses = "PERFEVTSEL0=0 PERFEVTSEL1=0",
	}, {
		.testbed = "intel-v2",
		.accesses = "GLOBAL_CTRL=0 PERFEVTSEL0=0 PERFEVTSEL1=0 FIXED_CTR_CTRL=0 GLOBAL_STATUS_RESET=700000003",
	}, {
		.testbed = "intel-v4-beside",
		.accesses = "GLOBAL_CTRL=0 PERFEVTSEL0=0 PERFEVTSEL1=0 PERFEVTSEL2=0 PERFEVTSEL3=0 PERFEVTSEL4=0 PERFEVTSEL5=0 PERFEVTSEL6=0 PERFEVTSEL7=0 FIXED_CTR_CTRL=0 GLOBAL_CTRL=7000000ff GLOBAL_STATUS_RESET=7000000ff",
	}, {
		.testbed = "amd-legacy",
		.accesses = "PERF_CTL0=0 PERF_CTL1=0 PERF_CTL2=0 PERF_CTL3=0",
	}, {
		.testbed = "amd-v2",
		.accesses = "GLOBAL_CTL=0 PERF_CTL0=0 PERF_CTL1=0 PERF_CTL2=0 PERF_CTL3=0 PERF_CTL4=0 PERF_CTL5=0 GLOBAL_STATUS_CLR=3f",
	},
};

static void reset_desc(const struct reset *r, char *desc)
{
	strscpy(desc, r->testbed, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(reset, resets, reset_desc);

static void x86_resets(struct kunit *test)
{
	const struct reset *r = test->param_value;
	struct fixture *b = fixture_start_on(test, r->testbed);
	unsigned long flags;

	local_irq_save(flags);
	b->pmu->backend->reset(b->cpuc);
	local_irq_restore(flags);
	expect_accesses(test, r->accesses);
}

/* Descriptions of CPUs, from CPUID */
static void x86_describes(struct kunit *test)
{
	static const struct {
		const char *testbed;
		u64 counters;
		unsigned int width;
		s64 max_left;
		bool masks_lvtpc, late_nmis;
	} table[] = {
		{ "intel-v1", 0x3, 40, GENMASK(30, 0), true, false },
		{ "intel-v2", 0x700000003, 40, GENMASK(30, 0), true, false },
		{ "intel-v3", 0x70000000f, 48, S64_MAX, true, false },
		{ "intel-v5", 0xf000000ff, 48, S64_MAX, true, false },
		{ "intel-v6", 0x700000067, 48, S64_MAX, true, false },
		{ "amd-legacy", 0xf, 48, S64_MAX, false, true },
		{ "amd-core", 0x3f, 48, S64_MAX, false, true },
		{ "amd-v2", 0x3f, 48, S64_MAX, false, true },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct fixture *b = fixture_start_on(test, table[i].testbed);
		struct x86_desc *desc = to_x86(b->pmu);

		KUNIT_EXPECT_EQ(test, b->pmu->counters, table[i].counters);
		KUNIT_EXPECT_EQ(test, b->pmu->width[0], table[i].width);
		KUNIT_EXPECT_EQ(test, b->pmu->max_left, table[i].max_left);
		KUNIT_EXPECT_EQ(test, desc->masks_lvtpc, table[i].masks_lvtpc);
		KUNIT_EXPECT_EQ(test, desc->late_nmis, table[i].late_nmis);
		fixture_end(b);
	}
}

/* CPUs without fixed counters, and without some architectural events */
static void x86_describes_less(struct kunit *test)
{
	struct x86_model_cpu cpu = {
		.name = "less", .family = 6, .version = 2, .nr_gp = 4, .gp_width = 48,
		.nr_fixed = 0, .fixed_width = 48, .nr_events = 7, .missing = 0x60,
	};
	struct x86_desc *desc = kunit_kzalloc(test, sizeof(*desc), GFP_KERNEL);
	struct corepmu *pmu = corepmu_alloc(&x86_each_backend);

	KUNIT_ASSERT_NOT_NULL(test, desc);
	KUNIT_ASSERT_NOT_NULL(test, pmu);
	desc->pmu = pmu;

	x86_model_power_on(&cpu);
	KUNIT_EXPECT_EQ(test, intel_describe(desc), 0);
	KUNIT_EXPECT_EQ(test, pmu->counters, 0xf);
	KUNIT_EXPECT_EQ(test, desc->hardware[PERF_COUNT_HW_BRANCH_MISSES], 0);
	KUNIT_EXPECT_EQ(test, desc->hardware[PERF_COUNT_HW_BRANCH_INSTRUCTIONS], 0);
	KUNIT_EXPECT_EQ(test, desc->hardware[PERF_COUNT_HW_CACHE_MISSES], 0x412e);
	KUNIT_EXPECT_EQ(test, desc->hardware[PERF_COUNT_HW_REF_CPU_CYCLES], 0);

	/* The CPU lacks events beyond the number that CPUID reports. */
	cpu.nr_events = 2;
	memset(desc->hardware, 0, sizeof(desc->hardware));
	KUNIT_EXPECT_EQ(test, intel_describe(desc), 0);
	KUNIT_EXPECT_EQ(test, desc->hardware[PERF_COUNT_HW_CPU_CYCLES], 0x3c);
	KUNIT_EXPECT_EQ(test, desc->hardware[PERF_COUNT_HW_BUS_CYCLES], 0);

	cpu.version = 0;
	KUNIT_EXPECT_EQ(test, intel_describe(desc), -ENODEV);
	cpu.version = 2;
	cpu.nr_gp = 0;
	KUNIT_EXPECT_EQ(test, intel_describe(desc), -ENODEV);
	cpu.nr_gp = 4;
	cpu.gp_width = 31;
	KUNIT_EXPECT_EQ(test, intel_describe(desc), -ENODEV);
	cpu.gp_width = 65;
	KUNIT_EXPECT_EQ(test, intel_describe(desc), -ENODEV);
	cpu.gp_width = 48;
	x86_model_cpuinfo.cpuid_level = 9;
	KUNIT_EXPECT_EQ(test, intel_describe(desc), -ENODEV);

	cpu.amd = true;
	cpu.family = 0x19;
	cpu.nr_gp = 0;
	x86_model_cpuinfo.extended_cpuid_level = 0x80000022;
	KUNIT_EXPECT_EQ(test, amd_describe(desc), -ENODEV);

	corepmu_free(pmu);
}

/*
 * In coexist mode the first event reserves the counters, and closing the last event releases them.
 */
static void x86_reserves(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-v4-beside");
	struct perf_event_attr attr = { HW(CPU_CYCLES) };
	struct perf_event_attr own = { .type = b->pmu->perf_pmu.type, .config = 0x3c };
	struct perf_event *event, *other;

	/* As after loading: no event, no reservation. */
	x86_release(b->pmu);
	KUNIT_EXPECT_EQ(test, x86_model_reserved(), 0);
	KUNIT_EXPECT_FALSE(test, x86_is_reserved());

	/* Another driver has the registers: this driver accesses none. */
	model_forget();
	b->pmu->backend->reset(b->cpuc);
	x86_model_spurious_nmi();
	b->unknown_expected++;
	KUNIT_EXPECT_EQ(test, model_accesses(NULL), 0);

	x86_model_use(true);
	KUNIT_EXPECT_EQ(test, fixture_open(b, &own, &event), -EBUSY);
	KUNIT_EXPECT_NULL(test, event->destroy);
	/* The generic event may be for another PMU: after ENOENT perf core asks the next one. */
	b->pmu->claims_generic = false;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -ENOENT);
	KUNIT_EXPECT_NULL(test, event->destroy);
	KUNIT_EXPECT_EQ(test, fixture_open(b, &own, &event), -EBUSY);
	KUNIT_EXPECT_EQ(test, x86_model_reserved(), 0);
	x86_model_use(false);

	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), 0);
	KUNIT_EXPECT_EQ(test, x86_model_reserved(), 16);
	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &other), 0);
	KUNIT_EXPECT_EQ(test, x86_model_reserved(), 16);
	fixture_close(event);
	KUNIT_EXPECT_TRUE(test, x86_is_reserved());
	fixture_close(other);
	KUNIT_EXPECT_EQ(test, x86_model_reserved(), 0);

	KUNIT_EXPECT_EQ(test, x86_reserve(), 0);
}

/* Two fixed counters share a register: each has its own bits. */
static void x86_fixed_shared(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-v4");
	struct perf_event_attr user = { HW(CPU_CYCLES), .exclude_kernel = 1 };
	struct perf_event_attr kernel = { HW(INSTRUCTIONS), .exclude_user = 1 };
	struct perf_event *cycles, *instructions;

	KUNIT_ASSERT_EQ(test, fixture_open(b, &user, &cycles), 0);
	KUNIT_ASSERT_EQ(test, fixture_open(b, &kernel, &instructions), 0);
	KUNIT_EXPECT_EQ(test, fixture_add(cycles, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, fixture_add(instructions, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.fixed_ctrl), 0xa9);
	b->testbed->ops->run(TESTBED_INSTRUCTIONS, false, 33);
	b->testbed->ops->run(TESTBED_CYCLES, false, 44);
	b->testbed->ops->run(TESTBED_CYCLES, true, 55);
	KUNIT_EXPECT_EQ(test, fixture_read(cycles), 55);
	KUNIT_EXPECT_EQ(test, fixture_read(instructions), 33);
}

static struct kunit_case x86_cases[] = {
	KUNIT_CASE_PARAM(x86_encodes, encoding_gen_params),
	KUNIT_CASE_PARAM(sequence_of_accesses, sequence_gen_params),
	KUNIT_CASE_PARAM(x86_resets, reset_gen_params),
	KUNIT_CASE(x86_describes),
	KUNIT_CASE(x86_describes_less),
	KUNIT_CASE(x86_reserves),
	KUNIT_CASE(x86_fixed_shared),
	{ }
};

OWN_TESTBED_SUITE(x86, "corepmu_x86_counters");
