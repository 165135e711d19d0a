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
	int fd = open_instructions();

	expect_each("instructions of the loop", fd, LOOP_INSNS);
	close(fd);
}

static void twice_is_twice(void)
{
	int fd = open_instructions();
	u64 once, twice;

	once = event_count_loop(fd, ITERATIONS);
	twice = event_count_loop(fd, 2 * ITERATIONS);
	expect_count("instructions of a loop twice as long", once + LOOP, twice + count_slack(0));
	close(fd);
}

static void judge_cycles(int fd)
{
	u64 count = least_count(fd, ITERATIONS / 10);

	expect_range("cycles of the loop", LOOP / 200, 100 * LOOP, count);
	expect_range("cycles of a loop four times as long", 2 * count, 8 * count,
		     least_count(fd, 4 * ITERATIONS / 10));
	/* The known loop has a known number of cycles only in an emulator. */
	if (pmu.exact && pmu.name)
		expect_each("cycles of the loop", fd, arch_loop_cycles(pmu.name));
	close(fd);
}

static bool gets_counter(struct perf_event_attr attr)
{
	struct event_times times = { 0 };
	int fd;

	attr.read_format = FORMAT_TIMES;
	fd = open_event(&attr);
	event_run_loop(fd, ITERATIONS);
	event_read_times(fd, &times);
	close(fd);
	return times.running;
}

/* Cycles may have a counter of their own. A pinned event takes it: judge the other counters. */
static void cycles_elsewhere(void)
{
	struct perf_event_attr attr;
	int pinned;

	attr_cycles(&attr);
	attr.pinned = 1;
	attr.disabled = 0;
	pinned = open_event(&attr);
	attr_cycles(&attr);
	if (gets_counter(attr))
		judge_cycles(open_event(&attr));
	else
		ktap_skip("there is no other counter for cycles");
	close(pinned);
}

/* Format long requests a counter of 64 bits, which the CPU may lack. */
static void cycles_advance(void)
{
	struct perf_event_attr attr;
	int fd;

	if (!(pmu.has & NEED_CYCLES) && arch_lacks_cycles()) {
		ktap_skip("the CPU says that it does not count cycles");
		return;
	}
	attr_cycles(&attr);
	judge_cycles(open_event(&attr));
	fd = pmu.name && parse_terms("long", &attr) ? event_open(&attr, 0, -1, -1, 0) : -1;
	if (fd >= 0)
		judge_cycles(fd);
}

static void disabled_is_still(void)
{
	int fd = open_instructions();
	u64 count;

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
	fd = open_event(&attr);
	known_loop(ITERATIONS);
	event_disable(fd);
	expect_count("instructions", LOOP, event_read(fd));
	close(fd);
}

static void enable_twice(void)
{
	int fd = open_instructions();
	u64 count;

	event_enable(fd);
	event_run_loop(fd, ITERATIONS);
	event_disable(fd);
	count = event_read(fd);
	expect_count("instructions", LOOP, count);
	event_run_loop(fd, ITERATIONS);
	expect_count("instructions after another round", count + LOOP, event_read(fd));
	close(fd);
}

static void reads_only_grow(void)
{
	int fd = open_instructions(), i;
	u64 counts[1000], growth, most;

	event_enable(fd);
	for (i = 0; i < (int)ARRAY_SIZE(counts); i++) {
		known_loop(1000);
		counts[i] = event_read(fd);
	}
	close(fd);
	growth = pmu.exact ? counts[2] - counts[1] : 1000 * LOOP_INSNS;
	most = pmu.exact ? growth : 1000000;
	expect_range("growth from the first read", 1000 * LOOP_INSNS,
		     pmu.exact ? 1000 * LOOP_INSNS + 100 : 1000000, growth);
	for (i = 2; i < (int)ARRAY_SIZE(counts); i++)
		if (!expect_range("growth from read to read", growth, most,
				  counts[i] - counts[i - 1]))
			break;
}

static void reset_zeroes(void)
{
	struct event_times before = { 0 }, after = { 0 };
	struct perf_event_attr attr;
	int fd;

	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	fd = open_event(&attr);
	event_run_loop(fd, ITERATIONS);
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
		     1000 * LOOP_INSNS + (pmu.exact ? 100 : 100000), after.count);
	close(fd);
}

/*
 * Durations of the two halves of some work, by two clocks, and the times of an event; all in
 * nanoseconds
 */
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
 * CLOCK_MONOTONIC has the time that has passed. The two halves need not take equally long.
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
		fd = open_event(&attr);
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

