/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model-test.h - shared by the tests of the PMUs' models; each is a program that prints KTAP
 */
#ifndef TOOLS_QEMU_TESTS_MODEL_TEST_H
#define TOOLS_QEMU_TESTS_MODEL_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The running test's first failed condition, its row in a table, and its line */
static const char *broken;
static const char *broken_row;
static int broken_line;

/* Expect a condition of the row of that name. */
#define EXPECT_ROW(row, condition)					\
	do {								\
		if (!(condition) && !broken) {				\
			broken = #condition;				\
			broken_row = row;				\
			broken_line = __LINE__;				\
		}							\
	} while (0)
#define EXPECT(condition)	EXPECT_ROW("", condition)

struct model_test {
	const char *name;
	void (*run)(void);
};

/* Run @nr tests. Return true if one of them failed. */
static inline bool run_model_tests(const struct model_test *tests, size_t nr)
{
	bool failed = false;

	printf("KTAP version 1\n1..%zu\n", nr);
	for (size_t i = 0; i < nr; i++) {
		broken = NULL;
		tests[i].run();
		printf("%sok %zu %s\n", broken ? "not " : "", i + 1, tests[i].name);
		if (broken)
			printf("# line %d: %s %s\n", broken_line, broken, broken_row);
		failed |= !!broken;
	}
	return failed;
}

#endif /* TOOLS_QEMU_TESTS_MODEL_TEST_H */
