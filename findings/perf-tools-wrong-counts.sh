#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Two programs of perf-tools (Debian 12: perf-tools-unstable 1.0.1~20200130+git49b8cdf-1), which wrap perf, count
# events in the wrong place. There is no message:
#
# - perf-stat-hist -f 'fd == 3 || fd == 4' counts all events with fd 3 in each bucket of the histogram, whatever their
#   value. Here 15 reads are 35, and ten reads of 10 bytes are also reads of 1000 bytes or more.
# - syscount drops a process's name from the first space on: "Web Content" and "Web Extensions" are one process,
#   "Web". With -v the column PID has "Content" and "Extensions".
# - syscount ./editor | cat counts the processes of the last perf.data in the folder, not the editor. The output has
#   the new data before the table.
#
# Cause: perf-stat-hist writes the filter, " && " and the limits of the bucket one after another, without parentheses;
# && binds more tightly than ||. syscount lets awk divide the lines of perf script --fields comm,pid at spaces. perf
# record writes its data to a standard output that is a pipe, and perf script then reads an old perf.data.
# The man pages restrict neither filters nor names nor output. The filter '(fd == 3 || fd == 4)' is right.
#
# The script stands in for tracefs: its perf stat applies the filters to 15 reads, and perf record of perf 6.1 has
# cpu-clock in place of system calls. It needs python3 and Debian 12's archive.
# Status: 0 if the programs behave as described, 1 if not, 77 if they cannot be tested.
set -eu

for program in apt-get awk bash dpkg python3; do
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
(cd debs && apt-get -qq download perf-tools-unstable=1.0.1~20200130+git49b8cdf-1 linux-perf=6.1.176-1 $libraries) \
	2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done
cat >bin/real-perf <<EOT
#!/bin/sh
export LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu"
exec "$work/root/usr/bin/perf" "\$@"
EOT
cat >bin/perf <<'EOT'
#!/usr/bin/env python3
# perf stat: counts of 15 reads; perf record: cpu-clock; other subcommands: perf's own
import os
import sys

READS = [{"fd": 3, "count": 10}] * 10 + [{"fd": 4, "count": 5000}] * 5
args = sys.argv[1:]
if args[0] == "stat":
    print(" Performance counter stats for 'system wide':\n")
    for word, text in zip(args, args[1:]):
        if word == "--filter":
            text = text.replace("&&", "and").replace("||", "or").strip()
            print(f"{sum(bool(eval(text, {}, read)) for read in READS):15}      syscalls:sys_enter_read")
    sys.exit(0)
if args[0] == "record":
    at = args.index("--filter")
    args = ["record", "-q", "-e", "cpu-clock", "-F", "1000", *args[at + 2:]]
os.execvp("real-perf", ["real-perf", *args])
EOT
# perf-stat-hist looks for its event in tracefs.
cat >bin/grep <<'EOT'
#!/bin/sh
case $* in
*available_events) echo syscalls:sys_enter_read ;;
*) exec /bin/grep "$@" ;;
esac
EOT
chmod 755 bin/*
PATH="$work/bin:$PATH"

cat >program <<'END'
#!/bin/sh
i=0
while [ $i -lt 100000 ]; do
	i=$((i + 1))
done
END
chmod 755 program
for name in 'Web Content' 'Web Extensions' editor; do
	cp program "$name"
done
printf '#!/bin/sh\n"./Web Content"\nexec "./Web Extensions"\n' >browser
chmod 755 browser

# histogram FILTER: print the buckets that perf-stat-hist has for a filter.
histogram() {
	bash root/usr/sbin/perf-stat-hist-perf -f "$1" -b '100 1000' syscalls:sys_enter_read count 1 |
		awk -v filter="$1" '/->/ {
			sub(/ *\|.*/, ""); gsub(/ +/, " "); text = text (text ? "," : "") $0
		} END { print filter ":" text }'
}

# without_counts: print the lines of the browser and the editor in a table of syscount, without the counts.
without_counts() {
	tr -d '\r' | LC_ALL=C awk '
		table && /Web|editor/ { $NF = ""; sub(/ +$/, ""); print }
		/COMM +COUNT$/ { table = 1 }' | sort
}

# on_terminal ARG...: run syscount with a terminal for its output.
on_terminal() {
	python3 -c 'import pty, sys; pty.spawn(["bash", "root/usr/sbin/syscount-perf", *sys.argv[1:]])' "$@" </dev/null
}
{
	histogram 'fd == 3 || fd == 4'
	histogram '(fd == 3 || fd == 4)'
	echo 'syscount -v ./browser:'
	on_terminal -v ./browser | without_counts
	echo 'syscount ./browser:'
	on_terminal ./browser | without_counts
	echo 'perf report:'
	real-perf report -i perf.data --stdio -q --sort comm | awk '/Web/ { print $2, $3 }' | sort
	echo 'syscount ./editor | cat:'
	bash root/usr/sbin/syscount-perf ./editor 2>/dev/null </dev/null | without_counts
} >seen
/bin/grep -q '^Web Content' seen || { cat seen; echo 'SKIP: perf record does not work here'; exit 77; }
echo "# perf-tools-unstable $(dpkg-deb -f debs/perf-tools-unstable_*.deb Version), $(real-perf --version)"
cat seen
cat >expected <<'END'
fd == 3 || fd == 4: -> 99 : 10, 100 -> 999 : 10, 1000 -> : 15
(fd == 3 || fd == 4): -> 99 : 10, 100 -> 999 : 0, 1000 -> : 5
syscount -v ./browser:
Content Web
Extensions Web
syscount ./browser:
Web
perf report:
Web Content
Web Extensions
syscount ./editor | cat:
Web
END
diff expected seen >/dev/null || { echo 'CHANGED: the programs do not behave as described'; exit 1; }
echo 'as described'
