// SPDX-License-Identifier: GPL-2.0-only
/*
 * refusal.c - which attributes are refused, and with what errno
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "observe/observe.h"

/* Define a function that changes the attributes of an event of instructions, and opens it. */
#define ATTRIBUTES(name, ...)						\
	static void name(void)						\
	{								\
		struct perf_event_attr attr;				\
									\
		attr_sampling(&attr, LOOP, PERF_SAMPLE_IP);		\
		__VA_ARGS__;						\
		answer_error("", event_open(&attr, 0, -1, -1, 0));	\
	}

ATTRIBUTES(inherit_and_read, attr.inherit = 1, attr.sample_type |= PERF_SAMPLE_READ)
ATTRIBUTES(inherit_and_group, attr.inherit = 1, attr.read_format = PERF_FORMAT_GROUP)
ATTRIBUTES(inherit_group_and_read, attr.inherit = 1, attr.read_format = PERF_FORMAT_GROUP,
	   attr.sample_type |= PERF_SAMPLE_READ)
ATTRIBUTES(inherit_and_tid_read, attr.inherit = 1,
	   attr.sample_type |= PERF_SAMPLE_READ | PERF_SAMPLE_TID)
ATTRIBUTES(thread_without_inherit, attr.inherit_thread = 1)
ATTRIBUTES(stat_without_inherit, attr.inherit_stat = 1)
ATTRIBUTES(sigtrap_alone, attr.sigtrap = 1)
ATTRIBUTES(both_on_exec, attr.remove_on_exec = 1, attr.enable_on_exec = 1)
ATTRIBUTES(unknown_sample_type, attr.sample_type = 1ULL << 62)
ATTRIBUTES(unknown_read_format, attr.read_format = 1ULL << 62)
ATTRIBUTES(huge_period, attr.sample_period = 1ULL << 63)
ATTRIBUTES(huge_frequency, attr.freq = 1, attr.sample_freq = 1ULL << 32)
ATTRIBUTES(frequency_of_0, attr.freq = 1, attr.sample_freq = 0)
ATTRIBUTES(two_weights, attr.sample_type |= PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)
ATTRIBUTES(no_branch_type, attr.sample_type |= PERF_SAMPLE_BRANCH_STACK)
ATTRIBUTES(user_branches, attr.sample_type |= PERF_SAMPLE_BRANCH_STACK,
	   attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER)
ATTRIBUTES(any_branch, attr.sample_type |= PERF_SAMPLE_BRANCH_STACK,
	   attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY)
ATTRIBUTES(call_stack, attr.sample_type |= PERF_SAMPLE_BRANCH_STACK,
	   attr.branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK)
ATTRIBUTES(no_user_regs, attr.sample_type |= PERF_SAMPLE_REGS_USER)
ATTRIBUTES(odd_stack, attr.sample_type |= PERF_SAMPLE_STACK_USER, attr.sample_stack_user = 12)
ATTRIBUTES(large_stack, attr.sample_type |= PERF_SAMPLE_STACK_USER,
	   attr.sample_stack_user = 65528)
ATTRIBUTES(deep_chain, attr.sample_type |= PERF_SAMPLE_CALLCHAIN, attr.sample_max_stack = 1000)
ATTRIBUTES(aux_by_cpu_pmu, attr.aux_output = 1)
ATTRIBUTES(aux_sample, attr.sample_type |= PERF_SAMPLE_AUX, attr.aux_sample_size = 4096)
ATTRIBUTES(cgroup_sample, attr.sample_type |= PERF_SAMPLE_CGROUP)
ATTRIBUTES(raw_sample, attr.sample_type |= PERF_SAMPLE_RAW)
ATTRIBUTES(transaction, attr.sample_type |= PERF_SAMPLE_TRANSACTION)
ATTRIBUTES(process_clock, attr.use_clockid = 1, attr.clockid = CLOCK_PROCESS_CPUTIME_ID)
ATTRIBUTES(real_clock, attr.use_clockid = 1, attr.clockid = CLOCK_REALTIME)
ATTRIBUTES(idle_excluded, attr.exclude_idle = 1)
ATTRIBUTES(hypervisor_excluded, attr.exclude_hv = 1)
ATTRIBUTES(overwrite, attr.write_backward = 1)
ATTRIBUTES(text_poke, attr.text_poke = 1)
ATTRIBUTES(ksymbols, attr.ksymbol = 1)
ATTRIBUTES(config2_bit_63, attr.config2 = 1ULL << 63)
ATTRIBUTES(config1_bit_63, attr.config1 = 1ULL << 63)

