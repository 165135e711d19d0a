// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite: counts of slots and topdown metrics
 */
#include <kunit/test.h>

#include <linux/percpu.h>
#include <linux/perf_event.h>

#include <corepmu/rdpmc.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "x86/msr.h"
#include "x86/x86.h"
#include "topdown.h"
#include "uarch.h"

#define WHOLE		255

/* More slots than the minimum for an update of metrics at a read */
#define MANY		(WHOLE * 1000)

#define ENABLE_METRICS	BIT_ULL(48)

static struct x86_model *topdown_model(void)
{
	return this_cpu_ptr(&x86_model_state);
}

#define GROUP	3

/* Slots, retiring, backend bound */
struct group {
	struct perf_event *event[GROUP];
};

static void group_open(struct fixture *b, struct group *g)
{
	g->event[0] = topdown_open(b, NULL, SLOTS);
	g->event[1] = topdown_open(b, g->event[0], METRIC(0));
	g->event[2] = topdown_open(b, g->event[0], METRIC(3));
}

static void group_in(struct fixture *b, struct group *g)
{
	for (unsigned int i = 0; i < GROUP; i++)
		KUNIT_ASSERT_EQ(b->test, fixture_add(g->event[i], PERF_EF_START), 0);
}

/* Add the events as perf core does: the leader first. */
static void group_out(struct group *g)
{
	for (unsigned int i = 0; i < GROUP; i++)
		fixture_del(g->event[i]);
}

/*
 * Count slots, and set PERF_METRICS to the shares of all slots that were counted since the
 * registers were 0.
 */
static void run_slots(u64 slots, u8 retiring, u8 backend)
{
	x86_model_run(SLOTS, true, slots);
	topdown_model()->metrics = (u64)backend << 24 | retiring;
}

static void expect_counts(struct kunit *test, const struct group *g, s64 slots, s64 retiring,
			  s64 backend)
{
	const s64 expected[GROUP] = { slots, retiring, backend };

	for (unsigned int i = 0; i < GROUP; i++)
		KUNIT_EXPECT_EQ_MSG(test, local64_read(&g->event[i]->count), expected[i],
				    "event %u of the group", i);
}

static int open_config1(struct fixture *b, struct perf_event *leader, u64 config, u64 config1,
			struct perf_event **event)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW, .config = config, .config1 = config1,
	};

	*event = fixture_alloc(b, &attr);
	if (leader)
		(*event)->group_leader = leader;

	return fixture_init_event(*event);
}

/*
 * Perf core throttles the whole group, and starts its events again one by one. An NMI reads the
 * slots while the metrics are still stopped: this read sets both registers to 0.
 */
static void topdown_group_restarts(struct kunit *test)
{
	struct fixture *b = topdown_start(test, &topdown_spr, false);
	struct group g;

	group_open(b, &g);
	group_in(b, &g);
	run_slots(1000, 51, 102);
	for (unsigned int i = 0; i < GROUP; i++)
		fixture_stop_event(g.event[i], 0);
	run_slots(1000, 51, 102);
	expect_counts(test, &g, 1000, 200, 400);

	fixture_start_event(g.event[0], 0);
	KUNIT_EXPECT_EQ(test, fixture_read(g.event[0]), 1000);
	for (unsigned int i = 1; i < GROUP; i++)
		fixture_start_event(g.event[i], 0);
	run_slots(500, 51, 102);
	group_out(&g);
	expect_counts(test, &g, 1500, 300, 600);
}

/* A CPU that a test changes */
static struct x86_model_cpu changed_cpu;

/* Bit 14 of IA32_FIXED_CTR_CTRL, METRICS_CLEAR_EN */
#define METRICS_CLEAR	BIT_ULL(14)

