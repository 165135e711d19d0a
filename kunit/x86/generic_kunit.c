// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of x86's generic events and event names in sysfs, which differ between
 * microarchitectures
 */
#include <kunit/test.h>

#include <linux/device.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "x86/intel/intel.h"
#include "x86/msr.h"
#include "x86/x86.h"
#include "x86/intel/uarch.h"

/*
 * The event codes come from perf's named events, tools/perf/pmu-events/arch/x86; for Zen 4 and 5
 * from amdzen4 and amdzen5. The driver's codes come from the kernel's tables.
 */
#define ANY_OP(cache, op, miss)	(PERF_COUNT_HW_CACHE_##cache |				\
				 PERF_COUNT_HW_CACHE_OP_##op << 8 | (miss) << 16)

struct generic {
	u8 model;
	u8 core_type;
	u32 type;
	u64 config;
	s64 code;
};

static const struct generic generics[] = {
	/* Core 2: L1D_CACHE_LD.I_STATE, L1I.READS, L2_LD.MESI, DTLB_MISSES.MISS_ST, ITLBMISSES */
	{ 0x0f, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, READ, 1), 0x0140 },
	{ 0x17, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, PREFETCH, 0), 0x104e },
	{ 0x17, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, PREFETCH, 1), -ENOENT },
	{ 0x17, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1I, READ, 0), 0x0080 },
	{ 0x1d, 0, PERF_TYPE_HW_CACHE, ANY_OP(LL, READ, 0), 0x4f29 },
	{ 0x16, 0, PERF_TYPE_HW_CACHE, ANY_OP(LL, WRITE, 1), 0x412a },
	{ 0x0f, 0, PERF_TYPE_HW_CACHE, ANY_OP(DTLB, READ, 0), 0x0f40 },
	{ 0x0f, 0, PERF_TYPE_HW_CACHE, ANY_OP(DTLB, WRITE, 1), 0x0808 },
	{ 0x0f, 0, PERF_TYPE_HW_CACHE, ANY_OP(ITLB, READ, 1), 0x1282 },
	{ 0x0f, 0, PERF_TYPE_HW_CACHE, ANY_OP(BPU, READ, 1), 0x00c5 },
	/* Core: the kernel has no table. */
	{ 0x0e, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, READ, 0), -ENOENT },
	{ 0x0e, 0, PERF_TYPE_HW_CACHE, ANY_OP(BPU, READ, 0), -ENOENT },
	{ 0x0e, 0, PERF_TYPE_HW_CACHE, ANY_OP(BPU, READ, 1), -ENOENT },
	/* Nehalem: MEM_INST_RETIRED.STORES, L1D_PREFETCH.MISS, ITLB_MISS_RETIRED */
	{ 0x1e, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, WRITE, 0), 0x020b },
	{ 0x1e, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, PREFETCH, 1), 0x024e },
	{ 0x1e, 0, PERF_TYPE_HW_CACHE, ANY_OP(ITLB, READ, 1), 0x20c8 },
	{ 0x1e, 0, PERF_TYPE_HW_CACHE, ANY_OP(DTLB, READ, 0), 0x0f40 },
	{ 0x1e, 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 0x0180010e },
	{ 0x1e, 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 0x01803fb1 },
	/* CPU_CLK_UNHALTED.REF_TSC on fixed counter 2, or REF_TSC_P */
	{ 0x6a, 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, 0x0300 },
	{ 0x8f, 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, 0x013c },
	{ 0xbe, 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, 0x013c },
	/* Westmere: MEM_INST_RETIRED.LOADS, ITLB_MISSES.ANY */
	{ 0x2c, 0, PERF_TYPE_HW_CACHE, ANY_OP(DTLB, READ, 0), 0x010b },
	{ 0x2c, 0, PERF_TYPE_HW_CACHE, ANY_OP(ITLB, READ, 1), 0x0185 },
	/* Sandy Bridge: L1D.ALL_M_REPLACEMENT, HW_PRE_REQ.DL1_MISS, ITLB_MISSES.STLB_HIT */
	{ 0x2a, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, WRITE, 1), 0x0851 },
	{ 0x2a, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, PREFETCH, 1), 0x024e },
	{ 0x2a, 0, PERF_TYPE_HW_CACHE, ANY_OP(ITLB, READ, 0), 0x1085 },
	{ 0x2a, 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 0x018001b1 },
	/* Ivy Bridge: DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK; it lacks these L1D events */
	{ 0x3a, 0, PERF_TYPE_HW_CACHE, ANY_OP(DTLB, READ, 1), 0x8108 },
	{ 0x3a, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, WRITE, 1), -ENOENT },
	{ 0x3a, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, PREFETCH, 1), -ENOENT },
	{ 0x3a, 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 0x0180010e },
	{ 0x3a, 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, -ENOENT },
	/* Haswell: MEM_UOPS_RETIRED.ALL_LOADS, DTLB_STORE_MISSES.MISS_CAUSES_A_WALK */
	{ 0x3c, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, READ, 0), 0x81d0 },
	{ 0x3c, 0, PERF_TYPE_HW_CACHE, ANY_OP(DTLB, WRITE, 1), 0x0149 },
	{ 0x3d, 0, PERF_TYPE_HW_CACHE, ANY_OP(ITLB, READ, 0), 0x6085 },
	{ 0x3c, 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, -ENOENT },
	/*
	 * Skylake: MEM_INST_RETIRED.ALL_LOADS and .ALL_STORES, L1D.REPLACEMENT,
	 * ICACHE_64B.IFTAG_MISS, DTLB_LOAD_MISSES.WALK_COMPLETED, DTLB_STORE_MISSES
	 * and ITLB_MISSES of the same name, ITLB_MISSES.STLB_HIT
	 */
	{ 0x5e, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, READ, 0), 0x81d0 },
	{ 0x5e, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, READ, 1), 0x0151 },
	{ 0x5e, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, WRITE, 0), 0x82d0 },
	{ 0x5e, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, WRITE, 1), -ENOENT },
	{ 0x5e, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1I, READ, 1), 0x0283 },
	{ 0x5e, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1I, READ, 0), -ENOENT },
	{ 0x5e, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1I, WRITE, 0), -EINVAL },
	{ 0x55, 0, PERF_TYPE_HW_CACHE, ANY_OP(DTLB, READ, 1), 0x0e08 },
	{ 0x55, 0, PERF_TYPE_HW_CACHE, ANY_OP(DTLB, WRITE, 1), 0x0e49 },
	{ 0x55, 0, PERF_TYPE_HW_CACHE, ANY_OP(ITLB, READ, 1), 0x0e85 },
	{ 0x55, 0, PERF_TYPE_HW_CACHE, ANY_OP(ITLB, READ, 0), 0x2085 },
	{ 0x5e, 0, PERF_TYPE_HW_CACHE, ANY_OP(BPU, READ, 1), 0x00c5 },
	/* These events need OFFCORE_RSP. */
	{ 0x5e, 0, PERF_TYPE_HW_CACHE, ANY_OP(LL, READ, 0), -ENOENT },
	{ 0x5e, 0, PERF_TYPE_HW_CACHE, ANY_OP(NODE, READ, 0), -ENOENT },
	/* Ice Lake has no event for hits in the second-level ITLB. */
	{ 0x6a, 0, PERF_TYPE_HW_CACHE, ANY_OP(ITLB, READ, 0), -ENOENT },
	{ 0x6a, 0, PERF_TYPE_HW_CACHE, ANY_OP(ITLB, READ, 1), 0x0e85 },
	{ 0x6a, 0, PERF_TYPE_HW_CACHE, ANY_OP(DTLB, READ, 0), 0x81d0 },
	/*
	 * Sapphire Rapids: L2_RQSTS.ALL_DEMAND_DATA_RD and .ALL_CODE_RD, the walks,
	 * BR_INST_RETIRED.ALL_BRANCHES, BR_MISP_RETIRED.ALL_BRANCHES
	 */
	{ 0x8f, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, READ, 1), 0xe124 },
	{ 0x8f, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1I, READ, 1), 0xe424 },
	{ 0x8f, 0, PERF_TYPE_HW_CACHE, ANY_OP(DTLB, READ, 1), 0x0e12 },
	{ 0x8f, 0, PERF_TYPE_HW_CACHE, ANY_OP(DTLB, WRITE, 1), 0x0e13 },
	{ 0x8f, 0, PERF_TYPE_HW_CACHE, ANY_OP(ITLB, READ, 1), 0x0e11 },
	{ 0x8f, 0, PERF_TYPE_HW_CACHE, ANY_OP(BPU, READ, 0), 0x00c4 },
	{ 0x8f, 0, PERF_TYPE_HW_CACHE, ANY_OP(BPU, READ, 1), 0x00c5 },
	{ 0xbd, INTEL_CORE, PERF_TYPE_HW_CACHE, ANY_OP(L1D, READ, 1), 0xe124 },
	/* Atoms: L2_LD.SELF.DEMAND.MESI, PAGE_WALKS.I_SIDE_WALKS (edges), ITLB.FILLS */
	{ 0x1c, 0, PERF_TYPE_HW_CACHE, ANY_OP(LL, READ, 0), 0x4f29 },
	{ 0x37, 0, PERF_TYPE_HW_CACHE, ANY_OP(ITLB, READ, 1), 0x40205 },
	{ 0x57, 0, PERF_TYPE_HW_CACHE, ANY_OP(DTLB, READ, 1), 0x0804 },
	{ 0x86, 0, PERF_TYPE_HW_CACHE, ANY_OP(ITLB, READ, 1), 0x0481 },
	{ 0x5c, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, WRITE, 0), 0x82d0 },
	{ 0xaf, 0, PERF_TYPE_HW_CACHE, ANY_OP(DTLB, READ, 1), 0x0e08 },
	{ 0xaf, 0, PERF_TYPE_HW_CACHE, ANY_OP(ITLB, READ, 1), -ENOENT },
	{ 0x97, INTEL_ATOM, PERF_TYPE_HW_CACHE, ANY_OP(L1I, READ, 1), 0x0280 },
	/* An unknown model has no cache events, except the architectural ones. */
	{ 0xff, 0, PERF_TYPE_HW_CACHE, ANY_OP(LL, READ, 0), -ENOENT },
	{ 0xff, 0, PERF_TYPE_HW_CACHE, ANY_OP(LL, READ, 1), -ENOENT },
	{ 0xff, 0, PERF_TYPE_HW_CACHE, ANY_OP(BPU, READ, 0), -ENOENT },
	{ 0xff, 0, PERF_TYPE_HW_CACHE, ANY_OP(BPU, READ, 1), -ENOENT },
	{ 0xff, 0, PERF_TYPE_HW_CACHE, ANY_OP(L1D, READ, 0), -ENOENT },
	{ 0xff, 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 0x4f2e },
	{ 0xff, 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 0x412e },
};

