#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pmu-validate as a suite of tools/testing: on our PMU, or on the built-in driver's.

for pmu in corepmu armv8_pmuv3 armv8_pmuv3_0 cpu; do
	[ ! -e /sys/bus/event_source/devices/$pmu ] || exec pmu-validate --pmu $pmu --disrupt
done
exec pmu-validate
