// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: the overflow interrupt, one for each CPU
 *
 * Mostly a PPI, one number for all CPUs of the PMU (or of a partition of it).
 * Some systems wire an SPI for each CPU instead, told apart by the devicetree's
 * interrupt-affinity or by the MADT. Those of the MADT have not been run. pmuv3_interrupt()
 * does not rely on them coming where they should; the self-test finds out whether they do.
 *
 * With ACPI the PPI of CPUs of several kinds is one interrupt, which a kernel before 6.19
 * gives to one owner: it is requested once, for all of them.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/acpi.h>
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/of.h>
#include <linux/percpu.h>
#include <linux/platform_device.h>
#include <linux/printk.h>
#include <linux/smp.h>

#include <asm/irq_regs.h>

#include <corepmu/pmu.h>

#include "pmuv3.h"
#include "sysreg.h"

/* The PMU that has been set up on this CPU, its overflow interrupt enabled, or NULL */
static DEFINE_PER_CPU(struct corepmu *, cpu_pmu);

/**
 * pmuv3_this_pmu() - the PMU of this CPU
 *
 * IRQs off.
 *
 * Return: NULL where none has been set up
 */
struct corepmu *pmuv3_this_pmu(void)
{
	return this_cpu_read(cpu_pmu);
}

static struct corepmu_cpu *cpuc_of(struct pmuv3 *pmuv3, int cpu)
{
	return per_cpu_ptr(pmuv3->pmu->cpu, cpu);
}

static int set_irq(struct pmuv3 *pmuv3, int cpu, int irq)
{
	if (cpuc_of(pmuv3, cpu)->irq) {
		pr_err("CPU%d has more than one PMU interrupt\n", cpu);
		return -EINVAL;
	}

	cpuc_of(pmuv3, cpu)->irq = irq;
	return 0;
}

static int set_irq_of(struct pmuv3 *pmuv3, int cpu, int irq)
{
	cpumask_set_cpu(cpu, &pmuv3->pmu->supported_cpus);

	return set_irq(pmuv3, cpu, irq);
}

static int parse_ppi_of(struct pmuv3 *pmuv3, struct platform_device *pdev, int irq)
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

static bool has_affinity(struct device_node *np)
{
	return of_find_property(np, "interrupt-affinity", NULL);
}

/* The CPU that the i-th SPI belongs to: CPU i where the devicetree does not say. */
static int spi_cpu_of(struct device_node *np, int i)
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

static int parse_spi_of(struct pmuv3 *pmuv3, struct device_node *np, int i, int irq)
{
	int cpu = spi_cpu_of(np, i);

	/* A CPU that the devicetree has, and that this kernel does not use. */
	if (cpu < 0 || cpu >= nr_cpu_ids)
		return 0;

	return set_irq_of(pmuv3, cpu, irq);
}

/* Without interrupts the devicetree does not say either which CPUs have the PMU. */
static int take_all_cpus_of(struct pmuv3 *pmuv3, struct device_node *np)
{
	if (pmuv3_sampling) {
		pr_err("%pOF has no interrupt: overflows would be lost; sampling=0 counts without samples\n",
		       np);
		return -ENODEV;
	}

	/* As pmu_parse_irqs() in drivers/perf/arm_pmu_platform.c has it. */
	cpumask_copy(&pmuv3->pmu->supported_cpus, cpu_possible_mask);
	return 0;
}

/**
 * pmuv3_parse_irqs_of() - find the interrupts and CPUs in the devicetree
 * @pmuv3: the PMU, whose supported_cpus are filled in
 * @pdev: its device
 *
 * Documentation/devicetree/bindings/arm/pmu.yaml. Process context.
 *
 * Return: 0, or a negative errno after saying what is wrong
 */
int pmuv3_parse_irqs_of(struct pmuv3 *pmuv3, struct platform_device *pdev)
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
				pr_err("%pOF mixes kinds of interrupts\n", np);
				return -EINVAL;
			}
			return parse_ppi_of(pmuv3, pdev, irq);
		}

		if (!i && nr > 1 && !has_affinity(np))
			pr_notice("%pOF does not say whose its interrupts are: taking CPUs in their order\n",
				  np);
		ret = parse_spi_of(pmuv3, np, i, irq);
		if (ret)
			return ret;
	}

	return cpumask_empty(&pmuv3->pmu->supported_cpus) ? -ENODEV : 0;
}

#ifdef CONFIG_ACPI

/* A PPI is noted of CPUs that are offline too: if one of them is of this kind, it has that one. */
static int set_ppi_acpi(struct pmuv3 *pmuv3, int cpu, int irq)
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

static int parse_gicc(struct pmuv3 *pmuv3, struct acpi_madt_generic_interrupt *gicc)
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
		pr_err("cannot map the PMU interrupt %u (%d)\n", gsi, irq);
		return irq;
	}

	return irq_is_percpu_devid(irq) ? set_ppi_acpi(pmuv3, cpu, irq) : set_irq(pmuv3, cpu, irq);
}

