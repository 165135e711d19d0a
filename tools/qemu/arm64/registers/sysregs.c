// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The virtual arm64 PMU's system registers in QEMU.
 *
 * arm64/internals.c finds QEMU's descriptions of registers. A description has functions that
 * generated code calls, or a constant that becomes part of generated code. For the registers of the
 * PMU, this file replaces both by its own functions. QEMU's PMU then keeps its state after reset,
 * and has no interrupts. If QEMU lacks a register, the plugin adds a description, copied from
 * another register's. QEMU still handles access rights, PMSELR_EL0 and PMUSERENR_EL0.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "arm64/registers/sysregs.h"

/* ID_AA64DFR0_EL1, ID_AA64DFR1_EL1, ID_AA64PFR0_EL1, PMCR_EL0 */
#define DFR0_PMUVER_SHIFT	8
#define DFR0_BRBE_SHIFT		52
#define DFR1_PMICNTR_SHIFT	36
#define PFR0_EL2_SHIFT		8
#define PFR0_EL3_SHIFT		12
#define ID_FIELD		UINT64_C(0xf)
#define PMUVER_IMPDEF		0xf
#define PMCR_N_SHIFT		11
#define PMCR_N			0x1f

#define PMSELR_SEL		0x1f

/* The maximum plausible size of a register's description, in bytes */
#define SYSREG_SIZE_MAX		0x100

static const struct pmu_reg {
	const char *name;
	struct arm64_sysreg_id id;
	enum arm64_pmu_reg reg;
	unsigned int n;
} pmu_regs[] = {
	{ "PMCR_EL0",	    { 3, 3, 9, 12, 0 },	 ARM64_PMCR,	   0 },
	{ "PMCNTENSET_EL0", { 3, 3, 9, 12, 1 },	 ARM64_PMCNTENSET, 0 },
	{ "PMCNTENCLR_EL0", { 3, 3, 9, 12, 2 },	 ARM64_PMCNTENCLR, 0 },
	{ "PMOVSCLR_EL0",   { 3, 3, 9, 12, 3 },	 ARM64_PMOVSCLR,   0 },
	{ "PMOVSSET_EL0",   { 3, 3, 9, 14, 3 },	 ARM64_PMOVSSET,   0 },
	{ "PMSWINC_EL0",    { 3, 3, 9, 12, 4 },	 ARM64_PMSWINC,	   0 },
	{ "PMINTENSET_EL1", { 3, 0, 9, 14, 1 },	 ARM64_PMINTENSET, 0 },
	{ "PMINTENCLR_EL1", { 3, 0, 9, 14, 2 },	 ARM64_PMINTENCLR, 0 },
	{ "PMCCNTR_EL0",    { 3, 3, 9, 13, 0 },	 ARM64_PMEVCNTR,   ARM64_PMU_CYCLE_COUNTER },
	{ "PMCCFILTR_EL0",  { 3, 3, 14, 15, 7 }, ARM64_PMEVTYPER,  ARM64_PMU_CYCLE_COUNTER },
};

/* Registers of event counters: CRm and op2, or PMSELR_EL0, select the counter. */
#define CRN_COUNTER	14
#define CRM_TYPER	12

static const struct arm64_sysreg_id pmxevtyper_id = { 3, 3, 9, 13, 1 };
static const struct arm64_sysreg_id pmxevcntr_id = { 3, 3, 9, 13, 2 };
static const struct arm64_sysreg_id pmicntr_id = { 3, 3, 9, 4, 0 };
static const struct arm64_sysreg_id pmicfiltr_id = { 3, 3, 9, 6, 0 };

/**
 * arm64_vcpu_of_env() - return the index of the vCPU of a CPUARMState
 * @env: the CPUARMState
 */
unsigned int arm64_vcpu_of_env(const struct arm64_env *env)
{
	return pmu_qemu_vcpu_of((const struct qemu_cpu *)((const char *)env -
							  arm64_env_offset()));
}

static bool is_id(const struct arm64_sysreg *reg, const struct arm64_sysreg_id *id)
{
	return reg->op1 == id->op1 && reg->crn == id->crn && reg->crm == id->crm &&
	       reg->op2 == id->op2;
}

