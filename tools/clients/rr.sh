#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# rr records programs and replays them: it stops a replay at counts of conditional branches, and
# the replay fails if a count differs from the recording's.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
export _RR_TRACE_DIR=/tmp/rr

# recorded OPTIONS COMMAND...: record a command; its replays must print the same output
recorded()
{
	options=$1
	shift
	# shellcheck disable=SC2086 # words
	rr record $options "$@" >/tmp/recorded 2>/tmp/rr.said || { cat /tmp/rr.said; return 1; }
	for _ in $replays; do
		rr replay -a >/tmp/replayed 2>/tmp/rr.said || { cat /tmp/rr.said; return 1; }
		expect_true "a replay that writes what was recorded" cmp /tmp/recorded /tmp/replayed ||
			{ cat /tmp/rr.said; return 1; }
	done
	expect_true "some of it" test -s /tmp/recorded
}

# shellcheck disable=SC2016 # bash's
{
loops='for i in $(seq 50); do x=$((x + i)); done; echo $x'
children='for i in 1 2 3 4 5 6; do echo $i | sed s/1/2/; (exit $i) || echo $?; done; wait'
at_once='for i in 1 2 3; do (seq 200 | sort -n | tail -n 1; echo $i) & done; wait'
}

# The counts of branches that rr stores with each event of the trace.
ticks()
{
	rr dump 2>/dev/null | grep -c 'ticks:[1-9]'
}

replays="1 2"
if short; then
	replays=1
	plan 1
	check "record and replay three pipelines at once" recorded '' bash -c "$at_once"
	finish
fi
plan 6
check "record and replay ls" recorded '' ls -l /corepmu
check "its trace has counts of branches" expect_range "events with ticks" 10 100000 "$(ticks)"
check "record and replay bash with a loop" recorded '' bash -c "$loops"
check "record and replay bash with children" recorded '' bash -c "$children"
check "record and replay three pipelines at once" recorded '' bash -c "$at_once"
check "record in chaos mode and replay" recorded --chaos bash -c "$at_once"
finish
