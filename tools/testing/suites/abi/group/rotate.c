// SPDX-License-Identifier: GPL-2.0-only
/*
 * rotate.c - multiplexing: perf core rotates the events, and their counts scale to the exact count
 */
#include <string.h>
#include <unistd.h>

#include "group.h"

/* Single events are multiplexed; each scaled count must be that of the whole loop. */
static void check_multiplex(u64 config, unsigned int nr, unsigned int room,
			    bool cycles)
{
	/* Without a dedicated counter, cycles are multiplexed too. */
	unsigned int sharers = nr + (cycles && target.all == room);
	unsigned int waited = 0, i;

	group_start();
	for (i = 0; i < nr; i++)
		if (group_open(config, -1) < 0)
			goto out;
	if (cycles && group_open(ARCH_EVENT_CYCLES, -1) < 0)
		goto out;
	for (i = 0; i < group_nr; i++)
		event_enable(group_fds[i]);
	known_loop(LONG);
	for (i = 0; i < group_nr; i++)
		event_disable(group_fds[i]);
	for (i = 0; i < group_nr; i++) {
		u64 truth = loop_counts(group_configs[i], LONG);
		struct event_times times;
		u64 scaled;

		event_read_times(group_fds[i], &times);
		expect_true("time running never to exceed time enabled",
			    times.running <= times.enabled);
		if (!expect_ne("time running of an event", 0, times.running))
			continue;
		waited += times.running < times.enabled;
		scaled = (double)times.count * times.enabled / times.running;
		expect_range("scaled count, within 2 percent",
			     truth / 100 * 98, truth / 100 * 102, scaled);
		/* Turns are shared fairly: no event gets less than half. */
		expect_true("an event to get half its fair share at least",
			    times.running >= times.enabled / 2 * room / sharers);
	}
	expect_true("one event at least to have waited", waited > 0);
	expect_true("no event to have waited without need",
		    waited >= nr - room);
out:
	group_stop();
}

static void check_instructions(unsigned int nr, bool cycles)
{
	check_multiplex(ARCH_EVENT_INSTRUCTIONS, nr, target.counters, cycles);
}

static void multiplex_one_more(void)
{
	check_instructions(target.counters + 1, false);
}

static void multiplex_and_cycles(void)
{
	check_instructions(target.counters + 1, true);
}

static void multiplex_twice(void)
{
	check_instructions(2 * target.counters, false);
}

static void multiplex_thrice(void)
{
	check_instructions(3 * target.counters + 1, true);
}

/* Multiplex events that have no dedicated counter. */
static void multiplex_branches(void)
{
	/* QEMU's own PMU counts instructions as cycles. */
	if (target.loop_cycles == LOOP_INSNS)
		ktap_skip("the PMU of QEMU does not count branches");
	else
		check_multiplex(ARCH_EVENT_BRANCHES, 3 * target.branches,
				target.branches, false);
}

/* Rotate groups: members of one group always count the same time. */
static void check_rotation(unsigned int groups, unsigned int size)
{
	u64 truth = LOOP_INSNS * LONG;
	struct event_times times, first = { 0 };
	unsigned int g, i;
	u64 scaled;

	group_start();
	for (g = 0; g < groups; g++)
		if (group_open_instructions(size, -1) < 0)
			goto out;
	for (g = 0; g < groups; g++)
		event_enable(group_fds[g * size]);
	known_loop(LONG);
	for (g = 0; g < groups; g++)
		event_disable(group_fds[g * size]);
	for (i = 0; i < group_nr; i++) {
		event_read_times(group_fds[i], &times);
		if (i % size == 0) {
			first = times;
			if (!expect_ne("time running", 0, times.running))
				continue;
			expect_true("a group to have waited",
				    times.running < times.enabled);
			scaled = (double)times.count * times.enabled /
				 times.running;
			expect_range("scaled count, within 2 percent",
				     truth / 100 * 98, truth / 100 * 102,
				     scaled);
			continue;
		}
		expect_eq("count of a member, as its leader's", first.count,
			  times.count);
		expect_eq("time running of a member, as its leader's",
			  first.running, times.running);
	}
out:
	group_stop();
}

static void rotate_full_groups(void)
{
	check_rotation(3, target.counters);
}

static void rotate_small_groups(void)
{
	check_rotation(4, target.counters / 2);
}

static void rotate_uneven_groups(void)
{
	check_rotation(2, target.counters - 1);
}

