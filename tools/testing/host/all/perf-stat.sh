#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# perf-stat: does the perf tool say on corepmu, in the place of the built-in driver, what it
# says on that? For each microarchitecture that the virtual PMU knows three guests boot, with the
# built-in driver, with corepmu as "cpu" and with corepmu by its own name; what perf stat and perf
# list say is compared but for the numbers, and the files of sysfs with what they say. What differs
# has to be below, with its reason.
#
# COREPMU_CPUS and COREPMU_KERNEL choose among all; COREPMU_KEEP is a directory to keep the
# lines in.
set -uo pipefail
cd "$(dirname "$0")/../../../.." || exit 1
. tools/lib/ktap.sh
. scripts/lib/lib.sh
trap - ERR

intel="haswell skylake icelake sapphire-rapids alder-lake lunar-lake arrow-lake"
read -ra cpus <<<"${COREPMU_CPUS:-$intel zen1 zen2 zen3 zen4 zen5}"
read -ra kernels <<<"${COREPMU_KERNEL:-6.12 7.x}"

# What differs, as extended regular expressions of lines of diff: "<" has the built-in driver
explained=(
	# Load latency, which is known of format 3 and 4 before Golden Cove's alone
	'^<.*[ /]mem-(loads|stores|loads-aux)( |/|=|$)'
	'^< sysfs: .*/format/ldlat='
	# Pin control: shown, and left out of what is written
	'^< sysfs: .*/format/pc='
	# Of 0x0127 and 0x0227 of the atoms from Crestmont on, which are refused
	'^< sysfs: .*/format/snoop_rsp='
	# Where it is the core PMU, which is the built-in driver by its name
	'^> sysfs: .*/cpus='
	# Not counted by any event of perf's lists: see corepmu.rst, "Generic events"
	'^[<>].*[Ll]1-dcache-prefetches'
	# Likewise, of Gracemont
	'^[<>].*[ /]i(TLB|tlb)-load-misses'
)

# Besides, where the PMU is not called "cpu": perf has metrics, and asks for stalled cycles by
# itself, of that one alone
named=(
	'^[<>] perf stat .*(TopdownL1|tma_)'
	'^[<>] perf stat -M TopdownL1:'
	'^< perf stat .*(stalled-cycles-frontend|stalled cycles per insn)'
)

# What a guest runs: everything that is compared is in lines "@@ ...".
# shellcheck disable=SC2016 # for the guest's shell
commands='
devices=/sys/bus/event_source/devices
for options in "" "-d" "-d -d -d" "-M TopdownL1"; do
	perf stat $options -x, -o /tmp/out sh -c "
		for cpu in $(seq -s " " 0 $(($(nproc) - 1))); do taskset -c \$cpu workload; done
	" >/tmp/err 2>&1 || {
		echo "@@ perf stat $options: fails"
		head -n 5 /tmp/err
	}
	awk -F, -v options="$options" "
		/^#|^\$/ { next }
		{
			said = \$1 ~ /^</ ? \$1 : \$1 == \"\" ? \"\" : \"counted\"
			# Lines of metrics have another field there, of how long they ran.
			name = \$3 ~ /^[0-9.]+\$/ ? \"\" : \$3
			metric = \$7
			gsub(/^[ %0-9.]*/, \"\", metric)
			print \"@@ perf stat \" options \": \" said \" \" name \" \" metric
		}" /tmp/out
done
perf list --no-desc hw cache pmu 2>/dev/null | sed -n "s/^ .*/@@ perf list: &/p"
cd "$devices" || exit
for file in $PMUS/events/* $PMUS/caps/* $PMUS/format/* $PMUS/cpus $PMUS/rdpmc \
	$PMUS/freeze_on_smi $PMUS/allow_tsx_force_abort; do
	[ ! -f "$file" ] || echo "@@ sysfs: $file=$(cat "$file")"
done
for file in $PMUS/freeze_on_smi; do
	[ -f "$file" ] || continue
	echo 2 >"$file" 2>/dev/null || echo 0 >"$file"
	echo "@@ sysfs: $file, 0 written=$(cat "$file")"
done'

# said_by CPU KERNEL AS: lines of a guest, with the built-in driver, with corepmu as cpu, or named
said_by()
{
	local lane=(--lane exact) mode=replace pmus='cpu*'
	local -A modparam=([cpu]=standin=1)

	[ "$3" != builtin ] || mode=builtin
	[ "$3" != named ] || pmus='corepmu*'

	# Two kinds of CPU
	case $1 in
	alder-lake | lunar-lake | arrow-lake) lane=(--lane smp --smp 2) ;;
	esac
	scripts/run-guest --arch x86_64 --kernel "$2" "${lane[@]}" --cpu "$1" --mode "$mode" \
		--append nmi_watchdog=0 ${modparam[$3]:+--modparam "${modparam[$3]}"} \
		--log "$work/console" -- "PMUS='$pmus'; $commands" >"$work/out" 2>&1 || {
		tail -n 20 "$work/out"
		return 1
	}
	# perf list aligns by the longest name.
	sed -n 's/\r$//; s/corepmu/cpu/g; s/ *\[\(.*\)\]$/ [\1]/; s/^@@ //p' "$work/out" >"$work/$3"
	grep -q '^perf stat : counted' "$work/$3" || return
	[ -z "${COREPMU_KEEP-}" ] || cp "$work/$3" "$COREPMU_KEEP/$1-$2-$3"
}

# unexplained CPU KERNEL AS
unexplained()
{
	local pattern=

	printf -v pattern '%s|' "${explained[@]}"
	[ "$3" != named ] || pattern+=$(printf '%s|' "${named[@]}")
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

# shellcheck disable=SC2329 # called by check
same()
{
	local differences

	said_by "$1" "$2" "$3" || return
	differences=$(unexplained "$1" "$2" "$3")
	expect_equal "differences (<: the built-in driver alone, >: corepmu alone)" "" \
		"$differences"
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

plan $((3 * ${#cpus[@]} * ${#kernels[@]}))
for kernel in "${kernels[@]}"; do
	for cpu in "${cpus[@]}"; do
		check "perf counts with the built-in driver on $cpu, Linux $kernel" \
			expect_true "counts of perf stat" said_by "$cpu" "$kernel" builtin
		check "perf says the same on $cpu, Linux $kernel" same "$cpu" "$kernel" cpu
		check "perf says the same but for metrics on $cpu with the PMU's own name, Linux $kernel" \
			same "$cpu" "$kernel" named
	done
done
finish
