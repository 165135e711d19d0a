/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access to QEMU for the virtual arm64 PMU, beyond pmu/qemu.h.
 */
#ifndef TOOLS_QEMU_ARM64_QEMU_H
#define TOOLS_QEMU_ARM64_QEMU_H

#include <stdbool.h>
#include <stdint.h>

#include "arm64/registers/model.h"
#include "pmu/qemu.h"

/**
 * struct arm64_qemu_exception - a taken exception
 * @number: QEMU's number of the exception
 * @pc: the return address
 * @level: the exception level that was interrupted
 * @is_a64: that level executes AArch64 code
 */
struct arm64_qemu_exception {
	int number;
	uint64_t pc;
	unsigned int level;
	bool is_a64;
};

/**
 * struct arm64_qemu_hooks - functions of the PMU that QEMU's functions call
 * @read: execute MRS, if the exception level may
 * @write: execute MSR, if the exception level may
 * @read_brbe: execute MRS of a BRBE register; @n: the record of a record's register
 * @write_brbe: execute MSR of a BRBE register, or a BRB instruction
 * @mdcr_changed: MDCR_EL2 has been written
 * @exception: an exception is about to be taken; the number is QEMU's
 * @delivered: the exception has been taken
 * @reset: the machine is reset
 *
 * All but @reset are called in the vCPU's thread, all with QEMU's lock held.
 */
struct arm64_qemu_hooks {
	uint64_t (*read)(unsigned int vcpu, enum arm64_pmu_reg reg, unsigned int n);
	void (*write)(unsigned int vcpu, enum arm64_pmu_reg reg, unsigned int n, uint64_t value);
	uint64_t (*read_brbe)(unsigned int vcpu, enum arm64_brbe_reg reg, unsigned int n);
	void (*write_brbe)(unsigned int vcpu, enum arm64_brbe_reg reg, uint64_t value);
	void (*mdcr_changed)(unsigned int vcpu);
	void (*exception)(unsigned int vcpu, int exception);
	void (*delivered)(unsigned int vcpu, const struct arm64_qemu_exception *e);
	void (*reset)(void);
};

/**
 * struct arm64_qemu_cpu - properties of a vCPU
 * @version: ID_AA64DFR0_EL1.PMUVer
 * @counters: number of event counters
 * @has_el2: the CPU has EL2
 * @has_el3: the CPU has EL3
 */
struct arm64_qemu_cpu {
	unsigned int version;
	unsigned int counters;
	bool has_el2;
	bool has_el3;
};

int arm64_qemu_find(const struct qemu_info *info);
int arm64_qemu_hook(const struct arm64_qemu_hooks *hooks);

int arm64_qemu_vcpu_describe(unsigned int vcpu, struct arm64_qemu_cpu *cpu);
int arm64_qemu_vcpu_hook(unsigned int vcpu, const struct arm64_pmu_config *config,
			 uint64_t pmceid0, uint64_t pmceid1, uint64_t pmmir);
int arm64_qemu_set_midr(unsigned int vcpu, uint64_t midr);
void arm64_qemu_use_spis(unsigned int first);

/* Called in a vCPU's thread */
unsigned int arm64_qemu_level(unsigned int vcpu);
uint64_t arm64_qemu_pc(unsigned int vcpu);
const uint64_t *arm64_qemu_pc_field(unsigned int vcpu);
bool arm64_qemu_is_a64(unsigned int vcpu);
bool arm64_qemu_insn(unsigned int vcpu, uint32_t *insn);
uint64_t arm64_qemu_mdcr_el2(unsigned int vcpu);
uint64_t arm64_qemu_hcr_el2(unsigned int vcpu);
unsigned int arm64_qemu_translating_level(void);
bool arm64_qemu_translating_a64(void);

/* Called with QEMU's lock held */
void arm64_qemu_set_line(unsigned int vcpu, bool high);

#endif /* TOOLS_QEMU_ARM64_QEMU_H */
