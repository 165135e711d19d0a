// SPDX-License-Identifier: GPL-2.0-only
/*
 * group.c - leaders and siblings; pinned and exclusive events
 */
#include <unistd.h>

#include "count.h"

static void pinned_error(void)
{
	int fds[ARCH_MAX_COUNTERS];
	struct perf_event_attr attr;
	unsigned int nr = target.counters + 1, i;
	u64 value;
	ssize_t len;

	for (i = 0; i < nr; i++)
		fds[i] = -1;
	for (i = 0; i < nr; i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.pinned = 1;
		fds[i] = event_open_self(&attr, -1);
		if (fds[i] < 0)
			goto out;
		event_enable(fds[i]);
	}
	known_loop(SHORT);
	for (i = 0; i < nr - 1; i++)
		expect_true("a pinned event that fits to count",
			    event_read(fds[i]) >= LOOP_INSNS * SHORT);
	len = read(fds[nr - 1], &value, sizeof(value));
	expect_eq("read of a pinned event that cannot be scheduled", 0, len);
	/* If a counter is free, enabling takes the event out of the error state. */
	close(fds[0]);
	fds[0] = -1;
	event_disable(fds[nr - 1]);
	event_enable(fds[nr - 1]);
	known_loop(SHORT);
	event_disable(fds[nr - 1]);
	expect_true("the pinned event to count when a counter is free",
		    event_read(fds[nr - 1]) >= LOOP_INSNS * SHORT);
out:
	close_all(fds, nr);
}

/* A pinned event never shares its counter, whatever other events do. */
static void pinned_runs_always(void)
{
	int fds[ARCH_MAX_COUNTERS];
	unsigned int nr = target.counters + 2, i;
	struct event_times times;
	struct perf_event_attr attr;

	for (i = 0; i < nr; i++)
		fds[i] = -1;
	for (i = 0; i < nr; i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.pinned = i == nr - 1;
		attr.read_format = FORMAT_TIMES;
		fds[i] = event_open_self(&attr, -1);
		if (fds[i] < 0)
			goto out;
	}
	for (i = 0; i < nr; i++)
		event_enable(fds[i]);
	known_loop(5 * TEN_MILLION);
	for (i = 0; i < nr; i++)
		event_disable(fds[i]);
	event_read_times(fds[nr - 1], &times);
	expect_eq("time running of the pinned event", times.enabled,
		  times.running);
	expect_range("its count", 5 * LOOP_INSNS * TEN_MILLION,
		     5 * LOOP_INSNS * TEN_MILLION + 1000, times.count);
	event_read_times(fds[0], &times);
	expect_true("an event beside it to share its counter",
		    times.running < times.enabled);
out:
	close_all(fds, nr);
}

static void exclusive_alone(void)
{
	struct perf_event_attr attr;
	struct event_times a, b;
	int fds[2];

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.read_format = FORMAT_TIMES;
	fds[0] = event_open_self(&attr, -1);
	attr.exclusive = 1;
	fds[1] = event_open_self(&attr, -1);
	if (fds[0] < 0 || fds[1] < 0)
		goto out;
	event_enable(fds[0]);
	event_enable(fds[1]);
	known_loop(10 * TEN_MILLION);
	event_disable(fds[1]);
	event_disable(fds[0]);
	event_read_times(fds[0], &a);
	event_read_times(fds[1], &b);
	expect_true("an exclusive event and another never to run together",
		    a.running + b.running <= a.enabled);
	expect_true("one of the two to run at any time",
		    a.running + b.running >= a.enabled / 10 * 9);
	expect_range("counts of both, which ran one after the other",
		     9 * LOOP_INSNS * TEN_MILLION,
		     10 * LOOP_INSNS * TEN_MILLION + 2000, a.count + b.count);
out:
	close_all(fds, 2);
}

