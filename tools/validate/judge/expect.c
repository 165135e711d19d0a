// SPDX-License-Identifier: GPL-2.0-only
/*
 * expect.c - expectations that several checks share
 *
 * Bounds that are computed from a measured number do not wrap below 0. A measured 0 fails: a
 * comparison with 0 would prove nothing.
 */
#define _GNU_SOURCE
#include "validate.h"

/* If the clock does not count instructions, interrupts may add to a count. */
u64 count_slack(u64 count)
{
	return pmu.exact ? 200 : 2000 + count / 500;
}

bool expect_count(const char *what, u64 want, u64 got)
{
	return expect_range(what, want, want + count_slack(want), got);
}

u64 least_count(int fd, unsigned long iterations)
{
	u64 least = -1ULL, count;

	for (int i = 0; i < 20; i++) {
		count = event_count_loop(fd, iterations);
		least = count < least ? count : least;
	}
	return least;
}

static u64 less(u64 number, u64 by)
{
	return number > by ? number - by : 0;
}

bool expect_near(const char *what, u64 measured, u64 off, u64 got)
{
	return expect_or_say(measured, "%s: expected a count above 0, got 0", what) &&
	       expect_range(what, less(measured, off), measured + off, got);
}

bool expect_part(const char *what, u64 least, const char *whole, u64 measured, u64 got)
{
	u64 wanted = least ?: 1;

	return expect_or_say(measured >= wanted, "%s: expected at least %llu, got %llu", whole,
			     (unsigned long long)wanted, (unsigned long long)measured) &&
	       expect_range(what, least, measured, got);
}

bool expect_most(const char *what, u64 missing, const char *whole, u64 measured, u64 got)
{
	return expect_part(what, less(measured, missing), whole, measured, got);
}

bool expect_samples(const char *what, u64 count, u64 period, u64 fewer, u64 more, u64 got)
{
	u64 ended = count / period;

	return expect_or_say(ended, "%s: expected a count of at least one period, %llu, got %llu",
			     what, (unsigned long long)period, (unsigned long long)count) &&
	       expect_range(what, less(ended, fewer), ended + more, got);
}

/* noipa: a copy that the compiler specialises for 1 would have other instructions. */
static __attribute__((noipa)) u64 count_five(int fd, unsigned long iterations)
{
	event_reset(fd);
	for (int i = 0; i < 5; i++)
		event_run_loop(fd, iterations);
	return event_read(fd);
}

void expect_each(const char *what, int fd, unsigned int each)
{
	u64 base = event_count_loop(fd, 1), first = event_count_loop(fd, ITERATIONS);

	if (!pmu.exact) {
		for (int i = 0; i < 10; i++)
			expect_count(what, each * (ITERATIONS - 1),
				     event_count_loop(fd, ITERATIONS));
		expect_count("sum of five runs", 5 * each * (ITERATIONS - 1),
			     count_five(fd, ITERATIONS));
		return;
	}
	expect_eq(what, each * (ITERATIONS - 1), first - base);
	for (int i = 1; i < 10; i++)
		expect_eq("count of another run", first, event_count_loop(fd, ITERATIONS));
	base = count_five(fd, 1);
	expect_eq("sum of five runs", 5 * each * (ITERATIONS - 1),
		  count_five(fd, ITERATIONS) - base);
}

void expect_loops(const char *what, unsigned int times, u64 slack, u64 more,
		  u64 (*count)(unsigned long iterations))
{
	const u64 loops = times * LOOP;
	u64 base, got;

	if (!pmu.exact) {
		expect_range(what, loops, loops + more, count(ITERATIONS + 1));
		return;
	}
	/* The first call may have more to do: it allocates stacks, and sets up streams. */
	count(1);
	base = count(1);
	got = count(ITERATIONS + 1);
	expect_range(what, loops - slack, loops + slack, got - base);
}

void expect_sane(void)
{
	int fd = open_instructions();

	expect_count("instructions of a loop afterwards", LOOP, event_count_loop(fd, ITERATIONS));
	close(fd);
}
