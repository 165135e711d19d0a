#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# watchdog - the kernel's lockup detectors while corepmu has the counters
#
# For guests in replace mode without nmi_watchdog= on the command line. Debian's x86 kernels detect hard
# lockups by a perf event. They try to open it only at boot, when there is no PMU. Debian's arm64
# kernels have no such detector (6.1), or CPUs that watch one another (buddy).
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

sysctl=/proc/sys/kernel

by_perf() { [ "$VENDOR" != arm ]; }

detector_is_as_booted()
{
	wanted=0
	by_perf || case $(uname -r) in 6.1.*) ;; *) wanted=1 ;; esac
	expect_equal "kernel.nmi_watchdog" $wanted "$(cat $sysctl/nmi_watchdog)" || return 1
	! by_perf || expect_says "the kernel's log" 'NMI watchdog: Perf NMI watchdog permanently disabled' \
		"$(dmesg)"
}

cannot_be_enabled()
{
	by_perf || skip "the detector needs no counter"
	said=$( { echo 1 >$sysctl/nmi_watchdog; } 2>&1) && { echo "it was enabled"; return 1; }
	expect_says "the write" 'ermission denied|nvalid|not supported|rror 524' "$said" &&
		expect_equal "kernel.nmi_watchdog" 0 "$(cat $sysctl/nmi_watchdog)"
}

soft_lockups_are_detected()
{
	expect_equal "kernel.soft_watchdog" 1 "$(cat $sysctl/soft_watchdog)" &&
		expect_equal "kernel.watchdog" 1 "$(cat $sysctl/watchdog)"
}

# again FILE: switch a detector off and on
again() { echo 0 >"$1" && echo 1 >"$1"; }

no_counter_is_taken()
{
	expect_true "the detectors off and on" again $sysctl/watchdog &&
		expect_equal "references" 0 "$(cat /sys/module/corepmu/refcnt)"
}

reload()
{
	rmmod corepmu && expect_true "the detectors off and on" again $sysctl/watchdog &&
		insmod "$MODULE" && still_counts
}

plan 5
check "the hard-lockup detector is in its state after boot" detector_is_as_booted
check "the kernel refuses to enable a detector that needs a counter" cannot_be_enabled
check "soft lockups are detected" soft_lockups_are_detected
check "the detectors take no counter" no_counter_is_taken
check "unload, detectors off and on, load" reload
finish
