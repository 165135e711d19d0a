/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sample.h - fields of samples
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "fuzz.h"

/**
 * enum sample_field - fields of a sample that must be the same with every driver
 */
enum sample_field {
	SAMPLE_PLACE,		/* the instruction */
	SAMPLE_MISC,		/* user or kernel, exact or not */
	SAMPLE_ADDRESS,
	SAMPLE_PERIOD,
	SAMPLE_COUNTS,		/* PERF_SAMPLE_READ, without times */
	SAMPLE_CHAIN,
	SAMPLE_BRANCHES,	/* number of branches */
	SAMPLE_BRANCH_PLACES,	/* source and target addresses */
	SAMPLE_BRANCH_KINDS,	/* other fields of branches, without cycles */
	SAMPLE_REGS,
	SAMPLE_WEIGHT,
	SAMPLE_DATA_SOURCE,
	SAMPLE_ABORTS,		/* PERF_SAMPLE_TRANSACTION */
	SAMPLE_PHYSICAL,	/* whether there is an address */
	SAMPLE_PAGES,
	SAMPLE_NR_FIELDS
};

/**
 * struct samples - fields of samples in a loop
 * @in_loop: number of these samples
 * @hashes: hash of each field over all of these samples
 */
struct samples {
	u64 in_loop;
	u32 hashes[SAMPLE_NR_FIELDS];
};

/**
 * sample_add() - add a sample
 * @samples: added to
 * @attr: attributes of the event
 * @record: the record
 * @show: output in words, or NULL
 */
void sample_add(struct samples *samples, const struct perf_event_attr *attr,
		const struct perf_event_header *record, FILE *show);

/**
 * sample_note() - store the hashes as results
 * @samples: the samples
 * @attr: attributes of the event
 * @event: its number
 */
void sample_note(const struct samples *samples, const struct perf_event_attr *attr,
		 unsigned int event);

#endif /* SAMPLE_H */
