// SPDX-License-Identifier: GPL-2.0-only
/*
 * records.c - corepmu_test.records=N on the kernel's command line: N branch records of a program
 * and of the kernel
 *
 * Records of the program are compared with its known branches. Branches of the kernel are not
 * known in advance. Each of its records is compared with the instruction at its source address.
 * Each is also compared with the previous record: the kernel must reach the source from the
 * previous target without a taken branch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "branches.h"
#include "text.h"

#define PERIOD		7001
/* Rounds of either program whose samples fit the ring */
#define ROUNDS		250
#define TURNS_MAX	100000

/* Longest kernel code without a taken branch */
#define STRAIGHT_MAX	0x4000

/* One record in so many may be of unreadable code, or of an exception. */
#define UNREAD_MAX	1000
#define EXCEPTIONS_MAX	50

static unsigned long wanted_records(void)
{
	static const char word[] = "corepmu_test.records=";
	FILE *file = fopen("/proc/cmdline", "re");
	char line[4096] = "";
	const char *at = NULL;

	if (file && fgets(line, sizeof(line), file))
		at = strstr(line, word);
	if (file)
		fclose(file);
	return at ? strtoul(at + strlen(word), NULL, 10) : 0;
}

/* Samples of one turn that may include branches before the program */
#define EARLY_MAX	2

/* Results for the kernel's records, and the numbers of samples and turns */
struct found {
	unsigned int turns;
	unsigned int early;
	unsigned long kernel;
	unsigned long unread;
	unsigned long exceptions;
	unsigned long wrong;
};

static void judge_target(const struct perf_branch_entry *e, struct found *f)
{
	u64 to;

	switch (text_kind(e->from, &to)) {
	case TEXT_UNKNOWN:
		f->unread++;
		return;
	case TEXT_ANYWHERE:
		return;
	case TEXT_DIRECT:
		if (to == e->to)
			return;
		break;
	case TEXT_OTHER:
		break;
	}
	/* No branch starts here: it must be an exception or an interrupt. */
	f->exceptions++;
	if (text_is_vector(e->to))
		return;
	if (!f->wrong++)
		ktap_diag("%#llx -> %#llx is nothing that the instruction there does",
			  (long long)e->from, (long long)e->to);
}

static void judge_order(const struct perf_branch_entry *e, const struct perf_branch_entry *older,
			struct found *f)
{
	if (older->to <= e->from && e->from - older->to <= STRAIGHT_MAX &&
	    text_goes_on(older->to, e->from))
		return;
	if (!f->wrong++)
		ktap_diag("no way from %#llx, where a branch led to, to the next at %#llx",
			  (long long)older->to, (long long)e->from);
}

static void judge_kernel(const struct sample *s, struct found *f)
{
	/* In-tree drivers skip interrupts of the kernel if they filter by type. */
	bool all = !target.in_tree || s->nr_branches >= depth_of_stack();

	for (unsigned int n = 0; n < s->nr_branches; n++) {
		const struct perf_branch_entry *e = &s->branches[n];

		if (!is_kernel(e->from))
			continue;
		f->kernel++;
		if (is_kernel(e->to))
			judge_target(e, f);
		if (all && n + 1 < s->nr_branches && is_kernel(e[1].to))
			judge_order(e, e + 1, f);
	}
}

/* At the start of the program the oldest records are branches of its caller: remove them. */
static bool drop_before(const struct course *c, struct sample *s)
{
	unsigned int n;

	for (n = 0; n < s->nr_branches; n++)
		if (!is_address_inside(c, s->branches[n].from) ||
		    !is_address_inside(c, s->branches[n].to))
			break;
	if (n == s->nr_branches)
		return false;
	s->nr_branches = n;
	return true;
}

static void judge_samples(struct sampling *s, struct verdict *v, struct found *f)
{
	const struct perf_event_header *header;
	struct sample sample;

	f->turns++;
	while ((header = ring_next(&s->ring))) {
		if (!expect_ne("records lost", PERF_RECORD_LOST, header->type) ||
		    !sample_parse(header, &s->attr, &sample))
			continue;
		drop_empty(&sample);
		if (!is_inside(v->course, &sample))
			continue;
		f->early += drop_before(v->course, &sample);
		judge(v, &sample);
		judge_kernel(&sample, f);
	}
}

/* Half of the recordings are in user space only, where the test knows all branches. */
static bool run_user(unsigned long wanted, struct verdict *v, struct course *course,
		     struct found *f)
{
	struct sampling s;

	course_plain(course, 0);
	v->course = course;
	if (sampling_open(&s, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE |
			  PERF_SAMPLE_BRANCH_USER, PERIOD)) {
		for (unsigned int i = 0; i < TURNS_MAX && v->entries < wanted; i++) {
			event_enable(s.fd);
			plain(ROUNDS);
			event_disable(s.fd);
			judge_samples(&s, v, f);
		}
	}
	sampling_close(&s);
	return s.fd >= 0;
}

static void run_kernel(unsigned long wanted, struct verdict *v, struct course *course,
		       struct found *f)
{
	struct sampling s;

	course_kernel(course);
	v->course = course;
	if (sampling_open(&s, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER |
			  PERF_SAMPLE_BRANCH_KERNEL, PERIOD)) {
		for (unsigned int i = 0; i < TURNS_MAX && v->entries < wanted; i++) {
			event_enable(s.fd);
			kernel(ROUNDS);
			event_disable(s.fd);
			judge_samples(&s, v, f);
		}
	}
	sampling_close(&s);
}

void records(void)
{
	struct verdict user = { .kinds = ~0U, .types = true, .cycles = HAS_CYCLES, .ip = true };
	struct verdict v = { .kinds = ~0U, .all = depth_of_stack() };
	unsigned long wanted = wanted_records();
	struct found f = { 0 };
	static struct course course;

	if (!wanted) {
		ktap_skip("no corepmu_test.records=N");
		return;
	}
	if (!kernel_prepare() || !text_open() || !run_user(wanted / 2, &user, &course, &f))
		return;
	run_kernel(wanted - wanted / 2, &v, &course, &f);
	text_close();
	expect_range("records of user space alone", wanted / 2, INT64_MAX, user.entries);
	expect_range("records of both", wanted - wanted / 2, INT64_MAX, v.entries);
	expect_eq("samples that are no part of what the program did", 0, user.wrong + v.wrong);
	expect_range("samples that reach back to before the program", 0, f.turns * EARLY_MAX,
		     f.early);
	expect_eq("records that are none of the kernel's instructions, or out of order", 0,
		  f.wrong);
	expect_range("entries that an interrupt fell into", 0, user.samples / 5, user.disturbed);
	expect_range("records of the kernel", v.entries / 2, v.entries, f.kernel);
	expect_range("of what cannot be read", 0, f.kernel / UNREAD_MAX, f.unread);
	expect_range("exceptions and interrupts of the kernel", 0, f.kernel / EXCEPTIONS_MAX,
		     f.exceptions);
	ktap_diag("%u turns; %lu records of user space, %u with an interrupt", f.turns,
		  user.entries, user.disturbed);
	ktap_diag("%lu of both, %lu of the kernel: %lu exceptions, %lu not read; %u entered",
		  v.entries, f.kernel, f.exceptions, f.unread, v.entered);
}
