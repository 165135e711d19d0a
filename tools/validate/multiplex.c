// SPDX-License-Identifier: GPL-2.0-only
/*
 * multiplex.c - more events than counters, pinned and exclusive events
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>

#include "validate.h"

/* As many single events as it takes to fill all counters, and more. */
static int open_many(int *fds, int nr)
{
	struct perf_event_attr attr;
	int i;

	for (i = 0; i < nr; i++) {
		attr_instructions(&attr);
		attr.read_format = FORMAT_TIMES;
		fds[i] = event_open_self(&attr, -1);
		if (fds[i] < 0)
			break;
	}
	return i;
}

static int by_value(const void *a, const void *b)
{
	const u64 *first = a, *second = b;

	return *first < *second ? -1 : *first > *second;
}

/*
 * What each of some that share counters gets at least. Whose turn it is when a host takes the CPU
 * away has all of that time; elsewhere than on a clock of instructions nothing but a turn is sure.
 */
static u64 least_turn(u64 share)
{
	return pmu.exact ? share : 1;
}

/*
 * Turns go by a clock, counts by instructions. Where the clock counts instructions each scaled
 * count is near the truth. Elsewhere a CPU does now more and now less in a turn, and a virtual
 * one's host may take it away for several turns of one event: the scaled counts are estimates,
 * which scatter as the machine likes, and their median alone is looked at. What does not depend
 * on the clock: every instruction is counted by as many events as were on counters, so that all
 * counts together are that many times the truth; and no event counts what was not executed.
 */
static void check_turns(const char *what, const int *fds, int nr, u64 whole)
{
	u64 scaled[2 * MANY + 2], sum = 0, most = whole + count_slack(whole);
	struct event_times times;
	double on = 0;
	int i, waited = 0, ran = 0, counters;

	for (i = 0; i < nr; i++) {
		if (!event_read_times(fds[i], &times))
			continue;
		if (!expect_range("time running", least_turn(times.enabled / 20), times.enabled,
				  times.running))
			continue;
		waited += times.running < times.enabled;
		on += (double)times.running / times.enabled;
		sum += times.count;
		scaled[ran] = (double)times.count * times.enabled / times.running;
		if (pmu.exact)
			expect_range(what, whole - whole / 4, whole + whole / 4, scaled[ran]);
		else
			expect_range("count of one event, not scaled", 1, most, times.count);
		ran++;
	}
	expect_range("events that had to wait", 1, nr, waited);
	if (pmu.exact || !ran)
		return;
	qsort(scaled, ran, sizeof(*scaled), by_value);
	expect_range(what, whole - whole / 5 * 3, whole + whole / 5 * 3, scaled[ran / 2]);
	/* A whole number, unless others took counters now and then: of the PMU, or of its CPU. */
	counters = on + 0.5;
	if (ran == nr && on > counters - 0.1 && on < counters + 0.1)
		expect_range("counts of all events", counters * (whole - whole / 20),
			     counters * (most + whole / 20), sum);
	else
		ktap_diag("%.2f of %d events were on counters: their sum is not judged", on, nr);
}

static void turns(void)
{
	int nr = 2 * pmu.group + 2, fds[2 * MANY + 2], i, j;
	u64 start;

	nr = open_many(fds, nr);
	for (i = 0; i < nr; i++)
		event_enable(fds[i]);
	start = now_ns(CLOCK_MONOTONIC);
	i = 0;
	do {
		known_loop(ITERATIONS);
		i++;
	} while (now_ns(CLOCK_MONOTONIC) - start < 400000000);
	for (j = 0; j < nr; j++)
		event_disable(fds[j]);
	check_turns("scaled count", fds, nr, i * LOOP);
	close_all(fds, nr);
	expect_sane();
}

