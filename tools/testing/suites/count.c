// SPDX-License-Identifier: GPL-2.0-only
/*
 * count.c - counting events: exactness, exclusion, enabling, reading,
 * inheritance, other tasks and CPU-wide events
 *
 * For the exact lane: one CPU, whose cycles are known as well as its instructions.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "perf_util.h"
#include "task.h"

#define TEN_MILLION	(10000000UL / LOOP_INSNS)
#define SHORT		50000UL
/* A loop longer than what a C library does before main(): glibc 2.41 takes 187000 instructions. */
#define BEFORE_EXEC	1000000UL

/* What a loop of ten million instructions has more than one of a single iteration. */
#define INSTRUCTIONS	(LOOP_INSNS * (TEN_MILLION - 1))
#define CYCLES		(LOOP_CYCLES * (TEN_MILLION - 1))

static const unsigned long exec_loops[2] = { 1, TEN_MILLION };

static void run_exact(struct perf_event_attr *attr, u64 loop, const char *figure)
{
	u64 base, first = 0, count;
	int fd, i;

	fd = event_open_self(attr, -1);
	if (fd < 0)
		return;
	base = event_count_loop(fd, 1);
	for (i = 0; i < 10; i++) {
		count = event_count_loop(fd, TEN_MILLION);
		expect_eq("counts of the loop", loop, count - base);
		if (!i)
			first = count;
		expect_eq("count of another run", first, count);
	}
	ktap_figure(figure, first);
	close(fd);
}

static void generic_instructions(void)
{
	struct perf_event_attr attr;

	attr_init_generic(&attr, PERF_COUNT_HW_INSTRUCTIONS);
	run_exact(&attr, INSTRUCTIONS, "instructions_u");
}

static void generic_cycles(void)
{
	struct perf_event_attr attr;

	attr_init_generic(&attr, PERF_COUNT_HW_CPU_CYCLES);
	run_exact(&attr, CYCLES, "cycles_u");
}

static void own_instructions(void)
{
	struct perf_event_attr attr;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	run_exact(&attr, INSTRUCTIONS, "pmu_instructions_u");
}

static void own_cycles(void)
{
	struct perf_event_attr attr;

	attr_init(&attr, ARCH_EVENT_CYCLES);
	run_exact(&attr, CYCLES, "pmu_cycles_u");
}

static void raw_instructions(void)
{
	struct perf_event_attr attr;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.type = PERF_TYPE_RAW;
	run_exact(&attr, INSTRUCTIONS, "raw_instructions_u");
}

static void long_instructions(void)
{
	struct perf_event_attr attr;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.config1 = ARCH_CONFIG1_LONG;
	run_exact(&attr, INSTRUCTIONS, "long_instructions_u");
}

/* A user, a kernel and a both event that count the same stretch of time. */
static void open_three(int *fds, u64 config)
{
	struct perf_event_attr attr;
	int i;

	for (i = 0; i < 3; i++) {
		attr_init(&attr, config);
		attr.disabled = i == 0;
		attr.exclude_kernel = i == 0;
		attr.exclude_user = i == 1;
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
	}
}

