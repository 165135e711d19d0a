// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of auto counter reload (ACR)
 */
#include <kunit/test.h>

#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include <corepmu/counter.h>
#include <corepmu/pmu.h>

#include "fixture/testbed.h"
#include "models/x86/pebs.h"
#include "models/x86/access.h"
#include "x86/intel/uarch.h"
#include "x86/msr.h"
#include "x86/x86.h"

static bool has_acr(const struct testbed *testbed)
{
	const struct x86_model_cpu *cpu = testbed->cpu;

	return testbed_is_x86(testbed) && !cpu->amd && cpu->pebs == PEBS_MODEL_ARCH;
}

static const void *gen_params(const void *prev, char *desc)
{
	return testbed_gen_matching(prev, desc, has_acr);
}

static struct x86_model *acr_model(void)
{
	return this_cpu_ptr(&x86_model_state);
}

static struct perf_event_attr attr_of(u64 hardware, u64 period, u64 mask)
{
	return (struct perf_event_attr) {
		.type		= PERF_TYPE_HARDWARE,
		.config		= hardware,
		.sample_period	= period,
		.config2	= mask,
	};
}

/* Open an event in a group; @leader NULL: the event is the leader. */
static struct perf_event *open_member(struct fixture *b, struct perf_event *leader, u64 hardware,
				      u64 period, u64 mask)
{
	const struct perf_event_attr attr = attr_of(hardware, period, mask);
	struct perf_event *event = fixture_alloc(b, &attr);

	fixture_join(event, leader);

	return event;
}

static void add_event(struct fixture *b, struct perf_event *event)
{
	KUNIT_ASSERT_EQ(b->test, fixture_add(event, PERF_EF_START), 0);
}

/*
 * Open and start two events. 300 instructions start the period of 100 branches again. A sample of
 * either starts the period of the instructions again. Return the branches.
 */
static struct perf_event *start_pair(struct fixture *b, struct perf_event **instructions)
{
	struct perf_event *branches;

	branches = open_member(b, NULL, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100, 0x2);
	*instructions = open_member(b, branches, PERF_COUNT_HW_INSTRUCTIONS, 300, 0x3);
	add_event(b, branches);
	add_event(b, *instructions);
	fixture_forget(b);

	return branches;
}

/* Branches sample only if 100 come before 300 instructions. */
static void acr_samples(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *branches, *instructions;

	branches = start_pair(b, &instructions);
	KUNIT_EXPECT_EQ(test, acr_model()->acr_cfg_b[branches->hw.idx],
			BIT_ULL(instructions->hw.idx));
	KUNIT_EXPECT_EQ(test, acr_model()->acr_cfg_b[instructions->hw.idx],
			BIT_ULL(instructions->hw.idx) | BIT_ULL(branches->hw.idx));
	KUNIT_EXPECT_EQ(test, acr_model()->pebs_cfg_c[branches->hw.idx], (u32)-100);
	for (unsigned int i = 0; i < 3; i++) {
		fixture_run(b, TESTBED_BRANCHES, 99);
		fixture_run(b, TESTBED_INSTRUCTIONS, 300);
	}
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	/* A sample of branches starts the period of the instructions again. */
	fixture_run(b, TESTBED_INSTRUCTIONS, 299);
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 100, 1);
	fixture_run(b, TESTBED_BRANCHES, 99);
	fixture_run(b, TESTBED_INSTRUCTIONS, 299);
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 1, 2);
	KUNIT_EXPECT_EQ(test, acr_model()->unknown_nmis, 0);
}

/*
 * After an ACR reload the count goes back to the start of the period, and a whole period follows.
 */
static void acr_read(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *branches, *instructions;

	branches = start_pair(b, &instructions);
	RUN_EXPECT_COUNT(b, TESTBED_BRANCHES, 60, branches, 60);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 300, branches, 0);
	fixture_run(b, TESTBED_BRANCHES, 50);
	fixture_stop_event(branches, PERF_EF_UPDATE);
	fixture_start_event(branches, PERF_EF_RELOAD);
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 49, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 1, 1);
	KUNIT_EXPECT_EQ(test, fixture_read(branches), 100);
}

