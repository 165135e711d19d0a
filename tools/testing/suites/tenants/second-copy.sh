#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# second-copy - a copy of the module under another name does not load beside the first
#
# For guests with the module not loaded, with the built-in driver or without. The kernel knows a
# module by the name in its file: a file with another name alone is the same module to it.
# second-copy_rename changes the name in the file.
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

COPY=/tmp/copiedpmu.ko
# The module's, also beside the built-in driver
PMU=corepmu

copy_is_another_module()
{
	/corepmu/tests/second-copy_rename "$MODULE" copiedpmu >$COPY &&
		expect_true "the copy loads alone" insmod $COPY name=copied &&
		expect_true "its name" test -d /sys/module/copiedpmu || return 1
	count=$(stat_count "copied/$INSTRUCTIONS/u" true)
	rmmod copiedpmu && expect_range "instructions" 2000 1000000 "$count"
}

# On arm64 sampling=0 leaves the interrupt, which only one driver can request, free. On x86 the copy
# does not get that far if both need more than the 8 KiB (PERCPU_MODULE_RESERVE) that the kernel has for
# the per-CPU variables of all modules.
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
check "a copy with another name in it is another module" copy_is_another_module
check "it does not load beside the first" copy_is_refused
check "the first counts" first_counts
check "the copy loads after the first is unloaded" first_gives_way
finish