static void generic_desc(const struct generic *g, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "model %#x core type %#x type %u config %#llx",
		 g->model, g->core_type, g->type, g->config);
}

KUNIT_ARRAY_PARAM(generic, generics, generic_desc);

static void expect_generic(struct kunit *test, struct perf_event *event, u32 type, u64 config,
			   s64 code)
{
	s64 counters;

	event->attr.type = type;
	counters = uarch_counters(test, event, config);
	if (code < 0) {
		KUNIT_EXPECT_EQ(test, counters, code);
		return;
	}
	KUNIT_EXPECT_GT(test, counters, 0);
	KUNIT_EXPECT_EQ(test, event->hw.config_base & ~(EVNTSEL_USR | EVNTSEL_OS | EVNTSEL_INT),
			code);
}

static void generic_is_the_named_event(struct kunit *test)
{
	const struct generic *g = test->param_value;
	struct perf_event *event = uarch_start_model(test, g->model, g->core_type, 8);

	expect_generic(test, event, g->type, g->config, g->code);
}

/* Generic events are rejected where their event would corrupt the other hyperthread's counts. */
static void generic_rejects_erratum_events(struct kunit *test)
{
	struct perf_event *event = uarch_start_model(test, 0x3c, 0, 4);

	expect_generic(test, event, PERF_TYPE_HW_CACHE, ANY_OP(L1D, READ, 0), 0x81d0);
	x86_model_threads = true;
	expect_generic(test, event, PERF_TYPE_HW_CACHE, ANY_OP(L1D, READ, 0), -ENOENT);
	expect_generic(test, event, PERF_TYPE_HW_CACHE, ANY_OP(DTLB, WRITE, 0), -ENOENT);
	expect_generic(test, event, PERF_TYPE_HW_CACHE, ANY_OP(L1D, READ, 1), 0x0151);
}

