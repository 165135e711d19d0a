// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: whether counters stand still while firmware has the CPU
 *
 * A system management interrupt takes the CPU away from the kernel, and what its handler does is
 * counted as the kernel's, or as the user's where the handler drops to CPL 3. While
 * IA32_DEBUGCTL.FREEZE_WHILE_SMM is set, nothing counts there (SDM volume 3, "IA32_DEBUGCTL MSR").
 * The file freeze_on_smi is the built-in driver's, and so is that the bit is set to begin with.
 * Beside that driver the bit is its own.
 */
#include <linux/cpu.h>
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/sysfs.h>

#include <corepmu/pmu.h>

#include "../msr.h"
#include "../x86.h"

#define DEBUGCTL_FREEZE_IN_SMM	((u64)DEBUGCTLMSR_FREEZE_IN_SMM)

/* Of all CPUs; the bit is one of the machine's, whichever kind of CPU it is written by. */
static bool freeze_on_smi = true;
static DEFINE_MUTEX(smi_mutex);

/* The capability, since a hypervisor that has no such bit may raise #GP. */
static bool has_freeze(const struct x86_desc *desc)
{
	return desc->capabilities & PERF_CAP_FREEZE_IN_SMM && !desc->shares_counters;
}

/**
 * x86_smi_reset() - have this CPU's counters stand still during SMIs, or not
 * @cpuc: this CPU's state; its counters and its branch records are stopped
 *
 * Others change other bits of the register with the PMU stopped, or from the NMI of a counter,
 * which does not come then. IRQs off.
 */
void x86_smi_reset(struct corepmu_cpu *cpuc)
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

static void apply(void *unused)
{
	struct corepmu *pmu = x86_this_pmu();
	struct corepmu_cpu *cpuc;
	bool running;

	if (!pmu)
		return;
	cpuc = this_cpu_ptr(pmu->cpu);
	/* An NMI between reading and writing would have its change of the register undone. */
	running = cpuc->running;
	if (running)
		corepmu_stop_cpu(cpuc);
	x86_smi_reset(cpuc);
	if (running)
		corepmu_start_cpu(cpuc);
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
	/* A CPU that comes later has it from x86_smi_reset(). */
	WRITE_ONCE(freeze_on_smi, value);
	cpus_read_lock();
	on_each_cpu(apply, NULL, 1);
	cpus_read_unlock();
	mutex_unlock(&smi_mutex);

	return count;
}
static DEVICE_ATTR_RW(freeze_on_smi);

static struct attribute *x86_smi_attrs[] = {
	&dev_attr_freeze_on_smi.attr,
	NULL
};

static umode_t x86_smi_is_visible(struct kobject *kobj, struct attribute *attr, int unused)
{
	struct device *dev = kobj_to_dev(kobj);

	return has_freeze(to_x86(to_corepmu(dev_get_drvdata(dev)))) ? attr->mode : 0;
}

const struct attribute_group x86_smi_group = {
	.attrs		= x86_smi_attrs,
	.is_visible	= x86_smi_is_visible,
};
