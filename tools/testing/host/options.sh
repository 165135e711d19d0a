#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Wrong options, and wrong variables of make, are reported before the program installs, fetches,
# builds or boots anything. Every program has a --help.
. "$(dirname "$0")/../host-test.sh"

# Stubs of the programs that would be called first; the cache is empty.
mkdir "$work/bin"
for program in apt-get apt-cache sudo dpkg-query mmdebstrap; do
	printf '#!/bin/sh\necho "%s $*" >>%s\nexit 1\n' "$program" "$work/called" >"$work/bin/$program"
	chmod +x "$work/bin/$program"
done
export PATH=$work/bin:$PATH COREPMU_CACHE=$work/cache

run()
{
	status=0
	rm -rf "$work/called" "$work/cache"
	timeout 60 "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}

ktap_details()
{
	echo "status $status"
	sed 's/^/stderr: /' "$work/err"
	sed 's/^/stdout: /' "$work/out"
	[ ! -e "$work/called" ] || sed 's/^/called: /' "$work/called"
}

# refused REGEX PROGRAM WORD...: expect status 2, one line, and no action
refused()
{
	local regex=$1

	shift
	set -- "scripts/$1" "${@:2}"
	run "$@"
	[ $status -eq 2 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
		grep -qE -- "$regex" "$work/err" && [ ! -e "$work/called" ] && [ ! -e "$work/cache/debs" ]
	result "refused at once: ${*//"$work"/DIR}"
}

# make_refuses REGEX WORD...: the same for make
make_refuses()
{
	local regex=$1

	shift
	run make -s "$@"
	[ $status -eq 2 ] && [ ! -s "$work/out" ] && grep -qE -- "$regex" "$work/err" &&
		[ ! -e "$work/called" ] && [ ! -e "$work/cache/debs" ]
	result "refused at once: make ${*//"$work"/DIR}"
}

plan

for program in scripts/* scripts/{build,fetch,generate,measure,testing}/*; do
	[ -f "$program" ] && [ -x "$program" ] || continue
	run "$program" --help
	[ $status -eq 0 ] && [ ! -s "$work/err" ] && [ ! -e "$work/called" ] && [ ! -e "$work/cache" ] &&
		grep -q "${program##*/}" "$work/out" && ! grep -qE '^set |GNU|SPDX' "$work/out" || break
	program=
done
[ -z "$program" ]
result "every program prints its own --help${program:+: $program does not}"

run scripts/validate --arch arm64 --help
[ $status -eq 0 ] && grep -q '^validate \[--arch' "$work/out"
result "--help may follow other options"

refused 'ARCH=vax is not known' run-guest --arch vax -- true
refused 'KERNEL=9.9 is not known' run-guest --kernel 9.9 -- true
refused 'CPU=zen4 is for ARCH=x86_64' run-guest --arch arm64 --cpu zen4 -- true
refused 'no QEMU plugin nosuch.*x86-pmu' run-guest --plugin nosuch,a=b -- true
refused 'no client nosuch' run-guest --client nosuch -- true
refused '--log .*/nosuch/log: there is no directory' run-guest --log "$work/nosuch/log" -- true
refused '--modparam nosuch=1: .*standin' run-guest --modparam 'standin=1 nosuch=1' -- true
refused '--devicetree is kinds, .* not .nosuch' run-guest --devicetree nosuch -- true
refused '--pseudo-nmi is for ARCH=arm64' run-guest --arch x86_64 --pseudo-nmi -- true
refused '--mode is builtin there' run-guest --arch riscv64 -- true
refused '--report .*REPORT=.*there is no directory' validate --report "$work/nosuch/page.html"
refused "--report .*: this is a directory" validate --report "$work/"
refused '--pmu nosuch: .*armv' validate --pmu nosuch
refused '--pmu armv8_pmuv3: .* cpu' validate --arch x86_64 --pmu armv8_pmuv3
refused '--pmu corepmu: .* cpu' validate --arch riscv64 --pmu corepmu
refused 'KERNEL=9.9 is not known' validate --kernel 9.9
refused 'CPU=zen4 is for ARCH=x86_64' validate --cpu zen4
refused 'has no PMU nosuch' testing/validate-here --pmu nosuch
refused '--pmu nosuch' testing/validate-rounds --pmu nosuch 1
refused '--smp wants a whole number' testing/validate-rounds --smp x 1
refused 'has no fault nosuch' testing/validate-faults nosuch
refused "no client is left that has 'nosuch' in its name" clients --filter nosuch
refused 'DIR=.* there is no such directory' clients --checkouts "$work/nosuch"
refused 'CPU=cortex-nosuch|CPU=zen4' clients --arch arm64 --cpu zen4
refused "no suite matches 'nosuch'.*corepmu_x86_counters" kunit nosuch
refused "no test of the KUnit suites matches 'nosuch'" kunit 'corepmu_x86*.nosuch'
refused '--fault nosuch.c: there is no drivers/corepmu/nosuch.c' kunit --fault nosuch.c s/a/b/
refused 'KERNEL=9.9 is not known' testing/kunit-coverage --kernel 9.9
refused 'KERNEL=9.9 is not known' testing/kunit-faults --kernel 9.9
refused 'has no fault nosuch' testing/kunit-faults nosuch
refused 'has no guest nosuch' testing/faults --guest nosuch
refused 'no tools/testing/host/nosuch.sh' testing/faults --guest host:nosuch
refused '--config nosuch: there is no such file' testing/faults --config nosuch
refused 'there is no file nosuch.c' mutants nosuch.c
refused 'ARCH=vax is not known' mutants --arch vax
refused '--plot .*PLOT=.*: there is no directory' bench --plot "$work/nosuch/plot.svg"
refused 'no QEMU plugin nosuch' bench --pmu nosuch
refused 'no QEMU plugin nosuch' fuzz-diff --plugin nosuch
refused '--modparam nosuch=1' fuzz-diff --modparam nosuch=1
refused 'CPU=zen4 is for ARCH=x86_64' soak --cpu zen4
refused 'KERNEL=9.9 is not known' fetch/update arm64 6.12 9.9
refused 'KERNEL=9.9 is not known' build/build-module --kernel arm64 9.9
refused 'has no guest nosuch' check --guest nosuch
printf '%s\n' '[one]' 'arches = x86_64' 'suites = count' >"$work/one.cfg"
refused 'there is nothing to run' check --guests --arch arm64 --config "$work/one.cfg"
refused 'not an option|usage: build-debs' build/build-debs --nosuch

make_refuses 'make knows no variable CMDS=.*CMD' run CMDS=true
make_refuses 'make knows no variable cmd=' run cmd=true
make_refuses 'make knows no variable W=' all W=1
make_refuses 'make knows no variable COREPMU_CAHCE=' check COREPMU_CAHCE=/tmp
make_refuses 'make check takes no CMD=' check CMD=true
make_refuses 'KERNEL=9.9 is not known' run KERNEL=9.9
make_refuses 'KERNEL=9.9 is not known' check KERNEL=9.9
make_refuses 'KERNEL=9.9 is not known' all ARCH=arm64 KERNEL=9.9
make_refuses 'ARCH=vax is not known' shell ARCH=vax
make_refuses "no suite matches 'nosuch'" kunit FILTER=nosuch
make_refuses "no client is left that has 'nosuch'" clients FILTER=nosuch
make_refuses 'REPORT=.* there is no directory' validate REPORT="$work/nosuch/page.html"
make_refuses '--minutes wants a whole number' soak MINUTES=soon

# make checks its variables before it installs packages.
run make -s run
[ $status -ne 0 ] && grep -q '^dpkg-query' "$work/called"
result "make installs missing packages when its variables are right"

# Root calls apt-get. Another user may get only a message with the command.
# shellcheck disable=SC2016 # for the other shell
printf '#!/bin/sh\n[ "$1" = -s ] && exit\necho "apt-get $*" >>%s\nexit 1\n' "$work/called" >"$work/bin/apt-get"
run scripts/build/build-debs "$work/debs"
[ $status -ne 0 ] && grep -qs 'apt-get .*install .*debhelper.*dh-dkms' "$work/err" "$work/called"
result "build-debs installs what it needs"

# shellcheck disable=SC2016 # for the other shell
printf '#!/bin/sh\nshift 3\nfor package; do echo "installed $package"; done\n' >"$work/bin/dpkg-query"
cat >"$work/bin/dpkg-buildpackage" <<'EOT'
#!/bin/sh
echo "dpkg-buildpackage: info: source package corepmu"
echo "dpkg-checkbuilddeps: error: Unmet build dependencies: dh-sequence-nosuch"
echo "dpkg-buildpackage: warning: build dependencies/conflicts unsatisfied; aborting"
echo "dpkg-buildpackage: warning: (Use -d flag to override.)"
exit 3
EOT
chmod +x "$work/bin/dpkg-buildpackage"
run scripts/build/build-debs "$work/debs"
[ $status -ne 0 ] && [ ! -e "$work/called" ] &&
	grep -q '^build-debs: .*error: Unmet build dependencies: dh-sequence-nosuch; all of it is in' "$work/err"
result "build-debs quotes the line that names the missing packages"

finish
