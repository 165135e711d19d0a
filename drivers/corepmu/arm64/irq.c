// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: the overflow interrupt of each CPU
 *
 * The interrupt is usually a PPI: one number for all CPUs of the PMU, or of a partition. Some
 * systems have an SPI for each CPU instead; interrupt-affinity in the devicetree, or the MADT,
 * assigns them to CPUs. SPIs of the MADT have not been tested. pmuv3_interrupt() does not rely on
 * an SPI arriving at its CPU; the self-test finds out whether it does.
 *
 * With ACPI, several CPU types may share one PPI. A kernel before 6.19 allows a PPI only one owner,
 * so the driver requests it once, for all CPU types.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/acpi.h>
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/moduleparam.h>
#include <linux/of.h>
#include <linux/percpu.h>
#include <linux/platform_device.h>
#include <linux/printk.h>
#include <linux/smp.h>

#include <asm/irq_regs.h>

#include <corepmu/module.h>
#include <corepmu/overflow.h>
#include <corepmu/pmu.h>

#include "pmuv3.h"
#include "sysreg.h"

bool pmuv3_sampling = true;
module_param_named(sampling, pmuv3_sampling, bool, 0444);
MODULE_PARM_DESC(sampling, "0: no samples, and no overflow interrupt is needed (arm64)");

/* The PMU that is set up on this CPU, with its overflow interrupt enabled, or NULL */
static DEFINE_PER_CPU(struct corepmu *, cpu_pmu);

/**
 * pmuv3_this_pmu() - return the PMU of this CPU
 *
 * IRQs off.
 *
 * Return: the PMU, or NULL if none is set up
 */
struct corepmu *pmuv3_this_pmu(void)
{
	return this_cpu_read(cpu_pmu);
}

static struct corepmu_cpu *cpuc_of(struct pmuv3 *pmuv3, int cpu)
{
	return per_cpu_ptr(pmuv3->pmu->cpu, cpu);
}

static int __corepmu_init set_irq(struct pmuv3 *pmuv3, int cpu, int irq)
{
	if (cpuc_of(pmuv3, cpu)->irq) {
		pr_err("CPU%d has more than one PMU interrupt: mend the devicetree or the MADT\n",
		       cpu);
		return -EINVAL;
	}

	cpuc_of(pmuv3, cpu)->irq = irq;
	return 0;
}

static int __corepmu_init set_irq_of(struct pmuv3 *pmuv3, int cpu, int irq)
{
	cpumask_set_cpu(cpu, &pmuv3->pmu->supported_cpus);

	return set_irq(pmuv3, cpu, irq);
}

static int __corepmu_init parse_ppi_of(struct pmuv3 *pmuv3, struct platform_device *pdev, int irq)
{
	struct cpumask cpus;
	int cpu, ret;

	ret = compat_get_percpu_irq_cpus(pdev, irq, &cpus);
	if (ret)
		return ret;

	for_each_cpu(cpu, &cpus) {
		ret = set_irq_of(pmuv3, cpu, irq);
		if (ret)
			return ret;
	}

	return 0;
}

static bool __corepmu_init has_affinity(struct device_node *np)
{
	return of_find_property(np, "interrupt-affinity", NULL);
}

/* Return the CPU of the i-th SPI: CPU i if the devicetree has no interrupt-affinity. */
static int __corepmu_init spi_cpu_of(struct device_node *np, int i)
{
	struct device_node *cpu_np;
	int cpu;

	if (!has_affinity(np))
		return i;

	cpu_np = of_parse_phandle(np, "interrupt-affinity", i);
	if (!cpu_np)
		return -EINVAL;

	cpu = of_cpu_node_to_id(cpu_np);
	of_node_put(cpu_np);

	return cpu;
}

static int __corepmu_init parse_spi_of(struct pmuv3 *pmuv3, struct device_node *np, int i, int irq)
{
	int cpu = spi_cpu_of(np, i);

	/* The devicetree has the CPU, but this kernel does not use it. */
	if (cpu < 0 || cpu >= nr_cpu_ids)
		return 0;

	return set_irq_of(pmuv3, cpu, irq);
}

