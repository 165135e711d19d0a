// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel architectural performance monitoring, versions 1 to 6
 *
 * Intel SDM volume 3, "Architectural Performance Monitoring". CPUID leaf 0xA enumerates the
 * counters, their widths, and the architectural events that the CPU lacks. From version 6 on, leaf
 * 0x23 enumerates the counters. uarch.c has the event constraints of each microarchitecture.
 *
 * If microcode uses counter 3 while a transaction runs (TSX_FORCE_ABORT), the driver never uses
 * this counter. The driver lacks the built-in driver's sysfs file allow_tsx_force_abort, which
 * makes transactions abort instead.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/capability.h>
#include <linux/math.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <corepmu/ksyms.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "intel.h"
#include "../msr.h"
#include "../x86.h"

/* CPUID.(EAX=07H,ECX=1):EAX, and CPUID.23H: "Architectural Performance Monitoring Extended Leaf" */
#define CPUID_STRUCTURED	0x07
#define EAX_PERFMON_EXT		BIT(8)
#define EBX_UMASK2		BIT(0)
#define EBX_EQ			BIT(1)
#define EBX_RDPMC_USR_DISABLE	BIT(2)
#define EAX_HAS_COUNTERS	BIT(1)
#define EAX_HAS_ACR		BIT(2)
#define PERFMON_EXT_COUNTERS	1

/*
 * From this version on, the built-in driver uses other MSR numbers (MSR aliasing, intel_pmu_init()
 * in arch/x86/events/intel/core.c), which reserve_evntsel_nmi() does not track.
 */
#define VERSION_ALIASED		6

/*
 * Maximum of general-purpose counters. SDM volume 4, "IA-32 Architectural MSRs", lists
 * IA32_PERFEVTSEL0 to 9 and IA32_A_PMC0 to 9. The numbers after these are other registers, such as
 * IA32_PERF_CTL (0x199). CPUID leaf 0x23 and the MSRs from 0x1900 on have room for 32 counters, but
 * the driver does not use the counters and select registers there.
 */
#define MAX_NR_GP		10

/* The counter that TSX_FORCE_ABORT reserves, and the only one that supports IN_TX_CP */
#define TSX_COUNTER		BIT_ULL(3)
#define IN_TX_CP_COUNTER	BIT_ULL(2)

/*
 * Old code of INST_RETIRED.PREC_DIST, from before the event had fixed counter 0. On Ice Lake the
 * code selects fixed counter 0 too: intel_icl_event_constraints.
 */
#define EVENT_OLD_PREC_DIST	0x01c0

/* The kernel's pseudo-encodings of the topdown metrics, in the order of PERF_METRICS */
#define EVENT_FIRST_METRIC	0x8000
#define METRIC_NUMBER		GENMASK_ULL(15, 8)

/*
 * An unknown microarchitecture has no cache events: the architectural last-level cache events count
 * more than loads. The built-in driver has no table for it either.
 */
static u64 intel_cache(const struct x86_desc *desc, u64 generic)
{
	return desc->uarch ? intel_uarch_cache(desc->uarch, generic) : 0;
}

/* Return the bit of the counter that stands for a topdown metric, or 0 for any other event. */
static u64 metric_of(const struct x86_desc *desc, u64 config)
{
	u64 nr = FIELD_GET(METRIC_NUMBER, config - EVENT_FIRST_METRIC);

	/* For a config below EVENT_FIRST_METRIC the difference wraps: upper bits are set. */
	if ((config - EVENT_FIRST_METRIC) & ~METRIC_NUMBER ||
	    METRIC_COUNTER_BASE + nr >= COREPMU_MAX_COUNTERS)
		return 0;

	return BIT_ULL(METRIC_COUNTER_BASE + nr) & desc->metrics;
}

static bool is_old_prec_dist(const struct x86_desc *desc, u64 config)
{
	return config == EVENT_OLD_PREC_DIST && desc->uarch &&
	       desc->uarch - intel_uarches == UARCH_ICE_LAKE;
}

