// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The registers and counters of an x86 core PMU.
 *
 * Registers as in the Intel SDM, volume 3B, "Performance Monitoring" and volume
 * 4, and in the AMD APM, volume 2, "Performance Monitoring Counters".
 *
 * An instruction does not advance a counter. The model updates a counter when the guest accesses a
 * register, or when a count reaches the distance to the next overflow. Each counter holds the count
 * of its last update.
 *
 * This file counts. select.c decodes selectors, msr.c has accesses to registers, and intel.c and
 * amd.c have the vendors' parts. x86/config.c has a PMU's properties. The folders lbr, pebs, ibs
 * and uarch hold branch records, precise samples, instruction-based sampling and
 * microarchitectures.
 */
#include <string.h>

#include "x86/registers/maker.h"
#include "x86/uarch/uarch.h"

/* IA32_DEBUGCTL, DbgCtl */
#define DEBUGCTL_FREEZE		(UINT64_C(1) << 12)

#define FAR_AWAY	(UINT64_MAX / 4)

/* Width of the upper part (bits 48 to 63) that a merged counter holds, see select.c */
#define MERGED_BITS	16

static bool has_global(const struct x86_pmu *pmu)
{
	return x86_pmu_version(pmu->config)->global;
}

static uint64_t count_of(const struct x86_pmu_counter *c, x86_pmu_counts counts)
{
	uint64_t sum = 0;

	for (int ring = 0; ring < X86_PMU_RINGS; ring++) {
		if (!(c->rings & 1 << ring))
			continue;
		sum += counts[c->event.kind][ring];
		if (c->event.less != X86_PMU_NOTHING)
			sum -= counts[c->event.less][ring];
	}
	return sum;
}

static uint64_t instructions(x86_pmu_counts counts)
{
	uint64_t sum = 0;

	for (int ring = 0; ring < X86_PMU_RINGS; ring++)
		sum += counts[X86_PMU_INSTRUCTIONS][ring];
	return sum;
}

static bool is_frozen(const struct x86_pmu *pmu)
{
	return pmu->status & X86_PMU_STATUS_FROZEN;
}

/* Freeze the counters at an interrupt, if IA32_DEBUGCTL or DbgCtl says so. */
static void freeze(struct x86_pmu *pmu)
{
	if (!(pmu->debugctl & DEBUGCTL_FREEZE))
		return;
	if (x86_pmu_version(pmu->config)->streamlined_freeze)
		pmu->status |= X86_PMU_STATUS_FROZEN;
	else
		pmu->global_ctrl = 0;
}

/*
 * A counter has wrapped. If the next counter holds the upper bits, add one to them. Return true if
 * the whole counter overflows.
 */
static bool carry(struct x86_pmu *pmu, unsigned int i)
{
	struct x86_pmu_counter *upper = &pmu->counter[i + 1];

	if (!pmu->counter[i].merged)
		return true;
	upper->value = (upper->value + 1) & x86_pmu_low_bits(MERGED_BITS);
	return !upper->value;
}

static void interrupt(struct x86_pmu *pmu)
{
	if (has_global(pmu)) {
		freeze(pmu);
		x86_lbr_freeze(pmu);
	}
	pmu->ops->interrupt(pmu);
}

/**
 * x86_pmu_buffer_overflow() - signal that the PEBS buffer has reached its threshold
 * @pmu: the PMU of this thread's CPU
 */
void x86_pmu_buffer_overflow(struct x86_pmu *pmu)
{
	pmu->status |= x86_pebs_status(pmu->config);
	interrupt(pmu);
}

static void overflow_counter(struct x86_pmu *pmu, unsigned int i)
{
	pmu->overflows++;
	if (x86_pebs_takes(pmu, i)) {
		x86_pebs_overflow(pmu, i);
		return;
	}
	if (has_global(pmu))
		pmu->status |= UINT64_C(1) << x86_pmu_global_bit(i);
	if (pmu->counter[i].interrupts)
		interrupt(pmu);
}

/**
 * x86_pmu_counter_value() - return the value that a read of a counter returns
 * @pmu: the PMU
 * @i: the counter, its index in struct x86_pmu
 */
uint64_t x86_pmu_counter_value(const struct x86_pmu *pmu, unsigned int i)
{
	const struct x86_pmu_counter *c = &pmu->counter[i];

	return c->merged ? c->value | c[1].value << x86_pmu_width(pmu->config, i) : c->value;
}