static long open_size(void *attr, u32 size)
{
	((struct perf_event_attr *)attr)->size = size;
	return syscall(SYS_perf_event_open, attr, 0, -1, -1, 0) < 0 ? -errno : 0;
}

static void sizes(void)
{
	static union {
		struct perf_event_attr attr;
		char bytes[8192];
	} large;

	attr_instructions(&large.attr);
	answer_error("0:", open_size(&large, 0));
	answer_error("63:", open_size(&large, 63));
	answer_error("64:", open_size(&large, 64));
	answer_error("a page, zeroes:", open_size(&large, 4096));
	answer_error("a page and a byte:", open_size(&large, 4097));
	large.bytes[4000] = 1;
	answer_error("a page, not zeroes:", open_size(&large, 4096));
	answer("size is %s then", large.attr.size == 4096 ? "unchanged" : "the kernel's");
}

static void flags(void)
{
	struct perf_event_attr attr;

	attr_instructions(&attr);
	answer_error("unknown:", event_open(&attr, 0, -1, -1, 1UL << 16));
	answer_error("FD_OUTPUT without a group:", event_open(&attr, 0, -1, -1,
							      PERF_FLAG_FD_OUTPUT));
	answer_error("PID_CGROUP with pid 0:", event_open(&attr, 0, pmu.cpu, -1,
							  PERF_FLAG_PID_CGROUP));
}

static void places(void)
{
	struct perf_event_attr attr;

	attr_instructions(&attr);
	answer_error("pid -1, cpu -1:", event_open(&attr, -1, -1, -1, 0));
	answer_error("pid -2:", event_open(&attr, -2, pmu.cpu, -1, 0));
	answer_error("cpu 100000:", event_open(&attr, 0, 100000, -1, 0));
	answer_error("group of a closed descriptor:", event_open(&attr, 0, -1, 999, 0));
	answer_error("group of a file:", event_open(&attr, 0, -1, open("/proc/self/exe", O_RDONLY),
						    0));
}

static void members(void)
{
	struct perf_event_attr attr;
	int leader = open_instructions(), member;

	attr_instructions(&attr);
	answer_error("on one CPU, of a leader on any:", event_open(&attr, 0, pmu.cpu, leader, 0));
	member = event_open(&attr, 0, -1, leader, 0);
	answer_error("of a member:", event_open(&attr, 0, -1, member, 0));
	attr.pinned = 1;
	answer_error("pinned:", event_open(&attr, 0, -1, leader, 0));
	attr.pinned = 0;
	attr.exclusive = 1;
	answer_error("exclusive:", event_open(&attr, 0, -1, leader, 0));
}

static void ioctls(void)
{
	int fd = open_instructions();
	u64 value = 0;

	answer_error("unknown:", ioctl(fd, 0x24ff) ? -errno : 0);
	answer_error("SET_OUTPUT to itself:", ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT,
						    fd) ? -errno : 0);
	answer_error("SET_FILTER:", ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "x") ? -errno : 0);
	answer_error("PAUSE_OUTPUT without a buffer:",
		     ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1) ? -errno : 0);
	answer_error("ID to no address:", ioctl(fd, PERF_EVENT_IOC_ID, NULL) ? -errno : 0);
	answer_error("QUERY_BPF:", ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, &value) ? -errno : 0);
}

static void modify(void)
{
	struct perf_event_attr attr;
	int fd = open_instructions();

	attr_instructions(&attr);
	answer_error("", ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr) ? -errno : 0);
}

