#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# prometheus-node-exporter: events of each CPU, opened once and read at each request. They may be
# more than the counters.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
ip link set lo up
export ROUNDS=1000
host=127.0.0.1 port=9100
prometheus-node-exporter --collector.disable-defaults --collector.perf \
	--web.listen-address=$host:$port >/tmp/exporter 2>&1 &
exporter=$!

# asked FILE: print the exporter's answer to a request. busybox is static, and its wget needs
# libraries.
asked()
{
	timeout 60 bash -c "exec 4<>/dev/tcp/$host/$port && printf 'GET /metrics HTTP/1.0\r\n\r\n' >&4 && cat <&4" \
		>"$1" || { cat /tmp/exporter; return 1; }
}

started()
{
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		asked /tmp/first >/dev/null 2>&1 && break
		sleep 1
	done
	expect_says "its metrics" '^node_perf_instructions_total' "$(cat /tmp/first)" ||
		{ cat /tmp/exporter; return 1; }
}

# count_of FILE METRIC: print the sum over all CPUs
count_of()
{
	awk -v name="node_perf_$2_total{" 'index($1, name) == 1 { sum += $2 } END { printf "%.0f\n", sum }' "$1"
}

# The exporter's counts of every CPU grow while a program runs; they include the kernel's.
grows()
{
	workload && asked /tmp/second || return 1
	expect_range "CPUs" "$(nproc)" "$(nproc)" "$(grep -c '^node_perf_instructions_total{' /tmp/second)"
	for what in instructions cpucycles branch_instructions; do
		more=$(($(count_of /tmp/second $what) - $(count_of /tmp/first $what)))
		echo "# $what: $more" >&3
		expect_range "$what" 4000000 100000000000 $more || { cat /tmp/second; return 1; }
	done
}

ended()
{
	kill $exporter
	wait $exporter 2>/dev/null
	expect_range "instructions counted afterwards" 40000000 80000000 \
		"$(stat_count "$PMU/$INSTRUCTIONS/u" workload)"
}

exec 3>&1
plan 3
check "it opens its events on all CPUs" started
check "they count what runs" grows
check "the PMU counts when it has ended" ended
finish
