// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: the overflow interrupt (PMI), an NMI from the local APIC
 *
 * The handler stops the PMU and handles the overflows in the status register, or those that the
 * counters' sign bits show. It unmasks LVTPC while nothing counts (on Intel an overflow during the
 * mask is lost), and starts the PMU. The handler returns the number of overflows, see
 * x86_handle_nmi(). It also claims some NMIs without an overflow. On Intel a masked LVTPC
 * identifies a PMI. On AMD a PMI leaves no trace and may come after its overflow has been handled.
 * The handler claims such NMIs for 100 ms after an overflow. It also claims them for 100 ms after a
 * stop that came between an overflow and its NMI.
 *
 * Intel PT uses the same interrupt and has no handler. The built-in driver calls
 * intel_pt_interrupt() if the status says so (Trace_ToPA_PMI), unless KVM takes the interrupt for a
 * guest. In replace mode this driver does the same. In coexist mode, or if the kernel lacks that
 * function, this driver leaves the bit alone.
 *
 * The PMU intel_bts uses the same interrupt, too, without a status bit. The built-in driver asks
 * intel_bts in every NMI, and pauses the branch trace meanwhile (intel_pmu_handle_irq()). In
 * replace mode this driver does the same.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <corepmu/branch.h>
#include <corepmu/module.h>
#include <corepmu/overflow.h>
#include <corepmu/pmu.h>

#include "amd/amd.h"
#include "intel/intel.h"
#include "msr.h"
#include "pebs/precise.h"
#include "x86.h"

/* Maximum number of status reads in one NMI: a faulty status bit may never clear. */
#define MAX_ROUNDS	16

/*
 * AMD: an NMI may arrive after its overflow has been handled, by the NMI before it or by a stop of
 * the event. For this long after either, the driver claims an NMI that no counter explains, so that
 * the kernel does not report an unknown NMI.
 */
#define LATE_NMI_MS	100

static DEFINE_PER_CPU(unsigned long, last_nmi);

/*
 * CPUs without a status register: the top bit of a counter is set when the counter is started, and
 * clear after the overflow.
 */
static u64 overflowed_by_value(struct corepmu_cpu *cpuc)
{
	u64 active, overflowed = 0;

	for (active = cpuc->active; active; active &= active - 1) {
		int idx = __ffs64(active);

		/* The odd counter of a merged pair has the upper bits of the even one. */
		if (cpuc->selected[idx] == EVNTSEL_AMD_MERGE)
			continue;
		if (!(x86_rdpmc(idx) & BIT_ULL(cpuc->pmu->width[idx] - 1)))
			overflowed |= BIT_ULL(idx);
	}

	return overflowed;
}

/* Replace the even counter of each merged pair in @overflowed by the odd one. */
static u64 merged_overflows(const struct corepmu_cpu *cpuc, u64 overflowed)
{
	u64 left = overflowed & (cpuc->pmu->pair_counters >> 1);

	for (; left; left &= left - 1) {
		u64 even = left & -left;

		if (amd_is_merged(cpuc, __ffs64(even)))
			overflowed = (overflowed & ~even) | even << 1;
	}

	return overflowed;
}

static noinline unsigned int handle_by_value(struct x86_desc *desc, struct corepmu_cpu *cpuc)
{
	u64 overflowed = overflowed_by_value(cpuc);

	if (unlikely(overflowed & READ_ONCE(desc->special)))
		overflowed = merged_overflows(cpuc, overflowed);
	corepmu_handle_overflow(cpuc, overflowed);
	return hweight64(overflowed);
}

/*
 * Handle the status bits that are not overflows of a plain counter: Intel PT, PEBS, topdown, and
 * merged pairs. Returns the remaining overflows. Not inline: otherwise the interrupt would save
 * registers for this rare code each time.
 */
static noinline u64 handle_special(const struct x86_desc *desc, struct corepmu_cpu *cpuc,
				   u64 overflowed)
{
	if (overflowed & desc->trace_bit) {
		overflowed &= ~desc->trace_bit;
		corepmu_trace_interrupt();
	}
	if ((overflowed & desc->ds_bit) || corepmu_uses(cpuc, COREPMU_FEATURE_PRECISE))
		overflowed = x86_pebs_overflow(cpuc, overflowed);
	if (!overflowed)
		return 0;
	if (overflowed & (desc->metrics_bit | BIT_ULL(SLOTS_COUNTER)))
		overflowed = x86_topdown_overflow(cpuc, overflowed);

	return merged_overflows(cpuc, overflowed);
}

