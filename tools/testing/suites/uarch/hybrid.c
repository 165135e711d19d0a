// SPDX-License-Identifier: GPL-2.0-only
/*
 * hybrid.c - CPUs of two types, with a PMU for each type
 *
 * For guests under either driver: x86's virtual PMU with the models alder-lake and lunar-lake,
 * whose second CPU is an atom, and arm64's with kind=1:counters=4:slots=0. Both drivers must pass
 * the same expectations.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "perf_util.h"
#include "ring.h"
#include "task.h"

#define DEVICES		"/sys/bus/event_source/devices/"

#define LOOPS		100000
#define ROUNDS		20
#define PERIOD		20011

/* User instructions of a move to another CPU */
#define MOVE_INSNS	2000

/**
 * struct kind - CPUs of one type
 * @pmu: their PMU; corepmu's if it is loaded
 * @general: counters for any event
 * @cpu: the only CPU of the type
 * @type: PMU type of @pmu's events
 */
struct kind {
	char pmu[64];
	unsigned int general;
	unsigned int cpu;
	int type;
};

#ifdef __aarch64__

static struct kind kinds[] = {
	{ "", 6, 0, -1 },
	{ "", 4, 1, -1 },
};

/* Events with dedicated counters */
static const u64 fixed[] = { ARCH_EVENT_CYCLES };

/*
 * Counts of the first of these in a round of the loop: each instruction, and one more for the
 * branch
 */
#define FIXED_COUNTS	(LOOP_INSNS + 1)

/* For the built-in driver a disabled leader needs no counter: validate_event() */
#define IS_LEADER_COUNTED	(!target.in_tree)

#else

#define REF_TSC		0x0300	/* CPU_CLK_UNHALTED.REF_TSC: fixed counter 2 */

/* "Counter" in pmu-events/arch/x86/alderlake of perf */
static struct kind kinds[] = {
	{ "", 8, 0, -1 },
	{ "", 6, 1, -1 },
};

/* Likewise lunarlake, arrowlake and pantherlake; family 18 continues with the same counters. */
static const unsigned int larger[] = {
	0x000b06d0,	/* Lunar Lake */
	0x000c0660,	/* Arrow Lake */
	0x000c06c0,	/* Panther Lake */
	0x00300f10,	/* Nova Lake */
};

#define MODEL		0x0fff0ff0

static void count_counters(void)
{
	unsigned int eax = 0, ebx, ecx, edx, i;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return;
	for (i = 0; i < ARRAY_SIZE(larger); i++) {
		if ((eax & MODEL) != larger[i])
			continue;
		kinds[0].general = 10;
		kinds[1].general = 8;
	}
}

static const char * const names[] = { "core", "atom" };

static const u64 fixed[] = { ARCH_EVENT_INSTRUCTIONS, 0x3c, REF_TSC };

#define FIXED_COUNTS	LOOP_INSNS

#define IS_LEADER_COUNTED	true

#endif

#define KINDS_END	(kinds + ARRAY_SIZE(kinds))

static struct kind *other(struct kind *kind)
{
	return kind == kinds ? kinds + 1 : kinds;
}

