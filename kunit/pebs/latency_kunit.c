// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of load and store latency, Intel CPUs
 */
#include <kunit/test.h>

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>

#include <corepmu/pmu.h>

#include "fixture/testbed.h"
#include "models/x86/pebs.h"
#include "models/x86/access.h"
#include "x86/intel/intel.h"
#include "x86/pebs/pebs.h"
#include "x86/x86.h"
#include "x86/pebs/precise.h"

static const struct {
	enum intel_uarch_id	uarch;
	int			flags;
	u64			record;
	union perf_mem_data_src	source;
} sources[] = {
	{ UARCH_ICE_LAKE, EVENT_LATENCY, 0x01,
	  { .mem_op = PERF_MEM_OP_LOAD, .mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1,
	    .mem_lvl_num = PERF_MEM_LVLNUM_L1, .mem_snoop = PERF_MEM_SNOOP_NONE,
	    .mem_dtlb = PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1 | PERF_MEM_TLB_L2,
	    .mem_blk = PERF_MEM_BLK_NA } },
	/* Before Golden Cove, bits 6 and 7 have no meaning. */
	{ UARCH_ICE_LAKE, EVENT_LATENCY, 0xfa,
	  { .mem_op = PERF_MEM_OP_LOAD, .mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_LOC_RAM,
	    .mem_lvl_num = PERF_MEM_LVLNUM_RAM, .mem_snoop = PERF_MEM_SNOOP_HIT,
	    .mem_dtlb = PERF_MEM_TLB_MISS | PERF_MEM_TLB_L2,
	    .mem_lock = PERF_MEM_LOCK_LOCKED, .mem_blk = PERF_MEM_BLK_NA } },
	{ UARCH_GOLDEN_COVE, EVENT_LATENCY, 0xca,
	  { .mem_op = PERF_MEM_OP_LOAD, .mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_LOC_RAM,
	    .mem_lvl_num = PERF_MEM_LVLNUM_RAM, .mem_snoop = PERF_MEM_SNOOP_HIT,
	    .mem_dtlb = PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1 | PERF_MEM_TLB_L2,
	    .mem_blk = PERF_MEM_BLK_DATA | PERF_MEM_BLK_ADDR } },
	{ UARCH_REDWOOD_COVE, EVENT_LATENCY, 0x03,
	  { .mem_op = PERF_MEM_OP_LOAD, .mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L2,
	    .mem_lvl_num = PERF_MEM_LVLNUM_L2, .mem_snoop = PERF_MEM_SNOOP_NONE,
	    .mem_dtlb = PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1 | PERF_MEM_TLB_L2,
	    .mem_blk = PERF_MEM_BLK_NA } },
	/* Bits 6 and 7 have a meaning for loads only. */
	{ UARCH_GOLDEN_COVE, EVENT_STORE_LATENCY, 0xf3,
	  { .mem_op = PERF_MEM_OP_STORE, .mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L2,
	    .mem_lvl_num = PERF_MEM_LVLNUM_L2, .mem_snoop = PERF_MEM_SNOOP_NONE,
	    .mem_dtlb = PERF_MEM_TLB_MISS | PERF_MEM_TLB_L2,
	    .mem_lock = PERF_MEM_LOCK_LOCKED, .mem_blk = PERF_MEM_BLK_NA } },
};

static void precise_sources(struct kunit *test)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct x86_desc *desc = kunit_kzalloc(test, sizeof(*desc), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_ASSERT_NOT_NULL(test, desc);
	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		desc->uarch = &intel_uarches[sources[i].uarch];
		event->hw.flags = sources[i].flags;
		KUNIT_EXPECT_EQ_MSG(test, x86_pebs_source(desc, event, sources[i].record),
				    sources[i].source.val, "row %u", i);
	}
}

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
	test->priv = NULL;
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

static struct kunit_case latency_cases[] = {
	KUNIT_CASE(precise_sources),
	KUNIT_CASE(precise_loads_aux),
	KUNIT_CASE(precise_loads_need_records),
	KUNIT_CASE(precise_loads_need_threshold),
	KUNIT_CASE(precise_stores),
	{ }
};

static struct kunit_suite latency_suite = {
	.name		= "corepmu_pebs_latency",
	.test_cases	= latency_cases,
};

kunit_test_suite(latency_suite);
