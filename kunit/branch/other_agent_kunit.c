// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of branch records whose registers another agent writes
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include <corepmu/branch.h>

#include "fixture.h"

/*
 * Another agent writes the registers: recording is off, all types are suppressed, and the freeze is
 * off.
 */
static void write_registers(void)
{
	struct x86_model *m = this_cpu_ptr(&x86_model_state);

	m->lbr_select = GENMASK(8, 0);
	m->lbr_ctl = 0;
	m->debugctl = 0;
}

static unsigned int nr_sampled(struct fixture *b)
{
	b->nr_samples = 0;
	branch_all();
	branch_overflow(b);
	KUNIT_EXPECT_EQ(b->test, b->nr_samples, 1);

	return branch_seen[0].nr;
}

/* The driver repairs the registers after another agent wrote them while no event recorded. */
static void other_agent_before_recording(struct kunit *test)
{
	struct fixture *b = test->priv;
	u64 levels = branch_records_kernel(b) ? ANY_LEVEL : ANY_USER;
	struct perf_event *event = branch_open_stack(b, levels);
	unsigned int before;

	branch_begin();
	branch_noise = levels == ANY_LEVEL;
	branch_add(event);
	before = nr_sampled(b);
	KUNIT_EXPECT_GT(test, before, 0);
	fixture_del(event);
	write_registers();
	branch_add(event);
	KUNIT_EXPECT_EQ(test, nr_sampled(b), before);
	branch_noise = false;
	branch_end(event);
}

/* The driver also repairs them while a per-CPU event records: adding another event writes them. */
static void other_agent_while_recording(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *permanent = branch_open_stack(b, ANY_USER), *event;

	event = branch_open_stack(b, ANY_USER);
	branch_start(permanent);
	branch_all();
	write_registers();
	branch_add(event);
	b->nr_samples = 0;
	branch_all();
	OVERFLOW_EXPECT_SAMPLES(b, 2);
	KUNIT_EXPECT_GT(test, branch_seen[0].nr, 0);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, branch_seen[1].nr);
	fixture_del(permanent);
	branch_end(event);
}

/*
 * Another agent clears the freeze bit while a per-CPU event records the kernel. The next overflow
 * finds no frozen records, and the driver writes the bit again.
 */
static void other_agent_clears_freeze(struct kunit *test)
{
	/* IA32_DEBUGCTL[11] */
	const u64 freeze = BIT_ULL(11);
	struct x86_model *m = this_cpu_ptr(&x86_model_state);
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, ANY_LEVEL);

	branch_start(event);
	branch_all();
	KUNIT_EXPECT_TRUE(test, m->debugctl & freeze);
	m->debugctl &= ~freeze;
	branch_overflow(b);
	KUNIT_EXPECT_TRUE(test, m->debugctl & freeze);
	branch_end(event);
}

/* Check whether the hardware can freeze branch records, and reports that they are frozen. */
static bool reports_freeze(const struct testbed *testbed)
{
	const struct x86_model_cpu *cpu = testbed->cpu;

	if (!testbed_is_x86(testbed))
		return false;

	return cpu->amd ? cpu->lbr_freeze : cpu->lbr_nr && cpu->version >= 4;
}

static const void *gen_freezing_params(const void *prev, char *desc)
{
	return testbed_gen_matching(prev, desc, reports_freeze);
}

static struct kunit_case other_agent_cases[] = {
	KUNIT_CASE_PARAM(other_agent_before_recording, branch_gen_params),
	KUNIT_CASE_PARAM(other_agent_while_recording, branch_gen_params),
	KUNIT_CASE_PARAM(other_agent_clears_freeze, gen_freezing_params),
	{ }
};

TESTBED_SUITE(other_agent, "corepmu_branch_other_agent");
