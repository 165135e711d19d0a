// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: precise events of Intel's CPUs: what counts them, and what their records are of
 *
 * Before Ice Lake, records are of general-purpose counters 0 to 3 and of some events; the kernel
 * takes all events but those that it knows better of (intel_skl_pebs_event_constraints in
 * arch/x86/events/intel/ds.c), and so does this. Cycles are none of them: counted are those in
 * which fewer than 16 instructions retire, which are all. From Ice Lake on they are of
 * all counters and events (PERF_CAPABILITIES, "PEBS baseline"). Of architectural records CPUID
 * tells the counters.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/perf_regs.h>

#include <corepmu/pmu.h>

#include "../intel/intel.h"
#include "../msr.h"
#include "pebs.h"
#include "../x86.h"

#define EVENT_CYCLES		0x003c
#define EVENT_PREC_DIST		0x01c0
/* OCR.*, off-core responses */
#define EVENT_OCR_0		0x012a
#define EVENT_OCR_1		0x012b
/* INST_RETIRED.ANY and .PREC_DIST, inverted, at least 16: every cycle */
#define ALL_CYCLES		(EVNTSEL_INV | FIELD_PREP(EVNTSEL_CMASK, 16))

/* What changes how an event is counted */
#define MODIFIERS		(EVNTSEL_EDGE | EVNTSEL_INV | EVNTSEL_CMASK | EVNTSEL_ANY |	\
				 EVNTSEL_IN_TX | EVNTSEL_IN_TX_CP)

#define SKYLAKE_COUNTERS	GENMASK_ULL(3, 0)
#define GOLDMONT_COUNTERS	BIT_ULL(0)
/* ":ppp means to do reduced skid PEBS which is PMC0 only" */
#define GOLDMONT_PLUS_MOST_PRECISE BIT_ULL(0)
/* Those of Golden to Lion Cove that have all that a record of instructions may have */
#define INSTRUCTION_COUNTERS	GENMASK_ULL(7, 1)
#define FIXED_INSTRUCTIONS	BIT_ULL(FIXED_COUNTER_BASE)

/* Most precise is what attr.precise_ip 3 stands for: the hardware's "precise distribution". */
#define MOST_PRECISE		3

static enum intel_uarch_id uarch_of(const struct x86_desc *desc)
{
	return desc->uarch ? desc->uarch - intel_uarches : NR_UARCHES;
}

static u16 code_of(u64 config)
{
	return config & (EVNTSEL_EVENT | EVNTSEL_UMASK);
}

/**
 * x86_pebs_config() - the event that stands for another one when it is to be precise
 * @desc: the counters
 * @attr: what was asked for
 * @config: the event
 *
 * Return: the event to count
 */
u64 x86_pebs_config(const struct x86_desc *desc, const struct perf_event_attr *attr, u64 config)
{
	if (!attr->precise_ip || desc->pebs_all || uarch_of(desc) != UARCH_SKYLAKE ||
	    config != EVENT_CYCLES)
		return config;

	if (attr->precise_ip == MOST_PRECISE)
		return ALL_CYCLES | EVENT_PREC_DIST;

	return ALL_CYCLES | EVENT_INSTRUCTIONS;
}

/*
 * Which of the counters that count an event can be most precise: tnt_, icl_, glc_ and
 * cmt_get_event_constraints() in arch/x86/events/intel/core.c.
 */