/* Return the PMU's register of a description, and its counter. */
static struct pmu_reg pmu_reg_of(unsigned int vcpu, const struct arm64_sysreg *reg)
{
	const struct arm64_vcpu *v = &arm64_vcpus[vcpu];
	struct pmu_reg found = { .n = (reg->crm & 3) << 3 | reg->op2 };

	for (size_t i = 0; i < ARRAY_SIZE(pmu_regs); i++)
		if (is_id(reg, &pmu_regs[i].id))
			return pmu_regs[i];

	if (reg->crn == CRN_COUNTER) {
		found.reg = reg->crm >= CRM_TYPER ? ARM64_PMEVTYPER : ARM64_PMEVCNTR;
	} else if (is_id(reg, &pmicntr_id) || is_id(reg, &pmicfiltr_id)) {
		found.reg = is_id(reg, &pmicntr_id) ? ARM64_PMEVCNTR : ARM64_PMEVTYPER;
		found.n = ARM64_PMU_INSTR_COUNTER;
	} else {
		found.n = arm64_sysreg_value(v->env, v->pmselr) & PMSELR_SEL;
		found.reg = is_id(reg, &pmxevtyper_id) ? ARM64_PMEVTYPER : ARM64_PMEVCNTR;
		/* Selector 31 is PMCCFILTR_EL0, but not PMCCNTR_EL0. */
		if (found.reg == ARM64_PMEVCNTR && found.n == ARM64_PMU_CYCLE_COUNTER)
			found.n = ARM64_PMU_NO_COUNTER;
	}
	return found;
}

static uint64_t read_reg(struct arm64_env *env, const struct arm64_sysreg *reg)
{
	unsigned int vcpu = arm64_vcpu_of_env(env);
	struct pmu_reg r = pmu_reg_of(vcpu, reg);

	return arm64_hooks->read(vcpu, r.reg, r.n);
}

static void write_reg(struct arm64_env *env, const struct arm64_sysreg *reg, uint64_t value)
{
	unsigned int vcpu = arm64_vcpu_of_env(env);
	struct pmu_reg r = pmu_reg_of(vcpu, reg);

	arm64_hooks->write(vcpu, r.reg, r.n, value);
}

static void (*mdcr_write)(struct arm64_env *env, const struct arm64_sysreg *reg, uint64_t value);

static void write_mdcr(struct arm64_env *env, const struct arm64_sysreg *reg, uint64_t value)
{
	mdcr_write(env, reg, value);
	arm64_hooks->mdcr_changed(arm64_vcpu_of_env(env));
}

static int hook_reg(struct arm64_env *env, const char *name, struct arm64_sysreg_id id)
{
	struct arm64_sysreg *reg = arm64_sysreg(env, name, id);

	if (!reg)
		return 1;
	if (!reg->writefn || reg->readfn == read_reg)
		return plugin_refuse("this QEMU has an unknown %s: use QEMU 10.0 to 11.1", name);
	reg->readfn = read_reg;
	reg->writefn = write_reg;
	return 0;
}

/* Find a register with a constant value, which is part of generated code. */
static struct arm64_sysreg *constant(struct arm64_env *env, const char *name,
				     struct arm64_sysreg_id id)
{
	struct arm64_sysreg *reg = arm64_sysreg(env, name, id);

	if (reg && (reg->readfn || reg->writefn || reg->fieldoffset ||
		    !(reg->type & ARM64_SYSREG_CONST))) {
		plugin_refuse("this QEMU has an unknown %s: use QEMU 10.0 to 11.1", name);
		return NULL;
	}
	return reg;
}

static struct arm64_sysreg *dfr0_of(struct arm64_env *env)
{
	return constant(env, "ID_AA64DFR0_EL1", (struct arm64_sysreg_id) { 3, 0, 0, 5, 0 });
}

/**
 * arm64_qemu_vcpu_describe() - note a vCPU, and read its properties
 * @vcpu: index of the vCPU; called in its thread, before its first instruction
 * @cpu: set to the properties
 *
 * Return: 0, or non-zero after a refusal.
 */
