// SPDX-License-Identifier: GPL-2.0-only
/*
 * hybrid.c - x86: a machine with CPUs of two kinds, each with a PMU of its own
 *
 * For guests of the model alder-lake of the virtual PMU whose second CPU is an atom, under
 * either driver. What is expected of the built-in driver is expected of corepmu.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf_util.h"
#include "ring.h"
#include "task.h"

#define DEVICES		"/sys/bus/event_source/devices/"

#define REF_TSC		0x0300	/* CPU_CLK_UNHALTED.REF_TSC: fixed counter 2 */
#define LOOPS		100000
#define ROUNDS		20
#define PERIOD		20011

/* A round of moving to another CPU, in user space */
#define MOVE_INSNS	2000

/* Their counters as perf's events have them: "Counter" in pmu-events/arch/x86/alderlake */
static struct kind {
	const char *name;
	unsigned int general;
	unsigned int cpu;
	int type;
} kinds[] = {
	{ "core", 8, 0, -1 },
	{ "atom", 6, 1, -1 },
};

#define KINDS_END	(kinds + ARRAY_SIZE(kinds))

static struct kind *other(struct kind *kind)
{
	return kind == kinds ? kinds + 1 : kinds;
}

static bool has_pmu(const char *base)
{
	char path[256];

	snprintf(path, sizeof(path), DEVICES "%s_core/type", base);
	return !access(path, F_OK);
}

/* Both drivers', when both are there, as well. */
static long kind_number(const char *base, const struct kind *kind, const char *file)
{
	char path[256];

	snprintf(path, sizeof(path), DEVICES "%s_%s/%s", base, kind->name, file);
	return read_number(path);
}

static void init_kind(struct perf_event_attr *attr, const struct kind *kind, u64 config)
{
	attr_init(attr, config);
	attr->type = kind->type;
	attr->read_format = FORMAT_TIMES;
}

static int open_kind(const struct kind *kind, u64 config)
{
	struct perf_event_attr attr;

	init_kind(&attr, kind, config);
	return event_open_self(&attr, -1);
}

static u64 count_of(int fd)
{
	struct event_times times;

	event_read_times(fd, &times);
	return times.count;
}

/* @config: instructions, whatever the type. What surrounds the loop is the same each time. */
static __attribute__((noipa)) u64 count_loop(int fd, unsigned long iterations)
{
	u64 before;

	event_reset(fd);
	before = count_of(fd);
	event_enable(fd);
	known_loop(iterations);
	event_disable(fd);
	return count_of(fd) - before;
}

static void is_exact(int fd)
{
	u64 base = count_loop(fd, 1);

	expect_eq("user instructions of the known loop", LOOP_INSNS * (LOOPS - 1ULL),
		  count_loop(fd, LOOPS) - base);
}

static void counts_nothing(const char *what, int fd)
{
	struct event_times times;

	event_reset(fd);
	event_enable(fd);
	known_loop(LOOPS);
	event_disable(fd);
	event_read_times(fd, &times);
	expect_eq(what, 0, times.count);
	expect_eq("time that it ran", 0, times.running);
}

static void kinds_are_two(void)
{
	static const char * const bases[] = { "corepmu", "cpu" };
	struct kind *kind;
	unsigned int i;
	char path[256];

	expect_ne("type of the second kind", kinds[0].type, kinds[1].type);
	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		if (!has_pmu(bases[i]))
			continue;
		for (kind = kinds; kind < KINDS_END; kind++) {
			snprintf(path, sizeof(path), DEVICES "%s_%s/cpus", bases[i], kind->name);
			/* Beside the built-in driver it would be a core PMU more for perf. */
			if (!i && has_pmu(bases[1]))
				expect_true("no file cpus beside the built-in driver",
					    access(path, F_OK));
			else
				expect_eq("CPUs", kind->cpu,
					  kind_number(bases[i], kind, "cpus"));
		}
	}
	snprintf(path, sizeof(path), DEVICES "%s", bases[1]);
	expect_true("no PMU for all CPUs", access(path, F_OK));
}

/* An event of either kind: it counts where its kind is, and nowhere else. */
static void task_pinned(void)
{
	struct kind *kind;
	int fd;

	for (kind = kinds; kind < KINDS_END; kind++) {
		fd = open_kind(kind, ARCH_EVENT_INSTRUCTIONS);
		run_on(kind->cpu);
		is_exact(fd);
		close(fd);
		fd = open_kind(kind, ARCH_EVENT_INSTRUCTIONS);
		run_on(other(kind)->cpu);
		counts_nothing("instructions on a CPU of the other kind", fd);
		close(fd);
	}
}

