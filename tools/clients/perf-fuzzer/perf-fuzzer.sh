#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf_fuzzer: perf_event_open(2) with attributes that it invents, of the PMUs in sysfs, and whatever can be
# done with events, as root; and programs that made kernels of long ago crash or warn. run-guest looks for
# what the kernel says of it.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid

# Five hundred turns from each seed, as many seeds as there is time for. Some seeds make events that interrupt
# without end, since it writes to what limits them as well: such a run is ended.
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

# Each twice, as its author says of some. Whether there is anything wrong is not theirs to say: their
# statuses are of the event that they could open or not.
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
