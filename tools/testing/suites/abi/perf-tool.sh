#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf-tool - the perf tool on the PMU, as users run it
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

data=/tmp/perf.data

# 12 million instructions are enough to count, but too few for shares at the default rate.
whole=5000
export ROUNDS=300

# The number of instructions events that fit together with one cycles event. x86: six counters, or
# four general and two dedicated.
homes=6
[ "$VENDOR" = arm ] || homes=5
full=$(i=0; while [ $i -lt $homes ]; do printf ",%s" "$PMU/$INSTRUCTIONS/u"; i=$((i + 1)); done)

cleanup()
{
	rm -f "$data" "$data.old" /tmp/out
}

stat_plain()
{
	said=$(perf stat workload 2>&1) || { echo "$said"; return 1; }
	expect_says "cycles" '^ +[1-9][0-9,]+ +(cpu-)?cycles' "$said" &&
		expect_says "instructions" '^ +[1-9][0-9,]+ +instructions' "$said" &&
		expect_not "cycles and instructions" '<not.* (cycles|instructions)' "$said"
}

# Only the PMU under test may have counted.
stat_is_ours()
{
	generic=$(stat_count instructions:u workload)
	ours=$(stat_count "$PMU/$INSTRUCTIONS/u" workload)
	expect_range "instructions" 1000000 10000000000 "$ours" &&
		expect_range "generic instructions" $((ours - 2000)) $((ours + 2000)) "$generic"
}

stat_group()
{
	group=$PMU/$INSTRUCTIONS/u,$PMU/$CYCLES/u
	[ "$VENDOR" = arm ] || group=$group,$PMU/branch-instructions/u
	perf stat -x, -o /tmp/out -e "{$group}" workload || return 1
	# QEMU counts one cycle per instruction; the virtual PMU of x86 adds one per branch.
	a=$(counted "$INSTRUCTIONS")
	b=$(counted "$CYCLES")
	expect_range "instructions" 1000000 10000000000 "$a" || return 1
	[ "$VENDOR" = arm ] || a=$((a + $(counted branch-instructions)))
	expect_equal "cycles in the same group" "$a" "$b"
}

stat_repeat()
{
	perf stat -r 3 -x, -o /tmp/out -e "$PMU/$INSTRUCTIONS/u,$PMU/$CYCLES/u" workload || return 1
	expect_says "variance" '0\.0[0-9]%' "$(cat /tmp/out)" && all_counted /tmp/out
}

stat_full_group()
{
	perf stat -x, -o /tmp/out -e "{$PMU/$CYCLES/u$full}" workload || return 1
	all_counted /tmp/out &&
		expect_equal "counts of one kind" 1 \
			"$(counted "$INSTRUCTIONS" | sort -u | wc -l)"
}

# With :W perf splits a group that does not fit.
stat_weak_group()
{
	perf stat -x, -o /tmp/out -e "{$PMU/$CYCLES/u$full,$PMU/$INSTRUCTIONS/u}:W" \
		sh -c 'workload; workload; workload' || return 1
	all_counted /tmp/out &&
		expect_equal "events" $((homes + 2)) "$(grep -c "$PMU" /tmp/out)"
}

stat_multiplex()
{
	i=$PMU/$INSTRUCTIONS/u
	perf stat -o /tmp/out -e "$i,$i,$i,$i,$i,$i,$i,$i" sh -c 'workload; workload; workload' || return 1
	expect_says "share of the time" '\([ 0-9.]*%\)' "$(cat /tmp/out)" &&
		expect_not "counts" "(<not|  [0-9]{1,3}(,[0-9]{3})?) .*$INSTRUCTIONS" "$(cat /tmp/out)"
}

stat_children()
{
	one=$(stat_count "$PMU/$INSTRUCTIONS/u" sh -c 'workload')
	two=$(stat_count "$PMU/$INSTRUCTIONS/u" sh -c 'workload; workload')
	expect_range "instructions of a child" 1000000 10000000000 "$one" || return 1
	expect_range "instructions of two children" $((one * 19 / 10)) $((one * 21 / 10)) "$two"
}

