// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of KVM (arm64): VM entry and exit
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/string.h>

#include "access.h"
#include "models/tracepoint.h"

/* The kernel has KVM. */
bool pmuv3_model_has_kvm;

/**
 * pmuv3_model_enter_guest() - enter or leave a guest on this CPU
 * @enter: true: KVM enters the guest
 *
 * arch/arm64/kvm/trace_arm.h declares the arguments of the tracepoints.
 */
void pmuv3_model_enter_guest(bool enter)
{
	void (*entry)(void *data, unsigned long vcpu_pc) = tracepoint_model_probe("kvm_entry");
	void (*leave)(void *data, int ret, unsigned int esr_ec, unsigned long vcpu_pc) =
		tracepoint_model_probe("kvm_exit");

	if (enter && entry)
		entry(NULL, 0x40000000);
	if (!enter && leave)
		leave(NULL, 0, 0, 0x40000000);
}

/* PMUSERENR_EL0 */

/*
 * ARMV8_PMU_USERENR_MASK of Linux 6.12 (include/linux/perf/arm_pmuv3.h): PMUSERENR_EL0 in a guest
 */
#define GUEST_USERENR	GENMASK(3, 0)

/* The kernel has no kvm_set_pmuserenr(), as before 6.4. */
bool pmuv3_model_hides_pmuserenr;

/* A vCPU is loaded on this CPU; and the value that KVM restores when it puts the vCPU */
static DEFINE_PER_CPU(bool, has_vcpu);
static DEFINE_PER_CPU(u64, host_pmuserenr);

/**
 * pmuv3_model_set_pmuserenr() - kvm_set_pmuserenr(), arch/arm64/kvm/pmu.c
 * @value: the host's value of PMUSERENR_EL0
 *
 * IRQs off.
 *
 * Return: true if KVM writes the value when it puts the vCPU
 */
bool pmuv3_model_set_pmuserenr(u64 value)
{
	WARN_ON_ONCE(!irqs_disabled());
	if (!pmuv3_model_cpu->hyp || !this_cpu_read(has_vcpu))
		return false;

	this_cpu_write(host_pmuserenr, value);
	return true;
}

/**
 * pmuv3_model_find_symbol() - corepmu_find_symbol()
 * @name: a symbol
 *
 * Return: its address, 0 if the kernel does not have the symbol
 */
unsigned long pmuv3_model_find_symbol(const char *name)
{
	if (strcmp(name, "kvm_set_pmuserenr") || pmuv3_model_hides_pmuserenr)
		return 0;

	return (unsigned long)pmuv3_model_set_pmuserenr;
}

/**
 * pmuv3_model_load_vcpu() - load or put a vCPU on this CPU
 * @load: true: KVM loads the vCPU
 *
 * With VHE: __activate_traps_common() and __deactivate_traps_common() in
 * arch/arm64/kvm/hyp/include/hyp/switch.h.
 */
void pmuv3_model_load_vcpu(bool load)
{
	unsigned long flags;

	local_irq_save(flags);
	if (load) {
		this_cpu_write(host_pmuserenr, this_cpu_read(pmuv3_model_state.pmuserenr));
		this_cpu_write(pmuv3_model_state.pmuserenr, GUEST_USERENR);
	} else {
		this_cpu_write(pmuv3_model_state.pmuserenr, this_cpu_read(host_pmuserenr));
	}
	this_cpu_write(has_vcpu, load);
	local_irq_restore(flags);
}
