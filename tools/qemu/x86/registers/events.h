/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of the virtual x86 PMU, and their encoding in event selectors.
 */
#ifndef TOOLS_QEMU_X86_EVENTS_H
#define TOOLS_QEMU_X86_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kinds of counts of a vCPU; each has a count for user and one for kernel */
enum x86_pmu_kind {
	X86_PMU_INSTRUCTIONS,
	X86_PMU_CYCLES,		/* one for each instruction, and one more for a branch */
	X86_PMU_BRANCHES,	/* all branches, near and far */
	X86_PMU_CONDITIONAL,
	X86_PMU_TAKEN,		/* near branches that were taken */
	X86_PMU_NOT_TAKEN,
	X86_PMU_CALLS,		/* near */
	X86_PMU_RETURNS,	/* near */
	X86_PMU_FAR,
	X86_PMU_MISPREDICTED,
	X86_PMU_LOADS,
	X86_PMU_STORES,
	X86_PMU_UPDATES,	/* read-modify-write accesses */
	X86_PMU_CACHE_REFS,
	X86_PMU_CACHE_MISSES,
	X86_PMU_LOAD_MISSES,	/* loads that miss the cache */
	X86_PMU_INTERRUPTS,
	X86_PMU_EXCEPTIONS,
	X86_PMU_SLOW_LOADS,	/* longer than MSR_PEBS_LD_LAT_THRESHOLD */
	X86_PMU_RECORDS,	/* not a count: branches are reported one by one */
	X86_PMU_STEPS,		/* not a count: instructions are reported, near an overflow */
	X86_PMU_KINDS,
	X86_PMU_NOTHING = X86_PMU_KINDS,
};

#define X86_PMU_KIND_BIT(kind)	(UINT32_C(1) << (kind))
#define X86_PMU_ALL_KINDS	(X86_PMU_KIND_BIT(X86_PMU_KINDS) - 1)

/**
 * struct x86_pmu_event - an event: its count is (kind - less) * times / per
 * @kind: the kind that advances the count
 * @less: the kind that is subtracted, X86_PMU_NOTHING for none
 * @times: the factor, 0 for an event that never happens
 * @per: the divisor
 */
struct x86_pmu_event {
	enum x86_pmu_kind kind;
	enum x86_pmu_kind less;
	uint8_t times;
	uint8_t per;
};

#define X86_PMU_ANY_UMASK	-1

/**
 * struct x86_pmu_event_row - an event's encoding in a selector
 * @code: the event's number
 * @umask: the unit mask, X86_PMU_ANY_UMASK if every unit mask selects the event
 * @cmask: a counter mask that is part of the encoding and not a threshold, 0 if there is none
 * @event: the event
 */
struct x86_pmu_event_row {
	uint16_t code;
	int16_t umask;
	uint8_t cmask;
	struct x86_pmu_event event;
};

#define X86_PMU_EVENT(code, umask, kind, times, per) \
	{ code, umask, 0, { X86_PMU_##kind, X86_PMU_NOTHING, times, per } }

/* Bits of event selectors; of both vendors, unless a comment names one */
#define X86_PMU_SEL_EVENT	UINT64_C(0xff)
#define X86_PMU_SEL_UMASK	UINT64_C(0xff00)
#define X86_PMU_SEL_USR		(UINT64_C(1) << 16)
#define X86_PMU_SEL_OS		(UINT64_C(1) << 17)
#define X86_PMU_SEL_EDGE	(UINT64_C(1) << 18)
#define X86_PMU_SEL_PIN		(UINT64_C(1) << 19)	/* Intel only */
#define X86_PMU_SEL_INT		(UINT64_C(1) << 20)
#define X86_PMU_SEL_ANY		(UINT64_C(1) << 21)	/* Intel only */
#define X86_PMU_SEL_EN		(UINT64_C(1) << 22)
#define X86_PMU_SEL_INV		(UINT64_C(1) << 23)
#define X86_PMU_SEL_CMASK_SHIFT	24
#define X86_PMU_SEL_CMASK	(UINT64_C(0xff) << X86_PMU_SEL_CMASK_SHIFT)
#define X86_PMU_SEL_EQ		(UINT64_C(1) << 36)	/* Intel only */
#define X86_PMU_SEL_USER_DISABLE	(UINT64_C(1) << 37)	/* Intel only */
#define X86_PMU_SEL_UMASK2	(UINT64_C(0xff) << 40)	/* Intel only */
#define X86_PMU_SEL_ADAPTIVE	(UINT64_C(1) << 34)	/* Intel only */
#define X86_PMU_SEL_LBR_LOG	(UINT64_C(1) << 35)	/* Intel only: branch records have counts */
#define X86_PMU_SEL_EVENT_HIGH	(UINT64_C(0xf) << 32)	/* AMD only */
#define X86_PMU_SEL_GUEST_ONLY	(UINT64_C(1) << 40)	/* AMD only */
#define X86_PMU_SEL_HOST_ONLY	(UINT64_C(1) << 41)	/* AMD only */
#define X86_PMU_SEL_HG_ONLY	(UINT64_C(3) << 40)	/* AMD only: both of these bits */

/* The bits of a selector that encode the event. */
#define X86_PMU_SEL_NAME	(X86_PMU_SEL_EVENT | X86_PMU_SEL_UMASK | X86_PMU_SEL_EVENT_HIGH)

/* Return the event number in a selector. */
static inline unsigned int x86_pmu_event_code(uint64_t selector)
{
	return (selector & X86_PMU_SEL_EVENT) | (selector & X86_PMU_SEL_EVENT_HIGH) >> 24;
}

/* Return the unit mask in a selector. */
static inline unsigned int x86_pmu_event_umask(uint64_t selector)
{
	return (selector & X86_PMU_SEL_UMASK) >> 8;
}

bool x86_pmu_event_select(const struct x86_pmu_event_row *rows, size_t len, uint64_t selector,
			  struct x86_pmu_event *event);

#endif /* TOOLS_QEMU_X86_EVENTS_H */
