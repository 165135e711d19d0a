#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# perf-stat: does the perf tool say on corepmu, in the place of the built-in driver, what it
# says on that? For each microarchitecture that the virtual PMU knows two guests boot, one
# with either; what perf stat and perf list say is compared but for the numbers, and the files of
# sysfs with what they say. What differs has to be below, with its reason.
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
for file in cpu*/events/* cpu*/caps/* cpu*/format/* cpu*/cpus cpu*/rdpmc cpu*/freeze_on_smi \
	cpu*/allow_tsx_force_abort; do
	[ ! -f "$file" ] || echo "@@ sysfs: $file=$(cat "$file")"
done
for file in cpu*/freeze_on_smi; do
	[ -f "$file" ] || continue
	echo 2 >"$file" 2>/dev/null || echo 0 >"$file"
	echo "@@ sysfs: $file, 0 written=$(cat "$file")"
done'

# said_by CPU KERNEL MODE [MODPARAM]: lines of a guest
said_by()
{
	local lane=(--lane exact)

	# Two kinds of CPU
	case $1 in
	alder-lake | lunar-lake | arrow-lake) lane=(--lane smp --smp 2) ;;
	esac
	scripts/run-guest --arch x86_64 --kernel "$2" "${lane[@]}" --cpu "$1" --mode "$3" \
		--append nmi_watchdog=0 ${4:+--modparam "$4"} \
		--log "$work/console" -- "$commands" >"$work/out" 2>&1 || return
	sed -n 's/\r$//; s/^@@ //p' "$work/out" >"$work/$3"
	grep -q '^perf stat : counted' "$work/$3" || return
	[ -z "${COREPMU_KEEP-}" ] || cp "$work/$3" "$COREPMU_KEEP/$1-$2-$3"
}

# unexplained CPU KERNEL
unexplained()
{
	local pattern=

	printf -v pattern '%s|' "${explained[@]}"
	# The built-in driver of 6.12 has the servers' there; that of 7.3 has none.
	case "$1 $2" in
	'alder-lake 6.12' | 'lunar-lake 6.12' | 'arrow-lake 6.12')
		pattern+='^<.*[ /]node-(loads|load-misses)( |$)|'
		;;
	esac
	# Linux 6.12 has no name of its own for Arrow Lake.
	[ "$1 $2" != 'arrow-lake 6.12' ] || pattern+='caps/pmu_name=(lunar|arrow)lake_hybrid|'
	diff "$work/builtin" "$work/replace" | grep '^[<>]' | grep -vE "${pattern%|}"
}

# shellcheck disable=SC2329 # called by check
same()
{
	local differences

	said_by "$1" "$2" builtin && said_by "$1" "$2" replace standin=1 || {
		tail -n 20 "$work/out"
		return 1
	}
	differences=$(unexplained "$1" "$2")
	expect_equal "differences (<: the built-in driver alone, >: corepmu alone)" "" \
		"$differences"
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

plan $((${#cpus[@]} * ${#kernels[@]}))
for kernel in "${kernels[@]}"; do
	for cpu in "${cpus[@]}"; do
		check "perf says the same on $cpu, Linux $kernel" same "$cpu" "$kernel"
	done
done
finish
