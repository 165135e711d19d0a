// SPDX-License-Identifier: GPL-2.0-only
/*
 * sample.c - sampling: how often, when, and who is told
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "validate.h"

#define PAGES	64
#define USUAL	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD)

static struct ring ring;

static int open_sampling(struct perf_event_attr *attr, unsigned int pages)
{
	int fd = event_open_self(attr, -1);

	if (fd >= 0 && ring_map(&ring, fd, pages)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void close_sampling(int fd)
{
	ring_unmap(&ring);
	close(fd);
}

static void period_of(u64 period)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	u64 count;
	int fd;

	attr_sampling(&attr, period, USUAL);
	fd = open_sampling(&attr, PAGES);
	if (fd < 0)
		return;
	event_enable(fd);
	known_loop(10 * ITERATIONS);
	event_disable(fd);
	count = event_read(fd);
	ring_drain(&ring, &attr, &sum);
	expect_count("count beside samples", 10 * LOOP, count);
	if (!sum.throttles) {
		expect_range("samples", count / period - 1, count / period + 1, sum.samples);
		expect_range("sum of periods", count - period, count + period, sum.periods);
	}
	expect_eq("samples of another period", 0, sum.periods % period);
	expect_range("samples inside the loop", sum.samples - sum.samples / 100 - 2, sum.samples,
		     sum.inside);
	expect_eq("samples older than the one before", 0, sum.backwards);
	expect_eq("lost samples", 0, sum.lost);
	close_sampling(fd);
}

static void period_long(void)
{
	period_of(1000003);
}

static void period_middle(void)
{
	period_of(100000);
}

static void period_short(void)
{
	period_of(20011);
}

static void stops_between(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	u64 count;
	int fd, i;

	attr_sampling(&attr, 100000, USUAL);
	fd = open_sampling(&attr, PAGES);
	if (fd < 0)
		return;
	for (i = 0; i < 100; i++) {
		event_enable(fd);
		known_loop(ITERATIONS / 30);
		event_disable(fd);
	}
	count = event_read(fd);
	ring_drain(&ring, &attr, &sum);
	expect_range("samples of a hundred short runs", count / 100000 - 1, count / 100000 + 1,
		     sum.samples);
	close_sampling(fd);
}

/* Wherever in the kernel it is stopped, what it has counted by then is sampled. */
static void stops_anywhere(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	u64 samples;
	int fd, i;

	attr_sampling(&attr, 10007, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD);
	attr.exclude_kernel = 0;
	fd = open_sampling(&attr, PAGES);
	if (fd < 0)
		return;
	for (i = 0; i < 3000; i++) {
		event_enable(fd);
		event_disable(fd);
	}
	samples = event_read(fd) / 10007;
	ring_drain(&ring, &attr, &sum);
	if (!sum.throttles)
		expect_range("samples of 3000 short runs", samples - samples / 50 - 2, samples + 2,
			     sum.samples);
	close_sampling(fd);
}

/* One that is taken late is no reason for the next to be late. */
static void periods_follow(void)
{
	const struct perf_event_header *header;
	struct perf_event_attr attr;
	unsigned int throttles = 0;
	struct sample sample;
	u64 ends = 0;
	int fd;

	attr_sampling(&attr, 20011, PERF_SAMPLE_IP | PERF_SAMPLE_READ);
	fd = open_sampling(&attr, PAGES);
	if (fd < 0)
		return;
	event_enable(fd);
	known_loop(10 * ITERATIONS);
	event_disable(fd);
	sample.read.count = 0;
	while ((header = ring_next(&ring))) {
		throttles += header->type == PERF_RECORD_THROTTLE;
		if (sample_parse(header, &attr, &sample))
			ends += attr.sample_period;
	}
	if (!throttles)
		expect_range("count at the last sample", ends, ends + attr.sample_period / 5,
			     sample.read.count);
	close_sampling(fd);
}

