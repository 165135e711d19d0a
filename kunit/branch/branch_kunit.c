// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of branch records: attributes of events, and branch stacks of their samples
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include <corepmu/branch.h>

#include "fixture.h"

#define MISPREDICTED	BIT_ULL(63)

/* The youngest record comes first, and a sample has no more records than the hardware. */
static void branch_order(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_start(branch_open_stack(b, ANY_USER));

	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	x86_model_branch(USER + 0x10, USER_TO + 2, X86_MODEL_CALL, 0);
	OVERFLOW_EXPECT_FROM(b, &branch_seen[0], USER + 0x10, USER);
	KUNIT_EXPECT_EQ(test, branch_seen[0].entries[0].to, USER_TO + 2);

	for (unsigned int i = 0; i < 100; i++)
		x86_model_branch(USER, USER_TO + i, X86_MODEL_COND, 0);
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[1].nr, b->pmu->nr_branches);
	for (unsigned int i = 0; i < branch_seen[1].nr; i++)
		KUNIT_EXPECT_EQ(test, branch_seen[1].entries[i].to, USER_TO + 99 - i);
	branch_end(event);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, testbed_cb_users, 0);
}

/* Each branch type that an event may select, in user space and in the kernel */
static void branch_by_type(struct kunit *test)
{
	struct fixture *b = test->priv;
	static const struct {
		u64 type;
		u64 from[8];
	} table[] = {
		{ PERF_SAMPLE_BRANCH_ANY, { USER + 0x30, USER + 0x20, USER + 0x10, USER } },
		{ PERF_SAMPLE_BRANCH_ANY_CALL, { USER + 0x10 } },
		{ PERF_SAMPLE_BRANCH_CALL, { USER + 0x10 } },
		{ PERF_SAMPLE_BRANCH_ANY_RETURN, { USER + 0x20 } },
		{ PERF_SAMPLE_BRANCH_COND, { USER } },
		{ PERF_SAMPLE_BRANCH_IND_JUMP, { USER + 0x30 } },
		{ PERF_SAMPLE_BRANCH_IND_CALL },
		{ PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_CALL, { USER + 0x10, USER } },
		{ PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL,
		  { KERNEL + 0x10, KERNEL + 0x20, KERNEL, USER + 0x40, USER + 0x30, USER + 0x20,
		    USER + 0x10, USER } },
		/* In the kernel an interrupt and an indirect call, in user space two calls */
		{ PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_KERNEL,
		  { KERNEL + 0x20, KERNEL, USER + 0x40, USER + 0x10 } },
		{ PERF_SAMPLE_BRANCH_ANY_RETURN | PERF_SAMPLE_BRANCH_KERNEL,
		  { KERNEL + 0x10, USER + 0x20 } },
		{ PERF_SAMPLE_BRANCH_IND_CALL | PERF_SAMPLE_BRANCH_KERNEL, { KERNEL } },
	};
	unsigned int nr;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct perf_event *event;

		if ((table[i].type & PERF_SAMPLE_BRANCH_KERNEL) && !branch_records_kernel(b))
			continue;
		event = branch_open_stack(b, table[i].type | PERF_SAMPLE_BRANCH_USER);
		b->nr_samples = 0;
		branch_start(event);
		branch_all();
		branch_overflow(b);
		for (nr = 0; nr < 8 && table[i].from[nr]; nr++)
			;
		KUNIT_EXPECT_EQ_MSG(test, b->nr_samples, 1, "row %u", i);
		branch_expect_from(test, &branch_seen[0], table[i].from, nr);
		branch_end(event);
	}
}

/* Without PERF_SAMPLE_BRANCH_KERNEL, a sample shows no kernel address, not even as a source. */
static void branch_levels(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_start(branch_open_stack(b, ANY_USER));

	branch_all();
	/* Clear the filter register, as if the hardware did not filter. */
	this_cpu_write(x86_model_state.lbr_select, 0);
	branch_all();
	branch_overflow(b);
	EXPECT_FROM(test, &branch_seen[0], USER + 0x30, USER + 0x20, USER + 0x10, USER,
		    USER + 0x30, USER + 0x20, USER + 0x10, USER);
	branch_end(event);

	if (branch_records_kernel(b)) {
		event = branch_open_stack(b, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL |
				   PERF_SAMPLE_BRANCH_PRIV_SAVE);
		b->nr_samples = 0;
		branch_start(event);
		branch_all();
		branch_overflow(b);
		/* The privilege level of the target decides. */
		EXPECT_FROM(test, &branch_seen[0], KERNEL + 0x20, KERNEL, USER + 0x40);
		KUNIT_EXPECT_EQ(test, (u64)branch_seen[0].entries[0].priv, PERF_BR_PRIV_KERNEL);
		branch_end(event);
	}
}