/* Close the leader, as perf_group_detach() does: its only sibling becomes a leader. */
static void close_leader(struct fixture *b, struct perf_event *leader, struct perf_event *sibling)
{
	struct pmu *pmu = &b->pmu->perf_pmu;
	unsigned long flags;

	fixture_del(leader);
	local_irq_save(flags);
	pmu->pmu_disable(pmu);
	list_del_init(&sibling->sibling_list);
	sibling->group_leader = sibling;
	pmu->pmu_enable(pmu);
	local_irq_restore(flags);
	fixture_close(leader);
}

/*
 * Bit 0 of the sibling's acr_mask names the leader. After the leader is closed, the sibling is
 * member 0. Bit 0 must not name the sibling then: its counter would never report an overflow.
 */
static void acr_samples_without_leader(struct kunit *test)
{
	static const unsigned int precise[] = { 0, 2 };
	struct fixture *b = test->priv;

	for (unsigned int i = 0; i < ARRAY_SIZE(precise); i++) {
		struct perf_event *leader, *sibling;
		struct perf_event_attr attr;

		leader = open_member(b, NULL, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100, 0);
		attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, 300, 0x1);
		attr.precise_ip = precise[i];
		sibling = fixture_alloc(b, &attr);
		fixture_join(sibling, leader);
		add_event(b, leader);
		add_event(b, sibling);
		close_leader(b, leader, sibling);
		fixture_forget(b);
		fixture_run(b, TESTBED_INSTRUCTIONS, 300);
		fixture_run(b, TESTBED_INSTRUCTIONS, 300);
		KUNIT_EXPECT_EQ_MSG(test, b->nr_samples, 2, "precise_ip %u", precise[i]);
		KUNIT_EXPECT_EQ_MSG(test, fixture_read(sibling), 600, "precise_ip %u", precise[i]);
		fixture_remove(sibling);
	}
}

/*
 * An event that names itself when it is opened does so later, too, at any position in its group. A
 * child names itself exactly if its parent does.
 */
static void acr_child_without_leader(struct kunit *test)
{
	static const u64 masks[] = { 0x1, 0x2 };	/* the leader, and the event itself */
	struct fixture *b = test->priv;

	for (unsigned int i = 0; i < ARRAY_SIZE(masks); i++) {
		struct perf_event *leader, *event, *child;
		bool itself = masks[i] == 0x2;

		leader = open_member(b, NULL, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100, 0);
		event = open_member(b, leader, PERF_COUNT_HW_INSTRUCTIONS, 300, masks[i]);
		add_event(b, leader);
		add_event(b, event);
		close_leader(b, leader, event);
		child = fixture_alloc(b, &event->attr);
		child->parent = event;
		KUNIT_ASSERT_EQ(test, fixture_init_event(child), 0);
		add_event(b, child);
		KUNIT_EXPECT_EQ_MSG(test, acr_model()->acr_cfg_b[event->hw.idx],
				    itself ? BIT_ULL(event->hw.idx) : 0, "mask %llu", masks[i]);
		KUNIT_EXPECT_EQ_MSG(test, acr_model()->acr_cfg_b[child->hw.idx],
				    itself ? BIT_ULL(child->hw.idx) : 0, "mask %llu", masks[i]);
		KUNIT_EXPECT_EQ_MSG(test, !(child->hw.config_base & EVNTSEL_INT), itself,
				    "mask %llu", masks[i]);
		fixture_del(child);
		child->parent = NULL;
		fixture_close(child);
		fixture_remove(event);
	}
}

/* Inherit @parent; @leader NULL: the child is the leader of its group. */
static struct perf_event *inherit_event(struct fixture *b, struct perf_event *parent,
					struct perf_event *leader)
{
	struct perf_event *child = fixture_alloc(b, &parent->attr);

	child->parent = parent;
	fixture_join(child, leader);

	return child;
}

