// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: the overflow interrupt as an NMI
 *
 * With irqchip.gicv3_pseudo_nmi=1 the kernel masks interrupts by their priority, and some can
 * be given one that is not masked (Documentation/admin-guide/kernel-parameters.txt). What
 * requests them is not exported. Where it is not to be found, or the interrupt controller
 * cannot do it, overflows interrupt as others do, and samples of code with interrupts off show
 * where they are enabled again.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/errno.h>
#include <linux/interrupt.h>
#include <linux/preempt.h>

#include <corepmu/ksyms.h>
#include <corepmu/pmu.h>

#include "pmuv3.h"

/* kernel/irq/manage.c. Of the functions' own types: this does not build when one changes. */
static struct {
	typeof(request_nmi)		*request;
	typeof(free_nmi)		*free;
	typeof(request_percpu_nmi)	*request_percpu;
	typeof(free_percpu_nmi)		*free_percpu;
	typeof(prepare_percpu_nmi)	*prepare_percpu;
	typeof(teardown_percpu_nmi)	*teardown_percpu;
} nmi;

/**
 * pmuv3_nmi_init() - find what requests NMIs
 *
 * Process context, before pmuv3_nmi_is_possible() is asked.
 */
void pmuv3_nmi_init(void)
{
	nmi.request = (void *)corepmu_find_symbol("request_nmi");
	nmi.free = (void *)corepmu_find_symbol("free_nmi");
	nmi.request_percpu = (void *)corepmu_find_symbol("request_percpu_nmi");
	nmi.free_percpu = (void *)corepmu_find_symbol("free_percpu_nmi");
	nmi.prepare_percpu = (void *)corepmu_find_symbol("prepare_percpu_nmi");
	nmi.teardown_percpu = (void *)corepmu_find_symbol("teardown_percpu_nmi");
}

/**
 * pmuv3_nmi_is_possible() - can NMIs be requested?
 *
 * Return: whether there are functions for it; what they say is another matter
 */
bool pmuv3_nmi_is_possible(void)
{
	return nmi.request && nmi.free && nmi.request_percpu && nmi.free_percpu &&
	       nmi.prepare_percpu && nmi.teardown_percpu;
}

/**
 * pmuv3_nmi_request_spi() - request_nmi()
 * @irq: the interrupt
 * @cpuc: what the handler gets
 *
 * Process context, if pmuv3_nmi_is_possible().
 *
 * Return: 0, or a negative errno where it cannot be an NMI
 */
int pmuv3_nmi_request_spi(int irq, struct corepmu_cpu *cpuc)
{
	return nmi.request(irq, pmuv3_interrupt,
			   IRQF_PERCPU | IRQF_NOBALANCING | IRQF_NO_AUTOEN | IRQF_NO_THREAD,
			   "corepmu", cpuc);
}

/**
 * pmuv3_nmi_free_spi() - undo pmuv3_nmi_request_spi()
 * @irq: the interrupt
 * @cpuc: as it was requested with
 */
void pmuv3_nmi_free_spi(int irq, struct corepmu_cpu *cpuc)
{
	nmi.free(irq, cpuc);
}

/**
 * pmuv3_nmi_request_ppi() - request_percpu_nmi()
 * @irq: the interrupt
 * @cpus: CPUs that it is for, where the kernel asks for them
 * @cpuc: what the handler gets of its CPU
 *
 * Process context, if pmuv3_nmi_is_possible().
 *
 * Return: 0, or a negative errno where it cannot be an NMI
 */
int pmuv3_nmi_request_ppi(int irq, const struct cpumask *cpus, struct corepmu_cpu __percpu *cpuc)
{
	return compat_call_request_percpu_nmi(nmi.request_percpu, irq, pmuv3_interrupt, "corepmu",
					      cpus, cpuc);
}

/**
 * pmuv3_nmi_free_ppi() - undo pmuv3_nmi_request_ppi()
 * @irq: the interrupt
 * @cpuc: as it was requested with
 */
void pmuv3_nmi_free_ppi(int irq, struct corepmu_cpu __percpu *cpuc)
{
	nmi.free_percpu(irq, cpuc);
}

/**
 * pmuv3_nmi_prepare_ppi() - have the PPI of this CPU be an NMI, before it is enabled
 * @irq: the interrupt
 *
 * Bound to the CPU.
 *
 * Return: 0, or a negative errno after the kernel has said why
 */
int pmuv3_nmi_prepare_ppi(int irq)
{
	int ret;

	/* prepare_percpu_nmi() and teardown_percpu_nmi() warn when they are preemptible. */
	preempt_disable();
	ret = nmi.prepare_percpu(irq);
	preempt_enable();

	return ret;
}

/**
 * pmuv3_nmi_teardown_ppi() - undo pmuv3_nmi_prepare_ppi()
 * @irq: the interrupt, which is disabled on this CPU
 */
void pmuv3_nmi_teardown_ppi(int irq)
{
	preempt_disable();
	nmi.teardown_percpu(irq);
	preempt_enable();
}
