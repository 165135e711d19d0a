/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: registers of the counters
 *
 * Intel: Software Developer's Manual, volume 3, chapter "Performance Monitoring"; volume 4 for the
 * MSR numbers. AMD: Architecture Programmer's Manual, volume 2, 13.2 "Performance Monitoring
 * Counters". The numbers and most names come from the kernel's <asm/msr-index.h> and
 * <asm/perf_event.h>.
 */
#ifndef _COREPMU_X86_MSR_H
#define _COREPMU_X86_MSR_H

#include <linux/bits.h>
#include <linux/types.h>

#include "access.h"

/* Stands for a register value that the driver does not know. No register has this value. */
#define MSR_UNKNOWN		(~0ULL)

/* IA32_PERFEVTSELx and PERF_CTLx */
#define EVNTSEL_EVENT		GENMASK_ULL(7, 0)
#define EVNTSEL_UMASK		GENMASK_ULL(15, 8)
#define EVNTSEL_USR		BIT_ULL(16)
#define EVNTSEL_OS		BIT_ULL(17)
#define EVNTSEL_EDGE		BIT_ULL(18)
#define EVNTSEL_INT		BIT_ULL(20)
/* From version 3 on: also count events of the core's other hyperthread */
#define EVNTSEL_ANY		BIT_ULL(21)
#define EVNTSEL_EN		BIT_ULL(22)
#define EVNTSEL_INV		BIT_ULL(23)
#define EVNTSEL_CMASK		GENMASK_ULL(31, 24)
#define EVNTSEL_AMD_EVENT_HI	GENMASK_ULL(35, 32)
/* SDM volume 3, "TSX": count in transactions only; without transactions that abort */
#define EVNTSEL_IN_TX		BIT_ULL(32)
#define EVNTSEL_IN_TX_CP	BIT_ULL(33)
/* From version 6 on: threshold must be equal, not at least equal; eight more unit mask bits */
#define EVNTSEL_EQ		BIT_ULL(36)
#define EVNTSEL_UMASK2		GENMASK_ULL(47, 40)
/* SDM volume 3, "Adaptive PEBS": the record groups are those of IA32_PEBS_DATA_CFG */
#define EVNTSEL_ADAPTIVE	BIT_ULL(34)
/* SDM volume 3, "RDPMC User Disable": RDPMC reads 0 in user space */
#define EVNTSEL_RDPMC_USR_DISABLE BIT_ULL(37)
/*
 * EN_LBR_LOG: branch records have counts of the event. Newer kernels name this bit and
 * LBR_INFO_COUNTS in arch/x86/include/asm/perf_event.h (ARCH_PERFMON_EVENTSEL_BR_CNTR).
 */
#define EVNTSEL_LBR_LOG		BIT_ULL(35)
/* IA32_LBR_x_INFO: counts of counters 0 to 3, two bits each */
#define LBR_INFO_COUNTS		GENMASK_ULL(39, 32)
/*
 * AMD's PPRs from family 17h on, "Large Increment per Cycle Events": an odd counter with event
 * 0xfff holds the upper 16 bits of the even counter below.
 */
#define EVNTSEL_AMD_MERGE	(EVNTSEL_AMD_EVENT_HI | EVNTSEL_EVENT)
#define AMD_MERGED_BITS		GENMASK_ULL(15, 0)
/* AMD APM volume 2, "Performance Event-Select Registers": HG_ONLY 01b and 10b */
#define EVNTSEL_AMD_GUESTONLY	BIT_ULL(40)
#define EVNTSEL_AMD_HOSTONLY	BIT_ULL(41)

/*
 * Flag of the driver in config_base: a slots event with metrics_clear. No register gets the flag:
 * only fixed counter 3 counts slots, and a fixed counter has no event select register.
 */
#define EVNTSEL_METRICS_CLEAR	BIT_ULL(63)

