// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Branch Record Buffer Extension (BRBE) of an arm64 CPU.
 *
 * Arm Architecture Reference Manual, DDI 0487: D18 for the function, D23 for the registers. The
 * rules for records are the pseudocode of BRBEBranch(), BRBEException(), BRBEExceptionReturn(),
 * BranchRecordAllowed() and CheckPMUOverflowCondition().
 */
#include <string.h>

#include "arm64/brbe/brbe.h"
#include "arm64/registers/model.h"
#include "common/options.h"
#include "common/plugin.h"

#define BIT(n)		(UINT64_C(1) << (n))

/* BRBCR_EL1, BRBCR_EL2 */
#define CR_E0BRE	BIT(0)
#define CR_EXBRE	BIT(1)
#define CR_CC		BIT(3)
#define CR_MPRED	BIT(4)
#define CR_TS		(BIT(5) | BIT(6))
#define CR_FZP		BIT(8)
#define CR_ERTN		BIT(22)
#define CR_EXCEPTION	BIT(23)
#define CR_WRITABLE	(CR_E0BRE | CR_EXBRE | CR_CC | CR_MPRED | CR_TS | CR_FZP | CR_ERTN | \
			 CR_EXCEPTION)

/* BRBFCR_EL1 */
#define FCR_PAUSED	BIT(7)
#define FCR_ENI		BIT(16)
#define FCR_DIRECT	BIT(17)
#define FCR_INDIRECT	BIT(18)
#define FCR_RTN		BIT(19)
#define FCR_INDCALL	BIT(20)
#define FCR_DIRCALL	BIT(21)
#define FCR_CONDDIR	BIT(22)
#define FCR_BANK_SHIFT	28
#define FCR_BANK	(BIT(28) | BIT(29))
#define FCR_KINDS	(FCR_DIRECT | FCR_INDIRECT | FCR_RTN | FCR_INDCALL | FCR_DIRCALL | \
			 FCR_CONDDIR)
#define FCR_WRITABLE	(FCR_PAUSED | FCR_ENI | FCR_KINDS | FCR_BANK)

/* BRBINF<n>_EL1 */
#define INF_TARGET	BIT(0)		/* VALID */
#define INF_SOURCE	BIT(1)
#define INF_MPRED	BIT(5)
#define INF_EL_SHIFT	6
#define INF_TYPE_SHIFT	8
#define INF_CC_SHIFT	32
#define INF_CC_MANTISSA	8		/* bits, below the exponent */
#define INF_CC_TOO_MANY	UINT64_C(0x3fff)
#define INF_CCU		BIT(46)
#define INF_WRITABLE	(UINT64_C(0x7fff) << INF_CC_SHIFT | UINT64_C(0x3f) << INF_TYPE_SHIFT | \
			 UINT64_C(3) << INF_EL_SHIFT | INF_MPRED | INF_TARGET | INF_SOURCE)

/* Width of the cycle count, BRBIDR0_EL1.CC */
#define CYCLE_BITS	20
#define IDR0_CC_20_BIT	(UINT64_C(5) << 12)

#define HCR_TGE		BIT(27)
#define HCR_E2H		BIT(34)

/* Indexes of struct arm64_brbe.cr */
enum { EL1, EL2 };

/**
 * arm64_brbe_config_error() - check the BRBE properties of a PMU
 * @config: the PMU
 *
 * Return: NULL, or half a sentence about the error.
 */
const char *arm64_brbe_config_error(const struct arm64_pmu_config *config)
{
	switch (config->brbe.records) {
	case 0:
	case 8:
	case 16:
	case 32:
	case 64:
		break;
	default:
		return "cannot have that many branch records (8, 16, 32 or 64)";
	}
	if (!config->brbe.records && (config->brbe.lose || config->brbe.tear ||
				      config->brbe.unfrozen))
		return "has no branch records to be faulty: set brbe=";
	if (config->brbe.records && config->has_el3)
		return "has no MDCR_EL3.SBRBE for branch records: use -M secure=off";
	return NULL;
}

static uint64_t hcr_el2(struct arm64_pmu *pmu)
{
	return pmu->config->has_el2 ? pmu->ops->hcr_el2(pmu) : 0;
}

/* BranchRecordAllowed() without AArch32 and BRBFCR_EL1.PAUSED, which callers check */
static bool is_allowed(struct arm64_pmu *pmu, enum arm64_pmu_level level)
{
	const uint64_t *cr = pmu->brbe.cr;

	switch (level) {
	case ARM64_PMU_EL0:
		return cr[hcr_el2(pmu) & HCR_TGE ? EL2 : EL1] & CR_E0BRE;
	case ARM64_PMU_EL1:
		return cr[EL1] & CR_EXBRE;
	case ARM64_PMU_EL2:
		return cr[EL2] & CR_EXBRE;
	default:
		return false;
	}
}

