#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests x86-pmu.so, KTAP on stdout.
#
#   QEMU_SYSTEM_X86_64    the QEMU to test with, default: the one on PATH
#   QEMU_SYSTEM_AARCH64   one that must be refused, likewise
#   QEMU_X86_64           one for single programs, likewise

here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=${here%/*}
plugin=$top/build/x86-pmu.so
guest=$top/build/tests/x86/guest/pmu.elf
reset_guest=$top/build/tests/x86/guest/reset.elf
svm_guest=$top/build/tests/x86/guest/svm.elf
lbr_guest=$top/build/tests/x86/guest/lbr.elf

qemu=${QEMU_SYSTEM_X86_64:-$(command -v qemu-system-x86_64)}
qemu_arm=${QEMU_SYSTEM_AARCH64:-$(command -v qemu-system-aarch64)}
qemu_user=${QEMU_X86_64:-$(command -v qemu-x86_64)}

# shellcheck source=tools/qemu/tests/lib.sh
. "$here/lib.sh"

# refuses_option <option> <sentence>
refuses_option() {
	refuses "refuses $1" "$2" "$qemu" -M q35 -cpu Skylake-Client -plugin "$plugin,$1"
}

# bare_metal <cpu> <plugin options> <arguments>: the guest's lines go to $tmp/values
bare_metal() {
	cpu=$1
	options=$2
	shift 2
	rm -f "$tmp/values" "$tmp/stats"
	run "$tmp/out" "$qemu" -M q35 -cpu "$cpu" -no-reboot -kernel "$guest" \
		-device isa-debug-exit,iobase=0x501 \
		-chardev "file,id=c,path=$tmp/values" -device isa-debugcon,chardev=c,iobase=0xe9 \
		-plugin "$plugin,stats=$tmp/stats$options" "$@"
}

# What the guest counts, whatever the model. The numbers follow from its source.
counts="fault.select = 0
fault.status = 1
fault.no-counter = 1
fault.rdpmc = 0
fault.rdpmc-no-counter = 1
loop.instructions = 2000006
loop.cycles = 3000006
loop.branches = 1000000
loop.taken = 999999
loop.missed -le 3
calls.instructions = 4006
calls.branches = 3000
calls.calls = 1000
calls.returns = 1000
calls.loads = 1001
calls.stores = 1000
rep.instructions = 12
rep.stores = 16384
near.loads = 1
near.stores = 100
locked.loads = 301
locked.stores = 300
vectors.loads = 201
vectors.stores = 200
lines.refs = 1025
lines.misses = 129
unknown.count = 0
ud2.instructions = 203
ud2.exceptions = 100
ud2.late-instructions = 203
ud2.late-cycles = 305
int3.instructions = 303
int3.exceptions = 0
rdpmc.user-faults = 1
rdpmc.user-faults-pce = 0
rdpmc.user-value = 1234
alias.instructions = 22016
alias.branches = 13008
alias.taken = 11005
alias.not-taken = 2002
alias.missed -ge 2990
alias.missed -le 3010
alias.calls = 4002
alias.returns = 4003
alias-twins.taken = 15007
alias-twins.not-taken = 2002
alias-rep.instructions = 96
alias-int3.instructions = 609
alias-int3.branches = 406
alias-int3.exceptions = 0
alias-calls.instructions = 1009
alias-calls.branches = 606
alias-calls.calls = 202
alias-calls.exceptions = 200
alias-offset.instructions = 1003
alias-offset.branches = 402
alias-fetch.instructions = 1005
alias-fetch.not-taken = 201
alias-fetch.early = 10
end = 1"

# 200003 instructions with a period of 1000
sampled="nmi.interrupts = 200
nmi.skid -le 2
nmi.without-status = 0
fixed.interrupts = 200
masked.interrupts = 0
beside-timer.interrupts = 1000
int3.early = 2"

masks="nmi.masked = 200
fixed.masked = 200"

masks_not="nmi.masked = 0
fixed.masked = 0"

begin 99

# ---- registers, without QEMU ----

build_tests x86
model_test word "the word of instructions, branches and cycles"
model_test x86/model/pmu "registers and counters"
model_test x86/model/intel "Intel's registers and counters"
model_test x86/model/decode "instruction decoder"
model_test x86/model/uarch "microarchitectures"
model_test x86/model/extra-regs "extra registers"
model_test x86/model/lbr "branch records"
model_test x86/model/pebs "precise samples"
model_test x86/model/pebs-counters "counters in precise samples"
model_test x86/model/acr "auto counter reload"
model_test x86/model/ibs "instruction-based sampling"

needs_qemu "$qemu" qemu-system-x86_64

# ---- refusals ----

refuses_option colour=blue "unknown option 'colour=blue'"
refuses_option fault=fire "unknown option 'fault=fire'"
refuses_option fault=lose-pmi "takes a value"
refuses_option fault=lose-pmi:0 "every Nth one"
refuses_option counters=many "'many' is no number"
refuses_option model=intel-v9 "unknown model 'intel-v9'"
refuses_option model=intel-v4,counters=9 "has no such number of counters"
refuses_option model=intel-v2,width=64 "no counters of that width"
refuses_option model=intel-v4,fixed=5 "leave out fixed-function counters at the end"
refuses_option model=amd-core,fixed=1 "has no fixed-function counters"
refuses_option model=amd-core,fault=sticky-status "no status register to be sticky"
refuses_option model=intel-v2,fault=blind-to-guests "no host-only and guest-only bits to be blind"
refuses_option model=intel-v2,fault=stuck-counter:4 "not have the counter to be stuck"
refuses_option model=intel-v5,misplaced=other "'misplaced' needs a microarchitecture"
refuses_option model=skylake,misplaced=maybe "is 'nothing' or 'other'"
refuses_option model=intel-v2,deny=0x10 "all of the counters to be denied or missing"
refuses_option model=amd-core,missing=0x40 "all of the counters to be denied or missing"
refuses_option deny-event=0x100c4 "numbers of events"
refuses_option deny-event=0xc4+ "numbers of events"
refuses_option model=skylake,atoms=1 "'atoms' needs a hybrid model"
refuses_option model=alder-lake,perfmon=5 "cannot report this version in CPUID leaf 0xa"
refuses_option model=lunar-lake,fixed=0x1f "has fixed-function counters 0 to 3 only"
refuses_option model=alder-lake,atoms=2 "names more CPUs than there are"
refuses_option model=skylake,metrics=on "has no metrics without fixed-function counter 3"
refuses_option model=amd-v2,metrics=on "has no metrics"
refuses_option model=intel-v4,lbr=some "branch records are 'off', 'flags', 'info', 'arch' or 'amd'"
refuses_option model=intel-v4,lbr=amd "has no branch records of that kind"
refuses_option model=intel-v1,lbr=arch "has no branch records of that kind"
refuses_option model=skylake,full-width=off,lbr=info "no IA32_PERF_CAPABILITIES that reports branch records"
refuses_option model=sapphire-rapids,lbr-depth=12 "has no such number of branch records"
refuses_option model=intel-v4,lbr-counters=1 "has no branch records to have counts of events"
refuses_option model=skylake,lbr-counters=1 "cannot count events of these counters in branch records"
refuses_option model=intel-v4,fault=lose-record:1 "has no branch records to be faulty"
refuses_option model=icelake,pebs=5 "has no precise samples of that format"
refuses_option model=intel-v2,pebs=3 "has no precise samples"
refuses_option model=intel-v5,pebs=15 "has no CPUID leaf that reports architectural precise samples"
refuses_option model=icelake,pebs-fragments=2 "has no precise samples in pieces"
refuses_option model=skylake,full-width=off,pebs=3 "no IA32_PERF_CAPABILITIES that reports precise samples"
refuses_option model=intel-v4,fault=late-pebs:1 "has no precise samples to be faulty"
refuses_option fault=wrong-cpu-pmi:1 "needs another CPU"

refuses "refuses a model that does not suit the CPU" "does not suit a CPU of Intel" \
	"$qemu" -M q35 -cpu Skylake-Client -plugin "$plugin,model=amd-v2"

refuses "refuses a microarchitecture that the CPU does not have" \
	"does not suit a CPU of family 6, model 94" \
	"$qemu" -M q35 -cpu Skylake-Client -plugin "$plugin,model=icelake"

refuses_machines "$qemu" q35
refuses "refuses CPUs that come later" "all CPUs must be there from the start" \
	"$qemu" -M q35 -smp 1,maxcpus=2 -plugin "$plugin"
refuses_twice "another PMU plugin is loaded" "$qemu" -M q35
refuses_target x86_64 aarch64 "$qemu_arm" -M virt
refuses_programs x86_64 "$qemu_user"

# ---- bare metal ----

for version in 1 2 3 4 5; do
	guest_test "intel-v$version counts and interrupts" values "cpuid.version = $version
fault.anythread = 1
$counts
$sampled
$masks" Skylake-Client ",model=intel-v$version"
done

for model in legacy:1 core:2 v2:3; do
	guest_test "amd-${model%:*} counts and interrupts" values "cpuid.version = ${model#*:}
fault.anythread = 0
$counts
$sampled
near.updates = 0
locked.updates = 300
$masks_not" EPYC ",model=amd-${model%:*}"
done

for model in skylake:Skylake-Client:4 sapphire-rapids:SapphireRapids:5; do
	cpu_model=${model#*:}
	guest_test "${model%%:*} counts and interrupts" values "cpuid.version = ${model##*:}
$counts
$sampled
$masks" "${cpu_model%:*}" ",model=${model%%:*}"
done

for model in zen2:EPYC-Rome:2 zen4:EPYC-Genoa:3; do
	cpu_model=${model#*:}
	guest_test "${model%%:*} counts and interrupts" values "cpuid.version = ${model##*:}
$counts
$sampled
$masks_not" "${cpu_model%:*}" ",model=${model%%:*}"
done

what="alder-lake has two CPU types"
if [ -n "$reason" ]; then
	skip "$what" "$reason"
else
	bare_metal SapphireRapids,model=151 ",model=alder-lake,atoms=0x2,verbose=on" -smp 2
	if grep -q 'CPU 0: alder-lake, 8 counters' "$tmp/out" &&
			grep -q 'CPU 1: gracemont, 6 counters' "$tmp/out"; then
		judge "$what" "$tmp/values" "cpuid.counters = 6
cpuid.fixed = 3
$counts"
	else
		not_ok "$what" "$(grep 'x86-pmu:' "$tmp/out")"
	fi
fi

guest_test "the same with -icount" values "$counts
$sampled
$masks" Skylake-Client "" -icount shift=0,sleep=off

guest_test "the same with several CPUs" values "$counts
$sampled
$masks" Skylake-Client "" -smp 2

# reset_test <cpu> <model> <lines> <arguments>: resets the machine twice; each of the three boots, N, has
# to print the lines, as "N.what = value"
reset_test() {
	cpu=$1
	model=$2
	lines=$3
	shift 3
	what="$model: a reset restores the PMU to its state at power-up${*:+, with $*}"
	if [ -n "$reason" ]; then
		skip "$what" "$reason"
		return
	fi
	run_with_monitor "$tmp/out" "$tmp/values" system_reset \
		"$qemu" -M q35 -cpu "$cpu" -kernel "$reset_guest" \
		-device isa-debug-exit,iobase=0x501 \
		-chardev "file,id=c,path=$tmp/values" -device isa-debugcon,chardev=c,iobase=0xe9 \
		-plugin "$plugin,model=$model" "$@"
	judge "$what" "$tmp/values" "$(for boot in 1 2 3; do
		printf '%s\n' "$lines" | sed "s/^/$boot./"
	done)
end = 1"
}

# At power-up, GLOBAL_CTRL enables the general-purpose counters.
reset_intel="select = 0
counter = 0
other = 0
fixed = 0
fixed-ctrl = 0
lbr-select = 0
offcore = 0
ds = 0
pebs = 0
debugctl = 0
global-ctrl = 15
status = 0
branch = 0
instructions = 2000006"
reset_amd="select = 0
counter = 0
lbr = 0
ibs = 0
global-ctrl = 63
status = 0
branch = 0
instructions = 2000006"
for mode in "" "-icount shift=0,sleep=off" "-accel tcg,thread=single"; do
	# shellcheck disable=SC2086 # words
	reset_test Skylake-Client skylake "$reset_intel" $mode
	# shellcheck disable=SC2086
	reset_test EPYC-Genoa zen4 "$reset_amd" $mode
done

# SVM: each of the following programs, in $guest, runs a guest of its own. The expected numbers follow
# from the program's source.
guest=$svm_guest
svm_counts="all.user.guest3 = 200001
all.user.guest0 = 0
all.kernel.guest3 -le 10000
all.kernel.guest0 -ge 200001
guest.user.guest3 = 200001
guest.user.guest0 = 0
guest.kernel.guest3 = 0
guest.kernel.guest0 = 200001
guest.any.guest0 = 200001
host.user.guest3 = 0
host.any.guest3 -ge 1
host.any.guest3 -le 10000
host.any.guest0 -le 10000
both.user.guest3 = 200001
off.all -ge 2000
off.guest = 0
off.host = 0
off.both = 0
exit.ud = 70
exit.exceptions = 0
exit.instructions = 1
exit.handler = 129
exit.injected = 0
exit.rdpmc = 111
exit.rdmsr = 124
exit.rdmsr-passed = 129
nmi.guest.guest3 -ge 198
nmi.guest.guest3 -le 200
nmi.guest.guest0 -ge 198
nmi.guest.guest0 -le 200
nmi.host.guest3 = 0
ibs.nmis = 1
ibs.guest3 -ge 5
ibs.guest3 -le 6
end = 1"
guest_test "zen2 counts and samples an SVM guest" values "$svm_counts" EPYC-Rome ",model=zen2"
guest_test "zen4 counts and samples an SVM guest" values "$svm_counts
lbr.guest3 = 6
lbr.guest0 = 4294967295" EPYC-Genoa ",model=zen4"
guest_test "fault=blind-to-guests" values "guest.user.guest3 = 0
guest.kernel.guest0 = 0
host.user.guest3 = 200001
host.any.guest0 -ge 200001
off.host = 0
nmi.guest.guest3 = 0
nmi.host.guest3 -ge 198
end = 1" EPYC-Rome ",model=zen2,fault=blind-to-guests"

# The numbers of records, modulo 32, follow from the source of $lbr_guest.
guest=$lbr_guest
guest_test "skylake records each type of branch" values "all.top = 25
conditional = 7
call = 9
indirect-call = 8
return = 17
indirect-jump = 8
jump = 8
call.right = 32
conditional.mispredicted = 0
far = 14
end = 1" Skylake-Client ",model=skylake"
guest=$top/build/tests/x86/guest/pmu.elf

snapshot_tests running ,model=skylake "$qemu" -M q35 -cpu Skylake-Client -kernel "$reset_guest" \
	-chardev "file,id=c,path=$tmp/values" -device isa-debugcon,chardev=c,iobase=0xe9

guest_test "counters and width by option" values "cpuid.counters = 6
cpuid.width = 40
cpuid.fixed = 2
$counts" Skylake-Client ",model=intel-v4,counters=6,width=40,fixed=0x3"

guest_test "deny" values "loop.instructions = 0
calls.calls = 0
end = 1" Skylake-Client ",deny=0x1"
guest_test "deny-event" values "loop.instructions = 2000006
loop.branches = 0
calls.calls = 0
calls.returns = 1000
end = 1" Skylake-Client ",deny-event=0x00c4+0x02c4"

# sample() takes 1400 interrupts, count_early() 34: one for each of 30 overflows, and
# a second one for four of these.
guest_test "accesses are counted" stats "cpu0.rdpmc -ge 3
cpu0.wrmsr.IA32_PERF_GLOBAL_CTRL -ge 1400
cpu0.rdmsr.IA32_PERF_GLOBAL_STATUS = 1434
cpu0.pmi.nmi = 1234
cpu0.pmi.fixed = 200
cpu0.pmi.masked = 1
cpu0.unknown.0x3e -ge 1" Skylake-Client ",model=intel-v2"
unknown_test bare_metal Skylake-Client ",verbose=on"

guest_test "skid=" values "nmi.skid -ge 100
nmi.skid -le 102
nmi.interrupts -ge 180
end = 1" Skylake-Client ",skid=100"
guest_test "fault=lose-pmi" stats "cpu0.pmi.nmi = 0
cpu0.pmi.lost -ge 3" Skylake-Client ",fault=lose-pmi:1"
# Six runs of sample() take at most 22 interrupts each, count_early() 34 in all.
guest_test "fault=delay-pmi" stats "cpu0.pmi.delayed -ge 10
cpu0.pmi.nmi -le 166" Skylake-Client ",fault=delay-pmi:1"
guest_test "fault=spurious-pmi" values "nmi.without-status -ge 1
nmi.interrupts -ge 201
end = 1" Skylake-Client ",fault=spurious-pmi:2"
guest_test "fault=wrong-cpu-pmi" stats "cpu0.pmi.nmi = 0
cpu0.pmi.misdirected -ge 1
cpu1.pmi.masked -ge 1" Skylake-Client ",fault=wrong-cpu-pmi:1" -smp 2
guest_test "fault=sticky-status" values "nmi.interrupts = 200
end = 1" Skylake-Client ",fault=sticky-status"
guest_test "fault=stuck-counter" values "loop.instructions = 0
loop.branches = 0
nmi.interrupts = 0
end = 1" Skylake-Client ",fault=stuck-counter:0"

exit $failed
