// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of core/limiter.c: which periods the limiter stretches, how far and how
 * long, on every testbed
 */
#include <kunit/test.h>

#include <linux/bits.h>
#include <linux/perf_event.h>
#include <linux/time64.h>

#include <corepmu/limiter.h>
#include <corepmu/overflow.h>
#include <corepmu/pmu.h>

#include "fixture/testbed.h"

/* Make @event overflow after @gap ns, in user space or in the kernel; the overflow takes @ns. */
static void one_overflow_in(struct fixture *b, struct perf_event *event, bool user, u64 gap, u64 ns)
{
	u64 left = (0 - local64_read(&event->hw.prev_count)) & corepmu_hw_value_mask(&event->hw);

	testbed_time += gap;
	testbed_sample_ns = ns;
	fixture_forget(b);
	b->testbed->ops->run(TESTBED_CYCLES, user, left);
	KUNIT_EXPECT_EQ(b->test, b->nr_samples, 1);
}

static void one_overflow(struct fixture *b, struct perf_event *event, u64 gap, u64 ns)
{
	one_overflow_in(b, event, true, gap, ns);
}

/* Start a window of the limiter, in which interrupts count as long as they take. */
static void begin_window(struct fixture *b)
{
	b->cpuc->limiter.window = testbed_time;
	b->cpuc->limiter.max_irq_ns = 20 * NSEC_PER_MSEC;
}

/*
 * If overflows take more than a third of a window of 10 ms, the limiter stretches short periods. It
 * raises the minimum period from window to window. If overflows take less than a twelfth, the
 * limiter lowers the minimum period.
 */
static void limiter_windows(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 10);
	struct corepmu_cpu *cpuc = b->cpuc;
	u64 sum = 0, left;
	s64 expected;

	begin_window(b);
	/* Two overflows of 6 ms: the second ends the window, of which overflows took all. */
	one_overflow(b, event, 0, 6 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, b->pmu->min_left);
	one_overflow(b, event, 0, 6 * NSEC_PER_MSEC);
	for (expected = 16; expected <= BIT(20); expected *= 2) {
		KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, expected);
		one_overflow(b, event, 0, 11 * NSEC_PER_MSEC);
	}
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, BIT(20));

	/* Periods are stretched to 2^20, and no count is lost. */
	sum = fixture_read(event);
	left = (0 - local64_read(&event->hw.prev_count)) & corepmu_hw_value_mask(&event->hw);
	KUNIT_EXPECT_EQ(test, left, BIT(20));
	one_overflow(b, event, 0, 11 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, fixture_read(event), sum + BIT(20));

	/* Overflows take neither much nor little time: the minimum period stays. */
	one_overflow(b, event, 5 * NSEC_PER_MSEC, 5 * NSEC_PER_MSEC);
	one_overflow(b, event, 7 * NSEC_PER_MSEC, 4 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, BIT(20));

	/* Overflows take little time: the minimum period falls step by step to its lowest value. */
	for (expected = BIT(20); expected > 4096; expected /= 2) {
		KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, expected);
		one_overflow(b, event, 8 * NSEC_PER_MSEC, 3 * NSEC_PER_MSEC);
	}
	one_overflow(b, event, 7 * NSEC_PER_MSEC, 3 * NSEC_PER_MSEC);
	one_overflow(b, event, 8 * NSEC_PER_MSEC, 3 * NSEC_PER_MSEC);
	one_overflow(b, event, 50 * NSEC_PER_MSEC, 5 * NSEC_PER_MSEC);
	for (; expected >= 16; expected /= 2) {
		KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, expected);
		KUNIT_EXPECT_TRUE(test, cpuc->limiter.is_raised);
		one_overflow(b, event, 20 * NSEC_PER_MSEC, 1);
	}
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, b->pmu->min_left);
	KUNIT_EXPECT_FALSE(test, cpuc->limiter.is_raised);

	cpuc->limiter.max_irq_ns = 20 * NSEC_PER_MSEC;
	/*
	 * The handler takes four tenths of the window, and the entry and exit of interrupts as
	 * much: hardly any time is left.
	 */
	one_overflow(b, event, 6 * NSEC_PER_MSEC, 4 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, 16);
}

