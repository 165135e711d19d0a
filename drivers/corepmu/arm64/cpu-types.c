// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: CPU types with ACPI, by MIDR_EL1
 *
 * A devicetree has a PMU node for each CPU type. ACPI has the interrupt of each CPU but no CPU
 * types. There, CPUs with the same MIDR_EL1 have the same type, as in the built-in driver
 * (drivers/perf/arm_pmu_acpi.c). Offline CPUs are checked when they come online, see pmuv3_joins().
 *
 * The driver probes a CPU that comes online, sets it up and then adds it to supported_cpus; until
 * then perf core rejects events there. A new CPU uses the same PPI as the others. An SPI belongs to
 * one CPU. The MADT names this CPU by MPIDR_EL1, which only an online CPU can read. So a new CPU
 * with an SPI gets no events. An SPI of the wrong CPU gives the self-test no overflow interrupt,
 * and the module does not load. (The built-in driver takes the interrupt on the other CPU.)
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/smp.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "pmuv3.h"
#include "sysreg.h"

/* Identification registers of a CPU that was online at load; 0 for other CPUs */
struct identity {
	u32	midr;
	u64	mpidr;
};

static DEFINE_PER_CPU(struct identity, identities);

static void __corepmu_init note_identity(void *unused)
{
	struct identity *identity = this_cpu_ptr(&identities);

	identity->midr = pmuv3_read_midr();
	identity->mpidr = pmuv3_read_mpidr() & MPIDR_AFFINITY;
}

/* Changed with cpus_read_lock() held, so that CPUs that come online find a complete list. */
LIST_HEAD(pmuv3_cpu_types);

/**
 * pmuv3_note_cpus() - read the identification registers of all online CPUs
 * @cpus: set to the CPUs that were online
 *
 * Process context.
 */
void __corepmu_init pmuv3_note_cpus(struct cpumask *cpus)
{
	cpus_read_lock();
	cpumask_copy(cpus, cpu_online_mask);
	on_each_cpu(note_identity, NULL, 1);
	cpus_read_unlock();
}

/**
 * pmuv3_cpu_type_take() - give a PMU the type of the first CPU in @left
 * @pmuv3: the PMU; its midr and supported_cpus are set, and it is added to pmuv3_cpu_types
 * @left: CPUs of pmuv3_note_cpus() without a PMU, at least one; CPUs of the type are removed
 *
 * Process context.
 */
void __corepmu_init pmuv3_cpu_type_take(struct pmuv3 *pmuv3, struct cpumask *left)
{
	struct cpumask *cpus = &pmuv3->pmu->supported_cpus;
	int cpu;

	pmuv3->midr = per_cpu(identities, cpumask_first(left)).midr;
	cpumask_clear(cpus);
	for_each_cpu(cpu, left)
		if (per_cpu(identities, cpu).midr == pmuv3->midr)
			cpumask_set_cpu(cpu, cpus);
	cpumask_andnot(left, left, cpus);

	cpus_read_lock();
	list_add_tail(&pmuv3->node, &pmuv3_cpu_types);
	cpus_read_unlock();
}

/**
 * pmuv3_cpu_type_forget() - undo pmuv3_cpu_type_take()
 * @pmuv3: a PMU that is not registered
 *
 * Process context.
 */
void pmuv3_cpu_type_forget(struct pmuv3 *pmuv3)
{
	cpus_read_lock();
	list_del(&pmuv3->node);
	cpus_read_unlock();
}

/**
 * pmuv3_irq_owner() - find an earlier CPU type with the same interrupt
 * @pmuv3: the PMU
 * @irq: interrupt of the PMU
 *
 * CPU types are set up in order and undone in the reverse order, so an earlier type has requested
 * its interrupts. Process context.
 *
 * Return: PMU of the earlier type, which has requested the interrupt, or NULL
 */
const struct pmuv3 *pmuv3_irq_owner(const struct pmuv3 *pmuv3, int irq)
{
	const struct pmuv3 *other;
	int cpu;

	if (!pmuv3->midr)
		return NULL;

	list_for_each_entry(other, &pmuv3_cpu_types, node) {
		if (other == pmuv3)
			break;
		for_each_cpu(cpu, &other->pmu->supported_cpus)
			if (per_cpu_ptr(other->pmu->cpu, cpu)->irq == irq)
				return other;
	}

	return NULL;
}

/**
 * pmuv3_cpu_of_mpidr() - find the CPU of a MADT entry
 * @pmuv3: PMU that pmuv3_cpu_type_take() has set up
 * @mpidr: ACPI 6.5, table 5.37, "MPIDR"
 *
 * The kernel does not export its own map.
 *
 * Return: one of the PMU's CPUs, or -ENODEV
 */
int __corepmu_init pmuv3_cpu_of_mpidr(struct pmuv3 *pmuv3, u64 mpidr)
{
	int cpu;

	for_each_cpu(cpu, &pmuv3->pmu->supported_cpus)
		if (per_cpu(identities, cpu).mpidr == (mpidr & MPIDR_AFFINITY))
			return cpu;

	return -ENODEV;
}

/*
 * Check whether a CPU of this type was online at load. The type has no PMU if the setup of the PMU
 * failed; a message has said so.
 */
static bool was_online_at_load(u32 midr)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (per_cpu(identities, cpu).midr == midr)
			return true;

	return false;
}

/**
 * pmuv3_joins() - check whether a CPU that came online belongs to a PMU: the backend's joins()
 * @cpuc: the PMU's state on this CPU
 *
 * From a CPU hotplug callback.
 *
 * Return: true if the CPU has the PMU's type and its interrupt is known
 */
bool pmuv3_joins(struct corepmu_cpu *cpuc)
{
	struct pmuv3 *pmuv3 = to_pmuv3(cpuc->pmu);
	u32 midr;

	/* With a devicetree, the PMU's CPUs are known from the start. */
	if (!pmuv3->midr)
		return false;

	midr = pmuv3_read_midr();
	if (midr != pmuv3->midr) {
		/* Called for every PMU: only the first one logs a CPU of unknown type. */
		if (list_is_first(&pmuv3->node, &pmuv3_cpu_types) && !was_online_at_load(midr))
			pr_warn("CPU%u has a CPU type of which no CPU was online at load (MIDR_EL1 %#x): no event counts there until corepmu is loaded again\n",
				smp_processor_id(), midr);
		return false;
	}
	if (!cpuc->irq && corepmu_has_interrupt(cpuc->pmu)) {
		pr_warn("CPU%u has no known PMU interrupt: no event counts there; load corepmu again if the CPU was offline at load, else mend the MADT\n",
			smp_processor_id());
		return false;
	}

	return true;
}
