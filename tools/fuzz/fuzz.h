/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz.h - cases of perf_event_open(2), made from a seed
 *
 * A case is a few events, and operations on their descriptors. The same seed and number
 * make the same case on every machine: what depends on the PMU (its type, numbers of its
 * events) is put in when the case is run.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t u64;
typedef uint32_t u32;
typedef int64_t s64;

#define FUZZ_EVENTS	12
#define FUZZ_OPS	20

/* Members that headers of this machine may lack, by their place in struct perf_event_attr */
#define FUZZ_ATTR_WORDS	32
#define FUZZ_CONFIG3	16
#define FUZZ_ATTR_VER8	136

/**
 * struct fuzz_rng - a stream of random numbers
 * @state: of splitmix64
 */
struct fuzz_rng {
	u64 state;
};

/** enum fuzz_type - whose event it is */
enum fuzz_type {
	FUZZ_HARDWARE,	/* PERF_TYPE_HARDWARE */
	FUZZ_CACHE,	/* PERF_TYPE_HW_CACHE */
	FUZZ_RAW,	/* PERF_TYPE_RAW */
	FUZZ_OWN,	/* the type of the PMU */
	FUZZ_EXTENDED,	/* PERF_TYPE_HARDWARE, the PMU's type in the upper half of config */
	FUZZ_SOFTWARE,
	FUZZ_BREAKPOINT,
	FUZZ_BOGUS,	/* a type that nobody has */
};

/** enum fuzz_code - an event of the PMU's, whatever its number */
enum fuzz_code {
	FUZZ_CYCLES,
	FUZZ_INSTRUCTIONS,
	FUZZ_BRANCHES,
	FUZZ_SILENT,
	FUZZ_ZERO,	/* the number 0: attr.config alone says what is asked for */
	FUZZ_ROW,	/* an event of real microarchitectures, see machine.c */
};

/** enum fuzz_pid - the task */
enum fuzz_pid {
	FUZZ_SELF,
	FUZZ_ALL,	/* -1 */
	FUZZ_CHILD,	/* a child that waits to be told what to do */
	FUZZ_GONE,	/* a process that there is not */
	FUZZ_CGROUP,	/* the tasks of a control group */
};

/* More than a table of machine.c has */
#define FUZZ_ROWS	1024

#define FUZZ_NO_GROUP	(-1)
#define FUZZ_BAD_GROUP	(-2)	/* a descriptor of no event */
#define FUZZ_BAD_CPU	4095

/**
 * struct fuzz_event - one call of perf_event_open(2)
 * @attr: but for type and what @code stands for
 * @words: the same, with what comes after it
 * @type: for attr.type
 * @code: or-ed to attr.config when @type is FUZZ_RAW or FUZZ_OWN
 * @row: which one, of FUZZ_ROW
 * @pid: task
 * @cpu: CPU
 * @group: number of the leader in the case, or FUZZ_NO_GROUP, FUZZ_BAD_GROUP
 * @flags: PERF_FLAG_*
 */
struct fuzz_event {
	union {
		struct perf_event_attr attr;
		u64 words[FUZZ_ATTR_WORDS];
	};
	enum fuzz_type type;
	enum fuzz_code code;
	unsigned int row;
	enum fuzz_pid pid;
	int cpu;
	int group;
	unsigned long flags;
};