/*
 * Take back counts: an interrupt has hit a repeated instruction, which has not retired and is
 * counted again when it continues. An overflow stays: the counter then does not change until the
 * count exceeds @seen.
 */
static void take_back(struct x86_pmu *pmu, struct x86_pmu_counter *c, uint64_t now)
{
	uint64_t steps = (c->seen - now) * c->event.times, whole = 0;

	if (steps > c->fraction)
		whole = (steps - c->fraction + c->event.per - 1) / c->event.per;
	if (whole > c->value)
		return;
	x86_lbr_counted(pmu, c - pmu->counter, -(int64_t)whole);
	c->value -= whole;
	c->fraction += whole * c->event.per - steps;
	c->seen = now;
}

static bool advance_counters(struct x86_pmu *pmu, uint32_t except)
{
	uint32_t overflowed = 0, reloaded;
	x86_pmu_counts counts;

	pmu->ops->read(pmu, counts, pmu->kinds);
	for (unsigned int i = 0; i < X86_PMU_COUNTERS_MAX; i++) {
		struct x86_pmu_counter *c = &pmu->counter[i];
		uint64_t now, steps;

		if (!c->active || except >> i & 1)
			continue;
		now = count_of(c, counts);
		if ((int64_t)(now - c->seen) <= 0) {
			take_back(pmu, c, now);
			continue;
		}
		steps = (now - c->seen) * c->event.times + c->fraction;
		c->seen = now;
		c->fraction = steps % c->event.per;
		c->value += steps / c->event.per;
		x86_lbr_counted(pmu, i, steps / c->event.per);
		if (c->value > x86_pmu_low_bits(x86_pmu_width(pmu->config, i))) {
			c->value &= x86_pmu_low_bits(x86_pmu_width(pmu->config, i));
			if (carry(pmu, i))
				overflowed |= UINT32_C(1) << i;
		}
	}

	x86_ibs_advance(pmu, counts, except >> X86_PMU_COUNTERS_MAX);
	reloaded = overflowed;
	overflowed = x86_acr_overflow(pmu, overflowed);
	reloaded &= ~overflowed;

	/* All counters are up to date: a freeze at one overflow affects no other counter. */
	for (unsigned int i = 0; i < X86_PMU_COUNTERS_MAX; i++)
		if (overflowed >> i & 1)
			overflow_counter(pmu, i);

	if (pmu->alarm_set && (int64_t)(instructions(counts) - pmu->alarm) >= 0) {
		pmu->alarm_set = false;
		pmu->ops->alarm(pmu);
	}
	return overflowed || reloaded;
}

/**
 * x86_pmu_advance() - update all counters
 * @pmu: the PMU of this thread's CPU
 *
 * An instruction that does not retire is taken back, so a count may decrease.
 *
 * Return: true if a counter has overflowed.
 */
bool x86_pmu_advance(struct x86_pmu *pmu)
{
	return advance_counters(pmu, 0);
}

/**
 * x86_pmu_ahead() - return by how much the next update will advance counters
 * @pmu: the PMU of this thread's CPU
 * @ahead: set to the advance of each counter from 0 on
 * @nr: number of counters
 */
void x86_pmu_ahead(struct x86_pmu *pmu, int64_t *ahead, unsigned int nr)
{
	x86_pmu_counts counts;

	pmu->ops->read(pmu, counts, pmu->kinds);
	for (unsigned int i = 0; i < nr; i++) {
		const struct x86_pmu_counter *c = &pmu->counter[i];
		int64_t more = c->active ? count_of(c, counts) - c->seen : 0;

		ahead[i] = more > 0 ? ((uint64_t)more * c->event.times + c->fraction) /
				      c->event.per : 0;
	}
}

/* Reduce the distance of @kind in @rings, so that no overflow after @n is missed. */
static void shorten(x86_pmu_counts distance, enum x86_pmu_kind kind, unsigned int rings,
		    uint64_t n)
{
	unsigned int nr = __builtin_popcount(rings);

	/*
	 * The counter counts several rings, and each ring has its own distance. Equal parts of the
	 * counter's distance cannot miss the overflow: the model comes close to it in a few steps.
	 */
	if (nr > 1)
		n = (n + nr - 1) / nr;
	for (int ring = 0; ring < X86_PMU_RINGS; ring++)
		if (rings & 1 << ring && n < distance[kind][ring])
			distance[kind][ring] = n;
}

