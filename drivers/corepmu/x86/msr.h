/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: the registers of the counters
 *
 * Intel: Software Developer's Manual, volume 3, chapter "Performance
 * Monitoring"; volume 4 for the numbers. AMD: Architecture Programmer's Manual,
 * volume 2, 13.2 "Performance Monitoring Counters". The numbers and most names
 * come from the kernel's <asm/msr-index.h> and <asm/perf_event.h>.
 */
#ifndef _COREPMU_X86_MSR_H
#define _COREPMU_X86_MSR_H

#include <linux/bits.h>
#include <linux/types.h>

#include <corepmu/compat.h>

/*
 * All of the hardware that the backends touch is reached from here. In kunit/
 * they are compiled a second time, against registers in software.
 */
#ifdef COREPMU_KUNIT
#include <models/x86/access.h>
#else
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/topology.h>
#include <linux/uaccess.h>

#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/perf_event.h>
#include <asm/processor.h>
#include <asm/ptrace.h>
#include <asm/segment.h>
#include <asm/special_insns.h>

#include <corepmu/branch.h>
#include <corepmu/ksyms.h>

static inline u64 x86_read_msr(u32 msr)
{
	return compat_rdmsr(msr);
}

static inline void x86_write_msr(u32 msr, u64 value)
{
	compat_wrmsr(msr, value);
}

/* For registers that may not be there: 0, or a negative errno after #GP. */
static inline int x86_read_msr_safe(u32 msr, u64 *value)
{
	return compat_rdmsr_safe(msr, value);
}

static inline int x86_write_msr_safe(u32 msr, u64 value)
{
	return compat_wrmsr_safe(msr, value);
}

static inline u64 x86_rdpmc(u32 counter)
{
	u32 low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (counter));

	return (u64)high << 32 | low;
}

/* Where KVM has taken the CPU on, it may be in a guest at any time. */
static inline bool x86_may_run_guests(void)
{
	return native_read_cr4() & X86_CR4_VMXE;
}

/* The same on AMD's CPUs */
static inline bool x86_svm_is_on(void)
{
	return x86_read_msr(MSR_EFER) & EFER_SVME;
}

/**
 * x86_read_code() - the bytes of an instruction
 * @addr: where it is, or any other address: user space may have had a branch to it recorded
 * @code: filled in
 * @size: so many bytes at most
 *
 * Nothing of the kernel is read that is not text: there may be a device. NMI.
 *
 * Return: how many bytes have been read
 */
static inline unsigned int x86_read_code(u64 addr, u8 *code, unsigned int size)
{
	if (!corepmu_branch_is_kernel(addr))
		return current->mm ? size - copy_from_user_nmi(code, (void __user *)addr, size) : 0;

	if (!corepmu_kernel_text_address(addr))
		return 0;
	/* The text may end with this page. */
	size = min_t(unsigned int, size, PAGE_SIZE - offset_in_page(addr));

	return copy_from_kernel_nofault(code, (const void *)addr, size) ? 0 : size;
}

/* Do cores run several threads? A CPU that comes later may tell of it first. */
static inline bool x86_has_threads(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (cpumask_weight(topology_sibling_cpumask(cpu)) > 1)
			return true;

	return false;
}

/*
 * Are there several cores, so that two may be of one module? Which ones are Linux 6.1 keeps to
 * itself (cpu_clustergroup_mask()); a core that is alone has its module for itself for sure.
 */
static inline bool x86_has_cores(void)
{
	return num_online_cpus() > 1;
}

/*
 * May a core run several threads, now or later? A thread that is offline may come, unless the
 * CPU has none or they were switched off until the next boot ("forceoff"): what is allowed on
 * the word of this stays right.
 */
static inline bool x86_may_have_threads(void)
{
	return cpu_smt_possible();
}

/* Is the code at @addr, which the current task or the kernel has run, of 64 bits? */
static inline bool x86_is_64bit_code(u64 addr)
{
	return corepmu_branch_is_kernel(addr) || task_pt_regs(current)->cs == __USER_CS;
}

/*
 * With page table isolation the kernel has CR3 in RSP for an instruction or three after SYSCALL,
 * and the user's RSP in the TSS (entry_SYSCALL_64 in arch/x86/entry/entry_64.S,
 * SWITCH_TO_KERNEL_CR3 in calling.h). Where the page tables are is not to be shown: those of user
 * space are in the page after those of the kernel, with which this runs.
 */
static inline unsigned long x86_entering_sp(const struct pt_regs *regs)
{
#ifdef CONFIG_X86_64
	if (boot_cpu_has(X86_FEATURE_PTI) &&
	    !((regs->sp ^ __read_cr3()) & CR3_ADDR_MASK & ~PAGE_SIZE))
		return this_cpu_read(cpu_tss_rw.x86_tss.sp2);
#endif

	return regs->sp;
}

