#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# livepatch - the PMU counts and samples while a live patch replaces functions of perf core
#
# The module patch-perf of tools/testing/kmods replaces functions that PMU drivers call. Overflow
# handlers call some of them.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

patch=/sys/kernel/livepatch/patch_perf
calls=/sys/module/patch_perf/parameters

# transition_ends: wait until the kernel has switched all tasks
transition_ends()
{
	for _ in $(seq 100); do
		[ "$(cat $patch/transition 2>/dev/null || echo 0)" = 1 ] || return 0
		sleep 0.1
	done
	return 1
}

# samples [OPTION]...: print the number of samples of a workload; options are perf record's
samples()
{
	perf record "$@" -o /tmp/perf.data -e "$PMU/$INSTRUCTIONS/u" -c 100003 workload >/dev/null 2>&1
	perf script -i /tmp/perf.data -F ip 2>/dev/null | wc -l
}

counts_exactly()
{
	expect_equal "instructions" "$unpatched" "$(stat_count "$PMU/$INSTRUCTIONS/u" workload)"
}

samples_are_complete()
{
	periods=$((unpatched / 100003))
	expect_range "samples" $((periods - 1)) $((periods + 1)) "$(samples)"
}

works() { counts_exactly && samples_are_complete; }

is_patched()
{
	insmod /corepmu/kmods/patch-perf/patch-perf.ko &&
		expect_equal "enabled" 1 "$(cat $patch/enabled)" &&
		expect_true "all tasks switch" transition_ends
}

# The overflow handler updates the user page of a CPU's event at each overflow, but not of an event
# of another task than the one that maps the page.
replacements_run()
{
	before=$(cat $calls/samples)
	works && expect_range "calls of perf_output_sample()" $((periods - 1)) 100000 \
		$(($(cat $calls/samples) - before)) || return
	before=$(cat $calls/pages)
	samples -a >/dev/null
	expect_range "calls of perf_event_update_userpage()" $((periods - 1)) 1000000000 \
		$(($(cat $calls/pages) - before))
}

reload()
{
	[ -z "$BUILTIN" ] || skip "the built-in driver stays"
	rmmod corepmu && insmod "$MODULE" && replacements_run
}

is_reverted()
{
	echo 0 >$patch/enabled && expect_true "all tasks switch back" transition_ends || return
	calls_before=$(cat $calls/samples $calls/pages)
	works && expect_not "the list of live patches" patch_perf "$(ls /sys/kernel/livepatch)" &&
		expect_equal "calls of the replacements" "$calls_before" "$(cat $calls/samples $calls/pages)"
}

unpatched=$(stat_count "$PMU/$INSTRUCTIONS/u" workload)
plan 6
check "the PMU counts and samples before the patch" works
check "the kernel applies the patch while the driver runs" is_patched
check "the driver calls the replacements, and counts and samples" replacements_run
check "the driver calls the replacements after a load under the patch" reload
check "the PMU counts and samples after the patch is reverted" is_reverted
check "the kernel logs no warning" no_kernel_warning
rm -f /tmp/perf.data
finish
