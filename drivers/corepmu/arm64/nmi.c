// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: the overflow interrupt as a pseudo-NMI
 *
 * With irqchip.gicv3_pseudo_nmi=1 the kernel masks interrupts by priority, and an interrupt may
 * have a priority that is never masked (Documentation/admin-guide/kernel-parameters.txt). The
 * functions that request NMIs are not exported. If the driver cannot find them, or the interrupt
 * controller has no NMIs, overflow interrupts are ordinary ones. Then samples of code with IRQs off
 * show the place where IRQs are enabled again.
 *
 * Either all interrupts of a PMU are NMIs or none. NMIs have their own backend: the update of a
 * counter works as on x86, and the start rereads the mask of active counters after it has written
 * the mask. Before Linux 6.19 partitions of a PPI remain ordinary interrupts: their irqchip has no
 * NMIs (irq_supports_nmi() in kernel/irq/manage.c).
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/errno.h>
#include <linux/interrupt.h>
#include <linux/preempt.h>

#include <corepmu/ksyms.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "pmuv3.h"

/* Functions of kernel/irq/manage.c. The typeof makes the build fail if the kernel changes one. */
static struct {
	typeof(request_nmi)		*request;
	typeof(free_nmi)		*free;
	typeof(request_percpu_nmi)	*request_percpu;
	typeof(free_percpu_nmi)		*free_percpu;
	typeof(prepare_percpu_nmi)	*prepare_percpu;
	typeof(teardown_percpu_nmi)	*teardown_percpu;
} nmi;

/**
 * pmuv3_nmi_init() - look up the kernel functions that request NMIs
 *
 * Process context, before pmuv3_nmi_is_possible().
 */
void __corepmu_init pmuv3_nmi_init(void)
{
	nmi.request = (void *)corepmu_find_symbol("request_nmi");
	nmi.free = (void *)corepmu_find_symbol("free_nmi");
	nmi.request_percpu = (void *)corepmu_find_symbol("request_percpu_nmi");
	nmi.free_percpu = (void *)corepmu_find_symbol("free_percpu_nmi");
	nmi.prepare_percpu = (void *)corepmu_find_symbol("prepare_percpu_nmi");
	nmi.teardown_percpu = (void *)corepmu_find_symbol("teardown_percpu_nmi");
}

/**
 * pmuv3_nmi_is_possible() - check whether the driver can request NMIs
 *
 * Return: true if the functions have been found; a request may still fail
 */
bool __corepmu_init pmuv3_nmi_is_possible(void)
{
	return nmi.request && nmi.free && nmi.request_percpu && nmi.free_percpu &&
	       nmi.prepare_percpu && nmi.teardown_percpu;
}

/**
 * pmuv3_nmi_request_spi() - request an SPI as an NMI, by request_nmi()
 * @irq: the interrupt
 * @cpuc: argument for the handler
 *
 * Process context, if pmuv3_nmi_is_possible().
 *
 * Return: 0, or a negative errno if the interrupt cannot be an NMI
 */
int __corepmu_init pmuv3_nmi_request_spi(int irq, struct corepmu_cpu *cpuc)
{
	return nmi.request(irq, pmuv3_interrupt,
			   IRQF_PERCPU | IRQF_NOBALANCING | IRQF_NO_AUTOEN | IRQF_NO_THREAD,
			   "corepmu", cpuc);
}

/**
 * pmuv3_nmi_free_spi() - undo pmuv3_nmi_request_spi()
 * @irq: the interrupt
 * @cpuc: the same as for the request
 */
void pmuv3_nmi_free_spi(int irq, struct corepmu_cpu *cpuc)
{
	nmi.free(irq, cpuc);
}

/**
 * pmuv3_nmi_request_ppi() - request a PPI as an NMI, by request_percpu_nmi()
 * @irq: the interrupt
 * @cpus: CPUs of the PPI, for kernels that take them
 * @cpuc: argument for the handler, per CPU
 *
 * Process context, if pmuv3_nmi_is_possible().
 *
 * Return: 0, or a negative errno if the interrupt cannot be an NMI
 */
int __corepmu_init pmuv3_nmi_request_ppi(int irq, const struct cpumask *cpus,
					 struct corepmu_cpu __percpu *cpuc)
{
	return compat_call_request_percpu_nmi(nmi.request_percpu, irq, pmuv3_interrupt, "corepmu",
					      cpus, cpuc);
}

/**
 * pmuv3_nmi_free_ppi() - undo pmuv3_nmi_request_ppi()
 * @irq: the interrupt
 * @cpuc: the same as for the request
 */
void pmuv3_nmi_free_ppi(int irq, struct corepmu_cpu __percpu *cpuc)
{
	nmi.free_percpu(irq, cpuc);
}

/**
 * pmuv3_nmi_prepare_ppi() - make the PPI of this CPU an NMI, before it is enabled
 * @irq: the interrupt
 *
 * Bound to the CPU.
 *
 * Return: 0, or a negative errno after a message of the kernel
 */
int pmuv3_nmi_prepare_ppi(int irq)
{
	int ret;

	/* prepare_percpu_nmi() and teardown_percpu_nmi() warn if they may be preempted. */
	preempt_disable();
	ret = nmi.prepare_percpu(irq);
	preempt_enable();

	return ret;
}

/**
 * pmuv3_nmi_teardown_ppi() - undo pmuv3_nmi_prepare_ppi()
 * @irq: the interrupt; it is disabled on this CPU
 */
void pmuv3_nmi_teardown_ppi(int irq)
{
	preempt_disable();
	nmi.teardown_percpu(irq);
	preempt_enable();
}
