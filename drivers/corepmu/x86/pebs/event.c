// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel PEBS: encoding of precise events, their counters and record groups
 *
 * Before Ice Lake, general-purpose counters 0 to 3 support PEBS, for some events. Like the kernel,
 * the driver allows all events except where the kernel has a tighter constraint
 * (intel_skl_pebs_event_constraints in arch/x86/events/intel/ds.c). Cycles do not support PEBS:
 * the driver counts cycles in which fewer than 16 instructions retire, which all cycles are. From
 * Ice Lake on, all counters and events support PEBS (PERF_CAPABILITIES, "PEBS baseline"). For
 * architectural PEBS, CPUID lists the counters.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/perf_regs.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>
#include <corepmu/precise.h>

#include "pebs.h"
#include "../intel/intel.h"
#include "../msr.h"
#include "../x86.h"

/* OCR.*, off-core responses */
#define EVENT_OCR_0		0x012a
#define EVENT_OCR_1		0x012b
/* INST_RETIRED.ANY and .PREC_DIST with threshold 16, inverted: counts every cycle */
#define ALL_CYCLES		(EVNTSEL_INV | FIELD_PREP(EVNTSEL_CMASK, 16))

/* Selection bits that change how an event is counted */
#define MODIFIERS		(EVNTSEL_EDGE | EVNTSEL_INV | EVNTSEL_CMASK | EVNTSEL_ANY |	\
				 EVNTSEL_IN_TX | EVNTSEL_IN_TX_CP)

#define SKYLAKE_COUNTERS	GENMASK_ULL(3, 0)
#define GOLDMONT_COUNTERS	BIT_ULL(0)
/* ":ppp means to do reduced skid PEBS which is PMC0 only" */
#define GOLDMONT_PLUS_MOST_PRECISE BIT_ULL(0)
/* Golden Cove to Lion Cove: counters whose records of INST_RETIRED have all fields */
#define INSTRUCTION_COUNTERS	GENMASK_ULL(7, 1)
#define FIXED_INSTRUCTIONS	BIT_ULL(FIXED_COUNTER_BASE)

/* attr.precise_ip 3 asks for the hardware's precise distribution (PDIR). */
#define MOST_PRECISE		3

/* The CPU writes no record while a guest of KVM runs: x86/kvm/vmx-msrs.c. */
bool x86_pebs_avoids_guests;

static enum intel_uarch_id uarch_of(const struct x86_desc *desc)
{
	return desc->uarch ? desc->uarch - intel_uarches : NR_UARCHES;
}

static u16 code_of(u64 config)
{
	return config & (EVNTSEL_EVENT | EVNTSEL_UMASK);
}

/**
 * x86_pebs_config() - replace an event that does not support PEBS by one that does
 * @desc: the PMU description
 * @attr: attributes of the event
 * @config: event code
 *
 * Return: event code to count
 */
u64 x86_pebs_config(const struct x86_desc *desc, const struct perf_event_attr *attr, u64 config)
{
	if (!attr->precise_ip || desc->pebs_all || uarch_of(desc) != UARCH_SKYLAKE ||
	    config != EVENT_CORE_CYCLES)
		return config;

	if (attr->precise_ip == MOST_PRECISE)
		return ALL_CYCLES | EVENT_PREC_DIST;

	return ALL_CYCLES | EVENT_INSTRUCTIONS;
}

/*
 * Return the counters of @counters that support PDIR for the event: tnt_, icl_, glc_ and
 * cmt_get_event_constraints() in arch/x86/events/intel/core.c.
 */
static u64 most_precise(const struct x86_desc *desc, u64 config, u64 counters)
{
	/* Fixed counter 0 counts INST_RETIRED only without edge, inversion and threshold. */
	bool instructions = config == EVENT_INSTRUCTIONS;

	switch (uarch_of(desc)) {
	case UARCH_ICE_LAKE:
		return instructions ? counters & FIXED_INSTRUCTIONS : counters;
	case UARCH_GOLDEN_COVE:
	case UARCH_REDWOOD_COVE:
	case UARCH_LION_COVE:
	case UARCH_COYOTE_COVE:
	case UARCH_PANTHER_COVE:
		/*
		 * "Instruction PDIR is only available on the fixed counter 0", which has no unit
		 * masks, edges or thresholds.
		 */
		if ((config & EVNTSEL_EVENT) == EVENT_INSTRUCTIONS)
			return counters & FIXED_INSTRUCTIONS;
		fallthrough;
	case UARCH_TREMONT:
	case UARCH_GRACEMONT:
		return counters & (BIT_ULL(0) | FIXED_INSTRUCTIONS);
	case UARCH_CRESTMONT:
	case UARCH_SKYMONT:
	case UARCH_ARCTIC_WOLF:
		return counters & (GENMASK_ULL(1, 0) | FIXED_INSTRUCTIONS);
	default:
		return counters;
	}
}

