#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# uftrace: a task reads groups of two of its own events at the start and end of each function.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid

# recorded EVENTS: record the counts of two loops by uftrace, in /tmp/said
recorded()
{
	timeout 100 uftrace record -d /tmp/traced --no-libcall -T "spin_long@read=$1" \
		-T "spin_short@read=$1" spinner >/tmp/log 2>&1 &&
		timeout 100 uftrace replay -d /tmp/traced >/tmp/said 2>>/tmp/log ||
		{ cat /tmp/log; return 1; }
	expect_equal "functions with counts" 2 "$(grep -c 'diff:' /tmp/said)" ||
		{ cat /tmp/said /tmp/log; return 1; }
}

# a_turn NAME LEAST MOST: check loops of 10,000,000 and 1,000,000 iterations with the same code
# around them. An iteration counts a whole number, and the 9,000,000 between them little more.
a_turn()
{
	sed -n "s/.*diff:.*$1=+\([0-9]*\).*/\1/p" /tmp/said | xargs >/tmp/counts
	read -r long short </tmp/counts
	more=$((long - short))
	turn=$(((more + 4500000) / 9000000))
	echo "# $1: $long and $short" >&3
	expect_range "$1 a turn" "$2" "$3" $turn &&
		expect_range "$1 besides" -9000 9000 $((more - turn * 9000000)) ||
		{ cat /tmp/said; return 1; }
}

cycles() { recorded pmu-cycle && a_turn instructions 2 4 && a_turn cycles 2 8; }
branches() { recorded pmu-branch && a_turn branch 1 1; }

exec 3>&1
plan 3
check "pmu-cycle: cycles and instructions of two functions" cycles
check "pmu-branch: branches" branches
check "the PMU counts when it has ended" still_counts
finish
