// SPDX-License-Identifier: GPL-2.0-only
/*
 * readers.c - counts that PAPI computes from an event's page
 *
 * perf_event_open(2) and <linux/perf_event.h> define a count as the page's offset plus the
 * counter's value, sign-extended from pmc_width bits. pmu-validate checks this formula. PAPI
 * also sign-extends the offset before it adds the two (mmap_read_self() in its perf_event
 * component). So PAPI is right while the offset is a positive number of pmc_width bits.
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

/* Numbers of reads, and of counts that were not between two read(2)s */
static struct {
	unsigned int reads;
	unsigned int without;
	unsigned int wrong;
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

/* Compute a count as PAPI does, between two read(2)s. */
static void check_reader(struct reader *reader, unsigned int round)
{
	u64 before = event_read(reader->fd), after, count;
	struct look look;

	if (!look_at_page(reader->page, &look)) {
		sum.without++;
		return;
	}
	after = event_read(reader->fd);
	count = extend_sign(look.offset, look.width) + extend_sign(look.counter, look.width);
	sum.reads++;
	if ((count < before || count > after) && !sum.wrong++)
		ktap_diag("round %u: offset %#llx, counter %#llx of %u bits: PAPI reads %lld, read(2) %llu to %llu",
			  round, (unsigned long long)look.offset, (unsigned long long)look.counter,
			  look.width, (long long)count, (unsigned long long)before,
			  (unsigned long long)after);
}

static void expect_right(unsigned int least)
{
	expect_range("reads", least, ROUNDS * ARCH_MAX_COUNTERS * 2, sum.reads);
	expect_eq("wrong counts", 0, sum.wrong);
}

static void restart(struct reader *reader)
{
	event_disable(reader->fd);
	event_enable(reader->fd);
}

/* Each bit of @round stands for a disturbance: a sleep, a restart, a reset, a move. */
static void disturb(struct reader *reader, unsigned int round)
{
	if (round & 4)
		event_reset(reader->fd);
	if (round & 1)
		usleep(100);
	if (round & 2)
		restart(reader);
	if (round & 8)
		run_on(round / 16 % sysconf(_SC_NPROCESSORS_ONLN));
}

/* Disturb a running event, and read it, 6 * ROUNDS times. */
static void after_each(u64 config, u64 config1)
{
	struct reader reader;

	memset(&sum, 0, sizeof(sum));
	if (!reader_open(&reader, config, config1))
		return;
	event_enable(reader.fd);
	for (unsigned int round = 0; round < 6 * ROUNDS; round++) {
		known_loop(1000);
		disturb(&reader, round);
		check_reader(&reader, round);
	}
	expect_right(6 * ROUNDS);
	expect_eq("times that no counter could be read", 0, sum.without);
	reader_close(&reader);
}

/* For every type of counter that an event may have */
static void disturbed(void)
{
	after_each(ARCH_EVENT_INSTRUCTIONS, 0);
	after_each(ARCH_EVENT_CYCLES, 0);
	after_each(ARCH_EVENT_BRANCHES, 0);
	if (arch_long_counters())
		after_each(ARCH_EVENT_INSTRUCTIONS, ARCH_CONFIG1_LONG);
	if (ARCH_CONFIG1_LONG)
		after_each(ARCH_EVENT_CYCLES, ARCH_CONFIG1_LONG);
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
			check_reader(&readers[i], round);
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
	u64 offset;

	if (!reader_open(&reader, ARCH_EVENT_INSTRUCTIONS, 0))
		return;
	event_enable(reader.fd);
	offset = reader.page->offset;
	expect_true("the offset is a positive number of the counter's width",
		    extend_sign(offset, reader.width) > 0 &&
		    (u64)extend_sign(offset, reader.width) == offset);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		known_loop(1000);
		restart(&reader);
		usleep(100);
		if (!expect_eq("offset", offset, reader.page->offset))
			break;
	}
	reader_close(&reader);
}

static const struct ktap_case cases[] = {
	{ "PAPI is right after restarts, context switches, RESET and moves", disturbed },
	{ "PAPI is right about multiplexed events", rotated },
	{ "the offset of a counting event is the same after each restart", offset_stays },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	alarm(500);
	user_read_allow(1);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
