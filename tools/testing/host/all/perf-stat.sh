#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# perf-stat: the perf tool prints the same with corepmu in the place of the built-in driver.
# Guests boot for each microarchitecture of the virtual PMU, and for arm64 models with event lists
# in perf: with the built-in driver, with corepmu under that driver's name (standin=1), and, on
# x86, under its own. The test compares the output of perf stat and perf list without numbers, and
# the files of sysfs with their contents. Each difference must be listed below, with its reason.
#
# COREPMU_ARCHES, COREPMU_CPUS and COREPMU_KERNEL select some of all. COREPMU_KEEP is a directory
# that keeps the lines. CPUs of arm64 are QEMU's models; MODEL@MIDR has another MIDR_EL1, and
# MODEL+COMPATIBLE another PMU in the devicetree.
set -uo pipefail
cd "$(dirname "$0")/../../../.." || exit 1
. tools/lib/ktap.sh
. scripts/lib/lib.sh
trap - ERR

read -ra arches <<<"${COREPMU_ARCHES:-arm64 x86_64}"
read -ra kernels <<<"${COREPMU_KERNEL:-6.12 7.x}"

intel="haswell skylake icelake sapphire-rapids alder-lake lunar-lake arrow-lake"
# The last ones have model-specific cache events with either driver. 0x410fd4f0 is Neoverse V2,
# 0x410fd8e0 Neoverse N3, 0x410fd830 Neoverse V3AE, for which perf has V3's events.
arm="cortex-a55 cortex-a76 neoverse-n1 neoverse-n2 neoverse-n2@0x410fd4f0 max
	neoverse-n2@0x410fd8e0 neoverse-n2@0x410fd830
	cortex-a53+arm,cortex-a53-pmu cortex-a57+arm,cortex-a57-pmu cortex-a72+arm,cortex-a72-pmu
	max+arm,cortex-a73-pmu max+cavium,thunder-pmu max+brcm,vulcan-pmu"

# cpus_of ARCH: print the CPUs, one per line
cpus_of()
{
	case $1 in
	arm64) tr -s ' \t' '\n' <<<"${COREPMU_CPUS:-$arm}" ;;
	*) tr ' ' '\n' <<<"${COREPMU_CPUS:-$intel zen1 zen2 zen3 zen4 zen5}" ;;
	esac
}

# Expected differences, as extended regular expressions of lines of diff: the built-in driver's
# lines start with "<"
explained=(
	# Load latency: only with precise samples, from Skylake's cores and Gracemont on
	'^<.*[ /]mem-(loads|stores|loads-aux)( |/|=|$)'
	'^< sysfs: .*/format/ldlat='
	# Pin control: the built-in driver shows this bit and ignores it
	'^< sysfs: .*/format/pc='
	# corepmu has these files if it is the core PMU; perf knows the built-in driver by its name
	'^> sysfs: .*/(cpus|alias)='
	# On arm64 only corepmu has this file
	'^> sysfs: armv8_pmu/caps/max_precise='
	# No event of perf's lists counts this: see drivers/corepmu/x86/intel/cache.c
	'^[<>].*[Ll]1-dcache-prefetches'
	# The same on Gracemont
	'^[<>].*[ /]i(TLB|tlb)-load-misses'
)

# More differences if the PMU has another name than "cpu" and another type than PERF_TYPE_RAW: perf
# prints topdown metrics for that type only, and opens stalled cycles by itself for that name only
named=(
	'^[<>] perf stat .*(TopdownL[12]|tma_)'
	'^[<>] perf stat -M TopdownL1:'
	'^< perf stat .*(stalled-cycles-(frontend|backend)|stalled cycles per insn)'
)
# On hybrid machines perf has events only for "cpu_core" and "cpu_atom".
named_hybrid='^< perf list:   [a-z0-9_]+\.[a-z0-9_.]+$'

# Commands for the guest: the compared output is in lines "@@ ...".
# shellcheck disable=SC2016 # for the guest's shell
commands='
devices=/sys/bus/event_source/devices
# Generic names of all cache events in perf
caches=L1-icache-loads,L1-icache-load-misses,L1-icache-prefetches,L1-icache-prefetch-misses
caches=$caches,iTLB-loads,iTLB-load-misses,branch-loads,branch-load-misses
for cache in L1-dcache LLC dTLB node; do
	caches=$caches,$cache-loads,$cache-load-misses,$cache-stores,$cache-store-misses
	caches=$caches,$cache-prefetches,$cache-prefetch-misses
