/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reduce.h - cases without some of their pieces
 *
 * A piece is an operation, an event, or a bit or a number in an event's attributes. Their
 * numbers are those of the whole case, whichever are left out.
 */
#ifndef REDUCE_H
#define REDUCE_H

#include "fuzz.h"

#define REDUCE_MAX_PIECES	1024

/**
 * reduce_case() - leave pieces out of a case
 * @fuzz: the case
 * @without: for each piece, whether it is to go; NULL to count them only
 *
 * Return: how many pieces the whole case has.
 */
unsigned int reduce_case(struct fuzz_case *fuzz, const bool *without);

/**
 * reduce_list() - leave pieces out of a case
 * @fuzz: the case
 * @list: numbers of pieces, with commas between them
 */
void reduce_list(struct fuzz_case *fuzz, const char *list);

#endif /* REDUCE_H */
