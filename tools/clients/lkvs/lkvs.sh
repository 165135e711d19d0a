#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# intel/lkvs, BM/pmu: perf with precise samples, registers, branches and data sources. The number
# of samples that perf reports must be the number in the file. The CPU's model selects the list.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
# The script prints all samples.
sample_rate 100
# perf reports the number of written samples only if it reads them for build IDs. From 6.18 on it
# does so only with these options.
sed -i 's/record --no-bpf-event/& --no-buildid-mmap --no-buildid-cache/' /tmp/bin/perf
printf '' >"$PERF_CONFIG"
# The test writes beside its scripts.
cp -R /usr/lib/lkvs /tmp/ && cd /tmp/lkvs/BM/pmu || exit

# An idle CPU has no cycles: a workload runs meanwhile.
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
list=../list-$(sed -n 's/^model[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
[ -e "$list" ] || list=../list
plan "$(wc -l <"$list")"
while read -r test; do
	case $test in
	*' # '*) skipped "${test%% # *}" "${test#* # }" ;;
	*) check_timed "$test" passes "$test" ;;
	esac
done <"$list"
finish
