// SPDX-License-Identifier: GPL-2.0-only
/*
 * page.c - the mapped page of an event, and reading counters from user space
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <time.h>

#include "judge/guard.h"
#include "user_read.h"
#include "judge/validate.h"

static struct perf_event_mmap_page *map_page(int fd)
{
	void *map = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED) {
		ktap_fail("expected the event's page, got %s", strerror(errno));
		return NULL;
	}
	return map;
}

static void unmap_page(struct perf_event_mmap_page *page)
{
	munmap(page, sysconf(_SC_PAGESIZE));
}

static void at_rest(void)
{
	struct perf_event_mmap_page *page;
	struct event_times times = { 0 };
	struct perf_event_attr attr;
	int fd;

	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	fd = event_open_self(&attr, -1);
	page = fd < 0 ? NULL : map_page(fd);
	if (!page)
		return;
	event_enable(fd);
	known_loop(ITERATIONS);
	event_disable(fd);
	event_read_times(fd, &times);
	expect_eq("lock", 0, page->lock & 1);
	expect_eq("index of a disabled event", 0, page->index);
	expect_eq("offset of a disabled event", times.count, page->offset);
	/* The kernel writes the page while it stops the event; the event's times end later. */
	expect_range("time_enabled", times.enabled - times.enabled / 20,
		     times.enabled + times.enabled / 20 + 10000, page->time_enabled);
	expect_range("time_running", times.running - times.running / 20,
		     times.running + times.running / 20 + 10000, page->time_running);
	expect_range("size", 64, 4096, page->size);
	event_reset(fd);
	expect_eq("offset after a reset", 0, page->offset);
	unmap_page(page);
	close(fd);
}

/*
 * Return the tolerance of times of the page. The kernel's clock is local_clock(); the page computes
 * time from the CPU's time counter. If that counter is stable, the page has time_zero, and the two
 * clocks differ only by the rounding of time_mult. Otherwise local_clock() follows another clock
 * within a tick (kernel/sched/clock.c), which is at most 10 ms.
 */
static u64 clock_slack(const struct perf_event_mmap_page *page, u64 time)
{
	return 50000 + time / 1000 + (page->cap_user_time_zero ? 0 : 10000000);
}

static void times_from_the_page(void)
{
	struct event_times before = { 0 }, times = { 0 };
	struct perf_event_mmap_page *page;
	struct perf_event_attr attr;
	u64 now = 0, slack;
	int fd, i;

	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	fd = event_open_self(&attr, -1);
	page = fd < 0 ? NULL : map_page(fd);
	if (!page)
		return;
	event_enable(fd);
	known_loop(ITERATIONS);
	if (!page->cap_user_time) {
		ktap_skip("the page has no time");
	} else {
		for (i = 0; i < 10; i++) {
			/* The page's time lies between the two reads, however long they take. */
			event_read_times(fd, &before);
			expect_true("the page has a time", user_read_enabled(page, &now));
			event_read_times(fd, &times);
			slack = clock_slack(page, times.enabled);
			expect_range("time enabled by the page",
				     before.enabled > slack ? before.enabled - slack : 0,
				     times.enabled + slack, now);
			known_loop(ITERATIONS / 10);
		}
	}
	event_disable(fd);
	unmap_page(page);
	close(fd);
}

/* Permits user space to read counters, on arm64 and RISC-V: admin-guide/sysctl/kernel.rst */
#define USER_ACCESS	"/proc/sys/kernel/perf_user_access"

