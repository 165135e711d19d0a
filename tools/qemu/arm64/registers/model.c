// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The counters of an arm64 PMU (PMUv3): counting, filters and overflows. registers.c has the
 * registers.
 *
 * Arm Architecture Reference Manual, DDI 0487: D13, and the pseudocode of CountPMUEvents() and
 * CheckForPMUOverflow().
 *
 * An instruction does not advance a counter. The model updates a counter when the guest accesses a
 * register, or when a count reaches the distance to the next overflow. Each counter holds the count
 * of its last update.
 */
#include <string.h>

#include "arm64/parts.h"
#include "common/plugin.h"

#define MDCR_HPMN	0x1f
#define MDCR_HPME	(UINT64_C(1) << 7)
#define MDCR_HPMD	(UINT64_C(1) << 17)	/* PMUv3p1 */
#define MDCR_HCCD	(UINT64_C(1) << 23)	/* PMUv3p5 */
#define MDCR_HLP	(UINT64_C(1) << 26)	/* PMUv3p5 */
#define MDCR_HPMFZO	(UINT64_C(1) << 29)	/* PMUv3p7 */

#define CYCLES_DIVIDED	64

#define FAR_AWAY	(UINT64_MAX / 4)

/* ---- properties of PMUs ---- */

/**
 * arm64_pmu_config_error() - check the properties of a PMU
 * @config: the PMU
 *
 * Return: NULL, or half a sentence about the error.
 */
const char *arm64_pmu_config_error(const struct arm64_pmu_config *config)
{
	if (config->counters > ARM64_PMU_EVENT_COUNTERS_MAX)
		return "has no such number of counters: see counters=";
	if (config->slots && config->version < ARM64_PMU_V3P4)
		return "has no register to say how many slots there are (v3p4 has)";
	if (config->slots > 255)
		return "cannot have that many slots (0 to 255)";
	if (config->threshold > 12)
		return "cannot have a threshold of that many bits (0 to 12)";
	if (config->threshold && config->version < ARM64_PMU_V3P8)
		return "has no threshold (v3p8 has)";
	if (config->instr_counter && config->version < ARM64_PMU_V3P9)
		return "has no instruction counter (v3p9 has)";
	if (config->denied & ~(arm64_pmu_low_bits(config->counters) | BIT(ARM64_PMU_CYCLE_COUNTER)))
		return "does not have all counters to be denied: see counters=";
	if (config->stuck < ARM64_PMU_EVENT_COUNTERS_MAX ? config->stuck >= config->counters :
	    config->stuck == ARM64_PMU_INSTR_COUNTER && !config->instr_counter)
		return "does not have the counter to be stuck: see counters=";
	return arm64_brbe_config_error(config);
}

static uint64_t mdcr_el2(struct arm64_pmu *pmu)
{
	return pmu->config->has_el2 ? pmu->ops->mdcr_el2(pmu) : 0;
}

/**
 * arm64_pmu_first_of_el2() - return the index of EL2's first event counter (MDCR_EL2.HPMN)
 * @pmu: the PMU of this thread's CPU
 *
 * Return: the index, or the number of event counters if EL2 reserves none
 */
unsigned int arm64_pmu_first_of_el2(struct arm64_pmu *pmu)
{
	unsigned int n = pmu->config->counters;

	if (pmu->config->has_el2 && (mdcr_el2(pmu) & MDCR_HPMN) < n)
		n = mdcr_el2(pmu) & MDCR_HPMN;
	return n;
}

static bool is_of_el2(struct arm64_pmu *pmu, unsigned int i)
{
	return i < ARM64_PMU_EVENT_COUNTERS_MAX && i >= arm64_pmu_first_of_el2(pmu);
}

