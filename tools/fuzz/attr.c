// SPDX-License-Identifier: GPL-2.0-only
/*
 * attr.c - what depends on the PMU in a case's attributes, and what can be said of its counts
 */
#include "arch.h"
#include "fuzz.h"

#define BOGUS_TYPE		0x7ffffff0
/* Above all of these a sample costs little of the time between two. */
#define MANY_SAMPLES_PERIOD	20000

#define EVENT_NUMBER		0xff

static u32 pmu_type;

void fuzz_attr_init(u32 type)
{
	pmu_type = type;
}

static u64 code_number(enum fuzz_code code)
{
	switch (code) {
	case FUZZ_CYCLES:
		return ARCH_EVENT_CYCLES;
	case FUZZ_INSTRUCTIONS:
		return ARCH_EVENT_INSTRUCTIONS;
	case FUZZ_BRANCHES:
		return ARCH_EVENT_BRANCHES;
	case FUZZ_SILENT:
		return ARCH_EVENT_SILENT;
	default:
		return 0;
	}
}

void fuzz_attr_resolve(struct fuzz_event *event)
{
	struct perf_event_attr *attr = &event->attr;

	switch (event->type) {
	case FUZZ_HARDWARE:
		attr->type = PERF_TYPE_HARDWARE;
		break;
	case FUZZ_CACHE:
		attr->type = PERF_TYPE_HW_CACHE;
		break;
	case FUZZ_RAW:
		attr->type = PERF_TYPE_RAW;
		attr->config |= code_number(event->code);
		break;
	case FUZZ_OWN:
		attr->type = pmu_type;
		attr->config |= code_number(event->code);
		break;
	case FUZZ_EXTENDED:
		attr->type = PERF_TYPE_HARDWARE;
		attr->config |= (u64)pmu_type << PERF_PMU_TYPE_SHIFT;
		break;
	case FUZZ_SOFTWARE:
		attr->type = PERF_TYPE_SOFTWARE;
		break;
	case FUZZ_BREAKPOINT:
		attr->type = PERF_TYPE_BREAKPOINT;
		break;
	case FUZZ_BOGUS:
		attr->type = BOGUS_TYPE;
		break;
	}
}

static bool is_many_samples(const struct perf_event_attr *attr)
{
	return attr->sample_period && (attr->freq || attr->sample_period < MANY_SAMPLES_PERIOD);
}

bool fuzz_takes_many_samples(const struct fuzz_case *fuzz)
{
	unsigned int i;

	for (i = 0; i < fuzz->nr_events; i++)
		if (is_many_samples(&fuzz->events[i].attr))
			return true;
	for (i = 0; i < fuzz->nr_ops; i++)
		if (fuzz->ops[i].kind == FUZZ_PERIOD &&
		    (fuzz->ops[i].arg < MANY_SAMPLES_PERIOD ||
		     fuzz->events[fuzz->ops[i].event].attr.freq))
			return true;
	return false;
}

/* Misses depend on all that ran before; other PMUs' events on what they like. */
bool fuzz_counts_alike(const struct fuzz_event *event)
{
	switch (event->type) {
	case FUZZ_HARDWARE:
	case FUZZ_EXTENDED:
		return event->attr.config != PERF_COUNT_HW_CACHE_REFERENCES &&
		       event->attr.config != PERF_COUNT_HW_CACHE_MISSES &&
		       event->attr.config != PERF_COUNT_HW_BRANCH_MISSES;
	case FUZZ_RAW:
	case FUZZ_OWN:
		/* The number of another event may be that of misses. */
		return !(event->attr.config & EVENT_NUMBER);
	default:
		return false;
	}
}
