// SPDX-License-Identifier: GPL-2.0-only
/*
 * family.c - children, execs and tasks that end
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "smp.h"

/* Create children that have children, all of them counted, up to a number. */
static void fork_tree(unsigned int depth)
{
	pid_t children[3];
	unsigned int i;

	known_loop(2000);
	if (!depth)
		return;
	for (i = 0; i < 3; i++) {
		children[i] = fork();
		if (!children[i]) {
			fork_tree(depth - 1);
			_exit(0);
		}
	}
	for (i = 0; i < 3; i++)
		if (children[i] > 0)
			waitpid(children[i], NULL, 0);
}

/* A tree whose events sample; one with an event for each CPU */
#define SAMPLING	1
#define ON_CPUS		2

static void check_fork_tree(unsigned long how)
{
	struct event_times times, last[MAX_CPUS] = { 0 };
	struct perf_event_attr attr;
	int fds[MAX_CPUS], round;
	unsigned int i, nr = how & ON_CPUS ? smp_cpus : 1;
	u64 sum = 0;

	for (i = 0; i < nr; i++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.inherit = 1;
		attr.sample_period = how & SAMPLING ? PERIOD : 0;
		attr.read_format = FORMAT_TIMES;
		fds[i] = event_open(&attr, 0, how & ON_CPUS ? (int)i : -1, -1, 0);
		if (fds[i] < 0) {
			ktap_fail("open: got %s", strerror(-fds[i]));
			close_all(fds, i);
			return;
		}
		event_enable(fds[i]);
	}
	fflush(stdout);
	for (round = 0; round < 4; round++) {
		fork_tree(3);
		for (i = 0; i < nr; i++) {
			event_read_times(fds[i], &times);
			smp_check_times(&last[i], &times);
			last[i] = times;
		}
	}
	for (i = 0; i < nr; i++) {
		event_disable(fds[i]);
		sum += last[i].count;
	}
	expect_ne("count of all generations", 0, sum);
	close_all(fds, nr);
}

/* Close the event while its inherited copies in children exist. */
static void close_under_children(void)
{
	struct perf_event_attr attr;
	pid_t child;
	int fd, i;

	fflush(stdout);
	for (i = 0; i < 40; i++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.inherit = 1;
		attr.disabled = 0;
		attr.sample_period = i & 1 ? PERIOD : 0;
		fd = event_open_self(&attr, -1);
		child = fork();
		if (!child) {
			known_loop(20000);
			fork_tree(1);
			_exit(0);
		}
		known_loop(i * 500 + 1);
		close(fd);
		waitpid(child, NULL, 0);
	}
	smp_every_cpu_counts();
}

static void exec_while_sampling(void)
{
	struct perf_event_attr attr;
	struct event_times times;
	int go[2], fd, i;
	pid_t child;
	char c = 0;

	fflush(stdout);
	for (i = 0; i < 40 && !ktap_failed(); i++) {
		if (pipe(go))
			return;
		child = fork();
		if (!child) {
			if (read(go[0], &c, 1) == 1)
				execl("/proc/self/exe", "smp", "again", "5",
				      NULL);
			_exit(1);
		}
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.sample_period = PERIOD / 4;
		attr.read_format = FORMAT_TIMES;
		attr.inherit = i & 1;
		attr.disabled = !(i & 2);
		attr.enable_on_exec = !(i & 2);
		attr.remove_on_exec = (i & 6) == 6 && !attr.inherit;
		fd = event_open(&attr, child, -1, -1, 0);
		if (fd < 0)
			ktap_fail("open: got %s", strerror(-fd));
		if (write(go[1], &c, 1) != 1)
			ktap_fail("expected a child to wait, it died");
		waitpid(child, NULL, 0);
		event_read_times(fd, &times);
		expect_true("time running never to exceed time enabled",
			    times.running <= times.enabled);
		if (!attr.remove_on_exec)
			expect_ne("count across execs", 0, times.count);
		close(fd);
		close(go[0]);
		close(go[1]);
	}
}

/* The task ends while another opens an event on it. */
static void open_on_the_dying(void)
{
	unsigned int opened = 0, refused = 0;
	struct perf_event_attr attr;
	pid_t child;
	u64 count;
	int fd, i;

	fflush(stdout);
	for (i = 0; i < 300; i++) {
		child = fork();
		if (!child) {
			known_loop(i * 20 + 1);
			_exit(0);
		}
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.disabled = 0;
		attr.inherit = i & 1;
		attr.sample_period = i & 2 ? PERIOD : 0;
		known_loop(i * 10 + 1);
		fd = event_open(&attr, child, -1, -1, 0);
		if (fd >= 0) {
			opened++;
			if (read(fd, &count, sizeof(count)) != sizeof(count))
				ktap_fail("read: got %s", strerror(errno));
			event_disable(fd);
			event_enable(fd);
			close(fd);
		} else if (fd == -ESRCH) {
			refused++;
		} else {
			ktap_fail("open: expected success or ESRCH, got %s",
				  strerror(-fd));
		}
		waitpid(child, NULL, 0);
	}
	ktap_diag("%u opened, %u too late", opened, refused);
	smp_every_cpu_counts();
}

static const struct ktap_case cases[] = {
	{ "inherited by grandchildren, counting", .run_with = check_fork_tree, .value = 0 },
	{ "inherited by grandchildren, sampling", .run_with = check_fork_tree, .value = SAMPLING },
	{ "inherited by grandchildren, on every CPU",
	  .run_with = check_fork_tree, .value = SAMPLING | ON_CPUS },
	{ "closed while children live", close_under_children },
	{ "execs while sampling", exec_while_sampling },
	{ "opened on a task that ends", open_on_the_dying },
};

const struct ktap_list smp_family_cases = { cases, ARRAY_SIZE(cases) };
