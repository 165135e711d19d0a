/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ktap.h - test results in KTAP
 *
 * A suite is a table of struct ktap_case for ktap_run(), several tables for ktap_run_lists(), or
 * its own loop of ktap_begin() ... ktap_end(). A test fails if one of its expectations fails. A
 * failed expectation prints the expected and the actual value.
 */
#ifndef KTAP_H
#define KTAP_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct ktap_case - a test
 * @name: what the test asserts
 * @run: its function
 * @run_with: its function in place of @run, called with @value
 * @value: a number, or the address of something
 */
struct ktap_case {
	const char *name;
	void (*run)(void);
	void (*run_with)(unsigned long value);
	unsigned long value;
};

/**
 * struct ktap_list - the tests of one file of a suite
 * @cases: the tests
 * @nr: number of tests
 */
struct ktap_list {
	const struct ktap_case *cases;
	unsigned int nr;
};

/**
 * ktap_run_case() - run a test
 * @test: the test
 */
void ktap_run_case(const struct ktap_case *test);

/**
 * ktap_run() - plan and run tests one after the other
 * @cases: the tests
 * @nr: number of tests
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
 * ktap_plan() - print the number of tests
 * @nr: number of tests
 */
void ktap_plan(unsigned int nr);

/**
 * ktap_begin() - begin a test
 * @fmt: its name, as printf(3) has it
 */
void ktap_begin(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * ktap_end() - end the running test, and print its result
 *
 * A test that was not skipped and expected nothing fails.
 */
void ktap_end(void);

/**
 * ktap_fail() - fail the running test
 * @fmt: why, as printf(3) has it; becomes a diagnostic line
 */
void ktap_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * ktap_skip() - skip the running test, unless it fails
 * @fmt: the reason, as printf(3) has it
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
 * ktap_failed() - check whether the running test has failed
 *
 * Return: true after a failed expectation.
 */
bool ktap_failed(void);

/**
 * ktap_status() - return the exit status of the suite
 *
 * Return: 0 if all planned tests ran and none failed.
 */
int ktap_status(void);

/**
 * ktap_check() - expect a condition, with its own message
 * @cond: the condition
 * @fmt: expected and actual value, as printf(3) has it
 *
 * Return: @cond.
 */
bool ktap_check(bool cond, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * ktap_check_eq() - expect a number
 * @what: name of the number
 * @want: expected number
 * @got: actual number
 *
 * Return: true if they are equal.
 */
bool ktap_check_eq(const char *what, long long want, long long got);

/**
 * ktap_check_ne() - expect any number but one
 * @what: name of the number
 * @refused: the number that is wrong
 * @got: actual number
 *
 * Return: true if they differ.
 */
bool ktap_check_ne(const char *what, long long refused, long long got);

/**
 * ktap_check_range() - expect a number in a range
 * @what: name of the number
 * @lo: lowest right number
 * @hi: highest right number
 * @got: actual number
 *
 * Return: true if @got is in the range.
 */
bool ktap_check_range(const char *what, long long lo, long long hi, long long got);

/**
 * ktap_check_true() - expect a condition
 * @what: the condition, in words
 * @cond: its value
 *
 * Return: @cond.
 */
bool ktap_check_true(const char *what, bool cond);

/**
 * ktap_observe() - call a function for every expectation of a number, also for those that pass
 * @observe: called with the number's name, its lowest and highest right value, and its
 *	actual value
 */
void ktap_observe(void (*observe)(const char *what, long long lo, long long hi, long long got));

#define expect_or_say(cond, ...)	ktap_check(cond, __VA_ARGS__)
#define expect_eq(what, want, got)	ktap_check_eq(what, want, got)
#define expect_ne(what, refused, got)	ktap_check_ne(what, refused, got)
#define expect_range(what, lo, hi, got)	ktap_check_range(what, lo, hi, got)
#define expect_true(what, cond)		ktap_check_true(what, cond)

#define ARRAY_SIZE(a)			(sizeof(a) / sizeof((a)[0]))

#endif /* KTAP_H */
