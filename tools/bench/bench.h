/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench.h - what the files of the benchmark share
 */
#ifndef BENCH_H
#define BENCH_H

#include "ring.h"

#define MAX_EVENTS	8

/* An event that is to be sampled, and is not for now */
#define NEVER		(1ULL << 40)

/* Branch records, as perf record -b has them, and --call-graph lbr */
#define ANY_BRANCH	(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER)
#define CALL_STACK	(PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER |		\
			 PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES)

/**
 * struct bench - what is measured: an event or a group, or several events of one task or CPU
 * @attr: their attributes
 * @pid: the task, or -1
 * @cpu: the CPU, or -1
 * @fds: the events
 * @nr: how many
 * @group: they are one
 * @values: what was read of them
 * @page: the first one's page
 */
struct bench {
	struct perf_event_attr attr;
	pid_t pid;
	int cpu;
	int fds[MAX_EVENTS];
	unsigned int nr;
	bool group;
	u64 values[2 * MAX_EVENTS + 4];
	struct perf_event_mmap_page *page;
};

#if defined(__aarch64__)

static inline u64 clock_now(void)
{
	u64 now;

	asm volatile("mrs %0, cntvct_el0" : "=r" (now) :: "memory");
	return now;
}

/* For the plugin pmu-access: a no-operation of a kind that nobody uses. */
static inline void mark(void)
{
	asm volatile("movz xzr, #0xbec5" ::: "memory");
}

#elif defined(__x86_64__)

static inline u64 clock_now(void)
{
	u32 low, high;

	asm volatile("rdtsc" : "=a" (low), "=d" (high) :: "memory");
	return (u64)high << 32 | low;
}

static inline void mark(void)
{
	/* nopl 0xbec5bec5(%rax) */
	asm volatile(".byte 0x0f, 0x1f, 0x80, 0xc5, 0xbe, 0xc5, 0xbe" ::: "memory");
}

#endif

/**
 * die() - end, and say why
 * @what: what failed; errno says how
 */
void die(const char *what);

/**
 * median() - the median of figures
 * @costs: the figures, which are sorted
 * @nr: how many
 *
 * Return: the median.
 */
u64 median(u64 *costs, unsigned int nr);

/**
 * bench_init() - prepare to open events
 * @b: result
 * @cpu_wide: of the first CPU, or else of this task
 */
void bench_init(struct bench *b, bool cpu_wide);

/**
 * bench_open() - open them
 * @b: from bench_init()
 * @nr: how many
 * @group: as a group
 * @hardware_events: the driver's, or else perf core's own
 */
void bench_open(struct bench *b, unsigned int nr, bool group, bool hardware_events);

/**
 * bench_close() - close them
 * @b: from bench_open()
 */
void bench_close(struct bench *b);

/**
 * bench_branches() - have the samples have branch records, if the PMU can
 * @b: from bench_init()
 * @where: for what is printed if not
 * @what: likewise
 * @branches: attr.branch_sample_type
 *
 * Return: whether it can.
 */
bool bench_branches(struct bench *b, const char *where, const char *what, u64 branches);

/**
 * overflow_prepare() - before any child is started
 */
void overflow_prepare(void);

/**
 * bench_overflows() - what overflows cost
 * @where: prefix of their names
 * @cpu_wide: of a CPU, or else of a task
 */
void bench_overflows(const char *where, bool cpu_wide);

#endif /* BENCH_H */
