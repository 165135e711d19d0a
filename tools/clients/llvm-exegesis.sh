#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# llvm-exegesis: how many cycles an instruction takes, of a snippet that it compiles and runs between
# a reset and a read of a counter, by names of libpfm4.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid

# measured OPTION...
measured()
{
	timeout 300 /usr/lib/llvm-14/bin/llvm-exegesis "$@" >/tmp/said 2>&1 || { cat /tmp/said; return 1; }
	expect_not "an error" 'error: +[^ '"'"']' "$(cat /tmp/said)" || return 1
	value=$(sed -n 's/.*value: \([0-9.]*\),.*/\1/p' /tmp/said | head -n 1)
	echo "# $*: $value" >&3
	expect_range "ten thousandths of a cycle" 1 1000000 \
		"$(awk -v value="${value:-0}" 'BEGIN { printf "%d", value * 10000 }')" ||
		{ cat /tmp/said; return 1; }
}

exec 3>&1
plan 4
check "latency" measured -mode=latency -opcode-name=ADD64rr
check "inverse throughput" measured -mode=inverse_throughput -opcode-name=ADD64rr
check "latency, by a loop" measured -mode=latency -repetition-mode=loop -opcode-name=IMUL64rr
# Of a loop it says what one of 10,000 turns takes, over 10,000.
check "latency, by branch records of a loop" measured -mode=latency -repetition-mode=loop \
	-x86-lbr-sample-period=521 -opcode-name=ADD64rr
finish
