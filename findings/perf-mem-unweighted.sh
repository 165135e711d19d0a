#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf mem report of perf 6.1 (Debian 12: linux-perf 6.1) adds latencies in cycles and numbers of samples: a sample
# without a latency counts as one cycle. There is no message, and the sum is headed "Total weight":
#
# - Stores have no latency on many CPUs, nor have AMD's loads that hit the first cache. Here 90 stores and one load of
#   810 cycles are "Total weight : 900": the load has 90 percent, the stores have 10.
# - "Local Weight" of the stores is 0, and still they have their 10 percent. If each of ten stores has a weight of 0,
#   the total weight is 10.
# - The periods of samples have no effect. perf report of the same file counts periods: the stores have 98.9 percent.
#
# Cause: iter_add_single_mem_entry() of tools/perf/util/hist.c takes 1 for a weight of 0.
#
# The script writes perf.data files of one event with PERF_SAMPLE_WEIGHT and PERF_SAMPLE_DATA_SRC. It needs perf 6.1
# and python3; no PMU is needed.
# Status: 0 if perf behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in perf python3; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
case $(perf --version) in
*' 6.1.'*) ;;
*) echo "SKIP: $(perf --version) is not perf 6.1"; exit 77 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work"

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
