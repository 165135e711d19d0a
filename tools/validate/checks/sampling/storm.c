// SPDX-License-Identifier: GPL-2.0-only
/*
 * storm.c - periods shorter than the handling of an overflow
 */
#define _GNU_SOURCE
#include <time.h>

#include "judge/guard.h"
#include "judge/validate.h"

static struct ring ring;

/* Limits of a storm: time and samples */
#define STORM_NS	2000000000ULL
#define STORM_SAMPLES	500000
#define STORM_PARTS	100

/*
 * Limit the time that samples take, and return the sample rate. Without the limit a slow machine
 * writes samples faster than the program drains the ring. With the limit the kernel lowers the
 * sample rate: change_number() restores it.
 */
static long limit_samples(void)
{
	long percent = read_number(PERCENT_FILE), rate = read_number(RATE_FILE);

	if (percent == 0 || percent == 100)
		change_number(PERCENT_FILE, 25);
	change_number(RATE_FILE, rate);
	return rate;
}

static void run_storm(const struct perf_event_attr *attr, struct ring_sum *sum)
{
	u64 start = now_ns(CLOCK_MONOTONIC);

	for (unsigned int i = 0; i < STORM_PARTS; i++) {
		known_loop(2 * ITERATIONS / STORM_PARTS);
		ring_drain(&ring, attr, sum);
		if (now_ns(CLOCK_MONOTONIC) - start > STORM_NS || sum->samples > STORM_SAMPLES)
			break;
	}
}

static void storm_of(u64 period, bool kernel)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	long before, a_tick;
	u64 count;
	int fd;

	before = limit_samples();
	attr_sampling(&attr, period, PERF_SAMPLE_IP);
	attr.exclude_kernel = !kernel;
	fd = open_sampling(&ring, &attr, 64);
	event_enable(fd);
	run_storm(&attr, &sum);
	event_disable(fd);
	count = event_read(fd);
	ring_drain(&ring, &attr, &sum);
	/* The kernel lowers the rate if overflows take too long, and never raises it. */
	a_tick = (read_number(RATE_FILE) + MAX_HZ - 1) / MAX_HZ;
	expect_eq("lost samples", 0, sum.lost);
	expect_part("samples", sum.throttles * a_tick ?: 1, "periods counted",
		    count / period + 1, sum.samples);
	close_sampling(&ring, fd);
	change_number(RATE_FILE, before);
	expect_sane();
}

static void storm_user(void)
{
	storm_of(1, false);
	storm_of(100, false);
}

static void storm_kernel(void)
{
	storm_of(1, true);
	storm_of(100, true);
}

static void throttled(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	int fd;

	limit_samples();
	if (change_number(RATE_FILE, 1000)) {
		ktap_skip("kernel.perf_event_max_sample_rate cannot be raised: run as root");
		return;
	}
	attr_sampling(&attr, 1000, PERF_SAMPLE_IP | PERF_SAMPLE_TIME);
	fd = open_sampling(&ring, &attr, 512);
	event_enable(fd);
	for (int i = 0; i < 20; i++)
		known_loop(ITERATIONS);
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	expect_range("throttle records", 1, 100000, sum.throttles);
	expect_most("unthrottle records", 1, "throttle records", sum.throttles, sum.unthrottles);
	close_sampling(&ring, fd);
}

#define EXACT_AFTER MAN "perf_event_max_sample_rate: \"This sets the maximum sample rate.\""

static const struct check checks[] = {
	{ "storm", "periods of 1 and 100, user space", EXACT_AFTER, storm_user, NEED_SAMPLING |
	  NEED_DISRUPT, ON_USER },
	{ "storm", "periods of 1 and 100, user space and kernel", EXACT_AFTER, storm_kernel,
	  NEED_SAMPLING | NEED_KERNEL | NEED_DISRUPT, ON_USER },
	{ "storm", "throttled and unthrottled",
	  MAN "PERF_RECORD_THROTTLE, PERF_RECORD_UNTHROTTLE: \"This record indicates a throttle/unthrottle event.\"",
	  throttled,
	  NEED_SAMPLING | NEED_DISRUPT, ON_USER | ON_OVERFLOWS },
};

const struct check_list storm_checks = { checks, ARRAY_SIZE(checks) };
