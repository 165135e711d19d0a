// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The registers of an arm64 PMU (PMUv3) and the counters behind them.
 *
 * Arm Architecture Reference Manual, DDI 0487: D13 for what they do, D23 for
 * their fields; for what counts when, the pseudocode of CountPMUEvents() and
 * CheckForPMUOverflow().
 *
 * A counter is not advanced by what it counts. It remembers at which count it
 * was right last, and is brought up to date whenever somebody looks, or when the
 * CPU says that the next overflow has been reached.
 */
#include <string.h>

#include "arm64/model.h"
#include "common/plugin.h"

#define PMCR_E		(UINT64_C(1) << 0)
#define PMCR_P		(UINT64_C(1) << 1)
#define PMCR_C		(UINT64_C(1) << 2)
#define PMCR_D		(UINT64_C(1) << 3)
#define PMCR_X		(UINT64_C(1) << 4)
#define PMCR_DP		(UINT64_C(1) << 5)
#define PMCR_LC		(UINT64_C(1) << 6)
#define PMCR_LP		(UINT64_C(1) << 7)	/* PMUv3p5 */
#define PMCR_FZO	(UINT64_C(1) << 9)	/* PMUv3p7 */
#define PMCR_N_SHIFT	11

/* PMEVTYPER<n>_EL0, PMCCFILTR_EL0, PMICFILTR_EL0 */
#define TYPE_EVENT_V3	UINT64_C(0x3ff)		/* before PMUv3p1 */
#define TYPE_M		(UINT64_C(1) << 26)
#define TYPE_NSH	(UINT64_C(1) << 27)
#define TYPE_NSU	(UINT64_C(1) << 28)
#define TYPE_NSK	(UINT64_C(1) << 29)
#define TYPE_U		(UINT64_C(1) << 30)
#define TYPE_P		(UINT64_C(1) << 31)

#define MDCR_HPMN	0x1f
#define MDCR_HPME	(UINT64_C(1) << 7)
#define MDCR_HPMD	(UINT64_C(1) << 17)	/* PMUv3p1 */
#define MDCR_HCCD	(UINT64_C(1) << 23)	/* PMUv3p5 */
#define MDCR_HLP	(UINT64_C(1) << 26)	/* PMUv3p5 */
#define MDCR_HPMFZO	(UINT64_C(1) << 29)	/* PMUv3p7 */

#define PMMIR_THWIDTH_SHIFT	20

#define CYCLES_DIVIDED	64

#define FAR_AWAY	(UINT64_MAX / 4)

#define BIT(n)		(UINT64_C(1) << (n))

static uint64_t low_bits(unsigned int n)
{
	return n < 64 ? BIT(n) - 1 : UINT64_MAX;
}

/* ---- kinds of PMU ---- */

/**
 * arm64_pmu_config_error() - could there be such a PMU?
 * @config: the PMU
 *
 * Return: NULL, or half a sentence about what is wrong.
 */
const char *arm64_pmu_config_error(const struct arm64_pmu_config *config)
{
	if (config->counters > ARM64_PMU_EVENT_COUNTERS_MAX)
		return "has no such number of counters";
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
	if (config->stuck < ARM64_PMU_EVENT_COUNTERS_MAX ? config->stuck >= config->counters :
	    config->stuck == ARM64_PMU_INSTR_COUNTER && !config->instr_counter)
		return "does not have the counter to be stuck";
	return arm64_brbe_config_error(config);
}

/**
 * arm64_pmu_reg_name() - what a register is called in statistics
 * @reg: the register
 */