int arm64_qemu_vcpu_describe(unsigned int vcpu, struct arm64_qemu_cpu *cpu)
{
	const struct arm64_sysreg *dfr0, *pfr0, *pmcr;
	struct arm64_env *env;
	uint64_t value;

	pmu_qemu_vcpu_init(vcpu);
	env = arm64_env(vcpu);
	arm64_vcpus[vcpu].env = env;

	dfr0 = dfr0_of(env);
	pfr0 = arm64_sysreg(env, "ID_AA64PFR0_EL1", (struct arm64_sysreg_id) { 3, 0, 0, 4, 0 });
	if (!dfr0 || !pfr0)
		return 1;
	cpu->version = dfr0->resetvalue >> DFR0_PMUVER_SHIFT & ID_FIELD;
	if (!cpu->version || cpu->version == PMUVER_IMPDEF)
		return plugin_refuse("CPU %u has no PMU: run QEMU with -cpu ...,pmu=on", vcpu);

	pmcr = arm64_sysreg(env, "PMCR_EL0", (struct arm64_sysreg_id) { 3, 3, 9, 12, 0 });
	if (!pmcr)
		return 1;
	cpu->counters = pmcr->resetvalue >> PMCR_N_SHIFT & PMCR_N;
	value = pfr0->readfn ? pfr0->readfn(env, pfr0) : pfr0->resetvalue;
	cpu->has_el2 = value >> PFR0_EL2_SHIFT & ID_FIELD;
	cpu->has_el3 = value >> PFR0_EL3_SHIFT & ID_FIELD;
	return 0;
}

/**
 * arm64_add_reg() - add a register that QEMU does not have
 * @vcpu: index of the vCPU; called in its thread, before its first instruction
 * @reg: the register; @access 0 takes the access rights and traps of PMXEVTYPER_EL0
 *
 * The description is a copy of PMXEVTYPER_EL0's, with the values of @reg: QEMU keeps no value of
 * that register either. QEMU stores a description's name behind the description; the distance is
 * the size of the description.
 *
 * Return: 0, or non-zero after a refusal.
 */
int arm64_add_reg(unsigned int vcpu, const struct arm64_sysreg *reg)
{
	const struct arm64_sysreg_id id = { reg->op0, reg->op1, reg->crn, reg->crm, reg->op2 };
	struct arm64_env *env = arm64_vcpus[vcpu].env;
	const struct arm64_sysreg *like = arm64_sysreg(env, "PMXEVTYPER_EL0", pmxevtyper_id);
	union {
		struct arm64_sysreg reg;
		char bytes[SYSREG_SIZE_MAX];
	} copy;
	void (*define)(struct qemu_cpu *cpu, const void *reg, void *opaque);
	ptrdiff_t size;

	define = (void (*)(struct qemu_cpu *, const void *, void *))
		 dlsym(RTLD_DEFAULT, "define_one_arm_cp_reg_with_opaque");
	if (!define)
		define = (void (*)(struct qemu_cpu *, const void *, void *))
			 dlsym(RTLD_DEFAULT, "define_one_arm_cp_reg");
	if (!define)
		return plugin_refuse("this QEMU does not export define_one_arm_cp_reg(), so no %s can be added: use QEMU 10.0 to 11.1",
				     reg->name);
	if (!like)
		return 1;
	size = like->name - (const char *)like;
	if (size < (ptrdiff_t)sizeof(*like) || size > SYSREG_SIZE_MAX ||
	    like->access != ARM64_SYSREG_EL0_RW)
		return plugin_refuse("cannot tell how this QEMU describes a register, so no %s can be added: use QEMU 10.0 to 11.1",
				     reg->name);

	memset(&copy, 0, sizeof(copy));
	memcpy(&copy, like, size);
	copy.reg.name = reg->name;
	copy.reg.op0 = reg->op0;
	copy.reg.op1 = reg->op1;
	copy.reg.crn = reg->crn;
	copy.reg.crm = reg->crm;
	copy.reg.op2 = reg->op2;
	copy.reg.opaque = reg->opaque;
	copy.reg.readfn = reg->readfn;
	copy.reg.writefn = reg->writefn;
	/* The traps of PMXEVTYPER_EL0 do not apply to this register. */
	if (reg->access) {
		copy.reg.access = reg->access;
		copy.reg.fgt = 0;
		copy.reg.nv2 = 0;
		copy.reg.accessfn = NULL;
	}
	define(pmu_qemu_cpu(vcpu), &copy, reg->opaque);
	if (!arm64_sysreg_added(env, reg->name, id))
		return plugin_refuse("this QEMU did not take %s: use QEMU 10.0 to 11.1", reg->name);
	return 0;
}

