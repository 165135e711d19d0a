// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite: which CPUs have slots and topdown metrics, and which events select them
 */
#include <kunit/test.h>

#include <linux/list.h>
#include <linux/perf_event.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "x86/intel/intel.h"
#include "x86/msr.h"
#include "x86/x86.h"
#include "topdown.h"
#include "uarch.h"

#define PAPER(n)	BIT_ULL(METRIC_COUNTER_BASE + (n))

static const struct x86_model_cpu ice_lake = {
	.name = "Ice Lake", .family = 6, .model = 0x6a, .version = 5, .nr_gp = 8, .gp_width = 48,
	.nr_fixed = 4, .fixed_map = 0xf, .fixed_width = 48, .full_width = true, .nr_events = 8,
	.metrics = 4,
};

const struct x86_model_cpu topdown_spr = {
	.name = "Sapphire Rapids", .family = 6, .model = 0x8f, .version = 5, .nr_gp = 8,
	.gp_width = 48, .nr_fixed = 4, .fixed_map = 0xf, .fixed_width = 48, .full_width = true,
	.nr_events = 8, .metrics = 8,
};

static struct testbed this_testbed;

/**
 * topdown_start() - start the fixture on a CPU with slots
 * @test: the test, whose priv gets the fixture
 * @cpu: the CPU
 * @builtin: the built-in driver is there, too
 *
 * Return: the fixture
 */
struct fixture *topdown_start(struct kunit *test, const struct x86_model_cpu *cpu, bool builtin)
{
	struct fixture *b;

	this_testbed = *testbed_by_name("intel-v5");
	this_testbed.cpu = cpu;
	this_testbed.has_builtin = builtin;
	b = fixture_start(test, &this_testbed);

	return b;
}

/**
 * topdown_exit() - end the fixture of topdown_start()
 * @test: the test
 */
void topdown_exit(struct kunit *test)
{
	if (test->priv)
		fixture_end(test->priv);
}

static struct perf_event *alloc_event(struct fixture *b, struct perf_event *leader, u64 config)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_RAW, .config = config };
	struct perf_event *event = fixture_alloc(b, &attr);

	if (leader)
		event->group_leader = leader;

	return event;
}

/**
 * topdown_open() - open an event of raw code
 * @b: the fixture
 * @leader: its group's leader, NULL for a leader
 * @config: attr.config
 *
 * Return: the event
 */
struct perf_event *topdown_open(struct fixture *b, struct perf_event *leader, u64 config)
{
	struct perf_event *event = alloc_event(b, leader, config);

	fixture_join(event, leader);

	return event;
}

/* ECX of RDPMC: bit 30 selects fixed counters, bit 29 PERF_METRICS (SDM volume 2, RDPMC). */
static void topdown_rdpmc_index(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, x86_rdpmc_index(7), 7);
	KUNIT_EXPECT_EQ(test, x86_rdpmc_index(32), BIT(30));
	KUNIT_EXPECT_EQ(test, x86_rdpmc_index(35), BIT(30) | 3);
	KUNIT_EXPECT_EQ(test, x86_rdpmc_index(48), BIT(29));
	KUNIT_EXPECT_EQ(test, x86_rdpmc_index(55), BIT(29));
}

static s64 counters_for(struct fixture *b, struct perf_event *leader, u64 config)
{
	struct perf_event *event = alloc_event(b, leader, config);
	int ret = fixture_init_event(event);
	s64 counters = ret ?: corepmu_hw_counters(&event->hw);

	if (!ret)
		fixture_close(event);

	return counters;
}

/* The slots leader of the parent's group may be closed: fork(2) must not fail. */
static void topdown_child_without_slots(struct kunit *test)
{
	struct fixture *b = topdown_start(test, &ice_lake, false);
	struct perf_event *slots = topdown_open(b, NULL, SLOTS);
	struct perf_event *parent = topdown_open(b, slots, METRIC(0));
	struct perf_event *child = alloc_event(b, NULL, METRIC(0));

	child->parent = parent;
	KUNIT_EXPECT_EQ(test, fixture_init_event(child), 0);
	child->parent = NULL;
	KUNIT_EXPECT_EQ(test, fixture_add(child, PERF_EF_START), -EAGAIN);
}

