// SPDX-License-Identifier: GPL-2.0-only
/*
 * loop.c - exact counts of the known loop: events, samples and interrupts for each period, and the
 * same from a second driver in the same guest
 *
 * Samples are checked with one CPU only.
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring.h"

#define ITERATIONS	1000000UL
#define RING_PAGES	256

static struct ring ring;

/* PMU type of the built-in driver, if it is present and not under test */
static int other_type = -1;

enum kind { INSTRUCTIONS, BRANCHES, CYCLES, NR_KINDS };

static const char * const names[] = { "instructions", "branches", "cycles" };

static u64 config_of(enum kind kind)
{
	switch (kind) {
	case INSTRUCTIONS:
		return ARCH_EVENT_INSTRUCTIONS;
	case BRANCHES:
		return ARCH_EVENT_BRANCHES;
	default:
		return ARCH_EVENT_CYCLES;
	}
}

/* Nothing but the loop runs, so that all counts are equal. */
static u64 count_ten_times(int type, enum kind kind)
{
	const u64 loop = loop_counts(config_of(kind), ITERATIONS - 1);
	struct perf_event_attr attr;
	u64 base, count = 0;
	int fd;

	attr_init(&attr, config_of(kind));
	attr.type = type;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return 0;
	base = event_count_loop(fd, 1);
	for (int i = 0; i < 10; i++) {
		count = event_count_loop(fd, ITERATIONS);
		expect_eq("counts of the loop", loop, count - base);
	}
	close(fd);
	return count;
}

static void counts_of(unsigned long kind)
{
	char figure[64];
	u64 count;

	if (!config_of(kind) && kind == BRANCHES) {
		ktap_skip("the CPU does not count branches");
		return;
	}
	count = count_ten_times(target.type, kind);
	snprintf(figure, sizeof(figure), "loop_%s_u", names[kind]);
	ktap_figure(figure, count);
	if (other_type >= 0)
		expect_eq("counts of the built-in driver", count,
			  count_ten_times(other_type, kind));
}

/* A generic event with the type of this PMU in config, beside another PMU. */
static void extended_type(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init_generic(&attr, (u64)target.type << 32 | PERF_COUNT_HW_INSTRUCTIONS);
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	event_is_exact(fd, ITERATIONS);
	if (other_type >= 0) {
		attr_init_generic(&attr, PERF_COUNT_HW_INSTRUCTIONS);
		expect_eq("the built-in driver meanwhile", -16,
			  event_open(&attr, 0, -1, -1, 0));
	}
	close(fd);
}

enum mode { USER = 1, KERNEL = 2, BOTH = 3 };

struct sampling {
	const char *name;
	enum kind kind;
	enum mode mode;
};

static const struct sampling samplings[] = {
	{ "instructions of the user", INSTRUCTIONS, USER },
	{ "instructions of the kernel", INSTRUCTIONS, KERNEL },
	{ "instructions of both", INSTRUCTIONS, BOTH },
	{ "branches of the user", BRANCHES, USER },
	{ "cycles of the user", CYCLES, USER },
};

static const u64 periods[] = { 1000003, 100000, 10007 };

static void work(const struct sampling *s)
{
	if (s->mode & USER)
		known_loop(5 * ITERATIONS);
	if (s->mode & KERNEL)
		for (int i = 0; i < 10000; i++)
			syscall(SYS_getppid);
}

static u64 sample(int type, const struct sampling *s, u64 period, struct ring_sum *sum)
{
	struct perf_event_attr attr;
	u64 count = 0;
	int fd;

	attr_init(&attr, config_of(s->kind));
	attr.type = type;
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
	attr.exclude_user = !(s->mode & USER);
	attr.exclude_kernel = !(s->mode & KERNEL);
	fd = event_open_self(&attr, -1);
	if (fd >= 0 && !ring_map(&ring, fd, RING_PAGES)) {
		event_enable(fd);
		work(s);
		event_disable(fd);
		count = event_read(fd);
		ring_drain(&ring, &attr, sum);
	}
	ring_unmap(&ring);
	if (fd >= 0)
		close(fd);
	return count;
}

