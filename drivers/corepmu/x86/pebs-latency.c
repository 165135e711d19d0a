// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: loads that take long, of Intel's CPUs
 *
 * MEM_TRANS_RETIRED.LOAD_LATENCY counts loads, chosen at random, that take more cycles than
 * MSR_PEBS_LD_LAT_THRESHOLD says, and has their latency and where the data came from in its
 * records (SDM volume 3, "Load Latency Performance Monitoring Facility"). The register is one of
 * a thread's: events with other thresholds take turns. Known are Skylake and Ice Lake; from
 * Golden Cove on the event wants another one in its group, and is refused.
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>

#include <corepmu/pmu.h>

#include "intel.h"
#include "msr.h"
#include "pebs.h"
#include "x86.h"

#define EVENT_LOAD_LATENCY	0x01cd

/* "The minimum value that may be programmed" */
#define MIN_THRESHOLD		3
#define MAX_THRESHOLD		GENMASK_ULL(15, 0)

/**
 * x86_pebs_has_latency() - are there records of how long a load took?
 * @desc: the counters
 *
 * Return: whether there are
 */
bool x86_pebs_has_latency(const struct x86_desc *desc)
{
	return desc->pebs_format && (desc->uarch == &intel_uarches[UARCH_SKYLAKE] ||
				     desc->uarch == &intel_uarches[UARCH_ICE_LAKE]);
}

/**
 * x86_pebs_wants_latency() - is it the event that has it?
 * @desc: the counters
 * @attr: what was asked for
 * @config: the event
 *
 * Return: true for one that can be counted, with attr.config1 as threshold
 */
bool x86_pebs_wants_latency(const struct x86_desc *desc, const struct perf_event_attr *attr,
			    u64 config)
{
	return attr->precise_ip && config == EVENT_LOAD_LATENCY && x86_pebs_has_latency(desc) &&
	       attr->config1 <= MAX_THRESHOLD && !attr->config2 && !compat_attr_more_config(attr);
}

/**
 * x86_pebs_encode_latency() - the event counts loads that take long
 * @event: an event that x86_pebs_wants_latency()
 */
void x86_pebs_encode_latency(struct perf_event *event)
{
	event->hw.flags |= EVENT_LATENCY;
	event->hw.extra_reg.config = max_t(u64, event->attr.config1, MIN_THRESHOLD);
}

/**
 * x86_pebs_fits() - can two events have their records at a time?
 * @event: a precise event
 * @other: another one
 *
 * Return: false if not
 */
bool x86_pebs_fits(const struct perf_event *event, const struct perf_event *other)
{
	return !(event->hw.flags & other->hw.flags & EVENT_LATENCY) ||
	       event->hw.extra_reg.config == other->hw.extra_reg.config;
}

/*
 * Where data came from, SDM volume 3, table "Data Source Encoding for Load Latency Record", in
 * perf's words; what both of Skylake and Ice Lake say otherwise, in theirs
 * (intel_pmu_pebs_data_source_skl() in arch/x86/events/intel/ds.c).
 */
#define MEM(level, number, snoop)					\
	(PERF_MEM_S(OP, LOAD) | (level) | PERF_MEM_S(LVLNUM, number) | (snoop))
#define HIT(level)	(PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, level))
#define IS_HIT		PERF_MEM_S(LVL, HIT)
#define SNOOP(what)	PERF_MEM_S(SNOOP, what)
#define REMOTE		PERF_MEM_S(REMOTE, REMOTE)

static const u64 sources[] = {
	MEM(PERF_MEM_S(LVL, MISS), L3, SNOOP(NA)),
	MEM(HIT(L1), L1, SNOOP(NONE)),
	MEM(HIT(LFB), LFB, SNOOP(NONE)),
	MEM(HIT(L2), L2, SNOOP(NONE)),
	MEM(HIT(L3), L3, SNOOP(NONE)),
	MEM(HIT(L3), L3, SNOOP(MISS)),
	MEM(HIT(L3), L3, SNOOP(HIT)),
	MEM(HIT(L3), L3, SNOOP(HITM)),
	MEM(IS_HIT, L4, SNOOP(HIT)),
	MEM(IS_HIT, L4, SNOOP(HIT)) | REMOTE,
	MEM(HIT(LOC_RAM), RAM, SNOOP(HIT)),
	MEM(IS_HIT, RAM, SNOOP(NONE)) | REMOTE,
	MEM(IS_HIT, ANY_CACHE, PERF_MEM_S(SNOOPX, FWD)) | REMOTE,
	MEM(IS_HIT, ANY_CACHE, SNOOP(HITM)) | REMOTE,
	MEM(HIT(IO), NA, SNOOP(NONE)),
	MEM(HIT(UNC), NA, SNOOP(NONE)),
};

#define SOURCE_LEVEL	GENMASK_ULL(3, 0)
#define SOURCE_STLB	BIT_ULL(4)
#define SOURCE_LOCKED	BIT_ULL(5)
#define SOURCE_L4	0x8
#define SOURCE_L4_FAR	0x9

/* Skylake and Ice Lake of servers have persistent memory where others have a fourth cache. */
#define MODEL_SKYLAKE_X	0x55
#define MODEL_ICELAKE_X	0x6a
#define MODEL_ICELAKE_D	0x6c

static bool has_persistent_memory(void)
{
	return boot_cpu_data.x86_model == MODEL_SKYLAKE_X ||
	       boot_cpu_data.x86_model == MODEL_ICELAKE_X ||
	       boot_cpu_data.x86_model == MODEL_ICELAKE_D;
}

/**
 * x86_pebs_latency_source() - what perf calls where a load's data came from
 * @source: what the record says
 *
 * Any context, NMI too.
 *
 * Return: perf_mem_data_src
 */
u64 x86_pebs_latency_source(u64 source)
{
	unsigned int level = FIELD_GET(SOURCE_LEVEL, source);
	u64 data = sources[level];

	if ((level == SOURCE_L4 || level == SOURCE_L4_FAR) && has_persistent_memory())
		data ^= PERF_MEM_S(LVLNUM, L4) ^ PERF_MEM_S(LVLNUM, PMEM);
	data |= PERF_MEM_S(TLB, L2) | PERF_MEM_S(BLK, NA);
	data |= source & SOURCE_STLB ? PERF_MEM_S(TLB, MISS) :
				       PERF_MEM_S(TLB, HIT) | PERF_MEM_S(TLB, L1);
	if (source & SOURCE_LOCKED)
		data |= PERF_MEM_S(LOCK, LOCKED);

	return data;
}
