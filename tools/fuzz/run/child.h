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
 * child_init() - get ready for the others
 * @program: path of this program
 */
void child_init(const char *program);

/**
 * child_pid() - the child that waits to be told what to do, made if need be
 *
 * Return: its process ID.
 */
pid_t child_pid(void);

/**
 * child_tell() - have the child do something, and wait until it has
 * @what: CHILD_LOOP or CHILD_EXEC
 */
void child_tell(char what);

/**
 * child_trace() - have the child run the loop, some steps of it one by one
 */
void child_trace(void);

/**
 * child_end() - the child ends, if there is one
 */
void child_end(void);

/**
 * child_fork_loop() - have a new process run the known loop
 * @iterations: of the loop
 */
void child_fork_loop(unsigned long iterations);

/**
 * child_main() - what the child does
 * @from: where it is told
 * @to: where it says that it is done
 */
void child_main(int from, int to) __attribute__((noreturn));

/**
 * child_exec() - replace the calling process by this program, which goes on as child_main()
 * @from: where it is told
 * @to: where it says that it is done
 */
void child_exec(int from, int to) __attribute__((noreturn));

#endif /* CHILD_H */
