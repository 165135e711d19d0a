// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of KVM on AMD's CPUs: EFER.SVME, guests, and the functions that the driver probes
 */
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "access.h"
#include "models/tracepoint.h"

/* EFER.SVME of all CPUs */
bool x86_model_svm;

/* The kernel has no kprobes. */
bool x86_model_no_kprobes;

static struct kprobe **probes;
static int nr_probes;

/**
 * x86_model_register_kprobes() - register_kprobes()
 * @list: the probes
 * @nr: number of probes
 *
 * Return: 0 or a negative errno
 */
int x86_model_register_kprobes(struct kprobe **list, int nr)
{
	if (x86_model_no_kprobes)
		return -ENOENT;

	probes = list;
	nr_probes = nr;
	return 0;
}

/**
 * x86_model_unregister_kprobes() - unregister_kprobes()
 * @list: the probes
 * @nr: number of probes
 */
void x86_model_unregister_kprobes(struct kprobe **list, int nr)
{
	probes = NULL;
	nr_probes = 0;
}

/**
 * x86_model_switch_svm() - KVM starts or stops running guests on this CPU
 * @on: true: KVM starts
 *
 * As svm_enable_virtualization_cpu() and svm_disable_virtualization_cpu() in
 * arch/x86/kvm/svm/svm.c: KVM writes the register first.
 */
void x86_model_switch_svm(bool on)
{
	const char *name = on ? "amd_pmu_enable_virt" : "amd_pmu_disable_virt";

	x86_model_svm = on;
	for (int i = 0; i < nr_probes; i++)
		if (!strcmp(probes[i]->symbol_name, name))
			probes[i]->pre_handler(probes[i], NULL);
}

/**
 * x86_model_enter_guest() - KVM enters a guest on this CPU
 *
 * As vcpu_enter_guest() in arch/x86/kvm/x86.c: KVM sets PF_VCPU first.
 */
void x86_model_enter_guest(void)
{
	void (*entered)(void *data, struct kvm_vcpu *vcpu, bool force_immediate_exit) =
		tracepoint_model_probe("kvm_entry");

	current->flags |= PF_VCPU;
	if (entered)
		entered(NULL, NULL, false);
}

/**
 * x86_model_end_guest() - KVM clears PF_VCPU
 */
void x86_model_end_guest(void)
{
	current->flags &= ~PF_VCPU;
}

/**
 * x86_model_trace_exit() - KVM reports that it has left a guest
 */
void x86_model_trace_exit(void)
{
	void (*left)(void *data, struct kvm_vcpu *vcpu, u32 isa) =
		tracepoint_model_probe("kvm_exit");

	if (left)
		left(NULL, NULL, 2);
}
