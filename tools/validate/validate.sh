#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pmu-validate as a suite of tools/testing, on corepmu's PMU or on the built-in driver's. A
# guest can select one area by corepmu_test.validate=AREA on the kernel's command line, or
# the checks that take minutes by corepmu_test.validate=long.

area=$(sed -n 's/.*corepmu_test\.validate=\([a-z]*\).*/\1/p' /proc/cmdline)
case $area in
"") set -- ;;
long) set -- --long --filter 2^32 ;;
*) set -- --filter "$area:" ;;
esac
for pmu in corepmu armv8_pmuv3 armv8_pmuv3_0 cpu; do
	[ ! -e /sys/bus/event_source/devices/$pmu ] ||
		exec pmu-validate --pmu $pmu --disrupt "$@"
done
exec pmu-validate
