#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# beside - x86: the module and the built-in driver use the counters in turn
#
# For guests with both drivers, started without the NMI watchdog.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

ours=$PMU/instructions/u
theirs=cpu/instructions/u
watchdog=/proc/sys/kernel/nmi_watchdog
sentence='corepmu: event refused: the built-in driver has the counters: .*nmi_watchdog'

# The workload is the same for either driver.
export ROUNDS=200
exact()
{
	count=$(stat_count "$1" workload)
	if [ ! -e /tmp/exact ]; then
		expect_range "instructions" 8000000 10000000 "$count" || return 1
		echo "$count" >/tmp/exact
	fi
	expect_equal "count of $1" "$(cat /tmp/exact)" "$count"
}

both_exact()
{
	exact "$ours" && exact "$theirs"
}

# refused EVENT [OPTION...]: expect EBUSY from both ways of perf to open the event. perf 7 prints
# another text.
refused()
{
	event=$1
	shift
	for command in stat "record -o /tmp/perf.data"; do
		# shellcheck disable=SC2086 # a command and its options
		said=$(perf $command "$@" -e "$event" true 2>&1) &&
			{ echo "perf $command counted $event"; return 1; }
		expect_says "perf $command -e $event" 'Device or resource busy|counters are busy' "$said" || return 1
	done
}

# holding EVENT COMMAND...: run COMMAND while perf has the event open; both drivers count
# afterwards.
holding()
{
	held=$1
	shift
	until_told
	perf stat -x, -o /tmp/held -e "$held" "$UNTIL_TOLD" &
	holder=$!
	wait_started "$holder"
	"$@"
	status=$?
	tell
	wait "$holder" || return 1
	expect_says "count of the event held" '^[1-9][0-9]*,' "$(cat /tmp/held)" &&
		both_exact && return "$status"
}

# After a per-CPU event of corepmu, perf core calls its sched_task() at task switches on that CPU.
left_alone()
{
	perf stat -a -e "$PMU/instructions/" true >/tmp/out 2>&1 || { cat /tmp/out; return 1; }
	until_told
	perf stat -a -x, -o /tmp/held -e cpu/instructions/ "$UNTIL_TOLD" &
	holder=$!
	wait_started "$holder"
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		taskset -c "$cpu" perf stat true 2>/dev/null
		taskset -c "$cpu" workload
	done
	tell
	wait "$holder" || return 1
	expect_range "instructions of all CPUs" 1000000 1000000000000 \
		"$(sed -n 's/^\([0-9]*\),.*/\1/p' /tmp/held)"
}

generic_events_are_not_ours()
{
	holding cycles expect_equal "references" 0 "$(cat /sys/module/corepmu/refcnt)" &&
		expect_range "generic instructions" 8000000 10000000 \
			"$(stat_count instructions:u workload)"
}

we_are_refused()
{
	holding cpu/cpu-cycles/ refused "$ours" &&
		holding cpu/instructions/u refused "$ours" -a &&
		expect_says "the kernel's log" "$sentence" "$(dmesg)"
}

they_are_refused()
{
	holding "$PMU/cpu-cycles/" refused "$theirs" &&
		holding "$ours" refused cycles -a
}

watchdog_has_them()
{
	echo 1 >"$watchdog"
	refused "$ours"
	status=$?
	echo 0 >"$watchdog"
	both_exact && return "$status"
}

start_watchdog()
{
	echo 1 >"$watchdog"
}

watchdog_goes_without()
{
	holding "$ours" start_watchdog
	status=$?
	echo 0 >"$watchdog"
	both_exact && return "$status"
}

in_turns()
{
	for i in 1 2 3 4 5; do
		both_exact || { echo "turn $i"; return 1; }
	done
}

sampled()
{
	perf record -o /tmp/perf.data -e "$1" -c 100003 workload >/dev/null 2>&1 || return 1
	periods=$(($(cat /tmp/exact) / 100003))
	expect_range "samples of $1" $((periods - 1)) $((periods + 1)) \
		"$(perf script -i /tmp/perf.data -F ip 2>/dev/null | wc -l)"
}

samples_in_turns()
{
	sampled "$ours" && sampled "$theirs" && sampled "$ours"
}

load_again()
{
	dmesg_mark load
	said=$(insmod "$MODULE" 2>&1) && { echo "it loaded"; return 1; }
	expect_says "the kernel's log" \
		'^corepmu: the counters are held by the built-in driver: .*nmi_watchdog' "$(dmesg_since load)"
}

unload_and_load()
{
	holding cpu/cpu-cycles/ rmmod corepmu 2>/dev/null
	[ ! -e "$DEVICES/$PMU" ] || return 1
	until_told
	perf stat -e cpu/cpu-cycles/ "$UNTIL_TOLD" 2>/dev/null &
	holder=$!
	wait_started "$holder"
	load_again
	status=$?
	tell
	wait "$holder"
	insmod "$MODULE" && both_exact && return "$status"
}

# The watchdog's counter keeps the module from loading.
watchdog_after_unload()
{
	rmmod corepmu || return 1
	echo 1 >"$watchdog"
	load_again
	status=$?
	echo 0 >"$watchdog"
	insmod "$MODULE" && both_exact && return "$status"
}

plan 11
check "both drivers count the loop exactly" both_exact
check "generic events are the built-in driver's" generic_events_are_not_ours
check "while the built-in driver counts, corepmu is refused" we_are_refused
check "while corepmu counts, the built-in driver is refused" they_are_refused
check "while the NMI watchdog has a counter, corepmu is refused" watchdog_has_them
check "while corepmu counts, the NMI watchdog gets no counter" watchdog_goes_without
check "both drivers count in turns, five times" in_turns
check "both drivers sample in turns" samples_in_turns
check "corepmu's values in counters are not cleared under the built-in driver" left_alone
check "unload and load while the built-in driver counts" unload_and_load
check "after an unload the NMI watchdog has a counter again" watchdog_after_unload
rm -f /tmp/exact /tmp/held /tmp/perf.data
finish