/* Without interrupts, the devicetree does not list the PMU's CPUs either: take all of them. */
static int __corepmu_init take_all_cpus_of(struct pmuv3 *pmuv3, struct device_node *np)
{
	if (pmuv3_sampling) {
		pr_err("%pOF has no interrupt: overflows would be lost; sampling=0 counts without samples\n",
		       np);
		return -ENODEV;
	}

	/* As pmu_parse_irqs() in drivers/perf/arm_pmu_platform.c */
	cpumask_copy(&pmuv3->pmu->supported_cpus, cpu_possible_mask);
	return 0;
}

/**
 * pmuv3_parse_irqs_of() - read a PMU's interrupts and CPUs from the devicetree
 * @pmuv3: the PMU; the function sets its supported_cpus
 * @pdev: the PMU's device
 *
 * Documentation/devicetree/bindings/arm/pmu.yaml. Process context.
 *
 * Return: 0, or a negative errno after a message of the driver or of the kernel. Without a message:
 * -ENODEV if the kernel uses no CPU of the PMU
 */
int __corepmu_init pmuv3_parse_irqs_of(struct pmuv3 *pmuv3, struct platform_device *pdev)
{
	struct device_node *np = pdev->dev.of_node;
	int nr = platform_irq_count(pdev);
	int i, ret;

	if (nr == -EPROBE_DEFER)
		return nr;
	if (nr <= 0)
		return take_all_cpus_of(pmuv3, np);

	for (i = 0; i < nr; i++) {
		int irq = platform_get_irq(pdev, i);

		if (irq < 0)
			return irq;

		if (irq_is_percpu_devid(irq)) {
			if (nr > 1) {
				pr_err("%pOF has both PPIs and SPIs, and one kind is supported: mend the devicetree\n",
				       np);
				return -EINVAL;
			}
			return parse_ppi_of(pmuv3, pdev, irq);
		}

		if (!i && nr > 1 && !has_affinity(np))
			pr_notice("%pOF lacks interrupt-affinity: assigning its interrupts to CPUs in order; if a later message says that counters are left out, add the property\n",
				  np);
		ret = parse_spi_of(pmuv3, np, i, irq);
		if (ret)
			return ret;
	}

	return cpumask_empty(&pmuv3->pmu->supported_cpus) ? -ENODEV : 0;
}

#ifdef CONFIG_ACPI

/* Set the PPI of all possible CPUs: an offline CPU that turns out to have this type has it, too. */
static int __corepmu_init set_ppi_acpi(struct pmuv3 *pmuv3, int cpu, int irq)
{
	int ret = 0;

	if (cpuc_of(pmuv3, cpu)->irq == irq)
		return 0;
	for_each_possible_cpu(cpu) {
		ret = set_irq(pmuv3, cpu, irq);
		if (ret)
			break;
	}

	return ret;
}

static int __corepmu_init parse_gicc(struct pmuv3 *pmuv3, struct acpi_madt_generic_interrupt *gicc)
{
	int cpu = pmuv3_cpu_of_mpidr(pmuv3, gicc->arm_mpidr);
	u32 gsi = gicc->performance_interrupt;
	int irq;

	if (cpu < 0 || !gsi)
		return 0;

	/*
	 * The MADT may declare the interrupt edge-triggered (ACPI_MADT_PERFORMANCE_IRQ_MODE). It
	 * is level-triggered: a counter's overflow flag asserts it until software clears the flag.
	 * The built-in driver of Linux 7.3 ignores the mode, too. A PPI has one number on all CPUs:
	 * registering it again returns the same IRQ.
	 */
	irq = acpi_register_gsi(NULL, gsi, ACPI_LEVEL_SENSITIVE, ACPI_ACTIVE_HIGH);
	if (irq < 0) {
		pr_err("cannot map the PMU interrupt %u of the MADT (%d): mend the MADT\n",
		       gsi, irq);
		return irq;
	}

	return irq_is_percpu_devid(irq) ? set_ppi_acpi(pmuv3, cpu, irq) : set_irq(pmuv3, cpu, irq);
}

