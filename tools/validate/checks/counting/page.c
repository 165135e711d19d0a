// SPDX-License-Identifier: GPL-2.0-only
/*
 * page.c - the mapped page of an event, and reading counters from user space
 */
#define _GNU_SOURCE
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>

#include "judge/guard.h"
#include "user_read.h"
#include "judge/validate.h"

/* Open an event of instructions with times, and map its page. */
static bool open_timed(struct reader *reader)
{
	struct perf_event_attr attr;

	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	*reader = (struct reader) { .fd = event_open_self(&attr, -1) };
	if (reader->fd >= 0 && reader_map(reader))
		return true;
	reader_close(reader);
	return false;
}

static void at_rest(void)
{
	const struct perf_event_mmap_page *page;
	struct event_times times = { 0 };
	struct reader reader;

	if (!open_timed(&reader))
		return;
	page = reader.page;
	event_run_loop(reader.fd, ITERATIONS);
	event_read_times(reader.fd, &times);
	expect_eq("lock", 0, page->lock & 1);
	expect_eq("index of a disabled event", 0, page->index);
	expect_eq("offset of a disabled event", times.count, page->offset);
	/* The kernel writes the page while it stops the event; the event's times end later. */
	expect_range("time_enabled", times.enabled - times.enabled / 20,
		     times.enabled + times.enabled / 20 + 10000, page->time_enabled);
	expect_range("time_running", times.running - times.running / 20,
		     times.running + times.running / 20 + 10000, page->time_running);
	expect_range("size", 64, 4096, page->size);
	event_reset(reader.fd);
	expect_eq("offset after a reset", 0, page->offset);
	reader_close(&reader);
}

/*
 * Return the tolerance of times of the page. The kernel's clock is local_clock(); the page computes
 * time from the CPU's time counter. If that counter is stable, the page has time_zero, and the two
 * clocks differ only by the rounding of time_mult. Otherwise local_clock() follows another clock
 * within a tick (kernel/sched/clock.c), which is at most 10 ms. In an emulator whose clock counts
 * instructions, both clocks show its time: only the rounding remains.
 */
static u64 clock_slack(const struct perf_event_mmap_page *page, u64 time)
{
	if (pmu.exact)
		return 100;
	return 50000 + time / 1000 + (page->cap_user_time_zero ? 0 : 10000000);
}

/* The page's time lies between the two reads, however long they take. */
static void expect_between(const char *what, u64 before, u64 after, u64 slack, u64 time)
{
	expect_range(what, before > slack ? before - slack : 0, after + slack, time);
}

static void times_from_the_page(void)
{
	struct event_times before = { 0 }, times = { 0 };
	struct reader reader;
	u64 now = 0;

	if (!open_timed(&reader))
		return;
	event_enable(reader.fd);
	known_loop(ITERATIONS);
	if (!reader.page->cap_user_time) {
		ktap_skip("the page has no time");
	} else {
		for (int i = 0; i < 1000 && !ktap_failed(); i++) {
			event_read_times(reader.fd, &before);
			expect_true("the page has a time", user_read_enabled(reader.page, &now));
			event_read_times(reader.fd, &times);
			expect_between("time enabled by the page", before.enabled, times.enabled,
				       clock_slack(reader.page, times.enabled), now);
			known_loop(ITERATIONS / 1000);
		}
	}
	reader_close(&reader);
}

/* Permits user space to read counters, on arm64 and RISC-V: admin-guide/sysctl/kernel.rst */
#define USER_ACCESS	"/proc/sys/kernel/perf_user_access"

/*
 * Open and enable an event @attr with a counter that user space may read. Return false if the check
 * skips or fails.
 */
