// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of registers that another agent writes (arm64): another module, firmware, a
 * hypervisor that has lost state
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include "fixture/testbed.h"
#include "models/arm64/access.h"
#include "arm64/pmuv3.h"
#include "arm64/sysreg.h"

static const char * const testbed_names[] = { "pmuv3", "pmuv3p4-vhe", "pmuv3p5", "pmuv3p9" };

KUNIT_ARRAY_PARAM(testbed_name, testbed_names, testbed_name_desc);

static bool has_instr_counter(const struct fixture *b)
{
	return b->pmu->counters & BIT_ULL(PMUV3_INSTR_COUNTER);
}

/* Writes of the agent */

static void disable_counters(struct fixture *b)
{
	pmuv3_write_pmcntenclr(b->pmu->counters);
}

static void enable_all_counters(struct fixture *b)
{
	pmuv3_write_pmcntenset(b->pmu->counters);
}

static void change_types(struct fixture *b)
{
	for (int idx = 0; idx < PMUV3_MAX_EVENT_COUNTERS; idx++)
		if (b->pmu->counters & BIT_ULL(idx))
			pmuv3_write_filter(idx, 0);
}

/* exclude_all() makes the filters count at no exception level, include_all() at all levels. */
static void exclude_all(struct fixture *b)
{
	pmuv3_write_pmccfiltr(PMEVTYPER_P | PMEVTYPER_U);
	if (has_instr_counter(b))
		pmuv3_write_pmicfiltr(PMEVTYPER_P | PMEVTYPER_U);
}

static void include_all(struct fixture *b)
{
	pmuv3_write_pmccfiltr(PMEVTYPER_NSH);
	if (has_instr_counter(b))
		pmuv3_write_pmicfiltr(PMEVTYPER_NSH);
}

static void disable_interrupts(struct fixture *b)
{
	pmuv3_write_pmintenclr(b->pmu->counters);
}

static void clear_pmcr(struct fixture *b)
{
	pmuv3_write_pmcr(0);
}

static const struct {
	const char *name;
	void (*write)(struct fixture *b);
} agents[] = {
	{ "PMCNTENCLR", disable_counters },
	{ "PMCNTENSET", enable_all_counters },
	{ "PMEVTYPER", change_types },
	{ "PMCCFILTR and PMICFILTR, no level", exclude_all },
	{ "PMCCFILTR and PMICFILTR, all levels", include_all },
	{ "PMINTENCLR", disable_interrupts },
	{ "PMCR", clear_pmcr },
};

#define NR_EVENTS	3

static void open_events(struct fixture *b, struct perf_event **event)
{
	static const struct perf_event_attr attrs[NR_EVENTS] = {
		{ .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS,
		  .exclude_kernel = 1, .exclude_hv = 1 },
		{ .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
		  .exclude_kernel = 1, .exclude_hv = 1 },
		{ .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		  .sample_period = 100, .exclude_kernel = 1, .exclude_hv = 1 },
	};

	for (unsigned int i = 0; i < NR_EVENTS; i++)
		KUNIT_ASSERT_EQ(b->test, fixture_open(b, &attrs[i], &event[i]), 0);
}

/* Count the events: user events count, the kernel's do not. */
static void count_events(struct fixture *b, struct perf_event **event, const char *agent,
			 const char *when)
{
	static const enum testbed_event counted[NR_EVENTS] = {
		TESTBED_INSTRUCTIONS, TESTBED_CYCLES, TESTBED_BRANCHES,
	};
	u64 before[NR_EVENTS];

	fixture_forget(b);
	for (unsigned int i = 0; i < NR_EVENTS; i++) {
		before[i] = fixture_read(event[i]);
		KUNIT_ASSERT_EQ(b->test, fixture_add(event[i], PERF_EF_START), 0);
	}
	for (unsigned int i = 0; i < NR_EVENTS; i++) {
		fixture_run(b, counted[i], 250);
		b->testbed->ops->run(counted[i], false, 33);
	}
	for (unsigned int i = 0; i < NR_EVENTS; i++) {
		fixture_del(event[i]);
		KUNIT_EXPECT_EQ_MSG(b->test, fixture_read(event[i]) - before[i], 250,
				    "%s, %s: event %u", agent, when, i);
	}
	KUNIT_EXPECT_GE_MSG(b->test, b->nr_samples, 2, "%s, %s", agent, when);
}

static void close_events(struct perf_event **event)
{
	for (unsigned int i = 0; i < NR_EVENTS; i++)
		fixture_close(event[i]);
}