/**
 * x86_entering_regs() - the backend's entering_regs()
 * @regs: where an NMI came in the kernel
 * @user: filled in with the user's registers
 *
 * SYSCALL leaves the user's stack pointer where it is, and the user's RIP and
 * RFLAGS in RCX and R11 (Intel SDM, volume 2, "SYSCALL"); the kernel needs some
 * instructions to save them. SYSRET goes the same way back. NMI.
 *
 * Return: whether it came between SYSCALL and the kernel's own stack
 */
static inline bool x86_entering_regs(const struct pt_regs *regs, struct pt_regs *user)
{
	if (regs->sp >= TASK_SIZE_MAX)
		return false;

	*user = *regs;
	user->sp = x86_entering_sp(regs);
	user->ip = regs->cx;
	user->flags = regs->r11;
	user->cs = __USER_CS;
	user->ss = __USER_DS;
	return true;
}
#endif /* COREPMU_KUNIT */

/* IA32_PERFEVTSELx and PERF_CTLx */
#define EVNTSEL_EVENT		GENMASK_ULL(7, 0)
#define EVNTSEL_UMASK		GENMASK_ULL(15, 8)
#define EVNTSEL_USR		BIT_ULL(16)
#define EVNTSEL_OS		BIT_ULL(17)
#define EVNTSEL_EDGE		BIT_ULL(18)
#define EVNTSEL_INT		BIT_ULL(20)
/* From version 3 on: whichever of the core's hyperthreads it happens on */
#define EVNTSEL_ANY		BIT_ULL(21)
#define EVNTSEL_EN		BIT_ULL(22)
#define EVNTSEL_INV		BIT_ULL(23)
#define EVNTSEL_CMASK		GENMASK_ULL(31, 24)
#define EVNTSEL_AMD_EVENT_HI	GENMASK_ULL(35, 32)
/* SDM volume 3, "TSX": in transactions; not in those that abort */
#define EVNTSEL_IN_TX		BIT_ULL(32)
#define EVNTSEL_IN_TX_CP	BIT_ULL(33)
/* From version 6 on: equal to the threshold instead of at least that; eight more bits of mask */
#define EVNTSEL_EQ		BIT_ULL(36)
#define EVNTSEL_UMASK2		GENMASK_ULL(47, 40)
/* SDM volume 3, "Adaptive PEBS": its records are those that IA32_PEBS_DATA_CFG says */
#define EVNTSEL_ADAPTIVE	BIT_ULL(34)
/* SDM volume 3, "RDPMC User Disable": to user space the counter is 0 */
#define EVNTSEL_RDPMC_USR_DISABLE BIT_ULL(37)
/*
 * EN_LBR_LOG: branch records have counts of the event (ARCH_PERFMON_EVENTSEL_BR_CNTR of newer
 * kernels' arch/x86/include/asm/perf_event.h, with the next)
 */
#define EVNTSEL_LBR_LOG		BIT_ULL(35)
/* IA32_LBR_x_INFO: two bits for each of counters 0 to 3 */
#define LBR_INFO_COUNTS		GENMASK_ULL(39, 32)
/*
 * AMD's PPRs from family 17h on, "Large Increment per Cycle Events": an odd counter that
 * counts event 0xfff has the upper 16 bits of the one below.
 */
#define EVNTSEL_AMD_MERGE	(EVNTSEL_AMD_EVENT_HI | EVNTSEL_EVENT)
#define AMD_MERGED_BITS		GENMASK_ULL(15, 0)
/* AMD APM volume 2, "Performance Event-Select Registers": HG_ONLY 01b and 10b */
#define EVNTSEL_AMD_GUESTONLY	BIT_ULL(40)
#define EVNTSEL_AMD_HOSTONLY	BIT_ULL(41)

/* IA32_FIXED_CTR_CTRL: four bits for each fixed counter */
#define FIXED_CTRL_OS		BIT_ULL(0)
#define FIXED_CTRL_USR		BIT_ULL(1)
#define FIXED_CTRL_PMI		BIT_ULL(3)
/* Its records are those that IA32_PEBS_DATA_CFG says. */
#define FIXED_CTRL_ADAPTIVE	BIT_ULL(32)
#define FIXED_CTRL_RDPMC_USR_DISABLE BIT_ULL(33)
#define FIXED_CTRL_BITS		(GENMASK_ULL(3, 0) | FIXED_CTRL_ADAPTIVE | \
				 FIXED_CTRL_RDPMC_USR_DISABLE)
#define FIXED_CTRL_SHIFT(n)	(4 * (n))