static bool open_readable(struct reader *reader, struct perf_event_attr *attr)
{
	bool allowed;
	char path[256];
	int fd;

	*reader = (struct reader) { .fd = -1 };
	/* On x86 the PMU's file rdpmc permits the access. */
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/rdpmc", pmu.name ?: "cpu");
	allowed = read_number(path) > 0;
	if (!read_number(USER_ACCESS) && change_number(USER_ACCESS, 1)) {
		ktap_skip("kernel.perf_user_access is 0: set it to 1, or use --disrupt");
		return false;
	}
	/* If an event has to request the access, the PMU has the format rdpmc. */
	if (pmu.name && parse_terms("rdpmc", attr)) {
		fd = event_open(attr, 0, -1, -1, 0);
		/* The PMU may permit the access only to a 64-bit counter (format long). */
		if ((fd == -EINVAL || fd == -EOPNOTSUPP) && parse_terms("long", attr))
			fd = event_open(attr, 0, -1, -1, 0);
		if (fd == -EINVAL || fd == -EOPNOTSUPP) {
			ktap_skip("the term rdpmc of format/ is refused: %s", strerror(-fd));
			return false;
		}
		expect_true("the event opens", fd >= 0);
		allowed = true;
	} else {
		fd = event_open_self(attr, -1);
	}
	reader->fd = fd;
	if (fd >= 0 && reader_map(reader)) {
		event_enable(fd);
		reader->width = reader->page->pmc_width;
		if (reader->page->cap_user_rdpmc)
			return true;
		expect_true("a page that permits reads of counters, if they are allowed", !allowed);
		ktap_skip("the page does not permit reads of counters (kernel.perf_user_access, rdpmc)");
	}
	reader_close(reader);
	return false;
}

/* As open_readable(), an event of instructions */
static bool open_for_user_space(struct reader *reader, u64 period)
{
	struct perf_event_attr attr;

	attr_instructions(&attr);
	attr.sample_period = period;
	return open_readable(reader, &attr);
}

static void from_user_space(void)
{
	static const unsigned long lengths[] = { 100, 10000, 1000000 };
	u64 count = 0, last = 0, truth;
	struct reader reader;

	if (!open_for_user_space(&reader, 0))
		return;
	expect_range("bits of the counter", 1, 64, reader.width);
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		known_loop(lengths[i]);
		expect_true("the event is on a counter", user_read(reader.page, &count));
		truth = event_read(reader.fd);
		expect_range("count read from user space", count, count + 2000, truth);
		expect_range("growth", lengths[i] * LOOP_INSNS,
			     lengths[i] * LOOP_INSNS + count_slack(LOOP) + 5000, count - last);
		last = count;
	}
	event_disable(reader.fd);
	expect_true("a disabled event is on no counter", !user_read(reader.page, &count));
	expect_eq("its offset, the count", event_read(reader.fd), reader.page->offset);
	reader_close(&reader);
}

/* Read a counter from user space, each time between two calls of read(2). Count wrong results. */
static void read_between(const struct reader *reader, unsigned int *wrong, unsigned int *without)
{
	u64 last = event_read(reader->fd), count;

	for (int i = 0; i < 100; i++) {
		if (!user_read(reader->page, &count)) {
			(*without)++;
			count = event_read(reader->fd);
		}
		*wrong += count < last;
		last = count;
	}
	*wrong += event_read(reader->fd) < last;
}

/* Stop and start the event, let other tasks run, and move to another CPU. */
static void restart(int fd, unsigned int round)
{
	const struct timespec nap = { .tv_nsec = 100000 };
	unsigned int hops = round / 4 % 4, cpu = 0;
	cpu_set_t set;

	switch (round % 4) {
	case 0:
		event_disable(fd);
		event_enable(fd);
		break;
	case 1:
		nanosleep(&nap, NULL);
		break;
	case 2:
		sched_getaffinity(0, sizeof(set), &set);
		while (!CPU_ISSET(cpu, &set) || hops--)
			cpu = (cpu + 1) % CPU_SETSIZE;
		run_on(cpu);
		sched_setaffinity(0, sizeof(set), &set);
		break;
	}
}

static void times_of_a_read(void)
{
	struct event_times before = { 0 }, after = { 0 };
	struct perf_event_attr attr;
	struct user_count count = { 0 };
	struct reader reader;
	u64 slack;

	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	if (!open_readable(&reader, &attr))
		return;
	if (!reader.page->cap_user_time)
		ktap_skip("the page has no time");
	for (int i = 0; i < 1000 && reader.page->cap_user_time && !ktap_failed(); i++) {
		event_read_times(reader.fd, &before);
		expect_true("the event is on a counter", user_read_times(reader.page, &count));
		event_read_times(reader.fd, &after);
		slack = clock_slack(reader.page, after.enabled);
		expect_between("time enabled", before.enabled, after.enabled, slack, count.enabled);
		expect_between("time running", before.running, after.running, slack, count.running);
	}
	reader_close(&reader);
}

/* Events that may have counters of their own */
static void (*const kinds[])(struct perf_event_attr *attr) = {
	attr_instructions, attr_cycles, attr_branches,
};

/* As restart(), after a RESET */
static void reset(int fd, unsigned int round)
{
	event_reset(fd);
	restart(fd, round);
}

