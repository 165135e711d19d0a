// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: find the PMUs of this machine, and register them
 *
 * A devicetree has a node for each CPU type, which a platform driver binds to. With ACPI the CPU
 * types are read from the CPUs, and the interrupts from the MADT.
 *
 * The module loads automatically for devicetree PMUs that the built-in driver of the kernel does
 * not know. On other CPUs the built-in driver holds the PMU at boot, and loading would fail: a user
 * who blacklists that driver's initcall loads the module by name (/etc/modules-load.d). ACPI has no
 * device to load a module for.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/acpi.h>
#include <linux/bitfield.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/of_platform.h>
#include <linux/platform_device.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "pmuv3.h"
#include "sysreg.h"

/* Errno of the PMU that failed last: the driver core does not return the errno of a probe. */
static int probe_error;

/* PMUs that are registered with perf core */
static unsigned int nr_added;

/* Set when a PMU with NMIs has been set up; stays set. */
static bool nmi_used;

/*
 * Check for a CPU model whose PMCCNTR_EL0 counts while the CPU waits (WFI, WFE), which DDI 0487,
 * D13.1.3 allows. The list is armv8pmu_avoid_pmccntr_cpus[] of arm_pmuv3.c in Linux 7.3.
 */
static bool __corepmu_init is_clock_on_while_waiting(u32 midr)
{
	return FIELD_GET(MIDR_IMPLEMENTER, midr) == MIDR_IMPLEMENTER_NVIDIA &&
	       FIELD_GET(MIDR_PART, midr) == MIDR_PART_OLYMPUS;
}

/**
 * pmuv3_describe() - read a PMU's features from the CPU
 * @pmuv3: the PMU; the function sets its private part and its counters
 *
 * On one of the PMU's CPUs, not preemptible.
 *
 * Return: 0, or -ENODEV if the CPU has no PMUv3
 */
int __corepmu_init pmuv3_describe(struct pmuv3 *pmuv3)
{
	struct corepmu *pmu = pmuv3->pmu;
	u64 pfr0, ceid0, ceid1, event_counters;
	unsigned int nr;
	bool wide;
	int cpu, idx;

	/* D23.7: 0xf is an IMPLEMENTATION DEFINED PMU, not PMUv3. */
	pmuv3->pmuver = FIELD_GET(DFR0_PMUVER, pmuv3_read_dfr0());
	if (pmuv3->pmuver == PMUVER_NONE || pmuv3->pmuver == PMUVER_IMPDEF)
		return -ENODEV;

	pfr0 = read_sanitised_ftr_reg(SYS_ID_AA64PFR0_EL1);
	pmuv3->has_el2 = !is_kernel_in_hyp_mode() && FIELD_GET(PFR0_EL2, pfr0);
	pmuv3->has_el3 = is_kernel_in_hyp_mode() && FIELD_GET(PFR0_EL3, pfr0);

	/* PMCR_EL0.N excludes counters that a hypervisor keeps for itself. */
	nr = FIELD_GET(PMCR_N, pmuv3_read_pmcr());
	event_counters = nr ? GENMASK_ULL(nr - 1, 0) : 0;

	pmu->counters = event_counters | BIT_ULL(PMUV3_CYCLE_COUNTER);
	if (pmuv3_reaches_v3p9(pmuv3) && FIELD_GET(DFR1_PMICNTR, pmuv3_read_dfr1()))
		pmu->counters |= BIT_ULL(PMUV3_INSTR_COUNTER);

	pmuv3->pmcr = PMCR_LC;
	wide = pmuv3->pmuver >= PMUVER_V3P5;
	if (wide)
		pmuv3->pmcr |= PMCR_LP;
	else
		pmu->pair_counters = event_counters & PMUV3_ODD_COUNTERS;
	/* Perf core may place events on a CPU before its first reset: see corepmu_cpu_online(). */
	for_each_possible_cpu(cpu)
		per_cpu_ptr(pmu->cpu, cpu)->stopped_ctrl = pmuv3->pmcr;

	pmu->pair_width = 64;
	for (idx = 0; idx < PMUV3_MAX_EVENT_COUNTERS; idx++)
		pmu->width[idx] = wide ? 64 : 32;
	pmu->width[PMUV3_CYCLE_COUNTER] = 64;
	pmu->width[PMUV3_INSTR_COUNTER] = 64;

	/* The upper words of PMCEID<n>_EL0 are the events from 0x4000 on. */
	ceid0 = pmuv3_read_pmceid0();
	ceid1 = pmuv3_read_pmceid1();
	pmuv3->pmceid[0] = lower_32_bits(ceid0) | (u64)lower_32_bits(ceid1) << 32;
	pmuv3->pmceid[1] = upper_32_bits(ceid0) | (u64)upper_32_bits(ceid1) << 32;
	pmuv3_describe_hardware(pmuv3);

	if (pmuv3->pmuver >= PMUVER_V3P4)
		pmuv3->pmmir = pmuv3_read_pmmir();

	pmuv3->avoid_pmccntr = topology_thread_id(smp_processor_id()) != -1 ||
			       is_clock_on_while_waiting(pmuv3_read_midr());
	pmuv3_describe_branches(pmuv3);

	return 0;
}

