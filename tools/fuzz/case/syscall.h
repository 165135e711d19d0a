/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * syscall.h - system calls on descriptors of events
 */
#ifndef CALL_H
#define CALL_H

#include "fuzz.h"

/**
 * call_init() - get ready for call_ioctl()
 */
void call_init(void);

/**
 * call_ioctl() - an operation that is one ioctl(2) or prctl(2)
 * @fd: descriptor of an event, or not
 * @op: which
 *
 * Return: what it returned, with errno.
 */
long call_ioctl(int fd, const struct fuzz_op *op);

#endif /* CALL_H */