/* With metrics_clear, RDPMC of user space clears both registers: the counts go on from there. */
static void topdown_metrics_clear(struct kunit *test)
{
	struct perf_event *slots, *other;
	struct fixture *b;
	struct group g, plain;

	b = topdown_start(test, &topdown_spr, false);
	KUNIT_EXPECT_EQ(test, open_config1(b, NULL, SLOTS, 1, &other), -EINVAL);
	fixture_end(b);

	changed_cpu = topdown_spr;
	changed_cpu.metrics_clear = true;
	b = topdown_start(test, &changed_cpu, false);
	group_open(b, &plain);
	KUNIT_EXPECT_EQ(test, open_config1(b, NULL, SLOTS, 2, &other), -EINVAL);
	KUNIT_EXPECT_EQ(test, open_config1(b, NULL, CYCLES, 1, &other), -EINVAL);
	KUNIT_ASSERT_EQ(test, open_config1(b, NULL, SLOTS, 1, &slots), 0);
	KUNIT_EXPECT_EQ(test, open_config1(b, slots, METRIC(0), 1, &other), -EINVAL);
	g.event[0] = slots;
	g.event[1] = topdown_open(b, slots, METRIC(0));
	g.event[2] = topdown_open(b, slots, METRIC(3));

	group_in(b, &g);
	KUNIT_EXPECT_NE(test, topdown_model()->fixed_ctrl & METRICS_CLEAR, 0);
	run_slots(1000, 51, 102);
	group_out(&g);
	expect_counts(test, &g, 1000, 200, 400);
	group_in(b, &g);
	KUNIT_EXPECT_EQ(test, topdown_model()->fixed[3], 1000);
	topdown_model()->fixed[3] = 0;
	run_slots(500, 51, 102);
	group_out(&g);
	expect_counts(test, &g, 1500, 300, 600);

	group_in(b, &plain);
	KUNIT_EXPECT_EQ(test, topdown_model()->fixed_ctrl & METRICS_CLEAR, 0);
}

/* An overflow of the slots counter before its interrupt is no clear. */
static void topdown_overflow_is_no_clear(struct kunit *test)
{
	struct fixture *b;
	struct group g;

	changed_cpu = topdown_spr;
	changed_cpu.metrics_clear = true;
	b = topdown_start(test, &changed_cpu, false);
	KUNIT_ASSERT_EQ(test, open_config1(b, NULL, SLOTS, 1, &g.event[0]), 0);
	g.event[1] = topdown_open(b, g.event[0], METRIC(0));
	g.event[2] = topdown_open(b, g.event[0], METRIC(3));

	group_in(b, &g);
	run_slots(1000, 51, 102);
	group_out(&g);
	group_in(b, &g);
	expect_counts(test, &g, 1000, 200, 400);
	topdown_model()->fixed[3] = 255;
	topdown_model()->global_status = FIXED(3);
	fixture_read(g.event[0]);
	expect_counts(test, &g, 1000, 200, 400);
	x86_model_spurious_nmi();
	expect_counts(test, &g, BIT_ULL(48) + 255, BIT_ULL(48) / 5 + 51,
		      BIT_ULL(48) / 5 * 2 + 102);
}

static void count_group(struct kunit *test, bool builtin)
{
	struct fixture *b = topdown_start(test, &topdown_spr, builtin);
	struct group g;

	group_open(b, &g);
	group_in(b, &g);
	KUNIT_EXPECT_TRUE(test, topdown_model()->global_ctrl & ENABLE_METRICS);
	run_slots(MANY, 51, 102);
	fixture_read(g.event[0]);
	expect_counts(test, &g, MANY, MANY / 5, MANY / 5 * 2);
	/* The update has cleared both registers. */
	KUNIT_EXPECT_EQ(test, topdown_model()->fixed[3], 0);
	KUNIT_EXPECT_EQ(test, topdown_model()->metrics, 0);
	run_slots(MANY, 255, 0);
	fixture_read(g.event[1]);
	expect_counts(test, &g, 2 * MANY, MANY / 5 + MANY, MANY / 5 * 2);
	/* Few slots: the metrics are updated at a later read. */
	run_slots(255, 0, 255);
	fixture_read(g.event[2]);
	expect_counts(test, &g, 2 * MANY, MANY / 5 + MANY, MANY / 5 * 2);
	fixture_read(g.event[0]);
	expect_counts(test, &g, 2 * MANY + 255, MANY / 5 + MANY, MANY / 5 * 2 + 255);
	group_out(&g);
	if (!builtin)
		KUNIT_EXPECT_EQ(test, topdown_model()->global_ctrl, 0);
	KUNIT_EXPECT_EQ(test, topdown_model()->fixed_ctrl, builtin ? 0 : 0xb000);
}

