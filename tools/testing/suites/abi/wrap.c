// SPDX-License-Identifier: GPL-2.0-only
/*
 * wrap.c - counts of 64 bits from counters that wrap at 2^32
 *
 * The module parameter start_near_wrap makes every counting event start that many events below a
 * wrap, again and again. So a loop of ten million instructions crosses several wraps. Without the
 * parameter one long loop crosses one. For the exact lane.
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ring.h"

#define TEN_MILLION	(10000000UL / LOOP_INSNS)
#define PARAMETER	"/sys/module/corepmu/parameters/start_near_wrap"

static long near_wrap;

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

static void cycles(void)
{
	check_wraps(ARCH_EVENT_CYCLES, 0);
}

static void instructions(void)
{
	check_wraps(ARCH_EVENT_INSTRUCTIONS, 0);
}

static void long_cycles(void)
{
	check_wraps(ARCH_EVENT_CYCLES, ARCH_CONFIG1_LONG);
}

static void long_instructions(void)
{
	if (!arch_long_counters())
		ktap_skip("QEMU cannot chain two counters of 32 bits");
	else
		check_wraps(ARCH_EVENT_INSTRUCTIONS, ARCH_CONFIG1_LONG);
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

/* Read in small steps, also right before and after a wrap. */
static void reads_across(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	static u64 counts[5000];
	unsigned int i, odd = 0;
	u64 step;

	if (fd < 0)
		return;
	event_enable(fd);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		known_loop(1000);
		counts[i] = event_read(fd);
	}
	event_disable(fd);
	step = counts[2] - counts[1];
	expect_range("step", LOOP_INSNS * 1000, LOOP_INSNS * 1000 + 100, step);
	for (i = 3; i < ARRAY_SIZE(counts); i++)
		odd += counts[i] - counts[i - 1] != step;
	expect_eq("steps of another size", 0, odd);
	expect_true("the counter to wrap meanwhile",
		    counts[i - 1] > (u64)near_wrap);
	close(fd);
}

