// SPDX-License-Identifier: GPL-2.0-only
/*
 * buffer.c - buffers that are paused, full or shared
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sampler.h"

static struct sampler sampler;

static void pause_output(void)
{
	struct sampler *s = &sampler;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 100000);
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	sampler_run(s, TEN_MILLION / 10);
	expect_eq("samples", 10, s->sum.samples);
	expect_eq("pause", 0, ioctl(s->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	sampler_run(s, TEN_MILLION / 10);
	expect_eq("samples while paused", 10, s->sum.samples);
	expect_eq("resume", 0, ioctl(s->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0));
	sampler_run(s, TEN_MILLION / 10);
	expect_eq("samples after the pause", 20, s->sum.samples);
	expect_range("count, which does not pause", 3000000, 3000300,
		     sampler_count(s));
out:
	sampler_close(s);
}

/* A ring of one page that is not emptied for a while */
static void lost_adds_up(void)
{
	/* More samples than fit in one page, whatever the page size */
	const unsigned long rounds = TEN_MILLION / 2 * (sysconf(_SC_PAGESIZE) / 4096);
	struct sampler *s = &sampler;
	u64 values[2];
	int i;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 20000);
	s->attr.read_format = PERF_FORMAT_LOST;
	if (!sampler_open(s, -1, 1))
		goto out;
	for (i = 0; i < 5; i++)
		sampler_run(s, rounds);
	expect_ne("samples lost", 0, s->sum.lost);
	/* The next sample that finds space is preceded by the number of lost samples. */
	sampler_run(s, 25000 / LOOP_INSNS);
	expect_eq("samples and lost ones", sampler_count(s) / 20000,
		  s->sum.samples + s->sum.lost);
	if (read(s->fd, values, sizeof(values)) != sizeof(values))
		ktap_fail("read of the lost count: got %s", strerror(errno));
	expect_eq("lost, as read says", s->sum.lost, values[1]);
out:
	sampler_close(s);
}

static void set_output(void)
{
	const struct perf_event_header *header;
	struct sampler *s = &sampler;
	unsigned int mine = 0, others = 0;
	struct perf_event_attr attr;
	struct sample sample;
	u64 id = 0;
	int fd;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 100000);
	if (!sampler_open(s, -1, RING_PAGES))
		return;
	attr = s->attr;
	attr.config = ARCH_EVENT_CYCLES;
	attr.sample_period = 50000;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		goto out;
	expect_eq("set output", 0,
		  ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, s->fd));
	ioctl(s->fd, PERF_EVENT_IOC_ID, &id);
	event_enable(s->fd);
	event_enable(fd);
	known_loop(TEN_MILLION);
	event_disable(fd);
	event_disable(s->fd);
	while ((header = ring_next(&s->ring))) {
		if (!sample_parse(header, &s->attr, &sample))
			continue;
		if (sample.id == id)
			mine++;
		else
			others++;
	}
	expect_eq("samples of the ring's own event", 100, mine);
	expect_eq("samples of the event that joined",
		  target.loop_cycles * TEN_MILLION / 50000, others);
	close(fd);
out:
	sampler_close(s);
}

static const struct ktap_case cases[] = {
	{ "PERF_EVENT_IOC_PAUSE_OUTPUT holds samples back", pause_output },
	{ "samples and lost samples add up", lost_adds_up },
	{ "PERF_EVENT_IOC_SET_OUTPUT redirects samples", set_output },
};

const struct ktap_list sample_buffer_cases = { cases, ARRAY_SIZE(cases) };