/* Return the levels that may have records. QEMU does not report changes of HCR_EL2.TGE. */
static unsigned int levels_of(const struct arm64_pmu *pmu)
{
	const struct arm64_brbe *b = &pmu->brbe;

	if (b->fcr & FCR_PAUSED)
		return 0;
	return ((b->cr[EL1] | b->cr[EL2]) & CR_E0BRE ? 1 << ARM64_PMU_EL0 : 0) |
	       (b->cr[EL1] & CR_EXBRE ? 1 << ARM64_PMU_EL1 : 0) |
	       (b->cr[EL2] & CR_EXBRE ? 1 << ARM64_PMU_EL2 : 0);
}

/* The kinds that records need */
#define RECORD_KINDS	(ARM64_PMU_KIND_BIT(ARM64_PMU_RECORDS) | \
			 ARM64_PMU_KIND_BIT(ARM64_PMU_CYCLES))

/**
 * arm64_brbe_needs() - return a bitmap of the kinds that branch records need now
 * @pmu: the PMU
 */
uint32_t arm64_brbe_needs(const struct arm64_pmu *pmu)
{
	return pmu->brbe.levels ? RECORD_KINDS : 0;
}

static unsigned int types_of(uint64_t fcr)
{
	static const struct {
		enum arm64_branch_type type;
		uint64_t bit;
	} types[] = {
		{ ARM64_BRANCH_JUMP, FCR_DIRECT },
		{ ARM64_BRANCH_INDIRECT, FCR_INDIRECT },
		{ ARM64_BRANCH_CALL, FCR_DIRCALL },
		{ ARM64_BRANCH_INDIRECT_CALL, FCR_INDCALL },
		{ ARM64_BRANCH_RETURN, FCR_RTN },
		{ ARM64_BRANCH_CONDITIONAL, FCR_CONDDIR },
	};
	unsigned int i, chosen = 0;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (!(fcr & types[i].bit) != !(fcr & FCR_ENI))
			chosen |= 1u << types[i].type;
	return chosen;
}

/* Return brbe.simple. EL0 needs the bit of both control registers: HCR_EL2.TGE selects one. */
static unsigned int simple_levels(const struct arm64_pmu *pmu)
{
	const struct arm64_brbe *b = &pmu->brbe;
	bool user = b->cr[EL1] & CR_E0BRE && (!pmu->config->has_el2 || b->cr[EL2] & CR_E0BRE);

	if (pmu->config->brbe.lose || pmu->config->brbe.tear)
		return 0;
	return (user ? 1u << ARM64_PMU_EL0 : 0) |
	       (b->cr[EL1] & CR_EXBRE ? 1u << ARM64_PMU_EL1 : 0) |
	       (b->cr[EL2] & CR_EXBRE ? 1u << ARM64_PMU_EL2 : 0);
}

/* Set the levels with branches that the CPU reports, after the change of a register. */
static uint64_t update_levels(struct arm64_pmu *pmu)
{
	unsigned int levels = levels_of(pmu);
	uint64_t cycles;

	pmu->brbe.types = types_of(pmu->brbe.fcr);
	pmu->brbe.simple = simple_levels(pmu);
	if (levels == pmu->brbe.levels)
		return 0;
	if (levels)
		pmu->ops->need(pmu, RECORD_KINDS);
	cycles = pmu->ops->record(pmu, levels);
	pmu->brbe.levels = levels;
	/* If recording stops, the branch being executed still gets its cycle count. */
	if (levels)
		pmu->brbe.gap = true;
	return cycles;
}

/**
 * arm64_brbe_overflowed() - freeze BRBE if an overflow flag is set and BRBCR_ELx.FZP says so
 * @pmu: the PMU of this thread's CPU
 * @lower: the flag of an event counter that EL2 has not reserved, or of the instruction counter
 * @upper: the flag of an event counter that EL2 has reserved
 *
 * The branch being executed is still recorded: it comes before the interrupt.
 */
void arm64_brbe_overflowed(struct arm64_pmu *pmu, bool lower, bool upper)
{
	struct arm64_brbe *b = &pmu->brbe;

	if (b->fcr & FCR_PAUSED || !is_allowed(pmu, pmu->ops->level(pmu)) ||
	    pmu->config->brbe.unfrozen)
		return;
	if (!(lower && b->cr[EL1] & CR_FZP) && !(upper && b->cr[EL2] & CR_FZP))
		return;
	b->fcr |= FCR_PAUSED;
	b->ts = update_levels(pmu);
}

