#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pmu-validate as a suite of tools/testing: on our PMU, or on the built-in driver's. A lane
# may ask for one area by appending corepmu_test.validate=AREA.

area=$(sed -n 's/.*corepmu_test\.validate=\([a-z]*\).*/\1:/p' /proc/cmdline)
for pmu in corepmu armv8_pmuv3 armv8_pmuv3_0 cpu; do
	[ ! -e /sys/bus/event_source/devices/$pmu ] ||
		exec pmu-validate --pmu $pmu --disrupt ${area:+--filter "$area"}
done
exec pmu-validate
