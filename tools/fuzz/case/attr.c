// SPDX-License-Identifier: GPL-2.0-only
/*
 * attr.c - attributes of a case that depend on the PMU, and properties of its counts
 */
#include "arch.h"
#include "fuzz.h"
#include "machine.h"

#define BOGUS_TYPE		0x7ffffff0
/* With longer periods, samples take a small part of the time. */
#define MANY_SAMPLES_PERIOD	20000

static u32 pmu_type;

void fuzz_attr_init(u32 type)
{
	pmu_type = type;
}

static enum machine machine(void)
{
#ifdef __x86_64__
	return arch_is_amd() ? MACHINE_AMD : MACHINE_INTEL;
#else
	return MACHINE_ARM64;
#endif
}

void fuzz_attr_resolve(struct fuzz_event *event)
{
	struct perf_event_attr *attr = &event->attr;

	attr->config1 = machine_config1(machine(), event);
	attr->config = machine_config(machine(), event);
	switch (event->type) {
	case FUZZ_HARDWARE:
		attr->type = PERF_TYPE_HARDWARE;
		break;
	case FUZZ_CACHE:
		attr->type = PERF_TYPE_HW_CACHE;
		break;
	case FUZZ_RAW:
		attr->type = PERF_TYPE_RAW;
		break;
	case FUZZ_OWN:
		attr->type = pmu_type;
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

/* Maximum number of events in a round of a loop, and in the code around the loops */
#define EVENTS_OF_ROUND		16
#define EVENTS_AROUND		2000
/* Fewer samples than scripts/fuzz-diff allows per tick */
#define MANY_SAMPLES		100

static u64 events_of(const struct fuzz_case *fuzz)
{
	u64 events = EVENTS_AROUND;

	for (unsigned int i = 0; i < fuzz->nr_ops; i++)
		if (fuzz->ops[i].kind == FUZZ_LOOP || fuzz->ops[i].kind == FUZZ_MEMORY ||
		    fuzz->ops[i].kind == FUZZ_FORK_LOOP)
			events += EVENTS_OF_ROUND * fuzz->ops[i].arg;
	return events;
}

static bool is_many_samples(const struct fuzz_case *fuzz, const struct perf_event_attr *attr,
			    u64 period)
{
	if (attr->freq)
		return true;
	if (!period || period >= MANY_SAMPLES_PERIOD)
		return false;
	return !attr->exclude_kernel || events_of(fuzz) / period > MANY_SAMPLES;
}

bool fuzz_takes_many_samples(const struct fuzz_case *fuzz)
{
	const struct perf_event_attr *attr;

	for (unsigned int i = 0; i < fuzz->nr_events; i++) {
		attr = &fuzz->events[i].attr;
		if (attr->sample_period && is_many_samples(fuzz, attr, attr->sample_period))
			return true;
	}
	for (unsigned int i = 0; i < fuzz->nr_ops; i++) {
		attr = &fuzz->events[fuzz->ops[i].event].attr;
		if (fuzz->ops[i].kind == FUZZ_PERIOD &&
		    is_many_samples(fuzz, attr, fuzz->ops[i].arg))
			return true;
	}
	return false;
}

/* Check for accesses of the first-level cache, or branches. */
static bool is_access(u64 config)
{
	switch (config) {
	case PERF_COUNT_HW_CACHE_L1D:
	case PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_WRITE << 8:
	case PERF_COUNT_HW_CACHE_BPU:
		return true;
	default:
		return false;
	}
}

/* Misses depend on earlier execution; other PMUs' events depend on anything. */
bool fuzz_counts_alike(const struct fuzz_event *event)
{
	switch (event->type) {
	case FUZZ_HARDWARE:
	case FUZZ_EXTENDED:
		return event->attr.config != PERF_COUNT_HW_REF_CPU_CYCLES &&
		       event->attr.config != PERF_COUNT_HW_CACHE_REFERENCES &&
		       event->attr.config != PERF_COUNT_HW_CACHE_MISSES &&
		       event->attr.config != PERF_COUNT_HW_BRANCH_MISSES;
	case FUZZ_CACHE:
		return is_access(event->attr.config);
	case FUZZ_RAW:
	case FUZZ_OWN:
		return machine_counts_alike(machine(), event);
	default:
		return false;
	}
}
