// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel extra registers: OFFCORE_RSP, OMR, SNOOP_RSP and FRONTEND
 *
 * Some events also need a value in an extra register. MSR_OFFCORE_RSP_0 and 1 select requests and
 * responses of the off-core events, MSR_PEBS_FRONTEND a kind of front-end stall. Each hyperthread
 * has its own registers. Events with the same value share a register; events with different values
 * take turns. An off-core event has one event code for each of the two OFFCORE_RSP registers, and
 * the driver may move the event to the free one, as intel_alt_er() in
 * arch/x86/events/intel/core.c does.
 *
 * From Coyote Cove and Arctic Wolf on, MSR_OMR_0 to 3 ("off-module response") replace OFFCORE_RSP.
 * A bit of the unit mask selects the register. With several bits an event counts the sum of several
 * registers, with none it counts nothing. On Coyote Cove the four registers are alike, and the
 * driver may change the event's bit, as intel_fixup_er() does. On Arctic Wolf each register belongs
 * to one counter (intel_arw_event_constraints). The counter is chosen later than the register, so
 * an event keeps its register.
 *
 * From Crestmont on, two events of the atoms count snoop responses, which MSR_SNOOP_RSP_0 and 1
 * select. The built-in driver keeps each event with its register; so does this driver.
 *
 * The driver writes a register when the first event that needs it is placed on the CPU, while the
 * PMU is stopped. The built-in driver, if present, has no events until the last such event has
 * gone, so it does not write the register.
 *
 * Events and registers are those of perf's lists ("MSRIndex" in tools/perf/pmu-events/arch/x86).
 * The valid bits are from the SDM, volume 3, "Off-core Response Performance Monitoring" of each
 * microarchitecture, and table "MSR_PEBS_FRONTEND".
 *
 * The driver takes a register that already has the value, then a free one. Without either, the
 * event waits. When a group is opened, the driver checks it in the same way, as if all registers
 * were free. On Westmere the event codes belong to different counters: an event keeps its register.
 * Event codes with a register that the driver cannot set are rejected on microarchitectures with
 * such a register and on unknown models (core.c). So 0x01cd is load latency on Sandy Bridge to
 * Panther Cove, but division cycles on atoms.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "uarch-bits.h"
#include "../msr.h"
#include "../x86.h"

enum intel_extra_reg {
	RSP_0,
	RSP_1,
	FRONTEND,
	OMR_0,
	OMR_1,
	OMR_2,
	OMR_3,
	SNOOP_0,
	SNOOP_1,
	NR_EXTRA_REGS,
};

static_assert(NR_EXTRA_REGS <= COREPMU_MAX_EXTRA_REGS);

static const u32 extra_reg_msrs[NR_EXTRA_REGS] = {
	[RSP_0]		= MSR_OFFCORE_RSP_0,
	[RSP_1]		= MSR_OFFCORE_RSP_1,
	[FRONTEND]	= MSR_PEBS_FRONTEND,
	[OMR_0]		= MSR_OMR_0,
	[OMR_1]		= MSR_OMR_1,
	[OMR_2]		= MSR_OMR_2,
	[OMR_3]		= MSR_OMR_3,
	[SNOOP_0]	= MSR_SNOOP_RSP_0,
	[SNOOP_1]	= MSR_SNOOP_RSP_1,
};

/*
 * Bits for requests, any response, suppliers of the data, and snoop results. The client models of
 * Sandy Bridge and Ivy Bridge lack the bits of remote suppliers (REMOTE).
 */
#define SNB_BITS	(GENMASK_ULL(11, 0) | GENMASK_ULL(37, 15))
#define ICL_BITS	(GENMASK_ULL(13, 0) | GENMASK_ULL(37, 15))
#define GLC_BITS	GENMASK_ULL(37, 0)
#define LNC_BITS	GENMASK_ULL(43, 0)
#define REMOTE		GENMASK_ULL(30, 23)
/* Atoms: the kernel's masks. Only OFFCORE_RSP_0 has a bit for outstanding requests. */
#define SLM_BITS	(GENMASK_ULL(16, 0) | BIT_ULL(18) | BIT_ULL(31) | GENMASK_ULL(34, 33) | \
			 GENMASK_ULL(37, 36))
#define GLM_BITS	(SLM_BITS & ~(BIT_ULL(6) | BIT_ULL(31)))
#define SLM_OUTSTANDING	BIT_ULL(38)
#define KNL_BITS	(GENMASK_ULL(2, 0) | GENMASK_ULL(17, 5) | GENMASK_ULL(28, 19) | \
			 GENMASK_ULL(32, 31) | GENMASK_ULL(37, 35))
