# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# ktap.sh - KTAP for suites that are shell scripts; sourced, never run
#
# A test is a function that check() runs in a subshell: it passes when it returns 0
# and is skipped when it ends with skip(). What it writes is told when it fails.

# shellcheck disable=SC2034 # for the suites
DEVICES=/sys/bus/event_source/devices
# shellcheck disable=SC2034 # for the suites
MODULE=/corepmu/corepmu.ko

# The built-in driver's PMU, if there is one.
builtin_pmu()
{
	for path in "$DEVICES"/cpu "$DEVICES"/armv8_pmuv3*; do
		[ ! -e "$path" ] || { basename "$path"; break; }
	done
}

# The PMU under test: the module's, by the name it was loaded with, or the built-in's.
BUILTIN=
if grep -q '^mode=builtin' /corepmu/conf; then
	# shellcheck disable=SC2034 # for the suites
	BUILTIN=1
	PMU=$(builtin_pmu)
else
	PMU=$(cat /sys/module/corepmu/parameters/name 2>/dev/null || echo corepmu)
fi

# Whose CPU it is, and what the PMU calls cycles and retired instructions.
case $(uname -m) in
x86_64)
	VENDOR=intel CYCLES=cpu-cycles INSTRUCTIONS=instructions
	! grep -q AuthenticAMD /proc/cpuinfo || VENDOR=amd
	# The virtual PMU takes its time.
	export ROUNDS=1000
	;;
*)
	# shellcheck disable=SC2034 # for the suites
	VENDOR=arm CYCLES=cpu_cycles INSTRUCTIONS=inst_retired
	;;
esac

ktap_number=0
ktap_failures=0
ktap_planned=0

plan()
{
	ktap_planned=$1
	echo "KTAP version 1"
	echo "1..$1"
}

# check DESCRIPTION FUNCTION [ARGUMENT...]
check()
{
	ktap_what=$1
	shift
	ktap_number=$((ktap_number + 1))
	ktap_said=$("$@" 2>&1)
	ktap_status=$?
	case $ktap_status in
	0) echo "ok $ktap_number - $ktap_what" ;;
	44) echo "ok $ktap_number - $ktap_what # SKIP $(echo "$ktap_said" | tail -n 1)" ;;
	*)
		echo "$ktap_said" | tail -n 40 | sed 's/^/# /'
		echo "not ok $ktap_number - $ktap_what"
		ktap_failures=$((ktap_failures + 1))
		;;
	esac
}

# End the running test as skipped.
skip()
{
	echo "$*"
	exit 44
}

# The exit status of the suite.
finish()
{
	[ "$ktap_number" -eq "$ktap_planned" ] && [ "$ktap_failures" -eq 0 ]
	exit
}

# expect_equal WHAT WANTED GOT
expect_equal()
{
	[ "$2" = "$3" ] && return 0
	echo "$1: expected '$2', got '$3'"
	return 1
}

# expect_range WHAT LOWEST HIGHEST GOT
expect_range()
{
	case $4 in
	'' | *[!0-9]*) ;;
	*) [ "$4" -ge "$2" ] && [ "$4" -le "$3" ] && return 0 ;;
	esac
	echo "$1: expected $2..$3, got '$4'"
	return 1
}

# expect_says WHAT REGEX TEXT
expect_says()
{
	echo "$3" | grep -qE -- "$2" && return 0
	echo "$1: expected '$2', got:"
	echo "$3"
	return 1
}

# expect_not WHAT REGEX TEXT
expect_not()
{
	echo "$3" | grep -qE -- "$2" || return 0
	echo "$1: expected anything but '$2', got:"
	echo "$3" | grep -E -- "$2"
	return 1
}

# What the kernel says since the line of dmesg_mark. busybox's insmod tries twice, each
# sentence counts once.
dmesg_mark()
{
	echo "<6>ktap-mark $1" >/dev/kmsg
}

dmesg_since()
{
	dmesg | sed -n "/ktap-mark $1\$/,\$p" | grep -v 'ktap-mark\|corepmu-guest\|taint' |
		sed 's/^\[[^]]*\] //' | awk '!seen[$0]++'
}

# A command for the background that ends when told to. A signal to perf would not do:
# perf stat passes none on to its command and waits for it.
UNTIL_TOLD=/tmp/until-told

until_told()
{
	rm -f /tmp/told /tmp/started
	cat >$UNTIL_TOLD <<-'EOT'
		#!/bin/sh
		touch /tmp/started
		while [ ! -e /tmp/told ]; do
			[ $# -eq 0 ] || "$@"
			sleep 0.02
		done
	EOT
	chmod +x $UNTIL_TOLD
}

# Until the command of process $1 has started: perf opens its events before.
wait_started()
{
	while [ ! -e /tmp/started ] && [ -d "/proc/$1" ]; do
		sleep 0.02
	done
}

tell()
{
	touch /tmp/told
}

# The user counts of an event during a command: stat_count EVENT COMMAND...
stat_count()
{
	ktap_event=$1
	shift
	perf stat -x';' -o /tmp/stat.$$ -e "$ktap_event" "$@" >/tmp/stat.$$.said 2>&1
	awk -F';' -v e="$ktap_event" '$3 == e { print $1 }' /tmp/stat.$$
	# perf of 7.x fails when no event is supported, and writes no count.
	grep -q 'event is not supported' /tmp/stat.$$.said && echo '<not supported>'
	rm -f /tmp/stat.$$ /tmp/stat.$$.said
}

# What perf stat -x, has counted of one of the PMU's events: counted EVENT [FILE]
counted()
{
	awk -F, -v event="/$1/" 'index($0, event) { print $1 }' "${2:-/tmp/out}"
}

# That all events of perf stat -x, counted millions, and none went backwards, which would
# be a very large number: all_counted FILE...
all_counted()
{
	ktap_counts=$(cat "$@")
	expect_says "counts" '^[0-9]{7,12},' "$ktap_counts" &&
		expect_not "counts" '^(<not|[0-9]{1,6},|[0-9]{13,},)' "$ktap_counts"
}
