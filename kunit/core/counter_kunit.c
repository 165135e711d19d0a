// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of core/counter.c: periods, and counters of any width
 *
 * The backend of the suite is a variable of the width under test.
 */
#include <kunit/test.h>

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/irqflags.h>
#include <linux/perf_event.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include <corepmu/counter.h>
#include <corepmu/pmu.h>

#include "fixture/suite.h"

/* The backend's counter, and the number of reads and writes */
static u64 counter;
static unsigned int reads, writes;

static u64 read_variable(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc)
{
	reads++;
	return counter & corepmu_hw_value_mask(hwc);
}

static void write_variable(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value)
{
	writes++;
	counter = value;
}

static void do_nothing(struct corepmu_cpu *cpuc)
{
}

static void update_variable(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	corepmu_count_event(cpuc, event, read_variable);
}

static const struct corepmu_backend variable_backend = {
	.name		= "a variable",
	.enable		= do_nothing,
	.disable	= do_nothing,
	.program	= write_variable,
	.update		= update_variable,
	.update_nmi_safe = update_variable,
	.write		= write_variable,
};

struct fixture {
	struct corepmu		pmu;
	struct corepmu_cpu	cpuc;
	struct perf_event	event;
	unsigned int		width;
};

static int counter_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->pmu.max_left = S64_MAX;
	f->cpuc.pmu = &f->pmu;
	f->event.pmu = &f->pmu.perf_pmu;
	corepmu_use_backend(&variable_backend);
	counter = 0;
	reads = 0;
	writes = 0;
	test->priv = f;

	return 0;
}

static void counter_exit(struct kunit *test)
{
	corepmu_start_near_wrap = 0;
}

static void set_width(struct fixture *f, unsigned int width)
{
	f->width = width;
	corepmu_hw_set_value_mask(&f->event.hw, GENMASK_ULL(width - 1, 0));
}

/* Set up an event with a period; 0 for a counting event: its period is half the counter's range. */
static void set_event(struct fixture *f, u64 period)
{
	struct hw_perf_event *hwc = &f->event.hw;

	f->event.attr.sample_period = period;
	hwc->sample_period = period ?: corepmu_hw_value_mask(hwc) >> 1;
	hwc->last_period = hwc->sample_period;
	local64_set(&hwc->period_left, hwc->sample_period);
	local64_set(&f->event.count, 0);
}

/* Count @n events. Return true if the counter wraps. */
static bool count_events(struct fixture *f, u64 n)
{
	u64 mask = corepmu_hw_value_mask(&f->event.hw), before = counter;

	counter = (counter + n) & mask;

	return n > mask || counter < before;
}

static u64 overflows_after(struct fixture *f)
{
	return (0 - counter) & corepmu_hw_value_mask(&f->event.hw);
}

static s64 period_left(struct fixture *f)
{
	return local64_read(&f->event.hw.period_left);
}

static u64 total_count(struct fixture *f)
{
	return local64_read(&f->event.count);
}

/* All widths of hardware counters */
static const void *width_gen_params(const void *prev, char *desc)
{
	uintptr_t width = prev ? (uintptr_t)prev + 1 : 32;

	if (width > 64)
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%lu bits", (unsigned long)width);

	return (void *)width;
}

static struct fixture *of_width(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_width(f, (uintptr_t)test->param_value);

	return f;
}

/* Updates add up to the events, for any start value and any number of wraps. */
static void counter_update(struct kunit *test)
{
	struct fixture *f = of_width(test);
	u64 mask = corepmu_hw_value_mask(&f->event.hw), sum = 0;
	u64 steps[] = { 0, 1, 2, mask >> 2, 1, mask >> 1, mask >> 1, 12345, 0, mask >> 1 };
	u64 starts[] = { 0, 1, mask, mask - 1, mask >> 1, (mask >> 1) + 1 };

	for (unsigned int i = 0; i < ARRAY_SIZE(starts); i++) {
		set_event(f, 0);
		counter = starts[i];
		local64_set(&f->event.hw.prev_count, counter);
		sum = 0;
		for (unsigned int j = 0; j < ARRAY_SIZE(steps); j++) {
			count_events(f, steps[j]);
			corepmu_counter_update(&f->cpuc, &f->event);
			sum += steps[j];
			KUNIT_ASSERT_EQ_MSG(test, total_count(f), sum, "from %#llx, step %u",
					    starts[i], j);
			KUNIT_ASSERT_EQ(test, period_left(f), (s64)((mask >> 1) - sum));
			KUNIT_ASSERT_EQ(test, local64_read(&f->event.hw.prev_count),
					sign_extend64(counter, f->width - 1));
		}
	}
	KUNIT_EXPECT_EQ(test, writes, 0);
}

