// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of branch records in transactions (TSX)
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include <corepmu/branch.h>

#include "fixture.h"

static const char * const tsx_testbeds[] = { "intel-lbr-v3", "intel-lbr-hsw" };

static void tsx_testbed_desc(const char * const *testbed, char *desc)
{
	strscpy(desc, *testbed, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(tsx_testbed, tsx_testbeds, tsx_testbed_desc);

/* Events select branches inside transactions, branches outside, and aborts. */
static void transactions_select_records(struct kunit *test)
{
	const char * const *testbed = test->param_value;
	struct fixture *b = fixture_start_on(test, *testbed);
	static const struct {
		u64 type;
		u64 from[3];
	} table[] = {
		{ PERF_SAMPLE_BRANCH_ANY, { USER + 0x30, USER + 0x20, USER } },
		{ PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_IN_TX, { USER + 0x30, USER + 0x20 } },
		{ PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_NO_TX, { USER } },
		{ PERF_SAMPLE_BRANCH_ABORT_TX, { USER + 0x30 } },
		{ PERF_SAMPLE_BRANCH_COND, { USER } },
	};
	unsigned int nr;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		const u64 type = table[i].type | PERF_SAMPLE_BRANCH_USER |
				 PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES;
		struct perf_event *event = branch_open_stack(b, type);

		b->nr_samples = 0;
		branch_start(event);
		x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
		x86_model_branch(USER + 0x20, USER_TO, X86_MODEL_RET, LBR_INFO_IN_TX);
		x86_model_branch(USER + 0x30, USER_TO, X86_MODEL_FAR,
				 LBR_INFO_IN_TX | LBR_INFO_ABORT);
		branch_overflow(b);
		for (nr = 0; nr < 3 && table[i].from[nr]; nr++)
			;
		branch_expect_from(test, &branch_seen[0], table[i].from, nr);
		branch_end(event);
	}
}

/* On a CPU without transactions, IN_TX and ABORT_TX select no branch. */
static void transactions_absent(struct kunit *test)
{
	struct fixture *b = test->priv;
	static const struct {
		u64 type;
		unsigned int nr;
	} table[] = {
		{ PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_IN_TX, 0 },
		{ PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_NO_TX, 4 },
		{ PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_IN_TX | PERF_SAMPLE_BRANCH_NO_TX, 4 },
		{ PERF_SAMPLE_BRANCH_ABORT_TX, 0 },
		{ PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_ABORT_TX, 1 },
		{ PERF_SAMPLE_BRANCH_IN_TX, 0 },
		{ PERF_SAMPLE_BRANCH_NO_TX, 0 },
	};

	if (!b->pmu->branch_backend->never_in_tx) {
		KUNIT_EXPECT_TRUE(test, !strncmp(b->testbed->name, "amd", 3) ||
				  !strcmp(b->testbed->name, "intel-lbr-v3") ||
				  !strcmp(b->testbed->name, "intel-lbr-hsw"));
		return;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct perf_event *event = branch_open_stack(b, table[i].type |
								PERF_SAMPLE_BRANCH_USER);

		b->nr_samples = 0;
		branch_start(event);
		branch_all();
		branch_overflow(b);
		KUNIT_EXPECT_EQ_MSG(test, b->nr_samples, 1, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, branch_seen[0].nr, table[i].nr, "row %u", i);
		branch_end(event);
	}
}

static struct kunit_case transactions_cases[] = {
	KUNIT_CASE_PARAM(transactions_absent, branch_gen_params),
	{ }
};

TESTBED_SUITE(transactions, "corepmu_branch_transactions");

/* These tests start a testbed of their own. */
static struct kunit_case transactions_testbed_cases[] = {
	KUNIT_CASE_PARAM(transactions_select_records, tsx_testbed_gen_params),
	{ }
};

OWN_TESTBED_SUITE(transactions_testbed, "corepmu_branch_transactions_testbed");
