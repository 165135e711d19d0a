#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# user-perf - counters that libperf reads in user space, as the perf tool's own tests do
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

# Run perf's tests "User space counter reading of ..."; each must have run.
perf_test()
{
	if [ -e /proc/sys/kernel/perf_user_access ]; then
		echo 1 >/proc/sys/kernel/perf_user_access
	fi
	said=$(perf test "User space counter reading" 2>&1)
	expect_says "perf test" "ser space counter reading of $1 *: Ok" "$said"
}

plan 2
check "perf test reads instructions in user space" perf_test instructions
check "perf test reads cycles in user space" perf_test cycles
finish
