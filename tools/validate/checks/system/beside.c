// SPDX-License-Identifier: GPL-2.0-only
/*
 * beside.c - events beside others: that come and go, that overflow together, that are stopped
 * in the kernel together
 */
#define _GNU_SOURCE
#include <time.h>

#include "judge/validate.h"

/*
 * Each time one comes all are stopped, and started on a counter that may be another: it goes on as
 * if nothing had been. Here the first event is closed, which had the best counter, and another kind
 * comes, once for each counter.
 */
static void come_and_go(void)
{
	struct event_times times = { 0 };
	struct perf_event_attr attr;
	int others[MANY], nr, kept, i;

	for (nr = 0; nr < (int)pmu.group - 1 && nr < MANY; nr++) {
		others[nr] = open_instructions();
		if (others[nr] < 0)
			return;
		event_enable(others[nr]);
	}
	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	kept = event_open_self(&attr, -1);
	if (kept < 0)
		return;
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
	/* Some system calls in a round, of some tens of instructions in user space. */
	expect_range("instructions while others came and went", nr * LOOP / 5,
		     nr * LOOP / 5 + count_slack(nr * LOOP / 5) + nr * 1000, times.count);
	expect_eq("time running of an event that there is always room for", times.enabled,
		  times.running);
	close_all(others, nr);
	close(kept);
}

/* Open two events of the PMU's CPU, enabled. Returns whether both were opened. */
static bool open_two_of_cpu(int *fds, struct perf_event_attr *attr)
{
	int i;

	attr->disabled = 0;
	for (i = 0; i < 2; i++) {
		fds[i] = event_open(attr, -1, pmu.cpu, -1, 0);
		if (!expect_true("an event of a CPU opens", fds[i] >= 0))
			return false;
	}
	return true;
}

/*
 * Events of a CPU run on when those of a task come, which perf core does not do to events of the
 * same task: it stops them all first. So this is where a running event is moved. The first event,
 * which had the best counter, is gone when the task's comes.
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
	/* Of other tasks, too. */
	expect_range("instructions of the CPU", 3 * LOOP, 100 * LOOP, event_read(of_cpu[1]));
	expect_count("instructions of the task since its event came", LOOP, event_read(own));
	close(own);
	close(of_cpu[1]);
}

/* Whether every event has been on a counter for all the time that it was enabled. */
static bool all_run(const int *fds, int nr)
{
	struct event_times times = { 0 };
	bool all = true;
	int i;

	for (i = 0; i < nr; i++)
		all &= event_read_times(fds[i], &times) && times.running == times.enabled;
	return all;
}

/* Open @nr events of instructions of this task, enabled. Returns whether all were opened. */
static bool open_enabled(int *fds, int nr)
{
	struct perf_event_attr attr;
	int i;

	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	attr.disabled = 0;
	for (i = 0; i < nr; i++) {
		fds[i] = event_open_self(&attr, -1);
		if (fds[i] < 0) {
			close_all(fds, i);
			return false;
		}
	}
	return true;
}

/* How often the loop is run before and after the event is moved. */
#define ROUNDS		10

/*
 * Cycles may have a counter that nothing else can be on. Of two events of cycles one is there, the
 * other on a counter that instructions could use. When the first is closed there is room for one
 * more of instructions, if the other is moved. They are of the CPU, whose events run on while those
 * of a task come, and instructions are of the task.
 */
static void room_by_moving(void)
{
	int nr = pmu.group < MANY ? pmu.group : MANY;
	struct perf_event_attr attr;
	struct event_times times = { 0 };
	int of_cpu[2], own[MANY], fd, i;
	u64 cycles;

	run_on(pmu.cpu);
	attr_cycles(&attr);
	fd = event_open_self(&attr, -1);
	cycles = event_count_loop(fd, ITERATIONS);
	close(fd);
	if (!open_two_of_cpu(of_cpu, &attr) || !open_enabled(own, nr - 1))
		return;
	known_loop(ITERATIONS);
	if (!all_run(own, nr - 1)) {
		ktap_skip("cycles have no counter of their own, or another event has it");
		return;
	}
	close_all(own, nr - 1);
	close(of_cpu[0]);
	for (i = 0; i < ROUNDS; i++)
		known_loop(ITERATIONS);
	if (!open_enabled(own, nr))
		return;
	for (i = 0; i < ROUNDS; i++)
		known_loop(ITERATIONS);
	expect_true("no event waits for a counter when there is one for each", all_run(own, nr));
	/* Of other tasks, too; without those of before or after it was moved it is half of them. */
	expect_range("cycles of the CPU", cycles * ROUNDS * 3 / 2, cycles * ROUNDS * 100,
		     event_read(of_cpu[1]));
	event_read_times(own[nr - 1], &times);
	expect_range("instructions of the task's last event", ROUNDS * LOOP,
		     ROUNDS * LOOP + count_slack(ROUNDS * LOOP) + nr * 1000, times.count);
	close_all(own, nr);
	close(of_cpu[1]);
}

