// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Add the BRBE registers of the virtual arm64 PMU to QEMU.
 */
#include <stdio.h>

#include "arm64/brbe/brbe.h"
#include "arm64/registers/sysregs.h"

/* BRBE registers; a record's registers have the record's number in CRm, and its bit 4 in op2. */
static const struct brbe_reg {
	const char *name;
	struct arm64_sysreg_id id;
	uint32_t access;
	enum arm64_brbe_reg reg;
	bool of_el2;
} brbe_regs[] = {
	{ "BRBCR_EL1",	   { 2, 1, 9, 0, 0 }, ARM64_SYSREG_EL1_RW, ARM64_BRBCR_EL1,  false },
	{ "BRBFCR_EL1",	   { 2, 1, 9, 0, 1 }, ARM64_SYSREG_EL1_RW, ARM64_BRBFCR,     false },
	{ "BRBTS_EL1",	   { 2, 1, 9, 0, 2 }, ARM64_SYSREG_EL1_RW, ARM64_BRBTS,	     false },
	{ "BRBINFINJ_EL1", { 2, 1, 9, 1, 0 }, ARM64_SYSREG_EL1_RW, ARM64_BRBINFINJ,  false },
	{ "BRBSRCINJ_EL1", { 2, 1, 9, 1, 1 }, ARM64_SYSREG_EL1_RW, ARM64_BRBSRCINJ,  false },
	{ "BRBTGTINJ_EL1", { 2, 1, 9, 1, 2 }, ARM64_SYSREG_EL1_RW, ARM64_BRBTGTINJ,  false },
	{ "BRBIDR0_EL1",   { 2, 1, 9, 2, 0 }, ARM64_SYSREG_EL1_R,  ARM64_BRBIDR0,    false },
	{ "BRB_IALL",	   { 1, 1, 7, 2, 4 }, ARM64_SYSREG_EL1_W,  ARM64_BRB_IALL,   false },
	{ "BRB_INJ",	   { 1, 1, 7, 2, 5 }, ARM64_SYSREG_EL1_W,  ARM64_BRB_INJ,    false },
	{ "BRBCR_EL2",	   { 2, 4, 9, 0, 0 }, ARM64_SYSREG_EL2_RW, ARM64_BRBCR_EL2,  true },
	{ "BRBCR_EL12",	   { 2, 5, 9, 0, 0 }, ARM64_SYSREG_EL2_RW, ARM64_BRBCR_EL12, true },
}, brbe_record_regs[] = {
	{ "BRBINF%u_EL1",  { 2, 1, 8, 0, 0 }, ARM64_SYSREG_EL1_R,  ARM64_BRBINF,     false },
	{ "BRBSRC%u_EL1",  { 2, 1, 8, 0, 1 }, ARM64_SYSREG_EL1_R,  ARM64_BRBSRC,     false },
	{ "BRBTGT%u_EL1",  { 2, 1, 8, 0, 2 }, ARM64_SYSREG_EL1_R,  ARM64_BRBTGT,     false },
};

#define RECORD_CRM		0xf
#define RECORD_OP2_SHIFT	2

static uint64_t read_brbe(struct arm64_env *env, const struct arm64_sysreg *reg)
{
	const struct brbe_reg *r = reg->opaque;

	return arm64_hooks->read_brbe(arm64_vcpu_of_env(env), r->reg,
				reg->crm | (reg->op2 >> RECORD_OP2_SHIFT) << 4);
}

static void write_brbe(struct arm64_env *env, const struct arm64_sysreg *reg, uint64_t value)
{
	const struct brbe_reg *r = reg->opaque;

	arm64_hooks->write_brbe(arm64_vcpu_of_env(env), r->reg, value);
}

static int add_brbe_reg(unsigned int vcpu, const struct brbe_reg *r, const char *name,
			struct arm64_sysreg_id id)
{
	return arm64_add_reg(vcpu, &(const struct arm64_sysreg) {
		.name = name, .op0 = id.op0, .op1 = id.op1, .crn = id.crn, .crm = id.crm,
		.op2 = id.op2, .access = r->access, .opaque = (void *)r, .readfn = read_brbe,
		.writefn = write_brbe,
	});
}

static int add_record_regs(unsigned int vcpu, unsigned int n)
{
	char name[32];

	for (size_t i = 0; i < ARRAY_SIZE(brbe_record_regs); i++) {
		const struct brbe_reg *r = &brbe_record_regs[i];
		struct arm64_sysreg_id id = r->id;

		id.crm = n & RECORD_CRM;
		id.op2 |= n >> 4 << RECORD_OP2_SHIFT;
		snprintf(name, sizeof(name), r->name, n);
		if (add_brbe_reg(vcpu, r, name, id))
			return 1;
	}
	return 0;
}

/**
 * arm64_add_brbe() - add the BRBE registers to QEMU
 * @vcpu: index of the vCPU; called in its thread, before its first instruction
 * @config: properties of the PMU
 *
 * arm64_qemu_vcpu_hook() sets ID_AA64DFR0_EL1.BRBE.
 *
 * Return: 0, or non-zero after a refusal.
 */
int arm64_add_brbe(unsigned int vcpu, const struct arm64_pmu_config *config)
{
	struct arm64_vcpu *v = &arm64_vcpus[vcpu];

	if (config->has_el2) {
		v->hcr_el2 = arm64_sysreg(v->env, "HCR_EL2",
					  (struct arm64_sysreg_id) { 3, 4, 1, 1, 0 });
		if (!v->hcr_el2)
			return 1;
		if (v->hcr_el2->fieldoffset <= 0)
			return plugin_refuse("this QEMU implements HCR_EL2 in a way not known: use QEMU 10.0 to 11.1");
	}
	for (size_t i = 0; i < ARRAY_SIZE(brbe_regs); i++)
		if ((config->has_el2 || !brbe_regs[i].of_el2) &&
		    add_brbe_reg(vcpu, &brbe_regs[i], brbe_regs[i].name, brbe_regs[i].id))
			return 1;
	for (unsigned int n = 0; n < ARM64_BRBE_BANK; n++)
		if (add_record_regs(vcpu, n))
			return 1;
	return 0;
}
