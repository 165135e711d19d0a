/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: arm64: registers of PMUv3, and access to them
 *
 * Names and fields: Arm Architecture Reference Manual for A-profile, DDI 0487,
 * "Performance Monitors registers" in chapter D23 (AArch64 system registers).
 */
#ifndef _COREPMU_ARM64_SYSREG_H
#define _COREPMU_ARM64_SYSREG_H

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/kconfig.h>
#include <linux/types.h>

/*
 * All hardware accesses of the arm64 backend go through this header. kunit/ compiles the backend a
 * second time, with registers in software.
 */
#ifdef COREPMU_KUNIT
#include <models/arm64/access.h>
#else
#include <linux/arch_topology.h>
#include <trace/events/power.h>
#include <asm/barrier.h>
#include <asm/cpufeature.h>
#include <asm/sysreg.h>
#include <asm/virt.h>

/* Number of a CPU among the threads of its core, -1 if cores have one thread */
#define topology_thread_id(cpu)	(cpu_topology[cpu].thread_id)

#define kernel_has_kvm()		IS_ENABLED(CONFIG_KVM)
#define kernel_find_symbol(name)	corepmu_find_symbol(name)
#endif

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

/* Software bits of an event's config: it counts only the host, or only guests; in no register */
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

/* Registers that the kernel's headers may not define yet */
#define PMUV3_PMMIR_EL1		sys_reg(3, 0, 9, 14, 6)
#define PMUV3_PMUACR_EL1	sys_reg(3, 0, 9, 14, 4)
#define PMUV3_PMICNTR_EL0	sys_reg(3, 3, 9, 4, 0)
#define PMUV3_PMICFILTR_EL0	sys_reg(3, 3, 9, 6, 0)
#define PMUV3_ID_AA64DFR1_EL1	sys_reg(3, 0, 0, 5, 1)

/* PMEVCNTR<n>_EL0 and PMEVTYPER<n>_EL0: CRm[1:0] and op2, adjacent, hold n */
#define PMUV3_PMEV_N_SHIFT	5
#define PMUV3_PMEVCNTR(n)	(sys_reg(3, 3, 14, 8, 0) | ((n) << PMUV3_PMEV_N_SHIFT))
#define PMUV3_PMEVTYPER(n)	(sys_reg(3, 3, 14, 12, 0) | ((n) << PMUV3_PMEV_N_SHIFT))

/* The instruction encodes the register's number: one case for each register. */
static __always_inline u64 pmuv3_read_pmevcntr(int n)
{
	switch (n) {
	case 0:
		return read_sysreg_s(PMUV3_PMEVCNTR(0));
	case 1:
		return read_sysreg_s(PMUV3_PMEVCNTR(1));
	case 2:
		return read_sysreg_s(PMUV3_PMEVCNTR(2));
	case 3:
		return read_sysreg_s(PMUV3_PMEVCNTR(3));
	case 4:
		return read_sysreg_s(PMUV3_PMEVCNTR(4));
	case 5:
		return read_sysreg_s(PMUV3_PMEVCNTR(5));
	case 6:
		return read_sysreg_s(PMUV3_PMEVCNTR(6));
	case 7:
		return read_sysreg_s(PMUV3_PMEVCNTR(7));
	case 8:
		return read_sysreg_s(PMUV3_PMEVCNTR(8));
	case 9:
		return read_sysreg_s(PMUV3_PMEVCNTR(9));
	case 10:
		return read_sysreg_s(PMUV3_PMEVCNTR(10));
	case 11:
		return read_sysreg_s(PMUV3_PMEVCNTR(11));
	case 12:
		return read_sysreg_s(PMUV3_PMEVCNTR(12));
	case 13:
		return read_sysreg_s(PMUV3_PMEVCNTR(13));
	case 14:
		return read_sysreg_s(PMUV3_PMEVCNTR(14));
	case 15:
		return read_sysreg_s(PMUV3_PMEVCNTR(15));
	case 16:
		return read_sysreg_s(PMUV3_PMEVCNTR(16));
	case 17:
		return read_sysreg_s(PMUV3_PMEVCNTR(17));
	case 18:
		return read_sysreg_s(PMUV3_PMEVCNTR(18));
	case 19:
		return read_sysreg_s(PMUV3_PMEVCNTR(19));
	case 20:
		return read_sysreg_s(PMUV3_PMEVCNTR(20));
	case 21:
		return read_sysreg_s(PMUV3_PMEVCNTR(21));
	case 22:
		return read_sysreg_s(PMUV3_PMEVCNTR(22));
	case 23:
		return read_sysreg_s(PMUV3_PMEVCNTR(23));
	case 24:
		return read_sysreg_s(PMUV3_PMEVCNTR(24));
	case 25:
		return read_sysreg_s(PMUV3_PMEVCNTR(25));
	case 26:
		return read_sysreg_s(PMUV3_PMEVCNTR(26));
	case 27:
		return read_sysreg_s(PMUV3_PMEVCNTR(27));
	case 28:
		return read_sysreg_s(PMUV3_PMEVCNTR(28));
	case 29:
		return read_sysreg_s(PMUV3_PMEVCNTR(29));
	case 30:
		return read_sysreg_s(PMUV3_PMEVCNTR(30));
	}
	return 0;
}

