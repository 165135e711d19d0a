// SPDX-License-Identifier: GPL-2.0-only
/*
 * control.c - enabling, resetting, times and reads
 */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "count.h"

static void disabled_counts_nothing(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	u64 first;

	if (fd < 0)
		return;
	known_loop(SHORT);
	expect_eq("count before the first enable", 0, event_read(fd));
	event_enable(fd);
	known_loop(SHORT);
	event_disable(fd);
	first = event_read(fd);
	expect_range("count while enabled", LOOP_INSNS * SHORT,
		     LOOP_INSNS * SHORT + 100, first);
	known_loop(SHORT);
	expect_eq("count after disable", first, event_read(fd));
	event_disable(fd);
	expect_eq("count after a second disable", first, event_read(fd));
	event_enable(fd);
	event_enable(fd);
	known_loop(SHORT);
	event_disable(fd);
	expect_range("count after a second stretch", 2 * LOOP_INSNS * SHORT,
		     2 * LOOP_INSNS * SHORT + 200, event_read(fd));
	close(fd);
}

static void born_enabled(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.disabled = 0;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	known_loop(SHORT);
	event_disable(fd);
	expect_range("count without an enable", LOOP_INSNS * SHORT,
		     LOOP_INSNS * SHORT + 200, event_read(fd));
	close(fd);
}

static void reset_keeps_times(void)
{
	struct event_times before, after;
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.read_format = FORMAT_TIMES;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	event_enable(fd);
	known_loop(SHORT);
	event_disable(fd);
	event_read_times(fd, &before);
	event_reset(fd);
	event_read_times(fd, &after);
	expect_eq("count after reset", 0, after.count);
	expect_eq("time enabled after reset", before.enabled, after.enabled);
	expect_eq("time running after reset", before.running, after.running);
	close(fd);
}

static void reset_while_running(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);

	if (fd < 0)
		return;
	event_enable(fd);
	known_loop(SHORT);
	event_reset(fd);
	known_loop(SHORT);
	event_disable(fd);
	expect_range("count since the reset", LOOP_INSNS * SHORT,
		     LOOP_INSNS * SHORT + 100, event_read(fd));
	close(fd);
}

static void times_of_one_event(void)
{
	struct event_times first, second, third;
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.read_format = FORMAT_TIMES;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	event_read_times(fd, &first);
	expect_eq("time enabled while disabled", 0, first.enabled);
	event_enable(fd);
	known_loop(TEN_MILLION);
	event_read_times(fd, &first);
	known_loop(TEN_MILLION);
	event_disable(fd);
	event_read_times(fd, &second);
	known_loop(TEN_MILLION);
	event_read_times(fd, &third);
	expect_eq("time running, as enabled", first.enabled, first.running);
	expect_eq("time running, as enabled", second.enabled, second.running);
	expect_true("time to advance while enabled",
		    second.enabled > first.enabled);
	expect_eq("time enabled after disable", second.enabled, third.enabled);
	close(fd);
}

static void reads_while_running(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	u64 counts[50];
	unsigned int i;

	if (fd < 0)
		return;
	event_enable(fd);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		known_loop(SHORT);
		counts[i] = event_read(fd);
	}
	event_disable(fd);
	expect_range("advance", LOOP_INSNS * SHORT, LOOP_INSNS * SHORT + 100,
		     counts[2] - counts[1]);
	for (i = 3; i < ARRAY_SIZE(counts); i++)
		expect_eq("advance between two reads", counts[2] - counts[1],
			  counts[i] - counts[i - 1]);
	close(fd);
}

/* Check a read with this format against the layout of perf_event_open(2). */
static void check_format(u64 format)
{
	bool group = format & PERF_FORMAT_GROUP;
	unsigned int members = group ? 3 : 1;
	struct perf_event_attr attr;
	int fds[3] = { -1, -1, -1 };
	u64 buffer[32], id, id2;
	size_t size = 0;
	u64 *at = buffer;
	ssize_t len;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.disabled = i == 0;
		attr.read_format = format;
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
		if (fds[i] < 0)
			goto out;
	}
	event_enable(fds[0]);
	known_loop(SHORT);
	event_disable(fds[0]);

	size = group;
	size += !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED);
	size += !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	size += members * (1 + !!(format & PERF_FORMAT_ID) +
			   !!(format & PERF_FORMAT_LOST));
	size *= sizeof(u64);

	memset(buffer, 0xa5, sizeof(buffer));
	len = read(fds[0], buffer, size - 1);
	if (len != -1 || errno != ENOSPC)
		ktap_fail("read of one byte too few: expected ENOSPC, got %zd (%s)",
			  len, strerror(errno));
	len = read(fds[0], buffer, sizeof(buffer));
	if (!expect_eq("size of a read", size, len))
		goto out;
	expect_eq("what follows the read", 0xa5a5a5a5,
		  (u32)buffer[size / sizeof(u64)]);

	if (group)
		expect_eq("nr", 3, *at++);
	else
		expect_range("value", LOOP_INSNS * SHORT,
			     LOOP_INSNS * SHORT + 100, *at++);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		expect_ne("time enabled", 0, *at++);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		expect_ne("time running", 0, *at++);
	for (i = 0; i < members; i++) {
		if (group)
			expect_range("value of a member", LOOP_INSNS * SHORT,
				     LOOP_INSNS * SHORT + 100, *at++);
		if (format & PERF_FORMAT_ID) {
			ioctl(fds[i], PERF_EVENT_IOC_ID, &id);
			expect_eq("id", id, *at++);
			ioctl(fds[(i + 1) % 3], PERF_EVENT_IOC_ID, &id2);
			expect_ne("id of another event", id, id2);
		}
		if (format & PERF_FORMAT_LOST)
			expect_eq("lost", 0, *at++);
	}
out:
	if (ktap_failed())
		ktap_diag("read_format 0x%llx", (unsigned long long)format);
	close_all(fds, 3);
}

static void read_formats(void)
{
	u64 format;

	for (format = 0; format < 32 && !ktap_failed(); format++)
		check_format(format);
}

static void prctl_disable_enable(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	u64 count;

	if (fd < 0)
		return;
	event_enable(fd);
	known_loop(SHORT);
	expect_eq("PR_TASK_PERF_EVENTS_DISABLE", 0,
		  prctl(PR_TASK_PERF_EVENTS_DISABLE));
	count = event_read(fd);
	known_loop(SHORT);
	expect_eq("count after prctl disabled it", count, event_read(fd));
	expect_eq("PR_TASK_PERF_EVENTS_ENABLE", 0,
		  prctl(PR_TASK_PERF_EVENTS_ENABLE));
	known_loop(SHORT);
	event_disable(fd);
	expect_range("count after prctl enabled it", 2 * LOOP_INSNS * SHORT,
		     2 * LOOP_INSNS * SHORT + 500, event_read(fd));
	close(fd);
}

static const struct ktap_case cases[] = {
	{ "a disabled event counts nothing", disabled_counts_nothing },
	{ "an event not born disabled counts at once", born_enabled },
	{ "reset zeroes the count, not the times", reset_keeps_times },
	{ "reset of a running event leaves what comes after", reset_while_running },
	{ "times advance while an event is enabled, and not else", times_of_one_event },
	{ "reads of a running event advance evenly", reads_while_running },
	{ "each of 32 read formats has its layout", read_formats },
	{ "prctl(2) disables and enables events", prctl_disable_enable },
};

const struct ktap_list count_control_cases = { cases, ARRAY_SIZE(cases) };
