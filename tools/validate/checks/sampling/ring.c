// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring.c - the sampling buffer: wraps, lost records, overwriting, pauses
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "judge/guard.h"
#include "judge/validate.h"

#define PERIOD		20000
#define NSEC_PER_SEC	1000000000
#define USUAL	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | \
		 PERF_SAMPLE_PERIOD)

static struct ring ring;

static int open_ring(struct perf_event_attr *attr, unsigned int pages)
{
	attr_sampling(attr, PERIOD, USUAL);
	return open_sampling(&ring, attr, pages);
}

/* Return the size of a page in units of 4096 bytes: numbers of rounds are for such a buffer. */
static unsigned int page_factor(void)
{
	long page = sysconf(_SC_PAGESIZE);

	return page > 4096 ? page / 4096 : 1;
}

static void wraps(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	u64 head, count;
	int fd;

	fd = open_ring(&attr, 1);
	event_enable(fd);
	for (unsigned int i = 0; i < 40 * page_factor(); i++) {
		known_loop(ITERATIONS / 4);
		ring_drain(&ring, &attr, &sum);
	}
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	count = event_read(fd);
	head = ring.page->data_head;
	expect_range("bytes written to a buffer of a page", 2 * ring.size, 1000 * ring.size,
		     head);
	expect_eq("bytes read", head, ring.page->data_tail);
	expect_eq("lost samples", 0, sum.lost);
	expect_samples("samples", count, PERIOD, 1, 1, sum.samples);
	expect_eq("samples older than the one before", 0, sum.backwards);
	close_sampling(&ring, fd);
}

/*
 * Return the maximum of THROTTLE and UNTHROTTLE records for a number of samples. These records can
 * be lost like samples, and are counted with them. If the clock counts instructions, an instruction
 * takes a nanosecond. The kernel throttles the event if that exceeds the permitted rate, which the
 * kernel lowers if samples take long.
 */
static u64 other_records(u64 samples)
{
	u64 rate = read_number(RATE_FILE);
	u64 a_tick = rate / MAX_HZ;

	if (pmu.exact && rate >= NSEC_PER_SEC / PERIOD)
		return 0;
	return 2 * samples / (a_tick ?: 1);
}

static void lost_adds_up(void)
{
	struct { u64 value, lost; } values = { 0 };
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	bool format = true;
	u64 count;
	int fd;

	attr_sampling(&attr, PERIOD, USUAL);
	attr.read_format = PERF_FORMAT_LOST;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd == -EINVAL) {
		format = false;
		attr.read_format = 0;
		fd = event_open_self(&attr, -1);
	}
	if (fd < 0 || ring_map(&ring, fd, 1))
		return;
	event_run_loop(fd, 10 * ITERATIONS * page_factor());
	ring_drain(&ring, &attr, &sum);
	/* The kernel writes a LOST record when the buffer has room again. */
	event_run_loop(fd, PERIOD);
	ring_drain(&ring, &attr, &sum);
	if (read(fd, &values, sizeof(values)) < 8)
		ktap_fail("expected to read the event, got %s", strerror(errno));
	count = values.value;
	expect_part("lost samples", 1, "periods counted", count / PERIOD, sum.lost);
	expect_samples("samples and lost ones", count, PERIOD, !pmu.exact,
		       !pmu.exact + other_records(count / PERIOD), sum.samples + sum.lost);
	if (format)
		expect_eq("PERF_FORMAT_LOST", sum.lost, values.lost);
	close_sampling(&ring, fd);
}

