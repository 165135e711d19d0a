// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of overflow.c: what overflows do, on every machine
 *
 * Samples come through perf_event_overflow() itself; what would go to the ring
 * buffer comes to the bench instead.
 */
#include <kunit/test.h>

#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/time64.h>

#include <corepmu/counter.h>

#include "machine.h"

static struct perf_event *sampling(struct bench *b, u64 hardware, u64 period)
{
	struct perf_event *event = bench_event(b, hardware, period);

	KUNIT_ASSERT_EQ(b->test, bench_add(event, PERF_EF_START), 0);
	bench_forget(b);

	return event;
}

static void end(struct perf_event *event)
{
	bench_del(event);
	bench_close(event);
}

/* A sample with the count that ends a period, not before, and each of its period */
static void overflow_periods(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);
	unsigned int i;

	bench_run(b, MACHINE_CYCLES, 999);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	bench_run(b, MACHINE_CYCLES, 1);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	bench_run(b, MACHINE_CYCLES, 9999);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 10);
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, b->sample[i], 1000);
		KUNIT_EXPECT_TRUE(test, b->sample_user[i]);
	}
	KUNIT_EXPECT_EQ(test, bench_read(event), 10999);
	end(event);
}

/* How late a period ends whose last piece is shorter than a counter can be set to. */
static u64 late_by(struct bench *b, const struct perf_event *event, u64 period)
{
	u64 piece = min_t(u64, event->hw.event_base >> 1, b->pmu->max_left);
	u64 last = period % piece;

	return last && last < b->pmu->min_left ? b->pmu->min_left - last : 0;
}

/* Long periods: further than a counter reaches, or can be written */
static void overflow_long_periods(struct kunit *test)
{
	static const u64 periods[] = { 1ULL << 31, 1ULL << 33, (1ULL << 40) + 12345, 1ULL << 50 };
	struct bench *b = test->priv;
	unsigned int i;
	u64 late;

	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		struct perf_event *event = sampling(b, PERF_COUNT_HW_INSTRUCTIONS, periods[i]);

		/* Not one interrupt after another for days. */
		if (periods[i] >> (b->pmu->width[event->hw.idx] + 9) ||
		    periods[i] / b->pmu->max_left > 1000) {
			end(event);
			continue;
		}
		late = late_by(b, event, periods[i]);
		bench_run(b, MACHINE_INSTRUCTIONS, periods[i] - 1 + late);
		KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
		bench_run(b, MACHINE_INSTRUCTIONS, 1);
		KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
		bench_run(b, MACHINE_INSTRUCTIONS, periods[i] - late);
		KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
		KUNIT_EXPECT_EQ(test, bench_read(event), 2 * periods[i]);
		end(event);
	}
}

/* Several counters overflow in one interrupt: each has its sample and its count. */
static void overflow_several(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *first, *second, *third = NULL;
	bool room = hweight64(b->pmu->counters) > 2;

	first = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 100);
	second = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 100);
	if (room)
		third = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 300);
	/* All are at their beginning: nothing has been counted. */
	bench_run(b, MACHINE_CYCLES, 100);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	bench_run(b, MACHINE_CYCLES, 200);
	KUNIT_EXPECT_EQ(test, b->nr_samples, room ? 7 : 6);

	KUNIT_EXPECT_EQ(test, bench_read(first), 300);
	KUNIT_EXPECT_EQ(test, bench_read(second), 300);
	end(first);
	end(second);
	if (room) {
		KUNIT_EXPECT_EQ(test, bench_read(third), 300);
		end(third);
	}
}

