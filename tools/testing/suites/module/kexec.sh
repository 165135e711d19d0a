#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# kexec - the next kernel's built-in driver finds a usable PMU
#
# While every counter of every CPU counts, kexec starts the guest's own kernel again, with the
# built-in driver and the same root. There this suite continues with --next. "kexec = yes" in the
# guest's stanza puts the kernel into the guest (run-guest --kexec).
#
# With corepmu_test.kexec=crash the kernel panics instead, and the crash kernel (crashkernel=)
# starts. No notifier of a module runs before: all counters still count. On x86 the built-in driver
# then rejects the PMU (check_hw_exists() in arch/x86/events/core.c), and corepmu uses it. On arm64
# the crash kernel has the driver that the crashed kernel had.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

next_image=/corepmu/kernel
next_root=/tmp/root.cpio

crash=
! grep -q 'corepmu_test\.kexec=crash' /proc/cmdline || crash=1

# Check whether the next kernel starts without the built-in driver, as this one did.
next_lacks_builtin()
{
	[ -n "$crash" ] && [ "$VENDOR" = arm ] && [ -z "$BUILTIN" ]
}

# Use all general counters: as many branch events as can count at the same time
busy()
{
	list=branch-instructions
	for _ in $(seq 7); do
		list="$list,branch-instructions"
	done
	# The first line of counts appears after a second of counting.
	perf stat -a -I 1000 -o /tmp/counts -e "$list,cycles,instructions" sleep 1000 >/dev/null 2>&1 &
	for _ in $(seq 100); do
		! grep -q 'branch-instructions' /tmp/counts 2>/dev/null || break
		sleep 0.1
	done
	expect_says "perf stat" 'branch-instructions' "$(cat /tmp/counts)"
}

# Pack this guest's root for the next kernel, and enter that kernel's mode into the root.
pack()
{
	next_mode=builtin
	! next_lacks_builtin || next_mode=nomodule
	sed -i "s/^mode=.*/mode=$next_mode/" /corepmu/conf
	echo '/corepmu/tests/kexec --next; echo "# suite ended: kexec $?"' >/corepmu/command
	cd / || return 1
	find . -xdev ! -path "./${next_image#/}" | cpio -o -H newc >"$next_root" 2>/dev/null
	expect_true "an archive of the root" test -s "$next_root"
}

# The PMU records branches until the kexec, and on x86 writes precise records. It must write no
# record into the next kernel's memory.
records()
{
	need_extra branches
	files=/tmp/branches events=11
	perf record -a -b -o /tmp/branches -c 1000003 -e "$PMU/$CYCLES/" \
		sleep 1000 >/dev/null 2>&1 &
	if [ "$VENDOR" != arm ]; then
		need_extra max_precise
		files="$files /tmp/precise" events=12
		perf record -a -o /tmp/precise -c 1000003 -e "$PMU/$CYCLES/pp" \
			sleep 1000 >/dev/null 2>&1 &
	fi
	# On each CPU 10 events of busy() and the events recorded here hold the module.
	for _ in $(seq 100); do
		[ -z "$BUILTIN" ] &&
			[ "$(cat /sys/module/corepmu/refcnt)" -lt $((events * $(nproc))) ] || break
		sleep 0.1
	done
	sleep 1
	for file in $files; do
		expect_range "KiB in $file" 1 1000000 $(($(stat -c %s "$file") / 1024)) || return 1
	done
}

start_next()
{
	# A crash kernel starts on the CPU that crashed, and cannot reset the boot CPU.
	dropped='initcall_blacklist\|crashkernel'
	! next_lacks_builtin || dropped=crashkernel
	words="$(sed "s/\($dropped\)=[^ ]*//g" /proc/cmdline)${crash:+ nr_cpus=1}"
	# Wait until the host has the output.
	sleep 1
	/corepmu/tests/kexec_load ${crash:+--crash} "$next_image" "$next_root" "$words" || return 1
	echo c >/proc/sysrq-trigger
}

crashed_memory()
{
	expect_says "the start of /proc/vmcore" ELF "$(dd if=/proc/vmcore bs=4 count=1 2>/dev/null)"
}

builtin_found_it()
{
	said=$(dmesg | sed 's/^\[[^]]*\] //' | grep -E 'Performance Events|PMU driver|PMU hardware|Broken BIOS')
	expect_says "the built-in driver" 'PMU driver' "$said" &&
		expect_not "the built-in driver" 'Broken|software events only' "$said" &&
		expect_says "its PMU" '^(cpu|armv8_pmuv3.*)$' "$(builtin_pmu)"
}

builtin_counts()
{
	expect_range "instructions" 1000000 10000000000 "$(stat_count instructions:u workload)"
}

builtin_records()
{
	need_extra max_precise
	perf record -b -o /tmp/perf.data -c 1000003 -e cycles:upp workload >/dev/null 2>&1 ||
		return 1
	said=$(perf script -i /tmp/perf.data -F comm,brstack 2>/dev/null)
	expect_says "its samples" 'workload +0x[0-9a-f]+/0x' "$said"
}

crash_rejects_pmu()
{
	said=$(dmesg | sed 's/^\[[^]]*\] //' | grep 'Performance Events')
	expect_says "the built-in driver" 'software events only' "$said"
}

crash_builtin_found_it()
{
	[ -n "$BUILTIN" ] || skip "the crash kernel is without the built-in driver"
	builtin_found_it
}

crash_counts()
{
	if [ "$VENDOR" = arm ] && [ -n "$BUILTIN" ]; then
		builtin_counts
		return
	fi
	insmod "$MODULE" || return 1
	count=$(stat_count "corepmu/$INSTRUCTIONS/u" workload)
	rmmod corepmu || return 1
	expect_range "instructions" 1000000 10000000000 "$count"
}

no_unknown_nmi()
{
	[ "$VENDOR" != arm ] || skip "arm64 kernels have no message about unknown NMIs"
	expect_not "the kernel's log" 'NMI received for unknown reason|dazed' "$(dmesg)"
}

if [ "$1" = --next ] && [ -n "$crash" ]; then
	resume 7 3
	check "the crash kernel has the memory of the crashed kernel" crashed_memory
	if [ "$VENDOR" = arm ]; then
		check "the crash kernel's built-in driver uses the PMU" crash_builtin_found_it
	else
		check "the crash kernel's built-in driver rejects a PMU that counts" crash_rejects_pmu
	fi
	check "the crash kernel's driver counts" crash_counts
	check "the crash kernel reports no unknown NMI" no_unknown_nmi
	finish
elif [ "$1" = --next ]; then
	resume 7 3
	check "the next kernel's built-in driver takes the PMU" builtin_found_it
	check "the next kernel's built-in driver counts" builtin_counts
	check "the next kernel's built-in driver has records" builtin_records
	check "the next kernel reports no unknown NMI" no_unknown_nmi
	finish
fi

plan 7
check "all counters are busy" busy
check "branch records and precise samples are recorded" records
check "the guest's root is packed" pack
start_next
echo "Bail out! the next kernel did not start"
exit 1
