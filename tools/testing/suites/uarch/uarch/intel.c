// SPDX-License-Identifier: GPL-2.0-only
/*
 * intel.c - events of microarchitectures of Intel, by perf's names
 *
 * Names and numbers are those of perf's pmu-events/arch/x86. The names of groups say which counters
 * the events can use, as that list's field "Counter" does.
 */
#include <errno.h>

#include "uarch.h"

#define CMASK(n)	((u64)(n) << 24)
#define ANY		(1u << 21)

/* Events that all microarchitectures here have */
#define CYCLES		0x003c
#define REF_TSC		0x0300	/* CPU_CLK_UNHALTED.REF_TSC: fixed counter 2 */
#define SLOTS		0x0400	/* TOPDOWN.SLOTS: fixed counter 3 */
#define PART(n)		(0x8000 + 0x100 * (n))	/* topdown-retiring and so on */
#define PREC_DIST_0	0x0100	/* INST_RETIRED.PREC_DIST: fixed counter 0 */
#define PSEUDO_CYCLES	0x0200	/* fixed counter 1 */
#define INSTRUCTIONS	0x00c0
#define BRANCHES	0x00c4
#define RETURNS		0x08c4
#define UOPS		0x02c2	/* UOPS_RETIRED.RETIRE_SLOTS, UOPS_RETIRED.SLOTS */
#define STALLS		(0x04a3 | CMASK(4))
#define L1D_MISS	(0x08a3 | CMASK(8))
#define PENDING		0x0148	/* L1D_PEND_MISS.PENDING */
#define REPLACEMENT	0x0151	/* L1D.REPLACEMENT */
#define DSB		0x0879	/* IDQ.DSB_UOPS */
#define NOT_DELIVERED	0x019c
#define LOADS		0x81d0
#define STORES		0x82d0
#define L1_MISS		0x08d1
#define XSNP_NONE	0x08d2

static const struct uarch_event common_events[] = {
	EVENT("CPU_CLK_UNHALTED.THREAD_P", CYCLES),
	HALVES("CPU_CLK_UNHALTED.REF_TSC", REF_TSC),
	EVENT("INST_RETIRED.ANY_P", INSTRUCTIONS),
	EVENT("LONGEST_LAT_CACHE.REFERENCE", 0x4f2e),
	MISSES("LONGEST_LAT_CACHE.MISS", 0x412e),
	EVENT("BR_INST_RETIRED.ALL_BRANCHES", BRANCHES),
	EVENT("BR_INST_RETIRED.NEAR_RETURN", RETURNS),
	EVENT("BR_INST_RETIRED.NEAR_TAKEN", 0x20c4),
	MISSES("L2_RQSTS.ALL_DEMAND_DATA_RD", 0xe124),
	MISSES("L1D_PEND_MISS.PENDING", PENDING),
	MISSES("L1D.REPLACEMENT", REPLACEMENT),
	EVENT("IDQ.DSB_UOPS", DSB),
	EVENT("IDQ_UOPS_NOT_DELIVERED.CORE", NOT_DELIVERED),
	EVENT("CYCLE_ACTIVITY.STALLS_TOTAL", STALLS),
	MISSES("CYCLE_ACTIVITY.CYCLES_L1D_MISS", L1D_MISS),
	EVENT("UOPS_RETIRED.SLOTS", UOPS),
	EVENT("MEM_INST_RETIRED.ALL_LOADS", LOADS),
	EVENT("MEM_INST_RETIRED.ALL_STORES", STORES),
	MISSES("MEM_LOAD_RETIRED.L1_MISS", L1_MISS),
	MISSES("MEM_LOAD_L3_HIT_RETIRED.XSNP_NONE", XSNP_NONE),
};

/* ---- Haswell ---- */

static const struct uarch_event haswell_events[] = {
	EVENT("LD_BLOCKS.STORE_FORWARD", 0x0203),
	EVENT("UOPS_ISSUED.ANY", 0x010e),
	EVENT("INST_RETIRED.PREC_DIST", 0x01c0),
	EVENT("CPU_CLK_UNHALTED.THREAD_ANY", CYCLES | ANY),
};