stat_modes()
{
	perf stat -x, -o /tmp/out -e "{$PMU/$INSTRUCTIONS/,$PMU/$INSTRUCTIONS/u,$PMU/$INSTRUCTIONS/k}" \
		workload || return 1
	# shellcheck disable=SC2046 # three numbers
	set -- $(awk -F, "/$INSTRUCTIONS/"' { print $1 }' /tmp/out)
	expect_equal "lines" 3 $# && expect_range "the kernel's" 1 "$1" "$3" &&
		expect_equal "the user's and the kernel's" "$1" $(($2 + $3))
}

stat_system()
{
	perf stat -a -x, -o /tmp/out -e "$PMU/$CYCLES/" workload || return 1
	expect_range "cycles" 1000000 100000000000 "$(counted "$CYCLES")"
}

stat_per_cpu()
{
	perf stat -a -A -o /tmp/out -e "$PMU/$CYCLES/" workload || return 1
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		expect_says "a line per CPU" "^CPU$cpu +[1-9]" "$(cat /tmp/out)" || return 1
	done
}

stat_one_cpu()
{
	perf stat -C 0 -x, -o /tmp/out -e "$PMU/$CYCLES/" workload || return 1
	expect_range "cycles" 1 100000000000 "$(counted "$CYCLES")"
}

stat_interval()
{
	# Three times 40 million instructions last for enough intervals.
	ROUNDS=1000 perf stat -I 20 -x, -o /tmp/out -e "$PMU/$CYCLES/u" \
		sh -c 'workload; workload; workload' || return 1
	expect_range "intervals" 3 1000 "$(grep -c "$CYCLES" /tmp/out)" &&
		# The last interval may have started after the program's end.
		expect_not "counts" ',(<not|0,)' "$(sed '$d' /tmp/out)"
}

stat_pid()
{
	sh -c 'while :; do workload; done' &
	pid=$!
	perf stat -p "$pid" -x, -o /tmp/out -e "$PMU/$INSTRUCTIONS/u" sleep 0.2
	status=$?
	kill "$pid"
	wait "$pid" 2>/dev/null
	[ "$status" -eq 0 ] &&
		expect_range "instructions" 1 100000000000 "$(counted "$INSTRUCTIONS")"
}

# perf report shows the expected share of each function.
report_shares()
{
	said=$(perf report --stdio -i "$data" --sort symbol 2>/dev/null)
	for share in 70 20 10; do
		percent=$(echo "$said" | awk -v s="spin_${share}_percent" \
			'$3 == s { sub(/%.*/, "", $1); printf "%d\n", $1 + 0.5; exit }')
		expect_range "percent of spin_${share}_percent" $((share - 4)) $((share + 4)) "$percent" ||
			{
				echo "$said" | head -n 30
				echo "samples a second: $(cat /proc/sys/kernel/perf_event_max_sample_rate)"
				return 1
			}
	done
}

record_plain()
{
	ROUNDS=$whole "$STOCK_PERF" record -o "$data" workload >/tmp/out 2>&1 || {
		cat /tmp/out
		return 1
	}
	report_shares
}

# record_period EVENT: compare the number of samples with the count of perf stat
record_period()
{
	perf_to record -o "$data" -e "$PMU/$1/u" -c 95339 workload || return 1
	samples=$(perf script -i "$data" -F ip 2>/dev/null | wc -l)
	count=$(stat_count "$PMU/$1/u" workload)
	expect_range "samples" $((count / 95339 - 1)) $((count / 95339 + 1)) "$samples" &&
		report_shares
}

record_graph()
{
	perf_to record -g -o "$data" -e "$PMU/$CYCLES/u" workload || return 1
	said=$(perf script -i "$data" 2>/dev/null)
	expect_says "a call chain's function" spin_70_percent "$said" &&
		expect_says "a call chain's caller" ' main\+' "$said"
}

