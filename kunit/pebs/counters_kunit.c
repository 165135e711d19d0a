// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of counter values in PEBS records (counters snapshotting)
 */
#include <kunit/test.h>

#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include <corepmu/counter.h>
#include <corepmu/pmu.h>

#include "fixture/testbed.h"
#include "models/x86/pebs.h"
#include "models/x86/access.h"
#include "fixture.h"
#include "x86/pebs/pebs.h"
#include "x86/pebs/precise.h"
#include "x86/x86.h"

/* First format with counter values */
#define FORMAT_COUNTERS	6
#define SKID		30
#define MAX_NOTES	64

static struct perf_event *leader, *member;
static unsigned int nr_notes;

/* Counts of the group in each sample, as perf core writes them */
static u64 leader_counts[MAX_NOTES], member_counts[MAX_NOTES];

static bool has_counters(const struct testbed *testbed)
{
	const struct x86_model_cpu *cpu = testbed->cpu;

	return pebs_is_there(testbed) && cpu->pebs >= FORMAT_COUNTERS;
}

static const void *counters_gen_params(const void *prev, char *desc)
{
	return testbed_gen_matching(prev, desc, has_counters);
}

/* Like perf_output_read_group(): read all events of the group but the sampled one. */
static void note_counts(struct fixture *b, struct perf_event *event)
{
	struct perf_event *other = event == leader ? member : leader;

	other->pmu->read(other);
	if (nr_notes == MAX_NOTES)
		return;
	leader_counts[nr_notes] = local64_read(&leader->count);
	member_counts[nr_notes++] = local64_read(&member->count);
}

static struct perf_event_attr sampling_attr(u64 period)
{
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, period);

	attr.sample_type = PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP;

	return attr;
}

static struct perf_event_attr counting_attr(void)
{
	return (struct perf_event_attr) {
		.type		= PERF_TYPE_HARDWARE,
		.config		= PERF_COUNT_HW_INSTRUCTIONS,
	};
}

static struct perf_event *open_in_group(struct fixture *b, struct perf_event *group,
					const struct perf_event_attr *attr, bool large)
{
	struct perf_event *event = fixture_alloc(b, attr);

	if (large)
		event->hw.target = current;
	fixture_join(event, group);
	if (group)
		group->nr_siblings++;

	return event;
}

static void open_group(struct fixture *b, const struct perf_event_attr *first,
		       const struct perf_event_attr *second, bool large)
{
	leader = open_in_group(b, NULL, first, large);
	member = open_in_group(b, leader, second, large);
	b->on_sample = note_counts;
	pebs_model()->pebs_ip = IP;
	pebs_model()->skid = SKID;
}

static void start_group(struct fixture *b)
{
	KUNIT_ASSERT_EQ(b->test, fixture_add(leader, PERF_EF_START), 0);
	KUNIT_ASSERT_EQ(b->test, fixture_add(member, PERF_EF_START), 0);
	fixture_forget(b);
	nr_notes = 0;
}

static void close_group(struct fixture *b)
{
	b->on_sample = NULL;
	pebs_model()->skid = 0;
	fixture_close(member);
	fixture_close(leader);
}

static void expect_notes(struct kunit *test, unsigned int nr, u64 period)
{
	KUNIT_ASSERT_EQ(test, nr_notes, nr);
	for (unsigned int i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ(test, leader_counts[i], (i + 1) * period);
		KUNIT_EXPECT_EQ(test, member_counts[i], (i + 1) * period);
	}
}

/* The interrupt comes later than the record, and the sample has the counts at the record. */
static void counters_at_record(struct kunit *test)
{
	const struct perf_event_attr first = sampling_attr(100), second = counting_attr();
	struct fixture *b = test->priv;

	open_group(b, &first, &second, false);
	start_group(b);
	fixture_run(b, TESTBED_INSTRUCTIONS, 1050);
	expect_notes(test, 10, 100);
	KUNIT_EXPECT_EQ(test, fixture_read(leader), 1050);
	KUNIT_EXPECT_EQ(test, fixture_read(member), 1050);
	fixture_del(leader);
	fixture_del(member);
	KUNIT_EXPECT_EQ(test, local64_read(&leader->count), 1050);
	KUNIT_EXPECT_EQ(test, local64_read(&member->count), 1050);
	close_group(b);
}

