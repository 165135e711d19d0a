// SPDX-License-Identifier: GPL-2.0-only
/*
 * tasks.c - events on tasks that are traced, and on control groups that tasks join and leave
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/child.h"
#include "perf_util.h"
#include "storm.h"
#include "run/run.h"

#define CGROUPS			"/sys/fs/cgroup"
#define TASK_LOOP		1000
#define TASK_EVENTS		4
#define TASK_PERIOD		50000
#define TASK_PAUSE_US		20000
#define SPIN_PAUSE_US		500
#define MOST_STEPS		40
#define CGROUP_MOVES		10
#define CGROUP_CPUS		8

/* Work until killed; with @exec, call exec(2) once. */
static pid_t spin(bool exec)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	for (unsigned int i = 0; !exec || i < 5; i++) {
		known_loop(TASK_LOOP);
		usleep(SPIN_PAUSE_US);
	}
	/* Any request that the child reads here is to run the loop. */
	child_exec(open("/dev/zero", O_RDONLY), open("/dev/null", O_WRONLY));
}

static int open_on(struct fuzz_rng *rng, pid_t pid, int cpu, unsigned long flags)
{
	struct fuzz_event event;

	fuzz_make_event(&event, rng, fuzz_percent(rng, 50));
	fuzz_attr_resolve(&event);
	/* The signal of a task's own event may end the task. */
	event.attr.sigtrap = 0;
	event.attr.disabled = fuzz_percent(rng, 20);
	event.attr.enable_on_exec = fuzz_percent(rng, 30);
	event.attr.remove_on_exec = fuzz_percent(rng, 20);
	event.attr.inherit = fuzz_percent(rng, 30);
	if (!event.attr.freq && event.attr.sample_period && event.attr.sample_period < TASK_PERIOD)
		event.attr.sample_period = TASK_PERIOD;
	return event_open(&event.attr, pid, cpu, -1, flags);
}

static void step(pid_t pid, unsigned int steps)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, pid, 0, 0))
		return;
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status) && steps--) {
		if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0))
			return;
	}
}

static void trace(struct fuzz_rng *rng)
{
	int fds[TASK_EVENTS] = { -1, -1, -1, -1 };
	pid_t pid = spin(fuzz_percent(rng, 50));
	char counts[512];
	unsigned int i;

	if (pid < 0)
		return;
	for (i = 0; i < TASK_EVENTS / 2; i++)
		fds[i] = open_on(rng, pid, -1, PERF_FLAG_FD_CLOEXEC);
	if (!ptrace(PTRACE_SEIZE, pid, 0, fuzz_percent(rng, 50) ? PTRACE_O_TRACEEXEC : 0)) {
		step(pid, fuzz_below(rng, MOST_STEPS));
		/* The task is stopped. */
		for (; i < TASK_EVENTS; i++)
			fds[i] = open_on(rng, pid, -1, PERF_FLAG_FD_CLOEXEC);
		ptrace(fuzz_percent(rng, 50) ? PTRACE_DETACH : PTRACE_CONT, pid, 0, 0);
		tally_add(&tally->tracees, 1);
	}
	usleep(fuzz_below(rng, TASK_PAUSE_US));
	for (i = 0; i < TASK_EVENTS; i++) {
		if (fds[i] >= 0 && read(fds[i], counts, sizeof(counts)) < 0)
			ioctl(fds[i], PERF_EVENT_IOC_RESET, 0);
	}
	if (fuzz_percent(rng, 50))
		close_all(fds, TASK_EVENTS);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	close_all(fds, TASK_EVENTS);
}

void trace_tasks(u64 seed, time_t end)
{
	struct fuzz_rng rng = { .state = seed ^ TASK_PERIOD };

	while (storm_now() < end) {
		trace(&rng);
		usleep(TASK_PAUSE_US);
	}
}

static void move_to(const char *group, pid_t pid)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	write_number(path, pid);
}

static void use_cgroup(struct fuzz_rng *rng, const char *group)
{
	int fds[CGROUP_CPUS], cpus = sysconf(_SC_NPROCESSORS_CONF), i, dir;
	char counts[512];
	pid_t pid;

	if (mkdir(group, 0755) && errno != EEXIST)
		return;
	dir = open(group, O_RDONLY | O_DIRECTORY);
	pid = spin(false);
	for (i = 0; i < CGROUP_CPUS; i++) {
		fds[i] = open_on(rng, dir, i % cpus, PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC);
		tally_add(&tally->cgroups, fds[i] >= 0);
	}
	for (i = 0; i < CGROUP_MOVES; i++) {
		move_to(i & 1 ? CGROUPS : group, pid);
		usleep(fuzz_below(rng, TASK_PAUSE_US / 4));
		if (read(fds[i % CGROUP_CPUS], counts, sizeof(counts)) < 0)
			sched_yield();
	}
	/* Remove the group before its events, or after. */
	if (fuzz_percent(rng, 50))
		close_all(fds, CGROUP_CPUS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(dir);
	rmdir(group);
	close_all(fds, CGROUP_CPUS);
}

void use_cgroups(u64 seed, time_t end)
{
	struct fuzz_rng rng = { .state = seed ^ CGROUP_MOVES };
	char group[64];

	snprintf(group, sizeof(group), CGROUPS "/fuzz-%d", getpid());
	while (storm_now() < end) {
		use_cgroup(&rng, group);
		usleep(TASK_PAUSE_US);
	}
	rmdir(group);
}
