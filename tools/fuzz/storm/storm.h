/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * storm.h - declarations for all tasks of a storm
 */
#ifndef STORM_H
#define STORM_H

#include <time.h>

#include "run/run.h"

/**
 * struct tally - numbers of all tasks, in shared memory
 * @fuzz: calls of tasks that run cases
 * @system: samples of all CPUs
 * @hotplugs: CPUs that went offline and came back
 * @files: files of sysfs that were read
 * @maps: unusual calls on mappings
 * @tracees: tasks that were traced while they had events
 * @cgroups: opened events of a control group
 * @looks: CPUs whose unused counters were checked
 * @bursts: bursts
 * @seconds: total duration of the bursts
 * @late: seconds that the last task of a burst took to end, in the slowest burst
 * @stuck: tasks that had to be killed
 * @crashed: tasks that a signal ended
 */
struct tally {
	struct fuzz_counters fuzz;
	u64 system;
	u64 hotplugs;
	u64 files;
	u64 maps;
	u64 tracees;
	u64 cgroups;
	u64 looks;
	u64 bursts;
	u64 seconds;
	u64 late;
	u64 stuck;
	u64 crashed;
};

extern struct tally *tally;

/**
 * tally_init() - create the tally, for the calling task and its children
 *
 * Return: true on success.
 */
bool tally_init(void);

/**
 * storm_now() - return seconds of a monotonic clock
 *
 * Return: seconds since some time.
 */
time_t storm_now(void);

/**
 * tally_add() - add to a number of the tally
 * @to: the number
 * @number: what to add
 */
void tally_add(u64 *to, u64 number);

/* Work beside the cases: each function is a task of its own, which ends at @end or soon after. */

/**
 * sample_system() - sample all CPUs, as `perf record -a` does
 * @seed: random seed
 * @end: time to end
 */
void sample_system(u64 seed, time_t end);

/**
 * use_sysfs() - read all files of the PMU, and change the multiplexing interval
 * @seed: random seed
 * @end: time to end
 */
void use_sysfs(u64 seed, time_t end);

/**
 * plug_cpus() - take CPUs offline, and bring them back
 * @seed: random seed
 * @end: time to end
 */
void plug_cpus(u64 seed, time_t end);

/**
 * use_maps() - do all operations on a buffer while samples are written to it: move, cut, protect,
 * fork, splice, poll
 * @seed: random seed
 * @end: time to end
 */
void use_maps(u64 seed, time_t end);

/**
 * trace_tasks() - stop and single-step tasks that have events, and that call exec(2) meanwhile
 * @seed: random seed
 * @end: time to end
 */
void trace_tasks(u64 seed, time_t end);

/**
 * use_cgroups() - open events of a control group that tasks join and leave, and that is removed
 * @seed: random seed
 * @end: time to end
 */
void use_cgroups(u64 seed, time_t end);

/**
 * twist_init() - find out the PMU's features
 */
void twist_init(void);

/**
 * twist_case() - add to a case, make it faster, and use features that only some PMUs have
 * @fuzz: the case
 * @rng: random numbers
 *
 * Cases are made to compare two drivers: some operations take long, and few request precise
 * samples or branch records that succeed.
 */
void twist_case(struct fuzz_case *fuzz, struct fuzz_rng *rng);

#endif /* STORM_H */
