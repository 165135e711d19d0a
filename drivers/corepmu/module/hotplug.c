// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: CPU hotplug, CPU power-down and system suspend
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/cpu_pm.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/notifier.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <corepmu/counter.h>
#include <corepmu/module.h>
#include <corepmu/overflow.h>
#include <corepmu/pmu.h>
#include <corepmu/rdpmc.h>

static enum cpuhp_state corepmu_cpuhp_state;

/* Stop the CPU's events and bring their counts up to date, before the CPU loses its registers. */
static void corepmu_power_down(struct corepmu_cpu *cpuc)
{
	u64 active = cpuc->active;

	corepmu_pause_cpu(cpuc);
	cpuc->suspended = active;
	for (; active; active &= active - 1) {
		struct perf_event *event = cpuc->events[__ffs64(active)];

		if (event)
			corepmu_event_stop(event, PERF_EF_UPDATE);
	}
}

/* Set up the CPU's counters after a reset of its registers, and start those that counted. */
static void corepmu_power_up(struct corepmu_cpu *cpuc)
{
	u64 left;

	for (left = cpuc->used; left; left &= left - 1) {
		int idx = __ffs64(left);
		struct perf_event *event = cpuc->events[idx];

		/* The lower counter of a pair */
		if (!event)
			continue;

		corepmu_counter_program(cpuc, event);
		/* In a late sample at power-down, perf core may have throttled the event. */
		if ((cpuc->suspended & BIT_ULL(idx)) && !corepmu_stays_stopped(event))
			corepmu_event_start(event, 0);
	}
	cpuc->suspended = 0;

	corepmu_resume_cpu(cpuc, cpuc->used);
}

/**
 * corepmu_warn_changed() - log that another agent writes a CPU's registers
 * @cpu: the CPU
 *
 * Any context, NMI too.
 */
void corepmu_warn_changed(unsigned int cpu)
{
	pr_warn_once("CPU%u: another agent (a program, another module, firmware or a hypervisor) has written the PMU's registers: counts since then may be wrong; stop that agent\n",
		     cpu);
}

/**
 * corepmu_registers_changed() - set up this CPU again after another agent has written its registers
 * @cpuc: this CPU's state
 *
 * The counters' values are valid: this function adds them to the counts. IRQs off, and not between
 * corepmu_disable() and corepmu_enable().
 */
void corepmu_registers_changed(struct corepmu_cpu *cpuc)
{
	corepmu_power_down(cpuc);
	cpuc->pmu->backend->reset(cpuc);
	corepmu_power_up(cpuc);
}

/*
 * Set up the PMU of a CPU that comes online. Perf core's own callback runs earlier, so that events
 * may be on the CPU already.
 */
static int corepmu_cpu_online(unsigned int cpu, struct hlist_node *node)
{
	struct corepmu *pmu = hlist_entry(node, struct corepmu, node);
	struct corepmu_cpu *cpuc = per_cpu_ptr(pmu->cpu, cpu);
	unsigned long flags;

	if (!cpumask_test_cpu(cpu, &pmu->supported_cpus) &&
	    !(pmu->backend->joins && pmu->backend->joins(cpuc)))
		return 0;

	local_irq_save(flags);
	corepmu_power_down(cpuc);
	pmu->backend->reset(cpuc);
	/* Unmask first: on x86, an overflow while LVTPC is masked raises no PMI. */
	pmu->backend->irq_enable(cpuc);
	corepmu_power_up(cpuc);
	/* From here on perf core may put events on a CPU that has joined the PMU. */
	cpumask_set_cpu(cpu, &pmu->supported_cpus);
	local_irq_restore(flags);

	return 0;
}

/* Release the PMU of a CPU that goes offline. Perf core deletes the CPU's events after this. */
static int corepmu_cpu_offline(unsigned int cpu, struct hlist_node *node)
{
	struct corepmu *pmu = hlist_entry(node, struct corepmu, node);
	struct corepmu_cpu *cpuc = per_cpu_ptr(pmu->cpu, cpu);
	unsigned long flags;

	if (!cpumask_test_cpu(cpu, &pmu->supported_cpus))
		return 0;

	pmu->backend->irq_disable(cpuc);
	if (!cpuc->used) {
		local_irq_save(flags);
		pmu->backend->quiesce(cpuc);
		local_irq_restore(flags);
	}

	return 0;
}

/*
 * Stop and restart the PMU around a power-down of this CPU. IRQs off. If corepmu_cpu_online() has
 * not set up the CPU yet, perf core may have put events there already. This function saves
 * these events like others; the second reset, by corepmu_cpu_online(), does no harm.
 */
