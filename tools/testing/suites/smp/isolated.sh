#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# isolated - count and sample on a CPU without a tick, to which the scheduler moves no other task
#
# For guests whose last CPU is in nohz_full= and isolcpus= of the command line.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

cpu=$(cat /sys/devices/system/cpu/nohz_full)

# here COMMAND...: run on the isolated CPU
here() { taskset -c "$cpu" "$@"; }

is_isolated()
{
	expect_says "CPUs without a tick" '^[1-9]$' "$cpu" &&
		expect_equal "isolated CPUs" "$cpu" "$(cat /sys/devices/system/cpu/isolated)"
}

tasks_pass()
{
	said=$(here /corepmu/tests/validate)
	expect_equal "the validator's status" 0 $? && expect_not "the validator" '^not ok' "$said" &&
		expect_says "the validator" '^ok 10 ' "$said"
}

# Only the workload executes user code on that CPU.
cpu_counts()
{
	task=$(stat_count "$PMU/$INSTRUCTIONS/u" taskset -c "$cpu" workload)
	perf stat -C "$cpu" -x, -o /tmp/out -e "$PMU/$INSTRUCTIONS/u" taskset -c "$cpu" workload || return 1
	expect_range "instructions of the task" 1000000 10000000000 "$task" &&
		expect_range "instructions of the CPU" $((task * 9 / 10)) $((task * 11 / 10)) \
			"$(counted "$INSTRUCTIONS")"
}

# record OPTION...: perf record on the CPU while the workload runs
record()
{
	perf record -C "$cpu" -o /tmp/perf.data -e "$PMU/$INSTRUCTIONS/u" "$@" taskset -c "$cpu" workload \
		>/dev/null 2>&1
}

samples() { perf script -i /tmp/perf.data -F "${1:-ip}" 2>/dev/null; }

period_samples()
{
	periods=$(($(stat_count "$PMU/$INSTRUCTIONS/u" taskset -c "$cpu" workload) / 1000003))
	record -c 1000003 || return 1
	expect_range "samples" $((periods * 9 / 10)) $((periods * 11 / 10)) "$(samples | wc -l)"
}

# Perf core keeps the tick on for an event with a frequency, or one that is throttled.
frequency_adapts()
{
	record -F 200 || return 1
	expect_range "different periods" 3 1000000 "$(samples period | sort -u | wc -l)"
}

throttled_goes_on()
{
	sample_rate 1000
	record -c 5003
	status=$?
	sample_rate 100000
	[ $status -eq 0 ] || return 1
	said=$(perf report -D -i /tmp/perf.data 2>/dev/null | grep -oE 'PERF_RECORD_(UN)?THROTTLE')
	throttled=$(echo "$said" | grep -c 'RECORD_THROTTLE')
	expect_range "times throttled" 2 1000000 "$throttled" &&
		expect_range "times unthrottled" $((throttled - 1)) "$throttled" \
			"$(echo "$said" | grep -c 'UNTHROTTLE')"
}

plan 7
check "the last CPU has no tick and is isolated" is_isolated
check "the validator's checks of tasks pass there" tasks_pass
check "events of the CPU count" cpu_counts
check "events of the CPU sample by a period" period_samples
check "a frequency adapts its period" frequency_adapts
check "a throttled event goes on" throttled_goes_on
check "the kernel logs no warning" no_kernel_warning
rm -f /tmp/perf.data /tmp/out
finish