const char *arm64_pmu_reg_name(enum arm64_pmu_reg reg)
{
	static const char *const names[ARM64_PMU_REGS] = {
		[ARM64_PMCR]		= "PMCR",
		[ARM64_PMCNTENSET]	= "PMCNTENSET",
		[ARM64_PMCNTENCLR]	= "PMCNTENCLR",
		[ARM64_PMOVSCLR]	= "PMOVSCLR",
		[ARM64_PMOVSSET]	= "PMOVSSET",
		[ARM64_PMINTENSET]	= "PMINTENSET",
		[ARM64_PMINTENCLR]	= "PMINTENCLR",
		[ARM64_PMSWINC]		= "PMSWINC",
		[ARM64_PMEVCNTR]	= "counter",
		[ARM64_PMEVTYPER]	= "type",
	};

	return names[reg];
}

static bool has_version(const struct arm64_pmu *pmu, enum arm64_pmu_version version)
{
	return pmu->config->version >= version;
}

static uint64_t mdcr_el2(struct arm64_pmu *pmu)
{
	return pmu->config->has_el2 ? pmu->ops->mdcr_el2(pmu) : 0;
}

/* How many event counters are not EL2's own */
static unsigned int first_of_el2(struct arm64_pmu *pmu)
{
	unsigned int n = pmu->config->counters;

	if (pmu->config->has_el2 && (mdcr_el2(pmu) & MDCR_HPMN) < n)
		n = mdcr_el2(pmu) & MDCR_HPMN;
	return n;
}

static bool is_of_el2(struct arm64_pmu *pmu, unsigned int i)
{
	return i < ARM64_PMU_EVENT_COUNTERS_MAX && i >= first_of_el2(pmu);
}

/* How many event counters the level that executes an access can see */
static unsigned int visible_event_counters(struct arm64_pmu *pmu)
{
	return pmu->ops->level(pmu) >= ARM64_PMU_EL2 ? pmu->config->counters :
						       first_of_el2(pmu);
}

/* The counters that it can see, a bit each */
static uint64_t visible_counters(struct arm64_pmu *pmu)
{
	return low_bits(visible_event_counters(pmu)) | BIT(ARM64_PMU_CYCLE_COUNTER) |
	       (pmu->config->instr_counter ? BIT(ARM64_PMU_INSTR_COUNTER) : 0);
}

/* The bits of a counter's type that are not RES0 */
static uint64_t type_mask(const struct arm64_pmu *pmu, unsigned int i)
{
	uint64_t mask = TYPE_P | TYPE_U;

	if (pmu->config->has_el2)
		mask |= TYPE_NSH;
	if (pmu->config->has_el3)
		mask |= TYPE_NSU | TYPE_NSK | TYPE_M;
	if (i < ARM64_PMU_EVENT_COUNTERS_MAX) {
		mask |= has_version(pmu, ARM64_PMU_V3P1) ? PMEVTYPER_EVENT : TYPE_EVENT_V3;
		if (pmu->config->threshold)
			mask |= low_bits(pmu->config->threshold) << PMEVTYPER_TH_SHIFT |
				UINT64_C(7) << PMEVTYPER_TC_SHIFT;
	}
	return mask;
}

/* The bit that a counter's overflow carries into, 64 for none that is there */
static unsigned int overflow_bit(struct arm64_pmu *pmu, unsigned int i)
{
	if (i == ARM64_PMU_INSTR_COUNTER)
		return 64;
	if (i == ARM64_PMU_CYCLE_COUNTER)
		return pmu->pmcr & PMCR_LC ? 64 : 32;
	if (!has_version(pmu, ARM64_PMU_V3P5))
		return 32;
	if (is_of_el2(pmu, i))
		return mdcr_el2(pmu) & MDCR_HLP ? 64 : 32;
	return pmu->pmcr & PMCR_LP ? 64 : 32;
}

static unsigned int value_bits(const struct arm64_pmu *pmu, unsigned int i)
{
	return i < ARM64_PMU_EVENT_COUNTERS_MAX && !has_version(pmu, ARM64_PMU_V3P5) ? 32 : 64;
}

