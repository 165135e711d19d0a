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

#include <asm/barrier.h>
#include <asm/sysreg.h>

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

/* PMMIR_EL1 */
#define PMMIR_SLOTS		GENMASK_ULL(7, 0)
#define PMMIR_BUS_SLOTS		GENMASK_ULL(15, 8)
#define PMMIR_BUS_WIDTH		GENMASK_ULL(19, 16)
#define PMMIR_THWIDTH		GENMASK_ULL(23, 20)

/* ID_AA64DFR0_EL1.PMUVer */
#define DFR0_PMUVER		GENMASK_ULL(11, 8)
#define PMUVER_NONE		0x0
#define PMUVER_V3P4		0x5
#define PMUVER_V3P5		0x6
#define PMUVER_IMPDEF		0xf

/* ID_AA64DFR1_EL1.PMICNTR */
#define DFR1_PMICNTR		GENMASK_ULL(39, 36)

/* ID_AA64PFR0_EL1.EL2 */
#define PFR0_EL2		GENMASK_ULL(11, 8)

/* Counter numbers in PMCNTENSET_EL0, PMINTENSET_EL1 and PMOVSSET_EL0 */
#define PMUV3_MAX_EVENT_COUNTERS	31
#define PMUV3_CYCLE_COUNTER		31
#define PMUV3_INSTR_COUNTER		32	/* FEAT_PMUv3_ICNTR */

/* Registers that a kernel's headers may not name yet */
#define PMUV3_PMMIR_EL1		sys_reg(3, 0, 9, 14, 6)
#define PMUV3_PMICNTR_EL0	sys_reg(3, 3, 9, 4, 0)
#define PMUV3_PMICFILTR_EL0	sys_reg(3, 3, 9, 6, 0)
#define PMUV3_ID_AA64DFR1_EL1	sys_reg(3, 0, 0, 5, 1)

/* PMEVCNTR<n>_EL0 and PMEVTYPER<n>_EL0: CRm holds n[4:3], op2 n[2:0] */
#define PMUV3_PMEVCNTR(n)	sys_reg(3, 3, 14, 8 | ((n) >> 3), (n) & 7)
#define PMUV3_PMEVTYPER(n)	sys_reg(3, 3, 14, 12 | ((n) >> 3), (n) & 7)

/* A register's number is part of the instruction: one case each. */
#define PMUV3_FOR_EACH_EVENT_COUNTER(X)					\
	X(0)  X(1)  X(2)  X(3)  X(4)  X(5)  X(6)  X(7)			\
	X(8)  X(9)  X(10) X(11) X(12) X(13) X(14) X(15)			\
	X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)			\
	X(24) X(25) X(26) X(27) X(28) X(29) X(30)

static inline u64 pmuv3_read_pmevcntr(int n)
{
	switch (n) {
#define X(n) case n: return read_sysreg_s(PMUV3_PMEVCNTR(n));
	PMUV3_FOR_EACH_EVENT_COUNTER(X)
#undef X
	}
	return 0;
}

static inline void pmuv3_write_pmevcntr(int n, u64 value)
{
	switch (n) {
#define X(n) case n: write_sysreg_s(value, PMUV3_PMEVCNTR(n)); break;
	PMUV3_FOR_EACH_EVENT_COUNTER(X)
#undef X
	}
}

static inline void pmuv3_write_pmevtyper(int n, u64 value)
{
	switch (n) {
#define X(n) case n: write_sysreg_s(value, PMUV3_PMEVTYPER(n)); break;
	PMUV3_FOR_EACH_EVENT_COUNTER(X)
#undef X
	}
}

static inline u64 pmuv3_read_pmcr(void)
{
	return read_sysreg(pmcr_el0);
}

static inline void pmuv3_write_pmcr(u64 value)
{
	write_sysreg(value, pmcr_el0);
}

static inline u64 pmuv3_read_pmccntr(void)
{
	return read_sysreg(pmccntr_el0);
}

static inline void pmuv3_write_pmccntr(u64 value)
{
	write_sysreg(value, pmccntr_el0);
}

static inline void pmuv3_write_pmccfiltr(u64 value)
{
	write_sysreg(value, pmccfiltr_el0);
}

static inline u64 pmuv3_read_pmicntr(void)
{
	return read_sysreg_s(PMUV3_PMICNTR_EL0);
}

static inline void pmuv3_write_pmicntr(u64 value)
{
	write_sysreg_s(value, PMUV3_PMICNTR_EL0);
}

static inline void pmuv3_write_pmicfiltr(u64 value)
{
	write_sysreg_s(value, PMUV3_PMICFILTR_EL0);
}

static inline void pmuv3_write_pmcntenset(u64 counters)
{
	write_sysreg(counters, pmcntenset_el0);
}

static inline void pmuv3_write_pmcntenclr(u64 counters)
{
	write_sysreg(counters, pmcntenclr_el0);
}

static inline void pmuv3_write_pmintenset(u64 counters)
{
	write_sysreg(counters, pmintenset_el1);
}

static inline void pmuv3_write_pmintenclr(u64 counters)
{
	write_sysreg(counters, pmintenclr_el1);
}

static inline u64 pmuv3_read_pmovsclr(void)
{
	return read_sysreg(pmovsclr_el0);
}

static inline void pmuv3_write_pmovsclr(u64 counters)
{
	write_sysreg(counters, pmovsclr_el0);
}

static inline void pmuv3_write_pmuserenr(u64 value)
{
	write_sysreg(value, pmuserenr_el0);
}

static inline u64 pmuv3_read_pmceid0(void)
{
	return read_sysreg(pmceid0_el0);
}

static inline u64 pmuv3_read_pmceid1(void)
{
	return read_sysreg(pmceid1_el0);
}

static inline u64 pmuv3_read_pmmir(void)
{
	return read_sysreg_s(PMUV3_PMMIR_EL1);
}

static inline u64 pmuv3_read_dfr0(void)
{
	return read_sysreg(id_aa64dfr0_el1);
}

static inline u64 pmuv3_read_dfr1(void)
{
	return read_sysreg_s(PMUV3_ID_AA64DFR1_EL1);
}

#endif /* _COREPMU_ARM64_SYSREG_H */