/* Return the bit that a counter's overflow carries into; 64 for the carry out of 64 bits. */
static unsigned int overflow_bit(struct arm64_pmu *pmu, unsigned int i)
{
	if (i == ARM64_PMU_INSTR_COUNTER)
		return 64;
	if (i == ARM64_PMU_CYCLE_COUNTER)
		return pmu->pmcr & PMCR_LC ? 64 : 32;
	if (!arm64_pmu_has_version(pmu, ARM64_PMU_V3P5))
		return 32;
	if (is_of_el2(pmu, i))
		return mdcr_el2(pmu) & MDCR_HLP ? 64 : 32;
	return pmu->pmcr & PMCR_LP ? 64 : 32;
}

/**
 * arm64_pmu_value_bits() - return the width of a counter, in bits
 * @pmu: the PMU
 * @i: the counter
 */
unsigned int arm64_pmu_value_bits(const struct arm64_pmu *pmu, unsigned int i)
{
	return i < ARM64_PMU_EVENT_COUNTERS_MAX &&
	       !arm64_pmu_has_version(pmu, ARM64_PMU_V3P5) ? 32 : 64;
}

/**
 * arm64_pmu_divider() - return the number of events that advance a counter by one
 * @pmu: the PMU
 * @i: the counter
 */
unsigned int arm64_pmu_divider(const struct arm64_pmu *pmu, unsigned int i)
{
	return i == ARM64_PMU_CYCLE_COUNTER && pmu->pmcr & PMCR_D && !(pmu->pmcr & PMCR_LC) ?
	       CYCLES_DIVIDED : 1;
}

/* ---- interrupts ---- */

static bool group_enabled(struct arm64_pmu *pmu, unsigned int i)
{
	return is_of_el2(pmu, i) ? mdcr_el2(pmu) & MDCR_HPME : pmu->pmcr & PMCR_E;
}

/**
 * arm64_pmu_line() - check whether the PMU's interrupt line is to be high
 * @pmu: the PMU of this thread's CPU
 */
bool arm64_pmu_line(struct arm64_pmu *pmu)
{
	uint64_t flags = pmu->overflows & pmu->interrupts;

	for (unsigned int i = 0; i < ARM64_PMU_COUNTERS; i++)
		if (flags >> i & 1 && group_enabled(pmu, i))
			return true;
	return false;
}

/**
 * arm64_pmu_flagged() - check for the overflow flag of a counter with an enabled interrupt
 * @pmu: the PMU of this thread's CPU
 *
 * Unlike arm64_pmu_line(), this does not depend on PMCR_EL0.E and MDCR_EL2.HPME.
 */
bool arm64_pmu_flagged(const struct arm64_pmu *pmu)
{
	return pmu->overflows & pmu->interrupts;
}

/**
 * arm64_pmu_check_freeze() - freeze branch records if an overflow flag is set
 * @pmu: the PMU of this thread's CPU
 *
 * The cycle counter's flag freezes nothing (CheckPMUOverflowCondition(): exclude_cyc).
 */
void arm64_pmu_check_freeze(struct arm64_pmu *pmu)
{
	uint64_t lower = arm64_pmu_low_bits(arm64_pmu_first_of_el2(pmu));
	uint64_t upper = arm64_pmu_low_bits(pmu->config->counters) & ~lower;

	if (pmu->config->brbe.records)
		arm64_brbe_overflowed(pmu, pmu->overflows & (lower | BIT(ARM64_PMU_INSTR_COUNTER)),
				      pmu->overflows & upper);
}

/* ---- counting ---- */

/* PMCR_EL0.FZO, MDCR_EL2.HPMFZO: event counters freeze when one has overflowed. */
static bool is_frozen(struct arm64_pmu *pmu, unsigned int i)
{
	uint64_t lower = arm64_pmu_low_bits(arm64_pmu_first_of_el2(pmu));

	if (!arm64_pmu_has_version(pmu, ARM64_PMU_V3P7))
		return false;
	if (is_of_el2(pmu, i))
		return mdcr_el2(pmu) & MDCR_HPMFZO &&
		       pmu->overflows & arm64_pmu_low_bits(pmu->config->counters) & ~lower;
	return pmu->pmcr & PMCR_FZO && pmu->overflows & lower;
}

