// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: event numbers for PERF_TYPE_HW_CACHE: caches, TLBs, branch predictors and nodes
 *
 * Common events count reads and writes together. Some CPUs also have model-specific events, which
 * count reads, writes or prefetches separately. The numbers are those of the built-in driver
 * (armv8_*_perf_cache_map[] in drivers/perf/arm_pmuv3.c of Linux 6.12). As there, the devicetree's
 * compatible string selects the model-specific numbers; with ACPI there are none. A common event
 * that the CPU has takes precedence.
 */
#include <linux/perf_event.h>

#include <corepmu/pmu.h>

#include "pmuv3.h"

/* IMPLEMENTATION DEFINED events with recommended numbers: DDI 0487, D13.11.5 */
#define L1D_CACHE_RD			0x0040
#define L1D_CACHE_WR			0x0041
#define L1D_CACHE_REFILL_RD		0x0042
#define L1D_CACHE_REFILL_WR		0x0043
#define L1D_TLB_REFILL_RD		0x004c
#define L1D_TLB_REFILL_WR		0x004d
#define L1D_TLB_RD			0x004e
#define L1D_TLB_WR			0x004f
#define BUS_ACCESS_RD			0x0060
#define BUS_ACCESS_WR			0x0061

/* Event numbers of a single CPU model */
#define A53_PREFETCH_LINEFILL		0x00c2
#define THUNDERX_L1D_MISS_ST		0x00e9
#define THUNDERX_L1D_PREFETCH		0x00ea
#define THUNDERX_L1D_PREFETCH_MISS	0x00eb
#define THUNDERX_L1I_PREFETCH		0x00ec
#define THUNDERX_L1I_PREFETCH_MISS	0x00ed

#define C(name)		PERF_COUNT_HW_CACHE_##name
#define READS(name, number)           { C(name), C(OP_READ), C(RESULT_ACCESS), number }
#define READ_MISSES(name, number)     { C(name), C(OP_READ), C(RESULT_MISS), number }
#define WRITES(name, number)          { C(name), C(OP_WRITE), C(RESULT_ACCESS), number }
#define WRITE_MISSES(name, number)    { C(name), C(OP_WRITE), C(RESULT_MISS), number }
#define PREFETCHES(name, number)      { C(name), C(OP_PREFETCH), C(RESULT_ACCESS), number }
#define PREFETCH_MISSES(name, number) { C(name), C(OP_PREFETCH), C(RESULT_MISS), number }

/* Event 0, SW_INCR, ends a list. */
static const struct pmuv3_cache_event common_events[] = {
	READS(L1D, PMUV3_EVENT_L1D_CACHE),
	READ_MISSES(L1D, PMUV3_EVENT_L1D_CACHE_REFILL),
	READS(L1I, PMUV3_EVENT_L1I_CACHE),
	READ_MISSES(L1I, PMUV3_EVENT_L1I_CACHE_REFILL),
	READS(LL, PMUV3_EVENT_LL_CACHE_RD),
	READ_MISSES(LL, PMUV3_EVENT_LL_CACHE_MISS_RD),
	READS(DTLB, PMUV3_EVENT_L1D_TLB),
	READ_MISSES(DTLB, PMUV3_EVENT_L1D_TLB_REFILL),
	READS(ITLB, PMUV3_EVENT_L1I_TLB),
	READ_MISSES(ITLB, PMUV3_EVENT_L1I_TLB_REFILL),
	READS(BPU, PMUV3_EVENT_BR_PRED),
	READ_MISSES(BPU, PMUV3_EVENT_BR_MIS_PRED),
	{ }
};

/* Cortex-A53, Cortex-A35 */
const struct pmuv3_cache_event pmuv3_a53_events[] = {
	PREFETCH_MISSES(L1D, A53_PREFETCH_LINEFILL),
	READS(NODE, BUS_ACCESS_RD),
	WRITES(NODE, BUS_ACCESS_WR),
	{ }
};

