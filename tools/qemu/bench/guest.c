// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guest of the benchmark: /init of an initial RAM disk. It does fixed work in one state of the
 * PMU after the other. For each work it writes two lines to the console: "begin STATE WORK", and
 * "end STATE WORK". After each, it waits for a line from the console: the host reads its clock.
 *
 * The variable "states" of the environment has the names of the states; without it there is one,
 * "plain".
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS_MAX	64

/* ---- the work: about the same time each ---- */

static void loop(void)
{
	unsigned long n = 100000000ul;

	while (n--)
		asm volatile("" ::: "memory");
}

static uint32_t hash_of(const char *text)
{
	uint32_t hash = 5381;

	while (*text)
		hash = hash * 33 ^ (unsigned char)*text++;
	return hash;
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Format, hash, sort and search: branches that are hard to predict, calls, loads and stores */
static void mixed(void)
{
	static char words[1024][16];
	uint32_t state = 1;

	for (unsigned int round = 0; round < 120; round++) {
		for (unsigned int i = 0; i < 1024; i++) {
			state = state * 1664525 + 1013904223;
			snprintf(words[i], sizeof(words[i]), "%x", state);
		}
		qsort(words, 1024, sizeof(words[0]), compare);
		for (unsigned int i = 0; i < 1024; i++)
			state += hash_of(words[i]) +
				 !bsearch(words[i], words, 1024, sizeof(words[0]), compare);
	}
	asm volatile("" :: "r"(state));
}

static void system_calls(void)
{
	unsigned int n = 500000;

	while (n--)
		syscall(SYS_getppid);
}

static void forks(void)
{
	unsigned int n = 200;

	while (n--) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} works[] = {
	{ "loop", loop }, { "mixed", mixed }, { "calls", system_calls }, { "forks", forks },
};

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static void mark(const char *what, const char *state, const char *work)
{
	int c;

	printf("%s %s %s\n", what, state, work);
	do
		c = getchar();
	while (c != '\n' && c != EOF);
}

static int nr_cpus;

/* Do work on each CPU; with one CPU, in this process */
static void work_on_cpus(void (*run)(void))
{
	cpu_set_t set;

	if (nr_cpus == 1) {
		run();
		return;
	}
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		if (fork())
			continue;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
		run();
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
}

/* The work is done once before the measurement: QEMU then has translated the code. */
static void measure(const char *state)
{
	const char *states = getenv("states");

	if (states && !strstr(states, state))
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(works); i++)
		work_on_cpus(works[i].run);
	for (unsigned int i = 0; i < ARRAY_SIZE(works); i++) {
		mark("begin", state, works[i].name);
		work_on_cpus(works[i].run);
		mark("end", state, works[i].name);
	}
}

/* ---- the states ---- */

static int events[EVENTS_MAX];
static unsigned int nr_events;

static void open_event(const char *state, struct perf_event_attr *attr)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_HARDWARE;
	attr->pinned = 1;
	for (int cpu = 0; cpu < nr_cpus && nr_events < EVENTS_MAX; cpu++) {
		fd = syscall(SYS_perf_event_open, attr, -1, cpu, -1, 0);
		if (fd < 0)
			printf("failed %s: %m\n", state);
		else
			events[nr_events++] = fd;
	}
}

static void count(const char *state, uint64_t config)
{
	open_event(state, &(struct perf_event_attr) { .config = config });
}

static void close_events(void)
{
	while (nr_events)
		close(events[--nr_events]);
}

static void measure_states(void)
{
	struct perf_event_attr branches = {
		.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS, .sample_period = 1000000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER |
				      PERF_SAMPLE_BRANCH_KERNEL,
	};
#ifdef __x86_64__
	struct perf_event_attr precise = {
		.config = PERF_COUNT_HW_INSTRUCTIONS, .sample_period = 10000, .precise_ip = 2,
		.sample_type = PERF_SAMPLE_IP,
	};
#endif

	measure("idle");
	count("three", PERF_COUNT_HW_INSTRUCTIONS);
	count("three", PERF_COUNT_HW_CPU_CYCLES);
	count("three", PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	measure("three");
	count("misses", PERF_COUNT_HW_BRANCH_MISSES);
	measure("misses");
	close_events();
	measure("closed");
	open_event("records", &branches);
	measure("records");
	close_events();
#ifdef __x86_64__
	open_event("precise", &precise);
	measure("precise");
	close_events();
#endif
}

int main(void)
{
	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (getenv("states"))
		measure_states();
	else
		measure("plain");
	printf("done\n");
	sync();
	reboot(RB_AUTOBOOT);
	return 1;
}
