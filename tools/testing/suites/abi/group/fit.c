// SPDX-License-Identifier: GPL-2.0-only
/*
 * fit.c - a group that fits the counters counts all the time; a group that can never fit is
 * rejected
 */
#include <errno.h>
#include <unistd.h>

#include "group.h"

static void full_group(void)
{
	group_start();
	if (group_open(ARCH_EVENT_CYCLES, -1) >= 0 &&
	    group_open_instructions(target.all - 1, group_fds[0]) >= 0)
		group_check(10 * SHORT);
	group_stop();
}

static void full_group_cycles_last(void)
{
	group_start();
	if (group_open_instructions(target.all - 1, -1) >= 0 &&
	    group_open(ARCH_EVENT_CYCLES, group_fds[0]) >= 0)
		group_check(SHORT);
	group_stop();
}

static void full_group_cycles_between(void)
{
	group_start();
	if (group_open_instructions(2, -1) >= 0 &&
	    group_open(ARCH_EVENT_CYCLES, group_fds[0]) >= 0 &&
	    group_open_instructions(target.all - 3, group_fds[0]) >= 0)
		group_check(SHORT);
	group_stop();
}

static void group_of_cycles(void)
{
	unsigned int i;

	group_start_enabled();
	for (i = 0; i < target.cycles; i++)
		if (group_open(ARCH_EVENT_CYCLES, i ? group_fds[0] : -1) < 0)
			goto out;
	expect_eq("open of one cycles event more", -EINVAL,
		  group_try_open(ARCH_EVENT_CYCLES, group_fds[0]));
	group_check(SHORT);
out:
	group_stop();
}

static void two_cycles(void)
{
	struct event_times a, b;

	group_start();
	if (group_open(ARCH_EVENT_CYCLES, -1) < 0 ||
	    group_open(ARCH_EVENT_CYCLES, group_fds[0]) < 0)
		goto out;
	group_check(10 * SHORT);
	event_read_times(group_fds[0], &a);
	event_read_times(group_fds[1], &b);
	expect_eq("cycles of the second event", a.count, b.count);
out:
	group_stop();
}

static void two_cycles_apart(void)
{
	struct event_times a, b;
	u64 base;

	group_start();
	if (group_open(ARCH_EVENT_CYCLES, -1) < 0 ||
	    group_open(ARCH_EVENT_CYCLES, -1) < 0)
		goto out;
	event_enable(group_fds[0]);
	event_enable(group_fds[1]);
	known_loop(1);
	event_disable(group_fds[0]);
	event_disable(group_fds[1]);
	event_read_times(group_fds[0], &a);
	event_read_times(group_fds[1], &b);
	base = a.count - b.count;
	event_reset(group_fds[0]);
	event_reset(group_fds[1]);
	event_enable(group_fds[0]);
	event_enable(group_fds[1]);
	known_loop(10 * SHORT);
	event_disable(group_fds[0]);
	event_disable(group_fds[1]);
	event_read_times(group_fds[0], &a);
	event_read_times(group_fds[1], &b);
	expect_eq("cycles of the second single event", base, a.count - b.count);
	expect_eq("time running of the first", a.enabled, a.running);
	expect_eq("time running of the second", b.enabled, b.running);
out:
	group_stop();
}

/*
 * The built-in driver ignores a disabled leader when it checks whether a group fits. It accepts
 * such a group and never schedules it.
 */
static bool kernel_forgets_leader(void)
{
	if (target.in_tree)
		ktap_skip("%s does not count a disabled leader", target.pmu);
	return target.in_tree;
}

static void check_impossible_with_cycles(void)
{
	if (group_open(ARCH_EVENT_CYCLES, -1) < 0 ||
	    group_open_instructions(target.all - 1, group_fds[0]) < 0)
		goto out;
	expect_eq("open of one instructions event more", -EINVAL,
		  group_try_open(ARCH_EVENT_INSTRUCTIONS, group_fds[0]));
	expect_eq("open of one cycles event more", -EINVAL,
		  group_try_open(ARCH_EVENT_CYCLES, group_fds[0]));
	group_check(10 * SHORT);
out:
	group_stop();
}

static void impossible_with_cycles(void)
{
	group_start_enabled();
	check_impossible_with_cycles();
}

static void impossible_with_cycles_disabled(void)
{
	if (kernel_forgets_leader())
		return;
	group_start();
	check_impossible_with_cycles();
}

static void check_impossible_without_cycles(void)
{
	if (group_open_instructions(target.counters, -1) < 0)
		goto out;
	expect_eq("open of one instructions event more", -EINVAL,
		  group_try_open(ARCH_EVENT_INSTRUCTIONS, group_fds[0]));
	group_check(SHORT);
	if (group_leader_enabled)
		event_enable(group_fds[0]);
	if (target.all > target.counters)
		group_open(ARCH_EVENT_CYCLES, group_fds[0]);
	expect_eq("open of a cycles event too many", -EINVAL,
		  group_try_open(ARCH_EVENT_CYCLES, group_fds[0]));
	group_check(SHORT);
out:
	group_stop();
}

static void impossible_without_cycles(void)
{
	group_start_enabled();
	check_impossible_without_cycles();
}

static void impossible_without_cycles_disabled(void)
{
	if (kernel_forgets_leader())
		return;
	group_start();
	check_impossible_without_cycles();
}

