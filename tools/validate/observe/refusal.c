// SPDX-License-Identifier: GPL-2.0-only
/*
 * refusal.c - which attributes are refused, and with what errno
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "observe/observe.h"

void answer_refusal(const struct perf_event_attr *more)
{
	struct perf_event_attr attr;

	attr_sampling(&attr, LOOP, PERF_SAMPLE_IP);
	attr_add(&attr, more);
	answer_error("", event_open(&attr, 0, -1, -1, 0));
}

static void frequency_of_0(void)
{
	struct perf_event_attr attr;

	attr_sampling(&attr, 0, PERF_SAMPLE_IP);
	attr.freq = 1;
	answer_error("", event_open(&attr, 0, -1, -1, 0));
}

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

/* Open a generic event of instructions with a PMU's type in config; return its count, or -errno. */
static s64 count_of_type(u64 type)
{
	struct perf_event_attr attr;
	s64 count;
	int fd;

	attr_instructions(&attr);
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_INSTRUCTIONS | type << PERF_PMU_TYPE_SHIFT;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		return fd;
	count = event_count_loop(fd, ITERATIONS);
	close(fd);
	return count;
}

static void answer_type(const char *what, u64 type)
{
	s64 count = count_of_type(type);

	answer_error(what, count);
	if (count >= 0)
		answer("it counts%s", count ? "" : " 0");
}

static void extended_types(void)
{
	char path[64], text[16], what[64];
	glob_t found;

	answer_type("none:", 0);
	answer_type("this PMU's:", pmu.name ? pmu.type : 0);
	answer_type("the software PMU's:", PERF_TYPE_SOFTWARE);
	answer_type("no PMU's:", 0x7ffffff0);
	/* Other PMUs of a hybrid machine */
	if (!is_hybrid() || glob("/sys/bus/event_source/devices/cpu_*", 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *name = strrchr(found.gl_pathv[i], '/') + 1;

		snprintf(path, sizeof(path), "%s/type", found.gl_pathv[i]);
		if (pmu.name && !strcmp(name, pmu.name))
			continue;
		snprintf(what, sizeof(what), "%.16s's:", name);
		if (read_text(path, text, sizeof(text)))
			answer_type(what, strtoull(text, NULL, 0));
	}
	globfree(&found);
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
	task = event_open(&attr, 0, -1, -1, 0);
	if (task < 0)
		answer_error("the event is refused:", task);
	else
		ring_map(&ring, task, PAGES);
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

/* A question for the error of opening an event with some attributes */
#define REFUSAL(question, ...)	{ "refusal", question, .attr = { __VA_ARGS__ } }

static const struct observation observations[] = {
	REFUSAL("inherit, SAMPLE_READ", .inherit = 1, .sample_type = PERF_SAMPLE_READ),
	REFUSAL("inherit, SAMPLE_READ, SAMPLE_TID",
		.inherit = 1, .sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID),
	REFUSAL("inherit, FORMAT_GROUP", .inherit = 1, .read_format = PERF_FORMAT_GROUP),
	REFUSAL("inherit, FORMAT_GROUP, SAMPLE_READ",
		.inherit = 1, .read_format = PERF_FORMAT_GROUP, .sample_type = PERF_SAMPLE_READ),
	REFUSAL("inherit_thread without inherit", .inherit_thread = 1),
	REFUSAL("inherit_stat without inherit", .inherit_stat = 1),
	REFUSAL("sigtrap without remove_on_exec", .sigtrap = 1),
	REFUSAL("remove_on_exec, enable_on_exec", .remove_on_exec = 1, .enable_on_exec = 1),
	REFUSAL("an unknown bit of sample_type", .sample_type = 1ULL << 62),
	REFUSAL("an unknown bit of read_format", .read_format = 1ULL << 62),
	REFUSAL("sample_period 2^63", .sample_period = 1ULL << 63),
	REFUSAL("sample_freq 2^32", .freq = 1, .sample_freq = 1ULL << 32),
	{ "refusal", "sample_freq 0", frequency_of_0 },
	REFUSAL("SAMPLE_WEIGHT, SAMPLE_WEIGHT_STRUCT",
		.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT),
	REFUSAL("BRANCH_STACK, branch_sample_type 0", .sample_type = PERF_SAMPLE_BRANCH_STACK),
	REFUSAL("BRANCH_STACK of user, no kind of branch",
		.sample_type = PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER),
	REFUSAL("BRANCH_STACK of any branch",
		.sample_type = PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY),
	REFUSAL("BRANCH_STACK as call stack",
		.sample_type = PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK),
	REFUSAL("REGS_USER, sample_regs_user 0", .sample_type = PERF_SAMPLE_REGS_USER),
	REFUSAL("STACK_USER of 12 bytes",
		.sample_type = PERF_SAMPLE_STACK_USER, .sample_stack_user = 12),
	REFUSAL("STACK_USER of 65528 bytes",
		.sample_type = PERF_SAMPLE_STACK_USER, .sample_stack_user = 65528),
	REFUSAL("CALLCHAIN, sample_max_stack 1000",
		.sample_type = PERF_SAMPLE_CALLCHAIN, .sample_max_stack = 1000),
	REFUSAL("aux_output", .aux_output = 1),
	REFUSAL("SAMPLE_AUX", .sample_type = PERF_SAMPLE_AUX, .aux_sample_size = 4096),
	REFUSAL("SAMPLE_CGROUP", .sample_type = PERF_SAMPLE_CGROUP),
	REFUSAL("SAMPLE_RAW", .sample_type = PERF_SAMPLE_RAW),
	REFUSAL("SAMPLE_TRANSACTION", .sample_type = PERF_SAMPLE_TRANSACTION),
	REFUSAL("clockid of the process's CPU time",
		.use_clockid = 1, .clockid = CLOCK_PROCESS_CPUTIME_ID),
	REFUSAL("clockid of the wall clock", .use_clockid = 1, .clockid = CLOCK_REALTIME),
	REFUSAL("exclude_idle", .exclude_idle = 1),
	REFUSAL("exclude_hv", .exclude_hv = 1),
	REFUSAL("write_backward", .write_backward = 1),
	REFUSAL("text_poke", .text_poke = 1),
	REFUSAL("ksymbol", .ksymbol = 1),
	REFUSAL("bit 63 of config1", .config1 = 1ULL << 63),
	REFUSAL("bit 63 of config2", .config2 = 1ULL << 63),
	{ "refusal", "attr.size", sizes },
	{ "refusal", "flags", flags },
	{ "refusal", "pid, cpu and group_fd", places },
	{ "refusal", "members of a group", members },
	{ "refusal", "generic events with a PMU's type in config", extended_types },
	{ "refusal", "ioctls", ioctls },
	{ "refusal", "MODIFY_ATTRIBUTES to the same attributes", modify },
	{ "refusal", "SET_OUTPUT", redirect },
};

const struct observation_list refusal_observations = { observations, ARRAY_SIZE(observations) };