/* Open and enable an event with a counter that user space may read; return -1 after a skip. */
static int open_for_user_space(struct perf_event_mmap_page **page, u64 period)
{
	struct perf_event_attr attr;
	int fd;

	attr_instructions(&attr);
	attr.sample_period = period;
	if (!read_number(USER_ACCESS) && change_number(USER_ACCESS, 1)) {
		ktap_skip("kernel.perf_user_access is 0: set it to 1, or use --disrupt");
		return -1;
	}
	/* If an event has to request the access, the PMU has the format rdpmc. */
	if (pmu.name && parse_terms("rdpmc", &attr)) {
		fd = event_open(&attr, 0, -1, -1, 0);
		/* The PMU may permit the access only to a 64-bit counter (format long). */
		if ((fd == -EINVAL || fd == -EOPNOTSUPP) && parse_terms("long", &attr))
			fd = event_open(&attr, 0, -1, -1, 0);
		if (fd == -EINVAL || fd == -EOPNOTSUPP) {
			ktap_skip("the term rdpmc of format/ is refused: %s", strerror(-fd));
			return -1;
		}
		expect_true("the event opens", fd >= 0);
	} else {
		fd = event_open_self(&attr, -1);
	}
	*page = fd < 0 ? NULL : map_page(fd);
	if (!*page)
		return -1;
	event_enable(fd);
	if ((*page)->cap_user_rdpmc)
		return fd;
	ktap_skip("the page does not permit reads of counters (kernel.perf_user_access, rdpmc)");
	unmap_page(*page);
	close(fd);
	return -1;
}

static void from_user_space(void)
{
	static const unsigned long lengths[] = { 100, 10000, 1000000 };
	struct perf_event_mmap_page *page = NULL;
	int fd = open_for_user_space(&page, 0);
	u64 count = 0, last = 0, truth;
	unsigned int i;

	if (fd < 0)
		return;
	expect_range("bits of the counter", 1, 64, page->pmc_width);
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		known_loop(lengths[i]);
		expect_true("the event is on a counter", user_read(page, &count));
		truth = event_read(fd);
		expect_range("count read from user space", count, count + 2000, truth);
		expect_range("growth", lengths[i] * LOOP_INSNS,
			     lengths[i] * LOOP_INSNS + count_slack(LOOP) + 5000, count - last);
		last = count;
	}
	event_disable(fd);
	expect_true("a disabled event is on no counter", !user_read(page, &count));
	expect_eq("its offset, the count", event_read(fd), page->offset);
	unmap_page(page);
	close(fd);
}

