// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: events of Intel's CPUs that count what a second register says
 *
 * MSR_OFFCORE_RSP_0 and 1 say which requests to count by their responses, MSR_PEBS_FRONTEND
 * which trouble of the front end. Each is one for a thread. Events with the same value share
 * it, others take turns; there are two registers of the first sort, each with an event number of
 * its own, and an event goes to the one that is left (intel_alt_er() in
 * arch/x86/events/intel/core.c, and likewise in the order in which events come).
 *
 * From Coyote Cove and Arctic Wolf on MSR_OMR_0 to 3 take the place of the former ("off-module
 * response"). A bit of the unit mask says which of them: several of an event would be counted
 * together, none counts nothing. On the cores all are alike, and intel_fixup_er() there gives an
 * event the bit of another one. On Arctic Wolf each has a counter of its own
 * (intel_arw_event_constraints), which is chosen later: an event keeps its register.
 *
 * A register has its value from when the first event that needs it is placed on the CPU, while the
 * PMU stands still, and nobody else writes it while there is one: beside the built-in driver that
 * one has no events then.
 *
 * Events and registers are those of perf's events ("MSRIndex" in tools/perf/pmu-events/arch/x86),
 * their bits those of the SDM, volume 3, "Off-core Response Performance Monitoring" of each
 * microarchitecture, and table "MSR_PEBS_FRONTEND".
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include <corepmu/pmu.h>

#include "intel.h"
#include "../msr.h"
#include "../x86.h"

enum second {
	RSP_0,
	RSP_1,
	FRONTEND,
	OMR_0,
	OMR_1,
	OMR_2,
	OMR_3,
	NR_SECOND,
};

static_assert(NR_SECOND <= COREPMU_MAX_SECOND);

static const u32 second_msrs[NR_SECOND] = {
	[RSP_0]		= MSR_OFFCORE_RSP_0,
	[RSP_1]		= MSR_OFFCORE_RSP_1,
	[FRONTEND]	= MSR_PEBS_FRONTEND,
	[OMR_0]		= MSR_OMR_0,
	[OMR_1]		= MSR_OMR_1,
	[OMR_2]		= MSR_OMR_2,
	[OMR_3]		= MSR_OMR_3,
};

#define NHM	BIT(UARCH_NEHALEM)
#define WSM	BIT(UARCH_WESTMERE)
#define SNB	(BIT(UARCH_SANDY_BRIDGE) | BIT(UARCH_IVY_BRIDGE))
#define HSW	BIT(UARCH_HASWELL)
#define BDW	BIT(UARCH_BROADWELL)
#define SKL	BIT(UARCH_SKYLAKE)
#define ICL	BIT(UARCH_ICE_LAKE)
#define GLC	BIT(UARCH_GOLDEN_COVE)
#define RWC	BIT(UARCH_REDWOOD_COVE)
#define LNC	BIT(UARCH_LION_COVE)
#define PNC	(BIT(UARCH_COYOTE_COVE) | BIT(UARCH_PANTHER_COVE))
#define SLM	BIT(UARCH_SILVERMONT)
#define KNL	BIT(UARCH_KNIGHTS_LANDING)
#define GLM	(BIT(UARCH_GOLDMONT) | BIT(UARCH_GOLDMONT_PLUS))
#define TNT	BIT(UARCH_TREMONT)
#define GRT	BIT(UARCH_GRACEMONT)
#define CMT	(BIT(UARCH_CRESTMONT) | BIT(UARCH_SKYMONT))
#define ARW	BIT(UARCH_ARCTIC_WOLF)

/*
 * Requests; any response, suppliers of the data and what the snoop said. Of Sandy Bridge and
 * Ivy Bridge those of clients have no remote suppliers.
 */
#define SNB_BITS	(GENMASK_ULL(11, 0) | GENMASK_ULL(37, 15))
#define ICL_BITS	(GENMASK_ULL(13, 0) | GENMASK_ULL(37, 15))
#define GLC_BITS	GENMASK_ULL(37, 0)
#define LNC_BITS	GENMASK_ULL(43, 0)
#define REMOTE		GENMASK_ULL(30, 23)
/* The atoms' are those of the kernel. Their first register has a bit for outstanding requests. */
#define SLM_BITS	(GENMASK_ULL(16, 0) | BIT_ULL(18) | BIT_ULL(31) | GENMASK_ULL(34, 33) | \
			 GENMASK_ULL(37, 36))
