// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of branch records: which task they belong to, and when the hardware records
 */
#include <kunit/test.h>

#include <linux/irqflags.h>
#include <linux/perf_event.h>
#include <linux/sched.h>

#include <corepmu/branch.h>

#include "fixture.h"

/* Samples never show records of another task, or records from before a gap. */
static void branch_not_of_other_tasks(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, ANY_USER);
	unsigned long flags = branch_begin(b);

	branch_add(event);
	KUNIT_EXPECT_EQ(test, testbed_cb_users, 1);
	branch_all();
	/* Perf core notifies the PMU of a switch. */
	event->pmu->pmu_disable(event->pmu);
	corepmu_features_sched_task(false);
	corepmu_features_sched_task(true);
	event->pmu->pmu_enable(event->pmu);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	branch_overflow(b);
	EXPECT_FROM(test, &branch_seen[0], USER);

	/* The same while the PMU is enabled, as before 6.2 */
	branch_all();
	corepmu_features_sched_task(true);
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[1].nr, 0);

	/* Perf core does not notify the PMU: another task has run meanwhile. */
	branch_all();
	current->nvcsw++;
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 3);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);
	/* From here on the records belong to this task. */
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	branch_overflow(b);
	EXPECT_FROM(test, &branch_seen[1], USER);
	branch_all();
	b->cpuc->branches->task = NULL;
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);

	/* An event that had no counter for a while */
	branch_all();
	fixture_del(event);
	KUNIT_EXPECT_EQ(test, testbed_cb_users, 0);
	branch_all();
	branch_add(event);
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 6);
	KUNIT_EXPECT_EQ(test, branch_seen[1].nr, 0);
	branch_end(event, flags);
}

/* An overflow freezes the records; recording resumes after the interrupt. */
static void branch_freeze(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, ANY_USER);
	unsigned long flags = branch_begin(b);
	unsigned int i;

	branch_add(event);
	for (i = 0; i < 3; i++) {
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
	branch_end(event, flags);
}

/* No sample shows branches of the overflow handler, even with several samples per interrupt. */
static void branch_not_of_handler(struct kunit *test)
{
	struct fixture *b = test->priv;
	u64 types = branch_records_kernel(b) ? ANY_LEVEL : ANY_USER;
	struct perf_event *one = branch_open_stack(b, types);
	struct perf_event *two = branch_open_stack(b, types);
	struct perf_event *plain = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, PERIOD / 2);
	unsigned long flags = branch_begin(b);
	const struct branch_seen *s;

	branch_noise = true;
	branch_add(one);
	branch_add(two);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
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
	branch_end(one, flags);
	fixture_close(two);
	fixture_close(plain);
}

static void make_noise(struct perf_event *event, struct perf_sample_data *data,
		       struct pt_regs *regs)
{
	struct fixture *b = event->overflow_handler_context;

	b->nr_samples++;
	x86_model_branch(KERNEL, KERNEL + 0x40, X86_MODEL_IND_CALL, 0);
}

/*
 * No sample shows the handler's branches for other events' samples, on a lower or a higher counter.
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
	unsigned long flags = branch_begin(b);
	const struct branch_seen *s;

	memset(branch_seen, 0, sizeof(branch_seen));
	other[0]->overflow_handler = make_noise;
	other[1]->overflow_handler = make_noise;
	branch_add(other[0]);
	branch_add(one);
	branch_add(other[1]);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 3);
	s = branch_seen[0].nr ? &branch_seen[0] : &branch_seen[1];
	KUNIT_EXPECT_EQ(test, s->nr, 1);
	KUNIT_EXPECT_EQ(test, s->entries[0].from, USER);
	fixture_del(other[0]);
	fixture_del(other[1]);
	branch_end(one, flags);
	fixture_close(other[0]);
	fixture_close(other[1]);
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
	unsigned long flags = branch_begin(b);

	overflow_pending(b, event);
	fixture_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	EXPECT_FROM(test, &branch_seen[0], USER);
	b->testbed->ops->hold(false);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);

	/* The same while the PMU is enabled, as perf core never does */
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
	branch_end(event, flags);
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
	unsigned long flags = branch_begin(b);

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
	branch_add(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	event->pmu->pmu_disable(event->pmu);
	current->nvcsw++;
	corepmu_features_sched_task(false);
	event->pmu->pmu_enable(event->pmu);
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, branch_seen[1].nr, 0);
	branch_end(event, flags);
	b->unknown_expected = b->testbed->ops->unknown();
}

