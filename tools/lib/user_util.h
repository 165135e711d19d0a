/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_util.h - functions for suites that test counters read by user space
 */
#ifndef USER_UTIL_H
#define USER_UTIL_H

#include "ring.h"
#include "user_read.h"

/**
 * reader_attr_init() - make the attributes of a disabled user event that user space can read
 * @attr: result
 * @config: ARCH_EVENT_* or another number of the PMU's
 * @config1: more bits of attr.config1
 */
void reader_attr_init(struct perf_event_attr *attr, u64 config, u64 config1);

/**
 * reader_open() - open the event of reader_attr_init() and map its page
 * @reader: result
 * @config: as for reader_attr_init()
 * @config1: as for reader_attr_init()
 *
 * Return: true on success; otherwise the running test has failed.
 */
bool reader_open(struct reader *reader, u64 config, u64 config1);

/**
 * reader_open_attr() - open any event and map its page
 * @reader: result
 * @attr: attributes, which request reads by user space
 *
 * Return: true on success; otherwise the running test has failed.
 */
bool reader_open_attr(struct reader *reader, struct perf_event_attr *attr);

/**
 * user_read_allow() - set which reads by user space the administrator allows
 * @value: the number for ARCH_USER_READ_FILE
 *
 * Return: 0, or a negative errno.
 */
int user_read_allow(long value);

/**
 * user_read_allowed() - return which reads by user space the administrator allows
 *
 * Return: the number in ARCH_USER_READ_FILE, or a negative errno.
 */
long user_read_allowed(void);

/**
 * struct counter_scan - results of trying to read every possible counter
 * @own: page->index of an event of the reading task, or 0: @seen excludes this counter
 * @faults: reads that ended in ARCH_USER_READ_SIGNAL
 * @values: reads that returned a value
 * @seen: values that were not zero
 * @counter: counter of the last of @seen
 * @value: the last of @seen
 */
struct counter_scan {
	unsigned int own;
	unsigned int faults;
	unsigned int values;
	unsigned int seen;
	unsigned int counter;
	u64 value;
};

/**
 * scan_counters() - try to read every possible counter
 * @scan: result, added to earlier results; @scan->seen includes counters of the calling
 *	task's other events
 *
 * The handler of ARCH_USER_READ_SIGNAL stays: other threads may be scanning too.
 */
void scan_counters(struct counter_scan *scan);

/**
 * expect_all_zero() - expect that counters of other tasks had no value
 * @what: name of the reader
 * @scan: its results
 *
 * Return: true if there was none.
 */
bool expect_all_zero(const char *what, const struct counter_scan *scan);

#endif /* USER_UTIL_H */
