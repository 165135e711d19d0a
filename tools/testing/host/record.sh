#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Failures that the failure of another check explains, and the record of verdicts: whose defect a
# failure is. No PMU and no guest is needed.
. "$(dirname "$0")/../host-test.sh"

# because.c with checks that print given lines: "user" and "counters" are what the others rest on.
cat >"$work/because.c" <<'EOT'
#include <stdlib.h>
#include <string.h>

#include "judge/outcome.h"
#include "judge/validate.h"

static struct check checks[] = {
	{ "count", "exclude_kernel leaves user space" },
	{ "count", "on every counter at once", .rests_on = ON_USER },
	{ "sample", "a sample every 100000" },
	{ "sample", "a sample every 1000003" },
	{ "count", "branches of a known loop" },
	{ "x", "judged" },
};
static unsigned int runs[ARRAY_SIZE(checks)];
static const char *user, *counters, *line;

const struct check *find_check(const char *title)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(checks); i++)
		if (strstr(title, checks[i].name))
			return &checks[i];
	return NULL;
}

int signal_caught(void) { return 0; }
bool was_throttled(const struct check *check, struct outcome *outcome) { return false; }

bool may_run(const struct check *check, struct outcome *outcome)
{
	const char *said = check == &checks[0] ? user : check == &checks[1] ? counters : "";

	if (strcmp(said, "skip"))
		return true;
	outcome->result = SKIP;
	return false;
}

void run_check(const struct check *check, struct outcome *outcome)
{
	const char *said = check == &checks[0] ? user : check == &checks[1] ? counters :
			   check == &checks[5] ? line : "";
	unsigned int i, times = !strncmp(said, "often ", 6) ? MAX_LINES : 1;

	runs[check - checks]++;
	outcome->result = *said ? FAIL : PASS;
	outcome->cut = !strncmp(said, "expected to end", 15);
	for (i = 0; *said && i < times; i++)
		snprintf(outcome->lines[outcome->nr_lines++], sizeof(outcome->lines[0]), "%s", said);
}

/* because USER COUNTERS LINE BITS: the results of the check "judged", and of "counters" after it */
int main(int argc, char **argv)
{
	static struct outcome outcome, base;
	static const char *const words[] = { "pass", "fail", "skip" };

	if (argc < 5)
		return 2;
	user = argv[1];
	counters = argv[2];
	line = argv[3];
	checks[5].rests_on = strtoul(argv[4], NULL, 0);
	judge_check(&checks[5], &outcome);
	judge_check(&checks[1], &base);
	printf("%s %s, %u line, counters %s, ran %u %u\n", words[outcome.result],
	       outcome.because ?: "", outcome.nr_lines, words[base.result], runs[0], runs[1]);
	return 0;
}
EOT

user='exclude_kernel leaves user space'