static unsigned int divider(const struct arm64_pmu *pmu, unsigned int i)
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
 * arm64_pmu_line() - does the PMU ask for an interrupt?
 * @pmu: the PMU of the CPU whose thread this is
 */
bool arm64_pmu_line(struct arm64_pmu *pmu)
{
	uint64_t flags = pmu->overflows & pmu->interrupts;
	unsigned int i;

	for (i = 0; i < ARM64_PMU_COUNTERS; i++)
		if (flags >> i & 1 && group_enabled(pmu, i))
			return true;
	return false;
}

/**
 * arm64_pmu_flagged() - has a counter overflowed that may interrupt?
 * @pmu: the PMU of the CPU whose thread this is
 *
 * Unlike arm64_pmu_line() this does not change when the PMU is disabled.
 */
bool arm64_pmu_flagged(const struct arm64_pmu *pmu)
{
	return pmu->overflows & pmu->interrupts;
}

/**
 * arm64_pmu_check_freeze() - freeze branch records, should an overflow flag say so
 * @pmu: the PMU of the CPU whose thread this is
 *
 * The cycle counter's does not. (CheckPMUOverflowCondition(): exclude_cyc.)
 */
void arm64_pmu_check_freeze(struct arm64_pmu *pmu)
{
	uint64_t lower = low_bits(first_of_el2(pmu));
	uint64_t upper = low_bits(pmu->config->counters) & ~lower;

	if (pmu->config->brbe.records)
		arm64_brbe_overflowed(pmu, pmu->overflows & (lower | BIT(ARM64_PMU_INSTR_COUNTER)),
				      pmu->overflows & upper);
}

/* ---- counting ---- */

/* PMCR_EL0.FZO, MDCR_EL2.HPMFZO: event counters stop when one has overflowed. */
static bool is_frozen(struct arm64_pmu *pmu, unsigned int i)
{
	uint64_t lower = low_bits(first_of_el2(pmu));

	if (!has_version(pmu, ARM64_PMU_V3P7))
		return false;
	if (is_of_el2(pmu, i))
		return mdcr_el2(pmu) & MDCR_HPMFZO &&
		       pmu->overflows & low_bits(pmu->config->counters) & ~lower;
	return pmu->pmcr & PMCR_FZO && pmu->overflows & lower;
}

/* At EL2, MDCR_EL2.HPMD prohibits the counters that are not EL2's own. */
static bool is_prohibited_at_el2(struct arm64_pmu *pmu, unsigned int i)
{
	uint64_t mdcr = mdcr_el2(pmu);

	if (i == ARM64_PMU_CYCLE_COUNTER && has_version(pmu, ARM64_PMU_V3P5) &&
	    mdcr & MDCR_HCCD)
		return true;
	if (!has_version(pmu, ARM64_PMU_V3P1) || !(mdcr & MDCR_HPMD) || is_of_el2(pmu, i))
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
	int level;

	for (level = 0; level < ARM64_PMU_LEVELS; level++) {
		if (!(c->levels >> level & 1))
			continue;
		kind += counts[c->event.kind][level];
		cycles += counts[ARM64_PMU_CYCLES][level];
	}
	return c->event.in * kind + (c->event.out ? c->event.out * (cycles - kind) : 0);
}

static bool add_steps(struct arm64_pmu *pmu, unsigned int i, uint64_t steps);

static void overflow(struct arm64_pmu *pmu, unsigned int i, uint64_t times)
{
	const struct arm64_pmu_counter *above = &pmu->counter[i + 1];

	pmu->overflowed++;
	pmu->overflows |= BIT(i);
	arm64_pmu_check_freeze(pmu);
	if (pmu->interrupts >> i & 1)
		pmu->ops->overflowed(pmu);
	/* 64-bit overflows chain nothing: kvm_pmu_counter_can_chain(), arch/arm64/kvm/pmu-emul.c */
	if (i < ARM64_PMU_EVENT_COUNTERS_MAX && !(i & 1) && overflow_bit(pmu, i) == 32 &&
	    above->active && above->event.source == ARM64_PMU_BY_CHAIN)
		add_steps(pmu, i + 1, times);
}

