#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# lifecycle - load and unload the module
#
# For guests without the built-in driver and with the module not loaded.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

pmu=$DEVICES/$PMU
backend='x86.*'
[ "$VENDOR" != arm ] || backend=PMUv3

load()
{
	insmod "$MODULE" "$@"
}

unload()
{
	rmmod corepmu
}

references()
{
	cat /sys/module/corepmu/refcnt
}

# Print traces of a loaded module in other parts of the kernel.
traces()
{
	ls "$DEVICES"
	grep -iE 'pmu|perf' /proc/interrupts | sed 's/ .*//'
	ls /sys/bus/platform/drivers /sys/module
	ls /sys/kernel/debug 2>/dev/null
	cat /sys/kernel/debug/kprobes/list
}

counts()
{
	expect_range "instructions" 2000 1000000 "$(stat_count "$PMU/$INSTRUCTIONS/u" true)"
}

load_and_unload()
{
	traces >/tmp/before
	load || return 1
	[ -e "$pmu/type" ] || { echo "there is no $pmu"; return 1; }
	expect_equal "references" 0 "$(references)" || return 1
	counts || return 1
	expect_equal "references after use" 0 "$(references)" || return 1
	unload || return 1
	[ ! -e "$pmu" ] || { echo "$pmu is still there"; return 1; }
	traces >/tmp/after
	diff /tmp/before /tmp/after
}

says_what_it_is()
{
	dmesg_mark load
	load || return 1
	said=$(dmesg_since load | grep '^corepmu:')
	unload
	expect_says "the kernel's log" "PMU $PMU: $backend, .*[1-9][0-9]* counters on CPUs 0" "$said" &&
		expect_equal "lines in the kernel's log" 1 "$(echo "$said" | wc -l)"
}

# Print the objects in use of the kernel's general caches. /proc/slabinfo counts all objects of a
# slab that a CPU holds; with slub_debug=F no CPU holds one.
objects_in_use()
{
	awk '/^kmalloc-/ { sum += $2 } END { print sum }' /proc/slabinfo
}

percpu_in_use()
{
	awk '/^Percpu/ { print $2 }' /proc/meminfo
}

# Number of loads to find a leak of one object per load. On x86 a load takes longer.
times=100
[ "$VENDOR" = arm ] || times=40

# Number of times that the module is loaded to be unloaded right after perf
reloads=10
! grep -q 'corepmu_test\.reloads=few' /proc/cmdline || reloads=2

many_times()
{
	expect_equal "slub_debug=F,kmalloc-* of the kernel's command line" 1 \
		"$(cat /sys/kernel/slab/kmalloc-128/sanity_checks)" || return 1
	# The first load allocates some memory for good: do this now.
	load && unload || return 1
	# Memory of the checks before waits for kfree_rcu(), for five seconds (KFREE_DRAIN_JIFFIES).
	sleep 6
	free=$(awk '/^MemFree/ { print $2 }' /proc/meminfo)
	percpu=$(percpu_in_use)
	objects=$(objects_in_use)
	for i in $(seq $times); do
		load || { echo "load $i"; return 1; }
		if [ $((i % 20)) = 0 ]; then
			counts || return 1
		fi
		expect_true "unload $i" unload || return 1
	done
	sync
	left=$(awk '/^MemFree/ { print $2 }' /proc/meminfo)
	expect_range "KiB of memory gone" 0 $((200 * times)) $((left < free ? free - left : 0)) || return 1
	# Before Linux 6.2 each load leaves its PMU behind, see drivers/corepmu/module/stale-pmu.c.
	kept=0
	case $(uname -r) in 6.1.*) kept=$((2 * times)) ;; esac
	# A leak stays. Memory that waits for a grace period or for kfree_rcu() is freed meanwhile.
	tries=0
	while now=$(objects_in_use); [ $((now - objects)) -gt $((kept + times / 2)) ] && [ "$tries" -lt 20 ]; do
		sleep 0.5
		tries=$((tries + 1))
	done
	objects=$((now - objects))
	percpu=$(($(percpu_in_use) - percpu))
	expect_range "objects gone" 0 $((kept + times / 2)) $((objects > 0 ? objects : 0)) &&
		expect_range "KiB of each CPU's memory gone" 0 $times $((percpu > 0 ? percpu : 0))
}