static void user_and_kernel(u64 config)
{
	const u64 loop = loop_counts(config, TEN_MILLION / 10);
	const u64 slack = arch_group_slack();
	u64 user, kernel, both, quiet;
	int fds[3], i;

	open_three(fds, config);
	if (fds[0] < 0 || fds[1] < 0 || fds[2] < 0)
		goto out;
	for (i = 0; i < 3; i++)
		event_reset(fds[i]);
	event_enable(fds[0]);
	known_loop(TEN_MILLION / 10);
	event_disable(fds[0]);
	user = event_read(fds[0]);
	quiet = event_read(fds[1]);
	both = event_read(fds[2]);
	expect_range("user counts", loop, loop + 200, user);
	expect_ne("kernel counts around two ioctls", 0, quiet);
	expect_range("user and kernel counts together", both - slack,
		     both + slack, user + quiet);

	for (i = 0; i < 3; i++)
		event_reset(fds[i]);
	event_enable(fds[0]);
	for (i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	event_disable(fds[0]);
	user = event_read(fds[0]);
	kernel = event_read(fds[1]);
	both = event_read(fds[2]);
	expect_range("user counts of 1000 system calls", 3000, 30000, user);
	expect_range("kernel counts of 1000 system calls",
		     100000, 30000000, kernel - quiet);
	expect_range("user and kernel counts together", both - slack,
		     both + slack, user + kernel);
out:
	close_all(fds, 3);
}

static void exclude_instructions(void)
{
	user_and_kernel(ARCH_EVENT_INSTRUCTIONS);
}

static void exclude_cycles(void)
{
	user_and_kernel(ARCH_EVENT_CYCLES);
}

static void exclude_everything(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.exclude_user = 1;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	expect_eq("counts with user and kernel excluded", 0,
		  event_count_loop(fd, SHORT));
	close(fd);
}

static void disabled_counts_nothing(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	u64 first;

	if (fd < 0)
		return;
	known_loop(SHORT);
	expect_eq("count before the first enable", 0, event_read(fd));
	event_enable(fd);
	known_loop(SHORT);
	event_disable(fd);
	first = event_read(fd);
	expect_range("count while enabled", LOOP_INSNS * SHORT,
		     LOOP_INSNS * SHORT + 100, first);
	known_loop(SHORT);
	expect_eq("count after disable", first, event_read(fd));
	event_disable(fd);
	expect_eq("count after a second disable", first, event_read(fd));
	event_enable(fd);
	event_enable(fd);
	known_loop(SHORT);
	event_disable(fd);
	expect_range("count after a second stretch", 2 * LOOP_INSNS * SHORT,
		     2 * LOOP_INSNS * SHORT + 200, event_read(fd));
	close(fd);
}

static void born_enabled(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.disabled = 0;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	known_loop(SHORT);
	event_disable(fd);
	expect_range("count without an enable", LOOP_INSNS * SHORT,
		     LOOP_INSNS * SHORT + 200, event_read(fd));
	close(fd);
}

static void reset_keeps_times(void)
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
	known_loop(SHORT);
	event_disable(fd);
	event_read_times(fd, &before);
	event_reset(fd);
	event_read_times(fd, &after);
	expect_eq("count after reset", 0, after.count);
	expect_eq("time enabled after reset", before.enabled, after.enabled);
	expect_eq("time running after reset", before.running, after.running);
	close(fd);
}

static void reset_while_running(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);

	if (fd < 0)
		return;
	event_enable(fd);
	known_loop(SHORT);
	event_reset(fd);
	known_loop(SHORT);
	event_disable(fd);
	expect_range("count since the reset", LOOP_INSNS * SHORT,
		     LOOP_INSNS * SHORT + 100, event_read(fd));
	close(fd);
}

static void times_of_one_event(void)
{
	struct event_times first, second, third;
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.read_format = FORMAT_TIMES;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	event_read_times(fd, &first);
	expect_eq("time enabled while disabled", 0, first.enabled);
	event_enable(fd);
	known_loop(TEN_MILLION);
	event_read_times(fd, &first);
	known_loop(TEN_MILLION);
	event_disable(fd);
	event_read_times(fd, &second);
	known_loop(TEN_MILLION);
	event_read_times(fd, &third);
	expect_eq("time running, as enabled", first.enabled, first.running);
	expect_eq("time running, as enabled", second.enabled, second.running);
	expect_true("time to advance while enabled",
		    second.enabled > first.enabled);
	expect_eq("time enabled after disable", second.enabled, third.enabled);
	close(fd);
}

static void reads_while_running(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	u64 counts[50];
	unsigned int i;

	if (fd < 0)
		return;
	event_enable(fd);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		known_loop(SHORT);
		counts[i] = event_read(fd);
	}
	event_disable(fd);
	expect_range("advance", LOOP_INSNS * SHORT, LOOP_INSNS * SHORT + 100,
		     counts[2] - counts[1]);
	for (i = 3; i < ARRAY_SIZE(counts); i++)
		expect_eq("advance between two reads", counts[2] - counts[1],
			  counts[i] - counts[i - 1]);
	close(fd);
}

