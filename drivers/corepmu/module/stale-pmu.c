// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: PMUs of earlier loads, on kernels where tasks remember them
 *
 * Before 6.2 the perf context of a task points to the struct pmu that it was
 * made for, and keeps to it when all its events are gone: every context switch
 * of such a task reads pmu->pmu_cpu_context, and a new event of any PMU of the
 * hardware context is put into the old one's context (kernel/events/core.c,
 * find_get_context(), perf_event_context_sched_in()). A struct pmu that went
 * with its module is an oops in waiting.
 *
 * So it stays: each load leaves its struct pmu behind, and the next one leads
 * the contexts of all of them to its own. What lives on are some hundred bytes
 * a load, and a device without a driver that the list hangs on, which the next
 * load, of this module or of a changed one, finds by name.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/device.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/platform_device.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include <corepmu/ksyms.h>
#include <corepmu/pmu.h>

#if COMPAT_PMU_OUTLIVES_MODULE

#define REGISTRY_NAME	"corepmu-generations"

/* Shared with earlier and later loads: never change it. */
struct corepmu_generation {
	struct list_head	node;
	struct pmu		*pmu;
};

static struct list_head *registry;

/*
 * Perf core calls these when it has found an old struct pmu in a context. The
 * events in there are of the present one, which it stops and starts as well.
 */
static void generation_nop(struct pmu *pmu)
{
}

/**
 * corepmu_generations_init() - find the PMUs that earlier loads left behind
 *
 * Process context.
 *
 * Return: 0 or -ENOMEM
 */
int corepmu_generations_init(void)
{
	struct platform_device *pdev;
	struct device *dev;
	int ret;

	dev = bus_find_device_by_name(&platform_bus_type, NULL, REGISTRY_NAME);
	if (dev) {
		registry = *(struct list_head **)dev_get_platdata(dev);
		put_device(dev);
		return 0;
	}

	registry = kmalloc(sizeof(*registry), GFP_KERNEL);
	if (!registry)
		return -ENOMEM;
	INIT_LIST_HEAD(registry);

	pdev = platform_device_register_data(NULL, REGISTRY_NAME, PLATFORM_DEVID_NONE,
					     &registry, sizeof(registry));
	ret = PTR_ERR_OR_ZERO(pdev);
	if (ret) {
		kfree(registry);
		registry = NULL;
	}

	return ret;
}

/**
 * corepmu_generations_lead() - lead old contexts to a PMU
 * @pmu: a registered PMU that no event can be opened on yet
 *
 * Process context.
 */
void corepmu_generations_lead(struct corepmu *pmu)
{
	struct corepmu_generation *generation;

	list_for_each_entry(generation, registry, node) {
		/* Until now what the load before has left there, which needs no module. */
		WRITE_ONCE(generation->pmu->pmu_enable, generation_nop);
		WRITE_ONCE(generation->pmu->pmu_disable, generation_nop);
		WRITE_ONCE(generation->pmu->pmu_cpu_context, pmu->perf_pmu.pmu_cpu_context);
		/* A task's context calls that of the PMU that it was made for. */
		WRITE_ONCE(generation->pmu->sched_task, pmu->perf_pmu.sched_task);
	}
}

/**
 * corepmu_generations_leave() - leave a PMU behind
 * @pmu: a PMU that was registered, and is no longer
 *
 * Process context.
 *
 * Return: whether it may be freed, as it is not known to perf core any more
 */
bool corepmu_generations_leave(struct corepmu *pmu)
{
	struct corepmu_generation *generation;
	void (*nop)(struct pmu *pmu);

	if (!pmu->perf_pmu.pmu_cpu_context)
		return true;

	generation = kmalloc(sizeof(*generation), GFP_KERNEL);
	pmu->perf_pmu.pmu_disable_count = alloc_percpu(int);
	if (!generation || !pmu->perf_pmu.pmu_disable_count) {
		/* Not led on to the next load; it stays where it is. */
		pr_warn("no memory to remember this load's PMU by: do not load the driver again\n");
		kfree(generation);
		return false;
	}

	generation->pmu = &pmu->perf_pmu;
	list_add(&generation->node, registry);
	/* The built-in driver's events may have perf core call them when the module is gone. */
	nop = (void (*)(struct pmu *pmu))corepmu_find_symbol("perf_pmu_nop_void");
	list_for_each_entry(generation, registry, node) {
		WRITE_ONCE(generation->pmu->sched_task, NULL);
		if (nop) {
			WRITE_ONCE(generation->pmu->pmu_enable, nop);
			WRITE_ONCE(generation->pmu->pmu_disable, nop);
		}
	}

	return false;
}

#endif /* COMPAT_PMU_OUTLIVES_MODULE */
