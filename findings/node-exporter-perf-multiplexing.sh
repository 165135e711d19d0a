#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The perf collector of Prometheus' node exporter 1.5.0 (Debian 12: 1.5.0-1+b6) exports counts that are not scaled for
# multiplexing. There is no message:
#
# - Enabled by --collector.perf alone, it opens about twenty hardware events for each CPU, and CPUs have four to eight
#   counters. Linux runs each event for a part of the time. The metrics are what was counted in that part: with a
#   counter for a quarter of the time, 6e7 cache misses are 1.5e7.
# - Cycles and instructions have counters of their own on Intel's CPUs, and are whole. Ratios to them are wrong: one
#   cache miss per 1000 instructions is 0.25. A change of the load of counters looks like one of the program.
# - An event that never ran is 0. The times enabled and running, which the exporter reads with each count, are no
#   metrics.
#
# Neither README.md nor the metrics' help texts speak of it.
#
# Cause: updateHardwareStats() and updateCacheStats() of collector/perf_linux.go export the raw value.
#
# The script stands in for perf_event_open(2), ioctl(2) and read(2) with ptrace(2). In ten seconds CPU 0 has 3e10
# cycles, 6e10 instructions and 6e7 of each other event, which has a counter for 2.5 s. Branch misses have none. The
# script needs cc, python3 and Debian 12's archive.
# Status: 0 if the exporter behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in cc python3 apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
exporter=
trap '[ -z "$exporter" ] || { kill "$exporter"; wait "$exporter"; } 2>/dev/null || :; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work"

mkdir debs
(cd debs && apt-get -qq download prometheus-node-exporter=1.5.0-1+b6) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
dpkg -x debs/*.deb root

cat >counters.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND 1000000000ull
enum action { NONE, OPEN, DONE, READ };

static struct perf_event_attr attrs[1024];	/* by file descriptor; size is 0 if it is not ours */
static struct thread {
	pid_t tid;
	int inside;
	enum action action;
	struct user_regs_struct regs;
	struct perf_event_attr attr;
} threads[256];

static struct thread *find(pid_t tid)
{
	for (unsigned int i = 0; i < 256; i++) {
		if (!threads[i].tid)
			threads[i].tid = tid;
		if (threads[i].tid == tid)
			return &threads[i];
	}
	exit(77);
}

static void copy(pid_t tid, void *here, unsigned long long there, size_t size, int to)
{
	struct iovec local = { here, size }, remote = { (void *)there, size };

	if ((to ? process_vm_writev : process_vm_readv)(tid, &local, 1, &remote, 1, 0) != (ssize_t)size)
		exit(77);
}

static void enter(struct thread *t)
{
	struct user_regs_struct regs;
	unsigned long long fd;

	ptrace(PTRACE_GETREGS, t->tid, 0, &regs);
	t->regs = regs;
	t->action = NONE;
	fd = regs.rdi;
	if (regs.orig_rax == SYS_perf_event_open) {
		copy(t->tid, &t->attr, regs.rdi, PERF_ATTR_SIZE_VER0, 0);
		if (t->attr.type == PERF_TYPE_HARDWARE || t->attr.type == PERF_TYPE_HW_CACHE) {
			t->action = OPEN;
			regs.orig_rax = SYS_eventfd2;
			regs.rdi = regs.rsi = 0;
		}
	} else if (fd < 1024 && attrs[fd].size) {
		if (regs.orig_rax == SYS_close)
			attrs[fd].size = 0;
		if (regs.orig_rax == SYS_ioctl || regs.orig_rax == SYS_read) {
			t->action = regs.orig_rax == SYS_read ? READ : DONE;
			regs.orig_rax = SYS_getpid;
		}
	}
	if (t->action)
		ptrace(PTRACE_SETREGS, t->tid, 0, &regs);
}

static void leave(struct thread *t)
{
	struct user_regs_struct regs;

	if (!t->action)
		return;
	ptrace(PTRACE_GETREGS, t->tid, 0, &regs);
	if (t->action == OPEN && regs.rax < 1024)
		attrs[regs.rax] = t->attr;
	if (t->action == DONE)
		regs.rax = 0;
	if (t->action == READ) {
		/* The count, and the times enabled and running */
		unsigned long long values[3] = { 15000000, 10 * SECOND, 10 * SECOND / 4 };
		const struct perf_event_attr *attr = &attrs[t->regs.rdi];

		if (attr->type == PERF_TYPE_HARDWARE && attr->config <= PERF_COUNT_HW_INSTRUCTIONS) {
			values[0] = attr->config == PERF_COUNT_HW_CPU_CYCLES ? 30 * SECOND : 60 * SECOND;
			values[2] = values[1];
		} else if (attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_BRANCH_MISSES) {
			values[0] = values[2] = 0;
		}
		copy(t->tid, values, t->regs.rsi, sizeof(values), 1);
		regs.rax = sizeof(values);
	}
	regs.rdi = t->regs.rdi;
	regs.rsi = t->regs.rsi;
	ptrace(PTRACE_SETREGS, t->tid, 0, &regs);
}

static pid_t child;

static void stop(int number)
{
	(void)number;
	kill(child, SIGKILL);
}

int main(int argc, char **argv)
{
	pid_t tid;
	int status;

	if (argc < 2)
		return 77;
	child = fork();
	if (!child) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			exit(77);
		raise(SIGSTOP);
		execv(argv[1], argv + 1);
		exit(77);
	}
	signal(SIGTERM, stop);
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		return 77;
	ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
	ptrace(PTRACE_SYSCALL, child, 0, 0);
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		struct thread *t = find(tid);
		int signal = 0;

		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (tid == child)
				return 77;
			continue;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			t->inside = !t->inside;
			(t->inside ? enter : leave)(t);
		} else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP) {
			signal = WSTOPSIG(status);
		}
		ptrace(PTRACE_SYSCALL, tid, 0, signal);
	}
	return 77;
}
END
cc -O -o counters counters.c || { echo 'SKIP: the stand-in does not build'; exit 77; }

cat >get.py <<'END'
import sys, time, urllib.request
for _ in range(100):
    try:
        page = urllib.request.urlopen('http://127.0.0.1:%s/metrics' % sys.argv[1], timeout=5).read().decode()
        break
    except OSError:
        time.sleep(0.1)
else:
    sys.exit(77)
for line in sorted(page.splitlines()):
    if line.startswith('node_perf_') or line.startswith('node_scrape_collector_success'):
        print(line)
END

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
./counters root/usr/bin/prometheus-node-exporter --collector.disable-defaults --collector.perf --collector.perf.cpus=0 \
	--web.listen-address="127.0.0.1:$port" >exporter.log 2>&1 &
exporter=$!
python3 get.py "$port" >metrics || { tail -n 2 exporter.log; echo 'SKIP: the exporter has no metrics here'; exit 77; }
export LC_ALL=C
{
	grep -E '_perf_(cpucycles|instructions|cache_misses|branch_misses)_total' metrics
	printf 'hardware events: '
	grep node_perf_ metrics | grep -vcE '_(context_switches|cpu_migrations|[a-z]*_faults)_'
} >seen
echo '# prometheus-node-exporter 1.5.0'
cat seen
cat >expected <<'END'
node_perf_branch_misses_total{cpu="0"} 0
node_perf_cache_misses_total{cpu="0"} 1.5e+07
node_perf_cpucycles_total{cpu="0"} 3e+10
node_perf_instructions_total{cpu="0"} 6e+10
hardware events: 21
END
diff expected seen >differences ||
	{ cat differences; echo 'CHANGED: the exporter does not behave as described'; exit 1; }
echo 'as described'
