// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the virtual arm64 PMU needs of QEMU.
 *
 * See pmu/qemu.c for what is the same on other architectures, arm64/internals.c for
 * how system registers are found. Generated code calls functions which are in a
 * register's description, or has the constant which is there as its value; then it is
 * made to call a function, too. Both are replaced for the registers of the PMU;
 * QEMU's PMU behind them then stays as it is after reset, and silent. A register that
 * QEMU does not have is described to it like one that it has. What may be accessed
 * from where, PMSELR_EL0 and PMUSERENR_EL0 remain QEMU's.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arm64/internals.h"
#include "arm64/qemu.h"
#include "common/image.h"

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

#define PSTATE_EL_SHIFT		2
#define PSTATE_EL		3
#define PSTATE_SP		1

/* CPSR.M of AArch32 */
#define CPSR_M			0x1f
#define CPSR_USR		0x10
#define CPSR_HYP		0x1a
#define CPSR_MON		0x16

#define PMSELR_SEL		0x1f

/* The largest description of a register that is believed, in bytes */
#define SYSREG_SIZE_MAX		0x100

/* Functions of QEMU, each found by its name. */
static struct {
	uint32_t (*cpsr_read)(struct arm64_env *env);
	int (*cpu_memory_rw_debug)(struct qemu_cpu *cpu, uint64_t addr, void *buf, size_t len,
				   bool is_write);
	void *(*qdev_get_gpio_out_connector)(struct qemu_cpu *cpu, const char *name, int n);
	void *(*object_resolve_path_type)(const char *path, const char *type, bool *ambiguous);
	void *(*qdev_get_gpio_in)(void *device, int n);
	void (*qemu_set_irq)(void *irq, int level);
	void (*arm_cpu_do_interrupt)(struct qemu_cpu *cpu);
	void *arm_cpu_tlb_fill_align;
} qemu;

#define IN_QEMU(name)	{ #name, (void **)&qemu.name }

static const struct pmu_import imports[] = {
	IN_QEMU(cpsr_read),
	IN_QEMU(cpu_memory_rw_debug),
	IN_QEMU(qdev_get_gpio_out_connector),
	IN_QEMU(object_resolve_path_type),
	IN_QEMU(qdev_get_gpio_in),
	IN_QEMU(qemu_set_irq),
	IN_QEMU(arm_cpu_do_interrupt),
	IN_QEMU(arm_cpu_tlb_fill_align),
};

/* Where things are in CPUARMState. */
static struct {
	int32_t pc;
	int32_t pstate;
	int32_t aarch64;
} offset;

static void **do_interrupt_place;

static const struct arm64_qemu_hooks *hooks;

/**
 * struct vcpu - one CPU
 * @env: QEMU's CPUARMState
 * @pmselr: PMSELR_EL0
 * @mdcr_el2: MDCR_EL2, if there is EL2
 * @hcr_el2: HCR_EL2, if there are branch records besides
 * @midr: MIDR_EL1, once arm64_qemu_set_midr() has set it
 * @line: the interrupt, once it has been asked for
 */
static struct vcpu {
	struct arm64_env *env;
	const struct arm64_sysreg *pmselr;
	const struct arm64_sysreg *mdcr_el2;
	const struct arm64_sysreg *hcr_el2;
	uint64_t midr;
	void *line;
} vcpus[PMU_VCPUS_MAX];

/* ---- finding things ---- */

/*
 * helper_msr_i_daifclear() asks for the exception level:
 *
 *	if (is_a64(env))		cmpb	$0,aarch64(%rdi)
 *	extract32(env->pstate, 2, 2)	testb	$0xc,pstate(%rdi)
 */
static bool find_pstate(void)
{
	struct image_code code;
	size_t i;

	if (!image_function("helper_msr_i_daifclear", &code))
		return false;
	for (i = 0; i + 7 <= code.len; i++) {
		const uint8_t *p = code.start + i;

		if (p[0] == 0x80 && p[1] == 0xbf && !p[6] && !offset.aarch64)
			offset.aarch64 = image_disp32(p + 2);
		if (p[0] == 0xf6 && p[1] == 0x87 && p[6] == PSTATE_EL << PSTATE_EL_SHIFT &&
		    !offset.pstate)
			offset.pstate = image_disp32(p + 2);
	}
	/* They are neighbours, and follow the program counter. */
	return offset.pstate > 0 && offset.aarch64 > offset.pstate &&
	       offset.aarch64 - offset.pstate <= 8;
}

