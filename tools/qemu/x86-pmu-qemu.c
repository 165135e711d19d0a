// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the virtual x86 PMU needs of QEMU.
 *
 * A QEMU built with loadable modules exports its functions. RDMSR, WRMSR, RDPMC
 * and CPUID are "helpers": generated code calls them through a pointer that the
 * translator takes from a record, helper_info_*. Exceptions and interrupts go
 * through a table of functions, x86_tcg_ops. In both, functions of QEMU are
 * replaced by functions of the plugin. Where things are in QEMU's CPU state is
 * read from the code of small functions, and compared with others or with the
 * values after reset. (Names of QEMU's functions and types below are those of
 * its sources.)
 *
 * This reads x86-64 code: it works for a QEMU that runs on that architecture.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "x86-pmu-qemu.h"

#if !defined(__x86_64__) || !defined(__LP64__)
#error "the x86 PMU decodes x86-64 code and needs an x86-64 host"
#endif

/* From this interface version on, every callback carries user data. */
#define VERSION_USERDATA	7

#define CPU_INTERRUPT_HARD	0x0002
#define CPU_INTERRUPT_NMI	0x0200

#define EXCP_GP			13
#define MMU_INST_FETCH		2

/* The first registers in CPUX86State.regs[] */
enum { R_EAX, R_ECX, R_EDX, R_EBX };

#define HF_CPL_MASK		3u
#define HF_INHIBIT_IRQ		(1u << 3)
#define CR4_PCE			(1u << 8)

/* The distance from CPUX86State.eip to .hflags, in all versions known */
#define EIP_TO_HFLAGS		0x30
#define EIP_AT_RESET		0xfff0

#define APIC_BASE		0xfee00000
#define APIC_ICR		0x30
#define APIC_LVTPC		0x34
#define APIC_ICR_SELF		(1u << 18)
#define APIC_ICR_ASSERT		(1u << 14)

/* QEMU's CPUState and CPUX86State, of which little is known. */
struct qemu_cpu;
struct x86_env {
	uint64_t regs[R_EBX + 1];
};

/* The start of QEMU's TCGHelperInfo */
struct helper_info {
	void *func;
	const char *name;
};

union work_data {
	uint64_t value;
	void (*fn)(unsigned int vcpu);
};

/* Any callback; what its arguments are depends on the version. */
typedef void (*callback)(void);

typedef void (*work_fn)(struct qemu_cpu *cpu, union work_data data);

struct plugin_api plugin_api;

/* Functions of QEMU, each found by its name. */
static struct {
	struct qemu_cpu *(*qemu_get_cpu)(int index);
	void (*cpu_interrupt)(struct qemu_cpu *cpu, int mask);
	void (*async_run_on_cpu)(struct qemu_cpu *cpu, work_fn fn, union work_data data);
	void (*async_safe_run_on_cpu)(struct qemu_cpu *cpu, work_fn fn, union work_data data);
	void (*cpu_loop_exit)(struct qemu_cpu *cpu) __attribute__((noreturn));
	void (*raise_exception_err_ra)(struct x86_env *env, int vector, int error,
				       uintptr_t ra) __attribute__((noreturn));
	uint32_t (*address_space_rw)(void *as, uint64_t addr, uint64_t attrs, void *buf,
				     uint64_t len, bool is_write);
	void *address_space_memory;
	void *(*cpu_get_current_apic)(void);
	void *apic_msr_read;
	void *apic_msr_write;
	void (*cpu_x86_cpuid)(struct x86_env *env, uint32_t leaf, uint32_t subleaf,
			      uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx);
	void (*qemu_register_reset)(void (*fn)(void *opaque), void *opaque);
	int (*x86_cpu_pending_interrupt)(struct qemu_cpu *cpu, int request);
	void (*x86_cpu_do_interrupt)(struct qemu_cpu *cpu);
	bool (*x86_cpu_exec_interrupt)(struct qemu_cpu *cpu, int request);
	bool (*x86_cpu_tlb_fill)(struct qemu_cpu *cpu, uint64_t addr, int size, int access,
				 int mmu_idx, bool probe, uintptr_t ra);
	void (*qemu_plugin_reset)(qemu_plugin_id_t id, callback cb, void *userdata);
	void (*qemu_plugin_register_vcpu_tb_trans_cb)(qemu_plugin_id_t id, callback cb,
						      void *userdata);
	void (*qemu_plugin_register_atexit_cb)(qemu_plugin_id_t id, callback cb,
					       void *userdata);
} qemu;

