#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# deny-event - an event that a hypervisor's filter forbids: results on arm64
#
# KVM removes the event from PMCEID0_EL0 and does not count it. The guest's stanza forbids
# L1D_CACHE_REFILL (0x03).
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

REFILL=event=0x0003

is_unlisted()
{
	expect_true "no file of the event" [ ! -e "$DEVICES/$PMU/events/l1d_cache_refill" ] &&
		expect_true "the file of another" [ -e "$DEVICES/$PMU/events/l1d_cache" ]
}

# L1-dcache-loads uses L1D_CACHE, which counts; L1-dcache-load-misses uses L1D_CACHE_REFILL.
generic_is_refused()
{
	perf stat -x, -o /tmp/out -e L1-dcache-loads:u,L1-dcache-load-misses:u workload || return 1
	expect_says "the loads" '^[1-9][0-9]*,,L1-dcache-loads' "$(cat /tmp/out)" &&
		expect_says "the misses" '^<not supported>,,L1-dcache-load-misses' "$(cat /tmp/out)"
}

raw_is_still()
{
	perf stat -x, -o /tmp/out -e "$PMU/$REFILL/u,$PMU/$INSTRUCTIONS/u" workload || return 1
	expect_says "the misses" "^0,,[^,]*$REFILL" "$(cat /tmp/out)" &&
		expect_says "instructions" "^[1-9][0-9]*,,[^,]*$INSTRUCTIONS" "$(cat /tmp/out)"
}

plan 3
check "the PMU does not list the event" is_unlisted
check "the event's generic event is not supported" generic_is_refused
check "by its number it reads 0, and other events count" raw_is_still
finish
