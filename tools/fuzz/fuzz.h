/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz.h - random cases of perf_event_open(2)
 *
 * A case is a few events, and operations on their descriptors. The same seed and number make the
 * same case on every machine. The PMU's type and its event numbers are filled in when the case is
 * run.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "case/random.h"

#define FUZZ_EVENTS	12
#define FUZZ_OPS	20

/* Fields that this machine's headers may lack, by their index in struct perf_event_attr */
#define FUZZ_ATTR_WORDS	32
#define FUZZ_CONFIG3	16
#define FUZZ_ATTR_VER8	136

/**
 * enum fuzz_type - PMU type of an event
 */
enum fuzz_type {
	FUZZ_HARDWARE,	/* PERF_TYPE_HARDWARE */
	FUZZ_CACHE,	/* PERF_TYPE_HW_CACHE */
	FUZZ_RAW,	/* PERF_TYPE_RAW */
	FUZZ_OWN,	/* the type of the PMU */
	FUZZ_EXTENDED,	/* PERF_TYPE_HARDWARE, the PMU's type in the upper half of config */
	FUZZ_SOFTWARE,
	FUZZ_BREAKPOINT,
	FUZZ_BOGUS,	/* a type that no PMU has */
};

/**
 * enum fuzz_code - an event of the PMU, whatever its number is
 */
enum fuzz_code {
	FUZZ_CYCLES,
	FUZZ_INSTRUCTIONS,
	FUZZ_BRANCHES,
	FUZZ_SILENT,
	FUZZ_ZERO,	/* the number 0: attr.config alone selects the event */
	FUZZ_ROW,	/* an event of real microarchitectures, see machine.c */
};

/**
 * enum fuzz_pid - task of an event
 */
enum fuzz_pid {
	FUZZ_SELF,
	FUZZ_ALL,	/* -1 */
	FUZZ_CHILD,	/* a child that waits for requests */
	FUZZ_GONE,	/* a process that does not exist */
	FUZZ_CGROUP,	/* the tasks of a control group */
};

/* More than the rows of a table of machine.c */
#define FUZZ_ROWS	1024

#define FUZZ_NO_GROUP	(-1)
#define FUZZ_BAD_GROUP	(-2)	/* a descriptor that is no event */
#define FUZZ_BAD_CPU	4095

/**
 * struct fuzz_event - one call of perf_event_open(2)
 * @attr: attributes, without type and the number that @code stands for
 * @words: the same as words, with the fields behind them
 * @type: for attr.type
 * @code: or-ed to attr.config if @type is FUZZ_RAW or FUZZ_OWN
 * @row: the row of FUZZ_ROW
 * @pid: task
 * @cpu: CPU
 * @group: number of the leader in the case, or FUZZ_NO_GROUP, FUZZ_BAD_GROUP
 * @flags: PERF_FLAG_*
 * @user: 0: root opens it; else a user without privileges, perf_event_paranoid @user - FUZZ_USER_0
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
	unsigned int user;
};

/* Value of fuzz_event.user for kernel.perf_event_paranoid 0; the lowest is -1. */
#define FUZZ_USER_0	2
/* Values of the sysctl from -1 to 2; with Debian's 3 no such user opens any event. */
#define FUZZ_USERS	4

/**
 * enum fuzz_op_kind - an operation on a descriptor
 */
enum fuzz_op_kind {
	FUZZ_ENABLE,
	FUZZ_DISABLE,
	FUZZ_RESET,
	FUZZ_ENABLE_GROUP,
	FUZZ_DISABLE_GROUP,
	FUZZ_RESET_GROUP,
	FUZZ_LOOP,		/* run the known loop, arg times */
	FUZZ_MEMORY,		/* run a loop that loads and stores */
	FUZZ_FORK_LOOP,		/* let a new process run the loop */
	FUZZ_CHILD_LOOP,	/* let the waiting child run the loop */
	FUZZ_CHILD_EXEC,	/* let the child execute this program, and run the loop */
	FUZZ_CHILD_TRACE,	/* let the child run the loop, and single-step a part of it */
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
	FUZZ_MODIFY,		/* MODIFY_ATTRIBUTES with the attributes of event arg */
	FUZZ_UNKNOWN_IOCTL,
	FUZZ_MMAP,		/* arg pages of data */
	FUZZ_MMAP_READ_ONLY,
	FUZZ_MMAP_AUX,
	FUZZ_MUNMAP,
	FUZZ_DRAIN,		/* count the records in the buffer */
	FUZZ_USER_READ,		/* read the counter without a system call */
	FUZZ_POLL,
	FUZZ_ASYNC,		/* SIGIO at overflows */
	FUZZ_PRCTL_DISABLE,
	FUZZ_PRCTL_ENABLE,
	FUZZ_CLOSE,
	FUZZ_NR_OPS
};

/**
 * struct fuzz_op - an operation
 * @kind: the operation
 * @event: on the descriptor of this event
 * @arg: argument, see @kind
 */
struct fuzz_op {
	enum fuzz_op_kind kind;
	unsigned int event;
	u64 arg;
};

/**
 * struct fuzz_case - some events and operations on them
 * @nr_events: number of events
 * @nr_ops: number of operations
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
 * fuzz_make_event() - make an event that can be opened more often than not
 * @event: result
 * @rng: random numbers
 * @sampling: the event samples
 */
void fuzz_make_event(struct fuzz_event *event, struct fuzz_rng *rng, bool sampling);

/**
 * fuzz_make_op() - make an operation
 * @op: result
 * @rng: random numbers
 * @nr_events: number of events in the case
 */
void fuzz_make_op(struct fuzz_op *op, struct fuzz_rng *rng, unsigned int nr_events);

/**
 * fuzz_make_case() - make case @number of @seed
 * @fuzz: result
 * @seed: seed of the run
 * @number: number of the case
 */
void fuzz_make_case(struct fuzz_case *fuzz, u64 seed, u64 number);

/**
 * fuzz_describe_machine() - set the vendor whose events descriptions and programs have
 * @name: "intel", "amd" or "arm64"
 *
 * Return: true if the name is one of these.
 */
bool fuzz_describe_machine(const char *name);

/**
 * fuzz_print_program() - print a case as a C program that stands alone
 * @out: output
 * @fuzz: the case
 *
 * For the vendor of fuzz_describe_machine().
 */
void fuzz_print_program(FILE *out, const struct fuzz_case *fuzz);

/**
 * fuzz_describe() - print a case in one line
 * @out: output
 * @fuzz: the case
 */
void fuzz_describe(FILE *out, const struct fuzz_case *fuzz);

/**
 * fuzz_attr_init() - set the PMU
 * @type: attr.type of its events
 */
void fuzz_attr_init(u32 type);

/**
 * fuzz_attr_resolve() - fill in attributes that depend on the PMU
 * @event: the event; attr.type and attr.config become those of the system call
 */
void fuzz_attr_resolve(struct fuzz_event *event);

/**
 * fuzz_takes_many_samples() - check whether a case takes samples that cost much of the time
 * @fuzz: the case
 *
 * Throttled events do not count all the time, and the cost of interrupts depends on the driver.
 *
 * Return: true if it does.
 */
bool fuzz_takes_many_samples(const struct fuzz_case *fuzz);

/**
 * fuzz_counts_alike() - check whether an event's count is zero or not with every driver
 * @event: the event
 *
 * Return: true if all drivers agree.
 */
bool fuzz_counts_alike(const struct fuzz_event *event);

#endif /* FUZZ_H */
