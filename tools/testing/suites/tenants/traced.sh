#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# traced - the function tracer records perf core and the PMU's driver, NMI handlers too
#
# Live patches replace functions by the same hooks (ftrace).
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

tracing=/sys/kernel/tracing

# Patterns of all functions of the driver, and the functions that add an event, delete an event and
# handle the interrupt
case $BUILTIN$VENDOR in
1arm) driver='armpmu_* armv8pmu_*' add=armpmu_add del=armpmu_del interrupt=armv8pmu_handle_irq ;;
1*) driver='x86_pmu_* intel_pmu_*' add=x86_pmu_add del=x86_pmu_del interrupt=intel_pmu_handle_irq ;;
*)
	driver=:mod:corepmu add=corepmu_event_add del=corepmu_event_del
	case $VENDOR in
	arm) interrupt=pmuv3_interrupt ;;
	*) interrupt=x86_handle_nmi ;;
	esac
	;;
esac

# Trace all functions of perf core, and of the driver.
trace()
{
	echo >$tracing/set_ftrace_filter
	for functions in 'perf_*' 'event_*' $driver; do
		echo "$functions" >>$tracing/set_ftrace_filter || return 1
	done
	echo function >$tracing/current_tracer
}

# seen FUNCTION: check that the trace has a function.
seen() { grep -q "$1 <-" $tracing/trace; }

tracer_is_on()
{
	expect_true "the function tracer" trace && still_counts || return 1
	for function in perf_event_exit_task $add $del; do
		expect_true "$function in the trace" seen "$function" || return 1
	done
}

# Print how many samples perf record takes of a workload.
samples()
{
	perf record -o /tmp/perf.data -e "$PMU/$INSTRUCTIONS/u" -c 100003 workload >/dev/null 2>&1
	perf script -i /tmp/perf.data -F ip 2>/dev/null | wc -l
}

samples_are_complete()
{
	periods=$(($(stat_count "$PMU/$INSTRUCTIONS/u" workload) / 100003))
	expect_range "samples" $((periods - 1)) $((periods + 1)) "$(samples)" &&
		expect_true "$interrupt in the trace" seen $interrupt
}

branches_are_recorded()
{
	need_extra branches
	perf record -b -o /tmp/perf.data -e "$PMU/$CYCLES/u" -c 1000003 workload >/dev/null 2>&1 || return 1
	expect_says "branches" '0x[0-9a-f]+/0x' "$(perf script -i /tmp/perf.data -F brstack 2>/dev/null)"
}

reload()
{
	[ -z "$BUILTIN" ] || skip "the built-in driver stays"
	rmmod corepmu && insmod "$MODULE" && still_counts
}

plan 5
check "the PMU counts while its functions are traced" tracer_is_on
check "no sample is lost" samples_are_complete
check "samples have branches" branches_are_recorded
check "unload and load under the tracer" reload
check "the kernel logs no warning" no_kernel_warning
echo nop >$tracing/current_tracer
rm -f /tmp/perf.data
finish
