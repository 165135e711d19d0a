#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# validate-safe - pmu-validate leaves the machine as it was: without --disrupt by changing
# nothing, with it however it ends
# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

[ -n "$BUILTIN" ] || [ -e "$DEVICES/$PMU" ] || PMU=$(builtin_pmu)
paranoid=/proc/sys/kernel/perf_event_paranoid

settings()
{
	for file in "$paranoid" /proc/sys/kernel/perf_event_max_sample_rate \
		/proc/sys/kernel/perf_user_access "$DEVICES/cpu/rdpmc" /sys/power/pm_test \
		/sys/devices/system/cpu/online; do
		[ ! -e "$file" ] || echo "$file $(cat "$file")"
	done
}

# A read-only mount refuses writes to /proc/sys and /sys meanwhile: a check that tries
# one says so.
nothing_is_written()
{
	before=$(settings)
	mount -o remount,ro /proc && mount -o remount,ro /sys || return 1
	said=$(pmu-validate --pmu "$PMU" --filter "$1")
	status=$?
	mount -o remount,rw /proc && mount -o remount,rw /sys || return 1
	expect_equal "status" 0 "$status" || { echo "$said"; return 1; }
	expect_says "what is said" "ok .*$2 # SKIP it changes the machine" "$said" &&
		expect_equal "settings" "$before" "$(settings)"
}

# Start a check that changes a setting and waits; $tool is its process, $changed the
# changed value.
hold()
{
	before=$(cat $paranoid)
	PMU_VALIDATE_HOLD=1000 pmu-validate --pmu "$PMU" --disrupt \
		--filter "error: perf_event_paranoid" >/tmp/held &
	tool=$!
	for _ in $(seq 100); do
		changed=$(cat $paranoid)
		[ "$changed" = "$before" ] || return 0
		sleep 0.1
	done
	echo "no check changes $paranoid"
	kill -9 $tool
	return 1
}

# The keeper writes the setting, and ends after that.
put_back()
{
	for _ in $(seq 100); do
		[ "$(cat $paranoid)" != "$before" ] || [ -n "$(pidof pmu-validate)" ] || break
		sleep 0.1
	done
	expect_equal "$paranoid" "$before" "$(cat $paranoid)" &&
		expect_equal "processes that are left" "" "$(pidof pmu-validate)"
}

# Send the signal to the tool and expect its exit status and the old setting. After
# SIGKILL only the keeper can restore it.
tool_is_killed()
{
	hold || return 1
	kill "-$1" "$tool"
	wait "$tool"
	expect_equal "status" "$2" $? && put_back
}

check_is_killed()
{
	hold || return 1
	for child in $(pidof pmu-validate); do
		# The keeper is a child, too, but leads a session.
		read -r _ _ _ parent _ session _ <"/proc/$child/stat"
		[ "$parent" != "$tool" ] || [ "$session" = "$child" ] || kill -9 "$child"
	done
	wait "$tool"
	expect_equal "status" 1 $? && put_back &&
		expect_says "what is said" "was killed by signal 9" "$(cat /tmp/held)"
}

# Lower the rate of samples after the first check, as the kernel does if samples take long.
rate_falls()
{
	file=/proc/sys/kernel/perf_event_max_sample_rate
	pmu-validate --pmu "$PMU" --disrupt --filter field: | while read -r line; do
		echo "$line"
		case $line in
		"ok 1 "*) echo 1000 >$file ;;
		esac
	done >/tmp/fallen
	expect_says "the last lines" "$file was [0-9]* and became 1000.*it is restored" "$(cat /tmp/fallen)" &&
		expect_equal "skipped checks" "" "$(grep 'which throttles' /tmp/fallen)"
}

plan 7
check "without --disrupt nothing is written: permissions" nothing_is_written \
	"error: perf_event_paranoid" perf_event_paranoid
check "without --disrupt nothing is written: storms" nothing_is_written \
	"storm: throttled" "throttled and unthrottled"
check "settings are put back when it is interrupted" tool_is_killed INT 130
check "settings are put back when it is terminated" tool_is_killed TERM 143
check "settings are put back when it is killed" tool_is_killed KILL 137
check "settings are put back when a check is killed" check_is_killed
check "a lowered rate of samples skips no check" rate_falls
finish
