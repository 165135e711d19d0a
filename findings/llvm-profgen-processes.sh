#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# llvm-profgen of LLVM 15.0.6 (Debian 12: 1:15.0.6-4+b1), which turns branch records of perf script into a profile for
# clang, drops all processes of a program but one. There is no message:
#
# - A position-independent program, which is what compilers make by default, has another address in each process.
#   llvm-profgen keeps one: that of the last mmap event. Samples of earlier processes are outside the program then.
#   Of two servers that run at once, the one that started first is not in the profile, here 30 of 40 samples.
#   Only samples from before the start of the second can cause warnings, of "ranges" outside of functions.
# - With --pid=1 and --pid=2 it reads the same file right. A merge of one profile for each process has all samples.
# - A program at a fixed address has all samples at once.
#
# perf script prints the mmap events of all processes. The help text of --pid does not say that a profile of several
# processes needs it.
#
# Cause: ProfiledBinary has one base address, and PerfReaderBase::updateBinaryAddress() overwrites it.
#
# The script writes the output of perf script for two processes, which loop in first() and second(). It needs cc,
# objdump and Debian 12's archive.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in cc objdump apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download llvm-15=1:15.0.6-4+b1 libllvm15=1:15.0.6-4+b1 libz3-4 libedit2 libxml2) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done

cat >program.c <<'END'
#define ROUNDS(operation) for (long i = 0; i < n; i++) s = (s operation i) ^ 5
__attribute__((noinline)) long first(long n) { long s = 1; ROUNDS(*); return s; }
__attribute__((noinline)) long second(long n) { long s = 2; ROUNDS(+); return s; }
int main(int argc, char **argv) { return first(argc) + second(argc); }
END

# mmap PID ADDRESS: print the event of the program's code.
mmap() {
	printf 'PERF_RECORD_MMAP2 %d/%d: [%#x(0x1000) @ 0x1000 08:01 1 1]: r-xp %s\n' "$1" "$1" "$2" "$work/$program"
}

# samples NUMBER BASE FUNCTION: print samples with four records of the branch at the end of the function's loop.
samples() {
	# shellcheck disable=SC2046 # two numbers
	set -- "$1" "$2" $(objdump -d --disassemble="$3" "$program" |
		awk 'NF > 2 && $(NF - 2) == "jne" { print "0x" $1, "0x" $(NF - 1) }' | tr -d :)
	branch=$(printf '%#x/%#x/P/-/-/0' $(($2 + $3)) $(($2 + $4)))
	for _ in $(seq "$1"); do
		printf ' %x %s %s %s %s\n' $(($2 + $3)) "$branch" "$branch" "$branch" "$branch"
	done
}

# profile TEXT OPTION ...: print functions with the executions of their hottest line.
profile() {
	text=$1
	shift
	LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu" root/usr/lib/llvm-15/bin/llvm-profgen "$@" \
		--binary="./$program" --perfscript=script.txt --format=text --output=profile.txt 2>profgen.log ||
		{ tail -n 1 profgen.log; echo 'SKIP: llvm-profgen does not run here'; exit 77; } >&3
	grep -v 'more samples' profgen.log || true
	awk -F '[: ]+' -v text="$text" '
		/^[a-z]/ { name = $1 }
		/^ .*: [1-9]/ { text = text " " name " " $3 }
		END { print text }' profile.txt
}

exec 3>&1
for program in pie no-pie; do
	cc -O1 -gdwarf-4 "-f$program" "-$program" -o $program program.c 2>cc.log ||
		{ tail -n 1 cc.log; echo 'SKIP: the program does not build'; exit 77; } >&3
	code=0x1000 base1=0x55e2c8a40000 base2=0x5619d0c7b000
	[ $program = pie ] || code=0x401000 base1=0 base2=0
	{
		mmap 1 $((base1 + code))
		mmap 2 $((base2 + code))
		samples 30 $base1 first
		samples 10 $base2 second
	} >script.txt
	profile $program:
	profile "$program, process 1:" --pid=1
	profile "$program, process 2:" --pid=2
done >seen
echo '# llvm-profgen 15.0.6'
cat seen
cat >expected <<'END'
pie: second 30
pie, process 1: first 90
pie, process 2: second 30
no-pie: first 90 second 30
no-pie, process 1: first 90 second 30
no-pie, process 2: first 90 second 30
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