#define GLM_BITS	(SLM_BITS & ~(BIT_ULL(6) | BIT_ULL(31)))
#define SLM_OUTSTANDING	BIT_ULL(38)
#define KNL_BITS	(GENMASK_ULL(2, 0) | GENMASK_ULL(17, 5) | GENMASK_ULL(28, 19) | \
			 GENMASK_ULL(32, 31) | GENMASK_ULL(37, 35))
#define KNL_OTHER	(BIT_ULL(8) | BIT_ULL(11) | BIT_ULL(14))
#define TNT_BITS	(GENMASK_ULL(12, 0) | GENMASK_ULL(39, 15) | GENMASK_ULL(51, 44))
#define CMT_BITS	(GENMASK_ULL(41, 0) | GENMASK_ULL(51, 44))
#define TNT_OUTSTANDING	BIT_ULL(63)

/* Requests, responses and where they are from: intel_pnc_ and intel_arw_extra_regs of the kernel */
#define PNC_OMR_BITS	(GENMASK_ULL(15, 0) | GENMASK_ULL(55, 32) | BIT_ULL(62))
#define ARW_OMR_BITS	(GENMASK_ULL(55, 0) | GENMASK_ULL(63, 62))

/* Event, latency (bits 19-8) and bubbles (22-20) */
#define FRONTEND_BITS	(GENMASK_ULL(22, 8) | BIT_ULL(4) | GENMASK_ULL(2, 0))
#define FRONTEND_MS	BIT_ULL(3)

/**
 * struct second_event - an event with a second register
 * @uarches: of which microarchitectures
 * @code: unit mask and event
 * @reg: the register
 * @bits: those of it that mean something
 */
struct second_event {
	u32		uarches;
	u16		code;
	u8		reg;
	u64		bits;
};

static const struct second_event second_events[] = {
	/* OFFCORE_RESPONSE, OCR */
	{ NHM | WSM, 0x01b7, RSP_0, GENMASK_ULL(15, 0) },
	{ WSM, 0x01bb, RSP_1, GENMASK_ULL(15, 0) },
	{ SNB | HSW | BDW | SKL, 0x01b7, RSP_0, SNB_BITS },
	{ SNB | HSW | BDW | SKL, 0x01bb, RSP_1, SNB_BITS },
	{ ICL, 0x01b7, RSP_0, ICL_BITS },
	{ ICL, 0x01bb, RSP_1, ICL_BITS },
	{ GLC | RWC, 0x012a, RSP_0, GLC_BITS },
	{ GLC | RWC, 0x012b, RSP_1, GLC_BITS },
	{ LNC, 0x012a, RSP_0, LNC_BITS },
	{ LNC, 0x012b, RSP_1, LNC_BITS },
	{ SLM, 0x01b7, RSP_0, SLM_BITS | SLM_OUTSTANDING },
	{ SLM, 0x02b7, RSP_1, SLM_BITS },
	{ KNL, 0x01b7, RSP_0, (KNL_BITS & ~KNL_OTHER) | SLM_OUTSTANDING },
	{ KNL, 0x02b7, RSP_1, KNL_BITS },
	{ GLM, 0x01b7, RSP_0, GLM_BITS | SLM_OUTSTANDING },
	{ GLM, 0x02b7, RSP_1, GLM_BITS },
	{ TNT, 0x01b7, RSP_0, TNT_BITS | TNT_OUTSTANDING },
	{ TNT, 0x02b7, RSP_1, TNT_BITS },
	{ GRT, 0x01b7, RSP_0, GLC_BITS },
	{ GRT, 0x02b7, RSP_1, GLC_BITS },
	{ CMT, 0x01b7, RSP_0, CMT_BITS | TNT_OUTSTANDING },
	{ CMT, 0x02b7, RSP_1, CMT_BITS },
	/* OMR; the second of the cores has no name, the third is MEM_LOAD_L2_MISS_RETIRED */
	{ PNC, 0x012a, OMR_0, PNC_OMR_BITS },
	{ PNC, 0x022a, OMR_1, PNC_OMR_BITS },
	{ PNC, 0x042a, OMR_2, PNC_OMR_BITS },
	{ PNC, 0x082a, OMR_3, PNC_OMR_BITS },
	{ PNC, 0x014f, OMR_0, PNC_OMR_BITS },
	{ PNC, 0x024f, OMR_1, PNC_OMR_BITS },
	{ PNC, 0x044f, OMR_2, PNC_OMR_BITS },
	{ PNC, 0x084f, OMR_3, PNC_OMR_BITS },
	{ PNC, 0x01d6, OMR_0, PNC_OMR_BITS },
	{ PNC, 0x02d6, OMR_1, PNC_OMR_BITS },
	{ PNC, 0x04d6, OMR_2, PNC_OMR_BITS },
	{ PNC, 0x08d6, OMR_3, PNC_OMR_BITS },
	{ ARW, 0x01b7, OMR_0, ARW_OMR_BITS },
	{ ARW, 0x02b7, OMR_1, ARW_OMR_BITS },
	{ ARW, 0x04b7, OMR_2, ARW_OMR_BITS },
	{ ARW, 0x08b7, OMR_3, ARW_OMR_BITS },
	/* FRONTEND_RETIRED, INT_MISC.UNKNOWN_BRANCH_CYCLES, UOPS_RETIRED.MS */
	{ SKL | ICL, 0x01c6, FRONTEND, FRONTEND_BITS },
	{ GLC, 0x01c6, FRONTEND, FRONTEND_BITS | FRONTEND_MS },
	{ RWC | LNC | PNC, 0x02c6, FRONTEND, FRONTEND_MS | BIT_ULL(0) },
	{ RWC | LNC | PNC, 0x03c6, FRONTEND, FRONTEND_BITS | FRONTEND_MS },
	{ GLC | RWC, 0x40ad, FRONTEND, GENMASK_ULL(2, 0) },
	{ LNC | PNC, 0x40ad, FRONTEND, GENMASK_ULL(3, 0) },
	{ GLC | RWC | LNC | PNC, 0x04c2, FRONTEND, FRONTEND_MS },
};

