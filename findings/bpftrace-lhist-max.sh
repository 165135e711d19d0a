#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Two aggregations of bpftrace 0.17.0 (Debian 12: 0.17.0-1) report other values than the program measures, without a
# message:
#
# - lhist() puts values below its maximum into the bucket for values from the maximum on, if the step does not divide
#   the range. lhist(n, 0, 99, 10) shows 90 to 98 as "[99, ...)", and has no bucket between 90 and 99.
#   bpftrace(8) says that values above the maximum get that bucket.
# - max() never stores a negative value. If all values are negative, the map is empty. A map with keys lacks the keys
#   without another value: here key 1, whose values are -7 and -2. min() of the same values is right, and the
#   manual has int64 for both.
#
# Return values and differences of the clocks of two CPUs can be negative.
#
# The script aggregates known values. It needs Debian 12's archive, and a kernel that lets the user load BPF
# programs.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in apt-get dpkg timeout; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download bpftrace=0.17.0-1 libbpf1 libbpfcc libclang1-14 libllvm14 libelf1 libdw1 libz3-4 \
	libedit2 libxml2) 2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done

cat >program.bt <<'END'
BEGIN
{
	@a_percent = lhist(89, 0, 99, 10);
	@a_percent = lhist(90, 0, 99, 10);
	@a_percent = lhist(98, 0, 99, 10);
	@b_hundred = lhist(90, 0, 100, 10);
	@b_hundred = lhist(98, 0, 100, 10);
	@c_max = max(-7);
	@c_max = max(-2);
	@d_min = min(-7);
	@d_min = min(-2);
	@e_max[0] = max(-7);
	@e_max[0] = max(3);
	@e_max[1] = max(-7);
	@e_max[1] = max(-2);
	exit();
}
END
LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu" timeout 60 root/usr/bin/bpftrace program.bt >program.log 2>&1 ||
	{ tail -n 2 program.log; echo 'SKIP: bpftrace does not run here'; exit 77; }
grep -q '^@' program.log || { tail -n 2 program.log; echo 'SKIP: bpftrace has no maps here'; exit 77; }
sed -n 's/^@/@/p; s/^\(\[.*)\) *\([0-9]\) .*/\1 \2/p' program.log | sed 's/ *$//' >seen
echo '# bpftrace 0.17.0'
cat seen
cat >expected <<'END'
@a_percent:
[80, 90) 1
[99, ...) 2
@b_hundred:
[90, 100) 2
@d_min: -7
@e_max[0]: 3
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
