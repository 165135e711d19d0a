// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Access to QEMU for the virtual arm64 PMU. pmu/qemu.c has the part that is common to all
 * architectures, arm64/registers/sysregs.c the registers.
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

/* Functions of QEMU, found by their names */
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

/* Offsets of fields in CPUARMState */
static struct {
	int32_t pc;
	int32_t pstate;
	int32_t aarch64;
} offset;

static void **do_interrupt_place;

const struct arm64_qemu_hooks *arm64_hooks;
struct arm64_vcpu arm64_vcpus[PMU_VCPUS_MAX];

/* ---- finding functions and fields ---- */

/*
 * helper_msr_i_daifclear() reads the exception level:
 *
 *	if (is_a64(env))		cmpb	$0,aarch64(%rdi)
 *	extract32(env->pstate, 2, 2)	testb	$0xc,pstate(%rdi)
 */
static bool find_pstate(void)
{
	struct image_code code;

	if (!image_function("helper_msr_i_daifclear", &code))
		return false;
	for (size_t i = 0; i + 7 <= code.len; i++) {
		const uint8_t *p = code.start + i;

		if (p[0] == 0x80 && p[1] == 0xbf && !p[6] && !offset.aarch64)
			offset.aarch64 = image_disp32(p + 2);
		if (p[0] == 0xf6 && p[1] == 0x87 && p[6] == PSTATE_EL << PSTATE_EL_SHIFT &&
		    !offset.pstate)
			offset.pstate = image_disp32(p + 2);
	}
	/* The two fields are adjacent, after the program counter. */
	return offset.pstate > 0 && offset.aarch64 > offset.pstate &&
	       offset.aarch64 - offset.pstate <= 8;
}

/*
 * arm_cpu_synchronize_from_tb() has offsets in ARMCPU:
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

	if (!image_function("arm_cpu_synchronize_from_tb", &code))
		return false;
	for (size_t i = 0; i + 7 <= code.len; i++) {
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
 * arm64_qemu_find() - find the functions and fields of QEMU that the PMU needs; change nothing
 * @info: QEMU's information for plugins
 *
 * Return: 0, or non-zero after a refusal.
 */
