// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: AMD core performance counters
 *
 * APM volume 2, 13.2: four counters since K7, six core counters with CPUID
 * PerfCtrExtCore, global registers with PerfMonV2 (CPUID Fn8000_0022). Events:
 * the Processor Programming References of family 17h and later, before that the kernel's tables.
 *
 * Merged counters: event 0x003 counts in an even counter, with its upper 16 bits in the next
 * counter, which counts event 0xfff. The driver's core knows a pair by the odd counter's number.
 * x86/counters.c reads and writes the even counter, and x86/nmi.c reports the even counter's
 * overflow as the odd one's. The pair has 48 bits, as with the built-in driver: each write sets all
 * upper bits or none. Without a global register the odd counter is enabled first and disabled last.
 *
 * Families before Zen have no NODE events: their northbridge counters are separate, or shared by
 * all cores. Stalled cycles exist where the kernel has them, by family and model.
 * ref-cycles exists from Zen 4 on. Zen lacks L1-dcache-prefetches.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "amd.h"
#include "../msr.h"
#include "../x86.h"

#define NR_LEGACY_COUNTERS	4
#define NR_CORE_COUNTERS	6
#define ODD_COUNTERS		0xaaaaaaaaULL
#define COUNTER_WIDTH		48

/* CPUID Fn8000_0022 */
#define EBX_NR_CORE		GENMASK(3, 0)

#define FAMILY_15H		0x15
/* Zen and Zen 2, Zen 3 and Zen 4 share families; Hygon's family 18h is a Zen */
#define FAMILY_ZEN		0x17
#define FAMILY_ZEN3		0x19
#define FAMILY_ZEN5		0x1a

#define FIRST_NORTHBRIDGE_EVENT			0xe0

/* Since K7 */
#define EVENT_RETIRED_INSTRUCTIONS		0x00c0
#define EVENT_RETIRED_BRANCHES			0x00c2
#define EVENT_RETIRED_BRANCHES_MISPREDICTED	0x00c3

/*
 * Families 0Fh to 16h: amd_perfmon_event_map[] and amd_hw_cache_event_ids[] in
 * arch/x86/events/amd/core.c. Names as in the BIOS and Kernel Developer's Guides, PMCx040 to
 * PMCx0D1. The unit mask of an L2 event selects the requester.
 */
#define EVENT_DC_ACCESSES			0x0040
#define EVENT_DC_MISSES				0x0141
#define EVENT_L1_DTLB_AND_L2_DTLB_MISS		0x0746
#define EVENT_PREFETCH_INSTRUCTIONS_LOAD	0x014b
#define EVENT_DATA_PREFETCHER_CANCELLED		0x0167
#define EVENT_DATA_PREFETCHER_ATTEMPTED		0x0267
#define EVENT_L2_REQUESTS_IC_DC			0x037d
#define EVENT_L2_REQUESTS_IC_DC_TLB		0x077d
#define EVENT_L2_MISSES_IC_DC			0x037e
#define EVENT_L2_MISSES_IC_DC_TLB		0x077e
#define EVENT_L2_FILLS				0x017f
#define EVENT_IC_FETCHES			0x0080
#define EVENT_IC_MISSES				0x0081
#define EVENT_L1_ITLB_AND_L2_ITLB_MISS		0x0385
#define EVENT_DECODER_EMPTY			0x00d0
#define EVENT_DISPATCH_STALLS			0x00d1

/*
 * Zen: names as in the Processor Programming References, which describe unit masks in words. An
 * event has all unit masks unless its name says otherwise.
 */
#define EVENT_FP_RET_SSE_AVX_OPS		0x003
#define EVENT_MERGE				0xfff
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
#define EVENT_LS_HW_PF_DC_FILLS			0xff5a
#define EVENT_DE_DIS_UOP_QUEUE_EMPTY_DI0	0x00a9
/* From Zen 4 on: event 0x120, cycles at the frequency of P0 */
#define EVENT_LS_NOT_HALTED_P0_FREQ_CYC		0x100000120ULL

/*
 * Zen 2 in family 17h: models 30h-4Fh, 60h-7Fh, 90h-91h and A0h-AFh, as in
 * arch/x86/kernel/cpu/amd.c.
 */
static bool is_zen2(void)
{
	unsigned int model = boot_cpu_data.x86_model;

	return boot_cpu_data.x86 == FAMILY_ZEN &&
	       ((model >= 0x30 && model <= 0x4f) || (model >= 0x60 && model <= 0x7f) ||
		(model >= 0x90 && model <= 0x91) || (model >= 0xa0 && model <= 0xaf));
}