/* MDCR_EL2.HPMD stops the counters that EL2 has not reserved from counting at EL2. */
static bool is_prohibited_at_el2(struct arm64_pmu *pmu, unsigned int i)
{
	uint64_t mdcr = mdcr_el2(pmu);

	if (i == ARM64_PMU_CYCLE_COUNTER && arm64_pmu_has_version(pmu, ARM64_PMU_V3P5) &&
	    mdcr & MDCR_HCCD)
		return true;
	if (!arm64_pmu_has_version(pmu, ARM64_PMU_V3P1) || !(mdcr & MDCR_HPMD) || is_of_el2(pmu, i))
		return false;
	return i != ARM64_PMU_CYCLE_COUNTER || pmu->pmcr & PMCR_DP;
}

static unsigned int levels_of(struct arm64_pmu *pmu, unsigned int i)
{
	uint64_t type = pmu->counter[i].type;
	unsigned int levels = 0;

	if (!(type & TYPE_U) == !(type & TYPE_NSU))
		levels |= 1 << ARM64_PMU_EL0;
	if (!(type & TYPE_P) == !(type & TYPE_NSK))
		levels |= 1 << ARM64_PMU_EL1;
	if (type & TYPE_NSH && !is_prohibited_at_el2(pmu, i))
		levels |= 1 << ARM64_PMU_EL2;
	if (pmu->config->has_el3 && !(type & TYPE_P) == !(type & TYPE_M))
		levels |= 1 << ARM64_PMU_EL3;
	return levels;
}

static uint64_t count_of(const struct arm64_pmu_counter *c, arm64_pmu_counts counts)
{
	uint64_t kind = 0, cycles = 0;

	for (int level = 0; level < ARM64_PMU_LEVELS; level++) {
		if (!(c->levels >> level & 1))
			continue;
		kind += counts[c->event.kind][level];
		cycles += counts[ARM64_PMU_CYCLES][level];
	}
	return c->event.in * kind + (c->event.out ? c->event.out * (cycles - kind) : 0);
}

static void overflow_counter(struct arm64_pmu *pmu, unsigned int i, uint64_t times)
{
	const struct arm64_pmu_counter *above = &pmu->counter[i + 1];

	pmu->overflowed++;
	pmu->overflows |= BIT(i);
	arm64_pmu_check_freeze(pmu);
	if (pmu->interrupts >> i & 1)
		pmu->ops->overflowed(pmu);
	/* Only 32-bit overflows chain: kvm_pmu_counter_can_chain(), arch/arm64/kvm/pmu-emul.c */
	if (i < ARM64_PMU_EVENT_COUNTERS_MAX && !(i & 1) && overflow_bit(pmu, i) == 32 &&
	    above->active && above->event.source == ARM64_PMU_BY_CHAIN)
		arm64_pmu_add_steps(pmu, i + 1, times);
}

/**
 * arm64_pmu_add_steps() - advance a counter
 * @pmu: the PMU of this thread's CPU
 * @i: the counter
 * @steps: the number to add
 *
 * Return: true if the counter has overflowed.
 */
bool arm64_pmu_add_steps(struct arm64_pmu *pmu, unsigned int i, uint64_t steps)
{
	unsigned int bit = overflow_bit(pmu, i);
	struct arm64_pmu_counter *c = &pmu->counter[i];
	uint64_t before = c->value, times;

	c->value = (before + steps) & arm64_pmu_low_bits(arm64_pmu_value_bits(pmu, i));
	times = bit < 64 ? ((before & arm64_pmu_low_bits(bit)) + steps) >> bit :
			   before + steps < before;
	if (times)
		overflow_counter(pmu, i, times);
	return times;
}

/**
 * arm64_pmu_advance() - update all counters
 * @pmu: the PMU of this thread's CPU
 *
 * An instruction that faults is taken back, so a count may decrease. Then the counter does not
 * change until the count exceeds @seen.
 *
 * Return: true if a counter has overflowed; the caller then calls arm64_pmu_activate().
 */
