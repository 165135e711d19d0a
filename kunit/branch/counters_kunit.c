// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of event counts in branch records
 */
#include <kunit/test.h>

#include <linux/list.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/pmu.h>

#include "fixture.h"

/* The kernel's ARCH_PERFMON_EVENTSEL_BR_CNTR */
#define SELECT_LOG		BIT_ULL(35)
#define SELECT_EDGE		BIT_ULL(18)

#define COUNTERS		COMPAT_SAMPLE_BRANCH_COUNTERS
#define COUNTED_USER		(PERF_SAMPLE_BRANCH_USER | COUNTERS)
#define ANY_COUNTED		(ANY_USER | COUNTERS)

/* Group of events; in a record, each event has another count */
#define MEMBERS			4

struct group {
	struct perf_event *event[MEMBERS];
};

static struct perf_event *open_member(struct fixture *b, struct group *g, u64 hardware,
				      u64 branches, unsigned int i)
{
	struct perf_event_attr attr = { STACK(branches) };

	attr.config = hardware;
	/* Only the leader samples, every PERIOD cycles. */
	if (i)
		attr.sample_period = 0;

	return branch_open_member(b, &attr, i ? g->event[0] : NULL);
}

static void open_group(struct fixture *b, struct group *g, const u64 branches[MEMBERS])
{
	static const u64 hardware[MEMBERS] = {
		PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_BRANCH_MISSES,
	};

	for (unsigned int i = 0; i < MEMBERS; i++)
		g->event[i] = open_member(b, g, hardware[i], branches[i], i);
}

static void add_group(struct group *g)
{
	for (unsigned int i = 0; i < MEMBERS; i++)
		branch_add(g->event[i]);
}

static void end_group(struct group *g)
{
	for (unsigned int i = MEMBERS - 1; i; i--)
		fixture_del(g->event[i]);
	fixture_del(g->event[0]);
	branch_leave();
	for (unsigned int i = MEMBERS - 1; i; i--)
		fixture_close(g->event[i]);
	fixture_close(g->event[0]);
}

/* Return LBR_INFO of a record in which event i of the group has the count n[i]. */
static u64 info_of(const struct group *g, const unsigned int n[MEMBERS])
{
	u64 info = 0;

	for (unsigned int i = 0; i < MEMBERS; i++)
		if (g->event[i]->hw.idx >= 0 && g->event[i]->hw.idx < MEMBERS)
			info |= INFO_COUNT(g->event[i]->hw.idx, n[i]);

	return info;
}

static void forget_samples(struct fixture *b)
{
	b->nr_samples = 0;
	memset(branch_seen, 0, sizeof(branch_seen));
}

/*
 * The sample has the counts of the events with PERF_SAMPLE_BRANCH_COUNTERS, in the group's order,
 * from the lowest bits on.
 */
static void counts_in_group_order(struct kunit *test)
{
	static const u64 branches[MEMBERS] = { ANY_COUNTED, COUNTED_USER, ANY_USER, COUNTED_USER };
	static const unsigned int n[MEMBERS] = { 1, 2, 0, 3 }, none[MEMBERS];
	struct fixture *b = test->priv;
	struct group g;

	open_group(b, &g, branches);
	branch_begin();
	/* Add the last event first: the order of counters differs from the group's order. */
	branch_add(g.event[3]);
	branch_add(g.event[0]);
	branch_add(g.event[2]);
	branch_add(g.event[1]);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, info_of(&g, n));
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, info_of(&g, none));
	OVERFLOW_EXPECT_SAMPLES(b, 1);
	KUNIT_EXPECT_TRUE(test, branch_seen[0].has_counts);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 2);
	KUNIT_EXPECT_EQ(test, branch_seen[0].counts[0], 0);
	KUNIT_EXPECT_EQ(test, branch_seen[0].counts[1], 1 | 2 << 2 | 3 << 4);
	end_group(&g);
}