/* Read the newest samples, from the head backwards, until one has been overwritten. */
static void backwards(void)
{
	size_t page = sysconf(_SC_PAGESIZE), length = 2 * page;
	struct perf_event_mmap_page *meta;
	struct perf_event_attr attr;
	unsigned int nr = 0;
	u64 head, at, newest = 0, last = INT64_MAX;
	char *data;
	int fd;

	attr_sampling(&attr, PERIOD, PERF_SAMPLE_TIME | PERF_SAMPLE_IP);
	attr.write_backward = 1;
	fd = open_event(&attr);
	meta = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
	if (meta == MAP_FAILED) {
		ktap_fail("a buffer that is read only: expected a mapping, got %s",
			  strerror(errno));
		close(fd);
		return;
	}
	event_run_loop(fd, 10 * ITERATIONS * page_factor());
	expect_eq("PERF_EVENT_IOC_PAUSE_OUTPUT", 0, ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	data = (char *)meta + meta->data_offset;
	head = meta->data_head;
	for (at = head; at - head + sizeof(struct perf_event_header) <= page;) {
		struct perf_event_header *header = (void *)(data + (at & (page - 1)));
		u64 time;

		if (!header->size || at - head + header->size > page)
			break;
		/* Records have multiples of 8 bytes: no field wraps. */
		if (header->type == PERF_RECORD_SAMPLE) {
			memcpy(&time, data + ((at + 16) & (page - 1)), sizeof(time));
			if (!nr)
				newest = time;
			if (!expect_range("time of the sample before", 1, last, time))
				break;
			last = time;
			nr++;
		}
		at += header->size;
	}
	expect_range("samples from the newest back", page / 24 / 2, page / 16, nr);
	expect_true("a time of the newest sample", newest != 0);
	munmap(meta, length);
	close(fd);
}

/*
 * Run until an event has counted a loop's instructions: a throttled event does not count until the
 * next tick. Return the count since @from.
 */
static u64 count_a_loop(int fd, u64 from)
{
	u64 counted = 0;

	for (unsigned int i = 0; i < 1000 && counted + LOOP / 100 < LOOP; i++) {
		known_loop(i ? ITERATIONS / 10 : ITERATIONS);
		counted = event_read(fd) - from;
	}
	return counted;
}

static void pauses(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	unsigned int before;
	u64 counted, count;
	int fd;

	fd = open_ring(&attr, 64);
	event_enable(fd);
	counted = count_a_loop(fd, 0);
	ring_drain(&ring, &attr, &sum);
	before = sum.samples;
	expect_samples("samples before", counted, PERIOD, 2, 2, before);
	expect_eq("pause", 0, ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	count_a_loop(fd, event_read(fd));
	ring_drain(&ring, &attr, &sum);
	expect_range("samples while paused", before, before + 1, sum.samples);
	count = event_read(fd);
	expect_eq("go on", 0, ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0));
	before = sum.samples;
	count_a_loop(fd, count);
	event_disable(fd);
	counted = event_read(fd) - count;
	ring_drain(&ring, &attr, &sum);
	expect_samples("samples after", counted, PERIOD, 2, 2, sum.samples - before);
	close_sampling(&ring, fd);
}

static void shared_buffer(void)
{
	unsigned int mine = 0, theirs = 0, none = 0;
	struct perf_event_attr attr;
	struct sample sample;
	u64 ids[2] = { 0 };
	int fd, other;

	fd = open_ring(&attr, 64);
	other = open_event(&attr);
	expect_eq("PERF_EVENT_IOC_SET_OUTPUT", 0, ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, fd));
	ioctl(fd, PERF_EVENT_IOC_ID, &ids[0]);
	ioctl(other, PERF_EVENT_IOC_ID, &ids[1]);
	event_enable(fd);
	event_run_loop(other, ITERATIONS);
	event_disable(fd);
	while (ring_next_sample(&ring, &attr, &sample)) {
		mine += sample.id == ids[0];
		theirs += sample.id == ids[1];
		none += sample.id != ids[0] && sample.id != ids[1];
	}
	/* The kernel may have throttled either event. */
	expect_samples("samples of the buffer's event", event_read(fd), PERIOD, 2, 2, mine);
	expect_samples("samples of the other event", event_read(other), PERIOD, 2, 2, theirs);
	expect_true("samples of both", mine && theirs);
	expect_eq("samples with another id", 0, none);
	close(other);
	close_sampling(&ring, fd);
}

