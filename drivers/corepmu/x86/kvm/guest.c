// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: AMD hosts that run KVM guests: branch records of the host only
 *
 * HOSTONLY and GUESTONLY are bits of the counters. LbrExtV2 has no such bit: the CPU also records
 * the branches of guests, and the host sees the guests' addresses. So the driver stops recording
 * between KVM's tracepoints kvm_entry and kvm_exit (arch/x86/kvm/svm/svm.c), if an event on the CPU
 * excludes guests. On Intel hosts, the VM entry loads the guest's IA32_DEBUGCTL, and the CPU
 * records nothing; for architectural LBR see vmx-msrs.c.
 *
 * KVM sets PF_VCPU before kvm_entry, and clears the flag after the VM exit, before the task may be
 * preempted. kvm_exit follows:
 * - before PF_VCPU is cleared (6.12, 7.x);
 * - when the task can be preempted, maybe on another CPU (6.1);
 * - not at all, if the state of the vCPU is invalid (7.x).
 * So a guest runs on a CPU only if KVM has reported the entry and not the exit, and if the current
 * task has PF_VCPU.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/irqflags.h>
#include <linux/kconfig.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/sched.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "../../module/kvm-trace.h"
#include "kvm.h"
#include "../lbr/lbr.h"
#include "../msr.h"
#include "../x86.h"

/* KVM has called kvm_entry on this CPU, and kvm_exit has not followed. */
static DEFINE_PER_CPU(bool, has_entered);

/* The probes are registered, or will be when the module kvm is loaded. */
static bool probes_registered;

static void switch_guest(bool enter)
{
	unsigned long flags;
	bool missed_exit;

	local_irq_save(flags);
	missed_exit = enter && this_cpu_read(has_entered);
	this_cpu_write(has_entered, enter);
	/* An NMI from here on finds the new state. */
	barrier();
	amd_lbr_switch_guest(enter, missed_exit);
	local_irq_restore(flags);
}

static void guest_entered(void *data, COMPAT_KVM_ENTRY_ARGS)
{
	switch_guest(true);
}

static void guest_left(void *data, COMPAT_KVM_EXIT_ARGS)
{
	switch_guest(false);
}

/**
 * x86_guest_exit_is_missing() - check whether KVM has left a guest without kvm_exit
 *
 * IRQs off, or NMI.
 *
 * Return: true until x86_guest_update() is called
 */
bool x86_guest_exit_is_missing(void)
{
	return this_cpu_read(has_entered) && !(current->flags & PF_VCPU);
}

/**
 * x86_guest_update() - forget a kvm_entry that has no kvm_exit, see x86_guest_exit_is_missing()
 *
 * IRQs off, or NMI.
 *
 * Return: true if KVM runs a guest on this CPU: between kvm_entry and kvm_exit
 */
bool x86_guest_update(void)
{
	if (x86_guest_exit_is_missing())
		this_cpu_write(has_entered, false);

	return this_cpu_read(has_entered);
}

/**
 * x86_guest_init() - get notified when KVM enters and leaves guests
 * @desc: description of one of the PMUs
 *
 * Process context, before the PMUs are registered.
 */
void __corepmu_init x86_guest_init(const struct x86_desc *desc)
{
	int ret;

	if (!boot_cpu_has(X86_FEATURE_SVM) || !desc->pmu->nr_branches)
		return;

	ret = corepmu_kvm_trace_init(guest_entered, guest_left);
	probes_registered = !ret;
	if (ret && IS_ENABLED(CONFIG_KVM))
		pr_notice("no probe on KVM's tracepoints (%d): branch records also show guests; use a kernel with CONFIG_TRACEPOINTS\n",
			  ret);
}

/**
 * x86_guest_exit() - undo x86_guest_init()
 *
 * Process context, after all PMUs have been unregistered.
 */
void x86_guest_exit(void)
{
	if (!probes_registered)
		return;

	corepmu_kvm_trace_exit();
	probes_registered = false;
}
