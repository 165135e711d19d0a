// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktap.c - test results in KTAP
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ktap.h"

static unsigned int planned;
static unsigned int number;
static unsigned int failures;
static bool failed;
/* Number of expectations in the running test */
static unsigned int expectations;
static void (*observer)(const char *what, long long lo, long long hi, long long got);
static char name[256];
static char skip_reason[256];

void ktap_plan(unsigned int nr)
{
	/* Buffer whole lines, so that a child that dies cannot tear one. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%u\n", nr);
	planned = nr;
}

void ktap_begin(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	number++;
	failed = false;
	expectations = 0;
	skip_reason[0] = '\0';
}

void ktap_end(void)
{
	if (!failed && !skip_reason[0] && !expectations)
		ktap_fail("expected an expectation at least, the test had none");
	if (failed) {
		failures++;
		printf("not ok %u - %s\n", number, name);
	} else if (skip_reason[0]) {
		printf("ok %u - %s # SKIP %s\n", number, name, skip_reason);
	} else {
		printf("ok %u - %s\n", number, name);
	}
	fflush(stdout);
}

static void vdiag(const char *fmt, va_list ap)
{
	char line[512];

	vsnprintf(line, sizeof(line), fmt, ap);
	printf("# %s\n", line);
}

void ktap_diag(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vdiag(fmt, ap);
	va_end(ap);
}

void ktap_fail(const char *fmt, ...)
{
	va_list ap;

	failed = true;
	va_start(ap, fmt);
	vdiag(fmt, ap);
	va_end(ap);
}

void ktap_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(skip_reason, sizeof(skip_reason), fmt, ap);
	va_end(ap);
}

void ktap_figure(const char *figure, unsigned long long value)
{
	printf("# figure %s=%llu\n", figure, value);
}

bool ktap_failed(void)
{
	return failed;
}

int ktap_status(void)
{
	if (number != planned) {
		printf("# planned %u tests, ran %u\n", planned, number);
		return 1;
	}
	return failures ? 1 : 0;
}

void ktap_run_case(const struct ktap_case *test)
{
	ktap_begin("%s", test->name);
	if (test->run)
		test->run();
	else
		test->run_with(test->value);
	ktap_end();
}

int ktap_run_lists(const struct ktap_list *const *lists, unsigned int nr)
{
	unsigned int total = 0, i, j;

	for (i = 0; i < nr; i++)
		total += lists[i]->nr;
	ktap_plan(total);
	for (i = 0; i < nr; i++)
		for (j = 0; j < lists[i]->nr; j++)
			ktap_run_case(&lists[i]->cases[j]);
	return ktap_status();
}

int ktap_run(const struct ktap_case *cases, unsigned int nr)
{
	const struct ktap_list list = { cases, nr }, *const lists[] = { &list };

	return ktap_run_lists(lists, ARRAY_SIZE(lists));
}

bool ktap_check(bool cond, const char *fmt, ...)
{
	va_list ap;

	expectations++;
	if (cond)
		return true;
	failed = true;
	va_start(ap, fmt);
	vdiag(fmt, ap);
	va_end(ap);
	return false;
}

void ktap_observe(void (*observe)(const char *what, long long lo, long long hi, long long got))
{
	observer = observe;
}

bool ktap_check_eq(const char *what, long long want, long long got)
{
	expectations++;
	if (observer)
		observer(what, want, want, got);
	if (want == got)
		return true;
	ktap_fail("%s: expected %lld, got %lld", what, want, got);
	return false;
}

bool ktap_check_ne(const char *what, long long refused, long long got)
{
	expectations++;
	if (refused != got)
		return true;
	ktap_fail("%s: expected anything but %lld", what, refused);
	return false;
}

bool ktap_check_range(const char *what, long long lo, long long hi, long long got)
{
	expectations++;
	if (observer)
		observer(what, lo, hi, got);
	if (got >= lo && got <= hi)
		return true;
	if (lo > hi)
		ktap_fail("%s: the test is wrong: it expects at least %lld and at most %lld, an empty range; got %lld",
			  what, lo, hi, got);
	else
		ktap_fail("%s: expected %lld..%lld, got %lld", what, lo, hi, got);
	return false;
}

bool ktap_check_true(const char *what, bool cond)
{
	expectations++;
	if (observer)
		observer(what, true, true, cond);
	if (cond)
		return true;
	ktap_fail("expected %s, got the opposite", what);
	return false;
}
