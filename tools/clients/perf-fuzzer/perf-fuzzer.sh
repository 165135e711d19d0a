#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf_fuzzer: perf_event_open(2) with random attributes for the PMUs in sysfs, and random
# operations on the events, as root. Also programs that made old kernels crash or warn. run-guest
# checks the kernel's log.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid

# Five hundred steps from each seed, as many seeds as the time allows. perf_fuzzer also writes to
# the files that limit samples, so some seeds make events that interrupt without end: such a run is
# killed.
fuzzed()
{
	end=$(($(cut -d. -f1 /proc/uptime) + $1))
	seed=0
	ended=0
	: >/tmp/stats
	cd /tmp || return
	while [ "$(cut -d. -f1 /proc/uptime)" -lt $end ]; do
		seed=$((seed + 1))
		timeout -s KILL 90 perf_fuzzer -r $seed -s 500 >/tmp/said 2>&1 || ended=$((ended + 1))
		cat /tmp/said >>/tmp/stats
		killall -9 perf_fuzzer 2>/dev/null
	done
	echo "# $seed runs, $ended of them ended" >&3
	opened=$(sed -n 's/.* Successful: \([0-9]*\) .*Currently open.*/\1/p' /tmp/stats | awk '{ n += $1 } END { print n + 0 }')
	echo "# $opened events opened, in the runs that were not ended" >&3
	expect_range "events opened" 1 1000000000 "$opened" || { cat /tmp/said; return 1; }
}

# Run each program twice, as its author advises for some. Their exit statuses only say whether they
# could open an event.
crashed()
{
	expect_range "programs" 1 100 "$(find /usr/lib/perf-crashes -type f | wc -l)" || return
	for test in /usr/lib/perf-crashes/*; do
		for _ in 1 2; do
			timeout -s KILL 300 "$test" >/tmp/said 2>&1
			status=$?
			expect_not "${test##*/}: its status" '^137$' $status || { tail -n 5 /tmp/said; return 1; }
		done
	done
}

exec 3>&1
plan 3
check "what made kernels crash or warn comes to its end" crashed
check "turns of perf_fuzzer, as root" fuzzed 300
check "the PMU counts" still_counts
finish
