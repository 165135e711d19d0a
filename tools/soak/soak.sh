#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# soak SECONDS [SEED]: rounds of everything at once under the module, until so much time is over:
# pmu-fuzz with CPUs that come and go, loading and unloading, and the same with allocations that
# fail, where the kernel can have them fail. Ends without the module, and with what the kernel has
# found leaked. A line for each kind of work says how much there was of it.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

seconds=${1:-60}
seed=${2:-1}
debug=/sys/kernel/debug
out=/tmp/soak
mkdir -p $out

# Each goes on with what was counted before.
loads=0 failed_loads=0 rounds=0 failing=0

now() { cut -d. -f1 /proc/uptime; }

# What no healthy kernel prints; a mitigation's message has WARNING behind its own name.
COMPLAINTS='BUG: |\] WARNING: |UBSAN:|ODEBUG:|INFO: (task|possible|suspicious)|unknown reason'

complaints()
{
	dmesg | grep -E -A 20 "$COMPLAINTS" | head -n 80
}

load()
{
	insmod "$MODULE" && loads=$((loads + 1))
}

unload()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		rmmod corepmu 2>/dev/null && return 0
		sleep 1
	done
	rmmod corepmu
}

# Allocations of the tasks that ask for it fail, one in so many.
if [ -d $debug/failslab ]; then
	for file in failslab fail_page_alloc; do
		echo Y >$debug/$file/task-filter
		echo 3 >$debug/$file/probability
		echo -1 >$debug/$file/times
		echo 0 >$debug/$file/verbose
	done
fi

# A kernel that checks itself takes a millisecond for a sample, and more in a guest whose host has other
# things to do: with more of them than it has time for it does nothing else, and calls itself stuck.
rate=500
[ ! -e $debug/kmemleak ] || rate=200

# with_failures COMMAND...
with_failures()
{
	sh -c 'echo 1 >/proc/self/make-it-fail && exec "$@"' sh "$@" >/dev/null 2>&1
}

fuzz_round()
{
	pmu-fuzz --pmu corepmu --seed $((seed + rounds)) --seconds 20 --workers 3 \
		--rate $rate --hotplug >$out/round 2>&1
	status=$?
	cat $out/round >>$out/rounds
	[ $status -eq 0 ] || { echo "# round $rounds, seed $((seed + rounds))"; sed 's/^/# /' $out/round; }
	return $status
}

# Each place where memory is asked for, one after the other, while it is loaded and used.
failing_round()
{
	[ -e /proc/self/make-it-fail ] || return 0
	failing=$((failing + 1))
	unload || return 1
	for _ in 1 2 3 4 5; do
		if with_failures insmod "$MODULE"; then
			unload
		else
			failed_loads=$((failed_loads + 1))
		fi
	done
	load || return 1
	with_failures pmu-fuzz --pmu corepmu --seed $((seed + rounds)) --cases 300
	return 0
}

# use_module: rounds until the time is over, or one of them failed
use_module()
{
	[ -d /sys/module/corepmu ] || load || return 1
	while [ "$(now)" -lt "$end" ]; do
		rounds=$((rounds + 1))
		fuzz_round || return 1
		for _ in 1 2 3; do
			unload && load || return 1
		done
		failing_round || return 1
	done
	[ "$rounds" -gt 0 ]
}

nothing_leaked()
{
	# What is younger than five seconds is let pass, and of RCU's callbacks some come late.
	sleep 6
	echo scan >$debug/kmemleak
	sleep 1
	echo scan >$debug/kmemleak
	head -n 60 $debug/kmemleak >$out/leaks
	sed 's/^/# /' $out/leaks
	[ ! -s $out/leaks ]
}

no_complaint()
{
	complaints >$out/complaints
	sed 's/^/# /' $out/complaints
	[ ! -s $out/complaints ]
}

stop_fair_servers
end=$(($(now) + seconds))
plan 4
use_module
result "after each burst the PMU counts and samples exactly, and the module can be loaded anew"
unload
result "the module can be unloaded"
if [ -e $debug/kmemleak ]; then
	nothing_leaked
	result "nothing is leaked"
else
	skipped "nothing is leaked" "this kernel does not look for leaks"
fi
no_complaint
result "the kernel has no complaint"

# sum WHAT: of the numbers before it in the rounds' lines
sum()
{
	sed -n "s/^# .*[ :]\([0-9]*\) $1\(,.*\)*$/\1/p" $out/rounds | awk '{ sum += $1 } END { print sum + 0 }'
}

echo "# fuzz: $(sum opens) opens, $(sum opened) opened, $(sum calls) calls, $(sum succeeded) succeeded, $(sum samples) samples, $(sum lost) lost"
echo "# beside: $(sum bursts) bursts, $(sum 'samples of all CPUs') samples of all CPUs, $(sum hotplugs) hotplugs, $(sum files) files of sysfs"
echo "# $(grep -h 'late: tasks' $out/rounds | sort -k5n | tail -n 1 | cut -c3-)"
echo "# module: $loads loads, $failed_loads loads that failed for want of memory, $failing rounds with failures"
echo "# kernel: $(grep -cE "$COMPLAINTS" $out/complaints) complaints, $rounds rounds in $seconds seconds"
finish
