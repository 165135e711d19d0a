#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# atop: instructions and cycles of each CPU and of all, in each interval.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
# In a virtual machine atop does not open events by itself.
echo 'perfevents enable' >/etc/atoprc

# The first interval starts at boot and has no counts.
recorded()
{
	timeout 120 atop -P CPU,cpu 1 5 >/tmp/said 2>&1 &
	atop=$!
	sleep 2
	ROUNDS=5000 workload
	wait $atop
	expect_equal "its status" 0 $? || { cat /tmp/said; return 1; }
	expect_equal "lines of all CPUs" 5 "$(grep -c '^CPU ' /tmp/said)" ||
		{ cat /tmp/said; return 1; }
}

# counted KIND BACK LOWEST HIGHEST: expect all intervals' counts in lines of this kind to be in a
# range; BACK is the column, counted from the last.
counted()
{
	sum=$(awk -v kind="$1" -v back="$2" '$1 == kind { sum += $(NF - back) }
		END { printf "%.0f\n", sum }' /tmp/said)
	echo "# $1: $sum" >&3
	expect_range "$1" "$3" "$4" "$sum" || { cat /tmp/said; return 1; }
}

both() { counted CPU "$@" && counted cpu "$@"; }

exec 3>&1
plan 4
check "it has five intervals" recorded
check "instructions: those of the workload and little more" both 1 200000000 300000000
check "cycles" both 0 200000000 500000000
check "the PMU counts when it has ended" still_counts
finish