static bool is_zen2_or_later(void)
{
	return is_zen2() || boot_cpu_data.x86 >= FAMILY_ZEN3;
}

/* Zen 4 in family 19h: models 10h-1Fh and 60h-AFh; Zen 5 has a family of its own. */
static bool __corepmu_init is_zen4_or_later(void)
{
	unsigned int model = boot_cpu_data.x86_model;

	return boot_cpu_data.x86 >= FAMILY_ZEN5 ||
	       (boot_cpu_data.x86 == FAMILY_ZEN3 &&
		((model >= 0x10 && model <= 0x1f) || (model >= 0x60 && model <= 0xaf)));
}

struct amd_cache_event {
	u32	generic;
	u16	config;
};

/*
 * amd_hw_cache_event_ids[] without the NODE events (0xe9). These are northbridge events; the
 * northbridge has its own counters, or shares the cores' counters, see amd_refuse().
 */
static const struct amd_cache_event old_cache_events[] = {
	{ X86_CACHE(L1D, READ, ACCESS), EVENT_DC_ACCESSES },
	{ X86_CACHE(DTLB, READ, ACCESS), EVENT_DC_ACCESSES },
	{ X86_CACHE(L1D, READ, MISS), EVENT_DC_MISSES },
	{ X86_CACHE(L1D, PREFETCH, ACCESS), EVENT_DATA_PREFETCHER_ATTEMPTED },
	{ X86_CACHE(L1D, PREFETCH, MISS), EVENT_DATA_PREFETCHER_CANCELLED },
	{ X86_CACHE(L1I, READ, ACCESS), EVENT_IC_FETCHES },
	{ X86_CACHE(ITLB, READ, ACCESS), EVENT_IC_FETCHES },
	{ X86_CACHE(L1I, READ, MISS), EVENT_IC_MISSES },
	{ X86_CACHE(L1I, PREFETCH, ACCESS), EVENT_PREFETCH_INSTRUCTIONS_LOAD },
	{ X86_CACHE(LL, READ, ACCESS), EVENT_L2_REQUESTS_IC_DC },
	{ X86_CACHE(LL, READ, MISS), EVENT_L2_MISSES_IC_DC },
	{ X86_CACHE(LL, WRITE, ACCESS), EVENT_L2_FILLS },
	{ X86_CACHE(DTLB, READ, MISS), EVENT_L1_DTLB_AND_L2_DTLB_MISS },
	{ X86_CACHE(ITLB, READ, MISS), EVENT_L1_ITLB_AND_L2_ITLB_MISS },
	{ X86_CACHE(BPU, READ, ACCESS), EVENT_RETIRED_BRANCHES },
	{ X86_CACHE(BPU, READ, MISS), EVENT_RETIRED_BRANCHES_MISPREDICTED },
};

/*
 * amd_hw_cache_event_ids_f17h[], arch/x86/events/amd/core.c. From Zen 4 on perf's event lists lack
 * 0x40, 0x80 and 0x81. This driver uses them, as the kernel does.
 */
static const struct amd_cache_event zen_cache_events[] = {
	{ X86_CACHE(L1D, READ, ACCESS), EVENT_LS_DC_ACCESSES },
	{ X86_CACHE(L1D, READ, MISS), EVENT_L2_REQUEST_G1_FROM_DC },
	{ X86_CACHE(L1D, PREFETCH, ACCESS), EVENT_LS_HW_PF_DC_FILLS },
	{ X86_CACHE(L1I, READ, ACCESS), EVENT_IC_FW32 },
	{ X86_CACHE(L1I, READ, MISS), EVENT_IC_FW32_MISS },
	{ X86_CACHE(DTLB, READ, ACCESS), EVENT_LS_L1_D_TLB_MISS },
	{ X86_CACHE(DTLB, READ, MISS), EVENT_LS_L1_D_TLB_MISS_L2_TLB_MISS },
	{ X86_CACHE(ITLB, READ, ACCESS), EVENT_BP_L1_TLB_MISS_L2_HIT },
	{ X86_CACHE(ITLB, READ, MISS), EVENT_BP_L1_TLB_MISS_L2_MISS },
	{ X86_CACHE(BPU, READ, ACCESS), EVENT_RETIRED_BRANCHES },
	{ X86_CACHE(BPU, READ, MISS), EVENT_RETIRED_BRANCHES_MISPREDICTED },
};