/* What a read with this format looks like: the layout of perf_event_open(2). */
static void check_format(u64 format)
{
	bool group = format & PERF_FORMAT_GROUP;
	unsigned int members = group ? 3 : 1;
	struct perf_event_attr attr;
	int fds[3] = { -1, -1, -1 };
	u64 buffer[32], id, id2;
	size_t size = 0;
	u64 *at = buffer;
	ssize_t len;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.disabled = i == 0;
		attr.read_format = format;
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
		if (fds[i] < 0)
			goto out;
	}
	event_enable(fds[0]);
	known_loop(SHORT);
	event_disable(fds[0]);

	size = group;
	size += !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED);
	size += !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	size += members * (1 + !!(format & PERF_FORMAT_ID) +
			   !!(format & PERF_FORMAT_LOST));
	size *= sizeof(u64);

	memset(buffer, 0xa5, sizeof(buffer));
	len = read(fds[0], buffer, size - 1);
	if (len != -1 || errno != ENOSPC)
		ktap_fail("read of one byte too few: expected ENOSPC, got %zd (%s)",
			  len, strerror(errno));
	len = read(fds[0], buffer, sizeof(buffer));
	if (!expect_eq("size of a read", size, len))
		goto out;
	expect_eq("what follows the read", 0xa5a5a5a5,
		  (u32)buffer[size / sizeof(u64)]);

	if (group)
		expect_eq("nr", 3, *at++);
	else
		expect_range("value", LOOP_INSNS * SHORT,
			     LOOP_INSNS * SHORT + 100, *at++);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		expect_ne("time enabled", 0, *at++);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		expect_ne("time running", 0, *at++);
	for (i = 0; i < members; i++) {
		if (group)
			expect_range("value of a member", LOOP_INSNS * SHORT,
				     LOOP_INSNS * SHORT + 100, *at++);
		if (format & PERF_FORMAT_ID) {
			ioctl(fds[i], PERF_EVENT_IOC_ID, &id);
			expect_eq("id", id, *at++);
			ioctl(fds[(i + 1) % 3], PERF_EVENT_IOC_ID, &id2);
			expect_ne("id of another event", id, id2);
		}
		if (format & PERF_FORMAT_LOST)
			expect_eq("lost", 0, *at++);
	}
out:
	if (ktap_failed())
		ktap_diag("read_format 0x%llx", (unsigned long long)format);
	close_all(fds, 3);
}

static void read_formats(void)
{
	u64 format;

	for (format = 0; format < 32 && !ktap_failed(); format++)
		check_format(format);
}

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

/* Run ourselves again in a child, with an event that its exec enables. */
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
	/* Let the last thread arrive at its second pipe. */
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
	/* A new thread may or may not find its creator done with its lock. */
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
	/* Whoever passes our results on runs as well. */
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

/* A cpu event and a task event share the counters. */
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

static void pinned_error(void)
{
	int fds[ARCH_MAX_COUNTERS];
	struct perf_event_attr attr;
	unsigned int nr = target.counters + 1, i;
	u64 value;
	ssize_t len;

	for (i = 0; i < nr; i++)
		fds[i] = -1;
	for (i = 0; i < nr; i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.pinned = 1;
		fds[i] = event_open_self(&attr, -1);
		if (fds[i] < 0)
			goto out;
		event_enable(fds[i]);
	}
	known_loop(SHORT);
	for (i = 0; i < nr - 1; i++)
		expect_true("a pinned event that fits to count",
			    event_read(fds[i]) >= LOOP_INSNS * SHORT);
	len = read(fds[nr - 1], &value, sizeof(value));
	expect_eq("read of a pinned event that cannot be scheduled", 0, len);
	/* With a counter free, enabling takes it out of the error state. */
	close(fds[0]);
	fds[0] = -1;
	event_disable(fds[nr - 1]);
	event_enable(fds[nr - 1]);
	known_loop(SHORT);
	event_disable(fds[nr - 1]);
	expect_true("the pinned event to count when a counter is free",
		    event_read(fds[nr - 1]) >= LOOP_INSNS * SHORT);
out:
	close_all(fds, nr);
}

/* A pinned event never shares its counter, whatever the others do. */
static void pinned_runs_always(void)
{
	int fds[ARCH_MAX_COUNTERS];
	unsigned int nr = target.counters + 2, i;
	struct event_times times;
	struct perf_event_attr attr;

	for (i = 0; i < nr; i++)
		fds[i] = -1;
	for (i = 0; i < nr; i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.pinned = i == nr - 1;
		attr.read_format = FORMAT_TIMES;
		fds[i] = event_open_self(&attr, -1);
		if (fds[i] < 0)
			goto out;
	}
	for (i = 0; i < nr; i++)
		event_enable(fds[i]);
	known_loop(5 * TEN_MILLION);
	for (i = 0; i < nr; i++)
		event_disable(fds[i]);
	event_read_times(fds[nr - 1], &times);
	expect_eq("time running of the pinned event", times.enabled,
		  times.running);
	expect_range("its count", 5 * LOOP_INSNS * TEN_MILLION,
		     5 * LOOP_INSNS * TEN_MILLION + 1000, times.count);
	event_read_times(fds[0], &times);
	expect_true("an event beside it to share its counter",
		    times.running < times.enabled);
out:
	close_all(fds, nr);
}

