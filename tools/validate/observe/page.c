// SPDX-License-Identifier: GPL-2.0-only
/*
 * page.c - the mmap page: what it has, and when the kernel writes it
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

#include "observe/observe.h"
#include "user_read.h"

static struct perf_event_mmap_page *map(int fd, unsigned int pages, int prot)
{
	void *at = mmap(NULL, pages * sysconf(_SC_PAGESIZE), prot, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

static void capabilities(void)
{
	int fd = open_instructions();
	struct perf_event_mmap_page *page = map(fd, 1, PROT_READ);

	if (!page)
		return answer_error("mmap() is refused:", -errno);
	event_enable(fd);
	answer("cap_user_rdpmc %d, cap_user_time %d, cap_user_time_zero %d, cap_user_time_short %d",
	       !!page->cap_user_rdpmc, !!page->cap_user_time, !!page->cap_user_time_zero,
	       !!page->cap_user_time_short);
	answer("pmc_width %u", page->pmc_width);
}

static void index_of(void)
{
	int fd = open_instructions();
	struct perf_event_mmap_page *page = map(fd, 1, PROT_READ);

	if (!page)
		return answer_error("mmap() is refused:", -errno);
	answer("disabled %s", page->index ? "not 0" : "0");
	event_enable(fd);
	answer("enabled %s", page->index ? "not 0" : "0");
	event_disable(fd);
	answer("disabled again %s", page->index ? "not 0" : "0");
}

static void offset_of(void)
{
	int fd = open_instructions();
	struct perf_event_mmap_page *page = map(fd, 1, PROT_READ);

	if (!page)
		return answer_error("mmap() is refused:", -errno);
	event_enable(fd);
	one_loop();
	event_disable(fd);
	answer("offset is %s",
	       page->offset == (s64)event_read(fd) ? "the count" : "another number");
	event_reset(fd);
	answer("after RESET it is %lld", (long long)page->offset);
}

static void written_by_read(void)
{
	int fd = open_instructions();
	struct perf_event_mmap_page *page = map(fd, 1, PROT_READ);
	u64 enabled;
	u32 lock;

	if (!page)
		return answer_error("mmap() is refused:", -errno);
	event_enable(fd);
	lock = page->lock;
	enabled = page->time_enabled;
	event_read(fd);
	answer("read() %s the page", page->lock == lock ? "does not write" : "writes");
	answer("time_enabled is %s", page->time_enabled == enabled ? "as before" : "newer");
}

static void written_by_switch(void)
{
	int fd = open_instructions();
	struct perf_event_mmap_page *page = map(fd, 1, PROT_READ);
	u32 lock;

	if (!page)
		return answer_error("mmap() is refused:", -errno);
	event_enable(fd);
	lock = page->lock;
	usleep(1000);
	answer("%s", page->lock == lock ? "none" : "some");
}

static void mapped_twice(void)
{
	int fd = open_instructions();
	struct perf_event_mmap_page *page = map(fd, 1, PROT_READ);

	answer_error("the same size:", page && map(fd, 1, PROT_READ) ? 0 : -errno);
	answer_error("another size:", map(fd, 3, PROT_READ | PROT_WRITE) ? 0 : -errno);
}

static void sizes(void)
{
	static const unsigned int pages[] = { 1, 2, 3, 4, 5 };
	char what[16];

	for (unsigned int i = 0; i < ARRAY_SIZE(pages); i++) {
		snprintf(what, sizeof(what), "%u pages", pages[i]);
		answer_error(what, map(open_instructions(), pages[i], PROT_READ | PROT_WRITE) ?
			     0 : -errno);
	}
}

static void buffer_of_counting(void)
{
	struct perf_event_mmap_page *page = map(open_instructions(), 3, PROT_READ | PROT_WRITE);

	if (!page)
		return answer_error("mmap() is refused:", -errno);
	answer("data_offset %s, data_size %llu pages",
	       page->data_offset == (u64)sysconf(_SC_PAGESIZE) ? "one page" : "another",
	       (unsigned long long)page->data_size / sysconf(_SC_PAGESIZE));
}

static void inherited(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_instructions(&attr);
	attr.inherit = 1;
	fd = open_or_answer(&attr);
	answer_error("of a task on any CPU:", map(fd, 1, PROT_READ) ? 0 : -errno);
	fd = event_open(&attr, 0, pmu.cpu, -1, 0);
	answer_error("of a task on one CPU:", map(fd, 1, PROT_READ) ? 0 : -errno);
}

/* Compare a user read with read(2) of the event that runs; return false if they disagree. */
static bool reads_agree(int fd, const struct perf_event_mmap_page *page, unsigned int *unreadable)
{
	u64 before = event_read(fd), count;

	/* POWER's page has an index, though user space must not read the counter. */
	if (!page->cap_user_rdpmc || !user_read(page, &count)) {
		++*unreadable;
		return true;
	}
	return count >= before && count <= event_read(fd);
}

static void answer_reads(unsigned int nr, unsigned int agree, unsigned int unreadable)
{
	if (unreadable == nr)
		answer("the page permits no reads");
	else
		answer("%u of %u user reads agree with read(), %u find no counter",
		       agree - unreadable, nr, unreadable);
}

#define READS	40

/* A counter of a sampling event wraps with each period. */
static void read_wrapping(void)
{
	unsigned int i, agree = 0, unreadable = 0;
	struct perf_event_attr attr;
	struct ring ring;
	int fd;

	attr_sampling(&attr, LOOP / READS, PERF_SAMPLE_IP);
	fd = open_ring(&ring, &attr, 0, -1);
	event_enable(fd);
	for (i = 0; i < READS; i++) {
		known_loop(ITERATIONS / READS);
		agree += reads_agree(fd, ring.page, &unreadable);
	}
	event_disable(fd);
	answer_loops("count", event_read(fd));
	answer_reads(READS, agree, unreadable);
}

static void read_migrating(void)
{
	int fd = open_instructions(), nr_cpus = sysconf(_SC_NPROCESSORS_ONLN), i;
	struct perf_event_mmap_page *page = map(fd, 1, PROT_READ);
	unsigned int agree = 0, unreadable = 0;

	if (nr_cpus < 2) {
		answer("there is one CPU");
		return;
	}
	if (!page)
		return answer_error("mmap() is refused:", -errno);
	event_enable(fd);
	for (i = 0; i < READS; i++) {
		run_on(i % nr_cpus);
		known_loop(1000);
		agree += reads_agree(fd, page, &unreadable);
	}
	answer_reads(READS, agree, unreadable);
}

static void versions(void)
{
	struct perf_event_mmap_page *page = map(open_instructions(), 1, PROT_READ);

	if (page)
		answer("version %u, compat_version %u, size %u", page->version,
		       page->compat_version,
		       page->size);
}

static const struct observation observations[] = {
	{ "page", "what user space may read", capabilities },
	{ "page", "index", index_of },
	{ "page", "offset of a stopped event", offset_of },
	{ "page", "read() of a running event", written_by_read },
	{ "page", "a sleep: writes of the page", written_by_switch },
	{ "page", "mapping an event twice", mapped_twice },
	{ "page", "sizes of mappings", sizes },
	{ "page", "a buffer of an event without a period", buffer_of_counting },
	{ "page", "mapping an inherited event", inherited },
	{ "page", "version and size", versions },
	{ "page", "user reads of a counter that wraps 40 times", read_wrapping },
	{ "page", "user reads of a task that migrates 40 times", read_migrating },
};

const struct observation_list page_observations = { observations, ARRAY_SIZE(observations) };
