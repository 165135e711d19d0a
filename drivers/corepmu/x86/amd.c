// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: AMD core performance counters
 *
 * APM volume 2, 13.2: four counters since K7, six core counters with CPUID
 * PerfCtrExtCore, global registers with PerfMonV2 (CPUID Fn8000_0022). Events:
 * the Processor Programming References of family 17h and later.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <corepmu/pmu.h>

#include "msr.h"
#include "x86.h"

#define NR_LEGACY_COUNTERS	4
#define NR_CORE_COUNTERS	6
#define COUNTER_WIDTH		48

/* CPUID Fn8000_0022 */
#define CPUID_PERFMON		0x80000022
#define EAX_PERFMON_V2		BIT(0)
#define EBX_NR_CORE		GENMASK(3, 0)

/* Zen and Zen 2, which share a family; Hygon's family 18h is a Zen; 19h on */
#define FAMILY_ZEN		0x17
#define FAMILY_ZEN3		0x19

/* Since K7 */
#define EVENT_CYCLES_NOT_HALTED			0x0076
#define EVENT_RETIRED_INSTRUCTIONS		0x00c0
#define EVENT_RETIRED_BRANCHES			0x00c2
#define EVENT_RETIRED_BRANCHES_MISPREDICTED	0x00c3

/*
 * Zen; names as in the Processor Programming References, where a unit mask is told in
 * words: of several kinds all are counted, unless it says otherwise.
 */
#define EVENT_FP_RET_SSE_AVX_OPS		0x003
#define EVENT_LS_DC_ACCESSES			0x0040
#define EVENT_LS_L1_D_TLB_MISS			0xff45
#define EVENT_LS_L1_D_TLB_MISS_L2_TLB_MISS	0xf045
#define EVENT_L2_REQUEST_G1			0xff60
#define EVENT_L2_REQUEST_G1_FROM_DC		0xc860
#define EVENT_L2_CACHE_REQ_STAT_MISS		0x0964
#define EVENT_IC_FW32				0x0080
#define EVENT_IC_FW32_MISS			0x0081
#define EVENT_BP_L1_TLB_MISS_L2_HIT		0x0084
#define EVENT_BP_L1_TLB_MISS_L2_MISS		0xff85
#define EVENT_IC_FETCH_STALL_BACK_PRESSURE	0x0187
#define EVENT_IC_FETCH_STALL_DQ_EMPTY		0x0287
/* From Zen 2 on */
#define EVENT_DE_DIS_UOP_QUEUE_EMPTY_DI0	0x00a9

static u64 amd_cache(unsigned int cache, bool miss)
{
	if (boot_cpu_data.x86 < FAMILY_ZEN)
		return 0;

	switch (cache) {
	case PERF_COUNT_HW_CACHE_L1D:
		return miss ? EVENT_L2_REQUEST_G1_FROM_DC : EVENT_LS_DC_ACCESSES;
	case PERF_COUNT_HW_CACHE_L1I:
		return miss ? EVENT_IC_FW32_MISS : EVENT_IC_FW32;
	case PERF_COUNT_HW_CACHE_DTLB:
		return miss ? EVENT_LS_L1_D_TLB_MISS_L2_TLB_MISS : EVENT_LS_L1_D_TLB_MISS;
	case PERF_COUNT_HW_CACHE_ITLB:
		return miss ? EVENT_BP_L1_TLB_MISS_L2_MISS : EVENT_BP_L1_TLB_MISS_L2_HIT;
	case PERF_COUNT_HW_CACHE_BPU:
		return miss ? EVENT_RETIRED_BRANCHES_MISPREDICTED : EVENT_RETIRED_BRANCHES;
	default:
		return 0;
	}
}

static u64 amd_allowed_counters(const struct x86_desc *desc, u64 config)
{
	return desc->pmu->counters;
}

/*
 * Zen 2 among family 17h: models 30h-4Fh, 60h-7Fh, 90h-91h and A0h-AFh, as
 * arch/x86/kernel/cpu/amd.c tells them.
 */
static bool is_zen2(void)
{
	unsigned int model = boot_cpu_data.x86_model;

	return boot_cpu_data.x86 == FAMILY_ZEN &&
	       ((model >= 0x30 && model <= 0x4f) || (model >= 0x60 && model <= 0x7f) ||
		(model >= 0x90 && model <= 0x91) || (model >= 0xa0 && model <= 0xaf));
}

