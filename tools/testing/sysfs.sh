#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# sysfs - the PMU's files, and that what they name can be counted
. "$(dirname "$0")/ktap.sh"

pmu=$DEVICES/$PMU

# QEMU's CPUs of ARMv8.0 have no stall events.
events="cpu_cycles inst_retired"
grep -q 'CPU part.*: 0xd0[378]$' /proc/cpuinfo ||
	events="$events stall stall_backend stall_frontend"

# number NAME: what the manual says.
number()
{
	case $1 in
	cpu_cycles) echo 0x0011 ;;
	inst_retired) echo 0x0008 ;;
	stall) echo 0x003c ;;
	stall_backend) echo 0x0024 ;;
	stall_frontend) echo 0x0023 ;;
	esac
}

type_is_dynamic()
{
	expect_range "type" 6 1000 "$(cat "$pmu"/type)"
}

types_differ()
{
	expect_equal "PMUs of its type" 1 "$(grep -lx "$(cat "$pmu"/type)" "$DEVICES"/*/type | wc -l)"
}

formats()
{
	expect_equal "format/event" config:0-15 "$(cat "$pmu"/format/event)" &&
		expect_equal "format/long" config1:0 "$(cat "$pmu"/format/long)" &&
		for file in "$pmu"/format/*; do
			expect_says "$file" '^config[0-9]*:[0-9]+(-[0-9]+)?$' "$(cat "$file")" ||
				return 1
		done
}

formats_do_not_overlap()
{
	cat "$pmu"/format/* | awk -F '[:-]' '
	{
		for (bit = $2; bit <= (NF > 2 ? $3 : $2); bit++)
			if (seen[$1, bit]++) {
				print $1 " bit " bit " has two names"
				bad = 1
			}
	}
	END { exit bad }'
}

event_names()
{
	expect_equal "names in events/" "$events " "$(cd "$pmu/events" && printf '%s ' *)"
}

event_numbers()
{
	for event in $events; do
		expect_equal "events/$event" "event=$(number "$event")" "$(cat "$pmu/events/$event")" || return 1
	done
}

event_opens()
{
	expect_range "count of $1" "$2" 10000000000 "$(stat_count "$PMU/$1/u" workload)"
}

raw_event()
{
	a=$(stat_count "$PMU/event=0x8/u" workload)
	b=$(stat_count "$PMU/inst_retired/u" workload)
	c=$(stat_count "$PMU/inst_retired,long=1/u" workload)
	expect_range "count" 1000000 10000000000 "$a" &&
		expect_equal "count of the named event" "$a" "$b" &&
		expect_equal "count of the 64-bit event" "$a" "$c"
}

cpus()
{
	expect_equal "cpus" "$(cat /sys/devices/system/cpu/online)" "$(cat "$pmu"/cpus)"
}

no_cpumask()
{
	[ ! -e "$pmu/cpumask" ] || { echo "cpumask makes perf take it for an uncore PMU"; return 1; }
}

caps()
{
	for file in "$pmu"/caps/slots "$pmu"/caps/bus_slots "$pmu"/caps/bus_width; do
		[ ! -e "$file" ] || expect_equal "$file" 0x00000000 "$(cat "$file")" || return 1
	done
	[ ! -e "$pmu/caps/max_precise" ] || expect_equal "max_precise" 0 "$(cat "$pmu/caps/max_precise")"
}

interval()
{
	file=$pmu/perf_event_mux_interval_ms
	before=$(cat "$file")
	echo 7 >"$file" || return 1
	now=$(cat "$file")
	echo "$before" >"$file"
	expect_equal "interval" 7 "$now" && expect_range "interval before" 1 100 "$before"
}

read_only()
{
	for file in "$pmu"/type "$pmu"/cpus "$pmu"/format/* "$pmu"/events/* "$pmu"/caps/*; do
		expect_equal "mode of $file" 444 "$(stat -c %a "$file")" || return 1
	done
}

ends_in_newline()
{
	for file in "$pmu"/type "$pmu"/cpus "$pmu"/format/* "$pmu"/events/* "$pmu"/caps/*; do
		expect_equal "lines of $file" 1 "$(wc -l <"$file")" || return 1
	done
}

perf_list()
{
	said=$(perf list pmu 2>&1)
	for event in $events; do
		expect_says "perf list pmu" "(^|[ /])$event(\$|[ /])" "$said" || return 1
	done
}

perf_list_generic()
{
	said=$(perf list hw 2>&1)
	expect_says "perf list hw" 'cpu-cycles' "$said" &&
		expect_says "perf list hw" 'instructions' "$said" &&
		expect_not "perf list hw" 'branch-misses|cache-misses|bus-cycles' "$said"
}

plan 20
check "the type is a dynamic one" type_is_dynamic
check "no other PMU has it" types_differ
check "formats" formats
check "no bit has two formats" formats_do_not_overlap
check "names of events" event_names
check "numbers of events" event_numbers
check "cpu_cycles counts" event_opens cpu_cycles 1000000
check "inst_retired counts" event_opens inst_retired 1000000
for event in stall stall_backend stall_frontend; do
	case " $events " in
	*" $event "*) check "$event opens" event_opens $event 0 ;;
	*) check "$event opens" skip "this CPU does not have it" ;;
	esac
done
check "an event by number, by name, and with 64 bits" raw_event
check "cpus are those online" cpus
check "there is no cpumask" no_cpumask
check "caps" caps
check "perf_event_mux_interval_ms can be set" interval
check "nothing else can be written" read_only
check "every file is one line" ends_in_newline
check "perf list names the events" perf_list
check "perf list names generic events the CPU has" perf_list_generic
finish
