// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmuv3.c - what an arm64 PMU that counts exactly lets be told
 *
 * For guests with QEMU's plugin arm64-pmu, on any number of CPUs, with -icount
 * or without: instructions, branches, loads and stores of each CPU are exact,
 * a cycle is an instruction, and a branch takes two (tools/qemu/arm64/arm64-pmu.rst).
 * The kernel's command line says with corepmu_test.pmuv3=v3p9 that there are
 * thresholds and an instruction counter.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring.h"
#include "task.h"

#define MAX_CPUS	8
#define RUNS		20
#define ITERATIONS	1000000UL
#define FEW		1000UL

#define LD_RETIRED		0x06
#define ST_RETIRED		0x07
#define INST_RETIRED		0x08
#define EXC_TAKEN		0x09
#define PC_WRITE_RETIRED	0x0c
#define BR_MIS_PRED		0x10
#define CPU_CYCLES		0x11
#define BR_RETIRED		0x21
#define STALL_SLOT		0x3f

#define SLOTS			4

/* attr.config1, as format/ describes it */
#define LONG			1ULL
#define COUNT			(1ULL << 2)
#define COMPARE(how)		((u64)(how) << 3)
#define THRESHOLD(n)		((u64)(n) << 5)
enum { NOT_EQUAL, EQUAL, AT_LEAST, LESS };

/* What one round of work_loop() and touch_pages() makes. */
#define WORK_INSTRUCTIONS	4
#define WORK_CYCLES		5

void work_loop(unsigned long rounds, void *memory);
void touch_pages(unsigned long pages, void *memory);

#define WORK								\
	asm(".pushsection .text\n"					\
	    "work_loop:\n"						\
	    "1:	ldr	x2, [x1]\n"					\
	    "	str	x2, [x1]\n"					\
	    "	subs	x0, x0, #1\n"					\
	    "	b.ne	1b\n"						\
	    "	ret\n"							\
	    "touch_pages:\n"						\
	    "1:	str	xzr, [x1]\n"					\
	    "	add	x1, x1, #4096\n"				\
	    "	subs	x0, x0, #1\n"					\
	    "	b.ne	1b\n"						\
	    "	ret\n"							\
	    ".popsection")
WORK;

static const struct kind {
	const char *name;
	u64 event;
	unsigned int each;	/* in one round of work_loop() */
} kinds[] = {
	{ "instructions", INST_RETIRED, WORK_INSTRUCTIONS },
	{ "branches", BR_RETIRED, 1 },
	{ "loads", LD_RETIRED, 1 },
	{ "stores", ST_RETIRED, 1 },
	{ "cycles", CPU_CYCLES, WORK_CYCLES },
};

#define NR_KINDS	ARRAY_SIZE(kinds)

static unsigned int nr_cpus;

/*
 * Enable @leader, and its group, for so many rounds. Not inlined: however many
 * there are, they take as many instructions to load.
 */
static __attribute__((noinline)) void work(int leader, unsigned long rounds)
{
	u64 memory = 0;

	ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	ioctl(leader, PERF_EVENT_IOC_ENABLE, 0);
	work_loop(rounds, &memory);
	ioctl(leader, PERF_EVENT_IOC_DISABLE, 0);
}

static u64 count_of(int fd)
{
	u64 count = 0;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return ~0ULL;
	return count;
}

/* What @rounds add to the count of an event on its own. */
static u64 work_counts(int fd, unsigned long rounds)
{
	u64 base;

	work(fd, 1);
	base = count_of(fd);
	work(fd, rounds + 1);
	return count_of(fd) - base;
}

/* ---- all CPUs at once ---- */

/**
 * struct job - one CPU's part of a test
 * @cpu: its number
 * @error: of the first system call that failed
 * @wrong: which run was not exact, 0 for none, and what it counted
 */
struct job {
	pthread_t thread;
	unsigned int cpu;
	u64 config1;
	int error;
	unsigned int wrong;
	u64 counts[NR_KINDS];
	struct ring_sum sum;
	u64 count;
};

static pthread_barrier_t barrier;

static void everywhere(void *(*fn)(void *), struct job *jobs, u64 config1)
{
	unsigned int i;

	pthread_barrier_init(&barrier, NULL, nr_cpus);
	for (i = 0; i < nr_cpus; i++) {
		jobs[i] = (struct job) { .cpu = i, .config1 = config1 };
		pthread_create(&jobs[i].thread, NULL, fn, &jobs[i]);
	}
	for (i = 0; i < nr_cpus; i++) {
		pthread_join(jobs[i].thread, NULL);
		if (jobs[i].error)
			ktap_fail("CPU %u: got %s", i, strerror(-jobs[i].error));
	}
	pthread_barrier_destroy(&barrier);
}

