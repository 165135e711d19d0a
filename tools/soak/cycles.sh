#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# soak-cycles N: three kinds of N cycles leave no memory in use.
# The module is loaded and unloaded N times, each time right after samples of all CPUs and
# user-space reads have ended. CPUs go offline and come back N times during both. The system sleeps
# N / 10 times during both, if it can. The kernel must have the same memory in use after 10, 100
# and 1000 cycles.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

exec 3>&1
times=${1:-1000}
out=/tmp/cycles
mkdir -p $out
last=$(($(nproc) - 1))

# Print what is in use: objects of caches, KiB of per-CPU memory, KiB of vmalloc(). Before, free
# memory is given back, and grace periods have ended (KFREE_DRAIN_JIFFIES is five seconds). Two
# kinds of objects do not count. Freed areas of vmalloc(), such as stacks of tasks, and the holes
# between them keep their objects until there are 64 MiB (lazy_max_pages() in mm/vmalloc.c) or a
# module is unloaded; the KiB of vmalloc() show its use. And kmemleak has objects for every other
# object.
measure()
{
	sync
	sleep 6
	for _ in 1 2; do
		echo 3 >/proc/sys/vm/drop_caches
		for file in /sys/kernel/slab/*/shrink; do
			echo 1 >"$file" 2>/dev/null
		done
		sleep 1
	done
	awk '/^[a-z]/ && $2 ~ /^[0-9]+$/ && !/^(vmap_area|kmemleak_)/ { sum += $2 }
		END { printf "%d ", sum }' /proc/slabinfo
	awk '/^kmalloc-/ { sum += $2 } END { printf "%d ", sum }' /proc/slabinfo
	awk '/^Percpu/ { percpu = $2 } /^VmallocUsed/ { vmalloc = $2 }
		END { printf "%d %d ", percpu, vmalloc }' /proc/meminfo
	echo
}

watch_start()
{
	pmu-fuzz --pmu corepmu --watch >$out/watch &
	watcher=$!
}

# End the watch with all its tasks, and print what it saw: nothing if it had not begun (143:
# SIGTERM).
watch_end()
{
	kill "$watcher"
	wait "$watcher"
	status=$?
	cat $out/watch >>$out/watches
	case $status in 0 | 143) return 0 ;; esac
	cat $out/watch
	return $status
}

# KIND_cycles TIMES: run so many cycles; all cycles but loads run under one watch.
load_cycles()
{
	pmu-fuzz --pmu corepmu --load "$MODULE" --cases "$1" >$out/load-said
	status=$?
	tee -a $out/watches <$out/load-said | grep -v '^# watch:'
	return $status
}

plug_cycles()
{
	watch_start
	for _ in $(seq "$1"); do
		plugged=$((plugged % last + 1))
		online=/sys/devices/system/cpu/cpu$plugged/online
		echo 0 >"$online" || return 1
		echo 1 >"$online"
	done
	watch_end
}

sleep_cycles()
{
	watch_start
	for _ in $(seq "$1"); do
		sleep_system || return 1
	done
	watch_end
}

# cycles KIND TIMES: run so many cycles; write what is in use after 10, 100 and so on to $out/KIND,
# and print it
cycles()
{
	n=0
	mark=10
	: >$out/"$1"
	while [ $n -lt "$2" ]; do
		upto=$((mark < $2 ? mark : $2))
		"$1"_cycles $((upto - n)) || { echo "$1: after $n"; return 1; }
		n=$upto
		[ $n -ne $mark ] || {
			echo "$n $(measure)" | tee -a $out/"$1" |
				sed "s/^/# $1: cycles, objects, of kmalloc(), KiB of CPUs, KiB of vmalloc(): /" >&3
			mark=$((mark * 10))
		}
	done
}

# same KIND KEPT KIB: check that memory has not grown between two measurements. A cycle may keep KEPT
# objects and KIB KiB of per-CPU memory. The limit is half an object, half a KiB and half a page of
# vmalloc() per cycle above that: a leak of one per cycle is twice the limit. Free objects of a slab
# count as used: after 90 cycles kmalloc() had 468 more, and 900 cycles later none of them. So 90
# cycles show a leak of dozens per cycle, and 900 cycles a leak of one. The number of kernel threads
# may grow by twelve, each with a stack of vmalloc().
same()
{
	awk -v kept="$2" -v kib="$3" '
	function check(what, slack, keep, gone)
	{
		if (gone > keep + slack) {
			print what ": at most " keep + slack " more after " $1 - n " cycles, got " gone
			bad = 1
		}
	}
	n {
		cycles = $1 - n
		slabs = cycles < 900 ? 600 : 400
		check("objects", cycles / 2 + slabs, kept * cycles, $2 - objects)
		check("objects of kmalloc()", cycles / 2 + slabs, kept * cycles, $3 - kmalloc)
		check("KiB of each CPU", cycles / 2, kib * cycles, $4 - percpu)
		check("KiB of vmalloc()", cycles * 2 + 12 * 16, 0, $5 - vmalloc)
	}
	{ n = $1; objects = $2; kmalloc = $3; percpu = $4; vmalloc = $5 }
	END { exit bad || NR < 2 }' $out/"$1"
}

# Before Linux 6.2 each load leaves its PMU behind, see drivers/corepmu/module/stale-pmu.c. Perf
# core leaves its struct perf_cpu_context, nearly half a KiB per CPU, if no other PMU of the
# hardware context could use it (perf_pmu_unregister(), free_pmu_context()).
kept=0
kib=0
case $(uname -r) in 6.1.*) kept=3 kib=$((($(nproc) + 1) / 2)) ;; esac

ktap_details() { cat $out/said; }

stop_fair_servers
unload_soon 0.2 2>/dev/null
plan 7
cycles load "$times" >$out/said 2>&1
result "the module comes and goes, $times times"
same load $kept $kib >$out/said
result "what it leaves behind is the same after all of them"
insmod "$MODULE"
plugged=0
cycles plug "$times" >$out/said 2>&1
result "CPUs come and go under events, $times times"
same plug 0 0 >$out/said
result "what they leave behind is the same after all of them"
sleeps=$((times / 10))
slept="the system sleeps under events, $sleeps times"
after="what that leaves behind is the same after all of them"
if can_sleep; then
	cycles sleep $sleeps >$out/said 2>&1
	result "$slept"
	if [ $sleeps -ge 100 ]; then
		same sleep 0 0 >$out/said
		result "$after"
	else
		skipped "$after" "memory is looked at after 10 and 100, which are 1000 cycles' sleeps"
	fi
else
	skipped "$slept" "the system does not sleep deeply, or nothing wakes it up"
	skipped "$after" "the system does not sleep"
fi
unload_soon 0.2
result "the module can be unloaded"
awk '{ samples += $3; reads += $5; none += $7 }
	END { print "# watch: " samples " samples of all CPUs, " reads " reads, " none " without a counter" }' $out/watches
finish
