// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of load and store latency, Intel CPUs
 */
#include <kunit/test.h>

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>

#include <corepmu/pmu.h>

#include "fixture.h"
#include "fixture/testbed.h"
#include "models/x86/pebs.h"
#include "models/x86/access.h"
#include "x86/intel/intel.h"
#include "x86/pebs/pebs.h"
#include "x86/x86.h"
#include "x86/pebs/precise.h"

static struct perf_event *bare_event(struct kunit *test, struct perf_event *leader, u64 config)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, event);
	INIT_LIST_HEAD(&event->sibling_list);
	event->group_leader = leader ?: event;
	event->attr.precise_ip = 2;
	event->attr.sample_type = PERF_SAMPLE_DATA_SRC;
	event->hw.config_base = config;

	return event;
}

#define LOAD_LATENCY	0x01cd
#define STORE_SAMPLE	0x02cd
#define LOADS_AUX	0x8203

/* On Golden Cove only, a load-latency event needs an auxiliary event before it in its group. */
static void precise_loads_aux(struct kunit *test)
{
	struct x86_desc desc = {
		.uarch = &intel_uarches[UARCH_GOLDEN_COVE], .pebs_format = 4, .pebs_all = true,
		.pebs_latency = true,
	};
	struct perf_event *leader = bare_event(test, NULL, LOADS_AUX);
	struct perf_event *other = bare_event(test, NULL, LOAD_LATENCY);
	struct perf_event *event = bare_event(test, leader, LOAD_LATENCY);
	struct perf_event *second = bare_event(test, other, LOADS_AUX);
	struct perf_event *third = bare_event(test, other, LOAD_LATENCY);
	struct perf_event_context *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);

	/* Perf core locks a group's context while it initializes another event of the group. */
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	mutex_init(&ctx->mutex);
	leader->ctx = ctx;
	other->ctx = ctx;
	mutex_lock(&ctx->mutex);
	KUNIT_EXPECT_EQ(test, x86_pebs_encode_latency(&desc, event, LOAD_LATENCY), 0);
	KUNIT_EXPECT_EQ(test, event->hw.flags, EVENT_LATENCY);
	KUNIT_EXPECT_EQ(test, x86_pebs_encode_latency(&desc, other, LOAD_LATENCY), -ENODATA);
	KUNIT_EXPECT_EQ(test, x86_pebs_encode_latency(&desc, third, LOAD_LATENCY), -ENODATA);
	list_add_tail(&second->sibling_list, &other->sibling_list);
	KUNIT_EXPECT_EQ(test, x86_pebs_encode_latency(&desc, third, LOAD_LATENCY), 0);
	other->attr.sample_type = PERF_SAMPLE_IP;
	KUNIT_EXPECT_EQ(test, x86_pebs_encode_latency(&desc, other, LOAD_LATENCY), 0);

	other->attr.sample_type = PERF_SAMPLE_DATA_SRC;
	/* The auxiliary event of the parent's group may be closed: fork(2) must not fail. */
	other->parent = event;
	KUNIT_EXPECT_EQ(test, x86_pebs_encode_latency(&desc, other, LOAD_LATENCY), 0);
	other->parent = NULL;

	desc.uarch = &intel_uarches[UARCH_REDWOOD_COVE];
	KUNIT_EXPECT_EQ(test, x86_pebs_encode_latency(&desc, other, LOAD_LATENCY), 0);
	mutex_unlock(&ctx->mutex);
}

/* On CPUs with PEBS, load latency without precise_ip is rejected. */
static void precise_loads_need_records(struct kunit *test)
{
	struct x86_desc desc = {
		.uarch = &intel_uarches[UARCH_SKYLAKE], .pebs_format = 3, .pebs_latency = true,
	};
	struct perf_event_attr attr = { .config1 = 30 };

	KUNIT_EXPECT_EQ(test, x86_pebs_refuse_latency(&desc, &attr, LOAD_LATENCY), -EINVAL);
	KUNIT_EXPECT_EQ(test, x86_pebs_refuse_latency(&desc, &attr, LOADS_AUX), 0);
	attr.precise_ip = 1;
	KUNIT_EXPECT_EQ(test, x86_pebs_refuse_latency(&desc, &attr, LOAD_LATENCY), 0);
	attr.precise_ip = 0;
	desc.uarch = &intel_uarches[UARCH_HASWELL];
	KUNIT_EXPECT_EQ(test, x86_pebs_refuse_latency(&desc, &attr, LOAD_LATENCY), 0);
}

