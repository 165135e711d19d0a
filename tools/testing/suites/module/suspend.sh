#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# suspend - the system sleeps, and counters lose their contents
#
# With the kernel's module brd in the guest the system hibernates: a RAM disk is the swap device.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

# KiB of the RAM disk
disk_size=409600

prepare_hibernation()
{
	insmod "$(ls /corepmu/kmods/brd/*.ko)" rd_nr=1 rd_size=$disk_size &&
		mkswap /dev/ram0 >/dev/null && swapon /dev/ram0 &&
		echo test_resume >/sys/power/disk && echo 1 >/sys/power/pm_debug_messages
}

hibernated()
{
	expect_says "the kernel's log" 'Hibernation image restored successfully' "$(dmesg)"
}

need_sleep()
{
	can_sleep || skip "the system does not sleep deeply, or nothing wakes it up"
}

# counted FILE EVENT: print the event's count in output of perf stat -x,
counted() { awk -F, -v event="$2" '$3 ~ event { print $1 }' "$1"; }

counts_on_cpu0()
{
	perf stat -C 0 -x, -o /tmp/out -e instructions,branches taskset -c 0 workload || return 1
	for event in instructions branches; do
		expect_range "$event" 1000 1000000000000 "$(counted /tmp/out "$event")" || return 1
	done
}

counts_afterwards()
{
	need_sleep
	sleep_system || return 1
	counts_on_cpu0
}

# over_sleep PERF...: the system sleeps while perf runs; afterwards the workload runs.
over_sleep()
{
	need_sleep
	until_told
	"$@" "$UNTIL_TOLD" >/dev/null 2>&1 &
	pid=$!
	wait_started "$pid"
	sleep_system || return 1
	taskset -c 0 workload >/dev/null
	tell
	wait "$pid"
}

# Events that were open before the sleep continue from their counts.
goes_on()
{
	need_sleep
	perf stat -C 0 -x, -o /tmp/out -e instructions taskset -c 0 workload || return 1
	before=$(counted /tmp/out instructions)
	over_sleep perf stat -C 0 -x, -o /tmp/out -e instructions || return 1
	expect_range "instructions" "$((before * 9 / 10))" 1000000000000 \
		"$(counted /tmp/out instructions)"
}

samples_afterwards()
{
	need_sleep
	sleep_system || return 1
	perf record -C 0 -o /tmp/perf.data -e instructions -c 1000003 taskset -c 0 workload \
		>/dev/null 2>&1 || return 1
	expect_range "samples" 1 1000000 "$(perf script -i /tmp/perf.data | wc -l)"
}

# extras_go_on CAPABILITY PERF-RECORD...: an event that was open before the sleep samples the
# workload after it
extras_go_on()
{
	need_extra "$1"
	shift
	over_sleep perf record -C 0 -o /tmp/perf.data "$@" || return 1
	said=$(perf script -i /tmp/perf.data -F comm,ip,brstack 2>/dev/null)
	rm -f /tmp/perf.data
	# The workload's last task switch drains large PEBS: by then the task may have lost its PID (-1).
	expect_range "samples of what ran afterwards" 10 1000000 \
		"$(echo "$said" | grep -cE '^ *(workload|:-1) ')" || return 1
	case " $* " in
	*" -b "*) expect_says "its branches" 'workload .*0x[0-9a-f]+/0x' "$said" ;;
	esac
}

stop_fair_servers
if [ -d /corepmu/kmods/brd ]; then
	plan 8
	check "there is a swap device for an image" expect_true "a swap device" prepare_hibernation
else
	plan 6
fi
check "CPU 0 counts" counts_on_cpu0
check "CPU 0 counts after a sleep" counts_afterwards
check "events that sleep go on" goes_on
check "CPU 0 samples after a sleep" samples_afterwards
check "precise samples of events that sleep go on" \
	extras_go_on max_precise -c 1000003 -e "$PMU/$CYCLES/upp"
check "branch records of events that sleep go on" \
	extras_go_on branches -b -c 1000003 -e "$PMU/$CYCLES/u"
[ ! -d /corepmu/kmods/brd ] || check "the kernel has restored images" hibernated
finish