/*
 * The limiter stretches periods of 4096 and more if overflows leave less than a quarter of the
 * time.
 */
static void limiter_long(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 10);
	struct perf_event *other = fixture_sampling(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100);
	struct corepmu_cpu *cpuc = b->cpuc;

	begin_window(b);
	cpuc->limiter.min_left = 4096 / 4;
	for (unsigned int i = 0; i < 4; i++)
		one_overflow(b, event, 5 * NSEC_PER_MSEC, 6 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, 4096);
	KUNIT_EXPECT_EQ(test, corepmu_hw_min_period(&event->hw), 4096);

	/* The limiter also throttles other events that interrupt as often. */
	other->hw.interrupts = event->hw.interrupts + 1;
	one_overflow(b, event, 5 * NSEC_PER_MSEC, 6 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, corepmu_hw_min_period(&other->hw), 4096);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, 4096);

	one_overflow(b, event, 2 * NSEC_PER_MSEC, 9 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, 8192);
}

/*
 * The limiter also stretches periods of 4096 and more if overflows take half of the time and all of
 * them hit the kernel. Each overflow may then have interrupted the exit from the previous one, and
 * nothing else makes progress.
 */
static void limiter_kernel(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 10);
	struct corepmu_cpu *cpuc = b->cpuc;

	begin_window(b);
	cpuc->limiter.min_left = 4096;
	/* One overflow of each window hits user space. */
	for (unsigned int i = 0; i < 4; i++) {
		one_overflow_in(b, event, i & 1, 3 * NSEC_PER_MSEC, 3 * NSEC_PER_MSEC);
		one_overflow_in(b, event, !(i & 1), 3 * NSEC_PER_MSEC, 3 * NSEC_PER_MSEC);
		KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, 4096);
	}

	one_overflow_in(b, event, false, 6 * NSEC_PER_MSEC, 6 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, 8192);
	KUNIT_EXPECT_EQ(test, corepmu_hw_min_period(&event->hw), 8192);
	one_overflow(b, event, 6 * NSEC_PER_MSEC, 6 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, 8192);

	/*
	 * While nothing else makes progress, a sixth of the time is too much, and a sixtieth is
	 * little.
	 */
	one_overflow_in(b, event, false, 10 * NSEC_PER_MSEC, 2 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, 16384);
	one_overflow_in(b, event, false, 15 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, 16384);
	one_overflow_in(b, event, false, 59 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, 8192);
	one_overflow(b, event, 10 * NSEC_PER_MSEC, 2 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, 4096);
}

/*
 * The busiest event excludes user space, or counts KVM's guests, which KVM has left when the PMI
 * comes. So no PMI of this event interrupts user space, even if the CPU makes progress. The event
 * keeps its period of 4096 while overflows take half of the time, except on debug kernels.
 */
static void limiter_kernel_events(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 10, .exclude_user = 1,
	};
	struct fixture *b = test->priv;
	const bool doubt = COREPMU_KERNEL_CHECKS_ITSELF;
	struct perf_event *event, *other;
	struct corepmu_cpu *cpuc = b->cpuc;

	event = fixture_open_start(b, &attr);
	other = fixture_sampling(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100);
	begin_window(b);
	for (unsigned int i = 0; i < 8; i++) {
		/*
		 * The model runs no guest: an event with exclude_host overflows as one of the
		 * kernel's.
		 */
		event->attr.exclude_user = !(i & 1);
		event->attr.exclude_host = i & 1;
		cpuc->limiter.min_left = 4096;
		one_overflow_in(b, event, false, 6 * NSEC_PER_MSEC, 6 * NSEC_PER_MSEC);
		KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, doubt ? 8192 : 4096);
		/* The minimum period falls to 4096 as fast as with other events. */
		cpuc->limiter.min_left = 16384;
		one_overflow_in(b, event, false, 10 * NSEC_PER_MSEC, 2 * NSEC_PER_MSEC);
		KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, doubt ? 32768 : 8192);
	}

	/* A busier event could overflow in user space: the limiter raises the minimum period. */
	other->hw.interrupts = event->hw.interrupts + 1;
	cpuc->limiter.min_left = 4096;
	one_overflow_in(b, event, false, 6 * NSEC_PER_MSEC, 6 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, 8192);
}