static u64 most_precise(const struct x86_desc *desc, u64 config, u64 counters)
{
	/* With an edge or a mask it is an event that the fixed counter has not. */
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
		 * masks, edges or masks.
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
 * Before Ice Lake records are of events as they are: with an edge or a mask of all cycles alone,
 * and on Skylake alone ("Allow all events as PEBS with no flags"). Goldmont Plus:
 * glp_get_event_constraints() in arch/x86/events/intel/core.c
 */
static u64 basic_counters(const struct x86_desc *desc, unsigned int precise, u64 config,
			  u64 counters)
{
	if (uarch_of(desc) == UARCH_GOLDMONT)
		return config & MODIFIERS ? 0 : counters & GOLDMONT_COUNTERS;
	if (uarch_of(desc) == UARCH_GOLDMONT_PLUS && precise == MOST_PRECISE)
		counters &= GOLDMONT_PLUS_MOST_PRECISE;
	if ((config & MODIFIERS) && config != (ALL_CYCLES | EVENT_INSTRUCTIONS) &&
	    config != (ALL_CYCLES | EVENT_PREC_DIST))
		return 0;

	return counters & SKYLAKE_COUNTERS;
}

/* "Reload values" of precise distribution: glc_limit_period() in arch/x86/events/intel/core.c */
#define MIN_PERIOD_MOST_PRECISE	128

/**
 * x86_pebs_min_period() - the shortest period that an event may be sampled with
 * @desc: the counters
 * @attr: the event's
 *
 * From Golden Cove and Gracemont on, with the most precise samples.
 *
 * Return: events, 1 where any period will do
 */
unsigned int x86_pebs_min_period(const struct x86_desc *desc, const struct perf_event_attr *attr)
{
	if (attr->precise_ip == MOST_PRECISE && intel_since_alder_lake(desc->uarch))
		return MIN_PERIOD_MOST_PRECISE;

	return 1;
}

/*
 * Of events that are not to be most precise: intel_glc_ and intel_lnc_pebs_event_constraints. The
 * later ones, intel_pnc_ and intel_dkt_, are of loads and stores with a latency alone.
 */
static u64 less_precise(const struct x86_desc *desc, u64 config, u64 counters)
{
	switch (uarch_of(desc)) {
	case UARCH_GOLDEN_COVE:
	case UARCH_REDWOOD_COVE:
		/* Instructions are not on the most precise ones. */
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
 * Samples with a weight have how long an instruction took to retire: "The Retire Latency is not
 * supported by the fixed counter 0" (rwc_get_event_constraints() in arch/x86/events/intel/core.c,
 * which is of the cores of CPUs that have atoms, too: Granite Rapids, Redwood Cove as well, and
 * Diamond Rapids have glc_get_event_constraints()). Instructions that are most precise are on no
 * other.
 */
static bool lacks_retirement(const struct x86_desc *desc, const struct perf_event_attr *attr,
			     u64 config)
{
	if (!(attr->sample_type & PERF_SAMPLE_WEIGHT_TYPE) || config != EVENT_INSTRUCTIONS)
		return false;

	return uarch_of(desc) == UARCH_LION_COVE || uarch_of(desc) == UARCH_COYOTE_COVE ||
	       (uarch_of(desc) == UARCH_REDWOOD_COVE && intel_model_has_kinds());
}

/*
 * Where CPUID says which counters write architectural records, the microarchitecture's own
 * constraints hold, too: Panther Lake in intel_pmu_init(), arch/x86/events/intel/core.c.
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
 * Which events' records have a data source that says something: from Haswell on memory
 * instructions, 0xd0, and loads by where their data came from, 0xd1 and up
 * (intel_skl_ and intel_icl_pebs_event_constraints). The atoms' do not.
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
		/* 0x11, 0x21, 0x41, 0x81 of loads; 0x12, 0x22, 0x42, 0x82 of stores */
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

/* What a record has, or what does not change until the task leaves */
#define GATHERING_SAMPLE	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |		\
				 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |	\
				 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_IDENTIFIER | \
				 PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC |		\
				 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR |		\
				 PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE |		\
				 PERF_SAMPLE_CODE_PAGE_SIZE)

/* Segment registers are not in records. */
#define SEGMENT_REGS	(BIT_ULL(PERF_REG_X86_CS) | BIT_ULL(PERF_REG_X86_SS) |			\
			 BIT_ULL(PERF_REG_X86_DS) | BIT_ULL(PERF_REG_X86_ES) |			\
			 BIT_ULL(PERF_REG_X86_FS) | BIT_ULL(PERF_REG_X86_GS))

/* Architectural records have groups that CPUID tells of. */
static bool lacks_group(const struct x86_desc *desc, const struct perf_event *event)
{
	return desc->pebs_format == PEBS_FORMAT_ARCH &&
	       (x86_pebs_arch_groups(x86_pebs_data(event)) & ~desc->pebs_groups);
}

/* Where records have no branches, those of the interrupt are shown. */
static u64 in_records(const struct x86_desc *desc)
{
	return desc->pebs_branches ? PERF_SAMPLE_BRANCH_STACK : 0;
}

