// SPDX-License-Identifier: GPL-2.0-only
/*
 * task.c - the CPU of a task, and children that work on request
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktap.h"
#include "task.h"

/* Requests to a child */
#define WORK	'w'
#define END	'x'

bool run_on(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

bool run_on_first(unsigned int nr)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned int cpu = 0; cpu < nr; cpu++)
		CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

long context_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

void stop_self(void)
{
	kill(getpid(), SIGSTOP);
}

bool wait_stopped(pid_t pid)
{
	int status;
	pid_t got;

	do
		got = waitpid(pid, &status, WUNTRACED);
	while (got < 0 && errno == EINTR);
	return got == pid && WIFSTOPPED(status);
}

/* The child's part. The pipe says what to do; SIGCONT says when. */
static void serve(int requests, void (*work)(unsigned long), unsigned long arg, pid_t parent)
{
	char what;

	/* The parent may have died before the system call. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
	stop_self();
	while (read(requests, &what, 1) == 1 && what == WORK) {
		work(arg);
		stop_self();
	}
	_exit(0);
}

bool child_start(struct child *child, void (*work)(unsigned long), unsigned long arg)
{
	pid_t parent = getpid();
	int requests[2];

	if (pipe(requests)) {
		ktap_fail("expected a pipe to a child, got %s", strerror(errno));
		return false;
	}
	fflush(stdout);
	child->pid = fork();
	if (!child->pid)
		serve(requests[0], work, arg, parent);
	close(requests[0]);
	child->requests = requests[1];
	child->works = false;
	if (child->pid < 0 || !wait_stopped(child->pid)) {
		ktap_fail("expected a child, got none");
		close(child->requests);
		return false;
	}
	return true;
}

static void request(struct child *child, char what)
{
	if (write(child->requests, &what, 1) != 1 || kill(child->pid, SIGCONT))
		ktap_fail("expected a child to take a request, it died");
}

void child_go(struct child *child)
{
	request(child, WORK);
	child->works = true;
}

static void finish(struct child *child)
{
	if (!wait_stopped(child->pid))
		ktap_fail("expected a child to end its work, it died");
	child->works = false;
}

void child_run(struct child *child)
{
	child_go(child);
	finish(child);
}

static void end_with(struct child *child, char what)
{
	if (child->works)
		finish(child);
	request(child, what);
	close(child->requests);
	waitpid(child->pid, NULL, 0);
}

void child_run_last(struct child *child)
{
	end_with(child, WORK);
}

void child_end(struct child *child)
{
	end_with(child, END);
}

void child_kill(struct child *child)
{
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	close(child->requests);
}
