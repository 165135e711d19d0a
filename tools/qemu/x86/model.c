// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The registers of an x86 core PMU and the counters behind them.
 *
 * Registers as in the Intel SDM, volume 3B, "Performance Monitoring" and volume
 * 4, and in the AMD APM, volume 2, "Performance Monitoring Counters".
 *
 * A counter is not advanced by what it counts. It remembers at which count it
 * was right last, and is brought up to date whenever somebody looks, or when the
 * CPU says that the next overflow has been reached.
 */
#include <string.h>

#include "common/plugin.h"
#include "x86/model.h"

/* IA32_FIXED_CTR_CTRL has four bits a counter: enable OS and USR, AnyThread, PMI. */
#define FIXED_OS		1
#define FIXED_USR		2
#define FIXED_PMI		8
#define FIXED_BITS		4

/* IA32_PERF_GLOBAL_STATUS, PerfCntrGlobalStatus */
#define STATUS_TRACE_TOPA	(UINT64_C(1) << 55)
#define STATUS_LBR_FROZEN	(UINT64_C(1) << 58)
#define STATUS_FROZEN		(UINT64_C(1) << 59)
#define STATUS_ASCI		(UINT64_C(1) << 60)
#define STATUS_UNCORE		(UINT64_C(1) << 61)
#define STATUS_BUFFER		(UINT64_C(1) << 62)
#define STATUS_CHANGED		(UINT64_C(1) << 63)

#define INUSE_PMI		(UINT64_C(1) << 63)

/* IA32_DEBUGCTL, DbgCtl */
#define DEBUGCTL_INTEL		UINT64_C(0x7fc3)
#define DEBUGCTL_AMD		UINT64_C(0x1803f)
#define DEBUGCTL_FREEZE		(UINT64_C(1) << 12)

#define CAPABILITIES_FW_WRITE	(UINT64_C(1) << 13)

/* Selector bits that may be written. */
#define SELECT_COMMON	(X86_PMU_SEL_EVENT | X86_PMU_SEL_UMASK | X86_PMU_SEL_USR | \
			 X86_PMU_SEL_OS | X86_PMU_SEL_EDGE | X86_PMU_SEL_INT | \
			 X86_PMU_SEL_EN | X86_PMU_SEL_INV | X86_PMU_SEL_CMASK)
#define SELECT_INTEL	(SELECT_COMMON | X86_PMU_SEL_PIN)
#define SELECT_AMD_GUEST_ONLY	(UINT64_C(1) << 40)
#define SELECT_AMD_HG_ONLY	(UINT64_C(3) << 40)
#define SELECT_AMD	(SELECT_COMMON | X86_PMU_SEL_EVENT_HIGH | SELECT_AMD_HG_ONLY)

#define FAR_AWAY	(UINT64_MAX / 4)

