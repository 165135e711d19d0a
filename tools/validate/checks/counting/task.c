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

/* Instructions of a child that loops twice, read before it ends, or afterwards */
static u64 count_child(unsigned long iterations, bool ended)
{
	struct perf_event_attr attr;
	struct child child;
	u64 count = 0;
	int fd;

	if (!child_start(&child, known_loop, iterations))
		return 0;
	attr_instructions(&attr);
	attr.disabled = 0;
	fd = event_open(&attr, child.pid, -1, -1, 0);
	if (fd < 0)
		ktap_fail("an event on a child: expected a descriptor, got %s", strerror(-fd));
	known_loop(ITERATIONS);
	child_run(&child);
	child_run(&child);
	if (!ended && fd >= 0)
		count = event_read(fd);
	child_end(&child);
	if (ended && fd >= 0)
		count = event_read(fd);
	close_all(&fd, 1);
	return count;
}

static u64 count_living(unsigned long iterations)
{
	return count_child(iterations, false);
}

static u64 count_ended(unsigned long iterations)
{
	return count_child(iterations, true);
}

static void other_task(void)
{
	expect_loops("instructions of the child", 2, 0, LOOP, count_living);
	expect_loops("instructions of the task that ended", 2, 0, LOOP, count_ended);
}

static void not_the_children(void)
{
	int fd = open_instructions();

	event_enable(fd);
	if (!fork()) {
		known_loop(5 * ITERATIONS);
		_exit(0);
	}
	wait(NULL);
	event_disable(fd);
	expect_range("instructions without the child's", 1, pmu.exact ? 20000 : LOOP,
		     event_read(fd));
	close(fd);
}

/* Open and enable an inherited event. */
static int open_inherited(bool stat)
{
	struct perf_event_attr attr;
	int fd;

	attr_instructions(&attr);
	attr.inherit = 1;
	attr.inherit_stat = stat;
	attr.read_format = FORMAT_TIMES;
	fd = event_open_self(&attr, -1);
	if (fd >= 0)
		event_enable(fd);
	return fd;
}

