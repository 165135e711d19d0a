# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# guest.sh - functions for shell scripts of guests: KTAP, the PMU under test, the kernel's log,
# perf stat; sourced, never run

# shellcheck source=ktap.sh
. /corepmu/tests/ktap.sh

# shellcheck disable=SC2034 # for the suites
DEVICES=/sys/bus/event_source/devices
# shellcheck disable=SC2034 # for the suites
MODULE=/corepmu/corepmu.ko
RTC=/sys/class/rtc/rtc0

# Print the name of the built-in driver's PMU, if it exists.
builtin_pmu()
{
	for path in "$DEVICES"/cpu "$DEVICES"/armv8_pmuv3* "$DEVICES"/armv[89]_*; do
		[ ! -e "$path" ] || { basename "$path"; break; }
	done
}

# The PMU under test: the module's, by the name with which it was loaded, or the built-in driver's
# shellcheck disable=SC2034 # for the suites
if grep -q '^mode=builtin' /corepmu/conf; then
	BUILTIN=1
	PMU=$(builtin_pmu)
else
	BUILTIN=
	PMU=$(cat /sys/module/corepmu/parameters/name 2>/dev/null || echo corepmu)
fi

# A fifth of the workload's default rounds: the virtual PMU is slow.
export ROUNDS=1000

# The CPU's vendor, and the PMU's events for cycles and retired instructions
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

# unload_soon PAUSE: unload the module, with up to ten tries after a pause: an event of a task that
# has ended is freed a little later.
unload_soon()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		rmmod corepmu 2>/dev/null && return 0
		sleep "$1"
	done
	rmmod corepmu
}

# check_timed NAME COMMAND...: a check that also prints how much of the guest's time it took
check_timed()
{
	read -r began _ </proc/uptime
	check "$@"
	read -r ended _ </proc/uptime
	echo "# $1 took $((${ended%.*} - ${began%.*})) s of the guest's time"
}

# Check that the PMU counts a workload after a client has misused it, and that no counter is still
# in use.
still_counts()
{
	expect_range "instructions" 4000000 20000000 \
		"$(ROUNDS=200 stat_count "$PMU/$INSTRUCTIONS/u" workload)" &&
		expect_range "cycles" 4000000 100000000 \
			"$(ROUNDS=200 stat_count "$PMU/$CYCLES/u" workload)"
}

# Check for corepmu_test.clients=short, with which a client runs a part of its tests, for `make
# check`.
short()
{
	grep -q 'corepmu_test\.clients=short' /proc/cmdline
}

# Without this perf record would read its recording again for build IDs, and copy the kernel's
# symbols: half a minute in a guest.
export PERF_CONFIG=/tmp/perfconfig
printf '[record]\n\tbuild-id = skip\n' >$PERF_CONFIG

# perf record would also read all of /proc/kallsyms for BPF's trampolines: a billion of the 1.1
# billion instructions of a short recording. $STOCK_PERF is perf without this wrapper.
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

# perf report also reads /proc/kallsyms, if it shows addresses: hide them, except for recordings that
# sample the kernel.
kernel_symbols()
{
	case $1 in
	shown) echo 0 ;;
	hidden) echo 2 ;;
	esac >/proc/sys/kernel/kptr_restrict
}
kernel_symbols hidden

# sample_rate RATE: set the maximum sample rate, which perf uses instead of its 4000. The kernel
# rejects the rate while samples may take all of a CPU's time.
sample_rate()
{
	ktap_percent=$(cat /proc/sys/kernel/perf_cpu_time_max_percent)
	echo 50 >/proc/sys/kernel/perf_cpu_time_max_percent
	echo "$1" >/proc/sys/kernel/perf_event_max_sample_rate
	echo "$ktap_percent" >/proc/sys/kernel/perf_cpu_time_max_percent
}