#define PERIOD	20011

/* What events of a group did that sample instructions, all with one period */
struct together {
	int nr;
	unsigned int throttles;
	unsigned int samples[MANY];
	u64 counts[MANY];
};

/*
 * A group of as many as there is room for. They count the same from the same instruction on, and so
 * overflow at the same one. Returns whether it opened.
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
	event_enable(fds[0]);
	known_loop(2 * ITERATIONS);
	event_disable(fds[0]);
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
 * An event that the kernel has throttled counts nothing until the next tick; on newer kernels its
 * whole group does not. The period is a longer one then.
 */
static void overflow_together(void)
{
	u64 period = PERIOD;
	struct together all;
	bool opened;
	int i;

	while ((opened = sample_together(period, &all)) && all.throttles && period < LOOP / 20)
		period *= 2;
	if (!opened)
		return;
	for (i = 0; i < all.nr; i++) {
		expect_range("count of each", all.throttles ? period : 2 * LOOP,
			     2 * LOOP + count_slack(2 * LOOP) + 1000, all.counts[i]);
		if (!all.throttles)
			expect_samples("samples of each", all.counts[i], period, 1, 1,
				       all.samples[i]);
	}
	if (all.throttles)
		ktap_skip("the kernel throttles twenty samples of each event");
}

/* Samples of a loop with so long a period, on the next counter: the kernel may throttle them. */
static bool sample_loop(u64 period, struct ring_sum *sum)
{
	struct perf_event_attr attr;
	static struct ring ring;
	int fd;

	attr_sampling(&attr, period, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD);
	fd = open_sampling(&ring, &attr, 16);
	if (fd < 0)
		return false;
	event_enable(fd);
	known_loop(ITERATIONS / 2);
	event_disable(fd);
	memset(sum, 0, sizeof(*sum));
	ring_drain(&ring, &attr, sum);
	close_sampling(&ring, fd);
	return true;
}

/*
 * The overflow of a counter may be served with that of another one that interrupts. Events that
 * only count are put before the one that samples, one more in each round: its counter is another
 * then. Where the kernel allows no more samples a second the period is a longer one.
 */
static void samples_alone(void)
{
	struct ring_sum sum = { 0 };
	int fds[MANY], nr, i, judged = 0;

	for (nr = 0; nr < (int)pmu.group && nr < MANY; nr++) {
		u64 period = PERIOD;
		bool opened;

		for (i = 0; i < nr; i++) {
			fds[i] = open_instructions();
			event_enable(fds[i]);
		}
		while ((opened = sample_loop(period, &sum)) && sum.throttles && period < LOOP / 20)
			period *= 2;
		close_all(fds, nr);
		if (!opened)
			return;
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
 * Of user space and kernel, so that what the kernel does between stopping one event and the next
 * would be in one count and not in the other. The PMU is stopped by a context switch, by opening
 * another event and by an overflow of the leader. Off icount some instructions are allowed for each
 * of those, fewer than it takes to stop an event by itself.
 */
#define STOPS		200
#define BETWEEN		16

static void same_instructions(void)
{
	const struct timespec nap = { .tv_nsec = 100000 };
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
	slack = pmu.exact ? 0 : BETWEEN * (2 * STOPS + first / PERIOD);
	expect_range("instructions of the leader", STOPS * LOOP / 100, 1000 * LOOP, first);
	for (i = 1; i < nr; i++)
		expect_near("instructions of a member", first, slack, event_read(fds[i]));
	ring_unmap(&ring);
	close_all(fds, nr);
}

static const struct check checks[] = {
	{ "count", "it goes on while others come and go", COUNTED, come_and_go, NEED_GROUPS },
	{ "count", "an event of a CPU goes on beside those of tasks", COUNTED, cpu_beside_task,
	  NEED_CPU_WIDE | NEED_GROUPS },
	{ "multiplex", "an event is moved to make room for another",
	  MAN "\"Multiplexing happens if the number of events is more than the number of available PMU counter slots.\"",
	  room_by_moving, NEED_GROUPS | NEED_CYCLES | NEED_CPU_WIDE },
	{ "sample", "a group that overflows together", PERIODS, overflow_together,
	  NEED_SAMPLING | NEED_GROUPS },
	{ "sample", "samples on every counter by itself", PERIODS, samples_alone, NEED_SAMPLING },
	{ "group", "members count the same instructions",
	  MAN "\"the values of the member events can be meaningfully compared [...] since they have counted events for the same set of executed instructions.\"",
	  same_instructions, NEED_SAMPLING | NEED_KERNEL | NEED_GROUPS },
};

const struct check_list beside_checks = { checks, ARRAY_SIZE(checks) };