/*
 * The hardware records the union of two events' branch types; each sample has its own event's
 * types.
 */
static void branch_union(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *calls = branch_open_stack(b, PERF_SAMPLE_BRANCH_ANY_CALL |
					      PERF_SAMPLE_BRANCH_USER);
	struct perf_event *conds = branch_open_stack(b, PERF_SAMPLE_BRANCH_COND |
					      PERF_SAMPLE_BRANCH_USER |
					      PERF_SAMPLE_BRANCH_TYPE_SAVE);

	branch_start(calls);
	branch_all();
	/* The hardware has not recorded conditional branches so far: the sample has no records. */
	branch_add(conds);
	OVERFLOW_EXPECT_SAMPLES(b, 2);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr + branch_seen[1].nr, 0);

	branch_all();
	OVERFLOW_EXPECT_SAMPLES(b, 4);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 1);
	KUNIT_EXPECT_EQ(test, branch_seen[1].nr, 1);
	KUNIT_EXPECT_EQ(test, branch_seen[0].entries[0].from + branch_seen[1].entries[0].from,
			USER + USER + 0x10);
	/* Only the event with PERF_SAMPLE_BRANCH_TYPE_SAVE gets types. */
	KUNIT_EXPECT_EQ(test, branch_seen[0].entries[0].type + branch_seen[1].entries[0].type,
			PERF_BR_COND);

	/* The remaining event still gets the records from before. */
	branch_all();
	fixture_del(conds);
	OVERFLOW_EXPECT_SAMPLES(b, 5);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 2);
	KUNIT_EXPECT_EQ(test, branch_seen[0].entries[1].from, USER + 0x10);
	branch_end(calls);
}

/* Samples show flags, cycles, types and privilege levels only if their event asks for them. */
static void branch_flags(struct kunit *test)
{
	struct fixture *b = test->priv;
	bool amd = !strncmp(b->testbed->name, "amd", 3);
	struct perf_event *all = branch_open_stack(b, ANY_USER | PERF_SAMPLE_BRANCH_TYPE_SAVE |
					    PERF_SAMPLE_BRANCH_PRIV_SAVE |
					    PERF_SAMPLE_BRANCH_HW_INDEX);
	struct perf_event *none = branch_open_stack(b, ANY_USER | PERF_SAMPLE_BRANCH_NO_FLAGS |
					     PERF_SAMPLE_BRANCH_NO_CYCLES);
	struct perf_branch_entry *entry;

	branch_start(all);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, MISPREDICTED | 7);
	x86_model_branch(USER + 0x20, USER_TO, X86_MODEL_RET, 9);
	branch_overflow(b);
	entry = branch_seen[0].entries;
	KUNIT_EXPECT_EQ(test, (u64)entry[0].mispred, 0);
	KUNIT_EXPECT_EQ(test, (u64)entry[0].predicted, 1);
	KUNIT_EXPECT_EQ(test, (u64)entry[1].mispred, 1);
	KUNIT_EXPECT_EQ(test, (u64)entry[1].predicted, 0);
	KUNIT_EXPECT_EQ(test, (u64)entry[0].cycles, branch_has_cycles(b->testbed) ? 9 : 0);
	KUNIT_EXPECT_EQ(test, (u64)entry[1].cycles, branch_has_cycles(b->testbed) ? 7 : 0);
	KUNIT_EXPECT_EQ(test, (u64)entry[0].type, PERF_BR_RET);
	KUNIT_EXPECT_EQ(test, (u64)entry[1].type, PERF_BR_COND);
	KUNIT_EXPECT_EQ(test, (u64)entry[0].priv, PERF_BR_PRIV_USER);
	KUNIT_EXPECT_EQ(test, (u64)entry[0].spec, amd ? PERF_BR_NON_SPEC_CORRECT_PATH :
						   PERF_BR_SPEC_NA);
	KUNIT_EXPECT_EQ(test, branch_seen[0].hw_idx, this_cpu_read(x86_model_state.lbr_tos));
	fixture_del(all);

	b->nr_samples = 0;
	branch_add(none);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, MISPREDICTED | 7);
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 1);
	KUNIT_EXPECT_EQ(test, entry[0].mispred + entry[0].predicted + entry[0].cycles, 0);
	KUNIT_EXPECT_EQ(test, entry[0].type + entry[0].priv + entry[0].spec, 0);
	branch_end(none);
}

