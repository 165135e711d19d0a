// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The counters group of PEBS records: values of counters at the instruction.
 *
 * Intel SDM, volume 3B, "Adaptive PEBS", counters group (format 6): MSR_PEBS_DATA_CFG selects the
 * counters. Intel's Instruction Set Extensions Programming Reference, "Architectural PEBS": each
 * counter's IA32_PMC_GP_CFG_C or IA32_PMC_FX_CFG_C allows its value in records, and the overflowing
 * counter's selects the kinds of counters. The group begins with two words: bitmaps of the
 * counters, 32 bits each, and whether the slots counter and the topdown metrics follow the
 * counters.
 *
 * The value of an overflowed counter is the one before its reload. Counts beyond the overflow
 * belong to the next period, see reload() in pebs.c. So this value is 0.
 */
#include "x86/registers/maker.h"
#include "x86/pebs/record.h"

#define HEADER_METRICS		UINT64_C(3)
#define SLOTS			3
#define RDPMC_METRICS		UINT32_C(0x20000000)

/**
 * x86_pebs_has_counters() - check whether records can have the values of counters
 * @config: the PMU
 */
bool x86_pebs_has_counters(const struct x86_pmu_config *config)
{
	return config->pebs.format >= 6;
}

/**
 * x86_pebs_counters_cfg() - return the bits of MSR_PEBS_DATA_CFG for the counters group
 * @config: the PMU
 */
uint64_t x86_pebs_counters_cfg(const struct x86_pmu_config *config)
{
	if (!x86_pebs_has_counters(config))
		return 0;
	return PEBS_CFG_COUNTERS | (config->perf_metrics ? PEBS_CFG_METRICS : 0) |
	       x86_pmu_low_bits(config->gp) << PEBS_CFG_GP_SHIFT |
	       (uint64_t)config->fixed << PEBS_CFG_FIXED_SHIFT;
}

/**
 * x86_pebs_counters_groups() - return the bits of architectural records for the counters group
 * @config: the PMU
 */
uint64_t x86_pebs_counters_groups(const struct x86_pmu_config *config)
{
	return ARCH_PEBS_GP_COUNTERS | ARCH_PEBS_FIXED_COUNTERS |
	       (config->perf_metrics ? ARCH_PEBS_METRICS : 0);
}

/**
 * x86_pebs_counters_adaptive() - select the counters of a record in the DS area
 * @pmu: the PMU
 * @groups: MSR_PEBS_DATA_CFG, or 0
 * @s: the record; the function sets @s->recorded and @s->metrics
 */
void x86_pebs_counters_adaptive(const struct x86_pmu *pmu, uint64_t groups, struct pebs_sample *s)
{
	if (!x86_pebs_has_counters(pmu->config))
		return;
	s->metrics = groups & PEBS_CFG_METRICS;
	if (groups & PEBS_CFG_COUNTERS)
		s->recorded = (groups & PEBS_CFG_GP) >> PEBS_CFG_GP_SHIFT |
			      (groups & PEBS_CFG_FIXED) >> PEBS_CFG_FIXED_SHIFT <<
			      X86_PMU_GLOBAL_FIXED;
}

/**
 * x86_pebs_counters_arch() - select the counters of an architectural record
 * @pmu: the PMU
 * @groups: groups of the record
 * @s: the record; the function sets @s->recorded and @s->metrics
 */
void x86_pebs_counters_arch(const struct x86_pmu *pmu, uint64_t groups, struct pebs_sample *s)
{
	s->metrics = groups & ARCH_PEBS_METRICS;
	for (unsigned int i = 0; i < X86_PMU_COUNTERS_MAX; i++) {
		uint64_t kind = i < X86_PMU_GP_MAX ? ARCH_PEBS_GP_COUNTERS :
						     ARCH_PEBS_FIXED_COUNTERS;

		if (groups & kind && pmu->pebs.cfg_c[i] & ARCH_PEBS_ALLOW)
			s->recorded |= UINT64_C(1) << x86_pmu_global_bit(i);
	}
}

/**
 * x86_pebs_put_counters() - write the counters group
 * @pmu: the PMU; all its counters are up to date
 * @s: the record
 * @w: set to the group
 *
 * Return: end of the group.
 */
uint64_t *x86_pebs_put_counters(struct x86_pmu *pmu, const struct pebs_sample *s, uint64_t *w)
{
	*w++ = s->recorded;
	*w++ = s->metrics ? HEADER_METRICS : 0;
	for (unsigned int i = 0; i < X86_PMU_COUNTERS_MAX; i++) {
		if (!(s->recorded >> x86_pmu_global_bit(i) & 1))
			continue;
		*w++ = pmu->pebs.due >> i & 1 ? 0 : x86_pmu_counter_value(pmu, i);
	}
	if (s->metrics) {
		*w++ = x86_pmu_counter_value(pmu, X86_PMU_GP_MAX + SLOTS);
		x86_pmu_maker(pmu->config)->metrics(pmu, RDPMC_METRICS, w++);
	}
	return w;
}
