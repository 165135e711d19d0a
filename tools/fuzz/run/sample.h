/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sample.h - what samples say
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "fuzz.h"

/** enum sample_field - members of a sample that have to be the same whatever the driver */
enum sample_field {
	SAMPLE_PLACE,		/* the instruction */
	SAMPLE_MISC,		/* user or kernel, exact or not */
	SAMPLE_ADDRESS,
	SAMPLE_PERIOD,
	SAMPLE_COUNTS,		/* PERF_SAMPLE_READ, but for times */
	SAMPLE_CHAIN,
	SAMPLE_BRANCHES,	/* how many */
	SAMPLE_BRANCH_PLACES,	/* from where to where */
	SAMPLE_BRANCH_KINDS,	/* and what else is said of them, but for cycles */
	SAMPLE_REGS,
	SAMPLE_WEIGHT,
	SAMPLE_DATA_SOURCE,
	SAMPLE_ABORTS,		/* PERF_SAMPLE_TRANSACTION */
	SAMPLE_PHYSICAL,	/* whether there is an address */
	SAMPLE_PAGES,
	SAMPLE_NR_FIELDS
};

/**
 * struct samples - what samples say that were taken in a loop
 * @in_loop: how many these are
 * @hashes: of each member of all of these, one after the other
 */
struct samples {
	u64 in_loop;
	u32 hashes[SAMPLE_NR_FIELDS];
};

/**
 * sample_add() - look at a sample
 * @samples: added to
 * @attr: the event's
 * @record: the record
 * @show: where to print it in words, or NULL
 */
void sample_add(struct samples *samples, const struct perf_event_attr *attr,
		const struct perf_event_header *record, FILE *show);

/**
 * sample_note() - note what was added up
 * @samples: of these
 * @attr: the event's
 * @event: its number
 */
void sample_note(const struct samples *samples, const struct perf_event_attr *attr,
		 unsigned int event);

#endif /* SAMPLE_H */