/* A rejection while the group runs must not disturb the members. */
static void impossible_while_running(void)
{
	struct event_times times;
	unsigned int i;
	u64 count;

	group_start();
	if (group_open_instructions(target.counters, -1) < 0)
		goto out;
	event_enable(group_fds[0]);
	known_loop(SHORT);
	for (i = 0; i < 20; i++)
		expect_eq("open of one instructions event more", -EINVAL,
			  group_try_open(ARCH_EVENT_INSTRUCTIONS, group_fds[0]));
	known_loop(SHORT);
	event_disable(group_fds[0]);
	event_read_times(group_fds[0], &times);
	count = times.count;
	for (i = 0; i < group_nr; i++) {
		event_read_times(group_fds[i], &times);
		expect_eq("count of a member", count, times.count);
		expect_eq("time running of a member", times.enabled,
			  times.running);
	}
	expect_range("count of all members", 2 * LOOP_INSNS * SHORT,
		     2 * LOOP_INSNS * SHORT + 20000, count);
out:
	group_stop();
}

/* Closing a member makes room for another. */
static void check_room_after_close(void)
{
	if (group_open_instructions(target.counters, -1) < 0)
		goto out;
	expect_eq("open of one event too many", -EINVAL,
		  group_try_open(ARCH_EVENT_INSTRUCTIONS, group_fds[0]));
	close(group_fds[--group_nr]);
	group_open(ARCH_EVENT_INSTRUCTIONS, group_fds[0]);
	group_check(SHORT);
out:
	group_stop();
}

static void room_after_close(void)
{
	group_start_enabled();
	check_room_after_close();
}

static void room_after_close_disabled(void)
{
	if (kernel_forgets_leader())
		return;
	group_start();
	check_room_after_close();
}

/* A disabled member is not scheduled, so the rest of the group can count. */
static void disabled_member(void)
{
	struct perf_event_attr attr;
	struct event_times times;
	int fd;

	group_start_enabled();
	if (group_open_instructions(target.counters - 1, -1) < 0)
		goto out;
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.read_format = FORMAT_TIMES;
	fd = event_open_self(&attr, group_fds[0]);
	group_check(SHORT);
	event_read_times(fd, &times);
	expect_eq("count of the disabled member", 0, times.count);
	event_enable(fd);
	group_fds[group_nr++] = fd;
	event_disable(group_fds[0]);
	event_enable(group_fds[0]);
	known_loop(SHORT);
	event_disable(group_fds[0]);
	event_read_times(fd, &times);
	expect_range("count of the member once enabled", LOOP_INSNS * SHORT,
		     LOOP_INSNS * SHORT + 500, times.count);
out:
	group_stop();
}

/* A disabled member leaves its counter to an enabled one. */
static void disabled_member_makes_room(void)
{
	struct perf_event_attr attr;
	int fd;

	group_start_enabled();
	if (group_open_instructions(target.counters - 1, -1) < 0)
		goto out;
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	fd = event_open_self(&attr, group_fds[0]);
	if (group_open(ARCH_EVENT_INSTRUCTIONS, group_fds[0]) >= 0)
		group_check(SHORT);
	/* The built-in driver ignores a disabled leader. */
	event_enable(group_fds[0]);
	expect_eq("open of one event too many", -EINVAL,
		  group_try_open(ARCH_EVENT_INSTRUCTIONS, group_fds[0]));
	close(fd);
out:
	group_stop();
}

static void software_takes_no_counter(void)
{
	struct perf_event_attr attr;
	int fd, i;

	group_start();
	if (group_open_instructions(target.counters, -1) < 0)
		goto out;
	for (i = 0; i < 4; i++) {
		attr_init(&attr, PERF_COUNT_SW_PAGE_FAULTS);
		attr.type = PERF_TYPE_SOFTWARE;
		attr.disabled = 0;
		fd = event_open_self(&attr, group_fds[0]);
		if (fd >= 0)
			group_fds[group_nr++] = fd;
	}
	group_nr -= 4;
	group_check(SHORT);
	group_nr += 4;
out:
	group_stop();
}

static const struct ktap_case cases[] = {
	{ "cycles and an event per counter in one group", full_group },
	{ "an event per counter and cycles, opened last, in one group", full_group_cycles_last },
	{ "an event per counter and cycles, in between, in one group", full_group_cycles_between },
	{ "a group of cycles on every counter", group_of_cycles },
	{ "two cycles events in a group count the same", two_cycles },
	{ "two single cycles events count the same", two_cycles_apart },
	{ "cycles and too many events are refused with EINVAL",
	  impossible_with_cycles },
	{ "too many events without cycles are refused with EINVAL",
	  impossible_without_cycles },
	{ "cycles and too many events are refused, the leader disabled",
	  impossible_with_cycles_disabled },
	{ "too many events without cycles are refused, the leader disabled",
	  impossible_without_cycles_disabled },
	{ "a refusal does not disturb a running group",
	  impossible_while_running },
	{ "a member that closes makes room", room_after_close },
	{ "a member that closes makes room, the leader disabled", room_after_close_disabled },
	{ "a disabled member needs no counter", disabled_member },
	{ "a disabled member makes room", disabled_member_makes_room },
	{ "software events fit into a full group", software_takes_no_counter },
};

const struct ktap_list group_fit_cases = { cases, ARRAY_SIZE(cases) };
