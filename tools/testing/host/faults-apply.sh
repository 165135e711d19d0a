#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The faults that tests have been seen to catch, faults.cfg of tools/testing and kunit and
# kernel-faults.cfg of tools/validate: each has to apply to the sources as they are, or nobody can see it caught again.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
. tools/lib/ktap.sh


ktap_details() { echo "$said"; }

# apply WHAT COMMAND...: its --diff fails when a fault changes nothing.
apply()
{
	local what=$1

	shift
	said=$("$@" --diff 2>&1 >/dev/null)
	result "$what"
}

plan
for arch in $(. scripts/lib/lib.sh && table_rows scripts/arches.cfg); do
	apply "faults for the guests of $arch" scripts/faults --arch "$arch"
done
apply "faults for KUnit" scripts/kunit-faults
# Those of the kernel's own drivers: where the kernel's sources have been fetched.
tree=$(. scripts/lib/lib.sh && echo "$CACHE/kunit/$(default_kernel)/tree/Kbuild")
for arch in $(. scripts/lib/lib.sh && table_rows scripts/arches.cfg); do
	what="faults of the kernel's own driver, $arch"
	if [ -e "$tree" ]; then
		apply "$what" scripts/validate-faults --arch "$arch"
	else
		skipped "$what" "scripts/fetch/get-linux-source has not been run"
	fi
done
finish
