#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# siblings - Haswell: events that corrupt the counts of the core's other thread
#
# The driver rejects them as long as another thread may exist, and counts them once none can.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

control=/sys/devices/system/cpu/smt/control
# MEM_UOPS_RETIRED.ALL_LOADS, erratum HSD29, and an event without it
loads=$PMU/event=0xd0,umask=0x81/u
uops=$PMU/event=0xc2,umask=0x02/u

has_siblings()
{
	expect_equal "threads of a core" 0-1 \
		"$(cat /sys/devices/system/cpu/cpu0/topology/thread_siblings_list)"
}

# refused EVENT
refused()
{
	perf stat -x, -o /tmp/out -e "$1" workload >/tmp/said 2>&1
	expect_says "perf stat -e $1" '<not supported>|not supported' \
		"$(grep -v '^#' /tmp/out) $(cat /tmp/said)"
}

refused_with_siblings()
{
	refused "$loads" && refused L1-dcache-loads:u
}

# counted EVENT: print its count; perf may add the PMU's name to the event's
counted()
{
	perf stat -x, -o /tmp/out -e "$1" workload >/tmp/said 2>&1
	expect_range "count of $1" 1000 10000000000 \
		"$(sed -n 's/^\([0-9<][^,]*\),.*/\1/p' /tmp/out)"
}

# An offline thread may come online at any time.
refused_with_siblings_offline()
{
	echo off >$control || return 1
	expect_equal "threads of a core" 0 \
		"$(cat /sys/devices/system/cpu/cpu0/topology/thread_siblings_list)" &&
		refused "$loads" || return 1
	echo on >$control
}

counted_without()
{
	echo forceoff >$control || return 1
	counted "$loads" && counted L1-dcache-loads:u
}

plan 5
check "the CPUs are threads of a core" has_siblings
check "events 0xd0 to 0xd3 are refused" refused_with_siblings
check "others count" counted "$uops"
check "events 0xd0 to 0xd3 are refused while the other thread is offline" \
	refused_with_siblings_offline
check "they count when the other thread is off for good" counted_without
finish