static uint64_t low_bits(unsigned int n)
{
	return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* ---- kinds of PMU ---- */

static const struct version_info {
	const char *name;
	unsigned int gp;
	unsigned int gp_max;
	uint32_t fixed;
	unsigned int width;
	bool full_width;
} versions[X86_PMU_VERSIONS] = {
	[X86_PMU_INTEL_V1]	= { "intel-v1",   2,  8, 0x0, 40, false },
	[X86_PMU_INTEL_V2]	= { "intel-v2",   4,  8, 0x7, 48, true },
	[X86_PMU_INTEL_V3]	= { "intel-v3",   4,  8, 0x7, 48, true },
	[X86_PMU_INTEL_V4]	= { "intel-v4",   4,  8, 0x7, 48, true },
	[X86_PMU_INTEL_V5]	= { "intel-v5",   8,  8, 0xf, 48, true },
	[X86_PMU_AMD_LEGACY]	= { "amd-legacy", 4,  4, 0x0, 48, true },
	[X86_PMU_AMD_CORE]	= { "amd-core",   6,  6, 0x0, 48, true },
	[X86_PMU_AMD_V2]	= { "amd-v2",     6, 15, 0x0, 48, true },
};

/**
 * x86_pmu_version_name() - what the user calls a version
 * @version: which
 */
const char *x86_pmu_version_name(enum x86_pmu_version version)
{
	return versions[version].name;
}

/**
 * x86_pmu_defaults() - a PMU of some version as it is usually built
 * @config: the result
 * @version: which
 */
void x86_pmu_defaults(struct x86_pmu_config *config, enum x86_pmu_version version)
{
	const struct version_info *v = &versions[version];

	*config = (struct x86_pmu_config) {
		.version	= version,
		.gp		= v->gp,
		.fixed		= v->fixed,
		.gp_width	= v->width,
		.fixed_width	= v->width,
		.full_width	= v->full_width,
		.stuck		= X86_PMU_NO_COUNTER,
	};
}

/* Before version 5, fixed-function counters are told by their number alone. */
static bool is_contiguous(uint32_t mask)
{
	return !(mask & (mask + 1));
}

/**
 * x86_pmu_config_error() - could there be such a PMU?
 * @config: the PMU
 *
 * Return: NULL, or half a sentence about what is wrong.
 */
const char *x86_pmu_config_error(const struct x86_pmu_config *config)
{
	const struct version_info *v = &versions[config->version];

	if (!config->gp || config->gp > v->gp_max)
		return "has no such number of counters";
	if (config->gp_width < 32 || config->gp_width > 48 ||
	    config->fixed_width < 32 || config->fixed_width > 48)
		return "has no counters of that width (32 to 48)";
	if (x86_pmu_is_amd(config) && config->gp_width != 48)
		return "has counters of 48 bits only";
	if (config->fixed && !v->fixed)
		return "has no fixed-function counters";
	if (config->fixed >> X86_PMU_FIXED_MAX)
		return "has fixed-function counters 0 to 3 only";
	if (config->version < X86_PMU_INTEL_V5 && !is_contiguous(config->fixed))
		return "can leave out fixed-function counters at the end only";
	if (config->version < X86_PMU_INTEL_V5 && config->fixed & 8)
		return "has no fixed-function counter 3";
	if (config->stuck < X86_PMU_GP_MAX ? config->stuck >= config->gp :
	    config->stuck != X86_PMU_NO_COUNTER &&
	    !(config->fixed >> (config->stuck - X86_PMU_GP_MAX) & 1))
		return "does not have the counter to be stuck";
	if (config->sticky_status &&
	    (config->version == X86_PMU_INTEL_V1 || config->version == X86_PMU_AMD_LEGACY ||
	     config->version == X86_PMU_AMD_CORE))
		return "has no status register to be sticky";
	return NULL;
}

static bool has_global(const struct x86_pmu_config *config)
{
	return (config->version >= X86_PMU_INTEL_V2 && config->version <= X86_PMU_INTEL_V5) ||
	       config->version == X86_PMU_AMD_V2;
}

static bool has_intel_v2(const struct x86_pmu_config *config)
{
	return config->version >= X86_PMU_INTEL_V2;
}

static bool has_streamlined_freeze(const struct x86_pmu_config *config)
{
	return config->version >= X86_PMU_INTEL_V4;		/* AMD's version 2 included */
}

static bool has_intel_v4(const struct x86_pmu_config *config)
{
	return config->version >= X86_PMU_INTEL_V4;
}

static bool has_full_width(const struct x86_pmu_config *config)
{
	return config->full_width;
}

static bool has_amd_core(const struct x86_pmu_config *config)
{
	return config->version >= X86_PMU_AMD_CORE;
}

static bool has_amd_v2(const struct x86_pmu_config *config)
{
	return config->version == X86_PMU_AMD_V2;
}

static bool has_always(const struct x86_pmu_config *config)
{
	(void)config;
	return true;
}

static unsigned int width_of(const struct x86_pmu_config *config, unsigned int i)
{
	return i < X86_PMU_GP_MAX ? config->gp_width : config->fixed_width;
}

static unsigned int global_bit(unsigned int i)
{
	return i < X86_PMU_GP_MAX ? i : X86_PMU_GLOBAL_FIXED + i - X86_PMU_GP_MAX;
}

/* All counters, by their bits in the global registers. */
static uint64_t global_counters(const struct x86_pmu_config *config)
{
	return low_bits(config->gp) | (uint64_t)config->fixed << X86_PMU_GLOBAL_FIXED;
}

/* ---- counting ---- */

static uint64_t count_of(const struct x86_pmu_counter *c, x86_pmu_counts counts)
{
	uint64_t sum = 0;
	int ring;

	for (ring = 0; ring < X86_PMU_RINGS; ring++) {
		if (!(c->rings & 1 << ring))
			continue;
		sum += counts[c->event.kind][ring];
		if (c->event.less != X86_PMU_NOTHING)
			sum -= counts[c->event.less][ring];
	}
	return sum;
}

static bool is_frozen(const struct x86_pmu *pmu)
{
	return pmu->status & STATUS_FROZEN;
}

/* Stop the counters, if the interrupt about to be signalled is to do so. */
static void freeze(struct x86_pmu *pmu)
{
	if (!(pmu->debugctl & DEBUGCTL_FREEZE))
		return;
	if (has_streamlined_freeze(pmu->config))
		pmu->status |= STATUS_FROZEN;
	else
		pmu->global_ctrl = 0;
}

static void overflow(struct x86_pmu *pmu, unsigned int i)
{
	pmu->overflows++;
	if (has_global(pmu->config))
		pmu->status |= UINT64_C(1) << global_bit(i);
	if (!pmu->counter[i].interrupts)
		return;
	if (has_global(pmu->config))
		freeze(pmu);
	pmu->ops->interrupt(pmu);
}

/*
 * Bring all counters up to date. An instruction that faults is taken back, so
 * a count may be less than it was: the counter stays until it is exceeded.
 *
 * Return: whether there was an overflow.
 */
static bool advance(struct x86_pmu *pmu)
{
	uint32_t overflowed = 0;
	x86_pmu_counts counts;
	unsigned int i;

	pmu->ops->read(pmu, counts);
	for (i = 0; i < X86_PMU_COUNTERS_MAX; i++) {
		struct x86_pmu_counter *c = &pmu->counter[i];
		uint64_t now, steps;

		if (!c->active)
			continue;
		now = count_of(c, counts);
		if ((int64_t)(now - c->seen) <= 0)
			continue;
		steps = (now - c->seen) * c->event.times + c->fraction;
		c->seen = now;
		c->fraction = steps % c->event.per;
		c->value += steps / c->event.per;
		if (c->value > low_bits(width_of(pmu->config, i))) {
			c->value &= low_bits(width_of(pmu->config, i));
			overflowed |= UINT32_C(1) << i;
		}
	}

	/* Counters that overflow together do so before any of them freezes the rest. */
	for (i = 0; i < X86_PMU_COUNTERS_MAX; i++)
		if (overflowed >> i & 1)
			overflow(pmu, i);

	if (pmu->alarm_set && (int64_t)(counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER] +
					counts[X86_PMU_INSTRUCTIONS][X86_PMU_KERNEL] -
					pmu->alarm) >= 0) {
		pmu->alarm_set = false;
		pmu->ops->alarm(pmu);
	}
	return overflowed;
}

