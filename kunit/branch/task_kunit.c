// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of branch records: which task they belong to, and when the hardware records
 */
#include <kunit/test.h>

#include <linux/perf_event.h>
#include <linux/sched.h>

#include <corepmu/branch.h>

#include "fixture.h"

/* Samples never show records of another task, or records from before a gap. */
static void branch_not_of_other_tasks(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_start(branch_open_stack(b, ANY_USER));

	KUNIT_EXPECT_EQ(test, testbed_cb_users, 1);
	branch_all();
	/* Perf core notifies the PMU of a switch. */
	event->pmu->pmu_disable(event->pmu);
	corepmu_features_sched_task(false);
	corepmu_features_sched_task(true);
	event->pmu->pmu_enable(event->pmu);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	OVERFLOW_EXPECT_FROM(b, &branch_seen[0], USER);

	/* The same notification while the PMU is enabled, as before 6.2 */
	branch_all();
	corepmu_features_sched_task(true);
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[1].nr, 0);

	/* Perf core does not notify the PMU: another task has run meanwhile. */
	event->hw.target = NULL;
	branch_all();
	current->nvcsw++;
	OVERFLOW_EXPECT_SAMPLES(b, 3);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);
	/* From here on the records belong to this task. */
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	OVERFLOW_EXPECT_FROM(b, &branch_seen[1], USER);
	branch_all();
	b->cpuc->branches->task = NULL;
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);

	/* An event without a counter for a while gets no records from before the gap. */
	branch_all();
	fixture_del(event);
	KUNIT_EXPECT_EQ(test, testbed_cb_users, 0);
	branch_all();
	branch_add(event);
	OVERFLOW_EXPECT_SAMPLES(b, 6);
	KUNIT_EXPECT_EQ(test, branch_seen[1].nr, 0);
	branch_end(event);
}

/* An overflow freezes the records; recording resumes after the interrupt. */
static void branch_freeze(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_start(branch_open_stack(b, ANY_USER));

	for (unsigned int i = 0; i < 3; i++) {
		fixture_forget(b);
		x86_model_branch(USER, USER_TO + i, X86_MODEL_COND, 0);
		b->testbed->ops->hold(true);
		branch_overflow(b);
		if (branch_records_kernel(b))
			x86_model_branch(USER + 0x10, USER_TO, X86_MODEL_CALL, 0);
		b->testbed->ops->hold(false);
		KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
		KUNIT_EXPECT_EQ(test, branch_seen[0].nr, i + 1);
		KUNIT_EXPECT_EQ(test, branch_seen[0].entries[0].to, USER_TO + i);
	}
	branch_end(event);
}

/* No sample shows branches of the overflow handler, even with several samples per interrupt. */
static void branch_not_of_handler(struct kunit *test)
{
	struct fixture *b = test->priv;
	u64 types = branch_records_kernel(b) ? ANY_LEVEL : ANY_USER;
	struct perf_event *one = branch_open_stack(b, types);
	struct perf_event *two = branch_open_stack(b, types);
	struct perf_event *plain = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, PERIOD / 2);
	const struct branch_seen *s;

	branch_begin();
	branch_noise = true;
	branch_add(one);
	branch_add(two);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	OVERFLOW_EXPECT_SAMPLES(b, 2);
	EXPECT_FROM(test, &branch_seen[0], USER);
	EXPECT_FROM(test, &branch_seen[1], USER);

	/* After an overflow of an event without branch records, recording resumes. */
	branch_noise = false;
	fixture_del(two);
	branch_add(plain);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	fixture_run(b, TESTBED_CYCLES, PERIOD / 2);
	x86_model_branch(USER + 0x10, USER_TO, X86_MODEL_CALL, 0);
	branch_seen[0].nr = 0;
	fixture_run(b, TESTBED_CYCLES, PERIOD / 2);
	/* The other event's sample may come first. */
	s = branch_seen[0].nr ? &branch_seen[0] : &branch_seen[1];
	KUNIT_EXPECT_GE(test, s->nr, 2);
	KUNIT_EXPECT_EQ(test, s->entries[0].from, USER + 0x10);
	KUNIT_EXPECT_EQ(test, s->entries[1].from, USER);
	fixture_del(plain);
	branch_end(one);
}

static void make_noise(struct perf_event *event, struct perf_sample_data *data,
		       struct pt_regs *regs)
{
	struct fixture *b = event->overflow_handler_context;

