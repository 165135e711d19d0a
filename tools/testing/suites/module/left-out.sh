#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# left-out - the self-test names a counter that fails and leaves it out; the other counters are
# right
#
# The guest's stanza breaks a counter. The kernel's command line says what to expect:
#   corepmu_test.left_out=NAME  the counter's name in the module's message, _ for a blank
#   corepmu_test.room=N         number of $EVENT events that count at the same time
# shellcheck source=../../../lib/guest.sh
. /corepmu/tests/guest.sh

value() { sed -n "s/.*corepmu_test\.$1=\([^ ]*\).*/\1/p" /proc/cmdline; }

name=$(value left_out | tr _ ' ')
room=$(value room)
if [ -z "$name" ] || [ -z "$room" ]; then
	echo "Bail out! the command line names no counter, or no room"
	exit 1
fi
# An event without a dedicated counter
EVENT=branch-instructions
[ "$VENDOR" != arm ] || EVENT=$INSTRUCTIONS

# Count so many such events while the workload runs; print status and output of perf stat -x,.
count_at_once()
{
	list=$PMU/$EVENT/u
	for _ in $(seq 2 "$1"); do
		list="$list,$PMU/$EVENT/u"
	done
	perf stat -x, -o /tmp/out -e "$list" workload >/dev/null 2>&1
	grep "$EVENT" /tmp/out
}

named()
{
	expect_equal "what is said" \
		"corepmu: CPU0: counter $name does not count (used by the host or firmware?): left out" \
		"$(dmesg | sed 's/^\[[^]]*\] //' | grep 'left out')"
}

others_count()
{
	count_at_once "$room"
	expect_equal "events" "$room" "$(counted "$EVENT" | wc -l)" &&
		expect_equal "events that ran all the time" "$room" "$(grep -c ',100\.00,' /tmp/out)" &&
		expect_range "difference between their counts" 0 200 \
			"$(counted "$EVENT" | sort -n | awk 'NR == 1 { low = $1 } END { print $1 - low }')" &&
		expect_range "the lowest count" 1000000 10000000000 "$(counted "$EVENT" | sort -n | head -n 1)"
}

no_more_than_others()
{
	count_at_once $((room + 1))
	expect_equal "events" $((room + 1)) "$(counted "$EVENT" | wc -l)" &&
		expect_equal "events that ran all the time, of one too many" 0 \
			"$(grep -c ',100\.00,' /tmp/out)" &&
		expect_range "the lowest count" 1000000 10000000000 "$(counted "$EVENT" | sort -n | head -n 1)"
}

again()
{
	rmmod corepmu && insmod "$MODULE" && others_count
}

plan 4
check "the counter is named, and nothing else is said" named
check "events on all other counters count exactly, all the time" others_count
check "one more event takes turns with the others" no_more_than_others
check "the others count after unload and load" again
finish