/*
 * Count the overflows in @overflowed that raised an interrupt. A precise counter's own bit raises
 * none: Skylake sets it before the CPU writes the record (handle_pmi_common() in
 * arch/x86/events/intel/core.c).
 */
static noinline unsigned int count_interrupts(struct corepmu_cpu *cpuc, u64 overflowed)
{
	return hweight64(overflowed & ~x86_precise_counters(cpuc));
}

/* Clearing the status ends the freeze of branch records: save the records before. */
static noinline void acknowledge_branches(const struct x86_desc *desc, struct corepmu_cpu *cpuc,
					  u64 status)
{
	u64 overflowed = (status & cpuc->pmu->counters) | x86_precise_counters(cpuc);

	corepmu_branch_acknowledge(cpuc, overflowed, status & desc->frozen);
	x86_write_msr(desc->global_clear, status);
}

/* Handle the overflows of all counters. Return the number of those that raised an interrupt. */
static unsigned int handle_overflows(struct x86_desc *desc, struct corepmu_cpu *cpuc)
{
	unsigned int handled = 0, rounds = 0;
	u64 status, overflowed;

	if (!desc->global_status)
		return handle_by_value(desc, cpuc);

	/*
	 * The counters are stopped, but the status may not yet show an overflow that
	 * happened just before. On Intel this PMI has masked LVTPC, so the late overflow
	 * raises no PMI of its own and would be lost: read the status until it is 0. On AMD
	 * a late overflow raises its own NMI.
	 */
	do {
		status = x86_read_msr_inline(desc->global_status) &
			 (cpuc->pmu->counters | desc->special);
		if (!status)
			break;
		/*
		 * Overflows of events without features. An overflow explains the NMI even if its
		 * event has been stopped since.
		 */
		if (likely(!(status & READ_ONCE(desc->special)) && !cpuc->features) &&
		    !x86_msr_writes_are_traced()) {
			x86_write_msr_untraced(desc->global_clear, status);
			handled += hweight64(status);
			corepmu_handle_overflow(cpuc, status);
			continue;
		}
		overflowed = status & ~desc->frozen;
		if (unlikely(corepmu_uses(cpuc, COREPMU_FEATURE_BRANCHES)))
			acknowledge_branches(desc, cpuc, status);
		else
			x86_write_msr_inline(desc->global_clear, status);
		if ((overflowed & READ_ONCE(desc->special)) ||
		    corepmu_uses(cpuc, COREPMU_FEATURE_PRECISE)) {
			/* PEBS alone needs no other check of handle_special(). */
			if (overflowed == desc->ds_bit) {
				handled++;
				overflowed = x86_pebs_overflow(cpuc, overflowed);
			} else {
				handled += count_interrupts(cpuc, overflowed);
				overflowed = handle_special(desc, cpuc, overflowed);
			}
			if (!overflowed)
				continue;
		} else {
			handled += hweight64(overflowed);
		}
		corepmu_handle_overflow(cpuc, overflowed);
	} while (desc->masks_lvtpc && ++rounds < MAX_ROUNDS);

	return handled;
}

/*
 * Check whether the counters raised this NMI although no status shows an overflow. Intel's local
 * APIC masks LVTPC when it delivers a PMI (SDM volume 3, "Local Vector Table").
 */
static bool took_pmi(const struct x86_desc *desc)
{
	return desc->masks_lvtpc && (apic->read(APIC_LVTPC) & APIC_LVT_MASKED);
}

/*
 * AMD's local APIC does not mask LVTPC: claim an unexplained NMI within LATE_NMI_MS of the CPU's
 * last overflow, or of the last stop that overtook an overflow.
 */
static noinline bool expects_late_nmi(const struct x86_desc *desc, int cpu)
{
	unsigned long window = msecs_to_jiffies(LATE_NMI_MS);

	return desc->late_nmis &&
	       (time_before_eq(jiffies, per_cpu(last_nmi, cpu) + window) ||
		time_before_eq(jiffies, per_cpu_ptr(desc->pmu->cpu, cpu)->last_late + window));
}

