// SPDX-License-Identifier: GPL-2.0-only
/*
 * sample.c - sampling: how often, when and where
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "judge/validate.h"

#define PAGES	64
#define THROTTLED	"the kernel throttles so short a period: see kernel.perf_event_max_sample_rate"
#define USUAL	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD)

static struct ring ring;

static void period_of(u64 period, bool cycles)
{
	/* A period of 100000 does not end with the loop: its interrupt may be late. */
	const unsigned long iterations = 10 * ITERATIONS + 25000;
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	u64 count;
	int fd;

	attr_sampling(&attr, period, USUAL);
	if (cycles) {
		attr.type = pmu.cycles.type;
		attr.config = pmu.cycles.config;
	}
	fd = sample_work(&ring, &attr, PAGES, known_loop, iterations);
	count = event_read(fd);
	ring_drain(&ring, &attr, &sum);
	/* A throttled event does not count until the next tick. */
	if (!sum.throttles) {
		if (!cycles)
			expect_count("count beside samples", LOOP_INSNS * iterations, count);
		expect_samples("samples", count, period, !pmu.exact, !pmu.exact, sum.samples);
		expect_near("sum of periods", count, period, sum.periods);
	}
	expect_eq("samples of another period", 0, sum.periods % period);
	expect_most("samples inside the loop", pmu.exact ? 0 : sum.samples / 100 + 2, "samples",
		    sum.samples, sum.inside);
	expect_eq("samples older than the one before", 0, sum.backwards);
	expect_eq("lost samples", 0, sum.lost);
	close_sampling(&ring, fd);
}

static void period_long(void)
{
	period_of(1000003, false);
	period_of(77777, false);
}

static void period_middle(void)
{
	period_of(100000, false);
	if (pmu.has & NEED_CYCLES)
		period_of(100000, true);
}

static void period_short(void)
{
	period_of(20011, false);
	if (pmu.has & NEED_CYCLES)
		period_of(20011, true);
}

static void stops_between(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	int fd;

	attr_sampling(&attr, 100000, USUAL);
	fd = open_sampling(&ring, &attr, PAGES);
	for (int i = 0; i < 100; i++)
		event_run_loop(fd, ITERATIONS / 30);
	ring_drain(&ring, &attr, &sum);
	expect_samples("samples of a hundred short runs", event_read(fd), 100000, !pmu.exact,
		       !pmu.exact, sum.samples);
	expect_eq("sum of their periods", sum.samples * 100000, sum.periods);
	close_sampling(&ring, fd);
}

/* The most user-space counts between an overflow and its sample, if time counts instructions */
#define EXACT_LATE	500

/* A late sample must not delay the next one. Where delays add up, they soon exceed any bound. */
static void follow(bool kernel)
{
	const struct perf_event_header *header;
	struct sample sample = { 0 };
	struct perf_event_attr attr;
	unsigned int throttles = 0;
	u64 ends = 0, late;
	int fd;

	attr_sampling(&attr, 20011, PERF_SAMPLE_IP | PERF_SAMPLE_READ);
	attr.exclude_kernel = !kernel;
	/* While its random numbers lack a seed, arm64 has interrupts off for half of a call. */
	late = kernel ? attr.sample_period - 1 : attr.sample_period / 5;
	/* Periods that are one count too long make the last sample 999 counts late. */
	if (pmu.exact && !kernel)
		late = EXACT_LATE;
	fd = sample_work(&ring, &attr, PAGES, kernel ? call_kernel : known_loop,
			 kernel ? 20000 : 10 * ITERATIONS);
	while ((header = ring_next(&ring))) {
		throttles += header->type == PERF_RECORD_THROTTLE;
		if (sample_parse(header, &attr, &sample))
			ends += attr.sample_period;
	}
	if (throttles)
		ktap_skip(THROTTLED);
	else if (expect_ne("sum of periods", 0, ends))
		expect_range("count at the last sample", ends, ends + late, sample.read.count);
	close_sampling(&ring, fd);
}

static void periods_follow(void)
{
	follow(false);
	/* A real machine may have interrupts off for longer than the period. */
	if (pmu.exact && pmu.has & NEED_KERNEL)
		follow(true);
}

