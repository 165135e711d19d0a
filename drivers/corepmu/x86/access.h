/* SPDX-License-Identifier: GPL-2.0 */
/* corepmu: x86: access to registers, CPU topology and instruction bytes */
#ifndef _COREPMU_X86_ACCESS_H
#define _COREPMU_X86_ACCESS_H

#include <linux/bits.h>
#include <linux/types.h>

#include <corepmu/compat.h>

/*
 * All hardware accesses of the x86 backends go through this header. kunit/ compiles the backends a
 * second time, with registers in software.
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
#include <linux/tracepoint-defs.h>
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

/*
 * x86_read_msr() and x86_write_msr() for hot paths, without the call through pv_ops. Only a Xen PV
 * domain has other functions in pv_ops, and the driver does not load there. Like the call, these
 * functions are compiler barriers and have the tracepoints of events/msr. They do not use
 * native_read_msr() and native_write_msr(): with -Os gcc may not inline these.
 */
static __always_inline u64 x86_read_msr_inline(u32 msr)
{
	u64 value;

	barrier();
	value = __rdmsr(msr);
	if (tracepoint_enabled(read_msr))
		do_trace_read_msr(msr, value, 0);
	barrier();

	return value;
}

/* Check whether MSR writes are traced: x86_write_msr_untraced() lacks the tracepoint. */
static __always_inline bool x86_msr_writes_are_traced(void)
{
	return tracepoint_enabled(write_msr);
}

static __always_inline void x86_write_msr_untraced(u32 msr, u64 value)
{
	native_wrmsr(msr, lower_32_bits(value), upper_32_bits(value));
}

static __always_inline void x86_write_msr_inline(u32 msr, u64 value)
{
	x86_write_msr_untraced(msr, value);
	if (x86_msr_writes_are_traced())
		do_trace_write_msr(msr, value, 0);
	barrier();
}

/* Access to registers that may not exist. Return 0, or a negative errno after #GP. */
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
	/* Whole registers: RDPMC clears the upper halves, so nothing must be extended. */
	unsigned long low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (counter));

	return (u64)high << 32 | low;
}

/* Check whether KVM has enabled VMX on this CPU, so that the CPU may enter a guest at any time. */
static inline bool x86_may_run_guests(void)
{
	return native_read_cr4() & X86_CR4_VMXE;
}

/* The same for SVM on AMD CPUs */
static inline bool x86_svm_is_on(void)
{
	return x86_read_msr(MSR_EFER) & EFER_SVME;
}

/**
 * x86_read_code() - copy the bytes of an instruction
 * @addr: address of the instruction; may be any address, since user space can branch anywhere
 * @code: filled in
 * @size: maximum number of bytes
 *
 * Of kernel addresses, only kernel text is read: others may be device memory. NMI.
 *
 * Return: number of bytes copied
 */
static inline unsigned int x86_read_code(u64 addr, u8 *code, unsigned int size)
{
	if (!corepmu_branch_is_kernel(addr))
		return current->mm ? size - copy_from_user_nmi(code, (void __user *)addr, size) : 0;

	if (!corepmu_kernel_text_address(addr))
		return 0;
	/* The kernel's text may end with this page: do not read beyond. */
	size = min_t(unsigned int, size, PAGE_SIZE - offset_in_page(addr));

	return copy_from_kernel_nofault(code, (const void *)addr, size) ? 0 : size;
}

/* Check for cores with several hyperthreads online. The result may change with CPU hotplug. */
static inline bool x86_has_threads(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (cpumask_weight(topology_sibling_cpumask(cpu)) > 1)
			return true;

	return false;
}

/*
 * Check for several cores, of which two may be in one module. Linux 6.1 does not export which cores
 * are in one module (cpu_clustergroup_mask()). A single core shares its module with no other.
 */
static inline bool x86_has_cores(void)
{
	return num_online_cpus() > 1;
}

/*
 * Check whether cores may have several hyperthreads, now or later. An offline hyperthread may come
 * online, unless the CPU has none, or SMT is disabled until the next boot ("forceoff"). So an event
 * that was allowed because of a false result stays correct.
 */
static inline bool x86_may_have_threads(void)
{
	return cpu_smt_possible();
}

/* Check whether the code at @addr, executed by the current task or the kernel, is 64-bit code. */
static inline bool x86_is_64bit_code(u64 addr)
{
	return corepmu_branch_is_kernel(addr) || task_pt_regs(current)->cs == __USER_CS;
}

/*
 * Return the user's stack pointer during SYSCALL entry. With page table isolation, RSP holds CR3
 * for up to three instructions after SYSCALL, and the user's RSP is in the TSS (entry_SYSCALL_64 in
 * arch/x86/entry/entry_64.S, SWITCH_TO_KERNEL_CR3 in calling.h). The sample must not show where the
 * page tables are. The user's page tables are in the page after the kernel's, which are in use now.
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
 * x86_entering_regs() - get the user's registers of an NMI in SYSCALL entry code
 * @regs: kernel registers at the NMI
 * @user: filled in with the user's registers
 *
 * SYSCALL does not change the stack pointer, and leaves the user's RIP and RFLAGS in RCX and R11
 * (Intel SDM, volume 2, "SYSCALL"). The kernel needs some instructions to save them. SYSRET is the
 * reverse. NMI.
 *
 * Return: true if the NMI came while RSP was not yet, or no longer, on the kernel's stack
 */
static inline bool x86_entering_regs(const struct pt_regs *regs, struct pt_regs *user)
{
	/* While RSP holds CR3, bit 63 may be set: SET_NOFLUSH_BIT in calling.h. */
	if ((regs->sp & ~X86_CR3_PCID_NOFLUSH) >= TASK_SIZE_MAX)
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

#endif /* _COREPMU_X86_ACCESS_H */
