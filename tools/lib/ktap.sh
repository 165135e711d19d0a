# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# ktap.sh - KTAP for shell scripts, in guests and on the host; sourced, never run
#
# A script calls plan, then check or result for each test, and finish at the end.

ktap_number=0
ktap_failures=0
ktap_planned=
# A file with one line per expectation of the running check, which is a subshell
ktap_expected=${TMPDIR:-/tmp}/ktap-expected.$$

# plan [TESTS]: print the plan; without a number, finish prints it.
plan()
{
	ktap_planned=${1:-}
	echo "KTAP version 1"
	[ -z "$ktap_planned" ] || echo "1..$ktap_planned"
}

# resume TESTS DONE: continue the plan of a script that has run DONE tests before
resume()
{
	ktap_planned=$1
	ktap_number=$2
}

# ktap_details: a script may define this to print details of a failed test
ktap_details() { :; }

# check DESCRIPTION FUNCTION [ARGUMENT...]: run a function as a test, in a subshell. The test
# passes if the function returns 0 and expected something. It is skipped if the function calls
# skip. If it fails, the function's output is printed.
check()
{
	ktap_what=$1
	shift
	ktap_number=$((ktap_number + 1))
	: >"$ktap_expected"
	ktap_said=$("$@" 2>&1)
	ktap_status=$?
	if [ "$ktap_status" -eq 0 ] && [ ! -s "$ktap_expected" ]; then
		ktap_said="expected an expectation at least, the test had none"
		ktap_status=1
	fi
	case $ktap_status in
	0) echo "ok $ktap_number - $ktap_what" ;;
	44) echo "ok $ktap_number - $ktap_what # SKIP $(echo "$ktap_said" | tail -n 1)" ;;
	*)
		echo "$ktap_said" | tail -n 40 | sed 's/^/# /'
		echo "not ok $ktap_number - $ktap_what"
		ktap_failures=$((ktap_failures + 1))
		;;
	esac
}

# skip REASON: end the running check as skipped
skip()
{
	echo "$*"
	exit 44
}

# result DESCRIPTION: the test passes if the last command succeeded. Returns its status.
result()
{
	ktap_status=$?
	ktap_number=$((ktap_number + 1))
	if [ "$ktap_status" -eq 0 ]; then
		echo "ok $ktap_number - $1"
	else
		ktap_details | sed 's/^/# /'
		echo "not ok $ktap_number - $1"
		ktap_failures=$((ktap_failures + 1))
	fi
	return "$ktap_status"
}

# skipped DESCRIPTION REASON: report a test that was not run
skipped()
{
	ktap_number=$((ktap_number + 1))
	echo "ok $ktap_number - $1 # SKIP $2"
}

# End the script: with 0 if all planned tests ran, at least one, and none failed.
finish()
{
	rm -f "$ktap_expected"
	if [ -z "$ktap_planned" ]; then
		ktap_planned=$ktap_number
		echo "1..$ktap_planned"
	fi
	[ "$ktap_number" -gt 0 ] && [ "$ktap_number" -eq "$ktap_planned" ] &&
		[ "$ktap_failures" -eq 0 ]
	exit
}

# expect_true WHAT COMMAND...: expect the command, run in a subshell, to succeed
expect_true()
{
	echo "$1" >>"$ktap_expected"
	ktap_wanted=$1
	shift
	ktap_output=$("$@" 2>&1) && return 0
	echo "expected $ktap_wanted, got status $? of $*:"
	echo "$ktap_output"
	return 1
}

# expect_equal WHAT WANTED GOT: expect two equal texts
expect_equal()
{
	echo "$1" >>"$ktap_expected"
	[ "$2" = "$3" ] && return 0
	echo "$1: expected '$2', got '$3'"
	return 1
}

# expect_range WHAT LOWEST HIGHEST GOT: expect a number in a range
expect_range()
{
	echo "$1" >>"$ktap_expected"
	case $4 in
	'' | - | *[!0-9-]* | ?*-*) ;;
	*) [ "$4" -ge "$2" ] && [ "$4" -le "$3" ] && return 0 ;;
	esac
	echo "$1: expected $2..$3, got '$4'"
	return 1
}

# matches REGEX TEXT: check whether a line of the text matches. A pipe would not do: with pipefail its
# status is that of echo, which SIGPIPE ends if grep has found the line before echo has written all.
matches()
{
	grep -qE -- "$1" <<EOT
$2
EOT
}

# expect_says WHAT REGEX TEXT: expect a line of the text to match
expect_says()
{
	echo "$1" >>"$ktap_expected"
	matches "$2" "$3" && return 0
	echo "$1: expected '$2', got:"
	echo "$3"
	return 1
}

# expect_not WHAT REGEX TEXT: expect no line of the text to match
expect_not()
{
	echo "$1" >>"$ktap_expected"
	matches "$2" "$3" || return 0
	echo "$1: expected anything but '$2', got:"
	echo "$3" | grep -E -- "$2"
	return 1
}
