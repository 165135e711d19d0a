// SPDX-License-Identifier: GPL-2.0-only
/*
 * task.c - other tasks, children, threads, exec, CPUs
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "count.h"

/* More instructions than a C library executes before main(): glibc 2.41 has 187000. */
#define BEFORE_EXEC	1000000UL

static u64 count_in_child(unsigned long iterations, bool ended)
{
	struct perf_event_attr attr;
	struct child child;
	u64 count = 0;
	int fd;

	if (!child_start(&child, known_loop, iterations))
		return 0;
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	fd = event_open(&attr, child.pid, -1, -1, 0);
	if (fd < 0) {
		ktap_fail("open on another task: got %s", strerror(-fd));
		child_end(&child);
		return 0;
	}
	event_enable(fd);
	child_run(&child);
	usleep(1000);
	if (ended) {
		child_end(&child);
		count = event_read(fd);
	} else {
		event_disable(fd);
		count = event_read(fd);
		child_end(&child);
	}
	close(fd);
	return count;
}

static void other_task(void)
{
	u64 base = count_in_child(1, false);

	expect_eq("counts of a child",
		  LOOP_INSNS * (TEN_MILLION - 1),
		  count_in_child(TEN_MILLION, false) - base);
}

static void other_task_ended(void)
{
	u64 base = count_in_child(1, true);

	expect_eq("counts of a child that has ended",
		  LOOP_INSNS * (TEN_MILLION - 1),
		  count_in_child(TEN_MILLION, true) - base);
}

static void stays_with_its_task(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	struct child child;

	if (fd < 0)
		return;
	event_enable(fd);
	if (child_start(&child, known_loop, TEN_MILLION)) {
		child_run(&child);
		child_end(&child);
	}
	event_disable(fd);
	expect_range("counts of a task while its child loops", 1, 20000,
		     event_read(fd));
	close(fd);
}

/* Execute this program again in a child, with an event that exec(2) enables. */
static u64 count_exec(const char *what)
{
	struct perf_event_attr attr;
	struct event_times times = { 0 };
	int go[2], fd;
	pid_t pid;
	char c = 0;

	if (pipe(go))
		return 0;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		known_loop(BEFORE_EXEC);
		execl("/proc/self/exe", "count", what, NULL);
		_exit(1);
	}
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.enable_on_exec = 1;
	attr.read_format = FORMAT_TIMES;
	fd = event_open(&attr, pid, -1, -1, 0);
	if (write(go[1], &c, 1) != 1 || fd < 0)
		ktap_fail("open with enable_on_exec: got %d", fd);
	waitpid(pid, NULL, 0);
	if (fd >= 0)
		event_read_times(fd, &times);
	expect_eq("time running, as enabled", times.enabled, times.running);
	expect_ne("time enabled", 0, times.enabled);
	close(fd);
	close(go[0]);
	close(go[1]);
	return times.count;
}

static void enable_on_exec(void)
{
	u64 base = count_exec("loop-0");

	expect_range("counts of a program from its exec on", 100, BEFORE_EXEC, base);
	expect_eq("counts of a loop after exec",
		  LOOP_INSNS * (TEN_MILLION - 1), count_exec("loop-1") - base);
}

/* Four children of an event's task, each looping. */
static u64 count_children(unsigned long iterations, bool stat, u64 *in_time)
{
	struct event_times live = { 0 }, times = { 0 };
	struct perf_event_attr attr;
	struct child children[4];
	unsigned int i;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.inherit = 1;
	attr.inherit_stat = stat;
	attr.read_format = FORMAT_TIMES;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return 0;
	event_enable(fd);
	for (i = 0; i < 4; i++)
		child_start(&children[i], known_loop, iterations);
	for (i = 0; i < 4; i++)
		child_run(&children[i]);
	usleep(1000);
	event_read_times(fd, &live);
	expect_true("live children to be counted",
		    live.count >= 4 * LOOP_INSNS * iterations);
	for (i = 0; i < 4; i++)
		child_end(&children[i]);
	event_disable(fd);
	event_read_times(fd, &times);
	expect_true("no count to be lost when children end",
		    times.count >= live.count);
	expect_eq("time running, as enabled", times.enabled, times.running);
	*in_time = live.count;
	close(fd);
	return times.count;
}

