#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tracefs_sql() of libtracefs 1.6.4 (Debian 12: 1.6.4-1), which turns SQL into triggers of the kernel, groups
# conditions in another way than SQL, C and the kernel's own filters. All of them bind "and" more tightly than
# "or". There is no message, and the synthetic event or the histogram has the wrong records:
#
# - "a && b || c" is a && (b || c). Here it drops the task of pid 7 if its priority is 100 or more.
# - "a && b || c && d" is a && (b || c) && d. Here it drops all wakeups on CPU 5.
# - The same conditions within one pair of parentheses have SQL's order: "(a && b || c)". So does "a || b && c".
#
# tracefs_sql(3) calls the language SQL, and says nothing of the order.
#
# Cause: compare_list of src/sqlhist.y takes "&&" for the separator of the conditions of two events, before
# compare_items sees it. Each condition of the list gets parentheses.
#
# The script prints the triggers of sched_waking for the wakeup latency of tracefs_sql(3). It needs cc and
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
(cd debs && apt-get -qq download libtracefs-dev=1.6.4-1 libtracefs1=1.6.4-1 libtraceevent-dev=1:1.7.1-1 \
	libtraceevent1=1:1.7.1-1) 2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done
lib="$work/root/usr/lib/x86_64-linux-gnu"

cat >program.c <<'END'
#include <stdio.h>
#include <string.h>
#include <tracefs.h>

#define FIELD(type, name, offset, size) \
	"\tfield:" type " " name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:1;\n"
#define EVENT(name, id, fields) \
	"name: " name "\nID: " #id "\nformat:\n" \
	FIELD("unsigned short", "common_type", 0, 2) FIELD("int", "common_pid", 4, 4) "\n" fields \
	"\nprint fmt: \"%d\", REC->common_pid\n"

static const char waking[] = EVENT("sched_waking", 1, FIELD("pid_t", "pid", 8, 4) FIELD("int", "prio", 12, 4)
				   FIELD("int", "target_cpu", 16, 4));
static const char exchange[] = EVENT("sched_switch", 2, FIELD("pid_t", "next_pid", 8, 4));

int main(void)
{
	static const char * const conditions[] = {
		"start.prio < 100 && start.target_cpu = 5 || start.pid = 7",
		"(start.prio < 100 && start.target_cpu = 5 || start.pid = 7)",
		"start.pid = 7 || start.prio < 100 && start.target_cpu = 5",
		"start.prio < 100 && start.target_cpu = 5 || start.pid = 7 && start.target_cpu = 6",
	};
	struct tep_handle *tep = tep_alloc();

	if (!tep || tep_parse_event(tep, waking, strlen(waking), "sched") ||
	    tep_parse_event(tep, exchange, strlen(exchange), "sched"))
		return 77;
	for (unsigned int i = 0; i < sizeof(conditions) / sizeof(*conditions); i++) {
		struct tracefs_synth *event;
		struct trace_seq seq;
		char sql[400];

		snprintf(sql, sizeof(sql),
			 "select start.pid, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) as lat from sched_waking as start "
			 "join sched_switch as end on start.pid = end.next_pid where %s", conditions[i]);
		event = tracefs_sql(tep, "wakeup", sql, NULL);
		if (!event)
			return 77;
		trace_seq_init(&seq);
		tracefs_synth_echo_cmd(&seq, event);
		printf("where %s\n", conditions[i]);
		fflush(stdout);
		trace_seq_do_printf(&seq);
		trace_seq_destroy(&seq);
		tracefs_synth_free(event);
	}
	return 0;
}
END
cc -o program program.c -I root/usr/include -I root/usr/include/traceevent -I root/usr/include/tracefs -L "$lib" \
	-ltracefs -ltraceevent || { echo 'SKIP: the program does not build'; exit 77; }
LD_LIBRARY_PATH="$lib" ./program >program.log || { echo 'SKIP: the library has no SQL here'; exit 77; }
sed -n "/^where/p; s,^echo 'hist:.* \(if .*\)' >> .*/sched_waking/trigger,\t\1,p" program.log >seen
echo '# libtracefs 1.6.4'
cat seen
cat >expected <<'END'
where start.prio < 100 && start.target_cpu = 5 || start.pid = 7
	if prio < 100&&(target_cpu == 5||pid == 7)
where (start.prio < 100 && start.target_cpu = 5 || start.pid = 7)
	if (prio < 100&&target_cpu == 5||pid == 7)
where start.pid = 7 || start.prio < 100 && start.target_cpu = 5
	if pid == 7||prio < 100&&(target_cpu == 5)
where start.prio < 100 && start.target_cpu = 5 || start.pid = 7 && start.target_cpu = 6
	if prio < 100&&(target_cpu == 5||pid == 7)&&(target_cpu == 6)
END
diff expected seen >/dev/null || { echo 'CHANGED: the library does not behave as described'; exit 1; }
echo 'as described'