/* Nothing of @kind, in none of @rings, may happen @n times unnoticed. */
static void shorten(x86_pmu_counts distance, enum x86_pmu_kind kind, unsigned int rings,
		    uint64_t n)
{
	int ring;

	/*
	 * What happens in the other ring is not known in time. With half of the
	 * rest for each, the overflow is approached in a few steps, not missed.
	 */
	if (rings == (1 << X86_PMU_USER | 1 << X86_PMU_KERNEL))
		n = (n + 1) / 2;
	for (ring = 0; ring < X86_PMU_RINGS; ring++)
		if (rings & 1 << ring && n < distance[kind][ring])
			distance[kind][ring] = n;
}

/* Tell the CPU when to call x86_pmu_check(). */
static void watch(struct x86_pmu *pmu)
{
	x86_pmu_counts distance, counts;
	unsigned int i, ring;

	for (i = 0; i < X86_PMU_KINDS; i++)
		for (ring = 0; ring < X86_PMU_RINGS; ring++)
			distance[i][ring] = FAR_AWAY;

	for (i = 0; i < X86_PMU_COUNTERS_MAX; i++) {
		struct x86_pmu_counter *c = &pmu->counter[i];
		uint64_t steps;

		if (!c->active)
			continue;
		steps = low_bits(width_of(pmu->config, i)) + 1 - c->value;
		steps = steps * c->event.per - c->fraction;
		shorten(distance, c->event.kind, c->rings,
			(steps + c->event.times - 1) / c->event.times);
	}
	if (pmu->alarm_set) {
		pmu->ops->read(pmu, counts);
		shorten(distance, X86_PMU_INSTRUCTIONS,
			1 << X86_PMU_USER | 1 << X86_PMU_KERNEL,
			pmu->alarm - counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER] -
			counts[X86_PMU_INSTRUCTIONS][X86_PMU_KERNEL]);
	}
	pmu->ops->watch(pmu, distance);
}

static bool same_event(const struct x86_pmu_counter *a, const struct x86_pmu_counter *b)
{
	return a->rings == b->rings && a->event.kind == b->event.kind &&
	       a->event.less == b->event.less && a->event.times == b->event.times &&
	       a->event.per == b->event.per;
}

static bool gp_enabled(const struct x86_pmu *pmu, unsigned int i)
{
	return (pmu->counter[i].select & X86_PMU_SEL_EN) &&
	       (!has_global(pmu->config) || pmu->global_ctrl >> i & 1);
}

