// SPDX-License-Identifier: GPL-2.0-only
/*
 * branches.c - precise samples with branch stacks that end at the sampled instruction
 *
 * Adaptive records (Ice Lake and later) have these branches. Before, the driver reads them at the
 * interrupt, some branches later.
 */
#include <asm/perf_regs.h>
#include <unistd.h>

#include "precise.h"

/* Number of records that a CPU has */
#define DEPTH			32
/* Returns of interrupts and faults take up the remaining records, and are not shown. */
#define LEAST			24

#define PERIOD			1009
#define SAMPLES			2000
#define SAMPLES_PMI		200

static bool is_kernel(u64 addr)
{
	return addr >> 63;
}

bool has_last_branches(const struct sample *s, const struct run *run, enum counted what, u64 n,
		       unsigned int *fewer)
{
	struct branch taken[DEPTH];
	unsigned int nr = program_branches(run, what, n, taken, DEPTH), i, seen = 0;

	for (i = 0; i < s->nr_branches && seen < nr; i++) {
		const struct perf_branch_entry *e = &s->branches[i];

		/* The built-in driver shows returns from the kernel. */
		if (is_kernel(e->from))
			continue;
		if (e->from != taken[seen].from || e->to != taken[seen].to)
			return false;
		seen++;
	}
	*fewer += seen < (nr < LEAST ? nr : LEAST);
	return true;
}

static void attr_with_branches(const struct check *c, struct perf_event_attr *attr)
{
	attr_of(c, attr);
	attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
}

static bool has_branch_samples(void)
{
	const struct check c = { .what = INSTRUCTIONS, .precise = 2, .period = PERIOD };
	struct perf_event_attr attr;
	int fd;

	attr_with_branches(&c, &attr);
	attr.sample_regs_intr |= 1ULL << XMM3;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void branches(void)
{
	static const enum counted all[] = { INSTRUCTIONS, LOADS, BRANCHES };
	struct check c = { .precise = 2 };
	struct perf_event_attr attr;

	if (!has_branch_samples()) {
		ktap_skip("this PMU has no branches in its records");
		return;
	}
	for (unsigned int large = 0; large < 2; large++) {
		c.large = large;
		c.samples = large ? SAMPLES : SAMPLES_PMI;
		for (unsigned int i = 0; i < ARRAY_SIZE(all); i++) {
			c.what = all[i];
			c.period = c.what == INSTRUCTIONS ? PERIOD : PERIOD / 8;
			attr_with_branches(&c, &attr);
			check_attr(&c, &attr);
		}
	}
	c.what = INSTRUCTIONS;
	c.precise = 1;
	c.faulting = true;
	c.period = PERIOD;
	attr_with_branches(&c, &attr);
	check_attr(&c, &attr);
}
