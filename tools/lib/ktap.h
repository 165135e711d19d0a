/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ktap.h - test results in KTAP
 *
 * A suite is a table of struct ktap_case handed to ktap_run(), or its own loop
 * of ktap_begin() ... ktap_end(). A test fails when an expectation inside it
 * does; every failed expectation says what it expected and what it got.
 */
#ifndef KTAP_H
#define KTAP_H

#include <stdbool.h>
#include <stddef.h>

struct ktap_case {
	const char *name;
	void (*run)(void);
};

void ktap_plan(unsigned int nr);
void ktap_begin(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void ktap_end(void);
/* Fail the running test; the reason becomes a diagnostic line. */
void ktap_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Skip the running test, unless it failed already. */
void ktap_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void ktap_diag(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A number that the host compares between kernels: "# figure NAME=VALUE". */
void ktap_figure(const char *name, unsigned long long value);
bool ktap_failed(void);
/* Exit status of the suite: 0 if and only if nothing failed. */
int ktap_status(void);
int ktap_run(const struct ktap_case *cases, unsigned int nr);

bool ktap_check_eq(const char *what, long long want, long long got);
bool ktap_check_ne(const char *what, long long refused, long long got);
bool ktap_check_range(const char *what, long long lo, long long hi,
		      long long got);
bool ktap_check_true(const char *what, bool cond);

#define expect_eq(what, want, got)	ktap_check_eq(what, want, got)
#define expect_ne(what, refused, got)	ktap_check_ne(what, refused, got)
#define expect_range(what, lo, hi, got)	ktap_check_range(what, lo, hi, got)
#define expect_true(what, cond)		ktap_check_true(what, cond)

#define ARRAY_SIZE(a)			(sizeof(a) / sizeof((a)[0]))

#endif /* KTAP_H */
