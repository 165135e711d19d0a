// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: freeze_on_smi: stop the counters during system management interrupts (SMI)
 *
 * An SMI handler is firmware. Its instructions count as the kernel's, or as user space's if the
 * handler drops to CPL 3. With IA32_DEBUGCTL.FREEZE_WHILE_SMM set, no counter counts in the handler
 * (SDM volume 3, "IA32_DEBUGCTL MSR"). The sysfs file freeze_on_smi and its default, 1, are the
 * same as the built-in driver's. If the built-in driver is present, it owns the bit.
 */
#include <linux/cpu.h>
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/sysfs.h>

#include <corepmu/pmu.h>

#include "intel.h"
#include "../msr.h"
#include "../x86.h"

#define DEBUGCTL_FREEZE_IN_SMM	((u64)DEBUGCTLMSR_FREEZE_IN_SMM)

/* One setting for the whole machine: each CPU has the bit, whatever its CPU type. */
static bool freeze_on_smi = true;
static DEFINE_MUTEX(smi_mutex);

/* Check the capability first: a hypervisor without the bit may raise #GP on a write. */
static bool has_freeze(const struct x86_desc *desc)
{
	return desc->capabilities & PERF_CAP_FREEZE_IN_SMM && !desc->shares_counters;
}

/**
 * x86_freeze_on_smi_reset() - set or clear FREEZE_WHILE_SMM on this CPU
 * @cpuc: state of this CPU; its counters and branch records are stopped
 *
 * Other code changes other bits of IA32_DEBUGCTL with the PMU stopped, or in a counter's NMI. An
 * overflow before the stop may have a late NMI. This NMI changes no bit: corepmu_branch_pause() has
 * ended all recording that the NMI would end. If intel_bts stops a trace in an NMI between the read
 * and the write, the write starts the trace again. The built-in driver's flip_smm_bit() has this
 * race, too. IRQs off.
 */
void x86_freeze_on_smi_reset(struct corepmu_cpu *cpuc)
{
	u64 old, debugctl;

	if (!has_freeze(to_x86(cpuc->pmu)))
		return;

	old = x86_read_msr(MSR_IA32_DEBUGCTLMSR);
	debugctl = old & ~DEBUGCTL_FREEZE_IN_SMM;
	if (READ_ONCE(freeze_on_smi))
		debugctl |= DEBUGCTL_FREEZE_IN_SMM;
	if (debugctl != old)
		x86_write_msr(MSR_IA32_DEBUGCTLMSR, debugctl);
}

static void apply_setting(void *unused)
{
	struct corepmu *pmu = x86_this_pmu();
	struct corepmu_cpu *cpuc;
	bool running;

	if (!pmu)
		return;
	cpuc = this_cpu_ptr(pmu->cpu);
	/* Stop the PMU: an NMI between the read and the write would lose its change of the MSR. */
	running = corepmu_pause_cpu(cpuc);
	x86_freeze_on_smi_reset(cpuc);
	corepmu_resume_cpu(cpuc, running);
}

static ssize_t freeze_on_smi_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%d\n", READ_ONCE(freeze_on_smi));
}

static ssize_t freeze_on_smi_store(struct device *dev, struct device_attribute *attr,
				   const char *page, size_t count)
{
	unsigned long value;
	int ret;

	ret = kstrtoul(page, 0, &value);
	if (ret)
		return ret;
	if (value > 1)
		return -EINVAL;

	mutex_lock(&smi_mutex);
	/* x86_freeze_on_smi_reset() applies the setting to CPUs that come online later. */
	WRITE_ONCE(freeze_on_smi, value);
	cpus_read_lock();
	on_each_cpu(apply_setting, NULL, 1);
	cpus_read_unlock();
	mutex_unlock(&smi_mutex);

	return count;
}
static DEVICE_ATTR_RW(freeze_on_smi);

static struct attribute *x86_freeze_on_smi_attrs[] = {
	&dev_attr_freeze_on_smi.attr,
	NULL
};

static umode_t x86_freeze_on_smi_is_visible(struct kobject *kobj, struct attribute *attr,
					    int unused)
{
	struct device *dev = kobj_to_dev(kobj);

	return has_freeze(to_x86(to_corepmu(dev_get_drvdata(dev)))) ? attr->mode : 0;
}

const struct attribute_group x86_freeze_on_smi_group = {
	.attrs		= x86_freeze_on_smi_attrs,
	.is_visible	= x86_freeze_on_smi_is_visible,
};
