/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: arm64: access to the registers of PMUv3
 */
#ifndef _COREPMU_ARM64_ACCESS_H
#define _COREPMU_ARM64_ACCESS_H

#include <linux/compiler.h>
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

/*
 * The instruction encodes the register's number: one case for each register, as PMEVN_SWITCH() in
 * the kernel's include/linux/perf/arm_pmuv3.h.
 */
#define PMUV3_CASE(n, access)	case n: access(n); break
/* @others: cases for counters that are no event counter PMEVCNTR<n>_EL0 */
#define PMUV3_SWITCH_OR(n, access, others)				\
	do {								\
		switch (n) {						\
		PMUV3_CASE(0, access); PMUV3_CASE(1, access); PMUV3_CASE(2, access);	\
		PMUV3_CASE(3, access); PMUV3_CASE(4, access); PMUV3_CASE(5, access);	\
		PMUV3_CASE(6, access); PMUV3_CASE(7, access); PMUV3_CASE(8, access);	\
		PMUV3_CASE(9, access); PMUV3_CASE(10, access); PMUV3_CASE(11, access);	\
		PMUV3_CASE(12, access); PMUV3_CASE(13, access); PMUV3_CASE(14, access);	\
		PMUV3_CASE(15, access); PMUV3_CASE(16, access); PMUV3_CASE(17, access);	\
		PMUV3_CASE(18, access); PMUV3_CASE(19, access); PMUV3_CASE(20, access);	\
		PMUV3_CASE(21, access); PMUV3_CASE(22, access); PMUV3_CASE(23, access);	\
		PMUV3_CASE(24, access); PMUV3_CASE(25, access); PMUV3_CASE(26, access);	\
		PMUV3_CASE(27, access); PMUV3_CASE(28, access); PMUV3_CASE(29, access);	\
		PMUV3_CASE(30, access);							\
		others							\
		}							\
	} while (0)
#define PMUV3_SWITCH(n, access)		PMUV3_SWITCH_OR(n, access, /* none */)

/* @cycles, @instructions: statements for the cycle counter and the instruction counter */
#define PMUV3_COUNTER_SWITCH(n, access, cycles, instructions)		\
	PMUV3_SWITCH_OR(n, access,					\
			case PMUV3_CYCLE_COUNTER:			\
				cycles;					\
				break;					\
			case PMUV3_INSTR_COUNTER:			\
				instructions;				\
				break;)

/* Define pmuv3_read_NAME(). */
#define PMUV3_READ(name, access)				\
static inline u64 pmuv3_read_##name(void)			\
{								\
	return access;						\
}

/* Define pmuv3_write_NAME(value). */
#define PMUV3_WRITE(name, access)				\
static inline void pmuv3_write_##name(u64 value)		\
{								\
	access;							\
}

PMUV3_READ(pmcr, read_sysreg(pmcr_el0))
PMUV3_WRITE(pmcr, write_sysreg(value, pmcr_el0))
PMUV3_READ(pmccntr, read_sysreg(pmccntr_el0))
PMUV3_WRITE(pmccntr, write_sysreg(value, pmccntr_el0))
PMUV3_WRITE(pmccfiltr, write_sysreg(value, pmccfiltr_el0))
PMUV3_READ(pmicntr, read_sysreg_s(PMUV3_PMICNTR_EL0))
PMUV3_WRITE(pmicntr, write_sysreg_s(value, PMUV3_PMICNTR_EL0))
PMUV3_WRITE(pmicfiltr, write_sysreg_s(value, PMUV3_PMICFILTR_EL0))
PMUV3_WRITE(pmcntenset, write_sysreg(value, pmcntenset_el0))
PMUV3_WRITE(pmcntenclr, write_sysreg(value, pmcntenclr_el0))
PMUV3_READ(pmintenset, read_sysreg(pmintenset_el1))
PMUV3_WRITE(pmintenset, write_sysreg(value, pmintenset_el1))
PMUV3_WRITE(pmintenclr, write_sysreg(value, pmintenclr_el1))
PMUV3_READ(pmovsclr, read_sysreg(pmovsclr_el0))
PMUV3_WRITE(pmovsclr, write_sysreg(value, pmovsclr_el0))
PMUV3_WRITE(pmuserenr, write_sysreg(value, pmuserenr_el0))
PMUV3_WRITE(pmuacr, write_sysreg_s(value, PMUV3_PMUACR_EL1))
PMUV3_READ(pmceid0, read_sysreg(pmceid0_el0))
PMUV3_READ(pmceid1, read_sysreg(pmceid1_el0))
PMUV3_READ(pmmir, read_sysreg_s(PMUV3_PMMIR_EL1))
PMUV3_READ(mpidr, read_sysreg(mpidr_el1))
PMUV3_READ(dfr0, read_sysreg(id_aa64dfr0_el1))
PMUV3_READ(dfr1, read_sysreg_s(PMUV3_ID_AA64DFR1_EL1))

static inline u32 pmuv3_read_midr(void)
{
	return read_sysreg(midr_el1);
}

static __always_inline u64 pmuv3_read_counter(int n)
{
	u64 value = 0;

#define READ_PMEVCNTR(n)	(value = read_sysreg_s(PMUV3_PMEVCNTR(n)))
	PMUV3_COUNTER_SWITCH(n, READ_PMEVCNTR, value = pmuv3_read_pmccntr(),
			     value = pmuv3_read_pmicntr());
#undef READ_PMEVCNTR

	return value;
}

static __always_inline void pmuv3_write_counter(int n, u64 value)
{
#define WRITE_PMEVCNTR(n)	write_sysreg_s(value, PMUV3_PMEVCNTR(n))
	PMUV3_COUNTER_SWITCH(n, WRITE_PMEVCNTR, pmuv3_write_pmccntr(value),
			     pmuv3_write_pmicntr(value));
#undef WRITE_PMEVCNTR
}

/*
 * @config: bits of PMEVTYPER<n>_EL0. The filter registers of the cycle and instruction counters
 * have no event number.
 */
static __always_inline void pmuv3_write_filter(int n, u64 config)
{
#define WRITE_PMEVTYPER(n)	write_sysreg_s(config, PMUV3_PMEVTYPER(n))
	PMUV3_COUNTER_SWITCH(n, WRITE_PMEVTYPER,
			     pmuv3_write_pmccfiltr(config & ~PMEVTYPER_EVTCOUNT),
			     pmuv3_write_pmicfiltr(config & ~PMEVTYPER_EVTCOUNT));
#undef WRITE_PMEVTYPER
}

static __always_inline void write_cycles(u64 filter, u64 value)
{
	pmuv3_write_pmccfiltr(filter);
	pmuv3_write_pmccntr(value);
}

static __always_inline void write_instructions(u64 filter, u64 value)
{
	pmuv3_write_pmicfiltr(filter);
	pmuv3_write_pmicntr(value);
}

/* pmuv3_write_filter(), then pmuv3_write_counter(), with one jump to the counter's registers */
static __always_inline void pmuv3_write_both(int n, u64 config, u64 value)
{
#define WRITE_BOTH(n)	do {						\
		write_sysreg_s(config, PMUV3_PMEVTYPER(n));		\
		write_sysreg_s(value, PMUV3_PMEVCNTR(n));		\
	} while (0)
	PMUV3_COUNTER_SWITCH(n, WRITE_BOTH,
			     write_cycles(config & ~PMEVTYPER_EVTCOUNT, value),
			     write_instructions(config & ~PMEVTYPER_EVTCOUNT, value));
#undef WRITE_BOTH
}

#endif /* _COREPMU_ARM64_ACCESS_H */
