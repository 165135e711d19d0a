#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# perf-stat: does the perf tool say on corepmu, in the place of the built-in driver, what it
# says on that? For each microarchitecture that the virtual PMU knows two guests boot, one
# with either; what perf stat and perf list say, and the files of sysfs, are compared but for the
# numbers. What differs has to be below, with its reason.
#
# COREPMU_CPUS and COREPMU_KERNEL choose among all.
set -uo pipefail
cd "$(dirname "$0")/../../../.." || exit 1
. tools/lib/ktap.sh
. scripts/lib/lib.sh
trap - ERR

read -ra cpus <<<"${COREPMU_CPUS:-haswell skylake icelake sapphire-rapids zen1 zen2 zen3 zen4}"
read -ra kernels <<<"${COREPMU_KERNEL:-6.12 7.x}"

# Lines that only the built-in driver has, as extended regular expressions
explained=(
	# Samples without skid (PEBS), which need load latency
	'[ /]mem-(loads|stores|loads-aux)( |/|$)'
	# Events with a register of their own are refused.
	'sysfs: (offcore_rsp|frontend|ldlat)$'
	# Pin control: of no use without the pin
	'sysfs: pc$'
	# The virtual PMU says that AnyThread is deprecated.
	'sysfs: any$'
	# The name of Linux' own tables
	'sysfs: pmu_name$'
	# Not counted by any event of perf's lists: see corepmu.rst, "Generic events"
	'L1-dcache-prefetches'
)

# What a guest runs: everything that is compared is in lines "@@ ...".
# shellcheck disable=SC2016 # for the guest's shell
commands='
devices=/sys/bus/event_source/devices
for options in "" "-d" "-d -d -d" "-M TopdownL1"; do
	perf stat $options -x, -o /tmp/out workload >/tmp/err 2>&1 || {
		echo "@@ perf stat $options: fails"
		head -n 5 /tmp/err
	}
	awk -F, -v options="$options" "
		/^#|^\$/ { next }
		{
			said = \$1 ~ /^</ ? \$1 : \$1 == \"\" ? \"\" : \"counted\"
			metric = \$7
			gsub(/^[ %]*/, \"\", metric)
			print \"@@ perf stat \" options \": \" said \" \" \$3 \" \" metric
		}" /tmp/out
done
perf list --no-desc hw cache pmu 2>/dev/null | sed -n "s/^ .*/@@ perf list: &/p"
for file in "$devices"/cpu/events/* "$devices"/cpu/caps/* "$devices"/cpu/format/*; do
	echo "@@ sysfs: ${file##*/}"
done'

# said_by CPU KERNEL MODE [MODPARAM]: lines of a guest
said_by()
{
	scripts/run-guest --arch x86_64 --kernel "$2" --lane exact --cpu "$1" --mode "$3" \
		--append nmi_watchdog=0 ${4:+--modparam "$4"} \
		--log "$work/console" -- "$commands" >"$work/out" 2>&1 || return
	sed -n 's/\r$//; s/^@@ //p' "$work/out" >"$work/$3"
	grep -q '^perf stat : counted' "$work/$3"
}

unexplained()
{
	local pattern=

	printf -v pattern '%s|' "${explained[@]}"
	diff "$work/builtin" "$work/replace" | grep '^[<>]' | grep -vE "^<.*(${pattern%|})"
}

# shellcheck disable=SC2329 # called by check
same()
{
	local differences

	said_by "$1" "$2" builtin && said_by "$1" "$2" replace standin=1 || {
		tail -n 20 "$work/out"
		return 1
	}
	differences=$(unexplained)
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