#define IN_QEMU(name)	{ #name, (void **)&qemu.name }
#define IN_API(name)	{ "qemu_plugin_" #name, (void **)&plugin_api.name }

static const struct import {
	const char *name;
	void **place;
} imports[] = {
	IN_API(tb_n_insns),
	IN_API(tb_vaddr),
	IN_API(tb_get_insn),
	IN_API(insn_data),
	IN_API(insn_size),
	IN_API(insn_vaddr),
	IN_API(scoreboard_new),
	IN_API(scoreboard_find),
	IN_API(register_vcpu_tb_exec_cond_cb),
	IN_API(register_vcpu_tb_exec_inline_per_vcpu),
	IN_API(register_vcpu_insn_exec_cond_cb),
	IN_API(register_vcpu_insn_exec_inline_per_vcpu),
	IN_API(register_vcpu_mem_cb),
	IN_API(register_vcpu_mem_inline_per_vcpu),
	IN_QEMU(qemu_plugin_reset),
	IN_QEMU(qemu_plugin_register_vcpu_tb_trans_cb),
	IN_QEMU(qemu_plugin_register_atexit_cb),
	IN_QEMU(qemu_get_cpu),
	IN_QEMU(cpu_interrupt),
	IN_QEMU(async_run_on_cpu),
	IN_QEMU(async_safe_run_on_cpu),
	IN_QEMU(cpu_loop_exit),
	IN_QEMU(raise_exception_err_ra),
	IN_QEMU(address_space_rw),
	IN_QEMU(address_space_memory),
	IN_QEMU(cpu_get_current_apic),
	IN_QEMU(apic_msr_read),
	IN_QEMU(apic_msr_write),
	IN_QEMU(cpu_x86_cpuid),
	IN_QEMU(qemu_register_reset),
	IN_QEMU(x86_cpu_pending_interrupt),
	IN_QEMU(x86_cpu_do_interrupt),
	IN_QEMU(x86_cpu_exec_interrupt),
	IN_QEMU(x86_cpu_tlb_fill),
};

/* Where things are: in CPUX86State, in CPUState, and the one in the other. */
static struct {
	int32_t hflags;
	int32_t eip;
	int32_t cr4;
	int32_t exception_index;
	int32_t env;
} offset;

/* The places that x86_qemu_hook() changes. */
static struct helper_info *rdmsr_info, *wrmsr_info, *rdpmc_info, *cpuid_info;
static void **do_interrupt_place, **exec_interrupt_place, **tlb_fill_place;

static bool apic_msr_wants_apic;
static bool userdata_callbacks;

static const struct x86_qemu_hooks *hooks;
static qemu_plugin_id_t plugin_id;

/**
 * struct vcpu - one CPU
 * @cpu: QEMU's CPUState
 * @env: QEMU's CPUX86State
 * @in_fetch: the MMU is translating the address of an instruction
 * @in_exception: an exception or interrupt is being delivered
 */
static struct vcpu {
	struct qemu_cpu *cpu;
	struct x86_env *env;
	bool in_fetch;
	bool in_exception;
} vcpus[X86_QEMU_VCPUS_MAX];

static unsigned int nr_vcpus;

static uint32_t env_u32(const struct x86_env *env, int32_t at)
{
	uint32_t value;

	memcpy(&value, (const char *)env + at, sizeof(value));
	return value;
}