static void activate_gp(struct x86_pmu *pmu, unsigned int i)
{
	struct x86_pmu_counter *c = &pmu->counter[i];

	c->active = gp_enabled(pmu, i) &&
		    x86_pmu_event_select(x86_pmu_is_amd(pmu->config), c->select, &c->event);
	c->rings = (c->select & X86_PMU_SEL_USR ? 1 << X86_PMU_USER : 0) |
		   (c->select & X86_PMU_SEL_OS ? 1 << X86_PMU_KERNEL : 0);
	/* There are no guests here; "host only" is not told from both. */
	if ((c->select & SELECT_AMD_HG_ONLY) == SELECT_AMD_GUEST_ONLY)
		c->rings = 0;
	c->interrupts = c->select & X86_PMU_SEL_INT;
}

static void activate_fixed(struct x86_pmu *pmu, unsigned int i)
{
	struct x86_pmu_counter *c = &pmu->counter[i];
	unsigned int n = i - X86_PMU_GP_MAX;
	unsigned int ctrl = pmu->fixed_ctrl >> (n * FIXED_BITS) & low_bits(FIXED_BITS);

	c->active = (pmu->config->fixed >> n & 1) &&
		    (pmu->global_ctrl >> global_bit(i) & 1) &&
		    x86_pmu_event_fixed(n, &c->event);
	c->rings = (ctrl & FIXED_USR ? 1 << X86_PMU_USER : 0) |
		   (ctrl & FIXED_OS ? 1 << X86_PMU_KERNEL : 0);
	c->interrupts = ctrl & FIXED_PMI;
}

/* A register has changed: see which counters are to count what from here on. */
static void activate(struct x86_pmu *pmu)
{
	x86_pmu_counts counts;
	uint32_t need = 0;
	unsigned int i;

	pmu->ops->read(pmu, counts);
	for (i = 0; i < X86_PMU_COUNTERS_MAX; i++) {
		struct x86_pmu_counter *c = &pmu->counter[i];
		struct x86_pmu_counter before = *c;

		if (i < X86_PMU_GP_MAX)
			activate_gp(pmu, i);
		else
			activate_fixed(pmu, i);
		if (!c->rings || is_frozen(pmu) || i == pmu->config->stuck)
			c->active = false;
		if (!c->active)
			continue;
		if (!before.active || !same_event(c, &before))
			c->seen = count_of(c, counts);
		need |= X86_PMU_KIND_BIT(c->event.kind);
		if (c->event.less != X86_PMU_NOTHING)
			need |= X86_PMU_KIND_BIT(c->event.less);
	}
	if (need)
		pmu->ops->need(pmu, need);
	watch(pmu);
}

/**
 * x86_pmu_check() - find out whether a counter has overflowed
 * @pmu: the PMU of the CPU whose thread this is
 */
void x86_pmu_check(struct x86_pmu *pmu)
{
	pmu->checks++;
	if (advance(pmu))
		activate(pmu);	/* it may have frozen the counters */
	else
		watch(pmu);
}

/**
 * x86_pmu_set_alarm() - have the alarm callback called
 * @pmu: the PMU of the CPU whose thread this is
 * @instructions: when so many more have been executed
 */
void x86_pmu_set_alarm(struct x86_pmu *pmu, uint64_t instructions)
{
	x86_pmu_counts counts;

	pmu->ops->need(pmu, X86_PMU_KIND_BIT(X86_PMU_INSTRUCTIONS));
	pmu->ops->read(pmu, counts);
	pmu->alarm = counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER] +
		     counts[X86_PMU_INSTRUCTIONS][X86_PMU_KERNEL] + instructions;
	pmu->alarm_set = true;
	watch(pmu);
}

/**
 * x86_pmu_reset() - the values of power-up and RESET (INIT changes nothing)
 * @pmu: the PMU
 *
 * What is counted about the PMU itself goes on.
 */
void x86_pmu_reset(struct x86_pmu *pmu)
{
	memset(pmu->counter, 0, sizeof(pmu->counter));
	pmu->fixed_ctrl = 0;
	pmu->global_ctrl = has_global(pmu->config) ? low_bits(pmu->config->gp) : 0;
	pmu->status = 0;
	pmu->sticky = 0;
	pmu->debugctl = 0;
	pmu->alarm_set = false;
	watch(pmu);
}

/**
 * x86_pmu_init() - make a PMU
 * @pmu: the PMU
 * @config: its kind; it stays in use
 * @ops: the CPU; they stay in use
 */
void x86_pmu_init(struct x86_pmu *pmu, const struct x86_pmu_config *config,
		  const struct x86_pmu_ops *ops)
{
	*pmu = (struct x86_pmu) { .config = config, .ops = ops };
	x86_pmu_reset(pmu);
}

/* ---- registers ---- */

