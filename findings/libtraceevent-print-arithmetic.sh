#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# libtraceevent 1.7.1 (Debian 12: 1:1.7.1-1), with which trace-cmd prints tracepoints, computes the expressions in an
# event's format in another way than C. The kernel's own trace file is C's result. There is no message:
#
# - Numbers of 8 and 16 bits have no sign in "%d". i2c_result and netfs_failure of Linux 6.1 have 16 bits for an error:
#   -6 is 65530.
# - No field has a sign in expressions. kvm_wait_lapic_expire asks for delta < 0, and is always "late", never "early".
#   -5 / 2 is 2147483645.
# - a - b + 1 is a - (b + 1), and 100 / 10 / 2 is 20. Btrfs's events of RAID 5 and 6 number parity stripes so: the first
#   one is PQ-1, not PQ1.
# - a ? b : c ? d : e is (a ? b : c) ? d : e.
#
# The library's filters have other faults: see libtraceevent-filter-signs.sh.
#
# Cause: tep_read_number() of event-parse.c extends numbers with zeros, whatever the field's sign, and eval_num_arg()
# computes in unsigned long long. process_op() nests operators of one precedence to the right.
#
# The script prints an event with formats that have these expressions, and lets C compute the same. It needs cc and
# Debian 12's archive; no tracefs is needed.
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
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <event-parse.h>

static const struct event {
	unsigned short type;
	unsigned char flags, preempt_count;
	int pid;
	long long delta, ns;
	int err, half, one, zero;
	short ret;
	unsigned char stripe_nr, nr_data;
} event = { 1, 0, 0, 7, -500, -5000, -4, -5, 1, 0, -6, 2, 2 };

#define FIELD(type, name, sign) \
	"\tfield:" #type " " #name ";\toffset:%zu;\tsize:%zu;\tsigned:" #sign ";\n"
#define PLACE(name) offsetof(struct event, name), sizeof(event.name)

static void add(struct tep_handle *tep, const char *print)
{
	static char text[2000];

	snprintf(text, sizeof(text), "name: event\nID: 1\nformat:\n"
		 FIELD(unsigned short, common_type, 0) FIELD(int, common_pid, 1) "\n"
		 FIELD(s64, delta, 1) FIELD(s64, ns, 1) FIELD(int, err, 1) FIELD(int, half, 1) FIELD(int, one, 1)
		 FIELD(int, zero, 1) FIELD(short, ret, 1) FIELD(u8, stripe_nr, 0) FIELD(u8, nr_data, 0)
		 "\nprint fmt: %s\n", PLACE(type), PLACE(pid), PLACE(delta), PLACE(ns), PLACE(err), PLACE(half),
		 PLACE(one), PLACE(zero), PLACE(ret), PLACE(stripe_nr), PLACE(nr_data), print);
	if (tep_parse_event(tep, text, strlen(text), "system"))
		exit(77);
}

/* Print an expression, what C makes of it, and what the library makes of it. */
#define SHOW(format, expression) do { \
	struct tep_handle *tep = tep_alloc(); \
	struct tep_record record = { .data = (void *)REC, .size = sizeof(*REC) }; \
	struct trace_seq seq; \
	tep_set_long_size(tep, sizeof(long)); \
	add(tep, "\"" format "\", " #expression); \
	trace_seq_init(&seq); \
	tep_print_event(tep, &seq, &record, "%s", TEP_PRINT_INFO); \
	trace_seq_terminate(&seq); \
	printf("%s, %s: C " format ", libtraceevent %s\n", format, #expression, expression, seq.buffer); \
	trace_seq_destroy(&seq); \
	tep_free(tep); \
} while (0)

int main(void)
{
	const struct event *REC = &event;

	SHOW("ret=%d", REC->ret);
	SHOW("%s", REC->delta < 0 ? "early" : "late");
	SHOW("%s", REC->err < 0 ? "error" : "reason");
	SHOW("%d", REC->half / 2);
	SHOW("%lld", REC->ns / 1000);
	SHOW("PQ%d", REC->stripe_nr - REC->nr_data + 1);
	SHOW("%d", 100 / 10 / 2);
	SHOW("%d", REC->one ? 2 : REC->zero ? 3 : 4);
	return 0;
}
END
cc -o program program.c -I root/usr/include/traceevent -L "$lib" -ltraceevent ||
	{ echo 'SKIP: the program does not build'; exit 77; }
LD_LIBRARY_PATH="$lib" ./program >seen || { echo 'SKIP: the library does not parse the formats'; exit 77; }
echo '# libtraceevent 1.7.1'
cat seen
cat >expected <<'END'
ret=%d, REC->ret: C ret=-6, libtraceevent ret=65530
%s, REC->delta < 0 ? "early" : "late": C early, libtraceevent late
%s, REC->err < 0 ? "error" : "reason": C error, libtraceevent reason
%d, REC->half / 2: C -2, libtraceevent 2147483645
%lld, REC->ns / 1000: C -5, libtraceevent 18446744073709546
PQ%d, REC->stripe_nr - REC->nr_data + 1: C PQ1, libtraceevent PQ-1
%d, 100 / 10 / 2: C 5, libtraceevent 20
%d, REC->one ? 2 : REC->zero ? 3 : 4: C 2, libtraceevent 3
END
diff expected seen >/dev/null || { echo 'CHANGED: the library does not behave as described'; exit 1; }
echo 'as described'
