// SPDX-License-Identifier: GPL-2.0-only
/*
 * count.c - counting: exactness, times, resets, privilege levels, read formats
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>

#include "validate.h"

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

/*
 * An event of the task is enabled for no shorter than the task has run since, and for no longer
 * than time has passed: the former is CLOCK_THREAD_CPUTIME_ID's, which may leave out interrupts
 * and what a host took, the latter CLOCK_MONOTONIC's. Read around each other they say nothing of
 * how long the halves of the work take.
 */
static void times_are_times(void)
{
	struct event_times first = { 0 }, second = { 0 };
	struct perf_event_attr attr;
	u64 start, begin, worked, again, passed, wall;
	int fd;

	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	event_read_times(fd, &first);
	expect_eq("time enabled before it is", 0, first.enabled);
	begin = now_ns(CLOCK_MONOTONIC);
	start = now_ns(CLOCK_THREAD_CPUTIME_ID);
	event_enable(fd);
	worked = now_ns(CLOCK_THREAD_CPUTIME_ID);
	known_loop(10 * ITERATIONS);
	worked = now_ns(CLOCK_THREAD_CPUTIME_ID) - worked;
	event_read_times(fd, &first);
	passed = now_ns(CLOCK_MONOTONIC) - begin;
	again = now_ns(CLOCK_THREAD_CPUTIME_ID);
	known_loop(10 * ITERATIONS);
	again = now_ns(CLOCK_THREAD_CPUTIME_ID) - again;
	event_disable(fd);
	wall = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	event_read_times(fd, &second);
	/* Clocks may be corrected: by 500 in a million (adjtimex(2)). */
	expect_range("time enabled in the middle", worked - worked / 20, passed + passed / 20,
		     first.enabled);
	passed = now_ns(CLOCK_MONOTONIC) - begin;
	expect_eq("time running of a single event", second.enabled, second.running);
	expect_range("time enabled", first.enabled + again - again / 20, passed + passed / 20,
		     second.enabled);
	if (pmu.exact)
		expect_range("time enabled", wall - wall / 20, wall + wall / 20, second.enabled);
	known_loop(ITERATIONS);
	event_read_times(fd, &first);
	expect_eq("time enabled while disabled", second.enabled, first.enabled);
	close(fd);
}

/* Events that count one level, the other, and both: in one group if there is room. */
static void levels_add_up(void)
{
	struct perf_event_attr attr;
	int fds[3], i;
	u64 sum, both;

	attr_instructions(&attr);
	fds[0] = event_open_self(&attr, -1);
	attr.disabled = 0;
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	fds[1] = event_open_self(&attr, fds[0]);
	attr.exclude_user = 0;
	fds[2] = event_open_self(&attr, fds[0]);
	if (fds[0] >= 0 && fds[1] >= 0 && fds[2] >= 0) {
		event_enable(fds[0]);
		for (i = 0; i < 1000; i++)
			syscall(SYS_getppid);
		known_loop(ITERATIONS);
		event_disable(fds[0]);
		sum = event_read(fds[0]) + event_read(fds[1]);
		both = event_read(fds[2]);
		/* Counters may start and stop one after the other. */
		expect_range("both levels", sum - sum / 1000 - 100, sum + sum / 1000 + 100, both);
		expect_range("kernel instructions of 1000 system calls", 20000, 100000000,
			     event_read(fds[1]));
		expect_range("user instructions", LOOP, LOOP + 100000, event_read(fds[0]));
	}
	close_all(fds, 3);
}

static void user_only(void)
{
	int fd = open_instructions(), i;
	u64 without;

	if (fd < 0)
		return;
	event_enable(fd);
	for (i = 0; i < 1000; i++)
		getppid();
	event_disable(fd);
	without = event_read(fd);
	expect_range("user instructions of 1000 system calls", 3000, 40000, without);
	close(fd);
}

