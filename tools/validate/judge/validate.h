/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * validate.h - shared by the checks of pmu-validate
 */
#ifndef VALIDATE_H
#define VALIDATE_H

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "judge/rules.h"
#include "ring.h"
#include "task.h"

/* Needs of a check: it is skipped if one is not met. */
#define NEED_SAMPLING	(1U << 0)
#define NEED_KERNEL	(1U << 1)
#define NEED_CPU_WIDE	(1U << 2)
#define NEED_GROUPS	(1U << 3)
#define NEED_PMU	(1U << 4)
#define NEED_CPUS	(1U << 5)
#define NEED_ROOT	(1U << 6)
#define NEED_DISRUPT	(1U << 7)
#define NEED_CYCLES	(1U << 8)
#define NEED_LONG	(1U << 9)

/* What a check rests on; because.c has the check that each is named after. */
#define ON_USER		(1U << 0)
#define ON_MODES	(1U << 1)
#define ON_KERNEL	(1U << 2)
#define ON_COUNTERS	(1U << 3)
#define ON_BRANCHES	(1U << 4)
#define ON_OVERFLOWS	(1U << 5)
#define ON_FIRST	(1U << 6)

/**
 * struct check - one check of a PMU
 * @area: the check's area, a single word
 * @name: the check's name
 * @rule: the sentence that a failure breaks, with its source
 * @run: run the check; each failed expectation prints the expected and the measured value
 * @needs: NEED_*
 * @rests_on: ON_*; if one of these is broken, a failure of this check says nothing
 */
struct check {
	const char *area;
	const char *name;
	const char *rule;
	void (*run)(void);
	unsigned int needs;
	unsigned int rests_on;
};

struct check_list {
	const struct check *checks;
	unsigned int nr;
};

extern const struct check_list identity_checks, count_checks, level_checks, task_checks,
	group_checks, multiplex_checks, sample_checks, notify_checks, storm_checks, field_checks,
	ring_checks, page_checks, error_checks, machine_checks, branch_checks, precise_checks,
	inherit_checks, output_checks, record_checks, kernel_record_checks, program_checks,
	beside_checks, fit_checks, resume_checks, race_checks;

/**
 * struct pmu - the PMU that is judged
 * @name: name in sysfs, or NULL for any PMU that accepts generic events
 * @type: perf_event_attr.type; without @name the type of generic events
 * @has: bitmap of the NEED_* that are met
 * @missing: for each bit, why a need is not met
 * @group: size of the largest group that counts
 * @group_opened: size of the largest group that can be opened, see largest_group()
 * @exact: the clock counts instructions, so that every count has to be exact
 * @counts_exact: the counts of the known loop are exact
 * @exactness: @exact and @counts_exact in words
 * @cpu: the first CPU of the PMU that this process may use
 * @nr_cpus: number of the PMU's CPUs that this process may use
 * @instructions: attributes of an event of instructions
 * @cycles: attributes of an event of cycles
 */
struct pmu {
	const char *name;
	int type;
	unsigned int has;
	char missing[16][128];
	unsigned int group;
	unsigned int group_opened;
	bool exact;
	bool counts_exact;
	char exactness[96];
	int cpu;
	int nr_cpus;
	struct perf_event_attr instructions;
	struct perf_event_attr cycles;
};

extern struct pmu pmu;

/* Maximum of a task's events in a check */
#define MANY	64

/* Return whether the machine has several CPU types: a generic event counts on one of them. */
bool is_hybrid(void);

/*
 * End the running check, which has failed, with its children. In another process than the check's,
 * return.
 */
void abandon_check(void);
/* Attributes of a disabled event of user space */
void attr_instructions(struct perf_event_attr *attr);
void attr_cycles(struct perf_event_attr *attr);
/* Attributes of an event that counts branches. Opening the event fails if the PMU lacks it. */
void attr_branches(struct perf_event_attr *attr);
/* Open an event of this task, as event_open_self() does. On failure the check ends. */
int open_event(struct perf_event_attr *attr);
int open_instructions(void);
/* Open a group of @nr events, only the leader disabled. Return their number, less on failure. */
unsigned int open_group(int *fds, unsigned int nr, u64 read_format);
/* Attributes of a sampling event with these fields */
void attr_sampling(struct perf_event_attr *attr, u64 period, u64 sample_type);
/*
 * Map the buffer of an event. @what: the event, for messages; @fd: what event_open() returned.
 * Return @fd. If @fd is an error, or mapping fails, the check ends.
 */
