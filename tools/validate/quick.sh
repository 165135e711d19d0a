#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# validate-quick - pmu-validate --quick trusts a PMU that counts, and names held counters
# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

# verdict STATUS PATTERN
verdict()
{
	said=$(pmu-validate --pmu "$PMU" --quick)
	status=$?
	expect_equal "status of '$said'" "$1" "$status" && expect_says "the verdict" "$2" "$said"
}

trusted='^counts can be trusted: .* user and kernel are apart, 20 samples of 20'

# Pinned events of CPUs take all counters, the last of these events none.
held()
{
	event=$PMU/$INSTRUCTIONS/D
	for _ in 1 2 3 4 5; do
		event=$event,$event
	done
	perf stat -a -e "$event" sleep 1000 >/dev/null 2>&1 &
	holder=$!
	for _ in $(seq 100); do
		pmu-validate --pmu "$PMU" --quick | grep -q 'can be trusted' || break
		sleep 0.1
	done
	verdict 1 '^counts cannot be trusted: the counters are held'
	ret=$?
	kill "$holder"
	wait "$holder"
	return "$ret"
}

# The kernel lowers its maximum rate if samples take long.
throttled()
{
	sample_rate 1000
	verdict 0 '^counts can be trusted: .* user and kernel are apart, samples are not tested .* is 1000'
	ret=$?
	sample_rate 100000
	return "$ret"
}

plan 4
check "right counts are trusted" verdict 0 "$trusted"
check "held counters are named" held
check "counts are trusted when the counters are free" verdict 0 "$trusted"
check "samples that the kernel throttles are no fault" throttled
finish
