#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's tests of BPF programs at hardware events, tools/testing/selftests/bpf, of the same
# version.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
cd /usr/lib/selftests-bpf || exit

# perf_branches checks only the first sample, which has no user branch if the CPU was idle: one
# time in five. So the test may try five times.
passes()
{
	tries=1
	[ "$1" != perf_branches ] || tries=5
	while
		timeout 300 ./test_progs -v -t "$1" >/tmp/said 2>&1
		status=$?
		tries=$((tries - 1))
		[ $status -ne 0 ] && [ $tries -gt 0 ]
	do
		:
	done
	if [ $status -eq 0 ]; then
		! grep -q "^#[0-9]* *$1:SKIP" /tmp/said || skip "it says so itself"
	else
		cat /tmp/said
	fi
	expect_equal "its status" 0 $status
}

plan "$(wc -l <list)"
while read -r test; do
	check "$test" passes "$test"
done <list
finish
