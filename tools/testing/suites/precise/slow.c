// SPDX-License-Identifier: GPL-2.0-only
/*
 * slow.c - samples of loads that take long: address, latency and source
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "precise.h"

#define LOAD_LATENCY		0x01cd	/* MEM_TRANS_RETIRED.LOAD_LATENCY */
#define LOADS_AUX		0x8203	/* Golden Cove wants this in the group */
#define THRESHOLD		10
#define SAMPLES			2000

/* How long an access takes, and to where, by its line: see x86-pmu.rst. */
static const struct {
	unsigned int latency;
	unsigned int level;
} lines[] = {
	{ 4, PERF_MEM_LVL_L1 }, { 9, PERF_MEM_LVL_LFB }, { 14, PERF_MEM_LVL_L2 },
	{ 44, PERF_MEM_LVL_L3 }, { 5, PERF_MEM_LVL_L1 }, { 70, PERF_MEM_LVL_L3 },
	{ 16, PERF_MEM_LVL_L2 }, { 230, PERF_MEM_LVL_LOC_RAM },
};

#define LINE(addr)		((addr) >> 6 & (ARRAY_SIZE(lines) - 1))

static bool is_latency_right(const struct sample *s, const struct moment *m)
{
	union perf_mem_data_src source = { .val = s->data_src };
	unsigned int line = LINE(m->addr);

	return s->weight == lines[line].latency && source.mem_op == PERF_MEM_OP_LOAD &&
	       source.mem_lvl == (lines[line].level | PERF_MEM_LVL_HIT);
}

/**
 * struct slow - a load that takes long
 * @round: the round after it
 * @nr: how many there were, with it
 * @m: when it is done
 */
struct slow {
	u64 round;
	u64 nr;
	struct moment m;
};

/* Goes on to the load of that number; those of the strings are of a line that does not take long */
static void find_slow(const struct run *run, u64 nr, struct slow *slow)
{
	while (slow->nr < nr && slow->round < run->rounds) {
		program_at(run, LOADS, program_loads(slow->round++) + 1, &slow->m);
		slow->nr += lines[LINE(slow->m.addr)].latency > THRESHOLD;
	}
}

static void judge_slow(const struct run *run, struct ring *ring,
		       const struct perf_event_attr *attr, unsigned int before)
{
	unsigned int samples = 0, wrong = 0, displaced = 0, shifts = 0;
	const struct perf_event_header *header;
	struct slow slow = { 0 };
	struct moment m;
	struct sample s;

	while ((header = ring_next(ring))) {
		if (!sample_parse(header, attr, &s))
			continue;
		samples++;
		find_slow(run, samples * attr->sample_period + lasting(shifts), &slow);
		if (s.ip != slow.m.ip || s.addr != slow.m.addr) {
			shifts++;
			find_slow(run, slow.nr + 1, &slow);
		}
		m = slow.m;
		displaced += s.ip != m.ip || s.addr != m.addr;
		wrong += !is_latency_right(&s, &m);
		if (displaced + wrong == 1)
			ktap_diag("ip %#" PRIx64 ", addr %#" PRIx64 " for %#" PRIx64 ", weight %"
				  PRIu64 ", source %#" PRIx64, s.ip, s.addr, m.addr, s.weight,
				  s.data_src);
	}
	expect_eq("samples that are elsewhere", 0, displaced);
	expect_eq("samples with another latency or source", 0, wrong);
	expect_shifts(shifts, before);
	expect_range("samples", SAMPLES / 2, SAMPLES, samples);
	ktap_diag("%u samples, %u shifts", samples, shifts);
}

/* corepmu refuses it where it wants another event in its group. */
static bool has_latency(void)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events/mem-loads",
		 target.pmu);
	return !access(path, F_OK);
}

void slow_loads(void)
{
	struct run run = { .rounds = 13 * SAMPLES };
	struct ring ring = { 0 };
	struct perf_event_attr attr;
	unsigned int before;
	int leader, fd;

	if (!has_latency()) {
		ktap_skip("this PMU does not have mem-loads");
		return;
	}
	attr_init(&attr, LOADS_AUX);
	attr.disabled = 0;
	leader = event_open_self(&attr, -1);
	attr_init(&attr, LOAD_LATENCY);
	attr.config1 = THRESHOLD;
	attr.sample_period = 13;
	attr.precise_ip = 2;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT |
			   PERF_SAMPLE_DATA_SRC;
	fd = event_open_self(&attr, leader);
	run.fd = fd;
	if (fd >= 0 && make_tables(&run, false) && !ring_map(&ring, fd, RING_PAGES)) {
		before = switches();
		program(&run);
		judge_slow(&run, &ring, &attr, before);
	}
	ring_unmap(&ring);
	close(fd);
	close(leader);
}
