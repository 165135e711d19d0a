#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pmdaperfevent, the perf agent of Performance Co-Pilot 6.0.3 (Debian 12: 6.0.3-1.1), reports a rate of 0 for an event
# that had no counter between two fetches, and never makes up for it. There is no message:
#
# - The agent scales what an event counted since the last fetch by the time that it ran since then. If it did not
#   run, the agent adds 0. 1.8e12 cycles of ten minutes are lost for ever, as if the CPU had been off. perf stat,
#   which scales the whole count by both times, has them; an event that never ran is "<not counted>" there.
# - The metric that should tell, dutycycle, is the ratio of all times since the agent's start. After a day with a
#   counter it is 0.993 during ten minutes without one. A ratio of 0.993 looks like a counter that nearly always ran.
#
# An event has no counter for long while pinned events take them all, as those of `perf stat -e cycles:D` and of the
# hard lockup detector.
#
# Cause: scaled_value_delta() of perfinterface.c returns the raw difference if time_running did not grow.
#
# The script stands in for perf_event_open(2), ioctl(2) and read(2): CPU 0 runs at 3 GHz, and its event has a counter
# for a day, none for ten minutes, and one for half of the next ten minutes. It needs cc and Debian 12's archive.
# Status: 0 if the agent behaves as described, 1 if not, 77 if it cannot be tested.
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
(cd debs && apt-get -qq download pcp=6.0.3-1.1 pcp-conf=6.0.3-1.1 libpcp3=6.0.3-1.1 libpcp-pmda3=6.0.3-1.1 \
	libpfm4=4.13.0-1 libreadline8) 2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done

cat >counters.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int event_fd = -1;

long syscall(long number, ...)
{
	long (*libc_syscall)(long, ...) = dlsym(RTLD_NEXT, "syscall");
	va_list args;
	long arg[6];

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number != SYS_perf_event_open)
		return libc_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	event_fd = memfd_create("event", 0);
	return event_fd;
}

int ioctl(int fd, unsigned long request, ...)
{
	int (*libc_ioctl)(int, unsigned long, void *) = dlsym(RTLD_NEXT, "ioctl");
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	return fd == event_fd ? 0 : libc_ioctl(fd, request, arg);
}

/* The time enabled and the time on a counter at each read, in seconds; the last repeats. */
ssize_t read(int fd, void *buf, size_t size)
{
	static const uint64_t enabled[] = { 0, 86400, 87000, 87600 }, running[] = { 0, 86400, 86400, 86700 };
	static unsigned int nr_reads;
	ssize_t (*libc_read)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
	uint64_t value[3];

	if (fd != event_fd || fd < 0 || size < sizeof(value))
		return libc_read(fd, buf, size);
	value[0] = running[nr_reads] * 3000000000;
	value[1] = enabled[nr_reads] * 1000000000;
	value[2] = running[nr_reads] * 1000000000;
	nr_reads += nr_reads < 3;
	memcpy(buf, value, sizeof(value));
	return sizeof(value);
}
END
cc -shared -fPIC -o counters.so counters.c -ldl || { echo 'SKIP: the counters do not build'; exit 77; }

# The agent's configuration and namespace are below PCP_PMDAS_DIR; its lock file too.
agent="$work/var/lib/pcp/pmdas/perfevent"
mkdir -p "$agent" var/log/pcp run/pcp
sed "s,=/usr,=$work/root/usr,; s,=/var,=$work/var,; s,=/etc,=$work/root/etc,; s,=/run,=$work/run," \
	root/etc/pcp.conf >pcp.conf
printf '[perf]\nperf::PERF_COUNT_HW_CPU_CYCLES 0\n' >"$agent/perfevent.conf"
echo 'root { perfevent 127:*:* }' >names
# Cluster 2 is the first event: item 0 is its value, item 1 its dutycycle. The agent enables events 100 ms later.
printf 'open dso %s perfevent_init 127\nwait 1\n' "$work/root/usr/lib/pcp/pmdas/perfevent/pmda_perfevent.so" >commands
printf 'fetch 127.2.0 127.2.1\n%.0s' 1 2 3 >>commands
PCP_CONF="$work/pcp.conf" LD_PRELOAD="$work/counters.so" \
	LD_LIBRARY_PATH="$work/root/usr/lib:$work/root/usr/lib/x86_64-linux-gnu" \
	timeout 60 root/usr/bin/dbpmda -n names <commands >agent.log 2>&1 || true
grep -q 'inst \[0 ' agent.log || { tail -n 3 agent.log; echo 'SKIP: the agent does not run here'; exit 77; }
sed -n 's/.*inst \[0 .* value \(.*\)/\1/p' agent.log | paste -d ' ' - - - - - - | awk '{
		print "a day with a counter: value " $1 ", dutycycle " substr($2, 1, 5)
		print "600 s without: value " $3 ", dutycycle " substr($4, 1, 5)
		print "300 s of 600 s with: value " $5 ", dutycycle " substr($6, 1, 5)
	}' >seen
echo '# pmdaperfevent 6.0.3; perf stat has 262800000000000 at the end'
cat seen
cat >expected <<'END'
a day with a counter: value 259200000000000, dutycycle 1
600 s without: value 259200000000000, dutycycle 0.993
300 s of 600 s with: value 261000000000000, dutycycle 0.989
END
diff expected seen >/dev/null || { echo 'CHANGED: the agent does not behave as described'; exit 1; }
echo 'as described'
