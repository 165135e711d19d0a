// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: what sysfs shows of every PMU, whatever its backend
 */
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/gfp.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>

#include <corepmu/pmu.h>

/*
 * The perf tool takes a PMU with this file for a core PMU, and opens the events of perf -a on all
 * CPUs that it names. One that is offline refuses them, and perf gives up: the file has those that
 * are online, as it has with the built-in driver of hybrid CPUs (intel_pmu_cpu_dead() in
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

/* For the caps/ of every backend: how precise samples can be */
static ssize_t max_precise_show(struct device *dev, struct device_attribute *attr,
				char *page)
{
	return sysfs_emit(page, "%u\n", to_corepmu(dev_get_drvdata(dev))->max_precise);
}

struct device_attribute corepmu_attr_max_precise = __ATTR_RO(max_precise);

/* Only where there are any: the perf tool asks for them by the file. */
static ssize_t branches_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%u\n", to_corepmu(dev_get_drvdata(dev))->nr_branches);
}

struct device_attribute corepmu_attr_branches = __ATTR_RO(branches);

static struct attribute *corepmu_common_attrs[] = {
	&dev_attr_cpus.attr,
	NULL
};

/*
 * Beside another core PMU there must be no such file: perf would open its
 * default events on both.
 */
static umode_t corepmu_common_is_visible(struct kobject *kobj, struct attribute *attr,
					 int unused)
{
	struct device *dev = kobj_to_dev(kobj);

	return to_corepmu(dev_get_drvdata(dev))->claims_generic ? attr->mode : 0;
}

const struct attribute_group corepmu_common_group = {
	.attrs		= corepmu_common_attrs,
	.is_visible	= corepmu_common_is_visible,
};
