#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# ltp: the Linux Test Project's tests of perf_event_open(2).

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

# TCONF: something that the test needs is missing.
NOT_HERE=32

echo -1 >/proc/sys/kernel/perf_event_paranoid
# The tests may take twenty times as long in an emulator.
export LTP_TIMEOUT_MUL=20

passes()
{
	"./$1" >/tmp/said 2>&1
	status=$?
	[ $status -ne $NOT_HERE ] || skip "$(sed -n 's/.*TCONF: //p' /tmp/said | head -n 1)"
	expect_equal "its status" 0 $status && return
	tail -n 20 /tmp/said
	return 1
}

cd /usr/lib/ltp || exit
set -- perf_event_open*
plan $#
for test; do
	check "$test" passes "$test"
	grep -h 'TINFO: \(nhw\|ratio\)' /tmp/said | sed 's/^/# /'
done
finish
