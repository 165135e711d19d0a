// SPDX-License-Identifier: GPL-2.0-only
/*
 * counts.c - PERF_SAMPLE_READ of precise samples: a group's counts at the sampled instruction
 */
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "precise.h"

#define NR_MEMBERS		5
#define PERIOD			1009
#define FREQUENCY		20000
#define SAMPLES			200
#define SAMPLES_LARGE		4000
#define ROUNDS_FREQUENCY	100000
#define SAMPLES_FREQUENCY	10
/* Instructions that the events count after the program's last round */
#define TAIL			8

/**
 * struct counts - a group of events that the program counts
 * @fds: the events
 * @what: what each counts
 * @sampling: index of the precise event
 * @freq: its period is a frequency
 * @attr: attributes of the precise event
 */
struct counts {
	int fds[NR_MEMBERS];
	enum counted what[NR_MEMBERS];
	unsigned int sampling;
	bool freq;
	struct perf_event_attr attr;
};

static bool open_member(struct counts *g, const struct check *c, unsigned int i)
{
	struct check member = { .what = g->what[i] };
	struct perf_event_attr attr;

	attr_of(i == g->sampling ? c : &member, &attr);
	attr.read_format = PERF_FORMAT_GROUP;
	attr.disabled = !i;
	attr.sample_regs_intr = 0;
	attr.sample_type = 0;
	if (i == g->sampling) {
		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ;
		attr.freq = g->freq;
		g->attr = attr;
	}
	g->fds[i] = event_open_self(&attr, i ? g->fds[0] : -1);
	return g->fds[i] >= 0;
}

static bool open_group(struct counts *g, const struct check *c)
{
	memset(g->fds, -1, sizeof(g->fds));
	for (unsigned int i = 0; i < NR_MEMBERS; i++)
		if (!open_member(g, c, i))
			return false;
	return true;
}

static void close_group(struct counts *g)
{
	unsigned int i = NR_MEMBERS;

	while (i--)
		if (g->fds[i] >= 0)
			close(g->fds[i]);
}

static bool is_right(const struct counts *g, const struct sample *s, const struct run *run)
{
	enum counted what = g->what[g->sampling];
	u64 n = s->values[g->sampling];
	struct moment m;

	if (s->nr_values != NR_MEMBERS || !n || n > program_total(run, what))
		return false;
	program_at(run, what, n, &m);
	if (s->ip != m.ip)
		return false;
	for (unsigned int i = 0; i < NR_MEMBERS; i++)
		if (s->values[i] != program_count(what, n, g->what[i]))
			return false;
	return true;
}

static void print_wrong(const struct counts *g, const struct sample *s)
{
	enum counted what = g->what[g->sampling];
	u64 n = s->values[g->sampling];

	for (unsigned int i = 0; i < s->nr_values && n && i < NR_MEMBERS; i++)
		ktap_diag("at ip %#" PRIx64 ", event %u: %" PRIu64 " for %" PRIu64, s->ip,
			  g->what[i], s->values[i], program_count(what, n, g->what[i]));
}

/* Samples after the program's last round are of the system call that ends the count. */
static void judge_samples(const struct counts *g, struct ring *ring, const struct run *run,
			  unsigned int least)
{
	u64 total = program_total(run, g->what[g->sampling]);
	unsigned int samples = 0, wrong = 0;
	struct sample s;

	while (ring_next_sample(ring, &g->attr, &s)) {
		if (s.values[g->sampling] > total)
			continue;
		samples++;
		if (is_right(g, &s, run))
			continue;
		if (!wrong++)
			print_wrong(g, &s);
	}
	ktap_diag("%u samples", samples);
	expect_range("samples", least, UINT32_MAX, samples);
	expect_eq("samples with other counts than at their instruction", 0, wrong);
}

static void judge_totals(const struct counts *g, const struct run *run)
{
	u64 values[1 + NR_MEMBERS];

	expect_eq("what is read", sizeof(values), read(g->fds[0], values, sizeof(values)));
	for (unsigned int i = 0; i < NR_MEMBERS; i++) {
		u64 total = program_total(run, g->what[i]);

		expect_range("the count of a member", total, total + 2 * TAIL, values[1 + i]);
	}
}

static void check_counts(struct counts *g, const struct check *c, u64 rounds, unsigned int least)
{
	struct run run = { .rounds = rounds };
	struct ring ring = { 0 };

	if (open_group(g, c) && make_tables(&run, false) &&
	    !ring_map(&ring, g->fds[g->sampling], RING_PAGES)) {
		run.fd = g->fds[0];
		/* An instruction that faults loads twice. */
		memset(run.to, 0, (run.mask + 1) * sizeof(*run.to));
		program(&run);
		judge_samples(g, &ring, &run, least);
		judge_totals(g, &run);
	}
	ring_unmap(&ring);
	close_group(g);
}

static u64 rounds_of(unsigned int samples)
{
	struct run run = { .rounds = 2 };

	return 2 * ((u64)samples * PERIOD / program_total(&run, INSTRUCTIONS) + 1);
}

/* Skip a test with one record per interrupt under the built-in driver; return true if skipped. */
static bool loses_counts(void)
{
	if (target.in_tree)
		ktap_skip("the built-in driver loses the counts from a record to its interrupt");
	return target.in_tree;
}

void counts_one_by_one(void)
{
	const struct check c = { .what = INSTRUCTIONS, .precise = 2, .period = PERIOD };
	struct counts g = { .what = { INSTRUCTIONS, LOADS, STORES, BRANCHES, CYCLES } };

	if (loses_counts())
		return;
	check_counts(&g, &c, rounds_of(SAMPLES), SAMPLES);
}

