#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# soak SECONDS [SEED [faulty]]: rounds of all kinds of work at once under the module, until the
# time is over. The work: pmu-fuzz while CPUs go offline and come back, a system that sleeps,
# loading and unloading, also with all kinds of parameters, and the same with failing allocations
# if the kernel supports them. At the end the module is unloaded, and the kernel reports leaks. A
# line for each kind of work has its amount. With "faulty" the PMU has faults, and need not count
# exactly.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

seconds=${1:-60}
seed=${2:-1}
faulty=${3:-}
debug=/sys/kernel/debug
odd=0
out=/tmp/soak
mkdir -p $out

# Each round adds to these counts.
loads=0 failed_loads=0 rounds=0 failing=0 failing_plugs=0 odd_loads=0 odd_refused=0
sleeps=0

now() { cut -d. -f1 /proc/uptime; }

# Complaints of a kernel; messages of CPU mitigations have a name between "] " and WARNING.
COMPLAINTS='BUG: |\] WARNING: |UBSAN:|ODEBUG:|INFO: (task|possible|suspicious)'
# A complaint that faults of the virtual PMU may cause
[ -n "$faulty" ] || COMPLAINTS="$COMPLAINTS|unknown reason"

# Save the kernel's log before it wraps: in an hour the kernel logs more than the buffer holds.
keep_log()
{
	dmesg -c >>$out/log
}

# KCSAN's reports of races without the module are faults of the kernel itself.
complaints()
{
	awk '
	/BUG: KCSAN:/ { report = ""; inside = 1 }
	!inside { print }
	inside { report = report $0 "\n" }
	inside && /======/ { if (report ~ /\[corepmu\]/) printf "%s", report; inside = 0 }' $out/log |
		grep -E -A 30 "$COMPLAINTS" | head -n 120
}

load()
{
	insmod "$MODULE" && loads=$((loads + 1))
}

# Allocations of tasks that request it fail, one in so many.
if [ -d $debug/failslab ]; then
	for file in failslab fail_page_alloc; do
		echo Y >$debug/$file/task-filter
		echo 3 >$debug/$file/probability
		echo -1 >$debug/$file/times
		echo 0 >$debug/$file/verbose
	done
fi

# A debug kernel takes a millisecond per sample, and more on a busy host. With more samples than it
# has time for, it does nothing else, and reports that it is stuck. Starting its tasks takes longer
# than a burst of other kernels.
rate=500
burst=5
cases=300
if [ -e $debug/kmemleak ] || [ -e $debug/kcsan ] || [ -e /proc/lockdep ]; then
	rate=200
	burst=30
	cases=30
fi

# with_failures COMMAND...: run the command with failing allocations
with_failures()
{
	sh -c 'echo 1 >/proc/self/make-it-fail && exec "$@"' sh "$@" >/dev/null 2>&1
}

# fuzz SECONDS [OPTION...]: run bursts of pmu-fuzz, and add up their results
fuzz()
{
	for_seconds=$1
	shift
	pmu-fuzz --pmu corepmu --seed $((seed + rounds)) --seconds "$for_seconds" --burst $burst \
		--workers 3 --rate $rate "$@" ${faulty:+--faulty} >$out/round 2>&1
	status=$?
	cat $out/round >>$out/rounds
	[ $status -eq 0 ] || { echo "# round $rounds, seed $((seed + rounds))"; sed 's/^/# /' $out/round; }
	return $status
}

# sleep_round: the system sleeps three times during a burst. No CPU goes offline meanwhile, since
# one that cannot come back would stay away.
sleep_round()
{
	can_sleep || return 0
	fuzz $burst &
	fuzzer=$!
	for _ in 1 2 3; do
		sleep_system || { echo "# round $rounds: the system does not sleep"; break; }
		sleeps=$((sleeps + 1))
	done
	wait $fuzzer && [ $sleeps -eq $((3 * rounds)) ]
}

