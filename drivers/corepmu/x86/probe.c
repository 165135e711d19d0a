// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: find the PMUs of this machine, and register them
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include <corepmu/ksyms.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "amd/amd.h"
#include "intel/intel.h"
#include "kvm/kvm.h"
#include "lbr/lbr.h"
#include "msr.h"
#include "pebs/precise.h"
#include "x86.h"
#include "zhaoxin/zhaoxin.h"

/* Errno of the last CPU that could not be described */
static int describe_error;

static int __corepmu_init describe_vendor(struct x86_desc *desc)
{
	if (!boot_cpu_has(X86_FEATURE_APIC)) {
		pr_err("no local APIC: without it overflow interrupts would be lost; boot without nolapic\n");
		return -ENODEV;
	}

	/*
	 * Xen PV raises overflows as VIRQ_XENPMU: xen_pmu_irq_handler() calls only the built-in
	 * driver's x86_pmu.handle_irq().
	 */
	if (boot_cpu_has(X86_FEATURE_XENPV)) {
		pr_err("a Xen PV domain: Xen delivers overflow interrupts to the built-in driver only; boot without Xen, or as a PVH or HVM domain\n");
		return -ENODEV;
	}

	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_INTEL:
		return intel_describe(desc);
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		return amd_describe(desc);
	case X86_VENDOR_ZHAOXIN:
	case X86_VENDOR_CENTAUR:
		return zhaoxin_describe(desc);
	default:
		pr_err("the CPU's vendor is not Intel, AMD, Hygon or Zhaoxin: use the built-in driver\n");
		return -ENODEV;
	}
}

static void __corepmu_init describe_cpu(void *data)
{
	describe_error = describe_vendor(data);
}

/* CPU types */

/* Describe the PMU of the CPUs @cpus, by CPUID on one of them. */
static int __corepmu_init find_cpu_type(const char *name, u32 native_model,
					const struct cpumask *cpus)
{
	struct x86_desc *desc;
	struct corepmu *pmu;
	int ret = -ENOMEM;

	desc = kzalloc(sizeof(*desc), GFP_KERNEL);
	if (!desc)
		return -ENOMEM;

	/* choose_backend() sets the final backend. */
	pmu = corepmu_alloc(&x86_each_backend);
	if (!pmu)
		goto out_desc;
	desc->pmu = pmu;
	desc->native_model = native_model;
	pmu->private = desc;
	pmu->cpu_type = name;
	cpumask_copy(&pmu->supported_cpus, cpus);

	ret = smp_call_function_any(cpus, describe_cpu, desc, 1);
	if (!ret)
		ret = describe_error;
	if (ret)
		goto out_pmu;

	x86_cpu_type_add(desc);
	return 0;

out_pmu:
	corepmu_free(pmu);
out_desc:
	kfree(desc);
	return ret;
}

static void forget_cpu_types(void)
{
	struct x86_desc *desc;

	while ((desc = x86_cpu_type_remove())) {
		corepmu_free(desc->pmu);
		kfree(desc);
	}
}

static DEFINE_PER_CPU(u32, native_models);

static void __corepmu_init note_native_model(void *unused)
{
	this_cpu_write(native_models, x86_native_model());
}

/* The first type gets the generic events without a PMU type, as with the built-in driver. */
static const struct {
	unsigned int	core_type;
	const char	*name;
} hybrid_cpu_types[] = {
	{ INTEL_CORE, "core" },
	{ INTEL_ATOM, "atom" },
	{ INTEL_LOWPOWER, "lowpower" },
};

static int __corepmu_init find_hybrid_cpu_type(unsigned int core_type, const char *name,
					       struct cpumask *left)
{
	/* Static, since it is too large for the stack; the module is loaded once. */
	static struct cpumask cpus;
	u32 model = 0;
	int cpu;

