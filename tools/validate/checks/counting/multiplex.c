// SPDX-License-Identifier: GPL-2.0-only
/*
 * multiplex.c - more events than counters, pinned and exclusive events
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>

#include "judge/validate.h"

/* Open @nr single events, more than there are counters. Return the number of opened events. */
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

/*
 * Return the minimum running time of an event that shares counters. If a host takes the CPU away,
 * the running event gets all of that time. So unless the clock counts instructions, the only
 * certainty is that each event has a turn.
 */
static u64 least_turn(u64 share)
{
	return pmu.exact ? share : 1;
}

/* Work in equal pieces, and the duration of each piece */
#define PIECES		16384
#define PIECE_NS	50000

static struct {
	unsigned long iterations;
	u64 ns[PIECES];
	u64 total;
	unsigned int nr;
} work;

static void work_for(u64 ns)
{
	u64 start = now_ns(CLOCK_MONOTONIC), last = start, now;

	do {
		known_loop(work.iterations);
		now = now_ns(CLOCK_MONOTONIC);
		work.ns[work.nr++] = now - last;
		last = now;
	} while (last - start < ns && work.nr < PIECES);
	work.total = last - start;
}

/* Choose the iterations of a piece so that it takes PIECE_NS if no other task takes the CPU. */
static void choose_pieces(void)
{
	u64 start, took, best = ~0ULL;

	for (int i = 0; i < 20; i++) {
		start = now_ns(CLOCK_MONOTONIC);
		known_loop(ITERATIONS / 100);
		took = now_ns(CLOCK_MONOTONIC) - start;
		if (took < best)
			best = took ?: 1;
	}
	work.iterations = ITERATIONS / 100 * PIECE_NS / best + 1;
}

static int by_value(const void *a, const void *b)
{
	const u64 *first = a, *second = b;

	return *first < *second ? -1 : *first > *second;
}

/* Return how many instructions the fastest, or the slowest, pieces of the work execute in @ns. */
static u64 work_in(u64 ns, bool slowest)
{
	double pieces = 0;

	for (unsigned int i = 0; i < work.nr && ns; i++) {
		u64 took = work.ns[slowest ? work.nr - 1 - i : i];
		u64 part = took < ns ? took : ns;

		pieces += (double)part / took;
		ns -= part;
	}
	return pieces * work.iterations * LOOP_INSNS;
}

/*
 * Check the count of an event that ran in turns. Turns depend on time, counts on instructions. If
 * the clock counts instructions, each scaled count is near the truth. Otherwise a CPU executes
 * varying numbers of instructions in a turn, and a host may take it away for several turns. Then
 * scaled counts scatter, and prove nothing about the driver. But the check knows the duration of
 * each piece of the work. In its running time the event counts at least what the slowest pieces
 * execute, and at most what the fastest pieces execute. A turn may begin and end within a piece:
 * this adds two pieces per turn. sysfs has the length of a turn; only a turn after a late one is
 * shorter.
 */
static void check_luck(const struct event_times *times)
{
	long turn_ms = 1;
	char path[256];
	u64 outside, slack, low, high;

	if (pmu.name) {
		snprintf(path, sizeof(path),
			 "/sys/bus/event_source/devices/%s/perf_event_mux_interval_ms", pmu.name);
		turn_ms = read_number(path);
	}
	if (turn_ms < 1)
		turn_ms = 1;
	slack = 2 * work.iterations * LOOP_INSNS * (times->enabled / 1000000 / turn_ms + 2);
	/* No work was done before the first piece and after the last one. */
	outside = times->enabled > work.total ? times->enabled - work.total : 0;
	low = work_in(times->running > outside ? times->running - outside : 0, true);
	high = work_in(times->running, false) + slack;
	expect_range("count of an event in its turns", low > slack ? low - slack : 0,
		     high + high / 50, times->count);
}

/*
 * With any clock, each instruction is counted by all events on counters. So the sum of all counts
 * is the number of instructions times the number of events on counters.
 */
