// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of Intel's slots and topdown metrics
 */
#include <kunit/test.h>

#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include <corepmu/rdpmc.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "x86/intel/intel.h"
#include "x86/msr.h"
#include "x86/x86.h"
#include "uarch.h"

#define SLOTS		0x0400
#define METRIC(n)	(0x8000 + 0x100 * (n))
#define CYCLES		0x003c
#define WHOLE		255

/* More slots than the minimum for an update of metrics at a read */
#define MANY		(WHOLE * 1000)

#define PAPER(n)	BIT_ULL(METRIC_COUNTER_BASE + (n))
#define ENABLE_METRICS	BIT_ULL(48)

static const struct x86_model_cpu ice_lake = {
	.name = "Ice Lake", .family = 6, .model = 0x6a, .version = 5, .nr_gp = 8, .gp_width = 48,
	.nr_fixed = 4, .fixed_map = 0xf, .fixed_width = 48, .full_width = true, .nr_events = 8,
	.metrics = 4,
};

static const struct x86_model_cpu sapphire_rapids = {
	.name = "Sapphire Rapids", .family = 6, .model = 0x8f, .version = 5, .nr_gp = 8,
	.gp_width = 48, .nr_fixed = 4, .fixed_map = 0xf, .fixed_width = 48, .full_width = true,
	.nr_events = 8, .metrics = 8,
};

static struct testbed this_testbed;

static struct fixture *start(struct kunit *test, const struct x86_model_cpu *cpu, bool builtin)
{
	struct fixture *b;

	this_testbed = *testbed_by_name("intel-v5");
	this_testbed.cpu = cpu;
	this_testbed.has_builtin = builtin;
	b = fixture_start(test, &this_testbed);
	test->priv = b;

	return b;
}

static void topdown_exit(struct kunit *test)
{
	if (test->priv)
		fixture_end(test->priv);
}

static struct x86_model *model(void)
{
	return this_cpu_ptr(&x86_model_state);
}

static struct perf_event *alloc(struct fixture *b, struct perf_event *leader, u64 config)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_RAW, .config = config };
	struct perf_event *event = fixture_alloc(b, &attr);

	if (leader)
		event->group_leader = leader;

	return event;
}

static struct perf_event *open_event(struct fixture *b, struct perf_event *leader, u64 config)
{
	struct perf_event *event = alloc(b, leader, config);

