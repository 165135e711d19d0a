/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task.h - on which CPU a task runs, and children that work when they are told to
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
 * @nr: how many
 *
 * Return: false with errno when it can run on none of them.
 */
bool run_on_first(unsigned int nr);

/**
 * struct child - a child that works when it is told to
 * @pid: its process
 * @go: where it is told, one byte each time
 * @done: where it tells that it waits to be told
 */
struct child {
	pid_t pid;
	int go;
	int done;
};

/**
 * child_start() - start a child, which waits
 * @child: result, for child_run() and child_end()
 * @work: what it does each time that it is told to
 * @arg: for @work
 *
 * The child is blocked in a read when this returns: it uses no CPU, and what it executes
 * from here on is the same in each run.
 *
 * Return: false when there is none; then the running test has failed.
 */
bool child_start(struct child *child, void (*work)(unsigned long), unsigned long arg);

/**
 * child_run() - let the child work once, and wait until it has
 * @child: a child that waits
 *
 * A child that dies instead is a failure of the running test.
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
