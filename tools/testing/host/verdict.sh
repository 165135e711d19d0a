#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# scripts/verdict: the tests that it runs for a change, their order, and its messages
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
. tools/lib/ktap.sh

work=$(mktemp -d "${TMPDIR:-/tmp}/corepmu-verdict.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# A project with two files, their faults, and programs that print how they were called. Programs
# named in $work/fails fail.
mkdir -p "$work"/{scripts,drivers/corepmu/core,kunit/core,tools/testing/{host,suites/abi}}
cp scripts/verdict scripts/kernels.cfg scripts/arches.cfg "$work/scripts/"
cat >"$work/tools/testing/guests.cfg" <<'EOT'
[one]
suites = count sample storm
[two]
arches = x86_64
kernels = 6.1
suites = count
EOT
cat >"$work/tools/testing/faults.cfg" <<'EOT'
[a]
file = drivers/corepmu/core/a.c
guests = one:sample,storm two
arches = arm64 x86_64
[b]
file = drivers/corepmu/core/a.c
guests = one:storm host:other
[c]
file = drivers/corepmu/core/b.c
guests = one:count
sed = s/#/;/
EOT
cat >"$work/kunit/faults.cfg" <<'EOT'
[d]
file = core/a.c
suites = corepmu_a
[e]
file = core/b.c
EOT
for program in check kunit; do
	cat >"$work/scripts/$program" <<'EOT'
#!/bin/bash
said="${0##*/} $*"
config=${said##*--config }
[ "$config" = "$said" ] || said="${said%% --config*} $(sed -n 's/^suites = //p' "$config")"
grep -qxF "$said" silent || echo "ran $said"
! grep -qxF "$said" silent || { exec >&-; exit 1; }
! grep -qxF "$said" fails || { echo "not ok 2 - $said"; echo "0 passed"; exit 1; }
EOT
done
chmod +x "$work"/scripts/*
printf '%s\n' '#!/bin/sh' 'exit 0' >"$work/tools/testing/host/own.sh"
chmod +x "$work/tools/testing/host/own.sh"
touch "$work"/{fails,silent,README} "$work"/drivers/corepmu/core/{a,b}.c "$work/tools/testing/suites/abi/count.c"
echo '	.name = "corepmu_own",' >"$work/kunit/core/own_kunit.c"

# verdict WORD...: run scripts/verdict; sets said and status
verdict()
{
	status=0
	said=$("$work/scripts/verdict" "$@" 2>&1) || status=$?
}
ktap_details() { echo "status $status"; echo "$said"; }
ran() { sed -n 's/^ *ran //p' <<<"$said"; }

plan

verdict drivers/corepmu/core/a.c
[ $status -eq 0 ] && [ "$(ran)" = "check --guests --arch arm64 --kernel 6.12 storm
kunit --timeout 900 corepmu_a
check --guests --arch arm64 --kernel 6.12 sample
check --guests --arch x86_64 --kernel 6.1 count" ] && grep -q '^passed after' <<<"$said"
result "the suite that caught most faults is first, then KUnit, then the others"

echo 'kunit --timeout 900 corepmu_a' >"$work/fails"
verdict drivers/corepmu/core/a.c
[ $status -eq 1 ] && [ "$(ran | wc -l)" -eq 2 ] &&
	grep -q '^FAILED after .* KUnit corepmu_a.*: not ok 2 - kunit' <<<"$said"
result "the first failure ends the run, and is named"
: >"$work/fails"

verdict --list --arch x86_64 drivers/corepmu/core/a.c
[ $status -eq 0 ] && [ -z "$(ran)" ] && grep -q 'guest two x86_64 6.1: count' <<<"$said" &&
	! grep -q arm64 <<<"$said"
result "--list runs nothing, and --arch leaves the other architecture's guests out"

verdict --list --guests 1 drivers/corepmu/core/a.c
[ $status -eq 0 ] && ! grep -q 'guest two' <<<"$said"
result "--guests bounds the number of guests"

verdict tools/testing/suites/abi/count.c kunit/core/own_kunit.c tools/testing/host/own.sh
[ $status -eq 0 ] && [ "$(ran)" = "check --guests --arch arm64 --kernel 6.12 count
kunit --timeout 900 corepmu_own
check --guests --arch x86_64 --kernel 6.1 count" ] && grep -q '\[1/4\] host own.sh' <<<"$said"
result "a test that has changed is run itself"

verdict --list README drivers/corepmu/core/b.c
[ $status -eq 0 ] && grep -q 'guest one arm64 6.12: count' <<<"$said" &&
	grep -q 'no test is known for README: make check' <<<"$said"
result "a file that no test knows is named beside others"

echo 'kunit --timeout 900 corepmu_?[!s]*' >"$work/silent"
verdict drivers/corepmu/core/b.c
[ $status -eq 1 ] && grep -q '^FAILED after .*: status 1' <<<"$said"
result "a program that fails without a word is a failure"
: >"$work/silent"

verdict README
[ $status -eq 2 ] && grep -q 'no test is known for README: make check' <<<"$said"
result "a file that no test knows is named"

verdict nosuch.c
[ $status -eq 2 ] && grep -q 'there is no file nosuch.c' <<<"$said"
result "a file that is not there is refused"

git -C "$work" init -q && git -C "$work" add . &&
	git -C "$work" -c user.name=a -c user.email=a@b commit -qm one
verdict --list
none=$status
echo '/* */' >>"$work/drivers/corepmu/core/b.c"
touch "$work/tools/testing/host/new.sh" && chmod +x "$work/tools/testing/host/new.sh"
verdict --list
[ $none -eq 2 ] && [ $status -eq 0 ] && grep -q 'guest one arm64 6.12: count' <<<"$said" &&
	grep -q 'host new.sh' <<<"$said"
result "without names, the files that differ from the last commit are tested"

finish
