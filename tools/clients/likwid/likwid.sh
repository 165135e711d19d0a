#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# likwid-perfctr: counts of a whole CPU, by likwid's event names, which it opens on the PMU cpu.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
export ROUNDS=1000

case $VENDOR in
amd)
	fixed=RETIRED_INSTRUCTIONS:PMC0,CPU_CLOCKS_UNHALTED:PMC1
	branches=RETIRED_BRANCH_INSTR:PMC2
	;;
*)
	fixed=INSTR_RETIRED_ANY:FIXC0,CPU_CLK_UNHALTED_CORE:FIXC1
	branches=BR_INST_RETIRED_ALL_BRANCHES:PMC0
	;;
esac

# measured OPTION... COMMAND: run likwid-perfctr, with its output as CSV in /tmp/said
measured()
{
	timeout 120 likwid-perfctr -O "$@" >/tmp/said 2>&1 && return 0
	echo "status $? of likwid-perfctr $*"
	tail -n 20 /tmp/said
	return 1
}

# count_of EVENT LOWEST HIGHEST: expect an event's count to be in a range
count_of()
{
	expect_range "$1" "$2" "$3" "$(awk -F, -v event="${1%%:*}" \
		'$1 == event { printf "%d", $3; exit }' /tmp/said)" || { cat /tmp/said; return 1; }
}

# likwid starts its program, stops it by a signal, sets up the counters and continues the program.
# On a busy machine a part of a workload without a pause has run before, and is not counted.
later="sleep 1; workload"

counted()
{
	measured -C 0 -g "$fixed" sh -c "$later" && count_of "${fixed%%,*}" 40000000 80000000 &&
		count_of "${fixed#*,}" 40000000 400000000
}

with_branches()
{
	measured -C 0 -g "$fixed,$branches" sh -c "$later" &&
		count_of "${fixed%%,*}" 40000000 80000000 && count_of "$branches" 5000000 40000000
}

group()
{
	measured -C 0 -g BRANCH workload && expect_says "its metrics" '^Branch rate,' "$(cat /tmp/said)"
}

# Several groups: likwid rotates them every tenth of a second.
in_turns()
{
	measured -C 0 -g "$fixed" -g "$branches" -t 100ms sh -c 'workload; workload' &&
		expect_says "lines of the first" '^1,[0-9]+,' "$(cat /tmp/said)" &&
		expect_says "lines of the second" '^2,[0-9]+,' "$(cat /tmp/said)"
}

while_it_waits()
{
	taskset 1 yes >/dev/null &
	measured -C 0 -g "$fixed" -S 1s
	status=$?
	kill $!
	[ $status -eq 0 ] && count_of "${fixed%%,*}" 1000000 10000000000
}

plan 5
check "instructions and cycles of a CPU" counted
check "branches besides" with_branches
check "a group: BRANCH, and its metrics" group
check "two groups in turns" in_turns
check "-S: for a second" while_it_waits
finish