#define KNL_OTHER	(BIT_ULL(8) | BIT_ULL(11) | BIT_ULL(14))
#define TNT_BITS	(GENMASK_ULL(12, 0) | GENMASK_ULL(39, 15) | GENMASK_ULL(51, 44))
/* intel_grt_extra_regs of Linux 7.3; earlier kernels have GLC_BITS */
#define GRT_BITS	(GENMASK_ULL(37, 0) | GENMASK_ULL(49, 44))
#define CMT_BITS	(GENMASK_ULL(41, 0) | GENMASK_ULL(51, 44))
#define TNT_OUTSTANDING	BIT_ULL(63)

/* Requests, responses and their sources: the kernel's intel_pnc_ and intel_arw_extra_regs */
#define PNC_OMR_BITS	(GENMASK_ULL(15, 0) | GENMASK_ULL(55, 32) | BIT_ULL(62))
#define ARW_OMR_BITS	(GENMASK_ULL(55, 0) | GENMASK_ULL(63, 62))

/* Bits for the event, the latency (19-8) and the bubbles (22-20) */
#define FRONTEND_BITS	(GENMASK_ULL(22, 8) | BIT_ULL(4) | GENMASK_ULL(2, 0))
#define FRONTEND_MS	BIT_ULL(3)

/**
 * struct extra_reg_event - an event that needs an extra register
 * @uarches: microarchitectures that have the event, a bit each
 * @code: unit mask and event
 * @reg: the extra register, enum intel_extra_reg
 * @bits: bits of the extra register that the CPU implements
 */
struct extra_reg_event {
	u32		uarches;
	u16		code;
	u8		reg;
	u64		bits;
};

static const struct extra_reg_event extra_reg_events[] = {
	/* OFFCORE_RESPONSE, OCR */
	{ NHM | WSM, 0x01b7, RSP_0, GENMASK_ULL(15, 0) },
	{ WSM, 0x01bb, RSP_1, GENMASK_ULL(15, 0) },
	{ SNB_IVB | HSW | BDW | SKL, 0x01b7, RSP_0, SNB_BITS },
	{ SNB_IVB | HSW | BDW | SKL, 0x01bb, RSP_1, SNB_BITS },
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
	{ GLM_GLP, 0x01b7, RSP_0, GLM_BITS | SLM_OUTSTANDING },
	{ GLM_GLP, 0x02b7, RSP_1, GLM_BITS },
	{ TNT, 0x01b7, RSP_0, TNT_BITS | TNT_OUTSTANDING },
	{ TNT, 0x02b7, RSP_1, TNT_BITS },
	{ GRT, 0x01b7, RSP_0, GRT_BITS | TNT_OUTSTANDING },
	{ GRT, 0x02b7, RSP_1, GRT_BITS },
	{ CMT_SKT, 0x01b7, RSP_0, CMT_BITS | TNT_OUTSTANDING },
	{ CMT_SKT, 0x02b7, RSP_1, CMT_BITS },
	/* OMR; the cores' second event has no name, their third is MEM_LOAD_L2_MISS_RETIRED */
	{ CYC_PNC, 0x012a, OMR_0, PNC_OMR_BITS },
	{ CYC_PNC, 0x022a, OMR_1, PNC_OMR_BITS },
	{ CYC_PNC, 0x042a, OMR_2, PNC_OMR_BITS },
	{ CYC_PNC, 0x082a, OMR_3, PNC_OMR_BITS },
	{ CYC_PNC, 0x014f, OMR_0, PNC_OMR_BITS },
	{ CYC_PNC, 0x024f, OMR_1, PNC_OMR_BITS },
	{ CYC_PNC, 0x044f, OMR_2, PNC_OMR_BITS },
	{ CYC_PNC, 0x084f, OMR_3, PNC_OMR_BITS },
	{ CYC_PNC, 0x01d6, OMR_0, PNC_OMR_BITS },
	{ CYC_PNC, 0x02d6, OMR_1, PNC_OMR_BITS },
	{ CYC_PNC, 0x04d6, OMR_2, PNC_OMR_BITS },
	{ CYC_PNC, 0x08d6, OMR_3, PNC_OMR_BITS },
	{ ARW, 0x01b7, OMR_0, ARW_OMR_BITS },
	{ ARW, 0x02b7, OMR_1, ARW_OMR_BITS },
	{ ARW, 0x04b7, OMR_2, ARW_OMR_BITS },
	{ ARW, 0x08b7, OMR_3, ARW_OMR_BITS },
	/* Snoop responses: intel_cmt_extra_regs and intel_arw_extra_regs */
	{ CMT_SKT | ARW, 0x0127, SNOOP_0, GENMASK_ULL(63, 0) },
	{ CMT_SKT | ARW, 0x0227, SNOOP_1, GENMASK_ULL(63, 0) },
	/* FRONTEND_RETIRED, INT_MISC.UNKNOWN_BRANCH_CYCLES, UOPS_RETIRED.MS */
	{ SKL | ICL, 0x01c6, FRONTEND, FRONTEND_BITS },
	{ GLC, 0x01c6, FRONTEND, FRONTEND_BITS | FRONTEND_MS },
	{ RWC | LNC | CYC_PNC, 0x02c6, FRONTEND, FRONTEND_MS | BIT_ULL(0) },
	{ RWC | LNC | CYC_PNC, 0x03c6, FRONTEND, FRONTEND_BITS | FRONTEND_MS },
	{ GLC | RWC, 0x40ad, FRONTEND, GENMASK_ULL(2, 0) },
	{ LNC | CYC_PNC, 0x40ad, FRONTEND, GENMASK_ULL(3, 0) },
	{ GLC | RWC | LNC | CYC_PNC, 0x04c2, FRONTEND, FRONTEND_MS },
};

