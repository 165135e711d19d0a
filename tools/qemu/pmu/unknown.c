// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events that a guest selects and that the PMU does not count: their counters read 0 and nothing in
 * the guest tells why, so the statistics list them.
 */
#include "common/plugin.h"
#include "pmu/qemu.h"
#include "pmu/unknown.h"

/* How many events of a CPU are listed */
#define EVENTS_MAX	32

static struct unknown {
	struct {
		uint64_t event;
		uint64_t times;
	} events[EVENTS_MAX];
	unsigned int nr;
} unknowns[PMU_VCPUS_MAX];

/**
 * unknown_event() - a counter is enabled with an event that the PMU does not count
 * @vcpu: where; in its thread
 * @event: its number
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
		plugin_note("CPU %u: event %#lx is not counted by this model, or not by that counter: it reads 0",
			    vcpu, event);
	}
	u->events[i].times++;
}

/**
 * unknown_print() - statistics of a CPU
 * @f: where to
 * @vcpu: its index
 */
void unknown_print(FILE *f, unsigned int vcpu)
{
	const struct unknown *u = &unknowns[vcpu];
	unsigned int i;

	for (i = 0; i < u->nr; i++)
		fprintf(f, "cpu%u.unknown.%#lx %lu\n", vcpu, u->events[i].event,
			u->events[i].times);
}
