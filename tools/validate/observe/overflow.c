// SPDX-License-Identifier: GPL-2.0-only
/*
 * overflow.c - what overflows do: throttling, signals, limits, full buffers
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdlib.h>

#include "observe/observe.h"

static struct ring ring;

#define TYPE	(PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD)

/* Sample with a short period; answer with the number of samples, the count and throttling. */
static void short_period(u64 period, unsigned long iterations)
{
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	u64 count, want = LOOP_INSNS * iterations;
	int fd;

	attr_sampling(&attr, period, TYPE);
	fd = open_ring(&ring, &attr, 0, -1);
	event_run_loop(fd, iterations);
	count = event_read(fd);
	ring_drain(&ring, &attr, &sum);
	/* After UNTHROTTLE the number of samples depends on the time until the next tick. */
	if (sum.unthrottles)
		answer("fewer samples than periods");
	else
		answer("%u samples for %llu periods", sum.samples,
		       (unsigned long long)(want / period));
	answer("count is %s", count >= want && count < want + 1000 ? "right" :
	       count < want ? "too low" : "too high");
	answer("%s", sum.throttles ? "THROTTLE" : "no THROTTLE");
	answer("%s", sum.unthrottles ? "UNTHROTTLE" : "no UNTHROTTLE");
}

static void period_of_1(void)
{
	short_period(1, 500);
}

static void period_of_2(void)
{
	short_period(2, 500);
}

static void period_of_10(void)
{
	short_period(10, 5000);
}

static void throttled(void)
{
	short_period(500, 2 * ITERATIONS);
}

static void throttled_group(void)
{
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	int leader, member;
	u64 counts[2];

	attr_sampling(&attr, 500, TYPE);
	leader = open_ring(&ring, &attr, 0, -1);
	attr_instructions(&attr);
	attr.disabled = 0;
	member = event_open(&attr, 0, -1, leader, 0);
	if (member < 0)
		return answer_error("the member is refused:", member);
	event_run_loop(leader, 2 * ITERATIONS);
	counts[0] = event_read(leader);
	counts[1] = event_read(member);
	attr_sampling(&attr, 500, TYPE);
	ring_drain(&ring, &attr, &sum);
	answer("%s", sum.throttles ? "THROTTLE" : "no THROTTLE");
	answer("leader's count is %s", counts[0] >= 2 * LOOP ? "right" : "too low");
	answer("member's is %s", counts[1] >= 2 * LOOP ? "right" : "too low");
}

static volatile unsigned int traps;

static void on_trap(int number)
{
	(void)number;
	traps++;
}

static void traps_of(u64 blocked)
{
	struct sigaction action = { .sa_handler = on_trap };
	struct perf_event_attr attr;
	sigset_t set;
	int fd;

	attr_sampling(&attr, LOOP / 10, PERF_SAMPLE_IP);
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	fd = open_or_answer(&attr);
	sigaction(SIGTRAP, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	if (blocked)
		sigprocmask(SIG_BLOCK, &set, NULL);
	event_enable(fd);
	one_loop();
	event_disable(fd);
	if (blocked)
		sigprocmask(SIG_UNBLOCK, &set, NULL);
	answer("%u signals of 10", traps);
}

static void refresh(void)
{
	struct pollfd pollfd = { .events = POLLIN };
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	u64 count;
	int fd;

	attr_sampling(&attr, LOOP / 10, TYPE);
	fd = open_ring(&ring, &attr, 0, -1);
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 3);
	one_loop();
	count = event_read(fd);
	ring_drain(&ring, &attr, &sum);
	pollfd.fd = fd;
	poll(&pollfd, 1, 0);
	answer("%u samples", sum.samples);
	answer("counted %llu periods", (unsigned long long)(count / (LOOP / 10)));
	answer("poll() says %s", pollfd.revents & POLLHUP ? "POLLHUP" :
	       pollfd.revents & POLLIN ? "POLLIN" : "nothing");
}

static void refresh_of_counting(void)
{
	answer_error("", ioctl(open_instructions(), PERF_EVENT_IOC_REFRESH, 1) ? -errno : 0);
}

