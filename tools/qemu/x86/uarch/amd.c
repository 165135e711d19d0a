// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Microarchitectures of AMD.
 *
 * Any counter can count any event of the core. The events are taken from Linux 6.12,
 * arch/x86/events/amd/core.c (amd_zen1_perfmon_event_map[] and the maps of later ones,
 * amd_hw_cache_event_ids_f17h[]). The families and models are taken from bsp_init_amd() of
 * arch/x86/kernel/cpu/amd.c, and the events' names from perf's pmu-events/arch/x86.
 *
 * Event 0x003, and events with more than 15 counts in a cycle: AMD PPR for family 17h model 71h,
 * "Large Increment per Cycle Events".
 */
#include "common/plugin.h"
#include "x86/uarch/uarch.h"

#define STALLS(code, umask)	{ code, umask, 0, { X86_PMU_CYCLES, X86_PMU_INSTRUCTIONS, 1, 1 } }

/* The model counts no floating-point operations: each branch counts as this many. */
#define FLOPS_PER_BRANCH	20

#define NO_EVENT(code)		{ code, 0, X86_PMU_ANY_UMASK, 0 }

static const struct x86_pmu_event_row common_events[] = {
	/* fp_ret_sse_avx_ops */
	X86_PMU_EVENT(0x03, X86_PMU_ANY_UMASK, BRANCHES, FLOPS_PER_BRANCH, 1),
	/* ls_l1_d_tlb_miss, ls_hw_pf_dc_fills */
	X86_PMU_EVENT(0x45, X86_PMU_ANY_UMASK, CACHE_MISSES, 1, 1),
	X86_PMU_EVENT(0x5a, X86_PMU_ANY_UMASK, CACHE_MISSES, 1, 1),
	/* ex_ret_ops, once ex_ret_cops */
	X86_PMU_EVENT(0xc1, X86_PMU_ANY_UMASK, INSTRUCTIONS, 1, 1),
};

static const struct x86_pmu_event_row zen1_events[] = {
	STALLS(0x87, 0x01),			/* ic_fetch_stall.ic_stall_back_pressure */
	STALLS(0x87, 0x02),			/* ic_fetch_stall.ic_stall_dq_empty */
};

static const struct x86_pmu_event_row zen2_events[] = {
	STALLS(0x87, 0x01),
	STALLS(0x87, 0x02),
	STALLS(0xa9, X86_PMU_ANY_UMASK),	/* de_dis_uop_queue_empty_di0, de_op_queue_empty */
};

static const struct x86_pmu_event_row zen4_events[] = {
	STALLS(0xa9, X86_PMU_ANY_UMASK),
	X86_PMU_EVENT(0x120, 0x01, CYCLES, 1, 2),	/* ls_not_halted_p0_cyc.p0_freq_cyc */
};

/* Events of the L2 cache that only earlier families have */
static const struct x86_uarch_rule zen_rules[] = {
	NO_EVENT(0x7d),
	NO_EVENT(0x7e),
};

#define TABLES(uarch)							\
	.common = common_events, .nr_common = ARRAY_SIZE(common_events), \
	.events = uarch##_events, .nr_events = ARRAY_SIZE(uarch##_events), \
	.rules = zen_rules, .nr_rules = ARRAY_SIZE(zen_rules)

const struct x86_uarch x86_uarch_amd[] = {
	{
		.name = "zen1", .version = X86_PMU_AMD_CORE, .gp = 6, .merges = true, .ibs = true,
		TABLES(zen1),
		.models = { { 0x17, 0x00, 0x2f }, { 0x17, 0x50, 0x5f } },
	}, {
		.name = "zen2", .version = X86_PMU_AMD_CORE, .gp = 6, .merges = true, .ibs = true,
		TABLES(zen2),
		.models = { { 0x17, 0x30, 0x4f }, { 0x17, 0x60, 0x7f }, { 0x17, 0x90, 0x91 },
			    { 0x17, 0xa0, 0xaf } },
	}, {
		.name = "zen3", .version = X86_PMU_AMD_CORE, .gp = 6, .merges = true, .ibs = true,
		TABLES(zen2),
		.models = { { 0x19, 0x00, 0x0f }, { 0x19, 0x20, 0x5f } },
	}, {
		.name = "zen4", .version = X86_PMU_AMD_V2, .gp = 6, .merges = true, .ibs = true,
		.lbr = X86_LBR_AMD,
		TABLES(zen4),
		.models = { { 0x19, 0x10, 0x1f }, { 0x19, 0x60, 0xaf } },
	}, {
		.name = "zen5", .version = X86_PMU_AMD_V2, .gp = 6, .merges = true, .ibs = true,
		.lbr = X86_LBR_AMD,
		TABLES(zen4),
		.models = { { 0x1a, 0x00, 0x2f }, { 0x1a, 0x40, 0x4f }, { 0x1a, 0x60, 0x7f } },
	}, {
		/* Linux 7.3 uses the events of Zen 4 for this one, too. */
		.name = "zen6", .version = X86_PMU_AMD_V2, .gp = 6, .merges = true, .ibs = true,
		.lbr = X86_LBR_AMD,
		TABLES(zen4),
		.models = { { 0x1a, 0x50, 0x5f }, { 0x1a, 0x80, 0xaf }, { 0x1a, 0xc0, 0xcf } },
	},
	{ .name = NULL }
};