static __always_inline void pmuv3_write_pmevcntr(int n, u64 value)
{
	switch (n) {
	case 0:
		write_sysreg_s(value, PMUV3_PMEVCNTR(0));
		break;
	case 1:
		write_sysreg_s(value, PMUV3_PMEVCNTR(1));
		break;
	case 2:
		write_sysreg_s(value, PMUV3_PMEVCNTR(2));
		break;
	case 3:
		write_sysreg_s(value, PMUV3_PMEVCNTR(3));
		break;
	case 4:
		write_sysreg_s(value, PMUV3_PMEVCNTR(4));
		break;
	case 5:
		write_sysreg_s(value, PMUV3_PMEVCNTR(5));
		break;
	case 6:
		write_sysreg_s(value, PMUV3_PMEVCNTR(6));
		break;
	case 7:
		write_sysreg_s(value, PMUV3_PMEVCNTR(7));
		break;
	case 8:
		write_sysreg_s(value, PMUV3_PMEVCNTR(8));
		break;
	case 9:
		write_sysreg_s(value, PMUV3_PMEVCNTR(9));
		break;
	case 10:
		write_sysreg_s(value, PMUV3_PMEVCNTR(10));
		break;
	case 11:
		write_sysreg_s(value, PMUV3_PMEVCNTR(11));
		break;
	case 12:
		write_sysreg_s(value, PMUV3_PMEVCNTR(12));
		break;
	case 13:
		write_sysreg_s(value, PMUV3_PMEVCNTR(13));
		break;
	case 14:
		write_sysreg_s(value, PMUV3_PMEVCNTR(14));
		break;
	case 15:
		write_sysreg_s(value, PMUV3_PMEVCNTR(15));
		break;
	case 16:
		write_sysreg_s(value, PMUV3_PMEVCNTR(16));
		break;
	case 17:
		write_sysreg_s(value, PMUV3_PMEVCNTR(17));
		break;
	case 18:
		write_sysreg_s(value, PMUV3_PMEVCNTR(18));
		break;
	case 19:
		write_sysreg_s(value, PMUV3_PMEVCNTR(19));
		break;
	case 20:
		write_sysreg_s(value, PMUV3_PMEVCNTR(20));
		break;
	case 21:
		write_sysreg_s(value, PMUV3_PMEVCNTR(21));
		break;
	case 22:
		write_sysreg_s(value, PMUV3_PMEVCNTR(22));
		break;
	case 23:
		write_sysreg_s(value, PMUV3_PMEVCNTR(23));
		break;
	case 24:
		write_sysreg_s(value, PMUV3_PMEVCNTR(24));
		break;
	case 25:
		write_sysreg_s(value, PMUV3_PMEVCNTR(25));
		break;
	case 26:
		write_sysreg_s(value, PMUV3_PMEVCNTR(26));
		break;
	case 27:
		write_sysreg_s(value, PMUV3_PMEVCNTR(27));
		break;
	case 28:
		write_sysreg_s(value, PMUV3_PMEVCNTR(28));
		break;
	case 29:
		write_sysreg_s(value, PMUV3_PMEVCNTR(29));
		break;
	case 30:
		write_sysreg_s(value, PMUV3_PMEVCNTR(30));
		break;
	}
}

