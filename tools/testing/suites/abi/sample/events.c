// SPDX-License-Identifier: GPL-2.0-only
/*
 * events.c - several events at once, and events of CPUs and of children
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sampler.h"

static struct sampler sampler;

static void all_counters_sample(void)
{
	static struct sampler samplers[ARCH_MAX_COUNTERS];
	unsigned int nr = target.all, i;
	u64 loop;

	for (i = 0; i < nr; i++) {
		sampler_init(&samplers[i], i ? ARCH_EVENT_INSTRUCTIONS :
			     ARCH_EVENT_CYCLES, 50000 + 10000 * i);
		samplers[i].attr.disabled = i == 0;
	}
	for (i = 0; i < nr; i++)
		if (!sampler_open(&samplers[i], i ? samplers[0].fd : -1, 32))
			goto out;
	event_enable(samplers[0].fd);
	known_loop(TEN_MILLION);
	event_disable(samplers[0].fd);
	for (i = 0; i < nr; i++) {
		struct sampler *s = &samplers[i];

		ring_drain(&s->ring, &s->attr, &s->sum);
		sampler_check(s, s->attr.sample_period);
		loop = loop_counts(s->attr.config, TEN_MILLION);
		expect_range("count", loop, loop + 100, sampler_count(s));
		if (i)
			expect_eq("count, as the first sibling's",
				  sampler_count(&samplers[1]), sampler_count(s));
	}
out:
	for (i = 0; i < nr; i++)
		sampler_close(&samplers[i]);
}

/* Several counters overflow in the same interrupt, again and again. */
static void overflow_together(void)
{
	static struct sampler samplers[4];
	unsigned int i;

	for (i = 0; i < 4; i++) {
		sampler_init(&samplers[i], ARCH_EVENT_INSTRUCTIONS, 50000);
		samplers[i].attr.disabled = i == 0;
	}
	for (i = 0; i < 4; i++)
		if (!sampler_open(&samplers[i], i ? samplers[0].fd : -1, 32))
			goto out;
	event_enable(samplers[0].fd);
	known_loop(TEN_MILLION);
	event_disable(samplers[0].fd);
	for (i = 0; i < 4; i++) {
		struct sampler *s = &samplers[i];

		ring_drain(&s->ring, &s->attr, &s->sum);
		sampler_check(s, 50000);
		expect_range("samples", 199, 201, s->sum.samples);
	}
out:
	for (i = 0; i < 4; i++)
		sampler_close(&samplers[i]);
}

static void counting_beside_sampling(void)
{
	struct sampler *s = &sampler;
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 40000);
	if (fd >= 0 && sampler_open(s, -1, RING_PAGES)) {
		event_enable(s->fd);
		event_is_exact(fd, TEN_MILLION / 4);
		event_disable(s->fd);
		ring_drain(&s->ring, &s->attr, &s->sum);
		sampler_check(s, 40000);
	}
	sampler_close(s);
	if (fd >= 0)
		close(fd);
}

static void inherited_samples(void)
{
	struct sampler *s = &sampler;
	pid_t children[3];
	unsigned int i;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 100000);
	s->attr.inherit = 1;
	s->fd = event_open(&s->attr, 0, 0, -1, 0);
	if (s->fd < 0 || ring_map(&s->ring, s->fd, RING_PAGES)) {
		ktap_fail("open with inherit on CPU 0: got %d", s->fd);
		goto out;
	}
	event_enable(s->fd);
	fflush(stdout);
	for (i = 0; i < 3; i++) {
		children[i] = fork();
		if (!children[i]) {
			known_loop(TEN_MILLION);
			_exit(0);
		}
	}
	for (i = 0; i < 3; i++)
		waitpid(children[i], NULL, 0);
	event_disable(s->fd);
	ring_drain(&s->ring, &s->attr, &s->sum);
	/* Each of the four tasks may end in the middle of a period. */
	expect_range("samples of three children and their parent", 296, 301,
		     s->sum.samples);
	expect_eq("samples lost", 0, s->sum.lost);
	expect_eq("samples inside the loop", s->sum.samples, s->sum.inside);
	expect_range("count", 30000000, 30100000, sampler_count(s));
out:
	sampler_close(s);
}

static void cpu_wide_samples(void)
{
	struct sampler *s = &sampler;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 100000);
	s->fd = event_open(&s->attr, -1, 0, -1, 0);
	if (s->fd < 0 || ring_map(&s->ring, s->fd, RING_PAGES)) {
		ktap_fail("open on CPU 0: got %d", s->fd);
		goto out;
	}
	sampler_run(s, TEN_MILLION);
	sampler_check(s, 100000);
	/* The program that forwards the test's output counts too. */
	expect_range("samples inside the loop", s->sum.samples - 1,
		     s->sum.samples, s->sum.inside);
out:
	sampler_close(s);
}

static const struct ktap_case cases[] = {
	{ "an event of a CPU samples its tasks", cpu_wide_samples },
	{ "inherited by children", inherited_samples },
	{ "every counter samples at once", all_counters_sample },
	{ "counters that overflow together", overflow_together },
	{ "an exact count beside a sampling event", counting_beside_sampling },
};

const struct ktap_list sample_events_cases = { cases, ARRAY_SIZE(cases) };
