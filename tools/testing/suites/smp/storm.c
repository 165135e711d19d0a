// SPDX-License-Identifier: GPL-2.0-only
/*
 * storm.c - periods so short that interrupts would take all the time: the event is throttled, work
 * continues, and the PMU counts exactly afterwards
 *
 * For the exact lane, where a storm that is not throttled never ends.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ring.h"

#define RING_PAGES	256
/* Period at which overflows take little time, even on a debug kernel, where each takes 50 us */
#define CALM_PERIOD	1000000
#define MAX_RATE	"/proc/sys/kernel/perf_event_max_sample_rate"
#define MAX_PERCENT	"/proc/sys/kernel/perf_cpu_time_max_percent"
/* klogctl(): read all messages that the kernel still has */
#define SYSLOG_ACTION_READ_ALL	3

#define STORM_IS_OVER \
	"corepmu: CPU0: overflows take less time again: periods are no longer stretched\n"

enum mode { USER = 1, KERNEL = 2, BOTH = 3 };

struct storm {
	const char *name;
	bool cycles;
	enum mode mode;
	u64 period;
	bool cpu_wide;
};

static const struct storm storms[] = {
	{ "cycles, user, period 1", true, USER, 1, false },
	{ "cycles, user, period 100", true, USER, 100, false },
	{ "cycles, kernel, period 1", true, KERNEL, 1, false },
	{ "cycles, kernel, period 100", true, KERNEL, 100, false },
	{ "cycles, both, period 1", true, BOTH, 1, false },
	{ "cycles, both, period 100", true, BOTH, 100, false },
	{ "instructions, both, period 1", false, BOTH, 1,
	  false },
	{ "instructions, user, period 100", false, USER, 100,
	  false },
	{ "cycles of the CPU, both, period 1", true, BOTH, 1,
	  true },
	{ "cycles of the CPU, both, period 100", true, BOTH, 100,
	  true },
};

static u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static int storm_open(const struct storm *storm, struct perf_event_attr *attr)
{
	attr_init(attr, storm->cycles ? ARCH_EVENT_CYCLES : ARCH_EVENT_INSTRUCTIONS);
	attr->sample_period = storm->period;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
	attr->exclude_user = !(storm->mode & USER);
	attr->exclude_kernel = !(storm->mode & KERNEL);
	if (storm->cpu_wide)
		return event_open(attr, -1, 0, -1, 0);
	return event_open(attr, 0, -1, -1, 0);
}

/* Work in user space and in the kernel; the length does not depend on the storm. */
static void work(void)
{
	for (int i = 0; i < 200; i++) {
		known_loop(50000);
		syscall(SYS_getppid);
	}
}

