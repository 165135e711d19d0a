#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# bpftrace runs a BPF program at each overflow of a hardware event, on all CPUs.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
export ROUNDS=1000
workload=/corepmu/workload

# overflows EVENT PERIOD LOWEST HIGHEST: expect the number of times that the probe fires while the
# workload runs
overflows()
{
	said=$(bpftrace -c "$workload" -e "hardware:$1:$2 /comm == \"workload\"/ { @n = count(); }" 2>&1) || {
		echo "$said"
		return 1
	}
	expect_range "$1 overflows" "$3" "$4" "$(echo "$said" | sed -n 's/^@n: //p')"
}

# The probe's instruction pointer is in the workload.
places()
{
	said=$(bpftrace -c "$workload" \
		-e 'hardware:instructions:100003 /comm == "workload"/ { @[ustack(1)] = count(); }' 2>&1) ||
		{ echo "$said"; return 1; }
	expect_says "where" 'spin_70_percent|0x4[0-9a-f]+' "$said"
}

plan 4
check "hardware:instructions:1000003 fires for each period" overflows instructions 1000003 39 60
check "hardware:cycles:1000003" overflows cycles 1000003 39 120
check "hardware:branches:100003" overflows branches 100003 190 300
check "user stacks at overflows" places
finish