/* With sampling, drop CPUs without an interrupt in the MADT from the PMU. */
static int __corepmu_init drop_cpus_without_irq(struct pmuv3 *pmuv3)
{
	struct cpumask *cpus = &pmuv3->pmu->supported_cpus;
	struct cpumask without;
	int cpu;

	if (!pmuv3_sampling)
		return 0;

	cpumask_clear(&without);
	for_each_cpu(cpu, cpus)
		if (!cpuc_of(pmuv3, cpu)->irq)
			cpumask_set_cpu(cpu, &without);
	if (cpumask_empty(&without))
		return 0;

	if (cpumask_equal(&without, cpus)) {
		pr_err("the MADT has no PMU interrupt; sampling=0 counts without samples\n");
		return -ENODEV;
	}
	pr_warn("the MADT has no PMU interrupt for CPUs %*pbl: no event counts there; sampling=0 counts everywhere without samples\n",
		cpumask_pr_args(&without));
	cpumask_andnot(cpus, cpus, &without);
	return 0;
}

/**
 * pmuv3_parse_irqs_acpi() - read a PMU's interrupts from the MADT
 * @pmuv3: the PMU; CPUs without an interrupt are removed from supported_cpus
 *
 * ACPI 6.5, 5.2.12.14, "GIC CPU Interface (GICC) Structure". Process context.
 *
 * Return: 0, or a negative errno after a message
 */
int __corepmu_init pmuv3_parse_irqs_acpi(struct pmuv3 *pmuv3)
{
	struct acpi_table_header *madt;
	void *entry, *end;
	int ret = 0;

	if (ACPI_FAILURE(acpi_get_table(ACPI_SIG_MADT, 0, &madt))) {
		pr_err("no MADT in the ACPI tables: the PMU interrupt is unknown; mend the firmware\n");
		return -ENODEV;
	}

	entry = (void *)madt + sizeof(struct acpi_table_madt);
	end = (void *)madt + madt->length;
	while (!ret && entry + sizeof(struct acpi_subtable_header) <= end) {
		struct acpi_subtable_header *header = entry;

		if (header->length < sizeof(*header) || entry + header->length > end)
			break;
		if (header->type == ACPI_MADT_TYPE_GENERIC_INTERRUPT &&
		    header->length >= offsetofend(struct acpi_madt_generic_interrupt, arm_mpidr))
			ret = parse_gicc(pmuv3, entry);
		entry += header->length;
	}
	acpi_put_table(madt);

	return ret ?: drop_cpus_without_irq(pmuv3);
}

#else

int __corepmu_init pmuv3_parse_irqs_acpi(struct pmuv3 *pmuv3)
{
	return -ENODEV;
}

#endif /* CONFIG_ACPI */

/**
 * pmuv3_interrupt() - handle the overflow interrupt of this CPU
 * @irq: interrupt number
 * @dev: a struct corepmu_cpu: for an SPI, that of the interrupt's CPU; for a PPI, that of this CPU
 *	in the PMU that has requested the PPI, which may be another CPU type's PMU
 *
 * One interrupt serves all counters of a CPU. If firmware names the wrong CPU of an SPI, @dev is
 * not this CPU's; a PPI may be shared by PMUs of several CPU types. So the function looks up the
 * PMU, and uses the registers and state of the CPU that it runs on. Hard interrupt, IRQs off, or
 * NMI.
 *
 * Return: IRQ_NONE if no counter of this CPU has overflowed
 */
