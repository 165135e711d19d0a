#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# intel/lkvs, BM/pmu: perf with precise samples, registers, branches and data sources; the number
# of samples that perf says it has written is that of those in the file.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
# It writes beside its scripts.
cp -R /usr/lib/lkvs /tmp/ && cd /tmp/lkvs/BM/pmu || exit

# A CPU with nothing to do has no cycles: something runs besides.
passes()
{
	yes >/dev/null &
	# shellcheck disable=SC2086 # words
	PATH=.:$PATH timeout 300 bash ./$1 >/tmp/said 2>&1
	status=$?
	kill $!
	[ $status -ne 0 ] || return 0
	echo "status $status"
	tail -n 20 /tmp/said
	return 1
}

plan "$(wc -l <../list)"
while read -r test; do
	check "$test" passes "$test"
done <../list
finish
