// SPDX-License-Identifier: GPL-2.0-only
/*
 * count.c - counts after RESET, exit and exec, of group members, and with every mode excluded
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "observe/observe.h"

/*
 * Perf core exchanges the contexts of parent and child at a context switch if both have the same
 * events: the child then counts with the parent's event. The event of open_instructions(), which
 * only the parent has, prevents the exchange.
 */
static void reset_and_children(void)
{
	int fd;

	open_instructions();
	fd = open_with(&(struct perf_event_attr) { .inherit = 1 });
	event_enable(fd);
	in_child(one_loop);
	event_disable(fd);
	answer_loops("before RESET", event_read(fd));
	event_reset(fd);
	answer_loops("after it", event_read(fd));
}

static void reset_and_running_child(void)
{
	struct child child;
	int fd = open_with(&(struct perf_event_attr) { .inherit = 1 });

	event_enable(fd);
	if (!child_start(&child, known_loop, ITERATIONS))
		return;
	child_run(&child);
	answer_loops("before RESET", event_read(fd));
	event_reset(fd);
	answer_loops("after it", event_read(fd));
	child_end(&child);
	answer_loops("after the child's end", event_read(fd));
}

static void reset_and_times(void)
{
	struct event_times times;
	int fd = open_with(&(struct perf_event_attr) { .read_format = FORMAT_TIMES });

	event_enable(fd);
	one_loop();
	event_disable(fd);
	event_reset(fd);
	if (event_read_times(fd, &times))
		answer("count %llu, time_enabled is %s, time_running is %s",
		       (unsigned long long)times.count, times.enabled ? "kept" : "reset",
		       times.running ? "kept" : "reset");
}

static void reset_of_group(void)
{
	int fds[2];

	if (open_group(fds, 2, 0) < 2)
		return answer("a group of two is refused");
	event_enable(fds[0]);
	one_loop();
	event_disable(fds[0]);
	event_reset(fds[0]);
	answer_loops("leader", event_read(fds[0]));
	answer_loops("member", event_read(fds[1]));
}

static void member_of_stopped_leader(void)
{
	struct event_times times;
	int fds[2];

	if (open_group(fds, 2, FORMAT_TIMES) < 2)
		return answer("a group of two is refused");
	event_enable(fds[1]);
	one_loop();
	if (event_read_times(fds[1], &times)) {
		answer_loops("count", times.count);
		answer("time_enabled %s, time_running %s", times.enabled ? "continues" : "is 0",
		       times.running ? "continues" : "is 0");
	}
}

static void disabled_member(void)
{
	int fds[2];

	if (open_group(fds, 2, 0) < 2)
		return answer("a group of two is refused");
	event_disable(fds[1]);
	event_enable(fds[0]);
	one_loop();
	event_disable(fds[0]);
	answer_loops("leader", event_read(fds[0]));
	answer_loops("member", event_read(fds[1]));
}

static void member_without_leader(void)
{
	int fds[2];
	u64 before;

	if (open_group(fds, 2, 0) < 2)
		return answer("a group of two is refused");
	event_enable(fds[0]);
	one_loop();
	close(fds[0]);
	before = event_read(fds[1]);
	one_loop();
	answer_loops("counted on", event_read(fds[1]) - before);
}

static void both_modes_excluded(void)
{
	int fd = open_with(&(struct perf_event_attr) { .exclude_kernel = 1, .exclude_user = 1 });

	answer("accepted, count %s", event_count_loop(fd, ITERATIONS) ? "not 0" : "0");
}

static void guest_and_host_excluded(void)
{
	int fd = open_with(&(struct perf_event_attr) { .exclude_guest = 1, .exclude_host = 1 });

	answer_loops("accepted,", event_count_loop(fd, ITERATIONS));
}

static void host_excluded(void)
{
	int fd = open_with(&(struct perf_event_attr) { .exclude_host = 1 });

	answer_loops("accepted,", event_count_loop(fd, ITERATIONS));
}

static void task_has_ended(void)
{
	struct perf_event_attr attr;
	struct child child;
	u64 before;
	int fd;

	if (!child_start(&child, known_loop, ITERATIONS))
		return;
	attr_instructions(&attr);
	fd = event_open(&attr, child.pid, -1, -1, 0);
	event_enable(fd);
	child_run(&child);
	child_end(&child);
	before = event_read(fd);
	answer_loops("read", before);
	answer_error("ENABLE", ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0);
	answer_error("RESET", ioctl(fd, PERF_EVENT_IOC_RESET, 0) ? -errno : 0);
	answer_loops("then", event_read(fd));
}

