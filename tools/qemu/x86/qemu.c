// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Access to QEMU for the virtual x86 PMU.
 *
 * pmu/qemu.c has the part that is common to all architectures. RDMSR, WRMSR, RDPMC and CPUID are
 * "helpers": generated code calls them through a pointer that the translator takes from a record,
 * helper_info_*. Exceptions and interrupts go through a table of functions, x86_tcg_ops. The plugin
 * replaces functions in both. It reads the layout of QEMU's CPU state from the code of small
 * functions, and compares it with other functions or with the values after reset. (QEMU's functions
 * and types below have the names of QEMU's sources.)
 *
 * The plugin decodes x86-64 code, so it needs a QEMU that runs on an x86-64 host.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/image.h"
#include "x86/qemu.h"

/* The first CPUID leaf after the basic leaves */
#define LEAF_HYPERVISOR		0x40000000

#define CPU_INTERRUPT_HARD	0x0002
#define CPU_INTERRUPT_NMI	0x0200

#define EXCP_GP			13
#define MMU_INST_FETCH		2

/* The first registers in CPUX86State.regs[] */
enum { R_EAX, R_ECX, R_EDX, R_EBX };

#define HF_CPL_MASK		3u
#define HF_INHIBIT_IRQ		(1u << 3)
#define HF_GUEST_MASK		(1u << 21)	/* an SVM guest runs */
#define CR4_PCE			(1u << 8)

/* Exit codes of SVM's intercepts: AMD APM, volume 2, "SVM Intercept Exit Codes" */
#define SVM_EXIT_RDPMC		0x06f
#define SVM_EXIT_MSR		0x07c

/* The distance from CPUX86State.eip to .hflags, in all known versions */
#define EIP_TO_HFLAGS		0x30
#define EIP_AT_RESET		0xfff0

#define APIC_BASE		0xfee00000
#define APIC_ICR		0x30
#define APIC_LVTPC		0x34
#define APIC_ICR_SELF		(1u << 18)
#define APIC_ICR_ASSERT		(1u << 14)

/* QEMU's CPUX86State; this plugin knows few of its fields */
struct x86_env {
	uint64_t regs[R_EBX + 1];
};

/* The start of QEMU's TCGHelperInfo */
struct helper_info {
	void *func;
	const char *name;
};

/* Functions of QEMU, found by their names */
static struct {
	void (*cpu_interrupt)(struct qemu_cpu *cpu, int mask);
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
	void (*cpu_svm_check_intercept_param)(struct x86_env *env, uint32_t code, uint64_t param,
					      uintptr_t ra);
	int (*x86_cpu_pending_interrupt)(struct qemu_cpu *cpu, int request);
	void (*x86_cpu_do_interrupt)(struct qemu_cpu *cpu);
	bool (*x86_cpu_exec_interrupt)(struct qemu_cpu *cpu, int request);
	bool (*x86_cpu_tlb_fill)(struct qemu_cpu *cpu, uint64_t addr, int size, int access,
				 int mmu_idx, bool probe, uintptr_t ra);
} qemu;

#define IN_QEMU(name)	{ #name, (void **)&qemu.name }

static const struct pmu_import imports[] = {
	IN_QEMU(cpu_interrupt),
	IN_QEMU(cpu_loop_exit),
	IN_QEMU(raise_exception_err_ra),
	IN_QEMU(address_space_rw),
	IN_QEMU(address_space_memory),
	IN_QEMU(cpu_get_current_apic),
	IN_QEMU(apic_msr_read),
	IN_QEMU(apic_msr_write),
	IN_QEMU(cpu_x86_cpuid),
	IN_QEMU(cpu_svm_check_intercept_param),
	IN_QEMU(x86_cpu_pending_interrupt),
	IN_QEMU(x86_cpu_do_interrupt),
	IN_QEMU(x86_cpu_exec_interrupt),
	IN_QEMU(x86_cpu_tlb_fill),
};

/* Offsets of fields in CPUX86State, and of CPUX86State in CPUState */
static struct {
	int32_t hflags;
	int32_t eip;
	int32_t cr4;
	int32_t env;
} offset;

/* The entries of QEMU's tables that x86_qemu_hook() changes */
static struct helper_info *rdmsr_info, *wrmsr_info, *rdpmc_info, *cpuid_info, *vmrun_info;
static void **do_interrupt_place, **exec_interrupt_place, **tlb_fill_place;

static bool apic_msr_wants_apic;

static const struct x86_qemu_hooks *hooks;

/**
 * struct vcpu - one CPU
 * @env: the CPUX86State
 * @in_fetch: the MMU is translating the address of an instruction
 * @in_exception: an exception or interrupt is being delivered, or VMRUN is being executed
 */
static struct vcpu {
	struct x86_env *env;
	bool in_fetch;
	bool in_exception;
} vcpus[PMU_VCPUS_MAX];

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

/* ---- finding functions and fields ---- */

/*
 * helper_rdpmc() begins
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
			offset.cr4 = image_disp32(p + 2) - 1;
		if (p[6] == HF_CPL_MASK && !offset.hflags)
			offset.hflags = image_disp32(p + 2);
	}
	offset.eip = offset.hflags - EIP_TO_HFLAGS;
	return offset.cr4 > 0 && offset.eip > 0 && offset.cr4 % 8 == 0 && offset.eip % 8 == 0;
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
		    image_disp32(p + 2) == pmu_qemu_exception_index)
			read_index = true;
		else if (p[0] == 0x48 && p[1] == 0x8d && (p[2] & 0xf8) == 0xb8)
			env = image_disp32(p + 3);
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
		plugin_refuse("helper_info_%s is not as expected: another PMU plugin is loaded (load one), or this QEMU is not 10.0 to 11.1",
			      name);
		return NULL;
	}
	return info;
}

static bool is_ops(void **place)
{
	return pmu_qemu_neighbour(place, qemu.x86_cpu_exec_interrupt) &&
	       pmu_qemu_neighbour(place, qemu.x86_cpu_tlb_fill);
}

static bool find_ops(void)
{
	do_interrupt_place = image_find_pointer(qemu.x86_cpu_do_interrupt, is_ops);
	if (!do_interrupt_place)
		return false;
	exec_interrupt_place = pmu_qemu_neighbour(do_interrupt_place, qemu.x86_cpu_exec_interrupt);
	tlb_fill_place = pmu_qemu_neighbour(do_interrupt_place, qemu.x86_cpu_tlb_fill);
	return true;
}

/* apic_msr_read() finds the APIC itself (10.0), or takes it as an argument (11.1). */
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

/**
 * x86_qemu_find() - find the functions and fields of QEMU that the PMU needs; change nothing
 * @info: QEMU's information for plugins
 *
 * Return: 0, or non-zero after a refusal.
 */
int x86_qemu_find(const struct qemu_info *info)
{
	if (pmu_qemu_find(info, imports, ARRAY_SIZE(imports)))
		return 1;
	if (!find_env_fields() || !find_env())
		return plugin_refuse("cannot tell where this QEMU keeps the state of a CPU: use QEMU 10.0 to 11.1");
	if (!find_ops())
		return plugin_refuse("finds no table of QEMU's functions for interrupts: another PMU plugin is loaded (load one), or this QEMU is not 10.0 to 11.1");
	if (!find_apic_call())
		return plugin_refuse("cannot tell how to call this QEMU's apic_msr_read(): use QEMU 10.0 to 11.1");

	rdmsr_info = find_helper("rdmsr");
	wrmsr_info = rdmsr_info ? find_helper("wrmsr") : NULL;
	rdpmc_info = wrmsr_info ? find_helper("rdpmc") : NULL;
	cpuid_info = rdpmc_info ? find_helper("cpuid") : NULL;
	vmrun_info = cpuid_info ? find_helper("vmrun") : NULL;
	return !vmrun_info;
}

/* ---- vCPUs ---- */

/**
 * x86_qemu_vcpu_init() - note a new vCPU, which QEMU may not have completed yet
 * @vcpu: index of the vCPU
 */
void x86_qemu_vcpu_init(unsigned int vcpu)
{
	vcpus[vcpu].env = (struct x86_env *)((char *)pmu_qemu_vcpu_init(vcpu) + offset.env);
}

/**
 * x86_qemu_vcpu_is_amd() - check whether CPUID reports AMD or Hygon as a vCPU's vendor
 * @vcpu: index of the vCPU
 */
bool x86_qemu_vcpu_is_amd(unsigned int vcpu)
{
	uint32_t eax, ebx, ecx, edx;

	qemu.cpu_x86_cpuid(vcpus[vcpu].env, 0, 0, &eax, &ebx, &ecx, &edx);
	/* "AuthenticAMD", "HygonGenuine" */
	return ebx == 0x68747541 || ebx == 0x6f677948;
}

/**
 * x86_qemu_vcpu_signature() - return EAX of CPUID leaf 1: family, model and stepping
 * @vcpu: index of the vCPU
 */
uint32_t x86_qemu_vcpu_signature(unsigned int vcpu)
{
	uint32_t eax, ebx, ecx, edx;

	qemu.cpu_x86_cpuid(vcpus[vcpu].env, 1, 0, &eax, &ebx, &ecx, &edx);
	return eax;
}

static unsigned int vcpu_of_env(const struct x86_env *env)
{
	return pmu_qemu_vcpu_of((const struct qemu_cpu *)((const char *)env - offset.env));
}

static bool is_guest(const struct x86_env *env)
{
	return env_u32(env, offset.hflags) & HF_GUEST_MASK;
}

static enum x86_pmu_ring ring_of(const struct x86_env *env)
{
	uint32_t hflags = env_u32(env, offset.hflags);

	return (hflags & HF_CPL_MASK ? X86_PMU_USER : X86_PMU_KERNEL) +
	       (hflags & HF_GUEST_MASK ? X86_PMU_GUEST_USER : 0);
}

/**
 * x86_qemu_ring() - return the ring of a vCPU
 * @vcpu: index of the vCPU
 */
unsigned int x86_qemu_ring(unsigned int vcpu)
{
	return ring_of(vcpus[vcpu].env);
}

/**
 * x86_qemu_pc_field() - return a pointer to RIP in the CPUX86State of a vCPU
 * @vcpu: index of the vCPU
 *
 * Its value is valid where x86_qemu_pc() may be called.
 */
const uint64_t *x86_qemu_pc_field(unsigned int vcpu)
{
	return (const uint64_t *)((const char *)vcpus[vcpu].env + offset.eip);
}

/**
 * x86_qemu_pc() - return RIP of a vCPU
 * @vcpu: index of the vCPU; called in its thread, at the start of a block or between two blocks
 *
 * RIP in CPUX86State is valid there, because the code of a block reads it (CF_PCREL).
 *
 * Return: the address, within the code segment.
 */
uint64_t x86_qemu_pc(unsigned int vcpu)
{
	return *x86_qemu_pc_field(vcpu);
}

/**
 * x86_qemu_env() - return the CPUX86State of a vCPU
 * @vcpu: index of the vCPU
 */
void *x86_qemu_env(unsigned int vcpu)
{
	return vcpus[vcpu].env;
}

/**
 * x86_qemu_translating_ring() - return the ring of the code being translated
 */
enum x86_pmu_ring x86_qemu_translating_ring(void)
{
	return ring_of((struct x86_env *)((char *)pmu_qemu_current_cpu() + offset.env));
}

/* ---- the local APIC ---- */

/* Read a register of the local APIC; fails unless the APIC is in x2APIC mode. */
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
	qemu.cpu_interrupt(pmu_qemu_cpu(vcpu), CPU_INTERRUPT_NMI);
}

