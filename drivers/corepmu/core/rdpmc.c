// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: counter reads from user space (RDPMC, PMEVCNTR<n>_EL0)
 *
 * Perf core writes the page that a program maps. Perf core takes the counter's index from
 * pmu.event_idx, its width from the event's flags, and the offset from a sign-extended prev_count.
 *
 * Usually a program can read either all counters or none: one register bit controls all of them
 * (CR4.PCE, PMUSERENR_EL0). So while any task has access, the driver sets counters without an event
 * to zero before it enables the PMU. The backend removes a task's access when the task is scheduled
 * out. Counters of per-CPU events stay readable, unless the hardware has a finer control
 * (x86/rdpmc.c: RDPMC user disable; PMUv3p9).
 */
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>
#include <corepmu/rdpmc.h>

/* A task has access to counters, now or when it is scheduled in. */
bool corepmu_rdpmc_in_use __read_mostly;

/* The administrator allows counter reads from user space. */
bool corepmu_rdpmc_allowed __read_mostly;

static LIST_HEAD(rdpmc_pmus);
static DEFINE_MUTEX(rdpmc_lock);

/**
 * corepmu_rdpmc_add() - add a PMU to those that corepmu_rdpmc_refresh() updates
 * @pmu: the PMU, not registered yet
 *
 * Process context.
 */
void __corepmu_init corepmu_rdpmc_add(struct corepmu *pmu)
{
	mutex_lock(&rdpmc_lock);
	list_add(&pmu->rdpmc_node, &rdpmc_pmus);
	mutex_unlock(&rdpmc_lock);
}

/**
 * corepmu_rdpmc_remove() - undo corepmu_rdpmc_add()
 * @pmu: the PMU, which has no events
 *
 * Process context.
 */
void corepmu_rdpmc_remove(struct corepmu *pmu)
{
	mutex_lock(&rdpmc_lock);
	list_del(&pmu->rdpmc_node);
	mutex_unlock(&rdpmc_lock);
}

/**
 * corepmu_rdpmc_has_others() - check whether there are PMUs of other CPU types
 * @pmu: a PMU
 *
 * Process context.
 *
 * Return: true if there is another PMU
 */
bool corepmu_rdpmc_has_others(const struct corepmu *pmu)
{
	const struct corepmu *other;
	bool found = false;

	mutex_lock(&rdpmc_lock);
	list_for_each_entry(other, &rdpmc_pmus, rdpmc_node)
		found |= other != pmu;
	mutex_unlock(&rdpmc_lock);

	return found;
}

/**
 * corepmu_rdpmc_clear() - set counters to 0 that still hold values of deleted events
 * @cpuc: this CPU's state
 *
 * IRQs off.
 */
void corepmu_rdpmc_clear(struct corepmu_cpu *cpuc)
{
	u64 stale;

	if (!cpuc->dirty)
		return;

	/* If a counter is in use, corepmu_event_del() will set its bit again. */
	stale = cpuc->dirty & ~cpuc->used;
	cpuc->dirty = 0;
	if (stale)
		cpuc->pmu->backend->clear(cpuc, stale);
}

/**
 * corepmu_rdpmc_switch() - give the current task access to its own events' counters only
 * @cpuc: a PMU's state on this CPU, which may have another PMU
 *
 * IRQs off.
 */
void corepmu_rdpmc_switch(struct corepmu_cpu *cpuc)
{
	cpuc->pmu->backend->rdpmc_switch(cpuc);
}

static void refresh_cpu(void *data)
{
	struct corepmu *pmu = data;
	struct corepmu_cpu *cpuc = this_cpu_ptr(pmu->cpu);
	u64 left;

	/* Remove the index from the pages first: a reader that finds an index reads the counter. */
	for (left = cpuc->used; left; left &= left - 1) {
		struct perf_event *event = cpuc->events[__ffs64(left)];

		if (event && corepmu_event_is_readable(&event->hw))
			corepmu_update_userpage(event);
	}
	corepmu_rdpmc_switch(cpuc);
}

/**
 * corepmu_rdpmc_refresh() - apply a change of corepmu_rdpmc_allowed on all CPUs
 *
 * The change is complete when the function returns. Process context.
 */
void corepmu_rdpmc_refresh(void)
{
	struct corepmu *pmu;

	mutex_lock(&rdpmc_lock);
	list_for_each_entry(pmu, &rdpmc_pmus, rdpmc_node)
		on_each_cpu_mask(&pmu->supported_cpus, refresh_cpu, pmu, 1);
	mutex_unlock(&rdpmc_lock);
}

static void update_page_here(void *data)
{
	struct perf_event *event = data;

	/* If the event has lost its counter meanwhile, corepmu_event_del() has updated the page. */
	if (event->oncpu == smp_processor_id())
		perf_event_update_userpage(event);
}

/*
 * Update the page of an event on the event's CPU. If CPU A updates the page while CPU B starts the
 * event, both may read the same value of the page's lock before they increment it. The lock then
 * stays odd, and readers wait for ever. Perf core places no event while this function holds the
 * lock of the event's context.
 */
static void update_mapped_page(struct perf_event *event)
{
	struct perf_event_context *ctx = event->ctx;
	unsigned long flags;
	int cpu;

	raw_spin_lock_irqsave(&ctx->lock, flags);
	cpu = event->oncpu;
	if (cpu < 0)
		perf_event_update_userpage(event);
	raw_spin_unlock_irqrestore(&ctx->lock, flags);

	if (cpu >= 0)
		smp_call_function_single(cpu, update_page_here, event, true);
}

/**
 * corepmu_event_mapped() - keep a mapped page up to date, and allow counter reads: pmu.event_mapped
 * @event: the event
 * @mm: the mm that has mapped the event's page
 *
 * Overflows update a mapped page. Exception: a per-task event that user space may read, if another
 * task has mapped the page. The other task cannot read the counter, which the event has only while
 * its own task runs. If user space may not read the counter, any task takes the page's offset for
 * the event's count. The built-in drivers update the page at every overflow. Process context,
 * mmap_lock held for writing.
 */
void corepmu_event_mapped(struct perf_event *event, struct mm_struct *mm)
{
	struct corepmu *pmu = to_corepmu(event->pmu);
	struct hw_perf_event *hwc = &event->hw;
	bool readable = corepmu_event_is_readable(hwc);

	if (readable && pmu->backend->rdpmc_mapped)
		pmu->backend->rdpmc_mapped(event, mm);

	if (!readable || !(event->attach_state & PERF_ATTACH_TASK) ||
	    READ_ONCE(hwc->target->mm) == mm) {
		corepmu_hw_add_flag(hwc, COREPMU_EVENT_MAPPED);
		/* Earlier overflows, starts and stops did not update the page. */
		update_mapped_page(event);
	}
}

/**
 * corepmu_event_unmapped() - remove counter reads after an unmap: pmu.event_unmapped of perf core
 * @event: the event
 * @mm: the mm that has unmapped the event's page
 *
 * COREPMU_EVENT_MAPPED stays set: another mapping may remain. Process context.
 */
void corepmu_event_unmapped(struct perf_event *event, struct mm_struct *mm)
{
	struct corepmu *pmu = to_corepmu(event->pmu);

	if (corepmu_event_is_readable(&event->hw) && pmu->backend->rdpmc_unmapped)
		pmu->backend->rdpmc_unmapped(event, mm);
}
