/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * errors.h - system calls whose error is checked, and the tests of the suite "errors"
 */
#ifndef ERRORS_H
#define ERRORS_H

#include "ring.h"

/* PERF_TYPE_HW_CACHE: config is the cache, the operation and its result. */
#define CACHE(id, op, result)	((id) | (op) << 8 | (result) << 16)

/**
 * open_on_self() - open an event on the calling task
 * @attr: what to open
 * @group: its leader, or -1
 *
 * Return: a descriptor, or a negative errno.
 */
int open_on_self(struct perf_event_attr *attr, int group);

/**
 * try_ioctl() - ioctl(2)
 * @fd: the event
 * @request: PERF_EVENT_IOC_*
 * @arg: its argument
 *
 * Return: 0, or a negative errno.
 */
int try_ioctl(int fd, unsigned long request, unsigned long arg);

/**
 * try_map() - mmap(2), and munmap(2) if that went well
 * @fd: the event
 * @length: bytes
 * @flags: MAP_*
 * @offset: bytes
 *
 * Return: 0, or a negative errno.
 */
int try_map(int fd, size_t length, int flags, off_t offset);

/**
 * expect_error() - expect an error, or success
 * @what: what was tried
 * @error: errno, 0 for success
 * @ret: a negative errno, or anything else for success
 *
 * Return: true if the expectation holds.
 */
bool expect_error(const char *what, int error, int ret);

/**
 * errors_open_cases() - return the number of tests that errors_run_open_cases() runs
 *
 * Return: their number.
 */
unsigned int errors_open_cases(void);

/**
 * errors_run_open_cases() - run a test for each entry of a table of attributes
 */
void errors_run_open_cases(void);

extern const struct ktap_list errors_event_cases, errors_descriptor_cases, errors_paranoid_cases;

#endif /* ERRORS_H */