loaded_twice()
{
	load || return 1
	said=$(load 2>&1) && { echo "loaded twice"; return 1; }
	expect_says "the second load" 'File exists' "$said" && counts
	status=$?
	unload || return 1
	return "$status"
}

another_name()
{
	load name=other || return 1
	count=$(stat_count "other/$INSTRUCTIONS/u" true)
	[ -e "$DEVICES/other" ] && [ ! -e "$pmu" ] || { ls "$DEVICES"; return 1; }
	unload || return 1
	expect_range "instructions" 2000 1000000 "$count"
}

stands_in()
{
	name=cpu
	[ "$VENDOR" != arm ] || name=armv8_pmuv3
	load standin=1 || return 1
	count=$(stat_count "$name/$INSTRUCTIONS/u" true)
	type=$(cat "$DEVICES/$name/type")
	parameter=$(cat /sys/module/corepmu/parameters/name)
	unload || return 1
	expect_range "instructions" 2000 1000000 "$count" &&
		expect_equal "parameter name" "$name" "$parameter" || return 1
	[ "$VENDOR" = arm ] || expect_equal "type" 4 "$type"
}

stand_in_with_a_name()
{
	dmesg_mark standin
	for parameter in name=other type=40; do
		load standin=1 $parameter 2>/dev/null && { unload; echo "loaded"; return 1; }
	done
	traces >/tmp/after
	expect_equal "the log" "corepmu: standin=1 sets name and type: leave out name= and type=" \
		"$(dmesg_since standin)" &&
		expect_true "what there was before" diff /tmp/before /tmp/after
}

# refused_with PATTERN PARAMETER...: expect that the module does not load, logs one line and leaves
# no trace.
refused_with()
{
	pattern=$1
	shift
	dmesg_mark "refused $*"
	load "$@" 2>/dev/null && { unload; echo "loaded with $*"; return 1; }
	said=$(dmesg_since "refused $*")
	traces >/tmp/after
	expect_equal "lines in the kernel's log with $*" 1 "$(echo "$said" | wc -l)" &&
		expect_says "the log" "^corepmu: $pattern" "$said" &&
		expect_true "what there was before" diff /tmp/before /tmp/after
}

name_that_is_taken()
{
	for name in software tracepoint breakpoint; do
		refused_with "name=$name: there is a PMU $name already: give another name\$" \
			name="$name" || return 1
	done
	load && counts && unload
}

# Only standin=1 gives a PMU both the built-in driver's name and its type.
name_of_the_builtin()
{
	[ "$VENDOR" != arm ] || skip "on arm64 a PMU may have any name"
	for name in cpu cpu_core cpu_atom; do
		refused_with "name=$name: $name is .*, which has type 4: load with standin=1" \
			name="$name" || return 1
	done
	load name=cpu0 && unload
}

name_of_no_pmu()
{
	dmesg_mark names
	long=$(printf %0128d 0 | tr 0 x)
	for parameter in '' . .. a/b a,b -a .a 0 'é' "$long"; do
		load name="$parameter" 2>/dev/null && { unload; echo "loaded: $parameter"; return 1; }
	done
	traces >/tmp/after
	expect_equal "the log" \
		": a name is up to 127 letters, digits, _, - and ., and starts with a letter or _" \
		"$(dmesg_since names | sed 's/^corepmu: name=[^:]*//' | sort -u)" &&
		expect_true "what there was before" diff /tmp/before /tmp/after || return 1
	for parameter in "${long#x}" _0a.b; do
		load name="$parameter" || return 1
		count=$(stat_count "$parameter/$INSTRUCTIONS/u" true)
		unload || return 1
		expect_range "instructions" 2000 1000000 "$count" || return 1
	done
}

