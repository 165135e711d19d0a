// SPDX-License-Identifier: GPL-2.0-only
/*
 * page.c - the mapped page of an event, and reading counters from user space
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <time.h>

#include "validate.h"

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
	/* Written when the event is stopped, which ends a little later. */
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

static void times_from_the_page(void)
{
	struct perf_event_mmap_page *page;
	struct event_times times = { 0 };
	struct perf_event_attr attr;
	u64 cycles, delta, quot, rem, now;
	u32 seq;
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
			do {
				seq = page->lock;
				asm volatile("" ::: "memory");
#if defined(__x86_64__)
				cycles = __builtin_ia32_rdtsc();
#else
				asm volatile("isb\nmrs %0, cntvct_el0" : "=r" (cycles) :: "memory");
#endif
				if (page->cap_user_time_short)
					cycles = page->time_cycles +
						 ((cycles - page->time_cycles) & page->time_mask);
				quot = cycles >> page->time_shift;
				rem = cycles & ((1ULL << page->time_shift) - 1);
				delta = page->time_offset + quot * page->time_mult +
					((rem * page->time_mult) >> page->time_shift);
				now = page->time_enabled + delta;
				asm volatile("" ::: "memory");
			} while (page->lock != seq);
			event_read_times(fd, &times);
			expect_range("time enabled by the page",
				     times.enabled - times.enabled / 5 - 50000,
				     times.enabled + 50000, now);
			known_loop(ITERATIONS / 10);
		}
	}
	event_disable(fd);
	unmap_page(page);
	close(fd);
}

#if defined(__x86_64__)
static u64 read_pmc(u32 index)
{
	u32 low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (index - 1));
	return (u64)high << 32 | low;
}
#else
#define CASE(n)								\
	case (n) + 1:							\
		asm volatile("mrs %0, pmevcntr" #n "_el0" : "=r" (value)); \
		break

static u64 read_pmc(u32 index)
{
	u64 value = 0;

	switch (index) {
	CASE(0);
	CASE(1);
	CASE(2);
	CASE(3);
	CASE(4);
	CASE(5);
	CASE(6);
	CASE(7);
	CASE(8);
	CASE(9);
	CASE(10);
	CASE(11);
	CASE(12);
	CASE(13);
	CASE(14);
	CASE(15);
	CASE(16);
	CASE(17);
	CASE(18);
	CASE(19);
	CASE(20);
	CASE(21);
	CASE(22);
	CASE(23);
	CASE(24);
	CASE(25);
	CASE(26);
	CASE(27);
	CASE(28);
	CASE(29);
	CASE(30);
	case 32:
		asm volatile("mrs %0, pmccntr_el0" : "=r" (value));
		break;
	default:
		ktap_fail("index: expected a counter, got %u", index);
	}
	return value;
}
#endif

/* As the manual page says. */
static bool user_read(struct perf_event_mmap_page *page, u64 *count)
{
	u32 seq, index;

	do {
		seq = page->lock;
		asm volatile("" ::: "memory");
		*count = page->offset;
		index = page->index;
		if (index) {
			unsigned int unused = 64 - page->pmc_width;

			*count += (int64_t)(read_pmc(index) << unused) >> unused;
		}
		asm volatile("" ::: "memory");
	} while (page->lock != seq);
	return index;
}

/* Documentation/arch/arm64/perf.rst: whether user space may read counters on arm64 */
#define USER_ACCESS	"/proc/sys/kernel/perf_user_access"

/* An enabled event whose counter user space may read, or -1 after a skip. */
static int open_for_user_space(struct perf_event_mmap_page **page, u64 period)
{
	struct perf_event_attr attr;
	int fd;

	attr_instructions(&attr);
	attr.sample_period = period;
#if defined(__aarch64__)
	if (!read_number(USER_ACCESS) && write_number(USER_ACCESS, 1)) {
		ktap_skip("kernel.perf_user_access is 0");
		return -1;
	}
	attr.config1 = ARCH_CONFIG1_RDPMC;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd == -EINVAL || fd == -EOPNOTSUPP) {
		attr.config1 |= ARCH_CONFIG1_LONG;
		fd = event_open(&attr, 0, -1, -1, 0);
	}
	if (fd == -EINVAL || fd == -EOPNOTSUPP) {
		ktap_skip("config1:1, rdpmc, is refused: %s", strerror(-fd));
		return -1;
	}
	expect_true("the event opens", fd >= 0);
#else
	fd = event_open_self(&attr, -1);
#endif
	*page = fd < 0 ? NULL : map_page(fd);
	if (!*page)
		return -1;
	event_enable(fd);
	if ((*page)->cap_user_rdpmc)
		return fd;
	ktap_skip("the page says that counters cannot be read (kernel.perf_user_access, rdpmc)");
	unmap_page(*page);
	close(fd);
	return -1;
}

static void from_user_space(void)
{
	static const unsigned long lengths[] = { 100, 10000, 1000000 };
	struct perf_event_mmap_page *page = NULL;
	int fd = open_for_user_space(&page, 0);
	u64 count, last = 0, truth;
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
	expect_eq("its count", event_read(fd), count);
	unmap_page(page);
	close(fd);
}

static void after_a_reset(void)
{
	struct perf_event_mmap_page *page = NULL;
	int fd = open_for_user_space(&page, 0);
	u64 count, truth;

	if (fd < 0)
		return;
	known_loop(ITERATIONS);
	event_reset(fd);
	known_loop(1000);
	user_read(page, &count);
	truth = event_read(fd);
	expect_range("count read from user space", truth - 2000, truth, count);
	unmap_page(page);
	close(fd);
}

/* Every overflow sets the counter anew. */
static void while_sampling(void)
{
	struct perf_event_mmap_page *page = NULL;
	int fd = open_for_user_space(&page, 100003);
	unsigned int wrong = 0, i;
	u64 count, truth;

	if (fd < 0)
		return;
	for (i = 0; i < 200; i++) {
		known_loop(5000);
		user_read(page, &count);
		truth = event_read(fd);
		wrong += count > truth || count + 2000 < truth;
	}
	expect_eq("counts read from user space that are wrong, of 200", 0, wrong);
	unmap_page(page);
	close(fd);
}

static const struct check checks[] = {
	{ "page", "of an event at rest",
	  MAN "struct perf_event_mmap_page: index 0 and offset is the count when it is not on a counter",
	  at_rest },
	{ "page", "its time",
	  MAN "cap_user_time: the time can be computed from time_mult, time_shift, time_offset",
	  times_from_the_page },
	{ "page", "counters read from user space",
	  MAN "cap_user_rdpmc: the count is offset + pmc, sign-extended from pmc_width bits",
	  from_user_space },
	{ "page", "counters read from user space after a reset",
	  MAN "cap_user_rdpmc: the count is offset + pmc, sign-extended from pmc_width bits",
	  after_a_reset },
	{ "page", "counters read from user space while they sample",
	  MAN "cap_user_rdpmc: the count is offset + pmc, sign-extended from pmc_width bits",
	  while_sampling, NEED_SAMPLING },
};

const struct check_list page_checks = { checks, ARRAY_SIZE(checks) };
