// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Access to QEMU for the virtual x86 PMU: vCPUs, the local APIC, and replacements of functions.
 *
 * pmu/qemu.c has the part that is common to all architectures. RDMSR, WRMSR, RDPMC and CPUID are
 * "helpers": generated code calls them through a pointer that the translator takes from a record,
 * helper_info_*. Exceptions and interrupts go through a table of functions, x86_tcg_ops. The plugin
 * replaces functions in both. (QEMU's functions and types below have the names of QEMU's sources.)
 */
#include "common/plugin.h"
#include "x86/find.h"
#include "x86/qemu.h"

/* The first CPUID leaf after the basic leaves */
#define LEAF_HYPERVISOR		0x40000000

#define CPU_INTERRUPT_HARD	0x0002
#define CPU_INTERRUPT_POLL	0x0010
#define CPU_INTERRUPT_NMI	0x0200

#define EXCP_GP			13
#define MMU_INST_FETCH		2

/* Exit codes of SVM's intercepts: AMD APM, volume 2, "SVM Intercept Exit Codes" */
#define SVM_EXIT_RDPMC		0x06f
#define SVM_EXIT_MSR		0x07c

#define EIP_AT_RESET		0xfff0

#define APIC_BASE		0xfee00000
#define APIC_ICR		0x30
#define APIC_LVTPC		0x34
#define APIC_ICR_SELF		(1u << 18)
#define APIC_ICR_ASSERT		(1u << 14)

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

/* ---- vCPUs ---- */

/**
 * x86_qemu_vcpu_init() - note a new vCPU, which QEMU may not have completed yet
 * @vcpu: index of the vCPU
 */
void x86_qemu_vcpu_init(unsigned int vcpu)
{
	char *cpu = (char *)pmu_qemu_vcpu_init(vcpu);

	vcpus[vcpu].env = (struct x86_env *)(cpu + x86_qemu_offset.env);
}

/**
 * x86_qemu_vcpu_is_amd() - check whether CPUID reports AMD or Hygon as a vCPU's vendor
 * @vcpu: index of the vCPU
 */
bool x86_qemu_vcpu_is_amd(unsigned int vcpu)
{
	uint32_t eax, ebx, ecx, edx;

	x86_qemu.cpu_x86_cpuid(vcpus[vcpu].env, 0, 0, &eax, &ebx, &ecx, &edx);
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

	x86_qemu.cpu_x86_cpuid(vcpus[vcpu].env, 1, 0, &eax, &ebx, &ecx, &edx);
	return eax;
}

static unsigned int vcpu_of_env(const struct x86_env *env)
{
	return pmu_qemu_vcpu_of((const struct qemu_cpu *)((const char *)env - x86_qemu_offset.env));
}

static bool is_guest(const struct x86_env *env)
{
	return env_u32(env, x86_qemu_offset.hflags) & HF_GUEST_MASK;
}

static enum x86_pmu_ring ring_of(const struct x86_env *env)
{
	uint32_t hflags = env_u32(env, x86_qemu_offset.hflags);

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
	return (const uint64_t *)((const char *)vcpus[vcpu].env + x86_qemu_offset.eip);
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
	return ring_of((struct x86_env *)((char *)pmu_qemu_current_cpu() + x86_qemu_offset.env));
}

/* ---- the local APIC ---- */

/* Read a register of the local APIC; fails unless the APIC is in x2APIC mode. */
static bool apic_msr_read(unsigned int reg, uint64_t *value)
{
	if (x86_qemu_apic_msr_wants_apic)
		return !((int (*)(void *, int, uint64_t *))x86_qemu.apic_msr_read)
			(x86_qemu.cpu_get_current_apic(), reg, value);
	return !((int (*)(int, uint64_t *))x86_qemu.apic_msr_read)(reg, value);
}

static bool apic_msr_write(unsigned int reg, uint64_t value)
{
	if (x86_qemu_apic_msr_wants_apic)
		return !((int (*)(void *, int, uint64_t))x86_qemu.apic_msr_write)
			(x86_qemu.cpu_get_current_apic(), reg, value);
	return !((int (*)(int, uint64_t))x86_qemu.apic_msr_write)(reg, value);
}

static uint32_t apic_read(unsigned int reg)
{
	uint64_t value = 0;

	if (!apic_msr_read(reg, &value))
		x86_qemu.address_space_rw(x86_qemu.address_space_memory, APIC_BASE + reg * 16, 0,
				      &value, sizeof(uint32_t), false);
	return value;
}

