#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# smp-perf - the perf tool on several busy CPUs, and the module beneath it
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

data=/tmp/perf.data
cpus=$(nproc)

# The script $busy SECONDS runs workloads on all CPUs. perf runs the script as its command, so no
# workload runs while perf sets up its events or writes its results.
busy=/tmp/busy
cat >$busy <<'EOT'
#!/bin/sh
workloads=
for cpu in $(seq 0 $(($(nproc) - 1))); do
	taskset -c "$cpu" sh -c 'while :; do workload; done' &
	workloads="$workloads $!"
done
sleep "$1"
kill $workloads
wait $workloads 2>/dev/null
exit 0
EOT
chmod +x $busy

# Run perf, and show its output if it fails.
run()
{
	"$@" >/tmp/out 2>&1
	status=$?
	[ "$status" -eq 0 ] || cat /tmp/out
	return "$status"
}

record_all()
{
	run perf record -a -F 1000 -o "$data" -e "$PMU/$CYCLES/" $busy 2 || return 1
	seen=$(perf script -i "$data" -F cpu 2>/dev/null | sort -u | wc -l)
	expect_equal "CPUs with samples" "$cpus" "$seen" || return 1
	expect_says "perf report" 'spin_70_percent' \
		"$(perf report --stdio -i "$data" --sort symbol 2>/dev/null)"
}

record_graph()
{
	run perf record -a -g -F 500 -o "$data" $busy 1 || return 1
	expect_says "perf script" ' main\+' "$(perf script -i "$data" --comms workload 2>/dev/null | head -n 20000)"
}

stat_each()
{
	run perf stat -a -A -x, -o /tmp/stat -e "$PMU/$CYCLES/" $busy 1 || return 1
	expect_equal "CPUs that counted" "$cpus" \
		"$(awk -F, "/$CYCLES/"' && $2 > 1000 { n++ } END { print n + 0 }' /tmp/stat)"
}

stat_interval()
{
	run perf stat -a -I 100 -x, -o /tmp/stat -e "$PMU/$CYCLES/,$PMU/$CYCLES/u" $busy 1 ||
		return 1
	expect_not "counts" ',(<not|[0-9]{1,3},)' "$(cat /tmp/stat)" &&
		expect_range "intervals" 6 100 "$(wc -l </tmp/stat)"
}

stat_multiplex()
{
	c=$PMU/$CYCLES/
	run perf stat -a -x, -o /tmp/stat -e "$c,$c,$c,$c,$c,$c,$c,$c,$c,$c" $busy 2 || return 1
	all_counted /tmp/stat || return 1
	# 1 GHz on every CPU; a wrongly scaled share would differ.
	awk -F, "/$CYCLES/"' { if (!low || $1 < low) low = $1; if ($1 > high) high = $1 }
		END { if (high > 2 * low) { print "counts from", low, "to", high; exit 1 } }' /tmp/stat
}

many_at_once()
{
	perfs=
	for n in $(seq 6); do
		perf stat -a -x, -o /tmp/stat."$n" -e "$PMU/$CYCLES/,$PMU/$CYCLES/u" $busy 1 &
		perfs="$perfs $!"
	done
	# shellcheck disable=SC2086 # one word per task
	wait $perfs
	cat /tmp/stat.* >/tmp/stat
	rm -f /tmp/stat.*
	all_counted /tmp/stat && expect_equal "counts" 12 "$(grep -c "$CYCLES" /tmp/stat)"
}

# Opens must succeed or fail cleanly while the module is loaded and unloaded. `make soak` does this
# for as long as it runs.
loads=6
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
	while [ "$n" -lt "$loads" ]; do
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
	[ "$n" -eq "$loads" ] && [ "$gone" -gt 0 ] || return 1
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
check "six perf stat -a at once" many_at_once
check "the module is unloaded and loaded under stress" reload_under_stress
check "the module can be unloaded" can_be_unloaded
rm -f "$data" /tmp/stat $busy
finish
