#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# refusals - the log and debugfs have the reason why an event was rejected
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

list=/sys/kernel/debug/corepmu/refusals
# No PMU knows this bit of config.
bad=$PMU/config=0x4000000000000000/

# refused [TIMES]: perf opens an event that is rejected, each time as another process.
refused()
{
	for _ in $(seq "${1:-1}"); do
		perf stat -e "$bad" true >/tmp/out 2>&1
		expect_says "perf stat" 'not supported|Invalid|Error' "$(cat /tmp/out)" || return 1
	done
}

log_says()
{
	dmesg_mark log
	refused || return 1
	dmesg_since log >/tmp/said
	expect_says "the log" \
		'^corepmu: event refused: config 0x4000000000000000 .*format/.* \(perf\[[1-9][0-9]*\]\)$' \
		"$(cat /tmp/said)" &&
		expect_equal "lines" 1 "$(grep -c 'event refused' /tmp/said)"
}

# The log has its ten lines of this minute; the list in debugfs has all.
log_is_limited()
{
	dmesg_mark many
	refused 11 || return 1
	lines=$(dmesg_since many | grep -c 'event refused')
	expect_range "lines of the log" 0 10 "$lines" &&
		expect_range "processes in the list" 12 32 \
			"$(grep -c '^perf\[.*config 0x4000000000000000' "$list")"
}

# A process that is rejected several times has one entry, with the number.
list_counts()
{
	perf stat -e "$bad" -e "$bad" true >/dev/null 2>&1
	newest=$(head -n 1 "$list")
	expect_says "the newest" \
		'^perf\[[0-9]*\] -EINVAL [1-9][0-9]* times: config 0x4000000000000000 ' "$newest"
}

list_is_roots()
{
	expect_equal "mode" 400 "$(stat -c %a "$list")"
}

plan 4
check "the log names the reason, the value, the program and its process, once" log_says
check "the log is not flooded, and the list has what it leaves out" log_is_limited
check "the list begins with the newest, its errno and how often" list_counts
check "the list is for the administrator alone" list_is_roots
finish
