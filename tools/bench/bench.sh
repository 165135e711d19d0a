#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A short run of the benchmark, as a suite of tools/testing: its figures exist and are plausible.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

out=/tmp/bench.out

# value KIND OPERATION
value()
{
	sed -n "s/^$1 $2 \([0-9]*\)\$/\1/p" $out
}

# share OPERATION: print its cost less the cost of its base
share()
{
	echo $(($(value BENCH "$1") - $(value BASE "$1")))
}

measures()
{
	ROUNDS=101 /corepmu/bench >$out 2>&1 || {
		tail -n 3 $out
		return 1
	}
	expect_not "what it says" '^BROKEN' "$(cat $out)"
}

calibrated()
{
	expect_says "the clock of a loop of 4000 instructions" '^CALIBRATED 4000 4000$' "$(cat $out)"
}

rows()
{
	expect_range "operations measured" 25 100 "$(grep -c '^BENCH' $out)"
}

shares()
{
	expect_range "instructions of a switch with one event" 100 20000 "$(share switch-1)" &&
		expect_range "instructions of a switch with four" "$(share switch-1)" 40000 \
			"$(share switch-4)" &&
		expect_range "instructions of a read" 10 5000 "$(share read)" &&
		expect_range "instructions of an overflow" 500 20000 "$(value BENCH overflow-ip)"
}

# Two medians of round trips through the scheduler differ by tens of instructions in either
# direction.
nothing_to_do()
{
	expect_range "instructions of a switch with four events of the CPU" -100 100 \
		"$(share cpu-switch-4)"
}

plan 5
check "it measures" measures
check "its clock counts instructions" calibrated
check "it measures every operation" rows
check "shares are of the size of a driver's" shares
check "a switch costs events of the CPU nothing" nothing_to_do
finish
