// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of registers that another agent writes (x86): /dev/cpu/N/msr, firmware, a
 * hypervisor that has lost state
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "x86/msr.h"
#include "x86/x86.h"

static const char * const testbed_names[] = {
	"intel-v1", "intel-v2", "intel-v3", "intel-v4", "intel-v4-beside", "intel-v5", "intel-v6",
	"intel-wsm", "intel-wsm-beside", "amd-legacy", "amd-core", "amd-v2",
};

KUNIT_ARRAY_PARAM(testbed_name, testbed_names, testbed_name_desc);

/* An event that no test uses, which counts user space and does not interrupt */
#define OTHER_SELECT	(0x0151 | EVNTSEL_USR | EVNTSEL_EN)
/* Fixed counters 0 to 2: user space only, no interrupt */
#define OTHER_FIXED	0x222

static void write_selects(struct fixture *b, u64 value)
{
	const struct x86_desc *desc = to_x86(b->pmu);

	for (unsigned int idx = 0; idx < desc->nr_gp; idx++)
		if (!(desc->holes & BIT_ULL(idx)))
			x86_write_msr(desc->select_msr + desc->step * idx, value);
}

static void clear_selects(struct fixture *b)
{
	write_selects(b, 0);
}

static void change_selects(struct fixture *b)
{
	write_selects(b, OTHER_SELECT);
}

static void write_fixed(struct fixture *b, u64 value)
{
	if (b->pmu->counters >> FIXED_COUNTER_BASE)
		x86_write_msr(MSR_CORE_PERF_FIXED_CTR_CTRL, value);
}

static void clear_fixed(struct fixture *b)
{
	write_fixed(b, 0);
}

static void change_fixed(struct fixture *b)
{
	write_fixed(b, OTHER_FIXED);
}

static void clear_global(struct fixture *b)
{
	if (to_x86(b->pmu)->global_ctrl)
		x86_write_msr(to_x86(b->pmu)->global_ctrl, 0);
}

static void set_global(struct fixture *b)
{
	if (to_x86(b->pmu)->global_ctrl)
		x86_write_msr(to_x86(b->pmu)->global_ctrl, b->pmu->counters);
}

static const struct {
	const char *name;
	void (*write)(struct fixture *b);
} agents[] = {
	{ "event selects cleared", clear_selects },
	{ "event selects changed", change_selects },
	{ "FIXED_CTR_CTRL cleared", clear_fixed },
	{ "FIXED_CTR_CTRL changed", change_fixed },
	{ "global control cleared", clear_global },
	{ "global control set", set_global },
};

/* Three events: one that can use a fixed counter, one that cannot, and one that samples */
struct trio {
	struct perf_event *event[3];
};

static void open_trio(struct fixture *b, struct trio *t)
{
	t->event[0] = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);
	t->event[1] = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
	t->event[2] = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 100);
}

/* Older CPUs have two counters: count one event after the other. */
static void count_trio(struct fixture *b, struct trio *t, const char *agent, const char *when)
{
	static const enum testbed_event counted[] = {
		TESTBED_INSTRUCTIONS, TESTBED_BRANCHES, TESTBED_CYCLES,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(t->event); i++) {
		u64 before = fixture_read(t->event[i]);

		fixture_forget(b);
		KUNIT_ASSERT_EQ(b->test, fixture_add(t->event[i], PERF_EF_START), 0);
		fixture_run(b, counted[i], 250);
		KUNIT_EXPECT_EQ_MSG(b->test, fixture_read(t->event[i]) - before, 250,
				    "%s, %s: event %u", agent, when, i);
		fixture_del(t->event[i]);
		if (i == 2)
			KUNIT_EXPECT_GE_MSG(b->test, b->nr_samples, 2, "%s, %s", agent, when);
	}
}

static void close_trio(struct trio *t)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(t->event); i++)
		fixture_close(t->event[i]);
}

/* The agent writes the registers while no event is open. */
static void agent_while_closed(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);
	struct trio t;

	for (unsigned int i = 0; i < ARRAY_SIZE(agents); i++) {
		open_trio(b, &t);
		count_trio(b, &t, agents[i].name, "before");
		close_trio(&t);
		agents[i].write(b);
		open_trio(b, &t);
		count_trio(b, &t, agents[i].name, "after");
		count_trio(b, &t, agents[i].name, "once more");
		close_trio(&t);
	}
}

/* The agent writes them while a task's events are scheduled out, or in. */
static void agent_while_open(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);
	struct perf_event *event;
	struct trio t;

	open_trio(b, &t);
	event = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(agents); i++) {
		count_trio(b, &t, agents[i].name, "before");
		agents[i].write(b);
		count_trio(b, &t, agents[i].name, "scheduled out");

		KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		agents[i].write(b);
		fixture_del(event);
		count_trio(b, &t, agents[i].name, "after the switch");
	}
	close_trio(&t);
}