/* Any of them fits and no two together do: one is on, always, and takes turns with the others. */
static void groups_take_turns(void)
{
	u64 start, begin, running = 0, longest = 0;
	int fds[3][MANY], nr[3], g, i;
	struct event_times times;

	for (g = 0; g < 3; g++)
		nr[g] = open_group(fds[g], pmu.group - 1, FORMAT_TIMES);
	begin = now_ns(CLOCK_MONOTONIC);
	for (g = 0; g < 3; g++)
		event_enable(fds[g][0]);
	start = now_ns(CLOCK_MONOTONIC);
	do {
		known_loop(ITERATIONS);
	} while (now_ns(CLOCK_MONOTONIC) - start < 300000000);
	for (g = 0; g < 3; g++)
		event_disable(fds[g][0]);
	begin = now_ns(CLOCK_MONOTONIC) - begin;
	for (g = 0; g < 3; g++) {
		u64 first = 0;

		for (i = 0; i < nr[g]; i++) {
			event_read_times(fds[g][i], &times);
			expect_range("time running of a group", least_turn(times.enabled / 10),
				     times.enabled, times.running);
			if (!i) {
				first = times.count;
				running += times.running;
				longest = times.enabled > longest ? times.enabled : longest;
			}
			/* On and off together, many times. */
			expect_range("count of a member", first - first / 1000 - 1000,
				     first + first / 1000 + 1000, times.count);
		}
		close_all(fds[g], nr[g]);
	}
	/* Between two turns there is a moment without any, and the two clocks are not one. */
	expect_range("time running of all groups", longest - longest / 20, begin + begin / 100,
		     running);
}

static void pinned_ends(void)
{
	struct perf_event_attr attr;
	int fds[MANY], nr, fd;
	u64 value;

	attr_instructions(&attr);
	attr.pinned = 1;
	for (nr = 0; nr < (int)pmu.group + 4 && nr < MANY; nr++) {
		fds[nr] = event_open_self(&attr, -1);
		if (fds[nr] < 0)
			break;
		event_enable(fds[nr]);
	}
	known_loop(1000);
	fd = nr ? fds[nr - 1] : -1;
	expect_eq("a read of a pinned event that finds no counter", 0,
		  read(fd, &value, sizeof(value)));
	expect_range("count of the first pinned event", 1000, 100000000, event_read(fds[0]));
	close_all(fds, nr);
	expect_sane();
}

static void pinned_stays(void)
{
	int nr = pmu.group + 2, fds[MANY + 2], i, pinned;
	struct event_times times = { 0 };
	struct perf_event_attr attr;

	attr_instructions(&attr);
	attr.pinned = 1;
	attr.read_format = FORMAT_TIMES;
	pinned = event_open_self(&attr, -1);
	if (pinned < 0)
		return;
	nr = open_many(fds, nr);
	event_enable(pinned);
	for (i = 0; i < nr; i++)
		event_enable(fds[i]);
	known_loop(30 * ITERATIONS);
	event_disable(pinned);
	event_read_times(pinned, &times);
	expect_eq("time running of a pinned event", times.enabled, times.running);
	expect_range("its count", 30 * LOOP, 31 * LOOP, times.count);
	close_all(fds, nr);
	close(pinned);
}

static void exclusive_alone(void)
{
	struct event_times one = { 0 }, other = { 0 };
	struct perf_event_attr attr;
	int exclusive, fd;
	u64 start;

	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	fd = event_open_self(&attr, -1);
	attr.exclusive = 1;
	exclusive = event_open_self(&attr, -1);
	if (fd < 0 || exclusive < 0)
		return;
	event_enable(fd);
	event_enable(exclusive);
	start = now_ns(CLOCK_MONOTONIC);
	do {
		known_loop(ITERATIONS);
	} while (now_ns(CLOCK_MONOTONIC) - start < 200000000);
	event_disable(exclusive);
	event_disable(fd);
	event_read_times(exclusive, &one);
	event_read_times(fd, &other);
	/* The other was enabled first and disabled last. */
	expect_range("time running of both together", 1, other.enabled + other.enabled / 20,
		     one.running + other.running);
	close(exclusive);
	close(fd);
}

static const struct check checks[] = {
	{ "multiplex", "twice as many events as counters",
	  MAN "time_running: the count can be scaled when events share counters", turns },
	{ "multiplex", "groups take turns", SCHEDULED, groups_take_turns, NEED_GROUPS },
	{ "multiplex", "pinned without a counter reads as end of file",
	  MAN "pinned: if it cannot be put onto the CPU, reads return end-of-file", pinned_ends },
	{ "multiplex", "pinned never waits",
	  MAN "pinned: the counter should always be on the CPU if at all possible", pinned_stays },
	{ "multiplex", "exclusive runs alone",
	  MAN "exclusive: it should be the only group using the CPU's counters", exclusive_alone },
};

const struct check_list multiplex_checks = { checks, ARRAY_SIZE(checks) };
