// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How event selectors name what the virtual x86 PMU can count: what is the same in
 * the selectors of Intel and AMD. Their events are in intel.c and amd.c, with the
 * numbers of the manuals, and in uarch/intel.c and uarch/amd.c. The event 0xfe is no
 * hardware's; it gives both what has no number of its own.
 */
#include "x86/registers/events.h"

static const struct x86_pmu_event_row *find(const struct x86_pmu_event_row *rows, size_t len,
					    unsigned int code, unsigned int umask)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (rows[i].code == code &&
		    (rows[i].umask == X86_PMU_ANY_UMASK || (unsigned int)rows[i].umask == umask))
			return &rows[i];
	return NULL;
}

/*
 * In a cycle at most one instruction retires, and with it at most one of each
 * event; a branch retires in the second of its two cycles. From this follows how
 * often an event starts to happen: instructions retire in an uninterrupted row
 * up to each branch, all else is a pulse of its own, and the clock never stops.
 */
static void count_edges(struct x86_pmu_event *event)
{
	if (event->kind == X86_PMU_CYCLES)
		event->times = 0;
	else if (event->kind == X86_PMU_INSTRUCTIONS)
		event->kind = X86_PMU_BRANCHES;
}

/* Count the cycles in which at least, or with @invert fewer than, @cmask happen. */
static void count_threshold(struct x86_pmu_event *event, unsigned int cmask, bool invert)
{
	unsigned int in_a_cycle = event->times;

	if (event->kind == X86_PMU_CYCLES || cmask > in_a_cycle) {
		bool reached = cmask <= in_a_cycle;

		event->kind = X86_PMU_CYCLES;
		event->times = reached != invert;
		event->per = 1;
	} else if (invert) {
		event->less = event->kind;
		event->kind = X86_PMU_CYCLES;
	}
}

/**
 * x86_pmu_event_select() - what an event selector makes its counter count
 * @rows: the events that there are
 * @len: how many
 * @selector: its value
 * @event: the result
 *
 * Return: whether the model has the event. If not the counter stands still.
 */
bool x86_pmu_event_select(const struct x86_pmu_event_row *rows, size_t len, uint64_t selector,
			  struct x86_pmu_event *event)
{
	unsigned int cmask = (selector & X86_PMU_SEL_CMASK) >> X86_PMU_SEL_CMASK_SHIFT;
	const struct x86_pmu_event_row *found;

	found = find(rows, len, x86_pmu_event_code(selector), x86_pmu_event_umask(selector));
	if (!found)
		return false;

	*event = found->event;
	/* Equal instead of at least: the same where once in a cycle is the most, but for 0. */
	if (!cmask && selector & X86_PMU_SEL_EQ)
		count_threshold(event, 1, !(selector & X86_PMU_SEL_INV));
	else if (cmask && cmask != found->cmask)
		count_threshold(event, cmask, selector & X86_PMU_SEL_INV);
	if (selector & X86_PMU_SEL_EDGE) {
		/* An event stops as often as it starts. */
		if (event->less != X86_PMU_NOTHING) {
			event->kind = event->less;
			event->less = X86_PMU_NOTHING;
		}
		count_edges(event);
	}
	return event->times;
}