static int corepmu_pm_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	struct corepmu *pmu = container_of(nb, struct corepmu, pm_nb);
	struct corepmu_cpu *cpuc = this_cpu_ptr(pmu->cpu);

	if (!cpumask_test_cpu(smp_processor_id(), &pmu->supported_cpus))
		return NOTIFY_DONE;

	switch (action) {
	case CPU_PM_ENTER:
		corepmu_power_down(cpuc);
		return NOTIFY_OK;

	case CPU_PM_EXIT:
		pmu->backend->reset(cpuc);
		fallthrough;
	case CPU_PM_ENTER_FAILED:
		corepmu_power_up(cpuc);
		/* After a suspend the current task may read counters before a task switch. */
		if (READ_ONCE(corepmu_rdpmc_in_use))
			corepmu_rdpmc_switch(cpuc);
		return NOTIFY_OK;

	default:
		return NOTIFY_DONE;
	}
}

#ifdef CONFIG_CPU_PM

static void __corepmu_init corepmu_pm_init(void)
{
}

static void corepmu_pm_exit(void)
{
}

static int __corepmu_init corepmu_pm_register(struct notifier_block *nb)
{
	return cpu_pm_register_notifier(nb);
}

static void corepmu_pm_unregister(struct notifier_block *nb)
{
	cpu_pm_unregister_notifier(nb);
}

#else

/*
 * Without CPU power-down notifiers, CPUs keep their registers while the system runs. During system
 * suspend all CPUs but the last one go offline; these callbacks handle the last one.
 */
static RAW_NOTIFIER_HEAD(corepmu_pm_chain);

static int corepmu_suspend(COMPAT_SYSCORE_ARGS)
{
	raw_notifier_call_chain(&corepmu_pm_chain, CPU_PM_ENTER, NULL);

	return 0;
}

static void corepmu_resume(COMPAT_SYSCORE_ARGS)
{
	raw_notifier_call_chain(&corepmu_pm_chain, CPU_PM_EXIT, NULL);
}

DEFINE_COMPAT_SYSCORE(corepmu_syscore, corepmu_suspend, corepmu_resume);

static void __corepmu_init corepmu_pm_init(void)
{
	compat_register_syscore(&corepmu_syscore);
}

static void corepmu_pm_exit(void)
{
	compat_unregister_syscore(&corepmu_syscore);
}

static int __corepmu_init corepmu_pm_register(struct notifier_block *nb)
{
	return raw_notifier_chain_register(&corepmu_pm_chain, nb);
}

static void corepmu_pm_unregister(struct notifier_block *nb)
{
	raw_notifier_chain_unregister(&corepmu_pm_chain, nb);
}

#endif /* CONFIG_CPU_PM */

/**
 * corepmu_hotplug_add() - set up a PMU on its online CPUs, and on others when they come online
 * @pmu: a PMU with requested interrupts
 *
 * An idle CPU may be powered down as soon as the CPU has been set up. So the function first
 * registers the notifier that sets up a CPU again. Process context.
 *
 * Return: 0, or a negative errno with everything undone
 */
int __corepmu_init corepmu_hotplug_add(struct corepmu *pmu)
{
	int ret;

	pmu->pm_nb.notifier_call = corepmu_pm_notify;
	ret = corepmu_pm_register(&pmu->pm_nb);
	if (ret)
		return ret;

	/* corepmu_cpu_online() never fails: after an error no CPU has been set up. */
	ret = cpuhp_state_add_instance(corepmu_cpuhp_state, &pmu->node);
	if (ret)
		corepmu_pm_unregister(&pmu->pm_nb);

	return ret;
}

/**
 * corepmu_hotplug_remove() - undo corepmu_hotplug_add(): quiesce the PMU on all its CPUs
 * @pmu: a PMU without events
 *
 * The function unregisters the notifier first: the notifier would set up a quiesced CPU again. A
 * CPU may be powered down between the two steps: quiesce() then writes all registers that matter.
 * Process context.
 */
void corepmu_hotplug_remove(struct corepmu *pmu)
{
	corepmu_pm_unregister(&pmu->pm_nb);
	cpuhp_state_remove_instance(corepmu_cpuhp_state, &pmu->node);
}

/**
 * corepmu_hotplug_init() - register the CPU hotplug callbacks, and those of system suspend
 *
 * Return: 0 or a negative errno
 */
int __corepmu_init corepmu_hotplug_init(void)
{
	int ret;

	ret = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN, "perf/corepmu:online",
				      corepmu_cpu_online, corepmu_cpu_offline);
	if (ret < 0) {
		pr_err("cannot register CPU hotplug callbacks (%d): report this fault of corepmu\n",
		       ret);
		return ret;
	}

	corepmu_cpuhp_state = ret;
	corepmu_pm_init();

	return 0;
}

/**
 * corepmu_hotplug_exit() - undo corepmu_hotplug_init()
 */
void corepmu_hotplug_exit(void)
{
	corepmu_pm_exit();
	cpuhp_remove_multi_state(corepmu_cpuhp_state);
}
