// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Microarchitectures of Zhaoxin. Their registers are those of Intel's version 2.
 *
 * Events are those of zx_pmon_event_map[] and lujiazui_hw_cache_event_ids[] in openEuler's kernel,
 * arch/x86/events/zhaoxin/core.c. Numbers of counters are those in CPUID leaf 0xA of the KX-U6780A:
 * InstLatx64, CentaurHauls00307B1_U6780A_CPUID2.txt. That a write of a counter sets more than 32
 * bits, and that IA32_PERF_CAPABILITIES does not exist: VirtualBox, CPU database,
 * VMMR3/cpus/ZHAOXIN_KaiXian_KX_U5581_1_8GHz.h.
 */
#include "common/plugin.h"
#include "x86/uarch/uarch.h"

static const struct x86_pmu_event_row kx_6000_events[] = {
	X86_PMU_EVENT(0x15, 0x05, CACHE_REFS, 1, 1),	/* cache-references */
	X86_PMU_EVENT(0x1a, 0x05, CACHE_MISSES, 1, 1),	/* cache-misses */
	X86_PMU_EVENT(0x28, 0x00, BRANCHES, 1, 1),	/* branches */
	X86_PMU_EVENT(0x29, 0x00, MISPREDICTED, 1, 1),	/* branch-misses */
	X86_PMU_EVENT(0x4b, 0x05, LOAD_MISSES, 1, 1),	/* L1-dcache-load-misses */
	X86_PMU_EVENT(0x68, 0x05, LOADS, 1, 1),		/* L1-dcache-loads */
	X86_PMU_EVENT(0x69, 0x06, STORES, 1, 1),	/* L1-dcache-stores */
	X86_PMU_EVENT(0x82, 0x00, CYCLES, 1, 1),	/* cycles */
	X86_PMU_EVENT(0x83, 0x00, CYCLES, 1, 2),	/* bus-cycles */
};

/* No events here: Intel's numbers of cycles, cache references, slots, branches, loads, stores */
static const struct x86_uarch_rule kx_6000_rules[] = {
	{ 0x2e, 0x3c, X86_PMU_ANY_UMASK, 0 },
	{ 0xa4, 0, X86_PMU_ANY_UMASK, 0 },
	{ 0xc4, 0xc5, X86_PMU_ANY_UMASK, 0 },
	{ 0xd0, 0, X86_PMU_ANY_UMASK, 0 },
};

const struct x86_uarch x86_uarch_zhaoxin[] = {
	{
		/* Lujiazui */
		.name = "kx-6000", .version = X86_PMU_INTEL_V2, .gp = 4, .fixed = 0x7,
		.zhaoxin = true, .models = { { 7, 0x3b, 0x3b } },
		.events = kx_6000_events, .nr_events = ARRAY_SIZE(kx_6000_events),
		.rules = kx_6000_rules, .nr_rules = ARRAY_SIZE(kx_6000_rules),
	},
	{ .name = NULL }
};
