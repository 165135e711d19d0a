#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# deny - counters and events that do not count in a hypervisor's guest: results with both drivers
#
# KVM uses a host event for each counter of the guest. A counter does not count if the host has no
# counter left, or if a filter forbids the event; the guest does not learn this. The guest's stanza
# does so for counter 2 of four and for cache misses (2e/41). Both drivers are present.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

EVENT=branch-instructions
OWN=$(builtin_pmu)

# count_at_once PMU NUMBER: print the output of perf stat with that many such events while the
# workload runs
count_at_once()
{
	list=$1/$EVENT/u
	for _ in $(seq 2 "$2"); do
		list="$list,$1/$EVENT/u"
	done
	perf stat -x, -o /tmp/out -e "$list" workload >/dev/null 2>&1
	grep "$EVENT" /tmp/out
}

all_the_time()
{
	grep -c ',100\.00,' /tmp/out
}

# The driver cannot tell an event that did not happen from a counter that does not count.
own_counts_nothing()
{
	count_at_once "$OWN" 4
	expect_equal "events that ran all the time" 4 "$(all_the_time)" &&
		expect_equal "the lowest count" 0 "$(counted "$EVENT" | sort -n | head -n 1)" &&
		expect_range "the next one" 1000000 10000000000 \
			"$(counted "$EVENT" | sort -n | sed -n 2p)"
}

left_out()
{
	expect_equal "what is said" "corepmu: CPU0: counter 2 does not count (used by the host or firmware?): left out" \
		"$(dmesg | sed 's/^\[[^]]*\] //' | grep 'left out')"
}

three_count()
{
	count_at_once corepmu 3
	expect_equal "events that ran all the time" 3 "$(all_the_time)" &&
		expect_range "the lowest count" 1000000 10000000000 \
			"$(counted "$EVENT" | sort -n | head -n 1)"
}

fourth_waits()
{
	count_at_once corepmu 4
	expect_equal "events that ran all the time" 0 "$(all_the_time)" &&
		expect_range "the lowest count" 1000000 10000000000 \
			"$(counted "$EVENT" | sort -n | head -n 1)"
}

# The self-test does not find a forbidden event: only the host knows it.
event_is_still()
{
	expect_equal "the built-in driver" 0 "$(stat_count "$OWN/event=0x2e,umask=0x41/u" workload)" &&
		expect_equal "corepmu" 0 "$(stat_count "corepmu/event=0x2e,umask=0x41/u" workload)"
}

plan 5
check "the built-in driver takes the counter, and reads 0" own_counts_nothing
check "corepmu names the counter and leaves it out" left_out
check "events on the other counters count, all the time" three_count
check "one event more takes turns, and nothing is lost of it" fourth_waits
check "an event that a filter forbids reads 0 with both" event_is_still
finish