/* An NMI calls this while the counters are stopped: an overflow while LVTPC is masked is lost. */
static void unmask_lvtpc(void)
{
	apic->write(APIC_LVTPC, COMPAT_LVTPC_NMI);
}

/* End an NMI in which no status shows an overflow. Return NMI_HANDLED if the NMI is the PMU's. */
static noinline int end_without_overflow(const struct x86_desc *desc, struct corepmu_cpu *cpuc)
{
	bool ours = took_pmi(desc);

	if (ours)
		unmask_lvtpc();
	else
		ours = expects_late_nmi(desc, smp_processor_id());
	corepmu_overflow_end(cpuc, ours, false);

	return ours ? NMI_HANDLED : NMI_DONE;
}

/*
 * Check whether KVM has loaded a guest's values into the counters' registers (mediated vPMU, Linux
 * 7). Before the load, perf core schedules all events out and sets LVTPC to an interrupt that is no
 * NMI. So an NMI has another source, and the handlers must not change the registers;
 * perf_event_nmi_handler() in arch/x86/events/core.c does not, either.
 */
static bool has_guest_values(const struct x86_desc *desc, const struct corepmu_cpu *cpuc)
{
	return !cpuc->used && desc->shares_counters &&
	       (apic->read(APIC_LVTPC) & APIC_MODE_MASK) != APIC_DM_NMI;
}

/*
 * Called for every NMI. Returns the number of overflows. Each overflow has raised an NMI, but NMIs
 * that come while one is pending merge into one. A number above 1 tells the kernel that the pending
 * NMI may find no overflow left: the kernel then does not report that NMI as unknown.
 */
static int x86_handle_nmi(unsigned int type, struct pt_regs *regs)
{
	struct corepmu *pmu = x86_this_pmu();
	struct corepmu_cpu *cpuc;
	struct x86_desc *desc;
	unsigned int handled;

	/*
	 * If the built-in driver is present: without a reservation, the counters are that driver's.
	 */
	if (!pmu || !x86_is_reserved())
		return NMI_DONE;

	desc = to_x86(pmu);
	cpuc = this_cpu_ptr(pmu->cpu);
	if (has_guest_values(desc, cpuc))
		return NMI_DONE;
	corepmu_overflow_begin(cpuc, regs);

	handled = handle_overflows(desc, cpuc);
	if (unlikely(!handled))
		return end_without_overflow(desc, cpuc);

	if (desc->masks_lvtpc)
		unmask_lvtpc();
	corepmu_overflow_end(cpuc, true, true);
	compat_inc_pmi_count();
	this_cpu_write(last_nmi, jiffies);

	return handled;
}

/*
 * In place of x86_handle_nmi() where intel_bts may trace. An overflow and a full trace buffer count
 * as one: the first masks LVTPC, so that the second raises no NMI of its own.
 */
static int handle_nmi_with_bts(unsigned int type, struct pt_regs *regs)
{
	int traced, handled;

	corepmu_bts_pause();
	traced = corepmu_bts_interrupt();
	handled = x86_handle_nmi(type, regs);
	corepmu_bts_resume();

	return handled ?: traced;
}

/**
 * x86_irq_learn() - check whether a PMI has masked LVTPC, and then unmask LVTPC in every NMI
 * @cpuc: state of this CPU, which has just had a PMI
 *
 * A PMI masks LVTPC on Intel hardware, not on AMD hardware. Older KVM masks LVTPC in every guest;
 * today kvm_apic_local_deliver() in arch/x86/kvm/lapic.c excepts guests with an AMD CPU.
 * The built-in driver unmasks LVTPC in every NMI (x86_pmu_handle_irq() in arch/x86/events/core.c).
 * On the CPU, IRQs off.
 */
void x86_irq_learn(struct corepmu_cpu *cpuc)
{
	struct x86_desc *desc = to_x86(cpuc->pmu);

	if (!(apic->read(APIC_LVTPC) & APIC_LVT_MASKED))
		return;

	/* All CPUs self-test at the same time: each unmasks its LVTPC, the first one logs. */
	if (!xchg(&desc->masks_lvtpc, true))
		pr_info("LVTPC is masked by a PMI, unlike on AMD hardware (hypervisor?): unmasking it in every NMI\n");
	unmask_lvtpc();
}

