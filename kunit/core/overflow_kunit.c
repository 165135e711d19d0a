// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of core/overflow.c, on every testbed
 *
 * Samples pass through perf_event_overflow(). The fixture's overflow handler gets them instead of
 * the ring buffer.
 */
#include <kunit/test.h>

#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include <corepmu/counter.h>
#include <corepmu/overflow.h>

#include "fixture/testbed.h"

/*
 * The count that ends a period causes a sample, and no earlier count does. The sample shows the
 * period.
 */
static void overflow_periods(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);

	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 999, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1, 1);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 9999, 10);
	for (unsigned int i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, b->sample[i], 1000);
		KUNIT_EXPECT_TRUE(test, b->sample_user[i]);
	}
	KUNIT_EXPECT_EQ(test, fixture_read(event), 10999);
}

/* Return how late a period ends if its last part is shorter than the counter's minimum period. */
static u64 late_by(struct fixture *b, const struct perf_event *event, u64 period)
{
	u64 piece = min_t(u64, corepmu_hw_value_mask(&event->hw) >> 1, b->pmu->max_left);
	u64 last = period % piece;

	return last && last < b->pmu->min_left ? b->pmu->min_left - last : 0;
}

/* Periods may be longer than a counter's range, or than the values that can be written. */
static void overflow_long_periods(struct kunit *test)
{
	static const u64 periods[] = { 1ULL << 31, 1ULL << 33, (1ULL << 40) + 12345, 1ULL << 50 };
	struct fixture *b = test->priv;
	u64 late;

	for (unsigned int i = 0; i < ARRAY_SIZE(periods); i++) {
		struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_INSTRUCTIONS,
							    periods[i]);

		/* Skip periods that take days of interrupts. */
		if (periods[i] >> (b->pmu->width[event->hw.idx] + 9) ||
		    periods[i] / b->pmu->max_left > 1000) {
			fixture_remove(event);
			continue;
		}
		late = late_by(b, event, periods[i]);
		RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, periods[i] - 1 + late, 0);
		RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 1, 1);
		RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, periods[i] - late, 2);
		KUNIT_EXPECT_EQ(test, fixture_read(event), 2 * periods[i]);
		fixture_remove(event);
	}
}

/* Several counters overflow in one interrupt: each event gets its sample and its count. */
static void overflow_several(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *first, *second, *third = NULL;
	bool room = hweight64(b->pmu->counters) > 2;

	first = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 100);
	second = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 100);
	if (room)
		third = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 300);
	/* All events start at 0. */
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 100, 2);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 200, room ? 7 : 6);

	KUNIT_EXPECT_EQ(test, fixture_read(first), 300);
	KUNIT_EXPECT_EQ(test, fixture_read(second), 300);
	fixture_remove(first);
	fixture_remove(second);
	if (room) {
		KUNIT_EXPECT_EQ(test, fixture_read(third), 300);
		fixture_remove(third);
	}
}

/* A late interrupt: counts are exact, and periods do not drift. */
static void overflow_late_keeps_periods(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);

	for (unsigned int i = 0; i < 10; i++) {
		b->testbed->ops->hold(true);
		RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1000 + 37, i);
		b->testbed->ops->hold(false);
		KUNIT_EXPECT_EQ(test, b->nr_samples, i + 1);
		/* Up to one event before the end of the next period */
		RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1000 - 37 - 1, i + 1);
		RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1, i + 2);
		b->nr_samples--;
	}
	KUNIT_EXPECT_EQ(test, fixture_read(event), 20000);
}

/*
 * The interrupt is late by more than half of the counter's range: the count stays exact. The stop
 * emits the sample: in the interrupt, CPUs without a status register would see no overflow, since
 * the counter's top bit is set again.
 */
static void overflow_late_by_half_the_range(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_INSTRUCTIONS, 1000);
	u64 mask = corepmu_hw_value_mask(&event->hw), late = 1000 + (mask >> 1) + 100;

	if (mask == U64_MAX)
		kunit_skip(test, "half of the counter's range is the longest period");
	b->testbed->ops->hold(true);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, late, event, late);
	fixture_stop_event(event, PERF_EF_UPDATE);
	b->testbed->ops->hold(false);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), late);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, b->sample[0], late);
}

/* Place of the last sample */
static bool seen_user;
static unsigned long seen_ip;

