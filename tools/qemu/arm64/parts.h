/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the counters (model.c), registers (registers.c) and BRBE of an arm64 PMU.
 */
#ifndef TOOLS_QEMU_ARM64_PARTS_H
#define TOOLS_QEMU_ARM64_PARTS_H

#include "arm64/registers/model.h"

#define PMCR_E		(UINT64_C(1) << 0)
#define PMCR_D		(UINT64_C(1) << 3)
#define PMCR_DP		(UINT64_C(1) << 5)
#define PMCR_LC		(UINT64_C(1) << 6)
#define PMCR_LP		(UINT64_C(1) << 7)	/* PMUv3p5 */
#define PMCR_FZO	(UINT64_C(1) << 9)	/* PMUv3p7 */

/* PMEVTYPER<n>_EL0, PMCCFILTR_EL0, PMICFILTR_EL0 */
#define TYPE_M		(UINT64_C(1) << 26)
#define TYPE_NSH	(UINT64_C(1) << 27)
#define TYPE_NSU	(UINT64_C(1) << 28)
#define TYPE_NSK	(UINT64_C(1) << 29)
#define TYPE_U		(UINT64_C(1) << 30)
#define TYPE_P		(UINT64_C(1) << 31)

#define BIT(n)		(UINT64_C(1) << (n))

static inline uint64_t arm64_pmu_low_bits(unsigned int n)
{
	return n < 64 ? BIT(n) - 1 : UINT64_MAX;
}

static inline bool arm64_pmu_has_version(const struct arm64_pmu *pmu,
					 enum arm64_pmu_version version)
{
	return pmu->config->version >= version;
}

/* model.c */
unsigned int arm64_pmu_first_of_el2(struct arm64_pmu *pmu);
unsigned int arm64_pmu_value_bits(const struct arm64_pmu *pmu, unsigned int i);
unsigned int arm64_pmu_divider(const struct arm64_pmu *pmu, unsigned int i);
bool arm64_pmu_add_steps(struct arm64_pmu *pmu, unsigned int i, uint64_t steps);
bool arm64_pmu_advance(struct arm64_pmu *pmu);
void arm64_pmu_watch(struct arm64_pmu *pmu);
void arm64_pmu_activate(struct arm64_pmu *pmu);
bool arm64_pmu_denies(const struct arm64_pmu_config *config, unsigned int event);

#endif /* TOOLS_QEMU_ARM64_PARTS_H */
