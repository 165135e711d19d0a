// SPDX-License-Identifier: GPL-2.0-only
/*
 * outlive.c - tasks that outlive the module whose events they had
 *
 * Before Linux 6.2 the perf context of a task keeps pointing to the PMU that it was made for. Here
 * tasks live while the module is unloaded and loaded: they switch, use events of other PMUs, and
 * then events of the new PMU. The suite loads the module itself, in guests that have not loaded
 * it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf_util.h"

#define MODULE		"/corepmu/corepmu.ko"
#define TYPE		"/sys/bus/event_source/devices/corepmu/type"
#define ITERATIONS	100000UL
#define TASKS		8

static bool load(void)
{
	int fd = open(MODULE, O_RDONLY);
	bool done = fd >= 0 && !syscall(SYS_finit_module, fd, "", 0);

	close(fd);
	if (done)
		target.type = read_number(TYPE);
	return expect_true("the module loads", done);
}

static bool unload(void)
{
	int i, ret = -1;

	/* A task that has just ended may still be freeing its events. */
	for (i = 0; i < 100 && ret; i++) {
		ret = syscall(SYS_delete_module, "corepmu", O_NONBLOCK);
		if (ret)
			usleep(10000);
	}
	return expect_eq("unloading the module", 0, ret);
}

/* Yield the CPU often. */
static void switch_often(void)
{
	for (int i = 0; i < 50; i++)
		usleep(100);
}

/* Let another PMU's events use a task that has a context. */
static void use_software_event(void)
{
	struct perf_event_attr attr;
	u64 count;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (!expect_true("a software event opens", fd >= 0))
		return;
	switch_often();
	count = event_read(fd);
	expect_range("context switches", 50, 100000, count);
	close(fd);
}

/* One task survives several loads. */
static void one_task(void)
{
	for (int i = 0; i < 5; i++) {
		if (!load())
			return;
		pmu_is_exact(ITERATIONS);
		if (!unload())
			return;
		switch_often();
		use_software_event();
	}
}

/*
 * An event of a later load is opened in a context of an earlier one, and survives task switches.
 */
static void kept_over_switches(void)
{
	int fd;

	if (!load())
		return;
	fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	if (fd >= 0) {
		event_enable(fd);
		switch_often();
		event_disable(fd);
		event_is_exact(fd, ITERATIONS);
		close(fd);
	}
	unload();
}

/* One pipe per round, so that a fast task does not read another's byte */
static int go[2][2], ready[2];

/* A task with a context of the first load; its exit status reports failures. */
static void sleeper(void)
{
	char c;

	close(go[0][1]);
	close(go[1][1]);
	close(ready[0]);
	for (int round = 0; round < 2; round++) {
		target.type = read_number(TYPE);
		pmu_is_exact(ITERATIONS);
		if (write(ready[1], "r", 1) != 1 ||
		    read(go[round][0], &c, 1) != 1)
			_exit(2);
	}
	_exit(ktap_failed());
}

static bool wait_for_all(void)
{
	char c;

	for (int i = 0; i < TASKS; i++)
		if (read(ready[0], &c, 1) != 1)
			return false;
	return true;
}

static void wake_all(int round)
{
	for (int i = 0; i < TASKS; i++)
		if (write(go[round][1], "g", 1) != 1)
			ktap_fail("the tasks cannot be woken");
}

/* Many tasks sleep while the module is unloaded and loaded. */
static void many_tasks(void)
{
	int i, status, failed = 0;
	pid_t pids[TASKS];

	if (pipe(go[0]) || pipe(go[1]) || pipe(ready) || !load()) {
		ktap_fail("no pipes, or no module");
		return;
	}
	for (i = 0; i < TASKS; i++) {
		pids[i] = fork();
		if (!pids[i])
			sleeper();
	}
	/* If a task dies, reads end instead of waiting. */
	close(ready[1]);
	if (expect_true("all tasks counted", wait_for_all()) && unload()) {
		use_software_event();
		load();
		wake_all(0);
		expect_true("all tasks counted again", wait_for_all());
		wake_all(1);
	}
	for (i = 0; i < TASKS; i++) {
		if (ktap_failed())
			kill(pids[i], SIGKILL);
		waitpid(pids[i], &status, 0);
		failed += status != 0;
	}
	expect_eq("tasks that failed", 0, failed);
	for (i = 0; i < 2; i++) {
		close(go[i][0]);
		close(go[i][1]);
	}
	close(ready[0]);
	unload();
}

/* Children inherit the PMU of their parent's context together with its events. */
static void inherited(void)
{
	struct perf_event_attr attr;
	int fd, status;
	u64 count;
	pid_t pid;

	if (!load())
		return;
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.inherit = 1;
	fd = event_open_self(&attr, -1);
	if (fd >= 0) {
		event_enable(fd);
		pid = fork();
		if (!pid) {
			known_loop(ITERATIONS);
			switch_often();
			_exit(0);
		}
		waitpid(pid, &status, 0);
		event_disable(fd);
		count = event_read(fd);
		expect_range("counts of a child", LOOP_INSNS * ITERATIONS,
			     LOOP_INSNS * ITERATIONS + 100000, count);
		close(fd);
	}
	unload();
}

static const struct ktap_case cases[] = {
	{ "a task counts exactly through five loads", one_task },
	{ "an event in a context of an earlier load counts exactly", kept_over_switches },
	{ "tasks that sleep through an unload and a load count again", many_tasks },
	{ "a child of a task with an old context is counted", inherited },
	{ "a task counts exactly through five more loads", one_task },
};

int main(void)
{
	target.pmu = ARCH_DEFAULT_PMU;
	return ktap_run(cases, ARRAY_SIZE(cases));
}
