# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# guest.sh - what shell scripts of guests share: KTAP, the PMU under test, the kernel's log,
# perf stat; sourced, never run

# shellcheck source=ktap.sh
. /corepmu/tests/ktap.sh

# shellcheck disable=SC2034 # for the suites
DEVICES=/sys/bus/event_source/devices
# shellcheck disable=SC2034 # for the suites
MODULE=/corepmu/corepmu.ko
RTC=/sys/class/rtc/rtc0

# The built-in driver's PMU, if there is one.
builtin_pmu()
{
	for path in "$DEVICES"/cpu "$DEVICES"/armv8_pmuv3*; do
		[ ! -e "$path" ] || { basename "$path"; break; }
	done
}

# The PMU under test: the module's, by the name it was loaded with, or the built-in's.
# shellcheck disable=SC2034 # for the suites
if grep -q '^mode=builtin' /corepmu/conf; then
	BUILTIN=1
	PMU=$(builtin_pmu)
else
	BUILTIN=
	PMU=$(cat /sys/module/corepmu/parameters/name 2>/dev/null || echo corepmu)
fi

# A fifth of what the workload does by itself: the virtual PMU takes its time.
export ROUNDS=1000

# Whose CPU it is, and what the PMU calls cycles and retired instructions.
# shellcheck disable=SC2034 # for the suites
case $(uname -m) in
x86_64)
	VENDOR=intel CYCLES=cpu-cycles INSTRUCTIONS=instructions
	! grep -q AuthenticAMD /proc/cpuinfo || VENDOR=amd
	;;
*)
	VENDOR=arm CYCLES=cpu_cycles INSTRUCTIONS=inst_retired
	;;
esac

# unload_soon PAUSE: an event of a task that has ended is freed a little later: tries for ten pauses.
unload_soon()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		rmmod corepmu 2>/dev/null && return 0
		sleep "$1"
	done
	rmmod corepmu
}

# check_timed NAME COMMAND...: a check, and how much of the guest's time it took
check_timed()
{
	read -r began _ </proc/uptime
	check "$@"
	read -r ended _ </proc/uptime
	echo "# $1 took $((${ended%.*} - ${began%.*})) s of the guest's time"
}

# Whether the PMU counts a workload, after something that has misused it: no counter is left taken.
still_counts()
{
	expect_range "instructions" 4000000 20000000 \
		"$(ROUNDS=200 stat_count "$PMU/$INSTRUCTIONS/u" workload)" &&
		expect_range "cycles" 4000000 100000000 \
			"$(ROUNDS=200 stat_count "$PMU/$CYCLES/u" workload)"
}

# Whether a client is to do some of what it can: corepmu_test.clients=short, for `make check`.
short()
{
	grep -q 'corepmu_test\.clients=short' /proc/cmdline
}

# perf record would read all that it has recorded once more for build IDs, and copy the
# kernel's symbols for another day: half of a minute in a guest.
export PERF_CONFIG=/tmp/perfconfig
printf '[record]\n\tbuild-id = skip\n' >$PERF_CONFIG

# It would also read all of /proc/kallsyms for BPF's trampolines, a billion instructions of
# the billion and a tenth that a short perf record takes. $STOCK_PERF is perf as it is.
PATH=${PATH#/tmp/bin:}
STOCK_PERF=$(command -v perf)
mkdir -p /tmp/bin
cat >/tmp/bin/perf <<EOT
#!/bin/sh
case \$1 in
record)
	shift
	exec $STOCK_PERF record --no-bpf-event "\$@"
	;;
esac
exec $STOCK_PERF "\$@"
EOT
chmod +x /tmp/bin/perf
PATH=/tmp/bin:$PATH

# perf report reads /proc/kallsyms too, unless it is told nothing there: only for what samples
# the kernel.
kernel_symbols()
{
	case $1 in
	shown) echo 0 ;;
	hidden) echo 2 ;;
	esac >/proc/sys/kernel/kptr_restrict
}
kernel_symbols hidden

# sample_rate RATE: the most samples a second that may be asked for, which perf takes instead of its
# 4000. The kernel does not take it while samples may have all of a CPU's time.
sample_rate()
{
	ktap_percent=$(cat /proc/sys/kernel/perf_cpu_time_max_percent)
	echo 50 >/proc/sys/kernel/perf_cpu_time_max_percent
	echo "$1" >/proc/sys/kernel/perf_event_max_sample_rate
	echo "$ktap_percent" >/proc/sys/kernel/perf_cpu_time_max_percent
}

