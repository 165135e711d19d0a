#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's own tests of guests' PMUs, tools/testing/selftests/kvm, with counters that KVM emulates by
# perf events, and with those that it gives to guests (mediated). KVM needs the built-in driver for both.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

[ -e /dev/kvm ] || mknod /dev/kvm c 10 232

# load_kvm MEDIATED: load KVM's modules, or load the last one again with another option
load_kvm()
{
	rmmod kvm_amd 2>/dev/null
	for module in /corepmu/kmods/kvm-amd/*; do
		case $module in
		*kvm-amd.ko*) insmod "$module" "enable_mediated_pmu=$1" ;;
		*) insmod "$module" 2>/dev/null ;;
		esac
	done
	[ -e /sys/module/kvm_amd ]
}

passes()
{
	load_kvm "$1" || return 1
	[ "$1" = 0 ] || [ "$(cat /sys/module/kvm_amd/parameters/enable_mediated_pmu)" = Y ] ||
		skip "KVM has no mediated PMU here"
	timeout 1200 "/usr/lib/kvm-selftests/$2" >/tmp/said 2>&1
	status=$?
	[ $status -ne 4 ] || skip "$(grep -m 1 SKIP /tmp/said)"
	[ $status -eq 0 ] || tail -n 20 /tmp/said
	expect_equal "its status" 0 $status
}

tests="svm_pmu_host_guest_test pmu_counters_test pmu_event_filter_test"
plan 6
for test in $tests; do
	check "$test" passes 0 "$test"
	check "$test, mediated" passes 1 "$test"
done
rm -f /tmp/said
finish
