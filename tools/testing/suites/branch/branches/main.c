// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the suite "branches": compare branch stacks of known programs entry by entry
 *
 * For PMUs with branch records: the suite fails elsewhere. An interrupt changes the cycles of an
 * entry.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "branches.h"

#define PERIOD			20011
#define ROUNDS			12000
#define RING_PAGES		256

/* A verdict needs at least so many samples. */
#define SAMPLES			100

/* A round has about 200 user instructions, and 20,000 with the kernel's. */
#define ENTERING_PERIOD		211
#define KERNEL_PERIOD		20011
#define ENTERING_ROUNDS		4000

/* Samples that may include branches before or after the program */
#define OUTSIDE_MAX		8

#define USER			PERF_SAMPLE_BRANCH_USER

static struct course course;

unsigned int depth_of_stack(void)
{
	/* AMD's in-tree drivers do not report the number. */
	return branch_records() ?: USUAL_DEPTH;
}

/* ---- a sampling event with branches ---- */

bool sampling_open(struct sampling *s, u64 branches, u64 period)
{
	attr_init(&s->attr, ARCH_EVENT_INSTRUCTIONS);
	s->attr.exclude_kernel = !(branches & PERF_SAMPLE_BRANCH_KERNEL);
	s->attr.sample_period = period;
	s->attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	s->attr.branch_sample_type = branches;
	s->ring.page = NULL;
	s->fd = event_open_self(&s->attr, -1);
	return s->fd >= 0 && !ring_map(&s->ring, s->fd, RING_PAGES);
}

void sampling_close(struct sampling *s)
{
	ring_unmap(&s->ring);
	if (s->fd >= 0)
		close(s->fd);
}

/*
 * Length of a system call or trap instruction on x86; the kernel returns behind it, or starts the
 * handler there.
 */
#define ENTERING_INSN		2

/*
 * Check whether the program has entered the kernel at an address. A late interrupt shows this
 * address.
 */
static bool is_entry(const struct course *c, u64 addr)
{
	for (unsigned int i = 0; i < c->nr; i++) {
		const struct step *s = &c->steps[i];

		if (s->kind == KIND_ENTER &&
		    (addr == s->from || addr == s->from + ENTERING_INSN))
			return true;
	}
	return false;
}

/*
 * Check whether an address is in the program, not before or after it. All kernel addresses count
 * as inside.
 */
bool is_address_inside(const struct course *c, u64 addr)
{
	for (unsigned int i = 0; i < c->nr; i++) {
		const struct step *s = &c->steps[i];
		u64 end = c->steps[(i + 1) % c->nr].from;

		if (addr == s->from || addr == s->to || (s->to && addr > s->to && addr <= end))
			return true;
	}
	return is_kernel(addr) || is_entry(c, addr);
}

bool is_inside(const struct course *c, const struct sample *s)
{
	/* Perf core shows 0 for a kernel address to an event that excludes the kernel. */
	bool entered = is_kernel(s->ip) || !s->ip || is_entry(c, s->ip);

	for (unsigned int n = 0; entered && n < s->nr_branches; n++)
		if (!is_address_inside(c, s->branches[n].from) ||
		    !is_address_inside(c, s->branches[n].to))
			return false;
	return is_address_inside(c, s->ip);
}

/*
 * After the records were cleared, there are fewer branches than registers. In-tree drivers show
 * the registers that are still zero as last entries.
 */
unsigned int drop_empty(struct sample *s)
{
	unsigned int nr;

	for (nr = 0; s->nr_branches; nr++, s->nr_branches--) {
		const struct perf_branch_entry *e = &s->branches[s->nr_branches - 1];

		if (e->from || e->to)
			break;
	}
	return nr;
}

static void judge_all(struct sampling *s, struct verdict *v, unsigned int depth)
{
	const struct perf_event_header *header;
	unsigned int outside = 0, empty = 0;
	struct sample sample;

	while ((header = ring_next(&s->ring))) {
		if (!expect_ne("records lost", PERF_RECORD_LOST, header->type))
			continue;
		if (!sample_parse(header, &s->attr, &sample))
			continue;
		empty += drop_empty(&sample);
		if (!is_inside(v->course, &sample))
			outside++;
		else if (depth)
			judge_calls(v, &sample, depth);
		else
			judge(v, &sample);
	}
	expect_eq("samples that are no part of what the program did", 0, v->wrong);
	expect_range("samples outside of the program", 0, OUTSIDE_MAX, outside);
	if (!target.in_tree)
		expect_eq("empty entries", 0, empty);
	expect_range("entries that an interrupt fell into", 0, v->samples / 5, v->disturbed);
	expect_range("samples", SAMPLES, INT32_MAX, v->samples);
	ktap_diag("%u samples, %lu entries, %u to %u each", v->samples, v->entries, v->shortest,
		  v->longest);
	ktap_diag("of these %u disturbed, %u entering, %u missed, %u empty besides", v->disturbed,
		  v->entered, v->missed, empty);
}