static void run_sampling(const struct sampling *s, u64 period)
{
	const u64 loop = loop_counts(config_of(s->kind), 5 * ITERATIONS);
	struct ring_sum sum = { }, other = { };
	long before, after;
	u64 count;

	if (!config_of(s->kind) && s->kind == BRANCHES) {
		ktap_skip("the CPU does not count branches");
		return;
	}
	before = pmu_interrupts();
	count = sample(target.type, s, period, &sum);
	after = pmu_interrupts();
	if (s->mode == USER)
		expect_range("count", loop, loop + 200, count);
	else
		expect_range("count", 1000000, 1000000000, count);
	expect_range("samples", count / period - 1, count / period + 1,
		     sum.samples);
	expect_eq("samples lost", 0, sum.lost);
	expect_eq("times that the event was throttled", 0, sum.throttles);
	expect_eq("sum of the periods", sum.samples * period, sum.periods);
	expect_eq("samples older than the one before", 0, sum.backwards);
	/*
	 * An overflow shortly before a stop emits its sample at the stop, with or without an
	 * interrupt. Any other overflow interrupts once.
	 */
	expect_range("interrupts", sum.samples * 9 / 10, sum.samples * 2 + 1,
		     after - before);
	if (s->mode == USER)
		expect_range("interrupts of samples in user space", sum.samples,
			     sum.samples + 1, after - before);
	if (other_type >= 0 && s->mode == USER) {
		expect_eq("count of the built-in driver", count,
			  sample(other_type, s, period, &other));
		expect_eq("its samples", sum.samples, other.samples);
		expect_eq("its samples in the loop", sum.inside, other.inside);
	}
}

/* Counting causes no interrupts, and neither does an event that has stopped sampling. */
static void quiet(void)
{
	int fds[NR_KINDS];
	long before;

	before = pmu_interrupts();
	expect_ne("interrupts so far", -1, before);
	for (int i = 0; i < NR_KINDS; i++) {
		fds[i] = event_open_user(config_of(i), -1);
		event_enable(fds[i]);
	}
	known_loop(20 * ITERATIONS);
	for (int i = 0; i < NR_KINDS; i++) {
		if (config_of(i))
			expect_ne("count", 0, event_read(fds[i]));
		close(fds[i]);
	}
	known_loop(20 * ITERATIONS);
	usleep(50000);
	expect_eq("interrupts", before, pmu_interrupts());
}

/*
 * If the CPU has dedicated counters for cycles and for instructions, these two events leave the
 * others free.
 */
static void fills_all_counters(void)
{
	struct event_times times;
	struct perf_event_attr attr;
	int fds[ARCH_MAX_COUNTERS];
	unsigned int nr;

	for (nr = 0; nr < target.all; nr++) {
		attr_init(&attr, !nr ? ARCH_EVENT_CYCLES : ARCH_EVENT_INSTRUCTIONS);
		attr.disabled = !nr;
		attr.read_format = FORMAT_TIMES;
		fds[nr] = event_open_self(&attr, nr ? fds[0] : -1);
		if (fds[nr] < 0)
			break;
	}
	expect_eq("events in one group", target.all, nr);
	if (nr) {
		attr.disabled = 0;
		expect_eq("one event more", -22, event_open(&attr, 0, -1, fds[0], 0));
		event_run_loop(fds[0], ITERATIONS);
	}
	for (unsigned int i = 0; i < nr; i++) {
		u64 loop = (i ? LOOP_INSNS : target.loop_cycles) * ITERATIONS;

		event_read_times(fds[i], &times);
		expect_range("count of a member", loop, loop + 200, times.count);
		expect_eq("time running of a member", times.enabled, times.running);
	}
	close_all(fds, nr);
}

static const struct ktap_case cases[] = {
	{ "instructions, ten times", .run_with = counts_of, .value = INSTRUCTIONS },
	{ "branches, ten times", .run_with = counts_of, .value = BRANCHES },
	{ "cycles, ten times", .run_with = counts_of, .value = CYCLES },
	{ "a generic event with the PMU's type", extended_type },
	{ "every counter counts at once", fills_all_counters },
};

int main(int argc, char **argv)
{
	bool alone = sysconf(_SC_NPROCESSORS_ONLN) == 1;
	const unsigned int nr = ARRAY_SIZE(samplings) * ARRAY_SIZE(periods);

	target_init(argc, argv);
	other_type = read_number("/sys/bus/event_source/devices/cpu/type");
	limit_sample_rate(1000000);
	ktap_plan(ARRAY_SIZE(cases) + alone * nr + 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		ktap_run_case(&cases[i]);
	for (unsigned int i = 0; alone && i < nr; i++) {
		const struct sampling *s = &samplings[i / ARRAY_SIZE(periods)];
		u64 period = periods[i % ARRAY_SIZE(periods)];

		ktap_begin("%s, period %llu", s->name, (unsigned long long)period);
		run_sampling(s, period);
		ktap_end();
	}
	ktap_begin("nothing interrupts when nothing samples");
	quiet();
	ktap_end();
	return ktap_status();
}
