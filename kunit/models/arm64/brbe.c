// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of the Branch Record Buffer Extension (BRBE)
 *
 * Arm Architecture Reference Manual for A-profile, DDI 0487: chapter D18 and D23.3, "Branch Record
 * Buffer Extension registers". The tests say which branches the CPU takes.
 */
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "access.h"
#include "models/model.h"

#define BRBCR_EL1		sys_reg(2, 1, 9, 0, 0)
#define BRBFCR_EL1		sys_reg(2, 1, 9, 0, 1)
#define BRBIDR0_EL1		sys_reg(2, 1, 9, 2, 0)
#define BRBCR_EL2		sys_reg(2, 4, 9, 0, 0)
#define BRBCR_EL12		sys_reg(2, 5, 9, 0, 0)
#define BRB_IALL		sys_reg(1, 1, 7, 2, 4)

#define NUMREC			GENMASK_ULL(7, 0)

#define CR_E0BRE		BIT_ULL(0)
#define CR_EXBRE		BIT_ULL(1)
#define CR_CC			BIT_ULL(3)
#define CR_MPRED		BIT_ULL(4)
#define CR_FZP			BIT_ULL(8)
#define CR_ERTN			BIT_ULL(22)
#define CR_EXCEPTION		BIT_ULL(23)

#define FCR_PAUSED		BIT_ULL(7)
#define FCR_ENI			BIT_ULL(16)
#define FCR_BANK		GENMASK_ULL(29, 28)

#define INF_TARGET		BIT_ULL(0)
#define INF_SOURCE		BIT_ULL(1)
#define INF_MPRED		BIT_ULL(5)
#define INF_EL			GENMASK_ULL(7, 6)
#define INF_TYPE		GENMASK_ULL(13, 8)
#define INF_CYCLES		GENMASK_ULL(45, 32)
#define INF_CCU			BIT_ULL(46)

#define TYPE_ERET		7
#define TYPE_EXCEPTIONS		0x20

enum { EL1, EL2 };

static unsigned int nr_records(void)
{
	return FIELD_GET(NUMREC, pmuv3_model_cpu->brbidr0);
}

/* At EL2 (VHE), an access to BRBCR_EL1 goes to EL2's register. */
static u64 *cr_of(struct pmuv3_model *m, u32 reg, const char **name)
{
	switch (reg) {
	case BRBCR_EL1:
		*name = "BRBCR";
		return &m->brbcr[pmuv3_model_cpu->hyp ? EL2 : EL1];
	case BRBCR_EL2:
		*name = "BRBCR_EL2";
		return pmuv3_model_cpu->hyp ? &m->brbcr[EL2] : NULL;
	case BRBCR_EL12:
		*name = "BRBCR_EL12";
		return pmuv3_model_cpu->hyp ? &m->brbcr[EL1] : NULL;
	default:
		return NULL;
	}
}

static bool is_ours(u32 reg)
{
	/*
	 * BRBE has the instruction BRB IALL, the control registers of EL2 and of EL12, and all
	 * registers with op0 2, op1 1, and CRn 8 or 9.
	 */
	return reg == BRB_IALL || reg == BRBCR_EL2 || reg == BRBCR_EL12 ||
	       (reg & ~GENMASK(12, 5)) == sys_reg(2, 1, 8, 0, 0);
}

static bool is_there(void)
{
	return pmuv3_model_cpu->brbe;
}

static bool read_record(struct pmuv3_model *m, u32 reg, u64 *value, const char **name, int *index)
{
	static const char *const names[] = { "BRBINF", "BRBSRC", "BRBTGT" };
	unsigned int i, n, bank = FIELD_GET(FCR_BANK, m->brbfcr);

	for (n = 0; n < 32; n++)
		for (i = 0; i < ARRAY_SIZE(names); i++) {
			const struct pmuv3_model_record *r = &m->record[bank * 32 + n];

			if (reg != sys_reg(2, 1, 8, n % 16, n / 16 * 4 + i))
				continue;
			*name = names[i];
			*index = bank * 32 + n;
			*value = *index >= nr_records() ? 0 : !i ? r->info :
				 i == 1 ? r->source : r->target;
			return true;
		}

	return false;
}

/**
 * pmuv3_model_read_brbe() - MRS
 * @reg: a register
 * @value: filled in with its value
 *
 * Return: true if the register is BRBE's
 */
