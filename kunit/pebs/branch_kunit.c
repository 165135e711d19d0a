// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of precise samples with branch records
 */
#include <kunit/test.h>

#include <linux/bitfield.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/pmu.h>

#include "branch/fixture.h"
#include "models/x86/pebs.h"
#include "x86/pebs/pebs.h"

#define RECORD_PERIOD	100

/* PEBS records have branches from format 4 on. */
static bool has_branches(const struct testbed *testbed)
{
	const struct x86_model_cpu *cpu = testbed->cpu;

	return testbed_is_x86(testbed) && !cpu->amd && cpu->pebs >= 4 && cpu->lbr_nr;
}

static bool has_counts(const struct testbed *testbed)
{
	return has_branches(testbed) && branch_has_counts(testbed);
}

static const void *gen_counts_params(const void *prev, char *desc)
{
	return testbed_gen_matching(prev, desc, has_counts);
}

static const void *gen_params(const void *prev, char *desc)
{
	return testbed_gen_matching(prev, desc, has_branches);
}

static struct perf_event *open_precise(struct fixture *b, u64 branches)
{
	struct perf_event_attr attr = { STACK(branches) };

	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	attr.sample_period = RECORD_PERIOD;
	attr.precise_ip = 2;

	return branch_open_attr(b, &attr);
}

/*
 * With large PEBS, each sample has the branches of its own record, not later ones. Their index in
 * the hardware is unknown.
 */
static void branches_of_the_record(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = open_precise(b, ANY_USER);

	branch_begin();
	KUNIT_EXPECT_TRUE(test, event->hw.flags & COREPMU_EVENT_LARGE);
	branch_add(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	fixture_run(b, TESTBED_INSTRUCTIONS, RECORD_PERIOD);
	x86_model_branch(USER + 0x10, USER_TO + 2, X86_MODEL_CALL, 0);
	fixture_run(b, TESTBED_INSTRUCTIONS, RECORD_PERIOD);
	x86_model_branch(USER + 0x20, USER_TO + 4, X86_MODEL_RET, 0);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 2 * RECORD_PERIOD);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	EXPECT_FROM(test, &branch_seen[0], USER);
	EXPECT_FROM(test, &branch_seen[1], USER + 0x10, USER);
	KUNIT_EXPECT_EQ(test, branch_seen[1].entries[0].to, USER_TO + 2);
	KUNIT_EXPECT_EQ(test, branch_seen[1].hw_idx, COREPMU_BRANCH_NOWHERE);
	KUNIT_EXPECT_EQ(test, b->cpuc->branches->nesting, 0);
	branch_end(event);
}

/* With an interrupt for each record, hw_idx is the index of the youngest record in the ring. */
static void branches_in_the_ring(struct kunit *test)
{
	struct fixture *b = test->priv;
	const struct x86_model_cpu *cpu = b->testbed->cpu;
	struct perf_event *event = open_precise(b, ANY_USER);

	branch_begin();
	/* Request a notification for each sample: this disables large PEBS. */
	atomic_set(&event->event_limit, 1000);
	branch_add(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	x86_model_branch(USER + 0x10, USER_TO + 2, X86_MODEL_CALL, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, RECORD_PERIOD, 1);
	EXPECT_FROM(test, &branch_seen[0], USER + 0x10, USER);
	KUNIT_EXPECT_EQ(test, branch_seen[0].hw_idx, cpu->arch_lbr ? COREPMU_BRANCH_NOWHERE :
			(u64)this_cpu_read(x86_model_state.lbr_tos));
	/* After a task switch without notification, a sample has no branches, and no index. */
	b->cpuc->branches->task = NULL;
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, RECORD_PERIOD, 2);
	KUNIT_EXPECT_EQ(test, branch_seen[1].nr, 0);
	KUNIT_EXPECT_EQ(test, branch_seen[1].hw_idx, COREPMU_BRANCH_NOWHERE);
	/* No sample is in progress any more. */
	KUNIT_EXPECT_EQ(test, b->cpuc->branches->nesting, 0);
	branch_end(event);
}

