// SPDX-License-Identifier: GPL-2.0-only
/*
 * notify.c - notification of samples: signals, poll(2), PERF_EVENT_IOC_REFRESH
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>

#include "judge/validate.h"

#define PAGES	64
#define USUAL	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD)

static struct ring ring;

static volatile unsigned int signals, hangups;
static volatile int signal_fd, signal_band;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	signals++;
	hangups += info->si_code == POLL_HUP;
	signal_fd = info->si_fd;
	signal_band = info->si_band;
}

static void ask_for_signals(int fd)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	struct f_owner_ex owner = { F_OWNER_TID, syscall(SYS_gettid) };

	signals = 0;
	hangups = 0;
	/* Realtime signals queue. */
	sigaction(SIGRTMIN, &action, NULL);
	fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK | O_ASYNC);
	fcntl(fd, F_SETSIG, SIGRTMIN);
	fcntl(fd, F_SETOWN_EX, &owner);
}

/*
 * Enable an event for @overflows overflows, after which it has had @total. If the clock counts
 * instructions, the interrupt of the last overflow disables the event within some hundreds of
 * instructions. Each overflow has a signal, the last one with POLL_HUP.
 */
static void refresh_by(int fd, unsigned int overflows, unsigned int total)
{
	u64 count;

	signals = 0;
	hangups = 0;
	expect_eq("PERF_EVENT_IOC_REFRESH", 0, ioctl(fd, PERF_EVENT_IOC_REFRESH, overflows));
	known_loop(ITERATIONS);
	count = event_read(fd);
	expect_range("count until it is disabled", total * 100000,
		     total * 100000 + (pmu.exact ? 2000 : 50000), count);
	expect_range("signals", pmu.exact ? overflows : 1, overflows + !pmu.exact, signals);
	if (pmu.exact)
		expect_eq("signals with POLL_HUP", 1, hangups);
	expect_eq("band of the last signal", POLLHUP, signal_band & POLLHUP);
	known_loop(ITERATIONS);
	expect_eq("count while disabled", count, event_read(fd));
}

static void refresh(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	int fd;

	attr_sampling(&attr, 100000, USUAL);
	attr.wakeup_events = 1;
	fd = open_sampling(&ring, &attr, PAGES);
	ask_for_signals(fd);
	refresh_by(fd, 1, 1);
	refresh_by(fd, 3, 4);
	refresh_by(fd, 15, 19);
	ring_drain(&ring, &attr, &sum);
	expect_eq("samples until it is disabled", 19, sum.samples);
	/* A refresh of an enabled event adds to the overflows that are left. */
	signals = 0;
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 5);
	known_loop(ITERATIONS / 10);
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 5);
	known_loop(ITERATIONS);
	memset(&sum, 0, sizeof(sum));
	ring_drain(&ring, &attr, &sum);
	expect_eq("samples of two refreshes", 10, sum.samples);
	close_sampling(&ring, fd);
}

static void signal_each(void)
{
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	int fd;

	attr_sampling(&attr, 100000, USUAL);
	attr.wakeup_events = 1;
	fd = open_sampling(&ring, &attr, PAGES);
	ask_for_signals(fd);
	event_run_loop(fd, ITERATIONS);
	ring_drain(&ring, &attr, &sum);
	expect_most("signals", 1, "samples", sum.samples, signals);
	expect_eq("descriptor of the signal", fd, signal_fd);
	close_sampling(&ring, fd);
}

static volatile unsigned int traps, wrong_traps;
static volatile u64 trap_data;

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	traps++;
	/* TRAP_PERF; si_perf_data and the address follow si_addr. */
	wrong_traps += info->si_code != 6;
	memcpy((void *)&trap_data, (char *)&info->si_addr + sizeof(void *), sizeof(trap_data));
}

static void sigtrap(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	struct perf_event_attr attr;
	int fd;

	attr_sampling(&attr, 100000, PERF_SAMPLE_IP);
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	attr.sig_data = 0x1234567890abcdefULL;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd == -EINVAL) {
		ktap_skip("sigtrap is not known to this kernel");
		return;
	}
	expect_true("sigtrap is accepted", fd >= 0);
	traps = 0;
	wrong_traps = 0;
	sigaction(SIGTRAP, &action, NULL);
	event_run_loop(fd, ITERATIONS);
	expect_range("signals", LOOP / 100000 - 1, LOOP / 100000 + 1, traps);
	expect_eq("signals with another code than TRAP_PERF", 0, wrong_traps);
	expect_eq("data of the signal", attr.sig_data, trap_data);
	close(fd);
}

