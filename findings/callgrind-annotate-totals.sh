#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# callgrind_annotate of valgrind 3.19.0 (Debian 12: 1:3.19.0-1) prints percentages of another total than the cost
# of the program, and loses functions and costs:
#
# - A file of several dumps, as `valgrind --tool=callgrind --combine-dumps=yes` writes it, has "summary:" and
#   "totals:" lines for each dump (and, with --separate-threads=yes, for each thread). The last ones are the
#   total: 990 of 1085 instructions are 990 %. The list ends where it has 99 % of that total: one function
#   of three. The warnings are about other lines ("line 17 malformed, ignoring").
# - If a file has neither line (both are optional), the total is the sum of all functions. With --inclusive=yes
#   that is the sum of inclusive costs, in which a callee's costs count again for each caller: main() has 38 %.
# - Costs in hexadecimal, which the grammar of the format allows (Costs := (Number Space+)+), are 0.
#
# Cause: read_input_file() overwrites $summary_CC and $totals_CC at each such line. Without them it adds
# %fn_totals, which has inclusive costs by then. line_to_CC() leaves numbers to perl, for which "0x64" is 0.
#
# The script writes a file of each kind. It needs perl and Debian 12's archive.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in apt-get dpkg perl; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download valgrind=1:3.19.0-1) 2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
dpkg -x debs/*.deb root

# Two dumps: 900 + 90 instructions in work(), 80 in parse(), 5 + 10 in main().
cat >dumps <<'END'
# callgrind format
version: 1
creator: callgrind-3.19.0

part: 1
positions: line
events: Ir
summary: 985
fl=program.c
fn=work
1 900
fn=parse
2 80
fn=main
3 5
totals: 985

part: 2
positions: line
events: Ir
summary: 100
fl=program.c
fn=work
1 90
fn=main
3 10
totals: 100
END
# main() has 10 instructions, and calls parse(), which has 20 and calls work(), which has 70.
cat >calls <<'END'
# callgrind format
events: Ir
fl=program.c
fn=main
3 10
cfn=parse
calls=1 2
3 90
fn=parse
2 20
cfn=work
calls=1 1
2 70
fn=work
1 70
END
cat >hexadecimal <<'END'
# callgrind format
events: Ir
fl=program.c
fn=main
3 0x64
fn=work
1 100
END
# annotate NAME OPTION...: print the costs of NAME's functions.
annotate() {
	name=$1
	shift
	perl root/usr/bin/callgrind_annotate --auto=no "$@" "$name" 2>"$name.log" | sed -n "s/^ *\([0-9].*%)\) */$name: \1 /p"
}
{
	annotate dumps
	annotate calls
	annotate calls --inclusive=yes
	annotate hexadecimal
} >seen
[ -s seen ] || { tail -n 1 dumps.log; echo 'SKIP: callgrind_annotate does not run here'; exit 77; }
echo '# valgrind 3.19.0'
cat seen
cat >expected <<'END'
dumps: 100 (100.0%) PROGRAM TOTALS
dumps: 990 (990.0%) program.c:work
calls: 100 (100.0%) PROGRAM TOTALS (calculated)
calls: 70 (70.00%) program.c:work
calls: 20 (20.00%) program.c:parse
calls: 10 (10.00%) program.c:main
calls: 260 (100.0%) PROGRAM TOTALS (calculated)
calls: 100 (38.46%) program.c:main
calls: 90 (34.62%) program.c:parse
calls: 70 (26.92%) program.c:work
hexadecimal: 100 (100.0%) PROGRAM TOTALS (calculated)
hexadecimal: 100 (100.0%) program.c:work
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
