#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# likwid 5.2.2 (Debian 12: 5.2.2+dfsg1-1) programs some Intel events, which have Intel's names, as other
# events, without a message. libpfm4 4.13.0 and Intel's event tables (github.com/intel/perfmon) agree on the
# codes of the right column (event, unit mask, cmask, inv):
#
#   Broadwell OFFCORE_REQUESTS_OUTSTANDING_DEMAND_DATA_RD  60/01 c1     60/01
#   Broadwell OFFCORE_REQUESTS_OUTSTANDING_ALL_DATA_RD     60/08 c1     60/08
#     cycles with a request, not requests in each cycle: latencies computed of it are too short
#   Ice Lake INST_RETIRED_STALL_CYCLES                     c0/01        c0/01 c1 inv
#     retired instructions, not cycles without any
#   Ice Lake ARITH_DIVIDER_ACTIVE                          14/01 c1     14/09 c1
#     Intel's FP_DIVIDER_ACTIVE: the performance group DIVIDE misses integer divisions
#   Ice Lake LONGEST_LAT_CACHE_MISS                        2e/01        2e/41
#     not the architectural event of last-level cache misses
#
# The script poses as the CPU model, stands in for the MSR device, and prints likwid's PERFEVTSEL0. It needs
# cc, python3 and Debian 12's archive; no Intel CPU and no MSR device are needed.
# Status: 0 if the library behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in cc python3 apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download likwid=5.2.2+dfsg1-1 libhwloc15=2.9.0-1 liblua5.3-0=5.3.6-2 \
	libpfm4=4.13.0-1) 2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done
lib="$work/root/usr/lib/x86_64-linux-gnu"

# The program's own open(), access(), pread() and pwrite() take precedence over libc's.
cat >program.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <likwid.h>

#define MSR_FD		777
#define PERFEVTSEL0	0x186

static unsigned long long msr[1 << 16];

static int is_msr(const char *path)
{
	return !strncmp(path, "/dev/", 5) && strstr(path, "msr");
}