irqreturn_t pmuv3_interrupt(int irq, void *dev)
{
	struct corepmu *pmu = ((struct corepmu_cpu *)dev)->pmu;
	struct corepmu_cpu *cpuc;
	u64 overflowed;

	/* This CPU has another CPU type: its counters belong to another PMU, or to none. */
	if (unlikely(!pmu->on_all_cpus) &&
	    !cpumask_test_cpu(smp_processor_id(), &pmu->supported_cpus)) {
		pmu = pmuv3_this_pmu();
		if (!pmu)
			return IRQ_NONE;
	}

	cpuc = this_cpu_ptr(pmu->cpu);
	corepmu_overflow_begin(cpuc, get_irq_regs());
	overflowed = pmuv3_read_pmovsclr();
	if (overflowed) {
		pmuv3_write_pmovsclr(overflowed);
		corepmu_handle_overflow(cpuc, overflowed);
	}
	corepmu_overflow_end(cpuc, overflowed, overflowed);

	return overflowed ? IRQ_HANDLED : IRQ_NONE;
}

/*
 * Check whether an earlier CPU of this PMU, or an earlier CPU type, has the same interrupt (a PPI).
 * The driver requests and frees that PPI only once, for the earlier one.
 */
static bool is_repeated(struct pmuv3 *pmuv3, int cpu)
{
	int other;

	if (pmuv3_irq_owner(pmuv3, cpuc_of(pmuv3, cpu)->irq))
		return true;

	for_each_cpu(other, &pmuv3->pmu->supported_cpus) {
		if (other == cpu)
			return false;
		if (cpuc_of(pmuv3, other)->irq == cpuc_of(pmuv3, cpu)->irq)
			return true;
	}

	return false;
}

static int __corepmu_init request_ppi(struct pmuv3 *pmuv3, int irq)
{
	const struct cpumask *cpus = acpi_disabled ? &pmuv3->pmu->supported_cpus :
						     cpu_possible_mask;

	if (pmuv3->nmi)
		return pmuv3_nmi_request_ppi(irq, cpus, pmuv3->pmu->cpu);

	return compat_request_percpu_irq(irq, pmuv3_interrupt, "corepmu", cpus,
					 pmuv3->pmu->cpu);
}

static int __corepmu_init request_irq_of_cpu(struct pmuv3 *pmuv3, int cpu)
{
	struct corepmu_cpu *cpuc = cpuc_of(pmuv3, cpu);
	int ret;

	/* The kernel would log a message of its own, and may return another errno than -EBUSY. */
	if (!acpi_disabled && irq_has_action(cpuc->irq))
		return -EBUSY;

	if (irq_is_percpu_devid(cpuc->irq))
		return request_ppi(pmuv3, cpuc->irq);

	ret = irq_force_affinity(cpuc->irq, cpumask_of(cpu));
	if (ret && num_possible_cpus() > 1)
		return ret;

	if (pmuv3->nmi)
		return pmuv3_nmi_request_spi(cpuc->irq, cpuc);

	return request_irq(cpuc->irq, pmuv3_interrupt,
			   IRQF_PERCPU | IRQF_NOBALANCING | IRQF_NO_AUTOEN | IRQF_NO_THREAD,
			   "corepmu", cpuc);
}

static void free_irq_of_cpu(struct pmuv3 *pmuv3, int cpu)
{
	struct corepmu_cpu *cpuc = cpuc_of(pmuv3, cpu);

	if (irq_is_percpu_devid(cpuc->irq)) {
		if (pmuv3->nmi)
			pmuv3_nmi_free_ppi(cpuc->irq, pmuv3->pmu->cpu);
		else
			free_percpu_irq(cpuc->irq, pmuv3->pmu->cpu);
	} else {
		if (pmuv3->nmi)
			pmuv3_nmi_free_spi(cpuc->irq, cpuc);
		else
			free_irq(cpuc->irq, cpuc);
	}
}

static void free_irqs_below(struct pmuv3 *pmuv3, int end)
{
	int cpu;

	for_each_cpu(cpu, &pmuv3->pmu->supported_cpus) {
		if (cpu == end)
			break;
		if (!is_repeated(pmuv3, cpu))
			free_irq_of_cpu(pmuv3, cpu);
	}
}