/*
 * For each kind of event, read an event after each @disturb(). If the PMU has the format long, also
 * read events that request a counter of 64 bits.
 */
static void read_each_kind(void (*disturb)(int fd, unsigned int round))
{
	struct perf_event_attr attr, requested;
	struct reader reader;
	int fd;

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(kinds); i++) {
		unsigned int wrong = 0, without = 0, round;

		kinds[i / 2](&attr);
		if (i % 2 && !(pmu.name && parse_terms("long", &attr)))
			continue;
		requested = attr;
		/* The PMU may permit user access to some counters only. */
		if (i % 2)
			parse_terms("rdpmc", &requested);
		fd = i ? event_open(&requested, 0, -1, -1, 0) : -1;
		if (i && fd < 0)
			continue;
		close_all(&fd, 1);
		if (!open_readable(&reader, &attr))
			return;
		for (round = 0; round < 400; round++) {
			known_loop(1000);
			disturb(reader.fd, round);
			read_between(&reader, &wrong, &without);
			wrong += reader.page->pmc_width != reader.width;
		}
		expect_eq("counts outside those of two calls of read(2), of 40000", 0, wrong);
		expect_eq("reads without a counter", 0, without);
		reader_close(&reader);
	}
}

static void over_restarts(void)
{
	read_each_kind(restart);
}

static void after_a_reset(void)
{
	read_each_kind(reset);
}

/* Open two events for each counter: at each turn an event gets another counter, or none. */
static void in_turns(void)
{
	unsigned int wrong = 0, without = 0, round;
	struct perf_event_attr attr;
	struct reader readers[2 * MANY];
	int wanted = 2 * pmu.group, nr, i;

	for (nr = 0; nr < wanted && nr < 2 * MANY; nr++) {
		kinds[nr % 2 && (pmu.has & NEED_CYCLES)](&attr);
		if (!open_readable(&readers[nr], &attr))
			break;
	}
	for (round = 0; round < 100 && nr == wanted; round++) {
		known_loop(200000);
		for (i = 0; i < nr; i++)
			read_between(&readers[i], &wrong, &without);
	}
	if (round) {
		expect_eq("counts outside those of two calls of read(2)", 0, wrong);
		expect_range("reads without a counter", 1, 100 * nr * round - 1, without);
	}
	while (nr--) {
		event_disable(readers[nr].fd);
		expect_eq("index of a disabled event", 0, readers[nr].page->index);
		expect_eq("its offset, the count", event_read(readers[nr].fd),
			  readers[nr].page->offset);
		reader_close(&readers[nr]);
	}
}

static __attribute__((noipa)) u64 read_loop(const struct perf_event_mmap_page *page,
					    unsigned long iterations)
{
	u64 first = 0, second = 0;

	expect_true("the event is on a counter", user_read(page, &first));
	known_loop(iterations);
	user_read(page, &second);
	return second - first;
}

/* Events fill all counters: each page names another counter. */
static void every_counter(void)
{
	struct reader readers[MANY];
	int nr;
	u64 base;

	for (nr = 0; nr < (int)pmu.group && nr < MANY; nr++)
		if (!open_for_user_space(&readers[nr], 0))
			break;
	for (int i = 0; i < nr; i++) {
		for (int j = 0; j < i; j++)
			expect_ne("index of another event", readers[j].page->index,
				  readers[i].page->index);
		base = read_loop(readers[i].page, 1);
		if (pmu.exact)
			expect_eq("instructions between two reads", LOOP,
				  read_loop(readers[i].page, ITERATIONS + 1) - base);
		else
			expect_range("instructions between two reads", LOOP,
				     LOOP + count_slack(LOOP) + 5000,
				     read_loop(readers[i].page, ITERATIONS));
	}
	while (nr--)
		reader_close(&readers[nr]);
}

/* Read the counter from user space while each overflow sets it to a new period. */
static void while_sampling(void)
{
	struct reader reader;
	unsigned int wrong = 0, i;
	u64 count = 0, truth, period = 100003;

	if (!open_for_user_space(&reader, 100003))
		return;
	for (i = 0; i < 200; i++) {
		if (i % 50 == 49) {
			period += 10000;
			ioctl(reader.fd, PERF_EVENT_IOC_PERIOD, &period);
		}
		known_loop(5000);
		if (!expect_true("the event is on a counter", user_read(reader.page, &count)))
			break;
		truth = event_read(reader.fd);
		wrong += count > truth || count + 2000 < truth;
	}
	expect_eq("counts read from user space that are wrong, of 200", 0, wrong);
	reader_close(&reader);
}

