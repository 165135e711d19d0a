#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Results of tools/lib for tests that pass, fail, are skipped and expect nothing, in C and in
# shell, and the exit status of their suites; results of scripts/lib/ktap.py for whole and broken KTAP
. "$(dirname "$0")/../host-test.sh"

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

ktap_details() { echo "status $status"; head -n 40 <<<"$said"; }

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
# judged STATUS: the totals of the KTAP on stdin as one suite that ended with STATUS, "none" for a suite
# that did not end.
judged()
{
	status=0
	{
		echo "# suite: s"
		cat
		[ "$1" = none ] || echo "# suite ended: s $1"
	} >"$work/input"
	said=$(timeout 60 scripts/lib/ktap.py totals "$work/input" 2>&1) || status=$?
}

# counts PASSED FAILED SKIPPED [SUITES]: the totals, and no other trouble.
counts()
{
	[ $status -eq 0 ] &&
		[ "$(grep -v '^broken ' <<<"$said" | xargs)" = "passed $1 failed $2 skipped $3 suites ${4:-1}" ]
}

judged 0 <<<$'KTAP version 1\n1..3\nok 1 - a\n# note\nok 2 - b # SKIP why\nok 3 - c # TODO later'
counts 2 0 1
result "a suite that keeps the rules is counted"

judged 0 <<<$'KTAP version 1\nok 1 - a\nok 2 - b\n1..2'
counts 2 0 0
result "the plan may come last"

judged 0 <<<$'KTAP version 1\n1..0 # SKIP no such CPU'
counts 0 0 1
result "a suite is skipped by its plan"

# For each case: its name, the status with which the suite's program ends, the expected
# message, and the KTAP
while IFS='|' read -r name ended why text; do
	judged "$ended" < <(printf '%b' "$text")
	[ $status -eq 0 ] && ! grep -q '^failed 0$' <<<"$said" && grep -q "$why" <<<"$said"
	result "a failure: $name"
done <<'EOT'
a suite that did not end|none|did not end|KTAP version 1\n1..1\nok 1 - a\n
output that is cut|none|2 tests are planned, 1|KTAP version 1\n1..2\nok 1 - a\nok
no plan|0|no plan|KTAP version 1\nok 1 - a\n
a second plan|0|second plan|KTAP version 1\n1..2\nok 1 - a\n1..1\n
fewer tests than planned|0|2 tests are planned, 1|KTAP version 1\n1..2\nok 1 - a\n
more tests than planned|0|1 tests are planned, 2|KTAP version 1\n1..1\nok 1 - a\nok 2 - b\n
a failed test beyond the plan|1|1 tests are planned, 2|KTAP version 1\n1..1\nok 1 - a\nnot ok 2 - b\n
a second header|0|second header|KTAP version 1\n1..2\nok 1 - a\nKTAP version 1\nok 2 - b\n
tests that begin again|0|second header|KTAP version 1\n1..1\nok 1 - a\nKTAP version 1\n1..1\nok 1 - a\n
a number twice|0|test 1 follows test 1|KTAP version 1\n1..2\nok 1 - a\nok 1 - b\n
a number that is missing|0|test 3 follows test 1|KTAP version 1\n1..2\nok 1 - a\nok 3 - b\n
a number of 20 digits|0|has no number|KTAP version 1\n1..1\nok 99999999999999999999 - a\n
no number|0|has no number|KTAP version 1\n1..1\nok - a\n
a result torn by a crash|0|2 tests are planned, 1|KTAP version 1\n1..2\nok 1 - a\n[ 1.2] BUG: not ok 2 - b\n
a plan torn by a crash|0|no plan|KTAP version 1\n1..1[ 1.2] BUG: a\nok 1 - a\n
"not ok" with TODO|0|failed 1|KTAP version 1\n1..1\nnot ok 1 - a # TODO later\n
"not ok" with SKIP|0|failed 1|KTAP version 1\n1..1\nnot ok 1 - a # SKIP why\n
Bail out|0|Bail out! no memory|KTAP version 1\n1..1\nok 1 - a\nBail out! no memory\n
no output at all|0|no plan|
a plan of no test|0|no test ran|KTAP version 1\n1..0\n
a status that no test explains|3|status 3|KTAP version 1\n1..1\nok 1 - a\n
a status that is missing||status ,|KTAP version 1\n1..1\nok 1 - a\n
"not ok" above tests that pass|1|failed 1|KTAP version 1\n1..1\n    # Subtest: s\n    1..1\n    ok 1 a\nnot ok 1 s\n
a failed test below "ok"|0|failed 1|KTAP version 1\n1..1\n    # Subtest: s\n    1..1\n    not ok 1 a\nok 1 s\n
a failed test that no header announces|0|failed 1|KTAP version 1\n1..1\n        not ok 1 a\nok 1 s\n
fewer subtests than planned|0|s: 2 tests are planned|KTAP version 1\n1..1\n    # Subtest: s\n    1..2\n    ok 1 a\nok 1 s\n
subtests without their result|0|no result of its own|KTAP version 1\n1..1\nok 1 r\n    # Subtest: s\n    1..1\n    ok 1 a\n
subtests of subtests without a result|0|no result of its own|KTAP version 1\n1..1\n    # Subtest: s\n        # Subtest: c\n        ok 1 a\nok 1 s\n
a subtest inside another without indentation|0|another subtest|KTAP version 1\n1..1\n    # Subtest: s\n    # Subtest: t\n    1..1\n    ok 1 a\nok 1 s\n
a subtest without tests|0|s: no test ran|KTAP version 1\n1..1\n    KTAP version 1\n    # Subtest: s\nok 1 s\n
a lost result of a parameterised test|0|1 of 2 results|KTAP version 1\n1..1\n    # Subtest: s\n    1..1\n        # Subtest: c\n        ok 1 a\n    # c: pass:2 fail:0 skip:0 total:2\n    ok 1 c\nok 1 s\n
EOT

