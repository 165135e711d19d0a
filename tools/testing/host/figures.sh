#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# figures: what suites print as "# figure NAME=VALUE" is the same in every guest of one
# lane and architecture, whatever its kernel. Reads the results that scripts/check has collected.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1

arches=$(sed -n 's/^\[\(.*\)\]$/\1/p' scripts/arches.cfg)
logs=build/log/check
kernels=$(sed -n 's/^\[\(.*\)\]$/\1/p' scripts/kernels.cfg)

# Lines "LANE NAME VALUE KERNEL" of all guests.
figures()
{
	local arch kernel file lane

	for arch in $arches; do
		for kernel in $kernels; do
			for file in "$logs"/*-"$arch-$kernel.ktap"; do
				[ -e "$file" ] || continue
				lane=$(basename "$file" "-$kernel.ktap")
				sed -n "s/\r//; s/^# figure \([a-z0-9_]*\)=\([0-9]*\)\$/$lane \1 \2 $kernel/p" \
					"$file"
			done
		done
	done
}

all=$(figures)
echo "KTAP version 1"
if [ -z "$all" ]; then
	echo "1..0 # SKIP no guest has printed a figure"
	exit 0
fi
awk '
{
	key = $1 ": " $2
	if (!(key in value)) {
		order[++n] = key
		value[key] = $3
		first[key] = $4
	} else if (value[key] != $3) {
		differs[key] = differs[key] "# " $4 ": expected " value[key] " as on " \
			first[key] ", got " $3 "\n"
	}
	seen[key]++
}
END {
	print "1.." n
	for (i = 1; i <= n; i++) {
		key = order[i]
		if (key in differs) {
			printf "%s", differs[key]
			print "not ok " i " - " key
			bad = 1
		} else if (seen[key] < 2) {
			print "ok " i " - " key " # SKIP one kernel alone"
		} else {
			print "ok " i " - " key " is " value[key] " on " seen[key] " kernels"
		}
	}
	exit bad
}' <<<"$all"
