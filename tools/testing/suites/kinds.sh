#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# kinds - CPUs of two kinds with ACPI, which has one PMU for those of one kind
#
# The guest has three CPUs. CPU 1 is of another kind, and only CPU 0 is online.
# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

online()
{
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online"
}

# counts_on CPU: what the PMU counts of a task that stays on that CPU
counts_on()
{
	taskset -c "$1" perf stat -x, -o /tmp/out -e "corepmu/$INSTRUCTIONS/u" workload
	counted "$INSTRUCTIONS"
}

load_on_one()
{
	expect_equal "CPUs online" 0 "$(cat /sys/devices/system/cpu/online)" &&
		insmod "$MODULE" &&
		expect_equal "CPUs of the PMU" 0 "$(cat "$DEVICES"/corepmu/cpus)"
}

other_kind_stays_out()
{
	dmesg_mark other
	online 1 1 || return 1
	expect_equal "CPUs of the PMU" 0 "$(cat "$DEVICES"/corepmu/cpus)" || return 1
	expect_says "the kernel's log" '^corepmu: CPU1 is of another kind .*0x411fd040' \
		"$(dmesg_since other)" || return 1
	expect_equal "a task's instructions there" '<not counted>' "$(counts_on 1)" || return 1
	perf stat -C 1 -x, -o /tmp/none -e "corepmu/$CYCLES/" true 2>/dev/null
	expect_not "cycles there" '^[0-9]' "$(cat /tmp/none)"
}

same_kind_joins()
{
	online 2 1 || return 1
	expect_equal "CPUs of the PMU" 0,2 "$(cat "$DEVICES"/corepmu/cpus)" || return 1
	expect_range "a task's instructions there" 1000000 10000000000 "$(counts_on 2)" || return 1
	perf stat -C 2 -x, -o /tmp/out -e "corepmu/$CYCLES/" taskset -c 2 workload
	expect_range "cycles there" 1000 1000000000000 "$(counted "$CYCLES")"
}

samples_where_joined()
{
	perf record -o /tmp/perf.data -e "corepmu/$INSTRUCTIONS/u" -c 100000 \
		taskset -c 2 workload >/dev/null 2>&1 || return 1
	instructions=$(counts_on 2)
	expect_range "samples" $((instructions / 100000 - 1)) $((instructions / 100000 + 1)) \
		"$(perf script -i /tmp/perf.data -F ip 2>/dev/null | grep -c .)"
}

go_and_come()
{
	for cpu in 1 2 1 2; do
		online "$cpu" 0 && online "$cpu" 1 || return 1
	done
	expect_equal "CPUs of the PMU" 0,2 "$(cat "$DEVICES"/corepmu/cpus)" || return 1
	expect_range "a task's instructions on CPU 2" 1000000 10000000000 "$(counts_on 2)"
}

two_kinds_are_refused()
{
	rmmod corepmu || return 1
	dmesg_mark two
	insmod "$MODULE" 2>/dev/null && { echo "it loaded"; return 1; }
	said=$(dmesg_since two)
	expect_equal "sentences" 1 "$(echo "$said" | wc -l)" || { echo "$said"; return 1; }
	expect_says "the sentence" \
		'^corepmu: CPUs 1 are of another kind .*0x411fd040.* than CPUs 0,2 .*off' "$said"
}

remedy()
{
	online 1 0 && insmod "$MODULE" &&
		expect_equal "CPUs of the PMU" 0,2 "$(cat "$DEVICES"/corepmu/cpus)" && rmmod corepmu
}

kernel_is_content()
{
	expect_not "the kernel's log" '\] WARNING: |BUG: |Oops|cut here' "$(dmesg)"
}

plan 8
check "the module loads with one CPU online" load_on_one
check "a CPU of another kind that comes has no PMU, and the log says so" other_kind_stays_out
check "a CPU of the module's kind that comes has the PMU" same_kind_joins
check "a CPU that has come takes overflow interrupts" samples_where_joined
check "CPUs that go and come back count and take interrupts" go_and_come
check "CPUs of two kinds that are online are refused" two_kinds_are_refused
check "the module loads when those of one kind are offline" remedy
check "the kernel has nothing to complain of" kernel_is_content
finish
