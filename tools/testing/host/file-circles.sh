#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# scripts/measure/file-circles: the calls that it finds, and the circles that it prints
. "$(dirname "$0")/../host-test.sh"

# circles OPTION...: sets said to the circles in the directory src, without the path.
circles() { said=$(scripts/measure/file-circles "$@" "$work/src" | sed "s|$work/src/||g"); }
ktap_details() { echo "$said"; }
begin() { rm -rf "$work/src"; mkdir "$work/src"; }
source_file() { cat >"$work/src/$1"; }

plan

begin
source_file a.h <<'EOT'
struct a;
int one(struct a *a);
int two(void);
extern int count;
EOT
source_file one.c <<'EOT'
/* two() is not called here: not in a "string" either */
static int helper(void) { return sizeof("two();"); }
int one(struct a *a) { return helper(); }
EOT
source_file two.c <<'EOT'
static int helper(void) { return one(0); }
int count = 3;
int two(void) { return helper() + count; }
EOT
circles
[ -z "$said" ]
result "declarations, comments, strings and static functions are no calls"

source_file one.c <<'EOT'
int one(struct a *a)
{
	return count;
}
EOT
circles
[ "$said" = "2 files: one.c two.c" ]
result "a use of another file's object is a call, and two files that call each other are a circle"

circles --why
[ "$said" = $'2 files: one.c two.c\n    one.c -> two.c: count\n    two.c -> one.c: one' ]
result "--why prints the names that are called"

source_file three.c <<'EOT'
const struct table three = { .call = four };
void five(void) { one(0); }
EOT
source_file four.c <<'EOT'
void four(void) { six(); }
EOT
source_file six.h <<'EOT'
#define SIX() seven(five)
static inline void six(void)
{
	SIX();
}
EOT
circles
[ "$said" = $'3 files: four.c six.h three.c\n2 files: one.c two.c' ]
result "tables, inline functions of headers and macros call; the largest circle is first"

status=0
scripts/measure/file-circles "$work/nothing" >"$work/out" 2>"$work/err" || status=$?
said=$(cat "$work/out" "$work/err")
[ $status -eq 2 ] && [[ $said == *"nothing is not a directory"* ]]
result "an argument that is not a directory is refused"

said=$(scripts/measure/file-circles --most 3 "$work/src" 2>&1) && [ -z "$said" ]
result "--most prints no circle of that many files, and the status is 0"

status=0
said=$(scripts/measure/file-circles --most 2 "$work/src" 2>&1) || status=$?
said=${said//$work\/src\//}
[ $status -eq 1 ] && [ "$said" = \
	"3 files call each other in a circle, 2 at most may: four.c six.h three.c" ]
result "--most names a circle of more files in one sentence, and the status is 1"

for number in "" 0 x; do
	status=0
	said=$(scripts/measure/file-circles --most "$number" 2>&1) || status=$?
	[ $status -eq 2 ] && [[ $said == *"--most needs a number of files"* ]] || break
done
[ $status -eq 2 ] && [[ $said == *"--most needs a number of files"* ]]
result "--most without a number is refused"

said=$(scripts/measure/file-circles 2>&1) && ! grep -v '^[0-9]* files: \(\(drivers\|include\)/corepmu/[^ ]*\.[ch] *\)*$' <<<"${said:-0 files: }"
result "without an argument the driver's files are examined"

said=$(scripts/measure/file-circles --most 2 2>&1)
result "no more than two files of the driver call each other in a circle"
finish
