// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring.c - the sampling buffer of an event and the records in it
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring.h"

/* PERF_SAMPLE_WEIGHT_STRUCT, which older headers lack */
#define SAMPLE_WEIGHT_STRUCT	(1ULL << 24)

int ring_map(struct ring *ring, int fd, unsigned int pages)
{
	size_t page = sysconf(_SC_PAGESIZE);

	ring->length = (pages + 1) * page;
	ring->page = mmap(NULL, ring->length, PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, 0);
	if (ring->page == MAP_FAILED) {
		int err = errno;

		ring->page = NULL;
		ktap_fail("mmap of %u pages: expected a buffer, got %s", pages,
			  strerror(err));
		return -err;
	}
	ring->data = (char *)ring->page + ring->page->data_offset;
	ring->size = ring->page->data_size;
	return 0;
}

void ring_unmap(struct ring *ring)
{
	if (ring->page)
		munmap(ring->page, ring->length);
	ring->page = NULL;
}

static void ring_copy(struct ring *ring, u64 from, void *to, size_t len)
{
	u64 offset = from & (ring->size - 1);
	size_t first = ring->size - offset;

	if (first > len)
		first = len;
	memcpy(to, ring->data + offset, first);
	memcpy((char *)to + first, ring->data, len - first);
}

const struct perf_event_header *ring_next(struct ring *ring)
{
	u64 head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	u64 tail = ring->page->data_tail;
	struct perf_event_header header;

	if (head == tail)
		return NULL;
	ring_copy(ring, tail, &header, sizeof(header));
	if (header.size < sizeof(header) || header.size > head - tail) {
		ktap_fail("record at %llu: expected a size of 8..%llu, got %u",
			  (unsigned long long)tail,
			  (unsigned long long)(head - tail), header.size);
		ring_discard(ring);
		return NULL;
	}
	ring_copy(ring, tail, &ring->record, header.size);
	__atomic_store_n(&ring->page->data_tail, tail + header.size,
			 __ATOMIC_RELEASE);
	return &ring->record.header;
}

void ring_discard(struct ring *ring)
{
	u64 head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);

	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
}

static const u64 *parse_read(const u64 *at, u64 format, struct sample *sample)
{
	u64 nr = 1, i;

	if (format & PERF_FORMAT_GROUP)
		nr = *at++;
	else
		sample->values[0] = *at++;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		sample->read.enabled = *at++;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		sample->read.running = *at++;
	if (nr > ARRAY_SIZE(sample->values))
		return NULL;
	for (i = 0; i < nr; i++) {
		if (format & PERF_FORMAT_GROUP)
			sample->values[i] = *at++;
		if (format & PERF_FORMAT_ID)
			sample->ids[i] = *at++;
		if (format & PERF_FORMAT_LOST)
			at++;
	}
	sample->nr_values = nr;
	sample->read.count = sample->values[0];
	return at;
}

bool sample_parse(const struct perf_event_header *header,
		  const struct perf_event_attr *attr, struct sample *sample)
{
	const u64 *at = (const u64 *)(header + 1);
	const u64 *end = (const u64 *)((const char *)header + header->size);
	u64 type = attr->sample_type;

	memset(sample, 0, sizeof(*sample));
	if (header->type != PERF_RECORD_SAMPLE)
		return false;
	if (type & PERF_SAMPLE_IDENTIFIER)
		sample->identifier = *at++;
	if (type & PERF_SAMPLE_IP)
		sample->ip = *at++;
	if (type & PERF_SAMPLE_TID) {
		sample->pid = *at & 0xffffffff;
		sample->tid = *at++ >> 32;
	}
	if (type & PERF_SAMPLE_TIME)
		sample->time = *at++;
	if (type & PERF_SAMPLE_ADDR)
		sample->addr = *at++;
	if (type & PERF_SAMPLE_ID)
		sample->id = *at++;
	if (type & PERF_SAMPLE_STREAM_ID)
		sample->stream_id = *at++;
	if (type & PERF_SAMPLE_CPU)
		sample->cpu = *at++ & 0xffffffff;
	if (type & PERF_SAMPLE_PERIOD)
		sample->period = *at++;
	if (type & PERF_SAMPLE_READ) {
		at = parse_read(at, attr->read_format, sample);
		if (!at)
			return false;
	}
	if (type & PERF_SAMPLE_CALLCHAIN) {
		sample->nr_ips = *at++;
		sample->ips = at;
		at += sample->nr_ips;
	}
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		sample->nr_branches = *at++;
		if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
			at++;
		sample->branches = (const void *)at;
		at += sample->nr_branches * sizeof(*sample->branches) / sizeof(*at);
	}
	if (type & (PERF_SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT))
		sample->weight = *at++;
	if (type & PERF_SAMPLE_DATA_SRC)
		sample->data_src = *at++;
	if (type & PERF_SAMPLE_REGS_INTR && *at++) {
		sample->nr_regs = __builtin_popcountll(attr->sample_regs_intr);
		sample->regs = at;
		at += sample->nr_regs;
	}
	if (at > end) {
		ktap_fail("sample of %u bytes: expected %zu at least",
			  header->size, (size_t)((char *)at - (char *)header));
		return false;
	}
	return true;
}

const struct perf_event_header *ring_next_sample(struct ring *ring,
						 const struct perf_event_attr *attr,
						 struct sample *sample)
{
	const struct perf_event_header *header;

	do {
		header = ring_next(ring);
	} while (header && !sample_parse(header, attr, sample));
	return header;
}

static void sum_sample(const struct perf_event_header *header,
		       const struct perf_event_attr *attr,
		       struct ring_sum *sum)
{
	struct sample sample;

	if (!sample_parse(header, attr, &sample))
		return;
	if (!sum->samples) {
		sum->first_time = sample.time;
		sum->first_period = sample.period;
	}
	sum->samples++;
	if (sample.ip >= (unsigned long)known_loop_start &&
	    sample.ip <= (unsigned long)known_loop_end)
		sum->inside++;
	if (sample.time < sum->last_time)
		sum->backwards++;
	sum->last_time = sample.time;
	sum->last_period = sample.period;
	sum->periods += sample.period;
}

void ring_drain(struct ring *ring, const struct perf_event_attr *attr,
		struct ring_sum *sum)
{
	const struct perf_event_header *header;

	while ((header = ring_next(ring))) {
		const u64 *body = (const u64 *)(header + 1);

		switch (header->type) {
		case PERF_RECORD_SAMPLE:
			sum_sample(header, attr, sum);
			break;
		case PERF_RECORD_LOST:
			sum->lost += body[1];
			break;
		case PERF_RECORD_THROTTLE:
			sum->throttles++;
			break;
		case PERF_RECORD_UNTHROTTLE:
			sum->unthrottles++;
			break;
		default:
			sum->others++;
		}
	}
}

bool reader_map(struct reader *reader)
{
	void *page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, reader->fd, 0);

	if (page == MAP_FAILED) {
		ktap_fail("mmap of an event's page: expected one, got %s", strerror(errno));
		return false;
	}
	reader->page = page;
	reader->width = reader->page->pmc_width;
	return true;
}

void reader_close(struct reader *reader)
{
	if (reader->page)
		munmap(reader->page, sysconf(_SC_PAGESIZE));
	reader->page = NULL;
	close_all(&reader->fd, 1);
}