/* A counter value with all bits set is a positive number, not -1. */
static void counter_no_sign(struct kunit *test)
{
	struct fixture *f = of_width(test);

	set_event(f, 0);
	counter = corepmu_hw_value_mask(&f->event.hw);
	local64_set(&f->event.hw.prev_count, 0);
	corepmu_counter_update(&f->cpuc, &f->event);
	KUNIT_EXPECT_EQ(test, total_count(f), corepmu_hw_value_mask(&f->event.hw));
}

/* The next read corrects a value that was read too low. */
static void counter_corrects_low_read(struct kunit *test)
{
	struct fixture *f = of_width(test);

	set_event(f, 0);
	corepmu_counter_prepare(&f->cpuc, &f->event);
	count_events(f, 1000);
	corepmu_counter_update(&f->cpuc, &f->event);
	counter -= 700;
	corepmu_counter_update(&f->cpuc, &f->event);
	counter += 800;
	corepmu_counter_update(&f->cpuc, &f->event);
	KUNIT_EXPECT_EQ(test, total_count(f) & corepmu_hw_value_mask(&f->event.hw), 1100);
}

/*
 * A start sets the counter so that it overflows at the end of the period, or after half its range.
 */
static void counter_start(struct kunit *test)
{
	struct fixture *f = of_width(test);
	u64 mask = corepmu_hw_value_mask(&f->event.hw), half = mask >> 1;
	u64 periods[] = { 1, 2, 3, 1000, half - 1, half, half + 1, mask, S64_MAX };

	for (unsigned int i = 0; i < ARRAY_SIZE(periods); i++) {
		u64 period = min_t(u64, periods[i], S64_MAX);

		set_event(f, period);
		corepmu_counter_prepare(&f->cpuc, &f->event);
		KUNIT_EXPECT_EQ(test, overflows_after(f), min(period, half));
		KUNIT_EXPECT_EQ(test, local64_read(&f->event.hw.prev_count),
				sign_extend64(counter, f->width - 1));
		KUNIT_EXPECT_EQ(test, period_left(f), period);
	}
	KUNIT_EXPECT_EQ(test, writes, ARRAY_SIZE(periods));
	KUNIT_EXPECT_EQ(test, reads, 0);
}

/* A period ends with the last of its events, not before. */
static void counter_periods(struct kunit *test)
{
	struct fixture *f = of_width(test);
	u64 half = corepmu_hw_value_mask(&f->event.hw) >> 1;
	u64 periods[] = { 1, 2, 1000, half, half + 1, 2 * (half - 1), 3 * (half / 2) };

	for (unsigned int i = 0; i < ARRAY_SIZE(periods); i++) {
		u64 period = periods[i], sum = 0;

		if (!period || period > S64_MAX / 4)
			continue;
		set_event(f, period);
		corepmu_counter_prepare(&f->cpuc, &f->event);
		for (unsigned int period_nr = 1; period_nr <= 3; ) {
			u64 step = overflows_after(f);

			KUNIT_ASSERT_TRUE(test, count_events(f, step));
			sum += step;
			corepmu_counter_update(&f->cpuc, &f->event);
			if (corepmu_counter_next_period(&f->cpuc, &f->event)) {
				KUNIT_ASSERT_EQ(test, sum, period_nr * period);
				KUNIT_ASSERT_EQ(test, f->event.hw.last_period, period);
				period_nr++;
			} else {
				KUNIT_ASSERT_LT(test, sum, period_nr * period);
			}
			KUNIT_ASSERT_EQ(test, total_count(f), sum);
		}
	}
}

