#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests arm64-pmu.so, KTAP on stdout.
#
#   QEMU_SYSTEM_AARCH64   the QEMU to test with, default: the one on PATH
#   QEMU_SYSTEM_X86_64    one that must be refused, likewise

here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=${here%/*}
plugin=$top/build/arm64-pmu.so
guest=$top/build/tests/arm64/guest/pmu.elf
reset_guest=$top/build/tests/arm64/guest/reset.elf

qemu=${QEMU_SYSTEM_AARCH64:-$(command -v qemu-system-aarch64)}
qemu_x86=${QEMU_SYSTEM_X86_64:-$(command -v qemu-system-x86_64)}

# shellcheck source=tools/qemu/tests/lib.sh
. "$here/lib.sh"

# refuses_option <option> <sentence> [cpu]
refuses_option() {
	refuses "refuses $1${3:+ on $3}" "$2" "$qemu" -M virt -cpu "${3:-max}" \
		-plugin "$plugin,$1"
}

# bare_metal <cpu> <plugin options> <arguments>: the guest's lines go to $tmp/values
bare_metal() {
	cpu=$1
	options=$2
	shift 2
	rm -f "$tmp/values" "$tmp/stats"
	run "$tmp/out" "$qemu" -M virt -cpu "$cpu" -kernel "$guest" \
		-chardev "file,id=c,path=$tmp/values" \
		-semihosting-config enable=on,target=native,chardev=c \
		-plugin "$plugin,stats=$tmp/stats$options" "$@"
}

# Counts of the guest with any PMU version. The numbers follow from the guest's source. Each
# includes the BLR to the piece of code and the MRS after it.
counts="loop.instructions = 1005
loop.cycles = 1507
loop.cycle-counter = 1507
loop.missed = 3
loop.branches = 502
loop.immediate = 500
loop.taken = 501
loop.stalled = 502
calls.branches = 302
calls.immediate = 200
calls.returns = 101
memory.instructions = 905
memory.loads = 300
memory.stores = 300
memory.accesses = 600
svc.instructions = 143
svc.taken = 10
svc.returns = 10
udf.instructions = 133
udf.taken = 10
lines.misses = 128
lines.refs = 256
pages.misses -ge 64
pages.misses -le 68
absent.count = 0
near.loads = 0
near.stores = 100
near.accesses = 100
near.refs = 100
zva.loads = 0
zva.stores = 0
zva.refs = 0
alias.instructions = 18017
alias.branches = 13008
alias.taken = 11006
alias.missed -ge 2990
alias.missed -le 3010
alias.returns = 4003
alias-twins.branches = 17010
alias-twins.taken = 15008
alias-fetch.branches = 802
alias-fetch.taken = 601
alias-fetch.exceptions = 100"

# An atomic loads and stores in one access; QEMU accesses memory twice for it, and once for each element of
# a vector. One more store sets the operand of the atomics.
unusual="atomics.loads = 400
atomics.stores = 401
atomics.accesses = 401
atomics.refs = 801
sve.loads = 300
sve.stores = 300
sve.accesses = 600
sve.refs = 1000"

# 1003 instructions, begun 256 before the lower half overflows
chained="swinc.low = 3
swinc.high = 8
chain.low -ge 747
chain.low -le 755
chain.high = 8
chain.flags = 4
chain-end.high = 0
chain-end.flags = 12"

# 100000 instructions, 150000 cycles with a period of 1000
overflows="event.flag = 1
event.pending = 1
event.interrupts -ge 100
event.interrupts -le 102
event.skid -le 30
cycles.flag = 1
cycles.pending = 1
cycles.interrupts -ge 150
cycles.interrupts -le 153
cycles.skid -le 30
disabled.pending = 0
enabled.pending = 1
without-flag = 0
end = 1"

begin 61

# ---- registers, without QEMU ----

build_tests arm64
model_test arm64/model/pmu "registers and counters"
model_test arm64/model/decode "instruction decoder"
model_test arm64/model/brbe "branch records"

needs_qemu "$qemu" qemu-system-aarch64

# ---- refusals ----

refuses_option colour=blue "unknown option 'colour=blue'"
refuses_option fault=fire "unknown option 'fault=fire'"
refuses_option fault=lose-pmi "takes a value"
refuses_option fault=lose-pmi:0 "every Nth one"
refuses_option fault=sticky-status:1 "takes no value"
refuses_option version=v4 "unknown version 'v4'"
refuses_option counters=7 "registers for 6 event counters only"
refuses_option threshold=1 "has no threshold"
refuses_option version=v3p8,threshold=13 "threshold of that many bits"
refuses_option version=v3p8,instruction-counter=on "has no instruction counter"
refuses_option instruction-counter=maybe "either on or off"
refuses_option slots=4 "no register to say how many slots" cortex-a57
refuses_option version=v3p8 "has no PMMIR_EL1" cortex-a57
refuses_option fault=stuck-counter:6 "not have the counter to be stuck"
refuses_option fault=wrong-cpu-pmi:1 "needs another CPU"
refuses_option kind=1:midr=0x410fd0c1 "begins with the number of a CPU"
refuses_option kind=midr=0x410fd0c1 "begins with the number of a CPU"
refuses_option kind=0 "give its midr="
refuses_option kind=0:midr=cortex "is no number"
refuses_option kind=0:midr=0x410fd0c1:colour=blue "unknown option 'colour=blue'"
refuses_option kind=0:midr=0x410fd0c1:version=v4 "unknown version 'v4'"
refuses_option deny=0x40 "not have all counters to be denied"
refuses_option deny-event=0x10000 "numbers of events"
refuses_option deny-event=0x21+ "numbers of events"
refuses_option spi=256 "each CPU needs one"
refuses_option brbe=12 "cannot have that many branch records"
refuses_option fault=lose-record:1 "has no branch records to be faulty"
refuses "refuses a CPU without a PMU" "has no PMU" \
	"$qemu" -M virt -cpu max,pmu=off -plugin "$plugin"

refuses_machines "$qemu" virt -cpu max
refuses_twice "another PMU plugin is loaded" "$qemu" -M virt
refuses_target aarch64 x86_64 "$qemu_x86" -M q35

# ---- bare metal ----

guest_test "v3p5 counts and interrupts" values "id.version = 6
id.mmir = 4
reserved.pmcr = 12536
reserved.type = 3221291007
reserved.ccfiltr = 2147483648
reserved.counter = 77
reserved.enabled = 2147483711
$counts
$unusual
$chained
$overflows" max ""

guest_test "v3 counts and interrupts" values "id.version = 1
id.mmir = 0
reserved.pmcr = 12408
reserved.type = 3221226495
$counts
$chained
$overflows" cortex-a57 ""

guest_test "v3p9 has freezing, threshold and instruction counter" values "id.version = 9
id.mmir = 8388612
reserved.enabled = 6442451007
$counts
$overflows
fzo.count -le 2
threshold.none = 5023
threshold.all = 1507
threshold.some = 502
icntr.instructions = 1005
icntr.flags = 4294967296
icntr.filter = 8" max ",version=v3p9,threshold=8,instruction-counter=on"

# Records of one type are 17 cycles apart: see the source of the guest.
guest=$top/build/tests/arm64/guest/brbe.elf
guest_test "brbe=32 records each type of branch" values "jump.right = 32
jump.cycles = 544
indirect.right = 32
indirect.cycles = 544
return.right = 32
return.cycles = 272
indirect-call.right = 32
indirect-call.cycles = 544
call.right = 32
call.cycles = 544
conditional.right = 32
conditional.cycles = 544
all.right = 32
all.cycles = 78
none.right = 0
end = 1" max ",brbe=32"
guest=$top/build/tests/arm64/guest/pmu.elf

guest_test "the same with -icount" values "$counts
$unusual
$chained
$overflows" max "" -icount shift=0,sleep=off

guest_test "the same with several CPUs" values "$counts
$chained
$overflows" max "" -smp 2

# reset_test <arguments>: resets the machine twice; each of the three boots, N, has to print the lines
# "N.what = value"
reset_test() {
	what="a reset restores the PMU to its state at power-up${*:+, with $*}"
	if [ -n "$reason" ]; then
		skip "$what" "$reason"
		return
	fi
	run_with_monitor "$tmp/out" "$tmp/values" system_reset \
		"$qemu" -M virt -cpu max -kernel "$reset_guest" \
		-chardev "file,id=c,path=$tmp/values" \
		-semihosting-config enable=on,target=native,chardev=c -plugin "$plugin" "$@"
	judge "$what" "$tmp/values" "$(for boot in 1 2 3; do
		printf "$boot.%s\n" "enabled = 0" "counters = 0" "interrupts = 0" "overflows = 0" \
			"type = 0" "counter = 0" "cycles = 0" "filter = 0" "pending = 0" \
			"instructions = 100002"
	done)
end = 1"
}

reset_test
reset_test -icount shift=0,sleep=off
reset_test -accel tcg,thread=single

# loadvm fails and leaves the machine paused: the snapshot is of a CPU with other ID registers.
snapshot_tests paused "" "$qemu" -M virt -cpu max -kernel "$reset_guest" \
	-chardev "file,id=c,path=$tmp/values" \
	-semihosting-config enable=on,target=native,chardev=c

guest_test "kind= makes a CPU one of another kind" values "id.midr = $((0x410fd0c1))
id.version = 5
id.mmir = 2
reserved.enabled = $((0x8000000f))
end = 1" max ",slots=0,kind=0-1:midr=0x410fd0c1:version=v3p4:counters=4:slots=2" -smp 3
guest_test "kind= leaves other CPUs as they are" values "id.midr != $((0x410fd0c1))
id.version = 6
id.mmir = 4
reserved.enabled = $((0x8000003f))
end = 1" max ",kind=1:midr=0x410fd0c1:version=v3p4:counters=4:slots=2" -smp 2

guest_test "accesses are counted" stats "cpu0.msr.PMSWINC = 5
cpu0.mrs.PMOVSCLR -ge 200
cpu0.pmi.signalled -ge 254
cpu0.pmi.raised -ge 254
cpu0.pmi.causeless = 0
cpu0.unknown.0x3e -ge 1" max ",counters=4"
unknown_test bare_metal max ",verbose=on"

guest_test "skid=" values "event.skid -ge 100
event.skid -le 130
end = 1" max ",skid=100"
guest_test "fault=lose-pmi" values "event.pending = 0
event.flag = 1
event.interrupts = 0
enabled.pending = 0
end = 1" max ",fault=lose-pmi:1"
guest_test "fault=delay-pmi" stats "cpu0.pmi.delayed -ge 10
cpu0.pmi.raised -le 60" max ",fault=delay-pmi:1"
guest_test "fault=spurious-pmi" values "without-flag -ge 1
event.interrupts -ge 101
end = 1" max ",fault=spurious-pmi:2"
guest_test "fault=wrong-cpu-pmi" stats "cpu0.pmi.raised = 0
cpu0.pmi.misdirected -ge 1
cpu1.pmi.causeless -ge 1" max ",fault=wrong-cpu-pmi:1" -smp 2
guest_test "fault=sticky-status" values "event.interrupts -ge 100
event.interrupts -le 102
end = 1" max ",fault=sticky-status"
guest_test "fault=stuck-counter:0" values "loop.instructions = 0
event.interrupts = 0
loop.cycle-counter = 1507
end = 1" max ",fault=stuck-counter:0"
guest_test "fault=stuck-counter:cycles" values "loop.instructions = 1005
loop.cycle-counter = 0
cycles.interrupts = 0
end = 1" max ",fault=stuck-counter:cycles"
guest_test "deny-event" values "loop.instructions = 0
event.interrupts = 0
loop.cycle-counter = 1507
end = 1" max ",deny-event=0x1b+0x08"
guest_test "deny" values "loop.instructions = 1005
loop.cycle-counter = 0
cycles.interrupts = 0
end = 1" max ",deny=0x80000000"

exit $failed
