// SPDX-License-Identifier: GPL-2.0-only
/*
 * exact.c - counts of the known loop, separately for user space and the kernel
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "count.h"

/* The difference of a loop of ten million instructions and a loop of one iteration */
#define INSTRUCTIONS	(LOOP_INSNS * (TEN_MILLION - 1))
#define CYCLES		(target.loop_cycles * (TEN_MILLION - 1))

static void run_exact(struct perf_event_attr *attr, u64 loop, const char *figure)
{
	u64 base, first = 0, count;
	int fd, i;

	fd = event_open_self(attr, -1);
	if (fd < 0)
		return;
	base = event_count_loop(fd, 1);
	for (i = 0; i < 10; i++) {
		count = event_count_loop(fd, TEN_MILLION);
		expect_eq("counts of the loop", loop, count - base);
		if (!i)
			first = count;
		expect_eq("count of another run", first, count);
	}
	ktap_figure(figure, first);
	close(fd);
}

static void generic_instructions(void)
{
	struct perf_event_attr attr;

	attr_init_generic(&attr, PERF_COUNT_HW_INSTRUCTIONS);
	run_exact(&attr, INSTRUCTIONS, "instructions_u");
}

static void generic_cycles(void)
{
	struct perf_event_attr attr;

	attr_init_generic(&attr, PERF_COUNT_HW_CPU_CYCLES);
	run_exact(&attr, CYCLES, "cycles_u");
}

static void own_instructions(void)
{
	struct perf_event_attr attr;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	run_exact(&attr, INSTRUCTIONS, "pmu_instructions_u");
}

static void own_cycles(void)
{
	struct perf_event_attr attr;

	attr_init(&attr, ARCH_EVENT_CYCLES);
	run_exact(&attr, CYCLES, "pmu_cycles_u");
}

static void raw_instructions(void)
{
	struct perf_event_attr attr;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.type = PERF_TYPE_RAW;
	run_exact(&attr, INSTRUCTIONS, "raw_instructions_u");
}

static void long_instructions(void)
{
	struct perf_event_attr attr;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.config1 = ARCH_CONFIG1_LONG;
	run_exact(&attr, INSTRUCTIONS, "long_instructions_u");
}

/* Open three events that count at the same time: user space, kernel, and both. */
static void open_three(int *fds, u64 config)
{
	struct perf_event_attr attr;
	int i;

	for (i = 0; i < 3; i++) {
		attr_init(&attr, config);
		attr.disabled = i == 0;
		attr.exclude_kernel = i == 0;
		attr.exclude_user = i == 1;
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
	}
}

static void user_and_kernel(u64 config)
{
	const u64 loop = loop_counts(config, TEN_MILLION / 10);
	const u64 slack = arch_group_slack();
	u64 user, kernel, both, quiet;
	int fds[3], i;

	open_three(fds, config);
	if (fds[0] < 0 || fds[1] < 0 || fds[2] < 0)
		goto out;
	for (i = 0; i < 3; i++)
		event_reset(fds[i]);
	event_enable(fds[0]);
	known_loop(TEN_MILLION / 10);
	event_disable(fds[0]);
	user = event_read(fds[0]);
	quiet = event_read(fds[1]);
	both = event_read(fds[2]);
	expect_range("user counts", loop, loop + 200, user);
	expect_ne("kernel counts around two ioctls", 0, quiet);
	expect_range("user and kernel counts together", both - slack,
		     both + slack, user + quiet);

	for (i = 0; i < 3; i++)
		event_reset(fds[i]);
	event_enable(fds[0]);
	for (i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	event_disable(fds[0]);
	user = event_read(fds[0]);
	kernel = event_read(fds[1]);
	both = event_read(fds[2]);
	expect_range("user counts of 1000 system calls", 3000, 30000, user);
	expect_range("kernel counts of 1000 system calls",
		     100000, 30000000, kernel - quiet);
	expect_range("user and kernel counts together", both - slack,
		     both + slack, user + kernel);
out:
	close_all(fds, 3);
}

static void exclude_instructions(void)
{
	user_and_kernel(ARCH_EVENT_INSTRUCTIONS);
}

static void exclude_cycles(void)
{
	user_and_kernel(ARCH_EVENT_CYCLES);
}

static void exclude_everything(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.exclude_user = 1;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	expect_eq("counts with user and kernel excluded", 0,
		  event_count_loop(fd, SHORT));
	close(fd);
}

static const struct ktap_case cases[] = {
	{ "generic instructions count the loop exactly, ten times",
	  generic_instructions },
	{ "generic cycles count the loop exactly, ten times",
	  generic_cycles },
	{ "the PMU's instructions count the loop", own_instructions },
	{ "the PMU's cycles count the loop", own_cycles },
	{ "raw instructions count the loop", raw_instructions },
	{ "64-bit instructions count the loop", long_instructions },
	{ "instructions: user and kernel add up to both",
	  exclude_instructions },
	{ "cycles: user and kernel add up to both", exclude_cycles },
	{ "user and kernel both excluded count nothing", exclude_everything },
};

const struct ktap_list count_exact_cases = { cases, ARRAY_SIZE(cases) };
