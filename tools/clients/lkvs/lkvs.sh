#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# intel/lkvs, BM/pmu: perf with precise samples, registers, branches and data sources; the number
# of samples that perf says it has written is that of those in the file.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
# It prints all samples that it took.
sample_rate 100
# perf says how many samples it has written only when it looks at them for build IDs, which from
# 6.18 on it does only when told not to take those of the kernel.
sed -i 's/record --no-bpf-event/& --no-buildid-mmap --no-buildid-cache/' /tmp/bin/perf
printf '' >"$PERF_CONFIG"
# It writes beside its scripts.
cp -R /usr/lib/lkvs /tmp/ && cd /tmp/lkvs/BM/pmu || exit

# A CPU with nothing to do has no cycles: something runs besides.
passes()
{
	yes >/dev/null &
	# shellcheck disable=SC2086 # words
	PATH=.:$PATH timeout 300 bash ./$1 >/tmp/said 2>&1
	status=$?
	kill $! 2>/dev/null
	sed -n 's/.*\(sample_count = .*\)/# \1/p' /tmp/said >&3
	expect_equal "its status" 0 $status && return
	tail -n 20 /tmp/said
	return 1
}

exec 3>&1
plan "$(wc -l <../list)"
while read -r test; do
	check_timed "$test" passes "$test"
done <../list
finish
