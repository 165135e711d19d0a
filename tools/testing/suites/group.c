// SPDX-License-Identifier: GPL-2.0-only
/*
 * group.c - groups and multiplexing: what fits counts all the time, what fits
 * in turns is scaled right, what can never fit is refused when it is opened
 *
 * For the exact lane: one CPU, whose cycles are known as well as its instructions.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "perf_util.h"

#define SHORT		50000UL
#define MAX_EVENTS	32
/* About 80 turns of the default 4 ms when a nanosecond is an instruction. */
#define LONG		(320000000UL / LOOP_INSNS)

static int fds[MAX_EVENTS];
/* What each of them counts */
static u64 configs[MAX_EVENTS];
static unsigned int nr_fds;
static bool leader_enabled;

static void start(void)
{
	nr_fds = 0;
	leader_enabled = false;
}

/*
 * A group whose leader is enabled from its birth; otherwise the leader starts
 * disabled and the siblings wait for it, as perf(1) opens its groups.
 */
static void start_enabled(void)
{
	nr_fds = 0;
	leader_enabled = true;
}

static void stop(void)
{
	close_all(fds, nr_fds);
	nr_fds = 0;
}

/* Open an event with times; group -1 makes it a leader. */
static int try_open(u64 config, int group)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, config);
	attr.read_format = FORMAT_TIMES;
	attr.disabled = group == -1 && !leader_enabled;
	fd = event_open(&attr, 0, -1, group, 0);
	if (fd >= 0) {
		configs[nr_fds] = config;
		fds[nr_fds++] = fd;
	}
	return fd;
}

static int must_open(u64 config, int group)
{
	int fd = try_open(config, group);

	if (fd < 0)
		ktap_fail("open of event %u of the group: expected a descriptor, got %s",
			  nr_fds + 1, strerror(-fd));
	return fd;
}

static int open_events(u64 config, unsigned int nr, int group)
{
	int leader = group;

	while (nr--) {
		int fd = must_open(config, leader);

		if (fd < 0)
			return fd;
		if (leader == -1)
			leader = fd;
	}
	return leader;
}

static int open_instructions(unsigned int nr, int group)
{
	return open_events(ARCH_EVENT_INSTRUCTIONS, nr, group);
}

