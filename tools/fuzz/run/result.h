/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * result.h - what came of a case, kept until nothing counts any more
 *
 * Printing a number takes instructions that depend on it, and which an event may count: results
 * are noted while a case runs, and printed after it.
 */
#ifndef RESULT_H
#define RESULT_H

#include "fuzz.h"

/**
 * result_clear() - forget the last case's
 */
void result_clear(void);

/**
 * result_note() - note a number
 * @what: a word for it
 * @event: of which event
 * @value: the number, or a negative errno
 */
void result_note(const char *what, unsigned int event, s64 value);

/**
 * result_note_call() - note what a system call returned, and count it
 * @counters: added to
 * @what: a word for it
 * @event: on which event
 * @ret: its return value; errno is valid if it is negative
 *
 * Return: whether it succeeded.
 */
bool result_note_call(struct fuzz_counters *counters, const char *what, unsigned int event,
		      long ret);

/**
 * result_note_count() - note a count: itself, or, if it need not repeat, whether it is 0
 * @what: a word for it
 * @event: of which event
 * @count: the count
 * @repeats: it is the same whatever the driver
 */
void result_note_count(const char *what, unsigned int event, u64 count, bool repeats);

#endif /* RESULT_H */