# plug_failing: CPUs go offline and come back while allocations fail, and all are online at the end
plug_failing()
{
	for online in /sys/devices/system/cpu/cpu[1-9]*/online; do
		with_failures sh -c "echo 0 >$online"
		with_failures sh -c "echo 1 >$online"
		[ "$(cat "$online")" = 1 ] || echo 1 >"$online" || return 1
		failing_plugs=$((failing_plugs + 1))
	done
}

# Allocations fail while the module is loaded, used and unloaded, and CPUs go offline and come
# back.
failing_round()
{
	[ -e /proc/self/make-it-fail ] || return 0
	failing=$((failing + 1))
	unload_soon 1 || return 1
	for _ in 1 2 3 4 5; do
		if with_failures insmod "$MODULE"; then
			with_failures rmmod corepmu || unload_soon 1 || return 1
		else
			failed_loads=$((failed_loads + 1))
		fi
	done
	load || return 1
	with_failures pmu-fuzz --pmu corepmu --seed $((seed + rounds)) --cases $cases
	plug_failing
}

# Parameters of a load: whether the load succeeds (ok), fails (no), or may do either (any), and the
# words
parameters()
{
	cat <<-'EOT'
		ok name=fuzz
		no name=0
		ok name=fuzz type=100
		ok name=a_name_that_is_as_long_as_nobody_would_like_to_have_it_in_a_list_of_events
		no name=
		no name=.
		no name=a/b
		any name=cpu
		any name=breakpoint
		no name=software
		ok type=300
		any type=0
		no type=1
		no type=5
		any type=4
		any type=-1
		any type=-2
		any type=2147483647
		no type=x
		no type=4294967296
		ok standin=0
		ok standin=1
		no standin=2
		no standin=1 name=x
		no standin=1 type=9
		ok start_near_wrap=0
		ok start_near_wrap=1
		ok start_near_wrap=0x7fffffff
		ok start_near_wrap=18446744073709551615
		no start_near_wrap=18446744073709551616
		no start_near_wrap=many
		ok no_such_parameter=1
	EOT
	# shellcheck disable=SC2154 # VENDOR is guest.sh's
	[ "$VENDOR" != arm ] || cat <<-'EOT'
		ok sampling=0
		ok sampling=1 lenient=1
		ok lenient=0
		no lenient=perhaps
	EOT
}