# explained ROW...: "USER COUNTERS LINE BITS|what is printed", with "-" for no failed expectation
explained()
{
	local row said bits

	for row; do
		IFS=';' read -r one two line bits said <<<"$row"
		expect_equal "the results for $row" "$said" \
			"$("$work/because" "${one#-}" "${two#-}" "$line" "$bits")" || return 1
	done
}

HIGH='n: expected 2..4, got 5'
BASE='u: expected 1..2, got 9'

high_alone()
{
	explained \
		"$BASE;-;$HIGH;1;skip count: $user, 1 line, counters pass, ran 1 1" \
		"$BASE;-;n: expected 7, got 8;1;skip count: $user, 1 line, counters pass, ran 1 1" \
		"$BASE;-;n: expected 1000..1001, got 980;1;skip count: $user, 1 line, counters pass, ran 1 1" \
		"skip;-;$HIGH;1;skip count: $user, 1 line, counters pass, ran 0 1"
}

others_fail()
{
	explained \
		"$BASE;-;n: expected 1000..1001, got 979;1;fail , 1 line, counters pass, ran 0 1" \
		"$BASE;-;n: expected -22, got -95;1;fail , 1 line, counters pass, ran 0 1" \
		"$BASE;-;expected an address inside the loop, got the opposite;1;fail , 1 line, counters pass, ran 0 1" \
		"$BASE;-;often $HIGH;1;fail , 256 line, counters pass, ran 0 1" \
		"$BASE;-;$HIGH;0;fail , 1 line, counters pass, ran 0 1" \
		"$BASE;-;expected to end, was killed by signal 11 (Segmentation fault);2;fail , 1 line, counters pass, ran 0 1" \
		"-;skip;n: expected 2, got 0;8;fail , 1 line, counters skip, ran 0 0" \
		"-;-;$HIGH;1;fail , 1 line, counters pass, ran 1 1"
}

any_number()
{
	explained \
		"$BASE;-;n: expected 2, got 0;2;skip count: $user, 1 line, counters pass, ran 1 1" \
		"-;c: expected 9, got 0;n: expected 2, got 0;8;skip count: on every counter at once, 1 line, counters fail, ran 0 1"
}

# "counters" fails because of "user": it explains nothing, though a check rests on it.
through_another()
{
	explained "$BASE;$HIGH;n: expected 2, got 0;8;fail , 1 line, counters skip, ran 1 1"
}

# results RESULT: of a run with a failure and a check that is not judged, whose result is RESULT
results()
{
	cat <<-EOT
	{"format": 1, "pmu": "cpu", "kernel": "6.1", "architecture": "ppc64le", "about": {}, "notes": [], "checks": [
	{"area": "count", "name": "base", "result": "fail", "rule": "", "lines": ["wrong"], "seen": []},
	{"area": "count", "name": "other", "result": "$1", "rule": "", "reason": "not judged, because of count: base",
	"because": "count: base", "lines": ["n: expected 1, got 2"], "seen": []}],
	"totals": {"pass": $([ "$1" = pass ] && echo 1 || echo 0), "fail": 1, "skip": $([ "$1" = skip ] && echo 1 || echo 0)}}
	EOT
}

reported()
{
	local said

	results skip >"$work/skip.json"
	said=$(tools/validate/pmu-validate-report "$work/skip.json")
	expect_says "the verdict" 'FAIL: 1 check failed, .* 0 are skipped, 1 are not judged, because of others' "$said" &&
		expect_says "the check" '<span class="because">not judged</span>' "$said" &&
		expect_says "its cause" '<p class="because">not judged, because of count: base' "$said" &&
		expect_says "its numbers" 'n: expected 1, got 2' "$said" || return 1
	results skip | sed 's/"result": "fail"/"result": "skip", "reason": "refused"/
		s/"fail": 1, "skip": 1/"fail": 0, "skip": 2/' >"$work/none.json"
	said=$(tools/validate/pmu-validate-report "$work/none.json")
	expect_says "the verdict without a failure" 'NOT JUDGED: .* 1 are skipped, 1 are not judged' "$said" || return 1
	results pass >"$work/pass.json"
	said=$(tools/validate/pmu-validate-report "$work/pass.json" 2>&1)
	expect_equal "status of a check that passes because of another" 2 $? &&
		expect_says "what it says" 'that is not judged has the result pass' "$said"
}

# A checkout with the record alone
mkdir -p "$work"/{scripts/{testing,lib,tables},tools/validate/record,Documentation/driver-api}
cp scripts/testing/record "$work/scripts/testing/"
cp scripts/lib/{tables.py,table.awk} "$work/scripts/lib/"
cp scripts/tables/*.cfg "$work/scripts/tables/"
cp tools/validate/{pmu-validate-report,known-defects.cfg} "$work/tools/validate/"
cp tools/validate/record/* "$work/tools/validate/record/"
cp Documentation/driver-api/corepmu-record.rst "$work/Documentation/driver-api/"
record=$work/scripts/testing/record
page=$work/Documentation/driver-api/corepmu-record.rst

causes()
{
	expect_true "each failure has a cause" "$record" --check || return 1
	sed -i '/^\[arm-group-leader\]/,/^$/d' "$work/tools/validate/known-defects.cfg"
	said=$("$record" --draw 2>&1)
	expect_equal "status of --draw without a row" 1 $? &&
		expect_says "what it says" \
			'^record: armv8-armv8_pmuv3-6.12: group: one event too many: No row of .* says whose' "$said" &&
		expect_says "the page" '^No row of tools/validate/known-defects.cfg says whose defect it is' "$(cat "$page")" &&
		expect_says "the HTML page" \
			'<p class="fail">armv8-armv8_pmuv3-6.12: group: one event too many: No row' "$(cat "$work/build/record.html")" ||
		return 1
	said=$("$record" --check 2>&1)
	expect_equal "status of --check" 1 $? && expect_says "what it says" 'No row of' "$said"
}

# without SED-SCRIPT TEXT: edit sources.cfg by SED-SCRIPT; --check then fails, and says TEXT
without()
{
	sed "$1" tools/validate/record/sources.cfg >"$work/tools/validate/record/sources.cfg"
	said=$("$record" --check 2>&1)
	expect_equal "status of --check after $1" 1 $? || return 1
	"$record" --draw >/dev/null 2>&1
	said=$("$record" --check 2>&1)
	expect_equal "status of --check of its page" 1 $? && expect_says "what it says" "$2" "$said"
}

sources()
{
	cp tools/validate/known-defects.cfg "$work/tools/validate/"
	without '/^\[page: index\]/,/^$/d' '^record: page: index: no stanza of .* says why the answers differ' &&
		without '/^\[no SIER\]/,/^$/d' 'record: sample: CPU mode of samples of a loop in user space: no stanza' &&
		without 's/^\[page: index\]/[page: none]/' 'sources\.cfg: \[page: none\] explains no answer' &&
		without 's/^\tno sample$/\tsample/' '\[no SIER\] explains no answer with answers = sample' &&
		without '/^\[no guests\]/,/^answers/ { /^questions/d; /^\t/d }' '\[no guests\] has no questions' || return 1
	cp tools/validate/record/sources.cfg "$work/tools/validate/record/"
	"$record" --draw >/dev/null 2>&1
	expect_true "each answer has a reason" "$record" --check
}

kernels()
{
	expect_true "machines without a kernel series say why" python3 - "$work" <<-'EOT'
	import configparser, sys
	kernels, columns = (configparser.ConfigParser(interpolation=None) for i in range(2))
	kernels.read(f"{sys.argv[1]}/scripts/tables/kernels.cfg")
	columns.read(f"{sys.argv[1]}/tools/validate/record/columns.cfg")
	for name in columns.sections():
	    missing = [series for series in kernels.sections() if series not in columns[name]["kernels"].split()]
	    assert bool(missing) == ("lacks" in columns[name]), name
	    words = [word.rstrip(",.:") for word in columns[name].get("lacks", "").split()]
	    assert all(series in words for series in missing), name
	EOT
}

unjudged_is_drawn()
{
	local html

	html=$(cat "$work/build/record.html")
	expect_says "the sign" '<td title="power10-cpu-6.12: not judged because of count: exclude_kernel' "$html" &&
		expect_says "the number" 'Checks that are not judged because of this: .* of power10-cpu-6\.1' "$(cat "$page")"
}

# shellcheck disable=SC2034 # verdict() of validate-faults has $results
# Scripts that read KTAP take a check that is not judged for a failure.
counted_as_failure()
{
	local filter

	results=$work
	: >"$work/control.fails"
	cat >"$work/fault.ktap" <<-'EOT'
	ok 1 - count: one
	ok 2 - count: two # SKIP not judged, because of count: base
	ok 3 - count: three # SKIP not judged, because of count: base
	ok 4 - count: four # SKIP it needs root
	not ok 5 - count: five
	# ended 1 0
	EOT
	eval "$(sed -n '/^verdict()/,/^}/p' scripts/testing/validate-faults)"
	expect_true "the fault ends" verdict fault &&
		expect_equal "what finds the fault" $'count: base\ncount: five' "$(cat "$work/fault.found")" || return 1
	filter=$(sed -nE "s/^ *(sed -nE .*)pmu\.ktap \|$/\1/p" packaging/ci/workflow.yml)
	expect_equal "failures of the CI" $'count: two\ncount: three\ncount: five' \
		"$(eval "${filter:-false}" <"$work/fault.ktap")"
}

# compared STATUS TITLE...: what the CI says of failures of $work/ci/pmu.ktap if these titles are known
compared()
{
	local status

	mkdir -p "$work/ci/linux"
	printf '%s\n' "${@:2}" >"$work/ci/linux/pmu-known-failures"
	(cd "$work/ci" && set -o pipefail && eval "$comparison") >"$work/ci/said" 2>&1
	status=$?
	expect_equal "status with ${*:2}" "$1" $status
}

new_or_vanished()
{
	local comparison

	expect_true "a sort that does not depend on the locale" grep -q '^ *LC_ALL=C sort | diff -N' packaging/ci/workflow.yml ||
		return
	comparison=$(sed -n '/^ *sed -nE .*pmu\.ktap |$/,/^ *- uses/{/- uses/d; p}' packaging/ci/workflow.yml)
	mkdir -p "$work/ci"
	printf 'not ok 1 - sample: a\nok 2 - a: b\nnot ok 3 - sample: B\n' >"$work/ci/pmu.ktap"
	compared 0 'sample: B' 'sample: a' && compared 1 'sample: a' &&
		expect_says "the new failure" '^> sample: B' "$(cat "$work/ci/said")" &&
		compared 1 'sample: B' 'sample: a' 'zero: c' &&
		expect_says "the failure that vanished" '^< zero: c' "$(cat "$work/ci/said")" || return 1
	rm "$work/ci/linux/pmu-known-failures"
	(cd "$work/ci" && set -o pipefail && eval "$comparison") >"$work/ci/said" 2>&1
	expect_equal "status without a list" 1 $? &&
		expect_equal "failures without a list" $'> sample: B\n> sample: a' "$(grep '^>' "$work/ci/said")"
}

# shellcheck disable=SC2016 # make's variables
compilers()
{
	local arch said

	grep -q '^	@$(scripts)/testing/record$' Makefile || return
	said=$(sed 's,@$(scripts)/testing/record$,@echo "$$COREPMU_DEPS",' Makefile | make -s -f - record)
	for arch in $(sed -n 's/^arch = //p' tools/validate/record/columns.cfg | sort -u); do
		expect_says "what install-deps is asked for" "--arch $arch( |\$)" "$said" || return 1
	done
}

# Warnings of Linux 6.12 and 7.3, one without a place, and a message that is no warning
warned()
{
	local said

	said=$(python3 - "$record" <<-'EOT'
	import importlib.machinery, importlib.util, sys
	sys.dont_write_bytecode = True
	loader = importlib.machinery.SourceFileLoader("record", sys.argv[1])
	record = importlib.util.module_from_spec(importlib.util.spec_from_loader("record", loader))
	loader.exec_module(record)
	print(*record.warnings(
	    "[    0.1] Speculative Return Stack Overflow: WARNING: See https://kernel.org\n"
	    "[    1.2] WARNING: CPU: 0 PID: 1 at mm/a.c:12 first+0x1/0x2\r\n"
	    "[    1.3] WARNING: mm/b.c:7 at second.part.0+0x3a5/0x400, CPU#0: pmu-validate/377\n"
	    "WARNING: mm/b.c:7 at second.part.0+0x3a5/0x400, CPU#1: pmu-validate/378\n"
	    "[    1.4] WARNING: suspicious RCU usage\n"), sep="\n")
	EOT
	)
	expect_equal "warnings" $'mm/a.c:12 first\nmm/b.c:7 second.part.0\nsuspicious RCU usage' "$said" || return 1
	sed -i 's/"warnings": \[/"recorded": [/
		s/^  "zen4-[a-z]*-.*": {$/&\n   "warnings": ["core.c:1 amd_pmu_v2_handle_irq", "core.c:2 other"],/' \
		"$work/tools/validate/record/record.json"
	said=$("$record" --draw 2>&1)
	expect_equal "status of --draw" 1 $? &&
		expect_equal "warnings without a row" \
			$'zen4-cpu-6.1\nzen4-cpu-6.12\nzen4-corepmu-6.1\nzen4-corepmu-6.12\nzen4-corepmu-7.x' \
			"$(sed -n 's/^record: \(.*\): kernel warning: core\.c:1 amd_pmu_v2_handle_irq: No row.*/\1/p' <<<"$said")" &&
		expect_says "another function" '^record: zen4-cpu-7.x: kernel warning: core.c:2 other: No row' "$said" &&
		expect_says "the page" \
			'^- zen4-cpu-7.x: core.c:1 amd_pmu_v2_handle_irq: Defect of the driver: Events of a group' "$(cat "$page")"
}