static void check_inherit(bool stat)
{
	u64 expected = 4 * LOOP_INSNS * (TEN_MILLION - 1);
	u64 slack = arch_libc_slack(), base, base_live, count, live;

	base = count_children(1, stat, &base_live);
	count = count_children(TEN_MILLION, stat, &live);
	expect_range("counts of four live children", expected - slack,
		     expected + slack, live - base_live);
	expect_range("counts of four ended children", expected - slack,
		     expected + slack, count - base);
}

static void inherit_children(void)
{
	check_inherit(false);
}

static void inherit_stat(void)
{
	check_inherit(true);
}

static int thread_pipe[2][2];

static void *thread_loop(void *arg)
{
	char c = 0;

	known_loop((unsigned long)arg);
	if (write(thread_pipe[0][1], &c, 1) != 1)
		return NULL;
	if (read(thread_pipe[1][0], &c, 1) != 1)
		return NULL;
	return arg;
}

static u64 count_threads(unsigned long iterations)
{
	struct perf_event_attr attr;
	pthread_t threads[4];
	u64 count = 0;
	unsigned int i;
	char c = 0;
	int fd;

	if (pipe(thread_pipe[0]) || pipe(thread_pipe[1]))
		return 0;
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.inherit = 1;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return 0;
	event_enable(fd);
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread_loop,
			       (void *)iterations);
	for (i = 0; i < 4; i++)
		if (read(thread_pipe[0][0], &c, 1) != 1)
			ktap_fail("expected a thread to work, it died");
	/* Let the last thread reach its second pipe. */
	usleep(1000);
	event_disable(fd);
	count = event_read(fd);
	for (i = 0; i < 4; i++)
		if (write(thread_pipe[1][1], &c, 1) != 1)
			ktap_fail("expected a thread to end, it died");
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < 2; i++) {
		close(thread_pipe[i][0]);
		close(thread_pipe[i][1]);
	}
	close(fd);
	return count;
}

static void inherit_threads(void)
{
	u64 expected = 4 * LOOP_INSNS * (TEN_MILLION - 1);
	/* A new thread may or may not find the lock that its creator releases. */
	u64 slack = 64, base;

	/* The first threads also allocate their stacks. */
	count_threads(1);
	base = count_threads(1);
	expect_range("counts of four threads", expected - slack,
		     expected + slack, count_threads(TEN_MILLION) - base);
}

static void cpu_wide(void)
{
	struct perf_event_attr attr;
	u64 mine, all;
	int cpu, task;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	cpu = event_open(&attr, -1, 0, -1, 0);
	task = event_open_self(&attr, -1);
	if (cpu < 0 || task < 0) {
		ktap_fail("open on CPU 0: got %d", cpu);
		return;
	}
	event_enable(cpu);
	event_enable(task);
	known_loop(TEN_MILLION);
	event_disable(task);
	event_disable(cpu);
	mine = event_read(task);
	all = event_read(cpu);
	/* The program that forwards the test's output counts too. */
	expect_range("user counts of the whole CPU", mine, mine + 50000, all);
	close(cpu);
	close(task);
}

static void cpu_wide_children(void)
{
	struct perf_event_attr attr;
	struct child child;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	fd = event_open(&attr, -1, 0, -1, 0);
	if (fd < 0) {
		ktap_fail("open on CPU 0: got %s", strerror(-fd));
		return;
	}
	event_enable(fd);
	if (child_start(&child, known_loop, TEN_MILLION)) {
		child_run(&child);
		child_end(&child);
	}
	event_disable(fd);
	expect_range("user counts of the CPU while a child loops",
		     LOOP_INSNS * TEN_MILLION, LOOP_INSNS * TEN_MILLION + 50000,
		     event_read(fd));
	close(fd);
}

