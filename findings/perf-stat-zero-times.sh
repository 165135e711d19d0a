#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf stat of perf 6.1 (Debian 12: linux-perf 6.1.176-1) reports times that the program did not take. There is no
# message:
#
# - With --control, -I --summary, or a --timeout longer than the program's run, "seconds user" and "seconds sys" of a
#   program that only computes are 0. The event user_time is "<not counted>". The same report has the task-clock, and
#   without these options the times are right.
# - With -I, "CPUs utilized" is the task-clock of an interval divided by the length that was asked for. The last
#   interval is shorter: a program that runs to its end at full speed looks as if it went idle.
#
# Cause: dispatch_events() of builtin-stat.c waits for the program with waitpid(), so that wait4() finds no process
# afterwards and leaves the times at 0. process_interval() takes stat_config.interval for the time elapsed.
#
# The program computes for 1 s, or 1.3 s with intervals of 1 s. The script needs timeout and Debian 12's archive.
# Status: 0 if perf behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in timeout mkfifo apt-get dpkg; do
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
# stat NAME SECONDS OPTION...: print the events and times of a loop
stat() {
	name=$1 seconds=$2
	shift 2
	echo "$name"
	# The status is that of timeout.
	perf stat -e task-clock,user_time "$@" timeout "$seconds" sh -c 'while :; do :; done' 2>&1 || true
}
mkfifo control
exec 9<>control
{
	echo "# $(perf --version)"
	stat plain 1
	stat --timeout 1 --timeout 5000
	stat --control 1 --control fifo:control
	stat -I 1.3 -I 1000 --summary
} >report
if ! grep -q 'msec task-clock' report; then
	tail -n 3 report
	echo 'SKIP: perf cannot count the task-clock here'
	exit 77
fi
grep -E '^(#|plain|-)|task-clock|user' report
awk '
/^(plain|-)/ { name = $1; totals = 0 }
/Performance counter stats/ { totals = 1 }
totals && /user_time/ { print name ": user_time: " (/not counted/ ? "not counted" : "a time") }
/seconds user/ { print name ": seconds user: " ($1 > 0.02 ? "a time" : $1 == 0 ? "0" : "little") }
# An interval: its end, the task-clock, "msec", "task-clock", "#", CPUs utilized
$3 == "msec" { length_s = $1 - end; end = $1; task_s = $2 / 1000; cpus = $6 }
END {
	print "-I: the last interval has " (length_s < 0.7 ? "less than 0.7 s" : "1 s")
	error = cpus - task_s
	print "-I: CPUs utilized is the task-clock divided by " (error < 0.002 && error > -0.002 ? "1 s" : "another time")
}' report >seen
cat seen
cat >expected <<'EOT'
plain: user_time: a time
plain: seconds user: a time
--timeout: user_time: not counted
--timeout: seconds user: 0
--control: user_time: not counted
--control: seconds user: 0
-I: user_time: not counted
-I: seconds user: 0
-I: the last interval has less than 0.7 s
-I: CPUs utilized is the task-clock divided by 1 s
EOT
diff expected seen >/dev/null || { echo 'CHANGED: perf does not behave as described'; exit 1; }
echo 'as described'