/*
 * The limiter stretches the periods of an event with exclude_kernel to 512 and no further, however
 * much time its overflows take. It stretches periods of other events further.
 */
static void limiter_user_events(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 10, .exclude_kernel = 1,
	};
	struct fixture *b = test->priv;
	struct corepmu_cpu *cpuc = b->cpuc;
	struct perf_event *event, *other;

	event = fixture_open_start(b, &attr);
	begin_window(b);
	for (unsigned int i = 0; i < 20; i++)
		one_overflow(b, event, 0, 11 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, 512);
	KUNIT_EXPECT_EQ(test, corepmu_hw_min_period(&event->hw), 512);
	KUNIT_EXPECT_TRUE(test, cpuc->limiter.is_raised);

	other = fixture_sampling(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100);
	other->hw.interrupts = event->hw.interrupts;
	for (unsigned int i = 0; i < 4; i++)
		one_overflow(b, event, 5 * NSEC_PER_MSEC, 6 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, 4096);
	KUNIT_EXPECT_EQ(test, corepmu_hw_min_period(&event->hw), 512);
	KUNIT_EXPECT_EQ(test, corepmu_hw_min_period(&other->hw), 4096);
}

/* The limiter does not raise the minimum period if no period is shorter than the new minimum. */
static void limiter_spares_long_user_periods(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 1009, .exclude_kernel = 1,
	};
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_open_start(b, &attr);

	begin_window(b);
	for (unsigned int i = 0; i < 20; i++) {
		one_overflow(b, event, 0, 11 * NSEC_PER_MSEC);
		KUNIT_EXPECT_EQ(test, b->sample[0], 1009);
	}
	KUNIT_EXPECT_FALSE(test, b->cpuc->limiter.is_raised);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 20 * 1009);
}

/* A sample has the stretched period: the sum of the samples' periods is the count. */
static void limiter_samples_show_stretched_periods(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 10);
	u64 sum = 0;

	begin_window(b);
	for (unsigned int i = 0; i < 20; i++) {
		one_overflow(b, event, 0, 11 * NSEC_PER_MSEC);
		sum += b->sample[0];
		KUNIT_EXPECT_LE(test, sum, fixture_read(event));
		KUNIT_EXPECT_LT(test, fixture_read(event), sum + 10);
	}
	KUNIT_EXPECT_GT(test, b->sample[0], 1000);
}

/*
 * After a long time without overflows the limiter starts from the lowest minimum period. The first
 * events then have their own periods, in user space and in the kernel.
 */
static void limiter_forgets(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 30000);
	struct corepmu_cpu *cpuc = b->cpuc;

	begin_window(b);
	cpuc->limiter.min_left = BIT(17);
	cpuc->limiter.is_raised = true;
	cpuc->limiter.is_logged = true;
	one_overflow_in(b, event, true, 900 * NSEC_PER_MSEC, 1);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, BIT(16));
	KUNIT_EXPECT_TRUE(test, cpuc->limiter.is_raised);

	testbed_time += 180 * NSEC_PER_SEC;
	for (unsigned int i = 0; i < 40; i++)
		one_overflow_in(b, event, false, 8 * NSEC_PER_MSEC, 1200 * NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, b->pmu->min_left);
	KUNIT_EXPECT_EQ(test, corepmu_hw_min_period(&event->hw), b->pmu->min_left);
	KUNIT_EXPECT_FALSE(test, cpuc->limiter.is_raised);
	KUNIT_EXPECT_FALSE(test, cpuc->limiter.is_logged);

	/* 100 windows halve min_left; a longer time resets it. */
	for (unsigned int i = 0; i < 2; i++) {
		cpuc->limiter.min_left = BIT(10);
		corepmu_limiter_end_window(cpuc, 100 * COREPMU_LIMITER_WINDOW_NS + i);
		KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, i ? b->pmu->min_left : BIT(9));
	}
}

