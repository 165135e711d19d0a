// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Zhaoxin core performance counters
 *
 * The registers are those of version 2 of Intel's architectural performance monitoring, and CPUID
 * leaf 0xA enumerates the counters. The events are Zhaoxin's own. The vendor in CPUID is
 * "CentaurHauls" or "  Shanghai  ".
 *
 * Source: arch/x86/events/zhaoxin/core.c in Linux 7.3, where Wudaokou is ZXD and Lujiazui is ZXE.
 * Linux lacks Yongfeng: "perf/x86/zhaoxin: Add Yongfeng support", silviazhao, LKML, 23 March 2023;
 * for its model 0x6b the same file in openEuler's kernel.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "zhaoxin.h"
#include "../intel/intel.h"
#include "../msr.h"
#include "../x86.h"

#define VERSION			2

#define FAMILY_ZXC		0x06
#define FAMILY_WUDAOKOU		0x07

#define ZHAOXIN_EVENT_CYCLES	0x0082
#define EVENT_BUS_CYCLES	0x0083
#define EVENT_INSTRUCTIONS	0x00c0
/* Cycles in which @event does not happen: inv, and a cmask of 1 */
#define EVENT_NONE_OF(event)	((event) | EVNTSEL_INV | BIT(__bf_shf(EVNTSEL_CMASK)))

/**
 * struct zhaoxin_uarch - what differs between the microarchitectures
 * @hardware: event code for each PERF_COUNT_HW_*, 0 if there is none
 * @loads: loads; 0 if no cache events are known
 * @load_misses: loads that miss the first-level data cache
 * @stores: stores
 * @fixed: fixed counters that the driver uses, a bit each
 * @clear_needs_ctrl: see struct x86_desc
 */
struct zhaoxin_uarch {
	u32	hardware[PERF_COUNT_HW_MAX];
	u16	loads;
	u16	load_misses;
	u16	stores;
	u8	fixed;
	bool	clear_needs_ctrl;
};

/* ZX-C: no event is documented but cycles, which have a fixed counter. */
static const struct zhaoxin_uarch zxc = {
	.hardware = {
		[PERF_COUNT_HW_CPU_CYCLES]		= ZHAOXIN_EVENT_CYCLES,
	},
	.fixed = BIT(1),
	.clear_needs_ctrl = true,
};

#define COMMON_HARDWARE								\
	[PERF_COUNT_HW_CPU_CYCLES]		= ZHAOXIN_EVENT_CYCLES,		\
	[PERF_COUNT_HW_INSTRUCTIONS]		= EVENT_INSTRUCTIONS,		\
	[PERF_COUNT_HW_BUS_CYCLES]		= EVENT_BUS_CYCLES,		\
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND]	= 0x040f

static const struct zhaoxin_uarch wudaokou = {
	.hardware = {
		COMMON_HARDWARE,
		[PERF_COUNT_HW_CACHE_REFERENCES]	= 0x0515,
		[PERF_COUNT_HW_CACHE_MISSES]		= 0x051a,
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS]	= 0x0700,
		[PERF_COUNT_HW_BRANCH_MISSES]		= 0x0709,
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND]	= EVENT_NONE_OF(0x0101),
	},
	.loads = 0x0042, .load_misses = 0x0538, .stores = 0x0043, .fixed = GENMASK(2, 0),
};

static const struct zhaoxin_uarch lujiazui = {
	.hardware = {
		COMMON_HARDWARE,
		[PERF_COUNT_HW_CACHE_REFERENCES]	= 0x0515,
		[PERF_COUNT_HW_CACHE_MISSES]		= 0x051a,
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS]	= 0x0028,
		[PERF_COUNT_HW_BRANCH_MISSES]		= 0x0029,
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND]	= EVENT_NONE_OF(0x0101),
	},
	.loads = 0x0568, .load_misses = 0x054b, .stores = 0x0669, .fixed = GENMASK(2, 0),
};

