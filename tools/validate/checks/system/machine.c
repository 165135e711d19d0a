// SPDX-License-Identifier: GPL-2.0-only
/*
 * machine.c - several CPUs and threads, CPU hotplug, suspend, unloading of the module
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "judge/guard.h"
#include "judge/validate.h"

int usable_cpus(int *cpus, int max)
{
	cpu_set_t set;
	int nr = 0, cpu;

	sched_getaffinity(0, sizeof(set), &set);
	for (cpu = 0; cpu < CPU_SETSIZE && nr < max; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[nr++] = cpu;
	return nr;
}

/* Add an event of cycles to a group, if the event fits: cycles may have a counter of their own. */
static int add_cycles(int leader)
{
	struct event_times times = { 0 };
	struct perf_event_attr attr;
	int fd;

	attr_cycles(&attr);
	attr.disabled = 0;
	attr.read_format = FORMAT_TIMES;
	fd = pmu.has & NEED_CYCLES ? event_open(&attr, 0, -1, leader, 0) : -1;
	if (fd < 0)
		return fd;
	event_run_loop(leader, 1000);
	if (event_read_times(fd, &times) && times.running == times.enabled)
		return fd;
	close(fd);
	return -1;
}

static void migrates(void)
{
	int cpus[64], nr = usable_cpus(cpus, 64), fds[MANY + 1], events, of_loop, i, j;
	struct event_times last[MANY + 1] = { 0 }, now = { 0 };

	of_loop = open_group(fds, pmu.group < MANY ? pmu.group : MANY, FORMAT_TIMES);
	fds[of_loop] = add_cycles(fds[0]);
	events = of_loop + (fds[of_loop] >= 0);
	if (events == of_loop) {
		/* add_cycles() enabled a group that could not run: its time_running is too low. */
		close_all(fds, events);
		open_group(fds, of_loop, FORMAT_TIMES);
	}
	event_enable(fds[0]);
	for (i = 0; i < 400; i++) {
		run_on(cpus[i % nr]);
		known_loop(ITERATIONS / 400);
		for (j = 0; j < events; j++) {
			event_read_times(fds[j], &now);
			expect_true("the count and its times advance",
				    now.count > last[j].count && now.enabled >= last[j].enabled &&
				    now.running >= last[j].running);
			last[j] = now;
		}
		if (ktap_failed())
			break;
	}
	event_disable(fds[0]);
	for (j = 0; j < events; j++) {
		event_read_times(fds[j], &now);
		if (j < of_loop)
			expect_range("instructions on many CPUs", LOOP, LOOP + LOOP / 5, now.count);
		expect_eq("time running of the largest group", now.enabled, now.running);
	}
	close_all(fds, events);
}

static void migrates_sampling(void)
{
	int cpus[64], nr = usable_cpus(cpus, 64), i, fd;
	static struct ring ring;
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	u64 count;

	attr_sampling(&attr, 50000, PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD);
	fd = open_sampling(&ring, &attr, 64);
	event_enable(fd);
	for (i = 0; i < 300; i++) {
		run_on(cpus[i % nr]);
		known_loop(ITERATIONS / 60);
		ring_drain(&ring, &attr, &sum);
	}
	event_disable(fd);
	count = event_read(fd);
	ring_drain(&ring, &attr, &sum);
	expect_samples("samples on many CPUs", count, 50000, 2, 2, sum.samples);
	expect_eq("sum of the periods", sum.samples * 50000ULL, sum.periods);
	expect_eq("samples older than the one before", 0, sum.backwards);
	close_sampling(&ring, fd);
}

static void other_cpus(void)
{
	int cpus[64], nr = usable_cpus(cpus, 64), i;

	for (i = 0; i < nr; i++) {
		struct perf_event_attr attr;
		int fd;

		attr_instructions(&attr);
		fd = event_open(&attr, -1, cpus[i], -1, 0);
		if (fd < 0) {
			ktap_fail("an event on CPU %d: expected a descriptor, got %s", cpus[i],
				  strerror(-fd));
			continue;
		}
		run_on(cpus[(i + 1) % nr]);
		event_enable(fd);
		run_on(cpus[i]);
		known_loop(ITERATIONS);
		run_on(cpus[(i + 1) % nr]);
		event_disable(fd);
		expect_range("instructions of another CPU", LOOP, 1000 * LOOP, event_read(fd));
		close(fd);
	}
}