/* The interrupt comes late: counts are exact, and periods do not drift. */
static void overflow_skid(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);
	unsigned int i;

	for (i = 0; i < 10; i++) {
		b->machine->ops->hold(true);
		bench_run(b, MACHINE_CYCLES, 1000 + 37);
		KUNIT_EXPECT_EQ(test, b->nr_samples, i);
		b->machine->ops->hold(false);
		KUNIT_EXPECT_EQ(test, b->nr_samples, i + 1);
		/* Up to the next end of a period, less one. */
		bench_run(b, MACHINE_CYCLES, 1000 - 37 - 1);
		KUNIT_EXPECT_EQ(test, b->nr_samples, i + 1);
		bench_run(b, MACHINE_CYCLES, 1);
		KUNIT_EXPECT_EQ(test, b->nr_samples, i + 2);
		b->nr_samples--;
	}
	KUNIT_EXPECT_EQ(test, bench_read(event), 20000);
	end(event);
}

/*
 * The interrupt of an event that does not count the kernel comes when the kernel
 * has been entered: the place is where the task left user space, if it has one.
 */
static void overflow_place(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = 1000, .exclude_kernel = 1,
	};
	struct perf_event *event;
	unsigned long flags;

	KUNIT_ASSERT_EQ(test, bench_open(b, &attr, &event), 0);
	KUNIT_EXPECT_EQ(test, bench_add(event, PERF_EF_START), 0);
	bench_run(b, MACHINE_INSTRUCTIONS, 1000);
	KUNIT_EXPECT_PTR_EQ(test, b->sample_regs, (const struct pt_regs *)model_regs(true));

	b->machine->ops->hold(true);
	bench_run(b, MACHINE_INSTRUCTIONS, 1000);
	b->machine->ops->hold(false);
	KUNIT_EXPECT_PTR_EQ(test, b->sample_regs, (const struct pt_regs *)model_regs(false));

	b->machine->ops->hold(true);
	bench_run(b, MACHINE_INSTRUCTIONS, 1000);
	local_irq_save(flags);
	current->flags &= ~PF_KTHREAD;
	b->machine->ops->hold(false);
	current->flags |= PF_KTHREAD;
	local_irq_restore(flags);
	KUNIT_EXPECT_PTR_EQ(test, b->sample_regs, (const struct pt_regs *)task_pt_regs(current));
	KUNIT_EXPECT_EQ(test, b->nr_samples, 3);

	bench_del(event);
	bench_close(event);
}

/* An interrupt without an overflow, with events and without */
static void overflow_spurious(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event;

	/* After an overflow, of another machine even, AMD's are believed for 100 ms. */
	if (!strncmp(b->machine->name, "amd", 3))
		msleep(150);
	b->machine->ops->spurious();
	b->unknown_expected++;
	event = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);
	bench_run(b, MACHINE_CYCLES, 500);
	b->machine->ops->spurious();
	b->unknown_expected++;
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	bench_run(b, MACHINE_CYCLES, 499);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	bench_run(b, MACHINE_CYCLES, 1);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, bench_read(event), 1000);
	end(event);
}

/*
 * A counter overflows, and its event is stopped before the interrupt is taken:
 * the sample is emitted by the stop, once, and the interrupt finds nothing more.
 */
static void overflow_during_stop(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);
	unsigned int unknown;

	b->machine->ops->hold(true);
	bench_run(b, MACHINE_CYCLES, 1010);
	bench_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, b->sample[0], 1000);
	unknown = b->machine->ops->unknown();
	b->machine->ops->hold(false);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	/* With no status register nothing tells whose the NMI was. */
	b->unknown_expected = b->machine->ops->unknown();
	KUNIT_EXPECT_LE(test, b->unknown_expected - unknown, 1);

	bench_start_event(event, PERF_EF_RELOAD);
	bench_run(b, MACHINE_CYCLES, 989);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	bench_run(b, MACHINE_CYCLES, 1);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, bench_read(event), 2000);

	/* The same with del() in place of stop() */
	b->machine->ops->hold(true);
	bench_run(b, MACHINE_CYCLES, 1005);
	bench_del(event);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 3);
	b->machine->ops->hold(false);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 3);
	b->unknown_expected = b->machine->ops->unknown();
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 3005);
	bench_close(event);
}

