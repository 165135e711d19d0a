#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The flame graph of uftrace 0.13 (Debian 12: 0.13-1) has wrong callers where the kernel pre-empts the program. uftrace
# records such events by default, with perf_event_open(2):
#
# - main() calls outer(), which calls middle(), which calls leaf(). The flame graph has calls that the program does not
#   make: main() calls middle() or leaf(), or outer() calls leaf(). Other stacks begin with outer(), middle() or leaf(),
#   not with main().
# - uftrace report has the pre-emptions as "linux:schedule (pre-empted)". The flame graph has no such frame.
# - uftrace report of the same data has the right number of calls. The flame graph with --no-sched-preempt has the right
#   callers alone.
#
# The script runs a program and a loop of the shell on one CPU. The pre-emptions are real: their number differs from run
# to run. One of at most five runs must have all of these stacks. The script needs cc, taskset,
# Debian 12's archive, and a kernel that lets the user record context switches.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in apt-get awk cc dpkg taskset; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
other=
# shellcheck disable=SC2086 # no process is no argument
trap '[ -z "$other" ] || kill $other 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download uftrace=0.13-1 libcapstone4 libdw1 libelf1 libpython3.11 liblzma5 libbz2-1.0) \
	2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done

cat >program.c <<'END'
#define NOINLINE __attribute__((noinline))

NOINLINE void leaf(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
}

NOINLINE void middle(void)
{
	for (int i = 0; i < 100; i++)
		leaf();
}

NOINLINE void outer(void)
{
	for (int i = 0; i < 20; i++)
		middle();
}

int main(void)
{
	outer();
	return 0;
}
END
cc -pg -O1 -o program program.c
lib="$work/root/usr/lib/x86_64-linux-gnu"
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
# uftrace OPTION...: run uftrace.
uftrace() {
	LD_LIBRARY_PATH="$lib:$work/root/lib/x86_64-linux-gnu" taskset -c "$cpu" root/usr/bin/uftrace "$@" 2>>log
}
# record: run the program beside a loop of the shell. If uftrace does not run or records too little,
# end the script with status 77.
record() {
	rm -rf data
	taskset -c "$cpu" sh -c 'while :; do :; done' &
	other=$!
	uftrace record --libmcount-path="$lib/uftrace" -d data ./program >>log ||
		{ tail -n 1 log; echo 'SKIP: uftrace does not run here'; exit 77; }
	kill "$other"
	other=
	uftrace report -d data >calls || { tail -n 1 log; echo 'SKIP: uftrace report fails'; exit 77; }
	preempted=$(awk '/\(pre-empted\)/ { print $5 }' calls)
	[ "${preempted:-0}" -ge 5 ] || { echo "SKIP: uftrace recorded ${preempted:-no} pre-emptions, not 5"; exit 77; }
}

# judge OPTION...: say which stacks the flame graph has
judge() {
	echo "uftrace dump --flame-graph${1+ }$*:"
	uftrace dump -d data --flame-graph "$@" >graph || echo 'uftrace dump fails'
	cat graph >&2
	sed -n 's/^main;outer;middle;leaf .*/main() calls outer(), which calls middle(), which calls leaf()/p' graph
	! grep -Eq '^main;(middle|leaf|outer;leaf)' graph || echo 'main() or outer() calls a function that it does not call'
	! grep -Eq '^(outer|middle|leaf)[; ]' graph || echo 'there are stacks without main()'
	grep -q 'pre-empted' graph || echo 'no pre-emption'
}

cat >expected <<'END'
uftrace report:
1 main
1 outer
20 middle
2000 leaf
uftrace dump --flame-graph:
main() calls outer(), which calls middle(), which calls leaf()
main() or outer() calls a function that it does not call
there are stacks without main()
no pre-emption
uftrace dump --flame-graph --no-sched-preempt:
main() calls outer(), which calls middle(), which calls leaf()
no pre-emption
END
# If all pre-emptions are in one call of leaf(), main() and outer() have no wrong callee: record
# again.
for _ in 1 2 3 4 5; do
	record
	{
		echo 'uftrace report:'
		awk '$6 ~ /^(main|outer|middle|leaf)$/ { print $5, $6 }' calls | sort
		judge
		judge --no-sched-preempt
	} >seen
	! diff expected seen >differences || break
done
echo '# uftrace 0.13'
cat calls seen
[ ! -s differences ] || { cat differences; echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
