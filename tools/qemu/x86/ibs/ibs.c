// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instruction-based sampling of AMD.
 *
 * Registers as in the AMD APM, volume 2, "Instruction-Based Sampling", and AMD PPR for family
 * 19h model 11h, MSRC001_1030 and following. The additions of Zen 4 are not implemented.
 *
 * An instruction is one fetch and one micro-op. The model tags exactly the instruction that reaches
 * the maximum count, if it retires. See pebs.c for how the model detects it.
 */
#include <string.h>

#include "common/options.h"
#include "x86/registers/maker.h"

/* CPUID 0x8000001b, EAX */
#define CAPABILITY_VALID	(UINT32_C(1) << 0)
#define CAPABILITY_FETCH	(UINT32_C(1) << 1)
#define CAPABILITY_OP		(UINT32_C(1) << 2)
#define CAPABILITY_RDWR_CNT	(UINT32_C(1) << 3)
#define CAPABILITY_OP_CNT	(UINT32_C(1) << 4)
#define CAPABILITY_OP_CNT_EXT	(UINT32_C(1) << 6)
#define CAPABILITY_RIP_INVALID	(UINT32_C(1) << 7)

/* IbsFetchCtl, IbsOpCtl: the lowest 16 bits are the maximum count >> MAX_CNT_SHIFT */
#define MAX_CNT			UINT64_C(0xffff)
#define MAX_CNT_SHIFT		4

/* IbsFetchCtl */
#define FETCH_CNT_SHIFT		16
#define FETCH_EN		(UINT64_C(1) << 48)
#define FETCH_VAL		(UINT64_C(1) << 49)
#define FETCH_COMP		(UINT64_C(1) << 50)
#define FETCH_RAND_EN		(UINT64_C(1) << 57)
#define FETCH_WRITABLE		(MAX_CNT | FETCH_EN | FETCH_VAL | FETCH_RAND_EN)

/* IbsOpCtl */
#define OP_EN			(UINT64_C(1) << 17)
#define OP_VAL			(UINT64_C(1) << 18)
#define OP_CNT_CTL		(UINT64_C(1) << 19)
#define OP_MAX_CNT_EXT		(UINT64_C(0x7f) << 20)
#define OP_CUR_CNT_SHIFT	32
#define OP_CUR_CNT		UINT64_C(0x7ffffff)
#define OP_WRITABLE		(MAX_CNT | OP_EN | OP_VAL | OP_CNT_CTL | OP_MAX_CNT_EXT)

/* IbsOpData: cycles from completion, and from the tag, to retirement */
#define DATA_TAG_TO_RET_SHIFT	16

/* IbsOpData2: data source of an access that misses the L1 cache */
#define DATA2_CACHE		2
#define DATA2_MEMORY		3

/* IbsOpData3 */
#define DATA3_LOAD		(UINT64_C(1) << 0)
#define DATA3_STORE		(UINT64_C(1) << 1)
#define DATA3_MISS		(UINT64_C(1) << 7)
#define DATA3_L2_MISS		(UINT64_C(1) << 20)
#define DATA3_LIN_VALID		(UINT64_C(1) << 17)
#define DATA3_LATENCY_SHIFT	32

/* IbsControl: entry 0 of the local APIC's extended LVT */
#define CONTROL_LVT_VALID	(UINT64_C(1) << 8)

/* An entry of the extended LVT */
#define EILVT_MASKED		(UINT64_C(1) << 16)

/*
 * Latencies of x86_pebs_latency(), in cycles: the maximum of an L1 hit and of an L2 hit, the
 * minimum of memory
 */
#define LATENCY_FIRST_LEVEL	5
#define LATENCY_SECOND_LEVEL	16
#define LATENCY_MEMORY		200

/* ---- for the model ---- */

bool x86_ibs_present(const struct x86_pmu_config *config)
{
	return config->ibs.present;
}

/**
 * x86_ibs_config_error() - check the IBS properties of a PMU
 * @config: the PMU
 *
 * Return: NULL, or half a sentence about the error.
 */
const char *x86_ibs_config_error(const struct x86_pmu_config *config)
{
	if (config->ibs.present && !x86_pmu_is_amd(config))
		return "has no instruction-based sampling: use an AMD model";
	if (config->ibs.late && !config->ibs.present)
		return "has no instruction-based sampling to be late: set ibs=on";
	return NULL;
}

/**
 * x86_ibs_capabilities() - return CPUID leaf 0x8000001b, EAX
 */
uint32_t x86_ibs_capabilities(void)
{
	return CAPABILITY_VALID | CAPABILITY_FETCH | CAPABILITY_OP | CAPABILITY_RDWR_CNT |
	       CAPABILITY_OP_CNT | CAPABILITY_OP_CNT_EXT | CAPABILITY_RIP_INVALID;
}

static bool is_counting(const struct x86_pmu *pmu, enum x86_ibs_unit unit)
{
	const struct x86_ibs_counter *c = &pmu->ibs.counter[unit];
	uint64_t enabled = unit == X86_IBS_OP ? OP_EN : FETCH_EN;
	uint64_t valid = unit == X86_IBS_OP ? OP_VAL : FETCH_VAL;

	return (c->ctl & (enabled | valid)) == enabled && c->max && !c->due;
}