	KUNIT_ASSERT_EQ(b->test, fixture_init_event(event), 0);
	if (leader)
		list_add_tail(&event->sibling_list, &leader->sibling_list);

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

#define GROUP	3

/* Slots, retiring, backend bound */
struct group {
	struct perf_event *event[GROUP];
};

static void group_open(struct fixture *b, struct group *g)
{
	g->event[0] = open_event(b, NULL, SLOTS);
	g->event[1] = open_event(b, g->event[0], METRIC(0));
	g->event[2] = open_event(b, g->event[0], METRIC(3));
}

static void group_in(struct fixture *b, struct group *g)
{
	unsigned int i;

	for (i = 0; i < GROUP; i++)
		KUNIT_ASSERT_EQ(b->test, fixture_add(g->event[i], PERF_EF_START), 0);
}

/* As perf core does: the leader first */
static void group_out(struct group *g)
{
	unsigned int i;

	for (i = 0; i < GROUP; i++)
		fixture_del(g->event[i]);
}

static void group_close(struct group *g)
{
	unsigned int i;

	for (i = 0; i < GROUP; i++)
		fixture_close(g->event[i]);
}

/* Count slots, and set PERF_METRICS to the shares of all slots since the registers were 0. */
static void run(u64 slots, u8 retiring, u8 backend)
{
	x86_model_run(SLOTS, true, slots);
	model()->metrics = (u64)backend << 24 | retiring;
}

static void expect_counts(struct kunit *test, const struct group *g, s64 slots, s64 retiring,
			  s64 backend)
{
	const s64 expected[GROUP] = { slots, retiring, backend };
	unsigned int i;

	for (i = 0; i < GROUP; i++)
		KUNIT_EXPECT_EQ_MSG(test, local64_read(&g->event[i]->count), expected[i],
				    "event %u of the group", i);
}

static s64 counters_for(struct fixture *b, struct perf_event *leader, u64 config)
{
	struct perf_event *event = alloc(b, leader, config);
	int ret = fixture_init_event(event);
	s64 counters = ret ?: corepmu_hw_counters(&event->hw);

	if (!ret)
		fixture_close(event);

	return counters;
}

/* A CPU that a test changes */
static struct x86_model_cpu changed_cpu;

/* Metrics of each CPU, and the attributes that they need */
static void topdown_encode(struct kunit *test)
{
	struct perf_event *slots, *cycles, *event;
	struct fixture *b = start(test, &ice_lake, false);

	slots = open_event(b, NULL, SLOTS);
	cycles = open_event(b, NULL, CYCLES);
	KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&slots->hw), FIXED(3));
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(0)), PAPER(0));
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(3)), PAPER(3));
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(4)), -EINVAL);
	KUNIT_EXPECT_EQ(test, counters_for(b, NULL, METRIC(0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, counters_for(b, cycles, METRIC(0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(0) | EVNTSEL_INV), -EINVAL);
	KUNIT_EXPECT_EQ(test, counters_for(b, NULL, SLOTS | 1 << 24), -EINVAL);
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, SLOTS), -EINVAL);

	event = alloc(b, slots, METRIC(0));
	event->attr.sample_period = 1000;
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), -EINVAL);
	event = alloc(b, slots, METRIC(0));
	event->attr.exclude_kernel = true;
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), -EINVAL);
	event = alloc(b, slots, METRIC(0));
	event->attr.exclude_user = true;
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), -EINVAL);
	/* The event ends with its leader. */
	event = open_event(b, slots, METRIC(0));
	KUNIT_EXPECT_TRUE(test, event->event_caps & PERF_EV_CAP_SIBLING);
	fixture_close(event);
	slots->attr.sample_period = 1000;
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(1)), -EINVAL);

	/* Without the slots counter there are no metrics. */
	slots->attr.sample_period = 0;
	b->pmu->counters &= ~FIXED(3);
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(1)), -EINVAL);
	b->pmu->counters |= FIXED(3);
	fixture_close(cycles);
	fixture_close(slots);
	fixture_end(b);

	b = start(test, &sapphire_rapids, false);
	slots = open_event(b, NULL, SLOTS);
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(7)), PAPER(7));
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(8)), -EINVAL);
	fixture_close(slots);
	fixture_end(b);

	/* A hypervisor that hides PERF_METRICS, and a CPU without it */
	changed_cpu = sapphire_rapids;
	changed_cpu.metrics = 0;
	b = start(test, &changed_cpu, false);
	slots = open_event(b, NULL, SLOTS);
	KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&slots->hw), FIXED(3));
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(0)), -EINVAL);
	fixture_close(slots);
	fixture_end(b);
	changed_cpu.metrics = 8;
	changed_cpu.model = 0xff;
	b = start(test, &changed_cpu, false);
	slots = open_event(b, NULL, SLOTS);
	KUNIT_EXPECT_EQ(test, counters_for(b, slots, METRIC(0)), -EINVAL);
	fixture_close(slots);
}

/* On hybrid machines, CPUID and PERF_CAPABILITIES report what all CPU types have in common. */
static void topdown_hybrid(struct kunit *test)
{
	struct fixture *b;

	changed_cpu = sapphire_rapids;
	changed_cpu.model = 0x97;
	changed_cpu.core_type = INTEL_CORE;
	changed_cpu.hybrid = true;
	/* The model has no slots counter then. */
	changed_cpu.nr_fixed = 3;
	changed_cpu.fixed_map = 0x7;
	b = start(test, &changed_cpu, false);
	KUNIT_EXPECT_EQ(test, b->pmu->counters & FIXED(3), 0);
	KUNIT_EXPECT_EQ(test, to_x86(b->pmu)->metrics, 0);
	fixture_end(b);
	changed_cpu.nr_fixed = 4;
	b = start(test, &changed_cpu, false);
	KUNIT_EXPECT_EQ(test, to_x86(b->pmu)->metrics, GENMASK_ULL(55, 48));
	fixture_end(b);
	changed_cpu.metrics = 0;
	b = start(test, &changed_cpu, false);
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
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		struct fixture *b;

		changed_cpu = sapphire_rapids;
		changed_cpu.model = table[i].model;
		changed_cpu.metrics = table[i].metrics;
		changed_cpu.hides_metrics = true;
		b = start(test, &changed_cpu, false);
		KUNIT_EXPECT_EQ_MSG(test, to_x86(b->pmu)->metrics, table[i].found, "row %u", i);
		fixture_end(b);
	}
	test->priv = NULL;
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