static uint64_t env_u64(const struct x86_env *env, int32_t at)
{
	uint64_t value;

	memcpy(&value, (const char *)env + at, sizeof(value));
	return value;
}

static void set_env_u32(struct x86_env *env, int32_t at, uint32_t value)
{
	memcpy((char *)env + at, &value, sizeof(value));
}

static void set_env_u64(struct x86_env *env, int32_t at, uint64_t value)
{
	memcpy((char *)env + at, &value, sizeof(value));
}

/* ---- finding things ---- */

static int32_t disp32(const uint8_t *p)
{
	int32_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static int find_imports(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(imports); i++) {
		*imports[i].place = dlsym(RTLD_DEFAULT, imports[i].name);
		if (!*imports[i].place)
			return plugin_refuse("this QEMU does not export %s(), one like 10.0 to 11.1 built with modules does",
					     imports[i].name);
	}
	if (!dlsym(RTLD_DEFAULT, "current_cpu"))
		return plugin_refuse("this QEMU does not export current_cpu");
	return 0;
}

/*
 * QEMU's RDPMC begins
 *
 *	if (!(env->cr[4] & CR4_PCE_MASK) && (env->hflags & HF_CPL_MASK))
 *						testb $1,cr4+1(%rdi)
 *						testb $3,hflags(%rdi)
 */
static bool find_env_fields(void)
{
	struct image_code code;
	size_t i;

	if (!image_function("helper_rdpmc", &code))
		return false;
	for (i = 0; i + 7 <= code.len; i++) {
		const uint8_t *p = code.start + i;

		if (p[0] != 0xf6 || p[1] != 0x87)
			continue;
		if (p[6] == CR4_PCE >> 8 && !offset.cr4)
			offset.cr4 = disp32(p + 2) - 1;
		if (p[6] == HF_CPL_MASK && !offset.hflags)
			offset.hflags = disp32(p + 2);
	}
	offset.eip = offset.hflags - EIP_TO_HFLAGS;
	return offset.cr4 > 0 && offset.eip > 0 && offset.cr4 % 8 == 0 && offset.eip % 8 == 0;
}

/* cpu_loop_exit_noexc() sets exception_index to -1: movl $-1,exception_index(%rdi) */
static bool find_exception_index(void)
{
	static const uint8_t minus_one[4] = { 0xff, 0xff, 0xff, 0xff };
	struct image_code code;
	size_t i;

	if (!image_function("cpu_loop_exit_noexc", &code))
		return false;
	for (i = 0; i + 10 <= code.len; i++) {
		const uint8_t *p = code.start + i;

		if (p[0] == 0xc7 && p[1] == 0x87 && !memcmp(p + 6, minus_one, 4)) {
			offset.exception_index = disp32(p + 2);
			return offset.exception_index > 0;
		}
	}
	return false;
}

/*
 * x86_cpu_do_interrupt() reads exception_index, and passes env to do_vmexit():
 *
 *	mov exception_index(%r),%r32
 *	lea env(%r),%rdi	...	jmp do_vmexit
 */
static bool find_env(void)
{
	const uint8_t *vmexit = dlsym(RTLD_DEFAULT, "do_vmexit");
	bool read_index = false;
	struct image_code code;
	int32_t env = 0;
	size_t i;

	if (!vmexit || !image_function("x86_cpu_do_interrupt", &code))
		return false;
	for (i = 0; i + 7 <= code.len; i++) {
		const uint8_t *p = code.start + i;

		if (p[0] == 0x8b && (p[1] & 0xc0) == 0x80 &&
		    disp32(p + 2) == offset.exception_index)
			read_index = true;
		else if (p[0] == 0x48 && p[1] == 0x8d && (p[2] & 0xf8) == 0xb8)
			env = disp32(p + 3);
		else if ((p[0] == 0xe9 || p[0] == 0xe8) && image_rel32(p + 1) == vmexit)
			offset.env = env;
	}
	return read_index && offset.env > 0 && offset.env % 16 == 0;
}

