#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# go tool pprof 1.19.8 (Debian 12: golang-1.19-go 1.19.8-2) loses costs and calls when it writes a profile for
# kcachegrind with -callgrind. There is no message, and -top of the same profile is right:
#
# - Costs lose their fractions. If each function has a second or more, the unit is the second. The 1.9 s of parse()
#   become 1 s, and so do those of sort(). utf8() is called for 0.9 s and for 0.5 s; both calls become 0. The sum of all
#   functions is 4 s, not 6.2 s.
# - With -call_tree, a function with several callers gets two names. hot(), which read() and write() call, has all costs
#   and no caller. The file's callees are "hot [1/2]" and "hot [2/2]", which have no costs.
#
# Cause: printCallgrind() of internal/report/report.go writes int64() of the value in the unit that
# selectOutputUnit() chooses by the smallest function, regardless of calls. It writes "cfn=" with the name of
# getDisambiguatedNames(), and "fn=" with the name without its suffix.
#
# The script writes two profiles, and prints a file's costs and calls. It needs python3 and Debian 12's archive.
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
(cd debs && apt-get -qq download golang-1.19-go=1.19.8-2) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done

cat >make.py <<'END'
MS = 10**6

def varint(number):
    return bytes([number]) if number < 128 else bytes([number % 128 + 128]) + varint(number // 128)

def number(field, value):
    return varint(field * 8) + varint(value)

def data(field, value):
    return varint(field * 8 + 2) + varint(len(value)) + value

def write(name, samples):
    """Write a profile of stacks, the leaf first, with nanoseconds."""
    strings = ['', 'cpu', 'nanoseconds', 'prog.c', '/usr/bin/prog']
    functions = sorted({name for stack, _ in samples for name in stack})
    place = {name: nr + 1 for nr, name in enumerate(functions)}
    out = data(1, number(1, 1) + number(2, 2))
    for stack, value in samples:
        out += data(2, data(1, b''.join(varint(place[name]) for name in stack)) + data(2, varint(value)))
    out += data(3, number(1, 1) + number(2, 0x400000) + number(3, 0x500000) + number(5, 4) + number(7, 1))
    for function, nr in place.items():
        out += data(4, number(1, nr) + number(2, 1) + number(3, 0x401000 + 16 * nr) +
                    data(4, number(1, nr) + number(2, 10 * nr)))
        out += data(5, number(1, nr) + number(2, len(strings)) + number(3, len(strings)) + number(4, 3))
        strings.append(function)
    out += b''.join(data(6, text.encode()) for text in strings)
    open(name, 'wb').write(out)

write('seconds.pb', [(['parse', 'main'], 1900 * MS), (['sort', 'main'], 1900 * MS), (['print', 'main'], 1000 * MS),
                     (['utf8', 'print', 'main'], 900 * MS), (['utf8', 'parse', 'main'], 500 * MS)])
write('callers.pb', [(['hot', 'read', 'main'], 3000 * MS), (['hot', 'write', 'main'], 2000 * MS)])
END
# Print the costs of functions and the calls of a file in callgrind's format.
cat >show.py <<'END'
import re, sys
names, function, callee, costs, calls = {}, '', '', {}, []

def name(text):
    number, text = re.match(r'\((\d+)\) ?(.*)', text).groups()
    return names.setdefault(number, text)

for line in open(sys.argv[1]):
    line = line.rstrip('\n')
    if line.startswith('events:'):
        print(line)
    elif line.startswith('fn='):
        function = name(line[3:])
    elif line.startswith('cfn='):
        callee = name(line[4:])
    elif re.match(r'[-+*0-9]', line):
        cost = int(line.split()[2])
        if callee:
            calls.append(f'  {function} calls {callee}: {cost}')
        else:
            costs[function] = costs.get(function, 0) + cost
        callee = ''
for function, cost in sorted(costs.items()):
    print(f'  {function}: {cost}')
print(*sorted(calls), sep='\n')
END
python3 make.py
export HOME="$work" LC_ALL=C
pprof="$work/root/usr/lib/go-1.19/pkg/tool/linux_amd64/pprof"
"$pprof" -top seconds.pb >top 2>pprof.log || { tail -n 1 pprof.log; echo 'SKIP: pprof does not run'; exit 77; }
{
	echo 'top:'
	awk '$NF ~ /^[a-z0-9]+$/ && $1 ~ /^[0-9.]+s?$/ { print "  " $NF ": " $1 }' top | sort
	"$pprof" -callgrind -output seconds.out seconds.pb 2>seconds.log
	python3 show.py seconds.out
	"$pprof" -callgrind -call_tree -output callers.out callers.pb 2>callers.log
	python3 show.py callers.out
	grep -v 'Generating report' seconds.log callers.log || true
} >seen
echo '# go tool pprof 1.19.8'
cat seen
cat >expected <<'END'
top:
  main: 0
  parse: 1.90s
  print: 1s
  sort: 1.90s
  utf8: 1.40s
events: cpu(s)
  main: 0
  parse: 1
  print: 1
  sort: 1
  utf8: 1
  main calls parse: 2
  main calls print: 1
  main calls sort: 1
  parse calls utf8: 0
  print calls utf8: 0
events: cpu(s)
  hot: 5
  main: 0
  read: 0
  write: 0
  main calls read: 3
  main calls write: 2
  read calls hot [1/2]: 3
  write calls hot [2/2]: 2
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
