// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: event codes for the generic events on Intel's microarchitectures
 *
 * The codes are those of the *_hw_cache_event_ids[] in arch/x86/events/intel/core.c, if perf's list
 * for the microarchitecture (tools/perf/pmu-events/arch/x86) has the code or the bits of its unit
 * mask. Comments give the names of perf's lists. Exceptions:
 *
 * - Codes that only the kernel has are left out: L1D.ALL_M_REPLACEMENT and HW_PRE_REQ.DL1_MISS on
 *   Ivy Bridge, 0x0481 on Gracemont, Crestmont and Arctic Wolf.
 * - From Golden Cove on, branches have the architectural events in place of 0x04c4 and 0x04c5,
 *   which count conditional branches not taken from Panther Lake on.
 * - Arctic Wolf's list is a first one, and lacks MEM_UOPS_RETIRED (0xd0). The kernel has
 *   constraints for 0xd0 (intel_dkt_pebs_event_constraints), so the table has the code of all
 *   earlier atoms.
 * - Panther Cove has the codes of Coyote Cove, as in the kernel.
 * - Core 2 has the kernel's codes and names: perf has no list for Core 2.
 * - Core has no codes here, as in the kernel.
 *
 * LL and NODE events, which the kernel counts with OFFCORE_RSP or OMR, need an extra register: see
 * extra-regs.c.
 *
 * Further differences from the kernel: Gracemont and later lack iTLB-load-misses, which only
 * Skymont has again. Core and unknown models have no cache events: the architectural events of the
 * last-level cache count more than data reads.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include <corepmu/module.h>

#include "uarch-bits.h"
#include "../x86.h"

/**
 * struct generic_event - event code for a generic event
 * @uarches: microarchitectures of the row, a bit each
 * @generic: perf_event_attr.config
 * @config: value for the event selection register: event, unit mask, threshold, inversion, edge
 */
struct generic_event {
	u32	uarches;
	u32	generic;
	u32	config;
};

