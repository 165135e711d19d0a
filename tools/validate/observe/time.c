// SPDX-License-Identifier: GPL-2.0-only
/*
 * time.c - time_enabled and time_running: children, groups that take turns, pinned and exclusive
 * events
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>

#include "observe/observe.h"

#define ROUNDS	50

/* Return the share of time with a counter, in percent, rounded to tens: turns are whole ticks. */
static unsigned int share(const struct event_times *times)
{
	return times->enabled ? (times->running * 100 / times->enabled + 5) / 10 * 10 : 0;
}

static void inherited_times(void)
{
	struct event_times times;
	u64 begin, passed;
	int fd = open_with(&(struct perf_event_attr) { .inherit = 1, .read_format = FORMAT_TIMES });

	begin = now_ns(CLOCK_MONOTONIC);
	event_enable(fd);
	in_child(one_loop);
	event_disable(fd);
	passed = now_ns(CLOCK_MONOTONIC) - begin;
	if (event_read_times(fd, &times))
		answer("time_enabled is %s the clock's time",
		       times.enabled > passed ? "more than" : "at most");
}

static void sleeping_task(void)
{
	struct event_times times;
	int fd = open_with(&(struct perf_event_attr) { .read_format = FORMAT_TIMES });

	event_enable(fd);
	usleep(20000);
	event_disable(fd);
	if (event_read_times(fd, &times))
		answer("time_enabled %s", times.enabled > 15000000 ? "continues" : "stops");
}

/* Open two events for each counter; answer with shares of the first and the last, and the sum. */
static void take_turns(u64 groups)
{
	unsigned int nr = 2 * pmu.group, i, j, sum = 0;
	struct perf_event_attr attr;
	struct event_times times;
	int fds[MANY];

	if (nr > MANY)
		return answer("more counters than the question has events");
	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	attr.disabled = 0;
	for (i = 0; i < nr; i++) {
		fds[i] = event_open(&attr, 0, -1, groups && i % 2 ? fds[i - 1] : -1, 0);
		if (fds[i] < 0)
			return answer_error("an event is refused:", fds[i]);
	}
	for (j = 0; j < ROUNDS; j++)
		one_loop();
	for (i = 0; i < nr; i++) {
		if (!event_read_times(fds[i], &times))
			return;
		sum += times.running * 100 / times.enabled;
		if (!i || i == nr - 1)
			answer("%s about %u percent", i ? "last" : "first", share(&times));
	}
	answer("counters in use about %u percent", (sum / pmu.group + 5) / 10 * 10);
}

/* Let two events that are not alike take turns. */
static void share_time(struct perf_event_attr *first, const char *its_name,
		       struct perf_event_attr *second, const char *name)
{
	struct event_times times;
	int fds[2], i;

	first->read_format = FORMAT_TIMES;
	first->disabled = 0;
	fds[0] = event_open(first, 0, -1, -1, 0);
	second->read_format = FORMAT_TIMES;
	second->disabled = 0;
	fds[1] = event_open(second, 0, -1, -1, 0);
	for (i = 0; i < ROUNDS; i++)
		one_loop();
	for (i = 0; i < 2; i++)
		if (event_read_times(fds[i], &times))
			answer("%s about %u percent", i ? name : its_name, share(&times));
}

static void exclusive_and_other(void)
{
	struct perf_event_attr exclusive = pmu.instructions, other = pmu.instructions;

	exclusive.exclusive = 1;
	share_time(&exclusive, "exclusive", &other, "other");
}

static void exclusive_and_pinned(void)
{
	struct perf_event_attr pinned = pmu.instructions, exclusive = pmu.instructions;

	pinned.pinned = 1;
	exclusive.exclusive = 1;
	share_time(&pinned, "pinned", &exclusive, "exclusive");
}

static void software_leader(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_TASK_CLOCK, .disabled = 1 };
	struct perf_event_attr member;
	int leader = event_open(&attr, 0, -1, -1, 0), fd;

	attr_instructions(&member);
	member.disabled = 0;
	fd = event_open(&member, 0, -1, leader, 0);
	answer_error("a member of this PMU:", fd);
	if (fd < 0)
		return;
	event_enable(leader);
	one_loop();
	answer_loops("counts", event_read(fd));
}

static void software_member(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_TASK_CLOCK };
	int leader = open_instructions(), fd;

	fd = event_open(&attr, 0, -1, leader, 0);
	answer_error("a member task-clock:", fd);
	if (fd < 0)
		return;
	event_enable(leader);
	one_loop();
	answer("it %s", event_read(fd) ? "counts" : "does not count");
}

static void group_too_large(void)
{
	struct event_times times;
	int fds[MANY];
	unsigned int nr = open_group(fds, MANY, FORMAT_TIMES);

	answer("%u events are accepted where %u fit", nr, pmu.group);
	if (nr <= pmu.group)
		return;
	event_enable(fds[0]);
	one_loop();
	event_disable(fds[0]);
	if (event_read_times(fds[0], &times))
		answer("time_running %s", times.running ? "continues" : "is 0");
}

static void times_of_error(void)
{
	struct perf_event_attr attr;
	struct event_times times;
	int fd;

	attr_instructions(&attr);
	attr.exclusive = 1;
	attr.pinned = 1;
	attr.disabled = 0;
	event_open(&attr, 0, -1, -1, 0);
	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	attr.disabled = 0;
	fd = event_open(&attr, 0, -1, -1, 0);
	for (unsigned int i = 0; i < ROUNDS; i++)
		one_loop();
	if (event_read_times(fd, &times))
		answer("time_enabled %s, time_running %s, count %s",
		       times.enabled ? "continues" : "is 0",
		       times.running ? "continues" : "is 0", times.count ? "not 0" : "0");
}

static const struct observation observations[] = {
	{ "time", "time_enabled of an inherited event, parent asleep while the child runs",
	  inherited_times },
	{ "time", "time_enabled of a task that sleeps", sleeping_task },
	{ "time", "shares of time of twice as many events as counters",
	  .look_at = take_turns, .value = false },
	{ "time", "shares of time of twice as many events as counters, in pairs",
	  .look_at = take_turns, .value = true },
	{ "time", "shares of time of an exclusive event and another", exclusive_and_other },
	{ "time", "shares of time of a pinned event and an exclusive one", exclusive_and_pinned },
	{ "time", "an event beside a pinned exclusive one", times_of_error },
	{ "time", "a software leader with a member of this PMU", software_leader },
	{ "time", "a leader of this PMU with a software member", software_member },
	{ "time", "a group of more events than counters", group_too_large },
};

const struct observation_list time_observations = { observations, ARRAY_SIZE(observations) };