/* Bit 14 of IA32_FIXED_CTR_CTRL, METRICS_CLEAR_EN */
#define METRICS_CLEAR	BIT_ULL(14)

/* With metrics_clear, RDPMC of user space clears both registers: the counts go on from there. */
static void topdown_metrics_clear(struct kunit *test)
{
	struct perf_event *slots, *other;
	struct fixture *b;
	struct group g, plain;

	b = start(test, &sapphire_rapids, false);
	KUNIT_EXPECT_EQ(test, open_config1(b, NULL, SLOTS, 1, &other), -EINVAL);
	fixture_end(b);

	changed_cpu = sapphire_rapids;
	changed_cpu.metrics_clear = true;
	b = start(test, &changed_cpu, false);
	group_open(b, &plain);
	KUNIT_EXPECT_EQ(test, open_config1(b, NULL, SLOTS, 2, &other), -EINVAL);
	KUNIT_EXPECT_EQ(test, open_config1(b, NULL, CYCLES, 1, &other), -EINVAL);
	KUNIT_ASSERT_EQ(test, open_config1(b, NULL, SLOTS, 1, &slots), 0);
	KUNIT_EXPECT_EQ(test, open_config1(b, slots, METRIC(0), 1, &other), -EINVAL);
	g.event[0] = slots;
	g.event[1] = open_event(b, slots, METRIC(0));
	g.event[2] = open_event(b, slots, METRIC(3));

	group_in(b, &g);
	KUNIT_EXPECT_NE(test, model()->fixed_ctrl & METRICS_CLEAR, 0);
	run(1000, 51, 102);
	group_out(&g);
	expect_counts(test, &g, 1000, 200, 400);
	group_in(b, &g);
	KUNIT_EXPECT_EQ(test, model()->fixed[3], 1000);
	model()->fixed[3] = 0;
	run(500, 51, 102);
	group_out(&g);
	expect_counts(test, &g, 1500, 300, 600);

	group_in(b, &plain);
	KUNIT_EXPECT_EQ(test, model()->fixed_ctrl & METRICS_CLEAR, 0);
	group_out(&plain);
	group_close(&plain);
	group_close(&g);
}

/* An overflow of the slots counter before its interrupt is no clear. */
static void topdown_overflow_is_no_clear(struct kunit *test)
{
	struct fixture *b;
	struct group g;

	changed_cpu = sapphire_rapids;
	changed_cpu.metrics_clear = true;
	b = start(test, &changed_cpu, false);
	KUNIT_ASSERT_EQ(test, open_config1(b, NULL, SLOTS, 1, &g.event[0]), 0);
	g.event[1] = open_event(b, g.event[0], METRIC(0));
	g.event[2] = open_event(b, g.event[0], METRIC(3));

	group_in(b, &g);
	run(1000, 51, 102);
	group_out(&g);
	group_in(b, &g);
	expect_counts(test, &g, 1000, 200, 400);
	model()->fixed[3] = 255;
	model()->global_status = FIXED(3);
	fixture_read(g.event[0]);
	expect_counts(test, &g, 1000, 200, 400);
	x86_model_spurious_nmi();
	expect_counts(test, &g, BIT_ULL(48) + 255, BIT_ULL(48) / 5 + 51,
		      BIT_ULL(48) / 5 * 2 + 102);
	group_out(&g);
	group_close(&g);
}

