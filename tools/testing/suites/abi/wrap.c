// SPDX-License-Identifier: GPL-2.0-only
/*
 * wrap.c - with start_near_wrap, narrow counters wrap again and again, and counters of 64 bits are
 * quiet
 *
 * The module parameter start_near_wrap makes every counting event start that many events below a
 * wrap, again and again. So a loop of ten million instructions crosses several wraps. pmu-validate
 * judges the counts. For the exact lane.
 */
#include <unistd.h>

#include "perf_util.h"
#include "task.h"

#define TEN_MILLION	(10000000UL / LOOP_INSNS)
#define PARAMETER	"/sys/module/corepmu/parameters/start_near_wrap"

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

/*
 * A counter of less than 64 bits wraps, and interrupts, once per start_near_wrap counts. When the
 * task is scheduled in again, the counter starts anew: each context switch delays the next wrap by
 * less than one wrap's counts. The loop ends halfway between two wraps. So the few counts between
 * each wrap and its interrupt cannot move the last wrap past the end.
 */
static void narrow_counters_interrupt(void)
{
	long counts = read_number(PARAMETER), wraps, before, switches;
	int fd;

	if (counts <= 0) {
		ktap_skip("start_near_wrap is not set");
		return;
	}
	wraps = 2 * LOOP_INSNS * TEN_MILLION / counts;
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

static const struct ktap_case cases[] = {
	{ "wide counters do not interrupt", wide_counters_are_quiet },
	{ "narrow counters interrupt at each wrap", narrow_counters_interrupt },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
