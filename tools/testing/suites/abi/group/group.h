/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * group.h - the events of one test, and the tests of the suite "group"
 *
 * For the exact lane: one CPU, whose cycles and instructions are known.
 */
#ifndef GROUP_H
#define GROUP_H

#include "perf_util.h"

#define SHORT		50000UL
#define MAX_EVENTS	32
/* About 30 turns of the default 4 ms, at one instruction per nanosecond */
#define LONG		(120000000UL / LOOP_INSNS)

/**
 * group_fds - the events that the running test has opened
 */
extern int group_fds[MAX_EVENTS];

/**
 * group_configs - what each event counts: ARCH_EVENT_*
 */
extern u64 group_configs[MAX_EVENTS];

/**
 * group_nr - number of open events
 */
extern unsigned int group_nr;

/**
 * group_leader_enabled - whether leaders are opened enabled
 */
extern bool group_leader_enabled;

/**
 * group_start() - begin a test without events
 *
 * Leaders are opened disabled, and their siblings wait for them, as perf(1) opens groups.
 */
void group_start(void);

/**
 * group_start_enabled() - begin a test without events
 *
 * Leaders are opened enabled.
 */
void group_start_enabled(void);

/**
 * group_stop() - close all events
 */
void group_stop(void);

/**
 * group_try_open() - open an event with FORMAT_TIMES on the calling task
 * @config: ARCH_EVENT_*
 * @group: its leader, or -1
 *
 * Return: a descriptor, or a negative errno.
 */
int group_try_open(u64 config, int group);

/**
 * group_open() - group_try_open() that has to succeed
 * @config: ARCH_EVENT_*
 * @group: its leader, or -1
 *
 * Return: a descriptor, or a negative errno with which the running test has failed.
 */
int group_open(u64 config, int group);

/**
 * group_open_events() - open several events
 * @config: ARCH_EVENT_*
 * @nr: how many
 * @group: their leader; with -1 the first is that of the others
 *
 * Return: the leader, or a negative errno with which the running test has failed.
 */
int group_open_events(u64 config, unsigned int nr, int group);

/**
 * group_open_instructions() - open several instructions events
 * @nr: how many
 * @group: their leader; with -1 the first is that of the others
 *
 * Return: the leader, or a negative errno with which the running test has failed.
 */
int group_open_instructions(unsigned int nr, int group);

/**
 * group_check() - expect each member of the first event's group to count a loop exactly, and
 *	to have a counter all the time
 * @iterations: of known_loop()
 */
void group_check(unsigned long iterations);

extern const struct ktap_list group_fit_cases, group_rotate_cases, group_member_cases;

#endif /* GROUP_H */