/** enum fuzz_op_kind - what is done with a descriptor */
enum fuzz_op_kind {
	FUZZ_ENABLE,
	FUZZ_DISABLE,
	FUZZ_RESET,
	FUZZ_ENABLE_GROUP,
	FUZZ_DISABLE_GROUP,
	FUZZ_RESET_GROUP,
	FUZZ_LOOP,		/* run the known loop, arg times */
	FUZZ_MEMORY,		/* run a loop that loads and stores */
	FUZZ_FORK_LOOP,		/* have a new process run it */
	FUZZ_CHILD_LOOP,	/* have the child that waits run it */
	FUZZ_CHILD_EXEC,	/* have it replace itself, and run it */
	FUZZ_CHILD_TRACE,	/* have it run it, some steps of that one by one */
	FUZZ_READ,
	FUZZ_READ_SHORT,	/* into arg bytes */
	FUZZ_REFRESH,
	FUZZ_PERIOD,
	FUZZ_SET_OUTPUT,	/* to the event arg; the number of events stands for -1 */
	FUZZ_SET_FILTER,
	FUZZ_ID,
	FUZZ_SET_BPF,
	FUZZ_QUERY_BPF,
	FUZZ_PAUSE_OUTPUT,
	FUZZ_MODIFY,		/* MODIFY_ATTRIBUTES to those of the event arg */
	FUZZ_UNKNOWN_IOCTL,
	FUZZ_MMAP,		/* arg pages of data */
	FUZZ_MMAP_READ_ONLY,
	FUZZ_MMAP_AUX,
	FUZZ_MUNMAP,
	FUZZ_DRAIN,		/* count the records there */
	FUZZ_USER_READ,		/* read the counter without a system call */
	FUZZ_POLL,
	FUZZ_ASYNC,		/* SIGIO at overflows */
	FUZZ_PRCTL_DISABLE,
	FUZZ_PRCTL_ENABLE,
	FUZZ_CLOSE,
	FUZZ_NR_OPS
};

/**
 * struct fuzz_op - one operation
 * @kind: which
 * @event: on the descriptor of this event
 * @arg: see there
 */
struct fuzz_op {
	enum fuzz_op_kind kind;
	unsigned int event;
	u64 arg;
};

/**
 * struct fuzz_case - some events and what is done with them
 * @nr_events: how many events
 * @nr_ops: how many operations
 * @events: opened in this order
 * @ops: done in this order
 */
struct fuzz_case {
	unsigned int nr_events;
	unsigned int nr_ops;
	struct fuzz_event events[FUZZ_EVENTS];
	struct fuzz_op ops[FUZZ_OPS];
};

/**
 * fuzz_random() - the next number
 * @rng: the stream
 *
 * Return: any 64 bits.
 */
u64 fuzz_random(struct fuzz_rng *rng);

/**
 * fuzz_below() - a number below another
 * @rng: the stream
 * @limit: not 0
 *
 * Return: 0 to @limit - 1.
 */
u64 fuzz_below(struct fuzz_rng *rng, u64 limit);

/**
 * fuzz_percent() - whether something happens that does so often
 * @rng: the stream
 * @percent: how often
 *
 * Return: whether it does.
 */
bool fuzz_percent(struct fuzz_rng *rng, unsigned int percent);

/**
 * fuzz_edge() - a number where things go wrong
 * @rng: the stream
 *
 * Return: 0, 1, a power of two, one less, one more, all ones, or any number.
 */
u64 fuzz_edge(struct fuzz_rng *rng);

/**
 * fuzz_make_event() - an event, which is one that opens more often than not
 * @event: result
 * @rng: where it comes from
 * @sampling: it takes samples
 */
void fuzz_make_event(struct fuzz_event *event, struct fuzz_rng *rng, bool sampling);

/**
 * fuzz_make_op() - an operation
 * @op: result
 * @rng: where it comes from
 * @nr_events: how many events there are
 */
void fuzz_make_op(struct fuzz_op *op, struct fuzz_rng *rng, unsigned int nr_events);

/**
 * fuzz_make_case() - case @number of @seed
 * @fuzz: result
 * @seed: of the run
 * @number: of the case
 */
void fuzz_make_case(struct fuzz_case *fuzz, u64 seed, u64 number);

/**
 * fuzz_describe_machine() - say whose events the rows of the tables are, in words and programs
 * @name: "intel", "amd" or "arm64"
 *
 * Return: whether it is one of these.
 */
bool fuzz_describe_machine(const char *name);

/**
 * fuzz_print_program() - print a case as a C program that needs nothing of this one
 * @out: where to
 * @fuzz: the case
 *
 * For the machine that was said.
 */
