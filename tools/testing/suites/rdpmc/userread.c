// SPDX-License-Identifier: GPL-2.0-only
/*
 * userread.c - counters that user space reads show no other task's counts, and nothing while the
 * limiter throttles their event. pmu-validate has the reads themselves.
 *
 * It needs one CPU and exact counts of user instructions: a count that the other task leaves behind
 * is then in a counter that this task tries to read. usersmp.c has the races between CPUs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf_util.h"
#include "user_util.h"

/* Read a count that user space must be able to read. */
static __attribute__((noinline)) u64 must_read(struct reader *reader)
{
	u64 value = 0;

	if (!user_read(reader->page, &value))
		ktap_fail("a read of an event that counts: expected one, got none");
	return value;
}

/* The instruction counter is its own clock. */
static void __attribute__((noinline)) read_twice(const struct reader *reader, u64 *first,
						 u64 *second)
{
	const struct perf_event_mmap_page *user_page = reader->page;
	u64 a = 0, b = 0;

	user_read(user_page, &a);
	user_read(user_page, &b);
	*first = a;
	*second = b;
}

static void cost(void)
{
	struct reader reader;
	u64 first, second;
	u64 least = -1ULL;

	if (!reader_open(&reader, ARCH_EVENT_INSTRUCTIONS, 0))
		return;
	event_enable(reader.fd);
	for (unsigned int i = 0; i < 10; i++) {
		read_twice(&reader, &first, &second);
		if (second - first < least)
			least = second - first;
	}
	reader_close(&reader);
	ktap_diag("a read takes %llu instructions", (unsigned long long)least);
	expect_range("instructions of a read", 5, 25, least);
}

/* A throttled event has a counter that does not count, so user space must not read it. */
static void throttled(void)
{
	unsigned int with = 0, without = 0, round;
	struct perf_event_attr attr;
	struct reader reader;
	u64 value, offset;
	u32 lock;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = 1000;
	if (!reader_open_attr(&reader, &attr))
		return;
	/* So low that the event is throttled, even if the driver has stretched its period */
	limit_sample_rate(10000);
	event_enable(reader.fd);
	for (round = 0; round < 1000; round++) {
		known_loop(10000);
		if (user_read(reader.page, &value)) {
			with++;
			continue;
		}
		without++;
		lock = reader.page->lock;
		offset = reader.page->offset;
		value = event_read(reader.fd);
		/* The event may be unthrottled at any moment. */
		if (!reader.page->index && reader.page->lock == lock &&
		    !expect_eq("offset while throttled", value, offset))
			break;
	}
	limit_sample_rate(100000);
	expect_ne("reads while it counted", 0, with);
	expect_ne("reads while it was throttled, which are none", 0, without);
	reader_close(&reader);
}

/* Return what the task can read of others' counters: 1 nothing, 2 zeros, 3 a count. */
static int exit_code(void)
{
	struct counter_scan scan = { };

	scan_counters(&scan);
	if (scan.seen)
		return 3;
	return scan.faults == ARRAY_SIZE(arch_user_counters) ? 1 : 2;
}

static int wait_code(pid_t pid)
{
	int status = 0;

	if (waitpid(pid, &status, 0) != pid)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void *look_in_thread(void *arg)
{
	scan_counters(arg);
	return NULL;
}

static void other_tasks(void)
{
	struct counter_scan scan = { };
	struct reader reader;
	pthread_t thread;
	pid_t pid;

	if (!reader_open(&reader, ARCH_EVENT_INSTRUCTIONS, 0))
		return;
	event_enable(reader.fd);
	known_loop(100000);

	pid = fork();
	if (!pid)
		_exit(exit_code());
	expect_range("a forked task (1: faults, 2: reads zero, 3: sees counters)", 1, 2,
		     wait_code(pid));

	pid = fork();
	if (!pid) {
		execl("/proc/self/exe", "userread", "--look", NULL);
		_exit(9);
	}
	expect_eq("an executed program (1: faults)", 1, wait_code(pid));

	if (pthread_create(&thread, NULL, look_in_thread, &scan)) {
		ktap_fail("a thread: expected one, got none");
	} else {
		pthread_join(thread, NULL);
		expect_all_zero("a thread without an event", &scan);
	}
	expect_ne("what the event's own task reads", 0, must_read(&reader));
	reader_close(&reader);

	expect_eq("a task whose event is closed and unmapped (1: faults)", 1, exit_code());
}

/* The page of another task's event gives no access to that task's counters. */
static void traced_task(void)
{
	struct perf_event_attr attr;
	struct counter_scan scan = { };
	struct reader reader = { .fd = -1 };
	pid_t pid;

	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		for (;;)
			known_loop(1000);
	}
	waitpid(pid, NULL, 0);
	reader_attr_init(&attr, ARCH_EVENT_INSTRUCTIONS, 0);
	reader.fd = event_open(&attr, pid, -1, -1, 0);
	if (reader.fd < 0 || !reader_map(&reader)) {
		ktap_fail("an event on a traced task: expected one, got %s",
			  strerror(-reader.fd));
		goto out;
	}
	event_enable(reader.fd);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	for (unsigned int i = 0; i < 20; i++) {
		usleep(5000);
		scan_counters(&scan);
	}
	expect_range("what the traced task counted", 1, INT64_MAX, event_read(reader.fd));
	expect_all_zero("a tracer", &scan);
out:
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	reader_close(&reader);
}

