/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: placement of events on counters
 */
#ifndef _COREPMU_ASSIGN_H
#define _COREPMU_ASSIGN_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/types.h>

/*
 * Counters from this number on are dedicated: each counts one event only. These are PMCCNTR_EL0 and
 * PMICNTR_EL0 of PMUv3, and the fixed counters of x86.
 */
#define COREPMU_FIRST_DEDICATED	31

/* One event for each possible counter, and one more that may not fit */
#define COREPMU_MAX_DEMANDS	65

/**
 * struct corepmu_demand - an event that needs a counter
 * @allowed: mask of counters that the event may be placed on
 * @pairs: mask of counters among @allowed on which the event takes the next lower counter too;
 *	all of these counters are odd, so pairs do not overlap
 * @counter: counter that the event is placed on, -1 if none
 */
struct corepmu_demand {
	u64	allowed;
	u64	pairs;
	int	counter;
};

/**
 * corepmu_first_choice() - choose one of the counters that an event may be placed on
 * @counters: mask of the counters, not 0
 *
 * A dedicated counter comes first: it leaves the general-purpose counters to other events. Among
 * general-purpose counters the lowest comes first: on Intel, an event that only some of them
 * support is supported by the low ones.
 *
 * Return: the counter
 */
static inline int corepmu_first_choice(u64 counters)
{
	u64 dedicated = counters & GENMASK_ULL(63, COREPMU_FIRST_DEDICATED);

	return __ffs64(dedicated ?: counters);
}

int corepmu_assign(struct corepmu_demand *demands, unsigned int nr);

#endif /* _COREPMU_ASSIGN_H */
