// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the suite "precise": each precise sample is at the instruction with which the count
 * reaches a multiple of the period, with the registers of that moment
 *
 * For PMUs with precise samples of format 3, 4 or 15 (Intel, on a virtual PMU that counts
 * exactly): the suite fails elsewhere. With corepmu_test.precise=long on the kernel's command line
 * there are 100,000 samples and more, with corepmu_test.loads=long 100,000 of load latency. With
 * corepmu_test.precise=loads only the tests of loads' and stores' latency run. With
 * corepmu_test.precise=counts only the tests of counts in samples run, for PMUs whose records have
 * counter values.
 */
#define _GNU_SOURCE
#include <asm/perf_regs.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "precise.h"
#include "task.h"

/* Adaptive records (Ice Lake and later) have vector registers. */
static bool has_vectors(struct perf_event_attr *attr)
{
	int fd = event_open(attr, 0, -1, -1, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

#define SHORT			1009
#define LONG			20011
#define SAMPLES			(2000 * times)
/* Samples per tick that perf core does not throttle */
#define SAMPLES_PMI		200

/* Factor for the number of samples */
static unsigned int times = 1;

#define TIMES_LONG		4
#define SAMPLES_LONG		100000

static void each_event(unsigned long large)
{
	struct check c = { .precise = 2, .large = large };

	for (c.what = INSTRUCTIONS; c.what <= BRANCHES; c.what++) {
		c.samples = large ? SAMPLES : SAMPLES_PMI;
		c.period = c.what == INSTRUCTIONS || c.what == CYCLES ? SHORT : SHORT / 8;
		check(&c);
	}
}

/* Without registers: all samples have the same length. */
static void placed(void)
{
	struct check c = { .precise = 2, .large = true, .samples = SAMPLES };
	struct perf_event_attr attr;

	for (c.what = INSTRUCTIONS; c.what <= BRANCHES; c.what++) {
		c.period = c.what == INSTRUCTIONS || c.what == CYCLES ? SHORT : SHORT / 8;
		attr_of(&c, &attr);
		attr.sample_type &= ~PERF_SAMPLE_REGS_INTR;
		attr.sample_regs_intr = 0;
		check_attr(&c, &attr);
	}
}

#define LOST_SAMPLES		2000

/* With a buffer that soon fills up, each sample without space is counted as lost. */
static void lost(void)
{
	const struct check c = {
		.what = INSTRUCTIONS, .precise = 2, .period = SHORT, .large = true,
	};
	struct run run = { .rounds = LOST_SAMPLES * SHORT / 4 };
	struct perf_event_attr attr;
	struct ring ring = { 0 };
	unsigned int samples = 0;
	struct sample s;
	u64 values[2];
	int fd;

	attr_of(&c, &attr);
	attr.sample_type = PERF_SAMPLE_IP;
	attr.sample_regs_intr = 0;
	attr.read_format = PERF_FORMAT_LOST;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	run.fd = fd;
	if (make_tables(&run, false) && !ring_map(&ring, fd, 1)) {
		program(&run);
		expect_eq("what is read", sizeof(values), read(fd, values, sizeof(values)));
		while (ring_next_sample(&ring, &attr, &s))
			samples++;
		expect_range("samples in the buffer", 100, 256, samples);
		expect_eq("samples, and those that are lost", values[0] / SHORT,
			  samples + values[1]);
	}
	ring_unmap(&ring);
	close(fd);
}

/*
 * Sample with a period so short that the next overflow is always near, and with longer ones: PEBS
 * is off between their overflows.
 */
static void periods(void)
{
	static const u64 all[] = { 37, 500, 523, LONG };
	struct check c = { .what = INSTRUCTIONS, .precise = 2, .large = true, .samples = 300 };

	for (unsigned int i = 0; i < ARRAY_SIZE(all); i++) {
		c.period = all[i];
		check(&c);
	}
}

static void following(void)
{
	const struct check c = {
		.what = INSTRUCTIONS, .precise = 1, .period = SHORT, .large = true,
		.samples = SAMPLES,
	};

	check(&c);
}

static void at_instruction(void)
{
	const struct check c = {
		.what = INSTRUCTIONS, .precise = 3, .period = SHORT, .large = true,
		.samples = SAMPLES,
	};

	check(&c);
}

static void faulting(void)
{
	struct check c = {
		.precise = 2, .large = true, .faulting = true, .samples = SAMPLES,
	};

	c.what = INSTRUCTIONS;
	c.period = 211;
	check(&c);
	c.what = LOADS;
	c.period = 19;
	check(&c);
	c.what = STORES;
	check(&c);
}

static void vectors(void)
{
	struct check c = {
		.what = INSTRUCTIONS, .precise = 2, .period = SHORT, .samples = SAMPLES_PMI,
	};
	struct perf_event_attr attr;

	attr_of(&c, &attr);
	attr.sample_regs_intr |= 1ULL << XMM3;
	if (!has_vectors(&attr)) {
		ktap_skip("this PMU has no vector registers in its records");
		return;
	}
	check_attr(&c, &attr);
}

/* ---- sample rates ---- */

#define MAX_RATE		100000
/* A tenth of the samples that the program would cause in a tick of the exact lane */
#define LOW_RATE		10000

static void many_at_a_time(void)
{
	const struct check c = {
		.what = INSTRUCTIONS, .precise = 2, .period = SHORT, .large = true,
		.samples = SAMPLES,
	};

	limit_sample_rate(LOW_RATE);
	check(&c);
	limit_sample_rate(MAX_RATE);
}

/* Samples until PERF_EVENT_IOC_REFRESH disables the event */
#define REFRESHED		50

static void refreshed(void)
{
	const struct check c = {
		.what = INSTRUCTIONS, .precise = 2, .period = SHORT, .large = true,
	};
	struct run run = { .rounds = REFRESHED * SHORT / 4 };
	struct ring ring = { 0 };
	unsigned int samples = 0;
	struct perf_event_attr attr;
	struct sample s;
	int fd;

	if (target.in_tree) {
		ktap_skip("the built-in driver disables the event after so many interrupts");
		return;
	}
	attr_of(&c, &attr);
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	if (make_tables(&run, false) && !ring_map(&ring, fd, RING_PAGES)) {
		/* REFRESH enables the event; the program enables none. */
		run.fd = -1;
		expect_eq("a limit", 0, ioctl(fd, PERF_EVENT_IOC_REFRESH, REFRESHED));
		program(&run);
		while (ring_next_sample(&ring, &attr, &s))
			samples++;
		expect_eq("samples until the limit", REFRESHED, samples);
	}
	ring_unmap(&ring);
	close(fd);
}

/* ---- memory of the records ---- */

/*
 * A CPU has 64 KiB of records while there are precise events. Without freeing, this would be 32
 * MiB.
 */
#define OPENED			512
#define GONE_MAX		4096
#define OPEN_ROUNDS		8
#define SETTLE_US		200000

static long free_kib(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemFree: %ld kB", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

/*
 * The first rounds wait until the kernel has freed the memory of earlier tests. Later each round
 * shows what these events fail to free.
 */
static void given_back(void)
{
	const struct check c = { .what = INSTRUCTIONS, .precise = 2, .period = SHORT };
	struct perf_event_attr attr;
	long before = 0, after = 0;
	int fd;

	attr_of(&c, &attr);
	for (unsigned int round = 0; round < OPEN_ROUNDS; round++) {
		before = free_kib();
		for (unsigned int i = 0; i < OPENED; i++) {
			fd = event_open_self(&attr, -1);
			if (fd < 0)
				return;
			close(fd);
		}
		after = free_kib();
		if (labs(before - after) <= GONE_MAX)
			break;
		usleep(SETTLE_US);
	}
	expect_range("KiB of free memory", 1, LONG_MAX, after);
	expect_range("KiB of memory gone", -GONE_MAX, GONE_MAX, before - after);
}

/* ---- tasks that alternate ---- */

#define TASKS			3
#define TASK_SAMPLES		6000

static void task(unsigned int i)
{
	const struct check c = {
		.what = INSTRUCTIONS, .precise = 2, .period = SHORT + 2 * i, .large = true,
		.samples = TASK_SAMPLES,
	};

	check(&c);
	fflush(NULL);
	_exit(ktap_failed());
}

static void tasks(void)
{
	pid_t pids[TASKS];
	int status;

	expect_true("the first CPU", run_on(0));
	fflush(NULL);
	for (unsigned int i = 0; i < TASKS; i++) {
		pids[i] = fork();
		if (!pids[i])
			task(i);
	}
	for (unsigned int i = 0; i < TASKS; i++)
		expect_true("a task whose samples are right", pids[i] > 0 &&
			    waitpid(pids[i], &status, 0) > 0 && !status);
}

/* ---- interrupts and switches within an instruction ---- */

/* Nanoseconds from one timer interrupt to the next */
#define TICK_NS			10007
/* Not a multiple of the accesses of a round: overflows come at each byte of the string. */
#define SPLIT_PERIOD		127
#define SPLIT_SAMPLES		20000

/* Preempt the parent after each sleep. */
static void preempt(void)
{
	const struct sched_param param = { .sched_priority = 1 };
	const struct timespec sleep = { .tv_nsec = 2 * TICK_NS };

	sched_setscheduler(0, SCHED_FIFO, &param);
	for (;;)
		nanosleep(&sleep, NULL);
}

/* Interrupts come at any instruction, and split the repeated one. Some switch tasks. */
static void split(void)
{
	struct check c = {
		.precise = 2, .large = true, .period = SPLIT_PERIOD, .samples = SPLIT_SAMPLES,
	};
	struct perf_event_attr timer = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(timer),
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = TICK_NS,
	};
	pid_t child;
	int fd;

	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
		ktap_skip("with several CPUs such short times depend on the host's speed");
		return;
	}
	fd = event_open_self(&timer, -1);
	fflush(NULL);
	child = fork();
	if (!child)
		preempt();
	c.what = LOADS;
	check(&c);
	c.what = STORES;
	check(&c);
	expect_true("the end of the other task", child > 0 && !kill(child, SIGKILL) &&
		    waitpid(child, NULL, 0) == child);
	close(fd);
}

/* Number of samples that this process has checked */
static void hundred_thousand(void)
{
	ktap_diag("%llu samples", (unsigned long long)samples_judged());
	if (times == 1)
		ktap_skip("corepmu_test.precise=long is not on the command line");
	else
		expect_range("samples that were judged", SAMPLES_LONG, LONG_MAX,
			     samples_judged());
}

static const struct ktap_case cases[] = {
	{ "large PEBS: at the instruction, with its registers and address",
	  .run_with = each_event, .value = true },
	{ "one record per interrupt: at the instruction, with its registers and address",
	  .run_with = each_event, .value = false },
	{ "large PEBS: without registers", placed },
	{ "samples that a full buffer has no space for are counted as lost", lost },
	{ "short and long periods: at the instruction", periods },
	{ "precise_ip 1: at the next instruction", following },
	{ "precise_ip 3: at the instruction", at_instruction },
	{ "instructions that fault and restart", faulting },
	{ "samples have the vector registers", vectors },
	{ "branches up to the instruction", branches },
	{ "load latency: address, latency and source", slow_loads },
	{ "the data source of load latency needs mem-loads-aux", slow_loads_alone },
	{ "stores: address, latency and source", slow_stores },
	{ "user space reads a precise event while it samples", read_by_user },
	{ "samples of one interrupt are one overflow: they do not throttle", many_at_a_time },
	{ "an event of so many overflows has so many samples", refreshed },
	{ "the buffer of records is freed", given_back },
	{ "interrupts and switches that split a repeated instruction", split },
	{ "repeated instructions of two tasks, split at the same time", split_twice },
	{ "tasks that take turns have their own samples, all of them", tasks },
	{ "100,000 samples, each of them right", hundred_thousand },
};

static const struct ktap_case load_cases[] = {
	{ "load latency: address, latency and source", slow_loads },
	{ "stores: address, latency and source", slow_stores },
};

/* For PMUs whose records have counter values */
static const struct ktap_case count_cases[] = {
	{ "one record per interrupt: counts of the group at the instruction", counts_one_by_one },
	{ "large PEBS: counts of the group at the instruction", counts_gathered },
	{ "a precise sibling: counts of the group at the instruction", counts_of_sibling },
	{ "a frequency: counts of the group at the instruction", counts_with_frequency },
	{ "topdown metrics of the group at the instruction", counts_of_metrics },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	if (command_line_has("corepmu_test.precise=long"))
		times = TIMES_LONG;
	limit_sample_rate(MAX_RATE);
	write_number("/proc/sys/kernel/perf_event_mlock_kb", 65536);
	if (command_line_has("corepmu_test.precise=loads"))
		return ktap_run(load_cases, ARRAY_SIZE(load_cases));
	if (command_line_has("corepmu_test.precise=counts"))
		return ktap_run(count_cases, ARRAY_SIZE(count_cases));
	return ktap_run(cases, ARRAY_SIZE(cases));
}