static void set_counter(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	pmu->counter[i].value = value & low_bits(width_of(pmu->config, i));
	pmu->counter[i].fraction = 0;
}

static bool read_gp(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	*value = pmu->counter[i].value;
	return true;
}

/* Bits above the 31st are copies of it. */
static bool write_gp_short(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	set_counter(pmu, i, (uint64_t)(int64_t)(int32_t)value);
	return true;
}

static bool write_gp_full(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	if (value & ~low_bits(pmu->config->gp_width))
		return false;
	set_counter(pmu, i, value);
	return true;
}

static bool write_gp_amd(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	set_counter(pmu, i, value);
	return true;
}

static bool read_select(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	*value = pmu->counter[i].select;
	return true;
}

static bool write_select(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	uint64_t allowed = x86_pmu_is_amd(pmu->config) ? SELECT_AMD : SELECT_INTEL;

	if (value & ~allowed)
		return false;
	pmu->counter[i].select = value;
	return true;
}

static bool read_fixed(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	*value = pmu->counter[X86_PMU_GP_MAX + i].value;
	return true;
}

static bool write_fixed(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	if (value & ~low_bits(pmu->config->fixed_width))
		return false;
	set_counter(pmu, X86_PMU_GP_MAX + i, value);
	return true;
}

static bool read_capabilities(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	(void)i;
	*value = pmu->config->full_width ? CAPABILITIES_FW_WRITE : 0;
	return true;
}

static bool read_fixed_ctrl(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	(void)i;
	*value = pmu->fixed_ctrl;
	return true;
}

static bool write_fixed_ctrl(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	uint64_t allowed = 0;
	unsigned int n;

	(void)i;
	for (n = 0; n < X86_PMU_FIXED_MAX; n++)
		if (pmu->config->fixed >> n & 1)
			allowed |= (uint64_t)(FIXED_OS | FIXED_USR | FIXED_PMI) <<
				   (n * FIXED_BITS);
	if (value & ~allowed)
		return false;
	pmu->fixed_ctrl = value;
	return true;
}

static bool read_status(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	(void)i;
	*value = pmu->status;
	return true;
}

static bool read_global_ctrl(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	(void)i;
	*value = pmu->global_ctrl;
	return true;
}

/* Does the write set reserved bits, and fault? Global registers of AMD ignore them. */
static bool reserved(const struct x86_pmu *pmu, uint64_t value, uint64_t allowed)
{
	return !x86_pmu_is_amd(pmu->config) && (value & ~allowed);
}

static bool write_global_ctrl(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	(void)i;
	if (reserved(pmu, value, global_counters(pmu->config)))
		return false;
	pmu->global_ctrl = value & global_counters(pmu->config);
	return true;
}

static uint64_t status_bits(const struct x86_pmu_config *config)
{
	uint64_t bits = global_counters(config);

	if (x86_pmu_is_amd(config))
		return bits | STATUS_LBR_FROZEN | STATUS_FROZEN;
	bits |= STATUS_BUFFER | STATUS_CHANGED;
	if (config->version >= X86_PMU_INTEL_V3)
		bits |= STATUS_UNCORE;
	if (config->version >= X86_PMU_INTEL_V4)
		bits |= STATUS_TRACE_TOPA | STATUS_LBR_FROZEN | STATUS_FROZEN | STATUS_ASCI;
	return bits;
}

static bool read_zero(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	(void)pmu;
	(void)i;
	*value = 0;
	return true;
}

static bool write_status_clear(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	uint64_t resists = 0;

	(void)i;
	if (reserved(pmu, value, status_bits(pmu->config)))
		return false;
	if (pmu->config->sticky_status) {
		resists = value & pmu->status & ~pmu->sticky;
		pmu->sticky = (pmu->sticky | resists) & ~(value & ~resists);
	}
	pmu->status &= ~value | resists;
	return true;
}

static bool write_status_set(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	(void)i;
	if (reserved(pmu, value, status_bits(pmu->config)))
		return false;
	pmu->status |= value & status_bits(pmu->config);
	return true;
}

static bool read_inuse(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	unsigned int n, ctrl;

	(void)i;
	*value = 0;
	for (n = 0; n < pmu->config->gp; n++) {
		if (pmu->counter[n].select & X86_PMU_SEL_EVENT)
			*value |= UINT64_C(1) << n;
		if (pmu->counter[n].select & X86_PMU_SEL_INT)
			*value |= INUSE_PMI;
	}
	for (n = 0; n < X86_PMU_FIXED_MAX; n++) {
		ctrl = pmu->fixed_ctrl >> (n * FIXED_BITS);
		if (ctrl & (FIXED_OS | FIXED_USR))
			*value |= UINT64_C(1) << (X86_PMU_GLOBAL_FIXED + n);
		if (ctrl & FIXED_PMI)
			*value |= INUSE_PMI;
	}
	return true;
}

