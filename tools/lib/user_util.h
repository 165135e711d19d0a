/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_util.h - what the suites of counters read from user space share
 */
#ifndef USER_UTIL_H
#define USER_UTIL_H

#include "perf_util.h"
#include "user_read.h"

/**
 * struct reader - an event on the calling task that user space reads
 * @fd: the event
 * @width: bits of its counter, as the page says
 * @page: the event's page
 */
struct reader {
	int fd;
	unsigned int width;
	struct perf_event_mmap_page *page;
};

/**
 * reader_attr_init() - an event in user space that can be read there, disabled
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
 * Return: whether that went well; if not, the running test has failed.
 */
bool reader_open(struct reader *reader, u64 config, u64 config1);

/**
 * reader_open_attr() - open any event and map its page
 * @reader: result
 * @attr: what to open; user space is asked for in it
 *
 * Return: whether that went well; if not, the running test has failed.
 */
bool reader_open_attr(struct reader *reader, struct perf_event_attr *attr);

/**
 * reader_map() - map the page of an event that is open
 * @reader: with the event
 *
 * Return: whether that went well; if not, the running test has failed.
 */
bool reader_map(struct reader *reader);

/**
 * reader_close() - unmap the page and close the event
 * @reader: the event
 */
void reader_close(struct reader *reader);

/**
 * user_read_allow() - write what the administrator allows user space to read
 * @value: the number for ARCH_USER_READ_FILE
 *
 * Return: 0, or a negative errno.
 */
int user_read_allow(long value);

/**
 * user_read_allowed() - read what the administrator allows user space to read
 *
 * Return: the number in ARCH_USER_READ_FILE, or a negative errno.
 */
long user_read_allowed(void);

/**
 * struct counter_scan - what reading every counter there may be came to
 * @own: page->index of an event of the reading task's own, or 0: it is left out of @seen
 * @faults: reads that ended in ARCH_USER_READ_SIGNAL
 * @values: reads that gave a value
 * @seen: values that were not zero
 * @counter: of the last of @seen
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
 * scan_counters() - read every counter there may be
 * @scan: result, added to what it had; counters of other events of the calling task are
 *	among @scan->seen
 *
 * Leaves a handler of ARCH_USER_READ_SIGNAL behind: other threads may be scanning too.
 */
void scan_counters(struct counter_scan *scan);

/**
 * expect_all_zero() - expect that no counter of others had a value
 * @what: who read
 * @scan: what it read
 *
 * Return: whether it is so.
 */
bool expect_all_zero(const char *what, const struct counter_scan *scan);

#endif /* USER_UTIL_H */