static struct helper_info *find_helper(const char *name)
{
	struct helper_info *info;
	char symbol[64];
	void *func;

	snprintf(symbol, sizeof(symbol), "helper_info_%s", name);
	info = dlsym(RTLD_DEFAULT, symbol);
	snprintf(symbol, sizeof(symbol), "helper_%s", name);
	func = dlsym(RTLD_DEFAULT, symbol);

	if (!info || !func || !image_is_data(info, sizeof(*info)) || info->func != func ||
	    !image_is_data(info->name, strlen(name) + 1) || strcmp(info->name, name)) {
		plugin_refuse("helper_info_%s is not as expected: another PMU plugin is loaded, or this QEMU is not like 10.0 to 11.1",
			      name);
		return NULL;
	}
	return info;
}

/* The neighbours of x86_tcg_ops.do_interrupt, in no certain order. */
#define OPS_NEIGHBOURHOOD	10

static void **neighbour(void **place, const void *fn)
{
	void **found = NULL;
	int i;

	if (!image_is_data(place - OPS_NEIGHBOURHOOD, 2 * OPS_NEIGHBOURHOOD * sizeof(*place)))
		return NULL;
	for (i = -OPS_NEIGHBOURHOOD; i < OPS_NEIGHBOURHOOD; i++) {
		if (place[i] != fn)
			continue;
		if (found)
			return NULL;
		found = &place[i];
	}
	return found;
}

static bool is_ops(void **place)
{
	return neighbour(place, qemu.x86_cpu_exec_interrupt) &&
	       neighbour(place, qemu.x86_cpu_tlb_fill);
}

static bool find_ops(void)
{
	do_interrupt_place = image_find_pointer(qemu.x86_cpu_do_interrupt, is_ops);
	if (!do_interrupt_place)
		return false;
	exec_interrupt_place = neighbour(do_interrupt_place, qemu.x86_cpu_exec_interrupt);
	tlb_fill_place = neighbour(do_interrupt_place, qemu.x86_cpu_tlb_fill);
	return true;
}

/* apic_msr_read() finds the APIC itself (10.0), or is given it (11.1). */
static bool find_apic_call(void)
{
	struct image_code code;
	size_t i;

	if (!image_function("apic_msr_read", &code))
		return false;
	apic_msr_wants_apic = true;
	for (i = 0; i + 5 <= code.len; i++)
		if (code.start[i] == 0xe8 &&
		    image_rel32(code.start + i + 1) == (const uint8_t *)qemu.cpu_get_current_apic)
			apic_msr_wants_apic = false;
	return true;
}

static bool is_parallel(void)
{
	const bool *variable = dlsym(RTLD_DEFAULT, "mttcg_enabled");
	bool (*function)(void);

	function = dlsym(RTLD_DEFAULT, "qemu_tcg_mttcg_enabled");
	return function ? function() : variable && *variable;
}

static int check_accelerator(const struct qemu_info *info)
{
	const bool *tcg = dlsym(RTLD_DEFAULT, "tcg_allowed");

	if (!tcg || !*tcg)
		return plugin_refuse("needs QEMU's own emulation, run it with -accel tcg");
	if (info->max_vcpus > X86_QEMU_VCPUS_MAX)
		return plugin_refuse("works with up to %d CPUs", X86_QEMU_VCPUS_MAX);
	if (info->max_vcpus != info->smp_vcpus)
		return plugin_refuse("all CPUs must be there from the start, without maxcpus=");
	if (info->max_vcpus > 1 && !is_parallel())
		return plugin_refuse("several CPUs in one thread (-icount, thread=single) crash in QEMU's plugin code, use -smp 1 or -accel tcg,thread=multi");
	return 0;
}

/**
 * x86_qemu_find() - find all that is needed of QEMU, changing nothing
 * @info: what QEMU says of itself
 *
 * Return: 0, or non-zero after a refusal.
 */
