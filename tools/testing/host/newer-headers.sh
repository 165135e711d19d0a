#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Headers of kernels to come: copies of the newest kernel's headers, changed as posted series change
# them. The driver must build with them, or stop at an #error that says why. Debian's headers are
# links here; each test replaces one.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
. tools/lib/ktap.sh
. scripts/lib/lib.sh

work=$(mktemp -d "${TMPDIR:-/tmp}/corepmu-newer.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# prepare ARCH: make $work/ARCH/usr/src a copy of the headers, and $work/ARCH/module the sources
prepare()
{
	local kernel dir

	kernel=$(scripts/fetch/get-kernel "$1" 7.x) || return
	mkdir -p "$work/$1/module" "$work/$1/usr"
	cp -rs "$(readlink -f "$kernel/tree/usr/src")" "$work/$1/usr/"
	ln -s "$kernel/tools/bin" "$work/$1/tools"
	basename "$(readlink "$kernel/build")" >"$work/$1/build"
	for dir in Kbuild drivers include; do
		cp -rs "$PWD/$dir" "$work/$1/module/"
	done
}

# header ARCH NAME: print the path of a header, which becomes a file of its own, writable
header()
{
	local file

	file=$(echo "$work/$1"/usr/src/linux-headers-*-common/"$2")
	if [ -L "$file" ]; then
		cp --remove-destination "$(readlink -f "$file")" "$file.new" && mv "$file.new" "$file"
	fi
	echo "$file"
}

# changed NAME: check that the last edit has changed header NAME
changed()
{
	! cmp -s "$1" "$1.before"
}

# edit ARCH NAME SED-SCRIPT: change a header
edit()
{
	local file

	file=$(header "$1" "$2")
	cp "$file" "$file.before"
	sed -i "$3" "$file"
	expect_true "$2 changed" changed "$file"
}

# restore ARCH: undo all changes
restore()
{
	local file

	find "$work/$1/usr/src" -name '*.before' | while IFS= read -r file; do
		mv "$file" "${file%.before}"
	done
}

# build ARCH OBJECT...: compile objects of the driver
build()
{
	local arch=$1 cross object objects=()

	shift
	for object; do
		rm -f "$work/$arch/module/drivers/corepmu/$object"
		objects+=("drivers/corepmu/$object")
	done
	load_arch "$arch"
	cross=${A[cross]}
	PATH=$work/$arch/tools:$PATH make -s -C "$work/$arch/usr/src/$(cat "$work/$arch/build")" \
		M="$work/$arch/module" ARCH="$arch" CROSS_COMPILE="$cross" KCFLAGS=-g0 "${objects[@]}" \
		>"$work/log" 2>&1
}

# builds ARCH OBJECT...: the objects compile without a warning
builds()
{
	build "$@"
	expect_equal "make's status" 0 $? || cat "$work/log"
	expect_equal "warnings" "" "$(grep -E 'warning:|error:' "$work/log" | grep -v 'pahole version differs')"
}

# stops SENTENCE ARCH OBJECT...: the build ends, and its only error is the #error SENTENCE
stops()
{
	local sentence=$1

	shift
	! build "$@"
	expect_equal "a failed build" 0 $?
	expect_equal "the first error" "$sentence" \
		"$(sed -n 's/.*: error: \(#error \)\?//p' "$work/log" | head -n 1)"
}

# shellcheck disable=SC2329 # all below are called by check
present()
{
	builds x86_64 x86/nmi.o x86/events.o x86/pebs/sample.o
	builds arm64 arm64/kvm.o arm64/counters.o
}

# "x86: Enable NMI-source reporting with FRED" v7, June 2025
# shellcheck disable=SC2329
nmi_source()
{
	edit x86_64 arch/x86/include/asm/nmi.h '
		s/^struct nmiaction {/enum nmi_source_vectors { NMIS_NO_SOURCE, NMIS_VECTOR_PMI = 7 };\n&/
		s/^\tconst char\t\t\*name;/&\n\tu8\t\t\tsource_vector;/
		s/^#define register_nmi_handler(t, fn, fg, n, init\.\.\.)/#define register_nmi_handler(t, fn, fg, n, src, init...)/
		s/^\t\t\.flags = (fg),\t*/\t\t.flags = (fg), .source_vector = (src),\t/'
	builds x86_64 x86/nmi.o
	# The call site names the source: 7 is in the object's data, and in the value of LVTPC.
	expect_true "the source of PMIs" sources
}

# shellcheck disable=SC2016,SC2329 # objdump prints a dollar sign
sources()
{
	"${A[cross]}objdump" -dr "$work/x86_64/module/drivers/corepmu/x86/nmi.o" | grep '\$0x407,' >/dev/null
}

# shellcheck disable=SC2329
unknown_source()
{
	edit x86_64 arch/x86/include/asm/nmi.h 's/^\tconst char\t\t\*name;/&\n\tu8\t\t\tsource_vector;/'
	stops '"asm/nmi.h has NMI sources, but no NMIS_VECTOR_PMI: this kernel is newer than corepmu"' \
		x86_64 x86/nmi.o
}

# "Support SIMD/eGPRs/SSP registers sampling for perf" v8, May 2026
# shellcheck disable=SC2329
simd()
{
	edit x86_64 arch/x86/include/asm/perf_event.h '
		s/^\tu64\t\t\*xmm_regs;/\tu64 abi;\n\tunion {\n\t\tu64 *xmm_regs;\n\t\tu32 *xmm_space;\n\t};\n\tu64 *ymmh_regs;\n\tu64 *egpr_regs;\n\tu64 *cet_regs;/'
	edit x86_64 include/uapi/linux/perf_event.h '
		s/^\t__u64[ \t]*config4;.*/&\n\tunion {\n\t\t__u16 sample_simd_regs_enabled;\n\t\t__u16 sample_simd_pred_reg_qwords;\n\t};\n\t__u16 sample_simd_vec_reg_qwords;\n\t__u32 sample_simd_pred_reg_intr;\n\t__u64 sample_simd_vec_reg_intr;/'
	builds x86_64 x86/events.o x86/pebs/sample.o
	expect_says "the refusal of these registers" 'sample_simd_vec_reg_qwords' \
		"$(strings -a "$work/x86_64/module/drivers/corepmu/x86/events.o")"
}

# shellcheck disable=SC2329
unknown_registers()
{
	edit x86_64 arch/x86/include/asm/perf_event.h 's/^\tu64\t\t\*xmm_regs;/\tu64 *vector_regs;/'
	stops '"struct x86_perf_regs has no xmm_regs: this kernel is newer than corepmu"' \
		x86_64 x86/pebs/sample.o
}

# "ARM64 PMU Partitioning" v7, May 2026: KVM partitions a struct arm_pmu, and the driver has none.
# shellcheck disable=SC2329
partition()
{
	edit arm64 include/linux/perf/arm_pmu.h 's/^struct arm_pmu {/&\n\tint max_guest_counters;/'
	edit arm64 include/linux/perf_event.h '
		s/^extern void perf_pmu_resched.*/&\nextern void perf_pmu_resched_update(struct pmu *pmu, void (*update)(struct pmu *, void *), void *data);/'
	builds arm64 arm64/kvm.o arm64/counters.o
	expect_equal "driver files that have a struct arm_pmu" "" \
		"$(grep -rlE --include='*.[ch]' 'struct arm_pmu\>|arm_pmu\.h' drivers include)"
}

plan 6
for arch in x86_64 arm64; do
	prepare "$arch" || exit
done
check "7.x as it is: the objects of all tests build" present
check "NMI sources: PMIs name theirs" nmi_source
restore x86_64
check "NMI sources of other names: the build says so" unknown_source
restore x86_64
check "SIMD registers: samples without them, and events that ask are refused" simd
restore x86_64
check "struct x86_perf_regs without XMM registers: the build says so" unknown_registers
restore x86_64
check "partitions of arm64's counters: KVM has no PMU to partition" partition
finish