static void counters_of_sibling(struct kunit *test)
{
	const struct perf_event_attr first = counting_attr(), second = sampling_attr(100);
	struct fixture *b = test->priv;

	open_group(b, &first, &second, false);
	KUNIT_EXPECT_NE(test, leader->hw.flags & EVENT_RECORDED, 0);
	start_group(b);
	fixture_run(b, TESTBED_INSTRUCTIONS, 550);
	expect_notes(test, 5, 100);
	KUNIT_EXPECT_EQ(test, fixture_read(leader), 550);
	/* The member is deleted first, then the precise event. */
	b->testbed->ops->hold(true);
	fixture_run(b, TESTBED_INSTRUCTIONS, 70);
	fixture_del(leader);
	fixture_del(member);
	b->testbed->ops->hold(false);
	expect_notes(test, 6, 100);
	KUNIT_EXPECT_EQ(test, local64_read(&leader->count), 620);
	close_group(b);
}

/* Reads between the record and its interrupt change no sample. */
static void counters_after_read(struct kunit *test)
{
	const struct perf_event_attr first = sampling_attr(100), second = counting_attr();
	struct fixture *b = test->priv;

	open_group(b, &first, &second, false);
	start_group(b);
	b->testbed->ops->hold(true);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 120, member, 120);
	KUNIT_EXPECT_EQ(test, fixture_read(leader), 120);
	b->testbed->ops->hold(false);
	expect_notes(test, 1, 100);
	fixture_run(b, TESTBED_INSTRUCTIONS, 79);
	KUNIT_EXPECT_EQ(test, nr_notes, 1);
	fixture_run(b, TESTBED_INSTRUCTIONS, 1 + SKID);
	expect_notes(test, 2, 100);
	KUNIT_EXPECT_EQ(test, fixture_read(member), 200 + SKID);
	fixture_del(leader);
	fixture_del(member);
	close_group(b);
}

/* A precise event that stops before its record's interrupt keeps the counts after the record. */
static void counters_after_stop(struct kunit *test)
{
	const struct perf_event_attr first = sampling_attr(100), second = counting_attr();
	struct fixture *b = test->priv;

	open_group(b, &first, &second, false);
	start_group(b);
	b->testbed->ops->hold(true);
	fixture_run(b, TESTBED_INSTRUCTIONS, 120);
	fixture_del(leader);
	fixture_del(member);
	b->testbed->ops->hold(false);
	expect_notes(test, 1, 100);
	KUNIT_EXPECT_EQ(test, local64_read(&leader->count), 120);
	KUNIT_EXPECT_EQ(test, local64_read(&member->count), 120);
	close_group(b);
}

/* With large PEBS each sample has the counts of its own record. */
static void counters_of_each_record(struct kunit *test)
{
	const struct perf_event_attr first = sampling_attr(100), second = counting_attr();
	struct fixture *b = test->priv;
	unsigned int before;

	open_group(b, &first, &second, true);
	start_group(b);
	before = pebs_model()->nmis;
	fixture_run(b, TESTBED_INSTRUCTIONS, 1050);
	KUNIT_EXPECT_EQ(test, pebs_model()->nmis, before);
	KUNIT_EXPECT_EQ(test, nr_notes, 0);
	KUNIT_EXPECT_EQ(test, fixture_read(member), 1050);
	expect_notes(test, 10, 100);
	/* A member that stops has its last count in the samples of earlier records. */
	fixture_run(b, TESTBED_INSTRUCTIONS, 500);
	fixture_stop_event(member, PERF_EF_UPDATE);
	expect_notes(test, 15, 100);
	fixture_start_event(member, 0);
	fixture_run(b, TESTBED_INSTRUCTIONS, 500);
	fixture_del(leader);
	fixture_del(member);
	expect_notes(test, 20, 100);
	KUNIT_EXPECT_EQ(test, local64_read(&leader->count), 2050);
	KUNIT_EXPECT_EQ(test, local64_read(&member->count), 2050);
	close_group(b);
}

/* Records lack counts of software events: each record interrupts. */
static void counters_incomplete(struct kunit *test)
{
	const struct perf_event_attr first = sampling_attr(100), second = counting_attr();
	struct fixture *b = test->priv;
	unsigned int before;

	open_group(b, &first, &second, true);
	leader->nr_siblings++;
	start_group(b);
	before = pebs_model()->nmis;
	fixture_run(b, TESTBED_INSTRUCTIONS, 550);
	KUNIT_EXPECT_EQ(test, pebs_model()->nmis, before + 5);
	expect_notes(test, 5, 100);
	fixture_del(leader);
	fixture_del(member);
	leader->nr_siblings--;
	close_group(b);
}