# Linux 6.12's scheduler warns ("dl_rq->running_bw > old" in kernel/sched/deadline.c) when the
# timer of a CPU's fair server fires late, on a busy host, after that CPU has gone off line.
# For suites that take CPUs off line.
stop_fair_servers()
{
	for server in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do
		[ ! -e "$server" ] || echo 0 >"$server"
	done
}

# What the system can sleep by, what is written to /sys/power/state: "mem" where a clock wakes it up
# again; "mem core" or "disk core" where it goes as far as it can before it would be off and comes back by
# itself (pm_test, CONFIG_PM_DEBUG): the other CPUs are off line, and the last one has been told that it
# will forget its registers. Nothing where it cannot sleep.
how_to_sleep()
{
	deep=$(grep -ow deep /sys/power/mem_sleep 2>/dev/null)
	if [ -n "$deep" ] && [ -e $RTC/wakealarm ]; then
		echo mem
	elif grep -qw core /sys/power/pm_test 2>/dev/null; then
		how=${deep:+mem}
		how=${how:-$(grep -ow disk /sys/power/state)}
		echo "${how:+$how core}"
	fi
}

can_sleep()
{
	[ -n "$(how_to_sleep)" ]
}

# Asleep for two seconds of the real-time clock; with pm_test for one second, by disk for five.
sleep_system()
{
	how=$(how_to_sleep)
	case $how in
	mem)
		# QEMU's machine is not turned off again in the usual way: guest/init knows.
		touch /run/suspended
		echo 0 >$RTC/wakealarm
		echo +2 >$RTC/wakealarm
		;;
	*core)
		echo 1 >/sys/module/suspend/parameters/pm_test_delay
		echo core >/sys/power/pm_test
		;;
	esac
	echo "${how% core}" >/sys/power/state
}

# What the kernel says since the line of dmesg_mark, without what it says of a busy machine's
# time. busybox's insmod tries twice, each sentence counts once.
dmesg_mark()
{
	echo "<6>ktap-mark $1" >/dev/kmsg
}

dmesg_since()
{
	dmesg | sed -n "/ktap-mark $1\$/,\$p" |
		grep -vE 'ktap-mark|corepmu-guest|taint|(hrtimer|perf): interrupt took|clocksource: |tsc: ' |
		sed 's/^\[[^]]*\] //' | awk '!seen[$0]++'
}

# Skips unless the PMU under test has branch records, or precise samples. Built-in drivers of AMD
# do not say that they have branch records.
need_extra()
{
	case $1 in
	branches) ktap_needed=1 ;;
	max_precise) ktap_needed=2 ;;
	esac
	ktap_has=$(cat "$DEVICES/$PMU/caps/$1" 2>/dev/null || echo 0)
	[ "$ktap_has" -ge "$ktap_needed" ] || skip "caps/$1 of this PMU is $ktap_has"
}

# A command for the background that ends when told to. A signal to perf would not do:
# perf stat passes none on to its command and waits for it.
UNTIL_TOLD=/tmp/until-told

until_told()
{
	rm -f /tmp/told /tmp/started
	cat >$UNTIL_TOLD <<-'EOT'
		#!/bin/sh
		touch /tmp/started
		while [ ! -e /tmp/told ]; do
			[ $# -eq 0 ] || "$@"
			sleep 0.02
		done
	EOT
	chmod +x $UNTIL_TOLD
}

# Until the command of process $1 has started: perf opens its events before.
wait_started()
{
	while [ ! -e /tmp/started ] && [ -d "/proc/$1" ]; do
		sleep 0.02
	done
}

tell()
{
	touch /tmp/told
}

# The user counts of an event during a command: stat_count EVENT COMMAND...
stat_count()
{
	ktap_event=$1
	shift
	perf stat -x';' -o /tmp/stat.$$ -e "$ktap_event" "$@" >/tmp/stat.$$.said 2>&1
	awk -F';' -v e="$ktap_event" '$3 == e { print $1 }' /tmp/stat.$$
	# perf of 7.x fails when no event is supported, and writes no count.
	grep -q 'event is not supported' /tmp/stat.$$.said && echo '<not supported>'
	rm -f /tmp/stat.$$ /tmp/stat.$$.said
}

# What perf stat -x, has counted of one of the PMU's events: counted EVENT [FILE]
counted()
{
	awk -F, -v event="/$1/" 'index($0, event) { print $1 }' "${2:-/tmp/out}"
}

# That all events of perf stat -x, counted millions, and none went backwards, which would
# be a very large number: all_counted FILE...
all_counted()
{
	ktap_counts=$(cat "$@")
	expect_says "counts" '^[0-9]{7,12},' "$ktap_counts" &&
		expect_not "counts" '^(<not|[0-9]{1,6},|[0-9]{13,},)' "$ktap_counts"
}