/* The agent writes them while a per-CPU event counts; the count of that event is not checked. */
static void agent_while_another_counts(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);
	struct perf_event *permanent = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 0);
	struct trio t;

	open_trio(b, &t);
	KUNIT_ASSERT_EQ(test, fixture_add(permanent, PERF_EF_START), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(agents); i++) {
		count_trio(b, &t, agents[i].name, "before");
		agents[i].write(b);
		count_trio(b, &t, agents[i].name, "after");
	}
	fixture_del(permanent);
	close_trio(&t);
}

/* Perf core deletes and adds a task's events when it enables one more: no register is written. */
static void agent_costs_nothing_in_between(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
	struct pmu *pmu = event->pmu;
	unsigned long irqs;

	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	local_irq_save(irqs);
	pmu->pmu_disable(pmu);
	model_forget();
	pmu->del(event, 0);
	KUNIT_EXPECT_EQ(test, pmu->add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model_accesses("PERFEVTSEL"), 0);
	KUNIT_EXPECT_EQ(test, model_accesses("PERF_CTL"), 0);
	KUNIT_EXPECT_EQ(test, model_accesses("FIXED_CTR_CTRL"), 0);
	KUNIT_EXPECT_EQ(test, model_accesses("GLOBAL_CTRL"), 0);
	KUNIT_EXPECT_EQ(test, model_accesses("GLOBAL_CTL"), 0);
	pmu->pmu_enable(pmu);
	local_irq_restore(irqs);
	RUN_EXPECT_COUNT(b, TESTBED_BRANCHES, 7, event, 7);
}

/* Two events on fixed counters are added at once: FIXED_CTR_CTRL is written once. */
static void agent_costs_a_write(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);
	struct perf_event *event[] = {
		fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0),
		fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 0),
	};
	struct pmu *pmu = event[0]->pmu;
	unsigned long irqs;

	for (unsigned int round = 0; round < 2; round++) {
		local_irq_save(irqs);
		pmu->pmu_disable(pmu);
		model_forget();
		for (unsigned int i = 0; i < ARRAY_SIZE(event); i++)
			KUNIT_EXPECT_EQ(test, pmu->add(event[i], PERF_EF_START), 0);
		pmu->pmu_enable(pmu);
		local_irq_restore(irqs);
		/* In the first round the register does not enable the events' counters yet. */
		if (round && b->pmu->backend == &x86_global_backend &&
		    b->pmu->counters >> FIXED_COUNTER_BASE)
			KUNIT_EXPECT_EQ(test, model_accesses("FIXED_CTR_CTRL"), 1);
		for (unsigned int i = 0; i < ARRAY_SIZE(event); i++)
			fixture_del(event[i]);
	}
}

/* Opening an event detects changed registers (for a message in the log). */
static void agent_is_noticed(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
	struct perf_event *fixed = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);
	bool looks = b->pmu->backend == &x86_global_backend;

	KUNIT_EXPECT_FALSE(test, x86_has_changed(b->cpuc));
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_FALSE(test, x86_has_changed(b->cpuc));
	fixture_del(event);
	KUNIT_EXPECT_FALSE(test, x86_has_changed(b->cpuc));
	clear_selects(b);
	KUNIT_EXPECT_EQ(test, x86_has_changed(b->cpuc), looks);

	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_ASSERT_EQ(test, fixture_add(fixed, PERF_EF_START), 0);
	KUNIT_EXPECT_FALSE(test, x86_has_changed(b->cpuc));
	fixture_del(event);
	fixture_del(fixed);
	clear_fixed(b);
	KUNIT_EXPECT_EQ(test, x86_has_changed(b->cpuc),
			looks && b->pmu->counters >> FIXED_COUNTER_BASE);
}

static struct kunit_case agent_cases[] = {
	KUNIT_CASE_PARAM(agent_while_closed, testbed_name_gen_params),
	KUNIT_CASE_PARAM(agent_while_open, testbed_name_gen_params),
	KUNIT_CASE_PARAM(agent_while_another_counts, testbed_name_gen_params),
	KUNIT_CASE_PARAM(agent_costs_nothing_in_between, testbed_name_gen_params),
	KUNIT_CASE_PARAM(agent_costs_a_write, testbed_name_gen_params),
	KUNIT_CASE_PARAM(agent_is_noticed, testbed_name_gen_params),
	{ }
};

OWN_TESTBED_SUITE(agent, "corepmu_x86_other_agent");
