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
 * report_begin() - begin a report with the PMU and the machine
 * @json: write JSON to standard output at the end, instead of KTAP
 * @nr: number of checks
 */
void report_begin(bool json, unsigned int nr);

/**
 * report_check() - report the result of a check
 * @check: the check
 * @outcome: the result
 * @number: number of the check, from 1 on
 */
void report_check(const struct check *check, const struct outcome *outcome, unsigned int number);

/**
 * report_note() - report a note about the whole run
 * @sentence: the note
 */
void report_note(const char *sentence);

/**
 * report_end() - end the report with the totals
 * @totals: numbers of checks, by enum result
 * @why: NULL, or why not all checks were run
 *
 * Return: the whole report as JSON.
 */
const char *report_end(const unsigned int *totals, const char *why);

/**
 * about_machine() - report facts about the machine, the kernel and the PMU
 * @report: called with the name and the value of each fact
 */
void about_machine(void (*report)(const char *name, const char *fact));

#endif /* REPORT_H */
