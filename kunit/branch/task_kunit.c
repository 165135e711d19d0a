// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of branch records: whose they are, and when they are recorded
 */
#include <kunit/test.h>

#include <linux/irqflags.h>
#include <linux/perf_event.h>
#include <linux/sched.h>

#include <corepmu/branch.h>

#include "fixture.h"

/* Records of another task, or of a gap: wiped, or not shown */
static void branch_tasks(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, ANY_USER);
	unsigned long flags = branch_begin(b);

	branch_add(event);
	KUNIT_EXPECT_EQ(test, testbed_cb_users, 1);
	branch_all();
	/* Perf core tells of a switch. */
	event->pmu->pmu_disable(event->pmu);
	corepmu_branch_switch(false);
	corepmu_branch_switch(true);
	event->pmu->pmu_enable(event->pmu);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	branch_overflow(b);
	EXPECT_FROM(test, &branch_seen[0], USER);

	/* The same while the PMU runs, as before 6.2 it may */
	branch_all();
	corepmu_branch_switch(true);
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[1].nr, 0);

	/* It does not tell: somebody else has run meanwhile. */
	branch_all();
	current->nvcsw++;
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 3);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);
	/* From then on they are known to be of this task. */
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	branch_overflow(b);
	EXPECT_FROM(test, &branch_seen[1], USER);
	branch_all();
	b->cpuc->branches->task = NULL;
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);

	/* An event that was away */
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

/* The records stand still at the overflow, and go on after the interrupt. */
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

/* What the handler does itself is in no sample of its own, however many it writes. */
static void branch_handler(struct kunit *test)
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

	/* An overflow of an event that wants none: they go on after it. */
	branch_noise = false;
	fixture_del(two);
	branch_add(plain);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	fixture_run(b, TESTBED_CYCLES, PERIOD / 2);
	x86_model_branch(USER + 0x10, USER_TO, X86_MODEL_CALL, 0);
	branch_seen[0].nr = 0;
	fixture_run(b, TESTBED_CYCLES, PERIOD / 2);
	/* The other one's sample may be the first. */
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

/* Nor is what it does for other events' samples that come first, on a lower or a higher counter. */
static void branch_handler_of_others(struct kunit *test)
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

/* The event's counter overflows after a branch, and the interrupt does not come yet. */
static void overflow_pending(struct fixture *b, struct perf_event *event)
{
	branch_add(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	b->testbed->ops->hold(true);
	branch_overflow(b);
}

/* An overflow that a stop has overtaken has the records of when it came. */
static void branch_late(struct kunit *test)
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

	/* With the PMU running, which perf core does not do */
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
 * So has one that is stopped since its task is switched away from, which the scheduler has
 * counted by then; but not once something may have been recorded since.
 */
static void branch_late_at_switch(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, ANY_USER);
	unsigned long flags = branch_begin(b);

	overflow_pending(b, event);
	event->pmu->pmu_disable(event->pmu);
	current->nvcsw++;
	corepmu_branch_switch(false);
	fixture_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	EXPECT_FROM(test, &branch_seen[0], USER);
	b->testbed->ops->hold(false);

	/* Of the task from here on */
	fixture_del(event);
	branch_add(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	event->pmu->pmu_disable(event->pmu);
	current->nvcsw++;
	corepmu_branch_switch(false);
	event->pmu->pmu_enable(event->pmu);
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, branch_seen[1].nr, 0);
	branch_end(event, flags);
	b->unknown_expected = b->testbed->ops->unknown();
}

/* Only so many samples have records at a time, each a stack of its own. */
static void branch_nesting(struct kunit *test)
{
	struct fixture *b = test->priv;
	/* Levels are written into each sample's own. */
	struct perf_event *event = branch_open_stack(b, ANY_USER | PERF_SAMPLE_BRANCH_PRIV_SAVE);
	struct perf_branch_stack *outer = (void *)b->cpuc->branches->stack[0];
	unsigned long flags = branch_begin(b);

	branch_add(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	/* Of a sample that is under way */
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

/* A system that ends records no more. */
static void branch_off(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, ANY_USER);
	unsigned long flags = branch_begin(b);

	corepmu_branch_off();
	branch_add(event);
	branch_all();
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);
	corepmu_branch_on();
	branch_end(event, flags);
}

/* Stacks of calls */

static void call(unsigned int i)
{
	x86_model_branch(USER + 0x10, USER_TO + i, X86_MODEL_CALL, 0);
}

static void ret(void)
{
	x86_model_branch(USER + 0x20, USER, X86_MODEL_RET, 0);
}

/* The current task is switched away from, and it is another one's turn. */
static void schedule_out(struct perf_event *event)
{
	event->pmu->pmu_disable(event->pmu);
	current->nvcsw++;
	corepmu_branch_switch(false);
	event->pmu->del(event, 0);
	event->pmu->pmu_enable(event->pmu);
}