static u32 own_bit(const struct x86_desc *desc)
{
	return desc->uarch ? BIT(desc->uarch - intel_uarches) : 0;
}

static const struct second_event *find_event(const struct x86_desc *desc, u64 config)
{
	u16 code = config & (EVNTSEL_EVENT | EVNTSEL_UMASK);
	const struct second_event *event;

	/* All of them are: intel_list_second(). */
	if (!intel_is_listed(desc, config))
		return NULL;
	for (event = second_events; event < second_events + ARRAY_SIZE(second_events); event++)
		if ((event->uarches & own_bit(desc)) && event->code == code)
			return event;

	return NULL;
}

static const struct second_event *find_register(const struct x86_desc *desc, unsigned int reg)
{
	const struct second_event *event;

	for (event = second_events; event < second_events + ARRAY_SIZE(second_events); event++)
		if ((event->uarches & own_bit(desc)) && event->reg == reg)
			return event;

	return NULL;
}

static bool is_omr(unsigned int reg)
{
	return reg >= OMR_0 && reg <= OMR_3;
}

/* The event that counts the same with another register, or NULL */
static const struct second_event *find_same(const struct x86_desc *desc, u64 config,
					    unsigned int reg)
{
	const struct second_event *event = find_register(desc, reg);

	/* Of OMR there are several events, which the unit mask does not tell apart. */
	if (is_omr(reg))
		event = find_event(desc, (config & EVNTSEL_EVENT) | (event->code & EVNTSEL_UMASK));

	return event;
}

/* Those of clients (arch/x86/include/asm/intel-family.h) */
#define MODEL_SANDY_BRIDGE	0x2a
#define MODEL_IVY_BRIDGE	0x3a

static u64 bits_of(const struct second_event *event)
{
	if ((event->uarches & SNB) && (intel_p6_model() == MODEL_SANDY_BRIDGE ||
				       intel_p6_model() == MODEL_IVY_BRIDGE))
		return event->bits & ~REMOTE;

	return event->bits;
}

/*
 * Nehalem's and Westmere's registers are those of both threads of a core, Silvermont's those of
 * both cores of a module: "each MSR_OFFCORE_RSPx is shared by two processor cores" (SDM volume 3,
 * "Offcore Response Event" of the Silvermont microarchitecture).
 */