/* A limited number of nested samples has records, each in a stack of its own. */
static void branch_nesting(struct kunit *test)
{
	struct fixture *b = test->priv;
	/* The driver writes privilege levels into the sample's own stack. */
	struct perf_event *event = branch_open_stack(b, ANY_USER | PERF_SAMPLE_BRANCH_PRIV_SAVE);
	struct perf_branch_stack *outer = (void *)b->cpuc->branches->stack[0];
	unsigned long flags = branch_begin(b);

	branch_add(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	/* Stack of a sample that is being emitted */
	outer->nr = COREPMU_MAX_BRANCHES;
	b->cpuc->branches->nesting = COREPMU_BRANCH_NESTING - 1;
	branch_overflow(b);
	EXPECT_FROM(test, &branch_seen[0], USER);
	KUNIT_EXPECT_EQ(test, outer->nr, COREPMU_MAX_BRANCHES);
	b->cpuc->branches->nesting++;
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, branch_seen[1].nr, 0);
	KUNIT_EXPECT_EQ(test, b->cpuc->branches->nesting, COREPMU_BRANCH_NESTING);
	b->cpuc->branches->nesting = 0;
	branch_end(event, flags);
}

/* After a reboot notification, the hardware records nothing. */
static void branch_off_after_reboot(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, ANY_USER);
	unsigned long flags;

	corepmu_features_off();
	flags = branch_begin(b);
	branch_add(event);
	branch_all();
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);
	branch_end(event, flags);
	corepmu_features_use(b->pmu->backend);
}

/* LBR call stacks */

static void call(unsigned int i)
{
	x86_model_branch(USER + 0x10, USER_TO + i, X86_MODEL_CALL, 0);
}

static void ret(void)
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
	unsigned int i;

	b->nr_samples = 0;
	branch_overflow(b);
	KUNIT_EXPECT_EQ(b->test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(b->test, branch_seen[0].nr, nr);
	for (i = 0; i < nr && i < branch_seen[0].nr; i++) {
		KUNIT_EXPECT_EQ(b->test, branch_seen[0].entries[i].from, USER + 0x10);
		KUNIT_EXPECT_EQ(b->test, branch_seen[0].entries[i].to, USER_TO + to[i]);
	}
}

#define EXPECT_CALLS(b, ...)							\
	expect_calls(b, (const unsigned int[]) { __VA_ARGS__ },			\
		     ARRAY_SIZE(((const unsigned int[]) { __VA_ARGS__ })))

/* Calls add records, and returns remove them; other branches do neither. */
static void branch_calls(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, CALLS_USER | PERF_SAMPLE_BRANCH_TYPE_SAVE);
	unsigned long flags = branch_begin(b);
	unsigned int i;

	branch_add(event);
	call(1);
	call(2);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	call(3);
	ret();
	EXPECT_CALLS(b, 2, 1);
	KUNIT_EXPECT_EQ(test, (u64)branch_seen[0].entries[0].type, PERF_BR_CALL);
	/* Call stacks do not freeze: a late interrupt shows the calls of its own moment. */
	b->testbed->ops->hold(true);
	b->nr_samples = 0;
	branch_overflow(b);
	call(4);
	b->testbed->ops->hold(false);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 3);
	for (i = 0; i < 3; i++)
		ret();
	b->nr_samples = 0;
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);
	branch_end(event, flags);
}

/*
 * The call stack survives while the task is scheduled out, even if another event uses the
 * registers.
 */
static void branch_calls_saved_at_switch(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, CALLS_USER);
	struct perf_event *other = branch_open_stack(b, ANY_USER);
	unsigned long flags = branch_begin(b);
	u64 top;

	branch_add(event);
	call(1);
	call(2);
	EXPECT_CALLS(b, 2, 1);
	top = branch_seen[0].hw_idx;

	schedule_out(event);
	branch_add(other);
	branch_all();
	fixture_del(other);
	schedule_in(event);
	EXPECT_CALLS(b, 2, 1);
	KUNIT_EXPECT_EQ(test, branch_seen[0].hw_idx, top);
	call(3);
	EXPECT_CALLS(b, 3, 2, 1);
	ret();
	ret();
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
	branch_end(event, flags);
	fixture_close(other);
}

/* Before version 4 a freeze also ends recording: the driver cannot see a debug exception there. */
static bool ends_by_debug_exception(struct fixture *b)
{
	const struct x86_model_cpu *cpu = b->testbed->cpu;

	return !cpu->arch_lbr && !b->cpuc->pmu->branch_backend->freeze_ends;
}

