// SPDX-License-Identifier: GPL-2.0-only
/*
 * event.c - events that are rejected: attributes, siblings, numbers, user access
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "errors.h"

static void attr_nowhere(void)
{
	expect_error("open without attributes", EFAULT,
		     event_open(NULL, 0, -1, -1, 0));
	expect_error("open with attributes nowhere", EFAULT,
		     event_open((void *)-4096L, 0, -1, -1, 0));
}

/* Larger attributes of a future kernel are fine as long as they are zero. */
static void attr_of_the_future(void)
{
	struct {
		struct perf_event_attr attr;
		char more[256];
	} future;
	int fd;

	memset(&future, 0, sizeof(future));
	attr_init(&future.attr, ARCH_EVENT_INSTRUCTIONS);
	future.attr.size = sizeof(future);
	fd = open_on_self(&future.attr, -1);
	expect_error("larger attributes, zero", 0, fd);
	if (fd >= 0) {
		event_is_exact(fd, 5000);
		close(fd);
	}
	future.more[200] = 1;
	expect_error("larger attributes, not zero", E2BIG,
		     open_on_self(&future.attr, -1));
	expect_range("attr.size as the kernel knows it", PERF_ATTR_SIZE_VER7,
		     sizeof(future) - 1, future.attr.size);
}

static void siblings(void)
{
	int leader = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	struct perf_event_attr attr;
	int fd, cpu;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.pinned = 1;
	expect_error("a pinned sibling", EINVAL, open_on_self(&attr, leader));
	attr.pinned = 0;
	attr.exclusive = 1;
	expect_error("an exclusive sibling", EINVAL, open_on_self(&attr, leader));
	attr.exclusive = 0;
	attr.inherit = 1;
	expect_error("a sibling that alone inherits", EINVAL,
		     open_on_self(&attr, leader));
	attr.inherit = 0;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC_RAW;
	expect_error("a sibling with another clock", EINVAL,
		     open_on_self(&attr, leader));
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	fd = open_on_self(&attr, leader);
	expect_error("a sibling", 0, fd);
	expect_error("a sibling's sibling", EINVAL, open_on_self(&attr, fd));
	close(fd);
	expect_error("a sibling on another CPU", EINVAL,
		     event_open(&attr, 0, 0, leader, 0));
	expect_error("a sibling of the CPU's", EINVAL,
		     event_open(&attr, -1, 0, leader, 0));
	cpu = event_open(&attr, -1, 0, -1, 0);
	expect_error("a leader of the CPU's", 0, cpu);
	expect_error("a task's sibling of the CPU's leader", EINVAL,
		     event_open(&attr, 0, 0, cpu, 0));
	close(cpu);
	event_is_exact(leader, 5000);
	close(leader);
}

static void sibling_of_another_task(void)
{
	int leader = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	struct perf_event_attr attr;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	expect_error("a sibling of another task", EINVAL,
		     event_open(&attr, child, -1, leader, 0));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	expect_error("a task that has ended", ESRCH,
		     event_open(&attr, child, -1, -1, 0));
	event_is_exact(leader, 5000);
	close(leader);
}

static void inherit_group_read(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.inherit = 1;
	attr.read_format = PERF_FORMAT_GROUP;
	fd = open_on_self(&attr, -1);
	expect_error("inherit with PERF_FORMAT_GROUP", 0, fd);
	if (fd >= 0)
		close(fd);
	attr.sample_period = 100000;
	attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
	fd = open_on_self(&attr, -1);
	/* Accepted since Linux 6.12. */
	expect_error("inherit with PERF_SAMPLE_READ and PERF_SAMPLE_TID",
		     target.kernel < 612 ? EINVAL : 0, fd);
	if (fd >= 0)
		close(fd);
}

static void extended_types(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init_generic(&attr, (u64)target.type << 32 |
			  PERF_COUNT_HW_INSTRUCTIONS);
	fd = event_open_self(&attr, -1);
	if (fd >= 0) {
		event_is_exact(fd, 5000);
		close(fd);
	}
	attr.config = (u64)target.type << 32 | 1000;
	expect_error("a generic event that does not exist", EINVAL,
		     open_on_self(&attr, -1));
	attr.config = (u64)target.type << 32 | ARCH_MISSING_GENERIC;
	expect_error("a generic event the CPU lacks", ENOENT,
		     open_on_self(&attr, -1));
	attr.type = PERF_TYPE_HW_CACHE;
	attr.config = (u64)target.type << 32 | CACHE(0x77, 0, 0);
	expect_error("a cache that does not exist", EINVAL,
		     open_on_self(&attr, -1));
	/* Perf core of Linux 6.1 does not find the software PMU by its type. */
	attr.config = (u64)PERF_TYPE_TRACEPOINT << 32 | CACHE(0, 0, 0);
	expect_error("a cache event of the tracepoint PMU", ENOENT,
		     open_on_self(&attr, -1));
}

static void missing_events(void)
{
	struct perf_event_attr attr;

	attr_init_generic(&attr, ARCH_MISSING_GENERIC);
	expect_error("a generic event", ENOENT, open_on_self(&attr, -1));
	attr_init_generic(&attr, ARCH_MISSING_GENERIC_2);
	expect_error("another generic event", ENOENT, open_on_self(&attr, -1));
	attr_init(&attr, CACHE(ARCH_MISSING_CACHE, PERF_COUNT_HW_CACHE_OP_READ,
			       PERF_COUNT_HW_CACHE_RESULT_ACCESS));
	attr.type = PERF_TYPE_HW_CACHE;
	expect_error("accesses to a cache", ENOENT, open_on_self(&attr, -1));
}

/* The CPU may count an event that its identification registers do not list. */
static void unannounced_event(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_UNKNOWN);
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	expect_eq("its count", 0, event_count_loop(fd, 5000));
	close(fd);
}

/* User space can read the counters of one task, not those of a whole CPU. */
static void user_access(void)
{
	struct perf_event_attr attr;
	char path[256];
	int error;

	if (!ARCH_CONFIG1_RDPMC) {
		ktap_skip("not asked for with an attribute here");
		return;
	}
	snprintf(path, sizeof(path),
		 "/sys/bus/event_source/devices/%s/format/rdpmc", target.pmu);
	error = access(path, R_OK) ? EOPNOTSUPP : EINVAL;
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.config1 = ARCH_CONFIG1_RDPMC;
	expect_error("user access to a CPU's event", error,
		     event_open(&attr, -1, 0, -1, 0));
	if (error == EOPNOTSUPP)
		expect_error("user access to a task's event", error,
			     open_on_self(&attr, -1));
}

static const struct ktap_case cases[] = {
	{ "attributes at a bad address are refused", attr_nowhere },
	{ "attributes larger than known are taken when zero", attr_of_the_future },
	{ "siblings that cannot be are refused", siblings },
	{ "a sibling of another task is refused", sibling_of_another_task },
	{ "inherit with PERF_SAMPLE_READ is taken where the kernel knows it", inherit_group_read },
	{ "generic events with the PMU's type count, or are refused", extended_types },
	{ "generic events that the CPU lacks are refused", missing_events },
	{ "an event number that the CPU does not announce counts nothing", unannounced_event },
	{ "user access to counters of a CPU is refused", user_access },
};

const struct ktap_list errors_event_cases = { cases, ARRAY_SIZE(cases) };