/* Read a counter from user space, each time between two calls of read(2). Count wrong results. */
static void read_between(int fd, const struct perf_event_mmap_page *page, unsigned int *wrong,
			 unsigned int *without)
{
	u64 last = event_read(fd), count;
	int i;

	for (i = 0; i < 100; i++) {
		if (!user_read(page, &count)) {
			(*without)++;
			count = event_read(fd);
		}
		*wrong += count < last;
		last = count;
	}
	*wrong += event_read(fd) < last;
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

static void over_restarts(void)
{
	struct perf_event_mmap_page *page = NULL;
	unsigned int wrong = 0, without = 0, i;
	int fd = open_for_user_space(&page, 0);
	u32 width;

	if (fd < 0)
		return;
	width = page->pmc_width;
	for (i = 0; i < 400; i++) {
		known_loop(1000);
		restart(fd, i);
		read_between(fd, page, &wrong, &without);
		wrong += page->pmc_width != width;
	}
	expect_eq("counts outside those of two calls of read(2), of 40000", 0, wrong);
	expect_eq("reads without a counter", 0, without);
	unmap_page(page);
	close(fd);
}

/* Open two events for each counter: at each turn an event gets another counter, or none. */
static void in_turns(void)
{
	struct perf_event_mmap_page *pages[2 * MANY];
	unsigned int wrong = 0, without = 0, round;
	int fds[2 * MANY], wanted = 2 * pmu.group, nr, i;

	for (nr = 0; nr < wanted && nr < 2 * MANY; nr++) {
		fds[nr] = open_for_user_space(&pages[nr], 0);
		if (fds[nr] < 0)
			break;
	}
	for (round = 0; round < 100 && nr == wanted; round++) {
		known_loop(200000);
		for (i = 0; i < nr; i++)
			read_between(fds[i], pages[i], &wrong, &without);
	}
	if (round) {
		expect_eq("counts outside those of two calls of read(2)", 0, wrong);
		expect_range("reads without a counter", 1, 100 * nr * round - 1, without);
	}
	while (nr--) {
		event_disable(fds[nr]);
		expect_eq("index of a disabled event", 0, pages[nr]->index);
		expect_eq("its offset, the count", event_read(fds[nr]), pages[nr]->offset);
		unmap_page(pages[nr]);
		close(fds[nr]);
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
	struct perf_event_mmap_page *pages[MANY];
	int fds[MANY], nr, i, j;
	u64 base;

	for (nr = 0; nr < (int)pmu.group && nr < MANY; nr++) {
		fds[nr] = open_for_user_space(&pages[nr], 0);
		if (fds[nr] < 0)
			break;
	}
	for (i = 0; i < nr; i++) {
		for (j = 0; j < i; j++)
			expect_ne("index of another event", pages[j]->index, pages[i]->index);
		base = read_loop(pages[i], 1);
		if (pmu.exact)
			expect_eq("instructions between two reads", LOOP,
				  read_loop(pages[i], ITERATIONS + 1) - base);
		else
			expect_range("instructions between two reads", LOOP,
				     LOOP + count_slack(LOOP) + 5000,
				     read_loop(pages[i], ITERATIONS));
	}
	while (nr--) {
		unmap_page(pages[nr]);
		close(fds[nr]);
	}
}

static void after_a_reset(void)
{
	struct perf_event_mmap_page *page = NULL;
	int fd = open_for_user_space(&page, 0);
	u64 count = 0, truth;

	if (fd < 0)
		return;
	known_loop(ITERATIONS);
	event_reset(fd);
	known_loop(1000);
	expect_true("the event is on a counter", user_read(page, &count));
	truth = event_read(fd);
	expect_most("count read from user space", 2000, "count that read(2) has", truth, count);
	unmap_page(page);
	close(fd);
}

/* Read the counter from user space while each overflow sets it to a new period. */
static void while_sampling(void)
{
	struct perf_event_mmap_page *page = NULL;
	int fd = open_for_user_space(&page, 100003);
	unsigned int wrong = 0, i;
	u64 count = 0, truth, period = 100003;

	if (fd < 0)
		return;
	for (i = 0; i < 200; i++) {
		if (i % 50 == 49) {
			period += 10000;
			ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
		}
		known_loop(5000);
		if (!expect_true("the event is on a counter", user_read(page, &count)))
			break;
		truth = event_read(fd);
		wrong += count > truth || count + 2000 < truth;
	}
	expect_eq("counts read from user space that are wrong, of 200", 0, wrong);
	unmap_page(page);
	close(fd);
}

static const struct check checks[] = {
	{ "page", "the page of a disabled event",
	  MAN "offset: \"When using rdpmc for reads this offset value must be added to the one returned by rdpmc to get the current total event count.\", time_enabled: \"Time the event was active.\", time_running: \"Time the event was running.\"",
	  at_rest },
	{ "page", "times of the page",
	  MAN "\"these fields can be used to compute the time delta since time_enabled (in nanoseconds) using rdtsc or similar.\"",
	  times_from_the_page },
	{ "page", "counters read from user space", USER_READS, from_user_space, 0, ON_USER },
	{ "page", "counters read from user space over stops, switches and moves", USER_READS,
	  over_restarts },
	{ "page", "counters read from user space in turns", USER_READS, in_turns },
	{ "page", "every counter is read from user space", USER_READS, every_counter, 0,
	  ON_COUNTERS },
	{ "page", "counters read from user space after a reset", USER_READS, after_a_reset, 0,
	  ON_MODES },
	{ "page", "counters read from user space while they sample", USER_READS, while_sampling,
	  NEED_SAMPLING },
};

const struct check_list page_checks = { checks, ARRAY_SIZE(checks) };
