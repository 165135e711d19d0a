// SPDX-License-Identifier: GPL-2.0-only
/*
 * group.c - groups
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "judge/validate.h"

/* A group read: nr, enabled, running, then value and id of each event */
struct group_read {
	u64 nr, enabled, running;
	struct {
		u64 value, id;
	} members[MANY];
};

unsigned int open_group(int *fds, unsigned int nr, u64 read_format)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct perf_event_attr attr;

		attr_instructions(&attr);
		attr.disabled = !i;
		attr.read_format = read_format;
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
		if (fds[i] < 0)
			break;
	}
	return i;
}

static void members_agree(void)
{
	struct perf_event_attr software = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(software),
		.config = PERF_COUNT_SW_PAGE_FAULTS, .exclude_kernel = 1,
	};
	int fds[MANY], others[4], i, nr;
	u64 first;

	nr = open_group(fds, pmu.group, 0);
	expect_eq("events of the group", pmu.group, nr);
	if (nr < 1)
		return;
	/* Software events need no counters. */
	for (i = 0; i < (int)ARRAY_SIZE(others); i++)
		others[i] = event_open_self(&software, fds[0]);
	event_run_loop(fds[0], ITERATIONS);
	first = event_read(fds[0]);
	expect_count("count of the leader", LOOP, first);
	for (i = 1; i < nr; i++)
		expect_near("count of a member", first, 100, event_read(fds[i]));
	close_all(others, ARRAY_SIZE(others));
	close_all(fds, nr);
}

/*
 * Check that a group can have every counter that the CPU lists. Events that hold some counters,
 * such as the NMI watchdog's, do not change which groups can be opened.
 */
static void every_counter(void)
{
	unsigned int listed, nr;
	struct event_times times = { 0 };
	int fds[MANY];

	run_on(pmu.cpu);
	listed = arch_listed_counters();
	if (!listed || listed > MANY) {
		ktap_skip("this architecture does not tell programs how many counters there are");
		return;
	}
	nr = open_group(fds, listed, FORMAT_TIMES);
	expect_eq("events of instructions in a group", listed, nr);
	event_run_loop(fds[0], ITERATIONS);
	for (unsigned int i = 0; i < nr; i++) {
		event_read_times(fds[i], &times);
		if (times.running)
			expect_count("instructions on each counter", LOOP, times.count);
		else
			ktap_diag("other events hold counters: this group does not count");
	}
	close_all(fds, nr);
}

/* A group that does not fit is rejected. A driver that opens it must count nothing for it. */
static void too_large_of(bool kernel, bool running)
{
	struct event_times times = { 0 };
	struct perf_event_attr attr;
	int fds[MANY], nr, fd;

	attr_instructions(&attr);
	attr.exclude_kernel = !kernel;
	attr.disabled = !running;
	attr.read_format = FORMAT_TIMES;
	for (nr = 0; nr < (int)pmu.group_opened; nr++) {
		fds[nr] = event_open_self(&attr, nr ? fds[0] : -1);
		if (fds[nr] < 0)
			break;
		attr.disabled = 0;
	}
	if (!nr)
		return;
	fd = event_open(&attr, 0, -1, fds[0], 0);
	expect_eq("one event more than fits", -EINVAL, fd);
	event_disable(fds[0]);
	event_reset(fds[0]);
	event_run_loop(fds[0], ITERATIONS);
	event_read_times(fds[0], &times);
	if (fd >= 0) {
		if (!times.running)
			expect_eq("count of a group that was never on counters", 0, times.count);
		close(fd);
	} else if (!kernel && pmu.group_opened == pmu.group) {
		expect_count("count of the leader without the rejected event", LOOP, times.count);
	}
	close_all(fds, nr);
}

/* Events that count the kernel also count while a driver tries to place them: check both. */
static void judge_too_large(bool running)
{
	if (pmu.group_opened >= MANY) {
		ktap_skip("even the largest tried group, of %u, was accepted", pmu.group_opened);
		return;
	}
	too_large_of(false, running);
	if (pmu.has & NEED_KERNEL)
		too_large_of(true, running);
}

static void too_large(void)
{
	judge_too_large(false);
}

static void too_large_running(void)
{
	judge_too_large(true);
}

static void disabled_members(void)
{
	struct perf_event_attr attr;
	int fds[MANY], nr;

	if (pmu.group + 2 > MANY) {
		ktap_skip("even the largest tried group, of %u, was accepted", pmu.group);
		return;
	}
	attr_instructions(&attr);
	for (nr = 0; nr < (int)pmu.group + 2; nr++) {
		fds[nr] = event_open(&attr, 0, -1, nr ? fds[0] : -1, 0);
		if (fds[nr] < 0)
			break;
	}
	expect_eq("events of a group whose members are disabled", pmu.group + 2, nr);
	if (nr) {
		event_run_loop(fds[0], ITERATIONS);
		expect_count("count of the leader", LOOP, event_read(fds[0]));
	}
	close_all(fds, nr);
}

