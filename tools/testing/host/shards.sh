#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# --shard and --merge: each job of scripts/check runs in one shard, and the merged results are those
# of one run. The jobs are small scripts in a copy of the harness. Each fault and each mutant is in
# one shard, too.
. "$(dirname "$0")/../host-test.sh"

ktap_details() { tail -n 30 "$work/out"; }

tree=$work/tree
host=$tree/tools/testing/host
mkdir "$tree"
cp -r --parents scripts tools/lib tools/testing/guests.cfg "$tree"
mkdir "$host"

# job NAME LINE...: a script of the host
job()
{
	printf '%s\n' '#!/bin/sh' "${@:2}" >"$host/$1.sh"
	chmod +x "$host/$1.sh"
}

job passes 'echo 1..2; echo ok 1 one; echo ok 2 two'
job fails 'echo 1..2; echo ok 1 one; echo "# why"; echo not ok 2 two; exit 1'
job skips 'echo 1..1; echo "ok 1 one # SKIP no hardware"'
job skips-all 'echo "1..0 # SKIP no hardware"'
job ends-badly 'echo 1..1; echo ok 1 one; echo a message >&2; exit 3'
job silent ''
# shellcheck disable=SC2016 # the script expands it
job compares 'logs=build/log/check' "cd $tree/\$logs || exit 1" 'echo 1..1' \
	'[ "$(cat host-passes.ktap host-fails.ktap | grep -c "^ok")" = 3 ] || printf "not "; echo ok 1 both are here'
verdict='5 passed, 3 failed, 2 skipped'
check() { status=0; "$tree/scripts/check" --host "$@" >"$work/out" 2>&1 || status=$?; }

# shards N: run N shards side by side, each with its results in $tree/shards/I-of-N, below the tree
shards()
{
	local shard

	mkdir -p "$tree/shards"
	for shard in $(seq "$1"); do
		COREPMU_QUIET=1 "$tree/scripts/check" --host --shard "$shard/$1" >"$work/$shard-of-$1.out" 2>&1 &
	done
	wait
	for shard in $(seq "$1"); do
		mv "$tree/build/log/check-$shard-of-$1" "$tree/shards/$shard-of-$1"
	done
}

plan

check
cp "$tree"/build/log/check.{ktap,xml} "$work/"
[ $status -eq 1 ] && [ "$(tail -n 1 "$work/out")" = "$verdict" ]
result "one run passes, fails and skips the tests of seven jobs"

[ "$(grep -cE '^(not )?ok ' "$work/check.ktap") $(grep -cE '^    (not )?ok ' "$work/check.ktap")" = "7 10" ] &&
	[ "$(grep -c '^    not ok ' "$work/check.ktap") $(grep -c 'SKIP' "$work/check.ktap")" = "3 2" ]
result "the KTAP of the run has each of its results"

[ "$(grep -c '<testcase ' "$work/check.xml") $(grep -c '<failure' "$work/check.xml")" = "10 3" ] &&
	grep -q 'a message' "$work/check.xml" && grep -q '# why' "$work/check.xml"
result "the JUnit file of the run has each of its results, and why tests failed"

for nr in 4 7; do
	shards $nr
	[ "$(cat "$work"/*-of-$nr.out | grep -cE '^\[[0-9]+/[0-9]+\] (ok|FAILED) ')" = 6 ]
	result "$nr shards run each job once, except for what compares results"

	check --merge "$tree"/shards/*-of-"$nr"
	[ $status -eq 1 ] && [ "$(tail -n 1 "$work/out")" = "$verdict" ] &&
		cmp "$tree/build/log/check.ktap" "$work/check.ktap" >>"$work/out"
	result "the merged results of $nr shards are those of one run"
done

check --merge "$tree"/shards/[1-3]-of-4
[ $status -eq 1 ] && grep -q '\] NOT RUN host .*: in none of the directories' "$work/out" &&
	grep -q '^not ok [0-9]* host ' "$tree/build/log/check.ktap"
result "jobs of a missing shard are not run, which is a failure"

check --merge "$tree"/shards/[1-4]-of-4 "$tree/shards/2-of-4"
[ $status -ne 0 ] && grep -q '2-of-4: an earlier directory has host-.*, too' "$work/out"
result "a job that two directories have is refused"

check --merge "$tree"/shards/[1-4]-of-4 "$tree/build/log/check"
[ $status -eq 2 ] && grep -q 'this is not a directory of results' "$work/out" && [ -e "$tree/build/log/check" ]
result "the directory of the merged results is refused as one to merge"

echo >>"$host/silent.sh"
check --merge "$tree"/shards/[1-4]-of-4
[ $status -ne 0 ] && grep -q 'this shard ran other files' "$work/out"
result "results of other files are refused"

rm "$host/compares.sh"
shards 2
check --merge "$tree"/shards/*-of-2
[ $status -eq 1 ] && [ "$(tail -n 1 "$work/out")" = "4 passed, 3 failed, 2 skipped" ]
result "shards without a job that compares results are merged"

for shard in 0/4 5/4 1 1/ a/b 1/99999; do
	check --shard "$shard"
	[ $status -eq 2 ] && grep -q -- '--shard wants I/N' "$work/out" || break
	shard=
done
[ -z "$shard" ]
result "a shard that does not exist is refused"

# in_shards NR COMMAND...: check whether three shards print the NR lines of one run that begin with "# " or
# a path
in_shards()
{
	local nr=$1 shard

	shift
	"$@" | grep -E '^(# |[a-z]+/)' | sort >"$work/whole"
	for shard in 1/3 2/3 3/3; do
		"$@" --shard "$shard" | grep -E '^(# |[a-z]+/)'
	done | sort | cmp - "$work/whole" && [ "$(wc -l <"$work/whole")" = "$nr" ]
}

in_shards 20 scripts/mutants --sample 20 --list
result "scripts/mutants has each mutant in one of three shards"

# A fault without arches is arm64's, unless its name begins with "x86-".
faults=tools/testing/faults.cfg
in_shards $(($(grep '^\[' $faults | grep -vc '^\[x86-') - $(grep '^arches' $faults | grep -vc arm64))) scripts/testing/faults --diff --arch arm64
result "scripts/testing/faults has each fault in one of three shards"

finish
