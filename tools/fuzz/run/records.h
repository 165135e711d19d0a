/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * records.h - what is in a buffer
 */
#ifndef RECORDS_H
#define RECORDS_H

#include "fuzz.h"
#include "sample.h"

/**
 * struct records - what was in a buffer
 * @samples: records of samples
 * @kernel: of these, said to be of the kernel
 * @lost: records that the kernel told to be lost
 * @types: a bit for each type of record, but for those of throttling and switches
 * @first_size: bytes of the first sample
 * @full: there was no room for another one
 */
struct records {
	u64 samples;
	u64 kernel;
	u64 lost;
	u64 types;
	u64 first_size;
	bool full;
};

/**
 * struct look - a look at samples
 * @attr: of the event that they are of
 * @show: where to print them, or NULL
 * @samples: what they say
 */
struct look {
	const struct perf_event_attr *attr;
	FILE *show;
	struct samples samples;
};

/**
 * records_drain() - look at all records, and have the kernel take their place
 * @records: result
 * @page: the page before the buffer
 * @size: of both
 * @writable: the kernel can be told how far it was read
 */
void records_drain(struct records *records, struct perf_event_mmap_page *page, size_t size,
		   bool writable);

/**
 * records_look() - the same, and look at what samples say
 * @records: result
 * @page: the page before the buffer
 * @size: of both
 * @writable: the kernel can be told how far it was read
 * @look: how, and result; NULL for not at all
 */
void records_look(struct records *records, struct perf_event_mmap_page *page, size_t size,
		  bool writable, struct look *look);

#endif /* RECORDS_H */