# Load with the next parameters: the module's parameters have these values or their defaults; it
# counts, and is unloaded.
odd_load()
{
	line=$(parameters | sed -n "$((1 + (seed + odd) % $(parameters | wc -l)))p")
	odd=$((odd + 1))
	want=${line%% *}
	words=${line#* }
	# shellcheck disable=SC2086 # the parameters are words of a command line
	if ! insmod "$MODULE" $words >$out/odd 2>&1; then
		odd_refused=$((odd_refused + 1))
		[ "$want" != ok ] || { echo "# refused: $words: $(cat $out/odd)"; return 1; }
		[ ! -e /sys/module/corepmu ] || { echo "# refused, and there: $words"; return 1; }
		return 0
	fi
	odd_loads=$((odd_loads + 1))
	[ "$want" != no ] || { echo "# taken: $words"; return 1; }
	name=$(cat /sys/module/corepmu/parameters/name)
	case " $words" in
	*' name='?*) [ "$name" = "$(echo "$words" | sed 's/.*name=\([^ ]*\).*/\1/')" ] ;;
	esac || { echo "# $words: its name is $name"; return 1; }
	for file in /sys/module/corepmu/parameters/*; do
		cat "$file" >/dev/null || { echo "# $words: $file cannot be read"; return 1; }
	done
	pmu-fuzz --pmu "$name" --seed $((seed + odd)) --cases 20 >$out/odd 2>&1 ||
		{ echo "# $words: no cases: $(tail -n 1 $out/odd)"; unload_soon 1; return 1; }
	unload_soon 1
}

parameter_round()
{
	unload_soon 1 || return 1
	for _ in 1 2 3; do
		odd_load || return 1
	done
	load
}

reload_round()
{
	for _ in 1 2 3; do
		unload_soon 1 && load || return 1
	done
}

# timed WHAT COMMAND...: run the command and print how many seconds it took
timed()
{
	what=$1
	began=$(now)
	shift
	"$@"
	status=$?
	echo "$what $(($(now) - began))" >>$out/times
	return $status
}

# use_module: run rounds until the time is over, or one has failed
use_module()
{
	[ -d /sys/module/corepmu ] || load || return 1
	while [ "$(now)" -lt "$end" ]; do
		rounds=$((rounds + 1))
		keep_log
		timed bursts fuzz $((4 * burst)) --hotplug || return 1
		timed sleeping sleep_round || return 1
		timed loading reload_round || return 1
		timed parameters parameter_round || return 1
		timed failing failing_round || return 1
	done
	[ "$rounds" -gt 0 ]
}

nothing_leaked()
{
	# kmemleak ignores objects younger than five seconds, and some RCU callbacks come late.
	sleep 6
	echo scan >$debug/kmemleak
	sleep 1
	echo scan >$debug/kmemleak
	head -n 60 $debug/kmemleak >$out/leaks
	sed 's/^/# /' $out/leaks
	[ ! -s $out/leaks ]
}

no_complaint()
{
	keep_log
	complaints >$out/complaints
	sed 's/^/# /' $out/complaints
	[ ! -s $out/complaints ]
}

# Print the number of places that KCSAN has watched.
watched_for_races()
{
	expect_range "places watched" 1000 1000000000000 \
		"$(sed -n 's/^setup_watchpoints: //p' $debug/kcsan)"
}

stop_fair_servers
end=$(($(now) + seconds))
plan 5
use_module
result "after each burst the PMU counts exactly, and the module can be loaded anew"
unload_soon 1
result "the module can be unloaded"
if [ -e $debug/kmemleak ]; then
	nothing_leaked
	result "nothing is leaked"
else
	skipped "nothing is leaked" "this kernel does not look for leaks"
fi
if [ -e $debug/kcsan ]; then
	watched_for_races
	result "the kernel has looked for races of data"
else
	skipped "the kernel has looked for races of data" "this kernel does not"
fi
no_complaint
result "the kernel has no complaint"

# sum WHAT: add the numbers before WHAT in the rounds' lines
sum()
{
	sed -n "s/^# .*[ :]\([0-9]*\) $1\(,.*\)*$/\1/p" $out/rounds | awk '{ sum += $1 } END { print sum + 0 }'
}

echo "# fuzz: $(sum opens) opens, $(sum opened) opened, $(sum calls) calls, $(sum succeeded) succeeded, $(sum samples) samples, $(sum lost) lost"
echo "# beside: $(sum bursts) bursts, $(sum 'samples of all CPUs') samples of all CPUs, $(sum hotplugs) hotplugs, $(sum files) files of sysfs, $(sum seconds) seconds of bursts"
echo "# tasks: $(sum 'calls on mappings') calls on mappings, $(sum tracees) tracees, $(sum 'cgroup events') cgroup events, $(sum 'idle CPUs') looks at idle CPUs"
echo "# $(grep -h 'late: tasks' $out/rounds | sort -k5n | tail -n 1 | cut -c3-)"
echo "# module: $loads loads, $failed_loads loads that failed for want of memory, $failing rounds with failures, $failing_plugs CPUs plugged with failures, $sleeps sleeps"
echo "# parameters: $odd_loads loads with some, $odd_refused refused"
echo "# seconds:$(awk '{ sum[$1] += $2 } END { for (what in sum) printf " %s %d", what, sum[what] }' $out/times)"
races=$(grep -c 'BUG: KCSAN:' $out/log)
[ "$races" -eq 0 ] || echo "# races: $races reports of KCSAN, the kernel's own included"
echo "# kernel: $(grep -cE "$COMPLAINTS" $out/complaints) complaints, $rounds rounds in $seconds seconds"
finish
