/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report.h - results as KTAP, as JSON and as a page of HTML
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stdio.h>

struct check;
struct json;
struct outcome;

/**
 * report_begin() - say what is judged
 * @json: results go to standard output as JSON, and at the end, not as KTAP
 * @nr: checks that follow
 */
void report_begin(bool json, unsigned int nr);

/**
 * report_check() - say how a check ended
 * @check: the check
 * @outcome: how it ended
 * @number: from 1 on
 */
void report_check(const struct check *check, const struct outcome *outcome, unsigned int number);

/**
 * report_note() - something about the whole run
 * @sentence: what
 */
void report_note(const char *sentence);

/**
 * report_end() - how many passed, failed and were skipped
 * @totals: by enum result
 * @why: NULL, or why not all was run
 *
 * Return: all of it as JSON.
 */
const char *report_end(const unsigned int *totals, const char *why);

/**
 * about_machine() - what a reader has to know of the machine, the kernel and the PMU
 * @tell: called with the name of each fact and the fact
 */
void about_machine(void (*tell)(const char *name, const char *fact));

/**
 * html_report() - write a page that needs nothing beside it
 * @out: where to
 * @report: the JSON of report_end()
 * @other: NULL, or another one to show beside it
 */
void html_report(FILE *out, const struct json *report, const struct json *other);

#endif /* REPORT_H */
