// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: stop the counters at reboot, for the next kernel
 *
 * kexec starts the next kernel without a reset of the CPUs: the next kernel finds the counters as
 * this kernel left them. On x86 the built-in driver takes the PMU for broken if all counters are
 * enabled (check_hw_exists() in arch/x86/events/core.c).
 */
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/smp.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

static void quiesce_cpu(void *data)
{
	struct corepmu *pmu = data;

	pmu->backend->quiesce(this_cpu_ptr(pmu->cpu));
}

/*
 * Stop all counters for good. Tasks still run after this, and perf core schedules their events in
 * and out. Without corepmu_use_none() that would start counters again.
 */
static int corepmu_reboot_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	struct corepmu *pmu = container_of(nb, struct corepmu, reboot_nb);

	corepmu_use_none();
	on_each_cpu_mask(&pmu->supported_cpus, quiesce_cpu, pmu, true);

	return NOTIFY_DONE;
}

/**
 * corepmu_shutdown_add() - quiesce a PMU at reboot
 * @pmu: the PMU, set up on its CPUs
 *
 * Process context.
 */
void __corepmu_init corepmu_shutdown_add(struct corepmu *pmu)
{
	pmu->reboot_nb.notifier_call = corepmu_reboot_notify;
	register_reboot_notifier(&pmu->reboot_nb);
}

/**
 * corepmu_shutdown_remove() - undo corepmu_shutdown_add()
 * @pmu: the PMU
 *
 * Process context.
 */
void corepmu_shutdown_remove(struct corepmu *pmu)
{
	unregister_reboot_notifier(&pmu->reboot_nb);
}