static bool read_debugctl(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	(void)i;
	*value = pmu->debugctl;
	return true;
}

static bool write_debugctl(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	(void)i;
	if (value & ~(x86_pmu_is_amd(pmu->config) ? DEBUGCTL_AMD : DEBUGCTL_INTEL))
		return false;
	pmu->debugctl = value;
	return true;
}

/* How many registers a row stands for. */
enum msr_bank {
	BANK_ONE,
	BANK_GP,
	BANK_GP_LEGACY,		/* AMD's first four */
	BANK_FIXED,
};

/**
 * struct msr_row - one register, or one for each counter
 * @name: in the words of the manual
 * @first: the number of the first
 * @stride: from one to the next
 * @bank: how many there are
 * @room: how many numbers are set aside; those without a counter fault
 * @present: whether this PMU has it; if not an access faults
 * @read: its value; NULL if reading faults
 * @write: false for #GP; NULL if writing faults
 */
struct msr_row {
	const char *name;
	uint32_t first;
	uint8_t stride;
	enum msr_bank bank;
	uint8_t room;
	bool (*present)(const struct x86_pmu_config *config);
	bool (*read)(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
	bool (*write)(struct x86_pmu *pmu, unsigned int i, uint64_t value);
};

static const struct msr_row intel_msrs[] = {
	{ "IA32_PMC",                    0x0c1, 1, BANK_GP,    8,
	  has_always,     read_gp,           write_gp_short },
	{ "IA32_PERFEVTSEL",             0x186, 1, BANK_GP,    8,
	  has_always,     read_select,       write_select },
	{ "IA32_DEBUGCTL",               0x1d9, 1, BANK_ONE,   1,
	  has_always,     read_debugctl,     write_debugctl },
	{ "IA32_FIXED_CTR",              0x309, 1, BANK_FIXED, 16,
	  has_intel_v2,   read_fixed,        write_fixed },
	{ "IA32_PERF_CAPABILITIES",      0x345, 1, BANK_ONE,   1,
	  has_full_width, read_capabilities, NULL },
	{ "IA32_FIXED_CTR_CTRL",         0x38d, 1, BANK_ONE,   1,
	  has_intel_v2,   read_fixed_ctrl,   write_fixed_ctrl },
	{ "IA32_PERF_GLOBAL_STATUS",     0x38e, 1, BANK_ONE,   1,
	  has_intel_v2,   read_status,       NULL },
	{ "IA32_PERF_GLOBAL_CTRL",       0x38f, 1, BANK_ONE,   1,
	  has_intel_v2,   read_global_ctrl,  write_global_ctrl },
	/* IA32_PERF_GLOBAL_STATUS_RESET from version 4 on */
	{ "IA32_PERF_GLOBAL_OVF_CTRL",   0x390, 1, BANK_ONE,   1,
	  has_intel_v2,   read_zero,         write_status_clear },
	{ "IA32_PERF_GLOBAL_STATUS_SET", 0x391, 1, BANK_ONE,   1,
	  has_intel_v4,   read_zero,         write_status_set },
	{ "IA32_PERF_GLOBAL_INUSE",      0x392, 1, BANK_ONE,   1,
	  has_intel_v4,   read_inuse,        NULL },
	{ "IA32_A_PMC",                  0x4c1, 1, BANK_GP,    8,
	  has_full_width, read_gp,           write_gp_full },
};

static const struct msr_row amd_msrs[] = {
	{ "DBG_CTL",                     0x1d9, 1, BANK_ONE,   1,
	  has_always,   read_debugctl,    write_debugctl },
	{ "PERF_CNTR_GLOBAL_STATUS",     0xc0000300, 1, BANK_ONE, 1,
	  has_amd_v2,   read_status,      NULL },
	{ "PERF_CNTR_GLOBAL_CTL",        0xc0000301, 1, BANK_ONE, 1,
	  has_amd_v2,   read_global_ctrl, write_global_ctrl },
	{ "PERF_CNTR_GLOBAL_STATUS_CLR", 0xc0000302, 1, BANK_ONE, 1,
	  has_amd_v2,   read_zero,        write_status_clear },
	{ "PERF_CNTR_GLOBAL_STATUS_SET", 0xc0000303, 1, BANK_ONE, 1,
	  has_amd_v2,   read_zero,        write_status_set },
	{ "PERF_LEGACY_CTL",             0xc0010000, 1, BANK_GP_LEGACY, 4,
	  has_always,   read_select,      write_select },
	{ "PERF_LEGACY_CTR",             0xc0010004, 1, BANK_GP_LEGACY, 4,
	  has_always,   read_gp,          write_gp_amd },
	{ "PERF_CTL",                    0xc0010200, 2, BANK_GP, 15,
	  has_amd_core, read_select,      write_select },
	{ "PERF_CTR",                    0xc0010201, 2, BANK_GP, 15,
	  has_amd_core, read_gp,          write_gp_amd },
};

_Static_assert(ARRAY_SIZE(intel_msrs) < X86_PMU_MSR_ROWS, "X86_PMU_MSR_ROWS");
_Static_assert(ARRAY_SIZE(amd_msrs) < X86_PMU_MSR_ROWS, "X86_PMU_MSR_ROWS");

/* The last row is the local APIC's: only counted. */
#define ROW_LVTPC	(X86_PMU_MSR_ROWS - 1)

static bool bank_has(const struct x86_pmu_config *config, enum msr_bank bank, unsigned int i)
{
	switch (bank) {
	case BANK_GP:
	case BANK_GP_LEGACY:
		return i < config->gp;
	case BANK_FIXED:
		return config->fixed >> i & 1;
	default:
		return true;
	}
}

static const struct msr_row *msr_table(const struct x86_pmu_config *config, size_t *len)
{
	*len = x86_pmu_is_amd(config) ? ARRAY_SIZE(amd_msrs) : ARRAY_SIZE(intel_msrs);
	return x86_pmu_is_amd(config) ? amd_msrs : intel_msrs;
}

/* The row of a register, and which of its registers it is; NULL if not of the PMU. */
static const struct msr_row *find_msr(const struct x86_pmu_config *config, uint32_t msr,
				      size_t *row, unsigned int *i)
{
	const struct msr_row *table;
	size_t len;

	table = msr_table(config, &len);
	for (*row = 0; *row < len; (*row)++) {
		const struct msr_row *r = &table[*row];
		uint32_t offset = msr - r->first;

		*i = offset / r->stride;
		if (msr >= r->first && offset % r->stride == 0 && *i < r->room)
			return r;
	}
	return NULL;
}

static bool msr_exists(const struct x86_pmu_config *config, const struct msr_row *r,
		       unsigned int i)
{
	return r->present(config) && bank_has(config, r->bank, i);
}

/**
 * x86_pmu_rdmsr() - RDMSR
 * @pmu: the PMU of the CPU whose thread this is
 * @msr: the register's number
 * @value: its value, if X86_PMU_DONE
 */
enum x86_pmu_access x86_pmu_rdmsr(struct x86_pmu *pmu, uint32_t msr, uint64_t *value)
{
	const struct msr_row *r;
	unsigned int i;
	size_t row;

