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
grep -qE '^bytes per CPU: [1-9][0-9]{2,}, [1-9][0-9]* more in .data..percpu, [1-9][0-9]{2,} more with' <<<"$said"
result "bytes per CPU are printed ($arch)"

said=$(scripts/measure/module-size --arch riscv64 2>&1) && said="status 0: $said"
[[ $said == *"ARCH=riscv64 has no corepmu"* ]]
result "an architecture without the module is refused"
finish