/* A call stack with a gap, or of another task, is not shown. */
static void branch_calls_with_gap_hidden(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, CALLS_USER);
	struct perf_event *other = branch_open_stack(b, ANY_USER);
	unsigned long flags = branch_begin(b);

	branch_add(event);
	call(1);
	/* The task has run meanwhile on a CPU where the event had no counter. */
	schedule_out(event);
	current->nvcsw++;
	schedule_in(event);
	call(2);
	EXPECT_CALLS(b, 2);
	/* The event had no counter for a while. */
	fixture_del(event);
	branch_add(event);
	call(3);
	EXPECT_CALLS(b, 3);
	/* A switch without notification: the driver does not save the records. */
	current->nvcsw++;
	schedule_out(event);
	schedule_in(event);
	call(4);
	EXPECT_CALLS(b, 4);
	/* The second notification makes the saved call stack stale. */
	schedule_out(event);
	schedule_in(event);
	corepmu_features_sched_task(true);
	call(5);
	EXPECT_CALLS(b, 5);
	/* A debug exception ended recording: the records lack a return. */
	if (ends_by_debug_exception(b)) {
		this_cpu_ptr(&x86_model_state)->debugctl &= ~BIT_ULL(0);
		ret();
		schedule_out(event);
		branch_add(other);
		branch_all();
		fixture_del(other);
		schedule_in(event);
		call(6);
		EXPECT_CALLS(b, 6);
	}
	branch_end(event, flags);
	fixture_close(other);
}

/* For a per-CPU event the driver keeps no task's call stack. */
static void branch_calls_per_cpu_not_saved(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, CALLS_USER);
	unsigned long flags;

	fixture_close(event);
	event->hw.target = NULL;
	KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
	flags = branch_begin(b);
	branch_add(event);
	call(1);
	schedule_out(event);
	schedule_in(event);
	call(2);
	EXPECT_CALLS(b, 2);
	branch_end(event, flags);
}

/* Two events of a task share a call stack, which lives until the last event is closed. */
static void branch_calls_shared(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *one = branch_open_stack(b, CALLS_USER);
	struct perf_event *two = branch_open_stack(b, CALLS_USER);
	unsigned long flags;

	fixture_close(one);
	flags = branch_begin(b);
	branch_add(two);
	call(1);
	schedule_out(two);
	schedule_in(two);
	EXPECT_CALLS(b, 1);
	branch_end(two, flags);
}

/*
 * LBR call stacks exclude other branch records: the events rotate, and do not fit into one group.
 */
static void branch_calls_exclude_other_records(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *calls = branch_open_stack(b, CALLS_USER);
	struct perf_event *any = branch_open_stack(b, ANY_USER);
	struct perf_event_attr attr = { STACK(ANY_USER) };
	struct perf_event *sibling = fixture_alloc(b, &attr);
	unsigned long flags = branch_begin(b);

	branch_add(calls);
	KUNIT_EXPECT_EQ(test, fixture_add(any, PERF_EF_START), -EAGAIN);
	fixture_del(calls);
	branch_add(any);
	KUNIT_EXPECT_EQ(test, fixture_add(calls, PERF_EF_START), -EAGAIN);
	branch_end(any, flags);

	sibling->group_leader = calls;
	KUNIT_EXPECT_EQ(test, fixture_init_event(sibling), -EINVAL);
	fixture_close(calls);
}

/*
 * Register accesses of a start, a stop and a reset. While only user branches are recorded, a stop
 * of the PMU does not stop recording, unless a freeze has ended recording (version 3). @debugctl:
 * number of DEBUGCTL accesses in an interrupt; with a ring the driver checks that the hardware
 * still records.
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
	{ "intel-lbr-v3", "LBR_SELECT=0 DEBUGCTL DEBUGCTL=801 GLOBAL_CTRL=200000000",
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
	struct fixture *b = fixture_start(test, testbed_by_name(a->testbed));
	struct perf_event *event = branch_open_stack(b, ANY_LEVEL);
	unsigned long flags = branch_begin(b);

	test->priv = b;
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	event->pmu->pmu_disable(event->pmu);
	b->cpuc->branches->selected = ~0ULL;
	b->cpuc->branches->freezes = false;
	this_cpu_write(x86_model_state.debugctl, 0);
	model_forget();
	event->pmu->pmu_enable(event->pmu);
	local_irq_restore(flags);
	expect_accesses(test, a->start);

	local_irq_save(flags);
	event->pmu->pmu_disable(event->pmu);
	local_irq_restore(flags);
	expect_accesses(test, a->stop);

	local_irq_save(flags);
	corepmu_branch_reset(b->cpuc);
	local_irq_restore(flags);
	expect_accesses(test, a->reset);
	KUNIT_EXPECT_TRUE(test, b->cpuc->branches->stale);

	/* An interrupt reads the records, and neither stops nor starts recording. */
	local_irq_save(flags);
	event->pmu->pmu_enable(event->pmu);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	model_forget();
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 1);
	KUNIT_EXPECT_EQ(test, model_accesses("DEBUGCTL"), a->debugctl);
	KUNIT_EXPECT_EQ(test, model_accesses("LBR_SELECT") + model_accesses("LBR_CTL") +
			model_accesses("DBG_EXTN_CFG"), 0);
	branch_end(event, flags);
}

