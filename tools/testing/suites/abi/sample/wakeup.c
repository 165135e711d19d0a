// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakeup.c - signals, poll(2) and PERF_EVENT_IOC_REFRESH
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sampler.h"

static struct sampler sampler;

static volatile sig_atomic_t signals_in, signals_hup, signals_other;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_code == POLL_IN)
		signals_in++;
	else if (info->si_code == POLL_HUP)
		signals_hup++;
	else
		signals_other++;
}

static void signals_start(int fd)
{
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_SIGINFO };

	signals_in = 0;
	signals_hup = 0;
	signals_other = 0;
	sigaction(SIGRTMIN, &action, NULL);
	fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK | O_ASYNC);
	fcntl(fd, F_SETSIG, SIGRTMIN);
	fcntl(fd, F_SETOWN, getpid());
}

/* Expect all refreshes so far, including this one, to have allowed @total overflows. */
static void check_refresh(struct sampler *s, u64 refreshes, u64 total)
{
	u64 after;

	signals_in = 0;
	signals_hup = 0;
	expect_eq("refresh", 0,
		  ioctl(s->fd, PERF_EVENT_IOC_REFRESH, refreshes));
	known_loop(TEN_MILLION);
	after = sampler_count(s);
	expect_eq("signals with POLL_IN", refreshes - 1, signals_in);
	expect_eq("signals with POLL_HUP", 1, signals_hup);
	/* The event counts on for some instructions: its interrupt is late. */
	expect_range("counts until the event is disabled", total * 100000,
		     total * 100000 + 2000, after);
	known_loop(TEN_MILLION);
	expect_eq("count of the disabled event", after, sampler_count(s));
}

static void refresh(void)
{
	struct sampler *s = &sampler;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 100000);
	s->attr.wakeup_events = 1;
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	signals_start(s->fd);
	check_refresh(s, 1, 1);
	check_refresh(s, 5, 6);
	check_refresh(s, 17, 23);
	ring_drain(&s->ring, &s->attr, &s->sum);
	expect_eq("samples", 23, s->sum.samples);
	expect_eq("signals of another kind", 0, signals_other);
out:
	sampler_close(s);
}

/* A refresh of an enabled event adds to the remaining overflows. */
static void refresh_adds(void)
{
	struct sampler *s = &sampler;

	sampler_init(s, ARCH_EVENT_CYCLES, 100000);
	s->attr.wakeup_events = 1;
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	signals_start(s->fd);
	ioctl(s->fd, PERF_EVENT_IOC_REFRESH, 10);
	known_loop(250000 / LOOP_INSNS);
	ioctl(s->fd, PERF_EVENT_IOC_REFRESH, 10);
	known_loop(TEN_MILLION);
	expect_eq("signals with POLL_IN", 19, signals_in);
	expect_eq("signals with POLL_HUP", 1, signals_hup);
out:
	sampler_close(s);
}

static void signal_per_overflow(void)
{
	struct sampler *s = &sampler;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 100000);
	s->attr.wakeup_events = 1;
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	signals_start(s->fd);
	event_enable(s->fd);
	known_loop(TEN_MILLION);
	event_disable(s->fd);
	ring_drain(&s->ring, &s->attr, &s->sum);
	expect_eq("signals, one per sample", s->sum.samples, signals_in);
	expect_range("samples", 99, 103, s->sum.samples);
out:
	sampler_close(s);
}

static int poll_now(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	if (poll(&pollfd, 1, 0) < 0)
		return -errno;
	return pollfd.revents;
}

static void wakeup_events(void)
{
	struct sampler *s = &sampler;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 100000);
	s->attr.wakeup_events = 4;
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	sampler_run(s, 350000 / LOOP_INSNS);
	expect_eq("samples", 3, s->sum.samples);
	expect_eq("poll after three samples of four", 0, poll_now(s->fd));
	sampler_run(s, 100000 / LOOP_INSNS);
	expect_eq("samples", 4, s->sum.samples);
	expect_eq("poll after four samples", POLLIN, poll_now(s->fd));
	expect_eq("poll once more", 0, poll_now(s->fd));
	sampler_run(s, 400000 / LOOP_INSNS);
	expect_eq("poll after eight samples", POLLIN, poll_now(s->fd));
