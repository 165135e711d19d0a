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
 * @pmu: its name: that of --pmu, of the environment's PMU, or ARCH_DEFAULT_PMU
 * @type: perf_event_attr.type of its events
 * @counters: instructions events that its counters take at a time
 * @cycles: cycles events
 * @all: instructions and cycles events
 * @branches: events that have no counter of their own
 * @loop_cycles: cycles that a round of known_loop() takes in the exact lane
 * @kernel: the kernel's series: 601, 612
 * @in_tree: it is the kernel's own driver, not corepmu
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
 * Ends the process when there is no such PMU: then there is nothing to test.
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
 * @config: as attr_init() has it
 * @group: descriptor of the group's leader, or -1: a leader is disabled, a sibling is not
 *
 * Return: as event_open_self() does.
 */
int event_open_user(u64 config, int group);

/**
 * event_enable() - PERF_EVENT_IOC_ENABLE
 * @fd: the event
 */
void event_enable(int fd);

/**
 * event_disable() - PERF_EVENT_IOC_DISABLE
 * @fd: the event
 */
void event_disable(int fd);

/**
 * event_reset() - PERF_EVENT_IOC_RESET
 * @fd: the event
 */
void event_reset(int fd);

/**
 * event_read() - read the count of an event without read_format
 * @fd: the event
 *
 * Return: the count; 0 when it cannot be read, with which the running test has failed.
 */
u64 event_read(int fd);

/**
 * struct event_times - what an event with FORMAT_TIMES reads
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
 * @times: result, zeroes when it cannot be read
 *
 * Return: whether it could be read; if not, the running test has failed.
 */
bool event_read_times(int fd, struct event_times *times);

/**
 * loop_counts() - what an event counts of the known loop where counts are exact
 * @config: ARCH_EVENT_*
 * @iterations: of known_loop()
 *
 * Return: the count.
 */
u64 loop_counts(u64 config, unsigned long iterations);

/**
 * event_count_loop() - reset, enable, loop, disable, read
 * @fd: the event
 * @iterations: of known_loop()
 *
 * Return: the count, of which what surrounds the loop is the same in each call.
 */
u64 event_count_loop(int fd, unsigned long iterations);

/**
 * event_is_exact() - expect LOOP_INSNS per iteration of an instructions event
 * @fd: the event
 * @iterations: of known_loop()
 *
 * Return: whether it is so.
 */
bool event_is_exact(int fd, unsigned long iterations);

/**
 * pmu_is_exact() - event_is_exact() of an event that is opened and closed
 * @iterations: of known_loop()
 *
 * Return: whether it is so.
 */
bool pmu_is_exact(unsigned long iterations);

/**
 * close_all() - close descriptors, the last one first
 * @fds: descriptors, negative ones excepted; all are -1 afterwards
 * @nr: how many
 */
void close_all(int *fds, unsigned int nr);

/**
 * pmu_interrupts() - the PMU's interrupts so far, on all CPUs
 *
 * Return: the sum of its line in /proc/interrupts, or -1 where there is none.
 */
long pmu_interrupts(void);

/**
 * read_number() - read a number from a file of /proc/sys or /sys
 * @path: the file
 *
 * Return: the number, or a negative errno.
 */
long read_number(const char *path);

/**
 * branch_records() - how many branch records the PMU under test has
 *
 * Return: what caps/branches says, 0 where there is no such file: it has none, or is an in-tree
 * driver of AMD's
 */
unsigned int branch_records(void);

/**
 * max_precise() - how precise samples of the PMU under test can be
 *
 * Return: what caps/max_precise says, 0 where there is no such file
 */
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
 * limit_sample_rate() - set how many samples a second there may be, whatever time they take
 * @rate: kernel.perf_event_max_sample_rate
 *
 * For root. The rate cannot be set while perf_cpu_time_max_percent limits no time; afterwards
 * it does not, so that the kernel lowers no rate.
 */
void limit_sample_rate(unsigned int rate);

#endif /* PERF_UTIL_H */