/* While the kernel looks for the period that makes a frequency, it changes. */
static void period_is_counted(void)
{
	const struct perf_event_header *header;
	unsigned int nr = 0, wrong = 0, i;
	struct perf_event_attr attr;
	struct sample sample;
	u64 last = 0, counted;
	int fd;

	attr_sampling(&attr, 0, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ);
	attr.freq = 1;
	attr.sample_freq = 1000;
	fd = open_sampling(&attr, PAGES);
	if (fd < 0)
		return;
	event_enable(fd);
	for (i = 0; i < 50; i++)
		known_loop(ITERATIONS);
	event_disable(fd);
	while ((header = ring_next(&ring))) {
		if (!sample_parse(header, &attr, &sample))
			continue;
		counted = sample.read.count - last;
		last = sample.read.count;
		nr++;
		wrong += counted + counted / 16 + 500 < sample.period ||
			 sample.period + counted / 16 + 500 < counted;
	}
	expect_range("samples", 20, 100000, nr);
	/* Now and then the kernel cuts a period short. */
	expect_range("samples with another PERIOD than was counted since the one before", 0,
		     3 + nr / 50, wrong);
	close_sampling(fd);
}

static void frequency(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	u64 start, wall;
	int fd, round;

	attr_sampling(&attr, 0, USUAL);
	attr.freq = 1;
	attr.sample_freq = 1000;
	fd = open_sampling(&attr, PAGES);
	if (fd < 0)
		return;
	event_enable(fd);
	/* It takes some samples to find the period: those of the first round. */
	for (round = 0; round < 2; round++) {
		memset(&sum, 0, sizeof(sum));
		start = now_ns(CLOCK_THREAD_CPUTIME_ID);
		do {
			known_loop(ITERATIONS / 10);
			wall = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
		} while (wall < 250000000);
		ring_drain(&ring, &attr, &sum);
	}
	event_disable(fd);
	expect_range("samples of a quarter of a second", pmu.exact ? 200 : 50,
		     pmu.exact ? 300 : 500, sum.samples);
	close_sampling(fd);
}

static void period_set(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	u64 period = 50000;
	int fd;

	attr_sampling(&attr, 1000000, USUAL);
	fd = open_sampling(&attr, PAGES);
	if (fd < 0)
		return;
	expect_eq("PERF_EVENT_IOC_PERIOD while disabled", 0,
		  ioctl(fd, PERF_EVENT_IOC_PERIOD, &period));
	event_enable(fd);
	known_loop(ITERATIONS);
	ring_drain(&ring, &attr, &sum);
	expect_range("samples with the new period", LOOP / period - 2, LOOP / period + 2,
		     sum.samples);
	expect_eq("last period", period, sum.last_period);
	memset(&sum, 0, sizeof(sum));
	period = 200000;
	expect_eq("PERF_EVENT_IOC_PERIOD while it runs", 0,
		  ioctl(fd, PERF_EVENT_IOC_PERIOD, &period));
	known_loop(5 * ITERATIONS);
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	expect_range("samples with the newest period", 5 * LOOP / period - 2, 5 * LOOP / period + 2,
		     sum.samples);
	expect_eq("last period", period, sum.last_period);
	close_sampling(fd);
}

/* The new period begins at once, not when the long one before it has ended. */
static void period_cut_short(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	u64 period = 50000;
	int fd;

	attr_sampling(&attr, 1ULL << 40, USUAL);
	fd = open_sampling(&attr, PAGES);
	if (fd < 0)
		return;
	event_enable(fd);
	known_loop(ITERATIONS);
	expect_eq("PERF_EVENT_IOC_PERIOD while it runs", 0,
		  ioctl(fd, PERF_EVENT_IOC_PERIOD, &period));
	known_loop(ITERATIONS);
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	/* None ends at once: what was counted before is of the long period. */
	expect_range("samples with the new period", LOOP / period - 2,
		     LOOP / period + !pmu.exact, sum.samples);
	close_sampling(fd);
}