/* A late interrupt does not shift the following periods. */
static void counter_late(struct kunit *test)
{
	struct fixture *f = of_width(test);
	static const struct {
		u64 period, late, next;
	} table[] = {
		{ 1000, 0, 1000 },
		{ 1000, 1, 999 },
		{ 1000, 999, 1 },
		/* The interrupt is late by a whole period: a new period starts. */
		{ 1000, 1000, 1000 },
		{ 1000, 1001, 1000 },
		{ 1000, 123456, 1000 },
		/* The period is shorter than the time that the interrupt takes. */
		{ 1, 0, 1 },
		{ 1, 50, 1 },
		{ 2, 1, 1 },
		{ 2, 2, 2 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		set_event(f, table[i].period);
		corepmu_counter_prepare(&f->cpuc, &f->event);
		count_events(f, table[i].period + table[i].late);
		corepmu_counter_update(&f->cpuc, &f->event);
		KUNIT_EXPECT_TRUE(test, corepmu_counter_next_period(&f->cpuc, &f->event));
		KUNIT_EXPECT_EQ(test, overflows_after(f), table[i].next);
		KUNIT_EXPECT_EQ(test, period_left(f), table[i].next);
		KUNIT_EXPECT_EQ(test, total_count(f), table[i].period + table[i].late);
	}
}

/* A counting event overflows after half the counter's range, and goes on where it stopped. */
static void counter_counting(struct kunit *test)
{
	struct fixture *f = of_width(test);
	u64 mask = corepmu_hw_value_mask(&f->event.hw);

	set_event(f, 0);
	corepmu_counter_prepare(&f->cpuc, &f->event);
	KUNIT_EXPECT_EQ(test, overflows_after(f), mask >> 1);
	count_events(f, 12345);
	corepmu_counter_update(&f->cpuc, &f->event);
	corepmu_counter_prepare(&f->cpuc, &f->event);
	KUNIT_EXPECT_EQ(test, overflows_after(f), (mask >> 1) - 12345);
	/* perf_event_update_userpage() computes offset from these */
	KUNIT_EXPECT_EQ(test, total_count(f) - local64_read(&f->event.hw.prev_count), mask >> 1);

	/* The event is stopped after an overflow, before the interrupt. */
	count_events(f, overflows_after(f) + 5);
	corepmu_counter_update(&f->cpuc, &f->event);
	corepmu_counter_prepare(&f->cpuc, &f->event);
	KUNIT_EXPECT_EQ(test, overflows_after(f), (mask >> 1) - 5);
	KUNIT_EXPECT_EQ(test, total_count(f), (mask >> 1) + 5);

	/* For tests: start near the 32-bit wrap. */
	corepmu_start_near_wrap = 100;
	set_event(f, 0);
	corepmu_counter_prepare(&f->cpuc, &f->event);
	if (f->width == 64)
		KUNIT_EXPECT_EQ(test, counter, 0xffffff9c);
	else
		KUNIT_EXPECT_EQ(test, overflows_after(f), 100);
	count_events(f, 500);
	corepmu_counter_update(&f->cpuc, &f->event);
	KUNIT_EXPECT_EQ(test, total_count(f), 500);
	KUNIT_EXPECT_FALSE(test, corepmu_counter_next_period(&f->cpuc, &f->event));

	/* Start near the 64-bit wrap; narrower counters start as usual. */
	corepmu_start_near_wrap = BIT_ULL(32) + 100;
	set_event(f, 0);
	corepmu_counter_prepare(&f->cpuc, &f->event);
	KUNIT_EXPECT_EQ(test, overflows_after(f),
			f->width == 64 ? 100 : min_t(u64, mask >> 1, BIT_ULL(32) + 100));
	count_events(f, 500);
	corepmu_counter_update(&f->cpuc, &f->event);
	KUNIT_EXPECT_EQ(test, total_count(f), 500);

	/* Events with a period ignore corepmu_start_near_wrap. */
	set_event(f, 5000);
	corepmu_counter_prepare(&f->cpuc, &f->event);
	KUNIT_EXPECT_EQ(test, overflows_after(f), 5000);
}

/* Counters with a limit on the values that can be written, and with a minimum period */
static void counter_limits(struct kunit *test)
{
	struct fixture *f = of_width(test);
	u64 half = corepmu_hw_value_mask(&f->event.hw) >> 1;

	f->pmu.max_left = GENMASK(30, 0);
	set_event(f, 0xffffffffULL);
	corepmu_counter_prepare(&f->cpuc, &f->event);
	KUNIT_EXPECT_EQ(test, overflows_after(f), min_t(u64, half, 0x7fffffff));
	/* Writes set the lower 32 bits and sign-extend them. */
	KUNIT_EXPECT_EQ(test, counter, (s32)counter & corepmu_hw_value_mask(&f->event.hw));

	f->cpuc.limiter.min_left = 64;
	corepmu_hw_set_min_period(&f->event.hw, 64);
	set_event(f, 10);
	corepmu_counter_prepare(&f->cpuc, &f->event);
	KUNIT_EXPECT_EQ(test, overflows_after(f), 64);
	/* The count stays exact, and the stretched period counts as a late one. */
	count_events(f, 64);
	corepmu_counter_update(&f->cpuc, &f->event);
	KUNIT_EXPECT_EQ(test, total_count(f), 64);
	KUNIT_EXPECT_TRUE(test, corepmu_counter_next_period(&f->cpuc, &f->event));
	KUNIT_EXPECT_EQ(test, period_left(f), 10);
}

/* Perf core changes the period: PERF_EVENT_IOC_PERIOD, or the adjustment of a frequency. */
static void counter_change(struct kunit *test)
{
	struct fixture *f = of_width(test);
	struct hw_perf_event *hwc = &f->event.hw;

	set_event(f, 1000);
	corepmu_counter_prepare(&f->cpuc, &f->event);
	count_events(f, 300);
	corepmu_counter_update(&f->cpuc, &f->event);
	KUNIT_EXPECT_EQ(test, period_left(f), 700);

	/* Without a change, a restart continues the rest of the period. */
	corepmu_counter_prepare(&f->cpuc, &f->event);
	KUNIT_EXPECT_EQ(test, overflows_after(f), 700);

	/* A new sample_period applies from the next period on. */
	hwc->sample_period = 50;
	count_events(f, 700);
	corepmu_counter_update(&f->cpuc, &f->event);
	KUNIT_EXPECT_TRUE(test, corepmu_counter_next_period(&f->cpuc, &f->event));
	KUNIT_EXPECT_EQ(test, overflows_after(f), 50);
	KUNIT_EXPECT_EQ(test, hwc->last_period, 50);

	/* With period_left 0, a new period starts without a sample. */
	hwc->sample_period = 2000;
	local64_set(&hwc->period_left, 0);
	corepmu_counter_prepare(&f->cpuc, &f->event);
	KUNIT_EXPECT_EQ(test, overflows_after(f), 2000);
	KUNIT_EXPECT_EQ(test, period_left(f), 2000);
	KUNIT_EXPECT_EQ(test, hwc->last_period, 2000);
}

/* A period that has not ended does not restart. */
static void counter_not_ended(struct kunit *test)
{
	struct fixture *f = of_width(test);

	set_event(f, 1000);
	corepmu_counter_prepare(&f->cpuc, &f->event);
	count_events(f, 999);
	corepmu_counter_update(&f->cpuc, &f->event);
	KUNIT_EXPECT_FALSE(test, corepmu_counter_end_period(&f->event));
	KUNIT_EXPECT_EQ(test, period_left(f), 1);
	KUNIT_EXPECT_FALSE(test, corepmu_counter_next_period(&f->cpuc, &f->event));
	KUNIT_EXPECT_EQ(test, overflows_after(f), 1);
}

/* Random updates and overflows match plain arithmetic. */
static void counter_random(struct kunit *test)
{
	struct fixture *f = of_width(test);
	struct rnd_state rnd;
	u64 sum = 0, samples = 0, period;

	prandom_seed_state(&rnd, f->width);
	period = 1 + prandom_u32_state(&rnd) % 5000;
	set_event(f, period);
	corepmu_counter_prepare(&f->cpuc, &f->event);
	for (unsigned int i = 0; i < 2000; i++) {
		u64 step = min_t(u64, 1 + prandom_u32_state(&rnd) % period, overflows_after(f));
		bool wrapped = count_events(f, step);

		sum += step;
		corepmu_counter_update(&f->cpuc, &f->event);
		if (wrapped)
			samples += !!corepmu_counter_next_period(&f->cpuc, &f->event);
		KUNIT_ASSERT_EQ(test, total_count(f), sum);
		KUNIT_ASSERT_EQ(test, samples, sum / period);
		KUNIT_ASSERT_EQ(test, period_left(f), period - sum % period);
	}
}

static struct kunit_case counter_cases[] = {
	KUNIT_CASE_PARAM(counter_update, width_gen_params),
	KUNIT_CASE_PARAM(counter_no_sign, width_gen_params),
	KUNIT_CASE_PARAM(counter_corrects_low_read, width_gen_params),
	KUNIT_CASE_PARAM(counter_start, width_gen_params),
	KUNIT_CASE_PARAM(counter_periods, width_gen_params),
	KUNIT_CASE_PARAM(counter_late, width_gen_params),
	KUNIT_CASE_PARAM(counter_counting, width_gen_params),
	KUNIT_CASE_PARAM(counter_limits, width_gen_params),
	KUNIT_CASE_PARAM(counter_change, width_gen_params),
	KUNIT_CASE_PARAM(counter_not_ended, width_gen_params),
	KUNIT_CASE_PARAM(counter_random, width_gen_params),
	{ }
};

TEST_SUITE(counter, "corepmu_counter", counter_init, counter_exit);