void x86_qemu_fixed_interrupt(unsigned int vcpu, uint8_t vector)
{
	(void)vcpu;
	apic_write(APIC_ICR, APIC_ICR_SELF | APIC_ICR_ASSERT | vector);
}

/* ---- replacements of QEMU's functions ---- */

/* The return address, as QEMU needs it to find the instruction */
#define RETADDR()	((uintptr_t)__builtin_return_address(0) - 2)

static void (*helper_rdmsr)(struct x86_env *env);
static void (*helper_wrmsr)(struct x86_env *env);
static void (*helper_rdpmc)(struct x86_env *env);
static void (*helper_cpuid)(struct x86_env *env);

static void (*helper_vmrun)(struct x86_env *env, int aflag, int next);

/*
 * End the run of an SVM guest if its hypervisor intercepts the instruction: then the function does
 * not return. QEMU checks the intercept too late, in the functions that are replaced.
 */
static void check_intercept(struct x86_env *env, uint32_t code, bool write, uintptr_t ra)
{
	if (is_guest(env))
		qemu.cpu_svm_check_intercept_param(env, code, write, ra);
}

static void set_edx_eax(struct x86_env *env, uint64_t value)
{
	env->regs[R_EAX] = (uint32_t)value;
	env->regs[R_EDX] = value >> 32;
}