static const struct uarch_group haswell_groups[] = {
	{ "counters 1 and 2, the others full before", true,
	  { UOPS, BRANCHES, 0x01c0, PENDING } },
	{ "counter 2 twice", false, { PENDING, L1D_MISS } },
	{ "counter 1 twice", false, { 0x01c0, 0x01c0 } },
	{ "four counters and three fixed ones", true,
	  { INSTRUCTIONS, CYCLES, REF_TSC, UOPS, BRANCHES, RETURNS, STALLS } },
	{ "four counters and one event more", false,
	  { UOPS, BRANCHES, RETURNS, STALLS, LOADS } },
};

/* ---- Skylake ---- */

static const struct uarch_event skylake_events[] = {
	EVENT("LD_BLOCKS.STORE_FORWARD", 0x0203),
	EVENT("UOPS_ISSUED.ANY", 0x010e),
	EVENT("CYCLE_ACTIVITY.CYCLES_MEM_ANY", 0x10a3 | CMASK(16)),
	MISSES("OFFCORE_REQUESTS.ALL_REQUESTS", 0x80b0),
	EVENT("UOPS_EXECUTED.THREAD", 0x01b1),
	EVENT("INST_RETIRED.PREC_DIST", 0x01c0),
	EVENT("MEM_INST_RETIRED.ANY", 0x83d0),
	EVENT("CPU_CLK_UNHALTED.THREAD_ANY", CYCLES | ANY),
};

static const struct uarch_group skylake_groups[] = {
	{ "counter 1 last, after two events for any", true, { UOPS, BRANCHES, 0x01c0 } },
	{ "counter 1 last, after three events for any", true,
	  { UOPS, BRANCHES, RETURNS, 0x01c0 } },
	{ "counter 1 twice", false, { 0x01c0, 0x01c0 } },
	{ "four counters and three fixed ones", true,
	  { INSTRUCTIONS, CYCLES, REF_TSC, UOPS, BRANCHES, RETURNS, STALLS } },
	{ "four counters and three fixed ones, which come last", true,
	  { UOPS, BRANCHES, LOADS, STORES, REF_TSC, CYCLES, INSTRUCTIONS } },
	{ "instructions twice and cycles twice", true,
	  { INSTRUCTIONS, CYCLES, INSTRUCTIONS, CYCLES } },
	{ "four counters and one event more", false,
	  { UOPS, BRANCHES, RETURNS, STALLS, LOADS } },
	{ "reference cycles twice", false, { REF_TSC, REF_TSC } },
};

/* ---- Ice Lake ---- */

static const struct uarch_event icelake_events[] = {
	EVENT("INST_RETIRED.PREC_DIST", PREC_DIST_0),
	EVENT("TOPDOWN.SLOTS", SLOTS),
	EVENT("TOPDOWN.SLOTS_P", 0x01a4),
	EVENT("LD_BLOCKS.STORE_FORWARD", 0x0203),
	EVENT("UOPS_ISSUED.ANY", 0x010e),
	EVENT("RS_EVENTS.EMPTY_CYCLES", 0x015e),
	EVENT("CYCLE_ACTIVITY.CYCLES_MEM_ANY", 0x10a3 | CMASK(16)),
	MISSES("OFFCORE_REQUESTS.ALL_REQUESTS", 0x80b0),
	EVENT("UOPS_EXECUTED.THREAD", 0x01b1),
	EVENT("MEM_INST_RETIRED.ANY", 0x83d0),
};

