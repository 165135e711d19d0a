/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: what the driver keeps in struct hw_perf_event
 *
 * Perf core leaves these members to drivers, and names them after what other drivers store. The
 * driver accesses five of them by the accessors below only:
 *
 *   config            counters:	the counters the event may be placed on, a bit each
 *   event_base        value_mask:	the value bits of the counter that the event is placed on
 *   event_base_rdpmc  min_period:	the lowest number of counts after which the counter may be
 *					set to overflow: struct corepmu's min_left, or more if the
 *					event or the limiter needs more
 *   extra_reg.alloc   period_floor:	the limiter does not lower min_period below this value.
 *					0: the event needs no more than struct corepmu's min_left
 *   last_cpu          freq:		the frequency that sample_period fits, COREPMU_FREQ_YOUNG
 *					while the event is young (core/frequency.c); 0 without a
 *					frequency
 *
 * Members that are used by their own names:
 *
 *   config_base  what the backend writes to select and filter the event
 *   branch_reg   .config: COREPMU_BRANCH_* that the event wants
 *   extra_reg    .idx, .reg, .config: the extra register, its MSR and its value, with
 *		  COREPMU_EVENT_EXTRA_REG; .config alone: the load-latency threshold, with
 *		  EVENT_LATENCY
 *   idx          the counter, -1 while not placed; the upper one of a pair
 *   freq_time_stamp  perf core's time of the last sample, 0 before the first
 *   flags        COREPMU_EVENT_*, flags of the backend, PERF_EVENT_FLAG_USER_READ_CNT
 *   state        PERF_HES_*
 *   prev_count   last value that was read from the counter, or written, sign-extended: see
 *		  corepmu_extend_sign()
 *
 * x86/intel/topdown.c uses further members for topdown metrics.
 */
#ifndef _COREPMU_HW_H
#define _COREPMU_HW_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include <corepmu/features.h>

/*
 * Flags in hw_perf_event.flags. LONG: the event counts in 64 bits, even where a single counter is
 * narrower. The bit is ARMPMU_EVT_64BIT (drivers/perf/arm_pmuv3.c): the kernel's
 * arch_perf_update_userpage() tells user space that the counter has 64 bits.
 */
#define COREPMU_EVENT_LONG	BIT(0)
/* On a counter of corepmu.pair_counters, the event takes the next lower counter too. */
#define COREPMU_EVENT_PAIR	BIT(1)
/* User space reads the low 32 bits of the counter: the driver uses only these. */
#define COREPMU_EVENT_32BIT	BIT(2)
/* The page of the event is mapped, and overflows update it: corepmu_event_mapped() */
#define COREPMU_EVENT_MAPPED	BIT(3)
/* Flags of the event's features, one for each of enum corepmu_feature, see core/features.c */
#define COREPMU_EVENT_FIRST_FEATURE	4
#define COREPMU_EVENT_FEATURE(nr)	BIT(COREPMU_EVENT_FIRST_FEATURE + (nr))
#define COREPMU_EVENT_FEATURES	\
	GENMASK(COREPMU_EVENT_FIRST_FEATURE + COREPMU_NR_FEATURES - 1, COREPMU_EVENT_FIRST_FEATURE)
#define COREPMU_EVENT_SAMPLED	\
	GENMASK(COREPMU_EVENT_FIRST_FEATURE + COREPMU_NR_SAMPLED - 1, COREPMU_EVENT_FIRST_FEATURE)
/* The event's samples have branch records. */
#define COREPMU_EVENT_BRANCHES	COREPMU_EVENT_FEATURE(COREPMU_FEATURE_BRANCHES)
/* Precise event: the hardware writes the records that its samples are made from (PEBS). */
#define COREPMU_EVENT_PRECISE	COREPMU_EVENT_FEATURE(COREPMU_FEATURE_PRECISE)
/* Auto counter reload (ACR): overflows of other group members reload the event's counter. */
#define COREPMU_EVENT_ACR	COREPMU_EVENT_FEATURE(COREPMU_FEATURE_ACR)
/*
 * The event needs a value in an extra register besides its event selection (Intel's OFFCORE_RSP).
 * Events that need the same value share the register.
 */
#define COREPMU_EVENT_EXTRA_REG	COREPMU_EVENT_FEATURE(COREPMU_FEATURE_EXTRA_REG)
/* PERF_SAMPLE_BRANCH_COUNTERS: each branch record has a count of the event. */
#define COREPMU_EVENT_BRANCH_COUNTERS	COREPMU_EVENT_FEATURE(COREPMU_FEATURE_BRANCH_COUNTERS)
/* Topdown slots or metric: the event shares its counter with other events of its group. */
#define COREPMU_EVENT_TOPDOWN	BIT(9)
/* Large PEBS: the hardware may write several records of the event before it interrupts. */
#define COREPMU_EVENT_LARGE	BIT(10)
/* Flags from this bit on belong to the backends. */
#define COREPMU_EVENT_BACKEND	12

/* Value of corepmu_hw_freq() while the driver measures the event's rate (core/frequency.c) */
#define COREPMU_FREQ_YOUNG	(-1)

/* Set a flag of an event that other CPUs may be using. */
static inline void corepmu_hw_add_flag(struct hw_perf_event *hwc, int flag)
{
	set_mask_bits(&hwc->flags, 0, flag);
}

static inline u64 corepmu_hw_counters(const struct hw_perf_event *hwc)
{
	return hwc->config;
}

static inline void corepmu_hw_set_counters(struct hw_perf_event *hwc, u64 counters)
{
	WRITE_ONCE(hwc->config, counters);
}

static inline void corepmu_hw_limit_counters(struct hw_perf_event *hwc, u64 counters)
{
	corepmu_hw_set_counters(hwc, corepmu_hw_counters(hwc) & counters);
}

static inline u64 corepmu_hw_value_mask(const struct hw_perf_event *hwc)
{
	return hwc->event_base;
}

static inline void corepmu_hw_set_value_mask(struct hw_perf_event *hwc, u64 mask)
{
	static_assert(sizeof(hwc->event_base) == sizeof(mask));
	hwc->event_base = mask;
}

static inline s64 corepmu_hw_min_period(const struct hw_perf_event *hwc)
{
	return hwc->event_base_rdpmc;
}

/* For readers that race with the overflow interrupt of another CPU: see limiter_throttle(). */
static inline s64 corepmu_hw_read_min_period(const struct hw_perf_event *hwc)
{
	return READ_ONCE(hwc->event_base_rdpmc);
}

static inline void corepmu_hw_set_min_period(struct hw_perf_event *hwc, s64 counts)
{
	WRITE_ONCE(hwc->event_base_rdpmc, counts);
}

static inline s64 corepmu_hw_period_floor(const struct hw_perf_event *hwc)
{
	return hwc->extra_reg.alloc;
}

static inline void corepmu_hw_set_period_floor(struct hw_perf_event *hwc, unsigned int counts)
{
	hwc->extra_reg.alloc = counts;
}

static inline int corepmu_hw_freq(const struct hw_perf_event *hwc)
{
	return hwc->last_cpu;
}

static inline void corepmu_hw_set_freq(struct hw_perf_event *hwc, int freq)
{
	hwc->last_cpu = freq;
}

static inline bool corepmu_hw_is_young(const struct hw_perf_event *hwc)
{
	return corepmu_hw_freq(hwc) == COREPMU_FREQ_YOUNG;
}

#endif /* _COREPMU_HW_H */
