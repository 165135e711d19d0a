/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task.h - the CPU of a task, and children that work on request
 */
#ifndef TASK_H
#define TASK_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * run_on() - move the calling thread to a CPU, and keep it there
 * @cpu: the CPU
 *
 * Return: false with errno when it cannot run there.
 */
bool run_on(unsigned int cpu);

/**
 * run_on_first() - let the calling thread run on any of the first CPUs
 * @nr: number of CPUs
 *
 * Return: false with errno if it can run on none of them.
 */
bool run_on_first(unsigned int nr);

/**
 * context_switches() - return how often this process was scheduled out
 */
long context_switches(void);

/**
 * stop_self() - stop the calling process until it gets SIGCONT
 */
void stop_self(void);

/**
 * wait_stopped() - wait until a child process has stopped
 * @pid: the child process
 *
 * Unlike a child that has only written an answer, a stopped child executes no further instruction
 * of user space.
 *
 * Return: false if the child has ended.
 */
bool wait_stopped(pid_t pid);

/**
 * struct child - a child process that works on request, and is stopped otherwise
 * @pid: its process ID
 * @requests: pipe for requests, one byte each
 * @works: the child has a request, and has not been seen stopped since
 */
struct child {
	pid_t pid;
	int requests;
	bool works;
};

/**
 * child_start() - start a child, which waits for requests
 * @child: result, for child_run() and child_end()
 * @work: function that the child calls for each request
 * @arg: argument of @work
 *
 * At the return the child is stopped: it uses no CPU, and it executes the same instructions in
 * each run from there on.
 *
 * Return: false on failure; then the running test has failed.
 */
bool child_start(struct child *child, void (*work)(unsigned long), unsigned long arg);

/**
 * child_go() - let the child work once, and return at once
 * @child: a child that waits
 */
void child_go(struct child *child);

/**
 * child_run() - let the child work once, and wait until it has stopped
 * @child: a child that waits
 *
 * A child that dies instead fails the running test.
 */
void child_run(struct child *child);

/**
 * child_run_last() - let the child work once, and wait until it has exited
 * @child: a child that waits, and whose work does not return
 */
void child_run_last(struct child *child);

/**
 * child_end() - let the child exit, and wait until it has
 * @child: a child that waits
 */
void child_end(struct child *child);

/**
 * child_kill() - kill the child, and wait until it has ended
 * @child: a child that waits
 */
void child_kill(struct child *child);

#endif /* TASK_H */
