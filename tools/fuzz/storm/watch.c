// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch.c - sample all CPUs, and read counters in user space, until killed
 *
 * For tests that take CPUs offline or unload the module meanwhile, or right afterwards.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"
#include "user_util.h"
#include "run/run.h"

#define MOST_READERS		8
#define READER_LOOP		1000
/* A reader sleeps now and then: the process that runs the test needs the CPU, too. */
#define READS_IN_A_ROW		100
#define READER_PAUSE_US		10000
/* Maximum time of a watch: a day */
#define WATCH_SECONDS		86400

/**
 * struct reads - reads of tasks' own counters, in shared memory
 * @good: reads of a counter
 * @none: reads without a counter at the moment
 * @backwards: counts lower than the previous one
 */
struct reads {
	u64 good;
	u64 none;
	u64 backwards;
};

static struct reads *reads;

static void read_counters(int cpu)
{
	struct reader reader;
	unsigned int in_a_row = 0;
	u64 count, last = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (!reader_open(&reader, ARCH_EVENT_INSTRUCTIONS, 0))
		_exit(1);
	event_enable(reader.fd);
	for (;;) {
		known_loop(READER_LOOP);
		if (++in_a_row == READS_IN_A_ROW) {
			in_a_row = 0;
			usleep(READER_PAUSE_US);
		}
		if (!user_read(reader.page, &count)) {
			tally_add(&reads->none, 1);
			sched_yield();
			continue;
		}
		tally_add(&reads->good, 1);
		tally_add(&reads->backwards, count < last);
		last = count;
	}
}

static void note_end(int sig)
{
	(void)sig;
}

static pid_t start_sampling(void)
{
	pid_t pid = fork();

	if (!pid) {
		sample_system(0, storm_now() + WATCH_SECONDS);
		_exit(0);
	}
	return pid;
}

int fuzz_watch(void)
{
	struct sigaction action = { .sa_handler = note_end };
	long cpus = sysconf(_SC_NPROCESSORS_CONF), cpu, allowed = user_read_allowed();
	pid_t pids[MOST_READERS + 1];
	unsigned int nr = 0;
	sigset_t term, old;

	reads = mmap(NULL, sizeof(*reads), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (reads == MAP_FAILED || !tally_init())
		return 1;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &old);
	sigaction(SIGTERM, &action, NULL);
	user_read_allow(1);
	pids[nr++] = start_sampling();
	for (cpu = 0; cpu < cpus && nr <= MOST_READERS; cpu++) {
		pids[nr] = fork();
		if (!pids[nr])
			read_counters(cpu);
		nr++;
	}
	sigsuspend(&old);
	while (nr--) {
		kill(pids[nr], SIGKILL);
		waitpid(pids[nr], NULL, 0);
	}
	if (allowed >= 0)
		user_read_allow(allowed);
	printf("# watch: %llu samples, %llu reads, %llu without a counter, %llu backwards\n",
	       (unsigned long long)tally->system, (unsigned long long)reads->good,
	       (unsigned long long)reads->none, (unsigned long long)reads->backwards);
	return reads->backwards ? 1 : 0;
}
