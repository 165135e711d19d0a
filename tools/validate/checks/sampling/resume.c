// SPDX-License-Identifier: GPL-2.0-only
/*
 * resume.c - sampling: periods that go on after a stop, a context switch and a turn of other
 * events; overflows whose interrupt is late
 */
#define _GNU_SOURCE
#include <limits.h>
#include <sys/mman.h>

#include "judge/validate.h"

#define PAGES	256
#define USUAL	(PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD)
#define THROTTLED	"the kernel throttles so short a period: see kernel.perf_event_max_sample_rate"

static struct ring ring;

/* Open an event of this task's user space and kernel. */
static int open_both(struct perf_event_attr *attr, u64 period)
{
	attr_sampling(attr, period, USUAL);
	attr->exclude_kernel = 0;
	return open_sampling(&ring, attr, PAGES);
}

/* Stop the event. Expect one sample for each counted period, or @fewer less, or @more more. */
static void judge_samples(const struct perf_event_attr *attr, int fd, u64 fewer, u64 more)
{
	struct ring_sum sum = { 0 };

	event_disable(fd);
	ring_drain(&ring, attr, &sum);
	expect_eq("lost samples", 0, sum.lost);
	expect_eq("sum of the periods", sum.samples * attr->sample_period, sum.periods);
	if (sum.throttles)
		ktap_skip(THROTTLED);
	else
		expect_samples("samples", event_read(fd), attr->sample_period, fewer, more,
			       sum.samples);
	close_sampling(&ring, fd);
}

/*
 * Let a child and this task run in turns; each turn has @iterations + 1 iterations of the loop.
 * With @iterations 0, most overflows are in the kernel.
 */
static void switch_often(unsigned int times, unsigned long iterations)
{
	struct child child;

	if (!child_start(&child, known_loop, 1 + iterations))
		return;
	while (times--) {
		known_loop(1 + iterations);
		child_run(&child);
	}
	child_end(&child);
}

/*
 * Each counted period has a sample, wherever in the kernel a request or a context switch stops the
 * event.
 */
static void stops_anywhere(void)
{
	struct perf_event_attr attr;
	int fd;

	fd = open_both(&attr, 10007);
	for (int i = 0; i < 3000; i++) {
		event_enable(fd);
		event_disable(fd);
	}
	judge_samples(&attr, fd, pmu.exact ? 1 : event_read(fd) / 10007 / 50 + 2, 2 - pmu.exact);
	fd = open_both(&attr, 10000);
	event_enable(fd);
	switch_often(2000, 0);
	judge_samples(&attr, fd, pmu.exact ? 1 : event_read(fd) / 10000 / 50 + 2, 2 * !pmu.exact);
}

static void switches(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_sampling(&attr, 100000, USUAL);
	fd = open_sampling(&ring, &attr, PAGES);
	event_enable(fd);
	switch_often(300, 12345);
	judge_samples(&attr, fd, 1, 1);
}

/*
 * An overflow with interrupts off has a late interrupt, and the delay belongs to the next period.
 * System calls execute kernel code with interrupts on and off.
 */
static void late(void)
{
	struct perf_event_attr attr;
	int fd;

	fd = open_both(&attr, 20000);
	event_enable(fd);
	call_kernel(5000);
	event_disable(fd);
	judge_samples(&attr, fd, pmu.exact ? 1 : event_read(fd) / 20000 / 10 + 2, 2 * !pmu.exact);
}

/*
 * Most code of read(2) runs with interrupts on: the return to user space has few samples, and the
 * instructions of the overflow handler delay few samples.
 */
static void kernel_alone(void)
{
	const struct perf_event_header *header;
	unsigned int user = 0, samples = 0, throttles = 0, i;
	int file = memfd_create("pmu-validate", 0), fd;
	static char buffer[65536];
	struct perf_event_attr attr;
	struct sample sample;
	u64 count;

	expect_eq("bytes written", sizeof(buffer), write(file, buffer, sizeof(buffer)));
	attr_sampling(&attr, 50000, PERF_SAMPLE_IP);
	attr.exclude_user = 1;
	attr.exclude_kernel = 0;
	fd = open_sampling(&ring, &attr, PAGES);
	event_enable(fd);
	for (i = 0; i < 2000; i++)
		expect_eq("bytes read", sizeof(buffer), pread(file, buffer, sizeof(buffer), 0));
	event_disable(fd);
	count = event_read(fd);
	while ((header = ring_next(&ring))) {
		throttles += header->type == PERF_RECORD_THROTTLE;
		if (!sample_parse(header, &attr, &sample))
			continue;
		samples++;
		user += !(sample.ip >> 63);
	}
	if (throttles) {
		ktap_skip(THROTTLED);
	} else {
		expect_samples("samples", count, 50000, count / 50000 / 10 + 1, 1, samples);
		expect_range("samples in user space", 0, samples / 10, user);
	}
	close_sampling(&ring, fd);
	close(file);
}