	r = find_msr(pmu->config, msr, &row, &i);
	if (!r) {
		if (msr == X86_PMU_X2APIC_LVTPC)
			pmu->msr[ROW_LVTPC].reads++;
		return X86_PMU_NOT_HERE;
	}
	pmu->msr[row].reads++;
	if (!msr_exists(pmu->config, r, i) || !r->read)
		return X86_PMU_FAULT;
	if (advance(pmu))
		activate(pmu);
	return r->read(pmu, i, value) ? X86_PMU_DONE : X86_PMU_FAULT;
}

/**
 * x86_pmu_wrmsr() - WRMSR
 * @pmu: the PMU of the CPU whose thread this is
 * @msr: the register's number
 * @value: what to write
 */
enum x86_pmu_access x86_pmu_wrmsr(struct x86_pmu *pmu, uint32_t msr, uint64_t value)
{
	const struct msr_row *r;
	unsigned int i;
	size_t row;

	r = find_msr(pmu->config, msr, &row, &i);
	if (!r) {
		if (msr == X86_PMU_X2APIC_LVTPC)
			pmu->msr[ROW_LVTPC].writes++;
		return X86_PMU_NOT_HERE;
	}
	pmu->msr[row].writes++;
	if (!msr_exists(pmu->config, r, i) || !r->write)
		return X86_PMU_FAULT;
	advance(pmu);
	if (!r->write(pmu, i, value)) {
		activate(pmu);
		return X86_PMU_FAULT;
	}
	activate(pmu);
	return X86_PMU_DONE;
}

/* Intel's RDPMC has a type in the upper half of the selector. */
#define RDPMC_FIXED	UINT32_C(0x40000000)

/**
 * x86_pmu_rdpmc() - RDPMC, where it is allowed
 * @pmu: the PMU of the CPU whose thread this is
 * @selector: ECX
 * @value: the counter, if X86_PMU_DONE
 */
enum x86_pmu_access x86_pmu_rdpmc(struct x86_pmu *pmu, uint32_t selector, uint64_t *value)
{
	uint32_t n = selector & ~RDPMC_FIXED;
	unsigned int i;

