/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of the virtual arm64 PMU, and their encoding in event types.
 */
#ifndef TOOLS_QEMU_ARM64_EVENTS_H
#define TOOLS_QEMU_ARM64_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/* The kinds of counts of a vCPU; each has a count for each exception level */
enum arm64_pmu_kind {
	ARM64_PMU_INSTRUCTIONS,
	ARM64_PMU_CYCLES,		/* one for each instruction, one more for a branch */
	ARM64_PMU_BRANCHES,
	ARM64_PMU_IMMEDIATE,		/* branches to an address in the instruction */
	ARM64_PMU_RETURNS,
	ARM64_PMU_TAKEN,
	ARM64_PMU_NOT_TAKEN,
	ARM64_PMU_MISPREDICTED,
	ARM64_PMU_LOADS,
	ARM64_PMU_STORES,
	ARM64_PMU_MEMORY,		/* instructions that load or store */
	ARM64_PMU_CACHE_REFS,
	ARM64_PMU_CACHE_MISSES,
	ARM64_PMU_TLB_MISSES,
	ARM64_PMU_EXCEPTIONS,
	ARM64_PMU_EXCEPTION_RETURNS,
	ARM64_PMU_RECORDS,	/* not a count: branches are reported one by one */
	ARM64_PMU_KINDS,
};

#define ARM64_PMU_KIND_BIT(kind)	(UINT32_C(1) << (kind))

enum arm64_pmu_level {
	ARM64_PMU_EL0,
	ARM64_PMU_EL1,
	ARM64_PMU_EL2,
	ARM64_PMU_EL3,
	ARM64_PMU_LEVELS
};

/* What advances a counter */
enum arm64_pmu_source {
	ARM64_PMU_NO_EVENT,
	ARM64_PMU_BY_KIND,
	ARM64_PMU_BY_SOFTWARE,		/* PMSWINC_EL0 */
	ARM64_PMU_BY_CHAIN,		/* overflows of the counter below */
};

/**
 * struct arm64_pmu_event - an event; all but @source are valid only with ARM64_PMU_BY_KIND
 * @source: what advances the counter
 * @kind: the kind that the event depends on
 * @in: increment of a cycle with this kind
 * @out: increment of a cycle without it
 */
struct arm64_pmu_event {
	enum arm64_pmu_source source;
	enum arm64_pmu_kind kind;
	uint16_t in;
	uint16_t out;
};

/* PMEVTYPER<n>_EL0 */
#define PMEVTYPER_EVENT		UINT64_C(0xffff)
#define PMEVTYPER_TH_SHIFT	32
#define PMEVTYPER_TC_SHIFT	61

#define EVENT_INST_RETIRED	0x0008
#define EVENT_CPU_CYCLES	0x0011
#define EVENT_CHAIN		0x001e
#define EVENT_STALL_BACKEND	0x0024
#define EVENT_STALL_SLOT	0x003f

bool arm64_pmu_has_event(unsigned int event, unsigned int slots);
void arm64_pmu_event_select(uint64_t type, unsigned int slots, struct arm64_pmu_event *event);

#endif /* TOOLS_QEMU_ARM64_EVENTS_H */
