#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A checkout in a directory whose name has a space: kbuild and make support none, the project does.
set -uo pipefail
cd "$(dirname "$0")/../../../.." || exit 1
. tools/lib/ktap.sh
. scripts/lib/lib.sh
trap - ERR

scratch_dir "$BUILD"
here="$SCRATCH/a b"
plan

ktap_details() { tail -n 20 "$SCRATCH/said"; }

{
	mkdir "$here"
	# Without git, as from an archive of the sources, everything is copied.
	{ git ls-files -z || find . -path ./build -prune -o -type f -print0; } 2>/dev/null |
		xargs -0 cp --parents -t "$here"
} >"$SCRATCH/said" 2>&1
result "the checkout is copied"

for arch in $(table_rows scripts/tables/arches.cfg); do
	COREPMU_CACHE=$CACHE make -C "$here" run ARCH="$arch" CMD='echo it came up; exit 7' \
		>"$SCRATCH/said" 2>&1
	[ $? -eq 7 ] && grep -q '^it came up' "$SCRATCH/said"
	result "make run ARCH=$arch, with the status of the guest's command"
done

! COREPMU_CACHE="$SCRATCH/c d" make -C "$here" run >"$SCRATCH/said" 2>&1 &&
	grep -q 'set COREPMU_CACHE to a directory without a space' "$SCRATCH/said"
result "a cache in such a directory is refused"

rm -rf "$(readlink "$here/build")"
finish