/* A CPU that the MADT names no interrupt for cannot be one of the PMU's, unless with sampling=0. */
static int drop_cpus_without_irq(struct pmuv3 *pmuv3)
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
		pr_err("the MADT names no PMU interrupt; sampling=0 counts without samples\n");
		return -ENODEV;
	}
	pr_warn("the MADT names no PMU interrupt of CPUs %*pbl: no event counts there\n",
		cpumask_pr_args(&without));
	cpumask_andnot(cpus, cpus, &without);
	return 0;
}

/**
 * pmuv3_parse_irqs_acpi() - find the interrupts in the MADT
 * @pmuv3: the PMU; those of its CPUs that have none are taken off supported_cpus
 *
 * ACPI 6.5, 5.2.12.14, "GIC CPU Interface (GICC) Structure". Process context.
 *
 * Return: 0, or a negative errno after saying what is wrong
 */
int pmuv3_parse_irqs_acpi(struct pmuv3 *pmuv3)
{
	struct acpi_table_header *madt;
	void *entry, *end;
	int ret = 0;

	if (ACPI_FAILURE(acpi_get_table(ACPI_SIG_MADT, 0, &madt))) {
		pr_err("the firmware has no MADT to tell the PMU's interrupt\n");
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

int pmuv3_parse_irqs_acpi(struct pmuv3 *pmuv3)
{
	return -ENODEV;
}

#endif /* CONFIG_ACPI */

/**
 * pmuv3_interrupt() - the overflow interrupt
 * @irq: its number
 * @dev: a struct corepmu_cpu: of an SPI that of the CPU whose interrupt it is; of a PPI that of
 *	this CPU, in the PMU that has requested it, which may be another kind of CPU's
 *
 * Hard interrupt, IRQs off, or NMI. One interrupt serves all counters of a CPU. An SPI may come
 * to another CPU than its own: when that goes offline, the kernel routes it to one that is
 * online. So the PMU is looked up, and the registers and state are those of the CPU that this
 * runs on.
 *
 * Return: IRQ_NONE when no counter of this CPU overflowed
 */
irqreturn_t pmuv3_interrupt(int irq, void *dev)
{
	struct corepmu *pmu = ((struct corepmu_cpu *)dev)->pmu;
	struct corepmu_cpu *cpuc;
	u64 overflowed;

	/* This CPU is of another kind: its counters are another PMU's, or nobody's. */
	if (unlikely(!cpumask_test_cpu(smp_processor_id(), &pmu->supported_cpus)))
		pmu = pmuv3_this_pmu();
	if (unlikely(!pmu))
		return IRQ_NONE;

	cpuc = this_cpu_ptr(pmu->cpu);
	corepmu_overflow_begin(cpuc, get_irq_regs());
	overflowed = pmuv3_read_pmovsclr();
	if (overflowed) {
		pmuv3_write_pmovsclr(overflowed);
		corepmu_handle_overflow(cpuc, overflowed);
	}
	corepmu_overflow_end(cpuc, overflowed);

	return overflowed ? IRQ_HANDLED : IRQ_NONE;
}

/*
 * Is the interrupt of @cpu a PPI that a CPU before it has too, or an earlier kind? Then it is
 * requested and freed with that one.
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

static int request_ppi(struct pmuv3 *pmuv3, int irq)
{
	const struct cpumask *cpus = acpi_disabled ? &pmuv3->pmu->supported_cpus :
						     cpu_possible_mask;

	if (pmuv3->nmi)
		return pmuv3_nmi_request_ppi(irq, cpus, pmuv3->pmu->cpu);

	return compat_request_percpu_irq(irq, pmuv3_interrupt, "corepmu", cpus,
					 pmuv3->pmu->cpu);
}

static int request_irq_of_cpu(struct pmuv3 *pmuv3, int cpu)
{
	struct corepmu_cpu *cpuc = cpuc_of(pmuv3, cpu);
	int ret;

	/* The kernel would complain of this in words of its own, and not always as EBUSY. */
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

/* Returns the CPU whose interrupt cannot be had, with none left requested, or nr_cpu_ids. */
static int request_irqs(struct pmuv3 *pmuv3, int *error)
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
 * pmuv3_request_irqs() - request the interrupts, without enabling them
 * @pmuv3: a PMU whose interrupts are known
 *
 * All of them are NMIs, or none is. With sampling=0 none is requested. Process context.
 *
 * Return: 0, or a negative errno after saying who may hold them
 */
int pmuv3_request_irqs(struct pmuv3 *pmuv3)
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

	pr_err("CPU%d: cannot have the PMU interrupt %d (%d): if it is held by the built-in driver, boot with initcall_blacklist=%s\n",
	       cpu, cpuc_of(pmuv3, cpu)->irq, ret,
	       acpi_disabled ? PMUV3_BUILTIN_INITCALL : COMPAT_ACPI_PMU_INITCALL);
	return ret;
}

/**
 * pmuv3_free_irqs() - undo pmuv3_request_irqs()
 * @pmuv3: the PMU, its interrupts disabled on all CPUs
 */
void pmuv3_free_irqs(struct pmuv3 *pmuv3)
{
	if (corepmu_has_interrupt(pmuv3->pmu))
		free_irqs_below(pmuv3, nr_cpu_ids);
}

/**
 * pmuv3_irq_enable() - let a CPU take overflow interrupts
 * @cpuc: the state of the CPU this runs on
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
 * @cpuc: the state of the CPU this runs on
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
