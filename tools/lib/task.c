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
	unsigned int cpu;

	CPU_ZERO(&set);
	for (cpu = 0; cpu < nr; cpu++)
		CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

static bool tell(int fd, char what)
{
	return write(fd, &what, 1) == 1;
}

/* Return the next byte, or END if the pipe has no writer any more. */
static char hear(int fd)
{
	char what;

	return read(fd, &what, 1) == 1 ? what : END;
}

bool child_start(struct child *child, void (*work)(unsigned long), unsigned long arg)
{
	int go[2], done[2];

	if (pipe(go)) {
		ktap_fail("expected a pipe to a child, got %s", strerror(errno));
		return false;
	}
	if (pipe(done)) {
		ktap_fail("expected a pipe from a child, got %s", strerror(errno));
		close(go[0]);
		close(go[1]);
		return false;
	}
	fflush(stdout);
	child->pid = fork();
	if (!child->pid) {
		/* The parent has the other ends: if it dies, the child's reads end. */
		close(go[1]);
		close(done[0]);
		if (!tell(done[1], WORK))
			_exit(1);
		while (hear(go[0]) == WORK) {
			work(arg);
			if (!tell(done[1], WORK))
				_exit(1);
		}
		_exit(0);
	}
	close(go[0]);
	close(done[1]);
	child->go = go[1];
	child->done = done[0];
	if (child->pid < 0 || hear(child->done) != WORK) {
		ktap_fail("expected a child, got none");
		close(child->go);
		close(child->done);
		if (child->pid > 0)
			waitpid(child->pid, NULL, 0);
		return false;
	}
	/* Long enough for the child to block in its read */
	usleep(1000);
	return true;
}

void child_go(struct child *child)
{
	if (!tell(child->go, WORK))
		ktap_fail("expected a child to work, it died");
}

void child_run(struct child *child)
{
	child_go(child);
	if (hear(child->done) != WORK)
		ktap_fail("expected a child to end its work, it died");
}

static void end_with(struct child *child, char what)
{
	if (!tell(child->go, what))
		ktap_fail("expected a child to wait for its end, it died");
	close(child->go);
	close(child->done);
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
	close(child->go);
	close(child->done);
}