static u64 amd_cache(const struct x86_desc *desc, u64 generic)
{
	bool zen = boot_cpu_data.x86 >= FAMILY_ZEN;
	const struct amd_cache_event *events = zen ? zen_cache_events : old_cache_events;
	unsigned int i, nr = zen ? ARRAY_SIZE(zen_cache_events) : ARRAY_SIZE(old_cache_events);

	/* Zen 1 has no such event: perf's list amdzen1 lacks it. */
	if (generic == X86_CACHE(L1D, PREFETCH, ACCESS) && zen && !is_zen2_or_later())
		return 0;
	for (i = 0; i < nr; i++)
		if (events[i].generic == generic)
			return events[i].config;

	return 0;
}

static unsigned int event_code(u64 config)
{
	return FIELD_GET(EVNTSEL_EVENT, config) | FIELD_GET(EVNTSEL_AMD_EVENT_HI, config) << 8;
}

/* Family 15h: sets of the six counters */
#define F15H_0		BIT_ULL(0)
#define F15H_3		BIT_ULL(3)
#define F15H_0_3	(BIT_ULL(0) | BIT_ULL(3))
#define F15H_0_TO_2	GENMASK_ULL(2, 0)
#define F15H_3_TO_5	GENMASK_ULL(5, 3)
#define F15H_ALL	GENMASK_ULL(5, 0)

/* Event select 0xyz: y is the core's unit that the event belongs to. */
#define F15H_UNIT	GENMASK(7, 4)

/* Return the counters of an event: @counters, those of its unit, except for a few events. */
static u64 f15h_exception(unsigned int event, u8 umask, u64 counters)
{
	switch (event) {
	case 0x000:
		/* Both halves of the unit mask */
		return (umask & 0xf0) && (umask & 0x0f) ? F15H_3 : counters;
	case 0x004:
		return hweight8(umask) > 1 ? F15H_3 : counters;
	case 0x003:
	case 0x00b:
	case 0x00d:
	case 0x02d:
		return F15H_3;
	case 0x02e:
		return F15H_0_3;
	case 0x031:
		/* One unit mask at a time */
		return hweight8(umask) <= 1 ? F15H_0_TO_2 : 0;
	case 0x023:
	case 0x043:
	case 0x045:
	case 0x046:
	case 0x054:
	case 0x055:
		return F15H_0_TO_2;
	case 0x08f:
	case 0x187:
	case 0x188:
		return F15H_0;
	case 0x0db ... 0x0df:
	case 0x1d6:
	case 0x1d8:
		return F15H_ALL;
	case 0x1c0:
		return F15H_3_TO_5;
	default:
		return counters;
	}
}

/*
 * "AMD family 15h event code/PMC mappings" in arch/x86/events/amd/core.c. Northbridge events have
 * counters of their own; units Ah and Bh do not exist.
 */
static u64 f15h_counters(u64 config)
{
	unsigned int event = event_code(config);
	u64 counters;

	switch (FIELD_GET(F15H_UNIT, event)) {
	case 0x0:
	case 0x1:
		counters = F15H_3_TO_5;
		break;
	case 0x2 ... 0x5:
	case 0xc:
		counters = F15H_ALL;
		break;
	case 0x6 ... 0x9:
	case 0xd:
		counters = F15H_0_TO_2;
		break;
	default:
		return 0;
	}

	return f15h_exception(event, FIELD_GET(EVNTSEL_UMASK, config), counters);
}

static u64 amd_allowed_counters(const struct x86_desc *desc, u64 config)
{
	u64 counters = desc->pmu->counters;

	/* Family 16h, and 15h without the core extension, have no such constraints. */
	if (boot_cpu_data.x86 == FAMILY_15H && boot_cpu_has(X86_FEATURE_PERFCTR_CORE))
		counters &= f15h_counters(config);

	return counters;
}

/*
 * Before the core extension, the cores shared the northbridge's counters: two cores with a
 * northbridge event on the same counter would miscount. See amd_is_nb_event() in
 * arch/x86/events/amd/core.c.
 */
static bool is_northbridge(u64 config)
{
	return FIELD_GET(EVNTSEL_EVENT, config) >= FIRST_NORTHBRIDGE_EVENT;
}

/*
 * From family 17h on, an event that can increment by more than 15 per cycle needs two merged
 * counters (amd_is_pair_event_code() in arch/x86/events/amd/core.c).
 */
static bool amd_needs_pair(u64 config)
{
	return event_code(config) == EVENT_FP_RET_SSE_AVX_OPS && boot_cpu_data.x86 >= FAMILY_ZEN;
}

