#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# addr2line of binutils 2.40 (Debian 12: 2.40-2) gives two names for one address if it is asked twice. The first
# answer is wrong for most inlined functions of C++. There is no message, and the lines are right:
#
# - Static functions, members of classes in an anonymous namespace, and lambdas get the name of the function
#   into which they are inlined: the chain helper(), api() is api(), api(), as if api() called itself.
# - The next time the same process looks up an address of that inlined function, the name is right. So the
#   names in a report depend on the order of its addresses, and on how many addresses addr2line gets at a time.
# - Other inline functions always have their names, and eu-addr2line of elfutils 0.188 knows all names.
#
# perf without libbfd, as Debian's, has addr2line find the inlined functions of call chains, and google-pprof
# has it find all functions.
#
# Cause: g++ gives functions without external linkage no DW_AT_linkage_name. The first lookup of such a function
# in _bfd_dwarf2_find_nearest_line_with_alt() of bfd/dwarf2.c takes the ELF symbol that covers the address, and sets
# is_linkage, so that later lookups take DW_AT_name.
#
# The script builds a program and looks up the addresses of a function. It needs g++, nm and Debian 12's archive.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in apt-get awk dpkg g++ nm; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download binutils-x86-64-linux-gnu=2.40-2 libbinutils=2.40-2 elfutils=0.188-2.1 \
	libdw1=0.188-2.1 libelf1=0.188-2.1 libasm1=0.188-2.1) 2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done

cat >program.cc <<'END'
#define INLINED __attribute__((always_inline)) inline
volatile int sum;
static INLINED int helper(int n) { return n * sum; }
namespace { struct parser { INLINED int parse(int n) { return n + sum; } }; }
INLINED int shared(int n) { return n - sum; }
extern "C" __attribute__((noinline)) int api(int n)
{
	auto twice = [](int m) INLINED_LAMBDA { return 2 * m * sum; };

	sum = helper(n);
	sum = parser().parse(n);
	sum = shared(n);
	sum = twice(n);
	return n;
}
int main() { return api(1); }
END
g++ -g -O1 '-DINLINED_LAMBDA=__attribute__((always_inline))' -o program program.cc ||
	{ echo 'SKIP: the program does not build'; exit 77; }
addresses=$(nm -S program | awk '
	function value(text, n, i) {
		for (i = 1; i <= length(text); i++)
			n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
		return n
	}
	$4 == "api" { for (i = value($1); i < value($1) + value($2); i++) printf "0x%x ", i }')
# names TOOL TIMES: look up each address of api() that many times in one process. Print the names of inlined
# functions, in the order of the answers.
names() {
	for address in $addresses; do
		[ "$2" = 1 ] || address="$address $address"
		# shellcheck disable=SC2086 # one address or two
		LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu" \
			"root/usr/bin/$1" -f -i -e program $address | awk -v what="${1#x86_64-linux-gnu-}, $2 lookup(s)" '
			NR % 2 { name = $1; next }
			{ sub(/.*program.cc:/, ""); sub(/[^0-9].*/, "") }
			/^[3458]$/ { line = $0; names = names " " name }
			END { if (names) print what ": line " line " is in" names }'
	done | sort -u
}
{
	names x86_64-linux-gnu-addr2line 1
	names x86_64-linux-gnu-addr2line 2
	names eu-addr2line 1
} >seen
echo '# binutils 2.40, elfutils 0.188'
cat seen
cat >expected <<'END'
addr2line, 1 lookup(s): line 3 is in api
addr2line, 1 lookup(s): line 4 is in api
addr2line, 1 lookup(s): line 5 is in _Z6sharedi
addr2line, 1 lookup(s): line 8 is in api
addr2line, 2 lookup(s): line 3 is in api helper
addr2line, 2 lookup(s): line 4 is in api parse
addr2line, 2 lookup(s): line 5 is in _Z6sharedi _Z6sharedi
addr2line, 2 lookup(s): line 8 is in api operator()
eu-addr2line, 1 lookup(s): line 3 is in helper
eu-addr2line, 1 lookup(s): line 4 is in parse
eu-addr2line, 1 lookup(s): line 5 is in _Z6sharedi
eu-addr2line, 1 lookup(s): line 8 is in operator()
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
