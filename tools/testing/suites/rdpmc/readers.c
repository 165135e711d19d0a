// SPDX-License-Identifier: GPL-2.0-only
/*
 * readers.c - counts that different readers compute from an event's page
 *
 * perf_event_open(2) and <linux/perf_event.h> define a count as the page's offset plus the
 * counter's value, sign-extended from pmc_width bits. libperf computes this
 * (perf_mmap__read_self()). PAPI also sign-extends the offset before it adds the two
 * (mmap_read_self() in its perf_event component). So PAPI is right while the offset is a positive
 * number of pmc_width bits.
 *
 * For the exact lane and the smp lane: read(2) before and after bounds each count.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "perf_util.h"
#include "task.h"
#include "user_util.h"

#define ROUNDS		200

/* The values of one read of the page and its counter */
struct look {
	u64 offset;
	u64 counter;
	unsigned int width;
};

/* Numbers of reads by each reader, and of counts that were not between two read(2)s */
static struct {
	unsigned int reads;
	unsigned int without;
	unsigned int page_wrong;
	unsigned int papi_wrong;
} sum;

/* Return false if user space can read no counter of the event now. */
static bool look_at_page(const struct perf_event_mmap_page *page, struct look *look)
{
	u32 seq, index;

	do {
		seq = user_read_once(page->lock);
		user_read_barrier();
		index = user_read_once(page->index);
		if (!index)
			return false;
		look->offset = user_read_once(page->offset);
		look->width = user_read_once(page->pmc_width);
		look->counter = user_read_counter(index - 1);
		user_read_barrier();
	} while (user_read_once(page->lock) != seq);

	return true;
}

static s64 extend_sign(u64 value, unsigned int width)
{
	return (s64)(value << (64 - width)) >> (64 - width);
}

/* Let all readers compute a count from the same values, between two read(2)s. */
static void check_readers(struct reader *reader, const char *when)
{
	u64 before = event_read(reader->fd), after, page, papi;
	struct look look;

	if (!look_at_page(reader->page, &look)) {
		sum.without++;
		return;
	}
	after = event_read(reader->fd);
	page = look.offset + extend_sign(look.counter, look.width);
	papi = extend_sign(look.offset, look.width) + extend_sign(look.counter, look.width);
	sum.reads++;
	if (page < before || page > after)
		sum.page_wrong++;
	if ((papi < before || papi > after) && !sum.papi_wrong++)
		ktap_diag("%s: offset %#llx, counter %#llx of %u bits: PAPI reads %lld, read(2) %llu to %llu",
			  when, (unsigned long long)look.offset,
			  (unsigned long long)look.counter, look.width, (long long)papi,
			  (unsigned long long)before, (unsigned long long)after);
}

static void expect_right(unsigned int least)
{
	expect_range("reads", least, ROUNDS * ARCH_MAX_COUNTERS * 2, sum.reads);
	expect_eq("wrong counts by the page's formula", 0, sum.page_wrong);
	expect_eq("wrong counts by PAPI's", 0, sum.papi_wrong);
}

/* Do something to a running event ROUNDS times, and read the event after each. */
static void after_each(u64 config, u64 config1, const char *what,
		       void (*act)(struct reader *reader, unsigned int round))
{
	struct reader reader;
	unsigned int round;

	memset(&sum, 0, sizeof(sum));
	if (!reader_open(&reader, config, config1))
		return;
	event_enable(reader.fd);
	for (round = 0; round < ROUNDS; round++) {
		known_loop(1000);
		act(&reader, round);
		check_readers(&reader, what);
	}
	expect_right(ROUNDS);
	expect_eq("times that no counter could be read", 0, sum.without);
	reader_close(&reader);
}

/* As after_each(), for every type of counter that the event may have */
static void after_each_kind(const char *what,
			    void (*act)(struct reader *reader, unsigned int round))
{
	after_each(ARCH_EVENT_INSTRUCTIONS, 0, what, act);
	after_each(ARCH_EVENT_CYCLES, 0, what, act);
	after_each(ARCH_EVENT_BRANCHES, 0, what, act);
	if (arch_long_counters())
		after_each(ARCH_EVENT_INSTRUCTIONS, ARCH_CONFIG1_LONG, what, act);
	if (ARCH_CONFIG1_LONG)
		after_each(ARCH_EVENT_CYCLES, ARCH_CONFIG1_LONG, what, act);
}

static void do_nothing(struct reader *reader, unsigned int round)
{
	(void)reader;
	(void)round;
}

static void do_restart(struct reader *reader, unsigned int round)
{
	(void)round;
	event_disable(reader->fd);
	event_enable(reader->fd);
}

static void do_sleep(struct reader *reader, unsigned int round)
{
	(void)reader;
	(void)round;
	usleep(100);
}

static void do_reset(struct reader *reader, unsigned int round)
{
	event_reset(reader->fd);
	if (round & 1)
		usleep(100);
	if (round & 2)
		do_restart(reader, round);
}

static void running(void)
{
	after_each_kind("running", do_nothing);
	after_each_kind("disabled and enabled", do_restart);
	after_each_kind("scheduled out and in", do_sleep);
	after_each_kind("reset", do_reset);
}

static void do_migrate(struct reader *reader, unsigned int round)
{
	(void)reader;
	run_on(round % sysconf(_SC_NPROCESSORS_ONLN));
}

static void migrated(void)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		ktap_skip("there is one CPU");
		return;
	}
	after_each_kind("moved to another CPU", do_migrate);
}

/* With more events than counters, each event changes its counter or loses it. */
static void rotated(void)
{
	struct reader readers[2 * ARCH_MAX_COUNTERS];
	unsigned int wanted = 2 * arch_counters().instructions, nr, i, round;

	memset(&sum, 0, sizeof(sum));
	for (nr = 0; nr < wanted; nr++) {
		if (!reader_open(&readers[nr], nr & 1 ? ARCH_EVENT_CYCLES : ARCH_EVENT_INSTRUCTIONS,
				 0))
			goto out;
		event_enable(readers[nr].fd);
	}
	for (round = 0; round < ROUNDS; round++) {
		known_loop(50000);
		for (i = 0; i < nr; i++)
			check_readers(&readers[i], "rotated");
	}
	expect_right(ROUNDS);
	expect_ne("times that an event was without a counter", 0, sum.without);
out:
	while (nr--)
		reader_close(&readers[nr]);
}

/* A counting event continues its period: a restart keeps the sum of offset and counter. */
static void offset_stays(void)
{
	struct reader reader;
	unsigned int round;
	u64 offset;

	if (!reader_open(&reader, ARCH_EVENT_INSTRUCTIONS, 0))
		return;
	event_enable(reader.fd);
	offset = reader.page->offset;
	expect_true("the offset is a positive number of the counter's width",
		    extend_sign(offset, reader.width) > 0 &&
		    (u64)extend_sign(offset, reader.width) == offset);
	for (round = 0; round < ROUNDS; round++) {
		known_loop(1000);
		do_restart(&reader, round);
		do_sleep(&reader, round);
		if (!expect_eq("offset", offset, reader.page->offset))
			break;
	}
	reader_close(&reader);
}

static const struct ktap_case cases[] = {
	{ "readers are right after restarts, context switches and RESET", running },
	{ "readers are right after a move to another CPU", migrated },
	{ "readers are right about multiplexed events", rotated },
	{ "the offset of a counting event is the same after each restart", offset_stays },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	alarm(500);
	user_read_allow(1);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
