// SPDX-License-Identifier: GPL-2.0-only
/*
 * amd.c - events of microarchitectures of AMD, by perf's names
 *
 * Names and numbers are those of perf's pmu-events/arch/x86. Retired SSE and AVX operations,
 * 0x003, take two counters, an even one and the next: AMD PPR, "Large Increment per Cycle
 * Events".
 */
#include "uarch.h"

#define CYCLES		0x0076
#define INSTRUCTIONS	0x00c0
#define OPS		0x00c1
#define BRANCHES	0x00c2
#define TAKEN		0x00c4
#define RETURNS		0x00c8
#define LOADS		0x0129
#define STORES		0x0229
#define FLOPS		0xff03

static const struct uarch_event common_events[] = {
	EVENT("ls_not_halted_cyc", CYCLES),
	EVENT("ex_ret_instr", INSTRUCTIONS),
	EVENT("ex_ret_ops", OPS),
	EVENT("ex_ret_brn", BRANCHES),
	EVENT("ex_ret_brn_tkn", TAKEN),
	EVENT("ex_ret_near_ret", RETURNS),
	EVENT("ex_ret_cond", 0x00d1),
	EVENT("ls_dispatch.ld_dispatch", LOADS),
	EVENT("ls_dispatch.store_dispatch", STORES),
	EVENT("ls_dc_accesses", 0x0040),
	EVENT("l2_request_g1.all", 0xff60),
	MISSES("l2_cache_req_stat.ic_dc_miss_in_l2", 0x0964),
	MISSES("l1_dtlb_misses", 0xff45),
	EVENT("fp_ret_sse_avx_ops.all", FLOPS),
};

/* Six counters, any event on any of them */
static const struct uarch_group zen_groups[] = {
	{ "six events", true,
	  { CYCLES, INSTRUCTIONS, OPS, BRANCHES, TAKEN, RETURNS } },
	{ "seven events", false,
	  { CYCLES, INSTRUCTIONS, OPS, BRANCHES, TAKEN, RETURNS, LOADS } },
	{ "one of two counters and four others", true,
	  { FLOPS, INSTRUCTIONS, OPS, BRANCHES, TAKEN } },
	{ "four others and one of two counters", true,
	  { INSTRUCTIONS, OPS, BRANCHES, TAKEN, FLOPS } },
	{ "one of two counters and five others", false,
	  { FLOPS, INSTRUCTIONS, OPS, BRANCHES, TAKEN, RETURNS } },
	{ "three of two counters", true, { FLOPS, FLOPS, FLOPS } },
	{ "three of two counters and another", false, { FLOPS, FLOPS, FLOPS, BRANCHES } },
	{ "four of two counters", false, { FLOPS, FLOPS, FLOPS, FLOPS } },
};

static const struct uarch_event zen1_events[] = {
	EVENT("ic_fetch_stall.ic_stall_back_pressure", 0x0187),
	EVENT("ic_fetch_stall.ic_stall_dq_empty", 0x0287),
};

static const struct uarch_event zen2_events[] = {
	EVENT("de_dis_uop_queue_empty_di0", 0x00a9),
};

static const struct uarch_event zen4_events[] = {
	EVENT("de_op_queue_empty", 0x00a9),
	HALVES("ls_not_halted_p0_cyc.p0_freq_cyc", 0x100000120),
};

const struct uarch uarch_amd[] = {
	{
		.name = "zen1", .family = 0x17, .model = 0x01,
		.nameless = PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_PREFETCH << 8,
		.events = { LIST(common_events), LIST(zen1_events) },
		.groups = { LIST(zen_groups) },
	}, {
		.name = "zen2", .family = 0x17, .model = 0x31,
		.events = { LIST(common_events), LIST(zen2_events) },
		.groups = { LIST(zen_groups) },
	}, {
		.name = "zen3", .family = 0x19, .model = 0x01,
		.events = { LIST(common_events), LIST(zen2_events) },
		.groups = { LIST(zen_groups) },
	}, {
		.name = "zen4", .family = 0x19, .model = 0x11,
		.events = { LIST(common_events), LIST(zen4_events) },
		.groups = { LIST(zen_groups) },
	}, {
		.name = "zen5", .family = 0x1a, .model = 0x02, .others = { 0x50 },
		.events = { LIST(common_events), LIST(zen4_events) },
		.groups = { LIST(zen_groups) },
	},
	{ .name = NULL }
};
