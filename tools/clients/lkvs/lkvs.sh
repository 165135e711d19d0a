#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# intel/lkvs, BM/pmu: perf with precise samples, registers, branches, data sources and topdown
# events. The number of samples that perf reports must be the number in the file. The list "tests"
# is run, the list of the CPU's platform, and the lists of its features.

# shellcheck source=../../lib/guest.sh
. /corepmu/tests/guest.sh

echo -1 >/proc/sys/kernel/perf_event_paranoid
# The script prints all samples.
sample_rate 100
# perf reports the number of written samples only if it reads them for build IDs. From 6.18 on it
# does so only with these options. An idle CPU counts no cycles: the wrapper runs a workload during
# each recording.
cat >/tmp/bin/perf <<EOT
#!/bin/sh
[ "\$1" = record ] || exec $STOCK_PERF "\$@"
shift
yes >/dev/null &
$STOCK_PERF record --no-bpf-event --no-buildid-mmap --no-buildid-cache "\$@"
status=\$?
kill \$!
exit \$status
EOT
printf '' >"$PERF_CONFIG"
ln -s /usr/bin/python3.* /tmp/bin/python3
insmod /corepmu/kmods/msr/*.ko
# Without MSR_IA32_TSC, no other result of rdmsr means anything.
rdmsr 0x10 >/dev/null || {
	echo "Bail out! rdmsr does not read MSRs"
	exit 1
}
# The test writes beside its scripts. cp -p keeps the times, so LKVS does not rebuild its programs.
cp -Rp /usr/lib/lkvs /tmp/ && cd /tmp/lkvs/BM/pmu || exit

# cpuid LEAF SUBLEAF REGISTER BITS [VALUE]: check that the bits of a register (a to d) are set, or have
# the value. LEAF is hexadecimal.
cpuid()
{
	cpuid_check "$1" 0 "$2" 0 "$3" "$4" ${5:+"$5"} >/dev/null
}

# capability BIT: check for a bit of IA32_PERF_CAPABILITIES, which CPUs without PDCM lack
capability()
{
	[ "$(rdmsr -f "$1:$1" 0x345 2>/dev/null)" = 1 ]
}

has_pmu()
{
	for device in "$DEVICES"/"$1"*; do
		[ ! -e "$device" ] || return 0
	done
	return 1
}

has_arch_pebs() { cpuid 23 0 a 5; }
has_adaptive_pebs() { capability 14 || has_arch_pebs; }
# General-purpose counters 0 to 7, and fixed counters 0 to 2 and 4 to 6
has_counters_of_cwf() { cpuid 23 1 a 0:31 255 && cpuid 23 1 b 0:31 119; }

identity=$(sed -n 's/^\(cpu family\|model\)[[:space:]]*: //p' /proc/cpuinfo | head -n 2 | xargs)

case $identity in
'6 173' | '6 174') platform=tests-gnr ;;
'6 221') platform=tests-cwf ;;
'19 1') platform=tests-dmr ;;
*) platform= ;;
esac

# is_asserted TEST NAME: check that a test looks for a feature that its platform must have
is_asserted()
{
	case $2 in
	*_cpuid | *_msr) [ -n "$platform" ] && grep -qxF -e "$1" "$platform" ;;
	*) false ;;
	esac
}

# Print the lists for this CPU.
lists()
{
	echo tests $platform
	! has_adaptive_pebs || echo tests-adaptive_pebs
	! has_arch_pebs || echo tests-arch_pebs
	! cpuid 7 1 a 8 || echo tests-arch_perfmon_v6
	! has_counters_of_cwf || echo tests-3fix_counters
}

# differs TEST NAME: print why corepmu does not run a test
differs()
{
	[ -z "$BUILTIN" ] || return
	case $2 in
	basic | bitmap_6) echo "by design: looks for the built-in driver's message" ;;
	rdpmc_user_disable_1) echo "by design: the page of a CPU's event has no index" ;;
	esac
	case $1 in
	*' -w 1')
		! grep -qx -e "${1%1}0" ../list ||
			echo "by design: only the built-in driver has an NMI watchdog, see -w 0"
		;;
	esac
}

# counts EVENT: check that perf stat counts an event
counts()
{
	$STOCK_PERF stat -x, -e "$1" -a sleep 1 2>&1 | awk -F, '$1 + 0 > 0 { found = 1 } END { exit !found }'
}

# Print how many instructions a busy CPU has in 100 cycles. With the built-in driver of a hybrid
# machine perf has a line for each PMU; "<not counted>" is 0.
instructions_per_100_cycles()
{
	$STOCK_PERF stat -x, -e instructions,cycles timeout 1 yes 2>&1 >/dev/null | awk -F, '
		$3 ~ /instructions/ { instructions += $1 }
		$3 ~ /cycles/ { cycles += $1 }
		END { print cycles ? int(100 * instructions / cycles) : 0 }'
}

# lacks TEST NAME: print what the machine lacks for a test, or nothing
lacks()
{
	[ "$2" != timed_pebs_msr ] || capability 17 || echo "the virtual PMU has no timed PEBS"
	is_asserted "$1" "$2" || case $2 in
	uncore | uncore_*) has_pmu uncore || echo "no uncore PMU" ;;
	iommu_*) has_pmu dmar || echo "no PMU of an IOMMU" ;;
	cstate_*) has_pmu cstate || echo "no C-state counters" ;;
	adaptive_pebs_msr) capability 14 || echo "no adaptive PEBS" ;;
	xmm_*) has_adaptive_pebs || echo "no adaptive PEBS" ;;
	arch_pebs_counter_group)
		case ${identity#* } in
		221) ;;
		1) echo "the script's event branches-misses does not exist" ;;
		*) echo "the script has no events for this model" ;;
		esac
		;;
	arch_pebs_counter_group_stress | bitmap_6)
		has_counters_of_cwf || echo "not the counters of Clearwater Forest"
		;;
	lbr_events_*) cpuid 1c 0 c 16:19 15 || echo "no counts of events in branch records" ;;
	rdpmc_user_disable_*) cpuid 23 0 b 2 || echo "no RDPMC user disable" ;;
	umask2*) cpuid 23 0 b 0 || echo "no second unit mask" ;;
	zbit*) cpuid 23 0 b 1 || echo "no equal flag" ;;
	acr_*) cpuid 23 0 a 2 || echo "no auto counter reload" ;;
	esac
	case $2 in
	counting | counting_multi | umask2 | zbit)
		[ -e "$DEVICES/cpu" ] || echo "the script has no events for a hybrid machine's PMUs"
		;;
	esac
	case $2 in
	umask2) counts cpu/event=0xd1,umask=0x0201/ || echo "event 0xd1, umask 0x0201 does not count" ;;
	# 200000 instructions have to come before 100000 cycles.
	acr_basic | acr_ratio_to_prev | acr_stress)
		[ "$per_100" -gt 200 ] || echo "$per_100 instructions in 100 cycles, over 200 are needed"
		;;
	pebs_mrt_snoop_hit) echo "the virtual PMU has no load with a snoop hit in a shared cache" ;;
	arch_pebs_xer_group)
		perf record -I? 2>&1 | grep -q YMM0-15 || echo "no samples of YMM registers in this Linux"
		;;
	esac
	grep -q "^ *$2)" "${1%% *}" || echo "the script has no such test"
}

passes()
{
	# shellcheck disable=SC2086 # words
	PATH=.:$PATH timeout 300 bash ./$1 >/tmp/said 2>&1
	status=$?
	sed -n 's/.*\(sample_count = .*\)/# \1/p' /tmp/said >&3
	expect_equal "its status" 0 $status && return
	tail -n 20 /tmp/said
	return 1
}

per_100=$(instructions_per_100_cycles)
exec 3>&1
# shellcheck disable=SC2046 # names of files
grep -hv '^#' $(lists) | sort -u >../list
plan "$(wc -l <../list)"
while read -r test; do
	name=${test#*-t }
	name=${name%% *}
	reason=$(lacks "$test" "$name"; differs "$test" "$name")
	if [ -n "$reason" ]; then
		skipped "$test" "$(echo "$reason" | head -n 1)"
	else
		check_timed "$test" passes "$test"
	fi
done <../list
finish
