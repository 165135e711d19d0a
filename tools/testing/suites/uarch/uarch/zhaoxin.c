// SPDX-License-Identifier: GPL-2.0-only
/*
 * zhaoxin.c - events of microarchitectures of Zhaoxin, by perf's names of generic events
 *
 * Numbers are those of lujiazui_hw_cache_event_ids[] and zx_pmon_event_map[] in openEuler's kernel,
 * arch/x86/events/zhaoxin/core.c. perf has no event list for these CPUs.
 */
#include "uarch.h"

#define INV_CMASK_1	0x01800000

#define BRANCHES	0x0028
#define MISSED		0x0029
#define CYCLES		0x0082
#define BUS_CYCLES	0x0083
#define INSTRUCTIONS	0x00c0
#define REFERENCES	0x0515
#define LOADS		0x0568
#define STORES		0x0669

static const struct uarch_event lujiazui_events[] = {
	EVENT("cpu-cycles", CYCLES),
	HALVES("bus-cycles", BUS_CYCLES),
	EVENT("instructions", INSTRUCTIONS),
	EVENT("cycles without instructions", INSTRUCTIONS | INV_CMASK_1),
	EVENT("branches", BRANCHES),
	MISSES("branch-misses", MISSED),
	EVENT("cache-references", REFERENCES),
	MISSES("cache-misses", 0x051a),
	EVENT("L1-dcache-loads", LOADS),
	MISSES("L1-dcache-load-misses", 0x054b),
	EVENT("L1-dcache-stores", STORES),
};

/* Four counters, and a fixed one each for instructions, cycles and bus cycles */
static const struct uarch_group lujiazui_groups[] = {
	{ "four counters and three fixed ones", true,
	  { INSTRUCTIONS, CYCLES, BUS_CYCLES, BRANCHES, REFERENCES, LOADS, STORES } },
	{ "four counters and one event more", false,
	  { BRANCHES, REFERENCES, LOADS, STORES, MISSED } },
	{ "five times instructions", true,
	  { INSTRUCTIONS, INSTRUCTIONS, INSTRUCTIONS, INSTRUCTIONS, INSTRUCTIONS } },
	{ "six times instructions", false,
	  { INSTRUCTIONS, INSTRUCTIONS, INSTRUCTIONS, INSTRUCTIONS, INSTRUCTIONS, INSTRUCTIONS } },
};

const struct uarch uarch_zhaoxin[] = {
	{
		.name = "kx-6000", .family = 7, .model = 0x3b,
		.events = { LIST(lujiazui_events) },
		.groups = { LIST(lujiazui_groups) },
	},
	{ .name = NULL }
};