static void one_read(void)
{
	u64 format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | FORMAT_TIMES;
	struct group_read group = { 0 };
	int fds[MANY], i, nr;
	u64 id;

	nr = open_group(fds, 3, format);
	event_run_loop(fds[0], ITERATIONS);
	expect_eq("bytes of a group's read", 8 * (3 + 2 * 3), read(fds[0], &group, sizeof(group)));
	expect_eq("events", 3, group.nr);
	expect_eq("time running", group.enabled, group.running);
	for (i = 0; i < nr; i++) {
		expect_count("value", LOOP, group.members[i].value);
		expect_eq("PERF_EVENT_IOC_ID", 0, ioctl(fds[i], PERF_EVENT_IOC_ID, &id));
		expect_eq("id", id, group.members[i].id);
	}
	errno = 0;
	expect_eq("a read into too small a buffer", -1, read(fds[0], &group, 16));
	expect_eq("its error", ENOSPC, errno);
	close_all(fds, nr);
}

static void leader_holds(void)
{
	/* The requests between the loops execute some tens of instructions each. */
	const u64 slack = count_slack(2 * LOOP) + 300;
	int fds[3], nr = open_group(fds, 3, 0);

	known_loop(ITERATIONS);
	expect_eq("count of a member before its leader is enabled", 0, event_read(fds[1]));
	event_disable(fds[2]);
	event_enable(fds[0]);
	known_loop(ITERATIONS);
	expect_eq("count of a member that is disabled itself", 0, event_read(fds[2]));
	event_disable(fds[1]);
	event_enable(fds[2]);
	known_loop(ITERATIONS);
	expect_range("count of a member that was disabled", LOOP, LOOP + slack, event_read(fds[1]));
	event_disable(fds[0]);
	known_loop(ITERATIONS);
	expect_range("count of the leader", 2 * LOOP, 2 * LOOP + slack, event_read(fds[0]));
	expect_range("count of a member that was enabled late", LOOP, LOOP + slack,
		     event_read(fds[2]));
	close_all(fds, nr);
}

