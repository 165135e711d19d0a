// SPDX-License-Identifier: GPL-2.0-only
/*
 * group.c - the events of one test
 */
#include <string.h>

#include "group.h"

int group_fds[MAX_EVENTS];
u64 group_configs[MAX_EVENTS];
unsigned int group_nr;
bool group_leader_enabled;

void group_start(void)
{
	group_nr = 0;
	group_leader_enabled = false;
}

void group_start_enabled(void)
{
	group_nr = 0;
	group_leader_enabled = true;
}

void group_stop(void)
{
	close_all(group_fds, group_nr);
	group_nr = 0;
}

int group_try_open(u64 config, int group)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, config);
	attr.read_format = FORMAT_TIMES;
	attr.disabled = group == -1 && !group_leader_enabled;
	fd = event_open(&attr, 0, -1, group, 0);
	if (fd >= 0) {
		group_configs[group_nr] = config;
		group_fds[group_nr++] = fd;
	}
	return fd;
}

int group_open(u64 config, int group)
{
	int fd = group_try_open(config, group);

	if (fd < 0)
		ktap_fail("open of event %u of the group: expected a descriptor, got %s",
			  group_nr + 1, strerror(-fd));
	return fd;
}

int group_open_events(u64 config, unsigned int nr, int group)
{
	int leader = group;

	while (nr--) {
		int fd = group_open(config, leader);

		if (fd < 0)
			return fd;
		if (leader == -1)
			leader = fd;
	}
	return leader;
}

int group_open_instructions(unsigned int nr, int group)
{
	return group_open_events(ARCH_EVENT_INSTRUCTIONS, nr, group);
}

/*
 * One function for all numbers of iterations: a specialised copy for 1 would have other
 * instructions.
 */
static __attribute__((noipa)) void run_group(unsigned long iterations)
{
	ioctl(group_fds[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	event_enable(group_fds[0]);
	known_loop(iterations);
	event_disable(group_fds[0]);
}

void group_check(unsigned long iterations)
{
	struct event_times times[MAX_EVENTS];
	u64 base[MAX_EVENTS];
	unsigned int i;

	event_disable(group_fds[0]);
	run_group(1);
	for (i = 0; i < group_nr; i++) {
		event_read_times(group_fds[i], &times[i]);
		base[i] = times[i].count;
	}
	run_group(iterations);
	for (i = 0; i < group_nr; i++) {
		event_read_times(group_fds[i], &times[i]);
		expect_eq("counts of a member of the group",
			  loop_counts(group_configs[i], iterations - 1),
			  times[i].count - base[i]);
		expect_eq("time running of a member", times[i].enabled,
			  times[i].running);
		expect_ne("time enabled of a member", 0, times[i].enabled);
	}
}