/*
 * On Goldmont Plus all events support PEBS (PMU_FL_PEBS_ALL and glp_get_event_constraints() in
 * arch/x86/events/intel/core.c). On Skylake and Goldmont, events with a bit of MODIFIERS do not
 * support PEBS ("Allow all events as PEBS with no flags"). The exception is ALL_CYCLES on Skylake.
 */
static u64 basic_counters(const struct x86_desc *desc, unsigned int precise, u64 config,
			  u64 counters)
{
	if (uarch_of(desc) == UARCH_GOLDMONT)
		return config & MODIFIERS ? 0 : counters & GOLDMONT_COUNTERS;
	if (uarch_of(desc) == UARCH_GOLDMONT_PLUS)
		return counters & (precise == MOST_PRECISE ? GOLDMONT_PLUS_MOST_PRECISE :
							     SKYLAKE_COUNTERS);
	if ((config & MODIFIERS) && config != (ALL_CYCLES | EVENT_INSTRUCTIONS) &&
	    config != (ALL_CYCLES | EVENT_PREC_DIST))
		return 0;

	return counters & SKYLAKE_COUNTERS;
}

/* Minimum "reload value" for PDIR: glc_limit_period() in arch/x86/events/intel/core.c */
#define MIN_PERIOD_MOST_PRECISE	128

/**
 * x86_pebs_min_period() - return the shortest sampling period that PEBS allows for an event
 * @desc: the PMU description
 * @attr: attributes of the event
 *
 * Only PDIR has a minimum, from Golden Cove and Gracemont on.
 *
 * Return: number of counts, 1 if all periods are allowed
 */
unsigned int x86_pebs_min_period(const struct x86_desc *desc, const struct perf_event_attr *attr)
{
	if (attr->precise_ip == MOST_PRECISE && intel_since_alder_lake(desc->uarch))
		return MIN_PERIOD_MOST_PRECISE;

	return 1;
}

/*
 * Return the counters of @counters that support the event with precise_ip 1 or 2:
 * intel_glc_ and intel_lnc_pebs_event_constraints. The constraints of later cores, intel_pnc_ and
 * intel_dkt_, only concern load-latency and store-latency events.
 */
static u64 less_precise(const struct x86_desc *desc, u64 config, u64 counters)
{
	switch (uarch_of(desc)) {
	case UARCH_GOLDEN_COVE:
	case UARCH_REDWOOD_COVE:
		/* Keep INST_RETIRED off the counters that support PDIR. */
		if ((config & EVNTSEL_EVENT) == EVENT_INSTRUCTIONS)
			return counters & INSTRUCTION_COUNTERS;
		return counters;
	case UARCH_LION_COVE:
		if (code_of(config) == EVENT_OCR_0 || code_of(config) == EVENT_OCR_1)
			return counters & BIT_ULL(0);
		return counters;
	default:
		return counters;
	}
}

/*
 * Check whether the event needs a retire latency that fixed counter 0 cannot record. Samples with
 * a weight show the retire latency. "The Retire Latency is not supported by the fixed counter 0":
 * rwc_get_event_constraints() in arch/x86/events/intel/core.c, for the cores of hybrid CPUs.
 * Granite Rapids, also Redwood Cove, and Diamond Rapids use glc_get_event_constraints(). PDIR of
 * INST_RETIRED exists on no other counter.
 */
static bool lacks_retirement(const struct x86_desc *desc, const struct perf_event_attr *attr,
			     u64 config)
{
	if (!(attr->sample_type & PERF_SAMPLE_WEIGHT_TYPE) || config != EVENT_INSTRUCTIONS)
		return false;

	return uarch_of(desc) == UARCH_LION_COVE || uarch_of(desc) == UARCH_COYOTE_COVE ||
	       (uarch_of(desc) == UARCH_REDWOOD_COVE && intel_model_is_hybrid());
}

/*
 * For architectural PEBS CPUID lists the counters, but the microarchitecture's constraints also
 * apply: Panther Lake in intel_pmu_init(), arch/x86/events/intel/core.c.
 */
static u64 precise_counters(const struct x86_desc *desc, const struct perf_event_attr *attr,
			    u64 config, u64 counters)
{
	bool most = attr->precise_ip == MOST_PRECISE;

	if (!desc->pebs_all)
		return basic_counters(desc, attr->precise_ip, config, counters);
	if (desc->pebs_format == PEBS_FORMAT_ARCH)
		counters &= most ? desc->pebs_dist : desc->pebs_counters;
	if (lacks_retirement(desc, attr, config))
		counters &= INSTRUCTION_COUNTERS;

	return most ? most_precise(desc, config, counters) : less_precise(desc, config, counters);
}

