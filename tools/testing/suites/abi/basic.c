// SPDX-License-Identifier: GPL-2.0-only
/*
 * basic.c - what every core PMU must do, on every architecture
 *
 * Nothing here depends on the number of counters or on the length of a cycle. The tests count and
 * sample the instructions of a known loop: alone, in groups and multiplexed.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ring.h"

#define ITERATIONS	1000000UL
#define MANY		16

static struct ring ring;

static void counts_exactly(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	u64 base;
	int i;

	if (fd < 0)
		return;
	base = event_count_loop(fd, 1);
	for (i = 0; i < 10; i++)
		expect_eq("counts of the loop", LOOP_INSNS * (ITERATIONS - 1),
			  event_count_loop(fd, ITERATIONS) - base);
	close(fd);
}

static void generic_counts_exactly(void)
{
	struct perf_event_attr attr;
	u64 base;
	int fd;

	attr_init_generic(&attr, PERF_COUNT_HW_INSTRUCTIONS);
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	base = event_count_loop(fd, 1);
	expect_eq("counts of the loop", LOOP_INSNS * (ITERATIONS - 1),
		  event_count_loop(fd, ITERATIONS) - base);
	close(fd);
}

/* The length of a cycle is unknown, but two runs take the same number of cycles. */
static void cycles_advance(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init_generic(&attr, PERF_COUNT_HW_CPU_CYCLES);
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	expect_range("cycles of the loop", ITERATIONS / 10, ITERATIONS * 1000,
		     event_count_loop(fd, ITERATIONS));
	close(fd);
}

/* Return how often this task has been scheduled out. */
static long times_switched(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void kernel_is_told_apart(void)
{
	struct perf_event_attr attr;
	int user, kernel, both, i;
	long switches;
	u64 sum, skew;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	user = event_open_self(&attr, -1);
	attr.exclude_kernel = 0;
	attr.disabled = 0;
	both = event_open_self(&attr, user);
	attr.exclude_user = 1;
	kernel = event_open(&attr, 0, -1, user, 0);
	if (kernel == -22)
		ktap_skip("three counters are needed");
	else
		expect_true("a third event opens", kernel >= 0);
	if (user >= 0 && both >= 0 && kernel >= 0) {
		switches = times_switched();
		event_enable(user);
		for (i = 0; i < 1000; i++)
			syscall(SYS_getppid);
		event_disable(user);
		sum = event_read(user) + event_read(kernel);
		/*
		 * If counters have no common enable bit, they start and stop one after the other
		 * at each task switch.
		 */
		skew = 32 * (1 + times_switched() - switches);
		expect_range("user and kernel together", sum - skew, sum + skew,
			     event_read(both));
		expect_range("kernel instructions", 50000, 100000000,
			     event_read(kernel));
		expect_range("user instructions", 1000, 100000,
			     event_read(user));
	}
	close(user);
	close(both);
	close(kernel);
}

static void samples(u64 period)
{
	struct perf_event_attr attr;
	struct ring_sum sum = { };
	u64 count;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			   PERF_SAMPLE_PERIOD;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	if (expect_eq("mapping the buffer", 0, ring_map(&ring, fd, 64))) {
		event_enable(fd);
		known_loop(20 * ITERATIONS);
		event_disable(fd);
		count = event_read(fd);
		ring_drain(&ring, &attr, &sum);
		expect_range("samples", count / period - 1, count / period + 1,
			     sum.samples);
		expect_eq("samples lost", 0, sum.lost);
		expect_eq("sum of the periods", sum.samples * period,
			  sum.periods);
		expect_range("samples inside the loop", sum.samples - 1,
			     sum.samples, sum.inside);
		ring_unmap(&ring);
	}
	close(fd);
}

static void samples_1000003(void)
{
	samples(1000003);
}

static void samples_100000(void)
{
	samples(100000);
}

static void samples_20011(void)
{
	samples(20011);
}

/* Add members to a group until one is rejected: the others still count. */
static void largest_group(void)
{
	int fds[MANY] = { }, nr, i;
	u64 first = 0;

	for (nr = 0; nr < MANY; nr++) {
		struct perf_event_attr attr;

		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.disabled = !nr;
		fds[nr] = event_open(&attr, 0, -1, nr ? fds[0] : -1, 0);
		if (fds[nr] < 0)
			break;
	}
	expect_range("events in a group", 2, MANY - 1, nr);
	expect_eq("one event more", -22, nr < MANY ? fds[nr] : 0);
	event_enable(fds[0]);
	known_loop(ITERATIONS);
	event_disable(fds[0]);
	for (i = 0; i < nr; i++) {
		if (!i)
			first = event_read(fds[i]);
		expect_eq("count of a member", first, event_read(fds[i]));
	}
	expect_range("count of the leader", LOOP_INSNS * ITERATIONS,
		     LOOP_INSNS * ITERATIONS + 200, first);
	close_all(fds, nr);
	ktap_diag("%d events in a group", nr);
}

/* With more events than counters, each event has a turn and scales to the whole. */
static void turns(void)
{
	struct event_times times[MANY];
	struct perf_event_attr attr;
	/* With several CPUs the clock that ends a turn is not this task's. */
	u64 slack = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 20;
	u64 whole = LOOP_INSNS * 200 * ITERATIONS;
	unsigned int waited = 0;
	int fds[MANY], i;
	double scaled;

	for (i = 0; i < MANY; i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.read_format = FORMAT_TIMES;
		fds[i] = event_open_self(&attr, -1);
		if (fds[i] < 0)
			return;
	}
	for (i = 0; i < MANY; i++)
		event_enable(fds[i]);
	known_loop(200 * ITERATIONS);
	for (i = 0; i < MANY; i++)
		event_disable(fds[i]);
	for (i = 0; i < MANY; i++) {
		if (!event_read_times(fds[i], &times[i]) ||
		    !expect_range("time running", 1, times[i].enabled,
				  times[i].running))
			continue;
		waited += times[i].running < times[i].enabled;
		scaled = (double)times[i].count * times[i].enabled /
			 times[i].running;
		expect_range("scaled count", whole - whole / slack,
			     whole + whole / slack, scaled);
	}
	expect_true("some of sixteen events waited", waited);
	close_all(fds, MANY);
}

static void inherited(void)
{
	struct perf_event_attr attr;
	int fd, i, status;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.inherit = 1;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	event_enable(fd);
	for (i = 0; i < 4; i++) {
		if (!fork()) {
			known_loop(ITERATIONS);
			_exit(0);
		}
	}
	for (i = 0; i < 4; i++)
		wait(&status);
	event_disable(fd);
	expect_range("counts of four children", 4 * LOOP_INSNS * ITERATIONS,
		     4 * LOOP_INSNS * ITERATIONS + 1000000, event_read(fd));
	close(fd);
}

/* Short periods: the guest survives, and counts exactly afterwards. */
static void storm(void)
{
	static const u64 periods[] = { 1, 100 };
	struct perf_event_attr attr;
	unsigned int i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.exclude_kernel = 0;
		attr.sample_period = periods[i];
		fd = event_open_self(&attr, -1);
		if (fd < 0)
			return;
		event_enable(fd);
		known_loop(5 * ITERATIONS);
		event_disable(fd);
		close(fd);
	}
	expect_true("exact counts after the storm", pmu_is_exact(ITERATIONS));
}

