// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of registers that idle CPUs lose without a notification (arm64)
 */
#include <kunit/test.h>

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/perf_event.h>

#include <corepmu/module.h>

#include "fixture/testbed.h"
#include "module/fixture.h"
#include "models/arm64/access.h"
#include "arm64/pmuv3.h"
#include "arm64/sysreg.h"

static const char * const testbed_names[] = { "pmuv3", "pmuv3p5", "pmuv3p9" };

KUNIT_ARRAY_PARAM(testbed_name, testbed_names, testbed_name_desc);

static int idle_test_init(struct kunit *test)
{
	pmuv3_idle_init();
	return 0;
}

static void idle_test_exit(struct kunit *test)
{
	testbed_exit(test);
	pmuv3_idle_exit();
}

static struct perf_event *start_event(struct fixture *b, u64 hardware, u64 period)
{
	struct perf_event *event = fixture_event(b, hardware, period);

	KUNIT_ASSERT_EQ(b->test, fixture_add(event, PERF_EF_START), 0);
	return event;
}

/* Enter and leave idle; with @lose the CPU is powered down meanwhile. */
static void be_idle(struct fixture *b, bool lose)
{
	pmuv3_model_idle(1);
	if (lose)
		b->testbed->ops->lose_state();
	pmuv3_model_idle(PWR_EVENT_EXIT);
}

/* Counts up to the last read are kept, later ones are lost; periods continue from there. */
static void idle_lost(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);
	struct perf_event *counting = start_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);
	struct perf_event *sampling = start_event(b, PERF_COUNT_HW_INSTRUCTIONS, 1000);
	struct perf_event *cycles = start_event(b, PERF_COUNT_HW_CPU_CYCLES, 0);

	fixture_run(b, TESTBED_INSTRUCTIONS, 300);
	RUN_EXPECT_COUNT(b, TESTBED_CYCLES, 500, counting, 300);
	KUNIT_EXPECT_EQ(test, fixture_read(sampling), 300);
	KUNIT_EXPECT_EQ(test, fixture_read(cycles), 500);
	fixture_run(b, TESTBED_INSTRUCTIONS, 50);
	be_idle(b, true);
	KUNIT_EXPECT_EQ(test, fixture_read(counting), 300);
	KUNIT_EXPECT_EQ(test, fixture_read(cycles), 500);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 699, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 1, 1);
	RUN_EXPECT_COUNT(b, TESTBED_CYCLES, 7, counting, 1000);
	KUNIT_EXPECT_EQ(test, fixture_read(cycles), 507);
}

/* After a power-down without events, the next event counts and interrupts. */
static void idle_lost_without_events(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);
	struct perf_event *event = start_event(b, PERF_COUNT_HW_INSTRUCTIONS, 100);

	fixture_del(event);
	be_idle(b, true);
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 250, event, 250);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
}

/* A stopped event survives an unannounced power-down. */
static void idle_lost_while_stopped(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);
	struct perf_event *event = start_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);

	fixture_run(b, TESTBED_INSTRUCTIONS, 30);
	fixture_stop_event(event, PERF_EF_UPDATE);
	be_idle(b, true);
	fixture_run(b, TESTBED_INSTRUCTIONS, 55);
	fixture_start_event(event, 0);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 4, event, 34);
}

/*
 * Another agent has written the registers, but the CPU kept its power: counts are kept, and events
 * go on. The driver detects this when the CPU enters idle, or, with @in_idle, when it leaves idle.
 */
static void lose_interrupts(struct kunit *test, bool in_idle)
{
	struct fixture *b = fixture_start_named(test);
	struct perf_event *counting = start_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);
	struct perf_event *sampling = start_event(b, PERF_COUNT_HW_INSTRUCTIONS, 1000);

	fixture_run(b, TESTBED_INSTRUCTIONS, 300);
	if (in_idle)
		pmuv3_model_idle(1);
	pmuv3_write_pmintenclr(b->pmu->counters);
	if (!in_idle)
		pmuv3_model_idle(1);
	pmuv3_model_idle(PWR_EVENT_EXIT);
	KUNIT_EXPECT_EQ(test, fixture_read(counting), 300);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 700, 1);
	KUNIT_EXPECT_EQ(test, fixture_read(counting), 1000);
	KUNIT_EXPECT_EQ(test, fixture_read(sampling), 1000);
}