/*
 * arm_cpu_synchronize_from_tb() knows all of ARMCPU:
 *
 *	if (is_a64(env))		cmpb	$0,env+aarch64(%rdi)
 *		env->pc = tb->pc;	mov	(%rsi),%rax
 *					mov	%rax,env+pc(%rdi)
 */
static bool find_pc(void)
{
	int32_t env = arm64_env_offset();
	bool same_env = false;
	struct image_code code;
	size_t i;

	if (!image_function("arm_cpu_synchronize_from_tb", &code))
		return false;
	for (i = 0; i + 7 <= code.len; i++) {
		const uint8_t *p = code.start + i;

		if (p[0] == 0x80 && p[1] == 0xbf && !p[6])
			same_env = image_disp32(p + 2) == env + offset.aarch64;
		if (p[0] == 0x48 && p[1] == 0x89 && p[2] == 0x87 && !offset.pc)
			offset.pc = image_disp32(p + 3) - env;
	}
	return same_env && offset.pc > 0 && offset.pc + 8 == offset.pstate;
}

static bool is_ops(void **place)
{
	return pmu_qemu_neighbour(place, qemu.arm_cpu_tlb_fill_align);
}

/**
 * arm64_qemu_find() - find all that is needed of QEMU, changing nothing
 * @info: what QEMU says of itself
 *
 * Return: 0, or non-zero after a refusal.
 */
int arm64_qemu_find(const struct qemu_info *info)
{
	if (pmu_qemu_find(info, imports, ARRAY_SIZE(imports)) || arm64_sysreg_init())
		return 1;
	if (!find_pstate() || !find_pc())
		return plugin_refuse("cannot tell where this QEMU keeps the state of a CPU, it is not like 10.0 to 11.1");
	do_interrupt_place = image_find_pointer(qemu.arm_cpu_do_interrupt, is_ops);
	if (!do_interrupt_place)
		return plugin_refuse("finds no table of QEMU's functions for exceptions: another PMU plugin is loaded, or this QEMU is not like 10.0 to 11.1");
	return 0;
}

/* ---- vCPUs ---- */

static bool is_a64(const struct arm64_env *env)
{
	return *((const char *)env + offset.aarch64);
}

static uint32_t pstate_of(const struct arm64_env *env)
{
	return image_disp32((const char *)env + offset.pstate);
}

static unsigned int level_of(struct arm64_env *env)
{
	if (is_a64(env))
		return pstate_of(env) >> PSTATE_EL_SHIFT & PSTATE_EL;

	switch (qemu.cpsr_read(env) & CPSR_M) {
	case CPSR_USR:
		return ARM64_PMU_EL0;
	case CPSR_HYP:
		return ARM64_PMU_EL2;
	case CPSR_MON:
		return ARM64_PMU_EL3;
	default:
		return ARM64_PMU_EL1;
	}
}

/**
 * arm64_qemu_level() - the exception level a vCPU is at
 * @vcpu: its index
 */
unsigned int arm64_qemu_level(unsigned int vcpu)
{
	return level_of(vcpus[vcpu].env);
}

/**
 * arm64_qemu_pc() - the program counter of a vCPU
 * @vcpu: its index; in its thread, at the head of a block or between two
 *
 * QEMU has it right there since the code of its blocks goes by it: CF_PCREL. When an
 * exception is about to be taken it is the address of the instruction interrupted.
 */
uint64_t arm64_qemu_pc(unsigned int vcpu)
{
	uint64_t pc;

	memcpy(&pc, (const char *)vcpus[vcpu].env + offset.pc, sizeof(pc));
	return pc;
}

/**
 * arm64_qemu_is_a64() - does a vCPU execute AArch64 code?
 * @vcpu: its index
 */
bool arm64_qemu_is_a64(unsigned int vcpu)
{
	return is_a64(vcpus[vcpu].env);
}

/**
 * arm64_qemu_insn() - read the instruction that an exception is about to interrupt
 * @vcpu: its index
 * @insn: the result
 *
 * Return: whether it is one of A64, and can be read.
 */
bool arm64_qemu_insn(unsigned int vcpu, uint32_t *insn)
{
	return is_a64(vcpus[vcpu].env) &&
	       !qemu.cpu_memory_rw_debug(pmu_qemu_cpu(vcpu), arm64_qemu_pc(vcpu), insn,
					 sizeof(*insn), false);
}