int x86_qemu_find(const struct qemu_info *info)
{
	if (check_accelerator(info) || find_imports())
		return 1;
	if (!find_env_fields() || !find_exception_index() || !find_env())
		return plugin_refuse("cannot tell where this QEMU keeps the state of a CPU, it is not like 10.0 to 11.1");
	if (!find_ops())
		return plugin_refuse("finds no table of QEMU's functions for interrupts: another PMU plugin is loaded, or this QEMU is not like 10.0 to 11.1");
	if (!find_apic_call())
		return plugin_refuse("cannot tell how to call this QEMU's apic_msr_read()");

	rdmsr_info = find_helper("rdmsr");
	wrmsr_info = rdmsr_info ? find_helper("wrmsr") : NULL;
	rdpmc_info = wrmsr_info ? find_helper("rdpmc") : NULL;
	cpuid_info = rdpmc_info ? find_helper("cpuid") : NULL;
	if (!cpuid_info)
		return 1;

	userdata_callbacks = info->version.cur >= VERSION_USERDATA;
	return 0;
}

/* ---- vCPUs ---- */

/**
 * x86_qemu_vcpu_init() - get to know a vCPU, which may not be complete yet
 * @vcpu: its index
 */
void x86_qemu_vcpu_init(unsigned int vcpu)
{
	struct vcpu *v = &vcpus[vcpu];

	v->cpu = qemu.qemu_get_cpu(vcpu);
	v->env = (struct x86_env *)((char *)v->cpu + offset.env);
	if (vcpu >= nr_vcpus)
		nr_vcpus = vcpu + 1;
}

/**
 * x86_qemu_vcpu_is_amd() - is this vCPU of AMD, as far as CPUID says?
 * @vcpu: its index
 */
bool x86_qemu_vcpu_is_amd(unsigned int vcpu)
{
	uint32_t eax, ebx, ecx, edx;

	qemu.cpu_x86_cpuid(vcpus[vcpu].env, 0, 0, &eax, &ebx, &ecx, &edx);
	/* "AuthenticAMD", "HygonGenuine" */
	return ebx == 0x68747541 || ebx == 0x6f677948;
}

static unsigned int vcpu_of_env(const struct x86_env *env)
{
	unsigned int i;

	for (i = 0; i < nr_vcpus; i++)
		if (vcpus[i].env == env)
			return i;
	plugin_refuse("an unknown CPU executes instructions");
	exit(1);
}

static unsigned int vcpu_of_cpu(const struct qemu_cpu *cpu)
{
	return vcpu_of_env((const struct x86_env *)((const char *)cpu + offset.env));
}

static enum x86_pmu_ring ring_of(const struct x86_env *env)
{
	return env_u32(env, offset.hflags) & HF_CPL_MASK ? X86_PMU_USER : X86_PMU_KERNEL;
}

/**
 * x86_qemu_ring() - the ring a vCPU is in
 * @vcpu: its index
 */
enum x86_pmu_ring x86_qemu_ring(unsigned int vcpu)
{
	return ring_of(vcpus[vcpu].env);
}

/* QEMU's thread-local variable current_cpu */
static struct qemu_cpu **current_cpu(void)
{
	static __thread struct qemu_cpu **address;

	if (!address)
		address = dlsym(RTLD_DEFAULT, "current_cpu");
	return address;
}

/**
 * x86_qemu_translating_ring() - the ring of the code being translated
 */
enum x86_pmu_ring x86_qemu_translating_ring(void)
{
	return ring_of((struct x86_env *)((char *)*current_cpu() + offset.env));
}

static void run_work(struct qemu_cpu *cpu, union work_data data)
{
	struct qemu_cpu *before = *current_cpu();

	/* One thread may do the work of several CPUs. */
	*current_cpu() = cpu;
	data.fn(vcpu_of_cpu(cpu));
	*current_cpu() = before;
}

