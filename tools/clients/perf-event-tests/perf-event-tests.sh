#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf_event_tests: the properties that perf_event_open(2) documents, test by test.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
# On arm64 user-space reads must be allowed first.
[ ! -e /proc/sys/kernel/perf_user_access ] || echo 1 >/proc/sys/kernel/perf_user_access
# Beside the built-in driver the tests must name corepmu's PMU, see the .build.
if grep -q '^mode=beside' /corepmu/conf; then
	PMU_TYPE=$(cat "$DEVICES/$PMU/type") || exit
	export PMU_TYPE
fi
export TESTS_QUIET=y
cd /usr/lib/perf_event_tests || exit

# The verdict is at the end of the line; the status is 1 for any test that did not pass.
passes()
{
	timeout 120 "./$1" >/tmp/said 2>&1
	echo "status $?" >>/tmp/said
	verdict=$(tail -n 2 /tmp/said | head -n 1)
	case $verdict in
	*SKIPPED | *UNIMPLEMENTED | *'NEED TESTCASE' | *' NO' | *'OLD BEHAVIOR' | *CAUTION)
		skip "it says $(echo "$verdict" | sed 's/.*[a-z.]  *//')" ;;
	esac
	expect_says "its verdict" '(PASSED|YES|KERNEL OK|NEW BEHAVIOR)$' "$verdict" && return
	tail -n 20 /tmp/said
	return 1
}

plan "$(wc -l <list)"
while read -r test; do
	read -r began _ </proc/uptime
	check "$test" passes "$test"
	read -r ended _ </proc/uptime
	[ $((${ended%.*} - ${began%.*})) -lt 10 ] ||
		echo "# $test took $((${ended%.*} - ${began%.*})) s of the guest's time"
done <list
finish