judged 0 <<<$'KTAP version 1\n1..1\n[ 1.2] BUG: a\n Call Trace:\n  f+0x1/0x2\n<TASK>\nok 1 - a'
counts 1 0 0
result "the text of a crash between lines is no result"

printf '%s\n' '# suite: a' 1..1 'ok 1' '# suite: b' 1..1 'not ok 1 x' '# suite ended: b 1' 'ok 2' \
	'# suite ended: c 0' >"$work/input"
status=0
said=$(timeout 60 scripts/lib/ktap.py totals "$work/input" 2>&1) || status=$?
counts 1 4 0 2 && grep -q '^broken a: .* did not end' <<<"$said" && grep -q '^broken -: .* outside of suites: ok 2' <<<"$said" &&
	grep -q '^broken -: the suite c ends' <<<"$said"
result "suites without an end, an end without a suite, and results outside are failures"

for text in '' 'no KTAP at all'; do
	said=$(echo "$text" | timeout 60 scripts/lib/ktap.py totals /dev/stdin 2>&1)
	[ "$(xargs <<<"$said")" = "passed 0 failed 0 skipped 0 suites 0" ] || break
	text=
done
[ -z "$text" ]
result "of a file without a suite it is said that there is none"

# Bytes of no text, a line of 10 MB, 1000 indentations, and numbers that no integer holds.
{
	echo '# suite: s'
	head -c 100000 /dev/zero | tr '\0' '\377'
	head -c 10000000 /dev/zero | tr '\0' '#'
	printf '\nok 1 -%10000000s# SKIP\n' ''
	printf '\377ok 2\0\rok 3 - x\n1..%0100000d\n' 7
	for indent in $(seq 1000); do
		printf "%${indent}sok 1\n" ''
	done
} >"$work/input"
status=0
said=$(timeout 60 scripts/lib/ktap.py totals "$work/input" 2>&1) || status=$?
[ $status -eq 0 ] && grep -q '^failed [1-9]' <<<"$said"
result "odd bytes, long lines and deep indentation come to an end, as failures"

cat >"$work/console" <<'EOT'
[    0.10] Linux version 6.12
[    0.20] KTAP version 1
[    0.20] 1..2
[    0.20]     KTAP version 1
[    0.20]     # Subtest: one
[    0.20]     1..2
[    0.20]         KTAP version 1
[    0.20]         # Subtest: case
[    0.20]         ok 1 red
[    0.20]         ok 2 green # SKIP no paint
[    0.20]     # case: pass:1 fail:0 skip:1 total:2
[    0.20]     ok 1 case
[    0.20]     ok 2 other
[    0.20] # one: pass:2 fail:0 skip:0 total:2
[    0.20] # Totals: pass:2 fail:0 skip:1 total:3
[    0.20] ok 1 one
[    0.20]     KTAP version 1
[    0.20]     # Subtest: two
[    0.20]     1..1
[    0.20]     ok 1 last
[    0.20] ok 2 two
[    0.30] reboot: System halted
ok 3 - not the kernel's
EOT
# console SED: the console's log, changed by SED.
console()
{
	status=0
	sed "$1" "$work/console" >"$work/input"
	said=$(timeout 60 scripts/lib/ktap.py kunit "$work/input" 2>&1) || status=$?
}
console ''
[ $status -eq 0 ] && grep -q '^Testing complete. Ran 4 tests: passed: 3, failed: 0, skipped: 1$' <<<"$said" &&
	[ "$(head -n 1 <<<"$said")" = "KTAP version 1" ]
result "KUnit: of nested results in a console's log the innermost are counted"

# shellcheck disable=SC2016 # sed expands the dollar signs
for change in '/ok 1 red/d' '/ok 2 green/d' 's/ok 2 other/not &/' 's/ok 2 two/not &/' '/ok 1 last/d' '/ok 2 two/d' \
	's/ok 1 red/not &/' '/1\.\.2$/d' '2d' '8,$d' '20,$d' '2,$d' '1,$d' '2p' '3p' '21p' '10s/ok 2/ok 1/' \
	'22s/^\(.\{11\}\).*/\1not ok 3 three/' 's/\(.*\)ok 2 two/&\n\1KTAP version 1/' 's/ok 2 other/[ 9.9] BUG&/'; do
	console "$change"
	[ $status -eq 1 ] || break
	change=
done
[ -z "$change" ]
result "KUnit: a result that is missing, or failed at any depth, and tests that begin again are failures"

judged 1 <<<$'KTAP version 1\n1..3\n# one\nok 1 - a\n# two\nnot ok 2 - b\n# three\nok 3 - c'
said=$(scripts/lib/ktap.py failures "$work/input"; scripts/lib/ktap.py results "$work/input")
[ "$said" = $'# suite: s\n# two\nnot ok 2 - b\npassed\ts\ta\nfailed\ts\tb\npassed\ts\tc' ]
result "a failed test is told below its suite, with the lines before it, and each test has a line"

judged none <<<$'KTAP version 1\n1..3\nok 1 - a\n# last words'
[ "$(scripts/lib/ktap.py failures "$work/input")" = $'# suite: s\n# last words' ]
result "of a suite that did not end the last lines are told"
finish