bool pmuv3_model_read_brbe(u32 reg, u64 *value)
{
	struct pmuv3_model *m = this_cpu_ptr(&pmuv3_model_state);
	const char *name = "BRBE";
	int index = -1;
	bool ok = true;
	u64 *cr;

	if (!is_ours(reg))
		return false;

	*value = 0;
	cr = cr_of(m, reg, &name);
	if (cr) {
		*value = *cr;
	} else if (reg == BRBFCR_EL1) {
		name = "BRBFCR";
		*value = m->brbfcr;
	} else if (reg == BRBIDR0_EL1) {
		name = "BRBIDR0";
		*value = pmuv3_model_cpu->brbidr0;
	} else {
		ok = read_record(m, reg, value, &name, &index);
	}
	if (!ok || !is_there())
		model_fault(name, index, false, 0);
	model_note(name, index, false, *value);

	return true;
}

/**
 * pmuv3_model_write_brbe() - MSR, or BRB IALL
 * @reg: a register
 * @value: its value
 *
 * Return: true if the register is BRBE's
 */
bool pmuv3_model_write_brbe(u32 reg, u64 value)
{
	struct pmuv3_model *m = this_cpu_ptr(&pmuv3_model_state);
	const char *name = "BRBE";
	bool ok = true;
	u64 *cr;

	if (!is_ours(reg))
		return false;

	cr = cr_of(m, reg, &name);
	if (cr) {
		*cr = value;
	} else if (reg == BRBFCR_EL1) {
		name = "BRBFCR";
		m->brbfcr = value;
	} else if (reg == BRB_IALL) {
		name = "BRB_IALL";
		memset(m->record, 0, sizeof(m->record));
	} else {
		ok = false;
	}
	if (!ok || !is_there())
		model_fault(name, -1, true, value);
	model_note(name, -1, true, value);

	return true;
}

static bool is_allowed(const struct pmuv3_model *m, unsigned int el)
{
	if (m->brbfcr & FCR_PAUSED)
		return false;
	if (!el)
		return m->brbcr[pmuv3_model_cpu->hyp ? EL2 : EL1] & CR_E0BRE;

	return m->brbcr[el == 2 ? EL2 : EL1] & CR_EXBRE;
}

/**
 * pmuv3_model_freeze() - freeze the records after an overflow of an event counter
 * @m: the CPU
 * @el: exception level of the overflow
 */
void pmuv3_model_freeze(struct pmuv3_model *m, unsigned int el)
{
	if (is_there() && (m->brbcr[EL1] & CR_FZP) && is_allowed(m, el))
		m->brbfcr |= FCR_PAUSED;
}

/* FilterBranchRecord(): BRBFCR_EL1 has a bit for each branch type. */
static bool is_chosen(const struct pmuv3_model *m, unsigned int type)
{
	static const u8 bits[] = {
		[0] = 17, [1] = 18, [2] = 21, [3] = 20, [5] = 19, [8] = 22,
	};

	return !!(m->brbfcr & BIT_ULL(bits[type])) != !!(m->brbfcr & FCR_ENI);
}

static bool both_have(const struct pmuv3_model *m, u64 bit)
{
	return (m->brbcr[EL1] & bit) && (!pmuv3_model_cpu->el2 || (m->brbcr[EL2] & bit));
}

/**
 * pmuv3_model_branch() - take a branch
 * @from: source; for an exception, the address that it would return to
 * @to: target
 * @type: BRBINF<n>_EL1.TYPE
 * @from_el: exception level of the source
 * @to_el: exception level of the target
 * @info: MPRED and CC of BRBINF<n>_EL1
 */
void pmuv3_model_branch(u64 from, u64 to, unsigned int type, unsigned int from_el,
			unsigned int to_el, u64 info)
{
	struct pmuv3_model *m = this_cpu_ptr(&pmuv3_model_state);
	bool source = is_allowed(m, from_el), target = is_allowed(m, to_el);
	struct pmuv3_model_record r = { .info = FIELD_PREP(INF_TYPE, type) };

	if (!source && !target)
		return;
	if (type >= TYPE_EXCEPTIONS && !(m->brbcr[to_el == 2 ? EL2 : EL1] & CR_EXCEPTION))
		return;
	if (type == TYPE_ERET && !(m->brbcr[from_el == 2 ? EL2 : EL1] & CR_ERTN))
		return;
	if (type != TYPE_ERET && type < TYPE_EXCEPTIONS && !is_chosen(m, type))
		return;

	r.info |= both_have(m, CR_CC) ? info & INF_CYCLES : INF_CCU;
	if (source) {
		r.source = from;
		r.info |= INF_SOURCE | (both_have(m, CR_MPRED) ? info & INF_MPRED : 0);
	}
	if (target) {
		r.target = to;
		r.info |= INF_TARGET | FIELD_PREP(INF_EL, to_el);
	}
	memmove(&m->record[1], &m->record[0], sizeof(m->record) - sizeof(m->record[0]));
	m->record[0] = r;
}
