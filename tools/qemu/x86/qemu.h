/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access to QEMU for the virtual x86 PMU, beyond pmu/qemu.h.
 */
#ifndef TOOLS_QEMU_X86_QEMU_H
#define TOOLS_QEMU_X86_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmu/qemu.h"
#include "x86/registers/model.h"

/* The vector of an exception that ends the run of an SVM guest (EXCP_VMEXIT of QEMU) */
#define X86_QEMU_VMEXIT		0x100

/**
 * struct x86_qemu_hooks - functions of the PMU that QEMU's functions call
 * @rdmsr: execute RDMSR in ring 0
 * @wrmsr: execute WRMSR in ring 0
 * @rdpmc: execute RDPMC if CR4.PCE and the ring permit it
 * @cpuid: change the result of CPUID
 * @delivered: an exception or interrupt has been taken; @from: the interrupted instruction, @to:
 *	the handler
 * @exception: an exception is about to be taken; @pc: the address of the instruction
 * @interrupt: an interrupt of any type is about to be taken
 * @interrupted: an interrupt of a device has been taken in this ring
 * @reset: the machine is reset
 * @read: return bits to set in the lower 32 bits of a register that QEMU has read for RDMSR
 *
 * All but @reset are called in the vCPU's thread.
 */
struct x86_qemu_hooks {
	enum x86_pmu_access (*rdmsr)(unsigned int vcpu, uint32_t msr, uint64_t *value);
	enum x86_pmu_access (*wrmsr)(unsigned int vcpu, uint32_t msr, uint64_t value);
	enum x86_pmu_access (*rdpmc)(unsigned int vcpu, enum x86_pmu_ring ring, uint32_t selector,
				     uint64_t *value);
	void (*cpuid)(unsigned int vcpu, uint32_t leaf, uint32_t subleaf,
		      struct x86_pmu_cpuid *regs);
	void (*delivered)(unsigned int vcpu, uint64_t from, uint64_t to);
	void (*exception)(unsigned int vcpu, int vector, uint64_t pc, bool in_fetch, bool nested);
	void (*interrupt)(unsigned int vcpu, uint64_t pc);
	void (*interrupted)(unsigned int vcpu, enum x86_pmu_ring ring);
	void (*reset)(void);
	uint32_t (*read)(unsigned int vcpu, uint32_t msr);
};

int x86_qemu_find(const struct qemu_info *info);
int x86_qemu_hook(const struct x86_qemu_hooks *hooks);
void x86_qemu_vcpu_init(unsigned int vcpu);
bool x86_qemu_vcpu_is_amd(unsigned int vcpu);
uint32_t x86_qemu_vcpu_signature(unsigned int vcpu);

/* Called in a vCPU's thread */
uint64_t x86_qemu_pc(unsigned int vcpu);
const uint64_t *x86_qemu_pc_field(unsigned int vcpu);
void *x86_qemu_env(unsigned int vcpu);
unsigned int x86_qemu_ring(unsigned int vcpu);
enum x86_pmu_ring x86_qemu_translating_ring(void);

/* Called in work of the vCPU */
uint32_t x86_qemu_lvtpc(unsigned int vcpu);
void x86_qemu_set_lvtpc(unsigned int vcpu, uint32_t lvtpc);
void x86_qemu_nmi(unsigned int vcpu);
void x86_qemu_fixed_interrupt(unsigned int vcpu, uint8_t vector);

#endif /* TOOLS_QEMU_X86_QEMU_H */