void x86_qemu_work(unsigned int vcpu, void (*fn)(unsigned int vcpu))
{
	qemu.async_run_on_cpu(vcpus[vcpu].cpu, run_work, (union work_data) { .fn = fn });
}

void x86_qemu_exclusive_work(unsigned int vcpu, void (*fn)(unsigned int vcpu))
{
	qemu.async_safe_run_on_cpu(vcpus[vcpu].cpu, run_work, (union work_data) { .fn = fn });
}

/* ---- the local APIC ---- */

/* Fails unless the APIC is in x2APIC mode. */
static bool apic_msr_read(unsigned int reg, uint64_t *value)
{
	if (apic_msr_wants_apic)
		return !((int (*)(void *, int, uint64_t *))qemu.apic_msr_read)
			(qemu.cpu_get_current_apic(), reg, value);
	return !((int (*)(int, uint64_t *))qemu.apic_msr_read)(reg, value);
}

static bool apic_msr_write(unsigned int reg, uint64_t value)
{
	if (apic_msr_wants_apic)
		return !((int (*)(void *, int, uint64_t))qemu.apic_msr_write)
			(qemu.cpu_get_current_apic(), reg, value);
	return !((int (*)(int, uint64_t))qemu.apic_msr_write)(reg, value);
}

static uint32_t apic_read(unsigned int reg)
{
	uint64_t value = 0;

	if (!apic_msr_read(reg, &value))
		qemu.address_space_rw(qemu.address_space_memory, APIC_BASE + reg * 16, 0,
				      &value, sizeof(uint32_t), false);
	return value;
}

static void apic_write(unsigned int reg, uint32_t value)
{
	if (!apic_msr_write(reg, value))
		qemu.address_space_rw(qemu.address_space_memory, APIC_BASE + reg * 16, 0,
				      &value, sizeof(value), true);
}

uint32_t x86_qemu_lvtpc(unsigned int vcpu)
{
	(void)vcpu;
	return apic_read(APIC_LVTPC);
}

void x86_qemu_set_lvtpc(unsigned int vcpu, uint32_t lvtpc)
{
	(void)vcpu;
	apic_write(APIC_LVTPC, lvtpc);
}

void x86_qemu_nmi(unsigned int vcpu)
{
	qemu.cpu_interrupt(vcpus[vcpu].cpu, CPU_INTERRUPT_NMI);
}

void x86_qemu_fixed_interrupt(unsigned int vcpu, uint8_t vector)
{
	(void)vcpu;
	apic_write(APIC_ICR, APIC_ICR_SELF | APIC_ICR_ASSERT | vector);
}

/* ---- in place of QEMU's functions ---- */

/* The return address, as QEMU wants it to find the instruction. */
#define RETADDR()	((uintptr_t)__builtin_return_address(0) - 2)

static void (*helper_rdmsr)(struct x86_env *env);
static void (*helper_wrmsr)(struct x86_env *env);
static void (*helper_rdpmc)(struct x86_env *env);
static void (*helper_cpuid)(struct x86_env *env);

static void set_edx_eax(struct x86_env *env, uint64_t value)
{
	env->regs[R_EAX] = (uint32_t)value;
	env->regs[R_EDX] = value >> 32;
}

static void hook_rdmsr(struct x86_env *env)
{
	uint64_t value;

	switch (hooks->rdmsr(vcpu_of_env(env), env->regs[R_ECX], &value)) {
	case X86_PMU_DONE:
		set_edx_eax(env, value);
		return;
	case X86_PMU_FAULT:
		qemu.raise_exception_err_ra(env, EXCP_GP, 0, RETADDR());
	default:
		helper_rdmsr(env);
	}
}

static void hook_wrmsr(struct x86_env *env)
{
	uint64_t value = (uint32_t)env->regs[R_EAX] | env->regs[R_EDX] << 32;

	switch (hooks->wrmsr(vcpu_of_env(env), env->regs[R_ECX], value)) {
	case X86_PMU_DONE:
		return;
	case X86_PMU_FAULT:
		qemu.raise_exception_err_ra(env, EXCP_GP, 0, RETADDR());
	default:
		helper_wrmsr(env);
	}
}