/**
 * arm64_qemu_mdcr_el2() - MDCR_EL2
 * @vcpu: the index of a CPU that has EL2
 */
uint64_t arm64_qemu_mdcr_el2(unsigned int vcpu)
{
	return arm64_sysreg_value(vcpus[vcpu].env, vcpus[vcpu].mdcr_el2);
}

/**
 * arm64_qemu_hcr_el2() - HCR_EL2
 * @vcpu: the index of a CPU that has EL2 and branch records
 */
uint64_t arm64_qemu_hcr_el2(unsigned int vcpu)
{
	return arm64_sysreg_value(vcpus[vcpu].env, vcpus[vcpu].hcr_el2);
}

static struct arm64_env *translating_env(void)
{
	return vcpus[pmu_qemu_vcpu_of(pmu_qemu_current_cpu())].env;
}

/**
 * arm64_qemu_translating_level() - the exception level of the code being translated
 */
unsigned int arm64_qemu_translating_level(void)
{
	return level_of(translating_env());
}

/**
 * arm64_qemu_translating_a64() - is the code being translated AArch64's?
 */
bool arm64_qemu_translating_a64(void)
{
	return is_a64(translating_env());
}

/* The first CPU's SPI, once arm64_qemu_use_spis() has been called */
static bool uses_spis;
static unsigned int first_spi;

/**
 * arm64_qemu_use_spis() - have SPIs in place of the machine's PPI
 * @first: that of the first CPU; those of the others follow
 */
void arm64_qemu_use_spis(unsigned int first)
{
	uses_spis = true;
	first_spi = first;
}

/* Inputs of an interrupt controller are its SPIs first, from 0 on. */
static void *find_spi(unsigned int n)
{
	static const char *const types[] = { "arm-gicv3-common", "arm_gic_common" };
	void *gic = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types) && !gic; i++)
		gic = qemu.object_resolve_path_type("", types[i], NULL);
	if (!gic) {
		plugin_refuse("finds no interrupt controller that has SPIs in this machine");
		exit(1);
	}
	return qemu.qdev_get_gpio_in(gic, n);
}

static void *find_line(unsigned int vcpu)
{
	if (uses_spis)
		return find_spi(first_spi + vcpu);
	return qemu.qdev_get_gpio_out_connector(pmu_qemu_cpu(vcpu), "pmu-interrupt", 0);
}

/**
 * arm64_qemu_set_line() - set the PMU's interrupt
 * @vcpu: of this CPU
 * @high: whether it asks for one
 */
void arm64_qemu_set_line(unsigned int vcpu, bool high)
{
	struct vcpu *v = &vcpus[vcpu];

	/* The machine has been put together by now. */
	if (!v->line)
		v->line = find_line(vcpu);
	if (v->line)
		qemu.qemu_set_irq(v->line, high);
}

/* ---- system registers ---- */

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

/* Those whose description says which counter they are of, or PMSELR_EL0 does. */
#define CRN_COUNTER	14
#define CRM_TYPER	12

static const struct arm64_sysreg_id pmxevtyper_id = { 3, 3, 9, 13, 1 };
static const struct arm64_sysreg_id pmxevcntr_id = { 3, 3, 9, 13, 2 };
static const struct arm64_sysreg_id pmicntr_id = { 3, 3, 9, 4, 0 };
static const struct arm64_sysreg_id pmicfiltr_id = { 3, 3, 9, 6, 0 };

static unsigned int vcpu_of_env(const struct arm64_env *env)
{
	return pmu_qemu_vcpu_of((const struct qemu_cpu *)((const char *)env -
							  arm64_env_offset()));
}

static bool is_id(const struct arm64_sysreg *reg, const struct arm64_sysreg_id *id)
{
	return reg->op1 == id->op1 && reg->crn == id->crn && reg->crm == id->crm &&
	       reg->op2 == id->op2;
}

/* What a register is to the PMU. */
static struct pmu_reg pmu_reg_of(unsigned int vcpu, const struct arm64_sysreg *reg)
{
	const struct vcpu *v = &vcpus[vcpu];
	struct pmu_reg found = { .n = (reg->crm & 3) << 3 | reg->op2 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pmu_regs); i++)
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
	unsigned int vcpu = vcpu_of_env(env);
	struct pmu_reg r = pmu_reg_of(vcpu, reg);

	return hooks->read(vcpu, r.reg, r.n);
}