/* Return the counters that the model records. */
static u64 find_recorded(const struct fixture *b)
{
	const struct x86_model *m = pebs_model();
	u64 counters = 0;

	if (pebs_cpu(b)->pebs != PEBS_MODEL_ARCH)
		return m->pebs_data & BIT(4) ?
		       (m->pebs_data >> 32 & 0xffff) | (m->pebs_data >> 48 & 0xff) << 32 : 0;
	for (int idx = 0; idx < ARRAY_SIZE(m->pebs_cfg_c); idx++)
		if (m->pebs_cfg_c[idx] & BIT_ULL(35))
			counters |= BIT_ULL(idx);

	return counters;
}

/* Records have the counters of events that count, and no others. */
static void counters_registers(struct kunit *test)
{
	const struct perf_event_attr first = sampling_attr(100), second = counting_attr();
	struct fixture *b = test->priv;
	struct perf_event *other;
	u64 both;

	other = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 0);
	KUNIT_ASSERT_EQ(test, fixture_add(other, PERF_EF_START), 0);
	open_group(b, &first, &second, false);
	KUNIT_EXPECT_EQ(test, find_recorded(b), 0);
	start_group(b);
	both = BIT_ULL(leader->hw.idx) | BIT_ULL(member->hw.idx);
	KUNIT_EXPECT_EQ(test, find_recorded(b), both);
	fixture_stop_event(member, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, find_recorded(b), BIT_ULL(leader->hw.idx));
	fixture_start_event(member, 0);
	KUNIT_EXPECT_EQ(test, find_recorded(b), both);
	fixture_del(leader);
	fixture_del(member);
	close_group(b);

	/* Without PERF_SAMPLE_READ records have no counters. */
	leader = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	KUNIT_ASSERT_EQ(test, fixture_add(leader, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, find_recorded(b), 0);
}

#define SLOTS		0x0400
#define METRIC		0x8000

static const struct x86_model_cpu with_metrics = {
	.name = "PEBS format 6 with metrics", .family = 6, .model = 0x6a, .version = 5,
	.nr_gp = 8, .gp_width = 48, .nr_fixed = 4, .fixed_map = 0xf, .fixed_width = 48,
	.full_width = true, .nr_events = 8, .metrics = 4, .pebs = 6,
};

static struct testbed metrics_testbed;

static struct perf_event *open_raw(struct fixture *b, struct perf_event *group, u64 config)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_RAW, .config = config };

	return open_in_group(b, group, &attr, false);
}

/* Count slots, and set PERF_METRICS to the share of one metric in all of them. */
static void run_slots(u64 slots, u8 share)
{
	x86_model_run(SLOTS, true, slots);
	pebs_model()->metrics = share;
}

/* A sample has the counts of slots and of a metric at the record, not at the interrupt. */
static void counters_of_topdown(struct kunit *test)
{
	const struct perf_event_attr attr = sampling_attr(100);
	struct perf_event *sampling;
	struct fixture *b;

	metrics_testbed = *testbed_by_name("intel-pebs-fmt6");
	metrics_testbed.cpu = &with_metrics;
	b = fixture_start(test, &metrics_testbed);
	leader = open_raw(b, NULL, SLOTS);
	member = open_raw(b, leader, METRIC);
	sampling = open_in_group(b, leader, &attr, false);
	b->on_sample = note_counts;
	start_group(b);
	KUNIT_ASSERT_EQ(test, fixture_add(sampling, PERF_EF_START), 0);
	b->testbed->ops->hold(true);
	run_slots(1000, 51);
	fixture_run(b, TESTBED_INSTRUCTIONS, 100);
	run_slots(200000, 85);
	b->testbed->ops->hold(false);
	KUNIT_ASSERT_EQ(test, nr_notes, 1);
	KUNIT_EXPECT_EQ(test, leader_counts[0], 1000);
	KUNIT_EXPECT_EQ(test, member_counts[0], 200);
	KUNIT_EXPECT_EQ(test, fixture_read(leader), 201000);
	KUNIT_EXPECT_EQ(test, fixture_read(member), 67000);
	/* The registers are 0 again. */
	run_slots(300000, 51);
	fixture_run(b, TESTBED_INSTRUCTIONS, 100);
	KUNIT_ASSERT_EQ(test, nr_notes, 2);
	KUNIT_EXPECT_EQ(test, leader_counts[1], 501000);
	KUNIT_EXPECT_EQ(test, member_counts[1], 127000);
	fixture_del(leader);
	fixture_del(member);
	fixture_del(sampling);
	KUNIT_EXPECT_EQ(test, local64_read(&leader->count), 501000);
	KUNIT_EXPECT_EQ(test, local64_read(&member->count), 127000);
	fixture_end(b);
}

