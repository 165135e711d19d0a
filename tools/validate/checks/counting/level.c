// SPDX-License-Identifier: GPL-2.0-only
/*
 * level.c - counting: privilege levels, and a host without guests
 */
#define _GNU_SOURCE
#include "judge/validate.h"

/*
 * Open a disabled group of three events @attr of this task, which count user space, the kernel, and
 * both. Return true if all were opened.
 */
static bool open_levels(struct perf_event_attr *attr, int fds[3])
{
	fds[0] = event_open_self(attr, -1);
	attr->disabled = 0;
	attr->exclude_kernel = 0;
	attr->exclude_user = 1;
	fds[1] = event_open_self(attr, fds[0]);
	attr->exclude_user = 0;
	fds[2] = event_open_self(attr, fds[0]);

	return fds[0] >= 0 && fds[1] >= 0 && fds[2] >= 0;
}

/*
 * The kernel's part of these system calls is more than a million instructions: where a counter
 * wraps once in a million, the kernel's counter wraps, too.
 */
#define CALLS	10000

static void levels_add_up(void)
{
	struct perf_event_attr attr;
	int fds[3];
	u64 sum, both;

	attr_instructions(&attr);
	if (open_levels(&attr, fds)) {
		event_enable(fds[0]);
		call_kernel(CALLS);
		known_loop(ITERATIONS);
		event_disable(fds[0]);
		sum = event_read(fds[0]) + event_read(fds[1]);
		both = event_read(fds[2]);
		/* The counters may not start and stop at the same time. */
		expect_near("both levels", sum, pmu.exact ? arch_group_slack() : sum / 1000 + 100,
			    both);
		expect_range("kernel instructions of 10000 system calls", 200000, 1000000000,
			     event_read(fds[1]));
		expect_range("user instructions", LOOP, LOOP + 1000000, event_read(fds[0]));
	}
	close_all(fds, 3);
}

/*
 * Cycles and instructions may be on counters with different privilege filters: check cycles, too. A
 * cycle belongs to user space or the kernel, except for the cycles of the transitions.
 */
static void cycles_add_up(void)
{
	struct perf_event_attr attr;
	int fds[3];
	u64 sum, both;

	attr_cycles(&attr);
	if (open_levels(&attr, fds)) {
		event_enable(fds[0]);
		call_kernel(CALLS);
		event_disable(fds[0]);
		sum = event_read(fds[0]) + event_read(fds[1]);
		both = event_read(fds[2]);
		expect_near("cycles of both levels", sum,
			    pmu.exact ? arch_group_slack() : sum / 20, both);
	}
	close_all(fds, 3);
}

static void user_only(void)
{
	int fd = open_instructions(), i;
	u64 without;

	if (!pmu.instructions.exclude_kernel) {
		ktap_skip("exclude_kernel is refused");
		close(fd);
		return;
	}
	event_enable(fd);
	for (i = 0; i < 1000; i++)
		getppid();
	event_disable(fd);
	without = event_read(fd);
	expect_range("user instructions of 1000 system calls", 3000, 40000, without);
	close(fd);
}

static void kernel_only(void)
{
	struct perf_event_attr attr;
	u64 loop, calls;
	int fd;

	attr_instructions(&attr);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	fd = open_event(&attr);
	loop = least_count(fd, ITERATIONS);
	expect_range("kernel instructions of a loop in user space", 0, LOOP / 2, loop);
	event_reset(fd);
	event_enable(fd);
	call_kernel(CALLS);
	event_disable(fd);
	calls = event_read(fd);
	expect_range("kernel instructions of 10000 system calls", 200000, 1000000000, calls);
	close(fd);
}

/* Judge an event of user space and one of the kernel, which count at the same time. */
static void judge_levels(int user, int kernel)
{
	u64 least = UINT64_MAX, count;

	for (int i = 0; i < 3; i++) {
		event_reset(user);
		event_reset(kernel);
		known_loop(ITERATIONS);
		count = event_read(kernel);
		least = count < least ? count : least;
		expect_range("user instructions of a loop", LOOP, LOOP + count_slack(LOOP) + 1000,
			     event_read(user));
	}
	expect_range("kernel instructions of a loop in user space", 0, LOOP / 2, least);
}

/*
 * Perf core schedules pinned events first. So the new pinned event gets the counter of the earlier
 * event, and the earlier event moves to the next counter. Both counters need another filter.
 */
