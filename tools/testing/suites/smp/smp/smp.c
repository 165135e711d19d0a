// SPDX-License-Identifier: GPL-2.0-only
/*
 * smp.c - functions that all races use
 */
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "smp.h"

unsigned int smp_cpus;

unsigned int smp_random(u32 *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 16;
}

/* Threads that keep the other CPUs busy until smp_busy_end() */
static pthread_t busy_threads[MAX_CPUS];
static volatile bool busy_stop;

static void *busy(void *arg)
{
	run_on((unsigned long)arg);
	while (!busy_stop) {
		known_loop(10000);
		syscall(SYS_getppid);
	}
	return NULL;
}

void smp_busy_start(void)
{
	unsigned long cpu;

	busy_stop = false;
	for (cpu = 0; cpu < smp_cpus; cpu++)
		pthread_create(&busy_threads[cpu], NULL, busy, (void *)cpu);
}

void smp_busy_end(void)
{
	unsigned int cpu;

	busy_stop = true;
	for (cpu = 0; cpu < smp_cpus; cpu++)
		pthread_join(busy_threads[cpu], NULL);
}

void smp_check_times(const struct event_times *last, const struct event_times *now)
{
	expect_or_say(now->count >= last->count && now->enabled >= last->enabled &&
		      now->running >= last->running && now->running <= now->enabled,
		      "expected a count and its times to advance, got %llu/%llu/%llu after %llu/%llu/%llu",
		      (unsigned long long)now->count, (unsigned long long)now->enabled,
		      (unsigned long long)now->running, (unsigned long long)last->count,
		      (unsigned long long)last->enabled, (unsigned long long)last->running);
}

void smp_every_cpu_counts(void)
{
	struct perf_event_attr attr;
	struct event_times times;
	unsigned int cpu;
	int fd;

	for (cpu = 0; cpu < smp_cpus; cpu++) {
		run_on(cpu);
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.read_format = FORMAT_TIMES;
		fd = event_open(&attr, -1, cpu, -1, 0);
		if (fd < 0) {
			ktap_fail("open on CPU %u: got %s", cpu, strerror(-fd));
			continue;
		}
		event_enable(fd);
		known_loop(100000);
		event_disable(fd);
		event_read_times(fd, &times);
		expect_ne("count of a CPU", 0, times.count);
		expect_eq("time running, as enabled", times.enabled,
			  times.running);
		close(fd);
	}
	run_on_first(smp_cpus);
}

void smp_run_threads(void *(*work)(void *), unsigned int nr)
{
	pthread_t threads[16];
	void *bad;
	unsigned long i;

	for (i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (i = 0; i < nr; i++) {
		pthread_join(threads[i], &bad);
		expect_eq("failures of a thread", 0, (long)bad);
	}
}