/* Add a counter's register, with the access rights and traps of PMXEVTYPER_EL0. */
static int add_counter_reg(unsigned int vcpu, const char *name, struct arm64_sysreg_id id)
{
	return arm64_add_reg(vcpu, &(const struct arm64_sysreg) {
		.name = name, .op0 = id.op0, .op1 = id.op1, .crn = id.crn, .crm = id.crm,
		.op2 = id.op2, .readfn = read_reg, .writefn = write_reg,
	});
}

static int hook_counters(struct arm64_env *env, unsigned int counters)
{
	char name[32];

	for (unsigned int n = 0; n < counters; n++) {
		snprintf(name, sizeof(name), "PMEVCNTR%u_EL0", n);
		if (hook_reg(env, name, (struct arm64_sysreg_id)
			     { 3, 3, CRN_COUNTER, 8 | n >> 3, n & 7 }))
			return 1;
		snprintf(name, sizeof(name), "PMEVTYPER%u_EL0", n);
		if (hook_reg(env, name, (struct arm64_sysreg_id)
			     { 3, 3, CRN_COUNTER, CRM_TYPER | n >> 3, n & 7 }))
			return 1;
	}
	return 0;
}

static uint64_t read_constant(struct arm64_env *env, const struct arm64_sysreg *reg)
{
	(void)env;
	return reg->resetvalue;
}

/*
 * Ignore the write. loadvm writes every register and then compares: a register whose value differs
 * makes it fail, and one without a write function aborts QEMU.
 */
static void write_constant(struct arm64_env *env, const struct arm64_sysreg *reg, uint64_t value)
{
	(void)env;
	(void)reg;
	(void)value;
}

/*
 * CPUs share generated code, which has the constant of the CPU that executed it first. The constant
 * differs between CPU types, so each access calls a function that returns it.
 */
static void set_constant(struct arm64_sysreg *reg, uint64_t value)
{
	reg->resetvalue = value;
	reg->readfn = read_constant;
	reg->writefn = write_constant;
	reg->type &= ~ARM64_SYSREG_CONST;
}

static uint64_t with_field(uint64_t value, unsigned int shift, uint64_t field)
{
	return (value & ~(ID_FIELD << shift)) | field << shift;
}

static int set_constants(struct arm64_env *env, const struct arm64_pmu_config *config,
			 uint64_t pmceid0, uint64_t pmceid1, uint64_t pmmir)
{
	struct arm64_sysreg *dfr0 = dfr0_of(env), *dfr1, *ceid0, *ceid1, *mmir;
	unsigned int version = dfr0->resetvalue >> DFR0_PMUVER_SHIFT & ID_FIELD;

	dfr1 = constant(env, "ID_AA64DFR1_EL1", (struct arm64_sysreg_id) { 3, 0, 0, 5, 1 });
	ceid0 = constant(env, "PMCEID0_EL0", (struct arm64_sysreg_id) { 3, 3, 9, 12, 6 });
	ceid1 = constant(env, "PMCEID1_EL0", (struct arm64_sysreg_id) { 3, 3, 9, 12, 7 });
	if (!dfr1 || !ceid0 || !ceid1)
		return 1;
	if (version >= ARM64_PMU_V3P4) {
		mmir = constant(env, "PMMIR_EL1", (struct arm64_sysreg_id) { 3, 0, 9, 14, 6 });
		if (!mmir)
			return 1;
		set_constant(mmir, pmmir);
	}

	set_constant(dfr0, with_field(with_field(dfr0->resetvalue, DFR0_PMUVER_SHIFT,
						 config->version),
				      DFR0_BRBE_SHIFT, !!config->brbe.records));
	set_constant(dfr1, with_field(dfr1->resetvalue, DFR1_PMICNTR_SHIFT,
				      config->instr_counter));
	set_constant(ceid0, pmceid0);
	set_constant(ceid1, pmceid1);
	return 0;
}

