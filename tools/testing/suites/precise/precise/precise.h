/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * precise.h - sample the program, and compare samples and counts with its instructions
 */
#ifndef PRECISE_H
#define PRECISE_H

#include "program.h"

#define RING_PAGES		1024
#define XMM3			(PERF_REG_X86_XMM0 + 6)

/**
 * struct check - how to sample an event
 * @config: the event
 * @what: what it counts
 * @period: its period
 * @precise: precise_ip
 * @large: large PEBS is possible: one interrupt brings many records
 * @faulting: the program's memory faults in while it runs
 * @samples: number of samples to expect
 */
struct check {
	u64 config;
	enum counted what;
	u64 period;
	unsigned int precise;
	bool large;
	bool faulting;
	unsigned int samples;
};

/**
 * make_tables() - allocate the tables that the program loads from and stores to
 * @run: filled in
 * @faulting: the memory faults in while the program runs
 *
 * Return: false without memory.
 */
bool make_tables(struct run *run, bool faulting);

/**
 * attr_of() - make the attributes of an event
 * @c: how to sample it
 * @attr: result
 */
void attr_of(const struct check *c, struct perf_event_attr *attr);

/**
 * check_attr() - run the program under an event, and check the samples
 * @given: how to sample it; on several CPUs the periods of samples that each interrupt are
 *	longer
 * @attr: from attr_of(), with or without additions
 */
void check_attr(const struct check *given, struct perf_event_attr *attr);

/**
 * check() - call attr_of() and check_attr()
 * @c: how to sample the event
 */
void check(const struct check *c);

/**
 * samples_judged() - return the number of samples that this process has checked
 *
 * Return: the number.
 */
u64 samples_judged(void);

/**
 * switches() - return how often the task has been scheduled out
 *
 * Return: the number.
 */
unsigned int switches(void);

/**
 * lasting() - return how many late samples make all later samples late, too
 * @shifts: number of samples that were one event late
 *
 * A counter overflows after two events at least. If one event of a period is left when its task is
 * scheduled in, the period ends one event late. With the built-in driver all later samples are
 * late too: x86_perf_event_set_period() lengthens the period. corepmu shortens the next period.
 *
 * Return: the number.
 */
unsigned int lasting(unsigned int shifts);

/**
 * expect_shifts() - expect a task switch for each sample that is one event late
 * @shifts: number of late samples
 * @before: switches() before the program
 */
void expect_shifts(unsigned int shifts, unsigned int before);

/**
 * has_last_branches() - check whether a sample's branch stack has the program's last branches
 * @s: the sample
 * @run: the run
 * @what: the event
 * @n: the event's count at the sample
 * @fewer: counts samples with fewer branches than possible
 *
 * Return: true if all entries are right.
 */
bool has_last_branches(const struct sample *s, const struct run *run, enum counted what, u64 n,
		       unsigned int *fewer);

/**
 * branches() - test branch stacks
 */
void branches(void);

/**
 * counts_one_by_one() - test the counts of a group with one record per interrupt
 */
void counts_one_by_one(void);

/**
 * counts_gathered() - test the counts of a group with many records per interrupt (large PEBS)
 */
void counts_gathered(void);

/**
 * counts_of_sibling() - test the counts of a group whose leader does not sample
 */
void counts_of_sibling(void);

/**
 * counts_with_frequency() - test the counts of a group with a sample frequency
 */
void counts_with_frequency(void);

/**
 * counts_of_metrics() - test slots and a topdown metric of a group with a precise event
 */
void counts_of_metrics(void);

/**
 * read_by_user() - test counts that user space reads
 */
void read_by_user(void);

/**
 * slow_loads() - test loads with a latency above the threshold
 */
void slow_loads(void);

/**
 * slow_loads_alone() - test how load latency is rejected without a sample period or mem-loads-aux
 */
void slow_loads_alone(void);

/**
 * slow_stores() - test stores and their latency
 */
void slow_stores(void);

/**
 * split_twice() - test that no access is lost if instructions of two tasks are split at a time
 */
void split_twice(void);

#endif /* PRECISE_H */