/* With metrics_clear, records have neither the slots nor the metrics of the group. */
static void counters_without_cleared_metrics(struct kunit *test)
{
	const struct perf_event_attr slots = {
		.type = PERF_TYPE_RAW, .config = SLOTS, .config1 = 1,
	};
	const struct perf_event_attr attr = sampling_attr(100);
	static struct x86_model_cpu with_clear;
	struct perf_event *sampling;
	struct fixture *b;

	with_clear = with_metrics;
	with_clear.metrics_clear = true;
	metrics_testbed = *testbed_by_name("intel-pebs-fmt6");
	metrics_testbed.cpu = &with_clear;
	b = fixture_start(test, &metrics_testbed);
	leader = open_in_group(b, NULL, &slots, false);
	member = open_raw(b, leader, METRIC);
	sampling = open_in_group(b, leader, &attr, false);
	KUNIT_EXPECT_EQ(test, leader->hw.flags & EVENT_RECORDED, 0);
	KUNIT_EXPECT_EQ(test, member->hw.flags & EVENT_RECORDED, 0);
	KUNIT_EXPECT_NE(test, sampling->hw.flags & EVENT_RECORDED, 0);
	fixture_end(b);
}

/* A reload overwrites the counts since the overflow; the event gets them from the record. */
static void counters_keep_lost_counts(struct kunit *test)
{
	const struct perf_event_attr first = sampling_attr(100), second = counting_attr();
	struct x86_pebs_record record = { };
	struct fixture *b = test->priv;
	u64 group[4];

	open_group(b, &first, &second, false);
	start_group(b);
	fixture_run(b, TESTBED_INSTRUCTIONS, 40);
	fixture_read(leader);
	fixture_read(member);
	/* 60 counts until the overflow, and 7 until the reload */
	record.counters = BIT_ULL(leader->hw.idx);
	record.counts = group;
	group[0] = BIT_ULL(leader->hw.idx) | BIT_ULL(member->hw.idx);
	group[1] = 0;
	group[2 + (leader->hw.idx > member->hw.idx)] = 7;
	group[2 + (leader->hw.idx < member->hw.idx)] = local64_read(&member->hw.prev_count) + 67;
	x86_pebs_counters_begin(b->cpuc);
	x86_pebs_counters_show(b->cpuc, &record);
	KUNIT_EXPECT_EQ(test, local64_read(&leader->count), 107);
	KUNIT_EXPECT_EQ(test, local64_read(&member->count), 107);
	KUNIT_EXPECT_TRUE(test, x86_pebs_shows_record());
	x86_pebs_counters_end(b->cpuc);
	KUNIT_EXPECT_FALSE(test, x86_pebs_shows_record());
	/* x86_pebs_counters_show() ignores a record with counters that are no longer selected. */
	x86_pebs_counters_show(b->cpuc, &record);
	KUNIT_EXPECT_FALSE(test, x86_pebs_shows_record());
	/* The drain updates the sampled event from its reloaded counter: 60 counts more. */
	KUNIT_EXPECT_EQ(test, local64_read(&leader->count), 47);
	KUNIT_EXPECT_EQ(test, local64_read(&member->count), 40);
	fixture_del(leader);
	fixture_del(member);
	close_group(b);
}

