#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Scripts of `perf test` that record and need perf's own symbols, with a perf that has them. The
# log has a line for each part of a script that failed or was skipped.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
kernel_symbols shown

sed -i "s|exec $STOCK_PERF|exec /usr/lib/perf-shell/perf|" /tmp/bin/perf
cd /usr/lib/perf-shell/tests/shell || exit

# Print the sample rate for a script: an emulator takes a minute to read a recording at 4000.
# record_lbr.sh makes 19 recordings, nine of them at once.
rate_of()
{
	case $1 in
	record_lbr.sh) echo 100 ;;
	*) echo 1000 ;;
	esac
}

passes()
{
	sample_rate "$(rate_of "$1")"
	timeout 900 bash "./$1" >/tmp/said 2>&1
	status=$?
	grep -aiE '\[(success|passed|fail|skip)' /tmp/said | sed 's/^/# /' >&3
	[ $status -ne 2 ] || skip "$(tail -n 1 /tmp/said)"
	expect_equal "its status" 0 $status && return
	tail -n 20 /tmp/said
	return 1
}

exec 3>&1
plan "$(wc -l <list)"
while read -r test; do
	check_timed "$test" passes "$test"
done <list
finish
