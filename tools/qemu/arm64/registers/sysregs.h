/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Add the system registers of the virtual arm64 PMU to QEMU.
 */
#ifndef TOOLS_QEMU_ARM64_SYSREGS_H
#define TOOLS_QEMU_ARM64_SYSREGS_H

#include "arm64/internals.h"
#include "arm64/qemu.h"

/**
 * struct arm64_vcpu - one CPU
 * @env: the CPUARMState
 * @pmselr: PMSELR_EL0
 * @mdcr_el2: MDCR_EL2, if the CPU has EL2
 * @hcr_el2: HCR_EL2, if the CPU has EL2 and branch records
 * @midr: MIDR_EL1, once arm64_qemu_set_midr() has set it
 * @line: the interrupt line, from its first use on
 */
struct arm64_vcpu {
	struct arm64_env *env;
	const struct arm64_sysreg *pmselr;
	const struct arm64_sysreg *mdcr_el2;
	const struct arm64_sysreg *hcr_el2;
	uint64_t midr;
	void *line;
};

extern struct arm64_vcpu arm64_vcpus[PMU_VCPUS_MAX];
extern const struct arm64_qemu_hooks *arm64_hooks;

unsigned int arm64_vcpu_of_env(const struct arm64_env *env);
int arm64_add_reg(unsigned int vcpu, const struct arm64_sysreg *reg);
int arm64_add_brbe(unsigned int vcpu, const struct arm64_pmu_config *config);

#endif /* TOOLS_QEMU_ARM64_SYSREGS_H */
