// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the virtual arm64 PMU needs of QEMU.
 *
 * See pmu/qemu.c for what is the same on other architectures, arm64/registers/sysregs.c for
 * the registers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arm64/registers/sysregs.h"
#include "common/image.h"

#define PSTATE_EL_SHIFT		2
#define PSTATE_EL		3
#define PSTATE_SP		1

/* CPSR.M of AArch32 */
#define CPSR_M			0x1f
#define CPSR_USR		0x10
#define CPSR_HYP		0x1a
#define CPSR_MON		0x16

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

const struct arm64_qemu_hooks *arm64_hooks;
struct arm64_vcpu arm64_vcpus[PMU_VCPUS_MAX];

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
	return level_of(arm64_vcpus[vcpu].env);
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

	memcpy(&pc, (const char *)arm64_vcpus[vcpu].env + offset.pc, sizeof(pc));
	return pc;
}

/**
 * arm64_qemu_is_a64() - does a vCPU execute AArch64 code?
 * @vcpu: its index
 */
bool arm64_qemu_is_a64(unsigned int vcpu)
{
	return is_a64(arm64_vcpus[vcpu].env);
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
	return is_a64(arm64_vcpus[vcpu].env) &&
	       !qemu.cpu_memory_rw_debug(pmu_qemu_cpu(vcpu), arm64_qemu_pc(vcpu), insn,
					 sizeof(*insn), false);
}

/**
 * arm64_qemu_mdcr_el2() - MDCR_EL2
 * @vcpu: the index of a CPU that has EL2
 */
uint64_t arm64_qemu_mdcr_el2(unsigned int vcpu)
{
	return arm64_sysreg_value(arm64_vcpus[vcpu].env, arm64_vcpus[vcpu].mdcr_el2);
}

/**
 * arm64_qemu_hcr_el2() - HCR_EL2
 * @vcpu: the index of a CPU that has EL2 and branch records
 */
uint64_t arm64_qemu_hcr_el2(unsigned int vcpu)
{
	return arm64_sysreg_value(arm64_vcpus[vcpu].env, arm64_vcpus[vcpu].hcr_el2);
}

static struct arm64_env *translating_env(void)
{
	return arm64_vcpus[pmu_qemu_vcpu_of(pmu_qemu_current_cpu())].env;
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
	struct arm64_vcpu *v = &arm64_vcpus[vcpu];

	/* The machine has been put together by now. */
	if (!v->line)
		v->line = find_line(vcpu);
	if (v->line)
		qemu.qemu_set_irq(v->line, high);
}

/* ---- in place of QEMU's functions ---- */

static void hook_do_interrupt(struct qemu_cpu *cpu)
{
	unsigned int vcpu = pmu_qemu_vcpu_of(cpu);
	const struct arm64_qemu_exception e = {
		.number = pmu_qemu_exception(cpu), .pc = arm64_qemu_pc(vcpu),
		.level = arm64_qemu_level(vcpu), .is_a64 = arm64_qemu_is_a64(vcpu),
	};

	arm64_hooks->exception(vcpu, e.number);
	qemu.arm_cpu_do_interrupt(cpu);
	arm64_hooks->delivered(vcpu, &e);
}

/* A CPU begins at the highest of its levels, on that level's own stack. */
static bool is_reset(const struct qemu_cpu *cpu)
{
	const struct arm64_env *env =
		(const struct arm64_env *)((const char *)cpu + arm64_env_offset());
	uint32_t pstate = pstate_of(env);

	return !is_a64(env) ||
	       (pstate & PSTATE_SP && pstate >> PSTATE_EL_SHIFT & PSTATE_EL);
}

/**
 * arm64_qemu_hook() - put the PMU into QEMU, after arm64_qemu_find()
 * @h: what is to be called; it stays in use
 *
 * Return: 0, or non-zero after a refusal.
 */
int arm64_qemu_hook(const struct arm64_qemu_hooks *h)
{
	arm64_hooks = h;
	if (!pmu_qemu_replace(do_interrupt_place, hook_do_interrupt,
			      &qemu.arm_cpu_do_interrupt))
		return plugin_refuse("cannot write to this QEMU's table of functions");
	pmu_qemu_on_reset(is_reset, h->reset);
	return 0;
}
