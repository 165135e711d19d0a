// SPDX-License-Identifier: GPL-2.0-only
/*
 * migrate.c - tasks whose groups, turns and PERF_EVENT_IOC_REFRESH migrate
 */
#include <string.h>
#include <unistd.h>

#include "smp.h"

static void migrate_group(void)
{
	const unsigned int nr = target.all;
	int fds[ARCH_MAX_COUNTERS];
	struct event_times last[ARRAY_SIZE(fds)] = { 0 }, now;
	struct perf_event_attr attr;
	u32 seed = 2;
	unsigned int i, j;

	for (i = 0; i < nr; i++) {
		/* If not all counters can count cycles, the others count instructions. */
		attr_init(&attr, i < target.cycles ? ARCH_EVENT_CYCLES :
			  ARCH_EVENT_INSTRUCTIONS);
		attr.disabled = !i;
		attr.read_format = FORMAT_TIMES;
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
		if (fds[i] < 0) {
			close_all(fds, i);
			return;
		}
	}
	event_enable(fds[0]);
	for (i = 0; i < 200 && !ktap_failed(); i++) {
		run_on(smp_random(&seed) % smp_cpus);
		known_loop(5000);
		for (j = 0; j < nr; j++) {
			event_read_times(fds[j], &now);
			smp_check_times(&last[j], &now);
			expect_true("a count to advance",
				    now.count > last[j].count);
			last[j] = now;
		}
	}
	event_disable(fds[0]);
	run_on_first(smp_cpus);
	close_all(fds, nr);
}

#define CROWD	4

/* Each CPU has @others events of its own, which are scheduled before a task's. */
static void multiplex_beside(unsigned int others)
{
	struct event_times last[16] = { 0 }, now;
	struct perf_event_attr attr;
	u32 seed = 3;
	unsigned int ran = 0, i, j;
	u64 sum = 0;
	int fds[16];

	for (i = 0; i < ARRAY_SIZE(fds); i++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.read_format = FORMAT_TIMES;
		fds[i] = event_open_self(&attr, -1);
		event_enable(fds[i]);
	}
	for (i = 0; i < 200 && !ktap_failed(); i++) {
		run_on(smp_random(&seed) % smp_cpus);
		known_loop(30000);
		for (j = 0; j < ARRAY_SIZE(fds); j++) {
			event_read_times(fds[j], &now);
			smp_check_times(&last[j], &now);
			last[j] = now;
		}
	}
	/* The number of events that get a turn depends on the host's speed. */
	for (j = 0; j < ARRAY_SIZE(fds); j++) {
		ran += !!last[j].running;
		sum += last[j].count;
	}
	if (!ktap_failed())
		expect_range("events that ran",
			     target.counters > others ? target.counters - others : 0,
			     ARRAY_SIZE(fds), ran);
	expect_ne("count of all events", 0, sum);
	run_on_first(smp_cpus);
	close_all(fds, ARRAY_SIZE(fds));
}

static void migrate_multiplexed(void)
{
	multiplex_beside(0);
}

static void *refresh_thread(void *arg)
{
	struct perf_event_attr attr;
	u64 last, count;
	unsigned long bad = 0;
	int fd, i;

	run_on((unsigned long)arg % smp_cpus);
	attr_init(&attr, ARCH_EVENT_CYCLES);
	attr.sample_period = PERIOD;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		return (void *)1;
	for (i = 0; i < 20; i++) {
		last = 0;
		ioctl(fd, PERF_EVENT_IOC_REFRESH, 2);
		/* Read until the event is disabled: its count then stays the same. */
		do {
			run_on((i + (unsigned long)arg) % smp_cpus);
			known_loop(50000);
			if (read(fd, &count, sizeof(count)) != sizeof(count))
				bad++;
			if (count == last)
				break;
			last = count;
		} while (1);
	}
	if (last < 40 * PERIOD)
		bad++;
	close(fd);
	return (void *)bad;
}

static void refresh_everywhere(void)
{
	smp_run_threads(refresh_thread, 6);
}

/* System-wide events on all CPUs and task events share the counters. */
static void shared_counters(void)
{
	struct event_times last[CROWD * MAX_CPUS] = { 0 }, now;
	struct perf_event_attr attr;
	int fds[CROWD * MAX_CPUS];
	unsigned int i, round;

	for (i = 0; i < CROWD * smp_cpus; i++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.exclude_kernel = 0;
		attr.disabled = 0;
		attr.read_format = FORMAT_TIMES;
		attr.sample_period = i & 1 ? PERIOD : 0;
		fds[i] = event_open(&attr, -1, i % smp_cpus, -1, 0);
		if (fds[i] < 0)
			ktap_fail("open: got %s", strerror(-fds[i]));
	}
	smp_busy_start();
	for (round = 0; round < 5; round++) {
		multiplex_beside(CROWD);
		for (i = 0; i < CROWD * smp_cpus; i++) {
			event_read_times(fds[i], &now);
			smp_check_times(&last[i], &now);
			last[i] = now;
		}
	}
	smp_busy_end();
	close_all(fds, CROWD * smp_cpus);
}

static const struct ktap_case cases[] = {
	{ "a full group while migrating", migrate_group },
	{ "multiplexing while migrating", migrate_multiplexed },
	{ "PERF_EVENT_IOC_REFRESH while migrating", refresh_everywhere },
	{ "events of CPUs and of tasks share counters on every CPU", shared_counters },
};

const struct ktap_list smp_migrate_cases = { cases, ARRAY_SIZE(cases) };