/* The counter of an event that left, with its overflow pending, goes to another. */
static void overflow_of_another(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000), *next;

	b->machine->ops->hold(true);
	bench_run(b, MACHINE_CYCLES, 1001);
	bench_del(event);
	bench_close(event);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);

	next = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 500);
	b->machine->ops->hold(false);
	b->unknown_expected = b->machine->ops->unknown();
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	bench_run(b, MACHINE_CYCLES, 499);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	bench_run(b, MACHINE_CYCLES, 1);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, bench_read(next), 500);
	end(next);
}

static void stop_event(struct bench *b, struct perf_event *event)
{
	event->pmu->stop(event, 0);
}

/* The handler of a sample stops its event: no more is counted, nothing is lost. */
static void overflow_stops(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);

	b->on_sample = stop_event;
	bench_run(b, MACHINE_CYCLES, 1500);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_TRUE(test, event->hw.state & PERF_HES_STOPPED);
	KUNIT_EXPECT_EQ(test, b->cpuc->active, 0);
	KUNIT_EXPECT_EQ(test, bench_read(event), 1000);
	b->on_sample = NULL;
	bench_start_event(event, 0);
	bench_run(b, MACHINE_CYCLES, 1000);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, bench_read(event), 2000);
	end(event);
}

/* perf core's own limit: an event that interrupts too often in a tick is stopped. */
static void overflow_throttle(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 100);
	unsigned long flags;
	u64 count;

	/* No tick meanwhile, which would begin to count anew. */
	local_irq_save(flags);
	b->throttle = true;
	bench_run(b, MACHINE_CYCLES, 100);
	KUNIT_EXPECT_FALSE(test, event->hw.state & PERF_HES_STOPPED);
	KUNIT_EXPECT_EQ(test, event->hw.interrupts, 1);
	event->hw.interrupts = S64_MAX;
	bench_run(b, MACHINE_CYCLES, 100);
	KUNIT_EXPECT_TRUE(test, event->hw.state & PERF_HES_STOPPED);
	KUNIT_EXPECT_EQ(test, event->hw.interrupts, ~0ULL);
	count = local64_read(&event->count);
	bench_run(b, MACHINE_CYCLES, 1000);
	KUNIT_EXPECT_EQ(test, bench_read(event), count);

	/* perf_adjust_freq_unthr_context(), with the next tick */
	event->hw.interrupts = 0;
	event->pmu->start(event, 0);
	local_irq_restore(flags);
	bench_run(b, MACHINE_CYCLES, 100);
	KUNIT_EXPECT_EQ(test, bench_read(event), count + 100);
	end(event);
}

/* A frequency: perf core changes the period with the samples, and counts stay exact. */
static void overflow_freq(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
		.freq = 1, .sample_freq = 1000,
	};
	struct bench *b = test->priv;
	struct perf_event *event;
	u64 sum = 0;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, bench_open(b, &attr, &event), 0);
	KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
	/* The model is faster than any CPU: the period soon gets out of hand. */
	for (i = 0; i < 50 && event->hw.sample_period < BIT_ULL(40); i++) {
		u64 samples = b->nr_samples;

		bench_run(b, MACHINE_CYCLES, max_t(s64, local64_read(&event->hw.period_left),
						   b->cpuc->min_left));
		KUNIT_EXPECT_GT(test, b->nr_samples, samples);
	}
	for (i = 0; i < min_t(unsigned int, b->nr_samples, MACHINE_SAMPLES); i++)
		sum += b->sample[i];
	if (b->nr_samples <= MACHINE_SAMPLES)
		KUNIT_EXPECT_LE(test, sum, bench_read(event));
	KUNIT_EXPECT_GT(test, i, 2);
	end(event);
}

