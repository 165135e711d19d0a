// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel hosts that run KVM guests
 *
 * If vmx-msrs.c can take over the static call, KVM switches the counters at VM entry and exit. Then
 * exclude_guest and exclude_host work, and no PEBS record is written in a guest.
 *
 * Otherwise a CPU that runs a guest would write PEBS records to the same linear address of the
 * guest. So pebs_start() reads CR4 and enables no PEBS on a CPU with VMX enabled. But KVM may
 * enable VMX while the PMU runs, and nothing starts the PMU then. KVM calls intel_pt_handle_vmx()
 * right before VMXON and after VMXOFF (arch/x86/kvm/vmx/vmx.c, from 7.x on arch/x86/virt/hw.c), and
 * this driver has a kprobe there. Architectural PEBS writes to physical memory, but its records
 * would show instructions of guests: such events are rejected too.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/ptrace.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "kvm.h"
#include "../msr.h"
#include "../pebs/precise.h"
#include "../x86.h"

DEFINE_PER_CPU(bool, x86_vmx_is_enabling);

bool x86_vmx_switches;

static bool has_probe;

static u64 find_counters_excluding(const struct corepmu_cpu *cpuc, u64 counters, bool host)
{
	u64 excluded = 0;

	for (; counters; counters &= counters - 1) {
		int idx = __ffs64(counters);
		const struct perf_event *event = cpuc->events[idx];

		if (event && (host ? event->attr.exclude_host : event->attr.exclude_guest))
			excluded |= BIT_ULL(idx);
	}

	return excluded;
}

/**
 * x86_vmx_guest_counters() - return the counters of events that exclude the host
 * @cpuc: this CPU's state
 * @counters: counters with an event
 *
 * IRQs off, or NMI.
 *
 * Return: a bit for each counter
 */
u64 x86_vmx_guest_counters(const struct corepmu_cpu *cpuc, u64 counters)
{
	return find_counters_excluding(cpuc, counters, true);
}

/**
 * x86_vmx_host_counters() - return the counters of events that exclude guests
 * @cpuc: this CPU's state
 * @counters: counters with an event
 *
 * IRQs off, or NMI.
 *
 * Return: a bit for each counter
 */
u64 x86_vmx_host_counters(const struct corepmu_cpu *cpuc, u64 counters)
{
	return find_counters_excluding(cpuc, counters, false);
}

/**
 * x86_vmx_restart_pebs() - restart PEBS since KVM is enabling VMX on this CPU or has disabled it
 * @on: KVM is about to enable VMX; CR4.VMXE is not yet set
 *
 * From a kprobe: in KVM's context or as an NMI, on that CPU.
 */
void x86_vmx_restart_pebs(bool on)
{
	struct corepmu *pmu = x86_this_pmu();
	struct corepmu_cpu *cpuc;
	unsigned long flags;

	local_irq_save(flags);
	this_cpu_write(x86_vmx_is_enabling, on);
	if (pmu && x86_is_reserved()) {
		cpuc = this_cpu_ptr(pmu->cpu);
		if (corepmu_uses(cpuc, COREPMU_FEATURE_PRECISE))
			corepmu_resume_cpu(cpuc, corepmu_pause_cpu(cpuc));
	}
	local_irq_restore(flags);
}

static int handle_vmx(struct kprobe *probe, struct pt_regs *regs)
{
	x86_vmx_restart_pebs((int)regs_get_kernel_argument(regs, 0));
	return 0;
}

static struct kprobe vmx_probe = {
	.symbol_name	= "intel_pt_handle_vmx",
	.pre_handler	= handle_vmx,
};

static struct kprobe *vmx_probes[] = { &vmx_probe };

/**
 * x86_vmx_init() - let KVM switch the counters, or else get notified when KVM enables VMX on a CPU
 * @desc: description of one of the PMUs
 *
 * Process context, before the PMUs are registered.
 */
void __corepmu_init x86_vmx_init(const struct x86_desc *desc)
{
	int ret;

	if (!boot_cpu_has(X86_FEATURE_VMX))
		return;

	x86_vmx_switches = x86_vmx_msrs_init(desc);
	if (!x86_vmx_switches)
		pr_notice("KVM does not switch counters for guests: exclude_guest has no effect; see \"KVM guests\" in the admin guide\n");
	if (x86_vmx_switches || !desc->ds_bit || desc->pebs_format == PEBS_FORMAT_ARCH)
		return;

	ret = register_kprobes(vmx_probes, ARRAY_SIZE(vmx_probes));
	has_probe = !ret;
	if (ret)
		pr_notice("no kprobe on intel_pt_handle_vmx() (%d): close precise events before KVM starts\n",
			  ret);
}

/**
 * x86_vmx_exit() - undo x86_vmx_init()
 *
 * Process context, after all PMUs have been unregistered.
 */
void x86_vmx_exit(void)
{
	if (has_probe)
		unregister_kprobes(vmx_probes, ARRAY_SIZE(vmx_probes));
	has_probe = false;
	if (x86_vmx_switches)
		x86_vmx_msrs_exit();
	x86_vmx_switches = false;
}
