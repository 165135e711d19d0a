/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ktap.h - test results in KTAP
 *
 * A suite is a table of struct ktap_case handed to ktap_run(), several of them handed to
 * ktap_run_lists(), or its own loop of ktap_begin() ... ktap_end(). A test fails when an
 * expectation inside it does; every failed expectation says what it expected and what it
 * got.
 */
#ifndef KTAP_H
#define KTAP_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct ktap_case - a test
 * @name: what it asserts
 * @run: asserts it
 */
struct ktap_case {
	const char *name;
	void (*run)(void);
};

/**
 * struct ktap_list - the tests of one file of a suite
 * @cases: the tests
 * @nr: how many
 */
struct ktap_list {
	const struct ktap_case *cases;
	unsigned int nr;
};

/**
 * ktap_run() - plan and run tests one after the other
 * @cases: the tests
 * @nr: how many
 *
 * Return: the exit status of the suite.
 */
int ktap_run(const struct ktap_case *cases, unsigned int nr);

/**
 * ktap_run_lists() - plan and run the tests of several files
 * @lists: the files' tests
 * @nr: how many files
 *
 * Return: the exit status of the suite.
 */
int ktap_run_lists(const struct ktap_list *const *lists, unsigned int nr);

/**
 * ktap_plan() - say how many tests there are
 * @nr: how many
 */
void ktap_plan(unsigned int nr);

/**
 * ktap_begin() - begin a test
 * @fmt: its name, as printf(3) has it
 */
void ktap_begin(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * ktap_end() - end the running test, and say how it went
 *
 * A test that was not skipped and expected nothing has failed.
 */
void ktap_end(void);

/**
 * ktap_fail() - fail the running test
 * @fmt: why, as printf(3) has it; becomes a diagnostic line
 */
void ktap_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * ktap_skip() - skip the running test, unless it fails
 * @fmt: why, as printf(3) has it
 */
void ktap_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * ktap_diag() - print a diagnostic line
 * @fmt: the line, as printf(3) has it
 */
void ktap_diag(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * ktap_figure() - print a number that the host compares between kernels
 * @name: of the number
 * @value: the number
 */
void ktap_figure(const char *name, unsigned long long value);

/**
 * ktap_failed() - whether the running test has failed
 *
 * Return: true once an expectation failed.
 */
bool ktap_failed(void);

/**
 * ktap_status() - the exit status of the suite
 *
 * Return: 0 if and only if all planned tests ran and none failed.
 */
int ktap_status(void);

/**
 * ktap_check() - expect a condition, with a sentence of its own
 * @cond: whether it holds
 * @fmt: what was expected and what was got, as printf(3) has it
 *
 * Return: @cond.
 */
bool ktap_check(bool cond, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * ktap_check_eq() - expect a number
 * @what: which one
 * @want: what it has to be
 * @got: what it is
 *
 * Return: whether it is so.
 */
bool ktap_check_eq(const char *what, long long want, long long got);

/**
 * ktap_check_ne() - expect any number but one
 * @what: which one
 * @refused: what it may not be
 * @got: what it is
 *
 * Return: whether it is so.
 */
bool ktap_check_ne(const char *what, long long refused, long long got);

/**
 * ktap_check_range() - expect a number of a range
 * @what: which one
 * @lo: the lowest it may be
 * @hi: the highest it may be
 * @got: what it is
 *
 * Return: whether it is so.
 */
bool ktap_check_range(const char *what, long long lo, long long hi, long long got);

/**
 * ktap_check_true() - expect a condition
 * @what: the condition, in words
 * @cond: whether it holds
 *
 * Return: @cond.
 */
bool ktap_check_true(const char *what, bool cond);

/**
 * ktap_observe() - be told of every number that is expected, also of those that are seen
 * @observe: called with what it is, the lowest and the highest it may be, and what it is
 */
void ktap_observe(void (*observe)(const char *what, long long lo, long long hi, long long got));

#define expect_or_say(cond, ...)	ktap_check(cond, __VA_ARGS__)
#define expect_eq(what, want, got)	ktap_check_eq(what, want, got)
#define expect_ne(what, refused, got)	ktap_check_ne(what, refused, got)
#define expect_range(what, lo, hi, got)	ktap_check_range(what, lo, hi, got)
#define expect_true(what, cond)		ktap_check_true(what, cond)

#define ARRAY_SIZE(a)			(sizeof(a) / sizeof((a)[0]))

#endif /* KTAP_H */
