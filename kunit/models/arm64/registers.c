// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of the PMUv3 of an Arm CPU: register accesses and power-on
 *
 * Arm Architecture Reference Manual for A-profile, DDI 0487: chapter D13, "The Performance Monitors
 * Extension", and D23.5, "Performance Monitors registers".
 */
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/smp.h>

#include "access.h"
#include "count.h"
#include "models/model.h"

const struct pmuv3_model_cpu *pmuv3_model_cpu;
DEFINE_PER_CPU(struct pmuv3_model, pmuv3_model_state);

static const struct {
	u32		reg;
	const char	*name;
} names[] = {
	{ PMUV3_MODEL_pmcr_el0,		"PMCR" },
	{ PMUV3_MODEL_pmcntenset_el0,	"PMCNTENSET" },
	{ PMUV3_MODEL_pmcntenclr_el0,	"PMCNTENCLR" },
	{ PMUV3_MODEL_pmovsclr_el0,	"PMOVSCLR" },
	{ PMUV3_MODEL_pmovsset_el0,	"PMOVSSET" },
	{ PMUV3_MODEL_pmselr_el0,	"PMSELR" },
	{ PMUV3_MODEL_pmceid0_el0,	"PMCEID0" },
	{ PMUV3_MODEL_pmceid1_el0,	"PMCEID1" },
	{ PMUV3_MODEL_pmccntr_el0,	"PMCCNTR" },
	{ PMUV3_MODEL_pmccfiltr_el0,	"PMCCFILTR" },
	{ PMUV3_MODEL_pmxevtyper_el0,	"PMXEVTYPER" },
	{ PMUV3_MODEL_pmxevcntr_el0,	"PMXEVCNTR" },
	{ PMUV3_MODEL_pmuserenr_el0,	"PMUSERENR" },
	{ PMUV3_MODEL_pmuacr_el1,	"PMUACR" },
	{ PMUV3_MODEL_pmintenset_el1,	"PMINTENSET" },
	{ PMUV3_MODEL_pmintenclr_el1,	"PMINTENCLR" },
	{ PMUV3_MODEL_pmmir_el1,	"PMMIR" },
	{ PMUV3_MODEL_pmicntr_el0,	"PMICNTR" },
	{ PMUV3_MODEL_pmicfiltr_el0,	"PMICFILTR" },
	{ PMUV3_MODEL_midr_el1,		"MIDR" },
	{ PMUV3_MODEL_mpidr_el1,	"MPIDR" },
	{ PMUV3_MODEL_id_aa64dfr0_el1,	"ID_AA64DFR0" },
	{ PMUV3_MODEL_id_aa64dfr1_el1,	"ID_AA64DFR1" },
};

/* PMEVCNTR<n>_EL0 and PMEVTYPER<n>_EL0: CRn 14, CRm 0b10:n[4:3] or 0b11:n[4:3], op2 n[2:0] */
static int decode_register(u32 reg, const char **name, int *index)
{
	*index = -1;
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].reg == reg) {
			*name = names[i].name;
			return reg;
		}

	for (unsigned int i = 0; i < PMUV3_MODEL_MAX_EVENT_COUNTERS; i++) {
		if (reg == sys_reg(3, 3, 14, 8 | i >> 3, i & 7)) {
			*name = "PMEVCNTR";
			*index = i;
			return PMUV3_MODEL_pmxevcntr_el0;
		}
		if (reg == sys_reg(3, 3, 14, 12 | i >> 3, i & 7)) {
			*name = "PMEVTYPER";
			*index = i;
			return PMUV3_MODEL_pmxevtyper_el0;
		}
	}

	*name = "sysreg";
	return -1;
}

/**
 * pmuv3_model_read() - MRS
 * @reg: the register
 *
 * Return: its value
 */
