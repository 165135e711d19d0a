#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# gdb and perf probe beside counters: watchpoints and breakpoints stop a task that counts itself;
# probes of the kernel and of a program count at the same time.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
# perf probe looks up functions of the kernel in kallsyms.
echo 0 >/proc/sys/kernel/kptr_restrict
turns=20

# Print the program's own count
own_count()
{
	sed -n 's/^counted //p' /tmp/said
}

alone()
{
	watched >/tmp/said || return 1
	own_count >/tmp/alone
	echo "# alone: $(cat /tmp/alone)" >&3
	expect_range "instructions" 4000000 8100000 "$(cat /tmp/alone)"
}

# stopped_by COMMAND HITS: run the program under gdb. Expect so many stops, and the same count as
# without gdb, except for the instruction at each stop, which is executed again or stepped over.
stopped_by()
{
	printf '%s\n' 'set pagination off' 'set confirm off' "$1" commands silent continue end run \
		'info breakpoints' >/tmp/script
	timeout 20 gdb -nx -q -batch -x /tmp/script /usr/bin/watched >/tmp/said 2>&1
	echo "# $1: $(own_count)" >&3
	# With "watch" gdb would fall back to single steps.
	! grep -qE "^(Can't set .*|Could not insert hardware )watchpoint" \
		/tmp/said || skip "there are no watchpoints of hardware"
	expect_says "what gdb says" "already hit $2 times" "$(cat /tmp/said)" &&
		expect_range "instructions more than alone" $((-2 * turns)) $((2 * turns)) \
			$(($(own_count) - $(cat /tmp/alone))) || { cat /tmp/said; return 1; }
}

# probed DEFINITION EVENT LEAST MOST: define a probe by perf probe, and count it beside the PMU.
probed()
{
	# shellcheck disable=SC2086 # options
	perf probe $1 >/tmp/said 2>&1 || { cat /tmp/said; return 1; }
	perf stat -x, -o /tmp/out -e "$2,instructions:u" watched >/tmp/said 2>&1
	status=$?
	perf probe -q --del "$2"
	expect_equal "status of perf stat" 0 $status &&
		expect_range "hits of the probe" "$3" "$4" \
			"$(awk -F, -v e="$2" '$3 == e { print $1 }' /tmp/out)" &&
		expect_range "instructions" 4000000 8200000 \
			"$(awk -F, '$3 ~ /instructions/ { print $1 }' /tmp/out)" ||
		{ cat /tmp/said /tmp/out; return 1; }
}

exec 3>&1
plan 6
check "a program counts itself" alone
check "gdb: a watchpoint of hardware" stopped_by "awatch turns" $turns
check "gdb: a breakpoint" stopped_by "break turn" $turns
check "perf probe: a function of the kernel" probed "--add vfs_read" probe:vfs_read 1 100
check "perf probe: a function of the program" probed "-x /usr/bin/watched --add turn" \
	probe_watched:turn $turns $turns
check "the PMU counts when it has ended" still_counts
finish