bool arm64_pmu_advance(struct arm64_pmu *pmu)
{
	uint64_t steps[ARM64_PMU_COUNTERS] = { 0 };
	arm64_pmu_counts counts;
	bool overflowed = false;
	uint64_t instructions = 0;

	/* Read all counts first: an overflow may freeze other counters. */
	pmu->ops->read(pmu, counts);
	for (unsigned int i = 0; i < ARM64_PMU_COUNTERS; i++) {
		struct arm64_pmu_counter *c = &pmu->counter[i];
		uint64_t now;

		if (!c->active || c->event.source != ARM64_PMU_BY_KIND)
			continue;
		now = count_of(c, counts);
		if ((int64_t)(now - c->seen) <= 0)
			continue;
		steps[i] = now - c->seen + c->fraction;
		c->fraction = steps[i] % arm64_pmu_divider(pmu, i);
		steps[i] /= arm64_pmu_divider(pmu, i);
		c->seen = now;
	}
	for (unsigned int i = 0; i < ARM64_PMU_COUNTERS; i++)
		if (steps[i])
			overflowed |= arm64_pmu_add_steps(pmu, i, steps[i]);

	if (pmu->alarm_set) {
		for (unsigned int i = 0; i < ARM64_PMU_LEVELS; i++)
			instructions += counts[ARM64_PMU_INSTRUCTIONS][i];
		if ((int64_t)(instructions - pmu->alarm) >= 0) {
			pmu->alarm_set = false;
			pmu->ops->alarm(pmu);
		}
	}
	return overflowed;
}

/* Reduce the distance of @kind at @levels, so that no overflow after @n is missed. */
static void shorten(arm64_pmu_counts distance, enum arm64_pmu_kind kind, unsigned int levels,
		    uint64_t n)
{
	unsigned int nr = __builtin_popcount(levels);

	/*
	 * Each level has its own count. If each gets its share of the distance, the model
	 * approaches the overflow in a few steps, and does not miss it.
	 */
	n = n / nr + !!(n % nr);
	for (int level = 0; level < ARM64_PMU_LEVELS; level++)
		if (levels >> level & 1 && n < distance[kind][level])
			distance[kind][level] = n;
}

/* Return a bitmap of the levels that the CPU has. */
static unsigned int all_levels(const struct arm64_pmu *pmu)
{
	return 1 << ARM64_PMU_EL0 | 1 << ARM64_PMU_EL1 |
	       (pmu->config->has_el2 ? 1 << ARM64_PMU_EL2 : 0) |
	       (pmu->config->has_el3 ? 1 << ARM64_PMU_EL3 : 0);
}

static uint64_t to_overflow(struct arm64_pmu *pmu, unsigned int i)
{
	const struct arm64_pmu_counter *c = &pmu->counter[i];
	uint64_t steps = arm64_pmu_low_bits(overflow_bit(pmu, i)) -
			 (c->value & arm64_pmu_low_bits(overflow_bit(pmu, i)));

	if (steps > FAR_AWAY / CYCLES_DIVIDED)
		return FAR_AWAY;
	return (steps + 1) * arm64_pmu_divider(pmu, i) - c->fraction;
}

/**
 * arm64_pmu_watch() - set the distances after which the CPU calls arm64_pmu_check()
 * @pmu: the PMU of this thread's CPU
 */
