#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Scripts of `perf test` that record and want perf's own symbols, with a perf that has them. What a
# script says of each part that failed or was skipped is a line of the log.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
# A record at 4000 samples a second takes a minute of an emulator's to be read. The rate is not to be
# set while samples may take all of a CPU's time.
percent=$(cat /proc/sys/kernel/perf_cpu_time_max_percent)
echo 50 >/proc/sys/kernel/perf_cpu_time_max_percent
echo 1000 >/proc/sys/kernel/perf_event_max_sample_rate
echo "$percent" >/proc/sys/kernel/perf_cpu_time_max_percent
kernel_symbols shown

perf=/usr/lib/perf-shell/perf
printf '#!/bin/sh\n[ "$1" != record ] || { shift; set -- record --no-bpf-event "$@"; }\nexec %s "$@"\n' \
	$perf >/tmp/bin/perf
cd /usr/lib/perf-shell/tests/shell || exit

passes()
{
	timeout 200 bash "./$1" >/tmp/said 2>&1
	status=$?
	grep -iE '\[(success|passed|fail|skip)' /tmp/said | sed 's/^/# /' >&3
	[ $status -ne 2 ] || skip "$(tail -n 1 /tmp/said)"
	expect_equal "its status" 0 $status && return
	tail -n 20 /tmp/said
	return 1
}

exec 3>&1
plan "$(wc -l <list)"
while read -r test; do
	read -r began _ </proc/uptime
	check "$test" passes "$test"
	read -r ended _ </proc/uptime
	echo "# $test took $((${ended%.*} - ${began%.*})) s of the guest's time"
done <list
finish
