// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: registration of PMUs with perf core
 *
 * Registration with perf core comes last, after the self-test of the counters. Unregistration comes
 * first, and undoes everything in the reverse order.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include <corepmu/branch.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>
#include <corepmu/rdpmc.h>

/* Parameters of the module */
char *corepmu_name = "corepmu";
int corepmu_type = -1;
bool corepmu_as_builtin;

/* Time between two attempts to unregister a PMU, see corepmu_unregister() */
#define UNREGISTER_RETRY_MS	1

/* Number of registered PMUs */
static atomic_t corepmu_instances = ATOMIC_INIT(0);

/**
 * corepmu_alloc() - allocate a PMU that is not set up
 * @backend: the PMU's backend
 *
 * Return: the PMU, or NULL without memory
 */
__corepmu_init struct corepmu *corepmu_alloc(const struct corepmu_backend *backend)
{
	struct corepmu *pmu;
	int cpu;

	pmu = kzalloc(sizeof(*pmu), GFP_KERNEL);
	if (!pmu)
		return NULL;

	pmu->cpu = alloc_percpu(struct corepmu_cpu);
	if (!pmu->cpu) {
		kfree(pmu);
		return NULL;
	}

	for_each_possible_cpu(cpu)
		per_cpu_ptr(pmu->cpu, cpu)->pmu = pmu;
	pmu->backend = backend;
	pmu->max_left = S64_MAX;

	return pmu;
}

/**
 * corepmu_free() - undo corepmu_alloc()
 * @pmu: a PMU that is not registered
 */
void corepmu_free(struct corepmu *pmu)
{
	corepmu_branch_cleanup(pmu);
	free_percpu(pmu->cpu);
	if (corepmu_stale_pmus_add(pmu))
		kfree(pmu);
}

/*
 * Return the PMU's name: the parameter name=, then "_" and the name of the CPU type. If CPU types
 * have no names, the first PMU has nothing appended, and the others have "_" and a number.
 */
static __corepmu_init const char *pmu_name(const struct corepmu *pmu)
{
	int instance = atomic_read(&corepmu_instances);

	if (pmu->cpu_type)
		return kasprintf(GFP_KERNEL, "%s_%s", corepmu_name, pmu->cpu_type);
	if (!instance || (corepmu_as_builtin && pmu->builtin_name))
		return kstrdup(corepmu_name, GFP_KERNEL);

	return kasprintf(GFP_KERNEL, "%s_%d", corepmu_name, instance);
}

/* Check whether standin=1 would help tools that look for the built-in driver's name and type. */
static bool __corepmu_init needs_standin(const struct corepmu *pmu)
{
	return pmu->claims_generic && !corepmu_as_builtin && pmu->backend->tools_know_name &&
	       pmu->perf_pmu.type != pmu->backend->builtin_type;
}

/*
 * Open a software event, to find other PMUs: perf core exports neither its list of PMUs nor the bus
 * of their devices. Every kernel has software events, and their PMU's device is on that bus.
 */
static __corepmu_init struct perf_event *open_software_event(u64 config)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_SOFTWARE,
		.size		= sizeof(attr),
		.config		= config,
		.disabled	= 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);

	return IS_ERR(event) ? NULL : event;
}

static int __corepmu_init has_type(struct device *dev, const void *type)
{
	struct pmu *pmu = dev_get_drvdata(dev);

	return pmu && pmu->type == *(int *)type;
}

/* From Linux 6.5 on, the PMUs of cpu-clock and task-clock have types, but no devices. */
static bool __corepmu_init is_type_of_clock(int type)
{
	static const u64 clocks[] = { PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK };
	bool same = false;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(clocks) && !same; i++) {
		struct perf_event *event = open_software_event(clocks[i]);

		if (!event)
			continue;
		same = event->pmu->type == type;
		perf_event_release_kernel(event);
	}

	return same;
}

/*
 * Reject a name or a type that another PMU has. perf_pmu_register() would warn of the type and
 * choose another one; sysfs would warn of the name.
 */
static int __corepmu_init check_free(const char *name, int type)
{
	struct perf_event *event = open_software_event(PERF_COUNT_SW_DUMMY);
	struct device *same_type = NULL, *same_name = NULL;
	int ret = 0;

	if (event && event->pmu->dev) {
		same_name = bus_find_device_by_name(event->pmu->dev->bus, NULL, name);
		if (type >= 0)
			same_type = bus_find_device(event->pmu->dev->bus, NULL, &type, has_type);
	}
	if (event)
		perf_event_release_kernel(event);

	if (same_name || same_type)
		ret = -EEXIST;
	if (ret && corepmu_as_builtin)
		pr_err("standin=1: the built-in driver has registered the PMU %s: boot without that driver, or leave out standin=1\n",
		       dev_name(same_name ?: same_type));
	else if (same_name)
		pr_err("name=%s: there is a PMU %s already: give another name\n", corepmu_name,
		       name);
	else if (same_type)
		pr_err("type=%d: the PMU %s has this type: give another, or leave out type=\n",
		       type, dev_name(same_type));
	put_device(same_name);
	put_device(same_type);
	if (!ret && type >= 0 && is_type_of_clock(type)) {
		pr_err("type=%d: cpu-clock or task-clock has this type: give another, or leave out type=\n",
		       type);
		ret = -EEXIST;
	}

	return ret;
}