/*
 * The limiter ignores a single interrupt in which a hypervisor stalls the CPU for two windows. If
 * all interrupts take that long, the limiter stretches periods.
 */
static void limiter_stall(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 10);
	struct corepmu_cpu *cpuc = b->cpuc;
	s64 lowest = b->pmu->min_left;

	cpuc->limiter.window = testbed_time;
	for (unsigned int stall = 0; stall < 10; stall++) {
		one_overflow(b, event, 0, 20 * NSEC_PER_MSEC);
		KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, lowest);
		for (unsigned int i = 0; i < 100; i++)
			one_overflow(b, event, NSEC_PER_MSEC, 50 * NSEC_PER_USEC);
		KUNIT_EXPECT_EQ(test, cpuc->limiter.min_left, lowest);
	}
	for (unsigned int i = 0; i < 20; i++)
		one_overflow(b, event, 0, 20 * NSEC_PER_MSEC);
	KUNIT_EXPECT_GE(test, cpuc->limiter.min_left, 16);
}

/* Events beside a throttled event keep their own periods. */
static void limiter_neighbour(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *storm = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 10);
	struct perf_event *other = fixture_sampling(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100);
	struct corepmu_cpu *cpuc = b->cpuc;
	s64 lowest = b->pmu->min_left, left;

	begin_window(b);
	for (unsigned int i = 0; i < 8; i++)
		one_overflow(b, storm, 0, 11 * NSEC_PER_MSEC);
	testbed_sample_ns = 1;
	KUNIT_EXPECT_GT(test, cpuc->limiter.min_left, 100);
	KUNIT_EXPECT_GT(test, corepmu_hw_min_period(&storm->hw), 100);
	KUNIT_EXPECT_EQ(test, corepmu_hw_min_period(&other->hw), lowest);

	/* The other event keeps its period: the limiter does not stretch the rest of it. */
	fixture_run(b, TESTBED_BRANCHES, 95);
	fixture_stop_event(other, PERF_EF_UPDATE);
	fixture_start_event(other, PERF_EF_RELOAD);
	left = (0 - local64_read(&other->hw.prev_count)) & corepmu_hw_value_mask(&other->hw);
	KUNIT_EXPECT_EQ(test, left, max_t(s64, local64_read(&other->hw.period_left), lowest));
	KUNIT_EXPECT_LE(test, left, 5);
	fixture_run(b, TESTBED_BRANCHES, left);
	KUNIT_EXPECT_EQ(test, corepmu_hw_min_period(&other->hw), lowest);

	/*
	 * An event that comes from another CPU has that CPU's minimum period: this CPU resets it.
	 */
	corepmu_hw_set_min_period(&other->hw, BIT(20));
	cpuc->limiter.min_left = lowest;
	fixture_run(b, TESTBED_BRANCHES, local64_read(&other->hw.period_left));
	KUNIT_EXPECT_EQ(test, corepmu_hw_min_period(&other->hw), lowest);
}

/* For an event with a frequency, perf core sees the stretched period as the requested one. */
static void limiter_frequency(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
		.freq = 1, .sample_freq = 1000,
	};
	struct fixture *b = test->priv;
	struct perf_event *event;

	KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
	/* As after the measurement of the rate: overflows emit samples. */
	corepmu_hw_set_freq(&event->hw, attr.sample_freq);
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	b->cpuc->limiter.min_left = 4096;
	corepmu_hw_set_min_period(&event->hw, 4096);
	event->hw.sample_period = 3;
	one_overflow(b, event, 0, 1);
	KUNIT_EXPECT_EQ(test, event->hw.last_period, 4096);
	b->cpuc->limiter.min_left = b->pmu->min_left;
}

