// SPDX-License-Identifier: GPL-2.0-only
/*
 * field.c - the fields of a sample and of the mapped page
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler.h"

static struct sampler sampler;

/* If user space cannot read counters, the page has the count. */
static void page_has_the_count(void)
{
	volatile struct perf_event_mmap_page *page;
	struct sampler *s = &sampler;
	int i;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 0);
	if (!sampler_open(s, -1, 1))
		goto out;
	page = s->ring.page;
	for (i = 1; i < 4; i++) {
		event_enable(s->fd);
		known_loop(100000);
		event_disable(s->fd);
		expect_eq("the page's count", sampler_count(s), page->offset);
	}
out:
	sampler_close(s);
}

static void sample_contents(void)
{
	const u64 type = SAMPLE_USUAL | PERF_SAMPLE_IDENTIFIER |
			 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_READ |
			 PERF_SAMPLE_CALLCHAIN;
	const struct perf_event_header *header;
	struct sampler *s = &sampler;
	struct sample sample;
	u64 id = 0, last_time = 0, last = 0;
	unsigned int samples = 0;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 100000);
	s->attr.sample_type = type;
	s->attr.read_format = FORMAT_TIMES | PERF_FORMAT_ID;
	s->attr.exclude_callchain_kernel = 1;
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	ioctl(s->fd, PERF_EVENT_IOC_ID, &id);
	event_enable(s->fd);
	known_loop(TEN_MILLION);
	event_disable(s->fd);
	while ((header = ring_next(&s->ring))) {
		if (!sample_parse(header, &s->attr, &sample))
			continue;
		samples++;
		expect_eq("cpumode of a user sample", PERF_RECORD_MISC_USER,
			  header->misc & PERF_RECORD_MISC_CPUMODE_MASK);
		expect_eq("identifier", id, sample.identifier);
		expect_eq("id", id, sample.id);
		expect_eq("stream id", id, sample.stream_id);
		expect_eq("pid", getpid(), sample.pid);
		expect_eq("tid", syscall(SYS_gettid), sample.tid);
		expect_eq("cpu", 0, sample.cpu);
		expect_eq("period", 100000, sample.period);
		expect_true("time to advance", sample.time > last_time);
		expect_eq("id of the value", id, sample.ids[0]);
		/* Samples follow at the period, and each is late by the interrupt's delay. */
		expect_range("value", samples * 100000, samples * 100000 + 200,
			     sample.read.count);
		expect_eq("time running, as enabled", sample.read.enabled,
			  sample.read.running);
		expect_true("a call chain", sample.nr_ips >= 2);
		expect_eq("the chain's second entry, the sample's own place",
			  sample.ip, sample.ips[1]);
		last_time = sample.time;
		last = sample.read.count;
		if (ktap_failed())
			break;
	}
	expect_range("samples", 99, 101, samples);
	expect_true("the final count to follow the last sample",
		    sampler_count(s) >= last);
out:
	sampler_close(s);
}

/* Every sample has the values of the whole group. */
static void group_values(void)
{
	const struct perf_event_header *header;
	struct sampler *s = &sampler;
	struct sample sample;
	unsigned int samples = 0, i;
	int siblings[3] = { -1, -1, -1 };
	u64 ids[4], final[16];
	u64 last[4] = { 0 };
	u64 value;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 100000);
	s->attr.sample_type |= PERF_SAMPLE_READ;
	s->attr.read_format = FORMAT_TIMES | PERF_FORMAT_ID | PERF_FORMAT_GROUP;
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	ioctl(s->fd, PERF_EVENT_IOC_ID, &ids[0]);
	for (i = 0; i < 3; i++) {
		siblings[i] = event_open_user(i ? ARCH_EVENT_INSTRUCTIONS :
					      ARCH_EVENT_CYCLES, s->fd);
		if (siblings[i] < 0)
			goto out;
		ioctl(siblings[i], PERF_EVENT_IOC_ID, &ids[i + 1]);
	}
	event_enable(s->fd);
	known_loop(TEN_MILLION);
	event_disable(s->fd);
	while ((header = ring_next(&s->ring)) && !ktap_failed()) {
		if (!sample_parse(header, &s->attr, &sample))
			continue;
		samples++;
		if (!expect_eq("values in a sample", 4, sample.nr_values))
			break;
		for (i = 0; i < 4; i++) {
			expect_eq("id of a value", ids[i], sample.ids[i]);
			/* All samples are inside the loop. */
			value = sample.values[0];
			if (i == 1)
				value = value * target.loop_cycles / LOOP_INSNS;
			expect_range("a value, as the leader's", value - 100,
				     value + 100, sample.values[i]);
			expect_true("a value to advance",
				    sample.values[i] > last[i]);
			last[i] = sample.values[i];
		}
	}
	expect_range("samples", 99, 101, samples);
	if (read(s->fd, final, sizeof(final)) <= 0)
		ktap_fail("read of the group: got %s", strerror(errno));
	expect_range("final count of cycles", target.loop_cycles * TEN_MILLION,
		     target.loop_cycles * TEN_MILLION + 100, final[5]);
	for (i = 2; i < 4; i++)
		expect_eq("final count of a sibling, as the leader's", final[3],
			  final[3 + 2 * i]);
out:
	close_all(siblings, 3);
	sampler_close(s);
}

static const struct ktap_case cases[] = {
	{ "the page has the count of a stopped event", page_has_the_count },
	{ "each field of a sample is right", sample_contents },
	{ "a sample has its group's values", group_values },
};

const struct ktap_list sample_field_cases = { cases, ARRAY_SIZE(cases) };
