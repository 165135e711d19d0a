#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# LTTng: a traced task opens events on itself and reads them at each tracepoint: by RDPMC on x86,
# elsewhere by a system call.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
export HOME=/tmp
trace=/tmp/trace

# traced CONTEXT...: trace the program spinner, with a line per tracepoint in /tmp/said
traced()
{
	rm -rf $trace
	# shellcheck disable=SC2046 # words
	{
		lttng create it --output=$trace && lttng enable-event -u 'lttng_ust_libc:malloc' &&
			lttng add-context -u $(printf -- '-t perf:thread:%s ' "$@") && lttng start &&
			LD_PRELOAD=liblttng-ust-libc-wrapper.so.1 LTTNG_UST_REGISTER_TIMEOUT=-1 spinner &&
			lttng stop && lttng destroy it
	} >/tmp/log 2>&1 && timeout 100 babeltrace2 $trace >/tmp/said 2>>/tmp/log ||
		{ cat /tmp/log; lttng destroy -a; return 1; }
	expect_equal "blocks that it marks loops with" 3 "$(grep -c 'size = 5432[123]' /tmp/said)" ||
		{ cat /tmp/log /tmp/said; return 1; }
}

# count NAME SIZE: print the counter at the allocation of the block of this size
count() { sed -n "/size = $2,/s/.*perf_thread_$1 = \([0-9]*\).*/\1/p" /tmp/said; }

# a_turn NAME LEAST MOST: check loops of 1,000,000 and 10,000,000 iterations with the same code
# around them. An iteration counts a whole number, and the 9,000,000 between them little more.
a_turn()
{
	short=$(($(count "$1" 54322) - $(count "$1" 54321)))
	long=$(($(count "$1" 54323) - $(count "$1" 54322)))
	more=$((long - short))
	turn=$(((more + 4500000) / 9000000))
	echo "# $1: $long and $short" >&3
	expect_range "$1 a turn" "$2" "$3" $turn &&
		expect_range "$1 besides" -9000 9000 $((more - turn * 9000000)) || { cat /tmp/said; return 1; }
}

generic() { traced instructions cycles && a_turn instructions 2 4 && a_turn cycles 2 8; }
branches() { traced branches && a_turn branches 1 1; }

# The same event by its number
case $VENDOR in
intel) number=00c4 ;;
amd) number=00c2 ;;
arm) number=0021 ;;
esac
raw() { traced "raw:r$number:mine" && a_turn "raw_r${number}_mine" 1 1; }

exec 3>&1
mkdir -p /var/run
lttng-sessiond --daemonize --no-kernel \
	--consumerd64-path="$(echo /usr/lib/*/lttng/libexec/lttng-consumerd)" \
	--consumerd64-libdir="$(dirname /usr/lib/*/lttng)" || echo "# lttng-sessiond did not start"
plan 4
check "instructions and cycles where a task takes memory" generic
check "branches" branches
check "branches by their number" raw
check "the PMU counts when it has ended" still_counts
finish
