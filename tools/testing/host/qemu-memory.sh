#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test the memory callbacks of the guests' QEMUs on known loads and stores.
set -euo pipefail
cd "$(dirname "$0")/../../.."

arm64=$(scripts/fetch/get-qemu arm64)
x86=$(scripts/fetch/get-qemu x86_64)
make -s -C tools/qemu all >&2
cd tools/qemu
QEMU_SYSTEM_AARCH64=$arm64 QEMU_SYSTEM_X86_64=$x86 sh tests/memory-callbacks.sh
