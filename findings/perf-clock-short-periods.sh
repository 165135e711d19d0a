#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf record of perf 6.1 (Debian 12: linux-perf 6.1) accepts periods of cpu-clock and task-clock that Linux does not
# use, and perf report shows a tenth of the CPU time or less. There is no message:
#
# - A period is in nanoseconds. With a period of 1000 a sample comes at most every 10000 ns, and still says PERIOD 1000.
#   The "Event count" of perf report, the sum of the periods, is at most a tenth of the time that the task ran.
# - Two clocks of one run, with periods of 1000 and 100000, differ tenfold. `perf stat' shows the whole time.
# - The time is not in lost samples either: perf report says that none is lost.
#
# Cause: perf_swevent_start_hrtimer() and perf_swevent_hrtimer() of the kernel's kernel/events/core.c (Linux 6.12) set
# the timer to 10000 ns at least, and leave the event's period as it is.
#
# The script samples a loop of the shell with both clocks. Numbers differ from run to run, the relation does not.
# It needs perf 6.1, and may need root (kernel.perf_event_paranoid).
# Status: 0 if perf and the kernel behave as described, 1 if not, 77 if they cannot be tested.
set -eu

command -v perf >/dev/null || { echo 'SKIP: perf is missing; install it'; exit 77; }
case $(perf --version) in
*' 6.1.'*) ;;
*) echo "SKIP: $(perf --version) is not perf 6.1"; exit 77 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work"

export LC_ALL=C
cat >loop.sh <<'EOT'
i=0
while [ $i -lt 30000 ]; do
	i=$((i + 1))
done
EOT
perf record -q -m 2048 -e cpu-clock/period=1000/u,task-clock/period=100000/u -o clock.data sh loop.sh >log 2>&1 ||
	{ tail -n 3 log; echo 'SKIP: perf cannot sample software events here'; exit 77; }
perf report --stdio -i clock.data >summary 2>/dev/null
echo "# $(perf --version), Linux $(uname -r)"
sed -n '/^# Total Lost/p; /^# Samples/p; /^# Event count/p' summary
awk '
	/^# Total Lost Samples/ { lost = $5 }
	/^# Samples/ { event++ }
	/^# Event count/ { count[event] = $5 }
	END {
		print "lost samples: " lost
		print "time of cpu-clock: " (count[1] > 0 && count[1] * 8 < count[2] ? "less than an eighth" : "another part") \
			" of the time of task-clock"
	}' summary >seen
perf script -i clock.data -F event,period 2>/dev/null | awk '{ print "a sample says " $2, $1 }' | sort -u >>seen
cat seen
cat >expected <<'EOT'
lost samples: 0
time of cpu-clock: less than an eighth of the time of task-clock
a sample says cpu-clock/period=1000/u: 1000
a sample says task-clock/period=100000/u: 100000
EOT
diff expected seen >/dev/null || { echo 'CHANGED: perf and the kernel do not behave as described'; exit 1; }
echo 'as described'