static void zombie(void)
{
	struct perf_event_attr attr;
	siginfo_t info;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
	attr_instructions(&attr);
	answer_error("a zombie:", event_open(&attr, pid, -1, -1, 0));
	waitpid(pid, NULL, 0);
	answer_error("no process:", event_open(&attr, pid, -1, -1, 0));
}

static void pinned_in_error(void)
{
	struct perf_event_attr attr;
	int fds[MANY], last;
	u64 count = 0;
	ssize_t bytes;

	attr_instructions(&attr);
	attr.pinned = 1;
	attr.disabled = 0;
	for (unsigned int i = 0; i < MANY; i++)
		fds[i] = event_open(&attr, 0, -1, -1, 0);
	last = fds[MANY - 1];
	bytes = read(last, &count, sizeof(count));
	answer("read() returns %zd", bytes);
	close_all(fds, MANY - 1);
	answer_error("DISABLE and ENABLE", ioctl(last, PERF_EVENT_IOC_DISABLE, 0) ||
		     ioctl(last, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0);
	one_loop();
	bytes = read(last, &count, sizeof(count));
	answer("read() returns %zd then", bytes);
}

static void short_read(void)
{
	u64 values[2];
	int fd = open_with(&(struct perf_event_attr) { .read_format = FORMAT_TIMES });

	answer_error("16 bytes of 24:", read(fd, values, sizeof(values)) < 0 ? -errno : 0);
}

static void poll_of_counting(void)
{
	struct pollfd pollfd = { .events = POLLIN };

	pollfd.fd = open_instructions();
	poll(&pollfd, 1, 0);
	answer("revents %s",
	       pollfd.revents & POLLHUP ? "POLLHUP" : pollfd.revents ? "others" : "0");
}

static void exec_self(void)
{
	execl("/proc/self/exe", "pmu-validate", "--help", NULL);
	_exit(1);
}

static void remove_on_exec(void)
{
	struct perf_event_attr attr;
	u64 count = 0;
	ssize_t bytes;
	pid_t pid;
	int fd, pipes[2];
	char go;

	if (pipe(pipes))
		return;
	pid = fork();
	if (pid < 0)
		return answer_error("fork(2) fails:", -errno);
	if (!pid) {
		if (read(pipes[0], &go, 1) != 1 || !freopen("/dev/null", "w", stdout))
			_exit(1);
		one_loop();
		exec_self();
	}
	attr_instructions(&attr);
	attr.remove_on_exec = 1;
	attr.disabled = 0;
	fd = event_open(&attr, pid, -1, -1, 0);
	if (fd < 0 || write(pipes[1], "", 1) != 1) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return answer_error("the event is refused:", fd);
	}
	waitpid(pid, NULL, 0);
	bytes = read(fd, &count, sizeof(count));
	answer("read() returns %zd", bytes);
	answer_loops("count", count);
}

static void enable_on_exec(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_instructions(&attr);
	attr.enable_on_exec = 1;
	attr.disabled = 0;
	fd = open_or_answer(&attr);
	one_loop();
	answer_loops("counted before exec", event_read(fd));
}

static void read_while_child_runs(void)
{
	struct child child;
	int fd = open_with(&(struct perf_event_attr) { .inherit = 1 });

	event_enable(fd);
	if (!child_start(&child, known_loop, ITERATIONS))
		return;
	child_run(&child);
	answer_loops("while the child sleeps", event_read(fd));
	child_end(&child);
}

static const struct observation observations[] = {
	{ "count", "what RESET leaves of a child that has ended, the parent having one event more",
	  reset_and_children },
	{ "count", "what RESET leaves of a child that runs, and has the parent's events",
	  reset_and_running_child },
	{ "count", "what RESET does to the times", reset_and_times },
	{ "count", "what RESET of a leader does to its member", reset_of_group },
	{ "count", "a member that is enabled while its leader is not", member_of_stopped_leader },
	{ "count", "a member that is disabled while its leader counts", disabled_member },
	{ "count", "a member whose leader is closed while it counts", member_without_leader },
	{ "count", "user and kernel are both excluded", both_modes_excluded },
	{ "count", "guest and host are both excluded", guest_and_host_excluded },
	{ "count", "the host is excluded, and there is no guest", host_excluded },
	{ "count", "the event's task has ended", task_has_ended },
	{ "count", "opening an event of a task that has ended", zombie },
	{ "count", "a pinned event that finds no counter, and then one", pinned_in_error },
	{ "count", "read() into a buffer that is too small", short_read },
	{ "count", "poll() of an event without a buffer", poll_of_counting },
	{ "count", "remove_on_exec: read() after the exec", remove_on_exec },
	{ "count", "enable_on_exec of an event that is enabled already", enable_on_exec },
	{ "count", "read() includes children that have not ended", read_while_child_runs },
};

const struct observation_list count_observations = { observations, ARRAY_SIZE(observations) };