static sigjmp_buf fault_return;

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(fault_return, 1);
}

/* Return whether this process may read a counter with RDPMC: otherwise the instruction faults. */
static bool can_read(unsigned int counter)
{
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
	struct sigaction before;
	volatile bool reads = false;

	sigaction(SIGSEGV, &action, &before);
	if (!sigsetjmp(fault_return, 0)) {
		user_read_counter(counter);
		reads = true;
	}
	sigaction(SIGSEGV, &before, NULL);
	return reads;
}

#define RDPMC_FILES	"/sys/bus/event_source/devices/*/rdpmc"

/* The PMUs share one switch of the kernel: 0 or 2 in the file of another PMU may decide. */
static bool another_file_decides(const char *path)
{
	bool found = false;
	glob_t files;

	if (glob(RDPMC_FILES, 0, NULL, &files))
		return false;
	for (size_t i = 0; i < files.gl_pathc; i++)
		found |= strcmp(files.gl_pathv[i], path) && read_number(files.gl_pathv[i]) != 1;
	globfree(&files);
	return found;
}

static void expect_reads(const char *path, long value, const char *who, unsigned int counter,
			 bool allowed)
{
	expect_eq("write of the file rdpmc", 0, change_number(path, value));
	expect_or_say(can_read(counter) == allowed, "rdpmc is %ld: %s %s a counter", value, who,
		      allowed ? "cannot read" : "can read");
}

static void rdpmc_file(void)
{
	struct reader reader;
	unsigned int counter;
	char path[256];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/rdpmc", pmu.name);
	if (read_number(path) < 0) {
		ktap_skip("the PMU has no file rdpmc");
		return;
	}
	if (another_file_decides(path)) {
		ktap_skip("the file rdpmc of another PMU is not 1");
		return;
	}
	if (change_number(path, 1)) {
		ktap_skip("the file rdpmc cannot be written");
		return;
	}
	run_on(pmu.cpu);
	if (!open_for_user_space(&reader, 0))
		return;
	/* Other events may have all counters now. */
	counter = reader.page->index - 1;
	if (counter == -1U) {
		ktap_skip("the event is on no counter");
		reader_close(&reader);
		return;
	}
	expect_reads(path, 1, "a process with an active event", counter, true);
	expect_reads(path, 0, "a process with an active event", counter, false);
	expect_reads(path, 1, "a process with an active event", counter, true);
	reader_close(&reader);
	expect_reads(path, 1, "a process without an event", counter, false);
	expect_reads(path, 2, "a process without an event", counter, true);
	expect_reads(path, 1, "a process without an event", counter, false);
}

static const struct check checks[] = {
	{ "page", "the page of a disabled event",
	  MAN "offset: \"When using rdpmc for reads this offset value must be added to the one returned by rdpmc to get the current total event count.\", time_enabled: \"Time the event was active.\", time_running: \"Time the event was running.\"",
	  at_rest },
	{ "page", "times of the page",
	  MAN "\"these fields can be used to compute the time delta since time_enabled (in nanoseconds) using rdtsc or similar.\"",
	  times_from_the_page },
	{ "page", "counters read from user space", USER_READS, from_user_space, 0, ON_USER },
	{ "page", "times read from user space with a count", USER_READS, times_of_a_read },
	{ "page", "counters read from user space over stops, switches and moves", USER_READS,
	  over_restarts },
	{ "page", "counters read from user space in turns", USER_READS, in_turns,
	  NEED_GROUPS },
	{ "page", "every counter is read from user space", USER_READS, every_counter, 0,
	  ON_USER | ON_COUNTERS },
	{ "page", "counters read from user space after a reset", USER_READS, after_a_reset, 0,
	  ON_MODES },
	{ "page", "counters read from user space while they sample", USER_READS, while_sampling,
	  NEED_SAMPLING },
	{ "page", "the file rdpmc permits and denies reads",
	  MAN "rdpmc: \"If this file is 1, then direct user-space access to the performance counter registers is allowed via the rdpmc instruction. This can be disabled by echoing 0 to the file.\" \"1 now means only allow access to processes with active perf events, with 2 indicating the old allow-anyone-access behavior.\"",
	  rdpmc_file, NEED_PMU | NEED_DISRUPT },
};

const struct check_list page_checks = { checks, ARRAY_SIZE(checks) };