/* A CPU that a test changes */
static struct x86_model_cpu changed_cpu;

/* Metrics of each CPU, and the attributes that they need */
static void topdown_encode(struct kunit *test)
{
	struct perf_event *slots, *cycles, *event;
	struct fixture *b = topdown_start(test, &ice_lake, false);

	slots = topdown_open(b, NULL, SLOTS);
	cycles = topdown_open(b, NULL, CYCLES);
	KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&slots->hw), FIXED(3));
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(0)), PAPER(0));
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(3)), PAPER(3));
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(4)), -EINVAL);
	KUNIT_EXPECT_EQ(test, counters_for(b, NULL, METRIC(0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, counters_for(b, cycles, METRIC(0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(0) | EVNTSEL_INV), -EINVAL);
	KUNIT_EXPECT_EQ(test, counters_for(b, NULL, SLOTS | 1 << 24), -EINVAL);
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, SLOTS), -EINVAL);

	event = alloc_event(b, slots, METRIC(0));
	event->attr.sample_period = 1000;
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), -EINVAL);
	event = alloc_event(b, slots, METRIC(0));
	event->attr.exclude_kernel = true;
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), -EINVAL);
	event = alloc_event(b, slots, METRIC(0));
	event->attr.exclude_user = true;
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), -EINVAL);
	/* The event goes into the error state when its leader is closed. */
	event = topdown_open(b, slots, METRIC(0));
	KUNIT_EXPECT_TRUE(test, event->event_caps & PERF_EV_CAP_SIBLING);
	fixture_close(event);
	slots->attr.sample_period = 1000;
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(1)), -EINVAL);

	/* Without the slots counter there are no metrics. */
	slots->attr.sample_period = 0;
	b->pmu->counters &= ~FIXED(3);
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(1)), -EINVAL);
	b->pmu->counters |= FIXED(3);
	fixture_end(b);

	b = topdown_start(test, &topdown_spr, false);
	slots = topdown_open(b, NULL, SLOTS);
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(7)), PAPER(7));
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(8)), -EINVAL);
	fixture_end(b);

	/* A hypervisor that hides PERF_METRICS, and a CPU without it */
	changed_cpu = topdown_spr;
	changed_cpu.metrics = 0;
	b = topdown_start(test, &changed_cpu, false);
	slots = topdown_open(b, NULL, SLOTS);
	KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&slots->hw), FIXED(3));
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(0)), -EINVAL);
	fixture_end(b);
	changed_cpu.metrics = 8;
	changed_cpu.model = 0xff;
	b = topdown_start(test, &changed_cpu, false);
	slots = topdown_open(b, NULL, SLOTS);
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(0)), -EINVAL);
}

/* On hybrid machines, CPUID and PERF_CAPABILITIES report what all CPU types have in common. */
static void topdown_hybrid(struct kunit *test)
{
	struct fixture *b;

	changed_cpu = topdown_spr;
	changed_cpu.model = 0x97;
	changed_cpu.core_type = INTEL_CORE;
	changed_cpu.hybrid = true;
	/* The model has no slots counter then. */
	changed_cpu.nr_fixed = 3;
	changed_cpu.fixed_map = 0x7;
	b = topdown_start(test, &changed_cpu, false);
	KUNIT_EXPECT_EQ(test, b->pmu->counters & FIXED(3), 0);
	KUNIT_EXPECT_EQ(test, to_x86(b->pmu)->metrics, 0);
	fixture_end(b);
	changed_cpu.nr_fixed = 4;
	b = topdown_start(test, &changed_cpu, false);
	KUNIT_EXPECT_EQ(test, to_x86(b->pmu)->metrics, GENMASK_ULL(55, 48));
	fixture_end(b);
	changed_cpu.metrics = 0;
	b = topdown_start(test, &changed_cpu, false);
	KUNIT_EXPECT_EQ(test, b->pmu->counters & FIXED(3), FIXED(3));
	KUNIT_EXPECT_EQ(test, to_x86(b->pmu)->metrics, 0);
}

