// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Auto counter reload (ACR) of an x86 core PMU.
 *
 * Intel SDM, volume 3B, "Auto Counter Reload"; CPUID leaf 0x23, subleaf 2. A counter's
 * IA32_PMC_GP_CFG_B or IA32_PMC_FX_CFG_B is a bitmap of counters. The overflow of each of them
 * reloads the counter from its IA32_PMC_GP_CFG_C or IA32_PMC_FX_CFG_C. A counter that reloads
 * itself signals no overflow, neither in the status nor by an interrupt. Source: "HW won't set
 * overflow bit in GLOBAL_STATUS", intel_pmu_enable_event() in arch/x86/events/intel/core.c of Linux
 * 7.0.
 *
 * Counts of the instruction at an overflow are added before the reload. A counter that reloads
 * itself keeps the counts beyond its overflow, so that its overflows keep their distance.
 */
#include "x86/registers/maker.h"

_Static_assert(X86_ACR_COUNTERS == X86_PMU_COUNTERS_MAX, "X86_ACR_COUNTERS");

/* Counters that can be reloaded, and reload others: as on Skymont, all but the first two. */
#define RELOADABLE_GP		UINT64_C(0x3fc)
#define RELOADABLE_FIXED	UINT64_C(0x3)

#define RELOADABLE		(RELOADABLE_GP | RELOADABLE_FIXED << X86_PMU_GLOBAL_FIXED)

bool x86_acr_present(const struct x86_pmu_config *config)
{
	return config->acr;
}

/**
 * x86_acr_has_cfg_c() - check whether the PMU has registers with reload values
 * @config: the PMU
 */
bool x86_acr_has_cfg_c(const struct x86_pmu_config *config)
{
	return config->acr || x86_pebs_architectural(config);
}

/**
 * x86_acr_config_error() - check that the PMU can have auto counter reload
 * @config: the PMU
 *
 * Return: NULL, or half a sentence about the error.
 */
const char *x86_acr_config_error(const struct x86_pmu_config *config)
{
	if (config->acr && config->version != X86_PMU_INTEL_V6)
		return "has no CPUID leaf that reports auto counter reload: use model=intel-v6";
	return NULL;
}

/**
 * x86_acr_leaf() - return CPUID leaf 0x23, subleaf 2
 * @config: the PMU
 * @reported: the counters that CPUID reports
 * @regs: set to the leaf
 */
void x86_acr_leaf(const struct x86_pmu_config *config, uint64_t reported,
		  struct x86_pmu_cpuid *regs)
{
	uint64_t counters = config->acr ? reported & RELOADABLE : 0;

	regs->eax = counters;
	regs->ebx = counters >> X86_PMU_GLOBAL_FIXED;
	regs->ecx = counters;
	regs->edx = counters >> X86_PMU_GLOBAL_FIXED;
}

/**
 * x86_acr_reset() - set the registers to their values after power-up and RESET
 * @pmu: the PMU
 */
void x86_acr_reset(struct x86_pmu *pmu)
{
	pmu->acr = (struct x86_acr) { .reloads = pmu->acr.reloads };
}

/* Return the counters that reload any counter, by their bits in the global registers. */
static uint64_t causes(const struct x86_pmu *pmu)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < X86_PMU_COUNTERS_MAX; i++)
		all |= pmu->acr.cfg_b[i];
	return all;
}

/**
 * x86_acr_is_on() - check whether any counter is to be reloaded
 * @pmu: the PMU
 */
bool x86_acr_is_on(const struct x86_pmu *pmu)
{
	return pmu->config->acr && causes(pmu);
}

/**
 * x86_acr_is_cause() - check whether the overflow of a counter reloads any counter
 * @pmu: the PMU
 * @i: the counter, its index in struct x86_pmu
 */
bool x86_acr_is_cause(const struct x86_pmu *pmu, unsigned int i)
{
	return pmu->config->acr && causes(pmu) >> x86_pmu_global_bit(i) & 1;
}

static void reload(struct x86_pmu *pmu, unsigned int i, bool itself)
{
	uint64_t value = x86_pebs_arch_reload(pmu, i);
	struct x86_pmu_counter *c = &pmu->counter[i];

	c->value = x86_pebs_begin(itself ? c->value : 0, value,
				  x86_pmu_low_bits(x86_pmu_width(pmu->config, i)));
	if (!itself)
		c->fraction = 0;
	pmu->acr.reloads++;
}

/**
 * x86_acr_overflow() - reload counters after overflows
 * @pmu: the PMU; all its counters are up to date
 * @overflowed: bitmap of the overflowed counters, by index in struct x86_pmu
 *
 * Return: bitmap of the counters that signal their overflow.
 */
uint32_t x86_acr_overflow(struct x86_pmu *pmu, uint32_t overflowed)
{
	uint64_t bits = 0;

	pmu->acr.reloaded &= ~overflowed;
	if (!overflowed || !x86_acr_is_on(pmu))
		return overflowed;
	for (unsigned int i = 0; i < X86_PMU_COUNTERS_MAX; i++)
		if (overflowed >> i & 1)
			bits |= UINT64_C(1) << x86_pmu_global_bit(i);
	for (unsigned int i = 0; i < X86_PMU_COUNTERS_MAX; i++) {
		bool itself = pmu->acr.cfg_b[i] & bits & UINT64_C(1) << x86_pmu_global_bit(i);

		if (!(pmu->acr.cfg_b[i] & bits))
			continue;
		reload(pmu, i, itself);
		if (itself)
			overflowed &= ~(UINT32_C(1) << i);
		pmu->acr.reloaded |= overflowed & UINT32_C(1) << i;
	}
	return overflowed;
}

/**
 * x86_acr_is_done() - check, for a PEBS record, whether another counter has reloaded a counter
 * @pmu: the PMU
 * @i: the counter of the record, its index in struct x86_pmu
 *
 * Clears the note of the reload.
 *
 * Return: true if another counter has reloaded the counter at its overflow.
 */
bool x86_acr_is_done(struct x86_pmu *pmu, unsigned int i)
{
	bool done = pmu->acr.reloaded >> i & 1;

	pmu->acr.reloaded &= ~(UINT32_C(1) << i);
	return done;
}

/* ---- registers ---- */

static bool write_cfg_b(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	uint64_t counters = x86_pmu_global_counters(pmu->config) & RELOADABLE;

	if (value & ~counters || (value && !(counters >> x86_pmu_global_bit(i) & 1)))
		return false;
	pmu->acr.cfg_b[i] = value;
	return true;
}

X86_MSR_READ(x86_acr_read_gp_cfg_b, acr.cfg_b[i])

bool x86_acr_write_gp_cfg_b(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	return write_cfg_b(pmu, i, value);
}

X86_MSR_READ(x86_acr_read_fx_cfg_b, acr.cfg_b[X86_PMU_GP_MAX + i])

bool x86_acr_write_fx_cfg_b(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	return write_cfg_b(pmu, X86_PMU_GP_MAX + i, value);
}
