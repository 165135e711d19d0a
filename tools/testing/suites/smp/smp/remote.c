// SPDX-License-Identifier: GPL-2.0-only
/*
 * remote.c - events of other CPUs, read, enabled and disabled from this CPU
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "smp.h"

/* The event of each CPU */
static int cpu_fds[MAX_CPUS];

static void *read_remote(void *arg)
{
	u64 last[MAX_CPUS] = { 0 }, count;
	unsigned long bad = 0;
	unsigned int cpu;
	int i;

	(void)arg;
	for (i = 0; i < 60; i++) {
		for (cpu = 0; cpu < smp_cpus; cpu++) {
			if (read(cpu_fds[cpu], &count, sizeof(count)) !=
			    sizeof(count) || count < last[cpu])
				bad++;
			last[cpu] = count;
		}
	}
	return (void *)bad;
}

/* Several readers read every CPU's count; it must never go backwards. */
static void remote_reads(void)
{
	struct perf_event_attr attr;
	unsigned int cpu;
	u64 count;

	for (cpu = 0; cpu < smp_cpus; cpu++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.exclude_kernel = 0;
		attr.disabled = 0;
		cpu_fds[cpu] = event_open(&attr, -1, cpu, -1, 0);
		if (cpu_fds[cpu] < 0)
			ktap_fail("open on CPU %u: got %s", cpu,
				  strerror(-cpu_fds[cpu]));
	}
	smp_busy_start();
	smp_run_threads(read_remote, 4);
	smp_busy_end();
	for (cpu = 0; cpu < smp_cpus; cpu++) {
		count = 0;
		if (read(cpu_fds[cpu], &count, sizeof(count)) != sizeof(count))
			ktap_fail("read of CPU %u: got %s", cpu, strerror(errno));
		expect_ne("count of a busy CPU", 0, count);
	}
	close_all(cpu_fds, smp_cpus);
}

static void *switch_remote(void *arg)
{
	u32 seed = (unsigned long)arg * 31;
	int i;

	for (i = 0; i < 400; i++) {
		u64 period = PERIOD + smp_random(&seed);
		int fd = cpu_fds[smp_random(&seed) % smp_cpus];

		switch (smp_random(&seed) % 4) {
		case 0:
			ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
			break;
		case 1:
			ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
			break;
		case 2:
			ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
			break;
		default:
			ioctl(fd, PERF_EVENT_IOC_RESET, 0);
		}
	}
	return NULL;
}

/* Enable, disable and change events of busy tasks on other CPUs. */
static void remote_switches(void)
{
	struct perf_event_attr attr;
	pid_t children[MAX_CPUS];
	struct event_times times;
	unsigned int i, tries;

	fflush(stdout);
	for (i = 0; i < smp_cpus; i++) {
		children[i] = fork();
		if (!children[i]) {
			run_on(i);
			for (;;)
				known_loop(100000);
		}
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.disabled = 0;
		attr.sample_period = PERIOD;
		attr.read_format = FORMAT_TIMES;
		cpu_fds[i] = event_open(&attr, children[i], -1, -1, 0);
		if (cpu_fds[i] < 0)
			ktap_fail("open: got %s", strerror(-cpu_fds[i]));
	}
	smp_run_threads(switch_remote, 4);
	for (i = 0; i < smp_cpus; i++) {
		event_enable(cpu_fds[i]);
		event_reset(cpu_fds[i]);
	}
	for (i = 0; i < smp_cpus; i++) {
		/* A virtual CPU of a busy host may run late: wait for its first count. */
		event_read_times(cpu_fds[i], &times);
		for (tries = 0; tries < 1000 && !times.count; tries++) {
			usleep(10000);
			event_read_times(cpu_fds[i], &times);
		}
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
		event_read_times(cpu_fds[i], &times);
		expect_ne("count afterwards", 0, times.count);
		expect_true("time running never to exceed time enabled",
			    times.running <= times.enabled);
	}
	close_all(cpu_fds, smp_cpus);
}

static const struct ktap_case cases[] = {
	{ "counts read from other CPUs", remote_reads },
	{ "events switched from other CPUs", remote_switches },
};

const struct ktap_list smp_remote_cases = { cases, ARRAY_SIZE(cases) };