static void run_plain(u64 branches, struct verdict *v, unsigned int depth)
{
	struct sampling s;

	course_plain(&course, 0);
	v->course = &course;
	if (sampling_open(&s, branches, PERIOD)) {
		event_enable(s.fd);
		plain(ROUNDS);
		event_disable(s.fd);
		judge_all(&s, v, depth);
	}
	sampling_close(&s);
}

/* ---- tests ---- */

static void any(void)
{
	struct verdict v = {
		.kinds = KIND_ALL, .types = true, .cycles = HAS_CYCLES, .ip = true,
	};

	run_plain(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE | USER, &v, 0);
	expect_eq("entries of the deepest stack", depth_of_stack(), v.longest);
	/*
	 * A full stack is missing only right after a task switch, when user space has had few
	 * branches yet: returns from the kernel are not shown.
	 */
	expect_range("samples with a full stack", v.samples * 9 / 10, v.samples, v.full);
	/*
	 * The predictor misses branches that change their direction every other round, and the ends
	 * of loops.
	 */
	expect_range("mispredicted entries", 1, v.entries / 10, v.missed);
}

/* A filter, and the kinds of branches that it selects */
struct filter {
	u64 branches;
	unsigned int kinds;
};

#define FILTER(...)	\
	.run_with = filtered, .value = (unsigned long)&(const struct filter) { __VA_ARGS__ }

static void filtered(unsigned long value)
{
	const struct filter *filter = (const struct filter *)value;
	struct verdict v = { .kinds = filter->kinds };

	run_plain(filter->branches | USER, &v, 0);
	expect_range("entries of the deepest stack", 1, depth_of_stack(), v.longest);
}

/* Before Linux 6.2 perf core notifies only the PMU that was registered first of task switches. */
bool is_notified_of_switches(void)
{
	return target.in_tree || target.kernel >= 602 ||
	       access("/sys/bus/event_source/devices/cpu", F_OK);
}

static const char *why_no_calls(void)
{
	const char *why = WHY_NO_CALLS;

	if (why)
		return why;
	if (!is_notified_of_switches())
		return "perf core notifies the built-in driver of task switches, but not this one";
	return NULL;
}

bool calls_are_followed(void)
{
	if (why_no_calls())
		ktap_skip("%s", why_no_calls());
	return !why_no_calls();
}

static int open_call_stack(u64 more)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK | more;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd >= 0)
		close(fd);
	return fd;
}

static void call_stack(void)
{
	struct verdict v = { .kinds = KIND_ALL };

	if (why_no_calls()) {
		expect_eq("an LBR call stack", -EOPNOTSUPP, open_call_stack(USER));
		return;
	}
	run_plain(PERF_SAMPLE_BRANCH_CALL_STACK | USER, &v, depth_of_stack());
	expect_eq("entries of the deepest stack", depth_of_stack(), v.longest);
	expect_eq("an LBR call stack and any branch", -EINVAL,
		  open_call_stack(PERF_SAMPLE_BRANCH_ANY | USER));
	/* The built-in driver's kernel stack starts with calls of the interrupt handler. */
	if (!target.in_tree)
		expect_eq("calls of the kernel", -EOPNOTSUPP,
			  open_call_stack(PERF_SAMPLE_BRANCH_KERNEL | USER));
}

/* Hardware that records call stacks records nothing else: perf core rotates the two events. */
static void call_stack_beside(void)
{
	struct verdict calls = { .course = &course, .kinds = KIND_ALL, .partial = true };
	struct verdict any = { .course = &course, .kinds = KIND_ALL };
	struct sampling stack, branches;

	if (!calls_are_followed())
		return;
	if (target.in_tree) {
		ktap_skip("the built-in driver shows branches from before perf scheduled the event in");
		return;
	}
	course_plain(&course, 0);
	if (sampling_open(&stack, PERF_SAMPLE_BRANCH_CALL_STACK | USER, PERIOD)) {
		if (sampling_open(&branches, PERF_SAMPLE_BRANCH_ANY | USER, PERIOD)) {
			event_enable(stack.fd);
			event_enable(branches.fd);
			plain(4 * ROUNDS);
			event_disable(branches.fd);
			event_disable(stack.fd);
			judge_all(&stack, &calls, depth_of_stack());
			judge_all(&branches, &any, 0);
		}
		sampling_close(&branches);
	}
	sampling_close(&stack);
}

/* plain() has samples with these filters, and they have no branches. */
static void nothing_of(u64 branches)
{
	unsigned int samples = 0, entries = 0;
	struct sampling s;
	struct sample sample;

	if (sampling_open(&s, branches | USER, PERIOD)) {
		event_enable(s.fd);
		plain(ROUNDS);
		event_disable(s.fd);
		while (ring_next_sample(&s.ring, &s.attr, &sample)) {
			drop_empty(&sample);
			samples++;
			entries += sample.nr_branches;
		}
		expect_range("samples", SAMPLES, INT32_MAX, samples);
		expect_eq("entries", 0, entries);
	}
	sampling_close(&s);
}

