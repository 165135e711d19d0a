// SPDX-License-Identifier: GPL-2.0-only
/*
 * branchcounts - counts of events in branch records: PERF_SAMPLE_BRANCH_COUNTERS
 *
 * The program has conditional branches that are always taken. Known numbers of instructions, loads
 * and stores are between two branches. Each branch of each sample must have these numbers. The
 * event records conditional branches only, so that returns from interrupts are not recorded.
 * Counts before such a return are added to the program's next branch. For a virtual PMU that
 * counts exactly.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ring.h"

/* Since Linux 6.8 */
#define SAMPLE_BRANCH_COUNTERS	(1ULL << 19)

#define COND			PERF_SAMPLE_BRANCH_COND
#define USER			PERF_SAMPLE_BRANCH_USER

#define EVENT_INSTRUCTIONS	0x00c0
#define EVENT_BRANCHES		0x00c4
#define EVENT_LOADS		0x81d0
#define EVENT_STORES		0x82d0
#define EVENT_EDGE		(1ULL << 18)

/* Bits of one count */
#define BITS			2
#define MOST			3

#define PERIOD			1009
#define ROUNDS			6000
#define RING_PAGES		256
#define DEPTH			32

/* Work that lasts for several turns of two groups */
#define TURNS			300
#define LONG_PERIOD		20011

/* Minimum number of samples of a test */
#define SAMPLES			50

/* program(rounds) */
void program(u64 rounds);

asm(".pushsection .text\n"
"	.balign	64\n"
"	.global	program\n"
"program:\n"
"	test	%rsp, %rsp\n"
"at_first:\n"
"	movq	(%rsp), %rax\n"
"jump_first:\n"
"	jnz	at_second\n"		/* nop keeps the flags of DEC or TEST */
"	nop\n"
"at_second:\n"
"	movq	(%rsp), %rax\n"
"	movq	(%rsp), %rax\n"
"	movq	%rax, -8(%rsp)\n"
"jump_second:\n"
"	jnz	at_third\n"
"	nop\n"
"at_third:\n"
"jump_third:\n"
"	jnz	at_fourth\n"
"	nop\n"
"at_fourth:\n"
"	.rept	5\n"
"	movq	%rax, -16(%rsp)\n"
"	.endr\n"
"	dec	%rdi\n"
"jump_fourth:\n"
"	jnz	at_first\n"
"	ret\n"
"	.popsection\n");

extern const char at_first[], jump_first[], jump_second[], jump_third[], jump_fourth[];

/* Events between a branch and the previous branch */
enum { INSTRUCTIONS, BRANCHES, LOADS, STORES, EVENTS };

static const u64 configs[EVENTS] = {
	EVENT_INSTRUCTIONS, EVENT_BRANCHES, EVENT_LOADS, EVENT_STORES
};

static const struct part {
	const char *jump;
	unsigned int counts[EVENTS];
} parts[] = {
	{ jump_first,	{ 2, 1, 1, 0 } },
	{ jump_second,	{ 4, 1, 2, 1 } },
	{ jump_third,	{ 1, 1, 0, 0 } },
	{ jump_fourth,	{ 7, 1, 0, 5 } },
};

static const struct part *part_of(u64 from)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(parts); i++)
		if (from == (uintptr_t)parts[i].jump)
			return &parts[i];
	return NULL;
}

/* ---- groups ---- */

#define MEMBERS			5

/**
 * struct member - an event of a group
 * @event: the event
 * @branches: its PERF_SAMPLE_BRANCH_*
 * @period: its sample period, 0 for none
 * @precise: precise_ip
 * @off: the event stays disabled
 */
struct member {
	unsigned int event;
	u64 branches;
	u64 period;
	unsigned int precise;
	bool off;
};

struct group {
	const struct member *members;
	unsigned int nr;
	int fds[MEMBERS];
	struct ring rings[MEMBERS];
};

static void member_attr(const struct member *m, struct perf_event_attr *attr)
{
	attr_init(attr, configs[m->event]);
	attr->sample_period = m->period;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = m->branches;
	attr->precise_ip = m->precise;
	attr->wakeup_events = 1;
}

