// SPDX-License-Identifier: GPL-2.0-only
/*
 * overflow.c - cost of overflows: time that user space loses
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "task.h"

/* User instructions between two overflows */
#define PERIOD		20000
#define MAX_OVERFLOWS	1000
/* A longer time between two reads of the clock is an interruption, in ns. */
#define GAP		200
/* Values for interruptions with many samples, which are longer than a tick's */
#define PERIOD_MANY	1000
#define INTERRUPTIONS	20
#define GAP_MANY	20000
/* Virtual time that bounds a measurement, in ns */
#define LONGEST		(60 * 1000000000ULL)
/* Pages of the buffer: room for the samples, with branch records, of a measurement */
#define PAGES		256

/* Return the median of the gaps in user space's time that overflows cause, or 0. */
static u64 median_gap(unsigned int most, u64 least)
{
	static u64 gaps[MAX_OVERFLOWS];
	unsigned int nr = 0;
	u64 first = clock_now(), last, now;

	mark();
	for (last = first; nr < most && last - first < LONGEST; last = now) {
		now = clock_now();
		if (now - last >= least)
			gaps[nr++] = now - last;
	}
	mark();
	return nr < most ? 0 : median(gaps, nr);
}

/* Median gap of bench_overflow()'s child, in shared memory */
static u64 *childs_gap;

static void measure_gap(unsigned long many)
{
	*childs_gap = many ? median_gap(INTERRUPTIONS, GAP_MANY) : median_gap(MAX_OVERFLOWS, GAP);
}

/* The buffer belongs to a parent, as perf record's does, or to the sampled task. */
static void bench_overflow(const char *where, const char *what, bool cpu_wide, bool own,
			   u64 sample_type, u64 branches)
{
	struct ring_sum sum = { 0 };
	static struct ring ring;
	struct child child = { 0 };
	struct bench b;
	u64 gap;

	if (!bench_wants(where, what))
		return;
	bench_init(&b, cpu_wide);
	if (branches && !bench_branches(&b, where, what, branches))
		return;
	b.attr.sample_period = PERIOD;
	b.attr.sample_type |= sample_type;
	if (!own && !child_start(&child, measure_gap, 0))
		exit(1);
	if (!cpu_wide)
		b.pid = child.pid;
	bench_open(&b, 1, false, true);
	if (ring_map(&ring, b.fds[0], PAGES))
		die("mmap");
	event_enable(b.fds[0]);
	if (own) {
		gap = median_gap(MAX_OVERFLOWS, GAP);
	} else {
		child_run(&child);
		gap = *childs_gap;
		child_end(&child);
	}
	event_disable(b.fds[0]);
	ring_drain(&ring, &b.attr, &sum);
	printf("BENCH %s%s %llu\n", where, what, (unsigned long long)gap);
	printf("MARKED %s%s %u\n", where, what, sum.samples);
	if (!gap || sum.samples < MAX_OVERFLOWS * 9 / 10)
		printf("BROKEN %s%s: %u interruptions, %u samples\n", where, what, MAX_OVERFLOWS,
		       sum.samples);
	ring_unmap(&ring);
	bench_close(&b);
}

/*
 * Precise samples, whose address is in a record. With raw data, which is empty, each record
 * interrupts; without, an interrupt brings a full buffer.
 */
static void bench_precise(const char *what, bool many)
{
	unsigned int samples, of_each = many ? INTERRUPTIONS : MAX_OVERFLOWS;
	struct ring_sum sum = { 0 };
	static struct ring ring;
	struct child child = { 0 };
	struct bench b;
	int fd;

	if (!bench_wants("", what))
		return;
	/* The built-in driver of arm64 accepts precise_ip and ignores it. */
	if (max_precise() < 2) {
		printf("# %s: samples have skid\n", what);
		return;
	}
	bench_init(&b, false);
	b.attr.sample_period = many ? PERIOD_MANY : PERIOD;
	b.attr.sample_type |= many ? PERF_SAMPLE_IP : PERF_SAMPLE_IP | PERF_SAMPLE_RAW;
	b.attr.precise_ip = 2;
	fd = event_open(&b.attr, 0, -1, -1, 0);
	if (fd < 0) {
		printf("# %s: %s\n", what, strerror(-fd));
		return;
	}
	close(fd);
	if (!child_start(&child, measure_gap, many))
		exit(1);
	b.pid = child.pid;
	bench_open(&b, 1, false, true);
	if (ring_map(&ring, b.fds[0], PAGES))
		die("mmap");
	event_enable(b.fds[0]);
	child_run(&child);
	child_end(&child);
	event_disable(b.fds[0]);
	ring_drain(&ring, &b.attr, &sum);
	/* A few samples come after the last interruption, but fewer than one for each. */
	samples = sum.samples / of_each;
	if (!*childs_gap || !samples || (many && samples == 1))
		printf("BROKEN %s: %u interruptions, %u samples\n", what, of_each, sum.samples);
	else
		printf("BENCH %s %llu\n", what, (unsigned long long)*childs_gap / samples);
	printf("# %s: %u samples an interruption\n", what, samples);
	printf("MARKED %s %u\n", what, sum.samples);
	ring_unmap(&ring);
	bench_close(&b);
}

bool bench_branches(struct bench *b, const char *where, const char *what, u64 branches)
{
	int fd;

	b->attr.sample_period = NEVER;
	b->attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	b->attr.branch_sample_type = branches;
	fd = event_open(&b->attr, b->pid, b->cpu, -1, 0);
	if (fd < 0) {
		printf("# %s%s: %s\n", where, what, strerror(-fd));
		return false;
	}
	close(fd);
	return true;
}

void overflow_prepare(void)
{
	childs_gap = mmap(NULL, sizeof(*childs_gap), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (childs_gap == MAP_FAILED)
		die("mmap");
}

void bench_overflows(const char *where, bool cpu_wide)
{
	bench_overflow(where, "overflow-ip", cpu_wide, false, PERF_SAMPLE_IP, 0);
	bench_overflow(where, "overflow-ip-own", cpu_wide, true, PERF_SAMPLE_IP, 0);
	bench_overflow(where, "overflow-chain", cpu_wide, false,
		       PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		       PERF_SAMPLE_CALLCHAIN, 0);
	/* Samples of a CPU have the same cost. */
	if (cpu_wide)
		return;
	bench_overflow(where, "overflow-branches", cpu_wide, false, PERF_SAMPLE_IP, ANY_BRANCH);
	bench_overflow(where, "overflow-branches-kernel", cpu_wide, false, PERF_SAMPLE_IP,
		       ANY_BRANCH | PERF_SAMPLE_BRANCH_KERNEL);
	bench_precise("overflow-precise", false);
	bench_precise("overflow-precise-many", true);
	bench_overflow(where, "overflow-calls", cpu_wide, false, PERF_SAMPLE_IP, CALL_STACK);
}