/* Events with counts use the counters that records have counts of, and set EVENTSEL_BR_CNTR. */
static void counts_select_counters(struct kunit *test)
{
	static const u64 branches[MEMBERS] = { ANY_COUNTED, COUNTED_USER, ANY_USER, COUNTED_USER };
	const struct x86_model *m = this_cpu_ptr(&x86_model_state);
	struct fixture *b = test->priv;
	struct group g;

	open_group(b, &g, branches);
	branch_begin();
	add_group(&g);
	for (unsigned int i = 0; i < MEMBERS; i++) {
		int idx = g.event[i]->hw.idx;

		if (branches[i] & COUNTERS) {
			KUNIT_EXPECT_LT(test, idx, 4);
			KUNIT_EXPECT_TRUE(test, m->select[idx] & SELECT_LOG);
		} else if (idx < X86_MODEL_MAX_GP) {
			KUNIT_EXPECT_FALSE(test, m->select[idx] & SELECT_LOG);
		}
	}
	end_group(&g);
}

/* A disabled event has no counter, but keeps its position in the counts. */
static void counts_keep_place_of_disabled(struct kunit *test)
{
	static const u64 branches[MEMBERS] = { ANY_USER, COUNTED_USER, COUNTED_USER, COUNTED_USER };
	static const unsigned int n[MEMBERS] = { 3, 1, 2, 3 };
	struct fixture *b = test->priv;
	struct group g;

	open_group(b, &g, branches);
	branch_begin();
	add_group(&g);
	fixture_del(g.event[2]);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, info_of(&g, n) | INFO_COUNT(0, 3) |
			 INFO_COUNT(1, 3) | INFO_COUNT(2, 3) | INFO_COUNT(3, 3));
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].counts[0], 3 | 3 << 4);
	branch_add(g.event[2]);
	end_group(&g);
}

/*
 * If two threads open events of a group at the same time, neither open sees the other event, and
 * five events may ask for counts. The sample has the counts of the first four events.
 */
static void counts_of_four_events(struct kunit *test)
{
	static const u64 branches[MEMBERS] = {
		ANY_COUNTED, COUNTED_USER, COUNTED_USER, COUNTED_USER,
	};
	static const unsigned int n[MEMBERS] = { 1, 2, 3 };
	struct perf_event_attr attr = { STACK(COUNTED_USER) };
	struct fixture *b = test->priv;
	struct perf_event *fifth;
	struct group g;
	unsigned int i;

	open_group(b, &g, branches);
	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	attr.sample_period = 0;
	list_del(&g.event[3]->sibling_list);
	fifth = branch_open_member(b, &attr, g.event[0]);
	list_add(&g.event[3]->sibling_list, &g.event[2]->sibling_list);
	branch_begin();
	for (i = 0; i < 3; i++)
		branch_add(g.event[i]);
	branch_add(fifth);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND,
			 info_of(&g, n) | INFO_COUNT(fifth->hw.idx, 3));
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].counts[0], 1 | 2 << 2 | 3 << 4);
	fixture_del(fifth);
	while (i--)
		fixture_del(g.event[i]);
	branch_leave();
}

/*
 * A sample excludes records from before its event was added: they count the counter's previous
 * event.
 */
static void counts_exclude_earlier_records(struct kunit *test)
{
	static const u64 branches[MEMBERS] = { ANY_COUNTED, ANY_USER, ANY_USER, ANY_USER };
	const struct perf_event_attr attr = { STACK(ANY_COUNTED) };
	static const unsigned int n[MEMBERS] = { 1 };
	struct fixture *b = test->priv;
	struct perf_event *other;
	struct group g;

	open_group(b, &g, branches);
	other = branch_open_attr(b, &attr);
	branch_begin();
	add_group(&g);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, info_of(&g, n));
	branch_add(other);
	x86_model_branch(USER + 0x10, USER_TO, X86_MODEL_CALL, INFO_COUNT(other->hw.idx, 2));
	OVERFLOW_EXPECT_SAMPLES(b, 2);
	EXPECT_FROM(test, &branch_seen[0], USER + 0x10);
	EXPECT_FROM(test, &branch_seen[1], USER + 0x10);
	KUNIT_EXPECT_EQ(test, branch_seen[0].counts[0] + branch_seen[1].counts[0], 2);
	fixture_del(other);
	end_group(&g);
}