/* IA32_FIXED_CTR_CTRL: four bits per fixed counter */
#define FIXED_CTRL_OS		BIT_ULL(0)
#define FIXED_CTRL_USR		BIT_ULL(1)
/* Fixed counter 3: RDPMC of PERF_METRICS by user space clears PERF_METRICS and the counter. */
#define FIXED_CTRL_METRICS_CLEAR BIT_ULL(2)
#define FIXED_CTRL_PMI		BIT_ULL(3)
/* The record groups of the fixed counter are those of IA32_PEBS_DATA_CFG. */
#define FIXED_CTRL_ADAPTIVE	BIT_ULL(32)
#define FIXED_CTRL_RDPMC_USR_DISABLE BIT_ULL(33)
#define FIXED_CTRL_BITS		(GENMASK_ULL(3, 0) | FIXED_CTRL_ADAPTIVE | \
				 FIXED_CTRL_RDPMC_USR_DISABLE)
#define FIXED_CTRL_SHIFT(n)	(4 * (n))

/* IA32_PERF_CAPABILITIES: IA32_DEBUGCTL has FREEZE_WHILE_SMM; full-width writes; PERF_METRICS */
#define PERF_CAP_FREEZE_IN_SMM	BIT_ULL(12)
#define PERF_CAP_FW_WRITE	BIT_ULL(13)
#define PERF_CAP_METRICS	BIT_ULL(15)
#define PERF_CAP_METRICS_CLEAR	BIT_ULL(19)
/* SDM volume 3, "PEBS": record format; PEBS baseline (all counters and events); retire latency */
#define PERF_CAP_PEBS_VERSION	GENMASK_ULL(11, 8)
#define PERF_CAP_PEBS_ALL	BIT_ULL(14)
#define PERF_CAP_PEBS_TIMING	BIT_ULL(17)

/* IA32_PERF_GLOBAL_CTRL and _STATUS: EN_PERF_METRICS, OVF_PERF_METRICS */
#define GLOBAL_PERF_METRICS	BIT_ULL(48)

/* LBR format, SDM volume 3, "LBR Stack and Intel 64 Processors" */
#define PERF_CAP_LBR_FORMAT	GENMASK_ULL(5, 0)
#define LBR_FORMAT_FLAGS	3	/* flag of a misprediction in the source's register */
#define LBR_FORMAT_FLAGS_TSX	4	/* flags of TSX there, too */
#define LBR_FORMAT_INFO_TSX	5	/* LBR_INFO, with the flags of TSX */
#define LBR_FORMAT_TIME		6	/* no LBR_INFO (Goldmont) */
#define LBR_FORMAT_INFO		7	/* LBR_INFO */

/* Global status, Intel from version 4 on and AMD PerfMonV2: the branch records are frozen */
#define STATUS_LBR_FROZEN	BIT_ULL(58)

/*
 * MSR_LBR_SELECT of Intel and AMD: branches to suppress. SDM volume 3, table "MSR_LBR_SELECT for
 * Intel microarchitecture code name Haswell"; APM volume 2, "Last Branch Stack Filtering".
 */
#define LBR_SELECT_NO_KERNEL	BIT_ULL(0)
#define LBR_SELECT_NO_USER	BIT_ULL(1)
#define LBR_SELECT_NO_COND	BIT_ULL(2)
#define LBR_SELECT_NO_CALL	BIT_ULL(3)
#define LBR_SELECT_NO_IND_CALL	BIT_ULL(4)
#define LBR_SELECT_NO_RET	BIT_ULL(5)
#define LBR_SELECT_NO_IND_JUMP	BIT_ULL(6)
#define LBR_SELECT_NO_JUMP	BIT_ULL(7)
#define LBR_SELECT_NO_FAR	BIT_ULL(8)
/* Intel only: call stack mode, where a return removes the record of its call */
#define LBR_SELECT_CALL_STACK	BIT_ULL(9)

/* IA32_LBR_CTL: branches to record. SDM volume 3, "Architectural Last Branch Records" */
#define LBR_CTL_KERNEL		BIT_ULL(1)
#define LBR_CTL_USER		BIT_ULL(2)
#define LBR_CTL_CALL_STACK	BIT_ULL(3)
#define LBR_CTL_COND		BIT_ULL(16)
#define LBR_CTL_JUMP		BIT_ULL(17)
#define LBR_CTL_IND_JUMP	BIT_ULL(18)
#define LBR_CTL_CALL		BIT_ULL(19)
#define LBR_CTL_IND_CALL	BIT_ULL(20)
#define LBR_CTL_RET		BIT_ULL(21)
#define LBR_CTL_OTHER		BIT_ULL(22)

