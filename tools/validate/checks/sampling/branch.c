// SPDX-License-Identifier: GPL-2.0-only
/*
 * branch.c - branch stacks, if the PMU has them
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "judge/validate.h"

#define PAGES		64
#define PERIOD		100000

#define USER		PERF_SAMPLE_BRANCH_USER

/* Maximum distance of code without a taken branch, in bytes */
#define STRAIGHT_MAX	0x10000

static struct ring ring;

/* Results from the stacks of all samples in the known loop */
struct found {
	unsigned int samples;
	unsigned int longest;
	unsigned int shortest;
	u64 from;
	unsigned long own;
	unsigned long astray;
	unsigned long empty;
	unsigned long kernel;
	unsigned long disordered;
	unsigned long flagged;
};

static bool in_loop(u64 addr)
{
	return addr >= (u64)known_loop_start && addr < (u64)known_loop_end;
}

static void look_at_sample(struct found *f, const struct sample *s)
{
	if (!in_loop(s->ip))
		return;
	if (!f->samples++ || s->nr_branches < f->shortest)
		f->shortest = s->nr_branches;
	if (s->nr_branches > f->longest)
		f->longest = s->nr_branches;
	for (unsigned int n = 0; n < s->nr_branches; n++) {
		const struct perf_branch_entry *e = &s->branches[n];

		if (in_loop(e->from) && in_loop(e->to)) {
			f->own++;
			f->from = f->from ?: e->from;
			/* The loop has one branch, from its end to its start. */
			f->astray += e->from != f->from || e->to != (u64)known_loop_start;
		}
		f->empty += !e->from && !e->to;
		f->kernel += e->to >> 63;
		f->flagged += e->mispred || e->predicted || e->cycles;
		/* A branch lies behind the target of the branch before it, the next entry. */
		if (n)
			f->disordered += e[-1].from < e->to || e[-1].from > e->to + STRAIGHT_MAX;
	}
}

/* Return the number of branch records that the PMU says it has. */
static unsigned long listed_records(void)
{
	char path[256], text[64] = "";
	const char *name = pmu.name ?: "cpu";

	/* AMD's Branch Sampling (BRS) has branch records only for the event of this name. */
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events/branch-brs", name);
	if (!access(path, F_OK))
		return 0;
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/caps/branches", name);
	return read_text(path, text, sizeof(text)) ? strtoul(text, NULL, 0) : 0;
}

static void run_code(void (*code)(void))
{
	if (code)
		code();
	else
		known_loop(10 * ITERATIONS);
}

/* Sample branches of @code. Return false if the PMU cannot filter them. */
static bool sample_branches(u64 branches, void (*code)(void), struct found *f)
{
	struct perf_event_attr attr;
	struct sample s;
	int fd;

	memset(f, 0, sizeof(*f));
	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK);
	attr.branch_sample_type = branches;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd < 0) {
		expect_true("an errno of a missing feature", fd == -EOPNOTSUPP || fd == -EINVAL);
		if (branches == (PERF_SAMPLE_BRANCH_ANY | USER))
			expect_eq("caps/branches of a PMU that samples none", 0, listed_records());
		ktap_skip("the PMU has no branch records: %s", strerror(-fd));
		return false;
	}
	if (!ring_map(&ring, fd, PAGES)) {
		event_enable(fd);
		run_code(code);
		event_disable(fd);
		while (ring_next_sample(&ring, &attr, &s))
			look_at_sample(f, &s);
		expect_range("samples in the loop", 10, INT32_MAX, f->samples);
	}
	close_sampling(&ring, fd);
	return true;
}