/* The period changes while the kernel searches for the one that matches the frequency. */
static void period_is_counted(void)
{
	unsigned int nr = 0, wrong = 0;
	struct perf_event_attr attr;
	struct sample sample;
	u64 last = 0, periods = 0, counted, slack;
	int fd;

	attr_sampling(&attr, 0, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ);
	attr.freq = 1;
	attr.sample_freq = 1000;
	fd = sample_work(&ring, &attr, PAGES, known_loop, 50 * ITERATIONS);
	while (ring_next_sample(&ring, &attr, &sample)) {
		counted = sample.read.count - last;
		last = sample.read.count;
		periods += sample.period;
		nr++;
		slack = 500 + (pmu.exact ? 0 : counted / 16);
		wrong += counted + slack < sample.period || sample.period + slack < counted;
	}
	expect_range("samples", 20, 100000, nr);
	/* A sample shows another PERIOD if the kernel has shortened a running period. */
	expect_range("samples with another PERIOD than was counted since the one before", 0,
		     3 + nr / 50, wrong);
	/* A period that has not ended, or that the kernel has shortened, has no sample. */
	if (pmu.exact)
		expect_part("sum of PERIODs", 1, "count", event_read(fd), periods);
	close_sampling(&ring, fd);
}

/* In the first round, the kernel finds the period. */
#define FREQUENCY_ROUNDS	6

static int by_size(const void *a, const void *b)
{
	return *(const unsigned int *)a - *(const unsigned int *)b;
}

/*
 * If a busy host delays a tick, perf core chooses a period as if the task had run all the time. So
 * the check uses the median of several rounds.
 */
static void frequency(void)
{
	unsigned int samples[FREQUENCY_ROUNDS];
	struct ring_sum sum;
	struct perf_event_attr attr;
	/* If the clock counts instructions, no tick is late. */
	int rounds = pmu.exact ? 2 : FREQUENCY_ROUNDS;
	u64 start, wall;
	int fd;

	attr_sampling(&attr, 0, USUAL);
	attr.freq = 1;
	attr.sample_freq = 1000;
	fd = open_sampling(&ring, &attr, PAGES);
	event_enable(fd);
	for (int round = 0; round < rounds; round++) {
		sum = (struct ring_sum) { 0 };
		start = now_ns(CLOCK_THREAD_CPUTIME_ID);
		do {
			known_loop(ITERATIONS / 10);
			wall = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
		} while (wall < 250000000);
		ring_drain(&ring, &attr, &sum);
		samples[round] = sum.samples;
	}
	event_disable(fd);
	qsort(samples + 1, rounds - 1, sizeof(*samples), by_size);
	expect_range("samples of a quarter of a second", pmu.exact ? 200 : 50,
		     pmu.exact ? 300 : 500, samples[rounds / 2]);
	close_sampling(&ring, fd);
}

static void period_set(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	u64 period = 50000;
	int fd;

	attr_sampling(&attr, 1000000, USUAL);
	fd = open_sampling(&ring, &attr, PAGES);
	expect_eq("PERF_EVENT_IOC_PERIOD while disabled", 0,
		  ioctl(fd, PERF_EVENT_IOC_PERIOD, &period));
	event_enable(fd);
	known_loop(ITERATIONS);
	ring_drain(&ring, &attr, &sum);
	expect_range("samples with the new period", LOOP / period - 2, LOOP / period + 2,
		     sum.samples);
	expect_eq("last period", period, sum.last_period);
	memset(&sum, 0, sizeof(sum));
	period = 200000;
	expect_eq("PERF_EVENT_IOC_PERIOD while it runs", 0,
		  ioctl(fd, PERF_EVENT_IOC_PERIOD, &period));
	known_loop(5 * ITERATIONS);
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	expect_range("samples with the newest period", 5 * LOOP / period - 2, 5 * LOOP / period + 2,
		     sum.samples);
	expect_eq("last period", period, sum.last_period);
	close_sampling(&ring, fd);
}

/* The new period begins at once, and not at the end of the long one. */
static void period_cut_short(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	u64 period = 50000;
	int fd;

	attr_sampling(&attr, 1ULL << 40, USUAL);
	fd = open_sampling(&ring, &attr, PAGES);
	event_enable(fd);
	known_loop(ITERATIONS);
	expect_eq("PERF_EVENT_IOC_PERIOD while it runs", 0,
		  ioctl(fd, PERF_EVENT_IOC_PERIOD, &period));
	known_loop(ITERATIONS);
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	/* No period ends at the change: earlier counts belong to the long period. */
	expect_range("samples with the new period", LOOP / period - 2,
		     LOOP / period + !pmu.exact, sum.samples);
	close_sampling(&ring, fd);
}

