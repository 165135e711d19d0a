/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * text.h - the kernel's own instructions, by which records of its branches are judged
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>

#include "perf_util.h"

/* What an instruction of the kernel may do */
enum text_kind {
	TEXT_UNKNOWN,	/* it cannot be read */
	TEXT_OTHER,	/* no branch: what leads away from it is an exception */
	TEXT_DIRECT,	/* a branch to one place */
	TEXT_ANYWHERE,	/* a branch to a place that is not in the instruction, or a trap */
};

/**
 * text_open() - be able to read the kernel's instructions
 *
 * Return: whether they can be; if not, the running test has failed.
 */
bool text_open(void);

/**
 * text_close() - undo text_open()
 */
void text_close(void);

/**
 * text_kind() - what does an instruction of the kernel do?
 * @from: its address
 * @to: result: where it leads, of TEXT_DIRECT
 *
 * Return: what.
 */
enum text_kind text_kind(u64 from, u64 *to);

/**
 * text_goes_on() - can the kernel come from one address to another without a branch taken?
 * @to: where it starts
 * @from: an address not before it, not many pages behind
 *
 * Where instructions have no fixed size, nobody has looked.
 *
 * Return: false if there is an instruction between them behind which nothing goes on.
 */
bool text_goes_on(u64 to, u64 from);

/**
 * text_is_vector() - may an exception or interrupt of the kernel begin there?
 * @to: an address
 *
 * Return: whether its alignment is that of such a place.
 */
bool text_is_vector(u64 to);

#endif /* TEXT_H */