/* Cortex-A57, Cortex-A72 */
const struct pmuv3_cache_event pmuv3_a57_events[] = {
	READS(L1D, L1D_CACHE_RD),
	READ_MISSES(L1D, L1D_CACHE_REFILL_RD),
	WRITES(L1D, L1D_CACHE_WR),
	WRITE_MISSES(L1D, L1D_CACHE_REFILL_WR),
	READ_MISSES(DTLB, L1D_TLB_REFILL_RD),
	WRITE_MISSES(DTLB, L1D_TLB_REFILL_WR),
	READS(NODE, BUS_ACCESS_RD),
	WRITES(NODE, BUS_ACCESS_WR),
	{ }
};

/* Cortex-A73 */
const struct pmuv3_cache_event pmuv3_a73_events[] = {
	READS(L1D, L1D_CACHE_RD),
	WRITES(L1D, L1D_CACHE_WR),
	{ }
};

/* Cavium's ThunderX */
const struct pmuv3_cache_event pmuv3_thunderx_events[] = {
	READS(L1D, L1D_CACHE_RD),
	READ_MISSES(L1D, L1D_CACHE_REFILL_RD),
	WRITES(L1D, L1D_CACHE_WR),
	WRITE_MISSES(L1D, THUNDERX_L1D_MISS_ST),
	PREFETCHES(L1D, THUNDERX_L1D_PREFETCH),
	PREFETCH_MISSES(L1D, THUNDERX_L1D_PREFETCH_MISS),
	PREFETCHES(L1I, THUNDERX_L1I_PREFETCH),
	PREFETCH_MISSES(L1I, THUNDERX_L1I_PREFETCH_MISS),
	READS(DTLB, L1D_TLB_RD),
	READ_MISSES(DTLB, L1D_TLB_REFILL_RD),
	WRITES(DTLB, L1D_TLB_WR),
	WRITE_MISSES(DTLB, L1D_TLB_REFILL_WR),
	{ }
};

/* Broadcom's Vulcan, ThunderX2 */
const struct pmuv3_cache_event pmuv3_vulcan_events[] = {
	READS(L1D, L1D_CACHE_RD),
	READ_MISSES(L1D, L1D_CACHE_REFILL_RD),
	WRITES(L1D, L1D_CACHE_WR),
	WRITE_MISSES(L1D, L1D_CACHE_REFILL_WR),
	READS(DTLB, L1D_TLB_RD),
	READ_MISSES(DTLB, L1D_TLB_REFILL_RD),
	WRITES(DTLB, L1D_TLB_WR),
	WRITE_MISSES(DTLB, L1D_TLB_REFILL_WR),
	READS(NODE, BUS_ACCESS_RD),
	WRITES(NODE, BUS_ACCESS_WR),
	{ }
};

/* Return the event of @list for a combination, or 0. */
static unsigned int find_event(const struct pmuv3_cache_event *list, unsigned int cache,
			       unsigned int op, unsigned int result)
{
	for (; list->event; list++)
		if (list->cache == cache && list->op == op && list->result == result)
			break;

	return list->event;
}

/**
 * pmuv3_map_cache() - map a PERF_TYPE_HW_CACHE config to an event number
 * @pmuv3: the PMU
 * @config: cache, operation << 8, result << 16
 *
 * PMCEID<n>_EL0 lists the common events that the CPU has, but no model-specific events.
 *
 * Return: the event number; -EINVAL for an unknown config, -ENOENT if the CPU lacks the event
 */
int pmuv3_map_cache(const struct pmuv3 *pmuv3, u64 config)
{
	unsigned int cache, op, result, event;
	bool miss;
	int ret;

	ret = corepmu_decode_cache(config, &cache, &op, &miss);
	if (ret)
		return ret;

	result = miss ? C(RESULT_MISS) : C(RESULT_ACCESS);
	event = find_event(common_events, cache, op, result);
	if (event && pmuv3_has_event(pmuv3, event))
		return event;

	event = pmuv3->cache_events ? find_event(pmuv3->cache_events, cache, op, result) : 0;
	return event ?: -ENOENT;
}
