// SPDX-License-Identifier: GPL-2.0-only
/*
 * topdown.c - x86: slots and topdown metrics of Intel's cores
 *
 * For guests whose virtual PMU has metrics, under either driver. The virtual PMU splits all slots
 * by the same ratios (tools/qemu/x86/x86-pmu.rst), and a cycle has four slots. So the right counts
 * are known, however often the driver reads the registers, and whichever task used them meanwhile.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf_util.h"
#include "user_read.h"

#define SLOTS		0x0400
#define METRICS		0x8000
#define UMASK		0x100
#define CYCLES		0x003c

#define NR_METRICS	8
#define NR_LEVEL_1	4
#define WHOLE		255
#define LOOPS		100000
#define ROUNDS		20

#define RDPMC_SLOTS	0x40000003
#define RDPMC_METRICS	0x20000000

static const unsigned int parts[NR_METRICS] = { 102, 26, 51, 76, 32, 16, 32, 48 };
static unsigned int nr_metrics;

/* A group of slots and all metrics that the PMU has */
struct topdown {
	int fds[1 + NR_METRICS];
};

static void init_attr(struct perf_event_attr *attr, u64 config, bool kernel)
{
	attr_init(attr, config);
	attr->exclude_kernel = !kernel;
}

static bool open_all(struct topdown *t, u64 read_format, bool kernel)
{
	struct perf_event_attr attr;

	memset(t->fds, -1, sizeof(t->fds));
	for (unsigned int i = 0; i <= nr_metrics; i++) {
		init_attr(&attr, i ? METRICS + (i - 1) * UMASK : SLOTS, kernel);
		attr.disabled = !i;
		attr.read_format = read_format;
		t->fds[i] = event_open_self(&attr, i ? t->fds[0] : -1);
		if (t->fds[i] < 0)
			return false;
	}
	return true;
}

static void close_group(struct topdown *t)
{
	close_all(t->fds, ARRAY_SIZE(t->fds));
}

/* Each restart of the registers rounds down every metric. */
static void expect_parts(const u64 *counts, unsigned int times)
{
	for (unsigned int i = 0; i < nr_metrics; i++) {
		u64 part = counts[0] * parts[i] / WHOLE;

		ktap_check(counts[1 + i] <= part && counts[1 + i] + times > part,
			   "metric %u of %llu slots: expected %llu, got %llu", i,
			   (unsigned long long)counts[0], (unsigned long long)part,
			   (unsigned long long)counts[1 + i]);
	}
}

static void read_all(const struct topdown *t, u64 *counts)
{
	for (unsigned int i = 0; i <= nr_metrics; i++)
		counts[i] = event_read(t->fds[i]);
}

static u64 slots_of_loop(void)
{
	return 4 * loop_counts(CYCLES, LOOPS);
}

/*
 * Count @rounds loops of @iterations with all events, and call @pause after each loop. Expect at
 * most @more slots per loop above the loop's own, and metrics rounded down at most @times times.
 */
static void count_rounds(unsigned int rounds, unsigned long iterations,
			 void (*pause)(const struct topdown *t), u64 more, unsigned int times)
{
	u64 slots = rounds * 4 * loop_counts(CYCLES, iterations);
	u64 counts[1 + NR_METRICS];
	struct topdown t;

	if (open_all(&t, 0, false)) {
		event_enable(t.fds[0]);
		for (unsigned int i = 0; i < rounds; i++) {
			known_loop(iterations);
			if (pause)
				pause(&t);
		}
		event_disable(t.fds[0]);
		read_all(&t, counts);
		expect_range("slots", slots, slots + rounds * more, counts[0]);
		expect_parts(counts, times);
	}
	close_group(&t);
}

static void slots_alone(void)
{
	int fds[2];

	fds[0] = event_open_user(CYCLES, -1);
	fds[1] = event_open_user(SLOTS, fds[0]);
	event_run_loop(fds[0], LOOPS);
	expect_eq("slots", 4 * event_read(fds[0]), event_read(fds[1]));
	close_all(fds, ARRAY_SIZE(fds));
}

static void slots_divided(void)
{
	count_rounds(1, LOOPS, NULL, 4000, 1);
}

static void sleep_shortly(const struct topdown *t)
{
	(void)t;
	usleep(1000);
}

/* Scheduled out and in again: the driver keeps the registers, and nothing is rounded. */
static void slots_switched(void)
{
	count_rounds(ROUNDS, LOOPS, sleep_shortly, 8000, 1);
}

static void read_each(const struct topdown *t)
{
	u64 counts[1 + NR_METRICS];

	read_all(t, counts);
}