static void levels_change(void)
{
	struct perf_event_attr attrs[2];
	int fds[2], member;

	attr_instructions(&attrs[0]);
	attrs[1] = attrs[0];
	attrs[1].exclude_kernel = 0;
	attrs[1].exclude_user = 1;
	if (!attrs[0].exclude_kernel) {
		ktap_skip("exclude_kernel is refused");
		return;
	}
	for (int first = 0; first < 2; first++) {
		attrs[first].pinned = 0;
		fds[first] = open_event(&attrs[first]);
		member = event_open(&attrs[!first], 0, -1, fds[first], 0);
		if (member < 0) {
			ktap_skip("a group of events of two levels is refused");
			close(fds[first]);
			return;
		}
		close(member);
		event_enable(fds[first]);
		known_loop(1000);
		attrs[!first].pinned = 1;
		fds[!first] = open_event(&attrs[!first]);
		event_enable(fds[!first]);
		judge_levels(fds[0], fds[1]);
		close_all(fds, 2);
	}
}

/* Expect an event to open, unless this user lacks the permission. */
static void expect_permitted(const char *what, struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = event_open(attr, pid, cpu, -1, 0);

	expect_or_say(fd >= 0 || fd == -EACCES || fd == -EPERM,
		      "%s: expected a descriptor, EACCES or EPERM, got %s", what, strerror(-fd));
	close_all(&fd, 1);
}

static void permitted(void)
{
	struct perf_event_attr attr;

	attr_instructions(&attr);
	expect_permitted("an event of a CPU", &attr, -1, pmu.cpu);
	attr.exclude_kernel = 0;
	expect_permitted("an event of user space and kernel", &attr, 0, -1);
	expect_permitted("an event of user space and kernel of a CPU", &attr, -1, pmu.cpu);
}

static void nothing_left(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_instructions(&attr);
	attr.exclude_user = 1;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd == -EINVAL || fd == -EOPNOTSUPP) {
		ktap_skip("an event that excludes everything is refused");
		return;
	}
	expect_true("the event opens", fd >= 0);
	expect_eq("count", 0, event_count_loop(fd, ITERATIONS));
	close(fd);
}

/*
 * If no guest has run, exclude_host counts nothing. Architectures other than x86 may ignore the
 * setting, and in a guest it "does not change counts".
 */
static void guests_alone(void)
{
	struct perf_event_attr attr;
	u64 count;
	int fd;

	attr_instructions(&attr);
	attr.exclude_host = 1;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (!expect_true("exclude_host is accepted, or EINVAL, EOPNOTSUPP",
			 fd >= 0 || fd == -EINVAL || fd == -EOPNOTSUPP) || fd < 0)
		return;
	count = event_count_loop(fd, ITERATIONS);
	if (count)
		expect_count("instructions, where they are not none", LOOP, count);
	close(fd);
}

static const struct check checks[] = {
	{ "count", "user and kernel add up", NO_LEVEL, levels_add_up, NEED_KERNEL | NEED_GROUPS,
	  ON_MODES | ON_COUNTERS },
	{ "count", "cycles of user and kernel add up", NO_LEVEL, cycles_add_up, NEED_CYCLES |
	  NEED_KERNEL | NEED_GROUPS, ON_MODES | ON_COUNTERS },
	{ "count", "exclude_kernel leaves user space", NO_KERNEL, user_only },
	{ "count", "exclude_user leaves the kernel", NO_USER, kernel_only, NEED_KERNEL },
	{ "count", "a counter's level changes with its event", NO_LEVEL, levels_change,
	  NEED_KERNEL | NEED_GROUPS, ON_MODES | ON_COUNTERS },
	{ "count", "the kernel and CPUs are refused only for lack of permission",
	  MAN "pid == -1 and cpu >= 0: \"This measures all processes/threads on the specified CPU. This requires CAP_PERFMON (since Linux 5.8) or CAP_SYS_ADMIN capability or a /proc/sys/kernel/perf_event_paranoid value of less than 1.\"",
	  permitted },
	{ "count", "both excluded count nothing", NO_LEVEL, nothing_left, 0, ON_USER },
	{ "count", "exclude_host counts nothing without guests",
	  MAN "exclude_host: \"When conducting measurements that include processes running VM instances (i.e., have executed a KVM_RUN ioctl(2)), only measure events happening inside a guest instance.\"",
	  guests_alone, 0, ON_USER },
};

const struct check_list level_checks = { checks, ARRAY_SIZE(checks) };