static bool open_group(struct group *g)
{
	struct perf_event_attr attr;

	for (unsigned int i = 0; i < g->nr; i++) {
		member_attr(&g->members[i], &attr);
		attr.disabled = !i || g->members[i].off;
		g->fds[i] = event_open_self(&attr, i ? g->fds[0] : -1);
		if (g->fds[i] < 0 ||
		    (g->members[i].period && ring_map(&g->rings[i], g->fds[i], RING_PAGES)))
			return false;
	}
	return true;
}

static void close_group(struct group *g)
{
	for (unsigned int i = 0; i < g->nr; i++) {
		ring_unmap(&g->rings[i]);
		if (g->fds[i] >= 0)
			close(g->fds[i]);
	}
}

/* ---- judge samples ---- */

struct verdict {
	unsigned int samples;
	unsigned int entries;
	unsigned int wrong;
	unsigned int emptied;
};

/*
 * Return the counts that a branch of @part must have: those of the events that request counts, in
 * the group's order.
 */
static u64 expected(const struct group *g, const struct part *part)
{
	unsigned int i, at = 0, count;
	u64 counts = 0;

	for (i = 0; i < g->nr; i++) {
		if (!(g->members[i].branches & SAMPLE_BRANCH_COUNTERS))
			continue;
		count = g->members[i].off ? 0 : part->counts[g->members[i].event];
		counts |= (u64)(count < MOST ? count : MOST) << (at++ * BITS);
	}
	return counts;
}

static const struct part *before(const struct part *part)
{
	return part == parts ? &parts[ARRAY_SIZE(parts) - 1] : part - 1;
}

/*
 * If two events of a group overflow in the same interrupt, the built-in driver's second sample has
 * no counts: intel_pmu_lbr_counters_reorder() clears them after the first.
 */
static bool all_zero(const u64 *counts, u64 nr)
{
	while (nr)
		if (counts[--nr])
			return false;
	return true;
}

/*
 * A record counts events since the previous record. Two records differ: a branch between the last
 * overflow and its interrupt may not be recorded, and counts before the oldest record are unknown.
 */
static void judge(struct verdict *v, const struct group *g,
		  const struct perf_event_header *header, const struct sample *s)
{
	const u64 *counts = (const u64 *)(s->branches + s->nr_branches);
	u64 end = (uintptr_t)header + header->size, want;
	const struct part *part;

	v->samples++;
	if ((uintptr_t)(counts + s->nr_branches) != end) {
		ktap_fail("a sample of %llu branches: expected as many counts behind them, got %lld bytes",
			  (unsigned long long)s->nr_branches,
			  (long long)(end - (uintptr_t)counts));
		return;
	}
	if (target.in_tree && all_zero(counts, s->nr_branches)) {
		v->emptied++;
		return;
	}
	for (unsigned int i = 0; i < s->nr_branches; i++) {
		part = part_of(s->branches[i].from);
		if (!part || i + 1 == s->nr_branches ||
		    part_of(s->branches[i + 1].from) != before(part))
			continue;
		v->entries++;
		want = expected(g, part);
		if (counts[i] != want && !v->wrong++)
			ktap_fail("branch %u of %llu, of part %u: expected counts of %#llx, got %#llx",
				  i, (unsigned long long)s->nr_branches,
				  (unsigned int)(part - parts), (unsigned long long)want,
				  (unsigned long long)counts[i]);
	}
}

static void judge_samples(struct group *g, unsigned int i)
{
	const struct perf_event_header *header;
	struct perf_event_attr attr;
	struct verdict v = { 0 };
	struct sample s;

	member_attr(&g->members[i], &attr);
	while ((header = ring_next_sample(&g->rings[i], &attr, &s)))
		judge(&v, g, header, &s);
	ktap_diag("event %u: %u samples, %u branches, %u samples without counts", i, v.samples,
		  v.entries, v.emptied);
	expect_range("samples without counts", 0, v.samples / 10, v.emptied);
	expect_range("samples", SAMPLES, ROUNDS, v.samples);
	expect_range("branches compared", SAMPLES * (DEPTH / 2), ROUNDS * DEPTH, v.entries);
	expect_eq("branches with other counts", 0, v.wrong);
}