static void watch_ibs(struct x86_pmu *pmu, x86_pmu_counts distance)
{
	enum x86_pmu_kind kind;

	for (unsigned int unit = 0; unit < X86_IBS_UNITS; unit++) {
		uint64_t steps = x86_ibs_distance(pmu, unit, &kind);

		if (!steps)
			continue;
		if (x86_pebs_is_in_window(pmu, kind, &steps))
			pmu->pebs.near |= UINT32_C(1) << (X86_PMU_COUNTERS_MAX + unit);
		else
			shorten(distance, kind, x86_pmu_rings(pmu, true, true), steps);
	}
}

/* Set the distances after which the CPU calls x86_pmu_check(). */
static void watch_counters(struct x86_pmu *pmu)
{
	x86_pmu_counts distance, counts;

	for (uint32_t kinds = pmu->kinds; kinds; kinds &= kinds - 1)
		for (unsigned int ring = 0; ring < X86_PMU_RINGS; ring++)
			distance[__builtin_ctz(kinds)][ring] = FAR_AWAY;

	pmu->pebs.near = 0;
	for (unsigned int i = 0; i < X86_PMU_COUNTERS_MAX; i++) {
		struct x86_pmu_counter *c = &pmu->counter[i];
		uint64_t steps;

		if (!c->active)
			continue;
		steps = x86_pmu_low_bits(x86_pmu_width(pmu->config, i)) + 1 - c->value;
		steps = steps * c->event.per - c->fraction;
		steps = (steps + c->event.times - 1) / c->event.times;
		if (x86_pebs_is_near(pmu, i, &steps))
			pmu->pebs.near |= UINT32_C(1) << i;
		else
			shorten(distance, c->event.kind, c->rings, steps);
	}
	watch_ibs(pmu, distance);
	if (pmu->pebs.window && !pmu->pebs.near) {
		/* The block has been executed. */
		pmu->pebs.window = 0;
		watch_counters(pmu);
		return;
	}
	x86_pebs_look(pmu);
	if (pmu->alarm_set) {
		pmu->ops->read(pmu, counts, X86_PMU_KIND_BIT(X86_PMU_INSTRUCTIONS));
		shorten(distance, X86_PMU_INSTRUCTIONS, x86_pmu_rings(pmu, true, true),
			pmu->alarm - instructions(counts));
	}
	pmu->ops->watch(pmu, distance, pmu->kinds);
}

static bool same_event(const struct x86_pmu_counter *a, const struct x86_pmu_counter *b)
{
	return a->rings == b->rings && a->event.kind == b->event.kind &&
	       a->event.less == b->event.less && a->event.times == b->event.times &&
	       a->event.per == b->event.per;
}

/**
 * x86_pmu_needs() - return a bitmap of the kinds that the PMU needs now
 * @pmu: the PMU
 */
uint32_t x86_pmu_needs(const struct x86_pmu *pmu)
{
	uint32_t needs = x86_ibs_needs(pmu) | x86_lbr_needs(pmu);

	for (unsigned int i = 0; i < X86_PMU_COUNTERS_MAX; i++) {
		const struct x86_pmu_counter *c = &pmu->counter[i];

		if (!c->active)
			continue;
		needs |= X86_PMU_KIND_BIT(c->event.kind);
		if (c->event.less != X86_PMU_NOTHING)
			needs |= X86_PMU_KIND_BIT(c->event.less);
	}
	if (x86_pebs_is_on(pmu) || x86_acr_is_on(pmu))
		needs |= X86_PMU_KIND_BIT(X86_PMU_STEPS);
	if (pmu->alarm_set)
		needs |= X86_PMU_KIND_BIT(X86_PMU_INSTRUCTIONS);
	return needs;
}

/**
 * x86_pmu_activate() - set the events of all counters after the change of a register
 * @pmu: the PMU of this thread's CPU
 */
