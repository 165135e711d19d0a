#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf diff of perf 6.1 (Debian 12: linux-perf 6.1.176-1) compares events of user space with those of the kernel. There
# is no message:
#
# - A file of `perf record -e cycles:u,cycles:k` compared with itself has differences: one task's share of cycles:k is
#   80 points less, another's 80 points more. perf diff compares cycles:k of one file with cycles:u of the other.
# - The table is headed "Event 'cycles:k'". perf report of both files shows both events right.
#
# Cause: evsel_match() of builtin-diff.c takes the first event of the other file with the same type and config. Modes,
# period and precise_ip are no part of config.
#
# The file has ten samples of cycles:u, nine of them of the task "one", and ten of cycles:k, one of them of "one". The
# script needs python3 and Debian 12's archive.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in python3 apt-get dpkg; do
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

cat >make.py <<'END'
import struct
IP, TID, TIME, PERIOD, IDENTIFIER = 1, 2, 4, 1 << 8, 1 << 16
FORM = IDENTIFIER | IP | TID | TIME | PERIOD
EXCLUDE_USER, EXCLUDE_KERNEL, EXCLUDE_HV = 1 << 4, 1 << 5, 1 << 6
HARDWARE, CPU_CYCLES = 0, 0
KERNEL, USER = 1, 2

def record(kind, misc, body):
    return struct.pack('<I2H', kind, misc, 8 + len(body)) + body

def comm(pid, name):
    return record(3, 0, struct.pack('<2I16s', pid, pid, name))

def samples(event, mode, pid, number):
    return b''.join(record(9, mode, struct.pack('<2Q2I2Q', event, 0x401000, pid, pid, 100 + nr, 1000))
                    for nr in range(number))

def attr(flags):
    return struct.pack('<2I5Q', HARDWARE, 112, CPU_CYCLES, 1000, FORM, 0, flags).ljust(112, b'\0')

data = comm(1, b'one') + comm(2, b'two') + samples(11, USER, 1, 9) + samples(11, USER, 2, 1)
data += samples(12, KERNEL, 1, 1) + samples(12, KERNEL, 2, 9)
ids = struct.pack('<2Q', 11, 12)
attrs = [attr(EXCLUDE_KERNEL | EXCLUDE_HV), attr(EXCLUDE_USER | EXCLUDE_HV)]
start = 104 + 2 * 128
section = b''.join(a + struct.pack('<2Q', start + 8 * nr, 8) for nr, a in enumerate(attrs))
head = b'PERFILE2' + struct.pack('<8Q', 104, 128, 104, len(section), start + len(ids), len(data), 0, 0)
open('perf.data', 'wb').write(head + bytes(32) + section + ids + data)
END
python3 make.py

export LC_ALL=C
{
	perf report --stdio --sort comm -i perf.data 2>/dev/null |
		sed -n "s/^# Samples: [0-9]* *of event '\(.*\)'/perf report: \1/p; s/^ *\([0-9.]*%\)  \([a-z]*\) *$/  \1 \2/p"
	perf diff --sort comm perf.data perf.data 2>/dev/null |
		sed -n "s/^# Event '\(.*\)'/perf diff: \1/p; s/^ *\([0-9.]*%\)  *\([-+][0-9.]*%\)  \([a-z]*\) *$/  \1 \2 \3/p"
} >seen
echo "# $(perf --version)"
cat seen
cat >expected <<'END'
perf report: cycles:u
  90.00% one
  10.00% two
perf report: cycles:k
  90.00% two
  10.00% one
perf diff: cycles:u
  90.00% +0.00% one
  10.00% +0.00% two
perf diff: cycles:k
  90.00% -80.00% two
  10.00% +80.00% one
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
