// SPDX-License-Identifier: GPL-2.0-only
/*
 * fit.c - groups that just fit the counters: events of several kinds, opened in any order
 */
#define _GNU_SOURCE
#include "judge/validate.h"

/* Cycles and instructions may have counters of their own; others share the general ones. */
enum kind { CYCLES, INSTRUCTIONS, BRANCHES, KINDS };

/* A group's events, in the order in which they were opened */
struct group {
	int fds[MANY];
	enum kind kinds[MANY];
	/* Time without a counter before the group had the size that fits */
	u64 waited[MANY];
	int nr;
};

static void attr_kind(struct perf_event_attr *attr, enum kind kind)
{
	if (kind == CYCLES)
		attr_cycles(attr);
	else if (kind == BRANCHES)
		attr_branches(attr);
	else
		attr_instructions(attr);
	attr->read_format = FORMAT_TIMES;
	attr->disabled = 0;
}

/* Open one event more, enabled. Return 0, or a negative errno. */
static int add_event(struct group *group, enum kind kind)
{
	struct perf_event_attr attr;
	int fd;

	if (group->nr == MANY)
		return -ENOSPC;
	attr_kind(&attr, kind);
	fd = event_open(&attr, 0, -1, group->nr ? group->fds[0] : -1, 0);
	if (fd < 0)
		return fd;
	group->kinds[group->nr] = kind;
	group->waited[group->nr] = 0;
	group->fds[group->nr++] = fd;
	return 0;
}

static void drop(struct group *group)
{
	close(group->fds[--group->nr]);
}

static __attribute__((noipa)) void run_group(const struct group *group, unsigned long iterations)
{
	event_disable(group->fds[0]);
	ioctl(group->fds[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	event_run_loop(group->fds[0], iterations);
}

static bool group_runs(const struct group *group)
{
	struct event_times times = { 0 };

	run_group(group, 1000);
	event_read_times(group->fds[0], &times);
	return times.count;
}

/* Expect every event to have a counter all the time, and to count the loop. */
static void judge_group(const struct group *group)
{
	const unsigned int each[KINDS] = {
		pmu.exact && pmu.name ? arch_loop_cycles(pmu.name) : 0, LOOP_INSNS, 1,
	};
	struct event_times times[MANY] = { 0 };
	u64 base[MANY];

	run_group(group, 1);
	for (int i = 0; i < group->nr; i++) {
		event_read_times(group->fds[i], &times[i]);
		base[i] = times[i].count;
	}
	run_group(group, ITERATIONS);
	for (int i = 0; i < group->nr; i++) {
		u64 want = each[group->kinds[i]] * (ITERATIONS - 1);

		event_read_times(group->fds[i], &times[i]);
		if (!want)
			expect_range("cycles of a member", 1, INT64_MAX, times[i].count);
		else if (pmu.exact)
			expect_eq("count of a member", want, times[i].count - base[i]);
		else
			expect_count("count of a member", want, times[i].count);
		expect_eq("time without a counter", group->waited[i],
			  times[i].enabled - times[i].running);
	}
}

/*
 * Fill a group with events of a kind until one is refused. Something else may hold a counter
 * without the driver's knowledge: then fewer events count. Return whether all count.
 */
static bool fill(struct group *group, enum kind kind)
{
	struct event_times times = { 0 };
	bool all = true;

	while (!add_event(group, kind))
		;
	while (group->nr > 1 && !group_runs(group)) {
		drop(group);
		all = false;
	}
	for (int i = 0; !all && i < group->nr; i++) {
		event_read_times(group->fds[i], &times);
		group->waited[i] = times.enabled - times.running;
	}
	event_enable(group->fds[0]);
	return all;
}

/* A refused event leaves the running group unchanged; a closed event makes room. */
static void judge_full_group(struct group *group, enum kind kind, bool full)
{
	for (int i = 0; full && i < 5; i++)
		expect_eq("one event more", -EINVAL, add_event(group, kind));
	judge_group(group);
	event_enable(group->fds[0]);
	drop(group);
	expect_eq("an event in the place of one that closes", 0, add_event(group, kind));
	judge_group(group);
	close_all(group->fds, group->nr);
}

/*
 * Check whether a full group has room for one event of a kind. Counters may differ: POWER counts
 * branches on fewer counters than instructions.
 */
static bool has_room(struct group *group, enum kind kind)
{
	if (add_event(group, kind))
		return false;
	drop(group);
	return true;
}

static void any_order(void)
{
	static const unsigned char orders[][3] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	struct group group = { .nr = 0 };
	enum kind kinds[3] = { CYCLES, INSTRUCTIONS, BRANCHES };
	int nr[3] = { 1, 1, 0 }, i, j;
	bool full, room[KINDS];

	if (add_event(&group, BRANCHES))
		kinds[2] = INSTRUCTIONS;
	else
		drop(&group);
	if (add_event(&group, CYCLES) || add_event(&group, INSTRUCTIONS)) {
		ktap_fail("cycles and instructions in a group: expected two descriptors");
		return;
	}
	full = fill(&group, kinds[2]);
	nr[2] = group.nr - 2;
	if (group.nr == MANY) {
		ktap_skip("even a group of %u was accepted", MANY);
		close_all(group.fds, group.nr);
		return;
	}
	for (i = 0; i < KINDS; i++)
		room[i] = full && has_room(&group, i);
	judge_full_group(&group, kinds[2], full);
	for (unsigned int order = 1; order < ARRAY_SIZE(orders); order++) {
		group.nr = 0;
		for (i = 0; i < 3; i++)
			for (j = 0; j < nr[orders[order][i]]; j++)
				expect_eq("an event of a group that fits in another order", 0,
					  add_event(&group, kinds[orders[order][i]]));
		judge_full_group(&group, group.kinds[group.nr - 1],
				 full && !room[group.kinds[group.nr - 1]]);
	}
}

static void cycles_alone(void)
{
	struct group group = { .nr = 0 };
	bool full = fill(&group, CYCLES);

	if (group.nr == MANY) {
		ktap_skip("even a group of %u was accepted", MANY);
		close_all(group.fds, group.nr);
	} else {
		judge_full_group(&group, CYCLES, full);
	}
}

static const struct check checks[] = {
	{ "group", "a group fits in whatever order its events are opened", SCHEDULED, any_order,
	  NEED_GROUPS | NEED_CYCLES, ON_USER | ON_COUNTERS | ON_BRANCHES },
	{ "group", "a group of as many cycles as fit", SCHEDULED, cycles_alone,
	  NEED_GROUPS | NEED_CYCLES, ON_USER | ON_COUNTERS },
};

const struct check_list fit_checks = { checks, ARRAY_SIZE(checks) };
