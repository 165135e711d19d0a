// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of core/frequency.c: the first period of an event with a frequency, on every
 * testbed
 */
#include <kunit/test.h>

#include <linux/jiffies.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/time64.h>

#include <corepmu/pmu.h>

#include "fixture/testbed.h"

#define RATE	1000
/* The first period for 500 million events a second at RATE, and a quarter of it for the probe */
#define GUESS	499999
#define PROBE	125000

static struct perf_event *open_with_rate(struct fixture *b, u64 rate)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
		.freq = 1, .sample_freq = rate,
	};
	struct perf_event *event;

	KUNIT_ASSERT_EQ(b->test, fixture_open(b, &attr, &event), 0);

	return event;
}

/* Open an event and start it now. */
static struct perf_event *start_with_rate(struct fixture *b, u64 rate)
{
	struct perf_event *event = open_with_rate(b, rate);

	event->state = PERF_EVENT_STATE_ACTIVE;
	event->tstamp = testbed_time;
	KUNIT_ASSERT_EQ(b->test, fixture_add(event, PERF_EF_START), 0);
	fixture_forget(b);

	return event;
}

static s64 counter_left(const struct perf_event *event)
{
	return (0 - local64_read(&event->hw.prev_count)) & corepmu_hw_value_mask(&event->hw);
}

/* Count @nr events in @ns. */
static void count_in(struct fixture *b, u64 nr, u64 ns)
{
	testbed_time += ns;
	fixture_run(b, TESTBED_CYCLES, nr);
}

/*
 * Do what perf core does in a tick. @period: the period that perf core computes from the tick's
 * count
 */
static void tick(struct perf_event *event, u64 period)
{
	fixture_stop_event(event, PERF_EF_UPDATE);
	event->hw.sample_period = period;
	fixture_start_event(event, PERF_EF_RELOAD);
}

/* The first probe comes after a quarter of the period that is guessed from the event's type. */
static void freq_starts_with_guess(struct kunit *test)
{
	static const struct {
		u64 config, rate, period, probe;
	} table[] = {
		{ PERF_COUNT_HW_CPU_CYCLES, 4000, 124999, 31250 },
		{ PERF_COUNT_HW_INSTRUCTIONS, 99, 5050505, 1262626 },
		{ PERF_COUNT_HW_CPU_CYCLES, 1, 499999999, 125000000 },
		{ PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 4000, 124999, 7812 },
	};
	struct fixture *b = test->priv;
	struct perf_event *event;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		const struct perf_event_attr attr = {
			.type = PERF_TYPE_HARDWARE, .config = table[i].config,
			.freq = 1, .sample_freq = table[i].rate,
		};

		KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
		KUNIT_EXPECT_EQ(test, event->hw.sample_period, table[i].period);
		KUNIT_EXPECT_EQ(test, event->hw.last_period, table[i].period);
		KUNIT_EXPECT_EQ(test, local64_read(&event->hw.period_left), table[i].period);
		event->tstamp = testbed_time;
		KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		KUNIT_EXPECT_EQ(test, counter_left(event), table[i].probe);
		fixture_remove(event);
	}
}

/* A probe emits no sample. The first sample comes after one period, and shows that period. */
static void freq_probe_finds_period(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);
	/* PROBE events take a tenth of the time between two samples. */
	const u64 period = 10 * PROBE;

	KUNIT_EXPECT_EQ(test, counter_left(event), PROBE);
	count_in(b, PROBE, NSEC_PER_SEC / RATE / 10);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, period);
	KUNIT_EXPECT_EQ(test, counter_left(event), period - PROBE);
	KUNIT_EXPECT_EQ(test, fixture_read(event), PROBE);

	count_in(b, period - PROBE - 1, NSEC_PER_SEC / RATE * 9 / 10);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	count_in(b, 1, 0);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, b->sample[0], period);
	count_in(b, period, 0);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, b->sample[1], period);
}

/*
 * After a slow start the first measured period ends early: its overflow is a probe, too. The
 * first sample comes when it is due, and shows all counts so far.
 */
static void freq_slow_start_is_not_sampled(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);
	const u64 period = 10 * PROBE;

	count_in(b, PROBE, NSEC_PER_SEC / RATE / 10);
	KUNIT_ASSERT_EQ(test, counter_left(event), period - PROBE);

	/* Four times the rate: the period ends after a third of the time. */
	count_in(b, period - PROBE, NSEC_PER_SEC / RATE * 9 / 40);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, period * 40 / 13);
	KUNIT_EXPECT_EQ(test, counter_left(event), period * 40 / 13 - period);

	count_in(b, period * 40 / 13 - period, NSEC_PER_SEC / RATE * 27 / 40);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, b->sample[0], period * 40 / 13);
}