static void kernel_samples(void)
{
	const struct perf_event_header *header;
	unsigned int kernel = 0, user = 0, wrong = 0;
	struct perf_event_attr attr;
	struct sample sample;
	int fd;

	attr_sampling(&attr, 10007, USUAL);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	fd = sample_work(&ring, &attr, PAGES, call_kernel, 20000);
	while ((header = ring_next_sample(&ring, &attr, &sample))) {
		unsigned int mode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;

		kernel += mode == PERF_RECORD_MISC_KERNEL;
		user += mode == PERF_RECORD_MISC_USER;
		wrong += mode == PERF_RECORD_MISC_KERNEL && !(sample.ip >> 63);
		wrong += mode == PERF_RECORD_MISC_USER && sample.ip >> 63;
	}
	expect_range("samples in the kernel", 20, 100000, kernel);
	/* The interrupt of an overflow on the return to user space shows user space. */
	expect_range("samples in user space", 0, kernel, user);
	expect_eq("samples whose mode and address disagree", 0, wrong);
	close_sampling(&ring, fd);
}

static void user_sees_user(void)
{
	unsigned int wrong = 0, nr = 0;
	struct perf_event_attr attr;
	struct sample sample;
	int fd;

	attr_sampling(&attr, 997, PERF_SAMPLE_IP);
	fd = sample_work(&ring, &attr, 512, call_kernel, 5000);
	while (ring_next_sample(&ring, &attr, &sample)) {
		nr++;
		wrong += sample.ip >> 63;
	}
	expect_range("samples", 1, 100000, nr);
	expect_eq("samples in the kernel of an event that excludes it", 0, wrong);
	close_sampling(&ring, fd);
}

static void cpu_wide(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	int fd;

	run_on(pmu.cpu);
	attr_sampling(&attr, 100000, USUAL);
	fd = map_sampling("an event on a CPU", &ring, event_open(&attr, -1, pmu.cpu, -1, 0), PAGES);
	event_run_loop(fd, 5 * ITERATIONS);
	ring_drain(&ring, &attr, &sum);
	expect_range("samples inside the loop", 5 * LOOP / 100000 - 2, 5 * LOOP / 100000 + 2,
		     sum.inside);
	close_sampling(&ring, fd);
}