u64 pmuv3_model_read(u32 reg)
{
	struct pmuv3_model *m = this_cpu_ptr(&pmuv3_model_state);
	const struct pmuv3_model_cpu *cpu = pmuv3_model_cpu;
	const char *name;
	bool ok = true;
	u64 value = 0;
	int index, n;

	if (pmuv3_model_read_brbe(reg, &value))
		return value;

	reg = decode_register(reg, &name, &index);
	n = index >= 0 ? index : m->pmselr & GENMASK(4, 0);

	switch (reg) {
	case PMUV3_MODEL_pmcr_el0:
		value = m->pmcr | FIELD_PREP(CR_N, cpu->nr);
		break;
	case PMUV3_MODEL_pmcntenset_el0:
	case PMUV3_MODEL_pmcntenclr_el0:
		value = m->enabled;
		break;
	case PMUV3_MODEL_pmintenset_el1:
	case PMUV3_MODEL_pmintenclr_el1:
		value = m->interrupts;
		break;
	case PMUV3_MODEL_pmovsset_el0:
	case PMUV3_MODEL_pmovsclr_el0:
		value = m->overflowed;
		break;
	case PMUV3_MODEL_pmselr_el0:
		value = m->pmselr;
		break;
	case PMUV3_MODEL_pmuserenr_el0:
		value = m->pmuserenr;
		break;
	case PMUV3_MODEL_pmuacr_el1:
		ok = cpu->pmuver >= PMUVER_3P9;
		value = m->pmuacr;
		break;
	case PMUV3_MODEL_pmceid0_el0:
		value = cpu->pmceid0;
		break;
	case PMUV3_MODEL_pmceid1_el0:
		value = cpu->pmceid1;
		break;
	case PMUV3_MODEL_pmmir_el1:
		/* FEAT_PMUv3p4 */
		ok = cpu->pmuver >= 5;
		value = cpu->pmmir;
		break;
	case PMUV3_MODEL_midr_el1:
		value = m->midr;
		break;
	case PMUV3_MODEL_mpidr_el1:
		/* RES1, U, MT and the affinity */
		value = BIT_ULL(31) | BIT_ULL(24) | smp_processor_id();
		break;
	case PMUV3_MODEL_id_aa64dfr0_el1:
		value = FIELD_PREP(GENMASK_ULL(11, 8), cpu->pmuver) |
			FIELD_PREP(GENMASK_ULL(55, 52), cpu->brbe);
		break;
	case PMUV3_MODEL_id_aa64dfr1_el1:
		value = FIELD_PREP(GENMASK_ULL(39, 36), cpu->instr_counter);
		break;
	case PMUV3_MODEL_pmccntr_el0:
		pmuv3_model_count_itself(m);
		value = m->counter[CYCLE];
		break;
	case PMUV3_MODEL_pmccfiltr_el0:
		value = m->type[CYCLE];
		break;
	case PMUV3_MODEL_pmicntr_el0:
		ok = cpu->instr_counter;
		pmuv3_model_count_itself(m);
		value = m->counter[INSTR];
		break;
	case PMUV3_MODEL_pmicfiltr_el0:
		ok = cpu->instr_counter;
		value = m->type[INSTR];
		break;
	case PMUV3_MODEL_pmxevcntr_el0:
		ok = pmuv3_model_is_event_counter(n);
		pmuv3_model_count_itself(m);
		value = m->counter[n];
		break;
	case PMUV3_MODEL_pmxevtyper_el0:
		ok = pmuv3_model_is_event_counter(n) || (n == CYCLE && index < 0);
		value = m->type[n];
		break;
	default:
		ok = false;
	}

	if (!ok)
		model_fault(name, index, false, 0);
	model_note(name, index, false, value);

	return value;
}

static void write_pmcr(struct pmuv3_model *m, u64 value)
{
	u64 held = CR_E | BIT(3) | BIT(4) | BIT(5) | CR_LC | (pmuv3_model_is_wide() ? CR_LP : 0);

	/* P resets neither the cycle counter nor the instruction counter. */
	if (value & CR_P)
		memset(m->counter, 0, CYCLE * sizeof(m->counter[0]));
	if (value & CR_C)
		m->counter[CYCLE] = 0;
	m->pmcr = value & held;
}

/**
 * pmuv3_model_write() - MSR
 * @reg: the register
 * @value: its value
 */
