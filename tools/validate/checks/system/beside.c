// SPDX-License-Identifier: GPL-2.0-only
/*
 * beside.c - events next to others: opened and closed meanwhile, overflowing together, stopped
 * together
 */
#define _GNU_SOURCE
#include <time.h>

#include "judge/validate.h"

/*
 * When an event is added, perf core stops all events of the task, and starts them again, maybe on
 * other counters. This must not change their counts. The check closes the first event, which had
 * the best counter, and opens events of another type, one for each counter.
 */
static void come_and_go(void)
{
	struct event_times times = { 0 };
	struct perf_event_attr attr;
	int others[MANY], nr, kept, i;

	for (nr = 0; nr < (int)pmu.group - 1 && nr < MANY; nr++) {
		others[nr] = open_instructions();
		event_enable(others[nr]);
	}
	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	kept = open_event(&attr);
	event_enable(kept);
	for (i = 0; i < nr; i++) {
		known_loop(ITERATIONS / 10);
		close(others[i]);
		if ((pmu.has & NEED_CYCLES) && i % 2 == 0)
			attr_cycles(&attr);
		else
			attr_instructions(&attr);
		others[i] = event_open_self(&attr, -1);
		if (others[i] < 0)
			return;
		event_enable(others[i]);
		known_loop(ITERATIONS / 10);
	}
	event_disable(kept);
	event_read_times(kept, &times);
	/* A round has a few system calls, with some tens of instructions in user space. */
	expect_range("instructions while others came and went", nr * LOOP / 5,
		     nr * LOOP / 5 + count_slack(nr * LOOP / 5) + nr * 1000, times.count);
	expect_eq("time running of an event that there is always room for", times.enabled,
		  times.running);
	close_all(others, nr);
	close(kept);
}

/* Open two enabled events of the PMU's CPU. Return true if both were opened. */
static bool open_two_of_cpu(int *fds, struct perf_event_attr *attr)
{
	attr->disabled = 0;
	for (int i = 0; i < 2; i++) {
		fds[i] = event_open(attr, -1, pmu.cpu, -1, 0);
		if (!expect_true("an event of a CPU opens", fds[i] >= 0))
			return false;
	}
	return true;
}

/*
 * Per-CPU events keep running when perf core adds a task's events: perf core stops only events of
 * the same task. So the driver itself must move a running event to make room. The check closes the
 * first event, which had the best counter, before it opens the task's event.
 */
static void cpu_beside_task(void)
{
	struct perf_event_attr attr;
	int of_cpu[2], own;

	run_on(pmu.cpu);
	attr_instructions(&attr);
	if (!open_two_of_cpu(of_cpu, &attr))
		return;
	known_loop(ITERATIONS);
	close(of_cpu[0]);
	known_loop(ITERATIONS);
	own = open_instructions();
	event_enable(own);
	known_loop(ITERATIONS);
	event_disable(of_cpu[1]);
	event_disable(own);
	/* The event of the CPU also counts other tasks. */
	expect_range("instructions of the CPU", 3 * LOOP, 100 * LOOP, event_read(of_cpu[1]));
	expect_count("instructions of the task since its event came", LOOP, event_read(own));
	close(own);
	close(of_cpu[1]);
}

/* Check that every event was on a counter for all of its enabled time. */
static bool all_run(const int *fds, int nr)
{
	struct event_times times = { 0 };
	bool all = true;

	for (int i = 0; i < nr; i++)
		all &= event_read_times(fds[i], &times) && times.running == times.enabled;
	return all;
}

/* Open @nr enabled events of this task. Return true if all were opened. */
static bool open_enabled(int *fds, int nr, struct perf_event_attr attr)
{
	attr.read_format = FORMAT_TIMES;
	attr.disabled = 0;
	for (int i = 0; i < nr; i++) {
		fds[i] = event_open_self(&attr, -1);
		if (fds[i] < 0) {
			close_all(fds, i);
			return false;
		}
	}
	return true;
}

/* Return how many events of this task can count all the time. */
static int room_for(const struct perf_event_attr *attr)
{
	int fds[MANY], nr = 0;
	bool all = true;

	while (all && nr < MANY && open_enabled(fds, nr + 1, *attr)) {
		known_loop(1000);
		all = all_run(fds, nr + 1);
		nr += all;
		close_all(fds, nr + !all);
	}
	return nr;
}

/* Rounds of the loop before and after the move of the event */
#define ROUNDS		10

/*
 * An event may have a counter that takes no other event. Of two such events, one is on that
 * counter, and the other on a counter that others could use. If the first is closed and the other
 * is moved, one more of the others fits. The two events belong to the CPU, so that they keep
 * running when the task's events are added.
 */