static void kernel_only(void)
{
	struct perf_event_attr attr;
	u64 loop, calls;
	int fd, i;

	attr_instructions(&attr);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	loop = event_count_loop(fd, ITERATIONS);
	expect_range("kernel instructions of a loop in user space", 0, LOOP / 2, loop);
	event_reset(fd);
	event_enable(fd);
	for (i = 0; i < 10000; i++)
		syscall(SYS_getppid);
	event_disable(fd);
	calls = event_read(fd);
	expect_range("kernel instructions of 10000 system calls", 200000, 1000000000, calls);
	close(fd);
}

static void nothing_left(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_instructions(&attr);
	attr.exclude_user = 1;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd == -EINVAL || fd == -EOPNOTSUPP) {
		ktap_skip("an event that excludes everything is refused");
		return;
	}
	expect_true("it opens", fd >= 0);
	expect_eq("count", 0, event_count_loop(fd, ITERATIONS));
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

/* What a counter of few bits has counted since it was looked at last is not lost. */
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
	expect_range("cycles of a CPU, read once in 3.5 seconds", often - often / 100,
		     often + often / 100, seldom);
	close_all(fds, 2);
}

static const struct check checks[] = {
	{ "count", "instructions of a known loop, ten times", COUNTED, loop_is_exact },
	{ "count", "a loop twice as long counts twice", COUNTED, twice_is_twice },
	{ "count", "cycles advance with the work", COUNTED, cycles_advance, NEED_CYCLES },
	{ "count", "disabled it stands still",
	  MAN "\"When an event is disabled it does not count or generate overflows but does continue to exist and maintain its count value.\"",
	  disabled_is_still },
	{ "count", "not disabled it counts at once",
	  MAN "\"The disabled bit specifies whether the counter starts out disabled or enabled.\"",
	  enabled_at_open },
	{ "count", "enabled twice it counts once",
	  MAN "PERF_EVENT_IOC_ENABLE: \"This enables the individual event or event group specified by the file descriptor argument.\"",
	  enable_twice },
	{ "count", "reads of a running event only grow", COUNTED, reads_only_grow },
	{ "count", "reset zeroes the count alone",
	  MAN "\"Reset the event count specified by the file descriptor argument to zero. This resets only the counts; there is no way to reset the multiplexing time_enabled or time_running values.\"",
	  reset_zeroes },
	{ "count", "times are those of a clock",
	  MAN "\"time_enabled, time_running [...] Total time the event was enabled and running. Normally these values are the same.\"",
	  times_are_times },
	{ "count", "user and kernel add up",
	  MAN "exclude_user: \"If this bit is set, the count excludes events that happen in user space.\", exclude_kernel: \"If this bit is set, the count excludes events that happen in kernel space.\"",
	  levels_add_up, NEED_KERNEL | NEED_GROUPS },
	{ "count", "exclude_kernel leaves user space",
	  MAN "exclude_kernel: \"If this bit is set, the count excludes events that happen in kernel space.\"",
	  user_only },
	{ "count", "exclude_user leaves the kernel",
	  MAN "exclude_user: \"If this bit is set, the count excludes events that happen in user space.\"",
	  kernel_only, NEED_KERNEL },
	{ "count", "both excluded count nothing",
	  MAN "exclude_user: \"If this bit is set, the count excludes events that happen in user space.\", exclude_kernel: \"If this bit is set, the count excludes events that happen in kernel space.\"",
	  nothing_left },
	{ "count", "all read formats",
	  MAN "read_format: \"This field specifies the format of the data returned by read(2) on a perf_event_open() file descriptor.\"",
	  read_formats },
	{ "count", "beyond 2^32",
	  MAN "value: \"An unsigned 64-bit value containing the counter result.\"",
	  beyond_32_bits, NEED_PATIENCE },
	{ "count", "read often or seldom", COUNTED, read_seldom,
	  NEED_CYCLES | NEED_CPU_WIDE | NEED_KERNEL | NEED_GROUPS },
	{ "count", "a sleeping task costs nothing",
	  MAN "pid == 0 and cpu == -1: \"This measures the calling process/thread on any CPU.\"",
	  sleep_is_free },
	{ "count", "on every counter at once", COUNTED, many_at_once },
	{ "count", "opened and closed 300 times", COUNTED, open_and_close_often },
};

const struct check_list count_checks = { checks, ARRAY_SIZE(checks) };
