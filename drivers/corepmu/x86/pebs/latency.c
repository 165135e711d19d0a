// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel PEBS: load latency and store latency
 *
 * MEM_TRANS_RETIRED.LOAD_LATENCY of the cores and MEM_UOPS_RETIRED.LOAD_LATENCY of the atoms count
 * loads that take more cycles than MSR_PEBS_LD_LAT_THRESHOLD. The CPU chooses the loads at random.
 * The records have the latency and the data source (SDM volume 3, "Load Latency Performance
 * Monitoring Facility"). Each hyperthread has one threshold: events with different thresholds take
 * turns. From Golden Cove and Gracemont on, records of STORE_SAMPLE and STORE_LATENCY have both for
 * stores, of all that retire. data-source.c converts the data source.
 *
 * The driver supports the cores from Skylake on, and the atoms from Gracemont on.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "pebs.h"
#include "../intel/intel.h"
#include "../msr.h"
#include "../x86.h"

/* MEM_TRANS_RETIRED of the cores, MEM_UOPS_RETIRED of the atoms */
#define CORE_LOAD_LATENCY	0x01cd
#define CORE_STORE_SAMPLE	0x02cd
#define ATOM_LOAD_LATENCY	0x05d0
#define ATOM_STORE_LATENCY	0x06d0
/* LD_BLOCKS.STORE_FORWARD, MEM_LOADS_AUX of the kernel */
#define EVENT_LOADS_AUX		0x8203

/* "The minimum value that may be programmed" */
#define MIN_THRESHOLD		3
#define MAX_THRESHOLD		GENMASK_ULL(15, 0)

static bool is_between(const struct x86_desc *desc, enum intel_uarch_id first,
		       enum intel_uarch_id last)
{
	return desc->uarch >= &intel_uarches[first] && desc->uarch <= &intel_uarches[last];
}

/* Return the CPU's load-latency event, or 0. */
static u16 load_event(const struct x86_desc *desc)
{
	if (is_between(desc, UARCH_SKYLAKE, UARCH_PANTHER_COVE))
		return CORE_LOAD_LATENCY;

	return is_between(desc, UARCH_GRACEMONT, UARCH_ARCTIC_WOLF) ? ATOM_LOAD_LATENCY : 0;
}

/* Return the CPU's store-latency event, or 0. */
static u16 store_event(const struct x86_desc *desc)
{
	if (is_between(desc, UARCH_GOLDEN_COVE, UARCH_PANTHER_COVE))
		return CORE_STORE_SAMPLE;

	return is_between(desc, UARCH_GRACEMONT, UARCH_ARCTIC_WOLF) ? ATOM_STORE_LATENCY : 0;
}

/**
 * x86_pebs_has_latency() - check whether the driver supports load latency on this CPU
 * @desc: the PMU description
 *
 * Return: true if it does
 */
bool x86_pebs_has_latency(const struct x86_desc *desc)
{
	return desc->pebs_format && desc->pebs_latency && load_event(desc);
}

/**
 * x86_pebs_wants_latency() - check whether an event is a load-latency event that can be opened
 * @desc: the PMU description
 * @attr: attributes of the event; config1 is the threshold in cycles
 * @config: event code
 *
 * Return: true if it is
 */
bool x86_pebs_wants_latency(const struct x86_desc *desc, const struct perf_event_attr *attr,
			    u64 config)
{
	return attr->precise_ip && x86_pebs_has_latency(desc) && config == load_event(desc) &&
	       attr->config1 <= MAX_THRESHOLD && !attr->config2 && !compat_attr_more_config(attr);
}

/**
 * x86_pebs_refuse_latency() - reject a load-latency event without precise_ip
 * @desc: the PMU description
 * @attr: attributes of the event
 * @config: event code
 *
 * Without PEBS the threshold has no effect and the event counts nothing. Process context.
 *
 * Return: 0, or -EINVAL after corepmu_refuse()
 */
int x86_pebs_refuse_latency(const struct x86_desc *desc, const struct perf_event_attr *attr,
			    u64 config)
{
	if (attr->precise_ip || !x86_pebs_has_latency(desc) || config != load_event(desc))
		return 0;

	return corepmu_refuse(-EINVAL,
				      "config %#llx: load latency cannot be counted, only sampled with precise_ip; use perf record and :p",
			      config);
}

static bool is_loads_aux(const struct perf_event *event, const struct pmu *pmu)
{
	return event->pmu == pmu &&
	       (event->hw.config_base & (EVNTSEL_EVENT | EVNTSEL_UMASK)) == EVENT_LOADS_AUX;
}

/*
 * On Golden Cove the data source is complete only while LD_BLOCKS.STORE_FORWARD is counted, too
 * (PMU_FL_MEM_LOADS_AUX in arch/x86/events/intel/core.c, which Redwood Cove does not have). So that
 * event must be in the group before the load-latency event.
 */
static bool lacks_loads_aux(const struct x86_desc *desc, const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader, *sibling;

	if (desc->uarch != &intel_uarches[UARCH_GOLDEN_COVE] ||
	    !(event->attr.sample_type & PERF_SAMPLE_DATA_SRC))
		return false;
	if (leader == event)
		return true;
	if (is_loads_aux(leader, event->pmu))
		return false;
	for_each_sibling_event(sibling, leader)
		if (is_loads_aux(sibling, event->pmu))
			return false;

	return true;
}

/**
 * x86_pebs_encode_latency() - set up an event that may be a load-latency or store-latency event
 * @desc: the PMU description
 * @event: a precise event
 * @config: event code
 *
 * Process context.
 *
 * Return: 0, or -ENODATA after a message if the group lacks an event
 */
int x86_pebs_encode_latency(const struct x86_desc *desc, struct perf_event *event, u64 config)
{
	if (store_event(desc) && config == store_event(desc))
		event->hw.flags |= EVENT_STORE_LATENCY;
	if (!x86_pebs_wants_latency(desc, &event->attr, config))
		return 0;
	/* The parent's group may have lost its auxiliary event since: fork(2) must not fail. */
	if (!event->parent && lacks_loads_aux(desc, event))
		return corepmu_refuse(-ENODATA,
				      "config %#llx: the data source needs events/mem-loads-aux in the group before this event",
				      event->attr.config);
	event->hw.flags |= EVENT_LATENCY;
	event->hw.extra_reg.config = max_t(u64, event->attr.config1, MIN_THRESHOLD);

	return 0;
}

/**
 * x86_pebs_fits() - check whether two precise events can be on the CPU at the same time
 * @event: a precise event
 * @other: another precise event
 *
 * Return: false if they need different load-latency thresholds
 */
bool x86_pebs_fits(const struct perf_event *event, const struct perf_event *other)
{
	return !(event->hw.flags & other->hw.flags & EVENT_LATENCY) ||
	       event->hw.extra_reg.config == other->hw.extra_reg.config;
}
