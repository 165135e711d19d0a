#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# libperf's tests of hardware events: fifteen multiplexed instructions events, whose counts scale,
# and reads of a task's own counter without a system call. The other tests use software events and
# tracepoints.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
[ ! -e /proc/sys/kernel/perf_user_access ] || echo 1 >/proc/sys/kernel/perf_user_access

# ran TEST: run a test, with its output in /tmp/said
ran()
{
	timeout 300 "/usr/lib/libperf/$1" -v >/tmp/said 2>&1
	[ $? -le 1 ] || { echo "$1 does not come to its end"; cat /tmp/said; return 1; }
}

# The test itself checks only the average. Here each event must be within a percent of an event
# with its own counter.
in_turns()
{
	ran evlist || return 1
	expect_says "its end" 'Average Error' "$(cat /tmp/said)" &&
		expect_not "its verdict" 'Error out of range' "$(cat /tmp/said)" ||
		{ cat /tmp/said; return 1; }
	awk '/Scaled count =/ { count[n++] = $4 } /Expected:/ { wanted = $2 }
		END { for (i = 0; i < n; i++) {
			off = (count[i] - wanted) / wanted
			near += off > -0.01 && off < 0.01
			if (off < 0) off = -off
			if (off > most) most = off
		} print near + 0, int(most * 1000000) }' /tmp/said >/tmp/near
	read -r near most </tmp/near
	echo "# $near events; the farthest is off by $most of 1000000" >&3
	expect_equal "events within a percent" 15 "$near" || { cat /tmp/said; return 1; }
}

# user_reads FIRST LAST LEAST MOST: check numbered lines of loops with 65536 iterations and more,
# each loop twice as long as the previous one; the range is in hundredths of an iteration's count.
user_reads()
{
	ran evsel || return 1
	expect_not "what it says" 'FAILED.*(userspace|invalid counter data|mmap)' \
		"$(cat /tmp/said)" || { cat /tmp/said; return 1; }
	sed -n 's/.*loop = \([0-9]*\), *count = \([0-9]*\).*/\1 \2/p' /tmp/said >/tmp/loops
	expect_equal "loops" 10 "$(grep -c . /tmp/loops)" || { cat /tmp/said; return 1; }
	echo "# of a turn: $(sed -n "$1,$2p" /tmp/loops | awk '{ printf " %.3f", $2 / $1 }')" >&3
	sed -n "$1,$2p" /tmp/loops | awk '{ printf "%.0f\n", $2 / $1 * 100 }' >/tmp/turns
	while read -r turn; do
		expect_range "hundredths of a turn" "$3" "$4" "$turn" ||
			{ cat /tmp/said; return 1; }
	done </tmp/turns
}

exec 3>&1
plan 3
check "evlist: fifteen events in turns" in_turns
check "evsel: instructions, read by the task itself" user_reads 1 5 350 850
check "evsel: cycles, read by the task itself" user_reads 6 10 350 1250
finish