static void note_place(struct fixture *b, struct perf_event *event)
{
	struct pt_regs regs = *b->sample_regs;

	seen_user = user_mode(&regs);
	seen_ip = instruction_pointer(&regs);
}

/* Overflow in user space; the interrupt hits the kernel, in a task with @type: PF_KTHREAD or 0. */
static void overflow_late(struct fixture *b, unsigned int type)
{
	unsigned int saved = current->flags;
	unsigned long flags;

	b->testbed->ops->hold(true);
	fixture_run(b, TESTBED_INSTRUCTIONS, 1000);
	local_irq_save(flags);
	current->flags = (saved & ~PF_KTHREAD) | type;
	b->testbed->ops->hold(false);
	current->flags = saved;
	local_irq_restore(flags);
}

/*
 * With exclude_kernel, an interrupt may hit the kernel after an overflow in user space. The sample
 * then has the registers at which the task left user space. A kernel thread has none, and the saved
 * registers of a worker of io_uring are the kernel's: the sample shows address 0 of user space, and
 * no register of the kernel.
 */
static void overflow_shows_user_registers(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = 1000, .exclude_kernel = 1,
	};
	struct pt_regs *task = task_pt_regs(current), saved = *task;

	fixture_open_start(b, &attr);
	b->on_sample = note_place;
	fixture_run(b, TESTBED_INSTRUCTIONS, 1000);
	KUNIT_EXPECT_PTR_EQ(test, b->sample_regs, (const struct pt_regs *)model_regs(true));

	for (unsigned int i = 0; i < 2; i++) {
		seen_user = false;
		seen_ip = 1;
		overflow_late(b, i ? PF_KTHREAD : 0);
		KUNIT_EXPECT_TRUE(test, seen_user);
		KUNIT_EXPECT_EQ(test, seen_ip, 0);
	}

	*task = corepmu_no_user_regs;
	overflow_late(b, 0);
	*task = saved;
	KUNIT_EXPECT_PTR_EQ(test, b->sample_regs, (const struct pt_regs *)task);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 4);
}

/* An interrupt without an overflow changes nothing, with and without events. */
static void overflow_spurious(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event;

	/*
	 * On AMD, the driver claims unknown NMIs for 100 ms after an overflow, even if a test on
	 * another testbed caused the overflow.
	 */
	if (!strncmp(b->testbed->name, "amd", 3))
		msleep(150);
	b->testbed->ops->spurious();
	b->unknown_expected++;
	event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);
	fixture_run(b, TESTBED_CYCLES, 500);
	b->testbed->ops->spurious();
	b->unknown_expected++;
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 499, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1, 1);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1000);
}

/*
 * A sample at a stop would lack the trace data of an event that has been stopped before. The sample
 * comes when the event counts again.
 */
static void overflow_stop_without_trace(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);
	struct perf_event *trace = kunit_kzalloc(test, sizeof(*trace), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, trace);
	trace->state = PERF_EVENT_STATE_INACTIVE;
	event->aux_event = trace;
	event->attr.sample_type |= PERF_SAMPLE_AUX;
	b->testbed->ops->hold(true);
	fixture_run(b, TESTBED_CYCLES, 1010);
	fixture_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	b->testbed->ops->hold(false);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	b->unknown_expected = b->testbed->ops->unknown();

	trace->state = PERF_EVENT_STATE_ACTIVE;
	fixture_start_event(event, PERF_EF_RELOAD);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, b->pmu->min_left, 1);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1010 + b->pmu->min_left);
	event->aux_event = NULL;
}

/*
 * A counter overflows, and perf core stops the event before the interrupt. The stop emits the
 * sample, once; the interrupt finds nothing.
 */
static void overflow_during_stop(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);
	unsigned int unknown;

	b->testbed->ops->hold(true);
	fixture_run(b, TESTBED_CYCLES, 1010);
	fixture_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, b->sample[0], 1000);
	unknown = b->testbed->ops->unknown();
	b->testbed->ops->hold(false);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	/* Without a status register, the handler cannot tell which driver the NMI belongs to. */
	b->unknown_expected = b->testbed->ops->unknown();
	KUNIT_EXPECT_LE(test, b->unknown_expected - unknown, 1);

	fixture_start_event(event, PERF_EF_RELOAD);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 989, 1);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1, 2);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 2000);

	/* The same with del() instead of stop() */
	b->testbed->ops->hold(true);
	fixture_run(b, TESTBED_CYCLES, 1005);
	fixture_del(event);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 3);
	b->testbed->ops->hold(false);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 3);
	b->unknown_expected = b->testbed->ops->unknown();
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 3005);
}

