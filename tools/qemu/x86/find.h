/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What find.c finds in QEMU; for qemu.c.
 */
#ifndef TOOLS_QEMU_X86_FIND_H
#define TOOLS_QEMU_X86_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pmu/qemu.h"

/* The first registers in CPUX86State.regs[] */
enum { R_EAX, R_ECX, R_EDX, R_EBX };

#define HF_CPL_MASK		3u
#define HF_INHIBIT_IRQ		(1u << 3)
#define HF_GUEST_MASK		(1u << 21)	/* an SVM guest runs */
#define CR4_PCE			(1u << 8)

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
extern struct x86_qemu_functions {
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
} x86_qemu;

/* Offsets of fields in CPUX86State, and of CPUX86State in CPUState */
extern struct x86_qemu_offset {
	int32_t hflags;
	int32_t eip;
	int32_t cr4;
	int32_t env;
} x86_qemu_offset;

/* The entries of QEMU's tables that x86_qemu_hook() changes */
extern struct x86_qemu_places {
	struct helper_info *rdmsr;
	struct helper_info *wrmsr;
	struct helper_info *rdpmc;
	struct helper_info *cpuid;
	struct helper_info *vmrun;
	void **do_interrupt;
	void **exec_interrupt;
	void **tlb_fill;
} x86_qemu_places;

/* apic_msr_read() and apic_msr_write() take the APIC as an argument (11.1). */
extern bool x86_qemu_apic_msr_wants_apic;

static inline uint32_t env_u32(const struct x86_env *env, int32_t at)
{
	uint32_t value;

	memcpy(&value, (const char *)env + at, sizeof(value));
	return value;
}

static inline uint64_t env_u64(const struct x86_env *env, int32_t at)
{
	uint64_t value;

	memcpy(&value, (const char *)env + at, sizeof(value));
	return value;
}

static inline void set_env_u32(struct x86_env *env, int32_t at, uint32_t value)
{
	memcpy((char *)env + at, &value, sizeof(value));
}

static inline void set_env_u64(struct x86_env *env, int32_t at, uint64_t value)
{
	memcpy((char *)env + at, &value, sizeof(value));
}

#endif /* TOOLS_QEMU_X86_FIND_H */