static void task_moved(void)
{
	struct event_times times[2];
	u64 loops[2] = { 0 };
	unsigned int i, k;
	int fds[2];

	for (k = 0; k < 2; k++)
		fds[k] = open_kind(&kinds[k], ARCH_EVENT_INSTRUCTIONS);
	run_on(kinds[0].cpu);
	event_enable(fds[0]);
	event_enable(fds[1]);
	for (i = 0; i < 2 * ROUNDS; i++) {
		run_on(kinds[i & 1].cpu);
		/* Not as much on one as on the other */
		known_loop(LOOPS * (1 + (i & 1)));
		loops[i & 1] += LOOPS * (1 + (i & 1));
	}
	for (k = 0; k < 2; k++) {
		event_disable(fds[k]);
		event_read_times(fds[k], &times[k]);
		expect_range("instructions of a kind", LOOP_INSNS * loops[k],
			     LOOP_INSNS * loops[k] + 2 * ROUNDS * MOVE_INSNS, times[k].count);
		expect_ne("time that the event ran", 0, times[k].running);
		expect_true("it does not run on the other kind",
			    times[k].running < times[k].enabled);
	}
	close_all(fds, 2);
}

/* Opens a group of @nr events for any counter, and of what the fixed counters have. */
static int open_group(const struct kind *kind, unsigned int nr, int *fds)
{
	static const u64 fixed[] = { ARCH_EVENT_INSTRUCTIONS, 0x3c, REF_TSC };
	struct perf_event_attr attr;
	unsigned int i;

	for (i = 0; i < nr + ARRAY_SIZE(fixed); i++) {
		init_kind(&attr, kind, i < nr ? ARCH_EVENT_BRANCHES : fixed[i - nr]);
		attr.disabled = !i;
		fds[i] = event_open(&attr, 0, -1, i ? fds[0] : -1, 0);
		if (fds[i] < 0)
			return fds[i];
	}
	return 0;
}

/* All of a kind's counters count, those of the core that leaf 0xA does not tell of too. */
static void groups_fit(void)
{
	struct event_times times;
	struct kind *kind;
	unsigned int i;
	int fds[16];

	for (kind = kinds; kind < KINDS_END; kind++) {
		memset(fds, -1, sizeof(fds));
		run_on(kind->cpu);
		expect_eq("a group for all counters", 0, open_group(kind, kind->general, fds));
		event_enable(fds[0]);
		known_loop(LOOPS);
		event_disable(fds[0]);
		for (i = 0; i < kind->general; i++) {
			event_read_times(fds[i], &times);
			expect_range("branches", LOOPS, LOOPS + MOVE_INSNS, times.count);
			expect_eq("time running, as enabled", times.enabled, times.running);
			expect_eq("as the first one", count_of(fds[0]), times.count);
		}
		expect_range("instructions", LOOP_INSNS * LOOPS, LOOP_INSNS * LOOPS + MOVE_INSNS,
			     count_of(fds[kind->general]));
		close_all(fds, ARRAY_SIZE(fds));
		expect_eq("a group of one event more", -EINVAL,
			  open_group(kind, kind->general + 1, fds));
		close_all(fds, ARRAY_SIZE(fds));
	}
}

static void groups_are_of_one_kind(void)
{
	struct perf_event_attr attr;
	struct kind *kind;
	int fds[2];

	for (kind = kinds; kind < KINDS_END; kind++) {
		fds[0] = open_kind(kind, ARCH_EVENT_INSTRUCTIONS);
		init_kind(&attr, other(kind), ARCH_EVENT_INSTRUCTIONS);
		fds[1] = event_open(&attr, 0, -1, fds[0], 0);
		expect_eq("a sibling of the other kind", -EINVAL, fds[1]);
		close_all(fds, 2);
	}
}

static void cpus_of_one_kind(void)
{
	struct perf_event_attr attr;
	struct kind *kind;
	u64 before;
	int fd;

	for (kind = kinds; kind < KINDS_END; kind++) {
		run_on(kind->cpu);
		init_kind(&attr, kind, ARCH_EVENT_INSTRUCTIONS);
		fd = event_open(&attr, -1, kind->cpu, -1, 0);
		if (!expect_true("an event of a CPU", fd >= 0))
			continue;
		event_enable(fd);
		before = count_of(fd);
		known_loop(LOOPS);
		expect_true("at least those of the loop",
			    count_of(fd) - before >= LOOP_INSNS * LOOPS);
		close(fd);
		expect_eq("an event on a CPU of the other kind", -ENOENT,
			  event_open(&attr, -1, other(kind)->cpu, -1, 0));
	}
}

