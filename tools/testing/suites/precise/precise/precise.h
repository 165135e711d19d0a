/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * precise.h - a program all of whose instructions are known, and what the registers are after
 * each of them
 */
#ifndef PRECISE_H
#define PRECISE_H

#include "ring.h"

/* Entries of the largest table, a power of two */
#define TABLE_MAX		0x10000

/**
 * struct run - what a run of the program is given
 * @rounds: how many
 * @fd: the event, which the program enables with its first instruction and disables after its last
 * @from: what it loads
 * @to: where it stores that
 * @mask: entries of the two less one
 * @bytes: where it copies some bytes of @from to
 */
struct run {
	u64 rounds;
	u64 fd;
	const u64 *from;
	u64 *to;
	u64 mask;
	char *bytes;
};

/* What an event counts. */
enum counted {
	INSTRUCTIONS,
	CYCLES,		/* one an instruction, one more a branch: see x86-pmu.rst */
	LOADS,
	STORES,
	BRANCHES,
};

/**
 * struct moment - the program after one of its instructions
 * @ip: that instruction
 * @next: the one that is executed next
 * @addr: what it loads, or stores, 0 if neither
 * @index: of the table's entry that it loads or stores
 * @rbx: the round
 * @rcx: registers
 * @r10: likewise
 * @r11: likewise
 * @r14: likewise
 * @r15: likewise
 * @xmm3: the lower half of a vector register
 * @flags: RFLAGS, of which
 * @known: these bits are known
 */
struct moment {
	u64 ip;
	u64 next;
	u64 addr;
	u64 index;
	u64 rbx;
	u64 rcx;
	u64 r10;
	u64 r11;
	u64 r14;
	u64 r15;
	u64 xmm3;
	u64 flags;
	u64 known;
};

/**
 * program() - the program
 * @run: what it is given
 */
void program(const struct run *run);

/**
 * program_total() - what an event counts in all rounds
 * @run: the run
 * @what: it counts
 *
 * Return: the count.
 */
u64 program_total(const struct run *run, enum counted what);

/**
 * program_loads() - how often the program loads
 * @rounds: in so many rounds; the first load of each is the one of @from's entries
 *
 * Return: the number.
 */
u64 program_loads(u64 rounds);

/**
 * program_at() - the moment with which an event's count reaches a number
 * @run: the run
 * @what: it counts
 * @n: the number, from 1 to program_total()
 * @m: result
 */
void program_at(const struct run *run, enum counted what, u64 n, struct moment *m);

/**
 * struct branch - a branch that is taken
 * @from: where it is
 * @to: where it leads to
 */
struct branch {
	u64 from;
	u64 to;
};

/**
 * program_branches() - the branches that the program takes up to a moment
 * @run: the run
 * @what: an event counts
 * @n: the moment with which its count reaches this, see program_at()
 * @branches: result, the youngest first; that instruction itself may be one
 * @max: how many at most
 *
 * Return: how many they are.
 */
unsigned int program_branches(const struct run *run, enum counted what, u64 n,
			      struct branch *branches, unsigned int max);

#define RING_PAGES		1024
#define XMM3			(PERF_REG_X86_XMM0 + 6)

/**
 * struct check - how an event is sampled
 * @config: the event
 * @what: it counts
 * @period: its period
 * @precise: precise_ip
 * @large: records may gather before there is an interrupt
 * @faulting: the program's memory faults in as it goes
 * @samples: how many there are to be
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
 * make_tables() - what the program loads and stores, and where
 * @run: filled in
 * @faulting: in memory that faults in as the program goes
 *
 * Return: false when there is no memory.
 */
bool make_tables(struct run *run, bool faulting);

/**
 * attr_of() - the attributes of an event
 * @c: how it is sampled
 * @attr: result
 */
void attr_of(const struct check *c, struct perf_event_attr *attr);

/**
 * check_attr() - run the program under an event, and judge the samples
 * @given: how it is sampled; on several CPUs the periods of samples that interrupt each are longer
 * @attr: as attr_of() has it, or with more
 */
void check_attr(const struct check *given, struct perf_event_attr *attr);

/**
 * check() - attr_of() and check_attr()
 * @c: how the event is sampled
 */
void check(const struct check *c);

/**
 * samples_judged() - how many samples check_attr() has judged in this process
 *
 * Return: the number.
 */
u64 samples_judged(void);

/**
 * switches() - how often the task has been switched away from
 *
 * Return: the number.
 */
unsigned int switches(void);

/**
 * lasting() - those of samples that came late that what follows comes later by
 * @shifts: so many came one late
 *
 * A counter overflows after two events at least: a period that has one left when its task comes
 * back ends one later. So does what follows with the built-in driver, whose
 * x86_perf_event_set_period() lengthens the period; with corepmu the next one is the shorter.
 *
 * Return: the number.
 */
unsigned int lasting(unsigned int shifts);

/**
 * expect_shifts() - each sample that is one late takes a switch of tasks
 * @shifts: so many are
 * @before: switches() before the program
 */
void expect_shifts(unsigned int shifts, unsigned int before);

/**
 * has_last_branches() - is a sample's branch stack what the program has just done?
 * @s: the sample
 * @run: the run
 * @what: the event counts
 * @n: the count that the sample is of
 * @fewer: counts samples that do not have all of them
 *
 * Return: whether all that it has are.
 */
bool has_last_branches(const struct sample *s, const struct run *run, enum counted what, u64 n,
		       unsigned int *fewer);

/**
 * branches() - the test of branch stacks
 */
void branches(void);

/**
 * read_by_user() - the test of counts that user space reads
 */
void read_by_user(void);

/**
 * slow_loads() - the test of loads that take long
 */
void slow_loads(void);

/**
 * slow_loads_alone() - the test of what such an event is refused without
 */
void slow_loads_alone(void);

/**
 * slow_stores() - the test of stores, and how long they take
 */
void slow_stores(void);

#endif /* PRECISE_H */
