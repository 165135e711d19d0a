#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf mem report of perf 6.1 (Debian 12: linux-perf 6.1.176-1) adds latencies in cycles and numbers of samples: a
# sample without a latency counts as one cycle. There is no message, and the sum is headed "Total weight":
#
# - Stores have no latency on many CPUs, nor have AMD's loads that hit the first cache. Here 90 stores and one load of
#   810 cycles are "Total weight : 900": the load has 90 percent, the stores have 10.
# - "Local Weight" of the stores is 0, and still they have their 10 percent. If each of ten stores has a weight of 0,
#   the total weight is 10.
# - The periods of samples have no effect. perf report of the same file counts periods: the stores have 98.9 percent.
#
# Cause: iter_add_single_mem_entry() of tools/perf/util/hist.c takes 1 for a weight of 0.
#
# The script writes perf.data files of one event with PERF_SAMPLE_WEIGHT and PERF_SAMPLE_DATA_SRC. It needs python3
# and Debian 12's archive; no PMU is needed.
# Status: 0 if perf behaves as described, 1 if not, 77 if it cannot be tested.
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

cat >samples.py <<'EOT'
import struct
RAW, USER, EXCLUDE_GUEST = 4, 2, 1 << 20
# IP, TID, TIME, PERIOD, WEIGHT, DATA_SRC
FORM = 1 | 2 | 4 | 1 << 8 | 1 << 14 | 1 << 15
# PERF_MEM_OP_LOAD or STORE, PERF_MEM_LVL_HIT with LOC_RAM or L1
LOAD, STORE = 2 | (2 | 1 << 7) << 5, 4 | (2 | 1 << 3) << 5

def record(kind, misc, body):
    return struct.pack('<I2H', kind, misc, 8 + len(body)) + body

def sample(pid, time, weight, source):
    return record(9, USER, struct.pack('<Q2I4Q', 0x401000, pid, pid, time, 1000, weight, source))

def comm(pid, name):
    return record(3, 0, struct.pack('<2I16s', pid, pid, name))

def write(name, samples):
    data = comm(1, b'stores') + comm(2, b'load') + b''.join(samples)
    attr = struct.pack('<2I5Q', RAW, 112, 0x1cd, 1000, FORM, 0, EXCLUDE_GUEST).ljust(112, b'\0')
    head = b'PERFILE2' + struct.pack('<8Q', 104, 128, 104, 128, 232, len(data), 0, 0)
    open(name, 'wb').write(head + bytes(32) + attr + bytes(16) + data)

stores = [sample(1, 100 + nr, 0, STORE) for nr in range(90)]
write('mixed.data', stores + [sample(2, 300, 810, LOAD)])
write('stores.data', stores[:10])
EOT
python3 samples.py

export LC_ALL=C
# report OPTION...: print the total and the shares
report() {
	perf report --stdio "$@" 2>/dev/null |
		sed -n 's/^# \(Total weight\|Event count\)[^:]*: /\1: /p; s/^ *\([0-9.]*%\) *\(.*[^ ]\) *$/  \1 \2/p' | tr -s ' '
}
{
	report -i mixed.data --mem-mode --sort comm,mem,local_weight
	report -i stores.data --mem-mode --sort comm,mem,local_weight
	report -i mixed.data --sort comm
} >seen
echo "# $(perf --version)"
cat seen
cat >expected <<'EOT'
Total weight: 900
 90.00% load Local RAM hit 810
 10.00% stores L1 hit 0
Total weight: 10
 100.00% stores L1 hit 0
Event count: 91000
 98.90% stores
 1.10% load
EOT
diff expected seen >/dev/null || { echo 'CHANGED: perf does not behave as described'; exit 1; }
echo 'as described'
