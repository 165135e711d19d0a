#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# hotplug - CPUs go offline and come back under events
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

pmu=$DEVICES/$PMU
last=$(($(nproc) - 1))

online()
{
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online"
}

# Take every CPU but the first offline and online, one after the other, so many times in all.
cycle_cpus()
{
	n=0
	while [ "$n" -lt "$1" ]; do
		cpu=$((1 + n % last))
		expect_true "CPU $cpu to go off line" online "$cpu" 0 || return 1
		expect_true "CPU $cpu to come back" online "$cpu" 1 || return 1
		n=$((n + 1))
	done
}

# under TIMES COMMAND...: cycle the CPUs while COMMAND runs in the background.
under()
{
	times=$1
	shift
	until_told
	"$@" >/tmp/out 2>&1 &
	pid=$!
	wait_started "$pid"
	cycle_cpus "$times"
	cycled=$?
	[ -d /proc/"$pid" ] || { echo "it ended early"; cat /tmp/out; return 1; }
	tell
	wait "$pid" || { cat /tmp/out; return 1; }
	return "$cycled"
}

every_cpu_counts()
{
	expect_equal "cpus" "$(cat /sys/devices/system/cpu/online)" "$(cat "$pmu"/cpus)" || return 1
	for cpu in $(seq 0 "$last"); do
		# A busy CPU: taskset keeps the workload there. One event is on the cycle counter,
		# the other on a general counter.
		perf stat -C "$cpu" -x, -o /tmp/out -e "{$PMU/$CYCLES/,$PMU/$CYCLES/}" \
			taskset -c "$cpu" workload || return 1
		for count in $(counted "$CYCLES" | head -n 1) $(counted "$CYCLES" | tail -n 1); do
			expect_range "cycles of CPU $cpu" 1000 1000000000000 \
				"$count" || return 1
		done
	done
}

stat_system_wide()
{
	under 25 perf stat -a -I 100 -x, -o /tmp/stat -e "$PMU/$CYCLES/,$PMU/$CYCLES/u" \
		"$UNTIL_TOLD" || return 1
	# A count that went backwards would be a large number.
	expect_says "a count of an interval" ",[1-9][0-9]{3,11},.*$CYCLES" "$(cat /tmp/stat)" &&
		expect_not "counts of intervals" ',(<not|[0-9]{13,},)' "$(cat /tmp/stat)"
}

# sampled ROUNDS ARG...: expect samples of "perf record ARG..." while CPUs go offline and online
# ROUNDS times
sampled()
{
	rounds=$1
	shift
	under "$rounds" perf record -o /tmp/perf.data "$@" || return 1
	samples=$(perf script -i /tmp/perf.data -F ip 2>/dev/null | wc -l)
	rm -f /tmp/perf.data
	expect_range "samples" 1 10000000 "$samples"
}

record_system_wide()
{
	sampled 50 -a -e "$PMU/$CYCLES/" -F 500 "$UNTIL_TOLD"
}

# samples_of CAPABILITY PERF-RECORD...: record the workload, if the PMU has the capability
samples_of()
{
	need_extra "$1"
	shift
	sampled 10 "$@" "$UNTIL_TOLD" workload
}

# On CPUs that came back: each has its debug store and its records.
every_cpu_records()
{
	need_extra branches
	need_extra max_precise
	for cpu in $(seq 0 "$last"); do
		perf record -C "$cpu" -b -o /tmp/perf.data -c 1000003 -e "$PMU/$CYCLES/upp" \
			taskset -c "$cpu" workload >/dev/null 2>&1 || return 1
		said=$(perf script -i /tmp/perf.data -F comm,brstack 2>/dev/null)
		expect_says "samples of CPU $cpu" 'workload +0x[0-9a-f]+/0x' "$said" || return 1
	done
	rm -f /tmp/perf.data
}

# The task moves over all CPUs, with its events.
task_events()
{
	under 25 perf stat -x, -o /tmp/stat -e "$PMU/$CYCLES/,$PMU/$CYCLES/u" \
		"$UNTIL_TOLD" sh -c 'workload & workload; wait' || return 1
	all_counted /tmp/stat
}

task_groups()
{
	c=$PMU/$CYCLES/
	# As many events as every CPU has counters for
	group=$c,$c,$c,$c,$c
	[ "$VENDOR" != arm ] || group=$group,$c,$c
	under 25 perf stat -x, -o /tmp/stat -e "{$group},$c,$c" "$UNTIL_TOLD" workload || return 1
	all_counted /tmp/stat
}