static u64 fixed_counters_of(const struct x86_desc *desc, u64 config)
{
	u64 fixed = intel_fixed_counters(desc->uarch, config);

	if (is_old_prec_dist(desc, config))
		fixed |= BIT_ULL(FIXED_COUNTER_BASE);

	return fixed | metric_of(desc, config);
}

static bool is_fixed_alone(const struct x86_desc *desc, u64 config)
{
	if (is_old_prec_dist(desc, config))
		return true;

	return !(config & EVNTSEL_EVENT) && (config & (EVNTSEL_UMASK | EVNTSEL_UMASK2));
}

static u64 intel_allowed_counters(const struct x86_desc *desc, u64 config)
{
	u64 allowed = fixed_counters_of(desc, config);

	if (!is_fixed_alone(desc, config))
		allowed |= intel_is_listed(desc, config) ?
			   intel_general_counters(desc->uarch, config) :
			   intel_unlisted_counters(desc->uarch, config);
	/* hsw_get_event_constraints(), arch/x86/events/intel/core.c */
	if (config & EVNTSEL_IN_TX_CP)
		allowed &= IN_TX_CP_COUNTER;

	/* Topdown metrics need fixed counter 3 (slots), which the self-test may have left out. */
	if (allowed & desc->metrics)
		return desc->pmu->counters & BIT_ULL(SLOTS_COUNTER) ? allowed : 0;

	return allowed & desc->pmu->counters;
}

/*
 * Events to reject: they also need a value in an extra register that extra-regs.c cannot set, and
 * that other software may have written. Codes and registers: struct extra_reg in
 * arch/x86/events/intel/core.c, and "MSRIndex" in perf's event lists. On other microarchitectures
 * the same code may be an event without an extra register. So each row has the microarchitectures
 * (@uarches), a CPU feature that must be present (@with) or absent (@without); 0 means any. On an
 * unknown microarchitecture a row applies to all @uarches. scripts/generate/intel-counters compares
 * these rows with the lists.
 */
#define ALL_UARCHES	GENMASK(NR_UARCHES - 1, 0)
#define NHM_TO_WSM	GENMASK(UARCH_WESTMERE, UARCH_NEHALEM)
#define SNB_TO_PNC	GENMASK(UARCH_PANTHER_COVE, UARCH_SANDY_BRIDGE)
#define SKL_TO_PNC	GENMASK(UARCH_PANTHER_COVE, UARCH_SKYLAKE)
#define GLC_TO_LNC	GENMASK(UARCH_LION_COVE, UARCH_GOLDEN_COVE)
#define GRT_TO_ARW	GENMASK(UARCH_ARCTIC_WOLF, UARCH_GRACEMONT)
#define CMT_TO_ARW	GENMASK(UARCH_ARCTIC_WOLF, UARCH_CRESTMONT)

