#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# op2calltree of kcachegrind-converters 22.12.3 (Debian 12: 4:22.12.3-1) converts samples of OProfile (opreport -gdf) to
# the format of callgrind. The converted profile has other costs of libraries, and other source files, than the report:
#
# - Functions of one name in several libraries become one function of the library that the report lists last. Here all
#   samples of init() are of libb.so, and liba.so has none.
# - Libraries without symbols also become one function, "???", of the last library. A stripped library that took most
#   of the time is not in the profile; its samples are those of another library.
# - The source file of each function that has one is "1". The converter writes its samples as lines inlined from the
#   right file.
#
# Cause: op2calltree keys samples by program and symbol, and keeps one library for both. It takes the file's name from
# ($file, $line) = (s/...//), which in Perl is the number of replacements.
#
# The report has 300 samples of main(), 100 of init() in liba.so and 10 of init() in libb.so; libc.so and libz.so have
# no symbols, and 500 and 5 samples. The script needs perl and Debian 12's archive.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in awk perl apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download kcachegrind-converters=4:22.12.3-1) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
dpkg -x debs/*.deb root

cat >report <<'END'
CPU: Intel Haswell microarchitecture, speed 3500 MHz (estimated)
Counted CPU_CLK_UNHALTED events (Clock cycles when not halted) with a unit mask of 0x00 (No unit mask) count 100000
vma      samples  %        linenr info                 image name               app name                 symbol name
00020000 500      54.6448  (no location information)   /usr/lib/libc.so         /usr/bin/app             (no symbols)
  00020010 500      100.000  (no location information)
00401100 300      32.7869  /src/main.c:10              /usr/bin/app             /usr/bin/app             main
  00401104 300      100.000  /src/main.c:12
00002000 100      10.9290  /src/liba.c:30              /usr/lib/liba.so         /usr/bin/app             init
  00002004 100      100.000  /src/liba.c:31
00003000 10        1.0929  /src/libb.c:40              /usr/lib/libb.so         /usr/bin/app             init
  00003004 10       100.000  /src/libb.c:41
00004000 5         0.5464  (no location information)   /usr/lib/libz.so         /usr/bin/app             (no symbols)
  00004010 5        100.000  (no location information)
END
perl root/usr/bin/op2calltree <report >op2calltree.log 2>&1 || true
[ -e oprof.out.app ] ||
	{ tail -n 3 op2calltree.log; echo 'SKIP: op2calltree does not run here'; exit 77; }

# Names are "(number) name" once, and then "(number)"; lines of cost are "0xADDRESS LINE COST".
awk '
	function name(text, id) {
		id = text
		sub(/\).*/, ")", id)
		if (text ~ /^\([0-9]+\) /)
			names[id] = substr(text, length(id) + 2)
		return id ~ /^\([0-9]+\)$/ ? names[id] : text
	}
	/^ob=/ { object = substr($0, 4) }
	/^fl=/ { file = name(substr($0, 4)) }
	/^fn=/ { fn = substr($0, 4) }
	/^0x/ { cost[object ": " fn ", source file " file] += $3 }
	END { for (what in cost) print what ": " cost[what] }' oprof.out.app | LC_ALL=C sort >seen
echo '# op2calltree 22.12.3'
cat seen
cat >expected <<'END'
/usr/bin/app: main, source file 1: 300
/usr/lib/libb.so: init, source file 1: 110
/usr/lib/libz.so: ???, source file ???: 505
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
