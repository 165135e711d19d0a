// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: stale PMUs: PMUs of earlier loads that tasks still point to (before Linux 6.2)
 *
 * Before 6.2 the perf context of a task points to the struct pmu that the context was made for. The
 * pointer stays after the context's last event is gone. Every context switch of such a task reads
 * pmu->pmu_cpu_context. Perf core puts a new event of any PMU of the hardware context into that
 * context (find_get_context(), perf_event_context_sched_in() in kernel/events/core.c). If an unload
 * freed the struct pmu, the next context switch would oops.
 *
 * So an unload leaves the struct corepmu in memory, about a kilobyte. Perf core keeps a struct
 * perf_cpu_context for each CPU, some hundred bytes. The next load redirects all stale PMUs to its
 * own PMU. The list of stale PMUs belongs to a platform device without a driver: the next load, of
 * this module or of a changed one, finds the device by name.
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
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#if COMPAT_PMUS_SHARE_CONTEXT

#define REGISTRY_NAME	"corepmu-generations"

/* Earlier and later loads share this structure: never change it. */
struct corepmu_stale_pmu {
	struct list_head	node;
	struct pmu		*pmu;
};

static struct list_head *stale_pmus;

/*
 * pmu_enable() and pmu_disable() of stale PMUs. Perf core calls them for a context that points to a
 * stale PMU. The context's events belong to the present PMU, which perf core also disables and
 * enables.
 */
static void stale_pmu_nop(struct pmu *pmu)
{
}

/**
 * corepmu_stale_pmus_init() - find the list of stale PMUs, or create it
 *
 * Process context.
 *
 * Return: 0 or -ENOMEM
 */
int __corepmu_init corepmu_stale_pmus_init(void)
{
	struct platform_device *pdev;
	struct device *dev;
	int ret;

	dev = bus_find_device_by_name(&platform_bus_type, NULL, REGISTRY_NAME);
	if (dev) {
		stale_pmus = *(struct list_head **)dev_get_platdata(dev);
		put_device(dev);
		return 0;
	}

	stale_pmus = kmalloc(sizeof(*stale_pmus), GFP_KERNEL);
	if (!stale_pmus)
		return -ENOMEM;
	INIT_LIST_HEAD(stale_pmus);

	pdev = platform_device_register_data(NULL, REGISTRY_NAME, PLATFORM_DEVID_NONE,
					     &stale_pmus, sizeof(stale_pmus));
	ret = PTR_ERR_OR_ZERO(pdev);
	if (ret) {
		kfree(stale_pmus);
		stale_pmus = NULL;
	}

	return ret;
}

/**
 * corepmu_stale_pmus_redirect() - redirect all stale PMUs to a PMU
 * @pmu: a registered PMU without events: corepmu.open is still false
 *
 * Process context.
 */
void __corepmu_init corepmu_stale_pmus_redirect(struct corepmu *pmu)
{
	struct corepmu_stale_pmu *stale;

	list_for_each_entry(stale, stale_pmus, node) {
		/* An unload has set these to the kernel's perf_pmu_nop_void(), if it was found. */
		WRITE_ONCE(stale->pmu->pmu_enable, stale_pmu_nop);
		WRITE_ONCE(stale->pmu->pmu_disable, stale_pmu_nop);
		WRITE_ONCE(stale->pmu->pmu_cpu_context, pmu->perf_pmu.pmu_cpu_context);
		/* Perf core calls sched_task of the PMU that the context points to. */
		WRITE_ONCE(stale->pmu->sched_task, pmu->perf_pmu.sched_task);
	}
}

/**
 * corepmu_stale_pmus_add() - make a PMU stale if perf core may still point to it
 * @pmu: a PMU that is not registered any more, or never was
 *
 * Process context.
 *
 * Return: true if the PMU was never registered: the caller may free it
 */
bool corepmu_stale_pmus_add(struct corepmu *pmu)
{
	struct corepmu_stale_pmu *stale;
	void (*nop)(struct pmu *pmu);

	if (!pmu->perf_pmu.pmu_cpu_context)
		return true;

	stale = kmalloc(sizeof(*stale), GFP_KERNEL);
	pmu->perf_pmu.pmu_disable_count = alloc_percpu(int);
	if (!stale || !pmu->perf_pmu.pmu_disable_count) {
		/* The PMU stays in memory, but the next load cannot redirect it. */
		pr_warn("out of memory: loading this module again before a reboot may crash (Linux < 6.2)\n");
		kfree(stale);
		return false;
	}

	stale->pmu = &pmu->perf_pmu;
	list_add(&stale->node, stale_pmus);
	/* With events of the built-in driver, perf core may call these after the unload. */
	nop = (void (*)(struct pmu *pmu))corepmu_find_symbol("perf_pmu_nop_void");
	list_for_each_entry(stale, stale_pmus, node) {
		WRITE_ONCE(stale->pmu->sched_task, NULL);
		if (nop) {
			WRITE_ONCE(stale->pmu->pmu_enable, nop);
			WRITE_ONCE(stale->pmu->pmu_disable, nop);
		}
	}

	return false;
}

#endif /* COMPAT_PMUS_SHARE_CONTEXT */
