#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# kinds - CPUs of two types with ACPI: one PMU per type, and CPUs that come online
#
# The guest has three CPUs. CPU 1 has another type, and only CPU 0 is online.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

online()
{
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online"
}

# counts_on CPU [PMU]: print the PMU's count for a task that stays on that CPU
counts_on()
{
	taskset -c "$1" perf stat -x, -o /tmp/out -e "${2:-corepmu}/$INSTRUCTIONS/u" workload
	counted "$INSTRUCTIONS"
}

# cpus_are PMU CPUS [PMU CPUS]
cpus_are()
{
	while [ $# -gt 0 ]; do
		expect_equal "CPUs of $1" "$2" "$(cat "$DEVICES/$1/cpus" 2>/dev/null)" || return 1
		shift 2
	done
}

load_on_one()
{
	expect_equal "CPUs online" 0 "$(cat /sys/devices/system/cpu/online)" &&
		insmod "$MODULE" &&
		cpus_are corepmu 0
}

other_kind_stays_out()
{
	dmesg_mark other
	online 1 1 || return 1
	cpus_are corepmu 0 || return 1
	expect_says "the kernel's log" \
		'^corepmu: CPU1 has a CPU type of which no CPU was online .*0x411fd040' \
		"$(dmesg_since other)" || return 1
	expect_equal "a task's instructions there" '<not counted>' "$(counts_on 1)" || return 1
	perf stat -C 1 -x, -o /tmp/none -e "corepmu/$CYCLES/" true 2>/dev/null
	expect_not "cycles there" '^[0-9]' "$(cat /tmp/none)"
}

same_kind_joins()
{
	online 2 1 || return 1
	cpus_are corepmu 0,2 || return 1
	expect_range "a task's instructions there" 1000000 10000000000 "$(counts_on 2)" || return 1
	perf stat -C 2 -x, -o /tmp/out -e "corepmu/$CYCLES/" taskset -c 2 workload
	expect_range "cycles there" 1000 1000000000000 "$(counted "$CYCLES")"
}

samples_where_joined()
{
	perf record -o /tmp/perf.data -e "corepmu/$INSTRUCTIONS/u" -c 100000 \
		taskset -c 2 workload >/dev/null 2>&1 || return 1
	instructions=$(counts_on 2)
	expect_range "samples" $((instructions / 100000 - 1)) $((instructions / 100000 + 1)) \
		"$(perf script -i /tmp/perf.data -F ip 2>/dev/null | grep -c .)"
}

go_and_come()
{
	for cpu in 1 2 1 2; do
		online "$cpu" 0 && online "$cpu" 1 || return 1
	done
	cpus_are corepmu 0,2 || return 1
	expect_range "a task's instructions on CPU 2" 1000000 10000000000 "$(counts_on 2)"
}

two_kinds()
{
	rmmod corepmu || return 1
	dmesg_mark two
	insmod "$MODULE" && cpus_are corepmu 0,2 corepmu_1 1 || return 1
	expect_not "the kernel's log" 'kind' "$(dmesg_since two)"
}

# Each PMU counts on its own CPUs. A task executes a few instructions before it is on its CPU.
each_counts()
{
	for cpu in 0 1 2; do
		own=corepmu other=corepmu_1
		[ $cpu != 1 ] || own=corepmu_1 other=corepmu
		expect_range "$own on CPU $cpu" 1000000 10000000000 "$(counts_on $cpu $own)" ||
			return 1
		expect_says "$other on CPU $cpu" '^(<not counted>|[0-9]{1,6})$' \
			"$(counts_on $cpu $other)" || return 1
	done
}

# A program that perf runs
cat >/tmp/everywhere <<'EOT'
#!/bin/sh
for cpu in 0 1 2; do
	taskset -c $cpu workload
done
EOT
chmod +x /tmp/everywhere

record_all()
{
	perf record -a -c 100003 -o /tmp/perf.data \
		-e "corepmu/$INSTRUCTIONS/u,corepmu_1/$INSTRUCTIONS/u" \
		/tmp/everywhere >/tmp/out 2>&1 ||
		{ cat /tmp/out; return 1; }
	perf script -i /tmp/perf.data -F cpu,event 2>/dev/null | sort | uniq -c >/tmp/seen
	for seen in '0\] +corepmu/' '1\] +corepmu_1/' '2\] +corepmu/'; do
		expect_says "samples" "\[00$seen" "$(cat /tmp/seen)" || return 1
	done
	expect_not "samples" '\[00[02]\] +corepmu_1|\[001\] +corepmu/' "$(cat /tmp/seen)"
}

# The perf tool opens one event per CPU type, whatever the number of CPUs.
stat_all()
{
	perf stat -a -x, -o /tmp/out -e "corepmu/$INSTRUCTIONS/u,corepmu_1/$INSTRUCTIONS/u" \
		/tmp/everywhere || return 1
	all_counted /tmp/out
}

kinds_go_and_come()
{
	for cpu in 1 2 1; do
		online "$cpu" 0 && online "$cpu" 1 || return 1
	done
	cpus_are corepmu 0,2 corepmu_1 1 && each_counts && record_all
}

# A task could move to CPUs of another type and read counters there. perf 7 gives up, older
# versions go on.
user_reads_bound()
{
	event=corepmu_1/$INSTRUCTIONS,rdpmc=1/u
	perf stat -x, -o /tmp/out -e "$event" workload >/dev/null 2>&1
	expect_not "a task that may go anywhere" '^[0-9]' "$(cat /tmp/out)" || return 1
	taskset -c 0,2 perf stat -x, -o /tmp/out -e "$event" workload >/dev/null 2>&1
	expect_not "one bound to the other kind" '^[0-9]' "$(cat /tmp/out)" || return 1
	taskset -c 1 perf stat -x, -o /tmp/out -e "$event" workload || return 1
	all_counted /tmp/out
}

# load_as PARAMETER...
load_as()
{
	rmmod corepmu && insmod "$MODULE" "$@"
}

named_as_built_in()
{
	load_as standin=1 && cpus_are armv8_pmuv3_0 0,2 armv8_pmuv3_1 1 &&
		expect_range "on CPU 1" 1000000 10000000000 "$(counts_on 1 armv8_pmuv3_1)"
}

type_is_of_the_first()
{
	load_as type=77 && cpus_are corepmu 0,2 corepmu_1 1 || return 1
	expect_equal "type of the first" 77 "$(cat "$DEVICES"/corepmu/type)" &&
		expect_not "type of the second" '^77$' "$(cat "$DEVICES"/corepmu_1/type)"
}

gone()
{
	rmmod corepmu || return 1
	expect_true "no PMU" test ! -e "$DEVICES/corepmu" -a ! -e "$DEVICES/corepmu_1" &&
		expect_not "/proc/interrupts" corepmu "$(cat /proc/interrupts)"
}

plan 15
check "the module loads with one CPU online" load_on_one
check "a CPU whose type was not online at load has no PMU, and the log says so" other_kind_stays_out
check "a CPU of the PMU's type that comes online has the PMU" same_kind_joins
check "a CPU that came online takes overflow interrupts" samples_where_joined
check "CPUs that go offline and online count and take interrupts" go_and_come
check "with two CPU types online there are two PMUs" two_kinds
check "each PMU counts on its CPUs only" each_counts
check "perf stat -a counts both CPU types" stat_all
check "perf record -a samples each CPU type on its CPUs" record_all
check "CPUs of both types go offline and online" kinds_go_and_come
check "user space may read if the task is bound to one CPU type" user_reads_bound
check "with standin=1 PMUs have the built-in driver's names" named_as_built_in
check "type= is the type of the first PMU" type_is_of_the_first
check "unload leaves nothing" gone
check "the kernel logs no warning" no_kernel_warning
finish
