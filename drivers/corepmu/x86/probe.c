// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: find out what the CPUs have, and who else wants it
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/cpumask.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include <corepmu/ksyms.h>
#include <corepmu/pmu.h>

#include "msr.h"
#include "x86.h"

static struct x86_desc *x86_desc;

static int describe(struct x86_desc *desc)
{
	if (!boot_cpu_has(X86_FEATURE_APIC)) {
		pr_err("no local APIC: overflows would be lost\n");
		return -ENODEV;
	}

	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_INTEL:
		return intel_describe(desc);
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		return amd_describe(desc);
	default:
		pr_err("there is no backend for this CPU's maker\n");
		return -ENODEV;
	}
}

/**
 * corepmu_arch_init() - find this machine's PMU and register it
 *
 * Process context, at load.
 *
 * Return: 0, or a negative errno after saying why there is none
 */
int corepmu_arch_init(void)
{
	struct x86_desc *desc;
	struct corepmu *pmu;
	int ret = -ENOMEM;

	/* CPUID and the counters of the CPU that this runs on are not those of all. */
	if (boot_cpu_has(X86_FEATURE_HYBRID_CPU)) {
		pr_err("this machine has CPUs of several kinds (hybrid), each with counters and events of its own: that is not supported on x86\n");
		return -ENODEV;
	}

	desc = kzalloc(sizeof(*desc), GFP_KERNEL);
	if (!desc)
		return -ENOMEM;

	/* Which of the two backends it is depends on what is found. */
	pmu = corepmu_alloc(&x86_each_backend);
	if (!pmu)
		goto out_desc;
	desc->pmu = pmu;
	pmu->private = desc;
	cpumask_copy(&pmu->supported_cpus, cpu_possible_mask);

	ret = describe(desc);
	if (ret)
		goto out_pmu;

	ret = corepmu_has_builtin_pmu();
	if (ret < 0)
		goto out_pmu;
	desc->shares_counters = ret;
	pmu->claims_generic = !desc->shares_counters;
	if (desc->global_ctrl && !desc->shares_counters)
		pmu->backend = &x86_global_backend;

	ret = x86_reserve(pmu);
	if (ret == -EBUSY)
		pr_err("the counters are held by %s: " X86_REMEDY "\n",
		       desc->shares_counters ? "the built-in driver" : "another driver");
	else if (ret)
		pr_err("the CPU has no counters that answer: is the PMU kept from this virtual machine?\n");
	if (ret)
		goto out_pmu;

	ret = x86_describe_branches(desc);
	if (ret)
		goto out_reserve;

	ret = x86_nmi_init(desc);
	if (ret)
		goto out_reserve;

	x86_user_init(desc);
	ret = corepmu_register(pmu);
	if (ret)
		goto out_user;

	/* From now on an event brings the reservation. */
	if (desc->shares_counters)
		x86_release(pmu);

	x86_desc = desc;
	return 0;

out_user:
	x86_user_exit(desc);
	x86_nmi_exit(desc);
out_reserve:
	x86_release(pmu);
out_pmu:
	corepmu_free(pmu);
out_desc:
	kfree(desc);
	return ret;
}

/**
 * corepmu_arch_exit() - undo corepmu_arch_init()
 */
void corepmu_arch_exit(void)
{
	struct x86_desc *desc = x86_desc;
	struct corepmu *pmu = desc->pmu;

	corepmu_unregister(pmu);
	x86_user_exit(desc);
	if (!desc->shares_counters)
		x86_release(pmu);
	x86_nmi_exit(desc);
	corepmu_free(pmu);
	kfree(desc);
}
