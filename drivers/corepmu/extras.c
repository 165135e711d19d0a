// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: what events have besides a counter: branch records, and precise samples
 *
 * Not inline anywhere: an event without them is not to pay for them.
 */
#include <linux/perf_event.h>

#include <corepmu/pmu.h>
#include <corepmu/precise.h>

/**
 * corepmu_start_extras() - what is to run before the counters do
 * @cpuc: this CPU's state; it has events with COREPMU_EVENT_EXTRAS
 *
 * From corepmu_start_cpu().
 */
void corepmu_start_extras(struct corepmu_cpu *cpuc)
{
	if (cpuc->branch_users)
		corepmu_branch_start(cpuc);
	if (cpuc->precise_users)
		corepmu_precise_start(cpuc);
}

/**
 * corepmu_stop_extras() - what has run while the counters did
 * @cpuc: this CPU's state; it has events with COREPMU_EVENT_EXTRAS
 *
 * From corepmu_stop_cpu().
 */
void corepmu_stop_extras(struct corepmu_cpu *cpuc)
{
	if (cpuc->precise_users)
		cpuc->pmu->precise_backend->stop(cpuc);
	if (cpuc->branch_users)
		corepmu_branch_stop(cpuc);
}

/**
 * corepmu_interrupt_extras() - the overflow interrupt has come
 * @cpuc: this CPU's state; it has events with COREPMU_EVENT_EXTRAS
 *
 * From corepmu_overflow_begin().
 */
void corepmu_interrupt_extras(struct corepmu_cpu *cpuc)
{
	if (cpuc->precise_users)
		cpuc->pmu->precise_backend->stop(cpuc);
	if (cpuc->branch_users)
		corepmu_branch_interrupt(cpuc);
}

/**
 * corepmu_extras_fit() - can an event have on this CPU what it is to have besides a counter?
 * @cpuc: this CPU's state
 * @event: an event with COREPMU_EVENT_EXTRAS that is to be placed
 *
 * IRQs off.
 *
 * Return: false while other events keep it from that
 */
bool corepmu_extras_fit(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	if ((event->hw.flags & COREPMU_EVENT_BRANCHES) && !corepmu_branch_fits(cpuc, event))
		return false;

	return corepmu_precise_fits(cpuc, event);
}

/**
 * corepmu_add_extras() - an event has been placed
 * @cpuc: this CPU's state
 * @event: an event with COREPMU_EVENT_EXTRAS
 *
 * IRQs off, and the PMU stopped.
 */
void corepmu_add_extras(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	if (event->hw.flags & COREPMU_EVENT_BRANCHES)
		corepmu_branch_add(cpuc, event);
	if (event->hw.flags & COREPMU_EVENT_PRECISE)
		corepmu_precise_add(cpuc, event);
}

/**
 * corepmu_del_extras() - an event is not placed any more
 * @cpuc: this CPU's state
 * @event: an event with COREPMU_EVENT_EXTRAS
 *
 * IRQs off, and the PMU stopped.
 */
void corepmu_del_extras(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	if (event->hw.flags & COREPMU_EVENT_PRECISE)
		corepmu_precise_del(cpuc, event);
	if (event->hw.flags & COREPMU_EVENT_BRANCHES)
		corepmu_branch_del(cpuc, event);
}
