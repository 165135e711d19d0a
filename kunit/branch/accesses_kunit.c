// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of branch records: register accesses of a start, a stop and an interrupt
 */
#include <kunit/test.h>

#include <linux/irqflags.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>

#include "fixture.h"

/*
 * Register accesses of a start, a stop and a reset. While only user branches are recorded, a stop
 * of the PMU does not stop recording, unless a freeze has ended recording (version 3). @debugctl:
 * number of DEBUGCTL accesses in an interrupt; with a ring of records the driver checks whether
 * recording is still enabled.
 */
struct accesses {
	const char *testbed;
	const char *start;
	const char *stop;
	const char *reset;
	const char *user_stop;
	const char *user_start;
	unsigned int debugctl;
};

static const struct accesses accesses[] = {
	{ "intel-lbr", "LBR_SELECT=0 DEBUGCTL DEBUGCTL=801 GLOBAL_CTRL=200000000",
	  "GLOBAL_CTRL=0 DEBUGCTL DEBUGCTL=0", "DEBUGCTL DEBUGCTL=0",
	  "GLOBAL_CTRL=0", "GLOBAL_CTRL=200000000", 1 },
	{ "intel-lbr-glm", "LBR_SELECT=0 DEBUGCTL DEBUGCTL=801 GLOBAL_CTRL=200000000",
	  "GLOBAL_CTRL=0 DEBUGCTL DEBUGCTL=0", "DEBUGCTL DEBUGCTL=0",
	  "GLOBAL_CTRL=0", "GLOBAL_CTRL=200000000", 1 },
	{ "intel-lbr-v3", "LBR_SELECT=0 DEBUGCTL DEBUGCTL=801 GLOBAL_CTRL=200000000",
	  "GLOBAL_CTRL=0 DEBUGCTL DEBUGCTL=0", "DEBUGCTL DEBUGCTL=0",
	  "GLOBAL_CTRL=0 DEBUGCTL DEBUGCTL=0", "DEBUGCTL DEBUGCTL=801 GLOBAL_CTRL=200000000",
	  4 },
	{ "intel-lbr-hsw", "LBR_SELECT=0 DEBUGCTL DEBUGCTL=801 GLOBAL_CTRL=200000000",
	  "GLOBAL_CTRL=0 DEBUGCTL DEBUGCTL=0", "DEBUGCTL DEBUGCTL=0",
	  "GLOBAL_CTRL=0 DEBUGCTL DEBUGCTL=0", "DEBUGCTL DEBUGCTL=801 GLOBAL_CTRL=200000000",
	  4 },
	{ "intel-arch-lbr", "DEBUGCTL DEBUGCTL=800 LBR_CTL=7f0007 GLOBAL_CTRL=200000000",
	  "GLOBAL_CTRL=0 LBR_CTL=0", "DEBUGCTL LBR_CTL=0 DEBUGCTL=0",
	  "GLOBAL_CTRL=0", "GLOBAL_CTRL=200000000" },
	{ "amd-lbr", "LBR_SELECT=0 DEBUGCTL DEBUGCTL=800 DBG_EXTN_CFG DBG_EXTN_CFG=40 GLOBAL_CTL=1",
	  "GLOBAL_CTL=0 DBG_EXTN_CFG DBG_EXTN_CFG=0",
	  "DBG_EXTN_CFG DBG_EXTN_CFG=0 DEBUGCTL DEBUGCTL=0",
	  "GLOBAL_CTL=0", "GLOBAL_CTL=1" },
};

