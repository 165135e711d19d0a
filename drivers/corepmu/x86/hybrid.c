// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: CPU types, and the type of each CPU
 *
 * Intel's hybrid CPUs have cores of two or more types. Each type has its own counters and events,
 * and so its own PMU. On each CPU, CPUID leaf 0x1A has the type (SDM volume 2, CPUID, "Native Model
 * ID Leaf"). Offline CPUs are checked when they come online, see x86_joins(). All other machines
 * have one type.
 *
 * Each type (core type and native model) has a struct x86_desc, described on one of its CPUs. There
 * is one NMI handler, and one reservation of the largest type's registers. For Golden Cove beside
 * Gracemont leaf 0xA shows six counters, the number that both have. The driver adds the constraint
 * table's other two counters if their registers are readable. (The built-in driver adds two.)
 *
 * Perf core asks PMUs for a generic event without a type in list order, which Linux 6.5 reversed.
 * So from 6.5 on the driver registers the atoms first: perf core then asks the cores first.
 * Low-power atoms (Arrow Lake H) are a third type. Alder Lake and Raptor Lake without atoms
 * are no hybrid machines. In virtual machines leaf 0x1A is zero: the driver treats these cores
 * as Golden Cove.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/smp.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "intel/intel.h"
#include "msr.h"
#include "x86.h"

/* CPUID.1AH:EAX */
#define CPUID_NATIVE_MODEL	0x1a
#define EAX_CORE_TYPE		GENMASK(31, 24)

/* Filled before the first overflow interrupt, and emptied after the last */
static struct x86_desc *cpu_types[X86_MAX_CPU_TYPES];
static unsigned int nr_cpu_types;

DEFINE_PER_CPU(struct corepmu *, x86_own_pmu);

/**
 * x86_native_model() - return the core type and native model of this CPU
 *
 * Return: CPUID.1AH:EAX, 0 without this leaf
 */
u32 x86_native_model(void)
{
	return boot_cpu_data.cpuid_level < CPUID_NATIVE_MODEL ? 0 : cpuid_eax(CPUID_NATIVE_MODEL);
}

/**
 * x86_native_core_type() - return the core type in a native model
 * @native_model: from x86_native_model()
 *
 * Return: INTEL_ATOM, INTEL_CORE, or an unknown type
 */
unsigned int __corepmu_init x86_native_core_type(u32 native_model)
{
	return FIELD_GET(EAX_CORE_TYPE, native_model);
}

/**
 * x86_cpu_type_add() - add a CPU type, for at most X86_MAX_CPU_TYPES
 * @desc: the PMU description
 *
 * Process context, before the NMI handler is registered.
 */
void __corepmu_init x86_cpu_type_add(struct x86_desc *desc)
{
	unsigned int cpu;

	for_each_cpu(cpu, &desc->pmu->supported_cpus)
		per_cpu(x86_own_pmu, cpu) = desc->pmu;
	cpu_types[nr_cpu_types++] = desc;
}

/**
 * x86_cpu_type_remove() - undo the last x86_cpu_type_add()
 *
 * Process context, after the NMI handler has been unregistered.
 *
 * Return: the PMU description, or NULL if none is left
 */
struct x86_desc *x86_cpu_type_remove(void)
{
	struct x86_desc *desc = nr_cpu_types ? cpu_types[--nr_cpu_types] : NULL;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (desc && per_cpu(x86_own_pmu, cpu) == desc->pmu)
			per_cpu(x86_own_pmu, cpu) = NULL;

	return desc;
}

/**
 * x86_cpu_type() - return one of the CPU types
 * @nr: number, from 0 on, in the order of x86_cpu_type_add()
 *
 * Return: the PMU description, or NULL if there are no more
 */
struct x86_desc *x86_cpu_type(unsigned int nr)
{
	return nr < nr_cpu_types ? cpu_types[nr] : NULL;
}

/**
 * x86_nr_cpu_types() - return the number of CPU types
 *
 * Return: number of x86_cpu_type_add() calls that have not been undone
 */
unsigned int x86_nr_cpu_types(void)
{
	return nr_cpu_types;
}

/**
 * x86_joins() - check whether a CPU that came online belongs to a PMU: the backend's joins()
 * @cpuc: state of a PMU on this CPU, which was offline at load
 *
 * Called for every PMU; the call for the first PMU logs a CPU of unknown type. From a CPU hotplug
 * callback.
 *
 * Return: true if the CPU has the PMU's type
 */
bool x86_joins(struct corepmu_cpu *cpuc)
{
	u32 model = x86_native_model();
	bool is_known = false;
	unsigned int i;

	for (i = 0; i < nr_cpu_types; i++) {
		if (cpu_types[i]->native_model != model)
			continue;
		is_known = true;
		if (cpu_types[i]->pmu == cpuc->pmu) {
			this_cpu_write(x86_own_pmu, cpuc->pmu);
			return true;
		}
	}
	if (!is_known && cpuc->pmu == cpu_types[0]->pmu)
		pr_warn("CPU%u has a CPU type of which no CPU was online at load (CPUID leaf 0x1a: %#x): no event counts there until corepmu is loaded again\n",
			smp_processor_id(), model);

	return false;
}