static void group_flag(void)
{
	int fds[3], i, nr = open_group(fds, 3, 0);

	for (i = 0; i < nr; i++)
		event_disable(fds[i]);
	ioctl(fds[1], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	known_loop(ITERATIONS);
	ioctl(fds[2], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	known_loop(ITERATIONS);
	for (i = 0; i < nr; i++)
		expect_count("count", LOOP, event_read(fds[i]));
	ioctl(fds[1], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	for (i = 0; i < nr; i++)
		expect_eq("count after a reset of the group", 0, event_read(fds[i]));
	close_all(fds, nr);
}

static void leader_closes(void)
{
	int fds[3], nr = open_group(fds, 3, 0);
	u64 count;

	event_enable(fds[0]);
	known_loop(ITERATIONS);
	close(fds[0]);
	count = event_read(fds[1]);
	expect_range("count of a member when its leader closes", LOOP,
		     LOOP + (pmu.exact ? 500 : 100000), count);
	known_loop(ITERATIONS);
	event_disable(fds[1]);
	expect_range("count of a member on its own", 2 * LOOP,
		     2 * LOOP + (pmu.exact ? 1000 : 200000), event_read(fds[1]));
	close_all(fds + 1, nr - 1);
}

static void with_software(void)
{
	struct perf_event_attr attr, software = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(software),
		.config = PERF_COUNT_SW_TASK_CLOCK, .disabled = 1, .exclude_kernel = 1,
	};
	int fds[3] = { -1, -1, -1 };

	fds[0] = event_open_self(&software, -1);
	attr_instructions(&attr);
	attr.disabled = 0;
	fds[1] = event_open_self(&attr, fds[0]);
	software.disabled = 0;
	software.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	fds[2] = event_open_self(&software, fds[0]);
	event_run_loop(fds[0], ITERATIONS);
	expect_range("nanoseconds of the leader", 1000, 100000000000ULL, event_read(fds[0]));
	expect_count("instructions of a member", LOOP, event_read(fds[1]));
	close_all(fds, 3);
}

static void software_joins(void)
{
	struct perf_event_attr software = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(software),
		.config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1,
	};
	int fds[2] = { -1, -1 };

	fds[0] = open_instructions();
	fds[1] = event_open_self(&software, fds[0]);
	event_run_loop(fds[0], ITERATIONS);
	expect_count("instructions of the leader", LOOP, event_read(fds[0]));
	expect_range("nanoseconds of a member", 1000, 100000000000ULL, event_read(fds[1]));
	close_all(fds, 2);
}

static void wrong_leaders(void)
{
	struct perf_event_attr attr;
	int leader, member, fd;
	pid_t pid;

	leader = open_instructions();
	attr_instructions(&attr);
	attr.disabled = 0;
	member = event_open_self(&attr, leader);
	expect_eq("a leader that is itself a member", -EINVAL, event_open(&attr, 0, -1, member, 0));
	expect_eq("a leader of another CPU", -EINVAL, event_open(&attr, 0, pmu.cpu, leader, 0));
	if (pmu.has & NEED_CPU_WIDE) {
		fd = event_open(&attr, -1, pmu.cpu, -1, 0);
		expect_eq("a leader of a CPU", -EINVAL, event_open(&attr, 0, pmu.cpu, fd, 0));
		close(fd);
		fd = event_open(&attr, -1, pmu.cpu, leader, 0);
		expect_eq("a member of a CPU", -EINVAL, fd);
	}
	pid = fork();
	if (!pid) {
		sleep(60);
		_exit(0);
	}
	/* kill(-1) would end every process. */
	if (expect_true("fork", pid > 0)) {
		expect_eq("a leader of another task", -EINVAL,
			  event_open(&attr, pid, -1, leader, 0));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		expect_eq("a task that has ended", -ESRCH, event_open(&attr, pid, -1, -1, 0));
	}
	attr.inherit = 1;
	expect_eq("a member that alone is inherited", -EINVAL,
		  event_open(&attr, 0, -1, leader, 0));
	attr.inherit = 0;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC_RAW;
	expect_eq("a member with another clock", -EINVAL, event_open(&attr, 0, -1, leader, 0));
	attr.use_clockid = 0;
	attr.clockid = 0;
	attr.pinned = 1;
	expect_eq("a pinned member", -EINVAL, event_open(&attr, 0, -1, leader, 0));
	attr.pinned = 0;
	attr.exclusive = 1;
	expect_eq("an exclusive member", -EINVAL, event_open(&attr, 0, -1, leader, 0));
	close(member);
	close(leader);
}

static void two_events_one_truth(void)
{
	struct perf_event_attr attr;
	int fds[2] = { -1, -1 };

	attr_cycles(&attr);
	fds[0] = event_open_self(&attr, -1);
	attr_instructions(&attr);
	attr.disabled = 0;
	fds[1] = event_open_self(&attr, fds[0]);
	event_run_loop(fds[0], ITERATIONS);
	expect_count("instructions beside cycles", LOOP, event_read(fds[1]));
	expect_range("cycles beside instructions", LOOP / 20, 1000 * LOOP, event_read(fds[0]));
	close_all(fds, 2);
}

static const struct check checks[] = {
	{ "group", "disabled members take no counter",
	  MAN "\"The disabled bit specifies whether the counter starts out disabled or enabled. If disabled, the event can later be enabled by ioctl(2), prctl(2), or enable_on_exec.\"",
	  disabled_members, NEED_GROUPS, ON_USER },
	{ "group", "members of the largest group agree", SCHEDULED, members_agree, NEED_GROUPS,
	  ON_USER | ON_COUNTERS },
	{ "group", "a group has every counter that the CPU lists", SCHEDULED, every_counter, 0,
	  ON_USER | ON_COUNTERS },
	{ "group", "one event too many", NO_ROOM, too_large, NEED_GROUPS, ON_USER },
	{ "group", "one event too many for a group that runs", NO_ROOM, too_large_running,
	  NEED_GROUPS, ON_USER },
	{ "group", "one read of all",
	  MAN "PERF_FORMAT_GROUP: \"Allows all counter values in an event group to be read with one read.\"",
	  one_read, NEED_GROUPS, ON_USER | ON_COUNTERS },
	{ "group", "the leader holds its members",
	  MAN "\"while the group leader is disabled, none of the counters in the group will count.\"",
	  leader_holds, NEED_GROUPS, ON_USER | ON_COUNTERS },
	{ "group", "PERF_IOC_FLAG_GROUP",
	  MAN "\"If the PERF_IOC_FLAG_GROUP bit is set in the ioctl argument, then all events in a group are enabled, even if the event specified is not the group leader\"",
	  group_flag,
	  NEED_GROUPS, ON_USER | ON_COUNTERS },
	{ "group", "members outlive their leader",
	  MAN "\"Each file descriptor corresponds to one event that is measured; these can be grouped together to measure multiple events simultaneously.\"",
	  leader_closes, NEED_GROUPS, ON_USER | ON_COUNTERS },
	{ "group", "a software event leads", SCHEDULED, with_software, 0, ON_USER },
	{ "group", "a software event joins", SCHEDULED, software_joins, 0, ON_USER },
	{ "group", "impossible leaders are refused",
	  MAN "EINVAL: \"exclusive or pinned set and the event is not a group leader;\", \"The rest of the group members are created with subsequent perf_event_open() calls with group_fd being set to the file descriptor of the group leader.\"",
	  wrong_leaders },
	{ "group", "cycles and instructions together", SCHEDULED, two_events_one_truth,
	  NEED_CYCLES, ON_USER },
};

const struct check_list group_checks = { checks, ARRAY_SIZE(checks) };
