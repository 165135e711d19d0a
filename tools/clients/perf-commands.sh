#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Options of perf record and perf stat that ask perf_event_open(2) for more: a ring buffer that is
# overwritten, events that start and stop on request, another clock. Samples may also have the
# user's registers and stack, addresses and page sizes. None of these options changes how often an
# event with a fixed period samples.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

PERIOD=100003
EVENT=$PMU/$CYCLES/u
data=/tmp/perf.data
export ROUNDS=500

record()
{
	perf record -o "$data" -e "$EVENT" -c $PERIOD "$@" >/tmp/said 2>&1 || { cat /tmp/said; return 1; }
}

# samples FILE...: print the number of samples
samples()
{
	for file; do
		perf script --hide-call-graph -i "$file" -F ip,sym 2>/dev/null
	done | grep -c spin_
}

# plain: the number of samples that other recordings must have
plain()
{
	count=$(stat_count "$EVENT" workload)
	record workload || return 1
	samples "$data" >/tmp/plain
	expect_range "samples" $((count / PERIOD - 1)) $((count / PERIOD + 1)) "$(cat /tmp/plain)"
}

# with OPTION...: record with more options
with()
{
	record "$@" workload || return 1
	number=$(cat /tmp/plain)
	expect_range "samples" $((number - 1)) $((number + 1)) "$(samples "$data")"
}

# On USR2 and at its end, perf writes what the ring buffer holds. The kernel fills the buffer from
# the end, and overwrites the oldest records, also those of the program's name and addresses. 1025
# samples do not fit.
# shellcheck disable=SC2016 # the inner shell's
overwritten()
{
	perf record -o "$data" --overwrite -m 8 --switch-output=signal -e "$EVENT" -c 20011 \
		sh -c 'workload; kill -USR2 $PPID; sleep 0.5; workload' >/tmp/said 2>&1 ||
		{ cat /tmp/said; return 1; }
	rm -f "$data.old"
	set -- "$data".*
	expect_equal "files" 2 $# || { cat /tmp/said; return 1; }
	for file; do
		expect_range "samples of $file" 500 1024 \
			"$(perf script -i "$file" -F ip 2>/dev/null | wc -l)" || return 1
	done
}

# perf enables the event after the first program, and disables it before the last one.
# shellcheck disable=SC2016 # the inner shell's
controlled()
{
	rm -f /tmp/ctl /tmp/ack
	mkfifo /tmp/ctl /tmp/ack
	perf stat --control fifo:/tmp/ctl,/tmp/ack -D -1 -x, -o /tmp/out -e "$PMU/$INSTRUCTIONS/u" sh -c '
		order() { echo "$1" >/tmp/ctl; read -r _ </tmp/ack; }
		workload
		order enable
		workload
		order disable
		workload' >/tmp/said 2>&1 || { cat /tmp/said; return 1; }
	one=$(stat_count "$PMU/$INSTRUCTIONS/u" workload)
	expect_range "instructions" "$one" $((one + one / 10)) "$(counted "$INSTRUCTIONS")"
}

plan
check "perf record -c" plain
check "perf record --overwrite --switch-output=signal" overwritten
check "perf stat --control" controlled
for options in "--call-graph dwarf,512" "-d --phys-data --data-page-size --code-page-size" "--per-thread" \
	"-a --threads" "-k CLOCK_MONOTONIC" -i "--all-cgroups --namespaces" \
	"--user-regs=ip,sp" "--buildid-mmap --switch-events"; do
	[ "$options" != "--user-regs=ip,sp" ] || [ "$VENDOR" != arm ] || options=--user-regs=pc,sp
	# shellcheck disable=SC2086 # words
	check "perf record $options" with $options
done
rm -rf "$data" "$data".* /tmp/plain /tmp/said /tmp/out /tmp/ctl /tmp/ack
check "the PMU counts when it has ended" still_counts
check_references
finish