static const struct incomplete_event {
	u16		config;
	u32		uarches;
	u16		with;
	u16		without;
	const char	*name;
	const char	*msr;
} incomplete_events[] = {
	{ 0x01b7, ALL_UARCHES, 0, 0, "OFFCORE_RESPONSE", "MSR_OFFCORE_RSP_0" },
	{ 0x01bb, ALL_UARCHES, 0, 0, "OFFCORE_RESPONSE_1", "MSR_OFFCORE_RSP_1" },
	/* EXE.AMX_BUSY on Golden Cove, and on every CPU with AMX */
	{ 0x02b7, ALL_UARCHES & ~GLC_TO_LNC, 0, X86_FEATURE_AMX_TILE, "OFFCORE_RESPONSE_1",
	  "MSR_OFFCORE_RSP_1" },
	{ 0x012a, ALL_UARCHES, 0, 0, "OCR", "MSR_OFFCORE_RSP_0" },
	{ 0x012b, ALL_UARCHES, 0, 0, "OCR", "MSR_OFFCORE_RSP_1" },
	{ 0x0127, CMT_TO_ARW, 0, 0, "OCR snoop", "MSR_SNOOP_RSP_0" },
	{ 0x0227, CMT_TO_ARW, 0, 0, "OCR snoop", "MSR_SNOOP_RSP_1" },
	{ 0x100b, NHM_TO_WSM, 0, 0, "load latency", "MSR_PEBS_LD_LAT_THRESHOLD" },
	{ 0x01cd, SNB_TO_PNC, 0, 0, "load latency", "MSR_PEBS_LD_LAT_THRESHOLD" },
	{ 0x05d0, GRT_TO_ARW, 0, 0, "load latency", "MSR_PEBS_LD_LAT_THRESHOLD" },
	{ 0x01c6, SKL_TO_PNC, 0, 0, "FRONTEND_RETIRED", "MSR_PEBS_FRONTEND" },
	{ 0x02c6, SKL_TO_PNC, 0, 0, "FRONTEND_RETIRED", "MSR_PEBS_FRONTEND" },
	{ 0x03c6, SKL_TO_PNC, 0, 0, "FRONTEND_RETIRED", "MSR_PEBS_FRONTEND" },
	{ 0x40ad, SKL_TO_PNC, 0, 0, "UNKNOWN_BRANCH", "MSR_PEBS_FRONTEND" },
	/* UOPS_RETIRED.MACRO_FUSED before Golden Cove, which brought AVX-VNNI */
	{ 0x04c2, SKL_TO_PNC, X86_FEATURE_AVX_VNNI, 0, "UOPS_RETIRED.MS", "MSR_PEBS_FRONTEND" },
};

static int refuse_incomplete(const struct x86_desc *desc, u64 config)
{
	u32 uarches = desc->uarch ? BIT(desc->uarch - intel_uarches) : ALL_UARCHES;
	const struct incomplete_event *event;
	unsigned int i;

	if (!intel_is_listed(desc, config))
		return 0;
	config &= EVNTSEL_EVENT | EVNTSEL_UMASK | EVNTSEL_UMASK2;
	if (intel_event_needs_extra_reg(desc, config))
		return 0;
	for (i = 0; i < ARRAY_SIZE(incomplete_events); i++) {
		event = &incomplete_events[i];
		if (config != event->config || !(event->uarches & uarches) ||
		    (event->with && !boot_cpu_has(event->with)) ||
		    (event->without && boot_cpu_has(event->without)))
			continue;
		return corepmu_refuse(-EOPNOTSUPP,
				      "config %#llx (%s) needs the extra register %s, which the driver cannot set on this CPU; use another event",
				      config, event->name, event->msr);
	}

	return 0;
}

/*
 * Check whether the caller may count all tasks of a CPU: perf_allow_cpu() in
 * include/linux/perf_event.h, without the security modules. If the kernel hides the sysctl
 * kernel.perf_event_paranoid, only a caller with CAP_PERFMON may.
 */
static bool may_count_cpu(void)
{
	const int *paranoid;

	if (perfmon_capable())
		return true;
	paranoid = (const int *)corepmu_find_symbol("sysctl_perf_event_paranoid");

	return paranoid && READ_ONCE(*paranoid) <= 0;
}

