#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tests of the QEMU plugin for arm64, with the QEMU that guests run in.
set -euo pipefail
cd "$(dirname "$0")/../../.."

qemu=$(scripts/fetch/get-qemu arm64)
make -s -C tools/qemu all guests >&2
cd tools/qemu
QEMU_SYSTEM_AARCH64=$qemu sh tests/arm64-pmu-repair.sh
