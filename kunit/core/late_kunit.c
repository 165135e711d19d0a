// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of late samples: a stop emits them, and perf core may then want the event to
 * stay stopped
 */
#include <kunit/test.h>

#include <linux/bits.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>

#include <corepmu/assign.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "fixture/testbed.h"

/* Mark the event as throttled, as perf_event_throttle() in kernel/events/core.c does. */
static void throttle_event(struct fixture *b, struct perf_event *event)
{
	event->hw.interrupts = U64_MAX;
}

/* Mark the event as at its limit of samples, as perf_event_disable_inatomic() does. */
static void reach_limit(struct fixture *b, struct perf_event *event)
{
	event->pending_disable = 1;
}

/* Perf core starts the event again: in a tick, or by an ioctl. */
static void start_again(struct perf_event *event)
{
	event->hw.interrupts = 0;
	event->pending_disable = 0;
	fixture_start_event(event, 0);
}

static void move_stopped(struct kunit *test,
			 void (*stop)(struct fixture *b, struct perf_event *event))
{
	struct fixture *b = test->priv;
	struct perf_event *mover, *first;

	mover = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 1000);
	first = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 0);
	corepmu_hw_set_counters(&first->hw,
				BIT_ULL(corepmu_first_choice(corepmu_hw_counters(&mover->hw))));
	KUNIT_ASSERT_EQ(test, fixture_add(mover, PERF_EF_START), 0);
	b->testbed->ops->hold(true);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1010, 0);
	b->on_sample = stop;
	KUNIT_EXPECT_EQ(test, fixture_add(first, PERF_EF_START), 0);
	b->on_sample = NULL;
	b->testbed->ops->hold(false);

	KUNIT_EXPECT_NE(test, mover->hw.idx, first->hw.idx);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_TRUE(test, mover->hw.state & PERF_HES_STOPPED);
	RUN_EXPECT_COUNT(b, TESTBED_CYCLES, 500, mover, 1010);

	start_again(mover);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 989, 1);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1, 2);
	KUNIT_EXPECT_EQ(test, fixture_read(mover), 2000);
	KUNIT_EXPECT_EQ(test, fixture_read(first), 1490);
}

/*
 * An event has an overflow that no interrupt has reported when the event moves. Perf core throttles
 * the event in its late sample: the event moves and stays stopped until perf core starts it.
 */
static void late_moves_throttled(struct kunit *test)
{
	move_stopped(test, throttle_event);
}

/* The late sample is the last one that PERF_EVENT_IOC_REFRESH allows: the event stays stopped. */
static void late_moves_at_limit(struct kunit *test)
{
	move_stopped(test, reach_limit);
}

static void power_up_stopped(struct kunit *test,
			     void (*stop)(struct fixture *b, struct perf_event *event))
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);
	unsigned long flags;

	b->testbed->ops->hold(true);
	fixture_run(b, TESTBED_CYCLES, 1010);
	b->on_sample = stop;
	local_irq_save(flags);
	corepmu_registers_changed(b->cpuc);
	local_irq_restore(flags);
	b->on_sample = NULL;
	b->testbed->ops->hold(false);

	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_TRUE(test, event->hw.state & PERF_HES_STOPPED);
	RUN_EXPECT_COUNT(b, TESTBED_CYCLES, 500, event, 1010);
	start_again(event);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 990, 2);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 2000);
}

/* The stop at power-down emits the late sample: a throttled event stays stopped at power-up. */
static void late_powers_up_throttled(struct kunit *test)
{
	power_up_stopped(test, throttle_event);
}

static void late_powers_up_at_limit(struct kunit *test)
{
	power_up_stopped(test, reach_limit);
}

/*
 * A tick stops an event with a frequency and starts it again. The event stays stopped if the late
 * sample of this stop is the last one that PERF_EVENT_IOC_REFRESH allows.
 */
static void late_tick_at_limit(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);

	b->testbed->ops->hold(true);
	fixture_run(b, TESTBED_CYCLES, 1010);
	b->on_sample = reach_limit;
	fixture_stop_event(event, PERF_EF_UPDATE);
	b->on_sample = NULL;
	b->testbed->ops->hold(false);
	fixture_start_event(event, PERF_EF_RELOAD);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_TRUE(test, event->hw.state & PERF_HES_STOPPED);
	RUN_EXPECT_COUNT(b, TESTBED_CYCLES, 500, event, 1010);

	start_again(event);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 990, 2);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 2000);
}

