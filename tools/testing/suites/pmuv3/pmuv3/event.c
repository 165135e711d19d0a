// SPDX-License-Identifier: GPL-2.0-only
/*
 * event.c - exceptions, faults, branches, cycles
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pmuv3.h"

static void exceptions(void)
{
	int fd = event_open_user(EXC_TAKEN, -1), i;

	if (fd < 0)
		return;
	event_enable(fd);
	for (i = 0; i < 10000; i++)
		syscall(SYS_getppid);
	event_disable(fd);
	expect_range("exceptions taken", 10000, 10200, event_read(fd));
	close(fd);
}

/* An instruction that faults and is executed again counts once. */
static void first_touches(void)
{
	static const u64 events[] = { INST_RETIRED, ST_RETIRED, BR_RETIRED };
	static const unsigned int each[] = { 4, 1, 1 };
	const unsigned long pages[2] = { 1, 257 };
	u64 counts[2];

	for (unsigned int i = 0; i < ARRAY_SIZE(events); i++) {
		int fd = event_open_user(events[i], -1);

		for (unsigned int run = 0; run < 2; run++) {
			char *memory = mmap(NULL, pages[1] * 4096, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			/* One page per fault */
			madvise(memory, pages[1] * 4096, MADV_NOHUGEPAGE);
			event_reset(fd);
			event_enable(fd);
			touch_pages(pages[run], memory);
			event_disable(fd);
			counts[run] = event_read(fd);
			munmap(memory, pages[1] * 4096);
		}
		expect_eq("counts of 256 first touches", each[i] * 256,
			  counts[1] - counts[0]);
		close(fd);
	}
}

static void branches(void)
{
	int taken = event_open_user(PC_WRITE_RETIRED, -1);
	int missed = event_open_user(BR_MIS_PRED, -1);

	expect_eq("taken branches", ITERATIONS, pmuv3_work_counts(taken, ITERATIONS));
	pmuv3_work(missed, ITERATIONS);
	expect_range("mispredicted branches", 1, 1000, event_read(missed));
	close(taken);
	close(missed);
}

/* Count cycles on the cycle counter and on event counters. */
static void cycles(void)
{
	struct perf_event_attr attr;
	int fds[3], i;
	u64 base[3];

	for (i = 0; i < 3; i++) {
		attr_init(&attr, CPU_CYCLES);
		attr.disabled = !i;
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
	}
	pmuv3_work(fds[0], 1);
	for (i = 0; i < 3; i++)
		base[i] = event_read(fds[i]);
	pmuv3_work(fds[0], ITERATIONS + 1);
	for (i = 0; i < 3; i++)
		expect_eq("cycles", WORK_CYCLES * ITERATIONS, event_read(fds[i]) - base[i]);
	close_all(fds, 3);
}

static const struct ktap_case cases[] = {
	{ "exceptions are counted", exceptions },
	{ "a store that faults first counts once", first_touches },
	{ "branches", branches },
	{ "cycles", cycles },
};

const struct ktap_list pmuv3_event_cases = { cases, ARRAY_SIZE(cases) };
