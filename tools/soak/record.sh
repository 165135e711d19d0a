#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# soak-record SECONDS: perf records all CPUs for so long, with more events than counters, and one
# task, while tasks wake each other, start others and end. Each sample has its event's count
# (PERF_SAMPLE_READ). So a sample's number and count show whether one is missing: sample N comes
# when the event has counted N periods, and before it has counted one more.
#
# If overflows are no NMIs, a CPU may have interrupts off for longer than a period, e.g. while it
# waits for a lock whose holder's CPU does not run on the host. It then takes one interrupt for all
# periods. So events that count the kernel may have fewer samples there, and are checked
# separately. Events of user space may not.

# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

seconds=${1:-3600}
out=/tmp/record
mkdir -p $out

# More than a counter counts until its interrupt, which was up to two million instructions of
# arm64's kernel. Periods of user events are multiples of ten, by which judge knows them.
period=10000000

# options: print options of perf record for twelve events, more than any PMU's counters
options()
{
	for n in 1 2 3 4; do
		event=$INSTRUCTIONS
		[ $n -lt 3 ] || event=$CYCLES
		for modifier in u:0 k:1 :2; do
			printf -- '-e %s/%s,period=%d/%sS ' "$PMU" "$event" \
				$((period + 10 * n + ${modifier#*:})) ${modifier%:*}
		done
	done
}

# Two tasks that wait for each other, one that computes, and one that starts others
work()
{
	mkfifo $out/there $out/back
	while read -r _; do echo; done <$out/there >$out/back &
	pids=$!
	(exec >$out/there <$out/back; while echo; do read -r _; done) &
	pids="$pids $!"
	partner=$!
	while :; do :; done &
	pids="$pids $!"
	while sleep 0.2; do ls / >/dev/null; done &
	pids="$pids $!"
}

# judge FILE EVENTS: check that each sample's number is its count in periods, that a CPU's samples
# are in the file in the order of their times, and that so many events have samples. perf prints
# records by time, each with CPU, time and offset in the file.
judge()
{
	perf script -i "$1" -D 2>/dev/null | awk -v wanted="$2" -v nmi="$nmi" -v sum="$1.sum" '
	/ PERF_RECORD_THROTTLE/ { throttled++ }
	/ PERF_RECORD_SAMPLE\(/ {
		sub(/^0x/, "", $3)
		offset = sprintf("%16s", $3)
		if ($1 in last && offset < last[$1])
			bad("CPU " $1 ": the sample at 0x" $3 " is in the file before an earlier one")
		last[$1] = offset
		match($0, /period: [0-9]+/)
		period = substr($0, RSTART + 8, RLENGTH - 8)
		next
	}
	/^\.\.\.\.\. id / {
		id = $3
		value = number($5)
		samples[id]++
		lost = $6 == "lost" ? $7 : 0
		periods = int(value / period)
		if (nmi || period % 10 == 0 ? periods != samples[id] + lost : periods < samples[id] + lost)
			bad("event " id ": sample " samples[id] " of period " period ", " lost \
				" lost, at a count of " value)
		else if (value % period > skid)
			skid = value % period
		behind[id] = periods - samples[id] - lost
		all++
		gone[id] = lost
	}
	function number(text,	n, i)
	{
		sub(/,$/, "", text)
		for (i = 1; i <= length(text); i++)
			n = 16 * n + index("0123456789abcdef", substr(text, i, 1)) - 1
		return n
	}
	function bad(what)
	{
		if (bads++ < 20)
			print what
	}
	END {
		for (id in samples) {
			ids++
			missing += gone[id]
			late += behind[id]
		}
		printf "%d samples of %d events, %d counts late at most, %d lost and told, %d throttles, " \
			"%d periods without a sample\n", all, ids, skid, missing, throttled, late > sum
		if (ids < wanted)
			bad(ids " of " wanted " events have samples")
		exit bads > 0
	}'
}

ktap_details() { cat $out/said; }

# Overflows are NMIs on x86, and on arm64 with irqchip.gicv3_pseudo_nmi=1.
nmi=1
[ "$VENDOR" != arm ] || grep -q 'pseudo_nmi=1' /proc/cmdline || nmi=0
[ -n "$BUILTIN" ] || [ -d /sys/module/corepmu ] || insmod "$MODULE"
all=$(options)
counted=$(echo "$all" | sed 's/,period=[0-9]*//g')
# Pinned, since perf core places events of CPUs before events of tasks
task="-e $PMU/$INSTRUCTIONS,period=$period/uSD -e $PMU/$CYCLES,period=$((period + 1))/SD"
work
plan 4
# shellcheck disable=SC2086 # options are words
perf record --sample-cpu -p "$partner" $task -o $out/task -- sleep "$seconds" >$out/task.said 2>&1 &
recorder=$!
# shellcheck disable=SC2086 # options are words
perf stat -x, -a $counted -o $out/stat -- sleep 5 &
# shellcheck disable=SC2086 # options are words
perf record -a $all -o $out/all -- sleep "$seconds" >$out/said 2>&1 && wait $recorder
result "all CPUs and a task are recorded for $seconds seconds"
# shellcheck disable=SC2086 # numbers of processes
kill $pids
awk -F, '$5 ~ /^[0-9.]+$/ && $5 < 100 { shared++ } END { print shared + 0 " share"; exit !shared }' \
	$out/stat >$out/said
result "events share counters meanwhile"
judge $out/all $((12 * $(nproc))) >$out/said
result "each sample of all CPUs comes once for each period, and in order"
judge $out/task 2 >$out/said
result "each sample of a task comes once for each period, and in order"
for what in all task; do
	echo "# $what: $(cat $out/$what.sum)"
done
finish