/* Zen: the models of each family, and the events of each generation */
static void generic_of_zen_generations(struct kunit *test)
{
	static const struct {
		u8 family, model;
		s64 frontend, backend, ref_cycles;
	} table[] = {
		{ 0x17, 0x01, 0x0287, 0x0187, -ENOENT },
		{ 0x17, 0x18, 0x0287, 0x0187, -ENOENT },
		{ 0x17, 0x2f, 0x0287, 0x0187, -ENOENT },
		{ 0x17, 0x30, 0x00a9, -ENOENT, -ENOENT },
		{ 0x17, 0x31, 0x00a9, -ENOENT, -ENOENT },
		{ 0x17, 0x4f, 0x00a9, -ENOENT, -ENOENT },
		{ 0x17, 0x50, 0x0287, 0x0187, -ENOENT },
		{ 0x17, 0x5f, 0x0287, 0x0187, -ENOENT },
		{ 0x17, 0x60, 0x00a9, -ENOENT, -ENOENT },
		{ 0x17, 0x71, 0x00a9, -ENOENT, -ENOENT },
		{ 0x17, 0x7f, 0x00a9, -ENOENT, -ENOENT },
		{ 0x17, 0x80, 0x0287, 0x0187, -ENOENT },
		{ 0x17, 0x90, 0x00a9, -ENOENT, -ENOENT },
		{ 0x17, 0x91, 0x00a9, -ENOENT, -ENOENT },
		{ 0x17, 0x92, 0x0287, 0x0187, -ENOENT },
		{ 0x17, 0xa0, 0x00a9, -ENOENT, -ENOENT },
		{ 0x17, 0xaf, 0x00a9, -ENOENT, -ENOENT },
		{ 0x17, 0xb0, 0x0287, 0x0187, -ENOENT },
		{ 0x19, 0x01, 0x00a9, -ENOENT, -ENOENT },
		{ 0x19, 0x0f, 0x00a9, -ENOENT, -ENOENT },
		{ 0x19, 0x10, 0x00a9, -ENOENT, 0x100000120LL },
		{ 0x19, 0x1f, 0x00a9, -ENOENT, 0x100000120LL },
		{ 0x19, 0x20, 0x00a9, -ENOENT, -ENOENT },
		{ 0x19, 0x50, 0x00a9, -ENOENT, -ENOENT },
		{ 0x19, 0x5f, 0x00a9, -ENOENT, -ENOENT },
		{ 0x19, 0x60, 0x00a9, -ENOENT, 0x100000120LL },
		{ 0x19, 0xaf, 0x00a9, -ENOENT, 0x100000120LL },
		{ 0x19, 0xb0, 0x00a9, -ENOENT, -ENOENT },
		{ 0x1a, 0x02, 0x00a9, -ENOENT, 0x100000120LL },
		{ 0x1a, 0x44, 0x00a9, -ENOENT, 0x100000120LL },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct x86_model_cpu cpu = {
			.name = "Zen", .amd = true, .family = table[i].family,
			.model = table[i].model, .version = table[i].family > 0x17 ? 2 : 1,
			.nr_gp = 6, .gp_width = 48,
		};
		struct perf_event *event = uarch_start(test, &cpu);

		expect_generic(test, event, PERF_TYPE_HARDWARE,
			       PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, table[i].frontend);
		expect_generic(test, event, PERF_TYPE_HARDWARE,
			       PERF_COUNT_HW_STALLED_CYCLES_BACKEND, table[i].backend);
		expect_generic(test, event, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES,
			       table[i].ref_cycles);
		/* ls_hw_pf_dc_fills, from Zen 2 on; there is no event for stores. */
		expect_generic(test, event, PERF_TYPE_HW_CACHE, ANY_OP(L1D, PREFETCH, 0),
			       table[i].frontend == 0x00a9 ? 0xff5a : -ENOENT);
		expect_generic(test, event, PERF_TYPE_HW_CACHE, ANY_OP(L1D, WRITE, 0), -ENOENT);
		expect_generic(test, event, PERF_TYPE_HW_CACHE, ANY_OP(LL, READ, 0), -ENOENT);
	}
}