static int amd_refuse(const struct x86_desc *desc, u64 config)
{
	if (is_northbridge(config) && boot_cpu_data.x86 < FAMILY_ZEN &&
	    !boot_cpu_has(X86_FEATURE_PERFCTR_CORE))
		return corepmu_refuse(-EOPNOTSUPP,
				      "config %#llx: northbridge events are not supported, since all cores share their counters: use the built-in driver",
				      config);

	/* Hypervisors may show CPUs of these families without the core extension. */
	if (amd_needs_pair(config) && !desc->pmu->pair_counters)
		return corepmu_refuse(-EOPNOTSUPP,
				      "config %#llx: event 0x003 needs two merged counters, which the CPU lacks (hypervisor?): count it on the host",
				      config);

	/*
	 * Event 0xfff (merge) counts nothing but extends the even counter below to 64 bits, which
	 * then does not overflow at 48; another event may be using that counter.
	 */
	if (event_code(config) == EVENT_MERGE && desc->pmu->pair_counters)
		return corepmu_refuse(-EINVAL,
				      "config %#llx: event 0xfff only merges two counters and counts nothing; use event 0x003",
				      config);

	return 0;
}

static void __corepmu_init describe_amd_events(struct x86_desc *desc)
{
	u64 *hardware = desc->hardware;

	hardware[PERF_COUNT_HW_CPU_CYCLES] = EVENT_CYCLES_NOT_HALTED;
	hardware[PERF_COUNT_HW_INSTRUCTIONS] = EVENT_RETIRED_INSTRUCTIONS;
	hardware[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = EVENT_RETIRED_BRANCHES;
	hardware[PERF_COUNT_HW_BRANCH_MISSES] = EVENT_RETIRED_BRANCHES_MISPREDICTED;

	if (boot_cpu_data.x86 < FAMILY_ZEN) {
		hardware[PERF_COUNT_HW_CACHE_REFERENCES] = EVENT_L2_REQUESTS_IC_DC_TLB;
		hardware[PERF_COUNT_HW_CACHE_MISSES] = EVENT_L2_MISSES_IC_DC_TLB;
		hardware[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = EVENT_DECODER_EMPTY;
		hardware[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = EVENT_DISPATCH_STALLS;
		return;
	}

	hardware[PERF_COUNT_HW_CACHE_REFERENCES] = EVENT_L2_REQUEST_G1;
	hardware[PERF_COUNT_HW_CACHE_MISSES] = EVENT_L2_CACHE_REQ_STAT_MISS;

	/* amd_zen{1,2,4}_perfmon_event_map, arch/x86/events/amd/core.c */
	if (is_zen2_or_later()) {
		hardware[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] =
			EVENT_DE_DIS_UOP_QUEUE_EMPTY_DI0;
	} else {
		hardware[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] =
			EVENT_IC_FETCH_STALL_DQ_EMPTY;
		hardware[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] =
			EVENT_IC_FETCH_STALL_BACK_PRESSURE;
	}
	if (is_zen4_or_later())
		hardware[PERF_COUNT_HW_REF_CPU_CYCLES] = EVENT_LS_NOT_HALTED_P0_FREQ_CYC;
}

/**
 * amd_describe() - describe the PMU, from CPUID
 * @desc: the PMU description to fill in
 *
 * Return: 0, or -ENODEV if CPUID reports no counter
 */
int __corepmu_init amd_describe(struct x86_desc *desc)
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
	/*
	 * PerfMonV2 needs the core extension: without it, amd_core_pmu_init() in
	 * arch/x86/events/amd/core.c uses the four legacy counters.
	 */
	if (boot_cpu_has(X86_FEATURE_PERFCTR_CORE) &&
	    boot_cpu_data.extended_cpuid_level >= CPUID_PERFMON &&
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

	if (boot_cpu_data.x86 >= FAMILY_ZEN && boot_cpu_has(X86_FEATURE_PERFCTR_CORE)) {
		pmu->pair_counters = pmu->counters & ODD_COUNTERS;
		pmu->pair_width = COUNTER_WIDTH;
	}

	desc->config_known = EVNTSEL_EVENT | EVNTSEL_UMASK | EVNTSEL_EDGE | EVNTSEL_INV |
			     EVNTSEL_CMASK | EVNTSEL_AMD_EVENT_HI;
	describe_amd_events(desc);
	desc->cache = amd_cache;
	desc->allowed_counters = amd_allowed_counters;
	desc->needs_pair = amd_needs_pair;
	desc->refuse = amd_refuse;
	desc->precise = amd_precise;

	return 0;
}
