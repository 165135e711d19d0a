/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * guard.h - changes of the machine by checks, and their restoration
 *
 * Memory that all processes of the program share has the values to restore. The program restores
 * them when a check has ended in any way. If the program itself is killed, a process that only
 * waits for this, the keeper, restores them.
 */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * guard_start() - allow changes from now on, and start the keeper
 *
 * Return: false if the keeper cannot be started; then changes stay refused.
 */
bool guard_start(void);

/**
 * guard_judge() - set the processes that the keeper kills before it restores anything
 * @group: the process group of the running check, or 0
 */
void guard_judge(pid_t group);

/**
 * guard_leave() - close a child's end of the keeper's pipe, so that the keeper does not wait for it
 */
void guard_leave(void);

/**
 * guard_restore() - undo all changes, the latest first
 */
void guard_restore(void);

/**
 * guard_stop() - undo all changes, and end the keeper
 */
void guard_stop(void);

/**
 * change_text() - change a file of /proc or /sys while the check runs
 * @path: the file
 * @text: the text to write
 *
 * If the file lists words with the selected one in brackets, that word is restored.
 *
 * Return: 0, or a negative errno; -EPERM without guard_start(): nothing is written.
 */
int change_text(const char *path, const char *text);

/**
 * change_number() - change a file to a number while the check runs
 * @path: the file
 * @value: the number to write
 *
 * Return: as change_text().
 */
int change_number(const char *path, long value);

/**
 * make_dir() - make a directory, such as a cgroup, while the check runs
 * @path: the directory
 *
 * Return: as change_text().
 */
int make_dir(const char *path);

/**
 * watch_begin() - note the machine's settings
 */
void watch_begin(void);

/**
 * watch_end() - check that the machine's settings have not changed
 * @report: called with a sentence for each difference
 *
 * The kernel lowers perf_event_max_sample_rate if samples take long. If changes are allowed, this
 * function restores the settings.
 */
void watch_end(void (*report)(const char *sentence));

/* Perf core throttles an event with more than rate / HZ samples since the last tick. */
#define RATE_FILE	"/proc/sys/kernel/perf_event_max_sample_rate"
#define MAX_HZ		1000

/* The limit of the time that samples take, in percent; 0 and 100 turn the limit off. */
#define PERCENT_FILE	"/proc/sys/kernel/perf_cpu_time_max_percent"

#endif /* GUARD_H */
