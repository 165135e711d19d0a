// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the suite "pmuv3", and its known work
 *
 * corepmu_test.pmuv3=v3p9 on the kernel's command line says that the PMU has thresholds and an
 * instruction counter.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pmuv3.h"

#define WORK								\
	asm(".pushsection .text\n"					\
	    "	.global	work_loop, touch_pages\n"			\
	    "work_loop:\n"						\
	    "1:	ldr	x2, [x1]\n"					\
	    "	str	x2, [x1]\n"					\
	    "	subs	x0, x0, #1\n"					\
	    "	b.ne	1b\n"						\
	    "	ret\n"							\
	    "touch_pages:\n"						\
	    "1:	str	xzr, [x1]\n"					\
	    "	add	x1, x1, #4096\n"				\
	    "	subs	x0, x0, #1\n"					\
	    "	b.ne	1b\n"						\
	    "	ret\n"							\
	    ".popsection")
WORK;

const struct pmuv3_kind pmuv3_kinds[NR_KINDS] = {
	{ "instructions", INST_RETIRED, WORK_INSTRUCTIONS },
	{ "branches", BR_RETIRED, 1 },
	{ "loads", LD_RETIRED, 1 },
	{ "stores", ST_RETIRED, 1 },
	{ "cycles", CPU_CYCLES, WORK_CYCLES },
};

unsigned int pmuv3_cpus;

static const struct ktap_list *const lists[] = {
	&pmuv3_everywhere_cases, &pmuv3_everywhere_long_cases, &pmuv3_chain_cases,
	&pmuv3_event_cases,
};

static const struct ktap_list *const v3p9_lists[] = {
	&pmuv3_everywhere_cases, &pmuv3_v3p9_cases,
};

/* Not inlined: loading the number of rounds takes the same instructions for all numbers. */
__attribute__((noinline)) void pmuv3_work(int leader, unsigned long rounds)
{
	u64 memory = 0;

	ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	ioctl(leader, PERF_EVENT_IOC_ENABLE, 0);
	work_loop(rounds, &memory);
	ioctl(leader, PERF_EVENT_IOC_DISABLE, 0);
}

u64 pmuv3_count(int fd)
{
	u64 count = 0;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return ~0ULL;
	return count;
}

u64 pmuv3_work_counts(int fd, unsigned long rounds)
{
	u64 base;

	pmuv3_work(fd, 1);
	base = pmuv3_count(fd);
	pmuv3_work(fd, rounds + 1);
	return pmuv3_count(fd) - base;
}

int main(int argc, char **argv)
{
	target_init(argc, argv);
	pmuv3_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (pmuv3_cpus > MAX_CPUS)
		pmuv3_cpus = MAX_CPUS;
	/* Perf core must not throttle samples if the host delays the guest. */
	write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 0);
	if (command_line_has("corepmu_test.pmuv3=v3p9"))
		return ktap_run_lists(v3p9_lists, ARRAY_SIZE(v3p9_lists));
	return ktap_run_lists(lists, ARRAY_SIZE(lists));
}
