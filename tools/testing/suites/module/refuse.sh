#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# refuse - a load that fails logs the reason in one sentence, and leaves nothing
#
# The guest's stanza causes the failure and names it on the kernel's command line:
#   corepmu_test.refuse=held        the built-in driver has the PMU
#   corepmu_test.refuse=unreserved  the built-in driver does not reserve its counters
#   corepmu_test.refuse=absent      there is no PMU
#   corepmu_test.refuse=xen         the kernel is a PV domain of Xen
#   corepmu_test.refuse=no-count    the counters do not count
#   corepmu_test.refuse=no-overflow the interrupt never comes
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

trouble=$(sed -n 's/.*corepmu_test\.refuse=\([a-z-]*\).*/\1/p' /proc/cmdline)
case $trouble in
held)
	sentence='held by the built-in driver: .*nmi_watchdog'
	# The word of the command line that removes the built-in driver
	[ "$VENDOR" != arm ] ||
		sentence="held by .*initcall_blacklist=$(sed -n 's/^builtin=//p' /corepmu/conf)\$"
	;;
unreserved) sentence='the built-in driver does not reserve its counters' ;;
absent) sentence='no PMUv3|has no|do not keep written values' ;;
xen) sentence='a Xen PV domain: .*boot without Xen' ;;
no-count) sentence='no counter counts' ;;
no-overflow) sentence='no counter has an overflow interrupt' ;;
*)
	echo "Bail out! the command line names no trouble"
	exit 1
	;;
esac

traces()
{
	ls "$DEVICES" /sys/bus/platform/drivers /sys/module
	grep -iE 'pmu|perf' /proc/interrupts | sed 's/ .*//'
}

insmod_fails()
{
	traces >/tmp/before
	dmesg_mark refuse
	said=$(insmod "$MODULE" 2>&1) && { echo "it loaded"; return 1; }
	dmesg_since refuse >/tmp/said
	expect_says "insmod" 'insmod: ' "$said"
}

one_sentence()
{
	expect_equal "lines in the kernel's log" 1 "$(wc -l </tmp/said)" ||
		{ cat /tmp/said; return 1; }
	expect_says "the sentence" "^corepmu: .*($sentence)" "$(cat /tmp/said)"
}

nothing_left()
{
	expect_true "no PMU" test ! -e "$DEVICES/corepmu" || return 1
	expect_true "no module" test ! -e /sys/module/corepmu || return 1
	traces >/tmp/after
	expect_true "what there was before" diff /tmp/before /tmp/after
}

again()
{
	for i in $(seq 3); do
		insmod "$MODULE" 2>/dev/null && { echo "it loaded at try $i"; return 1; }
	done
	traces >/tmp/after
	expect_true "what there was before" diff /tmp/before /tmp/after
}

built_in_counts()
{
	builtin=$(builtin_pmu)
	[ -n "$builtin" ] || skip "there is no built-in driver"
	expect_range "instructions" 1000000 10000000000 \
		"$(stat_count "$builtin/$INSTRUCTIONS/u" workload)"
}

# A driver bug may remove this whole directory. The module may have been tried before the suite, so
# that its earlier content is unknown.
sysctls_are_there()
{
	for name in ostype panic perf_event_paranoid; do
		expect_true "kernel.$name" test -e "/proc/sys/kernel/$name" || return 1
	done
}

plan 7
check "the module does not load ($trouble)" insmod_fails
check "the log says why in one sentence" one_sentence
check "the refused load leaves nothing" nothing_left
check "it does not load at further tries" again
check "the kernel's sysctls are there" sysctls_are_there
check "the built-in driver counts" built_in_counts
check "the kernel logs no warning" no_kernel_warning
finish
