#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The faults that tests have been seen to catch, faults.cfg of tools/testing and kunit: each
# has to apply to the sources as they are, or nobody can see it caught again.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1

count=0
failures=0

# apply WHAT COMMAND...: its --diff fails when a fault changes nothing.
apply()
{
	local what=$1 said

	shift
	count=$((count + 1))
	if said=$("$@" --diff 2>&1 >/dev/null); then
		echo "ok $count - $what"
	else
		echo "# ${said//$'\n'/$'\n'# }"
		echo "not ok $count - $what"
		failures=$((failures + 1))
	fi
}

echo "KTAP version 1"
for arch in $(. scripts/lib/lib.sh && table_rows scripts/arches.cfg); do
	apply "faults for the guests of $arch" scripts/faults --arch "$arch"
done
apply "faults for KUnit" scripts/kunit-faults
echo "1..$count"
[ $failures -eq 0 ]
