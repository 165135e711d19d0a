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
 * Counters from this number on are dedicated: each counts one event alone. That is
 * PMCCNTR_EL0 and PMICNTR_EL0 of PMUv3 and the fixed counters of x86.
 */
#define COREPMU_FIRST_DEDICATED	31

/* As many events as there can be counters, and the one that may not fit. */
#define COREPMU_MAX_DEMANDS	65

/**
 * struct corepmu_demand - an event that wants a counter
 * @allowed: mask of the counters that it may be placed on
 * @pairs: of these, the ones on which it takes the next lower counter too
 * @counter: where it is placed, -1 if it is not
 */
struct corepmu_demand {
	u64	allowed;
	u64	pairs;
	int	counter;
};

/**
 * corepmu_first_choice() - which of several counters an event is to be placed on
 * @counters: the counters, at least one
 *
 * A dedicated counter leaves the others to the events that have no choice. Of the others
 * the lowest: where not all of them can count an event (Intel), the low ones can.
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
