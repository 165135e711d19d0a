/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: arm64: registers of PMUv3
 *
 * Names and fields: Arm Architecture Reference Manual for A-profile, DDI 0487,
 * "Performance Monitors registers" in chapter D23 (AArch64 system registers).
 */
#ifndef _COREPMU_ARM64_SYSREG_H
#define _COREPMU_ARM64_SYSREG_H

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/types.h>

/* PMCR_EL0 */
#define PMCR_E			BIT(0)	/* enable */
#define PMCR_P			BIT(1)	/* event counter reset */
#define PMCR_C			BIT(2)	/* cycle counter reset */
#define PMCR_LC			BIT(6)	/* cycle counter overflows at 64 bits */
#define PMCR_LP			BIT(7)	/* event counters overflow at 64 bits */
#define PMCR_N			GENMASK(15, 11)	/* number of event counters */

/* PMEVTYPER<n>_EL0, PMCCFILTR_EL0, PMICFILTR_EL0 */
#define PMEVTYPER_EVTCOUNT	GENMASK_ULL(15, 0)
#define PMEVTYPER_NSH		BIT_ULL(27)	/* count at EL2 */
#define PMEVTYPER_U		BIT_ULL(30)	/* do not count at EL0 */
#define PMEVTYPER_P		BIT_ULL(31)	/* do not count at EL1 */
#define PMEVTYPER_TH		GENMASK_ULL(43, 32)
#define PMEVTYPER_TC		GENMASK_ULL(63, 61)

/*
 * Software bits of an event's config, never written to a register: count only the host, or only
 * guests
 */
#define PMUV3_HOST_ALONE	BIT_ULL(44)
#define PMUV3_GUESTS_ALONE	BIT_ULL(45)

/* PMUSERENR_EL0 */
#define PMUSERENR_CR		BIT(2)	/* EL0 reads the cycle counter */
#define PMUSERENR_ER		BIT(3)	/* EL0 reads the event counters */
#define PMUSERENR_UEN		BIT(4)	/* ... only those in PMUACR_EL1 */

/* PMMIR_EL1 */
#define PMMIR_SLOTS		GENMASK_ULL(7, 0)
#define PMMIR_BUS_SLOTS		GENMASK_ULL(15, 8)
#define PMMIR_BUS_WIDTH		GENMASK_ULL(19, 16)
#define PMMIR_THWIDTH		GENMASK_ULL(23, 20)

/* MIDR_EL1; numbers of parts: arch/arm64/include/asm/cputype.h */
#define MIDR_IMPLEMENTER	GENMASK(31, 24)
#define MIDR_IMPLEMENTER_NVIDIA	0x4e
#define MIDR_PART		GENMASK(15, 4)
#define MIDR_PART_OLYMPUS	0x010

/* MPIDR_EL1.Aff3 and Aff2 to Aff0 */
#define MPIDR_AFFINITY		(GENMASK_ULL(39, 32) | GENMASK_ULL(23, 0))

/* ID_AA64DFR0_EL1.PMUVer */
#define DFR0_PMUVER		GENMASK_ULL(11, 8)
#define PMUVER_NONE		0x0
#define PMUVER_V3P4		0x5
#define PMUVER_V3P5		0x6
#define PMUVER_V3P9		0x9
#define PMUVER_IMPDEF		0xf

/* ID_AA64DFR1_EL1.PMICNTR */
#define DFR1_PMICNTR		GENMASK_ULL(39, 36)

/* ID_AA64PFR0_EL1.EL2, EL3 */
#define PFR0_EL2		GENMASK_ULL(11, 8)
#define PFR0_EL3		GENMASK_ULL(15, 12)

/* Counter numbers in PMCNTENSET_EL0, PMINTENSET_EL1 and PMOVSSET_EL0 */
#define PMUV3_MAX_EVENT_COUNTERS	31
#define PMUV3_CYCLE_COUNTER		31
#define PMUV3_INSTR_COUNTER		32	/* FEAT_PMUv3_ICNTR */
#define PMUV3_ODD_COUNTERS		0xaaaaaaaaULL	/* counters that can count CHAIN */

/* Registers that the headers of some kernels lack */
#define PMUV3_PMMIR_EL1		sys_reg(3, 0, 9, 14, 6)
#define PMUV3_PMUACR_EL1	sys_reg(3, 0, 9, 14, 4)
#define PMUV3_PMICNTR_EL0	sys_reg(3, 3, 9, 4, 0)
#define PMUV3_PMICFILTR_EL0	sys_reg(3, 3, 9, 6, 0)
#define PMUV3_ID_AA64DFR1_EL1	sys_reg(3, 0, 0, 5, 1)

/* PMEVCNTR<n>_EL0 and PMEVTYPER<n>_EL0: CRm[1:0] and op2, adjacent, hold n */
#define PMUV3_PMEV_N_SHIFT	5
#define PMUV3_PMEVCNTR(n)	(sys_reg(3, 3, 14, 8, 0) | ((n) << PMUV3_PMEV_N_SHIFT))
#define PMUV3_PMEVTYPER(n)	(sys_reg(3, 3, 14, 12, 0) | ((n) << PMUV3_PMEV_N_SHIFT))

#include "access.h"

#endif /* _COREPMU_ARM64_SYSREG_H */