# more_intervals N: wait until perf stat -I of process $pid has written N intervals more to /tmp/out.
more_intervals()
{
	written=$(($(grep -c CPU0, /tmp/out) + $1))
	while [ "$(grep -c CPU0, /tmp/out)" -lt "$written" ] && [ -d "/proc/$pid" ]; do
		sleep 0.1
	done
}

# Events of a CPU that goes offline stop, and keep their counts.
counts_end()
{
	until_told
	perf stat -a -A -I 200 -x, -o /tmp/out -e "$PMU/$CYCLES/" "$UNTIL_TOLD" &
	pid=$!
	wait_started "$pid"
	more_intervals 1
	online 1 0 || return 1
	more_intervals 2
	online 1 1 || return 1
	more_intervals 2
	tell
	wait "$pid" || { cat /tmp/out; return 1; }
	# A line has the difference to the previous interval.
	expect_says "CPU 0 in the last interval" 'CPU0,[1-9]' "$(grep CPU0, /tmp/out | tail -n 1)" &&
		expect_says "CPU 1 in the first interval" 'CPU1,[1-9]' \
			"$(grep CPU1, /tmp/out | head -n 1)" &&
		expect_says "CPU 1 in the last interval" 'CPU1,(0|<not counted>),' \
			"$(grep CPU1, /tmp/out | tail -n 1)" &&
		every_cpu_counts
}

# Perf fails or warns, depending on its version, and never prints a count.
offline_is_refused()
{
	online "$last" 0 || return 1
	perf stat -C "$last" -x, -o /tmp/none -e "$PMU/$CYCLES/" true 2>/dev/null
	perf stat -C 0 -x, -o /tmp/out -e "$PMU/$CYCLES/" true
	cpus=$(cat "$pmu"/cpus)
	left=$(cat /sys/devices/system/cpu/online)
	perf stat -a -x, -o /tmp/all -e "$PMU/$CYCLES/" true
	online "$last" 1
	expect_not "perf stat on an offline CPU" "^[0-9]+,.*$CYCLES" "$(cat /tmp/none)" &&
		expect_equal "cpus meanwhile" "$left" "$cpus" &&
		expect_says "perf stat -a meanwhile" "^[1-9][0-9]*,.*$CYCLES" "$(cat /tmp/all)" &&
		expect_range "cycles of CPU 0 meanwhile" 1 1000000000000 \
			"$(counted "$CYCLES")"
}

first_goes_too()
{
	[ -e /sys/devices/system/cpu/cpu0/online ] || skip "CPU 0 stays"
	online 0 0 || skip "CPU 0 stays"
	perf stat -C 1 -x, -o /tmp/out -e "$PMU/$CYCLES/" true
	online 0 1 || return 1
	expect_range "cycles of CPU 1" 1 1000000000000 \
		"$(counted "$CYCLES")"
}

unplugged_reload()
{
	[ -e /sys/module/corepmu ] || skip "the module is not loaded"
	online "$last" 0 || return 1
	rmmod corepmu && insmod "$MODULE" || { online "$last" 1; return 1; }
	online "$last" 1 || return 1
	every_cpu_counts
}

[ $last -ge 1 ] || { echo "Bail out! one CPU alone cannot go"; exit 1; }
stop_fair_servers
plan 16
check "every CPU counts" every_cpu_counts
check "CPUs come and go without events" cycle_cpus 10
check "under perf stat -a" stat_system_wide
check "under perf record -a" record_system_wide
check "under perf record -a with branch records" \
	samples_of branches -a -b -F 500 -e "$PMU/$CYCLES/"
check "under perf record -a with precise samples" \
	samples_of max_precise -a -F 500 -e "$PMU/$CYCLES/pp"
check "under branch records of a task" samples_of branches -b -c 1000003 -e "$PMU/$CYCLES/u"
check "under large PEBS of a task" \
	samples_of max_precise -c 100003 -e "$PMU/$CYCLES/upp"
check "precise samples with branch records of every CPU" every_cpu_records
check "under events of a task" task_events
check "under groups and more events than counters" task_groups
check "events of a CPU that goes end with it, and it counts when it is back" counts_end
check "a CPU that is offline is refused" offline_is_refused
check "CPU 0 goes offline and online" first_goes_too
check "loaded while a CPU is offline" unplugged_reload
check_references
finish
