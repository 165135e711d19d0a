// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Microarchitectures of Intel.
 *
 * The event constraints are taken from Linux 6.12, arch/x86/events/intel/core.c: a comment at each
 * table names the array of struct event_constraint. Like Linux, the model applies the first row
 * that matches. Family and model numbers are taken from arch/x86/include/asm/intel-family.h, and
 * numbers and names of events from perf's pmu-events/arch/x86. The events count combinations of
 * exact counts: see x86-pmu.rst.
 */
#include "common/plugin.h"
#include "x86/uarch/uarch.h"

#define COUNTER(n)	(UINT32_C(1) << (n))
#define COUNTERS_0_3	UINT32_C(0xf)
#define COUNTERS_ALL	UINT32_MAX

#define RULE(code, umask, counters)	{ code, 0, umask, counters }
#define ANY(code, counters)		{ code, 0, X86_PMU_ANY_UMASK, counters }
#define RANGE(first, last, counters)	{ first, last, X86_PMU_ANY_UMASK, counters }

#define EXTRA_REG(code, umask, reg, bits) { code, umask, X86_EXTRA_REG_##reg, UINT64_C(bits) }

/* A cache miss is pending for this many cycles. */
#define PENDING			10

/* An event with a counter mask in its encoding: this mask is not a threshold. */
#define MASKED(code, umask, mask, kind, less, times) \
	{ code, umask, mask, { X86_PMU_##kind, X86_PMU_##less, times, 1 } }

/* Cycles in which no instruction retires */
#define STALLS(code, umask, mask)	MASKED(code, umask, mask, CYCLES, INSTRUCTIONS, 1)

/* ---- events that several microarchitectures have with the same number ---- */

static const struct x86_pmu_event_row common_events[] = {
	/* L2_RQSTS.ALL_DEMAND_DATA_RD */
	X86_PMU_EVENT(0x24, 0xe1, LOAD_MISSES, 1, 1),
	/* L1D_PEND_MISS.PENDING */
	X86_PMU_EVENT(0x48, 0x01, CACHE_MISSES, PENDING, 1),
	/* L1D.REPLACEMENT */
	X86_PMU_EVENT(0x51, 0x01, LOAD_MISSES, 1, 1),
	/* IDQ.DSB_UOPS */
	X86_PMU_EVENT(0x79, 0x08, INSTRUCTIONS, 1, 1),
	/* IDQ_UOPS_NOT_DELIVERED.CORE */
	STALLS(0x9c, 0x01, 0),
	/* CYCLE_ACTIVITY.STALLS_TOTAL, CYCLES_NO_EXECUTE */
	STALLS(0xa3, 0x04, 4),
	/* CYCLE_ACTIVITY.CYCLES_L1D_MISS, CYCLES_L1D_PENDING */
	MASKED(0xa3, 0x08, 8, CACHE_MISSES, NOTHING, PENDING),
	/* MEM_TRANS_RETIRED.LOAD_LATENCY */
	X86_PMU_EVENT(0xcd, 0x01, SLOW_LOADS, 1, 1),
	/* MEM_LOAD_RETIRED.L1_MISS */
	X86_PMU_EVENT(0xd1, 0x08, LOAD_MISSES, 1, 1),
	/* MEM_LOAD_L3_HIT_RETIRED.XSNP_NONE */
	X86_PMU_EVENT(0xd2, 0x08, LOAD_MISSES, 1, 1),
};

/* ---- Haswell ---- */

static const struct x86_pmu_event_row haswell_events[] = {
	X86_PMU_EVENT(0x03, 0x02, RETURNS, 1, 1),	/* LD_BLOCKS.STORE_FORWARD */
	X86_PMU_EVENT(0x0e, 0x01, INSTRUCTIONS, 1, 1),	/* UOPS_ISSUED.ANY */
	X86_PMU_EVENT(0xc0, 0x01, INSTRUCTIONS, 1, 1),	/* INST_RETIRED.PREC_DIST */
	X86_PMU_EVENT(0xc2, 0x02, INSTRUCTIONS, 1, 1),	/* UOPS_RETIRED.RETIRE_SLOTS */
};

/* intel_hsw_event_constraints[] */
static const struct x86_uarch_rule haswell_rules[] = {
	RULE(0x48, 0x01, COUNTER(2)),
	RULE(0xc0, 0x01, COUNTER(1)),
	ANY(0xcd, COUNTER(3)),
	RULE(0xa3, 0x08, COUNTER(2)),
	RULE(0xa3, 0x0c, COUNTER(2)),
	RULE(0xa3, 0x04, COUNTERS_0_3),
	RANGE(0xd0, 0xd3, COUNTERS_0_3),
};

/* ---- Skylake ---- */

static const struct x86_pmu_event_row skylake_events[] = {
	X86_PMU_EVENT(0x03, 0x02, RETURNS, 1, 1),	/* LD_BLOCKS.STORE_FORWARD */
	X86_PMU_EVENT(0x0e, 0x01, INSTRUCTIONS, 1, 1),	/* UOPS_ISSUED.ANY */
	MASKED(0xa3, 0x10, 16, CACHE_REFS, NOTHING, 1),	/* CYCLE_ACTIVITY.CYCLES_MEM_ANY */
	X86_PMU_EVENT(0xb0, 0x80, CACHE_MISSES, 1, 1),	/* OFFCORE_REQUESTS.ALL_REQUESTS */
	X86_PMU_EVENT(0xb1, 0x01, INSTRUCTIONS, 1, 1),	/* UOPS_EXECUTED.THREAD */
	X86_PMU_EVENT(0xc0, 0x01, INSTRUCTIONS, 1, 1),	/* INST_RETIRED.PREC_DIST */
	X86_PMU_EVENT(0xc2, 0x02, INSTRUCTIONS, 1, 1),	/* UOPS_RETIRED.RETIRE_SLOTS */
	X86_PMU_EVENT(0xd0, 0x83, CACHE_REFS, 1, 1),	/* MEM_INST_RETIRED.ANY */
};

/* intel_skl_event_constraints[] */
static const struct x86_uarch_rule skylake_rules[] = {
	RULE(0xc0, 0x01, COUNTER(1)),
	RANGE(0xd0, 0xd2, COUNTERS_0_3),
	ANY(0xcd, COUNTERS_0_3),
	ANY(0xc6, COUNTERS_0_3),
};

/* ---- Sunny Cove ---- */

static const struct x86_pmu_event_row icelake_events[] = {
	X86_PMU_EVENT(0x03, 0x02, RETURNS, 1, 1),	/* LD_BLOCKS.STORE_FORWARD */
	X86_PMU_EVENT(0x0e, 0x01, INSTRUCTIONS, 1, 1),	/* UOPS_ISSUED.ANY */
	STALLS(0x5e, 0x01, 0),				/* RS_EVENTS.EMPTY_CYCLES */
	MASKED(0xa3, 0x10, 16, CACHE_REFS, NOTHING, 1),	/* CYCLE_ACTIVITY.CYCLES_MEM_ANY */
	X86_PMU_EVENT(0xb0, 0x80, CACHE_MISSES, 1, 1),	/* OFFCORE_REQUESTS.ALL_REQUESTS */
	X86_PMU_EVENT(0xb1, 0x01, INSTRUCTIONS, 1, 1),	/* UOPS_EXECUTED.THREAD */
	X86_PMU_EVENT(0xc2, 0x02, INSTRUCTIONS, 1, 1),	/* UOPS_RETIRED.SLOTS */
	X86_PMU_EVENT(0xd0, 0x83, CACHE_REFS, 1, 1),	/* MEM_INST_RETIRED.ANY */
};

/*
 * intel_icl_event_constraints[]. INST_RETIRED.PREC_DIST is 0x00/0x01 and only for fixed-function
 * counter 0: no general-purpose counter counts event 0x00.
 */
static const struct x86_uarch_rule icelake_rules[] = {
	RANGE(0x03, 0x0a, COUNTERS_0_3),
	RANGE(0x1f, 0x28, COUNTERS_0_3),
	ANY(0x32, COUNTERS_0_3),
	RANGE(0x48, 0x56, COUNTERS_0_3),
	RANGE(0x60, 0x8b, COUNTERS_0_3),
	RULE(0xa3, 0x04, COUNTERS_ALL),
	RULE(0xa3, 0x10, COUNTERS_ALL),
	RULE(0xa3, 0x14, COUNTERS_ALL),
	ANY(0xa3, COUNTERS_0_3),
	RANGE(0xa8, 0xb0, COUNTERS_0_3),
	RANGE(0xb7, 0xbd, COUNTERS_0_3),
	RANGE(0xd0, 0xe6, COUNTERS_0_3),
	ANY(0xef, COUNTERS_0_3),
	RANGE(0xf0, 0xf4, COUNTERS_0_3),
};

/* ---- Golden Cove ---- */

static const struct x86_pmu_event_row golden_cove_events[] = {
	X86_PMU_EVENT(0x03, 0x82, RETURNS, 1, 1),	/* LD_BLOCKS.STORE_FORWARD */
	MASKED(0xa3, 0x10, 16, CACHE_REFS, NOTHING, 1),	/* CYCLE_ACTIVITY.CYCLES_MEM_ANY */
	X86_PMU_EVENT(0xa4, 0x04, CALLS, 4, 1),		/* TOPDOWN.BAD_SPEC_SLOTS */
	X86_PMU_EVENT(0xa4, 0x08, RETURNS, 4, 1),	/* TOPDOWN.BR_MISPREDICT_SLOTS */
	X86_PMU_EVENT(0xae, 0x01, INSTRUCTIONS, 1, 1),	/* UOPS_ISSUED.ANY */
	X86_PMU_EVENT(0xb1, 0x01, INSTRUCTIONS, 1, 1),	/* UOPS_EXECUTED.THREAD */
	X86_PMU_EVENT(0xc2, 0x02, INSTRUCTIONS, 1, 1),	/* UOPS_RETIRED.SLOTS */
	X86_PMU_EVENT(0xcd, 0x02, STORES, 1, 1),	/* MEM_TRANS_RETIRED.STORE_SAMPLE */
	X86_PMU_EVENT(0xd0, 0x83, CACHE_REFS, 1, 1),	/* MEM_INST_RETIRED.ANY */
};

/* intel_glc_event_constraints[] */
static const struct x86_uarch_rule golden_cove_rules[] = {
	ANY(0x2e, COUNTERS_ALL),
	ANY(0x3c, COUNTERS_ALL),
	RANGE(0x01, 0x8f, COUNTERS_0_3),
	RULE(0xa3, 0x01, COUNTERS_0_3),
	RULE(0xa3, 0x02, COUNTERS_0_3),
	RULE(0xa3, 0x08, COUNTERS_0_3),
	RULE(0xa4, 0x04, COUNTER(0)),
	RULE(0xa4, 0x08, COUNTER(0)),
	RULE(0xcd, 0x02, COUNTER(0)),
	ANY(0xce, COUNTER(0)),
	RANGE(0xd0, 0xdf, COUNTERS_0_3),
};

/* ---- events with an extra register: struct extra_reg ---- */

/* intel_snbep_extra_regs[] */
static const struct x86_extra_reg_row haswell_extra_regs[] = {
	EXTRA_REG(0xb7, 0x01, RSP_0, 0x3fffff8fff),
	EXTRA_REG(0xbb, 0x01, RSP_1, 0x3fffff8fff),
};

/* intel_skl_extra_regs[] */
static const struct x86_extra_reg_row skylake_extra_regs[] = {
	EXTRA_REG(0xb7, 0x01, RSP_0, 0x3fffff8fff),
	EXTRA_REG(0xbb, 0x01, RSP_1, 0x3fffff8fff),
	EXTRA_REG(0xc6, 0x01, FRONTEND, 0x7fff17),
};

/* intel_icl_extra_regs[] */
static const struct x86_extra_reg_row icelake_extra_regs[] = {
	EXTRA_REG(0xb7, 0x01, RSP_0, 0x3fffffbfff),
	EXTRA_REG(0xbb, 0x01, RSP_1, 0x3fffffbfff),
	EXTRA_REG(0xc6, 0x01, FRONTEND, 0x7fff17),
};

/* intel_glc_extra_regs[] */
static const struct x86_extra_reg_row golden_cove_extra_regs[] = {
	EXTRA_REG(0x2a, 0x01, RSP_0, 0x3fffffffff),
	EXTRA_REG(0x2b, 0x01, RSP_1, 0x3fffffffff),
	EXTRA_REG(0xc6, 0x01, FRONTEND, 0x7fff1f),
	EXTRA_REG(0xad, 0x40, FRONTEND, 0x7),
	EXTRA_REG(0xc2, 0x04, FRONTEND, 0x8),
};

/* intel_rwc_extra_regs[] of Linux 7.3 */
static const struct x86_extra_reg_row redwood_cove_extra_regs[] = {
	EXTRA_REG(0x2a, 0x01, RSP_0, 0x3fffffffff),
	EXTRA_REG(0x2b, 0x01, RSP_1, 0x3fffffffff),
	EXTRA_REG(0xc6, 0x02, FRONTEND, 0x9),
	EXTRA_REG(0xc6, 0x03, FRONTEND, 0x7fff1f),
	EXTRA_REG(0xad, 0x40, FRONTEND, 0x7),
	EXTRA_REG(0xc2, 0x04, FRONTEND, 0x8),
};

/* Redwood Cove has the events and constraints of Golden Cove. */
#define redwood_cove_events	golden_cove_events
#define redwood_cove_rules	golden_cove_rules

#define TABLES(uarch)							\
	.common = common_events, .nr_common = ARRAY_SIZE(common_events), \
	.extra_regs = uarch##_extra_regs, .nr_extra_regs = ARRAY_SIZE(uarch##_extra_regs), \
	.events = uarch##_events, .nr_events = ARRAY_SIZE(uarch##_events), \
	.rules = uarch##_rules, .nr_rules = ARRAY_SIZE(uarch##_rules)

/* ---- Alder Lake: Golden Cove as above, and Gracemont ---- */

static const struct x86_pmu_event_row gracemont_events[] = {
	X86_PMU_EVENT(0xc2, 0x00, INSTRUCTIONS, 1, 1),	/* TOPDOWN_RETIRING.ALL */
	X86_PMU_EVENT(0xd0, 0x05, SLOW_LOADS, 1, 1),	/* MEM_UOPS_RETIRED.LOAD_LATENCY */
	X86_PMU_EVENT(0xd0, 0x06, STORES, 1, 1),	/* MEM_UOPS_RETIRED.STORE_LATENCY */
	X86_PMU_EVENT(0xd0, 0x83, CACHE_REFS, 1, 1),	/* MEM_UOPS_RETIRED.ALL */
};

/*
 * Data sources as union intel_x86_pebs_dse and the functions *_latency_data() of Linux 7.3 read
 * them (arch/x86/events/intel/ds.c). The arrays are those of __intel_pmu_pebs_data_source_grt(),
 * __intel_pmu_pebs_data_source_cmt() and lnc_pebs_data_source[]. An access to memory also misses
 * the second-level TLB: bit 5 on Gracemont, 6 on Crestmont and later atoms, 10 on Lion Cove.
 * Another core has modified one of the lines in L3.
 */
static const uint16_t gracemont_sources[X86_PEBS_LINES] = {
	0x01, 0x02, 0x03, 0x04, 0x01, 0x06, 0x03, 0x2a,
};

static const uint16_t crestmont_sources[X86_PEBS_LINES] = {
	0x01, 0x02, 0x03, 0x04, 0x01, 0x08, 0x03, 0x4a,
};

static const uint16_t lion_cove_sources[X86_PEBS_LINES] = {
	0x01, 0x03, 0x05, 0x08, 0x02, 0x0d, 0x05, 0x411,
};

/* intel_grt_extra_regs[] */
static const struct x86_extra_reg_row gracemont_extra_regs[] = {
	EXTRA_REG(0xb7, 0x01, RSP_0, 0x8003f03fffffffff),
	EXTRA_REG(0xb7, 0x02, RSP_1, 0x3f03fffffffff),
};

/* intel_grt_event_constraints[] has only constraints for fixed-function counters. */
static const struct x86_uarch gracemont = {
	.name = "gracemont", .version = X86_PMU_INTEL_V5, .gp = 6, .fixed = 0x7,
	.core_type = X86_PMU_CORE_ATOM, .lbr = X86_LBR_ARCH,
	.pebs = 4, .pebs_sources = gracemont_sources, .pebs_latencies = true,
	.extra_regs = gracemont_extra_regs, .nr_extra_regs = ARRAY_SIZE(gracemont_extra_regs),
	.events = gracemont_events, .nr_events = ARRAY_SIZE(gracemont_events),
};

/* ---- Lunar Lake, Arrow Lake, Panther Lake: Lion Cove and Skymont ---- */

static const struct x86_pmu_event_row lion_cove_events[] = {
	X86_PMU_EVENT(0x03, 0x82, RETURNS, 1, 1),	/* LD_BLOCKS.STORE_FORWARD */
	X86_PMU_EVENT(0x12, 0x0e, LOAD_MISSES, 1, 1),	/* DTLB_LOAD_MISSES.WALK_COMPLETED */
	/* DTLB_STORE_MISSES.WALK_COMPLETED */
	MASKED(0x13, 0x0e, 0, CACHE_MISSES, LOAD_MISSES, 1),
	STALLS(0xa4, 0x02, 0),				/* TOPDOWN.BACKEND_BOUND_SLOTS */
	X86_PMU_EVENT(0xa4, 0x04, CALLS, 4, 1),		/* TOPDOWN.BAD_SPEC_SLOTS */
	X86_PMU_EVENT(0xa4, 0x08, RETURNS, 4, 1),	/* TOPDOWN.BR_MISPREDICT_SLOTS */
	X86_PMU_EVENT(0xa4, 0x10, CACHE_REFS, 4, 1),	/* TOPDOWN.MEMORY_BOUND_SLOTS */
	X86_PMU_EVENT(0xb1, 0x01, INSTRUCTIONS, 1, 1),	/* UOPS_EXECUTED.THREAD */
	X86_PMU_EVENT(0xc2, 0x02, INSTRUCTIONS, 1, 1),	/* UOPS_RETIRED.SLOTS */
	X86_PMU_EVENT(0xcd, 0x02, STORES, 1, 1),	/* MEM_TRANS_RETIRED.STORE_SAMPLE */
	X86_PMU_EVENT(0xd0, 0x87, CACHE_REFS, 1, 1),	/* MEM_INST_RETIRED.ANY */
};

/* intel_lnc_event_constraints[] of Linux 7.3, which has fewer constraints than 6.12 */
static const struct x86_uarch_rule lion_cove_rules[] = {
	ANY(0x20, COUNTERS_0_3),
	RULE(0x48, 0x01, COUNTER(2)),
	RULE(0x75, 0x01, COUNTER(2)),
	RULE(0xa3, 0x08, COUNTER(2)),
	RULE(0xa3, 0x0c, COUNTER(2)),
	RULE(0xa4, 0x04, COUNTER(0)),
	RULE(0xa4, 0x08, COUNTER(0)),
	RULE(0xa4, 0x10, COUNTER(3)),
	RULE(0xb1, 0x01, COUNTER(3)),
	RULE(0xcd, 0x01, COUNTERS_ALL & ~(COUNTER(0) | COUNTER(1))),
	RULE(0xcd, 0x02, COUNTER(0) | COUNTER(1)),
	RULE(0xd0, 0x87, COUNTERS_ALL),
	RANGE(0xd0, 0xdf, COUNTERS_0_3),
};

/* intel_lnc_extra_regs[] */
static const struct x86_extra_reg_row lion_cove_extra_regs[] = {
	EXTRA_REG(0x2a, 0x01, RSP_0, 0xfffffffffff),
	EXTRA_REG(0x2b, 0x01, RSP_1, 0xfffffffffff),
	EXTRA_REG(0xc6, 0x02, FRONTEND, 0x9),
	EXTRA_REG(0xc6, 0x03, FRONTEND, 0x7fff1f),
	EXTRA_REG(0xad, 0x40, FRONTEND, 0xf),
	EXTRA_REG(0xc2, 0x04, FRONTEND, 0x8),
};

static const struct x86_pmu_event_row skymont_events[] = {
	X86_PMU_EVENT(0x73, 0x00, CALLS, 4, 1),		/* TOPDOWN_BAD_SPECULATION.ALL */
	STALLS(0x9c, 0x01, 0),				/* TOPDOWN_FE_BOUND.ALL */
	STALLS(0xa4, 0x02, 0),				/* TOPDOWN_BE_BOUND.ALL */
	X86_PMU_EVENT(0xc2, 0x02, INSTRUCTIONS, 1, 1),	/* TOPDOWN_RETIRING.ALL */
	X86_PMU_EVENT(0xd0, 0x05, SLOW_LOADS, 1, 1),	/* MEM_UOPS_RETIRED.LOAD_LATENCY */
	X86_PMU_EVENT(0xd0, 0x06, STORES, 1, 1),	/* MEM_UOPS_RETIRED.STORE_LATENCY */
	X86_PMU_EVENT(0xd0, 0x83, CACHE_REFS, 1, 1),	/* MEM_UOPS_RETIRED.ALL */
};

/* intel_cmt_extra_regs[] */
static const struct x86_extra_reg_row skymont_extra_regs[] = {
	EXTRA_REG(0xb7, 0x01, RSP_0, 0x800ff3ffffffffff),
	EXTRA_REG(0xb7, 0x02, RSP_1, 0xff3ffffffffff),
	EXTRA_REG(0x27, 0x01, SNOOP_0, 0xffffffffffffffff),
	EXTRA_REG(0x27, 0x02, SNOOP_1, 0xffffffffffffffff),
};

/* intel_skt_event_constraints[] has only constraints for fixed-function counters, also 4 to 6. */
static const struct x86_uarch skymont = {
	.name = "skymont", .version = X86_PMU_INTEL_V6, .gp = 8, .fixed = 0x77,
	.core_type = X86_PMU_CORE_ATOM, .lbr = X86_LBR_ARCH,
	.pebs = 6, .pebs_sources = crestmont_sources, .pebs_latencies = true,
	.unreported = UINT64_C(0x70) << X86_PMU_GLOBAL_FIXED,
	.extra_regs = skymont_extra_regs, .nr_extra_regs = ARRAY_SIZE(skymont_extra_regs),
	.events = skymont_events, .nr_events = ARRAY_SIZE(skymont_events),
};

/* ---- Sierra Forest, Grand Ridge: Crestmont ---- */

/* Also the attributes topdown-* in cmt_events_attrs[] of Linux 6.12 */
static const struct x86_pmu_event_row crestmont_events[] = {
	STALLS(0x71, 0x00, 0),				/* TOPDOWN_FE_BOUND.ALL */
	X86_PMU_EVENT(0x72, 0x00, INSTRUCTIONS, 1, 1),	/* TOPDOWN_RETIRING.ALL */
	X86_PMU_EVENT(0x73, 0x00, CALLS, 4, 1),		/* TOPDOWN_BAD_SPECULATION.ALL */
	STALLS(0x74, 0x00, 0),				/* TOPDOWN_BE_BOUND.ALL */
	X86_PMU_EVENT(0xd0, 0x05, SLOW_LOADS, 1, 1),	/* MEM_UOPS_RETIRED.LOAD_LATENCY */
	X86_PMU_EVENT(0xd0, 0x06, STORES, 1, 1),	/* MEM_UOPS_RETIRED.STORE_LATENCY */
	X86_PMU_EVENT(0xd0, 0x83, CACHE_REFS, 1, 1),	/* MEM_UOPS_RETIRED.ALL */
};

/* The kernel has intel_cmt_extra_regs[] for Crestmont and later atoms. */
#define crestmont_extra_regs	skymont_extra_regs

/* ---- Nova Lake: Coyote Cove and Arctic Wolf; Diamond Rapids: Panther Cove ---- */

/* Bit 8: L2 miss, and the low bits are an off-module response; bit 11: miss of the STLB */
static const uint16_t panther_cove_sources[X86_PEBS_LINES] = {
	0x02, 0x03, 0x04, 0x1c2, 0x02, 0x122, 0x09, 0x908,
};

static const uint16_t arctic_wolf_sources[X86_PEBS_LINES] = {
	0x01, 0x02, 0x03, 0x1c2, 0x01, 0x122, 0x04, 0x908,
};

/* intel_pnc_event_constraints[] of Linux 7.3 */
static const struct x86_uarch_rule panther_cove_rules[] = {
	ANY(0x20, COUNTERS_0_3),
	ANY(0x79, COUNTERS_0_3),
	RULE(0x75, 0x02, COUNTERS_0_3),
	RULE(0x76, 0x01, COUNTERS_0_3),
	RULE(0xa4, 0x04, COUNTER(0)),
	RULE(0xa4, 0x08, COUNTER(0)),
	RULE(0xcd, 0x01, COUNTERS_ALL & ~(COUNTER(0) | COUNTER(1))),
	RULE(0xcd, 0x02, COUNTER(0) | COUNTER(1)),
	RANGE(0xd0, 0xd1, COUNTERS_0_3),
	ANY(0xd4, COUNTERS_0_3),
	ANY(0xd6, COUNTERS_0_3),
	ANY(0xdf, COUNTERS_0_3),
	ANY(0xce, COUNTER(0)),
	RULE(0xb1, 0x01, COUNTER(3)),
	RULE(0xb2, 0x01, COUNTERS_0_3),
	RULE(0xb2, 0x02, COUNTERS_0_3),
	RULE(0x47, 0x08, COUNTERS_0_3),
	RULE(0x46, 0x04, COUNTERS_0_3),
	RULE(0x46, 0x08, COUNTERS_0_3),
	RULE(0x48, 0x01, COUNTERS_0_3),
};

/* intel_pnc_extra_regs[] */
static const struct x86_extra_reg_row panther_cove_extra_regs[] = {
	EXTRA_REG(0x2a, 0x01, OMR_0, 0x40ffffff0000ffff),
	EXTRA_REG(0x2a, 0x02, OMR_1, 0x40ffffff0000ffff),
	EXTRA_REG(0x2a, 0x04, OMR_2, 0x40ffffff0000ffff),
	EXTRA_REG(0x2a, 0x08, OMR_3, 0x40ffffff0000ffff),
	EXTRA_REG(0x4f, 0x01, OMR_0, 0x40ffffff0000ffff),
	EXTRA_REG(0x4f, 0x02, OMR_1, 0x40ffffff0000ffff),
	EXTRA_REG(0x4f, 0x04, OMR_2, 0x40ffffff0000ffff),
	EXTRA_REG(0x4f, 0x08, OMR_3, 0x40ffffff0000ffff),
	EXTRA_REG(0xd6, 0x01, OMR_0, 0x40ffffff0000ffff),
	EXTRA_REG(0xd6, 0x02, OMR_1, 0x40ffffff0000ffff),
	EXTRA_REG(0xd6, 0x04, OMR_2, 0x40ffffff0000ffff),
	EXTRA_REG(0xd6, 0x08, OMR_3, 0x40ffffff0000ffff),
	EXTRA_REG(0xc6, 0x02, FRONTEND, 0x9),
	EXTRA_REG(0xc6, 0x03, FRONTEND, 0x7fff1f),
	EXTRA_REG(0xad, 0x40, FRONTEND, 0xf),
	EXTRA_REG(0xc2, 0x04, FRONTEND, 0x8),
};

#define panther_cove_events	lion_cove_events

/* intel_arw_event_constraints[] */
static const struct x86_uarch_rule arctic_wolf_rules[] = {
	RULE(0xb7, 0x01, COUNTER(0)),
	RULE(0xb7, 0x02, COUNTER(1)),
	RULE(0xb7, 0x04, COUNTER(2)),
	RULE(0xb7, 0x08, COUNTER(3)),
	RULE(0x75, 0x01, COUNTER(0)),
	RULE(0x75, 0x02, COUNTER(1)),
	RULE(0xd3, 0x21, COUNTER(0)),
	RULE(0xd3, 0x22, COUNTER(0)),
};

/* intel_arw_extra_regs[] */
static const struct x86_extra_reg_row arctic_wolf_extra_regs[] = {
	EXTRA_REG(0xb7, 0x01, OMR_0, 0xc0ffffffffffffff),
	EXTRA_REG(0xb7, 0x02, OMR_1, 0xc0ffffffffffffff),
	EXTRA_REG(0xb7, 0x04, OMR_2, 0xc0ffffffffffffff),
	EXTRA_REG(0xb7, 0x08, OMR_3, 0xc0ffffffffffffff),
	EXTRA_REG(0x27, 0x01, SNOOP_0, 0xffffffffffffffff),
	EXTRA_REG(0x27, 0x02, SNOOP_1, 0xffffffffffffffff),
};

static const struct x86_uarch arctic_wolf = {
	.name = "arctic-wolf", .version = X86_PMU_INTEL_V6, .gp = 8, .fixed = 0x77,
	.core_type = X86_PMU_CORE_ATOM, .lbr = X86_LBR_ARCH,
	.pebs = X86_PEBS_ARCHITECTURAL, .pebs_sources = arctic_wolf_sources,
	.unreported = UINT64_C(0x70) << X86_PMU_GLOBAL_FIXED,
	.extra_regs = arctic_wolf_extra_regs, .nr_extra_regs = ARRAY_SIZE(arctic_wolf_extra_regs),
	.events = skymont_events, .nr_events = ARRAY_SIZE(skymont_events),
	.rules = arctic_wolf_rules, .nr_rules = ARRAY_SIZE(arctic_wolf_rules),
};

const struct x86_uarch x86_uarch_intel[] = {
	{
		.name = "haswell", .version = X86_PMU_INTEL_V3, .gp = 4, .fixed = 0x7,
		.any_thread = true, .lbr = X86_LBR_FLAGS,
		.models = { { 6, 0x3c, 0x3c }, { 6, 0x3f, 0x3f }, { 6, 0x45, 0x46 } },
		TABLES(haswell),
	}, {
		.name = "skylake", .version = X86_PMU_INTEL_V4, .gp = 4, .fixed = 0x7,
		.any_thread = true, .lbr = X86_LBR_INFO, .pebs = 3,
		.models = { { 6, 0x4e, 0x4e }, { 6, 0x55, 0x55 }, { 6, 0x5e, 0x5e },
			    { 6, 0x8e, 0x8e }, { 6, 0x9e, 0x9e }, { 6, 0xa5, 0xa6 } },
		TABLES(skylake),
	}, {
		.name = "icelake", .version = X86_PMU_INTEL_V5, .gp = 8, .fixed = 0xf,
		.nr_metrics = 4, .lbr = X86_LBR_INFO, .pebs = 4,
		.models = { { 6, 0x6a, 0x6a }, { 6, 0x6c, 0x6c }, { 6, 0x7d, 0x7e },
			    { 6, 0x8c, 0x8d }, { 6, 0xa7, 0xa7 } },
		TABLES(icelake),
	}, {
		.name = "sapphire-rapids", .version = X86_PMU_INTEL_V5, .gp = 8, .fixed = 0xf,
		.nr_metrics = 8, .lbr = X86_LBR_ARCH, .pebs = 4, .pebs_latencies = true,
		.models = { { 6, 0x8f, 0x8f }, { 6, 0xcf, 0xcf } },
		TABLES(golden_cove),
	}, {
		.name = "granite-rapids", .version = X86_PMU_INTEL_V5, .gp = 8, .fixed = 0xf,
		.nr_metrics = 8, .lbr = X86_LBR_ARCH, .pebs = 4, .pebs_latencies = true,
		.models = { { 6, 0xad, 0xae } },
		TABLES(redwood_cove),
	}, {
		.name = "sierra-forest", .version = X86_PMU_INTEL_V5, .gp = 8, .fixed = 0x7,
		.lbr = X86_LBR_ARCH, .pebs = 4, .pebs_sources = crestmont_sources,
		.pebs_latencies = true,
		.models = { { 6, 0xaf, 0xaf }, { 6, 0xb6, 0xb6 } },
		.extra_regs = crestmont_extra_regs,
		.nr_extra_regs = ARRAY_SIZE(crestmont_extra_regs),
		.events = crestmont_events, .nr_events = ARRAY_SIZE(crestmont_events),
	}, {
		/*
		 * Leaf 0xa reports the counters that both CPU types have. intel_pmu_init() reads
		 * leaf 0xa, and adds two counters of Golden Cove and the slots counter.
		 */
		.name = "alder-lake", .version = X86_PMU_INTEL_V5, .gp = 8, .fixed = 0xf,
		.core_type = X86_PMU_CORE_CORE, .other = &gracemont, .nr_metrics = 8,
		.lbr = X86_LBR_ARCH, .pebs = 4, .pebs_latencies = true,
		.unreported = UINT64_C(0xc0) | UINT64_C(8) << X86_PMU_GLOBAL_FIXED,
		.models = { { 6, 0x97, 0x97 }, { 6, 0x9a, 0x9a }, { 6, 0xb7, 0xb7 },
			    { 6, 0xba, 0xba }, { 6, 0xbf, 0xbf } },
		TABLES(golden_cove),
	}, {
		/* Leaf 0x23 reports all counters of a CPU; Linux reads them from that leaf. */
		.name = "lunar-lake", .version = X86_PMU_INTEL_V6, .gp = 10, .fixed = 0xf,
		.core_type = X86_PMU_CORE_CORE, .other = &skymont, .nr_metrics = 8,
		.lbr = X86_LBR_ARCH, .pebs = 6, .pebs_sources = lion_cove_sources,
		.pebs_latencies = true,
		.unreported = UINT64_C(0x300) | UINT64_C(8) << X86_PMU_GLOBAL_FIXED,
		.models = { { 6, 0xbd, 0xbd }, { 6, 0xc5, 0xc6 }, { 6, 0xcc, 0xcc } },
		TABLES(lion_cove),
	}, {
		.name = "nova-lake", .version = X86_PMU_INTEL_V6, .gp = 10, .fixed = 0xf,
		.core_type = X86_PMU_CORE_CORE, .other = &arctic_wolf, .nr_metrics = 8,
		.lbr = X86_LBR_ARCH, .pebs = X86_PEBS_ARCHITECTURAL,
		.pebs_sources = panther_cove_sources,
		.unreported = UINT64_C(0x300) | UINT64_C(8) << X86_PMU_GLOBAL_FIXED,
		.models = { { 18, 0x01, 0x01 }, { 18, 0x03, 0x03 } },
		TABLES(panther_cove),
	}, {
		.name = "diamond-rapids", .version = X86_PMU_INTEL_V6, .gp = 10, .fixed = 0xf,
		.nr_metrics = 8, .lbr = X86_LBR_ARCH, .pebs = X86_PEBS_ARCHITECTURAL,
		.pebs_sources = panther_cove_sources, .models = { { 19, 0x01, 0x01 } },
		TABLES(panther_cove),
	}, {
		/* Darkmont: events and extra registers of Skymont */
		.name = "clearwater-forest", .version = X86_PMU_INTEL_V6, .gp = 8, .fixed = 0x77,
		.lbr = X86_LBR_ARCH, .pebs = X86_PEBS_ARCHITECTURAL,
		.pebs_sources = crestmont_sources, .models = { { 6, 0xdd, 0xdd } },
		.extra_regs = skymont_extra_regs, .nr_extra_regs = ARRAY_SIZE(skymont_extra_regs),
		.events = skymont_events, .nr_events = ARRAY_SIZE(skymont_events),
	},
	{ .name = NULL }
};
