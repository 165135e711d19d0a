// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: counters that KVM switches between an Intel host and its guests
 *
 * Before each VM entry KVM asks perf_guest_get_msrs() which registers the CPU must load at the
 * entry and at the exit (atomic_switch_perf_msrs() in arch/x86/kvm/vmx/vmx.c). The question is a
 * static call. Only the built-in driver answers it (intel_guest_get_msrs() in
 * arch/x86/events/intel/core.c): without it, counters run on in guests. This driver answers in its
 * place when it replaces the built-in driver.
 *
 * The built-in driver's GLOBAL_CTRL is constant; this driver's is corepmu_cpu.active. KVM asks with
 * IRQs off. An NMI may then throttle an event before the VM entry, and the VM exit loads the old
 * value: the event's counter runs until the next write of GLOBAL_CTRL. Its counts are ignored, as
 * the event is stopped, and the event's next start sets the counter.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/static_call.h>

#include <asm/perf_event.h>

#include <corepmu/pmu.h>

#include "../msr.h"
#include "../x86.h"

static DEFINE_PER_CPU(struct perf_guest_switch_msr, switched_msr);
static struct x86_claimed_call guest_msrs;

/* From KVM, IRQs off. A guest has no PMU in replace mode: @guest_pmu has nothing to tell. */
static struct perf_guest_switch_msr *guest_get_msrs(int *nr, void *guest_pmu)
{
	struct perf_guest_switch_msr *msr = this_cpu_ptr(&switched_msr);
	struct corepmu *pmu = x86_this_pmu();
	const struct corepmu_cpu *cpuc;
	u64 active, guest;

	/* KVM stops to switch a register whose two values are the same. */
	*msr = (struct perf_guest_switch_msr){ .msr = MSR_CORE_PERF_GLOBAL_CTRL };
	*nr = 1;
	if (!pmu)
		return msr;

	cpuc = this_cpu_ptr(pmu->cpu);
	active = READ_ONCE(cpuc->running) ? READ_ONCE(cpuc->active) : 0;
	/* A record would be written to the guest's memory, or would show the guest. */
	guest = active & ~x86_pebs_counters(cpuc);
	msr->host = x86_global_ctrl(active & ~x86_guest_only(cpuc, active));
	msr->guest = x86_global_ctrl(guest & ~x86_host_only(cpuc, guest));

	return msr;
}

/**
 * x86_vmx_msrs_init() - have KVM switch counters between host and guests
 * @desc: one of the PMUs
 *
 * Process context, before the PMUs are registered.
 *
 * Return: false beside the built-in driver, without GLOBAL_CTRL, or if the kernel hides the call
 */
bool x86_vmx_msrs_init(const struct x86_desc *desc)
{
	return desc->pmu->backend == &x86_global_backend &&
	       x86_claim_call(&guest_msrs, STATIC_CALL_KEY_STR(x86_pmu_guest_get_msrs),
			      STATIC_CALL_TRAMP_STR(x86_pmu_guest_get_msrs), guest_get_msrs);
}

/**
 * x86_vmx_msrs_exit() - undo x86_vmx_msrs_init()
 *
 * A vCPU that has not run since the last event was closed still loads an old GLOBAL_CTRL. No event
 * select is enabled then, so that no counter counts. Process context.
 */
void x86_vmx_msrs_exit(void)
{
	x86_release_call(&guest_msrs);
}