/* An inherited event has its parent's minimum period, but at most the CPU's. */
static void limiter_inherits(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *parent = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 100), *child;
	s64 lowest = b->pmu->min_left;
	const struct {
		s64 limit, first;
	} table[] = { { 8192, 4096 }, { lowest, lowest } };

	corepmu_hw_set_min_period(&parent->hw, 4096);
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		child = fixture_alloc(b, &parent->attr);
		KUNIT_ASSERT_NOT_NULL(test, child);
		child->parent = parent;
		b->cpuc->limiter.min_left = table[i].limit;
		KUNIT_ASSERT_EQ(test, fixture_init_event(child), 0);
		KUNIT_EXPECT_EQ(test, corepmu_hw_min_period(&child->hw), table[i].first);
		child->parent = NULL;
		fixture_close(child);
	}
}

/*
 * x86's handler also sees NMIs of others; whether they hit user space says nothing about overflows.
 */
static void limiter_ignores_other_nmis(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct corepmu_cpu *cpuc = b->cpuc;

	cpuc->limiter.user_hit = false;
	for (unsigned int ours = 0; ours <= 1; ours++) {
		begin_window(b);
		preempt_disable();
		corepmu_overflow_begin(cpuc, model_regs(true));
		corepmu_overflow_end(cpuc, ours, ours);
		preempt_enable();
		KUNIT_EXPECT_EQ(test, cpuc->limiter.user_hit, ours);
	}
}

/* A minimum of 4096 or more rises only if overflows take over three quarters of the window. */
static void limiter_leaves_a_quarter(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct corepmu_limiter *limiter = &b->cpuc->limiter;
	const u64 window = COREPMU_LIMITER_WINDOW_NS;

	fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 10);
	for (unsigned int i = 0; i < 2; i++) {
		limiter->min_left = 4096;
		limiter->user_hit = true;
		limiter->busy_ns = window / 4 * 3 + i;
		corepmu_limiter_end_window(b->cpuc, window);
		KUNIT_EXPECT_EQ(test, limiter->min_left, i ? 8192 : 4096);
	}
}

/*
 * min_left doubles above 1/3 of a window, and is halved below 1/12; above 4096 it is halved below
 * 1/3. From 4096 on, without an overflow in user space: 1/12 and 1/24.
 */
static void limiter_shares(struct kunit *test)
{
	const u64 third = COREPMU_LIMITER_WINDOW_NS / 3, twelfth = COREPMU_LIMITER_WINDOW_NS / 12;
	const struct {
		s64 before;
		u64 busy;
		bool user_hit;
		s64 after;
	} table[] = {
		{ 64, third, true, 64 }, { 64, third + 1, true, 128 },
		{ 64, twelfth, true, 64 }, { 64, twelfth - 1, true, 32 },
		{ 64, twelfth + 1, false, 64 },
		{ 4096, third - 1, true, 4096 }, { 4096, twelfth - 1, true, 2048 },
		{ 8192, third, true, 8192 }, { 8192, third - 1, true, 4096 },
		{ 4096, twelfth, false, 4096 }, { 4096, twelfth + 1, false, 8192 },
		{ 4096, twelfth / 2, false, 4096 }, { 4096, twelfth / 2 - 1, false, 2048 },
	};
	struct fixture *b = test->priv;
	struct corepmu_limiter *limiter = &b->cpuc->limiter;

	fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 10)->hw.interrupts = 1;
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		limiter->min_left = table[i].before;
		limiter->busy_ns = table[i].busy;
		limiter->user_hit = table[i].user_hit;
		corepmu_limiter_end_window(b->cpuc, COREPMU_LIMITER_WINDOW_NS);
		KUNIT_EXPECT_EQ_MSG(test, limiter->min_left, table[i].after, "row %u", i);
	}
}

