#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# validate-observe - pmu-validate --observe: each question has an answer, the same in two runs
# shellcheck source=../lib/guest.sh
. /corepmu/tests/guest.sh

# Ask only subjects whose answers depend on nothing but the kernel and the PMU.
ask() { pmu-validate --pmu "$PMU" --observe --filter count: --filter page: --filter refusal:; }

answered()
{
	said=$(ask) || return 1
	without=$(echo "$said" | grep -vP '^[a-z]+: [^\t]+\t.' | head -n 1)
	expect_equal "a question without an answer" "" "$without" &&
		expect_equal "a question whose process is killed" "" "$(echo "$said" | grep 'its process is killed')"
}

asked_again()
{
	ask >/tmp/first
	ask >/tmp/second
	expect_equal "answers that differ" "" "$(diff /tmp/first /tmp/second)"
}

# What any kernel and PMU must answer
known()
{
	said=$(ask)
	expect_says "the size of attributes" 'attr.size	0: accepted, 63: E2BIG, 64: accepted' "$said" &&
		expect_says "members" 'members of a group	on one CPU, of a leader on any: EINVAL' "$said"
}

refused()
{
	said=$(pmu-validate --pmu "$PMU" --observe --filter "no such question" 2>&1)
	expect_equal "status" 2 $? && expect_says "what is said" 'no question has the text' "$said"
}

plan 4
check "each question has an answer" answered
check "a second run has the same answers" asked_again
check "answers are the kernel's" known
check "a filter that no question has is refused" refused
finish