static volatile unsigned int signals;
static volatile int signal_fd, signal_band;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	signals++;
	signal_fd = info->si_fd;
	signal_band = info->si_band;
}

static void ask_for_signals(int fd)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	struct f_owner_ex owner = { F_OWNER_TID, syscall(SYS_gettid) };

	signals = 0;
	sigaction(SIGIO, &action, NULL);
	fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK | O_ASYNC);
	fcntl(fd, F_SETSIG, SIGIO);
	fcntl(fd, F_SETOWN_EX, &owner);
}

static void refresh(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	u64 count;
	int fd;

	attr_sampling(&attr, 100000, USUAL);
	attr.wakeup_events = 1;
	fd = open_sampling(&attr, PAGES);
	if (fd < 0)
		return;
	ask_for_signals(fd);
	expect_eq("PERF_EVENT_IOC_REFRESH", 0, ioctl(fd, PERF_EVENT_IOC_REFRESH, 3));
	known_loop(ITERATIONS);
	count = event_read(fd);
	ring_drain(&ring, &attr, &sum);
	expect_eq("samples until it is disabled", 3, sum.samples);
	expect_range("count until it is disabled", 300000, 300000 + 50000, count);
	expect_range("signals", 1, 4, signals);
	expect_eq("band of the last signal", POLL_HUP == 6 ? POLLHUP : 0, signal_band & POLLHUP);
	known_loop(ITERATIONS);
	expect_eq("count while disabled", count, event_read(fd));
	memset(&sum, 0, sizeof(sum));
	expect_eq("PERF_EVENT_IOC_REFRESH again", 0, ioctl(fd, PERF_EVENT_IOC_REFRESH, 2));
	known_loop(ITERATIONS);
	ring_drain(&ring, &attr, &sum);
	expect_eq("samples of the second refresh", 2, sum.samples);
	close_sampling(fd);
}

static void signal_each(void)
{
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	int fd;

	attr_sampling(&attr, 100000, USUAL);
	attr.wakeup_events = 1;
	fd = open_sampling(&attr, PAGES);
	if (fd < 0)
		return;
	ask_for_signals(fd);
	event_enable(fd);
	known_loop(ITERATIONS);
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	expect_range("signals", sum.samples - 1, sum.samples, signals);
	expect_eq("descriptor of the signal", fd, signal_fd);
	close_sampling(fd);
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
	expect_true("sigtrap is taken", fd >= 0);
	traps = 0;
	wrong_traps = 0;
	sigaction(SIGTRAP, &action, NULL);
	event_enable(fd);
	known_loop(ITERATIONS);
	event_disable(fd);
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
	fd = open_sampling(&attr, PAGES);
	if (fd < 0)
		return;
	pollfd.fd = fd;
	event_enable(fd);
	known_loop(150000);
	expect_eq("ready after three samples", 0, poll(&pollfd, 1, 0));
	known_loop(150000);
	expect_eq("ready after six samples", 1, poll(&pollfd, 1, 0));
	expect_eq("what it is ready for", POLLIN, pollfd.revents & POLLIN);
	expect_eq("ready again at once", 0, poll(&pollfd, 1, 0));
	close_sampling(fd);
}

static void watermark(void)
{
	struct pollfd pollfd = { .events = POLLIN };
	struct perf_event_attr attr;
	int fd;

	attr_sampling(&attr, 100000, PERF_SAMPLE_IP);
	attr.watermark = 1;
	/* A sample of IP has 16 bytes. */
	attr.wakeup_watermark = 160;
	fd = open_sampling(&attr, PAGES);
	if (fd < 0)
		return;
	pollfd.fd = fd;
	event_enable(fd);
	known_loop(250000);
	expect_eq("ready below the watermark", 0, poll(&pollfd, 1, 0));
	known_loop(750000);
	expect_eq("ready above the watermark", 1, poll(&pollfd, 1, 0));
	close_sampling(fd);
}