static const struct generic_event intel_cache_events[] = {
	/* MEM_INST_RETIRED.LOADS, MEM_UOPS_RETIRED.*_LOADS, .ALL_LOADS, L1D_CACHE.LD */
	{ NHM | WSM, X86_CACHE(L1D, READ, ACCESS), 0x010b },
	{ SNB_IVB, X86_CACHE(L1D, READ, ACCESS), 0xf1d0 },
	{ HSW_BDW | SKL | ICL | GLC_RWC | LNC_ON | GLM_GLP | TNT | GRT_ON,
	  X86_CACHE(L1D, READ, ACCESS), 0x81d0 },
	{ BNL, X86_CACHE(L1D, READ, ACCESS), 0x2140 },
	/* L1D_CACHE_LD.MESI and .I_STATE, L1D_CACHE_ST likewise, L1D_PREFETCH.REQUESTS */
	{ C2, X86_CACHE(L1D, READ, ACCESS), 0x0f40 },
	{ C2, X86_CACHE(L1D, READ, MISS), 0x0140 },
	{ C2, X86_CACHE(L1D, WRITE, ACCESS), 0x0f41 },
	{ C2, X86_CACHE(L1D, WRITE, MISS), 0x0141 },
	{ C2, X86_CACHE(L1D, PREFETCH, ACCESS), 0x104e },
	/* L1D.REPLACEMENT, L2_RQSTS.ALL_DEMAND_DATA_RD, MEM_UOPS_RETIRED.L1_MISS_LOADS */
	{ NHM | WSM | SNB_IVB | HSW_BDW | SKL | ICL, X86_CACHE(L1D, READ, MISS), 0x0151 },
	{ GLC_RWC | LNC_ON, X86_CACHE(L1D, READ, MISS), 0xe124 },
	{ SLM_KNL, X86_CACHE(L1D, READ, MISS), 0x0104 },
	/* MEM_INST_RETIRED.STORES, MEM_UOPS_RETIRED.*_STORES, .ALL_STORES, L1D_CACHE.ST */
	{ NHM | WSM, X86_CACHE(L1D, WRITE, ACCESS), 0x020b },
	{ SNB_IVB, X86_CACHE(L1D, WRITE, ACCESS), 0xf2d0 },
	{ HSW_BDW | SKL | ICL | GLC_RWC | LNC_ON | GLM_GLP | TNT | GRT_ON,
	  X86_CACHE(L1D, WRITE, ACCESS), 0x82d0 },
	{ BNL, X86_CACHE(L1D, WRITE, ACCESS), 0x2240 },
	/* L1D.M_REPL, L1D.ALL_M_REPLACEMENT */
	{ NHM | WSM, X86_CACHE(L1D, WRITE, MISS), 0x0251 },
	{ SNB, X86_CACHE(L1D, WRITE, MISS), 0x0851 },
	/* L1D_PREFETCH.REQUESTS; L1D_PREFETCH.MISS, HW_PRE_REQ.DL1_MISS */
	{ NHM | WSM, X86_CACHE(L1D, PREFETCH, ACCESS), 0x014e },
	{ NHM | WSM | SNB, X86_CACHE(L1D, PREFETCH, MISS), 0x024e },

	/* L1I.READS, ICACHE.ACCESSES */
	{ NHM | WSM | BNL | SLM_KNL | GLM_GLP | TNT | GRT_ON,
	  X86_CACHE(L1I, READ, ACCESS), 0x0380 },
	{ C2, X86_CACHE(L1I, READ, ACCESS), 0x0080 },
	{ C2, X86_CACHE(L1I, READ, MISS), 0x0081 },
	/* L1I.MISSES, ICACHE.MISSES; ICACHE_64B.IFTAG_MISS; L2_RQSTS.ALL_CODE_RD */
	{ NHM | WSM | SNB_IVB | HSW_BDW | BNL | SLM_KNL | GLM_GLP | TNT | GRT_ON,
	  X86_CACHE(L1I, READ, MISS), 0x0280 },
	{ SKL | ICL, X86_CACHE(L1I, READ, MISS), 0x0283 },
	{ GLC_RWC | LNC_ON, X86_CACHE(L1I, READ, MISS), 0xe424 },

	/* L2_LD.SELF.DEMAND, L2_ST.SELF.DEMAND: .MESI and .I_STATE */
	{ BNL | C2, X86_CACHE(LL, READ, ACCESS), 0x4f29 },
	{ BNL | C2, X86_CACHE(LL, READ, MISS), 0x4129 },
	{ BNL | C2, X86_CACHE(LL, WRITE, ACCESS), 0x4f2a },
	{ BNL | C2, X86_CACHE(LL, WRITE, MISS), 0x412a },

	/* L1D_CACHE_LD.MESI; otherwise as the first */
	{ NHM | C2, X86_CACHE(DTLB, READ, ACCESS), 0x0f40 },
	{ WSM, X86_CACHE(DTLB, READ, ACCESS), 0x010b },
	{ SNB_IVB | HSW_BDW | SKL | ICL | GLC_RWC | LNC_ON | GLM_GLP | TNT | GRT_ON,
	  X86_CACHE(DTLB, READ, ACCESS), 0x81d0 },
	{ BNL, X86_CACHE(DTLB, READ, ACCESS), 0x2140 },
	/* DTLB_LOAD_MISSES.ANY, .MISS_CAUSES_A_WALK; .WALK_COMPLETED; DTLB_MISS_LOADS */
	{ NHM | WSM | SNB | HSW_BDW, X86_CACHE(DTLB, READ, MISS), 0x0108 },
	{ IVB, X86_CACHE(DTLB, READ, MISS), 0x8108 },
	{ SKL | ICL | GLP | TNT | GRT_ON, X86_CACHE(DTLB, READ, MISS), 0x0e08 },
	{ GLC_RWC | LNC_ON, X86_CACHE(DTLB, READ, MISS), 0x0e12 },
	{ BNL, X86_CACHE(DTLB, READ, MISS), 0x0508 },
	{ SLM_KNL, X86_CACHE(DTLB, READ, MISS), 0x0804 },
	/* DTLB_MISSES.MISS_LD and .MISS_ST */
	{ C2, X86_CACHE(DTLB, READ, MISS), 0x0208 },
	{ C2, X86_CACHE(DTLB, WRITE, MISS), 0x0808 },
	/* L1D_CACHE_ST.*_STATE; otherwise as for the first level */
	{ NHM | C2, X86_CACHE(DTLB, WRITE, ACCESS), 0x0f41 },
	{ WSM, X86_CACHE(DTLB, WRITE, ACCESS), 0x020b },
	{ SNB_IVB | HSW_BDW | SKL | ICL | GLC_RWC | LNC_ON | GLM_GLP | TNT | GRT_ON,
	  X86_CACHE(DTLB, WRITE, ACCESS), 0x82d0 },
	{ BNL, X86_CACHE(DTLB, WRITE, ACCESS), 0x2240 },
	/* MEM_STORE_RETIRED.DTLB_MISS; DTLB_STORE_MISSES; DATA_TLB_MISSES.DTLB_MISS_ST */
	{ NHM | WSM, X86_CACHE(DTLB, WRITE, MISS), 0x010c },
	{ SNB_IVB | HSW_BDW, X86_CACHE(DTLB, WRITE, MISS), 0x0149 },
	{ SKL | ICL | GLP | TNT | GRT_ON, X86_CACHE(DTLB, WRITE, MISS), 0x0e49 },
	{ GLC_RWC | LNC_ON, X86_CACHE(DTLB, WRITE, MISS), 0x0e13 },
	{ BNL, X86_CACHE(DTLB, WRITE, MISS), 0x0608 },

	/* INST_RETIRED.ANY_P; ITLB_MISSES.STLB_HIT */
	{ NHM | WSM, X86_CACHE(ITLB, READ, ACCESS), 0x01c0 },
	{ SNB_IVB, X86_CACHE(ITLB, READ, ACCESS), 0x1085 },
	{ HSW_BDW, X86_CACHE(ITLB, READ, ACCESS), 0x6085 },
	{ SKL, X86_CACHE(ITLB, READ, ACCESS), 0x2085 },
	{ C2 | BNL | SLM_KNL | GLM_GLP, X86_CACHE(ITLB, READ, ACCESS), 0x00c0 },
	/* ITLB_MISS_RETIRED; ITLB_MISSES.ANY, .MISS_CAUSES_A_WALK, .WALK_COMPLETED */
	{ NHM, X86_CACHE(ITLB, READ, MISS), 0x20c8 },
	{ WSM | SNB_IVB | HSW_BDW, X86_CACHE(ITLB, READ, MISS), 0x0185 },
	{ SKL | ICL, X86_CACHE(ITLB, READ, MISS), 0x0e85 },
	{ GLC_RWC | LNC_ON, X86_CACHE(ITLB, READ, MISS), 0x0e11 },
	/* ITLB.MISSES; PAGE_WALKS.I_SIDE_WALKS, edges of .I_SIDE_CYCLES; ITLB.MISS, .FILLS */
	{ C2, X86_CACHE(ITLB, READ, MISS), 0x1282 },
	{ BNL, X86_CACHE(ITLB, READ, MISS), 0x0282 },
	{ SLM_KNL, X86_CACHE(ITLB, READ, MISS), 0x40205 },
	{ GLM_GLP | TNT | SKT, X86_CACHE(ITLB, READ, MISS), 0x0481 },

	/* BR_INST_RETIRED.ALL_BRANCHES */
	{ ~(u32)YNH, X86_CACHE(BPU, READ, ACCESS), 0x00c4 },
	/* BPU_CLEARS.*; BR_MISP_RETIRED.ALL_BRANCHES */
	{ NHM | WSM, X86_CACHE(BPU, READ, MISS), 0x03e8 },
	{ ~(u32)(YNH | NHM | WSM), X86_CACHE(BPU, READ, MISS), 0x00c5 },
};