/* Whoever wants to be woken by each sample gets an interrupt each, and so does a frequency. */
static bool may_gather(const struct x86_desc *desc, const struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	return !attr->freq && !(attr->wakeup_events && !attr->watermark) && !attr->use_clockid &&
	       !attr->sigtrap &&
	       !(attr->sample_type & ~(GATHERING_SAMPLE | in_records(desc))) &&
	       !(attr->sample_regs_intr & SEGMENT_REGS) && corepmu_precise_may_gather(event);
}

/**
 * x86_pebs_encode() - have the event's samples made of records
 * @desc: the counters
 * @event: an event with attr.precise_ip, which corepmu_precise_check() has seen, and of which
 *	hw_perf_event.config and config_base are known
 *
 * Process context.
 *
 * Return: 0, or an errno after saying why this cannot be
 */
int x86_pebs_encode(const struct x86_desc *desc, struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	struct hw_perf_event *hwc = &event->hw;
	u64 config = hwc->config_base & desc->config_known;
	int ret;

	/* One that a task inherits has no records either, as its parent: fork(2) must not fail. */
	if (!event->parent && !x86_vmx_isolates && x86_may_run_guests())
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u and must be 0 while KVM owns the CPU: records would %s guests; unload KVM, or boot with kvm.enable_virt_at_load=0",
				      attr->precise_ip,
				      desc->pebs_format == PEBS_FORMAT_ARCH ?
				      "show instructions of" : "be written into");
	if (config & EVNTSEL_ANY)
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u, config %#llx: another hyperthread has no place to be precise about",
				      attr->precise_ip, attr->config);
	/* hsw_hw_config() in arch/x86/events/intel/core.c */
	if (config & (EVNTSEL_IN_TX | EVNTSEL_IN_TX_CP))
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u, config %#llx: there are no records of what is counted in transactions alone",
				      attr->precise_ip, attr->config);
	if (code_of(config) == EVENT_SLOTS || (hwc->flags & COREPMU_EVENT_TOPDOWN))
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u and must be 0: slots are of no instruction",
				      attr->precise_ip);

	corepmu_hw_set_counters(hwc, precise_counters(desc, attr, config,
						      corepmu_hw_counters(hwc)));
	if (!corepmu_hw_counters(hwc))
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u, config %#llx: no counter that counts it can be so precise",
				      attr->precise_ip, attr->config);

	if (lacks_group(desc, event))
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u, sample_type %#llx: this CPU's records do not have all that is asked for",
				      attr->precise_ip, attr->sample_type);

	/* Records interrupt, not overflows. */
	hwc->config_base &= ~EVNTSEL_INT;
	if (desc->pebs_all && desc->pebs_format != PEBS_FORMAT_ARCH)
		hwc->config_base |= EVNTSEL_ADAPTIVE;
	hwc->flags |= COREPMU_EVENT_PRECISE | data_flags(desc, config);
	ret = x86_pebs_encode_latency(desc, event, config);
	if (ret)
		return ret;
	if (may_gather(desc, event)) {
		hwc->flags |= COREPMU_EVENT_LARGE;
		event->attach_state |= PERF_ATTACH_SCHED_CB;
	}

	return 0;
}

/* Samples that show what the group with the memory address has */
#define SAMPLE_MEMINFO	(PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR |	\
			 PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_TRANSACTION |			\
			 PERF_SAMPLE_DATA_PAGE_SIZE)

/*
 * Registers that a sample does not show, but may be taken from a record: an architectural one may
 * have none, then they are those of the interrupt.
 */
static bool has_user_regs(const struct perf_event *event)
{
	const struct x86_desc *desc = to_x86(to_corepmu(event->pmu));

	return desc->pebs_format != PEBS_FORMAT_ARCH || (desc->pebs_groups & PEBS_ARCH_GPR);
}

/**
 * x86_pebs_data() - what the records of an event are to have, from format 4 on
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
	/* The next instruction's address, and the code of an abort, are registers. */
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
 * x86_pebs_source() - what perf calls the data source of a record
 * @desc: the counters
 * @event: the event
 * @source: the record's
 *
 * Of loads and stores that are counted by event 0xd0 and up only bit 0 says something, and of
 * stores alone: whether they hit the first cache (precise_datala_hsw() in
 * arch/x86/events/intel/ds.c).
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