/* Return the kind of a unit's count. */
static enum x86_pmu_kind kind_of(const struct x86_pmu *pmu, enum x86_ibs_unit unit)
{
	return unit == X86_IBS_OP && !(pmu->ibs.counter[unit].ctl & OP_CNT_CTL) ?
	       X86_PMU_CYCLES : X86_PMU_INSTRUCTIONS;
}

static uint64_t count_of(const struct x86_pmu *pmu, enum x86_ibs_unit unit, x86_pmu_counts counts)
{
	const uint64_t *rings = counts[kind_of(pmu, unit)];
	uint64_t sum = 0;

	for (int ring = 0; ring < X86_PMU_RINGS; ring++)
		sum += rings[ring];
	return sum;
}

/**
 * x86_ibs_needs() - return a bitmap of the kinds of counts that the counting units need
 * @pmu: the PMU
 */
uint32_t x86_ibs_needs(const struct x86_pmu *pmu)
{
	uint32_t need = 0;

	for (unsigned int unit = 0; unit < X86_IBS_UNITS; unit++)
		if (is_counting(pmu, unit))
			need |= X86_PMU_KIND_BIT(kind_of(pmu, unit)) |
				X86_PMU_KIND_BIT(X86_PMU_STEPS);
	return need;
}

/**
 * x86_ibs_advance() - update the counts of the units
 * @pmu: the PMU of this thread's CPU
 * @counts: the CPU's counts
 * @except: bitmap of the units that the next step updates
 */
void x86_ibs_advance(struct x86_pmu *pmu, x86_pmu_counts counts, uint32_t except)
{
	for (unsigned int unit = 0; unit < X86_IBS_UNITS; unit++) {
		struct x86_ibs_counter *c = &pmu->ibs.counter[unit];
		uint64_t now;

		if (!is_counting(pmu, unit) || except >> unit & 1)
			continue;
		now = count_of(pmu, unit, counts);
		if ((int64_t)(now - c->seen) <= 0)
			continue;
		c->value += now - c->seen;
		c->seen = now;
		if (c->value < c->max)
			continue;
		c->value = c->max;
		c->due = true;
		if (!(pmu->pebs.near >> (X86_PMU_COUNTERS_MAX + unit) & 1))
			pmu->ibs.inexact++;
	}
}

/**
 * x86_ibs_distance() - return the distance of a unit's count to its maximum
 * @pmu: the PMU
 * @unit: the unit
 * @kind: set to the kind of the count
 *
 * Return: the distance; 0 if the unit does not count.
 */
uint64_t x86_ibs_distance(const struct x86_pmu *pmu, enum x86_ibs_unit unit,
			  enum x86_pmu_kind *kind)
{
	const struct x86_ibs_counter *c = &pmu->ibs.counter[unit];

	if (!is_counting(pmu, unit))
		return 0;
	*kind = kind_of(pmu, unit);
	return c->max > c->value ? c->max - c->value : 1;
}

/**
 * x86_ibs_is_due() - check whether a unit tags the next instruction that retires
 * @pmu: the PMU
 */
bool x86_ibs_is_due(const struct x86_pmu *pmu)
{
	return pmu->ibs.counter[X86_IBS_FETCH].due || pmu->ibs.counter[X86_IBS_OP].due;
}

/**
 * x86_ibs_reset() - set the registers to their values after power-up and RESET
 * @pmu: the PMU
 */
void x86_ibs_reset(struct x86_pmu *pmu)
{
	struct x86_ibs *ibs = &pmu->ibs;

	*ibs = (struct x86_ibs) { .samples = ibs->samples, .inexact = ibs->inexact };
	for (unsigned int i = 0; i < X86_IBS_EILVT_ENTRIES; i++)
		ibs->eilvt[i] = EILVT_MASKED;
}

/* ---- samples ---- */

static void tag_fetch(struct x86_pmu *pmu, uint64_t ip)
{
	struct x86_ibs *ibs = &pmu->ibs;

	ibs->sample[X86_IBS_FETCH_LIN_AD] = ip;
	ibs->sample[X86_IBS_FETCH_PHYS_AD] = 0;
	ibs->counter[X86_IBS_FETCH].ctl |= FETCH_VAL | FETCH_COMP;
}