/* @type: in the upper half of a generic event, 0 for none */
static int open_generic(u64 type, pid_t pid, int cpu)
{
	struct perf_event_attr attr;

	attr_init_generic(&attr, PERF_COUNT_HW_INSTRUCTIONS | type << 32);
	attr.read_format = FORMAT_TIMES;
	return event_open(&attr, pid, cpu, -1, 0);
}

static void generic_of_a_kind(void)
{
	struct kind *kind;
	int fd;

	for (kind = kinds; kind < KINDS_END; kind++) {
		fd = open_generic(kind->type, 0, -1);
		run_on(kind->cpu);
		is_exact(fd);
		close(fd);
		fd = open_generic(kind->type, 0, -1);
		run_on(other(kind)->cpu);
		counts_nothing("instructions on a CPU of the other kind", fd);
		close(fd);
	}
}

/* A task's are the core's; a CPU's are those of its kind. Raw events are the core's. */
static void generic_of_none(void)
{
	struct perf_event_attr attr;
	struct kind *kind;
	u64 before;
	int fd;

	fd = open_generic(0, 0, -1);
	run_on(kinds[0].cpu);
	is_exact(fd);
	close(fd);
	fd = open_generic(0, 0, -1);
	run_on(kinds[1].cpu);
	counts_nothing("instructions on an atom", fd);
	close(fd);

	for (kind = kinds; kind < KINDS_END; kind++) {
		run_on(kind->cpu);
		fd = open_generic(0, -1, kind->cpu);
		if (!expect_true("an event of a CPU", fd >= 0))
			continue;
		event_enable(fd);
		before = count_of(fd);
		known_loop(LOOPS);
		expect_true("at least those of the loop",
			    count_of(fd) - before >= LOOP_INSNS * LOOPS);
		close(fd);
	}

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.type = PERF_TYPE_RAW;
	attr.read_format = FORMAT_TIMES;
	run_on(kinds[0].cpu);
	fd = event_open_self(&attr, -1);
	is_exact(fd);
	close(fd);
	expect_eq("a raw event on an atom", -ENOENT,
		  event_open(&attr, -1, kinds[1].cpu, -1, 0));
}

static void samples(void)
{
	static struct ring ring;
	struct perf_event_attr attr;
	struct kind *kind;
	u64 count;
	int fd;

	for (kind = kinds; kind < KINDS_END; kind++) {
		struct ring_sum sum = { 0 };

		init_kind(&attr, kind, ARCH_EVENT_INSTRUCTIONS);
		attr.sample_period = PERIOD;
		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
		fd = event_open_self(&attr, -1);
		if (fd < 0 || ring_map(&ring, fd, 64))
			return;
		run_on(kind->cpu);
		event_enable(fd);
		known_loop(10 * LOOPS);
		event_disable(fd);
		count = count_of(fd);
		ring_drain(&ring, &attr, &sum);
		expect_range("samples", count / PERIOD - 1, count / PERIOD + 1, sum.samples);
		expect_range("samples in the loop", sum.samples - 2, sum.samples, sum.inside);
		ring_unmap(&ring);
		close(fd);
	}
}

static const struct ktap_case cases[] = {
	{ "each kind of CPU has a PMU", kinds_are_two },
	{ "a task's event counts on CPUs of its kind alone", task_pinned },
	{ "a task that moves is counted on each kind for itself", task_moved },
	{ "groups for all counters of a kind fit, and no larger ones", groups_fit },
	{ "groups of both kinds are refused", groups_are_of_one_kind },
	{ "events of a CPU are of its kind", cpus_of_one_kind },
	{ "generic events of either kind", generic_of_a_kind },
	{ "generic events of no kind", generic_of_none },
	{ "samples on either kind", samples },
};

int main(void)
{
	const char *base = has_pmu("corepmu") ? "corepmu" : "cpu";
	char name[64];
	struct kind *kind;

	snprintf(name, sizeof(name), "%s_core", base);
	setenv("PMU", name, 1);
	target_init(1, NULL);
	for (kind = kinds; kind < KINDS_END; kind++)
		kind->type = kind_number(base, kind, "type");
	return ktap_run(cases, ARRAY_SIZE(cases));
}
