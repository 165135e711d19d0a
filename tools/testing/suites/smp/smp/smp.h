/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * smp.h - what the races share, and the tests of the suite "smp"
 *
 * For the smp lane, where cycles are the host's time: nothing here is exact.
 * What must hold is that counts never go backwards, that events do not run
 * longer than they are enabled, and that everything ends. The guest's runner
 * looks for complaints in the kernel's log.
 */
#ifndef SMP_H
#define SMP_H

#include "ring.h"
#include "task.h"

#define MAX_CPUS	8
#define PERIOD		200000

/**
 * smp_cpus - how many CPUs the tests use, from the first on
 */
extern unsigned int smp_cpus;

/**
 * smp_random() - the next number of a sequence that is the same in each run
 * @state: of the sequence; any number to begin with
 *
 * Return: 16 bits.
 */
unsigned int smp_random(u32 *state);

/**
 * smp_busy_start() - keep all CPUs busy, with a thread each
 */
void smp_busy_start(void);

/**
 * smp_busy_end() - end what smp_busy_start() started
 */
void smp_busy_end(void);

/**
 * smp_check_times() - expect a count and its times to advance or stay, and the event not to run
 *	longer than it is enabled
 * @last: what was read before
 * @now: what was read now
 */
void smp_check_times(const struct event_times *last, const struct event_times *now);

/**
 * smp_every_cpu_counts() - expect an event on each CPU to count, and to have a counter all the time
 */
void smp_every_cpu_counts(void);

/**
 * smp_run_threads() - run threads, and expect each to return 0 troubles
 * @work: what each does, with its number from 1 on; returns its troubles
 * @nr: how many, at most 16
 */
void smp_run_threads(void *(*work)(void *), unsigned int nr);

extern const struct ktap_list smp_migrate_cases, smp_stress_cases, smp_family_cases,
	smp_remote_cases;

#endif /* SMP_H */