static void refusals(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.precise_ip = 1;
	expect_eq("precise_ip", max_precise() ? -EINVAL : -EOPNOTSUPP,
		  event_open(&attr, 0, -1, -1, 0));

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.exclude_idle = 1;
	fd = event_open(&attr, 0, -1, -1, 0);
	expect_eq("exclude_idle", ARCH_EXCLUDE_IDLE, fd < 0 ? fd : 0);
	if (fd >= 0)
		close(fd);

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = 100000;
	attr.sample_type = PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = ARCH_BAD_REGS;
	expect_eq("registers that cannot be sampled", -22, event_open(&attr, 0, -1, -1, 0));

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS | 1ULL << 60);
	expect_eq("an unknown bit of config", -22,
		  event_open(&attr, 0, -1, -1, 0));

	/* The event of branch-unit writes is rejected even if branches are counted. */
	attr_init(&attr, 0);
	attr.type = PERF_TYPE_HW_CACHE;
	attr.config = PERF_COUNT_HW_CACHE_BPU | PERF_COUNT_HW_CACHE_OP_WRITE << 8;
	expect_eq("writes of the branch unit", ARCH_SENSELESS_EVENT,
		  event_open(&attr, 0, -1, -1, 0));

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.config2 = 1;
	expect_eq("config2", -22, event_open(&attr, 0, -1, -1, 0));

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = 100000;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	if (!branch_records())
		expect_eq("branch stacks", -95, event_open(&attr, 0, -1, -1, 0));

	expect_true("exact counts after refusals", pmu_is_exact(ITERATIONS));
}

static const struct ktap_case cases[] = {
	{ "instructions count the loop, ten times", counts_exactly },
	{ "generic instructions count the loop", generic_counts_exactly },
	{ "cycles advance", cycles_advance },
	{ "user and kernel add up", kernel_is_told_apart },
	{ "samples at period 1000003", samples_1000003 },
	{ "samples at period 100000", samples_100000 },
	{ "samples at period 20011", samples_20011 },
	{ "the largest group there is", largest_group },
	{ "sixteen events take turns", turns },
	{ "children add to an inherited count", inherited },
	{ "storms pass", storm },
	{ "refusals", refusals },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	limit_sample_rate(100000);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