/* Judge a read of the first of @nr enabled events of a group, which counted a loop. */
static void check_format(const int *fds, u64 nr, u64 format)
{
	bool group = format & PERF_FORMAT_GROUP;
	u64 members = group ? nr : 1;
	u64 words = group + !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		    !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING) +
		    members * (1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST));
	u64 values[16], id, other, *at = values, i;

	memset(values, 0xa5, sizeof(values));
	errno = 0;
	expect_eq("a read of a byte less", -1, read(fds[0], values, 8 * words - 1));
	expect_eq("its error", ENOSPC, errno);
	if (!expect_eq("bytes of a read", 8 * words, read(fds[0], values, sizeof(values))))
		return;
	expect_true("the bytes behind it are left alone", values[words] == 0xa5a5a5a5a5a5a5a5);
	if (group)
		expect_eq("events of the group", nr, *at++);
	else
		expect_count("count", 1000 * LOOP_INSNS, *at++);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		expect_range("time enabled", 1, 1000000000, *at++);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		expect_range("time running", 1, 1000000000, *at++);
	for (i = 0; i < members; i++) {
		if (group)
			expect_count("count in a group", 1000 * LOOP_INSNS, *at++);
		if (format & PERF_FORMAT_ID && !ioctl(fds[i], PERF_EVENT_IOC_ID, &id) &&
		    !ioctl(fds[(i + 1) % nr], PERF_EVENT_IOC_ID, &other)) {
			expect_eq("id", id, *at++);
			if (nr > 1)
				expect_ne("id of another event", id, other);
		}
		if (format & PERF_FORMAT_LOST)
			expect_eq("lost samples", 0, *at++);
	}
}

static void read_formats_of(unsigned int most)
{
	struct perf_event_attr attr;
	unsigned int nr;
	int fds[3], fd;

	for (u64 format = 0; format < 32 && !ktap_failed(); format++) {
		attr_instructions(&attr);
		attr.read_format = format;
		fd = event_open(&attr, 0, -1, -1, 0);
		if (fd == -EINVAL && (format & PERF_FORMAT_LOST)) {
			ktap_diag("PERF_FORMAT_LOST is not known to this kernel");
			return;
		}
		close(fd);
		nr = open_group(fds, most, format);
		if (expect_eq("events that open", most, nr)) {
			event_run_loop(fds[0], 1000);
			check_format(fds, nr, format);
		}
		if (ktap_failed())
			ktap_diag("read_format 0x%x", (unsigned int)format);
		close_all(fds, nr);
	}
}

static void read_formats(void)
{
	read_formats_of(1);
}

static void group_read_formats(void)
{
	read_formats_of(3);
}

/* Open an event of the CPU with a counter of 64 bits (format long), if the PMU has one. */
static int open_widest(void (*init)(struct perf_event_attr *attr))
{
	struct perf_event_attr attr;
	int fd = -1;

	init(&attr);
	if (pmu.name && parse_terms("long", &attr))
		fd = event_open(&attr, -1, pmu.cpu, -1, 0);
	init(&attr);
	return fd < 0 ? event_open(&attr, -1, pmu.cpu, -1, 0) : fd;
}

/* noipa: a copy that the compiler specialises for 1 would have other instructions. */
static __attribute__((noipa)) void count_group(int leader, unsigned long iterations)
{
	ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	event_run_loop(leader, iterations);
}

/*
 * A context switch reads the counter of a task's event, and the kernel may switch before 2^32
 * counts. The counter of a CPU's event is read only at the end.
 */