record_group()
{
	perf_to record -o "$data" -e "{$PMU/$CYCLES/u,$PMU/$INSTRUCTIONS/u}:S" -c 200000 workload ||
		return 1
	expect_says "perf report" 'spin_70_percent' "$(perf report --stdio -i "$data" 2>/dev/null)"
}

record_system()
{
	ROUNDS=1000
	perf_to record -a -F 2000 -o "$data" -e "$PMU/$CYCLES/" workload || return 1
	expect_range "samples" 20 100000 "$(perf script -i "$data" -F ip 2>/dev/null | wc -l)" &&
		expect_says "perf report" 'spin_70_percent' "$(perf report --stdio -i "$data" 2>/dev/null)"
}

record_kernel()
{
	kernel_symbols shown
	perf_to record -o "$data" -e "$PMU/$CYCLES/k" -c 50000 sh -c 'ls -lR /sys/class >/dev/null'
	status=$?
	# One command for all: each perf report reads the kernel's symbols first.
	said=$(perf report --stdio -n -i "$data" --sort symbol 2>/dev/null)
	kernel_symbols hidden
	[ "$status" -eq 0 ] &&
		expect_range "samples" 20 1000000 "$(echo "$said" | awk '/%/ { n += $2 } END { print n + 0 }')" &&
		expect_says "perf report" '\[k\] [a-z_]+' "$said"
}

report_header()
{
	perf_to record -o "$data" workload || return 1
	expect_says "perf report --header-only" "cpudesc|nrcpus online" \
		"$(perf report --header-only --stdio -i "$data" 2>/dev/null)"
}

record_branches()
{
	said=$(perf_to record -b -o "$data" -e "$PMU/$CYCLES/u" workload) &&
		{ echo "$said"; return 1; }
	expect_says "what perf record -b says" 'not support|failed|Error' "$said"
}

top_bounded()
{
	# With pauses, in which perf top has the CPU for itself
	sh -c 'while :; do workload; sleep 0.4; done' &
	pid=$!
	: >/tmp/out
	# shellcheck disable=SC2094 # it is looked at while it grows
	(
		for _ in $(seq 30); do
			sleep 1
			grep -q spin_70_percent /tmp/out && break
		done
		echo q
	) | timeout 60 perf top -e cycles:u --stdio -d 1 >/tmp/out 2>&1
	kill "$pid"
	wait "$pid" 2>/dev/null
	expect_says "perf top" 'spin_70_percent' "$(cat /tmp/out)"
}

# With corepmu_test.perf=short, run only the tests that depend on the PMU's name: perf stat, and
# perf record of the workload.
long=1
! grep -q 'corepmu_test\.perf=short' /proc/cmdline || long=

plan $((${long:+7} + 18))
check "perf stat counts cycles and instructions" stat_plain
check "perf stat's cycles and instructions are this PMU's" stat_is_ours
check "perf stat, a group" stat_group
check "perf stat -r 3" stat_repeat
check "perf stat, a group that fills the counters" stat_full_group
check "perf stat, a weak group that does not fit" stat_weak_group
check "perf stat, more events than counters" stat_multiplex
check "perf stat, children" stat_children
check "perf stat, user, kernel and both" stat_modes
check "perf stat -a" stat_system
check "perf stat -a -A" stat_per_cpu
check "perf stat -C 0" stat_one_cpu
check "perf stat -I" stat_interval
check "perf stat -p" stat_pid
check "perf record and report" record_plain
check "perf record -c, cycles" record_period "$CYCLES"
check "perf record -c, instructions" record_period "$INSTRUCTIONS"
if [ -n "$long" ]; then
	check "perf record -g" record_graph
	check "perf record, a group's leader samples" record_group
	check "perf record -a" record_system
	check "perf record, the kernel" record_kernel
	check "perf report --header-only" report_header
	check "perf record -b is refused" record_branches
	check "perf top" top_bounded
fi
cleanup
check_references
finish
