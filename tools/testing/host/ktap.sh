#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Results of tools/lib for tests that pass, fail, are skipped and expect nothing, in C and in
# shell, and the exit status of their suites
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
. tools/lib/ktap.sh

work=$(mktemp -d "${TMPDIR:-/tmp}/corepmu-ktap.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

cat >"$work/suite.c" <<'EOT'
#include <string.h>

#include "ktap.h"

static void equal(void) { expect_eq("one", 1, 1); }
static void in_words(void) { expect_or_say(true, "expected nothing else"); }
static void unequal(void) { expect_eq("one", 1, 2); }
static void no_number(void) { expect_range("some", 1, 0, 0); }
static void skipped(void) { ktap_skip("no reason"); }
static void nothing(void) { }

static const struct ktap_case cases[] = {
	{ "equal", equal }, { "in words", in_words }, { "unequal", unequal },
	{ "skipped", skipped }, { "nothing", nothing }, { "no number", no_number },
};

int main(int argc, char **argv)
{
	unsigned int i;

	ktap_plan(argc - 1);
	while (*++argv)
		for (i = 0; i < ARRAY_SIZE(cases); i++)
			if (!strcmp(*argv, cases[i].name)) {
				ktap_begin("%s", cases[i].name);
				cases[i].run();
				ktap_end();
			}
	return ktap_status();
}
EOT

cat >"$work/suite.sh" <<'EOT'
. tools/lib/ktap.sh
equal() { expect_equal one 1 1; }
in_words() { expect_true "success" true; }
unequal() { expect_equal one 1 2; }
skipped_one() { skip "no reason"; }
nothing() { true; }
plan $#
for name; do
	case $name in
	'in words') check "$name" in_words ;;
	skipped) check "$name" skipped_one ;;
	*) check "$name" "$name" ;;
	esac
done
finish
EOT

# suite LANGUAGE TEST...: sets said to the suite's output, status to its exit status
suite()
{
	local language=$1

	shift
	status=0
	case $language in
	C) said=$("$work/suite" "$@") || status=$? ;;
	shell) said=$(sh "$work/suite.sh" "$@") || status=$? ;;
	esac
}

# says LINE...: expect exactly these lines
says() { [ "$said" = "$(printf '%s\n' "KTAP version 1" "$@")" ]; }

ktap_details() { echo "status $status"; echo "$said"; }

plan
status=0
said=$("${CC:-gcc}" -Wall -Itools/lib -o "$work/suite" "$work/suite.c" tools/lib/ktap.c 2>&1) || status=$?
[ $status -eq 0 ]
result "a suite in C builds"

suite C "no number"
[ $status -eq 1 ] && grep -q '^# some: the test is wrong: .* an empty range; got 0$' <<<"$said"
result "C: an empty range is reported as the test's fault"

for language in C shell; do
	suite $language equal "in words"
	[ $status -eq 0 ] && says "1..2" "ok 1 - equal" "ok 2 - in words"
	result "$language: expectations that hold pass"

	suite $language unequal equal
	[ $status -eq 1 ] && grep -q '^# one: expected ' <<<"$said" &&
		grep -q '^not ok 1 - unequal$' <<<"$said" && grep -q '^ok 2 - equal$' <<<"$said"
	result "$language: an expectation that does not hold fails, with what was expected"

	suite $language skipped
	[ $status -eq 0 ] && says "1..1" "ok 1 - skipped # SKIP no reason"
	result "$language: a test that is skipped has a reason and is no failure"

	suite $language equal nothing
	[ $status -eq 1 ] && says "1..2" "ok 1 - equal" \
		"# expected an expectation at least, the test had none" "not ok 2 - nothing"
	result "$language: a test without an expectation fails"

	suite $language "no such test"
	[ $status -ne 0 ]
	result "$language: a test that does not run is a failure of its suite"
done

# The match is in the first line of a text that is larger than a pipe.
cat >"$work/long.sh" <<'EOT'
set -o pipefail
. tools/lib/ktap.sh
long=$(echo found; seq 100000)
says_it() { expect_says "the text" '^found$' "$long"; }
has_it_not() { expect_not "the text" '^found$' "$long"; }
plan 2
check says says_it
check not has_it_not
finish
EOT
status=0
said=$(bash "$work/long.sh") || status=$?
[ $status -eq 1 ] && grep -q '^ok 1 - says$' <<<"$said" && grep -q '^not ok 2 - not$' <<<"$said"
result "with pipefail a long text that matches is found"
finish
