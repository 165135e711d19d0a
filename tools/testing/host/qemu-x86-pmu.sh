#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tests of the virtual x86 PMU, with the QEMU that guests run in.
set -euo pipefail
cd "$(dirname "$0")/../../.."

qemu=$(scripts/fetch/get-qemu x86_64)
make -s -C tools/qemu all x86-tests >&2
cd tools/qemu
QEMU_SYSTEM_X86_64=$qemu sh tests/x86-pmu.sh