/* A sample of an event that does not count the kernel tells no place in it. */
static void overflow_regs(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 10,
	};
	struct bench *b = test->priv;
	struct perf_event *event;

	KUNIT_ASSERT_EQ(test, bench_open(b, &attr, &event), 0);
	KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
	b->machine->ops->run(MACHINE_CYCLES, false, 10);
	b->machine->ops->run(MACHINE_CYCLES, true, 10);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_FALSE(test, b->sample_user[0]);
	KUNIT_EXPECT_TRUE(test, b->sample_user[1]);
	end(event);
}

/* Perf core hears of every interrupt with an overflow, and of no other. */
static void overflow_took(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 1000);

	machine_sample_ns = 700;
	bench_run(b, MACHINE_CYCLES, 3000);
	KUNIT_EXPECT_EQ(test, machine_took_calls, 3);
	KUNIT_EXPECT_EQ(test, machine_took_ns, 3 * 700);
	b->machine->ops->spurious();
	b->unknown_expected = b->machine->ops->unknown();
	KUNIT_EXPECT_EQ(test, machine_took_calls, 3);
	end(event);
}

/* From one overflow to the next, @gap nanoseconds apart, which takes @ns */
static void one_overflow_in(struct bench *b, struct perf_event *event, bool user, u64 gap, u64 ns)
{
	u64 left = (0 - local64_read(&event->hw.prev_count)) & event->hw.event_base;

	machine_time += gap;
	machine_sample_ns = ns;
	bench_forget(b);
	b->machine->ops->run(MACHINE_CYCLES, user, left);
	KUNIT_EXPECT_EQ(b->test, b->nr_samples, 1);
}

static void one_overflow(struct bench *b, struct perf_event *event, u64 gap, u64 ns)
{
	one_overflow_in(b, event, true, gap, ns);
}

/*
 * The limiter: when overflows take more than a third of a window of 10 ms, short
 * periods are stretched, further from window to window; when they take less than
 * a twelfth, less far again.
 */
static void overflow_limiter(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 10);
	struct corepmu_cpu *cpuc = b->cpuc;
	u64 sum = 0, left;
	s64 expected;

	cpuc->window = machine_time;
	cpuc->longest = 20 * NSEC_PER_MSEC;
	/* Half a window is not yet over; then all of it has gone into overflows. */
	one_overflow(b, event, 0, 6 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->min_left, b->pmu->min_left);
	one_overflow(b, event, 0, 6 * NSEC_PER_MSEC);
	for (expected = 16; expected <= BIT(20); expected *= 2) {
		KUNIT_EXPECT_EQ(test, cpuc->min_left, expected);
		one_overflow(b, event, 0, 11 * NSEC_PER_MSEC);
	}
	KUNIT_EXPECT_EQ(test, cpuc->min_left, BIT(20));

	/* So far are they stretched, and all is counted. */
	sum = bench_read(event);
	left = (0 - local64_read(&event->hw.prev_count)) & event->hw.event_base;
	KUNIT_EXPECT_EQ(test, left, BIT(20));
	one_overflow(b, event, 0, 11 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, bench_read(event), sum + BIT(20));

	/* Neither much nor little: all stays as it is. */
	one_overflow(b, event, 5 * NSEC_PER_MSEC, 5 * NSEC_PER_MSEC);
	one_overflow(b, event, 7 * NSEC_PER_MSEC, 4 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->min_left, BIT(20));

	/* The machine breathes: step by step back to what was asked for. */
	for (expected = BIT(20); expected > 4096; expected /= 2) {
		KUNIT_EXPECT_EQ(test, cpuc->min_left, expected);
		one_overflow(b, event, 8 * NSEC_PER_MSEC, 3 * NSEC_PER_MSEC);
	}
	one_overflow(b, event, 7 * NSEC_PER_MSEC, 3 * NSEC_PER_MSEC);
	one_overflow(b, event, 8 * NSEC_PER_MSEC, 3 * NSEC_PER_MSEC);
	one_overflow(b, event, 50 * NSEC_PER_MSEC, 5 * NSEC_PER_MSEC);
	for (; expected >= 16; expected /= 2) {
		KUNIT_EXPECT_EQ(test, cpuc->min_left, expected);
		one_overflow(b, event, 20 * NSEC_PER_MSEC, 1);
	}
	KUNIT_EXPECT_EQ(test, cpuc->min_left, b->pmu->min_left);

	cpuc->longest = 20 * NSEC_PER_MSEC;
	/* Four tenths, and as much for entering and leaving interrupts: hardly anything is left. */
	one_overflow(b, event, 6 * NSEC_PER_MSEC, 4 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->min_left, 16);
	end(event);
}

