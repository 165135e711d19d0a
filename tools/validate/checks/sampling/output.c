// SPDX-License-Identifier: GPL-2.0-only
/*
 * output.c - output of samples: to another event's buffer, to none, to a BPF program; limits of
 * memory, and POLLHUP when a task has ended
 */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "judge/validate.h"

#define PERIOD	100000
#define PAGES	8
#define SAMPLES	(LOOP / PERIOD)

static struct ring ring;

static void no_group(void)
{
	struct perf_event_attr attr;
	int leader = open_instructions(), fd;

	attr_instructions(&attr);
	fd = event_open(&attr, 0, -1, leader, PERF_FLAG_FD_NO_GROUP);
	if (expect_true("PERF_FLAG_FD_NO_GROUP is accepted", fd >= 0)) {
		/* The leader is never enabled: a member of its group would not count. */
		expect_count("instructions", LOOP, event_count_loop(fd, ITERATIONS));
		close(fd);
	}
	close(leader);
}

static void fd_output(void)
{
	struct perf_event_attr attr;
	struct sample sample;
	unsigned int nr[2] = { 0 };
	u64 ids[2] = { 0 };
	int fd, other;

	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP | PERF_SAMPLE_ID);
	fd = open_sampling(&ring, &attr, PAGES);
	other = event_open(&attr, 0, -1, fd, PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT);
	if (expect_true("PERF_FLAG_FD_OUTPUT is accepted", other >= 0)) {
		ioctl(fd, PERF_EVENT_IOC_ID, &ids[0]);
		ioctl(other, PERF_EVENT_IOC_ID, &ids[1]);
		event_run_loop(other, ITERATIONS);
		while (ring_next_sample(&ring, &attr, &sample)) {
			nr[0] += sample.id == ids[0];
			nr[1] += sample.id == ids[1];
		}
		expect_eq("samples of the buffer's own event, which is disabled", 0, nr[0]);
		expect_range("samples of the event that is rerouted", SAMPLES - 2, SAMPLES + 2,
			     nr[1]);
		close(other);
	}
	close_sampling(&ring, fd);
}

/* Expect PERF_EVENT_IOC_SET_OUTPUT to fail with EINVAL. */
static void expect_refused(const char *what, int fd, int to)
{
	errno = 0;
	expect_eq(what, -1, ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, to));
	expect_eq("its error", EINVAL, errno);
}

static void outputs_that_cannot_be(void)
{
	static struct ring own;
	struct perf_event_attr attr;
	int fd, other, mapped;

	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP);
	fd = open_sampling(&ring, &attr, PAGES);
	other = open_event(&attr);
	mapped = open_sampling(&own, &attr, PAGES);
	expect_refused("output of an event that is mapped itself", mapped, fd);
	attr.use_clockid = 1;
	attr.clockid = 4;	/* CLOCK_MONOTONIC_RAW, which NMIs may ask, too */
	close(other);
	other = event_open(&attr, 0, -1, -1, 0);
	if (other >= 0)
		expect_refused("output to a buffer with another clock", other, fd);
	close(other);
	attr.use_clockid = 0;
	attr.clockid = 0;
	attr.write_backward = 1;
	other = event_open_self(&attr, -1);
	expect_refused("output to a buffer of the other direction", other, fd);
	close(other);
	close_sampling(&own, mapped);
	close_sampling(&ring, fd);
}

/* Map buffers as a user without privileges. Return a bitmap of the failed expectations. */
static int map_as_nobody(int fd)
{
	size_t page = sysconf(_SC_PAGESIZE), most = page;
	long kilobytes = read_number("/proc/sys/kernel/perf_event_mlock_kb");
	struct rlimit none = { 0 };
	int wrong = 0;
	void *map;

	if (setrlimit(RLIMIT_MEMLOCK, &none) || setgid(65534) || setuid(65534))
		return 8;
	map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	wrong |= map == MAP_FAILED;
	if (map != MAP_FAILED)
		munmap(map, 2 * page);
	/* perf_event_mlock_kb limits the memory for each CPU. */
	while (most <= 1024UL * kilobytes * sysconf(_SC_NPROCESSORS_ONLN))
		most *= 2;
	errno = 0;
	map = mmap(NULL, most + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	wrong |= (map != MAP_FAILED || errno != EPERM) << 1;
	return wrong;
}

static void memory_limit(void)
{
	struct perf_event_attr attr;
	int fd, status = 0;
	pid_t pid;

	if (read_number("/proc/sys/kernel/perf_event_paranoid") < 0) {
		ktap_skip("perf_event_paranoid is -1: memory has no limit");
		return;
	}
	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP);
	fd = open_event(&attr);
	pid = fork();
	if (!pid)
		_exit(map_as_nobody(fd));
	waitpid(pid, &status, 0);
	expect_or_say(WIFEXITED(status) && !WEXITSTATUS(status),
		      "as nobody: expected a buffer of a page and EPERM for too much, got:%s%s",
		      WEXITSTATUS(status) & 1 ? " no page" : "",
		      WEXITSTATUS(status) & 2 ? " too much" : "");
	close(fd);
}