int map_sampling(const char *what, struct ring *ring, int fd, unsigned int pages);
/* Open an event of this task with a buffer. On failure the check ends. */
int open_sampling(struct ring *ring, struct perf_event_attr *attr, unsigned int pages);
/* Open the event, let it sample @work(@times), and disable it. Return as open_sampling(). */
int sample_work(struct ring *ring, struct perf_event_attr *attr, unsigned int pages,
		void (*work)(unsigned long times), unsigned long times);
void close_sampling(struct ring *ring, int fd);

/*
 * Check that a record that is not a sample ends with the fields of sample_id_all: TID, TIME, ID,
 * STREAM_ID, CPU and IDENTIFIER of the event with this id.
 */
bool ids_agree(const struct perf_event_header *header, u64 id);
#define SAMPLE_ID_BYTES	(6 * sizeof(u64))

/* Load a BPF program for samples that returns @number. Return a descriptor, or -1 with errno. */
int load_program(int number);

/* Return the tolerance of a count of instructions. */
u64 count_slack(u64 count);
bool expect_count(const char *what, u64 want, u64 got);
/* Return the least of twenty counts of the loop: interrupts and the host add to some of them. */
u64 least_count(int fd, unsigned long iterations);
/* Expect @got to differ from @measured by at most @off. */
bool expect_near(const char *what, u64 measured, u64 off, u64 got);
/* Expect @got to be from @least to @measured; messages call @measured @whole. */
bool expect_part(const char *what, u64 least, const char *whole, u64 measured, u64 got);
/* Expect @got to be @measured, or up to @missing less. */
bool expect_most(const char *what, u64 missing, const char *whole, u64 measured, u64 got);
/* Expect a sample for each period that ended in @count, up to @fewer fewer or @more more. */
bool expect_samples(const char *what, u64 count, u64 period, u64 fewer, u64 more, u64 got);
/*
 * Count ITERATIONS rounds of the loop ten times, and the sum of five such counts without a reset.
 * If the clock counts instructions, expect @each for a round, and the same count in every run;
 * otherwise expect expect_count().
 */
void expect_each(const char *what, int fd, unsigned int each);
/*
 * Expect @count to return the instructions of @times loops more for ITERATIONS + 1 than for 1. If
 * the clock counts instructions, the code around the loops may differ by @slack; otherwise it may
 * add @more to the count.
 */
void expect_loops(const char *what, unsigned int times, u64 slack, u64 more,
		  u64 (*count)(unsigned long iterations));
/* Set @cpus to CPUs that this process may run on, at most @max. Return their number. */
int usable_cpus(int *cpus, int max);
/* Expect the PMU to count correctly after a check. */
void expect_sane(void);

/* argv[0] of a run of this program that only calls exec_again(); argv[1] is @times + 1. */
#define EXEC_AGAIN	"pmu-validate-again"
/* Run a loop. If @times, execute this program, which does the same with @times - 1. Maximum: 9. */
void __attribute__((noreturn)) exec_again(unsigned int times);

/* Check whether a kernel that is locked down refuses interrupted registers to all events. */
bool registers_are_locked(void);
/* Make @times system calls that do nothing. */
void call_kernel(unsigned long times);
/* The usual iterations of known_loop(), and their user instructions */
#define ITERATIONS	1000000UL
#define LOOP		(LOOP_INSNS * ITERATIONS)

u64 now_ns(int clock);
/* sysfs */
bool read_text(const char *path, char *text, size_t size);
/* Parse a term list such as "event=0x3c,umask=1" by the PMU's format/; return false on an error. */
bool parse_terms(const char *terms, struct perf_event_attr *attr);
bool find_event(const char *const *names, struct perf_event_attr *attr);
/* Parse a list of CPUs such as "0-3,8"; return false on an error. */
bool parse_cpus(const char *list, cpu_set_t *set);

/* Find the module of the PMU's driver by links in sysfs; return false if there is none. */
bool module_of_pmu(char *name, size_t size);

#endif /* VALIDATE_H */
