#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The perf:thread contexts of LTTng-UST 2.13.5 (Debian 12: 2.13.5-1) record 0 in place of counts. The trace
# has no hint, and neither the application nor the session daemon prints a message:
#
# - On x86, LTTng-UST closes the descriptor of an event that rdpmc can read, and falls back to it when the
#   event is not on a counter (index 0). A record has the value 0 while multiplexing keeps the event off the
#   counters: the counts 1000, 2000, 3000 become 1000, 0, 3000. Without rdpmc the descriptor stays open, and
#   all values are right.
# - All events exclude the kernel. A context switch occurs in the kernel: perf:thread:context-switches (also
#   called cs) always is 0.
#
# The script traces an application, whose cpu-cycles have known counts: it stands in for perf_event_open(2)
# and read(2), and emulates rdpmc. Context switches and the task clock are the kernel's. The script needs cc,
# Debian 12's archive, and a kernel that lets a user count software events.
# Status: 0 if the library behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in cc apt-get dpkg setpriv timeout; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs home
packages='lttng-tools=2.13.9-1+deb12u1 liblttng-ctl0=2.13.9-1+deb12u1 liblttng-ust1=2.13.5-1'
packages="$packages liblttng-ust-common1=2.13.5-1 liblttng-ust-ctl5=2.13.5-1 liblttng-ust-dev=2.13.5-1"
packages="$packages liburcu8=0.13.2-1 liburcu-dev=0.13.2-1 babeltrace2=2.0.4-1+b6 libbabeltrace2-0=2.0.4-1+b6"
packages="$packages libdw1 libelf1 libglib2.0-0 libicu72 libkmod2 liblzma5 libnuma1 libpcre2-8-0 libpopt0 libxml2"
# shellcheck disable=SC2086 # a list of names
(cd debs && apt-get -qq download $packages) 2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done
lib="$work/root/usr/lib/x86_64-linux-gnu"

# The program's own syscall(), read() and close() take precedence over libc's.
cat >program.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <lttng/tracef.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define COUNTER_BITS	48
#define NO_SUCH_COUNTER	31	/* rdpmc of it faults on all CPUs */
#define NR_SLEEPS	10

static const char rdpmc[] = { 0x0f, 0x33 };
static struct perf_event_mmap_page *page;
static int cycles_fd = -1, software_failed;
static int user_rdpmc;
static uint64_t cycles;

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
	attr = (const struct perf_event_attr *)arg[0];
	if (number != SYS_perf_event_open || attr->type != PERF_TYPE_HARDWARE) {
		fd = libc_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
		if (number == SYS_perf_event_open && fd < 0)
			software_failed = 1;
		return fd;
	}
	fd = memfd_create("cycles", 0);
	if (fd < 0 || ftruncate(fd, sizeof(*page)))
		return -1;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		exit(77);
	page->cap_bit0_is_deprecated = 1;
	page->cap_user_rdpmc = user_rdpmc;
	page->pmc_width = COUNTER_BITS;
	cycles_fd = fd;
	return fd;
}

ssize_t read(int fd, void *buf, size_t size)
{
	ssize_t (*libc_read)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");

	if (fd < 0 || fd != cycles_fd || size < sizeof(cycles))
		return libc_read(fd, buf, size);
	memcpy(buf, &cycles, sizeof(cycles));
	return sizeof(cycles);
}

int close(int fd)
{
	int (*libc_close)(int) = dlsym(RTLD_NEXT, "close");

	if (fd >= 0 && fd == cycles_fd)
		cycles_fd = -1;
	return libc_close(fd);
}

