// SPDX-License-Identifier: GPL-2.0-only
/*
 * events.c - x86: events by their numbers and by their generic names, and what
 * edge, inv and cmask make of them
 *
 * What the virtual PMU counts is told in tools/qemu/x86-pmu.rst: in a cycle at
 * most one instruction retires, a branch in its second one.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf_util.h"

#if defined(__x86_64__)

#define ITERATIONS	100000UL

#define EDGE		(1ULL << 18)
#define INV		(1ULL << 23)
#define CMASK(n)	((unsigned long long)(n) << 24)
#define NONE		(~0ULL)

/*
 * Each iteration loads, stores, and branches in turns to here and to there. Not
 * to be inlined: the predictor goes by the branches' addresses.
 */
static __attribute__((noinline)) void busy_loop(unsigned long iterations,
						unsigned long *memory)
{
	asm volatile("1:	mov	(%1), %%rax\n"
		     "	mov	%%rax, 8(%1)\n"
		     "	test	$1, %b0\n"
		     "	jz	2f\n"
		     "	nop\n"
		     "2:	dec	%0\n"
		     "	jnz	1b\n"
		     : "+r" (iterations) : "r" (memory) : "rax", "cc", "memory");
}

/* Of two iterations: six instructions each and one NOP, two branches each. */
#define PAIR_INSNS	13
#define PAIR_BRANCHES	4
#define PAIR_CYCLES	(PAIR_INSNS + PAIR_BRANCHES)

struct event {
	const char *what;
	unsigned int type;
	u64 intel, amd;
	unsigned int per_pair;
};

