#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tiptop 2.3.1 (Debian 12: 2.3.1-5) shows wrong counts and ratios of processes, without a message:
#
# - A process's counts are the sum of its live threads' counts. tiptop shows by how much the sum grew. When a
#   thread ends, the sum shrinks: tiptop shows the difference modulo 2^64. A process of 6e9 cycles in the
#   interval has 18446744067709 million cycles, an IPC of 1 and 100 cache misses per 100 instructions.
# - A column that divides by an event that cannot be opened shows the dividend. Without instructions, 2 * 10^6
#   cache misses are 200000000.00 misses per 100 instructions. A column that divides such an event has "?".
#
# Cause: accumulate_stats() of process.c skips dead threads. evaluate_column_expression() of
# utils-expression.c evaluates the divisor first, and clears the divisor's error when it evaluates the dividend.
#
# The script stands in for perf_event_open(2) and read(2): each thread has 3e9 cycles, 6e9 instructions and
# 10^6 cache misses an interval. It needs cc and Debian 12's archive, and takes a quarter of a minute.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in awk cc apt-get dpkg timeout; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download tiptop=2.3.1-5 libxml2 libncurses6 libtinfo6 libicu72 zlib1g liblzma5 libstdc++6 \
	libgcc-s1) 2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done

cat >counters.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_FD	4096

static struct {
	uint64_t count, step;	/* step: of an interval, 0 if @fd is no event */
} event[MAX_FD];

long syscall(long number, ...)
{
	long (*libc_syscall)(long, ...) = dlsym(RTLD_NEXT, "syscall");
	const struct perf_event_attr *attr;
	va_list args;
	long arg[6];
	int fd;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number != SYS_perf_event_open)
		return libc_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	attr = (const struct perf_event_attr *)arg[0];
	if (attr->config == PERF_COUNT_HW_INSTRUCTIONS && getenv("NO_INSTRUCTIONS")) {
		errno = ENOENT;
		return -1;
	}
	fd = memfd_create("event", 0);
	if (fd < 0 || fd >= MAX_FD)
		return -1;
	event[fd].count = 0;
	event[fd].step = attr->config == PERF_COUNT_HW_CPU_CYCLES ? 3000000000ull :
			 attr->config == PERF_COUNT_HW_INSTRUCTIONS ? 6000000000ull : 1000000;
	return fd;
}

int close(int fd)
{
	int (*libc_close)(int) = dlsym(RTLD_NEXT, "close");

	if (fd >= 0 && fd < MAX_FD)
		event[fd].step = 0;
	return libc_close(fd);
}

ssize_t read(int fd, void *buf, size_t size)
{
	ssize_t (*libc_read)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");

	if (fd < 0 || fd >= MAX_FD || !event[fd].step)
		return libc_read(fd, buf, size);
	event[fd].count += event[fd].step;
	memcpy(buf, &event[fd].count, sizeof(event[fd].count));
	return sizeof(event[fd].count);
}
END
cat >threads.c <<'END'
#include <pthread.h>
#include <unistd.h>

static void *run(void *seconds)
{
	sleep((long)seconds);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, (void *)5L);
	pthread_create(&thread, NULL, run, (void *)20L);
	sleep(20);
	return 0;
}
END
cc -shared -fPIC -o counters.so counters.c -ldl || { echo 'SKIP: the counters do not build'; exit 77; }
cc -pthread -o threads threads.c || { echo 'SKIP: the threads do not build'; exit 77; }

# counts NAME INTERVALS: print the counts of the process $pid in each interval, less those that repeat.
counts() {
	LD_PRELOAD="$work/counters.so" \
		LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu" HOME="$work" \
		timeout 30 root/usr/bin/tiptop -b -i -d 1 -n "$2" -p "$pid" >tiptop.out 2>&1 || true
	awk -v name="$1" -v process="$pid" '
		function million(n) { return n + 0 > 1e13 ? "more than 10^13" : n }
		$1 + 0 == process {
			print name ": million cycles " million($5) ", million instructions " million($6) \
			      ", IPC " $7 ", misses per 100 instructions " $8
		}' tiptop.out | uniq
}
./threads &
pid=$!
{
	counts 'three threads' 9
	NO_INSTRUCTIONS=1 counts 'no instructions' 3
} >seen
kill "$pid"
[ -s seen ] || { tail -n 2 tiptop.out; echo 'SKIP: tiptop does not run here'; exit 77; }
echo '# tiptop 2.3.1'
cat seen
cat >expected <<'END'
three threads: million cycles 9000.00, million instructions 18000.00, IPC 2.00, misses per 100 instructions 0.02
three threads: million cycles more than 10^13, million instructions more than 10^13, IPC 1.00, misses per 100 instructions 100.00
three threads: million cycles 6000.00, million instructions 12000.00, IPC 2.00, misses per 100 instructions 0.02
no instructions: million cycles 6000.00, million instructions ?, IPC ?, misses per 100 instructions 200000000.00
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