/* Periods of 4096 and more are stretched when overflows leave less than a quarter of the time. */
static void overflow_limiter_long(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 10);
	struct perf_event *other = sampling(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100);
	struct corepmu_cpu *cpuc = b->cpuc;
	unsigned int i;

	cpuc->window = machine_time;
	cpuc->longest = 20 * NSEC_PER_MSEC;
	cpuc->min_left = 4096 / 4;
	for (i = 0; i < 4; i++)
		one_overflow(b, event, 5 * NSEC_PER_MSEC, 6 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->min_left, 4096);
	KUNIT_EXPECT_EQ(test, event->hw.event_base_rdpmc, 4096);

	/* Others that interrupt as often are blamed all the same. */
	other->hw.interrupts = event->hw.interrupts + 1;
	one_overflow(b, event, 5 * NSEC_PER_MSEC, 6 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, other->hw.event_base_rdpmc, 4096);
	KUNIT_EXPECT_EQ(test, cpuc->min_left, 4096);

	one_overflow(b, event, 2 * NSEC_PER_MSEC, 9 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->min_left, 8192);
	end(other);
	end(event);
}

/*
 * They are stretched too when overflows take half of the time and all of them come in the kernel:
 * what is interrupted may be the way out of the overflow before, and nothing else gets on.
 */
static void overflow_limiter_kernel(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 10);
	struct corepmu_cpu *cpuc = b->cpuc;
	unsigned int i;

	cpuc->window = machine_time;
	cpuc->longest = 20 * NSEC_PER_MSEC;
	cpuc->min_left = 4096;
	/* One in user space in each window */
	for (i = 0; i < 4; i++) {
		one_overflow_in(b, event, i & 1, 3 * NSEC_PER_MSEC, 3 * NSEC_PER_MSEC);
		one_overflow_in(b, event, !(i & 1), 3 * NSEC_PER_MSEC, 3 * NSEC_PER_MSEC);
		KUNIT_EXPECT_EQ(test, cpuc->min_left, 4096);
	}

	one_overflow_in(b, event, false, 6 * NSEC_PER_MSEC, 6 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->min_left, 8192);
	KUNIT_EXPECT_EQ(test, event->hw.event_base_rdpmc, 8192);
	one_overflow(b, event, 6 * NSEC_PER_MSEC, 6 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cpuc->min_left, 8192);
	end(event);
}

/*
 * An interrupt in the middle of which the CPU is gone for two windows is not what overflows take:
 * periods stay what they are. When all interrupts take that long they are stretched after some.
 */
static void overflow_limiter_stall(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 10);
	struct corepmu_cpu *cpuc = b->cpuc;
	s64 lowest = b->pmu->min_left;
	unsigned int i, stall;

	cpuc->window = machine_time;
	for (stall = 0; stall < 10; stall++) {
		one_overflow(b, event, 0, 20 * NSEC_PER_MSEC);
		KUNIT_EXPECT_EQ(test, cpuc->min_left, lowest);
		for (i = 0; i < 100; i++)
			one_overflow(b, event, NSEC_PER_MSEC, 50 * NSEC_PER_USEC);
		KUNIT_EXPECT_EQ(test, cpuc->min_left, lowest);
	}
	for (i = 0; i < 20; i++)
		one_overflow(b, event, 0, 20 * NSEC_PER_MSEC);
	KUNIT_EXPECT_GE(test, cpuc->min_left, 16);
	end(event);
}

