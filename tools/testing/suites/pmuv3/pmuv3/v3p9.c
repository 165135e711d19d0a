// SPDX-License-Identifier: GPL-2.0-only
/*
 * v3p9.c - thresholds and the instruction counter of PMUv3p9
 */
#include <errno.h>
#include <unistd.h>

#include "pmuv3.h"

/* Slots of one cycle of the virtual CPU */
#define SLOTS	4

/*
 * A round has five cycles: four use one slot each, and one uses none. All other events happen at
 * most once per cycle.
 */
static void threshold(void)
{
	static const struct {
		u64 event;
		u64 config1;
		unsigned int each;
	} rows[] = {
		{ STALL_SLOT, 0, 4 * (SLOTS - 1) + SLOTS },
		{ STALL_SLOT, THRESHOLD(SLOTS) | COMPARE(AT_LEAST) | COUNT, 1 },
		{ STALL_SLOT, THRESHOLD(SLOTS) | COMPARE(AT_LEAST), SLOTS },
		{ STALL_SLOT, THRESHOLD(SLOTS) | COMPARE(EQUAL) | COUNT, 1 },
		{ STALL_SLOT, THRESHOLD(SLOTS) | COMPARE(LESS) | COUNT, 4 },
		{ STALL_SLOT, THRESHOLD(SLOTS) | COMPARE(NOT_EQUAL) | COUNT, 4 },
		{ STALL_SLOT, THRESHOLD(SLOTS) | COMPARE(NOT_EQUAL), 4 * (SLOTS - 1) },
		{ STALL_SLOT, THRESHOLD(255) | COMPARE(AT_LEAST) | COUNT, 0 },
		/* Without a threshold, the other threshold fields have no effect. */
		{ STALL_SLOT, COMPARE(LESS) | COUNT, 4 * (SLOTS - 1) + SLOTS },
		/* These events are placed on dedicated counters, which have no threshold. */
		{ CPU_CYCLES, THRESHOLD(1) | COMPARE(AT_LEAST) | COUNT, 5 },
		{ CPU_CYCLES, THRESHOLD(2) | COMPARE(AT_LEAST) | COUNT, 0 },
		{ INST_RETIRED, THRESHOLD(1) | COMPARE(LESS) | COUNT, 1 },
		{ INST_RETIRED, THRESHOLD(2) | COMPARE(AT_LEAST) | COUNT, 0 },
	};
	struct perf_event_attr attr;
	int fd;

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		attr_init(&attr, rows[i].event);
		attr.config1 = rows[i].config1;
		fd = event_open_self(&attr, -1);
		if (fd < 0)
			return;
		if (!expect_eq("counts of the loop", rows[i].each * ITERATIONS,
			       pmuv3_work_counts(fd, ITERATIONS)))
			ktap_diag("row %u", i);
		close(fd);
	}

	attr_init(&attr, STALL_SLOT);
	attr.config1 = THRESHOLD(256) | COMPARE(AT_LEAST);
	fd = event_open(&attr, 0, -1, -1, 0);
	expect_eq("a threshold too large", -EINVAL, fd);
	close(fd);
}

/* Use every counter: cycles, instructions and six others. */
static void every_counter(void)
{
	static const unsigned int which[] = { 4, 0, 1, 2, 3, 1, 2, 3 };
	struct perf_event_attr attr;
	u64 base[ARRAY_SIZE(which)];
	int fds[ARRAY_SIZE(which)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(which); i++) {
		attr_init(&attr, pmuv3_kinds[which[i]].event);
		attr.disabled = !i;
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
		if (fds[i] < 0)
			goto out;
	}
	pmuv3_work(fds[0], 1);
	for (i = 0; i < ARRAY_SIZE(which); i++)
		base[i] = event_read(fds[i]);
	pmuv3_work(fds[0], ITERATIONS + 1);
	for (i = 0; i < ARRAY_SIZE(which); i++)
		expect_eq(pmuv3_kinds[which[i]].name, pmuv3_kinds[which[i]].each * ITERATIONS,
			  event_read(fds[i]) - base[i]);
out:
	close_all(fds, i);
}

/* Sample instructions while other events hold all event counters. */
static void instruction_counter_samples(void)
{
	static struct ring ring;
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	int fds[ARCH_MAX_COUNTERS], fd;

	for (unsigned int i = 0; i < target.counters; i++) {
		attr_init(&attr, BR_RETIRED);
		attr.pinned = 1;
		attr.disabled = 0;
		fds[i] = event_open_self(&attr, -1);
	}
	attr_init(&attr, INST_RETIRED);
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
	fd = event_open_self(&attr, -1);
	if (fd >= 0 && !ring_map(&ring, fd, 16)) {
		pmuv3_work(fd, SAMPLED_ROUNDS);
		ring_drain(&ring, &attr, &sum);
		expect_range("samples", 49, 51, sum.samples);
	}
	ring_unmap(&ring);
	close(fd);
	close_all(fds, target.counters);
}

static const struct ktap_case cases[] = {
	{ "thresholds count when the value compares", threshold },
	{ "every counter counts at once", every_counter },
	{ "the instruction counter samples", instruction_counter_samples },
};

const struct ktap_list pmuv3_v3p9_cases = { cases, ARRAY_SIZE(cases) };