static void write_reg(struct arm64_env *env, const struct arm64_sysreg *reg, uint64_t value)
{
	unsigned int vcpu = vcpu_of_env(env);
	struct pmu_reg r = pmu_reg_of(vcpu, reg);

	hooks->write(vcpu, r.reg, r.n, value);
}

static void (*mdcr_write)(struct arm64_env *env, const struct arm64_sysreg *reg, uint64_t value);

static void write_mdcr(struct arm64_env *env, const struct arm64_sysreg *reg, uint64_t value)
{
	mdcr_write(env, reg, value);
	hooks->mdcr_changed(vcpu_of_env(env));
}

static int hook_reg(struct arm64_env *env, const char *name, struct arm64_sysreg_id id)
{
	struct arm64_sysreg *reg = arm64_sysreg(env, name, id);

	if (!reg)
		return 1;
	if (!reg->writefn || reg->readfn == read_reg)
		return plugin_refuse("this QEMU implements %s in a way not known", name);
	reg->readfn = read_reg;
	reg->writefn = write_reg;
	return 0;
}

/* A register whose value QEMU puts into the code it generates. */
static struct arm64_sysreg *constant(struct arm64_env *env, const char *name,
				     struct arm64_sysreg_id id)
{
	struct arm64_sysreg *reg = arm64_sysreg(env, name, id);

	if (reg && (reg->readfn || reg->writefn || reg->fieldoffset ||
		    !(reg->type & ARM64_SYSREG_CONST))) {
		plugin_refuse("this QEMU implements %s in a way not known", name);
		return NULL;
	}
	return reg;
}

static struct arm64_sysreg *dfr0_of(struct arm64_env *env)
{
	return constant(env, "ID_AA64DFR0_EL1", (struct arm64_sysreg_id) { 3, 0, 0, 5, 0 });
}

/**
 * arm64_qemu_vcpu_describe() - get to know a vCPU
 * @vcpu: its index; in its thread, before its first instruction
 * @cpu: the result
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
	vcpus[vcpu].env = env;

	dfr0 = dfr0_of(env);
	pfr0 = arm64_sysreg(env, "ID_AA64PFR0_EL1", (struct arm64_sysreg_id) { 3, 0, 0, 4, 0 });
	if (!dfr0 || !pfr0)
		return 1;
	cpu->version = dfr0->resetvalue >> DFR0_PMUVER_SHIFT & ID_FIELD;
	if (!cpu->version || cpu->version == PMUVER_IMPDEF)
		return plugin_refuse("CPU %u has no PMU, run it with -cpu ...,pmu=on", vcpu);

	pmcr = arm64_sysreg(env, "PMCR_EL0", (struct arm64_sysreg_id) { 3, 3, 9, 12, 0 });
	if (!pmcr)
		return 1;
	cpu->counters = pmcr->resetvalue >> PMCR_N_SHIFT & PMCR_N;
	value = pfr0->readfn ? pfr0->readfn(env, pfr0) : pfr0->resetvalue;
	cpu->has_el2 = value >> PFR0_EL2_SHIFT & ID_FIELD;
	cpu->has_el3 = value >> PFR0_EL3_SHIFT & ID_FIELD;
	return 0;
}

/*
 * Describe a register to QEMU: like PMXEVTYPER_EL0, of which QEMU keeps no value either, but for
 * what @reg says. QEMU copies the description. It is as long as the way to the name, which QEMU
 * keeps after it.
 */
