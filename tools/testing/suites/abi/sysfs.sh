#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# sysfs - the PMU's files, and the events that they name
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

pmu=$DEVICES/$PMU
# 16 million instructions are enough to count.
export ROUNDS=400

# Lists of event names: all; those that must count something; those of one microarchitecture;
# generic events that the CPU lacks. On x86 the built-in driver shows the same names for a virtual
# CPU, except some.
of_model=
of_precise=
case $VENDOR in
intel)
	events="branch-instructions branch-misses bus-cycles cache-misses cache-references"
	events="$events cpu-cycles instructions ref-cycles"
	counting="branch-instructions branch-misses bus-cycles cpu-cycles instructions ref-cycles"
	# Events of the guest's CPU model, Skylake; perf-stat.sh on the host compares their texts.
	of_model="topdown-fetch-bubbles topdown-recovery-bubbles topdown-recovery-bubbles.scale"
	of_model="$of_model topdown-slots-issued topdown-slots-retired topdown-total-slots"
	of_model="$of_model topdown-total-slots.scale"
	formats="cmask edge event frontend inv offcore_rsp umask"
	no_generic=stalled-cycles
	# For PMUs with precise samples; other PMUs reject these events.
	if [ -z "$BUILTIN" ] && [ "$(cat "$pmu/caps/max_precise")" -gt 0 ]; then
		formats="cmask edge event frontend inv ldlat offcore_rsp umask"
		of_precise="mem-loads mem-stores"
	fi
	;;
amd)
	events="branch-instructions branch-misses cache-misses cache-references"
	events="$events cpu-cycles instructions stalled-cycles-backend stalled-cycles-frontend"
	counting="branch-instructions branch-misses cpu-cycles instructions"
	formats="cmask edge event inv umask"
	no_generic='bus-cycles|ref-cycles'
	;;
arm)
	events="cpu_cycles inst_retired"
	counting=$events
	# QEMU's CPUs of ARMv8.0 have no stall events.
	grep -q 'CPU part.*: 0xd0[378]$' /proc/cpuinfo ||
		events="$events stall stall_backend stall_frontend"
	formats="event long rdpmc"
	# The built-in driver has these since Linux 6.9.
	if [ -z "$BUILTIN" ] || [ -e "$pmu/format/threshold" ]; then
		formats="$formats threshold threshold_compare threshold_count"
	fi
	no_generic='branch-misses|cache-misses|bus-cycles'
	;;
esac

files="$pmu/type $(ls -d "$pmu"/cpus "$pmu"/alias "$pmu"/caps/* 2>/dev/null)"
for name in $events; do
	files="$files $pmu/events/$name"
done
for name in $formats; do
	files="$files $pmu/format/$name"
done

# Expect the text of the manual, written as the built-in drivers write it.
event_is()
{
	case $VENDOR:$1 in
	arm:cpu_cycles) echo event=0x0011 ;;
	arm:inst_retired) echo event=0x0008 ;;
	arm:stall) echo event=0x003c ;;
	arm:stall_backend) echo event=0x0024 ;;
	arm:stall_frontend) echo event=0x0023 ;;
	intel:branch-instructions) echo event=0xc4 ;;
	intel:branch-misses) echo event=0xc5 ;;
	intel:bus-cycles) echo event=0x3c,umask=0x01 ;;
	intel:cache-misses) echo event=0x2e,umask=0x41 ;;
	intel:cache-references) echo event=0x2e,umask=0x4f ;;
	intel:cpu-cycles) echo event=0x3c ;;
	intel:ref-cycles) echo event=0x00,umask=0x03 ;;
	# Family 17h
	amd:branch-instructions) echo event=0xc2 ;;
	amd:branch-misses) echo event=0xc3 ;;
	amd:cache-misses) echo event=0x64,umask=0x09 ;;
	amd:cache-references) echo event=0x60,umask=0xff ;;
	amd:cpu-cycles) echo event=0x76 ;;
	amd:stalled-cycles-backend) echo event=0x87,umask=0x01 ;;
	amd:stalled-cycles-frontend) echo event=0x87,umask=0x02 ;;
	*:instructions) echo event=0xc0 ;;
	esac
}

format_is()
{
	case $VENDOR:$1 in
	arm:event) echo config:0-15 ;;
	arm:long) echo config1:0 ;;
	arm:rdpmc) echo config1:1 ;;
	arm:threshold_count) echo config1:2 ;;
	arm:threshold_compare) echo config1:3-4 ;;
	arm:threshold) echo config1:5-16 ;;
	amd:event) echo config:0-7,32-35 ;;
	intel:event) echo config:0-7 ;;
	*:umask) echo config:8-15 ;;
	*:ldlat) echo config1:0-15 ;;
	*:offcore_rsp | *:offmodule_rsp) echo config1:0-63 ;;
	*:frontend) echo config1:0-23 ;;
	*:edge) echo config:18 ;;
	*:inv) echo config:23 ;;
	*:cmask) echo config:24-31 ;;
	esac
}

type_is_right()
{
	wanted=$(cat /sys/module/corepmu/parameters/type 2>/dev/null || echo 4)
	if [ "$wanted" = -1 ]; then
		expect_range "type" 6 1000 "$(cat "$pmu"/type)"
	else
		expect_equal "type" "$wanted" "$(cat "$pmu"/type)"
	fi
}

types_differ()
{
	expect_equal "PMUs of its type" 1 "$(grep -lx "$(cat "$pmu"/type)" "$DEVICES"/*/type | wc -l)"
}

formats()
{
	for format in $formats; do
		expect_equal "format/$format" "$(format_is "$format")" \
			"$(cat "$pmu/format/$format")" || return 1
	done
	[ -n "$BUILTIN" ] || expect_equal "names in format/" "$formats " "$(cd "$pmu/format" && printf '%s ' *)"
}

