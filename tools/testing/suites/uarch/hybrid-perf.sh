#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# hybrid-perf - the perf tool on CPUs of two types, and CPUs that come online
#
# CPU 0 is a core, CPU 1 an atom. The module is loaded at the start, and loaded again.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

core=${PMU}_core
atom=${PMU}_atom
parameters="name=$PMU"
[ "$PMU" != cpu ] || parameters=standin=1

cpus_of()
{
	cat "$DEVICES/$1/cpus" 2>/dev/null
}

# load CPUS_OF_THE_CORES CPUS_OF_THE_ATOMS
load()
{
	# shellcheck disable=SC2086 # words of a command line
	insmod "$MODULE" $parameters || return 1
	expect_equal "CPUs of $core" "$1" "$(cpus_of "$core")" &&
		expect_equal "CPUs of $atom" "$2" "$(cpus_of "$atom")"
}

online()
{
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online"
}

listed()
{
	perf list pmu >/tmp/list 2>/dev/null
	# perf 7 prints one line per PMU.
	for pmu in $core $atom; do
		expect_says "perf list pmu" "$pmu/(cpu-)?cycles/|Unit: $pmu\\]" "$(cat /tmp/list)" ||
			return 1
	done
	if [ "$PMU" = cpu ]; then
		expect_equal "type of the cores" 4 "$(cat "$DEVICES/$core/type")"
	else
		expect_not "type of the cores" '^4$' "$(cat "$DEVICES/$core/type")"
	fi
}

# Each CPU type counts, on its own line.
stat_all()
{
	perf stat -a -x, -o /tmp/out -e "instructions,$core/$CYCLES/,$atom/$CYCLES/" \
		sh -c 'taskset -c 0 workload; taskset -c 1 workload' || return 1
	all_counted /tmp/out || return 1
	for event in $core/$CYCLES/ $atom/$CYCLES/; do
		expect_says "perf stat -a" ",$event," "$(cat /tmp/out)" || return 1
	done
	# perf 6.1 knows CPU types only by the built-in driver's names: it opens one event for all
	# CPUs.
	if grep -q ',instructions,' /tmp/out; then
		expect_range "instructions" 75000000 1000000000 \
			"$(awk -F, '$3 == "instructions" { print $1 }' /tmp/out)"
		return
	fi
	for event in $core/instructions/ $atom/instructions/; do
		expect_says "perf stat -a" ",$event," "$(cat /tmp/out)" || return 1
	done
}

record_all()
{
	perf record -a -c 100003 -o /tmp/perf.data -e "$core/$INSTRUCTIONS/u,$atom/$INSTRUCTIONS/u" \
		sh -c 'taskset -c 0 workload; taskset -c 1 workload' >/tmp/out 2>&1 ||
		{ cat /tmp/out; return 1; }
	perf script -i /tmp/perf.data -F cpu,event 2>/dev/null | sort | uniq -c >/tmp/seen
	expect_says "samples" "\[000\] +$core/" "$(cat /tmp/seen)" &&
		expect_says "samples" "\[001\] +$atom/" "$(cat /tmp/seen)" &&
		expect_not "samples" "\[000\] +$atom|\[001\] +$core" "$(cat /tmp/seen)"
}

# A CPU type without an online CPU at load has no PMU.
one_kind_online()
{
	rmmod corepmu && online 1 0 || return 1
	dmesg_mark one
	load 0 '' || return 1
	online 1 1 || return 1
	expect_says "the kernel's log" '^corepmu: CPU1 has a CPU type of which no CPU was online' \
		"$(dmesg_since one)" || return 1
	# Instructions of taskset and perf on the first CPU may be included.
	perf stat --no-scale -x, -o /tmp/out -e "$core/$INSTRUCTIONS/u" taskset -c 1 workload
	expect_says "a task's instructions there" '^(<not counted>|[0-9]{1,6})$' \
		"$(counted "$INSTRUCTIONS")"
}

# A CPU that goes offline and comes back has its type as before.
both_again()
{
	rmmod corepmu && load 0 1 && online 1 0 && online 1 1 || return 1
	expect_equal "CPUs of $atom" 1 "$(cpus_of "$atom")" || return 1
	perf stat -C 1 -x, -o /tmp/out -e "$atom/$INSTRUCTIONS/" taskset -c 1 workload || return 1
	all_counted /tmp/out
}

plan 6
check "perf list has the events of both CPU types" listed
check "perf stat -a counts both CPU types" stat_all
check "perf record -a samples each CPU type on its CPUs" record_all
check "a CPU whose type was not online at load has no PMU, and the log says so" one_kind_online
check "after a second load a CPU that was offline counts" both_again
check "the kernel logs no warning" no_kernel_warning
finish
