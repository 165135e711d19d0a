// SPDX-License-Identifier: GPL-2.0-only
/*
 * records.c - the records in a buffer
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "records.h"

/* Records of these types depend on the kernel's timing. */
#define TIMING_TYPES	(1ULL << PERF_RECORD_THROTTLE | 1ULL << PERF_RECORD_UNTHROTTLE | \
			 1ULL << PERF_RECORD_SWITCH | 1ULL << PERF_RECORD_SWITCH_CPU_WIDE)

/* Space for one more record that is longer than the others, and for a record of lost ones */
#define SLACK		256

static u64 record[UINT16_MAX / sizeof(u64) + 1];

static u64 word_at(const char *data, u64 size, u64 at)
{
	u64 word;

	/* Records start at multiples of eight, and so do words. */
	memcpy(&word, data + at % size, sizeof(word));
	return word;
}

static void copy_record(const char *data, u64 size, u64 at, u64 bytes)
{
	for (u64 i = 0; i < bytes / sizeof(u64); i++)
		record[i] = word_at(data, size, at + i * sizeof(u64));
}

void records_look(struct records *records, struct perf_event_mmap_page *page, size_t size,
		  bool writable, struct look *look)
{
	const char *data = (const char *)page + page->data_offset;
	u64 head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	u64 at = page->data_tail, start = at, largest = 0;

	memset(records, 0, sizeof(*records));
	/* If the kernel overwrites old records, the position of the oldest one is unknown. */
	if (size <= page->data_offset || !writable || head - at > page->data_size)
		return;
	while (at < head) {
		u64 first = word_at(data, page->data_size, at);
		struct perf_event_header header;

		memcpy(&header, &first, sizeof(header));
		if (header.size < sizeof(header))
			break;
		if (!(TIMING_TYPES >> header.type & 1))
			records->types |= 1ULL << header.type;
		if (header.type == PERF_RECORD_SAMPLE) {
			if (!records->samples++)
				records->first_size = header.size;
			if (look) {
				copy_record(data, page->data_size, at, header.size);
				sample_add(&look->samples, look->attr, (void *)record, look->show);
			}
			records->kernel += (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
					   PERF_RECORD_MISC_KERNEL;
		} else if (header.type == PERF_RECORD_LOST) {
			records->lost += word_at(data, page->data_size, at + 16);
		}
		if (largest < header.size)
			largest = header.size;
		at += header.size;
	}
	records->full = head - start + largest + SLACK > page->data_size;
	__atomic_store_n(&page->data_tail, at, __ATOMIC_RELEASE);
}

void records_drain(struct records *records, struct perf_event_mmap_page *page, size_t size,
		   bool writable)
{
	records_look(records, page, size, writable, NULL);
}
