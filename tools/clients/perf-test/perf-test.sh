#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# `perf test`: perf's own tests that open hardware events or read a PMU's files in sysfs.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
cd / || exit 1

wanted='mmap interface|Parse event definition|PERF_RECORD_|Sysfs PMU|PMU JSON|PMU events'
wanted="$wanted|exit events|Object code|Track with sched_switch|Event times|backward ring"
wanted="$wanted|Parse and process metrics|for cgroups|time to TSC|Sigtrap|Event groups"
wanted="$wanted|rdpmc|x86 Sample|AMD IBS|x86 hybrid|libpfm4|Sample parsing|User counts"
wanted="$wanted|perf stat|perf record|perf_event_attr|perf all|perf metric|perf pipe"
wanted="$wanted|branch stack|perf script|perf list|sideband|perf top|perf annotate|LBR|fallback"
wanted="$wanted|lock contention|perf evlist|perf header|uniquif|weak term|leader sampling"

passes()
{
	said=$(timeout 300 perf test -v "$1" 2>&1)
	echo "$said" | tail -n 60
	echo "$said" | grep -q ': *Skip' && ! echo "$said" | grep -q 'FAILED' &&
		skip "$(echo "$said" | sed -n 's/.*: *Skip *//p' | tail -n 1)"
	expect_says "perf test" ': *Ok' "$said" && expect_not "perf test" 'FAILED' "$said"
}

# Run each test by its number, with its subtests.
tests=$(perf test list 2>&1 | grep -E "^ *[0-9]+: .*($wanted)" | sed 's/^ *//')
plan "$(echo "$tests" | wc -l)"
while IFS= read -r test; do
	check "${test#*: }" passes "${test%%:*}"
done <<EOT
$tests
EOT
finish
