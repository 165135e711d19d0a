// SPDX-License-Identifier: GPL-2.0-only
/*
 * sampler.c - one sampling event and its buffer
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sampler.h"

void sampler_init(struct sampler *s, u64 config, u64 period)
{
	s->fd = -1;
	s->ring.page = NULL;
	memset(&s->sum, 0, sizeof(s->sum));
	attr_init(&s->attr, config);
	s->attr.sample_period = period;
	s->attr.sample_type = SAMPLE_USUAL;
}

bool sampler_open(struct sampler *s, int group, unsigned int pages)
{
	s->fd = event_open_self(&s->attr, group);
	return s->fd >= 0 && !ring_map(&s->ring, s->fd, pages);
}

void sampler_close(struct sampler *s)
{
	ring_unmap(&s->ring);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

void sampler_run(struct sampler *s, unsigned long iterations)
{
	event_enable(s->fd);
	known_loop(iterations);
	event_disable(s->fd);
	ring_drain(&s->ring, &s->attr, &s->sum);
}

u64 sampler_count(struct sampler *s)
{
	u64 values[8] = { 0 };

	if (read(s->fd, values, sizeof(values)) < (ssize_t)sizeof(u64))
		ktap_fail("read of a sampling event: got %s", strerror(errno));
	return values[0];
}

void sampler_check(struct sampler *s, u64 period)
{
	u64 count = sampler_count(s);
	struct ring_sum *sum = &s->sum;

	expect_range("samples", count / period - 1, count / period + 1,
		     sum->samples);
	expect_eq("samples lost", 0, sum->lost);
	expect_eq("samples throttled", 0, sum->throttles);
	expect_eq("sum of the periods", sum->samples * period, sum->periods);
	expect_eq("samples older than the one before", 0, sum->backwards);
}
