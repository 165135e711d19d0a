// SPDX-License-Identifier: GPL-2.0-only
/*
 * count.c - counting: exactness, times, resets, read formats
 */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "judge/validate.h"

static void loop_is_exact(void)
{
	int fd = open_instructions(), i;
	u64 base;

	if (fd < 0)
		return;
	for (i = 0; i < 10; i++) {
		base = event_count_loop(fd, 1);
		if (pmu.exact)
			expect_eq("instructions of the loop", LOOP - LOOP_INSNS,
				  event_count_loop(fd, ITERATIONS) - base);
		else
			expect_count("instructions of the loop", LOOP - LOOP_INSNS,
				     event_count_loop(fd, ITERATIONS));
	}
	close(fd);
}

static void twice_is_twice(void)
{
	int fd = open_instructions();
	u64 once, twice;

	if (fd < 0)
		return;
	once = event_count_loop(fd, ITERATIONS);
	twice = event_count_loop(fd, 2 * ITERATIONS);
	expect_count("instructions of a loop twice as long", once + LOOP, twice + count_slack(0));
	close(fd);
}

static void cycles_advance(void)
{
	struct perf_event_attr attr;
	u64 count;
	int fd;

	attr_cycles(&attr);
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	count = event_count_loop(fd, ITERATIONS);
	expect_range("cycles of the loop", LOOP / 20, 1000 * LOOP, count);
	expect_range("cycles of a loop four times as long", 2 * count, 8 * count,
		     event_count_loop(fd, 4 * ITERATIONS));
	close(fd);
}

static void disabled_is_still(void)
{
	int fd = open_instructions();
	u64 count;

	if (fd < 0)
		return;
	known_loop(ITERATIONS);
	expect_eq("count before it is enabled", 0, event_read(fd));
	count = event_count_loop(fd, 1000);
	known_loop(ITERATIONS);
	expect_eq("count after it is disabled", count, event_read(fd));
	close(fd);
}

static void enabled_at_open(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_instructions(&attr);
	attr.disabled = 0;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	known_loop(ITERATIONS);
	event_disable(fd);
	expect_count("instructions", LOOP, event_read(fd));
	close(fd);
}

static void enable_twice(void)
{
	int fd = open_instructions();
	u64 count;

	if (fd < 0)
		return;
	event_enable(fd);
	event_enable(fd);
	known_loop(ITERATIONS);
	event_disable(fd);
	event_disable(fd);
	count = event_read(fd);
	expect_count("instructions", LOOP, count);
	event_enable(fd);
	known_loop(ITERATIONS);
	event_disable(fd);
	expect_count("instructions after another round", count + LOOP, event_read(fd));
	close(fd);
}

static void reads_only_grow(void)
{
	int fd = open_instructions(), i;
	u64 last = 0, now;

	if (fd < 0)
		return;
	event_enable(fd);
	for (i = 0; i < 1000; i++) {
		known_loop(100);
		now = event_read(fd);
		if (!expect_range("growth from read to read", 100 * LOOP_INSNS, 1000000,
				  now - last))
			break;
		last = now;
	}
	close(fd);
}

static void reset_zeroes(void)
{
	struct event_times before = { 0 }, after = { 0 };
	struct perf_event_attr attr;
	int fd;

	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	event_enable(fd);
	known_loop(ITERATIONS);
	event_disable(fd);
	event_read_times(fd, &before);
	event_reset(fd);
	event_read_times(fd, &after);
	expect_eq("count", 0, after.count);
	expect_eq("time enabled", before.enabled, after.enabled);
	expect_eq("time running", before.running, after.running);
	event_enable(fd);
	known_loop(ITERATIONS);
	event_reset(fd);
	known_loop(1000);
	event_disable(fd);
	event_read_times(fd, &after);
	expect_range("count since a reset while it ran", 1000 * LOOP_INSNS,
		     1000 * LOOP_INSNS + 100000, after.count);
	close(fd);
}

/* Durations of two halves of some work by clocks, and an event's times, in nanoseconds */
struct clocked {
	u64 worked[2];		/* the task's clock: duration of each half */
	u64 passed[2];		/* CLOCK_MONOTONIC: from before the first half to the end of each */
	u64 task;		/* the task's clock: duration of both halves */
	struct event_times first, second;
};