/* Neighbours of an event that is limited have the periods that they ask for. */
static void overflow_neighbour(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *storm = sampling(b, PERF_COUNT_HW_CPU_CYCLES, 10);
	struct perf_event *other = sampling(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100);
	struct corepmu_cpu *cpuc = b->cpuc;
	s64 lowest = b->pmu->min_left, left;
	unsigned int i;

	cpuc->window = machine_time;
	cpuc->longest = 20 * NSEC_PER_MSEC;
	for (i = 0; i < 8; i++)
		one_overflow(b, storm, 0, 11 * NSEC_PER_MSEC);
	machine_sample_ns = 1;
	KUNIT_EXPECT_GT(test, cpuc->min_left, 100);
	KUNIT_EXPECT_GT(test, storm->hw.event_base_rdpmc, 100);
	KUNIT_EXPECT_EQ(test, other->hw.event_base_rdpmc, lowest);

	/* What is left of a neighbour's period is not stretched. */
	bench_run(b, MACHINE_BRANCHES, 95);
	bench_stop_event(other, PERF_EF_UPDATE);
	bench_start_event(other, PERF_EF_RELOAD);
	left = (0 - local64_read(&other->hw.prev_count)) & other->hw.event_base;
	KUNIT_EXPECT_EQ(test, left, max_t(s64, local64_read(&other->hw.period_left), lowest));
	KUNIT_EXPECT_LE(test, left, 5);
	bench_run(b, MACHINE_BRANCHES, left);
	KUNIT_EXPECT_EQ(test, other->hw.event_base_rdpmc, lowest);

	/* One that has come from another CPU has been limited there: here nothing is. */
	other->hw.event_base_rdpmc = BIT(20);
	cpuc->min_left = lowest;
	bench_run(b, MACHINE_BRANCHES, local64_read(&other->hw.period_left));
	KUNIT_EXPECT_EQ(test, other->hw.event_base_rdpmc, lowest);

	end(other);
	end(storm);
}

/* Perf core takes a stretched period of a frequency for the one that it has asked for. */
static void overflow_limited_freq(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
		.freq = 1, .sample_freq = 1000,
	};
	struct bench *b = test->priv;
	struct perf_event *event;

	KUNIT_ASSERT_EQ(test, bench_open(b, &attr, &event), 0);
	KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
	b->cpuc->min_left = 4096;
	event->hw.event_base_rdpmc = 4096;
	event->hw.sample_period = 3;
	one_overflow(b, event, 0, 1);
	KUNIT_EXPECT_EQ(test, event->hw.last_period, 4096);
	b->cpuc->min_left = b->pmu->min_left;
	end(event);
}

/* A counting event's counter wraps: no sample, and an exact count. */
static void overflow_counting(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event;
	u64 beyond;

	corepmu_start_near_wrap = 1000;
	event = sampling(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
	beyond = b->pmu->width[event->hw.idx] == 64 ? 1ULL << 33 : 5000;
	bench_run(b, MACHINE_BRANCHES, 900);
	KUNIT_EXPECT_EQ(test, bench_read(event), 900);
	bench_run(b, MACHINE_BRANCHES, beyond);
	KUNIT_EXPECT_EQ(test, bench_read(event), 900 + beyond);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	end(event);
}

static struct kunit_case overflow_cases[] = {
	KUNIT_CASE_PARAM(overflow_periods, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_long_periods, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_several, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_skid, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_place, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_spurious, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_during_stop, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_of_another, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_stops, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_throttle, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_freq, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_regs, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_took, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_limiter, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_limiter_long, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_limiter_kernel, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_limiter_stall, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_neighbour, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_limited_freq, machine_gen_params),
	KUNIT_CASE_PARAM(overflow_counting, machine_gen_params),
	{ }
};

static struct kunit_suite overflow_suite = {
	.name		= "corepmu_overflow",
	.init		= machine_init,
	.exit		= machine_exit,
	.test_cases	= overflow_cases,
};

kunit_test_suite(overflow_suite);