/* The same after the first sample: the period goes on at the rate since that sample. */
static void freq_slow_start_is_extended(struct kunit *test)
{
	const u64 period = 10 * PROBE, ns = NSEC_PER_SEC / RATE;
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);

	count_in(b, PROBE, ns / 10);
	count_in(b, period - PROBE, ns * 9 / 10);
	KUNIT_ASSERT_EQ(test, b->nr_samples, 1);
	event->hw.freq_time_stamp = testbed_time;

	/* Four times the rate */
	count_in(b, period, ns / 4);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, counter_left(event), 3 * period);
	count_in(b, 3 * period, ns * 3 / 4);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, b->sample[1], 4 * period);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 4 * period);
}

/* A stop that overtakes an early overflow emits no sample either. */
static void freq_early_stop_is_not_sampled(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);

	local64_set(&event->hw.period_left, 0);
	testbed_time += NSEC_PER_SEC / RATE / 2;
	fixture_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	fixture_start_event(event, PERF_EF_RELOAD);
	KUNIT_EXPECT_EQ(test, counter_left(event), PROBE);
}

/* A sample may come an eighth of the time between two samples before it is due, but no earlier. */
static void freq_sample_may_be_early(struct kunit *test)
{
	const u64 period = 10 * PROBE, ns = NSEC_PER_SEC / RATE;
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);

	count_in(b, PROBE, ns / 10);
	count_in(b, period - PROBE, ns - ns / 8 - ns / 10 - 1);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	count_in(b, counter_left(event), 1);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);

	event->hw.freq_time_stamp = testbed_time;
	count_in(b, counter_left(event), ns - ns / 8 - 1);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	count_in(b, counter_left(event), 1);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
}

/* With inherit_stat perf core swaps the counts of two tasks' events, but not their periods. */
static void freq_swapped_count_is_no_period(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = open_with_rate(b, RATE);
	const u64 period = 10 * PROBE, ns = NSEC_PER_SEC / RATE;

	local64_set(&event->count, 1000 * period);
	event->total_time_running = 1000 * ns;
	event->state = PERF_EVENT_STATE_ACTIVE;
	event->tstamp = testbed_time;
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_forget(b);
	KUNIT_EXPECT_EQ(test, counter_left(event), period);
	count_in(b, period, ns);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, b->sample[0], period);
}

/* Run a child for half of the time between two samples. Return the period of its sample, or 0. */
static u64 run_child(struct fixture *b, struct perf_event *parent, u64 id, u64 period)
{
	enum { STEPS = 50 };
	struct perf_event *event = open_with_rate(b, RATE);
	unsigned int step;

	event->parent = parent;
	event->id = id;
	event->state = PERF_EVENT_STATE_ACTIVE;
	event->tstamp = testbed_time;
	KUNIT_ASSERT_EQ(b->test, fixture_add(event, PERF_EF_START), 0);
	fixture_forget(b);
	for (step = 0; step < STEPS / 2; step++)
		count_in(b, period / STEPS, NSEC_PER_SEC / RATE / STEPS);
	event->parent = NULL;
	fixture_remove(event);
	KUNIT_EXPECT_LE(b->test, b->nr_samples, 1);

	return b->nr_samples ? b->sample[0] : 0;
}

/*
 * Children that end within a period have samples, too: each has its own due time. This holds for
 * consecutive event ids, and for ids with a stride.
 */
static void freq_children_share_period(struct kunit *test)
{
	static const unsigned int strides[] = { 1, 72, 144 };
	struct fixture *b = test->priv;
	struct perf_event *parent = open_with_rate(b, RATE);
	const u64 period = 10 * PROBE;
	unsigned int i, child, sampled;
	u64 sum, shown;

	for (i = 0; i < ARRAY_SIZE(strides); i++) {
		sampled = 0;
		sum = 0;
		for (child = 1; child <= 100; child++) {
			shown = run_child(b, parent, child * strides[i], period);
			sampled += !!shown;
			sum += shown;
		}
		KUNIT_EXPECT_GE(test, sampled, 45);
		KUNIT_EXPECT_LE(test, sampled, 55);
		/* The periods are all counts, less a step: count_in() advances the time first. */
		KUNIT_EXPECT_LE(test, sum, sampled * period);
		KUNIT_EXPECT_GE(test, sum, sampled * period * 9 / 10);
	}
}

/* Another probe follows a probe that comes before the rate is known. */
static void freq_probe_is_repeated(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);

	/* A period of 2.5 million fits this rate: the next probe comes after an eighth of it. */
	count_in(b, PROBE, 50 * NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, GUESS);
	KUNIT_EXPECT_EQ(test, counter_left(event), 312500);
	count_in(b, 312500, 125 * NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 2500000);
}

