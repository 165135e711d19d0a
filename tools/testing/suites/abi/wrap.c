// SPDX-License-Identifier: GPL-2.0-only
/*
 * wrap.c - with start_near_wrap, narrow counters wrap again and again, and counters of 64 bits are
 * quiet
 *
 * The module parameter start_near_wrap makes every counting event start that many events below a
 * wrap, again and again. So a loop of ten million instructions crosses several wraps. pmu-validate
 * judges the counts. Without the parameter one long loop crosses one wrap. For the exact lane.
 */
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "perf_util.h"

#define TEN_MILLION	(10000000UL / LOOP_INSNS)
#define PARAMETER	"/sys/module/corepmu/parameters/start_near_wrap"

/*
 * One function for all numbers of iterations: a specialised copy for 1 would have other
 * instructions.
 */
static __attribute__((noipa)) u64 sum_of_five(int fd, unsigned long iterations)
{
	int i;

	event_reset(fd);
	for (i = 0; i < 5; i++) {
		event_enable(fd);
		known_loop(iterations);
		event_disable(fd);
	}
	return event_read(fd);
}

static void check_wraps(u64 config, u64 config1)
{
	struct perf_event_attr attr;
	u64 base, first = 0, count;
	int fd, i;

	attr_init(&attr, config);
	attr.config1 = config1;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	base = event_count_loop(fd, 1);
	for (i = 0; i < 10; i++) {
		count = event_count_loop(fd, TEN_MILLION);
		expect_eq("counts of the loop",
			  loop_counts(config, TEN_MILLION - 1), count - base);
		if (!i)
			first = count;
		expect_eq("count of another run", first, count);
	}
	/* Without a reset in between, the count is the sum over all wraps. */
	base = sum_of_five(fd, 1);
	expect_eq("sum of five loops", 5 * loop_counts(config, TEN_MILLION - 1),
		  sum_of_five(fd, TEN_MILLION) - base);
	close(fd);
}

static void long_cycles(void)
{
	check_wraps(ARCH_EVENT_CYCLES, ARCH_CONFIG1_LONG);
}

static void cycles_on_event_counter(void)
{
	struct perf_event_attr attr;
	int other;

	attr_init(&attr, ARCH_EVENT_CYCLES);
	attr.pinned = 1;
	attr.disabled = 0;
	other = event_open_self(&attr, -1);
	check_wraps(ARCH_EVENT_CYCLES, 0);
	close(other);
}

/* A carry into the upper half of a wide counter is no overflow. */
static void wide_counters_are_quiet(void)
{
	long before = pmu_interrupts();
	int fds[2] = { -1, -1 }, i;

	if (!ARCH_WIDE_CYCLES) {
		ktap_skip("no counter has 64 bits");
		return;
	}
	expect_ne("interrupts so far", -1, before);
	fds[0] = event_open_user(ARCH_EVENT_CYCLES, -1);
	if (arch_long_counters())
		fds[1] = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	for (i = 0; i < 2; i++)
		event_enable(fds[i]);
	known_loop(2 * TEN_MILLION);
	for (i = 0; i < 2; i++)
		event_disable(fds[i]);
	expect_eq("interrupts", before, pmu_interrupts());
	close_all(fds, 2);
}

/* Return how often this process was scheduled out. */
static long context_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/*
 * A counter of less than 64 bits wraps, and interrupts, once per start_near_wrap counts. When the
 * task is scheduled in again, the counter starts anew: each context switch delays the next wrap by
 * less than one wrap's counts. The loop ends halfway between two wraps. So the few counts between
 * each wrap and its interrupt cannot move the last wrap past the end.
 */
static void narrow_counters_interrupt(void)
{
	unsigned long counts = read_number(PARAMETER);
	long wraps = 2 * LOOP_INSNS * TEN_MILLION / counts, before, switches;
	int fd;

	if (arch_long_counters()) {
		ktap_skip("counters have 64 bits");
		return;
	}
	fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	if (fd < 0)
		return;
	switches = context_switches();
	before = pmu_interrupts();
	event_count_loop(fd, (wraps * counts + counts / 2) / LOOP_INSNS);
	switches = context_switches() - switches;
	expect_range("interrupts", before + wraps - switches, before + wraps, pmu_interrupts());
	close(fd);
}

/*
 * Count more than 2^32 instructions, on one counter of each type at once.
 *
 * A 32-bit counter interrupts after 2^31 counts, and so does each counter of an event that may use
 * a 32-bit counter. Each update then adds less than 2^32 counts. The CPU's cycles ask
 * for 64 bits on arm64; on x86 they have such a counter if it has full-width writes.
 */
static void past_32_bits(void)
{
	const unsigned long iterations = (1UL << 32) / LOOP_INSNS + 12345;
	/* In memory, so that loading either takes the same instructions */
	volatile unsigned long loops[2] = { 1, iterations };
	int fds[3] = { -1, -1, -1 }, cpu[2];
	struct perf_event_attr attr;
	u64 base[3], count, least;
	unsigned int i;

	/* Events of the CPU keep their counters, and nobody reads them, while the tasks switch. */
	for (i = 0; i < 2; i++) {
		attr_init(&attr, i ? ARCH_EVENT_INSTRUCTIONS :
			  ARCH_EVENT_CYCLES);
		attr.config1 = i ? 0 : ARCH_CONFIG1_LONG;
		cpu[i] = event_open(&attr, -1, 0, -1, 0);
		if (cpu[i] < 0)
			ktap_fail("open on CPU 0: got %s", strerror(-cpu[i]));
	}
	for (i = 0; i < 3; i++) {
		attr_init(&attr, i == 1 ? ARCH_EVENT_INSTRUCTIONS :
			  ARCH_EVENT_CYCLES);
		attr.disabled = i == 0;
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
		if (fds[i] < 0)
			goto out;
	}
	event_enable(fds[0]);
	known_loop(loops[0]);
	event_disable(fds[0]);
	for (i = 0; i < 3; i++)
		base[i] = event_read(fds[i]);
	ioctl(fds[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	for (i = 0; i < 2; i++)
		event_enable(cpu[i]);
	event_enable(fds[0]);
	known_loop(loops[1]);
	event_disable(fds[0]);
	for (i = 0; i < 2; i++)
		event_disable(cpu[i]);
	for (i = 0; i < 3; i++) {
		count = event_read(fds[i]);
		expect_eq("counts of the loop", (i == 1 ? LOOP_INSNS : target.loop_cycles) *
			  (iterations - 1), count - base[i]);
	}
	for (i = 0; i < 2; i++) {
		least = (i ? LOOP_INSNS : target.loop_cycles) * iterations;
		expect_range("counts of the CPU", least, least + 1000000, event_read(cpu[i]));
	}
out:
	close_all(cpu, 2);
	close_all(fds, 3);
}

static const struct ktap_case cases[] = {
	{ "64-bit cycles", long_cycles },
	{ "cycles on an event counter", cycles_on_event_counter },
	{ "wide counters do not interrupt", wide_counters_are_quiet },
	{ "narrow counters interrupt at each wrap", narrow_counters_interrupt },
};

static const struct ktap_case hard_cases[] = {
	{ "2^32 instructions", past_32_bits },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	if (read_number(PARAMETER) > 0)
		return ktap_run(cases, ARRAY_SIZE(cases));
	return ktap_run(hard_cases, ARRAY_SIZE(hard_cases));
}
