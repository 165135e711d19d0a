#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pmu-validate as the suites validate and validate-atom of tools/testing, on corepmu's PMU or on the
# built-in driver's. A guest can select checks by corepmu_test.validate=WORD,... on the kernel's
# command line. The word "basic" selects a check or two of each area. The word "long" selects the
# check of more than 2^32 counts, which takes minutes. The word "all" selects every check, also
# that long one. The word "uncounted" selects checks that pass on a PMU whose instructions count 0.
# With the word "user" a user without privileges runs the checks. Any other word selects the area of
# this name.

set --
judge="pmu-validate --disrupt"
for area in $(sed -n 's/.*corepmu_test\.validate=\([a-z,]*\).*/\1/p' /proc/cmdline | tr , ' '); do
	case $area in
	user)
		echo nobody:x:65534:65534::/: >/etc/passwd
		judge="start-stop-daemon -S -c nobody -x $(command -v pmu-validate) --"
		;;
	all) set -- "$@" --long ;;
	long) set -- "$@" --long --filter "count: beyond 2^32" ;;
	basic)
		set -- "$@" --filter "instructions of a known loop" --filter "cycles advance" \
			--filter "count: user and kernel" --filter "sample: a sample every" \
			--filter "members of the largest group" \
			--filter "twice as many events" --filter "children and grandchildren" \
			--filter "user space and kernel" --filter "an event with its type" \
			--filter "generic events with its type"
		;;
	uncounted)
		set -- "$@" --filter "formats parse" --filter "events parse" --filter "disabled event" \
			--filter "times agree" --filter "both excluded" --filter "exclude_host" \
			--filter "impossible leaders" --filter "impossible mappings" \
			--filter "impossible outputs" --filter "sizes of perf_event_attr" \
			--filter "reads, writes and flags" --filter "perf_event_mlock_kb" \
			--filter "POLLHUP" --filter "FORK" --filter "their ids" --filter "its ids" \
			--filter "caps/" --filter "branches of a known loop"
		;;
	*) set -- "$@" --filter "$area:" ;;
	esac
done
# Perf core of Linux 7.3 fails this check with every driver: known-defects.cfg, inherit-stat-read.
case $(uname -r) in
7.*) set -- "$@" --except "READ of a child's event that is closed" ;;
esac
# With start_near_wrap a counting event interrupts at each wrap, if its counter has less than 64 bits.
# Arm's counters have 64 bits from PMUv3p5 on: Armv8.5 has both these and the instructions "frint".
case $(cat /sys/module/corepmu/parameters/start_near_wrap 2>/dev/null) in
[1-9]*) grep -qw frint /proc/cpuinfo || set -- "$@" --except "a disabled event does not interrupt" ;;
esac
# On a hybrid machine, the suite validate judges the first CPU type and validate-atom the atoms.
pmus="corepmu corepmu_core corepmu_atom armv8_pmuv3 armv8_pmuv3_0 cpu cpu_core cpu_atom"
[ "${0##*/}" = validate ] || pmus="corepmu_atom cpu_atom"
for pmu in $pmus; do
	[ ! -e /sys/bus/event_source/devices/"$pmu" ] ||
		exec $judge --pmu "$pmu" "$@"
done
[ "${0##*/}" = validate ] || {
	echo "Bail out! the machine has no PMU of atoms"
	exit 1
}
exec pmu-validate