static bool is_shared(const struct x86_desc *desc)
{
	return ((own_bit(desc) & (NHM | WSM)) && x86_has_threads()) ||
	       ((own_bit(desc) & SLM) && x86_has_cores());
}

/**
 * intel_describe_second() - which of the second registers are there
 * @desc: the counters, which have been reserved
 *
 * A hypervisor may keep them (KVM does), and there #GP is what comes of a write. They are the same
 * on all CPUs of a kind. Process context.
 */
void intel_describe_second(struct x86_desc *desc)
{
	unsigned int reg;

	for (reg = 0; reg < NR_SECOND; reg++) {
		const struct second_event *event = find_register(desc, reg);

		if (event && x86_keeps(second_msrs[reg], event->bits & -event->bits))
			desc->second |= BIT(reg);
	}
}

/**
 * intel_list_second() - the events of this microarchitecture that have a second register
 * @desc: the counters, being described
 */
void intel_list_second(struct x86_desc *desc)
{
	const struct second_event *event;

	for (event = second_events; event < second_events + ARRAY_SIZE(second_events); event++)
		if (event->uarches & own_bit(desc))
			intel_list(desc, event->code);
}

/**
 * intel_refuse_second() - refuse what counts several second registers at once, or none
 * @desc: the counters
 * @config: the event
 *
 * Process context.
 *
 * Return: 0, or -EOPNOTSUPP after saying why
 */
int intel_refuse_second(const struct x86_desc *desc, u64 config)
{
	const struct second_event *event;

	if (!(own_bit(desc) & (PNC | ARW)) || find_event(desc, config))
		return 0;
	for (event = second_events; event < second_events + ARRAY_SIZE(second_events); event++)
		if ((event->uarches & own_bit(desc)) && is_omr(event->reg) &&
		    !((event->code ^ config) & EVNTSEL_EVENT))
			return corepmu_refuse(-EOPNOTSUPP,
					      "config %#llx: the unit mask of this event has to name one of the registers MSR_OMR_0 to 3: 1, 2, 4 or 8",
					      config);

	return 0;
}

/**
 * intel_has_second() - does an event have a second register?
 * @desc: the counters
 * @config: the event
 *
 * Return: whether it has, be the register there or not
 */
bool intel_has_second(const struct x86_desc *desc, u64 config)
{
	return find_event(desc, config);
}

/**
 * intel_has_offcore() - are there events with MSR_OFFCORE_RSP_0?
 * @desc: the counters
 *
 * Return: whether there are, be the register there or not
 */
bool intel_has_offcore(const struct x86_desc *desc)
{
	return find_register(desc, RSP_0);
}

/**
 * intel_has_omr() - are there events with MSR_OMR_0?
 * @desc: the counters
 *
 * Return: likewise
 */
bool intel_has_omr(const struct x86_desc *desc)
{
	return find_register(desc, OMR_0);
}

/**
 * intel_has_frontend() - are there events with MSR_PEBS_FRONTEND?
 * @desc: the counters
 *
 * Return: likewise
 */
bool intel_has_frontend(const struct x86_desc *desc)
{
	return find_register(desc, FRONTEND);
}

/**
 * intel_second_cache() - the event for a PERF_TYPE_HW_CACHE event that has a second register
 * @desc: the counters
 * @generic: cache, operation << 8, result << 16
 * @value: filled in with the value of that one
 *
 * Return: event and unit mask, or 0 if there is no such event, or no register
 */
u64 intel_second_cache(const struct x86_desc *desc, u64 generic, u64 *value)
{
	unsigned int reg = intel_has_omr(desc) ? OMR_0 : RSP_0;
	const struct second_event *event;

	event = find_register(desc, reg + intel_second_cache_register(desc->uarch, generic));
	if (!event || !(desc->second & BIT(event->reg)) || is_shared(desc))
		return 0;

	if (!intel_second_cache_value(desc->uarch, generic, value))
		return 0;
	*value &= bits_of(event);

	return event->code;
}

/**
 * intel_second_encode() - have an event use its second register
 * @desc: the counters
 * @event: the event
 * @config: what it counts
 * @value: what the second register is to hold
 *
 * Process context.
 *
 * Return: 0, also for events that have none; or an errno after saying why it cannot be: those of
 * the built-in driver, x86_pmu_extra_regs() in arch/x86/events/core.c
 */