/* Return: whether there was an overflow. */
static bool add_steps(struct arm64_pmu *pmu, unsigned int i, uint64_t steps)
{
	unsigned int bit = overflow_bit(pmu, i);
	struct arm64_pmu_counter *c = &pmu->counter[i];
	uint64_t before = c->value, times;

	c->value = (before + steps) & low_bits(value_bits(pmu, i));
	times = bit < 64 ? ((before & low_bits(bit)) + steps) >> bit : before + steps < before;
	if (times)
		overflow(pmu, i, times);
	return times;
}

/*
 * Bring all counters up to date. An instruction that faults is taken back, so
 * a count may be less than it was: the counter stays until it is exceeded.
 *
 * Return: whether there was an overflow.
 */
static bool advance(struct arm64_pmu *pmu)
{
	uint64_t steps[ARM64_PMU_COUNTERS] = { 0 };
	arm64_pmu_counts counts;
	bool overflowed = false;
	uint64_t instructions = 0;
	unsigned int i;

	/* All of them first: an overflow may freeze the others. */
	pmu->ops->read(pmu, counts);
	for (i = 0; i < ARM64_PMU_COUNTERS; i++) {
		struct arm64_pmu_counter *c = &pmu->counter[i];
		uint64_t now;

		if (!c->active || c->event.source != ARM64_PMU_BY_KIND)
			continue;
		now = count_of(c, counts);
		if ((int64_t)(now - c->seen) <= 0)
			continue;
		steps[i] = now - c->seen + c->fraction;
		c->fraction = steps[i] % divider(pmu, i);
		steps[i] /= divider(pmu, i);
		c->seen = now;
	}
	for (i = 0; i < ARM64_PMU_COUNTERS; i++)
		if (steps[i])
			overflowed |= add_steps(pmu, i, steps[i]);

	if (pmu->alarm_set) {
		for (i = 0; i < ARM64_PMU_LEVELS; i++)
			instructions += counts[ARM64_PMU_INSTRUCTIONS][i];
		if ((int64_t)(instructions - pmu->alarm) >= 0) {
			pmu->alarm_set = false;
			pmu->ops->alarm(pmu);
		}
	}
	return overflowed;
}

/* Nothing of @kind, at none of @levels, may happen @n times unnoticed. */
static void shorten(arm64_pmu_counts distance, enum arm64_pmu_kind kind, unsigned int levels,
		    uint64_t n)
{
	unsigned int nr = __builtin_popcount(levels);
	int level;

	/*
	 * What happens at the other levels is not known in time. With its share of
	 * the rest for each, the overflow is approached in a few steps, not missed.
	 */
	n = n / nr + !!(n % nr);
	for (level = 0; level < ARM64_PMU_LEVELS; level++)
		if (levels >> level & 1 && n < distance[kind][level])
			distance[kind][level] = n;
}

/* Levels that the CPU has: nothing happens at the others. */
static unsigned int all_levels(const struct arm64_pmu *pmu)
{
	return 1 << ARM64_PMU_EL0 | 1 << ARM64_PMU_EL1 |
	       (pmu->config->has_el2 ? 1 << ARM64_PMU_EL2 : 0) |
	       (pmu->config->has_el3 ? 1 << ARM64_PMU_EL3 : 0);
}

static uint64_t to_overflow(struct arm64_pmu *pmu, unsigned int i)
{
	const struct arm64_pmu_counter *c = &pmu->counter[i];
	uint64_t steps = low_bits(overflow_bit(pmu, i)) -
			 (c->value & low_bits(overflow_bit(pmu, i)));

	if (steps > FAR_AWAY / CYCLES_DIVIDED)
		return FAR_AWAY;
	return (steps + 1) * divider(pmu, i) - c->fraction;
}