static void run_storm(const struct storm *storm)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	struct ring ring = { 0 };
	u64 started, took, ticks;
	pid_t child;
	int fd;

	fd = storm_open(storm, &attr);
	if (fd < 0) {
		ktap_fail("open: got %s", strerror(-fd));
		return;
	}
	if (ring_map(&ring, fd, RING_PAGES))
		goto out;
	started = now();
	event_enable(fd);
	work();
	/* Another task's life, from fork to exit */
	child = fork();
	if (!child) {
		known_loop(50000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	event_disable(fd);
	took = now() - started;
	ring_drain(&ring, &attr, &sum);
	ktap_diag("%u samples, %u throttles, %u unthrottles, %llu lost in %llu ms",
		  sum.samples, sum.throttles, sum.unthrottles,
		  (unsigned long long)sum.lost,
		  (unsigned long long)took / 1000000);
	expect_ne("throttles", 0, sum.throttles);
	expect_range("unthrottles, one per throttle but the last",
		     sum.throttles - 1, sum.throttles, sum.unthrottles);
	expect_eq("lost", 0, sum.lost);
	/* A sample's period covers all counts since the previous sample. */
	if (target.in_tree)
		expect_eq("samples of another period than asked for",
			  sum.samples * storm->period, sum.periods);
	else
		expect_range("counts since the last sample", 0, storm->period,
			     event_read(fd) - sum.periods);
	/*
	 * 10000 samples a second are 40 in a tick of 4 ms; an event may be throttled twice in one
	 * tick.
	 */
	ticks = took / 4000000 + 2;
	expect_range("samples", ticks / 4, ticks * 88, sum.samples);
	/* A throttled event does not count. */
	if (storm->mode == USER)
		expect_range("count", sum.periods,
			     sum.periods + 100 * (sum.samples + 1),
			     event_read(fd));
	/* 20 million instructions of work, and ten times as many of the storm */
	expect_range("milliseconds", 1, 1000, took / 1000000);
out:
	ring_unmap(&ring);
	close(fd);
}

/* Close an event while it is throttled or interrupts. */
static void close_in_storm(void)
{
	struct perf_event_attr attr;
	struct ring ring;
	int fd;

	for (int i = 0; i < 20; i++) {
		fd = storm_open(&storms[4], &attr);
		if (fd < 0) {
			ktap_fail("open: got %s", strerror(-fd));
			return;
		}
		ring_map(&ring, fd, 1);
		event_enable(fd);
		known_loop(1 + i * 3000);
		if (i & 1)
			ring_unmap(&ring);
		close(fd);
		if (!(i & 1))
			ring_unmap(&ring);
		pmu_is_exact(5000);
	}
}

/* An event on another counter loses nothing during a storm. */
static void neighbour(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	struct perf_event_attr attr;
	int storm;

	storm = storm_open(&storms[1], &attr);
	if (fd < 0 || storm < 0) {
		ktap_fail("open: got %d and %d", fd, storm);
		return;
	}
	event_enable(storm);
	event_is_exact(fd, 500000);
	event_disable(storm);
	close(storm);
	close(fd);
}

/* A storm on every counter at once. */
static void storm_everywhere(void)
{
	int fds[ARCH_MAX_COUNTERS];
	const unsigned int nr = target.all;
	struct perf_event_attr attr;
	u64 started = now();
	unsigned int i;

	for (i = 0; i < nr; i++) {
		fds[i] = storm_open(&storms[i & 1 ? 6 : 5], &attr);
		if (fds[i] < 0)
			ktap_fail("open: got %s", strerror(-fds[i]));
	}
	for (i = 0; i < nr; i++)
		event_enable(fds[i]);
	work();
	for (i = 0; i < nr; i++)
		event_disable(fds[i]);
	expect_range("milliseconds", 1, 3000, (now() - started) / 1000000);
	for (i = 0; i < nr; i++)
		expect_ne("count", 0, event_read(fds[i]));
	close_all(fds, nr);
}

/* A throttled event gets an ordinary period: it continues without a gap. */
static void calm_after_storm(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	struct ring ring = { 0 };
	u64 period = 200000, loop;
	int fd;

	fd = storm_open(&storms[1], &attr);
	if (fd < 0 || ring_map(&ring, fd, RING_PAGES)) {
		ktap_fail("open: got %d", fd);
		return;
	}
	event_run_loop(fd, 1000000);
	ring_drain(&ring, &attr, &sum);
	expect_ne("throttles", 0, sum.throttles);
	expect_eq("period of 200000", 0,
		  ioctl(fd, PERF_EVENT_IOC_PERIOD, &period));
	/* Wait for the tick that unthrottles the event. */
	usleep(20000);
	event_reset(fd);
	memset(&sum, 0, sizeof(sum));
	event_run_loop(fd, 5000000);
	ring_drain(&ring, &attr, &sum);
	loop = loop_counts(attr.config, 5000000);
	expect_range("samples of the calm", loop / period - 1, loop / period + 1,
		     sum.samples);
	expect_eq("throttles of the calm", 0, sum.throttles);
	expect_range("count of the calm", loop, loop + 100, event_read(fd));
	ring_unmap(&ring);
	close(fd);
}

/*
 * All events of a group overflow together, with @rate samples a second allowed. From Linux 6.16 on
 * perf core throttles the whole group in the sample of one event: the group goes on with the next
 * tick. On 6.12 a tick starts a throttled leader again, but no throttled member. The events are of
 * the CPU, since a task switch would start events of a task again.
 */
static void throttle_group(const struct storm *storm, unsigned int rate)
{
	int fds[ARCH_MAX_COUNTERS];
	struct perf_event_attr attr;
	unsigned int nr = 0;
	u64 started, ticks;

	limit_sample_rate(rate);
	fds[nr] = storm_open(storm, &attr);
	attr.disabled = 0;
	/*
	 * Open no more events than there are counters. The built-in driver of arm64 accepts one
	 * more, since it does not count a disabled leader.
	 */
	while (fds[nr] >= 0 && ++nr < target.all)
		fds[nr] = event_open(&attr, -1, 0, fds[0], 0);
	if (nr < 2)
		ktap_fail("only %u events of the group could be opened, and the test needs 2", nr);
	started = now();
	event_enable(fds[0]);
	work();
	event_disable(fds[0]);
	ticks = (now() - started) / 4000000;
	ktap_diag("%u events, %llu ticks, count of the leader %llu", nr,
		  (unsigned long long)ticks, (unsigned long long)event_read(fds[0]));
	/* Every second tick at least has time for all samples that are allowed in a tick. */
	expect_range("count of the leader", ticks / 2 * (rate / 250 + 1) * storm->period, LLONG_MAX,
		     event_read(fds[0]));
	close_all(fds, nr);
	limit_sample_rate(10000);
}

static void throttled_group(void)
{
	static const struct storm user = { "", true, USER, 100, true };
	static const struct storm both = { "", true, BOTH, 100, true };

	throttle_group(&user, 10000);
	/* One sample in a tick */
	throttle_group(&both, 100);
}

/* Set the limits so that perf core never throttles. */
static void allow_any_rate(void)
{
	limit_sample_rate(1000000000);
}

/* The driver itself ensures that other work proceeds. */
static void unthrottled(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	struct ring ring = { 0 };
	u64 started;
	int fd;

	if (target.in_tree) {
		ktap_skip("the storm would never end: %s has no limiter",
			  target.pmu);
		return;
	}
	allow_any_rate();
	fd = storm_open(&storms[6], &attr);
	if (fd < 0 || ring_map(&ring, fd, 1)) {
		ktap_fail("open: got %d", fd);
		return;
	}
	/* The driver prints its only message in this first storm. */
	event_run_loop(fd, 250000);
	usleep(100000);
	started = now();
	event_run_loop(fd, 250000);
	ring_drain(&ring, &attr, &sum);
	/* With an overflow after each instruction this would take a second. */
	expect_range("milliseconds", 1, 200, (now() - started) / 1000000);
	expect_eq("throttles", 0, sum.throttles);
	ring_unmap(&ring);
	close(fd);
}

/* Ordinary periods are exact again soon after a storm. */
static void calm_after_unthrottled(void)
{
	int fds[ARCH_MAX_COUNTERS];
	const unsigned int nr = target.all;
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	struct ring ring = { 0 };
	u64 count = 0, started;
	int fd;

	if (target.in_tree) {
		ktap_skip("the storm would never end: %s has no limiter",
			  target.pmu);
		return;
	}
	allow_any_rate();
	for (unsigned int i = 0; i < nr; i++) {
		fds[i] = storm_open(&storms[i & 1 ? 6 : 5], &attr);
		if (fds[i] < 0)
			ktap_fail("open: got %s", strerror(-fds[i]));
	}
	started = now();
	for (unsigned int i = 0; i < nr; i++)
		event_enable(fds[i]);
	known_loop(2500000);
	/* Without the limiter this would take ten seconds. */
	expect_range("milliseconds", 1, 1000, (now() - started) / 1000000);
	close_all(fds, nr);

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = CALM_PERIOD;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
	fd = event_open_self(&attr, -1);
	if (fd < 0 || ring_map(&ring, fd, RING_PAGES))
		return;
	/* The minimum period halves every 10 ms. */
	event_enable(fd);
	known_loop(100000000);
	ring_drain(&ring, &attr, &sum);
	event_disable(fd);
	close(fd);
	ring_unmap(&ring);

	memset(&sum, 0, sizeof(sum));
	attr.sample_period = 2000;
	fd = event_open_self(&attr, -1);
	if (fd < 0 || ring_map(&ring, fd, RING_PAGES))
		return;
	/* Bursts of several periods each, too short to be a storm */
	for (unsigned int i = 0; i < 10; i++) {
		event_run_loop(fd, 4000);
		usleep(2000);
	}
	count = event_read(fd);
	ring_drain(&ring, &attr, &sum);
	expect_range("samples of a period of 2000", count / 2000 - 1,
		     count / 2000, sum.samples);
	close(fd);
	ring_unmap(&ring);
}

/* The log names the event and the program of a storm, and says when the storm is over. */
static void log_names_storm(void)
{
	static char log[1 << 20];
	struct perf_event_attr attr;
	const char *begin;
	char said[200];
	int len, fd;

	if (target.in_tree) {
		ktap_skip("%s has no limiter", target.pmu);
		return;
	}
	fd = storm_open(&storms[6], &attr);
	close(fd);
	len = klogctl(SYSLOG_ACTION_READ_ALL, log, sizeof(log) - 1);
	if (!expect_true("the kernel's log to be read", len > 0))
		return;
	log[len] = '\0';
	snprintf(said, sizeof(said),
		 "corepmu: CPU0: overflows of event type %u config %#llx period 1 in storm[%d] take most of the time: short periods are stretched; use a longer period\n",
		 attr.type, (unsigned long long)attr.config, getpid());
	begin = strstr(log, said);
	if (!begin)
		ktap_fail("the log: expected '%s'", said);
	else
		expect_true("the log to say that it is over",
			    strstr(begin, STORM_IS_OVER));
}

/* Perf core lowers the rate if overflows take too long. */
static void rate_is_lowered(void)
{
	struct perf_event_attr attr;
	struct ring ring = { 0 };
	int fd;

	write_number(MAX_PERCENT, 25);
	write_number(MAX_RATE, 100000);
	write_number(MAX_PERCENT, 1);
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = 20000;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = event_open_self(&attr, -1);
	if (fd >= 0 && !ring_map(&ring, fd, RING_PAGES)) {
		event_run_loop(fd, 10000000);
		/* Deferred work of an interrupt writes the new rate. */
		usleep(10000);
		expect_range(MAX_RATE, 1, 99999, read_number(MAX_RATE));
	}
	ring_unmap(&ring);
	close(fd);
	limit_sample_rate(10000);
}

static const struct ktap_case cases[] = {
	{ "closed in the middle of a storm", close_in_storm },
	{ "an exact count beside a storm", neighbour },
	{ "a storm on every counter", storm_everywhere },
	{ "counts are exact after a storm", calm_after_storm },
	{ "a throttled group goes on", throttled_group },
	{ "overflows that take too long lower the rate", rate_is_lowered },
	{ "a storm that nobody throttles", unthrottled },
	{ "counts are exact after storms that nobody throttled", calm_after_unthrottled },
	{ "the log names the event and the program of a storm, and its end", log_names_storm },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	/* A fixed limit for the storms, which perf core does not lower */
	limit_sample_rate(10000);
	ktap_plan(ARRAY_SIZE(storms) + ARRAY_SIZE(cases));
	for (unsigned int i = 0; i < ARRAY_SIZE(storms); i++) {
		ktap_begin("%s", storms[i].name);
		run_storm(&storms[i]);
		pmu_is_exact(5000);
		ktap_end();
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		ktap_begin("%s", cases[i].name);
		cases[i].run();
		pmu_is_exact(5000);
		ktap_end();
	}
	write_number(MAX_PERCENT, 25);
	write_number(MAX_RATE, 100000);
	return ktap_status();
}
