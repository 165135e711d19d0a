/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * syscall.h - system calls on descriptors of events
 */
#ifndef CALL_H
#define CALL_H

#include "run/run.h"

/**
 * call_init() - prepare for call_ioctl()
 */
void call_init(void);

/**
 * call_ioctl() - do an operation that is one ioctl(2) or prctl(2)
 * @fd: descriptor of an event, or another number
 * @op: the operation
 *
 * Return: the call's return value, with errno.
 */
long call_ioctl(int fd, const struct fuzz_op *op);

#endif /* CALL_H */
