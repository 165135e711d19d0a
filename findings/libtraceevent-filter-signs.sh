#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Filters of libtraceevent 1.7.1 (Debian 12: 1:1.7.1-1), as trace-cmd report -F takes them, match other events than
# those asked for if a number is negative. The library accepts them all, and there is no message:
#
# - "ret == -11" is the subtraction ret - 11: each event matches whose ret is not 11. The same holds for all
#   comparisons: "ret != -11" matches the events that it should drop, and "ret < -1" is ret - 1.
# - Comparisons are unsigned, also for signed fields: "ret < 0" never matches, and "ret > 0" matches all errors.
# - "ret == 18446744073709551605" is the way to ask for -11, also for a field of 4 bytes.
#
# trace-cmd-report(1) has "-" among its operators and says nothing of signs. The kernel's filters of the same form
# know them.
#
# Cause: process_filter() of parse-filter.c takes "-" for an operator, whatever stands before it. The subtraction
# takes the left side of the comparison, which is lost. test_num() compares unsigned long long.
#
# The script matches events whose ret is -11, -2, 0, 2 and 11. It needs cc and Debian 12's archive; no tracefs is
# needed.
# Status: 0 if the library behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in cc apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download libtraceevent-dev=1:1.7.1-1 libtraceevent1=1:1.7.1-1) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done
lib="$work/root/usr/lib/x86_64-linux-gnu"

cat >program.c <<'END'
#include <stdio.h>
#include <string.h>
#include <event-parse.h>

static const char format[] =
	"name: exit\nID: 1\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:int ret;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"%d\", REC->ret\n";

int main(void)
{
	static const char * const filters[] = {
		"ret == -11", "ret != -11", "ret < -1", "ret >= -2", "ret < 0", "ret > 0", "ret == 18446744073709551605",
	};
	struct tep_handle *tep = tep_alloc();

	if (!tep || tep_parse_event(tep, format, strlen(format), "calls"))
		return 77;
	for (unsigned int i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
		struct tep_event_filter *filter = tep_filter_alloc(tep);
		static const int rets[] = { -11, -2, 0, 2, 11 };
		char text[100];

		snprintf(text, sizeof(text), "calls/exit: %s", filters[i]);
		if (tep_filter_add_filter_str(filter, text))
			return 77;
		printf("%s matches", filters[i]);
		for (unsigned int k = 0; k < sizeof(rets) / sizeof(*rets); k++) {
			int event[3] = { 1, 7, rets[k] };
			struct tep_record record = { .data = event, .size = sizeof(event) };

			if (tep_filter_match(filter, &record) == TEP_ERRNO__FILTER_MATCH)
				printf(" %d", rets[k]);
		}
		printf("; the filter is %s\n", tep_filter_make_string(filter, 1));
		tep_filter_free(filter);
	}
	return 0;
}
END
cc -o program program.c -I root/usr/include/traceevent -L "$lib" -ltraceevent ||
	{ echo 'SKIP: the program does not build'; exit 77; }
LD_LIBRARY_PATH="$lib" ./program >seen || { echo 'SKIP: the library has no filters here'; exit 77; }
echo '# libtraceevent 1.7.1'
cat seen
cat >expected <<'END'
ret == -11 matches -11 -2 0 2; the filter is ret - 11
ret != -11 matches -11 -2 0 2; the filter is ret - 11
ret < -1 matches -11 -2 0 2 11; the filter is ret - 1
ret >= -2 matches -11 -2 0 11; the filter is ret - 2
ret < 0 matches; the filter is ret < 0
ret > 0 matches -11 -2 2 11; the filter is ret > 0
ret == 18446744073709551605 matches -11; the filter is ret == -11
END
diff expected seen >/dev/null || { echo 'CHANGED: the library does not behave as described'; exit 1; }
echo 'as described'