# Icelake and zen4 give one answer, and a rule explains icelake's. The first question has a stanza.
shared()
{
	local said

	cp tools/validate/record/* "$work/tools/validate/record/"
	python3 - "$work/tools/validate/record/record.json" <<-'EOT'
	import json, sys
	with open(sys.argv[1], encoding="utf-8") as file:
	    record = json.load(file)
	for question in "shared: with a stanza", "shared: without":
	    record["answers"][question] = {"one": "icelake-cpu-6.12 zen4-cpu-6.12", "two": "armv8-corepmu-6.12"}
	with open(sys.argv[1], "w", encoding="utf-8") as file:
	    json.dump(record, file)
	EOT
	cat >>"$work/tools/validate/record/sources.cfg" <<-'EOT'

	[one rule]
	questions = shared: *
	answers = *
	columns = [ai]*
	why = A rule.
	source = a.c

	[shared: with a stanza]
	why = A stanza.
	source = b.c
	EOT
	said=$("$record" --draw 2>&1)
	expect_equal "what --draw says" "record: all verdicts are in $work/build/record.html" "$said" &&
		expect_equal "the page" "- one: icelake-cpu-6.12 [one rule]
- one: zen4-cpu-6.12
- two: armv8-corepmu-6.12 [one rule]
- shared: without: one [one rule]; one; two [one rule]" "$(grep -E '^- (one|two|shared: without):' "$page")" &&
		expect_says "the HTML page" '<td>one</td><td>zen4-cpu-6.12</td>' "$(cat "$work/build/record.html")"
}

plan 14
gcc -O2 -Wall -Itools/validate -Itools/lib -o "$work/because" "$work/because.c" tools/validate/judge/because.c || exit 1
check "a failure with numbers too high alone is not judged if exclude_kernel is ignored or refused" high_alone
check "other failures stay failures" others_fail
check "a failure by any number is not judged if what it rests on is broken" any_number
check "a check whose own failure is explained explains nothing" through_another
check "a report shows what is not judged, and why" reported
check "a failure without a row of known defects fails the drawing" causes
check "answers without a reason, and reasons without an answer, fail the check" sources
check "machines that are not judged on a kernel series say why" kernels
check "checks that are not judged are drawn, with the cause" unjudged_is_drawn
check "scripts take a check that is not judged for a failure" counted_as_failure
check "make record asks install-deps for each architecture of its columns" compilers
check "the CI fails if a failure is new, and if one has vanished" new_or_vanished
check "a kernel warning without a row of known defects fails the drawing" warned
check "a rule explains an answer of its columns alone" shared
finish
