#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# scripts/measure/file-sizes: the files and folders that it finds too large
. "$(dirname "$0")/../host-test.sh"

ktap_details() { echo "$said"; }
# sizes: sets said and status for the tree in $work.
sizes() { status=0; said=$(scripts/measure/file-sizes "$work" 2>&1) || status=$?; }
# lines FILE N: make a file with N lines.
lines() { yes | head -n "$2" >"$work/$1"; }

plan

mkdir -p "$work/full/below"
lines one.c 600
lines two.h 250
for number in {1..15}; do
	lines "full/$number.txt" 1000
	lines "full/below/$number.txt" 1
done
sizes
[ $status -eq 0 ] && [ -z "$said" ]
result "600 lines of C, 250 of a header and 15 files in a folder pass"

lines one.c 601
lines two.h 251
lines full/16.txt 1
sizes
[ $status -eq 1 ] && [ "$said" = "full: 16 files; at most 15 are one subject
one.c: 601 lines; at most 600 are one subject
two.h: 251 lines; at most 250 are one subject" ]
result "a larger file and a larger folder are found"

status=0
said=$(scripts/measure/file-sizes "$work/nothing" 2>&1) || status=$?
[ $status -eq 2 ] && [ "$(wc -l <<<"$said")" -eq 1 ] && grep -q 'nothing is not a directory' <<<"$said"
result "a directory that is not there is refused in one line"

finish