	cpumask_clear(&cpus);
	for_each_cpu(cpu, left) {
		u32 own = per_cpu(native_models, cpu);

		/* Two native models of the same core type are two CPU types. */
		if (intel_cpu_type(own) != core_type || (model && own != model))
			continue;
		model = own;
		cpumask_set_cpu(cpu, &cpus);
	}
	if (!model)
		return 0;
	cpumask_andnot(left, left, &cpus);

	return find_cpu_type(name, model, &cpus);
}

/* Hybrid machine: find a PMU for each CPU type; fail if a type is unknown. */
static int __corepmu_init find_hybrid(void)
{
	static struct cpumask left;
	unsigned int i;
	int ret = 0;

	cpus_read_lock();
	cpumask_copy(&left, cpu_online_mask);
	on_each_cpu(note_native_model, NULL, 1);
	for (i = 0; i < ARRAY_SIZE(hybrid_cpu_types) && !ret; i++)
		ret = find_hybrid_cpu_type(hybrid_cpu_types[i].core_type,
					   hybrid_cpu_types[i].name, &left);
	cpus_read_unlock();
	if (ret || cpumask_empty(&left))
		return ret;

	pr_err("CPUs %*pbl have an unknown CPU type (CPUID leaf 0x1a: %#x): take them offline before loading\n",
	       cpumask_pr_args(&left), per_cpu(native_models, cpumask_first(&left)));
	return -ENODEV;
}

/* Choose one backend for all CPU types: all have the same kind of registers. */
static void __corepmu_init choose_backend(bool shares_counters)
{
	const struct corepmu_backend *backend = &x86_global_backend;
	struct x86_desc *desc;
	unsigned int i;

	for (i = 0; (desc = x86_cpu_type(i)); i++) {
		desc->shares_counters = shares_counters;
		if (!x86_is_global(desc))
			backend = &x86_each_backend;
	}

	for (i = 0; (desc = x86_cpu_type(i)); i++) {
		desc->pmu->backend = backend;
		desc->pmu->claims_generic = !shares_counters;
		/* KVM gives guests a virtual PMU only if the built-in driver is present. */
		if (shares_counters)
			desc->pmu->capabilities |= COMPAT_PMU_CAP_MEDIATED_VPMU;
		/*
		 * Only the first CPU type takes raw events: on other types the same number is
		 * another event.
		 */
		desc->pmu->secondary = i;
	}
}

/* Sharing with the built-in driver requires that it reserves the counters under known numbers. */
static int __corepmu_init can_share(void)
{
	struct x86_desc *desc;
	unsigned int i;

	for (i = 0; (desc = x86_cpu_type(i)); i++) {
		if (!desc->shares_counters || !desc->aliased)
			continue;
		pr_err("perfmon version 6: the built-in driver does not reserve its counters: corepmu can only replace that driver, not coexist\n");
		return -EBUSY;
	}

	return 0;
}

/**
 * x86_describe_branches() - find out what branch records the CPUs have
 * @desc: the PMU description; its counters are known and reserved
 *
 * Process context.
 *
 * Return: 0, also if there are none, or -ENOMEM
 */
int __corepmu_init x86_describe_branches(struct x86_desc *desc)
{
	/* The driver tells kernel addresses from user addresses by bit 63. */
	if (!IS_ENABLED(CONFIG_64BIT)) {
		desc->pmu->branch_reason = "32-bit kernels are not supported";
		return 0;
	}
	if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL)
		return x86_lbr_describe(desc);
	if (boot_cpu_data.x86_vendor == X86_VENDOR_AMD ||
	    boot_cpu_data.x86_vendor == X86_VENDOR_HYGON)
		return amd_describe_branches(desc);
	desc->pmu->branch_reason = "no branch records are documented for Zhaoxin's CPUs";

	return 0;
}

static void __corepmu_init describe_cpu_msrs(void *desc)
{
	intel_describe_extra_regs(desc);
	x86_describe_acr(desc);
}

/*
 * Find out about branch records, extra registers, ACR and PEBS. All CPU types of a machine have the
 * same branch records; the rest differs, and is read on a CPU of each type.
 */