/* Reject the built-in driver's names without standin=1 where tools know them. */
static int __corepmu_init check_builtin_name(const struct corepmu *pmu, const char *name)
{
	if (corepmu_as_builtin || !pmu->backend->tools_know_name ||
	    !corepmu_backend_has_name(pmu->backend, name))
		return 0;

	pr_err("name=%s: %s is a name of the built-in driver's PMU, which has type %d: load with standin=1, or give another name\n",
	       corepmu_name, name, pmu->backend->builtin_type);
	return -EINVAL;
}

/**
 * corepmu_register() - set up a PMU, test its counters and register it with perf core
 * @pmu: the PMU, with known counters and requested interrupts
 *
 * Process context.
 *
 * Return: 0, or a negative errno with the reason logged and everything undone
 */
int __corepmu_init corepmu_register(struct corepmu *pmu)
{
	const char *name;
	int type, ret;

	corepmu_use_backend(pmu->backend);

	ret = corepmu_hotplug_add(pmu);
	if (ret) {
		pr_err("cannot set up the PMU on its CPUs (%d): report this fault of corepmu\n",
		       ret);
		return ret;
	}

	ret = corepmu_self_test(pmu);
	if (ret)
		goto out_hotplug;

	if (corepmu_as_builtin) {
		corepmu_name = pmu->builtin_name ?: pmu->backend->builtin_name;
		corepmu_type = pmu->backend->builtin_type;
	}
	type = pmu->secondary ? -1 : corepmu_type;
	name = pmu_name(pmu);
	if (!name) {
		ret = -ENOMEM;
		goto out_hotplug;
	}
	ret = check_builtin_name(pmu, name);
	if (!ret)
		ret = check_free(name, type);
	if (ret)
		goto out_free;

	corepmu_init_pmu(pmu);
	corepmu_rdpmc_add(pmu);
	ret = perf_pmu_register(&pmu->perf_pmu, name, type);
	if (ret) {
		pr_err("perf core refused the PMU %s of type %d (%d): give another name= and type=\n",
		       name, type, ret);
		goto out_rdpmc;
	}
	atomic_inc(&corepmu_instances);
	corepmu_shutdown_add(pmu);
	corepmu_stale_pmus_redirect(pmu);
	WRITE_ONCE(pmu->open, true);

	pr_info("PMU %s: %s, %u counters on CPUs %*pbl, type %d%s%s\n", name, pmu->backend->name,
		(unsigned int)hweight64(pmu->counters), cpumask_pr_args(&pmu->supported_cpus),
		pmu->perf_pmu.type, pmu->claims_generic ? ", generic events too" : "",
		needs_standin(pmu) ? "; tools that look for a PMU cpu need standin=1" : "");
	return 0;

out_rdpmc:
	corepmu_rdpmc_remove(pmu);
	/* For corepmu_free(): perf core has no pointer to this PMU, which may be freed. */
	pmu->perf_pmu = (struct pmu) { };
out_free:
	kfree(name);
out_hotplug:
	corepmu_hotplug_remove(pmu);
	return ret;
}

/*
 * Stop the timers by which perf core rotates events. Events that share counters start these timers,
 * and so does a write to the PMU's file perf_event_mux_interval_ms. Perf core frees the timers
 * without a check whether they run.
 */
static void end_rotation(struct pmu *pmu)
{
	static const struct attribute interval = { .name = "perf_event_mux_interval_ms" };
	int cpu;

	/* Waits for writers of the file. */
	sysfs_remove_file(&pmu->dev->kobj, &interval);
	for_each_possible_cpu(cpu) {
		struct hrtimer *timer = compat_rotation_timer(pmu, cpu);

		if (timer)
			hrtimer_cancel(timer);
	}
}

/**
 * corepmu_unregister() - undo corepmu_register()
 * @pmu: a PMU without events: each event holds a reference to the module
 */
void corepmu_unregister(struct corepmu *pmu)
{
	const char *name = pmu->perf_pmu.name;

	WRITE_ONCE(pmu->open, false);
	corepmu_shutdown_remove(pmu);
	end_rotation(&pmu->perf_pmu);
	/*
	 * CPU A frees the last event: it puts the module's reference first, and removes the event
	 * from the PMU's list next (__free_event() in kernel/events/core.c). If CPU B unregisters
	 * the PMU in between, perf core returns an error and goes on calling the PMU: try again.
	 */
	while (compat_pmu_unregister(&pmu->perf_pmu))
		msleep(UNREGISTER_RETRY_MS);
	corepmu_rdpmc_remove(pmu);
	atomic_dec(&corepmu_instances);
	corepmu_hotplug_remove(pmu);
	kfree(name);
}