static void count_group(struct kunit *test, bool builtin)
{
	struct fixture *b = start(test, &sapphire_rapids, builtin);
	struct group g;

	group_open(b, &g);
	group_in(b, &g);
	KUNIT_EXPECT_TRUE(test, model()->global_ctrl & ENABLE_METRICS);
	run(MANY, 51, 102);
	fixture_read(g.event[0]);
	expect_counts(test, &g, MANY, MANY / 5, MANY / 5 * 2);
	/* The update has cleared both registers. */
	KUNIT_EXPECT_EQ(test, model()->fixed[3], 0);
	KUNIT_EXPECT_EQ(test, model()->metrics, 0);
	run(MANY, 255, 0);
	fixture_read(g.event[1]);
	expect_counts(test, &g, 2 * MANY, MANY / 5 + MANY, MANY / 5 * 2);
	/* Few slots: the metrics are updated at a later read. */
	run(255, 0, 255);
	fixture_read(g.event[2]);
	expect_counts(test, &g, 2 * MANY, MANY / 5 + MANY, MANY / 5 * 2);
	fixture_read(g.event[0]);
	expect_counts(test, &g, 2 * MANY + 255, MANY / 5 + MANY, MANY / 5 * 2 + 255);
	group_out(&g);
	if (!builtin)
		KUNIT_EXPECT_EQ(test, model()->global_ctrl, 0);
	KUNIT_EXPECT_EQ(test, model()->fixed_ctrl, builtin ? 0 : 0xb000);
	group_close(&g);
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
 * The registers are saved and restored when the group is scheduled out and in, whoever uses them
 * meanwhile.
 */
static void topdown_saved_at_switch(struct kunit *test)
{
	struct fixture *b = start(test, &sapphire_rapids, false);
	struct perf_event *alone;
	struct group g, other;

	group_open(b, &g);
	group_open(b, &other);
	alone = open_event(b, NULL, SLOTS);

	group_in(b, &g);
	run(1000, 51, 102);
	group_out(&g);
	expect_counts(test, &g, 1000, 200, 400);

	KUNIT_ASSERT_EQ(test, fixture_add(alone, PERF_EF_START), 0);
	KUNIT_EXPECT_FALSE(test, model()->global_ctrl & ENABLE_METRICS);
	run(77, 9, 9);
	fixture_del(alone);
	KUNIT_EXPECT_EQ(test, local64_read(&alone->count), 77);
	group_in(b, &other);
	run(5, 255, 255);
	group_out(&other);
	expect_counts(test, &other, 5, 5, 5);

	group_in(b, &g);
	KUNIT_EXPECT_EQ(test, model()->fixed[3], 1000);
	KUNIT_EXPECT_EQ(test, model()->metrics, 102 << 24 | 51);
	/* Of 2550 slots, 170 retire: fewer than the 200 counted before, so the count stays. */
	run(1550, 17, 153);
	group_out(&g);
	expect_counts(test, &g, 2550, 200, 1530);
	/* The counts from 170 to 200 were counted before. */
	group_in(b, &g);
	run(2550, 17, 153);
	group_out(&g);
	expect_counts(test, &g, 5100, 340, 3060);

	/* The other group continues from its own values. */
	group_in(b, &other);
	KUNIT_EXPECT_EQ(test, model()->fixed[3], 5);
	run(250, 51, 51);
	group_out(&other);
	expect_counts(test, &other, 255, 51, 51);

	fixture_close(alone);
	group_close(&other);
	group_close(&g);
}

/* An event added later gets no earlier counts; a deleted event does not change the others. */
static void topdown_members_count_from_add(struct kunit *test)
{
	struct fixture *b = start(test, &sapphire_rapids, false);
	struct group g;

	group_open(b, &g);
	KUNIT_ASSERT_EQ(test, fixture_add(g.event[0], PERF_EF_START), 0);
	run(1000, 255, 255);
	KUNIT_ASSERT_EQ(test, fixture_add(g.event[1], PERF_EF_START), 0);
	expect_counts(test, &g, 1000, 0, 0);
	run(1000, 51, 255);
	KUNIT_ASSERT_EQ(test, fixture_add(g.event[2], PERF_EF_START), 0);
	expect_counts(test, &g, 2000, 200, 0);
	run(1000, 51, 102);
	fixture_del(g.event[1]);
	expect_counts(test, &g, 3000, 400, 400);
	run(1000, 51, 102);
	fixture_del(g.event[2]);
	expect_counts(test, &g, 4000, 400, 800);
	run(1000, 51, 102);
	fixture_del(g.event[0]);
	expect_counts(test, &g, 5000, 400, 800);
	group_close(&g);
}

/* After 2^48 slots the overflow is counted, for slots and for metrics. */
static void topdown_overflow(struct kunit *test)
{
	struct fixture *b = start(test, &sapphire_rapids, false);
	struct group g;

	group_open(b, &g);
	group_in(b, &g);
	model()->fixed[3] = GENMASK_ULL(47, 0);
	model()->metrics = 102 << 24 | 51;
	x86_model_run(SLOTS, true, 1);
	expect_counts(test, &g, BIT_ULL(48), BIT_ULL(48) / 5, BIT_ULL(48) / 5 * 2);
	KUNIT_EXPECT_EQ(test, model()->nmis, 1);
	KUNIT_EXPECT_EQ(test, model()->unknown_nmis, 0);
	KUNIT_EXPECT_EQ(test, model()->global_status, 0);
	/* An overflow of the metrics only is acknowledged and claimed. */
	run(1000, 51, 102);
	model()->global_status = ENABLE_METRICS;
	x86_model_spurious_nmi();
	KUNIT_EXPECT_EQ(test, model()->unknown_nmis, 0);
	KUNIT_EXPECT_EQ(test, model()->global_status, 0);
	expect_counts(test, &g, BIT_ULL(48) + 1000, BIT_ULL(48) / 5 + 200,
		      BIT_ULL(48) / 5 * 2 + 400);
	group_out(&g);
	group_close(&g);
}

/* A sampling slots event is like any other event. */
static void topdown_sample(struct kunit *test)
{
	struct fixture *b = start(test, &sapphire_rapids, false);
	struct perf_event *event = alloc(b, NULL, SLOTS);

	event->attr.sample_period = 1000;
	event->hw.sample_period = 1000;
	event->hw.last_period = 1000;
	local64_set(&event->hw.period_left, 1000);
	KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	x86_model_run(SLOTS, true, 5500);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 5);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 5500);
	fixture_del(event);
	fixture_close(event);
}

