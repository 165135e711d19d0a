// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: encoding of events
 *
 * Event numbers: DDI 0487, D13.11, "PMU events". The layout of config1 is that of
 * drivers/perf/arm_pmuv3.c, so that scripts work with both drivers.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/moduleparam.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <corepmu/branch.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "pmuv3.h"
#include "sysreg.h"

/* perf_event_attr.config1 */
#define CONFIG1_LONG			BIT_ULL(0)
#define CONFIG1_RDPMC			BIT_ULL(1)
#define CONFIG1_THRESHOLD_COUNT		BIT_ULL(2)
#define CONFIG1_THRESHOLD_COMPARE	GENMASK_ULL(4, 3)
#define CONFIG1_THRESHOLD		GENMASK_ULL(16, 5)
#define CONFIG1_KNOWN			GENMASK_ULL(16, 0)

/* The event counters, which count any event */
#define EVENT_COUNTERS			GENMASK_ULL(PMUV3_MAX_EVENT_COUNTERS - 1, 0)

bool pmuv3_lenient;
module_param_named(lenient, pmuv3_lenient, bool, 0444);
MODULE_PARM_DESC(lenient,
		 "ignore precise_ip and unknown bits of config to config3, as the built-in driver does (arm64)");

/* Generic events */

/* A number for which pmuv3_has_event() is false */
#define NO_CODE	0xffff

static const u16 hardware_map[PERF_COUNT_HW_MAX] = {
	[PERF_COUNT_HW_CPU_CYCLES]		= PMUV3_EVENT_CPU_CYCLES,
	[PERF_COUNT_HW_INSTRUCTIONS]		= PMUV3_EVENT_INST_RETIRED,
	[PERF_COUNT_HW_CACHE_REFERENCES]	= PMUV3_EVENT_L1D_CACHE,
	[PERF_COUNT_HW_CACHE_MISSES]		= PMUV3_EVENT_L1D_CACHE_REFILL,
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS]	= PMUV3_EVENT_BR_RETIRED,
	[PERF_COUNT_HW_BRANCH_MISSES]		= PMUV3_EVENT_BR_MIS_PRED,
	[PERF_COUNT_HW_BUS_CYCLES]		= PMUV3_EVENT_BUS_CYCLES,
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND]	= PMUV3_EVENT_STALL_FRONTEND,
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND]	= PMUV3_EVENT_STALL_BACKEND,
	[PERF_COUNT_HW_REF_CPU_CYCLES]		= NO_CODE,
};

/**
 * pmuv3_describe_hardware() - set pmuv3->hardware
 * @pmuv3: the PMU, with its pmceid
 */
void __corepmu_init pmuv3_describe_hardware(struct pmuv3 *pmuv3)
{
	unsigned int config, event;

	for (config = 0; config < PERF_COUNT_HW_MAX; config++) {
		event = hardware_map[config];
		if (event == PMUV3_EVENT_BR_RETIRED && !pmuv3_has_event(pmuv3, event))
			event = PMUV3_EVENT_PC_WRITE_RETIRED;
		pmuv3->hardware[config] = pmuv3_has_event(pmuv3, event) ? event : -ENOENT;
	}
}

/* Encoding of perf_event_attr */

/*
 * Select event @number, and the exception levels that count: Documentation/arch/arm64/perf.rst.
 * With VHE the kernel is at EL2, and only guests are at EL1.
 */
static int encode_filter(struct pmuv3 *pmuv3, const struct perf_event_attr *attr,
			 struct hw_perf_event *hwc, unsigned int number)
{
	u64 config = number;

	if (attr->exclude_idle)
		return corepmu_refuse(-EOPNOTSUPP,
				      "exclude_idle is 1: the PMU cannot distinguish idle from busy; leave out modifier I");

	if (is_kernel_in_hyp_mode()) {
		if (!attr->exclude_kernel && !attr->exclude_host)
			config |= PMEVTYPER_NSH;
		if (attr->exclude_guest)
			config |= PMEVTYPER_P;
	} else {
		if (!attr->exclude_hv && !attr->exclude_host)
			config |= PMEVTYPER_NSH;
	}

	if (attr->exclude_kernel)
		config |= PMEVTYPER_P;
	if (attr->exclude_user)
		config |= PMEVTYPER_U;

	hwc->config_base = config;
	if (attr->exclude_host || attr->exclude_guest)
		return pmuv3_kvm_encode(pmuv3, attr, hwc);
	return 0;
}

/**
 * pmuv3_threshold_max() - return the largest threshold that an event may have
 * @pmuv3: the PMU
 *
 * PMMIR_EL1.THWIDTH is the number of implemented bits of PMEVTYPER<n>_EL0.TH.
 *
 * Return: the threshold, 0 without FEAT_PMUv3_TH
 */
