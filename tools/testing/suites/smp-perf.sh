#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# smp-perf - the perf tool on several busy CPUs, and the module beneath it
# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

data=/tmp/perf.data
cpus=$(nproc)

# Workloads on all CPUs until the command ends.
busy()
{
	pids=
	for cpu in $(seq 0 $((cpus - 1))); do
		taskset -c "$cpu" sh -c 'while :; do workload; done' &
		pids="$pids $!"
	done
	"$@" >/tmp/out 2>&1
	status=$?
	# shellcheck disable=SC2086 # one word per task
	kill $pids 2>/dev/null
	# shellcheck disable=SC2086
	wait $pids 2>/dev/null
	[ "$status" -eq 0 ] || cat /tmp/out
	return "$status"
}

record_all()
{
	busy perf record -a -F 1000 -o "$data" -e "$PMU/$CYCLES/" sleep 2 || return 1
	seen=$(perf script -i "$data" -F cpu 2>/dev/null | sort -u | wc -l)
	expect_equal "CPUs with samples" "$cpus" "$seen" || return 1
	expect_says "perf report" 'spin_70_percent' \
		"$(perf report --stdio -i "$data" --sort symbol 2>/dev/null)"
}

record_graph()
{
	busy perf record -a -g -F 500 -o "$data" sleep 1 || return 1
	expect_says "perf script" ' main\+' "$(perf script -i "$data" 2>/dev/null | head -n 20000)"
}

stat_each()
{
	busy perf stat -a -A -x, -o /tmp/stat -e "$PMU/$CYCLES/" sleep 1 || return 1
	expect_equal "CPUs that counted" "$cpus" \
		"$(awk -F, "/$CYCLES/"' && $2 > 1000 { n++ } END { print n + 0 }' /tmp/stat)"
}

stat_interval()
{
	busy perf stat -a -I 100 -x, -o /tmp/stat -e "$PMU/$CYCLES/,$PMU/$CYCLES/u" sleep 1 ||
		return 1
	expect_not "counts" ',(<not|[0-9]{1,3},)' "$(cat /tmp/stat)" &&
		expect_range "intervals" 6 100 "$(wc -l </tmp/stat)"
}

stat_multiplex()
{
	c=$PMU/$CYCLES/
	busy perf stat -a -x, -o /tmp/stat -e "$c,$c,$c,$c,$c,$c,$c,$c,$c,$c" sleep 2 || return 1
	all_counted /tmp/stat || return 1
	# 1 GHz on every CPU; a share that was scaled wrong would stand out.
	awk -F, "/$CYCLES/"' { if (!low || $1 < low) low = $1; if ($1 > high) high = $1 }
		END { if (high > 2 * low) { print "counts from", low, "to", high; exit 1 } }' /tmp/stat
}

many_at_once()
{
	n=0
	while [ "$n" -lt 12 ]; do
		perf stat -a -x, -o /tmp/stat."$n" -e "$PMU/$CYCLES/,$PMU/$CYCLES/u" sleep 1 &
		n=$((n + 1))
	done
	busy sleep 2
	wait
	cat /tmp/stat.* >/tmp/stat
	rm -f /tmp/stat.*
	all_counted /tmp/stat && expect_equal "counts" 24 "$(grep -c "$CYCLES" /tmp/stat)"
}

# Opens must succeed or fail cleanly while the module goes and comes.
reload_under_stress()
{
	[ -e /sys/module/corepmu ] || skip "the module is not loaded"
	for n in 1 2 3; do
		sh -c "while [ ! -e /tmp/enough ]; do
			perf stat -e $PMU/$CYCLES/ true
			perf stat -a -e cycles true
			perf record -o /tmp/data.$n -c 100000 -e cycles true
		done" >/dev/null 2>&1 &
	done
	gone=0
	held=0
	n=0
	while [ "$n" -lt 25 ]; do
		if rmmod corepmu 2>/dev/null; then
			gone=$((gone + 1))
			insmod "$MODULE" || { echo "load $n"; break; }
		else
			held=$((held + 1))
		fi
		n=$((n + 1))
	done
	touch /tmp/enough
	wait
	rm -f /tmp/enough /tmp/data.*
	echo "unloaded $gone times, refused $held times"
	[ "$n" -eq 25 ] && [ "$gone" -gt 0 ] || return 1
	expect_equal "references" 0 "$(cat /sys/module/corepmu/refcnt)" && stat_each
}

can_be_unloaded()
{
	[ -e /sys/module/corepmu ] || skip "the module is not loaded"
	expect_equal "references" 0 "$(cat /sys/module/corepmu/refcnt)" && rmmod corepmu &&
		insmod "$MODULE" && stat_each
}

plan 8
check "perf record -a on busy CPUs" record_all
check "perf record -a -g" record_graph
check "perf stat -a -A on busy CPUs" stat_each
check "perf stat -a -I" stat_interval
check "perf stat -a, more events than counters" stat_multiplex
check "twelve perf stat -a at once" many_at_once
check "the module goes and comes under stress" reload_under_stress
check "the module can be unloaded" can_be_unloaded
rm -f "$data" /tmp/stat
finish
