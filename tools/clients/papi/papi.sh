#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# PAPI's own tests. PAPI finds the PMU by the CPU model that libpfm4 knows, opens raw events of
# type 4, reads by RDPMC, samples by signals, and lets the kernel multiplex.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
export TESTS_QUIET=1
cd /tmp || exit 1
# Some tests start another test.
PATH=/usr/lib/papi:$PATH

papi()
{
	said=$(timeout 300 "$1" TESTS_QUIET 2>&1)
	status=$?
	echo "$said"
	[ $status -eq 0 ] || { echo "status $status"; return 1; }
	case $said in
	*SKIPPED*) skip "PAPI skips it" ;;
	esac
	# Some tests pass without a message.
	expect_not "its verdict" 'FAILED' "$said"
}

tests=$(cat /usr/lib/papi/list)
plan "$(echo "$tests" | wc -w)"
for test in $tests; do
	check "$test" papi "$test"
done
finish
