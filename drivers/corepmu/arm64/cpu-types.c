// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: of which kind a CPU is, where the firmware does not tell
 *
 * A devicetree has a node for the PMU of each kind of CPU. ACPI has the interrupt of each
 * CPU and nothing on kinds: there CPUs are of one kind when their MIDR_EL1 is the same, as
 * for the built-in driver (drivers/perf/arm_pmu_acpi.c). A CPU that is offline cannot be
 * asked. It is when it comes, see pmuv3_joins().
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/smp.h>

#include <corepmu/pmu.h>

#include "pmuv3.h"
#include "sysreg.h"

/* What a CPU says of itself */
struct identity {
	u32	midr;
	u64	mpidr;
};

static DEFINE_PER_CPU(struct identity, identities);

static void note_identity(void *unused)
{
	struct identity *identity = this_cpu_ptr(&identities);

	identity->midr = pmuv3_read_midr();
	identity->mpidr = pmuv3_read_mpidr() & MPIDR_AFFINITY;
}

/* Changed with cpus_read_lock() held, so that CPUs that come find all of them. */
LIST_HEAD(pmuv3_kinds);

/**
 * pmuv3_note_cpus() - have the CPUs say of which kind they are
 * @cpus: filled in with those that were asked, which are online
 *
 * Process context.
 */
void pmuv3_note_cpus(struct cpumask *cpus)
{
	cpus_read_lock();
	cpumask_copy(cpus, cpu_online_mask);
	on_each_cpu(note_identity, NULL, 1);
	cpus_read_unlock();
}

/**
 * pmuv3_take_kind() - make a PMU the one of the first CPU's kind
 * @pmuv3: the PMU; its midr and supported_cpus are filled in, and it is one of pmuv3_kinds
 * @left: CPUs known from pmuv3_note_cpus(), at least one; those of the kind are removed
 *
 * Process context.
 */
void pmuv3_take_kind(struct pmuv3 *pmuv3, struct cpumask *left)
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
	list_add_tail(&pmuv3->node, &pmuv3_kinds);
	cpus_read_unlock();
}

/**
 * pmuv3_forget_kind() - undo pmuv3_take_kind()
 * @pmuv3: a PMU that is not registered
 *
 * Process context.
 */
void pmuv3_forget_kind(struct pmuv3 *pmuv3)
{
	cpus_read_lock();
	list_del(&pmuv3->node);
	cpus_read_unlock();
}

/**
 * pmuv3_irq_owner() - which earlier kind of CPU has an interrupt too?
 * @pmuv3: the PMU of a kind of CPU
 * @irq: its interrupt
 *
 * Kinds are set up in order and undone in the reverse: earlier ones have theirs. Process
 * context.
 *
 * Return: the earlier kind, which has requested it, or NULL
 */
const struct pmuv3 *pmuv3_irq_owner(const struct pmuv3 *pmuv3, int irq)
{
	const struct pmuv3 *kind;
	int cpu;

	if (!pmuv3->midr)
		return NULL;

	list_for_each_entry(kind, &pmuv3_kinds, node) {
		if (kind == pmuv3)
			break;
		for_each_cpu(cpu, &kind->pmu->supported_cpus)
			if (per_cpu_ptr(kind->pmu->cpu, cpu)->irq == irq)
				return kind;
	}

	return NULL;
}

/**
 * pmuv3_cpu_of_mpidr() - the CPU of an entry of the MADT
 * @pmuv3: a PMU whose CPUs are known from pmuv3_take_kind()
 * @mpidr: ACPI 6.5, table 5.37, "MPIDR"
 *
 * The kernel's own map is not for modules.
 *
 * Return: one of the PMU's CPUs, or -ENODEV
 */
int pmuv3_cpu_of_mpidr(struct pmuv3 *pmuv3, u64 mpidr)
{
	int cpu;

	for_each_cpu(cpu, &pmuv3->pmu->supported_cpus)
		if (per_cpu(identities, cpu).mpidr == (mpidr & MPIDR_AFFINITY))
			return cpu;

	return -ENODEV;
}

static bool is_known_kind(u32 midr)
{
	const struct pmuv3 *pmuv3;

	list_for_each_entry(pmuv3, &pmuv3_kinds, node)
		if (pmuv3->midr == midr)
			return true;

	return false;
}

/**
 * pmuv3_joins() - struct corepmu_backend's joins()
 * @cpuc: the state of the CPU this runs on
 *
 * From a CPU hotplug callback.
 *
 * Return: whether the CPU is of the PMU's kind and has its interrupt
 */
bool pmuv3_joins(struct corepmu_cpu *cpuc)
{
	struct pmuv3 *pmuv3 = to_pmuv3(cpuc->pmu);
	u32 midr;

	/* The devicetree has said which CPUs are the PMU's. */
	if (!pmuv3->midr)
		return false;

	midr = pmuv3_read_midr();
	if (midr != pmuv3->midr) {
		/* Every PMU is asked; one of them tells of a CPU that is none's. */
		if (list_is_first(&pmuv3->node, &pmuv3_kinds) && !is_known_kind(midr))
			pr_warn("CPU%u has a CPU type of which no CPU was online at load (MIDR_EL1 %#x): no event counts there until corepmu is loaded again\n",
				smp_processor_id(), midr);
		return false;
	}
	if (!cpuc->irq && corepmu_has_interrupt(cpuc->pmu)) {
		pr_warn("CPU%u has a PMU interrupt of its own that was not known when it was offline: no event counts there until corepmu is loaded again\n",
			smp_processor_id());
		return false;
	}

	return true;
}