static void topdown_counts(struct kunit *test)
{
	count_group(test, false);
}

static void topdown_coexists(struct kunit *test)
{
	count_group(test, true);
}

/*
 * The registers are saved when the group is scheduled out and restored when it is scheduled in,
 * even if another group uses the registers meanwhile.
 */
static void topdown_saved_at_switch(struct kunit *test)
{
	struct fixture *b = topdown_start(test, &topdown_spr, false);
	struct perf_event *alone;
	struct group g, other;

	group_open(b, &g);
	group_open(b, &other);
	alone = topdown_open(b, NULL, SLOTS);

	group_in(b, &g);
	run_slots(1000, 51, 102);
	group_out(&g);
	expect_counts(test, &g, 1000, 200, 400);

	KUNIT_ASSERT_EQ(test, fixture_add(alone, PERF_EF_START), 0);
	KUNIT_EXPECT_FALSE(test, topdown_model()->global_ctrl & ENABLE_METRICS);
	run_slots(77, 9, 9);
	fixture_del(alone);
	KUNIT_EXPECT_EQ(test, local64_read(&alone->count), 77);
	group_in(b, &other);
	run_slots(5, 255, 255);
	group_out(&other);
	expect_counts(test, &other, 5, 5, 5);

	group_in(b, &g);
	KUNIT_EXPECT_EQ(test, topdown_model()->fixed[3], 1000);
	KUNIT_EXPECT_EQ(test, topdown_model()->metrics, 102 << 24 | 51);
	/* Of 2550 slots, 170 retire: fewer than the 200 counted before, so the count stays. */
	run_slots(1550, 17, 153);
	group_out(&g);
	expect_counts(test, &g, 2550, 200, 1530);
	/* The counts from 170 to 200 were counted before. */
	group_in(b, &g);
	run_slots(2550, 17, 153);
	group_out(&g);
	expect_counts(test, &g, 5100, 340, 3060);

	/* The other group continues from its own values. */
	group_in(b, &other);
	KUNIT_EXPECT_EQ(test, topdown_model()->fixed[3], 5);
	run_slots(250, 51, 51);
	group_out(&other);
	expect_counts(test, &other, 255, 51, 51);

	fixture_close(alone);
}

/* An event added later gets no earlier counts; a deleted event does not change the others. */
static void topdown_members_count_from_add(struct kunit *test)
{
	struct fixture *b = topdown_start(test, &topdown_spr, false);
	struct group g;

	group_open(b, &g);
	KUNIT_ASSERT_EQ(test, fixture_add(g.event[0], PERF_EF_START), 0);
	run_slots(1000, 255, 255);
	KUNIT_ASSERT_EQ(test, fixture_add(g.event[1], PERF_EF_START), 0);
	expect_counts(test, &g, 1000, 0, 0);
	run_slots(1000, 51, 255);
	KUNIT_ASSERT_EQ(test, fixture_add(g.event[2], PERF_EF_START), 0);
	expect_counts(test, &g, 2000, 200, 0);
	run_slots(1000, 51, 102);
	fixture_del(g.event[1]);
	expect_counts(test, &g, 3000, 400, 400);
	run_slots(1000, 51, 102);
	fixture_del(g.event[2]);
	expect_counts(test, &g, 4000, 400, 800);
	run_slots(1000, 51, 102);
	fixture_del(g.event[0]);
	expect_counts(test, &g, 5000, 400, 800);
}