/* End a window in which overflows took all of the time. */
static void busy_window(struct fixture *b)
{
	b->cpuc->limiter.user_hit = true;
	b->cpuc->limiter.busy_ns = COREPMU_LIMITER_WINDOW_NS;
	corepmu_limiter_end_window(b->cpuc, COREPMU_LIMITER_WINDOW_NS);
}

/*
 * The limiter throttles events that interrupt at least half as often as the busiest, and their
 * parents. From 2^17 on it throttles all events.
 */
static void limiter_chooses_events(struct kunit *test)
{
	static const struct {
		unsigned int interrupts;
		s64 before;
		bool throttles;
	} table[] = {
		{ 4, 512, false }, { 5, 512, true }, { 1, BIT(15), false }, { 1, BIT(16), true },
	};
	struct fixture *b = test->priv;
	struct perf_event *busiest = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 10);
	struct perf_event *other = fixture_sampling(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 10);
	struct perf_event *parent = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 10);
	s64 lowest = corepmu_hw_min_period(&other->hw), raised;

	busiest->hw.interrupts = 10;
	other->parent = parent;
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		raised = 2 * table[i].before;
		other->hw.interrupts = table[i].interrupts;
		corepmu_hw_set_min_period(&other->hw, lowest);
		corepmu_hw_set_min_period(&parent->hw, lowest);
		b->cpuc->limiter.min_left = table[i].before;
		busy_window(b);
		KUNIT_EXPECT_EQ(test, corepmu_hw_min_period(&busiest->hw), raised);
		KUNIT_EXPECT_EQ(test, corepmu_hw_min_period(&other->hw),
				table[i].throttles ? raised : lowest);
		KUNIT_EXPECT_EQ(test, corepmu_hw_min_period(&parent->hw),
				table[i].throttles ? raised : lowest);
	}
	other->parent = NULL;
}

/* An interrupt counts for at most max_irq_ns. The excess postpones the start of the window. */
static void limiter_clamps(struct kunit *test)
{
	struct corepmu_limiter limiter = { .window = 1000, .max_irq_ns = 200000 };

	KUNIT_EXPECT_EQ(test, corepmu_limiter_adjust(&limiter, 500000), 200000);
	KUNIT_EXPECT_EQ(test, limiter.window, 301000);
	KUNIT_EXPECT_EQ(test, limiter.max_irq_ns, 300000);
}

/* An interrupt shorter than a quarter of max_irq_ns lowers it by 1/8, never below 150 us. */
static void limiter_decays(struct kunit *test)
{
	struct corepmu_limiter limiter = { .max_irq_ns = 300000 };

	corepmu_limiter_adjust(&limiter, 75000);
	KUNIT_EXPECT_EQ(test, limiter.max_irq_ns, 300000);
	corepmu_limiter_adjust(&limiter, 74999);
	KUNIT_EXPECT_EQ(test, limiter.max_irq_ns, 262500);
	limiter.max_irq_ns = 151000;
	corepmu_limiter_adjust(&limiter, 0);
	KUNIT_EXPECT_EQ(test, limiter.max_irq_ns, 150000);
}

static struct kunit_case limiter_cases[] = {
	KUNIT_CASE_PARAM(limiter_windows, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_long, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_leaves_a_quarter, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_shares, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_chooses_events, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_clamps, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_decays, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_kernel, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_kernel_events, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_user_events, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_spares_long_user_periods, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_samples_show_stretched_periods, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_forgets, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_stall, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_neighbour, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_frequency, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_inherits, testbed_gen_params),
	KUNIT_CASE_PARAM(limiter_ignores_other_nmis, testbed_gen_params),
	{ }
};

TESTBED_SUITE(limiter, "corepmu_limiter");