/* AMD's SAMP_BR_FROM and SAMP_BR_TO: APM volume 2, "Last Branch Stack Registers" */
#define SAMP_BR_FROM_MISPRED	BIT_ULL(63)
#define SAMP_BR_TO_VALID	BIT_ULL(63)
#define SAMP_BR_TO_SPEC		BIT_ULL(62)
/* Erroneous record, erratum 1452: amd_pmu_lbr_read() in arch/x86/events/amd/lbr.c */
#define SAMP_BR_TO_RESERVED	BIT_ULL(61)

/* IA32_PERF_GLOBAL_STATUS: the PEBS buffer has reached its threshold; architectural PEBS */
#define STATUS_DS_BUFFER	BIT_ULL(62)
#define STATUS_PEBS_THRESHOLD	BIT_ULL(54)
/* Trace_ToPA_PMI: Intel PT has filled an output region whose entry asks for an interrupt */
#define STATUS_TRACE_TOPA_PMI	BIT_ULL(55)

/*
 * Architectural PEBS and auto counter reload. Newer kernels (asm/msr-index.h) name these registers
 * MSR_IA32_PEBS_* and MSR_IA32_PMC_V6_*.
 */
#define MSR_PEBS_BASE		0x3f4
#define MSR_PEBS_INDEX		0x3f5
#define MSR_PMC_GP0_CFG_B	0x1902
#define MSR_PMC_FX0_CFG_B	0x1982
#define MSR_PMC_GP0_CFG_C	0x1903
#define MSR_PMC_FX0_CFG_C	0x1983
#define CFG_C_RELOAD		GENMASK_ULL(31, 0)
#define PMC_CFG_STEP		4

/*
 * "Off-module response"; asm/msr-index.h defines them from 7.1 on, so the text must be identical.
 */
#define MSR_OMR_0		0x000003e0
#define MSR_OMR_1		0x000003e1
#define MSR_OMR_2		0x000003e2
#define MSR_OMR_3		0x000003e3
/* Snoop responses of the atoms; asm/msr-index.h defines them from 6.7 on */
#define MSR_SNOOP_RSP_0		0x00001328
#define MSR_SNOOP_RSP_1		0x00001329

/* Fixed counter n is bit 32 + n of the global registers, and the driver's counter 32 + n. */
#define FIXED_COUNTER_BASE	32

/* The slots counter; the first of the numbers that stand for topdown metrics, as for counters */
#define SLOTS_COUNTER		(FIXED_COUNTER_BASE + 3)
#define METRIC_COUNTER_BASE	48

/* ECX of RDPMC: for fixed counter 0, and for PERF_METRICS */
#define RDPMC_FIXED		BIT(30)
#define RDPMC_METRICS		BIT(29)

/* Return ECX of RDPMC for a counter; for a topdown metric see x86_rdpmc_index(). */
static __always_inline u32 x86_rdpmc_counter(int idx)
{
	return idx < FIXED_COUNTER_BASE ? idx : RDPMC_FIXED + (idx - FIXED_COUNTER_BASE);
}

static inline u32 x86_rdpmc_index(int idx)
{
	return likely(idx < METRIC_COUNTER_BASE) ? x86_rdpmc_counter(idx) : RDPMC_METRICS;
}

/* Value of GLOBAL_CTRL that enables @counters; all topdown metrics share one bit */
static __always_inline u64 x86_global_ctrl(u64 counters)
{
	if (likely(!(counters >> METRIC_COUNTER_BASE)))
		return counters;

	return (counters & GENMASK_ULL(METRIC_COUNTER_BASE - 1, 0)) | GLOBAL_PERF_METRICS;
}

#endif /* _COREPMU_X86_MSR_H */
