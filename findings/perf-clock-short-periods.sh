#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf record of perf 6.1 (Debian 12: linux-perf 6.1.176-1) accepts periods of cpu-clock and task-clock that Linux does
# not use, and perf report shows a tenth of the CPU time or less. There is no message:
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
# It needs Debian 12's archive, and may need root (kernel.perf_event_paranoid).
# Status: 0 if perf and the kernel behave as described, 1 if not, 77 if they cannot be tested.
set -eu

for program in apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir bin debs
libraries='libbabeltrace1 libbz2-1.0 libcap2 libdw1 libelf1 libexpat1 libglib2.0-0 liblzma5 libnuma1 libopencsd1'
libraries="$libraries libpcre2-8-0 libperl5.36 libpython3.11 libslang2 libstdc++6 libunwind8 libuuid1 libzstd1 zlib1g"
# shellcheck disable=SC2086 # a list of names
(cd debs && apt-get -qq download linux-perf=6.1.176-1 $libraries) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done
cat >bin/perf <<EOT
#!/bin/sh
export LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu"
exec "$work/root/usr/bin/perf" "\$@"
EOT
chmod 755 bin/perf
PATH="$work/bin:$PATH"

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
