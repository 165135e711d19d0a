#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# figures: values that suites print as "# figure NAME=VALUE" are equal in all guests of one lane
# and architecture, whatever the kernel. Reads the results of scripts/check.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
. tools/lib/ktap.sh

arches=$(sed -n 's/^\[\(.*\)\]$/\1/p' scripts/tables/arches.cfg)
logs=build/log/check
kernels=$(sed -n 's/^\[\(.*\)\]$/\1/p' scripts/tables/kernels.cfg)

# figures: print lines "LANE NAME VALUE KERNEL" for all guests
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

# Print lines "NAME<tab>VERDICT<tab>MORE". VERDICT "is": all kernels printed the same value, and
# MORE is "VALUE on N kernels". "alone": one kernel printed the figure. "differs": MORE lists the
# values.
verdicts()
{
	figures | awk -v OFS='\t' '
	{
		key = $1 ": " $2
		if (!(key in value)) {
			order[++n] = key
			value[key] = $3
			first[key] = $4
		} else if (value[key] != $3) {
			differs[key] = differs[key] (key in differs ? "; " : "") $4 ": expected " value[key] " as on " \
				first[key] ", got " $3
		}
		seen[key]++
	}
	END {
		for (i = 1; i <= n; i++) {
			key = order[i]
			if (key in differs)
				print key, "differs", differs[key]
			else if (seen[key] < 2)
				print key, "alone", ""
			else
				print key, "is", value[key] " on " seen[key] " kernels"
		}
	}'
}

ktap_details() { echo "$more"; }

plan
while IFS=$'\t' read -r name verdict more; do
	case $verdict in
	alone) skipped "$name" "one kernel alone" ;;
	is) true; result "$name is $more" ;;
	*) false; result "$name" ;;
	esac
done < <(verdicts)
[ "$ktap_number" -gt 0 ] || skipped "figures of several kernels" "no guest has printed a figure"
finish