/*
 * Return EVENT_LOAD or EVENT_STORE for an event whose records have a meaningful data source. From
 * Haswell on these are memory instructions, 0xd0, and loads by data source, 0xd1 and up
 * (intel_skl_ and intel_icl_pebs_event_constraints). Atoms have none.
 */
static int data_flags(const struct x86_desc *desc, u64 config)
{
	unsigned int event = FIELD_GET(EVNTSEL_EVENT, config);
	unsigned int umask = FIELD_GET(EVNTSEL_UMASK, config);
	enum intel_uarch_id uarch = uarch_of(desc);

	if (uarch < UARCH_SKYLAKE || uarch > UARCH_REDWOOD_COVE)
		return 0;
	switch (event) {
	case 0xd0:
		/* Loads have unit masks 0x11, 0x21, 0x41, 0x81; stores 0x12, 0x22, 0x42, 0x82. */
		if ((umask & 0xf) == 1)
			return EVENT_LOAD;
		return (umask & 0xf) == 2 ? EVENT_STORE : 0;
	case 0xd1 ... 0xd3:
		return EVENT_LOAD;
	case 0xd4:
		return uarch > UARCH_SKYLAKE ? EVENT_LOAD : 0;
	default:
		return 0;
	}
}

/* Sample fields that a record has, or that do not change until the task is scheduled out */
#define LARGE_SAMPLE		(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |		\
				 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |	\
				 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_IDENTIFIER | \
				 PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC |		\
				 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR |		\
				 PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE |		\
				 PERF_SAMPLE_CODE_PAGE_SIZE)

/* Records do not have the segment registers. */
#define SEGMENT_REGS	(BIT_ULL(PERF_REG_X86_CS) | BIT_ULL(PERF_REG_X86_SS) |			\
			 BIT_ULL(PERF_REG_X86_DS) | BIT_ULL(PERF_REG_X86_ES) |			\
			 BIT_ULL(PERF_REG_X86_FS) | BIT_ULL(PERF_REG_X86_GS))

/* Check whether the event needs a group that CPUID does not list (architectural PEBS). */
static bool lacks_group(const struct x86_desc *desc, const struct perf_event *event)
{
	return desc->pebs_format == PEBS_FORMAT_ARCH &&
	       (x86_pebs_arch_groups(x86_pebs_data(event)) & ~desc->pebs_groups);
}

/*
 * Return the sample fields that records can have on this CPU. Without branches in records a sample
 * shows the LBR at the interrupt, and without counter values the counts at the interrupt: both
 * exclude large PEBS.
 */
static u64 in_records(const struct x86_desc *desc)
{
	return (desc->pebs_branches ? PERF_SAMPLE_BRANCH_STACK : 0) |
	       (desc->pebs_recorded ? PERF_SAMPLE_READ : 0);
}

/* Large PEBS is not allowed for a frequency, or if the reader is woken for each sample. */
static bool allows_large(const struct x86_desc *desc, const struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	return !attr->freq && !(attr->wakeup_events && !attr->watermark) && !attr->use_clockid &&
	       !attr->sigtrap &&
	       !(attr->sample_type & ~(LARGE_SAMPLE | in_records(desc))) &&
	       !(attr->sample_regs_intr & SEGMENT_REGS) && corepmu_precise_allows_large(event);
}

/**
 * x86_pebs_encode() - set up an event with attr.precise_ip for PEBS
 * @desc: the PMU description
 * @event: event that has passed corepmu_precise_check(), with hw_perf_event.config and
 *	config_base set
 *
 * Process context.
 *
 * Return: 0, or an errno after corepmu_refuse()
 */