static volatile unsigned int thread_failures;

/* @of_cpu: points to whether the thread's events are of a CPU, and count the kernel in turn */
static void *open_and_close(void *of_cpu)
{
	bool wide = *(bool *)of_cpu;
	struct perf_event_attr attr;
	int fd;

	for (int i = 0; i < 100; i++) {
		attr_instructions(&attr);
		attr.disabled = i & 1;
		if (i % 3 == 0 && (pmu.has & NEED_SAMPLING))
			attr.sample_period = 10000;
		if (wide && i % 4 < 2 && (pmu.has & NEED_KERNEL))
			attr.exclude_kernel = 0;
		fd = event_open(&attr, wide ? -1 : 0, wide ? pmu.cpu : -1, -1, 0);
		if (fd < 0) {
			__atomic_add_fetch(&thread_failures, 1, __ATOMIC_RELAXED);
			continue;
		}
		event_enable(fd);
		known_loop(1000);
		/* The thread may run on another CPU than the event's. */
		if (event_read(fd) < 1000 * LOOP_INSNS && !wide)
			__atomic_add_fetch(&thread_failures, 1, __ATOMIC_RELAXED);
		close(fd);
	}
	return NULL;
}

static void many_threads(void)
{
	/* Perf core schedules a CPU's events first: leave a counter to the thread's own event. */
	bool wide = (pmu.has & NEED_CPU_WIDE) && pmu.group > 2;
	bool of_cpu[8] = { wide, wide };
	pthread_t threads[8];

	thread_failures = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_create(&threads[i], NULL, open_and_close, &of_cpu[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	expect_eq("opens and counts that failed", 0, thread_failures);
	expect_sane();
}

static void closed_in_a_storm(void)
{
	struct perf_event_attr attr;
	int fd;

	for (int i = 0; i < 100; i++) {
		attr_sampling(&attr, 1 + i, PERF_SAMPLE_IP);
		attr.disabled = 0;
		fd = open_event(&attr);
		known_loop(1000);
		close(fd);
	}
	expect_sane();
}

static void cpu_goes_away(void)
{
	struct perf_event_attr attr;
	char path[128];
	int cpus[64], nr = usable_cpus(cpus, 64), cpu = cpus[nr - 1], task, wide, i;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	if (access(path, W_OK)) {
		ktap_skip("CPU %d cannot be taken offline: its file online is not writable", cpu);
		return;
	}
	task = open_instructions();
	attr_instructions(&attr);
	attr.disabled = 0;
	wide = event_open(&attr, -1, cpu, -1, 0);
	if (wide < 0) {
		ktap_fail("an event on CPU %d: expected a descriptor, got %s", cpu,
			  strerror(-wide));
		close(task);
		return;
	}
	event_enable(task);
	for (i = 0; i < 3; i++) {
		expect_eq("off line", 0, change_number(path, 0));
		known_loop(ITERATIONS);
		expect_eq("on line", 0, change_number(path, 1));
		known_loop(ITERATIONS);
	}
	event_disable(task);
	expect_range("instructions of a task meanwhile", 6 * LOOP, 7 * LOOP + 1000000,
		     event_read(task));
	close(wide);
	wide = event_open(&attr, -1, cpu, -1, 0);
	if (expect_true("the CPU that is back has counters", wide >= 0)) {
		run_on(cpu);
		known_loop(ITERATIONS);
		expect_range("instructions there", LOOP, 1000 * LOOP, event_read(wide));
		close(wide);
	}
	close(task);
	expect_sane();
}

static bool write_word(const char *path, const char *word)
{
	int fd = open(path, O_WRONLY);
	bool ok = fd >= 0 && write(fd, word, strlen(word)) == (ssize_t)strlen(word);

	if (fd >= 0)
		close(fd);
	return ok;
}

static void sleeps(void)
{
	u64 before;
	int fd;

	if (change_text("/sys/power/pm_test", "core")) {
		ktap_skip("this kernel has no test of suspend (CONFIG_PM_DEBUG)");
		return;
	}
	/* The default delay of a suspend test is five seconds. */
	change_number("/sys/module/suspend/parameters/pm_test_delay", 0);
	fd = open_instructions();
	event_enable(fd);
	known_loop(ITERATIONS);
	before = event_read(fd);
	if (!write_word("/sys/power/state", "mem") &&
	    !write_word("/sys/power/state", "freeze")) {
		ktap_skip("suspending: %s", strerror(errno));
	} else {
		/* Suspending takes all CPUs but the first off line: a task leaves the others. */
		run_on(pmu.cpu);
		known_loop(ITERATIONS);
		event_disable(fd);
		expect_range("instructions before and after", before + LOOP,
			     before + LOOP + 1000000, event_read(fd));
		expect_sane();
	}
	close(fd);
}

/* Read the last part of a link's target. */
static bool link_name(const char *path, char *name, size_t size)
{
	char target[PATH_MAX];
	ssize_t len = readlink(path, target, sizeof(target) - 1);
	char *last;

	if (len < 0)
		return false;
	target[len] = '\0';
	last = strrchr(target, '/');
	snprintf(name, size, "%s", last ? last + 1 : target);
	return true;
}

bool module_of_pmu(char *name, size_t size)
{
	char device[PATH_MAX], path[PATH_MAX + 64], refs[64];
	char *end;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s", pmu.name);
	/* One of the PMU's ancestors is the device that the driver is bound to. */
	if (realpath(path, device)) {
		while ((end = strrchr(device, '/')) && end > device + strlen("/sys")) {
			snprintf(path, sizeof(path), "%s/driver/module", device);
			if (link_name(path, name, size))
				return true;
			*end = '\0';
		}
	}
	/* Without a parent, try a module with the PMU's name that can be unloaded. */
	snprintf(path, sizeof(path), "/sys/module/%s/refcnt", pmu.name);
	if (!read_text(path, refs, sizeof(refs)))
		return false;
	snprintf(name, size, "%s", pmu.name);
	return true;
}

static void unload(void)
{
	char name[128], path[256], refs[64];
	int fd;

	if (!module_of_pmu(name, sizeof(name))) {
		ktap_skip("no link in sysfs names its module");
		return;
	}
	snprintf(path, sizeof(path), "/sys/module/%s/refcnt", name);
	if (!read_text(path, refs, sizeof(refs))) {
		ktap_skip("%s is not a module that can be unloaded", name);
		return;
	}
	fd = open_instructions();
	event_enable(fd);
	errno = 0;
	expect_eq("delete_module() under an event", -1,
		  syscall(SYS_delete_module, name, O_NONBLOCK));
	expect_eq("its error", EWOULDBLOCK, errno);
	known_loop(ITERATIONS);
	event_disable(fd);
	expect_count("instructions of the event", LOOP, event_read(fd));
	close(fd);
	expect_sane();
}

static const struct check checks[] = {
	{ "machine", "a task whose largest group migrates", COUNTED, migrates, NEED_CPUS,
	  ON_COUNTERS },
	{ "machine", "a task that migrates and is sampled", COUNTED, migrates_sampling,
	  NEED_CPUS | NEED_SAMPLING },
	{ "machine", "events of other CPUs", CPU_WIDE, other_cpus, NEED_CPUS | NEED_CPU_WIDE },
	{ "machine", "opened and closed by eight threads", COUNTED, many_threads, 0, ON_USER |
	  ON_COUNTERS },
	{ "machine", "closed in a storm", COUNTED, closed_in_a_storm, NEED_SAMPLING, ON_USER },
	{ "machine", "a CPU goes off line and comes back", COUNTED, cpu_goes_away, NEED_CPUS |
	  NEED_CPU_WIDE | NEED_DISRUPT },
	{ "machine", "suspended and resumed", COUNTED, sleeps, NEED_DISRUPT, ON_USER },
	{ "machine", "its module is not unloaded under an event",
	  "delete_module(2), man-pages 6.03: EWOULDBLOCK: \"O_NONBLOCK was specified in flags, but the reference count of this module is nonzero\"",
	  unload, NEED_PMU | NEED_DISRUPT },
};

const struct check_list machine_checks = { checks, ARRAY_SIZE(checks) };