/*
 * Request the interrupts of all CPUs. Return nr_cpu_ids; or, after an error, the CPU that has
 * failed, with all interrupts freed.
 */
static int __corepmu_init request_irqs(struct pmuv3 *pmuv3, int *error)
{
	int cpu;

	for_each_cpu(cpu, &pmuv3->pmu->supported_cpus) {
		if (is_repeated(pmuv3, cpu))
			continue;

		*error = request_irq_of_cpu(pmuv3, cpu);
		if (*error) {
			free_irqs_below(pmuv3, cpu);
			return cpu;
		}
	}

	return nr_cpu_ids;
}

/**
 * pmuv3_request_irqs() - request a PMU's interrupts, without enabling them
 * @pmuv3: a PMU whose interrupts are known
 *
 * Either all interrupts are NMIs, or none. With sampling=0 none is requested. Process context.
 *
 * Return: 0, or a negative errno after a message about who may hold the interrupt
 */
int __corepmu_init pmuv3_request_irqs(struct pmuv3 *pmuv3)
{
	int first = cpumask_first(&pmuv3->pmu->supported_cpus);
	const struct pmuv3 *owner = pmuv3_irq_owner(pmuv3, cpuc_of(pmuv3, first)->irq);
	int cpu, ret;

	if (!corepmu_has_interrupt(pmuv3->pmu))
		return 0;

	pmuv3->nmi = owner ? owner->nmi : pmuv3_nmi_is_possible();
	cpu = request_irqs(pmuv3, &ret);
	if (cpu < nr_cpu_ids && pmuv3->nmi && !owner) {
		pmuv3->nmi = false;
		cpu = request_irqs(pmuv3, &ret);
	}
	if (cpu >= nr_cpu_ids)
		return 0;

	pr_err("CPU%d: cannot request the PMU interrupt %d (%d): if it is held by the built-in driver, boot with initcall_blacklist=%s\n",
	       cpu, cpuc_of(pmuv3, cpu)->irq, ret,
	       acpi_disabled ? PMUV3_BUILTIN_INITCALL : COMPAT_ACPI_PMU_INITCALL);
	return ret;
}

/**
 * pmuv3_free_irqs() - undo pmuv3_request_irqs()
 * @pmuv3: the PMU; its interrupts are disabled on all CPUs
 */
void pmuv3_free_irqs(struct pmuv3 *pmuv3)
{
	if (corepmu_has_interrupt(pmuv3->pmu))
		free_irqs_below(pmuv3, nr_cpu_ids);
}

/**
 * pmuv3_irq_enable() - enable the overflow interrupt of this CPU
 * @cpuc: state of this CPU
 */
void pmuv3_irq_enable(struct corepmu_cpu *cpuc)
{
	this_cpu_write(cpu_pmu, cpuc->pmu);
	if (!corepmu_has_interrupt(cpuc->pmu))
		return;

	if (!irq_is_percpu_devid(cpuc->irq))
		enable_irq(cpuc->irq);
	else if (!to_pmuv3(cpuc->pmu)->nmi || !pmuv3_nmi_prepare_ppi(cpuc->irq))
		enable_percpu_irq(cpuc->irq, IRQ_TYPE_NONE);
}

/**
 * pmuv3_irq_disable() - undo pmuv3_irq_enable()
 * @cpuc: state of this CPU
 */
void pmuv3_irq_disable(struct corepmu_cpu *cpuc)
{
	if (!corepmu_has_interrupt(cpuc->pmu)) {
		this_cpu_write(cpu_pmu, NULL);
		return;
	}

	if (irq_is_percpu_devid(cpuc->irq)) {
		disable_percpu_irq(cpuc->irq);
		if (to_pmuv3(cpuc->pmu)->nmi)
			pmuv3_nmi_teardown_ppi(cpuc->irq);
	} else {
		disable_irq_nosync(cpuc->irq);
	}
	this_cpu_write(cpu_pmu, NULL);
}