void arm64_pmu_watch(struct arm64_pmu *pmu)
{
	arm64_pmu_counts distance, counts;
	uint64_t left = pmu->alarm;

	for (unsigned int i = 0; i < ARM64_PMU_KINDS; i++)
		for (unsigned int level = 0; level < ARM64_PMU_LEVELS; level++)
			distance[i][level] = FAR_AWAY;

	for (unsigned int i = 0; i < ARM64_PMU_COUNTERS; i++) {
		const struct arm64_pmu_counter *c = &pmu->counter[i];
		unsigned int most = c->event.in > c->event.out ? c->event.in : c->event.out;
		uint64_t steps;

		if (!c->active || c->event.source != ARM64_PMU_BY_KIND || !most)
			continue;
		steps = to_overflow(pmu, i);
		/* The count of cycles advances at least as fast as any other kind. */
		shorten(distance, c->event.out ? ARM64_PMU_CYCLES : c->event.kind,
			c->levels, (steps + most - 1) / most);
	}
	if (pmu->alarm_set) {
		pmu->ops->read(pmu, counts);
		for (unsigned int i = 0; i < ARM64_PMU_LEVELS; i++)
			left -= counts[ARM64_PMU_INSTRUCTIONS][i];
		shorten(distance, ARM64_PMU_INSTRUCTIONS, all_levels(pmu), left);
	}
	pmu->ops->watch(pmu, distance);
}

static bool same_event(const struct arm64_pmu_counter *a, const struct arm64_pmu_counter *b)
{
	return a->levels == b->levels && a->event.source == b->event.source &&
	       a->event.kind == b->event.kind && a->event.in == b->event.in &&
	       a->event.out == b->event.out;
}

/**
 * arm64_pmu_denies() - check whether the configuration denies an event
 * @config: the PMU
 * @event: the event's number
 */
bool arm64_pmu_denies(const struct arm64_pmu_config *config, unsigned int event)
{
	for (unsigned int i = 0; i < config->nr_denied_events; i++)
		if (config->denied_events[i] == event)
			return true;
	return false;
}

/* Report an event that is not counted, once each time that the guest enables a counter with it. */
static void report_unknown(struct arm64_pmu *pmu, unsigned int i)
{
	struct arm64_pmu_counter *c = &pmu->counter[i];
	bool unknown = c->active && c->event.source == ARM64_PMU_NO_EVENT;

	if (unknown && !c->unknown && pmu->ops->unknown)
		pmu->ops->unknown(pmu, c->type & PMEVTYPER_EVENT);
	c->unknown = unknown;
}

static void activate_counter(struct arm64_pmu *pmu, unsigned int i)
{
	struct arm64_pmu_counter *c = &pmu->counter[i];
	uint64_t type = c->type;

	if (i == ARM64_PMU_CYCLE_COUNTER)
		type = EVENT_CPU_CYCLES;
	else if (i == ARM64_PMU_INSTR_COUNTER)
		type = EVENT_INST_RETIRED;

	c->active = pmu->enabled >> i & 1 && group_enabled(pmu, i) && i != pmu->config->stuck &&
		    !(pmu->config->denied >> i & 1) &&
		    !arm64_pmu_denies(pmu->config, type & PMEVTYPER_EVENT);
	if (is_frozen(pmu, i) && (i != ARM64_PMU_CYCLE_COUNTER || pmu->pmcr & PMCR_DP))
		c->active = false;
	c->levels = levels_of(pmu, i) & all_levels(pmu);
	if (!c->active || !c->levels) {
		c->active = false;
		return;
	}
	arm64_pmu_event_select(type, pmu->config->slots, &c->event);
	/* Only odd counters have the event CHAIN. */
	if (c->event.source == ARM64_PMU_BY_CHAIN && !(i & 1))
		c->event.source = ARM64_PMU_NO_EVENT;
}

/**
 * arm64_pmu_needs() - return a bitmap of the kinds that the PMU needs now
 * @pmu: the PMU
 */
uint32_t arm64_pmu_needs(const struct arm64_pmu *pmu)
{
	uint32_t needs = arm64_brbe_needs(pmu);

	for (unsigned int i = 0; i < ARM64_PMU_COUNTERS; i++) {
		const struct arm64_pmu_counter *c = &pmu->counter[i];

		if (!c->active || c->event.source != ARM64_PMU_BY_KIND)
			continue;
		needs |= ARM64_PMU_KIND_BIT(c->event.kind);
		if (c->event.out)
			needs |= ARM64_PMU_KIND_BIT(ARM64_PMU_CYCLES);
	}
	if (pmu->alarm_set)
		needs |= ARM64_PMU_KIND_BIT(ARM64_PMU_INSTRUCTIONS);
	return needs;
}

