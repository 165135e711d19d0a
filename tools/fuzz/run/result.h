/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * result.h - results of a case, stored while events count
 *
 * Printing a number takes instructions that depend on the number, and that an event may count. So
 * results are stored while a case runs, and printed after it.
 */
#ifndef RESULT_H
#define RESULT_H

#include "run/run.h"

/**
 * result_clear() - remove the last case's results
 */
void result_clear(void);

/**
 * result_note() - store a number
 * @what: name of the number
 * @event: number of the event
 * @value: the number, or a negative errno
 */
void result_note(const char *what, unsigned int event, s64 value);

/**
 * result_note_call() - store the return value of a system call, and count the call
 * @counters: added to
 * @what: name of the call
 * @event: number of the event
 * @ret: its return value; errno is valid if it is negative
 *
 * Return: true if the call succeeded.
 */
bool result_note_call(struct fuzz_counters *counters, const char *what, unsigned int event,
		      long ret);

/**
 * result_note_count() - store a count; if it may differ between runs, only whether it is 0
 * @what: name of the count
 * @event: number of the event
 * @count: the count
 * @repeats: the count is the same with every driver
 */
void result_note_count(const char *what, unsigned int event, u64 count, bool repeats);

#endif /* RESULT_H */
