#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# nmi - overflow interrupts that are NMIs, with irqchip.gicv3_pseudo_nmi=1, and without it
#
# For a kernel with CONFIG_ARM64_PSEUDO_NMI, which Debian's kernels lack, and for either driver:
# see corepmu-contributing.rst. The console driver writes with interrupts off.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

WRITING='pl011_console_putchar|pl011_read|uart_console_write'
nmis=
! grep -q 'irqchip.gicv3_pseudo_nmi=1' /proc/cmdline || nmis=1

# A program that perf runs
cat >/tmp/messages <<'EOT'
#!/bin/sh
line=$(printf '%064d' 0)
for i in $(seq 40); do
	echo "<1>$i $line" >/dev/kmsg
done
EOT
chmod +x /tmp/messages

samples()
{
	perf script -i /tmp/perf.data -F ip,sym 2>/dev/null
}

log_says()
{
	said=$(dmesg | grep -E 'corepmu: overflow interrupts are NMIs|PMU driver, .*using NMIs')
	if [ -n "$nmis" ]; then
		expect_says "the kernel's log" NMIs "$said"
	else
		expect_equal "the kernel's log" '' "$said"
	fi
}

# Without NMIs, samples show the place that enables interrupts. On newer kernels a thread
# writes to the console.
with_interrupts_off()
{
	kernel_symbols shown
	dmesg -n 8
	perf record -a -c 2003 -e "$PMU/$INSTRUCTIONS/k" -o /tmp/perf.data /tmp/messages \
		>/tmp/out 2>&1 || { cat /tmp/out; return 1; }
	dmesg -n 5
	samples >/tmp/seen
	kernel_symbols hidden
	expect_range "samples" 100 1000000 "$(wc -l </tmp/seen)" || return 1
	if [ -n "$nmis" ]; then
		expect_range "samples in the console's driver" 20 1000000 \
			"$(grep -cE "$WRITING" /tmp/seen)"
	else
		expect_equal "samples in the console's driver" 0 \
			"$(grep -cE "$WRITING" /tmp/seen)"
	fi
}

# each_sample [COMMAND...]: a workload has one sample per period
each_sample()
{
	perf stat -x, -o /tmp/out -e "$PMU/$INSTRUCTIONS/u" workload || return 1
	all=$(($(counted "$INSTRUCTIONS") / 100003))
	perf record -c 100003 -e "$PMU/$INSTRUCTIONS/u" -o /tmp/perf.data "$@" workload \
		>/dev/null 2>&1 || return 1
	expect_range "samples" $((all - 4)) $((all + 4)) "$(samples | wc -l)"
}

# Read a counter while its period, or another counter's, ends again and again.
read_meanwhile()
{
	perf record -a -c 1009 -e "$PMU/$INSTRUCTIONS/" -o /tmp/perf.data \
		perf stat -I 10 -x, -o /tmp/out -e "$PMU/$INSTRUCTIONS/u" workload \
		>/tmp/said 2>&1 || { cat /tmp/said; return 1; }
	expect_range "times it was read" 1 100000 "$(grep -c "$INSTRUCTIONS" /tmp/out)" &&
		expect_not "what it read" ',-|,[0-9]{15}' "$(cat /tmp/out)"
}

go_and_come()
{
	for _ in 1 2; do
		echo 0 >/sys/devices/system/cpu/cpu1/online &&
			echo 1 >/sys/devices/system/cpu/cpu1/online || return 1
	done
	each_sample taskset -c 1
}

load_again()
{
	[ -z "$BUILTIN" ] || skip "the built-in driver stays"
	for _ in 1 2 3; do
		rmmod corepmu && insmod "$MODULE" || return 1
	done
	each_sample
}

plan 7
check "the log says what overflow interrupts are" log_says
check "code with interrupts off" with_interrupts_off
check "a sample for each period" each_sample
check "a count that is read while another event samples" read_meanwhile
check "a CPU goes offline and online" go_and_come
check "the module is loaded again" load_again
check "the kernel logs no warning" no_kernel_warning '|NMI backtrace'
finish
