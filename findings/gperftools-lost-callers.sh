#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Both readers of gperftools' CPU profiles remove callers that stacks have in common: go tool pprof 1.19.8 and
# google-pprof 2.10 (Debian 12: golang-1.19-go 1.19.8-2, google-perftools 2.10-1). Only google-pprof has a message:
#
# - Each stack of a hot loop has the same callers. start() calls main(), which calls run(), which calls hot(): go tool
#   pprof removes two callers, so that start() calls hot(). google-pprof removes all of them.
# - One sample of another path brings all callers back, in both. The call graphs of two runs then differ.
# - go tool pprof counts stacks, not samples. 63 stacks of one sample lose run() and main(), although a million samples
#   have another path.
#
# google-pprof says "Removing NAME from all stack traces", and has the option --no-auto-signal-frm. go tool pprof has
# neither.
#
# Cause: cpuProfile() of Go's package profile, and RemoveUninterestingFrames() of google-pprof, take a caller that all
# stacks share for a frame of the signal handler. For cpuProfile() all but one stack of 32 are enough.
#
# The script writes three profiles, and prints their stacks: the leaf first, as calls. It needs perl, nm, python3 and
# Debian 12's archive.
# Status: 0 if the programs behave as described, 1 if not, 77 if they cannot be tested.
set -eu

for program in apt-get dpkg nm perl python3; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download golang-1.19-go=1.19.8-2 google-perftools=2.10-1) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done

# Header: 0, 3 words, version 0, 10 ms, 0. A stack: samples, depth, addresses. Trailer: 0, 1, 0. Then the mappings.
cat >make.py <<'END'
import struct
HOT, OTHER, RUN, SERVE, MAIN, START = (0x400000 + 0x1000 * n for n in range(1, 7))

def write(name, stacks):
    words = [0, 3, 0, 10000, 0]
    for samples, leaf, *callers in stacks:
        # The address of a call's frame is the instruction behind the call.
        words += [samples, 1 + len(callers), leaf] + [caller + 1 for caller in callers]
    words += [0, 1, 0]
    maps = b'00400000-00500000 r-xp 00000000 08:01 1 /program\n'
    open(name, 'wb').write(struct.pack(f'<{len(words)}Q', *words) + maps)

loop = [(10, HOT + nr, RUN, MAIN, START) for nr in range(3)]
write('loop', loop)
write('loop-and-1', loop + [(1, OTHER, SERVE, MAIN, START)])
write('million', [(1, HOT + nr, RUN, MAIN, START) for nr in range(63)] + [(1000000, OTHER, SERVE, MAIN, START)])
END
cat >show.py <<'END'
import collections, re, struct, sys
names = ['hot', 'other', 'run', 'serve', 'main', 'start']
data, total, places = sys.stdin.buffer.read(), collections.Counter(), {}
if sys.argv[1].startswith('go '):
    text = data.decode()
    for nr, address in re.findall(r'^ *(\d+): (0x[0-9a-f]+) ', text, re.M):
        places[nr] = int(address, 16)
    stacks = [(int(samples), [places[nr] for nr in where.split()])
              for samples, where in re.findall(r'^ +(\d+) +\d+: ([\d ]+)$', text, re.M)]
else:
    data = data[data.index(b'--- profile\n') + 12:]
    words, at, stacks = struct.unpack(f'<{len(data) // 8}Q', data[:len(data) // 8 * 8]), 5, []
    while at < len(words):
        stacks.append((words[at], words[at + 2:at + 2 + words[at + 1]]))
        at += 2 + words[at + 1]
for samples, stack in stacks:
    total[' < '.join(names[(address >> 12 & 15) - 1] for address in stack)] += samples
for stack in sorted(total):
    print(f'{sys.argv[1]}: {total[stack]} {stack}')
END
python3 make.py
export HOME="$work"
for profile in loop loop-and-1 million; do
	root/usr/lib/go-1.19/pkg/tool/linux_amd64/pprof -raw -symbolize=none $profile 2>>log |
		python3 show.py "go tool pprof, $profile"
	perl root/usr/bin/google-pprof --raw "$(command -v nm)" $profile 2>>log |
		python3 show.py "google-pprof, $profile"
done >seen
perl root/usr/bin/google-pprof --raw --no-auto-signal-frm "$(command -v nm)" loop 2>>log |
	python3 show.py 'google-pprof --no-auto-signal-frm, loop' >>seen
cat seen
cat >expected <<'END'
go tool pprof, loop: 30 hot < start
google-pprof, loop: 30 hot
go tool pprof, loop-and-1: 30 hot < run < main < start
go tool pprof, loop-and-1: 1 other < serve < main < start
google-pprof, loop-and-1: 30 hot < run < main < start
google-pprof, loop-and-1: 1 other < serve < main < start
go tool pprof, million: 63 hot < start
go tool pprof, million: 1000000 other < serve < main < start
google-pprof, million: 63 hot < run < main < start
google-pprof, million: 1000000 other < serve < main < start
google-pprof --no-auto-signal-frm, loop: 30 hot < run < main < start
END
diff expected seen >/dev/null || { echo 'CHANGED: the programs do not behave as described'; exit 1; }
echo 'as described'