static void inherited(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	int fd;

	run_on(pmu.cpu);
	attr_sampling(&attr, 100000, USUAL);
	attr.inherit = 1;
	/* Children can share the buffer only if the event is for one CPU. */
	fd = map_sampling("an inherited event", &ring, event_open(&attr, 0, pmu.cpu, -1, 0), PAGES);
	event_enable(fd);
	for (int i = 0; i < 3; i++) {
		if (!fork()) {
			known_loop(2 * ITERATIONS);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	expect_range("samples of three children", 3 * (2 * LOOP / 100000) - 3,
		     3 * (2 * LOOP / 100000) + 3, sum.inside);
	close_sampling(&ring, fd);
}

/* Run two sampling events and a counting event at the same time. */
static void side_by_side(void)
{
	static struct ring other;
	struct ring_sum sums[2] = { 0 };
	struct perf_event_attr attr;
	int fds[2], plain;

	attr_sampling(&attr, 100000, USUAL);
	fds[0] = open_sampling(&ring, &attr, PAGES);
	attr.sample_period = 70001;
	fds[1] = event_open_self(&attr, -1);
	if (fds[0] < 0 || fds[1] < 0 || ring_map(&other, fds[1], PAGES))
		return;
	plain = open_instructions();
	event_enable(fds[0]);
	event_enable(fds[1]);
	event_run_loop(plain, 5 * ITERATIONS);
	event_disable(fds[1]);
	event_disable(fds[0]);
	ring_drain(&ring, &attr, &sums[0]);
	ring_drain(&other, &attr, &sums[1]);
	expect_samples("samples of one", event_read(fds[0]), 100000, 1, 1, sums[0].samples);
	expect_samples("samples of the other", event_read(fds[1]), 70001, 1, 1, sums[1].samples);
	expect_range("plain count beside them", 5 * LOOP, 5 * LOOP + count_slack(5 * LOOP) + 1000,
		     event_read(plain));
	ring_unmap(&other);
	close(fds[1]);
	close(plain);
	close_sampling(&ring, fds[0]);
}

static void all_sample(void)
{
	static struct ring rings[64];
	struct perf_event_attr attr;
	int fds[64], nr, i;

	for (nr = 0; nr < (int)pmu.group && nr < 64; nr++) {
		attr_sampling(&attr, 50000 + 10000 * nr, USUAL);
		fds[nr] = event_open_self(&attr, -1);
		if (fds[nr] < 0 || ring_map(&rings[nr], fds[nr], 8))
			break;
	}
	for (i = 0; i < nr; i++)
		event_enable(fds[i]);
	known_loop(5 * ITERATIONS);
	for (i = 0; i < nr; i++)
		event_disable(fds[i]);
	for (i = 0; i < nr; i++) {
		struct ring_sum sum = { 0 };

		ring_drain(&rings[i], &attr, &sum);
		expect_samples("samples on each counter", event_read(fds[i]), 50000 + 10000 * i, 1,
			       1, sum.samples);
		ring_unmap(&rings[i]);
	}
	close_all(fds, nr);
}

static void long_period(void)
{
	static const u64 periods[] = { 1ULL << 32, (1ULL << 33) + 12345, 1ULL << 40,
				       (1ULL << 63) - 1 };
	struct perf_event_attr attr;
	int fd;

	for (unsigned int i = 0; i < ARRAY_SIZE(periods); i++) {
		struct ring_sum sum = { 0 };

		attr_sampling(&attr, periods[i], USUAL);
		fd = open_sampling(&ring, &attr, 8);
		expect_count("count", 5 * LOOP, event_count_loop(fd, 5 * ITERATIONS));
		ring_drain(&ring, &attr, &sum);
		expect_eq("samples before the period ends", 0, sum.samples);
		close_sampling(&ring, fd);
	}
}

static const struct check checks[] = {
	{ "sample", "a sample every 1000003", PERIODS, period_long, NEED_SAMPLING, ON_MODES |
	  ON_OVERFLOWS },
	{ "sample", "a sample every 100000", PERIODS, period_middle, NEED_SAMPLING, ON_USER },
	{ "sample", "a sample every 20011", PERIODS, period_short, NEED_SAMPLING, ON_USER |
	  ON_OVERFLOWS },
	{ "sample", "no sample is lost over a hundred stops", PERIODS, stops_between,
	  NEED_SAMPLING },
	{ "sample", "periods follow each other", PERIODS, periods_follow, NEED_SAMPLING,
	  ON_USER | ON_OVERFLOWS },
	{ "sample", "PERIOD is what was counted",
	  MAN "PERF_SAMPLE_PERIOD: \"Records the current sampling period.\"",
	  period_is_counted, NEED_SAMPLING, ON_USER | ON_OVERFLOWS },
	{ "sample", "periods of 2^32 and more", PERIODS, long_period, NEED_SAMPLING, ON_USER },
	{ "sample", "1000 times a second",
	  MAN "\"The kernel will adjust the sampling period to try and achieve the desired rate.\"",
	  frequency, NEED_SAMPLING },
	{ "sample", "PERF_EVENT_IOC_PERIOD", NEW_PERIOD, period_set, NEED_SAMPLING, ON_USER |
	  ON_OVERFLOWS },
	{ "sample", "PERF_EVENT_IOC_PERIOD cuts a long period short", NEW_PERIOD,
	  period_cut_short, NEED_SAMPLING, ON_USER | ON_OVERFLOWS },
	{ "sample", "samples of the kernel",
	  MAN "PERF_RECORD_MISC_KERNEL: \"Sample happened in the kernel.\"", kernel_samples,
	  NEED_SAMPLING | NEED_KERNEL, ON_KERNEL | ON_OVERFLOWS },
	{ "sample", "no kernel addresses for user events", NO_KERNEL, user_sees_user,
	  NEED_SAMPLING, ON_USER },
	{ "sample", "an event of a CPU samples its tasks", PERIODS, cpu_wide, NEED_SAMPLING |
	  NEED_CPU_WIDE, ON_USER | ON_OVERFLOWS },
	{ "sample", "inherited by children", INHERITED, inherited, NEED_SAMPLING, ON_USER |
	  ON_OVERFLOWS },
	{ "sample", "two periods and a plain count side by side", PERIODS, side_by_side,
	  NEED_SAMPLING | NEED_GROUPS, ON_USER | ON_COUNTERS | ON_OVERFLOWS },
	{ "sample", "samples on every counter at once", PERIODS, all_sample, NEED_SAMPLING,
	  ON_USER | ON_COUNTERS | ON_OVERFLOWS },
};

const struct check_list sample_checks = { checks, ARRAY_SIZE(checks) };
