/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * program.h - a case as a C program
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "fuzz.h"
#include "machine.h"

/**
 * program_print() - print a case as a C program that stands alone
 * @out: output
 * @fuzz: the case
 * @machine: vendor of its events
 */
void program_print(FILE *out, const struct fuzz_case *fuzz, enum machine machine);

#endif /* PROGRAM_H */
