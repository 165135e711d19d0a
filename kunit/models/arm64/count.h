/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: model of the PMUv3 of an Arm CPU: counters that exist, for count.c and registers.c
 */
#ifndef _COREPMU_KUNIT_ARM64_COUNT_H
#define _COREPMU_KUNIT_ARM64_COUNT_H

#include <linux/bits.h>
#include <linux/types.h>

#include "registers.h"

/* PMCR_EL0 */
#define CR_E		BIT(0)
#define CR_P		BIT(1)
#define CR_C		BIT(2)
#define CR_LC		BIT(6)
#define CR_LP		BIT(7)
#define CR_N		GENMASK(15, 11)

/* PMEVTYPER<n>_EL0 */
#define TYPE_EVENT	GENMASK_ULL(15, 0)
#define TYPE_NSH	BIT_ULL(27)
#define TYPE_U		BIT_ULL(30)
#define TYPE_P		BIT_ULL(31)

#define PMUVER_3P5	6
#define PMUVER_3P9	9
#define CYCLE		31
#define INSTR		32
#define EVENT_INST	0x08
#define EVENT_CYCLES	0x11
#define EVENT_CHAIN	0x1e

static inline bool pmuv3_model_is_wide(void)
{
	return pmuv3_model_cpu->pmuver >= PMUVER_3P5;
}

/* Return the counters that exist; bits of other counters are RAZ/WI in all registers. */
static inline u64 pmuv3_model_counters(void)
{
	u64 all = BIT_ULL(CYCLE);

	if (pmuv3_model_cpu->nr)
		all |= GENMASK_ULL(pmuv3_model_cpu->nr - 1, 0);
	if (pmuv3_model_cpu->instr_counter)
		all |= BIT_ULL(INSTR);

	return all;
}

/* PMSELR_EL0.SEL and the direct registers: accesses beyond PMCR_EL0.N are UNDEFINED or worse. */
static inline bool pmuv3_model_is_event_counter(unsigned int n)
{
	return n < pmuv3_model_cpu->nr;
}

/* D23.5.x, PMEVCNTR<n>_EL0: 32 bits, with FEAT_PMUv3p5 64 bits. */
static inline u64 pmuv3_model_counter_mask(unsigned int n)
{
	return n >= CYCLE || pmuv3_model_is_wide() ? U64_MAX : GENMASK_ULL(31, 0);
}

void pmuv3_model_count_itself(struct pmuv3_model *m);

#endif /* _COREPMU_KUNIT_ARM64_COUNT_H */
