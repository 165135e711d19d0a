#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# netdata's perf.plugin: groups of events on each CPU, read every second; with "all" more events
# than counters, which it scales.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid

# run_plugin OPTION...: print the plugin's output while a workload runs and for a second more
run_plugin()
{
	timeout 60 /usr/lib/netdata/plugins.d/perf.plugin 1 "$@" >/tmp/said 2>&1 &
	plugin=$!
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		! grep -q '^BEGIN' /tmp/said || break
		sleep 1
	done
	ROUNDS=5000 workload
	sleep 3
	kill $plugin
	wait $plugin 2>/dev/null
	:
}

# sum_of CHART DIMENSION LOWEST HIGHEST: expect the sum of a dimension to be in a range
sum_of()
{
	sum=$(awk -v chart="perf.$1" -v name="$2" '$1 == "BEGIN" { in_it = $2 == chart }
		in_it && $1 == "SET" && $2 == name { sum += $4 }
		END { printf "%.0f\n", sum }' /tmp/said)
	echo "# $1 $2: $sum" >&3
	expect_range "$1 $2" "$3" "$4" "$sum" || { tail -n 60 /tmp/said; return 1; }
}

few()
{
	run_plugin cycles instructions branch
	sum_of instructions instructions 200000000 300000000 &&
		sum_of cpu_cycles cpu 200000000 600000000 &&
		sum_of branch_instructions instructions 95000000 200000000
}

every()
{
	run_plugin all
	sum_of instructions instructions 100000000 400000000 &&
		sum_of cpu_cycles cpu 100000000 800000000 &&
		sum_of branch_instructions instructions 48000000 250000000
}

exec 3>&1
plan 3
check "events of cycles, instructions and branches" few
check "all of its events, in turns" every
check "the PMU counts when it has ended" still_counts
finish
