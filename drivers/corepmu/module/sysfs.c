// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: sysfs attributes that PMUs of all backends have
 */
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/gfp.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

/*
 * Show the online CPUs of the PMU. The perf tool takes a PMU with this file for a core PMU, and
 * perf -a opens events on all CPUs in the file. An event on an offline CPU would fail, and perf
 * would give up. The built-in driver of hybrid CPUs shows online CPUs, too (intel_pmu_cpu_dead() in
 * arch/x86/events/intel/core.c).
 */
static ssize_t cpus_show(struct device *dev, struct device_attribute *attr, char *page)
{
	struct corepmu *pmu = to_corepmu(dev_get_drvdata(dev));
	cpumask_var_t online;
	ssize_t ret;

	if (!alloc_cpumask_var(&online, GFP_KERNEL))
		return -ENOMEM;
	cpumask_and(online, &pmu->supported_cpus, cpu_online_mask);
	ret = sysfs_emit(page, "%*pbl\n", cpumask_pr_args(online));
	free_cpumask_var(online);

	return ret;
}
static DEVICE_ATTR_RO(cpus);

/**
 * corepmu_format_show() - show a format of COREPMU_FORMAT_ATTR()
 * @dev: the PMU's device
 * @attr: member of a struct dev_ext_attribute
 * @page: filled in
 *
 * Return: length of the text
 */
ssize_t corepmu_format_show(struct device *dev, struct device_attribute *attr, char *page)
{
	struct dev_ext_attribute *format = container_of(attr, struct dev_ext_attribute, attr);

	return sysfs_emit(page, "%s\n", (char *)format->var);
}

/* caps/max_precise of every backend: highest attr.precise_ip */
static ssize_t max_precise_show(struct device *dev, struct device_attribute *attr,
				char *page)
{
	return sysfs_emit(page, "%u\n", to_corepmu(dev_get_drvdata(dev))->max_precise);
}

struct device_attribute corepmu_attr_max_precise = __ATTR_RO(max_precise);

/* caps/branches: number of branch records. The perf tool uses branch records if the file exists. */
static ssize_t branches_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%u\n", to_corepmu(dev_get_drvdata(dev))->nr_branches);
}

struct device_attribute corepmu_attr_branches = __ATTR_RO(branches);

/*
 * Show the name that the built-in driver gives the PMU of this CPU type: cpu, or cpu_core,
 * cpu_atom and cpu_lowpower. Perf's metrics, and its events of hybrid CPUs, refer to the PMU by
 * this name. The perf tool finds a PMU by its name or its alias (pmu_find_alias_name() in
 * tools/perf/util/pmu.c).
 */
static ssize_t alias_show(struct device *dev, struct device_attribute *attr, char *page)
{
	const struct corepmu *pmu = to_corepmu(dev_get_drvdata(dev));
	const char *name = pmu->backend->builtin_name;

	if (pmu->cpu_type)
		return sysfs_emit(page, "%s_%s\n", name, pmu->cpu_type);

	return sysfs_emit(page, "%s\n", name);
}
static DEVICE_ATTR_RO(alias);

static struct attribute *corepmu_common_attrs[] = {
	&dev_attr_cpus.attr,
	&dev_attr_alias.attr,
	NULL
};

/*
 * Hide the files if there is another driver's core PMU: perf would open its default events on both
 * PMUs. Hide alias also if no tool looks for the built-in driver's name, or if the PMU has that
 * name (standin=1).
 */
static umode_t corepmu_common_is_visible(struct kobject *kobj, struct attribute *attr,
					 int unused)
{
	const struct corepmu *pmu = to_corepmu(dev_get_drvdata(kobj_to_dev(kobj)));

	if (attr == &dev_attr_alias.attr &&
	    (!pmu->backend->tools_know_name ||
	     corepmu_backend_has_name(pmu->backend, pmu->perf_pmu.name)))
		return 0;

	return pmu->claims_generic ? attr->mode : 0;
}

const struct attribute_group corepmu_common_group = {
	.attrs		= corepmu_common_attrs,
	.is_visible	= corepmu_common_is_visible,
};