int open(const char *path, int flags, ...)
{
	int (*libc_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	return is_msr(path) ? MSR_FD : libc_open(path, flags, mode);
}

int access(const char *path, int mode)
{
	int (*libc_access)(const char *, int) = dlsym(RTLD_NEXT, "access");

	return is_msr(path) ? 0 : libc_access(path, mode);
}

ssize_t pread(int fd, void *buf, size_t size, off_t offset)
{
	ssize_t (*libc_pread)(int, void *, size_t, off_t) = dlsym(RTLD_NEXT, "pread");

	if (fd != MSR_FD)
		return libc_pread(fd, buf, size, offset);
	memcpy(buf, &msr[offset & 0xffff], 8);
	return 8;
}

ssize_t pwrite(int fd, const void *buf, size_t size, off_t offset)
{
	ssize_t (*libc_pwrite)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");

	if (fd != MSR_FD)
		return libc_pwrite(fd, buf, size, offset);
	memcpy(&msr[offset & 0xffff], buf, 8);
	return 8;
}

/* Arguments: the model of family 6, and names of events. */
int main(int argc, char **argv)
{
	CpuInfo_t info;
	int cpu = 0;

	init_configuration();
	HPMmode(ACCESSMODE_DIRECT);
	if (topology_init())
		return 77;
	info = get_cpuInfo();
	info->family = 6;
	info->model = strtol(argv[1], NULL, 0);
	info->isIntel = 1;
	info->perf_version = 4;
	info->perf_num_ctr = 4;
	info->perf_num_fixed_ctr = 3;
	info->perf_width_ctr = 48;
	info->supportUncore = 0;
	numa_init();
	affinity_init();
	if (perfmon_init(1, &cpu))
		return 77;
	for (int i = 2; i < argc; i++) {
		unsigned long long v;
		char event[200];
		int set;

		snprintf(event, sizeof(event), "%s:PMC0", argv[i]);
		msr[PERFEVTSEL0] = 0;
		set = perfmon_addEventSet(event);
		if (set < 0 || perfmon_setupCounters(set))
			return 77;
		v = msr[PERFEVTSEL0];
		printf("likwid %s %s %02llx/%02llx c%llu inv%llu\n", argv[1], argv[i], v & 0xff,
		       v >> 8 & 0xff, v >> 24 & 0xff, v >> 23 & 1);
	}
	return 0;
}
END
cc -w -rdynamic -o program program.c -I "$work/root/usr/include" -L "$lib" "-Wl,-rpath-link,$lib" \
	-l:liblikwid.so.5.2 -ldl || { echo 'SKIP: the program does not build'; exit 77; }
# init_configuration() looks for likwid-accessD, which is not run.
run() {
	PATH="$PATH:$work/root/usr/sbin" LD_LIBRARY_PATH="$lib" ./program "$@" 2>likwid.log ||
		{ tail -n 3 likwid.log; echo 'SKIP: likwid does not run on this CPU'; exit 77; }
}
(
	run 0x3d OFFCORE_REQUESTS_OUTSTANDING_DEMAND_DATA_RD OFFCORE_REQUESTS_OUTSTANDING_ALL_DATA_RD
	run 0x7e INST_RETIRED_STALL_CYCLES INST_RETIRED_ANY_P ARITH_DIVIDER_ACTIVE LONGEST_LAT_CACHE_MISS
	run 0x6a ARITH_DIVIDER_ACTIVE LONGEST_LAT_CACHE_MISS
) >seen || { tail -n 4 seen; exit 77; }

cat >encode.py <<'END'
import ctypes, sys


class Arg(ctypes.Structure):  # pfm_pmu_encode_arg_t
    _fields_ = [('codes', ctypes.POINTER(ctypes.c_uint64)), ('fstr', ctypes.c_void_p),
                ('size', ctypes.c_size_t), ('count', ctypes.c_int), ('idx', ctypes.c_int)]


pfm = ctypes.CDLL(sys.argv[1])
PFM_OS_NONE, PFM_PLM3 = 0, 8
assert pfm.pfm_initialize() == 0
for name in sys.argv[2:]:
    arg = Arg(size=ctypes.sizeof(Arg))
    assert pfm.pfm_get_os_event_encoding(name.encode(), PFM_PLM3, PFM_OS_NONE, ctypes.byref(arg)) == 0
    code = arg.codes[0]
    print('libpfm4 %s %02x/%02x c%d inv%d'
          % (name, code & 0xff, code >> 8 & 0xff, code >> 24 & 0xff, code >> 23 & 1))
END
LIBPFM_ENCODE_INACTIVE=1 python3 encode.py "$lib/libpfm.so.4" \
	bdw::OFFCORE_REQUESTS_OUTSTANDING:DEMAND_DATA_RD bdw::OFFCORE_REQUESTS_OUTSTANDING:ALL_DATA_RD \
	icl::INST_RETIRED:STALL_CYCLES icx::ARITH:DIVIDER_ACTIVE icx::LONGEST_LAT_CACHE:MISS >>seen
echo '# likwid 5.2.2, libpfm4 4.13.0'
cat seen
cat >expected <<'END'
likwid 0x3d OFFCORE_REQUESTS_OUTSTANDING_DEMAND_DATA_RD 60/01 c1 inv0
likwid 0x3d OFFCORE_REQUESTS_OUTSTANDING_ALL_DATA_RD 60/08 c1 inv0
likwid 0x7e INST_RETIRED_STALL_CYCLES c0/01 c0 inv0
likwid 0x7e INST_RETIRED_ANY_P c0/00 c0 inv0
likwid 0x7e ARITH_DIVIDER_ACTIVE 14/01 c1 inv0
likwid 0x7e LONGEST_LAT_CACHE_MISS 2e/01 c0 inv0
likwid 0x6a ARITH_DIVIDER_ACTIVE 14/01 c1 inv0
likwid 0x6a LONGEST_LAT_CACHE_MISS 2e/01 c0 inv0
libpfm4 bdw::OFFCORE_REQUESTS_OUTSTANDING:DEMAND_DATA_RD 60/01 c0 inv0
libpfm4 bdw::OFFCORE_REQUESTS_OUTSTANDING:ALL_DATA_RD 60/08 c0 inv0
libpfm4 icl::INST_RETIRED:STALL_CYCLES c0/01 c1 inv1
libpfm4 icx::ARITH:DIVIDER_ACTIVE 14/09 c1 inv0
libpfm4 icx::LONGEST_LAT_CACHE:MISS 2e/41 c0 inv0
END
diff expected seen >/dev/null || { echo 'CHANGED: the library does not behave as described'; exit 1; }
echo 'as described'