static void apic_write(unsigned int reg, uint32_t value)
{
	if (!apic_msr_write(reg, value))
		x86_qemu.address_space_rw(x86_qemu.address_space_memory, APIC_BASE + reg * 16, 0,
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
	x86_qemu.cpu_interrupt(pmu_qemu_cpu(vcpu), CPU_INTERRUPT_NMI);
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
		x86_qemu.cpu_svm_check_intercept_param(env, code, write, ra);
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
		x86_qemu.raise_exception_err_ra(env, EXCP_GP, 0, RETADDR());
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
		x86_qemu.raise_exception_err_ra(env, EXCP_GP, 0, RETADDR());
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

	if (!x86_pmu_is_kernel(ring_of(env)) && !(env_u32(env, x86_qemu_offset.cr4) & CR4_PCE))
		helper_rdpmc(env);
	check_intercept(env, SVM_EXIT_RDPMC, false, RETADDR());
	if (hooks->rdpmc(vcpu, ring_of(env), env->regs[R_ECX], &value) != X86_PMU_DONE)
		x86_qemu.raise_exception_err_ra(env, EXCP_GP, 0, RETADDR());

	set_edx_eax(env, value);
	set_env_u64(env, x86_qemu_offset.eip, env_u64(env, x86_qemu_offset.eip) + 2);
	set_env_u32(env, x86_qemu_offset.hflags,
		    env_u32(env, x86_qemu_offset.hflags) & ~HF_INHIBIT_IRQ);
	x86_qemu.cpu_loop_exit(pmu_qemu_cpu(vcpu));
}

/* Check whether QEMU lacks a leaf: it returns its last leaf instead. */
static bool is_beyond_last(struct x86_env *env, uint32_t leaf)
{
	uint32_t last, unused;

	if (leaf >= LEAF_HYPERVISOR)
		return false;
	x86_qemu.cpu_x86_cpuid(env, 0, 0, &last, &unused, &unused, &unused);
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
	uint64_t pc = env_u64(v->env, x86_qemu_offset.eip);

	hooks->exception(vcpu, pmu_qemu_exception(cpu), pc, v->in_fetch, v->in_exception);
	v->in_fetch = false;
	v->in_exception = true;
	x86_qemu.x86_cpu_do_interrupt(cpu);
	v->in_exception = false;
	hooks->delivered(vcpu, pc, env_u64(v->env, x86_qemu_offset.eip));
}

/*
 * Handle a poll of the local APIC, which interrupts nothing. QEMU handles one request, and then
 * executes blocks. Chained blocks do not check for a second request: request a pending NMI again.
 */
static bool exec_poll(struct qemu_cpu *cpu, int request)
{
	bool taken = x86_qemu.x86_cpu_exec_interrupt(cpu, request);

	if (request & CPU_INTERRUPT_NMI)
		x86_qemu.cpu_interrupt(cpu, CPU_INTERRUPT_NMI);
	return taken;
}

static bool hook_exec_interrupt(struct qemu_cpu *cpu, int request)
{
	int pending = x86_qemu.x86_cpu_pending_interrupt(cpu, request);
	unsigned int vcpu = pmu_qemu_vcpu_of(cpu);
	struct vcpu *v = &vcpus[vcpu];
	enum x86_pmu_ring ring = ring_of(v->env);
	uint64_t pc = env_u64(v->env, x86_qemu_offset.eip);
	bool taken;

	if (!pending)
		return x86_qemu.x86_cpu_exec_interrupt(cpu, request);
	if (pending == CPU_INTERRUPT_POLL)
		return exec_poll(cpu, request);

	hooks->interrupt(vcpu, pc);
	v->in_exception = true;
	taken = x86_qemu.x86_cpu_exec_interrupt(cpu, request);
	v->in_exception = false;
	if ((pending == CPU_INTERRUPT_HARD || pending == CPU_INTERRUPT_NMI) && taken)
		hooks->delivered(vcpu, pc, env_u64(v->env, x86_qemu_offset.eip));
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
		return x86_qemu.x86_cpu_tlb_fill(cpu, addr, size, access, mmu_idx, probe, ra);

	v = &vcpus[pmu_qemu_vcpu_of(cpu)];
	nested = v->in_fetch;
	v->in_fetch = true;
	filled = x86_qemu.x86_cpu_tlb_fill(cpu, addr, size, access, mmu_idx, probe, ra);
	v->in_fetch = nested;
	return filled;
}

static bool is_reset(const struct qemu_cpu *cpu)
{
	const struct x86_env *env = (const void *)((const char *)cpu + x86_qemu_offset.env);

	return env_u64(env, x86_qemu_offset.eip) == EIP_AT_RESET &&
	       !(env_u32(env, x86_qemu_offset.hflags) & HF_CPL_MASK);
}

static void on_reset(void)
{
	for (unsigned int i = 0; i < pmu_qemu_vcpus(); i++) {
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
	if (!pmu_qemu_replace(&x86_qemu_places.rdmsr->func, hook_rdmsr, &helper_rdmsr) ||
	    !pmu_qemu_replace(&x86_qemu_places.wrmsr->func, hook_wrmsr, &helper_wrmsr) ||
	    !pmu_qemu_replace(&x86_qemu_places.rdpmc->func, hook_rdpmc, &helper_rdpmc) ||
	    !pmu_qemu_replace(&x86_qemu_places.cpuid->func, hook_cpuid, &helper_cpuid) ||
	    !pmu_qemu_replace(&x86_qemu_places.vmrun->func, hook_vmrun, &helper_vmrun) ||
	    !pmu_qemu_replace(x86_qemu_places.do_interrupt, hook_do_interrupt,
			      &x86_qemu.x86_cpu_do_interrupt) ||
	    !pmu_qemu_replace(x86_qemu_places.exec_interrupt, hook_exec_interrupt,
			      &x86_qemu.x86_cpu_exec_interrupt) ||
	    !pmu_qemu_replace(x86_qemu_places.tlb_fill, hook_tlb_fill, &x86_qemu.x86_cpu_tlb_fill))
		return plugin_refuse("cannot write to this QEMU's tables of functions: use QEMU 10.0 to 11.1");
	pmu_qemu_on_reset(is_reset, on_reset);
	return 0;
}
