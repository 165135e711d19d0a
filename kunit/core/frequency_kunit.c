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

#include <corepmu/overflow.h>
#include <corepmu/pmu.h>

#include "fixture/testbed.h"

#define RATE	1000
/* The guess is 500 million events a second: GUESS in a period at RATE, and PROBE in 56.25 us. */
#define GUESS	499999
#define PROBE	28125

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
static void end_tick(struct perf_event *event, u64 period)
{
	fixture_stop_event(event, PERF_EF_UPDATE);
	event->hw.sample_period = period;
	fixture_start_event(event, PERF_EF_RELOAD);
}

/* The first probe comes when the rate is known, as far as the event's type tells. */
static void freq_starts_with_guess(struct kunit *test)
{
	static const struct {
		u64 config, rate, period, probe;
	} table[] = {
		{ PERF_COUNT_HW_CPU_CYCLES, 4000, 124999, 8789 },
		{ PERF_COUNT_HW_INSTRUCTIONS, 99, 5050505, 28125 },
		{ PERF_COUNT_HW_CPU_CYCLES, 1, 499999999, 28125 },
		{ PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 4000, 124999, 2197 },
	};
	struct fixture *b = test->priv;
	struct perf_event *event;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
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

/* Set the time stamp of @event's first sample, as perf_event_overflow() does. */
static void first_sample(struct fixture *b, struct perf_event *event, u64 nr, u64 ns)
{
	count_in(b, nr, ns);
	KUNIT_ASSERT_EQ(b->test, b->nr_samples, 1);
	event->hw.freq_time_stamp = testbed_time;
}

/* The first sample comes when the rate is known, and shows the counts so far. */
static void freq_first_sample_comes_soon(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);
	/* PROBE events take a tenth of the time between two samples. */
	const u64 period = 10 * PROBE;

	KUNIT_EXPECT_EQ(test, counter_left(event), PROBE);
	first_sample(b, event, PROBE, NSEC_PER_SEC / RATE / 10);
	KUNIT_EXPECT_EQ(test, b->sample[0], PROBE);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, period);
	KUNIT_EXPECT_EQ(test, counter_left(event), period);
	KUNIT_EXPECT_EQ(test, fixture_read(event), PROBE);

	count_in(b, period - 1, NSEC_PER_SEC / RATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	count_in(b, 1, 0);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, b->sample[1], period);
}

/* A low frequency does not delay the first sample. */
static void freq_first_sample_of_low_rate(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, 1);
	s64 probe = counter_left(event);

	first_sample(b, event, probe, 50 * NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, b->sample[0], probe);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, probe * 20000);
}

/* After a slow start the period ends early: it goes on at the rate since the last sample. */
static void freq_slow_start_is_extended(struct kunit *test)
{
	const u64 period = 10 * PROBE, ns = NSEC_PER_SEC / RATE;
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);

	first_sample(b, event, PROBE, ns / 10);

	/* Four times the rate */
	count_in(b, period, ns / 4);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, counter_left(event), 3 * period);
	count_in(b, 3 * period, ns * 3 / 4);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, b->sample[1], 4 * period);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 4 * period);
}

/* A stop that overtakes a probe's overflow emits no sample either. */
static void freq_early_stop_is_not_sampled(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);

	local64_set(&event->hw.period_left, 0);
	testbed_time += 50 * NSEC_PER_USEC - 1;
	fixture_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	fixture_start_event(event, PERF_EF_RELOAD);
	KUNIT_EXPECT_EQ(test, counter_left(event), PROBE);

	/* A stop that overtakes the first sample's overflow emits the sample. */
	local64_set(&event->count, PROBE);
	local64_set(&event->hw.period_left, 0);
	testbed_time++;
	fixture_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 20 * PROBE);
}

/* A few counts in a short time do not make the rate known. */
static void freq_few_counts_are_no_rate(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, 50);

	count_in(b, 63, 100 * NSEC_PER_USEC);
	end_tick(event, 1);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	/* The next probe comes after the number of counts that make the rate known. */
	KUNIT_EXPECT_EQ(test, counter_left(event), 64);
	count_in(b, 1, 0);
	end_tick(event, 1);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 64 * 200);
}