static void kernel_samples(void)
{
	const struct perf_event_header *header;
	unsigned int kernel = 0, user = 0, wrong = 0, i;
	struct perf_event_attr attr;
	struct sample sample;
	int fd;

	attr_sampling(&attr, 10007, USUAL);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	fd = open_sampling(&attr, PAGES);
	if (fd < 0)
		return;
	event_enable(fd);
	for (i = 0; i < 20000; i++)
		syscall(SYS_getppid);
	event_disable(fd);
	while ((header = ring_next(&ring))) {
		unsigned int mode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;

		if (!sample_parse(header, &attr, &sample))
			continue;
		kernel += mode == PERF_RECORD_MISC_KERNEL;
		user += mode == PERF_RECORD_MISC_USER;
		wrong += mode == PERF_RECORD_MISC_KERNEL && !(sample.ip >> 63);
		wrong += mode == PERF_RECORD_MISC_USER && sample.ip >> 63;
	}
	expect_range("samples in the kernel", 20, 100000, kernel);
	/* An overflow on the way back is taken there. */
	expect_range("samples in user space", 0, kernel, user);
	expect_eq("samples whose mode and address disagree", 0, wrong);
	close_sampling(fd);
}

static void user_sees_user(void)
{
	const struct perf_event_header *header;
	unsigned int wrong = 0, i, nr = 0;
	struct perf_event_attr attr;
	struct sample sample;
	int fd;

	attr_sampling(&attr, 997, PERF_SAMPLE_IP);
	fd = open_sampling(&attr, 512);
	if (fd < 0)
		return;
	event_enable(fd);
	for (i = 0; i < 5000; i++)
		syscall(SYS_getppid);
	event_disable(fd);
	while ((header = ring_next(&ring))) {
		if (sample_parse(header, &attr, &sample)) {
			nr++;
			wrong += sample.ip >> 63;
		}
	}
	expect_range("samples", 1, 100000, nr);
	expect_eq("samples in the kernel of an event that excludes it", 0, wrong);
	close_sampling(fd);
}

static void cpu_wide(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	int fd;

	run_on(pmu.cpu);
	attr_sampling(&attr, 100000, USUAL);
	fd = event_open(&attr, -1, pmu.cpu, -1, 0);
	if (fd < 0 || ring_map(&ring, fd, PAGES)) {
		ktap_fail("a sampling event on a CPU: expected a buffer");
		return;
	}
	event_enable(fd);
	known_loop(5 * ITERATIONS);
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	expect_range("samples inside the loop", 5 * LOOP / 100000 - 2, 5 * LOOP / 100000 + 2,
		     sum.inside);
	close_sampling(fd);
}