static void close_member(struct perf_event *event)
{
	list_del_init(&event->sibling_list);
	event->parent = NULL;
	fixture_close(event);
}

/*
 * A closed member shifts the positions in the group, so that acr_mask names another event. Children
 * are accepted, so that fork(2) does not fail, and each child has its parent's counters. @first,
 * @last: acr_mask of the group's first and last member. @moved: config of the event that acr_mask
 * names after the close.
 */
static void inherit_shifted(struct fixture *b, u64 first, u64 last, u64 moved)
{
	struct perf_event *named, *parent[3], *child[3];

	parent[0] = open_member(b, NULL, PERF_COUNT_HW_INSTRUCTIONS, 100, first);
	named = open_member(b, parent[0], PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 300, 0);
	parent[1] = open_member(b, parent[0], moved, 300, 0);
	parent[2] = open_member(b, parent[0], PERF_COUNT_HW_BRANCH_MISSES, 300, last);
	close_member(named);

	for (unsigned int i = 0; i < ARRAY_SIZE(child); i++)
		child[i] = inherit_event(b, parent[i], i ? child[0] : NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(child); i++)
		KUNIT_EXPECT_EQ_MSG(b->test, corepmu_hw_counters(&child[i]->hw),
				    corepmu_hw_counters(&parent[i]->hw), "member %u", i);
	for (unsigned int i = ARRAY_SIZE(child); i--; ) {
		close_member(child[i]);
		close_member(parent[i]);
	}
}

static void acr_child_of_shifted_group(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct x86_desc *desc = to_x86(b->pmu);
	u64 causes = desc->acr_causes;

	/* Fixed counters cause no reload; reference cycles only count on one of them. */
	desc->acr_causes &= GENMASK_ULL(FIXED_COUNTER_BASE - 1, 0);
	inherit_shifted(b, 0x2, 0, PERF_COUNT_HW_REF_CPU_CYCLES);
	inherit_shifted(b, 0, 0x3, PERF_COUNT_HW_REF_CPU_CYCLES);
	inherit_shifted(b, 0x2, 0, PERF_COUNT_HW_CPU_CYCLES);
	inherit_shifted(b, 0, 0x3, PERF_COUNT_HW_CPU_CYCLES);
	desc->acr_causes = causes;
}

static struct fixture *read_fixture;

static void overflow_after_read(void)
{
	fixture_run(read_fixture, TESTBED_BRANCHES, 10);
}

/*
 * An NMI comes after read(2) has read the counter, before it updates prev_count. The NMI leaves
 * prev_count the same. No count is added twice.
 */
static void acr_read_and_overflow(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *branches, *instructions;

	branches = start_pair(b, &instructions);
	fixture_run(b, TESTBED_BRANCHES, 90);
	read_fixture = b;
	x86_model_after_rdpmc = overflow_after_read;
	KUNIT_EXPECT_EQ(test, fixture_read(branches), 100);
	KUNIT_EXPECT_NULL(test, x86_model_after_rdpmc);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, local64_read(&branches->hw.period_left), 100);
	RUN_EXPECT_COUNT(b, TESTBED_BRANCHES, 5, branches, 105);
	KUNIT_EXPECT_EQ(test, local64_read(&branches->hw.period_left), 95);
}

/*
 * read(2) updates prev_count to a value before the last one, since the counter was reloaded; an NMI
 * then comes before read(2) adds the difference. No count is lost, and the period has its sample.
 */
static void acr_read_then_overflow(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *branches, *instructions;
	struct hw_perf_event *hwc;
	u64 prev, now;

	branches = start_pair(b, &instructions);
	hwc = &branches->hw;
	RUN_EXPECT_COUNT(b, TESTBED_BRANCHES, 60, branches, 60);
	fixture_run(b, TESTBED_INSTRUCTIONS, 300);
	fixture_run(b, TESTBED_BRANCHES, 50);
	prev = local64_read(&hwc->prev_count);
	now = corepmu_extend_sign(b->pmu->backend->read(b->cpuc, hwc), corepmu_hw_value_mask(hwc));
	local64_set(&hwc->prev_count, now);
	fixture_run(b, TESTBED_BRANCHES, 50);
	corepmu_count_overtaken(branches, prev, now);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, fixture_read(branches), 100);
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 100, 2);
	KUNIT_EXPECT_EQ(test, fixture_read(branches), 200);
}

