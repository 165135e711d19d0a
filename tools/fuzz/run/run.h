/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.h - run cases: one at a time, against a race, or many at once
 */
#ifndef FUZZ_RUN_H
#define FUZZ_RUN_H

#include "fuzz.h"

/**
 * fuzz_run_init() - prepare for fuzz_run_case()
 * @pmu_type: attr.type of the PMU
 * @program: path of this program; with "--loop N" it runs the known loop
 */
void fuzz_run_init(u32 pmu_type, const char *program);

/**
 * fuzz_show_samples() - print the compared fields of samples from now on
 * @out: output
 */
void fuzz_show_samples(FILE *out);

/**
 * fuzz_running_fd() - return the descriptor of an event of the running case
 * @nr: number of the event
 *
 * Return: the descriptor, or -1.
 */
int fuzz_running_fd(unsigned int nr);

/**
 * struct fuzz_counters - numbers of calls so far
 * @opens: calls of perf_event_open(2)
 * @opened: successful ones
 * @calls: operations on descriptors
 * @succeeded: successful ones
 * @samples: samples read
 * @lost: lost records that the kernel reported
 */
struct fuzz_counters {
	u64 opens;
	u64 opened;
	u64 calls;
	u64 succeeded;
	u64 samples;
	u64 lost;
};

/**
 * fuzz_run_case() - run a case, and undo everything that it did
 * @fuzz: the case
 * @counters: added to
 *
 * fuzz_print_results() prints the results.
 */
void fuzz_run_case(const struct fuzz_case *fuzz, struct fuzz_counters *counters);

/**
 * fuzz_race() - do an operation on an event of the case that another thread runs
 * @rng: random numbers
 * @counters: added to
 */
void fuzz_race(struct fuzz_rng *rng, struct fuzz_counters *counters);

/**
 * fuzz_print_results() - print the last case's results in a line, without a newline
 * @out: output
 *
 * Words "WHAT:VALUE" in the order of the case. Values that may differ between drivers are omitted:
 * times, and counts that include the kernel's own work.
 */
void fuzz_print_results(FILE *out);

/*
 * Samples per second of each event that leave emulated CPUs time for other work. A debug kernel
 * takes about a millisecond for each.
 */
#define FUZZ_BURST_RATE		500
#define FUZZ_BURST_SECONDS	5

/**
 * struct fuzz_storm - a run of many tasks at once
 * @seed: seed of all tasks
 * @seconds: duration
 * @burst: seconds of a burst
 * @workers: tasks that run cases, each with a thread that races with it
 * @rate: samples per second that each event may have meanwhile
 * @hotplug: CPUs go offline and come back meanwhile
 * @faulty: the PMU has faults: the run does not check for exact counts afterwards
 */
struct fuzz_storm {
	u64 seed;
	unsigned int seconds;
	unsigned int burst;
	unsigned int workers;
	unsigned int rate;
	bool hotplug;
	bool faulty;
};

/**
 * fuzz_storm_run() - run a storm, and check now and then whether the PMU still works
 * @storm: its parameters
 *
 * Return: the exit status of the program.
 */
int fuzz_storm_run(const struct fuzz_storm *storm);

/**
 * fuzz_watch() - sample all CPUs, and read counters from user space, until a SIGTERM comes
 *
 * Return: the exit status of the program.
 */
int fuzz_watch(void);

/**
 * fuzz_load() - load and unload the module, each time during fuzz_watch()
 * @path: path of the module
 * @times: number of loads
 * @argc: number of @argv
 * @argv: arguments of target_init() after the module was loaded
 *
 * Return: the exit status of the program.
 */
int fuzz_load(const char *path, u64 times, int argc, char **argv);

/**
 * user_enter() - drop this thread's privileges
 * @paranoid: value for kernel.perf_event_paranoid, for the whole machine
 */
void user_enter(int paranoid);

/**
 * user_leave() - undo user_enter(), except for the sysctl
 */
void user_leave(void);

#endif /* FUZZ_RUN_H */
