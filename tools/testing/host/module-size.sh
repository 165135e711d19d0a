#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# scripts/measure/module-size prints sizes, even for a module without debugging information.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
. tools/lib/ktap.sh

plan
arch=${COREPMU_ARCH:-arm64}
said=$(scripts/measure/module-size --arch "$arch" 2>&1)
ktap_details() { echo "$said"; }

grep -qE '^corepmu.ko: [1-9][0-9]{4,} bytes of text and constants, [1-9][0-9]+ of data' <<<"$said"
result "the module's size is printed ($arch)"
grep -qE '^text that stays in memory: [1-9][0-9]{4,} bytes$' <<<"$said"
result "the text that stays in memory is printed ($arch)"
grep -qE '^bytes per CPU: [1-9][0-9]{2,}, [1-9][0-9]* more in .data..percpu, [1-9][0-9]{2,} more with' <<<"$said"
result "bytes per CPU are printed ($arch)"

# The built-in driver's text ends where the next function begins; its __init functions are far away.
prefix=armpmu
[ "$arch" = arm64 ] || prefix=x86_pmu
symbols=$(mktemp)
trap 'rm -f "$symbols"' EXIT
{
	echo "ffff000000000f00 t before"
	echo "ffff000000001400 t ${prefix}_last"
	echo "ffff000000001000 T ${prefix}_first"
	echo "ffff000000001a00 t after"
	seq -f 'ffff00000001%04g t other' 2000
	echo "ffff000000080000 t ${prefix}_init"
} >"$symbols"
said=$(scripts/measure/module-size --arch "$arch" --symbols "$symbols" 2>&1)
grep -qx 'text of the built-in driver: 2560 bytes' <<<"$said"
result "the built-in driver's text is printed ($arch)"

said=$(scripts/measure/module-size --arch riscv64 2>&1) && said="status 0: $said"
[[ $said == *"ARCH=riscv64 has no corepmu"* ]]
result "an architecture without the module is refused"
finish