done
while read -r options; do
	rm -f /tmp/out
	touch /tmp/out
	perf stat $options -x, -o /tmp/out sh -c "
		for cpu in $(seq -s " " 0 $(($(nproc) - 1))); do taskset -c \$cpu workload; done
	" </dev/null >/tmp/err 2>&1 || {
		echo "@@ perf stat ${options%%,*}: fails"
		head -n 5 /tmp/err
	}
	awk -F, -v options="${options%%,*}" "
		/^#|^\$/ { next }
		{
			said = \$1 ~ /^</ ? \$1 : \$1 == \"\" ? \"\" : \"counted\"
			# Lines of metrics have the running time in that field.
			name = \$3 ~ /^[0-9.]+\$/ ? \"\" : \$3
			metric = \$7
			gsub(/^[ %0-9.]*/, \"\", metric)
			print \"@@ perf stat \" options \": \" said \" \" name \" \" metric
		}" /tmp/out
done <<EOT

-d
-d -d -d
-M TopdownL1
$(if [ "$(uname -m)" = aarch64 ]; then
	echo "-e $caches"
	echo "-M ipc"
	echo "-M branch_misprediction_ratio,l1d_cache_miss_ratio"
	echo "-e cycles:pp,instructions:ppp"
	pmu=$(basename "$devices"/armv8_*)
	echo "-e $pmu/config=0x10008/,$pmu/config=8,config1=0x100000/"
	echo "-e $pmu/config=8,config2=1/"
fi)
EOT
perf list --no-desc hw cache pmu 2>/dev/null | sed -n "s/^ .*/@@ perf list: &/p"
cd "$devices" || exit
for file in $PMUS/events/* $PMUS/caps/* $PMUS/format/* $PMUS/cpus $PMUS/rdpmc \
	$PMUS/freeze_on_smi $PMUS/allow_tsx_force_abort armv8_*/events/* armv8_*/caps/* \
	armv8_*/format/* armv8_*/cpus; do
	[ ! -f "$file" ] || echo "@@ sysfs: $file=$(cat "$file")"
done
for file in $PMUS/freeze_on_smi; do
	[ -f "$file" ] || continue
	echo 2 >"$file" 2>/dev/null || echo 0 >"$file"
	echo "@@ sysfs: $file, 0 written=$(cat "$file")"
done'

# said_by ARCH CPU KERNEL AS: print the lines of a guest with the built-in driver ("builtin"), with
# corepmu under that driver's name ("standin"), or under its own ("named")
said_by()
{
	local options=(--lane exact --cpu "$2" --append nmi_watchdog=0) plugin=arm64-pmu
	local mode=replace pmus='cpu*'

	case $2 in
	# Two CPU types
	alder-lake | lunar-lake | arrow-lake)
		options=(--lane smp --smp 2 --cpu "$2" --append nmi_watchdog=0)
		;;
	esac
	if [ "$1" = arm64 ]; then
		options=(--lane exact --cpu "${2%%[@+]*}")
		[[ $2 != *@* ]] || plugin+=",kind=0:midr=${2#*@}"
		[[ $2 != *+* ]] || options+=(--devicetree "${2#*+}")
		options+=(--plugin "$plugin")
	fi
	case $1,$4 in
	*,builtin) mode=builtin ;;
	arm64,standin) options+=(--modparam "standin=1 lenient=1") ;;
	*,standin) options+=(--modparam standin=1) ;;
	*,named) pmus='corepmu*' ;;
	esac
	scripts/run-guest --arch "$1" --kernel "$3" "${options[@]}" --mode "$mode" --timeout 1200 \
		--log "$work/console" -- "PMUS='$pmus'; $commands" >"$work/out" 2>&1 || {
		tail -n 20 "$work/out"
		return 1
	}
	# Columns have other widths with corepmu's own name. armv8_pmu stands for any PMU of arm64.
	# Without numbers, 999 K/sec and 1 M/sec must be equal.
	sed -n 's/\r$//; s/armv8_[a-z0-9_]*/armv8_pmu/g; s/corepmu/cpu/g
		s/ *\[Kernel PMU/ [Kernel PMU/; s#[KMG]/sec$#/sec#; s/^@@ //p' "$work/out" >"$work/$4"
	[ -z "${COREPMU_KEEP-}" ] || cp "$work/$4" "$COREPMU_KEEP/$2-$3-$4"
	grep -q '^perf stat : counted' "$work/$4"
}

# unexplained CPU KERNEL AS: print the differences that no expression explains
unexplained()
{
	local pattern=

	printf -v pattern '%s|' "${explained[@]}"
	[ "$3" != named ] || pattern+=$(printf '%s|' "${named[@]}")
	case "$1 $3" in
	'alder-lake named' | 'lunar-lake named' | 'arrow-lake named') pattern+="$named_hybrid|" ;;
	esac
	# The built-in driver of Linux 6.12 has the servers' events there; that of 7.3 has none.
	case "$1 $2" in
	'alder-lake 6.12' | 'lunar-lake 6.12' | 'arrow-lake 6.12')
		pattern+='^<.*[ /]node-(loads|load-misses)( |$)|'
		;;
	esac
	# Linux 6.12 has no name for Arrow Lake.
	[ "$1 $2" != 'arrow-lake 6.12' ] || pattern+='caps/pmu_name=(lunar|arrow)lake_hybrid|'
	diff "$work/builtin" "$work/$3" | grep '^[<>]' | grep -vE "${pattern%|}"
}

# same ARCH CPU KERNEL AS: compare with the built-in driver's lines, which exist already
# shellcheck disable=SC2329 # called by check
same()
{
	local differences

	said_by "$@" || return
	differences=$(unexplained "$2" "$3" "$4")
	expect_equal "differences (<: the built-in driver alone, >: corepmu alone)" "" \
		"$differences"
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

plan
for arch in "${arches[@]}"; do
	for kernel in "${kernels[@]}"; do
		for cpu in $(cpus_of "$arch"); do
			rm -f "$work/builtin"
			check "perf counts with the built-in driver on $cpu, Linux $kernel" \
				expect_true "counts of perf stat" said_by "$arch" "$cpu" "$kernel" builtin
			check "perf says the same on $cpu, Linux $kernel" \
				same "$arch" "$cpu" "$kernel" standin
			[ "$arch" != arm64 ] || continue
			name="perf says the same of corepmu, but for topdown metrics and stalled cycles, on $cpu, Linux $kernel"
			check "$name" same "$arch" "$cpu" "$kernel" named
		done
	done
done
finish
