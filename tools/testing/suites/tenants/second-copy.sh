#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# second-copy - a copy of the module under another name does not load beside the first
#
# For guests where corepmu is not loaded, with the built-in driver or without. The kernel identifies a
# module by the name inside its file, not by the file's name. second-copy_rename changes the name
# inside.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

COPY=/tmp/copiedpmu.ko
# The PMU of the module, also beside the built-in driver
PMU=corepmu

copy_is_another_module()
{
	/corepmu/tests/second-copy_rename "$MODULE" copiedpmu >$COPY &&
		expect_true "the copy loads alone" insmod $COPY name=copied &&
		expect_true "its name" test -d /sys/module/copiedpmu || return 1
	count=$(stat_count "copied/$INSTRUCTIONS/u" true)
	rmmod copiedpmu && expect_range "instructions" 2000 1000000 "$count"
}

# On arm64 sampling=0 leaves the interrupt free, which only one driver can request. On x86 the kernel
# has 8 KiB (PERCPU_MODULE_RESERVE) for the per-CPU variables of all modules. If both copies need
# more, the second fails earlier, with the message too_large.
parameter=
[ "$VENDOR" != arm ] || parameter=sampling=0
too_large='Could not allocate [0-9]+ bytes percpu data'
[ "$VENDOR" != arm ] || too_large=-

copy_is_refused()
{
	insmod "$MODULE" $parameter || return 1
	dmesg_mark copy
	insmod $COPY name=copied $parameter 2>/dev/null && { rmmod copiedpmu; echo "it loaded"; return 1; }
	expect_says "the log" \
		"^copiedpmu: (exports duplicate symbol corepmu_drives_the_counters \(owned by corepmu\)|$too_large)\$" \
		"$(dmesg_since copy)" &&
		expect_true "no PMU of the copy" test ! -e "$DEVICES/copied"
}

first_counts()
{
	expect_range "instructions" 2000 1000000 "$(stat_count "$PMU/$INSTRUCTIONS/u" true)"
}

first_gives_way()
{
	rmmod corepmu && expect_true "the copy loads" insmod $COPY name=copied &&
		expect_range "instructions" 2000 1000000 "$(stat_count "copied/$INSTRUCTIONS/u" true)" &&
		rmmod copiedpmu
}

plan 4
check "a copy with another name inside its file is another module" copy_is_another_module
check "the copy does not load beside the first" copy_is_refused
check "the first module counts" first_counts
check "the copy loads after the first is unloaded" first_gives_way
finish
