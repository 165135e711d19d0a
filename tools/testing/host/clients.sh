#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Verdicts of scripts/clients on results of its guests: rows that are worse than with the built-in
# driver, and the exit status
. "$(dirname "$0")/../host-test.sh"

# results DRIVER LINE...: write a client's results with a driver
results()
{
	local driver=$1

	shift
	printf '%s\n' "# client: rr 5.6" "$@" >"$work/rr.$driver.ktap"
}

ktap_details()
{
	echo "status $status"
	echo "$table"
}

# conclude: set $table and its exit $status
conclude()
{
	status=0
	table=$(awk -v drivers="built-in corepmu ${more:-}" -f scripts/lib/clients-table.awk \
		"$work/rr.built-in.ktap" "$work/rr.corepmu.ktap") || status=$?
}

# concludes NAME STATUS ROW: expect the table's exit status, and a row
concludes()
{
	conclude
	[ $status -eq "$2" ] && grep -qE -- "^rr +5\.6 +$3\$" <<<"$table"
	result "$1"
}

# sums_up NAME LINE...: expect these lines after the table's rows
sums_up()
{
	local name=$1

	shift
	conclude
	[ "$(sed '1,/^$/d' <<<"$table")" = "$(printf '%s\n' "$@")" ]
	result "$name"
}

plan

results built-in "ok 1 - record ls"
results corepmu "ok 1 - record ls"
concludes "equal results are no fault" 0 'record ls +ok +ok *'
more=beside concludes "a driver that the client is not run with is none" 0 'record ls +ok +ok +- *'

results corepmu "not ok 1 - record ls"
concludes "what corepmu alone fails is told" 1 'record ls +ok +fails +<--'

results corepmu "ok 1 - record ls # SKIP no counters"
concludes "what corepmu alone skips is told" 1 'record ls +ok +skipped +<--'

results corepmu "ok 1 - record ls # SKIP by design: another driver's message"
concludes "a test that corepmu skips by design is no defect" 0 'record ls +ok +differs *'

results corepmu "ok 1 - record bash"
concludes "what is missing with corepmu is told" 1 'record ls +ok +- +<--'

results built-in "ok 1 - perf mem" "# figure 1 200.0 percent of L1 hits"
results corepmu "ok 1 - perf mem" "# figure 1 202.0 percent of L1 hits"
concludes "a figure within the tolerance is no fault" 0 'percent of L1 hits +200\.0 +202\.0 *'
results corepmu "ok 1 - perf mem" "# figure 1 197.9 percent of L1 hits"
concludes "a figure beyond the tolerance is told" 1 'percent of L1 hits +200\.0 +197\.9 +<--'
results corepmu "ok 1 - perf mem"
concludes "a figure that is missing is told" 1 'percent of L1 hits +200\.0 +- +<--'

results built-in "not ok 1 - record ls"
results corepmu "not ok 1 - record ls"
concludes "what fails on both is not held against corepmu" 0 'record ls +fails +fails *'

void="rr: the built-in driver passes no row, so nothing is compared"
sums_up "a client that fails on both is said to compare nothing" \
	"1 rows: 0 worse than with the built-in driver, 1 that the built-in driver fails" "$void"

results built-in "ok 1 - record ls # SKIP no counters"
results corepmu "ok 1 - record ls # SKIP no counters"
sums_up "a client that the built-in driver skips is said to compare nothing" \
	"1 rows: 0 worse than with the built-in driver, 0 that the built-in driver fails" "$void"

results built-in "not ok 1 - record ls" "ok 2 - replay ls"
results corepmu "not ok 1 - record ls" "ok 2 - replay ls"
sums_up "a row that fails on both is counted" \
	"2 rows: 0 worse than with the built-in driver, 1 that the built-in driver fails"

results built-in "not ok 0 - the suite comes to its end"
results corepmu "not ok 0 - the suite comes to its end"
concludes "guests that ended early are no comparison" 1 'the suite comes to its end +fails +fails +<--'

said=$(scripts/clients --filter perf-event-tests --checkouts "$work" 2>&1)
[ $? -eq 2 ] && grep -q 'perf-event-tests is left out' <<<"$said"
result "a client whose checkout is not there is left out, and says so"

finish