/* No event counts misses of the last-level cache. */
static const struct zhaoxin_uarch yongfeng = {
	.hardware = {
		COMMON_HARDWARE,
		[PERF_COUNT_HW_CACHE_REFERENCES]	= 0x051a,
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS]	= 0x0028,
		[PERF_COUNT_HW_BRANCH_MISSES]		= 0x0029,
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND]	= EVENT_NONE_OF(0x0102),
	},
	.loads = 0x0568, .load_misses = 0x054b, .stores = 0x0669, .fixed = GENMASK(2, 0),
};

static const struct zhaoxin_uarch *find_uarch(void)
{
	u8 model = boot_cpu_data.x86_model;

	if (boot_cpu_data.x86 == FAMILY_ZXC) {
		/* Earlier steppings of model 0xf are VIA's Nano. */
		return model == 0x19 || (model == 0x0f && boot_cpu_data.x86_stepping >= 0x0e) ?
		       &zxc : NULL;
	}
	if (boot_cpu_data.x86 != FAMILY_WUDAOKOU)
		return NULL;

	switch (model) {
	case 0x1b:
		return &wudaokou;
	case 0x3b:
		return &lujiazui;
	case 0x5b:
	case 0x6b:
		return &yongfeng;
	default:
		return NULL;
	}
}

/* zxd_hw_cache_event_ids[], zxe_hw_cache_event_ids[] */
static u64 zhaoxin_cache(const struct x86_desc *desc, u64 generic)
{
	const struct zhaoxin_uarch *uarch = find_uarch();

	if (!uarch->loads)
		return 0;

	switch (generic) {
	case X86_CACHE(L1D, READ, ACCESS):
	case X86_CACHE(DTLB, READ, ACCESS):
		return uarch->loads;
	case X86_CACHE(L1D, READ, MISS):
		return uarch->load_misses;
	case X86_CACHE(L1D, WRITE, ACCESS):
	case X86_CACHE(DTLB, WRITE, ACCESS):
		return uarch->stores;
	case X86_CACHE(L1D, WRITE, MISS):
		return 0x0562;
	case X86_CACHE(L1I, READ, ACCESS):
		return 0x0300;
	case X86_CACHE(L1I, READ, MISS):
		return 0x0301;
	case X86_CACHE(L1I, PREFETCH, ACCESS):
		return 0x030a;
	case X86_CACHE(L1I, PREFETCH, MISS):
		return 0x030b;
	case X86_CACHE(DTLB, READ, MISS):
		return 0x052c;
	case X86_CACHE(DTLB, WRITE, MISS):
		return 0x0530;
	case X86_CACHE(DTLB, PREFETCH, ACCESS):
		return 0x0564;
	case X86_CACHE(DTLB, PREFETCH, MISS):
		return 0x0565;
	case X86_CACHE(ITLB, READ, ACCESS):
		return EVENT_INSTRUCTIONS;
	case X86_CACHE(ITLB, READ, MISS):
		return 0x0534;
	case X86_CACHE(BPU, READ, ACCESS):
		return uarch->hardware[PERF_COUNT_HW_BRANCH_INSTRUCTIONS];
	case X86_CACHE(BPU, READ, MISS):
		return uarch->hardware[PERF_COUNT_HW_BRANCH_MISSES];
	default:
		return 0;
	}
}

/* zxc_event_constraints[], zxd_event_constraints[]: a fixed counter ignores edge, inv and cmask. */
static u64 zhaoxin_allowed_counters(const struct x86_desc *desc, u64 config)
{
	u64 allowed = GENMASK_ULL(desc->nr_gp - 1, 0);

	switch (config & desc->config_known) {
	case EVENT_INSTRUCTIONS:
		allowed |= BIT_ULL(FIXED_COUNTER_BASE);
		break;
	case ZHAOXIN_EVENT_CYCLES:
		allowed |= BIT_ULL(FIXED_COUNTER_BASE + 1);
		break;
	case EVENT_BUS_CYCLES:
		allowed |= BIT_ULL(FIXED_COUNTER_BASE + 2);
		break;
	}

	return allowed & desc->pmu->counters;
}

