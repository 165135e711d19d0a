/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Auto counter reload of an x86 core PMU: the overflow of a counter has others, or itself, go on
 * from a value that they have for that.
 */
#ifndef TOOLS_QEMU_X86_ACR_H
#define TOOLS_QEMU_X86_ACR_H

#include <stdbool.h>
#include <stdint.h>

struct x86_pmu;
struct x86_pmu_config;
struct x86_pmu_cpuid;

/* As many as there are counters in struct x86_pmu */
#define X86_ACR_COUNTERS	23

/**
 * struct x86_acr - the reloads of one CPU
 * @cfg_b: IA32_PMC_GP_CFG_B and IA32_PMC_FX_CFG_B, by index in struct x86_pmu: the counters, by
 *	their bits in the global registers, whose overflow reloads this one
 * @anew: counters that another has reloaded as they overflowed, a bit for each index: their record
 *	does not reload them once more
 * @reloads: how often counters were
 */
struct x86_acr {
	uint64_t cfg_b[X86_ACR_COUNTERS];
	uint32_t anew;
	uint64_t reloads;
};

/* For the model and its makers */
const char *x86_acr_config_error(const struct x86_pmu_config *config);
void x86_acr_reset(struct x86_pmu *pmu);
bool x86_acr_is_on(const struct x86_pmu *pmu);
bool x86_acr_is_cause(const struct x86_pmu *pmu, unsigned int i);
uint32_t x86_acr_overflow(struct x86_pmu *pmu, uint32_t overflowed);
bool x86_acr_is_done(struct x86_pmu *pmu, unsigned int i);
void x86_acr_leaf(const struct x86_pmu_config *config, uint64_t told,
		  struct x86_pmu_cpuid *regs);

/* For rows of registers: @present, @read and @write of struct x86_pmu_msr_row */
bool x86_acr_present(const struct x86_pmu_config *config);
bool x86_acr_has_cfg_c(const struct x86_pmu_config *config);
bool x86_acr_read_gp_cfg_b(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_acr_write_gp_cfg_b(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_acr_read_fx_cfg_b(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_acr_write_fx_cfg_b(struct x86_pmu *pmu, unsigned int i, uint64_t value);

#endif /* TOOLS_QEMU_X86_ACR_H */