static struct group *interrupted;

static void read_in_nmi(void)
{
	/* As a sample of the group would read: nothing is counted twice. */
	interrupted->event[0]->pmu->read(interrupted->event[0]);
	interrupted->event[1]->pmu->read(interrupted->event[1]);
}

static void topdown_nmi(struct kunit *test)
{
	struct fixture *b = start(test, &sapphire_rapids, false);
	struct group g;

	group_open(b, &g);
	group_in(b, &g);
	interrupted = &g;
	run(MANY, 51, 102);
	x86_model_after_rdpmc = read_in_nmi;
	fixture_read(g.event[0]);
	expect_counts(test, &g, MANY, MANY / 5, MANY / 5 * 2);
	KUNIT_EXPECT_EQ(test, model()->fixed[3], 0);
	group_out(&g);
	group_close(&g);
}

/*
 * The driver clears the group's old values for tasks that may read counters, slots before metrics.
 */
static void topdown_cleared(struct kunit *test)
{
	struct fixture *b = start(test, &sapphire_rapids, false);
	struct group g;

	group_open(b, &g);
	group_in(b, &g);
	run(1000, 51, 102);
	group_out(&g);
	KUNIT_EXPECT_NE(test, model()->fixed[3], 0);
	corepmu_rdpmc_clear(b->cpuc);
	KUNIT_EXPECT_EQ(test, model()->fixed[3], 0);
	KUNIT_EXPECT_EQ(test, model()->metrics, 0);
	group_in(b, &g);
	run(0, 51, 102);
	corepmu_rdpmc_clear(b->cpuc);
	KUNIT_EXPECT_EQ(test, model()->fixed[3], 1000);
	KUNIT_EXPECT_NE(test, model()->metrics, 0);
	group_out(&g);
	group_close(&g);
}

static struct kunit_case topdown_cases[] = {
	KUNIT_CASE(topdown_rdpmc_index),
	KUNIT_CASE(topdown_encode),
	KUNIT_CASE(topdown_hybrid),
	KUNIT_CASE(topdown_raptor_lake),
	KUNIT_CASE(topdown_metrics_clear),
	KUNIT_CASE(topdown_overflow_is_no_clear),
	KUNIT_CASE(topdown_counts),
	KUNIT_CASE(topdown_coexists),
	KUNIT_CASE(topdown_saved_at_switch),
	KUNIT_CASE(topdown_members_count_from_add),
	KUNIT_CASE(topdown_overflow),
	KUNIT_CASE(topdown_sample),
	KUNIT_CASE(topdown_nmi),
	KUNIT_CASE(topdown_cleared),
	{}
};

static struct kunit_suite topdown_suite = {
	.name		= "corepmu_x86_topdown",
	.exit		= topdown_exit,
	.test_cases	= topdown_cases,
};

kunit_test_suite(topdown_suite);