/*
 * Stalled cycles: cycles without micro-operations, by threshold 1, inverted. intel_pmu_init() in
 * arch/x86/events/intel/core.c
 */
static const struct generic_event hardware_events[] = {
	/* UOPS_ISSUED.ANY */
	{ NHM | WSM | SNB_IVB, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 0x0180010e },
	/* UOPS_EXECUTED.CORE_ACTIVE_CYCLES, UOPS_DISPATCHED.THREAD */
	{ NHM | WSM, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 0x01803fb1 },
	{ SNB, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 0x018001b1 },
};

/* Return the event code for @generic on @uarch, or 0. */
static u64 find_generic_event(const struct intel_uarch *uarch, const struct generic_event *events,
			      unsigned int nr, u64 generic)
{
	u32 own = BIT(uarch - intel_uarches);
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (events[i].generic == generic && (events[i].uarches & own))
			return events[i].config;

	return 0;
}

/**
 * intel_uarch_cache() - return the event code for a PERF_TYPE_HW_CACHE event
 * @uarch: the microarchitecture
 * @generic: cache, operation << 8, result << 16
 *
 * Return: value for the event selection register, or 0 if there is no such event
 */
u64 intel_uarch_cache(const struct intel_uarch *uarch, u64 generic)
{
	return find_generic_event(uarch, intel_cache_events, ARRAY_SIZE(intel_cache_events),
				  generic);
}

/**
 * intel_uarch_hardware() - add the PERF_TYPE_HARDWARE events that are not architectural
 * @uarch: the microarchitecture
 * @hardware: event code for each PERF_COUNT_HW_*; the function writes those that the CPU has
 *
 * A Nehalem with erratum AAJ80 lacks the architectural branch-misses event, and has none here: the
 * event that the built-in driver counts instead includes speculative branches.
 */
void __corepmu_init intel_uarch_hardware(const struct intel_uarch *uarch, u64 *hardware)
{
	unsigned int i;

	for (i = 0; i < PERF_COUNT_HW_MAX; i++)
		if (!hardware[i])
			hardware[i] = find_generic_event(uarch, hardware_events,
							 ARRAY_SIZE(hardware_events), i);
}