static void check_sum(double on, u64 sum, u64 whole)
{
	int counters = on + 0.5;

	/* Skip this if other events of the PMU or the CPU took counters at times. */
	if (on > counters - 0.1 && on < counters + 0.1)
		expect_range("counts of all events", counters * (whole - whole / 20),
			     counters * (whole + whole / 20), sum);
	else
		ktap_diag("%.2f events were on counters: their sum is not judged", on);
}

static void check_turns(const int *fds, int nr, u64 whole)
{
	struct event_times times;
	int i, waited = 0;
	double on = 0;
	u64 sum = 0;

	qsort(work.ns, work.nr, sizeof(*work.ns), by_value);
	for (i = 0; i < nr; i++) {
		if (!event_read_times(fds[i], &times))
			return;
		/* At least half of the event's share */
		if (!expect_part("time running", least_turn(times.enabled / 2 * pmu.group / nr),
				 "time enabled", times.enabled, times.running))
			return;
		waited += times.running < times.enabled;
		on += (double)times.running / times.enabled;
		sum += times.count;
		if (pmu.exact)
			expect_range("scaled count", whole - whole / 50, whole + whole / 50,
				     (double)times.count * times.enabled / times.running);
		else
			check_luck(&times);
	}
	expect_part("events that had to wait", 1, "events", nr, waited);
	check_sum(on, sum, whole);
}

static void turns(void)
{
	int nr = 2 * pmu.group + 2, fds[2 * MANY + 2], i;

	choose_pieces();
	nr = open_many(fds, nr);
	for (i = 0; i < nr; i++)
		event_enable(fds[i]);
	work_for(400000000);
	for (i = 0; i < nr; i++)
		event_disable(fds[i]);
	check_turns(fds, nr, work.nr * work.iterations * LOOP_INSNS);
	close_all(fds, nr);
	expect_sane();
}

/* Groups of the same size, of which not all fit, take turns; at any time as many run as fit. */
static void take_turns(int groups, int size)
{
	u64 start, begin, running = 0, longest = 0, on = pmu.group / size, whole = 0;
	struct event_times times;
	int fds[4][MANY], g, i;

	for (g = 0; g < groups; g++)
		expect_eq("events of a group", size, open_group(fds[g], size, FORMAT_TIMES));
	begin = now_ns(CLOCK_MONOTONIC);
	for (g = 0; g < groups; g++)
		event_enable(fds[g][0]);
	start = now_ns(CLOCK_MONOTONIC);
	do {
		known_loop(ITERATIONS);
		whole += LOOP;
	} while (now_ns(CLOCK_MONOTONIC) - start < 300000000);
	for (g = 0; g < groups; g++)
		event_disable(fds[g][0]);
	begin = now_ns(CLOCK_MONOTONIC) - begin;
	for (g = 0; g < groups; g++) {
		u64 first = 0;

		for (i = 0; i < size; i++) {
			event_read_times(fds[g][i], &times);
			expect_part("time running of a group",
				    least_turn(times.enabled / 2 * on / groups), "time enabled",
				    times.enabled, times.running);
			if (!i) {
				first = times.count;
				running += times.running;
				longest = times.enabled > longest ? times.enabled : longest;
				if (pmu.exact && times.running)
					expect_range("scaled count of a group", whole - whole / 50,
						     whole + whole / 50, (double)first *
						     times.enabled / times.running);
			}
			/* The members start and stop together, many times. */
			expect_near("count of a member", first,
				    pmu.exact ? 0 : first / 1000 + 1000, times.count);
		}
		close_all(fds[g], size);
	}
	/* No group runs between two turns, and the two clocks differ. */
	expect_range("time running of all groups", on * (longest - longest / 20),
		     on * (begin + begin / 100), running);
}

static void groups_take_turns(void)
{
	take_turns(3, pmu.group);
	take_turns(3, pmu.group - 1);
	if (pmu.group >= 4)
		take_turns(4, pmu.group / 2);
}

