# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # $plugin and $top are the script's
#
# What the tests of the plugins share: KTAP output, runs of QEMU with a time limit, and
# functions that compare messages and numbers. A script that sources this file has set
# $top, the directory of the Makefile, and $plugin, the file under test.

name=$(basename "$plugin" .so)

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

number=0
failed=0

ok() {
	number=$((number + 1))
	echo "ok $number $1"
}

not_ok() {
	number=$((number + 1))
	failed=1
	echo "not ok $number $1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/# /'
}

skip() {
	number=$((number + 1))
	echo "ok $number $1 # SKIP $2"
}

# begin <number of tests>: build the plugins, and print the first lines of the KTAP
begin() {
	tests=$1
	make -s -C "$top" all > "$tmp/make" 2>&1 || {
		cat "$tmp/make" >&2
		exit 1
	}
	echo "KTAP version 1"
	echo "1..$tests"
}

# build_tests <architecture>: build the programs that the tests run. If that fails,
# $reason says why.
build_tests() {
	reason=
	if ! make -s -C "$top" "$1-tests" > "$tmp/make" 2>&1; then
		reason="the programs of the tests do not build here"
	fi
}

# model_test <program> <description>: run a program that needs no QEMU as one test
model_test() {
	model=$top/build/tests/$1
	what=$2
	if [ ! -x "$model" ]; then
		skip "$what" "$reason"
	elif "$model" > "$tmp/model"; then
		ok "$what"
	else
		not_ok "$what" "$(grep -A 1 '^not ok' "$tmp/model")"
	fi
}

# needs_qemu <qemu> <what it is called>: without the QEMU, skip all remaining tests
needs_qemu() {
	if [ -z "$1" ]; then
		while [ $number -lt "$tests" ]; do
			skip "$name" "no $2"
		done
		exit $failed
	fi
	echo "# $("$1" --version | head -n 1)"
}

# run <output> <qemu> <arguments>: run QEMU without a display, for at most a minute
run() {
	out=$1
	shift
	timeout 60 "$@" -nodefaults -display none > "$out" 2>&1 < /dev/null
}

# run_with_monitor <output> <file> <commands> <qemu> <arguments>: run QEMU for at most two minutes.
# When the guest has written "ready" to the file, send the commands, one a line, to QEMU's monitor
run_with_monitor() {
	out=$1
	ready=$2
	commands=$3
	shift 3
	rm -f "$tmp/monitor" "$ready"
	mkfifo "$tmp/monitor"
	timeout 120 "$@" -nodefaults -display none -monitor stdio > "$out" 2>&1 < "$tmp/monitor" &
	pid=$!
	exec 9<> "$tmp/monitor"
	while kill -0 $pid 2> /dev/null && ! grep -q "^ready " "$ready" 2> /dev/null; do
		sleep 0.1
	done
	printf '%s\n' "$commands" >&9
	wait $pid
	status=$?
	exec 9>&-
	return $status
}

# unknown_test <function> <arguments>: check the output of a guest that the function runs with
# verbose=on, and that selects event 0x3e
unknown_test() {
	what="verbose=on prints an event that is not counted"
	if [ -n "$reason" ]; then
		skip "$what" "$reason"
		return
	fi
	"$@"
	if grep -q "^$name: CPU 0: event 0x3e is not counted by this model" "$tmp/out"; then
		ok "$what"
	else
		not_ok "$what" "$(grep "^$name:" "$tmp/out")"
	fi
}

# make_disk <file>: make an empty qcow2 disk of 1 GiB, which can hold snapshots. It has four clusters of
# 64 KiB: the header, the refcount table, a block of refcounts, and the L1 table
make_disk() {
	rm -f "$1"
	truncate -s 262144 "$1"
	{
		printf 'QFI\373\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\020\0\0\0\0\100\0\0\0'
		printf '\0\0\0\0\0\0\0\2\0\0\0\0\0\3\0\0\0\0\0\0\0\1\0\0\0\0\0\1'
	} | dd of="$1" conv=notrunc 2> /dev/null
	printf '\0\0\0\0\0\2\0\0' | dd of="$1" conv=notrunc bs=65536 seek=1 2> /dev/null
	printf '\0\1\0\1\0\1\0\1' | dd of="$1" conv=notrunc bs=65536 seek=2 2> /dev/null
}