void counts_gathered(void)
{
	const struct check c = {
		.what = INSTRUCTIONS, .precise = 2, .period = PERIOD, .large = true,
	};
	struct counts g = { .what = { INSTRUCTIONS, LOADS, STORES, BRANCHES, CYCLES } };

	check_counts(&g, &c, rounds_of(SAMPLES_LARGE), SAMPLES_LARGE);
}

/* When the group stops, the built-in driver removes the leader before it drains the records. */
void counts_of_sibling(void)
{
	const struct check c = {
		.what = BRANCHES, .precise = 2, .period = PERIOD / 8, .large = true,
	};
	struct counts g = {
		.what = { LOADS, INSTRUCTIONS, BRANCHES, CYCLES, STORES }, .sampling = 2,
	};

	if (target.in_tree) {
		ktap_skip("the built-in driver's last samples show the leader's final count");
		return;
	}
	check_counts(&g, &c, rounds_of(SAMPLES_LARGE), SAMPLES_LARGE / 2);
}

/* sample_freq shares its place with sample_period. */
void counts_with_frequency(void)
{
	const struct check c = { .what = INSTRUCTIONS, .precise = 2, .period = FREQUENCY };
	struct counts g = {
		.what = { INSTRUCTIONS, LOADS, STORES, BRANCHES, CYCLES }, .freq = true,
	};

	if (loses_counts())
		return;
	check_counts(&g, &c, ROUNDS_FREQUENCY, SAMPLES_FREQUENCY);
}

/* ---- topdown metrics ---- */

#define SLOTS			0x0400
#define TOPDOWN_RETIRING	0x8000
#define SLOTS_PER_CYCLE		4
/* The virtual PMU's share of retiring slots, see x86-pmu.rst */
#define RETIRING_255THS		102
/* Metrics are fractions of the slots since the last read of the register, rounded at each. */
#define ROUNDING		4

enum { OF_SLOTS, OF_RETIRING, OF_INSTRUCTIONS, NR_METRIC_EVENTS };

static bool is_metric_right(const struct sample *s, const struct run *run)
{
	u64 n = s->values[OF_INSTRUCTIONS], slots;
	struct moment m;

	if (s->nr_values != NR_METRIC_EVENTS || !n || n > program_total(run, INSTRUCTIONS))
		return false;
	program_at(run, INSTRUCTIONS, n, &m);
	slots = SLOTS_PER_CYCLE * program_count(INSTRUCTIONS, n, CYCLES);
	return s->ip == m.ip && s->values[OF_SLOTS] == slots &&
	       s->values[OF_RETIRING] + ROUNDING >= slots * RETIRING_255THS / 255 &&
	       s->values[OF_RETIRING] <= slots * RETIRING_255THS / 255 + ROUNDING;
}

static void judge_metrics(struct ring *ring, const struct perf_event_attr *attr,
			  const struct run *run)
{
	u64 total = program_total(run, INSTRUCTIONS);
	unsigned int samples = 0, wrong = 0;
	struct sample s;

	while (ring_next_sample(ring, attr, &s)) {
		if (s.values[OF_INSTRUCTIONS] > total)
			continue;
		samples++;
		if (is_metric_right(&s, run) || wrong++)
			continue;
		ktap_diag("at ip %#" PRIx64 ": %" PRIu64 " slots, %" PRIu64 " retiring, %" PRIu64
			  " instructions, %" PRIu64 " cycles", s.ip, s.values[OF_SLOTS],
			  s.values[OF_RETIRING], s.values[OF_INSTRUCTIONS],
			  program_count(INSTRUCTIONS, s.values[OF_INSTRUCTIONS], CYCLES));
	}
	ktap_diag("%u samples", samples);
	expect_range("samples", SAMPLES, UINT32_MAX, samples);
	expect_eq("samples with other metrics than at their instruction", 0, wrong);
}

void counts_of_metrics(void)
{
	static const u64 configs[] = { SLOTS, TOPDOWN_RETIRING };
	const struct check c = { .what = INSTRUCTIONS, .precise = 2, .period = PERIOD };
	struct run run = { .rounds = rounds_of(SAMPLES) };
	int fds[NR_METRIC_EVENTS] = { -1, -1, -1 };
	struct perf_event_attr attr;
	struct ring ring = { 0 };
	unsigned int i;

	if (loses_counts())
		return;
	for (i = 0; i < NR_METRIC_EVENTS; i++) {
		if (i == OF_INSTRUCTIONS)
			attr_of(&c, &attr);
		else
			attr_init(&attr, configs[i]);
		attr.read_format = PERF_FORMAT_GROUP;
		attr.disabled = !i;
		attr.sample_regs_intr = 0;
		attr.sample_type = i == OF_INSTRUCTIONS ? PERF_SAMPLE_IP | PERF_SAMPLE_READ : 0;
		fds[i] = event_open(&attr, 0, -1, i ? fds[0] : -1, 0);
		if (fds[i] < 0)
			break;
	}
	if (fds[OF_SLOTS] < 0 || fds[OF_RETIRING] < 0) {
		ktap_skip("this PMU has no topdown metrics");
	} else if (fds[OF_INSTRUCTIONS] < 0) {
		expect_eq("a precise event in the group", 0, fds[OF_INSTRUCTIONS]);
	} else if (make_tables(&run, false) && !ring_map(&ring, fds[OF_INSTRUCTIONS], RING_PAGES)) {
		run.fd = fds[0];
		/* An instruction that faults has cycles twice. */
		memset(run.to, 0, (run.mask + 1) * sizeof(*run.to));
		program(&run);
		judge_metrics(&ring, &attr, &run);
	}
	ring_unmap(&ring);
	while (i--)
		close(fds[i]);
}