/**
 * x86_irq_enable() - unmask this CPU's overflow interrupt, as an NMI
 * @cpuc: state of this CPU
 *
 * On the CPU.
 */
void x86_irq_enable(struct corepmu_cpu *cpuc)
{
	unmask_lvtpc();
}

/**
 * x86_irq_disable() - mask this CPU's overflow interrupt
 * @cpuc: state of this CPU
 *
 * If the built-in driver is present, it uses LVTPC too, and LVTPC stays unmasked. On the CPU.
 */
void x86_irq_disable(struct corepmu_cpu *cpuc)
{
	if (!to_x86(cpuc->pmu)->shares_counters)
		apic->write(APIC_LVTPC, COMPAT_LVTPC_NMI | APIC_LVT_MASKED);
}

/**
 * x86_describe_status() - set desc->trace_bit and desc->special
 * @desc: the PMU description; all other members are set
 *
 * For trace_bit see the head of this file, and handle_pmi_common() in arch/x86/events/intel/core.c.
 * Process context.
 */
void __corepmu_init x86_describe_status(struct x86_desc *desc)
{
	if (!desc->shares_counters && boot_cpu_has(X86_FEATURE_INTEL_PT) &&
	    corepmu_has_trace_interrupt())
		desc->trace_bit = STATUS_TRACE_TOPA_PMI;
	desc->special = desc->frozen | desc->trace_bit | desc->ds_bit | desc->metrics_bit |
			(desc->pmu->counters & BIT_ULL(SLOTS_COUNTER));
}

/*
 * Called for every NMI, after the built-in driver's handler. While Intel PT or branch traces (BTS)
 * are in use (x86_add_exclusive()), that handler writes 0 to the global control register. It
 * restores the old value only if it has had events of its own on this CPU (intel_pmu_handle_irq()
 * in arch/x86/events/intel/core.c). Without this function, all counters would then stay stopped.
 */
static int restore_after_builtin(unsigned int type, struct pt_regs *regs)
{
	struct corepmu *pmu = x86_this_pmu();

	if (pmu && x86_is_reserved() && !has_guest_values(to_x86(pmu), this_cpu_ptr(pmu->cpu)))
		x86_write_msr(to_x86(pmu)->global_ctrl, x86_each_global_ctrl(to_x86(pmu)));

	return NMI_DONE;
}

static bool has_builtin_traces(const struct x86_desc *desc)
{
	return desc->shares_counters && desc->global_ctrl && desc->masks_lvtpc &&
	       (boot_cpu_has(X86_FEATURE_INTEL_PT) || boot_cpu_has(X86_FEATURE_BTS));
}

/* With page table isolation bts_init() in arch/x86/events/intel/bts.c makes no PMU. */
static bool __corepmu_init passes_bts_on(const struct x86_desc *desc)
{
	return !desc->shares_counters && boot_cpu_has(X86_FEATURE_BTS) &&
	       !boot_cpu_has(X86_FEATURE_PTI) && corepmu_has_bts_interrupt();
}

/**
 * x86_nmi_init() - register the NMI handler
 * @desc: description of one of the PMUs
 *
 * Process context, when all CPU types are known.
 *
 * Return: 0 or a negative errno
 */
int __corepmu_init x86_nmi_init(const struct x86_desc *desc)
{
	int ret;

	/*
	 * Run first: while Intel PT is in use, the built-in driver's handler, if present,
	 * acknowledges the overflows of all counters (intel_pmu_handle_irq() in
	 * arch/x86/events/intel/core.c).
	 */
	if (passes_bts_on(desc))
		ret = compat_register_pmi_handler(handle_nmi_with_bts, NMI_FLAG_FIRST, "corepmu");
	else
		ret = compat_register_pmi_handler(x86_handle_nmi, NMI_FLAG_FIRST, "corepmu");
	if (ret)
		goto out;
	if (has_builtin_traces(desc)) {
		ret = compat_register_pmi_handler(restore_after_builtin, 0, "corepmu_last");
		if (ret)
			unregister_nmi_handler(NMI_LOCAL, "corepmu");
	}

out:
	if (ret)
		pr_err("cannot register an NMI handler (%d): report this fault of corepmu\n", ret);

	return ret;
}

/**
 * x86_nmi_exit() - unregister the NMI handler
 * @desc: description of one of the PMUs; all counters are disabled
 *
 * Waits for late NMIs. Process context.
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