static void inherited(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	int fd, i;

	run_on(pmu.cpu);
	attr_sampling(&attr, 100000, USUAL);
	attr.inherit = 1;
	/* Children share a buffer only of an event that is for one CPU. */
	fd = event_open(&attr, 0, pmu.cpu, -1, 0);
	if (fd < 0 || ring_map(&ring, fd, PAGES)) {
		ktap_fail("an inherited sampling event: expected a buffer");
		return;
	}
	event_enable(fd);
	for (i = 0; i < 3; i++) {
		if (!fork()) {
			known_loop(2 * ITERATIONS);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	expect_range("samples of three children", 3 * (2 * LOOP / 100000) - 3,
		     3 * (2 * LOOP / 100000) + 3, sum.inside);
	close_sampling(fd);
}

/* Two events that sample, and one that does not, side by side. */
static void side_by_side(void)
{
	static struct ring other;
	struct ring_sum sums[2] = { 0 };
	struct perf_event_attr attr;
	int fds[2], plain;

	attr_sampling(&attr, 100000, USUAL);
	fds[0] = open_sampling(&attr, PAGES);
	attr.sample_period = 70001;
	fds[1] = event_open_self(&attr, -1);
	if (fds[0] < 0 || fds[1] < 0 || ring_map(&other, fds[1], PAGES))
		return;
	plain = open_instructions();
	event_enable(fds[0]);
	event_enable(fds[1]);
	event_enable(plain);
	known_loop(5 * ITERATIONS);
	event_disable(plain);
	event_disable(fds[1]);
	event_disable(fds[0]);
	ring_drain(&ring, &attr, &sums[0]);
	ring_drain(&other, &attr, &sums[1]);
	expect_range("samples of one", event_read(fds[0]) / 100000 - 1,
		     event_read(fds[0]) / 100000 + 1, sums[0].samples);
	expect_range("samples of the other", event_read(fds[1]) / 70001 - 1,
		     event_read(fds[1]) / 70001 + 1, sums[1].samples);
	expect_range("plain count beside them", 5 * LOOP, 5 * LOOP + count_slack(5 * LOOP) + 1000,
		     event_read(plain));
	ring_unmap(&other);
	close(fds[1]);
	close(plain);
	close_sampling(fds[0]);
}

static void all_sample(void)
{
	static struct ring rings[64];
	struct perf_event_attr attr;
	int fds[64], nr, i;

	for (nr = 0; nr < (int)pmu.group && nr < 64; nr++) {
		attr_sampling(&attr, 50000, USUAL);
		fds[nr] = event_open_self(&attr, -1);
		if (fds[nr] < 0 || ring_map(&rings[nr], fds[nr], 8))
			break;
	}
	for (i = 0; i < nr; i++)
		event_enable(fds[i]);
	known_loop(5 * ITERATIONS);
	for (i = 0; i < nr; i++)
		event_disable(fds[i]);
	for (i = 0; i < nr; i++) {
		struct ring_sum sum = { 0 };
		u64 count = event_read(fds[i]);

		ring_drain(&rings[i], &attr, &sum);
		expect_range("samples on each counter", count / 50000 - 1, count / 50000 + 1,
			     sum.samples);
		ring_unmap(&rings[i]);
	}
	close_all(fds, nr);
}

static void storm_of(u64 period, bool kernel)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	u64 count;
	int fd;

	attr_sampling(&attr, period, PERF_SAMPLE_IP);
	attr.exclude_kernel = !kernel;
	fd = open_sampling(&attr, 8);
	if (fd < 0)
		return;
	event_enable(fd);
	known_loop(2 * ITERATIONS);
	event_disable(fd);
	count = event_read(fd);
	ring_drain(&ring, &attr, &sum);
	expect_range("samples", 1, count + 1, sum.samples + sum.lost);
	close_sampling(fd);
	expect_sane();
}

static void storm_user(void)
{
	storm_of(1, false);
	storm_of(100, false);
}

static void storm_kernel(void)
{
	storm_of(1, true);
	storm_of(100, true);
}

static void throttled(void)
{
	long rate = read_number("/proc/sys/kernel/perf_event_max_sample_rate");
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	int fd, i;

	if (write_number("/proc/sys/kernel/perf_event_max_sample_rate", 1000)) {
		ktap_skip("the highest rate cannot be set");
		return;
	}
	attr_sampling(&attr, 1000, PERF_SAMPLE_IP | PERF_SAMPLE_TIME);
	fd = open_sampling(&attr, 512);
	if (fd < 0)
		return;
	event_enable(fd);
	for (i = 0; i < 20; i++)
		known_loop(ITERATIONS);
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	expect_range("throttle records", 1, 100000, sum.throttles);
	expect_range("unthrottle records", sum.throttles - 1, sum.throttles, sum.unthrottles);
	close_sampling(fd);
	write_number("/proc/sys/kernel/perf_event_max_sample_rate", rate);
}

static void long_period(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	int fd;

	attr_sampling(&attr, 1ULL << 40, USUAL);
	fd = open_sampling(&attr, 8);
	if (fd < 0)
		return;
	event_enable(fd);
	known_loop(5 * ITERATIONS);
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	expect_eq("samples before the period ends", 0, sum.samples);
	expect_count("count", 5 * LOOP, event_read(fd));
	close_sampling(fd);
}

#define PERIODS	MAN "sample_period: a sampling event generates an overflow every N events"
#define EXACT_AFTER MAN "perf_event_max_sample_rate: overflows above it are throttled"

static const struct check checks[] = {
	{ "sample", "every 1000003", PERIODS, period_long, NEED_SAMPLING },
	{ "sample", "every 100000", PERIODS, period_middle, NEED_SAMPLING },
	{ "sample", "every 20011", PERIODS, period_short, NEED_SAMPLING },
	{ "sample", "stopped a hundred times between", PERIODS, stops_between, NEED_SAMPLING },
	{ "sample", "stopped at any moment", PERIODS, stops_anywhere,
	  NEED_SAMPLING | NEED_KERNEL },
	{ "sample", "periods follow each other", PERIODS, periods_follow, NEED_SAMPLING },
	{ "sample", "PERIOD is what was counted",
	  MAN "PERF_SAMPLE_PERIOD: the sampling period", period_is_counted, NEED_SAMPLING },
	{ "sample", "a period of 2^40", PERIODS, long_period, NEED_SAMPLING },
	{ "sample", "1000 times a second",
	  MAN "freq: sample_freq is the number of samples per second", frequency, NEED_SAMPLING },
	{ "sample", "PERF_EVENT_IOC_PERIOD",
	  MAN "PERF_EVENT_IOC_PERIOD: updates the overflow period, at once since Linux 3.14",
	  period_set, NEED_SAMPLING },
	{ "sample", "PERF_EVENT_IOC_PERIOD cuts a long period short",
	  MAN "PERF_EVENT_IOC_PERIOD: updates the overflow period, at once since Linux 3.14",
	  period_cut_short, NEED_SAMPLING },
	{ "sample", "PERF_EVENT_IOC_REFRESH",
	  MAN "PERF_EVENT_IOC_REFRESH: enables for N overflows, after which it is disabled",
	  refresh, NEED_SAMPLING },
	{ "sample", "a signal for each overflow",
	  MAN "signal on overflow: fcntl(F_SETSIG) and O_ASYNC", signal_each, NEED_SAMPLING },
	{ "sample", "sigtrap",
	  MAN "sigtrap: synchronous SIGTRAP on event overflow, with sig_data", sigtrap,
	  NEED_SAMPLING },
	{ "sample", "wakeup_events",
	  MAN "wakeup_events: how many samples happen before an overflow notification", wakeups,
	  NEED_SAMPLING },
	{ "sample", "wakeup_watermark",
	  MAN "wakeup_watermark: how many bytes happen before an overflow notification", watermark,
	  NEED_SAMPLING },
	{ "sample", "in the kernel",
	  MAN "PERF_RECORD_MISC_KERNEL: the sample happened in the kernel", kernel_samples,
	  NEED_SAMPLING | NEED_KERNEL },
	{ "sample", "no kernel addresses for user events",
	  MAN "exclude_kernel: excludes events that happen in kernel space", user_sees_user,
	  NEED_SAMPLING },
	{ "sample", "all of a CPU", PERIODS, cpu_wide, NEED_SAMPLING | NEED_CPU_WIDE },
	{ "sample", "inherited", MAN "inherit: counts events of child tasks as well", inherited,
	  NEED_SAMPLING },
	{ "sample", "two periods and a plain count side by side", PERIODS, side_by_side,
	  NEED_SAMPLING | NEED_GROUPS },
	{ "sample", "on every counter", PERIODS, all_sample, NEED_SAMPLING },
	{ "storm", "user space", EXACT_AFTER, storm_user, NEED_SAMPLING },
	{ "storm", "and the kernel", EXACT_AFTER, storm_kernel, NEED_SAMPLING | NEED_KERNEL },
	{ "storm", "throttled and unthrottled",
	  MAN "PERF_RECORD_THROTTLE: the event was stopped as it overflowed too often", throttled,
	  NEED_SAMPLING | NEED_ROOT },
};

const struct check_list sample_checks = { checks, ARRAY_SIZE(checks) };
