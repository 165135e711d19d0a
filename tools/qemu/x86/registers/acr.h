/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Auto counter reload (ACR) of an x86 core PMU: the overflow of a counter sets other counters, or
 * itself, to their reload values.
 */
#ifndef TOOLS_QEMU_X86_ACR_H
#define TOOLS_QEMU_X86_ACR_H

#include <stdbool.h>
#include <stdint.h>

struct x86_pmu;
struct x86_pmu_config;
struct x86_pmu_cpuid;

/* The number of counters in struct x86_pmu */
#define X86_ACR_COUNTERS	23

/**
 * struct x86_acr - auto counter reload of one CPU
 * @cfg_b: IA32_PMC_GP_CFG_B and IA32_PMC_FX_CFG_B, by index in struct x86_pmu: a bitmap, by the
 *	bits of the global registers, of the counters that reload this one at their overflow
 * @reloaded: bitmap, by index, of the counters that another counter reloaded as they overflowed:
 *	their PEBS record does not reload them again
 * @reloads: statistics: number of reloads
 */
struct x86_acr {
	uint64_t cfg_b[X86_ACR_COUNTERS];
	uint32_t reloaded;
	uint64_t reloads;
};

/* For the model and the vendors' files */
const char *x86_acr_config_error(const struct x86_pmu_config *config);
void x86_acr_reset(struct x86_pmu *pmu);
bool x86_acr_is_on(const struct x86_pmu *pmu);
bool x86_acr_is_cause(const struct x86_pmu *pmu, unsigned int i);
uint32_t x86_acr_overflow(struct x86_pmu *pmu, uint32_t overflowed);
bool x86_acr_is_done(struct x86_pmu *pmu, unsigned int i);
void x86_acr_leaf(const struct x86_pmu_config *config, uint64_t reported,
		  struct x86_pmu_cpuid *regs);

/* Functions for rows of registers: @present, @read and @write of struct x86_pmu_msr_row */
bool x86_acr_present(const struct x86_pmu_config *config);
bool x86_acr_has_cfg_c(const struct x86_pmu_config *config);
bool x86_acr_read_gp_cfg_b(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_acr_write_gp_cfg_b(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_acr_read_fx_cfg_b(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_acr_write_fx_cfg_b(struct x86_pmu *pmu, unsigned int i, uint64_t value);

#endif /* TOOLS_QEMU_X86_ACR_H */