static void __corepmu_init describe_cpu(void *data)
{
	struct pmuv3 *pmuv3 = data;

	probe_error = pmuv3_describe(pmuv3);
}

static __corepmu_init struct pmuv3 *pmuv3_alloc(struct device *parent)
{
	struct pmuv3 *pmuv3;

	pmuv3 = kzalloc(sizeof(*pmuv3), GFP_KERNEL);
	if (!pmuv3)
		return NULL;

	pmuv3->pmu = corepmu_alloc(&pmuv3_backend);
	if (!pmuv3->pmu) {
		kfree(pmuv3);
		return NULL;
	}

	pmuv3->pmu->private = pmuv3;
	pmuv3->pmu->parent = parent;
	if (!pmuv3_sampling)
		pmuv3->pmu->capabilities |= PERF_PMU_CAP_NO_INTERRUPT;
	/*
	 * A PMU belongs to either the built-in driver or this one, since only one can own the
	 * interrupt. The owner answers generic events.
	 */
	pmuv3->pmu->claims_generic = true;

	return pmuv3;
}

static void pmuv3_free(struct pmuv3 *pmuv3)
{
	corepmu_free(pmuv3->pmu);
	kfree(pmuv3);
}

/* Describe a PMU whose CPUs and interrupts are known, request the interrupts, and register it. */
static int __corepmu_init pmuv3_add(struct pmuv3 *pmuv3)
{
	int ret;

	if (nr_added && cpumask_equal(&pmuv3->pmu->supported_cpus, cpu_possible_mask)) {
		pr_err("a PMU node does not name its CPUs (interrupt-affinity or PPI partition), which is required with more than one PMU node\n");
		return -EINVAL;
	}

	ret = smp_call_function_any(&pmuv3->pmu->supported_cpus, describe_cpu, pmuv3, 1);
	if (ret) {
		pr_err("CPUs %*pbl of a PMU node are offline, and only an online CPU can be identified: bring one online and load corepmu again\n",
		       cpumask_pr_args(&pmuv3->pmu->supported_cpus));
		return ret;
	}
	ret = probe_error;
	if (ret) {
		pr_err("CPUs %*pbl of a PMU node have no PMUv3 (ID_AA64DFR0_EL1): in a virtual machine, enable its PMU\n",
		       cpumask_pr_args(&pmuv3->pmu->supported_cpus));
		return ret;
	}

	ret = pmuv3_setup_branches(pmuv3);
	if (ret)
		return ret;

	ret = pmuv3_request_irqs(pmuv3);
	if (ret)
		return ret;
	/*
	 * All PMUs share the static calls of the hot paths. Once one PMU has NMIs, these calls use
	 * the NMI backend, also for PMUs that were registered before.
	 */
	if (pmuv3->nmi || nmi_used)
		pmuv3->pmu->backend = &pmuv3_nmi_backend;
	if (pmuv3->nmi && !nmi_used)
		pr_info("overflow interrupts are NMIs\n");
	nmi_used |= pmuv3->nmi;

	/* The parameter type= sets the PMU type of the first PMU only. */
	pmuv3->pmu->secondary = nr_added;
	ret = corepmu_register(pmuv3->pmu);
	if (ret)
		pmuv3_free_irqs(pmuv3);
	else
		nr_added++;

	return ret;
}

static void pmuv3_remove(struct pmuv3 *pmuv3)
{
	corepmu_unregister(pmuv3->pmu);
	nr_added--;
	pmuv3_free_irqs(pmuv3);
}

/* Devicetree */

static void pmuv3_device_gone(void *data)
{
	struct pmuv3 *pmuv3 = data;

	pmuv3_remove(pmuv3);
	pmuv3_free(pmuv3);
}