int intel_second_encode(const struct x86_desc *desc, struct perf_event *event, u64 config,
			u64 value)
{
	const struct second_event *second = find_event(desc, config);
	struct hw_perf_event_extra *reg = &event->hw.extra_reg;

	if (!second)
		return 0;
	if (value & ~bits_of(second))
		return corepmu_refuse(-EINVAL,
				      "config %#llx: its second register has not all of the bits of config1, %#llx: %#llx is too much",
				      config, value, value & ~bits_of(second));
	if (!(desc->second & BIT(second->reg)))
		return corepmu_refuse(-ENXIO,
				      "config %#llx: its second register, MSR %#x, is not there: is it kept from this virtual machine?",
				      config, second_msrs[second->reg]);
	if (is_shared(desc))
		return corepmu_refuse(-EOPNOTSUPP,
				      "config %#llx: its second register is that of %s, too",
				      config,
				      own_bit(desc) & SLM ? "the module's other core" :
				      "the core's other hyperthread");

	reg->idx = second->reg;
	reg->reg = second_msrs[second->reg];
	reg->config = value;
	event->hw.flags |= COREPMU_EVENT_SECOND;

	return 0;
}

/*
 * Does an event count the same with @other as with @reg? On Westmere perf's events have counter 2
 * alone for one of the two numbers, and on Arctic Wolf each has a counter of its own.
 */
static bool is_alike(const struct x86_desc *desc, unsigned int reg, unsigned int other, u64 value)
{
	const struct second_event *event = find_register(desc, other);

	if (!event || (own_bit(desc) & (WSM | ARW)) || reg == FRONTEND || other == FRONTEND ||
	    is_omr(reg) != is_omr(other))
		return false;

	return (desc->second & BIT(other)) && !(value & ~bits_of(event));
}

/* With @held a register that other events have with the same value, otherwise one that none has */
static bool is_free(const struct corepmu_second *second, unsigned int reg, u64 value, bool held)
{
	return held ? second[reg].users && second[reg].value == value : !second[reg].users;
}

static int find_free(const struct x86_desc *desc, const struct corepmu_second *second,
		     const struct perf_event *event, bool held)
{
	unsigned int own = event->hw.extra_reg.idx, reg;
	u64 value = event->hw.extra_reg.config;

	if (is_free(second, own, value, held))
		return own;
	for (reg = 0; reg < NR_SECOND; reg++)
		if (is_free(second, reg, value, held) && is_alike(desc, own, reg, value))
			return reg;

	return -EAGAIN;
}

/**
 * x86_second_choose() - the backend's second_choose()
 * @pmu: the PMU
 * @second: what the registers hold
 * @event: an event with COREPMU_EVENT_SECOND
 *
 * Any context.
 *
 * Return: the register for it, or -EAGAIN while others have it
 */
int x86_second_choose(struct corepmu *pmu, const struct corepmu_second *second,
		      const struct perf_event *event)
{
	const struct x86_desc *desc = to_x86(pmu);
	int reg;

	/* A core's other thread, or another core, may have come since the event was opened. */
	if (is_shared(desc))
		return -EAGAIN;
	reg = find_free(desc, second, event, true);

	return reg >= 0 ? reg : find_free(desc, second, event, false);
}

/**
 * x86_second_use() - the backend's second_use()
 * @pmu: the PMU
 * @event: an event that is about to be placed
 * @reg: the register for it, from x86_second_choose()
 *
 * IRQs off.
 */
void x86_second_use(struct corepmu *pmu, struct perf_event *event, int reg)
{
	struct hw_perf_event *hwc = &event->hw;
	u16 code;

	if (hwc->extra_reg.idx == reg)
		return;

	code = find_same(to_x86(pmu), hwc->config_base, reg)->code;
	hwc->config_base &= ~(EVNTSEL_EVENT | EVNTSEL_UMASK);
	hwc->config_base |= code;
	hwc->extra_reg.idx = reg;
	hwc->extra_reg.reg = second_msrs[reg];
}

/**
 * x86_second_write() - the backend's second_write()
 * @cpuc: this CPU's state
 * @reg: the register
 *
 * IRQs off, and the PMU stopped.
 */
void x86_second_write(struct corepmu_cpu *cpuc, int reg)
{
	x86_write_msr(second_msrs[reg], cpuc->second[reg].value);
}
