/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reduce.h - remove pieces of a case
 *
 * A piece is an operation, an event, or a bit or a number in an event's attributes. A piece keeps
 * its number, whichever others are removed.
 */
#ifndef REDUCE_H
#define REDUCE_H

#include "fuzz.h"

#define REDUCE_MAX_PIECES	1024

/**
 * reduce_case() - remove pieces of a case
 * @fuzz: the case
 * @without: for each piece, whether to remove it; NULL only counts the pieces
 *
 * Return: the number of pieces in the whole case.
 */
unsigned int reduce_case(struct fuzz_case *fuzz, const bool *without);

/**
 * reduce_list() - remove pieces of a case
 * @fuzz: the case
 * @list: numbers of pieces, separated by commas
 */
void reduce_list(struct fuzz_case *fuzz, const char *list);

#endif /* REDUCE_H */