static void disabled_leader(void)
{
	int leader = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	int fds[3] = { leader, -1, -1 };
	struct perf_event_attr attr;

	if (leader < 0)
		return;
	fds[1] = event_open_user(ARCH_EVENT_INSTRUCTIONS, leader);
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	fds[2] = event_open_self(&attr, leader);
	if (fds[1] < 0 || fds[2] < 0)
		goto out;
	known_loop(SHORT);
	event_enable(fds[1]);
	known_loop(SHORT);
	expect_eq("count of a sibling of a disabled leader", 0,
		  event_read(fds[1]));
	event_enable(leader);
	known_loop(SHORT);
	expect_true("a sibling to count with its leader",
		    event_read(fds[1]) >= LOOP_INSNS * SHORT);
	expect_eq("count of a sibling that is disabled itself", 0,
		  event_read(fds[2]));
	event_enable(fds[2]);
	known_loop(SHORT);
	event_disable(fds[1]);
	known_loop(SHORT);
	event_disable(leader);
	known_loop(SHORT);
	expect_range("the leader's count", 3 * LOOP_INSNS * SHORT,
		     3 * LOOP_INSNS * SHORT + 500, event_read(leader));
	expect_range("count of the sibling disabled before", 2 * LOOP_INSNS *
		     SHORT, 2 * LOOP_INSNS * SHORT + 500, event_read(fds[1]));
	expect_range("count of the sibling enabled late", 2 * LOOP_INSNS *
		     SHORT, 2 * LOOP_INSNS * SHORT + 500, event_read(fds[2]));
out:
	close_all(fds, 3);
}

static void group_flag(void)
{
	int fds[3] = { -1, -1, -1 };
	struct perf_event_attr attr;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
		if (fds[i] < 0)
			goto out;
	}
	ioctl(fds[1], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	known_loop(SHORT);
	ioctl(fds[2], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	known_loop(SHORT);
	for (i = 0; i < 3; i++)
		expect_range("count of a member of the group", LOOP_INSNS *
			     SHORT, LOOP_INSNS * SHORT + 500,
			     event_read(fds[i]));
	ioctl(fds[1], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	for (i = 0; i < 3; i++)
		expect_eq("count of a member after reset", 0,
			  event_read(fds[i]));
out:
	close_all(fds, 3);
}

static void leader_closes_first(void)
{
	int fds[3] = { -1, -1, -1 };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		fds[i] = event_open_user(ARCH_EVENT_INSTRUCTIONS,
					 i ? fds[0] : -1);
		if (fds[i] < 0)
			goto out;
	}
	event_enable(fds[0]);
	known_loop(SHORT);
	close(fds[0]);
	fds[0] = -1;
	known_loop(SHORT);
	event_disable(fds[1]);
	event_disable(fds[2]);
	for (i = 1; i < 3; i++) {
		expect_range("count of a sibling that outlived its leader",
			     2 * LOOP_INSNS * SHORT,
			     2 * LOOP_INSNS * SHORT + 1000,
			     event_read(fds[i]));
		event_is_exact(fds[i], SHORT);
	}
out:
	close_all(fds, 3);
}

static void with_software_events(void)
{
	struct perf_event_attr attr;
	int fds[3];

	/* A software leader: the hardware event moves the group to its own PMU. */
	attr_init(&attr, PERF_COUNT_SW_TASK_CLOCK);
	attr.type = PERF_TYPE_SOFTWARE;
	fds[0] = event_open_self(&attr, -1);
	fds[1] = event_open_user(ARCH_EVENT_INSTRUCTIONS, fds[0]);
	attr.disabled = 0;
	fds[2] = event_open_self(&attr, fds[0]);
	if (fds[0] < 0 || fds[1] < 0 || fds[2] < 0)
		goto out;
	event_enable(fds[0]);
	known_loop(SHORT);
	event_disable(fds[0]);
	expect_range("count in a software group", LOOP_INSNS * SHORT,
		     LOOP_INSNS * SHORT + 500, event_read(fds[1]));
	expect_ne("the software leader's count", 0, event_read(fds[0]));
out:
	close_all(fds, 3);
}

static const struct ktap_case cases[] = {
	{ "a pinned event without a counter reads as end of file",
	  pinned_error },
	{ "a pinned event never gives up its counter", pinned_runs_always },
	{ "an exclusive event runs alone", exclusive_alone },
	{ "a disabled leader holds its siblings", disabled_leader },
	{ "PERF_IOC_FLAG_GROUP acts on the group from any member", group_flag },
	{ "siblings outlive their leader", leader_closes_first },
	{ "a group with software events counts", with_software_events },
};

const struct ktap_list count_group_cases = { cases, ARRAY_SIZE(cases) };