/* Perf core shortens the period of an event with a frequency, as perf_adjust_period() does. */
static void shorten_period(struct fixture *b, struct perf_event *event)
{
	event->hw.sample_period = 100;
	event->pmu->stop(event, PERF_EF_UPDATE);
	local64_set(&event->hw.period_left, 0);
	event->pmu->start(event, PERF_EF_RELOAD);
}

/* In the late sample perf core restarts the event with a shorter period. The event ends stopped. */
static void late_restarts(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);

	b->testbed->ops->hold(true);
	fixture_run(b, TESTBED_CYCLES, 1010);
	b->on_sample = shorten_period;
	fixture_del(event);
	b->on_sample = NULL;
	b->testbed->ops->hold(false);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_TRUE(test, event->hw.state & PERF_HES_STOPPED);
	KUNIT_EXPECT_EQ(test, b->cpuc->active, 0);
	RUN_EXPECT_COUNT(b, TESTBED_CYCLES, 500, event, 1010);

	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 99, 1);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1, 2);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1110);
}

static unsigned int depth, max_depth;

/* As perf_event_throttle_group(): throttle all events, the event of the sample too. */
static void throttle_all(struct fixture *b, struct perf_event *event)
{
	struct perf_event *other;

	max_depth = max(max_depth, ++depth);
	list_for_each_entry(other, &b->open, event_entry) {
		throttle_event(b, other);
		other->pmu->stop(other, 0);
	}
	depth--;
}

/*
 * Events of a group overflow together. In the first event's sample perf core throttles the group
 * (from Linux 6.16 on). The other events emit no sample within that sample, and keep perf core's
 * mark: without it no tick would start the group again. Their samples come after their next start.
 */
static void late_throttles_group(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event[3];
	unsigned int i;

	depth = 0;
	max_depth = 0;
	for (i = 0; i < ARRAY_SIZE(event); i++) {
		event[i] = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 1000);
		if (fixture_add(event[i], PERF_EF_START))
			kunit_skip(test, "cycles count on %u counters", i);
	}
	b->on_sample = throttle_all;
	fixture_run(b, TESTBED_CYCLES, 1000);
	b->on_sample = NULL;
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, max_depth, 1);
	for (i = 0; i < ARRAY_SIZE(event); i++) {
		KUNIT_EXPECT_EQ_MSG(test, event[i]->hw.interrupts, U64_MAX, "event %u", i);
		KUNIT_EXPECT_TRUE_MSG(test, event[i]->hw.state & PERF_HES_STOPPED, "event %u", i);
	}
	fixture_run(b, TESTBED_CYCLES, 500);
	for (i = 0; i < ARRAY_SIZE(event); i++)
		start_again(event[i]);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 999, 3);
	/* The postponed samples came with the 1001st count. */
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 2, 6);
	for (i = 0; i < ARRAY_SIZE(event); i++)
		KUNIT_EXPECT_EQ_MSG(test, fixture_read(event[i]), 2001, "event %u", i);
}

/*
 * Perf core throttles an event while the driver starts it: the event counts. Its next sample stops
 * the event, and keeps the mark.
 */
static void late_stops_throttled(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);

	throttle_event(b, event);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1000, 1);
	KUNIT_EXPECT_EQ(test, event->hw.interrupts, U64_MAX);
	KUNIT_EXPECT_TRUE(test, event->hw.state & PERF_HES_STOPPED);
	RUN_EXPECT_COUNT(b, TESTBED_CYCLES, 500, event, 1000);
	start_again(event);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1000, 2);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 2000);
}

static struct kunit_case late_cases[] = {
	KUNIT_CASE_PARAM(late_moves_throttled, testbed_gen_params),
	KUNIT_CASE_PARAM(late_moves_at_limit, testbed_gen_params),
	KUNIT_CASE_PARAM(late_powers_up_throttled, testbed_gen_params),
	KUNIT_CASE_PARAM(late_powers_up_at_limit, testbed_gen_params),
	KUNIT_CASE_PARAM(late_tick_at_limit, testbed_gen_params),
	KUNIT_CASE_PARAM(late_restarts, testbed_gen_params),
	KUNIT_CASE_PARAM(late_throttles_group, testbed_gen_params),
	KUNIT_CASE_PARAM(late_stops_throttled, testbed_gen_params),
	{ }
};

TESTBED_SUITE(late, "corepmu_late");