/* A rare event gets its period in the first tick. */
static void freq_tick_finds_period(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);
	const u64 ticks = TICK_NSEC * RATE / NSEC_PER_SEC ?: 1;

	count_in(b, 4096 * ticks, ticks * NSEC_PER_SEC / RATE);
	tick(event, 1);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 4096);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	/* The sample comes at once, and its period covers all counts so far. */
	count_in(b, 32, 0);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_GT(test, b->sample[0], 4096 * ticks);
	KUNIT_EXPECT_LE(test, b->sample[0], 4096 * ticks + 32);
}

/* The driver replaces perf core's period in the first tick, and keeps it after two ticks. */
static void freq_is_young_for_two_ticks(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);

	count_in(b, PROBE, NSEC_PER_SEC / RATE / 10);
	tick(event, 9 * PROBE);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 10 * PROBE);
	KUNIT_EXPECT_EQ(test, event->hw.last_cpu, COREPMU_FREQ_YOUNG);

	testbed_time += 2 * TICK_NSEC - NSEC_PER_SEC / RATE / 10;
	tick(event, 9 * PROBE);
	KUNIT_EXPECT_EQ(test, event->hw.last_cpu, COREPMU_FREQ_YOUNG);
	testbed_time++;
	tick(event, 9 * PROBE);
	KUNIT_EXPECT_EQ(test, event->hw.last_cpu, RATE);
	tick(event, 9 * PROBE);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 9 * PROBE);
}

/* At a low frequency the rate is not yet known after two ticks. */
static void freq_low_rate_stays_young(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, 1);

	count_in(b, 1000, 3 * TICK_NSEC);
	tick(event, 1);
	KUNIT_EXPECT_EQ(test, event->hw.last_cpu, COREPMU_FREQ_YOUNG);

	/* 1000 more events make 2000 in a second. */
	count_in(b, 1000, NSEC_PER_SEC - 3 * TICK_NSEC);
	tick(event, 1);
	KUNIT_EXPECT_EQ(test, event->hw.last_cpu, 1);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 2000);
}

/* The product of a large count and NSEC_PER_SEC fits into 64 bits, or not: the rate is right. */
static void freq_count_is_large(struct kunit *test)
{
	const u64 most = U64_MAX / NSEC_PER_SEC;
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);

	testbed_time += NSEC_PER_SEC / RATE;
	local64_set(&event->count, most);
	tick(event, 1);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, most);
	local64_set(&event->count, most + 1);
	tick(event, 1);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period / 1000000, most / 1000000);
}

/* The rate excludes the time in which the event had no counter. */
static void freq_counts_own_time(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);
	const u64 half = NSEC_PER_SEC / RATE / 20;

	count_in(b, PROBE / 2, half);
	fixture_del(event);
	event->total_time_running = half;
	testbed_time += NSEC_PER_SEC;
	event->tstamp = testbed_time;
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	testbed_time += half;
	fixture_run(b, TESTBED_CYCLES, PROBE - PROBE / 2);
	tick(event, 1);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 10 * PROBE);
}

/* A tenth of the frequency makes the period ten times as long (PERF_EVENT_IOC_PERIOD). */
static void freq_changes_period(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);

	count_in(b, 1000, 3 * TICK_NSEC);
	tick(event, 5000);
	KUNIT_ASSERT_EQ(test, event->hw.last_cpu, RATE);
	fixture_stop_event(event, PERF_EF_UPDATE);
	event->hw.sample_period = 5000;
	event->attr.sample_freq = RATE / 10;
	local64_set(&event->hw.period_left, 0);
	fixture_start_event(event, PERF_EF_RELOAD);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 50000);
	KUNIT_EXPECT_EQ(test, counter_left(event), 50000);

	/* The period stays if perf core sets period_left to 0 and the frequency is the same. */
	fixture_stop_event(event, PERF_EF_UPDATE);
	local64_set(&event->hw.period_left, 0);
	fixture_start_event(event, PERF_EF_RELOAD);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 50000);
}

static struct kunit_case frequency_cases[] = {
	KUNIT_CASE_PARAM(freq_starts_with_guess, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_probe_finds_period, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_slow_start_is_not_sampled, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_slow_start_is_extended, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_early_stop_is_not_sampled, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_sample_may_be_early, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_swapped_count_is_no_period, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_children_share_period, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_probe_is_repeated, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_tick_finds_period, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_is_young_for_two_ticks, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_count_is_large, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_counts_own_time, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_changes_period, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_low_rate_stays_young, testbed_gen_params),
	{ }
};

TESTBED_SUITE(frequency, "corepmu_frequency");
