#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tiptop: counts of each task, by events that it attaches to the tasks in /proc.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
export TERM=dumb

# busy_task COMMAND...: run a command beside a task that counts, whose number is $task
busy_task()
{
	ROUNDS=1000000 workload &
	task=$!
	"$@"
	status=$?
	kill $task
	wait $task 2>/dev/null
	return $status
}

# column NAME: print a column of the last line about the task, under the last heading. The heading
# starts with PID; a mark may stand between it and the next one.
column()
{
	awk -v name="$1" -v task="$task" '
	$1 == "PID" { for (i = NF; i; i--) back[$i] = NF - i }
	$1 == task && name in back { value = $(NF - back[name]) }
	END { print value }' /tmp/said
}

counts()
{
	timeout 120 tiptop -b -n 4 -d 1 -p workload "$@" >/tmp/said 2>&1 || { cat /tmp/said; return 1; }
	instructions=$(column Minstr)
	expect_range "millions of instructions" 1 100000 "${instructions%.*}" &&
		cycles=$(column Mcycle) &&
		expect_range "millions of cycles" 1 100000 "${cycles%.*}" ||
		{ cat /tmp/said; return 1; }
}

plan 2
check "instructions and cycles of a task" busy_task counts
check "-K: the kernel's too" busy_task counts -K
finish