type_that_is_taken()
{
	load || return 1
	ours=$(cat "$pmu/type")
	unload
	# Other PMUs have all types below this one. From Linux 6.5 on, two of them have no device.
	for type in $(seq 6 $((ours - 1))); do
		refused_with "type=$type: .* has this type: give another, or leave out type=\$" \
			type="$type" || return 1
	done
}

type_of_no_pmu()
{
	for type in 0 1 2 3 5 -2 -5 -2147483648; do
		refused_with "type=$type: the type of a PMU must be 4, or at least 6; leave out" \
			type="$type" || return 1
	done
	for type in -1 4 99 2147483647; do
		load type="$type" || return 1
		[ "$type" = -1 ] || expect_equal "type" "$type" "$(cat "$pmu/type")" ||
			{ unload; return 1; }
		counts || { unload; return 1; }
		unload || return 1
	done
}

bad_parameter()
{
	said=$(load start_near_wrap=many 2>&1) && { unload; echo "loaded"; return 1; }
	expect_says "a parameter that is no number" 'nvalid' "$said" &&
		load && counts && unload
}

# Events are freed shortly after their owner has ended.
released()
{
	tries=0
	while [ "$(references)" != 0 ] && [ "$tries" -lt 200 ]; do
		sleep 0.01
		tries=$((tries + 1))
	done
	expect_equal "references when all events are gone" 0 "$(references)"
}

# hold EVENT...: start perf in the background, and wait until its events are open.
hold()
{
	until_told
	perf "$@" >/dev/null 2>&1 &
	holder=$!
	wait_started "$holder"
	[ "$(references)" -gt 0 ] || { echo "no event came to life"; return 1; }
}

release()
{
	tell
	wait "$holder" 2>/dev/null
	released
}

unload_is_refused()
{
	load || return 1
	hold "$@" || { unload; return 1; }
	for i in 1 2 3; do
		said=$(unload 2>&1) && { echo "unloaded under an event"; return 1; }
		expect_says "unload" 'temporarily unavailable|in use|busy' "$said" || return 1
	done
	# Other programs can use the PMU while perf holds it.
	counts
	status=$?
	release && unload || return 1
	[ ! -e "$pmu" ] || return 1
	return "$status"
}

# refused_under CAPABILITY PERF...: unload_is_refused while perf runs; afterwards everything is
# freed.
refused_under()
{
	load || return 1
	need=$(cat "$pmu/caps/$1" 2>/dev/null || echo 0)
	unload
	[ "$need" != 0 ] || skip "caps/$1 of this PMU is 0"
	shift
	unload_is_refused "$@"
}

generic_events_go_and_come()
{
	load || return 1
	expect_range "generic cycles" 2000 1000000 "$(stat_count cycles:u true)" || return 1
	unload || return 1
	expect_equal "generic cycles without the module" '<not supported>' \
		"$(stat_count cycles:u true)" || return 1
	load || return 1
	expect_range "generic cycles again" 2000 1000000 "$(stat_count cycles:u true)" ||
		return 1
	unload
}

reload_after_system_wide()
{
	for i in $(seq "$reloads"); do
		load || return 1
		perf stat -a -x, -o /tmp/out -e "$PMU/$CYCLES/" true || return 1
		expect_true "unload $i" unload || return 1
	done
	expect_range "cycles" 1 100000000000 "$(counted "$CYCLES")"
}

reload_after_sampling()
{
	for i in $(seq $(((reloads + 1) / 2))); do
		load || return 1
		perf record -o /tmp/perf.data -e "$PMU/$CYCLES/" -c 20000 \
			workload >/dev/null 2>&1 || return 1
		expect_true "unload $i" unload || return 1
	done
	expect_range "samples" 1000 1000000 \
		"$(perf script -i /tmp/perf.data -F ip 2>/dev/null | wc -l)"
}

