/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * branches.h - sample the branches of a program, and compare the branch stacks with its course
 */
#ifndef BRANCHES_H
#define BRANCHES_H

#include "course.h"

/*
 * Properties of the CPU's records: whether they have cycles; their number if the driver does not
 * report it; and why call stacks or transaction filters are absent, or NULL
 */
#ifdef __aarch64__
#define HAS_CYCLES		true
#define USUAL_DEPTH		64
#define WHY_NO_CALLS		"records of BRBE do not follow calls"
#define WHY_NO_TX		"records of BRBE do not show transactions"
#else
/* Intel's records have cycles from Skylake on; the only older virtual CPU is Haswell. */
#define HAS_CYCLES		(!arch_is_amd() && !__builtin_cpu_is("haswell"))
#define USUAL_DEPTH		(arch_is_amd() ? 16 : 32)
#define WHY_NO_CALLS		(arch_is_amd() ? "AMD's records do not follow calls" : NULL)
#define WHY_NO_TX		(arch_is_amd() ? "AMD's records do not show transactions" : NULL)
#endif

/* ---- compare samples with a course ---- */

/**
 * struct verdict - results of comparing a test's samples
 * @course: the branches to compare with
 * @kinds: branch types in the stack, one bit each
 * @types: the records have branch types
 * @cycles: the records have cycles
 * @ip: the sample's address follows the youngest branch
 * @partial: the oldest calls of a stack may be missing
 * @all: a stack with at least so many entries has no gap, in user space and in the kernel:
 *	each branch is reached from the target of the previous one. 0 for no check. (In-tree
 *	drivers skip interrupts of the kernel if they filter by type.)
 * @samples: number of compared samples
 * @entries: number of their entries
 * @full: samples with as many entries as the longest, or up to two less
 * @shortest: entries of the shortest sample
 * @longest: entries of the longest sample
 * @disturbed: entries with other cycles: an interrupt adds its own, or its return is a
 *	branch that restarts the cycle count
 * @entered: branch entries of the system calls and traps of the program
 * @missed: mispredicted entries
 * @wrong: samples that do not fit the course
 */
struct verdict {
	const struct course *course;
	unsigned int kinds;
	bool types;
	bool cycles;
	bool ip;
	bool partial;
	unsigned int all;
	unsigned int samples;
	unsigned long entries;
	unsigned int full;
	unsigned int shortest;
	unsigned int longest;
	unsigned int disturbed;
	unsigned int entered;
	unsigned int missed;
	unsigned int wrong;
};

/**
 * judge() - compare a sample's branch stack with a course
 * @v: the test
 * @s: the sample
 *
 * Prints the first sample that does not fit.
 */
void judge(struct verdict *v, const struct sample *s);

/**
 * judge_calls() - compare a sample's call stack with the open calls of a course
 * @v: the test; its @kinds have no effect
 * @s: the sample
 * @depth: number of records of the hardware
 */
void judge_calls(struct verdict *v, const struct sample *s, unsigned int depth);

/**
 * calls_are_followed() - check whether the PMU under test has LBR call stacks
 *
 * Return: true if it has; otherwise the running test is skipped.
 */
bool calls_are_followed(void);

/**
 * is_notified_of_switches() - check whether perf core notifies the PMU under test of task switches
 *
 * Return: true if it does.
 */
bool is_notified_of_switches(void);

/**
 * is_kernel() - check for a kernel address
 * @addr: the address
 *
 * Return: true for a kernel address.
 */
static inline bool is_kernel(u64 addr)
{
	return addr >> 63;
}

/**
 * is_address_inside() - check whether an address is in a program
 * @c: branches of the program
 * @addr: the address
 *
 * Return: false for code before or after the program; true for kernel addresses.
 */
bool is_address_inside(const struct course *c, u64 addr);

/**
 * is_inside() - check whether all user addresses of a sample are in a program
 * @c: branches of the program
 * @s: the sample
 *
 * Return: false for a sample of code before or after the program.
 */
bool is_inside(const struct course *c, const struct sample *s);

/**
 * drop_empty() - remove the entries of registers that were still zero, which are last
 * @s: the sample
 *
 * Return: number of removed entries.
 */
unsigned int drop_empty(struct sample *s);

/**
 * depth_of_stack() - return the number of the CPU's branch records
 *
 * Return: their number.
 */
unsigned int depth_of_stack(void);

/* ---- a sampling event with branches ---- */

/**
 * struct sampling - an event of this task that samples branches
 * @attr: its attributes
 * @ring: its buffer
 * @fd: the event, or a negative errno
 */
struct sampling {
	struct perf_event_attr attr;
	struct ring ring;
	int fd;
};

/**
 * sampling_open() - open a disabled event that samples branches
 * @s: result, for sampling_close()
 * @branches: PERF_SAMPLE_BRANCH_*
 * @period: instructions per sample
 *
 * Return: true on success; otherwise the running test has failed.
 */
bool sampling_open(struct sampling *s, u64 branches, u64 period);

/**
 * sampling_close() - undo sampling_open()
 * @s: the event
 */
void sampling_close(struct sampling *s);

/* ---- many records, compared with instructions ---- */

void records(void);

/* ---- records for a BPF program ---- */

void snapshot(void);

/* ---- tasks that alternate on a CPU ---- */

void tasks_of_one(void);
void tasks_of_cpu(void);
void tasks_calls(void);
void mover_calls(void);

#endif /* BRANCHES_H */
