#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# trinity, as a user without privileges: system calls with random arguments. It knows
# perf_event_open()'s arguments and the PMUs in sysfs. run-guest checks the kernel's log.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
mkdir -m 777 /tmp/trinity

# The kernel counts the successful calls.
opens=/sys/kernel/tracing/events/syscalls/sys_exit_perf_event_open
echo 'hist:keys=ret if ret >= 0' >$opens/trigger

hits()
{
	sed -n 's/^ *Hits: //p' "$opens/hist"
}

# fuzzed SECONDS OPTION...: run trinity until the time is over; it may end before
fuzzed()
{
	seconds=$1
	shift
	before=$(hits)
	cd /tmp/trinity || return
	# A child of trinity may stop or kill any process of the user, including its parent.
	end=$(($(cut -d. -f1 /proc/uptime) + seconds))
	runs=0
	while left=$((end - $(cut -d. -f1 /proc/uptime))) && [ $left -gt 0 ]; do
		su user -c "exec timeout -s KILL $left trinity -q -l off -C 4 $*" >/tmp/said 2>&1
		runs=$((runs + 1))
		# Kill the processes that are left.
		for process in $(ps -o pid,user | awk '$2 == "user" { print $1 }'); do
			kill -9 "$process" 2>/dev/null
		done
	done
	opened=$(($(hits) - before))
	echo "# $runs runs, $opened events opened" >&3
	# trinity sometimes ends by itself; a run that only starts takes less than a second.
	expect_range "events opened" 1 1000000000 "$opened" &&
		expect_range "runs" 1 "$seconds" "$runs" || { cat /tmp/said; return 1; }
}

exec 3>&1
plan 3
check "perf_event_open(2) and what is done with its files" fuzzed 300 \
	-c perf_event_open -c ioctl -c mmap -c munmap -c read -c prctl -c close -c dup -c fork
# With an old option of mount(2) the kernel warns, which does not concern a PMU but would fail the
# guest.
check "all system calls but mount(2)" fuzzed 300 -x mount
check "the PMU counts" still_counts
finish
