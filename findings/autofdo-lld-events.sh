#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# create_llvm_prof and create_gcov of AutoFDO 0.19 (Debian 12: 0.19-2.2+b1), which turn perf.data into profiles for
# compilers, give the samples to other functions than perf report does. Their logs say that all samples are mapped:
#
# - In programs linked by lld, samples move to functions below their own. Here all samples of hot() become samples
#   of before(), whose code is 4096 bytes below. The same source linked by GNU ld has the right functions.
# - The samples of all events are one count, whatever their event and period. With cycles or cpu-clock and
#   page-faults in one file, 300 page faults are three times as hot as 100 samples of 1 ms each.
#
# Cause: symbol_map.cc adds the address of the first segment to an offset in the file. lld gives code an address that
# differs from its offset; the program header of the code's segment has both. sample_reader.cc increments a
# counter for each sample, and does not read the id of its event.
#
# The script links a program with both linkers, writes perf.data with 100 samples in hot() and 300 page faults in
# after(), and converts it. It needs cc, nm, python3 and Debian 12's archive.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in cc nm readelf python3 apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download autofdo=0.19-2.2+b1 lld-13=1:13.0.1-11+b2 libllvm13=1:13.0.1-11+b2 libgflags2.2 \
	libgoogle-glog0v6 libprotobuf32 libunwind8 libelf1 libz3-4 libssl3 libxml2 libedit2) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done
lib="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu"

cat >program.c <<'END'
#define ROUNDS(operation) for (long i = 0; i < n; i++) n = (n operation i) ^ 5
__attribute__((noinline, aligned(4096))) long before(long n) { ROUNDS(*); return n; }
__attribute__((noinline, aligned(4096))) long hot(long n) { ROUNDS(+); return n; }
__attribute__((noinline, aligned(4096))) long after(long n) { ROUNDS(-); return n; }
int main(int argc, char **argv) { return before(argc) + hot(argc) + after(argc); }
END
cat >make.py <<'END'
import os, struct, subprocess, sys
program, = sys.argv[1:]
symbols = dict(line.split()[::2][::-1] for line in subprocess.check_output(['nm', program], text=True).splitlines()
               if len(line.split()) == 3)
for line in subprocess.check_output(['readelf', '-lW', program], text=True).splitlines():
    if 'LOAD' in line and 'R E' in line:
        offset, address, _, size = (int(word, 16) for word in line.split()[1:5])
BASE, SOFTWARE, CPU_CLOCK, PAGE_FAULTS, USER = 0x555555554000, 1, 0, 2, 2
IP, TID, TIME, PERIOD, IDENTIFIER, SAMPLE_ID_ALL = 1, 2, 4, 256, 65536, 1 << 18
FORM = IDENTIFIER | IP | TID | TIME | PERIOD

def record(kind, misc, body):
    return struct.pack('<I2H', kind, misc, 8 + len(body)) + body

def sample(event, function, period):
    return record(9, USER, struct.pack('<2Q2I2Q', event, BASE + int(symbols[function], 16) + 4, 7, 7, 100, period))

start, page = BASE + address - address % 4096, offset - offset % 4096
name = os.path.abspath(program).encode()
name += bytes(8 - len(name) % 8)
identity = struct.pack('<2I2Q', 7, 7, 50, 11)
data = record(3, 0, struct.pack('<2I8s', 7, 7, b'program') + identity)
data += record(10, USER, struct.pack('<2I3Q2I2Q2I', 7, 7, start, size + address % 4096, page, 8, 1, 1, 1, 5, 2) +
               name + identity)
data += 100 * sample(11, 'hot', 1000000) + 300 * sample(12, 'after', 1)
attrs = [struct.pack('<2I5Q', SOFTWARE, 112, config, period, FORM, 0, SAMPLE_ID_ALL).ljust(112, b'\0')
         for config, period in ((CPU_CLOCK, 1000000), (PAGE_FAULTS, 1))]
ids = struct.pack('<2Q', 11, 12)
section = b''.join(attr + struct.pack('<2Q', 104 + 2 * 128 + 8 * nr, 8) for nr, attr in enumerate(attrs))
head = b'PERFILE2' + struct.pack('<8Q', 104, 128, 104, len(section), 104 + len(section) + len(ids), len(data), 0, 0)
open(program + '.data', 'wb').write(head + bytes(32) + section + ids + data)
END
mkdir linkers
ln -s "$work/root/usr/lib/llvm-13/bin/ld.lld" linkers/ld.lld
exec 3>&1
for linker in bfd lld; do
	LD_LIBRARY_PATH="$lib" cc -O1 -gdwarf-4 -fpie -pie -fuse-ld=$linker -B linkers -o $linker program.c 2>cc.log ||
		{ tail -n 1 cc.log; echo 'SKIP: the program does not build'; exit 77; } >&3
	python3 make.py $linker
	if command -v perf >/dev/null; then
		perf report --stdio --sort symbol -i $linker.data 2>/dev/null |
			sed -n "s/^# Samples: \([0-9]*\) *of event '\(.*\)'/# $linker, perf report: \1 samples of \2/p
				s/^ *[0-9.]*%  \[.\] \([a-z]*\).*/#   \1/p" >&3
	fi
	LD_LIBRARY_PATH="$lib" root/usr/bin/create_llvm_prof --binary=./$linker --profile=$linker.data --use_lbr=false \
		--format=text --out=$linker.txt --logtostderr 2>afdo.log ||
		{ tail -n 2 afdo.log; echo 'SKIP: create_llvm_prof does not run here'; exit 77; } >&3
	LD_LIBRARY_PATH="$lib" root/usr/bin/create_gcov --binary=./$linker --profile=$linker.data --use_lbr=false \
		--gcov=$linker.gcov --gcov_version=2 --logtostderr 2>afdo.log
	LD_LIBRARY_PATH="$lib" root/usr/bin/dump_gcov --gcov_version=2 $linker.gcov 2>afdo.log |
		sed -n "s/^\([a-z]*\) total:\([0-9]*\).*/$linker, create_gcov: \1 \2/p"
	sed "s/^\([a-z]*\):.*/\1/" $linker.txt | awk -v linker=$linker '
		/^[a-z]/ { name = $1 }
		/^ .*: [1-9]/ { print linker ", create_llvm_prof: " name, $2 }'
done >seen
echo '# AutoFDO 0.19'
cat seen
cat >expected <<'END'
bfd, create_gcov: after 300
bfd, create_gcov: hot 100
bfd, create_llvm_prof: after 300
bfd, create_llvm_prof: hot 100
lld, create_gcov: hot 300
lld, create_gcov: before 100
lld, create_llvm_prof: hot 300
lld, create_llvm_prof: before 100
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