out:
	sampler_close(s);
}

static void wakeup_watermark(void)
{
	const unsigned int record = 8 + 6 * 8;
	struct sampler *s = &sampler;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 100000);
	s->attr.watermark = 1;
	s->attr.wakeup_watermark = 5 * record;
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	event_enable(s->fd);
	known_loop(450000 / LOOP_INSNS);
	event_disable(s->fd);
	expect_eq("poll below the watermark", 0, poll_now(s->fd));
	event_enable(s->fd);
	known_loop(300000 / LOOP_INSNS);
	event_disable(s->fd);
	expect_eq("poll above the watermark", POLLIN, poll_now(s->fd));
	ring_drain(&s->ring, &s->attr, &s->sum);
	expect_eq("samples", 7, s->sum.samples);
out:
	sampler_close(s);
}

/* Another task's samples wake a task that sleeps in poll(). */
static void poll_wakes(void)
{
	struct sampler *s = &sampler;
	struct pollfd pollfd;
	pid_t child;
	int go[2];
	char c = 0;

	if (pipe(go))
		return;
	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 1000000);
	s->attr.wakeup_events = 1;
	fflush(stdout);
	child = fork();
	if (!child) {
		if (read(go[0], &c, 1) == 1)
			known_loop(TEN_MILLION);
		_exit(0);
	}
	s->attr.disabled = 0;
	s->fd = event_open(&s->attr, child, -1, -1, 0);
	if (s->fd < 0 || ring_map(&s->ring, s->fd, RING_PAGES)) {
		ktap_fail("open on a child: got %d", s->fd);
		goto out;
	}
	pollfd.fd = s->fd;
	pollfd.events = POLLIN;
	if (write(go[1], &c, 1) != 1)
		goto out;
	expect_eq("poll of another task's samples", 1,
		  poll(&pollfd, 1, 10000));
	expect_eq("what it says", POLLIN, pollfd.revents & POLLIN);
	ring_drain(&s->ring, &s->attr, &s->sum);
	expect_range("samples when woken", 1, 9, s->sum.samples);
	waitpid(child, NULL, 0);
	child = -1;
	ring_drain(&s->ring, &s->attr, &s->sum);
	expect_eq("samples when it ended", 10, s->sum.samples);
out:
	if (child > 0)
		waitpid(child, NULL, 0);
	close(go[0]);
	close(go[1]);
	sampler_close(s);
}

static volatile sig_atomic_t traps;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	traps++;
}

static void sigtrap(void)
{
	struct sigaction action = { .sa_sigaction = on_trap,
				    .sa_flags = SA_SIGINFO };
	struct perf_event_attr attr;
	int fd;

	traps = 0;
	sigaction(SIGTRAP, &action, NULL);
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = 100000;
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	event_enable(fd);
	known_loop(TEN_MILLION);
	event_disable(fd);
	expect_range("traps", 99, 103, traps);
	close(fd);
}

static const struct ktap_case cases[] = {
	{ "PERF_EVENT_IOC_REFRESH counts overflows down", refresh },
	{ "PERF_EVENT_IOC_REFRESH adds", refresh_adds },
	{ "a signal per overflow", signal_per_overflow },
	{ "SIGTRAP on overflow", sigtrap },
	{ "poll(2) is ready after wakeup_events samples", wakeup_events },
	{ "poll(2) is ready above wakeup_watermark bytes", wakeup_watermark },
	{ "poll(2) wakes for another task's samples", poll_wakes },
};

const struct ktap_list sample_wakeup_cases = { cases, ARRAY_SIZE(cases) };