static void rotate_large_and_single(void)
{
	struct event_times big, one;
	unsigned int i;

	group_start();
	if (group_open_instructions(target.counters, -1) < 0)
		goto out;
	for (i = 0; i < 2; i++)
		if (group_open(ARCH_EVENT_INSTRUCTIONS, -1) < 0)
			goto out;
	event_enable(group_fds[0]);
	event_enable(group_fds[group_nr - 2]);
	event_enable(group_fds[group_nr - 1]);
	known_loop(LONG);
	event_disable(group_fds[group_nr - 1]);
	event_disable(group_fds[group_nr - 2]);
	event_disable(group_fds[0]);
	event_read_times(group_fds[0], &big);
	event_read_times(group_fds[group_nr - 1], &one);
	expect_true("the full group to get turns",
		    big.running >= big.enabled / 10);
	expect_true("the single event to get turns",
		    one.running >= one.enabled / 10);
	for (i = 1; i < target.counters; i++) {
		event_read_times(group_fds[i], &one);
		expect_eq("count of a member", big.count, one.count);
	}
out:
	group_stop();
}

/* Events of the CPU come before events of the task; together they share the counters. */
static void cpu_and_task(void)
{
	struct perf_event_attr attr;
	struct event_times times;
	unsigned int half = target.counters / 2 + 1, i;
	u64 truth = LOOP_INSNS * LONG;
	int fd;

	group_start();
	for (i = 0; i < half; i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.read_format = FORMAT_TIMES;
		fd = event_open(&attr, -1, 0, -1, 0);
		if (fd < 0) {
			ktap_fail("open on CPU 0: got %s", strerror(-fd));
			goto out;
		}
		group_fds[group_nr++] = fd;
	}
	for (i = 0; i < half; i++)
		if (group_open(ARCH_EVENT_INSTRUCTIONS, -1) < 0)
			goto out;
	for (i = 0; i < group_nr; i++)
		event_enable(group_fds[i]);
	known_loop(LONG);
	for (i = 0; i < group_nr; i++)
		event_disable(group_fds[i]);
	for (i = 0; i < group_nr; i++) {
		event_read_times(group_fds[i], &times);
		if (!expect_ne("time running", 0, times.running))
			continue;
		expect_true("time running never to exceed time enabled",
			    times.running <= times.enabled);
		expect_range("scaled count, within 2 percent",
			     truth / 100 * 98, truth / 100 * 102,
			     (double)times.count * times.enabled /
			     times.running);
	}
out:
	group_stop();
}

/* Opening and closing other events does not disturb a running group. */
static void neighbours_come_and_go(void)
{
	struct event_times times;
	unsigned int i;
	u64 count = 0;
	int fd;

	group_start();
	if (group_open_instructions(target.counters - 1, -1) < 0)
		goto out;
	event_enable(group_fds[0]);
	for (i = 0; i < 50; i++) {
		fd = event_open_user(i & 1 ? ARCH_EVENT_CYCLES :
				     ARCH_EVENT_INSTRUCTIONS, -1);
		event_enable(fd);
		known_loop(1000);
		expect_true("the neighbour to count",
			    event_read(fd) >= LOOP_INSNS * 1000);
		close(fd);
	}
	event_disable(group_fds[0]);
	for (i = 0; i < group_nr; i++) {
		event_read_times(group_fds[i], &times);
		if (!i)
			count = times.count;
		expect_eq("count of a member, as its leader's", count,
			  times.count);
		expect_eq("time running of a member", times.enabled,
			  times.running);
	}
out:
	group_stop();
}

static const struct ktap_case cases[] = {
	{ "one event more than counters multiplexes", multiplex_one_more },
	{ "one event more than counters, and cycles, multiplexes", multiplex_and_cycles },
	{ "twice as many events as counters multiplex", multiplex_twice },
	{ "three times as many events as counters, and cycles, multiplex", multiplex_thrice },
	{ "three branches events for each counter multiplex", multiplex_branches },
	{ "full groups take turns", rotate_full_groups },
	{ "four groups of half the counters take turns", rotate_small_groups },
	{ "two groups one short of full take turns", rotate_uneven_groups },
	{ "a full group and single events take turns", rotate_large_and_single },
	{ "events of the CPU and of the task take turns", cpu_and_task },
	{ "a group counts while single events come and go", neighbours_come_and_go },
};

const struct ktap_list group_rotate_cases = { cases, ARRAY_SIZE(cases) };