static int intel_refuse(const struct x86_desc *desc, u64 config)
{
	int ret;

	/* A unit mask of event 0 names a fixed counter; general-purpose counters count nothing. */
	if (is_fixed_alone(desc, config) && !fixed_counters_of(desc, config))
		return corepmu_refuse(-EINVAL,
				      "config %#llx: no fixed counter for this unit mask of event 0; see perf list pmu",
				      config);

	/*
	 * On such CPUs not every counter counts every event, and some events need an extra
	 * register. Without a table no placement of a model-specific event is known to be right.
	 */
	if (!desc->uarch && desc->aliased && boot_cpu_data.x86 > FAMILY_P6 &&
	    !intel_is_architectural(config) && !fixed_counters_of(desc, config))
		return corepmu_refuse(-EOPNOTSUPP,
				      "config %#llx: CPU model unknown (family %u, model %#x): only architectural events are available",
				      config, boot_cpu_data.x86, boot_cpu_data.x86_model);

	if (config & EVNTSEL_ANY) {
		/*
		 * The event also counts other tasks, so it needs the privilege of a CPU-wide event.
		 */
		if (!may_count_cpu())
			return corepmu_refuse(-EACCES,
					      "config %#llx: any=1 also counts the core's other hyperthread, which needs CAP_PERFMON or perf_event_paranoid 0: leave it out, or run as root",
					      config);
		if (config & (EVNTSEL_IN_TX | EVNTSEL_IN_TX_CP))
			return corepmu_refuse(-EOPNOTSUPP,
					      "config %#llx: any=1 cannot be combined with in_tx or in_tx_cp: leave out one of them",
					      config);
	}

	ret = intel_refuse_uarch(desc, config);
	if (ret)
		return ret;
	ret = intel_refuse_extra_reg(desc, config);

	return ret ?: refuse_incomplete(desc, config);
}

/*
 * CPUID has the number of fixed counters; from version 5 on also a bitmap. Core 2 at 65 nm (version
 * 2) has three fixed counters but CPUID reports none: "v2 perfmon does not report fixed-purpose
 * events, so assume at least 3 events, when not running in a hypervisor" (intel_pmu_init() in
 * arch/x86/events/intel/core.c). Must run on the CPU.
 */
#define FIRST_WITH_FIXED_BITMAP	5
#define NR_UNREPORTED_FIXED	3

static u64 __corepmu_init known_fixed(const struct intel_uarch *uarch, unsigned int version,
				      u32 ecx, u32 edx)
{
	unsigned int nr = version >= 2 ? FIELD_GET(EDX_NR_FIXED, edx) : 0;
	u64 fixed, value;

	if (version >= 2 && version < FIRST_WITH_FIXED_BITMAP &&
	    !boot_cpu_has(X86_FEATURE_HYPERVISOR))
		while (nr < NR_UNREPORTED_FIXED &&
		       !x86_read_msr_safe(MSR_CORE_PERF_FIXED_CTR0 + nr, &value))
			nr++;
	fixed = nr ? GENMASK_ULL(nr - 1, 0) : 0;
	if (version >= FIRST_WITH_FIXED_BITMAP)
		fixed |= ecx;

	return intel_known_fixed(uarch, fixed);
}

/*
 * Read CPUID leaf 0x23. There the counters need not be numbered consecutively, and on hybrid CPUs
 * the leaf describes this CPU type only.
 */
static void __corepmu_init describe_extension(struct x86_desc *desc)
{
	u32 eax, ebx, ecx, edx;
	u64 general;

	if (boot_cpu_data.cpuid_level < CPUID_PERFMON_EXT)
		return;
	cpuid_count(CPUID_STRUCTURED, 1, &eax, &ebx, &ecx, &edx);
	if (!(eax & EAX_PERFMON_EXT))
		return;

	cpuid_count(CPUID_PERFMON_EXT, 0, &eax, &ebx, &ecx, &edx);
	if (ebx & EBX_UMASK2)
		desc->config_known |= EVNTSEL_UMASK2;
	if (ebx & EBX_EQ)
		desc->config_known |= EVNTSEL_EQ;
	desc->user_disable = ebx & EBX_RDPMC_USR_DISABLE;
	desc->has_acr = eax & EAX_HAS_ACR;
	if (!(eax & EAX_HAS_COUNTERS))
		return;

	cpuid_count(CPUID_PERFMON_EXT, PERFMON_EXT_COUNTERS, &eax, &ebx, &ecx, &edx);
	general = eax & GENMASK_ULL(MAX_NR_GP - 1, 0);
	if (!general)
		return;
	desc->nr_gp = fls64(general);
	desc->holes = GENMASK_ULL(desc->nr_gp - 1, 0) & ~general;
	desc->pmu->counters = general | intel_known_fixed(desc->uarch, ebx);
}

