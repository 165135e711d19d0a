// SPDX-License-Identifier: GPL-2.0-only
/*
 * member.c - members that are disabled, read, and moved to other counters
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "group.h"

/* Members that are disabled and enabled again count exactly while they are enabled. */
static void members_pause(void)
{
	struct event_times times;
	unsigned int i;
	u64 loop;

	group_start();
	if (group_open(ARCH_EVENT_CYCLES, -1) < 0 ||
	    group_open_instructions(target.all - 1, group_fds[0]) < 0)
		goto out;
	event_enable(group_fds[0]);
	for (i = 1; i < group_nr; i++) {
		event_disable(group_fds[i]);
		known_loop(SHORT);
		event_enable(group_fds[i]);
	}
	event_disable(group_fds[0]);
	event_read_times(group_fds[0], &times);
	loop = target.loop_cycles * SHORT * (group_nr - 1);
	expect_range("count of the leader", loop, loop + 2000, times.count);
	for (i = 1; i < group_nr; i++) {
		event_read_times(group_fds[i], &times);
		expect_range("count of a member that paused once",
			     LOOP_INSNS * SHORT * (group_nr - 2),
			     LOOP_INSNS * SHORT * (group_nr - 2) + 2000,
			     times.count);
		expect_true("time running never to exceed time enabled",
			    times.running <= times.enabled);
	}
out:
	group_stop();
}

/* One read of the group returns all events at once. */
static void group_read(void)
{
	u64 buffer[3 + 16];
	struct perf_event_attr attr;
	unsigned int i;
	ssize_t len;
	int fd;

	group_start();
	for (i = 0; i < target.all; i++) {
		attr_init(&attr, i ? ARCH_EVENT_INSTRUCTIONS :
			  ARCH_EVENT_CYCLES);
		attr.disabled = !i;
		attr.read_format = FORMAT_TIMES | PERF_FORMAT_GROUP;
		fd = event_open_self(&attr, i ? group_fds[0] : -1);
		if (fd < 0)
			goto out;
		group_configs[group_nr] = attr.config;
		group_fds[group_nr++] = fd;
	}
	event_enable(group_fds[0]);
	known_loop(SHORT);
	len = read(group_fds[0], buffer, sizeof(buffer));
	expect_eq("size of a running group's read", (3 + group_nr) * sizeof(u64),
		  len);
	for (i = 0; i < group_nr; i++)
		expect_range("count of a running member",
			     loop_counts(group_configs[i], SHORT),
			     loop_counts(group_configs[i], SHORT) + 500, buffer[3 + i]);
	known_loop(SHORT);
	event_disable(group_fds[0]);
	len = read(group_fds[0], buffer, sizeof(buffer));
	expect_eq("nr", group_nr, buffer[0]);
	expect_eq("time running, as enabled", buffer[1], buffer[2]);
	expect_range("count of the leader", target.loop_cycles * 2 * SHORT,
		     target.loop_cycles * 2 * SHORT + 10000, buffer[3]);
	expect_range("count of the first sibling", LOOP_INSNS * 2 * SHORT,
		     LOOP_INSNS * 2 * SHORT + 10000, buffer[4]);
	for (i = 2; i < group_nr; i++)
		expect_eq("count of a sibling, as the first one's", buffer[4],
			  buffer[3 + i]);
out:
	group_stop();
}

/*
 * A cycles event of the CPU is on an event counter, since the cycle counter was in use. It must
 * move if a task has a group that needs all event counters.
 */
static void events_move(void)
{
	struct event_times times, first = { 0 };
	struct perf_event_attr attr;
	int cycles[2], i;
	u64 before;

	if (target.in_tree) {
		ktap_skip("%s leaves events where they are", target.pmu);
		return;
	}
	if (target.all == target.counters) {
		ktap_skip("no counter is for cycles alone");
		return;
	}
	group_start();
	for (i = 0; i < 2; i++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.read_format = FORMAT_TIMES;
		cycles[i] = event_open(&attr, -1, 0, -1, 0);
		if (cycles[i] < 0) {
			ktap_fail("open on CPU 0: got %s", strerror(-cycles[i]));
			return;
		}
		event_enable(cycles[i]);
	}
	known_loop(SHORT);
	event_disable(cycles[0]);
	event_read_times(cycles[1], &times);
	before = times.count;
	if (group_open_instructions(target.counters, -1) < 0)
		goto out;
	/* The event counts before it moves, and nobody reads it in between. */
	known_loop(10 * SHORT);
	for (i = 0; i < 5; i++) {
		event_enable(group_fds[0]);
		known_loop(10 * SHORT);
		event_disable(group_fds[0]);
	}
	for (i = 0; i < (int)group_nr; i++) {
		event_read_times(group_fds[i], &times);
		if (!i)
			first = times;
		expect_eq("count of a member, as its leader's", first.count,
			  times.count);
		expect_ne("time running of a member", 0, times.running);
		expect_eq("time running of a member", times.enabled,
			  times.running);
	}
	event_disable(cycles[1]);
	event_read_times(cycles[1], &times);
	expect_eq("time running of the event that moved", times.enabled,
		  times.running);
	expect_range("count of the event that moved", target.loop_cycles * SHORT,
		     target.loop_cycles * SHORT + 50000, before);
	expect_range("its count since", 60 * target.loop_cycles * SHORT,
		     60 * target.loop_cycles * SHORT + 50000, times.count - before);
out:
	close_all(cycles, 2);
	group_stop();
}

