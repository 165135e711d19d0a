// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unknown.c - events that a guest selects and that the PMU does not count
 *
 * Such a counter reads 0, and nothing in the guest shows why: verbose=on prints the event, and the
 * statistics list it.
 */
#include "common/plugin.h"
#include "pmu/qemu.h"
#include "pmu/stats.h"

/* Maximum of different events that are listed for each CPU */
#define EVENTS_MAX	32

static struct unknown {
	struct {
		uint64_t event;
		uint64_t times;
	} events[EVENTS_MAX];
	unsigned int nr;
} unknowns[PMU_VCPUS_MAX];

/**
 * unknown_event() - note that the guest enables a counter with an event that the PMU does not count
 * @vcpu: index of the CPU; called in its thread
 * @event: number of the event, on x86 with the unit mask
 */
void unknown_event(unsigned int vcpu, uint64_t event)
{
	struct unknown *u = &unknowns[vcpu];
	unsigned int i = 0;

	while (i < u->nr && u->events[i].event != event)
		i++;
	if (i == EVENTS_MAX)
		return;
	if (i == u->nr) {
		u->nr++;
		u->events[i].event = event;
		plugin_note("CPU %u: event %#lx is not counted by this model, or not by the counter that was chosen: it reads 0",
			    vcpu, event);
	}
	u->events[i].times++;
}

/**
 * unknown_print() - print the events of a CPU that were not counted
 * @f: the file of statistics
 * @vcpu: index of the CPU
 */
void unknown_print(FILE *f, unsigned int vcpu)
{
	const struct unknown *u = &unknowns[vcpu];

	for (unsigned int i = 0; i < u->nr; i++)
		fprintf(f, "cpu%u.unknown.%#lx %lu\n", vcpu, u->events[i].event,
			u->events[i].times);
}