void fuzz_print_program(FILE *out, const struct fuzz_case *fuzz);

/**
 * fuzz_describe() - print a case in a line
 * @out: where to
 * @fuzz: the case
 */
void fuzz_describe(FILE *out, const struct fuzz_case *fuzz);

/**
 * fuzz_run_init() - get ready for fuzz_run_case()
 * @pmu_type: attr.type of the PMU
 * @program: path of this program, which "--loop N" has run the known loop
 */
void fuzz_run_init(u32 pmu_type, const char *program);

/**
 * fuzz_attr_init() - say which PMU it is
 * @type: attr.type of its events
 */
void fuzz_attr_init(u32 type);

/**
 * fuzz_takes_many_samples() - does the case take samples that cost much of the time?
 * @fuzz: the case
 *
 * Throttled events do not count all the time, and interrupts cost what the driver makes of them.
 *
 * Return: whether it does.
 */
bool fuzz_takes_many_samples(const struct fuzz_case *fuzz);

/**
 * fuzz_counts_alike() - does the event count something, or nothing, whatever the driver?
 * @event: the event
 *
 * Return: whether it does.
 */
bool fuzz_counts_alike(const struct fuzz_event *event);

/**
 * fuzz_show_samples() - print what is looked at of samples from now on
 * @out: where to
 */
void fuzz_show_samples(FILE *out);

/**
 * fuzz_running_fd() - the descriptor of an event of the case that runs
 * @nr: which
 *
 * Return: the descriptor, or -1.
 */
int fuzz_running_fd(unsigned int nr);

/**
 * fuzz_attr_resolve() - put in what depends on the PMU
 * @event: the event, with attr.type and attr.config as they are to be passed
 */
void fuzz_attr_resolve(struct fuzz_event *event);

/**
 * struct fuzz_counters - what was done so far
 * @opens: calls of perf_event_open(2)
 * @opened: of these, successes
 * @calls: operations on descriptors
 * @succeeded: of these, successes
 * @samples: records of samples seen
 * @lost: records that the kernel told to be lost
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
 * fuzz_run_case() - run a case, and leave nothing of it behind
 * @fuzz: the case
 * @counters: added to
 *
 * fuzz_print_results() prints what came of it.
 */
void fuzz_run_case(const struct fuzz_case *fuzz, struct fuzz_counters *counters);

/**
 * fuzz_race() - do something with an event of the case that another thread runs
 * @rng: which, and what
 * @counters: added to
 */
void fuzz_race(struct fuzz_rng *rng, struct fuzz_counters *counters);

/**
 * fuzz_print_results() - print what came of the last case, in a line without its end
 * @out: where to
 *
 * Words "WHAT:VALUE" in the order of the case. What no two drivers need have in common is left
 * out: times, and counts where the kernel's own work has a part in them.
 */
void fuzz_print_results(FILE *out);

/*
 * Samples a second, of each event, that leave emulated CPUs time for anything else. A kernel
 * that checks itself takes about a millisecond for each.
 */
#define FUZZ_BURST_RATE		500
#define FUZZ_BURST_SECONDS	5

/**
 * struct fuzz_storm - a run of many tasks at once
 * @seed: of what they do
 * @seconds: for how long
 * @burst: seconds of a burst
 * @workers: tasks that run cases, each with a thread that races with it
 * @rate: samples a second that each event may have meanwhile
 * @hotplug: CPUs come and go meanwhile
 * @faulty: the PMU has faults: whether it counts exactly afterwards is not asked
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
 * fuzz_storm_run() - let them loose, and see now and then whether the PMU still works
 * @storm: how many, and for how long
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
 * fuzz_load() - load the module and unload it, each time from under fuzz_watch()
 * @path: of the module
 * @times: how often
 * @argc: of @argv
 * @argv: what target_init() is to have once the module is loaded
 *
 * Return: the exit status of the program.
 */
int fuzz_load(const char *path, u64 times, int argc, char **argv);

#endif /* FUZZ_H */