void pmuv3_model_write(u32 reg, u64 value)
{
	struct pmuv3_model *m = this_cpu_ptr(&pmuv3_model_state);
	u64 all = pmuv3_model_counters();
	const char *name;
	bool ok = true;
	int index, n;

	if (pmuv3_model_write_brbe(reg, value))
		return;

	reg = decode_register(reg, &name, &index);
	n = index >= 0 ? index : m->pmselr & GENMASK(4, 0);

	switch (reg) {
	case PMUV3_MODEL_pmcr_el0:
		write_pmcr(m, value);
		break;
	case PMUV3_MODEL_pmcntenset_el0:
		m->enabled |= value & all;
		break;
	case PMUV3_MODEL_pmcntenclr_el0:
		m->enabled &= ~value;
		break;
	case PMUV3_MODEL_pmintenset_el1:
		m->interrupts |= value & all;
		break;
	case PMUV3_MODEL_pmintenclr_el1:
		m->interrupts &= ~value;
		break;
	case PMUV3_MODEL_pmovsset_el0:
		m->overflowed |= value & all;
		break;
	case PMUV3_MODEL_pmovsclr_el0:
		m->overflowed &= ~value;
		break;
	case PMUV3_MODEL_pmselr_el0:
		m->pmselr = value & GENMASK(4, 0);
		break;
	case PMUV3_MODEL_pmuserenr_el0:
		m->pmuserenr = value & GENMASK(6, 0);
		break;
	case PMUV3_MODEL_pmuacr_el1:
		ok = pmuv3_model_cpu->pmuver >= PMUVER_3P9;
		m->pmuacr = value & all;
		break;
	case PMUV3_MODEL_pmccntr_el0:
		m->counter[CYCLE] = value;
		break;
	case PMUV3_MODEL_pmccfiltr_el0:
		m->type[CYCLE] = value & ~TYPE_EVENT;
		break;
	case PMUV3_MODEL_pmicntr_el0:
		ok = pmuv3_model_cpu->instr_counter;
		m->counter[INSTR] = value;
		break;
	case PMUV3_MODEL_pmicfiltr_el0:
		ok = pmuv3_model_cpu->instr_counter;
		m->type[INSTR] = value & ~TYPE_EVENT;
		break;
	case PMUV3_MODEL_pmxevcntr_el0:
		ok = pmuv3_model_is_event_counter(n);
		if (ok)
			m->counter[n] = value & pmuv3_model_counter_mask(n);
		break;
	case PMUV3_MODEL_pmxevtyper_el0:
		/* PMXEVTYPER_EL0 with SEL 31 is PMCCFILTR_EL0. */
		ok = pmuv3_model_is_event_counter(n) || (n == CYCLE && index < 0);
		if (ok)
			m->type[n] = n == CYCLE ? value & ~TYPE_EVENT : value;
		break;
	default:
		ok = false;	/* read only, or missing */
	}

	if (!ok)
		model_fault(name, index, true, value);
	model_note(name, index, true, value);
}

/**
 * pmuv3_model_isb() - ISB
 *
 * The log shows the ISB, for its place among the accesses. In the model, writes take effect at
 * once.
 */
void pmuv3_model_isb(void)
{
	model_note("isb", -1, false, 0);
}

/* ID_AA64PFR0_EL1.EL3 */
bool pmuv3_model_el3;

/**
 * pmuv3_model_feature() - read_sanitised_ftr_reg()
 * @reg: ID_AA64PFR0_EL1; other registers fault
 *
 * Return: value that all CPUs have in common
 */
u64 pmuv3_model_feature(u32 reg)
{
	if (reg != SYS_ID_AA64PFR0_EL1) {
		model_fault("feature", reg, false, 0);
		return 0;
	}

	return FIELD_PREP(GENMASK_ULL(11, 8), pmuv3_model_cpu->el2) |
	       FIELD_PREP(GENMASK_ULL(15, 12), pmuv3_model_el3);
}

/**
 * pmuv3_model_power_on() - reset all CPUs to the state after power-on
 * @cpu: description of the CPUs
 *
 * Process context. D13.1: except PMCR_EL0.E, the registers are UNKNOWN after reset. The model fills
 * them with values that the driver must not rely on.
 */
void pmuv3_model_power_on(const struct pmuv3_model_cpu *cpu)
{
	int i;

	pmuv3_model_cpu = cpu;
	pmuv3_model_connect(NULL, NULL);
	pmuv3_model_irq_cpu = -1;
	for_each_possible_cpu(i) {
		struct pmuv3_model *m = per_cpu_ptr(&pmuv3_model_state, i);

		*m = (struct pmuv3_model) {
			.midr		= PMUV3_MODEL_MIDR,
			.enabled	= pmuv3_model_counters(),
			.interrupts	= pmuv3_model_counters(),
			.overflowed	= pmuv3_model_counters(),
			.pmuserenr	= GENMASK(6, 0),
			.pmselr		= 1,
			.pmuacr		= GENMASK(31, 0),
			.brbcr		= { GENMASK(1, 0), GENMASK(1, 0) },
		};
		for (int n = 0; n < ARRAY_SIZE(m->counter); n++) {
			m->counter[n] = 0x1234 + n;
			m->type[n] = EVENT_CYCLES;
		}
		/* Records of another user's branches */
		for (int n = 0; n < ARRAY_SIZE(m->record); n++)
			m->record[n] = (struct pmuv3_model_record) { 0xdead0000, 0xdead0004, 3 };
		*per_cpu_ptr(&model_log, i) = (struct model_log) { };
	}
}