/* A task that may read can read every counter. Other tasks' counts in them must be cleared. */
static void other_readers(void)
{
	struct reader readers[ARCH_MAX_COUNTERS];
	struct counter_scan scan = { };
	struct reader reader;
	pid_t pid;

	pid = fork();
	if (!pid) {
		for (unsigned int nr = 0; nr < arch_counters().instructions; nr++)
			if (reader_open(&readers[nr], ARCH_EVENT_INSTRUCTIONS, 0))
				event_enable(readers[nr].fd);
		for (;;) {
			known_loop(100);
			sched_yield();
		}
	}
	if (!reader_open(&reader, ARCH_EVENT_INSTRUCTIONS, 0))
		goto out;
	event_enable(reader.fd);
	for (unsigned int i = 0; i < 1000; i++) {
		scan.own = reader.page->index;
		scan_counters(&scan);
		sched_yield();
	}
	expect_ne("counters that can be read", 0, scan.values);
	expect_all_zero("a task that reads an event of its own", &scan);
	reader_close(&reader);
out:
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* If the administrator denies reads, tasks that already read lose the access at once. */
static void administrator(void)
{
	struct counter_scan scan = { };
	struct reader reader;
	u64 value;

	if (!reader_open(&reader, ARCH_EVENT_INSTRUCTIONS, 0))
		return;
	event_enable(reader.fd);
	expect_ne("a read while allowed", 0, must_read(&reader));
	expect_eq("writing 0", 0, user_read_allow(0));
	expect_eq("what the file says", 0, user_read_allowed());
	expect_eq("index when no longer allowed", 0, reader.page->index);
	scan_counters(&scan);
	expect_eq("faults when no longer allowed", ARRAY_SIZE(arch_user_counters),
		  scan.faults);
	expect_eq("writing 1", 0, user_read_allow(1));
	expect_ne("index when allowed again", 0, reader.page->index);
	value = must_read(&reader);
	expect_true("it is no less than read(2)", event_read(reader.fd) >= value);
	expect_ne("writing 3", 0, user_read_allow(3));
	expect_eq("what the file says", 1, user_read_allowed());
	reader_close(&reader);
}

#if defined(__x86_64__)

/* With rdpmc 2 every task can read counters, and sees no counts of other tasks' events. */
static void everybody(void)
{
	struct counter_scan scan = { };
	struct reader reader;
	pid_t pid;

	if (!reader_open(&reader, ARCH_EVENT_INSTRUCTIONS, 0))
		return;
	event_enable(reader.fd);
	pid = fork();
	if (!pid) {
		struct reader own;

		/* Other tasks have events on these counters before and after. */
		close(reader.fd);
		if (!reader_open(&own, ARCH_EVENT_CYCLES, 0))
			_exit(9);
		event_enable(own.fd);
		for (;;) {
			known_loop(100);
			sched_yield();
		}
	}
	known_loop(100000);
	/* The child must close its copy, too. */
	event_disable(reader.fd);
	reader_close(&reader);
	expect_eq("writing 2", 0, user_read_allow(2));
	for (unsigned int i = 0; i < 100; i++) {
		scan_counters(&scan);
		sched_yield();
	}
	expect_all_zero("a task that may read all", &scan);
	expect_ne("counters that can be read", 0, scan.values);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	expect_eq("writing 1", 0, user_read_allow(1));
	memset(&scan, 0, sizeof(scan));
	scan_counters(&scan);
	expect_eq("counters that can be read after it", 0, scan.values);
}

#else

static void everybody(void)
{
	ktap_skip("this architecture has no file rdpmc");
}

#endif

#if defined(__aarch64__)

static void refusals(void)
{
	struct perf_event_attr attr;
	int fd;

	reader_attr_init(&attr, ARCH_EVENT_INSTRUCTIONS, 0);
	expect_eq("an event of a CPU", -EINVAL, event_open(&attr, -1, 0, -1, 0));

	attr.config1 |= ARCH_CONFIG1_LONG;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (arch_long_counters())
		expect_true("64 bits where the counters have them", fd >= 0);
	else
		expect_eq("64 bits where no counter has them", -EOPNOTSUPP, fd);
	close_all(&fd, 1);

	/* The cycle counter has 64 bits on every CPU. */
	attr.config = ARCH_EVENT_CYCLES;
	fd = event_open(&attr, 0, -1, -1, 0);
	expect_true("64 bits of cycles", fd >= 0);
	close_all(&fd, 1);
}

#else

/* No event is rejected. An event that was opened while reads were denied stays unreadable. */
static void refusals(void)
{
	struct reader reader;

	expect_eq("writing 0", 0, user_read_allow(0));
	if (reader_open(&reader, ARCH_EVENT_INSTRUCTIONS, 0)) {
		expect_eq("cap_user_rdpmc", 0, reader.page->cap_user_rdpmc);
		event_enable(reader.fd);
		expect_eq("index", 0, reader.page->index);
		expect_eq("writing 1", 0, user_read_allow(1));
		expect_eq("index, allowed later", 0, reader.page->index);
		reader_close(&reader);
	}
	user_read_allow(1);
}

#endif

static const struct ktap_case cases[] = {
	{ "a read in user space costs less than a system call", cost },
	{ "reads of a throttled event are right", throttled },
	{ "other tasks see nothing", other_tasks },
	{ "other readers see nothing", other_readers },
	{ "a tracer sees nothing of the traced", traced_task },
	{ "the administrator takes and gives access", administrator },
	{ "everybody may read, and sees zero", everybody },
	{ "rdpmc of unreadable events is refused", refusals },
};

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--look"))
		return exit_code();
	target_init(argc, argv);
	alarm(250);
	user_read_allow(1);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