static inline void pmuv3_write_pmevtyper(int n, u64 value)
{
	switch (n) {
	case 0:
		write_sysreg_s(value, PMUV3_PMEVTYPER(0));
		break;
	case 1:
		write_sysreg_s(value, PMUV3_PMEVTYPER(1));
		break;
	case 2:
		write_sysreg_s(value, PMUV3_PMEVTYPER(2));
		break;
	case 3:
		write_sysreg_s(value, PMUV3_PMEVTYPER(3));
		break;
	case 4:
		write_sysreg_s(value, PMUV3_PMEVTYPER(4));
		break;
	case 5:
		write_sysreg_s(value, PMUV3_PMEVTYPER(5));
		break;
	case 6:
		write_sysreg_s(value, PMUV3_PMEVTYPER(6));
		break;
	case 7:
		write_sysreg_s(value, PMUV3_PMEVTYPER(7));
		break;
	case 8:
		write_sysreg_s(value, PMUV3_PMEVTYPER(8));
		break;
	case 9:
		write_sysreg_s(value, PMUV3_PMEVTYPER(9));
		break;
	case 10:
		write_sysreg_s(value, PMUV3_PMEVTYPER(10));
		break;
	case 11:
		write_sysreg_s(value, PMUV3_PMEVTYPER(11));
		break;
	case 12:
		write_sysreg_s(value, PMUV3_PMEVTYPER(12));
		break;
	case 13:
		write_sysreg_s(value, PMUV3_PMEVTYPER(13));
		break;
	case 14:
		write_sysreg_s(value, PMUV3_PMEVTYPER(14));
		break;
	case 15:
		write_sysreg_s(value, PMUV3_PMEVTYPER(15));
		break;
	case 16:
		write_sysreg_s(value, PMUV3_PMEVTYPER(16));
		break;
	case 17:
		write_sysreg_s(value, PMUV3_PMEVTYPER(17));
		break;
	case 18:
		write_sysreg_s(value, PMUV3_PMEVTYPER(18));
		break;
	case 19:
		write_sysreg_s(value, PMUV3_PMEVTYPER(19));
		break;
	case 20:
		write_sysreg_s(value, PMUV3_PMEVTYPER(20));
		break;
	case 21:
		write_sysreg_s(value, PMUV3_PMEVTYPER(21));
		break;
	case 22:
		write_sysreg_s(value, PMUV3_PMEVTYPER(22));
		break;
	case 23:
		write_sysreg_s(value, PMUV3_PMEVTYPER(23));
		break;
	case 24:
		write_sysreg_s(value, PMUV3_PMEVTYPER(24));
		break;
	case 25:
		write_sysreg_s(value, PMUV3_PMEVTYPER(25));
		break;
	case 26:
		write_sysreg_s(value, PMUV3_PMEVTYPER(26));
		break;
	case 27:
		write_sysreg_s(value, PMUV3_PMEVTYPER(27));
		break;
	case 28:
		write_sysreg_s(value, PMUV3_PMEVTYPER(28));
		break;
	case 29:
		write_sysreg_s(value, PMUV3_PMEVTYPER(29));
		break;
	case 30:
		write_sysreg_s(value, PMUV3_PMEVTYPER(30));
		break;
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

static inline u64 pmuv3_read_pmintenset(void)
{
	return read_sysreg(pmintenset_el1);
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

static inline void pmuv3_write_pmuacr(u64 counters)
{
	write_sysreg_s(counters, PMUV3_PMUACR_EL1);
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

static inline u32 pmuv3_read_midr(void)
{
	return read_sysreg(midr_el1);
}

static inline u64 pmuv3_read_mpidr(void)
{
	return read_sysreg(mpidr_el1);
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
