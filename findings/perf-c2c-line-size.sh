#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf c2c report of perf 6.1 (Debian 12: linux-perf 6.1.176-1) divides memory into cache lines of the machine that runs
# the report, not of the machine that was measured. There is no message:
#
# - POWER has lines of 128 bytes. A CPU that writes at offset 0 of a line disturbs a CPU that reads at offset 64. In a
#   report on x86, whose lines have 64 bytes, these are two lines.
# - The line with the reader has all HITMs and no store. The line with the writer has no HITM, and is not in the report.
#   False sharing then looks like a line that only one CPU uses.
# - perf report --sort dcacheline has two lines as well.
# - perf record stores the size of the measured machine's cache lines in perf.data.
#
# perf archive is there for reports on another machine, and perf-c2c(1) does not say that the machine must be the same.
#
# Cause: cacheline_size() of util/cacheline.c is sysconf(_SC_LEVEL1_DCACHE_LINESIZE). Only perf report --header reads the
# feature HEADER_CACHE of the file.
#
# The script writes the perf.data of a ppc64le machine: 30 stores and 20 loads that hit a modified line. For comparison,
# it runs perf with a sysconf(3) that knows POWER's lines. It needs cc, python3 and Debian 12's archive.
# Status: 0 if perf behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in cc python3 apt-get dpkg getconf; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
[ "$(getconf LEVEL1_DCACHE_LINESIZE)" = 64 ] ||
	{ echo 'SKIP: the cache lines of this machine are not 64 bytes'; exit 77; }
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
export LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu" LD_PRELOAD="\${PRELOAD-}"
exec "$work/root/usr/bin/perf" "\$@"
EOT
chmod 755 bin/perf
PATH="$work/bin:$PATH"

cat >line.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

long sysconf(int name)
{
	return name == _SC_LEVEL1_DCACHE_LINESIZE ? 128 : ((long (*)(int))dlsym(RTLD_NEXT, "sysconf"))(name);
}
END
cc -shared -fPIC -o line.so line.c

cat >make.py <<'END'
import struct
RAW, USER, EXCLUDE_GUEST = 4, 2, 1 << 20
# IP, TID, TIME, ADDR, CPU, PERIOD, WEIGHT, DATA_SRC
FORM = 1 | 2 | 4 | 8 | 1 << 7 | 1 << 8 | 1 << 14 | 1 << 15
# PERF_MEM_OP_LOAD or STORE, PERF_MEM_LVL_HIT with L3 or L1, PERF_MEM_SNOOP_HITM
LOAD, STORE = 2 | (2 | 1 << 6) << 5 | 16 << 19, 4 | (2 | 1 << 3) << 5
ARCH, NRCPUS, NUMA, CACHE, LINE = 6, 7, 14, 20, 0x20000000

def record(kind, misc, body):
    return struct.pack('<I2H', kind, misc, 8 + len(body)) + body

def comm(pid, name):
    return record(3, 0, struct.pack('<2I16s', pid, pid, name))

def sample(pid, time, addr, weight, source):
    return record(9, USER, struct.pack('<Q2I2Q2I3Q', 0x10000400, 1, pid, time, addr, pid % 2, 0, 1000, weight, source))

def text(string):
    return struct.pack('<I64s', 64, string)

features = {ARCH: text(b'ppc64le'), NRCPUS: struct.pack('<2I', 2, 2),
            NUMA: struct.pack('<2I2Q', 1, 0, 1 << 20, 1 << 19) + text(b'0-1'),
            # The version, one cache, its level, line size, sets and ways
            CACHE: struct.pack('<6I', 1, 1, 1, 128, 32, 8) + text(b'Data') + text(b'32K') + text(b'0-1')}
data = comm(1, b'counters')
data += b''.join(sample(1, 100 + 10 * nr, LINE, 0, STORE) for nr in range(30))
data += b''.join(sample(2, 105 + 10 * nr, LINE + 64, 200, LOAD) for nr in range(20))
attr = struct.pack('<2I5Q', RAW, 112, 0x401e0, 1000, FORM, 0, EXCLUDE_GUEST).ljust(112, b'\0') + bytes(16)
at = 104 + len(attr) + len(data)
table, body = b'', b''
for bit in sorted(features):
    table += struct.pack('<2Q', at + 16 * len(features) + len(body), len(features[bit]))
    body += features[bit]
bits = sum(1 << bit for bit in features)
head = b'PERFILE2' + struct.pack('<12Q', 104, 128, 104, 128, 232, len(data), 0, 0, bits, 0, 0, 0)
open('perf.data', 'wb').write(head + attr + data + table + body)
END
python3 make.py
export LC_ALL=C
# c2c BYTES: print the lines and their offsets: all records, HITMs and stores of lines; HITMs and stores of offsets
c2c() {
	perf c2c report --stdio -i perf.data 2>/dev/null | awk -v bytes="$1" '
		/Shared Data Cache Line Table/ { lines = 1 }
		/Distribution Pareto/ { lines = 0; offsets = 1 }
		lines && $2 ~ /^0x/ {
			print "perf c2c, " bytes ": line " $2 ", " $9 " records, " $6 " HITMs, " $11 " stores"
		}
		offsets && $6 ~ /^0x/ { print "  offset " $6 ", " $2 " of HITMs, " $3 " of stores" }'
}
{
	c2c 64
	perf report --mem-mode --sort dcacheline,mem --stdio -i perf.data 2>/dev/null |
		sed -n 's/^ *[0-9.]*%  \(.*[^ ]\) *$/perf report: \1/p' | tr -s ' '
	PRELOAD=$work/line.so
	export PRELOAD
	c2c 128
} >seen
echo "# $(perf --version)"
cat seen
cat >expected <<'END'
perf c2c, 64: line 0x20000040, 20 records, 20 HITMs, 0 stores
  offset 0x0, 100.00% of HITMs, 0.00% of stores
perf report: [X] 0x0000000020000040 L3 hit
perf report: [X] 0x0000000020000000 L1 hit
perf c2c, 128: line 0x20000000, 50 records, 20 HITMs, 30 stores
  offset 0x0, 0.00% of HITMs, 100.00% of stores
  offset 0x40, 100.00% of HITMs, 0.00% of stores
END
diff expected seen >differences || { cat differences; echo 'CHANGED: perf does not behave as described'; exit 1; }
echo 'as described'