static void accesses_desc(const struct accesses *a, char *desc)
{
	strscpy(desc, a->testbed, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(accesses, accesses, accesses_desc);

static void branch_accesses(struct kunit *test)
{
	const struct accesses *a = test->param_value;
	struct fixture *b = fixture_start_on(test, a->testbed);
	struct perf_event *event = branch_open_stack(b, ANY_LEVEL);

	branch_begin();
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	event->pmu->pmu_disable(event->pmu);
	b->cpuc->branches->cached_reg = ~0ULL;
	b->cpuc->branches->freezes = false;
	this_cpu_write(x86_model_state.debugctl, 0);
	model_forget();
	event->pmu->pmu_enable(event->pmu);
	local_irq_enable();
	expect_accesses(test, a->start);

	local_irq_disable();
	event->pmu->pmu_disable(event->pmu);
	local_irq_enable();
	expect_accesses(test, a->stop);

	local_irq_disable();
	corepmu_branch_reset(b->cpuc);
	local_irq_enable();
	expect_accesses(test, a->reset);
	KUNIT_EXPECT_TRUE(test, b->cpuc->branches->stale);

	/* An interrupt reads the records, and neither stops nor starts recording. */
	local_irq_disable();
	event->pmu->pmu_enable(event->pmu);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	model_forget();
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 1);
	KUNIT_EXPECT_EQ(test, model_accesses("DEBUGCTL"), a->debugctl);
	KUNIT_EXPECT_EQ(test, model_accesses("LBR_SELECT") + model_accesses("LBR_CTL") +
			model_accesses("DBG_EXTN_CFG"), 0);
	branch_end(event);
}

static void branch_accesses_user(struct kunit *test)
{
	const struct accesses *a = test->param_value;
	struct fixture *b = fixture_start_on(test, a->testbed);
	struct perf_event *event = branch_open_stack(b, ANY_USER);

	branch_begin();
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	model_forget();
	event->pmu->pmu_disable(event->pmu);
	local_irq_enable();
	expect_accesses(test, a->user_stop);

	local_irq_disable();
	event->pmu->pmu_enable(event->pmu);
	local_irq_enable();
	expect_accesses(test, a->user_start);

	local_irq_disable();
	branch_end(event);
	KUNIT_EXPECT_FALSE(test, b->cpuc->branches->recording);
}

/* When the event that wants the kernel's branches is deleted, the hardware stops recording them. */
static void branch_accesses_less(struct kunit *test)
{
	const struct accesses *a = test->param_value;
	struct fixture *b = fixture_start_on(test, a->testbed);
	struct perf_event *both = branch_open_stack(b, ANY_LEVEL);
	struct perf_event *user = branch_open_stack(b, ANY_USER);
	struct perf_branch_entry entries[8];

	branch_begin();
	KUNIT_EXPECT_EQ(test, fixture_add(both, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, fixture_add(user, PERF_EF_START), 0);
	x86_model_branch(KERNEL, KERNEL + 0x40, X86_MODEL_COND, 0);
	KUNIT_EXPECT_EQ(test, corepmu_branch_snapshot(entries, ARRAY_SIZE(entries)), 1);
	fixture_del(both);
	x86_model_branch(KERNEL + 0x40, KERNEL, X86_MODEL_COND, 0);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	KUNIT_EXPECT_EQ(test, corepmu_branch_snapshot(entries, ARRAY_SIZE(entries)), 1);
	KUNIT_EXPECT_EQ(test, entries[0].from, USER);
	/* The hardware's records still include the kernel's branch. */
	KUNIT_EXPECT_EQ(test, b->cpuc->branches->list.nr, 2);
	KUNIT_EXPECT_EQ(test, b->cpuc->branches->list.entries[1].from, KERNEL);
	branch_end(user);
}

/* Count the accesses to the registers with branch addresses, under Intel's and AMD's names. */
static unsigned int from_accesses(void)
{
	return model_accesses("LBR_FROM") + model_accesses("SAMP_BR_FROM");
}

/* An interrupt of an event without branch records reads no records. */
static void branch_accesses_of_others(struct kunit *test)
{
	const struct accesses *a = test->param_value;
	struct fixture *b = fixture_start_on(test, a->testbed);
	struct perf_event *event = branch_open_stack(b, ANY_USER);
	struct perf_event *other = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100);

	branch_start(event);
	branch_add(other);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	model_forget();
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 100, 1);
	KUNIT_EXPECT_EQ(test, from_accesses(), 0);
	fixture_del(other);
	branch_end(event);
}

/* A snapshot stops the counters while it reads the records. */
static void branch_accesses_of_snapshot(struct kunit *test)
{
	const struct accesses *a = test->param_value;
	struct fixture *b = fixture_start_on(test, a->testbed);
	struct perf_event *event = branch_start(branch_open_stack(b, ANY_USER));
	struct perf_branch_entry entries[8];

	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	model_forget();
	KUNIT_EXPECT_EQ(test, corepmu_branch_snapshot(entries, ARRAY_SIZE(entries)), 1);
	KUNIT_EXPECT_GT(test, from_accesses(), 0);
	KUNIT_EXPECT_EQ(test, model_accesses("GLOBAL_CTRL") + model_accesses("GLOBAL_CTL"), 2);
	branch_end(event);
}

/* On AMD, deleting the last event with branch records clears the freeze bit. */
static void branch_accesses_freeze(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "amd-lbr");
	const u64 levels[] = { ANY_LEVEL, ANY_USER };
	struct x86_model *m = this_cpu_ptr(&x86_model_state);

	for (unsigned int i = 0; i < ARRAY_SIZE(levels); i++) {
		struct perf_event *event = branch_start(branch_open_stack(b, levels[i]));

		KUNIT_EXPECT_EQ(test, m->debugctl, BIT_ULL(11));
		branch_end(event);
		KUNIT_EXPECT_EQ(test, m->debugctl, 0);
	}
}

/* These tests start a testbed of their own. */
static struct kunit_case accesses_cases[] = {
	KUNIT_CASE_PARAM(branch_accesses, accesses_gen_params),
	KUNIT_CASE_PARAM(branch_accesses_user, accesses_gen_params),
	KUNIT_CASE_PARAM(branch_accesses_less, accesses_gen_params),
	KUNIT_CASE_PARAM(branch_accesses_of_others, accesses_gen_params),
	KUNIT_CASE_PARAM(branch_accesses_of_snapshot, accesses_gen_params),
	KUNIT_CASE(branch_accesses_freeze),
	{ }
};

OWN_TESTBED_SUITE(accesses, "corepmu_branch_accesses");
