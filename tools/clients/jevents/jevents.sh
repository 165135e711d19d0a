#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# jevents of pmu-tools: each event of Intel's list for this CPU, opened on the PMU cpu, and
# jevents' programs.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

exec 3>&1
echo -1 >/proc/sys/kernel/perf_event_paranoid
export XDG_CACHE_HOME=/usr/share ROUNDS=1000

# Lines of every-event: name, config, config1, and the results without period, with period, precise
every_event() { every-event >/tmp/events && sort -u /tmp/events >/tmp/every; }

listed() { every_event && expect_range "events of the list" 300 2000 "$(wc -l </tmp/every)"; }

# none CONDITION: expect that awk's condition is true for no event
none()
{
	awk "$1" /tmp/every >/tmp/those
	sed 's/^/# /' /tmp/those >&3
	expect_equal "events" 0 "$(wc -l </tmp/those)"
}

# shellcheck disable=SC2016 # awk's
{
# Events that can only sample are rejected without a period.
refused() { none 'NF < 6 || ($4 < 0 && $4 > -1000 && $6 < 0)'; }
waited() { none '$4 == -1000 || $5 == -1000 || $6 == -1000'; }
}

# said NAME EVENT: print jestat's count of an event
said() { awk -v event="$1" '$1 == event { gsub(",", ""); print $2; exit }' /tmp/said; }

counted()
{
	jestat -e inst_retired.any:u,cpu_clk_unhalted.thread_p:u,br_inst_retired.all_branches:u workload \
		>/tmp/said 2>&1 &&
		expect_range "instructions" 40000000 80000000 "$(said inst_retired.any:u)" &&
		expect_range "cycles" 40000000 400000000 "$(said cpu_clk_unhalted.thread_p:u)" &&
		expect_range "branches" 5000000 40000000 "$(said br_inst_retired.all_branches:u)" ||
		{ cat /tmp/said; return 1; }
}

grouped()
{
	jestat -e '{cpu-cycles,instructions},{branches,cache-references}' -a workload >/tmp/said 2>&1 &&
		expect_range "instructions" 40000000 400000000 "$(said instructions)" ||
		{ cat /tmp/said; return 1; }
}

in_between()
{
	jestat -a -I 500 -e cpu-cycles sleep 2 >/tmp/said 2>&1 &&
		expect_range "lines" 3 5 "$(grep -c cpu-cycles /tmp/said)" || { cat /tmp/said; return 1; }
}

# The program reads cycles itself, by RDPMC.
by_rdpmc()
{
	timeout 60 rtest2 >/tmp/said && expect_says "cycles of a sine" 'sin.. took [1-9][0-9]* cycles' \
		"$(cat /tmp/said)"
}

plan 8
check "Intel's list of events is there" listed
check "each of its events can be opened, to be counted or for precise samples" refused
check "each has a counter" waited
check "jestat: events of a program, by Intel's names" counted
check "jestat: two groups, of all CPUs" grouped
check "jestat: every half of a second" in_between
check "rtest2: cycles that a task reads of itself" by_rdpmc
check "the PMU counts when it has ended" still_counts
finish