/*
 * Describe slots and topdown metrics. On hybrid CPUs, leaf 0xA lists only the fixed counters that
 * all CPU types have. On some CPUs PERF_CAPABILITIES lacks the metrics, though the CPU has them. In
 * both cases intel_hides_metrics() is true: read a register to find out whether it exists.
 */
static void __corepmu_init describe_metrics(struct x86_desc *desc)
{
	u64 metrics = intel_metric_counters(desc->uarch), value;

	if (!metrics || !desc->global_ctrl)
		return;
	if (intel_hides_metrics()) {
		if (x86_read_msr_safe(MSR_CORE_PERF_FIXED_CTR0 + SLOTS_COUNTER -
				      FIXED_COUNTER_BASE, &value))
			return;
		desc->pmu->counters |= BIT_ULL(SLOTS_COUNTER);
		if (x86_read_msr_safe(MSR_PERF_METRICS, &value))
			return;
	} else if (!(desc->capabilities & PERF_CAP_METRICS) ||
		   !(desc->pmu->counters & BIT_ULL(SLOTS_COUNTER))) {
		return;
	}
	desc->metrics = metrics;
	desc->metrics_bit = GLOBAL_PERF_METRICS;
	desc->metrics_clear = desc->capabilities & PERF_CAP_METRICS_CLEAR;
}

static void __corepmu_init describe_global_registers(struct x86_desc *desc, unsigned int version)
{
	desc->select_msr = MSR_P6_EVNTSEL0;
	desc->counter_msr = MSR_P6_PERFCTR0;
	desc->step = 1;
	desc->masks_lvtpc = true;

	if (boot_cpu_has(X86_FEATURE_PDCM))
		desc->capabilities = x86_read_msr(MSR_IA32_PERF_CAPABILITIES);
	/* Without full-width writes, bits 31-0 are written and bit 31 extended. */
	if (desc->capabilities & PERF_CAP_FW_WRITE)
		desc->counter_msr = MSR_IA32_PMC0;
	else
		desc->pmu->max_left = GENMASK(30, 0);

	if (version < 2)
		return;
	desc->global_ctrl = MSR_CORE_PERF_GLOBAL_CTRL;
	desc->global_status = MSR_CORE_PERF_GLOBAL_STATUS;
	/* From version 4 on, this MSR number is GLOBAL_STATUS_RESET, which works the same. */
	desc->global_clear = MSR_CORE_PERF_GLOBAL_OVF_CTRL;
}

/* Describe the generic events. @missing has a bit for each of @nr architectural events. */
static void __corepmu_init describe_arch_events(struct x86_desc *desc, unsigned int nr, u32 missing)
{
	unsigned int i;

	for (i = 0; i < INTEL_NR_ARCHITECTURAL; i++)
		if (i < nr && !(missing & BIT(i)))
			desc->hardware[intel_architectural[i].hardware] =
				intel_architectural[i].config;
	if (desc->pmu->counters & BIT_ULL(FIXED_COUNTER_BASE + 2))
		desc->hardware[PERF_COUNT_HW_REF_CPU_CYCLES] = EVENT_REF_CYCLES;
	/* Other counters can count reference cycles too if fixed counter 2 is taken. */
	if (desc->hardware[PERF_COUNT_HW_BUS_CYCLES] && intel_counts_tsc(desc->uarch))
		desc->hardware[PERF_COUNT_HW_REF_CPU_CYCLES] = EVENT_REFERENCE_CYCLES;
	if (desc->uarch)
		intel_uarch_hardware(desc->uarch, desc->hardware);

	for (i = 0; i < ARRAY_SIZE(incomplete_events); i++)
		intel_list(desc, incomplete_events[i].config);
	intel_list_codes(desc);
	intel_list_extra_reg_events(desc);
}

