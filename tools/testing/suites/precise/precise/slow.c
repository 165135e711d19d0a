// SPDX-License-Identifier: GPL-2.0-only
/*
 * slow.c - samples of loads above a latency threshold, and of stores: address, latency and source
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "precise.h"

#define STORE_SAMPLE		0x02cd	/* MEM_TRANS_RETIRED.STORE_SAMPLE */
#define STORE_LATENCY		0x06d0	/* MEM_UOPS_RETIRED.STORE_LATENCY of atoms */
#define LOADS_AUX		0x8203	/* Golden Cove wants this in the group */
#define THRESHOLD		10
#define PERIOD			13
#define SAMPLES			2000

/*
 * With corepmu_test.loads=long: samples if all loads were slow. 5 of 8 are: 100,000 samples, and
 * few more fit into the ring.
 */
#define SAMPLES_LONG		160500

/* Latency and data source of an access, by its cache line: see x86-pmu.rst */
static const struct {
	unsigned int latency;
	unsigned int level;
} lines[] = {
	{ 4, PERF_MEM_LVL_L1 }, { 9, PERF_MEM_LVL_LFB }, { 14, PERF_MEM_LVL_L2 },
	{ 44, PERF_MEM_LVL_L3 }, { 5, PERF_MEM_LVL_L1 }, { 70, PERF_MEM_LVL_L3 },
	{ 16, PERF_MEM_LVL_L2 }, { 230, PERF_MEM_LVL_LOC_RAM },
};

/* Return event and unit mask of an event in sysfs, 0 if the PMU does not have it. */
static u64 event_of(const char *name)
{
	unsigned int event, umask;
	char path[128];
	FILE *file;
	int nr;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events/%s",
		 target.pmu, name);
	file = fopen(path, "r");
	if (!file)
		return 0;
	nr = fscanf(file, "event=%x,umask=%x", &event, &umask);
	fclose(file);
	return nr == 2 ? umask << 8 | event : 0;
}

/* The CPU is an atom, or a core from Lion Cove on, with data sources of its own. */
static bool has_own_sources;

/* Check whether the CPU is of Lunar Lake, Panther Lake, Nova Lake or Diamond Rapids. */
static bool is_of_new_models(void)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	unsigned int family = 0, model = 0;
	char line[256];

	while (file && !model && fgets(line, sizeof(line), file))
		if (sscanf(line, "cpu family : %u", &family) != 1)
			sscanf(line, "model : %u", &model);
	if (file)
		fclose(file);
	return family == 18 || family == 19 || (family == 6 && (model == 189 || model == 204));
}

#define LINE(addr)		((addr) >> 6 & (ARRAY_SIZE(lines) - 1))

/* A CPU with data sources of its own misses the second-level TLB when it accesses the last line. */
static bool is_tlb_right(union perf_mem_data_src source, unsigned int line)
{
	bool misses = has_own_sources && line == ARRAY_SIZE(lines) - 1;

	return source.mem_dtlb == (misses ? PERF_MEM_TLB_MISS | PERF_MEM_TLB_L2 :
				   PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1 | PERF_MEM_TLB_L2) &&
	       source.mem_lock != PERF_MEM_LOCK_LOCKED;
}

/*
 * Another core has the second line in L3. On a CPU with its own data sources, that core has
 * modified the line.
 */
static bool is_snoop_right(union perf_mem_data_src source, unsigned int line)
{
	unsigned int other = has_own_sources ? PERF_MEM_SNOOP_HITM : PERF_MEM_SNOOP_HIT;

	return lines[line].level != PERF_MEM_LVL_L3 ||
	       source.mem_snoop == (line == 5 ? other : PERF_MEM_SNOOP_NONE);
}

static bool is_latency_right(const struct sample *s, const struct moment *m, enum counted what)
{
	union perf_mem_data_src source = { .val = s->data_src };
	unsigned int line = LINE(m->addr);

	return s->weight == lines[line].latency && is_tlb_right(source, line) &&
	       is_snoop_right(source, line) &&
	       source.mem_op == (what == LOADS ? PERF_MEM_OP_LOAD : PERF_MEM_OP_STORE) &&
	       source.mem_lvl == (lines[line].level | PERF_MEM_LVL_HIT);
}

/**
 * struct slow - a load above the threshold, or any store
 * @round: the round after a load
 * @nr: number of such accesses so far, including this one
 * @m: state after it
 */
struct slow {
	u64 round;
	u64 nr;
	struct moment m;
};

static bool is_slow(const struct run *run, u64 round)
{
	return lines[LINE(program_load_addr(run, round))].latency > THRESHOLD;
}

/*
 * Count the loads with a latency above THRESHOLD, or all stores. Loads of the string instruction are
 * from a fast line.
 */
static u64 count_slow(const struct run *run, enum counted what)
{
	u64 round, nr = 0;

	if (what == STORES)
		return program_total(run, STORES);
	for (round = 1; round <= run->rounds; round++)
		nr += is_slow(run, round);
	return nr;
}

/* Advance to access @nr. */
static void find_slow(const struct run *run, enum counted what, u64 nr, struct slow *slow)
{
	if (what == STORES) {
		program_at(run, STORES, nr, &slow->m);
		slow->nr = nr;
		return;
	}
	while (slow->nr < nr && slow->round < run->rounds) {
		slow->round++;
		slow->nr += is_slow(run, slow->round);
	}
	if (slow->round)
		program_at(run, LOADS, program_loads(slow->round - 1) + 1, &slow->m);
}

