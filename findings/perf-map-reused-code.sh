#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf 6.1 (Debian 12: linux-perf 6.1.176-1) gives samples to functions that are gone, if it has the names from
# /tmp/perf-PID.map. There is no message:
#
# - A virtual machine that frees code, and puts other code there, appends a line to its map. If two lines have one
#   address, all samples are of one function, whenever they were taken. Which one it is depends on lines of other
#   functions: it is before() in a map of two lines. With a third one, of another address, it is after().
# - A function over two old ones, which are gone, has all samples. If the map begins with a function of another address,
#   it has none, and the old ones have all.
#
# The V8 of Node.js writes such maps with --perf-basic-prof. jit-interface.txt of perf describes the lines, and does not
# say that addresses must not recur.
#
# Cause: symbols__insert() of util/symbol.c puts the lines into a red-black tree. symbols__find() takes the first range
# with the address on its way down, and other lines change the tree's root. Symbols of ELF files pass
# symbols__fixup_duplicate(), those of a map do not.
#
# The script writes a perf.data with 40 samples, and maps for a process id that Linux does not give. It needs python3
# and Debian 12's archive.
# Status: 0 if perf behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in python3 apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
pid=5000007
map=/tmp/perf-$pid.map
[ ! -e "$map" ] || { echo "SKIP: $map exists"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work" "$map"' EXIT
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
import struct, sys
SOFTWARE, USER, EXCLUDE_GUEST, CODE = 1, 2, 1 << 20, 0x7f0000000000
FORM = 1 | 2 | 4 | 1 << 8	# IP, TID, TIME, PERIOD
pid = int(sys.argv[1])

def record(kind, misc, body):
    return struct.pack('<I2H', kind, misc, 8 + len(body)) + body

data = record(3, 0, struct.pack('<2I16s', pid, pid, b'vm'))
data += record(1, USER, struct.pack('<2I3Q8s', pid, pid, CODE, 0x10000, 0, b'//anon'))
for nr in range(40):
    # Ten samples in each quarter of 0x400 bytes
    address = CODE + 0x1000 + nr // 10 * 0x100 + nr % 10
    data += record(9, USER, struct.pack('<Q2I2Q', address, pid, pid, 1000 + nr, 1000))
attr = struct.pack('<2I5Q', SOFTWARE, 112, 0, 1000, FORM, 0, EXCLUDE_GUEST).ljust(112, b'\0')
head = b'PERFILE2' + struct.pack('<8Q', 104, 128, 104, 128, 232, len(data), 0, 0)
open('perf.data', 'wb').write(head + bytes(32) + attr + bytes(16) + data)
END
python3 make.py "$pid"

# report LINE...: print the functions with a map of these lines: address, size and name
report() {
	lines=$(printf ', %s' "$@" | sed 's/7f000000//g')
	echo "map: ${lines#, }"
	printf '%s\n' "$@" >"$map"
	perf report --stdio --sort sym -F sample,sym -i perf.data 2>/dev/null |
		sed -n 's/^ *\([0-9][0-9]*\)  \[\.\] \(.*[^ ]\) *$/  \1 samples: \2/p'
}
export LC_ALL=C
{
	report '7f0000001000 400 before' '7f0000001000 400 after'
	report '7f0000001000 400 before' '7f0000001000 400 after' '7f0000008000 100 other'
	report '7f0000001000 200 small1' '7f0000001200 200 small2' '7f0000001000 400 big'
	report '7f0000000000 100 other' '7f0000001000 200 small1' '7f0000001200 200 small2' '7f0000001000 400 big'
} >seen
echo "# $(perf --version)"
cat seen
cat >expected <<'END'
map: 1000 400 before, 1000 400 after
  40 samples: before
map: 1000 400 before, 1000 400 after, 8000 100 other
  40 samples: after
map: 1000 200 small1, 1200 200 small2, 1000 400 big
  40 samples: big
map: 0000 100 other, 1000 200 small1, 1200 200 small2, 1000 400 big
  20 samples: small1
  20 samples: small2
END
diff expected seen >differences || { cat differences; echo 'CHANGED: perf does not behave as described'; exit 1; }
echo 'as described'