static void wakeups(void)
{
	struct pollfd pollfd = { .events = POLLIN };
	struct perf_event_attr attr;
	int fd;

	attr_sampling(&attr, 100000, USUAL);
	attr.wakeup_events = 5;
	fd = open_sampling(&ring, &attr, PAGES);
	pollfd.fd = fd;
	event_enable(fd);
	known_loop(150000);
	expect_eq("ready after three samples", 0, poll(&pollfd, 1, 0));
	known_loop(150000);
	expect_eq("ready after six samples", 1, poll(&pollfd, 1, 0));
	expect_eq("what it is ready for", POLLIN, pollfd.revents & POLLIN);
	expect_eq("ready again at once", 0, poll(&pollfd, 1, 0));
	close_sampling(&ring, fd);
}

static void watermark(void)
{
	struct pollfd pollfd = { .events = POLLIN };
	struct perf_event_attr attr;
	int fd;

	attr_sampling(&attr, 100000, PERF_SAMPLE_IP);
	attr.watermark = 1;
	/* A sample with only IP has 16 bytes. */
	attr.wakeup_watermark = 160;
	fd = open_sampling(&ring, &attr, PAGES);
	pollfd.fd = fd;
	event_enable(fd);
	known_loop(250000);
	expect_eq("ready below the watermark", 0, poll(&pollfd, 1, 0));
	known_loop(750000);
	expect_eq("ready above the watermark", 1, poll(&pollfd, 1, 0));
	close_sampling(&ring, fd);
}

/* A task that waits in poll(2) wakes for the samples of another. */
static void wakes_another(void)
{
	struct pollfd pollfd = { .events = POLLIN };
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	struct child child;
	int fd;

	if (!child_start(&child, known_loop, 5 * ITERATIONS))
		return;
	attr_sampling(&attr, 1000000, USUAL);
	attr.wakeup_events = 1;
	attr.disabled = 0;
	fd = event_open(&attr, child.pid, -1, -1, 0);
	fd = map_sampling("an event on a child", &ring, fd, PAGES);
	pollfd.fd = fd;
	child_go(&child);
	expect_eq("ready descriptors", 1, poll(&pollfd, 1, 10000));
	expect_eq("what it is ready for", POLLIN, pollfd.revents & POLLIN);
	ring_drain(&ring, &attr, &sum);
	expect_range("samples when woken", 1, pmu.exact ? 9 : 10, sum.samples);
	child_end(&child);
	ring_drain(&ring, &attr, &sum);
	expect_range("samples when the child has ended", 10, pmu.exact ? 10 : 11, sum.samples);
	close_sampling(&ring, fd);
}

static const struct check checks[] = {
	{ "sample", "poll(2) wakes for another task's samples",
	  MAN "\"Overflow conditions can be captured by monitoring the event file descriptor with poll(2), select(2), or epoll(7).\"",
	  wakes_another, NEED_SAMPLING, ON_USER | ON_OVERFLOWS },
	{ "sample", "PERF_EVENT_IOC_REFRESH", REFRESHED, refresh, NEED_SAMPLING, ON_USER | ON_OVERFLOWS },
	{ "sample", "a signal for each overflow",
	  MAN "\"Alternatively, the overflow events can be captured via sa signal handler, by enabling I/O signaling on the file descriptor\"",
	  signal_each, NEED_SAMPLING },
	{ "sample", "sigtrap",
	  MAN "sigtrap: \"This enables synchronous signal delivery of SIGTRAP on event overflow.\", sig_data: \"This data will be copied to user's signal handler (through si_perf in the siginfo_t) to disambiguate which event triggered the signal.\"",
	  sigtrap,
	  NEED_SAMPLING, ON_USER | ON_OVERFLOWS },
	{ "sample", "wakeup_events",
	  MAN "\"This union sets how many samples (wakeup_events) or bytes (wakeup_watermark) happen before an overflow notification happens.\"",
	  wakeups,
	  NEED_SAMPLING, ON_USER | ON_OVERFLOWS },
	{ "sample", "wakeup_watermark",
	  MAN "\"If set, have an overflow notification happen when we cross the wakeup_watermark boundary.\"",
	  watermark,
	  NEED_SAMPLING, ON_USER | ON_OVERFLOWS },
};

const struct check_list notify_checks = { checks, ARRAY_SIZE(checks) };