/* Return -1 if there is no such file, or if it has a range of CPUs. */
static long pmu_number(const char *pmu, const char *file)
{
	long number = -1;
	char path[512];
	char end;
	FILE *f;

	snprintf(path, sizeof(path), DEVICES "%s/%s", pmu, file);
	f = fopen(path, "r");
	if (!f)
		return -1;
	if (fscanf(f, "%li%c", &number, &end) != 2 || end != '\n')
		number = -1;
	fclose(f);
	return number;
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

/*
 * @config: instructions, for either type. The instructions around the loop are the same each time.
 */
static __attribute__((noipa)) u64 count_loop(int fd, unsigned long iterations)
{
	u64 before;

	event_reset(fd);
	before = count_of(fd);
	event_run_loop(fd, iterations);
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
	event_run_loop(fd, LOOPS);
	event_read_times(fd, &times);
	expect_eq(what, 0, times.count);
	expect_eq("time that it ran", 0, times.running);
}

#ifdef __aarch64__

/* The CPUs tell the PMUs apart: the built-in driver's names depend on the firmware. */
static bool find_kinds(void)
{
	DIR *devices = opendir(DEVICES);
	struct dirent *entry;

	while (devices && (entry = readdir(devices)))
		for (struct kind *kind = kinds; kind < KINDS_END; kind++)
			if (pmu_number(entry->d_name, "cpus") == kind->cpu)
				snprintf(kind->pmu, sizeof(kind->pmu), "%.60s", entry->d_name);
	if (devices)
		closedir(devices);
	return kinds[0].pmu[0] && kinds[1].pmu[0];
}

static bool has_file(const struct kind *kind, const char *file)
{
	char path[512];

	snprintf(path, sizeof(path), DEVICES "%s/%s", kind->pmu, file);
	return !access(path, F_OK);
}

/* The second CPU type lacks slots and their counter. */
static void kinds_are_two(void)
{
	expect_ne("type of the second kind", kinds[0].type, kinds[1].type);
	expect_eq("slots of the first kind", 4, pmu_number(kinds[0].pmu, "caps/slots"));
	expect_eq("slots of the second kind", 0, pmu_number(kinds[1].pmu, "caps/slots"));
	expect_true("the first kind has stall_slot", has_file(&kinds[0], "events/stall_slot"));
	expect_true("the second has not", !has_file(&kinds[1], "events/stall_slot"));
	expect_true("and other events", has_file(&kinds[1], "events/inst_retired"));
}

/*
 * Return the CPU type whose PMU perf core asks first: the PMU that was registered last; before
 * Linux 6.5, the one that was registered first.
 */
static struct kind *generic_kind(void)
{
	return &kinds[target.kernel >= 605];
}

/* An architectural event number is valid for any type, on its CPUs. */
static int raw_on_second(void)
{
	return 0;
}

#else

static bool has_pmu(const char *base)
{
	char pmu[64];

	snprintf(pmu, sizeof(pmu), "%s_core", base);
	return pmu_number(pmu, "type") >= 0;
}

static bool find_kinds(void)
{
	const char *base = has_pmu("corepmu") ? "corepmu" : "cpu";

	count_counters();
	for (struct kind *kind = kinds; kind < KINDS_END; kind++)
		snprintf(kind->pmu, sizeof(kind->pmu), "%s_%s", base, names[kind - kinds]);
	return has_pmu(base);
}

static void kinds_are_two(void)
{
	static const char * const bases[] = { "corepmu", "cpu" };
	char name[64];

	expect_ne("type of the second kind", kinds[0].type, kinds[1].type);
	for (unsigned int i = 0; i < ARRAY_SIZE(bases); i++) {
		if (!has_pmu(bases[i]))
			continue;
		for (unsigned int k = 0; k < ARRAY_SIZE(names); k++) {
			snprintf(name, sizeof(name), "%s_%s", bases[i], names[k]);
			/*
			 * Beside the built-in driver, a file cpus would make perf see one more
			 * core PMU.
			 */
			expect_eq("CPUs", !i && has_pmu(bases[1]) ? -1 : (long)kinds[k].cpu,
				  pmu_number(name, "cpus"));
		}
	}
	expect_eq("no PMU for all CPUs", -1, pmu_number(bases[1], "type"));
}

static struct kind *generic_kind(void)
{
	return kinds;
}

static int raw_on_second(void)
{
	return -ENOENT;
}

#endif

/* An event of either type counts on CPUs of its type, and nowhere else. */
static void task_pinned(void)
{
	int fd;

	for (struct kind *kind = kinds; kind < KINDS_END; kind++) {
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
	int fds[2];

	for (unsigned int k = 0; k < 2; k++)
		fds[k] = open_kind(&kinds[k], ARCH_EVENT_INSTRUCTIONS);
	run_on(kinds[0].cpu);
	event_enable(fds[0]);
	event_enable(fds[1]);
	for (unsigned int i = 0; i < 2 * ROUNDS; i++) {
		run_on(kinds[i & 1].cpu);
		/* Different work on the two CPUs */
		known_loop(LOOPS * (1 + (i & 1)));
		loops[i & 1] += LOOPS * (1 + (i & 1));
	}
	for (unsigned int k = 0; k < 2; k++) {
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

/* Open a group: @nr events that any counter can count, and one for each dedicated counter. */
static int open_group(const struct kind *kind, unsigned int nr, int *fds)
{
	struct perf_event_attr attr;

	for (unsigned int i = 0; i < nr + ARRAY_SIZE(fixed); i++) {
		init_kind(&attr, kind, i < nr ? ARCH_EVENT_BRANCHES : fixed[i - nr]);
		attr.disabled = !i;
		fds[i] = event_open(&attr, 0, -1, i ? fds[0] : -1, 0);
		if (fds[i] < 0)
			return fds[i];
	}
	return 0;
}

/* All counters of a type count, also those of the core that leaf 0xA omits. */
static void groups_fit(void)
{
	struct event_times times;
	int fds[16];

	for (struct kind *kind = kinds; kind < KINDS_END; kind++) {
		memset(fds, -1, sizeof(fds));
		run_on(kind->cpu);
		expect_eq("a group for all counters", 0, open_group(kind, kind->general, fds));
		event_run_loop(fds[0], LOOPS);
		for (unsigned int i = 0; i < kind->general; i++) {
			event_read_times(fds[i], &times);
			expect_range("branches", LOOPS, LOOPS + MOVE_INSNS, times.count);
			expect_eq("time running, as enabled", times.enabled, times.running);
			expect_eq("as the first one", count_of(fds[0]), times.count);
		}
		expect_range("what has a counter of its own", FIXED_COUNTS * LOOPS,
			     FIXED_COUNTS * LOOPS + MOVE_INSNS, count_of(fds[kind->general]));
		close_all(fds, ARRAY_SIZE(fds));
		expect_eq("a group of one event more", -EINVAL,
			  open_group(kind, kind->general + 1 + !IS_LEADER_COUNTED, fds));
		close_all(fds, ARRAY_SIZE(fds));
	}
}

static void groups_are_of_one_kind(void)
{
	struct perf_event_attr attr;
	int fds[2];

	for (struct kind *kind = kinds; kind < KINDS_END; kind++) {
		fds[0] = open_kind(kind, ARCH_EVENT_INSTRUCTIONS);
		init_kind(&attr, other(kind), ARCH_EVENT_INSTRUCTIONS);
		fds[1] = event_open(&attr, 0, -1, fds[0], 0);
		expect_eq("a sibling of the other kind", -EINVAL, fds[1]);
		close_all(fds, 2);
	}
}

/* Expect an event of a CPU to count a loop on it, and close the event. */
static void cpu_counts(int fd)
{
	u64 before;

	if (!expect_true("an event of a CPU", fd >= 0))
		return;
	event_enable(fd);
	before = count_of(fd);
	known_loop(LOOPS);
	expect_true("at least those of the loop", count_of(fd) - before >= LOOP_INSNS * LOOPS);
	close(fd);
}

static void cpus_of_one_kind(void)
{
	struct perf_event_attr attr;

	for (struct kind *kind = kinds; kind < KINDS_END; kind++) {
		run_on(kind->cpu);
		init_kind(&attr, kind, ARCH_EVENT_INSTRUCTIONS);
		cpu_counts(event_open(&attr, -1, kind->cpu, -1, 0));
		expect_eq("an event on a CPU of the other kind", -ENOENT,
			  event_open(&attr, -1, other(kind)->cpu, -1, 0));
	}
}

/* @type: PMU type in the upper half of a generic event's config, 0 for none */
static int open_generic(u64 type, pid_t pid, int cpu)
{
	struct perf_event_attr attr;

	attr_init_generic(&attr, PERF_COUNT_HW_INSTRUCTIONS | type << 32);
	attr.read_format = FORMAT_TIMES;
	return event_open(&attr, pid, cpu, -1, 0);
}

static void generic_of_a_kind(void)
{
	int fd;

	for (struct kind *kind = kinds; kind < KINDS_END; kind++) {
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

/* In a task such an event counts on CPUs of one type; on a CPU it is one of that CPU's type. */
static void generic_of_none(void)
{
	int fd;

	fd = open_generic(0, 0, -1);
	run_on(generic_kind()->cpu);
	is_exact(fd);
	close(fd);
	fd = open_generic(0, 0, -1);
	run_on(other(generic_kind())->cpu);
	counts_nothing("instructions on the other kind", fd);
	close(fd);

	for (struct kind *kind = kinds; kind < KINDS_END; kind++) {
		run_on(kind->cpu);
		cpu_counts(open_generic(0, -1, kind->cpu));
	}
}

static void raw_of_none(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.type = PERF_TYPE_RAW;
	attr.read_format = FORMAT_TIMES;
	fd = event_open_self(&attr, -1);
	run_on(generic_kind()->cpu);
	is_exact(fd);
	close(fd);
	fd = event_open(&attr, -1, kinds[1].cpu, -1, 0);
	expect_eq("a raw event on the second kind", raw_on_second(), fd < 0 ? fd : 0);
	if (fd >= 0)
		close(fd);
}

static void samples(void)
{
	static struct ring ring;
	struct perf_event_attr attr;
	u64 count;
	int fd;

	for (struct kind *kind = kinds; kind < KINDS_END; kind++) {
		struct ring_sum sum = { 0 };

		init_kind(&attr, kind, ARCH_EVENT_INSTRUCTIONS);
		attr.sample_period = PERIOD;
		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
		fd = event_open_self(&attr, -1);
		if (fd < 0 || ring_map(&ring, fd, 64))
			return;
		run_on(kind->cpu);
		event_run_loop(fd, 10 * LOOPS);
		count = count_of(fd);
		ring_drain(&ring, &attr, &sum);
		expect_range("samples", count / PERIOD - 1, count / PERIOD + 1, sum.samples);
		expect_range("samples in the loop", sum.samples - 2, sum.samples, sum.inside);
		ring_unmap(&ring);
		close(fd);
	}
}

static const struct ktap_case cases[] = {
	{ "each CPU type has a PMU", kinds_are_two },
	{ "a task's event counts on CPUs of its type only", task_pinned },
	{ "a task that moves is counted on each CPU type separately", task_moved },
	{ "groups for all counters of a CPU type fit, and no larger ones", groups_fit },
	{ "groups of both CPU types are refused", groups_are_of_one_kind },
	{ "a CPU's events are of its type", cpus_of_one_kind },
	{ "generic events of either CPU type count", generic_of_a_kind },
	{ "a task's generic event counts on one CPU type, a CPU's on its type", generic_of_none },
	{ "raw events of a task count on one CPU type", raw_of_none },
	{ "either CPU type samples", samples },
};

int main(void)
{
	if (find_kinds())
		setenv("PMU", kinds[0].pmu, 1);
	else
		setenv("PMU", "of two kinds", 1);
	target_init(1, NULL);
	for (struct kind *kind = kinds; kind < KINDS_END; kind++)
		kind->type = pmu_number(kind->pmu, "type");
	return ktap_run(cases, ARRAY_SIZE(cases));
}