static int add_reg_like(unsigned int vcpu, const struct arm64_sysreg *reg)
{
	const struct arm64_sysreg_id id = { reg->op0, reg->op1, reg->crn, reg->crm, reg->op2 };
	struct arm64_env *env = vcpus[vcpu].env;
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
		return plugin_refuse("this QEMU does not export define_one_arm_cp_reg(), so no %s can be added",
				     reg->name);
	if (!like)
		return 1;
	size = like->name - (const char *)like;
	if (size < (ptrdiff_t)sizeof(*like) || size > SYSREG_SIZE_MAX ||
	    like->access != ARM64_SYSREG_EL0_RW)
		return plugin_refuse("cannot tell how this QEMU describes a register, so no %s can be added",
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
	/* What else may trap the like of PMXEVTYPER_EL0 is not for these. */
	if (reg->access) {
		copy.reg.access = reg->access;
		copy.reg.fgt = 0;
		copy.reg.nv2 = 0;
		copy.reg.accessfn = NULL;
	}
	define(pmu_qemu_cpu(vcpu), &copy, reg->opaque);
	if (!arm64_sysreg_added(env, reg->name, id))
		return plugin_refuse("this QEMU did not take %s", reg->name);
	return 0;
}

/* As PMXEVTYPER_EL0, which registers of counters are */
static int add_reg(unsigned int vcpu, const char *name, struct arm64_sysreg_id id)
{
	return add_reg_like(vcpu, &(const struct arm64_sysreg) {
		.name = name, .op0 = id.op0, .op1 = id.op1, .crn = id.crn, .crm = id.crm,
		.op2 = id.op2, .readfn = read_reg, .writefn = write_reg,
	});
}

/* Registers of branch records; those of a record have its number in CRm, and its bit 4 in op2. */
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

	return hooks->read_brbe(vcpu_of_env(env), r->reg,
				reg->crm | (reg->op2 >> RECORD_OP2_SHIFT) << 4);
}

static void write_brbe(struct arm64_env *env, const struct arm64_sysreg *reg, uint64_t value)
{
	const struct brbe_reg *r = reg->opaque;

	hooks->write_brbe(vcpu_of_env(env), r->reg, value);
}

static int add_brbe_reg(unsigned int vcpu, const struct brbe_reg *r, const char *name,
			struct arm64_sysreg_id id)
{
	return add_reg_like(vcpu, &(const struct arm64_sysreg) {
		.name = name, .op0 = id.op0, .op1 = id.op1, .crn = id.crn, .crm = id.crm,
		.op2 = id.op2, .access = r->access, .opaque = (void *)r, .readfn = read_brbe,
		.writefn = write_brbe,
	});
}

