// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The registers of an arm64 PMU (PMUv3).
 *
 * Arm Architecture Reference Manual, DDI 0487: D13 for what they do, D23 for their fields.
 */
#include "arm64/parts.h"
#include "common/plugin.h"

#define PMCR_P		(UINT64_C(1) << 1)
#define PMCR_C		(UINT64_C(1) << 2)
#define PMCR_X		(UINT64_C(1) << 4)
#define PMCR_N_SHIFT	11

#define TYPE_EVENT_V3	UINT64_C(0x3ff)		/* before PMUv3p1 */

#define PMMIR_THWIDTH_SHIFT	20

/* Return the number of event counters that the CPU's exception level can access. */
static unsigned int visible_event_counters(struct arm64_pmu *pmu)
{
	return pmu->ops->level(pmu) >= ARM64_PMU_EL2 ? pmu->config->counters :
						       arm64_pmu_first_of_el2(pmu);
}

/* Return a bitmap of the counters that the CPU's exception level can access. */
static uint64_t visible_counters(struct arm64_pmu *pmu)
{
	return arm64_pmu_low_bits(visible_event_counters(pmu)) | BIT(ARM64_PMU_CYCLE_COUNTER) |
	       (pmu->config->instr_counter ? BIT(ARM64_PMU_INSTR_COUNTER) : 0);
}

/* Return the bits of a counter's type that are not RES0. */
static uint64_t type_mask(const struct arm64_pmu *pmu, unsigned int i)
{
	uint64_t mask = TYPE_P | TYPE_U;

	if (pmu->config->has_el2)
		mask |= TYPE_NSH;
	if (pmu->config->has_el3)
		mask |= TYPE_NSU | TYPE_NSK | TYPE_M;
	if (i < ARM64_PMU_EVENT_COUNTERS_MAX) {
		mask |= arm64_pmu_has_version(pmu, ARM64_PMU_V3P1) ? PMEVTYPER_EVENT :
								     TYPE_EVENT_V3;
		if (pmu->config->threshold)
			mask |= arm64_pmu_low_bits(pmu->config->threshold) << PMEVTYPER_TH_SHIFT |
				UINT64_C(7) << PMEVTYPER_TC_SHIFT;
	}
	return mask;
}

/**
 * arm64_pmu_reg_name() - return the name of a register in the statistics
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

static uint64_t pmcr_mask(const struct arm64_pmu *pmu)
{
	return PMCR_E | PMCR_D | PMCR_X | PMCR_DP | PMCR_LC |
	       (arm64_pmu_has_version(pmu, ARM64_PMU_V3P5) ? PMCR_LP : 0) |
	       (arm64_pmu_has_version(pmu, ARM64_PMU_V3P7) ? PMCR_FZO : 0);
}

static void write_pmcr(struct arm64_pmu *pmu, uint64_t value)
{
	if (value & PMCR_P)
		for (unsigned int i = 0; i < visible_event_counters(pmu); i++)
			pmu->counter[i].value = 0;
	if (value & PMCR_C)
		pmu->counter[ARM64_PMU_CYCLE_COUNTER].value = 0;
	pmu->pmcr = value & pmcr_mask(pmu);
	if (arm64_pmu_divider(pmu, ARM64_PMU_CYCLE_COUNTER) == 1)
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

	for (unsigned int i = 0; i < ARM64_PMU_EVENT_COUNTERS_MAX; i++) {
		const struct arm64_pmu_counter *c = &pmu->counter[i];

		if (bits >> i & 1 && c->active && c->levels >> level & 1 &&
		    c->event.source == ARM64_PMU_BY_SOFTWARE)
			arm64_pmu_add_steps(pmu, i, 1);
	}
}

/**
 * arm64_pmu_ceid() - return PMCEID<n>_EL0
 * @pmu: the PMU
 * @n: 0 or 1
 */
uint64_t arm64_pmu_ceid(const struct arm64_pmu *pmu, unsigned int n)
{
	uint64_t bits = 0;

	for (unsigned int i = 0; i < 32; i++)
		if (arm64_pmu_has_event(n * 32 + i, pmu->config->slots) &&
		    !arm64_pmu_denies(pmu->config, n * 32 + i))
			bits |= BIT(i);
	return bits;
}

/**
 * arm64_pmu_mmir() - return PMMIR_EL1
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
 * arm64_pmu_read() - execute MRS
 * @pmu: the PMU of this thread's CPU
 * @reg: the register
 * @n: index of the counter, for registers of one counter
 */
uint64_t arm64_pmu_read(struct arm64_pmu *pmu, enum arm64_pmu_reg reg, unsigned int n)
{
	pmu->reads[reg]++;
	/* A guest must not see a counter's overflow before the counter's flag. */
	if (arm64_pmu_advance(pmu))
		arm64_pmu_activate(pmu);
	else
		arm64_pmu_watch(pmu);

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
	pmu->counter[n].value = value & arm64_pmu_low_bits(arm64_pmu_value_bits(pmu, n));
	pmu->counter[n].fraction = 0;
}

/**
 * arm64_pmu_write() - execute MSR
 * @pmu: the PMU of this thread's CPU
 * @reg: the register
 * @n: index of the counter, for registers of one counter
 * @value: the value to write
 */
void arm64_pmu_write(struct arm64_pmu *pmu, enum arm64_pmu_reg reg, unsigned int n,
		     uint64_t value)
{
	uint64_t bits = value & visible_counters(pmu);

	pmu->writes[reg]++;
	if (arm64_pmu_advance(pmu))
		arm64_pmu_activate(pmu);

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
	arm64_pmu_activate(pmu);
}