static void run(const struct member *members, unsigned int nr)
{
	struct group g = { .members = members, .nr = nr, .fds = { -1, -1, -1, -1, -1 } };

	if (open_group(&g)) {
		event_enable(g.fds[0]);
		program(ROUNDS);
		event_disable(g.fds[0]);
		for (unsigned int i = 0; i < nr; i++)
			if (members[i].period)
				judge_samples(&g, i);
	}
	close_group(&g);
}

static long caps(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/caps/%s", target.pmu, name);
	return read_number(path);
}

static bool need_counts(void)
{
	if (caps("branch_counter_nr") > 0)
		return true;
	ktap_skip("this CPU's branch records have no counts, or the kernel does not know of them");
	return false;
}

/* ---- tests ---- */

static void caps_are_listed(void)
{
	if (!need_counts())
		return;
	expect_eq("events", 4, caps("branch_counter_nr"));
	expect_eq("bits of each", BITS, caps("branch_counter_width"));
}

/* A group */
struct scenario {
	struct member members[MEMBERS];
	unsigned int nr;
};

#define SCENARIO(nr, ...)						\
	.run_with = run_scenario,					\
	.value = (unsigned long)&(const struct scenario) { { __VA_ARGS__ }, nr }

static void run_scenario(unsigned long value)
{
	const struct scenario *scenario = (const struct scenario *)value;

	if (need_counts())
		run(scenario->members, scenario->nr);
}

static void disabled(void)
{
	static const struct member group[] = {
		{ INSTRUCTIONS, USER | COND, PERIOD, 0, false },
		{ LOADS, USER | SAMPLE_BRANCH_COUNTERS, 0, 0, true },
		{ STORES, USER | SAMPLE_BRANCH_COUNTERS, 0, 0, false },
	};

	if (!need_counts())
		return;
	if (target.in_tree)
		ktap_skip("intel_pmu_lbr_counters_reorder() shifts by the counter's number, which is -1");
	else
		run(group, ARRAY_SIZE(group));
}

static void precise(void)
{
	static const struct member group[] = {
		{ INSTRUCTIONS, USER | COND | SAMPLE_BRANCH_COUNTERS, PERIOD, 2, false },
		{ STORES, USER | SAMPLE_BRANCH_COUNTERS, 0, 0, false },
	};

	if (!need_counts())
		return;
	if (caps("max_precise") < 2)
		ktap_skip("no precise samples here");
	else
		run(group, ARRAY_SIZE(group));
}

/*
 * Two groups that do not fit together: the counts that one group leaves in the records do not
 * appear in the other's samples.
 */
static void turns(void)
{
	static const struct member first[] = {
		{ STORES, USER | COND | SAMPLE_BRANCH_COUNTERS, LONG_PERIOD, 0, false },
		{ LOADS, USER | SAMPLE_BRANCH_COUNTERS, 0, 0, false },
		{ BRANCHES, USER | SAMPLE_BRANCH_COUNTERS, 0, 0, false },
	};
	static const struct member second[] = {
		{ LOADS, USER | COND | SAMPLE_BRANCH_COUNTERS, LONG_PERIOD / 2, 0, false },
		{ BRANCHES, USER | SAMPLE_BRANCH_COUNTERS, 0, 0, false },
		{ STORES, USER | SAMPLE_BRANCH_COUNTERS, 0, 0, false },
	};
	struct group a = { .members = first, .nr = 3, .fds = { -1, -1, -1, -1, -1 } };
	struct group b = { .members = second, .nr = 3, .fds = { -1, -1, -1, -1, -1 } };

	if (!need_counts())
		return;
	if (open_group(&a) && open_group(&b)) {
		event_enable(a.fds[0]);
		event_enable(b.fds[0]);
		for (unsigned int i = 0; i < TURNS; i++)
			program(ROUNDS);
		event_disable(a.fds[0]);
		event_disable(b.fds[0]);
		judge_samples(&a, 0);
		judge_samples(&b, 0);
	}
	close_group(&a);
	close_group(&b);
}