/* Flags and cycles that another event asks for are not in this event's samples. */
static void branch_flags_of_own_event(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *all = branch_open_stack(b, ANY_USER);
	struct perf_event *none = branch_open_stack(b, ANY_USER | PERF_SAMPLE_BRANCH_NO_FLAGS |
						    PERF_SAMPLE_BRANCH_NO_CYCLES);
	unsigned int i, with_flags = 0;

	branch_start(all);
	branch_add(none);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, MISPREDICTED | 7);
	OVERFLOW_EXPECT_SAMPLES(b, 2);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, branch_seen[i].nr, 1);
		with_flags += branch_seen[i].entries[0].mispred;
	}
	KUNIT_EXPECT_EQ(test, with_flags, 1);
	fixture_del(all);
	branch_end(none);
}

/*
 * Without branch types, a sample has an empty branch stack and hw_idx, also with another event's
 * records.
 */
static void branch_of_no_type(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *none = branch_open_stack(b, PERF_SAMPLE_BRANCH_USER |
						    PERF_SAMPLE_BRANCH_HW_INDEX);
	struct perf_event *all = branch_open_stack(b, ANY_USER);

	branch_start(none);
	branch_all();
	branch_seen[0].nr = ~0;
	OVERFLOW_EXPECT_SAMPLES(b, 1);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);

	branch_add(all);
	branch_all();
	OVERFLOW_EXPECT_SAMPLES(b, 3);
	KUNIT_EXPECT_EQ(test, min(branch_seen[0].nr, branch_seen[1].nr), 0);
	KUNIT_EXPECT_GT(test, max(branch_seen[0].nr, branch_seen[1].nr), 0);
	KUNIT_EXPECT_EQ(test, max(branch_seen[0].hw_idx, branch_seen[1].hw_idx),
			this_cpu_read(x86_model_state.lbr_tos));
	fixture_del(all);
	branch_end(none);
}

/* Rejected branch_sample_type values and their errno */
static void branch_refuses(struct kunit *test)
{
	struct fixture *b = test->priv;
	bool amd = !strncmp(b->testbed->name, "amd", 3);
	bool calls = branch_has_calls(b->testbed);
	struct {
		u64 type;
		int err;
	} table[] = {
		{ ANY_USER, 0 },
		{ ANY_LEVEL | PERF_SAMPLE_BRANCH_HV, branch_records_kernel(b) ? 0 : -EOPNOTSUPP },
		{ ANY_USER | PERF_SAMPLE_BRANCH_CALL_STACK, calls ? -EINVAL : -EOPNOTSUPP },
		{ CALLS_USER, calls ? 0 : -EOPNOTSUPP },
		{ CALLS_USER | PERF_SAMPLE_BRANCH_KERNEL, -EOPNOTSUPP },
		{ CALLS_USER | PERF_SAMPLE_BRANCH_CALL, calls ? -EINVAL : -EOPNOTSUPP },
		{ CALLS_USER | PERF_SAMPLE_BRANCH_IND_JUMP, calls ? -EINVAL : -EOPNOTSUPP },
		{ CALLS_USER | PERF_SAMPLE_BRANCH_NO_TX, calls ? -EINVAL : -EOPNOTSUPP },
		/* perf retries without these only after EINVAL. */
		{ ANY_USER | PERF_SAMPLE_BRANCH_COUNTERS,
		  branch_has_counts(b->testbed) ? 0 : -EINVAL },
		{ ANY_USER | 1ULL << 40, -EINVAL },
		{ ANY_USER | PERF_SAMPLE_BRANCH_ABORT_TX, amd ? -EOPNOTSUPP : 0 },
		{ ANY_USER | PERF_SAMPLE_BRANCH_IN_TX, amd ? -EOPNOTSUPP : 0 },
		{ ANY_USER | PERF_SAMPLE_BRANCH_NO_TX, amd ? -EOPNOTSUPP : 0 },
		/* perf opens these to find out which branch details the kernel supports. */
		{ PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_HW_INDEX, 0 },
		{ PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_NO_FLAGS |
		  PERF_SAMPLE_BRANCH_NO_CYCLES, 0 },
		{ PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_COUNTERS,
		  branch_has_counts(b->testbed) ? 0 : -EINVAL },
		{ PERF_SAMPLE_BRANCH_HV | PERF_SAMPLE_BRANCH_HW_INDEX, 0 },
		{ PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HV, 0 },
		{ PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_HV, calls ? 0 : -EOPNOTSUPP },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct perf_event_attr attr = { STACK(table[i].type) };
		struct perf_event *event;

		KUNIT_EXPECT_EQ_MSG(test, fixture_open(b, &attr, &event), table[i].err,
				    "row %u", i);
		if (table[i].err)
			continue;
		KUNIT_EXPECT_TRUE(test, event->attach_state & PERF_ATTACH_SCHED_CB);
		fixture_close(event);
	}
	KUNIT_EXPECT_EQ(test, model_accesses(NULL), 0);
}