static void exclusive_alone(void)
{
	struct perf_event_attr attr;
	struct event_times a, b;
	int fds[2];

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.read_format = FORMAT_TIMES;
	fds[0] = event_open_self(&attr, -1);
	attr.exclusive = 1;
	fds[1] = event_open_self(&attr, -1);
	if (fds[0] < 0 || fds[1] < 0)
		goto out;
	event_enable(fds[0]);
	event_enable(fds[1]);
	known_loop(10 * TEN_MILLION);
	event_disable(fds[1]);
	event_disable(fds[0]);
	event_read_times(fds[0], &a);
	event_read_times(fds[1], &b);
	expect_true("an exclusive event and another never to run together",
		    a.running + b.running <= a.enabled);
	expect_true("one of the two to run at any time",
		    a.running + b.running >= a.enabled / 10 * 9);
	expect_range("counts of both, which ran one after the other",
		     9 * LOOP_INSNS * TEN_MILLION,
		     10 * LOOP_INSNS * TEN_MILLION + 2000, a.count + b.count);
out:
	close_all(fds, 2);
}

static void disabled_leader(void)
{
	int leader = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	int fds[3] = { leader, -1, -1 };
	struct perf_event_attr attr;

	if (leader < 0)
		return;
	fds[1] = event_open_user(ARCH_EVENT_INSTRUCTIONS, leader);
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	fds[2] = event_open_self(&attr, leader);
	if (fds[1] < 0 || fds[2] < 0)
		goto out;
	known_loop(SHORT);
	event_enable(fds[1]);
	known_loop(SHORT);
	expect_eq("count of a sibling of a disabled leader", 0,
		  event_read(fds[1]));
	event_enable(leader);
	known_loop(SHORT);
	expect_true("a sibling to count with its leader",
		    event_read(fds[1]) >= LOOP_INSNS * SHORT);
	expect_eq("count of a sibling that is disabled itself", 0,
		  event_read(fds[2]));
	event_enable(fds[2]);
	known_loop(SHORT);
	event_disable(fds[1]);
	known_loop(SHORT);
	event_disable(leader);
	known_loop(SHORT);
	expect_range("the leader's count", 3 * LOOP_INSNS * SHORT,
		     3 * LOOP_INSNS * SHORT + 500, event_read(leader));
	expect_range("count of the sibling disabled before", 2 * LOOP_INSNS *
		     SHORT, 2 * LOOP_INSNS * SHORT + 500, event_read(fds[1]));
	expect_range("count of the sibling enabled late", 2 * LOOP_INSNS *
		     SHORT, 2 * LOOP_INSNS * SHORT + 500, event_read(fds[2]));
out:
	close_all(fds, 3);
}