unsigned int pmuv3_threshold_max(const struct pmuv3 *pmuv3)
{
	return BIT(FIELD_GET(PMMIR_THWIDTH, pmuv3->pmmir)) - 1;
}

/*
 * FEAT_PMUv3_TH, D13.7: count only in cycles in which the event's increment passes a comparison
 * with the threshold. With threshold 0 the other threshold fields have no effect:
 * Documentation/arch/arm64/perf.rst.
 */
static int encode_threshold(struct pmuv3 *pmuv3, const struct perf_event_attr *attr,
			    struct hw_perf_event *hwc)
{
	unsigned int threshold = FIELD_GET(CONFIG1_THRESHOLD, attr->config1);
	unsigned int compare = FIELD_GET(CONFIG1_THRESHOLD_COMPARE, attr->config1);
	unsigned int count = FIELD_GET(CONFIG1_THRESHOLD_COUNT, attr->config1);

	if (!threshold)
		return 0;
	if (threshold > pmuv3_threshold_max(pmuv3))
		return corepmu_refuse(-EINVAL,
				      "threshold %u: the maximum (caps/threshold_max) is %u; use a lower one",
				      threshold, pmuv3_threshold_max(pmuv3));

	hwc->config_base |= FIELD_PREP(PMEVTYPER_TH, threshold) |
			FIELD_PREP(PMEVTYPER_TC, compare << 1 | count);
	return 0;
}

/*
 * Return the event number, or a negative errno.
 *
 * Generic events may have any config1 to config3: config1 and config2 share memory with a
 * breakpoint's address and length, where programs leave arbitrary values. Like the built-in driver,
 * corepmu then uses only the bits of config1 that format/ names.
 */
static int encode_event(struct corepmu *pmu, const struct perf_event_attr *attr)
{
	u64 generic = attr->config & PERF_HW_EVENT_MASK;
	unsigned int number;

	/* With standin=1 this PMU's own type may be one of the generic types. */
	if (attr->type != pmu->perf_pmu.type) {
		if (attr->type == PERF_TYPE_HARDWARE)
			return generic < PERF_COUNT_HW_MAX ? to_pmuv3(pmu)->hardware[generic] :
							     -EINVAL;
		if (attr->type == PERF_TYPE_HW_CACHE)
			return pmuv3_map_cache(to_pmuv3(pmu), generic);
	}

	if ((attr->config & ~PMEVTYPER_EVTCOUNT) && !pmuv3_lenient)
		return corepmu_refuse(-EINVAL,
				      "config %#llx has bits that format/ does not name; lenient=1 ignores them",
				      attr->config);
	number = attr->config & PMEVTYPER_EVTCOUNT;
	if (number == PMUV3_EVENT_CHAIN)
		return corepmu_refuse(-EINVAL,
				      "event 0x1e (CHAIN) counts nothing: use long=1 for 64 bits");
	if (((attr->config1 & ~CONFIG1_KNOWN) | attr->config2 | compat_attr_more_config(attr)) &&
	    !pmuv3_lenient)
		return corepmu_refuse(-EINVAL,
				      "config1 %#llx, config2 %#llx: config1, config2 or config3 has bits that format/ does not name; lenient=1 ignores them",
				      attr->config1, attr->config2);

	return number;
}

/*
 * Reject attr.precise_ip, unless lenient=1.
 *
 * The interrupt comes some instructions after the overflow. Precise samples are those of the
 * Statistical Profiling Extension (SPE), a PMU of its own (drivers/perf/arm_spe_pmu.c) without the
 * core events. The built-in driver ignores precise_ip.
 */
static int check_precise(const struct perf_event *event)
{
	if (!event->attr.precise_ip || pmuv3_lenient)
		return 0;

	return corepmu_refuse(-EOPNOTSUPP,
			      "precise_ip is %u: this PMU's maximum is 0 (samples have skid); use arm_spe where the CPU has it, or lenient=1 to ignore precise_ip",
			      event->attr.precise_ip);
}

/*
 * Return the mask of the cycle counter (PMCCNTR_EL0) or the instruction counter (PMICNTR_EL0) if
 * the event may use it, else 0. PMCCNTR_EL0 counts a clock that may run while the CPU waits, such
 * as the clock of a core with several threads (DDI 0487, D13.1.3). On such CPUs an event counter
 * counts cycles, as in armv8pmu_can_use_pmccntr() in drivers/perf/arm_pmuv3.c. An event with branch
 * records may not use PMCCNTR_EL0 either: the overflow of this counter does not pause BRBE.
 */
