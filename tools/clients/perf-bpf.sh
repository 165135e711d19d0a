#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf reads counters from BPF programs, if it was built with them (Debian's 6.12 was not), and
# counts control groups.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
export ROUNDS=1000

bpf_counters()
{
	perf stat --bpf-counters -x, -o /tmp/out -e instructions:u,cycles:u workload >/tmp/said 2>&1 || {
		cat /tmp/said
		grep -qiE 'unknown option|not.*(supported|built)' /tmp/said && skip "this perf has no BPF counters"
		return 1
	}
	expect_range "instructions" 40000000 60000000 "$(awk -F, '/instructions/ { print $1 }' /tmp/out)"
}

# Two tasks, one in the control group and one outside, start after perf has enabled its events, and
# alternate. With Linux 6.12.117 and either driver, such an event has no time, and is "not
# counted", until the CPU has switched from one control group to another.
in_turns()
{
	mkdir -p /sys/fs/cgroup/counted
	perf stat -a -x, -o /tmp/out -e instructions:u "$@" sh -c '
		sh -c "echo 0 >/sys/fs/cgroup/counted/cgroup.procs; exec workload" &
		workload
		wait' >/tmp/said 2>&1 || { cat /tmp/said; return 1; }
}

# The count includes the tasks of the control group, and no others.
control_group()
{
	in_turns -G counted &&
		expect_range "instructions" 40000000 60000000 "$(awk -F, '/instructions/ { print $1 }' /tmp/out)"
}

for_each_cgroup()
{
	in_turns --for-each-cgroup counted,/ || return 1
	expect_equal "lines" 2 "$(grep -c instructions /tmp/out)" &&
		expect_range "of the control group" 40000000 60000000 \
			"$(awk -F, '$4 == "counted" { print $1 }' /tmp/out)" &&
		expect_range "of the root" 80000000 200000000 \
			"$(awk -F, '$4 == "/" { print $1 }' /tmp/out)"
}

plan 3
check "perf stat --bpf-counters" bpf_counters
check "perf stat -G: a control group" control_group
check "perf stat --for-each-cgroup" for_each_cgroup
finish
