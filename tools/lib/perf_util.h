/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_util.h - perf_event_open(2) for programs of guests
 */
#ifndef PERF_UTIL_H
#define PERF_UTIL_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>

#include "arch.h"
#include "ktap.h"

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST	(1U << 4)
#endif

typedef uint64_t u64;
typedef uint32_t u32;
typedef int64_t s64;

/**
 * struct target - the PMU under test
 * @pmu: its name: from --pmu, from PMU in the environment, or ARCH_DEFAULT_PMU
 * @type: perf_event_attr.type of its events
 * @counters: instructions events that fit its counters
 * @cycles: cycles events that fit
 * @all: instructions and cycles events that fit together
 * @branches: events without a dedicated counter that fit
 * @loop_cycles: cycles of one iteration of known_loop() in the exact lane
 * @kernel: the kernel's series: 601, 612
 * @in_tree: it is the built-in driver's PMU, not corepmu's
 */
struct target {
	const char *pmu;
	int type;
	unsigned int counters;
	unsigned int cycles;
	unsigned int all;
	unsigned int branches;
	unsigned int loop_cycles;
	unsigned int kernel;
	bool in_tree;
};

extern struct target target;

/**
 * target_init() - read the options and find the PMU
 * @argc: of main()
 * @argv: of main()
 *
 * Ends the process if there is no such PMU.
 */
void target_init(int argc, char **argv);

/**
 * attr_init() - an event of the PMU's own type: in user space, disabled
 * @attr: result
 * @config: ARCH_EVENT_* or another number of the PMU's
 */
void attr_init(struct perf_event_attr *attr, u64 config);

/**
 * attr_init_generic() - an event of PERF_TYPE_HARDWARE: in user space, disabled
 * @attr: result
 * @config: PERF_COUNT_HW_*
 */
void attr_init_generic(struct perf_event_attr *attr, u64 config);

/**
 * event_open() - perf_event_open(2)
 * @attr: what to open
 * @pid: task, 0 for the calling one, -1 for all tasks of @cpu
 * @cpu: CPU, or -1 for any
 * @group: descriptor of the group's leader, or -1
 * @flags: PERF_FLAG_*
 *
 * Return: a descriptor, or a negative errno.
 */
int event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
	       unsigned long flags);

/**
 * event_open_self() - open an event of the calling task
 * @attr: what to open
 * @group: descriptor of the group's leader, or -1
 *
 * Return: a descriptor, or a negative errno with which the running test has failed.
 */
int event_open_self(struct perf_event_attr *attr, int group);

/**
 * event_open_user() - open an event of attr_init() on the calling task
 * @config: as for attr_init()
 * @group: descriptor of the group's leader, or -1; a leader is opened disabled, a sibling
 *	enabled
 *
 * Return: as event_open_self().
 */
int event_open_user(u64 config, int group);

/* Open a software event: this task then has a context without an event of the PMU under test. */
void open_page_faults(void);

/* PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE and PERF_EVENT_IOC_RESET of an event */
void event_enable(int fd);
void event_disable(int fd);
void event_reset(int fd);

/**
 * event_read() - read the count of an event without read_format
 * @fd: the event
 *
 * Return: the count; 0 if it cannot be read, which fails the running test.
 */
u64 event_read(int fd);

/**
 * struct event_times - values of an event with FORMAT_TIMES
 * @count: its count
 * @enabled: ns for which it was enabled
 * @running: ns for which it had a counter
 */
struct event_times {
	u64 count;
	u64 enabled;
	u64 running;
};

#define FORMAT_TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | \
			 PERF_FORMAT_TOTAL_TIME_RUNNING)

/**
 * event_read_times() - read an event whose read_format is FORMAT_TIMES
 * @fd: the event
 * @times: result, zeroes if it cannot be read
 *
 * Return: true on success; otherwise the running test has failed.
 */
bool event_read_times(int fd, struct event_times *times);

/**
 * loop_counts() - return an event's exact count of the known loop
 * @config: ARCH_EVENT_*
 * @iterations: of known_loop()
 *
 * Return: the count.
 */
u64 loop_counts(u64 config, unsigned long iterations);

/**
 * event_run_loop() - enable, run the loop, disable
 * @fd: the event
 * @iterations: of known_loop()
 */
static inline void event_run_loop(int fd, unsigned long iterations)
{
	event_enable(fd);
	known_loop(iterations);
	event_disable(fd);
}

/**
 * event_count_loop() - reset, enable, run the loop, disable, read
 * @fd: the event
 * @iterations: of known_loop()
 *
 * Return: the count, which includes the code around the loop, the same in each call.
 */
u64 event_count_loop(int fd, unsigned long iterations);

/**
 * event_is_exact() - expect LOOP_INSNS per iteration of an instructions event
 * @fd: the event
 * @iterations: of known_loop()
 *
 * Return: true if the count is exact.
 */
bool event_is_exact(int fd, unsigned long iterations);

/**
 * pmu_is_exact() - open an event, call event_is_exact(), and close the event
 * @iterations: of known_loop()
 *
 * Return: true if the count is exact.
 */
bool pmu_is_exact(unsigned long iterations);

/**
 * close_all() - close descriptors, the last one first
 * @fds: descriptors; negative ones are skipped, and all are -1 afterwards
 * @nr: number of descriptors
 */
void close_all(int *fds, unsigned int nr);

/**
 * pmu_interrupts() - return the number of the PMU's interrupts on all CPUs
 *
 * Return: the sum of its line in /proc/interrupts, or -1 without such a line.
 */
long pmu_interrupts(void);

/**
 * read_number() - read a number from a file of /proc/sys or /sys
 * @path: the file
 *
 * Return: the number, or a negative errno.
 */
long read_number(const char *path);

/* Check whether the kernel's command line contains @word, such as corepmu_test.NAME=VALUE. */
bool command_line_has(const char *word);

/**
 * branch_records() - return the number of branch records of the PMU under test
 *
 * Return: caps/branches; 0 without that file: the PMU has none, or is AMD's built-in driver's.
 */
unsigned int branch_records(void);

/* Return the highest precise_ip of the PMU under test: caps/max_precise; 0 without that file. */
unsigned int max_precise(void);

/**
 * write_number() - write a number to a file of /proc/sys or /sys
 * @path: the file
 * @value: the number
 *
 * Return: 0, or a negative errno.
 */
int write_number(const char *path, long value);

/**
 * limit_sample_rate() - set the maximum number of samples per second, whatever time they take
 * @rate: kernel.perf_event_max_sample_rate
 *
 * For root. The rate can be set only while perf_cpu_time_max_percent limits the time. Afterwards
 * the percentage is 0, so that perf core does not lower the rate.
 */
void limit_sample_rate(unsigned int rate);

#endif /* PERF_UTIL_H */