/* The agent writes the registers while no event is open. */
static void agent_while_closed(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);
	struct perf_event *event[NR_EVENTS];

	for (unsigned int i = 0; i < ARRAY_SIZE(agents); i++) {
		open_events(b, event);
		count_events(b, event, agents[i].name, "before");
		close_events(event);
		agents[i].write(b);
		open_events(b, event);
		count_events(b, event, agents[i].name, "after");
		count_events(b, event, agents[i].name, "once more");
		close_events(event);
	}
}

/* The agent writes them while a task's event counts; after the next switch, events count right. */
static void agent_while_open(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);
	struct perf_event *event[NR_EVENTS], *counts;

	open_events(b, event);
	counts = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(agents); i++) {
		count_events(b, event, agents[i].name, "before");
		KUNIT_ASSERT_EQ(test, fixture_add(counts, PERF_EF_START), 0);
		agents[i].write(b);
		fixture_del(counts);
		count_events(b, event, agents[i].name, "after the switch");
	}
	close_events(event);
}

/* The agent writes them while a per-CPU event counts; the count of that event is not checked. */
static void agent_while_another_counts(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);
	struct perf_event *permanent = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 0);
	struct perf_event *event[NR_EVENTS];

	open_events(b, event);
	KUNIT_ASSERT_EQ(test, fixture_add(permanent, PERF_EF_START), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(agents); i++) {
		count_events(b, event, agents[i].name, "before");
		agents[i].write(b);
		count_events(b, event, agents[i].name, "after");
	}
	fixture_del(permanent);
	close_events(event);
}

/* A stopped event counts nothing, even if another agent enables its counter. */
static void agent_enables_a_stopped_one(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);
	struct perf_event *runs = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 0);

	enable_all_counters(b);
	KUNIT_ASSERT_EQ(test, fixture_add(runs, PERF_EF_START), 0);
	KUNIT_ASSERT_EQ(test, fixture_add(event, 0), 0);
	fixture_run(b, TESTBED_INSTRUCTIONS, 50);
	fixture_start_event(event, 0);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 7, event, 7);
}

/*
 * Adding an event also writes PMUSERENR_EL0, which an agent has opened: no task may read counters
 * here.
 */
static void agent_opens_user_access(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);

	pmuv3_write_pmuserenr(PMUSERENR_ER | PMUSERENR_CR);
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, read_sysreg(pmuserenr_el0), 0);
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
	pmu->pmu_enable(pmu);
	KUNIT_EXPECT_EQ(test, model_accesses("PMEVTYPER"), 0);
	KUNIT_EXPECT_EQ(test, model_accesses("PMCNTENSET"), 0);
	KUNIT_EXPECT_EQ(test, model_accesses("PMCNTENCLR"), 0);
	KUNIT_EXPECT_EQ(test, model_accesses("PMINTENSET"), 0);
	KUNIT_EXPECT_EQ(test, model_accesses("PMUSERENR"), 0);
	local_irq_restore(irqs);
	RUN_EXPECT_COUNT(b, TESTBED_BRANCHES, 7, event, 7);
}

/* Events are added at once: registers that they share are written once. */
static void agent_costs_a_write(struct kunit *test)
{
	static const char * const shared[] = {
		"PMCNTENCLR", "PMCNTENSET", "PMINTENSET", "PMUSERENR", "PMCR",
	};
	struct fixture *b = fixture_start_named(test);
	struct perf_event *event[NR_EVENTS];
	struct pmu *pmu = &b->pmu->perf_pmu;
	unsigned long irqs;

	open_events(b, event);
	local_irq_save(irqs);
	pmu->pmu_disable(pmu);
	model_forget();
	for (unsigned int i = 0; i < NR_EVENTS; i++)
		KUNIT_EXPECT_EQ(test, pmu->add(event[i], PERF_EF_START), 0);
	pmu->pmu_enable(pmu);
	for (unsigned int i = 0; i < ARRAY_SIZE(shared); i++)
		KUNIT_EXPECT_EQ_MSG(test, model_accesses(shared[i]), 1, "%s", shared[i]);
	local_irq_restore(irqs);
}

static struct kunit_case agent_cases[] = {
	KUNIT_CASE_PARAM(agent_while_closed, testbed_name_gen_params),
	KUNIT_CASE_PARAM(agent_while_open, testbed_name_gen_params),
	KUNIT_CASE_PARAM(agent_while_another_counts, testbed_name_gen_params),
	KUNIT_CASE_PARAM(agent_enables_a_stopped_one, testbed_name_gen_params),
	KUNIT_CASE_PARAM(agent_opens_user_access, testbed_name_gen_params),
	KUNIT_CASE_PARAM(agent_costs_nothing_in_between, testbed_name_gen_params),
	KUNIT_CASE_PARAM(agent_costs_a_write, testbed_name_gen_params),
	{ }
};

OWN_TESTBED_SUITE(agent, "corepmu_arm64_other_agent");
