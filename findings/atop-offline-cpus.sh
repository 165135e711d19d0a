#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# atop 2.8.1 (Debian 12: 2.8.1-1+deb12u1) counts cycles and instructions of other CPUs than those online, and
# mixes counts of different CPUs, without a message:
#
# - With N CPUs online, it counts CPU 0 to N - 1, whichever are online. With CPUs 0, 2 and 3 it shows CPU 1,
#   which is offline, with no cycles. It does not show CPU 3, and the line of all CPUs has the counts of two
#   CPUs of three.
# - Its events are pinned: the kernel gives up one that finds no counter, and read() then returns 0 bytes.
#   atop goes on with the last value. If the instructions of one of two CPUs are lost so, the line of all CPUs
#   has 6e9 instructions in 6e9 cycles, an IPC of 1. Each CPU really has an IPC of 2.
#
# The script stands in for /proc/stat, perf_event_open(2) and read(2): CPUs 0, 2 and 3 are online, each with
# 3e9 cycles and 6e9 instructions an interval. It needs cc and Debian 12's archive.
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

mkdir debs home
(cd debs && apt-get -qq download atop=2.8.1-1+deb12u1 libncursesw6 libtinfo6 zlib1g) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_FD		4096
#define CYCLES		3000000000ull
#define INSTRUCTIONS	6000000000ull

static struct {
	uint64_t count, step;	/* step: of an interval */
	int is_lost;
} event[MAX_FD];
static char proc_stat[] =
	"cpu  300 0 300 900 0 0 0 0 0 0\n"
	"cpu0 100 0 100 300 0 0 0 0 0 0\n"
	"cpu2 100 0 100 300 0 0 0 0 0 0\n"
	"cpu3 100 0 100 300 0 0 0 0 0 0\n"
	"ctxt 1\nbtime 1\nprocesses 1\n";

FILE *fopen(const char *path, const char *mode)
{
	FILE *(*libc_fopen)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");

	if (!strcmp(path, "stat") || !strcmp(path, "/proc/stat"))
		return fmemopen(proc_stat, sizeof(proc_stat) - 1, "r");
	return libc_fopen(path, mode);
}

long syscall(long number, ...)
{
	long (*libc_syscall)(long, ...) = dlsym(RTLD_NEXT, "syscall");
	const struct perf_event_attr *attr;
	va_list args;
	long arg[6];
	int cpu, fd;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number != SYS_perf_event_open)
		return libc_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	attr = (const struct perf_event_attr *)arg[0];
	cpu = arg[2];
	if (cpu == 1 || cpu > 3) {
		errno = ENODEV;
		return -1;
	}
	fd = memfd_create("event", 0);
	if (fd < 0 || fd >= MAX_FD)
		return -1;
	event[fd].step = attr->config == PERF_COUNT_HW_CPU_CYCLES ? CYCLES : INSTRUCTIONS;
	event[fd].is_lost = attr->pinned && attr->config == PERF_COUNT_HW_INSTRUCTIONS &&
			    cpu == atoi(getenv("LOST_CPU"));
	return fd;
}

ssize_t read(int fd, void *buf, size_t size)
{
	ssize_t (*libc_read)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");

	if (fd < 0 || fd >= MAX_FD || !event[fd].step)
		return libc_read(fd, buf, size);
	if (event[fd].is_lost)
		return 0;
	event[fd].count += event[fd].step;
	memcpy(buf, &event[fd].count, sizeof(event[fd].count));
	return sizeof(event[fd].count);
}
END
cc -shared -fPIC -o counters.so counters.c -ldl || { echo 'SKIP: the counters do not build'; exit 77; }

# Print the last interval's counts. Argument: the CPU that loses its instructions, -1 for none. Without
# ATOPACCT, atop turns on the kernel's process accounting.
echo 'perfevents enable' >home/.atoprc
counts() {
	ATOPACCT='' HOME="$work/home" LOST_CPU=$1 LD_PRELOAD="$work/counters.so" \
		LD_LIBRARY_PATH="$work/root/lib/x86_64-linux-gnu:$work/root/usr/lib/x86_64-linux-gnu" \
		timeout 30 root/usr/bin/atop -P CPU,cpu 1 3 >atop.out 2>atop.log || true
	grep -q '^CPU' atop.out || { tail -n 2 atop.log; echo 'SKIP: atop does not run here'; exit 77; }
	awk -v lost="$1" '
		$1 == "SEP" { last = lines; lines = "" }
		$1 == "CPU" { name = "all CPUs" }
		$1 == "cpu" { name = "CPU " $8 }
		tolower($1) == "cpu" {
			lines = lines sprintf("lost %d: %s, instructions %s, cycles %s\n", lost, name, $(NF - 1), $NF)
		}
		END { printf "%s", last }' atop.out
}
{
	counts -1
	counts 2
} >seen || { tail -n 2 seen; exit 77; }
echo '# atop 2.8.1'
cat seen
cat >expected <<'END'
lost -1: all CPUs, instructions 12000000000, cycles 6000000000
lost -1: CPU 0, instructions 6000000000, cycles 3000000000
lost -1: CPU 1, instructions 0, cycles 0
lost -1: CPU 2, instructions 6000000000, cycles 3000000000
lost 2: all CPUs, instructions 6000000000, cycles 6000000000
lost 2: CPU 0, instructions 6000000000, cycles 3000000000
lost 2: CPU 1, instructions 0, cycles 0
lost 2: CPU 2, instructions 0, cycles 3000000000
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
