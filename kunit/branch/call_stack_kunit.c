// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of LBR call stacks
 */
#include <kunit/test.h>

#include <linux/perf_event.h>
#include <linux/sched.h>

#include <corepmu/branch.h>

#include "fixture.h"

static void record_call(unsigned int i)
{
	x86_model_branch(USER + 0x10, USER_TO + i, X86_MODEL_CALL, 0);
}

static void record_return(void)
{
	x86_model_branch(USER + 0x20, USER, X86_MODEL_RET, 0);
}

/* Schedule the current task out. */
static void schedule_out(struct perf_event *event)
{
	event->pmu->pmu_disable(event->pmu);
	current->nvcsw++;
	corepmu_features_sched_task(false);
	event->pmu->del(event, 0);
	event->pmu->pmu_enable(event->pmu);
}

static void schedule_in(struct perf_event *event)
{
	struct fixture *b = event->overflow_handler_context;

	event->pmu->pmu_disable(event->pmu);
	KUNIT_EXPECT_EQ(b->test, event->pmu->add(event, PERF_EF_START), 0);
	corepmu_features_sched_task(true);
	event->pmu->pmu_enable(event->pmu);
}

/*
 * Expect the call stack of the next sample: calls to USER_TO plus each number, the youngest first.
 */
static void expect_calls(struct fixture *b, const unsigned int *to, unsigned int nr)
{
	b->nr_samples = 0;
	branch_overflow(b);
	KUNIT_EXPECT_EQ(b->test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(b->test, branch_seen[0].nr, nr);
	for (unsigned int i = 0; i < nr && i < branch_seen[0].nr; i++) {
		KUNIT_EXPECT_EQ(b->test, branch_seen[0].entries[i].from, USER + 0x10);
		KUNIT_EXPECT_EQ(b->test, branch_seen[0].entries[i].to, USER_TO + to[i]);
	}
}

#define EXPECT_CALLS(b, ...)							\
	expect_calls(b, (const unsigned int[]) { __VA_ARGS__ },			\
		     ARRAY_SIZE(((const unsigned int[]) { __VA_ARGS__ })))

/* Calls add records, and returns remove them; other branches do neither. */
static void call_stack_follows_calls(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, CALLS_USER | PERF_SAMPLE_BRANCH_TYPE_SAVE);

	branch_start(event);
	record_call(1);
	record_call(2);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	record_call(3);
	record_return();
	EXPECT_CALLS(b, 2, 1);
	KUNIT_EXPECT_EQ(test, (u64)branch_seen[0].entries[0].type, PERF_BR_CALL);
	/*
	 * Call stacks do not freeze: the sample of a late interrupt shows the calls at the time of
	 * the interrupt.
	 */
	b->testbed->ops->hold(true);
	b->nr_samples = 0;
	branch_overflow(b);
	record_call(4);
	b->testbed->ops->hold(false);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 3);
	for (unsigned int i = 0; i < 3; i++)
		record_return();
	b->nr_samples = 0;
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);
	branch_end(event);
}

/*
 * The call stack survives while the task is scheduled out, even if another event uses the
 * registers.
 */
static void call_stack_saved_at_switch(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, CALLS_USER);
	struct perf_event *other = branch_open_stack(b, ANY_USER);
	u64 top;

	branch_start(event);
	record_call(1);
	record_call(2);
	EXPECT_CALLS(b, 2, 1);
	top = branch_seen[0].hw_idx;

	schedule_out(event);
	branch_add(other);
	branch_all();
	fixture_del(other);
	schedule_in(event);
	EXPECT_CALLS(b, 2, 1);
	KUNIT_EXPECT_EQ(test, branch_seen[0].hw_idx, top);
	record_call(3);
	EXPECT_CALLS(b, 3, 2, 1);
	record_return();
	record_return();
	EXPECT_CALLS(b, 1);

	/* The driver does not write records that the registers still hold. */
	schedule_out(event);
	model_forget();
	schedule_in(event);
	KUNIT_EXPECT_EQ(test, model_accesses("LBR_TO"), 0);
	EXPECT_CALLS(b, 1);

	/* A powered-down CPU has lost the records: the driver restores them. */
	schedule_out(event);
	this_cpu_write(x86_model_state.lbr[branch_seen[0].hw_idx].from, 0);
	schedule_in(event);
	EXPECT_CALLS(b, 1);
	branch_end(event);
}

/*
 * Check whether a clear DEBUGCTL.LBR means a debug exception. Before version 4 a freeze clears the
 * bit, too.
 */
static bool ends_by_debug_exception(struct fixture *b)
{
	const struct x86_model_cpu *cpu = b->testbed->cpu;

	return !cpu->arch_lbr && !b->cpuc->pmu->branch_backend->freeze_ends;
}

/* A call stack with a gap, or of another task, is not shown. */
static void call_stack_with_gap_hidden(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, CALLS_USER);
	struct perf_event *other = branch_open_stack(b, ANY_USER);

	branch_start(event);
	record_call(1);
	/* The task has run meanwhile on a CPU where the event had no counter. */
	schedule_out(event);
	current->nvcsw++;
	schedule_in(event);
	record_call(2);
	EXPECT_CALLS(b, 2);
	/* The call stack has a gap: the event had no counter for a while. */
	fixture_del(event);
	branch_add(event);
	record_call(3);
	EXPECT_CALLS(b, 3);
	/* A switch without notification: the driver does not save the records. */
	current->nvcsw++;
	schedule_out(event);
	schedule_in(event);
	record_call(4);
	EXPECT_CALLS(b, 4);
	/* The second notification makes the saved call stack stale. */
	schedule_out(event);
	schedule_in(event);
	corepmu_features_sched_task(true);
	record_call(5);
	EXPECT_CALLS(b, 5);
	/* A debug exception ended recording: the records lack a return. */
	if (ends_by_debug_exception(b)) {
		this_cpu_ptr(&x86_model_state)->debugctl &= ~BIT_ULL(0);
		record_return();
		schedule_out(event);
		branch_add(other);
		branch_all();
		fixture_del(other);
		schedule_in(event);
		record_call(6);
		EXPECT_CALLS(b, 6);
	}
	branch_end(event);
}