static void room_by_moving(struct perf_event_attr *moving, const struct perf_event_attr *others,
			   unsigned int each)
{
	const u64 whole = ROUNDS * ITERATIONS * each;
	struct event_times times = { 0 };
	int of_cpu[2], own[MANY], nr, fd, i;
	u64 once;

	run_on(pmu.cpu);
	nr = room_for(others);
	fd = event_open_self(moving, -1);
	once = event_count_loop(fd, ITERATIONS);
	close(fd);
	if (!open_two_of_cpu(of_cpu, moving) || !open_enabled(own, nr - 1, *others))
		return;
	known_loop(ITERATIONS);
	if (!all_run(own, nr - 1)) {
		ktap_skip("the event has no separate counter, or another event has it");
		close_all(own, nr - 1);
		close_all(of_cpu, 2);
		return;
	}
	close_all(own, nr - 1);
	close(of_cpu[0]);
	for (i = 0; i < ROUNDS; i++)
		known_loop(ITERATIONS);
	if (!open_enabled(own, nr, *others))
		return;
	for (i = 0; i < ROUNDS; i++)
		known_loop(ITERATIONS);
	expect_true("every event has a counter all the time", all_run(own, nr));
	/* Includes other tasks. A move that lost counts would halve the number. */
	expect_range("count of the CPU's event", once * ROUNDS * 3 / 2, once * ROUNDS * 100,
		     event_read(of_cpu[1]));
	event_read_times(own[nr - 1], &times);
	expect_range("count of the task's last event", whole,
		     whole + count_slack(whole) + nr * 1000, times.count);
	close_all(own, nr);
	close(of_cpu[1]);
}

static void cycles_move(void)
{
	struct perf_event_attr moving, others;

	attr_cycles(&moving);
	attr_instructions(&others);
	room_by_moving(&moving, &others, LOOP_INSNS);
}

static void instructions_move(void)
{
	struct perf_event_attr moving, others;
	int fd;

	attr_instructions(&moving);
	attr_branches(&others);
	fd = event_open(&others, 0, -1, -1, 0);
	if (fd < 0) {
		ktap_skip("the PMU counts no branches by their generic event: %s", strerror(-fd));
		return;
	}
	close(fd);
	room_by_moving(&moving, &others, 1);
}

#define PERIOD	20011

/* Results of a group of sampling events of instructions with the same period */
struct together {
	int nr;
	unsigned int throttles;
	unsigned int samples[MANY];
	u64 counts[MANY];
};

/*
 * Sample with the largest group. All events count the same instructions, and so overflow at the
 * same instruction. Return true if the group was opened.
 */
static bool sample_together(u64 period, struct together *all)
{
	static struct ring rings[MANY];
	struct perf_event_attr attr;
	int fds[MANY] = { -1 }, i;

	memset(all, 0, sizeof(*all));
	for (; all->nr < (int)pmu.group && all->nr < MANY; all->nr++) {
		attr_sampling(&attr, period, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD);
		attr.disabled = !all->nr;
		fds[all->nr] = event_open_self(&attr, all->nr ? fds[0] : -1);
		if (fds[all->nr] < 0 || ring_map(&rings[all->nr], fds[all->nr], 16))
			return false;
	}
	event_run_loop(fds[0], 2 * ITERATIONS);
	for (i = 0; i < all->nr; i++) {
		struct ring_sum sum = { 0 };

		ring_drain(&rings[i], &attr, &sum);
		ring_unmap(&rings[i]);
		all->throttles += sum.throttles;
		all->samples[i] = sum.samples;
		all->counts[i] = event_read(fds[i]);
	}
	close_all(fds, all->nr);
	return true;
}

/*
 * A throttled event does not count until the next tick; on newer kernels its whole group does not.
 * If this happens, the check repeats with a longer period.
 */
static void overflow_together(void)
{
	u64 period = PERIOD;
	struct together all;
	bool opened;

	while ((opened = sample_together(period, &all)) && all.throttles && period < LOOP / 20)
		period *= 2;
	if (!opened)
		return;
	for (int i = 0; i < all.nr; i++) {
		expect_range("count of each", all.throttles ? period : 2 * LOOP,
			     2 * LOOP + count_slack(2 * LOOP) + 1000, all.counts[i]);
		if (!all.throttles)
			expect_samples("samples of each", all.counts[i], period, 1, 1,
				       all.samples[i]);
	}
	if (all.throttles)
		ktap_skip("the kernel throttles twenty samples of each event");
}

/* Sample a loop on the next counter. The kernel may throttle the event. */
static void sample_loop(u64 period, struct ring_sum *sum)
{
	struct perf_event_attr attr;
	static struct ring ring;
	int fd;

	attr_sampling(&attr, period, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD);
	fd = open_sampling(&ring, &attr, 16);
	event_run_loop(fd, ITERATIONS / 2);
	memset(sum, 0, sizeof(*sum));
	ring_drain(&ring, &attr, sum);
	close_sampling(&ring, fd);
}

