#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The harness from outside: which options it rejects and how, and whether a guest's output, exit
# status and troubles reach the host. No guest here needs the module.
. "$(dirname "$0")/../host-test.sh"
# A user's PATH lacks modinfo.
PATH=$PATH:/usr/sbin:/sbin

arch=${COREPMU_ARCH:-arm64}
kernel=${COREPMU_KERNEL:-$(. scripts/lib/lib.sh && default_kernel)}
native=$(. scripts/lib/lib.sh && host_arch)

ktap_details()
{
	sed 's/^/stderr: /' "$work/err"
	head -c 2000 "$work/out" | sed 's/^/stdout: /'
}

# run WORDS...: sets out to stdout, err to stderr, status to the exit status
run()
{
	status=0
	"$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}

guest() { run scripts/run-guest --arch "$arch" --kernel "$kernel" --mode nomodule --timeout 240 "$@"; }

# refused REGEX: expect a non-zero exit, nothing on stdout, and one sentence that matches REGEX. Lines
# of progress begin with two spaces: run-guest may build the module first.
refused()
{
	[ $status -ne 0 ] && [ ! -s "$work/out" ] && [ "$(grep -vc '^  ' "$work/err")" -eq 1 ] &&
		grep -qE -- "$1" "$work/err"
}

# refuses DESCRIPTION REGEX COMMAND...: a test that the command is refused
refuses()
{
	run "${@:3}"
	refused "$2"
	result "$1"
}

says() { grep -qE -- "$1" "$work/err"; }

plan

refuses "an unknown architecture is refused" 'ARCH=vax is not known.*arm64' \
	scripts/run-guest --arch vax -- true

run make -s run KERNELDIR="$work" KERNEL="$kernel"
[ $status -ne 0 ] && says 'KERNELDIR= and KERNEL= exclude each other'
result "make refuses a tree and a Debian kernel at once"

run make -s check CPU=max
[ $status -ne 0 ] && says 'make check takes no CPU='
result "make refuses a variable that the goal has no use for"

for program in "check --arch riscv64 --guests" "kunit --arch riscv64" "bench --arch riscv64" \
	"fuzz-diff --arch riscv64" "soak --arch riscv64" "clients --arch riscv64" "lint riscv64" \
	"build/build-module --kernel riscv64 $kernel" "install-deps check --arch riscv64"; do
	# shellcheck disable=SC2086 # words
	run scripts/$program
	refused 'ARCH=riscv64 has no corepmu' || break
	program=
done
[ -z "$program" ]
result "an architecture that is there for make validate alone is refused elsewhere"

refuses "a cache in a directory with a space in its name is refused" 'set COREPMU_CACHE to a directory without a space' \
	env COREPMU_CACHE="$work/a b" scripts/install-deps build
refuses "an unknown kernel is refused" 'KERNEL=2\.4 is not known.*6\.12' \
	scripts/run-guest --kernel 2.4 -- true
refuses "a timeout that is no number is refused" "--timeout wants a whole number" \
	scripts/run-guest --timeout soon -- true
refuses "an option without its value is refused" "--timeout wants a value" \
	scripts/run-guest --timeout
refuses "an unknown option is refused" "'--colour' is not an option" \
	scripts/run-guest --colour -- true
refuses "no command at all is refused" "no command" scripts/run-guest
refuses "an unknown accelerator is refused" "--accel is tcg or kvm, not 'xen'" \
	scripts/run-guest --accel xen -- true

run scripts/guest/kvm-usable vax true
[ $status -eq 1 ] && grep -qE '^this machine is .*, the guest vax$' "$work/out"
result "KVM is not for other architectures"

run env KVM="$work/nothing" scripts/guest/kvm-usable "$native" true
[ $status -eq 1 ] && grep -q "^there is no $work/nothing: load" "$work/out"
result "it is said that there is no KVM"

run env KVM="$work" scripts/guest/kvm-usable "$native" true
[ $status -eq 1 ] && grep -qx "$work does not open" "$work/out"
result "it is said that KVM does not open"

# kvm-usable gives one of two reasons: the host has no PMU for guests, or the guest finds
# none.
run env KVM="$work/out" scripts/guest/kvm-usable "$native" sh -c 'echo first; echo "no PMU" >&2; exit 1'
[ $status -eq 1 ] && [ "$(wc -l <"$work/out")" -eq 1 ] &&
	grep -qE "^(this machine.* PMU .*|a guest with KVM does not get a PMU: no PMU)$" "$work/out"
result "it is said that the host or its guests have no PMU"

refuses "two CPUs in the exact lane are refused" "exact lane has one CPU" \
	scripts/run-guest --smp 2 -- true
refuses "a machine of two types of CPU in the exact lane is refused" "CPU=alder-lake has two types of CPU, and the exact lane has one CPU; use .*--lane smp" \
	scripts/run-guest --arch x86_64 --cpu alder-lake --lane exact -- true
refuses "a machine of two types of CPU with one CPU is refused" "CPU=lunar-lake has two types of CPU; use --smp 2 or more, not 1" \
	scripts/run-guest --arch x86_64 --cpu lunar-lake --smp 1 -- true
refuses "a KERNELDIR that does not exist is refused" "is not a directory" \
	scripts/run-guest --kerneldir "$work/nothing" -- true
refuses "a KERNELDIR that is no kernel tree is refused" "is not a kernel tree" \
	scripts/run-guest --kerneldir "$work" -- true
refuses "a QEMU that does not run is refused" "does not run, or is older" \
	env QEMU="$work/no-qemu" scripts/run-guest --arch "$arch" --kernel "$kernel" -- true

for model in "x86_64 pentium" "x86_64 coreduo,pmu=on" "arm64 cortex-a15"; do
	# shellcheck disable=SC2086 # words
	run scripts/run-guest --arch ${model% *} --cpu ${model#* } -- true
	refused "CPU=.* is a CPU of 32 bits; ARCH=${model% *} needs one of 64 bits" || break
	model=
done
[ -z "$model" ]
result "a CPU of 32 bits is refused"

refuses "a CPU that QEMU does not know is refused" "CPU=nosuch is not known for ARCH=$arch: .*scripts/tables/cpus.cfg" \
	scripts/run-guest --arch "$arch" --cpu nosuch -- true
refuses "a directory for output that cannot be created is refused" '--output .*/nothing is no directory' \
	scripts/run-guest --output "$work/nothing/files" -- true
refuses "a suite that does not exist is refused" "there is no suite nosuch" \
	scripts/run-guest --arch "$arch" --kernel "$kernel" -- run-suites loop nosuch

# A machine without apt, and an empty cache
mkdir "$work/no-apt"
for program in basename bash env dirname cat sed awk grep xargs uname printf md5sum cut mkdir ln; do
	ln -s "$(command -v $program)" "$work/no-apt/$program"
done
refuses "without apt it is said where a container is" "this machine has no apt: .*packaging/container/Containerfile" \
	env PATH="$work/no-apt" COREPMU_CACHE="$work/empty" scripts/install-deps guest --arch "$arch"

run env PATH="$work/no-apt" COREPMU_CACHE="$work/empty" scripts/install-deps build
[ $status -eq 0 ] && [ ! -s "$work/err" ]
result "a module for a tree that is here takes no apt"

# A compiler that only prints its target
printf '#!/bin/sh\necho mips-linux-gnu\n' >"$work/mips-gcc"
chmod +x "$work/mips-gcc"
refuses "a CROSS_COMPILE for another architecture is refused" "CROSS_COMPILE=.*/mips- compiles for mips-linux-gnu, not for ARCH=$arch" \
	env CROSS_COMPILE="$work/mips-" scripts/build/build-tests "$arch" "$work/nothing"

# A compiler warning ends a build only with WERROR=1.
mkdir "$work/tools"
cp -r tools/bench tools/lib "$work/tools/"
echo 'static int unused;' >>"$work/tools/bench/bench.c"
run env -u WERROR make -s -C "$work/tools/bench" O="$work/lenient"
[ $status -eq 0 ] && [ -x "$work/lenient/bench" ] && says 'warning: .*unused'
result "a warning of the compiler does not end a build"

run make -s -C "$work/tools/bench" O="$work/strict" WERROR=1
[ $status -ne 0 ] && [ ! -e "$work/strict/bench" ] && says 'error: .*unused'
result "a warning of the compiler ends a build with WERROR=1"

: >"$work/file"
refuses "a cache that cannot be written is refused" "cannot create the cache directory" \
	env COREPMU_CACHE="$work/file/cache" scripts/fetch/get-kernel "$arch" "$kernel"

cat >"$work/bad.cfg" <<EOT
[guest]
arches = $arch
suites = count
colour = red
EOT
refuses "an unknown key in the table of guests is refused" "unknown key 'colour'" \
	scripts/check --arch "$arch" --config "$work/bad.cfg" --guests

sed -i 's/^colour.*/when = never/' "$work/bad.cfg"
refuses "a guest that never runs is refused" "when is default, all, check-all, or kernels of .*, not 'never'" \
	scripts/check --arch "$arch" --config "$work/bad.cfg" --guests

run env KVM="$work/nothing" scripts/run-guest --arch "$arch" --kernel "$kernel" --mode nomodule \
	--accel kvm -- 'echo to stdout; echo to stderr >&2; printf "a\r\n\0b\tc"; exit 7'
[ $status -eq 7 ] && printf 'to stdout\nto stderr\na\r\n\0b\tc' | cmp - "$work/out"
result "output arrives byte for byte, and the exit status"

[ $status -eq 7 ] && says '^run-guest: without KVM, the CPU and its PMU are emulated: (there is no|this machine is)'
result "without a usable KVM the guest is emulated, and a message says why"

# shellcheck disable=SC2016 # the suite expands it
printf '#!/bin/sh\nexit ${0##*/status-}\n' >"$work/suite"
chmod +x "$work/suite"
guest --payload "$work/suite:corepmu/tests/status-0" --payload "$work/suite:corepmu/tests/status-3" \
	-- run-suites status-3 status-0
[ $status -eq 1 ] && grep -qx '# suite ended: status-3 3' "$work/out" &&
	grep -qx '# suite ended: status-0 0' "$work/out"
result "run-suites runs all suites, and its status tells that one has failed"

# shellcheck disable=SC2016 # for the guest's shell
guest -- WORD='x  y' sh -c 'echo "$WORD"; for word; do echo "<$word>"; done; exit 5' name "it's" '' '$HOME;' 'a
b' '*' -e x/y=1/,z
# shellcheck disable=SC2016 # nothing is expanded
[ $status -eq 5 ] && printf '%s\n' 'x  y' "<it's>" '<>' '<$HOME;>' '<a' 'b>' '<*>' '<-e>' '<x/y=1/,z>' | cmp - "$work/out"
result "the words of a command arrive as they are given"

# Two boots: the second is compared with the first, below.
twice='id -u; test -e /corepmu/corepmu.ko && ! test -d /sys/module/corepmu && echo there; grep -c ^user: /etc/passwd
	sleep 100000 & dmesg | sed "s/.*nonce=.*//" | md5sum; cat /proc/uptime'
guest -- "$twice"
cp "$work/out" "$work/first"
[ $status -eq 0 ] && [ "$(head -n 3 "$work/out" | xargs)" = "0 there 1" ]
result "the command is root's, the module is at hand, there is an unprivileged user, and a process left behind does not hold the guest"

run scripts/guest/kvm-usable "$native" scripts/run-guest --arch "$native" --kernel "$kernel" \
	--accel kvm --no-probe --timeout 120 -- true
if [ $status -ne 0 ]; then
	skipped "KVM gives a guest a PMU that counts" "$(cat "$work/out")"
else
	guest --accel kvm --no-probe --mode replace --arch "$native" -- 'perf stat -e corepmu/instructions/u true'
	[ $status -eq 0 ]
	result "KVM gives a guest a PMU that counts"
fi

# In the smp lane a guest that sleeps takes no CPU time.
guest --lane smp --smp 1 --timeout 20 -- 'echo begun; sleep 100000'
[ $status -eq 124 ] && says 'did not end within 20 seconds.*console log is /'
result "a hanging command is ended and reported"

guest -- 'echo c >/proc/sysrq-trigger'
[ $status -eq 125 ] && says 'crashed: .*panic.*console log is /'
result "a panic is reported"

guest -- 'echo "<4>WARNING: CPU: 0 PID: 1 at file.c:1 function+0x1/0x2" >/dev/kmsg'
[ $status -eq 125 ] && says 'ended with status 0, but the kernel complained: WARNING'
result "a kernel warning fails a command that succeeded"

guest --allow-warn -- 'echo "<4>WARNING: CPU: 0 PID: 1 at file.c:1 function+0x1/0x2" >/dev/kmsg
	echo "<0>Uhhuh. NMI received for unknown reason 20 on CPU 0." >/dev/kmsg'
[ $status -eq 125 ] && says 'the kernel complained: Uhhuh. NMI received' && ! says 'WARNING'
result "an unknown NMI fails a command that succeeded, and a kernel warning is let pass when asked for"

guest --allow-nmi -- 'echo "<0>Uhhuh. NMI received for unknown reason 20 on CPU 0." >/dev/kmsg; exit 3'
[ $status -eq 3 ]
result "an unknown NMI is let pass when asked for"

guest -- 'poweroff -f'
[ $status -eq 125 ] && says 'ended before its command did'
result "a guest that ends early is reported"

# shellcheck disable=SC2016 # for the guest's shell
guest --output "$work/files" -- 'cd /corepmu/output; head -c 100000 /dev/urandom >data; md5sum <data; printf %s end; exit 3'
[ $status -eq 3 ] && md5sum <"$work/files/data" >"$work/expected" && printf end >>"$work/expected" &&
	cmp "$work/expected" "$work/out"
result "--output copies the guest's files and leaves the command's output and status"

guest --qemu-arg -colour -- true
[ $status -eq 125 ] && says 'QEMU ended with status 1: .*-colour'
result "a QEMU that does not start is reported"

guest --arch x86_64 --plugin x86-pmu,model=nosuch -- true
[ $status -eq 125 ] && says "QEMU ended with status 1: x86-pmu: unknown model 'nosuch'"
result "a plugin that refuses says why"

rows=$work/tools/testing/rows.cfg
mkdir -p "${rows%/*}"
cat >"$rows" <<'EOT'
[one]
when = 7.x
smp = 2
twin = 6.12
[two-*]
like = one
cpus=a b
twin=same
[three]
like = two-b-builtin
smp = 3
[x86-four]
like = one
EOT
run bash -c '. scripts/lib/lib.sh; declare -A row; for name in $(table_rows "$1"); do
		table_row "$1" "$name" row && echo "$name ${row[when]} ${row[smp]} ${row[cpu]:-} ${row[mode]:-} ${row[kernels]:-} ${row[arches]:-}"
	done' rows "$rows"
mv "$work/out" "$work/rows"
run python3 -c 'import sys; sys.path.insert(0, "scripts"); from lib.tables import table
for name, row in table(sys.argv[1]).items():
    if name != "DEFAULT":
        print(name, *(row.get(key, "") for key in ("when", "smp", "cpu", "mode", "kernels", "arches")))' "$rows"
[ $status -eq 0 ] && cmp "$work/rows" "$work/out" && [ "$(sed 's/ *$//' "$work/rows")" = 'one 7.x 2
one-builtin check-all 2  builtin 6.12
two-a 7.x 2 a
two-a-builtin check-all 2 a builtin
two-b 7.x 2 b
two-b-builtin check-all 2 b builtin
three check-all 3 b builtin
x86-four 7.x 2    x86_64' ]
result "rows are like others, have twins, and stand for several CPUs"

# load_table: read the table with the reader in Python.
load_table()
{
	run timeout 20 python3 -c 'import sys; sys.path.insert(0, "scripts"); from lib.tables import table
table(sys.argv[1])' "$rows"
}

printf '[a]\nlike = b\n[b]\nlike = c\n[c]\nlike = b\n' >"$rows"
run bash -c '. scripts/lib/lib.sh; declare -A row; table_row "$1" a row' rows "$rows"
circle="'like' makes a circle: a -> b -> c -> b"
refused "$circle" && load_table && refused "$circle"
result "a row that is like itself is refused"

printf '[a]\nlike = b\n' >"$rows"
load_table
refused 'a is like b, which is not there'
result "a row that is like no row is refused"

printf '[a]\ncpus = one two\n[b]\nsmp = 2\n' >"$rows"
refuses "a row for several CPUs without * in its name is refused" '\[a\] has cpus, so its name needs a \*' \
	awk -f scripts/lib/table.awk "$rows"

# shellcheck disable=SC2016 # the guest expands it
run make -s run ARCH=x86_64 KERNEL="$kernel" CPU=alder-lake \
	CMD='echo $(nproc) $(cat /sys/bus/event_source/devices/corepmu_*/cpus)'
[ "$status" -eq 0 ] && [ "$(cat "$work/out")" = "2 1 0" ]
result "make run gives a machine of two types of CPU one CPU of each"

# Type only after the shell has started: arm64's console would ignore all later input.
: >"$work/out"
# shellcheck disable=SC2016,SC2094 # for the guest's shell; what was written so far
for _ in $(seq 240); do
	! grep -aq 'Leave with exit' "$work/out" || printf 'echo $((6 * 7)) is said; exit\n'
	sleep 1
done 2>/dev/null | scripts/run-guest --arch "$arch" --kernel "$kernel" --mode nomodule --timeout 240 --shell \
	>"$work/out" 2>"$work/err"
status=${PIPESTATUS[1]}
[ "$status" -eq 0 ] && says 'the console is yours' && grep -aq '^42 is said' "$work/out"
result "a shell takes what is typed, and its end is the guest's"

guest --lane smp -- 'nproc; cat /proc/sys/kernel/perf_cpu_time_max_percent'
[ $status -eq 0 ] && [ "$(xargs <"$work/out")" = "4 0" ]
result "the smp lane has its CPUs and no limit of sampling time"

guest -- "$twice"
[ $status -eq 0 ] && [ "$(wc -l <"$work/out")" -eq 5 ] && cmp "$work/first" "$work/out" >/dev/null
result "two boots of the exact lane are equal to the clock tick"

run make -s modules_install ARCH="$arch" KERNEL="$kernel" INSTALL_MOD_PATH="$work/installed"
[ $status -eq 0 ] && [ "$(find "$work/installed" -name 'corepmu.ko*' | wc -l)" -eq 1 ]
result "make modules_install installs the module"

# Another checkout may have built since, at the place that all checkouts use.
run make -s ARCH="$arch" KERNEL="$kernel"
[ $status -eq 0 ] && [ "$(modinfo -F name build/corepmu.ko)" = corepmu ] &&
	[ "$(modinfo -F vermagic build/corepmu.ko | cut -d' ' -f1)" = "$(cat "$(scripts/fetch/get-kernel "$arch" "$kernel")/release")" ]
result "make leaves the module that it was asked for at build/corepmu.ko"

# shellcheck disable=SC2016 # the guest expands it
run make -s run ARCH="$arch" KERNEL="$kernel" CMD='echo "one  $HOME"; exit 9'
[ "$status" -eq 9 ] && [ "$(cat "$work/out")" = "one  /root" ]
result "make run has the command's output and exit status"

finish
