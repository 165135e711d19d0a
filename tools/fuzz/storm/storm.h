/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * storm.h - what the tasks of a storm share
 */
#ifndef STORM_H
#define STORM_H

#include <time.h>

#include "fuzz.h"

/**
 * struct tally - what all tasks did, in memory that they share
 * @fuzz: of those that run cases
 * @system: samples of all CPUs
 * @hotplugs: CPUs that went and came back
 * @files: files of sysfs that were read
 * @maps: calls on mappings that something odd is done to
 * @tracees: tasks that were traced while events were on them
 * @cgroups: events of a control group that were opened
 * @looks: CPUs on which the counters of nobody were looked at
 * @bursts: bursts
 * @seconds: that they took together
 * @late: seconds that the last task of a burst took to end, of the burst that took longest
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
 * tally_init() - have a tally, for the calling task and its children
 *
 * Return: whether there is one.
 */
bool tally_init(void);

/**
 * storm_now() - seconds of a clock that nobody sets
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

/*
 * What runs beside the cases: each is a task of its own, which ends when it is told to or soon
 * after.
 */

/**
 * sample_system() - sample all CPUs, as `perf record -a` does
 * @seed: of what it does
 * @end: when to end
 */
void sample_system(u64 seed, time_t end);

/**
 * use_sysfs() - read all files of the PMU, and change the time of multiplexing
 * @seed: of what it does
 * @end: when to end
 */
void use_sysfs(u64 seed, time_t end);

/**
 * plug_cpus() - take CPUs away, and bring them back
 * @seed: of what it does
 * @end: when to end
 */
void plug_cpus(u64 seed, time_t end);

/**
 * use_maps() - do what can be done to a buffer that samples are being written to: move, cut,
 *	protect, fork, splice, poll
 * @seed: of what it does
 * @end: when to end
 */
void use_maps(u64 seed, time_t end);

/**
 * trace_tasks() - stop and step tasks that events are on, which replace themselves meanwhile
 * @seed: of what it does
 * @end: when to end
 */
void trace_tasks(u64 seed, time_t end);

/**
 * use_cgroups() - events of a control group that tasks join and leave, and that goes
 * @seed: of what it does
 * @end: when to end
 */
void use_cgroups(u64 seed, time_t end);

/**
 * twist_init() - find out what the PMU can do
 */
void twist_init(void);

/**
 * twist_case() - have a case do more, sooner, and with what only some PMUs have
 * @fuzz: the case
 * @rng: where it comes from
 *
 * Cases are made for two drivers to be compared: some of what they do takes long, and few of
 * them ask for precise samples or branch records in a way that is answered with some.
 */
void twist_case(struct fuzz_case *fuzz, struct fuzz_rng *rng);

#endif /* STORM_H */
