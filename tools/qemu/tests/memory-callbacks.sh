#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Compare what QEMU's memory callbacks report of known loads and stores with known numbers: of QEMU 7.2 and 10.0 on
# arm64, of 10.0 on x86. KTAP on stdout. Where callbacks differ from the code, the PMU plugins decode the code:
# arm64-pmu.sh and x86-pmu.sh judge their counts of the same pieces.
#
#   QEMU_SYSTEM_AARCH64   the QEMU to test with, default: the one on PATH
#   QEMU_SYSTEM_X86_64    likewise
#
# shellcheck disable=SC2034 # callbacks() chooses a variable by its name

here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=${here%/*}
plugin=$top/build/memory-callbacks.so

# shellcheck source=tools/qemu/tests/lib.sh
. "$here/lib.sh"

# The pieces of arm64/guest/pmu.c:	loads	stores	by the code
#   memory: LDR, STR, LDP, STP, LDXR, STXR	300	300
#   near: stores next to the code		0	100
#   zva: DC ZVA					0	0
#   atomics: SWP, LDADD, CAS, CASP		400	401
#   sve: a vector, half of one, elements	300	300
#
# QEMU 7.2 reports two halves of each access of 16 bytes, and no access of SVE. QEMU 10.0 reports each element of
# SVE. On both STXR is a load, too, and DC ZVA is no access. Other numbers are as in the code, but for the halves.
arm64_7="memory.loads = 500
memory.stores = 400
memory.bytes = 7200
near.loads = 0
near.stores = 100
zva.loads = 0
zva.stores = 0
atomics.loads = 500
atomics.stores = 501
atomics.bytes = 8008
sve.loads = 0
sve.stores = 0"
arm64_10="memory.loads = 400
memory.stores = 300
memory.bytes = 7200
near.loads = 0
near.stores = 100
zva.loads = 0
zva.stores = 0
atomics.loads = 400
atomics.stores = 401
atomics.bytes = 8008
sve.loads = 500
sve.stores = 500
sve.bytes = 8000"

# The pieces of x86/guest/head.S, with up to 5 loads and 1 store of their call and return. Each iteration of REP
# STOS is a store, an access of 128 bits is one, and a LOCK CMPXCHG that fails stores.
x86_10="calls.loads = 1005
calls.stores = 1001
rep.loads = 5
rep.stores = 16385
near.loads = 5
near.stores = 101
locked.loads = 305
locked.stores = 301
vectors.loads = 205
vectors.stores = 201
vectors.bytes = 4824"

# pieces <program> <prefix> [nm]: the plugin's options for the functions of that prefix, and the end of each row
pieces() {
	"${3:-nm}" -n "$1" | awk -v prefix="$2" '
		index($3, prefix) == 1 { printf ",piece=%s:%s", substr($3, length(prefix) + 1), $1; open = 1; next }
		open { printf ",piece=:%s", $1; open = 0 }'
}

# callbacks <architecture> <qemu> <its name> <arguments>: run the guest, and judge what is reported
callbacks() {
	arch=$1
	emulator=$2
	what="memory callbacks of $3 are as known"
	name=$3
	shift 3
	if [ -z "$emulator" ]; then
		skip "$what" "no $name"
		return
	fi
	version=$("$emulator" --version | sed -n '1s/.* version \([0-9]*\)\..*/\1/p')
	eval "expected=\${${arch}_$version:-}"
	if [ -n "$reason" ] || [ -z "$expected" ]; then
		skip "$what" "${reason:-this script has no numbers of QEMU $version: add them}"
		return
	fi
	rm -f "$tmp/report"
	run "$tmp/out" "$emulator" "$@"
	echo "# QEMU $version, $arch, for one run of each piece:"
	sed 's/^/# /' "$tmp/report"
	judge "$what" "$tmp/report" "$expected"
}

begin 2

make -s -C "$top" build/memory-callbacks.so || exit 1
build_tests arm64
guest=$top/build/tests/arm64/guest/pmu.elf
callbacks arm64 "${QEMU_SYSTEM_AARCH64:-$(command -v qemu-system-aarch64)}" qemu-system-aarch64 \
	-M virt -cpu max -kernel "$guest" -chardev "file,id=c,path=$tmp/values" \
	-semihosting-config enable=on,target=native,chardev=c \
	-plugin "$plugin,out=$tmp/report$(pieces "$guest" piece_ "${CROSS_ARM64:-aarch64-linux-gnu-}nm")"

build_tests x86
guest=$top/build/tests/x86/guest/pmu.elf
callbacks x86 "${QEMU_SYSTEM_X86_64:-$(command -v qemu-system-x86_64)}" qemu-system-x86_64 \
	-M q35 -cpu Skylake-Client -no-reboot -kernel "$guest" -device isa-debug-exit,iobase=0x501 \
	-chardev "file,id=c,path=$tmp/values" -device isa-debugcon,chardev=c,iobase=0xe9 \
	-plugin "$top/build/x86-pmu.so" -plugin "$plugin,out=$tmp/report$(pieces "$guest" counted_)"

exit $failed
