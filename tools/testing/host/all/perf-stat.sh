#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# perf-stat: does the perf tool say on corepmu, in the place of the built-in driver, what it
# says on that? For each microarchitecture that the virtual PMU knows, and for models of arm64 that
# perf has lists of events for, guests boot with the built-in driver, with corepmu by that one's name
# (standin=1) and, on x86, by its own; what perf stat and perf list say is compared but for the
# numbers, and the files of sysfs with what they say. What differs has to be below, with its reason.
#
# COREPMU_ARCHES, COREPMU_CPUS and COREPMU_KERNEL choose among all; COREPMU_KEEP is a directory to
# keep the lines in. CPUs of arm64 are models of QEMU's, MODEL@MIDR with another MIDR_EL1, or
# MODEL+COMPATIBLE with another PMU in the devicetree.
set -uo pipefail
cd "$(dirname "$0")/../../../.." || exit 1
. tools/lib/ktap.sh
. scripts/lib/lib.sh
trap - ERR

read -ra arches <<<"${COREPMU_ARCHES:-arm64 x86_64}"
read -ra kernels <<<"${COREPMU_KERNEL:-6.12 7.x}"

intel="haswell skylake icelake sapphire-rapids alder-lake lunar-lake arrow-lake"
# The last ones have caches' events of their own with either driver; 0x410fd4f0 is Neoverse V2.
arm="cortex-a55 cortex-a76 neoverse-n1 neoverse-n2 neoverse-n2@0x410fd4f0 max
	cortex-a53+arm,cortex-a53-pmu cortex-a57+arm,cortex-a57-pmu cortex-a72+arm,cortex-a72-pmu
	max+arm,cortex-a73-pmu max+cavium,thunder-pmu max+brcm,vulcan-pmu"

# cpus_of ARCH: one a line
cpus_of()
{
	case $1 in
	arm64) tr -s ' \t' '\n' <<<"${COREPMU_CPUS:-$arm}" ;;
	*) tr ' ' '\n' <<<"${COREPMU_CPUS:-$intel zen1 zen2 zen3 zen4 zen5}" ;;
	esac
}

# What differs, as extended regular expressions of lines of diff: "<" has the built-in driver
explained=(
	# Load latency: only with precise samples, from Skylake's cores and Gracemont on
	'^<.*[ /]mem-(loads|stores|loads-aux)( |/|=|$)'
	'^< sysfs: .*/format/ldlat='
	# Pin control: shown, and left out of what is written
	'^< sysfs: .*/format/pc='
	# Where it is the core PMU, which is the built-in driver by its name
	'^> sysfs: .*/cpus='
	# On arm64 of this driver alone
	'^> sysfs: armv8_pmu/caps/max_precise='
	# Not counted by any event of perf's lists: see corepmu.rst, "Generic events"
	'^[<>].*[Ll]1-dcache-prefetches'
	# Likewise, of Gracemont
	'^[<>].*[ /]i(TLB|tlb)-load-misses'
)

# Besides, where the PMU is not called "cpu": perf has metrics, and asks for stalled cycles by
# itself, of that one alone
named=(
	'^[<>] perf stat .*(TopdownL[12]|tma_)'
	'^[<>] perf stat -M TopdownL1:'
	'^< perf stat .*(stalled-cycles-(frontend|backend)|stalled cycles per insn)'
)
# Of two kinds of CPU perf has the events of "cpu_core" and "cpu_atom", and of no other names.
named_hybrid='^< perf list:   [a-z0-9_]+\.[a-z0-9_.]+$'

# What a guest runs: everything that is compared is in lines "@@ ...".
# shellcheck disable=SC2016 # for the guest's shell
commands='
devices=/sys/bus/event_source/devices
# What perf has a name for, of every cache
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
			# Lines of metrics have another field there, of how long they ran.
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

# said_by ARCH CPU KERNEL AS: lines of a guest with the built-in driver ("builtin"), with corepmu by
# that one's name ("standin"), or by its own ("named")
said_by()
{
	local options=(--lane exact --cpu "$2" --append nmi_watchdog=0) plugin=arm64-pmu
	local mode=replace pmus='cpu*'

	case $2 in
	# Two kinds of CPU
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
	# Columns are of other widths with corepmu's own name. What differs says armv8_pmu of any PMU of
	# arm64. 999 K/sec and 1 M/sec are the same to a line without numbers.
	sed -n 's/\r$//; s/armv8_[a-z0-9_]*/armv8_pmu/g; s/corepmu/cpu/g
		s/ *\[Kernel PMU/ [Kernel PMU/; s#[KMG]/sec$#/sec#; s/^@@ //p' "$work/out" >"$work/$4"
	[ -z "${COREPMU_KEEP-}" ] || cp "$work/$4" "$COREPMU_KEEP/$2-$3-$4"
	grep -q '^perf stat : counted' "$work/$4"
}

# unexplained CPU KERNEL AS
unexplained()
{
	local pattern=

	printf -v pattern '%s|' "${explained[@]}"
	[ "$3" != named ] || pattern+=$(printf '%s|' "${named[@]}")
	case "$1 $3" in
	'alder-lake named' | 'lunar-lake named' | 'arrow-lake named') pattern+="$named_hybrid|" ;;
	esac
	# The built-in driver of 6.12 has the servers' there; that of 7.3 has none.
	case "$1 $2" in
	'alder-lake 6.12' | 'lunar-lake 6.12' | 'arrow-lake 6.12')
		pattern+='^<.*[ /]node-(loads|load-misses)( |$)|'
		;;
	esac
	# Linux 6.12 has no name of its own for Arrow Lake.
	[ "$1 $2" != 'arrow-lake 6.12' ] || pattern+='caps/pmu_name=(lunar|arrow)lake_hybrid|'
	diff "$work/builtin" "$work/$3" | grep '^[<>]' | grep -vE "${pattern%|}"
}

# same ARCH CPU KERNEL AS: as with the built-in driver, which has been asked
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
			name="perf says the same of corepmu, but for metrics, on $cpu, Linux $kernel"
			case "$cpu $kernel" in
			'alder-lake 7.x' | 'lunar-lake 7.x' | 'arrow-lake 7.x')
				skipped "$name" "perf stat asks for events of cpu_atom there, by that name, and ends without"
				;;
			*) check "$name" same "$arch" "$cpu" "$kernel" named ;;
			esac
		done
	done
done
finish
