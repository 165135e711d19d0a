#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# faults - overflow interrupts that are lost, late, spurious, or on another CPU
#
# The guest's virtual PMU has the faults. The kernel's command line says which samples to expect:
#   corepmu_test.samples=all   no sample is lost
#   corepmu_test.samples=some  some interrupts do not come
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

samples=$(sed -n 's/.*corepmu_test\.samples=\([a-z]*\).*/\1/p' /proc/cmdline)
event=$PMU/$INSTRUCTIONS/u
period=100003
# Sampling and counting run the same work.
export ROUNDS=1000

# rounds N: print the instructions of N rounds of the workload.
rounds()
{
	ROUNDS=$1 stat_count "$event" workload
}

# Any ten rounds take the same number of instructions if the two numbers of rounds, as text, have
# equal lengths.
counts_are_exact()
{
	ten=$(($(rounds 30) - $(rounds 20)))
	expect_range "instructions of ten rounds" 403800 404800 "$ten" &&
		expect_equal "instructions of ten more" "$ten" $(($(rounds 510) - $(rounds 500))) &&
		expect_equal "instructions of a thousand" $((100 * ten)) \
			$(($(rounds 2000) - $(rounds 1000)))
}

groups_are_exact()
{
	group=$PMU/$INSTRUCTIONS/u
	perf stat -x, -o /tmp/out -e "{$group,$group,$PMU/$CYCLES/u,$group}" workload || return 1
	all_counted /tmp/out &&
		expect_equal "counts of one kind" 1 "$(counted "$INSTRUCTIONS" | sort -u | wc -l)"
}

record()
{
	perf record -o /tmp/perf.data "$@" workload >/dev/null 2>&1 || return 1
	perf script -i /tmp/perf.data -F ip 2>/dev/null | wc -l
}

# Lost samples are the difference of counts and samples; the driver never makes up samples for
# them. After a lost interrupt there may be no samples until the event is switched. If the first
# interrupt is lost, a recording may have none, so make five.
sampled()
{
	count=$(rounds "$ROUNDS")
	if [ "$samples" = all ]; then
		seen=$(record -e "$event" -c "$period") || return 1
		echo "$seen samples of $((count / period))"
		expect_range "samples" $((count / period - 1)) $((count / period + 1)) "$seen"
		return
	fi
	all=0
	for _ in $(seq 5); do
		seen=$(record -e "$event" -c "$period") || return 1
		echo "$seen samples of $((count / period))"
		expect_range "samples" 0 $((count / period - 2)) "$seen" || return 1
		all=$((all + seen))
	done
	expect_range "samples of five recordings" 5 $((5 * count / period)) "$all"
}

sampled_by_frequency()
{
	expect_range "samples" 20 100000 "$(record -F 2000 -e "$PMU/$CYCLES/u")"
}

# Groups, all CPUs, the kernel, and throttled periods must not hang.
no_hang()
{
	ROUNDS=200
	expect_true "samples of a group" \
		record -e "{$PMU/$CYCLES/,$PMU/$INSTRUCTIONS/}:S" -c 50021 &&
		expect_true "samples of the kernel" record -a -e "$PMU/$CYCLES/k" -c 20011 &&
		expect_true "samples of all CPUs" record -a -e "$event" -c 1009 &&
		expect_true "samples of four events" \
			record -e "$event,$event,$PMU/$CYCLES/u,$PMU/$CYCLES/k" -c 30011
}

# The self-test at load may meet the fault and then rightly leaves that counter out: load again
# until it leaves none out. The expected warnings must not reach the console, where a warning fails
# the guest.
load_again()
{
	[ -z "$BUILTIN" ] || skip "the built-in driver stays"
	level=$(cut -f 1 /proc/sys/kernel/printk)
	for load in $(seq 30); do
		rmmod corepmu || return 1
		dmesg_mark "load $load"
		dmesg -n 1
		insmod "$MODULE"
		loaded=$?
		dmesg -n "$level"
		expect_equal "status of a load" 0 $loaded || return 1
		dmesg_since "load $load" | grep -q '^corepmu: .*left out$' || return 0
		expect_says "the kernel's log" '^corepmu: .*has no overflow interrupt .*: left out$' \
			"$(dmesg_since "load $load")" || return 1
	done
	echo "each of thirty loads left counters out"
	return 1
}

case $samples in
all | some) ;;
*)
	echo "Bail out! the command line does not say what becomes of samples"
	exit 1
	;;
esac
plan 9
check "counts are exact" counts_are_exact
check "groups are exact" groups_are_exact
check "samples: $samples" sampled
check "samples by frequency" sampled_by_frequency
check "perf record of groups, the kernel, all CPUs ends" no_hang
check "counts are exact after samples of groups, the kernel, all CPUs" counts_are_exact
check "samples after those of groups, the kernel, all CPUs: $samples" sampled
check "unload and load" load_again
check "counts are exact after unload and load" counts_are_exact
rm -f /tmp/perf.data
finish