	b->nr_samples++;
	x86_model_branch(KERNEL, KERNEL + 0x40, X86_MODEL_IND_CALL, 0);
}

/*
 * No sample shows branches that the kernel takes while it emits a sample of another event, on a
 * lower or a higher counter.
 */
static void branch_not_of_other_samples(struct kunit *test)
{
	struct fixture *b = test->priv;
	u64 types = branch_records_kernel(b) ? ANY_LEVEL : ANY_USER;
	struct perf_event *other[] = {
		fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, PERIOD),
		fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, PERIOD),
	};
	struct perf_event *one = branch_open_stack(b, types);
	const struct branch_seen *s;

	branch_begin();
	memset(branch_seen, 0, sizeof(branch_seen));
	other[0]->overflow_handler = make_noise;
	other[1]->overflow_handler = make_noise;
	branch_add(other[0]);
	branch_add(one);
	branch_add(other[1]);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	OVERFLOW_EXPECT_SAMPLES(b, 3);
	s = branch_seen[0].nr ? &branch_seen[0] : &branch_seen[1];
	KUNIT_EXPECT_EQ(test, s->nr, 1);
	KUNIT_EXPECT_EQ(test, s->entries[0].from, USER);
	fixture_del(other[0]);
	fixture_del(other[1]);
	branch_end(one);
}

/* Make the event's counter overflow after a branch, and hold the interrupt back. */
static void overflow_pending(struct fixture *b, struct perf_event *event)
{
	branch_add(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	b->testbed->ops->hold(true);
	branch_overflow(b);
}

/* A sample at a stop, before the overflow's interrupt, has the records of the overflow. */
static void branch_sample_at_stop(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, ANY_USER);

	branch_begin();
	overflow_pending(b, event);
	fixture_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	EXPECT_FROM(test, &branch_seen[0], USER);
	b->testbed->ops->hold(false);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);

	/*
	 * The same stop with the PMU enabled. Perf core itself disables the PMU before it stops an
	 * event.
	 */
	fixture_start_event(event, PERF_EF_RELOAD);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	b->testbed->ops->hold(true);
	branch_overflow(b);
	event->pmu->stop(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, branch_seen[1].entries[0].from, USER);
	b->testbed->ops->hold(false);
	KUNIT_EXPECT_TRUE(test, b->cpuc->running);
	KUNIT_EXPECT_EQ(test, b->cpuc->branches->nesting, 0);
	branch_end(event);
	b->unknown_expected = b->testbed->ops->unknown();
}

/*
 * sched_out: the scheduler increments nvcsw, then perf core stops the event. The sample of a late
 * overflow has branches. If the PMU is enabled again before the task is gone, the next sample has
 * none.
 */
static void branch_sample_at_sched_out(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, ANY_USER);

	branch_begin();
	overflow_pending(b, event);
	event->pmu->pmu_disable(event->pmu);
	current->nvcsw++;
	corepmu_features_sched_task(false);
	fixture_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	EXPECT_FROM(test, &branch_seen[0], USER);
	b->testbed->ops->hold(false);

	/* From here on the records belong to the task again. */
	fixture_del(event);
	event->hw.target = NULL;
	branch_add(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	event->pmu->pmu_disable(event->pmu);
	current->nvcsw++;
	corepmu_features_sched_task(false);
	event->pmu->pmu_enable(event->pmu);
	OVERFLOW_EXPECT_SAMPLES(b, 2);
	KUNIT_EXPECT_EQ(test, branch_seen[1].nr, 0);
	branch_end(event);
	b->unknown_expected = b->testbed->ops->unknown();
}

/*
 * The scheduler increments nvcsw a little before perf core notifies the PMU. A sample between the
 * two has branches if perf core notifies the PMU of all switches of the task. Without
 * COMPAT_NOTIFIES_EVERY_SWITCH perf core does so only for a task that has an event of this PMU.
 */
static void branch_sample_before_sched_out(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_start(branch_open_stack(b, ANY_USER));
	unsigned int nr = COMPAT_PMUS_SHARE_CONTEXT ? 0 : 1;

	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	current->nvcsw++;
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, nr);
	fixture_del(event);

	event->hw.target = NULL;
	testbed_every_switch = true;
	branch_add(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	current->nvcsw++;
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[1].nr, nr);
	branch_end(event);
}

