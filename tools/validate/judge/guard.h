/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * guard.h - what the checks change of the machine, and who puts it back
 *
 * What is to be put back is known outside of the check that changed it, in memory that all
 * processes of the program share. It is put back by the program when the check has ended,
 * however that was; by a process that only waits for this, the keeper, when the program itself
 * is killed.
 */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * guard_start() - allow changes from here on, and start the keeper
 *
 * Return: false when there can be no keeper; then changes stay refused.
 */
bool guard_start(void);

/**
 * guard_judge() - tell the keeper whom to end before it puts anything back
 * @group: the process group of the running check, or 0
 */
void guard_judge(pid_t group);

/**
 * guard_leave() - in a process that is not to hold the keeper back, the program's children
 */
void guard_leave(void);

/**
 * guard_restore() - put everything back, the latest change first
 */
void guard_restore(void);

/**
 * guard_stop() - put everything back, and let the keeper go
 */
void guard_stop(void);

/**
 * change_text() - change a file of /proc or /sys for as long as the check runs
 * @path: the file
 * @text: what to write
 *
 * Of a file that lists words with the chosen one in brackets, that word is put back.
 *
 * Return: 0, or a negative errno: -EPERM without guard_start(), and then nothing is written.
 */
int change_text(const char *path, const char *text);

/**
 * change_number() - the same with a number
 * @path: the file
 * @value: what to write
 *
 * Return: as change_text().
 */
int change_number(const char *path, long value);

/**
 * make_dir() - make a directory, a cgroup, for as long as the check runs
 * @path: the directory
 *
 * Return: as change_text().
 */
int make_dir(const char *path);

/**
 * watch_begin() - remember what the machine is like
 */
void watch_begin(void);

/**
 * watch_end() - see whether the machine is as it was
 * @tell: called with a sentence for each difference
 *
 * The kernel itself lowers perf_event_max_sample_rate while samples take long. Where changes
 * are allowed this is put back, too.
 */
void watch_end(void (*tell)(const char *sentence));

/* Perf core throttles an event that had so many samples since the last tick: rate / HZ. */
#define RATE_FILE	"/proc/sys/kernel/perf_event_max_sample_rate"
#define MAX_HZ		1000

#endif /* GUARD_H */
