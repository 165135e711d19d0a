#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf stat -r of perf 6.1 (Debian 12: linux-perf 6.1.176-1) prints the counts of the last run, not the average of all
# runs. There is no message:
#
# - perf-stat(1) says of --repeat: "print average + stddev". Here every second run has many page faults. -r 2, which
#   ends with such a run, prints many. -r 3, which ends with the other kind, prints few. Both averages lie between.
# - The percentage behind the count is the error of the average, but divided by the last run: for -r 3 it is more than
#   100 %. CSV has the last run's count, too.
# - The time elapsed is the average, in the same report.
#
# Cause: perf_stat_process_counter() of util/stat.c adds each run to res_stats, but counter_aggr_cb() of
# util/stat-display.c prints counts->aggr, which has the last run.
#
# The program runs /bin/true twenty times and sleeps for 1 s, or does nothing. The script needs Debian 12's archive.
# Status: 0 if perf behaves as described, 1 if not, 77 if it cannot be tested.
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
# The first run of each series has few page faults.
cat >run <<'EOT'
#!/bin/sh
[ -e many ] || { : >many; exit 0; }
rm many
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	/bin/true
done
sleep 1
EOT
chmod 755 bin/perf run
PATH="$work/bin:$PATH"

export LC_ALL=C
# stat OPTION...: print the count of page faults in user space, the percentage behind it, and the time elapsed
stat() {
	rm -f many
	perf stat -o stat.txt -e page-faults:u "$@" ./run
	sed -n 's/^ *\([0-9]*\) *page-faults:u  *( +- *\([0-9.]*\)% )/\1 \2/p
		s/^ *\([0-9.]*\) +-.* seconds time elapsed.*/\1/p' stat.txt | tr '\n' ' '
}
rm -f many
for nr in 1 2; do
	perf stat -x , -o run$nr.csv -e page-faults:u ./run 2>stat.log ||
		{ tail -n 1 stat.log; echo 'SKIP: perf cannot count page faults here'; exit 77; }
done
{
	echo "# $(perf --version)"
	echo "# runs alone: $(sed -n 's/^\([0-9]*\),.*/\1/p' run1.csv run2.csv | tr '\n' ' ')"
	echo "# -r 2: $(stat -r 2)"
	echo "# -r 3: $(stat -r 3)"
	rm -f many
	echo "# csv: $(perf stat -x , -r 3 -e page-faults:u ./run 2>&1 | sed -n 's/^\([0-9]*\),.*/\1/p')"
} >numbers
cat numbers
awk '
function what(count) { return count < 1.1 * few ? "few" : count > 0.9 * many ? "many" : "between" }
/alone/ { few = $4; many = $5; print "a run alone: " (many > 5 * few ? "few or many" : "alike") }
/-r/ {
	print $2, $3, what($4) ", error " ($5 > 100 ? "above" : "below") " 100 %"
	# 1 s of two or three runs
	print $2, $3, "time " ($6 > 0.3 && $6 < 1 ? "between" : "of a run")
}
/csv/ { print $2, what($3) }' numbers >seen
cat seen
cat >expected <<'EOT'
a run alone: few or many
-r 2: many, error below 100 %
-r 2: time between
-r 3: few, error above 100 %
-r 3: time between
csv: few
EOT
diff expected seen >/dev/null || { echo 'CHANGED: perf does not behave as described'; exit 1; }
echo 'as described'