static __always_inline u32 uarch_bit(const struct x86_desc *desc)
{
	return desc->uarch ? BIT(desc->uarch - intel_uarches) : 0;
}

static const struct extra_reg_event *find_extra_reg_event(const struct x86_desc *desc, u64 config)
{
	u16 code = config & (EVNTSEL_EVENT | EVNTSEL_UMASK);
	const struct extra_reg_event *event;

	/* intel_list_extra_reg_events() has listed all codes of this table. */
	if (!intel_is_listed(desc, config))
		return NULL;
	for (event = extra_reg_events;
	     event < extra_reg_events + ARRAY_SIZE(extra_reg_events); event++)
		if ((event->uarches & uarch_bit(desc)) && event->code == code)
			return event;

	return NULL;
}

static const struct extra_reg_event *find_register(const struct x86_desc *desc, unsigned int reg)
{
	const struct extra_reg_event *event;

	for (event = extra_reg_events;
	     event < extra_reg_events + ARRAY_SIZE(extra_reg_events); event++)
		if ((event->uarches & uarch_bit(desc)) && event->reg == reg)
			return event;

	return NULL;
}

static bool is_offcore(unsigned int reg)
{
	return reg == RSP_0 || reg == RSP_1;
}

static bool is_omr(unsigned int reg)
{
	return reg >= OMR_0 && reg <= OMR_3;
}

/* Return the event that counts the same as @config with extra register @reg, or NULL. */
static const struct extra_reg_event *find_same(const struct x86_desc *desc, u64 config,
					       unsigned int reg)
{
	const struct extra_reg_event *event = find_register(desc, reg);

	/* Several events use OMR: keep the event, and take only the unit mask. */
	if (is_omr(reg))
		event = find_extra_reg_event(desc, (config & EVNTSEL_EVENT) |
					     (event->code & EVNTSEL_UMASK));

	return event;
}

/* Client models (arch/x86/include/asm/intel-family.h) */
#define MODEL_SANDY_BRIDGE	0x2a
#define MODEL_IVY_BRIDGE	0x3a

static u64 bits_of(const struct extra_reg_event *event)
{
	if ((event->uarches & SNB_IVB) && (intel_p6_model() == MODEL_SANDY_BRIDGE ||
					   intel_p6_model() == MODEL_IVY_BRIDGE))
		return event->bits & ~REMOTE;

	return event->bits;
}

/*
 * Check whether another CPU shares the OFFCORE_RSP registers: on Nehalem and Westmere the core's
 * other hyperthread, on Silvermont the module's other core. "each MSR_OFFCORE_RSPx is shared by two
 * processor cores" (SDM volume 3, "Offcore Response Event" of the Silvermont microarchitecture).
 */
static bool is_shared(const struct x86_desc *desc)
{
	return ((uarch_bit(desc) & (NHM | WSM)) && x86_has_threads()) ||
	       ((uarch_bit(desc) & SLM) && x86_has_cores());
}

/**
 * intel_describe_extra_regs() - find out which extra registers exist
 * @desc: the PMU description; its counters have been reserved
 *
 * A hypervisor may hide the registers (KVM does); a write then raises #GP. On a CPU of this CPU
 * type, IRQs off.
 */