/**
 * intel_describe() - describe the PMU of this CPU, from CPUID and the model tables
 * @desc: the PMU description to fill in
 *
 * Return: 0, or -ENODEV after a message if there is no PMU
 */
int __corepmu_init intel_describe(struct x86_desc *desc)
{
	unsigned int version, width, fixed_width, i;
	struct corepmu *pmu = desc->pmu;
	u32 eax = 0, ebx = 0, ecx = 0, edx = 0;

	if (boot_cpu_data.cpuid_level >= CPUID_ARCH_PERFMON)
		cpuid(CPUID_ARCH_PERFMON, &eax, &ebx, &ecx, &edx);
	version = FIELD_GET(EAX_VERSION, eax);
	desc->nr_gp = min_t(u32, FIELD_GET(EAX_NR_GP, eax), MAX_NR_GP);
	width = FIELD_GET(EAX_GP_WIDTH, eax);
	/* CPUID reports width 0 if it hides fixed counters that exist: see known_fixed(). */
	fixed_width = FIELD_GET(EDX_FIXED_WIDTH, edx) ?: width;
	if (!version || !desc->nr_gp || width < 32 || width > 64) {
		pr_err("the CPU has no architectural performance monitoring (CPUID leaf 0xa): in a virtual machine, enable its PMU\n");
		return -ENODEV;
	}

	desc->uarch = intel_find_uarch();
	desc->nr_gp = intel_nr_general(desc->uarch, desc->nr_gp);
	pmu->counters = GENMASK_ULL(desc->nr_gp - 1, 0) |
			known_fixed(desc->uarch, version, ecx, edx);
	describe_extension(desc);
	desc->aliased = version >= VERSION_ALIASED;
	/*
	 * The microcode uses counter 3 while a transaction runs: no event may use this counter
	 * (MSR_TSX_FORCE_ABORT; tfa_get_event_constraints() in arch/x86/events/intel/core.c).
	 */
	if (boot_cpu_has(X86_FEATURE_TSX_FORCE_ABORT) &&
	    !boot_cpu_has(X86_FEATURE_RTM_ALWAYS_ABORT))
		pmu->counters &= ~TSX_COUNTER;
	for (i = 0; i < FIXED_COUNTER_BASE; i++)
		pmu->width[i] = width;
	for (; i < COREPMU_MAX_COUNTERS; i++)
		pmu->width[i] = fixed_width;

	describe_global_registers(desc, version);
	describe_metrics(desc);
	desc->stale_monitors = desc->global_ctrl &&
			       intel_has_stale_monitors(desc->uarch, desc->nr_gp);

	desc->config_known |= EVNTSEL_EVENT | EVNTSEL_UMASK | EVNTSEL_EDGE | EVNTSEL_INV |
			      EVNTSEL_CMASK;
	if (version >= 3 && !(edx & EDX_ANY_DEPRECATED))
		desc->config_known |= EVNTSEL_ANY;
	if (intel_has_tsx_events(desc->uarch)) {
		desc->config_known |= EVNTSEL_IN_TX | EVNTSEL_IN_TX_CP;
		desc->counts_only = EVNTSEL_IN_TX_CP;
	}
	describe_arch_events(desc, FIELD_GET(EAX_NR_EVENTS, eax), ebx);
	pmu->min_left = intel_min_left(desc->uarch);
	desc->min_period = intel_min_period;
	desc->cache = intel_cache;
	desc->allowed_counters = intel_allowed_counters;
	desc->refuse = intel_refuse;

	pr_debug("Intel architectural perfmon %u, %u counters of %u bits, %s\n",
		 version, desc->nr_gp, width,
		 desc->uarch ? desc->uarch->name : "unknown microarchitecture");
	return 0;
}
