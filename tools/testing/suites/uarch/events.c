// SPDX-License-Identifier: GPL-2.0-only
/*
 * events.c - x86: events by number and by generic name, and the effect of edge, inv and cmask
 *
 * tools/qemu/x86/x86-pmu.rst says what the virtual PMU counts: at most one instruction retires per
 * cycle, and a branch in its second cycle.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf_util.h"
#include "user_util.h"

#if defined(__x86_64__)

/* Rounds of four iterations */
#define ROUNDS		50000UL

#define EDGE		(1ULL << 18)
#define INV		(1ULL << 23)
#define CMASK(n)	((unsigned long long)(n) << 24)
#define EQ		(1ULL << 36)
#define UMASK2(n)	((unsigned long long)(n) << 40)
#define NONE		(~0ULL)

/* Half of AMD's counters, at most 16 */
#define MERGED_MAX	8

/*
 * Each iteration loads, stores, and branches twice one way and twice the other. A predictor of two
 * bits gets three of four wrong. Not inlined: the predictor uses the branches' addresses.
 */
static __attribute__((noinline)) void busy_loop(unsigned long iterations,
						unsigned long *memory)
{
	asm volatile("1:	mov	(%1), %%rax\n"
		     "	mov	%%rax, 8(%1)\n"
		     "	test	$2, %b0\n"
		     "	jz	2f\n"
		     "	nop\n"
		     "2:	dec	%0\n"
		     "	jnz	1b\n"
		     : "+r" (iterations) : "r" (memory) : "rax", "cc", "memory");
}

/* A round has six instructions in each iteration, two NOPs and eight branches. */
#define INSNS		26
#define BRANCHES	8
#define CYCLES		(INSNS + BRANCHES)

/* The kernel's own work changes some entries of the predictor and of the cache. */
#define DISTURBED	16

struct event {
	const char *what;
	unsigned int type;
	u64 intel, amd;
	unsigned int per_round;
	unsigned int slack;
};

#define CACHE(id, result)	(PERF_COUNT_HW_CACHE_##id | \
				 PERF_COUNT_HW_CACHE_RESULT_##result << 16)
#define WRITE			(PERF_COUNT_HW_CACHE_OP_WRITE << 8)