/* Map an event's page and buffer, and unmap them. Return 0, or the error. */
static int try_map(int fd, size_t length, int flags, off_t offset)
{
	void *map = mmap(NULL, length, PROT_READ | PROT_WRITE, flags, fd, offset);

	if (map == MAP_FAILED)
		return errno;
	munmap(map, length);
	return 0;
}

static void maps_that_cannot_be(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr;
	int fd = open_instructions();

	expect_eq("three data pages", EINVAL, try_map(fd, 4 * page, MAP_SHARED, 0));
	expect_eq("a private mapping", EINVAL, try_map(fd, 3 * page, MAP_PRIVATE, 0));
	expect_eq("an offset before any buffer", EINVAL, try_map(fd, page, MAP_SHARED, page));
	expect_eq("an offset that is no page", EINVAL, try_map(fd, page, MAP_SHARED, 100));
	expect_eq("the page without a buffer", 0, try_map(fd, page, MAP_SHARED, 0));
	if (!ring_map(&ring, fd, 2)) {
		expect_eq("a second mapping of another size", EINVAL,
			  try_map(fd, 2 * page, MAP_SHARED, 0));
		expect_eq("a second mapping of the same size", 0,
			  try_map(fd, 3 * page, MAP_SHARED, 0));
		ring_unmap(&ring);
	}
	close(fd);
	attr_instructions(&attr);
	attr.inherit = 1;
	fd = event_open_self(&attr, -1);
	expect_eq("a buffer of an inherited event of any CPU", EINVAL,
		  try_map(fd, 2 * page, MAP_SHARED, 0));
	close(fd);
}

static void close_under_map(void)
{
	struct perf_event_attr attr;
	int fd;

	for (int i = 0; i < 20; i++) {
		fd = open_ring(&attr, 8);
		event_enable(fd);
		known_loop(PERIOD);
		/* The mapping still refers to the event. */
		close(fd);
		known_loop(PERIOD);
		ring_unmap(&ring);
	}
	expect_sane();
}

static const struct check checks[] = {
	{ "ring", "wraps without loss while it is read",
	  MAN "data_head: \"The value continuously increases, it does not wrap. The value needs to be manually wrapped by the size of the mmap buffer before accessing the samples.\"",
	  wraps,
	  NEED_SAMPLING, ON_USER | ON_OVERFLOWS },
	{ "ring", "samples and lost samples add up",
	  MAN "\"This record indicates when events are lost.\", \"is the number of events that were lost.\"",
	  lost_adds_up,
	  NEED_SAMPLING, ON_USER | ON_OVERFLOWS },
	{ "ring", "overwritten backwards",
	  MAN "write_backward: \"This causes the ring buffer to be written from the end to the beginning.\"",
	  backwards, NEED_SAMPLING, ON_USER | ON_OVERFLOWS },
	{ "ring", "output is paused",
	  MAN "PERF_EVENT_IOC_PAUSE_OUTPUT: \"A paused ring-buffer does not prevent generation of samples, but simply discards them.\"",
	  pauses,
	  NEED_SAMPLING, ON_USER | ON_OVERFLOWS },
	{ "ring", "two events share a buffer", SET_OUTPUT, shared_buffer, NEED_SAMPLING,
	  ON_COUNTERS },
	{ "ring", "impossible mappings are refused",
	  MAN "\"The mmap size should be 1+2^n pages, where the first page is a metadata page\"",
	  maps_that_cannot_be },
	{ "ring", "the descriptor closes before the mapping",
	  MAN "\"This ring-buffer is created and accessed through mmap(2).\"; mmap(2), man-pages 6.03: \"closing the file descriptor does not unmap the region.\"",
	  close_under_map, NEED_SAMPLING, ON_USER },
};

const struct check_list ring_checks = { checks, ARRAY_SIZE(checks) };
