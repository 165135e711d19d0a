// SPDX-License-Identifier: GPL-2.0-only
/*
 * stress.c - events and buffers that are created and closed under overflows
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "smp.h"

static void *open_and_close(void *arg)
{
	u32 seed = (unsigned long)arg;
	struct perf_event_attr attr;
	unsigned long bad = 0;
	u64 count;
	int fd, i;

	for (i = 0; i < 150; i++) {
		unsigned int r = smp_random(&seed);
		int cpu = r & 1 ? -1 : (int)(r / 2 % smp_cpus);

		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.disabled = 0;
		attr.exclude_kernel = !!(r & 16);
		attr.sample_period = r & 32 ? PERIOD : 0;
		fd = event_open(&attr, cpu < 0 ? 0 : -1, cpu, -1, 0);
		if (fd < 0) {
			bad++;
			continue;
		}
		known_loop(r % 1000 + 1);
		if (read(fd, &count, sizeof(count)) != sizeof(count))
			bad++;
		close(fd);
	}
	return (void *)bad;
}

static void concurrent_opens(void)
{
	smp_run_threads(open_and_close, 8);
	smp_every_cpu_counts();
}

/* All threads do random operations on shared descriptors. */
#define SHARED		48

static int shared[SHARED];
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

static void shared_put(unsigned int slot, int fd)
{
	int old;

	pthread_mutex_lock(&shared_lock);
	old = shared[slot];
	shared[slot] = fd;
	pthread_mutex_unlock(&shared_lock);
	if (old >= 0)
		close(old);
}

static int random_open(u32 *seed)
{
	unsigned int r = smp_random(seed), s = smp_random(seed);
	struct perf_event_attr attr;
	int cpu, group;

	attr_init(&attr, r & 1 ? ARCH_EVENT_CYCLES : ARCH_EVENT_SILENT);
	attr.disabled = !!(r & 2);
	attr.exclude_kernel = !!(r & 4);
	attr.pinned = (r & 0x38) == 0x38;
	attr.exclusive = (r & 0x1c0) == 0x1c0;
	attr.sample_period = r & 0x200 ? PERIOD : 0;
	attr.freq = (r & 0xe00) == 0xe00;
	if (attr.freq)
		attr.sample_freq = 1000;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
	attr.inherit = (r & 0x3000) == 0x3000;
	cpu = s & 1 ? -1 : (int)(s / 2 % smp_cpus);
	group = s & 0x100 ? -1 : shared[s / 512 % SHARED];
	return event_open(&attr, cpu < 0 || s & 0x80 ? 0 : -1, cpu, group, 0);
}

static void random_operation(u32 *seed)
{
	unsigned int slot = smp_random(seed) % SHARED;
	int fd = shared[slot];
	u64 value = 1000 + smp_random(seed) * 100;
	u64 buffer[16];
	void *map;

	switch (smp_random(seed) % 14) {
	case 0:
	case 1:
	case 2:
		fd = random_open(seed);
		if (fd >= 0)
			shared_put(slot, fd);
		break;
	case 3:
		shared_put(slot, -1);
		break;
	case 4:
		ioctl(fd, PERF_EVENT_IOC_ENABLE, smp_random(seed) & 1);
		break;
	case 5:
		ioctl(fd, PERF_EVENT_IOC_DISABLE, smp_random(seed) & 1);
		break;
	case 6:
		ioctl(fd, PERF_EVENT_IOC_RESET, smp_random(seed) & 1);
		break;
	case 7:
		ioctl(fd, PERF_EVENT_IOC_PERIOD, &value);
		break;
	case 8:
		ioctl(fd, PERF_EVENT_IOC_REFRESH, 3);
		break;
	case 9:
	case 10:
		if (read(fd, buffer, sizeof(buffer)) < 0)
			value = 0;
		break;
	case 11:
		map = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			   fd, 0);
		known_loop(1000);
		if (map != MAP_FAILED)
			munmap(map, 3 * 4096);
		break;
	case 12:
		prctl(smp_random(seed) & 1 ? PR_TASK_PERF_EVENTS_DISABLE :
		      PR_TASK_PERF_EVENTS_ENABLE);
		break;
	case 13:
		run_on(smp_random(seed) % smp_cpus);
		break;
	}
	known_loop(500);
}

static void *random_operations(void *arg)
{
	u32 seed = (unsigned long)arg * 7919;
	int i;

	for (i = 0; i < 1500; i++)
		random_operation(&seed);
	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	return NULL;
}

static void random_stress(void)
{
	unsigned int i;

	for (i = 0; i < SHARED; i++)
		shared[i] = -1;
	smp_run_threads(random_operations, 6);
	for (i = 0; i < SHARED; i++)
		shared_put(i, -1);
	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	smp_every_cpu_counts();
}

static int race_fd;

static void *map_and_unmap(void *arg)
{
	unsigned long bad = 0;
	void *map;
	int i;

	(void)arg;
	for (i = 0; i < 400; i++) {
		map = mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			   race_fd, 0);
		if (map == MAP_FAILED) {
			bad++;
			continue;
		}
		known_loop(500);
		munmap(map, 5 * 4096);
	}
	return (void *)bad;
}

/* Map and unmap the buffer while its event overflows. */
static void mapping_races(void)
{
	struct perf_event_attr attr;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		for (;;)
			known_loop(100000);
	}
	attr_init(&attr, ARCH_EVENT_CYCLES);
	attr.disabled = 0;
	attr.sample_period = PERIOD / 4;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
	race_fd = event_open(&attr, child, -1, -1, 0);
	if (race_fd < 0)
		ktap_fail("open: got %s", strerror(-race_fd));
	else
		smp_run_threads(map_and_unmap, 4);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(race_fd);
	smp_every_cpu_counts();
}

/* Events on all CPUs open, count and close during storms on all CPUs. */
static void close_in_storms(void)
{
	struct perf_event_attr attr;
	int storms[MAX_CPUS], fd;
	unsigned int cpu;
	u32 seed = 5;
	u64 count;
	int i;

	for (cpu = 0; cpu < smp_cpus; cpu++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.exclude_kernel = 0;
		attr.disabled = 0;
		attr.sample_period = 10000;
		storms[cpu] = event_open(&attr, -1, cpu, -1, 0);
		if (storms[cpu] < 0)
			ktap_fail("open on CPU %u: got %s", cpu,
				  strerror(-storms[cpu]));
	}
	smp_busy_start();
	for (i = 0; i < 200 && !ktap_failed(); i++) {
		cpu = smp_random(&seed) % smp_cpus;
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.disabled = 0;
		attr.sample_period = i & 1 ? 10000 : 0;
		fd = event_open(&attr, -1, cpu, -1, 0);
		if (fd < 0) {
			ktap_fail("open on CPU %u: got %s", cpu, strerror(-fd));
			break;
		}
		if (read(fd, &count, sizeof(count)) != sizeof(count))
			ktap_fail("read on CPU %u: got %s", cpu,
				  strerror(errno));
		if (i % 8 == 0) {
			close(storms[cpu]);
			attr.sample_period = 10000;
			storms[cpu] = event_open(&attr, -1, cpu, -1, 0);
		}
		close(fd);
	}
	smp_busy_end();
	close_all(storms, smp_cpus);
	smp_every_cpu_counts();
}

static const struct ktap_case cases[] = {
	{ "opens and closes from eight threads", concurrent_opens },
	{ "random operations from six threads", random_stress },
	{ "buffers come and go under overflows", mapping_races },
	{ "closes beside storms on every CPU", close_in_storms },
};

const struct ktap_list smp_stress_cases = { cases, ARRAY_SIZE(cases) };
