#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Intel's pcm opens a group on each CPU: first events of fixed counters, then raw events with bit 63
# of config set. If the PMU cpu has topdown metrics, pcm opens them too.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
# PCM_NO_MSR: pcm opens events of perf, and does not access MSRs.
export PCM_NO_MSR=1 PCM_KEEP_NMI_WATCHDOG=1
export ROUNDS=5000

# column NAME: print a column of the last line, by the names in the second line
column()
{
	awk -F, -v name="$1" 'NR == 2 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
		END { printf "%d\n", $column }' /tmp/out
}

# pcm prints millions.
program()
{
	timeout 120 pcm -csv=/tmp/out -nsys -nc -- workload >/tmp/said 2>&1 || { cat /tmp/said; return 1; }
	expect_range "millions of instructions" 200 300 "$(column INST)" &&
		expect_range "millions of cycles" 200 500 "$(column ACYC)" ||
		{ cat /tmp/said /tmp/out; return 1; }
}

# A line of pcm-raw has a number for each event and CPU. pcm-raw would start a program before it
# opens its events: start the workload here instead.
raw_events()
{
	until_told
	$UNTIL_TOLD workload &
	timeout 120 pcm-raw -e core/config=0xc0,name=instructions/ -e core/config=0x3c,name=cycles/ \
		-csv=/tmp/out -i=3 1 >/tmp/said 2>&1
	status=$?
	tell
	wait
	expect_equal "the status" 0 $status || { cat /tmp/said; return 1; }
	for what in instructions cycles; do
		sum=$(awk -F, -v name=$what 'NR == 2 { for (i = 1; i <= NF; i++) its[i] = $i == name }
			NR > 2 { for (i = 1; i <= NF; i++) if (its[i]) sum += $i }
			END { printf "%.0f\n", sum }' /tmp/out)
		echo "# $what: $sum" >&3
		expect_range "$what" 10000000 100000000000 "$sum" || { cat /tmp/said /tmp/out; return 1; }
	done
}

exec 3>&1
plan 3
check "pcm: instructions and cycles of a program" program
check "pcm-raw: raw events of each CPU" raw_events
check "the PMU counts when it has ended" still_counts
finish