static void beyond_32_bits(void)
{
	const unsigned long iterations = (1UL << 32) / LOOP_INSNS + 12345;
	const bool known = pmu.exact && pmu.name && (pmu.has & NEED_CYCLES);
	/* Three events of the task and two of the CPU need five counters. */
	const bool enough = pmu.group >= 5;
	u64 whole = LOOP_INSNS * iterations, least[2] = { whole, whole / 20 };
	u64 most[2] = { 2 * whole, 1000 * whole }, base[3];
	int fds[2], own[3], i, nr = 1 + !!(pmu.has & NEED_CYCLES), nr_own = known && enough ? 3 : 1;
	struct perf_event_attr attr;

	if (known) {
		least[1] = arch_loop_cycles(pmu.name) * iterations;
		most[0] = least[0] + 1000000;
		most[1] = least[1] + 1000000;
	}
	run_on(pmu.cpu);
	for (i = 0; i < nr && (pmu.has & NEED_CPU_WIDE); i++) {
		fds[i] = open_widest(i ? attr_cycles : attr_instructions);
		expect_true("an event of a CPU opens", fds[i] >= 0);
	}
	nr = i;
	/* Two events of cycles: cycles may have a counter of their own, which only one can have. */
	for (i = 0; i < nr_own; i++) {
		attr = i ? pmu.cycles : pmu.instructions;
		attr.disabled = !i;
		own[i] = i ? event_open(&attr, 0, -1, own[0], 0) : open_event(&attr);
		if (own[i] < 0)
			break;
	}
	nr_own = i;
	count_group(own[0], 1);
	for (i = 0; i < nr_own; i++)
		base[i] = event_read(own[i]);
	for (i = 0; i < nr; i++)
		event_enable(fds[i]);
	count_group(own[0], iterations);
	for (i = 0; i < nr; i++)
		event_disable(fds[i]);
	for (i = 0; i < nr_own; i++) {
		u64 each = i ? arch_loop_cycles(pmu.name) : LOOP_INSNS;

		if (pmu.exact)
			expect_eq(i ? "cycles" : "instructions", each * (iterations - 1),
				  event_read(own[i]) - base[i]);
		else
			expect_count("instructions", whole, event_read(own[i]));
	}
	/* Includes other tasks. */
	for (i = 0; i < nr; i++)
		expect_range(i ? "cycles of the CPU's tasks" : "instructions of the CPU's tasks",
			     least[i], most[i], event_read(fds[i]));
	close_all(own, nr_own);
	close_all(fds, nr);
}

static void sleep_is_free(void)
{
	struct event_times times = { 0 };
	struct timespec nap = { .tv_nsec = 200000000 };
	struct perf_event_attr attr;
	int fd;

	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	fd = open_event(&attr);
	event_enable(fd);
	nanosleep(&nap, NULL);
	event_disable(fd);
	event_read_times(fd, &times);
	expect_range("user instructions asleep", 1, pmu.exact ? 500 : 2000, times.count);
	expect_range("time enabled asleep", 1, pmu.exact ? 10000000 : 100000000, times.enabled);
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
	int fd;

	for (int i = 0; i < 300; i++) {
		fd = open_instructions();
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
	{ "count", "instructions of a known loop, ten times", COUNTED, loop_is_exact, 0, ON_USER },
	{ "count", "a loop twice as long counts twice", COUNTED, twice_is_twice, 0, ON_USER },
	{ "count", "cycles advance with the work", MAN "PERF_COUNT_HW_CPU_CYCLES: \"Total cycles.\"",
	  cycles_advance, 0, ON_USER },
	{ "count", "cycles beside a pinned event of cycles", COUNTED, cycles_elsewhere, NEED_CYCLES,
	  ON_USER | ON_COUNTERS },
	{ "count", "a disabled event does not count",
	  MAN "\"When an event is disabled it does not count or generate overflows but does continue to exist and maintain its count value.\"",
	  disabled_is_still },
	{ "count", "an event that is not disabled counts at once",
	  MAN "\"The disabled bit specifies whether the counter starts out disabled or enabled.\"",
	  enabled_at_open, 0, ON_USER },
	{ "count", "an event enabled twice counts once",
	  MAN "PERF_EVENT_IOC_ENABLE: \"This enables the individual event or event group specified by the file descriptor argument.\"",
	  enable_twice, 0, ON_USER },
	{ "count", "reads of a running event only grow", COUNTED, reads_only_grow, 0, ON_USER },
	{ "count", "reset zeroes only the count",
	  MAN "\"Reset the event count specified by the file descriptor argument to zero. This resets only the counts; there is no way to reset the multiplexing time_enabled or time_running values.\"",
	  reset_zeroes, 0, ON_USER },
	{ "count", "times agree with the clocks",
	  MAN "\"time_enabled, time_running [...] Total time the event was enabled and running. Normally these values are the same.\"",
	  times_are_times },
	{ "count", "all read formats", READ_FORMAT, read_formats, 0, ON_USER },
	{ "group", "all read formats of a group", READ_FORMAT, group_read_formats, NEED_GROUPS,
	  ON_USER | ON_COUNTERS },
	{ "count", "beyond 2^32",
	  MAN "value: \"An unsigned 64-bit value containing the counter result.\"",
	  beyond_32_bits, NEED_LONG },
	{ "count", "read often or seldom", COUNTED, read_seldom, NEED_CYCLES | NEED_CPU_WIDE |
	  NEED_KERNEL | NEED_GROUPS, ON_COUNTERS },
	{ "count", "a sleeping task costs no counts", OWN_TASK, sleep_is_free, 0, ON_USER },
	{ "count", "on every counter at once", COUNTED, many_at_once, 0, ON_USER },
	{ "count", "opened and closed 300 times", COUNTED, open_and_close_often, 0, ON_USER },
};

const struct check_list count_checks = { checks, ARRAY_SIZE(checks) };
