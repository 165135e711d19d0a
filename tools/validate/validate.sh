#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pmu-validate as the suites validate and validate-atom of tools/testing, on corepmu's PMU or on the
# built-in driver's. A guest can select areas by corepmu_test.validate=AREA,... on the kernel's
# command line, or the checks that take minutes by corepmu_test.validate=long. The area "basic" is a
# check or two of each area.

areas=$(sed -n 's/.*corepmu_test\.validate=\([a-z,]*\).*/\1/p' /proc/cmdline)
set --
case $areas in
long) set -- --long --filter 2^32 ;;
*)
	for area in $(echo "$areas" | tr , ' '); do
		[ "$area" = basic ] || set -- "$@" --filter "$area:"
	done
	;;
esac
case $areas in
*basic*)
	set -- "$@" --filter "instructions of a known loop" --filter "cycles advance" \
		--filter "count: user and kernel" --filter "sample: a sample every" \
		--filter "members of the largest group" --filter "twice as many events" \
		--filter "children and grandchildren" --filter "user space and kernel" \
		--filter "an event with its type" --filter "generic events with its type"
	;;
esac
# Perf core of Linux 7.3 fails this check with every driver: known-defects.cfg, inherit-stat-read.
case $(uname -r) in
7.*) set -- "$@" --except "READ of a child's event that is closed" ;;
esac
# On a hybrid machine, the suite validate judges the first CPU type and validate-atom the atoms.
pmus="corepmu corepmu_core corepmu_atom armv8_pmuv3 armv8_pmuv3_0 cpu cpu_core cpu_atom"
[ "${0##*/}" = validate ] || pmus="corepmu_atom cpu_atom"
for pmu in $pmus; do
	[ ! -e /sys/bus/event_source/devices/"$pmu" ] ||
		exec pmu-validate --pmu "$pmu" --disrupt "$@"
done
[ "${0##*/}" = validate ] || {
	echo "Bail out! the machine has no PMU of atoms"
	exit 1
}
exec pmu-validate