/*
 * An instructions event of the CPU is on a general counter, since its dedicated counter was in
 * use. A group of other events needs all general counters.
 */
static void instructions_move(void)
{
	struct event_times times;
	struct perf_event_attr attr;
	unsigned int i;
	int cpu[2];

	if (target.counters == target.branches) {
		ktap_skip("no counter is for instructions alone");
		return;
	}
	group_start();
	for (i = 0; i < 2; i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.read_format = FORMAT_TIMES;
		attr.disabled = 0;
		cpu[i] = event_open(&attr, -1, 0, -1, 0);
		if (cpu[i] < 0)
			ktap_fail("open on CPU 0: got %s", strerror(-cpu[i]));
	}
	close(cpu[0]);
	if (group_open_events(ARCH_EVENT_BRANCHES, target.branches, -1) >= 0)
		group_check(SHORT);
	known_loop(SHORT);
	event_disable(cpu[1]);
	event_read_times(cpu[1], &times);
	expect_eq("time running of the event that moved", times.enabled,
		  times.running);
	expect_range("its count", 2 * LOOP_INSNS * SHORT,
		     2 * LOOP_INSNS * SHORT + 50000, times.count);
	close(cpu[1]);
	group_stop();
}

/* Cycles, instructions and other events have only one placement, whatever their order. */
static void fixed_counters_in_any_order(void)
{
	static const unsigned int orders[6][3] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	const u64 events[3] = { ARCH_EVENT_CYCLES, ARCH_EVENT_INSTRUCTIONS,
				ARCH_EVENT_BRANCHES };
	const unsigned int nr[3] = { 1, 1, target.branches };
	unsigned int order, i;

	if (target.all < target.branches + 2) {
		ktap_skip("cycles and instructions have no counters of their own");
		return;
	}
	for (order = 0; order < 6; order++) {
		group_start_enabled();
		for (i = 0; i < 3; i++) {
			unsigned int kind = orders[order][i];

			group_open_events(events[kind], nr[kind], group_nr ? group_fds[0] : -1);
		}
		for (i = 0; i < 3; i++)
			expect_eq("open of one event more", -EINVAL,
				  group_try_open(events[i], group_fds[0]));
		group_check(SHORT);
		group_stop();
	}
}

/* If cycles and instructions are equal, the counter shows which of them an event counts. */
static void generic_instructions_are_none(void)
{
	struct perf_event_attr attr;
	unsigned int i;
	int fd;

	group_start_enabled();
	for (i = 0; i <= target.counters; i++) {
		attr_init_generic(&attr, PERF_COUNT_HW_INSTRUCTIONS);
		attr.disabled = 0;
		fd = event_open(&attr, 0, -1, i ? group_fds[0] : -1, 0);
		if (fd < 0)
			break;
		group_fds[group_nr++] = fd;
	}
	expect_eq("instructions events in a group", target.counters, group_nr);
	if (target.all > target.counters) {
		attr_init_generic(&attr, PERF_COUNT_HW_CPU_CYCLES);
		attr.disabled = 0;
		fd = event_open_self(&attr, group_fds[0]);
		if (fd >= 0)
			group_fds[group_nr++] = fd;
	}
	group_stop();
}

static const struct ktap_case cases[] = {
	{ "members of a group that pause keep their counts", members_pause },
	{ "one read has all counts of a full group", group_read },
	{ "an event moves to make room", events_move },
	{ "an instructions event moves to make room", instructions_move },
	{ "fixed counters are used in whatever order events are opened",
	  fixed_counters_in_any_order },
	{ "generic instructions are no cycles", generic_instructions_are_none },
};

const struct ktap_list group_member_cases = { cases, ARRAY_SIZE(cases) };
