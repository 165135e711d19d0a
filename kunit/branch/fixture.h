/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: events with branch records on the fixture, and the records of their samples
 */
#ifndef _COREPMU_KUNIT_BRANCH_FIXTURE_H
#define _COREPMU_KUNIT_BRANCH_FIXTURE_H

#include <kunit/test.h>

#include <linux/irqflags.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"

/* Sources and targets of branches, see branch_code[] */
#define USER		0x401000ULL
#define USER_TO		0x402000ULL
#define KERNEL		0xffffffff81000000ULL
#define PERIOD		1000

#define STACK(types)	.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,	\
			.sample_period = PERIOD, .sample_type = PERF_SAMPLE_BRANCH_STACK,	\
			.branch_sample_type = (types)

#define ANY_USER	(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER)
#define ANY_LEVEL	(ANY_USER | PERF_SAMPLE_BRANCH_KERNEL)
#define CALLS_USER	(PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER)

/* LBR_INFO with the count of counter @idx: the kernel's LBR_INFO_BR_CNTR_OFFSET and _BITS */
#define INFO_COUNT(idx, n)	((u64)(n) << (32 + 2 * (idx)))

/**
 * struct branch_seen - branch stack of a sample
 * @nr: number of records
 * @hw_idx: index of the youngest record in the hardware
 * @entries: the records
 * @has_counts: the sample has event counts
 * @counts: event counts of each record
 */
struct branch_seen {
	unsigned int	nr;
	u64		hw_idx;
	struct perf_branch_entry entries[COREPMU_MAX_BRANCHES];
	bool		has_counts;
	u64		counts[COREPMU_MAX_BRANCHES];
};

/* The last two samples */
extern struct branch_seen branch_seen[2];

/* The kernel takes a branch while it writes a sample. */
extern bool branch_noise;

const void *branch_gen_params(const void *prev, char *desc);
const void *branch_gen_calls_params(const void *prev, char *desc);
const void *branch_gen_counts_params(const void *prev, char *desc);
bool branch_has_calls(const struct testbed *testbed);
bool branch_has_cycles(const struct testbed *testbed);
bool branch_has_counts(const struct testbed *testbed);
bool branch_records_kernel(struct fixture *b);
struct perf_event *branch_open_stack(struct fixture *b, u64 type);
struct perf_event *branch_open_attr(struct fixture *b, const struct perf_event_attr *attr);
struct perf_event *branch_open_member(struct fixture *b, const struct perf_event_attr *attr,
				      struct perf_event *leader);
void branch_begin(void);
void branch_leave(void);
void branch_add(struct perf_event *event);
struct perf_event *branch_start(struct perf_event *event);
void branch_end(struct perf_event *event);
void branch_overflow(struct fixture *b);
void branch_all(void);
void branch_expect_from(struct kunit *test, const struct branch_seen *s, const u64 *from,
			unsigned int nr);

#define EXPECT_FROM(test, s, ...)						\
	branch_expect_from(test, s, (const u64[]) { __VA_ARGS__ },		\
			   ARRAY_SIZE(((const u64[]) { __VA_ARGS__ })))

/* branch_overflow(), then expect the number of samples, or the sources in a sample. */
#define OVERFLOW_EXPECT_SAMPLES(b, nr)						\
	do {									\
		branch_overflow(b);						\
		KUNIT_EXPECT_EQ((b)->test, (b)->nr_samples, nr);		\
	} while (0)

#define OVERFLOW_EXPECT_FROM(b, s, ...)						\
	do {									\
		branch_overflow(b);						\
		EXPECT_FROM((b)->test, s, __VA_ARGS__);				\
	} while (0)

#endif /* _COREPMU_KUNIT_BRANCH_FIXTURE_H */