/* Raptor Lake without E-cores has topdown metrics, although bit 15 is 0 (erratum RPL018). */
static void topdown_raptor_lake(struct kunit *test)
{
	static const struct {
		u8 model;
		u8 metrics;
		u64 found;
	} table[] = {
		{ 0xb7, 8, GENMASK_ULL(55, 48) },
		{ 0xba, 8, GENMASK_ULL(55, 48) },
		{ 0xbf, 8, GENMASK_ULL(55, 48) },
		{ 0xb7, 0, 0 },
		/* On other models, bit 15 is right. */
		{ 0x97, 8, 0 },
		{ 0x8f, 8, 0 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct fixture *b;

		changed_cpu = topdown_spr;
		changed_cpu.model = table[i].model;
		changed_cpu.metrics = table[i].metrics;
		changed_cpu.hides_metrics = true;
		b = topdown_start(test, &changed_cpu, false);
		KUNIT_EXPECT_EQ_MSG(test, to_x86(b->pmu)->metrics, table[i].found, "row %u", i);
		fixture_end(b);
	}
}

/* A sampling slots event is like any other event. */
static void topdown_sample(struct kunit *test)
{
	struct fixture *b = topdown_start(test, &topdown_spr, false);
	struct perf_event *event = alloc_event(b, NULL, SLOTS);

	event->attr.sample_period = 1000;
	event->hw.sample_period = 1000;
	event->hw.last_period = 1000;
	local64_set(&event->hw.period_left, 1000);
	KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	x86_model_run(SLOTS, true, 5500);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 5);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 5500);
}

static struct perf_event *stopped_slots;

/* As perf_event_throttle_group() of 6.16 and later */
static void stop_slots(struct fixture *b, struct perf_event *event)
{
	if (event != stopped_slots)
		stopped_slots->pmu->stop(stopped_slots, 0);
}

/*
 * Slots and cycles overflow together. In the sample of cycles perf core stops the slots event.
 * After a restart, as by perf_event_unthrottle(), the slots event overflows after its period.
 */
static void topdown_sample_restarts(struct kunit *test)
{
	struct fixture *b = topdown_start(test, &topdown_spr, false);
	struct perf_event *slots = alloc_event(b, NULL, SLOTS);

	slots->attr.sample_period = 1000;
	slots->hw.sample_period = 1000;
	slots->hw.last_period = 1000;
	local64_set(&slots->hw.period_left, 1000);
	KUNIT_ASSERT_EQ(test, fixture_init_event(slots), 0);
	fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);
	KUNIT_ASSERT_EQ(test, fixture_add(slots, PERF_EF_START), 0);

	stopped_slots = slots;
	b->on_sample = stop_slots;
	b->testbed->ops->hold(true);
	x86_model_run(SLOTS, true, 1000);
	x86_model_run(CYCLES, true, 1000);
	b->testbed->ops->hold(false);
	b->on_sample = NULL;
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_TRUE(test, slots->hw.state & PERF_HES_STOPPED);

	fixture_start_event(slots, 0);
	x86_model_run(SLOTS, true, 999);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	x86_model_run(SLOTS, true, 1);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 3);
	KUNIT_EXPECT_EQ(test, fixture_read(slots), 2000);
}

static struct kunit_case topdown_cases[] = {
	KUNIT_CASE(topdown_rdpmc_index),
	KUNIT_CASE(topdown_encode),
	KUNIT_CASE(topdown_child_without_slots),
	KUNIT_CASE(topdown_hybrid),
	KUNIT_CASE(topdown_raptor_lake),
	KUNIT_CASE(topdown_sample),
	KUNIT_CASE(topdown_sample_restarts),
	{}
};

TEST_SUITE(topdown, "corepmu_x86_topdown", NULL, topdown_exit);