static void any_branch(void)
{
	struct found f;

	if (!sample_branches(PERF_SAMPLE_BRANCH_ANY | USER, NULL, &f))
		return;
	expect_range("entries of the longest stack", 1, 4096, f.longest);
	if (listed_records())
		expect_eq("entries of the longest stack and caps/branches", listed_records(),
			  f.longest);
	expect_eq("entries without an address", 0, f.empty);
	expect_eq("entries out of order", 0, f.disordered);
	expect_eq("entries of another branch than the loop's", 0, f.astray);
	/* Interrupts add few branches to a long loop. */
	expect_range("entries of the loop's own branch",
		     (unsigned long)f.samples * f.longest * 9 / 10,
		     (unsigned long)f.samples * f.longest, f.own);
}

static void user_only(void)
{
	struct found f;

	if (sample_branches(PERF_SAMPLE_BRANCH_ANY | USER, NULL, &f))
		expect_eq("branches into the kernel", 0, f.kernel);
}

/* The loop has only a conditional branch. */
static void other_kinds(void)
{
	static const u64 kinds[] = {
		PERF_SAMPLE_BRANCH_ANY_CALL, PERF_SAMPLE_BRANCH_ANY_RETURN,
		PERF_SAMPLE_BRANCH_IND_CALL, PERF_SAMPLE_BRANCH_IND_JUMP,
	};
	struct found f;

	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++)
		if (sample_branches(kinds[i] | USER, NULL, &f))
			expect_eq("conditional branches among others", 0, f.own);
}

static void without_flags(void)
{
	struct found f;

	if (sample_branches(PERF_SAMPLE_BRANCH_ANY | USER | PERF_SAMPLE_BRANCH_NO_FLAGS |
			    PERF_SAMPLE_BRANCH_NO_CYCLES, NULL, &f))
		expect_eq("entries with flags or cycles", 0, f.flagged);
}

static void __attribute__((noinline)) inner(void)
{
	known_loop(10 * ITERATIONS);
	asm volatile("" ::: "memory");
}

static void __attribute__((noinline)) outer(void)
{
	inner();
	asm volatile("" ::: "memory");
}

/* The calls of run_code(), outer(), inner(), known_loop() */
#define CALLS	4

static void call_stack(void)
{
	struct found f;

	if (!sample_branches(PERF_SAMPLE_BRANCH_CALL_STACK | USER, outer, &f))
		return;
	expect_range("calls of the shortest stack", CALLS - 1, 64, f.shortest);
	expect_eq("all stacks are alike", f.shortest, f.longest);
}

static void counting(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_instructions(&attr);
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	fd = event_open(&attr, 0, -1, -1, 0);
	expect_eq("levels and no branches", -EINVAL, fd);
	if (fd >= 0)
		close(fd);
}

#define BRANCHES	MAN "PERF_SAMPLE_BRANCH_STACK: \"This provides a record of recent branches, as provided by CPU branch sampling hardware\""

static const struct check checks[] = {
	{ "branch", "the branch of a loop", BRANCHES, any_branch, NEED_SAMPLING },
	{ "branch", "only user space",
	  MAN "PERF_SAMPLE_BRANCH_USER: \"Branch target is in user space.\"", user_only,
	  NEED_SAMPLING },
	{ "branch", "types that the loop does not have",
	  MAN "\"If PERF_SAMPLE_BRANCH_STACK is enabled, then this specifies what branches to include in the branch record.\"",
	  other_kinds, NEED_SAMPLING },
	{ "branch", "without flags and cycles",
	  MAN "\"Support for mispred, predicted, and cycles is optional; if not supported, those values will be 0.\"; linux/perf_event.h: PERF_SAMPLE_BRANCH_NO_FLAGS, PERF_SAMPLE_BRANCH_NO_CYCLES",
	  without_flags, NEED_SAMPLING },
	{ "branch", "a call stack",
	  MAN "\"Branch is part of a hardware-generated call stack.\"",
	  call_stack, NEED_SAMPLING },
	{ "branch", "levels and no branches are EINVAL",
	  MAN "\"In addition to the privilege value, at least one or more of the following bits must be set.\"",
	  counting, 0 },
};

const struct check_list branch_checks = { checks, ARRAY_SIZE(checks) };