/*
 * sched_out: the scheduler increments nvcsw, and perf core notifies the PMU before it stops the
 * event. The sample of a late overflow has the call stack.
 */
static void call_stack_sample_at_sched_out(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_start(branch_open_stack(b, CALLS_USER));

	record_call(1);
	b->testbed->ops->hold(true);
	branch_overflow(b);
	event->pmu->pmu_disable(event->pmu);
	current->nvcsw++;
	corepmu_features_sched_task(false);
	fixture_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	EXPECT_FROM(test, &branch_seen[0], USER + 0x10);
	b->testbed->ops->hold(false);
	branch_end(event);
	b->unknown_expected = b->testbed->ops->unknown();
}

/*
 * A restore also writes a record whose source is a kernel address, with its sign bits. No sample
 * shows this record. Without TSX, Haswell and Broadwell raise #GP if the bits for the flags of TSX
 * lack the sign.
 */
static void call_stack_restores_sign(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, CALLS_USER);
	struct perf_event *other = branch_open_stack(b, ANY_USER);

	branch_start(event);
	record_call(1);
	x86_model_branch(KERNEL, USER_TO, X86_MODEL_CALL, 0);
	record_call(2);
	schedule_out(event);
	branch_add(other);
	branch_all();
	fixture_del(other);
	schedule_in(event);
	EXPECT_CALLS(b, 2, 1);
	branch_end(event);
}

/* A saved call stack that fills the hardware replaces all records: nothing is cleared before. */
static void call_stack_full_is_not_cleared(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, CALLS_USER);
	struct perf_event *other = branch_open_stack(b, ANY_USER);

	branch_start(event);
	for (unsigned int i = 0; i < b->pmu->nr_branches; i++)
		record_call(i);
	schedule_out(event);
	branch_add(other);
	branch_all();
	fixture_del(other);
	model_forget();
	schedule_in(event);
	KUNIT_EXPECT_EQ(test, model_accesses("LBR_DEPTH"), 0);
	b->nr_samples = 0;
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, b->pmu->nr_branches);
	branch_end(event);
}

/* For a per-CPU event the driver keeps no task's call stack. */
static void call_stack_per_cpu_not_saved(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, CALLS_USER);

	fixture_close(event);
	event->hw.target = NULL;
	KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
	branch_start(event);
	record_call(1);
	schedule_out(event);
	schedule_in(event);
	record_call(2);
	EXPECT_CALLS(b, 2);
	branch_end(event);
}

/* Two events of a task share a call stack, which lives until the last event is closed. */
static void call_stack_shared(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *one = branch_open_stack(b, CALLS_USER);
	struct perf_event *two = branch_open_stack(b, CALLS_USER);

	fixture_close(one);
	branch_start(two);
	record_call(1);
	schedule_out(two);
	schedule_in(two);
	EXPECT_CALLS(b, 1);
	branch_end(two);
}

/*
 * LBR call stacks exclude other branch records: the events rotate, and do not fit into one group.
 */
static void call_stack_excludes_other_records(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *calls = branch_open_stack(b, CALLS_USER);
	struct perf_event *any = branch_open_stack(b, ANY_USER);
	struct perf_event_attr attr = { STACK(ANY_USER) };
	struct perf_event *sibling = fixture_alloc(b, &attr);

	branch_start(calls);
	KUNIT_EXPECT_EQ(test, fixture_add(any, PERF_EF_START), -EAGAIN);
	fixture_del(calls);
	branch_add(any);
	KUNIT_EXPECT_EQ(test, fixture_add(calls, PERF_EF_START), -EAGAIN);
	branch_end(any);

	sibling->group_leader = calls;
	KUNIT_EXPECT_EQ(test, fixture_init_event(sibling), -EINVAL);
}

static struct kunit_case call_stack_cases[] = {
	KUNIT_CASE_PARAM(call_stack_follows_calls, branch_gen_calls_params),
	KUNIT_CASE_PARAM(call_stack_saved_at_switch, branch_gen_calls_params),
	KUNIT_CASE_PARAM(call_stack_restores_sign, branch_gen_calls_params),
	KUNIT_CASE_PARAM(call_stack_sample_at_sched_out, branch_gen_calls_params),
	KUNIT_CASE_PARAM(call_stack_full_is_not_cleared, branch_gen_calls_params),
	KUNIT_CASE_PARAM(call_stack_with_gap_hidden, branch_gen_calls_params),
	KUNIT_CASE_PARAM(call_stack_per_cpu_not_saved, branch_gen_calls_params),
	KUNIT_CASE_PARAM(call_stack_shared, branch_gen_calls_params),
	KUNIT_CASE_PARAM(call_stack_excludes_other_records, branch_gen_calls_params),
	{ }
};

TESTBED_SUITE(call_stack, "corepmu_branch_call_stack");