static void refresh_by_0(void)
{
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	int fd;

	attr_sampling(&attr, LOOP / 10, TYPE);
	fd = open_ring(&ring, &attr, 0, -1);
	answer_error("", ioctl(fd, PERF_EVENT_IOC_REFRESH, 0) ? -errno : 0);
	one_loop();
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	answer("%u samples of 10", sum.samples);
}

static void full_buffer(u64 read_format)
{
	struct { u64 count, lost; } values = { 0 };
	struct perf_event_attr attr;
	int fd;

	attr_sampling(&attr, LOOP / 100, TYPE);
	attr.read_format = read_format;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		return answer_error("the event is refused:", fd);
	if (ring_map(&ring, fd, 1))
		return;
	event_enable(fd);
	for (int i = 0; i < 5; i++) {
		one_loop();
		if (i == 3)
			ring_discard(&ring);
	}
	event_disable(fd);
	if (read_format) {
		if (read(fd, &values, sizeof(values)) == sizeof(values))
			answer("%s", values.lost ? "lost samples are counted" : "lost is 0");
	} else {
		const struct perf_event_header *header = ring_next(&ring);

		answer("after the reader has emptied it: %s first", !header ? "nothing" :
		       header->type == PERF_RECORD_LOST ? "LOST" :
		       header->type == PERF_RECORD_SAMPLE ? "SAMPLE" : "another record");
	}
}

static void paused(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_sampling(&attr, LOOP / 10, TYPE);
	fd = open_ring(&ring, &attr, 0, -1);
	event_enable(fd);
	ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	one_loop();
	ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	known_loop(ITERATIONS / 5);
	event_disable(fd);
	answer_records(&ring);
}

static void without_buffer(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_sampling(&attr, LOOP / 10, TYPE);
	fd = open_or_answer(&attr);
	event_enable(fd);
	one_loop();
	event_disable(fd);
	answer_loops("count", event_read(fd));
}

static void wakeups(void)
{
	struct pollfd pollfd = { .events = POLLIN };
	struct perf_event_attr attr;
	int fd, i;

	attr_sampling(&attr, LOOP / 2, TYPE);
	attr.wakeup_events = 3;
	fd = open_ring(&ring, &attr, 0, -1);
	pollfd.fd = fd;
	event_enable(fd);
	for (i = 1; i <= 4; i++) {
		known_loop(ITERATIONS / 2);
		poll(&pollfd, 1, 0);
		if (pollfd.revents)
			break;
	}
	answer("poll() says %s after %d samples", pollfd.revents & POLLIN ? "POLLIN" : "nothing",
	       i);
	poll(&pollfd, 1, 0);
	answer("the next says %s, though nothing was read", pollfd.revents ? "POLLIN" : "nothing");
}

static const struct observation observations[] = {
	{ "overflow", "sample_period 1", period_of_1 },
	{ "overflow", "sample_period 2", period_of_2 },
	{ "overflow", "sample_period 10", period_of_10 },
	{ "overflow", "more samples than perf_event_max_sample_rate", throttled },
	{ "overflow", "a group whose leader is throttled", throttled_group },
	{ "overflow", "sigtrap: signals of 10 overflows", .look_at = traps_of, .value = false },
	{ "overflow", "sigtrap: 10 overflows while SIGTRAP is blocked",
	  .look_at = traps_of, .value = true },
	{ "overflow", "REFRESH 3", refresh },
	{ "overflow", "REFRESH 0", refresh_by_0 },
	{ "overflow", "REFRESH of an event without a period", refresh_of_counting },
	{ "overflow", "a full buffer: the LOST record", .look_at = full_buffer, .value = 0 },
	{ "overflow", "a full buffer: PERF_FORMAT_LOST",
	  .look_at = full_buffer, .value = PERF_FORMAT_LOST },
	{ "overflow", "PAUSE_OUTPUT for 10 samples", paused },
	{ "overflow", "a period, and no buffer", without_buffer },
	{ "overflow", "wakeup_events 3", wakeups },
};

const struct observation_list overflow_observations = { observations, ARRAY_SIZE(observations) };