int arm64_qemu_find(const struct qemu_info *info)
{
	if (pmu_qemu_find(info, imports, ARRAY_SIZE(imports)) || arm64_sysreg_init())
		return 1;
	if (!find_pstate() || !find_pc())
		return plugin_refuse("cannot tell where this QEMU keeps the state of a CPU: use QEMU 10.0 to 11.1");
	do_interrupt_place = image_find_pointer(qemu.arm_cpu_do_interrupt, is_ops);
	if (!do_interrupt_place)
		return plugin_refuse("finds no table of QEMU's functions for exceptions: another PMU plugin is loaded (load one), or this QEMU is not 10.0 to 11.1");
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
 * arm64_qemu_level() - return the exception level of a vCPU
 * @vcpu: index of the vCPU
 */
unsigned int arm64_qemu_level(unsigned int vcpu)
{
	return level_of(arm64_vcpus[vcpu].env);
}

/**
 * arm64_qemu_pc_field() - return a pointer to the program counter in the CPUARMState of a vCPU
 * @vcpu: index of the vCPU
 *
 * Its value is valid where arm64_qemu_pc() may be called.
 */
const uint64_t *arm64_qemu_pc_field(unsigned int vcpu)
{
	return (const uint64_t *)((const char *)arm64_vcpus[vcpu].env + offset.pc);
}

/**
 * arm64_qemu_pc() - return the program counter of a vCPU
 * @vcpu: index of the vCPU; called in its thread, at the start of a block or between two blocks
 *
 * The PC in CPUARMState is valid there, because the code of a block reads it (CF_PCREL). When an
 * exception is about to be taken, it is the address of the interrupted instruction.
 */
uint64_t arm64_qemu_pc(unsigned int vcpu)
{
	return *arm64_qemu_pc_field(vcpu);
}

/**
 * arm64_qemu_is_a64() - check whether a vCPU executes AArch64 code
 * @vcpu: index of the vCPU
 */
bool arm64_qemu_is_a64(unsigned int vcpu)
{
	return is_a64(arm64_vcpus[vcpu].env);
}

/**
 * arm64_qemu_insn() - read the instruction that an exception is about to interrupt
 * @vcpu: index of the vCPU
 * @insn: set to the instruction
 *
 * Return: true if it is an A64 instruction that can be read.
 */
bool arm64_qemu_insn(unsigned int vcpu, uint32_t *insn)
{
	return is_a64(arm64_vcpus[vcpu].env) &&
	       !qemu.cpu_memory_rw_debug(pmu_qemu_cpu(vcpu), arm64_qemu_pc(vcpu), insn,
					 sizeof(*insn), false);
}

/**
 * arm64_qemu_mdcr_el2() - return MDCR_EL2
 * @vcpu: index of a vCPU with EL2
 */
uint64_t arm64_qemu_mdcr_el2(unsigned int vcpu)
{
	return arm64_sysreg_value(arm64_vcpus[vcpu].env, arm64_vcpus[vcpu].mdcr_el2);
}

/**
 * arm64_qemu_hcr_el2() - return HCR_EL2
 * @vcpu: index of a vCPU with EL2 and branch records
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
 * arm64_qemu_translating_level() - return the exception level of the code being translated
 */
unsigned int arm64_qemu_translating_level(void)
{
	return level_of(translating_env());
}

/**
 * arm64_qemu_translating_a64() - check whether the code being translated is AArch64 code
 */
bool arm64_qemu_translating_a64(void)
{
	return is_a64(translating_env());
}

/* The first CPU's SPI, once arm64_qemu_use_spis() has been called */
static bool uses_spis;
static unsigned int first_spi;

/**
 * arm64_qemu_use_spis() - use an SPI for each CPU, instead of the machine's PPI
 * @first: the first CPU's SPI; the other CPUs use the following ones
 */
void arm64_qemu_use_spis(unsigned int first)
{
	uses_spis = true;
	first_spi = first;
}

/* The first inputs of an interrupt controller, from 0 on, are its SPIs. */
static void *find_spi(unsigned int n)
{
	static const char *const types[] = { "arm-gicv3-common", "arm_gic_common" };
	void *gic = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(types) && !gic; i++)
		gic = qemu.object_resolve_path_type("", types[i], NULL);
	if (!gic) {
		plugin_refuse("finds no interrupt controller with SPIs: use -M virt, or no spi=");
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
 * arm64_qemu_set_line() - set the PMU's interrupt line
 * @vcpu: index of the vCPU
 * @high: the level
 */
void arm64_qemu_set_line(unsigned int vcpu, bool high)
{
	struct arm64_vcpu *v = &arm64_vcpus[vcpu];

	/* QEMU connects the line after it has created the CPU: find it at its first use. */
	if (!v->line)
		v->line = find_line(vcpu);
	if (v->line)
		qemu.qemu_set_irq(v->line, high);
}

/* ---- replacements of QEMU's functions ---- */

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

/* After reset, a CPU is at its highest exception level, with that level's stack pointer. */
static bool is_reset(const struct qemu_cpu *cpu)
{
	const struct arm64_env *env =
		(const struct arm64_env *)((const char *)cpu + arm64_env_offset());
	uint32_t pstate = pstate_of(env);

	return !is_a64(env) ||
	       (pstate & PSTATE_SP && pstate >> PSTATE_EL_SHIFT & PSTATE_EL);
}

/**
 * arm64_qemu_hook() - have QEMU call the PMU's functions; called after arm64_qemu_find()
 * @h: the functions; must stay valid
 *
 * Return: 0, or non-zero after a refusal.
 */
int arm64_qemu_hook(const struct arm64_qemu_hooks *h)
{
	arm64_hooks = h;
	if (!pmu_qemu_replace(do_interrupt_place, hook_do_interrupt,
			      &qemu.arm_cpu_do_interrupt))
		return plugin_refuse("cannot write to this QEMU's table of functions: use QEMU 10.0 to 11.1");
	pmu_qemu_on_reset(is_reset, h->reset);
	return 0;
}