/* More events than counters: the period goes on in the event's next turn. */
static void turns(void)
{
	static struct ring rings[MANY + 2];
	struct perf_event_attr attr;
	int fds[MANY + 2], nr, i, waited = 0;

	for (nr = 0; nr < (int)pmu.group + 2 && nr < MANY; nr++) {
		attr_sampling(&attr, 100000, USUAL);
		attr.read_format = FORMAT_TIMES;
		fds[nr] = event_open_self(&attr, -1);
		if (fds[nr] < 0 || ring_map(&rings[nr], fds[nr], 16))
			break;
		event_enable(fds[nr]);
	}
	known_loop(50 * ITERATIONS);
	for (i = 0; i < nr; i++) {
		struct event_times times = { 0 };
		struct ring_sum sum = { 0 };

		event_disable(fds[i]);
		event_read_times(fds[i], &times);
		ring_drain(&rings[i], &attr, &sum);
		ring_unmap(&rings[i]);
		waited += times.running < times.enabled;
		expect_eq("lost samples", 0, sum.lost);
		if (!sum.throttles && times.count > attr.sample_period)
			expect_samples("samples of an event in its turns", times.count,
				       attr.sample_period, 1, 1, sum.samples);
	}
	expect_range("events that waited for a turn", 1, nr, waited);
	close_all(fds, nr);
}

/*
 * The counter of a disabled event stops, too: it does not overflow while another event keeps the
 * PMU counting. Other events of the machine may interrupt in some rounds: the round with the fewest
 * interrupts counts.
 */
static void expect_silence(int fd, int other)
{
	long fewest = LONG_MAX, before, more;

	for (int i = 0; i < 5; i++) {
		event_enable(fd);
		event_enable(other);
		known_loop(1000);
		event_disable(fd);
		before = pmu_interrupts();
		known_loop(ITERATIONS);
		more = pmu_interrupts() - before;
		fewest = more < fewest ? more : fewest;
		event_disable(other);
	}
	expect_eq("interrupts while the only sampling event is disabled", 0, fewest);
}

/*
 * Test with a counting event opened before the sampling event, and with one opened after: the first
 * event may get a dedicated counter.
 */
static void stays_silent(void)
{
	struct perf_event_attr attr;
	int fds[3];

	if (!pmu.exact || pmu_interrupts() < 0) {
		ktap_skip("the PMU's interrupts cannot be told from others'");
		return;
	}
	attr_sampling(&attr, 100000, PERF_SAMPLE_IP);
	fds[0] = open_instructions();
	fds[1] = event_open_self(&attr, -1);
	fds[2] = open_instructions();
	if (fds[0] >= 0 && fds[1] >= 0 && fds[2] >= 0) {
		expect_silence(fds[1], fds[0]);
		expect_silence(fds[1], fds[2]);
	}
	close_all(fds, 3);
}

static void frequency_set(void)
{
	struct ring_sum sum = { 0 };
	struct perf_event_attr attr;
	u64 frequency = 1ULL << 40;
	int fd;

	attr_sampling(&attr, 1000, USUAL);
	attr.freq = 1;
	fd = open_sampling(&ring, &attr, PAGES);
	errno = 0;
	expect_eq("a frequency above the maximum", -1,
		  ioctl(fd, PERF_EVENT_IOC_PERIOD, &frequency));
	expect_eq("its error", EINVAL, errno);
	frequency = 5000;
	expect_eq("a frequency of 5000", 0, ioctl(fd, PERF_EVENT_IOC_PERIOD, &frequency));
	event_enable(fd);
	/* The kernel finds the period meanwhile. */
	known_loop(40 * ITERATIONS);
	ring_drain(&ring, &attr, &sum);
	memset(&sum, 0, sizeof(sum));
	known_loop(40 * ITERATIONS);
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	if (expect_range("samples", 2, 100000, sum.samples) && pmu.exact)
		expect_range("samples a second", 4500, 5500, (sum.samples - 1) * 1000000000ULL /
			     (sum.last_time - sum.first_time));
	close_sampling(&ring, fd);
}

static const struct check checks[] = {
	{ "sample", "no sample is lost when stopped in the kernel", PERIODS, stops_anywhere,
	  NEED_SAMPLING | NEED_KERNEL },
	{ "sample", "a period continues after a context switch", PERIODS, switches, NEED_SAMPLING },
	{ "sample", "a period continues in the event's next turn", PERIODS, turns, NEED_SAMPLING,
	  ON_COUNTERS },
	{ "sample", "late interrupts do not add up", PERIODS, late, NEED_SAMPLING | NEED_KERNEL },
	{ "sample", "an event that excludes user space samples the kernel", NO_USER, kernel_alone,
	  NEED_SAMPLING | NEED_KERNEL, ON_USER | ON_OVERFLOWS },
	{ "sample", "a disabled event does not interrupt",
	  MAN "\"When an event is disabled it does not count or generate overflows\"",
	  stays_silent, NEED_SAMPLING },
	{ "sample", "PERF_EVENT_IOC_PERIOD sets a frequency",
	  MAN "PERF_EVENT_IOC_PERIOD: \"This updates the overflow period for the event.\"",
	  frequency_set, NEED_SAMPLING, ON_USER | ON_OVERFLOWS },
};

const struct check_list resume_checks = { checks, ARRAY_SIZE(checks) };