void __corepmu_init intel_describe_extra_regs(struct x86_desc *desc)
{
	unsigned int reg;

	for (reg = 0; reg < NR_EXTRA_REGS; reg++) {
		const struct extra_reg_event *event = find_register(desc, reg);

		if (event && x86_msr_keeps(extra_reg_msrs[reg], event->bits & -event->bits))
			desc->extra_regs |= BIT(reg);
	}
}

/**
 * intel_list_extra_reg_events() - put the CPU's events with extra registers in desc->listed
 * @desc: the PMU description, being filled in
 */
void __corepmu_init intel_list_extra_reg_events(struct x86_desc *desc)
{
	const struct extra_reg_event *event;

	for (event = extra_reg_events;
	     event < extra_reg_events + ARRAY_SIZE(extra_reg_events); event++)
		if (event->uarches & uarch_bit(desc))
			intel_list(desc, event->code);
}

/**
 * intel_refuse_extra_reg() - reject OMR events whose unit mask does not select one OMR register
 * @desc: the PMU description
 * @config: event code
 *
 * Process context.
 *
 * Return: 0, or -EOPNOTSUPP after corepmu_refuse()
 */
int intel_refuse_extra_reg(const struct x86_desc *desc, u64 config)
{
	const struct extra_reg_event *event;

	if (!(uarch_bit(desc) & (CYC_PNC | ARW)) || find_extra_reg_event(desc, config))
		return 0;
	for (event = extra_reg_events;
	     event < extra_reg_events + ARRAY_SIZE(extra_reg_events); event++)
		if ((event->uarches & uarch_bit(desc)) && is_omr(event->reg) &&
		    !((event->code ^ config) & EVNTSEL_EVENT))
			return corepmu_refuse(-EOPNOTSUPP,
				      "config %#llx: the unit mask must select one of MSR_OMR_0 to 3: use 1, 2, 4 or 8",
					      config);

	return 0;
}

/**
 * intel_event_needs_extra_reg() - check whether an event needs an extra register
 * @desc: the PMU description
 * @config: event code
 *
 * Return: true if the event does, even if a hypervisor hides the register
 */
bool intel_event_needs_extra_reg(const struct x86_desc *desc, u64 config)
{
	return find_extra_reg_event(desc, config);
}

/**
 * intel_uarch_has_extra_reg() - check whether the microarchitecture's events use an extra register
 * @desc: the PMU description
 * @msr: the extra register, as MSR_OFFCORE_RSP_0
 *
 * Return: true if an event uses the register, even if a hypervisor hides it
 */
bool intel_uarch_has_extra_reg(const struct x86_desc *desc, u32 msr)
{
	unsigned int reg;

	for (reg = 0; reg < NR_EXTRA_REGS; reg++)
		if (extra_reg_msrs[reg] == msr)
			return find_register(desc, reg);

	return false;
}

/**
 * intel_extra_reg_cache() - map a PERF_TYPE_HW_CACHE event to an event with an extra register
 * @desc: the PMU description
 * @generic: cache, operation << 8, result << 16
 * @value: set to the value for the extra register
 *
 * Return: event and unit mask; 0 if there is no such event, or no register for this CPU alone
 */
u64 intel_extra_reg_cache(const struct x86_desc *desc, u64 generic, u64 *value)
{
	unsigned int reg = find_register(desc, OMR_0) ? OMR_0 : RSP_0;
	const struct extra_reg_event *event;

	event = find_register(desc, reg + intel_extra_reg_cache_register(desc->uarch, generic));
	if (!event || !(desc->extra_regs & BIT(event->reg)) || is_shared(desc))
		return 0;

	if (!intel_extra_reg_cache_value(desc->uarch, generic, value))
		return 0;
	*value &= bits_of(event);

	return event->code;
}

/**
 * intel_extra_reg_encode() - set up the extra register of an event that needs one
 * @desc: the PMU description
 * @event: the event
 * @config: event code
 * @value: value for the extra register
 *
 * Process context.
 *
 * Return: 0, also for events without an extra register; or an errno after corepmu_refuse(), the
 * same as the built-in driver's, x86_pmu_extra_regs() in arch/x86/events/core.c
 */