/* With PERF_SAMPLE_BRANCH_HV only, a sample has no branches, even while another event records. */
static void branch_no_level(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, PERF_SAMPLE_BRANCH_ANY |
							PERF_SAMPLE_BRANCH_HV);
	struct perf_event *other = branch_open_stack(b, branch_records_kernel(b) ? ANY_LEVEL :
										 ANY_USER);

	branch_start(event);
	branch_all();
	OVERFLOW_EXPECT_SAMPLES(b, 1);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);
	KUNIT_EXPECT_EQ(test, fixture_add(other, PERF_EF_START), 0);
	b->nr_samples = 0;
	branch_all();
	/* Clear the filter register, as if the hardware did not filter. */
	this_cpu_write(x86_model_state.lbr_select, 0);
	branch_all();
	OVERFLOW_EXPECT_SAMPLES(b, 2);
	KUNIT_EXPECT_EQ(test, !branch_seen[0].nr + !branch_seen[1].nr, 1);
	fixture_del(other);
	branch_end(event);
}

/* A counting event, or one without PERF_SAMPLE_BRANCH_STACK, records nothing. */
static void branch_counting(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event_attr attr = { STACK(ANY_USER) };
	struct perf_event *event;

	attr.sample_period = 0;
	KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
	branch_start(event);
	KUNIT_EXPECT_FALSE(test, corepmu_uses(b->cpuc, COREPMU_FEATURE_BRANCHES));
	branch_end(event);

	attr.sample_period = PERIOD;
	attr.sample_type = 0;
	KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
	branch_start(event);
	KUNIT_EXPECT_FALSE(test, corepmu_uses(b->cpuc, COREPMU_FEATURE_BRANCHES));
	branch_end(event);
}

/* A snapshot has the branches that the CPU's events want, and does not change recording. */
static void branch_snapshot(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, ANY_USER);
	struct perf_branch_entry entries[8];
	bool recording;

	KUNIT_EXPECT_EQ(test, corepmu_branch_snapshot(entries, ARRAY_SIZE(entries)), 0);

	branch_start(event);
	branch_all();
	KUNIT_EXPECT_EQ(test, corepmu_branch_snapshot(entries, 2), 2);
	KUNIT_EXPECT_EQ(test, entries[0].from, USER + 0x30);
	KUNIT_EXPECT_EQ(test, entries[1].from, USER + 0x20);

	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	KUNIT_EXPECT_EQ(test, corepmu_branch_snapshot(entries, ARRAY_SIZE(entries)), 5);
	KUNIT_EXPECT_EQ(test, entries[0].from, USER);
	KUNIT_EXPECT_EQ(test, entries[4].from, USER);

	/* Take the snapshot as an NMI in the middle of a stop would. */
	corepmu_stop_cpu(b->cpuc);
	recording = b->cpuc->branches->recording;
	KUNIT_EXPECT_EQ(test, corepmu_branch_snapshot(entries, ARRAY_SIZE(entries)), 5);
	KUNIT_EXPECT_FALSE(test, b->cpuc->running);
	KUNIT_EXPECT_EQ(test, b->cpuc->branches->recording, recording);
	corepmu_start_cpu(b->cpuc);

	x86_model_branch(USER + 0x10, USER_TO, X86_MODEL_CALL, 0);
	branch_overflow(b);
	EXPECT_FROM(test, &branch_seen[0], USER + 0x10, USER, USER + 0x30, USER + 0x20,
		    USER + 0x10, USER);
	branch_end(event);
	KUNIT_EXPECT_EQ(test, corepmu_branch_snapshot(entries, ARRAY_SIZE(entries)), 0);
}

