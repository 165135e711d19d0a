// SPDX-License-Identifier: GPL-2.0-only
/*
 * exclude.c - every combination of the exclude bits, at any exception level of the kernel
 *
 * Documentation/arm64/perf.rst of the kernel defines the bits for a kernel at EL1, at EL1 below
 * its own hypervisor, and at EL2. On x86 the bits mean the same everywhere: only KVM could tell
 * guests apart.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perf_util.h"

#define LOOPS		1000000UL
#define CALLS		2000

enum bits { U = 1, K = 2, HV = 4, HOST = 8, GUEST = 16, COMBINATIONS = 32 };

static void check(u64 config, unsigned int bits, bool has_guests)
{
	struct perf_event_attr attr;
	bool user, kernel;
	u64 count;
	int fd;

	attr_init(&attr, config);
	attr.exclude_user = !!(bits & U);
	attr.exclude_kernel = !!(bits & K);
	attr.exclude_hv = !!(bits & HV);
	attr.exclude_host = !!(bits & HOST);
	attr.exclude_guest = !!(bits & GUEST);
	fd = event_open(&attr, 0, -1, -1, 0);
	/* The hardware cannot tell the kernel's work around a guest from the guest's kernel. */
	if (has_guests && bits & HOST && !(bits & (K | GUEST)) && !target.in_tree) {
		expect_eq("open with exclude_host", -EOPNOTSUPP, fd);
		if (fd >= 0)
			close(fd);
		return;
	}
	if (fd < 0) {
		ktap_fail("open: expected a descriptor, got %s", strerror(-fd));
		return;
	}

	/* exclude_hv and exclude_guest do not affect this kernel. */
	user = !(bits & (U | HOST));
	kernel = !(bits & (K | HOST));

	event_run_loop(fd, LOOPS);
	count = event_read(fd);
	if (user)
		expect_range("counts of a loop in user space",
			     loop_counts(config, LOOPS),
			     loop_counts(config, LOOPS) + 500000, count);
	else
		expect_range("counts around a loop in user space", 0,
			     kernel ? 500000 : 0, count);

	event_reset(fd);
	event_enable(fd);
	for (int i = 0; i < CALLS; i++)
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
	const struct arch_level level = arch_kernel_level();

	target_init(argc, argv);
	ktap_plan(2 * COMBINATIONS);
	ktap_diag("kernel %s", level.name);
	for (unsigned int bits = 0; bits < 2 * COMBINATIONS; bits++) {
		bool cycles = bits >= COMBINATIONS;

		ktap_begin("%s, kernel %s, excluded:%s%s%s%s%s%s",
			   cycles ? "cycles" : "instructions", level.name,
			   bits & U ? " user" : "",
			   bits & K ? " kernel" : "", bits & HV ? " hv" : "",
			   bits & HOST ? " host" : "",
			   bits & GUEST ? " guest" : "",
			   bits % COMBINATIONS ? "" : " nothing");
		check(cycles ? ARCH_EVENT_CYCLES : ARCH_EVENT_INSTRUCTIONS,
		      bits % COMBINATIONS, level.has_guests);
		ktap_end();
	}
	return ktap_status();
}