/* Compatible string, the built-in driver's name of the PMU, model-specific cache events */
#define PMUV3_OF(_compatible, _name, _cache_events)			\
	{								\
		.compatible = _compatible,				\
		.data = &(const struct pmuv3_of_type){			\
			.name		= _name,			\
			.cache_events	= _cache_events,		\
		},							\
	}

/* armv8_pmu_of_device_ids[] in drivers/perf/arm_pmuv3.c; the names are set by its functions */
static const struct of_device_id pmuv3_of_ids[] = {
	PMUV3_OF("arm,armv8-pmuv3", "armv8_pmuv3", NULL),
	PMUV3_OF("arm,c1-nano-pmu", "armv8_c1_nano", NULL),
	PMUV3_OF("arm,c1-premium-pmu", "armv8_c1_premium", NULL),
	PMUV3_OF("arm,c1-pro-pmu", "armv8_c1_pro", NULL),
	PMUV3_OF("arm,c1-ultra-pmu", "armv8_c1_ultra", NULL),
	PMUV3_OF("arm,cortex-a34-pmu", "armv8_cortex_a34", NULL),
	PMUV3_OF("arm,cortex-a35-pmu", "armv8_cortex_a35", pmuv3_a53_events),
	PMUV3_OF("arm,cortex-a53-pmu", "armv8_cortex_a53", pmuv3_a53_events),
	PMUV3_OF("arm,cortex-a55-pmu", "armv8_cortex_a55", NULL),
	PMUV3_OF("arm,cortex-a57-pmu", "armv8_cortex_a57", pmuv3_a57_events),
	PMUV3_OF("arm,cortex-a65-pmu", "armv8_cortex_a65", NULL),
	PMUV3_OF("arm,cortex-a72-pmu", "armv8_cortex_a72", pmuv3_a57_events),
	PMUV3_OF("arm,cortex-a73-pmu", "armv8_cortex_a73", pmuv3_a73_events),
	PMUV3_OF("arm,cortex-a75-pmu", "armv8_cortex_a75", NULL),
	PMUV3_OF("arm,cortex-a76-pmu", "armv8_cortex_a76", NULL),
	PMUV3_OF("arm,cortex-a77-pmu", "armv8_cortex_a77", NULL),
	PMUV3_OF("arm,cortex-a78-pmu", "armv8_cortex_a78", NULL),
	PMUV3_OF("arm,cortex-a320-pmu", "armv9_cortex_a320", NULL),
	PMUV3_OF("arm,cortex-a510-pmu", "armv9_cortex_a510", NULL),
	PMUV3_OF("arm,cortex-a520-pmu", "armv9_cortex_a520", NULL),
	PMUV3_OF("arm,cortex-a520ae-pmu", "armv9_cortex_a520ae", NULL),
	PMUV3_OF("arm,cortex-a710-pmu", "armv9_cortex_a710", NULL),
	PMUV3_OF("arm,cortex-a715-pmu", "armv9_cortex_a715", NULL),
	PMUV3_OF("arm,cortex-a720-pmu", "armv9_cortex_a720", NULL),
	PMUV3_OF("arm,cortex-a720ae-pmu", "armv9_cortex_a720ae", NULL),
	PMUV3_OF("arm,cortex-a725-pmu", "armv9_cortex_a725", NULL),
	PMUV3_OF("arm,cortex-x1-pmu", "armv8_cortex_x1", NULL),
	PMUV3_OF("arm,cortex-x2-pmu", "armv9_cortex_x2", NULL),
	PMUV3_OF("arm,cortex-x3-pmu", "armv9_cortex_x3", NULL),
	PMUV3_OF("arm,cortex-x4-pmu", "armv9_cortex_x4", NULL),
	PMUV3_OF("arm,cortex-x925-pmu", "armv9_cortex_x925", NULL),
	PMUV3_OF("arm,neoverse-e1-pmu", "armv8_neoverse_e1", NULL),
	PMUV3_OF("arm,neoverse-n1-pmu", "armv8_neoverse_n1", NULL),
	PMUV3_OF("arm,neoverse-n2-pmu", "armv9_neoverse_n2", NULL),
	PMUV3_OF("arm,neoverse-n3-pmu", "armv9_neoverse_n3", NULL),
	PMUV3_OF("arm,neoverse-v1-pmu", "armv8_neoverse_v1", NULL),
	PMUV3_OF("arm,neoverse-v2-pmu", "armv8_neoverse_v2", NULL),
	PMUV3_OF("arm,neoverse-v3-pmu", "armv8_neoverse_v3", NULL),
	PMUV3_OF("arm,neoverse-v3ae-pmu", "armv8_neoverse_v3ae", NULL),
	PMUV3_OF("arm,rainier-pmu", "armv8_rainier", NULL),
	PMUV3_OF("cavium,thunder-pmu", "armv8_cavium_thunder", pmuv3_thunderx_events),
	PMUV3_OF("brcm,vulcan-pmu", "armv8_brcm_vulcan", pmuv3_vulcan_events),
	PMUV3_OF("nvidia,carmel-pmu", "armv8_nvidia_carmel", NULL),
	PMUV3_OF("nvidia,denver-pmu", "armv8_nvidia_denver", NULL),
	PMUV3_OF("samsung,mongoose-pmu", "armv8_samsung_mongoose", NULL),
	{ }
};