	pmu->rdpmc++;
	if (selector < pmu->config->gp)
		i = selector;
	else if (selector & RDPMC_FIXED && n < X86_PMU_FIXED_MAX && pmu->config->fixed >> n & 1)
		i = X86_PMU_GP_MAX + n;
	else
		return X86_PMU_FAULT;
	if (advance(pmu))
		activate(pmu);
	*value = pmu->counter[i].value;
	return X86_PMU_DONE;
}

/**
 * x86_pmu_msr_name() - names for the accesses counted in struct x86_pmu
 * @config: the PMU
 * @row: index into its msr[]
 *
 * Return: NULL where nothing is counted.
 */
const char *x86_pmu_msr_name(const struct x86_pmu_config *config, unsigned int row)
{
	const struct msr_row *table;
	size_t len;

	table = msr_table(config, &len);
	if (row == ROW_LVTPC)
		return "X2APIC_LVT_PMI";
	return row < len ? table[row].name : NULL;
}

/* ---- CPUID ---- */

#define LEAF_VENDOR		0x00000000
#define LEAF_FEATURES		0x00000001
#define LEAF_PERFMON		0x0000000a
#define LEAF_EXTENDED		0x80000000
#define LEAF_AMD_FEATURES	0x80000001
#define LEAF_AMD_PERFMON	0x80000022

#define FEATURE_PDCM		(UINT32_C(1) << 15)	/* IA32_PERF_CAPABILITIES */
#define FEATURE_PERFCTR_CORE	(UINT32_C(1) << 23)
#define FEATURE_ANY_DEPRECATED	(UINT32_C(1) << 15)

/* Of the architectural events, all but the slots exist in every version. */
#define EVENTS_COMMON		7
#define EVENTS_WITH_SLOTS	8

static void set_bit(uint32_t *reg, uint32_t bit, bool value)
{
	*reg = value ? *reg | bit : *reg & ~bit;
}

static void perfmon_leaf(const struct x86_pmu_config *config, struct x86_pmu_cpuid *regs)
{
	unsigned int version = config->version - X86_PMU_INTEL_V1 + 1;
	unsigned int events = config->fixed & 8 ? EVENTS_WITH_SLOTS : EVENTS_COMMON;
	unsigned int contiguous = 0;

	while (config->fixed >> contiguous & 1)
		contiguous++;

	*regs = (struct x86_pmu_cpuid) {
		.eax = version | config->gp << 8 | config->gp_width << 16 | events << 24,
		.ecx = version >= 5 ? config->fixed : 0,
		.edx = version >= 2 ? contiguous | config->fixed_width << 5 |
				      FEATURE_ANY_DEPRECATED : 0,
	};
}

static void intel_cpuid(const struct x86_pmu_config *config, uint32_t leaf,
			struct x86_pmu_cpuid *regs)
{
	switch (leaf) {
	case LEAF_VENDOR:
		if (regs->eax < LEAF_PERFMON)
			regs->eax = LEAF_PERFMON;
		break;
	case LEAF_FEATURES:
		set_bit(&regs->ecx, FEATURE_PDCM, has_full_width(config));
		break;
	case LEAF_PERFMON:
		perfmon_leaf(config, regs);
		break;
	}
}

static void amd_cpuid(const struct x86_pmu_config *config, uint32_t leaf,
		      struct x86_pmu_cpuid *regs)
{
	switch (leaf) {
	case LEAF_EXTENDED:
		if (has_amd_v2(config) && regs->eax < LEAF_AMD_PERFMON)
			regs->eax = LEAF_AMD_PERFMON;
		break;
	case LEAF_AMD_FEATURES:
		set_bit(&regs->ecx, FEATURE_PERFCTR_CORE, has_amd_core(config));
		break;
	case LEAF_AMD_PERFMON:
		if (has_amd_v2(config))
			*regs = (struct x86_pmu_cpuid) { .eax = 1, .ebx = config->gp };
		break;
	}
}

/**
 * x86_pmu_cpuid() - what the PMU changes of CPUID
 * @config: the PMU
 * @leaf: EAX before the instruction
 * @regs: the result of a CPU without the PMU, then of one with it
 */
void x86_pmu_cpuid(const struct x86_pmu_config *config, uint32_t leaf,
		   struct x86_pmu_cpuid *regs)
{
	if (x86_pmu_is_amd(config))
		amd_cpuid(config, leaf, regs);
	else
		intel_cpuid(config, leaf, regs);
}