/* An event loses its counter with an overflow pending; another event gets the counter. */
static void overflow_of_previous_event(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000), *next;

	b->testbed->ops->hold(true);
	fixture_run(b, TESTBED_CYCLES, 1001);
	fixture_remove(event);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);

	next = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 500);
	b->testbed->ops->hold(false);
	b->unknown_expected = b->testbed->ops->unknown();
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 499, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1, 1);
	KUNIT_EXPECT_EQ(test, fixture_read(next), 500);
}

static void stop_event(struct fixture *b, struct perf_event *event)
{
	event->pmu->stop(event, 0);
}

/* The overflow handler stops its event: the event counts no more, and no count is lost. */
static void overflow_stops(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);

	b->on_sample = stop_event;
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1500, 1);
	KUNIT_EXPECT_TRUE(test, event->hw.state & PERF_HES_STOPPED);
	KUNIT_EXPECT_EQ(test, b->cpuc->active, 0);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1000);
	b->on_sample = NULL;
	fixture_start_event(event, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1000, 2);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 2000);
}

/* Perf core's own limit stops an event that interrupts too often in a tick. */
static void overflow_throttle(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 100);
	unsigned long flags;
	u64 count;

	/* No tick comes meanwhile: it would reset the count of interrupts. */
	local_irq_save(flags);
	b->throttle = true;
	fixture_run(b, TESTBED_CYCLES, 100);
	KUNIT_EXPECT_FALSE(test, event->hw.state & PERF_HES_STOPPED);
	KUNIT_EXPECT_EQ(test, event->hw.interrupts, 1);
	event->hw.interrupts = S64_MAX;
	fixture_run(b, TESTBED_CYCLES, 100);
	KUNIT_EXPECT_TRUE(test, event->hw.state & PERF_HES_STOPPED);
	KUNIT_EXPECT_EQ(test, event->hw.interrupts, ~0ULL);
	count = local64_read(&event->count);
	RUN_EXPECT_COUNT(b, TESTBED_CYCLES, 1000, event, count);

	/* As perf_adjust_freq_unthr_context() at the next tick */
	event->hw.interrupts = 0;
	event->pmu->start(event, 0);
	local_irq_restore(flags);
	RUN_EXPECT_COUNT(b, TESTBED_CYCLES, 100, event, count + 100);
}

static struct perf_event *sampled_first;

/* perf_event_throttle_group() of 6.16 and later stops the other events of the group, too. */
static void stop_others(struct fixture *b, struct perf_event *event)
{
	if (sampled_first)
		return;
	sampled_first = event;
	for (unsigned int i = 0; i < COREPMU_MAX_COUNTERS; i++) {
		struct perf_event *other = b->cpuc->events[i];

		if (other && other != event)
			other->pmu->stop(other, 0);
	}
}

/*
 * Two counters overflow at the same time. The sample of one event makes perf core stop the other
 * event, after its overflow is acknowledged. The other event still gets its sample. After a
 * restart, as by perf_event_unthrottle(), it overflows after its period, not after the counter's
 * full range.
 */
static void overflow_throttles_group(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *first = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);
	struct perf_event *second = fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000), *other;

	sampled_first = NULL;
	b->on_sample = stop_others;
	fixture_run(b, TESTBED_CYCLES, 1000);
	b->on_sample = NULL;
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	other = sampled_first == first ? second : first;
	KUNIT_EXPECT_TRUE(test, other->hw.state & PERF_HES_STOPPED);
	KUNIT_EXPECT_FALSE(test, sampled_first->hw.state & PERF_HES_STOPPED);

	fixture_start_event(other, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 999, 2);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1, 4);
	KUNIT_EXPECT_EQ(test, fixture_read(first), 2000);
	KUNIT_EXPECT_EQ(test, fixture_read(second), 2000);
}