/* Each record of an event with ACR interrupts; then each record of a large PEBS event does, too. */
static void acr_with_large_pebs(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100, 0x2);
	struct perf_event *branches, *instructions;

	attr.precise_ip = 2;
	KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &branches), 0);
	attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, 300, 0);
	attr.precise_ip = 2;
	instructions = fixture_alloc(b, &attr);
	instructions->hw.target = current;
	fixture_join(instructions, branches);
	KUNIT_EXPECT_FALSE(test, branches->hw.flags & COREPMU_EVENT_LARGE);
	KUNIT_EXPECT_TRUE(test, instructions->hw.flags & COREPMU_EVENT_LARGE);
	add_event(b, branches);
	add_event(b, instructions);
	fixture_forget(b);
	for (unsigned int i = 0; i < 4; i++) {
		fixture_run(b, TESTBED_BRANCHES, 99);
		fixture_run(b, TESTBED_INSTRUCTIONS, 310);
	}
	KUNIT_EXPECT_EQ(test, b->nr_samples, 4);
	KUNIT_EXPECT_EQ(test, fixture_read(instructions), 4 * 310);
}

/* When the last event with ACR is deleted, the driver clears its registers. */
static void acr_ends_with_last_event(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *first, *second;
	unsigned int idx;

	first = open_member(b, NULL, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100, 0x2);
	second = open_member(b, first, PERF_COUNT_HW_INSTRUCTIONS, 300, 0);
	add_event(b, first);
	add_event(b, second);
	idx = first->hw.idx;
	KUNIT_EXPECT_NE(test, acr_model()->acr_cfg_b[idx], 0);
	fixture_del(first);
	KUNIT_EXPECT_EQ(test, acr_model()->acr_cfg_b[idx], 0);
}

/* An event in another's acr_mask uses a counter that supports ACR, whichever is opened first. */
static void acr_counters(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *first, *second;

	first = open_member(b, NULL, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100, 0);
	KUNIT_EXPECT_TRUE(test, corepmu_hw_counters(&first->hw) & BIT(0));
	second = open_member(b, first, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 300, 0x1);
	KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&first->hw) & ~acr_model_counters(), 0);
	KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&second->hw) & ~acr_model_counters(), 0);
}

/* acr_mask has 64 bits: no bit selects members of the group after the 64th. */
static void acr_names_64_events(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *leader, *event;
	u64 counters = 0;

	leader = open_member(b, NULL, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100, 0x1);
	for (unsigned int i = 1; i <= 64; i++) {
		event = open_member(b, leader, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0, 0);
		event->state = PERF_EVENT_STATE_OFF;
		counters = counters ?: corepmu_hw_counters(&event->hw);
	}
	KUNIT_EXPECT_TRUE(test, counters & BIT(0));
	KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&event->hw), counters);
}

/* A refused event does not limit the counters of the group members in its acr_mask. */
static void acr_refused_in_a_group(struct kunit *test)
{
	const struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS,
						    BIT_ULL(31) + 1, 0x1);
	struct fixture *b = test->priv;
	struct perf_event *leader, *event;
	u64 counters;

	leader = open_member(b, NULL, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100, 0);
	counters = corepmu_hw_counters(&leader->hw);
	event = fixture_alloc(b, &attr);
	event->group_leader = leader;
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), -EINVAL);
	KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&leader->hw), counters);
}

/*
 * The leader takes the counter that cannot cause a reload, and its siblings take the others. An
 * event that names the leader does not fit, and leaves the group as it was.
 */