/* Open one event of each kind in a group; with long ones, as many as fit. */
static unsigned int open_kinds(struct job *job, int *fds)
{
	unsigned int nr = job->config1 & LONG && !arch_long_counters() ?
			  target.counters / 2 : NR_KINDS;
	struct perf_event_attr attr;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		attr_init(&attr, kinds[i].event);
		attr.config1 = job->config1;
		attr.disabled = !i;
		fds[i] = event_open(&attr, 0, -1, i ? fds[0] : -1, 0);
		if (fds[i] < 0) {
			job->error = fds[i];
			break;
		}
	}
	return i;
}

static void *count_exactly(void *arg)
{
	struct job *job = arg;
	unsigned int i, run, nr;
	u64 base[NR_KINDS];
	int fds[NR_KINDS] = { -1 };

	run_on(job->cpu);
	nr = open_kinds(job, fds);
	pthread_barrier_wait(&barrier);
	for (run = 0; run <= RUNS && !job->error && !job->wrong; run++) {
		work(fds[0], run ? ITERATIONS + 1 : 1);
		for (i = 0; i < nr; i++) {
			u64 count = count_of(fds[i]);

			if (!run)
				base[i] = count;
			else if (count - base[i] != kinds[i].each * ITERATIONS)
				job->wrong = run;
			job->counts[i] = count - base[i];
		}
	}
	for (i = 0; i < nr; i++)
		close(fds[i]);
	return NULL;
}

static void check_counts(u64 config1)
{
	struct job jobs[MAX_CPUS];
	unsigned int cpu, i;

	everywhere(count_exactly, jobs, config1);
	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (jobs[cpu].wrong)
			for (i = 0; i < NR_KINDS; i++)
				ktap_fail("run %u on CPU %u: expected %lu %s, got %llu",
					  jobs[cpu].wrong, cpu,
					  kinds[i].each * ITERATIONS, kinds[i].name,
					  (unsigned long long)jobs[cpu].counts[i]);
}

static void counts_everywhere(void)
{
	check_counts(0);
}

static void long_counts_everywhere(void)
{
	check_counts(LONG);
}

#define PERIOD		100000
#define SAMPLED_ROUNDS	(50UL * PERIOD / WORK_INSTRUCTIONS)

static void *sample_everything(void *arg)
{
	struct job *job = arg;
	struct perf_event_attr attr;
	struct ring *ring = calloc(1, sizeof(*ring));
	int fd;

	run_on(job->cpu);
	attr_init(&attr, INST_RETIRED);
	attr.config1 = job->config1;
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
	fd = event_open(&attr, 0, -1, -1, 0);
	job->error = fd < 0 ? fd : ring_map(ring, fd, 16);
	pthread_barrier_wait(&barrier);
	if (!job->error) {
		work(fd, SAMPLED_ROUNDS);
		ring_drain(ring, &attr, &job->sum);
		job->count = count_of(fd);
	}
	ring_unmap(ring);
	free(ring);
	close(fd);
	return NULL;
}

static void check_samples(u64 config1)
{
	const u64 instructions = SAMPLED_ROUNDS * WORK_INSTRUCTIONS;
	struct job jobs[MAX_CPUS];
	unsigned int cpu;

	everywhere(sample_everything, jobs, config1);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		const struct ring_sum *sum = &jobs[cpu].sum;

		expect_range("count", instructions, instructions + 200, jobs[cpu].count);
		expect_range("samples", jobs[cpu].count / PERIOD - 1,
			     jobs[cpu].count / PERIOD + 1, sum->samples);
		expect_eq("sum of the periods", sum->samples * (u64)PERIOD, sum->periods);
		expect_eq("lost samples and throttling", 0, sum->lost + sum->throttles);
		expect_eq("samples out of order", 0, sum->backwards);
	}
}

static void samples_everywhere(void)
{
	check_samples(0);
}

static void long_samples_everywhere(void)
{
	check_samples(LONG);
}

/* ---- 64 bits ---- */

/*
 * A period of 2^32 and some more sets the lower half of a pair so that it
 * overflows in the middle of the loop, once with a carry that matters.
 */
static void beyond_32_bits(void)
{
	static struct ring ring;
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	int fd;

	attr_init(&attr, INST_RETIRED);
	attr.config1 = LONG;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.sample_period = (1ULL << 32) + 3 * ITERATIONS;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	if (expect_eq("mapping the buffer", 0, ring_map(&ring, fd, 1))) {
		expect_eq("counts of the loop", WORK_INSTRUCTIONS * ITERATIONS,
			  work_counts(fd, ITERATIONS));
		ring_drain(&ring, &attr, &sum);
		expect_eq("samples", 0, sum.samples);
	}
	ring_unmap(&ring);
	close(fd);
}

