// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: precise samples of Intel's CPUs when KVM takes a CPU on
 *
 * While a CPU is in a guest it writes records to the same linear address of that, so that there are
 * none on a CPU that can run guests: pebs_start() looks at CR4. But nothing starts the PMU of a
 * CPU when KVM takes it on. KVM tells Intel PT's driver right before VMXON, and after VMXOFF,
 * by intel_pt_handle_vmx() (arch/x86/kvm/vmx/vmx.c, from 7.x on arch/x86/virt/hw.c): a kprobe on
 * it tells this one. Architectural records are written to physical memory, not into the guest. But
 * KVM leaves the counters on in guests, and the records would be of guest instructions: events
 * with such records are rejected, too.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/ptrace.h>

#include <corepmu/pmu.h>

#include "msr.h"
#include "pebs.h"
#include "x86.h"

DEFINE_PER_CPU(bool, x86_vmx_begins);

static bool is_told;

/**
 * x86_vmx_change() - this CPU begins to be one that can run guests, or no longer is
 * @on: it begins: CR4 does not say so yet
 *
 * From a kprobe: in KVM's context or as an NMI, on that CPU.
 */
void x86_vmx_change(bool on)
{
	struct corepmu *pmu = x86_this_pmu();
	struct corepmu_cpu *cpuc;
	unsigned long flags;

	local_irq_save(flags);
	this_cpu_write(x86_vmx_begins, on);
	if (pmu && x86_is_reserved()) {
		cpuc = this_cpu_ptr(pmu->cpu);
		if (cpuc->running && cpuc->precise_users) {
			corepmu_stop_cpu(cpuc);
			corepmu_start_cpu(cpuc);
		}
	}
	local_irq_restore(flags);
}

static int handle_vmx(struct kprobe *probe, struct pt_regs *regs)
{
	x86_vmx_change((int)regs_get_kernel_argument(regs, 0));
	return 0;
}

static struct kprobe vmx_probe = {
	.symbol_name	= "intel_pt_handle_vmx",
	.pre_handler	= handle_vmx,
};

static struct kprobe *vmx_probes[] = { &vmx_probe };

/**
 * x86_vmx_init() - be told when KVM takes CPUs on, and when it gives them up
 * @desc: one of the PMUs
 *
 * Process context, before the PMUs are registered.
 */
void x86_vmx_init(const struct x86_desc *desc)
{
	int ret;

	if (!boot_cpu_has(X86_FEATURE_VMX) || !desc->ds_bit ||
	    desc->pebs_format == PEBS_FORMAT_ARCH)
		return;

	ret = register_kprobes(vmx_probes, ARRAY_SIZE(vmx_probes));
	is_told = !ret;
	if (ret)
		pr_notice("cannot find out when KVM runs guests (%d): close precise events before\n",
			  ret);
}

/**
 * x86_vmx_exit() - undo x86_vmx_init()
 *
 * Process context, when no PMU is registered any more.
 */
void x86_vmx_exit(void)
{
	if (!is_told)
		return;

	unregister_kprobes(vmx_probes, ARRAY_SIZE(vmx_probes));
	is_told = false;
}
