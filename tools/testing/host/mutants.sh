#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# scripts/mutants: a tiny source whose mutants are known, with a program in place of the kernel.
. "$(dirname "$0")/../host-test.sh"

mkdir -p "$work"/{scripts/{fetch,lib,tables},drivers/corepmu/core,include/corepmu,kunit/fixture,tools/testing}
cp scripts/mutants "$work/scripts/"
cp scripts/tables/{kernels,arches}.cfg "$work/scripts/tables/"
cp scripts/lib/{mutate.py,tables.py,table.awk} "$work/scripts/lib/"
touch "$work"/{Kbuild,base.cpio,kunit/fixture/fixture.c}
cat >"$work/drivers/corepmu/core/tiny.c" <<'EOT'
struct pair {
	int left, sum;
};

/* if (a > b) in a comment */
static int at_most(int a, int most)
{
	if (a > most)
		return most;
	return a;
}

static struct pair start(int left)
{
	struct pair pair = { left, 0 };

	pair.sum = 0;
	return pair;
}

static void inline take(struct pair *pair)
{
	void (*none)(int a);

	(void)none;
	pair->sum += at_most(pair->left, 3);
}

int sum_up(int left)
{
	struct pair pair = start(left);

	at_most(left, 1);
	while (pair.left) {
		take(&pair);
		pair.left = pair.left - 1;
	}
	return pair.sum;
}

int unused(int a)
{
	return a == 1 || a != 2;
}
EOT
echo 'TEST_SUITE(tiny, "corepmu_tiny", NULL, NULL);' >"$work/kunit/tiny_kunit.c"

# The kernel: for "MUTANT SUITE" it says what failed, and which mutants it has executed.
cat >"$work/main.c" <<'EOT'
#include <stdio.h>
#include <string.h>

int corepmu_mutant;
_Bool corepmu_mutant_hits[1000];
int sum_up(int left);

int main(void)
{
	puts("ready");
	while (fflush(stdout), scanf("%d %*s", &corepmu_mutant) == 1) {
		memset(corepmu_mutant_hits, 0, sizeof(corepmu_mutant_hits));
		if (sum_up(4) != 3 + 3 + 2 + 1)
			puts("not ok 1 sum");
		printf("ended ");
		for (int i = 0; i < 1000; i++)
			putchar(corepmu_mutant_hits[i] ? 'Y' : 'N');
		putchar('\n');
	}
	return 0;
}
EOT
cat >"$work/scripts/kunit" <<'EOT'
#!/bin/bash
cd "$(dirname "$0")/.." && mkdir -p build/log build/arch/x86/boot &&
	gcc -Werror=return-type -DCOREPMU_KUNIT -Iinclude -o build/arch/x86/boot/bzImage \
		../../../main.c drivers/corepmu/core/tiny.c 2>build/log/kunit-x86_64-plain.build && echo "$PWD/build"
EOT
# shellcheck disable=SC2016 # a script of its own
printf '%s\n' '#!/bin/sh' 'while [ "$1" != -kernel ]; do shift; done' 'exec "$2"' >"$work/qemu"
printf '%s\n' '#!/bin/sh' "echo $work/qemu" >"$work/scripts/fetch/get-qemu"
printf '%s\n' '#!/bin/sh' "echo $work" >"$work/scripts/fetch/get-kernel"
chmod +x "$work"/{qemu,scripts/kunit,scripts/fetch/*}

name='drivers/corepmu/core/tiny.c: at_most: bound: a > most: > is >='
printf '%s\n\t%s\n' "$name" "a is most" >"$work/tools/testing/equivalent.txt"

mutants()
{
	status=0
	said=$("$work/scripts/mutants" --arch x86_64 "$@" 2>&1) || status=$?
}
ktap_details() { echo "status $status"; echo "$said"; }
has() { grep -qE "^$1 +drivers/corepmu/core/tiny.c:[0-9]+: $2" <<<"$said"; }

plan

first=$(scripts/mutants --list --sample 9 --seed 3 2>&1)
again=$(scripts/mutants --list --sample 9 --seed 3 2>&1)
said=$(scripts/mutants --list --sample 9 --seed 4 2>&1)
[ "$first" = "$again" ] && [ "$first" != "$said" ] && [ "$(wc -l <<<"$said")" -eq 9 ]
result "a seed makes the same sample of the driver each time, and another makes another"

mutants --list --sample 100
! grep -q comment <<<"$said" && grep -q 'at_most: condition: (a > most) is negated' <<<"$said" &&
	grep -q 'tiny.c:26: take: constant: 3 is 1 more in' <<<"$said"
result "mutants are of code, by file and line"
! grep -q 'take: call: void' <<<"$said"
result "a declaration of a pointer is no call"

mutants --sample 100 --leeway 2
result_of_all=$status
has killed 'at_most: condition: \(a > most\) is negated \[corepmu_tiny: sum\]'
result "a mutant that a suite sees is killed"
has survived 'sum_up: call: at_most\(left, 1\); is left out$' && [ $result_of_all -eq 1 ]
result "a mutant that no suite sees survives, and the status is 1"
has killed 'sum_up: assignment: pair.left = pair.left - 1; is left out \[corepmu_tiny: hangs, for 2 s\]'
result "a mutant that hangs is killed"
has 'not executed' 'unused: comparison: a == 1: == is !=$'
result "a mutant that no suite executes is named so"
has 'not executed' 'unused: comparison: a != 2: != is ==$' &&
	has 'not executed' 'unused: condition: \|\| a != 2 is left out$'
result "two mutants of the same words compile"
has equivalent 'at_most: bound: .* \[a is most\]$'
result "an equivalent mutant has its reason"
has 'no compile' 'start: return: returns before pair.sum = 0;$'
result "a mutant that does not compile is dropped"
has killed 'take: return: returns before pair->sum .= at_most\(pair->left, 3\);'
result "a function with a word between void and its name returns nothing"
judged=$(grep -cE '^(killed|survived|not executed)' <<<"$said")
killed=$(grep -c '^killed' <<<"$said")
grep -q "; $((100 * killed / judged)) % of all but the equivalent are killed" <<<"$said"
result "the last line counts"

echo "$name with a change" >>"$work/tools/testing/equivalent.txt"
printf '\tno reason\n' >>"$work/tools/testing/equivalent.txt"
mutants --list
[ $status -eq 1 ] && grep -q 'equivalent.txt: there is no mutant .* with a change' <<<"$said"
result "a reason for a mutant that is gone is an error"

mutants nosuch.c
[ $status -eq 2 ] && grep -q 'there is no file nosuch.c' <<<"$said"
result "a file that is not there is refused"
finish
