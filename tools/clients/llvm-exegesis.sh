#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# llvm-exegesis: the cycles of an instruction, by a snippet that it compiles and runs between a
# reset and a read of a counter. Events have libpfm4's names.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid

# measured LOWEST HIGHEST OPTION...: expect the result, in ten thousandths of a cycle, to be in a
# range
measured()
{
	lowest=$1 highest=$2
	shift 2
	timeout 300 /usr/lib/llvm-14/bin/llvm-exegesis "$@" >/tmp/said 2>&1 || { cat /tmp/said; return 1; }
	value=$(sed -n 's/.*value: \([0-9.]*\),.*/\1/p' /tmp/said | head -n 1)
	echo "# $*: $value" >&3
	expect_range "ten thousandths of a cycle" "$lowest" "$highest" \
		"$(awk -v value="${value:-0}" 'BEGIN { printf "%.0f", value * 10000 }')" ||
		{ cat /tmp/said; return 1; }
}

# On the virtual PMU an instruction takes a cycle, and an iteration of the loop four.
exec 3>&1
plan 4
check "latency" measured 10000 11000 -mode=latency -opcode-name=ADD64rr
check "inverse throughput" measured 10000 11000 -mode=inverse_throughput -opcode-name=ADD64rr
check "latency, by a loop" measured 40000 41000 -mode=latency -repetition-mode=loop \
	-opcode-name=IMUL64rr
# The reported latency is that of one of 10,000 iterations, divided by 10,000.
check "latency, by branch records of a loop" measured 4 4 -mode=latency -repetition-mode=loop \
	-x86-lbr-sample-period=521 -opcode-name=ADD64rr
finish