/* An event of the CPU and an event of the task share the counters. */
static void task_on_cpu(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	fd = event_open(&attr, 0, 0, -1, 0);
	if (fd < 0) {
		ktap_fail("open of this task on CPU 0: got %s", strerror(-fd));
		return;
	}
	event_is_exact(fd, SHORT);
	close(fd);
}

static void sleeping_is_free(void)
{
	struct event_times before, after;
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.read_format = FORMAT_TIMES;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	event_enable(fd);
	event_read_times(fd, &before);
	usleep(50000);
	event_read_times(fd, &after);
	event_disable(fd);
	expect_range("user counts of a sleep", 1, 500,
		     after.count - before.count);
	expect_range("time enabled of a sleep of 50 ms", 1, 10000000,
		     after.enabled - before.enabled);
	close(fd);
}

/* Many switches between two tasks; each keeps its own counts. */
static void context_switches(void)
{
	struct perf_event_attr attr;
	int there[2], back[2], fds[2], i;
	u64 slack = arch_libc_slack();
	u64 parent[2], child[2];
	char c = 0;
	pid_t pid;
	int round;

	for (round = 0; round < 2; round++) {
		unsigned long iterations = round ? 10000 : 1;

		if (pipe(there) || pipe(back))
			return;
		fflush(stdout);
		pid = fork();
		if (!pid) {
			for (i = 0; i < 200; i++) {
				if (read(there[0], &c, 1) != 1)
					_exit(1);
				known_loop(iterations);
				if (write(back[1], &c, 1) != 1)
					_exit(1);
			}
			_exit(0);
		}
		/* Long enough for the child to block on its pipe. */
		usleep(1000);
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		fds[0] = event_open_self(&attr, -1);
		fds[1] = event_open(&attr, pid, -1, -1, 0);
		event_enable(fds[1]);
		event_enable(fds[0]);
		for (i = 0; i < 200; i++) {
			if (write(there[1], &c, 1) != 1)
				break;
			known_loop(2 * iterations);
			if (read(back[0], &c, 1) != 1)
				break;
		}
		event_disable(fds[0]);
		waitpid(pid, NULL, 0);
		parent[round] = event_read(fds[0]);
		child[round] = event_read(fds[1]);
		close_all(fds, 2);
		close(there[0]);
		close(there[1]);
		close(back[0]);
		close(back[1]);
	}
	/* After a thread has existed, read() and write() take a lock of the C library. */
	expect_range("counts of the parent",
		     200 * LOOP_INSNS * (20000 - 2) - slack,
		     200 * LOOP_INSNS * (20000 - 2) + slack,
		     parent[1] - parent[0]);
	expect_range("counts of the child",
		     200 * LOOP_INSNS * (10000 - 1) - slack,
		     200 * LOOP_INSNS * (10000 - 1) + slack,
		     child[1] - child[0]);
}

static const struct ktap_case cases[] = {
	{ "an event on another task counts that task", other_task },
	{ "an event keeps the count of a task that has ended", other_task_ended },
	{ "an event does not count its task's children",
	  stays_with_its_task },
	{ "enable_on_exec counts from exec(2) on", enable_on_exec },
	{ "inherit counts children", inherit_children },
	{ "inherit counts threads", inherit_threads },
	{ "inherit_stat counts children", inherit_stat },
	{ "an event of a CPU counts every task of it", cpu_wide },
	{ "an event of a CPU counts children", cpu_wide_children },
	{ "an event of a task on a CPU counts there", task_on_cpu },
	{ "a sleeping task costs nothing", sleeping_is_free },
	{ "counts survive 400 context switches", context_switches },
};

const struct ktap_list count_task_cases = { cases, ARRAY_SIZE(cases) };
