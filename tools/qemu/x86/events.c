// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How event selectors name what the virtual x86 PMU can count.
 *
 * Numbers are those of the manuals: the architectural events of Intel, those of
 * its cores since Skylake, the events of AMD's families 10h to 19h. The event
 * 0xfe is no hardware's; it gives both vendors what has no number of its own.
 */
#include "common/plugin.h"
#include "x86/events.h"

#define ANY_UMASK	-1

struct event_row {
	uint16_t code;
	int16_t umask;
	struct x86_pmu_event event;
};

#define EVENT(code, umask, kind, times, per) \
	{ code, umask, { X86_PMU_##kind, X86_PMU_NOTHING, times, per } }

static const struct event_row intel_events[] = {
	/* architectural */
	EVENT(0x3c, 0x00, CYCLES, 1, 1),
	EVENT(0x3c, 0x01, CYCLES, 1, 2),	/* reference cycles */
	EVENT(0xc0, 0x00, INSTRUCTIONS, 1, 1),
	EVENT(0x2e, 0x4f, CACHE_REFS, 1, 1),
	EVENT(0x2e, 0x41, CACHE_MISSES, 1, 1),
	EVENT(0xc4, 0x00, BRANCHES, 1, 1),
	EVENT(0xc5, 0x00, MISPREDICTED, 1, 1),
	EVENT(0xa4, 0x01, CYCLES, 4, 1),	/* issue slots */
	/* of the core */
	EVENT(0xc4, 0x01, CONDITIONAL, 1, 1),
	EVENT(0xc4, 0x02, CALLS, 1, 1),
	EVENT(0xc4, 0x04, BRANCHES, 1, 1),
	EVENT(0xc4, 0x08, RETURNS, 1, 1),
	EVENT(0xc4, 0x10, NOT_TAKEN, 1, 1),
	EVENT(0xc4, 0x20, TAKEN, 1, 1),
	EVENT(0xc4, 0x40, FAR, 1, 1),
	EVENT(0xc5, 0x01, MISPREDICTED, 1, 1),
	EVENT(0xc5, 0x04, MISPREDICTED, 1, 1),
	EVENT(0xd0, 0x81, LOADS, 1, 1),
	EVENT(0xd0, 0x82, STORES, 1, 1),
	EVENT(0xcb, 0x01, INTERRUPTS, 1, 1),
	/* of this model */
	EVENT(0xfe, 0x01, EXCEPTIONS, 1, 1),
};

static const struct event_row amd_events[] = {
	EVENT(0x76, ANY_UMASK, CYCLES, 1, 1),
	EVENT(0xc0, ANY_UMASK, INSTRUCTIONS, 1, 1),
	EVENT(0xc2, ANY_UMASK, BRANCHES, 1, 1),
	EVENT(0xc3, ANY_UMASK, MISPREDICTED, 1, 1),
	EVENT(0xc4, ANY_UMASK, TAKEN, 1, 1),
	EVENT(0xc6, ANY_UMASK, FAR, 1, 1),
	EVENT(0xc8, ANY_UMASK, RETURNS, 1, 1),
	EVENT(0xd1, ANY_UMASK, CONDITIONAL, 1, 1),
	/* dispatched loads and stores, data cache accesses, interrupts taken */
	EVENT(0x29, 0x01, LOADS, 1, 1),
	EVENT(0x29, 0x02, STORES, 1, 1),
	EVENT(0x40, ANY_UMASK, CACHE_REFS, 1, 1),
	EVENT(0x2c, ANY_UMASK, INTERRUPTS, 1, 1),
	EVENT(0xcf, ANY_UMASK, INTERRUPTS, 1, 1),
	/* the second level: of family 17h on, and before */
	EVENT(0x60, ANY_UMASK, CACHE_REFS, 1, 1),
	EVENT(0x64, ANY_UMASK, CACHE_MISSES, 1, 1),
	EVENT(0x7d, ANY_UMASK, CACHE_REFS, 1, 1),
	EVENT(0x7e, ANY_UMASK, CACHE_MISSES, 1, 1),
	/* of this model */
	EVENT(0xfe, 0x01, EXCEPTIONS, 1, 1),
	EVENT(0xfe, 0x02, CALLS, 1, 1),
	EVENT(0xfe, 0x04, NOT_TAKEN, 1, 1),
};

/* Intel's fixed-function counters, by number. */
static const struct x86_pmu_event fixed_events[] = {
	{ X86_PMU_INSTRUCTIONS,	X86_PMU_NOTHING, 1, 1 },
	{ X86_PMU_CYCLES,	X86_PMU_NOTHING, 1, 1 },
	{ X86_PMU_CYCLES,	X86_PMU_NOTHING, 1, 2 },
	{ X86_PMU_CYCLES,	X86_PMU_NOTHING, 4, 1 },
};

static const struct x86_pmu_event *find(const struct event_row *rows, size_t len,
					unsigned int code, unsigned int umask)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (rows[i].code == code &&
		    (rows[i].umask == ANY_UMASK || (unsigned int)rows[i].umask == umask))
			return &rows[i].event;
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
 * @amd: the selector is one of AMD
 * @selector: its value
 * @event: the result
 *
 * Return: whether the model has the event. If not the counter stands still.
 */
bool x86_pmu_event_select(bool amd, uint64_t selector, struct x86_pmu_event *event)
{
	unsigned int code = selector & X86_PMU_SEL_EVENT;
	unsigned int umask = (selector & X86_PMU_SEL_UMASK) >> 8;
	unsigned int cmask = (selector & X86_PMU_SEL_CMASK) >> X86_PMU_SEL_CMASK_SHIFT;
	const struct x86_pmu_event *found;

	if (amd)
		found = find(amd_events, ARRAY_SIZE(amd_events),
			     code | (selector & X86_PMU_SEL_EVENT_HIGH) >> 24, umask);
	else
		found = find(intel_events, ARRAY_SIZE(intel_events), code, umask);
	if (!found)
		return false;

	*event = *found;
	if (cmask)
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

/**
 * x86_pmu_event_fixed() - what one of Intel's fixed-function counters counts
 * @counter: its number
 * @event: the result
 *
 * Return: whether there is such a counter.
 */
bool x86_pmu_event_fixed(unsigned int counter, struct x86_pmu_event *event)
{
	if (counter >= ARRAY_SIZE(fixed_events))
		return false;
	*event = fixed_events[counter];
	return true;
}
