#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# stress-ng --perf counts generic hardware events, cache events and tracepoints while its stressors
# run; their processes inherit the events.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
cd /tmp || exit 1

# counted STRESSOR OPERATIONS EVENT...: expect counts of the events, none of them zero
counted()
{
	stressor=$1
	stress-ng --perf --no-rand-seed "--$stressor" 1 "--$stressor-ops" "$2" >/tmp/said 2>&1 || {
		cat /tmp/said
		return 1
	}
	shift 2
	for event in "$@"; do
		expect_says "$stressor: $event" "[1-9][0-9,.]* +$event" "$(cat /tmp/said)" || return 1
	done
}

if short; then
	plan 1
	check "fork: children" counted fork 20 'CPU Cycles' Instructions 'Branch Instr'
	finish
fi
plan 3
check "cpu" counted cpu 4 'CPU Cycles' Instructions 'Branch Instr'
check "context: switches" counted context 200 'CPU Cycles' Instructions
check "fork: children" counted fork 50 'CPU Cycles' Instructions
finish
