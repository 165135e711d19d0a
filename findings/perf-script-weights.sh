#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Three scripts that perf 6.1 brings along (perf script; Debian 12: linux-perf 6.1.176-1) give other numbers
# than perf report and perf stat report of the same file. None says so:
#
# - flamegraph.py and stackcollapse.py count samples, whatever their event and period. A file of two events
#   is one flame graph, in which a page fault is as wide as a million cycles. With a frequency (perf record's
#   default) periods differ, and the first samples have periods of a few cycles: they are as wide as any other.
# - stat-cpi.py takes cycles:u and cycles:k for one event, and instructions likewise. The cycles per
#   instruction are those of the mode that is listed last.
#
# The file of samples has event 1, "cpu-clock", with a sample of period 999990 of the task "long" and one of
# period 10 of the task "short", and event 2, "page-faults", with two samples of period 1 of "short". The file
# of counts has 6000000 cycles_u, 3000000 cycles_k, 6000000 instructions_u and 1000000 instructions_k: scripts
# get the name of cycles:u with "_" for ":".
#
# This script needs python3 and Debian 12's archive.
# Status: 0 if the scripts behave as described, 1 if not, 77 if they cannot be tested.
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
libraries="$libraries libpython3.11-minimal libpython3.11-stdlib"
# shellcheck disable=SC2086 # a list of names
(cd debs && apt-get -qq download linux-perf=6.1.176-1 $libraries) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done
cat >bin/perf <<EOT
#!/bin/sh
export LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu"
export PERF_EXEC_PATH="$work/root/usr/lib/perf-core" PYTHONHOME="$work/root/usr"
exec "$work/root/usr/bin/perf" "\$@"
EOT
chmod 755 bin/perf
PATH="$work/bin:$PATH"
scripts="$work/root/usr/lib/perf-core/scripts/python"

cat >samples.py <<'END'
import struct
IP, TID, TIME, PERIOD, IDENTIFIER = 1, 2, 4, 1 << 8, 1 << 16
SOFTWARE, CPU_CLOCK, PAGE_FAULTS, USER = 1, 0, 2, 2
FORM = IDENTIFIER | IP | TID | TIME | PERIOD
FREQ, EXCLUDE_GUEST = 1 << 10, 1 << 20

def record(kind, misc, body):
    return struct.pack('<I2H', kind, misc, 8 + len(body)) + body

def comm(pid, name):
    return record(3, 0, struct.pack('<2I16s', pid, pid, name))

def sample(event, pid, time, period):
    return record(9, USER, struct.pack('<2Q2I2Q', event, 0x401000, pid, pid, time, period))

def attr(config, flags):
    return struct.pack('<2I5Q', SOFTWARE, 112, config, 1000, FORM, 0, flags).ljust(112, b'\0')

data = comm(1, b'long') + comm(2, b'short') + sample(11, 1, 100, 999990) + sample(11, 2, 200, 10)
data += sample(12, 2, 300, 1) + sample(12, 2, 400, 1)
ids = struct.pack('<2Q', 11, 12)
attrs = [attr(CPU_CLOCK, FREQ | EXCLUDE_GUEST), attr(PAGE_FAULTS, EXCLUDE_GUEST)]
start = 104 + 2 * 128
section = b''.join(a + struct.pack('<2Q', start + 8 * nr, 8) for nr, a in enumerate(attrs))
head = b'PERFILE2' + struct.pack('<8Q', 104, 128, 104, len(section), start + len(ids), len(data), 0, 0)
open('samples.data', 'wb').write(head + bytes(32) + section + ids + data)
END
python3 samples.py

# The counts of `perf stat record' are set to known ones.
cat >counts.py <<'END'
import struct
STAT = 76
counts = [6000000, 3000000, 6000000, 1000000]
data = bytearray(open('stat.data', 'rb').read())
at, size = struct.unpack_from('<2Q', data, 40)
end, events = at + size, []
while at < end:
    kind, _, length = struct.unpack_from('<I2H', data, at)
    if kind == STAT:
        event, = struct.unpack_from('<Q', data, at + 8)
        events += [event] * (event not in events)
        struct.pack_into('<3Q', data, at + 24, counts[events.index(event)], 1000000, 1000000)
    at += length
open('stat.data', 'wb').write(data)
END
perf stat record -I 100 -o stat.data -e task-clock/name=cycles_u/,task-clock/name=cycles_k/ \
	-e page-faults/name=instructions_u/,page-faults/name=instructions_k/ sleep 0.3 >stat.log 2>&1 ||
	{ tail -n 3 stat.log; echo 'SKIP: perf cannot count software events here'; exit 77; }
python3 counts.py

export LC_ALL=C
{
	perf report --stdio --sort comm --percentage relative -i samples.data 2>/dev/null |
		sed -n "s/^# Samples: [0-9]* *of event '\(.*\)'/perf report: \1/p; s/^ *\([0-9.]*%\)  \([a-z]*\) *$/  \1 \2/p"
	perf script -i samples.data -s "$scripts/stackcollapse.py" 2>/dev/null | sed 's/^/stackcollapse.py: /'
	perf script -i samples.data -s "$scripts/flamegraph.py" -- --format json --output flame.json >/dev/null 2>&1
	python3 -c '
import json
for task in json.load(open("flame.json"))["c"]:
    print("flamegraph.py:", task["n"], sum(frame["v"] for frame in task["c"]) + task["v"])'
	# The first interval
	perf stat report -i stat.data 2>&1 |
		sed -n 's/^ *[0-9.]* *\([0-9.]*\) *\(msec\)* *\([a-z]*_[uk]\) .*/perf stat report: \1 \3/p' | sed -n '1,4p'
	perf script -i stat.data -s "$scripts/stat-cpi.py" 2>/dev/null | sed -n '1s/.*-> /stat-cpi.py: /p'
} >seen
echo "# $(perf --version)"
cat seen
cat >expected <<'END'
perf report: cpu-clock
  100.00% long
  0.00% short
perf report: page-faults
  100.00% short
stackcollapse.py: long 1
stackcollapse.py: short 3
flamegraph.py: long (1) 1
flamegraph.py: short (2) 3
perf stat report: 6.00 cycles_u
perf stat report: 3.00 cycles_k
perf stat report: 6000000 instructions_u
perf stat report: 1000000 instructions_k
stat-cpi.py: cpi 3.000000 (3000000/1000000)
END
diff expected seen >differences || { cat differences; echo 'CHANGED: the scripts do not behave as described'; exit 1; }
echo 'as described'
