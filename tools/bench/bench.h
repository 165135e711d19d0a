/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench.h - declarations for all files of the benchmark
 */
#ifndef BENCH_H
#define BENCH_H

#include "ring.h"

#define MAX_EVENTS	64

/* A period that the benchmark never reaches */
#define NEVER		(1ULL << 40)

/* Branch records, as requested by perf record -b and by --call-graph lbr */
#define ANY_BRANCH	(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER)
#define CALL_STACK	(PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER |		\
			 PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES)

/**
 * struct bench - an event, a group, or several events of one task or CPU
 * @attr: their attributes
 * @pid: the task, or -1
 * @cpu: the CPU, or -1
 * @fds: the events
 * @nr: number of events
 * @group: they are a group
 * @values: their values at the last read
 * @page: page of the first event
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

/* A no-operation that no compiler emits; it marks the end of a round for the plugin pmu-access. */
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
 * die() - print what failed, with errno, and exit
 * @what: the failed operation
 */
void die(const char *what);

/**
 * median() - return the median of figures
 * @costs: the figures, which the function sorts
 * @nr: number of figures
 *
 * Return: the median.
 */
u64 median(u64 *costs, unsigned int nr);

/**
 * bench_init() - prepare to open events
 * @b: result
 * @cpu_wide: events of the first CPU, or else of this task
 */
void bench_init(struct bench *b, bool cpu_wide);

/**
 * bench_open() - open events
 * @b: from bench_init()
 * @nr: number of events
 * @group: as a group
 * @hardware_events: events of the driver, or else of perf core itself
 */
void bench_open(struct bench *b, unsigned int nr, bool group, bool hardware_events);

/**
 * bench_enable() - enable the events
 * @b: from bench_open()
 */
void bench_enable(struct bench *b);

/**
 * bench_close() - close the events
 * @b: from bench_open()
 */
void bench_close(struct bench *b);

/**
 * bench_branches() - request branch records in samples, if the PMU has them
 * @b: from bench_init()
 * @where: prefix of the message if it has none
 * @what: operation in that message
 * @branches: attr.branch_sample_type
 *
 * Return: true if it has them.
 */
bool bench_branches(struct bench *b, const char *where, const char *what, u64 branches);

/**
 * bench_wants() - check whether to measure an operation
 * @where: prefix of its name
 * @what: the rest of its name
 *
 * Return: true if ROWS is not in the environment, or one of its globs matches the name.
 */
bool bench_wants(const char *where, const char *what);

/**
 * bench_report() - measure an operation with long rounds, and print its line
 * @kind: "BENCH", or "BASE" for what the operation costs without the driver
 * @what: its name
 * @op: the operation
 * @b: its events
 */
void bench_report(const char *kind, const char *what, void (*op)(struct bench *b),
		  struct bench *b);

/**
 * bench_rotation() - measure the rotation of events of this task
 * @nr: number of events
 */
void bench_rotation(unsigned int nr);

/**
 * bench_inheritance() - measure the fork and exit of a child that inherits events
 * @nr: number of events
 */
void bench_inheritance(unsigned int nr);

/**
 * overflow_prepare() - allocate shared memory, before any child is started
 */
void overflow_prepare(void);

/**
 * bench_overflows() - measure overflows
 * @where: prefix of their names
 * @cpu_wide: events of a CPU, or else of a task
 */
void bench_overflows(const char *where, bool cpu_wide);

#endif /* BENCH_H */