/* An event of the task has no branches from before a switch that perf core gave no notice of. */
static void branch_not_before_task_event(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, ANY_USER);
	struct perf_event *other = branch_open_stack(b, ANY_USER);

	event->hw.target = NULL;
	branch_start(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	current->nvcsw++;
	branch_add(other);
	OVERFLOW_EXPECT_SAMPLES(b, 2);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);
	KUNIT_EXPECT_EQ(test, branch_seen[1].nr, 0);
	fixture_del(other);
	branch_end(event);
	fixture_close(other);
}

/* An event of the task without branches does not vouch for the records of an event of the CPU. */
static void branch_not_before_other_event(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS,
	};
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, ANY_USER), *other;

	KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &other), 0);
	other->hw.target = current;
	event->hw.target = NULL;
	branch_start(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	current->nvcsw++;
	KUNIT_EXPECT_EQ(test, fixture_add(other, PERF_EF_START), 0);
	OVERFLOW_EXPECT_SAMPLES(b, 1);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);
	fixture_del(other);
	branch_end(event);
	fixture_close(other);
}

/* While the PMU is stopped, no records from before the switch are read. */
static void branch_not_before_start(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, ANY_USER);
	struct perf_event *other = branch_open_stack(b, ANY_USER);

	event->hw.target = NULL;
	branch_start(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	current->nvcsw++;
	event->pmu->pmu_disable(event->pmu);
	KUNIT_EXPECT_EQ(test, other->pmu->add(other, PERF_EF_START), 0);
	corepmu_branch_read(b->cpuc);
	KUNIT_EXPECT_EQ(test, b->cpuc->branches->list.nr, 0);
	event->pmu->pmu_enable(event->pmu);
	fixture_del(other);
	branch_end(event);
	fixture_close(other);
}

/* A limited number of nested samples has records, each in a stack of its own. */
static void branch_nesting(struct kunit *test)
{
	struct fixture *b = test->priv;
	/* The driver writes privilege levels into the sample's own stack. */
	struct perf_event *event = branch_open_stack(b, ANY_USER | PERF_SAMPLE_BRANCH_PRIV_SAVE);
	struct perf_branch_stack *outer = (void *)b->cpuc->branches->stack[0];

	branch_start(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	/* Stack of a sample that is being emitted */
	outer->nr = COREPMU_MAX_BRANCHES;
	b->cpuc->branches->nesting = COREPMU_BRANCH_NESTING - 1;
	OVERFLOW_EXPECT_FROM(b, &branch_seen[0], USER);
	KUNIT_EXPECT_EQ(test, outer->nr, COREPMU_MAX_BRANCHES);
	b->cpuc->branches->nesting++;
	OVERFLOW_EXPECT_SAMPLES(b, 2);
	KUNIT_EXPECT_EQ(test, branch_seen[1].nr, 0);
	KUNIT_EXPECT_EQ(test, b->cpuc->branches->nesting, COREPMU_BRANCH_NESTING);
	b->cpuc->branches->nesting = 0;
	branch_end(event);
}

/* After a reboot notification, the hardware records nothing. */
static void branch_off_after_reboot(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, ANY_USER);

	corepmu_features_off();
	branch_start(event);
	branch_all();
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);
	branch_end(event);
	corepmu_features_use(b->pmu->backend);
}

static struct kunit_case branch_cases[] = {
	KUNIT_CASE_PARAM(branch_not_of_other_tasks, branch_gen_params),
	KUNIT_CASE_PARAM(branch_freeze, branch_gen_params),
	KUNIT_CASE_PARAM(branch_not_of_handler, branch_gen_params),
	KUNIT_CASE_PARAM(branch_not_of_other_samples, branch_gen_params),
	KUNIT_CASE_PARAM(branch_sample_at_stop, branch_gen_params),
	KUNIT_CASE_PARAM(branch_sample_at_sched_out, branch_gen_params),
	KUNIT_CASE_PARAM(branch_sample_before_sched_out, branch_gen_params),
	KUNIT_CASE_PARAM(branch_not_before_task_event, branch_gen_params),
	KUNIT_CASE_PARAM(branch_not_before_other_event, branch_gen_params),
	KUNIT_CASE_PARAM(branch_not_before_start, branch_gen_params),
	KUNIT_CASE_PARAM(branch_nesting, branch_gen_params),
	KUNIT_CASE_PARAM(branch_off_after_reboot, branch_gen_params),
	{ }
};

TESTBED_SUITE(branch, "corepmu_branch_task");
