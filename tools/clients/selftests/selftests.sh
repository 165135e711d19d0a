#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's own tests of perf events, tools/testing/selftests/perf_events, of the same version.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid

passes()
{
	timeout 600 "/usr/lib/selftests/$1"
	status=$?
	[ $status -ne 4 ] || skip "it says so itself"
	expect_equal "its status" 0 $status
}

tests=$(find /usr/lib/selftests -type f | sed 's|.*/||' | sort)
plan "$(echo "$tests" | wc -l)"
for test in $tests; do
	check "$test" passes "$test"
done
finish
