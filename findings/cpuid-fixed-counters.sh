#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# cpuid 20230120 (Debian 12: cpuid 20230120-1) says that Intel CPUs before Ice Lake lack their fixed counters of
# instructions, cycles and reference cycles. cpuid says the same of KVM guests with a PMU of version 2, and
# prints no warning:
#
# - Leaf 0xa of a Skylake CPU, which has three fixed counters, becomes "fixed counter 0 supported = false", and the
#   same for 1 and 2. Some lines below "number of contiguous fixed counters = 0x3" is right.
# - On Ice Lake the same lines are right: there the leaf has a bit for each counter as well.
#
# Cause: ECX of leaf 0xa, a bit for each fixed counter, exists from version 5 on; before it is reserved, and 0. Intel's
# manual (volume 2, CPUID) says that counter i is supported if ECX[i] is set or EDX[4:0] is above i. cpuid reads ECX only.
#
# The script has cpuid decode what it prints on such CPUs with --raw; no CPU of Intel is needed. It needs Debian 12's
# archive. Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download cpuid=20230120-1) 2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
dpkg -x debs/*.deb root

# decode NAME SIGNATURE EAX ECX EDX: print what cpuid says of a CPU whose leaf 0xa has these registers.
decode() {
	cat >raw <<-EOT
		CPU:
		   0x00000000 0x00: eax=0x00000016 ebx=0x756e6547 ecx=0x6c65746e edx=0x49656e69
		   0x00000001 0x00: eax=0x$2 ebx=0x00100800 ecx=0x7ffafbff edx=0xbfebfbff
		   0x0000000a 0x00: eax=0x$3 ebx=0x00000000 ecx=0x$4 edx=0x$5
		   0x80000000 0x00: eax=0x80000000 ebx=0x00000000 ecx=0x00000000 edx=0x00000000
	EOT
	root/usr/bin/cpuid -f raw >decoded || { echo 'SKIP: cpuid does not run' >&2; exit 77; }
	sed -n "s/^ *//
		/^version ID/s/ *= 0x[0-9a-f]* */ /p
		/^fixed counter  [0-3] supported/s/ *= */ /p
		/^number of contiguous fixed/s/ *= 0x[0-9a-f]* */ /p" decoded | sed "s/^/$1: /"
}
{
	decode Skylake 000506e3 07300404 00000000 00000603
	decode 'KVM guest' 000506e3 07300402 00000000 00000603
	decode 'Ice Lake' 000606a6 08300805 0000000f 00008604
} >seen
echo '# cpuid 20230120'
cat seen
cat >expected <<'END'
Skylake: version ID (4)
Skylake: fixed counter  0 supported false
Skylake: fixed counter  1 supported false
Skylake: fixed counter  2 supported false
Skylake: fixed counter  3 supported false
Skylake: number of contiguous fixed counters (3)
KVM guest: version ID (2)
KVM guest: fixed counter  0 supported false
KVM guest: fixed counter  1 supported false
KVM guest: fixed counter  2 supported false
KVM guest: fixed counter  3 supported false
KVM guest: number of contiguous fixed counters (3)
Ice Lake: version ID (5)
Ice Lake: fixed counter  0 supported true
Ice Lake: fixed counter  1 supported true
Ice Lake: fixed counter  2 supported true
Ice Lake: fixed counter  3 supported true
Ice Lake: number of contiguous fixed counters (4)
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
