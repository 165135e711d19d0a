#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# no-samples - sampling=0 on a PMU whose overflow interrupt never comes
#
# The counters have 32 bits and start below 2^32, so that each event wraps.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

i=$PMU/$INSTRUCTIONS/u

no_interrupt()
{
	expect_equal "interrupts that are the PMU's" 0 "$(grep -c corepmu /proc/interrupts)"
}

# Two counts of the same work are equal. A lost wrap would make a difference of 2^32 or a negative
# one.
counts_go_on()
{
	perf stat -x, -o /tmp/one -e "$i" workload || return 1
	perf stat -x, -o /tmp/out -e "$i,$i,$PMU/$CYCLES/u" workload || return 1
	all_counted /tmp/out || return 1
	expect_equal "instructions of an event beside others" \
		"$(sed -n '/^[0-9]/{s/,.*//p;q}' /tmp/one)" \
		"$(sed -n '/^[0-9]/{s/,.*//p;q}' /tmp/out)" || return 1
	[ "$(sed -n '/^[0-9]/{s/,.*//p;q}' /tmp/one)" -gt 3000000 ]
}

# Six counters are three pairs.
three_at_a_time()
{
	perf stat -x, -o /tmp/out -e "{$i,$i,$i}" workload || return 1
	all_counted /tmp/out || return 1
	perf stat -x, -o /tmp/out -e "{$i,$i,$i,$i}" workload >/tmp/said 2>&1 &&
		expect_says "perf stat" '<not' "$(cat /tmp/out)"
}

samples_are_refused()
{
	perf record -q -o /tmp/data -e "$i" -c 10000 true >/tmp/said 2>&1 && return 1
	expect_says "the log" 'event refused: sampling=0: ' "$(dmesg | tail -n 20)"
}

plan 4
check "no interrupt is taken" no_interrupt
check "counts go on where 32 bits end" counts_go_on
check "each event takes two counters" three_at_a_time
check "samples are refused, and the log says why" samples_are_refused
finish
