// SPDX-License-Identifier: GPL-2.0-only
/*
 * paranoid.c - events that perf_event_paranoid and perf_event_mlock_kb reject
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errors.h"

/* Run a check as user 1000 in a child, and read its results as text. */
static void unprivileged(void (*check)(void))
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		if (setgid(1000) || setuid(1000))
			_exit(2);
		check();
		fflush(stdout);
		_exit(ktap_failed());
	}
	waitpid(child, &status, 0);
	expect_eq("status of the child of user 1000", 0, status);
}

static void try_unprivileged(int user, int kernel, int cpu)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	fd = open_on_self(&attr, -1);
	expect_error("a user event", user, fd);
	if (fd >= 0) {
		event_is_exact(fd, 5000);
		close(fd);
	}
	attr.exclude_kernel = 0;
	fd = open_on_self(&attr, -1);
	expect_error("a kernel event", kernel, fd);
	if (fd >= 0)
		close(fd);
	attr.exclude_kernel = 1;
	fd = event_open(&attr, -1, 0, -1, 0);
	expect_error("a CPU's event", cpu, fd);
	if (fd >= 0)
		close(fd);
}

static void check_paranoid_none(void)
{
	try_unprivileged(0, 0, 0);
}

static void check_paranoid_0(void)
{
	try_unprivileged(0, 0, 0);
}

static void check_paranoid_1(void)
{
	try_unprivileged(0, 0, EACCES);
}

static void check_paranoid_2(void)
{
	struct perf_event_attr attr;

	try_unprivileged(0, EACCES, EACCES);
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	expect_error("an event on another user's task", EACCES,
		     event_open(&attr, getppid(), -1, -1, 0));
	attr.namespaces = 1;
	expect_error("namespaces", EACCES, open_on_self(&attr, -1));
	attr.namespaces = 0;
	attr.sample_type = PERF_SAMPLE_PHYS_ADDR;
	expect_error("physical addresses", EACCES, open_on_self(&attr, -1));
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY |
				  PERF_SAMPLE_BRANCH_KERNEL;
	expect_error("kernel branches", EACCES, open_on_self(&attr, -1));
	attr_init_generic(&attr, PERF_COUNT_HW_CPU_CYCLES);
	attr.exclude_kernel = 0;
	expect_error("generic kernel cycles", EACCES, open_on_self(&attr, -1));
}

/* Debian's kernels have level 3; upstream's highest is 2. */
static void check_paranoid_3(void)
{
	try_unprivileged(EACCES, EACCES, EACCES);
}

static void check_mlock(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct rlimit limit = { 0, 0 };
	struct perf_event_attr attr;
	int fd;

	setrlimit(RLIMIT_MEMLOCK, &limit);
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = 100000;
	fd = event_open_self(&attr, -1);
	expect_error("a small buffer", 0,
		     try_map(fd, 9 * page, MAP_SHARED, 0));
	expect_error("a buffer above perf_event_mlock_kb", EPERM,
		     try_map(fd, 1025 * page, MAP_SHARED, 0));
	close(fd);
}

static void with_paranoia(int level, void (*check)(void))
{
	static const char path[] = "/proc/sys/kernel/perf_event_paranoid";
	long before = read_number(path);

	if (write_number(path, level)) {
		ktap_fail("%s: expected to write %d", path, level);
		return;
	}
	unprivileged(check);
	write_number(path, before);
	pmu_is_exact(5000);
}

static void paranoid_none(void)
{
	with_paranoia(-1, check_paranoid_none);
}

static void paranoid_0(void)
{
	with_paranoia(0, check_paranoid_0);
}

static void paranoid_1(void)
{
	with_paranoia(1, check_paranoid_1);
}

static void paranoid_2(void)
{
	with_paranoia(2, check_paranoid_2);
}

static void paranoid_3(void)
{
	with_paranoia(3, check_paranoid_3);
}

static void paranoid_4(void)
{
	with_paranoia(4, check_paranoid_3);
}

static void mlock_limit(void)
{
	with_paranoia(2, check_mlock);
}

static const struct ktap_case cases[] = {
	{ "perf_event_paranoid -1", paranoid_none },
	{ "perf_event_paranoid 0", paranoid_0 },
	{ "perf_event_paranoid 1", paranoid_1 },
	{ "perf_event_paranoid 2", paranoid_2 },
	{ "perf_event_paranoid 3", paranoid_3 },
	{ "perf_event_paranoid 4", paranoid_4 },
	{ "perf_event_mlock_kb", mlock_limit },
};

const struct ktap_list errors_paranoid_cases = { cases, ARRAY_SIZE(cases) };
