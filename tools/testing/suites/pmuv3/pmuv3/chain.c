// SPDX-License-Identifier: GPL-2.0-only
/*
 * chain.c - 64-bit events beside single ones
 */
#include <errno.h>
#include <unistd.h>

#include "pmuv3.h"

/* Check whether an event has a counter all the time and counts every instruction. */
static void check_running(const char *what, int fd, u64 base)
{
	struct event_times times;

	if (!event_read_times(fd, &times))
		return;
	expect_ne("time running", 0, times.running);
	expect_eq("time running, all of it", times.enabled, times.running);
	expect_or_say(times.count - base == WORK_INSTRUCTIONS * FEW,
		      "%s: expected %lu counts, got %llu", what, WORK_INSTRUCTIONS * FEW,
		      (unsigned long long)(times.count - base));
}

static int open_at_once(bool is_long)
{
	struct perf_event_attr attr;

	attr_init(&attr, INST_RETIRED);
	attr.config1 = is_long ? LONG : 0;
	attr.read_format = FORMAT_TIMES;
	attr.disabled = 0;
	/* Perf core does not place pinned events anew when others are added. */
	attr.pinned = !is_long;
	return event_open_self(&attr, -1);
}

/* Return the number of 64-bit events that fit in free counters. */
static unsigned int room_for(unsigned int free)
{
	if (arch_long_counters())
		return __builtin_popcount(free);
	/* The built-in driver moves no event: it needs an even counter and the next one. */
	if (target.in_tree)
		return __builtin_popcount(free & (free >> 1) & 0x55555555);
	return __builtin_popcount(free) / 2;
}

/*
 * Fill the event counters with single events and close some of them. One 64-bit event fits for
 * every two free counters, wherever they are.
 */
static void holes(void)
{
	unsigned int nr = target.counters, fitting, mask, i;
	int singles[ARCH_MAX_COUNTERS], longs[ARCH_MAX_COUNTERS];
	/* INST_RETIRED may have a dedicated counter as well. */
	u64 bases[ARCH_MAX_COUNTERS], memory = 0;
	struct event_times times;

	for (mask = 0; mask < 1U << nr && !ktap_failed(); mask++) {
		fitting = room_for(mask);
		for (i = 0; i < nr; i++)
			singles[i] = open_at_once(false);
		for (i = 0; i < nr; i++)
			if (mask >> i & 1)
				close(singles[i]);
		for (i = 0; i < fitting; i++)
			longs[i] = open_at_once(true);
		for (i = 0; i < fitting; i++) {
			event_read_times(longs[i], &times);
			bases[i] = times.count;
		}
		work_loop(FEW, &memory);
		for (i = 0; i < fitting; i++) {
			event_read_times(longs[i], &times);
			expect_ne("time running", 0, times.running);
			expect_eq("time running, all of it", times.enabled,
				  times.running);
			expect_range("counts of the loop",
				     WORK_INSTRUCTIONS * FEW,
				     WORK_INSTRUCTIONS * FEW + 2000,
				     times.count - bases[i]);
		}
		for (i = 0; i < nr; i++) {
			if (mask >> i & 1)
				continue;
			event_read_times(singles[i], &times);
			expect_eq("time running of those that stayed",
				  times.enabled, times.running);
			close(singles[i]);
		}
		close_all(longs, fitting);
		if (ktap_failed())
			ktap_diag("with the events of mask %#x closed", mask);
	}
}

/*
 * Open every mix of single and 64-bit events in a group: it fits or is rejected. The built-in
 * driver ignores a disabled leader and so accepts groups that are too large.
 */
static void mixed_groups(void)
{
	unsigned int width = arch_long_counters() ? 1 : 2;
	unsigned int nr;
	int fds[2 * ARCH_MAX_COUNTERS];
	u64 bases[2 * ARCH_MAX_COUNTERS];
	struct perf_event_attr attr;
	struct event_times times;

	for (unsigned int singles = 0; singles <= target.counters; singles++) {
		for (unsigned int longs = !singles; longs <= target.counters; longs++) {
			unsigned int wanted = singles + longs * width;
			bool fits = wanted <= target.counters;

			for (nr = 0; nr < singles + longs; nr++) {
				attr_init(&attr, BR_RETIRED);
				attr.config1 = nr < singles ? 0 : LONG;
				attr.disabled = !nr;
				attr.read_format = FORMAT_TIMES;
				fds[nr] = event_open(&attr, 0, -1, nr ? fds[0] : -1, 0);
				if (fds[nr] < 0)
					break;
			}
			if (fits)
				expect_eq("events that fit", singles + longs, nr);
			else if (!target.in_tree ||
				 wanted > target.counters + (singles ? 1 : width))
				expect_true("a group too large to be refused",
					    nr < singles + longs && fds[nr] == -EINVAL);
			if (fits && nr == singles + longs) {
				pmuv3_work(fds[0], 1);
				for (unsigned int i = 0; i < nr; i++) {
					event_read_times(fds[i], &times);
					bases[i] = times.count;
				}
				pmuv3_work(fds[0], FEW * WORK_INSTRUCTIONS + 1);
				for (unsigned int i = 0; i < nr; i++)
					check_running("a member", fds[i], bases[i]);
			}
			close_all(fds, nr);
			if (ktap_failed()) {
				ktap_diag("with %u single and %u 64-bit events",
					  singles, longs);
				return;
			}
		}
	}
}

static const struct ktap_case cases[] = {
	{ "64-bit events have room in any two free counters", holes },
	{ "groups of 64-bit and single events that fit are taken", mixed_groups },
};

const struct ktap_list pmuv3_chain_cases = { cases, ARRAY_SIZE(cases) };
