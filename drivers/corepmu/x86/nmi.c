// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: the overflow interrupt, an NMI from the local APIC
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <corepmu/pmu.h>

#include "msr.h"
#include "x86.h"

/* How often Intel's status is read in one NMI: a bit of it may never clear. */
#define MAX_ROUNDS	16

/*
 * On AMD an NMI may arrive when its overflow has been handled already, by the NMI before
 * it or by stopping the event. For so long after either, an NMI that no counter explains
 * is claimed, and the kernel does not report it as unknown.
 */
#define LATE_NMI_MS	100

static DEFINE_PER_CPU(unsigned long, last_nmi);

/*
 * Without a status register: a counter is set to a value whose top bit is set, and that
 * bit is clear after the overflow.
 */
static u64 overflowed_by_value(struct corepmu_cpu *cpuc)
{
	u64 active, overflowed = 0;

	for (active = cpuc->active; active; active &= active - 1) {
		int idx = __ffs64(active);

		/* The upper bits of the counter below */
		if (cpuc->selected[idx] == EVNTSEL_AMD_MERGE)
			continue;
		if (!(x86_rdpmc(idx) & BIT_ULL(cpuc->pmu->width[idx] - 1)))
			overflowed |= BIT_ULL(idx);
	}

	return overflowed;
}

/* Not many programs have events that need two counters. */
static u64 overflows_of(const struct x86_desc *desc, struct corepmu_cpu *cpuc, u64 overflowed)
{
	return unlikely(READ_ONCE(desc->has_pairs)) ? x86_merged_overflows(cpuc, overflowed) :
						      overflowed;
}

static noinline unsigned int handle_by_value(struct x86_desc *desc, struct corepmu_cpu *cpuc)
{
	u64 overflowed = overflows_of(desc, cpuc, overflowed_by_value(cpuc));

	corepmu_handle_overflow(cpuc, overflowed);
	return hweight64(overflowed);
}

/*
 * What is not a plain counter's: Intel PT's interrupt, records of precise events, slots and their
 * parts. Returns the overflows that are left. Not inline, as all that is rare here: the interrupt
 * would save registers for it each time.
 */
static noinline u64 handle_special(const struct x86_desc *desc, struct corepmu_cpu *cpuc,
				   u64 overflowed)
{
	if (overflowed & desc->trace_bit) {
		overflowed &= ~desc->trace_bit;
		corepmu_trace_interrupt();
	}
	if ((overflowed & desc->ds_bit) || cpuc->precise_users)
		overflowed = x86_pebs_overflow(cpuc, overflowed);
	if (overflowed & (desc->metrics_bit | BIT_ULL(SLOTS_COUNTER)))
		overflowed = x86_topdown_overflow(cpuc, overflowed);

	return overflowed;
}

/* Branch records that stand still go on when the status is cleared: see to them before. */
static noinline void acknowledge_branches(const struct x86_desc *desc, struct corepmu_cpu *cpuc,
					  u64 status)
{
	corepmu_branch_acknowledge(cpuc, (status & cpuc->pmu->counters) | x86_pebs_counters(cpuc),
				   status & desc->frozen);
}

/* Returns how many counters overflowed. */
static unsigned int handle_overflows(struct x86_desc *desc, struct corepmu_cpu *cpuc)
{
	unsigned int handled = 0, rounds = 0;
	u64 status, overflowed;

	if (!desc->global_status)
		return handle_by_value(desc, cpuc);

	/*
	 * The counters stand still, but the status may not yet show an overflow that was on its
	 * way when they were stopped. On Intel its interrupt finds the local APIC's entry
	 * masked by this one, and is lost: read until nothing is left. On AMD it raises
	 * an NMI of its own.
	 */
	do {
		status = x86_read_msr(desc->global_status) &
			 (cpuc->pmu->counters | desc->special);
		if (!status)
			break;
		overflowed = status & ~desc->frozen;
		if (unlikely(cpuc->branch_users))
			acknowledge_branches(desc, cpuc, status);
		x86_write_msr(desc->global_clear, status);
		/* The NMI is explained even if the event has been stopped since. */
		handled += hweight64(overflowed);
		if (unlikely(overflowed & desc->special) || unlikely(cpuc->precise_users))
			overflowed = handle_special(desc, cpuc, overflowed);
		corepmu_handle_overflow(cpuc, overflows_of(desc, cpuc, overflowed));
	} while (desc->masks_lvtpc && ++rounds < MAX_ROUNDS);

	return handled;
}

