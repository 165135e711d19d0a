/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * records.h - the records in a buffer
 */
#ifndef RECORDS_H
#define RECORDS_H

#include "fuzz.h"
#include "sample.h"

/**
 * struct records - contents of a buffer
 * @samples: samples
 * @kernel: samples of the kernel
 * @lost: lost records that the kernel reported
 * @types: a bit for each record type, except throttling and switches
 * @first_size: bytes of the first sample
 * @full: there was no space for another record
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
 * struct look - how to compare samples
 * @attr: attributes of their event
 * @show: output for their fields, or NULL
 * @samples: results
 */
struct look {
	const struct perf_event_attr *attr;
	FILE *show;
	struct samples samples;
};

/**
 * records_drain() - count all records, and free their space for the kernel
 * @records: result
 * @page: the page before the buffer
 * @size: bytes of both
 * @writable: the kernel reads the position up to which records were read
 */
void records_drain(struct records *records, struct perf_event_mmap_page *page, size_t size,
		   bool writable);

/**
 * records_look() - as records_drain(), and compare the fields of samples
 * @records: result
 * @page: the page before the buffer
 * @size: bytes of both
 * @writable: the kernel reads the position up to which records were read
 * @look: how to compare, and the results; NULL for no comparison
 */
void records_look(struct records *records, struct perf_event_mmap_page *page, size_t size,
		  bool writable, struct look *look);

#endif /* RECORDS_H */
