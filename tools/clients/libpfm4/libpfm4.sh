#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# libpfm4's examples: they open events by libpfm4's names for this CPU or the kernel's names,
# count, sample, take signals and execute RDPMC.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
export ROUNDS=1000
PATH=/usr/lib/libpfm4:$PATH

case $VENDOR in
intel) names=INST_RETIRED:ANY_P:u,BR_INST_RETIRED:CONDITIONAL:u ;;
amd) names=RETIRED_INSTRUCTIONS:u,RETIRED_CONDITIONAL_BRANCH_INSTRUCTIONS:u ;;
*) names= ;;
esac

# said COMMAND...: run a command with its output in /tmp/said; print the log if it fails
said()
{
	timeout 600 "$@" >/tmp/said 2>&1 && return 0
	echo "status $? of $*"
	tail -n 20 /tmp/said
	return 1
}

# count_of EVENT LOWEST HIGHEST: expect the count of an event in /tmp/said to be in a range
count_of()
{
	expect_range "$1" "$2" "$3" "$(awk -v event="$1" '{
		for (i = 1; i <= NF; i++) if ($i == event) { print $(i - 1); exit } }' /tmp/said)"
}

# samples LOWEST HIGHEST: expect the number of samples in /tmp/said to be in a range
samples()
{
	count=$(sed -n 's/^\([0-9]*\) samples collected.*/\1/p' /tmp/said)
	expect_range "samples" "$1" "$2" "$count"
}

basic()
{
	said self_basic && expect_says "its count" '[1-9][0-9]{5,}' "$(cat /tmp/said)"
}

# RDPMC: the example prints the difference each time it has computed the same Fibonacci number. It
# ends after ten seconds; a slow machine prints only the first line.
mapped()
{
	said self_count instructions:u && expect_not "how it reads" 'using read' "$(cat /tmp/said)" &&
		expect_says "the width" 'width=(32|40|48|64) ' "$(cat /tmp/said)" || return 1
	count=$(awk '$2 == "instructions:u" { n = $1; if (nr++ == 1) print n }' /tmp/said)
	[ -z "$count" ] ||
		expect_range "instructions of the second line" 10000000 10000000000 "$count"
}

counted()
{
	said task -e cycles:u,instructions:u workload &&
		count_of cycles:u 40000000 100000000 && count_of instructions:u 40000000 50000000
}

named()
{
	[ -n "$names" ] || skip "libpfm4 does not know this CPU model"
	said task -e "$names" workload && count_of "${names%,*}" 40000000 50000000 &&
		count_of "${names#*,}" 19000000 30000000
}

inherited()
{
	said task -i -e instructions:u sh -c 'workload; workload' &&
		count_of instructions:u 80000000 110000000
}

# More events than counters: perf core rotates them.
multiplexed()
{
	set --
	for _ in 1 2 3 4 5 6; do
		set -- "$@" -e instructions:u,branches:u
	done
	said task "$@" workload && count_of instructions:u 20000000 80000000
}

sampled()
{
	said task_smpl -e instructions:u:period=100003 workload && samples 395 500
}

on_each_cpu()
{
	said task_cpu -e instructions:u workload && expect_says "counts of CPUs" 'CPU0 .* instructions:u' "$(cat /tmp/said)"
}

whole_system()
{
	yes >/dev/null &
	said syst_count -d 1 -e instructions:u,cycles:u
	status=$?
	kill $!
	[ $status -eq 0 ] || return 1
	sum=$(awk '{ for (i = 1; i <= NF; i++) if ($i == "instructions:u") n += $(i - 1) } END { printf "%d", n }' /tmp/said)
	expect_range "instructions of all CPUs" 1000000 1000000000000 "$sum"
}

whole_cpu_sampled()
{
	taskset 2 yes >/dev/null &
	said syst_smpl -c 1 -d 1 -e instructions:u:period=1000003
	status=$?
	kill $!
	[ $status -eq 0 ] && samples 2 100000
}

ping_pong()
{
	said self_pipe -d 2 && count_of instructions:u 1000 100000000000
}

threads()
{
	said self_smpl_multi -f -t 5 -n 3 -p 100003 &&
		expect_equal "threads without a signal of another's" 3 "$(grep -c 'total = *[1-9].*mismatch = 0' /tmp/said)"
}

if short; then
	plan 3
	check "task: events by the CPU's own names" named
	check "task -i: of a program's children" inherited
	check "task_smpl: every 100003 instructions" sampled
	finish
fi
plan 12
check "self_basic: one event of its own" basic
check "self_count: reads by RDPMC" mapped
check "task: cycles and instructions of a program" counted
check "task: events by the CPU's own names" named
check "task -i: of a program's children" inherited
check "task: more events than counters" multiplexed
check "task_smpl: every 100003 instructions" sampled
check "task_cpu: by CPU" on_each_cpu
check "syst_count: of all CPUs" whole_system
check "syst_smpl: samples of a CPU" whole_cpu_sampled
check "self_pipe: two processes that take turns" ping_pong
check "self_smpl_multi: three threads, signals of each" threads
finish
