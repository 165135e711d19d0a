// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decode event selectors: the part that Intel and AMD have in common.
 *
 * The events are in intel.c and amd.c, with the manuals' numbers, and in uarch/intel.c and
 * uarch/amd.c. No hardware has event 0xfe: it encodes counts without a number in the manuals.
 */
#include "x86/registers/events.h"

static const struct x86_pmu_event_row *find_event(const struct x86_pmu_event_row *rows, size_t len,
						  unsigned int code, unsigned int umask)
{
	for (size_t i = 0; i < len; i++)
		if (rows[i].code == code &&
		    (rows[i].umask == X86_PMU_ANY_UMASK || (unsigned int)rows[i].umask == umask))
			return &rows[i];
	return NULL;
}

/*
 * Change an event to count its rising edges. In a cycle at most one instruction retires, and with
 * it at most one of each event; a branch retires in the second of its two cycles. So instructions
 * have one edge per branch, cycles have none, and any other event has an edge each time.
 */
static void count_edges(struct x86_pmu_event *event)
{
	if (event->kind == X86_PMU_CYCLES)
		event->times = 0;
	else if (event->kind == X86_PMU_INSTRUCTIONS)
		event->kind = X86_PMU_BRANCHES;
}

/* Change an event to count the cycles with at least, or with @invert less than, @cmask of it. */
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
 * x86_pmu_event_select() - decode an event selector
 * @rows: the known events
 * @len: number of @rows
 * @selector: the selector's value
 * @event: set to the event
 *
 * Return: true if the model has the event and it counts. Otherwise the counter does not count.
 */
bool x86_pmu_event_select(const struct x86_pmu_event_row *rows, size_t len, uint64_t selector,
			  struct x86_pmu_event *event)
{
	unsigned int cmask = (selector & X86_PMU_SEL_CMASK) >> X86_PMU_SEL_CMASK_SHIFT;
	const struct x86_pmu_event_row *found;

	found = find_event(rows, len, x86_pmu_event_code(selector), x86_pmu_event_umask(selector));
	if (!found)
		return false;

	*event = found->event;
	/* EQ compares for equality. With one per cycle at most, it differs only for cmask 0. */
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
