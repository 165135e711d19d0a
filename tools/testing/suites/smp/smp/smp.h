/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * smp.h - functions that all races use, and the tests of the suite "smp"
 *
 * For the smp lane, where cycles are the host's time: no count is exact. Counts must never go
 * backwards, an event must not run longer than it is enabled, and everything must end. run-guest
 * checks the kernel's log for complaints.
 */
#ifndef SMP_H
#define SMP_H

#include "perf_util.h"
#include "task.h"

#define MAX_CPUS	8
#define PERIOD		200000

/**
 * smp_cpus - number of CPUs that the tests use, from CPU 0 on
 */
extern unsigned int smp_cpus;

/**
 * smp_random() - return the next number of a sequence that is the same in each run
 * @state: state of the sequence; any number at the start
 *
 * Return: 16 bits.
 */
unsigned int smp_random(u32 *state);

/**
 * smp_busy_start() - keep all CPUs busy, with a thread each
 */
void smp_busy_start(void);

/**
 * smp_busy_end() - end the threads that smp_busy_start() has started
 */
void smp_busy_end(void);

/**
 * smp_check_times() - expect a count and its times not to go backwards, and the event not to run
 * longer than it is enabled
 * @last: previous values
 * @now: present values
 */
void smp_check_times(const struct event_times *last, const struct event_times *now);

/**
 * smp_every_cpu_counts() - expect an event on each CPU to count, and to have a counter all the
 * time
 */
void smp_every_cpu_counts(void);

/**
 * smp_run_threads() - run threads, and expect each to return 0 failures
 * @work: function of each thread, called with its number from 1 on; returns its number of
 *	failures
 * @nr: number of threads, at most 16
 */
void smp_run_threads(void *(*work)(void *), unsigned int nr);

extern const struct ktap_list smp_migrate_cases, smp_stress_cases, smp_family_cases,
	smp_remote_cases;

#endif /* SMP_H */