static int add_record_regs(unsigned int vcpu, unsigned int n)
{
	char name[32];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(brbe_record_regs); i++) {
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

/* What EL1 reads of ID_AA64DFR0_EL1 is set_constants()' work. */
static int add_brbe(unsigned int vcpu, const struct arm64_pmu_config *config)
{
	struct vcpu *v = &vcpus[vcpu];
	unsigned int n;
	size_t i;

	if (config->has_el2) {
		v->hcr_el2 = arm64_sysreg(v->env, "HCR_EL2",
					  (struct arm64_sysreg_id) { 3, 4, 1, 1, 0 });
		if (!v->hcr_el2)
			return 1;
		if (v->hcr_el2->fieldoffset <= 0)
			return plugin_refuse("this QEMU implements HCR_EL2 in a way not known");
	}
	for (i = 0; i < ARRAY_SIZE(brbe_regs); i++)
		if ((config->has_el2 || !brbe_regs[i].of_el2) &&
		    add_brbe_reg(vcpu, &brbe_regs[i], brbe_regs[i].name, brbe_regs[i].id))
			return 1;
	for (n = 0; n < ARM64_BRBE_BANK; n++)
		if (add_record_regs(vcpu, n))
			return 1;
	return 0;
}

static int hook_counters(struct arm64_env *env, unsigned int counters)
{
	unsigned int n;
	char name[32];

	for (n = 0; n < counters; n++) {
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
 * CPUs share the code that QEMU has generated, with the constant of the one that was first.
 * Those of another kind have another one: so it is asked for at each access.
 */
static void set_constant(struct arm64_sysreg *reg, uint64_t value)
{
	reg->resetvalue = value;
	reg->readfn = read_constant;
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
 * arm64_qemu_vcpu_hook() - put the PMU in the place of the vCPU's own
 * @vcpu: its index; in its thread, before its first instruction
 * @config: what the PMU is
 * @pmceid0: PMCEID0_EL0
 * @pmceid1: PMCEID1_EL0
 * @pmmir: PMMIR_EL1
 *
 * Return: 0, or non-zero after a refusal.
 */
int arm64_qemu_vcpu_hook(unsigned int vcpu, const struct arm64_pmu_config *config,
			 uint64_t pmceid0, uint64_t pmceid1, uint64_t pmmir)
{
	struct vcpu *v = &vcpus[vcpu];
	struct arm64_sysreg *mdcr;
	struct arm64_qemu_cpu cpu;
	size_t i;

	if (arm64_qemu_vcpu_describe(vcpu, &cpu))
		return 1;
	v->pmselr = arm64_sysreg(v->env, "PMSELR_EL0", (struct arm64_sysreg_id) { 3, 3, 9, 12, 5 });
	if (!v->pmselr)
		return 1;
	if (v->pmselr->fieldoffset <= 0)
		return plugin_refuse("this QEMU implements PMSELR_EL0 in a way not known");

	if (config->has_el2) {
		mdcr = arm64_sysreg(v->env, "MDCR_EL2", (struct arm64_sysreg_id) { 3, 4, 1, 1, 1 });
		if (!mdcr)
			return 1;
		if (!mdcr->writefn || mdcr->fieldoffset <= 0)
			return plugin_refuse("this QEMU implements MDCR_EL2 in a way not known");
		v->mdcr_el2 = mdcr;
		mdcr_write = mdcr->writefn;
		mdcr->writefn = write_mdcr;
	}

	if (config->instr_counter &&
	    (add_reg(vcpu, "PMICNTR_EL0", pmicntr_id) ||
	     add_reg(vcpu, "PMICFILTR_EL0", pmicfiltr_id)))
		return 1;
	if (config->brbe.records && add_brbe(vcpu, config))
		return 1;
	for (i = 0; i < ARRAY_SIZE(pmu_regs); i++)
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
	return vcpus[vcpu_of_env(env)].midr;
}

/**
 * arm64_qemu_set_midr() - have a vCPU say that it is of another kind
 * @vcpu: its index; in its thread, after arm64_qemu_vcpu_describe()
 * @midr: MIDR_EL1. QEMU knows no other way to have CPUs of several kinds
 *
 * Return: 0, or non-zero after a refusal.
 */
int arm64_qemu_set_midr(unsigned int vcpu, uint64_t midr)
{
	struct arm64_sysreg *reg = arm64_sysreg(vcpus[vcpu].env, "MIDR_EL1",
						(struct arm64_sysreg_id) { 3, 0, 0, 0, 0 });

	if (!reg)
		return 1;
	/* What EL1 reads may be another register's, so QEMU calls a function for it. */
	if (!reg->readfn)
		return plugin_refuse("this QEMU implements MIDR_EL1 in a way not known");
	vcpus[vcpu].midr = midr;
	reg->readfn = read_midr;
	return 0;
}

/* ---- in place of QEMU's functions ---- */

static void hook_do_interrupt(struct qemu_cpu *cpu)
{
	unsigned int vcpu = pmu_qemu_vcpu_of(cpu);
	const struct arm64_qemu_exception e = {
		.number = pmu_qemu_exception(cpu), .pc = arm64_qemu_pc(vcpu),
		.level = arm64_qemu_level(vcpu), .is_a64 = arm64_qemu_is_a64(vcpu),
	};

	hooks->exception(vcpu, e.number);
	qemu.arm_cpu_do_interrupt(cpu);
	hooks->delivered(vcpu, &e);
}

/* A CPU begins at the highest of its levels, on that level's own stack. */
static void check_offsets(const struct vcpu *v)
{
	static bool checked;

	if (checked)
		return;
	checked = true;
	if (is_a64(v->env) && (!(pstate_of(v->env) & PSTATE_SP) || !level_of(v->env))) {
		plugin_refuse("finds a CPU of this QEMU not in the state of reset, it is not like 10.0 to 11.1");
		exit(1);
	}
}

static void on_reset(void *opaque)
{
	unsigned int i;

	(void)opaque;
	for (i = 0; i < pmu_qemu_vcpus(); i++)
		check_offsets(&vcpus[i]);
	hooks->reset();
}

/**
 * arm64_qemu_hook() - put the PMU into QEMU, after arm64_qemu_find()
 * @h: what is to be called; it stays in use
 *
 * Return: 0, or non-zero after a refusal.
 */
int arm64_qemu_hook(const struct arm64_qemu_hooks *h)
{
	hooks = h;
	if (!pmu_qemu_replace(do_interrupt_place, hook_do_interrupt,
			      &qemu.arm_cpu_do_interrupt))
		return plugin_refuse("cannot write to this QEMU's table of functions");
	pmu_qemu_on_reset(on_reset);
	return 0;
}