/* A sample may come an eighth of the time between two samples before it is due, but no earlier. */
static void freq_sample_may_be_early(struct kunit *test)
{
	const u64 ns = NSEC_PER_SEC / RATE;
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);

	first_sample(b, event, PROBE, ns / 10);
	count_in(b, counter_left(event), ns - ns / 8 - 1);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	count_in(b, counter_left(event), 1);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
}

/* Open an event that a child has inherited, and start it now. */
static struct perf_event *start_child(struct fixture *b, struct perf_event *parent, u64 id)
{
	struct perf_event *event = open_with_rate(b, RATE);

	event->parent = parent;
	event->id = id;
	event->state = PERF_EVENT_STATE_ACTIVE;
	event->tstamp = testbed_time;
	KUNIT_ASSERT_EQ(b->test, fixture_add(event, PERF_EF_START), 0);
	fixture_forget(b);

	return event;
}

static void end_child(struct perf_event *event)
{
	event->parent = NULL;
	fixture_remove(event);
}

/* With inherit_stat perf core swaps the counts of two tasks' events, but not their periods. */
static void freq_swapped_count_is_no_period(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *parent = open_with_rate(b, RATE), *event = start_child(b, parent, 1);
	const u64 period = 10 * PROBE, ns = NSEC_PER_SEC / RATE;

	fixture_del(event);
	local64_set(&event->count, 1000 * period);
	event->total_time_running = 1000 * ns;
	event->tstamp = testbed_time;
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_LE(test, counter_left(event), period);
	KUNIT_EXPECT_GT(test, counter_left(event), period / 10);
	/* The next interval has the same rate. */
	count_in(b, counter_left(event), counter_left(event) * ns / period);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_LE(test, b->sample[0], period + 1);
	KUNIT_EXPECT_GE(test, b->sample[0], period - 1);
	end_child(event);
}

/* After a slow start a child's overflow is a probe, too, if it comes before the sample is due. */
static void freq_slow_start_of_child(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *parent = open_with_rate(b, RATE), *event = start_child(b, parent, 1);
	const u64 period = 10 * PROBE, ns = NSEC_PER_SEC / RATE;
	u64 due;

	count_in(b, PROBE, ns / 10);
	KUNIT_ASSERT_EQ(test, b->nr_samples, 0);
	/* The part of the time between two samples after which the sample is due */
	due = (PROBE + counter_left(event)) * ns / period;
	KUNIT_ASSERT_GT(test, due, ns / 5);

	/* Four times the rate */
	count_in(b, counter_left(event), (due - ns / 10) / 4);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	count_in(b, counter_left(event), (due - ns / 10) * 3 / 4);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, b->sample[0], event->hw.sample_period);
	end_child(event);
}

/* Run a child for half of the time between two samples. Return the period of its sample, or 0. */
static u64 run_child(struct fixture *b, struct perf_event *parent, u64 id, u64 period)
{
	enum { STEPS = 50 };
	struct perf_event *event = start_child(b, parent, id);

	for (unsigned int step = 0; step < STEPS / 2; step++)
		count_in(b, period / STEPS, NSEC_PER_SEC / RATE / STEPS);
	end_child(event);
	KUNIT_EXPECT_LE(b->test, b->nr_samples, 1);

	return b->nr_samples ? b->sample[0] : 0;
}

/* An overflow of a counter that is narrower than the period changes no period. */
static void freq_overflow_ends_no_period(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *parent = open_with_rate(b, RATE), *event = start_child(b, parent, 1);
	s64 before = event->hw.last_period;

	count_in(b, 1, NSEC_PER_SEC / RATE);
	local64_set(&event->hw.period_left, 1);
	KUNIT_EXPECT_FALSE(test, corepmu_freq_extend(event));
	KUNIT_EXPECT_EQ(test, event->hw.last_period, before);
	end_child(event);
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
	unsigned int sampled;
	u64 sum, shown;

	for (unsigned int i = 0; i < ARRAY_SIZE(strides); i++) {
		sampled = 0;
		sum = 0;
		for (unsigned int child = 1; child <= 100; child++) {
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

	/* The rate is known after 50 us, and the next probe comes an eighth of that later. */
	count_in(b, PROBE, 25 * NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, GUESS);
	KUNIT_EXPECT_EQ(test, counter_left(event), PROBE * 5 / 4);
	count_in(b, PROBE * 5 / 4, 31250);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, b->sample[0], PROBE * 9 / 4);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, b->sample[0] * 1000000 / 56250);
}