static struct kunit_case branch_cases[] = {
	KUNIT_CASE_PARAM(branch_order, branch_gen_params),
	KUNIT_CASE_PARAM(branch_by_type, branch_gen_params),
	KUNIT_CASE_PARAM(branch_levels, branch_gen_params),
	KUNIT_CASE_PARAM(branch_union, branch_gen_params),
	KUNIT_CASE_PARAM(branch_flags, branch_gen_params),
	KUNIT_CASE_PARAM(branch_flags_of_own_event, branch_gen_params),
	KUNIT_CASE_PARAM(branch_of_no_type, branch_gen_params),
	KUNIT_CASE_PARAM(branch_refuses, branch_gen_params),
	KUNIT_CASE_PARAM(branch_no_level, branch_gen_params),
	KUNIT_CASE_PARAM(branch_snapshot, branch_gen_params),
	KUNIT_CASE_PARAM(branch_counting, branch_gen_params),
	{ }
};

TESTBED_SUITE(branch, "corepmu_branch");

/* Start a testbed, with an event that records user branches and counts */
static struct perf_event *branch_on_testbed(struct kunit *test, const char *testbed)
{
	return branch_start(branch_open_stack(fixture_start_on(test, testbed), ANY_USER));
}

/* AMD's erratum 1452: a record with the reserved bit is invalid; samples exclude it. */
static void branch_leaves_out_erroneous(struct kunit *test)
{
	struct perf_event *event = branch_on_testbed(test, "amd-lbr");

	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	x86_model_branch(USER + 0x10, USER_TO, X86_MODEL_CALL, 0);
	x86_model_branch(USER + 0x20, USER_TO, X86_MODEL_RET, 0);
	this_cpu_ptr(&x86_model_state)->lbr[1].to |= BIT_ULL(61);
	branch_overflow(test->priv);
	EXPECT_FROM(test, &branch_seen[0], USER + 0x20, USER);
	branch_end(event);
}

/*
 * A debug exception ends recording: the sample has no old branches, and the next start records
 * again.
 */
static void branch_after_debug_exception(struct kunit *test)
{
	struct perf_branch_entry entries[4];
	struct perf_event *event = branch_on_testbed(test, "intel-lbr");

	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	this_cpu_ptr(&x86_model_state)->debugctl &= ~BIT_ULL(0);
	x86_model_branch(USER + 0x10, USER_TO, X86_MODEL_CALL, 0);
	branch_overflow(test->priv);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);
	x86_model_branch(USER + 0x20, USER_TO, X86_MODEL_RET, 0);
	branch_overflow(test->priv);
	EXPECT_FROM(test, &branch_seen[1], USER + 0x20);
	/* A snapshot stops recording first. */
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	KUNIT_EXPECT_GT(test, corepmu_branch_snapshot(entries, ARRAY_SIZE(entries)), 0);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	this_cpu_ptr(&x86_model_state)->debugctl &= ~BIT_ULL(0);
	KUNIT_EXPECT_EQ(test, corepmu_branch_snapshot(entries, ARRAY_SIZE(entries)), 0);
	branch_end(event);
}

/* On Westmere hyperthreads share LBR_SELECT: the hardware does not filter, but samples do. */
static void branch_shared_select(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-lbr-wsm");
	struct perf_event *event;

	x86_model_threads = true;
	event = branch_start(branch_open_stack(b, PERF_SAMPLE_BRANCH_ANY_CALL |
						  PERF_SAMPLE_BRANCH_USER));
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.lbr_select), 0);
	branch_all();
	OVERFLOW_EXPECT_FROM(b, &branch_seen[0], USER + 0x10);
	branch_end(event);
}

/* These tests start a testbed of their own. */
static struct kunit_case branch_testbed_cases[] = {
	KUNIT_CASE(branch_shared_select),
	KUNIT_CASE(branch_leaves_out_erroneous),
	KUNIT_CASE(branch_after_debug_exception),
	{ }
};

OWN_TESTBED_SUITE(branch_testbed, "corepmu_branch_machine");