static int __corepmu_init describe_features(void)
{
	struct x86_desc *desc;
	unsigned int i;
	int ret;

	x86_exclusive_init(x86_cpu_type(0));
	for (i = 0; (desc = x86_cpu_type(i)); i++) {
		ret = x86_describe_branches(desc);
		if (ret)
			return ret;
		x86_describe_precise(desc);
		x86_describe_status(desc);
		ret = smp_call_function_any(&desc->pmu->supported_cpus, describe_cpu_msrs, desc,
					    1);
		if (ret)
			return ret;
	}

	return 0;
}

/* Order of registration, such that perf core tries the first CPU type first */
static struct corepmu *cpu_type_to_register(unsigned int i)
{
	return x86_cpu_type(COMPAT_NEWEST_PMU_FIRST ? x86_nr_cpu_types() - 1 - i : i)->pmu;
}

static void unregister_cpu_types(unsigned int nr)
{
	while (nr--)
		corepmu_unregister(cpu_type_to_register(nr));
}

static int __corepmu_init register_cpu_types(void)
{
	unsigned int i;
	int ret;

	for (i = 0; i < x86_nr_cpu_types(); i++) {
		ret = corepmu_register(cpu_type_to_register(i));
		if (ret) {
			unregister_cpu_types(i);
			return ret;
		}
	}

	return 0;
}

/**
 * corepmu_arch_init() - find the PMUs of this machine and register them
 *
 * Process context, at load.
 *
 * Return: 0, or a negative errno after a message
 */
int __corepmu_init corepmu_arch_init(void)
{
	struct x86_desc *desc;
	int ret;

	ret = boot_cpu_has(X86_FEATURE_HYBRID_CPU) ? find_hybrid() :
						     find_cpu_type(NULL, 0, cpu_possible_mask);
	if (ret)
		goto out_cpu_types;

	ret = corepmu_has_builtin_pmu();
	if (ret < 0)
		goto out_cpu_types;
	choose_backend(ret);
	desc = x86_cpu_type(0);
	ret = can_share();
	if (ret)
		goto out_cpu_types;

	ret = x86_reserve();
	if (ret == -EBUSY)
		pr_err("the counters are held by %s: " X86_REMEDY "\n",
		       desc->shares_counters ? "the built-in driver" : "another driver");
	else if (ret)
		pr_err("the counters do not keep written values (hidden by the hypervisor?): enable the PMU of the virtual machine\n");
	if (ret)
		goto out_cpu_types;

	ret = describe_features();
	if (ret)
		goto out_reserve;

	ret = x86_nmi_init(desc);
	if (ret)
		goto out_reserve;

	x86_rdpmc_init(desc);
	x86_svm_init();
	x86_guest_init(desc);
	x86_vmx_init(desc);
	ret = register_cpu_types();
	if (ret)
		goto out_virt;

	x86_snapshot_init(desc);

	/* From now on the first event reserves the counters. */
	if (desc->shares_counters)
		x86_release(desc->pmu);

	return 0;

out_virt:
	x86_vmx_exit();
	x86_guest_exit();
	x86_svm_exit();
	x86_rdpmc_exit(desc);
	x86_nmi_exit(desc);
out_reserve:
	x86_release(desc->pmu);
out_cpu_types:
	forget_cpu_types();
	return ret;
}

/**
 * corepmu_arch_exit() - undo corepmu_arch_init()
 */
void corepmu_arch_exit(void)
{
	struct x86_desc *desc = x86_cpu_type(0);

	x86_snapshot_exit();
	unregister_cpu_types(x86_nr_cpu_types());
	x86_vmx_exit();
	x86_guest_exit();
	x86_svm_exit();
	x86_rdpmc_exit(desc);
	/* Keep the reservation until then: only its owner handles late NMIs. */
	x86_nmi_exit(desc);
	if (!desc->shares_counters)
		x86_release(desc->pmu);
	forget_cpu_types();
}