static bool clock_halves(int fd, struct clocked *c)
{
	u64 begin = now_ns(CLOCK_MONOTONIC), start = now_ns(CLOCK_THREAD_CPUTIME_ID);
	struct rusage before, after;

	getrusage(RUSAGE_THREAD, &before);
	event_enable(fd);
	c->worked[0] = now_ns(CLOCK_THREAD_CPUTIME_ID);
	known_loop(10 * ITERATIONS);
	c->worked[0] = now_ns(CLOCK_THREAD_CPUTIME_ID) - c->worked[0];
	event_read_times(fd, &c->first);
	c->passed[0] = now_ns(CLOCK_MONOTONIC) - begin;
	c->worked[1] = now_ns(CLOCK_THREAD_CPUTIME_ID);
	known_loop(10 * ITERATIONS);
	c->worked[1] = now_ns(CLOCK_THREAD_CPUTIME_ID) - c->worked[1];
	event_disable(fd);
	c->task = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	event_read_times(fd, &c->second);
	c->passed[1] = now_ns(CLOCK_MONOTONIC) - begin;
	getrusage(RUSAGE_THREAD, &after);
	return before.ru_nvcsw == after.ru_nvcsw && before.ru_nivcsw == after.ru_nivcsw;
}

/*
 * The time enabled of a task's event is at least the task's run time, and at most the time that has
 * passed. CLOCK_THREAD_CPUTIME_ID has the run time, which may lack interrupts and stolen time;
 * CLOCK_MONOTONIC has the time that has passed. The durations of the halves do not matter.
 *
 * At a context switch, the scheduler reads the clock first, and perf reads it later. If a host
 * takes the CPU away in between, the event's time is shorter than the task's. So the check is
 * repeated up to ten times if the task was switched.
 */
static void times_are_times(void)
{
	struct event_times after = { 0 };
	struct perf_event_attr attr;
	struct clocked c = { 0 };
	int fd = -1, tries = 10;
	bool alone;

	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	do {
		if (fd >= 0)
			close(fd);
		fd = event_open_self(&attr, -1);
		if (fd < 0)
			return;
		event_read_times(fd, &c.first);
		expect_eq("time enabled before it is", 0, c.first.enabled);
		alone = clock_halves(fd, &c);
	} while (!alone && --tries);

	/* Clocks may be corrected by up to 500 parts per million (adjtimex(2)). */
	expect_range("time enabled in the middle", c.worked[0] - c.worked[0] / 20,
		     c.passed[0] + c.passed[0] / 20, c.first.enabled);
	expect_eq("time running of a single event", c.second.enabled, c.second.running);
	expect_range("time enabled", c.first.enabled + c.worked[1] - c.worked[1] / 20,
		     c.passed[1] + c.passed[1] / 20, c.second.enabled);
	if (pmu.exact)
		expect_range("time enabled", c.task - c.task / 20, c.task + c.task / 20,
			     c.second.enabled);
	known_loop(ITERATIONS);
	event_read_times(fd, &after);
	expect_eq("time enabled while disabled", c.second.enabled, after.enabled);
	close(fd);
}

static void read_formats(void)
{
	struct perf_event_attr attr;
	u64 values[16], format, id, at;
	int fd;

	for (format = 0; format < 32; format++) {
		u64 words = 1 + !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			    !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING) +
			    !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_GROUP) +
			    !!(format & PERF_FORMAT_LOST);

		attr_instructions(&attr);
		attr.read_format = format;
		fd = event_open(&attr, 0, -1, -1, 0);
		if (fd == -EINVAL && (format & PERF_FORMAT_LOST)) {
			ktap_diag("PERF_FORMAT_LOST is not known to this kernel");
			return;
		}
		if (fd < 0) {
			ktap_fail("read_format 0x%x: expected a descriptor, got %s",
				  (unsigned int)format, strerror(-fd));
			continue;
		}
		event_enable(fd);
		known_loop(1000);
		event_disable(fd);
		expect_eq("bytes of a read", 8 * words, read(fd, values, sizeof(values)));
		at = 0;
		if (format & PERF_FORMAT_GROUP)
			expect_eq("events of a group of one", 1, values[at++]);
		else
			expect_range("count", 2000, 2000 + 100000, values[at++]);
		if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
			expect_range("time enabled", 1, 1000000000, values[at++]);
		if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
			expect_range("time running", 1, 1000000000, values[at++]);
		if (format & PERF_FORMAT_GROUP)
			expect_range("count in a group", 2000, 2000 + 100000, values[at++]);
		if ((format & PERF_FORMAT_ID) && !ioctl(fd, PERF_EVENT_IOC_ID, &id))
			expect_eq("id", id, values[at++]);
		if (format & PERF_FORMAT_LOST)
			expect_eq("lost samples", 0, values[at]);
		close(fd);
	}
}

static void beyond_32_bits(void)
{
	struct perf_event_attr attr;
	unsigned long iterations = 2200000000UL;
	int fd;

	attr_instructions(&attr);
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	expect_count("instructions", LOOP_INSNS * iterations, event_count_loop(fd, iterations));
	close(fd);
}

