#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The driver's parsers of PEBS records, x86/pebs/record.c and arch/record.c, in a program: random
# bytes, under AddressSanitizer and UndefinedBehaviorSanitizer. COREPMU_ROUNDS is the number of
# buffers, COREPMU_SEED selects them.
. "$(dirname "$0")/../host-test.sh"
rounds=${COREPMU_ROUNDS:-400000}
seed=${COREPMU_SEED:-22}
here=tools/testing/host/records
sources=(drivers/corepmu/x86/pebs/record.c drivers/corepmu/x86/pebs/arch/record.c)

# records.h replaces the kernel's headers, and a few constants the driver's.
build()
{
	local header

	sed -n 's/^#include <\(.*\)>.*/\1/p' "${sources[@]}" drivers/corepmu/x86/pebs/{record,precise}.h | sort -u |
		while IFS= read -r header; do
			mkdir -p "$work/include/${header%/*}"
			echo '#include "records.h"' >"$work/include/$header"
		done
	sed -n -E '/^#define COREPMU_(MAX_BRANCHES|MAX_COUNTERS|EVENT_BACKEND)\>/p' include/corepmu/*.h \
		include/corepmu/*/*.h >"$work/include/constants.h"
	gcc -include "$work/include/constants.h" -O1 -g -Wall -Werror -fsanitize=address,undefined -fno-sanitize-recover=all \
		-I "$work/include" -I "$here" -I drivers/corepmu/x86/pebs \
		-o "$work/records" "$here/main.c" "${sources[@]}"
}

# shellcheck disable=SC2329 # called by check
fuzz()
{
	local said

	said=$("$work/records" "$rounds" "$seed" 2>&1) || {
		echo "$said" | head -n 30
		return 1
	}
	# Whole records are found, and some in changed buffers.
	expect_says "what was found" '^[1-9][0-9]{4,} records, and [1-9][0-9]{4,} among' "$said"
}

plan 2
check "the parsers build as a program" expect_true "a program" build
check "bytes of all kinds: nothing beyond them is read, counting and parsing agree" fuzz
finish