static void judge_slow(const struct run *run, enum counted what, struct ring *ring,
		       const struct perf_event_attr *attr, unsigned int before)
{
	bool stores = what == STORES;
	u64 most = count_slow(run, what) / PERIOD;
	u64 switched = switches() - before;
	/* Each task switch may make one sample late. */
	u64 least = stores ? most / 2 : switched < most ? most - switched : 0;
	unsigned int samples = 0, wrong = 0, displaced = 0, shifts = 0;
	struct slow slow = { 0 };
	struct moment m;
	struct sample s;

	while (ring_next_sample(ring, attr, &s)) {
		samples++;
		find_slow(run, what, samples * attr->sample_period + lasting(shifts), &slow);
		if (s.ip != slow.m.ip || s.addr != slow.m.addr) {
			shifts++;
			find_slow(run, what, slow.nr + 1, &slow);
		}
		m = slow.m;
		displaced += s.ip != m.ip || s.addr != m.addr;
		wrong += !is_latency_right(&s, &m, what);
		if (displaced + wrong == 1)
			ktap_diag("ip %#" PRIx64 ", addr %#" PRIx64 " for %#" PRIx64 ", weight %"
				  PRIu64 ", source %#" PRIx64, s.ip, s.addr, m.addr, s.weight,
				  s.data_src);
	}
	expect_eq("samples that are elsewhere", 0, displaced);
	expect_eq("samples with another latency or source", 0, wrong);
	expect_shifts(shifts, before);
	expect_range("samples", least, most, samples);
	ktap_diag("%u samples, %u shifts", samples, shifts);
}

static void slow_attr(struct perf_event_attr *attr, u64 config)
{
	attr_init(attr, config);
	attr->sample_period = PERIOD;
	attr->precise_ip = 2;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT |
			    PERF_SAMPLE_DATA_SRC;
}

static void sample_slow(struct perf_event_attr *attr, enum counted what, unsigned int most,
			int leader)
{
	struct run run = { .rounds = PERIOD * most };
	struct ring ring = { 0 };
	unsigned int before;
	int fd;

	has_own_sources = event_of("mem-stores") == STORE_LATENCY || is_of_new_models();
	fd = event_open_self(attr, leader);
	run.fd = fd;
	if (fd >= 0 && make_tables(&run, false) && !ring_map(&ring, fd, RING_PAGES)) {
		before = switches();
		program(&run);
		judge_slow(&run, what, &ring, attr, before);
	}
	ring_unmap(&ring);
	close(fd);
}

void slow_loads(void)
{
	struct perf_event_attr aux, attr;
	unsigned int most = SAMPLES;
	int leader = -1;

	if (!event_of("mem-loads")) {
		ktap_skip("this PMU does not have mem-loads");
		return;
	}
	if (event_of("mem-loads-aux")) {
		attr_init(&aux, LOADS_AUX);
		aux.disabled = 0;
		leader = event_open_self(&aux, -1);
	}
	slow_attr(&attr, event_of("mem-loads"));
	attr.config1 = THRESHOLD;
	if (command_line_has("corepmu_test.loads=long"))
		most = SAMPLES_LONG;
	sample_slow(&attr, LOADS, most, leader);
	if (leader >= 0)
		close(leader);
	/* The built-in driver opens this event, and then counts loads without a threshold. */
	if (!target.in_tree) {
		attr.precise_ip = 0;
		expect_eq("without precise samples", -EINVAL, event_open(&attr, 0, -1, -1, 0));
		attr.config1 = 0;
		expect_eq("nor a threshold", -EINVAL, event_open(&attr, 0, -1, -1, 0));
	}
}

/* The perf tool explains this errno to its user. */
void slow_loads_alone(void)
{
	struct perf_event_attr attr;
	int leader, aux, fd;

	if (!event_of("mem-loads-aux")) {
		ktap_skip("this PMU does not have mem-loads-aux");
		return;
	}
	slow_attr(&attr, event_of("mem-loads"));
	expect_eq("the event alone", -ENODATA, event_open(&attr, 0, -1, -1, 0));
	attr.sample_type &= ~PERF_SAMPLE_DATA_SRC;
	leader = event_open_self(&attr, -1);
	expect_true("without the source of data", leader >= 0);
	slow_attr(&attr, event_of("mem-loads"));
	expect_eq("a group without it", -ENODATA, event_open(&attr, 0, -1, leader, 0));
	attr_init(&attr, LOADS_AUX);
	aux = event_open_self(&attr, leader);
	slow_attr(&attr, event_of("mem-loads"));
	fd = event_open_self(&attr, leader);
	expect_true("a group that has it, but not first", fd >= 0);
	close(fd);
	close(aux);
	close(leader);
}

void slow_stores(void)
{
	u64 stores = event_of("mem-stores");
	struct perf_event_attr attr;

	if (stores != STORE_SAMPLE && stores != STORE_LATENCY) {
		ktap_skip("this PMU does not have latencies of stores");
		return;
	}
	slow_attr(&attr, stores);
	sample_slow(&attr, STORES, SAMPLES, -1);
}