#define CACHE(id, result)	(PERF_COUNT_HW_CACHE_##id | \
				 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct event events[] = {
	{ "instructions", PERF_TYPE_RAW, 0xc0, 0xc0, PAIR_INSNS },
	{ "cycles", PERF_TYPE_RAW, 0x3c, 0x76, PAIR_CYCLES },
	{ "branches", PERF_TYPE_RAW, 0xc4, 0xc2, PAIR_BRANCHES },
	{ "conditional branches", PERF_TYPE_RAW, 0x01c4, 0xd1, PAIR_BRANCHES },
	{ "conditional branches not taken", PERF_TYPE_RAW, 0x10c4, NONE, 1 },
	{ "mispredicted branches", PERF_TYPE_RAW, 0xc5, 0xc3, 1 },
	{ "loads", PERF_TYPE_RAW, 0x81d0, 0x0129, 2 },
	{ "stores", PERF_TYPE_RAW, 0x82d0, 0x0229, 2 },
	{ "an event that is none", PERF_TYPE_RAW, 0xf7, 0xf7, 0 },
	{ "edges of instructions", PERF_TYPE_RAW, EDGE | 0xc0, EDGE | 0xc0,
	  PAIR_BRANCHES },
	{ "edges of branches", PERF_TYPE_RAW, EDGE | 0xc4, EDGE | 0xc2,
	  PAIR_BRANCHES },
	{ "edges of cycles", PERF_TYPE_RAW, EDGE | 0x3c, EDGE | 0x76, 0 },
	{ "instructions, a mask of 1", PERF_TYPE_RAW, CMASK(1) | 0xc0,
	  CMASK(1) | 0xc0, PAIR_INSNS },
	{ "instructions, a mask of 2", PERF_TYPE_RAW, CMASK(2) | 0xc0,
	  CMASK(2) | 0xc0, 0 },
	{ "cycles without an instruction", PERF_TYPE_RAW, INV | CMASK(1) | 0xc0,
	  INV | CMASK(1) | 0xc0, PAIR_BRANCHES },
	{ "cycles without two instructions", PERF_TYPE_RAW, INV | CMASK(2) | 0xc0,
	  INV | CMASK(2) | 0xc0, PAIR_CYCLES },
	{ "cycles without a branch", PERF_TYPE_RAW, INV | CMASK(1) | 0xc4,
	  INV | CMASK(1) | 0xc2, PAIR_INSNS },
	{ "instructions, inverted without a mask", PERF_TYPE_RAW, INV | 0xc0,
	  INV | 0xc0, PAIR_INSNS },
	{ "generic instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS,
	  PERF_COUNT_HW_INSTRUCTIONS, PAIR_INSNS },
	{ "generic cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
	  PERF_COUNT_HW_CPU_CYCLES, PAIR_CYCLES },
	{ "generic branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	  PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PAIR_BRANCHES },
	{ "generic branch misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES,
	  PERF_COUNT_HW_BRANCH_MISSES, 1 },
	{ "generic cache references", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CACHE_REFERENCES, PERF_COUNT_HW_CACHE_REFERENCES, 4 },
	{ "generic cache misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES,
	  PERF_COUNT_HW_CACHE_MISSES, 0 },
	{ "branch predictions", PERF_TYPE_HW_CACHE, CACHE(BPU, ACCESS),
	  CACHE(BPU, ACCESS), PAIR_BRANCHES },
	{ "branch mispredictions", PERF_TYPE_HW_CACHE, CACHE(BPU, MISS),
	  CACHE(BPU, MISS), 1 },
	{ "accesses to the last cache", PERF_TYPE_HW_CACHE, CACHE(LL, ACCESS), NONE,
	  4 },
	{ "accesses to the first cache", PERF_TYPE_HW_CACHE, NONE,
	  CACHE(L1D, ACCESS), 4 },
};

static void run_event(const struct event *event)
{
	u64 config = arch_is_amd() ? event->amd : event->intel;
	unsigned long memory[2] = { 0 };
	struct perf_event_attr attr;
	u64 counts[3];
	int fd, i;

	if (config == NONE) {
		ktap_skip("this maker's CPUs do not have it");
		return;
	}
	attr_init(&attr, config);
	if (event->type != PERF_TYPE_RAW)
		attr.type = event->type;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	/* The first run is for the predictor and the cache. */
	for (i = 0; i < 3; i++) {
		event_reset(fd);
		event_enable(fd);
		busy_loop(i == 1 ? 2 * ITERATIONS : 4 * ITERATIONS, memory);
		event_disable(fd);
		counts[i] = event_read(fd);
	}
	expect_eq("counts of the loop", event->per_pair * ITERATIONS,
		  counts[2] - counts[1]);
	close(fd);
}

/* Intel's reference and bus cycles are half as many as cycles, in the same time. */
static void slow_cycles(void)
{
	static const u64 generic[] = { PERF_COUNT_HW_CPU_CYCLES,
				       PERF_COUNT_HW_REF_CPU_CYCLES,
				       PERF_COUNT_HW_BUS_CYCLES };
	u64 counts[3] = { 0 };
	struct perf_event_attr attr;
	unsigned int i;
	int fds[3];

	if (arch_is_amd() || arch_intel_version() < 2) {
		ktap_skip("this CPU has none");
		return;
	}
	for (i = 0; i < 3; i++) {
		attr_init_generic(&attr, generic[i]);
		attr.disabled = !i;
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
		if (fds[i] < 0)
			return;
	}
	event_enable(fds[0]);
	known_loop(ITERATIONS);
	event_disable(fds[0]);
	for (i = 0; i < 3; i++)
		counts[i] = event_read(fds[i]);
	expect_range("cycles", LOOP_CYCLES * ITERATIONS,
		     LOOP_CYCLES * ITERATIONS + 200, counts[0]);
	expect_range("reference cycles", counts[0] / 2 - 1, counts[0] / 2 + 1,
		     counts[1]);
	expect_range("bus cycles", counts[0] / 2 - 1, counts[0] / 2 + 1, counts[2]);
	attr_init_generic(&attr, PERF_COUNT_HW_REF_CPU_CYCLES);
	expect_eq("reference cycles once more, whose counter is taken", -22,
		  event_open(&attr, 0, -1, fds[0], 0));
	close_all(fds, 3);
}

int main(int argc, char **argv)
{
	unsigned int i;

	target_init(argc, argv);
	ktap_plan(ARRAY_SIZE(events) + 1);
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		ktap_begin("%s", events[i].what);
		run_event(&events[i]);
		ktap_end();
	}
	ktap_begin("reference and bus cycles");
	slow_cycles();
	ktap_end();
	return ktap_status();
}

#else

int main(void)
{
	printf("KTAP version 1\n1..0 # SKIP these are events of x86\n");
	return 0;
}

#endif