static void hangs_up(void)
{
	struct pollfd pollfd = { .events = POLLIN };
	struct perf_event_attr attr;
	struct child child;
	int fd;

	if (!child_start(&child, known_loop, ITERATIONS))
		return;
	attr_sampling(&attr, 1ULL << 40, PERF_SAMPLE_IP);
	attr.disabled = 0;
	fd = event_open(&attr, child.pid, -1, -1, 0);
	if (expect_true("an event on a child opens", fd >= 0) && !ring_map(&ring, fd, PAGES)) {
		pollfd.fd = fd;
		child_run(&child);
		expect_eq("ready while it lives", 0, poll(&pollfd, 1, 0));
		child_end(&child);
		expect_eq("ready when it has ended", 1, poll(&pollfd, 1, 0));
		expect_eq("what for", POLLHUP, pollfd.revents & POLLHUP);
		close_sampling(&ring, fd);
		return;
	}
	child_end(&child);
}

static void no_aux_area(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr;
	void *map;
	int fd;

	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP);
	fd = open_sampling(&ring, &attr, PAGES);
	ring.page->aux_offset = (PAGES + 1) * page;
	ring.page->aux_size = PAGES * page;
	map = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (PAGES + 1) * page);
	expect_or_say(map == MAP_FAILED, "an AUX area of a PMU of counters: expected an error");
	expect_true("its error is EOPNOTSUPP or EINVAL", errno == EOPNOTSUPP || errno == EINVAL);
	event_run_loop(fd, ITERATIONS);
	expect_true("the kernel still writes the buffer", ring_next(&ring));
	close_sampling(&ring, fd);
	attr.aux_output = 1;
	fd = event_open(&attr, 0, -1, -1, 0);
	expect_true("aux_output without an AUX leader is EINVAL or EOPNOTSUPP",
		    fd == -EINVAL || fd == -EOPNOTSUPP);
}

int load_program(int number)
{
	struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = number },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = ARRAY_SIZE(code);
	attr.license = (uintptr_t)"GPL";
	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static void programs(void)
{
	struct perf_event_attr attr;
	int program, fd;

	/* If the program returns 0, the kernel does not write the sample. */
	for (int number = 0; number < 2; number++) {
		struct ring_sum sum = { 0 };

		program = load_program(number);
		if (program < 0) {
			ktap_skip("bpf(2): %s", strerror(errno));
			return;
		}
		attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP);
		fd = open_sampling(&ring, &attr, PAGES);
		expect_eq("PERF_EVENT_IOC_SET_BPF", 0,
			  ioctl(fd, PERF_EVENT_IOC_SET_BPF, program));
		event_run_loop(fd, ITERATIONS);
		ring_drain(&ring, &attr, &sum);
		expect_count("count beside a program", LOOP, event_read(fd));
		if (number)
			expect_range("samples that the program lets pass", SAMPLES - 2,
				     SAMPLES + 2, sum.samples);
		else
			expect_eq("samples that the program drops", 0, sum.samples);
		close_sampling(&ring, fd);
		close(program);
	}
}

static void modified(void)
{
	struct perf_event_attr attr;
	int fd = open_instructions();

	attr_instructions(&attr);
	attr.exclude_user = 1;
	errno = 0;
	expect_eq("PERF_EVENT_IOC_MODIFY_ATTRIBUTES", -1,
		  ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr));
	expect_true("its error is EOPNOTSUPP or EINVAL", errno == EOPNOTSUPP || errno == EINVAL);
	attr.type++;
	errno = 0;
	expect_eq("attributes of another type", -1,
		  ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr));
	expect_eq("their error", EINVAL, errno);
	expect_count("instructions all the same", LOOP, event_count_loop(fd, ITERATIONS));
	close(fd);
}

static const struct check checks[] = {
	{ "ring", "PERF_FLAG_FD_NO_GROUP",
	  MAN "PERF_FLAG_FD_NO_GROUP: \"This flag tells the event to ignore the group_fd parameter except for the purpose of setting up output redirection using the PERF_FLAG_FD_OUTPUT flag.\"",
	  no_group, 0, ON_USER },
	{ "ring", "PERF_FLAG_FD_OUTPUT",
	  MAN "PERF_FLAG_FD_OUTPUT: \"This flag re-routes the event's sampled output to instead be included in the mmap buffer of the event specified by group_fd.\"",
	  fd_output, NEED_SAMPLING, ON_USER | ON_OVERFLOWS | ON_FIRST },
	{ "ring", "impossible outputs are refused", SET_OUTPUT, outputs_that_cannot_be,
	  NEED_SAMPLING },
	{ "ring", "perf_event_mlock_kb and RLIMIT_MEMLOCK",
	  MAN "perf_event_mlock_kb: \"Maximum number of pages an unprivileged user can mlock(2).\"",
	  memory_limit, NEED_SAMPLING | NEED_ROOT },
	{ "ring", "no AUX area, and the buffer is whole",
	  MAN "aux_output: \"This allows normal (non-AUX) events to generate data for AUX events if the hardware supports it.\"",
	  no_aux_area, NEED_SAMPLING },
	{ "sample", "POLLHUP when the task has ended",
	  MAN "\"POLL_HUP is indicated if the event being monitored is attached to a different process and that process exits.\"",
	  hangs_up, NEED_SAMPLING },
	{ "sample", "PERF_EVENT_IOC_SET_BPF",
	  MAN "PERF_EVENT_IOC_SET_BPF: \"This allows attaching a Berkeley Packet Filter (BPF) program\"; linux/bpf.h: BPF_PROG_TYPE_PERF_EVENT",
	  programs, NEED_SAMPLING | NEED_ROOT, ON_USER | ON_OVERFLOWS },
	{ "error", "attributes are not modified",
	  MAN "PERF_EVENT_MODIFY_ATTRIBUTES: \"Currently this is supported only for breakpoint events.\"",
	  modified, 0, ON_USER },
};

const struct check_list output_checks = { checks, ARRAY_SIZE(checks) };
