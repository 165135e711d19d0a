// SPDX-License-Identifier: GPL-2.0-only
/*
 * inherit.c - inheritance by threads but not by children, counts that move with tasks, guests and
 * hosts, branches
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "judge/validate.h"

static void *thread_loop(void *unused)
{
	known_loop(ITERATIONS);
	return unused;
}

static void threads_alone(void)
{
	struct perf_event_attr attr;
	pthread_t thread;
	int fd;

	attr_instructions(&attr);
	attr.inherit = 1;
	attr.inherit_thread = 1;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd == -EINVAL) {
		ktap_skip("inherit_thread is not known to this kernel");
		return;
	}
	expect_true("inherit_thread is accepted", fd >= 0);
	event_enable(fd);
	if (!fork()) {
		known_loop(5 * ITERATIONS);
		_exit(0);
	}
	wait(NULL);
	expect_range("instructions without a child process", 1, LOOP, event_read(fd));
	event_reset(fd);
	if (!pthread_create(&thread, NULL, thread_loop, NULL))
		pthread_join(thread, NULL);
	event_disable(fd);
	expect_range("instructions with a thread", LOOP, LOOP + LOOP / 2,
		     event_read(fd));
	close(fd);
}

/*
 * Parent and child run in turns, both with the inherited event. The sum of the counts is right,
 * even if the kernel exchanges the two contexts instead of stopping and starting the events.
 */
static void counts_move(void)
{
	struct perf_event_attr attr;
	struct child child;
	int fd;

	attr_instructions(&attr);
	attr.inherit = 1;
	attr.inherit_stat = 1;
	fd = open_event(&attr);
	run_on(pmu.cpu);
	event_enable(fd);
	if (!child_start(&child, known_loop, ITERATIONS / 100))
		return;
	for (int i = 0; i < 100; i++) {
		child_run(&child);
		known_loop(ITERATIONS / 100);
	}
	event_disable(fd);
	expect_range("instructions of both", 2 * LOOP, 2 * LOOP + LOOP / 2, event_read(fd));
	child_end(&child);
	expect_range("instructions of both when one has ended", 2 * LOOP, 2 * LOOP + LOOP / 2,
		     event_read(fd));
	close(fd);
}

static void host_without_guests(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_instructions(&attr);
	attr.exclude_guest = 1;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (expect_true("exclude_guest is accepted, or EINVAL, EOPNOTSUPP",
			fd >= 0 || fd == -EINVAL || fd == -EOPNOTSUPP) && fd >= 0) {
		expect_count("instructions of the host without guests", LOOP,
			     event_count_loop(fd, ITERATIONS));
		close(fd);
	}
}

static void of_a_loop(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_branches(&attr);
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd < 0) {
		ktap_skip("the PMU counts no branches by their generic event: %s", strerror(-fd));
		return;
	}
	expect_each("branches of the loop", fd, 1);
	close(fd);
}

static const struct check checks[] = {
	{ "task", "inherit_thread: threads, no children",
	  MAN "inherit_thread: \"This disables the inheritance of the event to a child process. Only new threads in the same process (which is cloned with CLONE_THREAD) will inherit the event.\"",
	  threads_alone },
	{ "task", "inherit_stat: counts move with their tasks",
	  MAN "inherit_stat: \"This bit enables saving of event counts on context switch for inherited tasks.\"",
	  counts_move, 0, ON_USER },
	{ "count", "exclude_guest changes nothing where there are none",
	  MAN "exclude_guest: \"When conducting measurements that include processes running VM instances (i.e., have executed a KVM_RUN ioctl(2)), do not measure events happening inside guest instances.\"",
	  host_without_guests, 0, ON_USER },
	{ "count", "branches of a known loop",
	  MAN "PERF_COUNT_HW_BRANCH_INSTRUCTIONS: \"Retired branch instructions.\"", of_a_loop },
};

const struct check_list inherit_checks = { checks, ARRAY_SIZE(checks) };
