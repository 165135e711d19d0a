#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# branch-perf - the perf tool with branch records, as users run it
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

# perf looks for a disassembler by this name; the client perf-annotate provides one.
for objdump in /usr/bin/*-objdump; do
	[ ! -x "$objdump" ] || ln -sf "$objdump" /tmp/bin/objdump
done

data=/tmp/perf.data
# Each sample has up to 64 records to print.
export ROUNDS=300

# Debian's perf 6.1 for x86 crashes when it looks up instructions for cycles, also with the
# built-in driver's records.
crashes()
{
	[ "$1" -eq 139 ] && perf --version | grep -q ' 6\.1\.'
}

# report COLUMNS: print perf report's columns of the records; skip the test if perf cannot
report()
{
	status=0
	said=$(perf report --stdio -i "$data" --sort "$1" 2>/dev/null) || status=$?
	! crashes "$status" || skip "perf report of 6.1 crashes"
}

record_branches()
{
	perf_to record -b -c 95339 -o "$data" -e "$PMU/$CYCLES/u" workload || return 1
	said=$(perf script -i "$data" -F brstack 2>/dev/null)
	expect_says "perf script" '0x[0-9a-f]+/0x[0-9a-f]+/[PM]/' "$said" || return 1
	report symbol_from,symbol_to,mispredict
	expect_says "perf report" 'spin_70_percent.*spin_70_percent' "$said"
}

# On a virtual PMU a loop of two instructions takes two cycles, and one more for its branch.
report_cycles()
{
	report symbol_from,symbol_to,mispredict,cycles
	echo "$said" | head -n 20
	expect_says "perf report" "spin_70_percent.*spin_70_percent +N +$LOOP_CYCLES " "$said"
}

script_symbols()
{
	said=$(perf script -i "$data" -F brstacksym 2>/dev/null)
	expect_says "perf script" 'spin_70_percent\+0x[0-9a-f]+/spin_70_percent\+0x[0-9a-f]+/[PM]/' \
		"$said"
}

report_history()
{
	said=$(perf report --stdio -i "$data" --branch-history --no-children 2>/dev/null)
	expect_says "perf report --branch-history" 'spin_70_percent' "$said"
}

# As perf record -b: branches of user space
record_user()
{
	perf_to record -j any,u -c 95339 -o "$data" -e "$PMU/$CYCLES/u" workload || return 1
	said=$(perf script -i "$data" -F brstacksym 2>/dev/null)
	expect_says "perf script" 'spin_70_percent\+0x[0-9a-f]+/spin_70_percent\+0x[0-9a-f]+/[PM]/' \
		"$said" &&
		expect_not "perf script" '/0xffff' "$said"
}

# A call's target is the start of a function.
any_calls()
{
	perf_to record -j any_call,u -c 95339 -o "$data" -e "$PMU/$CYCLES/u" workload || return 1
	said=$(perf script -i "$data" -F brstacksym 2>/dev/null)
	expect_says "perf script" 'spin_once\+0x[0-9a-f]+/spin_70_percent\+0x0/' "$said" &&
		expect_not "perf script" '/spin_[a-z0-9_]*\+0x[1-9a-f][0-9a-f]*/[PM]/' "$said"
}

# Conditional branches only, and user space only
record_kinds()
{
	perf_to record -j cond,u,save_type -c 95339 -o "$data" -e "$PMU/$CYCLES/u" workload ||
		return 1
	said=$(perf script -i "$data" -F brstack 2>/dev/null)
	# perf of Linux 6.1 prints the type at the end of a record.
	expect_says "perf script" '/COND(/| |$)' "$said" &&
		expect_not "perf script" '/(CALL|RET|UNCOND)(/| |$)' "$said"
}

# The workload has no frame pointers: only the records show its callers.
record_calls()
{
	perf_to record --call-graph lbr -c 95339 -o "$data" -e "$PMU/$CYCLES/u" workload || return 1
	perf script -i "$data" -F ip,sym >/tmp/out 2>/dev/null
	chains=$(awk 'BEGIN { RS = "" }
		{ n++; if ($0 ~ /spin_70_percent\n.*spin_once\n.*main\n/ ||
			$0 ~ /spin_20_percent\n.*spin_once\n.*main\n/ ||
			$0 ~ /spin_10_percent\n.*spin_once\n.*main\n/) right++ }
		END { print n ? int(right * 100 / n) : 0 }' /tmp/out)
	expect_range "percent of samples with the right callers" 95 100 "$chains" ||
		{ head -n 30 /tmp/out; return 1; }
}

calls_refused()
{
	said=$(perf_to record --call-graph lbr -o "$data" -e "$PMU/$CYCLES/u" workload) &&
		{ echo "$said"; return 1; }
	expect_says "what perf record says" 'not support|failed|Error' "$said"
}

# Cycles of the workload's loop; the records of AMD and of Haswell have no cycles.
LOOP_CYCLES=3
if [ "$VENDOR" = amd ] || grep -q 'Haswell' /proc/cpuinfo; then
	LOOP_CYCLES=-
fi

plan 9
check "perf record -b, by symbol and as a list" record_branches
check "perf report --branch-history" report_history
check "perf report --sort symbol_from,symbol_to,mispredict,cycles" report_cycles
check "perf script -F brstacksym" script_symbols
check "perf record -j any,u" record_user
check "perf record -j any_call,u" any_calls
check "perf record -j cond" record_kinds
if [ "$VENDOR" = intel ]; then
	check "perf record --call-graph lbr" record_calls
else
	check "perf record --call-graph lbr is refused" calls_refused
fi
rm -f "$data" "$data.old" /tmp/out
check_references
finish