formats_do_not_overlap()
{
	[ -z "$BUILTIN" ] || skip "the built-in driver has one field for several uses"
	# Every Intel event uses the bits of config1 in its own way, if at all.
	expect_equal "bits with two names" '' "$(cat "$pmu"/format/* |
		grep -v "^$([ "$VENDOR" = intel ] && echo config1:)" | awk -F '[:,]' '
	{
		for (i = 2; i <= NF; i++) {
			n = split($i, bits, "-")
			for (bit = bits[1]; bit <= bits[n]; bit++)
				if (seen[$1, bit]++)
					print $1 " bit " bit
		}
	}')"
}

event_names()
{
	if [ -n "$BUILTIN" ]; then
		for event in $events $of_model; do
			expect_true "a file events/$event" test -e "$pmu/events/$event" || return 1
		done
	else
		# shellcheck disable=SC2086 # words
		names=$(printf '%s\n' $events $of_model $of_precise | sort)
		expect_equal "names in events/" "$names" "$(cd "$pmu/events" && printf '%s\n' * | sort)"
	fi
}

event_numbers()
{
	for event in $events; do
		expect_equal "events/$event" "$(event_is "$event")" "$(cat "$pmu/events/$event")" || return 1
	done
}

# Four events per run: the CPUs of the guests that run this suite count four at once.
events_count()
{
	# shellcheck disable=SC2086 # one word per event
	printf '%s\n' $events | xargs -n 4 | while IFS= read -r four; do
		# shellcheck disable=SC2086
		perf stat -x';' -o /tmp/out -e "$(printf "$PMU/%s/u," $four | sed 's/,$//')" workload || exit 1
		for event in $four; do
			case " $counting " in
			*" $event "*) least=1000 ;;
			*) least=0 ;;
			esac
			expect_range "count of $event" "$least" 10000000000 \
				"$(awk -F';' -v e="$PMU/$event/u" '$3 == e { print $1 }' /tmp/out)" || exit 1
		done
	done
}

raw_event()
{
	a=$(stat_count "$PMU/$(event_is "$INSTRUCTIONS")/u" workload)
	b=$(stat_count "$PMU/$INSTRUCTIONS/u" workload)
	expect_range "count" 1000000 10000000000 "$a" &&
		expect_equal "count of the named event" "$a" "$b" || return 1
	[ ! -e "$pmu/format/long" ] || expect_equal "count of the 64-bit event" "$a" \
		"$(stat_count "$PMU/$INSTRUCTIONS,long=1/u" workload)"
}

cpus()
{
	[ -z "$BUILTIN" ] || skip "the built-in driver has no such file"
	expect_equal "cpus" "$(cat /sys/devices/system/cpu/online)" "$(cat "$pmu"/cpus)"
}

# Perf's metrics of x86 name the PMU cpu.
alias_finds_the_pmu()
{
	if [ -n "$BUILTIN" ] || [ "$PMU" = cpu ] || [ "$VENDOR" = arm ]; then
		expect_true "no alias" test ! -e "$pmu/alias"
		return
	fi
	expect_equal "alias" cpu "$(cat "$pmu/alias")" &&
		expect_equal "count of cpu/$INSTRUCTIONS/u" \
			"$(stat_count "$PMU/$INSTRUCTIONS/u" workload)" \
			"$(stat_count "cpu/$INSTRUCTIONS/u" workload)"
}

no_cpumask()
{
	expect_true "no cpumask, with which perf would take it for an uncore PMU" \
		test ! -e "$pmu/cpumask"
}

case $(uname -m) in
x86_64) most_precise=3 ;;
*) most_precise=0 ;;
esac

caps()
{
	# QEMU's CPUs have no slots and no thresholds.
	for file in "$pmu"/caps/*slots "$pmu"/caps/bus_width "$pmu"/caps/threshold_max; do
		[ ! -e "$file" ] || expect_equal "$file" 0x00000000 "$(cat "$file")" || return 1
	done
	[ "$VENDOR$BUILTIN" != arm ] || expect_equal "names in caps/" \
		"bus_slots bus_width max_precise slots threshold_max " \
		"$(cd "$pmu/caps" && printf '%s ' *)" || return 1
	[ ! -e "$pmu/caps/branches" ] || expect_true "caps/branches to be a number above 0" \
		test "$(cat "$pmu/caps/branches")" -gt 0 || return 1
	# precise_ip has two bits. On arm64, AMD and old Intel CPUs samples have skid.
	[ ! -e "$pmu/caps/max_precise" ] ||
		expect_range "max_precise" 0 "$most_precise" "$(cat "$pmu/caps/max_precise")"
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
	for file in $files; do
		expect_equal "mode of $file" 444 "$(stat -c %a "$file")" || return 1
	done
}

ends_in_newline()
{
	for file in $files; do
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
		expect_not "perf list hw" "$no_generic" "$said"
}

plan 17
check "the type is dynamic, or that of type=" type_is_right
check "no other PMU has the type" types_differ
check "formats" formats
check "no bit has two formats" formats_do_not_overlap
check "names of events" event_names
check "numbers of events" event_numbers
check "events count" events_count
check "an event by number, by name, and with 64 bits" raw_event
check "cpus are those online" cpus
check "there is no cpumask" no_cpumask
check "on x86 perf finds the PMU by the built-in driver's name" alias_finds_the_pmu
check "caps" caps
check "perf_event_mux_interval_ms can be set" interval
check "nothing else can be written" read_only
check "every file is one line" ends_in_newline
check "perf list names the events" perf_list
check "perf list names generic events the CPU has" perf_list_generic
finish