static u64 count_grandchildren(unsigned long iterations)
{
	struct event_times times = { 0 };
	int fd = open_inherited(false), i;

	if (fd < 0)
		return 0;
	for (i = 0; i < 4; i++) {
		if (!fork()) {
			if (!fork()) {
				known_loop(iterations);
				_exit(0);
			}
			wait(NULL);
			known_loop(iterations);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	event_disable(fd);
	event_read_times(fd, &times);
	expect_eq("time running of the children's events", times.enabled, times.running);
	close(fd);
	return times.count;
}

static void inherited(void)
{
	expect_loops("instructions of children and their children", 8, 4 * arch_libc_slack(),
		     LOOP + 4000000, count_grandchildren);
}

static int thread_pipes[2][2];

static void *thread_loop(void *iterations)
{
	char c = 0;

	known_loop((unsigned long)iterations);
	/* In the exact lane threads end after all counts: the last one frees more memory. */
	if (write(thread_pipes[0][1], &c, 1) != 1 || read(thread_pipes[1][0], &c, 1) != 1)
		return NULL;
	return iterations;
}

static u64 count_threads(unsigned long iterations)
{
	struct event_times times = { 0 };
	pthread_t threads[4];
	int fd;
	char c[4];

	if (pipe(thread_pipes[0]) || pipe(thread_pipes[1]))
		return 0;
	fd = open_inherited(false);
	if (fd < 0)
		return 0;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread_loop, (void *)iterations);
	for (int i = 0; i < 4; i++)
		expect_eq("threads that worked", 1, read(thread_pipes[0][0], c, 1));
	/* The last thread reaches its second pipe. */
	usleep(1000);
	event_disable(fd);
	event_read_times(fd, &times);
	expect_eq("bytes for the threads to end by", 4, write(thread_pipes[1][1], c, 4));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	close_all(thread_pipes[0], 2);
	close_all(thread_pipes[1], 2);
	close(fd);
	return times.count;
}

static void inherited_by_threads(void)
{
	/* A new thread may find a lock taken that its creator is about to release. */
	expect_loops("instructions of four threads", 4, 64, LOOP, count_threads);
}

/* A read of an inherited event includes the counts of living children. */
static u64 count_living_children(unsigned long iterations)
{
	struct event_times alive = { 0 }, times = { 0 }, later = { 0 };
	struct child children[4];
	int fd = open_inherited(true), i;

	if (fd < 0)
		return 0;
	for (i = 0; i < 4; i++)
		if (!child_start(&children[i], known_loop, iterations))
			return 0;
	for (i = 0; i < 4; i++)
		child_run(&children[i]);
	event_read_times(fd, &alive);
	event_disable(fd);
	event_read_times(fd, &times);
	for (i = 0; i < 4; i++)
		child_run(&children[i]);
	event_read_times(fd, &later);
	expect_eq("instructions while disabled with the children", times.count, later.count);
	for (i = 0; i < 4; i++)
		child_end(&children[i]);
	event_read_times(fd, &later);
	expect_eq("instructions when the children have ended", times.count, later.count);
	close(fd);
	return alive.count;
}

static void inherited_alive(void)
{
	expect_loops("instructions of children that live", 4, arch_libc_slack(), 4 * LOOP,
		     count_living_children);
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

/* Iterations of the loop before each exec of exec_again() */
#define AGAIN	20000

void exec_again(unsigned int times)
{
	char number[] = { '0' + times, '\0' };

	known_loop(AGAIN);
	if (times)
		execl("/proc/self/exe", EXEC_AGAIN, number, (char *)NULL);
	_exit(times > 0);
}

static void exec_often(unsigned long times)
{
	exec_again(times);
}

static u64 count_from_exec(void)
{
	struct event_times times = { 0 };
	struct perf_event_attr attr;
	struct child child;
	int fd;

	if (!child_start(&child, loop_and_exec, 5 * ITERATIONS))
		return 0;
	attr_instructions(&attr);
	attr.enable_on_exec = 1;
	attr.read_format = FORMAT_TIMES;
	fd = event_open(&attr, child.pid, -1, -1, 0);
	expect_true("enable_on_exec is accepted", fd >= 0);
	child_run_last(&child);
	if (fd < 0)
		return 0;
	event_read_times(fd, &times);
	expect_range("instructions since exec", 1000, 10 * LOOP / 2, times.count);
	expect_part("time running", times.enabled, "time enabled", times.enabled, times.running);
	close(fd);
	return times.count;
}

static void counts_from_exec(void)
{
	u64 count = count_from_exec();

	if (pmu.exact)
		expect_eq("instructions of the same program again", count, count_from_exec());
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

/*
 * Children with a sampling event execute six programs, on any CPU. remove_on_exec removes some
 * of the events; others start at exec.
 */
static void samples_over_exec(void)
{
	const unsigned int execs = 6;
	struct event_times times = { 0 };
	struct perf_event_attr attr;
	struct child child;
	u64 least;
	int fd;

	for (int i = 0; i < 40 && child_start(&child, exec_often, execs); i++) {
		attr_sampling(&attr, 50000, PERF_SAMPLE_IP);
		if ((i & 8) && (pmu.has & NEED_CYCLES)) {
			attr.type = pmu.cycles.type;
			attr.config = pmu.cycles.config;
		}
		attr.read_format = FORMAT_TIMES;
		attr.inherit = i & 1;
		attr.disabled = !(i & 2);
		attr.enable_on_exec = !(i & 2);
		attr.remove_on_exec = (i & 7) == 6;
		fd = event_open(&attr, child.pid, -1, -1, 0);
		expect_true("an event on a child opens", fd >= 0);
		child_run_last(&child);
		if (fd < 0)
			return;
		event_read_times(fd, &times);
		expect_range("time running", 0, times.enabled, times.running);
		/* An event that starts at exec misses the first loop. */
		least = (execs + !attr.disabled) * LOOP_INSNS * AGAIN;
		if (!attr.remove_on_exec)
			expect_range("counts before and after six execs",
				     i & 8 ? least / 20 : least, INT64_MAX, times.count);
		close(fd);
	}
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
	/* In an emulator with one CPU the program that forwards the output counts, too. */
	expect_range("instructions of the CPU", 2 * LOOP,
		     pmu.exact ? 2 * LOOP + 100000 : 1000 * LOOP, event_read(fd));
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

#define SWITCH_ROUNDS	200

/* Return the count of this task, or of its child, while they switch twice a round. */
static u64 count_switching(unsigned long iterations, bool of_child)
{
	int fds[2], to[2], from[2], i;
	struct perf_event_attr attr;
	char byte = 0;
	u64 count;
	pid_t pid;

	if (pipe(to) || pipe(from))
		return 0;
	pid = fork();
	if (!pid) {
		close(to[1]);
		stop_self();
		for (i = 0; i < SWITCH_ROUNDS && read(to[0], &byte, 1) == 1; i++) {
			known_loop((iterations - 1) / SWITCH_ROUNDS + 1);
			if (write(from[1], &byte, 1) != 1)
				break;
		}
		stop_self();
		_exit(0);
	}
	if (!expect_true("a child starts and stops", pid > 0 && wait_stopped(pid)))
		return 0;
	attr_instructions(&attr);
	attr.disabled = 0;
	fds[1] = event_open(&attr, pid, -1, -1, 0);
	fds[0] = event_open_self(&attr, -1);
	kill(pid, SIGCONT);
	for (i = 0; i < SWITCH_ROUNDS; i++) {
		if (write(to[1], &byte, 1) != 1)
			break;
		known_loop(2 * ((iterations - 1) / SWITCH_ROUNDS) + 1);
		if (read(from[0], &byte, 1) != 1)
			break;
	}
	expect_eq("rounds", SWITCH_ROUNDS, i);
	expect_true("the child has stopped again", wait_stopped(pid));
	count = event_read(fds[of_child]);
	close_all(fds, 2);
	close_all(to, 2);
	close_all(from, 2);
	kill(pid, SIGCONT);
	waitpid(pid, NULL, 0);
	return count;
}

static u64 count_parent(unsigned long iterations)
{
	return count_switching(iterations, false);
}

static u64 count_its_child(unsigned long iterations)
{
	return count_switching(iterations, true);
}

static void switches_keep_counts(void)
{
	/* After a thread has existed, read() and write() take a lock of the C library. */
	expect_loops("instructions over 400 switches", 2, arch_libc_slack(), LOOP / 20,
		     count_parent);
	expect_loops("instructions of the child", 1, arch_libc_slack(), LOOP / 20,
		     count_its_child);
}

static void prctl_stops_all(void)
{
	int fd = open_instructions();
	u64 count;

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
	{ "task", "an event on another task", OTHER_TASK, other_task, 0, ON_USER },
	{ "task", "without inherit, children are not counted", INHERITED, not_the_children, 0,
	  ON_USER },
	{ "task", "children and grandchildren are inherited", INHERITED, inherited, 0, ON_USER },
	{ "task", "threads are inherited", INHERITED, inherited_by_threads, 0, ON_USER },
	{ "task", "a read includes living children", INHERITED, inherited_alive, 0, ON_USER },
	{ "task", "enable_on_exec",
	  MAN "enable_on_exec: \"If this bit is set, a counter is automatically enabled after a call to execve(2).\"",
	  counts_from_exec, 0, ON_MODES },
	{ "task", "an event continues over exec(2)",
	  MAN "\"This measures the specified process/thread on any CPU.\"; execve(2), man-pages 6.03: \"By default, file descriptors remain open across an execve().\"",
	  goes_on_over_exec },
	{ "task", "remove_on_exec",
	  MAN "remove_on_exec: \"This closes the event when it starts a new process image by execve(2).\"",
	  removed_on_exec, 0, ON_USER },
	{ "machine", "a sampling event continues over exec(2)", OTHER_TASK, samples_over_exec,
	  NEED_SAMPLING, ON_USER },
	{ "task", "an event of a CPU counts all its tasks", CPU_WIDE, cpu_wide, NEED_CPU_WIDE,
	  ON_USER },
	{ "task", "an event of a task on a CPU",
	  MAN "pid == 0 and cpu >= 0: \"This measures the calling process/thread only when running on the specified CPU.\"",
	  task_on_cpu, 0, ON_USER },
	{ "task", "counts survive context switches", OWN_TASK, switches_keep_counts, 0, ON_MODES },
	{ "task", "prctl disables and enables",
	  MAN "\"A process can enable or disable all currently open event groups using the prctl(2) PR_TASK_PERF_EVENTS_ENABLE and PR_TASK_PERF_EVENTS_DISABLE operations.\"",
	  prctl_stops_all, 0, ON_USER },
	{ "task", "the count of a task that is killed", OTHER_TASK, outlives_owner, 0, ON_USER },
};

const struct check_list task_checks = { checks, ARRAY_SIZE(checks) };