/* Every member of the group of fds[0] counts the loop, all the time. */
static void check_group(unsigned long iterations)
{
	struct event_times times[MAX_EVENTS];
	u64 base[MAX_EVENTS];
	unsigned int i;

	event_disable(fds[0]);
	ioctl(fds[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	event_enable(fds[0]);
	known_loop(1);
	event_disable(fds[0]);
	for (i = 0; i < nr_fds; i++) {
		event_read_times(fds[i], &times[i]);
		base[i] = times[i].count;
	}
	ioctl(fds[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	event_enable(fds[0]);
	known_loop(iterations);
	event_disable(fds[0]);
	for (i = 0; i < nr_fds; i++) {
		event_read_times(fds[i], &times[i]);
		expect_eq("counts of a member of the group",
			  loop_counts(configs[i], iterations - 1),
			  times[i].count - base[i]);
		expect_eq("time running of a member", times[i].enabled,
			  times[i].running);
		expect_ne("time enabled of a member", 0, times[i].enabled);
	}
}

static void full_group(void)
{
	start();
	if (must_open(ARCH_EVENT_CYCLES, -1) >= 0 &&
	    open_instructions(target.all - 1, fds[0]) >= 0)
		check_group(10 * SHORT);
	stop();
}

static void full_group_cycles_last(void)
{
	start();
	if (open_instructions(target.all - 1, -1) >= 0 &&
	    must_open(ARCH_EVENT_CYCLES, fds[0]) >= 0)
		check_group(SHORT);
	stop();
}

static void full_group_cycles_between(void)
{
	start();
	if (open_instructions(2, -1) >= 0 &&
	    must_open(ARCH_EVENT_CYCLES, fds[0]) >= 0 &&
	    open_instructions(target.all - 3, fds[0]) >= 0)
		check_group(SHORT);
	stop();
}

static void group_of_cycles(void)
{
	unsigned int i;

	start_enabled();
	for (i = 0; i < target.cycles; i++)
		if (must_open(ARCH_EVENT_CYCLES, i ? fds[0] : -1) < 0)
			goto out;
	expect_eq("open of one cycles event more", -EINVAL,
		  try_open(ARCH_EVENT_CYCLES, fds[0]));
	check_group(SHORT);
out:
	stop();
}

static void two_cycles(void)
{
	struct event_times a, b;

	start();
	if (must_open(ARCH_EVENT_CYCLES, -1) < 0 ||
	    must_open(ARCH_EVENT_CYCLES, fds[0]) < 0)
		goto out;
	check_group(10 * SHORT);
	event_read_times(fds[0], &a);
	event_read_times(fds[1], &b);
	expect_eq("cycles of the second event", a.count, b.count);
out:
	stop();
}

static void two_cycles_apart(void)
{
	struct event_times a, b;
	u64 base;

	start();
	if (must_open(ARCH_EVENT_CYCLES, -1) < 0 ||
	    must_open(ARCH_EVENT_CYCLES, -1) < 0)
		goto out;
	event_enable(fds[0]);
	event_enable(fds[1]);
	known_loop(1);
	event_disable(fds[0]);
	event_disable(fds[1]);
	event_read_times(fds[0], &a);
	event_read_times(fds[1], &b);
	base = a.count - b.count;
	event_reset(fds[0]);
	event_reset(fds[1]);
	event_enable(fds[0]);
	event_enable(fds[1]);
	known_loop(10 * SHORT);
	event_disable(fds[0]);
	event_disable(fds[1]);
	event_read_times(fds[0], &a);
	event_read_times(fds[1], &b);
	expect_eq("cycles of the second single event", base, a.count - b.count);
	expect_eq("time running of the first", a.enabled, a.running);
	expect_eq("time running of the second", b.enabled, b.running);
out:
	stop();
}

/*
 * The kernel's own driver leaves a disabled leader out when it sees whether a
 * group fits, accepts the group, and never schedules it.
 */
static bool kernel_forgets_leader(void)
{
	if (target.in_tree)
		ktap_skip("%s does not count a disabled leader", target.pmu);
	return target.in_tree;
}

static void check_impossible_with_cycles(void)
{
	if (must_open(ARCH_EVENT_CYCLES, -1) < 0 ||
	    open_instructions(target.all - 1, fds[0]) < 0)
		goto out;
	expect_eq("open of one instructions event more", -EINVAL,
		  try_open(ARCH_EVENT_INSTRUCTIONS, fds[0]));
	expect_eq("open of one cycles event more", -EINVAL,
		  try_open(ARCH_EVENT_CYCLES, fds[0]));
	check_group(10 * SHORT);
out:
	stop();
}

static void impossible_with_cycles(void)
{
	start_enabled();
	check_impossible_with_cycles();
}

static void impossible_with_cycles_disabled(void)
{
	if (kernel_forgets_leader())
		return;
	start();
	check_impossible_with_cycles();
}

static void check_impossible_without_cycles(void)
{
	if (open_instructions(target.counters, -1) < 0)
		goto out;
	expect_eq("open of one instructions event more", -EINVAL,
		  try_open(ARCH_EVENT_INSTRUCTIONS, fds[0]));
	check_group(SHORT);
	if (leader_enabled)
		event_enable(fds[0]);
	if (target.all > target.counters)
		must_open(ARCH_EVENT_CYCLES, fds[0]);
	expect_eq("open of a cycles event too many", -EINVAL,
		  try_open(ARCH_EVENT_CYCLES, fds[0]));
	check_group(SHORT);
out:
	stop();
}

static void impossible_without_cycles(void)
{
	start_enabled();
	check_impossible_without_cycles();
}

static void impossible_without_cycles_disabled(void)
{
	if (kernel_forgets_leader())
		return;
	start();
	check_impossible_without_cycles();
}

/* Refused while the group runs: the members must not notice. */
static void impossible_while_running(void)
{
	struct event_times times;
	unsigned int i;
	u64 count;

	start();
	if (open_instructions(target.counters, -1) < 0)
		goto out;
	event_enable(fds[0]);
	known_loop(SHORT);
	for (i = 0; i < 20; i++)
		expect_eq("open of one instructions event more", -EINVAL,
			  try_open(ARCH_EVENT_INSTRUCTIONS, fds[0]));
	known_loop(SHORT);
	event_disable(fds[0]);
	event_read_times(fds[0], &times);
	count = times.count;
	for (i = 0; i < nr_fds; i++) {
		event_read_times(fds[i], &times);
		expect_eq("count of a member", count, times.count);
		expect_eq("time running of a member", times.enabled,
			  times.running);
	}
	expect_range("count of all members", 2 * LOOP_INSNS * SHORT,
		     2 * LOOP_INSNS * SHORT + 20000, count);
out:
	stop();
}

/* A member that leaves makes room for another. */
static void check_room_after_close(void)
{
	if (open_instructions(target.counters, -1) < 0)
		goto out;
	expect_eq("open of one event too many", -EINVAL,
		  try_open(ARCH_EVENT_INSTRUCTIONS, fds[0]));
	close(fds[--nr_fds]);
	must_open(ARCH_EVENT_INSTRUCTIONS, fds[0]);
	check_group(SHORT);
out:
	stop();
}

static void room_after_close(void)
{
	start_enabled();
	check_room_after_close();
}

static void room_after_close_disabled(void)
{
	if (kernel_forgets_leader())
		return;
	start();
	check_room_after_close();
}

/* Not scheduled while it is disabled, so the group can run beside it. */
static void disabled_member(void)
{
	struct perf_event_attr attr;
	struct event_times times;
	int fd;

	start_enabled();
	if (open_instructions(target.counters - 1, -1) < 0)
		goto out;
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.read_format = FORMAT_TIMES;
	fd = event_open_self(&attr, fds[0]);
	check_group(SHORT);
	event_read_times(fd, &times);
	expect_eq("count of the disabled member", 0, times.count);
	event_enable(fd);
	fds[nr_fds++] = fd;
	event_disable(fds[0]);
	event_enable(fds[0]);
	known_loop(SHORT);
	event_disable(fds[0]);
	event_read_times(fd, &times);
	expect_range("count of the member once enabled", LOOP_INSNS * SHORT,
		     LOOP_INSNS * SHORT + 500, times.count);
out:
	stop();
}

/* A member that is disabled leaves its counter to one that is not. */
static void disabled_member_makes_room(void)
{
	struct perf_event_attr attr;
	int fd;

	start_enabled();
	if (open_instructions(target.counters - 1, -1) < 0)
		goto out;
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	fd = event_open_self(&attr, fds[0]);
	if (must_open(ARCH_EVENT_INSTRUCTIONS, fds[0]) >= 0)
		check_group(SHORT);
	expect_eq("open of one event too many", -EINVAL,
		  try_open(ARCH_EVENT_INSTRUCTIONS, fds[0]));
	close(fd);
out:
	stop();
}

static void software_takes_no_counter(void)
{
	struct perf_event_attr attr;
	int fd, i;

	start();
	if (open_instructions(target.counters, -1) < 0)
		goto out;
	for (i = 0; i < 4; i++) {
		attr_init(&attr, PERF_COUNT_SW_PAGE_FAULTS);
		attr.type = PERF_TYPE_SOFTWARE;
		attr.disabled = 0;
		fd = event_open_self(&attr, fds[0]);
		if (fd >= 0)
			fds[nr_fds++] = fd;
	}
	nr_fds -= 4;
	check_group(SHORT);
	nr_fds += 4;
out:
	stop();
}

/* Single events that take turns; what each would have counted is the loop. */
static void check_multiplex(u64 config, unsigned int nr, unsigned int room,
			    bool cycles)
{
	/* Where cycles have no counter of their own they take part. */
	unsigned int sharers = nr + (cycles && target.all == room);
	unsigned int waited = 0, i;

	start();
	for (i = 0; i < nr; i++)
		if (must_open(config, -1) < 0)
			goto out;
	if (cycles && must_open(ARCH_EVENT_CYCLES, -1) < 0)
		goto out;
	for (i = 0; i < nr_fds; i++)
		event_enable(fds[i]);
	known_loop(LONG);
	for (i = 0; i < nr_fds; i++)
		event_disable(fds[i]);
	for (i = 0; i < nr_fds; i++) {
		u64 truth = loop_counts(configs[i], LONG);
		struct event_times times;
		u64 scaled;

		event_read_times(fds[i], &times);
		expect_true("time running never to exceed time enabled",
			    times.running <= times.enabled);
		if (!expect_ne("time running of an event", 0, times.running))
			continue;
		waited += times.running < times.enabled;
		scaled = (double)times.count * times.enabled / times.running;
		expect_range("scaled count, within 2 percent",
			     truth / 100 * 98, truth / 100 * 102, scaled);
		/* Turns are shared fairly: no event gets less than half. */
		expect_true("an event to get half its fair share at least",
			    times.running >= times.enabled / 2 * room / sharers);
	}
	expect_true("one event at least to have waited", waited > 0);
	expect_true("no event to have waited without need",
		    waited >= nr - room);
out:
	stop();
}

static void check_instructions(unsigned int nr, bool cycles)
{
	check_multiplex(ARCH_EVENT_INSTRUCTIONS, nr, target.counters, cycles);
}

static void multiplex_one_more(void)
{
	check_instructions(target.counters + 1, false);
}

static void multiplex_and_cycles(void)
{
	check_instructions(target.counters + 1, true);
}

static void multiplex_twice(void)
{
	check_instructions(2 * target.counters, false);
}

static void multiplex_thrice(void)
{
	check_instructions(3 * target.counters + 1, true);
}

/* Events that no counter of their own helps out. */
static void multiplex_branches(void)
{
	if (!ARCH_EVENT_BRANCHES)
		ktap_skip("the CPU does not count branches");
	else
		check_multiplex(ARCH_EVENT_BRANCHES, 3 * target.branches,
				target.branches, false);
}

/* Groups in turns: members of one group always count the same stretches. */
static void check_rotation(unsigned int groups, unsigned int size)
{
	u64 truth = LOOP_INSNS * LONG;
	struct event_times times, first = { 0 };
	unsigned int g, i;
	u64 scaled;

	start();
	for (g = 0; g < groups; g++)
		if (open_instructions(size, -1) < 0)
			goto out;
	for (g = 0; g < groups; g++)
		event_enable(fds[g * size]);
	known_loop(LONG);
	for (g = 0; g < groups; g++)
		event_disable(fds[g * size]);
	for (i = 0; i < nr_fds; i++) {
		event_read_times(fds[i], &times);
		if (i % size == 0) {
			first = times;
			if (!expect_ne("time running", 0, times.running))
				continue;
			expect_true("a group to have waited",
				    times.running < times.enabled);
			scaled = (double)times.count * times.enabled /
				 times.running;
			expect_range("scaled count, within 2 percent",
				     truth / 100 * 98, truth / 100 * 102,
				     scaled);
			continue;
		}
		expect_eq("count of a member, as its leader's", first.count,
			  times.count);
		expect_eq("time running of a member, as its leader's",
			  first.running, times.running);
	}
out:
	stop();
}

static void rotate_full_groups(void)
{
	check_rotation(3, target.counters);
}

static void rotate_small_groups(void)
{
	check_rotation(4, target.counters / 2);
}

static void rotate_uneven_groups(void)
{
	check_rotation(2, target.counters - 1);
}

static void rotate_large_and_single(void)
{
	struct event_times big, one;
	unsigned int i;

	start();
	if (open_instructions(target.counters, -1) < 0)
		goto out;
	for (i = 0; i < 2; i++)
		if (must_open(ARCH_EVENT_INSTRUCTIONS, -1) < 0)
			goto out;
	event_enable(fds[0]);
	event_enable(fds[nr_fds - 2]);
	event_enable(fds[nr_fds - 1]);
	known_loop(LONG);
	event_disable(fds[nr_fds - 1]);
	event_disable(fds[nr_fds - 2]);
	event_disable(fds[0]);
	event_read_times(fds[0], &big);
	event_read_times(fds[nr_fds - 1], &one);
	expect_true("the full group to get turns",
		    big.running >= big.enabled / 10);
	expect_true("the single event to get turns",
		    one.running >= one.enabled / 10);
	for (i = 1; i < target.counters; i++) {
		event_read_times(fds[i], &one);
		expect_eq("count of a member", big.count, one.count);
	}
out:
	stop();
}

/* Events of the CPU come before those of the task; together they share. */
static void cpu_and_task(void)
{
	struct perf_event_attr attr;
	struct event_times times;
	unsigned int half = target.counters / 2 + 1, i;
	u64 truth = LOOP_INSNS * LONG;
	int fd;

	start();
	for (i = 0; i < half; i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.read_format = FORMAT_TIMES;
		fd = event_open(&attr, -1, 0, -1, 0);
		if (fd < 0) {
			ktap_fail("open on CPU 0: got %s", strerror(-fd));
			goto out;
		}
		fds[nr_fds++] = fd;
	}
	for (i = 0; i < half; i++)
		if (must_open(ARCH_EVENT_INSTRUCTIONS, -1) < 0)
			goto out;
	for (i = 0; i < nr_fds; i++)
		event_enable(fds[i]);
	known_loop(LONG);
	for (i = 0; i < nr_fds; i++)
		event_disable(fds[i]);
	for (i = 0; i < nr_fds; i++) {
		event_read_times(fds[i], &times);
		if (!expect_ne("time running", 0, times.running))
			continue;
		expect_true("time running never to exceed time enabled",
			    times.running <= times.enabled);
		expect_range("scaled count, within 2 percent",
			     truth / 100 * 98, truth / 100 * 102,
			     (double)times.count * times.enabled /
			     times.running);
	}
out:
	stop();
}

/* Opening and closing beside a running group does not disturb it. */
static void neighbours_come_and_go(void)
{
	struct event_times times;
	unsigned int i;
	u64 count = 0;
	int fd;

	start();
	if (open_instructions(target.counters - 1, -1) < 0)
		goto out;
	event_enable(fds[0]);
	for (i = 0; i < 50; i++) {
		fd = event_open_user(i & 1 ? ARCH_EVENT_CYCLES :
				     ARCH_EVENT_INSTRUCTIONS, -1);
		event_enable(fd);
		known_loop(1000);
		expect_true("the neighbour to count",
			    event_read(fd) >= LOOP_INSNS * 1000);
		close(fd);
	}
	event_disable(fds[0]);
	for (i = 0; i < nr_fds; i++) {
		event_read_times(fds[i], &times);
		if (!i)
			count = times.count;
		expect_eq("count of a member, as its leader's", count,
			  times.count);
		expect_eq("time running of a member", times.enabled,
			  times.running);
	}
out:
	stop();
}

/* Members switched off and on again keep their own stretches exactly. */
static void members_pause(void)
{
	struct event_times times;
	unsigned int i;
	u64 loop;

	start();
	if (must_open(ARCH_EVENT_CYCLES, -1) < 0 ||
	    open_instructions(target.all - 1, fds[0]) < 0)
		goto out;
	event_enable(fds[0]);
	for (i = 1; i < nr_fds; i++) {
		event_disable(fds[i]);
		known_loop(SHORT);
		event_enable(fds[i]);
	}
	event_disable(fds[0]);
	event_read_times(fds[0], &times);
	loop = LOOP_CYCLES * SHORT * (nr_fds - 1);
	expect_range("count of the leader", loop, loop + 2000, times.count);
	for (i = 1; i < nr_fds; i++) {
		event_read_times(fds[i], &times);
		expect_range("count of a member that paused once",
			     LOOP_INSNS * SHORT * (nr_fds - 2),
			     LOOP_INSNS * SHORT * (nr_fds - 2) + 2000,
			     times.count);
		expect_true("time running never to exceed time enabled",
			    times.running <= times.enabled);
	}
out:
	stop();
}

/* All events at once, in one read, from one group. */
static void group_read(void)
{
	u64 buffer[3 + 16];
	struct perf_event_attr attr;
	unsigned int i;
	ssize_t len;
	int fd;

	start();
	for (i = 0; i < target.all; i++) {
		attr_init(&attr, i ? ARCH_EVENT_INSTRUCTIONS :
			  ARCH_EVENT_CYCLES);
		attr.disabled = !i;
		attr.read_format = FORMAT_TIMES | PERF_FORMAT_GROUP;
		fd = event_open_self(&attr, i ? fds[0] : -1);
		if (fd < 0)
			goto out;
		configs[nr_fds] = attr.config;
		fds[nr_fds++] = fd;
	}
	event_enable(fds[0]);
	known_loop(SHORT);
	len = read(fds[0], buffer, sizeof(buffer));
	expect_eq("size of a running group's read", (3 + nr_fds) * sizeof(u64),
		  len);
	for (i = 0; i < nr_fds; i++)
		expect_range("count of a running member",
			     loop_counts(configs[i], SHORT),
			     loop_counts(configs[i], SHORT) + 500, buffer[3 + i]);
	known_loop(SHORT);
	event_disable(fds[0]);
	len = read(fds[0], buffer, sizeof(buffer));
	expect_eq("nr", nr_fds, buffer[0]);
	expect_eq("time running, as enabled", buffer[1], buffer[2]);
	expect_range("count of the leader", LOOP_CYCLES * 2 * SHORT,
		     LOOP_CYCLES * 2 * SHORT + 10000, buffer[3]);
	expect_range("count of the first sibling", LOOP_INSNS * 2 * SHORT,
		     LOOP_INSNS * 2 * SHORT + 10000, buffer[4]);
	for (i = 2; i < nr_fds; i++)
		expect_eq("count of a sibling, as the first one's", buffer[4],
			  buffer[3 + i]);
out:
	stop();
}

/*
 * A cycles event of the CPU that found the cycle counter taken stays on an event
 * counter. When a task comes with a group that needs them all it has to move.
 */
static void events_move(void)
{
	struct event_times times, first = { 0 };
	struct perf_event_attr attr;
	int cycles[2], i;
	u64 before;

	if (target.in_tree) {
		ktap_skip("%s leaves events where they are", target.pmu);
		return;
	}
	if (target.all == target.counters) {
		ktap_skip("no counter is for cycles alone");
		return;
	}
	start();
	for (i = 0; i < 2; i++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.read_format = FORMAT_TIMES;
		cycles[i] = event_open(&attr, -1, 0, -1, 0);
		if (cycles[i] < 0) {
			ktap_fail("open on CPU 0: got %s", strerror(-cycles[i]));
			return;
		}
		event_enable(cycles[i]);
	}
	known_loop(SHORT);
	event_disable(cycles[0]);
	event_read_times(cycles[1], &times);
	before = times.count;
	if (open_instructions(target.counters, -1) < 0)
		goto out;
	/* Counted before it moves, and read by nobody before. */
	known_loop(10 * SHORT);
	for (i = 0; i < 5; i++) {
		event_enable(fds[0]);
		known_loop(10 * SHORT);
		event_disable(fds[0]);
	}
	for (i = 0; i < (int)nr_fds; i++) {
		event_read_times(fds[i], &times);
		if (!i)
			first = times;
		expect_eq("count of a member, as its leader's", first.count,
			  times.count);
		expect_ne("time running of a member", 0, times.running);
		expect_eq("time running of a member", times.enabled,
			  times.running);
	}
	event_disable(cycles[1]);
	event_read_times(cycles[1], &times);
	expect_eq("time running of the event that moved", times.enabled,
		  times.running);
	expect_range("count of the event that moved", LOOP_CYCLES * SHORT,
		     LOOP_CYCLES * SHORT + 50000, before);
	expect_range("its count since", 60 * LOOP_CYCLES * SHORT,
		     60 * LOOP_CYCLES * SHORT + 50000, times.count - before);
out:
	close_all(cycles, 2);
	stop();
}

/*
 * An instructions event of the CPU is on a counter that any event may have, since
 * its own was taken, and stays there. A group of other events needs them all.
 */
static void instructions_move(void)
{
	struct event_times times;
	struct perf_event_attr attr;
	unsigned int i;
	int cpu[2];

	if (target.counters == target.branches) {
		ktap_skip("no counter is for instructions alone");
		return;
	}
	start();
	for (i = 0; i < 2; i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.read_format = FORMAT_TIMES;
		attr.disabled = 0;
		cpu[i] = event_open(&attr, -1, 0, -1, 0);
		if (cpu[i] < 0)
			ktap_fail("open on CPU 0: got %s", strerror(-cpu[i]));
	}
	close(cpu[0]);
	if (open_events(ARCH_EVENT_BRANCHES, target.branches, -1) >= 0)
		check_group(SHORT);
	known_loop(SHORT);
	event_disable(cpu[1]);
	event_read_times(cpu[1], &times);
	expect_eq("time running of the event that moved", times.enabled,
		  times.running);
	expect_range("its count", 2 * LOOP_INSNS * SHORT,
		     2 * LOOP_INSNS * SHORT + 50000, times.count);
	close(cpu[1]);
	stop();
}

/* Cycles, instructions and others that fit only one way, in whatever order. */
static void fixed_counters_in_any_order(void)
{
	static const unsigned int orders[6][3] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	const u64 events[3] = { ARCH_EVENT_CYCLES, ARCH_EVENT_INSTRUCTIONS,
				ARCH_EVENT_BRANCHES };
	const unsigned int nr[3] = { 1, 1, target.branches };
	unsigned int order, i;

	if (target.all < target.branches + 2) {
		ktap_skip("cycles and instructions have no counters of their own");
		return;
	}
	for (order = 0; order < 6; order++) {
		start_enabled();
		for (i = 0; i < 3; i++) {
			unsigned int kind = orders[order][i];

			open_events(events[kind], nr[kind], nr_fds ? fds[0] : -1);
		}
		for (i = 0; i < 3; i++)
			expect_eq("open of one event more", -EINVAL,
				  try_open(events[i], fds[0]));
		check_group(SHORT);
		stop();
	}
}

/* Where cycles and instructions are as many, where they count tells them apart. */
static void generic_instructions_are_none(void)
{
	struct perf_event_attr attr;
	unsigned int i;
	int fd;

	start_enabled();
	for (i = 0; i <= target.counters; i++) {
		attr_init_generic(&attr, PERF_COUNT_HW_INSTRUCTIONS);
		attr.disabled = 0;
		fd = event_open(&attr, 0, -1, i ? fds[0] : -1, 0);
		if (fd < 0)
			break;
		fds[nr_fds++] = fd;
	}
	expect_eq("instructions events in a group", target.counters, nr_fds);
	if (target.all > target.counters) {
		attr_init_generic(&attr, PERF_COUNT_HW_CPU_CYCLES);
		attr.disabled = 0;
		fd = event_open_self(&attr, fds[0]);
		if (fd >= 0)
			fds[nr_fds++] = fd;
	}
	stop();
}

static const struct ktap_case cases[] = {
	{ "cycles and an event per counter in one group", full_group },
	{ "an event per counter and cycles, opened last, in one group", full_group_cycles_last },
	{ "an event per counter and cycles, in between, in one group", full_group_cycles_between },
	{ "a group of cycles on every counter", group_of_cycles },
	{ "two cycles events in a group count the same", two_cycles },
	{ "two single cycles events count the same", two_cycles_apart },
	{ "cycles and too many events are refused with EINVAL",
	  impossible_with_cycles },
	{ "too many events without cycles are refused with EINVAL",
	  impossible_without_cycles },
	{ "cycles and too many events, the leader disabled",
	  impossible_with_cycles_disabled },
	{ "too many events without cycles, the leader disabled",
	  impossible_without_cycles_disabled },
	{ "a refusal does not disturb a running group",
	  impossible_while_running },
	{ "a member that closes makes room", room_after_close },
	{ "a member that closes makes room, the leader disabled", room_after_close_disabled },
	{ "a disabled member needs no counter", disabled_member },
	{ "a disabled member makes room", disabled_member_makes_room },
	{ "software events in a full group", software_takes_no_counter },
	{ "one event more than counters multiplexes", multiplex_one_more },
	{ "one event more than counters, and cycles, multiplexes", multiplex_and_cycles },
	{ "twice as many events as counters", multiplex_twice },
	{ "three times as many, and cycles", multiplex_thrice },
	{ "three branches events for each counter", multiplex_branches },
	{ "full groups in turns", rotate_full_groups },
	{ "four groups of half the counters", rotate_small_groups },
	{ "two groups one short of full", rotate_uneven_groups },
	{ "a full group and single events", rotate_large_and_single },
	{ "events of the CPU and of the task", cpu_and_task },
	{ "neighbours come and go beside a group", neighbours_come_and_go },
	{ "members of a group pause", members_pause },
	{ "one read of a full group", group_read },
	{ "an event moves to make room", events_move },
	{ "an instructions event moves to make room", instructions_move },
	{ "fixed counters, opened in any order", fixed_counters_in_any_order },
	{ "generic instructions are no cycles", generic_instructions_are_none },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