static void hook_rdmsr(struct x86_env *env)
{
	uint64_t value;
	uint32_t msr;

	check_intercept(env, SVM_EXIT_MSR, false, RETADDR());
	switch (hooks->rdmsr(vcpu_of_env(env), env->regs[R_ECX], &value)) {
	case X86_PMU_DONE:
		set_edx_eax(env, value);
		return;
	case X86_PMU_FAULT:
		qemu.raise_exception_err_ra(env, EXCP_GP, 0, RETADDR());
	default:
		msr = env->regs[R_ECX];
		helper_rdmsr(env);
		env->regs[R_EAX] |= hooks->read(vcpu_of_env(env), msr);
	}
}

static void hook_wrmsr(struct x86_env *env)
{
	uint64_t value = (uint32_t)env->regs[R_EAX] | env->regs[R_EDX] << 32;

	check_intercept(env, SVM_EXIT_MSR, true, RETADDR());
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
 * Execute RDPMC. The translator assumes that RDPMC never returns, and ends the block. So this
 * function sets the next instruction's address and goes to QEMU's main loop.
 */
static void hook_rdpmc(struct x86_env *env)
{
	unsigned int vcpu = vcpu_of_env(env);
	uint64_t value;

	if (!x86_pmu_is_kernel(ring_of(env)) && !(env_u32(env, offset.cr4) & CR4_PCE))
		helper_rdpmc(env);
	check_intercept(env, SVM_EXIT_RDPMC, false, RETADDR());
	if (hooks->rdpmc(vcpu, ring_of(env), env->regs[R_ECX], &value) != X86_PMU_DONE)
		qemu.raise_exception_err_ra(env, EXCP_GP, 0, RETADDR());

	set_edx_eax(env, value);
	set_env_u64(env, offset.eip, env_u64(env, offset.eip) + 2);
	set_env_u32(env, offset.hflags, env_u32(env, offset.hflags) & ~HF_INHIBIT_IRQ);
	qemu.cpu_loop_exit(pmu_qemu_cpu(vcpu));
}

/* Check whether QEMU lacks a leaf: it returns its last leaf instead. */
static bool is_beyond_last(struct x86_env *env, uint32_t leaf)
{
	uint32_t last, unused;

	if (leaf >= LEAF_HYPERVISOR)
		return false;
	qemu.cpu_x86_cpuid(env, 0, 0, &last, &unused, &unused, &unused);
	return leaf > last;
}

static void hook_cpuid(struct x86_env *env)
{
	uint32_t leaf = env->regs[R_EAX], subleaf = env->regs[R_ECX];
	struct x86_pmu_cpuid regs;

	helper_cpuid(env);
	regs = (struct x86_pmu_cpuid) {
		.eax = env->regs[R_EAX], .ecx = env->regs[R_ECX],
		.edx = env->regs[R_EDX], .ebx = env->regs[R_EBX],
	};
	if (is_beyond_last(env, leaf))
		regs = (struct x86_pmu_cpuid) { 0 };
	hooks->cpuid(vcpu_of_env(env), leaf, subleaf, &regs);
	env->regs[R_EAX] = regs.eax;
	env->regs[R_ECX] = regs.ecx;
	env->regs[R_EDX] = regs.edx;
	env->regs[R_EBX] = regs.ebx;
}

/*
 * VMRUN may inject an exception into the guest, which no instruction of the guest has caused. Then,
 * or if the guest's state is invalid, QEMU's function does not return: in_exception stays true.
 */
static void hook_vmrun(struct x86_env *env, int aflag, int next)
{
	struct vcpu *v = &vcpus[vcpu_of_env(env)];

	v->in_exception = true;
	helper_vmrun(env, aflag, next);
	v->in_exception = false;
}

/* QEMU's function does not return if the delivery faults: then in_exception stays true. */
static void hook_do_interrupt(struct qemu_cpu *cpu)
{
	unsigned int vcpu = pmu_qemu_vcpu_of(cpu);
	struct vcpu *v = &vcpus[vcpu];
	uint64_t pc = env_u64(v->env, offset.eip);

	hooks->exception(vcpu, pmu_qemu_exception(cpu), pc, v->in_fetch, v->in_exception);
	v->in_fetch = false;
	v->in_exception = true;
	qemu.x86_cpu_do_interrupt(cpu);
	v->in_exception = false;
	hooks->delivered(vcpu, pc, env_u64(v->env, offset.eip));
}

static bool hook_exec_interrupt(struct qemu_cpu *cpu, int request)
{
	int pending = qemu.x86_cpu_pending_interrupt(cpu, request);
	unsigned int vcpu = pmu_qemu_vcpu_of(cpu);
	struct vcpu *v = &vcpus[vcpu];
	enum x86_pmu_ring ring = ring_of(v->env);
	uint64_t pc = env_u64(v->env, offset.eip);
	bool taken;

	if (!pending)
		return qemu.x86_cpu_exec_interrupt(cpu, request);

	hooks->interrupt(vcpu, pc);
	v->in_exception = true;
	taken = qemu.x86_cpu_exec_interrupt(cpu, request);
	v->in_exception = false;
	if ((pending == CPU_INTERRUPT_HARD || pending == CPU_INTERRUPT_NMI) && taken)
		hooks->delivered(vcpu, pc, env_u64(v->env, offset.eip));
	if (pending == CPU_INTERRUPT_HARD && taken)
		hooks->interrupted(vcpu, ring);
	return taken;
}

/*
 * QEMU's function does not return if the address has no translation: in_fetch stays true. For an
 * SVM guest, the function calls itself for the nested page table, and the inner call may return.
 */
static bool hook_tlb_fill(struct qemu_cpu *cpu, uint64_t addr, int size, int access,
			  int mmu_idx, bool probe, uintptr_t ra)
{
	struct vcpu *v;
	bool filled, nested;

	if (access != MMU_INST_FETCH)
		return qemu.x86_cpu_tlb_fill(cpu, addr, size, access, mmu_idx, probe, ra);

	v = &vcpus[pmu_qemu_vcpu_of(cpu)];
	nested = v->in_fetch;
	v->in_fetch = true;
	filled = qemu.x86_cpu_tlb_fill(cpu, addr, size, access, mmu_idx, probe, ra);
	v->in_fetch = nested;
	return filled;
}

static bool is_reset(const struct qemu_cpu *cpu)
{
	const struct x86_env *env = (const struct x86_env *)((const char *)cpu + offset.env);

	return env_u64(env, offset.eip) == EIP_AT_RESET &&
	       !(env_u32(env, offset.hflags) & HF_CPL_MASK);
}

static void on_reset(void)
{
	unsigned int i;

	for (i = 0; i < pmu_qemu_vcpus(); i++) {
		vcpus[i].in_fetch = false;
		vcpus[i].in_exception = false;
	}
	hooks->reset();
}

/**
 * x86_qemu_hook() - have QEMU call the PMU's functions; called after x86_qemu_find()
 * @h: the functions; must stay valid
 *
 * Return: 0, or non-zero after a refusal.
 */
int x86_qemu_hook(const struct x86_qemu_hooks *h)
{
	hooks = h;
	if (!pmu_qemu_replace(&rdmsr_info->func, hook_rdmsr, &helper_rdmsr) ||
	    !pmu_qemu_replace(&wrmsr_info->func, hook_wrmsr, &helper_wrmsr) ||
	    !pmu_qemu_replace(&rdpmc_info->func, hook_rdpmc, &helper_rdpmc) ||
	    !pmu_qemu_replace(&cpuid_info->func, hook_cpuid, &helper_cpuid) ||
	    !pmu_qemu_replace(&vmrun_info->func, hook_vmrun, &helper_vmrun) ||
	    !pmu_qemu_replace(do_interrupt_place, hook_do_interrupt, &qemu.x86_cpu_do_interrupt) ||
	    !pmu_qemu_replace(exec_interrupt_place, hook_exec_interrupt,
			      &qemu.x86_cpu_exec_interrupt) ||
	    !pmu_qemu_replace(tlb_fill_place, hook_tlb_fill, &qemu.x86_cpu_tlb_fill))
		return plugin_refuse("cannot write to this QEMU's tables of functions");
	pmu_qemu_on_reset(is_reset, on_reset);
	return 0;
}