/**
 * arm64_pmu_activate() - set the events of all counters after the change of a register
 * @pmu: the PMU of this thread's CPU
 */
void arm64_pmu_activate(struct arm64_pmu *pmu)
{
	arm64_pmu_counts counts;
	uint32_t needs;

	pmu->ops->read(pmu, counts);
	for (unsigned int i = 0; i < ARM64_PMU_COUNTERS; i++) {
		struct arm64_pmu_counter *c = &pmu->counter[i];
		struct arm64_pmu_counter before = *c;

		activate_counter(pmu, i);
		report_unknown(pmu, i);
		if (!c->active || c->event.source != ARM64_PMU_BY_KIND)
			continue;
		if (!before.active || !same_event(c, &before))
			c->seen = count_of(c, counts);
	}
	needs = arm64_pmu_needs(pmu);
	if (needs)
		pmu->ops->need(pmu, needs);
	arm64_pmu_watch(pmu);
}

/**
 * arm64_pmu_check() - check whether a counter has overflowed
 * @pmu: the PMU of this thread's CPU
 */
void arm64_pmu_check(struct arm64_pmu *pmu)
{
	pmu->checks++;
	if (arm64_pmu_advance(pmu))
		arm64_pmu_activate(pmu);	/* the overflow may have frozen counters */
	else
		arm64_pmu_watch(pmu);
}

/**
 * arm64_pmu_refresh() - update counters and their events after a change of MDCR_EL2
 * @pmu: the PMU of this thread's CPU
 */
void arm64_pmu_refresh(struct arm64_pmu *pmu)
{
	arm64_pmu_advance(pmu);
	arm64_pmu_activate(pmu);
}

/**
 * arm64_pmu_set_alarm() - have the alarm callback called
 * @pmu: the PMU of this thread's CPU
 * @instructions: number of instructions until the call
 */
void arm64_pmu_set_alarm(struct arm64_pmu *pmu, uint64_t instructions)
{
	arm64_pmu_counts counts;

	pmu->ops->need(pmu, ARM64_PMU_KIND_BIT(ARM64_PMU_INSTRUCTIONS));
	pmu->ops->read(pmu, counts);
	pmu->alarm = instructions;
	for (int level = 0; level < ARM64_PMU_LEVELS; level++)
		pmu->alarm += counts[ARM64_PMU_INSTRUCTIONS][level];
	pmu->alarm_set = true;
	arm64_pmu_watch(pmu);
}

/**
 * arm64_pmu_reset() - set all registers to 0
 * @pmu: the PMU
 *
 * By the architecture, PMCR_EL0.E is 0 after a reset, and most registers are unknown. The
 * statistics are not reset.
 */
void arm64_pmu_reset(struct arm64_pmu *pmu)
{
	memset(pmu->counter, 0, sizeof(pmu->counter));
	pmu->pmcr = 0;
	pmu->enabled = 0;
	pmu->interrupts = 0;
	pmu->overflows = 0;
	pmu->sticky = 0;
	arm64_brbe_reset(pmu);
	pmu->alarm_set = false;
	arm64_pmu_watch(pmu);
}

/**
 * arm64_pmu_init() - initialize a PMU
 * @pmu: the PMU
 * @config: its properties; must stay valid
 * @ops: functions of the CPU; must stay valid
 */
void arm64_pmu_init(struct arm64_pmu *pmu, const struct arm64_pmu_config *config,
		    const struct arm64_pmu_ops *ops)
{
	*pmu = (struct arm64_pmu) { .config = config, .ops = ops };
	arm64_pmu_reset(pmu);
}
