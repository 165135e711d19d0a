// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of large PEBS: an interrupt for many records, Intel CPUs
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include <corepmu/features.h>
#include <corepmu/pmu.h>

#include "fixture/testbed.h"
#include "models/x86/pebs.h"
#include "models/x86/access.h"
#include "fixture.h"
#include "x86/x86.h"

/* Large PEBS: counts and IPs are as with an interrupt for each record. */
static void large_samples_later(struct kunit *test)
{
	const struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_alloc(b, &attr);
	unsigned int before, samples, most = 0, i;

	event->hw.target = current;
	KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
	pebs_model()->pebs_ip = IP;
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, testbed_cb_users, 1);
	fixture_forget(b);
	before = pebs_model()->nmis;
	fixture_run(b, TESTBED_INSTRUCTIONS, 1050);
	KUNIT_EXPECT_EQ(test, pebs_model()->nmis, before);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1050);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 10);
	fixture_run(b, TESTBED_INSTRUCTIONS, 149);
	fixture_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 11);

	/*
	 * One instruction of the period is left, but a counter overflows after 2 at the earliest.
	 * So the overflow comes one instruction late, and the next period is shorter.
	 */
	fixture_start_event(event, PERF_EF_RELOAD);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 2, 12);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 99, event, 1300);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 13);

	/*
	 * A full buffer or 512 records cause an interrupt. Of architectural records, which may be
	 * shorter, more fit the buffer.
	 */
	for (i = 0; i < 4200; i++) {
		samples = b->nr_samples;
		fixture_run(b, TESTBED_INSTRUCTIONS, 100);
		most = max(most, b->nr_samples - samples);
	}
	KUNIT_EXPECT_LT(test, most, 1000);
	KUNIT_EXPECT_GT(test, most, 200);
	KUNIT_EXPECT_LT(test, pebs_model()->nmis, before + 20);
	fixture_del(event);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 4213);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 421300);
	KUNIT_EXPECT_EQ(test, testbed_cb_users, 0);
}

/*
 * If perf core notifies of every task switch, per-CPU events use large PEBS too, except with branch
 * records: a sched_out makes the samples.
 */
static void large_per_cpu(struct kunit *test)
{
	struct perf_event_attr branches = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct fixture *b = test->priv;
	struct perf_event *event;
	unsigned int before;

	branches.sample_type = PERF_SAMPLE_BRANCH_STACK;
	branches.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	KUNIT_EXPECT_EQ(test, event->hw.flags & COREPMU_EVENT_LARGE, 0);
	fixture_close(event);

	testbed_every_switch = true;
	if (to_x86(b->pmu)->pebs_branches) {
		KUNIT_EXPECT_EQ(test, fixture_open(b, &branches, &event), 0);
		KUNIT_EXPECT_EQ(test, event->hw.flags & COREPMU_EVENT_LARGE, 0);
		fixture_close(event);
	}
	event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	KUNIT_EXPECT_NE(test, event->hw.flags & COREPMU_EVENT_LARGE, 0);
	KUNIT_EXPECT_NE(test, event->attach_state & PERF_ATTACH_SCHED_CB, 0);
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, testbed_cb_users, 1);
	fixture_forget(b);
	before = pebs_model()->nmis;
	fixture_run(b, TESTBED_INSTRUCTIONS, 1000);
	KUNIT_EXPECT_EQ(test, pebs_model()->nmis, before);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	corepmu_features_sched_task(true);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	corepmu_features_sched_task(false);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 10);
	fixture_del(event);
	KUNIT_EXPECT_EQ(test, testbed_cb_users, 0);
}

/*
 * Perf core throttles by overflows: an interrupt is one overflow, whatever its number of records.
 */
static void large_is_one_overflow(struct kunit *test)
{
	const struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_alloc(b, &attr);
	unsigned int before;

	event->hw.target = current;
	KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
	pebs_model()->pebs_ip = IP;
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_forget(b);
	b->throttle = true;
	event->hw.interrupts_seq = 0;
	event->hw.interrupts = 0;
	before = pebs_model()->nmis;
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 4200 * 100, event, 4200 * 100);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 4200);
	KUNIT_EXPECT_EQ(test, event->hw.interrupts, pebs_model()->nmis - before);

	/*
	 * An event with notifications has an interrupt for each record, so that they are on time.
	 */
	fixture_stop_event(event, PERF_EF_UPDATE);
	atomic_set(&event->event_limit, 1000);
	fixture_start_event(event, PERF_EF_RELOAD);
	before = pebs_model()->nmis;
	fixture_run(b, TESTBED_INSTRUCTIONS, 10 * 100);
	KUNIT_EXPECT_EQ(test, pebs_model()->nmis, before + 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&event->event_limit), 990);
	b->throttle = false;
}

#define KERNEL_IP	0xffffffff81401000ULL