/* IA32_PERF_CAPABILITIES: IA32_DEBUGCTL has FREEZE_WHILE_SMM; full-width writes; metrics */
#define PERF_CAP_FREEZE_IN_SMM	BIT_ULL(12)
#define PERF_CAP_FW_WRITE	BIT_ULL(13)
#define PERF_CAP_METRICS	BIT_ULL(15)
/* SDM volume 3, "PEBS": format of records; all counters and events; retire latency */
#define PERF_CAP_PEBS_VERSION	GENMASK_ULL(11, 8)
#define PERF_CAP_PEBS_ALL	BIT_ULL(14)
#define PERF_CAP_PEBS_TIMING	BIT_ULL(17)

/* IA32_PERF_GLOBAL_CTRL and _STATUS: EN_PERF_METRICS, OVF_PERF_METRICS */
#define GLOBAL_PERF_METRICS	BIT_ULL(48)

/* Format of branch records, SDM volume 3, "Last Branch Records": with LBR_INFO, and TSX or not */
#define PERF_CAP_LBR_FORMAT	GENMASK_ULL(5, 0)
#define LBR_FORMAT_INFO_TSX	5
#define LBR_FORMAT_INFO		7

/* Global status, Intel from version 4 on and AMD PerfMonV2: branch records stand still */
#define STATUS_LBR_FROZEN	BIT_ULL(58)

/*
 * MSR_LBR_SELECT of Intel and AMD: what is not recorded. SDM volume 3, table "MSR_LBR_SELECT
 * for Intel microarchitecture code name Haswell"; APM volume 2, "Last Branch Stack Filtering".
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
/* Intel's alone: a return takes the record of its call away. */
#define LBR_SELECT_CALL_STACK	BIT_ULL(9)

/* IA32_LBR_CTL: what is recorded. SDM volume 3, "Architectural Last Branch Records" */
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

/* MSRs of AMD's SAMP_BR_FROM and SAMP_BR_TO: APM volume 2, "Last Branch Stack Registers" */
#define SAMP_BR_FROM_MISPRED	BIT_ULL(63)
#define SAMP_BR_TO_VALID	BIT_ULL(63)
#define SAMP_BR_TO_SPEC		BIT_ULL(62)
/* An erroneous record, erratum 1452: amd_pmu_lbr_read() in arch/x86/events/amd/lbr.c */
#define SAMP_BR_TO_RESERVED	BIT_ULL(61)

/* IA32_PERF_GLOBAL_STATUS: there are as many records as were asked for; architectural ones */
#define STATUS_DS_BUFFER	BIT_ULL(62)
#define STATUS_PEBS_THRESHOLD	BIT_ULL(54)
/* Trace_ToPA_PMI: Intel PT has filled a part of its buffer that is marked so */
#define STATUS_TRACE_TOPA_PMI	BIT_ULL(55)

/*
 * Architectural PEBS, and auto counter reload: asm/msr-index.h of Linux 6.19 has MSR_IA32_ and _V6_
 * before these names.
 */
#define MSR_PEBS_BASE		0x3f4
#define MSR_PEBS_INDEX		0x3f5
#define MSR_PMC_GP0_CFG_B	0x1902
#define MSR_PMC_FX0_CFG_B	0x1982
#define MSR_PMC_GP0_CFG_C	0x1903
#define MSR_PMC_FX0_CFG_C	0x1983
#define PMC_CFG_STEP		4

/* "Off-module response": asm/msr-index.h has them from 7.1 on, written the same way. */
#define MSR_OMR_0		0x000003e0
#define MSR_OMR_1		0x000003e1
#define MSR_OMR_2		0x000003e2
#define MSR_OMR_3		0x000003e3

/* Fixed counter n is bit 32 + n of the global registers, and our counter 32 + n. */
#define FIXED_COUNTER_BASE	32

/* The slots, and the numbers that their parts have as counters: they are in one register. */
#define SLOTS_COUNTER		(FIXED_COUNTER_BASE + 3)
#define METRIC_COUNTER_BASE	48

/* ECX of RDPMC for fixed counter 0, and for PERF_METRICS */
#define RDPMC_FIXED		BIT(30)
#define RDPMC_METRICS		BIT(29)

static inline u32 x86_rdpmc_index(int idx)
{
	if (idx >= METRIC_COUNTER_BASE)
		return RDPMC_METRICS;

	return idx < FIXED_COUNTER_BASE ? idx : RDPMC_FIXED | (idx - FIXED_COUNTER_BASE);
}

/* What GLOBAL_CTRL has for @counters: topdown metrics share one bit. */
static __always_inline u64 x86_global_ctrl(u64 counters)
{
	if (likely(!(counters >> METRIC_COUNTER_BASE)))
		return counters;

	return (counters & GENMASK_ULL(METRIC_COUNTER_BASE - 1, 0)) | GLOBAL_PERF_METRICS;
}

#endif /* _COREPMU_X86_MSR_H */