/* ---- recording ---- */

static void add_record(struct arm64_pmu *pmu, const struct arm64_brbe_record *record)
{
	struct arm64_brbe *b = &pmu->brbe;

	b->top = (b->top + 1) % pmu->config->brbe.records;
	b->record[b->top] = *record;
}

static bool is_chosen(struct arm64_pmu *pmu, const struct arm64_branch *branch)
{
	const struct arm64_brbe *b = &pmu->brbe;

	if (branch->type >= ARM64_BRANCH_EXCEPTION)
		return b->cr[branch->target == ARM64_PMU_EL2 ? EL2 : EL1] & CR_EXCEPTION;
	if (branch->type == ARM64_BRANCH_ERET)
		return b->cr[branch->source == ARM64_PMU_EL2 ? EL2 : EL1] & CR_ERTN;
	return b->types >> branch->type & 1;
}

/* Check whether a bit is set in BRBCR_EL1 and, if the CPU has EL2, in BRBCR_EL2. */
static bool both_have(const struct arm64_pmu *pmu, uint64_t bit)
{
	return pmu->brbe.cr[EL1] & bit && (!pmu->config->has_el2 || pmu->brbe.cr[EL2] & bit);
}

/* BranchEncCycleCount() */
static uint64_t cycle_count(const struct arm64_pmu *pmu, uint64_t cycles)
{
	uint64_t exponent = 0;

	if (!both_have(pmu, CR_CC) || pmu->brbe.gap)
		return INF_CCU;
	cycles -= pmu->brbe.cycles;
	if (cycles >> CYCLE_BITS)
		return INF_CC_TOO_MANY << INF_CC_SHIFT;
	if (cycles >> INF_CC_MANTISSA)
		for (exponent = 1; cycles >> (INF_CC_MANTISSA + 1); exponent++)
			cycles >>= 1;
	cycles &= BIT(INF_CC_MANTISSA) - 1;
	return (exponent << INF_CC_MANTISSA | cycles) << INF_CC_SHIFT;
}

static void record_branch(struct arm64_pmu *pmu, const struct arm64_branch *branch,
			  bool source_valid, bool target_valid)
{
	const struct arm64_brbe_config *config = &pmu->config->brbe;
	struct arm64_brbe *b = &pmu->brbe;
	struct arm64_brbe_record r = {
		.info = cycle_count(pmu, branch->cycles) |
			(uint64_t)branch->type << INF_TYPE_SHIFT,
	};

	if (source_valid) {
		r.source = branch->from;
		r.info |= INF_SOURCE;
		if (branch->mispredicted && both_have(pmu, CR_MPRED))
			r.info |= INF_MPRED;
	}
	if (target_valid) {
		r.target = branch->to;
		r.info |= INF_TARGET | (uint64_t)branch->target << INF_EL_SHIFT;
	}
	b->cycles = branch->cycles;
	b->gap = false;
	b->records++;
	if (fault_is_due(config->lose, b->records))
		return;
	if (fault_is_due(config->tear, b->records))
		r.target = b->record[b->top].target;
	add_record(pmu, &r);
}

/**
 * arm64_brbe_branch() - record a reported branch, if software has enabled its type
 * @pmu: the PMU of this thread's CPU
 * @branch: the branch, exception or exception return
 */
void arm64_brbe_branch(struct arm64_pmu *pmu, const struct arm64_branch *branch)
{
	bool source_valid = !branch->from_a32 && is_allowed(pmu, branch->source);
	bool target_valid = !branch->to_a32 && is_allowed(pmu, branch->target);

	if ((source_valid || target_valid) && is_chosen(pmu, branch))
		record_branch(pmu, branch, source_valid, target_valid);
	if (!target_valid)
		pmu->brbe.gap = true;
	/* A counter may have overflowed at a level that prohibits records. */
	if (branch->source != branch->target)
		arm64_pmu_check_freeze(pmu);
}

/**
 * arm64_brbe_skip() - record branches that later records will overwrite
 * @pmu: the PMU of this thread's CPU
 * @nr: number of records
 * @cycles: count of cycles at the last of them
 */
void arm64_brbe_skip(struct arm64_pmu *pmu, unsigned int nr, uint64_t cycles)
{
	struct arm64_brbe *b = &pmu->brbe;

	b->records += nr;
	b->top = (b->top + nr) % pmu->config->brbe.records;
	b->cycles = cycles;
	b->gap = false;
}