/* Read the events one by one while they count: reads of metrics may restart the registers, too. */
static void slots_read(void)
{
	count_rounds(ROUNDS, LOOPS, read_each, 20000, ROUNDS * (1 + nr_metrics) + 1);
}

/* One read of the group returns metrics of the same slots, including the kernel's. */
static void slots_read_group(void)
{
	u64 group[2 + NR_METRICS];
	struct topdown t;

	if (open_all(&t, PERF_FORMAT_GROUP, true)) {
		event_enable(t.fds[0]);
		for (unsigned int i = 0; i < ROUNDS; i++) {
			known_loop(LOOPS);
			if (read(t.fds[0], group, sizeof(group)) < 0)
				ktap_fail("read: %s", strerror(errno));
			expect_eq("events read", 1 + nr_metrics, group[0]);
			expect_parts(group + 1, i + 2);
		}
	}
	close_group(&t);
}

static void *map(int fd)
{
	void *page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);

	if (page != MAP_FAILED)
		return page;
	ktap_fail("mmap: %s", strerror(errno));
	return NULL;
}

/* tools/perf/Documentation/topdown.txt: a program that reads the registers itself */
static void slots_rdpmc(void)
{
	struct perf_event_mmap_page *slots, *metric;
	u64 before, after, counts[1 + NR_METRICS];
	u64 own = 0;
	struct topdown t;

	if (!open_all(&t, 0, false))
		goto out;
	slots = map(t.fds[0]);
	metric = map(t.fds[1]);
	if (!slots || !metric)
		goto out;
	event_enable(t.fds[0]);
	expect_eq("index of slots", RDPMC_SLOTS + 1ULL, slots->index);
	expect_eq("index of a metric", RDPMC_METRICS + 1ULL, metric->index);
	known_loop(LOOPS);
	before = user_read_counter(RDPMC_SLOTS);
	expect_range("slots in the register", slots_of_loop(), slots_of_loop() + 40000, before);
	expect_eq("retiring in the register", parts[0], user_read_counter(RDPMC_METRICS) & 0xff);
	usleep(1000);
	after = user_read_counter(RDPMC_SLOTS);
	expect_range("slots after a pause", before, before + 40000, after);
	expect_eq("retiring after a pause", parts[0], user_read_counter(RDPMC_METRICS) & 0xff);
	/* The built-in driver's page is off by the count from before the pause. */
	if (!target.in_tree) {
		expect_true("slots can be read by the page", user_read(slots, &own));
		expect_range("slots by the page", after, after + 10000, own);
		before = own;
		after = event_read(t.fds[0]);
		expect_range("slots by read(2)", before, before + 20000, after);
		expect_true("slots can be read by the page after it", user_read(slots, &own));
		expect_range("slots by the page after it", after, after + 20000, own);
	}
	event_disable(t.fds[0]);
	read_all(&t, counts);
	expect_parts(counts, 2);
	/*
	 * While the metric does not count, its page has no index. RDPMC of the index of a counting
	 * metric returns all metrics: the reader must know which byte is this one's.
	 */
	expect_eq("index of a metric that does not count", 0, metric->index);
out:
	close_group(&t);
}

static bool has_format(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/format/%s", target.pmu,
		 name);
	return !access(path, F_OK);
}

/*
 * With metrics_clear, RDPMC of the metrics clears metrics and slots. read(2) then returns the slots
 * since the RDPMC, unless the group was scheduled out meanwhile. So the loops are short.
 *
 * With corepmu_test.metrics=clear on the command line the PMU must have metrics_clear.
 */
static void slots_cleared(void)
{
	struct perf_event_attr attr;
	u64 slots = slots_of_loop();
	int fds[2];

	if (!has_format("metrics_clear") && !command_line_has("corepmu_test.metrics=clear")) {
		ktap_skip("%s has no metrics_clear", target.pmu);
		return;
	}
	init_attr(&attr, SLOTS, false);
	attr.config1 = 1;
	fds[0] = event_open_self(&attr, -1);
	init_attr(&attr, METRICS, false);
	attr.disabled = false;
	fds[1] = event_open_self(&attr, fds[0]);
	if (fds[1] < 0 || !map(fds[0]) || !map(fds[1]))
		goto out;
	event_enable(fds[0]);
	known_loop(LOOPS);
	expect_eq("retiring in the register", parts[0], user_read_counter(RDPMC_METRICS) & 0xff);
	expect_range("slots after RDPMC of the metrics", 0, 10000, user_read_counter(RDPMC_SLOTS));
	known_loop(LOOPS);
	expect_range("slots after another loop", slots, slots + 10000,
		     user_read_counter(RDPMC_SLOTS));
	event_disable(fds[0]);
	expect_range("slots by read(2)", slots, slots + 20000, event_read(fds[0]));
	expect_range("retiring by read(2)", slots * parts[0] / WHOLE - 1,
		     (slots + 20000) * parts[0] / WHOLE, event_read(fds[1]));

	init_attr(&attr, METRICS + UMASK, false);
	attr.config1 = 1;
	expect_eq("metrics_clear of a metric", -EINVAL, event_open(&attr, 0, -1, fds[0], 0));
out:
	close_all(fds, ARRAY_SIZE(fds));
}

