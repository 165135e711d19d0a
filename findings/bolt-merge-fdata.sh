#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# merge-fdata of BOLT 15.0.6 (Debian 12: bolt-15 1:15.0.6-4+b1) loses counts when it merges branch profiles that
# perf2bolt made of perf's branch records. There is no message, and both profiles are valid:
#
# - fdata: if both profiles have the same number of mispredictions of a branch, the merged profile has that
#   number once. 7 of 100 and 7 of 50 become 7 of 150, not 14 of 150. Other numbers are added. A profile that is
#   merged with itself has half of its misprediction rate.
# - YAML: an indirect call has one entry for each target. The merged profile adds the counts of one target: the
#   first one in the second profile. The other targets keep the counts of the first profile: 20 and 40 calls
#   are 20 calls. Other targets that only the second profile has are lost: none and 50 calls are no call.
#
# Cause: merge-fdata's key of a branch is the line of fdata without its last number, so the key contains the
# mispredictions. mergeBasicBlockProfile() of merge-fdata.cpp keeps the calls of the second profile in a map
# whose key is the call's offset, and all targets of an indirect call have the same offset.
#
# The script builds a program, and gives perf2bolt two files of aggregated branch records ("B from to count
# mispredictions"). What is right is perf2bolt's profile of both files at once. It needs cc, objdump, nm and
# Debian 12's archive; no PMU is needed.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in apt-get awk cc dpkg nm objdump; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download bolt-15=1:15.0.6-4+b1 libz3-4 libtinfo6 libstdc++6 libgcc-s1 zlib1g) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done
bolt=root/usr/lib/llvm-15/bin
export LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu"

cat >program.s <<'END'
	.text
	.globl one, two, three, loop, main
	.type one, @function
one:	lea 1(%rdi), %eax
	ret
	.size one, . - one
	.type two, @function
two:	lea 2(%rdi), %eax
	ret
	.size two, . - two
	.type three, @function
three:	lea 3(%rdi), %eax
	ret
	.size three, . - three
	.type loop, @function
loop:	push %rbx
	mov $9, %ebx
1:	mov table(,%rbx,8), %rax
	call *%rax
	dec %ebx
	jne 1b
	pop %rbx
	ret
	.size loop, . - loop
	.type main, @function
main:	sub $8, %rsp
	call loop
	add $8, %rsp
	xor %eax, %eax
	ret
	.size main, . - main
	.data
table:	.quad one, two, three, one, two, three, one, two, three, one
	.section .note.GNU-stack, "", @progbits
END
cc -no-pie -Wl,-q -o program program.s 2>cc.log ||
	{ tail -n 1 cc.log; echo 'SKIP: the program does not build'; exit 77; }

# address PATTERN: print the address of the instruction that matches PATTERN in loop().
address() {
	objdump -d --no-show-raw-insn --disassemble=loop program | awk -v pattern="$1" '
		$0 ~ pattern { sub(":", "", $1); print $1; exit }'
}
# symbol NAME: print the address of NAME.
symbol() {
	nm program | awk -v name="$1" '$3 == name { print $1 }'
}
call=$(address 'call .*[*]')
jump=$(address 'jne ')
start=$(address 'mov .*rax$')
for run in 1 2; do
	# "COUNT MISPREDICTIONS" of the calls of one() and two(), the loop's branch, and calls of three()
	case $run in
	1) set -- '10 1' '20 2' '100 7' ;;
	2) set -- '30 4' '40 2' '50 7' '50 5' ;;
	esac
	{
		echo "B $call $(symbol one) $1"
		echo "B $call $(symbol two) $2"
		echo "B $jump $start $3"
		[ $# = 3 ] || echo "B $call $(symbol three) $4"
	} >"$run.records"
done
cat 1.records 2.records >both.records

# profile NAME: let perf2bolt write NAME.fdata and NAME.yaml of NAME.records.
profile() {
	"$bolt/perf2bolt" -p "$1.records" -pa -o "$1.fdata" -w "$1.yaml" program >perf2bolt.log 2>&1
	[ -s "$1.fdata" ] && [ -s "$1.yaml" ]
}
for name in 1 2 both; do
	profile "$name" || { tail -n 2 perf2bolt.log; echo 'SKIP: perf2bolt does not run here'; exit 77; }
done
# show NAME: print the branches of loop() in the profile NAME. BOLT adds lines of fdata for the same branch.
show() {
	case $1 in
	*.fdata) awk '$2 == "loop" { print $5, $8, $7 }' "$1" ;;
	*.yaml) tr -s '\n ' ' ' <"$1" | awk '
		function number(n) { split(substr($0, RSTART, RLENGTH), field, /[ ,]+/); return field[n] }
		{
			text = $0
			while (match($0, /name: [a-z]+ fid: [0-9]+/)) {
				name[number(4)] = number(2)
				$0 = substr($0, RSTART + RLENGTH)
			}
			$0 = text
			sub(/.*- name: loop /, "")
			while (match($0, /[fb]id: [0-9]+, cnt: [0-9]+, mis: [0-9]+/)) {
				print (substr($0, RSTART, 1) == "f" ? name[number(2)] : "loop"), number(4), number(6)
				$0 = substr($0, RSTART + RLENGTH)
			}
		}' ;;
	esac | awk -v profile="$1" '
		{ n[$1] += $2; missed[$1] += $3 }
		END {
			last = split("one two three loop", branch, " ")
			for (i = 1; i <= last; i++)
				out = out "  " branch[i] " " n[branch[i]] + 0 "/" missed[branch[i]] + 0
			print profile ":" out
		}'
}
"$bolt/merge-fdata" 1.fdata 2.fdata >merged.fdata 2>merge.log
"$bolt/merge-fdata" 1.yaml 2.yaml >merged.yaml 2>>merge.log
{
	for name in 1 2 both merged; do
		show "$name.fdata"
		show "$name.yaml"
	done
	grep -iE 'warn|error' merge.log || true
} >seen
echo "# BOLT 15.0.6: count/mispredictions of each target, and of the jump in loop()"
cat seen
cat >expected <<'END'
1.fdata:  one 10/1  two 20/2  three 0/0  loop 100/7
1.yaml:  one 10/1  two 20/2  three 0/0  loop 100/7
2.fdata:  one 30/4  two 40/2  three 50/5  loop 50/7
2.yaml:  one 30/4  two 40/2  three 50/5  loop 50/7
both.fdata:  one 40/5  two 60/4  three 50/5  loop 150/14
both.yaml:  one 40/5  two 60/4  three 50/5  loop 150/14
merged.fdata:  one 40/5  two 60/2  three 50/5  loop 150/7
merged.yaml:  one 40/5  two 20/2  three 0/0  loop 150/14
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
