// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of x86/intel/nehalem.c: counters that do not count a new event without help
 *
 * The model has the erratum: a counter whose event select changes counts core cycles, unless the
 * monitors were cleared before. See models/x86/intel.c.
 */
#include <kunit/test.h>

#include <linux/bits.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "x86/msr.h"
#include "x86/x86.h"

#define NR_COUNTERS	4

/* No fixed counter counts any of these events. */
static const u64 general[NR_COUNTERS] = {
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_MISSES,
	PERF_COUNT_HW_CACHE_REFERENCES, PERF_COUNT_HW_CACHE_MISSES,
};

static const u16 codes[NR_COUNTERS] = { 0x00c4, 0x00c5, 0x4f2e, 0x412e };

#define CORE_CYCLES	0x003c
#define BUS_CYCLES	0x013c

static bool has_erratum(const struct testbed *testbed)
{
	const struct x86_model_cpu *cpu = testbed->cpu;

	return testbed_is_x86(testbed) && cpu->stale_monitors;
}

static const void *gen_params(const void *prev, char *desc)
{
	return testbed_gen_matching(prev, desc, has_erratum);
}

/* Make each event happen once more than the one before, and cycles besides. */
static void run_all(unsigned int times)
{
	for (unsigned int i = 0; i < NR_COUNTERS; i++)
		x86_model_run(codes[i], true, times + i);
	x86_model_run(BUS_CYCLES, true, times);
	x86_model_run(CORE_CYCLES, true, 100 * times);
}

static struct perf_event *add_counting(struct fixture *b, u64 hardware)
{
	struct perf_event *event = fixture_event(b, hardware, 0);

	KUNIT_EXPECT_EQ(b->test, fixture_add(event, PERF_EF_START), 0);

	return event;
}

/* Events added one after another count their own event, and no other event loses counts. */
static void nehalem_counts(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *events[NR_COUNTERS], *other;
	u64 expected[NR_COUNTERS] = { };

	for (unsigned int i = 0; i < NR_COUNTERS; i++) {
		events[i] = add_counting(b, general[i]);
		run_all(1000);
		for (unsigned int j = 0; j <= i; j++) {
			expected[j] += 1000 + j;
			KUNIT_EXPECT_EQ_MSG(test, fixture_read(events[j]), expected[j],
					    "event %u of %u", j, i + 1);
		}
	}

	/*
	 * Another event uses the counter for a while; then the first event is back on the same
	 * counter.
	 */
	for (unsigned int i = 0; i < 2; i++) {
		fixture_del(events[2]);
		other = add_counting(b, PERF_COUNT_HW_BUS_CYCLES);
		KUNIT_EXPECT_EQ(test, b->cpuc->used, GENMASK_ULL(NR_COUNTERS - 1, 0));
		run_all(77);
		KUNIT_EXPECT_EQ(test, fixture_read(other), 77);
		fixture_remove(other);
		KUNIT_EXPECT_EQ(test, fixture_add(events[2], PERF_EF_START), 0);
		run_all(55);
		expected[2] += 55 + 2;
		for (unsigned int j = 0; j < NR_COUNTERS; j++) {
			expected[j] += j == 2 ? 0 : 77 + j + 55 + j;
			KUNIT_EXPECT_EQ(test, fixture_read(events[j]), expected[j]);
		}
	}
}

/* An event with a period has its samples on time while others are added. */
static void nehalem_samples(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, general[0], 1000), *others[3];

	for (unsigned int i = 0; i < ARRAY_SIZE(others); i++) {
		RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 300, 0);
		others[i] = add_counting(b, general[i + 1]);
	}
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 99, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 1, 1);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1000);
}

/* The overflow's NMI comes after another event was added: the event has one sample. */
static void nehalem_nmi_after(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, general[0], 1000), *other;

	x86_model_hold(true);
	fixture_run(b, TESTBED_BRANCHES, 1010);
	other = add_counting(b, general[1]);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	x86_model_hold(false);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, b->sample[0], 1000);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1010);
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 989, 1);
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 1, 2);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 2000);
}

static void take_held_nmi(void)
{
	x86_model_hold(false);
}

/*
 * The NMI comes while the driver clears the monitors: clearing adds no counts. The sample comes
 * late, after the fewest events that a counter can be set to.
 */
static void nehalem_nmi_between(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, general[0], 1000), *other;
	unsigned int nmis = this_cpu_read(x86_model_state.nmis);

	x86_model_hold(true);
	fixture_run(b, TESTBED_BRANCHES, 1010);
	x86_model_after_rdpmc = take_held_nmi;
	other = add_counting(b, general[1]);
	KUNIT_EXPECT_NULL(test, x86_model_after_rdpmc);
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.nmis), nmis + 1);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1010);
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, b->pmu->min_left, 1);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1010 + b->pmu->min_left);
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 989 - b->pmu->min_left, 1);
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 1, 2);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 2000);
}

/* A stopped event keeps its counter's value and continues from there. */
static void nehalem_stopped(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, general[0], 1000), *other;

	fixture_run(b, TESTBED_BRANCHES, 400);
	fixture_stop_event(event, PERF_EF_UPDATE);
	other = add_counting(b, general[1]);
	KUNIT_EXPECT_TRUE(test, event->hw.state & PERF_HES_STOPPED);
	run_all(50);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 400);
	fixture_start_event(event, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 599, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 1, 1);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1000);
}

/* Adding an event on a fixed counter, or the same event again, does not clear the monitors. */
static void nehalem_leaves_alone(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = add_counting(b, general[0]), *fixed;

	model_forget();
	fixed = add_counting(b, PERF_COUNT_HW_CPU_CYCLES);
	KUNIT_EXPECT_GE(test, fixed->hw.idx, FIXED_COUNTER_BASE);
	KUNIT_EXPECT_EQ(test, model_accesses("PMC"), 0);
	fixture_remove(fixed);
	fixture_del(event);
	model_forget();
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model_accesses("PMC"), 1);
	run_all(1000);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1000);
}

static struct kunit_case nehalem_cases[] = {
	KUNIT_CASE_PARAM(nehalem_counts, gen_params),
	KUNIT_CASE_PARAM(nehalem_samples, gen_params),
	KUNIT_CASE_PARAM(nehalem_nmi_after, gen_params),
	KUNIT_CASE_PARAM(nehalem_nmi_between, gen_params),
	KUNIT_CASE_PARAM(nehalem_stopped, gen_params),
	KUNIT_CASE_PARAM(nehalem_leaves_alone, gen_params),
	{ }
};

TESTBED_SUITE(nehalem, "corepmu_x86_nehalem");