/* ---- pairs among single counters ---- */

/* Does an event run all the time, and count every instruction? */
static void check_running(const char *what, int fd, u64 base)
{
	struct event_times times;

	if (!event_read_times(fd, &times))
		return;
	expect_ne("time running", 0, times.running);
	expect_eq("time running, all of it", times.enabled, times.running);
	if (times.count - base != WORK_INSTRUCTIONS * FEW)
		ktap_fail("%s: expected %lu counts, got %llu", what,
			  WORK_INSTRUCTIONS * FEW,
			  (unsigned long long)(times.count - base));
}

static int open_at_once(bool is_long)
{
	struct perf_event_attr attr;

	attr_init(&attr, INST_RETIRED);
	attr.config1 = is_long ? LONG : 0;
	attr.read_format = FORMAT_TIMES;
	attr.disabled = 0;
	/* Perf core does not place these anew when others come. */
	attr.pinned = !is_long;
	return event_open_self(&attr, -1);
}

/* How many 64-bit events have room in counters that are free. */
static unsigned int room_for(unsigned int free)
{
	if (arch_long_counters())
		return __builtin_popcount(free);
	/* The kernel's own driver moves nothing: an even one and the next. */
	if (target.in_tree)
		return __builtin_popcount(free & (free >> 1) & 0x55555555);
	return __builtin_popcount(free) / 2;
}

/*
 * Fill the event counters with single events, close some of them, and see that
 * as many 64-bit events fit as there are two counters for, wherever they are.
 */
static void holes(void)
{
	unsigned int nr = target.counters, fitting, mask, i;
	int singles[ARCH_MAX_COUNTERS], longs[ARCH_MAX_COUNTERS];
	/* INST_RETIRED may have a counter of its own besides. */
	u64 bases[ARCH_MAX_COUNTERS], memory = 0;
	struct event_times times;

	for (mask = 0; mask < 1U << nr && !ktap_failed(); mask++) {
		fitting = room_for(mask);
		for (i = 0; i < nr; i++)
			singles[i] = open_at_once(false);
		for (i = 0; i < nr; i++)
			if (mask >> i & 1)
				close(singles[i]);
		for (i = 0; i < fitting; i++)
			longs[i] = open_at_once(true);
		for (i = 0; i < fitting; i++) {
			event_read_times(longs[i], &times);
			bases[i] = times.count;
		}
		work_loop(FEW, &memory);
		for (i = 0; i < fitting; i++) {
			event_read_times(longs[i], &times);
			expect_ne("time running", 0, times.running);
			expect_eq("time running, all of it", times.enabled,
				  times.running);
			expect_range("counts of the loop",
				     WORK_INSTRUCTIONS * FEW,
				     WORK_INSTRUCTIONS * FEW + 2000,
				     times.count - bases[i]);
		}
		for (i = 0; i < nr; i++) {
			if (mask >> i & 1)
				continue;
			event_read_times(singles[i], &times);
			expect_eq("time running of those that stayed",
				  times.enabled, times.running);
			close(singles[i]);
		}
		close_all(longs, fitting);
		if (ktap_failed())
			ktap_diag("with the events of mask %#x closed", mask);
	}
}

/*
 * Every mix of single and 64-bit events in a group: fits, or is refused. The
 * kernel's own driver does not reckon with a leader that is disabled, and takes
 * groups that are too large by it.
 */
static void mixed_groups(void)
{
	unsigned int width = arch_long_counters() ? 1 : 2;
	unsigned int singles, longs, nr, i;
	int fds[2 * ARCH_MAX_COUNTERS];
	u64 bases[2 * ARCH_MAX_COUNTERS];
	struct perf_event_attr attr;
	struct event_times times;

	for (singles = 0; singles <= target.counters; singles++) {
		for (longs = !singles; longs <= target.counters; longs++) {
			unsigned int wanted = singles + longs * width;
			bool fits = wanted <= target.counters;

			for (nr = 0; nr < singles + longs; nr++) {
				attr_init(&attr, BR_RETIRED);
				attr.config1 = nr < singles ? 0 : LONG;
				attr.disabled = !nr;
				attr.read_format = FORMAT_TIMES;
				fds[nr] = event_open(&attr, 0, -1, nr ? fds[0] : -1, 0);
				if (fds[nr] < 0)
					break;
			}
			if (fits)
				expect_eq("events that fit", singles + longs, nr);
			else if (!target.in_tree ||
				 wanted > target.counters + (singles ? 1 : width))
				expect_true("a group too large to be refused",
					    nr < singles + longs && fds[nr] == -EINVAL);
			if (fits && nr == singles + longs) {
				work(fds[0], 1);
				for (i = 0; i < nr; i++) {
					event_read_times(fds[i], &times);
					bases[i] = times.count;
				}
				work(fds[0], FEW * WORK_INSTRUCTIONS + 1);
				for (i = 0; i < nr; i++)
					check_running("a member", fds[i], bases[i]);
			}
			close_all(fds, nr);
			if (ktap_failed()) {
				ktap_diag("with %u single and %u 64-bit events",
					  singles, longs);
				return;
			}
		}
	}
}