int x86_pebs_encode(const struct x86_desc *desc, struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	struct hw_perf_event *hwc = &event->hw;
	u64 config = hwc->config_base & desc->config_known;
	int ret;

	/* An inherited event gets no records either, like its parent: fork(2) must not fail. */
	if (!event->parent && !x86_pebs_avoids_guests && x86_may_run_guests())
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u and must be 0 while KVM owns the CPU: records would %s guests; unload KVM, or boot with kvm.enable_virt_at_load=0",
				      attr->precise_ip,
				      desc->pebs_format == PEBS_FORMAT_ARCH ?
				      "show instructions of" : "be written into");
	if (config & EVNTSEL_ANY)
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u, config %#llx: any=1 cannot be precise; leave out one of them",
				      attr->precise_ip, attr->config);
	/* hsw_hw_config() in arch/x86/events/intel/core.c */
	if (config & (EVNTSEL_IN_TX | EVNTSEL_IN_TX_CP))
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u, config %#llx: in_tx and in_tx_cp cannot be precise; leave out one of them",
				      attr->precise_ip, attr->config);
	if (code_of(config) == EVENT_SLOTS || (hwc->flags & COREPMU_EVENT_TOPDOWN))
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u: slots and topdown metrics cannot be precise; use precise_ip 0",
				      attr->precise_ip);

	corepmu_hw_set_counters(hwc, precise_counters(desc, attr, config,
						      corepmu_hw_counters(hwc)));
	if (!corepmu_hw_counters(hwc))
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u, config %#llx: no counter that can count the event supports this precise_ip; try a lower one",
				      attr->precise_ip, attr->config);

	if (lacks_group(desc, event))
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u, sample_type %#llx: the CPU's PEBS records lack a field of this sample_type; leave it out (--data, --weight, -d)",
				      attr->precise_ip, attr->sample_type);

	/* The PMI comes from the records, not from the overflow. */
	hwc->config_base &= ~EVNTSEL_INT;
	if (desc->pebs_all && desc->pebs_format != PEBS_FORMAT_ARCH)
		hwc->config_base |= EVNTSEL_ADAPTIVE;
	hwc->flags |= COREPMU_EVENT_PRECISE | data_flags(desc, config);
	ret = x86_pebs_encode_latency(desc, event, config);
	if (ret)
		return ret;
	if (allows_large(desc, event)) {
		hwc->flags |= COREPMU_EVENT_LARGE;
		event->attach_state |= PERF_ATTACH_SCHED_CB;
	}

	return 0;
}

/* Sample fields that come from the group with the memory address */
#define SAMPLE_MEMINFO	(PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR |	\
			 PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_TRANSACTION |			\
			 PERF_SAMPLE_DATA_PAGE_SIZE)

/*
 * Check whether records can have the registers that SAMPLE_USER_REGS needs. Architectural records
 * may lack them: the sample then shows the interrupt's registers.
 */
static bool has_user_regs(const struct perf_event *event)
{
	const struct x86_desc *desc = to_x86(to_corepmu(event->pmu));

	return desc->pebs_format != PEBS_FORMAT_ARCH || (desc->pebs_groups & PEBS_ARCH_GPR);
}

/**
 * x86_pebs_data() - return the record groups that an event needs, from format 4 on
 * @event: a precise event
 *
 * Return: bits of IA32_PEBS_DATA_CFG
 */
u64 x86_pebs_data(const struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	struct corepmu *pmu = to_corepmu(event->pmu);
	u64 type = attr->sample_type, data = 0;

	if (type & SAMPLE_MEMINFO)
		data |= PEBS_DATA_MEMINFO;
	/* The next instruction's address and an abort's code are in the register group. */
	if ((type & (PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_TRANSACTION)) || attr->precise_ip < 2)
		data |= PEBS_DATA_GPRS;
	if ((type & SAMPLE_USER_REGS) && has_user_regs(event))
		data |= PEBS_DATA_GPRS;
	if ((type & PERF_SAMPLE_REGS_INTR) && (attr->sample_regs_intr & PERF_REG_EXTENDED_MASK))
		data |= PEBS_DATA_XMMS;
	if ((type & PERF_SAMPLE_BRANCH_STACK) && to_x86(pmu)->pebs_branches)
		data |= PEBS_DATA_LBRS | FIELD_PREP(PEBS_DATA_NR_LBRS, pmu->nr_branches - 1);

	return data;
}

/**
 * x86_pebs_source() - convert a record's data source for perf
 * @desc: the PMU description
 * @event: the event
 * @source: encoded data source of the record
 *
 * For loads and stores of event 0xd0 and up, only bit 0 is meaningful, and only for stores: bit 0
 * tells whether the store hit the L1 cache (precise_datala_hsw() in arch/x86/events/intel/ds.c).
 *
 * Return: perf_mem_data_src
 */
u64 x86_pebs_source(const struct x86_desc *desc, const struct perf_event *event, u64 source)
{
	union perf_mem_data_src data = { .val = PERF_MEM_NA };

	if (event->hw.flags & (EVENT_LATENCY | EVENT_STORE_LATENCY))
		return x86_pebs_latency_source(desc, event, source);
	if (event->hw.flags & EVENT_LOAD)
		data.mem_op = PERF_MEM_OP_LOAD;
	if (event->hw.flags & EVENT_STORE) {
		data.mem_op = PERF_MEM_OP_STORE;
		data.mem_lvl = PERF_MEM_LVL_L1 |
			       (source & BIT(0) ? PERF_MEM_LVL_HIT : PERF_MEM_LVL_MISS);
	}

	return data.val;
}