/* Sapphire Rapids and Ice Lake share these: events of counters 0 to 3 only, and of all eight. */
static const struct uarch_group eight_groups[] = {
	{ "four events for counters 0 to 3", true,
	  { LOADS, STORES, L1_MISS, PENDING } },
	{ "five events for counters 0 to 3", false,
	  { LOADS, STORES, L1_MISS, PENDING, XSNP_NONE } },
	{ "four events for any counter, then four for 0 to 3", true,
	  { UOPS, BRANCHES, RETURNS, STALLS, LOADS, STORES, L1_MISS, PENDING } },
	{ "four events for counters 0 to 3, then four for any", true,
	  { LOADS, STORES, L1_MISS, PENDING, UOPS, BRANCHES, RETURNS, STALLS } },
	{ "eight events for any counter", true,
	  { UOPS, BRANCHES, RETURNS, STALLS, NOT_DELIVERED, UOPS, BRANCHES, RETURNS } },
	{ "nine events for any counter", false,
	  { UOPS, BRANCHES, RETURNS, STALLS, NOT_DELIVERED, UOPS, BRANCHES, RETURNS, STALLS } },
	{ "eight counters and four fixed ones", true,
	  { UOPS, BRANCHES, RETURNS, STALLS, LOADS, STORES, L1_MISS, PENDING, SLOTS,
	    REF_TSC, CYCLES, INSTRUCTIONS } },
	{ "eight counters, four fixed ones, and one event more", false,
	  { UOPS, BRANCHES, RETURNS, STALLS, LOADS, STORES, L1_MISS, PENDING, SLOTS,
	    REF_TSC, CYCLES, INSTRUCTIONS, NOT_DELIVERED } },
	{ "instructions, distributed, and others", true, { INSTRUCTIONS, PREC_DIST_0 } },
	{ "distributed instructions twice", false, { PREC_DIST_0, PREC_DIST_0 } },
	{ "slots twice", false, { SLOTS, SLOTS } },
	{ "slots, topdown metrics, and others", true,
	  { SLOTS, PART(0), PART(1), PART(2), PART(3), UOPS, BRANCHES, LOADS, STORES, L1_MISS,
	    PENDING, CYCLES, INSTRUCTIONS } },
	{ "a topdown metric twice", false, { SLOTS, PART(0), PART(0) } },
	{ "a topdown metric whose slots do not lead", false, { CYCLES, SLOTS, PART(0) } },
};

/* ---- Sapphire Rapids ---- */

static const struct uarch_event sapphire_rapids_events[] = {
	EVENT("INST_RETIRED.PREC_DIST", PREC_DIST_0),
	EVENT("TOPDOWN.SLOTS", SLOTS),
	EVENT("TOPDOWN.SLOTS_P", 0x01a4),
	EVENT("LD_BLOCKS.STORE_FORWARD", 0x8203),
	EVENT("CYCLE_ACTIVITY.CYCLES_MEM_ANY", 0x10a3 | CMASK(16)),
	EVENT("TOPDOWN.BAD_SPEC_SLOTS", 0x04a4),
	EVENT("TOPDOWN.BR_MISPREDICT_SLOTS", 0x08a4),
	EVENT("UOPS_ISSUED.ANY", 0x01ae),
	EVENT("UOPS_EXECUTED.THREAD", 0x01b1),
	EVENT("MEM_TRANS_RETIRED.STORE_SAMPLE", 0x02cd),
	EVENT("MEM_INST_RETIRED.ANY", 0x83d0),
};

static const struct uarch_group sapphire_rapids_groups[] = {
	{ "counter 0 last, after three events for 0 to 3", true,
	  { LOADS, STORES, L1_MISS, 0x04a4 } },
	{ "counter 0 last, after four events for 0 to 3", false,
	  { LOADS, STORES, L1_MISS, PENDING, 0x04a4 } },
	{ "counter 0 last, after seven others", true,
	  { UOPS, BRANCHES, RETURNS, STALLS, LOADS, STORES, L1_MISS, 0x02cd } },
	{ "counter 0 twice", false, { 0x04a4, 0x02cd } },
	{ "slots and all topdown metrics", true,
	  { SLOTS, PART(0), PART(1), PART(2), PART(3), PART(4), PART(5), PART(6), PART(7) } },
};

/* ---- Gracemont ---- */

static const struct uarch_event gracemont_events[] = {
	EVENT("CPU_CLK_UNHALTED.CORE_P", CYCLES),
	HALVES("CPU_CLK_UNHALTED.REF_TSC", REF_TSC),
	EVENT("INST_RETIRED.ANY_P", INSTRUCTIONS),
	EVENT("LONGEST_LAT_CACHE.REFERENCE", 0x4f2e),
	MISSES("LONGEST_LAT_CACHE.MISS", 0x412e),
	EVENT("BR_INST_RETIRED.ALL_BRANCHES", BRANCHES),
	EVENT("TOPDOWN_RETIRING.ALL", 0x00c2),
	EVENT("MEM_UOPS_RETIRED.ALL_LOADS", LOADS),
	EVENT("MEM_UOPS_RETIRED.ALL_STORES", STORES),
	EVENT("MEM_UOPS_RETIRED.ALL", 0x83d0),
};