/**
 * arm64_qemu_vcpu_hook() - replace the PMU of a vCPU
 * @vcpu: index of the vCPU; called in its thread, before its first instruction
 * @config: properties of the new PMU
 * @pmceid0: PMCEID0_EL0
 * @pmceid1: PMCEID1_EL0
 * @pmmir: PMMIR_EL1
 *
 * Return: 0, or non-zero after a refusal.
 */
int arm64_qemu_vcpu_hook(unsigned int vcpu, const struct arm64_pmu_config *config,
			 uint64_t pmceid0, uint64_t pmceid1, uint64_t pmmir)
{
	struct arm64_vcpu *v = &arm64_vcpus[vcpu];
	struct arm64_sysreg *mdcr;
	struct arm64_qemu_cpu cpu;

	if (arm64_qemu_vcpu_describe(vcpu, &cpu))
		return 1;
	v->pmselr = arm64_sysreg(v->env, "PMSELR_EL0", (struct arm64_sysreg_id) { 3, 3, 9, 12, 5 });
	if (!v->pmselr)
		return 1;
	if (v->pmselr->fieldoffset <= 0)
		return plugin_refuse("this QEMU implements PMSELR_EL0 in a way not known: use QEMU 10.0 to 11.1");

	if (config->has_el2) {
		mdcr = arm64_sysreg(v->env, "MDCR_EL2", (struct arm64_sysreg_id) { 3, 4, 1, 1, 1 });
		if (!mdcr)
			return 1;
		if (!mdcr->writefn || mdcr->fieldoffset <= 0)
			return plugin_refuse("this QEMU implements MDCR_EL2 in a way not known: use QEMU 10.0 to 11.1");
		v->mdcr_el2 = mdcr;
		mdcr_write = mdcr->writefn;
		mdcr->writefn = write_mdcr;
	}

	if (config->instr_counter &&
	    (add_counter_reg(vcpu, "PMICNTR_EL0", pmicntr_id) ||
	     add_counter_reg(vcpu, "PMICFILTR_EL0", pmicfiltr_id)))
		return 1;
	if (config->brbe.records && arm64_add_brbe(vcpu, config))
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(pmu_regs); i++)
		if (hook_reg(v->env, pmu_regs[i].name, pmu_regs[i].id))
			return 1;
	return hook_reg(v->env, "PMXEVTYPER_EL0", pmxevtyper_id) ||
	       hook_reg(v->env, "PMXEVCNTR_EL0", pmxevcntr_id) ||
	       hook_counters(v->env, cpu.counters) ||
	       set_constants(v->env, config, pmceid0, pmceid1, pmmir);
}

static uint64_t read_midr(struct arm64_env *env, const struct arm64_sysreg *reg)
{
	(void)reg;
	return arm64_vcpus[arm64_vcpu_of_env(env)].midr;
}

/**
 * arm64_qemu_set_midr() - have a vCPU report another CPU type
 * @vcpu: index of the vCPU; called in its thread, after arm64_qemu_vcpu_describe()
 * @midr: MIDR_EL1. QEMU has no other way to have several CPU types
 *
 * Return: 0, or non-zero after a refusal.
 */
int arm64_qemu_set_midr(unsigned int vcpu, uint64_t midr)
{
	struct arm64_sysreg *reg = arm64_sysreg(arm64_vcpus[vcpu].env, "MIDR_EL1",
						(struct arm64_sysreg_id) { 3, 0, 0, 0, 0 });

	if (!reg)
		return 1;
	/* EL1 may read VPIDR_EL2 instead, so QEMU has a function for this register. */
	if (!reg->readfn)
		return plugin_refuse("this QEMU implements MIDR_EL1 in a way not known: use QEMU 10.0 to 11.1");
	arm64_vcpus[vcpu].midr = midr;
	reg->readfn = read_midr;
	return 0;
}