/* ---- events ---- */

static void exceptions(void)
{
	int fd = event_open_user(EXC_TAKEN, -1), i;

	if (fd < 0)
		return;
	event_enable(fd);
	for (i = 0; i < 10000; i++)
		syscall(SYS_getppid);
	event_disable(fd);
	expect_range("exceptions taken", 10000, 10200, event_read(fd));
	close(fd);
}

/* An instruction that faults and is repeated counts once. */
static void first_touches(void)
{
	static const u64 events[] = { INST_RETIRED, ST_RETIRED, BR_RETIRED };
	static const unsigned int each[] = { 4, 1, 1 };
	const unsigned long pages[2] = { 1, 257 };
	unsigned int i, run;
	u64 counts[2];

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		int fd = event_open_user(events[i], -1);

		for (run = 0; run < 2; run++) {
			char *memory = mmap(NULL, pages[1] * 4096, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			/* A page at a time */
			madvise(memory, pages[1] * 4096, MADV_NOHUGEPAGE);
			event_reset(fd);
			event_enable(fd);
			touch_pages(pages[run], memory);
			event_disable(fd);
			counts[run] = event_read(fd);
			munmap(memory, pages[1] * 4096);
		}
		expect_eq("counts of 256 first touches", each[i] * 256,
			  counts[1] - counts[0]);
		close(fd);
	}
}

static void branches(void)
{
	int taken = event_open_user(PC_WRITE_RETIRED, -1);
	int missed = event_open_user(BR_MIS_PRED, -1);

	expect_eq("taken branches", ITERATIONS, work_counts(taken, ITERATIONS));
	work(missed, ITERATIONS);
	expect_range("mispredicted branches", 1, 1000, event_read(missed));
	close(taken);
	close(missed);
}

/* The cycle counter, and event counters that count cycles */
static void cycles(void)
{
	struct perf_event_attr attr;
	int fds[3], i;
	u64 base[3];

	for (i = 0; i < 3; i++) {
		attr_init(&attr, CPU_CYCLES);
		attr.disabled = !i;
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
	}
	work(fds[0], 1);
	for (i = 0; i < 3; i++)
		base[i] = event_read(fds[i]);
	work(fds[0], ITERATIONS + 1);
	for (i = 0; i < 3; i++)
		expect_eq("cycles", WORK_CYCLES * ITERATIONS, event_read(fds[i]) - base[i]);
	close_all(fds, 3);
}

/* ---- FEAT_PMUv3_TH, FEAT_PMUv3_ICNTR ---- */

/*
 * Of the five cycles of a round, four use one of the slots, and one none. All
 * the rest happens at most once in a cycle.
 */
static void threshold(void)
{
	static const struct {
		u64 event;
		u64 config1;
		unsigned int each;
	} rows[] = {
		{ STALL_SLOT, 0, 4 * (SLOTS - 1) + SLOTS },
		{ STALL_SLOT, THRESHOLD(SLOTS) | COMPARE(AT_LEAST) | COUNT, 1 },
		{ STALL_SLOT, THRESHOLD(SLOTS) | COMPARE(AT_LEAST), SLOTS },
		{ STALL_SLOT, THRESHOLD(SLOTS) | COMPARE(EQUAL) | COUNT, 1 },
		{ STALL_SLOT, THRESHOLD(SLOTS) | COMPARE(LESS) | COUNT, 4 },
		{ STALL_SLOT, THRESHOLD(SLOTS) | COMPARE(NOT_EQUAL) | COUNT, 4 },
		{ STALL_SLOT, THRESHOLD(SLOTS) | COMPARE(NOT_EQUAL), 4 * (SLOTS - 1) },
		{ STALL_SLOT, THRESHOLD(255) | COMPARE(AT_LEAST) | COUNT, 0 },
		/* These have counters of their own, without a threshold. */
		{ CPU_CYCLES, THRESHOLD(1) | COMPARE(AT_LEAST) | COUNT, 5 },
		{ CPU_CYCLES, THRESHOLD(2) | COMPARE(AT_LEAST) | COUNT, 0 },
		{ INST_RETIRED, THRESHOLD(1) | COMPARE(LESS) | COUNT, 1 },
		{ INST_RETIRED, THRESHOLD(2) | COMPARE(AT_LEAST) | COUNT, 0 },
	};
	struct perf_event_attr attr;
	unsigned int i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		attr_init(&attr, rows[i].event);
		attr.config1 = rows[i].config1;
		fd = event_open_self(&attr, -1);
		if (fd < 0)
			return;
		if (!expect_eq("counts of the loop", rows[i].each * ITERATIONS,
			       work_counts(fd, ITERATIONS)))
			ktap_diag("row %u", i);
		close(fd);
	}

	attr_init(&attr, STALL_SLOT);
	attr.config1 = THRESHOLD(256) | COMPARE(AT_LEAST);
	fd = event_open(&attr, 0, -1, -1, 0);
	expect_eq("a threshold too large", -EINVAL, fd);
	close(fd);
}

