/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: placement of events on counters
 */
#ifndef _COREPMU_ASSIGN_H
#define _COREPMU_ASSIGN_H

#include <linux/types.h>

/* As many events as there can be counters, and the one that may not fit. */
#define COREPMU_MAX_DEMANDS	65

/**
 * struct corepmu_demand - an event that wants a counter
 * @homes: counters that it may be placed on
 * @pairs: of these, the ones on which it takes the next lower counter too
 * @counter: where it is placed, -1 if it is not
 */
struct corepmu_demand {
	u64	homes;
	u64	pairs;
	int	counter;
};

int corepmu_assign(struct corepmu_demand *demands, unsigned int nr);

#endif /* _COREPMU_ASSIGN_H */
