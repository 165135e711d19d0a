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

/**
 * pmuv3_find_kind() - which CPUs the PMU of an ACPI machine is for
 * @pmuv3: the PMU; its midr and supported_cpus are filled in, with CPUs that are online
 *
 * Process context.
 *
 * Return: 0, or -EOPNOTSUPP after saying which CPUs are of another kind
 */
int pmuv3_find_kind(struct pmuv3 *pmuv3)
{
	struct cpumask *cpus = &pmuv3->pmu->supported_cpus;
	struct cpumask others;
	int cpu, other;

	cpus_read_lock();
	cpumask_copy(cpus, cpu_online_mask);
	on_each_cpu(note_identity, NULL, 1);
	cpus_read_unlock();

	pmuv3->midr = per_cpu(identities, cpumask_first(cpus)).midr;
	cpumask_clear(&others);
	for_each_cpu(cpu, cpus)
		if (per_cpu(identities, cpu).midr != pmuv3->midr)
			cpumask_set_cpu(cpu, &others);
	if (cpumask_empty(&others))
		return 0;

	other = cpumask_first(&others);
	cpumask_andnot(cpus, cpus, &others);
	pr_err("CPUs %*pbl are of another kind (MIDR_EL1 %#x) than CPUs %*pbl (%#x): with ACPI only one kind can be had, take the others offline before loading\n",
	       cpumask_pr_args(&others), per_cpu(identities, other).midr,
	       cpumask_pr_args(cpus), pmuv3->midr);
	return -EOPNOTSUPP;
}

/**
 * pmuv3_cpu_of_mpidr() - the CPU of an entry of the MADT
 * @pmuv3: a PMU whose CPUs are known from pmuv3_find_kind()
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

/**
 * pmuv3_joins() - struct corepmu_backend's joins()
 * @cpuc: the state of the CPU this runs on
 *
 * From a CPU hotplug callback.
 *
 * Return: whether the CPU is of the PMU's kind, or false, with ACPI after saying why
 */
bool pmuv3_joins(struct corepmu_cpu *cpuc)
{
	struct corepmu *pmu = cpuc->pmu;
	struct pmuv3 *pmuv3 = to_pmuv3(pmu);
	u32 midr;

	/* The devicetree has said which CPUs are the PMU's. */
	if (!pmuv3->midr)
		return false;

	midr = pmuv3_read_midr();
	if (midr != pmuv3->midr) {
		pr_warn("CPU%u is of another kind (MIDR_EL1 %#x) than CPUs %*pbl (%#x): no event counts there\n",
			smp_processor_id(), midr, cpumask_pr_args(&pmu->supported_cpus),
			pmuv3->midr);
		return false;
	}
	if (!cpuc->irq) {
		pr_warn("CPU%u has a PMU interrupt of its own that was not known when it was offline: no event counts there until corepmu is loaded again\n",
			smp_processor_id());
		return false;
	}

	return true;
}