/* A counters group that is cut off, or has another length, is invalid. */
static void counters_parsed(struct kunit *test)
{
	enum { BASIC = 4, COUNTS = 2 + 3, WORDS = BASIC + COUNTS };
	const u64 size = WORDS * sizeof(u64);
	u64 words[WORDS] = {
		BIT(4) | size << 48, IP, BIT(0), 0, BIT(0) | BIT(5) | BIT_ULL(33), 0, 10, 11, 12,
	};
	struct x86_pebs_record record;

	KUNIT_EXPECT_EQ(test, size, x86_pebs_size(FORMAT_COUNTERS, BIT(4) | BIT_ULL(32) |
						  BIT_ULL(37) | BIT_ULL(49)));
	KUNIT_ASSERT_TRUE(test, x86_pebs_parse(FORMAT_COUNTERS, words, size, &record));
	KUNIT_EXPECT_EQ(test, record.size, size);
	KUNIT_EXPECT_PTR_EQ(test, record.counts, (const u64 *)&words[BASIC]);
	for (unsigned int nr = 0; nr < WORDS; nr++) {
		KUNIT_EXPECT_FALSE(test, x86_pebs_parse(FORMAT_COUNTERS, words,
							nr * sizeof(u64), &record));
		words[0] = BIT(4) | (nr * sizeof(u64)) << 48;
		KUNIT_EXPECT_FALSE(test, x86_pebs_parse(FORMAT_COUNTERS, words, size, &record));
		words[0] = BIT(4) | size << 48;
	}
	words[BASIC] |= BIT(6);
	KUNIT_EXPECT_FALSE(test, x86_pebs_parse(FORMAT_COUNTERS, words, size, &record));
}

/* Architectural: an odd number of counters is followed by an unused word. */
static void counters_parsed_arch(struct kunit *test)
{
	enum { HEADER = 2, BASIC = 6, COUNTS = 2 + 3 + 1, WORDS = HEADER + BASIC + COUNTS };
	const u64 format = BIT_ULL(63) | BIT_ULL(36), size = WORDS * sizeof(u64);
	u64 words[WORDS] = { format | size };
	struct x86_pebs_record record;

	words[HEADER + BASIC] = BIT(0) | BIT(5) | BIT_ULL(33);
	KUNIT_ASSERT_TRUE(test, x86_pebs_arch_parse(words, size, &record));
	KUNIT_EXPECT_PTR_EQ(test, record.counts, (const u64 *)&words[HEADER + BASIC]);
	for (unsigned int nr = 0; nr < WORDS; nr += 2) {
		KUNIT_EXPECT_FALSE(test, x86_pebs_arch_parse(words, nr * sizeof(u64), &record));
		words[0] = format | (nr * sizeof(u64));
		KUNIT_EXPECT_FALSE(test, x86_pebs_arch_parse(words, size, &record));
		words[0] = format | size;
	}
	KUNIT_EXPECT_EQ(test, x86_pebs_arch_groups(BIT(4) | BIT_ULL(32)), BIT_ULL(36));
	KUNIT_EXPECT_EQ(test, x86_pebs_arch_groups(BIT(4) | BIT_ULL(49)), BIT_ULL(37));
}

/* A refused event with counts in its samples leaves the other events of its group alone. */
static void counters_of_a_refused_event(struct kunit *test)
{
	struct perf_event_attr attr = sampling_attr(1);
	const struct perf_event_attr first = counting_attr();
	struct fixture *b = test->priv;
	struct perf_event *event;

	attr.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	leader = open_in_group(b, NULL, &first, false);
	event = fixture_alloc(b, &attr);
	event->group_leader = leader;
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), -EOPNOTSUPP);
	KUNIT_EXPECT_FALSE(test, leader->hw.flags & EVENT_RECORDED);
}

static struct kunit_case counters_cases[] = {
	KUNIT_CASE_PARAM(counters_of_a_refused_event, counters_gen_params),
	KUNIT_CASE_PARAM(counters_at_record, counters_gen_params),
	KUNIT_CASE_PARAM(counters_of_sibling, counters_gen_params),
	KUNIT_CASE_PARAM(counters_after_read, counters_gen_params),
	KUNIT_CASE_PARAM(counters_after_stop, counters_gen_params),
	KUNIT_CASE_PARAM(counters_of_each_record, counters_gen_params),
	KUNIT_CASE_PARAM(counters_incomplete, counters_gen_params),
	KUNIT_CASE_PARAM(counters_registers, counters_gen_params),
	KUNIT_CASE_PARAM(counters_keep_lost_counts, counters_gen_params),
	{ }
};

TESTBED_SUITE(counters, "corepmu_pebs_counters");

static struct kunit_case parse_cases[] = {
	KUNIT_CASE(counters_of_topdown),
	KUNIT_CASE(counters_without_cleared_metrics),
	KUNIT_CASE(counters_parsed),
	KUNIT_CASE(counters_parsed_arch),
	{ }
};

TEST_SUITE(parse, "corepmu_pebs_counters_parse", NULL, NULL);