/*
 * Families before Zen: amd_perfmon_event_map[] and amd_hw_cache_event_ids[] in
 * arch/x86/events/amd/core.c, and on family 15h the counters of "AMD family 15h event code/PMC
 * mappings" there
 */
static void generic_before_zen(struct kunit *test)
{
	static const struct {
		u32 type;
		u64 config;
		s64 code, counters_15h;
	} table[] = {
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0x0076, 0x07 },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0x00c0, 0x3f },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 0x077d, 0x07 },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 0x077e, 0x07 },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0x00c2, 0x3f },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 0x00c3, 0x3f },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, -ENOENT },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 0x00d0, 0x07 },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 0x00d1, 0x07 },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, -ENOENT },
		{ PERF_TYPE_HW_CACHE, ANY_OP(L1D, READ, 0), 0x0040, 0x3f },
		{ PERF_TYPE_HW_CACHE, ANY_OP(L1D, READ, 1), 0x0141, 0x3f },
		{ PERF_TYPE_HW_CACHE, ANY_OP(L1D, WRITE, 0), -ENOENT },
		{ PERF_TYPE_HW_CACHE, ANY_OP(L1D, WRITE, 1), -ENOENT },
		{ PERF_TYPE_HW_CACHE, ANY_OP(L1D, PREFETCH, 0), 0x0267, 0x07 },
		{ PERF_TYPE_HW_CACHE, ANY_OP(L1D, PREFETCH, 1), 0x0167, 0x07 },
		{ PERF_TYPE_HW_CACHE, ANY_OP(L1I, READ, 0), 0x0080, 0x07 },
		{ PERF_TYPE_HW_CACHE, ANY_OP(L1I, READ, 1), 0x0081, 0x07 },
		{ PERF_TYPE_HW_CACHE, ANY_OP(L1I, WRITE, 0), -EINVAL },
		{ PERF_TYPE_HW_CACHE, ANY_OP(L1I, PREFETCH, 0), 0x014b, 0x3f },
		{ PERF_TYPE_HW_CACHE, ANY_OP(L1I, PREFETCH, 1), -ENOENT },
		{ PERF_TYPE_HW_CACHE, ANY_OP(LL, READ, 0), 0x037d, 0x07 },
		{ PERF_TYPE_HW_CACHE, ANY_OP(LL, READ, 1), 0x037e, 0x07 },
		{ PERF_TYPE_HW_CACHE, ANY_OP(LL, WRITE, 0), 0x017f, 0x07 },
		{ PERF_TYPE_HW_CACHE, ANY_OP(LL, WRITE, 1), -ENOENT },
		{ PERF_TYPE_HW_CACHE, ANY_OP(LL, PREFETCH, 0), -ENOENT },
		{ PERF_TYPE_HW_CACHE, ANY_OP(DTLB, READ, 0), 0x0040, 0x3f },
		{ PERF_TYPE_HW_CACHE, ANY_OP(DTLB, READ, 1), 0x0746, 0x07 },
		{ PERF_TYPE_HW_CACHE, ANY_OP(DTLB, WRITE, 1), -ENOENT },
		{ PERF_TYPE_HW_CACHE, ANY_OP(ITLB, READ, 0), 0x0080, 0x07 },
		{ PERF_TYPE_HW_CACHE, ANY_OP(ITLB, READ, 1), 0x0385, 0x07 },
		{ PERF_TYPE_HW_CACHE, ANY_OP(BPU, READ, 0), 0x00c2, 0x3f },
		{ PERF_TYPE_HW_CACHE, ANY_OP(BPU, READ, 1), 0x00c3, 0x3f },
		/* The kernel's 0xb8e9 and 0x98e9 are northbridge events. */
		{ PERF_TYPE_HW_CACHE, ANY_OP(NODE, READ, 0), -ENOENT },
		{ PERF_TYPE_HW_CACHE, ANY_OP(NODE, READ, 1), -ENOENT },
	};
	static const u8 families[] = { 0x0f, 0x10, 0x12, 0x14, 0x15, 0x16 };

	for (unsigned int i = 0; i < ARRAY_SIZE(families); i++) {
		struct x86_model_cpu cpu = {
			.name = "before Zen", .amd = true, .family = families[i],
			.version = families[i] >= 0x15, .nr_gp = families[i] >= 0x15 ? 6 : 4,
			.gp_width = 48,
		};
		struct perf_event *event = uarch_start(test, &cpu);

		for (unsigned int j = 0; j < ARRAY_SIZE(table); j++) {
			expect_generic(test, event, table[j].type, table[j].config, table[j].code);
			if (table[j].code >= 0 && families[i] == 0x15)
				KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&event->hw),
						table[j].counters_15h);
		}
	}
}