static int open_pair(u64 leader, u64 period, u64 config, u64 own_period)
{
	struct perf_event_attr attr;
	int fd, sibling;

	init_attr(&attr, leader, false);
	attr.sample_period = period;
	fd = event_open_self(&attr, -1);
	init_attr(&attr, config, false);
	attr.sample_period = own_period;
	attr.disabled = false;
	sibling = event_open(&attr, 0, -1, fd, 0);
	if (sibling >= 0)
		close(sibling);
	close(fd);
	return sibling >= 0 ? 0 : sibling;
}

static void refused(void)
{
	struct perf_event_attr attr;
	int fd, sibling;

	init_attr(&attr, METRICS, false);
	fd = event_open(&attr, 0, -1, -1, 0);
	expect_eq("a metric alone", -EINVAL, fd);
	expect_eq("a metric led by cycles", -EINVAL, open_pair(CYCLES, 0, METRICS, 0));
	expect_eq("a metric that samples", -EINVAL, open_pair(SLOTS, 0, METRICS, 100000));
	expect_eq("a metric of slots that sample", -EINVAL, open_pair(SLOTS, 100000, METRICS, 0));
	expect_eq("slots that sample with another event", 0, open_pair(SLOTS, 100000, CYCLES, 0));
	expect_eq("slots twice", -EINVAL, open_pair(SLOTS, 0, SLOTS, 0));
	if (target.in_tree)
		return;

	/* User slots exclude the kernel's: the built-in driver counts the leader's. */
	fd = event_open_user(SLOTS, -1);
	init_attr(&attr, METRICS, true);
	sibling = event_open(&attr, 0, -1, fd, 0);
	expect_eq("a metric of the kernel too, of the user's slots", -EINVAL, sibling);
	if (nr_metrics == NR_LEVEL_1)
		expect_eq("a metric that there is not", -EINVAL,
			  open_pair(SLOTS, 0, METRICS + NR_LEVEL_1 * UMASK, 0));
	expect_eq("a metric with a threshold", -EINVAL,
		  open_pair(SLOTS, 0, METRICS | 1 << 24, 0));
	close(fd);
}

/* A metric counts nothing without its slots leader. */
static void leader_closed(void)
{
	struct topdown t;
	u64 count;

	if (open_all(&t, 0, false)) {
		event_enable(t.fds[0]);
		known_loop(LOOPS);
		close(t.fds[0]);
		t.fds[0] = -1;
		expect_eq("what is read of a metric then", 0,
			  read(t.fds[1], &count, sizeof(count)));
	}
	close_group(&t);
}

static void let_the_other_run(const struct topdown *t)
{
	(void)t;
	sched_yield();
	usleep(100);
}

/* Two tasks alternate on a CPU, each with its own slots. */
static int count_in_turns(void)
{
	count_rounds(ROUNDS, LOOPS / ROUNDS, let_the_other_run, 8000, 1);
	return ktap_failed();
}

static void slots_in_turns(void)
{
	int status = -1;
	pid_t pid;

	pid = fork();
	if (!pid)
		_exit(count_in_turns());
	count_in_turns();
	waitpid(pid, &status, 0);
	expect_eq("status of the other task", 0, status);
}

static const struct ktap_case cases[] = {
	{ "slots are four for each cycle", slots_alone },
	{ "metrics divide the slots", slots_divided },
	{ "a group that is scheduled out and in loses nothing", slots_switched },
	{ "a group that is read meanwhile loses nothing", slots_read },
	{ "one read of a group has slots and metrics of the same slots", slots_read_group },
	{ "RDPMC reads slots and metrics", slots_rdpmc },
	{ "RDPMC can clear metrics and slots", slots_cleared },
	{ "two tasks that take turns have their own slots", slots_in_turns },
	{ "a metric needs slots that lead its group and do not sample", refused },
	{ "a metric whose leader is closed reads nothing", leader_closed },
};

int main(int argc, char **argv)
{
	char path[256];

	target_init(argc, argv);
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events/topdown-mem-bound",
		 target.pmu);
	nr_metrics = access(path, F_OK) ? NR_LEVEL_1 : NR_METRICS;
	return ktap_run(cases, ARRAY_SIZE(cases));
}
