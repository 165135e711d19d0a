#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# hotspot 1.3.0 (Debian 12: 1.3.0-2), whose hotspot-perfparser reads perf.data, shows wrong call chains for
# samples with branch records. There is no error; perf shows the right chains of the same files:
#
# - hotspot-perfparser does not know PERF_SAMPLE_BRANCH_HW_INDEX, which `perf record` sets since 5.7. All
#   branch records are then read 8 bytes too early. Chains of `perf record --call-graph lbr` lack all
#   functions but the first caller, and have the addresses -1, 0, 0 in their place.
# - hotspot-perfparser takes branch records for callers whenever there are some. The call chains of
#   `perf record -b -g`, whose branch records are the last branches taken, become lists of branches.
#
# The script writes three perf.data files of one sample each. It prints their chains as hotspot-perfparser
# hands them to hotspot, and with perf if it is installed. It needs python3 and Debian 12's archive.
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

mkdir debs
libraries='libbz2-1.0 libdouble-conversion3 libdw1 libelf1 libglib2.0-0 libgssapi-krb5-2 libicu72 libk5crypto3'
libraries="$libraries libkeyutils1 libkrb5-3 libkrb5support0 liblzma5 libpcre2-16-0 libpcre2-8-0 libproxy1v5"
libraries="$libraries libqt5core5a libqt5network5 libstdc++6 libzstd1 zlib1g"
# shellcheck disable=SC2086 # a list of names
(cd debs && apt-get -qq download hotspot=1.3.0-2 $libraries) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done

# Each sample is at 0x401000. Modes "lbr" and "old": 0x402000 called 0x400ff0, called by 0x403000 and
# 0x404000, with and without PERF_SAMPLE_BRANCH_HW_INDEX. Mode "any": the call chain 0x402000, 0x403000, and
# branches from 0x501000, 0x502000, 0x503000.
cat >make.py <<'END'
import struct, sys
mode, out = sys.argv[1:]
IP, TID, TIME, CALLCHAIN, PERIOD, BRANCH_STACK, IDENTIFIER = 1, 2, 4, 1 << 5, 1 << 8, 1 << 11, 1 << 16
USER, ANY, CALL_STACK, NO_FLAGS, NO_CYCLES, HW_INDEX = 1, 1 << 3, 1 << 11, 1 << 14, 1 << 15, 1 << 17
CPU_CLOCK, CONTEXT_USER = 0, 2**64 - 512
form = IDENTIFIER | IP | TID | TIME | CALLCHAIN | PERIOD | BRANCH_STACK
chain = [CONTEXT_USER, 0x401000]
if mode == 'any':
    branch = USER | ANY
    chain += [0x402000, 0x403000]
    branches = [(0x501000, 0x501010), (0x502000, 0x502010), (0x503000, 0x503010)]
else:
    branch = USER | CALL_STACK | NO_FLAGS | NO_CYCLES | HW_INDEX * (mode == 'lbr')
    branches = [(0x402000, 0x400ff0), (0x403000, 0x401ff0), (0x404000, 0x402ff0)]
sample = struct.pack('<2Q2I2Q', 11, 0x401000, 7, 7, 100, 1000)
sample += struct.pack('<%dQ' % (1 + len(chain)), len(chain), *chain)
sample += struct.pack('<Q', len(branches))
if branch & HW_INDEX:
    sample += struct.pack('<q', -1)
for source, target in branches:
    sample += struct.pack('<3Q', source, target, 0)
sample = struct.pack('<I2H', 9, 2, 8 + len(sample)) + sample
attr = struct.pack('<2I5Q', 1, 112, CPU_CLOCK, 1000, form, 0, 1 << 18)
attr += struct.pack('<2I4QIiQI2H', 0, 0, 0, 0, branch, 0, 0, 0, 0, 0, 0, 0)
attr += struct.pack('<2Q', 104 + 128, 8)
ids = struct.pack('<Q', 11)
head = b'PERFILE2' + struct.pack('<8Q', 104, 128, 104, 128, 104 + 128 + len(ids), len(sample), 0, 0)
open(out, 'wb').write(head + bytes(32) + attr + ids + sample)
END
# Print the addresses of each sample in hotspot-perfparser's output: messages with their length before them.
cat >chains.py <<'END'
import struct, sys
LOCATION, SAMPLE = 3, 13
data = open(sys.argv[1], 'rb').read()
pos, address = len(b'QPERFSTREAM\0') + 4, {}
while pos < len(data):
    size, = struct.unpack_from('<I', data, pos)
    message = data[pos + 4:pos + 4 + size]
    pos += 4 + size
    if message[0] == LOCATION:
        number, value = struct.unpack_from('>iQ', message, 1)
        address[number] = value
    elif message[0] == SAMPLE:
        count, = struct.unpack_from('>I', message, 21)
        print('%s:' % sys.argv[2], *('%x' % address[n] for n in struct.unpack_from('>%di' % count, message, 25)))
END
parser="$work/root/usr/lib/x86_64-linux-gnu/libexec/hotspot-perfparser"
for mode in lbr old any; do
	python3 make.py $mode $mode.data
	LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu" \
		"$parser" --input $mode.data --output $mode.out 2>$mode.log ||
		{ tail -n 3 $mode.log; echo 'SKIP: hotspot-perfparser does not run'; exit 77; }
	python3 chains.py $mode.out $mode >>seen
	if command -v perf >/dev/null; then
		# shellcheck disable=SC2046 # the addresses, one a line
		echo "# perf, $mode:" $(perf script -i $mode.data -F ip 2>/dev/null)
	fi
done
echo '# hotspot 1.3.0'
cat seen
cat >expected <<'END'
lbr: 402000 ffffffffffffffff 0 0
old: 400ff0 402000 403000 404000
any: 501010 501000 502000 503000
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
