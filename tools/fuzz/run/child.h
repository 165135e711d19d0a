/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * child.h - other processes that a case counts
 */
#ifndef CHILD_H
#define CHILD_H

#include <sys/types.h>

#define CHILD_LOOP	'l'	/* run the known loop */
#define CHILD_EXEC	'x'	/* replace itself by this program, and go on */

/**
 * child_init() - prepare for child_*()
 * @program: path of this program
 */
void child_init(const char *program);

/**
 * child_pid() - return the child that waits for requests, and start it if need be
 *
 * Return: its process ID.
 */
pid_t child_pid(void);

/**
 * child_tell() - send the child a request, and wait until it has finished
 * @what: CHILD_LOOP or CHILD_EXEC
 */
void child_tell(char what);

/**
 * child_trace() - let the child run the loop, and single-step a part of it
 */
void child_trace(void);

/**
 * child_end() - end the child, if it exists
 */
void child_end(void);

/**
 * child_fork_loop() - run the known loop in a new process
 * @iterations: of the loop
 */
void child_fork_loop(unsigned long iterations);

/**
 * child_main() - execute requests in the child
 * @from: pipe of requests
 * @to: pipe of replies
 */
void child_main(int from, int to) __attribute__((noreturn));

/**
 * child_exec() - execute this program in the calling process, which continues as child_main()
 * @from: pipe of requests
 * @to: pipe of replies
 */
void child_exec(int from, int to) __attribute__((noreturn));

#endif /* CHILD_H */
