#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# smt - CPUs that are threads of a core: cycles are counted on event counters
#
# The PMU has six event counters, and PMCCNTR_EL0, which counts the core's clock.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

i=$PMU/$INSTRUCTIONS/u
five=$i,$i,$i,$i,$i

are_threads()
{
	expect_equal "threads of a core" 0-1 \
		"$(cat /sys/devices/system/cpu/cpu0/topology/thread_siblings_list)"
}

cycles_and_five()
{
	perf stat -x, -o /tmp/out -e "{$PMU/$CYCLES/u,$five}" workload || return 1
	all_counted /tmp/out
}

cycles_and_six()
{
	perf stat -x, -o /tmp/out -e "{$PMU/$CYCLES/u,$five,$i}" workload >/tmp/said 2>&1 &&
		expect_says "perf stat" '<not' "$(cat /tmp/out)"
}

six_without_cycles()
{
	perf stat -x, -o /tmp/out -e "{$five,$i}" workload || return 1
	all_counted /tmp/out
}

plan 4
check "the CPUs are threads of a core" are_threads
check "a group of cycles and five events of event counters fits" cycles_and_five
check "a group of cycles and six events of event counters does not fit" cycles_and_six
check "a group of six events of event counters fits" six_without_cycles
finish