static void branch_accesses_user(struct kunit *test)
{
	const struct accesses *a = test->param_value;
	struct fixture *b = fixture_start(test, testbed_by_name(a->testbed));
	struct perf_event *event = branch_open_stack(b, ANY_USER);
	unsigned long flags = branch_begin(b);

	test->priv = b;
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	model_forget();
	event->pmu->pmu_disable(event->pmu);
	local_irq_restore(flags);
	expect_accesses(test, a->user_stop);

	local_irq_save(flags);
	event->pmu->pmu_enable(event->pmu);
	local_irq_restore(flags);
	expect_accesses(test, a->user_start);

	local_irq_save(flags);
	branch_end(event, flags);
	KUNIT_EXPECT_FALSE(test, b->cpuc->branches->recording);
}

/* When the event that wants the kernel's branches is deleted, the hardware stops recording them. */
static void branch_accesses_less(struct kunit *test)
{
	const struct accesses *a = test->param_value;
	struct fixture *b = fixture_start(test, testbed_by_name(a->testbed));
	struct perf_event *both = branch_open_stack(b, ANY_LEVEL);
	struct perf_event *user = branch_open_stack(b, ANY_USER);
	unsigned long flags = branch_begin(b);
	struct perf_branch_entry entries[8];

	test->priv = b;
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
	branch_end(user, flags);
	fixture_close(both);
}

static struct kunit_case branch_cases[] = {
	KUNIT_CASE_PARAM(branch_not_of_other_tasks, branch_gen_params),
	KUNIT_CASE_PARAM(branch_freeze, branch_gen_params),
	KUNIT_CASE_PARAM(branch_not_of_handler, branch_gen_params),
	KUNIT_CASE_PARAM(branch_not_of_other_samples, branch_gen_params),
	KUNIT_CASE_PARAM(branch_sample_at_stop, branch_gen_params),
	KUNIT_CASE_PARAM(branch_sample_at_sched_out, branch_gen_params),
	KUNIT_CASE_PARAM(branch_nesting, branch_gen_params),
	KUNIT_CASE_PARAM(branch_off_after_reboot, branch_gen_params),
	KUNIT_CASE_PARAM(branch_calls, branch_gen_calls_params),
	KUNIT_CASE_PARAM(branch_calls_saved_at_switch, branch_gen_calls_params),
	KUNIT_CASE_PARAM(branch_calls_with_gap_hidden, branch_gen_calls_params),
	KUNIT_CASE_PARAM(branch_calls_per_cpu_not_saved, branch_gen_calls_params),
	KUNIT_CASE_PARAM(branch_calls_shared, branch_gen_calls_params),
	KUNIT_CASE_PARAM(branch_calls_exclude_other_records, branch_gen_calls_params),
	{ }
};

static struct kunit_suite branch_suite = {
	.name		= "corepmu_branch_task",
	.init		= testbed_init,
	.exit		= testbed_exit,
	.test_cases	= branch_cases,
};

/* These tests start a testbed of their own. */
static struct kunit_case branch_testbed_cases[] = {
	KUNIT_CASE_PARAM(branch_accesses, accesses_gen_params),
	KUNIT_CASE_PARAM(branch_accesses_user, accesses_gen_params),
	KUNIT_CASE_PARAM(branch_accesses_less, accesses_gen_params),
	{ }
};

static struct kunit_suite branch_testbed_suite = {
	.name		= "corepmu_branch_accesses",
	.exit		= testbed_exit,
	.test_cases	= branch_testbed_cases,
};

kunit_test_suites(&branch_suite, &branch_testbed_suite);
