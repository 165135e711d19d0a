#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spi - overflow interrupts that are SPIs, one for each of two CPUs
#
# run-guest --devicetree affinity or no-affinity has edited the guest's devicetree. With
# no-affinity the kernel's command line has corepmu_test.spi=guessed. For either driver.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

# Work that a guest finishes in seconds
export ROUNDS=300

PERIOD=100003
guessed=
! grep -q 'corepmu_test\.spi=guessed' /proc/cmdline || guessed=1

# Print how often each CPU took the PMU's interrupts, one line per interrupt: "CPU0 CPU1"
taken()
{
	awk '/corepmu|arm-pmu/ { print $2, $3 }' /proc/interrupts
}

log_says()
{
	guess='lacks interrupt-affinity: assigning its interrupts to CPUs in order'
	said=$(dmesg | grep -cE "corepmu: .*$guess")
	if [ -n "$BUILTIN" ]; then
		said=$(dmesg | grep -c 'no interrupt-affinity property')
	fi
	expect_equal "lines in the kernel's log on CPUs in their order" "${guessed:-0}" "$said"
}

two_interrupts()
{
	expect_equal "the PMU's interrupts" 2 "$(taken | wc -l)"
}

# sampled_on CPU: a task on this CPU has one sample per period, each by this CPU's interrupt. One
# period may have ended on the other CPU before.
sampled_on()
{
	taken >/tmp/before
	perf stat -x, -o /tmp/out -e "$PMU/$INSTRUCTIONS/u" taskset -c "$1" workload || return 1
	all=$(($(counted "$INSTRUCTIONS") / PERIOD))
	perf record -c $PERIOD -e "$PMU/$INSTRUCTIONS/u" -o /tmp/perf.data \
		taskset -c "$1" workload >/dev/null 2>&1 || return 1
	taken >/tmp/after
	expect_range "samples" $((all - 4)) $((all + 4)) \
		"$(perf script -i /tmp/perf.data -F ip 2>/dev/null | wc -l)" || return 1
	paste -d ' ' /tmp/before /tmp/after | awk '{ print $3 - $1, $4 - $2 }' >/tmp/more
	cat /tmp/more
	row=$(($1 + 1))
	expect_range "its interrupt on CPU$1" $((all - 4)) $((all + 100)) \
		"$(awk -v row=$row 'NR == row { print $row }' /tmp/more)" &&
		expect_equal "interrupts on the other one's CPU" 0 \
			"$(awk '{ all += $(3 - NR) } END { print all }' /tmp/more)"
}

all_cpus()
{
	perf record -a -c $PERIOD -e "$PMU/$INSTRUCTIONS/u" -o /tmp/perf.data \
		sh -c 'taskset -c 0 workload & taskset -c 1 workload; wait' >/tmp/out 2>&1 ||
		{ cat /tmp/out; return 1; }
	perf script -i /tmp/perf.data -F cpu 2>/dev/null | sort | uniq -c >/tmp/seen
	cat /tmp/seen
	for cpu in 0 1; do
		expect_range "samples on CPU$cpu" 50 100000 \
			"$(awk -v cpu="[00$cpu]" '$2 == cpu { print $1 }' /tmp/seen)" || return 1
	done
}

go_and_come()
{
	for _ in 1 2; do
		echo 0 >/sys/devices/system/cpu/cpu1/online || return 1
		sampled_on 0 || return 1
		echo 1 >/sys/devices/system/cpu/cpu1/online || return 1
	done
	sampled_on 1 && sampled_on 0
}

# A CPU goes offline while its counters overflow: an interrupt that another CPU takes disturbs no
# event.
go_while_sampling()
{
	until_told
	perf record -a -c 1009 -e "$PMU/$INSTRUCTIONS/" -o /tmp/perf.data "$UNTIL_TOLD" \
		>/tmp/out 2>&1 &
	pid=$!
	wait_started $pid
	for _ in 1 2 3; do
		echo 0 >/sys/devices/system/cpu/cpu1/online &&
			echo 1 >/sys/devices/system/cpu/cpu1/online || break
	done
	tell
	wait $pid || { cat /tmp/out; return 1; }
	sampled_on 0 && sampled_on 1
}

load_again()
{
	[ -z "$BUILTIN" ] || skip "the built-in driver stays"
	for _ in 1 2; do
		rmmod corepmu && insmod "$MODULE" || return 1
	done
	sampled_on 1
}

plan 9
check "the log says when CPUs are taken in their order" log_says
check "each CPU has an interrupt" two_interrupts
check "samples of CPU0 by its interrupt" sampled_on 0
check "samples of CPU1 by its interrupt" sampled_on 1
check "samples of all CPUs" all_cpus
check "samples after CPU1 was offline" go_and_come
check "samples after CPU1 went offline while its counters overflowed" go_while_sampling
check "the module is loaded again" load_again
check "the kernel logs no warning" no_kernel_warning '|nobody cared'
finish