/* Only Intel has transactions (RTM, HLE); QEMU's CPUs have none. */
static void never_in_transactions(void)
{
	struct verdict v = { .kinds = KIND_ALL, .ip = true };

	if (WHY_NO_TX) {
		ktap_skip("%s", WHY_NO_TX);
		return;
	}
	run_plain(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_NO_TX | USER, &v, 0);
	expect_eq("entries of the deepest stack", depth_of_stack(), v.longest);
	nothing_of(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_IN_TX);
	nothing_of(PERF_SAMPLE_BRANCH_ABORT_TX);
}

static const char *map_code(int fd)
{
	void *code = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);

	return code == MAP_FAILED ? NULL : code;
}

/* One code at two addresses, as a shared library is mapped in two processes */
static void two_addresses(void)
{
	struct verdict v = {
		.course = &course, .kinds = KIND_ALL, .types = true, .cycles = HAS_CYCLES,
		.ip = true,
	};
	const size_t len = plain_code_end - plain_code;
	int fd = memfd_create("plain", 0);
	const char *here, *there;
	struct sampling s;

	if (!expect_true("a file in memory", fd >= 0 &&
			 write(fd, plain_code, len) == (ssize_t)len))
		return;
	here = map_code(fd);
	there = map_code(fd);
	close(fd);
	if (!expect_true("code mapped twice", here && there))
		return;
	course_both(&course, here - plain_code, there - plain_code);
	if (sampling_open(&s, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE | USER,
			  PERIOD)) {
		event_enable(s.fd);
		both(ROUNDS / 2, here, there);
		event_disable(s.fd);
		judge_all(&s, &v, 0);
	}
	sampling_close(&s);
}

static void run_entering(u64 branches, u64 period, struct verdict *v)
{
	struct sampling s;

	course_kernel(&course);
	v->course = &course;
	if (kernel_prepare() && sampling_open(&s, branches, period)) {
		event_enable(s.fd);
		kernel(ENTERING_ROUNDS);
		event_disable(s.fd);
		judge_all(&s, v, 0);
		sampling_close(&s);
	}
}

/* A return from the kernel ends in user space; the drivers may show it or not. */
static void into_kernel(void)
{
	struct verdict v = {
		.kinds = ~(KIND_BIT(KIND_ENTER) | KIND_BIT(KIND_LEAVE)),
	};

	run_entering(PERF_SAMPLE_BRANCH_ANY | USER, ENTERING_PERIOD, &v);
	expect_eq("entries that end in the kernel", 0, v.entered);
}

static void with_kernel(void)
{
	struct verdict v = { .kinds = KIND_ALL, .all = depth_of_stack() };

	run_entering(PERF_SAMPLE_BRANCH_ANY | USER | PERF_SAMPLE_BRANCH_KERNEL, KERNEL_PERIOD,
		     &v);
	expect_range("system calls and traps in the stacks", 1, INT32_MAX, v.entered);
}

static const struct ktap_case cases[] = {
	{ "any branch", any },
	{ "calls and indirect calls",
	  FILTER(PERF_SAMPLE_BRANCH_ANY_CALL, KIND_BIT(KIND_CALL) | KIND_BIT(KIND_IND_CALL)) },
	{ "returns", FILTER(PERF_SAMPLE_BRANCH_ANY_RETURN, KIND_BIT(KIND_RETURN)) },
	{ "conditional branches", FILTER(PERF_SAMPLE_BRANCH_COND, KIND_BIT(KIND_COND)) },
	{ "direct calls", FILTER(PERF_SAMPLE_BRANCH_CALL, KIND_BIT(KIND_CALL)) },
	{ "indirect calls", FILTER(PERF_SAMPLE_BRANCH_IND_CALL, KIND_BIT(KIND_IND_CALL)) },
	{ "indirect jumps", FILTER(PERF_SAMPLE_BRANCH_IND_JUMP, KIND_BIT(KIND_IND_JUMP)) },
	{ "returns and conditional branches",
	  FILTER(PERF_SAMPLE_BRANCH_ANY_RETURN | PERF_SAMPLE_BRANCH_COND,
		 KIND_BIT(KIND_RETURN) | KIND_BIT(KIND_COND)) },
	{ "no branch is in a transaction on a CPU without transactions", never_in_transactions },
	{ "LBR call stack: the calls that have not returned", call_stack },
	{ "LBR call stack beside an event with any branch", call_stack_beside },
	{ "code at two addresses", two_addresses },
	{ "system calls and signals, without the kernel", into_kernel },
	{ "system calls and signals, with the kernel", with_kernel },
	{ "tasks that take turns, with an inherited event", tasks_of_one },
	{ "tasks that take turns, with an event of the CPU", tasks_of_cpu },
	{ "calls of tasks that take turns", tasks_calls },
	{ "calls of a task that moves between CPUs", mover_calls },
	{ "the branches before a system call, for a BPF program", snapshot },
	{ "as many records as were asked for, of user space and the kernel", records },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	limit_sample_rate(100000);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