void x86_pmu_activate(struct x86_pmu *pmu)
{
	void (*activate_fixed)(struct x86_pmu *pmu, unsigned int i) =
		x86_pmu_maker(pmu->config)->activate_fixed;
	x86_pmu_counts counts;
	unsigned int i;

	pmu->ops->read(pmu, counts, X86_PMU_ALL_KINDS);
	for (i = 0; i < X86_PMU_COUNTERS_MAX; i++) {
		struct x86_pmu_counter *c = &pmu->counter[i];
		struct x86_pmu_counter before = *c;

		if (i < X86_PMU_GP_MAX)
			x86_pmu_activate_gp(pmu, i);
		else if (activate_fixed)
			activate_fixed(pmu, i);
		if (!c->rings || is_frozen(pmu) || i == pmu->config->stuck ||
		    x86_pmu_is_denied(pmu, i))
			c->active = false;
		if (!c->active)
			continue;
		if (!before.active || !same_event(c, &before))
			c->seen = count_of(c, counts);
	}
	pmu->kinds = x86_pmu_needs(pmu);
	if (pmu->kinds)
		pmu->ops->need(pmu, pmu->kinds);
	x86_lbr_update(pmu);
	watch_counters(pmu);
}

/**
 * x86_pmu_check() - check whether a counter has overflowed
 * @pmu: the PMU of this thread's CPU
 *
 * The instruction being executed is counted already. Only the next step shows whether it retires,
 * and writes its record. So this function does not update counters in pmu->pebs.near.
 */
void x86_pmu_check(struct x86_pmu *pmu)
{
	pmu->checks++;
	if (advance_counters(pmu, pmu->pebs.near))
		x86_pmu_activate(pmu);	/* the overflow may have frozen the counters */
	else
		watch_counters(pmu);
}

/**
 * x86_pmu_set_alarm() - have the alarm callback called
 * @pmu: the PMU of this thread's CPU
 * @distance: number of instructions until the call
 */
void x86_pmu_set_alarm(struct x86_pmu *pmu, uint64_t distance)
{
	x86_pmu_counts counts;

	pmu->ops->need(pmu, X86_PMU_KIND_BIT(X86_PMU_INSTRUCTIONS));
	pmu->ops->read(pmu, counts, X86_PMU_KIND_BIT(X86_PMU_INSTRUCTIONS));
	pmu->alarm = instructions(counts) + distance;
	pmu->alarm_set = true;
	pmu->kinds |= X86_PMU_KIND_BIT(X86_PMU_INSTRUCTIONS);
	watch_counters(pmu);
}

/**
 * x86_pmu_reset() - set the registers to their values after power-up and RESET
 * @pmu: the PMU
 *
 * INIT changes no register. The statistics are not reset.
 */
void x86_pmu_reset(struct x86_pmu *pmu)
{
	memset(pmu->counter, 0, sizeof(pmu->counter));
	pmu->kinds = 0;
	pmu->perf_metrics = 0;
	pmu->metrics_slots = 0;
	pmu->slots_written = 0;
	pmu->fixed_ctrl = 0;
	pmu->global_ctrl = has_global(pmu) ? x86_pmu_global_counters(pmu->config) &
					    x86_pmu_low_bits(pmu->config->gp) : 0;
	pmu->status = 0;
	pmu->sticky = 0;
	pmu->debugctl = 0;
	pmu->svme = false;
	pmu->alarm_set = false;
	memset(pmu->extra_regs, 0, sizeof(pmu->extra_regs));
	x86_lbr_reset(pmu);
	x86_pebs_reset(pmu);
	x86_ibs_reset(pmu);
	x86_acr_reset(pmu);
	watch_counters(pmu);
}

/**
 * x86_pmu_init() - initialize a PMU
 * @pmu: the PMU
 * @config: its properties; must stay valid
 * @ops: functions of the CPU; must stay valid
 */
void x86_pmu_init(struct x86_pmu *pmu, const struct x86_pmu_config *config,
		  const struct x86_pmu_ops *ops)
{
	*pmu = (struct x86_pmu) { .config = config, .ops = ops };
	x86_pmu_reset(pmu);
}

/**
 * x86_pmu_cpuid() - add the PMU to the result of CPUID
 * @config: the PMU
 * @leaf: EAX before the instruction
 * @subleaf: ECX before the instruction
 * @regs: the result without the PMU; set to the result with the PMU
 */
void x86_pmu_cpuid(const struct x86_pmu_config *config, uint32_t leaf, uint32_t subleaf,
		   struct x86_pmu_cpuid *regs)
{
	x86_pmu_maker(config)->cpuid(config, leaf, subleaf, regs);
}