/* Return the text of a file in events/, "-" if it is not shown. */
static const char *event_text(struct kunit *test, const char *name)
{
	const struct attribute_group *group = &x86_events_group;
	struct fixture *b = test->priv;
	struct attribute **attrs;
	static struct device dev;
	char *page;

	dev_set_drvdata(&dev, &b->pmu->perf_pmu);
	for (attrs = group->attrs; *attrs; attrs++)
		if (!strcmp((*attrs)->name, name) && group->is_visible(&dev.kobj, *attrs, 0))
			break;
	if (!*attrs)
		return "-";
	page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, page);
	container_of(*attrs, struct device_attribute, attr)->show(&dev, (void *)*attrs, page);

	return page;
}

/*
 * hsw_tsx_events_attrs[], icl_tsx_events_attrs[], glc_tsx_events_attrs[] and adl_hybrid_tsx_attrs[]
 * in arch/x86/events/intel/core.c; the last two are equal
 */
#define HSW_TSX	BIT(0)
#define ICL_TSX	BIT(1)
#define GLC_TSX	BIT(2)

static const struct {
	const char *name;
	unsigned int sets;
	const char *text;
} tsx_names[] = {
	{ "tx-start", HSW_TSX | ICL_TSX | GLC_TSX, "event=0xc9,umask=0x1\n" },
	{ "tx-commit", HSW_TSX | ICL_TSX | GLC_TSX, "event=0xc9,umask=0x2\n" },
	{ "tx-abort", HSW_TSX | ICL_TSX | GLC_TSX, "event=0xc9,umask=0x4\n" },
	{ "tx-capacity", HSW_TSX, "event=0x54,umask=0x2\n" },
	{ "tx-capacity-read", ICL_TSX | GLC_TSX, "event=0x54,umask=0x80\n" },
	{ "tx-capacity-write", ICL_TSX | GLC_TSX, "event=0x54,umask=0x2\n" },
	{ "tx-conflict", HSW_TSX | ICL_TSX | GLC_TSX, "event=0x54,umask=0x1\n" },
	{ "el-start", HSW_TSX | ICL_TSX, "event=0xc8,umask=0x1\n" },
	{ "el-commit", HSW_TSX | ICL_TSX, "event=0xc8,umask=0x2\n" },
	{ "el-abort", HSW_TSX | ICL_TSX, "event=0xc8,umask=0x4\n" },
	{ "el-capacity", HSW_TSX, "event=0x54,umask=0x2\n" },
	{ "el-capacity-read", ICL_TSX, "event=0x54,umask=0x80\n" },
	{ "el-capacity-write", ICL_TSX, "event=0x54,umask=0x2\n" },
	{ "el-conflict", HSW_TSX | ICL_TSX, "event=0x54,umask=0x1\n" },
	{ "cycles-t", HSW_TSX | ICL_TSX | GLC_TSX, "event=0x3c,in_tx=1\n" },
	{ "cycles-ct", HSW_TSX | ICL_TSX | GLC_TSX, "event=0x3c,in_tx=1,in_tx_cp=1\n" },
};