/*
 * The translator believes that RDPMC never returns, and ends the block: go to
 * the next instruction through QEMU's main loop.
 */
static void hook_rdpmc(struct x86_env *env)
{
	unsigned int vcpu = vcpu_of_env(env);
	uint64_t value;

	if (ring_of(env) != X86_PMU_KERNEL && !(env_u32(env, offset.cr4) & CR4_PCE))
		helper_rdpmc(env);
	if (hooks->rdpmc(vcpu, env->regs[R_ECX], &value) != X86_PMU_DONE)
		qemu.raise_exception_err_ra(env, EXCP_GP, 0, RETADDR());

	set_edx_eax(env, value);
	set_env_u64(env, offset.eip, env_u64(env, offset.eip) + 2);
	set_env_u32(env, offset.hflags, env_u32(env, offset.hflags) & ~HF_INHIBIT_IRQ);
	qemu.cpu_loop_exit(vcpus[vcpu].cpu);
}

static void hook_cpuid(struct x86_env *env)
{
	uint32_t leaf = env->regs[R_EAX];
	struct x86_pmu_cpuid regs;

	helper_cpuid(env);
	regs = (struct x86_pmu_cpuid) {
		.eax = env->regs[R_EAX], .ecx = env->regs[R_ECX],
		.edx = env->regs[R_EDX], .ebx = env->regs[R_EBX],
	};
	hooks->cpuid(leaf, &regs);
	env->regs[R_EAX] = regs.eax;
	env->regs[R_ECX] = regs.ecx;
	env->regs[R_EDX] = regs.edx;
	env->regs[R_EBX] = regs.ebx;
}

/* QEMU's function does not return if the delivery of the exception faults. */
static void hook_do_interrupt(struct qemu_cpu *cpu)
{
	unsigned int vcpu = vcpu_of_cpu(cpu);
	struct vcpu *v = &vcpus[vcpu];
	int vector;

	memcpy(&vector, (char *)cpu + offset.exception_index, sizeof(vector));
	hooks->exception(vcpu, vector, env_u64(v->env, offset.eip), v->in_fetch,
			 v->in_exception);
	v->in_fetch = false;
	v->in_exception = true;
	qemu.x86_cpu_do_interrupt(cpu);
	v->in_exception = false;
}

static bool hook_exec_interrupt(struct qemu_cpu *cpu, int request)
{
	int pending = qemu.x86_cpu_pending_interrupt(cpu, request);
	unsigned int vcpu = vcpu_of_cpu(cpu);
	struct vcpu *v = &vcpus[vcpu];
	enum x86_pmu_ring ring = ring_of(v->env);
	bool taken;

	if (!pending)
		return qemu.x86_cpu_exec_interrupt(cpu, request);

	hooks->interrupt(vcpu, env_u64(v->env, offset.eip));
	v->in_exception = true;
	taken = qemu.x86_cpu_exec_interrupt(cpu, request);
	v->in_exception = false;
	if (pending == CPU_INTERRUPT_HARD && taken)
		hooks->interrupted(vcpu, ring);
	return taken;
}

/* Neither does this return if the address has no translation. */
static bool hook_tlb_fill(struct qemu_cpu *cpu, uint64_t addr, int size, int access,
			  int mmu_idx, bool probe, uintptr_t ra)
{
	struct vcpu *v;
	bool filled;

	if (access != MMU_INST_FETCH)
		return qemu.x86_cpu_tlb_fill(cpu, addr, size, access, mmu_idx, probe, ra);

	v = &vcpus[vcpu_of_cpu(cpu)];
	v->in_fetch = true;
	filled = qemu.x86_cpu_tlb_fill(cpu, addr, size, access, mmu_idx, probe, ra);
	v->in_fetch = false;
	return filled;
}