/* A rare event gets its period in the first tick. */
static void freq_tick_finds_period(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);
	const u64 ticks = TICK_NSEC * RATE / NSEC_PER_SEC ?: 1;

	count_in(b, 4096 * ticks, ticks * NSEC_PER_SEC / RATE);
	end_tick(event, 1);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 4096);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	/* The sample comes 10 us later, and its period covers all counts so far. */
	count_in(b, 39, 0);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	count_in(b, 1, 0);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, b->sample[0], 4096 * ticks + 40);
}

/* The driver replaces perf core's period in the first tick, and keeps it after two ticks. */
static void freq_is_young_for_two_ticks(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);

	first_sample(b, event, PROBE, NSEC_PER_SEC / RATE / 10);
	end_tick(event, 9 * PROBE);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 10 * PROBE);
	KUNIT_EXPECT_EQ(test, corepmu_hw_freq(&event->hw), COREPMU_FREQ_YOUNG);

	testbed_time += 2 * TICK_NSEC - NSEC_PER_SEC / RATE / 10;
	end_tick(event, 9 * PROBE);
	KUNIT_EXPECT_EQ(test, corepmu_hw_freq(&event->hw), COREPMU_FREQ_YOUNG);
	testbed_time++;
	end_tick(event, 9 * PROBE);
	KUNIT_EXPECT_EQ(test, corepmu_hw_freq(&event->hw), RATE);
	end_tick(event, 9 * PROBE);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 9 * PROBE);
}

/* At a low frequency the rate is not yet known after two ticks. */
static void freq_low_rate_stays_young(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, 1);

	first_sample(b, event, PROBE, 3 * TICK_NSEC);
	end_tick(event, 1);
	KUNIT_EXPECT_EQ(test, corepmu_hw_freq(&event->hw), COREPMU_FREQ_YOUNG);

	/* The frequency is so low that the event stays young for the time of a period. */
	count_in(b, PROBE, NSEC_PER_SEC - 3 * TICK_NSEC);
	end_tick(event, 1);
	KUNIT_EXPECT_EQ(test, corepmu_hw_freq(&event->hw), COREPMU_FREQ_YOUNG);
	/* 3 * PROBE + 1 events in a second and a nanosecond: 3 * PROBE in a second. */
	count_in(b, PROBE + 1, 1);
	end_tick(event, 1);
	KUNIT_EXPECT_EQ(test, corepmu_hw_freq(&event->hw), 1);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 3 * PROBE);
}

/* The product of a large count and NSEC_PER_SEC fits into 64 bits, or not: the rate is right. */
static void freq_count_is_large(struct kunit *test)
{
	const u64 most = U64_MAX / NSEC_PER_SEC;
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);

	testbed_time += NSEC_PER_SEC / RATE;
	local64_set(&event->count, most);
	end_tick(event, 1);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, most);
	local64_set(&event->count, most + 1);
	end_tick(event, 1);
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
	end_tick(event, 1);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 10 * PROBE);
}

/* A tenth of the frequency makes the period ten times as long (PERF_EVENT_IOC_PERIOD). */
static void freq_changes_period(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = start_with_rate(b, RATE);

	first_sample(b, event, PROBE, 3 * TICK_NSEC);
	end_tick(event, 5000);
	KUNIT_ASSERT_EQ(test, corepmu_hw_freq(&event->hw), RATE);
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
	KUNIT_CASE_PARAM(freq_first_sample_comes_soon, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_first_sample_of_low_rate, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_slow_start_is_extended, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_early_stop_is_not_sampled, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_few_counts_are_no_rate, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_sample_may_be_early, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_swapped_count_is_no_period, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_slow_start_of_child, testbed_gen_params),
	KUNIT_CASE_PARAM(freq_overflow_ends_no_period, testbed_gen_params),
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