/*
 * Did the counters raise this NMI, even if none shows an overflow? Intel's local APIC
 * masks the LVTPC entry when it delivers one (SDM volume 3, "Local Vector Table").
 */
static bool took_pmi(const struct x86_desc *desc)
{
	return desc->masks_lvtpc && (apic->read(APIC_LVTPC) & APIC_LVT_MASKED);
}

/*
 * AMD's LVTPC entry gives no hint: claim an unexplained NMI within LATE_NMI_MS of the
 * CPU's last overflow, or of the last stop that overtook one.
 */
static noinline bool expects_late_nmi(const struct x86_desc *desc, int cpu)
{
	unsigned long window = msecs_to_jiffies(LATE_NMI_MS);

	return desc->late_nmis &&
	       (time_before_eq(jiffies, per_cpu(last_nmi, cpu) + window) ||
		time_before_eq(jiffies, per_cpu_ptr(desc->pmu->cpu, cpu)->last_late + window));
}

/*
 * Called for every NMI. Returns how many overflows were handled: each of them has raised
 * an NMI, and those raised while one is pending merge into one more at most, which the
 * kernel then does not report as unknown when it finds no overflow left.
 */
static int x86_handle_nmi(unsigned int type, struct pt_regs *regs)
{
	struct corepmu *pmu = x86_this_pmu();
	struct corepmu_cpu *cpuc;
	struct x86_desc *desc;
	unsigned int handled;
	bool ours;

	/* Beside the built-in driver: the counters are its own. */
	if (!pmu || !x86_is_reserved())
		return NMI_DONE;

	desc = to_x86(pmu);
	cpuc = this_cpu_ptr(pmu->cpu);
	corepmu_overflow_begin(cpuc, regs);

	handled = handle_overflows(desc, cpuc);
	ours = handled || took_pmi(desc);

	/*
	 * Unmask the entry while nothing counts: an overflow that finds it masked
	 * would be lost.
	 */
	if (desc->masks_lvtpc && ours)
		apic->write(APIC_LVTPC, APIC_DM_NMI);

	ours = ours || expects_late_nmi(desc, smp_processor_id());
	corepmu_overflow_end(cpuc, ours);

	if (handled) {
		compat_inc_pmi_count();
		this_cpu_write(last_nmi, jiffies);
		return handled;
	}

	return ours ? NMI_HANDLED : NMI_DONE;
}

/**
 * x86_irq_learn() - does an interrupt mask the local APIC's entry?
 * @cpuc: this CPU's state; it has just had an interrupt
 *
 * That of an AMD CPU stays as it is. For guests that were shown one KVM masked it as on Intel at
 * first: kvm_apic_local_deliver() in arch/x86/kvm/lapic.c has a test for that since. The built-in
 * driver unmasks it in each NMI (x86_pmu_handle_irq() in arch/x86/events/core.c). On the CPU,
 * IRQs off.
 */
void x86_irq_learn(struct corepmu_cpu *cpuc)
{
	struct x86_desc *desc = to_x86(cpuc->pmu);

	if (desc->masks_lvtpc || !(apic->read(APIC_LVTPC) & APIC_LVT_MASKED))
		return;

	pr_info("overflow interrupts mask the local APIC's entry, which is not as on AMD's CPUs: a virtual machine?\n");
	desc->masks_lvtpc = true;
	apic->write(APIC_LVTPC, APIC_DM_NMI);
}

/**
 * x86_irq_enable() - have this CPU's counters raise NMIs
 * @cpuc: its state
 *
 * On the CPU.
 */