/* A sample excludes records from before its event moved to another counter. */
static void counts_exclude_records_before_move(struct kunit *test)
{
	const struct perf_event_attr attr = { STACK(ANY_COUNTED) };
	const struct perf_event_attr plain = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_BRANCH_MISSES,
	};
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_attr(b, &attr), *other;
	int before;

	KUNIT_ASSERT_EQ(test, fixture_open(b, &plain, &other), 0);
	branch_start(event);
	before = event->hw.idx;
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, INFO_COUNT(before, 1));
	corepmu_hw_set_counters(&other->hw, BIT_ULL(before));
	KUNIT_EXPECT_EQ(test, fixture_add(other, PERF_EF_START), 0);
	KUNIT_EXPECT_NE(test, event->hw.idx, before);
	x86_model_branch(USER + 0x10, USER_TO, X86_MODEL_CALL, INFO_COUNT(event->hw.idx, 2));
	OVERFLOW_EXPECT_FROM(b, &branch_seen[0], USER + 0x10);
	KUNIT_EXPECT_EQ(test, branch_seen[0].counts[0], 2);
	fixture_del(other);
	branch_end(event);
}

/* The counts exclude records that the sample excludes. */
static void counts_only_of_shown_records(struct kunit *test)
{
	static const u64 branches[MEMBERS] = {
		PERF_SAMPLE_BRANCH_COND | COUNTED_USER, COUNTED_USER, COUNTED_USER, COUNTED_USER
	};
	static const unsigned int first[MEMBERS] = { 1, 1, 1, 1 }, second[MEMBERS] = { 2, 2, 2, 2 };
	struct perf_event *all;
	struct fixture *b = test->priv;
	struct group g;

	open_group(b, &g, branches);
	all = branch_open_stack(b, ANY_USER);
	branch_begin();
	/* For this event the hardware records calls, too. */
	branch_add(all);
	add_group(&g);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, info_of(&g, first));
	x86_model_branch(USER + 0x10, USER_TO, X86_MODEL_CALL, info_of(&g, second));
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	forget_samples(b);
	fixture_stop_event(all, PERF_EF_UPDATE);
	OVERFLOW_EXPECT_SAMPLES(b, 1);
	EXPECT_FROM(test, &branch_seen[0], USER, USER);
	KUNIT_EXPECT_EQ(test, branch_seen[0].counts[0], 0);
	KUNIT_EXPECT_EQ(test, branch_seen[0].counts[1], 1 | 1 << 2 | 1 << 4 | 1 << 6);
	fixture_del(all);
	end_group(&g);
}

/* Samples of groups without PERF_SAMPLE_BRANCH_COUNTERS have no counts. */
static void counts_only_where_asked(struct kunit *test)
{
	static const u64 branches[MEMBERS] = { ANY_COUNTED, ANY_USER, ANY_USER, ANY_USER };
	struct fixture *b = test->priv;
	struct perf_event *other;
	struct group g;

	open_group(b, &g, branches);
	other = branch_open_stack(b, ANY_USER);
	branch_begin();
	add_group(&g);
	branch_add(other);
	OVERFLOW_EXPECT_SAMPLES(b, 2);
	KUNIT_EXPECT_EQ(test, branch_seen[0].has_counts + branch_seen[1].has_counts, 1);
	fixture_del(g.event[0]);
	forget_samples(b);
	OVERFLOW_EXPECT_SAMPLES(b, 1);
	KUNIT_EXPECT_FALSE(test, branch_seen[0].has_counts);
	branch_add(g.event[0]);
	fixture_del(other);
	end_group(&g);
}