/*
 * Families before 17h bind events to counters in ways of their own. From 17h on two
 * counters have to be merged for an event that can grow by more than 15 a cycle
 * (amd_is_pair_event_code() in arch/x86/events/amd/core.c).
 */
static int amd_refuse(const struct x86_desc *desc, u64 config)
{
	unsigned int event = FIELD_GET(EVNTSEL_EVENT, config) |
			     FIELD_GET(EVNTSEL_AMD_EVENT_HI, config) << 8;

	if (event == EVENT_FP_RET_SSE_AVX_OPS && boot_cpu_data.x86 >= FAMILY_ZEN)
		return corepmu_refuse(-EOPNOTSUPP,
				      "config %#llx: event 0x003 needs two counters merged, which is not done",
				      config);

	return 0;
}

static void describe_events(struct x86_desc *desc)
{
	u64 *hardware = desc->hardware;

	hardware[PERF_COUNT_HW_CPU_CYCLES] = EVENT_CYCLES_NOT_HALTED;
	hardware[PERF_COUNT_HW_INSTRUCTIONS] = EVENT_RETIRED_INSTRUCTIONS;
	hardware[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = EVENT_RETIRED_BRANCHES;
	hardware[PERF_COUNT_HW_BRANCH_MISSES] = EVENT_RETIRED_BRANCHES_MISPREDICTED;

	if (boot_cpu_data.x86 < FAMILY_ZEN)
		return;

	hardware[PERF_COUNT_HW_CACHE_REFERENCES] = EVENT_L2_REQUEST_G1;
	hardware[PERF_COUNT_HW_CACHE_MISSES] = EVENT_L2_CACHE_REQ_STAT_MISS;

	/* amd_zen1_perfmon_event_map and amd_zen2_perfmon_event_map, arch/x86/events/amd/core.c */
	if (is_zen2() || boot_cpu_data.x86 >= FAMILY_ZEN3) {
		hardware[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] =
			EVENT_DE_DIS_UOP_QUEUE_EMPTY_DI0;
	} else {
		hardware[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] =
			EVENT_IC_FETCH_STALL_DQ_EMPTY;
		hardware[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] =
			EVENT_IC_FETCH_STALL_BACK_PRESSURE;
	}
}

/**
 * amd_describe() - read from CPUID what the PMU has
 * @desc: filled in
 *
 * Return: 0
 */
int amd_describe(struct x86_desc *desc)
{
	struct corepmu *pmu = desc->pmu;
	unsigned int i;

	if (boot_cpu_has(X86_FEATURE_PERFCTR_CORE)) {
		desc->nr_gp = NR_CORE_COUNTERS;
		desc->select_msr = MSR_F15H_PERF_CTL;
		desc->counter_msr = MSR_F15H_PERF_CTR;
		desc->step = 2;
	} else {
		desc->nr_gp = NR_LEGACY_COUNTERS;
		desc->select_msr = MSR_K7_EVNTSEL0;
		desc->counter_msr = MSR_K7_PERFCTR0;
		desc->step = 1;
	}

	desc->late_nmis = true;
	if (boot_cpu_data.extended_cpuid_level >= CPUID_PERFMON &&
	    (cpuid_eax(CPUID_PERFMON) & EAX_PERFMON_V2)) {
		desc->nr_gp = FIELD_GET(EBX_NR_CORE, cpuid_ebx(CPUID_PERFMON));
		desc->global_ctrl = MSR_AMD64_PERF_CNTR_GLOBAL_CTL;
		desc->global_status = MSR_AMD64_PERF_CNTR_GLOBAL_STATUS;
		desc->global_clear = MSR_AMD64_PERF_CNTR_GLOBAL_STATUS_CLR;
	}
	if (!desc->nr_gp)
		return -ENODEV;

	pmu->counters = GENMASK_ULL(desc->nr_gp - 1, 0);
	for (i = 0; i < COREPMU_MAX_COUNTERS; i++)
		pmu->width[i] = COUNTER_WIDTH;

	desc->config_known = EVNTSEL_EVENT | EVNTSEL_UMASK | EVNTSEL_EDGE | EVNTSEL_INV |
			     EVNTSEL_CMASK | EVNTSEL_AMD_EVENT_HI;
	describe_events(desc);
	desc->cache = amd_cache;
	desc->allowed_counters = amd_allowed_counters;
	desc->refuse = amd_refuse;

	return 0;
}