static const struct uarch_group gracemont_groups[] = {
	{ "six events for any counter", true,
	  { 0x00c2, BRANCHES, LOADS, STORES, 0x83d0, 0x4f2e } },
	{ "seven events for any counter", false,
	  { 0x00c2, BRANCHES, LOADS, STORES, 0x83d0, 0x4f2e, BRANCHES } },
	{ "six counters and three fixed ones", true,
	  { 0x00c2, BRANCHES, LOADS, STORES, 0x83d0, 0x4f2e, REF_TSC, CYCLES, INSTRUCTIONS } },
	{ "six counters, three fixed ones, and one event more", false,
	  { 0x00c2, BRANCHES, LOADS, STORES, 0x83d0, 0x4f2e, REF_TSC, CYCLES, INSTRUCTIONS,
	    CYCLES } },
};

/* ---- Crestmont ---- */

#define CMT_FRONTEND	0x0071
#define CMT_RETIRING	0x0072
#define CMT_BAD_SPEC	0x0073
#define CMT_BACKEND	0x0074
#define CMT_ALL		0x83d0

static const struct uarch_event crestmont_events[] = {
	EVENT("CPU_CLK_UNHALTED.CORE_P", CYCLES),
	HALVES("CPU_CLK_UNHALTED.REF_TSC", REF_TSC),
	EVENT("INST_RETIRED.ANY_P", INSTRUCTIONS),
	EVENT("LONGEST_LAT_CACHE.REFERENCE", 0x4f2e),
	MISSES("LONGEST_LAT_CACHE.MISS", 0x412e),
	EVENT("BR_INST_RETIRED.ALL_BRANCHES", BRANCHES),
	EVENT("TOPDOWN_FE_BOUND.ALL", CMT_FRONTEND),
	EVENT("TOPDOWN_RETIRING.ALL", CMT_RETIRING),
	EVENT("TOPDOWN_BAD_SPECULATION.ALL", CMT_BAD_SPEC),
	EVENT("TOPDOWN_BE_BOUND.ALL", CMT_BACKEND),
	EVENT("MEM_UOPS_RETIRED.ALL_LOADS", LOADS),
	EVENT("MEM_UOPS_RETIRED.ALL_STORES", STORES),
	EVENT("MEM_UOPS_RETIRED.ALL", CMT_ALL),
};

static const struct uarch_group crestmont_groups[] = {
	{ "eight events for any counter", true,
	  { CMT_FRONTEND, CMT_RETIRING, CMT_BAD_SPEC, CMT_BACKEND, BRANCHES, LOADS, STORES,
	    CMT_ALL } },
	{ "nine events for any counter", false,
	  { CMT_FRONTEND, CMT_RETIRING, CMT_BAD_SPEC, CMT_BACKEND, BRANCHES, LOADS, STORES,
	    CMT_ALL, 0x4f2e } },
	{ "eight counters and three fixed ones", true,
	  { CMT_FRONTEND, CMT_RETIRING, CMT_BAD_SPEC, CMT_BACKEND, BRANCHES, LOADS, STORES,
	    CMT_ALL, REF_TSC, CYCLES, INSTRUCTIONS } },
	{ "eight counters, three fixed ones, and one event more", false,
	  { CMT_FRONTEND, CMT_RETIRING, CMT_BAD_SPEC, CMT_BACKEND, BRANCHES, LOADS, STORES,
	    CMT_ALL, REF_TSC, CYCLES, INSTRUCTIONS, CYCLES } },
};

/* ---- Lunar Lake: Lion Cove and Skymont ---- */

#define MISPREDICTED	0x00c5
#define REFERENCES	0x4f2e
#define BACKEND		0x02a4	/* TOPDOWN.BACKEND_BOUND_SLOTS, TOPDOWN_BE_BOUND.ALL */
#define BAD_SPEC	0x04a4	/* TOPDOWN.BAD_SPEC_SLOTS */
#define BR_MISPREDICT	0x08a4	/* TOPDOWN.BR_MISPREDICT_SLOTS */
#define MEMORY		0x10a4	/* TOPDOWN.MEMORY_BOUND_SLOTS */
#define SLOTS_P		0x01a4
#define EXECUTED	0x01b1
#define STORE_SAMPLE	0x02cd