/* Every counter wraps at the same instruction. */
static void all_together(void)
{
	int fds[ARCH_MAX_COUNTERS];
	const unsigned int nr = target.all;
	u64 base[ARCH_MAX_COUNTERS];
	/* In memory, so that loading either takes the same instructions */
	volatile unsigned long loops[2] = { 1, TEN_MILLION };
	unsigned int i, run;

	for (i = 0; i < nr; i++) {
		fds[i] = event_open_user(i ? ARCH_EVENT_INSTRUCTIONS :
					 ARCH_EVENT_CYCLES, i ? fds[0] : -1);
		if (fds[i] < 0) {
			close_all(fds, i);
			return;
		}
	}
	for (run = 0; run < 2; run++) {
		ioctl(fds[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
		event_enable(fds[0]);
		known_loop(loops[run]);
		event_disable(fds[0]);
		for (i = 0; i < nr; i++) {
			u64 each = i ? LOOP_INSNS : target.loop_cycles;
			u64 count = event_read(fds[i]);

			if (run)
				expect_eq("counts of the loop", each * (TEN_MILLION - 1),
					  count - base[i]);
			base[i] = count;
		}
	}
	close_all(fds, nr);
}

static void user_and_kernel(void)
{
	struct perf_event_attr attr;
	int fds[3], i;
	long interrupts = pmu_interrupts();
	u64 both, slack;

	for (i = 0; i < 3; i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.disabled = i == 0;
		attr.exclude_kernel = i == 0;
		attr.exclude_user = i == 1;
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
	}
	event_enable(fds[0]);
	known_loop(TEN_MILLION);
	for (i = 0; i < 20000; i++)
		syscall(SYS_getppid);
	event_disable(fds[0]);
	expect_true("the user's counter to wrap",
		    event_read(fds[0]) > (u64)near_wrap);
	expect_true("the kernel's counter to wrap",
		    event_read(fds[1]) > (u64)near_wrap);
	both = event_read(fds[2]);
	/* Each wrap stops the group's counters one after the other, and starts them again. */
	slack = (pmu_interrupts() - interrupts + 1) * arch_group_slack();
	expect_range("user and kernel together", both - slack, both + slack,
		     event_read(fds[0]) + event_read(fds[1]));
	close_all(fds, 3);
}

static void switches(void)
{
	struct perf_event_attr attr;
	int there[2], back[2], fd, i;
	u64 counts[2];
	unsigned int round;
	pid_t child;
	char c = 0;

	for (round = 0; round < 2; round++) {
		unsigned long iterations = round ? 100000 : 1;

		if (pipe(there) || pipe(back))
			return;
		fflush(stdout);
		child = fork();
		if (!child) {
			for (i = 0; i < 100; i++) {
				if (read(there[0], &c, 1) != 1 ||
				    write(back[1], &c, 1) != 1)
					_exit(1);
			}
			_exit(0);
		}
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		fd = event_open_self(&attr, -1);
		event_enable(fd);
		for (i = 0; i < 100; i++) {
			known_loop(iterations);
			if (write(there[1], &c, 1) != 1 ||
			    read(back[0], &c, 1) != 1)
				break;
		}
		event_disable(fd);
		counts[round] = event_read(fd);
		close(fd);
		waitpid(child, NULL, 0);
		close(there[0]);
		close(there[1]);
		close(back[0]);
		close(back[1]);
	}
	expect_eq("counts of 100 loops between sleeps",
		  100 * LOOP_INSNS * (100000 - 1), counts[1] - counts[0]);
}

static void multiplexed(void)
{
	int fds[ARCH_MAX_COUNTERS];
	const unsigned int nr = target.counters + 2;
	const u64 truth = LOOP_INSNS * 20 * TEN_MILLION;
	struct perf_event_attr attr;
	struct event_times times;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.read_format = FORMAT_TIMES;
		fds[i] = event_open_self(&attr, -1);
	}
	for (i = 0; i < nr; i++)
		event_enable(fds[i]);
	known_loop(20 * TEN_MILLION);
	for (i = 0; i < nr; i++)
		event_disable(fds[i]);
	for (i = 0; i < nr; i++) {
		event_read_times(fds[i], &times);
		if (expect_ne("time running", 0, times.running))
			expect_range("scaled count, within 2 percent",
				     truth / 100 * 98, truth / 100 * 102,
				     (double)times.count * times.enabled /
				     times.running);
	}
	close_all(fds, nr);
}

static void inherited(void)
{
	struct perf_event_attr attr;
	pid_t child;
	int fd, i;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.inherit = 1;
	fd = event_open_self(&attr, -1);
	event_enable(fd);
	fflush(stdout);
	for (i = 0; i < 4; i++) {
		child = fork();
		if (!child) {
			known_loop(TEN_MILLION);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	event_disable(fd);
	expect_range("counts of four children", 4 * LOOP_INSNS * TEN_MILLION,
		     4 * LOOP_INSNS * TEN_MILLION + 20000, event_read(fd));
	close(fd);
}

/* The parameter affects counting events only, not sampling periods. */
static void sampling(void)
{
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	struct ring ring = { 0 };
	int fd, counting;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = 100000;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
	fd = event_open_self(&attr, -1);
	counting = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	if (fd >= 0 && !ring_map(&ring, fd, 16)) {
		event_enable(fd);
		event_is_exact(counting, TEN_MILLION);
		event_disable(fd);
		ring_drain(&ring, &attr, &sum);
		expect_range("samples", 99, 101, sum.samples);
		expect_eq("samples inside the loop", sum.samples, sum.inside);
	}
	ring_unmap(&ring);
	close(fd);
	close(counting);
}

/* Count more than 2^32 instructions, on one counter of each type at once. */
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
	{ "cycles", cycles },
	{ "instructions", instructions },
	{ "64-bit cycles", long_cycles },
	{ "64-bit instructions", long_instructions },
	{ "cycles on an event counter", cycles_on_event_counter },
	{ "wide counters do not interrupt", wide_counters_are_quiet },
	{ "reads next to a wrap", reads_across },
	{ "all counters wrap together", all_together },
	{ "user and kernel add up to both", user_and_kernel },
	{ "wraps between context switches", switches },
	{ "multiplexed", multiplexed },
	{ "inherited", inherited },
	{ "sampling beside", sampling },
};

static const struct ktap_case hard_cases[] = {
	{ "2^32 instructions", past_32_bits },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	near_wrap = read_number(PARAMETER);
	if (near_wrap > 0)
		return ktap_run(cases, ARRAY_SIZE(cases));
	return ktap_run(hard_cases, ARRAY_SIZE(hard_cases));
}