static void refuse(const char *what, const struct member *m, u64 bits, int group)
{
	struct perf_event_attr attr;
	int fd;

	member_attr(m, &attr);
	attr.config |= bits;
	fd = event_open(&attr, 0, -1, group, 0);
	expect_eq(what, -EINVAL, fd);
	if (fd >= 0)
		close(fd);
}

static void refused(void)
{
	static const struct member
		counts = { STORES, USER | SAMPLE_BRANCH_COUNTERS, 0, 0, false },
		calls = { STORES, USER | PERF_SAMPLE_BRANCH_CALL_STACK | SAMPLE_BRANCH_COUNTERS,
			  PERIOD, 0, false },
		whole = { STORES, USER | COND | SAMPLE_BRANCH_COUNTERS, PERIOD, 0, false };
	static const struct member group[] = {
		{ INSTRUCTIONS, USER | COND | SAMPLE_BRANCH_COUNTERS, PERIOD, 0, false },
		{ STORES, USER | SAMPLE_BRANCH_COUNTERS, 0, 0, false },
		{ LOADS, USER | SAMPLE_BRANCH_COUNTERS, 0, 0, false },
		{ BRANCHES, USER | SAMPLE_BRANCH_COUNTERS, 0, 0, false },
	};
	struct group g = { .members = group, .nr = 4, .fds = { -1, -1, -1, -1, -1 } };
	struct perf_event_attr attr;
	int plain;

	if (!need_counts())
		return;
	refuse("counts of an LBR call stack", &calls, 0, -1);
	refuse("counts of what an edge makes of the event", &whole, EVENT_EDGE, -1);
	if (open_group(&g))
		refuse("a fifth event", &counts, 0, g.fds[0]);
	close_group(&g);
	attr_init(&attr, EVENT_BRANCHES);
	plain = event_open_self(&attr, -1);
	refuse("a leader without branches", &counts, 0, plain);
	close(plain);
}

static const struct ktap_case cases[] = {
	{ "sysfs has the number of counted events, and of their bits", caps_are_listed },
	/* Each event requests only its own counts. */
	{ "each branch has the counts of four events",
	  SCENARIO(4, { INSTRUCTIONS, USER | COND | SAMPLE_BRANCH_COUNTERS, PERIOD, 0, false },
		   { STORES, USER | SAMPLE_BRANCH_COUNTERS, 0, 0, false },
		   { LOADS, USER | SAMPLE_BRANCH_COUNTERS, 0, 0, false },
		   { BRANCHES, USER | SAMPLE_BRANCH_COUNTERS, 0, 0, false }) },
	{ "an event alone",
	  SCENARIO(1, { STORES, USER | COND | SAMPLE_BRANCH_COUNTERS, 307, 0, false }) },
	/* The counters have another order. Events that do not request counts are skipped. */
	{ "counts come in the group's order",
	  SCENARIO(5, { INSTRUCTIONS, USER | COND, PERIOD, 0, false },
		   { BRANCHES, USER | COND, 0, 0, false },
		   { LOADS, USER | SAMPLE_BRANCH_COUNTERS, 0, 0, false },
		   { BRANCHES, USER | COND, 0, 0, false },
		   { STORES, USER | SAMPLE_BRANCH_COUNTERS, 0, 0, false }) },
	/* Whichever member has overflowed. */
	{ "samples of all events of the group have counts",
	  SCENARIO(3, { INSTRUCTIONS, USER | COND | SAMPLE_BRANCH_COUNTERS, PERIOD, 0, false },
		   { LOADS, USER | SAMPLE_BRANCH_COUNTERS, 211, 0, false },
		   { STORES, USER | COND, 409, 0, false }) },
	{ "an event that is disabled has 0", disabled },
	{ "branches of precise samples have counts", precise },
	{ "groups that take turns have their own counts", turns },
	{ "call stacks, edges, a fifth event and a leader without branches are refused", refused },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 0);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