static void redirect(void)
{
	struct perf_event_attr attr;
	struct ring ring;
	int task, other;

	attr_sampling(&attr, LOOP, PERF_SAMPLE_IP);
	task = open_ring(&ring, &attr, 0, -1);
	other = event_open(&attr, 0, pmu.cpu, -1, 0);
	answer_error("from one CPU to any:", ioctl(other, PERF_EVENT_IOC_SET_OUTPUT,
						   task) ? -errno : 0);
	attr.write_backward = 1;
	other = event_open(&attr, 0, -1, -1, 0);
	answer_error("backward to forward:", ioctl(other, PERF_EVENT_IOC_SET_OUTPUT,
						   task) ? -errno : 0);
	attr.write_backward = 0;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	other = event_open(&attr, 0, -1, -1, 0);
	answer_error("another clock:", ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, task) ? -errno : 0);
}

static const struct observation observations[] = {
	{ "refusal", "inherit, SAMPLE_READ", inherit_and_read },
	{ "refusal", "inherit, SAMPLE_READ, SAMPLE_TID", inherit_and_tid_read },
	{ "refusal", "inherit, FORMAT_GROUP", inherit_and_group },
	{ "refusal", "inherit, FORMAT_GROUP, SAMPLE_READ", inherit_group_and_read },
	{ "refusal", "inherit_thread without inherit", thread_without_inherit },
	{ "refusal", "inherit_stat without inherit", stat_without_inherit },
	{ "refusal", "sigtrap without remove_on_exec", sigtrap_alone },
	{ "refusal", "remove_on_exec, enable_on_exec", both_on_exec },
	{ "refusal", "an unknown bit of sample_type", unknown_sample_type },
	{ "refusal", "an unknown bit of read_format", unknown_read_format },
	{ "refusal", "sample_period 2^63", huge_period },
	{ "refusal", "sample_freq 2^32", huge_frequency },
	{ "refusal", "sample_freq 0", frequency_of_0 },
	{ "refusal", "SAMPLE_WEIGHT, SAMPLE_WEIGHT_STRUCT", two_weights },
	{ "refusal", "BRANCH_STACK, branch_sample_type 0", no_branch_type },
	{ "refusal", "BRANCH_STACK of user, no kind of branch", user_branches },
	{ "refusal", "BRANCH_STACK of any branch", any_branch },
	{ "refusal", "BRANCH_STACK as call stack", call_stack },
	{ "refusal", "REGS_USER, sample_regs_user 0", no_user_regs },
	{ "refusal", "STACK_USER of 12 bytes", odd_stack },
	{ "refusal", "STACK_USER of 65528 bytes", large_stack },
	{ "refusal", "CALLCHAIN, sample_max_stack 1000", deep_chain },
	{ "refusal", "aux_output", aux_by_cpu_pmu },
	{ "refusal", "SAMPLE_AUX", aux_sample },
	{ "refusal", "SAMPLE_CGROUP", cgroup_sample },
	{ "refusal", "SAMPLE_RAW", raw_sample },
	{ "refusal", "SAMPLE_TRANSACTION", transaction },
	{ "refusal", "clockid of the process's CPU time", process_clock },
	{ "refusal", "clockid of the wall clock", real_clock },
	{ "refusal", "exclude_idle", idle_excluded },
	{ "refusal", "exclude_hv", hypervisor_excluded },
	{ "refusal", "write_backward", overwrite },
	{ "refusal", "text_poke", text_poke },
	{ "refusal", "ksymbol", ksymbols },
	{ "refusal", "bit 63 of config1", config1_bit_63 },
	{ "refusal", "bit 63 of config2", config2_bit_63 },
	{ "refusal", "attr.size", sizes },
	{ "refusal", "flags", flags },
	{ "refusal", "pid, cpu and group_fd", places },
	{ "refusal", "members of a group", members },
	{ "refusal", "ioctls", ioctls },
	{ "refusal", "MODIFY_ATTRIBUTES to the same attributes", modify },
	{ "refusal", "SET_OUTPUT", redirect },
};

const struct observation_list refusal_observations = { observations, ARRAY_SIZE(observations) };