/* CPUs have been reset when they were made, before the machine is for the first time. */
static void check_offsets(const struct vcpu *v)
{
	static bool checked;

	if (checked)
		return;
	checked = true;
	if (env_u64(v->env, offset.eip) != EIP_AT_RESET ||
	    env_u32(v->env, offset.hflags) & HF_CPL_MASK) {
		plugin_refuse("finds a CPU of this QEMU not in the state of reset, it is not like 10.0 to 11.1");
		exit(1);
	}
}

static void on_reset(void *opaque)
{
	unsigned int i;

	(void)opaque;
	for (i = 0; i < nr_vcpus; i++) {
		check_offsets(&vcpus[i]);
		vcpus[i].in_fetch = false;
		vcpus[i].in_exception = false;
	}
	hooks->reset();
}

static bool replace(void *place, const void *new, void *old)
{
	memcpy(old, place, sizeof(new));
	return image_patch(place, &new, sizeof(new));
}

/**
 * x86_qemu_hook() - put the PMU into QEMU, after x86_qemu_find()
 * @id: this plugin, as QEMU named it
 * @h: what is to be called; it stays in use
 *
 * Return: 0, or non-zero after a refusal.
 */
int x86_qemu_hook(qemu_plugin_id_t id, const struct x86_qemu_hooks *h)
{
	hooks = h;
	plugin_id = id;
	if (!replace(&rdmsr_info->func, hook_rdmsr, &helper_rdmsr) ||
	    !replace(&wrmsr_info->func, hook_wrmsr, &helper_wrmsr) ||
	    !replace(&rdpmc_info->func, hook_rdpmc, &helper_rdpmc) ||
	    !replace(&cpuid_info->func, hook_cpuid, &helper_cpuid) ||
	    !replace(do_interrupt_place, hook_do_interrupt, &qemu.x86_cpu_do_interrupt) ||
	    !replace(exec_interrupt_place, hook_exec_interrupt, &qemu.x86_cpu_exec_interrupt) ||
	    !replace(tlb_fill_place, hook_tlb_fill, &qemu.x86_cpu_tlb_fill))
		return plugin_refuse("cannot write to this QEMU's tables of functions");
	qemu.qemu_register_reset(on_reset, NULL);
	return 0;
}

/* ---- instrumentation ---- */

static void (*translate_block)(struct qemu_plugin_tb *tb);
static void (*instrumented)(void);
static void (*exit_handler)(void);

static void translate_plain(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	translate_block(tb);
}

static void translate_userdata(struct qemu_plugin_tb *tb, void *userdata)
{
	(void)userdata;
	translate_block(tb);
}

static void on_exit_callback(void)
{
	exit_handler();
}

/* Runs with all vCPUs stopped and no translated code left. */
static void register_all(void)
{
	callback translated = (callback)translate_plain;

	if (userdata_callbacks)
		translated = (callback)translate_userdata;
	qemu.qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, translated, NULL);
	qemu.qemu_plugin_register_atexit_cb(plugin_id, on_exit_callback, NULL);
	instrumented();
}

/**
 * x86_qemu_instrument() - have blocks instrumented, from the next one on
 * @translate: called for each block that is translated
 * @done: called when nothing is left that was translated before
 * @at_exit: called when QEMU exits
 *
 * To be called in the work of a vCPU. It happens before its next block.
 */
void x86_qemu_instrument(void (*translate)(struct qemu_plugin_tb *tb), void (*done)(void),
			 void (*at_exit)(void))
{
	translate_block = translate;
	instrumented = done;
	exit_handler = at_exit;
	qemu.qemu_plugin_reset(plugin_id, register_all, NULL);
}

/**
 * x86_qemu_at_exit() - have a function called when QEMU exits
 * @at_exit: the function
 */
void x86_qemu_at_exit(void (*at_exit)(void))
{
	exit_handler = at_exit;
	qemu.qemu_plugin_register_atexit_cb(plugin_id, on_exit_callback, NULL);
}
