/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * validate.h - what the checks of pmu-validate share
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

#include "ring.h"
#include "task.h"

/*
 * Where the sentences of rules stand, between quotation marks in them as the page has them, but for
 * what "[...]" leaves out.
 */
#define MAN	"perf_event_open(2), man-pages 6.03: "

/* What a check needs, or is skipped for. */
#define NEED_SAMPLING	(1U << 0)
#define NEED_KERNEL	(1U << 1)
#define NEED_CPU_WIDE	(1U << 2)
#define NEED_GROUPS	(1U << 3)
#define NEED_PMU	(1U << 4)
#define NEED_CPUS	(1U << 5)
#define NEED_ROOT	(1U << 6)
#define NEED_DISRUPT	(1U << 7)
#define NEED_CYCLES	(1U << 8)
#define NEED_PATIENCE	(1U << 9)

/**
 * struct check - one thing that a PMU has to do
 * @area: a word to filter by
 * @name: what is checked
 * @rule: the sentence that a failure breaks, and where it stands
 * @run: checks it; each failed expectation says what was expected and seen
 * @needs: NEED_*
 */
struct check {
	const char *area;
	const char *name;
	const char *rule;
	void (*run)(void);
	unsigned int needs;
};

struct check_list {
	const struct check *checks;
	unsigned int nr;
};

#define SCHEDULED	MAN "\"An event group is scheduled onto the CPU as a unit: it will be put onto the CPU only if all of the events in the group can be put onto the CPU.\""
#define COUNTED	MAN \
	"\"A counting event is one that is used for counting the aggregate number of events that occur.\""
#define PERIODS	MAN \
	"\"generates an overflow notification every N events, where N is given by sample_period.\""

extern const struct check_list identity_checks, count_checks, level_checks, task_checks,
	group_checks, multiplex_checks, sample_checks, notify_checks, storm_checks, field_checks,
	ring_checks, page_checks, error_checks, machine_checks, branch_checks, precise_checks,
	inherit_checks, output_checks, record_checks, kernel_record_checks, program_checks,
	beside_checks;

/**
 * struct pmu - the PMU that is judged
 * @name: in sysfs, or NULL for whoever answers to generic events
 * @type: perf_event_attr.type, that of generic events without @name
 * @has: NEED_* that it has
 * @missing: why it has not, for each bit
 * @group: events that fit in one group and count
 * @group_opened: events that can be opened in one, see largest_group()
 * @exact: the clock counts instructions, so that every count has to be exact
 * @counts_exact: the counts of the known loop are exact
 * @exactness: @exact and @counts_exact in words
 * @cpu: the first CPU that the PMU is for and that we may use
 * @nr_cpus: how many there are of those
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

/* Events that one task has in a check at most. */
#define MANY	64

/* In user space, disabled, of the calling task. */
void attr_instructions(struct perf_event_attr *attr);
void attr_cycles(struct perf_event_attr *attr);
int open_instructions(void);
/* nr events of a group, all but the leader born enabled; fewer on failure. */
unsigned int open_group(int *fds, unsigned int nr, u64 read_format);
/* A sampling event with these fields. */
void attr_sampling(struct perf_event_attr *attr, u64 period, u64 sample_type);
/* Of the calling task, with a buffer; a descriptor, or a negative errno and a failed check. */
int open_sampling(struct ring *ring, struct perf_event_attr *attr, unsigned int pages);
void close_sampling(struct ring *ring, int fd);

/*
 * Whether a record that is no sample ends as sample_id_all asks for: with TID, TIME, ID, STREAM_ID,
 * CPU and IDENTIFIER of the event with this id, which are so many bytes.
 */
bool ids_agree(const struct perf_event_header *header, u64 id);
#define SAMPLE_ID_BYTES	(6 * sizeof(u64))

/* A BPF program for samples that returns a number: a descriptor, or -1 with errno. */
int load_program(int number);

/* By how many a count of so many instructions may be off. */
u64 count_slack(u64 count);
bool expect_count(const char *what, u64 want, u64 got);
/* Expect @got to differ from @measured by at most @off. */
bool expect_near(const char *what, u64 measured, u64 off, u64 got);
/* Expect at least @least of the @measured ones, which messages call @whole, and at most all. */
bool expect_part(const char *what, u64 least, const char *whole, u64 measured, u64 got);
/* Expect all of the @measured ones, or up to @missing fewer. */
bool expect_most(const char *what, u64 missing, const char *whole, u64 measured, u64 got);
/* Expect a sample for each period that ended in @count, up to @fewer fewer or @more more. */
bool expect_samples(const char *what, u64 count, u64 period, u64 fewer, u64 more, u64 got);
/* That the PMU counts as it should after whatever was done to it. */
void expect_sane(void);

/* User instructions per iteration of known_loop(), and enough of them. */
#define ITERATIONS	1000000UL
#define LOOP		(LOOP_INSNS * ITERATIONS)

u64 now_ns(int clock);
/* sysfs */
bool read_text(const char *path, char *text, size_t size);
/* A term list such as "event=0x3c,umask=1" of the PMU's format/; false if it cannot be parsed. */
bool parse_terms(const char *terms, struct perf_event_attr *attr);
bool find_event(const char *const *names, struct perf_event_attr *attr);
/* "0-3,8": which CPUs; false if it cannot be parsed. */
bool parse_cpus(const char *list, cpu_set_t *set);

/* The module of the PMU's driver, by links in sysfs; false where they name none. */
bool module_of_pmu(char *name, size_t size);

#endif /* VALIDATE_H */
