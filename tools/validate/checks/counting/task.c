// SPDX-License-Identifier: GPL-2.0-only
/*
 * task.c - events of other tasks, of children and threads, of CPUs; exec
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "judge/validate.h"

static void other_task(void)
{
	struct perf_event_attr attr;
	struct child child;
	u64 count;
	int fd;

	if (!child_start(&child, known_loop, ITERATIONS))
		return;
	attr_instructions(&attr);
	attr.disabled = 0;
	fd = event_open(&attr, child.pid, -1, -1, 0);
	if (fd < 0) {
		ktap_fail("an event on a child: expected a descriptor, got %s", strerror(-fd));
	} else {
		known_loop(5 * ITERATIONS);
		child_run(&child);
		count = event_read(fd);
		expect_range("instructions of the child", LOOP, LOOP + LOOP / 2, count);
		child_run(&child);
		expect_range("instructions of its second round", LOOP, LOOP + LOOP / 2,
			     event_read(fd) - count);
	}
	child_end(&child);
	if (fd >= 0) {
		count = event_read(fd);
		expect_range("instructions of the task that ended", 2 * LOOP, 3 * LOOP, count);
		close(fd);
	}
}

static void not_the_children(void)
{
	int fd = open_instructions();

	if (fd < 0)
		return;
	event_enable(fd);
	if (!fork()) {
		known_loop(5 * ITERATIONS);
		_exit(0);
	}
	wait(NULL);
	event_disable(fd);
	expect_range("instructions without the child's", 1, LOOP, event_read(fd));
	close(fd);
}

static void inherited(void)
{
	struct perf_event_attr attr;
	int fd, i;

	attr_instructions(&attr);
	attr.inherit = 1;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	event_enable(fd);
	for (i = 0; i < 4; i++) {
		if (!fork()) {
			if (!fork()) {
				known_loop(ITERATIONS);
				_exit(0);
			}
			wait(NULL);
			known_loop(ITERATIONS);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	event_disable(fd);
	expect_range("instructions of children and their children", 8 * LOOP, 9 * LOOP + 4000000,
		     event_read(fd));
	close(fd);
}

static void *thread_loop(void *unused)
{
	known_loop(ITERATIONS);
	return unused;
}

static void inherited_by_threads(void)
{
	struct perf_event_attr attr;
	pthread_t threads[4];
	int fd, i;

	attr_instructions(&attr);
	attr.inherit = 1;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	event_enable(fd);
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread_loop, NULL);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	expect_range("instructions of four threads", 4 * LOOP, 5 * LOOP, event_read(fd));
	close(fd);
}

/* A read of an inherited event includes the counts of living children. */
static void inherited_alive(void)
{
	struct perf_event_attr attr;
	struct child child;
	int fd;

	attr_instructions(&attr);
	attr.inherit = 1;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	event_enable(fd);
	if (!child_start(&child, known_loop, ITERATIONS))
		return;
	child_run(&child);
	expect_range("instructions of a child that lives", LOOP, 2 * LOOP, event_read(fd));
	event_disable(fd);
	child_run(&child);
	expect_range("instructions while disabled with the child", LOOP, 2 * LOOP, event_read(fd));
	child_end(&child);
	close(fd);
}

/* A child's code: run the loop, and execute another program. */
static void loop_and_exec(unsigned long iterations)
{
	static char *const argv[] = { "pmu-validate", "--list", NULL };

	if (iterations)
		known_loop(iterations);
	if (!freopen("/dev/null", "w", stdout))
		_exit(1);
	execv("/proc/self/exe", argv);
	_exit(127);
}

static void counts_from_exec(void)
{
	struct perf_event_attr attr;
	struct child child;
	int fd;

	if (!child_start(&child, loop_and_exec, 5 * ITERATIONS))
		return;
	attr_instructions(&attr);
	attr.enable_on_exec = 1;
	fd = event_open(&attr, child.pid, -1, -1, 0);
	expect_true("enable_on_exec is accepted", fd >= 0);
	child_run_last(&child);
	if (fd < 0)
		return;
	expect_range("instructions since exec", 1000, 10 * LOOP / 2, event_read(fd));
	close(fd);
}

static void goes_on_over_exec(void)
{
	struct perf_event_attr attr;
	struct child child;
	int fd;

	if (!child_start(&child, loop_and_exec, ITERATIONS))
		return;
	attr_instructions(&attr);
	attr.disabled = 0;
	fd = event_open(&attr, child.pid, -1, -1, 0);
	expect_true("an event on a child opens", fd >= 0);
	child_run_last(&child);
	if (fd < 0)
		return;
	expect_range("instructions before and after exec", LOOP + 1000, 10 * LOOP, event_read(fd));
	close(fd);
}

static void removed_on_exec(void)
{
	struct perf_event_attr attr;
	struct child child;
	int fd;

	if (!child_start(&child, loop_and_exec, 0))
		return;
	attr_instructions(&attr);
	attr.disabled = 0;
	attr.remove_on_exec = 1;
	fd = event_open(&attr, child.pid, -1, -1, 0);
	if (fd == -EINVAL)
		ktap_skip("remove_on_exec is not known to this kernel");
	else
		expect_true("remove_on_exec is accepted", fd >= 0);
	child_run_last(&child);
	if (fd < 0)
		return;
	/* The start of the exec'd program would already exceed this range. */
	expect_range("instructions before exec", 1, 20000, event_read(fd));
	close(fd);
}