static const struct uarch_event lion_cove_events[] = {
	EVENT("CPU_CLK_UNHALTED.THREAD_P", CYCLES),
	HALVES("CPU_CLK_UNHALTED.REF_TSC", REF_TSC),
	HALVES("CPU_CLK_UNHALTED.REF_TSC_P", 0x013c),
	EVENT("INST_RETIRED.ANY_P", INSTRUCTIONS),
	EVENT("INST_RETIRED.PREC_DIST", PREC_DIST_0),
	EVENT("TOPDOWN.SLOTS", SLOTS),
	EVENT("TOPDOWN.SLOTS_P", SLOTS_P),
	SINCE("CPU_CLK_UNHALTED.THREAD", PSEUDO_CYCLES, LINUX_7),
	EVENT("LONGEST_LAT_CACHE.REFERENCE", REFERENCES),
	MISSES("LONGEST_LAT_CACHE.MISS", 0x412e),
	EVENT("BR_INST_RETIRED.ALL_BRANCHES", BRANCHES),
	EVENT("BR_INST_RETIRED.NEAR_RETURN", RETURNS),
	EVENT("BR_INST_RETIRED.NEAR_TAKEN", 0x20c4),
	EVENT("LD_BLOCKS.STORE_FORWARD", 0x8203),
	MISSES("DTLB_LOAD_MISSES.WALK_COMPLETED", 0x0e12),
	MISSES("DTLB_STORE_MISSES.WALK_COMPLETED", 0x0e13),
	MISSES("L2_RQSTS.ALL_DEMAND_DATA_RD", 0xe124),
	MISSES("L1D_PENDING.LOAD", PENDING),
	MISSES("MEMORY_ACTIVITY.CYCLES_L1D_MISS", L1D_MISS),
	EVENT("IDQ_BUBBLES.CORE", NOT_DELIVERED),
	EVENT("TOPDOWN.BACKEND_BOUND_SLOTS", BACKEND),
	EVENT("TOPDOWN.BAD_SPEC_SLOTS", BAD_SPEC),
	EVENT("TOPDOWN.BR_MISPREDICT_SLOTS", BR_MISPREDICT),
	EVENT("TOPDOWN.MEMORY_BOUND_SLOTS", MEMORY),
	EVENT("UOPS_EXECUTED.THREAD", EXECUTED),
	EVENT("UOPS_RETIRED.SLOTS", UOPS),
	EVENT("MEM_TRANS_RETIRED.STORE_SAMPLE", STORE_SAMPLE),
	EVENT("MEM_INST_RETIRED.ALL_LOADS", LOADS),
	EVENT("MEM_INST_RETIRED.ALL_STORES", STORES),
	EVENT("MEM_INST_RETIRED.ANY", 0x87d0),
	MISSES("MEM_LOAD_RETIRED.L1_MISS", L1_MISS),
	MISSES("MEM_LOAD_L3_HIT_RETIRED.XSNP_NONE", XSNP_NONE),
};

static const struct uarch_group lion_cove_groups[] = {
	{ "ten events for any counter", true,
	  { UOPS, BRANCHES, REFERENCES, NOT_DELIVERED, BACKEND, SLOTS_P, UOPS, BRANCHES,
	    REFERENCES, NOT_DELIVERED } },
	{ "eleven events for any counter", false,
	  { UOPS, BRANCHES, REFERENCES, NOT_DELIVERED, BACKEND, SLOTS_P, UOPS, BRANCHES,
	    REFERENCES, NOT_DELIVERED, BACKEND } },
	{ "four events for counters 0 to 3", true, { LOADS, STORES, L1_MISS, XSNP_NONE } },
	{ "five events for counters 0 to 3", false,
	  { LOADS, STORES, L1_MISS, XSNP_NONE, LOADS } },
	{ "six events for any counter, then four for 0 to 3", true,
	  { UOPS, BRANCHES, REFERENCES, NOT_DELIVERED, BACKEND, SLOTS_P, LOADS, STORES, L1_MISS,
	    XSNP_NONE } },
	{ "one event each for counters 0, 2 and 3, last, and one for 0 and 1", true,
	  { LOADS, STORE_SAMPLE, PENDING, MEMORY } },
	{ "counters 0 to 3 by events for one of them alone, and others", true,
	  { UOPS, BRANCHES, LOADS, BAD_SPEC, PENDING, EXECUTED } },
	{ "counter 0 twice", false, { BAD_SPEC, BR_MISPREDICT } },
	{ "counter 2 twice", false, { PENDING, L1D_MISS } },
	{ "counter 3 twice", false, { MEMORY, EXECUTED } },
	{ "counters 0 and 1 twice", true, { STORE_SAMPLE, STORE_SAMPLE } },
	{ "counters 0 and 1 three times", false, { STORE_SAMPLE, STORE_SAMPLE, BAD_SPEC } },
	{ "slots, topdown metrics, and others", true,
	  { SLOTS, PART(0), PART(1), PART(2), PART(3), PART(4), PART(5), PART(6), PART(7), UOPS,
	    BRANCHES, CYCLES, INSTRUCTIONS } },
	{ "a topdown metric twice", false, { SLOTS, PART(0), PART(0) } },
	{ "a topdown metric whose slots do not lead", false, { CYCLES, SLOTS, PART(0) } },
};

