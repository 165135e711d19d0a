// SPDX-License-Identifier: GPL-2.0-only
/*
 * exclude.c - every combination of the exclude bits, on whatever exception
 * level the kernel runs
 *
 * What a bit means to a kernel at EL1, at EL1 below a hypervisor of its own
 * and at EL2 is laid down in the kernel's Documentation/arm64/perf.rst.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perf_util.h"

#define SYSLOG_ACTION_READ_ALL	3

#define LOOPS		1000000UL
#define CALLS		2000

enum level {
	AT_EL1,		/* there is no EL2, or it is not ours */
	BELOW_EL2,	/* EL2 is ours, the kernel is at EL1 */
	AT_EL2,		/* virtualization host extensions */
};

static enum level kernel_level(void)
{
	static char log[1 << 20];
	int len = klogctl(SYSLOG_ACTION_READ_ALL, log, sizeof(log) - 1);

	log[len < 0 ? 0 : len] = '\0';
	if (!strstr(log, "started at EL2"))
		return AT_EL1;
	if (strstr(log, "Virtualization Host Extensions"))
		return AT_EL2;
	return BELOW_EL2;
}

enum bits { U = 1, K = 2, HV = 4, HOST = 8, GUEST = 16, COMBINATIONS = 32 };

static void check(u64 config, unsigned int bits, enum level level)
{
	struct perf_event_attr attr;
	bool user, kernel;
	u64 count;
	int fd, i;

	attr_init(&attr, config);
	attr.exclude_user = !!(bits & U);
	attr.exclude_kernel = !!(bits & K);
	attr.exclude_hv = !!(bits & HV);
	attr.exclude_host = !!(bits & HOST);
	attr.exclude_guest = !!(bits & GUEST);
	fd = event_open(&attr, 0, -1, -1, 0);
	/* Only KVM could switch the counter on in a guest. */
	if (level == BELOW_EL2 && bits & HOST && !target.in_tree) {
		expect_eq("open with exclude_host", -EOPNOTSUPP, fd);
		if (fd >= 0)
			close(fd);
		return;
	}
	if (fd < 0) {
		ktap_fail("open: expected a descriptor, got %s", strerror(-fd));
		return;
	}

	/* exclude_hv and exclude_guest say nothing about this kernel. */
	user = !(bits & (U | HOST));
	kernel = !(bits & (K | HOST));

	event_enable(fd);
	known_loop(LOOPS);
	event_disable(fd);
	count = event_read(fd);
	if (user)
		expect_range("counts of a loop in user space",
			     LOOP_INSNS * LOOPS, LOOP_INSNS * LOOPS + 500000,
			     count);
	else
		expect_range("counts around a loop in user space", 0,
			     kernel ? 500000 : 0, count);

	event_reset(fd);
	event_enable(fd);
	for (i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	event_disable(fd);
	count = event_read(fd);
	if (kernel)
		expect_range("counts of system calls", CALLS * 150,
			     CALLS * 30000, count);
	else
		expect_range("counts around system calls", user ? CALLS * 3 : 0,
			     user ? CALLS * 40 : 0, count);
	close(fd);
}

int main(int argc, char **argv)
{
	static const char * const levels[] = {
		[AT_EL1] = "at EL1",
		[BELOW_EL2] = "at EL1, EL2 its own",
		[AT_EL2] = "at EL2",
	};
	enum level level;
	unsigned int bits;

	target_init(argc, argv);
	level = kernel_level();
	ktap_plan(2 * COMBINATIONS);
	ktap_diag("kernel %s", levels[level]);
	for (bits = 0; bits < 2 * COMBINATIONS; bits++) {
		bool cycles = bits >= COMBINATIONS;

		ktap_begin("%s, kernel %s, excluded:%s%s%s%s%s%s",
			   cycles ? "cycles" : "instructions", levels[level],
			   bits & U ? " user" : "",
			   bits & K ? " kernel" : "", bits & HV ? " hv" : "",
			   bits & HOST ? " host" : "",
			   bits & GUEST ? " guest" : "",
			   bits % COMBINATIONS ? "" : " nothing");
		check(cycles ? ARCH_EVENT_CYCLES : ARCH_EVENT_INSTRUCTIONS,
		      bits % COMBINATIONS, level);
		ktap_end();
	}
	return ktap_status();
}