static void cpu_wide(void)
{
	struct perf_event_attr attr;
	int fd;

	run_on(pmu.cpu);
	attr_instructions(&attr);
	fd = event_open(&attr, -1, pmu.cpu, -1, 0);
	if (fd < 0) {
		ktap_fail("expected a descriptor, got %s", strerror(-fd));
		return;
	}
	event_enable(fd);
	known_loop(ITERATIONS);
	if (!fork()) {
		known_loop(ITERATIONS);
		_exit(0);
	}
	wait(NULL);
	event_disable(fd);
	expect_range("instructions of the CPU", 2 * LOOP, 1000 * LOOP, event_read(fd));
	close(fd);
}

static void task_on_cpu(void)
{
	struct perf_event_attr attr;
	int fd;

	run_on(pmu.cpu);
	attr_instructions(&attr);
	fd = event_open(&attr, 0, pmu.cpu, -1, 0);
	if (fd < 0) {
		ktap_fail("expected a descriptor, got %s", strerror(-fd));
		return;
	}
	expect_count("instructions of the task on its CPU", LOOP, event_count_loop(fd, ITERATIONS));
	close(fd);
}

static void switches_keep_counts(void)
{
	int fd, to[2], from[2], i;
	char byte = 0;
	pid_t pid;

	fd = open_instructions();
	if (fd < 0 || pipe(to) || pipe(from))
		return;
	pid = fork();
	if (!pid) {
		while (read(to[0], &byte, 1) == 1) {
			known_loop(1000);
			if (write(from[1], &byte, 1) != 1)
				break;
		}
		_exit(0);
	}
	event_enable(fd);
	for (i = 0; i < 200; i++) {
		known_loop(ITERATIONS / 200);
		if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1)
			break;
	}
	event_disable(fd);
	expect_eq("rounds", 200, i);
	expect_range("instructions over 400 switches", LOOP, LOOP + LOOP / 20, event_read(fd));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
}

static void prctl_stops_all(void)
{
	int fd = open_instructions();
	u64 count;

	if (fd < 0)
		return;
	event_enable(fd);
	expect_eq("prctl(PR_TASK_PERF_EVENTS_DISABLE)", 0, prctl(PR_TASK_PERF_EVENTS_DISABLE));
	count = event_read(fd);
	known_loop(ITERATIONS);
	expect_eq("count while prctl has it disabled", count, event_read(fd));
	expect_eq("prctl(PR_TASK_PERF_EVENTS_ENABLE)", 0, prctl(PR_TASK_PERF_EVENTS_ENABLE));
	known_loop(ITERATIONS);
	event_disable(fd);
	expect_count("count since it is enabled again", LOOP, event_read(fd) - count);
	close(fd);
}

static void outlives_owner(void)
{
	struct perf_event_attr attr;
	struct child child;
	u64 count;
	int fd;

	if (!child_start(&child, known_loop, ITERATIONS))
		return;
	attr_instructions(&attr);
	attr.disabled = 0;
	fd = event_open(&attr, child.pid, -1, -1, 0);
	if (!expect_true("an event on a child opens", fd >= 0)) {
		child_end(&child);
		return;
	}
	child_run(&child);
	count = event_read(fd);
	expect_range("instructions of a task that lives", LOOP, LOOP + LOOP / 2, count);
	child_kill(&child);
	/* A killed task executes at most its next few instructions in user space. */
	expect_range("instructions of a task that was killed", count, count + 1000,
		     event_read(fd));
	close(fd);
	expect_sane();
}

static const struct check checks[] = {
	{ "task", "an event on another task",
	  MAN "pid > 0 and cpu == -1: \"This measures the specified process/thread on any CPU.\"",
	  other_task },
	{ "task", "without inherit, children are not counted",
	  MAN "\"The inherit bit specifies that this counter should count events of child tasks as well as the task specified.\"",
	  not_the_children },
	{ "task", "children and grandchildren are inherited",
	  MAN "\"The inherit bit specifies that this counter should count events of child tasks as well as the task specified.\"",
	  inherited },
	{ "task", "threads are inherited",
	  MAN "\"The inherit bit specifies that this counter should count events of child tasks as well as the task specified.\"",
	  inherited_by_threads },
	{ "task", "a read includes living children",
	  MAN "\"The inherit bit specifies that this counter should count events of child tasks as well as the task specified.\"",
	  inherited_alive },
	{ "task", "enable_on_exec",
	  MAN "enable_on_exec: \"If this bit is set, a counter is automatically enabled after a call to execve(2).\"",
	  counts_from_exec },
	{ "task", "an event continues over exec(2)",
	  MAN "\"This measures the specified process/thread on any CPU.\"; execve(2), man-pages 6.03: \"By default, file descriptors remain open across an execve().\"",
	  goes_on_over_exec },
	{ "task", "remove_on_exec",
	  MAN "remove_on_exec: \"This closes the event when it starts a new process image by execve(2).\"",
	  removed_on_exec },
	{ "task", "an event of a CPU counts all its tasks",
	  MAN "pid == -1 and cpu >= 0: \"This measures all processes/threads on the specified CPU.\"",
	  cpu_wide, NEED_CPU_WIDE },
	{ "task", "an event of a task on a CPU",
	  MAN "pid == 0 and cpu >= 0: \"This measures the calling process/thread only when running on the specified CPU.\"",
	  task_on_cpu },
	{ "task", "counts survive context switches",
	  MAN "pid == 0 and cpu == -1: \"This measures the calling process/thread on any CPU.\"",
	  switches_keep_counts },
	{ "task", "prctl disables and enables",
	  MAN "\"A process can enable or disable all currently open event groups using the prctl(2) PR_TASK_PERF_EVENTS_ENABLE and PR_TASK_PERF_EVENTS_DISABLE operations.\"",
	  prctl_stops_all },
	{ "task", "the count of a task that is killed",
	  MAN "pid > 0 and cpu == -1: \"This measures the specified process/thread on any CPU.\"",
	  outlives_owner },
};

const struct check_list task_checks = { checks, ARRAY_SIZE(checks) };