static void acr_refused_for_counters(struct kunit *test)
{
	const struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, 300, 0x1);
	struct fixture *b = test->priv;
	struct perf_event *leader, *event;
	u64 counters;

	leader = open_member(b, NULL, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100, 0);
	counters = corepmu_hw_counters(&leader->hw);
	for (unsigned int i = 1; i < hweight64(counters); i++) {
		event = open_member(b, leader, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100, 0);
		corepmu_hw_limit_counters(&event->hw, ~BIT_ULL(0));
	}
	event = fixture_alloc(b, &attr);
	event->group_leader = leader;
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), -EINVAL);
	KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&leader->hw), counters);
}

static void acr_refused(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW, .config = 0xc4, .config2 = 1, .sample_period = 100,
	};
	struct perf_event *event;

	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), 0);
	fixture_close(event);
	attr.precise_ip = 3;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -EINVAL);
	attr.precise_ip = 0;
	attr.sample_period = BIT_ULL(31) + 1;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -EINVAL);
	attr.sample_period = BIT_ULL(31);
	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), 0);
	KUNIT_EXPECT_EQ(test, b->pmu->perf_pmu.check_period(event, BIT_ULL(31)), 0);
	KUNIT_EXPECT_EQ(test, b->pmu->perf_pmu.check_period(event, BIT_ULL(31) + 1), -EINVAL);
	fixture_close(event);
	attr.sample_period = 0;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -EINVAL);
	attr.freq = 1;
	attr.sample_freq = 1000;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -EINVAL);

	/* A generic event without a sample period ignores acr_mask. */
	attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, 0, 0xabc);
	KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
	KUNIT_EXPECT_FALSE(test, event->hw.flags & COREPMU_EVENT_ACR);
}

/* Another agent writes the registers while the group is scheduled out. */
static void acr_after_an_agent(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *branches, *instructions;

	branches = open_member(b, NULL, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100, 0x2);
	instructions = open_member(b, branches, PERF_COUNT_HW_INSTRUCTIONS, 300, 0x3);
	add_event(b, branches);
	add_event(b, instructions);
	fixture_del(instructions);
	fixture_del(branches);
	memset(acr_model()->acr_cfg_b, 0, sizeof(acr_model()->acr_cfg_b));
	memset(acr_model()->pebs_cfg_c, 0, sizeof(acr_model()->pebs_cfg_c));
	add_event(b, branches);
	add_event(b, instructions);
	KUNIT_EXPECT_EQ(test, acr_model()->acr_cfg_b[branches->hw.idx],
			BIT_ULL(instructions->hw.idx));
	KUNIT_EXPECT_EQ(test, acr_model()->acr_cfg_b[instructions->hw.idx],
			BIT_ULL(instructions->hw.idx) | BIT_ULL(branches->hw.idx));
	KUNIT_EXPECT_EQ(test, acr_model()->pebs_cfg_c[branches->hw.idx], (u32)-100);
}

static struct kunit_case acr_cases[] = {
	KUNIT_CASE_PARAM(acr_samples, gen_params),
	KUNIT_CASE_PARAM(acr_samples_without_leader, gen_params),
	KUNIT_CASE_PARAM(acr_child_without_leader, gen_params),
	KUNIT_CASE_PARAM(acr_child_of_shifted_group, gen_params),
	KUNIT_CASE_PARAM(acr_read, gen_params),
	KUNIT_CASE_PARAM(acr_read_and_overflow, gen_params),
	KUNIT_CASE_PARAM(acr_read_then_overflow, gen_params),
	KUNIT_CASE_PARAM(acr_with_large_pebs, gen_params),
	KUNIT_CASE_PARAM(acr_ends_with_last_event, gen_params),
	KUNIT_CASE_PARAM(acr_after_an_agent, gen_params),
	KUNIT_CASE_PARAM(acr_counters, gen_params),
	KUNIT_CASE_PARAM(acr_refused, gen_params),
	KUNIT_CASE_PARAM(acr_refused_in_a_group, gen_params),
	KUNIT_CASE_PARAM(acr_refused_for_counters, gen_params),
	KUNIT_CASE_PARAM(acr_names_64_events, gen_params),
	{ }
};

TESTBED_SUITE(acr, "corepmu_x86_acr");