/* ---- registers ---- */

static const struct arm64_brbe_record *record_of(const struct arm64_pmu *pmu, unsigned int n)
{
	static const struct arm64_brbe_record none;
	const struct arm64_brbe *b = &pmu->brbe;
	unsigned int nr = pmu->config->brbe.records;

	n += (b->fcr >> FCR_BANK_SHIFT & 3) * ARM64_BRBE_BANK;
	return n < nr ? &b->record[(b->top + nr - n) % nr] : &none;
}

/* With HCR_EL2.E2H, BRBCR_EL1 at EL2 accesses BRBCR_EL2. */
static unsigned int cr_of(struct arm64_pmu *pmu, enum arm64_brbe_reg reg)
{
	if (reg == ARM64_BRBCR_EL2)
		return EL2;
	return reg == ARM64_BRBCR_EL1 && pmu->ops->level(pmu) == ARM64_PMU_EL2 &&
	       hcr_el2(pmu) & HCR_E2H ? EL2 : EL1;
}

/**
 * arm64_brbe_read() - execute MRS
 * @pmu: the PMU of this thread's CPU
 * @reg: the register
 * @n: index of the record, for BRBINF, BRBSRC and BRBTGT
 */
uint64_t arm64_brbe_read(struct arm64_pmu *pmu, enum arm64_brbe_reg reg, unsigned int n)
{
	const struct arm64_brbe *b = &pmu->brbe;

	switch (reg) {
	case ARM64_BRBCR_EL1:
	case ARM64_BRBCR_EL2:
	case ARM64_BRBCR_EL12:
		return b->cr[cr_of(pmu, reg)];
	case ARM64_BRBFCR:
		return b->fcr;
	case ARM64_BRBTS:
		return b->ts;
	case ARM64_BRBIDR0:
		return pmu->config->brbe.records | IDR0_CC_20_BIT;
	case ARM64_BRBINFINJ:
		return b->inject.info;
	case ARM64_BRBSRCINJ:
		return b->inject.source;
	case ARM64_BRBTGTINJ:
		return b->inject.target;
	case ARM64_BRBINF:
		return record_of(pmu, n)->info;
	case ARM64_BRBSRC:
		return record_of(pmu, n)->source;
	case ARM64_BRBTGT:
		return record_of(pmu, n)->target;
	default:
		return 0;
	}
}

static void write_cr(struct arm64_pmu *pmu, unsigned int i, uint64_t value)
{
	bool counted = both_have(pmu, CR_CC);

	pmu->brbe.cr[i] = value & CR_WRITABLE;
	update_levels(pmu);
	if (!counted && both_have(pmu, CR_CC))
		pmu->brbe.gap = true;
}

/**
 * arm64_brbe_write() - execute MSR, BRB IALL or BRB INJ
 * @pmu: the PMU of this thread's CPU
 * @reg: the register or instruction
 * @value: the value to write
 */
void arm64_brbe_write(struct arm64_pmu *pmu, enum arm64_brbe_reg reg, uint64_t value)
{
	struct arm64_brbe *b = &pmu->brbe;

	switch (reg) {
	case ARM64_BRBCR_EL1:
	case ARM64_BRBCR_EL2:
	case ARM64_BRBCR_EL12:
		write_cr(pmu, cr_of(pmu, reg), value);
		break;
	case ARM64_BRBFCR:
		b->fcr = value & FCR_WRITABLE;
		update_levels(pmu);
		break;
	case ARM64_BRBTS:
		b->ts = value;
		return;
	case ARM64_BRBINFINJ:
		b->inject.info = value & INF_WRITABLE;
		return;
	case ARM64_BRBSRCINJ:
		b->inject.source = value;
		return;
	case ARM64_BRBTGTINJ:
		b->inject.target = value;
		return;
	case ARM64_BRB_IALL:
		memset(b->record, 0, sizeof(b->record));
		return;
	case ARM64_BRB_INJ:
		add_record(pmu, &b->inject);
		return;
	default:
		return;
	}
	arm64_pmu_check_freeze(pmu);
}

/**
 * arm64_brbe_reset() - set all registers to 0, and drop all records
 * @pmu: the PMU
 */
void arm64_brbe_reset(struct arm64_pmu *pmu)
{
	if (pmu->brbe.levels)
		pmu->ops->record(pmu, 0);
	pmu->brbe = (struct arm64_brbe) { .records = pmu->brbe.records };
}