/* After 2^48 slots the overflow is counted, for slots and for metrics. */
static void topdown_overflow(struct kunit *test)
{
	struct fixture *b = topdown_start(test, &topdown_spr, false);
	struct group g;

	group_open(b, &g);
	group_in(b, &g);
	topdown_model()->fixed[3] = GENMASK_ULL(47, 0);
	topdown_model()->metrics = 102 << 24 | 51;
	x86_model_run(SLOTS, true, 1);
	expect_counts(test, &g, BIT_ULL(48), BIT_ULL(48) / 5, BIT_ULL(48) / 5 * 2);
	KUNIT_EXPECT_EQ(test, topdown_model()->nmis, 1);
	KUNIT_EXPECT_EQ(test, topdown_model()->unknown_nmis, 0);
	KUNIT_EXPECT_EQ(test, topdown_model()->global_status, 0);
	/* An overflow of the metrics only is acknowledged and claimed. */
	run_slots(1000, 51, 102);
	topdown_model()->global_status = ENABLE_METRICS;
	x86_model_spurious_nmi();
	KUNIT_EXPECT_EQ(test, topdown_model()->unknown_nmis, 0);
	KUNIT_EXPECT_EQ(test, topdown_model()->global_status, 0);
	expect_counts(test, &g, BIT_ULL(48) + 1000, BIT_ULL(48) / 5 + 200,
		      BIT_ULL(48) / 5 * 2 + 400);
}

static struct group *interrupted;

static void read_in_nmi(void)
{
	/* Read the group as a sample with PERF_SAMPLE_READ does: nothing is counted twice. */
	interrupted->event[0]->pmu->read(interrupted->event[0]);
	interrupted->event[1]->pmu->read(interrupted->event[1]);
}

static void topdown_nmi(struct kunit *test)
{
	struct fixture *b = topdown_start(test, &topdown_spr, false);
	struct group g;

	group_open(b, &g);
	group_in(b, &g);
	interrupted = &g;
	run_slots(MANY, 51, 102);
	x86_model_after_rdpmc = read_in_nmi;
	fixture_read(g.event[0]);
	expect_counts(test, &g, MANY, MANY / 5, MANY / 5 * 2);
	KUNIT_EXPECT_EQ(test, topdown_model()->fixed[3], 0);
}

/*
 * The driver clears the group's old values for tasks that may read counters, slots before metrics.
 */
static void topdown_cleared(struct kunit *test)
{
	struct fixture *b = topdown_start(test, &topdown_spr, false);
	struct group g;

	group_open(b, &g);
	group_in(b, &g);
	run_slots(1000, 51, 102);
	group_out(&g);
	KUNIT_EXPECT_NE(test, topdown_model()->fixed[3], 0);
	corepmu_rdpmc_clear(b->cpuc);
	KUNIT_EXPECT_EQ(test, topdown_model()->fixed[3], 0);
	KUNIT_EXPECT_EQ(test, topdown_model()->metrics, 0);
	group_in(b, &g);
	run_slots(0, 51, 102);
	corepmu_rdpmc_clear(b->cpuc);
	KUNIT_EXPECT_EQ(test, topdown_model()->fixed[3], 1000);
	KUNIT_EXPECT_NE(test, topdown_model()->metrics, 0);
}

static struct kunit_case topdown_counts_cases[] = {
	KUNIT_CASE(topdown_group_restarts),
	KUNIT_CASE(topdown_metrics_clear),
	KUNIT_CASE(topdown_overflow_is_no_clear),
	KUNIT_CASE(topdown_counts),
	KUNIT_CASE(topdown_coexists),
	KUNIT_CASE(topdown_saved_at_switch),
	KUNIT_CASE(topdown_members_count_from_add),
	KUNIT_CASE(topdown_overflow),
	KUNIT_CASE(topdown_nmi),
	KUNIT_CASE(topdown_cleared),
	{}
};

TEST_SUITE(topdown_counts, "corepmu_x86_topdown_counts", NULL, topdown_exit);