/*
 * A CPU's events get counters before a task's events, and both take turns. If there is one counter,
 * the CPU's event keeps it. NEED_GROUPS skips that case.
 */
static void cpu_and_task(void)
{
	int nr, half = pmu.group / 2 + 1, fds[MANY + 2], i;
	struct perf_event_attr attr;

	run_on(pmu.cpu);
	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	for (i = 0; i < half; i++) {
		fds[i] = event_open(&attr, -1, pmu.cpu, -1, 0);
		if (!expect_true("an event of a CPU opens", fds[i] >= 0)) {
			close_all(fds, i);
			return;
		}
	}
	nr = half + open_many(fds + half, half);
	for (i = 0; i < nr; i++)
		event_enable(fds[i]);
	choose_pieces();
	work_for(200000000);
	for (i = 0; i < nr; i++) {
		u64 whole = work.nr * work.iterations * LOOP_INSNS;
		struct event_times times = { 0 };

		event_disable(fds[i]);
		event_read_times(fds[i], &times);
		if (expect_part("time running", 1, "time enabled", times.enabled, times.running) &&
		    pmu.exact)
			expect_range("scaled count", whole - whole / 50, whole + whole / 50,
				     (double)times.count * times.enabled / times.running);
	}
	close_all(fds, nr);
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
	expect_range("count of the first pinned event", 1000 * LOOP_INSNS, 100000000,
		     event_read(fds[0]));
	/* The event leaves its error state if it is enabled when there is room. */
	close_all(fds, nr - 1);
	event_disable(fd);
	event_run_loop(fd, 1000);
	expect_range("count of the pinned event when the others are closed", 1000 * LOOP_INSNS,
		     100000000, event_read(fd));
	close(fd);
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
	pinned = open_event(&attr);
	nr = open_many(fds, nr);
	event_enable(pinned);
	for (i = 0; i < nr; i++)
		event_enable(fds[i]);
	known_loop(30 * ITERATIONS);
	event_disable(pinned);
	event_read_times(pinned, &times);
	expect_eq("time running of a pinned event", times.enabled, times.running);
	expect_range("its count", 30 * LOOP, pmu.exact ? 30 * LOOP + 5000 : 31 * LOOP,
		     times.count);
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
	/* The other event was enabled first and disabled last. */
	expect_range("time running of both together", pmu.exact ? other.enabled / 10 * 9 : 1,
		     other.enabled + other.enabled / 20, one.running + other.running);
	close(exclusive);
	close(fd);
}

static const struct check checks[] = {
	{ "multiplex", "twice as many events as counters",
	  MAN "\"In that case the events run only part of the time and the time_enabled and time running values can be used to scale an estimated value for the count.\"",
	  turns, 0, ON_USER | ON_COUNTERS },
	{ "multiplex", "groups take turns", SCHEDULED, groups_take_turns, NEED_GROUPS,
	  ON_COUNTERS },
	{ "multiplex", "events of a CPU and of a task take turns",
	  MAN "\"In that case the events run only part of the time\"",
	  cpu_and_task, NEED_CPU_WIDE | NEED_GROUPS, ON_COUNTERS },
	{ "multiplex", "pinned without a counter reads as end of file",
	  MAN "\"If a pinned counter cannot be put onto the CPU (e.g., because there are not enough hardware counters or because of a conflict with some other event), then the counter goes into an 'error' state, where reads return end-of-file (i.e., read(2) returns 0) until the counter is subsequently enabled or disabled.\"",
	  pinned_ends, 0, ON_USER },
	{ "multiplex", "pinned never waits",
	  MAN "\"The pinned bit specifies that the counter should always be on the CPU if at all possible.\"",
	  pinned_stays, 0, ON_USER },
	{ "multiplex", "exclusive runs alone",
	  MAN "\"The exclusive bit specifies that when this counter's group is on the CPU, it should be the only group using the CPU's counters.\"",
	  exclusive_alone },
};

const struct check_list multiplex_checks = { checks, ARRAY_SIZE(checks) };