/* Tell the CPU when to call arm64_pmu_check(). */
static void watch(struct arm64_pmu *pmu)
{
	arm64_pmu_counts distance, counts;
	uint64_t left = pmu->alarm;
	unsigned int i, level;

	for (i = 0; i < ARM64_PMU_KINDS; i++)
		for (level = 0; level < ARM64_PMU_LEVELS; level++)
			distance[i][level] = FAR_AWAY;

	for (i = 0; i < ARM64_PMU_COUNTERS; i++) {
		const struct arm64_pmu_counter *c = &pmu->counter[i];
		unsigned int most = c->event.in > c->event.out ? c->event.in : c->event.out;
		uint64_t steps;

		if (!c->active || c->event.source != ARM64_PMU_BY_KIND || !most)
			continue;
		steps = to_overflow(pmu, i);
		/* Cycles happen at least as often as anything in them. */
		shorten(distance, c->event.out ? ARM64_PMU_CYCLES : c->event.kind,
			c->levels, (steps + most - 1) / most);
	}
	if (pmu->alarm_set) {
		pmu->ops->read(pmu, counts);
		for (i = 0; i < ARM64_PMU_LEVELS; i++)
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

static void activate_counter(struct arm64_pmu *pmu, unsigned int i)
{
	struct arm64_pmu_counter *c = &pmu->counter[i];
	uint64_t type = c->type;

	if (i == ARM64_PMU_CYCLE_COUNTER)
		type = EVENT_CPU_CYCLES;
	else if (i == ARM64_PMU_INSTR_COUNTER)
		type = EVENT_INST_RETIRED;

	c->active = pmu->enabled >> i & 1 && group_enabled(pmu, i) && i != pmu->config->stuck;
	if (is_frozen(pmu, i) && (i != ARM64_PMU_CYCLE_COUNTER || pmu->pmcr & PMCR_DP))
		c->active = false;
	c->levels = levels_of(pmu, i) & all_levels(pmu);
	if (!c->active || !c->levels) {
		c->active = false;
		return;
	}
	arm64_pmu_event_select(type, pmu->config->slots, &c->event);
	/* CHAIN is there for odd counters only. */
	if (c->event.source == ARM64_PMU_BY_CHAIN && !(i & 1))
		c->event.source = ARM64_PMU_NO_EVENT;
}

/* A register has changed: see which counters are to count what from here on. */
static void activate(struct arm64_pmu *pmu)
{
	arm64_pmu_counts counts;
	uint32_t need = 0;
	unsigned int i;

	pmu->ops->read(pmu, counts);
	for (i = 0; i < ARM64_PMU_COUNTERS; i++) {
		struct arm64_pmu_counter *c = &pmu->counter[i];
		struct arm64_pmu_counter before = *c;

		activate_counter(pmu, i);
		if (!c->active || c->event.source != ARM64_PMU_BY_KIND)
			continue;
		if (!before.active || !same_event(c, &before))
			c->seen = count_of(c, counts);
		need |= ARM64_PMU_KIND_BIT(c->event.kind);
		if (c->event.out)
			need |= ARM64_PMU_KIND_BIT(ARM64_PMU_CYCLES);
	}
	if (need)
		pmu->ops->need(pmu, need);
	watch(pmu);
}

/**
 * arm64_pmu_check() - find out whether a counter has overflowed
 * @pmu: the PMU of the CPU whose thread this is
 */
void arm64_pmu_check(struct arm64_pmu *pmu)
{
	pmu->checks++;
	if (advance(pmu))
		activate(pmu);	/* it may have frozen the counters */
	else
		watch(pmu);
}

/**
 * arm64_pmu_refresh() - MDCR_EL2 has changed
 * @pmu: the PMU of the CPU whose thread this is
 */
void arm64_pmu_refresh(struct arm64_pmu *pmu)
{
	advance(pmu);
	activate(pmu);
}

/**
 * arm64_pmu_set_alarm() - have the alarm callback called
 * @pmu: the PMU of the CPU whose thread this is
 * @instructions: when so many more have been executed
 */
void arm64_pmu_set_alarm(struct arm64_pmu *pmu, uint64_t instructions)
{
	arm64_pmu_counts counts;
	int level;

	pmu->ops->need(pmu, ARM64_PMU_KIND_BIT(ARM64_PMU_INSTRUCTIONS));
	pmu->ops->read(pmu, counts);
	pmu->alarm = instructions;
	for (level = 0; level < ARM64_PMU_LEVELS; level++)
		pmu->alarm += counts[ARM64_PMU_INSTRUCTIONS][level];
	pmu->alarm_set = true;
	watch(pmu);
}

/**
 * arm64_pmu_reset() - all registers 0
 * @pmu: the PMU
 *
 * Most are unknown after a reset; PMCR_EL0.E is 0. What is counted about the PMU
 * itself goes on.
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
	watch(pmu);
}

/**
 * arm64_pmu_init() - make a PMU
 * @pmu: the PMU
 * @config: its kind; it stays in use
 * @ops: the CPU; they stay in use
 */
void arm64_pmu_init(struct arm64_pmu *pmu, const struct arm64_pmu_config *config,
		    const struct arm64_pmu_ops *ops)
{
	*pmu = (struct arm64_pmu) { .config = config, .ops = ops };
	arm64_pmu_reset(pmu);
}

/* ---- registers ---- */

static uint64_t pmcr_mask(const struct arm64_pmu *pmu)
{
	return PMCR_E | PMCR_D | PMCR_X | PMCR_DP | PMCR_LC |
	       (has_version(pmu, ARM64_PMU_V3P5) ? PMCR_LP : 0) |
	       (has_version(pmu, ARM64_PMU_V3P7) ? PMCR_FZO : 0);
}

static void write_pmcr(struct arm64_pmu *pmu, uint64_t value)
{
	unsigned int i;

	if (value & PMCR_P)
		for (i = 0; i < visible_event_counters(pmu); i++)
			pmu->counter[i].value = 0;
	if (value & PMCR_C)
		pmu->counter[ARM64_PMU_CYCLE_COUNTER].value = 0;
	pmu->pmcr = value & pmcr_mask(pmu);
	if (divider(pmu, ARM64_PMU_CYCLE_COUNTER) == 1)
		pmu->counter[ARM64_PMU_CYCLE_COUNTER].fraction = 0;
}

static void clear_overflows(struct arm64_pmu *pmu, uint64_t bits)
{
	uint64_t resist = 0;

	if (pmu->config->sticky_status)
		resist = pmu->overflows & bits & ~pmu->sticky;
	pmu->sticky = (pmu->sticky & ~bits) | resist;
	pmu->overflows &= ~bits | resist;
}

static void software_increment(struct arm64_pmu *pmu, uint64_t bits)
{
	enum arm64_pmu_level level = pmu->ops->level(pmu);
	unsigned int i;

	for (i = 0; i < ARM64_PMU_EVENT_COUNTERS_MAX; i++) {
		const struct arm64_pmu_counter *c = &pmu->counter[i];

		if (bits >> i & 1 && c->active && c->levels >> level & 1 &&
		    c->event.source == ARM64_PMU_BY_SOFTWARE)
			add_steps(pmu, i, 1);
	}
}

/**
 * arm64_pmu_ceid() - PMCEID<n>_EL0
 * @pmu: the PMU
 * @n: 0 or 1
 */
uint64_t arm64_pmu_ceid(const struct arm64_pmu *pmu, unsigned int n)
{
	uint64_t bits = 0;
	unsigned int i;

	for (i = 0; i < 32; i++)
		if (arm64_pmu_has_event(n * 32 + i, pmu->config->slots))
			bits |= BIT(i);
	return bits;
}

/**
 * arm64_pmu_mmir() - PMMIR_EL1
 * @pmu: the PMU
 */
uint64_t arm64_pmu_mmir(const struct arm64_pmu *pmu)
{
	return pmu->config->slots | (uint64_t)pmu->config->threshold << PMMIR_THWIDTH_SHIFT;
}

static bool can_access(struct arm64_pmu *pmu, unsigned int n)
{
	return n < ARM64_PMU_COUNTERS && visible_counters(pmu) >> n & 1;
}

/**
 * arm64_pmu_read() - MRS
 * @pmu: the PMU of the CPU that executes it
 * @reg: the register
 * @n: whose, if it is that of a counter
 */
uint64_t arm64_pmu_read(struct arm64_pmu *pmu, enum arm64_pmu_reg reg, unsigned int n)
{
	pmu->reads[reg]++;
	/* Nobody is to see a flag later than the counter that has set it. */
	if (advance(pmu))
		activate(pmu);
	else
		watch(pmu);

	switch (reg) {
	case ARM64_PMCR:
		return pmu->pmcr | (uint64_t)visible_event_counters(pmu) << PMCR_N_SHIFT;
	case ARM64_PMCNTENSET:
	case ARM64_PMCNTENCLR:
		return pmu->enabled & visible_counters(pmu);
	case ARM64_PMINTENSET:
	case ARM64_PMINTENCLR:
		return pmu->interrupts & visible_counters(pmu);
	case ARM64_PMOVSSET:
	case ARM64_PMOVSCLR:
		return pmu->overflows & visible_counters(pmu);
	case ARM64_PMEVCNTR:
		return can_access(pmu, n) ? pmu->counter[n].value : 0;
	case ARM64_PMEVTYPER:
		if (n == ARM64_PMU_INSTR_COUNTER)
			return pmu->counter[n].type | EVENT_INST_RETIRED;
		return can_access(pmu, n) ? pmu->counter[n].type : 0;
	default:
		return 0;
	}
}

static void write_counter(struct arm64_pmu *pmu, unsigned int n, uint64_t value)
{
	if (!can_access(pmu, n))
		return;
	pmu->counter[n].value = value & low_bits(value_bits(pmu, n));
	pmu->counter[n].fraction = 0;
}

/**
 * arm64_pmu_write() - MSR
 * @pmu: the PMU of the CPU that executes it
 * @reg: the register
 * @n: whose, if it is that of a counter
 * @value: what is written
 */
void arm64_pmu_write(struct arm64_pmu *pmu, enum arm64_pmu_reg reg, unsigned int n,
		     uint64_t value)
{
	uint64_t bits = value & visible_counters(pmu);

	pmu->writes[reg]++;
	if (advance(pmu))
		activate(pmu);

	switch (reg) {
	case ARM64_PMCR:
		write_pmcr(pmu, value);
		break;
	case ARM64_PMCNTENSET:
		pmu->enabled |= bits;
		break;
	case ARM64_PMCNTENCLR:
		pmu->enabled &= ~bits;
		break;
	case ARM64_PMINTENSET:
		pmu->interrupts |= bits;
		break;
	case ARM64_PMINTENCLR:
		pmu->interrupts &= ~bits;
		break;
	case ARM64_PMOVSSET:
		pmu->overflows |= bits;
		arm64_pmu_check_freeze(pmu);
		break;
	case ARM64_PMOVSCLR:
		clear_overflows(pmu, bits);
		break;
	case ARM64_PMSWINC:
		software_increment(pmu, bits);
		break;
	case ARM64_PMEVCNTR:
		write_counter(pmu, n, value);
		break;
	case ARM64_PMEVTYPER:
		if (can_access(pmu, n))
			pmu->counter[n].type = value & type_mask(pmu, n);
		break;
	default:
		return;
	}
	activate(pmu);
}
