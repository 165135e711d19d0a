#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# cores - the PMU has the name of the CPU type in the devicetree, and counts
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

# The PMU node's property, for example "arm,neoverse-v3-pmu"
compatible=$(tr '\0' '\n' </proc/device-tree/pmu/compatible)

name_is_of_node()
{
	core=${compatible#*,}
	expect_says "the PMU's name" "^armv[89]_$(echo "${core%-pmu}" | tr - _)\$" "$PMU"
}

generic_events_count()
{
	for event in cycles instructions; do
		expect_range "$event" 1000000 10000000000 "$(stat_count "$event:u" workload)" || return 1
	done
}

named_event_counts()
{
	expect_equal "instructions by the PMU's name" "$(stat_count instructions:u workload)" \
		"$(stat_count "$PMU/$INSTRUCTIONS/u" workload)"
}

plan 3
check "the PMU has the name of the CPU type" name_is_of_node
check "generic events count" generic_events_count
check "an event by the PMU's name has the count of the generic event" named_event_counts
finish