/**
 * pmuv3_of_type() - return the PMU type that a devicetree node names
 * @np: the PMU's node
 *
 * Return: the PMU type, or NULL for an unknown compatible string
 */
__corepmu_init const struct pmuv3_of_type *pmuv3_of_type(const struct device_node *np)
{
	const struct of_device_id *id = of_match_node(pmuv3_of_ids, np);

	return id ? id->data : NULL;
}

/* Two nodes may name the same type; the built-in driver's name is for the first one's PMU only. */
static int __corepmu_init pmuv3_is_of_type(struct device *dev, void *type)
{
	return pmuv3_of_type(dev->of_node) == type;
}

static int __corepmu_init pmuv3_device_probe(struct platform_device *pdev)
{
	const struct pmuv3_of_type *type = pmuv3_of_type(pdev->dev.of_node);
	struct pmuv3 *pmuv3;
	int ret;

	/* With driver_override in sysfs, any device may be bound to this driver. */
	if (!type)
		return -ENODEV;
	pmuv3 = pmuv3_alloc(&pdev->dev);
	if (!pmuv3)
		return -ENOMEM;

	if (!driver_for_each_device(pdev->dev.driver, NULL, (void *)type, pmuv3_is_of_type))
		pmuv3->pmu->builtin_name = type->name;
	pmuv3->cache_events = type->cache_events;
	ret = pmuv3_parse_irqs_of(pmuv3, pdev);
	if (!ret)
		ret = pmuv3_add(pmuv3);
	if (ret) {
		pmuv3_free(pmuv3);
		/* The reason has been logged: with -ENODEV the driver core logs no other. */
		probe_error = ret;
		return -ENODEV;
	}

	return devm_add_action_or_reset(&pdev->dev, pmuv3_device_gone, pmuv3);
}

/*
 * The module loads automatically for PMUs that the built-in driver does not know. For other PMUs,
 * each boot would load the module in vain and log a message, since the built-in driver has the PMU.
 * The lists are those of the kernel versions that have been checked; another version
 * uses the list of the next newer checked version.
 */
#if COMPAT_BUILTIN_LACKS_PMUS_OF_7_3
static const struct of_device_id pmuv3_alone_of_ids[] = {
	{ .compatible = "arm,c1-nano-pmu" },
	{ .compatible = "arm,c1-premium-pmu" },
	{ .compatible = "arm,c1-pro-pmu" },
	{ .compatible = "arm,c1-ultra-pmu" },
	{ .compatible = "arm,cortex-a320-pmu" },
	{ .compatible = "arm,cortex-a520ae-pmu" },
	{ .compatible = "arm,cortex-a720ae-pmu" },
	{ .compatible = "arm,rainier-pmu" },
	{ .compatible = "samsung,mongoose-pmu" },
#if COMPAT_BUILTIN_LACKS_PMUS_OF_6_12
	{ .compatible = "arm,cortex-a520-pmu" },
	{ .compatible = "arm,cortex-a715-pmu" },
	{ .compatible = "arm,cortex-a720-pmu" },
	{ .compatible = "arm,cortex-a725-pmu" },
	{ .compatible = "arm,cortex-x3-pmu" },
	{ .compatible = "arm,cortex-x4-pmu" },
	{ .compatible = "arm,cortex-x925-pmu" },
	{ .compatible = "arm,neoverse-n3-pmu" },
	{ .compatible = "arm,neoverse-v2-pmu" },
	{ .compatible = "arm,neoverse-v3-pmu" },
	{ .compatible = "arm,neoverse-v3ae-pmu" },
#endif
	{ }
};
MODULE_DEVICE_TABLE(of, pmuv3_alone_of_ids);
#endif

static struct platform_driver pmuv3_driver = {
	.driver	= {
		.name			= "corepmu",
		.of_match_table		= pmuv3_of_ids,
	},
};

