#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# precise-perf - the perf tool with precise samples, as users run it
#
# For Intel's PMU with adaptive records (Ice Lake), named "cpu", which perf's memory commands look
# for.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

data=/tmp/perf.data

# The workload has almost no loads; a shell that counts has many.
# shellcheck disable=SC2016 # for the shell that counts
counting='i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done'

# has_samples EVENT: expect samples of the event
has_samples()
{
	samples=$(perf script -i "$data" -F ip 2>/dev/null | grep -c .)
	expect_range "samples of $1" 10 1000000 "$samples"
}

# record EVENT OPTION...: record samples of the workload; fails without samples
record()
{
	event=$1
	shift
	perf_to record "$@" -o "$data" -e "$event" workload && has_samples "$event"
}

# record_loads EVENT OPTION...: record samples of a shell that counts
record_loads()
{
	event=$1
	shift
	perf_to record "$@" -c 997 -o "$data" -e "$event" sh -c "$counting" && has_samples "$event"
}

# fields NAMES: print these fields of each sample by perf script
fields()
{
	perf script -i "$data" -F "$1" 2>/tmp/err || { cat /tmp/err; return 1; }
}

# percent_of PATTERN: print the percentage of matching lines in /tmp/out
percent_of()
{
	awk -v pattern="$1" '{ n++; if ($0 ~ pattern) right++ }
		END { print n ? int(right * 100 / n) : 0 }' /tmp/out
}

# precise_of NUMBER: check that perf opened the event with this precise_ip
precise_of()
{
	said=$(perf evlist -v -i "$data" 2>/dev/null)
	expect_says "perf evlist -v" "precise_ip: $1[,}]" "$said"
}

# record_workload EVENT NUMBER: record an event that perf opens with this precise_ip; with kernel
# samples, one function has 70 percent of the workload's time
record_workload()
{
	record "$1" -c 95339 && precise_of "$2" || return 1
	said=$(perf report --stdio -i "$data" --sort symbol 2>/dev/null)
	expect_says "perf report" '[67][0-9]\.[0-9]+% .*spin_70_percent' "$said"
}

# Samples with branch stacks
record_branches()
{
	record cycles:upp -c 95339 -b || return 1
	fields ip,sym,brstack >/tmp/out
	expect_range "percent of samples in a loop that has branched to where it is" 90 100 \
		"$(percent_of '0x[0-9a-f]+/0x[0-9a-f]+/[PM]/')"
}

# Print the number of overflow interrupts so far.
interrupts()
{
	awk '$1 == "PMI:" { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i }
		END { print n + 0 }' /proc/interrupts
}

# Check that perf core notifies the driver of every task switch: Linux 7.3, or 6.12.112 of 6.12
notifies_every_switch()
{
	# shellcheck disable=SC2046 # words
	set -- $(uname -r | tr -c '0-9\n' ' ')
	set -- $(($1 * 1000000 + $2 * 1000 + $3))
	[ "$1" -ge 7003000 ] || { [ "$1" -ge 6012112 ] && [ "$1" -lt 6013000 ]; }
}

# Large PEBS: an interrupt brings many records. For events of a whole CPU perf core must notify the
# driver of every task switch.
record_cpus()
{
	before=$(interrupts)
	record instructions:upp -a -c 100007 || return 1
	taken=$(($(interrupts) - before))
	if notifies_every_switch; then
		expect_range "interrupts of $samples samples" 0 $((samples / 10)) $taken
	else
		expect_range "interrupts of $samples samples" "$samples" 1000000 $taken
	fi
}

record_registers()
{
	record instructions:upp -c 95339 --intr-regs=ax,xmm0 || return 1
	fields ip,iregs >/tmp/out
	expect_range "percent of samples with registers" 100 100 \
		"$(percent_of 'AX:0x[0-9a-f]+ +XMM0:0x[0-9a-f]+')"
}

# Lines of two addresses of which the first, that of the data, is not 0
nonzero='^ *[0-9a-f]*[1-9a-f][0-9a-f]* +[0-9a-f]+ *$'

# The address of loaded data, in user space
record_addresses()
{
	record_loads "$loads" -d || return 1
	fields ip,addr >/tmp/out
	expect_range "percent of samples with an address" 99 100 "$(percent_of "$nonzero")"
}

record_physical()
{
	record_loads "$loads" -d --phys-data || return 1
	fields ip,phys_addr >/tmp/out
	expect_range "percent of samples with a physical address" 90 100 "$(percent_of "$nonzero")"
}

# The virtual PMU gives loads latencies of 4 to 230 cycles, by cache line.
record_weights()
{
	record_loads "$slow_loads" -W || return 1
	fields weight >/tmp/out
	expect_range "percent of samples with a weight" 100 100 \
		"$(percent_of '^ *(4|5|9|14|16|44|70|230) *$')"
}

everything_at_once()
{
	record_loads "$slow_loads" -d -W --intr-regs=ax,xmm0 || return 1
	fields +iregs,addr,weight,data_src >/tmp/out
	expect_range "percent of samples with all of it" 99 100 \
		"$(percent_of '\|OP LOAD\|LVL .*AX:0x')"
}

# Most cache lines of the virtual PMU have no data source that is a hit. A sample period
# gives enough samples to find the others; a frequency gives too few.
mem_loads()
{
	perf_to mem record -t load -c 997 -o "$data" sh -c "$counting" || return 1
	said=$(perf mem report -i "$data" --stdio 2>&1)
	expect_says "perf mem report" 'L1 .*hit' "$said" &&
		expect_says "perf mem report" 'RAM.*hit|Local RAM|RAM hit' "$said"
}

mem_stores()
{
	perf_to mem record -t store -c 997 -o "$data" sh -c "$counting" || return 1
	said=$(perf mem report -i "$data" --stdio 2>&1)
	expect_says "perf mem report" 'L1 .*hit' "$said"
}

c2c()
{
	perf_to c2c record -o "$data" -- sh -c "$counting" || return 1
	said=$(perf c2c report -i "$data" --stdio 2>/dev/null)
	expect_says "perf c2c report" 'Load Operations +: +[1-9]' "$said" &&
		expect_says "perf c2c report" 'Load HITM|Load Local HITM' "$said" &&
		expect_says "perf c2c report" 'Store Operations +: +[1-9]' "$said"
}

plan 13
loads=$PMU/event=0xd0,umask=0x81/upp
slow_loads=$PMU/mem-loads,ldlat=3/upp
check "perf record -e cycles:pp" record_workload cycles:pp 2
check "perf record -e instructions:ppp" record_workload instructions:ppp 3
check "perf record -b -e cycles:upp" record_branches
check "perf record -a: one interrupt for many records, if notified of every switch" record_cpus
check "perf record --intr-regs=ax,xmm0" record_registers
check "perf record -d" record_addresses
check "perf record --phys-data" record_physical
check "perf record -W" record_weights
check "perf script -F +iregs,addr,weight,data_src" everything_at_once
check "perf mem record -t load, and report" mem_loads
check "perf mem record -t store, and report" mem_stores
check "perf c2c record, and report" c2c
rm -f "$data" "$data.old" /tmp/out /tmp/err
check_references
finish