static void sleep_is_free(void)
{
	struct event_times times = { 0 };
	struct timespec nap = { .tv_nsec = 200000000 };
	struct perf_event_attr attr;
	int fd;

	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	event_enable(fd);
	nanosleep(&nap, NULL);
	event_disable(fd);
	event_read_times(fd, &times);
	expect_range("user instructions asleep", 1, 2000, times.count);
	expect_range("time enabled asleep", 1, 100000000, times.enabled);
	close(fd);
}

static void many_at_once(void)
{
	int fds[32], nr = 0, i;

	for (i = 0; i < (int)pmu.group && i < (int)ARRAY_SIZE(fds); i++) {
		fds[i] = open_instructions();
		if (fds[i] < 0)
			break;
		nr++;
	}
	for (i = 0; i < nr; i++)
		event_enable(fds[i]);
	known_loop(ITERATIONS);
	for (i = 0; i < nr; i++) {
		event_disable(fds[i]);
		expect_range("instructions on each counter", LOOP,
			     LOOP + count_slack(LOOP) + 10000, event_read(fds[i]));
	}
	close_all(fds, nr);
}

static void open_and_close_often(void)
{
	int i, fd;

	for (i = 0; i < 300; i++) {
		fd = open_instructions();
		if (fd < 0)
			return;
		event_enable(fd);
		close(fd);
	}
	expect_sane();
}

/* A narrow counter loses no counts between two reads that are far apart. */
static void read_seldom(void)
{
	const struct timespec pause = { .tv_nsec = 250000000 };
	struct perf_event_attr attr;
	u64 often, seldom;
	int fds[2], i;

	attr_cycles(&attr);
	attr.exclude_kernel = 0;
	for (i = 0; i < 2; i++) {
		attr.disabled = !i;
		fds[i] = event_open(&attr, -1, pmu.cpu, i ? fds[0] : -1, 0);
		if (fds[i] < 0) {
			ktap_fail("two events in a group: expected them to open, got %d", fds[i]);
			close_all(fds, i);
			return;
		}
	}
	event_enable(fds[0]);
	for (i = 0; i < 14; i++) {
		nanosleep(&pause, NULL);
		known_loop(ITERATIONS / 10);
		event_read(fds[0]);
	}
	event_disable(fds[0]);
	often = event_read(fds[0]);
	seldom = event_read(fds[1]);
	expect_near("cycles of a CPU, read once in 3.5 seconds", often, often / 100, seldom);
	close_all(fds, 2);
}

static const struct check checks[] = {
	{ "count", "instructions of a known loop, ten times", COUNTED, loop_is_exact },
	{ "count", "a loop twice as long counts twice", COUNTED, twice_is_twice },
	{ "count", "cycles advance with the work", COUNTED, cycles_advance, NEED_CYCLES },
	{ "count", "a disabled event does not count",
	  MAN "\"When an event is disabled it does not count or generate overflows but does continue to exist and maintain its count value.\"",
	  disabled_is_still },
	{ "count", "an event that is not disabled counts at once",
	  MAN "\"The disabled bit specifies whether the counter starts out disabled or enabled.\"",
	  enabled_at_open },
	{ "count", "an event enabled twice counts once",
	  MAN "PERF_EVENT_IOC_ENABLE: \"This enables the individual event or event group specified by the file descriptor argument.\"",
	  enable_twice },
	{ "count", "reads of a running event only grow", COUNTED, reads_only_grow },
	{ "count", "reset zeroes only the count",
	  MAN "\"Reset the event count specified by the file descriptor argument to zero. This resets only the counts; there is no way to reset the multiplexing time_enabled or time_running values.\"",
	  reset_zeroes },
	{ "count", "times agree with the clocks",
	  MAN "\"time_enabled, time_running [...] Total time the event was enabled and running. Normally these values are the same.\"",
	  times_are_times },
	{ "count", "all read formats",
	  MAN "read_format: \"This field specifies the format of the data returned by read(2) on a perf_event_open() file descriptor.\"",
	  read_formats },
	{ "count", "beyond 2^32",
	  MAN "value: \"An unsigned 64-bit value containing the counter result.\"",
	  beyond_32_bits, NEED_LONG },
	{ "count", "read often or seldom", COUNTED, read_seldom,
	  NEED_CYCLES | NEED_CPU_WIDE | NEED_KERNEL | NEED_GROUPS },
	{ "count", "a sleeping task costs no counts",
	  MAN "pid == 0 and cpu == -1: \"This measures the calling process/thread on any CPU.\"",
	  sleep_is_free },
	{ "count", "on every counter at once", COUNTED, many_at_once },
	{ "count", "opened and closed 300 times", COUNTED, open_and_close_often },
};

const struct check_list count_checks = { checks, ARRAY_SIZE(checks) };
