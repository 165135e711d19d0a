#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Reports of perf stat, perf mem and perf c2c on a program with known loads and stores, on each CPU.
# The log has the reports. Their figures are rows of the table of `make clients`: figures of corepmu
# must be those of the built-in driver.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

data=/tmp/perf.data
out=/tmp/out

# on_cpu COMMAND...: run a command on $cpu
on_cpu()
{
	taskset -c "$cpu" "$@" >/tmp/said 2>&1 || { cat /tmp/said; return 1; }
}

# Print a report to the log.
log_report()
{
	grep -vE '^#|^ *$' "$out" | sed 's/^/# /' >&3
}

# figures TOLERANCE WHAT: print lines "NUMBER NAME" as figures
figures()
{
	sed -E "s|^([^ ]+) |# figure $1 \1 CPU $cpu, $2: |" >&3
}

# stat_user WHAT TOLERANCE OPTION...: count what the program does in user space
stat_user()
{
	what=$1 tolerance=$2
	shift 2
	[ "$1" != -M ] || perf list metricgroup 2>/dev/null | grep -qw "$2" ||
		skip "perf has no metrics $2 for this CPU"
	on_cpu perf stat --all-user -x ';' -o "$out" "$@" accesses || return 1
	log_report
	awk -F ';' '$1 ~ /^[0-9]/ { print $1, $3 }
		$6 ~ /^[0-9]/ && $7 { print $6, $7 }' "$out" | figures "$tolerance" "$what"
	expect_says "perf stat" '^[1-9]' "$(cat "$out")"
}

# report_mem TYPE: report loads or stores by where they hit
report_mem()
{
	on_cpu perf mem record -t "$1" --ldlat 3 -U -c 97 -o "$data" accesses || return 1
	perf mem report -i "$data" --stdio -x ';' -F overhead,sample -s mem,snoop,tlb,locked \
		>"$out" 2>/tmp/said
	log_report
	awk -F ';' '/^ *[0-9.]+% *;/ {
		name = $3 ";" $4 ";" $5 ";" $6
		gsub(/ *; */, ", ", name)
		print $1 + 0, "percent of " name
		print $2 + 0, "samples of " name
		n++
	} END { print n + 0, "kinds of access" }' "$out" | figures 1 "perf mem $1"
	expect_says "perf mem report" 'L1 .*hit' "$(cat "$out")" || { cat /tmp/said; return 1; }
}

report_c2c()
{
	on_cpu perf c2c record --ldlat 3 -u -c 97 -o "$data" -- accesses || return 1
	perf c2c report -i "$data" --stdio --stats >"$out" 2>/tmp/said
	log_report
	sed -nE 's/^ *(.*[^ ]) *: +([0-9]+)$/\2 \1/p' "$out" | figures 1 "perf c2c"
	expect_says "perf c2c report" 'Load Operations +: +[1-9]' "$(cat "$out")" ||
		{ cat /tmp/said; return 1; }
}

# Prevent rotation of events that want the same counters. Rotation takes events off for a part of
# the program's 2 ms, and perf then scales their counts.
for interval in "$DEVICES"/*/perf_event_mux_interval_ms; do
	echo 100000 >"$interval"
done
exec 3>&1
plan
for cpu in $(seq 0 $(($(nproc) - 1))); do
	check "perf stat on CPU $cpu" stat_user "perf stat" 0 -e instructions,cycles,branches
	check "perf stat -M TopdownL1 on CPU $cpu" stat_user topdown 1 -M TopdownL1
	check "perf mem of loads on CPU $cpu" report_mem load
	check "perf mem of stores on CPU $cpu" report_mem store
	check "perf c2c on CPU $cpu" report_c2c
done
finish
