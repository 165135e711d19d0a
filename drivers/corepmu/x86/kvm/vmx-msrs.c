// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel hosts: counters that KVM switches at VM entry and exit
 *
 * Before each VM entry KVM calls perf_guest_get_msrs() for the registers that the CPU loads at the
 * entry and at the exit (atomic_switch_perf_msrs() in arch/x86/kvm/vmx/vmx.c). The function is a
 * static call, which only the built-in driver answers (intel_guest_get_msrs() in
 * arch/x86/events/intel/core.c). Without an answer, counters keep counting in guests. So this
 * driver answers the call when it replaces the built-in driver.
 *
 * With the built-in driver, the host's value of GLOBAL_CTRL is constant. With this driver the value
 * is corepmu_cpu.active, which changes. KVM asks with IRQs off. If an NMI then throttles an event
 * before the VM entry, the VM exit loads the old value: the event's counter runs until the next
 * write of GLOBAL_CTRL. The driver ignores these counts: the event is stopped, and its next start
 * sets the counter.
 *
 * Before Ice Lake and Tremont, the record of a counter that GLOBAL_CTRL has disabled may still be
 * written after the VM entry. The record then goes to the guest's memory, at the same linear
 * address. So on these CPUs KVM also disables PEBS, and waits for the record
 * (add_atomic_switch_msr()). The built-in driver omits this on Skylake with newer microcode
 * (pebs_no_isolation).
 *
 * Architectural LBR would record the guest's branches: the VM entry loads IA32_DEBUGCTL, but
 * IA32_LBR_CTL enables the recording. KVM does not use the controls that load and clear
 * IA32_LBR_CTL (SDM volume 3, "VM-Entry Controls" and "VM-Exit Controls"). So KVM also switches
 * IA32_LBR_CTL.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/static_call.h>

#include <asm/perf_event.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "../../module/static-call.h"
#include "kvm.h"
#include "../lbr/lbr.h"
#include "../msr.h"
#include "../pebs/precise.h"
#include "../x86.h"

/* KVM's list: GLOBAL_CTRL, IA32_PEBS_ENABLE if switches_pebs, IA32_LBR_CTL if switches_lbr */
static DEFINE_PER_CPU(struct perf_guest_switch_msr [3], switched_msrs);
static bool switches_pebs, switches_lbr;
static struct corepmu_claimed_call guest_msrs;

/* Add a register that is 0 in guests. */
static void add_msr(struct perf_guest_switch_msr *msrs, int *nr, u32 msr, u64 host)
{
	msrs[(*nr)++] = (struct perf_guest_switch_msr){ .msr = msr, .host = host };
}

/* From KVM, IRQs off. Guests have no PMU while corepmu is the only driver: @guest_pmu is unused. */
static struct perf_guest_switch_msr *guest_get_msrs(int *nr, void *guest_pmu)
{
	struct perf_guest_switch_msr *msr = *this_cpu_ptr(&switched_msrs);
	struct corepmu *pmu = x86_this_pmu();
	const struct corepmu_cpu *cpuc = pmu ? this_cpu_ptr(pmu->cpu) : NULL;
	u64 active, guest;

	/* KVM does not switch a register whose two values are the same. */
	*nr = 0;
	add_msr(msr, nr, MSR_CORE_PERF_GLOBAL_CTRL, 0);
	if (switches_pebs)
		add_msr(msr, nr, MSR_IA32_PEBS_ENABLE, x86_pebs_enabled());
	if (switches_lbr)
		add_msr(msr, nr, MSR_ARCH_LBR_CTL, cpuc ? x86_lbr_arch_ctl(cpuc) : 0);
	if (!cpuc)
		return msr;

	active = READ_ONCE(cpuc->running) ? READ_ONCE(cpuc->active) : 0;
	/*
	 * Disable PEBS counters in guests: a record would be written to the guest's memory, or show
	 * the guest.
	 */
	guest = active & ~x86_precise_counters(cpuc);
	msr->host = x86_global_ctrl(active & ~x86_vmx_guest_counters(cpuc, active));
	msr->guest = x86_global_ctrl(guest & ~x86_vmx_host_counters(cpuc, guest));

	return msr;
}

/**
 * x86_vmx_msrs_init() - take over the static call, so that KVM switches the counters
 * @desc: description of one of the PMUs
 *
 * Process context, before the PMUs are registered.
 *
 * Return: false if the built-in driver is present, without GLOBAL_CTRL, or if the kernel hides the
 *	static call
 */
bool __corepmu_init x86_vmx_msrs_init(const struct x86_desc *desc)
{
	/* @desc may be any PMU: no CPU type of a hybrid machine has this old format. */
	switches_pebs = desc->pebs_format == PEBS_FORMAT_SKYLAKE;
	/* Even if the PMU of @desc has no branch records, another PMU may have them. */
	switches_lbr = boot_cpu_has(X86_FEATURE_ARCH_LBR);

	x86_pebs_avoids_guests = x86_is_global(desc) &&
		corepmu_claim_call(&guest_msrs, STATIC_CALL_KEY_STR(x86_pmu_guest_get_msrs),
				   STATIC_CALL_TRAMP_STR(x86_pmu_guest_get_msrs), guest_get_msrs);

	return x86_pebs_avoids_guests;
}

/**
 * x86_vmx_msrs_exit() - undo x86_vmx_msrs_init()
 *
 * A vCPU that has not run since the last event was closed still loads old values. No counter
 * counts then, since no event selection is enabled. The LBR may record, but no event reads its
 * records. Process context.
 */
void x86_vmx_msrs_exit(void)
{
	x86_pebs_avoids_guests = false;
	corepmu_release_call(&guest_msrs);
}
