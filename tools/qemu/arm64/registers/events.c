// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decode event types of the virtual arm64 PMU.
 *
 * Numbers and names: Arm Architecture Reference Manual, DDI 0487, D13.11.
 */
#include "arm64/registers/events.h"
#include "common/plugin.h"

static const struct event_row {
	uint16_t number;
	enum arm64_pmu_source source;
	enum arm64_pmu_kind kind;
} events[] = {
	{ 0x00, ARM64_PMU_BY_SOFTWARE, 0 },				/* SW_INCR */
	{ 0x03, ARM64_PMU_BY_KIND, ARM64_PMU_CACHE_MISSES },		/* L1D_CACHE_REFILL */
	{ 0x04, ARM64_PMU_BY_KIND, ARM64_PMU_CACHE_REFS },		/* L1D_CACHE */
	{ 0x05, ARM64_PMU_BY_KIND, ARM64_PMU_TLB_MISSES },		/* L1D_TLB_REFILL */
	{ 0x06, ARM64_PMU_BY_KIND, ARM64_PMU_LOADS },			/* LD_RETIRED */
	{ 0x07, ARM64_PMU_BY_KIND, ARM64_PMU_STORES },			/* ST_RETIRED */
	{ EVENT_INST_RETIRED, ARM64_PMU_BY_KIND, ARM64_PMU_INSTRUCTIONS },
	{ 0x09, ARM64_PMU_BY_KIND, ARM64_PMU_EXCEPTIONS },		/* EXC_TAKEN */
	{ 0x0a, ARM64_PMU_BY_KIND, ARM64_PMU_EXCEPTION_RETURNS },	/* EXC_RETURN */
	{ 0x0c, ARM64_PMU_BY_KIND, ARM64_PMU_TAKEN },			/* PC_WRITE_RETIRED */
	{ 0x0d, ARM64_PMU_BY_KIND, ARM64_PMU_IMMEDIATE },		/* BR_IMMED_RETIRED */
	{ 0x0e, ARM64_PMU_BY_KIND, ARM64_PMU_RETURNS },			/* BR_RETURN_RETIRED */
	{ 0x10, ARM64_PMU_BY_KIND, ARM64_PMU_MISPREDICTED },		/* BR_MIS_PRED */
	{ EVENT_CPU_CYCLES, ARM64_PMU_BY_KIND, ARM64_PMU_CYCLES },
	{ 0x12, ARM64_PMU_BY_KIND, ARM64_PMU_BRANCHES },		/* BR_PRED */
	{ 0x13, ARM64_PMU_BY_KIND, ARM64_PMU_MEMORY },			/* MEM_ACCESS */
	{ 0x1b, ARM64_PMU_BY_KIND, ARM64_PMU_INSTRUCTIONS },		/* INST_SPEC */
	{ EVENT_CHAIN, ARM64_PMU_BY_CHAIN, 0 },
	{ 0x21, ARM64_PMU_BY_KIND, ARM64_PMU_BRANCHES },		/* BR_RETIRED */
	{ 0x22, ARM64_PMU_BY_KIND, ARM64_PMU_MISPREDICTED },		/* BR_MIS_PRED_RETIRED */
	{ 0x23, ARM64_PMU_BY_KIND, ARM64_PMU_BRANCHES },		/* STALL_FRONTEND */
	{ EVENT_STALL_BACKEND, ARM64_PMU_BY_KIND, ARM64_PMU_INSTRUCTIONS },
	{ 0x25, ARM64_PMU_BY_KIND, ARM64_PMU_CACHE_REFS },		/* L1D_TLB */
	{ 0x3c, ARM64_PMU_BY_KIND, ARM64_PMU_BRANCHES },		/* STALL */
	{ EVENT_STALL_SLOT, ARM64_PMU_BY_KIND, ARM64_PMU_INSTRUCTIONS },
};

static const struct event_row *find_event(unsigned int number, unsigned int slots)
{
	if (number == EVENT_STALL_SLOT && !slots)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (events[i].number == number)
			return &events[i];
	return NULL;
}

/**
 * arm64_pmu_has_event() - check whether the PMU has an event
 * @number: the event's number
 * @slots: PMMIR_EL1.SLOTS, 0 without this register
 */
bool arm64_pmu_has_event(unsigned int number, unsigned int slots)
{
	return find_event(number, slots);
}

/* PMEVTYPER<n>_EL0.TC, D23: return the increment of a cycle with @value events */
static unsigned int threshold(unsigned int value, unsigned int th, unsigned int tc)
{
	bool reached;

	switch (tc >> 1) {
	case 0:
		reached = value != th;
		break;
	case 1:
		reached = value == th;
		break;
	case 2:
		reached = value >= th;
		break;
	default:
		reached = value < th;
	}
	if (!reached)
		return 0;
	return tc & 1 ? 1 : value;
}

/**
 * arm64_pmu_event_select() - decode an event type
 * @type: PMEVTYPER<n>_EL0, with only bits that the PMU has
 * @slots: PMMIR_EL1.SLOTS, 0 without this register
 * @event: set to the event
 *
 * In a cycle at most one instruction retires, and with it at most one of each event. A branch takes
 * two cycles: the first uses no slot. Every other cycle uses one slot.
 */
void arm64_pmu_event_select(uint64_t type, unsigned int slots, struct arm64_pmu_event *event)
{
	const struct event_row *row = find_event(type & PMEVTYPER_EVENT, slots);
	unsigned int th = type >> PMEVTYPER_TH_SHIFT & 0xfff;
	unsigned int tc = type >> PMEVTYPER_TC_SHIFT & 7;

	*event = (struct arm64_pmu_event) { .source = ARM64_PMU_NO_EVENT };
	if (!row)
		return;
	event->source = row->source;
	event->kind = row->kind;
	/* PMUv3p1 requires the event; this CPU never stalls in the backend, so it stays 0. */
	event->in = row->number != EVENT_STALL_BACKEND;
	if (row->number == EVENT_STALL_SLOT) {
		event->in = slots - 1;
		event->out = slots;
	}
	/* TH 0 and TC 0 (not equal to 0, by value) disable the threshold. */
	if (row->source == ARM64_PMU_BY_KIND && (th || tc)) {
		event->in = threshold(event->in, th, tc);
		event->out = threshold(event->out, th, tc);
	}
}