static u64 dedicated_counter(struct corepmu *pmu, const struct hw_perf_event *hwc,
			     unsigned int number)
{
	if (number == PMUV3_EVENT_CPU_CYCLES && !to_pmuv3(pmu)->avoid_pmccntr &&
	    !(hwc->flags & COREPMU_EVENT_BRANCHES))
		return pmu->counters & BIT_ULL(PMUV3_CYCLE_COUNTER);
	if (number == PMUV3_EVENT_INST_RETIRED)
		return pmu->counters & BIT_ULL(PMUV3_INSTR_COUNTER);

	return 0;
}

/*
 * Encode config1, and choose the counters: a 64-bit event on 32-bit counters needs a pair. With
 * sampling=0 no interrupt reports a wrap: a 32-bit counter would lose 2^32 events. Few events need
 * this function: it is noinline, so that pmuv3_encode() saves fewer registers.
 */
static noinline int encode_config1(struct corepmu *pmu, struct perf_event *event,
				   unsigned int number)
{
	bool is_long = (event->attr.config1 & CONFIG1_LONG) || !corepmu_has_interrupt(pmu);
	struct pmuv3 *pmuv3 = to_pmuv3(pmu);
	struct hw_perf_event *hwc = &event->hw;
	u64 counters = pmu->counters & EVENT_COUNTERS;
	int ret;

	ret = encode_threshold(pmuv3, &event->attr, hwc);
	if (ret)
		return ret;

	if (is_long)
		hwc->flags |= COREPMU_EVENT_LONG;
	if (is_long && !(pmuv3->pmcr & PMCR_LP)) {
		hwc->flags |= COREPMU_EVENT_PAIR;
		counters = pmu->pair_counters;
	}
	/* PMCCFILTR_EL0 and PMICFILTR_EL0 have no threshold. */
	if (!FIELD_GET(PMEVTYPER_TH, hwc->config_base))
		counters |= dedicated_counter(pmu, hwc, number);
	corepmu_hw_set_counters(hwc, counters);

	return event->attr.config1 & CONFIG1_RDPMC ? pmuv3_encode_rdpmc(pmuv3, event, is_long) : 0;
}

/*
 * Encode branch_sample_type. With VHE the kernel runs at EL2, so PERF_SAMPLE_BRANCH_HV selects the
 * kernel's branches, as in branch_type_to_brbcr() in drivers/perf/arm_brbe.c. Perf core also adds
 * HV to an event with exclude_kernel and without exclude_hv: such an event gets no kernel branches.
 */
static noinline int pmuv3_encode_branches(struct corepmu *pmu, struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	int ret = corepmu_branch_encode(pmu, event);

	if (ret)
		return ret;
	if (attr->exclude_host)
		return corepmu_refuse(-EOPNOTSUPP,
				      "exclude_host is 1: guests have no branch records; leave out modifier G or the branch records");
	if (attr->exclude_user && attr->exclude_kernel)
		return corepmu_refuse(-EOPNOTSUPP,
				      "exclude_user and exclude_kernel are 1: hypervisors have no branch records; add modifier u or k, or leave out the branch records");

	if (is_kernel_in_hyp_mode() && !attr->exclude_kernel &&
	    (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HV))
		event->hw.branch_reg.config |= COREPMU_BRANCH_KERNEL;

	return 0;
}

/**
 * pmuv3_encode() - encode an event: the backend's encode()
 * @pmu: the PMU
 * @event: event that is being opened
 *
 * Process context.
 *
 * Return: 0 or an errno of perf_event_open(2)
 */
int pmuv3_encode(struct corepmu *pmu, struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	struct hw_perf_event *hwc = &event->hw;
	int number, ret;

	ret = check_precise(event);
	if (ret)
		return ret;
	if (has_branch_stack(event)) {
		ret = pmuv3_encode_branches(pmu, event);
		if (ret)
			return ret;
	}

	number = encode_event(pmu, attr);
	if (number < 0)
		return number;

	if (is_sampling_event(event) && !corepmu_has_interrupt(pmu))
		return corepmu_refuse(-EOPNOTSUPP,
				      "sampling=0: this PMU only counts; reload the module without it");

	ret = encode_filter(to_pmuv3(pmu), attr, hwc, number);
	if (ret)
		return ret;

	if (attr->config1 || !corepmu_has_interrupt(pmu)) {
		ret = encode_config1(pmu, event, number);
		if (ret)
			return ret;
	} else {
		corepmu_hw_set_counters(hwc, (pmu->counters & EVENT_COUNTERS) |
					     dedicated_counter(pmu, hwc, number));
	}

	if (!corepmu_hw_counters(hwc))
		return corepmu_refuse(-EINVAL,
				      "config %#llx: no counter of this CPU can count the event; see perf list pmu",
				      attr->config);

	return 0;
}
