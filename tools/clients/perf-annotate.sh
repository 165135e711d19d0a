#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf annotate with a column of instructions per cycle, computed from branch records: the cycles
# between two branches, and the instructions that objdump finds between them.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

data=/tmp/perf.data
export ROUNDS=1000

# The workload's loop has two instructions and three cycles on a virtual PMU; with the instruction
# before the loop three and four. perf shows either.
LOOP_IPC='(0\.67|0\.75)'

annotate_ipc()
{
	perf record -b -c 95339 -o "$data" -e "$PMU/$CYCLES/u" workload >/tmp/said 2>&1 || {
		cat /tmp/said
		[ -e "$DEVICES/$PMU/caps/branches" ] || skip "there are no branch records"
		return 1
	}
	perf annotate --stdio2 --objdump "$(ls /usr/bin/*-objdump)" -i "$data" -s spin_70_percent \
		>/tmp/out 2>/tmp/said
	# Debian's perf 6.1 crashes here, also with the built-in driver's records.
	[ $? -ne 139 ] || ! perf --version | grep -q ' 6\.1\.' || skip "perf annotate of 6.1 crashes"
	[ -s /tmp/out ] || { cat /tmp/said; return 1; }
	head -n 30 /tmp/out
	expect_says "the head" 'IPC' "$(cat /tmp/out)" || return 1
	# AMD's records have no cycles.
	[ "$VENDOR" = amd ] || expect_says "the loop" " $LOOP_IPC " "$(cat /tmp/out)"
}

# All precise samples of a function with a loop are in the loop, two cycles of three at its jump.
# Lines have percent, separator, address and instruction.
annotate_precise()
{
	[ "$VENDOR" = intel ] || skip "precise samples are those of another PMU"
	need_extra max_precise
	perf record -c 95339 -o "$data" -e "$PMU/$CYCLES/upp" workload >/tmp/said 2>&1 || {
		cat /tmp/said
		return 1
	}
	perf annotate --stdio --objdump "$(ls /usr/bin/*-objdump)" -i "$data" -s spin_70_percent \
		>/tmp/out 2>/tmp/said
	awk '$1 ~ /^[0-9]+\.[0-9]+$/ && $3 ~ /^[0-9a-f]+:$/ {
		all += $1
		if ($4 ~ /^j/) jump += $1
		if ($4 ~ /^(j|sub|dec|add|cmp|test)/) loop += $1
	} END { print int(jump), int(loop), int(all + 0.5) }' /tmp/out >/tmp/shares
	read -r jump loop all </tmp/shares
	expect_range "percent at the jump" 60 72 "$jump" &&
		expect_range "percent in the loop" 98 100 "$loop" &&
		expect_range "percent in all" 99 101 "$all" || { head -n 40 /tmp/out /tmp/said; return 1; }
}

plan 2
check "perf annotate of a loop" annotate_ipc
check "perf annotate of precise samples: in the loop, most at its jump" annotate_precise
rm -f "$data" "$data.old" /tmp/out /tmp/said /tmp/shares
finish