/* Every counter there is: cycles, instructions, and six others. */
static void full_house(void)
{
	static const unsigned int which[] = { 4, 0, 1, 2, 3, 1, 2, 3 };
	struct perf_event_attr attr;
	u64 base[ARRAY_SIZE(which)];
	int fds[ARRAY_SIZE(which)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(which); i++) {
		attr_init(&attr, kinds[which[i]].event);
		attr.disabled = !i;
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
		if (fds[i] < 0)
			goto out;
	}
	work(fds[0], 1);
	for (i = 0; i < ARRAY_SIZE(which); i++)
		base[i] = event_read(fds[i]);
	work(fds[0], ITERATIONS + 1);
	for (i = 0; i < ARRAY_SIZE(which); i++)
		expect_eq(kinds[which[i]].name, kinds[which[i]].each * ITERATIONS,
			  event_read(fds[i]) - base[i]);
out:
	close_all(fds, i);
}

/* Instructions sample while every event counter is another's. */
static void instruction_counter_samples(void)
{
	static struct ring ring;
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	int fds[ARCH_MAX_COUNTERS], fd;
	unsigned int i;

	for (i = 0; i < target.counters; i++) {
		attr_init(&attr, BR_RETIRED);
		attr.pinned = 1;
		attr.disabled = 0;
		fds[i] = event_open_self(&attr, -1);
	}
	attr_init(&attr, INST_RETIRED);
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
	fd = event_open_self(&attr, -1);
	if (fd >= 0 && !ring_map(&ring, fd, 16)) {
		work(fd, SAMPLED_ROUNDS);
		ring_drain(&ring, &attr, &sum);
		expect_range("samples", 49, 51, sum.samples);
	}
	ring_unmap(&ring);
	close(fd);
	close_all(fds, target.counters);
}

static const struct ktap_case cases[] = {
	{ "every CPU counts at once, 20 times", counts_everywhere },
	{ "every CPU counts in 64 bits at once, 20 times", long_counts_everywhere },
	{ "every CPU samples at once", samples_everywhere },
	{ "every CPU samples in 64 bits at once", long_samples_everywhere },
	{ "a period beyond 32 bits", beyond_32_bits },
	{ "64-bit events in every gap", holes },
	{ "64-bit and other events in a group", mixed_groups },
	{ "exceptions", exceptions },
	{ "first touches", first_touches },
	{ "branches", branches },
	{ "cycles", cycles },
};

static const struct ktap_case v3p9_cases[] = {
	{ "every CPU counts at once, 20 times", counts_everywhere },
	{ "thresholds", threshold },
	{ "every counter at once", full_house },
	{ "the instruction counter samples", instruction_counter_samples },
	{ "every CPU samples at once", samples_everywhere },
};

static bool is_v3p9(void)
{
	char line[4096] = "";
	FILE *file = fopen("/proc/cmdline", "r");

	if (file) {
		if (!fgets(line, sizeof(line), file))
			line[0] = 0;
		fclose(file);
	}
	return strstr(line, "corepmu_test.pmuv3=v3p9");
}

int main(int argc, char **argv)
{
	target_init(argc, argv);
	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (nr_cpus > MAX_CPUS)
		nr_cpus = MAX_CPUS;
	/* Whatever the host does meanwhile, no sample is to be held back. */
	write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 0);
	if (is_v3p9())
		return ktap_run(v3p9_cases, ARRAY_SIZE(v3p9_cases));
	return ktap_run(cases, ARRAY_SIZE(cases));
}
