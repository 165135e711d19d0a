#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf reads counters from BPF programs, if it was built with them (Debian's of 6.12 was not),
# and counts for control groups.

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

# A control group of its own: what runs in it is counted, and what does not is not.
control_group()
{
	mkdir -p /sys/fs/cgroup/counted
	sh -c 'echo $$ >/sys/fs/cgroup/counted/cgroup.procs; exec workload' &
	perf stat -a -x, -o /tmp/out -e instructions:u -G counted \
		sh -c 'workload; workload' >/tmp/said 2>&1 || { cat /tmp/said; return 1; }
	wait
	expect_range "instructions" 1 60000000 "$(awk -F, '/instructions/ { print $1 }' /tmp/out)"
}

for_each_cgroup()
{
	mkdir -p /sys/fs/cgroup/counted
	perf stat -a -x, -o /tmp/out -e instructions:u --for-each-cgroup counted,/ workload \
		>/tmp/said 2>&1 || { cat /tmp/said; return 1; }
	expect_equal "lines" 2 "$(grep -c instructions /tmp/out)" &&
		expect_says "of the root" '^[0-9]{8,},,instructions:u' "$(cat /tmp/out)"
}

plan 3
check "perf stat --bpf-counters" bpf_counters
check "perf stat -G: a control group" control_group
check "perf stat --for-each-cgroup" for_each_cgroup
finish