static const struct event events[] = {
	{ "instructions", PERF_TYPE_RAW, 0xc0, 0xc0, INSNS, 0 },
	{ "cycles", PERF_TYPE_RAW, 0x3c, 0x76, CYCLES, 0 },
	{ "branches", PERF_TYPE_RAW, 0xc4, 0xc2, BRANCHES, 0 },
	{ "conditional branches", PERF_TYPE_RAW, 0x01c4, 0xd1, BRANCHES, 0 },
	{ "conditional branches not taken", PERF_TYPE_RAW, 0x10c4, NONE, 2, 0 },
	{ "mispredicted branches", PERF_TYPE_RAW, 0xc5, 0xc3, 3, DISTURBED },
	{ "loads", PERF_TYPE_RAW, 0x81d0, 0x0129, 4, 0 },
	{ "stores", PERF_TYPE_RAW, 0x82d0, 0x0229, 4, 0 },
	{ "an event number without an event", PERF_TYPE_RAW, 0xf7, 0xf7, 0, 0 },
	{ "edges of instructions", PERF_TYPE_RAW, EDGE | 0xc0, EDGE | 0xc0,
	  BRANCHES, 0 },
	{ "edges of branches", PERF_TYPE_RAW, EDGE | 0xc4, EDGE | 0xc2,
	  BRANCHES, 0 },
	{ "edges of cycles", PERF_TYPE_RAW, EDGE | 0x3c, EDGE | 0x76, 0, 0 },
	{ "instructions, a mask of 1", PERF_TYPE_RAW, CMASK(1) | 0xc0,
	  CMASK(1) | 0xc0, INSNS, 0 },
	{ "instructions, a mask of 2", PERF_TYPE_RAW, CMASK(2) | 0xc0,
	  CMASK(2) | 0xc0, 0, 0 },
	{ "cycles without an instruction", PERF_TYPE_RAW, INV | CMASK(1) | 0xc0,
	  INV | CMASK(1) | 0xc0, BRANCHES, 0 },
	{ "cycles without two instructions", PERF_TYPE_RAW, INV | CMASK(2) | 0xc0,
	  INV | CMASK(2) | 0xc0, CYCLES, 0 },
	{ "cycles without a branch", PERF_TYPE_RAW, INV | CMASK(1) | 0xc4,
	  INV | CMASK(1) | 0xc2, INSNS, 0 },
	{ "instructions, inverted without a mask", PERF_TYPE_RAW, INV | 0xc0,
	  INV | 0xc0, INSNS, 0 },
	{ "generic instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS,
	  PERF_COUNT_HW_INSTRUCTIONS, INSNS, 0 },
	{ "generic cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
	  PERF_COUNT_HW_CPU_CYCLES, CYCLES, 0 },
	{ "generic branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	  PERF_COUNT_HW_BRANCH_INSTRUCTIONS, BRANCHES, 0 },
	{ "generic branch misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES,
	  PERF_COUNT_HW_BRANCH_MISSES, 3, DISTURBED },
	{ "generic cache references", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CACHE_REFERENCES, PERF_COUNT_HW_CACHE_REFERENCES, 8, 0 },
	{ "generic cache misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES,
	  PERF_COUNT_HW_CACHE_MISSES, 0, DISTURBED },
	{ "branch predictions", PERF_TYPE_HW_CACHE, CACHE(BPU, ACCESS),
	  CACHE(BPU, ACCESS), BRANCHES, 0 },
	{ "branch mispredictions", PERF_TYPE_HW_CACHE, CACHE(BPU, MISS),
	  CACHE(BPU, MISS), 3, DISTURBED },
	{ "accesses to the first cache", PERF_TYPE_HW_CACHE, NONE,
	  CACHE(L1D, ACCESS), 8, 0 },
	{ "loads from the first cache", PERF_TYPE_HW_CACHE, CACHE(L1D, ACCESS), NONE, 4, 0 },
	{ "stores to the first cache", PERF_TYPE_HW_CACHE, CACHE(L1D, ACCESS) | WRITE, NONE,
	  4, 0 },
	{ "stores that ask for an address", PERF_TYPE_HW_CACHE, CACHE(DTLB, ACCESS) | WRITE, NONE,
	  4, 0 },
};

static void run_event(const struct event *event)
{
	u64 config = arch_is_amd() ? event->amd : event->intel;
	/* Volatile: loaded before the event counts */
	volatile unsigned long iterations;
	unsigned long memory[2] = { 0 };
	struct perf_event_attr attr;
	u64 counts[3], count;
	int fd;

	if (config == NONE) {
		ktap_skip("CPUs of this vendor do not have the event");
		return;
	}
	attr_init(&attr, config);
	if (event->type != PERF_TYPE_RAW)
		attr.type = event->type;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	/* The first run warms up the predictor and the cache. */
	for (int i = 0; i < 3; i++) {
		iterations = 4 * (i == 1 ? ROUNDS : 2 * ROUNDS);
		event_reset(fd);
		event_enable(fd);
		busy_loop(iterations, memory);
		event_disable(fd);
		counts[i] = event_read(fd);
	}
	count = counts[2] - counts[1];
	expect_range("counts of the loop",
		     (long long)(event->per_round * ROUNDS) - event->slack,
		     event->per_round * ROUNDS + event->slack, count);
	close(fd);
}

/* Intel's reference and bus cycles are half as frequent as cycles. */
static void slow_cycles(void)
{
	static const u64 generic[] = { PERF_COUNT_HW_CPU_CYCLES,
				       PERF_COUNT_HW_REF_CPU_CYCLES,
				       PERF_COUNT_HW_BUS_CYCLES };
	u64 counts[3] = { 0 };
	struct perf_event_attr attr;
	int fds[3];

	if (arch_is_amd() || arch_intel_version() < 2) {
		ktap_skip("this CPU has none");
		return;
	}
	for (unsigned int i = 0; i < 3; i++) {
		attr_init_generic(&attr, generic[i]);
		attr.disabled = !i;
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
		if (fds[i] < 0)
			return;
	}
	event_run_loop(fds[0], ROUNDS);
	for (unsigned int i = 0; i < 3; i++)
		counts[i] = event_read(fds[i]);
	expect_range("cycles", target.loop_cycles * ROUNDS,
		     target.loop_cycles * ROUNDS + 200, counts[0]);
	expect_range("reference cycles", counts[0] / 2 - 1, counts[0] / 2 + 1,
		     counts[1]);
	expect_range("bus cycles", counts[0] / 2 - 1, counts[0] / 2 + 1, counts[2]);
	attr_init_generic(&attr, PERF_COUNT_HW_REF_CPU_CYCLES);
	expect_eq("reference cycles once more, whose counter is taken", -22,
		  event_open(&attr, 0, -1, fds[0], 0));
	close_all(fds, 3);
}

/* Intel: counters that can count every non-architectural event on all microarchitectures */
#define COMMON_COUNTERS		4

/*
 * Events of one microarchitecture are placed on counters 0 to 3. Events that can use other
 * counters move there, even if they were opened earlier.
 */
static void common_counters(void)
{
	unsigned int counters = arch_counters().instructions, nr = 0, i;
	struct reader readers[ARCH_MAX_COUNTERS];
	struct perf_event_attr attr;
	int leader, fds[COMMON_COUNTERS];

	if (target.in_tree) {
		ktap_skip("the built-in driver places the events on any counter");
		return;
	}
	if (arch_is_amd() || counters <= COMMON_COUNTERS + 1) {
		ktap_skip("this CPU has no counters beyond the common ones");
		return;
	}
	user_read_allow(1);
	/* Architectural events on all counters but the last four */
	for (; nr < counters - COMMON_COUNTERS; nr++) {
		if (!reader_open(&readers[nr], ARCH_EVENT_BRANCHES, 0))
			goto out;
		event_enable(readers[nr].fd);
	}
	for (i = 0; i < COMMON_COUNTERS - 1; i++, nr++) {
		if (!reader_open(&readers[nr], ARCH_EVENT_UNKNOWN, 0))
			goto out;
		event_enable(readers[nr].fd);
		expect_range("index of such an event", 1, COMMON_COUNTERS,
			     readers[nr].page->index);
	}
	for (i = 0; i < nr; i++)
		expect_ne("index of each", 0, readers[i].page->index);

	/* One more event than counters */
	attr_init(&attr, ARCH_EVENT_UNKNOWN);
	leader = event_open_self(&attr, -1);
	/* Disabled members need no counter. */
	attr.disabled = 0;
	for (i = 1; i < COMMON_COUNTERS; i++)
		fds[i] = event_open_self(&attr, leader);
	expect_eq("a group of five", -EINVAL, event_open(&attr, 0, -1, leader, 0));
	close_all(fds + 1, COMMON_COUNTERS - 1);
	close_all(&leader, 1);
out:
	while (nr--)
		reader_close(&readers[nr]);
}

/*
 * Intel: events that need an extra register are rejected. The guest's CPU model, Skylake, has some
 * of these registers, but the virtual PMU does not.
 */
static void incomplete_events(void)
{
	static const struct {
		u64 config;
		int error;
	} rows[] = {
		{ 0x01b7, -ENXIO }, { 0x01bb, -ENXIO }, { 0x01c6, -ENXIO },
		{ 0x012a, -EOPNOTSUPP }, { 0x012b, -EOPNOTSUPP }, { 0x01cd, -EOPNOTSUPP },
	};
	struct perf_event_attr attr;

	if (target.in_tree) {
		ktap_skip("the built-in driver does not refuse the events");
		return;
	}
	if (arch_is_amd()) {
		ktap_skip("AMD's CPUs have none");
		return;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		attr_init(&attr, rows[i].config);
		expect_eq("such an event", rows[i].error, event_open(&attr, 0, -1, -1, 0));
	}
}

/*
 * AMD: more than 15 floating-point operations can retire per cycle, so this event takes two merged
 * counters. With the core extension half as many such events fit as others; without it none.
 */
static void merged_event(void)
{
	unsigned int i, fit = arch_counters().branches / 2;
	struct perf_event_attr attr;
	int fds[MERGED_MAX];

	if (!arch_is_amd()) {
		ktap_skip("Intel's CPUs have none");
		return;
	}
	attr_init(&attr, 0x003);
	if (arch_counters().branches < 6) {
		expect_eq("without the core extension", -EOPNOTSUPP,
			  event_open(&attr, 0, -1, -1, 0));
		return;
	}
	if (!expect_true("counters for a few", fit <= MERGED_MAX))
		return;
	for (i = 0; i < fit; i++) {
		/* Only the leader is disabled. Disabled siblings would need no counter yet. */
		attr.disabled = !i;
		fds[i] = event_open(&attr, 0, -1, i ? fds[0] : -1, 0);
		if (!expect_true("one more in the group", fds[i] >= 0))
			break;
	}
	if (i == fit)
		expect_eq("one too many", -EINVAL, event_open(&attr, 0, -1, fds[0], 0));
	while (i--)
		close(fds[i]);
}

/* Intel from perfmon version 6 on: the second unit mask selects another event. */
static void second_mask(void)
{
	static const struct event named = { "", PERF_TYPE_RAW, UMASK2(1) | 0x02fe, NONE,
					    2 * BRANCHES, 0 };
	static const struct event none = { "", PERF_TYPE_RAW, UMASK2(2) | 0xc4, NONE, 0, 0 };

	if (arch_is_amd() || arch_intel_version() < 6) {
		ktap_skip("this CPU has none");
		return;
	}
	run_event(&named);
	run_event(&none);
}

/*
 * 0 or 1 branch, and 0 or 1 instruction, retires per cycle. The built-in driver of Linux 7.3
 * counts such instructions on fixed counter 0, which ignores the equality bit.
 */
static void equality(void)
{
	static const struct event rows[] = {
		{ "", PERF_TYPE_RAW, EQ | 0xc4, NONE, INSNS, 0 },
		{ "", PERF_TYPE_RAW, EQ | INV | 0xc4, NONE, BRANCHES, 0 },
		{ "", PERF_TYPE_RAW, EQ | CMASK(1) | 0xc4, NONE, BRANCHES, 0 },
		{ "", PERF_TYPE_RAW, EQ | CMASK(2) | 0xc4, NONE, 0, 0 },
	}, instructions = { "", PERF_TYPE_RAW, EQ | 0xc0, NONE, BRANCHES, 0 };

	if (arch_is_amd() || arch_intel_version() < 6) {
		ktap_skip("this CPU has no EQ bit (perfmon version 6)");
		return;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++)
		run_event(&rows[i]);
	if (!target.in_tree)
		run_event(&instructions);
}

/* As many events fit as there are counters, whatever the counters' numbers. */
static void all_counters(void)
{
	unsigned int counters = arch_counters().branches, i;
	int fds[ARCH_MAX_COUNTERS];
	struct perf_event_attr attr;
	u64 counts[ARCH_MAX_COUNTERS] = { 0 };

	attr_init(&attr, ARCH_EVENT_BRANCHES);
	for (i = 0; i < counters; i++) {
		attr.disabled = !i;
		fds[i] = event_open(&attr, 0, -1, i ? fds[0] : -1, 0);
		if (!expect_true("one more in the group", fds[i] >= 0))
			break;
	}
	if (i == counters) {
		expect_eq("one too many", -EINVAL, event_open(&attr, 0, -1, fds[0], 0));
		event_run_loop(fds[0], ROUNDS);
		for (i = 0; i < counters; i++)
			counts[i] = event_read(fds[i]);
		for (i = 1; i < counters; i++)
			expect_eq("count of each", counts[0], counts[i]);
		expect_range("count", ROUNDS, 10 * ROUNDS, counts[0]);
	}
	close_all(fds, i);
}

static const struct ktap_case cases[] = {
	{ "an event with a second unit mask", second_mask },
	{ "equal to a threshold, and to 0", equality },
	{ "a group on all counters", all_counters },
	{ "reference and bus cycles", slow_cycles },
	{ "events of one microarchitecture are placed on the counters that all have",
	  common_counters },
	{ "events that need an extra register are refused", incomplete_events },
	{ "an event that needs two counters merged has two, or is refused", merged_event },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	ktap_plan(ARRAY_SIZE(events) + ARRAY_SIZE(cases));
	for (unsigned int i = 0; i < ARRAY_SIZE(events); i++) {
		ktap_begin("%s", events[i].what);
		run_event(&events[i]);
		ktap_end();
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		ktap_run_case(&cases[i]);
	return ktap_status();
}

#else

int main(void)
{
	printf("KTAP version 1\n1..0 # SKIP these are events of x86\n");
	return 0;
}

#endif
