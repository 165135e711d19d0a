#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests arm64-pmu-repair.so, KTAP on stdout.
#
#   QEMU_SYSTEM_AARCH64   the QEMU to test with, default: the one on PATH
#   QEMU_SYSTEM_X86_64    one that must be refused, likewise
#   QEMU_AARCH64          one for single programs, likewise

here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=${here%/*}
plugin=$top/build/arm64-pmu-repair.so
guest=$top/build/tests/arm64/guest/pmu-repair.elf
reset_guest=$top/build/tests/arm64/guest/reset.elf

qemu=${QEMU_SYSTEM_AARCH64:-$(command -v qemu-system-aarch64)}
qemu_x86=${QEMU_SYSTEM_X86_64:-$(command -v qemu-system-x86_64)}
qemu_user=${QEMU_AARCH64:-$(command -v qemu-aarch64)}

# shellcheck source=tools/qemu/tests/lib.sh
. "$here/lib.sh"

# bare_metal <qemu> <plugin options>: run the guest, its lines go to $tmp/values
bare_metal() {
	rm -f "$tmp/values"
	emulator=$1
	shift
	run "$tmp/out" "$emulator" -M virt -cpu max -icount shift=0,sleep=off \
		-chardev "file,id=c,path=$tmp/values" \
		-semihosting-config enable=on,target=native,chardev=c \
		-kernel "$guest" "$@"
}

# Results that the guest prints for a counter that works, does not interrupt, or does not count.
works() {
	echo "$1.flag = 1
$1.pending = 1
$1.count -ge 80000
$1.count -le 80100
$1.flag-late = 1
$1.enabled = 1
$1.interrupts -ge 95
$1.interrupts -le 105
$1.skid -le 50"
}

silent() {
	echo "$1.flag = 0
$1.pending = 0
$1.count -ge 80000
$1.count -le 80100
$1.flag-late = $2
$1.enabled = 1
$1.interrupts = 0"
}

stands_still() {
	echo "$1.flag = 0
$1.pending = 0
$1.count = $2
$1.flag-late = 0
$1.enabled = 1
$1.interrupts = 0"
}

# The value of a counter that started 20000 before its overflow and has not changed
STILL_32=4294947296
STILL_64=18446744073709531616

# altered <replacement>: a copy of QEMU with other code instead of "not" where
# the distance to an overflow is computed: not %rbx; call; mov %eax,%edx
altered() {
	perl -0777 -pe '$n = s/\x48\xf7\xd3(\xe8....\x89\xc2\x89\xd8\x84\xd2)/'"$1"'$1/gs;
			END { exit($n != 1) }' "$qemu" > "$tmp/qemu-altered" 2> /dev/null &&
		chmod +x "$tmp/qemu-altered"
}

begin 16
needs_qemu "$qemu" qemu-system-aarch64

# ---- refusals ----

refuses "refuses an unknown option" "unknown option 'colour=blue'" \
	"$qemu" -M virt -plugin "$plugin,colour=blue"

refuses_target aarch64 x86_64 "$qemu_x86"
refuses_programs aarch64 "$qemu_user"

cp "$plugin" "$tmp/again.so"
refuses "refuses a table changed before" "another PMU plugin" \
	"$qemu" -M virt -plugin "$plugin" -plugin "$tmp/again.so"

right="refuses a QEMU that is right"
unclear="refuses a QEMU that may be right or wrong"
if altered '\x48\xf7\xdb'; then		# neg %rbx
	refuses "$right" "correctly: run it without this plugin" \
		"$tmp/qemu-altered" -M virt -plugin "$plugin"
	altered '\x48\x89\xdb'		# mov %rbx,%rbx
	refuses "$unclear" "cannot tell whether" \
		"$tmp/qemu-altered" -M virt -plugin "$plugin"
else
	skip "$right" "cannot make one of $qemu"
	skip "$unclear" "cannot make one of $qemu"
fi

# ---- loading ----

what="says what it does if asked"
echo quit | timeout 10 "$qemu" -M none -nodefaults -display none -monitor stdio \
	-plugin "$plugin,verbose=on" > /dev/null 2> "$tmp/out"
if grep -q "^arm64-pmu-repair: INST_RETIRED and CPU_CYCLES changed" "$tmp/out"; then
	ok "$what"
else
	not_ok "$what" "$(head -n 1 "$tmp/out")"
fi

# An older QEMU lacks what faults of registers need, and is refused for that only.
can_break=yes
what="finds the system registers, or refuses"
echo quit | timeout 10 "$qemu" -M none -nodefaults -display none -monitor stdio \
	-plugin "$plugin,fault=no-overflow" > /dev/null 2> "$tmp/out"
if grep -q "^arm64-pmu-repair: this QEMU does not export helper_lookup_cp_reg" "$tmp/out"; then
	can_break=
	ok "$what"
elif [ ! -s "$tmp/out" ]; then
	ok "$what"
else
	not_ok "$what" "$(head -n 1 "$tmp/out")"
fi

# ---- bare metal ----

reason=
command -v "${CROSS_ARM64:-aarch64-linux-gnu-}gcc" > /dev/null || reason="no arm64 compiler"
if [ -z "$reason" ] && ! make -s -C "$top" guests > "$tmp/make" 2>&1; then
	cat "$tmp/make" >&2
	reason="the guest does not build"
fi

# guest_test <description> <needs faults on registers> <lines> <plugin options>
guest_test() {
	what=$1
	needs=$2
	lines=$3
	shift 3
	if [ -n "$reason" ]; then
		skip "$what" "$reason"
	elif [ -n "$needs" ] && [ -z "$can_break" ]; then
		skip "$what" "this QEMU is too old for faults of registers"
	else
		bare_metal "$qemu" "$@"
		judge "$what" "$tmp/values" "$lines"
	fi
}

guest_test "QEMU alone misses overflows of event counters" "" \
	"$(silent instructions 1)
$(silent cycles 1)
$(works cycle-counter)"

guest_test "repaired: all counters interrupt" "" \
	"$(works instructions)
$(works cycles)
$(works cycle-counter)" \
	-plugin "$plugin"

guest_test "fault=no-overflow: event counters never overflow" needs \
	"$(silent instructions 0)
$(silent cycles 0)
$(works cycle-counter)" \
	-plugin "$plugin,fault=no-overflow"

guest_test "fault=no-count: event counters do not count" "" \
	"$(stands_still instructions $STILL_32)
$(stands_still cycles $STILL_32)
$(works cycle-counter)" \
	-plugin "$plugin,fault=no-count"

guest_test "fault=cycles-no-overflow: the cycle counter never overflows" needs \
	"$(works instructions)
$(works cycles)
$(silent cycle-counter 0)" \
	-plugin "$plugin,fault=cycles-no-overflow"

guest_test "fault=cycles-no-count: the cycle counter does not count" needs \
	"$(works instructions)
$(works cycles)
$(stands_still cycle-counter $STILL_64)" \
	-plugin "$plugin,fault=cycles-no-count"

guest_test "all faults: nothing counts" needs \
	"$(stands_still instructions $STILL_32)
$(stands_still cycles $STILL_32)
$(stands_still cycle-counter $STILL_64)" \
	-plugin "$plugin,fault=no-overflow,fault=no-count,fault=cycles-no-overflow,fault=cycles-no-count"

# The guest enables all before each reset.
what="a reset disables the counters and interrupts that a fault keeps back"
if [ -n "$reason" ]; then
	skip "$what" "$reason"
elif [ -z "$can_break" ]; then
	skip "$what" "this QEMU is too old for faults of registers"
else
	run_with_monitor "$tmp/out" "$tmp/values" system_reset \
		"$qemu" -M virt -cpu max -icount shift=0,sleep=off -kernel "$reset_guest" \
		-chardev "file,id=c,path=$tmp/values" \
		-semihosting-config enable=on,target=native,chardev=c \
		-plugin "$plugin,fault=no-overflow,fault=cycles-no-overflow,fault=cycles-no-count"
	judge "$what" "$tmp/values" "2.counters = 0
2.interrupts = 0
3.counters = 0
3.interrupts = 0
end = 1"
fi

exit $failed