/* No event needs an extra register. */
static int zhaoxin_refuse(const struct x86_desc *desc, u64 config)
{
	return 0;
}

/* zx_arch_events_map[]: events in the order of CPUID.0AH:EBX, where a set bit says "missing" */
static const u8 reported_events[] = {
	PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_BUS_CYCLES,
	PERF_COUNT_HW_CACHE_REFERENCES, PERF_COUNT_HW_CACHE_MISSES,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_MISSES,
};

/**
 * zhaoxin_describe() - describe the PMU of this CPU, from CPUID and the model tables
 * @desc: the PMU description to fill in
 *
 * Return: 0, or -ENODEV after a message if there is no PMU, or an unknown one
 */
int __corepmu_init zhaoxin_describe(struct x86_desc *desc)
{
	const struct zhaoxin_uarch *uarch = find_uarch();
	struct corepmu *pmu = desc->pmu;
	unsigned int width, fixed_width, i;
	u32 eax, ebx, ecx, edx, fixed;

	if (!uarch) {
		pr_err("Zhaoxin or Centaur CPU of family %u, model %#x, stepping %u: its events are unknown; use the built-in driver\n",
		       boot_cpu_data.x86, boot_cpu_data.x86_model, boot_cpu_data.x86_stepping);
		return -ENODEV;
	}
	cpuid(CPUID_ARCH_PERFMON, &eax, &ebx, &ecx, &edx);
	desc->nr_gp = min_t(u32, FIELD_GET(EAX_NR_GP, eax), COREPMU_FIRST_DEDICATED);
	width = FIELD_GET(EAX_GP_WIDTH, eax);
	fixed_width = FIELD_GET(EDX_FIXED_WIDTH, edx) ?: width;
	if (FIELD_GET(EAX_VERSION, eax) != VERSION || !desc->nr_gp || width < 32 || width > 64 ||
	    fixed_width > 64 || FIELD_GET(EAX_NR_EVENTS, eax) < ARRAY_SIZE(reported_events) - 1) {
		pr_err("CPUID leaf 0xa (EAX %#x, EDX %#x) describes no PMU of version 2 that the driver knows: in a virtual machine, enable its PMU\n",
		       eax, edx);
		return -ENODEV;
	}

	fixed = (BIT(FIELD_GET(EDX_NR_FIXED, edx)) - 1) & uarch->fixed;
	pmu->counters = GENMASK_ULL(desc->nr_gp - 1, 0) | (u64)fixed << FIXED_COUNTER_BASE;
	for (i = 0; i < FIXED_COUNTER_BASE; i++)
		pmu->width[i] = width;
	for (; i < COREPMU_MAX_COUNTERS; i++)
		pmu->width[i] = fixed_width;
	desc->select_msr = MSR_P6_EVNTSEL0;
	desc->counter_msr = MSR_P6_PERFCTR0;
	desc->step = 1;
	desc->masks_lvtpc = true;
	desc->global_ctrl = MSR_CORE_PERF_GLOBAL_CTRL;
	desc->global_status = MSR_CORE_PERF_GLOBAL_STATUS;
	desc->global_clear = MSR_CORE_PERF_GLOBAL_OVF_CTRL;
	desc->clear_needs_ctrl = uarch->clear_needs_ctrl;
	desc->config_known = EVNTSEL_EVENT | EVNTSEL_UMASK | EVNTSEL_EDGE | EVNTSEL_INV |
			     EVNTSEL_CMASK;
	for (i = 0; i < PERF_COUNT_HW_MAX; i++)
		desc->hardware[i] = uarch->hardware[i];
	for (i = 0; i < ARRAY_SIZE(reported_events); i++)
		if (ebx & BIT(i))
			desc->hardware[reported_events[i]] = 0;
	desc->cache = zhaoxin_cache;
	desc->allowed_counters = zhaoxin_allowed_counters;
	desc->refuse = zhaoxin_refuse;

	return 0;
}