/* Emulate rdpmc: the counter has what the user page lacks of the count. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	if (memcmp((const void *)regs[REG_RIP], rdpmc, sizeof(rdpmc)))
		abort();
	regs[REG_RAX] = cycles - page->offset;
	regs[REG_RDX] = 0;
	regs[REG_RIP] += sizeof(rdpmc);
}

static void set_cycles(uint64_t count, int is_on_counter)
{
	cycles = count;
	if (!page)
		return;
	page->lock++;
	page->index = is_on_counter ? NO_SUCH_COUNTER + 1 : 0;
	page->offset = is_on_counter ? count / 2 : count;
	page->lock++;
}

/* Argument: "rdpmc" or "read". */
int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	struct rusage usage;

	user_rdpmc = !strcmp(argv[1], "rdpmc");
	sigaction(SIGSEGV, &action, NULL);
	lttng_ust_tracef("%s, first", argv[1]);
	if (software_failed || !page)
		return 77;
	set_cycles(1000, 1);
	lttng_ust_tracef("%s, 1000 cycles, on a counter", argv[1]);
	set_cycles(2000, 0);
	lttng_ust_tracef("%s, 2000 cycles, on none", argv[1]);
	set_cycles(3000, 1);
	for (int i = 0; i < NR_SLEEPS; i++)
		usleep(1000);
	getrusage(RUSAGE_SELF, &usage);
	lttng_ust_tracef("%s, 3000 cycles, on a counter, %s context switches", argv[1],
			 usage.ru_nvcsw < NR_SLEEPS ? "fewer than 10" : "10 or more");
	return 0;
}
END
cc -rdynamic -o program program.c -I root/usr/include -I root/usr/include/x86_64-linux-gnu -L "$lib" \
	"-Wl,-rpath-link,$lib" -l:liblttng-ust.so.1 -ldl || { echo 'SKIP: the program does not build'; exit 77; }

cat >session.sh <<'END'
set -eu
export LTTNG_HOME="$PWD/home" HOME="$PWD/home" LTTNG_UST_REGISTER_TIMEOUT=20000
export LD_LIBRARY_PATH="$1:$PWD/root/lib/x86_64-linux-gnu" BABELTRACE_PLUGIN_PATH="$1/babeltrace2/plugins"
export LTTNG_SESSION_CONFIG_XSD_PATH="$PWD/root/usr/share/xml/lttng/"
PATH="$PWD/root/usr/bin:$PATH"
timeout 100 lttng-sessiond --no-kernel --consumerd64-path="$1/lttng/libexec/lttng-consumerd" \
	--consumerd64-libdir="$1" >home/daemon.log 2>&1 &
daemon=$!
trap 'kill $daemon; wait $daemon || true' EXIT
tries=100
until lttng -n list >/dev/null 2>&1; do
	tries=$((tries - 1))
	[ $tries -gt 0 ] || exit 1
	sleep 0.1
done
lttng -n create session --output="$PWD/home/trace"
lttng -n enable-channel -u channel
lttng -n enable-event -u -c channel 'lttng_ust_tracef:*'
for event in cpu-cycles context-switches task-clock; do
	lttng -n add-context -u -c channel -t perf:thread:$event
done
lttng -n start
timeout 30 ./program rdpmc
timeout 30 ./program read
lttng -n stop
lttng -n destroy
babeltrace2 home/trace >home/events
END
drop=
if [ "$(id -u)" = 0 ]; then
	# Root's session daemon is that of the system: run as nobody.
	chown 65534:65534 home
	drop='setpriv --reuid=65534 --regid=65534 --clear-groups'
fi
$drop timeout 120 sh session.sh "$lib" >session.log 2>&1 ||
	{ tail -n 3 session.log; echo 'SKIP: LTTng does not trace here, or software events cannot be counted'; exit 77; }
value() { echo "perf_thread_$1 = \([0-9]*\)"; }
sed -n "/, first\"/d
s/.*$(value cpu_cycles).*$(value context_switches).*$(value task_clock).*msg = \"\(.*\)\".*/\4: \1, \2, \3/
s/[1-9][0-9]*\$/above 0/p" home/events >seen
echo '# LTTng-UST 2.13.5: cpu-cycles, context-switches, task-clock'
cat seen
cat >expected <<'END'
rdpmc, 1000 cycles, on a counter: 1000, 0, above 0
rdpmc, 2000 cycles, on none: 0, 0, above 0
rdpmc, 3000 cycles, on a counter, 10 or more context switches: 3000, 0, above 0
read, 1000 cycles, on a counter: 1000, 0, above 0
read, 2000 cycles, on none: 2000, 0, above 0
read, 3000 cycles, on a counter, 10 or more context switches: 3000, 0, above 0
END
diff expected seen >/dev/null || { echo 'CHANGED: the library does not behave as described'; exit 1; }
echo 'as described'