# Linux 6.12's scheduler warns ("dl_rq->running_bw > old" in kernel/sched/deadline.c) if the timer
# of a CPU's fair server fires late, on a busy host, after that CPU went offline. For suites that
# take CPUs offline.
stop_fair_servers()
{
	for server in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do
		[ ! -e "$server" ] || echo 0 >"$server"
	done
}

# Print what to write to /sys/power/state for sleep. "mem": a clock wakes the system. "mem core" or
# "disk core": the system comes back by itself right before it would turn off (pm_test,
# CONFIG_PM_DEBUG). The other CPUs are offline then, and the last one has saved its registers.
# "disk": the kernel writes an image to the swap device, and restores the image at once (test_resume).
# Nothing if the system cannot sleep.
how_to_sleep()
{
	deep=$(grep -ow deep /sys/power/mem_sleep 2>/dev/null)
	if grep -qF '[test_resume]' /sys/power/disk 2>/dev/null; then
		echo disk
	elif [ -n "$deep" ] && [ -e $RTC/wakealarm ]; then
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

# Sleep for two seconds of the real-time clock; with pm_test for one second, with disk for five.
sleep_system()
{
	how=$(how_to_sleep)
	case $how in
	mem)
		# QEMU's machine does not power off in the usual way afterwards; guest/init handles
		# this.
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

# Print the kernel's log since the line of dmesg_mark, without messages about a busy machine's
# time. busybox's insmod tries twice: each sentence counts once.
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

# no_kernel_warning [|REGEX]: expect no warning, and no match of REGEX, in the kernel's log
no_kernel_warning()
{
	expect_not "the kernel's log" '\] WARNING: |BUG: |Oops|cut here'"${1-}" "$(dmesg)"
}

# Skip unless the PMU under test has branch records, or precise samples. AMD's built-in drivers do
# not report branch records.
need_extra()
{
	case $1 in
	branches) ktap_needed=1 ;;
	max_precise) ktap_needed=2 ;;
	esac
	ktap_has=$(cat "$DEVICES/$PMU/caps/$1" 2>/dev/null || echo 0)
	[ "$ktap_has" -ge "$ktap_needed" ] || skip "caps/$1 of this PMU is $ktap_has"
}

# A background command that ends on request. A signal to perf would not do: perf stat does not pass
# it on and waits for its command.
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

# Wait until the command of process $1 has started: perf opens its events before.
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

# stat_count EVENT COMMAND...: print the user count of an event during a command
stat_count()
{
	ktap_event=$1
	shift
	perf stat -x';' -o /tmp/stat.$$ -e "$ktap_event" "$@" >/tmp/stat.$$.said 2>&1
	awk -F';' -v e="$ktap_event" '$3 == e { print $1 }' /tmp/stat.$$
	# perf of 7.x fails if no event is supported, and writes no count.
	grep -q 'event is not supported' /tmp/stat.$$.said && echo '<not supported>'
	rm -f /tmp/stat.$$ /tmp/stat.$$.said
}

# Run perf with its output in a file, so that perf does not use its format for pipes.
perf_to()
{
	perf "$@" >/tmp/out 2>&1
	status=$?
	cat /tmp/out
	return "$status"
}

# Check at the end of a suite that no event holds the module.
check_references()
{
	check "no event holds the module at the end" \
		expect_equal "references" 0 "$(cat /sys/module/corepmu/refcnt 2>/dev/null || echo 0)"
}

# counted EVENT [FILE]: print the count of one of the PMU's events from output of perf stat -x,
counted()
{
	awk -F, -v event="/$1/" 'index($0, event) { print $1 }' "${2:-/tmp/out}"
}

# all_counted FILE...: check the output of "perf stat -x,": each event counted millions. No
# count went backwards: it would be a very large number.
all_counted()
{
	ktap_counts=$(cat "$@")
	expect_says "counts" '^[0-9]{7,12},' "$ktap_counts" &&
		expect_not "counts" '^(<not|[0-9]{1,6},|[0-9]{13,},)' "$ktap_counts"
}