static void idle_after_an_agent(struct kunit *test)
{
	lose_interrupts(test, false);
}

static void idle_agent_while_idle(struct kunit *test)
{
	lose_interrupts(test, true);
}

/*
 * The driver detects an agent that wrote all registers before the CPU enters idle: counts are kept.
 */
static void idle_after_an_agent_of_all(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);
	struct perf_event *event = start_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);

	fixture_run(b, TESTBED_INSTRUCTIONS, 300);
	pmuv3_write_pmintenclr(b->pmu->counters);
	pmuv3_write_pmcr(0);
	be_idle(b, false);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 300);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 7, event, 307);
}

/* Without lost registers, entry and exit cost one read each. */
static void idle_costs_two_reads(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);

	start_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);
	model_forget();
	be_idle(b, false);
	expect_accesses(test, "PMINTENSET PMINTENSET");
}

/* After quiesce(), the driver leaves the PMU alone. */
static void idle_ignores_quiesced_pmu(struct kunit *test)
{
	struct fixture *b = fixture_start_named(test);

	b->pmu->backend->quiesce(b->cpuc);
	model_forget();
	be_idle(b, true);
	KUNIT_EXPECT_EQ(test, model_accesses(NULL), 0);
}

static const struct testbed *unloading;
static unsigned int unload_accesses;

/* Power the CPU down after the CPU_PM notifier is removed and before the PMU is quiesced. */
static void lose_before_quiesce(struct corepmu_cpu *cpuc)
{
	unsigned long flags;

	local_irq_save(flags);
	model_forget();
	pmuv3_model_idle(1);
	unloading->ops->lose_state();
	pmuv3_model_idle(PWR_EVENT_EXIT);
	unload_accesses += model_accesses(NULL);
	local_irq_restore(flags);
	pmuv3_irq_disable(cpuc);
}

/* If an idle state loses the registers during an unload, the driver does not restore them. */
static void idle_ignores_unloading_pmu(struct kunit *test)
{
	const char * const *name = test->param_value;
	struct corepmu_backend backend;
	struct corepmu *pmu;

	unloading = testbed_by_name(*name);
	unload_accesses = 0;
	KUNIT_ASSERT_EQ(test, corepmu_hotplug_init(), 0);
	load_power_on(unloading, LIVELY, false);
	pmu = unloading->ops->start(unloading);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pmu);
	KUNIT_ASSERT_EQ(test, corepmu_register(pmu), 0);
	backend = *pmu->backend;
	backend.irq_disable = lose_before_quiesce;
	pmu->backend = &backend;
	corepmu_unregister(pmu);
	/* Each CPU reads PMINTENSET_EL1 at the entry and at the exit, and accesses nothing else. */
	KUNIT_EXPECT_EQ(test, unload_accesses, 2 * num_online_cpus());
	pmu->backend = &pmuv3_backend;
	unloading->ops->end(pmu);
	corepmu_hotplug_exit();
}

static struct kunit_case idle_cases[] = {
	KUNIT_CASE_PARAM(idle_lost, testbed_name_gen_params),
	KUNIT_CASE_PARAM(idle_lost_without_events, testbed_name_gen_params),
	KUNIT_CASE_PARAM(idle_lost_while_stopped, testbed_name_gen_params),
	KUNIT_CASE_PARAM(idle_after_an_agent, testbed_name_gen_params),
	KUNIT_CASE_PARAM(idle_agent_while_idle, testbed_name_gen_params),
	KUNIT_CASE_PARAM(idle_after_an_agent_of_all, testbed_name_gen_params),
	KUNIT_CASE_PARAM(idle_costs_two_reads, testbed_name_gen_params),
	KUNIT_CASE_PARAM(idle_ignores_quiesced_pmu, testbed_name_gen_params),
	KUNIT_CASE_PARAM(idle_ignores_unloading_pmu, testbed_name_gen_params),
	{ }
};

TEST_SUITE(idle, "corepmu_arm64_cpu_pm", idle_test_init, idle_test_exit);