/*
 * A driver may handle a counter's overflow only if another counter interrupts. Each round opens one
 * more counting event before the sampling event, so that the sampling event gets another counter.
 * If the kernel throttles it, the check repeats with a longer period.
 */
static void samples_alone(void)
{
	struct ring_sum sum = { 0 };
	int fds[MANY], nr, i, judged = 0;

	for (nr = 0; nr < (int)pmu.group && nr < MANY; nr++) {
		u64 period = PERIOD;

		for (i = 0; i < nr; i++) {
			fds[i] = open_instructions();
			event_enable(fds[i]);
		}
		sample_loop(period, &sum);
		while (sum.throttles && period < LOOP / 20) {
			period *= 2;
			sample_loop(period, &sum);
		}
		close_all(fds, nr);
		if (sum.throttles)
			continue;
		judged++;
		expect_range("samples of the last event", LOOP / 2 / period - 1,
			     LOOP / 2 / period + 1, sum.samples);
	}
	if (!judged)
		ktap_skip("the kernel throttles ten samples of a loop");
}

/*
 * The events count user space and kernel. So kernel instructions between the stops of two events
 * would be in one count and not in the other. The PMU is stopped by a context switch, by the
 * opening of another event, and by an overflow of the leader. A few instructions are allowed for
 * each stop: with icount if no register stops all counters at once, otherwise less than the stop of
 * a single event takes.
 */
#define STOPS		200
#define BETWEEN		16

static void same_instructions(void)
{
	const struct timespec nap = { .tv_nsec = 100000 };
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	u64 first, slack;
	static struct ring ring;
	int fds[MANY] = { -1 }, nr, i;

	for (nr = 0; nr < (int)pmu.group && nr < MANY; nr++) {
		attr_instructions(&attr);
		attr.exclude_kernel = 0;
		attr.disabled = !nr;
		if (!nr) {
			attr.sample_period = PERIOD;
			attr.sample_type = PERF_SAMPLE_IP;
		}
		fds[nr] = event_open_self(&attr, nr ? fds[0] : -1);
		if (fds[nr] < 0 || (!nr && ring_map(&ring, fds[0], 16))) {
			close_all(fds, nr);
			return;
		}
	}
	event_enable(fds[0]);
	for (i = 0; i < STOPS; i++) {
		known_loop(ITERATIONS / 100);
		nanosleep(&nap, NULL);
	}
	event_disable(fds[0]);
	first = event_read(fds[0]);
	slack = (pmu.exact ? arch_group_slack() : BETWEEN) * (2 * STOPS + first / PERIOD);
	ring_drain(&ring, &attr, &sum);
	if (sum.throttles) {
		/* Before Linux 6.16 perf core stops the leader alone, and the members count on. */
		ktap_skip("the kernel throttles the leader");
	} else {
		expect_range("instructions of the leader", STOPS * LOOP / 100, 1000 * LOOP, first);
		for (i = 1; i < nr; i++)
			expect_near("instructions of a member", first, slack, event_read(fds[i]));
	}
	ring_unmap(&ring);
	close_all(fds, nr);
}

static const struct check checks[] = {
	{ "count", "opening other events changes no count", COUNTED, come_and_go, NEED_GROUPS,
	  ON_USER | ON_COUNTERS },
	{ "count", "adding a task's event changes no count of a CPU's event", COUNTED,
	  cpu_beside_task, NEED_CPU_WIDE | NEED_GROUPS, ON_USER | ON_COUNTERS },
	{ "multiplex", "an event is moved to make room for another", MULTIPLEXED, cycles_move,
	  NEED_GROUPS | NEED_CYCLES | NEED_CPU_WIDE, ON_USER },
	{ "multiplex", "an event of instructions is moved to make room for branches", MULTIPLEXED,
	  instructions_move, NEED_GROUPS | NEED_CPU_WIDE, ON_USER | ON_BRANCHES },
	{ "sample", "a group that overflows together", PERIODS, overflow_together,
	  NEED_SAMPLING | NEED_GROUPS, ON_USER | ON_COUNTERS | ON_OVERFLOWS },
	{ "sample", "samples on every counter by itself", PERIODS, samples_alone, NEED_SAMPLING,
	  ON_USER | ON_COUNTERS | ON_OVERFLOWS },
	{ "group", "members count the same instructions",
	  MAN "\"the values of the member events can be meaningfully compared [...] since they have counted events for the same set of executed instructions.\"",
	  same_instructions, NEED_SAMPLING | NEED_KERNEL | NEED_GROUPS, ON_USER | ON_COUNTERS },
};

const struct check_list beside_checks = { checks, ARRAY_SIZE(checks) };