int intel_extra_reg_encode(const struct x86_desc *desc, struct perf_event *event, u64 config,
			   u64 value)
{
	const struct extra_reg_event *entry = find_extra_reg_event(desc, config);
	struct hw_perf_event_extra *reg = &event->hw.extra_reg;

	if (!entry)
		return 0;
	if (value & ~bits_of(entry))
		return corepmu_refuse(-EINVAL,
				      "config %#llx: config1 %#llx has bits that the extra register lacks: leave out %#llx",
				      config, value, value & ~bits_of(entry));
	if (!(desc->extra_regs & BIT(entry->reg)))
		return corepmu_refuse(-ENXIO,
				      "config %#llx: its extra register, MSR %#x, does not exist (hidden by the hypervisor?); count it on the host",
				      config, extra_reg_msrs[entry->reg]);
	/*
	 * The other CPU may have come online since a child's parent was opened: fork(2) must not
	 * fail. The child waits, as its parent does: see x86_extra_reg_choose().
	 */
	if (!event->parent && is_shared(desc))
		return corepmu_refuse(-EOPNOTSUPP,
				      "config %#llx: its extra register is shared with %s; use another event",
				      config,
				      uarch_bit(desc) & SLM ? "the module's other core" :
				      "the core's other hyperthread");

	reg->idx = entry->reg;
	reg->reg = extra_reg_msrs[entry->reg];
	reg->config = value;
	event->hw.flags |= COREPMU_EVENT_EXTRA_REG;

	return 0;
}

/*
 * Check whether extra register @other can replace @reg. On Westmere it cannot: perf's lists allow
 * only counter 2 for one of the two event codes. On Arctic Wolf it cannot: each register belongs to
 * one counter.
 */
static bool is_alike(const struct x86_desc *desc, unsigned int reg, unsigned int other, u64 value)
{
	const struct extra_reg_event *event = find_register(desc, other);

	if (!event || (uarch_bit(desc) & (WSM | ARW)) ||
	    !((is_offcore(reg) && is_offcore(other)) || (is_omr(reg) && is_omr(other))))
		return false;

	return (desc->extra_regs & BIT(other)) && !(value & ~bits_of(event));
}

/*
 * Check whether one more event can use @extra_reg. With @held: other events use the register with
 * the same @value. Otherwise: no event uses it.
 */
static bool is_free(const struct corepmu_extra_reg *extra_reg, u64 value, bool held)
{
	return held ? extra_reg->users && extra_reg->value == value : !extra_reg->users;
}

static int find_free(const struct x86_desc *desc, const struct corepmu_extra_reg *extra_regs,
		     const struct perf_event *event, bool held)
{
	unsigned int own = event->hw.extra_reg.idx, reg;
	u64 value = event->hw.extra_reg.config;

	if (is_free(&extra_regs[own], value, held))
		return own;
	for (reg = 0; reg < NR_EXTRA_REGS; reg++)
		if (is_free(&extra_regs[reg], value, held) && is_alike(desc, own, reg, value))
			return reg;

	return -EAGAIN;
}

/**
 * x86_extra_reg_choose() - choose an extra register
 * @pmu: the PMU
 * @extra_regs: values and users of the extra registers
 * @event: event with COREPMU_EVENT_EXTRA_REG
 *
 * Any context.
 *
 * Return: number of the register, or -EAGAIN while other events occupy all suitable registers
 */
int x86_extra_reg_choose(struct corepmu *pmu, const struct corepmu_extra_reg *extra_regs,
			 const struct perf_event *event)
{
	const struct x86_desc *desc = to_x86(pmu);
	int reg;

	/* Since the event was opened, the other hyperthread or core may have come online. */
	if (is_shared(desc))
		return -EAGAIN;
	reg = find_free(desc, extra_regs, event, true);

	return reg >= 0 ? reg : find_free(desc, extra_regs, event, false);
}

/**
 * x86_extra_reg_use() - change the event code to use another extra register
 * @pmu: the PMU
 * @event: event that is about to be placed
 * @reg: number of the register, from x86_extra_reg_choose()
 *
 * IRQs off.
 */
void x86_extra_reg_use(struct corepmu *pmu, struct perf_event *event, int reg)
{
	struct hw_perf_event *hwc = &event->hw;
	u16 code;

	if (hwc->extra_reg.idx == reg)
		return;

	code = find_same(to_x86(pmu), hwc->config_base, reg)->code;
	hwc->config_base &= ~(EVNTSEL_EVENT | EVNTSEL_UMASK);
	hwc->config_base |= code;
	hwc->extra_reg.idx = reg;
	hwc->extra_reg.reg = extra_reg_msrs[reg];
}

/**
 * x86_extra_reg_write() - write the value in corepmu_cpu.extra_regs to the register's MSR
 * @cpuc: state of this CPU
 * @reg: number of the register
 *
 * IRQs off, and the PMU stopped.
 */
void x86_extra_reg_write(struct corepmu_cpu *cpuc, int reg)
{
	x86_write_msr(extra_reg_msrs[reg], cpuc->extra_regs[reg].value);
}