static int open_errno(struct fixture *b, const struct perf_event_attr *attr,
		      struct perf_event *leader)
{
	struct perf_event *event = fixture_alloc(b, attr);
	int ret;

	if (leader)
		event->group_leader = leader;
	ret = fixture_init_event(event);
	if (!ret)
		fixture_close(event);

	return ret;
}

static void counts_rejected(struct kunit *test)
{
	static const u64 branches[MEMBERS] = { ANY_COUNTED, COUNTED_USER, COUNTED_USER, ANY_USER };
	struct perf_event_attr attr = { STACK(COUNTED_USER) };
	struct fixture *b = test->priv;
	struct perf_event *calls, *plain;
	struct group g;

	/*
	 * perf opens an event without branch types to find out whether the kernel supports counts.
	 */
	KUNIT_EXPECT_EQ(test, open_errno(b, &attr, NULL), 0);
	/* LBR call stacks have no counts, and events with edge detection have none. */
	attr.branch_sample_type = CALLS_USER | COUNTERS;
	KUNIT_EXPECT_EQ(test, open_errno(b, &attr, NULL), -EINVAL);
	attr.branch_sample_type = ANY_COUNTED;
	attr.type = PERF_TYPE_RAW;
	attr.config = 0xc4 | SELECT_EDGE;
	KUNIT_EXPECT_EQ(test, open_errno(b, &attr, NULL), -EINVAL);
	attr.config = 0xc4;
	KUNIT_EXPECT_EQ(test, open_errno(b, &attr, NULL), 0);
	/* Only fixed counter 2 counts this event. */
	attr.config = 0x0300;
	KUNIT_EXPECT_EQ(test, open_errno(b, &attr, NULL), -EINVAL);

	attr.config = 0xc4;
	attr.branch_sample_type = COUNTED_USER;
	plain = branch_open_attr(b, &(struct perf_event_attr) { .type = PERF_TYPE_HARDWARE });
	KUNIT_EXPECT_EQ(test, open_errno(b, &attr, plain), -EINVAL);
	fixture_close(plain);
	calls = branch_open_stack(b, CALLS_USER);
	attr.sample_period = 0;
	KUNIT_EXPECT_EQ(test, open_errno(b, &attr, calls), -EINVAL);
	fixture_close(calls);

	/* A fourth event with counts fits, a fifth does not. */
	open_group(b, &g, branches);
	KUNIT_EXPECT_EQ(test, open_errno(b, &attr, g.event[0]), 0);
	g.event[3]->hw.flags |= COREPMU_EVENT_BRANCH_COUNTERS;
	KUNIT_EXPECT_EQ(test, open_errno(b, &attr, g.event[0]), -EINVAL);
}

static struct kunit_case branch_count_cases[] = {
	KUNIT_CASE_PARAM(counts_in_group_order, branch_gen_counts_params),
	KUNIT_CASE_PARAM(counts_select_counters, branch_gen_counts_params),
	KUNIT_CASE_PARAM(counts_keep_place_of_disabled, branch_gen_counts_params),
	KUNIT_CASE_PARAM(counts_of_four_events, branch_gen_counts_params),
	KUNIT_CASE_PARAM(counts_exclude_earlier_records, branch_gen_counts_params),
	KUNIT_CASE_PARAM(counts_exclude_records_before_move, branch_gen_counts_params),
	KUNIT_CASE_PARAM(counts_only_of_shown_records, branch_gen_counts_params),
	KUNIT_CASE_PARAM(counts_only_where_asked, branch_gen_counts_params),
	KUNIT_CASE_PARAM(counts_rejected, branch_gen_counts_params),
	{ }
};

TESTBED_SUITE(branch_count, "corepmu_branch_counters");
