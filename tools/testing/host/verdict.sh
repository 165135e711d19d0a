#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# scripts/verdict: the tests that it runs for a change, their order, and its messages
. "$(dirname "$0")/../host-test.sh"

# A project with two files, the table of their tests, and programs that print how they were called. Programs
# named in $work/fails fail.
mkdir -p "$work"/{scripts/{generate,lib,tables},drivers/corepmu/core,kunit/core,tools/testing/{host,suites/abi}}
cp scripts/verdict "$work/scripts/"
cp scripts/generate/tests-map "$work/scripts/generate/"
cp scripts/tables/{kernels,kernels-flavours,arches}.cfg "$work/scripts/tables/"
cp scripts/lib/{tables.py,table.awk} "$work/scripts/lib/"
cat >"$work/tools/testing/guests.cfg" <<'EOT'
[one]
suites = count sample storm
[two]
arches = x86_64
kernels = 6.1
suites = count
EOT
cat >"$work/tools/testing/tests.map" <<'EOT'
[drivers/corepmu/core/a.c]
kunit = corepmu_a=1
host = other=1
arm64 = one:storm=2 one:sample=1
x86_64 = two=1
[drivers/corepmu/core/b.c]
kunit = corepmu_?[!s]*=1
arm64 = one:count=1
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
chmod +x "$work"/scripts/{check,kunit}
for program in own other; do
	printf '%s\n' '#!/bin/sh' "echo ran $program" >"$work/tools/testing/host/$program.sh"
	chmod +x "$work/tools/testing/host/$program.sh"
done
touch "$work"/{fails,silent,README} "$work"/drivers/corepmu/core/{a,b}.c "$work/tools/testing/suites/abi/count.c"
echo 'TEST_SUITE(own, "corepmu_own", NULL, NULL);' >"$work/kunit/core/own_kunit.c"

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
[ $status -eq 0 ] && [ "$(ran)" = "other
check --guests --arch arm64 --kernel 6.12 storm
kunit --timeout 900 corepmu_a
check --guests --arch arm64 --kernel 6.12 sample
check --guests --arch x86_64 --kernel 6.1 count" ] && grep -q '^passed after' <<<"$said"
result "scripts of this machine are first, then the suite that caught most faults, KUnit, the others"

echo 'kunit --timeout 900 corepmu_a' >"$work/fails"
verdict drivers/corepmu/core/a.c
[ $status -eq 1 ] && [ "$(ran | wc -l)" -eq 3 ] &&
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
[ $status -eq 0 ] && [ "$(ran)" = "own
check --guests --arch arm64 --kernel 6.12 count
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

# What tests-map makes of tables of faults, and what it refuses
echo 'TEST_SUITE(a, "corepmu_a", NULL, NULL);' >"$work/kunit/core/a_kunit.c"
cat >"$work/tools/testing/faults.cfg" <<'EOT'
[a]
file = drivers/corepmu/core/a.c
guests = one:sample,storm two host:other
kernel = 6.12
arches = arm64 x86_64
EOT
printf '%s\n' '[c]' 'file = core/b.c' 'suites = corepmu_own' >"$work/kunit/faults.cfg"
sed -i 's/one:count=1/one:nosuch=4 one:count=1/' "$work/tools/testing/tests.map"
tests_map()
{
	status=0
	said=$("$work/scripts/generate/tests-map" "$@" 2>&1) || status=$?
}

tests_map --check
[ $status -eq 1 ] && grep -q 'run scripts/generate/tests-map' <<<"$said"
result "tests-map --check fails if the tables of faults name another test"

tests_map
said=$(grep -v '^#' "$work/tools/testing/tests.map")
[ $status -eq 0 ] && [ "$said" = "
[drivers/corepmu/core/a.c]
kunit = corepmu_a=1
host = other=1
arm64 = one:storm=2 one:sample=1 one:sample@6.12=1 one:storm@6.12=1
x86_64 = two=1 two@6.12=1

[drivers/corepmu/core/b.c]
kunit = corepmu_?[!s]*=1 corepmu_own=1
arm64 = one:count=1" ] && "$work/scripts/generate/tests-map" --check
result "tests-map adds tests of faults, and drops tests that are gone"

mv "$work/drivers/corepmu/core/b.c" "$work/b.c"
tests_map --check
mv "$work/b.c" "$work/drivers/corepmu/core/b.c"
[ $status -eq 1 ] && grep -q 'core/b.c is not there: rename its stanza' <<<"$said"
result "tests-map names a stanza whose file is gone"

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
