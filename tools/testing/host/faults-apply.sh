#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The faults for which tests were seen to fail: faults.cfg of tools/testing and kunit, and
# kernel-faults.cfg of tools/validate. Each must apply to the present sources. tests.map must name
# present files and tests.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
. tools/lib/ktap.sh


ktap_details() { echo "$said"; }

# apply WHAT COMMAND...: run COMMAND with --diff, which fails if a fault changes
# nothing; WHAT names the test
apply()
{
	local what=$1

	shift
	said=$("$@" --diff 2>&1 >/dev/null)
	result "$what"
}

plan
for arch in $(. scripts/lib/lib.sh && table_rows scripts/tables/arches.cfg); do
	apply "faults for the guests of $arch" scripts/testing/faults --arch "$arch"
done
apply "faults for KUnit" scripts/testing/kunit-faults
said=$(scripts/generate/tests-map --check 2>&1)
result "tests.map names the tests of the faults, and files that are there"
# Faults of the built-in drivers, if the kernel's sources have been fetched
tree=$(. scripts/lib/lib.sh && echo "$CACHE/kunit/$(default_kernel)/tree/Kbuild")
for arch in $(. scripts/lib/lib.sh && table_rows scripts/tables/arches.cfg); do
	what="faults of the kernel's own driver, $arch"
	if [ -e "$tree" ]; then
		apply "$what" scripts/testing/validate-faults --arch "$arch"
	else
		skipped "$what" "scripts/fetch/get-linux-source has not been run"
	fi
done
finish
