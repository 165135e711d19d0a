/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * text.h - the kernel's instructions, to check the kernel's branch records
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>

#include "perf_util.h"

/* Where a kernel instruction can lead */
enum text_kind {
	TEXT_UNKNOWN,	/* it cannot be read */
	TEXT_OTHER,	/* no branch: what leads away from it is an exception */
	TEXT_DIRECT,	/* a branch to one place */
	TEXT_ANYWHERE,	/* a branch to a place that is not in the instruction, or a trap */
};

/**
 * text_open() - prepare to read the kernel's instructions
 *
 * Return: true on success; otherwise the running test has failed.
 */
bool text_open(void);

/**
 * text_close() - undo text_open()
 */
void text_close(void);

/**
 * text_kind() - classify an instruction of the kernel
 * @from: its address
 * @to: result: the target of TEXT_DIRECT
 *
 * Return: its type.
 */
enum text_kind text_kind(u64 from, u64 *to);

/**
 * text_goes_on() - check whether the kernel can get from one address to another without a taken
 * branch
 * @to: first address
 * @from: last address, at most some pages further
 *
 * If instructions have no fixed size, the function does not check.
 *
 * Return: false if an instruction between them always branches.
 */
bool text_goes_on(u64 to, u64 from);

/**
 * text_is_vector() - check whether an exception or interrupt of the kernel may start at an address
 * @to: an address
 *
 * Return: true if the alignment is that of an exception entry.
 */
bool text_is_vector(u64 to);

#endif /* TEXT_H */