void x86_irq_enable(struct corepmu_cpu *cpuc)
{
	apic->write(APIC_LVTPC, APIC_DM_NMI);
}

/**
 * x86_irq_disable() - mask this CPU's overflow interrupt
 * @cpuc: its state
 *
 * Beside the built-in driver the entry is left as it is: that driver uses it too. On the
 * CPU.
 */
void x86_irq_disable(struct corepmu_cpu *cpuc)
{
	if (!to_x86(cpuc->pmu)->shares_counters)
		apic->write(APIC_LVTPC, APIC_DM_NMI | APIC_LVT_MASKED);
}

/**
 * x86_describe_status() - which bits of the status are this driver's, besides the plain counters'
 * @desc: the PMU, of which all else is described
 *
 * Intel PT's interrupt is an overflow interrupt whose status says so. Intel PT's driver has no
 * handler of its own: the built-in driver of the counters calls it (handle_pmi_common() in
 * arch/x86/events/intel/core.c), and, where that is not there, this one. Process context.
 */
void x86_describe_status(struct x86_desc *desc)
{
	if (!desc->shares_counters && boot_cpu_has(X86_FEATURE_INTEL_PT) &&
	    corepmu_has_trace_interrupt())
		desc->trace_bit = STATUS_TRACE_TOPA_PMI;
	desc->special = desc->frozen | desc->trace_bit | desc->ds_bit | desc->metrics_bit |
			(desc->pmu->counters & BIT_ULL(SLOTS_COUNTER));
}

/*
 * Called for every NMI after the built-in driver's handler, which does something while Intel PT
 * or branch traces (BTS) are in use (x86_add_exclusive()): it writes 0 to the global register, and
 * what was there only where it has had events of its own on this CPU (intel_pmu_handle_irq() in
 * arch/x86/events/intel/core.c). All counters would stand still for good.
 */
static int restore_after_builtin(unsigned int type, struct pt_regs *regs)
{
	struct corepmu *pmu = x86_this_pmu();

	if (pmu && x86_is_reserved())
		x86_restore_global(this_cpu_ptr(pmu->cpu));

	return NMI_DONE;
}

static bool has_builtin_traces(const struct x86_desc *desc)
{
	return desc->shares_counters && desc->global_ctrl && desc->masks_lvtpc &&
	       (boot_cpu_has(X86_FEATURE_INTEL_PT) || boot_cpu_has(X86_FEATURE_BTS));
}

/**
 * x86_nmi_init() - register the NMI handler
 * @desc: one of the PMUs
 *
 * Process context, when all kinds of CPU are known.
 *
 * Return: 0 or a negative errno
 */
int x86_nmi_init(const struct x86_desc *desc)
{
	int ret;

	/*
	 * The first handler that is called. The built-in driver's, where it is there too and
	 * Intel PT is at work, acknowledges the overflows of all counters
	 * (intel_pmu_handle_irq() in arch/x86/events/intel/core.c).
	 */
	ret = register_nmi_handler(NMI_LOCAL, x86_handle_nmi, NMI_FLAG_FIRST, "corepmu");
	if (ret)
		goto out;
	if (has_builtin_traces(desc)) {
		ret = register_nmi_handler(NMI_LOCAL, restore_after_builtin, 0, "corepmu_last");
		if (ret)
			unregister_nmi_handler(NMI_LOCAL, "corepmu");
	}

out:
	if (ret)
		pr_err("cannot take NMIs (%d)\n", ret);

	return ret;
}

/**
 * x86_nmi_exit() - unregister the NMI handler
 * @desc: one of the PMUs, whose counters are all disabled
 *
 * Waits for NMIs that may still be under way. Process context.
 */
void x86_nmi_exit(struct x86_desc *desc)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (expects_late_nmi(desc, cpu)) {
			msleep(LATE_NMI_MS);
			break;
		}
	}
	if (has_builtin_traces(desc))
		unregister_nmi_handler(NMI_LOCAL, "corepmu_last");
	unregister_nmi_handler(NMI_LOCAL, "corepmu");
}