static const u64 places[] = {
	IP, IP + 16, KERNEL_IP, KERNEL_IP + 16, IP + 32, IP + 32, KERNEL_IP + 32,
};

static u64 shown_ips[ARRAY_SIZE(places)];
static bool shown_user[ARRAY_SIZE(places)], shown_exact[ARRAY_SIZE(places)];
static unsigned int nr_shown;

static void note_place(struct fixture *b, struct perf_event *event)
{
	struct pt_regs regs = *b->sample_regs;

	if (nr_shown >= ARRAY_SIZE(places))
		return;
	shown_ips[nr_shown] = regs.ip;
	shown_user[nr_shown] = user_mode(&regs);
	shown_exact[nr_shown++] = regs.flags & PERF_EFLAGS_EXACT;
}

/* The samples of one drain show the place of each record, in user space and in the kernel. */
static void large_shows_places(struct kunit *test)
{
	const struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_alloc(b, &attr);

	event->hw.target = current;
	KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_forget(b);
	for (unsigned int i = 0; i < ARRAY_SIZE(places); i++) {
		pebs_model()->pebs_ip = places[i];
		fixture_run(b, TESTBED_INSTRUCTIONS, 100);
	}
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	nr_shown = 0;
	b->on_sample = note_place;
	fixture_stop_event(event, PERF_EF_UPDATE);
	b->on_sample = NULL;
	KUNIT_ASSERT_EQ(test, nr_shown, ARRAY_SIZE(places));
	for (unsigned int i = 0; i < ARRAY_SIZE(places); i++) {
		KUNIT_EXPECT_EQ_MSG(test, shown_ips[i], places[i], "record %u", i);
		KUNIT_EXPECT_EQ_MSG(test, shown_user[i], places[i] < KERNEL_IP, "record %u", i);
		KUNIT_EXPECT_TRUE_MSG(test, shown_exact[i], "record %u", i);
	}
	fixture_del(event);
	fixture_close(event);
}

static struct perf_event *throttled;

static void throttle_other(struct fixture *b, struct perf_event *event)
{
	if (event != throttled && !event->attr.precise_ip)
		b->pmu->perf_pmu.stop(throttled, 0);
}

static void take_late_nmi(void)
{
	x86_model_hold(false);
}

/*
 * A late NMI interrupts a drain after the first event's update. In its sample perf core throttles
 * the group. No count of the second event is lost.
 */
static void large_throttled_in_drain(struct kunit *test)
{
	const struct perf_event_attr precise[] = {
		precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100),
		precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 1000),
	};
	struct fixture *b = test->priv;
	struct perf_event *event[ARRAY_SIZE(precise)], *plain;

	for (unsigned int i = 0; i < ARRAY_SIZE(precise); i++) {
		event[i] = fixture_alloc(b, &precise[i]);
		event[i]->hw.target = current;
		KUNIT_ASSERT_EQ(test, fixture_init_event(event[i]), 0);
	}
	plain = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100);
	pebs_model()->pebs_ip = IP;
	for (unsigned int i = 0; i < ARRAY_SIZE(precise); i++)
		if (fixture_add(event[i], PERF_EF_START))
			kunit_skip(test, "one counter has precise events");
	KUNIT_ASSERT_EQ(test, fixture_add(plain, PERF_EF_START), 0);
	fixture_forget(b);
	throttled = event[event[0]->hw.idx < event[1]->hw.idx];
	fixture_run(b, TESTBED_INSTRUCTIONS, 3210);
	x86_model_hold(true);
	fixture_run(b, TESTBED_BRANCHES, 100);
	b->on_sample = throttle_other;
	x86_model_after_rdpmc = take_late_nmi;
	corepmu_features_sched_task(false);
	b->on_sample = NULL;
	KUNIT_EXPECT_NULL(test, x86_model_after_rdpmc);
	KUNIT_EXPECT_TRUE(test, throttled->hw.state & PERF_HES_STOPPED);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 32 + 3 + 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(precise); i++) {
		KUNIT_EXPECT_EQ_MSG(test, local64_read(&event[i]->count), 3210, "event %u", i);
		KUNIT_EXPECT_EQ_MSG(test, local64_read(&event[i]->hw.period_left), i ? 790 : 90,
				    "event %u", i);
	}
}

static struct kunit_case large_cases[] = {
	KUNIT_CASE_PARAM(large_samples_later, pebs_gen_params),
	KUNIT_CASE_PARAM(large_per_cpu, pebs_gen_params),
	KUNIT_CASE_PARAM(large_is_one_overflow, pebs_gen_params),
	KUNIT_CASE_PARAM(large_shows_places, pebs_gen_params),
	KUNIT_CASE_PARAM(large_throttled_in_drain, pebs_gen_params),
	{ }
};

TESTBED_SUITE(large, "corepmu_pebs_large");