/* With a frequency, perf core changes the period at samples; counts stay exact. */
static void overflow_freq(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
		.freq = 1, .sample_freq = 1000,
	};
	struct fixture *b = test->priv;
	struct perf_event *event;
	u64 sum = 0;
	unsigned int i;

	event = fixture_open_start(b, &attr);
	/* The model overflows faster than any CPU: the period soon becomes very large. */
	for (i = 0; i < 50 && event->hw.sample_period < BIT_ULL(40); i++) {
		u64 samples = b->nr_samples;

		fixture_run(b, TESTBED_CYCLES, max_t(s64, local64_read(&event->hw.period_left),
						     b->cpuc->limiter.min_left));
		KUNIT_EXPECT_GT(test, b->nr_samples, samples);
	}
	for (i = 0; i < min_t(unsigned int, b->nr_samples, TESTBED_SAMPLES); i++)
		sum += b->sample[i];
	if (b->nr_samples <= TESTBED_SAMPLES)
		KUNIT_EXPECT_LE(test, sum, fixture_read(event));
	KUNIT_EXPECT_GT(test, i, 2);
}

static u64 period_seen;

static void see_period(struct fixture *b, struct perf_event *event)
{
	period_seen = event->hw.last_period;
}

/* In hw.last_period, perf core sees the ended period, not the new one. */
static void overflow_freq_has_ended_period(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
		.freq = 1, .sample_freq = 1000,
	};
	struct fixture *b = test->priv;
	struct perf_event *event;
	const u64 ended = 10000, next = 20000;

	KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
	/* The period has been found: core/frequency.c does not change it. */
	corepmu_hw_set_freq(&event->hw, attr.sample_freq);
	event->hw.sample_period = ended;
	event->hw.last_period = ended;
	local64_set(&event->hw.period_left, ended);
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	event->hw.sample_period = next;
	b->on_sample = see_period;
	fixture_run(b, TESTBED_CYCLES, ended);
	b->on_sample = NULL;
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, b->sample[0], ended);
	KUNIT_EXPECT_EQ(test, period_seen, ended);
	KUNIT_EXPECT_EQ(test, event->hw.last_period, next);
}

/* A sample has the registers of the code that the interrupt hits. */
static void overflow_regs(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 10,
	};
	struct fixture *b = test->priv;

	fixture_open_start(b, &attr);
	b->testbed->ops->run(TESTBED_CYCLES, false, 10);
	b->testbed->ops->run(TESTBED_CYCLES, true, 10);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_FALSE(test, b->sample_user[0]);
	KUNIT_EXPECT_TRUE(test, b->sample_user[1]);
}

/* Perf core gets the duration of every interrupt with an overflow, and of no other. */
static void overflow_reports_duration(struct kunit *test)
{
	struct fixture *b = test->priv;

	fixture_sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);
	testbed_sample_ns = 700;
	fixture_run(b, TESTBED_CYCLES, 3000);
	KUNIT_EXPECT_EQ(test, testbed_took_calls, 3);
	KUNIT_EXPECT_EQ(test, testbed_took_ns, 3 * 700);
	b->testbed->ops->spurious();
	b->unknown_expected = b->testbed->ops->unknown();
	KUNIT_EXPECT_EQ(test, testbed_took_calls, 3);
}

/* The counter of a counting event wraps: no sample, and an exact count. */
static void overflow_counting(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event;
	u64 beyond;

	corepmu_start_near_wrap = 1000;
	event = fixture_sampling(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
	beyond = b->pmu->width[event->hw.idx] == 64 ? 1ULL << 33 : 5000;
	RUN_EXPECT_COUNT(b, TESTBED_BRANCHES, 900, event, 900);
	RUN_EXPECT_COUNT(b, TESTBED_BRANCHES, beyond, event, 900 + beyond);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
}

static struct kunit_case overflow_cases[] = {
	KUNIT_CASE_PARAM(overflow_periods, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_long_periods, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_several, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_late_keeps_periods, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_late_by_half_the_range, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_shows_user_registers, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_spurious, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_stop_without_trace, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_during_stop, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_of_previous_event, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_stops, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_throttle, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_throttles_group, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_freq, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_freq_has_ended_period, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_regs, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_reports_duration, testbed_gen_params),
	KUNIT_CASE_PARAM(overflow_counting, testbed_gen_params),
	{ }
};

TESTBED_SUITE(overflow, "corepmu_overflow");