/* The names are shown if the CPU has X86_FEATURE_RTM, as with tsx_is_visible(). */
static void generic_names_of_transactions(struct kunit *test)
{
	static const struct {
		u8 model, core_type;
		bool rtm;
		unsigned int sets;
	} table[] = {
		{ 0x3c, 0, true, HSW_TSX }, { 0x3c, 0, false, 0 }, { 0x4f, 0, true, HSW_TSX },
		{ 0x5e, 0, true, HSW_TSX }, { 0x5e, 0, false, 0 }, { 0x6a, 0, true, ICL_TSX },
		{ 0x6a, 0, false, 0 }, { 0x8f, 0, true, GLC_TSX }, { 0xad, 0, true, GLC_TSX },
		{ 0x97, INTEL_CORE, true, GLC_TSX }, { 0x97, INTEL_CORE, false, 0 },
		{ 0x97, INTEL_ATOM, true, 0 }, { 0xbd, INTEL_CORE, true, GLC_TSX },
		{ 0x3a, 0, true, 0 }, { 0x5c, 0, true, 0 }, { 0xff, 0, true, 0 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct x86_model_cpu cpu = {
			.name = "TSX", .family = 6, .model = table[i].model,
			.core_type = table[i].core_type,
			.version = 5, .nr_gp = 8, .gp_width = 48, .nr_fixed = 3,
			.fixed_map = 0x7, .fixed_width = 48, .nr_events = 7, .rtm = table[i].rtm,
		};

		uarch_start(test, &cpu);
		for (unsigned int j = 0; j < ARRAY_SIZE(tsx_names); j++)
			KUNIT_EXPECT_STREQ_MSG(test, event_text(test, tsx_names[j].name),
					       tsx_names[j].sets & table[i].sets ?
					       tsx_names[j].text : "-",
					       "model %#x: %s", cpu.model, tsx_names[j].name);
	}
}

static struct kunit_case generic_cases[] = {
	KUNIT_CASE_PARAM(generic_is_the_named_event, generic_gen_params),
	KUNIT_CASE(generic_rejects_erratum_events),
	KUNIT_CASE(generic_of_zen_generations),
	KUNIT_CASE(generic_before_zen),
	KUNIT_CASE(generic_names_of_transactions),
	{ }
};

OWN_TESTBED_SUITE(generic, "corepmu_x86_generic");