static void schedule_in(struct perf_event *event)
{
	struct fixture *b = event->overflow_handler_context;

	event->pmu->pmu_disable(event->pmu);
	KUNIT_EXPECT_EQ(b->test, event->pmu->add(event, PERF_EF_START), 0);
	corepmu_branch_switch(true);
	event->pmu->pmu_enable(event->pmu);
}

/* The next sample has calls that lead to USER_TO and that number, the youngest first. */
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

/* Calls come, and go with their returns; other branches do neither. */
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
	/* It goes on while the interrupt is waited for: its address is that of then. */
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

/* While the task is away somebody else has the registers, or nobody. */
static void branch_calls_kept(struct kunit *test)
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

	/* Nothing is written that is still there. */
	schedule_out(event);
	model_forget();
	schedule_in(event);
	KUNIT_EXPECT_EQ(test, model_accesses("LBR_TO"), 0);
	EXPECT_CALLS(b, 1);

	/* A CPU that has been powered down has nothing any more. */
	schedule_out(event);
	this_cpu_write(x86_model_state.lbr[branch_seen[0].hw_idx].from, 0);
	schedule_in(event);
	EXPECT_CALLS(b, 1);
	branch_end(event, flags);
	fixture_close(other);
}

/* A freeze ends recording as well before version 4: that it has ended says nothing there. */
static bool ends_by_debug_exception(struct fixture *b)
{
	const struct x86_model_cpu *cpu = b->testbed->cpu;

	return !cpu->arch_lbr && !b->cpuc->pmu->branch_backend->freeze_ends;
}

/* What is not known to be the task's own stack without a gap is not shown. */
static void branch_calls_lost(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, CALLS_USER);
	struct perf_event *other = branch_open_stack(b, ANY_USER);
	unsigned long flags = branch_begin(b);

	branch_add(event);
	call(1);
	/* It has been elsewhere since, where the event had no place. */
	schedule_out(event);
	current->nvcsw++;
	schedule_in(event);
	call(2);
	EXPECT_CALLS(b, 2);
	/* The event had no place for a while. */
	fixture_del(event);
	branch_add(event);
	call(3);
	EXPECT_CALLS(b, 3);
	/* A switch that nobody told of: what is there is not saved. */
	current->nvcsw++;
	schedule_out(event);
	schedule_in(event);
	call(4);
	EXPECT_CALLS(b, 4);
	/* Twice: what was saved is old. */
	schedule_out(event);
	schedule_in(event);
	corepmu_branch_switch(true);
	call(5);
	EXPECT_CALLS(b, 5);
	/* A debug exception ended recording: a return is missing of what is there. */
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

/* An event of a CPU has no task's stack to keep. */
static void branch_calls_of_cpu(struct kunit *test)
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

/* Two events of a task have one stack, which goes with the last. */
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

/* Where calls are followed no other branches are: the events wait for each other. */
static void branch_calls_alone(struct kunit *test)
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
 * The accesses of a sample, of a start and a stop, and of a reset. Records of user space alone stay
 * as they are in the kernel without a stop, unless a freeze has ended recording by itself.
 * @debugctl: accesses to DEBUGCTL in an interrupt; a ring is asked whether it still records.
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

	/* In an interrupt records are read, and nothing is turned off and on. */
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

/* The kernel's are not recorded any more when the event has gone that wanted them. */
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
	/* As the hardware has them */
	KUNIT_EXPECT_EQ(test, b->cpuc->branches->list.nr, 2);
	KUNIT_EXPECT_EQ(test, b->cpuc->branches->list.entries[1].from, KERNEL);
	branch_end(user, flags);
	fixture_close(both);
}

static struct kunit_case branch_cases[] = {
	KUNIT_CASE_PARAM(branch_tasks, branch_gen_params),
	KUNIT_CASE_PARAM(branch_freeze, branch_gen_params),
	KUNIT_CASE_PARAM(branch_handler, branch_gen_params),
	KUNIT_CASE_PARAM(branch_handler_of_others, branch_gen_params),
	KUNIT_CASE_PARAM(branch_late, branch_gen_params),
	KUNIT_CASE_PARAM(branch_late_at_switch, branch_gen_params),
	KUNIT_CASE_PARAM(branch_nesting, branch_gen_params),
	KUNIT_CASE_PARAM(branch_off, branch_gen_params),
	KUNIT_CASE_PARAM(branch_calls, branch_gen_calls_params),
	KUNIT_CASE_PARAM(branch_calls_kept, branch_gen_calls_params),
	KUNIT_CASE_PARAM(branch_calls_lost, branch_gen_calls_params),
	KUNIT_CASE_PARAM(branch_calls_of_cpu, branch_gen_calls_params),
	KUNIT_CASE_PARAM(branch_calls_shared, branch_gen_calls_params),
	KUNIT_CASE_PARAM(branch_calls_alone, branch_gen_calls_params),
	{ }
};

static struct kunit_suite branch_suite = {
	.name		= "corepmu_branch_task",
	.init		= testbed_init,
	.exit		= testbed_exit,
	.test_cases	= branch_cases,
};

/* These start a machine of their own. */
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
