#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# stress-ng 0.15.06 (Debian 12: 0.15.06-2) reports wrong rates, ratios and zeros with --perf, without a
# message:
#
# - With --sequential, it divides the counts of each stressor by the run time of all stressors. With three
#   stressors, all rates are a third: a CPU of 3 GHz has 1e9 cycles/s. The same report has the stressor's own
#   time (wall-clock-time), and computes the rate of bogo operations from that.
# - An event that never ran is 0, as if it had been counted. perf has "<not counted>" in its place.
# - A ratio to an event that cannot be opened is 0: "5000 Cache Misses (0.000%)" without cache references.
# - Prefetch misses of BPU and NODE share the name "Cache DILB Prefetch Miss". The YAML report has two equal
#   keys, of which a reader keeps one.
#
# The script stands in for perf_event_open(2) and read(2): each stressor has 6e9 cycles in its 2 seconds,
# branch misses never run, and cache references do not exist. It needs cc, python3 and Debian 12's archive,
# and takes ten seconds.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in cc python3 apt-get dpkg timeout; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs tmp
libraries='libapparmor1 libbsd0 libdrm2 libegl1 libexpat1 libffi8 libgbm1 libgles2 libglvnd0 libipsec-mb1'
libraries="$libraries libjpeg62-turbo libjudydebian1 libkmod2 liblzma5 libmd0 libsctp1 libssl3 libwayland-server0"
libraries="$libraries libxxhash0 libzstd1 zlib1g"
# shellcheck disable=SC2086 # a list of names
(cd debs && apt-get -qq download stress-ng=0.15.06-2 $libraries) 2>apt.log ||
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
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_FD		4096
#define RUN_TIME_NS	2000000000ull
#define CYCLES		6000000000ull
#define CACHE_MISSES	5000ull

static struct {
	char is_open;
	unsigned int type;
	unsigned long long config;
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
	if ((attr->type != PERF_TYPE_HARDWARE || attr->config == PERF_COUNT_HW_CACHE_REFERENCES) &&
	    attr->type != PERF_TYPE_HW_CACHE) {
		errno = ENOENT;
		return -1;
	}
	fd = memfd_create("event", 0);
	if (fd >= 0 && fd < MAX_FD) {
		event[fd].is_open = 1;
		event[fd].type = attr->type;
		event[fd].config = attr->config;
	}
	return fd;
}

int ioctl(int fd, unsigned long request, ...)
{
	int (*libc_ioctl)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	return fd >= 0 && fd < MAX_FD && event[fd].is_open ? 0 : libc_ioctl(fd, request, arg);
}

int close(int fd)
{
	int (*libc_close)(int) = dlsym(RTLD_NEXT, "close");

	if (fd >= 0 && fd < MAX_FD)
		event[fd].is_open = 0;
	return libc_close(fd);
}

/* A hardware cache event counts the number of its cache: 3 for the DTLB, 5 for the BPU, 6 for the NODE. */
ssize_t read(int fd, void *buf, size_t size)
{
	ssize_t (*libc_read)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
	uint64_t value[3] = { 0, RUN_TIME_NS, RUN_TIME_NS };

	if (fd < 0 || fd >= MAX_FD || !event[fd].is_open || size < sizeof(value))
		return libc_read(fd, buf, size);
	if (event[fd].type == PERF_TYPE_HW_CACHE)
		value[0] = event[fd].config & 0xff;
	else if (event[fd].config == PERF_COUNT_HW_CPU_CYCLES)
		value[0] = CYCLES;
	else if (event[fd].config == PERF_COUNT_HW_CACHE_MISSES)
		value[0] = CACHE_MISSES;
	else if (event[fd].config == PERF_COUNT_HW_BRANCH_MISSES)
		value[2] = 0;
	memcpy(buf, value, sizeof(value));
	return sizeof(value);
}
END
cc -shared -fPIC -o counters.so counters.c -ldl || { echo 'SKIP: the counters do not build'; exit 77; }

# run NAME OPTION...: run stressors for 2 seconds each; leave NAME.yaml and NAME.out.
run() {
	name=$1
	shift
	LD_PRELOAD="$work/counters.so" \
		LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu" \
		timeout 60 root/usr/bin/stress-ng --temp-path tmp "$@" -t 2 --perf --metrics-brief -Y "$name.yaml" \
		>"$name.out" 2>&1 || true
	grep -q 'CPU Cycles' "$name.out" || { tail -n 2 "$name.out"; echo 'SKIP: stress-ng does not run here'; exit 77; }
}
run alone --pipe 1
run all --sequential 1 --class pipe -x fifo,pipeherd,ring-pipe,sendfile,splice

# Print how many times the mean time of a stressor divides the counts, and for "alone" the other counts.
cat >report.py <<'END'
import re, sys
for name in sys.argv[1:]:
    yaml = open(name + '.yaml').read()
    times = [float(time) for time in re.findall(r'wall-clock-time: ([\d.]+)', yaml)]
    cycles = float(re.search(r'cpu_cycles_total: (\d+)', yaml).group(1))
    rate = float(re.search(r'cpu_cycles_per_second: ([\d.]+)', yaml).group(1))
    print('%s: stressors %d, cycles %.0f, divided by the time of %.0f' %
          (name, len(times), cycles, cycles / rate / (sum(times) / len(times))))
    if name != 'alone':
        continue
    for line in open(name + '.out'):
        event = re.search(r'(\d+ (Branch|Cache) (Misses|References)) .*/sec *(\(.*\))?', line)
        if event:
            print(*filter(None, event.group(1, 4)))
    print(*re.findall(r'cache_d.*_prefetch_miss_total: \d+', yaml), sep='\n')
END
python3 report.py alone all >seen
echo '# stress-ng 0.15.06'
cat seen
cat >expected <<'END'
alone: stressors 1, cycles 6000000000, divided by the time of 1
0 Branch Misses
5000 Cache Misses ( 0.000%)
cache_dtlb_prefetch_miss_total: 3
cache_dilb_prefetch_miss_total: 5
cache_dilb_prefetch_miss_total: 6
all: stressors 3, cycles 6000000000, divided by the time of 3
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