static void tag_op(struct x86_pmu *pmu, uint64_t ip, const struct x86_pebs_access *a)
{
	struct x86_ibs *ibs = &pmu->ibs;
	uint64_t *sample = ibs->sample;
	uint64_t addr = a->loads ? a->load : a->store;
	uint64_t latency = 1;

	memset(&sample[X86_IBS_OP_RIP], 0, (X86_IBS_SAMPLE_REGISTERS - X86_IBS_OP_RIP) *
	       sizeof(*sample));
	sample[X86_IBS_OP_RIP] = ip;
	if (a->loads || a->stores) {
		sample[X86_IBS_DC_LIN_AD] = addr;
		sample[X86_IBS_OP_DATA3] = DATA3_LIN_VALID | (a->loads ? DATA3_LOAD : 0) |
					   (a->stores ? DATA3_STORE : 0);
		latency = x86_pebs_latency(addr);
	}
	if (latency > LATENCY_FIRST_LEVEL) {
		sample[X86_IBS_OP_DATA3] |= DATA3_MISS;
		/* IbsOpData2 has the data source only of L2 misses. */
		if (latency > LATENCY_SECOND_LEVEL) {
			sample[X86_IBS_OP_DATA2] = latency < LATENCY_MEMORY ? DATA2_CACHE :
									      DATA2_MEMORY;
			sample[X86_IBS_OP_DATA3] |= DATA3_L2_MISS;
		}
		/* IbsOpData3 has the latency only of loads. */
		if (a->loads)
			sample[X86_IBS_OP_DATA3] |= latency << DATA3_LATENCY_SHIFT;
	}
	sample[X86_IBS_OP_DATA] = 1 | latency << DATA_TAG_TO_RET_SHIFT;
	ibs->counter[X86_IBS_OP].ctl |= OP_VAL;
	/* The op count restarts at its tag; the fetch count only when software writes it. */
	ibs->counter[X86_IBS_OP].value = 0;
}

/**
 * x86_ibs_step() - sample an instruction that has retired, if a unit is due
 * @pmu: the PMU of this thread's CPU; the units are up to date
 * @ip: address of the instruction
 * @access: accesses of the instruction
 *
 * Return: true if a unit was due.
 */
bool x86_ibs_step(struct x86_pmu *pmu, uint64_t ip, const struct x86_pebs_access *access)
{
	struct x86_ibs *ibs = &pmu->ibs;

	if (!x86_ibs_is_due(pmu))
		return false;
	if (!ibs->put_off)
		ibs->samples++;
	if (fault_is_due(pmu->config->ibs.late, ibs->samples) && !ibs->put_off) {
		ibs->put_off = true;
		return true;
	}
	ibs->put_off = false;
	if (ibs->counter[X86_IBS_FETCH].due)
		tag_fetch(pmu, ip);
	if (ibs->counter[X86_IBS_OP].due)
		tag_op(pmu, ip, access);
	ibs->counter[X86_IBS_FETCH].due = false;
	ibs->counter[X86_IBS_OP].due = false;
	pmu->ops->sampled(pmu);
	return true;
}

/* ---- registers ---- */

/* Set the registers and the count of a unit; this cancels a due tag. */
static void set_unit(struct x86_pmu *pmu, enum x86_ibs_unit unit, uint64_t ctl, uint64_t max,
		     uint64_t value)
{
	struct x86_ibs_counter *c = &pmu->ibs.counter[unit];
	x86_pmu_counts counts;

	pmu->ops->read(pmu, counts, X86_PMU_ALL_KINDS);
	*c = (struct x86_ibs_counter) { .ctl = ctl, .max = max, .value = value };
	c->seen = count_of(pmu, unit, counts);
}

bool x86_ibs_read_fetch_ctl(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	const struct x86_ibs_counter *c = &pmu->ibs.counter[X86_IBS_FETCH];

	(void)i;
	*value = c->ctl | (c->value >> MAX_CNT_SHIFT & MAX_CNT) << FETCH_CNT_SHIFT;
	return true;
}

bool x86_ibs_write_fetch_ctl(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	(void)i;
	set_unit(pmu, X86_IBS_FETCH, value & FETCH_WRITABLE, (value & MAX_CNT) << MAX_CNT_SHIFT,
		 (value >> FETCH_CNT_SHIFT & MAX_CNT) << MAX_CNT_SHIFT);
	return true;
}

bool x86_ibs_read_op_ctl(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	const struct x86_ibs_counter *c = &pmu->ibs.counter[X86_IBS_OP];

	(void)i;
	*value = c->ctl | (c->value & OP_CUR_CNT) << OP_CUR_CNT_SHIFT;
	return true;
}

bool x86_ibs_write_op_ctl(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	(void)i;
	set_unit(pmu, X86_IBS_OP, value & OP_WRITABLE,
		 (value & MAX_CNT) << MAX_CNT_SHIFT | (value & OP_MAX_CNT_EXT),
		 value >> OP_CUR_CNT_SHIFT & OP_CUR_CNT);
	return true;
}

X86_MSR_READ(x86_ibs_read_fetch, ibs.sample[X86_IBS_FETCH_LIN_AD + i])

bool x86_ibs_write_fetch(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	pmu->ibs.sample[X86_IBS_FETCH_LIN_AD + i] = value;
	return true;
}

X86_MSR_READ(x86_ibs_read_op, ibs.sample[X86_IBS_OP_RIP + i])

bool x86_ibs_write_op(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	pmu->ibs.sample[X86_IBS_OP_RIP + i] = value;
	return true;
}

bool x86_ibs_read_control(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	(void)pmu;
	(void)i;
	*value = CONTROL_LVT_VALID;
	return true;
}

X86_MSR_READ(x86_ibs_read_eilvt, ibs.eilvt[i])

bool x86_ibs_write_eilvt(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	pmu->ibs.eilvt[i] = value;
	return true;
}
