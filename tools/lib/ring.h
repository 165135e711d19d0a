/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring.h - the sampling buffer of an event and the records in it, and the page of an event that
 * user space reads
 *
 * perf_event_open(2), "MMAP layout", defines the layouts.
 */
#ifndef RING_H
#define RING_H

#include "perf_util.h"

/**
 * struct ring - the sampling buffer of one event
 * @page: the page before the buffer, or NULL while nothing is mapped
 * @data: the buffer
 * @size: its bytes, a power of two
 * @length: bytes of page and buffer
 * @record: the record last returned, in one piece
 */
struct ring {
	struct perf_event_mmap_page *page;
	char *data;
	u64 size;
	size_t length;
	union {
		struct perf_event_header header;
		char bytes[65536];
	} record;
};

/**
 * ring_map() - map the buffer of an event
 * @ring: stays unmapped on failure
 * @fd: the event
 * @pages: pages of data: a power of two
 *
 * Return: 0, or a negative errno with which the running test has failed.
 */
int ring_map(struct ring *ring, int fd, unsigned int pages);

/**
 * ring_unmap() - unmap the buffer, if it is mapped
 * @ring: the buffer
 */
void ring_unmap(struct ring *ring);

/**
 * ring_next() - remove the oldest record
 * @ring: the buffer; the kernel may reuse the record's space
 *
 * A record with an invalid size fails the running test.
 *
 * Return: the record, valid until the next call; NULL without a record.
 */
const struct perf_event_header *ring_next(struct ring *ring);

/**
 * ring_discard() - remove all records
 * @ring: the buffer
 */
void ring_discard(struct ring *ring);

/**
 * struct sample - a PERF_RECORD_SAMPLE taken apart
 * @identifier: PERF_SAMPLE_IDENTIFIER
 * @ip: PERF_SAMPLE_IP
 * @pid: PERF_SAMPLE_TID
 * @tid: PERF_SAMPLE_TID
 * @time: PERF_SAMPLE_TIME
 * @addr: PERF_SAMPLE_ADDR
 * @id: PERF_SAMPLE_ID
 * @stream_id: PERF_SAMPLE_STREAM_ID
 * @cpu: PERF_SAMPLE_CPU
 * @period: PERF_SAMPLE_PERIOD
 * @read: PERF_SAMPLE_READ: count and times of the event or the group's leader
 * @nr_values: PERF_SAMPLE_READ: 1, or members of the group
 * @values: their counts
 * @ids: their ids, with PERF_FORMAT_ID
 * @nr_ips: PERF_SAMPLE_CALLCHAIN: entries
 * @ips: the entries, in the record
 * @nr_branches: PERF_SAMPLE_BRANCH_STACK, without PERF_SAMPLE_RAW: entries
 * @branches: the entries, in the record, the youngest first
 * @weight: PERF_SAMPLE_WEIGHT, PERF_SAMPLE_WEIGHT_STRUCT
 * @data_src: PERF_SAMPLE_DATA_SRC
 * @nr_regs: PERF_SAMPLE_REGS_INTR: registers, without PERF_SAMPLE_REGS_USER; 0 if there are none
 * @regs: the registers, in the record, in the order of the bits of sample_regs_intr
 */
struct sample {
	u64 identifier;
	u64 ip;
	u32 pid, tid;
	u64 time;
	u64 addr;
	u64 id;
	u64 stream_id;
	u32 cpu;
	u64 period;
	struct event_times read;
	unsigned int nr_values;
	u64 values[16];
	u64 ids[16];
	u64 nr_ips;
	const u64 *ips;
	u64 nr_branches;
	const struct perf_branch_entry *branches;
	u64 weight;
	u64 data_src;
	unsigned int nr_regs;
	const u64 *regs;
};

/**
 * sample_parse() - parse a record
 * @header: the record
 * @attr: attributes of its event
 * @sample: result; fields that attr->sample_type lacks are 0
 *
 * Return: true for a PERF_RECORD_SAMPLE. A sample that is too short for its sample_type fails the
 * running test.
 */
bool sample_parse(const struct perf_event_header *header,
		  const struct perf_event_attr *attr, struct sample *sample);

/**
 * ring_next_sample() - remove records up to the oldest sample, and parse the sample
 * @ring: the buffer
 * @attr: attributes of the samples' event
 * @sample: result, as for sample_parse()
 *
 * Return: the sample's record, valid until the next call; NULL without a sample.
 */
const struct perf_event_header *ring_next_sample(struct ring *ring,
						 const struct perf_event_attr *attr,
						 struct sample *sample);

/**
 * struct ring_sum - totals of a buffer's records
 * @samples: samples
 * @inside: samples whose ip is in the known loop
 * @throttles: PERF_RECORD_THROTTLE
 * @unthrottles: PERF_RECORD_UNTHROTTLE
 * @others: records of other types
 * @lost: lost records that PERF_RECORD_LOST reports
 * @periods: sum of the samples' periods
 * @first_period: period of the first sample
 * @last_period: period of the last sample
 * @first_time: time of the first sample
 * @last_time: time of the last sample
 * @backwards: samples older than the previous one
 */
struct ring_sum {
	unsigned int samples;
	unsigned int inside;
	unsigned int throttles;
	unsigned int unthrottles;
	unsigned int others;
	u64 lost;
	u64 periods;
	u64 first_period;
	u64 last_period;
	u64 first_time;
	u64 last_time;
	unsigned int backwards;
};

/**
 * ring_drain() - remove all records and count them
 * @ring: the buffer
 * @attr: attributes of their event
 * @sum: totals, to which the records are added
 */
void ring_drain(struct ring *ring, const struct perf_event_attr *attr,
		struct ring_sum *sum);

/**
 * struct reader - an event on the calling task that user space reads
 * @fd: the event
 * @width: width of its counter in bits, from the page
 * @page: the event's page
 */
struct reader {
	int fd;
	unsigned int width;
	struct perf_event_mmap_page *page;
};

/**
 * reader_map() - map the page of an event that is open
 * @reader: has the event
 *
 * Return: true on success; otherwise the running test has failed.
 */
bool reader_map(struct reader *reader);

/**
 * reader_close() - unmap the page and close the event
 * @reader: the event
 */
void reader_close(struct reader *reader);

#endif /* RING_H */
