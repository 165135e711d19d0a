#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# google-pprof 2.10 (Debian 12: google-perftools 2.10-1) loses calls when it converts a profile for kcachegrind
# with --callgrind. There is no message, and --text of the same profile is right:
#
# - The call that the outermost function of a stack makes is lost. If main() calls middle(), which calls leaf(),
#   main() is a function that calls nothing, and does not contain the samples of leaf().
# - Each inlined function in a stack loses one more call, from the outside inwards: outer() and caller() below
#   are in no line.
# - The calls of "operator new" and "operator delete" become samples in a function "operator". 30 samples
#   in allocate(), called by operator new, are 30 samples in allocate and 30 in operator.
#
# Cause: ExtractCalls() loops to one less than the index of the last address, although the last address has a
# caller, and a stack with inlined functions has more entries than addresses. PrintCallgrind() reads
# "caller -> callee" with a pattern that ends the caller at a space and makes the callee optional.
#
# The script writes a profile of 105 samples in four stacks. It needs cc, binutils, perl, python3 and Debian 12's
# archive.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in addr2line apt-get awk cc dpkg nm perl python3; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download google-perftools=2.10-1) 2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
dpkg -x debs/*.deb root

cat >program.c <<'END'
volatile int sum;

void leaf(void) { sum += 1; }
void middle(void) { leaf(); }

__attribute__((always_inline)) static inline void innermost(void) { sum += 2; sum += 3; sum += 4; }
__attribute__((always_inline)) static inline void inlined(void) { innermost(); }
void outer(void) { inlined(); }
void caller(void) { outer(); }

void allocate(void) { sum += 5; }
void operator_new(unsigned long size) __asm__("_Znwm");
void operator_new(unsigned long size) { allocate(); sum += size; }

int main(void)
{
	middle();
	caller();
	operator_new(1);
	return 0;
}
END
cc -g -O0 -no-pie -o program program.c || { echo 'SKIP: the program does not build'; exit 77; }

# Write a CPU profile of gperftools: samples with their addresses, innermost first, and the process's mappings.
cat >make.py <<'END'
import os, struct, subprocess
symbols = subprocess.check_output(['nm', 'program'], text=True).split('\n')
inside = {line.split()[2]: int(line.split()[0], 16) + 9 for line in symbols if ' T ' in line}
stacks = [(10, ['leaf', 'middle', 'main']), (20, ['outer', 'caller', 'main']),
          (30, ['allocate', '_Znwm', 'main']), (45, ['main'])]
words = [0, 3, 0, 10000, 0]
for count, stack in stacks:
    words += [count, len(stack)] + [inside[name] for name in stack]
words += [0, 1, 0]
with open('profile', 'wb') as file:
    file.write(struct.pack('<%dQ' % len(words), *words))
    file.write(b'00400000-00500000 r-xp 00000000 00:00 0 %s\n' % os.path.realpath('program').encode())
END
python3 make.py
for form in text callgrind; do
	LC_ALL=C perl root/usr/bin/google-pprof --$form program profile >$form 2>pprof.log ||
		{ tail -n 1 pprof.log; echo 'SKIP: google-pprof does not run here'; exit 77; }
done
# In the format of Callgrind, a function's first mention has a number, which stands for the name from then on.
{
	awk '/%/ { name = $0; sub(/.*% +/, "", name); print "text: " name ": self " $1 ", total " $4 }' text
	awk '
		/^c?fn=/ {
			split($0, part, /[=() ]+/)
			if (part[3] != "")
				names[part[2]] = part[3]
			name = names[part[2]]
		}
		/^fn=/ { caller = name; callee = "" }
		/^cfn=/ { callee = " -> " name }
		/^[0-9]/ { print "callgrind: " caller callee ": " $2 }' callgrind
} >seen
echo '# google-pprof 2.10'
cat seen
cat >expected <<'END'
text: main: self 45, total 105
text: allocate: self 30, total 30
text: innermost (inline): self 20, total 20
text: leaf: self 10, total 10
text: caller: self 0, total 20
text: inlined (inline): self 0, total 20
text: middle: self 0, total 10
text: operator new: self 0, total 30
text: outer: self 0, total 20
callgrind: leaf: 10
callgrind: middle -> leaf: 10
callgrind: innermost[inline]: 20
callgrind: inlined[inline] -> innermost[inline]: 20
callgrind: allocate: 30
callgrind: operator: 30
callgrind: main: 45
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
