// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: counters that user space reads by itself
 *
 * Perf core writes the page that a program maps; what it needs to know of a
 * counter (which, how wide, from where) is its index here, the event's flags
 * and a prev_count that is extended as the program extends what it reads.
 *
 * A program that may read counters may read all of them, as a rule: the switch
 * is one for all (CR4.PCE, PMUSERENR_EL0). So while anybody may read, a counter
 * that no event is on is kept at zero whenever the PMU is enabled, and a
 * backend takes the access from a task that is scheduled out. The counters of
 * events of the whole CPU stay readable, where the hardware has no finer switch (x86/rdpmc.c:
 * RDPMC user disable; PMUv3p9).
 */
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include <corepmu/pmu.h>

/* Some task may read counters, now or when it is scheduled in. */
bool corepmu_user_reads __read_mostly;

/* The administrator lets user space read at all. */
bool corepmu_user_allowed __read_mostly;

static LIST_HEAD(user_pmus);
static DEFINE_MUTEX(user_lock);

/**
 * corepmu_user_add() - have a PMU follow what the administrator allows
 * @pmu: the PMU, not registered yet
 *
 * Process context.
 */
void corepmu_user_add(struct corepmu *pmu)
{
	mutex_lock(&user_lock);
	list_add(&pmu->user_node, &user_pmus);
	mutex_unlock(&user_lock);
}

/**
 * corepmu_user_remove() - undo corepmu_user_add()
 * @pmu: the PMU, which has no events
 *
 * Process context.
 */
void corepmu_user_remove(struct corepmu *pmu)
{
	mutex_lock(&user_lock);
	list_del(&pmu->user_node);
	mutex_unlock(&user_lock);
}

/**
 * corepmu_user_has_others() - are there PMUs of other kinds of CPU?
 * @pmu: a PMU
 *
 * Process context.
 *
 * Return: whether there are
 */
bool corepmu_user_has_others(const struct corepmu *pmu)
{
	const struct corepmu *other;
	bool found = false;

	mutex_lock(&user_lock);
	list_for_each_entry(other, &user_pmus, user_node)
		found |= other != pmu;
	mutex_unlock(&user_lock);

	return found;
}

/**
 * corepmu_user_clear() - clear counters that hold values of events that have left
 * @cpuc: this CPU's state
 *
 * IRQs off.
 */
void corepmu_user_clear(struct corepmu_cpu *cpuc)
{
	if (!cpuc->dirty)
		return;

	cpuc->pmu->backend->clear(cpuc, cpuc->dirty);
	cpuc->dirty = 0;
}

/**
 * corepmu_user_switch() - give the current task what it may read, and no more
 * @cpuc: a PMU's state on this CPU, which may be of another kind
 *
 * IRQs off.
 */
void corepmu_user_switch(struct corepmu_cpu *cpuc)
{
	cpuc->pmu->backend->user_switch(cpuc);
}

static void refresh_cpu(void *data)
{
	struct corepmu *pmu = data;
	struct corepmu_cpu *cpuc = this_cpu_ptr(pmu->cpu);
	u64 left;

	/* First the pages lose their index: a reader that finds one reads the counter. */
	for (left = cpuc->used; left; left &= left - 1) {
		struct perf_event *event = cpuc->events[__ffs64(left)];

		if (event && corepmu_event_is_readable(&event->hw))
			corepmu_update_userpage(event);
	}
	corepmu_user_switch(cpuc);
}

/**
 * corepmu_user_refresh() - apply a change of corepmu_user_allowed
 *
 * On all CPUs, before it returns. Process context.
 */
void corepmu_user_refresh(void)
{
	struct corepmu *pmu;

	mutex_lock(&user_lock);
	list_for_each_entry(pmu, &user_pmus, user_node)
		on_each_cpu_mask(&pmu->supported_cpus, refresh_cpu, pmu, 1);
	mutex_unlock(&user_lock);
}

/**
 * corepmu_event_mapped() - struct pmu's event_mapped()
 * @event: the event
 * @mm: who has its page now
 *
 * Only while a task runs does its event have a counter: nobody but that task can
 * read it, and an overflow need not write the page for anyone else's mapping.
 * Process context, mmap_lock held for writing.
 */
void corepmu_event_mapped(struct perf_event *event, struct mm_struct *mm)
{
	struct corepmu *pmu = to_corepmu(event->pmu);
	struct hw_perf_event *hwc = &event->hw;

	if (!corepmu_event_is_readable(hwc))
		return;

	if (pmu->backend->user_mapped)
		pmu->backend->user_mapped(event, mm);

	if (!(event->attach_state & PERF_ATTACH_TASK) || READ_ONCE(hwc->target->mm) == mm) {
		WRITE_ONCE(hwc->flags, hwc->flags | COREPMU_EVENT_MAPPED);
		/* Overflows may have left it behind. */
		perf_event_update_userpage(event);
	}
}

/**
 * corepmu_event_unmapped() - struct pmu's event_unmapped()
 * @event: the event
 * @mm: who had its page
 *
 * Process context.
 */
void corepmu_event_unmapped(struct perf_event *event, struct mm_struct *mm)
{
	struct corepmu *pmu = to_corepmu(event->pmu);

	if (corepmu_event_is_readable(&event->hw) && pmu->backend->user_unmapped)
		pmu->backend->user_unmapped(event, mm);
}