/*
 * Without the threshold register (hypervisor), load latency is rejected and format/ldlat is not
 * shown.
 */
static void precise_loads_need_threshold(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW, .config = LOAD_LATENCY, .precise_ip = 2,
		.sample_period = 1000,
	};
	struct perf_event *event;
	struct fixture *b;

	pebs_model_no_latency = true;
	b = fixture_start_on(test, "intel-pebs-skl");
	pebs_model_no_latency = false;
	KUNIT_EXPECT_EQ(test, b->pmu->max_precise, 3);
	KUNIT_EXPECT_FALSE(test, x86_pebs_has_latency(to_x86(b->pmu)));
	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -EOPNOTSUPP);
	attr.config1 = 30;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -EINVAL);
	fixture_end(b);
}

static void precise_stores(struct kunit *test)
{
	struct x86_desc desc = {
		.uarch = &intel_uarches[UARCH_GOLDEN_COVE], .pebs_format = 4, .pebs_all = true,
	};
	struct perf_event *event = bare_event(test, NULL, STORE_SAMPLE);

	KUNIT_EXPECT_EQ(test, x86_pebs_encode_latency(&desc, event, STORE_SAMPLE), 0);
	KUNIT_EXPECT_EQ(test, event->hw.flags, EVENT_STORE_LATENCY);
	event->hw.flags = 0;
	desc.uarch = &intel_uarches[UARCH_ICE_LAKE];
	KUNIT_EXPECT_EQ(test, x86_pebs_encode_latency(&desc, event, STORE_SAMPLE), 0);
	KUNIT_EXPECT_EQ(test, event->hw.flags, 0);
}

#define COUNTERS(last, first)	GENMASK_ULL(last, first)

/*
 * CPUs with load latency and store latency: their events, and the counters that can count them,
 * from "Counter" in tools/perf/pmu-events/arch/x86 of Linux 7.3. Nova Lake's atoms have no list:
 * the kernel's constraints, limited to counters 0 to 3. pebs 15 is architectural PEBS.
 */
static const struct {
	unsigned int	family;
	unsigned int	model;
	unsigned int	core_type;
	unsigned int	nr_gp;
	unsigned int	pebs;
	u64		loads;
	u64		load_counters;
	u64		stores;
	u64		store_counters;
} cpus[] = {
	/* Sapphire Rapids, and Granite Rapids */
	{ 6, 0x8f, 0, 8, 4, 0x01cd, COUNTERS(7, 1), 0x02cd, COUNTERS(0, 0) },
	{ 6, 0xad, 0, 8, 4, 0x01cd, COUNTERS(7, 1), 0x02cd, COUNTERS(0, 0) },
	/* P-cores of Lunar Lake, Arrow Lake H and Panther Lake */
	{ 6, 0xbd, INTEL_CORE, 10, 6, 0x01cd, COUNTERS(9, 2), 0x02cd, COUNTERS(1, 0) },
	{ 6, 0xc5, INTEL_CORE, 10, 6, 0x01cd, COUNTERS(9, 2), 0x02cd, COUNTERS(1, 0) },
	{ 6, 0xcc, INTEL_CORE, 10, 15, 0x01cd, COUNTERS(9, 2), 0x02cd, COUNTERS(1, 0) },
	/* Nova Lake, cores, and Diamond Rapids */
	{ 18, 0x01, INTEL_CORE, 8, 15, 0x01cd, COUNTERS(7, 2), 0x02cd, COUNTERS(1, 0) },
	{ 19, 0x01, 0, 8, 15, 0x01cd, COUNTERS(7, 2), 0x02cd, COUNTERS(1, 0) },
	/* Alder Lake, atoms, and Alder Lake-N */
	{ 6, 0x97, INTEL_ATOM, 6, 4, 0x05d0, COUNTERS(1, 0), 0x06d0, COUNTERS(5, 0) },
	{ 6, 0xbe, 0, 6, 4, 0x05d0, COUNTERS(1, 0), 0x06d0, COUNTERS(5, 0) },
	/* Meteor Lake, atoms, Sierra Forest, and Arrow Lake H, slower atoms */
	{ 6, 0xaa, INTEL_ATOM, 8, 4, 0x05d0, COUNTERS(1, 0), 0x06d0, COUNTERS(7, 0) },
	{ 6, 0xaf, 0, 8, 4, 0x05d0, COUNTERS(1, 0), 0x06d0, COUNTERS(7, 0) },
	/* Lunar Lake, atoms, and Clearwater Forest */
	{ 6, 0xbd, INTEL_ATOM, 8, 6, 0x05d0, COUNTERS(1, 0), 0x06d0, COUNTERS(7, 0) },
	{ 6, 0xdd, 0, 8, 15, 0x05d0, COUNTERS(1, 0), 0x06d0, COUNTERS(7, 0) },
	/* Nova Lake, atoms */
	{ 18, 0x01, INTEL_ATOM, 8, 15, 0x05d0, COUNTERS(3, 0), 0x06d0, COUNTERS(3, 0) },
};