# An interrupt or a task switch may be in progress when the last event is closed.
unload_right_after()
{
	for i in $(seq $((2 * reloads))); do
		load || return 1
		perf stat -a -e "$PMU/$CYCLES/,$PMU/$INSTRUCTIONS/" sleep 0.001 >/tmp/out 2>&1 ||
			{ cat /tmp/out; return 1; }
		expect_true "unload $i" unload || return 1
	done
}

# Perf core rotates events by a timer of the PMU, which may have long to run; writing the file
# starts it as well. The timer must not expire after its memory has been freed.
unload_with_rotation()
{
	load || return 1
	echo 700 >"$pmu/perf_event_mux_interval_ms" || return 1
	expect_equal "the interval" 700 "$(cat "$pmu/perf_event_mux_interval_ms")" || return 1
	expect_true "unload" unload || return 1
	# The new load uses memory that was freed.
	load || return 1
	sleep 1
	counts || return 1
	unload
}

# Kill perf with SIGKILL while it has events.
unload_after_kill()
{
	for i in $(seq $(((reloads + 1) / 2))); do
		load || return 1
		hold record -a -o /tmp/perf.data -e "$PMU/$CYCLES/" -c 50000 \
			"$UNTIL_TOLD" || return 1
		kill -9 "$holder"
		tell
		wait "$holder" 2>/dev/null
		released || return 1
		expect_true "unload $i" unload || return 1
	done
}

plan 28
check "load, count, unload, no trace left" load_and_unload
check "the log says in one line what the PMU is" says_what_it_is
check "load, count, unload many times" many_times
check "a second load is refused" loaded_twice
check "the PMU has the name that it is loaded with" another_name
check "a name that is taken is refused" name_that_is_taken
check "a name that perf could not name is refused, with the rule" name_of_no_pmu
check "the built-in driver's name without its type is refused" name_of_the_builtin
check "a type that is taken is refused, with the PMU that has it" type_that_is_taken
check "a type that no PMU can have is refused, with the limits" type_of_no_pmu
check "standin=1 takes the built-in PMU's name and type" stands_in
check "standin=1 with name= or type= is refused" stand_in_with_a_name
check "a parameter that is wrong is refused" bad_parameter
check "unload is refused under perf stat" \
	unload_is_refused stat -e "$PMU/$CYCLES/" "$UNTIL_TOLD"
check "unload is refused under a generic event" unload_is_refused stat -e cycles "$UNTIL_TOLD"
check "unload is refused under perf stat -a" \
	unload_is_refused stat -a -e "$PMU/$CYCLES/" "$UNTIL_TOLD"
check "unload is refused under perf record" \
	unload_is_refused record -a -o /tmp/perf.data -e "$PMU/$CYCLES/" -c 1000000 \
	"$UNTIL_TOLD"
check "unload is refused under a group" \
	unload_is_refused stat -e "{$PMU/$CYCLES/,$PMU/$INSTRUCTIONS/}" "$UNTIL_TOLD"
check "unload is refused under branch records" \
	refused_under branches record -b -o /tmp/perf.data -e "$PMU/$CYCLES/u" -c 1000000 \
	"$UNTIL_TOLD"
check "unload is refused under precise samples" \
	refused_under max_precise record -a -o /tmp/perf.data -e "$PMU/$CYCLES/pp" -c 1000000 \
	"$UNTIL_TOLD"
check "generic events work only while the module is loaded" generic_events_go_and_come
check "unload after perf stat -a, again and again" reload_after_system_wide
check "unload after perf record, again and again" reload_after_sampling
check "unload at once after the last event" unload_right_after
check "unload while perf core's timer for rotation runs" unload_with_rotation
check "unload after perf was killed" unload_after_kill
check "after all tests: load, count, unload, no trace left" load_and_unload
check "the kernel logs no warning" no_kernel_warning
finish
