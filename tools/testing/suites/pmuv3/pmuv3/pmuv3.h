/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pmuv3.h - known work, and the tests of the suite "pmuv3": an arm64 PMU that counts exactly
 *
 * For guests with QEMU's plugin arm64-pmu, on any number of CPUs, with -icount or without.
 * Instructions, branches, loads and stores of each CPU are exact. A cycle is an instruction, and a
 * branch takes two (tools/qemu/arm64/arm64-pmu.rst).
 */
#ifndef PMUV3_H
#define PMUV3_H

#include "ring.h"
#include "task.h"

#define MAX_CPUS	8
#define ITERATIONS	1000000UL
#define FEW		1000UL

/* DDI 0487, D13.11, "PMU events" */
#define LD_RETIRED		0x06
#define ST_RETIRED		0x07
#define INST_RETIRED		0x08
#define EXC_TAKEN		0x09
#define PC_WRITE_RETIRED	0x0c
#define BR_MIS_PRED		0x10
#define CPU_CYCLES		0x11
#define BR_RETIRED		0x21
#define STALL_SLOT		0x3f

/* attr.config1, as format/ describes it */
#define LONG			1ULL
#define COUNT			(1ULL << 2)
#define COMPARE(how)		((u64)(how) << 3)
#define THRESHOLD(n)		((u64)(n) << 5)
enum { NOT_EQUAL, EQUAL, AT_LEAST, LESS };

/* Counts of one round of work_loop() and touch_pages() */
#define WORK_INSTRUCTIONS	4
#define WORK_CYCLES		5

#define PERIOD		100000
#define SAMPLED_ROUNDS	(50UL * PERIOD / WORK_INSTRUCTIONS)

/**
 * pmuv3_cpus - how many CPUs the tests use, from the first on
 */
extern unsigned int pmuv3_cpus;

#define NR_KINDS	5

/**
 * struct pmuv3_kind - an event with exact counts on each CPU
 * @name: what the event counts
 * @event: its number
 * @each: its counts in one round of work_loop()
 */
struct pmuv3_kind {
	const char *name;
	u64 event;
	unsigned int each;
};

extern const struct pmuv3_kind pmuv3_kinds[NR_KINDS];

/**
 * work_loop() - load from and store to memory
 * @rounds: how often
 * @memory: 8 bytes
 */
void work_loop(unsigned long rounds, void *memory);

/**
 * touch_pages() - store to pages
 * @pages: how many
 * @memory: the first of them, of 4096 bytes each
 */
void touch_pages(unsigned long pages, void *memory);

/**
 * pmuv3_work() - reset an event's group, and let it count work_loop()
 * @leader: the leader
 * @rounds: of work_loop(); the instructions around the loop do not depend on this number
 */
void pmuv3_work(int leader, unsigned long rounds);

/**
 * pmuv3_count() - read a count in a thread, where no test runs
 * @fd: the event
 *
 * Return: the count, or ~0 if it cannot be read.
 */
u64 pmuv3_count(int fd);

/**
 * pmuv3_work_counts() - return what work_loop() adds to an event's count
 * @fd: the event
 * @rounds: of work_loop()
 *
 * Return: the difference of two counts.
 */
u64 pmuv3_work_counts(int fd, unsigned long rounds);

extern const struct ktap_list pmuv3_everywhere_cases, pmuv3_everywhere_long_cases,
	pmuv3_chain_cases, pmuv3_event_cases, pmuv3_v3p9_cases;

#endif /* PMUV3_H */