/* The model's last counter does not support architectural PEBS: add one that the CPU lacks. */
static struct fixture *start_cpu(struct kunit *test, unsigned int row)
{
	static struct x86_model_cpu cpu;
	static struct testbed testbed;

	cpu = (struct x86_model_cpu) {
		.name = "latency", .family = cpus[row].family, .model = cpus[row].model,
		.core_type = cpus[row].core_type,
		.nr_gp = cpus[row].nr_gp + (cpus[row].pebs == PEBS_MODEL_ARCH),
		.pebs = cpus[row].pebs, .version = cpus[row].pebs == PEBS_MODEL_ARCH ? 6 : 5,
		.gp_width = 48, .nr_fixed = 3, .fixed_map = 0x7, .fixed_width = 48,
		.full_width = true, .nr_events = 7,
	};
	testbed = *testbed_by_name("intel-pebs-icl");
	testbed.cpu = &cpu;

	return fixture_start(test, &testbed);
}

static int open_latency(struct fixture *b, u64 config, u64 threshold, struct perf_event **event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW, .config = config, .config1 = threshold, .precise_ip = 2,
		.sample_period = 1000, .sample_type = PERF_SAMPLE_IP,
	};

	return fixture_open(b, &attr, event);
}

static void expect_latency(struct kunit *test, unsigned int row)
{
	struct perf_event *loads, *more, *stores, *other;
	struct fixture *b = start_cpu(test, row);
	u64 others = cpus[row].loads == 0x01cd ? 0x05d0 : 0x01cd;

	KUNIT_EXPECT_TRUE(test, x86_pebs_has_latency(to_x86(b->pmu)));
	KUNIT_ASSERT_EQ(test, open_latency(b, cpus[row].loads, 30, &loads), 0);
	KUNIT_ASSERT_EQ(test, open_latency(b, cpus[row].loads, 40, &more), 0);
	KUNIT_ASSERT_EQ(test, open_latency(b, cpus[row].stores, 0, &stores), 0);
	KUNIT_EXPECT_EQ(test, open_latency(b, cpus[row].stores, 30, &other), -EINVAL);
	KUNIT_EXPECT_EQ(test, open_latency(b, others, 30, &other), -EINVAL);
	KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&loads->hw), cpus[row].load_counters);
	KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&stores->hw), cpus[row].store_counters);
	KUNIT_EXPECT_EQ(test, loads->hw.flags & (EVENT_LATENCY | EVENT_STORE_LATENCY),
			EVENT_LATENCY);
	KUNIT_EXPECT_EQ(test, stores->hw.flags & (EVENT_LATENCY | EVENT_STORE_LATENCY),
			EVENT_STORE_LATENCY);

	/* One threshold: the second load-latency event waits. */
	KUNIT_EXPECT_EQ(test, fixture_add(loads, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, fixture_add(more, PERF_EF_START), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fixture_add(stores, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, pebs_model()->pebs_latency, 30);
	fixture_del(loads);
	KUNIT_EXPECT_EQ(test, fixture_add(more, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, pebs_model()->pebs_latency, 40);
	fixture_end(b);
}

/* Cores and atoms: events, counters and the threshold register of load and store latency. */
static void precise_latency_cpus(struct kunit *test)
{
	for (unsigned int row = 0; row < ARRAY_SIZE(cpus); row++) {
		kunit_info(test, "model %u, %#x, type %#x\n", cpus[row].family, cpus[row].model,
			   cpus[row].core_type);
		expect_latency(test, row);
	}
}

static struct kunit_case latency_cases[] = {
	KUNIT_CASE(precise_latency_cpus),
	KUNIT_CASE(precise_loads_aux),
	KUNIT_CASE(precise_loads_need_records),
	KUNIT_CASE(precise_loads_need_threshold),
	KUNIT_CASE(precise_stores),
	{ }
};

TEST_SUITE(latency, "corepmu_pebs_latency", NULL, NULL);
