#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# soak: three minutes of scripts/soak for each architecture on each of four kernels: one with
# memory checks, Debian's, one with race detection, and one with PREEMPT_RT that checks locks.
# Debian's kernel does ten times the work in that time. Then the suite storm runs on the first
# kernel, which enters and leaves interrupts slowly. The suite userread and the validator's areas
# page and ring run on the last kernel.
#
# COREPMU_ARCHES and COREPMU_KERNEL select some of all.
set -uo pipefail
cd "$(dirname "$0")/../../../.." || exit 1
. tools/lib/ktap.sh
. scripts/lib/lib.sh
trap - ERR

read -ra arches <<<"${COREPMU_ARCHES:-arm64 x86_64}"
kernel=${COREPMU_KERNEL:-$(default_kernel)}
scratch_dir "$BUILD"
plan

ktap_details() { tail -n 60 "$SCRATCH/said"; }

for arch in "${arches[@]}"; do
	for which in "" --stock --kcsan --rt; do
		case $which in
		"") on= ;;
		--stock) on=" on Debian's kernel" ;;
		--kcsan) on=" on one that looks for races" ;;
		--rt) on=" on one with PREEMPT_RT" ;;
		esac
		scripts/soak --arch "$arch" --kernel "$kernel" --minutes 3 ${which:+$which} >"$SCRATCH/said" 2>&1
		result "nothing is found in three minutes on $arch, Linux $kernel$on"
		# Amount of each kind of work
		grep -E '^# (fuzz|beside|tasks|module|parameters|kernel): ' "$SCRATCH/said"
	done
	scripts/run-guest --kerneldir "$(scripts/build/soak-kernel "$arch" "$kernel")" --lane exact --timeout 900 \
		-- 'run-suites storm' >"$SCRATCH/said" 2>&1
	result "storms leave time to tasks on a kernel that checks itself, $arch, Linux $kernel"
	scripts/run-guest --kerneldir "$(scripts/build/soak-kernel --rt "$arch" "$kernel")" --lane exact --timeout 900 \
		--append corepmu_test.validate=page,ring -- 'run-suites validate userread' >"$SCRATCH/said" 2>&1
	result "mmap pages and rings are right on a kernel with PREEMPT_RT, $arch, Linux $kernel"
done
finish