#define SKT_BAD_SPEC	0x0073	/* TOPDOWN_BAD_SPECULATION.ALL: fixed counter 4 */
#define SKT_FRONTEND	0x019c	/* TOPDOWN_FE_BOUND.ALL: fixed counter 5 */
#define SKT_RETIRING	0x02c2	/* TOPDOWN_RETIRING.ALL: fixed counter 6 */

static const struct uarch_event skymont_events[] = {
	EVENT("CPU_CLK_UNHALTED.CORE_P", CYCLES),
	HALVES("CPU_CLK_UNHALTED.REF_TSC", REF_TSC),
	HALVES("CPU_CLK_UNHALTED.REF_TSC_P", 0x013c),
	EVENT("INST_RETIRED.ANY_P", INSTRUCTIONS),
	EVENT("LONGEST_LAT_CACHE.REFERENCE", REFERENCES),
	MISSES("LONGEST_LAT_CACHE.MISS", 0x412e),
	EVENT("BR_INST_RETIRED.ALL_BRANCHES", BRANCHES),
	EVENT("TOPDOWN_BAD_SPECULATION.ALL", SKT_BAD_SPEC),
	EVENT("TOPDOWN_FE_BOUND.ALL", SKT_FRONTEND),
	EVENT("TOPDOWN_BE_BOUND.ALL", BACKEND),
	SINCE("INST_RETIRED.ANY", PREC_DIST_0, LINUX_7),
	SINCE("CPU_CLK_UNHALTED.CORE", PSEUDO_CYCLES, LINUX_7),
	SINCE("TOPDOWN_BAD_SPECULATION.ALL by its fixed counter", 0x0500, LINUX_7),
	SINCE("TOPDOWN_FE_BOUND.ALL by its fixed counter", 0x0600, LINUX_7),
	SINCE("TOPDOWN_RETIRING.ALL by its fixed counter", 0x0700, LINUX_7),
	EVENT("TOPDOWN_RETIRING.ALL", SKT_RETIRING),
	EVENT("MEM_UOPS_RETIRED.ALL_LOADS", LOADS),
	EVENT("MEM_UOPS_RETIRED.ALL_STORES", STORES),
};

static const struct uarch_group skymont_groups[] = {
	{ "eight events for any counter", true,
	  { BACKEND, BRANCHES, LOADS, STORES, REFERENCES, BACKEND, BRANCHES, LOADS } },
	{ "nine events for any counter", false,
	  { BACKEND, BRANCHES, LOADS, STORES, REFERENCES, BACKEND, BRANCHES, LOADS, STORES } },
	{ "eight counters, and three fixed ones of slots", true,
	  { BACKEND, BRANCHES, LOADS, STORES, REFERENCES, BACKEND, BRANCHES, LOADS,
	    SKT_BAD_SPEC, SKT_FRONTEND, SKT_RETIRING } },
	{ "eight counters, three fixed ones of slots, and one event more", false,
	  { BACKEND, BRANCHES, LOADS, STORES, REFERENCES, BACKEND, BRANCHES, LOADS,
	    SKT_BAD_SPEC, SKT_FRONTEND, SKT_RETIRING, SKT_RETIRING } },
	{ "eight counters, and three other fixed ones", true,
	  { BACKEND, BRANCHES, LOADS, STORES, REFERENCES, BACKEND, BRANCHES, LOADS, REF_TSC,
	    CYCLES, INSTRUCTIONS } },
};

