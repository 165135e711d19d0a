#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# kernels: messages about kernels that the module cannot be built for or loaded into. The kernels
# are copies of a headers package with another configuration or version; the modules are built for
# another kernel or changed.
set -uo pipefail
cd "$(dirname "$0")/../../../.." || exit 1
. tools/lib/ktap.sh
. scripts/lib/lib.sh
trap - ERR

arch=${COREPMU_ARCH:-arm64}
kernel=$(default_kernel)
load_arch "$arch"
work=$(mktemp -d "${TMPDIR:-/tmp}/corepmu-kernels.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cached=$(scripts/fetch/get-kernel "$arch" "$kernel") || exit 1
cp -a "$cached/tree" "$work/tree" || exit 1
tree=$(echo "$work"/tree/usr/src/linux-headers-*-"${A[flavour]}")
cp -al "$tree" "$tree.orig"

ktap_details() { tail -n 30 "$work/said"; }

# with COMMAND: build for a fresh copy of the tree that the command has changed, with the compiler
# that it names. The copies share their files, so the command must write new ones. --again keeps
# the previous build's objects.
with()
{
	if [ "$1" = --again ]; then
		find "$work/out" -name '*.ko' -delete
		shift
	else
		rm -rf "$work/out"
	fi
	rm -rf "$tree"
	cp -al "$tree.orig" "$tree"
	(cd "$tree" && eval "$1")
	status=0
	PATH=$cached/tools/bin:$PATH COREPMU_QUIET=1 KCFLAGS=-g0 scripts/build/build-module --kerneldir "$tree" --out "$work/out" \
		>"$work/stdout" 2>"$work/said" || status=$?
}

# refused REGEX: expect one sentence that matches REGEX, and no module
refused()
{
	[ $status -ne 0 ] && [ ! -s "$work/stdout" ] && [ "$(wc -l <"$work/said")" -eq 1 ] &&
		[ -z "$(find "$work/out" -name 'corepmu.ko' 2>/dev/null)" ] &&
		grep -qE -- "$1" "$work/said"
}

# without CONFIG...: remove options from the configuration
without()
{
	local option

	for option in "$@"; do
		sed -i "/CONFIG_$option=/d" .config include/config/auto.conf
		sed -i "/CONFIG_$option /d" include/generated/autoconf.h
	done
}

# is_version NUMBER
is_version() { sed -i "s/\(LINUX_VERSION_CODE\) .*/\1 $1/" include/generated/uapi/linux/version.h; }

plan

with true
[ "$status" -eq 0 ] && [ -e "$work/out/drivers/corepmu/corepmu.ko" ] && [ ! -s "$work/said" ]
result "a headers tree of the user's own is built for, with nothing to say"

with --again 'sed -i "/CONFIG_MODULES=/a CONFIG_TRIM_UNUSED_KSYMS=y" .config; sed -i "/\tperf_pmu_register\t/d" Module.symvers'
refused 'does not export perf_pmu_register \(.*CONFIG_TRIM_UNUSED_KSYMS'
result "a kernel whose unused exports are trimmed is refused"

with --again 'rm Module.symvers'
refused 'only prepared: run make'
result "a kernel that was only prepared is refused"

with 'without KPROBES KRETPROBES'
refused 'needs a kernel with CONFIG_KPROBES and CONFIG_KALLSYMS'
result "a kernel without CONFIG_KPROBES is refused"

with 'without PERF_EVENTS'
refused 'needs a kernel with CONFIG_PERF_EVENTS'
result "a kernel without CONFIG_PERF_EVENTS is refused"

with "is_version $((6 << 16))"
refused 'corepmu needs Linux 6\.1 or newer'
result "a kernel before 6.1 is refused"

with "is_version $((99 << 16))"
[ "$status" -eq 0 ] && grep -q 'newer than any that corepmu was tested on' "$work/said"
result "a kernel newer than any tested is built for, with a word of warning"

# Modules that the kernel rejects: built for another kernel, with wrong checksums of imported
# symbols, and with other types than the kernel's
objcopy=${A[cross]}objcopy
command -v "$objcopy" >/dev/null || objcopy=objcopy
for series in $(table_rows scripts/tables/kernels.cfg); do
	[ "$series" = "$kernel" ] || other=$series
done
export COREPMU_QUIET=1
mkdir "$work/modules"
own=$(scripts/build/build-module --kernel "$arch" "$kernel")/drivers/corepmu/corepmu.ko
theirs=$(scripts/build/build-module --kernel "$arch" "$other")/drivers/corepmu/corepmu.ko
cp "$theirs" "$work/modules/other.ko"
"$objcopy" --dump-section __versions="$work/versions" "$own" "$work/modules/sums.ko"
printf '\1\2\3\4' | dd of="$work/versions" conv=notrunc status=none
"$objcopy" --update-section __versions="$work/versions" "$own" "$work/modules/sums.ko"
echo "no types at all" >"$work/types"
"$objcopy" --add-section .BTF="$work/types" "$theirs" "$work/modules/types.ko"

# insmod_says KERNEL MODULE REGEX: expect that the module is rejected and that the kernel's log
# matches REGEX
insmod_says()
{
	scripts/run-guest --arch "$arch" --kernel "$1" --mode nomodule --timeout 200 \
		--payload "$work/modules:/modules" -- \
		"insmod /modules/$2.ko && echo loaded; dmesg | tail -n 5; insmod /corepmu/corepmu.ko && echo right" \
		>"$work/said" 2>&1
	! grep -qx loaded "$work/said" && grep -qE "$3" "$work/said" && grep -qx right "$work/said"
}

insmod_says "$kernel" other 'corepmu: version magic .* should be '
result "a module of another kernel is refused, the right one is not"

insmod_says "$kernel" sums 'corepmu: disagrees about version of symbol'
result "a module with other checksums of the kernel's interfaces is refused"

insmod_says "$other" types 'failed to validate module \[corepmu\] BTF'
result "a module with other types than the kernel's is refused, where that is asked for"

finish
