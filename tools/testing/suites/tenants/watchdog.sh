#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# watchdog - the kernel's lockup detectors beside events of the PMU
#
# For guests without nmi_watchdog= on the command line. Debian's x86 kernels detect hard lockups by
# a perf event, which they try to open only at boot. In replace mode no PMU exists at boot. Debian's
# arm64 kernels have no such detector (6.1), or CPUs that watch one another (buddy).
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

sysctl=/proc/sys/kernel

needs_a_counter() { [ "$VENDOR" != arm ]; }

detector_is_as_booted()
{
	wanted=1
	case $VENDOR-$(uname -r) in arm-6.1.*) wanted=0 ;; esac
	needs_a_counter && [ -z "$BUILTIN" ] && wanted=0
	expect_equal "kernel.nmi_watchdog" $wanted "$(cat $sysctl/nmi_watchdog)" || return 1
	! needs_a_counter || [ -n "$BUILTIN" ] ||
		expect_says "the kernel's log" 'NMI watchdog: Perf NMI watchdog permanently disabled' \
			"$(dmesg)"
}

cannot_be_enabled()
{
	needs_a_counter || skip "the detector needs no counter"
	[ -z "$BUILTIN" ] || skip "the built-in driver gives it a counter at boot"
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
	[ -z "$BUILTIN" ] || skip "the built-in driver counts no references"
	expect_true "the detectors off and on" again $sysctl/watchdog &&
		expect_equal "references" 0 "$(cat /sys/module/corepmu/refcnt)"
}

# Print how many samples perf record takes of a workload.
samples()
{
	perf record -o /tmp/perf.data -e "$PMU/$INSTRUCTIONS/u" -c 100003 workload >/dev/null 2>&1
	perf script -i /tmp/perf.data -F ip 2>/dev/null | wc -l
}

# Compare with the detectors off and on. With the built-in driver on x86 the detector has a counter.
counts_and_samples()
{
	echo 0 >$sysctl/watchdog
	alone=$(stat_count "$PMU/$INSTRUCTIONS/u" workload)
	echo 1 >$sysctl/watchdog
	expect_equal "instructions" "$alone" "$(stat_count "$PMU/$INSTRUCTIONS/u" workload)" || return 1
	periods=$((alone / 100003))
	expect_range "samples" $((periods - 1)) $((periods + 1)) "$(samples)" &&
		expect_true "cycles beside the detectors" still_counts
}

reload()
{
	[ -z "$BUILTIN" ] || skip "the built-in driver stays"
	rmmod corepmu && expect_true "the detectors off and on" again $sysctl/watchdog &&
		insmod "$MODULE" && still_counts
}

plan 6
check "the hard-lockup detector is in its state after boot" detector_is_as_booted
check "the kernel refuses to enable a detector that needs a counter" cannot_be_enabled
check "soft lockups are detected" soft_lockups_are_detected
check "the detectors take no counter" no_counter_is_taken
check "counts and samples are those without detectors" counts_and_samples
check "unload, detectors off and on, load" reload
rm -f /tmp/perf.data
finish