const struct uarch uarch_intel[] = {
	{
		.name = "haswell", .family = 6, .model = 0x3c,
		.extra_regs = UARCH_EXTRA_REGS_HASWELL,
		.events = { LIST(common_events), LIST(haswell_events) },
		.groups = { LIST(haswell_groups) },
	}, {
		.name = "skylake", .family = 6, .model = 0x5e,
		.extra_regs = UARCH_EXTRA_REGS_SKYLAKE,
		.events = { LIST(common_events), LIST(skylake_events) },
		.groups = { LIST(skylake_groups) },
	}, {
		.name = "icelake", .family = 6, .model = 0x6a,
		.corrected = true,
		.extra_regs = UARCH_EXTRA_REGS_SKYLAKE,
		.events = { LIST(common_events), LIST(icelake_events) },
		.groups = { LIST(eight_groups) },
	}, {
		.name = "sapphire-rapids", .family = 6, .model = 0x8f,
		.corrected = true,
		.extra_regs = UARCH_EXTRA_REGS_GOLDEN_COVE,
		.events = { LIST(common_events), LIST(sapphire_rapids_events) },
		.groups = { LIST(eight_groups), LIST(sapphire_rapids_groups) },
	}, {
		.name = "granite-rapids", .family = 6, .model = 0xad,
		.corrected = true,
		.extra_regs = UARCH_EXTRA_REGS_REDWOOD_COVE,
		.events = {
			{ common_events, ARRAY_SIZE(common_events) },
			{ sapphire_rapids_events, ARRAY_SIZE(sapphire_rapids_events) },
		},
		.groups = {
			{ eight_groups, ARRAY_SIZE(eight_groups) },
			{ sapphire_rapids_groups, ARRAY_SIZE(sapphire_rapids_groups) },
		},
	}, {
		.name = "sierra-forest", .family = 6, .model = 0xaf,
		.corrected = true,
		.extra_regs = UARCH_EXTRA_REGS_CRESTMONT,
		.nameless = PERF_COUNT_HW_CACHE_ITLB | PERF_COUNT_HW_CACHE_RESULT_MISS << 16,
		.events = { LIST(crestmont_events) },
		.groups = { LIST(crestmont_groups) },
	}, {
		/* Two CPU types: the first CPU has one, the second the other. */
		.name = "golden-cove", .family = 6, .model = 0x97, .kind = "core", .cpu = 0,
		.others = { 0xb7 },
		.corrected = true,
		.extra_regs = UARCH_EXTRA_REGS_GOLDEN_COVE,
		.events = { LIST(common_events), LIST(sapphire_rapids_events) },
		.groups = { LIST(eight_groups), LIST(sapphire_rapids_groups) },
	}, {
		.name = "gracemont", .family = 6, .model = 0x97, .kind = "atom", .cpu = 1,
		.others = { 0xb7 },
		.corrected = true,
		.extra_regs = UARCH_EXTRA_REGS_GRACEMONT,
		.nameless = PERF_COUNT_HW_CACHE_ITLB | PERF_COUNT_HW_CACHE_RESULT_MISS << 16,
		.events = { LIST(gracemont_events) },
		.groups = { LIST(gracemont_groups) },
	}, {
		.name = "lion-cove", .family = 6, .model = 0xbd, .kind = "core", .cpu = 0,
		.others = { 0xc6, 0xcc },
		.corrected = true,
		.extra_regs = UARCH_EXTRA_REGS_LION_COVE,
		.events = { LIST(lion_cove_events) },
		.groups = { LIST(lion_cove_groups) },
	}, {
		.name = "skymont", .family = 6, .model = 0xbd, .kind = "atom", .cpu = 1,
		.others = { 0xc6, 0xcc },
		.corrected = true,
		.extra_regs = UARCH_EXTRA_REGS_CRESTMONT,
		.events = { LIST(skymont_events) },
		.groups = { LIST(skymont_groups) },
	},
	{ .name = NULL }
};