# snapshot_tests <status> <options> <qemu> <arguments>: check that savevm is refused, and that QEMU
# survives loadvm of a snapshot that was taken without the plugin. The machine then has the status.
# The options are the plugin's; the arguments run a guest that writes "ready" to $tmp/values.
snapshot_tests() {
	after=$1
	options=$2
	shift 2
	what="QEMU refuses savevm"
	what_loaded="QEMU survives loadvm of a snapshot that was taken without the plugin"
	if [ -n "$reason" ]; then
		skip "$what" "$reason"
		skip "$what_loaded" "$reason"
		return
	fi
	set -- "$@" -drive "if=none,format=qcow2,file=$tmp/disk"
	make_disk "$tmp/disk"
	run_with_monitor "$tmp/out" "$tmp/values" "savevm one
quit" "$@" -plugin "$plugin$options"
	if grep -aq "^Error: $name: the PMU's state cannot be saved" "$tmp/out"; then
		ok "$what"
	else
		not_ok "$what" "$(tail -n 3 "$tmp/out")"
	fi
	run_with_monitor "$tmp/out" "$tmp/values" "savevm one
quit" "$@"
	run_with_monitor "$tmp/out" "$tmp/values" "loadvm one
info status
quit" "$@" -plugin "$plugin$options"
	status=$?
	if [ $status -eq 0 ] && grep -aq "^VM status: $after" "$tmp/out"; then
		ok "$what_loaded"
	else
		not_ok "$what_loaded" "exit status $status" "$(tail -n 3 "$tmp/out")"
	fi
}

# refuses <description> <sentence> <qemu> <arguments>
refuses() {
	what=$1
	sentence=$2
	shift 2
	run "$tmp/out" "$@"
	status=$?
	said=$(grep -c "^$name: " "$tmp/out")

	if [ $status -ne 1 ]; then
		not_ok "$what" "exit status $status" "$(head -n 1 "$tmp/out")"
	elif [ "$said" -ne 1 ] || ! grep -q -e "^$name: .*$sentence" "$tmp/out"; then
		not_ok "$what" "expected one sentence, with '$sentence'" "$(head -n 1 "$tmp/out")"
	else
		ok "$what"
	fi
}

# refuses_programs <target> <qemu>: the plugin refuses this emulator of single programs
refuses_programs() {
	what="refuses an emulator of single programs"
	if [ -z "$2" ]; then
		skip "$what" "no qemu-$1"
		return
	fi
	timeout 10 "$2" -plugin "$plugin" /bin/true > "$tmp/out" 2>&1
	if grep -q "^$name: needs qemu-system-$1" "$tmp/out"; then
		ok "$what"
	else
		not_ok "$what" "$(head -n 1 "$tmp/out")"
	fi
}

# refuses_target <target> <other target> <its qemu> <arguments>: the plugin is for the first target
refuses_target() {
	what="refuses another target"
	sentence="needs qemu-system-$1, this QEMU emulates $2"
	if [ -z "$3" ]; then
		skip "$what" "no qemu-system-$2"
		return
	fi
	shift 2
	refuses "$what" "$sentence" "$@" -plugin "$plugin"
}

# refuses_twice <sentence> <qemu> <arguments>: load the plugin and a copy of it
refuses_twice() {
	sentence=$1
	shift
	cp "$plugin" "$tmp/again.so"
	refuses "refuses to be loaded twice" "$sentence" "$@" -plugin "$plugin" -plugin "$tmp/again.so"
}

# refuses_machines <qemu> <machine> <arguments>: machines that no PMU plugin supports
refuses_machines() {
	emulator=$1
	machine=$2
	shift 2
	set -- "$@" -plugin "$plugin"
	refuses "refuses several CPUs in one thread" "use -smp 1 or -accel tcg,thread=multi" \
		"$emulator" -M "$machine" -smp 2 -accel tcg,thread=single "$@"
	refuses "refuses several CPUs under icount" "use -smp 1 or -accel tcg,thread=multi" \
		"$emulator" -M "$machine" -smp 2 -icount shift=0 "$@"
	refuses "refuses -only-migratable" "cannot be saved: run QEMU without -only-migratable" \
		"$emulator" -M "$machine" -only-migratable "$@"
}

# compare <value> <op> <value>: op is =, -ge or -le
compare() {
	test "$1" "$2" "$3"
}

# judge <description> <file> <lines>: each line is "what <op> value"
judge() {
	what=$1
	file=$2
	old_ifs=$IFS
	IFS='
'
	# shellcheck disable=SC2086 # a line each
	set -- $3
	IFS=$old_ifs
	for expectation; do
		# shellcheck disable=SC2086 # three words
		set -- $expectation
		value=$(sed -n "s/^$1 //p" "$file" 2> /dev/null)
		if [ -z "$value" ]; then
			not_ok "$what" "nothing is said of $1" "$(grep -v TCG "$tmp/out" | head -n 1)"
			return
		elif ! compare "$value" "$2" "$3"; then
			not_ok "$what" "$1 is $value, expected $2 $3"
			return
		fi
	done
	ok "$what"
}

# guest_test <description> <file> <lines> <cpu> <plugin options> <arguments>: judge a file that the
# script's function bare_metal writes into $tmp
guest_test() {
	what=$1
	file=$2
	lines=$3
	shift 3
	if [ -n "$reason" ]; then
		skip "$what" "$reason"
	else
		bare_metal "$@"
		judge "$what" "$tmp/$file" "$lines"
	fi
}