static void group_flag(void)
{
	int fds[3] = { -1, -1, -1 };
	struct perf_event_attr attr;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
		if (fds[i] < 0)
			goto out;
	}
	ioctl(fds[1], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	known_loop(SHORT);
	ioctl(fds[2], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	known_loop(SHORT);
	for (i = 0; i < 3; i++)
		expect_range("count of a member of the group", LOOP_INSNS *
			     SHORT, LOOP_INSNS * SHORT + 500,
			     event_read(fds[i]));
	ioctl(fds[1], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	for (i = 0; i < 3; i++)
		expect_eq("count of a member after reset", 0,
			  event_read(fds[i]));
out:
	close_all(fds, 3);
}

static void leader_closes_first(void)
{
	int fds[3] = { -1, -1, -1 };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		fds[i] = event_open_user(ARCH_EVENT_INSTRUCTIONS,
					 i ? fds[0] : -1);
		if (fds[i] < 0)
			goto out;
	}
	event_enable(fds[0]);
	known_loop(SHORT);
	close(fds[0]);
	fds[0] = -1;
	known_loop(SHORT);
	event_disable(fds[1]);
	event_disable(fds[2]);
	for (i = 1; i < 3; i++) {
		expect_range("count of a sibling that outlived its leader",
			     2 * LOOP_INSNS * SHORT,
			     2 * LOOP_INSNS * SHORT + 1000,
			     event_read(fds[i]));
		event_is_exact(fds[i], SHORT);
	}
out:
	close_all(fds, 3);
}

static void with_software_events(void)
{
	struct perf_event_attr attr;
	int fds[3];

	/* A software leader, which the hardware event moves to its own. */
	attr_init(&attr, PERF_COUNT_SW_TASK_CLOCK);
	attr.type = PERF_TYPE_SOFTWARE;
	fds[0] = event_open_self(&attr, -1);
	fds[1] = event_open_user(ARCH_EVENT_INSTRUCTIONS, fds[0]);
	attr.disabled = 0;
	fds[2] = event_open_self(&attr, fds[0]);
	if (fds[0] < 0 || fds[1] < 0 || fds[2] < 0)
		goto out;
	event_enable(fds[0]);
	known_loop(SHORT);
	event_disable(fds[0]);
	expect_range("count in a software group", LOOP_INSNS * SHORT,
		     LOOP_INSNS * SHORT + 500, event_read(fds[1]));
	expect_ne("the software leader's count", 0, event_read(fds[0]));
out:
	close_all(fds, 3);
}

static void prctl_disable_enable(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	u64 count;

	if (fd < 0)
		return;
	event_enable(fd);
	known_loop(SHORT);
	expect_eq("PR_TASK_PERF_EVENTS_DISABLE", 0,
		  prctl(PR_TASK_PERF_EVENTS_DISABLE));
	count = event_read(fd);
	known_loop(SHORT);
	expect_eq("count after prctl disabled it", count, event_read(fd));
	expect_eq("PR_TASK_PERF_EVENTS_ENABLE", 0,
		  prctl(PR_TASK_PERF_EVENTS_ENABLE));
	known_loop(SHORT);
	event_disable(fd);
	expect_range("count after prctl enabled it", 2 * LOOP_INSNS * SHORT,
		     2 * LOOP_INSNS * SHORT + 500, event_read(fd));
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
		/* Long enough for it to block on its pipe. */
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
	/* read() and write() take a lock of the C library's once there were threads. */
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
	{ "generic instructions count the loop, ten times the same",
	  generic_instructions },
	{ "generic cycles count the loop, ten times the same",
	  generic_cycles },
	{ "the PMU's instructions count the loop", own_instructions },
	{ "the PMU's cycles count the loop", own_cycles },
	{ "raw instructions count the loop", raw_instructions },
	{ "64-bit instructions count the loop", long_instructions },
	{ "instructions: user and kernel add up to both",
	  exclude_instructions },
	{ "cycles: user and kernel add up to both", exclude_cycles },
	{ "user and kernel both excluded count nothing", exclude_everything },
	{ "a disabled event counts nothing", disabled_counts_nothing },
	{ "an event not born disabled counts at once", born_enabled },
	{ "reset zeroes the count, not the times", reset_keeps_times },
	{ "reset of a running event", reset_while_running },
	{ "times of one event", times_of_one_event },
	{ "reads of a running event advance evenly", reads_while_running },
	{ "all 32 read formats", read_formats },
	{ "an event on another task", other_task },
	{ "an event on a task that has ended", other_task_ended },
	{ "an event does not count its task's children",
	  stays_with_its_task },
	{ "enable_on_exec", enable_on_exec },
	{ "inherit: children", inherit_children },
	{ "inherit: threads", inherit_threads },
	{ "inherit_stat", inherit_stat },
	{ "CPU-wide", cpu_wide },
	{ "CPU-wide counts children", cpu_wide_children },
	{ "a task on one CPU", task_on_cpu },
	{ "a pinned event without a counter reads as end of file",
	  pinned_error },
	{ "a pinned event never gives up its counter", pinned_runs_always },
	{ "an exclusive event runs alone", exclusive_alone },
	{ "a disabled leader holds its siblings", disabled_leader },
	{ "PERF_IOC_FLAG_GROUP from any member", group_flag },
	{ "siblings outlive their leader", leader_closes_first },
	{ "a group with software events", with_software_events },
	{ "prctl disables and enables", prctl_disable_enable },
	{ "a sleeping task costs nothing", sleeping_is_free },
	{ "counts survive 400 context switches", context_switches },
};

int main(int argc, char **argv)
{
	/* What enable_on_exec() runs; both take the same way to their loop. */
	if (argc == 2 && !strncmp(argv[1], "loop-", 5)) {
		known_loop(exec_loops[argv[1][5] & 1]);
		return 0;
	}
	target_init(argc, argv);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