/* A sample has the branch types that its event selects. */
static void branches_are_chosen(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *calls = open_precise(b, PERF_SAMPLE_BRANCH_ANY_CALL |
						PERF_SAMPLE_BRANCH_USER);

	branch_start(calls);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	x86_model_branch(USER + 0x10, USER_TO + 2, X86_MODEL_CALL, 0);
	x86_model_branch(USER + 0x20, USER_TO + 4, X86_MODEL_RET, 0);
	fixture_run(b, TESTBED_INSTRUCTIONS, RECORD_PERIOD);
	fixture_read(calls);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	EXPECT_FROM(test, &branch_seen[0], USER + 0x10);
	branch_end(calls);
}

/* As many branches as the CPU has, and their flags */
static void branches_all(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_start(open_precise(b, ANY_USER));

	for (unsigned int i = 0; i < 100; i++)
		x86_model_branch(USER, USER_TO + i, X86_MODEL_COND, i & 1 ? BIT_ULL(63) : 0);
	fixture_run(b, TESTBED_INSTRUCTIONS, RECORD_PERIOD);
	fixture_read(event);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, b->pmu->nr_branches);
	for (unsigned int i = 0; i < branch_seen[0].nr; i++) {
		KUNIT_EXPECT_EQ(test, branch_seen[0].entries[i].to, USER_TO + 99 - i);
		KUNIT_EXPECT_EQ(test, (u64)branch_seen[0].entries[i].mispred, !(i & 1));
	}
	branch_end(event);
}

/* A sample has the event counts of its record's branches. */
static void branches_have_counts(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = open_precise(b, ANY_USER | COMPAT_SAMPLE_BRANCH_COUNTERS);

	branch_start(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, INFO_COUNT(event->hw.idx, 2));
	fixture_run(b, TESTBED_INSTRUCTIONS, RECORD_PERIOD);
	fixture_read(event);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_TRUE(test, branch_seen[0].has_counts);
	KUNIT_EXPECT_EQ(test, branch_seen[0].counts[0], 2);
	branch_end(event);
}

/*
 * A record may claim more branches than any CPU has: the parser limits the number, or rejects the
 * record.
 */
static void branches_too_many(struct kunit *test)
{
	static u64 words[4 + 3 * 256], arch[2 + 6 + 6 + 3 * 72];
	struct x86_pebs_record record;

	words[0] = PEBS_DATA_LBRS | FIELD_PREP(PEBS_DATA_NR_LBRS, 255) | (u64)sizeof(words) << 48;
	arch[0] = PEBS_ARCH_LBR | BIT_ULL(63) | sizeof(arch);
	arch[2 + 6 + 2] = 72;
	KUNIT_ASSERT_TRUE(test, x86_pebs_parse(4, words, sizeof(words), &record));
	KUNIT_EXPECT_PTR_EQ(test, record.branches, &words[4]);
	KUNIT_EXPECT_EQ(test, record.nr_branches, COREPMU_MAX_BRANCHES);
	KUNIT_EXPECT_FALSE(test, x86_pebs_parse(PEBS_FORMAT_ARCH, arch, sizeof(arch), &record));
}

static struct kunit_case pebs_branch_cases[] = {
	KUNIT_CASE_PARAM(branches_of_the_record, gen_params),
	KUNIT_CASE_PARAM(branches_in_the_ring, gen_params),
	KUNIT_CASE_PARAM(branches_are_chosen, gen_params),
	KUNIT_CASE_PARAM(branches_all, gen_params),
	KUNIT_CASE_PARAM(branches_have_counts, gen_counts_params),
	KUNIT_CASE_PARAM(branches_too_many, gen_params),
	{ }
};

TESTBED_SUITE(pebs_branch, "corepmu_pebs_branch");
