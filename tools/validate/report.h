/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report.h - results as KTAP and as JSON
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>

struct check;
struct outcome;

/**
 * report_begin() - say what is judged
 * @json: JSON instead of KTAP
 * @nr: checks that follow
 */
void report_begin(bool json, unsigned int nr);

/**
 * report_check() - say how a check ended
 * @json: JSON instead of KTAP
 * @check: the check
 * @outcome: how it ended
 * @number: from 1 on
 */
void report_check(bool json, const struct check *check, const struct outcome *outcome,
		  unsigned int number);

/**
 * report_note() - something about the whole run
 * @json: JSON instead of KTAP
 * @sentence: what
 */
void report_note(bool json, const char *sentence);

/**
 * report_end() - how many passed, failed and were skipped
 * @json: JSON instead of KTAP
 * @totals: by enum result
 * @why: NULL, or why not all was run
 */
void report_end(bool json, const unsigned int *totals, const char *why);

#endif /* REPORT_H */
