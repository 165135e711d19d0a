#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The perf.plugin of netdata 1.37.1 (Debian 12: 1.37.1-2) reports wrong rates unless it collects each second,
# without an error. Collecting each 2 seconds or more is its documented argument:
#
# - It scales for multiplexing, also if there is none, by count * time_enabled / time_running in 64 bits. The
#   product of a CPU of 3 GHz overflows from 3 seconds on: 9e9 cycles * 3e9 ns is more than 2^64. The chart
#   has 2.85e9 cycles in place of 9e9, and at 5 seconds 0.24e9 in place of 15e9.
# - The chart "CPU cycles" has the unit cycles/s and the algorithm "absolute", which netdata draws as it is.
#   The value is that of the whole interval: 6e9 at 2 seconds for a CPU of 3 GHz.
#
# The script stands in for perf_event_open(2) and read(2): each CPU has 3e9 cycles a second, and its counters
# always run. It needs cc and Debian 12's archive, and takes half a minute.
# Status: 0 if the plugin behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in cc apt-get dpkg timeout; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download netdata-core=1.37.1-2 libuv1 libjson-c5 libssl3) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done

cat >counters.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_FD	4096

static char is_event[MAX_FD];
static uint64_t nr_reads[MAX_FD];

long syscall(long number, ...)
{
	long (*libc_syscall)(long, ...) = dlsym(RTLD_NEXT, "syscall");
	va_list args;
	long arg[6];
	int fd;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number != SYS_perf_event_open)
		return libc_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	fd = memfd_create("event", 0);
	if (fd >= 0 && fd < MAX_FD)
		is_event[fd] = 1;
	return fd;
}

/* An interval of $INTERVAL seconds at 3 GHz has passed since the last read. */
ssize_t read(int fd, void *buf, size_t size)
{
	ssize_t (*libc_read)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
	uint64_t value[3], ns;

	if (fd < 0 || fd >= MAX_FD || !is_event[fd] || size < sizeof(value))
		return libc_read(fd, buf, size);
	ns = 1000000000ull * strtoul(getenv("INTERVAL"), NULL, 10) * ++nr_reads[fd];
	value[0] = 3 * ns;
	value[1] = value[2] = ns;
	memcpy(buf, value, sizeof(value));
	return sizeof(value);
}
END
cc -shared -fPIC -o counters.so counters.c -ldl || { echo 'SKIP: the counters do not build'; exit 77; }

exec 3>&1
cpus=$(grep -c '^cpu[0-9]' /proc/stat)
for interval in 1 2 3 5; do
	INTERVAL=$interval LD_PRELOAD="$work/counters.so" \
		LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu" timeout $((2 * interval + 2)) \
		root/usr/lib/netdata/plugins.d/perf.plugin $interval cycles >$interval.out 2>plugin.log || true
	grep -q '^SET cpu = ' $interval.out ||
		{ tail -n 2 plugin.log; echo 'SKIP: perf.plugin does not run'; exit 77; } >&3
	sed -n "1s/.*'\(CPU cycles\)' '\([^']*\)'.*/\1 \2/p; s/^DIMENSION cpu '' \([a-z]*\) .*/\1/p" $interval.out |
		tr '\n' ' '
	echo "each $interval s: $(($(sed -n 's/^SET cpu = //p' $interval.out | head -n 1) / cpus))"
done >seen
echo '# netdata 1.37.1, cycles a CPU'
cat seen
cat >expected <<'END'
CPU cycles cycles/s absolute each 1 s: 3000000000
CPU cycles cycles/s absolute each 2 s: 6000000000
CPU cycles cycles/s absolute each 3 s: 2851085308
CPU cycles cycles/s absolute each 5 s: 242604741
END
diff expected seen >/dev/null || { echo 'CHANGED: the plugin does not behave as described'; exit 1; }
echo 'as described'
