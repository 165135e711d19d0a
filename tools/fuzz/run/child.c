// SPDX-License-Identifier: GPL-2.0-only
/*
 * child.c - other processes that a case counts
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch.h"
#include "child.h"

#define CHILD_ITERATIONS	1000
#define CHILD_STARTS_USEC	1000
#define TRACED_STEPS		100

static const char *path;
static pid_t child;
static int tell[2], told[2];

void child_init(const char *program)
{
	path = program;
}

void child_exec(int from, int to)
{
	char arg_from[12], arg_to[12];

	snprintf(arg_from, sizeof(arg_from), "%d", from);
	snprintf(arg_to, sizeof(arg_to), "%d", to);
	execl(path, path, "--child", arg_from, arg_to, (char *)NULL);
	_exit(1);
}

void child_main(int from, int to)
{
	char what;

	while (read(from, &what, 1) == 1) {
		if (what == CHILD_EXEC)
			child_exec(from, to);
		known_loop(CHILD_ITERATIONS);
		if (write(to, &what, 1) != 1)
			break;
	}
	_exit(0);
}

pid_t child_pid(void)
{
	if (child)
		return child;
	if (pipe(tell) || pipe(told))
		return -1;
	child = fork();
	if (!child) {
		close(tell[1]);
		close(told[0]);
		child_main(tell[0], told[1]);
	}
	close(tell[0]);
	close(told[1]);
	/* The child waits while an event is opened on it: nothing is counted until a request. */
	usleep(CHILD_STARTS_USEC);
	return child;
}

void child_tell(char what)
{
	char done;

	if (child <= 0)
		return;
	if (write(tell[1], &what, 1) != 1)
		return;
	/* The child does not report its exec: it is asked to run the loop then. */
	if (what == CHILD_EXEC)
		child_tell(CHILD_LOOP);
	else if (TEMP_FAILURE_RETRY(read(told[0], &done, 1)) != 1)
		return;
}

/*
 * This task may get a signal of an event while it waits. Then it must wait again, or the child
 * would stay stopped.
 */
static bool wait_for_stop(void)
{
	int status;

	return TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) == child && WIFSTOPPED(status);
}

void child_trace(void)
{
	const char what = CHILD_LOOP;
	char done;

	if (child <= 0 || ptrace(PTRACE_ATTACH, child, NULL, NULL))
		return;
	wait_for_stop();
	/* The child waits in a system call, which must end before it can be single-stepped. */
	if (write(tell[1], &what, 1) != 1)
		return;
	for (int i = 0; i < TRACED_STEPS; i++)
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) || !wait_for_stop())
			break;
	ptrace(PTRACE_DETACH, child, NULL, NULL);
	if (TEMP_FAILURE_RETRY(read(told[0], &done, 1)) != 1)
		return;
}

void child_end(void)
{
	if (child <= 0)
		return;
	close(tell[1]);
	close(told[0]);
	waitpid(child, NULL, 0);
	child = 0;
}

void child_fork_loop(unsigned long iterations)
{
	pid_t pid = fork();

	if (!pid) {
		known_loop(iterations);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}