/* Log why the driver was bound to no node. */
static int __corepmu_init explain_no_device(void)
{
	struct platform_device *pdev;
	struct device_node *np;
	int ret = -ENODEV;

	np = of_find_matching_node(NULL, pmuv3_of_ids);
	if (!np) {
		pr_err("the devicetree has no PMUv3 node: in a virtual machine, enable its PMU\n");
		return ret;
	}

	pdev = of_find_device_by_node(np);
	if (pdev && pdev->dev.driver) {
		pr_err("%pOF is held by the driver %s: boot with initcall_blacklist=%s\n",
		       np, pdev->dev.driver->name, PMUV3_BUILTIN_INITCALL);
		ret = -EBUSY;
	} else {
		pr_err("%pOF has no platform device: enable the node (status = \"okay\")\n", np);
	}

	if (pdev)
		platform_device_put(pdev);
	of_node_put(np);
	return ret;
}

/* The kernel frees the functions that probe after the load: no later device is bound. */
static int __corepmu_init pmuv3_init_of(void)
{
	int ret;

	probe_error = 0;
	ret = platform_driver_probe(&pmuv3_driver, pmuv3_device_probe);
	if (ret != -ENODEV)
		return ret;

	return probe_error ?: explain_no_device();
}

/* ACPI */

static void pmuv3_drop_cpu_type(struct pmuv3 *pmuv3)
{
	pmuv3_cpu_type_forget(pmuv3);
	pmuv3_free(pmuv3);
}

/* Allocate a PMU for each CPU type that is online, in the order of the CPUs, without setup. */
static int __corepmu_init pmuv3_find_cpu_types(void)
{
	static struct cpumask left;

	pmuv3_note_cpus(&left);
	while (!cpumask_empty(&left)) {
		struct pmuv3 *pmuv3 = pmuv3_alloc(NULL);

		if (!pmuv3)
			return -ENOMEM;
		pmuv3_cpu_type_take(pmuv3, &left);
	}

	return 0;
}

static int __corepmu_init pmuv3_add_cpu_type(struct pmuv3 *pmuv3)
{
	int ret;

	ret = pmuv3_parse_irqs_acpi(pmuv3);
	if (ret)
		return ret;

	/* arm_pmu_acpi_probe() numbers the PMUs, even a single one. */
	if (corepmu_as_builtin) {
		snprintf(pmuv3->number, sizeof(pmuv3->number), "%u", nr_added);
		pmuv3->pmu->cpu_type = pmuv3->number;
	}
	return pmuv3_add(pmuv3);
}

/* Set up a PMU for each CPU type. If one fails, after a message, the others stay. */
static int __corepmu_init pmuv3_init_acpi(void)
{
	struct pmuv3 *pmuv3, *next;
	int ret, error = -ENODEV;

	ret = pmuv3_find_cpu_types();
	list_for_each_entry_safe(pmuv3, next, &pmuv3_cpu_types, node) {
		if (!ret)
			error = pmuv3_add_cpu_type(pmuv3);
		if (ret || error)
			pmuv3_drop_cpu_type(pmuv3);
	}

	if (ret)
		return ret;
	return nr_added ? 0 : error;
}

static void pmuv3_exit_acpi(void)
{
	struct pmuv3 *pmuv3, *next;

	list_for_each_entry_safe_reverse(pmuv3, next, &pmuv3_cpu_types, node) {
		pmuv3_remove(pmuv3);
		pmuv3_drop_cpu_type(pmuv3);
	}
}

/**
 * corepmu_arch_init() - find this machine's PMUs and register them
 *
 * Process context, at load.
 *
 * Return: 0 if there is at least one PMU, or a negative errno after a message
 */
int __corepmu_init corepmu_arch_init(void)
{
	int ret;

	pmuv3_nmi_init();
	pmuv3_kvm_init();
	pmuv3_idle_init();
	ret = acpi_disabled ? pmuv3_init_of() : pmuv3_init_acpi();
	if (ret) {
		pmuv3_idle_exit();
		pmuv3_kvm_exit();
		return ret;
	}

	pmuv3_rdpmc_init(pmuv3_sysctl_exists());
	return 0;
}

/**
 * corepmu_arch_exit() - undo corepmu_arch_init()
 */
void corepmu_arch_exit(void)
{
	pmuv3_rdpmc_exit();
	if (acpi_disabled)
		platform_driver_unregister(&pmuv3_driver);
	else
		pmuv3_exit_acpi();
	pmuv3_idle_exit();
	pmuv3_kvm_exit();
}
