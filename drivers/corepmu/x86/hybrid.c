// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: kinds of CPU, and which of them a CPU is
 *
 * Intel's hybrid CPUs have cores of two kinds, each with counters and events of its own and so
 * with a PMU of its own. CPUID leaf 0x1A tells on each CPU of which kind that one is (SDM
 * volume 2, CPUID, "Native Model ID Leaf"). A CPU that is offline cannot be asked. It is when
 * it comes, see x86_joins(). All other machines have one kind.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/smp.h>

#include <corepmu/pmu.h>

#include "intel/intel.h"
#include "msr.h"
#include "x86.h"

/* CPUID.1AH:EAX */
#define CPUID_NATIVE_MODEL	0x1a
#define EAX_CORE_TYPE		GENMASK(31, 24)

/* Filled before the first interrupt can come, and emptied after the last. */
static struct x86_desc *kinds[X86_MAX_KINDS];
static unsigned int nr_kinds;

DEFINE_PER_CPU(struct corepmu *, x86_own_pmu);

/**
 * x86_native_model() - what this CPU says of its kind
 *
 * Return: core type and native model, 0 of a CPU that does not say
 */
u32 x86_native_model(void)
{
	return boot_cpu_data.cpuid_level < CPUID_NATIVE_MODEL ? 0 : cpuid_eax(CPUID_NATIVE_MODEL);
}

/**
 * x86_core_type() - the kind of core
 * @native_model: from x86_native_model()
 *
 * Return: INTEL_ATOM, INTEL_CORE, or what is not known
 */
unsigned int x86_core_type(u32 native_model)
{
	return FIELD_GET(EAX_CORE_TYPE, native_model);
}

/**
 * x86_add_kind() - one more kind of CPU
 * @desc: its counters
 *
 * Process context, before the NMI handler is registered. There is room for X86_MAX_KINDS.
 */
void x86_add_kind(struct x86_desc *desc)
{
	unsigned int cpu;

	for_each_cpu(cpu, &desc->pmu->supported_cpus)
		per_cpu(x86_own_pmu, cpu) = desc->pmu;
	kinds[nr_kinds++] = desc;
}

/**
 * x86_remove_kind() - undo the last x86_add_kind()
 *
 * Process context, after the NMI handler has been unregistered.
 *
 * Return: what was added, or NULL when nothing is left
 */
struct x86_desc *x86_remove_kind(void)
{
	struct x86_desc *desc = nr_kinds ? kinds[--nr_kinds] : NULL;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (desc && per_cpu(x86_own_pmu, cpu) == desc->pmu)
			per_cpu(x86_own_pmu, cpu) = NULL;

	return desc;
}

/**
 * x86_kind() - one of the kinds
 * @nr: in the order in which they were added, from 0 on
 *
 * Return: its counters, or NULL when there are no more
 */
struct x86_desc *x86_kind(unsigned int nr)
{
	return nr < nr_kinds ? kinds[nr] : NULL;
}

/**
 * x86_nr_kinds() - how many kinds there are
 *
 * Return: the number of those that were added
 */
unsigned int x86_nr_kinds(void)
{
	return nr_kinds;
}

/**
 * x86_joins() - the backend's joins()
 * @cpuc: a PMU's state on this CPU, which was offline when the kinds were looked for
 *
 * Every PMU is asked; the first one tells the log of a CPU that is none's. From a CPU hotplug
 * callback.
 *
 * Return: whether the CPU is of the PMU's kind
 */
bool x86_joins(struct corepmu_cpu *cpuc)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);
	u32 model = x86_native_model();
	unsigned int i;

	if (desc->native_model == model) {
		this_cpu_write(x86_own_pmu, cpuc->pmu);
		return true;
	}

	for (i = 0; i < nr_kinds; i++)
		if (kinds[i]->native_model == model)
			return false;
	if (desc == kinds[0])
		pr_warn("CPU%u is of a kind of which no CPU was online at load (CPUID leaf 0x1a: %#x): no event counts there until corepmu is loaded again\n",
			smp_processor_id(), model);

	return false;
}
